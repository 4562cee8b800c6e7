/* Linear and total least squares on compressed rows, against LAPACK on all rows. */
#include <lapacke.h>

#include "test_fit_problem.h"

enum { MOST = BASE_MOST };

/* ---- random problems and their plain twins ---- */

/* tau = Y theta + F phi + noise, columns of very different lengths */
static void random_problem(problem *p, rng *g, double noise) {
  int n = rng_int(g, 1, 5), base = rng_int(g, 1, 25), extras[JOINTS_MOST];
  for (int j = 0; j < n; j++) extras[j] = rng_int(g, 0, 6);
  problem_new(p, n, base, 0, 0, extras, rng_int(g, 60, 700));
  double length[MOST], theta[MOST], phi[OWN_MOST];
  for (int k = 0; k < base; k++)
    length[k] = pow(10, rng_uniform(g, -3, 3)), theta[k] = rng_uniform(g, -1, 1) / length[k];
  for (int j = 0; j < n; j++) {
    int w = width_of(p, j);
    for (int k = 0; k < extras[j]; k++) phi[k] = rng_uniform(g, -2, 2);
    for (long i = 0; i < p->each; i++) {
      double *row = p->X[j] + i * w;
      row[w - 1] = noise * rng_normal(g);
      for (int k = 0; k < base; k++) row[w - 1] += theta[k] * (row[k] = length[k] * rng_uniform(g, -1, 1));
      for (int k = 0; k < extras[j]; k++) row[w - 1] += phi[k] * (row[base + k] = rng_uniform(g, -1, 1));
    }
  }
}

/* all joints' rows, divided by sigma, columns theta phi tau: (n each x W + 1) by columns */
static double *stack(const problem *p, const double *sigma, int *W) {
  int base = p->rows.base, n = p->rows.n;
  long rows = n * p->each;
  *W = base + p->own;
  double *A = calloc((size_t)(rows * (*W + 1)), sizeof *A);
  for (int j = 0, first = base; j < n; first += p->extras[j++])
    for (long i = 0; i < p->each; i++) {
      const double *row = p->X[j] + i * width_of(p, j);
      long at = j * p->each + i;
      double weight = sigma ? 1 / sigma[j] : 1;
      for (int k = 0; k < base; k++) A[at + k * rows] = weight * row[k];
      for (int k = 0; k < p->extras[j]; k++) A[at + (first + k) * rows] = weight * row[base + k];
      A[at + *W * rows] = weight * row[base + p->extras[j]];
    }
  return A;
}

/* columns to unit length; length: their lengths before */
static void scale(long rows, int columns, double *A, double *length) {
  for (int k = 0; k < columns; k++) {
    length[k] = 0;
    for (long i = 0; i < rows; i++) length[k] = hypot(length[k], A[i + k * rows]);
    for (long i = 0; i < rows && length[k] > 0; i++) A[i + k * rows] /= length[k];
    if (!(length[k] > 0)) length[k] = 1;
  }
}

/* the least-norm answer in scaled columns, and the scaled columns' rank */
static int plain_linear(const problem *p, const double *sigma, double *x) {
  int W, rank;
  double *A = stack(p, sigma, &W), length[MOST], s[MOST];
  long rows = p->rows.n * p->each;
  double *b = A + W * rows;
  scale(rows, W, A, length);
  assert_int_equal(LAPACKE_dgelsd(LAPACK_COL_MAJOR, (int)rows, W, 1, A, (int)rows, b, (int)rows, s, 1e-10, &rank), 0);
  for (int k = 0; k < W; k++) x[k] = b[k] / length[k];
  free(A);
  return rank;
}

typedef psdm_status estimator(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                              psdmp_fit *fit);

/* x: theta phi; the fit's arrays are ours */
static psdm_status estimate(estimator *run, const problem *p, const psdmp_fit_options *options, double *x, double *cost,
                            double *covariance, psdmp_fit *fit) {
  double *scratch = scratch_of(psdmp_fit_scratch(&p->rows));
  *fit = (psdmp_fit){.theta = x, .phi = x + p->rows.base, .cost = cost, .covariance = covariance};
  psdm_status status = run(&p->rows, options, scratch, fit);
  fenced_free(scratch);
  return status;
}

/* largest difference, each in units of what its column explains */
static double difference(const problem *p, const double *x, const double *y) {
  int W;
  double *A = stack(p, NULL, &W), length[MOST + 1], worst = 0;
  scale(p->rows.n * p->each, W + 1, A, length);
  for (int k = 0; k < W; k++) worst = fmax(worst, fabs(x[k] - y[k]) * length[k] / length[W]);
  free(A);
  return worst;
}

/* ---- tests ---- */

TEST(test_linear) {
  rng g = rng_start("fit linear");
  double worst = 0, worst_cost = 0;
  for (int trial = 0; trial < 40; trial++) {
    problem p;
    psdmp_fit fit;
    double x[MOST], y[MOST], cost[JOINTS_MOST], sigma[JOINTS_MOST];
    random_problem(&p, &g, 0.3);
    compress(&p, 0, p.each, p.R);
    for (int j = 0; j < p.rows.n; j++) sigma[j] = pow(10, rng_uniform(&g, -2, 2));
    const psdmp_fit_options options = {.sigma = trial % 2 ? sigma : NULL};
    int rank = plain_linear(&p, options.sigma, y);
    assert_int_equal(estimate(psdmp_fit_linear, &p, &options, x, cost, NULL, &fit), PSDM_OK);
    assert_int_equal(fit.rank, rank);
    assert_int_equal(fit.rank, p.rows.base + p.own);
    worst = fmax(worst, difference(&p, x, y));
    for (int j = 0; j < p.rows.n; j++) {
      double plain = plain_cost(&p, j, x, x + p.rows.base);
      worst_cost = fmax(worst_cost, fabs(cost[j] - plain) / plain);
    }
    problem_free(&p);
  }
  print_message("largest difference %.2g, of costs %.2g\n", worst, worst_cost);
  assert_true(worst < 1e-10 && worst_cost < 1e-10);
}

/* a covariance over its variance, in scaled columns, is the pseudo-inverse of A^T A: N C N = N, C N C = C (Penrose
 * 1955) */
static void expect_pseudo_inverse(const problem *p, const double *sigma, const double *cost, int rank,
                                  const double *covariance) {
  int W, n = p->rows.n;
  long rows = n * p->each;
  double *A = stack(p, sigma, &W), length[MOST + 1], weighted = 0, count = 0, most = 0;
  scale(rows, W, A, length);
  for (int j = 0; j < n; j++) weighted += cost[j] / (sigma ? sigma[j] * sigma[j] : 1), count += p->count[j];
  double variance = weighted / (count - rank), *N = zeros_of(W * W), *C = zeros_of(W * W), *NC = zeros_of(W * W);
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      for (long e = 0; e < rows; e++) N[i * W + k] += A[e + i * rows] * A[e + k * rows];
      C[i * W + k] = covariance[i * W + k] * length[i] * length[k] / variance;
      most = fmax(most, fabs(C[i * W + k]));
    }
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++)
      for (int e = 0; e < W; e++) NC[i * W + k] += N[i * W + e] * C[e * W + k];
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      double first = -N[i * W + k], second = -C[i * W + k];
      for (int e = 0; e < W; e++) first += NC[i * W + e] * N[e * W + k], second += C[i * W + e] * NC[e * W + k];
      if (!(fabs(first) <= 1e-9 * most && fabs(second) <= 1e-9 * most * most))
        fail_msg("entry %d %d of the pseudo-inverse: %g, %g", i, k, first, second);
    }
  fenced_free(N), fenced_free(C), fenced_free(NC);
  free(A);
}

/* columns that are zero, equal or sums of others: the rank is reported, and the answer is the least-norm one in scaled
 * columns */
TEST(test_deficient) {
  rng g = rng_start("fit deficient");
  double worst = 0;
  int lost = 0;
  for (int trial = 0; trial < 40; trial++) {
    problem p;
    psdmp_fit fit;
    double x[MOST], y[MOST], cost[JOINTS_MOST];
    random_problem(&p, &g, 0.1);
    int base = p.rows.base, zero = rng_int(&g, 0, base - 1), copy = rng_int(&g, 0, base - 1);
    for (int j = 0; j < p.rows.n; j++)
      for (long i = 0; i < p.each; i++) {
        double *row = p.X[j] + i * width_of(&p, j);
        if (trial % 3 != 1 && base > 1) row[zero] = 0;
        if (trial % 3 != 0 && p.extras[j] > 0) row[base] = 3 * row[copy];
        if (trial % 3 == 2 && p.extras[j] > 2) row[base + 2] = row[base] - 2 * row[base + 1];
      }
    compress(&p, 0, p.each, p.R);
    int rank = plain_linear(&p, NULL, y);
    assert_int_equal(estimate(psdmp_fit_linear, &p, &(psdmp_fit_options){0}, x, cost, NULL, &fit), PSDM_OK);
    assert_int_equal(fit.rank, rank);
    lost += base + p.own - rank;
    worst = fmax(worst, difference(&p, x, y));
    /* uncertainty of the observable part alone; total least squares has the same, and as small a residual */
    double sigma[JOINTS_MOST], *covariance = scratch_of((size_t)((base + p.own) * (base + p.own)));
    for (int j = 0; j < p.rows.n; j++) sigma[j] = rng_uniform(&g, 0.3, 3);
    const psdmp_fit_options weighted = {.sigma = trial % 2 ? sigma : NULL};
    assert_int_equal(estimate(psdmp_fit_linear, &p, &weighted, x, cost, covariance, &fit), PSDM_OK);
    expect_pseudo_inverse(&p, weighted.sigma, cost, rank, covariance);
    assert_int_equal(estimate(psdmp_fit_total, &p, &weighted, x, cost, covariance, &fit), PSDM_OK);
    assert_int_equal(fit.rank, rank);
    expect_pseudo_inverse(&p, weighted.sigma, cost, rank, covariance);
    fenced_free(covariance);
    problem_free(&p);
  }
  print_message("%d directions lost, largest difference %.2g\n", lost, worst);
  assert_true(lost > 40);
  assert_true(worst < 1e-10);
}

TEST(test_total) {
  rng g = rng_start("fit total");
  double worst = 0, apart = 0;
  for (int trial = 0; trial < 40; trial++) {
    problem p;
    psdmp_fit fit;
    double x[MOST], y[MOST], ordinary[MOST], cost[JOINTS_MOST], length[MOST + 1], sigma[JOINTS_MOST], s[MOST + 1],
        superb[MOST + 1], unused_U;
    int W;
    random_problem(&p, &g, 0.3);
    compress(&p, 0, p.each, p.R);
    for (int j = 0; j < p.rows.n; j++) sigma[j] = rng_uniform(&g, 0.5, 2);
    const psdmp_fit_options options = {.sigma = trial % 2 ? sigma : NULL};
    /* the right singular vector of the least singular value of all rows */
    double *A = stack(&p, options.sigma, &W), *VT = malloc(sizeof *VT * (size_t)((W + 1) * (W + 1)));
    long rows = p.rows.n * p.each;
    scale(rows, W + 1, A, length);
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'A', (int)rows, W + 1, A, (int)rows, s, &unused_U, 1, VT, W + 1, superb),
        0);
    for (int k = 0; k < W; k++) y[k] = -VT[W + k * (W + 1)] / VT[W + W * (W + 1)] * length[W] / length[k];
    assert_int_equal(estimate(psdmp_fit_total, &p, &options, x, cost, NULL, &fit), PSDM_OK);
    assert_int_equal(estimate(psdmp_fit_linear, &p, &options, ordinary, cost, NULL, &fit), PSDM_OK);
    worst = fmax(worst, difference(&p, x, y));
    apart = fmax(apart, difference(&p, x, ordinary));
    free(VT);
    free(A);
    problem_free(&p);
  }
  print_message("largest difference %.2g; from ordinary least squares %.2g\n", worst, apart);
  /* singular vectors of neighbouring singular values lose digits to their distance */
  assert_true(worst < 1e-9 && apart > 1e-4);
}

/* total least squares gives nothing to an unobservable column either */
TEST(test_total_deficient) {
  rng g = rng_start("fit total deficient");
  for (int trial = 0; trial < 10; trial++) {
    problem p;
    psdmp_fit fit;
    double x[MOST], cost[JOINTS_MOST];
    random_problem(&p, &g, 0.1);
    for (int j = 0; j < p.rows.n; j++)
      for (long i = 0; i < p.each; i++) p.X[j][i * width_of(&p, j)] = 0;
    compress(&p, 0, p.each, p.R);
    psdm_status status = estimate(psdmp_fit_total, &p, &(psdmp_fit_options){0}, x, cost, NULL, &fit);
    assert_int_equal(status, PSDM_OK);
    assert_int_equal(fit.rank, p.rows.base + p.own - 1);
    assert_true(fabs(x[0]) < 1e-12); /* the rounding of a singular vector */
    problem_free(&p);
  }
}

/* s^2 (A^T A)^-1 by elimination */
TEST(test_covariance) {
  rng g = rng_start("fit covariance");
  double worst = 0;
  for (int trial = 0; trial < 10; trial++) {
    problem p;
    psdmp_fit fit;
    int W;
    double x[MOST], cost[JOINTS_MOST], length[MOST + 1], total = 0;
    random_problem(&p, &g, 0.3);
    compress(&p, 0, p.each, p.R);
    double *A = stack(&p, NULL, &W), *covariance = malloc(sizeof *covariance * (size_t)(W * W)),
           *H = calloc((size_t)(W * W), sizeof *H);
    long rows = p.rows.n * p.each;
    scale(rows, W, A, length);
    for (int i = 0; i < W; i++)
      for (int k = 0; k < W; k++)
        for (long e = 0; e < rows; e++) H[i + k * W] += A[e + i * rows] * A[e + k * rows];
    assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', W, H, W), 0);
    assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'U', W, H, W), 0);
    assert_int_equal(estimate(psdmp_fit_linear, &p, &(psdmp_fit_options){0}, x, cost, covariance, &fit), PSDM_OK);
    for (int j = 0; j < p.rows.n; j++) total += cost[j];
    double variance = total / (double)(rows - W);
    for (int i = 0; i < W; i++)
      for (int k = i; k < W; k++) {
        double plain = variance * H[i + k * W], ours = covariance[i * W + k] * length[i] * length[k];
        worst = fmax(worst, fabs(ours - plain) / sqrt(variance * variance * H[i + i * W] * H[k + k * W]));
        assert_true(fabs(covariance[i * W + k] - covariance[k * W + i]) <=
                    1e-12 * sqrt(covariance[i * W + i] * covariance[k * W + k]));
      }
    free(H);
    free(covariance);
    free(A);
    problem_free(&p);
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-10);
}

TEST(test_refusals) {
  rng g = rng_start("fit refusals");
  problem p;
  psdmp_fit fit;
  double x[MOST], cost[JOINTS_MOST], sigma[JOINTS_MOST] = {1, 1, 1, 1, 1, 1, 1};
  random_problem(&p, &g, 0.1);
  compress(&p, 0, p.each, p.R);
  const psdmp_fit_options options = {.sigma = sigma};
  assert_int_equal(estimate(psdmp_fit_linear, &p, &options, x, cost, NULL, &fit), PSDM_OK);
  const double bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    sigma[0] = bad[i];
    assert_int_equal(estimate(psdmp_fit_linear, &p, &options, x, cost, NULL, &fit), PSDM_E_ARGUMENT);
    assert_int_equal(estimate(psdmp_fit_total, &p, &options, x, cost, NULL, &fit), PSDM_E_ARGUMENT);
  }
  sigma[0] = 1;
  p.R[0][0] = NAN;
  assert_int_equal(estimate(psdmp_fit_linear, &p, &options, x, cost, NULL, &fit), PSDM_E_ARGUMENT);
  assert_int_equal(estimate(psdmp_fit_total, &p, &options, x, cost, NULL, &fit), PSDM_E_ARGUMENT);
  problem_free(&p);
}

/* all zeros is not an error: nothing is observable, and nothing is claimed */
TEST(test_empty) {
  const int extras[2] = {1, 2};
  problem p;
  psdmp_fit fit;
  double x[MOST], cost[2];
  problem_new(&p, 2, 3, 0, 0, extras, 5);
  assert_int_equal(estimate(psdmp_fit_linear, &p, &(psdmp_fit_options){0}, x, cost, NULL, &fit), PSDM_OK);
  assert_int_equal(fit.rank, 0);
  assert_true(max_absolute(x, 6) == 0 && cost[0] == 0 && cost[1] == 0);
  problem_free(&p);
}

TEST_MAIN(test_linear, test_deficient, test_total, test_total_deficient, test_covariance, test_refusals, test_empty)
