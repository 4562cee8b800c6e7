/* signal_priv.h: a table of columns over time. Private to the library. */
#ifndef PSDMP_MOTION_SIGNAL_PRIV_H
#define PSDMP_MOTION_SIGNAL_PRIV_H

#include "motion/motion_priv.h"

struct psdm_signal {
  psdmp_base_arena arena; /* owns this struct and everything below */
  int columns;
  long rows;
  bool held;
  double *t, *values; /* (rows), (rows x columns) */
};

/* An empty table; NULL when out of memory. */
psdm_signal *psdmp_motion_signal_new(int columns, long rows, bool held, const psdm_allocator *allocator);

#endif
