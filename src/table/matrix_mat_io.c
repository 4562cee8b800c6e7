/* matrix_mat_io.c: a variable of a MATLAB file, through matio. */
#include "table/table.h"

#ifdef PSDM_HAVE_MATIO

#include <errno.h>
#include <matio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static bool wanted(const char *name, const char *const *names) {
  for (; *names; names++)
    if (strcmp(name, *names) == 0) return true;
  return false;
}

/* after a failed read matio continues with zeros instead of numbers: only errno tells */
psdm_status psdmp_table_mat_data(void *file, void *variable) {
  matvar_t *var = variable;
  errno = 0;
  bool failed = Mat_VarReadDataAll(file, var) || !var->data;
  if (errno == ENOMEM) return PSDM_E_MEMORY;
  if (errno == EIO) return PSDM_E_IO;
  return failed ? PSDM_E_PARSE : PSDM_OK;
}

/* the variable of a wanted name, else the only real double matrix; NULL when there is none or more than one. seen:
 * variables, if all were visited */
static matvar_t *choose(mat_t *file, const char *const *names, long *seen) {
  matvar_t *only = NULL, *var;
  int matrices = 0;
  errno = 0;
  for (; (var = Mat_VarReadNextInfo(file)); errno = 0, ++*seen) {
    bool numeric = var->class_type == MAT_C_DOUBLE && var->rank == 2 && !var->isComplex;
    if (numeric && var->name && wanted(var->name, names)) {
      Mat_VarFree(only);
      *seen = -1;
      return var;
    }
    if (numeric && ++matrices == 1) only = var;
    else Mat_VarFree(var);
  }
  if (matrices == 1) return only;
  Mat_VarFree(only);
  return NULL;
}

/* MATLAB stores columns; the library works on rows */
static psdm_status copy(const matvar_t *var, const char *path, psdmp_base_arena *arena, psdmp_table_matrix *m,
                        psdm_error *error) {
  size_t rows = var->dims[0], columns = var->dims[1];
  if (!rows || !columns || rows > PSDMP_TABLE_MATRIX_ENTRIES || columns > PSDMP_TABLE_MATRIX_ENTRIES ||
      rows * columns > PSDMP_TABLE_MATRIX_ENTRIES)
    return psdmp_base_fail(error, PSDM_E_LIMIT, path, 0, 0, "a matrix of %zu by %zu", rows, columns);
  m->value = psdmp_base_arena_alloc(arena, rows * columns * sizeof(double));
  if (!m->value) return psdmp_base_no_memory(path, error);
  m->rows = (int)rows;
  m->columns = (int)columns;
  const double *from = var->data;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      if (!isfinite(from[j * rows + i]))
        return psdmp_base_fail(error, PSDM_E_PARSE, path, 0, 0, "entry (%zu, %zu) is not finite", i + 1, j + 1);
      m->value[i * columns + j] = from[j * rows + i];
    }
  return PSDM_OK;
}

/* matio allocates as much as the header claims */
static psdm_status check_size(const char *path, const matvar_t *var, psdm_error *error) {
  struct stat info;
  if (stat(path, &info)) return psdmp_table_mat_refused(path, errno, error);
  if (psdmp_table_matrix_fits(var->dims[0], var->dims[1], 1, (unsigned long long)info.st_size)) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_PARSE, path, 0, 0, "a matrix of %zu by %zu, more than the file can hold",
                         var->dims[0], var->dims[1]);
}

psdm_status psdmp_table_matrix_read_mat(const char *path, const char *const *names, psdmp_base_arena *arena,
                                        psdmp_table_matrix *m, psdm_error *error) {
  errno = 0;
  mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
  if (!file) return psdmp_table_mat_refused(path, errno, error);
  long seen = 0, count = 0; /* in version 7.3, which is HDF5, none are counted */
  psdm_status status =
      Mat_GetVersion(file) != MAT_FT_MAT73 ? psdmp_table_mat_count(path, path, &count, error) : PSDM_OK;
  matvar_t *var = status ? NULL : choose(file, names, &seen);
  if (!status && seen >= 0) status = psdmp_table_mat_check(path, seen, count, errno, error);
  if (status)
    ;
  else if (!var)
    status = psdmp_base_fail(error, PSDM_E_PARSE, path, 0, 0, "no variable '%s', and not one numeric matrix alone",
                             names[0]);
  else if ((status = check_size(path, var, error)))
    ;
  else if ((status = psdmp_table_mat_data(file, var)))
    psdmp_base_fail(error, status, path, 0, 0, "variable '%s' cannot be read: %s", names[0], psdm_status_text(status));
  else status = copy(var, path, arena, m, error);
  Mat_VarFree(var);
  Mat_Close(file);
  return status;
}

#else

psdm_status psdmp_table_matrix_read_mat(const char *path, const char *const *names, psdmp_base_arena *arena,
                                        psdmp_table_matrix *matrix, psdm_error *error) {
  (void)names, (void)arena, (void)matrix;
  return psdmp_base_lacks(path, "MATLAB files need", "matio", "libmatio-dev", error);
}

#endif
