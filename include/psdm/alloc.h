/* psdm/alloc.h: the allocator is an argument, not a global.
 *
 * Functions that need memory take a nullable const psdm_allocator *; NULL means malloc and free.
 * The struct must outlive every object made with it. */
#ifndef PSDM_ALLOC_H
#define PSDM_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_allocator {
  void *(*allocate)(void *user, size_t bytes); /* NULL on failure; aligned like malloc */
  void (*release)(void *user, void *memory);   /* accepts NULL */
  void *user;                                  /* passed to both */
} psdm_allocator;

#ifdef __cplusplus
}
#endif
#endif
