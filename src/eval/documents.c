/* documents.c: the document type of a function at many states. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_eval_result, PSDM_EVAL_RESULT, "eval", "A function at many states")
