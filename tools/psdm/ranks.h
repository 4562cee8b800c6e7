/* ranks.h: the tool among others of its kind, started by mpirun or srun. */
#ifndef TOOL_RANKS_H
#define TOOL_RANKS_H

#include "psdm/ranks.h"

/* Before and behind the command. ranks_begin returns -1 to go on, else the exit code; ranks_end returns the exit
 * code. Ranks other than 0 say nothing themselves: what they would have said is rank 0's failure where it matters. */
int ranks_begin(const char *command);
int ranks_end(int code);

psdm_ranks *ranks_all(void); /* NULL: alone */
bool ranks_helper(void);     /* another rank than 0: what it computes is rank 0's, and it writes nothing */

#endif
