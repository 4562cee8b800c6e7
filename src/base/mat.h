/* mat.h: MATLAB's file, level 5, written through psdm_output. Private to the library; reading is matio's. */
#ifndef PSDMP_MAT_H
#define PSDMP_MAT_H

#include "base/base.h"
#include "psdm/output.h"

enum { PSDMP_MAT_RANK = 3 };

/* One variable: doubles or characters, stored by columns. */
typedef struct psdmp_mat_array {
  const char *name;
  int rank;
  size_t dims[PSDMP_MAT_RANK];
  const double *number;   /* or NULL, */
  const char *character;  /* then these, of one byte each */
} psdmp_mat_array;

/* What a file begins with. It has no date: the same content gives the same bytes. */
void psdmp_mat_begin(psdm_output *out);

/* The next variable, compressed where zlib is there. PSDM_E_LIMIT above 4 GB, which the format cannot say; PSDM_E_MEMORY. What the disk refuses shows up
 * when out is committed. */
psdm_status psdmp_mat_put(psdm_output *out, const psdmp_mat_array *array, const psdm_allocator *allocator);

#endif
