/* test_own.c: the linear algebra of builds without LAPACK (src/linalg/own) against LAPACK: random matrices, scaled to
 * condition numbers up to 1e12, and without full rank. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/own/own_priv.h"
#include "support.h"

enum { N = 24, ALL = N * N, ROUNDS = 60 };
static double A[ALL], B[ALL], C[ALL], D[ALL], E[ALL], F[ALL], G[ALL], work[40 * ALL];
static int pivot[N], other[N];

static void fill(rng *g, int count, double *x) {
  for (int i = 0; i < count; i++) x[i] = rng_uniform(g, -1, 1);
}

/* m x n by columns: random, graded, of less than full rank, or zero */
static void matrix(rng *g, int round, int m, int n, double *x) {
  fill(g, m * n, x);
  for (int j = 0; j < n && round % 4 == 1; j++) /* singular values over twelve decades */
    for (int i = 0; i < m; i++) x[i + j * m] *= pow(10, -12.0 * j / n);
  for (int j = 0; j < n && round % 4 == 2; j++) /* every third column is a sum of others */
    for (int i = 0; i < m && j % 3 == 2; i++) x[i + j * m] = x[i + (j - 1) * m] - 2 * x[i + (j - 2) * m];
  double scale = round % 8 == 7 ? 0 : round % 4 == 3 ? 1e-200 : 1;
  for (int i = 0; i < m * n; i++) x[i] *= scale;
}

/* |a - b| within this many roundings of the largest */
static void same(const double *a, const double *b, int count, double roundings) {
  double size = fmax(max_absolute(a, count), max_absolute(b, count));
  for (int i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= roundings * DBL_EPSILON * size))
      fail_msg("%d: %.17g and %.17g of %g", i, a[i], b[i], size);
}

static void products(void **state) {
  rng g = rng_start("own products");
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    int m = rng_int(&g, 1, N), n = rng_int(&g, 1, N), k = rng_int(&g, 1, N), order = round & 1 ? 101 : 102;
    int ta = round & 2 ? 112 : 111, tb = round & 4 ? 112 : 111, upper = round & 8 ? 121 : 122;
    double beta = round % 3 - 1;
    fill(&g, ALL, A), fill(&g, ALL, B), fill(&g, ALL, C);
    memcpy(D, C, sizeof D);
    cblas_dgemm(order, ta, tb, m, n, k, 1.5, A, N, B, N, beta, C, N);
    OWN(dgemm)(order, ta, tb, m, n, k, 1.5, A, N, B, N, beta, D, N);
    same(C, D, ALL, 8 * N);
    cblas_dgemv(CblasRowMajor, ta, m, n, -2, A, N, B, 1, beta, C, 1);
    OWN(dgemv)(101, ta, m, n, -2, A, N, B, 1, beta, D, 1);
    cblas_dger(CblasRowMajor, m, n, 3, A, 1, B, 1, C, N);
    OWN(dger)(101, m, n, 3, A, 1, B, 1, D, N);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, k, 1, A, N, 1, C, N);
    OWN(dsyrk)(101, 122, 112, n, k, 1, A, N, 1, D, N);
    same(C, D, ALL, 16 * N);
    for (int i = 0; i < N; i++) A[i * (N + 1)] += A[i * (N + 1)] < 0 ? -N : N; /* systems with small errors */
    cblas_dtrsm(CblasRowMajor, CblasRight, upper, ta, CblasNonUnit, m, n, 1, A, N, C, N);
    OWN(dtrsm)(101, 142, upper, ta, 131, m, n, 1, A, N, D, N);
    cblas_dtrsv(order, upper, ta, CblasNonUnit, n, A, N, B, 1);
    same(C, D, ALL, 64 * N);
    memcpy(C, B, sizeof C);
    fill(&g, n, B), memcpy(D, B, sizeof D);
    cblas_dtrsv(order, upper, tb, CblasNonUnit, n, A, N, B, 1);
    OWN(dtrsv)(order, upper, tb, 131, n, A, N, D, 1);
    same(B, D, n, 64 * N);
    assert_true(fabs(cblas_ddot(n, A, 1, B, 2) - OWN(ddot)(n, A, 1, B, 2)) <= 64 * N * DBL_EPSILON * N * N);
    assert_true(fabs(cblas_dnrm2(n, A, N) - OWN(dnrm2)(n, A, N)) <= 8 * DBL_EPSILON * OWN(dnrm2)(n, A, N));
    OWN(dcopy)(n, A, N, B, 1), OWN(dscal)(n, 1e300, B, 1);
    double huge = OWN(dnrm2)(n, A, N) * 1e300;
    assert_true(fabs(OWN(dnrm2)(n, B, 1) - huge) <= 8 * DBL_EPSILON * huge); /* no overflow on the way */
    OWN(daxpy)(n, -1e300, A, N, B, 1);
    assert_true(max_absolute(B, n) <= 1e300 * 4 * N * DBL_EPSILON);
  }
}

/* upper triangle of the first n rows, by columns */
static void triangle(int m, int n, const double *a, double *r) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) r[i + j * n] = i <= j ? a[i + j * m] : 0;
}

static void factors(void **state) {
  rng g = rng_start("own factors");
  double tau[N];
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    int n = rng_int(&g, 1, N), m = rng_int(&g, n, N);
    /* Q^T A = R, without and with pivots, whatever A is */
    for (int pivots = 0; pivots < 2; pivots++) {
      matrix(&g, round, m, n, A);
      memcpy(B, A, sizeof B), memset(pivot, 0, sizeof pivot);
      assert_int_equal(
          pivots ? OWN(dgeqp3)(102, m, n, B, m, pivot, tau, work, ALL) : OWN(dgeqrf)(102, m, n, B, m, tau, work, ALL),
          0);
      for (int j = 0; j < n; j++) memcpy(C + j * m, A + (pivots ? pivot[j] - 1 : j) * m, sizeof *C * (size_t)m);
      OWN(dormqr)(102, 'L', 'T', m, n, n, B, m, tau, C, m, work, ALL);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) D[i + j * m] = i <= j ? B[i + j * m] : 0;
      same(C, D, m * n, 16 * N);
      for (int j = 1; j < n && pivots; j++)
        assert_true(fabs(B[j * (m + 1)]) <= fabs(B[(j - 1) * (m + 1)]) * (1 + 1e-10));
    }
    /* LAPACK's own R, where A determines it */
    matrix(&g, 0, m, n, A);
    memcpy(B, A, sizeof B);
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, A, m, tau, work, ALL);
    OWN(dgeqrf)(102, m, n, B, m, tau, work, ALL);
    triangle(m, n, A, C), triangle(m, n, B, D);
    same(C, D, n * n, 1e3 * N);
    /* a triangle takes more rows */
    fill(&g, m * n, E), memcpy(F, E, sizeof F);
    memcpy(D, C, sizeof D);
    LAPACKE_dtpqrt_work(LAPACK_COL_MAJOR, m, n, 0, n, C, n, E, m, G, n, work);
    OWN(dtpqrt)(102, m, n, 0, n, D, n, F, m, NULL, n, NULL);
    triangle(n, n, C, E), triangle(n, n, D, F);
    same(E, F, n * n, 1e3 * N);
    /* one row after the other: the remainder of a column falls below the smallest numbers */
    memset(C, 0, sizeof C), memset(D, 0, sizeof D);
    for (int k = 0; k < 2 * n; k++) {
      fill(&g, n, E), memcpy(F, E, sizeof F);
      LAPACKE_dtpqrt_work(LAPACK_COL_MAJOR, 1, n, 0, n, C, n, E, 1, G, n, work);
      OWN(dtpqrt)(102, 1, n, 0, n, D, n, F, 1, NULL, n, NULL);
    }
    triangle(n, n, C, E), triangle(n, n, D, F);
    OWN(dgemm)(102, 112, 111, n, n, n, 1, E, n, E, n, 0, A, n);
    OWN(dgemm)(102, 112, 111, n, n, n, 1, F, n, F, n, 0, B, n);
    same(A, B, n * n, 64 * N);
    /* least squares */
    matrix(&g, 0, m, n, A), fill(&g, 2 * m, B);
    for (int j = 0; j < n; j++) A[j * (m + 1)] += 4;
    memcpy(C, A, sizeof C), memcpy(D, B, sizeof D);
    assert_int_equal(LAPACKE_dgels_work(LAPACK_COL_MAJOR, 'N', m, n, 2, A, m, B, m, work, ALL), 0);
    assert_int_equal(OWN(dgels)(102, 'N', m, n, 2, C, m, D, m, work, ALL), 0);
    same(B, D, n, 1e4 * N);
    same(B + m, D + m, n, 1e4 * N);
  }
}

static void systems(void **state) {
  rng g = rng_start("own systems");
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    int n = rng_int(&g, 1, N), sides = rng_int(&g, 1, 3);
    matrix(&g, round % 4 == 1, n, n, A), fill(&g, n * sides, B);
    memcpy(C, A, sizeof C), memcpy(D, B, sizeof D);
    assert_int_equal(OWN(dgesv)(102, n, sides, C, n, pivot, D, n), 0);
    /* A x - b, small relative to |A| |x| however ill-conditioned A is */
    memcpy(E, B, sizeof E);
    OWN(dgemm)(102, 111, 111, n, sides, n, 1, A, n, D, n, -1, E, n);
    assert_true(max_absolute(E, n * sides) <=
                64 * N * DBL_EPSILON * max_absolute(A, n * n) * max_absolute(D, n * sides));
    if (round % 4 != 1) {
      assert_int_equal(LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, sides, A, n, other, B, n), 0);
      same(B, D, n * sides, 1e6 * N);
    }
    memset(C, 0, sizeof C);
    assert_true(OWN(dgesv)(102, n, sides, C, n, pivot, D, n) > 0); /* a zero pivot is reported */
    /* bands */
    int kl = rng_int(&g, 1, 4), ku = rng_int(&g, 1, 4), lda = 2 * kl + ku + 1;
    fill(&g, lda * n, A), fill(&g, n * sides, B);
    memcpy(C, A, sizeof C), memcpy(D, B, sizeof D);
    assert_int_equal(LAPACKE_dgbsv_work(LAPACK_COL_MAJOR, n, kl, ku, sides, A, lda, other, B, n),
                     OWN(dgbsv)(102, n, kl, ku, sides, C, lda, pivot, D, n));
    assert_memory_equal(pivot, other, sizeof *pivot * (size_t)n);
    same(B, D, n * sides, 1e7 * N);
    /* triangles */
    for (int lower = 0; lower < 2; lower++) {
      fill(&g, n * n, A), fill(&g, n * sides, B);
      for (int i = 0; i < n; i++) A[i * (n + 1)] += A[i * (n + 1)] < 0 ? -4 : 4;
      memcpy(C, A, sizeof C), memcpy(D, B, sizeof D);
      assert_int_equal(LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', n, sides, A, n, B, n), 0);
      assert_int_equal(OWN(dtrtrs)(102, 'U', 'N', 'N', n, sides, C, n, D, n), 0);
      same(B, D, n * sides, 1e4 * N);
      assert_int_equal(LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, lower ? 'L' : 'U', 'N', n, A, n), 0);
      assert_int_equal(OWN(dtrtri)(102, lower ? 'L' : 'U', 'N', n, C, n), 0);
      same(A, C, n * n, 1e4 * N); /* with the other triangle untouched */
      C[(n - 1) * (n + 1)] = 0;
      assert_int_equal(OWN(dtrtri)(102, lower ? 'L' : 'U', 'N', n, C, n), n);
      assert_int_equal(OWN(dtrtrs)(102, 'U', 'N', 'N', n, sides, C, n, D, n), n);
    }
  }
}

/* X^T X = 1 for `columns` columns of length rows, entry (i, j) at X[i r + j c] */
static void orthonormal(int rows, int columns, const double *X, int r, int c) {
  for (int a = 0; a < columns; a++)
    for (int b = 0; b <= a; b++)
      if (!(fabs(OWN(ddot)(rows, X + a * c, r, X + b * c, r) - (a == b)) <= 32 * N * DBL_EPSILON))
        fail_msg("columns %d and %d of %d", a, b, columns);
}

static void singular_values(void **state) {
  rng g = rng_start("own singular values");
  double s[N], t[N], super[N];
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    int m = rng_int(&g, 1, N), n = round & 8 ? rng_int(&g, 1, N) : rng_int(&g, 1, m), least = m < n ? m : n;
    int order = round & 16 ? 101 : 102, lda = order == 101 ? n : m, ldu = order == 101 ? least : m;
    matrix(&g, round, m, n, A);
    memcpy(B, A, sizeof B), memcpy(C, A, sizeof C), memcpy(G, A, sizeof G);
    assert_int_equal(LAPACKE_dgesvd(order, 'N', 'N', m, n, A, lda, s, NULL, ldu, NULL, n, super), 0);
    assert_int_equal(OWN(dgesvd)(order, 'S', 'A', m, n, B, lda, t, E, ldu, F, n, NULL), 0);
    same(s, t, least, 32 * N);
    int ur = order == 101 ? ldu : 1, uc = order == 101 ? 1 : ldu, vr = order == 101 ? n : 1, vc = order == 101 ? 1 : n;
    orthonormal(m, least, E, ur, uc);
    orthonormal(n, n, F, vc, vr); /* rows of VT */
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int k = 0; k < least; k++) sum += E[i * ur + k * uc] * t[k] * F[k * vr + j * vc];
        D[order == 101 ? i * lda + j : i + j * lda] = sum;
      }
    same(D, G, m * n, 64 * N);
    /* in place, and without vectors */
    assert_int_equal(OWN(dgesvd)(order, 'O', m >= n ? 'S' : 'A', m, n, C, lda, t, NULL, 1, F, n, NULL), 0);
    for (int i = 0; i < m; i++)
      for (int k = 0; k < least; k++) D[i * ur + k * uc] = C[order == 101 ? i * lda + k : i + k * lda];
    orthonormal(m, least, D, ur, uc);
    assert_int_equal(OWN(dgesvd)(order, 'N', 'N', m, n, G, lda, t, NULL, 1, NULL, 1, NULL), 0);
    same(s, t, least, 32 * N);
    G[0] = NAN;
    assert_true(OWN(dgesvd)(order, 'N', 'N', m, n, G, lda, t, NULL, 1, NULL, 1, NULL) != 0);
    /* complex ones, m >= n */
    int wide = 2 * rng_int(&g, 1, N / 2), few = rng_int(&g, 1, wide / 2);
    matrix(&g, round, wide * 2 < N ? wide * 2 : N, few, A);
    int high = (wide * 2 < N ? wide * 2 : N) / 2;
    few = few < high ? few : high;
    memcpy(B, A, sizeof B);
    assert_int_equal(LAPACKE_zgesvd_work(LAPACK_COL_MAJOR, 'N', 'N', high, few, (lapack_complex_double *)A, high, s,
                                         NULL, 1, NULL, 1, (lapack_complex_double *)work, 10 * ALL, work + 20 * ALL),
                     0);
    assert_int_equal(OWN(zgesvd)(high, few, B, high, t), 0);
    same(s, t, few, 32 * N);
  }
}

static void eigenvalues(void **state) {
  rng g = rng_start("own eigenvalues");
  double w[N], v[N], re[N], im[N], re2[N], im2[N];
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    int n = rng_int(&g, 1, N), order = round & 16 ? 101 : 102;
    char uplo = round & 8 ? 'L' : 'U';
    matrix(&g, round, n, n, A);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) A[i + j * n] = A[j + i * n];
    if (round % 5 == 4) OWN(dgemm)(102, 111, 112, n, n, n, 1, A, n, A, n, 0, B, n), memcpy(A, B, sizeof A);
    memcpy(B, A, sizeof B), memcpy(C, A, sizeof C), memcpy(D, A, sizeof D);
    assert_int_equal(LAPACKE_dsyev_work(order == 101 ? LAPACK_COL_MAJOR : order, 'N', uplo, n, A, n, w, work, ALL), 0);
    assert_int_equal(OWN(dsyev)(order, 'N', uplo, n, B, n, v, NULL), 0);
    same(w, v, n, 32 * N);
    assert_int_equal(OWN(dsyev_heap)(order, 'V', uplo, n, C, n, v), 0);
    same(w, v, n, 32 * N);
    int r = order == 101 ? n : 1, c = order == 101 ? 1 : n;
    orthonormal(n, n, C, r, c);
    for (int k = 0; k < n; k++)
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += D[i + j * n] * C[j * r + k * c];
        E[i + k * n] = sum, F[i + k * n] = v[k] * C[i * r + k * c];
      }
    if (max_absolute(D, n * n) > 0)
      assert_true(max_difference(E, F, n * n) <= 32 * N * DBL_EPSILON * max_absolute(D, n * n));
    /* any matrix: random ones have eigenvalues of moderate condition. The second half is q'' = K q. */
    fill(&g, n * n, A);
    for (int i = 0; i < n && round & 1 && n % 2 == 0; i++)
      for (int j = 0; j < n; j++)
        if (i < n / 2) A[i * n + j] = j == i + n / 2;
        else if (j >= n / 2) A[i * n + j] = 0;
    memcpy(B, A, sizeof B);
    double size = max_absolute(A, n * n) * n;
    assert_int_equal(LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, A, n, re, im, NULL, 1, NULL, 1, work, 10 * ALL),
                     0);
    assert_int_equal(OWN(dgeev)(n, B, n, re2, im2), 0);
    for (int k = 0; k < n; k++) { /* each has its twin, used once */
      int best = k;
      for (int j = k; j < n; j++)
        if (hypot(re[j] - re2[k], im[j] - im2[k]) < hypot(re[best] - re2[k], im[best] - im2[k])) best = j;
      if (!(hypot(re[best] - re2[k], im[best] - im2[k]) <= 1e-9 * size))
        fail_msg("round %d: %g + %g i is not an eigenvalue", round, re2[k], im2[k]);
      re[best] = re[k], im[best] = im[k];
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(factors), cmocka_unit_test(systems),
                                     cmocka_unit_test(singular_values), cmocka_unit_test(eigenvalues)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
