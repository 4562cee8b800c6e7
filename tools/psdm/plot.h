/* plot.h: the folder of a reduced model. */
#ifndef PLOT_H
#define PLOT_H

/* Makes a directory; its parents must be there. Returns -1 to go on, else an exit code. */
int plot_directory(const char *directory);

#endif
