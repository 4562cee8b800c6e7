/* linear.c: least squares and total least squares on the combined triangle. Matrices inside are column-major. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"

/* Below this share of the largest a direction of the scaled columns is rounding: factors of 10^8 rows have errors of
 * some 1e-12. */
static const double direction_tolerance = 1e-10;

/* dgesdd asks for 4 W^2 + 7 W, dgeqp3 and dormqr for a block of 32 to 65 columns */
static long work_words(int W) { return 4 * (long)W * W + 80 * (long)W + 65 * 65; }

size_t psdmp_fit_solve_scratch(int W) {
  size_t N = (size_t)W;
  return 3 * N * N + 8 * N + (size_t)work_words(W);
}

/* A (W x W) = columns of G's triangle divided by their lengths; a zero column stays */
static void scale_columns(int W, const double *G, double *A, double *length) {
  for (int k = 0; k < W; k++) {
    double *column = A + (long)k * W;
    for (int i = 0; i < W; i++) column[i] = i <= k ? G[(long)i * (W + 1) + k] : 0;
    length[k] = cblas_dnrm2(W, column, 1);
    if (!(length[k] > 0)) length[k] = 1;
    for (int i = 0; i < W; i++) column[i] /= length[k];
  }
}

/* A = U diag(s) VT; number of s that count, or -1 */
static int singular(int rows, int columns, double *A, double *s, double *U, double *VT, int *integers, double *work,
                    long words) {
  int rank = 0;
  if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', rows, columns, A, rows, s, U, rows, VT, columns, work,
                          (lapack_int)words, integers))
    return -1;
  while (rank < columns && s[rank] > direction_tolerance * s[0]) rank++;
  return rank;
}

/* x and Z of full rank, by QR with column pivoting; false if a direction is lost. A is overwritten. */
static bool solve_pivoted(int W, double *A, double *b, const double *length, int *pivot, double *reflectors,
                          double *work, double *x, double *Z) {
  lapack_int words = (lapack_int)work_words(W);
  for (int k = 0; k < W; k++) pivot[k] = 0;
  if (LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, W, W, A, W, pivot, reflectors, work, words)) return false;
  /* the diagonal may miss a lost direction by some factor; the singular values then decide */
  if (!(fabs(A[(long)W * W - 1]) > 100 * direction_tolerance * fabs(A[0]))) return false;
  LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', W, 1, W, A, W, reflectors, b, W, work, words);
  cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, W, A, W, b, 1);
  LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', W, A, W);
  for (int i = 0; i < W; i++) {
    int to = pivot[i] - 1;
    x[to] = b[i] / length[to];
    for (int k = 0; k < W; k++) Z[(long)to * W + k] = k < i ? 0 : A[i + (long)k * W] / length[to];
  }
  return true;
}

int psdmp_fit_solve(int W, const double *G, double *scratch, double *x, double *Z) {
  double *at = scratch, *A = psdmp_fit_piece(&at, (long)W * W), *U = psdmp_fit_piece(&at, (long)W * W),
         *VT = psdmp_fit_piece(&at, (long)W * W);
  double *length = psdmp_fit_piece(&at, W), *s = psdmp_fit_piece(&at, W), *b = psdmp_fit_piece(&at, W);
  int *integers = (int *)psdmp_fit_piece(&at, 5 * W);
  scale_columns(W, G, A, length);
  for (int i = 0; i < W; i++) b[i] = G[(long)i * (W + 1) + W];
  if (solve_pivoted(W, A, b, length, integers, s, at, x, Z)) return W;

  /* least norm among the scaled columns: only directions with data */
  scale_columns(W, G, A, length);
  int rank = singular(W, W, A, s, U, VT, integers, at, work_words(W));
  if (rank < 0) return -1;
  memset(x, 0, sizeof *x * (size_t)W);
  memset(Z, 0, sizeof *Z * (size_t)W * (size_t)W);
  for (int k = 0; k < rank; k++) {
    double share = 0;
    for (int i = 0; i < W; i++) share += U[i + (long)k * W] * G[(long)i * (W + 1) + W];
    for (int i = 0; i < W; i++) {
      double entry = VT[k + (long)i * W] / (s[k] * length[i]);
      x[i] += share * entry;
      Z[(long)i * W + k] = entry;
    }
  }
  return rank;
}

psdm_status psdmp_fit_linear(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                             psdmp_fit *fit) {
  if (!psdmp_fit_sound(rows, options)) return PSDM_E_ARGUMENT;
  int W = psdmp_fit_own(rows) + rows->base;
  double *at = scratch, *G = psdmp_fit_piece(&at, (long)(W + 1) * (W + 1)), *Z = psdmp_fit_piece(&at, (long)W * W),
         *C = psdmp_fit_piece(&at, (long)W * W);
  double *x = psdmp_fit_piece(&at, W);
  if (!psdmp_fit_gather(rows, options->sigma, at, G)) return PSDM_E_ARGUMENT;
  fit->steps = 0, fit->gap = 0, fit->decrement = 0, fit->feasible = false;
  fit->rank = psdmp_fit_solve(W, G, at, x, Z);
  if (fit->rank < 0) return PSDM_E_ARGUMENT;
  if (fit->covariance) cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, W, W, W, 1, Z, W, Z, W, 0, C, W);
  psdmp_fit_finish(rows, options->sigma, x, fit->covariance ? C : NULL, fit->rank, at, fit);
  return PSDM_OK;
}

/* y (rank) with [diag(s), U^T b] [y; -1] nearest to zero when all columns have equal errors: the right singular vector
 * of the least singular value (Golub, Van Loan 1980, section 2). below: the part of b outside all columns. False when
 * that vector has no share of b. */
static bool nearest(int W, int rank, const double *s, const double *share, double below, double *scratch, double *y) {
  int columns = rank + 1, rows = W + 1;
  double *at = scratch, *A = psdmp_fit_piece(&at, (long)rows * columns),
         *U = psdmp_fit_piece(&at, (long)rows * columns);
  double *VT = psdmp_fit_piece(&at, (long)columns * columns), *sigma = psdmp_fit_piece(&at, columns);
  int *integers = (int *)psdmp_fit_piece(&at, 5 * columns);
  memset(A, 0, sizeof *A * (size_t)rows * (size_t)columns);
  for (int k = 0; k < rank; k++) A[k + (long)k * rows] = s[k];
  for (int i = 0; i < W; i++) A[i + (long)rank * rows] = share[i];
  A[W + (long)rank * rows] = below;
  if (singular(rows, columns, A, sigma, U, VT, integers, at, work_words(W)) < 0) return false;
  double last = VT[rank + (long)rank * columns];
  if (!(fabs(last) > 1e-12)) return false;
  for (int k = 0; k < rank; k++) y[k] = -VT[rank + (long)k * columns] / last;
  return true;
}

psdm_status psdmp_fit_total(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                            psdmp_fit *fit) {
  if (!psdmp_fit_sound(rows, options)) return PSDM_E_ARGUMENT;
  int W = psdmp_fit_own(rows) + rows->base;
  double *at = scratch, *G = psdmp_fit_piece(&at, (long)(W + 1) * (W + 1)), *x = psdmp_fit_piece(&at, W),
         *y = psdmp_fit_piece(&at, W);
  if (!psdmp_fit_gather(rows, options->sigma, at, G)) return PSDM_E_ARGUMENT;
  double *A = psdmp_fit_piece(&at, (long)W * W), *U = psdmp_fit_piece(&at, (long)W * W),
         *VT = psdmp_fit_piece(&at, (long)W * W);
  double *length = psdmp_fit_piece(&at, W), *s = psdmp_fit_piece(&at, W), *share = psdmp_fit_piece(&at, W), size = 0;
  int *integers = (int *)psdmp_fit_piece(&at, 5 * W);
  scale_columns(W, G, A, length);
  int rank = singular(W, W, A, s, U, VT, integers, at, work_words(W));
  if (rank < 0) return PSDM_E_ARGUMENT;
  for (int i = 0; i <= W; i++) size = hypot(size, G[(long)i * (W + 1) + W]);
  double unit = size > 0 ? size : 1;
  for (int k = 0; k < W; k++) {
    share[k] = 0;
    for (int i = 0; i < W; i++) share[k] += U[i + (long)k * W] * G[(long)i * (W + 1) + W] / unit;
  }
  if (!nearest(W, rank, s, share, G[(long)(W + 1) * (W + 1) - 1] / unit, at, y)) return PSDM_E_ARGUMENT;
  for (int i = 0; i < W; i++) {
    x[i] = 0;
    for (int k = 0; k < rank; k++) x[i] += VT[k + (long)i * W] * y[k] * unit / length[i];
  }
  /* the covariance is ordinary least squares': the same to first order in the noise */
  for (int i = 0; i < W && fit->covariance; i++)
    for (int e = 0; e < W; e++) {
      A[(long)i * W + e] = 0;
      for (int k = 0; k < rank; k++)
        A[(long)i * W + e] += VT[k + (long)i * W] * VT[k + (long)e * W] / (s[k] * s[k] * length[i] * length[e]);
    }
  fit->steps = 0, fit->gap = 0, fit->decrement = 0, fit->feasible = false, fit->rank = rank;
  psdmp_fit_finish(rows, options->sigma, x, fit->covariance ? A : NULL, rank, at, fit);
  return PSDM_OK;
}
