/* solve.h: large dense systems, with LAPACK. Matrices are column-major; memory is the caller's. Private to the
 * library. */
#ifndef PSDMP_LINALG_SOLVE_H
#define PSDMP_LINALG_SOLVE_H

#include <stdbool.h>

/* X = A^-1 B (n x n, columns right-hand sides) by LU with row pivoting, then refined with residuals in extended
 * precision (Moler 1967). A and B are unchanged. Scratch: LU (n x n), pivot (n), R (n x columns), sum (n long doubles).
 * False when A is singular. */
bool psdmp_linalg_solve_refined(int n, int columns, const double *A, const double *B, double *X, double *LU, int *pivot,
                                double *R, void *sum);

/* Doubles of work space for the two below, for systems up to this size. */
long psdmp_linalg_least_squares_work(int rows, int columns, int sides);

/* min |A X - B| by QR; rows >= columns, A of full rank. A is overwritten, X is in B's first `columns` rows. False when
 * A is singular. */
bool psdmp_linalg_least_squares(int rows, int columns, int sides, double *A, double *B, double *work, long words);

/* The triangle of A = Q R (rows >= columns): R is (columns x columns), A is overwritten. reflectors: scratch
 * (columns). */
bool psdmp_linalg_triangle(int rows, int columns, double *A, double *R, double *reflectors, double *work, long words);

#endif
