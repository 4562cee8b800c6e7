/* statespace.c: linear models from the linearized dynamics: M, C2, D, G or A and B, with friction. */
#include "psdm/statespace.h"

#include <string.h>

#include "psdm/friction.h"

static const double still[PSDM_MAX_JOINTS];

psdm_status psdm_second_order(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd,
                              double *M, double *C2, double *D, double *G) {
  psdm_status status = G ? psdm_linearize_inverse(r, l, q, still, still, G, NULL, NULL) : PSDM_OK;
  return status || !(M || C2 || D) ? status : psdm_linearize_inverse(r, l, q, qd, qdd, D, C2, M);
}

psdm_status psdm_state_space(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd,
                             double *A, double *B) {
  size_t n = (size_t)psdm_robot_n(r), square = n * n;
  double *at_q = A, *at_qd = A ? A + square : NULL, *bottom = A ? A + 2 * square : NULL;
  psdm_status status = psdm_linearize_forward_at(r, l, q, qd, qdd, at_q, at_qd, B ? B + square : NULL);
  if (status) return status;
  if (B) memset(B, 0, sizeof *B * square);
  if (!A) return PSDM_OK;
  /* the two blocks are stacked in A's upper half; below it side by side */
  for (size_t i = 0; i < n; i++) {
    memcpy(bottom + 2 * n * i, at_q + n * i, sizeof *A * n);
    memcpy(bottom + 2 * n * i + n, at_qd + n * i, sizeof *A * n);
  }
  memset(A, 0, sizeof *A * 2 * square);
  for (size_t i = 0; i < n; i++) A[2 * n * i + n + i] = 1;
  return PSDM_OK;
}

/* ---- friction ---- */

void psdm_friction_slope(const psdm_robot *r, const double *qd, double *slope) {
  for (int k = 0; k < psdm_robot_joints(r); k++) {
    const psdm_joint *joint = psdm_robot_joint(r, k);
    if (joint->q >= 0)
      slope[joint->q] =
          joint->friction.given ? psdm_friction_steady_slope(&joint->friction, PSDM_FRICTION_POWER, qd[joint->q]) : 0;
  }
}

void psdm_damp(int n, const double *slope, double *C2, double *A, const double *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (A) A[(long)(n + i) * 2 * n + n + j] -= B[(long)(n + i) * n + j] * slope[j];
      if (C2 && i == j) C2[(long)i * n + i] += slope[i];
    }
}
