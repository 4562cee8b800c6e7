/* dense_reduce.c: which columns of the stacked coefficients are independent, and the others as combinations of them, by
 * QR (section 2.2.2). */
#include "derive/dense_priv.h"

/* Remainders of columns below this are rounding: sampled coefficients are accurate to 1e-13. */
static const double RANK_TOLERANCE = 1e-10;

/* all rows by column (equation 38), padded with zero rows if there are too few */
psdm_status psdmp_derive_dense_reduce(const psdm_robot *r, double reach, const double *psi, long rows, psdm_model *m,
                                      psdm_derive_info *info, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = m->arena.allocator};
  long height = rows + m->standard;
  double *A = psdmp_base_arena_alloc(&arena, (size_t)height * (size_t)m->standard * sizeof *A);
  for (long t = 0; A && t < rows; t++)
    for (int k = 0; k < m->standard; k++) A[k * height + t] = psi[t * m->standard + k];
  psdm_status status = A ? psdmp_derive_base_of_rows(r, reach, RANK_TOLERANCE, (int)height, A, m, info, error)
                         : psdmp_base_no_memory(r->file, error);
  psdmp_base_arena_free(&arena);
  return status;
}
