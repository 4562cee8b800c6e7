/* linearize_inverse.c: M, dtau/dqd and dtau/dq from composite bodies, O(n^2) (Jain and Rodriguez 1993, Algorithm 2).
 *
 *   outward  V = V_p + h qd,  hd = V_p x h,  a = a_p + h qdd + hd qd,  hdd = a_p x h + V_p x hd;  the base: V = 0, a = (0; -g)
 *            Mb = [[ [w]x (J - tr J/2) - [c]x[u]x, 0 ], [ -[b]x, 0 ]],  b = m u + w x c
 *   inward   f = sum f + M a + Mb V,  R = sum R + M,  Rb = sum Rb + Mb
 *            X = R h,  Xb = 2 Rb^T h,  XA = 2 (R hd + Rb h),  XB = 2 Rb hd + R hdd + h x* f
 *   for j = i and its ancestors   M_ji = h_j.X,  A_ji = h_j.XA,  B_ji = h_j.XB,
 *   for its ancestors             A_ij = 2 hd_j.X + h_j.Xb,  B_ij = hdd_j.X + hd_j.Xb
 *
 * The common point and axes are those of body 0, so precision does not depend on where the robot stands. */
#include <string.h>

#include "rigid/linearize_priv.h"

/* ---- outward ---- */

/* a body's frame in its parent's: x and z are turned and carried, y completes them */
static inline void set_axes(const psdmp_body *body, double q, double sine, double cosine, const double *Rp, const double *pp, double *R, double *p) {
  const double *E = body->joint.R, local_z[3] = {E[2], E[5], E[8]};
  double local_x[3] = {E[0], E[3], E[6]}, x[3], y[3], z[3], at[3];
  for (int i = 0; i < 3 && !body->prismatic; i++) local_x[i] = E[3 * i] * cosine + E[3 * i + 1] * sine;
  psdmp_rotate(Rp, local_x, x);
  psdmp_rotate(Rp, local_z, z);
  psdmp_cross(z, x, y);
  psdmp_rotate(Rp, body->joint.p, at);
  for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i], p[i] = pp[i] + at[i];
  for (int i = 0; i < 3 && body->prismatic; i++) p[i] += q * z[i];
}

/* the base as body 0 sees it */
static void set_base(const psdm_robot *r, psdm_linear *l, const double *q) {
  static const double axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0};
  const double up[3] = {-r->gravity[0], -r->gravity[1], -r->gravity[2]};
  double R[9], p[3], at[3];
  set_axes(&r->body[0], q[0], l->work->sine[0], l->work->cosine[0], axes, origin, R, p);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) l->base[3 * i + j] = R[3 * j + i];
  psdmp_unrotate(R, p, at);
  for (int i = 0; i < 3; i++) l->base[9 + i] = -at[i];
  psdmp_unrotate(R, up, l->up);
}

static inline void set_twist(bool prismatic, psdmp_spatial *k) {
  const double z[3] = {k->R[2], k->R[5], k->R[8]};
  double arm[3];
  psdmp_cross(k->p, z, arm);
  for (int i = 0; i < 3; i++) k->h[i] = prismatic ? 0 : z[i], k->h[3 + i] = prismatic ? z[i] : arm[i];
}

/* a body's inertia about the common point: rotate, then shift by p (as add_composite in mass.c) */
static inline void set_inertia(const double pi[10], psdmp_spatial *restrict k) {
  const double *p = k->p;
  double h[3], I[6], m = pi[0];
  psdmp_rotate(k->R, pi + 1, h);
  psdmp_rotate_symmetric(k->R, pi + 4, I);
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

/* body 0 stands in the common frame */
static void set_first(const psdmp_body *body, psdmp_spatial *k) {
  memset(k->R, 0, sizeof k->R);
  memset(k->p, 0, sizeof k->p);
  memset(k->h, 0, sizeof k->h);
  k->R[0] = k->R[4] = k->R[8] = 1;
  k->h[body->prismatic ? 5 : 2] = 1;
  k->mass = body->pi[0];
  memcpy(k->c, body->pi + 1, sizeof k->c);
  memcpy(k->J, body->pi + 4, sizeof k->J);
}

static inline void set_motion(const psdmp_spatial *parent, double qd, double qdd, psdmp_spatial *restrict k) {
  double turned[6];
  psdmp_cross6(parent->V, k->h, k->hd);
  psdmp_cross6(parent->a, k->h, k->hdd);
  psdmp_cross6(parent->V, k->hd, turned);
  for (int i = 0; i < 6; i++) {
    k->hdd[i] += turned[i];
    k->V[i] = parent->V[i] + k->h[i] * qd;
    k->a[i] = parent->a[i] + k->h[i] * qdd + k->hd[i] * qd;
  }
}

/* the base stands still and accelerates upward */
static inline void start_motion(const double up[3], double qd, double qdd, psdmp_spatial *restrict k) {
  for (int i = 0; i < 6; i++) k->hd[i] = k->hdd[i] = 0, k->V[i] = k->h[i] * qd, k->a[i] = k->h[i] * qdd;
  psdmp_cross(up, k->h, k->hdd + 3);
  for (int i = 0; i < 3; i++) k->a[3 + i] += up[i];
}

/* A = [w]x (J - tr J/2) - [c]x[u]x and b = m u + w x c; [c]x[u]x = u c^T - (c.u) */
static inline void set_bar(psdmp_spatial *restrict k) {
  const double *w = k->V, *u = k->V + 3, *c = k->c, *J = k->J;
  double half = 0.5 * (J[0] + J[3] + J[5]), x = J[0] - half, y = J[3] - half, z = J[5] - half;
  double ux = u[0] * c[0], uy = u[1] * c[1], uz = u[2] * c[2];
  k->A[0] = w[1] * J[2] - w[2] * J[1] + (uy + uz);
  k->A[1] = w[1] * J[4] - w[2] * y - u[0] * c[1];
  k->A[2] = w[1] * z - w[2] * J[4] - u[0] * c[2];
  k->A[3] = w[2] * x - w[0] * J[2] - u[1] * c[0];
  k->A[4] = w[2] * J[1] - w[0] * J[4] + (ux + uz);
  k->A[5] = w[2] * J[2] - w[0] * z - u[1] * c[2];
  k->A[6] = w[0] * J[1] - w[1] * x - u[2] * c[0];
  k->A[7] = w[0] * y - w[1] * J[1] - u[2] * c[1];
  k->A[8] = w[0] * J[4] - w[1] * J[2] + (ux + uy);
  psdmp_cross(w, c, k->b);
  for (int i = 0; i < 3; i++) k->b[i] += k->mass * u[i];
}

static inline void set_wrench(psdmp_spatial *restrict k) {
  double bar[6];
  psdmp_inertia_times(k, k->a, k->f);
  psdmp_bar_times(k, k->V, bar);
  for (int i = 0; i < 6; i++) k->f[i] += bar[i];
}

void psdmp_spatial_set(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd) {
  const double *tree_qd = psdmp_expand_rate(r, qd, l->qd), *tree_qdd = psdmp_expand_rate(r, qdd, l->qdd);
  const double *tree_q = psdmp_expand_q(r, q, l->q);
  psdmp_sines(r->bodies, tree_q, l->work->sine, l->work->cosine);
  set_base(r, l, tree_q);
  for (int b = 0; b < r->bodies; b++) {
    const psdmp_body *body = &r->body[b];
    const psdmp_spatial *parent = body->parent < 0 ? NULL : &l->spatial[body->parent];
    psdmp_spatial *k = &l->spatial[b];
    if (b == 0) {
      set_first(body, k);
    } else {
      set_axes(body, tree_q[b], l->work->sine[b], l->work->cosine[b], parent ? parent->R : l->base, parent ? parent->p : l->base + 9, k->R, k->p);
      set_twist(body->prismatic, k);
      set_inertia(body->pi, k);
    }
    if (parent)
      set_motion(parent, tree_qd[b], tree_qdd[b], k);
    else
      start_motion(l->up, tree_qd[b], tree_qdd[b], k);
    set_bar(k);
    set_wrench(k);
  }
}

/* ---- inward ---- */

static inline void add_to(const psdmp_spatial *k, psdmp_spatial *restrict parent) {
  parent->mass += k->mass;
  for (int i = 0; i < 3; i++) parent->c[i] += k->c[i], parent->b[i] += k->b[i];
  for (int i = 0; i < 6; i++) parent->J[i] += k->J[i], parent->f[i] += k->f[i];
  for (int i = 0; i < 9; i++) parent->A[i] += k->A[i];
}

/* X = R h, Xb = 2 Rb^T h = 2 (A^T e + b x l) */
static inline void set_columns(psdmp_spatial *k) {
  psdmp_inertia_times(k, k->h, k->X);
  psdmp_unrotate(k->A, k->h, k->Xb);
  psdmp_cross_add(k->b, k->h + 3, k->Xb);
  for (int i = 0; i < 3; i++) k->Xb[i] = 2 * k->Xb[i];
}

void psdmp_spatial_gather(const psdm_robot *r, psdm_linear *l) {
  for (int b = r->bodies - 1; b >= 0; b--) {
    set_columns(&l->spatial[b]);
    if (r->body[b].parent >= 0) add_to(&l->spatial[b], &l->spatial[r->body[b].parent]);
  }
}

/* one entry of a tree's matrix into the independent joints', G^T X G; X may be NULL */
static inline void put(const psdm_robot *r, int i, int j, double value, double *X) {
  if (!X) return;
  if (r->direct) {
    X[(long)i * r->n + j] = value;
    return;
  }
  for (int k = r->g_row[i]; k < r->g_row[i + 1]; k++)
    for (int m = r->g_row[j]; m < r->g_row[j + 1]; m++) X[(long)r->g_col[k] * r->n + r->g_col[m]] += r->g_val[k] * r->g_val[m] * value;
}

/* the diagonal of joint i, and its row and column at every ancestor */
static inline void put_body(const psdm_robot *r, const psdmp_spatial *spatial, int i, double *B, double *A, double *M) {
  const psdmp_spatial *k = &spatial[i];
  double XA[6], XB[6], bar[6];
  psdmp_inertia_times(k, k->hd, XA);
  psdmp_bar_times(k, k->h, bar);
  for (int e = 0; e < 6; e++) XA[e] = 2 * (XA[e] + bar[e]);
  psdmp_change_of(k, k->h, k->hd, k->hdd, XB);
  put(r, i, i, psdmp_dot6(k->h, k->X) + r->body_drive[i], M);
  put(r, i, i, psdmp_dot6(k->h, XA), A);
  put(r, i, i, psdmp_dot6(k->h, XB), B);
  for (int j = r->body[i].parent; j >= 0; j = r->body[j].parent) {
    const psdmp_spatial *o = &spatial[j];
    double m = psdmp_dot6(o->h, k->X);
    put(r, i, j, m, M);
    put(r, j, i, m, M);
    put(r, j, i, psdmp_dot6(o->h, XA), A);
    put(r, j, i, psdmp_dot6(o->h, XB), B);
    put(r, i, j, 2 * psdmp_dot6(o->hd, k->X) + psdmp_dot(o->h, k->Xb), A);
    put(r, i, j, psdmp_dot6(o->hdd, k->X) + psdmp_dot(o->hd, k->Xb), B);
  }
}

psdm_status psdm_linearize_inverse(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd,
                                   double *dtau_dq, double *dtau_dqd, double *M) {
  psdm_status status = psdmp_linear_check(r);
  if (status) return status;
  size_t bytes = sizeof *M * (size_t)r->n * (size_t)r->n;
  if (dtau_dq) memset(dtau_dq, 0, bytes);
  if (dtau_dqd) memset(dtau_dqd, 0, bytes);
  if (M) memset(M, 0, bytes);
  psdmp_spatial_set(r, l, q, qd, qdd);
  psdmp_spatial_gather(r, l);
  for (int b = r->bodies - 1; b >= 0; b--) put_body(r, l->spatial, b, dtau_dq, dtau_dqd, M);
  for (int i = 0; M && r->drive_mass && i < r->n * r->n; i++) M[i] += r->drive_mass[i];
  return PSDM_OK;
}
