/* Riccati's equations, the matrix exponential and reach, against closed forms and against their own equations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "support.h"

enum { MOST = 12 };

/* exactly the requested size, and not zeroed */
static double *scratch_of(size_t count) {
  double *memory = malloc(count * sizeof *memory);
  assert_non_null(memory);
  memset(memory, 0xA5, count * sizeof *memory);
  return memory;
}

static psdmp_linalg_riccati solve(bool discrete, int n, int m, const double *A, const double *B, const double *Q,
                                  const double *R, double *X, double *K, psdmp_linalg_riccati_info *info) {
  double *scratch = scratch_of(psdmp_linalg_riccati_scratch(n, m));
  psdmp_linalg_riccati result = psdmp_linalg_riccati_solve(discrete, n, m, A, B, Q, R, X, K, info, scratch);
  free(scratch);
  return result;
}

/* ---- closed forms ---- */

static void test_scalar(void **unused) {
  (void)unused;
  double X, K;
  psdmp_linalg_riccati_info info;
  /* 2 a x - b^2 x^2 / r + q = 0 */
  for (double a = -3; a <= 3; a += 0.75) {
    double b = 2, q = 5, r = 0.3, root = r * (a + sqrt(a * a + b * b * q / r)) / (b * b);
    assert_int_equal(solve(false, 1, 1, &a, &b, &q, &r, &X, &K, &info), PSDMP_LINALG_RICCATI_OK);
    assert_true(fabs(X - root) <= 1e-14 * root && fabs(K - b * root / r) <= 1e-14 * K);
  }
  /* x = a^2 x - (a b x)^2 / (r + b^2 x) + q, a quadratic equation: b^2 x^2 + (r - a^2 r - b^2 q) x - q r = 0 */
  for (double a = -2; a <= 2; a += 0.5) {
    double b = 0.7, q = 2, r = 0.4, half = 0.5 * (r - a * a * r - b * b * q),
           root = (sqrt(half * half + b * b * q * r) - half) / (b * b);
    assert_int_equal(solve(true, 1, 1, &a, &b, &q, &r, &X, &K, &info), PSDMP_LINALG_RICCATI_OK);
    assert_true(fabs(X - root) <= 1e-14 * root);
    assert_true(fabs(a - b * K) < 1);
  }
}

/* a mass under a force, x'' = u: X = [sqrt(2 a) , a; ...] for Q = diag(1, 0), R = 1 is [sqrt 2, 1; 1, sqrt 2], K =
 * [1, sqrt 2] */
static void test_double_integrator(void **unused) {
  (void)unused;
  const double A[4] = {0, 1, 0, 0}, B[2] = {0, 1}, Q[4] = {1, 0, 0, 0}, R = 1, root = sqrt(2),
               wanted[4] = {root, 1, 1, root};
  double X[4], K[2];
  psdmp_linalg_riccati_info info;
  assert_int_equal(solve(false, 2, 1, A, B, Q, &R, X, K, &info), PSDMP_LINALG_RICCATI_OK);
  assert_true(max_difference(X, wanted, 4) < 1e-14);
  assert_true(fabs(K[0] - 1) < 1e-14 && fabs(K[1] - root) < 1e-14);
  assert_true(info.residual < 1e-15);
}

/* A = 0 in discrete time keeps no state: X = Q, K = 0, though A has no inverse */
static void test_forgetful(void **unused) {
  (void)unused;
  const double A[4] = {0}, B[4] = {1, 0, 0, 1}, Q[4] = {2, 1, 1, 3}, R[4] = {1, 0, 0, 1};
  double X[4], K[4];
  psdmp_linalg_riccati_info info;
  assert_int_equal(solve(true, 2, 2, A, B, Q, R, X, K, &info), PSDMP_LINALG_RICCATI_OK);
  assert_true(max_difference(X, Q, 4) < 1e-14 && max_absolute(K, 4) < 1e-14);
}

/* ---- random systems ---- */

static void fill(rng *g, int count, double size, double *x) {
  for (int i = 0; i < count; i++) x[i] = rng_uniform(g, -size, size);
}

/* F F^T + shift */
static void positive(rng *g, int n, double shift, double *S) {
  double F[MOST * MOST];
  fill(g, n * n, 1, F);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      S[i * n + j] = i == j ? shift : 0;
      for (int k = 0; k < n; k++) S[i * n + j] += F[i * n + k] * F[j * n + k];
    }
}

/* the equation again, in plain double sums; relative to its largest term */
static double plain_residual(bool discrete, int n, int m, const double *A, const double *B, const double *Q,
                             const double *R, const double *X, const double *K) {
  double worst = 0, size = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double drift = 0, cost = Q[i * n + j], gain = 0;
      for (int k = 0; k < n; k++) {
        if (!discrete) drift += A[k * n + i] * X[k * n + j] + X[i * n + k] * A[k * n + j];
        for (int e = 0; discrete && e < n; e++) drift += A[k * n + i] * X[k * n + e] * A[e * n + j];
      }
      if (discrete) drift -= X[i * n + j];
      for (int a = 0; a < m; a++)
        for (int c = 0; c < m; c++) {
          double weight = R[a * m + c];
          for (int k = 0; discrete && k < n; k++)
            for (int e = 0; e < n; e++) weight += B[k * m + a] * X[k * n + e] * B[e * m + c];
          gain += K[a * n + i] * weight * K[c * n + j];
        }
      worst = fmax(worst, fabs(drift + cost - gain));
      size = fmax(size, fmax(fabs(drift), fmax(fabs(cost), fabs(gain))));
    }
  return worst / size;
}

static double worst_mode(bool discrete, int n, int m, const double *A, const double *B, const double *K) {
  double closed[MOST * MOST], re[MOST], im[MOST], worst = -INFINITY,
                                                  *scratch = scratch_of(psdmp_linalg_modes_scratch(n, m));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      closed[i * n + j] = A[i * n + j];
      for (int k = 0; k < m; k++) closed[i * n + j] -= B[i * m + k] * K[k * n + j];
    }
  assert_true(psdmp_linalg_eigenvalues(n, closed, re, im, scratch));
  for (int k = 0; k < n; k++) worst = fmax(worst, discrete ? hypot(re[k], im[k]) - 1 : re[k]);
  free(scratch);
  return worst;
}

static void test_random(void **unused) {
  (void)unused;
  rng g = rng_start("riccati");
  double worst = 0, reported = 0;
  for (int trial = 0; trial < 400; trial++) {
    bool discrete = trial % 2;
    int n = rng_int(&g, 1, MOST), m = rng_int(&g, 1, n);
    double A[MOST * MOST], B[MOST * MOST], Q[MOST * MOST], R[MOST * MOST], X[MOST * MOST], K[MOST * MOST];
    fill(&g, n * n, discrete ? 1 : 3, A);
    fill(&g, n * m, 1, B);
    positive(&g, n, 0.1, Q);
    positive(&g, m, 0.1, R);
    psdmp_linalg_riccati_info info;
    assert_int_equal(solve(discrete, n, m, A, B, Q, R, X, K, &info), PSDMP_LINALG_RICCATI_OK);
    worst = fmax(worst, plain_residual(discrete, n, m, A, B, Q, R, X, K));
    reported = fmax(reported, info.residual);
    assert_true(worst_mode(discrete, n, m, A, B, K) < 0);
  }
  print_message("largest residual %.2g, reported %.2g\n", worst, reported);
  /* modes that an input barely reaches have a large X, whose rounding remains */
  assert_true(worst < 1e-10 && reported < 1e-11);
}

/* weights and rates nine decades apart: the refinement keeps the residual at rounding */
static void test_scales(void **unused) {
  (void)unused;
  for (int decade = -9; decade <= 9; decade += 3) {
    double w = pow(10, decade), A[16] = {0, 0, 1, 0, 0, 0, 0, 1, 40, -7, 0, 0, -5, 30, 0, 0},
           B[8] = {0, 0, 0, 0, 3, -8, -8, 25}, Q[16] = {0}, R[4] = {w, 0, 0, w}, X[16], K[8];
    psdmp_linalg_riccati_info info;
    for (int i = 0; i < 4; i++) Q[5 * i] = 1;
    for (int discrete = 0; discrete < 2; discrete++) {
      double Ad[16], E[16], *scratch = scratch_of(psdmp_linalg_expm_scratch(4));
      for (int i = 0; i < 16; i++) E[i] = 0.01 * A[i];
      assert_true(psdmp_linalg_expm(4, E, Ad, scratch));
      free(scratch);
      assert_int_equal(solve(discrete, 4, 2, discrete ? Ad : A, B, Q, R, X, K, &info), PSDMP_LINALG_RICCATI_OK);
      print_message("R 1e%d, %s: residual %.2g after %d steps\n", decade, discrete ? "discrete" : "continuous",
                    info.residual, info.steps);
      assert_true(info.residual < 1e-13);
    }
  }
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  const double B[2] = {1, 0}, Q[4] = {1, 0, 0, 1}, one = 1, none = 0, minus = -1;
  const double grows[4] = {-1, 0.5, 0, 2}, dies[4] = {-1, 0.5, 0, -2}, rests[4] = {-1, 0.5, 0, 0},
               unseen[4] = {1, 0, 0, 0};
  double X[4], K[2];
  psdmp_linalg_riccati_info info;
  assert_int_equal(solve(false, 2, 1, grows, B, Q, &one, X, K, &info), PSDMP_LINALG_RICCATI_UNREACHABLE);
  assert_true(fabs(info.re - 2) < 1e-14 && info.im == 0);
  assert_int_equal(solve(true, 2, 1, grows, B, Q, &one, X, K, &info), PSDMP_LINALG_RICCATI_UNREACHABLE);
  assert_int_equal(solve(false, 2, 1, rests, B, Q, &one, X, K, &info), PSDMP_LINALG_RICCATI_UNREACHABLE);
  assert_int_equal(solve(false, 2, 1, dies, B, Q, &one, X, K, &info), PSDMP_LINALG_RICCATI_OK);
  assert_int_equal(solve(false, 2, 1, dies, B, Q, &none, X, K, &info), PSDMP_LINALG_RICCATI_WEIGHT);
  assert_int_equal(solve(false, 2, 1, dies, B, Q, &minus, X, K, &info), PSDMP_LINALG_RICCATI_WEIGHT);
  /* a controllable integrator without cost: no gains are optimal */
  const double both[4] = {1, 0, 0, 1}, weights[4] = {1, 0, 0, 1}, apart[4] = {-1, 0, 0, 0};
  double gains[4];
  assert_int_equal(solve(false, 2, 2, apart, both, unseen, weights, X, gains, &info), PSDMP_LINALG_RICCATI_BOUNDARY);
}

/* a mode that a random change of basis hides from the input */
static void test_hidden(void **unused) {
  (void)unused;
  rng g = rng_start("hidden modes");
  for (int trial = 0; trial < 100; trial++) {
    int n = rng_int(&g, 2, 8), m = rng_int(&g, 1, 2);
    double J[MOST * MOST], T[MOST * MOST], A[MOST * MOST] = {0}, B[MOST * MOST] = {0}, b[MOST * MOST], Q[MOST * MOST],
                                                    R[4], X[MOST * MOST], K[MOST * MOST],
                                                    *scratch = scratch_of(psdmp_linalg_modes_scratch(n, m));
    fill(&g, n * n, 1, J);
    fill(&g, n * m, 1, b);
    for (int j = 0; j < n - 1; j++) J[(n - 1) * n + j] = 0; /* the last one is uncoupled */
    J[n * n - 1] = rng_uniform(&g, 1.2, 2);
    for (int j = 0; j < m; j++) b[(n - 1) * m + j] = 0;
    /* an orthogonal basis: 1 - 2 v v^T */
    double v[MOST], length = 0;
    fill(&g, n, 1, v);
    for (int i = 0; i < n; i++) length += v[i] * v[i];
    for (int i = 0; i < n * n; i++) T[i] = (i / n == i % n) - 2 * v[i / n] * v[i % n] / length;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++)
          for (int e = 0; e < n; e++) A[i * n + j] += T[i * n + k] * J[k * n + e] * T[j * n + e];
        for (int j = 0; j < m; j++) B[i * m + j] += T[i * n + k] * b[k * m + j];
      }
    positive(&g, n, 0.1, Q);
    positive(&g, m, 0.1, R);
    psdmp_linalg_riccati_info info;
    assert_int_equal(solve(trial % 2, n, m, A, B, Q, R, X, K, &info), PSDMP_LINALG_RICCATI_UNREACHABLE);
    assert_true(fabs(info.re - J[n * n - 1]) < 1e-9);
    assert_true(psdmp_linalg_reachable(n, m, A, B, scratch) < n);
    free(scratch);
  }
}

/* ---- exponential ---- */

static void test_expm_exact(void **unused) {
  (void)unused;
  double *scratch = scratch_of(psdmp_linalg_expm_scratch(4)), E[16];
  /* a turn */
  for (double w = 1e-8; w < 1e4; w *= 7) {
    const double A[4] = {0, -w, w, 0}, wanted[4] = {cos(w), -sin(w), sin(w), cos(w)};
    assert_true(psdmp_linalg_expm(2, A, E, scratch));
    assert_true(max_difference(E, wanted, 4) < 1e-14 * fmax(1, w));
  }
  /* a nilpotent chain: powers over factorials */
  const double N[16] = {0, 3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 3},
               chain[16] = {1, 3, 4.5, 4.5, 0, 1, 3, 4.5, 0, 0, 1, 3, 0, 0, 0, 1};
  assert_true(psdmp_linalg_expm(4, N, E, scratch));
  assert_true(max_difference(E, chain, 16) < 1e-14);
  /* growth and decay, with a coupling: (e^a - e^b) / (a - b) */
  const double A[4] = {2, 1, 0, -30};
  assert_true(psdmp_linalg_expm(2, A, E, scratch));
  assert_true(fabs(E[0] - exp(2)) < 1e-14 * exp(2) && fabs(E[1] - (exp(2) - exp(-30)) / 32) < 1e-15 &&
              fabs(E[3] - exp(-30)) < 1e-15);
  const double none[4] = {0}, bad[4] = {NAN, 0, 0, 0}, huge[4] = {1e4, 0, 0, 0};
  assert_true(psdmp_linalg_expm(2, none, E, scratch));
  assert_true(fabs(E[0] - 1) < 1e-15 && E[1] == 0 && E[2] == 0 && fabs(E[3] - 1) < 1e-15);
  assert_false(psdmp_linalg_expm(2, bad, E, scratch));
  assert_false(psdmp_linalg_expm(2, huge, E, scratch)); /* e^10000 overflows */
  free(scratch);
}

/* exp(A) exp(-A) = 1 */
static void test_expm_inverse(void **unused) {
  (void)unused;
  rng g = rng_start("expm");
  for (int trial = 0; trial < 100; trial++) {
    int n = rng_int(&g, 1, 8);
    double A[64], minus[64], E[64], F[64], *scratch = scratch_of(psdmp_linalg_expm_scratch(n)), worst = 0, size;
    fill(&g, n * n, rng_uniform(&g, 0.01, 3), A);
    for (int i = 0; i < n * n; i++) minus[i] = -A[i];
    assert_true(psdmp_linalg_expm(n, A, E, scratch) && psdmp_linalg_expm(n, minus, F, scratch));
    size = max_absolute(E, n * n) * max_absolute(F, n * n);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = -(i == j);
        for (int k = 0; k < n; k++) sum += E[i * n + k] * F[k * n + j];
        worst = fmax(worst, fabs(sum));
      }
    assert_true(worst < 1e-13 * fmax(1, size));
    free(scratch);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scalar),      cmocka_unit_test(test_double_integrator),
                                     cmocka_unit_test(test_forgetful),   cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_scales),      cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_hidden),      cmocka_unit_test(test_expm_exact),
                                     cmocka_unit_test(test_expm_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
