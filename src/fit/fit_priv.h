/* fit_priv.h: shared by the estimators. Private to the library.
 *
 * Internally the parameters are in the order phi (joint by joint), then theta or pi: a joint's own columns are
 * eliminated first, and the rest of all joints is one small triangle. */
#ifndef PSDMP_FIT_PRIV_H
#define PSDMP_FIT_PRIV_H

#include "fit/fit.h"

/* ---- all joints at once ---- */

/* Takes pieces of the caller's doubles. */
static inline double *psdmp_fit_piece(double **at, long count) {
  double *piece = *at;
  *at += count;
  return piece;
}

int psdmp_fit_own(const psdmp_fit_rows *rows);    /* sum of extras */
int psdmp_fit_widest(const psdmp_fit_rows *rows); /* largest w */
/* sizes and sigmas are in their range */
bool psdmp_fit_sound(const psdmp_fit_rows *rows, const psdmp_fit_options *options);

/* G ((own + base + 1) squared, upper triangular): the factor of all joints' rows, divided by sigma, columns phi
 * theta tau. False when a number is not finite. */
size_t psdmp_fit_gather_scratch(const psdmp_fit_rows *rows);
bool psdmp_fit_gather(const psdmp_fit_rows *rows, const double *sigma, double *scratch, double *G);

/* g (own + base) += scale times the gradient, by phi and theta, of half the sum of squared weighted residuals at x
 * (phi, theta). scratch: (2 widest). */
void psdmp_fit_gradient(const psdmp_fit_rows *rows, const double *sigma, const double *x, double scale, double *scratch,
                        double *g);

/* Fills theta, phi, cost and covariance from x (phi, theta) and C (nullable, in the same order), the inverse of the
 * Hessian; parameters: degrees of freedom used. scratch: (2 widest + n). */
void psdmp_fit_finish(const psdmp_fit_rows *rows, const double *sigma, const double *x, const double *C, int parameters,
                      double *scratch, psdmp_fit *fit);

/* ---- without a prior ----
 *
 * x = least squares of G, Z (W x rank of W) with (W^T W)^+ = Z Z^T; W = own + base. Returns the rank, -1 when LAPACK
 * fails. */

size_t psdmp_fit_solve_scratch(int W);
int psdmp_fit_solve(int W, const double *G, double *scratch, double *x, double *Z);

/* ---- with a prior ----
 *
 * In each link's coordinates P = L (1 + Z) L^T pull and barrier have the Hessian (lambda + mu) 1. */

typedef struct psdmp_fit_cone {
  const psdmp_fit_rows *rows;
  const psdmp_fit_options *options;
  int own, W, M;     /* W = own + base rows, M = own + standard unknowns */
  int positives;     /* unknowns that must not be negative */
  double lambda, mu; /* of the present step: on the way to the answer the pull is stronger than requested */
  double *E;         /* (W x M+1) columns phi pi tau */
  /* (W x M+1) the same in the links' coordinates, tau replaced by the residual; overwritten by the factor */
  double *X;
  double *T;                     /* (M+1 x M+1) triangle of the stacked rows; last column: right-hand side */
  double *diagonal;              /* (M) root of the Hessian of prior, barrier and ridge */
  double *x, *step;              /* (M) phi pi */
  double *ridge, *centre, *sign; /* (M) of scalars, zero for links; sign 1: must not be negative */
  double *L;                     /* (links x 16) P = L L^T */
  double *pull;                  /* (links x 16) inverse of the prior's P */
  double *tilt;                  /* (links x 10) coordinates of L^T P0^-1 L */
  double *map;                   /* (links x 100) row-major: parameters from coordinates */
  double *scratch;
} psdmp_fit_cone;

size_t psdmp_fit_cone_scratch(const psdmp_fit_rows *rows);

/* Compresses the rows and starts at the prior, own parameters zero. PSDM_E_ARGUMENT when the prior is not inside or
 * lambda not positive. */
psdm_status psdmp_fit_cone_start(psdmp_fit_cone *cone, const psdmp_fit_rows *rows, const psdmp_fit_options *options,
                                 double *scratch);

/* L from x; false when a link is not positive definite, or a scalar that must be positive is not. */
bool psdmp_fit_cone_stand(psdmp_fit_cone *cone, bool positive);

/* T: factor of the stacked rows at x, and its solution as step, in the coordinates. Returns the squared Newton
 * decrement. positive: with the scalars' barriers. */
double psdmp_fit_cone_newton(psdmp_fit_cone *cone, bool positive);

/* converts step from the coordinates to parameters. */
void psdmp_fit_cone_unfold(psdmp_fit_cone *cone);

/* J (W x M, phi and theta from the coordinates) times the inverse of T. */
void psdmp_fit_cone_root(const psdmp_fit_cone *cone, double *J);

/* (theta) of x, after phi: (W) */
void psdmp_fit_cone_seen(const psdmp_fit_cone *cone, double *seen);

/* ---- 4 x 4 ---- */

void psdmp_fit_pseudo_parameters(const double P[16], double pi[10]); /* the inverse of psdmp_fit_pseudo_inertia */
/* P = L L^T, zeros above; false when not positive definite */
bool psdmp_fit_pseudo_factor(const double pi[10], double L[16]);

/* Symmetric matrices have ten orthonormal coordinates: index pairs; off the diagonal times the root of two. */
extern const int psdmp_fit_pair[10][2];

#endif
