/* Lagrange's equations from world-frame energies of the bodies' centres of mass, over the frames of an independent twin
 * (twin.h), sharing no code with the library. Velocities come from a complex step (exact), the remaining derivatives
 * from differences of order 16 in extended precision. Trees, both conventions, prismatic and coupled joints, drives,
 * base pose. */
#include <math.h>
#include <string.h>

#include "twin.h"

enum { MOST = 6, ROBOTS = 120 };

/* ---- energies ---- */

/* T and U: frames at q + i e qd have the velocities as imaginary parts over e, with no difference taken */
static void energies(const twin *r, const long double *q, const long double *qd, long double *T, long double *U) {
  const long double e = 1e-200L;
  cld z[MOST];
  twin_frame F[MOST];
  for (int i = 0; i < r->n; i++) z[i] = q[i] + I * e * qd[i];
  twin_frames(r, z, F);
  *T = *U = 0;
  for (int j = 0; j < r->joints; j++) {
    const twin_row *w = &r->row[j];
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
static void mass(const twin *r, const long double *q, long double *M) {
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
static void lagrange(const twin *r, const long double *q, const long double *qd, const long double *qdd, double *tau) {
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

static void compare(const twin *r, rng *g, const char *text) {
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

TEST(test_against_lagrange) {
  rng g = rng_start("Lagrange");
  static char text[16 * 1024];
  for (int k = 0; k < ROBOTS; k++) {
    twin r = twin_random(&g, 5, true, false);
    compare(&r, &g, twin_write(&r, text, sizeof text));
  }
}

TEST_MAIN(test_against_lagrange)
