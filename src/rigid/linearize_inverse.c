/* linearize_inverse.c: M, dtau/dqd and dtau/dq from composite bodies, O(n^2) (Jain and Rodriguez 1993, Algorithm 2).
 *
 *   outward  V = V_p + h qd,  hd = V_p x h,  a = a_p + h qdd + hd qd,  hdd = a_p x h + V_p x hd;  the base: V = 0, a
 *                                                                      = (0; -g)
 *            Mb = [[ [w]x (J - tr J/2) - [c]x[u]x, 0 ], [ -[b]x, 0 ]],  b = m u + w x c
 *   inward   f = sum f + M a + Mb V,  R = sum R + M,  Rb = sum Rb + Mb
 *            X = R h,  Xb = 2 Rb^T h,  XA = 2 (R hd + Rb h),  XB = 2 Rb hd + R hdd + h x* f
 *   for j = i and its ancestors   M_ji = h_j.X,  A_ji = h_j.XA,  B_ji = h_j.XB,
 *   for its ancestors             A_ij = 2 hd_j.X + h_j.Xb,  B_ij = hdd_j.X + hd_j.Xb
 *
 * The common point and axes are those of body 0, so precision does not depend on the robot's position. Reduced bodies
 * (robot/reduced.c) have the same torques and cost less: Algorithm 2 uses those; forward dynamics and sensitivities the
 * original bodies. */
#include <string.h>

#include "rigid/linearize_priv.h"

/* ---- outward ---- */

/* a body's frame in its parent's: x and z are rotated, y completes them */
static inline void set_axes(const psdmp_robot_body *body, double q, double sine, double cosine, const double *Rp,
                            const double *pp, double *R, double *p) {
  const double *E = body->joint.R, local_z[3] = {E[2], E[5], E[8]};
  double local_x[3] = {E[0], E[3], E[6]}, x[3], y[3], z[3], at[3];
  for (int i = 0; i < 3 && !body->prismatic; i++) local_x[i] = E[3 * i] * cosine + E[3 * i + 1] * sine;
  psdmp_rigid_rotate(Rp, local_x, x);
  psdmp_rigid_rotate(Rp, local_z, z);
  psdmp_rigid_cross(z, x, y);
  psdmp_rigid_rotate(Rp, body->joint.p, at);
  for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i], p[i] = pp[i] + at[i];
  for (int i = 0; i < 3 && body->prismatic; i++) p[i] += q * z[i];
}

static const double base_axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, base_origin[3] = {0};

/* the base in body 0's frame, whose pose in the base is R, p */
static void set_base(const psdm_robot *r, const double R[9], const double p[3], psdm_linear *l) {
  const double up[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  double at[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) l->base[3 * i + j] = R[3 * j + i];
  psdmp_rigid_unrotate(R, p, at);
  for (int i = 0; i < 3; i++) l->base[9 + i] = -at[i];
  psdmp_rigid_unrotate(R, up, l->up);
}

static inline void set_twist(bool prismatic, psdmp_rigid_spatial *k) {
  const double z[3] = {k->R[2], k->R[5], k->R[8]};
  double arm[3];
  psdmp_rigid_cross(k->p, z, arm);
  for (int i = 0; i < 3; i++) k->h[i] = prismatic ? 0 : z[i], k->h[3 + i] = prismatic ? z[i] : arm[i];
}

/* a body's inertia about the common point: rotate, then shift by p (as add_composite in mass.c) */
static inline void set_inertia(const double pi[10], psdmp_rigid_spatial *restrict k) {
  const double *p = k->p;
  double h[3], I[6], m = pi[0];
  psdmp_rigid_rotate(k->R, pi + 1, h);
  psdmp_rigid_rotate_symmetric(k->R, pi + 4, I);
  double g[3] = {h[0] + m * p[0], h[1] + m * p[1], h[2] + m * p[2]};
  double xx = p[0] * (h[0] + g[0]), yy = p[1] * (h[1] + g[1]), zz = p[2] * (h[2] + g[2]);
  k->mass = m;
  k->c[0] = g[0], k->c[1] = g[1], k->c[2] = g[2];
  k->J[0] = I[0] + yy + zz;
  k->J[1] = I[1] - p[0] * h[1] - g[0] * p[1];
  k->J[2] = I[2] - p[0] * h[2] - g[0] * p[2];
  k->J[3] = I[3] + xx + zz;
  k->J[4] = I[4] - p[1] * h[2] - g[1] * p[2];
  k->J[5] = I[5] + xx + yy;
}

/* body 0 is in the common frame */
static void set_first_frame(bool prismatic, psdmp_rigid_spatial *k) {
  memset(k->R, 0, sizeof k->R);
  memset(k->p, 0, sizeof k->p);
  memset(k->h, 0, sizeof k->h);
  k->R[0] = k->R[4] = k->R[8] = 1;
  k->h[prismatic ? 5 : 2] = 1;
}

static void set_first(const psdmp_robot_body *body, psdmp_rigid_spatial *k) {
  set_first_frame(body->prismatic, k);
  k->mass = body->pi[0];
  memcpy(k->c, body->pi + 1, sizeof k->c);
  memcpy(k->J, body->pi + 4, sizeof k->J);
}

static inline void set_motion(const psdmp_rigid_spatial *parent, double qd, double qdd,
                              psdmp_rigid_spatial *restrict k) {
  double turned[6];
  psdmp_rigid_cross6(parent->V, k->h, k->hd);
  psdmp_rigid_cross6(parent->a, k->h, k->hdd);
  psdmp_rigid_cross6(parent->V, k->hd, turned);
  for (int i = 0; i < 6; i++) {
    k->hdd[i] += turned[i];
    k->V[i] = parent->V[i] + k->h[i] * qd;
    k->a[i] = parent->a[i] + k->h[i] * qdd + k->hd[i] * qd;
  }
}

/* the base is at rest and accelerates upward */
static inline void start_motion(const double up[3], double qd, double qdd, psdmp_rigid_spatial *restrict k) {
  for (int i = 0; i < 6; i++) k->hd[i] = k->hdd[i] = 0, k->V[i] = k->h[i] * qd, k->a[i] = k->h[i] * qdd;
  psdmp_rigid_cross(up, k->h, k->hdd + 3);
  for (int i = 0; i < 3; i++) k->a[3 + i] += up[i];
}

/* A = tr N - N with N = [w]x S + u c^T, the moments of velocities, and b = m u + w x c; S are the second moments tr
 * J/2 - J, xx yy zz in d */
static inline void set_bar(const double d[3], psdmp_rigid_spatial *restrict k) {
  const double *w = k->V, *u = k->V + 3, *c = k->c, xy = -k->J[1], xz = -k->J[2], yz = -k->J[4];
  double x = w[0] * yz, y = w[1] * xz, z = w[2] * xy;
  double N0 = y - z + u[0] * c[0], N4 = z - x + u[1] * c[1], N8 = x - y + u[2] * c[2];
  k->A[0] = N4 + N8;
  k->A[1] = w[2] * d[1] - w[1] * yz - u[0] * c[1];
  k->A[2] = w[2] * yz - w[1] * d[2] - u[0] * c[2];
  k->A[3] = w[0] * xz - w[2] * d[0] - u[1] * c[0];
  k->A[4] = N0 + N8;
  k->A[5] = w[0] * d[2] - w[2] * xz - u[1] * c[2];
  k->A[6] = w[1] * d[0] - w[0] * xy - u[2] * c[0];
  k->A[7] = w[1] * xy - w[0] * d[1] - u[2] * c[1];
  k->A[8] = N0 + N4;
  psdmp_rigid_cross(w, c, k->b);
  for (int i = 0; i < 3 && k->mass != 0; i++) k->b[i] += k->mass * u[i];
}

static inline void set_wrench(psdmp_rigid_spatial *restrict k) {
  double bar[6];
  psdmp_rigid_inertia_times(k, k->a, k->f);
  psdmp_rigid_bar_times(k, k->V, bar);
  for (int i = 0; i < 6; i++) k->f[i] += bar[i];
}

/* y = z x x passes on the errors of both, and they grow by some 1.2 per joint: negligible for an arm, everything after
 * a hundred joints. There the axes are orthonormalised again now and then: first order corrections suffice, since
 * errors are small. */
enum { LONG = 64, OFTEN = 8 };

static void square_up(double *R) {
  double x[3] = {R[0], R[3], R[6]}, y[3], z[3] = {R[2], R[5], R[8]};
  double zz = 1.5 - 0.5 * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
  for (int i = 0; i < 3; i++) z[i] *= zz;
  double xz = x[0] * z[0] + x[1] * z[1] + x[2] * z[2];
  for (int i = 0; i < 3; i++) x[i] -= xz * z[i];
  double xx = 1.5 - 0.5 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
  for (int i = 0; i < 3; i++) x[i] *= xx;
  psdmp_rigid_cross(z, x, y);
  for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
}

void psdmp_rigid_spatial_set(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                             const double *qdd) {
  const double *tree_qd = psdmp_rigid_expand_rate(r, qd, l->qd), *tree_qdd = psdmp_rigid_expand_rate(r, qdd, l->qdd);
  const double *tree_q = psdmp_rigid_expand_q(r, q, l->q);
  psdmp_rigid_sines(r->bodies, tree_q, l->work->sine, l->work->cosine);
  double R[9], p[3];
  set_axes(&r->body[0], tree_q[0], l->work->sine[0], l->work->cosine[0], base_axes, base_origin, R, p);
  set_base(r, R, p, l);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    const psdmp_rigid_spatial *parent = body->parent < 0 ? NULL : &l->spatial[body->parent];
    psdmp_rigid_spatial *k = &l->spatial[b];
    if (b == 0) {
      set_first(body, k);
    } else {
      set_axes(body, tree_q[b], l->work->sine[b], l->work->cosine[b], parent ? parent->R : l->base,
               parent ? parent->p : l->base + 9, k->R, k->p);
      if (r->bodies > LONG && b % OFTEN == 0) square_up(k->R);
      set_twist(body->prismatic, k);
      set_inertia(body->pi, k);
    }
    if (parent) set_motion(parent, tree_qd[b], tree_qdd[b], k);
    else start_motion(l->up, tree_qd[b], tree_qdd[b], k);
    double half = 0.5 * (k->J[0] + k->J[3] + k->J[5]), d[3] = {half - k->J[0], half - k->J[3], half - k->J[5]};
    set_bar(d, k);
    set_wrench(k);
  }
}

/* ---- outward, for torques alone: reduced frames and inertias ---- */

static inline void step_axes(const psdmp_robot_reduced *j, bool prismatic, double q, double sine, double cosine,
                             const double *Rp, const double *pp, double *restrict R, double *restrict p) {
  double turned[9];
  for (int i = 0; i < 9 && j->turned; i += 3) {
    turned[i] = j->turn[0] * Rp[i] + j->turn[1] * Rp[i + 1];
    turned[i + 1] = j->turn[0] * Rp[i + 1] - j->turn[1] * Rp[i];
    turned[i + 2] = Rp[i + 2];
  }
  const double *from = j->turned ? turned : Rp, *other = from + (j->flat ? 1 : 2);
  for (int i = 0; i < 3; i++) {
    double x = from[3 * i], y = from[3 * i + 1], z = from[3 * i + 2], across = j->cosine * y + j->sine * z;
    p[i] = pp[i] + (j->along_x * x + j->along_other * other[3 * i]);
    R[3 * i] = cosine * x + sine * across;
    R[3 * i + 1] = cosine * across - sine * x;
    R[3 * i + 2] = j->cosine * z - j->sine * y;
  }
  for (int i = 0; i < 3 && prismatic; i++) p[i] += q * R[3 * i + 2];
}

/* R S R^T as psdmp_rigid_rotate_symmetric, without zz */
static inline void rotate_moments(const double R[9], const double S[6], double out[6]) {
  double xz = 2 * S[2], yz = 2 * S[4];
  double y0 = R[3] * S[0] + R[4] * S[1] + R[5] * xz, y1 = R[3] * S[1] + R[4] * S[3] + R[5] * yz;
  double z0 = R[6] * S[0] + R[7] * S[1] + R[8] * xz, z1 = R[6] * S[1] + R[7] * S[3] + R[8] * yz;
  out[3] = y0 * R[3] + y1 * R[4];
  out[5] = z0 * R[6] + z1 * R[7];
  out[0] = S[0] + S[3] - (out[3] + out[5]);
  out[1] = y0 * R[0] + y1 * R[1] + (R[7] * S[2] - R[6] * S[4]);
  out[2] = z0 * R[0] + z1 * R[1] - (R[4] * S[2] - R[3] * S[4]);
  out[4] = z0 * R[3] + z1 * R[4] + (R[1] * S[2] - R[0] * S[4]);
}

/* moments about the common point: S + p c^T + c p^T, to which a prismatic body adds its mass; d gets xx, yy, zz */
static inline void set_moments(const psdmp_robot_reduced *j, bool prismatic, psdmp_rigid_spatial *restrict k,
                               double d[3]) {
  const double *R = k->R, *p = k->p;
  double S[6], c[3], g[3];
  if (prismatic) {
    psdmp_rigid_rotate_symmetric(R, j->S, S);
    psdmp_rigid_rotate(R, j->c, c);
    for (int i = 0; i < 3; i++) k->c[i] = c[i] + j->mass * p[i], g[i] = c[i] + k->c[i];
  } else {
    rotate_moments(R, j->S, S);
    for (int i = 0; i < 3; i++) k->c[i] = c[i] = R[3 * i] * j->c[0] + R[3 * i + 1] * j->c[1], g[i] = 2 * c[i];
  }
  d[0] = S[0] + p[0] * g[0], d[1] = S[3] + p[1] * g[1], d[2] = S[5] + p[2] * g[2];
  k->mass = j->mass;
  k->J[0] = d[1] + d[2], k->J[3] = d[0] + d[2], k->J[5] = d[0] + d[1];
  k->J[1] = -S[1] - p[0] * c[1] - k->c[0] * p[1];
  k->J[2] = -S[2] - p[0] * c[2] - k->c[0] * p[2];
  k->J[4] = -S[4] - p[1] * c[2] - k->c[1] * p[2];
}

static void set_reduced(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd) {
  const double *tree_qd = psdmp_rigid_expand_rate(r, qd, l->qd), *tree_qdd = psdmp_rigid_expand_rate(r, qdd, l->qdd);
  const double *tree_q = psdmp_rigid_expand_q(r, q, l->q);
  double *angle = l->tree;
  for (int b = 0; b < r->bodies; b++)
    angle[b] = r->body[b].prismatic ? r->body[b].reduced.angle : tree_q[b] + r->body[b].reduced.angle;
  psdmp_rigid_sines(r->bodies, angle, l->work->sine, l->work->cosine);
  double R[9], p[3];
  step_axes(&r->body[0].reduced, r->body[0].prismatic, tree_q[0], l->work->sine[0], l->work->cosine[0], base_axes,
            base_origin, R, p);
  set_base(r, R, p, l);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_robot_body *body = &r->body[b];
    const psdmp_rigid_spatial *parent = body->parent < 0 ? NULL : &l->spatial[body->parent];
    psdmp_rigid_spatial *k = &l->spatial[b];
    double d[3];
    if (b == 0) {
      set_first_frame(body->prismatic, k);
    } else {
      step_axes(&body->reduced, body->prismatic, tree_q[b], l->work->sine[b], l->work->cosine[b],
                parent ? parent->R : l->base, parent ? parent->p : l->base + 9, k->R, k->p);
      set_twist(body->prismatic, k);
    }
    set_moments(&body->reduced, body->prismatic, k, d);
    if (parent) set_motion(parent, tree_qd[b], tree_qdd[b], k);
    else start_motion(l->up, tree_qd[b], tree_qdd[b], k);
    set_bar(d, k);
    set_wrench(k);
  }
}

/* ---- inward ---- */

static inline void add_to(const psdmp_rigid_spatial *k, psdmp_rigid_spatial *restrict parent) {
  if (k->mass != 0) parent->mass += k->mass;
  for (int i = 0; i < 3; i++) parent->c[i] += k->c[i], parent->b[i] += k->b[i];
  for (int i = 0; i < 6; i++) parent->J[i] += k->J[i], parent->f[i] += k->f[i];
  for (int i = 0; i < 9; i++) parent->A[i] += k->A[i];
}

/* rates; X = R h and h.X, where e.(c x l) appears twice; Xb = 2 Rb^T h = 2 (A^T e + b x l) */
static inline void set_columns(psdmp_rigid_spatial *k) {
  const double *e = k->h, *l = k->h + 3;
  double moment[3], both[3];
  psdmp_rigid_symmetric(k->J, e, k->X);
  psdmp_rigid_cross(k->c, l, moment);
  psdmp_rigid_cross(e, k->c, k->X + 3);
  for (int i = 0; i < 3; i++) k->X[i] += moment[i], both[i] = k->X[i] + moment[i];
  k->own = psdmp_rigid_dot(e, both);
  if (k->mass != 0) {
    for (int i = 0; i < 3; i++) k->X[3 + i] += k->mass * l[i];
    k->own += k->mass * psdmp_rigid_dot(l, l);
  }
  for (int i = 0; i < 6; i++) k->rates[i][0] = 2 * k->hd[i], k->rates[i][1] = k->hdd[i];
  for (int i = 0; i < 3; i++) k->rates[6 + i][0] = e[i], k->rates[6 + i][1] = k->hd[i];
  psdmp_rigid_unrotate(k->A, k->h, k->Xb);
  psdmp_rigid_cross_add(k->b, k->h + 3, k->Xb);
  for (int i = 0; i < 3; i++) k->Xb[i] = 2 * k->Xb[i];
}

void psdmp_rigid_spatial_gather(const psdm_robot *r, psdm_linear *l) {
  for (int b = r->bodies - 1; b >= 0; b--) {
    set_columns(&l->spatial[b]);
    if (r->body[b].parent >= 0) add_to(&l->spatial[b], &l->spatial[r->body[b].parent]);
  }
}

/* adds an entry of a tree's matrix to the independent joints', G^T X G; X may be NULL */
static inline void put(const psdm_robot *r, int i, int j, double value, double *X) {
  if (!X) return;
  if (r->direct) {
    X[(long)i * r->n + j] = value;
    return;
  }
  for (int k = r->g_row[i]; k < r->g_row[i + 1]; k++)
    for (int m = r->g_row[j]; m < r->g_row[j + 1]; m++)
      X[(long)r->g_col[k] * r->n + r->g_col[m]] += r->g_val[k] * r->g_val[m] * value;
}

/* out = sum a_i P_i of pairs, two at once in SIMD */
static inline void dot_pairs(int count, const double *a, const double (*P)[2], double out[2]) {
  double x = a[0] * P[0][0], y = a[0] * P[0][1];
  for (int i = 1; i < count; i++) x += a[i] * P[i][0], y += a[i] * P[i][1];
  out[0] = x, out[1] = y;
}

/* XA = R 2hd + Rb 2h beside XB = R hdd + Rb 2hd + h x* f, of the composites of k */
static inline void set_pairs(const psdmp_rigid_spatial *k, double (*restrict out)[2]) {
  const double *J = k->J, *c = k->c, *A = k->A, *b = k->b;
  const double(*x)[2] = k->rates;
  double force[6], e[3] = {2 * k->h[0], 2 * k->h[1], 2 * k->h[2]};
  const double y[3][2] = {{e[0], x[0][0]}, {e[1], x[1][0]}, {e[2], x[2][0]}};
  for (int s = 0; s < 2; s++) {
    out[0][s] = J[0] * x[0][s] + J[1] * x[1][s] + J[2] * x[2][s] + (c[1] * x[5][s] - c[2] * x[4][s]) +
                (A[0] * y[0][s] + A[1] * y[1][s] + A[2] * y[2][s]);
    out[1][s] = J[1] * x[0][s] + J[3] * x[1][s] + J[4] * x[2][s] + (c[2] * x[3][s] - c[0] * x[5][s]) +
                (A[3] * y[0][s] + A[4] * y[1][s] + A[5] * y[2][s]);
    out[2][s] = J[2] * x[0][s] + J[4] * x[1][s] + J[5] * x[2][s] + (c[0] * x[4][s] - c[1] * x[3][s]) +
                (A[6] * y[0][s] + A[7] * y[1][s] + A[8] * y[2][s]);
    out[3][s] = x[1][s] * c[2] - x[2][s] * c[1] + (y[1][s] * b[2] - y[2][s] * b[1]);
    out[4][s] = x[2][s] * c[0] - x[0][s] * c[2] + (y[2][s] * b[0] - y[0][s] * b[2]);
    out[5][s] = x[0][s] * c[1] - x[1][s] * c[0] + (y[0][s] * b[1] - y[1][s] * b[0]);
  }
  for (int i = 3; i < 6 && k->mass != 0; i++) out[i][0] += k->mass * x[i][0], out[i][1] += k->mass * x[i][1];
  psdmp_rigid_cross_force(k->h, k->f, force);
  for (int i = 0; i < 6; i++) out[i][1] += force[i];
}

/* the diagonal of joint i, and its row and column at every ancestor */
static inline void put_body(const psdm_robot *r, const psdmp_rigid_spatial *spatial, int i, double *B, double *A,
                            double *M) {
  const psdmp_rigid_spatial *k = &spatial[i];
  double both[6][2], X[9], outer[2], inner[2];
  set_pairs(k, both);
  for (int x = 0; x < 6; x++) X[x] = k->X[x];
  for (int x = 0; x < 3; x++) X[6 + x] = k->Xb[x];
  dot_pairs(6, k->h, both, outer);
  put(r, i, i, k->own + r->body_drive[i], M);
  put(r, i, i, outer[0], A);
  put(r, i, i, outer[1], B);
  for (int j = r->body[i].parent; j >= 0; j = r->body[j].parent) {
    const psdmp_rigid_spatial *o = &spatial[j];
    double m = psdmp_rigid_dot6(o->h, X);
    dot_pairs(6, o->h, both, outer);
    dot_pairs(9, X, o->rates, inner);
    put(r, i, j, m, M);
    put(r, j, i, m, M);
    put(r, j, i, outer[0], A);
    put(r, j, i, outer[1], B);
    put(r, i, j, inner[0], A);
    put(r, i, j, inner[1], B);
  }
}

psdm_status psdm_linearize_inverse(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                   const double *qdd, double *dtau_dq, double *dtau_dqd, double *M) {
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  if (r->closure) return psdmp_rigid_closed_linearize(r, l, q, qd, qdd, dtau_dq, dtau_dqd, M);
  size_t bytes = sizeof *M * (size_t)r->n * (size_t)r->n;
  if (dtau_dq) memset(dtau_dq, 0, bytes);
  if (dtau_dqd) memset(dtau_dqd, 0, bytes);
  if (M) memset(M, 0, bytes);
  set_reduced(r, l, q, qd, qdd);
  psdmp_rigid_spatial_gather(r, l);
  for (int b = r->bodies - 1; b >= 0; b--) put_body(r, l->spatial, b, dtau_dq, dtau_dqd, M);
  for (int i = 0; M && r->drive_mass && i < r->n * r->n; i++) M[i] += r->drive_mass[i];
  return PSDM_OK;
}
