/* documents.c: the document types of measured code. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_timed_code, PSDM_TIMED_CODE, NULL, "Generated code, measured")
PSDM_RESULT_TYPE(psdm_timed_function, PSDM_TIMED_FUNCTION, NULL, "A function, measured")
PSDM_RESULT_TYPE(psdm_baseline, PSDM_BASELINE, NULL, "What is compared with")
PSDM_RESULT_TYPE(psdm_bench_result, PSDM_BENCH_RESULT, "bench", "Operations and times of generated code")
