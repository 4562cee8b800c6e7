/* memory.h: the caller's tables, under names used instead of file names. Private to the library. */
#ifndef PSDMP_TABLE_MEMORY_H
#define PSDMP_TABLE_MEMORY_H

#include "base/base.h"

typedef struct psdmp_table_memory {
  struct psdmp_table_memory *next;
  const char *path, *label; /* "memory:3/log"; "log" */
  long rows;
  int columns;
  char **names;
  double *values; /* (rows x columns) row-major */
} psdmp_table_memory;

/* Copies columns of `rows` numbers each, stride[k] apart, and fills path with the name by which every reader of tables
 * finds them until psdmp_table_drop. Thread-safe. */
psdm_status psdmp_table_put(const char *label, long rows, int columns, const char *const *names,
                            const double *const *column, const long *stride, char *path, size_t size,
                            psdm_error *error);
void psdmp_table_drop(const char *path);
const psdmp_table_memory *psdmp_table_find(const char *path); /* NULL: path is a file's */

#endif
