/* trouble.h: calls of the system fail at every place that makes them (the linker's --wrap), once for each stack of
 * calls that leads to them: files, folders, processes, loaded objects. */
#ifndef TROUBLE_H
#define TROUBLE_H

#include "strike.h"

/* strike_everywhere with system calls that fail by EIO. The answer must be PSDM_E_IO, one of more (PSDM_OK behind
 * the last, may be NULL), or PSDM_OK with what was asked for, which the attempt itself looks at. Then once more with
 * reads, writes and waits that a signal interrupts: the answer must be PSDM_OK. */
long trouble_everywhere(const char *name, strike_attempt attempt, const void *what, const psdm_status *more);

#endif
