/* psdm/results.h: the answers of the library as documents (psdm/result.h), one list of fields each.
 *
 *   psdm_derive_result *answer;
 *   psdm_derive_result_new(robot, model, &options, &info, states, NULL, &answer, &error);
 *   psdm_result_write_json(&answer->head, output);
 *   psdm_result_free(&answer->head);
 *
 * docs/results.md and the JSON Schema files in share/psdm/schema are made of these lists. */
#ifndef PSDM_RESULTS_H
#define PSDM_RESULTS_H

#include "psdm/params.h"
#include "psdm/result.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All documents; NULL comes last. */
PSDM_API extern const psdm_result_type *const psdm_results[];

/* Copies what PSDM_RESULT_ROBOT names. */
PSDM_API void psdm_result_name_robot(psdm_result *result, const psdm_robot *robot, const char **name,
                                     const char **fingerprint);

/* ---- derive ---- */

#define PSDM_CLASS_SIZES(X, S)                                                         \
  X(S, integer, gravity, , , "", "times gravity")                                      \
  X(S, integers, acceleration, , "[n]", "", "times the acceleration of each joint")    \
  X(S, integers, centrifugal, , "[n]", "", "times the squared velocity of each joint") \
  X(S, integer, coriolis, , , "", "times a product of two velocities")
PSDM_RESULT_RECORD(psdm_class_sizes, PSDM_CLASS_SIZES)

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
  X(S, number, dropped, , , "", "largest coefficient taken for zero, relative to the reach")                   \
  X(S, number, kept, , , "", "smallest coefficient taken for non-zero")                                        \
  X(S, number, rank_dropped, , , "", "the same of the rank decisions: largest that counts as zero")            \
  X(S, number, rank_kept, , , "", "smallest that counts")                                                      \
  X(S, integer, searched, , "?", "", "dense: functions in all systems that were solved")
PSDM_RESULT_DOCUMENT(psdm_derive_result, PSDM_DERIVE_RESULT)

/* info: with the residual of psdm_model_check over so many states. Allocates; options may be NULL. */
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

/* Of a derived model, with formulas where symbolic is not NULL; or of sampled parameters, which were found with
 * these options, with those of least norm where minimal. One of model and params is NULL. Allocates. */
PSDM_API psdm_status psdm_params_result_new(const psdm_robot *robot, const psdm_model *model,
                                            const psdm_symbolic *symbolic, const psdm_params *params,
                                            const psdm_params_options *options, bool minimal,
                                            const psdm_allocator *allocator, psdm_params_result **result,
                                            psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
