/* fenced.h: an allocator that counts and fails as support.h's does, and notices writing behind the end of a piece. */
#ifndef FENCED_H
#define FENCED_H

#include "support.h"

/* Memory is no zeros but NAN. To read or write behind the end of a piece, rounded to 16 bytes, ends the program; a piece written to within these fails when it is released. */
void counting_fenced_init(counting *c, long fail_at);

/* One such piece. */
void *fenced_new(size_t bytes);
void fenced_free(void *memory);

#endif
