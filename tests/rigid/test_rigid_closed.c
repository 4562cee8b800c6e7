/* Closed forms from the literature: the parallelogram's M(q) and g(q) with its decoupling condition (De Luca,
 * Robotics 2), the two-link arm of Lloyd, Irani, Ahmadi (2021), Example 3, motors seen from either side of a
 * transmission. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "psdm/friction.h"

static const double g0 = 9.81;

/* ---- parallelogram ---- */

typedef struct bars {
  double l1, l2, m[4], lc[4], I[4];
} bars;

static psdm_robot *parallelogram(const bars *b) {
  char text[2048];
  snprintf(text, sizeof text,
           "{convention: modified-dh, gravity: [0, -9.81, 0], joints: ["
           "{name: q1, parent: base}, {name: q2, parent: base},"
           "{name: q3, parent: q2, a: %.17g, couple: {q1: 1, q2: -1}},"
           "{name: q4, parent: q1, a: %.17g, couple: {q2: 1, q1: -1, offset: -pi}}], links: ["
           "{mass: %.17g, com: [%.17g, 0, 0], inertia: {zz: %.17g}}, {mass: %.17g, com: [%.17g, 0, 0], inertia: {zz: "
           "%.17g}},"
           "{mass: %.17g, com: [%.17g, 0, 0], inertia: {zz: %.17g}}, {mass: %.17g, com: [%.17g, 0, 0], inertia: {zz: "
           "%.17g}}]}",
           b->l2, b->l1, b->m[0], b->lc[0], b->I[0], b->m[1], b->lc[1], b->I[1], b->m[2], b->lc[2], b->I[2], b->m[3],
           b->lc[3], b->I[3]);
  return parse_robot(text);
}

static void check_parallelogram(psdm_robot *robot, const bars *b, double q1, double q2) {
  psdm_work *work;
  double M[4], g[2], q[2] = {q1, q2};
  const double *m = b->m, *lc = b->lc, *I = b->I;
  double coupling = (m[2] * b->l2 * lc[2] - m[3] * b->l1 * lc[3]) * cos(q2 - q1);
  double expected[4] = {I[0] + m[0] * lc[0] * lc[0] + I[2] + m[2] * lc[2] * lc[2] + m[3] * b->l1 * b->l1, coupling,
                        coupling, I[1] + m[1] * lc[1] * lc[1] + I[3] + m[3] * lc[3] * lc[3] + m[2] * b->l2 * b->l2};
  double gravity[2] = {g0 * (m[0] * lc[0] + m[2] * lc[2] + m[3] * b->l1) * cos(q1),
                       g0 * (m[1] * lc[1] + m[2] * b->l2 - m[3] * lc[3]) * cos(q2)};
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
  assert_int_equal(psdm_gravity(robot, work, q, g), PSDM_OK);
  assert_true(max_difference(M, expected, 4) < 1e-14 * max_absolute(expected, 4));
  assert_true(max_difference(g, gravity, 2) < 1e-14 * (1 + max_absolute(gravity, 2)) * 4);
  psdm_work_free(work, NULL);
}

static void test_parallelogram(void **unused) {
  (void)unused;
  rng r = rng_start("parallelogram");
  for (int k = 0; k < 100; k++) {
    bars b = {.l1 = rng_uniform(&r, 0.2, 1), .l2 = rng_uniform(&r, 0.2, 1)};
    for (int i = 0; i < 4; i++)
      b.m[i] = rng_uniform(&r, 0.5, 3), b.lc[i] = rng_uniform(&r, 0.1, 0.6), b.I[i] = rng_uniform(&r, 0.01, 0.2);
    psdm_robot *robot = parallelogram(&b);
    check_parallelogram(robot, &b, rng_uniform(&r, -3, 3), rng_uniform(&r, -3, 3));
    psdm_robot_free(robot);
  }
}

/* the shipped file is the same robot with the numbers it states */
static void test_shipped_parallelogram(void **unused) {
  (void)unused;
  const bars b = {0.5, 0.3, {2.0, 1.1, 0.7, 1.6}, {0.22, 0.14, 0.26, 0.21}, {0.041, 0.010, 0.0145, 0.031}};
  psdm_robot *robot = load_shipped("parallelogram");
  check_parallelogram(robot, &b, 0.3, 1.1);
  check_parallelogram(robot, &b, -2.3, 0.4);
  psdm_robot_free(robot);
}

/* m3 l2 lc3 = m4 l1 lc4: M is constant and diagonal, so velocities need no torque */
static void test_decoupling_condition(void **unused) {
  (void)unused;
  bars b = {0.5, 0.3, {2, 1, 0.7, 1.6}, {0.2, 0.1, 0.25, 0}, {0.04, 0.01, 0.02, 0.03}};
  b.lc[3] = b.m[2] * b.l2 * b.lc[2] / (b.m[3] * b.l1);
  psdm_robot *robot = parallelogram(&b);
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  double first[4], M[4], bias[2], gravity[2], qd[2] = {1.3, -0.7};
  for (int k = 0; k < 20; k++) {
    double q[2] = {0.37 * k - 3, 2 - 0.61 * k};
    assert_int_equal(psdm_mass(robot, work, q, k ? M : first), PSDM_OK);
    assert_int_equal(psdm_bias(robot, work, q, qd, bias), PSDM_OK);
    assert_int_equal(psdm_gravity(robot, work, q, gravity), PSDM_OK);
    assert_true(fabs((k ? M : first)[1]) < 1e-15);
    if (k) assert_true(max_difference(M, first, 4) < 1e-15);
    assert_true(max_difference(bias, gravity, 2) < 1e-14 * 20);
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* the loop closes: the rod's far end stays on the forearm (Hitachi), the parallelogram's on its forearm */
static void expect_closed(const char *name, int rod, const double rod_point[3], int arm, const double arm_point[3]) {
  psdm_robot *robot = load_shipped(name);
  psdm_work *work;
  rng g = rng_start(name);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < 20; k++) {
    double q[8], a[12], b[12];
    for (int i = 0; i < psdm_robot_n(robot); i++) q[i] = rng_uniform(&g, -3, 3);
    assert_int_equal(psdm_pose(robot, work, q, rod, a), PSDM_OK);
    assert_int_equal(psdm_pose(robot, work, q, arm, b), PSDM_OK);
    for (int i = 0; i < 3; i++) {
      double gap = a[i] - b[i];
      for (int j = 0; j < 3; j++) gap += a[3 + 3 * i + j] * rod_point[j] - b[3 + 3 * i + j] * arm_point[j];
      assert_true(fabs(gap) < 1e-14);
    }
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

static void test_loops_close(void **unused) {
  (void)unused;
  expect_closed("hitachi_hpr", 4, (const double[3]){-0.45, 0, 0}, 3, (const double[3]){0.12, 0, 0});
  /* the rod ends at l2 u(q2) + l1 u(q1); the forearm, turned by pi, meets it behind its joint */
  expect_closed("parallelogram", 2, (const double[3]){0.5, 0, 0}, 3, (const double[3]){-0.3, 0, 0});
}

/* ---- two-link arm, eq. (22) ---- */

static void test_two_link_example_3(void **unused) {
  (void)unused;
  const double a1 = 1.2, a2 = 1.1, m1 = 1, m2 = 2, x1 = -1.3, x2 = -1.2, I1 = 0.5, I2 = 0.3;
  psdm_robot *robot = load_shipped("two_link");
  psdm_work *work;
  rng r = rng_start("two_link");
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < 100; k++) {
    double q[2], qd[2], qdd[2], tau[2];
    for (int i = 0; i < 2; i++)
      q[i] = rng_uniform(&r, -3, 3), qd[i] = rng_uniform(&r, -2, 2), qdd[i] = rng_uniform(&r, -5, 5);
    double c1 = cos(q[0]), s1 = sin(q[0]), c2 = cos(q[1]), s2 = sin(q[1]);
    double t11 = I1 + I2 + m1 * (a1 + x1) * (a1 + x1) + m2 * (a2 + x2) * (a2 + x2) + a1 * a1 * m2;
    double t21 = 2 * m2 * a1 * (a2 + x2), t31 = m2 * (a2 + x2) * (a2 + x2) + I2;
    double t81 = -m2 * (a2 + x2), t91 = m2 * a1 + m1 * (a1 + x1);
    double y[10] = {
        qdd[0],       c2 * qdd[0], qdd[1],      c2 * qdd[1], s2 * qd[0] * qd[0], s2 * qd[1] * qd[1], s2 * qd[0] * qd[1],
        s1 * s2 * g0, c1 * g0,     c1 * c2 * g0};
    double theta1[10] = {t11, t21, t31, t21 / 2, 0, -t21 / 2, -t21, t81, t91, -t81};
    double theta2[10] = {t31, t21 / 2, t31, 0, t21 / 2, 0, 0, t81, 0, -t81};
    double expected[2] = {0, 0};
    for (int i = 0; i < 10; i++) expected[0] += y[i] * theta1[i], expected[1] += y[i] * theta2[i];
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    assert_true(max_difference(tau, expected, 2) < 1e-13 * (1 + max_absolute(expected, 2)));
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- motors (De Luca, "Resulting dynamic model"): rotors add I_m n_r^2, and tau_m = tau / n_r before the gears
 * ---- */

static const char plain_arm[] = "links: [{mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.01, yy: 0.06, zz: 0.05}},"
                                "{mass: 2, com: [-0.15, 0, 0.03], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}]";

static void test_motor_side(void **unused) {
  (void)unused;
  char text[1024];
  snprintf(text, sizeof text, "{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2}, {name: b, a: 0.3}], %s}",
           plain_arm);
  psdm_robot *bare = parse_robot(text);
  snprintf(text, sizeof text,
           "{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2, gear: 100, motor: {inertia: 1e-4}},"
           "{name: b, a: 0.3, gear: -80, motor: {inertia: 2e-4}}], %s}",
           plain_arm);
  psdm_robot *geared = parse_robot(text);
  const double q[2] = {0.4, -0.9}, qd[2] = {1, 0.6}, qdd[2] = {2, -3}, gear[2] = {100, -80}, rotor[2] = {1e-4, 2e-4};
  double M[4], f[2], tau[2], tau_m[2], qdd_m[2];
  psdm_work *work;
  assert_int_equal(psdm_work_new(bare, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_mass(bare, work, q, M), PSDM_OK);
  assert_int_equal(psdm_bias(bare, work, q, qd, f), PSDM_OK);
  assert_int_equal(psdm_inverse(geared, work, q, qd, qdd, tau), PSDM_OK);
  psdm_robot_motor_torque(geared, tau, tau_m);
  psdm_robot_joint_to_motor(geared, qdd, qdd_m);
  for (int i = 0; i < 2; i++) {
    int j = 1 - i;
    double expected = (rotor[i] + M[3 * i] / (gear[i] * gear[i])) * qdd_m[i] + (M[2 * i + j] * qdd[j] + f[i]) / gear[i];
    assert_true(fabs(tau_m[i] - expected) < 1e-15 * 100);
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(bare);
  psdm_robot_free(geared);
}

/* two motors that share a wrist (q = T q_motor): rotor energy in motor rates, torques through the transpose */
static void test_coupled_motors(void **unused) {
  (void)unused;
  char text[1024];
  snprintf(text, sizeof text, "{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2}, {name: b, a: 0.3}], %s}",
           plain_arm);
  psdm_robot *bare = parse_robot(text);
  /* q1 = qm1/45, q2 = qm2/32 - qm1/45; so qm2 = 32 (q1 + q2): motor 2 turns with both joints */
  snprintf(text, sizeof text,
           "{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2, gear: 45, drive_inertia: 0.2}, {name: b, a: 0.3, "
           "gear: 32, drive_inertia: 0.1}],"
           "transmission: [[1, 0], [-1, 1]], %s}",
           plain_arm);
  psdm_robot *coupled = parse_robot(text);
  const double q[2] = {0.4, -0.9}, qd[2] = {1, 0.6}, qdd[2] = {2, -3};
  double M0[4], M[4], tau0[2], tau[2], tau_m[2], T0, T, U, back[2], Y[2 * 22], pi[22], qm[2];
  psdm_work *work;
  assert_int_equal(psdm_work_new(coupled, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_mass(bare, work, q, M0), PSDM_OK);
  assert_int_equal(psdm_mass(coupled, work, q, M), PSDM_OK);
  const double rotor[4] = {0.2 + 0.1, 0.1, 0.1, 0.1};
  for (int i = 0; i < 4; i++) assert_true(fabs(M[i] - M0[i] - rotor[i]) < 1e-15);
  assert_int_equal(psdm_inverse(bare, work, q, qd, qdd, tau0), PSDM_OK);
  assert_int_equal(psdm_inverse(coupled, work, q, qd, qdd, tau), PSDM_OK);
  assert_true(fabs(tau[0] - tau0[0] - (0.3 * 2 - 0.1 * 3)) < 1e-14 && fabs(tau[1] - tau0[1] - 0.1 * (2 - 3)) < 1e-14);
  assert_int_equal(psdm_energy(bare, work, q, qd, &T0, &U), PSDM_OK);
  assert_int_equal(psdm_energy(coupled, work, q, qd, &T, &U), PSDM_OK);
  assert_true(fabs(T - T0 - 0.5 * (0.2 * 1 + 0.1 * 1.6 * 1.6)) < 1e-14);
  assert_int_equal(psdm_forward(coupled, work, q, qd, tau, back), PSDM_OK);
  assert_true(max_difference(back, qdd, 2) < 1e-12);
  /* power is the same on both sides */
  psdm_robot_motor_torque(coupled, tau, tau_m);
  psdm_robot_joint_to_motor(coupled, qd, qm);
  assert_true(fabs(qm[0] - 45) < 1e-12 && fabs(qm[1] - 32 * 1.6) < 1e-12);
  assert_true(fabs(tau_m[0] * qm[0] + tau_m[1] * qm[1] - tau[0] * qd[0] - tau[1] * qd[1]) < 1e-13);
  /* and the drive columns of the regressor say the same */
  assert_int_equal(psdm_regressor_standard(coupled, work, q, qd, qdd, Y), PSDM_OK);
  psdm_robot_parameters(coupled, pi);
  for (int i = 0; i < 2; i++) {
    double sum = 0;
    for (int k = 0; k < 22; k++) sum += Y[22 * i + k] * pi[k];
    assert_true(fabs(sum - tau[i]) < 1e-13);
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(bare);
  psdm_robot_free(coupled);
}

/* ---- friction, steady state (Lloyd, Irani, Ahmadi 2022, eq. 12-14 at dz/dt = 0) ---- */

static void test_friction(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("denso_vs6556g");
  double qd[6] = {0.5, -0.01, 0, 1, -2, 0.003}, tau[6];
  psdm_friction_torque(robot, qd, tau);
  const double f1 = 9.59 + (12.5 - 9.59) * exp(-(0.5 / 0.0144) * (0.5 / 0.0144)) + 23.7 * pow(0.5, 0.61);
  const double f2 = -(8.86 + (9.92 - 8.86) * exp(-(0.01 / 0.0201) * (0.01 / 0.0201)) + 28.7 * pow(0.01, 0.62));
  assert_true(fabs(tau[0] - f1) < 1e-13 && fabs(tau[1] - f2) < 1e-13);
  assert_true(tau[2] == 0);
  psdm_robot_free(robot);
}

/* a robot without numbers reports that, and still has poses */
static void test_missing_numbers(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("denso_vs6556g");
  psdm_work *work;
  psdm_error error;
  double q[6] = {0}, tau[6], pose[12], Y[6 * 66];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, q, q, q, tau), PSDM_E_MISSING);
  assert_int_equal(psdm_robot_ready(robot, &error), PSDM_E_MISSING);
  assert_non_null(strstr(error.text, "link 'link1'"));
  assert_int_equal(psdm_pose(robot, work, q, 5, pose), PSDM_OK);
  assert_int_equal(psdm_regressor_standard(robot, work, q, q, q, Y), PSDM_OK);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parallelogram),        cmocka_unit_test(test_shipped_parallelogram),
      cmocka_unit_test(test_decoupling_condition), cmocka_unit_test(test_loops_close),
      cmocka_unit_test(test_two_link_example_3),   cmocka_unit_test(test_motor_side),
      cmocka_unit_test(test_coupled_motors),       cmocka_unit_test(test_friction),
      cmocka_unit_test(test_missing_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
