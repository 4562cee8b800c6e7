/* An independent twin: Lagrange's equations from world-frame energies of the bodies' centres of mass, straight from the
 * DH rows, sharing no code with the library. Velocities come from a complex step (exact), the remaining derivatives
 * from differences of order 16 in extended precision. Trees, both conventions, prismatic and coupled joints, drives,
 * base pose. */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { MOST = 6, ROBOTS = 120 };

typedef long double complex cld;
typedef struct mat {
  cld a[4][4];
} mat;

typedef struct arm {
  int joints, n;
  bool modified;
  long double gravity[3], base[6]; /* base: xyz, rpy */
  struct row {
    bool prismatic, coupled;
    int parent, q; /* q: index of its independent coordinate, or of the one it follows */
    double factor, offset, theta, d, a, alpha, origin[6], drive;
    double mass, com[3], inertia[6]; /* about the com: xx xy xz yy yz zz */
  } row[MOST];
} arm;

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

/* the DH row itself, with the joint's coordinate added to theta or d */
static mat row_transform(const arm *r, const struct row *w, cld x) {
  cld theta = w->theta + (w->prismatic ? 0 : x), d = w->d + (w->prismatic ? x : 0);
  mat rz = mul(turn(2, theta), shift(0, 0, d)), rx = mul(shift(w->a, 0, 0), turn(0, w->alpha));
  return mul(origin(w->origin), r->modified ? mul(rx, rz) : mul(rz, rx));
}

static cld coordinate(const struct row *w, const cld *q) {
  return w->coupled ? w->factor * q[w->q] + w->offset : q[w->q];
}

/* ---- energies ---- */

static void frames(const arm *r, const cld *q, mat *T) {
  double base[6];
  for (int i = 0; i < 6; i++) base[i] = (double)r->base[i];
  for (int j = 0; j < r->joints; j++) {
    mat parent = r->row[j].parent < 0 ? origin(base) : T[r->row[j].parent];
    T[j] = mul(parent, row_transform(r, &r->row[j], coordinate(&r->row[j], q)));
  }
}

/* T and U: frames at q + i e qd have the velocities as imaginary parts over e, with no difference taken */
static void energies(const arm *r, const long double *q, const long double *qd, long double *T, long double *U) {
  const long double e = 1e-200L;
  cld z[MOST];
  mat F[MOST];
  for (int i = 0; i < r->n; i++) z[i] = q[i] + I * e * qd[i];
  frames(r, z, F);
  *T = *U = 0;
  for (int j = 0; j < r->joints; j++) {
    const struct row *w = &r->row[j];
    const double *J = w->inertia;
    long double R[3][3], S[3][3], v[3], omega[3], body[3];
    for (int i = 0; i < 3; i++) {
      cld p = F[j].a[i][3];
      for (int k = 0; k < 3; k++) p += F[j].a[i][k] * w->com[k];
      v[i] = cimagl(p) / e;
      *U -= w->mass * r->gravity[i] * creall(p);
      for (int k = 0; k < 3; k++) R[i][k] = creall(F[j].a[i][k]), S[i][k] = cimagl(F[j].a[i][k]) / e;
    }
    /* [omega]x = dR/dt R^T, then into body axes */
    long double W[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) W[i][k] += S[i][l] * R[k][l];
    omega[0] = W[2][1], omega[1] = W[0][2], omega[2] = W[1][0];
    for (int k = 0; k < 3; k++) body[k] = R[0][k] * omega[0] + R[1][k] * omega[1] + R[2][k] * omega[2];
    long double x = body[0], y = body[1], s = body[2], rate = w->coupled ? w->factor * qd[w->q] : qd[w->q];
    *T += 0.5L * w->mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    *T += 0.5L * (J[0] * x * x + J[3] * y * y + J[5] * s * s) + J[1] * x * y + J[2] * x * s + J[4] * y * s;
    *T += 0.5L * w->drive * rate * rate;
  }
}

/* 2 T(x, y) as a bilinear form: M from polarisation */
static void mass(const arm *r, const long double *q, long double *M) {
  long double U, diagonal[MOST];
  for (int i = 0; i < r->n; i++) {
    long double x[MOST] = {0};
    x[i] = 1;
    energies(r, q, x, &diagonal[i], &U);
    M[i * r->n + i] = 2 * diagonal[i];
  }
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < i; j++) {
      long double x[MOST] = {0}, T;
      x[i] = x[j] = 1;
      energies(r, q, x, &T, &U);
      M[i * r->n + j] = M[j * r->n + i] = T - diagonal[i] - diagonal[j];
    }
}

/* Lagrange: tau = M qdd + (dM/dt) qd - d(T - U)/dq, derivatives along qd and along each axis */
static void lagrange(const arm *r, const long double *q, const long double *qd, const long double *qdd, double *tau) {
  enum { ORDER = 8 };
  const long double h = 0.02L;
  int n = r->n;
  long double M[MOST * MOST], c = 1, out[MOST] = {0};
  mass(r, q, M);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i] += M[i * n + j] * qdd[j];
  for (int k = 1; k <= ORDER; k++) {
    c *= -(long double)(ORDER - k + 1) / (ORDER + k);
    for (int side = -1; side <= 1; side += 2) {
      long double x[MOST], T, U, weight = -side * c / k / h;
      for (int i = 0; i < n; i++) x[i] = q[i] + side * k * h * qd[i];
      mass(r, x, M);
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[i] += weight * M[i * n + j] * qd[j];
      for (int i = 0; i < n; i++) {
        memcpy(x, q, sizeof x);
        x[i] += side * k * h;
        energies(r, x, qd, &T, &U);
        out[i] -= weight * (T - U);
      }
    }
  }
  for (int i = 0; i < n; i++) tau[i] = (double)out[i];
}

/* ---- random arms, and the file that says the same ---- */

static arm random_arm(rng *g) {
  arm r = {.joints = rng_int(g, 1, 5), .modified = rng_int(g, 0, 1)};
  for (int i = 0; i < 3; i++)
    r.gravity[i] = rng_uniform(g, -9, 9), r.base[i] = rng_uniform(g, -1, 1), r.base[3 + i] = rng_uniform(g, -3, 3);
  for (int j = 0; j < r.joints; j++) {
    struct row *w = &r.row[j];
    w->prismatic = rng_int(g, 0, 3) == 0;
    w->parent = rng_int(g, 0, 3) ? j - 1 : rng_int(g, -1, j - 1);
    w->coupled = j > 0 && rng_int(g, 0, 4) == 0;
    w->q = w->coupled ? rng_int(g, 0, r.n - 1) : r.n++;
    w->factor = rng_uniform(g, -2, 2), w->offset = rng_uniform(g, -1, 1);
    w->theta = rng_uniform(g, -3, 3), w->d = rng_uniform(g, -0.5, 0.5);
    w->a = rng_uniform(g, -0.5, 0.5), w->alpha = rng_int(g, 0, 1) ? 1.5707963267948966 : rng_uniform(g, -3, 3);
    for (int i = 0; i < 6 && w->parent != j - 1; i++) w->origin[i] = rng_uniform(g, -1, 1);
    w->drive = rng_int(g, 0, 1) ? rng_uniform(g, 0.1, 1) : 0;
    w->mass = rng_uniform(g, 0.5, 5);
    for (int i = 0; i < 3; i++) w->com[i] = rng_uniform(g, -0.3, 0.3);
    const double J[6] = {rng_uniform(g, 0.1, 0.2), rng_uniform(g, -0.02, 0.02), rng_uniform(g, -0.02, 0.02),
                         rng_uniform(g, 0.1, 0.2), rng_uniform(g, -0.02, 0.02), rng_uniform(g, 0.1, 0.2)};
    memcpy(w->inertia, J, sizeof J);
  }
  return r;
}

static int first_joint_of(const arm *r, int q) {
  for (int j = 0; j < r->joints; j++)
    if (!r->row[j].coupled && r->row[j].q == q) return j;
  return -1;
}

static char *write_arm(const arm *r, char *buf, size_t size) {
  FILE *f = fmemopen(buf, size, "w");
  fprintf(f, "convention: %s\ngravity: [%.17Lg, %.17Lg, %.17Lg]\n", r->modified ? "modified-dh" : "dh", r->gravity[0],
          r->gravity[1], r->gravity[2]);
  fprintf(f, "base: {xyz: [%.17Lg, %.17Lg, %.17Lg], rpy: [%.17Lg, %.17Lg, %.17Lg]}\njoints:\n", r->base[0], r->base[1],
          r->base[2], r->base[3], r->base[4], r->base[5]);
  for (int j = 0; j < r->joints; j++) {
    const struct row *w = &r->row[j];
    fprintf(f, "  - {name: j%d, type: %s, theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g", j,
            w->prismatic ? "prismatic" : "revolute", w->theta, w->d, w->a, w->alpha);
    if (w->parent < 0) fprintf(f, ", parent: base");
    else fprintf(f, ", parent: j%d", w->parent);
    fprintf(f, ", origin: {xyz: [%.17g, %.17g, %.17g], rpy: [%.17g, %.17g, %.17g]}", w->origin[0], w->origin[1],
            w->origin[2], w->origin[3], w->origin[4], w->origin[5]);
    if (w->drive != 0) fprintf(f, ", drive_inertia: %.17g", w->drive);
    if (w->coupled) fprintf(f, ", couple: {j%d: %.17g, offset: %.17g}", first_joint_of(r, w->q), w->factor, w->offset);
    fprintf(f, "}\n");
  }
  fprintf(f, "links:\n");
  for (int j = 0; j < r->joints; j++) {
    const struct row *w = &r->row[j];
    fprintf(f,
            "  - {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: %.17g, xy: %.17g, xz: %.17g, yy: %.17g, yz: "
            "%.17g, zz: %.17g}}\n",
            w->mass, w->com[0], w->com[1], w->com[2], w->inertia[0], w->inertia[1], w->inertia[2], w->inertia[3],
            w->inertia[4], w->inertia[5]);
  }
  fclose(f);
  return buf;
}

static void compare(const arm *r, rng *g, const char *text) {
  psdm_robot *robot;
  psdm_work *work;
  const psdm_robot_options as_written = {.no_snap = true};
  int n = r->n;
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], expected[MOST], M[MOST * MOST], M_twin[MOST * MOST], T, U;
  long double ql[MOST], qdl[MOST], qddl[MOST], Ml[MOST * MOST], Tl, Ul;
  assert_int_equal(psdm_robot_parse(text, strlen(text), "twin.yaml", &as_written, NULL, &robot, NULL), PSDM_OK);
  assert_int_equal(psdm_robot_n(robot), n);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int i = 0; i < n; i++) {
    ql[i] = q[i] = rng_uniform(g, -3, 3);
    qdl[i] = qd[i] = rng_uniform(g, -1, 1);
    qddl[i] = qdd[i] = rng_uniform(g, -3, 3);
  }
  assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
  assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
  assert_int_equal(psdm_energy(robot, work, q, qd, &T, &U), PSDM_OK);
  energies(r, ql, qdl, &Tl, &Ul);
  mass(r, ql, Ml);
  lagrange(r, ql, qdl, qddl, expected);
  for (int i = 0; i < n * n; i++) M_twin[i] = (double)Ml[i];
  double scale = max_absolute(expected, n) + max_absolute(M_twin, n * n);
  if (!(max_difference(M, M_twin, n * n) <= 1e-13 * scale))
    fail_msg("mass differs by %.3g for\n%s", max_difference(M, M_twin, n * n) / scale, text);
  if (!(max_difference(tau, expected, n) <= 1e-12 * scale))
    fail_msg("torque differs by %.3g for\n%s", max_difference(tau, expected, n) / scale, text);
  if (!(fabs(T - (double)Tl) <= 1e-13 * (1 + fabs(T))))
    fail_msg("kinetic energy %.17g, expected %.17Lg for\n%s", T, Tl, text);
  if (!(fabs(U - (double)Ul) <= 1e-12 * (100 + fabs(U))))
    fail_msg("potential energy %.17g, expected %.17Lg for\n%s", U, Ul, text);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

static void test_against_lagrange(void **unused) {
  (void)unused;
  rng g = rng_start("Lagrange");
  static char text[16 * 1024];
  for (int k = 0; k < ROBOTS; k++) {
    arm r = random_arm(&g);
    compare(&r, &g, write_arm(&r, text, sizeof text));
  }
}

TEST_MAIN(test_against_lagrange)
