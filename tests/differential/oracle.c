/* oracle.c: Newton-Euler in base axes in long double, and the sizes of its terms. */
#include "oracle.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- vectors and poses ---- */

static void cross_add(const ld *a, const ld *b, ld scale, ld *out) {
  out[0] += scale * (a[1] * b[2] - a[2] * b[1]);
  out[1] += scale * (a[2] * b[0] - a[0] * b[2]);
  out[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

static ld dot3(const ld *a, const ld *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void times(const ld *R, const ld *x, ld *out) {
  for (int i = 0; i < 3; i++) out[i] = dot3(R + 3 * i, x);
}

pose pose_product(const pose *a, const pose *b) {
  pose c;
  for (int i = 0; i < 3; i++) {
    c.p[i] = a->p[i] + dot3(a->R + 3 * i, b->p);
    for (int j = 0; j < 3; j++)
      c.R[3 * i + j] = a->R[3 * i] * b->R[j] + a->R[3 * i + 1] * b->R[3 + j] + a->R[3 * i + 2] * b->R[6 + j];
  }
  return c;
}

pose pose_inverse(const pose *a) {
  pose b;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) b.R[3 * i + j] = a->R[3 * j + i];
  for (int i = 0; i < 3; i++) b.p[i] = -dot3(b.R + 3 * i, a->p);
  return b;
}

pose pose_shift(ld x, ld y, ld z) { return (pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {x, y, z}}; }

pose pose_turn(int axis, ld angle) {
  pose a = pose_shift(0, 0, 0);
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  a.R[4 * u] = a.R[4 * v] = cosl(angle);
  a.R[3 * v + u] = sinl(angle);
  a.R[3 * u + v] = -a.R[3 * v + u];
  return a;
}

pose pose_rpy(const ld xyz[3], const ld rpy[3]) {
  pose x = pose_turn(0, rpy[0]), y = pose_turn(1, rpy[1]), z = pose_turn(2, rpy[2]), yx = pose_product(&y, &x),
       out = pose_product(&z, &yx);
  memcpy(out.p, xyz, sizeof out.p);
  return out;
}

void pose_angles(const pose *a, ld rpy[3]) {
  rpy[0] = atan2l(a->R[7], a->R[8]);
  rpy[1] = atan2l(-a->R[6], hypotl(a->R[0], a->R[3]));
  rpy[2] = atan2l(a->R[3], a->R[0]);
}

/* Rz(longitude) Ry(polar angle) takes z to it */
pose pose_to_axis(const ld axis[3]) {
  pose z = pose_turn(2, atan2l(axis[1], axis[0])), y = pose_turn(1, atan2l(hypotl(axis[0], axis[1]), axis[2]));
  return pose_product(&z, &y);
}

/* ---- the recursion ---- */

typedef struct moving {
  pose T;
  ld z[3]; /* axis of the joint */
  /* from the parent's origin to a point of that axis, and from there to this origin: without the loss of a
   * difference */
  ld to[3], from[3];
  ld w[3], v[3], dw[3], a[3]; /* of the frame's origin */
  ld f[3], n[3];
  ld x, xd, xdd; /* of the joint */
} moving;

static ld row_times(const oracle_body *b, int n, const ld *x) {
  ld sum = 0;
  for (int i = 0; x && i < n; i++) sum += b->G[i] * x[i];
  return sum;
}

static void place(const oracle_body *b, const moving *parent, moving *m) {
  pose joint = pose_product(&parent->T, &b->before), moved = joint;
  for (int i = 0; i < 3; i++) m->z[i] = joint.R[3 * i + 2];
  if (b->type == PSDM_REVOLUTE) {
    pose turn = pose_turn(2, m->x);
    moved = pose_product(&joint, &turn);
  } else
    for (int i = 0; i < 3 && b->type == PSDM_PRISMATIC; i++) moved.p[i] += m->z[i] * m->x;
  m->T = pose_product(&moved, &b->after);
  times(parent->T.R, b->before.p, m->to);
  times(moved.R, b->after.p, m->from);
  for (int i = 0; i < 3 && b->type == PSDM_PRISMATIC; i++) m->from[i] += m->z[i] * m->x;
}

/* a += dw x r + w x (w x r) */
static void swing(const ld *w, const ld *dw, const ld *r, ld *a) {
  ld wr[3] = {0};
  cross_add(w, r, 1, wr);
  cross_add(dw, r, 1, a);
  cross_add(w, wr, 1, a);
}

static void move(const oracle_body *b, const moving *parent, moving *m) {
  ld to[3];
  memcpy(m->w, parent->w, sizeof m->w), memcpy(m->dw, parent->dw, sizeof m->dw);
  memcpy(m->v, parent->v, sizeof m->v), memcpy(m->a, parent->a, sizeof m->a);
  bool turns = b->type == PSDM_REVOLUTE;
  for (int i = 0; i < 3; i++) to[i] = m->to[i] + (turns ? 0 : m->from[i]);
  cross_add(parent->w, to, 1, m->v);
  swing(parent->w, parent->dw, to, m->a);
  if (!turns) {
    cross_add(parent->w, m->z, 2 * m->xd, m->a);
    for (int i = 0; i < 3; i++) m->v[i] += m->z[i] * m->xd, m->a[i] += m->z[i] * m->xdd;
    return;
  }
  cross_add(parent->w, m->z, m->xd, m->dw);
  for (int i = 0; i < 3; i++) m->w[i] += m->z[i] * m->xd, m->dw[i] += m->z[i] * m->xdd;
  cross_add(m->w, m->from, 1, m->v);
  swing(m->w, m->dw, m->from, m->a);
}

/* first moments and moments of inertia in base axes, about the frame's origin */
static void turn_inertia(const oracle_body *b, const moving *m, ld mc[3], ld I[9]) {
  const ld *s = b->pi + 4, own[9] = {s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]};
  times(m->T.R, b->pi + 1, mc);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      ld column[3];
      times(own, m->T.R + 3 * j, column);
      I[3 * i + j] = dot3(m->T.R + 3 * i, column);
    }
}

static void load(const oracle_body *b, moving *m) {
  ld mc[3], I[9], L[3], dL[3];
  turn_inertia(b, m, mc, I);
  times(I, m->w, L), times(I, m->dw, dL);
  for (int i = 0; i < 3; i++) m->f[i] = b->pi[0] * m->a[i], m->n[i] = dL[i];
  swing(m->w, m->dw, mc, m->f);
  cross_add(m->w, L, 1, m->n);
  cross_add(mc, m->a, 1, m->n);
}

static void walk(const oracle *o, int with, const ld *q, const ld *qd, const ld *qdd, moving *m) {
  moving base = {.T = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}}};
  for (int i = 0; i < 3 && with & WITH_GRAVITY; i++) base.a[i] = -o->gravity[i];
  for (int k = 0; k < o->bodies; k++) {
    const oracle_body *b = &o->body[k];
    const moving *parent = b->parent < 0 ? &base : &m[b->parent];
    m[k].x = row_times(b, o->n, q) + b->c, m[k].xd = row_times(b, o->n, qd), m[k].xdd = row_times(b, o->n, qdd);
    place(b, parent, &m[k]);
    move(b, parent, &m[k]);
  }
}

void oracle_inverse(const oracle *o, int with, const ld *q, const ld *qd, const ld *qdd, ld *tau) {
  moving m[MOST];
  walk(o, with, q, qd, qdd, m);
  for (int k = 0; k < o->bodies; k++) load(&o->body[k], &m[k]);
  for (int i = 0; i < o->n; i++) tau[i] = 0;
  for (int k = o->bodies - 1; k >= 0; k--) {
    const oracle_body *b = &o->body[k];
    ld arm[3], moment[3], torque;
    memcpy(moment, m[k].n, sizeof moment);
    cross_add(m[k].from, m[k].f, 1, moment);
    torque = b->type == PSDM_REVOLUTE ? dot3(m[k].z, moment) : dot3(m[k].z, m[k].f);
    if (with & WITH_DRIVES) torque += b->drive * m[k].xdd;
    for (int i = 0; i < o->n; i++) tau[i] += b->G[i] * torque;
    if (b->parent < 0) continue;
    moving *p = &m[b->parent];
    for (int i = 0; i < 3; i++) arm[i] = m[k].to[i] + m[k].from[i], p->f[i] += m[k].f[i], p->n[i] += m[k].n[i];
    cross_add(arm, m[k].f, 1, p->n);
  }
}

void oracle_mass(const oracle *o, const ld *q, ld *M) {
  ld unit[MOST] = {0}, column[MOST];
  for (int j = 0; j < o->n; j++) {
    unit[j] = 1;
    oracle_inverse(o, WITH_DRIVES, q, NULL, unit, column);
    unit[j] = 0;
    for (int i = 0; i < o->n; i++) M[i * o->n + j] = column[i];
  }
}

/* bodies bolted to the base do not count in the potential energy */
static bool moves(const oracle *o, int k) {
  while (k >= 0 && o->body[k].type == PSDM_FIXED) k = o->body[k].parent;
  return k >= 0;
}

void oracle_energy(const oracle *o, const ld *q, const ld *qd, ld E[2]) {
  moving m[MOST];
  walk(o, 0, q, qd, NULL, m);
  E[0] = E[1] = 0;
  for (int k = 0; k < o->bodies; k++) {
    const oracle_body *b = &o->body[k];
    ld mc[3], I[9], L[3], wmc[3] = {0};
    turn_inertia(b, &m[k], mc, I);
    times(I, m[k].w, L);
    cross_add(m[k].w, mc, 1, wmc);
    E[0] +=
        (b->pi[0] * dot3(m[k].v, m[k].v) + 2 * dot3(m[k].v, wmc) + dot3(m[k].w, L) + b->drive * m[k].xd * m[k].xd) / 2;
    if (moves(o, k)) E[1] -= b->pi[0] * dot3(o->gravity, m[k].T.p) + dot3(o->gravity, mc);
  }
}

void oracle_frame(const oracle *o, const ld *q, int body, pose *frame) {
  moving m[MOST];
  walk(o, 0, q, NULL, NULL, m);
  *frame = m[body].T;
}

void oracle_jacobian(const oracle *o, const ld *q, int body, ld *J) {
  moving m[MOST];
  memset(J, 0, sizeof *J * 6 * (size_t)o->n);
  walk(o, 0, q, NULL, NULL, m);
  ld arm[3] = {0};
  for (int k = body; k >= 0; k = o->body[k].parent) {
    const oracle_body *b = &o->body[k];
    ld v[3] = {0};
    for (int i = 0; i < 3; i++) arm[i] += m[k].from[i];
    if (b->type == PSDM_REVOLUTE) cross_add(m[k].z, arm, 1, v);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < o->n; j++) {
        J[i * o->n + j] += b->G[j] * (b->type == PSDM_REVOLUTE ? v[i] : m[k].z[i]);
        if (b->type == PSDM_REVOLUTE) J[(3 + i) * o->n + j] += b->G[j] * m[k].z[i];
      }
    for (int i = 0; i < 3; i++) arm[i] += m[k].to[i];
  }
}

/* ---- derivatives ---- */

static const ld weight[3] = {3.0L / 4, -3.0L / 20, 1.0L / 60}; /* central differences of order six */

/* a step that moves no turning joint by more than 0.002 rad and no sliding one by more than that share of the reach */
static ld step_of(const oracle *o, int j, ld reach) {
  ld most = 0;
  for (int k = 0; k < o->bodies; k++)
    most = fmaxl(most, fabsl(o->body[k].G[j]) / (o->body[k].type == PSDM_PRISMATIC ? reach : 1));
  return most > 0 ? ldexpl(1, -9) / most : 1;
}

double oracle_noise(const oracle *o, int j, double reach) {
  return (double)(LDBL_EPSILON / DBL_EPSILON / step_of(o, j, reach));
}

void oracle_linearize(const oracle *o, const ld *q, const ld *qd, const ld *qdd, ld reach, ld *by_q, ld *by_qd) {
  int n = o->n;
  ld x[2][MOST], up[MOST], down[MOST];
  memcpy(x[0], q, sizeof *q * (size_t)n), memcpy(x[1], qd, sizeof *qd * (size_t)n);
  for (int part = 0; part < 2; part++) {
    ld *out = part ? by_qd : by_q;
    memset(out, 0, sizeof *out * (size_t)(n * n));
    for (int j = 0; j < n; j++) {
      ld at = x[part][j], h = step_of(o, j, reach);
      for (int s = 0; s < (part ? 1 : 3); s++) { /* quadratic in velocities: one difference is exact */
        x[part][j] = at + (s + 1) * h;
        oracle_inverse(o, WITH_ALL, x[0], x[1], qdd, up);
        x[part][j] = at - (s + 1) * h;
        oracle_inverse(o, WITH_ALL, x[0], x[1], qdd, down);
        for (int i = 0; i < n; i++) out[i * n + j] += (part ? 0.5L : weight[s]) * (up[i] - down[i]) / h;
      }
      x[part][j] = at;
    }
  }
}

void oracle_kinetic_gradient(const oracle *o, const ld *q, const ld *qd, ld reach, ld *dT_dq) {
  ld x[MOST], up[2], down[2];
  memcpy(x, q, sizeof *q * (size_t)o->n);
  for (int j = 0; j < o->n; j++) {
    ld h = step_of(o, j, reach);
    dT_dq[j] = 0;
    for (int s = 0; s < 3; s++) {
      x[j] = q[j] + (s + 1) * h;
      oracle_energy(o, x, qd, up);
      x[j] = q[j] - (s + 1) * h;
      oracle_energy(o, x, qd, down);
      dT_dq[j] += weight[s] * (up[0] - down[0]) / h;
    }
    x[j] = q[j];
  }
}

ld oracle_invert(int n, const ld *M, ld *Minv) {
  ld A[MOST * MOST], d[MOST], norm[2] = {0};
  for (int i = 0; i < n; i++) {
    if (!(M[i * n + i] > 0)) return HUGE_VALL;
    d[i] = 1 / sqrtl(M[i * n + i]);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) A[i * n + j] = M[i * n + j] * d[i] * d[j], Minv[i * n + j] = i == j;
  for (int i = 0; i < n; i++) {
    ld sum = 0;
    for (int j = 0; j < n; j++) sum += fabsl(A[i * n + j]);
    norm[0] = fmaxl(norm[0], sum);
  }
  for (int k = 0; k < n; k++) { /* positive definite: no pivoting */
    ld pivot = A[k * n + k];
    if (!(pivot > 0)) return HUGE_VALL;
    for (int j = 0; j < n; j++) A[k * n + j] /= pivot, Minv[k * n + j] /= pivot;
    for (int i = 0; i < n; i++) {
      ld share = A[i * n + k];
      if (i == k || share == 0) continue;
      for (int j = 0; j < n; j++) A[i * n + j] -= share * A[k * n + j], Minv[i * n + j] -= share * Minv[k * n + j];
    }
  }
  for (int i = 0; i < n; i++) {
    ld sum = 0;
    for (int j = 0; j < n; j++) sum += fabsl(Minv[i * n + j]), Minv[i * n + j] *= d[i] * d[j];
    norm[1] = fmaxl(norm[1], sum);
  }
  return norm[0] * norm[1];
}

/* ---- scales: norms in place of vectors ---- */

typedef struct sizes {
  double x, xd, xdd, w, dw, a, v, f, n;
  double before, after, where; /* lengths around the joint, and all the way from the base */
  double way;                  /* the same from the first joint on */
} sizes;

static double norm_of(const ld *x, int count) {
  ld sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * x[i];
  return (double)sqrtl(sum);
}

static double row_size(const oracle_body *b, int n, const double *x) {
  double sum = 0;
  for (int i = 0; x && i < n; i++) sum += fabs((double)b->G[i] * x[i]);
  return sum;
}

static void size_walk(const oracle *o, int with, const double *q, const double *qd, const double *qdd, sizes *s) {
  const sizes base = {.a = with & WITH_GRAVITY ? norm_of(o->gravity, 3) : 0};
  double farthest = 0;
  int roots = 0;
  for (int k = 0; k < o->bodies; k++) roots += o->body[k].parent < 0;
  for (int k = 0; k < o->bodies; k++) {
    const oracle_body *b = &o->body[k];
    const sizes *p = b->parent < 0 ? &base : &s[b->parent];
    sizes t = {
        .x = row_size(b, o->n, q) + fabs((double)b->c), .xd = row_size(b, o->n, qd), .xdd = row_size(b, o->n, qdd)};
    bool turns = b->type == PSDM_REVOLUTE;
    t.before = b->length[0], t.after = b->length[1] + (b->type == PSDM_PRISMATIC ? t.x : 0);
    t.where = p->where + t.before + t.after;
    t.way = p->way + (b->parent >= 0 ? t.before : roots > 1 ? t.before - o->base : 0) + t.after;
    t.w = p->w + turns * t.xd;
    t.dw = p->dw + turns * (t.xdd + p->w * t.xd);
    t.v = p->v + p->w * t.before + t.w * t.after + (turns ? 0 : t.xd);
    t.a =
        p->a + (p->dw + p->w * p->w) * t.before + (t.dw + t.w * t.w) * t.after + (turns ? 0 : 2 * p->w * t.xd + t.xdd);
    s[k] = t;
    farthest = fmax(farthest, t.way);
  }
  for (int k = 0; k < o->bodies && o->common; k++) {
    s[k].way += farthest; /* to a point of reference on any body */
    s[k].a = fmax(s[k].a, base.a + (s[k].dw + s[k].w * s[k].w) * s[k].way), s[k].v = fmax(s[k].v, s[k].w * s[k].way);
  }
}

double scale_angles(const oracle *o, const double *q) {
  double most = 4; /* rad: usual positions */
  for (int k = 0; k < o->bodies; k++)
    if (o->body[k].type == PSDM_REVOLUTE)
      most = fmax(most, row_size(&o->body[k], o->n, q) + fabs((double)o->body[k].c));
  return most / 4;
}

void scale_inverse(const oracle *o, int with, const double *q, const double *qd, const double *qdd, double *tau) {
  sizes s[MOST];
  size_walk(o, with, q, qd, qdd, s);
  for (int i = 0; i < o->n; i++) tau[i] = 0;
  for (int k = o->bodies - 1; k >= 0; k--) {
    const oracle_body *b = &o->body[k];
    sizes *t = &s[k];
    double mc = norm_of(b->pi + 1, 3), spin = t->dw + t->w * t->w;
    t->f += (double)b->pi[0] * t->a + mc * spin;
    t->n += norm_of(b->pi + 4, 6) * spin + mc * t->a;
    if (o->common) t->n += t->way * ((double)b->pi[0] * t->a + mc * spin);
    double torque = (b->type == PSDM_REVOLUTE ? t->n + t->after * t->f : t->f) +
                    (with & WITH_DRIVES ? (double)b->drive * t->xdd : 0);
    for (int i = 0; i < o->n; i++) tau[i] += fabs((double)b->G[i]) * torque;
    if (b->parent < 0) continue;
    s[b->parent].f += t->f;
    s[b->parent].n += t->n + (t->before + t->after) * t->f;
  }
}

void scale_mass(const oracle *o, const double *q, double *M) {
  double unit[MOST] = {0}, column[MOST];
  for (int j = 0; j < o->n; j++) {
    unit[j] = 1;
    scale_inverse(o, WITH_DRIVES, q, NULL, unit, column);
    unit[j] = 0;
    for (int i = 0; i < o->n; i++) M[i * o->n + j] = column[i];
  }
}

void scale_energy(const oracle *o, const double *q, const double *qd, double E[2]) {
  sizes s[MOST];
  size_walk(o, 0, q, qd, NULL, s);
  E[0] = E[1] = 0;
  for (int k = 0; k < o->bodies; k++) {
    const oracle_body *b = &o->body[k];
    double m = (double)b->pi[0], mc = norm_of(b->pi + 1, 3), I = norm_of(b->pi + 4, 6);
    E[0] += m * s[k].v * s[k].v + mc * s[k].w * s[k].v + I * s[k].w * s[k].w + (double)b->drive * s[k].xd * s[k].xd;
    E[1] += norm_of(o->gravity, 3) * (m * s[k].where + mc);
  }
}

double oracle_reach(const oracle *o, const double *q) {
  sizes s[MOST];
  double most = 0;
  size_walk(o, 0, q, NULL, NULL, s);
  for (int k = 0; k < o->bodies; k++) most = fmax(most, s[k].way);
  return most;
}

double oracle_distance(const oracle *o, const double *q) {
  sizes s[MOST];
  double most = 0;
  size_walk(o, 0, q, NULL, NULL, s);
  for (int k = 0; k < o->bodies; k++) most = fmax(most, s[k].where);
  return most;
}

/* Scales are convex polynomials with positive coefficients in rates and lengths, so a difference quotient bounds the
 * derivative. A derivative by an angle is as large as its function: the angle turns everything after the joint. */
void scale_linearize(const oracle *o, const double *q, const double *qd, const double *qdd, double *by_q,
                     double *by_qd) {
  int n = o->n;
  double x[2][MOST], at[MOST], more[MOST], reach = oracle_reach(o, q), fastest = 0;
  for (int i = 0; i < n; i++) x[0][i] = fabs(q[i]), x[1][i] = fabs(qd[i]), fastest = fmax(fastest, fabs(qd[i]));
  scale_inverse(o, WITH_ALL, q, qd, qdd, at);
  for (int j = 0; j < n; j++) {
    double slide = 0, turn = 0;
    for (int k = 0; k < o->bodies; k++) {
      double g = fabs((double)o->body[k].G[j]);
      if (o->body[k].type == PSDM_PRISMATIC) slide = fmax(slide, g);
      if (o->body[k].type == PSDM_REVOLUTE) turn = fmax(turn, g);
    }
    double h[2] = {slide > 0 && reach > 0 ? reach / slide : 1, x[1][j] > 0 ? x[1][j] : fastest > 0 ? fastest : 1};
    for (int part = 0; part < 2; part++) {
      double keep = x[part][j], *out = part ? by_qd : by_q;
      x[part][j] += h[part];
      scale_inverse(o, WITH_ALL, x[0], x[1], qdd, more);
      x[part][j] = keep;
      for (int i = 0; i < n; i++) out[i * n + j] = (more[i] - at[i]) / h[part] + (part ? 0 : 4 * turn * at[i]);
    }
  }
}

/* ---- from a robot read by the library ---- */

bool oracle_of_robot(const psdm_robot *robot, oracle *o) {
  int links = psdm_robot_links(robot), n = psdm_robot_n(robot);
  double G[MOST * MOST], c[MOST];
  psdm_body body;
  *o = (oracle){.bodies = links, .n = n};
  if (links > MOST || psdm_robot_loops(robot)) return false;
  psdm_robot_coupling(robot, G, c);
  for (int i = 0; i < 3; i++) o->gravity[i] = psdm_robot_gravity(robot)[i];
  for (int k = 0; k < links; k++) {
    oracle_body *b = &o->body[k];
    psdm_robot_body(robot, k, &body);
    if (isnan(body.drive)) return false;
    *b = (oracle_body){.parent = body.parent,
                       .type = body.prismatic ? PSDM_PRISMATIC : PSDM_REVOLUTE,
                       .after = pose_shift(0, 0, 0),
                       .drive = body.drive,
                       .c = c[body.link]};
    for (int i = 0; i < 9; i++) b->before.R[i] = body.R[i];
    for (int i = 0; i < 3; i++) b->before.p[i] = body.p[i];
    for (int i = 0; i < 10; i++) b->pi[i] = body.pi[i];
    for (int i = 0; i < n; i++) b->G[i] = G[body.link * n + i];
    b->length[0] = norm_of(b->before.p, 3);
  }
  return true;
}
