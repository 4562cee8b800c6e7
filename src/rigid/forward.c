/* forward.c: forward dynamics by articulated bodies, O(n) (Featherstone 1983), in body frames with z on the joint axis.
 *
 *   outward  w, v; bias wrench of the velocities; acceleration c that the joint's own velocity adds
 *   inward   U = I S, D = S.U + Ia, u = tau - S.p;  I - U U^T/D and p + I c + U u/D pass to the parent
 *   outward  qdd = (u - U.a)/D */
#include <string.h>

#include "rigid/rigid_priv.h"

/* velocities, the wrench w x (I w) ... that they ask for, and the joint's velocity product */
static inline void start_body(const psdmp_body *body, psdmp_motion *m, const psdmp_motion *parent, psdmp_articulated *A, double qd) {
  const double *pi = body->pi, *h = pi + 1;
  if (parent) {
    double v[3];
    memcpy(v, parent->v, sizeof v);
    psdmp_cross_add(parent->w, m->p, v);
    psdmp_unrotate(m->R, parent->w, m->w);
    psdmp_unrotate(m->R, v, m->v);
  } else {
    memset(m->w, 0, sizeof m->w);
    memset(m->v, 0, sizeof m->v);
  }
  double *w = m->w, *v = m->v;
  memset(A->cw, 0, sizeof A->cw);
  memset(A->cv, 0, sizeof A->cv);
  if (body->prismatic) {
    v[2] += qd;
    A->cv[0] = w[1] * qd;
    A->cv[1] = -w[0] * qd;
  } else {
    w[2] += qd;
    A->cw[0] = w[1] * qd;
    A->cw[1] = -w[0] * qd;
    A->cv[0] = v[1] * qd;
    A->cv[1] = -v[0] * qd;
  }
  /* momentum (L, P) about the origin, and its rate by the motion of the frame */
  double P[3], L[3];
  for (int i = 0; i < 3; i++) P[i] = pi[0] * v[i];
  psdmp_cross_add(w, h, P);
  psdmp_symmetric(pi + 4, w, L);
  psdmp_cross_add(h, v, L);
  psdmp_cross(w, L, A->n);
  psdmp_cross_add(v, P, A->n);
  psdmp_cross(w, P, A->f);
  memcpy(A->J, pi + 4, sizeof A->J);
  memcpy(A->H, (double[9]){0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0}, sizeof A->H);
  memcpy(A->M, (double[6]){pi[0], 0, 0, pi[0], 0, pi[0]}, sizeof A->M);
}

/* out += R S R^T for symmetric S, in packed form; T = R S is scratch that the caller may use */
static inline void add_rotated(const double R[9], const double S[6], double out[6]) {
  double T[9];
  for (int i = 0; i < 3; i++) psdmp_symmetric(S, R + 3 * i, T + 3 * i);
  out[0] += psdmp_dot(T, R);
  out[1] += psdmp_dot(T, R + 3);
  out[2] += psdmp_dot(T, R + 6);
  out[3] += psdmp_dot(T + 3, R + 3);
  out[4] += psdmp_dot(T + 3, R + 6);
  out[5] += psdmp_dot(T + 6, R + 6);
}

/* takes the joint's own direction out of the inertia: I - U U^T/D */
static inline void project(psdmp_articulated *A) {
  double g = 1 / A->D, n[3], f[3];
  for (int i = 0; i < 3; i++) n[i] = g * A->Un[i], f[i] = g * A->Uf[i];
  for (int i = 0, k = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++) {
      A->J[k] -= n[i] * A->Un[j];
      A->M[k] -= f[i] * A->Uf[j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A->H[3 * i + j] -= n[i] * A->Uf[j];
}

/* adds the projected body to its parent. With everything rotated into the parent's axes and P = [p]x:
 * M' = M, H' = H + P M, J' = J + H' P^T + P H^T */
static inline void pass_to_parent(const psdmp_motion *m, const psdmp_articulated *A, psdmp_articulated *parent) {
  const double *R = m->R, *p = m->p;
  double M[6] = {0}, J[6] = {0}, T[9], H[9], G[9];
  add_rotated(R, A->M, M);
  add_rotated(R, A->J, J);
  for (int i = 0; i < 3; i++) psdmp_unrotate(A->H, R + 3 * i, T + 3 * i); /* row i of R H */
  for (int i = 0; i < 3; i++) psdmp_rotate(R, T + 3 * i, H + 3 * i);      /* row i of R H R^T */

  /* G = H + P M: row 0 of P M is p_y M_2 - p_z M_1, and so on round */
  const double Mf[9] = {M[0], M[1], M[2], M[1], M[3], M[4], M[2], M[4], M[5]};
  for (int j = 0; j < 3; j++) {
    G[j] = H[j] + p[1] * Mf[6 + j] - p[2] * Mf[3 + j];
    G[3 + j] = H[3 + j] + p[2] * Mf[j] - p[0] * Mf[6 + j];
    G[6 + j] = H[6 + j] + p[0] * Mf[3 + j] - p[1] * Mf[j];
  }
  /* (G P^T)_ij = (p x G_i)_j and (P H^T)_ij = (p x H_j)_i, with G_i, H_j the rows */
  double GP[9], HP[9];
  for (int i = 0; i < 3; i++) {
    psdmp_cross(p, G + 3 * i, GP + 3 * i);
    psdmp_cross(p, H + 3 * i, HP + 3 * i);
  }
  for (int i = 0, k = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++) {
      parent->J[k] += J[k] + GP[3 * i + j] + HP[3 * j + i];
      parent->M[k] += M[k];
    }
  for (int i = 0; i < 9; i++) parent->H[i] += G[i];

  /* p + I c + U u/D */
  double n[3], f[3], t[3], Rn[3], Rf[3], g = A->u / A->D;
  psdmp_symmetric(A->J, A->cw, n);
  psdmp_rotate(A->H, A->cv, t);
  for (int i = 0; i < 3; i++) n[i] += t[i] + A->n[i] + A->Un[i] * g;
  psdmp_symmetric(A->M, A->cv, f);
  psdmp_unrotate(A->H, A->cw, t);
  for (int i = 0; i < 3; i++) f[i] += t[i] + A->f[i] + A->Uf[i] * g;
  psdmp_rotate(R, n, Rn);
  psdmp_rotate(R, f, Rf);
  psdmp_cross_add(p, Rf, Rn);
  for (int i = 0; i < 3; i++) parent->n[i] += Rn[i], parent->f[i] += Rf[i];
}

/* U, D, u of one joint; false when its articulated inertia is not positive */
static inline bool resolve_joint(const psdmp_body *body, double drive, double tau, psdmp_articulated *A) {
  if (body->prismatic) {
    memcpy(A->Un, (double[3]){A->H[2], A->H[5], A->H[8]}, sizeof A->Un);
    memcpy(A->Uf, (double[3]){A->M[2], A->M[4], A->M[5]}, sizeof A->Uf);
    A->D = A->Uf[2] + drive;
    A->u = tau - A->f[2];
  } else {
    memcpy(A->Un, (double[3]){A->J[2], A->J[4], A->J[5]}, sizeof A->Un);
    memcpy(A->Uf, A->H + 6, sizeof A->Uf);
    A->D = A->Un[2] + drive;
    A->u = tau - A->n[2];
  }
  return A->D > 0;
}

static psdm_status articulated_bodies(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *tau,
                                      double *qdd) {
  psdmp_motion *motion = work->motion;
  psdmp_articulated *articulated = work->articulated;
  psdmp_set_frames(r, work, q);
  for (int b = 0; b < r->bodies; b++) {
    int parent = r->body[b].parent;
    start_body(&r->body[b], &motion[b], parent < 0 ? NULL : &motion[parent], &articulated[b], qd[b]);
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    psdmp_articulated *A = &articulated[b];
    if (!resolve_joint(&r->body[b], r->body_drive[b], tau[b], A)) return PSDM_E_SINGULAR;
    if (r->body[b].parent < 0) continue;
    project(A);
    pass_to_parent(&motion[b], A, &articulated[r->body[b].parent]);
  }
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_articulated *A = &articulated[b];
    psdmp_motion *m = &motion[b];
    if (r->body[b].parent >= 0) {
      const psdmp_motion *parent = &motion[r->body[b].parent];
      double a[3];
      memcpy(a, parent->a, sizeof a);
      psdmp_cross_add(parent->dw, m->p, a);
      psdmp_unrotate(m->R, parent->dw, m->dw);
      psdmp_unrotate(m->R, a, m->a);
    } else {
      const double up[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
      memset(m->dw, 0, sizeof m->dw);
      psdmp_unrotate(m->R, up, m->a);
    }
    for (int i = 0; i < 3; i++) m->dw[i] += A->cw[i], m->a[i] += A->cv[i];
    qdd[b] = (A->u - psdmp_dot(A->Un, m->dw) - psdmp_dot(A->Uf, m->a)) / A->D;
    *(r->body[b].prismatic ? &m->a[2] : &m->dw[2]) += qdd[b];
  }
  return PSDM_OK;
}

psdm_status psdm_forward(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *tau, double *qdd) {
  if (!psdmp_ready(r)) return PSDM_E_MISSING;
  if (r->coupled || r->drive_mass) return psdm_forward_cholesky(r, work, q, qd, tau, qdd);
  if (r->direct) return articulated_bodies(r, work, q, qd, tau, qdd);
  /* G is a permutation here: rates and torques expand alike */
  const double *tree_q = psdmp_expand_q(r, q, work->q), *tree_qd = psdmp_expand_rate(r, qd, work->qd);
  const double *tree_tau = psdmp_expand_rate(r, tau, work->tau);
  psdm_status status = articulated_bodies(r, work, tree_q, tree_qd, tree_tau, work->qdd);
  if (!status) psdmp_restrict(r, work->qdd, qdd);
  return status;
}
