/* fit.h: parameters from compressed rows. Private to the library.
 *
 * A joint's equations are tau = Y theta + F phi: theta are the robot's base parameters (shared by all joints, theta = K
 * pi with the standard parameters pi), phi the joint's own columns (friction and the like). All rows of a joint are
 * stored as the triangular factor R of [Y F tau], so that |R [theta; phi; -1]|^2 is the sum of its squared
 * residuals. */
#ifndef PSDMP_FIT_H
#define PSDMP_FIT_H

#include "base/base.h"
#include "psdm/robot.h"

/* Compressed rows. All arrays are the caller's. */
typedef struct psdmp_fit_rows {
  int n;               /* joints */
  int base, standard;  /* l; S = 10 links + drives */
  int links;           /* pseudo-inertias: the first 10 links entries of pi; drives after them */
  const double *K;     /* (base x standard) theta = K pi */
  const int *extras;   /* (n) own columns of each joint */
  double *const *R;    /* (n) each (w x w) upper triangular, row-major, w = base + extras + 1 */
  const double *count; /* (n) number of rows in each factor */
} psdmp_fit_rows;

/* Options of a fit. Zero-initialise. */
typedef struct psdmp_fit_options {
  const double *sigma; /* (n) residuals are divided by these; NULL: 1 */
  /* (standard) prior of pi, each link's pseudo-inertia positive definite; required by surrogate and consistent */
  const double *prior;
  /* weight of the pull to the prior, nats, above zero for surrogate and consistent; for consistent preferably at least
   * 0.1 */
  double lambda;
  /* surrogate, consistent: of own columns (towards zero) and drive inertias (towards their prior), relative to each
   * column's length; 0: 1e-6 */
  double ridge;
  /* (n) of (extras): own parameters that must not be negative (Coulomb, viscous); NULL: none */
  const bool *const *nonnegative;
  bool drives_nonnegative; /* drive inertias must not be negative */
  bool leave_out;          /* sandwich: with each block's leverage, as if it had been left out of the fit (see below) */
  const double *start;     /* consistent: (standard) start, inside the cone; NULL: the prior */
  /* consistent: called with every iterate; nullable */
  void (*watch)(void *user, const double *pi, const double *phi, double mu);
  void *watch_user;
} psdmp_fit_options;

/* The answer; all arrays are the caller's, NULL ones are not filled. */
typedef struct psdmp_fit {
  double *theta; /* (base) */
  double *pi;    /* (standard); surrogate and consistent */
  double *phi;   /* (sum of extras), joint by joint */
  double *cost;  /* (n) sum of squared residuals of each joint, unweighted */
  /* ((base + sum extras)^2) of theta and phi, classical: s^2 (W^T W)^-1 with weights 1/sigma^2, through the prior
   * where there is one: s^2 H^-1, H with the Hessian of prior and barrier; total: linear's, to first order */
  double *covariance;
  int steps;  /* Newton steps */
  double gap; /* consistent: mu (4 links + positives) at the end */
  /* consistent: Newton's, squared, before the last step: some 1e-9 if converged; half of it is the remaining decrease
   * of the objective */
  double decrement;
  bool feasible; /* consistent: every pseudo-inertia is positive definite; surrogate: whether it happens to be */
  int rank;      /* linear: of the columns; if not full, the answer has least norm in scaled columns */
} psdmp_fit;

/* Doubles of scratch for any of these. */
size_t psdmp_fit_scratch(const psdmp_fit_rows *rows);

/* Ordinary or weighted least squares in theta and phi, rank decided on scaled columns. */
psdm_status psdmp_fit_linear(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                             psdmp_fit *fit);

/* Total least squares: equal errors in all columns, tau included, after scaling to equal length (Golub, Van Loan 1980),
 * weights 1/sigma. PSDM_E_ARGUMENT when the torque has no share in the least singular vector. */
psdm_status psdmp_fit_total(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                            psdmp_fit *fit);

/* Linear least squares in pi and phi with the entropic pull replaced by its Hessian at the prior: cheap, for choosing
 * columns. */
psdm_status psdmp_fit_surrogate(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                                psdmp_fit *fit);

/* Physically consistent: minimises sum |residual / sigma|^2 / 2 + |ridge|^2 / 2 + lambda D(pi | prior) - mu sum log det
 * P_k(pi) - mu sum log of what must not be negative, mu from 10 (higher where the data pull hard, and with lambda at
 * least mu on the way) by factors of 0.15 until the gap is below 0.01, by Newton steps that are least-squares problems.
 * Every iterate is inside. The corresponding term in surrogate: lambda |L0^-1 (P - P0) L0^-T|^2 / 2. */
psdm_status psdmp_fit_consistent(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                                 psdmp_fit *fit);

/* sum over links of log det(P0) - log det(P) + tr(P0^-1 P) - 4: the divergence D, infinite where P is not positive
 * definite. */
double psdmp_fit_divergence(int links, const double *prior, const double *pi);

/* 4x4 pseudo-inertia of standard parameters about a frame: [Sigma h; h^T m], Sigma = tr(I)/2 1 - I; and whether it
 * is positive definite. */
void psdmp_fit_pseudo_inertia(const double pi[10], double P[16]);
bool psdmp_fit_pseudo_positive(const double pi[10]);

/* ---- uncertainty of filtered logs ---- */

/* Sandwich covariance over time blocks: blocks of compressed rows with the same columns as `rows` (their stacked
 * whole); V = H^-1 (B/(B-1) sum g_b g_b^T + H_p) H^-1 with centred block gradients g_b at the fit and H_p the Hessian
 * of prior and barrier (0 for linear fits). covariance ((base + sum extras)^2); prior_share (nullable, same length as
 * diagonal): the prior's share of each variance. A fit adapts to each block, so that its residuals there are smaller
 * than without it: with a few blocks and many parameters the sandwich is too small. leave_out: the blocks' steps H^-1
 * g_b become (H - H_b)^-1 g_b, which for linear fits is the jackknife over blocks, V = (B-1)/B sum of their squares
 * (Miller 1974; CR3 of Bell, McCaffrey 2002). A parameter determined by one block alone would have infinite
 * uncertainty: H_b is multiplied by 1 - 1/2B. */
psdm_status psdmp_fit_sandwich(const psdmp_fit_rows *rows, int blocks, const psdmp_fit_rows *block,
                               const psdmp_fit_options *options, const psdmp_fit *fit, bool consistent, double *scratch,
                               double *covariance, double *prior_share);
size_t psdmp_fit_sandwich_scratch(const psdmp_fit_rows *rows);

#endif
