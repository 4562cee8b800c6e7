/* fenced_new.h: one piece of memory with a fence, as fenced.h describes it. */
#ifndef FENCED_NEW_H
#define FENCED_NEW_H

#include <stddef.h>
#include <stdlib.h>

void *fenced_new(size_t bytes);
void fenced_free(void *memory);

#endif
