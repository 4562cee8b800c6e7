/* documents.c: the document types of a calibration step by step. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_step_joint, PSDM_STEP_JOINT, NULL, "One joint in one step")
PSDM_RESULT_TYPE(psdm_step_result, PSDM_STEP_RESULT, NULL, "One step")
PSDM_RESULT_TYPE(psdm_step_results, PSDM_STEP_RESULTS, NULL, "The four steps")
PSDM_RESULT_TYPE(psdm_step_parameter, PSDM_STEP_PARAMETER, NULL, "A base parameter from logs")
PSDM_RESULT_TYPE(psdm_lugre_numbers, PSDM_LUGRE_NUMBERS, NULL, "Friction of a drive in eight numbers")
PSDM_RESULT_TYPE(psdm_step_friction_result, PSDM_STEP_FRICTION_RESULT, NULL, "Friction of a drive")
PSDM_RESULT_TYPE(psdm_step_log, PSDM_STEP_LOG, NULL, "A log")
PSDM_RESULT_TYPE(psdm_steps_verdict, PSDM_STEPS_VERDICT, NULL, "How good the answer is")
PSDM_RESULT_TYPE(psdm_calibrate_steps_result, PSDM_CALIBRATE_STEPS_RESULT, "calibrate",
                 "Inertias and friction from logs, step by step")
