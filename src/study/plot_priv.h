/* plot_priv.h: figures as gnuplot scripts with their data inside, and as SVG where gnuplot is installed. */
#ifndef PSDMP_STUDY_PLOT_PRIV_H
#define PSDMP_STUDY_PLOT_PRIV_H

#include "study/study.h"

/* A script DIRECTORY/NAME.gp that draws NAME.svg, size as gnuplot wants it ("720,400"), and its end: gnuplot is run;
 * where it could not be, a warning says so, and the answer is not good. */
psdm_status psdmp_study_plot_open(const psdm_job *job, const char *directory, const char *name, const char *size,
                                  psdm_output **out);
psdm_status psdmp_study_plot_close(psdm_job *job, const char *directory, const char *name, psdm_output **out);
void psdmp_study_plot_number(psdm_output *out, double x); /* behind a blank; NaN where there is none */
const char *psdmp_study_plot_quotable(const char *name);  /* "robot" where a quote would end gnuplot's text */

#endif
