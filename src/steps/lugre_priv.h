/* lugre_priv.h: shared by the files lugre_*.c. Private to them. */
#ifndef PSDMP_STEPS_LUGRE_PRIV_H
#define PSDMP_STEPS_LUGRE_PRIV_H

#include "parameters/parameters.h"
#include "steps/lugre_fit_priv.h"

/* the numbers in psdm_friction's order, then the inertias */
enum {
  COULOMB,
  STAT,
  STRIBECK,
  VISCOUS,
  EXPONENT,
  SIGMA0,
  SIGMA1,
  OFFSET,
  INERTIA,
  POSES_MOST = 8,
  UNKNOWNS = INERTIA + POSES_MOST
};

/* Columns of a simulation: the torque; with the rest of an initial deflection of 1 Nm; the bristles' own, h / Fc where
 * Fc = 1, z' and the rest of the initial deflection; the torque, its derivative by COULOMB .. SIGMA1, and the rest of
 * the initial deflection. */
enum { TORQUE_ALONE = 1, TORQUE_AND_START = 2, BRISTLES_ONLY = 3, WITH_DERIVATIVES = 9 };

typedef struct psdmp_steps_lugre {
  int pieces, poses;
  const psdmp_steps_lugre_piece *piece;
  const psdmp_steps_lugre_options *options;
  psdmp_base_arena arena;
  long rows, used; /* of all pieces */
  double *columns; /* (rows x WITH_DERIVATIVES at most), row-major: the last simulation, filtered */
  double *scratch; /* of the filter */
  double *tau;     /* (used) measured */
  double *start;   /* (used) rest of the initial deflection at the last residual */
  double fastest;  /* speed of a used row */
  int evaluations;
  bool stopped;
} psdmp_steps_lugre;

/* All numbers of the fit at one point of the search. */
typedef struct psdmp_steps_lugre_point {
  psdm_friction friction;
  double inertia[POSES_MOST];
  bool free[UNKNOWNS]; /* fitted; a stat that is not free equals the coulomb */
} psdmp_steps_lugre_point;

/* Checks the pieces and counts; PSDM_E_ARGUMENT, PSDM_E_LIMIT, PSDM_E_MEMORY. Free work->arena afterwards in any
 * case. */
psdm_status psdmp_steps_lugre_open(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                   const psdmp_steps_lugre_options *options, const psdm_allocator *allocator,
                                   psdmp_steps_lugre *work, psdm_error *error);

/* Friction without its offset along v, (rows x width), not filtered; bristles start undeflected. */
void psdmp_steps_lugre_simulate(const psdm_friction *friction, long rows, double dt, const double *v, int width,
                                double *out);

/* The same of all pieces into work->columns, filtered. Counts an evaluation. */
void psdmp_steps_lugre_columns(psdmp_steps_lugre *work, const psdm_friction *friction, int width);

/* Several starting points of the search over all numbers: (20) on fast rows, then a simplex over Fs, vs, sigma0. Sets
 * friction and inertia of at most BEGINNINGS zeroed points; count is 0 without friction. */
enum { BEGINNINGS = 3 };
psdm_status psdmp_steps_lugre_begin(psdmp_steps_lugre *work, psdmp_steps_lugre_point *points, int *count,
                                    psdm_error *error);

/* ---- the free numbers in the search's coordinates: logarithms except for sigma1, offset and the inertias ---- */

int psdmp_steps_lugre_free_numbers(const psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point,
                                   int which[UNKNOWNS]);

/* residual (used) = model - measured, J (used x count), column-major, in the search's coordinates; either may be NULL,
 * but not both. The initial deflection of a piece's bristles is unknown and linear in the torque: it is solved for, and
 * residual and J are the remainders (Kaufman 1975). bend (pieces, nullable): Nm; needs residual. */
void psdmp_steps_lugre_residual(psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point, double *residual,
                                double *J, double *bend);

/* 1 over the square of the rest of a piece's initial deflection; 0 if that is so small that products of it underflow:
 * the torque then contains nothing of it */
static inline double psdmp_steps_lugre_by_square(double square) { return square > 1e-280 ? 1 / square : 0; }

/* ---- uncertainty ---- */

typedef struct psdmp_steps_lugre_doubt {
  int count, which[UNKNOWNS];
  /* (count x count) (J^T J)^-1 in the search's coordinates; 0 where a column is not observable */
  double inverse[UNKNOWNS * UNKNOWNS];
  double covariance[UNKNOWNS * UNKNOWNS]; /* (count x count) in the same */
  bool shown[UNKNOWNS];                   /* (count) false where the column is zero or depends on those before it */
} psdmp_steps_lugre_doubt;

/* From residual and J of the point; with at least `blocks` blocks of rows. */
void psdmp_steps_lugre_doubt_at(const psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point,
                                const double *residual, const double *J, psdmp_steps_lugre_doubt *doubt);

/* X = A^-1 of a positive definite matrix (n x n) by Cholesky after scaling; only A's upper triangle is read. Where a
 * column depends on those before it, rows and columns of X are 0, and shown is false. */
void psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown);

/* False, and the work is stopped, if the caller asks to stop. */
bool psdmp_steps_lugre_progress(psdmp_steps_lugre *work, double share);

#endif
