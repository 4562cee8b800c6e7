/* recursions.c: nanoseconds per call of every recursion, beside a peer when one is linked in.
 *
 * Both libraries run the same random states in turns, single-threaded, in this one process; the best of the repeats
 * counts. Before anything is timed every result of the peer must agree with ours, else the exit status is 1. */
#define _POSIX_C_SOURCE 200112L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"
#include "psdm/output.h"

enum { STATES = 64 };                    /* stays in the first-level cache together with the robot */
static const double tolerance = 1e-10;   /* of the largest entry of a result */
static const double repeat_time = 2e-3;  /* seconds: long against the clock, short against interruptions */

typedef struct bench {
  psdm_robot *robot;
  psdm_work *work;
  peer *peer; /* NULL: libpsdm alone */
  int n, last;
  double *states;        /* (STATES x 4 n) */
  double *ours, *theirs; /* results */
  double sink;           /* so that no call is optimised away */
} bench;

typedef struct timing {
  double ours, theirs; /* ns per call; theirs is NAN without a peer */
  int way;             /* the peer's fastest */
} timing;

/* ---- what is called ---- */

typedef psdm_status (*call)(const bench *b, const double *x, double *out);

static psdm_status inverse(const bench *b, const double *x, double *out) {
  return psdm_inverse(b->robot, b->work, x, x + b->n, x + 2 * b->n, out);
}
static psdm_status gravity(const bench *b, const double *x, double *out) { return psdm_gravity(b->robot, b->work, x, out); }
static psdm_status bias(const bench *b, const double *x, double *out) { return psdm_bias(b->robot, b->work, x, x + b->n, out); }
static psdm_status mass(const bench *b, const double *x, double *out) { return psdm_mass(b->robot, b->work, x, out); }
static psdm_status forward(const bench *b, const double *x, double *out) {
  return psdm_forward(b->robot, b->work, x, x + b->n, x + 3 * b->n, out);
}
static psdm_status forward_cholesky(const bench *b, const double *x, double *out) {
  return psdm_forward_cholesky(b->robot, b->work, x, x + b->n, x + 3 * b->n, out);
}
static psdm_status regressor(const bench *b, const double *x, double *out) {
  return psdm_regressor_standard(b->robot, b->work, x, x + b->n, x + 2 * b->n, out);
}
static psdm_status energy(const bench *b, const double *x, double *out) {
  return psdm_energy(b->robot, b->work, x, x + b->n, out, out + 1);
}
static psdm_status jacobian(const bench *b, const double *x, double *out) {
  return psdm_jacobian(b->robot, b->work, x, b->last, out);
}

static const struct {
  const char *name;
  call call;
} table[RECURSIONS] = {
    [INVERSE] = {"psdm_inverse", inverse},
    [GRAVITY] = {"psdm_gravity", gravity},
    [BIAS] = {"psdm_bias", bias},
    [MASS] = {"psdm_mass", mass},
    [FORWARD] = {"psdm_forward", forward},
    [FORWARD_CHOLESKY] = {"psdm_forward_cholesky", forward_cholesky},
    [REGRESSOR] = {"psdm_regressor_standard", regressor},
    [ENERGY] = {"psdm_energy", energy},
    [JACOBIAN] = {"psdm_jacobian", jacobian},
};

static int result_size(const bench *b, recursion which) {
  switch (which) {
  case MASS: return b->n * b->n;
  case REGRESSOR: return b->n * psdm_robot_parameter_count(b->robot);
  case ENERGY: return 2;
  case JACOBIAN: return 6 * b->n;
  default: return b->n;
  }
}

/* ---- random numbers: xorshift64*, the same on every run ---- */

static double uniform(uint64_t *state, double low, double high) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return low + (high - low) * (double)((*state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

/* ---- robots ---- */

/* a chain of revolute joints in general directions, with spheres for links; the text of its file. Returns buf */
static char *random_chain(int joints, char *buf, size_t size) {
  uint64_t seed = 12;
  size_t used = (size_t)snprintf(buf, size, "name: chain%d\nconvention: modified-dh\ngravity: [0, 0, -9.81]\njoints:\n", joints);
  for (int j = 0; j < joints; j++) {
    double alpha = uniform(&seed, -3, 3), a = uniform(&seed, -0.3, 0.3), d = uniform(&seed, -0.3, 0.3);
    used += (size_t)snprintf(buf + used, size - used, "  - {name: j%d, type: revolute, alpha: %.6f, a: %.6f, theta: 0, d: %.6f}\n",
                             j + 1, alpha, a, d);
  }
  used += (size_t)snprintf(buf + used, size - used, "links:\n");
  for (int j = 0; j < joints; j++) {
    double x = uniform(&seed, -0.2, 0.2), y = uniform(&seed, -0.2, 0.2), z = uniform(&seed, -0.2, 0.2), m = uniform(&seed, 1, 5);
    used += (size_t)snprintf(buf + used, size - used, "  - {mass: %.6f, com: [%.6f, %.6f, %.6f], inertia: {xx: 0.02, yy: 0.02, zz: 0.02}}\n",
                             m, x, y, z);
  }
  return buf;
}

/* a file, or chainN */
static psdm_robot *load(const char *what) {
  psdm_robot *robot = NULL;
  psdm_error error = {0};
  int joints;
  char text[1 << 14];
  psdm_status status;
  if (sscanf(what, "chain%d", &joints) == 1 && joints > 0 && joints <= 64) {
    random_chain(joints, text, sizeof text);
    status = psdm_robot_parse(text, strlen(text), what, NULL, NULL, &robot, &error);
  } else {
    status = psdm_robot_load(what, NULL, NULL, &robot, &error);
  }
  if (status) fprintf(stderr, "recursions: error: %s\n", psdm_error_format(&error, text, sizeof text));
  return robot;
}

/* The PUMA's file has links without mass that have first moments (their mass has no effect). A peer that stores the
 * centre of mass cannot hold them: such links get 1 kg, for both libraries. */
static bool give_mass(psdm_robot *robot) {
  int count = psdm_robot_parameter_count(robot);
  double *pi = malloc(sizeof *pi * (size_t)count);
  if (!pi) return false;
  psdm_robot_parameters(robot, pi);
  for (int k = 0; k < psdm_robot_links(robot); k++)
    if (pi[10 * k] == 0) pi[10 * k] = 1;
  psdm_robot_set_parameters(robot, pi);
  free(pi);
  return true;
}

static void fill_states(bench *b) {
  static const double span[STATE_VECTORS] = {3, 2, 5, 10}; /* q, qd, qdd, tau */
  uint64_t seed = 1;
  for (int i = 0; i < STATES * STATE_VECTORS * b->n; i++) {
    double high = span[i / b->n % STATE_VECTORS];
    b->states[i] = uniform(&seed, -high, high);
  }
}

static bool bench_open(const char *what, bench *b) {
  *b = (bench){.robot = load(what)};
  if (!b->robot || !give_mass(b->robot) || psdm_work_new(b->robot, NULL, &b->work)) return false;
  b->n = psdm_robot_n(b->robot);
  b->last = psdm_robot_joints(b->robot) - 1;
  size_t n = (size_t)b->n, largest = n * (size_t)(psdm_robot_parameter_count(b->robot) + 6);
  b->states = malloc(sizeof(double) * STATES * STATE_VECTORS * n);
  b->ours = malloc(sizeof(double) * largest);
  b->theirs = malloc(sizeof(double) * largest);
  if (!b->states || !b->ours || !b->theirs) return false;
  fill_states(b);
  b->peer = peer_new(b->robot, b->states, STATES);
  return true;
}

static void bench_close(bench *b) {
  peer_free(b->peer);
  psdm_work_free(b->work, NULL);
  psdm_robot_free(b->robot);
  free(b->states);
  free(b->ours);
  free(b->theirs);
}

/* ---- agreement ---- */

/* the peer has no columns for drive inertias */
static void clear_drives(const bench *b, double *Y) {
  int columns = psdm_robot_parameter_count(b->robot), links = 10 * psdm_robot_links(b->robot);
  for (int i = 0; i < b->n; i++)
    for (int j = links; j < columns; j++) Y[i * columns + j] = 0;
}

static double difference(const double *x, const double *y, int count) {
  double largest = 0, off = 0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs(y[i]));
    off = fmax(off, x[i] == x[i] && y[i] == y[i] ? fabs(x[i] - y[i]) : INFINITY);
  }
  return off > 0 ? off / largest : 0;
}

static bool agree(bench *b, recursion which, int way) {
  for (int s = 0; s < STATES; s++) {
    if (table[which].call(b, b->states + (long)STATE_VECTORS * b->n * s, b->ours)) return false;
    if (!b->peer) continue;
    peer_result(b->peer, which, way, s, b->theirs);
    if (which == REGRESSOR) clear_drives(b, b->ours);
    double off = difference(b->ours, b->theirs, result_size(b, which));
    if (off <= tolerance) continue;
    fprintf(stderr, "recursions: error: %s: %s and %s differ by %.1e of the largest entry (state %d)\n",
            psdm_robot_name(b->robot), table[which].name, peer_function(which, way), off, s);
    return false;
  }
  return true;
}

static bool agree_all(bench *b) {
  for (int k = 0; k < RECURSIONS; k++)
    for (int way = 0; way == 0 || way < peer_ways((recursion)k); way++)
      if (!agree(b, (recursion)k, way)) return false;
  return true;
}

/* ---- time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* way -1 is libpsdm */
static void sweep(bench *b, recursion which, int way) {
  if (way >= 0) {
    b->sink += peer_sweep(b->peer, which, way);
    return;
  }
  for (int s = 0; s < STATES; s++) {
    table[which].call(b, b->states + (long)STATE_VECTORS * b->n * s, b->ours);
    b->sink += b->ours[0];
  }
}

static double time_sweeps(bench *b, recursion which, int way, int sweeps) {
  double start = now();
  for (int i = 0; i < sweeps; i++) sweep(b, which, way);
  return 1e9 * (now() - start) / ((double)sweeps * STATES);
}

/* libpsdm and every way of the peer in turns; the best of each */
static timing time_recursion(bench *b, recursion which, int repeats) {
  enum { MOST_WAYS = 4 };
  double best[1 + MOST_WAYS];
  int sweeps[1 + MOST_WAYS], ways = b->peer ? peer_ways(which) : 0;
  for (int k = 0; k <= ways; k++) {
    double once = time_sweeps(b, which, k - 1, 8) * 1e-9 * STATES; /* also warms the caches */
    sweeps[k] = 1 + (int)(repeat_time / once);
    best[k] = INFINITY;
  }
  for (int i = 0; i < repeats; i++)
    for (int k = 0; k <= ways; k++) best[k] = fmin(best[k], time_sweeps(b, which, k - 1, sweeps[k]));
  timing t = {.ours = best[0], .theirs = ways ? best[1] : NAN};
  for (int k = 1; k <= ways; k++)
    if (best[k] < t.theirs) t.theirs = best[k], t.way = k - 1;
  return t;
}

/* ---- report ---- */

static void print_heading(void) {
  if (peer_name()) printf("peer: %s, compiled by %s\n", peer_name(), peer_compiler());
  printf("%-12s %-24s %9s", "robot", "recursion", "psdm ns");
  if (peer_name()) printf(" %9s %7s  %s", "peer ns", "ratio", "peer function");
  printf("\n");
}

static void report(const bench *b, recursion which, timing t, psdm_output *json) {
  printf("%-12s %-24s %9.1f", psdm_robot_name(b->robot), table[which].name, t.ours);
  if (b->peer) printf(" %9.1f %6.2fx  %s", t.theirs, t.theirs / t.ours, peer_function(which, t.way));
  printf("\n");
  fflush(stdout);
  if (!json) return;
  psdm_json_object(json, NULL);
  psdm_json_string(json, "robot", psdm_robot_name(b->robot));
  psdm_json_string(json, "recursion", table[which].name);
  psdm_json_number(json, "psdm_ns", t.ours);
  psdm_json_string(json, "peer_function", b->peer ? peer_function(which, t.way) : NULL);
  psdm_json_number(json, "peer_ns", t.theirs);
  psdm_json_number(json, "ratio", t.theirs / t.ours);
  psdm_json_close(json);
}

static bool run_robot(const char *what, int repeats, psdm_output *json) {
  bench b;
  bool ok = bench_open(what, &b) && agree_all(&b);
  for (int k = 0; ok && k < RECURSIONS; k++) report(&b, (recursion)k, time_recursion(&b, (recursion)k, repeats), json);
  bench_close(&b);
  return ok;
}

static psdm_output *open_json(const char *path) {
  psdm_output *json = NULL;
  psdm_error error = {0};
  if (psdm_output_open(path, NULL, &json, &error)) {
    fprintf(stderr, "recursions: error: %s\n", error.text);
    exit(2);
  }
  psdm_json_object(json, NULL);
  psdm_json_string(json, "peer", peer_name());
  psdm_json_string(json, "peer_compiler", peer_compiler());
  psdm_json_array(json, "rows");
  return json;
}

static int usage(void) {
  fprintf(stderr, "usage: recursions [--repeats N] [--json FILE] ROBOT.yaml|chainN ...\n");
  return 2;
}

int main(int argc, char **argv) {
  int repeats = 25, i = 1;
  psdm_output *json = NULL;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (!strcmp(argv[i], "--repeats"))
      repeats = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--json") && !json)
      json = open_json(argv[i + 1]);
    else
      return usage();
  }
  if (i >= argc || repeats < 1) return usage();
  bool ok = true;
  print_heading();
  for (; ok && i < argc; i++) ok = run_robot(argv[i], repeats, json);
  if (!json) return ok ? 0 : 1;
  if (!ok) {
    psdm_output_abort(&json);
    return 1;
  }
  psdm_json_close(json);
  psdm_json_close(json);
  return psdm_output_commit(&json, NULL) ? 2 : 0;
}
