/* fenced.h: an allocator that counts and fails as support.h's does, and notices writing behind the end of a piece. */
#ifndef FENCED_H
#define FENCED_H

#include "support.h"

/* Memory is no zeros, and the test fails when a piece that was written to behind its end is released. */
void counting_fenced_init(counting *c, long fail_at);

#endif
