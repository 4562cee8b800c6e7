/* psdm/results.h: the answers of the library as documents (psdm/result.h), one list of fields each.
 *
 *   psdm_derive_result *answer;
 *   psdm_derive_result_new(robot, model, &options, &info, states, NULL, &answer, &error);
 *   psdm_result_write_json(&answer->head, output);
 *   psdm_result_free(&answer->head);
 *
 * docs/results.md and the JSON Schema files in share/psdm/schema are generated from these lists. */
#ifndef PSDM_RESULTS_H
#define PSDM_RESULTS_H

#include "psdm/base_parameters.h"
#include "psdm/result.h"
#include "psdm/statespace.h"
#include "psdm/symbolic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All documents, ending with NULL. */
PSDM_API extern const psdm_result_type *const psdm_results[];

/* Copies what PSDM_RESULT_ROBOT names. */
PSDM_API void psdm_result_name_robot(psdm_result *result, const psdm_robot *robot, const char **name,
                                     const char **fingerprint);

/* ---- parts of several documents ---- */

/* of psdm_limits and psdm_friction */
PSDM_API extern const psdm_result_type psdm_limits_type, psdm_friction_type;

#define PSDM_NAMED_JOINT(X, S)                                   \
  X(S, text, name, , , "", "its name")                           \
  X(S, choice, type, , "revolute|prismatic", "", "how it moves") \
  X(S, record, limits, psdm_limits, , "", "limits")
PSDM_RESULT_RECORD(psdm_named_joint, PSDM_NAMED_JOINT)

/* Of q1 ... qn. limit: lower, upper, velocity, acceleration, effort (n) override the robot's; NULL: the robot's.
 * Returns (n). */
PSDM_API const psdm_named_joint *psdm_result_joints(psdm_result *result, const psdm_robot *robot, double *const *limit);

/* ---- inspect ---- */

#define PSDM_COUPLE(X, S)                                     \
  X(S, numbers, factors, , "[n]", "", "factors of q1 ... qn") \
  X(S, number, offset, , , "rad, m", "added to them")
PSDM_RESULT_RECORD(psdm_couple, PSDM_COUPLE)

#define PSDM_JOINT_PLACE(X, S)                                                                          \
  X(S, integer, carried_by, , , "", "joint that carries it, counted from 1 in file order; 0: the base") \
  X(S, vector, point, 3, , "m", "a point on the axis, base frame")                                      \
  X(S, vector, axis, 3, , "", "direction of the axis, base frame")                                      \
  X(S, vector, link, 3, , "m", "origin of the link behind it, base frame")                              \
  X(S, number, mass, , "?", "kg", "mass of that link")                                                  \
  X(S, vector, com, 3, "?", "m", "its centre of mass, base frame")
PSDM_RESULT_RECORD(psdm_joint_place, PSDM_JOINT_PLACE)

#define PSDM_INSPECT_JOINT(X, S)                                                  \
  X(S, text, name, , , "", "its name")                                            \
  X(S, choice, type, , "revolute|prismatic|fixed", "", "how it moves")            \
  X(S, text, parent, , , "", "joint whose link carries it, or base")              \
  X(S, text, link, , , "", "the link behind it")                                  \
  X(S, integer, q, , "?", "", "the independent joint that it is, counted from 1") \
  X(S, boolean, passive, , "?", "", "a closed loop moves it")                     \
  X(S, pointer, couple, psdm_couple, "?", "", "how independent joints move it")   \
  X(S, record, limits, psdm_limits, , "", "limits")                               \
  X(S, number, gear, , , "", "motor turns per joint turn")                        \
  X(S, number, torque_constant, , , "Nm/A", "torque of a current, at the joint")  \
  X(S, number, stiffness, , , "Nm/rad", "of the drive train; null where rigid")   \
  X(S, number, damping, , , "Nms/rad", "of the damper parallel to that spring")   \
  X(S, pointer, friction, psdm_friction, "?", "", "friction in the file")         \
  X(S, pointer, at, psdm_joint_place, "?", "", "where it is; left out where a closed loop does not close")
PSDM_RESULT_RECORD(psdm_inspect_joint, PSDM_INSPECT_JOINT)

#define PSDM_INSPECT_RESULT(X, S)                                                                       \
  PSDM_RESULT_ROBOT(X, S, name)                                                                         \
  X(S, integer, n, , , "", "independent joints")                                                        \
  X(S, vector, gravity, 3, , "m/s^2", "gravity in the base frame")                                      \
  X(S, numbers, at, , "[n]", "rad, m", "position at which joints are placed")                           \
  X(S, records, joints, psdm_inspect_joint, "[joints]", "", "all joints in file order")                 \
  X(S, boolean, ready, , , "", "all inertias are known")                                                \
  X(S, integer, unknown_links, , , "", "moving links whose inertia is missing")                         \
  X(S, named, parameters, , , "kg, kg m, kg m^2", "standard parameters about each link frame's origin") \
  X(S, texts, assume, , "[]", "", "assumptions of the file")                                            \
  X(S, texts, notes, , "[]", "", "what was changed or completed")                                       \
  X(S, texts, warnings, , "[]", "", "what is doubtful")
PSDM_RESULT_DOCUMENT(psdm_inspect_result, PSDM_INSPECT_RESULT)

/* At the position at (n); NULL: 0, or the middle of limits that exclude 0. Allocates. */
PSDM_API psdm_status psdm_inspect_result_new(const psdm_robot *robot, const double *at, const psdm_allocator *allocator,
                                             psdm_inspect_result **result, psdm_error *error);

/* ---- derive ---- */

#define PSDM_CLASS_SIZES(X, S)                                                         \
  X(S, integer, gravity, , , "", "times gravity")                                      \
  X(S, integers, acceleration, , "[n]", "", "times the acceleration of each joint")    \
  X(S, integers, centrifugal, , "[n]", "", "times the squared velocity of each joint") \
  X(S, integer, coriolis, , , "", "times a product of two velocities")
PSDM_RESULT_RECORD(psdm_class_sizes, PSDM_CLASS_SIZES)

#define PSDM_PLAIN_SIZES(X, S)                                                                            \
  X(S, number, candidates, , , "", "functions that the dynamics may contain")                             \
  X(S, number, largest_system, , , "", "the most of them that belong to one acceleration, after filters") \
  X(S, integer, mult, , , "", "multiplications, every function on its own")                               \
  X(S, integer, add, , , "", "additions")
PSDM_RESULT_RECORD(psdm_plain_sizes, PSDM_PLAIN_SIZES)

#define PSDM_DERIVE_RESULT(X, S)                                                                               \
  PSDM_RESULT_ROBOT(X, S, name)                                                                                \
  X(S, integer, n, , , "", "independent joints")                                                               \
  X(S, integer, p, , , "", "functions")                                                                        \
  X(S, integer, l, , , "", "base parameters")                                                                  \
  X(S, record, classes, psdm_class_sizes, , "", "functions of each class")                                     \
  X(S, choice, method, , "exact|dense", "", "how the model was found")                                         \
  X(S, choice, basis, , "standard|echelon", "", "kind of base parameters")                                     \
  X(S, number, seconds, , , "s", "time of the derivation, without the check")                                  \
  X(S, number, residual, , , "", "largest torque error against the recursion, relative to the largest torque") \
  X(S, integer, states, , , "", "random states that the residual is the largest of")                           \
  X(S, integer, nonzeros, , , "", "coefficients of P that are not zero")                                       \
  X(S, pointer, plain, psdm_plain_sizes, "?", "", "the model as it stands; left out when joints are coupled")  \
  X(S, number, dropped, , , "", "largest coefficient taken for zero, relative to the reach")                   \
  X(S, number, kept, , , "", "smallest coefficient taken for non-zero")                                        \
  X(S, number, rank_dropped, , , "", "the same of the rank decisions: largest that counts as zero")            \
  X(S, number, rank_kept, , , "", "smallest that counts")                                                      \
  X(S, integer, searched, , "?", "", "dense: functions in all systems that were solved")                       \
  X(S, integer, bytes, , "?=searched", "B", "dense: memory of the largest of them")
PSDM_RESULT_DOCUMENT(psdm_derive_result, PSDM_DERIVE_RESULT)

/* info: with the residual of psdm_model_check over `states` states. Allocates; options may be NULL. */
PSDM_API psdm_status psdm_derive_result_new(const psdm_robot *robot, const psdm_model *model,
                                            const psdm_derive_options *options, const psdm_derive_info *info,
                                            int states, const psdm_allocator *allocator, psdm_derive_result **result,
                                            psdm_error *error);

/* ---- params ---- */

#define PSDM_RANK_DECISION(X, S)                               \
  X(S, integer, rank, , , "", "how many are above tau")        \
  X(S, number, tau, , , "", "below it a value counts as zero") \
  X(S, number, gap, , , "", "the last that counts over the first that does not")
PSDM_RESULT_RECORD(psdm_rank_decision, PSDM_RANK_DECISION)

#define PSDM_RANK_DECISIONS(X, S)                                         \
  X(S, record, T, psdm_rank_decision, , "", "by QR with column pivoting") \
  X(S, record, R, psdm_rank_decision, , "", "by QR without pivoting")     \
  X(S, record, sigma, psdm_rank_decision, , "", "by singular values")
PSDM_RESULT_RECORD(psdm_rank_decisions, PSDM_RANK_DECISIONS)

#define PSDM_RANK_ROW(X, S)                                         \
  X(S, text, parameter, , , "", "standard parameter of the column") \
  X(S, number, T, , , "", "diagonal of QR with column pivoting")    \
  X(S, number, sigma, , , "", "singular value")                     \
  X(S, number, R, , , "", "diagonal of QR without pivoting")        \
  X(S, number, V2N, , , "", "V2 times a random vector; zero where nothing is regrouped")
PSDM_RESULT_RECORD(psdm_rank_row, PSDM_RANK_ROW)

#define PSDM_BASE_PARAMETER(X, S)                                                  \
  X(S, text, name, , , "", "its name, that of the standard parameter it keeps")    \
  X(S, named, formula, , , "", "coefficients of standard parameters")              \
  X(S, number, value, , , "kg, kg m, kg m^2", "value with the robot's parameters") \
  X(S, text, symbolic, , "?", "", "formula in the link lengths")                   \
  X(S, boolean, numbers, , "?", "", "the formula holds at the robot's lengths alone: it is in numbers")
PSDM_RESULT_RECORD(psdm_base_parameter, PSDM_BASE_PARAMETER)

#define PSDM_PARAMS_RESULT(X, S)                                                                                \
  PSDM_RESULT_ROBOT(X, S, name)                                                                                 \
  X(S, choice, model, , "exact|d|d0|h", "", "structure, or sampled torques, torques at rest, energies")         \
  X(S, choice, solver, , "?qr|svd", "", "what a sampled model is factorised by")                                \
  X(S, integer, l, , , "", "base parameters")                                                                   \
  X(S, integer, rows, , "?", "", "rows of the sampled matrix W")                                                \
  X(S, integer, columns, , "?", "", "columns of W")                                                             \
  X(S, number, spread_random, , "?", "", "largest over smallest element of random samples")                     \
  X(S, number, spread, , "?", "", "the same of the samples that were used")                                     \
  X(S, pointer, decisions, psdm_rank_decisions, "?", "", "what the rank was decided by")                        \
  X(S, records, table, psdm_rank_row, "?[columns]", "", "what the decisions were made from")                    \
  X(S, records, base_parameters, psdm_base_parameter, "[l]", "", "the base parameters")                         \
  X(S, named, lengths, , "?", "m", "link lengths of the symbolic formulas")                                     \
  X(S, number, symbolic_error, , "?", "", "largest relative difference between formulas and fresh derivations") \
  X(S, texts, unchanged, , "[]", "", "standard parameters that are base parameters alone")                      \
  X(S, texts, grouped, , "[]", "", "standard parameters that others are regrouped into")                        \
  X(S, texts, regrouped, , "[]", "", "standard parameters that are regrouped into others")                      \
  X(S, texts, no_effect, , "[]", "", "standard parameters without effect")                                      \
  X(S, named, minimal_norm, , "?", "", "standard parameters of least norm with the same torques")
PSDM_RESULT_DOCUMENT(psdm_params_result, PSDM_PARAMS_RESULT)

/* Of a derived model, with formulas unless symbolic is NULL; or of sampled parameters, found with these options, with
 * those of least norm if minimal. One of model and params is NULL. Allocates. */
PSDM_API psdm_status psdm_params_result_new(const psdm_robot *robot, const psdm_model *model,
                                            const psdm_symbolic *symbolic, const psdm_base_parameters *params,
                                            const psdm_base_parameters_options *options, bool minimal,
                                            const psdm_allocator *allocator, psdm_params_result **result,
                                            psdm_error *error);

/* ---- calibrate ---- */

#define PSDM_FIT_NUMBERS(X, S)                                     \
  X(S, integer, rows, , , "", "rows")                              \
  X(S, number, rmse, , , "Nm", "root mean square error")           \
  X(S, number, rel, , , "", "|error| / |torque|")                  \
  X(S, number, nrmse, , , "", "rmse over the range of the torque") \
  X(S, number, r2, , , "", "1 - |error|^2 / |torque - mean|^2")
PSDM_RESULT_RECORD(psdm_fit_numbers, PSDM_FIT_NUMBERS)

#define PSDM_NAMED_FIT(X, S)                      \
  X(S, text, name, , "?", "", "the joint's name") \
  PSDM_FIT_NUMBERS(X, S)
PSDM_RESULT_RECORD(psdm_named_fit, PSDM_NAMED_FIT)

#define PSDM_FIT_PART(X, S)                                              \
  X(S, records, joints, psdm_named_fit, "[n]", "", "of each joint")      \
  X(S, number, global_rel, , , "", "|error| / |torque| over all joints") \
  X(S, integer, rows, , "?", "", "rows")
PSDM_RESULT_RECORD(psdm_fit_part, PSDM_FIT_PART)

#define PSDM_FIT_SET(X, S)                                           \
  PSDM_FIT_PART(X, S)                                                \
  X(S, record, all, psdm_fit_part, , "", "of all rows, at rest too") \
  X(S, record, rest, psdm_fit_part, , "", "of rows at rest")         \
  X(S, record, raw, psdm_fit_part, , "", "of all rows, torque as it was logged")
PSDM_RESULT_RECORD(psdm_fit_set, PSDM_FIT_SET)

#define PSDM_FITTED_PARAMETER(X, S)                                                                 \
  X(S, text, name, , , "", "name of the base parameter")                                            \
  X(S, number, value, , , "kg, kg m, kg m^2", "value")                                              \
  X(S, number, sd, , , "kg, kg m, kg m^2", "its standard deviation")                                \
  X(S, number, prior_share, , , "", "of its variance: above one half the log says little about it") \
  X(S, boolean, essential, , , "", "false: torques are met as well without it")                     \
  X(S, named, formula, , , "", "coefficients of standard parameters")
PSDM_RESULT_RECORD(psdm_fitted_parameter, PSDM_FITTED_PARAMETER)

#define PSDM_FRICTION_COLUMN(X, S)                                        \
  X(S, text, text, , , "", "the column with its numbers")                 \
  X(S, text, column, , , "", "the column; w is the width")                \
  X(S, number, width, , , "rad/s, rad", "width w")                        \
  X(S, integer, load, , , "", "times |f| to this power; f: rigid torque") \
  X(S, number, gain, , , "Nm", "torque per unit of the column")           \
  X(S, number, sd, , , "Nm", "standard deviation of the gain")
PSDM_RESULT_RECORD(psdm_friction_column, PSDM_FRICTION_COLUMN)

#define PSDM_NEAREST_FRICTION(X, S)                        \
  X(S, number, coulomb, , , "Nm", "Coulomb friction")      \
  X(S, number, viscous, , , "Nms/rad", "viscous friction") \
  X(S, number, offset, , , "Nm", "constant torque")        \
  X(S, number, left_out, , , "Nm", "largest torque of the columns that these three do not have")
PSDM_RESULT_RECORD(psdm_nearest_friction, PSDM_NEAREST_FRICTION)

#define PSDM_FITTED_FRICTION(X, S)                                                      \
  X(S, text, joint, , , "", "the drive")                                                \
  X(S, records, columns, psdm_friction_column, "[]", "", "columns of its friction")     \
  X(S, numbers, covariance, , "?[columns][columns]", "Nm^2", "covariance of the gains") \
  X(S, number, sigma, , , "Nm", "standard deviation of the residual")                   \
  X(S, number, speed, , , "rad/s", "99 % of the rows are slower")                       \
  X(S, number, mean_load, , , "Nm", "mean |f|, 0 where no column uses it")              \
  X(S, record, nearest, psdm_nearest_friction, , "", "the nearest friction of a robot file")
PSDM_RESULT_RECORD(psdm_fitted_friction, PSDM_FITTED_FRICTION)

#define PSDM_CALIBRATE_CHOICES(X, S)                                                           \
  X(S, text, kinematics, , , "", "logged channel that velocities and accelerations come from") \
  X(S, number, cutoff, , , "Hz", "of the zero-phase filter; null: none")                       \
  X(S, number, delay, , , "s", "by which torques are late")                                    \
  X(S, number, lambda, , , "nats", "weight of the prior")                                      \
  X(S, number, rest, , , "", "rows slower than this share of a joint's speed are at rest")     \
  X(S, integer, stride, , , "", "every n-th row was used")                                     \
  X(S, boolean, prior_from_kinematics, , , "", "the prior is cylinders along the links")       \
  X(S, number, prior_mass, , , "kg", "of that prior")
PSDM_RESULT_RECORD(psdm_calibrate_choices, PSDM_CALIBRATE_CHOICES)

#define PSDM_FAULT_COUNTS(X, S)                                       \
  X(S, integer, garbage, , , "", "lines that are no numbers")         \
  X(S, integer, short_, , , "", "lines with too few numbers")         \
  X(S, integer, nan, , , "", "numbers that are not finite")           \
  X(S, integer, repeated, , , "", "rows that repeat the time before") \
  X(S, integer, back, , , "", "times that go back")                   \
  X(S, integer, jump, , , "", "gaps in time")                         \
  X(S, integer, jitter, , , "", "irregular time steps")               \
  X(S, integer, frozen, , , "", "channels that stand still")          \
  X(S, integer, saturated, , , "", "torques at a limit")              \
  X(S, integer, spikes, , , "", "single outliers")                    \
  X(S, integer, wrapped, , , "", "angles that jump by a turn")        \
  X(S, integer, commas, , , "", "numbers with a decimal comma")
PSDM_RESULT_RECORD(psdm_fault_counts, PSDM_FAULT_COUNTS)

#define PSDM_FOLD(X, S) X(S, numbers, rmse, , "[n]", "Nm", "error of each joint by the fit to the other parts")
PSDM_RESULT_RECORD(psdm_fold, PSDM_FOLD)

#define PSDM_COMPARED_FIT(X, S)                        \
  X(S, number, rmse, , , "Nm", "error of this answer") \
  X(S, number, rmse_compared, , , "Nm", "error of the earlier one")
PSDM_RESULT_RECORD(psdm_compared_fit, PSDM_COMPARED_FIT)

#define PSDM_COMPARED_PARAMETER(X, S)                                 \
  X(S, text, name, , , "", "name of the base parameter")              \
  X(S, number, compared, , , "kg, kg m, kg m^2", "the earlier value") \
  X(S, number, sds_apart, , , "", "difference in standard deviations")
PSDM_RESULT_RECORD(psdm_compared_parameter, PSDM_COMPARED_PARAMETER)

#define PSDM_COMPARISON(X, S)                                                         \
  X(S, choice, part, , "heldout|train", "", "rows that both answers are compared on") \
  X(S, integer, rows, , , "", "their number")                                         \
  X(S, records, joints, psdm_compared_fit, "[n]", "", "of each joint")                \
  X(S, number, global_rel, , , "", "|error| / |torque| over all joints")              \
  X(S, number, global_rel_compared, , , "", "the same of the earlier answer")         \
  X(S, records, parameters, psdm_compared_parameter, "[]", "", "base parameters")
PSDM_RESULT_RECORD(psdm_comparison, PSDM_COMPARISON)

#define PSDM_FOUND(X, S)                                                   \
  X(S, text, rule, , , "", "the rule that is not met (docs/calibrate.md)") \
  X(S, text, verdict, , , "", "how far down the answer is for that")       \
  X(S, text, text, , , "", "what was found, where, what was expected")
PSDM_RESULT_RECORD(psdm_found, PSDM_FOUND)

#define PSDM_VERDICT_FIELDS(X, S)                                                              \
  X(S, choice, word, , "good|usable|poor|useless", "", "what the answer is worth")             \
  X(S, boolean, good, , , "", "thresholds are met and the verdict is accepted")                \
  X(S, choice, accept, , "good|usable|poor|useless", "", "the worst verdict that is accepted") \
  X(S, boolean, asked, , , "", "thresholds were given")                                        \
  X(S, records, findings, psdm_found, "[]", "", "what the verdict rests on")                   \
  X(S, texts, failures, , "[]", "", "thresholds that are not met")

#define PSDM_CALIBRATE_VERDICT(X, S)                                                  \
  PSDM_VERDICT_FIELDS(X, S)                                                           \
  X(S, boolean, heldout, , , "", "judged by held-out rows, else by cross-validation") \
  X(S, number, error, , , "", "|error| / |torque| of what is judged, rows in motion") \
  X(S, number, no_model, , , "", "the same of a constant per joint")                  \
  X(S, number, cross_validated, , , "", "the same of this estimate over the folds")   \
  X(S, number, plain_least_squares, , , "", "the same of plain least squares")
PSDM_RESULT_RECORD(psdm_calibrate_verdict, PSDM_CALIBRATE_VERDICT)

#define PSDM_CALIBRATE_HEAD(X, S)                                          \
  PSDM_RESULT_ROBOT(X, S, name)                                            \
  X(S, integer, n, , , "", "independent joints")                           \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are") \
  X(S, boolean, coupled_drives, , , "", "a drive moves more than its own joint")

#define PSDM_CALIBRATE_RESULT(X, S)                                                                              \
  PSDM_CALIBRATE_HEAD(X, S)                                                                                      \
  X(S, choice, route, , "oneshot", "", "everything from one kind of log")                                        \
  X(S, text, estimator, , , "", "the estimator")                                                                 \
  X(S, record, train, psdm_fit_set, , "", "rows that were fitted, in motion")                                    \
  X(S, record, heldout, psdm_fit_set, , "", "rows that were held out, in motion")                                \
  X(S, records, parameters, psdm_fitted_parameter, "[]", "", "base parameters")                                  \
  X(S, named, standard_parameters, , "?", "kg, kg m, kg m^2", "full parameters, where the estimator gives them") \
  X(S, records, friction, psdm_fitted_friction, "[n]", "", "friction of each drive")                             \
  X(S, record, choices, psdm_calibrate_choices, , "", "what was chosen")                                         \
  X(S, texts, reasons, , "[]", "", "why")                                                                        \
  X(S, texts, logs, , "[]", "", "the logs")                                                                      \
  X(S, integer, rows, , , "", "rows in the logs")                                                                \
  X(S, integer, used, , , "", "rows that were fitted, after decimation and masks")                               \
  X(S, integer, segments, , , "", "pieces without gaps")                                                         \
  X(S, number, rate, , , "Hz", "of the log's clock")                                                             \
  X(S, record, faults, psdm_fault_counts, , "", "faults of the logs, counted")                                   \
  X(S, texts, fault_lines, , "[]", "", "the same as sentences")                                                  \
  X(S, number, cost_ratio, , , "", "training cost over that of ordinary least squares")                          \
  X(S, number, condition, , , "", "of the scaled regressor")                                                     \
  X(S, numbers, singular_values, , "[]", "", "of the scaled regressor, falling")                                 \
  X(S, texts, blind, , "[]", "", "combinations of parameters that are hardly seen")                              \
  X(S, records, folds, psdm_fold, "[]", "", "cross-validation")                                                  \
  X(S, number, durbin_watson, , , "", "of the residuals; 2: white")                                              \
  X(S, number, correlation, , , "", "samples after which residuals are uncorrelated")                            \
  X(S, integer, steps, , , "", "Newton's steps, or passes over the rows")                                        \
  X(S, number, seconds, , , "s", "time taken")                                                                   \
  X(S, boolean, stopped, , , "", "interrupted: the best so far")                                                 \
  X(S, pointer, compare, psdm_comparison, "?", "", "comparison with an earlier result")                          \
  X(S, texts, doubts, , "[]", "", "what should make one careful")                                                \
  X(S, record, verdict, psdm_calibrate_verdict, , "", "what the answer is worth")                                \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_calibrate_result, PSDM_CALIBRATE_RESULT)

/* ---- calibrate, step by step ---- */

#define PSDM_STEP_JOINT(X, S)                                                          \
  X(S, text, name, , , "", "the joint's name")                                         \
  X(S, number, constant, , "?", "Nm/A", "motor: torque constant")                      \
  X(S, number, sd, , "?", "Nm/A", "motor: its standard deviation")                     \
  X(S, choice, from, , "?nothing|file|before|log", "", "motor: where it comes from")   \
  PSDM_FIT_NUMBERS(X, S)                                                               \
  X(S, record, train, psdm_fit_numbers, , "", "the same of the rows that were fitted") \
  X(S, number, sigma, , , "Nm", "standard deviation of the residual")
PSDM_RESULT_RECORD(psdm_step_joint, PSDM_STEP_JOINT)

#define PSDM_STEP_RESULT(X, S)                                      \
  X(S, boolean, done, , , "", "by this run or an earlier one")      \
  X(S, boolean, from_before, , , "", "by an earlier one")           \
  X(S, integer, rows, , , "", "rows")                               \
  X(S, number, condition, , , "", "of the step's scaled regressor") \
  X(S, number, seconds, , , "s", "time taken")                      \
  X(S, records, joints, psdm_step_joint, "[n]", "", "of each joint, held-out rows")
PSDM_RESULT_RECORD(psdm_step_result, PSDM_STEP_RESULT)

#define PSDM_STEP_RESULTS(X, S)                                   \
  X(S, record, motor, psdm_step_result, , "", "torque constants") \
  X(S, record, gravity, psdm_step_result, , "", "gravity")        \
  X(S, record, friction, psdm_step_result, , "", "friction")      \
  X(S, record, inertia, psdm_step_result, , "", "inertia")
PSDM_RESULT_RECORD(psdm_step_results, PSDM_STEP_RESULTS)

#define PSDM_STEP_PARAMETER(X, S)                                                \
  X(S, text, name, , , "", "name of the base parameter")                         \
  X(S, number, value, , , "kg, kg m, kg m^2", "of the arm alone")                \
  X(S, number, sd, , , "kg, kg m, kg m^2", "its standard deviation")             \
  X(S, number, with_tool, , , "kg, kg m, kg m^2", "what the parameter file has") \
  X(S, choice, from, , "nothing|file|before|log", "", "where it comes from")     \
  X(S, boolean, gravity, , , "", "gravity shows it")                             \
  X(S, named, formula, , , "", "coefficients of standard parameters")
PSDM_RESULT_RECORD(psdm_step_parameter, PSDM_STEP_PARAMETER)

#define PSDM_LUGRE_NUMBERS(X, S)                                       \
  X(S, number, coulomb, , , "Nm", "Coulomb friction")                  \
  X(S, number, static_, , , "Nm", "breakaway torque")                  \
  X(S, number, stribeck, , , "rad/s", "Stribeck speed")                \
  X(S, number, viscous, , , "Nm (s/rad)^exponent", "viscous friction") \
  X(S, number, exponent, , , "", "of the speed")                       \
  X(S, number, sigma0, , , "Nm/rad", "stiffness of the bristles")      \
  X(S, number, sigma1, , , "Nms/rad", "damping of the bristles")       \
  X(S, number, offset, , , "Nm", "constant torque")
PSDM_RESULT_RECORD(psdm_lugre_numbers, PSDM_LUGRE_NUMBERS)

#define PSDM_STEP_FRICTION_RESULT(X, S)                                                           \
  X(S, text, joint, , , "", "the drive")                                                          \
  X(S, choice, from, , "nothing|file|before|log", "", "where it comes from")                      \
  PSDM_LUGRE_NUMBERS(X, S)                                                                        \
  X(S, record, sd, psdm_lugre_numbers, , "", "standard deviations")                               \
  X(S, numbers, covariance, , "?[8][8]", "", "covariance of the eight numbers")                   \
  X(S, number, effective_inertia, , , "kg m^2", "of the drive in the friction experiment's pose") \
  X(S, number, speed, , , "rad/s", "largest speed that was tested")
PSDM_RESULT_RECORD(psdm_step_friction_result, PSDM_STEP_FRICTION_RESULT)

#define PSDM_STEP_LOG(X, S)                                          \
  X(S, text, path, , , "", "the file")                               \
  X(S, text, step, , , "", "the step it belongs to")                 \
  X(S, number, mass, , "?", "kg", "a known weight at the last link") \
  X(S, vector, com, 3, "?", "m", "its centre of mass in that link's frame")
PSDM_RESULT_RECORD(psdm_step_log, PSDM_STEP_LOG)

#define PSDM_STEPS_VERDICT(X, S)           \
  PSDM_VERDICT_FIELDS(X, S)                \
  X(S, text, of, , , "", "what is judged") \
  X(S, number, error, , , "", "|error| / |torque| of that")
PSDM_RESULT_RECORD(psdm_steps_verdict, PSDM_STEPS_VERDICT)

#define PSDM_CALIBRATE_STEPS_RESULT(X, S)                                                     \
  PSDM_CALIBRATE_HEAD(X, S)                                                                   \
  X(S, choice, route, , "steps", "", "step by step")                                          \
  X(S, record, steps, psdm_step_results, , "", "the steps")                                   \
  X(S, record, train, psdm_fit_part, , "", "the last step, rows that were fitted")            \
  X(S, record, heldout, psdm_fit_part, , "", "the last step, held-out rows")                  \
  X(S, records, all, psdm_named_fit, "[n]", "", "the whole model on the held-out rows")       \
  X(S, records, parameters, psdm_step_parameter, "[]", "", "base parameters")                 \
  X(S, records, friction, psdm_step_friction_result, "[n]", "", "friction of each drive")     \
  X(S, boolean, currents, , , "", "the logs have currents, else torques")                     \
  X(S, numbers, tool, , "?[10]", "kg, kg m, kg m^2", "standard parameters of the known tool") \
  X(S, records, logs, psdm_step_log, "[]", "", "the logs")                                    \
  X(S, texts, fault_lines, , "[]", "", "faults of the logs")                                  \
  X(S, number, rate, , , "Hz", "of the inertia logs, or of the last step's")                  \
  X(S, number, seconds, , , "s", "time taken")                                                \
  X(S, boolean, stopped, , , "", "interrupted: the best so far")                              \
  X(S, texts, remarks, , "[]", "", "what a reader should know")                               \
  X(S, record, verdict, psdm_steps_verdict, , "", "what the answer is worth")                 \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_calibrate_steps_result, PSDM_CALIBRATE_STEPS_RESULT)

/* ---- payload ---- */

#define PSDM_INERTIA_PAIRS(X, S)             \
  X(S, number, xx, , , "kg m^2", "about x")  \
  X(S, number, xy, , , "kg m^2", "x with y") \
  X(S, number, xz, , , "kg m^2", "x with z") \
  X(S, number, yy, , , "kg m^2", "about y")  \
  X(S, number, yz, , , "kg m^2", "y with z") \
  X(S, number, zz, , , "kg m^2", "about z")
PSDM_RESULT_RECORD(psdm_inertia_pairs, PSDM_INERTIA_PAIRS)

#define PSDM_LOAD_RESULT(X, S)                                                \
  X(S, number, mass, , , "kg", "mass")                                        \
  X(S, vector, com, 3, , "m", "centre of mass in the link's frame")           \
  X(S, record, inertia, psdm_inertia_pairs, , "", "about the centre of mass") \
  X(S, number, mass_sd, , "?", "kg", "standard deviation of the mass")        \
  X(S, vector, com_sd, 3, "?", "m", "of the centre of mass")                  \
  X(S, pointer, inertia_sd, psdm_inertia_pairs, "?", "", "of the inertia")
PSDM_RESULT_RECORD(psdm_load_result, PSDM_LOAD_RESULT)

#define PSDM_LOADED_PARAMETER(X, S)                                         \
  X(S, text, name, , , "", "name of the base parameter")                    \
  X(S, number, empty, , , "kg, kg m, kg m^2", "without the load")           \
  X(S, number, loaded, , , "kg, kg m, kg m^2", "with it")                   \
  X(S, number, loaded_sd, , , "kg, kg m, kg m^2", "its standard deviation") \
  X(S, vector, L, 10, , "", "factors of the load's ten parameters")
PSDM_RESULT_RECORD(psdm_loaded_parameter, PSDM_LOADED_PARAMETER)

#define PSDM_PAYLOAD_VERDICT(X, S)                                                                     \
  X(S, choice, word, , "good|usable|poor|useless", "", "how well torques are explained with the load") \
  X(S, boolean, good, , , "", "the verdict is accepted")                                               \
  X(S, text, text, , , "", "why it is not good")
PSDM_RESULT_RECORD(psdm_payload_verdict, PSDM_PAYLOAD_VERDICT)

#define PSDM_PAYLOAD_RESULT(X, S)                                                               \
  PSDM_RESULT_ROBOT(X, S, name)                                                                 \
  X(S, integer, n, , , "", "independent joints")                                                \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are")                      \
  X(S, text, link, , , "", "the link that carries the load")                                    \
  X(S, record, load, psdm_load_result, , "", "the load")                                        \
  X(S, named, pi, , , "kg, kg m, kg m^2", "standard parameters about the link's origin")        \
  X(S, named, pi_sd, , "?", "kg, kg m, kg m^2", "their standard deviations")                    \
  X(S, named, prior_share, , "?", "", "of their variances: above one half the log says little") \
  X(S, numbers, covariance, , "?[10][10]", "", "covariance of pi")                              \
  X(S, records, theta, psdm_loaded_parameter, "[]", "", "base parameters: theta + L pi")        \
  X(S, pointer, before, psdm_fit_part, "?", "", "torques of the log without the load")          \
  X(S, pointer, after, psdm_fit_part, "?", "", "torques of the log with it")                    \
  X(S, pointer, verdict, psdm_payload_verdict, "?", "", "what the answer is worth")             \
  X(S, integer, rows, , "?=after", "", "rows of the log")                                       \
  X(S, number, seconds, , "?=after", "s", "time taken")                                         \
  X(S, boolean, stopped, , "?=after", "", "interrupted: the best so far")                       \
  X(S, texts, fault_lines, , "?[]", "", "faults of the logs")                                   \
  X(S, texts, remarks, , "?[]", "", "what a reader should know")                                \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_payload_result, PSDM_PAYLOAD_RESULT)

/* ---- codegen and bench ---- */

#define PSDM_OPERATION_COUNTS(X, S)                                       \
  X(S, text, method, , , "", "how it was generated")                      \
  X(S, integer, mult, , , "", "multiplications")                          \
  X(S, integer, add, , , "", "additions")                                 \
  X(S, integer, div, , , "", "divisions")                                 \
  X(S, integer, sqrt, , , "", "square roots")                             \
  X(S, integer, sincos, , , "", "angles whose sine and cosine are taken") \
  X(S, integer, depth, , , "", "longest chain of operations")

#define PSDM_CODED_FUNCTION(X, S)                                                             \
  X(S, text, function, , , "", "its name")                                                    \
  PSDM_OPERATION_COUNTS(X, S)                                                                 \
  X(S, number, error, , , "", "worst against the recursions, relative to the largest number") \
  X(S, integer, calls, , , "", "exponentials, powers and steps of bristles, which friction is made of")
PSDM_RESULT_RECORD(psdm_coded_function, PSDM_CODED_FUNCTION)

#define PSDM_CODEGEN_RESULT(X, S)                                             \
  PSDM_RESULT_ROBOT(X, S, name)                                               \
  X(S, text, prefix, , , "", "what the names of functions begin with")        \
  X(S, text, directory, , , "", "folder of the files")                        \
  X(S, texts, files, , "[]", "", "the files")                                 \
  X(S, texts, omitted, , "[]", "", "functions that this robot does not have") \
  X(S, keyed, functions, psdm_coded_function, , "", "the functions")          \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_codegen_result, PSDM_CODEGEN_RESULT)

#define PSDM_TIMED_CODE(X, S)                                       \
  PSDM_OPERATION_COUNTS(X, S)                                       \
  X(S, integer, bytes, , , "", "of machine code")                   \
  X(S, integer, bytes_batch, , , "", "of machine code for batches") \
  X(S, number, ns, , , "ns", "time of one evaluation")              \
  X(S, number, ns_batch, , , "ns", "time per state of a batch")     \
  X(S, number, error, , , "", "worst against the recursions, relative to the largest number")
PSDM_RESULT_RECORD(psdm_timed_code, PSDM_TIMED_CODE)

#define PSDM_TIMED_FUNCTION(X, S)                                       \
  X(S, text, function, , , "", "its name")                              \
  PSDM_TIMED_CODE(X, S)                                                 \
  X(S, number, library_ns, , , "ns", "time of the library's recursion") \
  X(S, records, others, psdm_timed_code, "[]", "", "the same by other methods")
PSDM_RESULT_RECORD(psdm_timed_function, PSDM_TIMED_FUNCTION)

#define PSDM_BASELINE(X, S)                         \
  X(S, text, function, , , "", "what it computes")  \
  X(S, text, name, , , "", "what is compared with") \
  X(S, number, ns, , , "ns", "its time")
PSDM_RESULT_RECORD(psdm_baseline, PSDM_BASELINE)

#define PSDM_BENCH_RESULT(X, S)                                                    \
  PSDM_RESULT_ROBOT(X, S, name)                                                    \
  X(S, integer, n, , , "", "independent joints")                                   \
  X(S, integer, l, , , "", "base parameters")                                      \
  X(S, text, processor, , , "", "what the times are of")                           \
  X(S, text, date, , , "", "year-month-day")                                       \
  X(S, text, compiler, , , "", "the C compiler")                                   \
  X(S, boolean, cached, , , "", "compiled by an earlier run")                      \
  X(S, integer, states, , , "", "states of a batch")                               \
  X(S, integer, repeat, , , "", "rounds of measuring")                             \
  X(S, boolean, interrupted, , , "", "fewer rounds or functions than requested")   \
  X(S, boolean, drawn, , "?", "", "the file has no inertias: drawn ones are used") \
  X(S, number, error, , , "", "worst error of all functions")                      \
  X(S, keyed, functions, psdm_timed_function, , "", "the functions")               \
  X(S, keyed, baseline, psdm_baseline, , "", "what functions are compared with")   \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_bench_result, PSDM_BENCH_RESULT)

/* ---- reduce ---- */

#define PSDM_OPERATIONS(X, S)                    \
  X(S, integer, mult, , , "", "multiplications") \
  X(S, integer, add, , , "", "additions")        \
  X(S, integer, div, , , "", "divisions")        \
  X(S, number, ns, , "?", "ns", "time of one evaluation")
PSDM_RESULT_RECORD(psdm_operations, PSDM_OPERATIONS)

#define PSDM_REDUCED_CELL(X, S)                                         \
  X(S, text, profile, , , "", "slow or fast motion")                    \
  X(S, number, error_wanted, , , "", "requested error")                 \
  X(S, number, confidence, , , "", "share of the states")               \
  X(S, boolean, reached, , , "", "the error is met")                    \
  X(S, number, error, , , "", "error at that confidence")               \
  X(S, integer, functions, , , "", "functions that are kept")           \
  X(S, integer, parameters, , , "", "base parameters that are kept")    \
  X(S, integer, operations, , , "", "operations of the generated code") \
  X(S, number, ns, , "?", "ns", "time of one evaluation")
PSDM_RESULT_RECORD(psdm_reduced_cell, PSDM_REDUCED_CELL)

#define PSDM_CONTRIBUTIONS(X, S)                                                                 \
  X(S, numbers, log10_edges, , "[bins + 1]", "", "edges of the bins, log10 of the contribution") \
  X(S, numbers, median, , "[bins]", "", "functions whose median contribution is in a bin")       \
  X(S, numbers, maximum, , "[bins]", "", "functions whose largest contribution is in a bin")     \
  X(S, integer, median_below, , , "", "functions below the first bin, by the median")            \
  X(S, integer, maximum_below, , , "", "functions below the first bin, by the largest")
PSDM_RESULT_RECORD(psdm_contributions, PSDM_CONTRIBUTIONS)

#define PSDM_REDUCED_SIZE(X, S)                                              \
  X(S, integer, functions, , , "", "functions that are kept")                \
  X(S, number, left_out_percent, , , "%", "share of the functions left out") \
  X(S, number, error_95, , , "", "error at 95 % confidence")                 \
  X(S, number, error_999, , , "", "error at 99.9 % confidence")              \
  X(S, number, digits_95, , , "", "-log10 of error_95")                      \
  X(S, number, digits_999, , , "", "-log10 of error_999")                    \
  X(S, integer, operations, , , "", "operations of the generated code")
PSDM_RESULT_RECORD(psdm_reduced_size, PSDM_REDUCED_SIZE)

#define PSDM_REDUCED_FIGURE(X, S)                                                                 \
  X(S, text, profile, , , "", "slow or fast motion")                                              \
  X(S, integer, functions, , , "", "functions of the whole model")                                \
  X(S, record, contributions, psdm_contributions, , "", "how many functions contribute how much") \
  X(S, records, sizes, psdm_reduced_size, "[]", "", "reduced models of several sizes")
PSDM_RESULT_RECORD(psdm_reduced_figure, PSDM_REDUCED_FIGURE)

#define PSDM_REDUCE_RESULT(X, S)                                                              \
  PSDM_RESULT_ROBOT(X, S, name)                                                               \
  X(S, text, profile, , , "", "slow, fast or listed motion")                                  \
  X(S, boolean, forward, , , "", "errors of accelerations, else of torques")                  \
  X(S, number, error_wanted, , , "", "requested error")                                       \
  X(S, number, confidence, , , "", "share of the states that it holds for")                   \
  X(S, boolean, reached, , , "", "the error is met")                                          \
  X(S, boolean, interrupted, , , "", "the search was interrupted: the best so far")           \
  X(S, boolean, stopped, , "?", "", "table or figures were interrupted")                      \
  X(S, number, error, , , "", "error at that confidence")                                     \
  X(S, number, digits, , , "", "-log10 of it")                                                \
  X(S, number, error_half, , , "", "error that half of the states stay below")                \
  X(S, number, error_999, , , "", "error that 99.9 % of the states stay below")               \
  X(S, integer, samples, , , "", "states that were verified")                                 \
  X(S, integer, p, , , "", "functions that are kept")                                         \
  X(S, integer, p_before, , , "", "functions of the whole model")                             \
  X(S, integer, l, , , "", "base parameters that are kept")                                   \
  X(S, integer, l_before, , , "", "base parameters of the whole model")                       \
  X(S, record, full, psdm_operations, , "", "of the full closed form")                        \
  X(S, record, reduced, psdm_operations, , "", "of the reduced model")                        \
  X(S, record, recursion, psdm_operations, , "", "of the exact recursion")                    \
  X(S, choice, wins, , "reduced|recursion", "", "which has fewer operations")                 \
  X(S, records, table, psdm_reduced_cell, "?[8]", "", "Table 3 of Lloyd, Irani, Ahmadi 2021") \
  X(S, records, figures, psdm_reduced_figure, "?[]", "", "Figures 2 and 7 of the same")
PSDM_RESULT_DOCUMENT(psdm_reduce_result, PSDM_REDUCE_RESULT)

/* ---- linearize ---- */

PSDM_API extern const psdm_result_type psdm_mode_type;

#define PSDM_LQR_RESULT(X, S)                                                  \
  X(S, choice, outcome, , "ok|weight|unreachable|boundary|failed|lacking", "", \
    "whether gains were found; lacking: the build has no LAPACK")              \
  X(S, number, residual, , , "", "of the Riccati equation")                    \
  X(S, records, closed_loop, psdm_mode, "?[states]", "", "eigenvalues with the gains")
PSDM_RESULT_RECORD(psdm_lqr_result, PSDM_LQR_RESULT)

#define PSDM_EQUILIBRIUM_RESULT(X, S)                        \
  X(S, boolean, found, , , "", "the torques hold the robot") \
  X(S, number, residual, , , "", "of the torques")           \
  X(S, integer, rank, , , "", "of the stiffness there")      \
  X(S, integer, starts, , , "", "positions that the search began at")
PSDM_RESULT_RECORD(psdm_equilibrium_result, PSDM_EQUILIBRIUM_RESULT)

#define PSDM_LINEAR_POINT(X, S)                                                                              \
  X(S, number, t, , "?", "s", "time, where the file has it")                                                 \
  X(S, numbers, q, , "[n]", "rad, m", "position")                                                            \
  X(S, numbers, qd, , "[n]", "rad/s, m/s", "velocity")                                                       \
  X(S, numbers, qdd, , "[n]", "rad/s^2, m/s^2", "acceleration")                                              \
  X(S, numbers, tau, , "[n]", "Nm, N", "torque")                                                             \
  X(S, pointer, equilibrium, psdm_equilibrium_result, "?", "", "how the position was found")                 \
  X(S, numbers, M, , "?[n][n]", "", "second order: mass matrix")                                             \
  X(S, numbers, C2, , "?[n][n]", "", "second order: derivative by the velocity")                             \
  X(S, numbers, D, , "?[n][n]", "", "second order: derivative of M qdd by the position")                     \
  X(S, numbers, G, , "?[n][n]", "", "second order: derivative of the rest by the position")                  \
  X(S, numbers, A, , "?[2 n][2 n]", "", "state space: derivative by the state")                              \
  X(S, numbers, B, , "?[2 n][inputs]", "", "state space: derivative by the inputs")                          \
  X(S, numbers, Ad, , "?[2 n][2 n]", "", "sampled: next state by the state")                                 \
  X(S, numbers, Bd, , "?[2 n][inputs]", "", "sampled: next state by the inputs")                             \
  X(S, numbers, K, , "?[inputs][2 n]", "", "LQR gains")                                                      \
  X(S, records, eigenvalues, psdm_mode, "?[2 n]", "", "of A or Ad")                                          \
  X(S, choice, stability, , "?stable|oscillating|drifting|unstable", "", "of the continuous system")         \
  X(S, number, growth, , "?=stability", "1/s", "largest real part of an eigenvalue")                         \
  X(S, boolean, controllable, , "?=stability", "", "the inputs reach every state")                           \
  X(S, integer, reachable, , "?=stability", "", "states that the inputs reach")                              \
  X(S, number, reach_margin, , "?=stability", "", "smallest over largest singular value of what is reached") \
  X(S, pointer, lqr, psdm_lqr_result, "?", "", "the LQR design")
PSDM_RESULT_RECORD(psdm_linear_point, PSDM_LINEAR_POINT)

#define PSDM_LINEARIZE_RESULT(X, S)                                           \
  PSDM_RESULT_ROBOT(X, S, robot)                                              \
  X(S, integer, n, , , "", "independent joints")                              \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are")    \
  X(S, settings, settings, , , "", "options that differ from their defaults") \
  X(S, text, form, , , "", "state-space or second-order")                     \
  X(S, number, dt, , , "s", "sampling time; 0: continuous")                   \
  X(S, records, points, psdm_linear_point, "[]", "", "one model for each row of the file")
PSDM_RESULT_DOCUMENT(psdm_linearize_result, PSDM_LINEARIZE_RESULT)

/* ---- analyze ---- */

#define PSDM_STRUCTURE_ENTRY(X, S)                     \
  X(S, boolean, zero, , , "", "it is zero everywhere") \
  X(S, integers, depends, , "[]", "", "joints whose position it depends on, from 1")
PSDM_RESULT_RECORD(psdm_structure_entry, PSDM_STRUCTURE_ENTRY)

#define PSDM_CONDITIONS(X, S)                                     \
  X(S, texts, constant_mass, , "[]", "", "M is constant if")      \
  X(S, texts, diagonal_mass, , "[]", "", "M is diagonal if")      \
  X(S, texts, no_gravity, , "[]", "", "gravity has no effect if") \
  X(S, texts, springs, , "[]", "", "springs can balance gravity if")
PSDM_RESULT_RECORD(psdm_conditions, PSDM_CONDITIONS)

#define PSDM_SAMPLED(X, S)                                               \
  X(S, number, least, , , "", "the smallest")                            \
  X(S, number, half, , , "", "half of the samples are at most so large") \
  X(S, number, at_95, , , "", "95 % of the samples are")                 \
  X(S, number, at_999, , , "", "99.9 % of the samples are")              \
  X(S, number, largest, , , "", "the largest")                           \
  X(S, integer, beyond, , , "", "samples that break the bound: none should")
PSDM_RESULT_RECORD(psdm_sampled, PSDM_SAMPLED)

#define PSDM_BOUND_RESULT(X, S)                                               \
  X(S, number, bound, , , "", "rigorous")                                     \
  X(S, number, found, , , "", "the largest (or smallest) value that was met") \
  X(S, numbers, q, , "[n]", "rad, m", "where")                                \
  X(S, numbers, qd, , "?[n]", "", "at which unit velocity")                   \
  X(S, pointer, samples, psdm_sampled, "?", "", "at random positions")
PSDM_RESULT_RECORD(psdm_bound_result, PSDM_BOUND_RESULT)

#define PSDM_BOUNDS_RESULT(X, S)                                                      \
  X(S, vector, k, 8, , "", "k0 ... k7")                                               \
  X(S, number, coriolis_square, , , "", "times |q|^2, added to k4 + k5 |q|")          \
  X(S, record, mass, psdm_bound_result, , "", "||M||")                                \
  X(S, record, mass_small, psdm_bound_result, , "", "smallest ||M||")                 \
  X(S, record, mass_least, psdm_bound_result, , "", "smallest eigenvalue of M")       \
  X(S, record, coriolis, psdm_bound_result, , "", "||S(q, qd)|| / |qd|")              \
  X(S, record, gravity, psdm_bound_result, , "", "|g|")                               \
  X(S, integer, samples, , "?", "", "random positions")                               \
  X(S, text, device, , "?=samples", "", "what sampled")                               \
  X(S, number, samples_seconds, , "?=samples", "s", "time of the samples")            \
  X(S, integer, beyond, , "?=samples", "", "samples that break a bound: none should") \
  X(S, number, seconds, , , "s", "time taken")
PSDM_RESULT_RECORD(psdm_bounds_result, PSDM_BOUNDS_RESULT)

#define PSDM_PATH_POINT(X, S)                                            \
  X(S, number, manipulability, , , "", "measure of the link's velocity") \
  X(S, number, t, , "?", "s", "time, where the file has it")             \
  X(S, numbers, q, , "[n]", "rad, m", "position")
PSDM_RESULT_RECORD(psdm_path_point, PSDM_PATH_POINT)

#define PSDM_PATH_RESULT(X, S)                                                     \
  X(S, integer, positions, , , "", "positions of the path")                        \
  X(S, text, link, , , "", "the link whose velocity is meant")                     \
  X(S, integer, dimensions, , , "", "that its velocity has somewhere on the path") \
  X(S, record, least, psdm_path_point, , "", "where manipulability is smallest")   \
  X(S, record, most, psdm_path_point, , "", "where it is largest")
PSDM_RESULT_RECORD(psdm_path_result, PSDM_PATH_RESULT)

#define PSDM_ANALYZE_RESULT(X, S)                                                                    \
  PSDM_RESULT_ROBOT(X, S, name)                                                                      \
  X(S, integer, n, , , "", "independent joints")                                                     \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are")                           \
  X(S, choice, masses, , "own|any", "", "structure for the robot's masses, or for any")              \
  X(S, records, M, psdm_structure_entry, "[n][n]", "", "entries of the mass matrix")                 \
  X(S, records, g, psdm_structure_entry, "[n]", "", "entries of the gravity torque")                 \
  X(S, integers, c, , "[][3]", "", "Coriolis terms that exist: joint, velocity, velocity, from 1")   \
  X(S, boolean, constant_mass, , , "", "M is constant")                                              \
  X(S, boolean, diagonal_mass, , , "", "M is diagonal")                                              \
  X(S, boolean, linear, , , "", "the dynamics are linear")                                           \
  X(S, record, conditions, psdm_conditions, , "", "what would make the robot simpler")               \
  X(S, pointer, bounds, psdm_bounds_result, "?", "", "bounds of M, the Coriolis matrix and gravity") \
  X(S, pointer, path, psdm_path_result, "?", "", "manipulability along a path")
PSDM_RESULT_DOCUMENT(psdm_analyze_result, PSDM_ANALYZE_RESULT)

/* ---- excite ---- */

#define PSDM_LIMITS_FROM(X, S)                                                                    \
  X(S, number, lower, , , "rad, m", "lowest position")                                            \
  X(S, number, upper, , , "rad, m", "highest position")                                           \
  X(S, number, velocity, , , "rad/s, m/s", "highest speed")                                       \
  X(S, number, acceleration, , , "rad/s^2, m/s^2", "highest acceleration")                        \
  X(S, number, effort, , , "Nm, N", "highest torque or force")                                    \
  X(S, choice, lower_from, , "option|file|default|none", "", "where the limit comes from")        \
  X(S, choice, upper_from, , "option|file|default|none", "", "where the limit comes from")        \
  X(S, choice, velocity_from, , "option|file|default|none", "", "where the limit comes from")     \
  X(S, choice, acceleration_from, , "option|file|default|none", "", "where the limit comes from") \
  X(S, choice, effort_from, , "option|file|default|none", "", "where the limit comes from")
PSDM_RESULT_RECORD(psdm_limits_from, PSDM_LIMITS_FROM)

#define PSDM_EXCITE_JOINT(X, S)                                                          \
  X(S, text, name, , , "", "its name")                                                   \
  X(S, choice, type, , "revolute|prismatic", "", "how it moves")                         \
  X(S, number, lower, , , "rad, m", "lowest position of the motion")                     \
  X(S, number, upper, , , "rad, m", "highest position of the motion")                    \
  X(S, number, velocity, , , "rad/s, m/s", "highest speed of the motion")                \
  X(S, number, acceleration, , , "rad/s^2, m/s^2", "highest acceleration of the motion") \
  X(S, number, effort, , , "Nm, N", "highest torque of the motion")                      \
  X(S, record, limits, psdm_limits_from, , "", "what they have to stay within")          \
  X(S, boolean, blind, , , "", "motor: gravity can never show a mass at this joint")
PSDM_RESULT_RECORD(psdm_excite_joint, PSDM_EXCITE_JOINT)

#define PSDM_VERIFIED(X, S)                                             \
  X(S, integer, points, , , "", "points at which limits were compared") \
  X(S, number, worst, , , "", "largest share of a limit")               \
  X(S, number, gap, , , "m", "smallest distance of links to each other and to obstacles")
PSDM_RESULT_RECORD(psdm_verified, PSDM_VERIFIED)

#define PSDM_EXCITE_VERIFIED(X, S)                                                      \
  X(S, record, motion, psdm_verified, , "", "the motion itself")                        \
  X(S, record, rows, psdm_verified, , "", "its rows as a robot would interpolate them") \
  X(S, pointer, file, psdm_verified, "?", "", "the file, read back")
PSDM_RESULT_RECORD(psdm_excite_verified, PSDM_EXCITE_VERIFIED)

#define PSDM_RANDOM_MOTIONS(X, S)                              \
  X(S, number, best, , , "", "the best of 100 random motions") \
  X(S, number, median, , , "", "their median")                 \
  X(S, number, plain_best, , , "", "the best, nothing scaled") \
  X(S, number, plain_median, , , "", "the median, nothing scaled")
PSDM_RESULT_RECORD(psdm_random_motions, PSDM_RANDOM_MOTIONS)

#define PSDM_EXCITE_PART_RESULT(X, S)                               \
  X(S, number, begin, , , "s", "its begin")                         \
  X(S, number, end, , , "s", "its end")                             \
  X(S, text, joint, , , "", "the joint that moves; null: all")      \
  X(S, integer, direction, , , "", "1, -1; 0: both")                \
  X(S, number, amplitude, , "?", "rad, m", "friction: of the sine") \
  X(S, number, frequency, , "?", "Hz", "friction: of the sine")
PSDM_RESULT_RECORD(psdm_excite_part_result, PSDM_EXCITE_PART_RESULT)

#define PSDM_EXCITE_RESULT(X, S)                                                                            \
  PSDM_RESULT_ROBOT(X, S, robot)                                                                            \
  X(S, integer, n, , , "", "independent joints")                                                            \
  X(S, settings, settings, , , "", "options that differ from their defaults")                               \
  X(S, choice, for_, , "motor|gravity|friction|inertia", "", "the step of a calibration")                   \
  X(S, number, seconds, , , "s", "length of the motion")                                                    \
  X(S, integer, rows, , , "", "rows of the file")                                                           \
  X(S, boolean, torques, , , "", "inertias are known: torques are within limits too")                       \
  X(S, boolean, friction, , , "", "with the file's friction")                                               \
  X(S, records, joints, psdm_excite_joint, "[n]", "", "what q1 ... qn are and do")                          \
  X(S, number, gap, , , "m", "smallest distance of links to each other and to obstacles")                   \
  X(S, number, worst, , , "", "largest share of a limit")                                                   \
  X(S, record, verified, psdm_excite_verified, , "", "how that is known")                                   \
  X(S, text, shape, , "?", "", "inertia: kind of motion")                                                   \
  X(S, text, goal, , "?=shape", "", "inertia: what was minimised")                                          \
  X(S, integer, parameters, , "?=shape", "", "inertia: columns that are told apart")                        \
  X(S, number, condition, , "?=shape", "", "inertia: condition number of the scaled regressor")             \
  X(S, number, condition_plain, , "?=shape", "", "inertia: the same, nothing scaled")                       \
  X(S, number, logdet, , "?=shape", "", "inertia: logarithm of the determinant")                            \
  X(S, pointer, random, psdm_random_motions, "?", "", "inertia: condition numbers of random motions")       \
  X(S, pointer, times_better, psdm_random_motions, "?", "", "inertia: those over this motion's")            \
  X(S, numbers, starts, , "?[starts]", "", "inertia: what each start of the search ended with")             \
  X(S, integer, evaluations, , "?=shape", "", "inertia: motions that were tried")                           \
  X(S, records, parts, psdm_excite_part_result, "?[]", "", "motor, gravity, friction: parts of the motion") \
  X(S, boolean, stopped, , , "", "the search was ended: the best so far")                                   \
  X(S, boolean, interrupted, , , "", "by an interrupt")                                                     \
  X(S, number, wall_seconds, , , "s", "time taken")                                                         \
  X(S, integer, saves, , , "", "how often the file was written")
PSDM_RESULT_DOCUMENT(psdm_excite_result, PSDM_EXCITE_RESULT)

/* ---- simulate ---- */

#define PSDM_FINAL_STATE(X, S)                                                                  \
  X(S, number, t, , , "s", "when")                                                              \
  X(S, numbers, q, , "[n]", "rad, m", "positions")                                              \
  X(S, numbers, qd, , "[n]", "rad/s, m/s", "velocities")                                        \
  X(S, numbers, qdd, , "[n]", "rad/s^2, m/s^2", "accelerations")                                \
  X(S, numbers, tau, , "[n]", "Nm, N", "torques of the motors")                                 \
  X(S, numbers, friction, , "?[n]", "Nm, N", "torques of friction")                             \
  X(S, numbers, z, , "?[n]", "rad, m", "LuGre friction: deflection of the bristles")            \
  X(S, numbers, theta, , "?[n]", "rad, m", "elastic joints: positions of the motors")           \
  X(S, numbers, thetad, , "?[n]", "rad/s, m/s", "elastic joints: velocities of the motors")     \
  X(S, numbers, passive, , "?[passive]", "rad, m", "closed loops: positions of passive joints") \
  X(S, named, control, , "?", "", "states of the controller")
PSDM_RESULT_RECORD(psdm_final_state, PSDM_FINAL_STATE)

#define PSDM_ENERGY_AUDIT(X, S)                                         \
  X(S, number, start, , , "J", "energy in all at the start")            \
  X(S, number, end, , , "J", "energy in all at the end")                \
  X(S, number, peak_kinetic, , , "J", "largest kinetic energy")         \
  X(S, number, kinetic, , , "J", "kinetic energy at the end")           \
  X(S, number, potential, , , "J", "gravity's at the end")              \
  X(S, number, elastic, , , "J", "springs' at the end")                 \
  X(S, number, bristles, , , "J", "bristles' at the end")               \
  X(S, number, supplied, , , "J", "supplied by motors since the start") \
  X(S, number, dissipated, , , "J", "dissipated since the start")       \
  X(S, number, external, , , "J", "work of the wrench since the start") \
  X(S, number, payload, , , "J", "by changes of load since the start")
PSDM_RESULT_RECORD(psdm_energy_audit, PSDM_ENERGY_AUDIT)

#define PSDM_TRACKING(X, S)                                                                        \
  X(S, numbers, rms, , "[n]", "rad, m", "root mean square error")                                  \
  X(S, numbers, rms_last_quarter, , "[n]", "rad, m", "the same over the last quarter of the time") \
  X(S, numbers, peak, , "[n]", "rad, m", "largest error")                                          \
  X(S, numbers, final, , "[n]", "rad, m", "error at the end")
PSDM_RESULT_RECORD(psdm_tracking, PSDM_TRACKING)

#define PSDM_SIMULATE_EVENTS(X, S)                            \
  X(S, integer, reversals, , , "", "changes of direction")    \
  X(S, integer, sticks, , , "", "times a joint came to rest") \
  X(S, integer, limits, , , "", "stops that were hit")
PSDM_RESULT_RECORD(psdm_simulate_events, PSDM_SIMULATE_EVENTS)

#define PSDM_SIMULATED_ROBOT(X, S)                                         \
  PSDM_RESULT_ROBOT(X, S, robot)                                           \
  X(S, integer, n, , , "", "independent joints")                           \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are") \
  X(S, settings, settings, , , "", "options that differ from their defaults")

#define PSDM_SIMULATE_RESULT(X, S)                                                                                  \
  PSDM_SIMULATED_ROBOT(X, S)                                                                                        \
  X(S, text, control, , , "", "the controller")                                                                     \
  X(S, choice, end, , "time|limit|stopped|timeout|diverged|failed", "", "why it ended")                             \
  X(S, text, end_text, , , "", "the same in a sentence")                                                            \
  X(S, number, time, , , "s", "simulated time")                                                                     \
  X(S, record, final_state, psdm_final_state, , "", "the state at the end")                                         \
  X(S, number, energy_drift, , , "", "largest change of the energy, of the peak kinetic energy")                    \
  X(S, number, energy_balance, , , "", "largest unaccounted energy, of the larger of peak kinetic energy and work") \
  X(S, record, energy, psdm_energy_audit, , "", "where all energy went")                                            \
  X(S, pointer, tracking, psdm_tracking, "?", "", "how well the controller followed the reference")                 \
  X(S, record, events, psdm_simulate_events, , "", "what happened how often")                                       \
  X(S, text, integrator, , , "", "integration method")                                                              \
  X(S, boolean, native, , , "", "with generated code, else with the recursions")                                    \
  X(S, text, code, , "?", "", "why not with generated code")                                                        \
  X(S, integer, steps, , , "", "steps of the integrator")                                                           \
  X(S, integer, evaluations, , , "", "evaluations of the accelerations")                                            \
  X(S, number, wall_seconds, , , "s", "time taken")                                                                 \
  X(S, number, speed, , , "", "simulated time over time taken")                                                     \
  X(S, integer, rows, , , "", "rows of the file")                                                                   \
  X(S, integer, log_rows, , , "", "rows of the log")
PSDM_RESULT_DOCUMENT(psdm_simulate_result, PSDM_SIMULATE_RESULT)

/* ---- simulate --inverse ---- */

#define PSDM_SIMULATE_INVERSE_RESULT(X, S)                          \
  PSDM_SIMULATED_ROBOT(X, S)                                        \
  X(S, number, begin, , , "s", "begin of the motion")               \
  X(S, number, end, , , "s", "its end")                             \
  X(S, integer, rows, , , "", "rows along the motion")              \
  X(S, integer, log_rows, , , "", "rows of the log")                \
  X(S, numbers, peak_speed, , "[n]", "rad/s, m/s", "largest speed") \
  X(S, numbers, peak_torque, , "[n]", "Nm, N", "largest torque")    \
  X(S, numbers, rms_torque, , "[n]", "Nm, N", "root mean square torque")
PSDM_RESULT_DOCUMENT(psdm_simulate_inverse_result, PSDM_SIMULATE_INVERSE_RESULT)

/* ---- plan ---- */

#define PSDM_PATH_PROFILE(X, S)                                \
  X(S, numbers, s, , "[points]", "", "how far along the path") \
  X(S, numbers, t, , "[points]", "s", "when")                  \
  X(S, numbers, speed, , "[points]", "1/s", "ds/dt")           \
  X(S, numbers, usage, , "[points]", "", "largest share of a limit")
PSDM_RESULT_RECORD(psdm_path_profile, PSDM_PATH_PROFILE)

#define PSDM_PLAN_RESULT(X, S)                                                                        \
  PSDM_RESULT_ROBOT(X, S, name)                                                                       \
  X(S, integer, n, , , "", "independent joints")                                                      \
  X(S, records, joints, psdm_named_joint, "[n]", "", "what q1 ... qn are, and the limits used")       \
  X(S, choice, what, , "time|energy|scale", "", "what was planned")                                   \
  X(S, number, seconds, , , "s", "length of the motion")                                              \
  X(S, number, energy, , , "N^2 m^2 s", "integral of the squared torques")                            \
  X(S, number, limit_used, , , "", "largest share of a limit")                                        \
  X(S, numbers, peak_velocity, , "[n]", "rad/s, m/s", "largest speed")                                \
  X(S, numbers, peak_acceleration, , "[n]", "rad/s^2, m/s^2", "largest acceleration")                 \
  X(S, numbers, peak_torque, , "[n]", "Nm, N", "largest torque")                                      \
  X(S, number, factor, , "?=limited_by", "", "scale: how many times as quick")                        \
  X(S, text, limited_by, , "?", "", "scale: which limit ends it")                                     \
  X(S, integer, limited_joint, , "?=limited_by", "", "scale: of which joint, from 1")                 \
  X(S, number, recomputed, , "?=limited_by", "", "scale: largest difference to recomputed torques")   \
  X(S, integer, points, , "?=path", "", "points of the path")                                         \
  X(S, pointer, path, psdm_path_profile, "?", "", "at most 500 of them")                              \
  X(S, boolean, converged, , "?=solver", "", "optimal motions: the solver is satisfied")              \
  X(S, boolean, stopped, , "?=solver", "", "optimal motions: interrupted")                            \
  X(S, text, solver, , "?", "", "optimal motions: the solver's message")                              \
  X(S, integer, iterations, , "?=solver", "", "optimal motions: its iterations")                      \
  X(S, number, wall, , "?=solver", "s", "optimal motions: time taken")                                \
  X(S, number, infeasibility, , "?=solver", "", "optimal motions: largest violation")                 \
  X(S, number, guess_seconds, , "?=solver", "s", "optimal motions: length of the first guess")        \
  X(S, number, guess_energy, , "?=solver", "N^2 m^2 s", "optimal motions: energy of the first guess") \
  X(S, integer, rows, , , "", "rows of the file")                                                     \
  X(S, settings, settings, , , "", "options that differ from their defaults")
PSDM_RESULT_DOCUMENT(psdm_plan_result, PSDM_PLAN_RESULT)

/* ---- eval ---- */

#define PSDM_EVAL_RESULT(X, S)                                                \
  PSDM_RESULT_ROBOT(X, S, robot)                                              \
  X(S, text, function, , , "", "the function")                                \
  X(S, settings, settings, , , "", "options that differ from their defaults") \
  X(S, texts, columns, , "[columns]", "", "names of its numbers")             \
  X(S, numbers, rows, , "[rows][columns]", "", "the numbers, one row for each state")
PSDM_RESULT_DOCUMENT(psdm_eval_result, PSDM_EVAL_RESULT)

#ifdef __cplusplus
}
#endif
#endif
