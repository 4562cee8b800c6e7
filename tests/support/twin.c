/* twin.c: dynamics once more, by Newton-Euler in the base frame over complex numbers; derivatives by a complex step;
 * random twins and their files. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "twin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef twin_frame mat;

/* ---- transforms ---- */

static mat eye(void) { return (mat){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}}; }

static mat mul(mat x, mat y) {
  mat z = {{{0}}};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) z.a[i][j] += x.a[i][k] * y.a[k][j];
  return z;
}

static mat turn(int axis, cld angle) {
  mat r = eye();
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  r.a[u][u] = r.a[v][v] = ccosl(angle);
  r.a[v][u] = csinl(angle);
  r.a[u][v] = -csinl(angle);
  return r;
}

static mat shift(cld x, cld y, cld z) {
  mat t = eye();
  t.a[0][3] = x, t.a[1][3] = y, t.a[2][3] = z;
  return t;
}

static mat origin(const double o[6]) {
  return mul(shift(o[0], o[1], o[2]), mul(turn(2, o[5]), mul(turn(1, o[4]), turn(0, o[3]))));
}

/* ---- Newton-Euler in the base frame ---- */

typedef struct body {
  mat T;                           /* link frame */
  cld z[3], at[3];                 /* the joint's axis and a point of it */
  cld w[3], dw[3], a[3];           /* of the link; a of its origin */
  cld com[3], force[3], moment[3]; /* moment about the com */
} body;

static void cross_add(const cld *x, const cld *y, cld scale, cld *out) {
  out[0] += scale * (x[1] * y[2] - x[2] * y[1]);
  out[1] += scale * (x[2] * y[0] - x[0] * y[2]);
  out[2] += scale * (x[0] * y[1] - x[1] * y[0]);
}

/* out = a + dw x r + w x (w x r), r = to - from */
static void accelerate(const cld *w, const cld *dw, const cld *a, const cld *from, const cld *to, cld *out) {
  cld r[3], wr[3] = {0};
  for (int i = 0; i < 3; i++) r[i] = to[i] - from[i], out[i] = a[i];
  cross_add(w, r, 1, wr);
  cross_add(dw, r, 1, out);
  cross_add(w, wr, 1, out);
}

static void place(const twin *t, const twin_row *row, const body *parent, cld x, body *b) {
  cld theta = row->theta + (row->prismatic ? 0 : x), d = row->d + (row->prismatic ? x : 0);
  mat before = mul(parent->T, origin(row->origin)), along = mul(shift(row->a, 0, 0), turn(0, row->alpha));
  if (t->modified) before = mul(before, along);
  b->T = mul(before, mul(turn(2, theta), shift(0, 0, d)));
  if (!t->modified) b->T = mul(b->T, along);
  for (int i = 0; i < 3; i++) b->z[i] = before.a[i][2], b->at[i] = before.a[i][3];
}

static void move(const twin_row *row, const body *parent, cld rate, cld rate2, body *b) {
  cld from[3], o[3], at[3];
  for (int i = 0; i < 3; i++)
    from[i] = parent->T.a[i][3], o[i] = b->T.a[i][3], b->w[i] = parent->w[i], b->dw[i] = parent->dw[i];
  if (row->prismatic) {
    accelerate(parent->w, parent->dw, parent->a, from, o, b->a);
    cross_add(parent->w, b->z, 2 * rate, b->a);
    for (int i = 0; i < 3; i++) b->a[i] += b->z[i] * rate2;
    return;
  }
  cross_add(parent->w, b->z, rate, b->dw);
  for (int i = 0; i < 3; i++) b->w[i] += b->z[i] * rate, b->dw[i] += b->z[i] * rate2;
  accelerate(parent->w, parent->dw, parent->a, from, b->at, at);
  accelerate(b->w, b->dw, at, b->at, o, b->a);
}

/* place and motion of link j, those before it being known */
static void step(const twin *t, const body *base, const cld *q, const cld *qd, const cld *qdd, body *b, int j) {
  const twin_row *row = &t->row[j];
  const body *parent = row->parent < 0 ? base : &b[row->parent];
  cld k = row->coupled ? row->factor : 1, c = row->coupled ? row->offset : 0;
  place(t, row, parent, k * q[row->q] + c, &b[j]);
  move(row, parent, k * qd[row->q], k * qdd[row->q], &b[j]);
}

/* force and moment about the com that the motion asks for, gravity included */
static void load(const twin *t, const twin_row *row, body *b) {
  static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  cld o[3], a[3], L[3] = {0};
  for (int i = 0; i < 3; i++) {
    o[i] = b->com[i] = b->T.a[i][3];
    for (int k = 0; k < 3; k++) b->com[i] += b->T.a[i][k] * row->com[k];
    b->moment[i] = 0;
  }
  accelerate(b->w, b->dw, b->a, o, b->com, a);
  for (int i = 0; i < 3; i++) b->force[i] = row->mass * (a[i] - t->gravity[i]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      cld I_ij = 0; /* of R I R^T */
      for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++) I_ij += b->T.a[i][k] * row->inertia[entry[k][m]] * b->T.a[j][m];
      b->moment[i] += I_ij * b->dw[j];
      L[i] += I_ij * b->w[j];
    }
  cross_add(b->w, L, 1, b->moment);
}

static bool carries(const twin *t, int i, int j) {
  while (j > i) j = t->row[j].parent;
  return j == i;
}

void twin_frames(const twin *t, const cld *q, twin_frame *T) {
  body b[TWIN_MOST], base = {.T = origin(t->base)};
  for (int j = 0; j < t->joints; j++) {
    const twin_row *row = &t->row[j];
    place(t, row, row->parent < 0 ? &base : &b[row->parent],
          row->coupled ? row->factor * q[row->q] + row->offset : q[row->q], &b[j]);
    T[j] = b[j].T;
  }
}

/* a drive's torque: on its own coordinate, and where it is behind the transmission on coordinate 0 too */
static void add_drive(const twin *t, const twin_row *row, const cld *qdd, cld *tau) {
  bool mixed = t->mix != 0 && row->q == 1 && !row->coupled;
  cld own = row->coupled ? row->factor : 1, rate = own * qdd[row->q] - (mixed ? t->mix * qdd[0] : 0);
  tau[row->q] += own * row->drive * rate;
  if (mixed) tau[0] -= t->mix * row->drive * rate;
}

void twin_inverse(const twin *t, const cld *q, const cld *qd, const cld *qdd, cld *tau) {
  body b[TWIN_MOST], base = {.T = origin(t->base)};
  for (int i = 0; i < t->n; i++) tau[i] = 0;
  for (int j = 0; j < t->joints; j++) {
    step(t, &base, q, qd, qdd, b, j);
    load(t, &t->row[j], &b[j]);
    add_drive(t, &t->row[j], qdd, tau);
  }
  for (int i = 0; i < t->joints; i++)
    for (int j = i; j < t->joints; j++) {
      if (!carries(t, i, j)) continue;
      cld arm[3], moment[3], sum = 0;
      for (int e = 0; e < 3; e++) arm[e] = b[j].com[e] - b[i].at[e], moment[e] = b[j].moment[e];
      cross_add(arm, b[j].force, 1, moment);
      for (int e = 0; e < 3; e++) sum += b[i].z[e] * (t->row[i].prismatic ? b[j].force[e] : moment[e]);
      tau[t->row[i].q] += (t->row[i].coupled ? t->row[i].factor : 1) * sum;
    }
}

void twin_point_motion(const twin *t, const twin_point *point, const cld *q, const cld *qd, const cld *qdd,
                       cld *place_of, cld *acceleration, cld *J) {
  body b[TWIN_MOST], base = {.T = origin(t->base)};
  for (int j = 0; j < t->joints; j++) step(t, &base, q, qd, qdd, b, j);
  const body *on = point->joint < 0 ? &base : &b[point->joint];
  cld at[3], o[3];
  for (int i = 0; i < 3; i++) {
    at[i] = o[i] = on->T.a[i][3];
    for (int k = 0; k < 3; k++) at[i] += on->T.a[i][k] * point->at[k];
  }
  if (place_of) memcpy(place_of, at, sizeof at);
  if (acceleration) accelerate(on->w, on->dw, on->a, o, at, acceleration);
  for (int i = 0; J && i < 3 * t->n; i++) J[i] = 0;
  for (int j = point->joint; J && j >= 0; j = t->row[j].parent) {
    cld arm[3], column[3] = {0};
    for (int i = 0; i < 3; i++) arm[i] = at[i] - b[j].at[i];
    if (t->row[j].prismatic) memcpy(column, b[j].z, sizeof column);
    else cross_add(b[j].z, arm, 1, column);
    for (int i = 0; i < 3; i++) J[i * t->n + t->row[j].q] += (t->row[j].coupled ? t->row[j].factor : 1) * column[i];
  }
}

void twin_linearize(const twin *t, const double *q, const double *qd, const double *qdd, long double *B, long double *A,
                    long double *M) {
  const long double step = 1e-40L;
  cld x[3][TWIN_MOST], tau[TWIN_MOST];
  long double *const out[3] = {B, A, M};
  for (int i = 0; i < t->n; i++) x[0][i] = q[i], x[1][i] = qd[i], x[2][i] = qdd[i];
  for (int part = 0; part < 3; part++)
    for (int j = 0; j < t->n; j++) {
      x[part][j] += I * step;
      twin_inverse(t, x[0], x[1], x[2], tau);
      x[part][j] = creall(x[part][j]);
      for (int i = 0; i < t->n; i++) out[part][i * t->n + j] = cimagl(tau[i]) / step;
    }
}

/* ---- a dense solver ---- */

static long double norm1(int n, const long double *M) {
  long double most = 0;
  for (int j = 0; j < n; j++) {
    long double sum = 0;
    for (int i = 0; i < n; i++) sum += fabsl(M[i * n + j]);
    most = fmaxl(most, sum);
  }
  return most;
}

/* Gauss-Jordan with row pivoting on [M | Y] */
static void eliminate(int n, int columns, long double *M, long double *X) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabsl(M[i * n + k]) > fabsl(M[best * n + k])) best = i;
    for (int j = 0; j < n + columns; j++) {
      long double *a = j < n ? &M[k * n + j] : &X[k * columns + j - n],
                  *b = j < n ? &M[best * n + j] : &X[best * columns + j - n], c = *a;
      *a = *b, *b = c;
    }
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      long double share = M[i * n + k] / M[k * n + k];
      for (int j = 0; j < n; j++) M[i * n + j] -= share * M[k * n + j];
      for (int j = 0; j < columns; j++) X[i * columns + j] -= share * X[k * columns + j];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) X[i * columns + j] /= M[i * n + i];
}

long double twin_solve(int n, int columns, const long double *M, const long double *Y, long double *X) {
  long double copy[TWIN_MOST * TWIN_MOST], inverse[TWIN_MOST * TWIN_MOST] = {0};
  memcpy(copy, M, sizeof *M * (size_t)n * (size_t)n);
  memcpy(X, Y, sizeof *X * (size_t)n * (size_t)columns);
  eliminate(n, columns, copy, X);
  memcpy(copy, M, sizeof *M * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
  eliminate(n, n, copy, inverse);
  return norm1(n, M) * norm1(n, inverse);
}

/* ---- random twins, and the file that says the same ---- */

static twin_row random_row(rng *g, const twin *t, int j, bool may_couple) {
  twin_row w = {.prismatic = rng_int(g, 0, 3) == 0, .mass = rng_uniform(g, 0.5, 5)};
  w.parent = rng_int(g, 0, 3) ? j - 1 : rng_int(g, -1, j - 1);
  w.coupled = may_couple && j > 0 && rng_int(g, 0, 4) == 0;
  w.q = w.coupled ? rng_int(g, 0, t->n - 1) : t->n;
  w.factor = rng_uniform(g, -2, 2), w.offset = rng_uniform(g, -1, 1);
  w.theta = rng_uniform(g, -3, 3), w.d = rng_uniform(g, -0.5, 0.5);
  w.a = rng_uniform(g, -0.5, 0.5), w.alpha = rng_int(g, 0, 1) ? 1.5707963267948966 : rng_uniform(g, -3, 3);
  for (int i = 0; i < 6 && w.parent != j - 1; i++) w.origin[i] = rng_uniform(g, -1, 1);
  w.drive = rng_int(g, 0, 1) ? rng_uniform(g, 0.1, 1) : 0;
  for (int i = 0; i < 3; i++) w.com[i] = rng_uniform(g, -0.3, 0.3);
  const double J[6] = {rng_uniform(g, 0.1, 0.2), rng_uniform(g, -0.02, 0.02), rng_uniform(g, -0.02, 0.02),
                       rng_uniform(g, 0.1, 0.2), rng_uniform(g, -0.02, 0.02), rng_uniform(g, 0.1, 0.2)};
  memcpy(w.inertia, J, sizeof J);
  return w;
}

twin twin_random(rng *g, int joints_max, bool may_couple, bool may_mix) {
  twin t = {.joints = rng_int(g, 1, joints_max), .modified = rng_int(g, 0, 1)};
  bool couple = may_couple && rng_int(g, 0, 2) == 0;
  for (int i = 0; i < 3; i++)
    t.gravity[i] = rng_uniform(g, -9, 9), t.base[i] = rng_uniform(g, -1, 1), t.base[3 + i] = rng_uniform(g, -3, 3);
  for (int j = 0; j < t.joints; j++) {
    t.row[j] = random_row(g, &t, j, couple);
    t.n += !t.row[j].coupled;
  }
  if (may_mix && t.n > 1 && rng_int(g, 0, 4) == 0) t.mix = rng_uniform(g, -1, 1);
  return t;
}

static int first_joint_of(const twin *t, int q) {
  for (int j = 0; j < t->joints; j++)
    if (!t->row[j].coupled && t->row[j].q == q) return j;
  return -1;
}

static void write_joint(FILE *f, const twin *t, int j) {
  const twin_row *w = &t->row[j];
  const double *o = w->origin;
  fprintf(f, "  - {name: j%d, type: %s, theta: %.17Lg, d: %.17Lg, a: %.17Lg, alpha: %.17Lg", j,
          w->prismatic ? "prismatic" : "revolute", creall(w->theta), creall(w->d), creall(w->a), creall(w->alpha));
  if (w->parent < 0) fprintf(f, ", parent: base");
  else fprintf(f, ", parent: j%d", w->parent);
  if (w->parent != j - 1)
    fprintf(f, ", origin: {xyz: [%.17g, %.17g, %.17g], rpy: [%.17g, %.17g, %.17g]}", o[0], o[1], o[2], o[3], o[4],
            o[5]);
  if (w->drive != 0) fprintf(f, ", drive_inertia: %.17g", w->drive);
  if (w->coupled) fprintf(f, ", couple: {j%d: %.17g, offset: %.17g}", first_joint_of(t, w->q), w->factor, w->offset);
  fprintf(f, "}\n");
}

void twin_write_transmission(FILE *f, const twin *t, int n) {
  fprintf(f, "transmission: [");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      fprintf(f, "%s%.17g%s",
              j   ? ", "
              : i ? ", ["
                  : "[",
              i == j             ? 1
              : i == 1 && j == 0 ? t->mix
                                 : 0,
              j == n - 1 ? "]" : "");
  fprintf(f, "]\n");
}

char *twin_write(const twin *t, char *buf, size_t size) {
  FILE *f = fmemopen(buf, size, "w");
  const double *g = t->gravity, *o = t->base;
  fprintf(f, "convention: %s\ngravity: [%.17g, %.17g, %.17g]\n", t->modified ? "modified-dh" : "dh", g[0], g[1], g[2]);
  fprintf(f, "base: {xyz: [%.17g, %.17g, %.17g], rpy: [%.17g, %.17g, %.17g]}\njoints:\n", o[0], o[1], o[2], o[3], o[4],
          o[5]);
  for (int j = 0; j < t->joints; j++) write_joint(f, t, j);
  if (t->mix != 0) twin_write_transmission(f, t, t->n);
  fprintf(f, "links:\n");
  for (int j = 0; j < t->joints; j++) {
    const twin_row *w = &t->row[j];
    const double *J = w->inertia;
    fprintf(f,
            "  - {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: %.17g, xy: %.17g, xz: %.17g, yy: %.17g, yz: "
            "%.17g, zz: %.17g}}\n",
            w->mass, w->com[0], w->com[1], w->com[2], J[0], J[1], J[2], J[3], J[4], J[5]);
  }
  fclose(f);
  return buf;
}

psdm_robot *twin_robot(const twin *t, char *buf, size_t size) {
  psdm_robot *robot = parse_unsnapped(twin_write(t, buf, size));
  assert_int_equal(psdm_robot_n(robot), t->n);
  return robot;
}
