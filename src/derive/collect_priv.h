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

/* Bytes of the model and of the work space in addition to the terms. codes: number of possible monomials. */
double psdmp_derive_collect_bytes(double rows, double entries, double codes);

/* A kept parameter is exchanged for another one where the share of a regrouped one in it would exceed this, in units of
 * the reach: exact right angles give shares of one or two, 15 degrees up to 15, and nearly aligned axes the inverse
 * square of the angle. */
#define PSDMP_DERIVE_MOST_SHARE 30

/* Power of the metre in standard parameter k. */
int psdmp_derive_length_degree(const psdm_robot *robot, int k);

/* Base parameters of an uncoupled robot by the recursion over bodies: fills base, fate, l. reach: a power of two.
 * Directions that give less torque than tolerance, relative, are regrouped too; 0: only those at rounding level. */
psdm_status psdmp_derive_base_recursion(const psdm_robot *robot, double reach, double tolerance, psdm_model *model,
                                        psdm_derive_info *info, psdm_error *error);

/* Assumptions as linear relations of body parameters, solved for some of them: relations.c. */
typedef struct psdmp_derive_relations {
  const psdm_robot *robot;
  int variables, bound; /* bound: how many follow from the others */
  int *pivot;           /* (bound) which */
  int *start, *index;   /* entries start[i] .. start[i + 1] of number i */
  double *factor;       /* value[pivot] = sum factor value[index]; value[0] is 1 */
  double *value;        /* (variables) */
} psdmp_derive_relations;

/* Of the robot's file and the options; PSDM_E_PARSE for one that cannot be read or contradicts the others. */
psdm_status psdmp_derive_relations_set(const psdm_robot *robot, const psdm_derive_options *options,
                                       psdmp_base_arena *arena, psdmp_derive_relations *out, psdm_error *error);

/* Standard parameters of random bodies that satisfy them. */
void psdmp_derive_relations_sample(psdmp_derive_relations *relations, uint64_t *seed, double *pi);

/* Whether assumptions do more than remove parameters: base columns are then not standard ones. */
bool psdmp_derive_restriction_combines(const psdmp_derive_restriction *res, int standard);

/* Psi (in P's place) over the remaining parameters; functions that become empty are removed. */
psdm_status psdmp_derive_restrict_psi(const psdmp_derive_restriction *restriction, psdm_model *model,
                                      psdm_error *error);

/* Base parameters from sampled regressors at rest (Gautier 1991, model d0) by orthogonalisation: any robot, any
 * restriction. */
psdm_status psdmp_derive_base_sampled(const psdm_robot *robot, const psdmp_derive_restriction *restriction,
                                      double tolerance, psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* Base parameters of coefficient or regressor rows in units of the reach, A (rows x standard, rows >= standard),
 * column-major, overwritten. */
psdm_status psdmp_derive_base_of_rows(const psdm_robot *robot, double reach, double tolerance, int rows, double *A,
                                      psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* Columns of A (rows x columns, column-major) in units of the reach, lower links first, in the order in which a
 * link's parameters are kept. */
typedef struct psdmp_derive_link_columns {
  int rows, columns;
  const int *parameter; /* (columns) standard parameter */
  const double *A;
  double tolerance; /* remainders up to this count as zero */
} psdmp_derive_link_columns;

typedef struct psdmp_derive_link_choice {
  int rank;
  int *kept;                /* (rank) columns, ascending from link to link */
  double *beta;             /* (rank x columns) share of kept[k] in each of the others */
  double dropped, smallest; /* largest remainder treated as zero, smallest that was not */
} psdmp_derive_link_choice;

/* Independent columns, and the others as combinations of them. False: out of memory. */
bool psdmp_derive_choose_by_link(const psdm_robot *robot, const psdmp_derive_link_columns *of, psdmp_base_arena *arena,
                                 psdmp_derive_link_choice *out);

/* How an independent joint moves. All factors are 1 unless joints follow each other. */
typedef struct psdmp_derive_motion {
  double unit; /* until something it drives has rotated by a radian or moved by the reach */
  double far;  /* number of units until everything it drives has */
  double spin; /* number of units until something rotates by a radian; 1 where nothing does */
} psdmp_derive_motion;

/* motion: (n) */
void psdmp_derive_motions(const psdm_robot *robot, double reach, psdmp_derive_motion *motion);

/* A random state: full turns, displacements up to the reach, rates that make inertial torques as large as gravity's, or
 * that do so for what rotates slowly beside a displacement. */
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

/* A model's sizes, names and codes: the last joint's digit is the least significant, so that codes ascend in the order
 * of the walk over bodies. False when out of memory. */
bool psdmp_derive_shape(const psdm_robot *robot, psdm_model *model);

/* Base parameters to be compared with the recursions before they are returned. */
typedef struct psdmp_derive_checked {
  /* NULL, or without functions: the regressor's columns are compared */
  const psdm_model *model;
  const void *answer;
  int l, states;
  void (*theta)(const void *answer, const double *pi, double *theta);
  int (*parameter)(const void *answer, int j); /* the standard parameter that base parameter j is named after */
  const psdmp_derive_restriction *restriction; /* may be NULL */
  const psdm_derive_options *options;          /* may be NULL */
  /* relative torque lost on purpose: rank_tolerance for every regrouped direction */
  double regrouped;
  const char *what; /* for the sentence, plural */
} psdmp_derive_checked;

/* *residual: max |difference| / max |torque| over random states, forces times the reach. PSDM_E_ACCURACY above
 * PSDM_MODEL_ACCURACY / 5 + regrouped. */
psdm_status psdmp_derive_check_answer(const psdm_robot *robot, const psdmp_derive_checked *of,
                                      const psdm_allocator *allocator, double *residual, psdm_error *error);

/* The same for a model. Skips models of outside torques (samplers). */
psdm_status psdmp_derive_check_model(const psdm_robot *robot, const psdm_model *model,
                                     const psdmp_derive_restriction *restriction, const psdm_derive_options *options,
                                     psdm_derive_info *info, psdm_error *error);

/* Changes P and the base parameters to the echelon basis; tolerance: the relative accuracy of P. */
psdm_status psdmp_derive_echelon(const psdm_robot *robot, psdm_model *model, double tolerance, psdm_error *error);

#endif
