/* simulate.c: simulated seconds per wall second of free motion from q = 0: simulate [--repeats N] ROBOT.yaml PEER.so
 * ...
 *
 * Runge and Kutta's formula and semi-implicit Euler, 1 ms, single-threaded, all simulators in turns in this one
 * process; the best of the repeats counts, and among those of one label the fastest. Before anything is timed each must
 * reach, after half a second, the state of libpsdm's recursions: the formulas are the same, so that they differ only by
 * rounding, amplified by the motion. One that differs is not timed, and the exit status is 1. The integrator's own
 * error is printed too. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "psdm/psdm.h"
#include "simulator.h"

enum { MOST = 32, STEPS = 500, FINER = 32 };
static const double step = 1e-3, tolerance = 1e-9; /* s; rad, rad/s */
static const char *const scheme_names[SCHEMES] = {"rk4", "euler"};

/* ---- libpsdm: its simulator with generated code and with recursions ---- */

typedef struct own {
  psdm_sim *sim;
  psdm_compiled *code;
  void (*forward)(const double *q, const double *qd, const double *tau, double *qdd);
  scheme scheme;
  double step;
  int n;
  double x[2 * PSDM_MAX_JOINTS];
} own;

static const double no_torque[PSDM_MAX_JOINTS];

static own *complain(own *o, const psdm_error *error) {
  char sentence[900];
  fprintf(stderr, "simulate: error: %s\n", psdm_error_format(error, sentence, sizeof sentence));
  free(o);
  return NULL;
}

static own *open_sim(const psdm_robot *robot, scheme scheme, double h, bool no_code) {
  own *o = calloc(1, sizeof *o);
  const psdm_sim_options options = {
      .integrator = scheme == RK4 ? PSDM_INTEGRATOR_RK4 : PSDM_INTEGRATOR_EULER, .step = h, .no_code = no_code};
  psdm_error error = {0};
  if (!o) return NULL;
  if (psdm_sim_new(robot, &options, NULL, &o->sim, &error)) return complain(o, &error);
  o->step = h, o->n = psdm_robot_n(robot);
  if (no_code || psdm_sim_native(o->sim)) return o;
  fprintf(stderr, "simulate: SKIPPED libpsdm's generated code: it could not be compiled here\n");
  psdm_sim_free(o->sim);
  free(o);
  return NULL;
}

static void *open_code(const psdm_robot *robot, scheme scheme, double h) { return open_sim(robot, scheme, h, false); }
static void *open_recursions(const psdm_robot *robot, scheme scheme, double h) {
  return open_sim(robot, scheme, h, true);
}

static void place(void *p, const double *x) {
  own *o = p;
  if (psdm_sim_set(o->sim, 0, x, x + o->n, NULL))
    fprintf(stderr, "simulate: error: the state cannot be set\n"), exit(2);
}

static void run(void *p, int steps) {
  own *o = p;
  for (int k = 0; k < steps; k++)
    if (psdm_sim_step(o->sim, no_torque, o->step)) fprintf(stderr, "simulate: error: step %d failed\n", k), exit(2);
}

static void look(void *p, double *x) {
  own *o = p;
  psdm_sim_row row;
  psdm_sim_now(o->sim, &row);
  memcpy(x, row.q, sizeof *x * (size_t)o->n);
  memcpy(x + o->n, row.qd, sizeof *x * (size_t)o->n);
}

static void close_sim(void *p) {
  own *o = p;
  psdm_sim_free(o->sim);
  free(o);
}

/* ---- libpsdm's generated code in an integrator written by hand, like Pinocchio's ---- */

static void *open_hand(const psdm_robot *robot, scheme scheme, double h) {
  own *o = calloc(1, sizeof *o);
  const psdm_code_options options = {.functions = 1u << PSDM_CODE_FORWARD, .effort = -1};
  const psdm_compile_options how = {.native = true};
  psdm_code *code = NULL;
  psdm_error error = {0};
  if (!o) return NULL;
  o->scheme = scheme, o->step = h, o->n = psdm_robot_n(robot);
  psdm_status status = psdm_code_build(robot, &options, NULL, &code, &error);
  if (!status) status = psdm_compile(code, &how, NULL, &o->code, &error);
  psdm_code_free(code);
  if (status) return complain(o, &error);
  psdm_compiled_pointer pointer = psdm_compiled_symbol(o->code, PSDM_CODE_FORWARD, false, NULL);
  memcpy(&o->forward, &pointer, sizeof pointer);
  return o;
}

static void place_hand(void *p, const double *x) {
  own *o = p;
  memcpy(o->x, x, sizeof *x * 2 * (size_t)o->n);
}

static void rates(const own *o, const double *x, double *rate) {
  memcpy(rate, x + o->n, sizeof *x * (size_t)o->n);
  o->forward(x, x + o->n, no_torque, rate + o->n);
}

static void rk4_by_hand(own *o) {
  double k1[2 * PSDM_MAX_JOINTS], k2[2 * PSDM_MAX_JOINTS], k3[2 * PSDM_MAX_JOINTS], k4[2 * PSDM_MAX_JOINTS],
      at[2 * PSDM_MAX_JOINTS], h = o->step;
  int size = 2 * o->n;
  rates(o, o->x, k1);
  for (int i = 0; i < size; i++) at[i] = o->x[i] + h / 2 * k1[i];
  rates(o, at, k2);
  for (int i = 0; i < size; i++) at[i] = o->x[i] + h / 2 * k2[i];
  rates(o, at, k3);
  for (int i = 0; i < size; i++) at[i] = o->x[i] + h * k3[i];
  rates(o, at, k4);
  for (int i = 0; i < size; i++) o->x[i] += h / 6 * (k1[i] + 2 * (k2[i] + k3[i]) + k4[i]);
}

static void euler_by_hand(own *o) {
  double qdd[PSDM_MAX_JOINTS];
  o->forward(o->x, o->x + o->n, no_torque, qdd);
  for (int i = 0; i < o->n; i++) o->x[o->n + i] += o->step * qdd[i], o->x[i] += o->step * o->x[o->n + i];
}

static void run_hand(void *p, int steps) {
  own *o = p;
  void (*one)(own *) = o->scheme == RK4 ? rk4_by_hand : euler_by_hand;
  for (int k = 0; k < steps; k++) one(o);
}

static void look_hand(void *p, double *x) {
  own *o = p;
  memcpy(x, o->x, sizeof *x * 2 * (size_t)o->n);
}

static void close_hand(void *p) {
  own *o = p;
  psdm_compiled_free(o->code);
  free(o);
}

static const simulator recursions = {
    "libpsdm, recursions", "psdm_sim_step, no_code", NULL, open_recursions, place, run, look, close_sim};
static const simulator own_code[] = {
    {"libpsdm", "psdm_sim_step, generated code", NULL, open_code, place, run, look, close_sim},
    {"libpsdm, loop by hand", "generated forward dynamics alone", NULL, open_hand, place_hand, run_hand, look_hand,
     close_hand}};

/* ---- agreement ---- */

typedef struct entry {
  const simulator *by;
  void *own;
  double apart, best; /* distance from the recursions; seconds for STEPS */
} entry;

typedef struct bench {
  psdm_robot *robot;
  int n, entries;
  const simulator *by[MOST]; /* the recursions first */
  entry entry[MOST];
} bench;

static double distance(const double *x, const double *y, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, isfinite(x[i]) ? fabs(x[i] - y[i]) : INFINITY);
  return most;
}

static void move(const simulator *by, void *o, int steps, double *x) {
  static const double start[2 * PSDM_MAX_JOINTS];
  by->place(o, start);
  by->run(o, steps);
  by->look(o, x);
}

/* Runge and Kutta's formula in steps FINER times as small: the truth for the integrators at 1 ms */
static void find_truth(const bench *b, double *x) {
  void *o = recursions.open(b->robot, RK4, step / FINER);
  if (!o) exit(2);
  move(&recursions, o, STEPS * FINER, x);
  recursions.close(o);
}

/* opens all that support the robot; false when one of them ends at another state */
static bool open_all(bench *b, scheme which, int count, const double *truth, double *error) {
  double x[2 * PSDM_MAX_JOINTS], expected[2 * PSDM_MAX_JOINTS];
  bool ok = true;
  b->entries = 0;
  for (int k = 0; k < count; k++) {
    entry e = {.by = b->by[k], .best = INFINITY};
    if ((e.by->refusal && e.by->refusal(b->robot)) || !(e.own = e.by->open(b->robot, which, step))) continue;
    move(e.by, e.own, STEPS, x);
    if (k == 0) memcpy(expected, x, sizeof x), *error = distance(x, truth, 2 * b->n);
    e.apart = distance(x, expected, 2 * b->n);
    if (e.apart <= tolerance) {
      b->entry[b->entries++] = e;
      continue;
    }
    fprintf(stderr, "simulate: error: %s, %s (%s): %.1e from the recursions after %g s\n", scheme_names[which],
            e.by->label, e.by->way, e.apart, STEPS * step);
    e.by->close(e.own);
    ok = false;
  }
  return ok;
}

/* ---- time ---- */

static void time_all(bench *b, int repeats) {
  double x[2 * PSDM_MAX_JOINTS];
  static const double start[2 * PSDM_MAX_JOINTS];
  for (int i = 0; i < repeats; i++)
    for (int k = 0; k < b->entries; k++) {
      entry *e = &b->entry[k];
      e->by->place(e->own, start);
      double begin = bench_now();
      e->by->run(e->own, STEPS);
      e->best = fmin(e->best, bench_now() - begin);
      e->by->look(e->own, x);
    }
}

/* the fastest of each label; ratios are to libpsdm's simulator */
static void report(const bench *b, scheme which) {
  double ours = NAN;
  for (int k = 0; k < b->entries; k++)
    if (b->entry[k].by == &own_code[0]) ours = b->entry[k].best;
  for (int k = 0; k < b->entries; k++) {
    const entry *e = &b->entry[k];
    bool fastest = true;
    for (int i = 0; i < b->entries; i++)
      if (!strcmp(b->entry[i].by->label, e->by->label) &&
          (b->entry[i].best < e->best || (b->entry[i].best == e->best && i < k)))
        fastest = false;
    if (fastest)
      printf("%-6s %-22s %12.0f %10.3f %8.2fx %9.1e  %s\n", scheme_names[which], e->by->label, STEPS * step / e->best,
             1e6 * e->best / STEPS, e->best / ours, e->apart, e->by->way);
  }
}

/* ---- all of it ---- */

static int add_peer(bench *b, int count, const char *file) {
  const simulator *(*list)(void);
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library || !(*(void **)&list = dlsym(library, "simulators")))
    fprintf(stderr, "simulate: error: %s\n", dlerror()), exit(2);
  for (const simulator *s = list(); s->label && count < MOST; s++) {
    if (s->refusal(b->robot)) fprintf(stderr, "simulate: SKIPPED %s: %s\n", s->label, s->refusal(b->robot));
    b->by[count++] = s;
  }
  return count;
}

int main(int argc, char **argv) {
  static bench b;
  int repeats = 50, i = 1, count = 0;
  bool ok = true;
  double truth[2 * PSDM_MAX_JOINTS], error = NAN;
  if (argc > 2 && !strcmp(argv[1], "--repeats")) repeats = atoi(argv[2]), i = 3;
  if (i >= argc || repeats < 1) return fprintf(stderr, "usage: simulate [--repeats N] ROBOT.yaml PEER.so ...\n"), 2;
  if (!(b.robot = bench_load(argv[i++]))) return 2;
  b.n = psdm_robot_n(b.robot);
  b.by[count++] = &recursions;
  for (int k = 0; k < 2; k++) b.by[count++] = &own_code[k];
  while (i < argc) count = add_peer(&b, count, argv[i++]);
  find_truth(&b, truth);
  printf("%s: free motion from q = 0, %g s in steps of %g ms, best of %d\n", psdm_robot_name(b.robot), STEPS * step,
         1e3 * step, repeats);
  printf("%-6s %-22s %12s %10s %9s %9s  %s\n", "", "", "sim s/s", "us/step", "time", "apart", "way");
  for (int which = 0; which < SCHEMES; which++) {
    ok &= open_all(&b, (scheme)which, count, truth, &error);
    time_all(&b, repeats);
    report(&b, (scheme)which);
    printf("%-6s the integrator's own error there: %.1e\n", scheme_names[which], error);
    for (int k = 0; k < b.entries; k++) b.entry[k].by->close(b.entry[k].own);
  }
  psdm_robot_free(b.robot);
  return ok ? 0 : 1;
}
