/* psdm/predictor.h: torques along a motion from calibrated parameters, friction with its memory included. */
#ifndef PSDM_PREDICTOR_H
#define PSDM_PREDICTOR_H

#include "psdm/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_predictor psdm_predictor;

/* The parameters and the robot must outlive it. Allocates; free with psdm_predictor_free. */
PSDM_API psdm_status psdm_predictor_new(const psdm_parameters *parameters, const psdm_robot *robot,
                                        const psdm_allocator *allocator, psdm_predictor **predictor, psdm_error *error);
PSDM_API void psdm_predictor_free(psdm_predictor *predictor);  /* accepts NULL */
PSDM_API void psdm_predictor_begin(psdm_predictor *predictor); /* a new segment: resets friction */
/* Hz of the coming rows, for bristles (LuGre); initially the parameters' rate */
PSDM_API void psdm_predictor_rate(psdm_predictor *predictor, double rate);

/* Joint torques (n) at the next row, and the friction in them (nullable). Does not allocate. */
PSDM_API psdm_status psdm_predictor_step(psdm_predictor *predictor, const double *q, const double *qd,
                                         const double *qdd, double *tau, double *friction);

#ifdef __cplusplus
}
#endif
#endif
