/* unsolved.h: LAPACK gives up at every place that calls it (the linker's --wrap), once for each stack of calls that
 * leads to it. */
#ifndef UNSOLVED_H
#define UNSOLVED_H

#include "strike.h"

/* strike_everywhere with routines that do not converge or meet a singular matrix: the answer must say so, and never
 * that memory is short. */
long unsolved_everywhere(const char *name, strike_attempt attempt, const void *what);

/* The same for what has another way: PSDM_OK is an answer as well, with what was asked for, which the attempt itself
 * looks at. */
long unsolved_tolerated(const char *name, strike_attempt attempt, const void *what);

#endif
