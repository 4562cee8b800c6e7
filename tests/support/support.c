/* support.c: what the tests share: random numbers (splitmix64), an allocator that counts and fails, shipped robots,
 * differences. */
#define _GNU_SOURCE /* mkdtemp, setenv */
#include "support.h"

#include <dirent.h>
#include <ftw.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int test_main(const char *names, const CMUnitTestFunction *tests, int count, CMFixtureFunction set_up,
              CMFixtureFunction tear_down) {
  static char text[8192];
  struct CMUnitTest list[128];
  if (count > 128 || strlen(names) >= sizeof text) return 1;
  strcpy(text, names);
  char *name = text;
  for (int k = 0; k < count; k++) {
    list[k] = (struct CMUnitTest){.name = name, .test_func = tests[k]};
    name += strcspn(name, ",");
    if (*name) *name++ = '\0';
    name += *name == ' ';
  }
  return _cmocka_run_group_tests("tests", list, (size_t)count, set_up, tear_down);
}

rng rng_start(const char *test) {
  const char *text = getenv("PSDM_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 10) : 20260101;
  printf("%s: seed %llu (PSDM_SEED=N to change)\n", test, (unsigned long long)seed);
  return (rng){seed * 0x9E3779B97F4A7C15u + 1};
}

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t rng_next(rng *g) {
  uint64_t z = (g->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double rng_uniform(rng *g, double low, double high) {
  return low + (high - low) * ((double)(rng_next(g) >> 11) * 0x1p-53);
}
int rng_int(rng *g, int low, int high) { return low + (int)(rng_next(g) % (uint64_t)(high - low + 1)); }

/* Box and Muller (1958) */
double rng_normal(rng *g) {
  double u = rng_uniform(g, 1e-12, 1), v = rng_uniform(g, 0, 6.283185307179586);
  return sqrt(-2 * log(u)) * cos(v);
}

void expect_ok(psdm_status status, const psdm_error *error) {
  char sentence[900];
  if (status) fail_msg("%s", psdm_error_format(error, sentence, sizeof sentence));
}

static void *count_allocate(void *user, size_t bytes) {
  counting *c = user;
  if (++c->calls == c->fail_at) return NULL;
  void *memory = malloc(bytes);
  c->live += memory != NULL;
  return memory;
}

static void count_release(void *user, void *memory) {
  counting *c = user;
  c->live -= memory != NULL;
  free(memory);
}

void counting_init(counting *c, long fail_at) { *c = (counting){{count_allocate, count_release, c}, 0, 0, fail_at}; }

void file_write(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  if (!file) fail_msg("%s cannot be written", path);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

char *file_read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s is missing", path);
  struct stat info;
  assert_int_equal(fstat(fileno(file), &info), 0);
  char *text = calloc(1, (size_t)info.st_size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)info.st_size, file), info.st_size);
  fclose(file);
  return text;
}

char own_folder[64];

int folder_make(void **state) {
  (void)state;
  strcpy(own_folder, "/tmp/test_psdm_XXXXXX");
  return mkdtemp(own_folder) ? 0 : -1;
}

int folder_enter(void **state) { return folder_make(state) || chdir(own_folder) ? -1 : 0; }

/* a folder may be locked by its test */
static int unlock(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)walk;
  return kind == FTW_D || kind == FTW_DNR ? chmod(path, 0700) : 0;
}

static int discard(const char *path, const struct stat *info, int kind, struct FTW *walk) {
  (void)info, (void)kind;
  return walk->level ? remove(path) : 0;
}

void folder_empty(void) {
  assert_int_equal(nftw(own_folder, unlock, 8, FTW_PHYS), 0);
  assert_int_equal(nftw(own_folder, discard, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int folder_remove(void **state) {
  (void)state;
  folder_empty();
  return chdir("/") || rmdir(own_folder);
}

void text_put(text_writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, w->left, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= w->left) fail_msg("text does not fit");
  w->at += n;
  w->left -= (size_t)n;
}

const char *const shipped_robots[] = {"two_link", "fanuc_sr6ia",   "kuka_kr6",    "kuka_lbr7",  "denso_vs6556g",
                                      "puma560",  "parallelogram", "hitachi_hpr", "two_branch", NULL};

psdm_robot *load_shipped(const char *name) {
  char path[512], sentence[900];
  psdm_robot *robot;
  psdm_error error;
  const char *source = getenv("SOURCE");
  snprintf(path, sizeof path, "%s/robots/%s.yaml", source ? source : ".", name);
  if (psdm_robot_load(path, NULL, NULL, &robot, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return robot;
}

static psdm_robot *parse_with(const char *text, const psdm_robot_options *options) {
  char sentence[900];
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(text, strlen(text), "test.yaml", options, NULL, &robot, &error))
    fail_msg("%s\n%s", psdm_error_format(&error, sentence, sizeof sentence), text);
  return robot;
}

psdm_robot *parse_robot(const char *text) { return parse_with(text, NULL); }

psdm_robot *parse_unsnapped(const char *text) { return parse_with(text, &(psdm_robot_options){.no_snap = true}); }

random_options random_kinds(int round, int most) {
  return (random_options){1, most, round % 3 == 1, round % 2 == 1, round % 4 > 1, round % 5 != 0};
}

void point_parameters(double m, const double r[3], double pi[10]) {
  double x = r[0], y = r[1], z = r[2],
         inertia[6] = {y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y};
  pi[0] = m;
  for (int i = 0; i < 3; i++) pi[1 + i] = m * r[i];
  for (int i = 0; i < 6; i++) pi[4 + i] = m * inertia[i];
}

void base_from_standard(const psdm_model *model, const double *pi, double *theta) {
  for (int j = 0; j < psdm_model_l(model); j++) {
    theta[j] = 0;
    for (int k = 0; k < psdm_model_base_terms(model, j); k++) {
      int standard;
      double coefficient = psdm_model_base_term(model, j, k, &standard);
      theta[j] += coefficient * pi[standard];
    }
  }
}

double max_difference(const double *a, const double *b, int count) {
  double worst = 0;
  for (int i = 0; i < count; i++) {
    double d = fabs(a[i] - b[i]);
    if (!(d <= worst)) worst = d; /* a NAN sticks */
  }
  return worst;
}

double max_absolute(const double *a, int count) {
  double worst = 0;
  for (int i = 0; i < count; i++) worst = fmax(worst, fabs(a[i]));
  return worst;
}

/* ---- locales ---- */

static bool writes_commas(const char *name) { return setlocale(LC_ALL, name) && localeconv()->decimal_point[0] == ','; }

/* a locale of our own, where localedef and its sources are installed and no ready one is */
static bool make_comma_locale(void) {
  char folder[] = "/tmp/psdm-locale-XXXXXX", command[200];
  if (!mkdtemp(folder)) return false;
  snprintf(command, sizeof command, "localedef --no-archive -i de_DE -f ISO-8859-1 %s/psdm_DE >/dev/null 2>&1", folder);
  int made = system(command);
  setenv("LOCPATH", folder, 1);
  bool set = made == 0 && writes_commas("psdm_DE");
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command)) printf("%s could not be removed\n", folder);
  return set;
}

bool comma_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8", "fr_FR.utf8",
                                      "it_IT.UTF-8", "es_ES.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (writes_commas(names[i])) return true;
  return make_comma_locale();
}

int files_in(const char *folder) {
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));)
    count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
  closedir(dir);
  return count;
}
