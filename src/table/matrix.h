/* matrix.h: a numeric table from a file: rows of numbers as text, or a variable of a MATLAB file. */
#ifndef PSDMP_TABLE_MATRIX_H
#define PSDMP_TABLE_MATRIX_H

#include "base/base.h"

typedef struct psdmp_table_matrix {
  int rows, columns;
  double *value; /* row-major */
} psdmp_table_matrix;

/* Text: numbers separated by commas, semicolons or blanks; # and % start comments; a first line of names is skipped.
 * .mat: the first variable called one of names (NULL-terminated), else the only numeric matrix. */
psdm_status psdmp_table_matrix_read(const char *path, const char *const *names, psdmp_base_arena *arena,
                                    psdmp_table_matrix *matrix, psdm_error *error);

/* The .mat part, in a separate file for systems without matio. */
psdm_status psdmp_table_matrix_read_mat(const char *path, const char *const *names, psdmp_base_arena *arena,
                                        psdmp_table_matrix *matrix, psdm_error *error);

enum { PSDMP_TABLE_MATRIX_ENTRIES = 1 << 20 };

/* Whether `bytes` bytes of a file can hold a matrix: deflate packs at most 1032 to 1 (zlib's technical details), and a
 * header may claim anything. Call before a library allocates what the header claims. */
bool psdmp_table_matrix_fits(size_t rows, size_t columns, size_t bytes_each, unsigned long long held);

#endif
