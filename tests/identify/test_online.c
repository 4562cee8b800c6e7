/* test_online.c: recursive least squares against the whole weighted problem, solved at once by LAPACK's QR. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "psdm/online.h"
#include "psdm/base_parameters.h"
#include "support.h"

/* equations kept for the batch answer */
typedef struct problem {
  int p, samples, rows; /* rows of each sample */
  double lambda;
  double *theta, *sd;      /* (p) the beginning */
  double *Y, *tau, *sigma; /* (samples rows x p), (samples rows) twice */
} problem;

static double *numbers(size_t count) {
  double *memory = malloc((count ? count : 1) * sizeof *memory);
  assert_non_null(memory);
  memset(memory, 0xA5, count * sizeof *memory);
  return memory;
}

static problem problem_new(int p, int samples, int rows, double lambda) {
  size_t all = (size_t)(samples * rows);
  return (problem){p,
                   samples,
                   rows,
                   lambda,
                   numbers((size_t)p),
                   numbers((size_t)p),
                   numbers(all * (size_t)p),
                   numbers(all),
                   numbers(all)};
}

static void problem_free(problem *b) { free(b->theta), free(b->sd), free(b->Y), free(b->tau), free(b->sigma); }

static bool counts(const problem *b, int i) { return b->sigma[i] > 0 && !isinf(b->sigma[i]); }

/* [lambda^((K-k)/2) Y_k / sigma; lambda^(K/2) / sd] theta = the same of tau and theta_0 */
static void batch(const problem *b, double *theta, double *covariance, double *misfit) {
  int p = b->p, all = b->samples * b->rows, m = all + p;
  long words = psdmp_linalg_least_squares_work(m, p, 1);
  double *A = numbers((size_t)m * (size_t)p), *B = numbers((size_t)m), *work = numbers((size_t)words),
         *R = numbers((size_t)(p * p)), *reflectors = numbers((size_t)p);
  double *copy = numbers((size_t)m * (size_t)p), sum = 0, weight = 0;
  for (int i = 0; i < m; i++) {
    double w = i < all ? (counts(b, i) ? pow(b->lambda, 0.5 * (b->samples - 1 - i / b->rows)) / b->sigma[i] : 0)
                       : pow(b->lambda, 0.5 * b->samples) / b->sd[i - all];
    for (int j = 0; j < p; j++) A[(long)j * m + i] = w == 0 ? 0 : w * (i < all ? b->Y[(long)i * p + j] : i - all == j);
    B[i] = w == 0 ? 0 : w * (i < all ? b->tau[i] : b->theta[i - all]);
  }
  memcpy(copy, A, sizeof *A * (size_t)m * (size_t)p);
  assert_true(psdmp_linalg_least_squares(m, p, 1, A, B, work, words));
  memcpy(theta, B, sizeof *theta * (size_t)p);
  assert_true(psdmp_linalg_triangle(m, p, copy, R, reflectors, work, words));
  /* (R^T R)^-1 column by column; R is column-major */
  for (int c = 0; c < p; c++) {
    double *x = covariance + (long)c * p;
    for (int i = 0; i < p; i++) x[i] = i == c;
    for (int i = 0; i < p; i++) {
      for (int k = 0; k < i; k++) x[i] -= R[(long)i * p + k] * x[k];
      x[i] /= R[(long)i * p + i];
    }
    for (int i = p - 1; i >= 0; i--) {
      for (int k = i + 1; k < p; k++) x[i] -= R[(long)k * p + i] * x[k];
      x[i] /= R[(long)i * p + i];
    }
  }
  for (int i = 0; i < all; i++) {
    double rest = b->tau[i], w = pow(b->lambda, b->samples - 1 - i / b->rows);
    if (!counts(b, i)) continue;
    for (int j = 0; j < p; j++) rest -= b->Y[(long)i * p + j] * theta[j];
    sum += w * rest / b->sigma[i] * (rest / b->sigma[i]), weight += w;
  }
  *misfit = weight > 0 ? sum / weight : 0;
  free(A), free(B), free(work), free(R), free(reflectors), free(copy);
}

static psdm_online *start(const problem *b, void **memory) {
  size_t bytes = psdm_online_bytes(b->p);
  psdm_online *o;
  *memory = numbers(bytes / sizeof(double));
  assert_int_equal(bytes % sizeof(double), 0);
  assert_int_equal(psdm_online_init(*memory, bytes, b->p, b->theta, b->sd, b->lambda, &o), PSDM_OK);
  return o;
}

typedef struct difference {
  double theta, covariance, misfit;
} difference;

/* theta in units of the larger of itself and its sd, covariance in units of both sd */
static void compare(const problem *b, difference *worst) {
  void *memory;
  psdm_online *o = start(b, &memory);
  size_t p = (size_t)b->p;
  double *theta = numbers(p), *covariance = numbers(p * p), *wanted = numbers(p), *wanted_covariance = numbers(p * p),
         misfit;
  for (int k = 0; k < b->samples; k++) {
    long at = (long)k * b->rows;
    assert_int_equal(psdm_online_add(o, b->rows, b->Y + at * b->p, b->tau + at, b->sigma + at), PSDM_OK);
  }
  assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
  batch(b, wanted, wanted_covariance, &misfit);
  double largest = max_absolute(wanted, b->p);
  for (size_t j = 0; j < p; j++) {
    worst->theta = fmax(worst->theta, fabs(theta[j] - wanted[j]) / fmax(largest, sqrt(wanted_covariance[j * p + j])));
    for (size_t i = 0; i < p; i++) {
      double scale = sqrt(wanted_covariance[i * p + i] * wanted_covariance[j * p + j]);
      worst->covariance = fmax(worst->covariance, fabs(covariance[i * p + j] - wanted_covariance[i * p + j]) / scale);
      assert_true(covariance[i * p + j] == covariance[j * p + i]);
    }
  }
  worst->misfit = fmax(worst->misfit, fabs(psdm_online_misfit(o) - misfit) / fmax(misfit, 1e-6));
  free(memory), free(theta), free(covariance), free(wanted), free(wanted_covariance);
}

static void demand(const char *name, const difference *worst, double bound) {
  printf("%s: off the batch by %.1e in theta, %.1e in covariance, %.1e in misfit\n", name, worst->theta,
         worst->covariance, worst->misfit);
  assert_true(worst->theta <= bound && worst->covariance <= bound && worst->misfit <= bound);
}

/* ---- against the batch ---- */

/* omitted rows, rows of zeros, fewer equations than parameters: the initial uncertainty carries all of it */
TEST(test_random) {
  rng g = rng_start("test_random");
  difference worst = {0};
  for (int trial = 0; trial < 60; trial++) {
    int p = rng_int(&g, 1, 20), rows = rng_int(&g, 1, 6),
        samples = trial % 4 ? rng_int(&g, 20, 120) : rng_int(&g, 0, 5);
    problem b = problem_new(p, samples, rows, trial % 3 ? rng_uniform(&g, 0.9, 1) : 1);
    for (int j = 0; j < p; j++) b.theta[j] = rng_uniform(&g, -2, 2), b.sd[j] = pow(10, rng_uniform(&g, -1, 1));
    for (int i = 0; i < samples * rows; i++) {
      int kind = rng_int(&g, 0, 19);
      b.tau[i] = rng_normal(&g);
      b.sigma[i] = kind == 0 ? 0 : kind == 1 ? INFINITY : rng_uniform(&g, 0.2, 2);
      for (int j = 0; j < p; j++)
        b.Y[(long)i * p + j] = kind == 2  ? 0
                               : kind < 2 ? NAN
                                          : rng_uniform(&g, -1, 1),
                          b.tau[i] += kind > 2 ? b.Y[(long)i * p + j] * (j + 1) : 0;
    }
    compare(&b, &worst);
    problem_free(&b);
  }
  demand("random", &worst, 1e-9);
}

/* base regressor of an arm in motion: kept columns of the standard one, theta = pi_1 + beta pi_2 */
TEST(test_kr6) {
  rng g = rng_start("test_kr6");
  psdm_robot *r = load_shipped("kuka_kr6");
  psdm_model *m;
  psdm_work *work;
  difference worst = {0};
  assert_int_equal(psdm_base_parameters_derive(r, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  int n = psdm_robot_n(r), S = psdm_robot_parameter_count(r), l = psdm_model_l(m);
  double *pi = numbers((size_t)S), *Y = numbers((size_t)(n * S)), *theta = numbers((size_t)l), sigma_share = 0.01,
         check = 0, largest = 0;
  for (int k = 0; k < S; k++) pi[k] = rng_uniform(&g, 0.1, 1);
  psdm_model_theta(m, pi, theta);
  for (int forgets = 0; forgets < 2; forgets++) {
    problem b = problem_new(l, 300, n, forgets ? 0.99 : 1);
    for (int j = 0; j < l; j++) b.theta[j] = 0, b.sd[j] = 10;
    for (int s = 0; s < b.samples; s++) {
      double q[6], qd[6], qdd[6];
      for (int i = 0; i < n; i++)
        q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -2, 2), qdd[i] = rng_uniform(&g, -5, 5);
      assert_int_equal(psdm_regressor_standard(r, work, q, qd, qdd, Y), PSDM_OK);
      for (int i = 0; i < n; i++) {
        long row = (long)s * n + i;
        double tau = 0, standard = 0;
        for (int j = 0, k; j < l; j++)
          psdm_model_base_term(m, j, 0, &k), b.Y[row * l + j] = Y[(long)i * S + k], tau += b.Y[row * l + j] * theta[j];
        for (int k = 0; k < S; k++) standard += Y[(long)i * S + k] * pi[k];
        check = fmax(check, fabs(tau - standard)), largest = fmax(largest, fabs(standard));
        b.sigma[row] = sigma_share * (n - i), b.tau[row] = tau + b.sigma[row] * rng_normal(&g);
      }
    }
    compare(&b, &worst);
    problem_free(&b);
  }
  assert_true(check <= 1e-12 * largest); /* they are the base parameters: the torques are the same */
  demand("kuka_kr6", &worst, 1e-9);
  free(pi), free(Y), free(theta);
  psdm_work_free(work, NULL);
  psdm_model_free(m);
  psdm_robot_free(r);
}

/* ---- while it runs ---- */

/* a payload is picked up: the estimate follows within a few memory lengths with forgetting, and does not without */
TEST(test_jump) {
  enum { P = 4, STEPS = 4000 };
  rng g = rng_start("test_jump");
  double begin[P] = {0}, sd[P] = {10, 10, 10, 10}, sigma = 0.1, theta[2][P], covariance[P * P],
         truth[P] = {1, -2, 0.5, 3};
  void *memory[2];
  psdm_online *o[2];
  for (int k = 0; k < 2; k++) {
    memory[k] = malloc(psdm_online_bytes(P));
    assert_int_equal(psdm_online_init(memory[k], psdm_online_bytes(P), P, begin, sd, k ? 0.98 : 1, &o[k]), PSDM_OK);
    assert_true(psdm_online_misfit(o[k]) == 0);
  }
  for (int step = 0; step < STEPS; step++) {
    double y[P], tau = sigma * rng_normal(&g);
    if (step == STEPS - 500) truth[2] = 2.5;
    for (int j = 0; j < P; j++) y[j] = rng_uniform(&g, -1, 1), tau += y[j] * truth[j];
    for (int k = 0; k < 2; k++) assert_int_equal(psdm_online_add(o[k], 1, y, &tau, &sigma), PSDM_OK);
    if (step == STEPS - 501) {
      /* before the jump sigma is right: chi^2 / count, 3500 and some 50 equations, within five sd and the degrees of
       * freedom that parameters use */
      assert_true(fabs(psdm_online_misfit(o[0]) - 1) < 5 * sqrt(2. / 3500) + P / 3500.);
      assert_true(psdm_online_misfit(o[1]) > 0.3 && psdm_online_misfit(o[1]) < 1.7);
    }
  }
  for (int k = 0; k < 2; k++) assert_int_equal(psdm_online_theta(o[k], theta[k], covariance), PSDM_OK);
  /* 500 steps are ten memories of 50: 0.98^500 = 4e-5 of the jump is left; the sd says how well it is known */
  for (int j = 0; j < P; j++) assert_true(fabs(theta[1][j] - truth[j]) < 5 * sqrt(covariance[j * P + j]) + 1e-3);
  assert_true(sqrt(covariance[2 * P + 2]) < 0.1);
  assert_true(fabs(theta[0][2] - 2.5) > 1 && psdm_online_misfit(o[0]) > 3);
  free(memory[0]), free(memory[1]);
}

/* a million updates, half of them in one direction only: the covariance is positive definite, and still the batch's
 * (normal equations in extended precision) */
TEST(test_million) {
  enum { P = 6 };
  rng g = rng_start("test_million");
  static const double lambdas[] = {1, 0.9999};
  for (int c = 0; c < 2; c++) {
    double begin[P] = {0}, sd[P], sigma = 0.5, theta[P], covariance[P * P], worst = 0;
    long double H[P][P] = {{0}};
    void *memory = malloc(psdm_online_bytes(P));
    psdm_online *o;
    for (int j = 0; j < P; j++) sd[j] = 5, H[j][j] = 1 / 25.L;
    assert_int_equal(psdm_online_init(memory, psdm_online_bytes(P), P, begin, sd, lambdas[c], &o), PSDM_OK);
    for (long step = 0; step < 1000000; step++) {
      double y[P], along = rng_uniform(&g, -1, 1), tau = along;
      for (int j = 0; j < P; j++) y[j] = step % 2 ? along * (j + 1) : rng_uniform(&g, -1, 1);
      assert_int_equal(psdm_online_add(o, 1, y, &tau, &sigma), PSDM_OK);
      for (int i = 0; i < P; i++)
        for (int j = i; j < P; j++) H[i][j] = lambdas[c] * H[i][j] + (long double)y[i] * y[j] / (sigma * sigma);
    }
    assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
    /* H covariance = 1 */
    for (int i = 0; i < P; i++)
      for (int j = 0; j < P; j++) {
        long double sum = -(i == j), scale = 0;
        for (int k = 0; k < P; k++) {
          long double term = (i < k ? H[i][k] : H[k][i]) * covariance[k * P + j];
          sum += term, scale += fabsl(term);
        }
        worst = fmax(worst, (double)(fabsl(sum) / scale));
      }
    printf("a million updates, forgetting %g: H P - 1 is %.1e\n", lambdas[c], worst);
    assert_true(worst <= 1e-9);
    assert_true(psdmp_linalg_cholesky(P, covariance));
    free(memory);
  }
}

/* one direction only, with forgetting: the other information is used up, this is reported, and new motion restores
 * it */
TEST(test_used_up) {
  enum { P = 3 };
  rng g = rng_start("test_used_up");
  double begin[P] = {1, 2, 3}, sd[P] = {1, 1, 1}, sigma = 1, theta[P] = {7, 7, 7}, covariance[P * P],
         truth[P] = {-1, 4, 0.5};
  void *memory = malloc(psdm_online_bytes(P));
  psdm_online *o;
  assert_int_equal(psdm_online_init(memory, psdm_online_bytes(P), P, begin, sd, 0.9, &o), PSDM_OK);
  for (int step = 0; step < 100000; step++) {
    double y[P] = {0.3, 0.7, -0.1}, tau = 0.25;
    assert_int_equal(psdm_online_add(o, 1, y, &tau, &sigma), PSDM_OK);
  }
  assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_E_LIMIT);
  assert_true(theta[0] == 7 && theta[1] == 7 && theta[2] == 7);
  assert_true(psdm_online_misfit(o) >= 0 && psdm_online_misfit(o) < 1e-20);
  for (int step = 0; step < 1000; step++) {
    double y[P], tau = 0;
    for (int j = 0; j < P; j++) y[j] = rng_uniform(&g, -1, 1), tau += y[j] * truth[j];
    assert_int_equal(psdm_online_add(o, 1, y, &tau, &sigma), PSDM_OK);
  }
  assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
  assert_true(max_difference(theta, truth, P) < 1e-12);
  /* no equations for so long that no information is left */
  for (int step = 0; step < 20000; step++) assert_int_equal(psdm_online_add(o, 0, NULL, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_online_theta(o, theta, NULL), PSDM_E_LIMIT);
  free(memory);
}

/* ---- a refusal leaves everything unchanged ---- */

TEST(test_refused) {
  double begin[2] = {1, 2}, sd[2] = {0.5, 3}, theta[2], covariance[4];
  size_t bytes = psdm_online_bytes(2);
  void *memory = malloc(bytes), *before = malloc(bytes);
  psdm_online *o;
  assert_true(psdm_online_bytes(0) == 0 && psdm_online_bytes(-1) == 0 && psdm_online_bytes(10001) == 0);
  assert_int_equal(psdm_online_init(memory, bytes - 1, 2, begin, sd, 1, &o), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_online_init(memory, bytes, 0, begin, sd, 1, &o), PSDM_E_ARGUMENT);
  static const double bad_forgetting[] = {0, -0.5, 1.0000001, NAN}, bad_sd[] = {0, -1, INFINITY, NAN, 1e-80, 1e80};
  for (int k = 0; k < 4; k++)
    assert_int_equal(psdm_online_init(memory, bytes, 2, begin, sd, bad_forgetting[k], &o), PSDM_E_ARGUMENT);
  for (int k = 0; k < 6; k++)
    assert_int_equal(psdm_online_init(memory, bytes, 2, begin, (double[2]){1, bad_sd[k]}, 1, &o), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_online_init(memory, bytes, 2, (double[2]){NAN, 0}, sd, 1, &o), PSDM_E_ARGUMENT);
  /* before any equation: the beginning itself */
  assert_int_equal(psdm_online_init(memory, bytes, 2, begin, sd, 0.9, &o), PSDM_OK);
  assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
  assert_true(theta[0] == 1 && theta[1] == 2 && fabs(covariance[0] - 0.25) < 1e-16 && fabs(covariance[3] - 9) < 1e-14 &&
              covariance[1] == 0 && covariance[2] == 0);
  memcpy(before, memory, bytes);
  static const struct {
    double y, tau, sigma;
  } bad[] = {{NAN, 1, 1}, {INFINITY, 1, 1}, {1, NAN, 1},   {1, -INFINITY, 1},
             {1, 1, NAN}, {1, 1, -1},       {1, 1, 1e-80}, {1e80, 1, 1}};
  for (int k = 0; k < (int)(sizeof bad / sizeof *bad); k++) {
    double Y[4] = {1, 2, 3, bad[k].y}, tau[2] = {1, bad[k].tau}, sigma[2] = {1, bad[k].sigma};
    assert_int_equal(psdm_online_add(o, 2, Y, tau, sigma), PSDM_E_ARGUMENT);
    assert_memory_equal(before, memory, bytes);
  }
  assert_int_equal(psdm_online_add(o, -1, begin, begin, sd), PSDM_E_ARGUMENT);
  /* the largest accepted value does not overflow */
  assert_int_equal(psdm_online_init(memory, bytes, 2, (double[2]){1e70, -1e70}, sd, 0.9, &o), PSDM_OK);
  for (int k = 0; k < 100; k++)
    assert_int_equal(
        psdm_online_add(o, 2, (double[4]){1e70, 3e69, -1e70, 1e70}, (double[2]){1e70, -1e70}, (double[2]){1, 1}),
        PSDM_OK);
  assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
  for (int k = 0; k < 4; k++) assert_true(isfinite(covariance[k]) && isfinite(theta[k / 2]));
  assert_true(isfinite(psdm_online_misfit(o)));
  free(memory), free(before);
}

TEST_MAIN(test_random, test_kr6, test_jump, test_million, test_used_up, test_refused)
