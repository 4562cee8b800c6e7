/* mat.h: MATLAB files, level 5, written through psdm_output. Private to the library; matio reads them, with a check
 * that it read everything. */
#ifndef PSDMP_TABLE_MAT_H
#define PSDMP_TABLE_MAT_H

#include "base/base.h"
#include "psdm/output.h"

enum { PSDMP_TABLE_MAT_RANK = 3 };

/* One variable: doubles or characters, stored by columns. */
typedef struct psdmp_table_mat_array {
  const char *name;
  int rank;
  size_t dims[PSDMP_TABLE_MAT_RANK];
  const double *number;  /* or NULL, */
  const char *character; /* then these, of one byte each */
} psdmp_table_mat_array;

/* Writes the file header. It has no date: the same content gives the same bytes. */
void psdmp_table_mat_begin(psdm_output *out);

/* The next variable, compressed if zlib is available. PSDM_E_LIMIT above 4 GB, the limit of the format; PSDM_E_MEMORY.
 * Disk errors show up when out is committed. */
psdm_status psdmp_table_mat_put(psdm_output *out, const psdmp_table_mat_array *array, const psdm_allocator *allocator);

/* Why matio cannot open a file. failure: errno, zero before the call. PSDM_E_MEMORY, PSDM_E_IO; PSDM_E_PARSE when
 * nothing failed: the file has another format. */
psdm_status psdmp_table_mat_refused(const char *shown, int failure, psdm_error *error);

/* Before matio reads a file of level 4 or 5: counts its variables, which must end within it and have a plausible number
 * of dimensions. PSDM_E_IO, PSDM_E_PARSE. */
psdm_status psdmp_table_mat_count(const char *path, const char *shown, long *count, psdm_error *error);

/* Reads the numbers of matio's variable (matvar_t) from matio's file (mat_t). PSDM_E_IO, PSDM_E_MEMORY;
 * PSDM_E_PARSE: the variable is damaged. */
psdm_status psdmp_table_mat_data(void *file, void *variable);

/* After matio's last variable: whether all were seen. failure: errno, zero before the call. matio reports a damaged
 * variable and lack of memory like the end of the file. PSDM_E_MEMORY, PSDM_E_PARSE with the number of the variable. */
psdm_status psdmp_table_mat_check(const char *shown, long seen, long count, int failure, psdm_error *error);

#endif
