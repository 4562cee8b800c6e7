/* lugre_priv.h: what the files lugre_*.c share. Private to them. */
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

/* Columns of a simulation: the torque; with what is left in it of a bend of 1 Nm at the beginning; the bristles'
 * own, h / Fc where Fc = 1, z' and what is left of the beginning; the torque, its derivative by COULOMB .. SIGMA1,
 * and what is left of the beginning. */
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
  double *start;   /* (used) what is left of the beginning at the last residual */
  double fastest;  /* speed of a used row */
  int evaluations;
  bool stopped;
} psdmp_steps_lugre;

/* All numbers of the fit at one place. */
typedef struct psdmp_steps_lugre_point {
  psdm_friction friction;
  double inertia[POSES_MOST];
  bool free[UNKNOWNS]; /* fitted; a stat that is not free is the coulomb */
} psdmp_steps_lugre_point;

/* Checks the pieces and counts; PSDM_E_ARGUMENT, PSDM_E_LIMIT, PSDM_E_MEMORY. Free work->arena afterwards, whatever it
 * returns. */
psdm_status psdmp_steps_lugre_open(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                   const psdmp_steps_lugre_options *options, const psdm_allocator *allocator,
                                   psdmp_steps_lugre *work, psdm_error *error);

/* Friction without its offset along v, (rows x width), not filtered; bristles begin unbent. */
void psdmp_steps_lugre_simulate(const psdm_friction *friction, long rows, double dt, const double *v, int width,
                                double *out);

/* The same of all pieces into work->columns, filtered. Counts an evaluation. */
void psdmp_steps_lugre_columns(psdmp_steps_lugre *work, const psdm_friction *friction, int width);

/* Several starting points of the search over all numbers: (20) on fast rows, then a simplex over Fs, vs, sigma0. Sets
 * friction and inertia of at most BEGINNINGS zeroed points; count is 0 without friction. */
enum { BEGINNINGS = 3 };
psdm_status psdmp_steps_lugre_begin(psdmp_steps_lugre *work, psdmp_steps_lugre_point *points, int *count,
                                    psdm_error *error);

/* ---- the free numbers in the search's coordinates: logarithms but for sigma1, offset and the inertias ---- */

int psdmp_steps_lugre_free_numbers(const psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point,
                                   int which[UNKNOWNS]);
bool psdmp_steps_lugre_logarithmic(int which);

/* residual (used) = model - measured, J (used x count), column-major, in the search's coordinates; nullable both,
 * but not together. How far bristles are bent at the beginning of a piece is not known and linear in the torque: it
 * is solved for, and residual and J are what is left (Kaufman 1975). bend (pieces, nullable): Nm; needs residual. */
void psdmp_steps_lugre_residual(psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point, double *residual,
                                double *J, double *bend);

/* 1 by the square of what is left of a piece's beginning; 0 where that is so little that products of it are not
 * exact any more: nothing of the beginning is in the torque */
static inline double psdmp_steps_lugre_by_square(double square) { return square > 1e-280 ? 1 / square : 0; }

/* ---- uncertainty ---- */

typedef struct psdmp_steps_lugre_doubt {
  int count, which[UNKNOWNS];
  /* (count x count) (J^T J)^-1 in the search's coordinates; 0 where a column is not shown */
  double inverse[UNKNOWNS * UNKNOWNS];
  double covariance[UNKNOWNS * UNKNOWNS]; /* (count x count) in the same */
  bool shown[UNKNOWNS];                   /* (count) false where the column is zero or hangs on those before it */
} psdmp_steps_lugre_doubt;

/* From residual and J of the point; blocks of rows at least. */
void psdmp_steps_lugre_doubt_at(const psdmp_steps_lugre *work, const psdmp_steps_lugre_point *point,
                                const double *residual, const double *J, psdmp_steps_lugre_doubt *doubt);

/* X = A^-1 of a positive definite matrix (n x n) by Cholesky after scaling; only A's upper triangle is read. Rows
 * and columns of X are 0, and shown false, where a column hangs on those before. */
void psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown);

/* False, and the work is stopped, if the caller asks for it. */
bool psdmp_steps_lugre_progress(psdmp_steps_lugre *work, double share);

#endif
