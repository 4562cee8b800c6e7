/* matrices_save_io.c: named matrices to a MATLAB file, through matio. */
#define _POSIX_C_SOURCE 200809L /* rename */
#include <errno.h>
#include <matio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "psdm/matrices.h"

/* MATLAB stores columns; the library works on rows */
static bool add(mat_t *file, const psdm_matrix *m, double *by_columns) {
  size_t rows = (size_t)m->rows, columns = (size_t)m->columns, pages = (size_t)m->pages, dims[3] = {rows, columns, pages};
  for (size_t p = 0; p < pages; p++)
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < columns; j++) by_columns[(p * columns + j) * rows + i] = m->value[(p * rows + i) * columns + j];
  matvar_t *var = Mat_VarCreate(m->name, MAT_C_DOUBLE, MAT_T_DOUBLE, pages > 1 ? 3 : 2, dims, by_columns, MAT_F_DONT_COPY_DATA);
  bool ok = var && Mat_VarWrite(file, var, MAT_COMPRESSION_ZLIB) == 0;
  Mat_VarFree(var);
  return ok;
}

psdm_status psdm_matrices_save(int count, const psdm_matrix *matrices, const char *path, const psdm_allocator *allocator, psdm_error *error) {
  char part[4096];
  size_t most = 1;
  for (int k = 0; k < count; k++) {
    size_t size = (size_t)matrices[k].rows * (size_t)matrices[k].columns * (size_t)matrices[k].pages;
    if (size > most) most = size;
  }
  if (most > (size_t)1 << 28) return psdmp_fail(error, PSDM_E_LIMIT, path, 0, 0, "a matrix of %zu entries is too large for a MATLAB file", most);
  if (snprintf(part, sizeof part, "%s.part-%ld", path, (long)getpid()) >= (int)sizeof part) return psdmp_fail(error, PSDM_E_ARGUMENT, path, 0, 0, "the name is too long");
  double *by_columns = psdmp_alloc_raw(allocator, sizeof *by_columns * most);
  if (!by_columns) return psdmp_fail(error, PSDM_E_MEMORY, path, 0, 0, "out of memory");
  errno = 0;
  mat_t *file = Mat_CreateVer(part, NULL, MAT_FT_MAT5);
  bool ok = file != NULL;
  for (int k = 0; k < count && ok; k++) ok = add(file, &matrices[k], by_columns);
  if (file) ok = Mat_Close(file) == 0 && ok;
  ok = ok && rename(part, path) == 0;
  if (!ok) unlink(part);
  psdmp_free(allocator, by_columns);
  return ok ? PSDM_OK : psdmp_fail(error, PSDM_E_IO, path, 0, 0, "cannot be written: %s", errno ? strerror(errno) : "matio failed");
}
