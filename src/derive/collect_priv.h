/* collect_priv.h: from terms to a model. */
#ifndef PSDMP_DERIVE_COLLECT_H
#define PSDMP_DERIVE_COLLECT_H

#include "derive/derive.h"
#include "derive/derive_priv.h"
#include "model/model.h"

/* Fills the model's functions and P from the terms; q[b] is the joint that a term's number b means, column
 * (standard) the output column of each standard parameter, -1 to leave it out. With every parameter its own column P
 * is Psi. */
psdm_status psdmp_derive_collect(const psdm_robot *robot, const psdmp_derive_expansion *e, const int *q,
                                 const int *column, const psdm_derive_options *options, psdm_model *model, double *kept,
                                 psdm_error *error);

/* Bytes that the model and the way to it take beside the terms. codes: monomials that there can be. */
double psdmp_derive_collect_bytes(double rows, double entries, double codes);

/* A kept parameter is exchanged for another one where the share of a regrouped one in it would be larger, in units
 * of the reach: exact right angles give shares of one or two, 15 degrees up to 15, and axes that are nearly aligned
 * the inverse square of the angle. */
#define PSDMP_DERIVE_MOST_SHARE 30

/* Power of the metre in standard parameter k. */
int psdmp_derive_length_degree(const psdm_robot *robot, int k);

/* Base parameters of an uncoupled robot by the recursion over bodies: fills base, fate, l. reach: a power of two.
 * Directions that give less torque than tolerance, relative, are regrouped too; 0: those that are only rounding. */
psdm_status psdmp_derive_base_recursion(const psdm_robot *robot, double reach, double tolerance, psdm_model *model,
                                        psdm_derive_info *info, psdm_error *error);

/* Whether assumptions do more than take parameters away: a base column is then no standard parameter's. */
bool psdmp_derive_restriction_combines(const psdmp_derive_restriction *res, int standard);

/* Psi (in P's place) over the parameters that are left; functions that nothing needs any more go. */
psdm_status psdmp_derive_restrict_psi(const psdmp_derive_restriction *restriction, psdm_model *model,
                                      psdm_error *error);

/* Base parameters from sampled regressors at rest (Gautier 1991, model d0) by orthogonalisation: any robot, any
 * restriction. */
psdm_status psdmp_derive_base_sampled(const psdm_robot *robot, const psdmp_derive_restriction *restriction,
                                      double tolerance, psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* Base parameters of coefficient or regressor rows in units of the reach, A (rows x standard, rows >= standard),
 * column-major, spoilt. */
psdm_status psdmp_derive_base_of_rows(const psdm_robot *robot, double reach, double tolerance, int rows, double *A,
                                      psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* Columns of A (rows x columns, column-major) in units of the reach, lower links first, in the order in which a
 * link's parameters are kept. */
typedef struct psdmp_derive_link_columns {
  int rows, columns;
  const int *parameter; /* (columns) standard parameter */
  const double *A;
  double tolerance; /* remainders up to this are none */
} psdmp_derive_link_columns;

typedef struct psdmp_derive_link_choice {
  int rank;
  int *kept;                /* (rank) columns, ascending from link to link */
  double *beta;             /* (rank x columns) share of kept[k] in each of the others */
  double dropped, smallest; /* largest remainder taken for zero, smallest that was not */
} psdmp_derive_link_choice;

/* Independent columns, and the others in terms of them. False: out of memory. */
bool psdmp_derive_choose_by_link(const psdm_robot *robot, const psdmp_derive_link_columns *of, psdmp_base_arena *arena,
                                 psdmp_derive_link_choice *out);

/* How an independent joint moves. All factors are 1 unless joints follow each other. */
typedef struct psdmp_derive_motion {
  double unit; /* until something it drives has turned by a radian or slid by the reach */
  double far;  /* how many units until all that it drives have */
  double spin; /* how many units until something turns by a radian; 1 where nothing does */
} psdmp_derive_motion;

/* motion: (n) */
void psdmp_derive_motions(const psdm_robot *robot, double reach, psdmp_derive_motion *motion);

/* A random state: whole turns, slides as far as the reach, rates such that inertial torques are of gravity's size,
 * or what turns slowly beside a slide has such a rate. */
void psdmp_derive_random_state(const psdm_robot *robot, double reach, const psdmp_derive_motion *motion, uint64_t *seed,
                               double *q, double *qd, double *qdd);

/* Order in which parameters are kept: lower links first, in a link XX XY XZ YY YZ ZZ mx my mz m Ia. order:
 * (standard). */
void psdmp_derive_keep_order(const psdm_robot *robot, int *order);

/* Formula of a base parameter from its coefficients over all standard parameters, theta (standard), in units of the
 * reach. */
bool psdmp_derive_store_formula(const psdm_robot *robot, double reach, psdm_model *model, psdmp_model_base *base,
                                const double *theta);

/* Rewrites the terms of a coupled robot's tree in its independent joints: codes, classes and torques. Sets the
 * model's radix and weight. */
psdm_status psdmp_derive_substitute(const psdm_robot *robot, psdm_model *model, psdmp_derive_expansion *e,
                                    psdm_error *error);

/* A model's sizes, names and codes: the last joint's digit counts least, so that codes ascend as the walk over bodies
 * finds them. False when out of memory. */
bool psdmp_derive_shape(const psdm_robot *robot, psdm_model *model);

/* Column of each standard parameter among the base parameters, -1 where it is none. column: (standard). */
void psdmp_derive_base_columns(const psdm_model *model, int *column);

/* P from Psi (in P's place): the kept columns, counted as base parameters. */
void psdmp_derive_keep_columns(psdm_model *model, const int *column);

/* Base parameters that are compared with the recursions before they are handed over. */
typedef struct psdmp_derive_checked {
  /* NULL, or without functions: the columns of the regressor are what is compared */
  const psdm_model *model;
  const void *answer;
  int l, states;
  void (*theta)(const void *answer, const double *pi, double *theta);
  int (*parameter)(const void *answer, int j); /* the standard parameter that base parameter j is named after */
  const psdmp_derive_restriction *restriction; /* may be NULL */
  const psdm_derive_options *options;          /* may be NULL */
  /* torque that may be lost on purpose, relative: rank_tolerance for every direction that was regrouped */
  double regrouped;
  const char *what; /* for the sentence, plural */
} psdmp_derive_checked;

/* *residual: max |difference| / max |torque| over random states, forces times the reach. PSDM_E_ACCURACY above
 * PSDM_MODEL_ACCURACY / 5 + regrouped. */
psdm_status psdmp_derive_check_answer(const psdm_robot *robot, const psdmp_derive_checked *of,
                                      const psdm_allocator *allocator, double *residual, psdm_error *error);

/* The same for a model. Passes over models of another's torques (samplers). */
psdm_status psdmp_derive_check_model(const psdm_robot *robot, const psdm_model *model,
                                     const psdmp_derive_restriction *restriction, const psdm_derive_options *options,
                                     psdm_derive_info *info, psdm_error *error);

/* Changes P and the base parameters to the echelon basis; tolerance: the relative accuracy of P. */
psdm_status psdmp_derive_echelon(const psdm_robot *robot, psdm_model *model, double tolerance, psdm_error *error);

#endif
