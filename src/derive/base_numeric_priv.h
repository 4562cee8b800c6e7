/* base_numeric_priv.h: samples of a model as a matrix, and its factorisations. Private to the library. */
#ifndef PSDMP_DERIVE_BASE_NUMERIC_H
#define PSDMP_DERIVE_BASE_NUMERIC_H

#include "derive/collect_priv.h"
#include "psdm/base_parameters.h"

/* ---- samples ---- */

/* W over the nonzero columns. */
typedef struct psdmp_derive_samples {
  int rows, columns;
  int *column; /* (columns) standard parameters, in keep order */
  double *W;   /* column-major (rows x columns), in units of the reach */
  /* (columns) the reach to the power of the length degree: W over these is the effect of a standard parameter */
  double *unit;
  double spread_random, spread;
} psdmp_derive_samples;

psdm_status psdmp_derive_samples_take(const psdm_robot *robot, const psdm_base_parameters_options *options,
                                      psdmp_base_arena *arena, psdmp_derive_samples *out, psdm_error *error);

/* ---- LAPACK, column-major; scratch comes from the arena. False: out of memory or no convergence ---- */

/* A = Q R, with R in A's upper triangle. */
bool psdmp_derive_lapack_qr(psdmp_base_arena *arena, int rows, int columns, double *A);

/* The same with columns exchanged so that the diagonal descends. */
bool psdmp_derive_lapack_qr_pivoted(psdmp_base_arena *arena, int rows, int columns, double *A);

/* Singular values (columns), descending, and V (columns x columns) by column. rows >= columns; A is overwritten. */
bool psdmp_derive_lapack_svd(psdmp_base_arena *arena, int rows, int columns, double *A, double *sigma, double *V);

/* X with A X = B, A (n x n), B (n x count) becomes X; A is overwritten. False also when A is singular. */
bool psdmp_derive_lapack_solve(psdmp_base_arena *arena, int n, int count, double *A, double *B);

/* The same for an upper triangle A stored with `stored` rows. */
bool psdmp_derive_lapack_solve_upper(int n, int count, const double *A, int stored, double *B, int stored_b);

#endif
