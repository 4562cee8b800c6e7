/* mat.h: MATLAB's file, level 5, written through psdm_output. Private to the library; reading is matio's, with a
 * check whether it read all. */
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

/* What a file begins with. It has no date: the same content gives the same bytes. */
void psdmp_table_mat_begin(psdm_output *out);

/* The next variable, compressed where zlib is there. PSDM_E_LIMIT above 4 GB, which the format cannot say;
 * PSDM_E_MEMORY. What the disk refuses shows up when out is committed. */
psdm_status psdmp_table_mat_put(psdm_output *out, const psdmp_table_mat_array *array, const psdm_allocator *allocator);

/* Why matio opens no file. failure: errno, zero before it was asked. PSDM_E_MEMORY, PSDM_E_IO; PSDM_E_PARSE when
 * nothing failed: the file is another. */
psdm_status psdmp_table_mat_refused(const char *shown, int failure, psdm_error *error);

/* Before matio reads a file of level 4 or 5: its variables, which must end within it and have a credible number of
 * dimensions. PSDM_E_IO, PSDM_E_PARSE. */
psdm_status psdmp_table_mat_count(const char *path, const char *shown, long *count, psdm_error *error);

/* Reads the numbers of matio's variable (matvar_t) from matio's file (mat_t). PSDM_E_IO, PSDM_E_MEMORY;
 * PSDM_E_PARSE: the variable is damaged. */
psdm_status psdmp_table_mat_data(void *file, void *variable);

/* After matio's last variable: whether all were seen. failure: errno, zero before matio was asked. matio answers a
 * damaged variable and a lack of memory as it answers the end of the file. PSDM_E_MEMORY, PSDM_E_PARSE with the
 * number of the variable. */
psdm_status psdmp_table_mat_check(const char *shown, long seen, long count, int failure, psdm_error *error);

#endif
