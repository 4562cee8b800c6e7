/* support.c: what the tests share: random numbers (splitmix64), an allocator that counts and fails, shipped robots,
 * differences. */
#define _GNU_SOURCE /* mkdtemp, setenv */
#include "support.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
