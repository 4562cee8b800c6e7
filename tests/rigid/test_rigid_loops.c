/* Closed loops: the five-bar against its geometry and against Lagrange's equations from its own energies, which do not
 * need the rate of G that the recursion uses. A parallelogram written as a loop against the same one written as
 * couplings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/linalg.h"
#include "support.h"

enum { N = 2 };

/* where two circles of radius 0.55 about the crank ends meet: to the left of the line from the left end to the right
 * one */
static void meeting_point(const double q[2], double out[2]) {
  double ax = 0.25 * cos(q[0]), ay = 0.25 * sin(q[0]), bx = 0.3 + 0.25 * cos(q[1]), by = 0.25 * sin(q[1]);
  double dx = bx - ax, dy = by - ay, d = sqrt(dx * dx + dy * dy), h = sqrt(0.55 * 0.55 - 0.25 * d * d);
  out[0] = 0.5 * (ax + bx) - h * dy / d;
  out[1] = 0.5 * (ay + by) + h * dx / d;
}

static void test_geometry(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *work;
  rng g = rng_start("five-bar");
  assert_int_equal(psdm_robot_n(robot), 2);
  assert_int_equal(psdm_robot_loops(robot), 1);
  assert_true(psdm_robot_joint(robot, 1)->passive && !psdm_robot_joint(robot, 2)->passive &&
              psdm_robot_joint(robot, 2)->q == 1);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < 200; k++) {
    double q[2] = {rng_uniform(&g, 1.0, 2.5), rng_uniform(&g, 0.6, 2.0)}, pose[12], point[2];
    meeting_point(q, point);
    for (int joint = 1; joint < 4; joint += 2) {
      assert_int_equal(psdm_pose(robot, work, q, joint, pose), PSDM_OK);
      assert_true(fabs(pose[0] + 0.55 * pose[3] - point[0]) < 1e-12 &&
                  fabs(pose[1] + 0.55 * pose[6] - point[1]) < 1e-12);
    }
  }
  /* all the way round, one branch: the meeting point never jumps, and turns with the line between the crank ends */
  for (int k = 0; k < 2000; k++) {
    double q[2] = {rng_uniform(&g, -3, 3), rng_uniform(&g, -3, 3)}, pose[12], point[2];
    double dx = 0.3 + 0.25 * (cos(q[1]) - cos(q[0])), dy = 0.25 * (sin(q[1]) - sin(q[0]));
    if (dx * dx + dy * dy < 0.01) continue; /* near where the crank ends meet, and the couplers may turn freely */
    meeting_point(q, point);
    assert_int_equal(psdm_pose(robot, work, q, 1, pose), PSDM_OK);
    assert_true(fabs(pose[0] + 0.55 * pose[3] - point[0]) < 1e-11 && fabs(pose[1] + 0.55 * pose[6] - point[1]) < 1e-11);
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- Lagrange: tau = M qdd + (dM/dt) qd - d(T - U)/dq, by differences of order 16 ---- */

typedef struct setting {
  psdm_robot *robot;
  psdm_work *work;
} setting;

static double lagrangian(const setting *s, const double *q, const double *qd) {
  double T, U;
  assert_int_equal(psdm_energy(s->robot, s->work, q, qd, &T, &U), PSDM_OK);
  return T - U;
}

static void lagrange(const setting *s, const double *q, const double *qd, const double *qdd, double *tau) {
  enum { ORDER = 8 };
  const double h = 0.01;
  double M[N * N], c = 1, x[N];
  assert_int_equal(psdm_mass(s->robot, s->work, q, M), PSDM_OK);
  for (int i = 0; i < N; i++) tau[i] = M[N * i] * qdd[0] + M[N * i + 1] * qdd[1];
  for (int k = 1; k <= ORDER; k++) {
    c *= -(double)(ORDER - k + 1) / (ORDER + k);
    for (int side = -1; side <= 1; side += 2) {
      double weight = -side * c / k / h;
      for (int i = 0; i < N; i++) x[i] = q[i] + side * k * h * qd[i];
      assert_int_equal(psdm_mass(s->robot, s->work, x, M), PSDM_OK);
      for (int i = 0; i < N; i++) tau[i] += weight * (M[N * i] * qd[0] + M[N * i + 1] * qd[1]);
      for (int i = 0; i < N; i++) {
        memcpy(x, q, sizeof x);
        x[i] += side * k * h;
        tau[i] -= weight * lagrangian(s, x, qd);
      }
    }
  }
}

static void test_dynamics(void **unused) {
  (void)unused;
  setting s = {load_shipped("five_bar"), NULL};
  rng g = rng_start("five-bar dynamics");
  assert_int_equal(psdm_work_new(s.robot, NULL, &s.work), PSDM_OK);
  int S = psdm_robot_parameter_count(s.robot);
  assert_int_equal(S, 41);
  for (int k = 0; k < 50; k++) {
    double q[N], qd[N], qdd[N], tau[N], expected[N], back[N], M[N * N], column[N], gravity[N], none[N] = {0}, Y[N * 41],
                                                                                               pi[41], bias[N];
    for (int i = 0; i < N; i++)
      q[i] = rng_uniform(&g, 0.6, 1.4) + 0.6 * (i == 0), qd[i] = rng_uniform(&g, -1, 1),
      qdd[i] = rng_uniform(&g, -3, 3);
    assert_int_equal(psdm_inverse(s.robot, s.work, q, qd, qdd, tau), PSDM_OK);
    lagrange(&s, q, qd, qdd, expected);
    double scale = 1 + max_absolute(expected, N);
    /* differences of energies near 10 at steps of 0.01 */
    assert_true(max_difference(tau, expected, N) < 1e-11 * scale);
    /* regressor, mass, bias, forward: the same properties as for any robot */
    assert_int_equal(psdm_regressor_standard(s.robot, s.work, q, qd, qdd, Y), PSDM_OK);
    psdm_robot_parameters(s.robot, pi);
    for (int i = 0; i < N; i++) {
      back[i] = 0;
      for (int c = 0; c < S; c++) back[i] += Y[i * S + c] * pi[c];
    }
    assert_true(max_difference(back, tau, N) < 1e-13 * scale);
    assert_int_equal(psdm_mass(s.robot, s.work, q, M), PSDM_OK);
    assert_int_equal(psdm_gravity(s.robot, s.work, q, gravity), PSDM_OK);
    for (int j = 0; j < N; j++) {
      double unit[N] = {j == 0, j == 1};
      assert_int_equal(psdm_inverse(s.robot, s.work, q, none, unit, column), PSDM_OK);
      for (int i = 0; i < N; i++) assert_true(fabs(column[i] - gravity[i] - M[N * i + j]) < 1e-13 * scale);
    }
    assert_int_equal(psdm_bias(s.robot, s.work, q, qd, bias), PSDM_OK);
    for (int i = 0; i < N; i++)
      assert_true(fabs(bias[i] + M[N * i] * qdd[0] + M[N * i + 1] * qdd[1] - tau[i]) < 1e-13 * scale);
    assert_int_equal(psdm_forward(s.robot, s.work, q, qd, tau, back), PSDM_OK);
    assert_true(max_difference(back, qdd, N) < 1e-11);
    assert_true(psdmp_linalg_cholesky(N, M));
  }
  psdm_work_free(s.work, NULL);
  psdm_robot_free(s.robot);
}

/* ---- kinematics ---- */

static void test_jacobians(void **unused) {
  (void)unused;
  setting s = {load_shipped("five_bar"), NULL};
  assert_int_equal(psdm_work_new(s.robot, NULL, &s.work), PSDM_OK);
  const double q[N] = {1.1, 1.9}, qd[N] = {0.7, -0.4}, h = 0.01;
  double J[6 * N], rate[6 * N], numeric[6 * N] = {0}, velocity[12] = {0}, pose[12], x[N], c = 1, tau[N];
  assert_int_equal(psdm_jacobian(s.robot, s.work, q, 3, J), PSDM_OK);
  assert_int_equal(psdm_jacobian_rate(s.robot, s.work, q, qd, 3, rate), PSDM_OK);
  for (int k = 1; k <= 8; k++) {
    c *= -(double)(8 - k + 1) / (8 + k);
    for (int side = -1; side <= 1; side += 2) {
      double K[6 * N];
      for (int i = 0; i < N; i++) x[i] = q[i] + side * k * h * qd[i];
      assert_int_equal(psdm_jacobian(s.robot, s.work, x, 3, K), PSDM_OK);
      assert_int_equal(psdm_pose(s.robot, s.work, x, 3, pose), PSDM_OK);
      for (int i = 0; i < 6 * N; i++) numeric[i] -= side * c / k / h * K[i];
      for (int i = 0; i < 12; i++) velocity[i] -= side * c / k / h * pose[i];
    }
  }
  assert_true(max_difference(rate, numeric, 6 * N) < 1e-11);
  for (int i = 0; i < 3; i++) assert_true(fabs(J[N * i] * qd[0] + J[N * i + 1] * qd[1] - velocity[i]) < 1e-12);
  psdm_wrench wrench = {3, {1, 2, 3}, {4, 5, 6}};
  assert_int_equal(psdm_wrench_torque(s.robot, s.work, q, 1, &wrench, tau), PSDM_OK);
  for (int j = 0; j < N; j++)
    assert_true(fabs(tau[j] - (J[j] * 1 + J[N + j] * 2 + J[2 * N + j] * 3 + J[3 * N + j] * 4 + J[4 * N + j] * 5 +
                               J[5 * N + j] * 6)) < 1e-12);
  psdm_work_free(s.work, NULL);
  psdm_robot_free(s.robot);
}

/* a parallelogram is a loop that couplings can express too */
static void test_parallelogram_both_ways(void **unused) {
  (void)unused;
  static const char links[] =
      "links: [{name: a, mass: 2.0, com: [0.22, 0.01, 0], inertia: {xx: 0.002, yy: 0.040, zz: 0.041}}, {name: b, mass: "
      "1.1, com: [0.14, 0, 0], inertia: {xx: 0.001, yy: 0.009, zz: 0.010}},"
      "{name: c, mass: 0.7, com: [0.26, 0, 0], inertia: {xx: 0.001, yy: 0.014, zz: 0.0145}}, {name: d, mass: 1.6, com: "
      "[0.21, 0.02, 0], inertia: {xx: 0.002, yy: 0.030, zz: 0.031}}]";
  char text[2048];
  snprintf(
      text, sizeof text,
      "{convention: modified-dh, gravity: [0, -9.81, 0], joints: [{name: q1, parent: base}, {name: q2, parent: base},"
      "{name: q3, parent: q2, a: 0.3, couple: {q1: 1, q2: -1}}, {name: q4, parent: q1, a: 0.5, couple: {q2: 1, q1: -1, "
      "offset: -pi}}], %s}",
      links);
  psdm_robot *coupled = parse_robot(text);
  snprintf(
      text, sizeof text,
      "{convention: modified-dh, gravity: [0, -9.81, 0], joints: [{name: q1, parent: base}, {name: q2, parent: base},"
      "{name: q3, parent: q2, a: 0.3}, {name: q4, parent: q1, a: 0.5}], %s,"
      "loops: [{links: [c, d], points: [[0.5, 0, 0], [-0.3, 0, 0]], joints: [q3, q4], start: [-1, -2], at: {q2: 1}}]}",
      links);
  psdm_robot *closed = parse_robot(text);
  psdm_work *wa, *wb;
  rng g = rng_start("parallelogram both ways");
  assert_int_equal(psdm_work_new(coupled, NULL, &wa), PSDM_OK);
  assert_int_equal(psdm_work_new(closed, NULL, &wb), PSDM_OK);
  for (int k = 0; k < 50; k++) {
    double q1 = rng_uniform(&g, -0.5, 0.5), q[N] = {q1, q1 + rng_uniform(&g, 0.8, 1.4)},
           qd[N] = {rng_uniform(&g, -1, 1), rng_uniform(&g, -1, 1)};
    double qdd[N] = {rng_uniform(&g, -2, 2), rng_uniform(&g, -2, 2)}, a[N], b[N];
    assert_int_equal(psdm_inverse(coupled, wa, q, qd, qdd, a), PSDM_OK);
    assert_int_equal(psdm_inverse(closed, wb, q, qd, qdd, b), PSDM_OK);
    assert_true(max_difference(a, b, N) < 1e-11);
  }
  psdm_work_free(wa, NULL);
  psdm_work_free(wb, NULL);
  psdm_robot_free(coupled);
  psdm_robot_free(closed);
}

/* Random four-bars through all angles of the crank: where they close on the file's side of the line between crank end
 * and ground pivot, without a dead point on the way, the answer is the meeting point of two circles; everywhere else,
 * the dead points included, it is PSDM_E_LOOP and never a number. */
static void test_dead_points(void **unused) {
  (void)unused;
  rng g = rng_start("four-bars at their dead points");
  int refused = 0, answered = 0;
  for (int k = 0; k < 40; k++) {
    double crank = rng_uniform(&g, 0.2, 1), ground = rng_uniform(&g, 0.5, 1.2), rod = rng_uniform(&g, 0.5, 1.2),
           lever = rng_uniform(&g, 0.5, 1.2), home = rng_uniform(&g, -3, 3);
    double reach = hypot(ground - crank * cos(home), crank * sin(home));
    if (reach > 0.95 * (rod + lever) || reach < 1.05 * fabs(rod - lever) + 0.05) continue;
    /* at home: the lever's angle from the line to the crank's end, and the rod's from the crank */
    double line = atan2(crank * sin(home), crank * cos(home) - ground),
           at = line + acos((reach * reach + lever * lever - rod * rod) / (2 * reach * lever)),
           x = ground + lever * cos(at) - crank * cos(home), y = lever * sin(at) - crank * sin(home);
    char text[1024];
    snprintf(text, sizeof text,
             "{convention: modified-dh, gravity: [0, -9.81, 0], joints: [{name: crank}, {name: rod, a: %.17g}, {name: "
             "lever, parent: base, a: %.17g}], links: [{name: c, mass: 1}, {name: r, mass: 1}, {name: l, mass: 1}],"
             "loops: [{links: [r, l], points: [[%.17g, 0, 0], [%.17g, 0, 0]], joints: [rod, lever], start: [%.4f, "
             "%.4f], at: {crank: %.17g}}]}",
             crank, ground, rod, lever, atan2(y, x) - home, at, home);
    psdm_robot *robot = parse_robot(text);
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    for (int side = -1; side <= 1; side += 2) {
      bool blocked = false;
      for (int step = 0; step < 700; step++) {
        double q = home + side * step * 0.009, tau, pose[12];
        double f = hypot(ground - crank * cos(q), crank * sin(q)), spare = fmin(rod + lever - f, f - fabs(rod - lever));
        blocked |= spare <= 0;
        psdm_status status = psdm_gravity(robot, work, &q, &tau);
        if (blocked) assert_int_equal(status, PSDM_E_LOOP);
        else if (spare > 1e-6) assert_int_equal(status, PSDM_OK);
        refused += status != PSDM_OK, answered += !status;
        if (status) continue;
        assert_int_equal(psdm_pose(robot, work, &q, 2, pose), PSDM_OK);
        double turn = atan2(crank * sin(q), crank * cos(q) - ground),
               angle = turn + acos((f * f + lever * lever - rod * rod) / (2 * f * lever));
        assert_true(isfinite(tau) && hypot(pose[3] - cos(angle), pose[6] - sin(angle)) < 1e-12 / sqrt(fmin(spare, 1)));
      }
    }
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  assert_true(refused > 1000 && answered > 10000);
  /* the crank ends of the five-bar meet: its couplers may turn freely */
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *work;
  double q[2] = {acos(0.6), acos(-0.6)}, out[6 * N], none[2] = {0};
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, q, out), PSDM_E_LOOP);
  assert_int_equal(psdm_mass(robot, work, q, out), PSDM_E_LOOP);
  assert_int_equal(psdm_inverse(robot, work, q, none, none, out), PSDM_E_LOOP);
  assert_int_equal(psdm_forward(robot, work, q, none, none, out), PSDM_E_LOOP);
  q[0] = NAN;
  assert_int_equal(psdm_gravity(robot, work, q, out), PSDM_E_LOOP);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* if the links are too short, the status says so */
static void test_open_loop(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("{convention: modified-dh, joints: [{name: a}, {name: b, a: 0.2}, {name: c, parent: base, a: 1}, "
                  "{name: d, parent: c, a: 0.2}],"
                  "links: [{mass: 1}, {mass: 1}, {mass: 1}, {mass: 1}],"
                  "loops: [{links: [link2, link4], points: [[0.4, 0, 0], [0.4, 0, 0]], joints: [b, d]}]}");
  psdm_work *work;
  double q[N] = {3.1, 0}, tau[N];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, q, tau), PSDM_E_LOOP);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_geometry),    cmocka_unit_test(test_dynamics),
      cmocka_unit_test(test_jacobians),   cmocka_unit_test(test_parallelogram_both_ways),
      cmocka_unit_test(test_dead_points), cmocka_unit_test(test_open_loop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
