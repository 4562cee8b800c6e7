/* differential.c: random robots through every pair of routes: the recursions, derived models, base parameters,
 * generated code, copies and files, each against an oracle in long double, with a tolerance from the robot's own
 * condition. A robot that fails is shrunk and written to a file.
 *
 *   differential --seed 1 --seconds 60 --jobs 2 --out found          smallest failing robots in the folder found
 *   differential --robot 0x1234 --kinds exported --routes code       repeats one robot
 *   differential --file arm.yaml --routes derive,params              a file; the library's reading counts as right
 *
 * Exit status: 0 all agree, 1 some do not, 2 usage or system. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, mkdtemp */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "routes.h"
#include "shrink.h"

enum {
  KINDS = 16,
  ROUTES = 40,
  REASONS = 64,
  FAILURES = 64,
  JOBS = 64,
  TEXT_BYTES = 1 << 16,
  HANG_SECONDS = 120,
  SHRINK_SECONDS = 10
};

typedef struct options {
  uint64_t seed, robot;
  bool one, quiet, no_shrink;
  long count;
  double seconds;
  int jobs, keep; /* keep: failures to shrink per kind and route */
  bool kind[KINDS], route[ROUTES];
  const char *out, *file;
} options;

typedef struct cell {
  long robots, refused, failed;
  double ratio, relative;
} cell;

typedef struct reason {
  char text[120];
  int route;
  long count;
} reason;

typedef struct failure {
  int kind, route; /* route ROUTES: reading the file */
  uint64_t seed;
  char text[240], path[300];
} failure;

/* one per process, in shared memory: readable after a crash */
typedef struct tally {
  long robots;
  int kind, route; /* under way */
  uint64_t seed;
  double cpu;
  cell cell[KINDS][ROUTES + 1];
  int reasons, failures;
  reason reason[REASONS];
  failure failure[FAILURES];
} tally;

static uint64_t mixed(uint64_t a, uint64_t b) {
  rng g = {a * 0x9E3779B97F4A7C15u + b};
  rng_next(&g);
  return rng_next(&g) ^ b;
}

static const char *route_name(int r) { return r == ROUTES ? "read" : routes[r].name; }

/* ---- promises ---- */

/* Robots whose lengths or angles differ greatly in size: derived models keep the library's promise, PSDM_MODEL_ACCURACY
 * of the largest torque, and not more; generated code keeps CODE_ACCURACY. Everything else is judged by its
 * rounding. */
static const char far_apart[] = "misaligned,exported,rounded,snapped,scaled,mixed,wild";
static const char derived[] = "derive,echelon,dense,saved,params,numeric";
static const char generated[] = "code,code-searched,expanded,auto,compiled";
#define CODE_ACCURACY 1e-12
#define ROUNDED 1e-13 /* what counts as rounding in derive */

static bool listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at++)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length])) return true;
  return false;
}

/* ---- one robot, one route ---- */

typedef struct trial {
  char text[TEXT_BYTES], folder[64];
  subject subject;
  const options *o;
  const arm_kind *kind;
  int route;   /* the robot to shrink, */
  failing how; /* and the failure to keep */
} trial;

static int moving_joints(const oracle *o) {
  int count = 0;
  for (int b = 0; b < o->bodies; b++) count += o->body[b].type != PSDM_FIXED;
  return count;
}

/* allowed error of a route as a share of the largest torque, whatever the joint's own scale; a file may hold any kind
 * of robot (kind NULL) */
static double promise_of(int r, bool far) {
  /* theta comes from base parameters */
  if (strcmp(route_name(r), "code-theta") == 0) return far ? PSDM_MODEL_ACCURACY : CODE_ACCURACY;
  /* common normals of axes that are a hundredth from parallel cost two digits */
  if (listed(generated, route_name(r))) return far ? CODE_ACCURACY : ROUNDED;
  /* pivots down to 1e-10 (echelon.c), whatever the axes */
  if (strcmp(route_name(r), "echelon") == 0) return PSDM_MODEL_ACCURACY;
  if (listed(derived, route_name(r))) return far ? PSDM_MODEL_ACCURACY : ROUNDED;
  return 0;
}

static verdict go(subject *s, int r, const arm_kind *kind, uint64_t seed) {
  bool far = !kind || listed(far_apart, kind->name);
  verdict v = {.loss = routes[r].loss,
               .eps = DBL_EPSILON,
               .promise = promise_of(r, far),
               .of_base = far ? PSDM_MODEL_ACCURACY : ROUNDED};
  s->g = (rng){mixed(seed, (uint64_t)r + 100)};
  subject_scales(s, routes[r].common);
  routes[r].run(s, &v);
  return v;
}

static bool open_arm(trial *t, const arm *a, uint64_t seed, psdm_error *error) {
  memset(error, 0, sizeof *error);
  t->subject.common = t->kind->common;
  t->subject.folder = t->folder;
  if (subject_open(&t->subject, a, arm_text(a, t->text, sizeof t->text), (rng){mixed(seed, 7)}, error)) return true;
  subject_close(&t->subject);
  return false;
}

static bool fails_again(void *user, const arm *a, uint64_t seed) {
  trial *t = user;
  psdm_error error;
  bool opened = open_arm(t, a, seed, &error);
  if (!opened) return t->route == ROUTES;
  bool bad = t->route < ROUTES && moving_joints(&t->subject.o) > 0;
  if (bad) {
    verdict v = go(&t->subject, t->route, t->kind, seed);
    bad = failure_of(&v) == t->how;
  }
  subject_close(&t->subject);
  return bad;
}

static void describe(const verdict *v, const char *why, char *text, size_t size) {
  if (why) snprintf(text, size, "refused: %s", why);
  else if (v->status) snprintf(text, size, "refused without reason: %s", v->text);
  else snprintf(text, size, "%s: error / tolerance %.3g, error / largest torque %.2g", v->worst, v->ratio, v->relative);
}

/* the file, with the arguments that reproduce it */
static void write_found(trial *t, failure *f, const arm *a, uint64_t seed) {
  bool urdf = a->layout == ARM_URDF;
  const char *extension = urdf ? "urdf" : "yaml", *hash = urdf ? "" : "#";
  snprintf(f->path, sizeof f->path, "%s/%s-%s-%016llx.%s", t->o->out, arm_kinds[f->kind].name, route_name(f->route),
           (unsigned long long)f->seed, extension);
  FILE *file = fopen(f->path, "w");
  if (!file) return;
  fprintf(file, "%s %s, %s\n", urdf ? "<!--" : "#", arm_kinds[f->kind].name, route_name(f->route));
  fprintf(file, "%s %s\n", hash, f->text);
  fprintf(file, "%s as drawn: robot 0x%llx of kind %s, route %s\n", hash, (unsigned long long)f->seed,
          arm_kinds[f->kind].name, route_name(f->route));
  fprintf(file, "%s states of seed 0x%llx; gravity %.17g %.17g %.17g; angles %s\n", hash, (unsigned long long)seed,
          a->gravity[0], a->gravity[1], a->gravity[2], a->snap ? "snapped" : "as written");
  fprintf(file, "%s%s", urdf ? "-->\n" : "", arm_text(a, t->text, sizeof t->text));
  fclose(file);
}

static void record_failure(trial *t, tally *sum, int kind, int r, uint64_t seed, const arm *a, const verdict *v,
                           const char *why) {
  cell *c = &sum->cell[kind][r];
  c->failed++;
  if (sum->failures == FAILURES || c->failed > t->o->keep) return;
  failure *f = &sum->failure[sum->failures];
  *f = (failure){.kind = kind, .route = r, .seed = seed};
  describe(v, why, f->text, sizeof f->text);
  if (t->o->out && a) {
    arm small = *a;
    uint64_t states = seed;
    t->route = r, t->how = failure_of(v);
    alarm(HANG_SECONDS + SHRINK_SECONDS);
    if (!t->o->no_shrink) shrink(&small, &states, fails_again, t, SHRINK_SECONDS);
    write_found(t, f, &small, states);
  }
  sum->failures++;
}

/* a message without its numbers and names */
static void count_refusal(tally *sum, int r, const char *text) {
  char plain[120];
  size_t at = 0;
  for (const char *c = text; *c && at + 1 < sizeof plain; c++)
    if (!strchr("0123456789", *c)) plain[at++] = *c;
  plain[at] = '\0';
  for (int i = 0; i < sum->reasons; i++)
    if (sum->reason[i].route == r && strcmp(sum->reason[i].text, plain) == 0) {
      sum->reason[i].count++;
      return;
    }
  if (sum->reasons == REASONS) return;
  reason *new = &sum->reason[sum->reasons++];
  *new = (reason){.route = r, .count = 1};
  memcpy(new->text, plain, sizeof plain);
}

/* all routes that are due; a: NULL for a file */
static void all_routes(trial *t, tally *sum, int kind, uint64_t seed, const arm *a) {
  int joints = moving_joints(&t->subject.o);
  for (int r = 0; routes[r].name; r++) {
    if (!t->o->route[r] || (routes[r].joints && joints > routes[r].joints)) continue;
    if (!t->o->one && mixed(seed, (uint64_t)r) % (uint64_t)routes[r].every) continue;
    sum->route = r;
    verdict v = go(&t->subject, r, a ? t->kind : NULL, seed);
    cell *c = &sum->cell[kind][r];
    if (v.skipped) continue;
    c->robots++;
    if (v.status && v.excused) {
      c->refused++;
      count_refusal(sum, r, v.text);
      continue;
    }
    c->ratio = fmax(c->ratio, v.status ? 0 : v.ratio), c->relative = fmax(c->relative, v.relative);
    if (failure_of(&v) == HOLDS) continue;
    record_failure(t, sum, kind, r, seed, a, &v, NULL);
    if (a) { /* shrinking freed the subject */
      psdm_error error;
      if (c->failed > t->o->keep || !t->o->out) continue;
      if (!open_arm(t, a, seed, &error)) return;
    }
  }
}

static void one_robot(trial *t, tally *sum, int kind, uint64_t seed) {
  rng g = {mixed(seed, 1)};
  arm a;
  psdm_error error;
  char why[800];
  arm_kinds[kind].draw(&g, &a);
  t->kind = &arm_kinds[kind];
  sum->kind = kind, sum->seed = seed, sum->route = ROUTES;
  alarm(HANG_SECONDS);
  if (!open_arm(t, &a, seed, &error)) {
    const verdict none = {0};
    record_failure(t, sum, kind, ROUTES, seed, &a, &none, psdm_error_format(&error, why, sizeof why));
  } else {
    if (t->o->one && !t->o->quiet) fputs(t->text, stdout);
    all_routes(t, sum, kind, seed, &a);
    subject_close(&t->subject);
  }
  sum->robots++;
}

/* ---- many ---- */

static int pick_kind(const options *o, uint64_t seed) {
  int count = 0, which;
  for (int k = 0; arm_kinds[k].name; k++) count += o->kind[k];
  which = (int)(mixed(seed, 3) % (uint64_t)count);
  for (int k = 0;; k++)
    if (o->kind[k] && which-- == 0) return k;
}

/* of this process and its compilers */
static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  return (double)clock() / CLOCKS_PER_SEC + (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void work(const options *o, int job, tally *sum) {
  static trial t;
  double end = psdmp_base_clock() + o->seconds;
  t.o = o;
  snprintf(t.folder, sizeof t.folder, "/tmp/differential-XXXXXX");
  if (!mkdtemp(t.folder)) exit(2);
  for (long k = job; (!o->count || k < o->count) && (!(o->seconds > 0) || psdmp_base_clock() < end); k += o->jobs) {
    uint64_t seed = o->one ? o->robot : mixed(o->seed, (uint64_t)k + 1000);
    one_robot(&t, sum, pick_kind(o, seed), seed);
    sum->cpu = processor_seconds();
  }
  rmdir(t.folder);
}

static void from_file(const options *o, tally *sum) {
  static trial t;
  const psdm_robot_options as_written = {.no_snap = true};
  psdm_robot *robot;
  psdm_error error;
  char text[900];
  t.o = o, t.subject.folder = t.folder;
  snprintf(t.folder, sizeof t.folder, "/tmp/differential-XXXXXX");
  if (!mkdtemp(t.folder)) exit(2);
  if (psdm_robot_load(o->file, &as_written, NULL, &robot, &error)) {
    fprintf(stderr, "differential: %s\n", psdm_error_format(&error, text, sizeof text));
    exit(2);
  }
  for (long k = 0; k < (o->count ? o->count : 1); k++) {
    uint64_t seed = mixed(o->seed, (uint64_t)k);
    if (k && psdm_robot_load(o->file, &as_written, NULL, &robot, NULL)) exit(2);
    if (!subject_open_robot(&t.subject, robot, (rng){mixed(seed, 7)})) {
      fprintf(stderr, "differential: %s: inertias are unknown, loops, or more than %d joints\n", o->file, MOST);
      exit(2);
    }
    all_routes(&t, sum, 0, seed, NULL);
    subject_close(&t.subject);
    sum->robots++;
  }
  rmdir(t.folder);
}

/* ---- the summary ---- */

static void add(tally *all, const tally *one) {
  all->robots += one->robots, all->cpu += one->cpu;
  for (int k = 0; k < KINDS; k++)
    for (int r = 0; r <= ROUTES; r++) {
      cell *a = &all->cell[k][r];
      const cell *b = &one->cell[k][r];
      a->robots += b->robots, a->refused += b->refused, a->failed += b->failed;
      a->ratio = fmax(a->ratio, b->ratio), a->relative = fmax(a->relative, b->relative);
    }
  for (int i = 0; i < one->failures && all->failures < FAILURES; i++) all->failure[all->failures++] = one->failure[i];
  for (int i = 0; i < one->reasons; i++)
    for (int k = 0; k <= all->reasons && k < REASONS; k++) {
      if (k == all->reasons)
        all->reason[all->reasons++] = (reason){.route = one->reason[i].route},
        memcpy(all->reason[k].text, one->reason[i].text, sizeof all->reason[k].text);
      if (all->reason[k].route != one->reason[i].route || strcmp(all->reason[k].text, one->reason[i].text)) continue;
      all->reason[k].count += one->reason[i].count;
      break;
    }
}

static long print_table(const tally *all) {
  long bad = 0;
  printf("%-11s %-18s %9s %9s %9s %9s %9s\n", "kind", "route", "robots", "refused", "failed", "error/tol", "error/tau");
  for (int k = 0; arm_kinds[k].name; k++)
    for (int r = 0; r <= ROUTES; r++) {
      const cell *c = &all->cell[k][r];
      bad += c->failed;
      if (c->robots || c->failed)
        printf("%-11s %-18s %9ld %9ld %9ld %9.2g %9.2g\n", arm_kinds[k].name, route_name(r), c->robots, c->refused,
               c->failed, c->ratio, c->relative);
    }
  return bad;
}

static void print_rest(const tally *all) {
  for (int i = 0; i < all->reasons; i++)
    printf("refused %ld times by %s: %s\n", all->reason[i].count, route_name(all->reason[i].route),
           all->reason[i].text);
  for (int i = 0; i < all->failures; i++) {
    const failure *f = &all->failure[i];
    printf("FAILED --robot 0x%llx --kinds %s --routes %s: %s%s%s\n", (unsigned long long)f->seed,
           arm_kinds[f->kind].name, route_name(f->route), f->text, f->path[0] ? "; smallest: " : "", f->path);
  }
}

/* ---- processes ---- */

static long run_jobs(const options *o, tally *sums, tally *all) {
  long crashed = 0;
  pid_t pid[JOBS];
  fflush(stdout);
  for (int j = 0; j < o->jobs; j++) {
    pid[j] = fork();
    if (pid[j] < 0) exit(2);
    if (pid[j]) continue;
    work(o, j, &sums[j]);
    _exit(0);
  }
  for (int j = 0; j < o->jobs; j++) {
    int status;
    if (waitpid(pid[j], &status, 0) < 0) exit(2);
    if (status) {
      crashed++;
      bool killed = WIFSIGNALED(status);
      printf("CRASHED (%s %d) --robot 0x%llx --kinds %s --routes %s\n", killed ? "signal" : "exit",
             killed ? WTERMSIG(status) : WEXITSTATUS(status), (unsigned long long)sums[j].seed,
             arm_kinds[sums[j].kind].name, route_name(sums[j].route));
    }
    add(all, &sums[j]);
  }
  return crashed;
}

/* ---- the command line ---- */

static int usage(const char *why, const char *what) {
  fprintf(stderr,
          "differential: %s '%s'\nusage: differential [--seed S] [--count N] [--seconds T] [--jobs J] [--kinds A,B,-C] "
          "[--routes A,B,-C] [--keep N] [--out DIR] [--no-shrink] [--quiet]\n"
          "                    [--robot SEED | --file ROBOT]\nkinds:\n",
          why, what);
  for (int k = 0; arm_kinds[k].name; k++) fprintf(stderr, "  %-12s %s\n", arm_kinds[k].name, arm_kinds[k].help);
  fprintf(stderr, "routes:");
  for (int r = 0; routes[r].name; r++) fprintf(stderr, " %s", routes[r].name);
  fprintf(stderr, "\n");
  return 2;
}

static const char *kind_name(int k) { return arm_kinds[k].name; }
static const char *plain_route_name(int r) { return routes[r].name; }

/* "a,b": these; "-a": all others */
static bool choose(const char *list, const char *(*name)(int), bool *on) {
  bool others = list[0] == '-';
  for (int k = 0; name(k); k++) on[k] = others;
  while (*list) {
    bool take = *list != '-';
    list += !take;
    size_t length = strcspn(list, ",");
    int k = 0;
    while (name(k) && (strlen(name(k)) != length || strncmp(name(k), list, length))) k++;
    if (!name(k)) return false;
    on[k] = take;
    list += length + (list[length] == ',');
  }
  return true;
}

static int read_option(options *o, const char *key, const char *value) {
  if (strcmp(key, "--kinds") == 0 || strcmp(key, "--kind") == 0)
    return choose(value, kind_name, o->kind) ? 0 : usage("unknown kind in", value);
  if (strcmp(key, "--routes") == 0)
    return choose(value, plain_route_name, o->route) ? 0 : usage("unknown route in", value);
  if (strcmp(key, "--seed") == 0) o->seed = strtoull(value, NULL, 0);
  else if (strcmp(key, "--robot") == 0) o->robot = strtoull(value, NULL, 0), o->one = true;
  else if (strcmp(key, "--count") == 0) o->count = strtol(value, NULL, 10);
  else if (strcmp(key, "--seconds") == 0) o->seconds = strtod(value, NULL);
  else if (strcmp(key, "--jobs") == 0) o->jobs = (int)strtol(value, NULL, 10);
  else if (strcmp(key, "--keep") == 0) o->keep = (int)strtol(value, NULL, 10);
  else if (strcmp(key, "--out") == 0) o->out = value;
  else if (strcmp(key, "--file") == 0) o->file = value;
  else return usage("unknown option", key);
  return o->jobs < 1 || o->jobs > JOBS ? usage("between 1 and 64 jobs were expected, not", value) : 0;
}

static int read_options(options *o, int count, char **word) {
  *o = (options){.seed = (uint64_t)time(NULL), .jobs = 1, .keep = 1};
  memset(o->kind, 1, sizeof o->kind), memset(o->route, 1, sizeof o->route);
  for (int i = 1; i < count; i++) {
    if (strcmp(word[i], "--quiet") == 0) o->quiet = true;
    else if (strcmp(word[i], "--no-shrink") == 0) o->no_shrink = true;
    else if (i + 1 == count) return usage("a value is missing behind", word[i]);
    else {
      int status = read_option(o, word[i], word[i + 1]);
      if (status) return status;
      i++;
    }
  }
  if (o->one) o->count = 1, o->jobs = 1;
  if (!o->count && !(o->seconds > 0) && !o->file) o->seconds = 10;
  if (o->out && mkdir(o->out, 0777) && errno != EEXIST) return usage("cannot make the folder", o->out);
  return 0;
}

int main(int count, char **word) {
  static options o;
  static tally all;
  int status = read_options(&o, count, word);
  if (status) return status;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  tally *sums = mmap(NULL, sizeof *sums * (size_t)o.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (sums == MAP_FAILED) return usage("no memory for", "tallies");
  double start = psdmp_base_clock();
  long crashed = 0;
  printf("differential: --seed %llu\n", (unsigned long long)o.seed);
  if (o.file) from_file(&o, &all);
  else if (o.one) work(&o, 0, &all);
  else crashed = run_jobs(&o, sums, &all);
  long bad = print_table(&all);
  print_rest(&all);
  printf("differential: %ld robots, %ld failed, %ld crashed, %.1f s, %.4f core-hours\n", all.robots, bad, crashed,
         psdmp_base_clock() - start, all.cpu / 3600);
  return bad || crashed ? 1 : 0;
}
