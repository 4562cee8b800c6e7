/* reduce_plot.h: the figures of psdm reduce, as gnuplot scripts with their data inside, and as SVG where gnuplot is
 * there. */
#ifndef REDUCE_PLOT_H
#define REDUCE_PLOT_H

#include "reduce_figures.h"

/* figure2 and figure7 (.gp, .svg) in a directory. Returns -1 to go on, else an exit code. */
int plot_reduction(const char *directory, const char *robot, const figure_profile *profiles, int count,
                   double recursion);

/* Makes a directory; its parents must be there. Returns -1 to go on, else an exit code. */
int plot_directory(const char *directory);

/* A script DIRECTORY/NAME.gp that draws NAME.svg, size as gnuplot wants it ("720,400"), and its end: gnuplot is run,
 * or a warning says that it could not be. Return -1 to go on, else an exit code. */
int plot_open(const char *command, const char *directory, const char *name, const char *size, psdm_output **out);
int plot_close(const char *directory, const char *name, psdm_output **out);
/* a picture could not be drawn, which makes an answer EXIT_QUALITY */
bool plot_lacks(void);
void plot_number(psdm_output *out, double x); /* behind a blank; NaN where there is none */
const char *plot_quotable(const char *name);  /* "robot" where a quote would end gnuplot's text */

#endif
