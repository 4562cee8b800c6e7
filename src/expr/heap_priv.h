/* heap_priv.h: a binary heap of numbers, the least on top. Private to the room. */
#ifndef PSDMP_EXPR_HEAP_H
#define PSDMP_EXPR_HEAP_H

#include <stdint.h>

/* key has room for one more */
static inline void psdmp_expr_heap_push(uint64_t *key, uint32_t *size, uint64_t fresh) {
  uint32_t at = (*size)++;
  for (; at && key[(at - 1) / 2] > fresh; at = (at - 1) / 2) key[at] = key[(at - 1) / 2];
  key[at] = fresh;
}

static inline uint64_t psdmp_expr_heap_pop(uint64_t *key, uint32_t *size) {
  uint64_t top = key[0], last = key[--*size];
  uint32_t at = 0;
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= *size) break;
    if (child + 1 < *size && key[child + 1] < key[child]) child++;
    if (key[child] >= last) break;
    key[at] = key[child];
    at = child;
  }
  key[at] = last;
  return top;
}

#endif
