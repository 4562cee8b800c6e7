/* mass.c: the mass matrix from composite rigid bodies (Walker, Orin 1982), and forward dynamics with it. */
#include <string.h>

#include "linalg/linalg.h"
#include "rigid/closed_priv.h"

/* adds body b's composite to its parent's: rotate, then shift by p (a special case of psdmp_robot_standard_move) */
static inline void add_composite(const psdmp_rigid_motion *m, const double c[10], double *restrict parent) {
  double h[3], I[6], mass = c[0], x = m->p[0], y = m->p[1], z = m->p[2];
  psdmp_rigid_rotate(m->R, c + 1, h);
  psdmp_rigid_rotate_symmetric(m->R, c + 4, I);
  /* h' = h + m p, and the shift of I by p needs h + h' = 2 h + m p */
  double g[3] = {h[0] + mass * x, h[1] + mass * y, h[2] + mass * z};
  double xx = x * (h[0] + g[0]), yy = y * (h[1] + g[1]), zz = z * (h[2] + g[2]);
  parent[0] += mass;
  parent[1] += g[0], parent[2] += g[1], parent[3] += g[2];
  parent[4] += I[0] + yy + zz;
  parent[5] += I[1] - x * h[1] - g[0] * y;
  parent[6] += I[2] - x * h[2] - g[0] * z;
  parent[7] += I[3] + xx + zz;
  parent[8] += I[4] - y * h[2] - g[1] * z;
  parent[9] += I[5] + xx + yy;
}

/* adds one entry of the tree's mass matrix to the independent joints' matrix, G^T M G */
static void spread_entry(const psdm_robot *r, int i, int j, double value, double *M) {
  for (int k = r->g_row[i]; k < r->g_row[i + 1]; k++)
    for (int l = r->g_row[j]; l < r->g_row[j + 1]; l++) {
      double term = r->g_val[k] * r->g_val[l] * value;
      M[r->g_col[k] * r->n + r->g_col[l]] += term;
      if (i != j) M[r->g_col[l] * r->n + r->g_col[k]] += term;
    }
}

static inline void put_entry(const psdm_robot *r, int i, int j, double value, double *M) {
  if (r->direct) M[i * r->n + j] = M[j * r->n + i] = value;
  else spread_entry(r, i, j, value, M);
}

/* the wrench of a unit acceleration of joint b, carried inward: its component at each ancestor is an entry of M */
static inline void put_column(const psdm_robot *r, const psdmp_rigid_motion *motion, int b, const double c[10],
                              double *restrict M) {
  const psdmp_robot_body *body = r->body;
  double f[3] = {-c[2], c[1], 0}, n[3] = {c[6], c[8], c[9]};
  if (body[b].prismatic) {
    f[0] = f[1] = n[2] = 0;
    f[2] = c[0], n[0] = c[2], n[1] = -c[1];
  }
  put_entry(r, b, b, (body[b].prismatic ? f[2] : n[2]) + r->body_drive[b], M);
  for (int i = b, parent = body[b].parent; parent >= 0; i = parent, parent = body[i].parent) {
    const double *R = motion[i].R, *p = motion[i].p;
    double Rf[3];
    psdmp_rigid_rotate(R, f, Rf);
    double nz = psdmp_rigid_dot(R + 6, n) + p[0] * Rf[1] - p[1] * Rf[0];
    put_entry(r, parent, b, body[parent].prismatic ? Rf[2] : nz, M);
    if (body[parent].parent < 0) break; /* the other components are not needed */
    double nx = psdmp_rigid_dot(R, n) + p[1] * Rf[2] - p[2] * Rf[1],
           ny = psdmp_rigid_dot(R + 3, n) + p[2] * Rf[0] - p[0] * Rf[2];
    f[0] = Rf[0], f[1] = Rf[1], f[2] = Rf[2];
    n[0] = nx, n[1] = ny, n[2] = nz;
  }
}

/* M once the frames are set */
static void composite_bodies(const psdm_robot *r, psdm_work *work, double *M) {
  double *composite = work->composite;
  for (int b = 0; b < r->bodies; b++) memcpy(composite + PSDMP_ROBOT_STANDARD * b, r->body[b].pi, sizeof r->body[b].pi);
  memset(M, 0, sizeof *M * (size_t)r->n * (size_t)r->n);
  /* children come after their parents, so b's composite is complete when b is reached */
  for (int b = r->bodies - 1; b >= 0; b--) {
    const double *c = composite + PSDMP_ROBOT_STANDARD * b;
    put_column(r, work->motion, b, c, M);
    if (r->body[b].parent >= 0)
      add_composite(&work->motion[b], c, composite + PSDMP_ROBOT_STANDARD * r->body[b].parent);
  }
  for (int i = 0; r->drive_mass && i < r->n * r->n; i++) M[i] += r->drive_mass[i];
}

psdm_status psdm_mass(const psdm_robot *r, psdm_work *work, const double *q, double *M) {
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  if (r->closure) return psdmp_rigid_closed_mass(r, work, q, M);
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, q, work->q));
  composite_bodies(r, work, M);
  return PSDM_OK;
}

psdm_status psdm_inverse_mass(const psdm_robot *r, psdm_work *work, const double *q, double *Minv) {
  psdm_status status = psdm_mass(r, work, q, work->M);
  if (status) return status;
  if (!psdmp_linalg_cholesky(r->n, work->M)) return PSDM_E_SINGULAR;
  psdmp_linalg_cholesky_inverse(r->n, work->M, work->row, Minv);
  return PSDM_OK;
}

psdm_status psdm_forward_cholesky(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                  const double *tau, double *qdd) {
  psdm_status status = psdm_bias(r, work, q, qd, work->row);
  if (status) return status;
  if (r->closure) status = psdmp_rigid_closed_mass(r, work, q, work->M);
  else composite_bodies(r, work, work->M); /* the frames are those of the bias */
  if (status) return status;
  for (int i = 0; i < r->n; i++) qdd[i] = tau[i] - work->row[i];
  if (!psdmp_linalg_cholesky(r->n, work->M)) return PSDM_E_SINGULAR;
  psdmp_linalg_cholesky_solve(r->n, work->M, qdd);
  return PSDM_OK;
}
