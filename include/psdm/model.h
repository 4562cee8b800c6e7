/* psdm/model.h: the derived model: tau_i = sum over functions f and base parameters j of y_f(q, qd, qdd) P[f][i][j]
 * theta_j.
 *
 * y_f is a monomial in sin q, cos q (q itself for prismatic joints) times one of: the size of gravity, qdd_a, qd_a^2,
 * qd_a qd_b. Functions are ordered by that class: gravity, accelerations 1..n, centrifugal 1..n, Coriolis (1,2), (1,3),
 * ..., and within a class by their exponents. A model is constant and may be shared by threads; evaluation uses the
 * caller's memory. */
#ifndef PSDM_MODEL_H
#define PSDM_MODEL_H

#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_model psdm_model;

/* exact: one pass over the tree. dense: Lloyd, Irani, Ahmadi (2021): random samples of an inverse dynamics function,
 * dense linear systems for the functions, QR for the parameters; up to seven joints, none coupled, thousands of times
 * slower, and independent. */
typedef enum psdm_method { PSDM_METHOD_EXACT, PSDM_METHOD_DENSE } psdm_method;

/* standard: base parameters are kept standard parameters with others regrouped into them. echelon: the first
 * independent coefficients themselves, joint by joint and function by function, theta1..thetal: P's transpose is in
 * reduced row echelon form. */
typedef enum psdm_basis { PSDM_BASIS_STANDARD, PSDM_BASIS_ECHELON } psdm_basis;

/* Any inverse dynamics of the robot: torques (n) at a state for standard parameters pi, which need not be physical.
 * Linear in pi. */
typedef psdm_status (*psdm_sampler)(void *user, const double *q, const double *qd, const double *qdd, const double *pi,
                                    double *tau);

/* Zero-initialise for the defaults. */
typedef struct psdm_derive_options {
  int assume_count; /* assumptions, as "Ixz4 = 0", in addition to the file's */
  const char *const *assume;
  psdm_method method;
  psdm_basis basis;
  psdm_sampler sampler; /* dense: the function to sample; NULL: the recursion */
  void *sampler_user;   /* passed to sampler */
  /* dense, instead of sampler: a shell command, run once per class of functions and step, that reads a CSV q1.. qd1..
   * qdd1.. m1 mx1 .. from standard input and prints a CSV tau1.., one row for each row */
  const char *sampler_command;
  psdm_progress progress;
  void *progress_user;
  /* directions of the parameters that give less torque than this, relative, are regrouped too; 0: only those that give
   * none. For identification: the contribution of nearly aligned axes is lost in noise. The check allows for this
   * error. */
  double rank_tolerance;
  bool unchecked; /* return the answer without comparing it with the recursions */
  size_t memory;  /* bytes that a derivation may use; 0: as in the robot's options */
  unsigned long long reserved[8];
} psdm_derive_options;

/* Torques of a model match the recursions' to this share of the largest torque. A derivation compares a few states and
 * refuses a model above a fifth of it (PSDM_E_ACCURACY), to leave room for other states. */
#define PSDM_MODEL_ACCURACY 1e-9

/* How good the answer is. */
typedef struct psdm_derive_info {
  double seconds; /* for the derivation without the check */
  /* of the torques at a few random states and parameters, as in psdm_model_check; NAN: not checked */
  double residual;
  /* largest coefficient treated as zero, smallest that was not; relative to reach^degree */
  double dropped, kept;
  /* the same for the rank decisions of the base parameters: torques of a unit direction, in units of the reach */
  double rank_dropped, rank_kept;
  size_t bytes;  /* most memory for terms while deriving */
  long searched; /* dense: functions in all systems solved, after the pre-filters */
} psdm_derive_info;

/* Derivation. Allocates; free with psdm_model_free. options and info may be NULL. */
PSDM_API psdm_status psdm_model_derive(const psdm_robot *robot, const psdm_derive_options *options,
                                       const psdm_allocator *allocator, psdm_model **model, psdm_derive_info *info,
                                       psdm_error *error);
PSDM_API void psdm_model_free(psdm_model *model); /* accepts NULL */

/* max |model - recursion| / max |recursion| of the torques over `states` random states, with the robot's parameters, or
 * random ones that satisfy the assumptions where those are unknown. A stop (progress of the options) ends the check
 * early, with the states so far. */
PSDM_API psdm_status psdm_model_check(const psdm_robot *robot, const psdm_model *model,
                                      const psdm_derive_options *options, int states, const psdm_allocator *allocator,
                                      double *residual, psdm_error *error);

/* ---- size and shape ---- */

PSDM_API const char *psdm_model_name(const psdm_model *model);
PSDM_API int psdm_model_n(const psdm_model *model);
PSDM_API long psdm_model_p(const psdm_model *model);       /* functions */
PSDM_API int psdm_model_l(const psdm_model *model);        /* base parameters */
PSDM_API long psdm_model_entries(const psdm_model *model); /* non-zeros of P */
PSDM_API int psdm_model_classes(const psdm_model *model);  /* (n + 1)(n + 2)/2 */

/* First function of a class; class psdm_model_classes gives p. */
PSDM_API long psdm_model_class_start(const psdm_model *model, int index);

/* The class's rates: gravity -1,-1; qdd_a a,-1; qd_a qd_b a,b with a <= b, counted from 0. */
PSDM_API void psdm_model_class_rates(const psdm_model *model, int index, int *first, int *second);

/* Exponents of function f over [q; sin q; cos q; qd; qdd], (5n). */
PSDM_API void psdm_model_exponents(const psdm_model *model, long f, unsigned char *exponents);

/* The function as text, such as "s2 c3 qd1 qd2" or "g c2". Returns buf. */
PSDM_API char *psdm_model_function_text(const psdm_model *model, long f, char *buf, size_t size);

/* One non-zero of P, ordered by function, joint, and standard parameter that the base parameter is named after
 * (echelon: by parameter); all counted from 0. */
PSDM_API void psdm_model_entry(const psdm_model *model, long entry, long *function, int *joint, int *parameter,
                               double *value);

/* ---- base parameters: theta_j = its own standard parameter + sum of coefficient * other standard parameters ---- */

/* the kept standard parameter, "ZZ1"; echelon: "theta1" */
PSDM_API const char *psdm_model_base_name(const psdm_model *model, int j);
/* in the formula, its own included (first; echelon: not included) */
PSDM_API int psdm_model_base_terms(const psdm_model *model, int j);
PSDM_API double psdm_model_base_term(const psdm_model *model, int j, int term, int *standard_parameter);
PSDM_API int psdm_model_standard_count(const psdm_model *model);
PSDM_API char *psdm_model_standard_name(const psdm_model *model, int k, char *buf, size_t size);

/* What became of each standard parameter, in the standard basis. */
typedef enum psdm_parameter_fate {
  PSDM_FATE_UNCHANGED,
  PSDM_FATE_GROUPED_INTO,
  PSDM_FATE_REGROUPED,
  PSDM_FATE_NO_EFFECT
} psdm_parameter_fate;
PSDM_API psdm_parameter_fate psdm_model_fate(const psdm_model *model, int standard_parameter);

/* theta (l) from standard parameters (standard_count). */
PSDM_API void psdm_model_theta(const psdm_model *model, const double *pi, double *theta);

/* ---- in and out ---- */

/* Writes the model to a file, completely or not at all: .json with E as p strings of 5n digits, P as [function, joint,
 * parameter, value] counted from 0, base_parameters with formula and value; .mat with E (5n x p), P (p x l x n), theta
 * and names, as the PSDM MATLAB toolbox. robot gives the values and may be NULL. */
PSDM_API psdm_status psdm_model_save(const psdm_model *model, const psdm_robot *robot, const char *path,
                                     psdm_error *error);

/* Reads .json that psdm_model_save wrote ("-" is standard input). Allocates; free with psdm_model_free. */
PSDM_API psdm_status psdm_model_load(const char *path, const psdm_allocator *allocator, psdm_model **model,
                                     psdm_error *error);

/* Whether the model belongs to this robot: compares joints, parameters, kinematics and gravity, and for a reduced model
 * inertias; other inertias and friction do not matter to a full model. PSDM_E_ROBOT with both fingerprints. For files
 * of versions before 0.2 only the names of the parameters are compared. */
PSDM_API psdm_status psdm_model_match(const psdm_model *model, const psdm_robot *robot, psdm_error *error);
PSDM_API bool psdm_model_signed(const psdm_model *model); /* the model identifies its robot; false: an old file */

/* ---- evaluation: no allocation; y is (p), Y is row-major (n x l), M is (n x n), theta is (l) ---- */

PSDM_API void psdm_model_y(const psdm_model *model, const double *q, const double *qd, const double *qdd, double *y);

/* Which part of y: all of it, its gravity functions alone, everything but gravity. */
typedef enum psdm_part { PSDM_PART_ALL, PSDM_PART_GRAVITY, PSDM_PART_INERTIA } psdm_part;
PSDM_API void psdm_model_regressor(const psdm_model *model, psdm_part part, const double *y, double *Y);
PSDM_API void psdm_model_torque(const psdm_model *model, psdm_part part, const double *y, const double *theta,
                                double *tau);

/* Scratch for the functions below, in doubles: y and a mass matrix. */
PSDM_API size_t psdm_model_scratch(const psdm_model *model);

PSDM_API void psdm_model_inverse(const psdm_model *model, const double *theta, const double *q, const double *qd,
                                 const double *qdd, double *scratch, double *tau);
PSDM_API void psdm_model_mass(const psdm_model *model, const double *theta, const double *q, double *scratch,
                              double *M);

/* Bias torque: gravity, centrifugal and Coriolis; gravity alone when qd is NULL. */
PSDM_API void psdm_model_bias(const psdm_model *model, const double *theta, const double *q, const double *qd,
                              double *scratch, double *tau);

/* qdd = M^-1 (tau - bias), by Cholesky. PSDM_E_SINGULAR when M is not positive definite. */
PSDM_API psdm_status psdm_model_forward(const psdm_model *model, const double *theta, const double *q, const double *qd,
                                        const double *tau, double *scratch, double *qdd);

/* Kinetic energy, and potential energy relative to q = 0. */
PSDM_API void psdm_model_energy(const psdm_model *model, const double *theta, const double *q, const double *qd,
                                double *scratch, double *kinetic, double *potential);

/* ---- from base parameters back to standard ones ---- */

/* The physically consistent standard parameters pi (standard_count) with these base parameters that are nearest to a
 * prior, in the log-det divergence of their pseudo-inertias (Lee, Wensing, Park 2020). The prior itself must be
 * consistent: positive masses, positive definite pseudo-inertias, positive drive inertias. PSDM_E_SINGULAR when no
 * consistent parameters have these base parameters. */
PSDM_API psdm_status psdm_model_full(const psdm_model *model, const double *theta, const double *prior,
                                     const psdm_allocator *allocator, double *pi, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
