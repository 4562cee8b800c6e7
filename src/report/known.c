/* known.c: the types of all documents. */
#include "psdm/results.h"

const psdm_result_type *const psdm_results[] = {&psdm_derive_result_type, &psdm_params_result_type, NULL};
