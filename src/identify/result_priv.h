/* result_priv.h: the result of a calibration. Private to the library. */
#ifndef PSDMP_IDENTIFY_RESULT_H
#define PSDMP_IDENTIFY_RESULT_H

#include "identify/identify.h"

/* Fits with the chosen columns, evaluates, computes the uncertainty. Takes the run over on success. */
psdm_status psdmp_identify_result_make(psdmp_identify_run *run, psdm_calibration **out, psdm_error *error);

/* needs the rows of the log, not only their factors */
bool psdmp_identify_result_walks(psdm_estimator estimator);
void psdmp_identify_run_free(psdmp_identify_run *run);

#endif
