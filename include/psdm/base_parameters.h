/* psdm/base_parameters.h: base parameters alone: from the structure, or numerically (Gautier 1991).
 *
 * psdm_model_derive finds the base parameters exactly, from the structure of the dynamics. The functions here find them
 * without deriving the model, and, as a second way, from sampled regressors as in the paper. psdm/symbolic.h has their
 * formulas in the link lengths, psdm/parameters.h the values found by a calibration. Objects are constant once made and
 * may be shared by threads. */
#ifndef PSDM_BASE_PARAMETERS_H
#define PSDM_BASE_PARAMETERS_H

#include "psdm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- by structure ---- */

enum { PSDM_BASE_PARAMETERS_JOINTS = 100 }; /* most moving joints that the functions below accept */

/* Only the base parameters of psdm_model_derive (standard basis): takes microseconds, without the expansion that grows
 * with 5^n. The model has p = 0; ask it for base_*, standard_*, fate and theta. Free with psdm_model_free. Closed loops
 * have no other model; their base parameters are found from samples of the regressor where the loops close. */
PSDM_API psdm_status psdm_base_parameters_derive(const psdm_robot *robot, const psdm_derive_options *options,
                                                 const psdm_allocator *allocator, psdm_model **model,
                                                 psdm_derive_info *info, psdm_error *error);

/* ---- by numbers: the columns of a matrix W of samples ---- */

typedef enum psdm_sampling {
  PSDM_SAMPLE_D,  /* d: torques of each standard parameter in motion, eq. (6) */
  PSDM_SAMPLE_D0, /* d0: the same with qd = 0, eq. (9) */
  PSDM_SAMPLE_H   /* h: energies of each standard parameter, differences between two states, eq. (11) and (12) */
} psdm_sampling;

typedef enum psdm_solver { PSDM_SOLVER_QR, PSDM_SOLVER_SVD } psdm_solver;

/* Zero-initialise for model d by QR on scaled samples. */
typedef struct psdm_base_parameters_options {
  psdm_sampling sampling;
  psdm_solver solver; /* which of the two selects the columns and gives beta; both are always computed */
  bool no_scaling;    /* use the first random samples without scaling */
  int assume_count;   /* assumptions, as "Ixz4 = 0", in addition to the file's */
  const char *const *assume;
  int samples;      /* random states; 0: as many as give two rows for each column. At least as many rows as columns */
  double tolerance; /* values up to this share of the largest count as zero; 0: r eps, as in the paper */
  /* samples are chosen by the paper's J = scaling[0] |W|_F + scaling[1] S of their rows; both 0: by log S */
  double scaling[2];
  unsigned long long reserved[4];
} psdm_base_parameters_options;

/* r rows, c columns (the nonzero ones, in order of preference: lower links first, in a link XX XY XZ YY YZ ZZ mx my mz
 * m Ia), rank b. Read only. */
typedef struct psdm_base_parameters {
  int standard; /* standard parameters of the robot */
  int rows, columns, rank;
  const int *column; /* (c) the standard parameter of each column */

  /* how good the answer is */
  double spread_random; /* S = max|W_ij| / min nonzero|W_ij| of random samples */
  double spread;        /* the same of the samples used */
  /* threshold below which a T_ii, R_ii, sigma_i counts as zero: r eps times the largest, or the options' share of it;
   * for R the middle of T's gap */
  double tau[3];
  int ranks[3];  /* how many exceed it, by T, R, sigma; b is T's count for QR, sigma's for SVD */
  double gap[3]; /* b-th over the next by size, with b from T for T and R; infinite when nothing is left out */

  /* Table II of the paper: the basis of the decisions */
  const double *T;     /* (c) diagonal of QR with column pivoting */
  const double *R;     /* (c) diagonal of QR without pivoting: what each column adds to those kept before it */
  const double *sigma; /* (c) singular values */
  const double *V2N;   /* (c) V2 times a random vector: zero for a parameter that is not regrouped */
  const double *V1;    /* (b x c) row k: the k-th right singular vector of W; lengths in units of the reach, as above */

  /* the answer: theta = X1 + beta X2 */
  const int *kept;    /* (b) columns, ascending */
  const int *dropped; /* (c - b) columns, ascending */
  const double *beta; /* row-major (b x (c - b)); entries below 1e-11 of their column are zero */
} psdm_base_parameters;

/* Allocates; free with psdm_base_parameters_free. options may be NULL. */
PSDM_API psdm_status psdm_base_parameters_solve(const psdm_robot *robot, const psdm_base_parameters_options *options,
                                                const psdm_allocator *allocator, psdm_base_parameters **params,
                                                psdm_error *error);
PSDM_API void psdm_base_parameters_free(psdm_base_parameters *params); /* accepts NULL */

PSDM_API psdm_parameter_fate psdm_base_parameters_fate(const psdm_base_parameters *params, int standard_parameter);

/* theta (b) from the standard parameters pi (standard): eq. (28). */
PSDM_API void psdm_base_parameters_theta(const psdm_base_parameters *params, const double *pi, double *theta);

/* XM = V1 V1^T X, the standard parameters (standard) of least 2-norm with the same torques: eq. (25), lengths in units
 * of the reach. Zero where there is no effect. */
PSDM_API void psdm_base_parameters_minimal(const psdm_base_parameters *params, const double *pi, double *XM);

#ifdef __cplusplus
}
#endif
#endif
