/* linearize_dense.c: the conventional route to the linearized forward dynamics, through a factorised mass matrix,
 * O(n^3) (Jain and Rodriguez 1993, Algorithms 3 and 4). References for linearize_forward.c, and used for coupled
 * robots. */
#include <string.h>

#include "linalg/linalg.h"
#include "rigid/linearize_priv.h"

/* Algorithm 3: M dqdd = dtau - (dtau/dq) dq - (dtau/dqd) dqd */
psdm_status psdm_linear_forward_along_dense(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                            const double *qdd, const double *dq, const double *dqd, const double *dtau,
                                            double *dqdd) {
  psdm_status status = psdm_linear_inverse_along(r, l, q, qd, qdd, dq, dqd, NULL, dqdd);
  if (!status) status = psdm_mass(r, l->work, q, l->M);
  if (status) return status;
  for (int i = 0; i < r->n; i++) dqdd[i] = (dtau ? dtau[i] : 0) - dqdd[i];
  if (!psdmp_linalg_cholesky(r->n, l->M)) return PSDM_E_SINGULAR;
  psdmp_linalg_cholesky_solve(r->n, l->M, dqdd);
  return PSDM_OK;
}

/* X = -M^-1 Y, column by column */
static void solve_columns(int n, const double *factor, const double *Y, double *column, double *X) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) column[i] = -Y[(long)i * n + j];
    psdmp_linalg_cholesky_solve(n, factor, column);
    for (int i = 0; i < n; i++) X[(long)i * n + j] = column[i];
  }
}

/* Algorithm 4 */
psdm_status psdm_linearize_forward_dense(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                         const double *qdd, double *dqdd_dq, double *dqdd_dqd, double *Minv) {
  double *column = l->vector + r->n; /* qdd may be the first */
  psdm_status status = psdm_linearize_inverse(r, l, q, qd, qdd, l->B, l->A, l->M);
  if (status) return status;
  if (!psdmp_linalg_cholesky(r->n, l->M)) return PSDM_E_SINGULAR;
  if (dqdd_dq) solve_columns(r->n, l->M, l->B, column, dqdd_dq);
  if (dqdd_dqd) solve_columns(r->n, l->M, l->A, column, dqdd_dqd);
  if (Minv) psdmp_linalg_cholesky_inverse(r->n, l->M, column, Minv);
  return PSDM_OK;
}
