/* estimate_priv.h: estimators that need the rows, not only their factors. Private to the library.
 *
 *   estimate_blocks.c    triangles of weighted rows per block of time, and least squares on them
 *   estimate_pass.c      a pass over all rows, by threads and ranks
 *   estimate_walk.c      a stretch of rows, with their columns and those of an auxiliary motion
 *   estimate_robust.c    outliers count less
 *   estimate_simulate.c  the auxiliary motion: the robot of the present estimate follows the measured motion
 *   estimate_didim.c     its torques against the measured ones
 *   estimate_iv.c        its regressor as instruments
 *   estimate_instruments.c  equations with instruments, solved by QR
 *   estimate_energy.c    energy and work
 *   estimate_essential.c parameters that could as well be zero
 *
 * Unknowns are in the order theta, then the gains of the chosen columns drive by drive: W = l + all columns. */
#ifndef PSDMP_IDENTIFY_ESTIMATE_H
#define PSDMP_IDENTIFY_ESTIMATE_H

#include "identify/identify.h"
#include "linalg/linalg.h"

/* All arrays are the caller's. */
typedef struct psdmp_identify_estimated {
  double *x;          /* (W) in: a least-squares fit as the start; out: the result */
  double *covariance; /* (W x W) sandwich over blocks of time */
  double *classical;  /* (W x W) as for white residuals: correlations of the unknowns */
  double *folds;      /* (PSDMP_IDENTIFY_FOLDS x W) the result without each fold */
  int steps;          /* passes over the rows */
} psdmp_identify_estimated;

int psdmp_identify_estimate_width(const psdmp_identify_run *run); /* W */

/* Each starts at x, with the weights run->sigma. robust leaves the robust scale of each drive there. */
psdm_status psdmp_identify_estimate_robust(psdmp_identify_run *run, psdmp_identify_estimated *e, psdm_error *error);
/* x: of a robot that can be simulated */
psdm_status psdmp_identify_estimate_didim(psdmp_identify_run *run, psdmp_identify_estimated *e, psdm_error *error);
/* the same */
psdm_status psdmp_identify_estimate_iv(psdmp_identify_run *run, psdmp_identify_estimated *e, psdm_error *error);
psdm_status psdmp_identify_estimate_energy(psdmp_identify_run *run, psdmp_identify_estimated *e, psdm_error *error);

/* Backward elimination of base parameters whose loss changes the fit by less than its noise. sd (W); scratch: (W x W +
 * W). */
void psdmp_identify_essential(int base, int W, const double *x, const double *classical, const double *sd,
                              double *scratch, bool *essential);

/* ---- blocks ---- */

/* Rows are [columns tau]. Masks of blocks: all, and without those of a fold. */
unsigned psdmp_identify_blocks_all(void);
unsigned psdmp_identify_blocks_without(int fold);

/* Least squares over some blocks, columns theta and an equation's own (all columns when there is one equation): x
 * (W), covariance (W x W, classical) nullable. sigma, here and below: (n) of the equations; NULL: 1. */
psdm_status psdmp_identify_blocks_fit(psdmp_identify_run *run, psdmp_linalg_blocks *blocks, unsigned mask,
                                      const double *sigma, double *x, double *covariance);

/* The result with its uncertainty, and without each fold. */
psdm_status psdmp_identify_blocks_finish(psdmp_identify_run *run, psdmp_linalg_blocks *blocks, const double *sigma,
                                         psdmp_identify_estimated *e);

/* covariance: by the jackknife over blocks, each left out once (Efron, Stein 1981): larger than the sandwich if there
 * are many unknowns for the rows of a block. */
psdm_status psdmp_identify_blocks_jackknife(psdmp_identify_run *run, psdmp_linalg_blocks *blocks, const double *sigma,
                                            const double *x, double *covariance);

/* largest change of x in units of the classical standard deviations */
double psdmp_identify_estimate_change(int W, const double *before, const double *x, const double *classical);

/* ---- passes ---- */

typedef enum psdmp_identify_pass_kind {
  PSDMP_IDENTIFY_PASS_ROBUST,
  PSDMP_IDENTIFY_PASS_DIDIM,
  PSDMP_IDENTIFY_PASS_IV,
  PSDMP_IDENTIFY_PASS_ENERGY,
  PSDMP_IDENTIFY_PASSES
} psdmp_identify_pass_kind;

typedef struct psdmp_identify_simulation psdmp_identify_simulation;

/* One pass over all rows: its description, the same for all threads and, as bytes, for all ranks. */
typedef struct psdmp_identify_pass {
  psdmp_identify_pass_kind kind;
  psdmp_identify_run *run;
  bool all; /* including rows that are not in memory */
  int equations;
  int width[PSDM_CALIBRATE_JOINTS];            /* (equations) of a row */
  long numbers;                                /* plain sums */
  int stage;                                   /* robust: how rows are weighed, */
  const double *x, *scale;                     /* (W), (n) with residuals of this x over these scales */
  const psdmp_identify_simulation *simulation; /* didim, iv: the auxiliary motion */
} psdmp_identify_pass;

/* Properties of a kind: sets equations, width, numbers. */
void psdmp_identify_pass_shape(psdmp_identify_pass *pass);

/* Rank 0: triangles of the rows, and numbers (nullable if there are none). After an interrupt it is repeated with the
 * rows in memory, without asking going_on. */
psdm_status psdmp_identify_pass_run(psdmp_identify_pass *pass, psdmp_linalg_blocks *blocks, double *numbers,
                                    psdm_error *error);

/* Destination of one thread's rows. */
typedef struct psdmp_identify_pass_rows {
  const psdmp_identify_pass *pass;
  psdmp_identify_run *run; /* the thread's own */
  psdmp_linalg_blocks blocks;
  double *numbers; /* (numbers) of the part that is made */
} psdmp_identify_pass_rows;

/* ---- rows ---- */

typedef struct psdmp_identify_walk_row {
  int block;
  const bool *fitted;                      /* (n) whether a drive's row counts */
  const double *Y, *F, *tau;               /* (n x l), (n x 16), (n) */
  const double *Y_auxiliary, *F_auxiliary; /* the same along the auxiliary motion; NULL: none */
} psdmp_identify_walk_row;

typedef void (*psdmp_identify_use_row)(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row);

/* The motion of a stretch's rows instead of the measured one: q, qd, qdd (rows x n); ready (rows): whether it is
 * known. */
typedef psdm_status (*psdmp_identify_auxiliary_motion)(void *user, const psdmp_feed_stretch *stretch,
                                                       const psdmp_identify_prepared *p, double *q, double *qd,
                                                       double *qdd, bool *ready, psdm_error *error);

/* Calls use for every training row of a stretch; auxiliary (nullable): only for those of which it is known. One
 * thread's; NULL: out of memory. */
typedef struct psdmp_identify_walker psdmp_identify_walker;
psdmp_identify_walker *psdmp_identify_walker_new(psdmp_identify_pass_rows *to, psdmp_identify_use_row use,
                                                 psdmp_identify_auxiliary_motion auxiliary, void *auxiliary_user);
void psdmp_identify_walker_free(psdmp_identify_walker *walker); /* accepts NULL */
psdm_status psdmp_identify_walker_stretch(psdmp_identify_walker *walker, const psdmp_feed_stretch *stretch,
                                          psdm_error *error);

/* The row functions of each kind. */
void psdmp_identify_robust_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row);
void psdmp_identify_didim_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row);
void psdmp_identify_iv_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row);
long psdmp_identify_robust_numbers(const psdmp_identify_run *run);

/* The chosen columns of a drive. Returns how many. */
int psdmp_identify_chosen_columns(const psdmp_identify_run *run, int drive, psdmp_parameters_column *column);

/* ---- the auxiliary motion ---- */

/* Selects the reference, and appends what is simulated to run's reasons. */
psdm_status psdmp_identify_simulation_new(psdmp_identify_run *run, psdmp_identify_simulation **simulation,
                                          psdm_error *error);
/* the same robots, which must outlive it; NULL: out of memory */
psdmp_identify_simulation *psdmp_identify_simulation_thread(const psdmp_identify_simulation *simulation,
                                                            psdmp_identify_run *own);
void psdmp_identify_simulation_free(psdmp_identify_simulation *simulation); /* accepts NULL */
/* of the reference; rad/s of the controller */
psdmp_identify_band psdmp_identify_simulation_band(const psdmp_identify_simulation *simulation, double *bandwidth);
/* theta (l) of the controller, and of what it controls */
void psdmp_identify_simulation_set(psdmp_identify_simulation *simulation, const double *model, const double *robot);
psdm_status psdmp_identify_simulate(void *simulation, const psdmp_feed_stretch *stretch,
                                    const psdmp_identify_prepared *p, double *q, double *qd, double *qdd, bool *ready,
                                    psdm_error *error);

/* For other ranks: all choices and settings. */
void psdmp_identify_simulation_put(const psdmp_identify_simulation *simulation, psdmp_parallel_bytes *to);
psdm_status psdmp_identify_simulation_get(psdmp_identify_run *run, psdmp_parallel_bytes *from,
                                          psdmp_identify_simulation **simulation, psdm_error *error);

/* A pass with the robot of x under the controller of the last pass; if the mass matrix of x is not positive definite,
 * with the point half way back, and so on. */
psdm_status psdmp_identify_simulation_walk(psdmp_identify_simulation *simulation, psdmp_identify_pass_kind kind,
                                           psdmp_linalg_blocks *blocks, const double *x, psdm_error *error);

/* Appends to run's reasons when the result itself could not move, or the last round still changed it (0: settled). */
void psdmp_identify_simulation_say(const psdmp_identify_simulation *simulation, double change);

/* ---- instruments ---- */

/* Triangles of [Z W tau] of every drive, and scratch to solve with them. */
typedef struct psdmp_identify_instruments {
  psdmp_identify_run *run;
  psdmp_linalg_blocks blocks;
  psdmp_base_arena arena;
  int W, widest;
  double *gradient;        /* (2 W) */
  double *stacked;         /* (widest^2) */
  double *X, *T, *scratch; /* (widest x G), (G x G), G = 2 W + 1: columns Z W tau */
  /* (W x W), (W x W+1) twice, (W x W), (W x W+1), (W) column-major; B zero except for its first column and a diagonal
   * after it */
  double *A, *B, *solved, *LU, *residual, *length;
  long double *sum;
  int *pivot;
} psdmp_identify_instruments;

/* false: out of memory, and nothing is allocated */
bool psdmp_identify_instruments_new(psdmp_identify_run *run, psdmp_identify_instruments *v);
void psdmp_identify_instruments_free(psdmp_identify_instruments *v);

/* Solves Z^T W x = Z^T tau over some blocks, weights 1 / sigma^2; rows: how many. False when the instruments do not
 * determine every unknown. */
bool psdmp_identify_instruments_solve(psdmp_identify_instruments *v, unsigned mask, double *x, double *rows);

/* After solving with all blocks, x their result: s^2 (Z^T W)^-1 Z^T Z (Z^T W)^-T, and the sandwich over blocks
 * (nullable). */
void psdmp_identify_instruments_doubt(psdmp_identify_instruments *v, double rows, const double *x, double *classical,
                                      double *covariance);

/* ---- energy ---- */

/* h (l) with kinetic + potential energy = h theta + a constant. scratch: (2 n S + n + 12 joints + S), which
 * psdmp_identify_run_regressor's fits in. */
size_t psdmp_identify_energy_scratch(const psdmp_identify_run *run);
psdm_status psdmp_identify_energy_columns(psdmp_identify_run *run, const double *q, const double *qd, double *scratch,
                                          double *h);

/* One thread of a pass; NULL: out of memory. */
typedef struct psdmp_identify_energies psdmp_identify_energies;
psdmp_identify_energies *psdmp_identify_energies_new(psdmp_identify_pass_rows *to);
void psdmp_identify_energies_free(psdmp_identify_energies *energies); /* accepts NULL */
psdm_status psdmp_identify_energies_stretch(psdmp_identify_energies *energies, const psdmp_feed_stretch *stretch,
                                            psdm_error *error);

#endif
