/* forward.c: forward dynamics by articulated bodies, O(n) (Featherstone 1983), in body frames with z on the joint axis.
 *
 *   outward  w, v; bias wrench of the velocities; acceleration c due to the joint's own velocity
 *   inward   U = I S, D = S.U + Ia, u = tau - S.p;  I - U U^T/D and p + I c + U u/D pass to the parent
 *   outward  qdd = (u - U.a)/D */

#include "rigid/rigid.h"

/* the acceleration due to the joint's own velocity: (w, v) x S qd */
static inline void set_product(const psdmp_robot_body *body, const psdmp_rigid_motion *m, double qd,
                               psdmp_rigid_articulated *restrict A) {
  A->cw[0] = body->prismatic ? 0 : m->w[1] * qd;
  A->cw[1] = body->prismatic ? 0 : -m->w[0] * qd;
  A->cv[0] = (body->prismatic ? m->w[1] : m->v[1]) * qd;
  A->cv[1] = -(body->prismatic ? m->w[0] : m->v[0]) * qd;
}

/* the body's own inertia, and the wrench of its velocity: the rate of its momentum (L, P) by the turning frame. Of v x
 * P only the part by w x h is used: m v x v is zero, and its rounding would be large beside the torques of small, fast
 * bodies. */
static inline void start_body(const double pi[10], const psdmp_rigid_motion *m, psdmp_rigid_articulated *restrict A) {
  const double *h = pi + 1, *w = m->w, *v = m->v;
  double turned[3], P[3], L[3];
  psdmp_rigid_cross(w, h, turned);
  for (int i = 0; i < 3; i++) P[i] = pi[0] * v[i] + turned[i];
  psdmp_rigid_symmetric(pi + 4, w, L);
  psdmp_rigid_cross_add(h, v, L);
  psdmp_rigid_cross(w, P, A->f);
  psdmp_rigid_cross(w, L, A->n);
  psdmp_rigid_cross_add(v, turned, A->n);
  for (int i = 0; i < 6; i++) A->J[i] = pi[4 + i];
  A->H[0] = 0, A->H[1] = -h[2], A->H[2] = h[1];
  A->H[3] = h[2], A->H[4] = 0, A->H[5] = -h[0];
  A->H[6] = -h[1], A->H[7] = h[0], A->H[8] = 0;
  A->M[0] = A->M[3] = A->M[5] = pi[0];
  A->M[1] = A->M[2] = A->M[4] = 0;
}

/* U, 1/D, u of one joint; false when its articulated inertia is not positive */
static inline bool resolve_joint(const psdmp_robot_body *body, double drive, double tau, psdmp_rigid_articulated *A) {
  const double *J = A->J, *H = A->H, *M = A->M;
  double D;
  if (body->prismatic) {
    A->Un[0] = H[2], A->Un[1] = H[5], A->Un[2] = H[8];
    A->Uf[0] = M[2], A->Uf[1] = M[4], A->Uf[2] = M[5];
    D = M[5] + drive;
    A->u = tau - A->f[2];
  } else {
    A->Un[0] = J[2], A->Un[1] = J[4], A->Un[2] = J[5];
    A->Uf[0] = H[6], A->Uf[1] = H[7], A->Uf[2] = H[8];
    D = J[5] + drive;
    A->u = tau - A->n[2];
  }
  A->g = 1 / D;
  return D > 0;
}

/* removes the joint's own direction from the inertia: I - U U^T/D */
static inline void project(psdmp_rigid_articulated *restrict A) {
  const double *Un = A->Un, *Uf = A->Uf;
  double n[3] = {A->g * Un[0], A->g * Un[1], A->g * Un[2]}, f[3] = {A->g * Uf[0], A->g * Uf[1], A->g * Uf[2]};
  A->J[0] -= n[0] * Un[0], A->J[1] -= n[0] * Un[1], A->J[2] -= n[0] * Un[2];
  A->J[3] -= n[1] * Un[1], A->J[4] -= n[1] * Un[2], A->J[5] -= n[2] * Un[2];
  A->M[0] -= f[0] * Uf[0], A->M[1] -= f[0] * Uf[1], A->M[2] -= f[0] * Uf[2];
  A->M[3] -= f[1] * Uf[1], A->M[4] -= f[1] * Uf[2], A->M[5] -= f[2] * Uf[2];
  A->H[0] -= n[0] * Uf[0], A->H[1] -= n[0] * Uf[1], A->H[2] -= n[0] * Uf[2];
  A->H[3] -= n[1] * Uf[0], A->H[4] -= n[1] * Uf[1], A->H[5] -= n[1] * Uf[2];
  A->H[6] -= n[2] * Uf[0], A->H[7] -= n[2] * Uf[1], A->H[8] -= n[2] * Uf[2];
}

/* out = R A R^T, row by row */
static inline void rotate_matrix(const double R[9], const double A[9], double out[9]) {
  double T[9];
  psdmp_rigid_unrotate(A, R, T);
  psdmp_rigid_unrotate(A, R + 3, T + 3);
  psdmp_rigid_unrotate(A, R + 6, T + 6);
  psdmp_rigid_rotate(R, T, out);
  psdmp_rigid_rotate(R, T + 3, out + 3);
  psdmp_rigid_rotate(R, T + 6, out + 6);
}

/* adds the projected inertia to the parent's. With everything rotated into the parent's axes and P = [p]x:
 * M' = M, H' = H + P M, J' = J + H' P^T + P H^T */
static inline void pass_inertia(const psdmp_rigid_motion *m, const psdmp_rigid_articulated *A,
                                psdmp_rigid_articulated *restrict parent) {
  double M[6], H[9], J[6], G[9], x = m->p[0], y = m->p[1], z = m->p[2];
  psdmp_rigid_rotate_symmetric(m->R, A->M, M);
  rotate_matrix(m->R, A->H, H);
  psdmp_rigid_rotate_symmetric(m->R, A->J, J);
  parent->M[0] += M[0], parent->M[1] += M[1], parent->M[2] += M[2];
  parent->M[3] += M[3], parent->M[4] += M[4], parent->M[5] += M[5];
  G[0] = H[0] + y * M[2] - z * M[1], G[1] = H[1] + y * M[4] - z * M[3], G[2] = H[2] + y * M[5] - z * M[4];
  G[3] = H[3] + z * M[0] - x * M[2], G[4] = H[4] + z * M[1] - x * M[4], G[5] = H[5] + z * M[2] - x * M[5];
  G[6] = H[6] + x * M[1] - y * M[0], G[7] = H[7] + x * M[3] - y * M[1], G[8] = H[8] + x * M[4] - y * M[2];
  parent->H[0] += G[0], parent->H[1] += G[1], parent->H[2] += G[2];
  parent->H[3] += G[3], parent->H[4] += G[4], parent->H[5] += G[5];
  parent->H[6] += G[6], parent->H[7] += G[7], parent->H[8] += G[8];
  /* (G P^T)_ij = (p x G_i)_j and (P H^T)_ij = (p x H_j)_i, with G_i, H_j the rows */
  parent->J[0] += J[0] + y * (G[2] + H[2]) - z * (G[1] + H[1]);
  parent->J[1] += J[1] + z * G[0] - x * G[2] + y * H[5] - z * H[4];
  parent->J[2] += J[2] + x * G[1] - y * G[0] + y * H[8] - z * H[7];
  parent->J[3] += J[3] + z * (G[3] + H[3]) - x * (G[5] + H[5]);
  parent->J[4] += J[4] + x * G[4] - y * G[3] + z * H[6] - x * H[8];
  parent->J[5] += J[5] + x * (G[7] + H[7]) - y * (G[6] + H[6]);
}

/* adds the bias wrench p + I c + U u/D to the parent's */
static inline void pass_wrench(const psdmp_rigid_motion *m, const psdmp_rigid_articulated *A,
                               psdmp_rigid_articulated *restrict parent) {
  const double *J = A->J, *H = A->H, *M = A->M;
  double k = A->u * A->g, w0 = A->cw[0], w1 = A->cw[1], v0 = A->cv[0], v1 = A->cv[1], Rn[3], Rf[3];
  const double n[3] = {A->n[0] + A->Un[0] * k + J[0] * w0 + J[1] * w1 + H[0] * v0 + H[1] * v1,
                       A->n[1] + A->Un[1] * k + J[1] * w0 + J[3] * w1 + H[3] * v0 + H[4] * v1,
                       A->n[2] + A->Un[2] * k + J[2] * w0 + J[4] * w1 + H[6] * v0 + H[7] * v1};
  const double f[3] = {A->f[0] + A->Uf[0] * k + H[0] * w0 + H[3] * w1 + M[0] * v0 + M[1] * v1,
                       A->f[1] + A->Uf[1] * k + H[1] * w0 + H[4] * w1 + M[1] * v0 + M[3] * v1,
                       A->f[2] + A->Uf[2] * k + H[2] * w0 + H[5] * w1 + M[2] * v0 + M[4] * v1};
  psdmp_rigid_rotate(m->R, n, Rn);
  psdmp_rigid_rotate(m->R, f, Rf);
  psdmp_rigid_cross_add(m->p, Rf, Rn);
  for (int i = 0; i < 3; i++) parent->n[i] += Rn[i], parent->f[i] += Rf[i];
}

/* acceleration of the body behind its joint, and so of the joint */
static inline double accelerate(const psdmp_robot_body *body, psdmp_rigid_motion *restrict m,
                                const psdmp_rigid_motion *parent, const double up[3],
                                const psdmp_rigid_articulated *A) {
  double d[3] = {0}, a[3];
  if (parent) {
    double at[3];
    psdmp_rigid_cross(parent->dw, m->p, at);
    for (int i = 0; i < 3; i++) at[i] += parent->a[i];
    psdmp_rigid_unrotate(m->R, parent->dw, d);
    psdmp_rigid_unrotate(m->R, at, a);
  } else {
    psdmp_rigid_unrotate(m->R, up, a);
  }
  for (int i = 0; i < 2; i++) d[i] += A->cw[i], a[i] += A->cv[i];
  double qdd = (A->u - psdmp_rigid_dot(A->Un, d) - psdmp_rigid_dot(A->Uf, a)) * A->g;
  *(body->prismatic ? &a[2] : &d[2]) += qdd;
  for (int i = 0; i < 3; i++) m->dw[i] = d[i], m->a[i] = a[i];
  return qdd;
}

static psdm_status articulated_bodies(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                      const double *tau, double *qdd) {
  const double up[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  psdmp_rigid_motion *motion = work->motion;
  psdmp_rigid_articulated *articulated = work->articulated;
  psdmp_rigid_set_frames(r, work, q);
  for (int b = 0; b < r->bodies; b++) {
    int parent = r->body[b].parent;
    psdmp_rigid_set_velocity(&r->body[b], &motion[b], parent < 0 ? NULL : &motion[parent], qd[b]);
    set_product(&r->body[b], &motion[b], qd[b], &articulated[b]);
    start_body(r->body[b].pi, &motion[b], &articulated[b]);
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    int parent = r->body[b].parent;
    psdmp_rigid_articulated *A = &articulated[b];
    if (!resolve_joint(&r->body[b], r->body_drive[b], tau[b], A)) return PSDM_E_SINGULAR;
    if (parent < 0) continue;
    project(A);
    pass_inertia(&motion[b], A, &articulated[parent]);
    pass_wrench(&motion[b], A, &articulated[parent]);
  }
  for (int b = 0; b < r->bodies; b++) {
    int parent = r->body[b].parent;
    qdd[b] = accelerate(&r->body[b], &motion[b], parent < 0 ? NULL : &motion[parent], up, &articulated[b]);
  }
  return PSDM_OK;
}

psdm_status psdm_forward(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *tau,
                         double *qdd) {
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  if (r->coupled || r->closure || r->drive_mass) return psdm_forward_cholesky(r, work, q, qd, tau, qdd);
  if (r->direct) return articulated_bodies(r, work, q, qd, tau, qdd);
  /* G is a permutation here: rates and torques expand alike */
  const double *tree_q = psdmp_rigid_expand_q(r, q, work->q), *tree_qd = psdmp_rigid_expand_rate(r, qd, work->qd);
  const double *tree_tau = psdmp_rigid_expand_rate(r, tau, work->tau);
  psdm_status status = articulated_bodies(r, work, tree_q, tree_qd, tree_tau, work->qdd);
  if (!status) psdmp_rigid_restrict(r, work->qdd, qdd);
  return status;
}
