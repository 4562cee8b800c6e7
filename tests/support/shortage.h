/* shortage.h: memory runs out at every place that asks for it. Arenas hand out pieces of chunks, so an allocator
 * that fails reaches few of their callers; here the library's own functions fail (the linker's --wrap), once for
 * each stack of calls that leads to them. */
#ifndef SHORTAGE_H
#define SHORTAGE_H

#include "strike.h"

/* strike_everywhere with memory that runs out: the answer must be PSDM_E_MEMORY. */
long shortage_everywhere(const char *name, strike_attempt attempt, const void *what);

/* The same for what may do without some memory: PSDM_OK is an answer as well. */
long shortage_tolerated(const char *name, strike_attempt attempt, const void *what);

/* Opens an output to /dev/null, commits it, and answers what the commit did: for writers that only say so there. */
psdm_status shortage_write(void (*write)(psdm_output *output, const void *what), const void *what,
                           const psdm_allocator *allocator, psdm_error *error);

#endif
