/* recursions.c: nanoseconds per call of every recursion, beside a peer when one is linked in.
 *
 * Both libraries run the same random states in turns, single-threaded, in this one process; the best of the repeats
 * counts. Before anything is timed every result of the peer must agree with ours, else the exit status is 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "peer.h"
#include "psdm/output.h"

static const double tolerance = 1e-10;  /* of the largest entry of a result */
static const double repeat_time = 2e-3; /* seconds: long against the clock, short against interruptions */

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
static psdm_status gravity(const bench *b, const double *x, double *out) {
  return psdm_gravity(b->robot, b->work, x, out);
}
static psdm_status bias(const bench *b, const double *x, double *out) {
  return psdm_bias(b->robot, b->work, x, x + b->n, out);
}
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

static bool bench_open(const char *what, bench *b) {
  *b = (bench){.robot = bench_load(what)};
  if (!b->robot || psdm_work_new(b->robot, NULL, &b->work)) return false;
  b->n = psdm_robot_n(b->robot);
  b->last = psdm_robot_joints(b->robot) - 1;
  size_t n = (size_t)b->n, largest = n * (size_t)(psdm_robot_parameter_count(b->robot) + 6);
  b->states = malloc(sizeof(double) * STATES * STATE_VECTORS * n);
  b->ours = malloc(sizeof(double) * largest);
  b->theirs = malloc(sizeof(double) * largest);
  if (!b->states || !b->ours || !b->theirs) return false;
  bench_fill_states(b->states, b->n);
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

static bool agree(bench *b, recursion which, int way) {
  for (int s = 0; s < STATES; s++) {
    if (table[which].call(b, b->states + (long)STATE_VECTORS * b->n * s, b->ours)) return false;
    if (!b->peer) continue;
    peer_result(b->peer, which, way, s, b->theirs);
    if (which == REGRESSOR) clear_drives(b, b->ours);
    double off = bench_difference(b->ours, b->theirs, bench_result_size(b->robot, which));
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
  double start = bench_now();
  for (int i = 0; i < sweeps; i++) sweep(b, which, way);
  return 1e9 * (bench_now() - start) / ((double)sweeps * STATES);
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
    if (!strcmp(argv[i], "--repeats")) repeats = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--json") && !json) json = open_json(argv[i + 1]);
    else return usage();
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
