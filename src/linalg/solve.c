/* solve.c: large systems with LAPACK: LU refined with residuals in extended precision (Moler 1967), least squares and
 * triangles by QR. */
#include "linalg/solve.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

/* r = b - A x, summed in extended precision and rounded once */
static void residual(int n, const double *A, const double *b, const double *x, void *scratch, double *r) {
  long double *sum = scratch;
  for (int i = 0; i < n; i++) sum[i] = b[i];
  for (int j = 0; j < n; j++) {
    const double *column = A + (long)j * n;
    long double factor = x[j];
    if (x[j] == 0) continue;
    for (int i = 0; i < n; i++) sum[i] -= factor * column[i];
  }
  for (int i = 0; i < n; i++) r[i] = (double)sum[i];
}

static double largest(long count, const double *x) {
  double size = 0;
  for (long i = 0; i < count; i++) size = fmax(size, fabs(x[i]));
  return size;
}

bool psdmp_linalg_solve_refined(int n, int columns, const double *A, const double *B, double *X, double *LU, int *pivot,
                                double *R, void *sum) {
  long count = (long)n * columns;
  double before = INFINITY;
  memcpy(LU, A, sizeof *LU * (size_t)n * (size_t)n);
  memcpy(X, B, sizeof *X * (size_t)count);
  if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, LU, n, pivot)) return false;
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, columns, LU, n, pivot, X, n);
  /* one step recovers the error of the factorisation; a second one confirms it, and more are for hard systems only */
  for (int step = 0; step < 5; step++) {
    for (int c = 0; c < columns; c++) residual(n, A, B + (long)c * n, X + (long)c * n, sum, R + (long)c * n);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, columns, LU, n, pivot, R, n);
    double size = largest(count, R);
    if (!(size < 0.5 * before)) break;
    for (long i = 0; i < count; i++) X[i] += R[i];
    if (size <= 1e-15 * largest(count, X)) break;
    before = size;
  }
  return true;
}

long psdmp_linalg_least_squares_work(int rows, int columns, int sides) {
  double solve = 0, triangle = 0;
  LAPACKE_dgels_work(LAPACK_COL_MAJOR, 'N', rows, columns, sides, NULL, rows, NULL, rows, &solve, -1);
  LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, columns, NULL, rows, NULL, &triangle, -1);
  return (long)fmax(solve, triangle) + 1;
}

bool psdmp_linalg_least_squares(int rows, int columns, int sides, double *A, double *B, double *work, long words) {
  return LAPACKE_dgels_work(LAPACK_COL_MAJOR, 'N', rows, columns, sides, A, rows, B, rows, work, (lapack_int)words) ==
         0;
}

bool psdmp_linalg_triangle(int rows, int columns, double *A, double *R, double *reflectors, double *work, long words) {
  if (LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, columns, A, rows, reflectors, work, (lapack_int)words)) return false;
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < columns; i++) R[(long)j * columns + i] = i <= j ? A[(long)j * rows + i] : 0;
  return true;
}
