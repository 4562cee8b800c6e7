/* documents.c: the document types of a simulation. */
#include "psdm/results.h"

PSDM_RESULT_TYPE(psdm_final_state, PSDM_FINAL_STATE, NULL, "The state at the end")
PSDM_RESULT_TYPE(psdm_energy_audit, PSDM_ENERGY_AUDIT, NULL, "Where all energy went")
PSDM_RESULT_TYPE(psdm_tracking, PSDM_TRACKING, NULL, "Errors of a controller")
PSDM_RESULT_TYPE(psdm_simulate_events, PSDM_SIMULATE_EVENTS, NULL, "Events of a simulation")
PSDM_RESULT_TYPE(psdm_simulate_result, PSDM_SIMULATE_RESULT, "simulate", "A robot in motion")
PSDM_RESULT_TYPE(psdm_simulate_inverse_result, PSDM_SIMULATE_INVERSE_RESULT, "simulate",
                 "Torques along a motion, with `inverse`")
