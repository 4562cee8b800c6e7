/* documents.c: the document types of a load. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_inertia_pairs, PSDM_INERTIA_PAIRS, NULL, "A matrix of inertia")
PSDM_RESULT_TYPE(psdm_load_result, PSDM_LOAD_RESULT, NULL, "A load at the flange")
PSDM_RESULT_TYPE(psdm_loaded_parameter, PSDM_LOADED_PARAMETER, NULL, "A base parameter without and with the load")
PSDM_RESULT_TYPE(psdm_payload_verdict, PSDM_PAYLOAD_VERDICT, NULL, "How good the answer is")
PSDM_RESULT_TYPE(psdm_payload_result, PSDM_PAYLOAD_RESULT, "payload", "What a calibrated robot carries")
