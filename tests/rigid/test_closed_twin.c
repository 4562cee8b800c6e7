/* Robots with closed loops against an independent twin: their open tree with Lagrange multipliers in extended
 * precision, derivatives by complex steps (support/loop_twin.h). Random robots with one to three loops: spatial ones
 * with sliding and coupled joints, and planar ones, where equations depend on each other. Errors are relative to the
 * largest entry of what is compared. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "loop_twin.h"
#include "psdm/loop.h"

enum { ROBOTS = 40, MOST = TWIN_MOST, SQUARE = MOST * MOST };

/* A robot and a state at which its loops close. */
typedef struct scene {
  loop_twin t;
  psdm_robot *robot;
  psdm_linear *linear;
  psdm_work *work;
  int n;
  double q[MOST], qd[MOST], qdd[MOST];
  cld cq[MOST], cqd[MOST], cqdd[MOST], tau[MOST];
  char text[16 * 1024];
} scene;

static double largest(const long double *x, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs((double)x[i]));
  return most;
}

/* fails where x is further from y than the tolerance, relative to the largest of y and floor */
static void expect(const double *x, const long double *y, int count, double floor, double tolerance, double *worst,
                   const char *what, const scene *s) {
  double most = 0;
  for (int i = 0; i < count; i++) {
    double e = fabs((double)(x[i] - y[i]));
    if (!(e <= most)) most = e;
  }
  most /= fmax(largest(y, count), floor);
  if (!(most <= *worst)) *worst = most;
  if (!(most <= tolerance)) fail_msg("%s: %.3g is above %.3g for\n%s", what, most, tolerance, s->text);
}

static void fill(rng *g, int n, double size, double *x, cld *c) {
  for (int i = 0; i < n; i++) c[i] = x[i] = rng_uniform(g, -size, size);
}

/* another robot, and a state near home where the twin says that the loops close */
static void open_scene(rng *g, int k, scene *s) {
  for (;;) {
    bool planar = k % 3 == 0;
    int loops = rng_int(g, 1, planar ? 3 : 2);
    s->t = loop_twin_random(g, planar ? rng_int(g, 2 * loops + 2, 8) : rng_int(g, 3 * loops + 3, 9), loops, planar);
    s->n = s->t.n;
    fill(g, s->n, 0.3, s->q, s->cq), fill(g, s->n, 1, s->qd, s->cqd), fill(g, s->n, 3, s->qdd, s->cqdd);
    for (int i = 0; i < s->n; i++) s->cq[i] = s->q[i] += s->t.home[s->t.independent[i]];
    if (loop_twin_inverse(&s->t, s->cq, s->cqd, s->cqdd, s->tau)) break;
  }
  s->robot = loop_twin_robot(&s->t, s->text, sizeof s->text);
  assert_int_equal(psdm_linear_new(s->robot, NULL, &s->linear), PSDM_OK);
  assert_int_equal(psdm_work_new(s->robot, NULL, &s->work), PSDM_OK);
}

static void close_scene(scene *s) {
  psdm_work_free(s->work, NULL);
  psdm_linear_free(s->linear, NULL);
  psdm_robot_free(s->robot);
}

static void real_part(const cld *x, int count, long double *out) {
  for (int i = 0; i < count; i++) out[i] = creall(x[i]);
}

/* the passive joints' positions, and the torques of a motion, of a velocity and at rest */
static void test_torques(void **unused) {
  (void)unused;
  rng g = rng_start("torques of closed loops");
  static scene s;
  double worst[5] = {0};
  for (int k = 0; k < ROBOTS; k++) {
    open_scene(&g, k, &s);
    const cld still[MOST] = {0};
    int S = psdm_robot_parameter_count(s.robot), n = s.n, N = s.t.tree.n;
    double tau[MOST], tree[MOST], Y[MOST * 11 * MOST], pi[11 * MOST];
    long double expected[MOST];
    cld x[MOST];
    assert_true(loop_twin_close(&s.t, s.cq, x));
    assert_int_equal(psdm_loop_close(s.robot, s.work, s.q, NULL, tree, NULL), PSDM_OK);
    real_part(x, N, expected);
    expect(tree, expected, N, 1, 1e-12, &worst[0], "position", &s);
    real_part(s.tau, n, expected);
    double floor = largest(expected, n);
    assert_int_equal(psdm_inverse(s.robot, s.work, s.q, s.qd, s.qdd, tau), PSDM_OK);
    expect(tau, expected, n, 1, 1e-12, &worst[1], "inverse", &s);
    psdm_robot_parameters(s.robot, pi);
    assert_int_equal(psdm_regressor_standard(s.robot, s.work, s.q, s.qd, s.qdd, Y), PSDM_OK);
    for (int i = 0; i < n; i++) {
      tau[i] = 0;
      for (int c = 0; c < S; c++) tau[i] += Y[i * S + c] * pi[c];
    }
    expect(tau, expected, n, 1, 1e-12, &worst[2], "regressor", &s);
    assert_true(loop_twin_inverse(&s.t, s.cq, s.cqd, still, s.tau));
    real_part(s.tau, n, expected);
    assert_int_equal(psdm_bias(s.robot, s.work, s.q, s.qd, tau), PSDM_OK);
    expect(tau, expected, n, floor, 1e-12, &worst[3], "bias", &s);
    assert_true(loop_twin_inverse(&s.t, s.cq, still, still, s.tau));
    real_part(s.tau, n, expected);
    assert_int_equal(psdm_gravity(s.robot, s.work, s.q, tau), PSDM_OK);
    expect(tau, expected, n, floor, 1e-12, &worst[4], "gravity", &s);
    close_scene(&s);
  }
  printf("worst: position %.1e, inverse %.1e, regressor %.1e, bias %.1e, gravity %.1e\n", worst[0], worst[1], worst[2],
         worst[3], worst[4]);
}

/* y = B dq + A dqd + M dqdd */
static void combine(int n, const long double *B, const double *dq, const long double *A, const double *dqd,
                    const long double *M, const double *dqdd, long double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++) y[i] += B[i * n + j] * dq[j] + A[i * n + j] * dqd[j] + M[i * n + j] * dqdd[j];
  }
}

static void test_derivatives(void **unused) {
  (void)unused;
  rng g = rng_start("derivatives through closed loops");
  static scene s;
  double worst[6] = {0};
  for (int k = 0; k < ROBOTS; k++) {
    static long double B[SQUARE], A[SQUARE], M[SQUARE], along[MOST];
    double b[SQUARE], a[SQUARE], m[SQUARE], dq[MOST], dqd[MOST], dqdd[MOST], dtau[MOST];
    cld unused_direction[MOST];
    open_scene(&g, k, &s);
    int n = s.n;
    assert_true(loop_twin_linearize(&s.t, s.q, s.qd, s.qdd, B, A, M));
    double floor = largest(M, n * n);
    assert_int_equal(psdm_linearize_inverse(s.robot, s.linear, s.q, s.qd, s.qdd, b, a, m), PSDM_OK);
    expect(b, B, n * n, floor, 1e-11, &worst[0], "dtau/dq", &s);
    expect(a, A, n * n, floor, 1e-11, &worst[1], "dtau/dqd", &s);
    expect(m, M, n * n, floor, 1e-11, &worst[2], "M", &s);
    assert_int_equal(psdm_mass(s.robot, s.work, s.q, m), PSDM_OK);
    expect(m, M, n * n, floor, 1e-11, &worst[2], "M", &s);
    fill(&g, n, 1, dq, unused_direction), fill(&g, n, 1, dqd, unused_direction);
    fill(&g, n, 1, dqdd, unused_direction);
    assert_int_equal(psdm_linear_inverse_along(s.robot, s.linear, s.q, s.qd, s.qdd, dq, dqd, dqdd, dtau), PSDM_OK);
    combine(n, B, dq, A, dqd, M, dqdd, along);
    expect(dtau, along, n, floor, 1e-11, &worst[3], "along", &s);
    close_scene(&s);
  }
  printf("worst: dtau/dq %.1e, dtau/dqd %.1e, M %.1e, along %.1e\n", worst[0], worst[1], worst[2], worst[3]);
}

/* accelerations and their derivatives; solutions with M lose as many digits as its condition number has */
static void test_forward(void **unused) {
  (void)unused;
  rng g = rng_start("forward dynamics of closed loops");
  static scene s;
  double worst[4] = {0};
  for (int k = 0; k < ROBOTS / 2; k++) {
    static long double B[SQUARE], A[SQUARE], M[SQUARE], X[3][SQUARE], one[SQUARE], expected[MOST];
    double x[3][SQUARE], tau[MOST], qdd[MOST];
    open_scene(&g, k, &s);
    int n = s.n;
    assert_true(loop_twin_linearize(&s.t, s.q, s.qd, s.qdd, B, A, M));
    memset(one, 0, sizeof one);
    for (int i = 0; i < n; i++) one[i * n + i] = 1, tau[i] = (double)creall(s.tau[i]), expected[i] = s.qdd[i];
    double condition = (double)twin_solve(n, n, M, B, X[0]);
    twin_solve(n, n, M, A, X[1]), twin_solve(n, n, M, one, X[2]);
    for (int i = 0; i < n * n; i++) X[0][i] = -X[0][i], X[1][i] = -X[1][i];
    double tolerance = 1e-11 + 1e-14 * condition, floor = largest(X[2], n * n);
    assert_int_equal(psdm_forward(s.robot, s.work, s.q, s.qd, tau, qdd), PSDM_OK);
    expect(qdd, expected, n, 1, tolerance, &worst[0], "forward", &s);
    assert_int_equal(psdm_linearize_forward(s.robot, s.linear, s.q, s.qd, tau, x[0], x[1], x[2]), PSDM_OK);
    expect(x[0], X[0], n * n, floor, tolerance, &worst[1], "dqdd/dq", &s);
    expect(x[1], X[1], n * n, floor, tolerance, &worst[2], "dqdd/dqd", &s);
    expect(x[2], X[2], n * n, floor, tolerance, &worst[3], "M^-1", &s);
    close_scene(&s);
  }
  printf("worst: qdd %.1e, dqdd/dq %.1e, dqdd/dqd %.1e, M^-1 %.1e\n", worst[0], worst[1], worst[2], worst[3]);
}

/* p = M qd, and dT/dq = (dM/dt) qd - c, where c = (dtau/dqd) qd / 2 at no acceleration and (dM/dt) qd is what dtau/dq
 * at rest gains by an acceleration qd, times qd */
static void test_momentum(void **unused) {
  (void)unused;
  rng g = rng_start("momentum of closed loops");
  static scene s;
  double worst[2] = {0};
  const double none[MOST] = {0};
  for (int k = 0; k < ROBOTS / 4; k++) {
    static long double B[2][SQUARE], A[SQUARE], M[SQUARE], unused_matrix[SQUARE];
    long double p_expected[MOST] = {0}, slope[MOST] = {0};
    double p[MOST], dT_dq[MOST];
    open_scene(&g, k, &s);
    int n = s.n;
    assert_true(loop_twin_linearize(&s.t, s.q, none, s.qd, B[0], unused_matrix, M));
    assert_true(loop_twin_linearize(&s.t, s.q, none, none, B[1], unused_matrix, M));
    assert_true(loop_twin_linearize(&s.t, s.q, s.qd, none, unused_matrix, A, M));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int at = i * n + j;
        p_expected[i] += M[at] * s.qd[j];
        slope[i] += (B[0][at] - B[1][at] - A[at] / 2) * s.qd[j];
      }
    assert_int_equal(psdm_momentum(s.robot, s.work, s.q, s.qd, p, dT_dq), PSDM_OK);
    expect(p, p_expected, n, largest(M, n * n), 1e-12, &worst[0], "momentum", &s);
    expect(dT_dq, slope, n, largest(M, n * n), 1e-11, &worst[1], "dT/dq", &s);
    close_scene(&s);
  }
  printf("worst: momentum %.1e, dT/dq %.1e\n", worst[0], worst[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_torques),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_forward),
      cmocka_unit_test(test_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
