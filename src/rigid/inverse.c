/* inverse.c: recursive Newton-Euler with standard parameters about the joint frame's origin (Luh, Walker, Paul 1980).
 *
 *   outward  w, dw, a of each origin;  f = m a + dw x h + w x (w x h),  n = I dw + w x (I w) + h x a
 *   inward   f_parent += R f,  n_parent += R n + p x R f;  tau = n_z or f_z
 *
 * Gravity enters as an upward acceleration of the base. */

#include "rigid/closed_priv.h"

/* the wrench about its origin for the motion of one body: f = m a + U h, n = h x a + I dw + w x I w, the last two by
 * entries of I */
static inline void body_wrench(const double pi[10], psdmp_rigid_motion *restrict m) {
  const double *h = pi + 1, *w = m->w, *d = m->dw, *a = m->a, *U = m->U;
  double XX = pi[4], XY = pi[5], XZ = pi[6], YY = pi[7], YZ = pi[8], ZZ = pi[9];
  double xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2], f[3], n[3];
  psdmp_rigid_rotate(U, h, f);
  psdmp_rigid_cross(h, a, n);
  n[0] += XX * d[0] - XY * U[6] + XZ * U[3] + (ZZ - YY) * (w[1] * w[2]) + YZ * (yy - zz);
  n[1] += YY * d[1] + XY * U[7] - YZ * U[1] + (XX - ZZ) * (w[0] * w[2]) + XZ * (zz - xx);
  n[2] += ZZ * d[2] - XZ * U[5] + YZ * U[2] + (YY - XX) * (w[0] * w[1]) + XY * (xx - yy);
  for (int i = 0; i < 3; i++) m->f[i] = f[i] + pi[0] * a[i], m->n[i] = n[i];
}

/* wrenches from the tips to the base; the joint's own component is its torque */
static inline void gather(const psdm_robot *r, psdmp_rigid_motion *motion, double *tau) {
  for (int b = r->bodies - 1; b >= 0; b--) {
    const psdmp_robot_body *body = &r->body[b];
    const psdmp_rigid_motion *m = &motion[b];
    tau[b] = body->prismatic ? m->f[2] : m->n[2];
    if (body->parent >= 0) psdmp_rigid_carry(m, &motion[body->parent]);
  }
}

static void newton_euler(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *qdd,
                         double *tau) {
  const double base[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  psdmp_rigid_motion *motion = work->motion;
  psdmp_rigid_set_frames(r, work, q);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_move_body(body, &motion[b], body->parent < 0 ? NULL : &motion[body->parent], base, qd[b],
                          qdd ? qdd[b] : 0);
    body_wrench(body->pi, &motion[b]);
  }
  gather(r, motion, tau);
  for (int b = 0; qdd && b < r->bodies; b++) tau[b] += r->body_drive[b] * qdd[b];
}

static psdm_status inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *qdd,
                           double *tau) {
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  if (r->closure) return psdmp_rigid_closed_inverse(r, work, q, qd, qdd, tau);
  const double *tree_q = psdmp_rigid_expand_q(r, q, work->q), *tree_qd = psdmp_rigid_expand_rate(r, qd, work->qd);
  const double *tree_qdd = qdd ? psdmp_rigid_expand_rate(r, qdd, work->qdd) : NULL;
  double *tree_tau = r->direct ? tau : work->tau;
  newton_euler(r, work, tree_q, tree_qd, tree_qdd, tree_tau);
  psdmp_rigid_restrict(r, tree_tau, tau);
  for (int i = 0; r->drive_mass && qdd && i < r->n; i++)
    for (int j = 0; j < r->n; j++) tau[i] += r->drive_mass[i * r->n + j] * qdd[j];
  return PSDM_OK;
}

psdm_status psdm_inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *qdd,
                         double *tau) {
  return inverse(r, work, q, qd, qdd, tau);
}

psdm_status psdm_bias(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, double *tau) {
  return inverse(r, work, q, qd, NULL, tau);
}

/* at rest only the base's acceleration remains: f = m a, n = h x a */
psdm_status psdm_gravity(const psdm_robot *r, psdm_work *work, const double *q, double *tau) {
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  if (r->closure) return psdmp_rigid_closed_gravity(r, work, q, tau);
  const double base[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  double *tree_tau = r->direct ? tau : work->tau;
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_motion *m = &work->motion[b];
    psdmp_rigid_unrotate(m->R, body->parent < 0 ? base : work->motion[body->parent].a, m->a);
    for (int i = 0; i < 3; i++) m->f[i] = body->pi[0] * m->a[i];
    psdmp_rigid_cross(body->pi + 1, m->a, m->n);
  }
  gather(r, work->motion, tree_tau);
  psdmp_rigid_restrict(r, tree_tau, tau);
  return PSDM_OK;
}
