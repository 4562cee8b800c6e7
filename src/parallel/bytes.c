/* bytes.c: numbers as bytes, for messages and files; lack of memory and reads past the end are remembered until the
 * end. */
#include <string.h>

#include "parallel/parallel.h"

bool psdmp_parallel_bytes_room(psdmp_parallel_bytes *b, size_t count) {
  if (b->failed) return false;
  if (b->room - b->used >= count) return true;
  size_t room = b->room ? b->room : 256;
  while (room - b->used < count && room < SIZE_MAX / 2) room *= 2;
  unsigned char *bigger = psdmp_base_alloc_raw(b->allocator, room);
  b->failed = !bigger || room - b->used < count;
  if (b->failed) return psdmp_base_free(b->allocator, bigger), false;
  if (b->used) memcpy(bigger, b->data, b->used);
  psdmp_base_free(b->allocator, b->data);
  b->data = bigger;
  b->room = room;
  return true;
}

void psdmp_parallel_bytes_put(psdmp_parallel_bytes *b, const void *data, size_t count) {
  if (!count || !psdmp_parallel_bytes_room(b, count)) return;
  memcpy(b->data + b->used, data, count);
  b->used += count;
}

void psdmp_parallel_bytes_get(psdmp_parallel_bytes *b, void *data, size_t count) {
  if (b->used - b->at < count) b->failed = true;
  if (b->failed) {
    if (count) memset(data, 0, count);
    return;
  }
  if (count) memcpy(data, b->data + b->at, count);
  b->at += count;
}

long psdmp_parallel_bytes_count(psdmp_parallel_bytes *b, size_t element) {
  long count;
  PSDMP_PARALLEL_GET(b, count);
  if (!b->failed && count >= 0 && (size_t)count <= (b->used - b->at) / (element ? element : 1)) return count;
  b->failed = true;
  return -1;
}

void psdmp_parallel_bytes_free(psdmp_parallel_bytes *b) {
  psdmp_base_free(b->allocator, b->data);
  *b = (psdmp_parallel_bytes){.allocator = b->allocator};
}
