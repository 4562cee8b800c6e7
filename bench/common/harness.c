/* harness.c: shared by the benchmarks: robots, random states, the comparison of two results and the clock. */
#define _POSIX_C_SOURCE 200112L
#include "harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "robot/robot.h"

double bench_uniform(uint64_t *state, double low, double high) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return low + (high - low) * (double)((*state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

/* ---- robots ---- */

/* a chain of revolute joints in general directions, with spheres for links; the text of its file. Returns buf */
static char *random_chain(int joints, char *buf, size_t size) {
  uint64_t seed = 12;
  size_t used =
      (size_t)snprintf(buf, size, "name: chain%d\nconvention: modified-dh\ngravity: [0, 0, -9.81]\njoints:\n", joints);
  for (int j = 0; j < joints; j++) {
    double alpha = bench_uniform(&seed, -3, 3), a = bench_uniform(&seed, -0.3, 0.3),
           d = bench_uniform(&seed, -0.3, 0.3);
    used += (size_t)snprintf(buf + used, size - used,
                             "  - {name: j%d, type: revolute, alpha: %.6f, a: %.6f, theta: 0, d: %.6f}\n", j + 1, alpha,
                             a, d);
  }
  used += (size_t)snprintf(buf + used, size - used, "links:\n");
  for (int j = 0; j < joints; j++) {
    double x = bench_uniform(&seed, -0.2, 0.2), y = bench_uniform(&seed, -0.2, 0.2),
           z = bench_uniform(&seed, -0.2, 0.2), m = bench_uniform(&seed, 1, 5);
    used += (size_t)snprintf(buf + used, size - used,
                             "  - {mass: %.6f, com: [%.6f, %.6f, %.6f], inertia: {xx: 0.02, yy: 0.02, zz: 0.02}}\n", m,
                             x, y, z);
  }
  return buf;
}

static bool give_mass(psdm_robot *robot) {
  int count = psdm_robot_parameter_count(robot);
  double *pi = malloc(sizeof *pi * (size_t)count);
  if (!pi) return false;
  psdm_robot_parameters(robot, pi);
  for (int k = 0; k < psdm_robot_links(robot); k++)
    for (int i = 1; i < PSDMP_ROBOT_STANDARD; i++)
      if (pi[10 * k] == 0 && pi[10 * k + i] != 0) pi[10 * k] = 1;
  psdm_robot_set_parameters(robot, pi);
  free(pi);
  return true;
}

psdm_robot *bench_load(const char *what) {
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
  if (status) fprintf(stderr, "bench: error: %s\n", psdm_error_format(&error, text, sizeof text));
  if (robot && !give_mass(robot)) psdm_robot_free(robot), robot = NULL;
  return robot;
}

void bench_fill_states(double *states, int n) {
  static const double span[STATE_VECTORS] = {3, 2, 5, 10}; /* q, qd, qdd, tau */
  uint64_t seed = 1;
  for (int i = 0; i < STATES * STATE_VECTORS * n; i++) {
    double high = span[i / n % STATE_VECTORS];
    states[i] = bench_uniform(&seed, -high, high);
  }
}

/* ---- comparison ---- */

int bench_result_size(const psdm_robot *robot, recursion which) {
  int n = psdm_robot_n(robot);
  switch (which) {
    case INVERSE_MASS:
    case MASS: return n * n;
    case LINEARIZE_INVERSE:
    case LINEARIZE_FORWARD:
    case LINEARIZE_INVERSE_BATCH:
    case LINEARIZE_FORWARD_BATCH: return 3 * n * n;
    case BASE_REGRESSOR:
    case REGRESSOR: return n * psdm_robot_parameter_count(robot);
    case ENERGY: return 2;
    case JACOBIAN: return 6 * n;
    default: return n;
  }
}

double bench_difference(const double *x, const double *y, int count) {
  double largest = 0, off = 0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs(y[i]));
    off = fmax(off, x[i] == x[i] && y[i] == y[i] ? fabs(x[i] - y[i]) : INFINITY);
  }
  return off > 0 ? off / largest : 0;
}

/* Y = Y_bodies T with pi_body = T pi_link */
void bench_regressor_to_links(const psdm_robot *r, const double *bodies, double *Y) {
  int columns = PSDMP_ROBOT_STANDARD * r->bodies + r->drives;
  memset(Y, 0, sizeof *Y * (size_t)(r->n * columns));
  for (int b = 0; b < r->bodies; b++)
    for (int k = 0; k < PSDMP_ROBOT_STANDARD; k++) {
      double unit[PSDMP_ROBOT_STANDARD] = {0}, moved[PSDMP_ROBOT_STANDARD];
      unit[k] = 1;
      psdmp_robot_standard_move(&r->link[r->body[b].index].frame, unit, moved);
      for (int i = 0; i < r->n; i++)
        for (int j = 0; j < PSDMP_ROBOT_STANDARD; j++)
          Y[i * columns + PSDMP_ROBOT_STANDARD * r->body[b].number + k] +=
              moved[j] * bodies[PSDMP_ROBOT_STANDARD * (i * r->bodies + b) + j];
    }
}

/* ---- coupled joints ---- */

void bench_spread(const psdm_robot *r, const double *x, bool position, double *tree) {
  for (int b = 0; b < r->bodies; b++) {
    double sum = position ? r->c[b] : 0;
    for (int k = r->g_row[b]; k < r->g_row[b + 1]; k++) sum += r->g_val[k] * x[r->g_col[k]];
    tree[b] = sum;
  }
}

void bench_gather(const psdm_robot *r, const double *tree, int width, double *x) {
  memset(x, 0, sizeof *x * (size_t)(r->n * width));
  for (int b = 0; b < r->bodies; b++)
    for (int k = r->g_row[b]; k < r->g_row[b + 1]; k++)
      for (int j = 0; j < width; j++) x[r->g_col[k] * width + j] += r->g_val[k] * tree[b * width + j];
}

/* ---- time ---- */

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
