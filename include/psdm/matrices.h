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
  /* several of them, one behind the other: (rows x columns x pages) in the file when there are more than one */
  long pages;
  const double *value; /* row-major, page after page */
  const char *text;    /* in place of value: a row of characters; the sizes are then not read */
} psdm_matrix;

/* Writes path, version 5, whole or not at all. */
PSDM_API psdm_status psdm_matrices_save(int count, const psdm_matrix *matrices, const char *path,
                                        const psdm_allocator *allocator, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
