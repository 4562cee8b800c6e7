/* matrices_save_io.c: named matrices to a MATLAB file. */
#include <string.h>

#include "table/table.h"
#include "psdm/matrices.h"

/* MATLAB stores columns; the library works on rows */
static psdm_status add(psdm_output *out, const psdm_matrix *m, double *by_columns, const psdm_allocator *allocator) {
  if (m->text)
    return psdmp_table_mat_put(
        out, &(psdmp_table_mat_array){.name = m->name, .rank = 2, .dims = {1, strlen(m->text)}, .character = m->text},
        allocator);
  size_t rows = (size_t)m->rows, columns = (size_t)m->columns, pages = (size_t)m->pages;
  for (size_t p = 0; p < pages; p++)
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < columns; j++)
        by_columns[(p * columns + j) * rows + i] = m->value[(p * rows + i) * columns + j];
  return psdmp_table_mat_put(
      out,
      &(psdmp_table_mat_array){
          .name = m->name, .rank = pages > 1 ? 3 : 2, .dims = {rows, columns, pages}, .number = by_columns},
      allocator);
}

psdm_status psdm_matrices_save(int count, const psdm_matrix *matrices, const char *path,
                               const psdm_allocator *allocator, psdm_error *error) {
  size_t most = 1;
  for (int k = 0; k < count; k++) {
    size_t size =
        matrices[k].text ? 1 : (size_t)matrices[k].rows * (size_t)matrices[k].columns * (size_t)matrices[k].pages;
    if (size > most) most = size;
  }
  if (most > (size_t)1 << 28)
    return psdmp_base_fail(error, PSDM_E_LIMIT, path, 0, 0, "a matrix of %zu entries is too large for a MATLAB file",
                           most);
  psdm_output *out;
  psdm_status status = psdm_output_open(path, allocator, &out, error);
  if (status) return status;
  double *by_columns = psdmp_base_alloc_raw(allocator, sizeof *by_columns * most);
  status = by_columns ? PSDM_OK : PSDM_E_MEMORY;
  psdmp_table_mat_begin(out);
  for (int k = 0; k < count && !status; k++) status = add(out, &matrices[k], by_columns, allocator);
  psdmp_base_free(allocator, by_columns);
  if (!status) return psdm_output_commit(&out, error);
  psdm_output_abort(&out);
  return psdmp_base_fail(error, status, path, 0, 0, "%s", psdm_status_text(status));
}
