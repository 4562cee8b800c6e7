/* modes.h: eigenvalues and ranks of x' = A x + B u, with LAPACK. Matrices are row-major, A (n x n), B (n x m); memory
 * is the caller's. Private to the library. */
#ifndef PSDMP_LINALG_MODES_H
#define PSDMP_LINALG_MODES_H

#include <stdbool.h>
#include <stddef.h>

/* Doubles of scratch, enough for each of these. */
size_t psdmp_linalg_modes_scratch(int n, int m);

double psdmp_linalg_largest(long count, const double *x); /* max |x|; NaN when one is */

bool psdmp_linalg_eigenvalues(int n, const double *A, double *re, double *im, double *scratch);

/* Singular values of a square matrix, descending; A is overwritten. */
bool psdmp_linalg_singular_values(int n, double *A, double *sigma, double *scratch);

/* Distance of the mode lambda = re + i im from being unreachable by u (Popov, Belevitch, Hautus): the smallest singular
 * value of [lambda - A, B], with B scaled to A's size, relative to A's size. Negative when LAPACK fails. */
double psdmp_linalg_reach_margin(int n, int m, const double *A, const double *B, double re, double im, double *scratch);

/* Dimension of the space reachable by u, span(B, A B, A^2 B, ...), by orthogonalisation; a direction counts when more
 * than 1e-9 of it is new. */
int psdmp_linalg_reachable(int n, int m, const double *A, const double *B, double *scratch);

#endif
