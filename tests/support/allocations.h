/* allocations.h: malloc and its kin, wrapped by the linker (--wrap) and counted. Part of one program at a time. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stddef.h>

static long allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes) {
  allocations++;
  return __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  allocations++;
  return __real_calloc(count, bytes);
}
void *__wrap_realloc(void *memory, size_t bytes) {
  allocations++;
  return __real_realloc(memory, bytes);
}

#endif
