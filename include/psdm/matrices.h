/* psdm/matrices.h: named matrices and lines of text in a MATLAB file. */
#ifndef PSDM_MATRICES_H
#define PSDM_MATRICES_H

#include "psdm/alloc.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_matrix {
  const char *name;
  int rows, columns;
  /* several in sequence: (rows x columns x pages) in the file when more than one */
  long pages;
  const double *value; /* row-major, page after page */
  const char *text;    /* instead of value: a row of characters; the sizes are then ignored */
} psdm_matrix;

/* Writes path, version 5, completely or not at all. */
PSDM_API psdm_status psdm_matrices_save(int count, const psdm_matrix *matrices, const char *path,
                                        const psdm_allocator *allocator, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
