/* documents.c: the document types of a motion for calibration. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_limits_from, PSDM_LIMITS_FROM, NULL, "Limits of a joint and where they come from; null: none")
PSDM_RESULT_TYPE(psdm_excite_joint, PSDM_EXCITE_JOINT, NULL, "A joint in the motion")
PSDM_RESULT_TYPE(psdm_verified, PSDM_VERIFIED, NULL, "Limits, compared on a fine grid")
PSDM_RESULT_TYPE(psdm_excite_verified, PSDM_EXCITE_VERIFIED, NULL, "Limits, compared three times")
PSDM_RESULT_TYPE(psdm_random_motions, PSDM_RANDOM_MOTIONS, NULL,
                 "Condition numbers of random motions within the same limits, or their ratio")
PSDM_RESULT_TYPE(psdm_excite_part_result, PSDM_EXCITE_PART_RESULT, NULL, "A part of the motion")
PSDM_RESULT_TYPE(psdm_excite_result, PSDM_EXCITE_RESULT, "excite", "A motion that tells parameters apart")
