/* The six algorithms, the innovations and the second derivatives against complex steps of an independent twin
 * (support/twin.h) on 300 random robots: 1 to 12 joints, revolute and prismatic, trees and forests, coupled joints,
 * drives, transmissions, base poses, gravity in any direction. Errors are relative to the largest entry of what is
 * compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin.h"

enum { ROBOTS = 300, MOST = TWIN_MOST, SQUARE = MOST * MOST };

/* A random twin, its robot and a state. */
typedef struct scene {
  twin t;
  psdm_robot *robot;
  psdm_linear *linear;
  psdm_work *work;
  int n;
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST];
  long double B[SQUARE], A[SQUARE], M[SQUARE]; /* the twin's derivatives */
  char text[16 * 1024];
} scene;

static void fill(rng *g, int n, double size, double *x) {
  for (int i = 0; i < n; i++) x[i] = rng_uniform(g, -size, size);
}

static void open_scene(rng *g, int joints, bool couple, bool mix, scene *s) {
  s->t = twin_random(g, joints, couple, mix);
  s->robot = twin_robot(&s->t, s->text, sizeof s->text);
  s->n = s->t.n;
  assert_int_equal(psdm_linear_new(s->robot, NULL, &s->linear), PSDM_OK);
  assert_int_equal(psdm_work_new(s->robot, NULL, &s->work), PSDM_OK);
  fill(g, s->n, 3, s->q);
  fill(g, s->n, 1, s->qd);
  fill(g, s->n, 3, s->qdd);
  assert_int_equal(psdm_inverse(s->robot, s->work, s->q, s->qd, s->qdd, s->tau), PSDM_OK);
  twin_linearize(&s->t, s->q, s->qd, s->qdd, s->B, s->A, s->M);
}

static void close_scene(scene *s) {
  psdm_work_free(s->work, NULL);
  psdm_linear_free(s->linear, NULL);
  psdm_robot_free(s->robot);
}

static double largest(const long double *x, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs((double)x[i]));
  return most;
}

/* max |x - y| over the largest of y and floor */
static double error_of(const double *x, const long double *y, int count, double floor) {
  double most = 0;
  for (int i = 0; i < count; i++) {
    double e = fabs((double)(x[i] - y[i]));
    if (!(e <= most)) most = e;
  }
  return most / fmax(largest(y, count), floor);
}

/* keeps the worst, and fails above the tolerance */
static void expect(double error, double tolerance, double *worst, const char *what, const scene *s) {
  if (!(error <= *worst)) *worst = error;
  if (!(error <= tolerance)) fail_msg("%s: %.3g is above %.3g for\n%s", what, error, tolerance, s->text);
}

/* y = B dq + A dqd + M dqdd */
static void combine(const scene *s, const double *dq, const double *dqd, const double *dqdd, long double *y) {
  for (int i = 0; i < s->n; i++) {
    y[i] = 0;
    for (int j = 0; j < s->n; j++)
      y[i] += s->B[i * s->n + j] * dq[j] + s->A[i * s->n + j] * dqd[j] + s->M[i * s->n + j] * dqdd[j];
  }
}

/* ---- Algorithms 1 and 2 ---- */

static void test_inverse(void **unused) {
  (void)unused;
  rng g = rng_start("linearized inverse dynamics");
  static scene s;
  double worst[4] = {0};
  for (int k = 0; k < ROBOTS; k++) {
    double B[SQUARE], A[SQUARE], M[SQUARE], dq[MOST], dqd[MOST], dqdd[MOST], dtau[MOST];
    long double expected[MOST];
    open_scene(&g, MOST, true, true, &s);
    int n = s.n;
    double floor = largest(s.M, n * n);
    assert_int_equal(psdm_linearize_inverse(s.robot, s.linear, s.q, s.qd, s.qdd, B, A, M), PSDM_OK);
    expect(error_of(B, s.B, n * n, floor), 1e-11, &worst[0], "dtau/dq", &s);
    expect(error_of(A, s.A, n * n, floor), 1e-11, &worst[1], "dtau/dqd", &s);
    expect(error_of(M, s.M, n * n, floor), 1e-11, &worst[2], "M", &s);
    fill(&g, n, 1, dq), fill(&g, n, 1, dqd), fill(&g, n, 1, dqdd);
    assert_int_equal(psdm_linear_inverse_along(s.robot, s.linear, s.q, s.qd, s.qdd, dq, dqd, dqdd, dtau), PSDM_OK);
    combine(&s, dq, dqd, dqdd, expected);
    expect(error_of(dtau, expected, n, floor), 1e-11, &worst[3], "dtau along a direction", &s);
    close_scene(&s);
  }
  printf("worst: dtau/dq %.1e, dtau/dqd %.1e, M %.1e, along %.1e\n", worst[0], worst[1], worst[2], worst[3]);
}

/* ---- Algorithms 3 to 6: a solution with M loses as many digits as its condition number has ---- */

static void test_forward(void **unused) {
  (void)unused;
  rng g = rng_start("linearized forward dynamics");
  static scene s;
  double worst[2][4] = {{0}}, stiffest = 0, between = 0;
  for (int k = 0; k < ROBOTS; k++) {
    static long double X[3][SQUARE], one[SQUARE], change[MOST], along[MOST];
    double out[2][3][SQUARE], dqdd[2][MOST], dq[MOST], dqd[MOST], dtau[MOST], none[MOST] = {0}, again[SQUARE];
    open_scene(&g, MOST, k % 3 == 0, k % 3 == 0, &s);
    int n = s.n;
    memset(one, 0, sizeof one);
    for (int i = 0; i < n; i++) one[i * n + i] = 1;
    double condition = (double)twin_solve(n, n, s.M, s.B, X[0]);
    twin_solve(n, n, s.M, s.A, X[1]);
    twin_solve(n, n, s.M, one, X[2]);
    for (int i = 0; i < n * n; i++) X[0][i] = -X[0][i], X[1][i] = -X[1][i];
    fill(&g, n, 1, dq), fill(&g, n, 1, dqd), fill(&g, n, 1, dtau);
    combine(&s, dq, dqd, none, change);
    for (int i = 0; i < n; i++) change[i] = dtau[i] - change[i];
    twin_solve(n, 1, s.M, change, along);
    stiffest = fmax(stiffest, condition);

    assert_int_equal(psdm_linearize_forward_at(s.robot, s.linear, s.q, s.qd, s.qdd, out[0][0], out[0][1], out[0][2]),
                     PSDM_OK);
    assert_int_equal(psdm_linearize_forward_dense(s.robot, s.linear, s.q, s.qd, s.qdd, out[1][0], out[1][1], out[1][2]),
                     PSDM_OK);
    assert_int_equal(psdm_linear_forward_along(s.robot, s.linear, s.q, s.qd, s.qdd, dq, dqd, dtau, dqdd[0]), PSDM_OK);
    assert_int_equal(psdm_linear_forward_along_dense(s.robot, s.linear, s.q, s.qd, s.qdd, dq, dqd, dtau, dqdd[1]),
                     PSDM_OK);
    double tolerance = 1e-11 + 1e-15 * condition;
    for (int way = 0; way < 2; way++) {
      static const char *const name[4] = {"dqdd/dq", "dqdd/dqd", "M^-1", "dqdd along a direction"};
      for (int m = 0; m < 3; m++)
        expect(error_of(out[way][m], X[m], n * n, largest(X[2], n * n)), tolerance, &worst[way][m], name[m], &s);
      expect(error_of(dqdd[way], along, n, largest(X[2], n * n)), tolerance, &worst[way][3], name[3], &s);
    }
    for (int m = 0; m < 3; m++)
      between = fmax(between, max_difference(out[0][m], out[1][m], n * n) /
                                  fmax(largest(X[m], n * n), largest(X[2], n * n)) / condition);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < i; j++) assert_true(out[0][2][i * n + j] == out[0][2][j * n + i]);

    /* from torques, and any matrix alone */
    assert_int_equal(psdm_linearize_forward(s.robot, s.linear, s.q, s.qd, s.tau, NULL, again, NULL), PSDM_OK);
    expect(error_of(again, X[1], n * n, largest(X[2], n * n)), tolerance + 1e-14 * condition, &(double){0},
           "from torques", &s);
    close_scene(&s);
  }
  for (int way = 0; way < 2; way++)
    printf("worst %s: dqdd/dq %.1e, dqdd/dqd %.1e, M^-1 %.1e, along %.1e\n",
           way ? "by Algorithms 3, 4" : "by Algorithms 5, 6", worst[way][0], worst[way][1], worst[way][2],
           worst[way][3]);
  assert_true(between < 1e-14);
  printf("largest condition number %.1e; 6 against 4, over the condition number: %.1e\n", stiffest, between);
}

/* ---- M = L D L^T, L L^-1 = 1, M^-1 = L^-T D^-1 L^-1 ---- */

/* two hundred joints: a chain of random twists, folded so that it stays near; its factors against its mass matrix */
static void test_long_chain(void **unused) {
  (void)unused;
  enum { LINKS = 200 };
  rng g = rng_start("a long chain");
  size_t size = 400 * LINKS, at = 0;
  char *text = malloc(size);
  double *M = calloc(5 * LINKS * LINKS, sizeof *M), *L = M + LINKS * LINKS, *q = L + LINKS * LINKS, *D = q + LINKS,
         worst = 0;
  psdm_linear *linear;
  psdm_work *work;
  assert_true(text && M);
  at += (size_t)snprintf(text, size, "name: long\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n");
  for (int i = 0; i < LINKS; i++)
    at += (size_t)snprintf(
        text + at, size - at,
        "  - {name: j%d, type: revolute, theta: 0, d: 0.01, a: 0.02, alpha: %.3f, drive_inertia: 0.5}\n", i,
        rng_uniform(&g, -1, 1));
  at += (size_t)snprintf(text + at, size - at, "links:\n");
  for (int i = 0; i < LINKS; i++)
    at += (size_t)snprintf(text + at, size - at,
                           "  - {mass: 0.1, com: [0.01, 0, 0], inertia: {xx: 0.001, yy: 0.001, zz: 0.001}}\n");
  psdm_robot *robot = parse_robot(text);
  for (int i = 0; i < LINKS; i++) q[i] = rng_uniform(&g, -3, 3);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
  assert_int_equal(psdm_innovations(robot, linear, q, L, NULL, D), PSDM_OK);
  for (int i = 0; i < LINKS; i++)
    for (int j = 0; j < LINKS; j++) {
      double sum = 0;
      for (int k = 0; k < LINKS; k++) sum += L[i * LINKS + k] * D[k] * L[j * LINKS + k];
      worst = fmax(worst, fabs(sum - M[i * LINKS + j]));
    }
  worst /= max_absolute(M, LINKS * LINKS);
  printf("%d joints: L D L^T %.1e\n", LINKS, worst);
  assert_true(worst < 1e-12);
  psdm_work_free(work, NULL);
  psdm_linear_free(linear, NULL);
  psdm_robot_free(robot);
  free(M);
  free(text);
}

static void test_innovations(void **unused) {
  (void)unused;
  rng g = rng_start("innovations");
  static scene s;
  double worst[3] = {0};
  for (int k = 0; k < ROBOTS; k++) {
    double L[SQUARE], F[SQUARE], D[MOST], P[SQUARE], one[SQUARE], Minv[SQUARE], again[SQUARE];
    static long double unit[SQUARE], X[SQUARE], identity[SQUARE];
    open_scene(&g, MOST, k % 3 == 0, k % 3 == 0, &s);
    int n = s.n;
    assert_int_equal(psdm_innovations(s.robot, s.linear, s.q, L, F, D), PSDM_OK);
    memset(unit, 0, sizeof unit);
    for (int i = 0; i < n; i++) {
      assert_true(D[i] > 0);
      for (int j = 0; j < n; j++) {
        P[i * n + j] = one[i * n + j] = Minv[i * n + j] = 0;
        unit[i * n + j] = i == j;
        for (int m = 0; m < n; m++) {
          P[i * n + j] += L[i * n + m] * D[m] * L[j * n + m];
          one[i * n + j] += L[i * n + m] * F[m * n + j];
          Minv[i * n + j] += F[m * n + i] / D[m] * F[m * n + j];
        }
      }
    }
    memcpy(identity, unit, sizeof unit);
    double condition = (double)twin_solve(n, n, s.M, identity, X);
    expect(error_of(P, s.M, n * n, 0), 1e-12, &worst[0], "L D L^T", &s);
    expect(error_of(one, unit, n * n, 1), 1e-13 * (1 + max_absolute(L, n * n) * max_absolute(F, n * n)), &worst[1],
           "L L^-1", &s);
    expect(error_of(Minv, X, n * n, 0), 1e-12 + 1e-15 * condition, &worst[2], "L^-T D^-1 L^-1", &s);
    assert_int_equal(psdm_innovations(s.robot, s.linear, s.q, NULL, again, NULL), PSDM_OK);
    assert_memory_equal(again, F, sizeof *F * (size_t)(n * n));
    close_scene(&s);
  }
  printf("worst: L D L^T %.1e, L L^-1 %.1e, M^-1 %.1e\n", worst[0], worst[1], worst[2]);
}

/* ---- second order: differences of order 16 of the twin's derivatives along the direction ---- */

static void differences(const scene *s, const double *dq, const double *dqd, const double *dqdd, long double *B,
                        long double *A, long double *M) {
  enum { ORDER = 8 };
  const double h = 0.03125; /* a power of two, so that only the state's last bit is rounded */
  int n = s->n;
  long double c = 1, *const out[3] = {B, A, M};
  static long double part[3][SQUARE];
  for (int m = 0; m < 3; m++) memset(out[m], 0, sizeof *B * (size_t)(n * n));
  for (int k = 1; k <= ORDER; k++) {
    c *= -(long double)(ORDER - k + 1) / (ORDER + k);
    for (int side = -1; side <= 1; side += 2) {
      double q[MOST], qd[MOST], qdd[MOST], t = side * k * h;
      for (int i = 0; i < n; i++)
        q[i] = s->q[i] + t * dq[i], qd[i] = s->qd[i] + t * dqd[i], qdd[i] = s->qdd[i] + t * dqdd[i];
      twin_linearize(&s->t, q, qd, qdd, part[0], part[1], part[2]);
      for (int m = 0; m < 3; m++)
        for (int i = 0; i < n * n; i++) out[m][i] -= side * c / k * part[m][i] / h;
    }
  }
}

static void test_second(void **unused) {
  (void)unused;
  rng g = rng_start("second derivatives of the inverse dynamics");
  static scene s;
  double worst[4] = {0};
  for (int k = 0; k < ROBOTS / 5; k++) {
    static long double B[SQUARE], A[SQUARE], M[SQUARE];
    double dq[MOST], dqd[MOST], dqdd[MOST], x[3][MOST], dB[SQUARE], dA[SQUARE], dM[SQUARE], d2tau[MOST], swapped[MOST];
    long double expected[MOST] = {0};
    open_scene(&g, 8, true, true, &s);
    int n = s.n;
    fill(&g, n, 1, dq), fill(&g, n, 1, dqd), fill(&g, n, 1, dqdd);
    for (int i = 0; i < 3; i++) fill(&g, n, 1, x[i]);
    const psdm_direction direction = {dq, dqd, dqdd}, other = {x[0], x[1], x[2]};
    assert_int_equal(psdm_linearize_inverse_second(s.robot, s.linear, s.q, s.qd, s.qdd, &direction, dB, dA, dM),
                     PSDM_OK);
    assert_int_equal(psdm_linear_inverse_second(s.robot, s.linear, s.q, s.qd, s.qdd, &direction, &other, d2tau),
                     PSDM_OK);
    assert_int_equal(psdm_linear_inverse_second(s.robot, s.linear, s.q, s.qd, s.qdd, &other, &direction, swapped),
                     PSDM_OK);
    differences(&s, dq, dqd, dqdd, B, A, M);
    double floor = fmax(largest(s.B, n * n), largest(s.M, n * n));
    expect(error_of(dB, B, n * n, floor), 1e-11, &worst[0], "d(dtau/dq)", &s);
    expect(error_of(dA, A, n * n, floor), 1e-11, &worst[1], "d(dtau/dqd)", &s);
    expect(error_of(dM, M, n * n, floor), 1e-11, &worst[2], "dM", &s);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        expected[i] += B[i * n + j] * x[0][j] + A[i * n + j] * x[1][j] + M[i * n + j] * x[2][j];
    expect(error_of(d2tau, expected, n, floor), 1e-11, &worst[3], "along two directions", &s);
    expect(error_of(swapped, expected, n, floor), 1e-11, &worst[3], "along two directions, swapped", &s);
    close_scene(&s);
  }
  printf("worst: d(dtau/dq) %.1e, d(dtau/dqd) %.1e, dM %.1e, along two %.1e\n", worst[0], worst[1], worst[2], worst[3]);
}

/* ---- a file that names children before their parents: q is not in the order of the tree ---- */

static void test_any_order(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\njoints:\n"
                                  "  - {name: tip, parent: low, a: 0.3, alpha: 1, drive_inertia: 0.2}\n"
                                  "  - {name: side, parent: low, type: prismatic, a: 0.1, d: 0.2, alpha: -1}\n"
                                  "  - {name: low, parent: root, a: 0.4, alpha: 0.5}\n"
                                  "  - {name: root, parent: base, d: 0.3, alpha: 1.2, drive_inertia: 0.1}\n"
                                  "links:\n"
                                  "  - {mass: 1, com: [0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.15}}\n"
                                  "  - {mass: 2, com: [0, 0.1, 0.1], inertia: {xx: 0.2, yy: 0.2, zz: 0.1}}\n"
                                  "  - {mass: 3, com: [0.1, 0, 0.2], inertia: {xx: 0.2, yy: 0.3, zz: 0.15}}\n"
                                  "  - {mass: 4, com: [0.1, 0.1, 0], inertia: {xx: 0.3, yy: 0.2, zz: 0.25}}\n");
  enum { N = 4, NN = N * N };
  psdm_linear *l;
  double q[N] = {0.3, 0.1, -0.8, 1.2}, qd[N] = {1, -0.5, 0.4, 0.7}, qdd[N] = {0.2, 1, -2, 1.5};
  double B[NN], A[NN], M[NN], X[2][3][NN], dqdd[2][N], L[NN], F[NN], D[N];
  assert_int_equal(psdm_linear_new(robot, NULL, &l), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, l, q, qd, qdd, B, A, M), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_at(robot, l, q, qd, qdd, X[0][0], X[0][1], X[0][2]), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_dense(robot, l, q, qd, qdd, X[1][0], X[1][1], X[1][2]), PSDM_OK);
  assert_int_equal(psdm_linear_forward_along(robot, l, q, qd, qdd, q, qd, qdd, dqdd[0]), PSDM_OK);
  assert_int_equal(psdm_linear_forward_along_dense(robot, l, q, qd, qdd, q, qd, qdd, dqdd[1]), PSDM_OK);
  assert_int_equal(psdm_innovations(robot, l, q, L, F, D), PSDM_OK);
  for (int m = 0; m < 3; m++) assert_true(max_difference(X[0][m], X[1][m], NN) <= 1e-12 * max_absolute(X[1][m], NN));
  assert_true(max_difference(dqdd[0], dqdd[1], N) <= 1e-12 * max_absolute(dqdd[1], N));
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double product = 0, one = 0;
      for (int k = 0; k < N; k++) product += L[i * N + k] * D[k] * L[j * N + k], one += L[i * N + k] * F[k * N + j];
      assert_true(fabs(product - M[i * N + j]) <= 1e-13 * max_absolute(M, NN));
      assert_true(fabs(one - (i == j)) <= 1e-14);
    }
  psdm_linear_free(l, NULL);
  psdm_robot_free(robot);
}

/* ---- new parameters ---- */

/* cached results are discarded: all inertias doubled double everything, also in an old workspace */
static void test_parameters(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("kuka_kr6");
  enum { N = 6, NN = N * N };
  psdm_linear *l;
  double q[N] = {0.3, 0.1, -0.8, 1.2, 0.4, 2}, qd[N] = {1, -0.5, 0.4, 0.7, -2, 1}, qdd[N] = {0.2, 1, -2, 1.5, 0.6, -1},
         X[2][3][NN], pi[128];
  int count = psdm_robot_parameter_count(robot);
  assert_true(psdm_robot_n(robot) == N && count <= 128);
  assert_int_equal(psdm_linear_new(robot, NULL, &l), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, l, q, qd, qdd, X[0][0], X[0][1], X[0][2]), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  for (int k = 0; k < count; k++) pi[k] *= 2;
  psdm_robot_set_parameters(robot, pi);
  assert_int_equal(psdm_linearize_inverse(robot, l, q, qd, qdd, X[1][0], X[1][1], X[1][2]), PSDM_OK);
  for (int m = 0; m < 3; m++) {
    for (int k = 0; k < NN; k++) X[0][m][k] *= 2;
    assert_true(max_difference(X[0][m], X[1][m], NN) <= 1e-14 * max_absolute(X[1][m], NN));
  }
  psdm_linear_free(l, NULL);
  psdm_robot_free(robot);
}

/* a finger a thousandth of its arm's length, far from the base: about the base's origin its inertia is negligible, and
 * the dense route must take over */
static void test_tiny_finger(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("convention: dh\njoints: [{a: 1}, {a: 1, alpha: 1.2}, {a: 1e-4, alpha: 0.3}, {a: 1e-4}]\n"
                  "links: [{mass: 5, com: [0.4, 0.1, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.2}}, {mass: 3, com: [0.3, "
                  "0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}},\n"
                  "  {mass: 1e-3, com: [4e-5, 0, 0], inertia: {xx: 1e-12, yy: 2e-12, zz: 2e-12}}, {mass: 1e-3, com: "
                  "[5e-5, 1e-5, 0], inertia: {xx: 1e-12, yy: 2e-12, zz: 2e-12}}]\n");
  psdm_linear *linear;
  enum { N = 4 };
  const double q[N] = {0.3, -1.1, 0.7, 0.4}, qd[N] = {0.5, -0.2, 0.9, -0.4}, qdd[N] = {1, 2, -1, 0.5},
               dq[N] = {1, -1, 0.5, 0.2};
  double fast[3][N * N], dense[3][N * N], along[2][N], L[N * N], D[N], M[N * N];
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_at(robot, linear, q, qd, qdd, fast[0], fast[1], fast[2]), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_dense(robot, linear, q, qd, qdd, dense[0], dense[1], dense[2]), PSDM_OK);
  assert_memory_equal(fast, dense, sizeof fast);
  assert_int_equal(psdm_linear_forward_along(robot, linear, q, qd, qdd, dq, dq, dq, along[0]), PSDM_OK);
  assert_int_equal(psdm_linear_forward_along_dense(robot, linear, q, qd, qdd, dq, dq, dq, along[1]), PSDM_OK);
  assert_memory_equal(along[0], along[1], sizeof along[0]);
  /* M = L D L^T to the last digits of each entry's own rows and columns */
  assert_int_equal(psdm_innovations(robot, linear, q, L, NULL, D), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, linear, q, qd, qdd, NULL, NULL, M), PSDM_OK);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int m = 0; m < N; m++) sum += L[i * N + m] * D[m] * L[j * N + m];
      /* mass and linearization have 1e-16 of the inertia about the base each */
      assert_true(fabs(sum - M[i * N + j]) <= 1e-9 * sqrt(M[i * N + i] * M[j * N + j]));
    }
  psdm_linear_free(linear, NULL);
  psdm_robot_free(robot);
}

/* two coaxial joints before a body of another size, which turns crosswise and takes nearly all of the inertia about
 * them with it: the remainder has the rounding of the original, not of itself */
static void test_taken_inertia(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("gravity: [0, 0, 0]\nconvention: modified-dh\n"
                                  "joints: [{type: prismatic}, {}, {}, {alpha: 1}, {alpha: 1}, {a: 200}]\n"
                                  "links: [{mass: 0}, {mass: 0, inertia: {zz: 2e-4}}, {mass: 0}, {mass: 0}, {mass: 0}, "
                                  "{mass: 1, inertia: {yy: 9e5, zz: 1e6}}]\n");
  psdm_linear *linear;
  enum { N = 6 };
  const double q[N] = {0.3, -1.1, 0.7, 0.4, 0.8, -0.2}, qd[N] = {0.5, -0.2, 0.9, -0.4, 1.1, 0.3},
               qdd[N] = {1, 2, -1, 0.5, 0.1, -0.7};
  double fast[3][N * N], dense[3][N * N];
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_dense(robot, linear, q, qd, qdd, dense[0], dense[1], dense[2]), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_at(robot, linear, q, qd, qdd, fast[0], fast[1], fast[2]), PSDM_OK);
  assert_memory_equal(fast, dense, sizeof fast);
  psdm_linear_free(linear, NULL);
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{a: 1}, {a: 1}]\n");
  psdm_linear *linear;
  double x[2] = {0}, X[4];
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, linear, x, x, x, X, X, X), PSDM_E_MISSING);
  assert_int_equal(psdm_linearize_forward(robot, linear, x, x, x, X, X, X), PSDM_E_MISSING);
  assert_int_equal(psdm_linear_forward_along(robot, linear, x, x, x, x, x, x, X), PSDM_E_MISSING);
  assert_int_equal(psdm_innovations(robot, linear, x, X, X, X), PSDM_E_MISSING);
  psdm_linear_free(linear, NULL);
  psdm_robot_free(robot);

  /* a massless tip has no acceleration of its own */
  robot = parse_robot(
      "convention: dh\njoints: [{a: 1}, {a: 1}]\nlinks: [{mass: 1, com: [0.1, 0, 0], inertia: {zz: 1}}, {mass: 0}]\n");
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_linearize_forward_at(robot, linear, x, x, x, X, X, X), PSDM_E_SINGULAR);
  assert_int_equal(psdm_linearize_forward_dense(robot, linear, x, x, x, X, X, X), PSDM_E_SINGULAR);
  assert_int_equal(psdm_linear_forward_along(robot, linear, x, x, x, x, x, x, X), PSDM_E_SINGULAR);
  assert_int_equal(psdm_innovations(robot, linear, x, X, NULL, NULL), PSDM_E_SINGULAR);
  psdm_linear_free(linear, NULL);
  psdm_robot_free(robot);

  for (const char *const *name = shipped_robots; *name; name++) {
    robot = load_shipped(*name);
    static double y[64], Y[4096];
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    if (psdm_robot_loops(robot))
      assert_int_equal(psdm_linearize_inverse(robot, linear, y, y, y, Y, NULL, NULL), PSDM_E_ROBOT);
    psdm_linear_free(linear, NULL);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inverse),    cmocka_unit_test(test_forward),     cmocka_unit_test(test_innovations),
      cmocka_unit_test(test_long_chain), cmocka_unit_test(test_second),      cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_parameters), cmocka_unit_test(test_tiny_finger), cmocka_unit_test(test_taken_inertia),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
