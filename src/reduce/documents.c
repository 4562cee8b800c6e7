/* documents.c: the types of a reduced model as a document. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_operations, PSDM_OPERATIONS, NULL, "Operations of generated code")
PSDM_RESULT_TYPE(psdm_reduced_cell, PSDM_REDUCED_CELL, NULL, "A cell of the table")
PSDM_RESULT_TYPE(psdm_contributions, PSDM_CONTRIBUTIONS, NULL, "Functions by what they contribute, in bins")
PSDM_RESULT_TYPE(psdm_reduced_size, PSDM_REDUCED_SIZE, NULL, "A reduced model of some size")
PSDM_RESULT_TYPE(psdm_reduced_figure, PSDM_REDUCED_FIGURE, NULL, "One profile of motion")
PSDM_RESULT_TYPE(psdm_reduce_result, PSDM_REDUCE_RESULT, "reduce", "A smaller model and its error")
