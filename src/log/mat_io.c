/* mat_io.c: logs in MATLAB files up to version 5, through matio. Version 7.3 is HDF5. */
#include "table/table.h"
#include "log/log_priv.h"

#ifdef PSDM_HAVE_MATIO

#include <errno.h>
#include <matio.h>
#include <sys/stat.h>

/* the number types of MATLAB: class, C type */
#define NUMBER_TYPES(X)         \
  X(MAT_C_DOUBLE, double)       \
  X(MAT_C_SINGLE, float)        \
  X(MAT_C_INT8, mat_int8_t)     \
  X(MAT_C_UINT8, mat_uint8_t)   \
  X(MAT_C_INT16, mat_int16_t)   \
  X(MAT_C_UINT16, mat_uint16_t) \
  X(MAT_C_INT32, mat_int32_t) X(MAT_C_UINT32, mat_uint32_t) X(MAT_C_INT64, mat_int64_t) X(MAT_C_UINT64, mat_uint64_t)

static bool is_numeric(const matvar_t *var) {
  if (var->isComplex || var->isLogical || var->rank != 2 || !var->name) return false;
  switch (var->class_type) {
#define NUMBER_CASE(id, type) case id:
    NUMBER_TYPES(NUMBER_CASE)
#undef NUMBER_CASE
    return true;
    default: return false;
  }
}

static double entry(const matvar_t *var, size_t i) {
  switch (var->class_type) {
#define NUMBER_CASE(id, type) \
  case id: return (double)((const type *)var->data)[i];
    NUMBER_TYPES(NUMBER_CASE)
#undef NUMBER_CASE
    default: return 0;
  }
}

/* MATLAB stores columns. A variable is read whole, when its first sample is needed. */
static bool load(void *file, psdmp_log_variable *v, size_t first, size_t count) {
  matvar_t *var = v->handle;
  if (!var->data && psdmp_table_mat_data(file, var)) return false;
  size_t wide = (size_t)v->wide;
  for (size_t s = 0; s < count; s++)
    for (size_t k = 0; k < wide; k++)
      v->block[s * wide + k] = entry(var, v->upright ? k * v->rows + first + s : (first + s) * v->rows + k);
  return true;
}

static void forget(void *file, psdmp_log_variable *v) {
  (void)file;
  Mat_VarFree(v->handle);
}

static void close_file(void *file) { Mat_Close(file); }

static const psdmp_log_format format = {load, forget, close_file};

/* the numeric vectors and matrices; scalars, text and structures are not channels */
static psdm_status list(mat_t *file, long count, const psdmp_log_request *request, psdmp_log_table *table,
                        psdm_error *error) {
  matvar_t *var;
  struct stat info;
  if (stat(request->path, &info)) return psdmp_table_mat_refused(request->file, errno, error);
  unsigned long long held = (unsigned long long)info.st_size;
  long seen = 0;
  errno = 0;
  for (; (var = Mat_VarReadNextInfo(file)); errno = 0, seen++) {
    if (!is_numeric(var) || !var->dims[0] || !var->dims[1] ||
        (var->dims[0] == 1 && var->dims[1] == 1 && request->n > 1)) {
      Mat_VarFree(var);
    } else if (!psdmp_table_matrix_fits(var->dims[0], var->dims[1], 1,
                                        held)) { /* matio would allocate the size claimed in the header */
      size_t rows = var->dims[0], columns = var->dims[1];
      Mat_VarFree(var);
      return psdmp_base_fail(error, PSDM_E_PARSE, request->file, 0, 0,
                             "a variable claims to be %zu by %zu, more than the file can hold", rows, columns);
    } else {
      psdm_status status = psdmp_log_table_add(table, var->name, var->dims[0], var->dims[1], var, error);
      if (!status) continue;
      Mat_VarFree(var);
      return status;
    }
  }
  return psdmp_table_mat_check(request->file, seen, count, errno, error);
}

psdm_status psdmp_log_mat_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  errno = 0;
  mat_t *file = Mat_Open(request->path, MAT_ACC_RDONLY);
  psdmp_log_table *table;
  if (!file) return psdmp_table_mat_refused(request->file, errno, error);
  long count;
  psdm_status status = psdmp_table_mat_count(request->path, request->file, &count, error);
  if (status) {
    Mat_Close(file);
    return status;
  }
  status = psdmp_log_table_new(request, file, &format, &table, error);
  if (status) return status;
  status = list(file, count, request, table, error);
  if (!status) return psdmp_log_table_source(table, source, error);
  psdmp_log_table_close(table);
  return status;
}

#else

psdm_status psdmp_log_mat_open(const psdmp_log_request *request, psdmp_log_source *source, psdm_error *error) {
  (void)source;
  return psdmp_base_lacks(request->file, "MATLAB files need", "matio", "libmatio-dev", error);
}

#endif
