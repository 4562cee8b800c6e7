/* modes.c: eigenvalues, singular values, and reachability: by rank, and mode by mode (Popov, Belevitch, Hautus). */
#include "linalg/modes.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 40 }; /* LAPACK's work space per row: enough for its blocked routines */

static size_t words(int n, int m) { return BLOCK * ((size_t)n + (size_t)m) + 64; }

size_t psdmp_linalg_modes_scratch(int n, int m) {
  size_t rows = (size_t)n, wide = rows + (size_t)m;
  return 2 * rows * wide + 6 * wide + 2 * words(n, m);
}

double psdmp_linalg_largest(long count, const double *x) {
  double size = 0;
  for (long i = 0; i < count; i++) {
    if (isnan(x[i])) return x[i];
    size = fmax(size, fabs(x[i]));
  }
  return size;
}

/* A read column-major is its transpose, which has the same eigenvalues */
bool psdmp_linalg_eigenvalues(int n, const double *A, double *re, double *im, double *scratch) {
  size_t count = (size_t)n * (size_t)n;
  memcpy(scratch, A, sizeof *A * count);
  return LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', n, scratch, n, re, im, NULL, 1, NULL, 1, scratch + count,
                            (lapack_int)words(n, 0)) == 0;
}

bool psdmp_linalg_singular_values(int n, double *A, double *sigma, double *scratch) {
  return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, 'N', 'N', n, n, A, n, sigma, NULL, 1, NULL, 1, scratch,
                             (lapack_int)words(n, 0)) == 0;
}

double psdmp_linalg_reach_margin(int n, int m, const double *A, const double *B, double re, double im,
                                 double *scratch) {
  int wide = n + m;
  double size = fmax(psdmp_linalg_largest((long)n * n, A), hypot(re, im)),
         inputs = psdmp_linalg_largest((long)n * m, B);
  double *W = scratch, *sigma = W + 2 * (long)n * wide, *rwork = sigma + n, *work = rwork + 5 * (long)n;
  if (!(size > 0)) size = 1;
  double scale = inputs > 0 ? size / inputs : 0;
  memset(W, 0, sizeof *W * 2 * (size_t)n * (size_t)wide);
  for (int i = 0; i < n; i++) {
    double *row = W + 2 * (long)i * wide;
    for (int j = 0; j < n; j++) row[2 * j] = -A[(long)i * n + j];
    for (int j = 0; j < m; j++) row[2 * (n + j)] = scale * B[(long)i * m + j];
    row[2 * i] += re;
    row[2 * i + 1] = im;
  }
  /* column-major it is the transpose, (n + m) x n, with the same singular values */
  if (LAPACKE_zgesvd_work(LAPACK_COL_MAJOR, 'N', 'N', wide, n, (lapack_complex_double *)W, wide, sigma, NULL, 1, NULL,
                          1, (lapack_complex_double *)work, (lapack_int)words(n, m), rwork))
    return -1;
  return sigma[n - 1] / size;
}

/* subtracts from x its part in the basis, twice because of rounding; true when enough is left, and x becomes the next
 * basis vector */
static bool extend(int n, double *basis, int rank, double *x) {
  double before = 0, after = 0;
  for (int i = 0; i < n; i++) before = hypot(before, x[i]);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < rank; k++) {
      const double *v = basis + (long)k * n;
      double share = 0;
      for (int i = 0; i < n; i++) share += v[i] * x[i];
      for (int i = 0; i < n; i++) x[i] -= share * v[i];
    }
  for (int i = 0; i < n; i++) after = hypot(after, x[i]);
  if (!(after > 1e-9 * before)) return false;
  for (int i = 0; i < n; i++) basis[(long)rank * n + i] = x[i] / after;
  return true;
}

int psdmp_linalg_reachable(int n, int m, const double *A, const double *B, double *scratch) {
  double *basis = scratch, *x = basis + (long)n * n;
  int rank = 0;
  for (int j = 0; j < m && rank < n; j++) {
    for (int i = 0; i < n; i++) x[i] = B[(long)i * m + j];
    rank += extend(n, basis, rank, x);
  }
  for (int k = 0; k < rank && rank < n; k++) {
    for (int i = 0; i < n; i++) {
      x[i] = 0;
      for (int j = 0; j < n; j++) x[i] += A[(long)i * n + j] * basis[(long)k * n + j];
    }
    rank += extend(n, basis, rank, x);
  }
  return rank;
}
