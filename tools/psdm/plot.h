/* plot.h: figures as gnuplot scripts with their data inside, and as SVG where gnuplot is installed. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>

#include "psdm/psdm.h"

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
