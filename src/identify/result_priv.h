/* result_priv.h: the answer of a calibration. Private to the library. */
#ifndef PSDMP_RESULT_H
#define PSDMP_RESULT_H

#include "identify/identify.h"

/* Fits with the chosen columns, evaluates, states the doubt. Takes the run over when it succeeds. */
psdm_status psdmp_result_make(psdmp_run *run, psdm_calibration **out, psdm_error *error);

bool psdmp_result_walks(psdm_estimator estimator); /* goes through the rows of the log, not only through their factors */
void psdmp_run_free(psdmp_run *run);

#endif
