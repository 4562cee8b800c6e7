/* documents.c: the document types of structure and bounds. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_structure_entry, PSDM_STRUCTURE_ENTRY, NULL, "An entry of a matrix or vector")
PSDM_RESULT_TYPE(psdm_conditions, PSDM_CONDITIONS, NULL, "Conditions on masses, as sentences")
PSDM_RESULT_TYPE(psdm_sampled, PSDM_SAMPLED, NULL, "Values at random positions")
PSDM_RESULT_TYPE(psdm_bound_result, PSDM_BOUND_RESULT, NULL, "A bound")
PSDM_RESULT_TYPE(psdm_bounds_result, PSDM_BOUNDS_RESULT, NULL, "Bounds of the dynamics")
PSDM_RESULT_TYPE(psdm_path_point, PSDM_PATH_POINT, NULL, "A position of the path")
PSDM_RESULT_TYPE(psdm_path_result, PSDM_PATH_RESULT, NULL, "Manipulability along a path")
PSDM_RESULT_TYPE(psdm_analyze_result, PSDM_ANALYZE_RESULT, "analyze", "What M, c and g depend on, and bounds")
