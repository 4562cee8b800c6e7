/* known.c: the types of all documents. */
#include "psdm/results.h"

const psdm_result_type *const psdm_results[] = {&psdm_inspect_result_type,
                                                &psdm_derive_result_type,
                                                &psdm_params_result_type,
                                                &psdm_calibrate_result_type,
                                                &psdm_calibrate_steps_result_type,
                                                &psdm_payload_result_type,
                                                &psdm_codegen_result_type,
                                                &psdm_reduce_result_type,
                                                &psdm_linearize_result_type,
                                                &psdm_analyze_result_type,
                                                &psdm_bench_result_type,
                                                &psdm_excite_result_type,
                                                &psdm_simulate_result_type,
                                                &psdm_simulate_inverse_result_type,
                                                &psdm_plan_result_type,
                                                &psdm_eval_result_type,
                                                NULL};
