/* Properties that hold for every robot, on 500 random ones: n 1..12, revolute and prismatic, trees, both DH
 * conventions, coupled joints, drive inertias, gravity in any direction. Tolerance 1e-12 relative: some thousand
 * operations in double precision lose three to four of sixteen digits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "support.h"

enum { ROBOTS = 500, MOST = 12, PARAMETERS = 11 * MOST };

typedef struct state {
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST];
} state;

static state random_state(rng *g, int n) {
  state s = {{0}, {0}, {0}, {0}};
  for (int i = 0; i < n; i++) {
    s.q[i] = rng_uniform(g, -3.1, 3.1);
    s.qd[i] = rng_uniform(g, -0.5, 0.5);
    s.qdd[i] = rng_uniform(g, -2, 2);
  }
  return s;
}

/* the test of one robot; a failure prints the robot's text */
typedef void (*property)(rng *g, psdm_robot *robot, psdm_work *work, const char *text);

static void on_random_robots(const char *name, property check) {
  rng g = rng_start(name);
  random_options options = {1, MOST, true, true, true, true};
  static char text[64 * 1024];
  for (int k = 0; k < ROBOTS; k++) {
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    check(&g, robot, work, text);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

static void expect_below(double error, double tolerance, const char *what, const char *text) {
  if (!(error <= tolerance)) fail_msg("%s: %.3g is above %.3g for\n%s", what, error, tolerance, text);
}

/* ---- inverse = Y pi ---- */

static void regressor_property(rng *g, psdm_robot *robot, psdm_work *work, const char *text) {
  static double Y[MOST * PARAMETERS], pi[PARAMETERS];
  int n = psdm_robot_n(robot), count = psdm_robot_parameter_count(robot);
  state s = random_state(g, n);
  double product[MOST] = {0};
  assert_int_equal(psdm_inverse(robot, work, s.q, s.qd, s.qdd, s.tau), PSDM_OK);
  assert_int_equal(psdm_regressor_standard(robot, work, s.q, s.qd, s.qdd, Y), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < count; k++) product[i] += Y[i * count + k] * pi[k];
  expect_below(max_difference(product, s.tau, n) / max_absolute(s.tau, n), 1e-12, "Y pi", text);
}

static void test_inverse_is_regressor_times_parameters(void **unused) {
  (void)unused;
  on_random_robots("inverse = Y pi", regressor_property);
}

/* ---- mass: symmetric, positive definite, the columns of inverse ---- */

static void mass_property(rng *g, psdm_robot *robot, psdm_work *work, const char *text) {
  int n = psdm_robot_n(robot);
  state s = random_state(g, n);
  double M[MOST * MOST], rest[MOST] = {0}, gravity[MOST], column[MOST], bias[MOST];
  assert_int_equal(psdm_mass(robot, work, s.q, M), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, s.q, gravity), PSDM_OK);
  assert_int_equal(psdm_bias(robot, work, s.q, rest, bias), PSDM_OK);
  double scale = fmax(max_absolute(M, n * n), max_absolute(gravity, n));
  expect_below(max_difference(gravity, bias, n) / scale, 1e-13, "gravity is the bias at rest", text);
  for (int j = 0; j < n; j++) {
    double unit[MOST] = {0};
    unit[j] = 1;
    assert_int_equal(psdm_inverse(robot, work, s.q, rest, unit, column), PSDM_OK);
    for (int i = 0; i < n; i++) {
      assert_true(M[i * n + j] == M[j * n + i]);
      expect_below(fabs(column[i] - gravity[i] - M[i * n + j]) / scale, 1e-12, "column of M", text);
    }
  }
  assert_true(psdmp_linalg_cholesky(n, M));
}

static void test_mass_is_symmetric_definite_and_columns_of_inverse(void **unused) {
  (void)unused;
  on_random_robots("mass", mass_property);
}

/* ---- energy: d(T + U)/dt = qd . tau ---- */

static double energy_at(psdm_robot *robot, psdm_work *work, const state *s, double t) {
  double q[MOST], qd[MOST], T, U;
  for (int i = 0; i < psdm_robot_n(robot); i++) {
    q[i] = s->q[i] + t * (s->qd[i] + 0.5 * t * s->qdd[i]);
    qd[i] = s->qd[i] + t * s->qdd[i];
  }
  assert_int_equal(psdm_energy(robot, work, q, qd, &T, &U), PSDM_OK);
  return T + U;
}

/* f'(0) by central differences of order 16: sum of c_k (f(kh) - f(-kh))/h, c_k = (-1)^(k+1) m!^2 / (k (m-k)!
 * (m+k)!), m = 8. At h = 0.02 the joints turn by less than a quarter radian in a step, so truncation stays below
 * rounding (1e-14 of E). */
static double energy_rate(psdm_robot *robot, psdm_work *work, const state *s) {
  enum { M = 8 };
  const double h = 0.02;
  double rate = 0, c = 1;
  for (int k = 1; k <= M; k++) {
    c *= -(double)(M - k + 1) / (M + k); /* (-1)^k m!^2 / ((m-k)! (m+k)!) */
    rate -= c / k * (energy_at(robot, work, s, k * h) - energy_at(robot, work, s, -k * h)) / h;
  }
  return rate;
}

/* the sum of the absolute terms of T + U: rounding of E is relative to this, not to E */
static double energy_size(psdm_robot *robot, psdm_work *work, const state *s) {
  static double pi[PARAMETERS], poses[12 * MOST];
  double T, U, size = 0;
  const double *g = psdm_robot_gravity(robot);
  assert_int_equal(psdm_energy(robot, work, s->q, s->qd, &T, &U), PSDM_OK);
  assert_int_equal(psdm_poses(robot, work, s->q, poses), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const double *p = poses + 12 * j, *link = pi + 10 * psdm_robot_joint(robot, j)->link;
    size += link[0] * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) + fabs(link[1]) + fabs(link[2]) + fabs(link[3]);
  }
  return T + size * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

static void energy_property(rng *g, psdm_robot *robot, psdm_work *work, const char *text) {
  int n = psdm_robot_n(robot);
  state s = random_state(g, n);
  double power = 0;
  assert_int_equal(psdm_inverse(robot, work, s.q, s.qd, s.qdd, s.tau), PSDM_OK);
  for (int i = 0; i < n; i++) power += s.tau[i] * s.qd[i];
  expect_below(fabs(power - energy_rate(robot, work, &s)) / energy_size(robot, work, &s), 1e-12, "energy balance",
               text);
}

static void test_energy_balance(void **unused) {
  (void)unused;
  on_random_robots("energy balance", energy_property);
}

/* ---- forward: its qdd, put back through inverse, gives the torques ---- */

static void forward_property(rng *g, psdm_robot *robot, psdm_work *work, const char *text) {
  int n = psdm_robot_n(robot);
  state s = random_state(g, n);
  double tau[MOST], back[MOST], qdd[MOST];
  assert_int_equal(psdm_inverse(robot, work, s.q, s.qd, s.qdd, tau), PSDM_OK);
  assert_int_equal(psdm_forward(robot, work, s.q, s.qd, tau, qdd), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, s.q, s.qd, qdd, back), PSDM_OK);
  expect_below(max_difference(tau, back, n) / max_absolute(tau, n), 1e-12, "forward by articulated bodies", text);
  assert_int_equal(psdm_forward_cholesky(robot, work, s.q, s.qd, tau, qdd), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, s.q, s.qd, qdd, back), PSDM_OK);
  expect_below(max_difference(tau, back, n) / max_absolute(tau, n), 1e-12, "forward by Cholesky", text);
}

static void test_forward_inverts_inverse(void **unused) {
  (void)unused;
  on_random_robots("forward", forward_property);
}

/* ---- kinematics: J qd is the velocity of the pose, dJ/dt its rate, J^T w the wrench's torque ---- */

/* every entry of pose (12), J (6 n) by the same differences along qd */
static void kinematic_rates(psdm_robot *robot, psdm_work *work, const state *s, int joint, double *pose_rate,
                            double *J_rate) {
  enum { M = 8 };
  const double h = 0.02;
  int n = psdm_robot_n(robot);
  double c = 1, pose[12], J[6 * MOST], q[MOST];
  memset(pose_rate, 0, 12 * sizeof *pose_rate);
  memset(J_rate, 0, sizeof *J_rate * 6 * (size_t)n);
  for (int k = 1; k <= M; k++) {
    c *= -(double)(M - k + 1) / (M + k);
    for (int side = -1; side <= 1; side += 2) {
      for (int i = 0; i < n; i++) q[i] = s->q[i] + side * k * h * s->qd[i];
      assert_int_equal(psdm_pose(robot, work, q, joint, pose), PSDM_OK);
      assert_int_equal(psdm_jacobian(robot, work, q, joint, J), PSDM_OK);
      for (int i = 0; i < 12; i++) pose_rate[i] -= side * c / k * pose[i] / h;
      for (int i = 0; i < 6 * n; i++) J_rate[i] -= side * c / k * J[i] / h;
    }
  }
}

static void jacobian_property(rng *g, psdm_robot *robot, psdm_work *work, const char *text) {
  int n = psdm_robot_n(robot), joint = rng_int(g, 0, psdm_robot_joints(robot) - 1);
  state s = random_state(g, n);
  double J[6 * MOST], rate[6 * MOST], numeric[6 * MOST], pose[12], pose_rate[12], v[6] = {0}, tau[MOST],
                                                                                  expected[MOST] = {0};
  assert_int_equal(psdm_jacobian(robot, work, s.q, joint, J), PSDM_OK);
  assert_int_equal(psdm_jacobian_rate(robot, work, s.q, s.qd, joint, rate), PSDM_OK);
  assert_int_equal(psdm_pose(robot, work, s.q, joint, pose), PSDM_OK);
  kinematic_rates(robot, work, &s, joint, pose_rate, numeric);
  double scale = 1 + max_absolute(J, 6 * n);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < n; k++) v[i] += J[i * n + k] * s.qd[k];
  expect_below(max_difference(v, pose_rate, 3) / scale, 1e-12, "linear velocity", text);
  /* dR/dt = [w]x R, column by column */
  for (int col = 0; col < 3; col++) {
    const double *w = v + 3, x = pose[3 + col], y = pose[6 + col], z = pose[9 + col];
    const double turn[3] = {w[1] * z - w[2] * y, w[2] * x - w[0] * z, w[0] * y - w[1] * x};
    const double actual[3] = {pose_rate[3 + col], pose_rate[6 + col], pose_rate[9 + col]};
    expect_below(max_difference(turn, actual, 3) / scale, 1e-12, "angular velocity", text);
  }
  expect_below(max_difference(rate, numeric, 6 * n) / scale, 1e-12, "rate of the Jacobian", text);

  psdm_wrench wrench = {.joint = joint};
  for (int i = 0; i < 3; i++) wrench.force[i] = rng_uniform(g, -9, 9), wrench.moment[i] = rng_uniform(g, -9, 9);
  assert_int_equal(psdm_wrench_torque(robot, work, s.q, 1, &wrench, tau), PSDM_OK);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 3; i++) expected[k] += J[i * n + k] * wrench.force[i] + J[(3 + i) * n + k] * wrench.moment[i];
  expect_below(max_difference(tau, expected, n) / (9 * scale), 1e-12, "torque of a wrench", text);
}

static void test_jacobians(void **unused) {
  (void)unused;
  on_random_robots("Jacobian", jacobian_property);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inverse_is_regressor_times_parameters),
      cmocka_unit_test(test_mass_is_symmetric_definite_and_columns_of_inverse),
      cmocka_unit_test(test_energy_balance),
      cmocka_unit_test(test_forward_inverts_inverse),
      cmocka_unit_test(test_jacobians),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
