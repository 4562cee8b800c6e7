/* without.c: stubs for a build without LAPACK: threads of BLAS, its buffer, and Riccati equations. */
#include "linalg/linalg.h"

#include "lapacke.h"

void psdmp_linalg_blas_alone(void) {}
void psdmp_linalg_blas_back(void) {}

psdm_status psdmp_linalg_blas_room(psdm_error *error) {
  (void)error;
  return PSDM_OK;
}

bool psdmp_linalg_lapack_memory(int code) { return code == LAPACK_WORK_MEMORY_ERROR; }

size_t psdmp_linalg_riccati_scratch(int n, int m) {
  (void)n, (void)m;
  return 0;
}

psdmp_linalg_riccati psdmp_linalg_riccati_solve(bool discrete, int n, int m, const double *A, const double *B,
                                                const double *Q, const double *R, double *X, double *K,
                                                psdmp_linalg_riccati_info *info, double *scratch) {
  (void)discrete, (void)n, (void)m, (void)A, (void)B, (void)Q, (void)R, (void)X, (void)K, (void)info, (void)scratch;
  return PSDMP_LINALG_RICCATI_LACKING;
}
