/* leave.h: the end of a process that a test forked: nothing is flushed twice, and what it covered still counts. */
#ifndef LEAVE_H
#define LEAVE_H

#include <unistd.h>

#ifdef PSDM_COVERAGE
void __gcov_dump(void);
#endif

static inline _Noreturn void leave(int code) {
#ifdef PSDM_COVERAGE
  __gcov_dump(); /* _exit would lose it */
#endif
  _exit(code);
}

#endif
