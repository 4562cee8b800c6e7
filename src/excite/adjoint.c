/* adjoint.c: derivatives of a weighted sum of the regressor's entries by the motion.
 *
 * The sum over joints i and bodies b behind them of the power of body b's wrench, for the parameters weighted by row i,
 * on the unit twist s_ib of joint i (regressor.c). One pass outwards gives motions and twists; one pass inwards their
 * adjoints (reverse differentiation, Griewank and Walther 2008):
 *
 *   power  s_w . (I dw + w x I w + h x a) + s_v . (m a + dw x h + w x (w x h))
 *   twist  s_ib = X_b s_i,parent(b),  s_ii = z
 *   motion w = R^T w' + z qd,  dw = R^T dw' + (R^T w') x z qd + z qdd,  a = R^T (a' + dw' x p + w' x (w' x p)), and
 *                                                                       similarly along z */
#include <string.h>

#include "excite/inertia_priv.h"
#include "rigid/rigid.h"

/* Per body: adjoints of w, dw, a; then per pair of bodies the twist and its adjoint. */
typedef struct adjoints {
  const psdm_robot *r;
  const psdmp_rigid_motion *motion;
  const double *weight;
  double *body;             /* (bodies x 9) */
  double *twist, *by_twist; /* (bodies x bodies x 6): [b][i], angular part first */
  double *q, *qd, *qdd;     /* (bodies) of the tree's coordinates */
} adjoints;

long psdmp_excite_adjoint_scratch(const psdm_robot *r) { return r->bodies * (12 + 12L * r->bodies); }

static double *pair(const adjoints *a, double *of, int b, int i) { return of + 6 * ((long)b * a->r->bodies + i); }

/* twists of all joints that move body b, at its origin and in its axes */
static void set_twists(adjoints *a, int b) {
  const psdmp_robot_body *body = &a->r->body[b];
  const psdmp_rigid_motion *m = &a->motion[b];
  double *own = pair(a, a->twist, b, b);
  memset(own, 0, 6 * sizeof *own);
  own[body->prismatic ? 5 : 2] = 1;
  for (int i = body->parent; i >= 0; i = a->r->body[i].parent) {
    const double *from = pair(a, a->twist, body->parent, i);
    double *to = pair(a, a->twist, b, i), at[3] = {from[3], from[4], from[5]};
    psdmp_rigid_cross_add(from, m->p, at);
    psdmp_rigid_unrotate(m->R, from, to);
    psdmp_rigid_unrotate(m->R, at, to + 3);
  }
}

/* the ten weights of tree joint i's row for body b, about b's origin: they transform as parameters do */
static void weights(const adjoints *a, int b, int i, double pi[10]) {
  const psdm_robot *r = a->r;
  long columns = psdm_robot_parameter_count(r);
  double sum[PSDMP_ROBOT_STANDARD] = {0};
  for (int g = r->g_row[i]; g < r->g_row[i + 1]; g++) {
    const double *from = a->weight + r->g_col[g] * columns + PSDMP_ROBOT_STANDARD * r->body[b].number;
    for (int k = 0; k < PSDMP_ROBOT_STANDARD; k++) sum[k] += r->g_val[g] * from[k];
  }
  psdmp_robot_standard_move(&r->link[r->body[b].index].frame, sum, pi);
}

/* by += derivative of s . (w x (w x h)) by w: s (w.h) + h (s.w) - 2 w (s.h) */
static void add_centrifugal(const double s[3], const double w[3], const double h[3], double by[3]) {
  double wh = psdmp_rigid_dot(w, h), sw = psdmp_rigid_dot(s, w), sh = psdmp_rigid_dot(s, h);
  for (int k = 0; k < 3; k++) by[k] += s[k] * wh + h[k] * sw - 2 * w[k] * sh;
}

/* one pair's power: its derivatives by the twist are moment and force, those by the motion go to the body */
static void add_power(const psdmp_rigid_motion *m, const double pi[10], const double s[6], double by_twist[6],
                      double body[9]) {
  const double *sw = s, *sv = s + 3, *h = pi + 1, *w = m->w;
  double Iw[3], Id[3], Is[3], sxw[3], Isxw[3], Uh[3];
  psdmp_rigid_symmetric(pi + 4, w, Iw);
  psdmp_rigid_symmetric(pi + 4, m->dw, Id);
  psdmp_rigid_symmetric(pi + 4, sw, Is);
  psdmp_rigid_cross(sw, w, sxw);
  psdmp_rigid_symmetric(pi + 4, sxw, Isxw);
  psdmp_rigid_rotate(m->U, h, Uh);
  for (int k = 0; k < 3; k++) by_twist[k] += Id[k], by_twist[3 + k] += pi[0] * m->a[k] + Uh[k];
  psdmp_rigid_cross_add(w, Iw, by_twist);
  psdmp_rigid_cross_add(h, m->a, by_twist);
  for (int k = 0; k < 3; k++) body[k] += Isxw[k], body[3 + k] += Is[k], body[6 + k] += pi[0] * sv[k];
  psdmp_rigid_cross_add(Iw, sw, body);
  add_centrifugal(sv, w, h, body);
  psdmp_rigid_cross_add(h, sv, body + 3);
  psdmp_rigid_cross_add(sw, h, body + 6);
}

/* adjoints of the twists at b go to those at its parent, and to q_b, which rotates or shifts them all */
static void pull_twists(adjoints *a, int b) {
  const psdmp_robot_body *body = &a->r->body[b];
  const psdmp_rigid_motion *m = &a->motion[b];
  for (int i = body->parent; i >= 0; i = a->r->body[i].parent) {
    const double *s = pair(a, a->twist, b, i), *by = pair(a, a->by_twist, b, i);
    double *to = pair(a, a->by_twist, body->parent, i), turned[3], along[3];
    if (body->prismatic) a->q[b] += by[3] * s[1] - by[4] * s[0];
    else a->q[b] += by[0] * s[1] - by[1] * s[0] + by[3] * s[4] - by[4] * s[3];
    psdmp_rigid_rotate(m->R, by, turned);
    psdmp_rigid_rotate(m->R, by + 3, along);
    for (int k = 0; k < 3; k++) to[k] += turned[k], to[3 + k] += along[k];
    psdmp_rigid_cross_add(m->p, along, to);
  }
}

/* x . (-z x y): how x . (R^T y') changes as R rotates about z */
static double turning(const double x[3], const double y[3]) { return x[0] * y[1] - x[1] * y[0]; }

/* adjoints of b's motion go to its parent's, and to q_b, qd_b, qdd_b. Before the joint's own rate is added, the angular
 * velocity is w - qd z. */
static void pull_motion(adjoints *a, int b, double qd) {
  const psdmp_robot_body *body = &a->r->body[b];
  const psdmp_rigid_motion *m = &a->motion[b], *parent = body->parent < 0 ? NULL : &a->motion[body->parent];
  double *w = a->body + 9 * b, *d = w + 3, *by = w + 6, before[3] = {m->w[0], m->w[1], m->w[2]};
  if (body->prismatic) {
    a->qdd[b] += by[2];
    a->qd[b] += 2 * turning(by, before);
    w[0] -= 2 * qd * by[1], w[1] += 2 * qd * by[0];
    a->q[b] += by[0] * m->U[2] + by[1] * m->U[5] + by[2] * m->U[8];
  } else {
    double rate[3] = {m->dw[0] - m->w[1] * qd, m->dw[1] + m->w[0] * qd, 0};
    before[2] -= qd;
    a->qdd[b] += d[2];
    a->qd[b] += w[2] + turning(d, before);
    w[0] -= qd * d[1], w[1] += qd * d[0];
    a->q[b] += turning(w, before) + turning(d, rate) + turning(by, m->a);
  }
  if (!parent) return;
  double *to = a->body + 9 * body->parent, turned[3];
  psdmp_rigid_rotate(m->R, w, turned);
  for (int k = 0; k < 3; k++) to[k] += turned[k];
  psdmp_rigid_rotate(m->R, d, turned);
  for (int k = 0; k < 3; k++) to[3 + k] += turned[k];
  psdmp_rigid_rotate(m->R, by, turned);
  for (int k = 0; k < 3; k++) to[6 + k] += turned[k];
  psdmp_rigid_cross_add(m->p, turned, to + 3);
  add_centrifugal(turned, parent->w, m->p, to);
}

/* a drive's column is a (a . qdd) */
static void add_drives(const adjoints *a, double *qdd) {
  const psdm_robot *r = a->r;
  long columns = psdm_robot_parameter_count(r);
  for (int d = 0; d < r->drives; d++) {
    double sum = 0;
    for (int i = 0; i < r->n; i++)
      sum += a->weight[i * columns + PSDMP_ROBOT_STANDARD * r->bodies + d] * r->drive[d].a[i];
    for (int i = 0; i < r->n; i++) qdd[i] += r->drive[d].a[i] * sum;
  }
}

void psdmp_excite_adjoint(const psdm_robot *r, psdm_work *work, const double *state, const double *weight,
                          double *scratch, double *by_state) {
  const double base[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  int n = r->n, bodies = r->bodies;
  long pairs = 6L * bodies * bodies;
  const double *qd = psdmp_rigid_expand_rate(r, state + n, work->qd),
               *qdd = psdmp_rigid_expand_rate(r, state + 2 * n, work->qdd);
  adjoints a = {.r = r,
                .motion = work->motion,
                .weight = weight,
                .body = scratch,
                .twist = scratch + 12 * bodies + pairs,
                .by_twist = scratch + 12 * bodies};
  a.q = scratch + 9 * bodies, a.qd = a.q + bodies, a.qdd = a.qd + bodies;
  memset(scratch, 0, (size_t)(12 * bodies + pairs) * sizeof *scratch);
  /* outwards */
  psdmp_rigid_set_frames(r, work, psdmp_rigid_expand_q(r, state, work->q));
  for (int b = 0; b < bodies; b++) {
    psdmp_rigid_move_body(&r->body[b], &work->motion[b],
                          r->body[b].parent < 0 ? NULL : &work->motion[r->body[b].parent], base, qd[b], qdd[b]);
    set_twists(&a, b);
  }
  /* inwards */
  for (int b = bodies - 1; b >= 0; b--) {
    for (int i = b; i >= 0; i = r->body[i].parent) {
      double pi[PSDMP_ROBOT_STANDARD];
      weights(&a, b, i, pi);
      add_power(&work->motion[b], pi, pair(&a, a.twist, b, i), pair(&a, a.by_twist, b, i), a.body + 9 * b);
    }
    pull_twists(&a, b);
    pull_motion(&a, b, qd[b]);
  }
  psdmp_rigid_restrict(r, a.q, by_state);
  psdmp_rigid_restrict(r, a.qd, by_state + n);
  psdmp_rigid_restrict(r, a.qdd, by_state + 2 * n);
  add_drives(&a, by_state + 2 * n);
}
