/* mass.c: the mass matrix from composite rigid bodies (Walker, Orin 1982), and forward dynamics through it. */
#include <string.h>

#include "linalg/linalg.h"
#include "rigid/rigid_priv.h"

/* adds body b's composite to its parent's: rotate, then shift by p (as psdmp_standard_move, without its generality) */
static inline void add_composite(const psdmp_motion *m, const double c[10], double parent[10]) {
  const double *R = m->R, *p = m->p;
  double h[3], T[9], mass = c[0];
  psdmp_rotate(R, c + 1, h);
  for (int i = 0; i < 3; i++) psdmp_symmetric(c + 4, R + 3 * i, T + 3 * i); /* row i of R I */
  /* h' = h + m p, and the shift of I by p needs h + h' = 2 h + m p */
  double g[3] = {h[0] + mass * p[0], h[1] + mass * p[1], h[2] + mass * p[2]};
  double x = p[0] * (h[0] + g[0]), y = p[1] * (h[1] + g[1]), z = p[2] * (h[2] + g[2]);
  parent[0] += mass;
  for (int i = 0; i < 3; i++) parent[1 + i] += g[i];
  parent[4] += psdmp_dot(T, R) + y + z;
  parent[5] += psdmp_dot(T, R + 3) - p[0] * h[1] - g[0] * p[1];
  parent[6] += psdmp_dot(T, R + 6) - p[0] * h[2] - g[0] * p[2];
  parent[7] += psdmp_dot(T + 3, R + 3) + x + z;
  parent[8] += psdmp_dot(T + 3, R + 6) - p[1] * h[2] - g[1] * p[2];
  parent[9] += psdmp_dot(T + 6, R + 6) + x + y;
}

/* one entry of the tree's mass matrix into the independent joints' matrix, G^T M G */
static inline void put_entry(const psdm_robot *r, int i, int j, double value, double *M) {
  int n = r->n;
  if (r->direct) {
    M[i * n + j] = M[j * n + i] = value;
    return;
  }
  for (int k = r->g_row[i]; k < r->g_row[i + 1]; k++)
    for (int l = r->g_row[j]; l < r->g_row[j + 1]; l++) {
      double term = r->g_val[k] * r->g_val[l] * value;
      M[r->g_col[k] * n + r->g_col[l]] += term;
      if (i != j) M[r->g_col[l] * n + r->g_col[k]] += term;
    }
}

/* the wrench of a unit acceleration of joint b, carried inward: its component at each ancestor is an entry of M */
static inline void put_column(const psdm_robot *r, const psdmp_motion *motion, int b, const double c[10], double *M) {
  double f[3], n[3], Rf[3], Rn[3];
  if (r->body[b].prismatic) {
    memcpy(f, (double[3]){0, 0, c[0]}, sizeof f);
    memcpy(n, (double[3]){c[2], -c[1], 0}, sizeof n);
    put_entry(r, b, b, f[2] + r->body_drive[b], M);
  } else {
    memcpy(f, (double[3]){-c[2], c[1], 0}, sizeof f);
    memcpy(n, (double[3]){c[6], c[8], c[9]}, sizeof n);
    put_entry(r, b, b, n[2] + r->body_drive[b], M);
  }
  for (int i = b; r->body[i].parent >= 0;) {
    psdmp_rotate(motion[i].R, f, Rf);
    psdmp_rotate(motion[i].R, n, Rn);
    psdmp_cross_add(motion[i].p, Rf, Rn);
    memcpy(f, Rf, sizeof f);
    memcpy(n, Rn, sizeof n);
    i = r->body[i].parent;
    put_entry(r, i, b, r->body[i].prismatic ? f[2] : n[2], M);
  }
}

psdm_status psdm_mass(const psdm_robot *r, psdm_work *work, const double *q, double *M) {
  if (!psdmp_ready(r)) return PSDM_E_MISSING;
  double *composite = work->composite;
  psdmp_set_frames(r, work, psdmp_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) memcpy(composite + PSDMP_STANDARD * b, r->body[b].pi, sizeof r->body[b].pi);
  memset(M, 0, sizeof *M * (size_t)r->n * (size_t)r->n);
  /* children come after their parents, so b's composite is complete when b is reached */
  for (int b = r->bodies - 1; b >= 0; b--) {
    const double *c = composite + PSDMP_STANDARD * b;
    put_column(r, work->motion, b, c, M);
    if (r->body[b].parent >= 0) add_composite(&work->motion[b], c, composite + PSDMP_STANDARD * r->body[b].parent);
  }
  for (int i = 0; r->drive_mass && i < r->n * r->n; i++) M[i] += r->drive_mass[i];
  return PSDM_OK;
}

psdm_status psdm_forward_cholesky(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *tau,
                                  double *qdd) {
  psdm_status status = psdm_bias(r, work, q, qd, work->row);
  if (status) return status;
  status = psdm_mass(r, work, q, work->M);
  if (status) return status;
  for (int i = 0; i < r->n; i++) qdd[i] = tau[i] - work->row[i];
  if (!psdmp_cholesky(r->n, work->M)) return PSDM_E_SINGULAR;
  psdmp_cholesky_solve(r->n, work->M, qdd);
  return PSDM_OK;
}
