/* memory.c: tables in memory, found by name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static psdmp_table_memory *first;
static long made;

static void free_table(psdmp_table_memory *table) {
  for (int c = 0; c < table->columns && table->names; c++) free(table->names[c]);
  free(table->names);
  free(table->values);
  free((char *)table->path);
  free(table);
}

static char *copy_of(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

static bool fill(psdmp_table_memory *table, const char *const *names, const double *const *column, const long *stride) {
  table->names = calloc((size_t)table->columns, sizeof *table->names);
  table->values = malloc(sizeof *table->values * (size_t)table->rows * (size_t)table->columns + 1);
  if (!table->names || !table->values) return false;
  for (int c = 0; c < table->columns; c++) {
    if (!(table->names[c] = copy_of(names[c]))) return false;
    for (long r = 0; r < table->rows; r++) table->values[r * table->columns + c] = column[c][r * stride[c]];
  }
  return true;
}

psdm_status psdmp_table_put(const char *label, long rows, int columns, const char *const *names,
                            const double *const *column, const long *stride, char *path, size_t size,
                            psdm_error *error) {
  if (rows < 0 || columns < 1)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, label, 0, 0, "a table has at least one column");
  for (int c = 0; c < columns; c++)
    for (int k = 0; k < c; k++)
      if (strcmp(names[c], names[k]) == 0)
        return psdmp_base_fail(error, PSDM_E_PARSE, label, 0, 0, "columns %d and %d are both named '%.60s'", k + 1,
                               c + 1, names[c]);
  psdmp_table_memory *table = calloc(1, sizeof *table);
  if (!table) return psdmp_base_fail_status(error, PSDM_E_MEMORY);
  table->rows = rows;
  table->columns = columns;
  bool filled = fill(table, names, column, stride);
  pthread_mutex_lock(&guard);
  snprintf(path, size, "memory:%ld/%s", ++made, label);
  table->path = copy_of(path);
  if (filled && table->path) {
    table->label = strchr(table->path, '/') + 1;
    table->next = first;
    first = table;
  }
  pthread_mutex_unlock(&guard);
  if (filled && table->path) return PSDM_OK;
  free_table(table);
  return psdmp_base_fail_status(error, PSDM_E_MEMORY);
}

void psdmp_table_drop(const char *path) {
  psdmp_table_memory *gone = NULL;
  pthread_mutex_lock(&guard);
  for (psdmp_table_memory **at = &first; *at && !gone; at = *at ? &(*at)->next : at)
    if (strcmp((*at)->path, path) == 0) {
      gone = *at;
      *at = gone->next;
      break;
    }
  pthread_mutex_unlock(&guard);
  if (gone) free_table(gone);
}

const psdmp_table_memory *psdmp_table_find(const char *path) {
  if (strncmp(path, "memory:", 7) != 0) return NULL;
  pthread_mutex_lock(&guard);
  const psdmp_table_memory *table = first;
  while (table && strcmp(table->path, path) != 0) table = table->next;
  pthread_mutex_unlock(&guard);
  return table;
}
