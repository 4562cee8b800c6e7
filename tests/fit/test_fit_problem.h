/* test_fit_problem.h: rows to fit, kept together with their factors. Part of one program at a time. */
#ifndef TEST_FIT_PROBLEM_H
#define TEST_FIT_PROBLEM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "linalg/linalg.h"
#include "fenced.h"

enum { JOINTS_MOST = 7, OWN_MOST = 12, BASE_MOST = 80, STANDARD_MOST = 80 };

typedef struct problem {
  psdmp_fit_rows rows;
  int extras[JOINTS_MOST], own;
  long each; /* rows of every joint */
  double count[JOINTS_MOST];
  double *X[JOINTS_MOST]; /* (each x w) uncompressed [Y F tau] */
  double *R[JOINTS_MOST]; /* (w x w) */
  double *K;              /* (base x standard) */
  double *Y;              /* robots: (n each x standard), a row of joint j at time i is i n + j */
} problem;

/* exactly the requested size, with a fence behind it and not zeroed */
static inline double *scratch_of(size_t count) { return fenced_new((count > 0 ? count : 1) * sizeof(double)); }

static inline double *zeros_of(long count) {
  return memset(scratch_of((size_t)count), 0, (size_t)count * sizeof(double));
}

static inline int width_of(const problem *p, int joint) { return p->rows.base + p->extras[joint] + 1; }

static inline void problem_new(problem *p, int n, int base, int standard, int links, const int *extras, long each) {
  memset(p, 0, sizeof *p);
  p->each = each;
  for (int j = n; j < JOINTS_MOST; j++) p->extras[j] = 1 << 20, p->count[j] = NAN; /* they must not be read */
  for (int j = 0; j < n; j++) {
    p->own += p->extras[j] = extras[j];
    p->count[j] = (double)each;
  }
  p->K = zeros_of(base * standard);
  p->rows = (psdmp_fit_rows){.n = n,
                             .base = base,
                             .standard = standard,
                             .links = links,
                             .K = p->K,
                             .extras = p->extras,
                             .R = p->R,
                             .count = p->count};
  for (int j = 0; j < n; j++) {
    int w = width_of(p, j);
    p->X[j] = calloc((size_t)(each * w), sizeof *p->X[j]);
    p->R[j] = zeros_of(w * w);
  }
}

static inline void problem_free(problem *p) {
  for (int j = 0; j < p->rows.n; j++) {
    free(p->X[j]);
    fenced_free(p->R[j]);
  }
  fenced_free(p->K);
  free(p->Y);
}

/* the factors of rows [from, to) of every joint */
static inline void compress(const problem *p, long from, long to, double *const *R) {
  for (int j = 0; j < p->rows.n; j++) {
    int w = width_of(p, j);
    double *copy = malloc(sizeof *copy * (size_t)((to - from) * w + 1)),
           *scratch = scratch_of(psdmp_linalg_factor_scratch(w, to - from));
    memcpy(copy, p->X[j] + from * w, sizeof *copy * (size_t)((to - from) * w));
    memset(R[j], 0, sizeof *R[j] * (size_t)(w * w));
    psdmp_linalg_factor_add(w, R[j], to - from, copy, scratch);
    fenced_free(scratch);
    free(copy);
  }
}

/* sum of squared residuals of a joint on the rows themselves */
static inline double plain_cost(const problem *p, int joint, const double *theta, const double *phi) {
  int w = width_of(p, joint), base = p->rows.base, first = 0;
  double sum = 0;
  for (int j = 0; j < joint; j++) first += p->extras[j];
  for (long i = 0; i < p->each; i++) {
    const double *row = p->X[joint] + i * w;
    double r = -row[w - 1];
    for (int k = 0; k < base; k++) r += row[k] * theta[k];
    for (int k = 0; k < p->extras[joint]; k++) r += row[base + k] * phi[first + k];
    sum += r * r;
  }
  return sum;
}

/* ---- robots ---- */

/* ten parameters of a body of points: always consistent, and generic */
static inline void random_body(rng *g, double mass, double reach, double pi[10]) {
  double P[16] = {0};
  for (int point = 0; point < 6; point++) {
    double m = mass * rng_uniform(g, 0.05, 0.3),
           r[4] = {rng_uniform(g, -reach, reach), rng_uniform(g, -reach, reach), rng_uniform(g, -reach, reach), 1};
    for (int i = 0; i < 16; i++) P[i] += m * r[i / 4] * r[i % 4];
  }
  const double of[10] = {P[15], P[3], P[7], P[11], P[5] + P[10], -P[1], -P[2], P[0] + P[10], -P[6], P[0] + P[5]};
  memcpy(pi, of, sizeof of);
}

/* a ball about a point on the link */
static inline void ball(double mass, double radius, double pi[10]) {
  double about = 0.4 * mass * radius * radius;
  const double of[10] = {mass, 0, 0, 0, about, 0, 0, about, 0, about};
  memcpy(pi, of, sizeof of);
}

/* K and the standard parameter that names each base parameter */
static inline void base_of(const psdm_robot *robot, int *base, double **K, int kept[BASE_MOST]) {
  psdm_model *model;
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  int standard = psdm_robot_parameter_count(robot);
  *base = psdm_model_l(model);
  *K = calloc((size_t)(*base * standard), sizeof **K);
  for (int j = 0; j < *base; j++)
    for (int t = 0; t < psdm_model_base_terms(model, j); t++) {
      int k;
      double value = psdm_model_base_term(model, j, t, &k);
      (*K)[j * standard + k] = value;
      if (t == 0) kept[j] = k;
    }
  psdm_model_free(model);
}

/* own columns: qd, tanh, 1, then |qd|, sin q, cos q */
static inline double own_column(int k, double q, double qd) {
  switch (k) {
    case 0: return qd;
    case 1: return tanh(qd / 0.05);
    case 2: return 1;
    case 3: return fabs(qd);
    case 4: return sin(q);
    default: return cos(q);
  }
}

/* random motion of a robot; the torque is Y pi + F phi + sigma noise */
static inline void robot_problem(problem *p, rng *g, const psdm_robot *robot, long each, int extras, const double *pi,
                                 const double *phi, double sigma) {
  int n = psdm_robot_n(robot), standard = psdm_robot_parameter_count(robot), drives = psdm_robot_drives(robot), base,
      kept[BASE_MOST], own[JOINTS_MOST];
  double *K, q[JOINTS_MOST], qd[JOINTS_MOST], qdd[JOINTS_MOST];
  psdm_work *work;
  for (int j = 0; j < n; j++) own[j] = extras;
  base_of(robot, &base, &K, kept);
  problem_new(p, n, base, standard, (standard - drives) / 10, own, each);
  memcpy(p->K, K, sizeof *K * (size_t)(base * standard));
  free(K);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  p->Y = malloc(sizeof *p->Y * (size_t)(each * n * standard));
  for (long i = 0; i < each; i++) {
    double *Y = p->Y + i * n * standard;
    for (int j = 0; j < n; j++)
      q[j] = rng_uniform(g, -2, 2), qd[j] = rng_uniform(g, -1.5, 1.5), qdd[j] = rng_uniform(g, -5, 5);
    assert_int_equal(psdm_regressor_standard(robot, work, q, qd, qdd, Y), PSDM_OK);
    for (int j = 0; j < n; j++) {
      int w = width_of(p, j);
      double *row = p->X[j] + i * w;
      for (int k = 0; k < base; k++) row[k] = Y[j * standard + kept[k]];
      for (int k = 0; k < extras; k++) row[base + k] = own_column(k, q[j], qd[j]);
      row[w - 1] = sigma * rng_normal(g);
      for (int k = 0; k < standard; k++) row[w - 1] += Y[j * standard + k] * pi[k];
      for (int k = 0; k < extras; k++) row[w - 1] += row[base + k] * phi[j * extras + k];
    }
  }
  psdm_work_free(work, NULL);
  compress(p, 0, each, p->R);
}

/* ---- the plain objective: all rows, standard parameters, x = (pi, phi) ---- */

/* A's row of joint j at time i over x, divided by sigma; returns the torque */
static inline double plain_row(const problem *p, const double *sigma, int joint, long i, double *a) {
  int S = p->rows.standard, w = width_of(p, joint), first = S;
  const double *row = p->X[joint] + i * w;
  memset(a, 0, sizeof *a * (size_t)(S + p->own));
  for (int j = 0; j < joint; j++) first += p->extras[j];
  for (int k = 0; k < S; k++) a[k] = p->Y[(i * p->rows.n + joint) * S + k] / sigma[joint];
  for (int k = 0; k < p->extras[joint]; k++) a[first + k] = row[p->rows.base + k] / sigma[joint];
  return row[w - 1] / sigma[joint];
}

static inline void plain_lengths(const problem *p, const double *sigma, double *length) {
  int M = p->rows.standard + p->own;
  double *a = malloc(sizeof *a * (size_t)M);
  memset(length, 0, sizeof *length * (size_t)M);
  for (int j = 0; j < p->rows.n; j++)
    for (long i = 0; i < p->each; i++) {
      plain_row(p, sigma, j, i, a);
      for (int k = 0; k < M; k++) length[k] = hypot(length[k], a[k]);
    }
  free(a);
}

/* 4x4 matrix of the a-th of the ten parameters */
static inline void unit_body(int a, double E[16]) {
  double pi[10] = {0};
  pi[a] = 1;
  psdmp_fit_pseudo_inertia(pi, E);
}

/* inverse of a 4x4 matrix by elimination, positive definite */
static inline void invert4(const double P[16], double inverse[16]) {
  double A[4][8];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 8; j++) A[i][j] = j < 4 ? P[4 * i + j] : j - 4 == i;
  for (int c = 0; c < 4; c++) {
    double pivot = A[c][c];
    for (int j = 0; j < 8; j++) A[c][j] /= pivot;
    for (int i = 0; i < 4; i++) {
      double factor = A[i][c];
      for (int j = 0; j < 8 && i != c; j++) A[i][j] -= factor * A[c][j];
    }
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) inverse[4 * i + j] = A[i][4 + j];
}

/* tr(P^-1 E_a P^-1 E_b) */
static inline double plain_metric(const double inverse[16], int a, int b) {
  double E[16], F[16], G[16] = {0}, H[16] = {0}, trace = 0;
  unit_body(a, E);
  unit_body(b, F);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) {
        G[4 * i + j] += inverse[4 * i + k] * E[4 * k + j];
        H[4 * i + j] += inverse[4 * i + k] * F[4 * k + j];
      }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) trace += G[4 * i + j] * H[4 * j + i];
  return trace;
}

/* Hessians by pi and phi, (M x M): of the data, and of pull, barrier and ridge at pi, phi */
static inline void plain_hessians(const problem *p, const psdmp_fit_options *o, double mu, const double *pi,
                                  const double *phi, double *data, double *held) {
  int S = p->rows.standard, M = S + p->own, links = p->rows.links;
  double *a = malloc(sizeof *a * (size_t)M), *length = malloc(sizeof *length * (size_t)M),
         ridge = o->ridge > 0 ? o->ridge : 1e-6;
  memset(data, 0, sizeof *data * (size_t)(M * M));
  memset(held, 0, sizeof *held * (size_t)(M * M));
  for (int j = 0; j < p->rows.n; j++)
    for (long i = 0; i < p->each; i++) {
      plain_row(p, o->sigma, j, i, a);
      for (int k = 0; k < M; k++)
        for (int e = 0; e < M && a[k] != 0; e++) data[k * M + e] += a[k] * a[e];
    }
  plain_lengths(p, o->sigma, length);
  for (int k = 0; k < links; k++) {
    double P[16], inverse[16];
    psdmp_fit_pseudo_inertia(pi + 10 * k, P);
    invert4(P, inverse);
    for (int i = 0; i < 10; i++)
      for (int e = 0; e < 10; e++) held[(10 * k + i) * M + 10 * k + e] = (o->lambda + mu) * plain_metric(inverse, i, e);
  }
  for (int i = 10 * links; i < M; i++) {
    double weight = length[i] > 0 ? ridge * length[i] : 1;
    held[i * M + i] = weight * weight;
    if (i < S && o->drives_nonnegative) held[i * M + i] += mu / (pi[i] * pi[i]);
  }
  for (int j = 0, at = 0; j < p->rows.n; j++)
    for (int k = 0; k < p->extras[j]; k++, at++)
      if (o->nonnegative && o->nonnegative[j][k]) held[(S + at) * (M + 1)] += mu / (phi[at] * phi[at]);
  free(length);
  free(a);
}

/* seven joints, drives unknown: KUKA LBR iiwa 7's lengths */
static inline psdm_robot *seven_joints(void) {
  return parse_robot("name: seven\n"
                     "gravity: [0, 0, -9.81]\n"
                     "convention: dh\n"
                     "joints:\n"
                     "  - {name: A1, type: revolute, theta: 0, d: 0.340, a: 0, alpha: -pi/2, drive_inertia: unknown}\n"
                     "  - {name: A2, type: revolute, theta: 0, d: 0, a: 0, alpha: pi/2, drive_inertia: unknown}\n"
                     "  - {name: A3, type: revolute, theta: 0, d: 0.400, a: 0, alpha: pi/2, drive_inertia: unknown}\n"
                     "  - {name: A4, type: revolute, theta: 0, d: 0, a: 0, alpha: -pi/2, drive_inertia: unknown}\n"
                     "  - {name: A5, type: revolute, theta: 0, d: 0.400, a: 0, alpha: -pi/2, drive_inertia: unknown}\n"
                     "  - {name: A6, type: revolute, theta: 0, d: 0, a: 0, alpha: pi/2, drive_inertia: unknown}\n"
                     "  - {name: A7, type: revolute, theta: 0, d: 0.126, a: 0, alpha: 0, drive_inertia: unknown}\n");
}

#endif
