/* momentum.c: generalised momentum, and the gradient of the kinetic energy, from the momenta of subtrees.
 *
 *   outward  w, v of each body;  P = m v + w x h,  L = I w + h x v                      about the origin of its frame
 *   inward   P_parent += R P,  L_parent += R L + p x R P                                 then (L, P) is of all
 *                              bodies behind the joint
 *   p_j = S_j . (L, P)_j,   dT/dq_j = (V_j x S_j) . (L, P)_j                             S_j the joint's axis, V_j =
 *                           (w, v)_j
 *
 * The first is M qd as momentum: row j of M is the momentum behind joint j per unit rate of each joint (Featherstone,
 * Rigid Body Dynamics Algorithms, 2008, ch. 6). The second: a change of q_j displaces everything behind the joint
 * rigidly along S_j. If the velocities were displaced with the bodies, the energy would not change; but the part V_j of
 * a body's velocity belongs to axes that stay where they are, so that V_body changes by S_j x (V_body - V_j) instead of
 * S_j x V_body, which would leave T unchanged. The difference, -S_j x V_j = V_j x S_j, does work on the momentum. */
#include "rigid/closed_priv.h"

/* momentum of one body about its origin: P as f, L as n */
static inline void body_momentum(const double pi[10], psdmp_rigid_motion *m) {
  psdmp_rigid_cross(m->w, pi + 1, m->f);
  psdmp_rigid_symmetric(pi + 4, m->w, m->n);
  psdmp_rigid_cross_add(pi + 1, m->v, m->n);
  for (int i = 0; i < 3; i++) m->f[i] += pi[0] * m->v[i];
}

/* (V x S) . (L, P) with S along or about z: w x z = (w_y, -w_x, 0) */
static inline double gradient(bool prismatic, const psdmp_rigid_motion *m) {
  if (prismatic) return m->f[0] * m->w[1] - m->f[1] * m->w[0];
  return m->n[0] * m->w[1] - m->n[1] * m->w[0] + m->f[0] * m->v[1] - m->f[1] * m->v[0];
}

/* momenta from the tips to the base; either result may be NULL */
static void gather(const psdm_robot *r, psdmp_rigid_motion *motion, const double *qd, double *p, double *dT_dq) {
  for (int b = r->bodies - 1; b >= 0; b--) {
    const psdmp_robot_body *body = &r->body[b];
    const psdmp_rigid_motion *m = &motion[b];
    if (p) p[b] = (body->prismatic ? m->f[2] : m->n[2]) + r->body_drive[b] * qd[b];
    if (dT_dq) dT_dq[b] = gradient(body->prismatic, m);
    if (body->parent >= 0) psdmp_rigid_carry(m, &motion[body->parent]);
  }
}

psdm_status psdm_momentum(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, double *p,
                          double *dT_dq) {
  if (r->closure) return psdmp_rigid_closed_momentum(r, work, q, qd, p, dT_dq);
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  const double *tree_qd = psdmp_rigid_expand_rate(r, qd, work->qd);
  psdmp_rigid_motion *motion = work->motion;
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, q, work->q));
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_set_velocity(body, &motion[b], body->parent < 0 ? NULL : &motion[body->parent], tree_qd[b]);
    body_momentum(body->pi, &motion[b]);
  }
  double *tree_p = r->direct ? p : work->tau, *tree_gradient = r->direct ? dT_dq : work->qdd;
  gather(r, motion, tree_qd, p ? tree_p : NULL, dT_dq ? tree_gradient : NULL);
  if (p) psdmp_rigid_restrict(r, tree_p, p);
  if (dT_dq) psdmp_rigid_restrict(r, tree_gradient, dT_dq);
  /* drives through a transmission: their momentum does not depend on q */
  for (int i = 0; p && r->drive_mass && i < r->n; i++)
    for (int j = 0; j < r->n; j++) p[i] += r->drive_mass[i * r->n + j] * qd[j];
  return PSDM_OK;
}
