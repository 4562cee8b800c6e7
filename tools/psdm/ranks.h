/* ranks.h: the tool as one of several ranks, started by mpirun or srun. */
#ifndef TOOL_RANKS_H
#define TOOL_RANKS_H

#include "psdm/ranks.h"

/* Before and after the command. ranks_begin returns -1 to go on, else the exit code; ranks_end returns the exit code.
 * Ranks other than 0 print nothing: rank 0 reports their failures. */
int ranks_begin(const char *command);
int ranks_end(int code);

psdm_ranks *ranks_all(void); /* NULL: alone */
bool ranks_helper(void);     /* not rank 0: its results go to rank 0, and it writes nothing */

#endif
