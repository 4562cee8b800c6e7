/* riccati.h: algebraic Riccati equations by ordered Schur vectors, over LAPACK.
 *
 *   continuous  0 = A^T X + X A + Q - K^T R K,      K = R^-1 B^T X               A - B K has eigenvalues left of the
 *                                                                                imaginary axis
 *   discrete    X = A^T X A + Q - K^T (R + B^T X B) K, K = (R + B^T X B)^-1 B^T X A  ... inside the unit circle
 *
 * A (n x n), B (n x m), Q (n x n) symmetric, R (m x m) symmetric positive definite; X (n x n), K (m x n). All
 * row-major; memory is the caller's; nothing overlaps. Laub, "A Schur method for solving algebraic Riccati
 * equations" (IEEE Trans. AC 24, 1979); Van Dooren, "A generalized eigenvalue approach for solving Riccati
 * equations" (SIAM J. Sci. Stat. Comput. 2, 1981) for the discrete one; refined by Kleinman's Newton steps. Private
 * to the library. */
#ifndef PSDMP_LINALG_RICCATI_H
#define PSDMP_LINALG_RICCATI_H

#include <stdbool.h>
#include <stddef.h>

typedef enum psdmp_linalg_riccati {
  PSDMP_LINALG_RICCATI_OK,
  PSDMP_LINALG_RICCATI_WEIGHT,      /* R is not positive definite */
  PSDMP_LINALG_RICCATI_UNREACHABLE, /* an unstable mode is unreachable by the inputs */
  PSDMP_LINALG_RICCATI_BOUNDARY,    /* a mode on the boundary of stability does not appear in Q */
  PSDMP_LINALG_RICCATI_FAILED,      /* LAPACK failed, or the numbers differ too much in size */
  PSDMP_LINALG_RICCATI_LACKING      /* this build has no LAPACK */
} psdmp_linalg_riccati;

typedef struct psdmp_linalg_riccati_info {
  double residual; /* largest entry of the equation's residual, relative to its largest term */
  int steps;       /* Newton steps that improved it */
  double re, im;   /* UNREACHABLE: the mode */
} psdmp_linalg_riccati_info;

/* Doubles of scratch. */
size_t psdmp_linalg_riccati_scratch(int n, int m);

psdmp_linalg_riccati psdmp_linalg_riccati_solve(bool discrete, int n, int m, const double *A, const double *B,
                                                const double *Q, const double *R, double *X, double *K,
                                                psdmp_linalg_riccati_info *info, double *scratch);

#endif
