/* peers.c: nanoseconds per call of one robot's dynamics in every peer: peers [--repeats N] [--json FILE] ROBOT.yaml
 * REFERENCE.so LABEL=PEER.so ...
 *
 * All peers run the same random states in turns, single-threaded, in this one process; the best of the repeats
 * counts, and among peers of one label (compilers, flags) and their ways the fastest. The reference is libpsdm's
 * recursions. Before anything is timed each result must agree with the reference's, else it is not timed and the
 * exit status is 1. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "psdm/model.h"
#include "psdm/output.h"

enum { MOST_PEERS = 32, MOST_RUNS = 256 };
static const double tolerance = 1e-9;   /* of the largest entry of a vector or matrix */
static const double repeat_time = 1e-3; /* seconds: long against the clock, short against interruptions */

/* the functions of peer.h, from one shared object */
typedef struct face {
  const char *(*name)(void), *(*compiler)(void), *(*refusal)(const psdm_robot *), *(*function)(recursion, int);
  peer *(*new)(const psdm_robot *, const double *, int);
  void (*free)(peer *), (*result)(peer *, recursion, int, int, double *);
  int (*ways)(recursion);
  double (*sweep)(peer *, recursion, int);
  char label[32];
  peer *peer;
} face;

/* one way of one peer to one function */
typedef struct run {
  face *face;
  recursion which;
  int way, sweeps;
  double off, best; /* largest relative difference; ns per state */
} run;

typedef struct bench {
  psdm_robot *robot;
  psdm_model *model;
  int n;
  double *states, *expected, *found, *y, *M; /* results; values of the model's functions; mass matrix */
  int faces, runs;
  face face[MOST_PEERS]; /* the first is the reference */
  run run[MOST_RUNS];
  double sink; /* so that no call is optimised away */
} bench;

static const struct {
  const char *name;
  recursion which;
} functions[] = {{"inverse", INVERSE},
                 {"mass", MASS},
                 {"forward", FORWARD},
                 {"regressor", REGRESSOR},
                 {"regressor", BASE_REGRESSOR},
                 {"linearize_inverse", LINEARIZE_INVERSE},
                 {"linearize_forward", LINEARIZE_FORWARD},
                 {"inverse_mass", INVERSE_MASS},
                 {"inverse_batch", INVERSE_BATCH},
                 {"linearize_inverse_batch", LINEARIZE_INVERSE_BATCH},
                 {"linearize_forward_batch", LINEARIZE_FORWARD_BATCH}};
enum { COUNT = sizeof functions / sizeof *functions };

/* ---- peers ---- */

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "peers: error: %s\n", dlerror()), exit(2);
  return found;
}

static void open_face(bench *b, const char *argument) {
  face *f = &b->face[b->faces++];
  const char *file = strchr(argument, '=');
  if (b->faces == MOST_PEERS || !file) exit(2);
  snprintf(f->label, sizeof f->label, "%.*s", (int)(file - argument), argument);
  void *library = dlopen(file + 1, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "peers: error: %s\n", dlerror()), exit(2);
  /* a function pointer through void *, as in POSIX */
  *(void **)&f->name = symbol(library, "peer_name");
  *(void **)&f->compiler = symbol(library, "peer_compiler");
  *(void **)&f->refusal = symbol(library, "peer_refusal");
  *(void **)&f->function = symbol(library, "peer_function");
  *(void **)&f->new = symbol(library, "peer_new");
  *(void **)&f->free = symbol(library, "peer_free");
  *(void **)&f->result = symbol(library, "peer_result");
  *(void **)&f->ways = symbol(library, "peer_ways");
  *(void **)&f->sweep = symbol(library, "peer_sweep");
  if (f->refusal(b->robot)) return;
  f->peer = f->new (b->robot, b->states, STATES);
  if (!f->peer)
    fprintf(stderr, "peers: error: %s: %s cannot be built\n", psdm_robot_name(b->robot), f->name()), exit(2);
}

static bool open_robot(bench *b, const char *file) {
  if (!(b->robot = bench_load(file)) || psdm_model_derive(b->robot, NULL, NULL, &b->model, NULL, NULL)) return false;
  b->n = psdm_robot_n(b->robot);
  size_t square = (size_t)(b->n * b->n), largest = (size_t)bench_result_size(b->robot, REGRESSOR) + 3 * square;
  b->states = malloc(sizeof(double) * STATES * STATE_VECTORS * (size_t)b->n);
  b->expected = malloc(sizeof(double) * largest);
  b->found = malloc(sizeof(double) * largest);
  b->y = malloc(sizeof(double) * (size_t)psdm_model_p(b->model));
  b->M = malloc(sizeof(double) * square);
  if (!b->states || !b->expected || !b->found || !b->y || !b->M) return false;
  bench_fill_states(b->states, b->n);
  return true;
}

/* ---- agreement ---- */

static recursion one_by_one(recursion which) {
  switch (which) {
    case INVERSE_BATCH: return INVERSE;
    case LINEARIZE_INVERSE_BATCH: return LINEARIZE_INVERSE;
    case LINEARIZE_FORWARD_BATCH: return LINEARIZE_FORWARD;
    default: return which;
  }
}

/* returns the number of entries to compare */
static int expect(bench *b, recursion which, int state) {
  face *reference = &b->face[0];
  int n = b->n, l = psdm_model_l(b->model), columns = psdm_robot_parameter_count(b->robot);
  const double *x = b->states + STATE_VECTORS * n * state;
  if (which == BASE_REGRESSOR) {
    psdm_model_y(b->model, x, x + n, x + 2 * n, b->y);
    psdm_model_regressor(b->model, PSDM_PART_ALL, b->y, b->expected);
    return n * l;
  }
  reference->result(reference->peer, one_by_one(which), 0, state, b->expected);
  if (which != REGRESSOR) return bench_result_size(b->robot, which);
  /* peers have no columns for drive inertias */
  for (int i = 0; i < n; i++)
    for (int j = 10 * psdm_robot_links(b->robot); j < columns; j++) b->expected[i * columns + j] = 0;
  return n * columns;
}

/* Accelerations of light links lose digits to the condition of M on every side: a matrix X of them is compared by the
 * torque of the difference, M (X - X'), relative to those that M X is the sum of. */
static double difference_through_mass(const bench *b, const double *x, const double *y) {
  int n = b->n;
  double largest = 0, off = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double torque = 0, terms = 0;
      for (int k = 0; k < n; k++) {
        torque += b->M[i * n + k] * (x[k * n + j] - y[k * n + j]);
        terms += fabs(b->M[i * n + k] * y[k * n + j]);
      }
      largest = fmax(largest, terms);
      off = fmax(off, isfinite(torque) ? fabs(torque) : INFINITY);
    }
  return off > 0 ? off / largest : 0;
}

/* matrices one by one */
static double difference(const bench *b, recursion which, int count) {
  int square = b->n * b->n;
  bool forward = one_by_one(which) == LINEARIZE_FORWARD || which == INVERSE_MASS;
  if (!forward && one_by_one(which) != LINEARIZE_INVERSE) return bench_difference(b->found, b->expected, count);
  double off = 0;
  for (int at = 0; at < count; at += square)
    off = fmax(off, forward ? difference_through_mass(b, b->found + at, b->expected + at)
                            : bench_difference(b->found + at, b->expected + at, square));
  return off;
}

static void compare(bench *b, run *r) {
  face *reference = &b->face[0];
  for (int s = 0; s < STATES; s++) {
    int count = expect(b, r->which, s);
    reference->result(reference->peer, MASS, 0, s, b->M);
    r->face->result(r->face->peer, r->which, r->way, s, b->found);
    r->off = fmax(r->off, difference(b, r->which, count));
  }
}

static bool add_runs(bench *b) {
  bool ok = true;
  for (int k = 0; k < COUNT; k++)
    for (int i = 0; i < b->faces; i++) {
      face *f = &b->face[i];
      for (int way = 0; f->peer && way < f->ways(functions[k].which); way++) {
        run r = {.face = f, .which = functions[k].which, .way = way, .best = INFINITY};
        if (i > 0) compare(b, &r);
        if (r.off <= tolerance) {
          if (b->runs == MOST_RUNS) exit(2);
          b->run[b->runs++] = r;
          continue;
        }
        fprintf(stderr, "peers: error: %s: %s of %s is off by %.1e of the largest entry\n", psdm_robot_name(b->robot),
                f->function(r.which, way), f->label, r.off);
        ok = false;
      }
    }
  return ok;
}

/* ---- time ---- */

static double time_run(bench *b, const run *r, int sweeps) {
  double start = bench_now();
  for (int i = 0; i < sweeps; i++) b->sink += r->face->sweep(r->face->peer, r->which, r->way);
  return (bench_now() - start) / ((double)sweeps * STATES);
}

static void time_all(bench *b, int repeats) {
  /* warms up, too */
  for (int k = 0; k < b->runs; k++) b->run[k].sweeps = 1 + (int)(repeat_time / (time_run(b, &b->run[k], 8) * STATES));
  for (int i = 0; i < repeats; i++)
    for (int k = 0; k < b->runs; k++)
      b->run[k].best = fmin(b->run[k].best, 1e9 * time_run(b, &b->run[k], b->run[k].sweeps));
}

/* ---- report ---- */

static const char *function_name(recursion which) {
  for (int k = 0; k < COUNT; k++)
    if (functions[k].which == which) return functions[k].name;
  return "";
}

static void report(const bench *b, psdm_output *json) {
  psdm_json_object(json, NULL);
  psdm_json_string(json, "robot", psdm_robot_name(b->robot));
  psdm_json_number(json, "n", b->n);
  psdm_json_number(json, "l", psdm_model_l(b->model));
  psdm_json_number(json, "sink", b->sink);
  psdm_json_array(json, "peers");
  for (int i = 0; i < b->faces; i++) {
    psdm_json_object(json, NULL);
    psdm_json_string(json, "label", b->face[i].label);
    psdm_json_string(json, "name", b->face[i].name());
    psdm_json_string(json, "compiler", b->face[i].compiler());
    psdm_json_string(json, "refusal", b->face[i].refusal(b->robot));
    psdm_json_close(json);
  }
  psdm_json_close(json);
  psdm_json_array(json, "times");
  for (int k = 0; k < b->runs; k++) {
    const run *r = &b->run[k];
    psdm_json_object(json, NULL);
    psdm_json_string(json, "function", function_name(r->which));
    psdm_json_string(json, "label", r->face->label);
    psdm_json_string(json, "way", r->face->function(r->which, r->way));
    psdm_json_string(json, "compiler", r->face->compiler());
    psdm_json_number(json, "ns", r->best);
    psdm_json_number(json, "difference", r->off);
    psdm_json_close(json);
  }
  psdm_json_close(json);
  psdm_json_close(json);
}

int main(int argc, char **argv) {
  static bench b;
  int repeats = 25, i = 1;
  const char *path = "-";
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (!strcmp(argv[i], "--repeats")) repeats = atoi(argv[i + 1]);
    else if (!strcmp(argv[i], "--json")) path = argv[i + 1];
    else break;
  }
  psdm_output *json = NULL;
  if (argc - i < 2 || repeats < 1)
    return fprintf(stderr, "usage: peers [--repeats N] [--json FILE] ROBOT.yaml LABEL=PEER.so ...\n"), 2;
  if (!open_robot(&b, argv[i++]) || psdm_output_open(path, NULL, &json, NULL)) return 2;
  while (i < argc) open_face(&b, argv[i++]);
  bool ok = add_runs(&b);
  time_all(&b, repeats);
  report(&b, json);
  if (psdm_output_commit(&json, NULL)) return 2;
  for (int k = 0; k < b.faces; k++) b.face[k].free(b.face[k].peer);
  return ok ? 0 : 1;
}
