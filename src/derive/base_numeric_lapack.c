/* base_numeric_lapack.c: LAPACK's factorisations, with memory from our arenas. */
#include <lapacke.h>

#include "derive/base_numeric_priv.h"

bool psdmp_derive_lapack_qr(psdmp_base_arena *arena, int rows, int columns, double *A) {
  double size = 0, *tau = PSDMP_BASE_NEW(arena, columns, double);
  if (!tau || LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, columns, A, rows, tau, &size, -1)) return false;
  double *work = PSDMP_BASE_NEW(arena, (int)size, double);
  return work && !LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, columns, A, rows, tau, work, (int)size);
}

bool psdmp_derive_lapack_qr_pivoted(psdmp_base_arena *arena, int rows, int columns, double *A) {
  double size = 0, *tau = PSDMP_BASE_NEW(arena, columns, double);
  lapack_int *pivot = PSDMP_BASE_NEW(arena, columns, lapack_int); /* zero: every column may move */
  if (!tau || !pivot || LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, columns, A, rows, pivot, tau, &size, -1))
    return false;
  double *work = PSDMP_BASE_NEW(arena, (int)size, double);
  return work && !LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, columns, A, rows, pivot, tau, work, (int)size);
}

bool psdmp_derive_lapack_svd(psdmp_base_arena *arena, int rows, int columns, double *A, double *sigma, double *V) {
  double size = 0, *U = PSDMP_BASE_NEW(arena, (long)rows * columns, double),
         *VT = PSDMP_BASE_NEW(arena, (long)columns * columns, double);
  lapack_int *integers = PSDMP_BASE_NEW(arena, 8 * columns, lapack_int);
  if (!U || !VT || !integers) return false;
  if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', rows, columns, A, rows, sigma, U, rows, VT, columns, &size, -1,
                          integers))
    return false;
  double *work = PSDMP_BASE_NEW(arena, (int)size, double);
  if (!work || LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', rows, columns, A, rows, sigma, U, rows, VT, columns, work,
                                   (int)size, integers))
    return false;
  for (long i = 0; i < columns; i++)
    for (long k = 0; k < columns; k++) V[i * columns + k] = VT[k * columns + i];
  return true;
}

bool psdmp_derive_lapack_solve(psdmp_base_arena *arena, int n, int count, double *A, double *B) {
  lapack_int *pivot = PSDMP_BASE_NEW(arena, n, lapack_int);
  return pivot && !LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, count, A, n, pivot, B, n);
}

bool psdmp_derive_lapack_solve_upper(int n, int count, const double *A, int stored, double *B, int stored_b) {
  return !LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', n, count, A, stored, B, stored_b);
}
