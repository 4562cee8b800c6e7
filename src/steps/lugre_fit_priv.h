/* lugre_fit_priv.h: LuGre friction of one drive from a measured motion. Private to the library.
 *
 * Lloyd, Irani, Ahmadi (2022), section 3.3: Fc, Fv, d from fast rows (20) by Levenberg and Marquardt (cminpack), then
 * Fs, vs, sigma0, sigma1 by the simplex of Nelder and Mead (NLopt) on the simulated bristles (12 to 14). Beyond the
 * paper: one joint that moves alone has a constant inertia, tau = J qdd + friction (M_jj does not depend on q_j), so
 * that J is fitted together with friction instead of being neglected; the model's torque goes through the same filter
 * as the measured one; a last Levenberg-Marquardt over all numbers from the simplex' result gives their covariance. */
#ifndef PSDMP_STEPS_LUGRE_FIT_H
#define PSDMP_STEPS_LUGRE_FIT_H

#include "base/base.h"
#include "psdm/filter.h"
#include "psdm/robot.h"

/* One stretch of rows on a uniform clock, of the drive alone. */
typedef struct psdmp_steps_lugre_piece {
  long rows;
  double dt;              /* s */
  const double *v, *a;    /* (rows) velocity and acceleration, filtered */
  const double *tau;      /* (rows) friction and inertia: the remaining torque, filtered */
  const signed char *use; /* (rows) 1: fitted, 0: held out or bad, simulated only */
  int pose;               /* index of the effective inertia, 0 .. poses - 1: inertias differ between poses */
} psdmp_steps_lugre_piece;

enum { PSDMP_STEPS_LUGRE_NUMBERS = 8 }; /* coulomb, stat, stribeck, viscous, exponent, sigma0, sigma1, offset */

typedef struct psdmp_steps_lugre_options {
  const psdm_filter *filter; /* filter of tau, applied to the model's torque; NULL: none */
  bool offset;               /* fit a constant torque too */
  /* least number of rows for the sandwich; 0: 20. Blocks are as short as the correlation of the residuals allows */
  int blocks;
  psdm_progress progress; /* false stops with PSDM_E_STOPPED */
  void *progress_user;
} psdmp_steps_lugre_options;

typedef struct psdmp_steps_lugre_answer {
  psdm_friction friction;
  double inertia[8]; /* (poses) effective */
  /* ((8 + poses)^2) of the numbers above, then the inertias; rows and columns not fitted are 0. The caller's,
   * nullable */
  double *covariance;
  /* (all rows of all pieces, in order) the result's torque, inertia included. The caller's, nullable */
  double *model;
  /* false: the motion does not excite it (fixed at a harmless value: Fs = Fc, and so on) */
  bool fitted[PSDMP_STEPS_LUGRE_NUMBERS];
  double rmse;
  int evaluations;
} psdmp_steps_lugre_answer;

/* PSDM_E_MISSING when the library was built without cminpack or NLopt. Allocates scratch and frees it. The initial
 * deflection of the bristles of each piece is also fitted. v must be finite in all rows, a and tau in used ones.
 * friction.given is false, and nothing fitted, without motion or friction. */
psdm_status psdmp_steps_lugre_fit(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                  const psdmp_steps_lugre_options *options, const psdm_allocator *allocator,
                                  psdmp_steps_lugre_answer *answer, psdm_error *error);

/* Derivatives of the fitted numbers by the measured torque: gain ((8 + poses) x columns) = (J^T J)^-1 J^T D with D (all
 * rows x columns) the derivative of tau by earlier numbers (torque constant, gravity), J the model's Jacobian at the
 * answer. */
psdm_status psdmp_steps_lugre_gain(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                   const psdmp_steps_lugre_options *options, const psdmp_steps_lugre_answer *answer,
                                   int columns, const double *D, const psdm_allocator *allocator, double *gain);

/* The result's torque along other rows (held out, inertia logs): friction alone, filtered; bristles start
 * undeflected. */
psdm_status psdmp_steps_lugre_predict(const psdm_friction *friction, const psdm_filter *filter, long rows, double dt,
                                      const double *v, const psdm_allocator *allocator, double *tau);

#endif
