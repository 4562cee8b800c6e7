/* fenced.c: the size in front of a piece, a fence behind it. */
#include "fenced.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__

void counting_fenced_init(counting *c, long fail_at) { counting_init(c, fail_at); } /* which sees reads too */

#else

enum { FENCE = 16, PATTERN = 0xA5 };

static void *fence_allocate(void *user, size_t bytes) {
  counting *c = user;
  if (++c->calls == c->fail_at) return NULL;
  unsigned char *piece = malloc(bytes + 2 * FENCE);
  if (!piece) return NULL;
  c->live++;
  memcpy(piece, &bytes, sizeof bytes);
  memset(piece + FENCE, PATTERN, bytes + FENCE);
  return piece + FENCE;
}

static void fence_release(void *user, void *memory) {
  counting *c = user;
  if (!memory) return;
  unsigned char *piece = (unsigned char *)memory - FENCE;
  size_t bytes;
  memcpy(&bytes, piece, sizeof bytes);
  for (int i = 0; i < FENCE; i++)
    if (piece[FENCE + bytes + (size_t)i] != PATTERN) fail_msg("a piece of %zu bytes was written to behind its end", bytes);
  c->live--;
  free(piece);
}

void counting_fenced_init(counting *c, long fail_at) { *c = (counting){{fence_allocate, fence_release, c}, 0, 0, fail_at}; }

#endif
