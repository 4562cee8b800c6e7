/* documents.c: the document types of a planned motion. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_path_profile, PSDM_PATH_PROFILE, NULL, "The path parameter along a path")
PSDM_RESULT_TYPE(psdm_plan_result, PSDM_PLAN_RESULT, "plan", "A motion, or a path in time")
