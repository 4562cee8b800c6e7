/* documents.c: the document types of a calibration. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_fit_numbers, PSDM_FIT_NUMBERS, NULL, "How well torques of a joint are predicted")
PSDM_RESULT_TYPE(psdm_named_fit, PSDM_NAMED_FIT, NULL, "How well torques of a joint are predicted")
PSDM_RESULT_TYPE(psdm_fit_part, PSDM_FIT_PART, NULL, "How well torques are predicted")
PSDM_RESULT_TYPE(psdm_fit_set, PSDM_FIT_SET, NULL, "How well torques are predicted, by kinds of rows")
PSDM_RESULT_TYPE(psdm_fitted_parameter, PSDM_FITTED_PARAMETER, NULL, "A base parameter from logs")
PSDM_RESULT_TYPE(psdm_friction_column, PSDM_FRICTION_COLUMN, NULL, "A column of a drive's friction")
PSDM_RESULT_TYPE(psdm_nearest_friction, PSDM_NEAREST_FRICTION, NULL, "Friction in three numbers")
PSDM_RESULT_TYPE(psdm_fitted_friction, PSDM_FITTED_FRICTION, NULL, "Friction of a drive")
PSDM_RESULT_TYPE(psdm_calibrate_choices, PSDM_CALIBRATE_CHOICES, NULL, "What was chosen")
PSDM_RESULT_TYPE(psdm_fault_counts, PSDM_FAULT_COUNTS, NULL, "Faults of logs, counted")
PSDM_RESULT_TYPE(psdm_fold, PSDM_FOLD, NULL, "One part of the cross-validation")
PSDM_RESULT_TYPE(psdm_compared_fit, PSDM_COMPARED_FIT, NULL, "Errors of two answers on the same rows")
PSDM_RESULT_TYPE(psdm_compared_parameter, PSDM_COMPARED_PARAMETER, NULL, "A base parameter and its earlier value")
PSDM_RESULT_TYPE(psdm_comparison, PSDM_COMPARISON, NULL, "This answer compared with an earlier one")
PSDM_RESULT_TYPE(psdm_found, PSDM_FOUND, NULL, "A rule that is not met")
PSDM_RESULT_TYPE(psdm_calibrate_verdict, PSDM_CALIBRATE_VERDICT, NULL, "How good the answer is")
PSDM_RESULT_TYPE(psdm_calibrate_result, PSDM_CALIBRATE_RESULT, "calibrate",
                 "Inertias and friction from logs, in one go")
