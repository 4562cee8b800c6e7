/* documents.c: the types of generated code as a document. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_coded_function, PSDM_CODED_FUNCTION, NULL, "A generated function")
PSDM_RESULT_TYPE(psdm_codegen_result, PSDM_CODEGEN_RESULT, "codegen", "Generated code")
