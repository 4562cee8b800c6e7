/* documents.c: the types of a function at many states as a document. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_eval_result, PSDM_EVAL_RESULT, "eval", "A function at many states")
