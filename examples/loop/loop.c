/* loop.c: a control loop at 1 kHz on generated dynamics, with a histogram of its latencies.
 *
 *   loop [--seconds S] [--rate HZ] [--control computed-torque|gravity-pd] [--payload KG] [--csv FILE] [--json FILE]
 *   [--priority 1..99]
 *
 * Requests SCHED_FIFO and locked memory; if they are not permitted, it says so and continues. Exit 0 ok,
 * 2 usage or system. */
#define _GNU_SOURCE /* sched_setscheduler, mlockall */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arm.h"

typedef struct options {
  double seconds, rate, payload;
  const char *control, *csv, *json;
  double priority;
} options;

static int fail(const char *what, const char *why) {
  fprintf(stderr, "loop: error: %s: %s\n", what, why);
  return 2;
}

/* ---- options ---- */

static bool number(const char *text, double low, double high, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && !*end && *value >= low && *value <= high;
}

static int parse(int argc, char **argv, options *o) {
  *o = (options){.seconds = 5, .rate = 1000, .control = "computed-torque", .priority = 80};
  for (int i = 1; i < argc; i += 2) {
    const char *key = argv[i], *text = i + 1 < argc ? argv[i + 1] : NULL;
    bool good = text != NULL;
    if (!strcmp(key, "--seconds")) good = good && number(text, 0.001, 86400, &o->seconds);
    else if (!strcmp(key, "--rate")) good = good && number(text, 1, 20000, &o->rate);
    else if (!strcmp(key, "--payload")) good = good && number(text, 0, 1000, &o->payload);
    else if (!strcmp(key, "--priority")) good = good && number(text, 1, 99, &o->priority);
    else if (!strcmp(key, "--control")) o->control = text;
    else if (!strcmp(key, "--csv")) o->csv = text;
    else if (!strcmp(key, "--json")) o->json = text;
    else
      return fail(key,
                  "unknown option; --seconds, --rate, --control, --payload, --csv, --json or --priority was expected");
    if (!good) return fail(key, "invalid or missing value");
  }
  if (strcmp(o->control, "computed-torque") && strcmp(o->control, "gravity-pd"))
    return fail("--control", "computed-torque or gravity-pd was expected");
  return 0;
}

/* ---- real time, where it is permitted ---- */

typedef struct real_time {
  bool fifo, locked;
} real_time;

static real_time ask_for_real_time(int priority) {
  struct sched_param parameters = {.sched_priority = priority};
  real_time r = {sched_setscheduler(0, SCHED_FIFO, &parameters) == 0, false};
  if (!r.fifo) fprintf(stderr, "loop: no SCHED_FIFO (%s): latencies are those of a normal process\n", strerror(errno));
  r.locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  if (!r.locked) fprintf(stderr, "loop: memory is not locked (%s): page faults are possible\n", strerror(errno));
  return r;
}

/* the stack that the loop will use, touched before */
static void touch_stack(void) {
  volatile char page[64 * 1024];
  for (size_t i = 0; i < sizeof page; i += 1024) page[i] = 0;
}

/* ---- numbers ---- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* id, name, share of the values below */
#define QUANTILE_LIST(X) \
  X(MIN, "min", 0) X(MEDIAN, "median", 0.5) X(P99, "p99", 0.99) X(P999, "p99_9", 0.999) X(MAX, "max", 1)
enum {
#define QUANTILE_ENUM(id, name, share) id,
  QUANTILE_LIST(QUANTILE_ENUM) QUANTILES
};
static const char *const quantile_name[] = {
#define QUANTILE_NAME(id, name, share) name,
    QUANTILE_LIST(QUANTILE_NAME)};
static const double quantile_share[] = {
#define QUANTILE_SHARE(id, name, share) share,
    QUANTILE_LIST(QUANTILE_SHARE)};

typedef struct summary {
  const char *name, *words;
  double *sorted; /* (count) us */
  long count;
  double quantile[QUANTILES];
} summary;

static summary summarise(const char *name, const char *words, const double *value, double *sorted, long count) {
  summary s = {name, words, sorted, count, {0}};
  for (long k = 0; k < count; k++) sorted[k] = 1e6 * value[k];
  qsort(sorted, (size_t)count, sizeof *sorted, ascending);
  for (int i = 0; i < QUANTILES; i++) s.quantile[i] = sorted[(long)(quantile_share[i] * (double)(count - 1))];
  return s;
}

/* ---- what a person reads ---- */

/* a row for each doubling, from 1 us; bars by the logarithm, so that one late period in thousands is seen */
static void print_histogram(const summary *s) {
  static const char bar[] = "########################################";
  printf("\n%s, us:", s->words);
  for (int i = 0; i < QUANTILES; i++) printf("  %s %.1f", quantile_name[i], s->quantile[i]);
  printf("\n");
  long at = 0;
  for (double upper = 1; at < s->count; upper *= 2) {
    long from = at;
    while (at < s->count && (s->sorted[at] < upper || upper > 1e9)) at++;
    if (at == from) continue;
    int length = (int)lround(40 * log1p((double)(at - from)) / log1p((double)s->count));
    printf("  %9.0f to %9.0f %8ld %.*s\n", upper > 1 ? upper / 2 : 0, upper, at - from, length > 0 ? length : 1, bar);
  }
}

static void print_tracking(const cycle_result *r, const cycle_record *record) {
  double most = 0;
  printf("\ntracking error, rms:");
  for (int j = 0; j < JOINTS; j++) printf(" %.2e", sqrt(r->square[j] / (double)r->periods));
  for (long k = 0; k < r->periods; k++) most = fmax(most, record->error[k]);
  printf("; largest %.2e (rad, m)\n", most);
}

/* ---- what a machine reads ---- */

static int write_csv(const char *path, const cycle_result *r, const cycle_record *record) {
  FILE *file = fopen(path, "w");
  if (!file) return fail(path, strerror(errno));
  fprintf(file, "period,lateness_us,computation_us,error\n");
  for (long k = 0; k < r->periods; k++)
    fprintf(file, "%ld,%.3f,%.3f,%.17g\n", k, 1e6 * record->lateness[k], 1e6 * record->computation[k],
            record->error[k]);
  return fclose(file) == 0 ? 0 : fail(path, strerror(errno));
}

static void write_summary(FILE *file, const summary *s) {
  fprintf(file, ", \"%s_us\": {", s->name);
  for (int i = 0; i < QUANTILES; i++) fprintf(file, "%s\"%s\": %.3f", i ? ", " : "", quantile_name[i], s->quantile[i]);
  fprintf(file, "}");
}

static int write_json(const char *path, const options *o, const real_time *rt, const cycle_result *r,
                      const cycle_record *record, const summary *s) {
  FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
  double most = 0;
  if (!file) return fail(path, strerror(errno));
  for (long k = 0; k < r->periods; k++) most = fmax(most, record->error[k]);
  fprintf(file,
          "{\"command\": \"loop\", \"control\": \"%s\", \"joints\": %d, \"rate\": %.17g, \"periods\": %ld, "
          "\"overruns\": %ld",
          o->control, JOINTS, o->rate, r->periods, r->overruns);
  fprintf(file, ", \"scheduler\": \"%s\", \"memory_locked\": %s", rt->fifo ? "SCHED_FIFO" : "SCHED_OTHER",
          rt->locked ? "true" : "false");
  write_summary(file, &s[0]);
  write_summary(file, &s[1]);
  fprintf(file, ", \"tracking\": {\"rms\": [");
  for (int j = 0; j < JOINTS; j++) fprintf(file, "%s%.17g", j ? ", " : "", sqrt(r->square[j] / (double)r->periods));
  fprintf(file, "], \"largest\": %.17g}}\n", most);
  return (file == stdout ? fflush(file) : fclose(file)) == 0 ? 0 : fail(path, strerror(errno));
}

/* ---- the program ---- */

/* configure and activate both sides, as a controller manager does */
static bool bring_up(const arm_system *system, arm_controller *controller) {
  arm_state state;
  if (!system->on_configure(system->self) || !controller_on_configure(controller) || !system->on_activate(system->self))
    return false;
  system->read(system->self, &state);
  controller_on_activate(controller, &state);
  return true;
}

int main(int argc, char **argv) {
  options o;
  int code = parse(argc, argv, &o);
  if (code) return code;
  long periods = lround(o.seconds * o.rate);
  if (periods < 1) periods = 1;
  double *memory = calloc((size_t)periods, 5 * sizeof *memory);
  if (!memory) return fail("memory", strerror(errno));
  const cycle_record record = {memory, memory + periods, memory + 2 * periods};
  memset(memory, 1, (size_t)periods * 5 * sizeof *memory); /* touched before */

  /* a natural frequency of 20 rad/s, critically damped; the body in the hand sits 5 cm before the last link's frame */
  simulated_arm arm = {
      .payload = {o.payload, 0, 0, 0.05 * o.payload, 0.0025 * o.payload, 0, 0, 0.0025 * o.payload, 0, 0}};
  arm_controller controller = {.control = strcmp(o.control, "gravity-pd") ? COMPUTED_TORQUE : GRAVITY_PD,
                               .stiffness = 400,
                               .damping = 40,
                               .amplitude = 0.2};
  const arm_system system = simulated_arm_system(&arm);
  const real_time rt = ask_for_real_time((int)o.priority);
  touch_stack();
  if (!bring_up(&system, &controller)) return fail("the arm", "does not come up");
  const cycle_result result = cycle_run(&system, &controller, o.rate, periods, &record);
  system.on_deactivate(system.self);

  const summary s[2] = {
      summarise("lateness", "woken late by", record.lateness, memory + 3 * periods, periods),
      summarise("computation", "read, update, write took", record.computation, memory + 4 * periods, periods)};
  bool words = !o.json || strcmp(o.json, "-");
  if (words) {
    printf("%ld periods at %g Hz, %ld of them over; %s, memory %s\n", result.periods, o.rate, result.overruns,
           rt.fifo ? "SCHED_FIFO" : "no real-time scheduler", rt.locked ? "locked" : "not locked");
    print_histogram(&s[0]);
    print_histogram(&s[1]);
    print_tracking(&result, &record);
  }
  if (o.csv) code = write_csv(o.csv, &result, &record);
  if (!code && o.json) code = write_json(o.json, &o, &rt, &result, &record, s);
  free(memory);
  return code;
}
