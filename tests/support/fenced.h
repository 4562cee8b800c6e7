/* fenced.h: an allocator that counts and fails as support.h's does, and notices writing behind the end of a piece;
 * fenced_new.h has one piece. */
#ifndef FENCED_H
#define FENCED_H

#include "fenced_new.h"
#include "support.h"

/* Memory is no zeros but NAN. To read or write behind the end of a piece, rounded to 16 bytes, ends the program; a
 * piece written to within these fails when it is released. */
void counting_fenced_init(counting *c, long fail_at);

#endif
