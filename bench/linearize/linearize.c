/* linearize.c: time of the six linearization algorithms on serial chains against the number of joints, and the
 * slopes on logarithmic axes: 1 for Algorithms 1 and 5, 2 for 2 and 6; the conventional 3 and 4 grow towards 3.
 * Single-threaded; the best of the repeats counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "psdm/psdm.h"

static const int sizes[] = {4, 8, 16, 32, 64, 125, 250, 500, 1000};
/* from 16 on; beyond 250 the matrices leave the cache */
enum { SIZES = sizeof sizes / sizeof *sizes, FIRST_OF_FIT = 2 };

static const double repeat_time = 0.1; /* seconds for each algorithm and size, but at least twice */

typedef struct bench {
  psdm_robot *robot;
  psdm_linear *linear;
  int n;
  double *x;      /* (7 n) q, qd, qdd, dq, dqd, dqdd, dtau */
  double *out[3]; /* (n x n) each */
} bench;

typedef psdm_status (*algorithm)(const bench *b);

static psdm_status one(const bench *b) {
  const double *x = b->x;
  int n = b->n;
  return psdm_linear_inverse_along(b->robot, b->linear, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, x + 5 * n,
                                   b->out[0]);
}
static psdm_status two(const bench *b) {
  return psdm_linearize_inverse(b->robot, b->linear, b->x, b->x + b->n, b->x + 2 * b->n, b->out[0], b->out[1],
                                b->out[2]);
}
static psdm_status three(const bench *b) {
  const double *x = b->x;
  int n = b->n;
  return psdm_linear_forward_along_dense(b->robot, b->linear, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, x + 6 * n,
                                         b->out[0]);
}
static psdm_status four(const bench *b) {
  return psdm_linearize_forward_dense(b->robot, b->linear, b->x, b->x + b->n, b->x + 2 * b->n, b->out[0], b->out[1],
                                      b->out[2]);
}
static psdm_status five(const bench *b) {
  const double *x = b->x;
  int n = b->n;
  return psdm_linear_forward_along(b->robot, b->linear, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n, x + 6 * n,
                                   b->out[0]);
}
static psdm_status six(const bench *b) {
  return psdm_linearize_forward_at(b->robot, b->linear, b->x, b->x + b->n, b->x + 2 * b->n, b->out[0], b->out[1],
                                   b->out[2]);
}

static const struct {
  const char *name;
  algorithm run;
  int order;
} algorithms[] = {{"1", one, 1}, {"2", two, 2}, {"3", three, 3}, {"4", four, 3}, {"5", five, 1}, {"6", six, 2}};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

/* Revolute joints in general directions with short links and drives. Motors keep the mass matrix of a thousand joints
 * well conditioned, and the random pose coils the chain up, so that the common point stays near. */
static psdm_robot *chain(int n) {
  size_t size = 256 + (size_t)n * 256, used = 0;
  char *text = malloc(size), sentence[900];
  psdm_robot *robot = NULL;
  psdm_error error;
  if (!text) return NULL;
  used = (size_t)snprintf(text, size, "convention: modified-dh\ngravity: [0, 0, -9.81]\njoints:\n");
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(text + used, size - used, "  - {a: 0.02, d: 0.01, alpha: %d deg, drive_inertia: 0.05}\n",
                             i % 2 ? -70 : 80);
  used += (size_t)snprintf(text + used, size - used, "links:\n");
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(
        text + used, size - used,
        "  - {mass: 0.1, com: [0.01, 0.002, 0.004], inertia: {xx: 2e-4, yy: 2.4e-4, zz: 1.8e-4, xy: 1e-5}}\n");
  if (psdm_robot_parse(text, used, "chain.yaml", NULL, NULL, &robot, &error))
    fprintf(stderr, "%s\n", psdm_error_format(&error, sentence, sizeof sentence));
  free(text);
  return robot;
}

static int open_bench(int n, bench *b) {
  uint64_t state = 20260101;
  size_t square = (size_t)n * (size_t)n;
  *b = (bench){.robot = chain(n), .n = n, .x = malloc(7 * (size_t)n * sizeof(double))};
  for (int i = 0; i < 3; i++) b->out[i] = malloc(square * sizeof(double));
  if (!b->robot || !b->x || !b->out[0] || !b->out[1] || !b->out[2] || psdm_linear_new(b->robot, NULL, &b->linear))
    return 0;
  for (int i = 0; i < 7 * n; i++) b->x[i] = bench_uniform(&state, i < n ? -3 : -0.5, i < n ? 3 : 0.5);
  return 1;
}

static void close_bench(bench *b) {
  for (int i = 0; i < 3; i++) free(b->out[i]);
  free(b->x);
  psdm_linear_free(b->linear, NULL);
  psdm_robot_free(b->robot);
}

/* seconds per call, negative when it fails */
static double time_of(const bench *b, algorithm run) {
  double best = INFINITY, spent = 0;
  for (int k = 0; k < 2 || spent < repeat_time; k++) {
    double start = bench_now();
    if (run(b)) return -1;
    double t = bench_now() - start;
    best = fmin(best, t);
    spent += t;
  }
  return best;
}

/* least squares of log t over log n */
static double slope(const double *t) {
  double x = 0, y = 0, xx = 0, xy = 0;
  int count = SIZES - FIRST_OF_FIT;
  for (int i = FIRST_OF_FIT; i < SIZES; i++) {
    double u = log(sizes[i]), v = log(t[i]);
    x += u, y += v, xx += u * u, xy += u * v;
  }
  return (count * xy - x * y) / (count * xx - x * x);
}

int main(void) {
  double t[ALGORITHMS][SIZES];
  int wrong = 0;
  printf("%6s", "n");
  for (int a = 0; a < ALGORITHMS; a++) printf("  Algorithm %s", algorithms[a].name);
  printf("   (microseconds)\n");
  for (int i = 0; i < SIZES; i++) {
    bench b;
    if (!open_bench(sizes[i], &b)) return 2;
    printf("%6d", sizes[i]);
    for (int a = 0; a < ALGORITHMS; a++) {
      t[a][i] = time_of(&b, algorithms[a].run);
      wrong += t[a][i] < 0;
      printf(" %12.2f", 1e6 * t[a][i]);
      fflush(stdout);
    }
    printf("\n");
    close_bench(&b);
  }
  printf("%6s", "slope");
  for (int a = 0; a < ALGORITHMS; a++) printf(" %12.2f", slope(t[a]));
  printf("   (n = %d..%d)\n", sizes[FIRST_OF_FIT], sizes[SIZES - 1]);
  return wrong ? 1 : 0;
}
