/* coriolis.c: the Coriolis matrix of Christoffel symbols, and the rate of the mass matrix. */
#include "rigid/linearize_priv.h"

psdm_status psdm_coriolis(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, double *C,
                          double *M_rate) {
  double *half = C ? C : M_rate;
  int n = r->n;
  if (!half) return PSDM_OK;
  psdm_status status = psdm_linearize_inverse(r, l, q, qd, l->zero, NULL, half, NULL);
  if (status) return status;
  for (long k = 0; k < (long)n * n; k++) half[k] /= 2;
  for (int i = 0; i < n && M_rate; i++)
    for (int j = 0; j <= i; j++)
      M_rate[(long)i * n + j] = M_rate[(long)j * n + i] = half[(long)i * n + j] + half[(long)j * n + i];
  return PSDM_OK;
}
