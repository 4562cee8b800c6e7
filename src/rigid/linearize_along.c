/* linearize_along.c: the inverse dynamics' derivatives along one direction (Algorithm 1) and along two, O(n) each.
 *
 * Newton-Euler in the links' frames, differentiated directly: with T = R^T y rotated into the link's frame, z the
 * joint's axis,
 *
 *   revolute   T1 = R^T y1 + dq1 T x z,   T12 = R^T y12 + dq2 T1 x z + dq1 T2 x z - dq1 dq2 (T x z) x z
 *   prismatic  p1 = dq1 z                 T12 of U p: U12 p + U1 p2 + U2 p1
 *
 * and a body's wrench is linear in (a, d, w w^T), so its derivative is the same function of their derivatives. This
 * gives the dtau of Jain and Rodriguez' Algorithm 1, whose beta and theta are in one frame, with fewer operations. */
#include <string.h>

#include "rigid/linearize_priv.h"

/* The effect of one joint along a direction. */
typedef struct change {
  double q, qd, qdd;
} change;

static inline psdmp_rigid_wave *wave_of(const psdm_linear *l, int b, int level) {
  return &l->wave[PSDMP_RIGID_LEVELS * b + level];
}

static inline change change_of(const psdm_linear *l, int b, int level) {
  double *const *d = l->direction + (level == PSDMP_RIGID_SECOND ? 3 : 0);
  return (change){d[0][b], d[1][b], d[2][b]};
}

/* ---- one body ---- */

/* the parent's motion in this link's frame */
static inline void carry(const psdmp_rigid_motion *m, const psdmp_rigid_wave *parent, psdmp_rigid_wave *restrict k) {
  double at[3];
  psdmp_rigid_rotate(parent->U, m->p, at);
  for (int i = 0; i < 3; i++) at[i] += parent->a[i];
  psdmp_rigid_unrotate(m->R, parent->w, k->w);
  psdmp_rigid_unrotate(m->R, parent->d, k->d);
  psdmp_rigid_unrotate(m->R, at, k->a);
}

static inline void rest(psdmp_rigid_wave *k) {
  for (int i = 0; i < 3; i++) k->w[i] = k->d[i] = k->a[i] = 0;
}

/* x += q y x z */
static inline void turn(double q, const double y[2], double x[3]) {
  x[0] += q * y[1];
  x[1] -= q * y[0];
}

/* U = [d]x + [w]x[w]x */
static inline void set_U(psdmp_rigid_wave *k) {
  const double *s = k->s, *d = k->d;
  k->U[0] = -s[3] - s[5], k->U[1] = s[1] - d[2], k->U[2] = s[2] + d[1];
  k->U[3] = s[1] + d[2], k->U[4] = -s[0] - s[5], k->U[5] = s[4] - d[0];
  k->U[6] = s[2] - d[1], k->U[7] = s[4] + d[0], k->U[8] = -s[0] - s[3];
}

/* f = m a + U h, n = h x a + I d + w x I w, the last two by entries of I */
static inline void set_wrench(const double pi[10], psdmp_rigid_wave *restrict k) {
  const double *h = pi + 1, *d = k->d, *s = k->s, *U = k->U;
  double XX = pi[4], XY = pi[5], XZ = pi[6], YY = pi[7], YZ = pi[8], ZZ = pi[9];
  psdmp_rigid_rotate(U, h, k->f);
  psdmp_rigid_cross(h, k->a, k->n);
  for (int i = 0; i < 3; i++) k->f[i] += pi[0] * k->a[i];
  k->n[0] += XX * d[0] - XY * U[6] + XZ * U[3] + (ZZ - YY) * s[4] + YZ * (s[3] - s[5]);
  k->n[1] += YY * d[1] + XY * U[7] - YZ * U[1] + (XX - ZZ) * s[2] + XZ * (s[5] - s[0]);
  k->n[2] += ZZ * d[2] - XZ * U[5] + YZ * U[2] + (YY - XX) * s[1] + XY * (s[0] - s[3]);
}

/* rotates a wrench into the parent's frame and adds it to the parent's; out: the force there */
static inline void pass(const psdmp_rigid_motion *m, const double f[3], const double n[3],
                        psdmp_rigid_wave *restrict parent, double out[3]) {
  double moment[3];
  psdmp_rigid_rotate(m->R, f, out);
  psdmp_rigid_rotate(m->R, n, moment);
  psdmp_rigid_cross_add(m->p, out, moment);
  for (int i = 0; i < 3; i++) parent->f[i] += out[i], parent->n[i] += moment[i];
}

/* out += q R^T U z of the parent: a prismatic joint's own displacement in a rotating frame; z in the parent's frame */
static inline void slide(const psdmp_rigid_motion *m, const psdmp_rigid_wave *parent, double q, double out[3]) {
  const double z[3] = {m->R[2], m->R[5], m->R[8]};
  double at[3], a[3];
  psdmp_rigid_rotate(parent->U, z, at);
  psdmp_rigid_unrotate(m->R, at, a);
  for (int i = 0; i < 3; i++) out[i] += q * a[i];
}

/* moment += q z x R f: the arm of a wrench grows */
static inline void lever(const psdmp_rigid_motion *m, const double f[3], double q, double moment[3]) {
  const double z[3] = {q * m->R[2], q * m->R[5], q * m->R[8]};
  double force[3];
  psdmp_rigid_rotate(m->R, f, force);
  psdmp_rigid_cross_add(z, force, moment);
}

static inline double along_joint(const psdmp_robot_body *body, const psdmp_rigid_wave *k) {
  return body->prismatic ? k->f[2] : k->n[2];
}

/* ---- the motion itself ---- */

static inline void move(const psdmp_robot_body *body, double qd, double qdd, psdmp_rigid_wave *k) {
  if (body->prismatic) {
    k->a[0] += 2 * (k->w[1] * qd);
    k->a[1] -= 2 * (k->w[0] * qd);
    k->a[2] += qdd;
  } else {
    k->turned[0] = k->d[0], k->turned[1] = k->d[1];
    turn(qd, k->w, k->d);
    k->d[2] += qdd;
    k->w[2] += qd;
  }
  const double *w = k->w;
  k->s[0] = w[0] * w[0], k->s[1] = w[0] * w[1], k->s[2] = w[0] * w[2];
  k->s[3] = w[1] * w[1], k->s[4] = w[1] * w[2], k->s[5] = w[2] * w[2];
}

static void sweep_nominal(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd) {
  const double base[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  const psdmp_rigid_motion *motion = l->work->motion;
  psdmp_rigid_set_frames(r, l->work, q);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_wave *k = wave_of(l, b, PSDMP_RIGID_NOMINAL);
    if (body->parent < 0) {
      rest(k);
      psdmp_rigid_unrotate(motion[b].R, base, k->a);
    } else {
      carry(&motion[b], wave_of(l, body->parent, PSDMP_RIGID_NOMINAL), k);
    }
    move(body, qd[b], qdd[b], k);
    set_U(k);
    set_wrench(body->pi, k);
  }
  for (int b = r->bodies - 1; b > 0; b--) {
    const psdmp_rigid_wave *k = wave_of(l, b, PSDMP_RIGID_NOMINAL);
    double force[3];
    if (r->body[b].parent >= 0) pass(&motion[b], k->f, k->n, wave_of(l, r->body[b].parent, PSDMP_RIGID_NOMINAL), force);
  }
}

/* ---- along one direction ---- */

static inline void move_first(const psdmp_robot_body *body, double qd, change x, const psdmp_rigid_wave *o,
                              psdmp_rigid_wave *k) {
  if (body->prismatic) {
    k->a[0] += 2 * (k->w[1] * qd + o->w[1] * x.qd);
    k->a[1] -= 2 * (k->w[0] * qd + o->w[0] * x.qd);
    k->a[2] += x.qdd;
  } else {
    turn(x.q, o->w, k->w);
    turn(x.q, o->turned, k->d);
    turn(x.q, o->a, k->a);
    k->turned[0] = k->d[0], k->turned[1] = k->d[1];
    turn(qd, k->w, k->d);
    turn(x.qd, o->w, k->d);
    k->d[2] += x.qdd;
    k->w[2] += x.qd;
  }
  const double *w = k->w, *v = o->w;
  k->s[0] = 2 * (w[0] * v[0]), k->s[1] = w[0] * v[1] + v[0] * w[1], k->s[2] = w[0] * v[2] + v[0] * w[2];
  k->s[3] = 2 * (w[1] * v[1]), k->s[4] = w[1] * v[2] + v[1] * w[2], k->s[5] = 2 * (w[2] * v[2]);
}

static inline void pass_first(const psdm_robot *r, const psdm_linear *l, int b, int level) {
  const psdmp_robot_body *body = &r->body[b];
  const psdmp_rigid_motion *m = &l->work->motion[b];
  const psdmp_rigid_wave *k = wave_of(l, b, level), *o = wave_of(l, b, PSDMP_RIGID_NOMINAL);
  psdmp_rigid_wave *parent = wave_of(l, body->parent, level);
  double x = change_of(l, b, level).q, f[3] = {k->f[0], k->f[1], k->f[2]}, n[3] = {k->n[0], k->n[1], k->n[2]}, force[3];
  if (!body->prismatic) turn(-x, o->f, f), turn(-x, o->n, n);
  pass(m, f, n, parent, force);
  if (body->prismatic) lever(m, o->f, x, parent->n);
}

static void sweep_first(const psdm_robot *r, psdm_linear *l, const double *qd, int level, double *tau) {
  const psdmp_rigid_motion *motion = l->work->motion;
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_wave *k = wave_of(l, b, level);
    change x = change_of(l, b, level);
    if (body->parent < 0) {
      rest(k);
    } else {
      carry(&motion[b], wave_of(l, body->parent, level), k);
      if (body->prismatic) slide(&motion[b], wave_of(l, body->parent, PSDMP_RIGID_NOMINAL), x.q, k->a);
    }
    move_first(body, qd[b], x, wave_of(l, b, PSDMP_RIGID_NOMINAL), k);
    set_U(k);
    set_wrench(body->pi, k);
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    tau[b] = along_joint(&r->body[b], wave_of(l, b, level)) + r->body_drive[b] * change_of(l, b, level).qdd;
    if (r->body[b].parent >= 0) pass_first(r, l, b, level);
  }
}

/* ---- along two directions ---- */

/* x += q2 y1 x z + q1 y2 x z + q1 q2 y, in the plane */
static inline void turn_mixed(double q1, double q2, const double y[2], const double y1[2], const double y2[2],
                              double x[3]) {
  turn(q2, y1, x);
  turn(q1, y2, x);
  x[0] += q1 * q2 * y[0];
  x[1] += q1 * q2 * y[1];
}

static inline void move_mixed(const psdmp_robot_body *body, double qd, change x1, change x2, const psdmp_rigid_wave *o,
                              const psdmp_rigid_wave *k1, const psdmp_rigid_wave *k2, psdmp_rigid_wave *k) {
  if (body->prismatic) {
    k->a[0] += 2 * (k->w[1] * qd + k1->w[1] * x2.qd + k2->w[1] * x1.qd);
    k->a[1] -= 2 * (k->w[0] * qd + k1->w[0] * x2.qd + k2->w[0] * x1.qd);
  } else {
    turn_mixed(x1.q, x2.q, o->w, k1->w, k2->w, k->w);
    turn_mixed(x1.q, x2.q, o->turned, k1->turned, k2->turned, k->d);
    turn_mixed(x1.q, x2.q, o->a, k1->a, k2->a, k->a);
    turn(qd, k->w, k->d);
    turn(x2.qd, k1->w, k->d);
    turn(x1.qd, k2->w, k->d);
  }
  for (int i = 0, e = 0; i < 3; i++)
    for (int j = i; j < 3; j++, e++)
      k->s[e] = k->w[i] * o->w[j] + o->w[i] * k->w[j] + k1->w[i] * k2->w[j] + k2->w[i] * k1->w[j];
}

static inline void pass_mixed(const psdm_robot *r, const psdm_linear *l, int b) {
  const psdmp_robot_body *body = &r->body[b];
  const psdmp_rigid_motion *m = &l->work->motion[b];
  const psdmp_rigid_wave *k = wave_of(l, b, PSDMP_RIGID_MIXED), *o = wave_of(l, b, PSDMP_RIGID_NOMINAL);
  const psdmp_rigid_wave *k1 = wave_of(l, b, PSDMP_RIGID_FIRST), *k2 = wave_of(l, b, PSDMP_RIGID_SECOND);
  psdmp_rigid_wave *parent = wave_of(l, body->parent, PSDMP_RIGID_MIXED);
  double q1 = change_of(l, b, PSDMP_RIGID_FIRST).q, q2 = change_of(l, b, PSDMP_RIGID_SECOND).q, force[3];
  double f[3] = {k->f[0], k->f[1], k->f[2]}, n[3] = {k->n[0], k->n[1], k->n[2]};
  if (!body->prismatic) { /* R (f12 + q1 z x f2 + q2 z x f1 + q1 q2 z x (z x f)) */
    turn(-q2, k1->f, f), turn(-q1, k2->f, f);
    turn(-q2, k1->n, n), turn(-q1, k2->n, n);
    for (int i = 0; i < 2; i++) f[i] -= q1 * q2 * o->f[i], n[i] -= q1 * q2 * o->n[i];
  }
  pass(m, f, n, parent, force);
  if (body->prismatic) lever(m, k2->f, q1, parent->n), lever(m, k1->f, q2, parent->n);
}

static void sweep_mixed(const psdm_robot *r, psdm_linear *l, const double *qd, double *tau) {
  const psdmp_rigid_motion *motion = l->work->motion;
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    psdmp_rigid_wave *k = wave_of(l, b, PSDMP_RIGID_MIXED);
    change x1 = change_of(l, b, PSDMP_RIGID_FIRST), x2 = change_of(l, b, PSDMP_RIGID_SECOND);
    rest(k);
    if (body->parent >= 0) {
      carry(&motion[b], wave_of(l, body->parent, PSDMP_RIGID_MIXED), k);
      if (body->prismatic) {
        slide(&motion[b], wave_of(l, body->parent, PSDMP_RIGID_FIRST), x2.q, k->a);
        slide(&motion[b], wave_of(l, body->parent, PSDMP_RIGID_SECOND), x1.q, k->a);
      }
    }
    move_mixed(body, qd[b], x1, x2, wave_of(l, b, PSDMP_RIGID_NOMINAL), wave_of(l, b, PSDMP_RIGID_FIRST),
               wave_of(l, b, PSDMP_RIGID_SECOND), k);
    set_U(k);
    set_wrench(body->pi, k);
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    tau[b] = along_joint(&r->body[b], wave_of(l, b, PSDMP_RIGID_MIXED));
    if (r->body[b].parent >= 0) pass_mixed(r, l, b);
  }
}

/* ---- from the independent joints and back ---- */

static void set_direction(const psdm_robot *r, psdm_linear *l, const psdm_direction *x, int level) {
  const double *part[3] = {x->dq, x->dqd, x->dqdd};
  double **to = l->direction + (level == PSDMP_RIGID_SECOND ? 3 : 0);
  for (int i = 0; i < 3; i++) {
    const double *tree = psdmp_rigid_expand_rate(r, part[i] ? part[i] : l->zero, to[i]);
    if (tree != to[i]) memcpy(to[i], tree, sizeof *tree * (size_t)r->bodies);
  }
}

/* nominal motion and the first direction; *tree_qd is for further use */
static void start(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd,
                  const psdm_direction *first, double *dtau, const double **tree_qd) {
  *tree_qd = psdmp_rigid_expand_rate(r, qd, l->qd);
  sweep_nominal(r, l, psdmp_rigid_expand_q(r, q, l->q), *tree_qd, psdmp_rigid_expand_rate(r, qdd, l->qdd));
  set_direction(r, l, first, PSDMP_RIGID_FIRST);
  sweep_first(r, l, *tree_qd, PSDMP_RIGID_FIRST, dtau);
}

psdm_status psdm_linear_inverse_along(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                      const double *qdd, const double *dq, const double *dqd, const double *dqdd,
                                      double *dtau) {
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  if (r->closure) return psdmp_rigid_closed_along(r, l, q, qd, qdd, dq, dqd, dqdd, dtau);
  const double *tree_qd;
  start(r, l, q, qd, qdd, &(psdm_direction){dq, dqd, dqdd}, l->tree, &tree_qd);
  psdmp_rigid_restrict(r, l->tree, dtau);
  for (int i = 0; r->drive_mass && dqdd && i < r->n; i++)
    for (int j = 0; j < r->n; j++) dtau[i] += r->drive_mass[i * r->n + j] * dqdd[j];
  return PSDM_OK;
}

psdm_status psdm_linear_inverse_second(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                       const double *qdd, const psdm_direction *first, const psdm_direction *second,
                                       double *d2tau) {
  psdm_status status = psdmp_rigid_linear_check_open(r);
  if (status) return status;
  const double *tree_qd;
  start(r, l, q, qd, qdd, first, l->tree, &tree_qd);
  set_direction(r, l, second, PSDMP_RIGID_SECOND);
  sweep_first(r, l, tree_qd, PSDMP_RIGID_SECOND, l->tree);
  sweep_mixed(r, l, tree_qd, l->tree);
  psdmp_rigid_restrict(r, l->tree, d2tau);
  return PSDM_OK;
}

/* column by column: the second direction is one joint's q, qd or qdd */
psdm_status psdm_linearize_inverse_second(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                          const double *qdd, const psdm_direction *direction, double *d_dtau_dq,
                                          double *d_dtau_dqd, double *dM) {
  psdm_status status = psdmp_rigid_linear_check_open(r);
  if (status) return status;
  double *const out[3] = {d_dtau_dq, d_dtau_dqd, dM}, *unit = l->vector, *column = l->vector + r->n;
  const double *tree_qd;
  start(r, l, q, qd, qdd, direction, l->tree, &tree_qd);
  memset(unit, 0, sizeof *unit * (size_t)r->n);
  for (int j = 0; j < r->n; j++) {
    unit[j] = 1;
    for (int part = 0; part < 3; part++) {
      if (!out[part]) continue;
      const psdm_direction second = {part == 0 ? unit : NULL, part == 1 ? unit : NULL, part == 2 ? unit : NULL};
      set_direction(r, l, &second, PSDMP_RIGID_SECOND);
      sweep_first(r, l, tree_qd, PSDMP_RIGID_SECOND, l->tree);
      sweep_mixed(r, l, tree_qd, l->tree);
      psdmp_rigid_restrict(r, l->tree, column);
      for (int i = 0; i < r->n; i++) out[part][(long)i * r->n + j] = column[i];
    }
    unit[j] = 0;
  }
  return PSDM_OK;
}
