/* linalg.h: small dense algebra; only blocks of rows allocate. Matrices are row-major. Private to the library. */
#ifndef PSDMP_LINALG_H
#define PSDMP_LINALG_H

#include <float.h>
#include <stdbool.h>

#include "base/base.h"

/* A = L L^T in the lower triangle of A (n x n). False, with A overwritten, when A is not positive definite. */
bool psdmp_linalg_cholesky(int n, double *A);

/* Solves L L^T x = b in place. */
void psdmp_linalg_cholesky_solve(int n, const double *L, double *x);

/* inverse = (L L^T)^-1, both triangles alike; column: scratch (n). */
void psdmp_linalg_cholesky_inverse(int n, const double *L, double *column, double *inverse);

/* inverse = A^-1 by elimination with row pivoting; A is overwritten. False when a pivot is at most this share of A's
 * largest entry. PSDMP_LINALG_PIVOT keeps a few digits of the inverse; psdmp_linalg_rounding(n) rejects only matrices
 * that are singular to rounding. */
#define PSDMP_LINALG_PIVOT 1e-12
bool psdmp_linalg_invert(int n, double *A, double *inverse, double share);
static inline double psdmp_linalg_rounding(int n) { return 4 * n * DBL_EPSILON; }

/* Eigenvalues of a symmetric 3 x 3 matrix xx xy xz yy yz zz, ascending (cyclic Jacobi). */
void psdmp_linalg_eigenvalues3(const double a[6], double out[3]);

/* Which columns of A are independent of those before them, and the others as combinations of those: orthogonalisation
 * without pivoting, in the order given. A is column-major (rows x columns) and is overwritten. A column counts as
 * dependent when less than tolerance of its length remains. */
typedef struct psdmp_linalg_columns {
  int rank;
  int *kept; /* (rank) column numbers in the order of the search */
  /* (columns x columns) beta[k * columns + c]: share of kept[k] in column c; zero for kept ones */
  double *beta;
  double dropped, smallest; /* largest remainder treated as zero, smallest that was not, relative */
} psdmp_linalg_columns;

/* kept, beta: caller's memory, (columns) and (columns x columns). R: scratch (columns x columns). */
void psdmp_linalg_columns_choose(int rows, int columns, double *A, const int *order, double tolerance, double *R,
                                 psdmp_linalg_columns *out);

/* Orthonormal rows T (rank x columns) that span the rows of A (rows x columns, overwritten) up to remainders of length
 * tolerance, longest remainder first. Returns the rank. kept, dropped: the shortest remainder that became a row of T,
 * the longest that did not. */
int psdmp_linalg_row_space(int rows, int columns, double *A, double tolerance, double *T, double *kept,
                           double *dropped);

/* rank columns of T (rank x columns, orthonormal rows) that generate the others: column c = sum over k of beta[k *
 * columns + c] column kept[k]. Those first in order (count, a choice of the columns) are preferred, unless a share
 * would exceed most (above 1). kept is in that order. beta: (rank x columns), zero for kept columns and for those not
 * in order. scratch: 2 rank^2 + rank. Returns the largest share. */
double psdmp_linalg_pick_columns(int rank, int columns, const double *T, int count, const int *order, double most,
                                 int *kept, double *beta, double *scratch);

/* ---- BLAS threads ---- */

/* Between the two calls, which may be nested and come from several threads, BLAS has one thread: the same bits on all
 * machines of a kind. */
void psdmp_linalg_blas_alone(void);
void psdmp_linalg_blas_back(void);

/* Before the first use of BLAS or LAPACK: PSDM_E_MEMORY when the address space is too small for their buffer, which
 * they would otherwise wait for forever. */
psdm_status psdmp_linalg_blas_room(psdm_error *error);

/* Whether LAPACKE's return code means that it got no work memory. */
bool psdmp_linalg_lapack_memory(int code);

/* ---- factors ---- */

/* R (w x w) <- triangular factor of [R; X], X (rows x w) row-major, may be overwritten. scratch:
 * psdmp_linalg_factor_scratch doubles. Householder, in the order of the rows. */
size_t psdmp_linalg_factor_scratch(int w, long rows);
void psdmp_linalg_factor_add(int w, double *R, long rows, double *X, double *scratch);

/* out (v x v) <- the factor of the columns take[0..v) of R (w x w) alone, in that order; v <= w. scratch:
 * psdmp_linalg_factor_scratch(w, w). */
void psdmp_linalg_factor_take(int w, const double *R, int v, const int *take, double *out, double *scratch);

/* Rows by equation (a drive, or one for all) and block, as one triangle each; rows are buffered and processed a few
 * hundred at a time. */
typedef struct psdmp_linalg_blocks {
  psdmp_base_arena arena; /* from psdmp_linalg_blocks_new */
  int n, blocks;
  int *width;           /* (n) */
  double **R;           /* (n x blocks) each (width^2), upper triangular */
  double *count;        /* (n x blocks) rows */
  double **chunk;       /* (n) buffered rows, */
  int *waiting, *block; /* (n) their number, and their block */
  double *scratch;
} psdmp_linalg_blocks;

/* false: out of memory, and nothing is allocated; at most 32 blocks */
bool psdmp_linalg_blocks_new(const psdm_allocator *allocator, int n, const int *width, int blocks,
                             psdmp_linalg_blocks *b);
void psdmp_linalg_blocks_free(psdmp_linalg_blocks *b);
/* the same in the caller's arena, which frees it */
bool psdmp_linalg_blocks_in(psdmp_base_arena *arena, int n, const int *width, int blocks, psdmp_linalg_blocks *b);
void psdmp_linalg_blocks_clear(psdmp_linalg_blocks *b);
/* the next row (width), to be filled before the next call */
double *psdmp_linalg_blocks_row(psdmp_linalg_blocks *b, int equation, int block);
void psdmp_linalg_blocks_flush(psdmp_linalg_blocks *b);
/* One equation's rows of the blocks in mask: R (width^2). Returns their number. */
double psdmp_linalg_blocks_stack(psdmp_linalg_blocks *b, int equation, unsigned mask, double *R);

#include "linalg/expm.h"
#include "linalg/modes.h"
#include "linalg/riccati.h"
#include "linalg/solve.h"

#endif
