/* Controllers: their algebra against plain formulas, their defaults, their refusals, and computed torque in closed
 * loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "psdm/control.h"
#include "psdm/friction.h"

enum { MOST = 12 };

/* ---- a robot that follows sines ---- */

static psdm_motion *sines(rng *g, int n) {
  double centre[MOST], amplitude[2 * MOST], frequency[2 * MOST], phase[2 * MOST];
  psdm_motion *motion;
  for (int i = 0; i < n; i++) centre[i] = rng_uniform(g, -1, 1);
  for (int k = 0; k < 2 * n; k++)
    amplitude[k] = rng_uniform(g, 0.1, 0.4), frequency[k] = rng_uniform(g, 1, 4), phase[k] = rng_uniform(g, -3, 3);
  assert_int_equal(psdm_motion_sines(n, 2, centre, amplitude, frequency, phase, 4, NULL, &motion, NULL), PSDM_OK);
  return motion;
}

static psdm_controller *controller(psdm_control_kind kind, const psdm_robot *model, const psdm_motion *reference,
                                   const psdm_control_options *options) {
  psdm_controller *c;
  psdm_error error;
  if (psdm_control_new(kind, model, reference, options, NULL, &c, &error))
    fail_msg("%s: %s", psdm_control_name(kind), error.text);
  assert_int_equal(psdm_control_kind_of(c), kind);
  assert_int_equal(psdm_control_n(c), psdm_robot_n(model));
  return c;
}

/* out = M a + rest, M (n x n) */
static void times(int n, const double *M, const double *a, const double *rest, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = rest[i];
    for (int j = 0; j < n; j++) out[i] += M[i * n + j] * a[j];
  }
}

/* ---- names ---- */

static void test_names(void **unused) {
  (void)unused;
  psdm_control_kind kind;
  for (int k = 0; k < PSDM_CONTROL_KINDS; k++) {
    assert_true(psdm_control_find(psdm_control_name((psdm_control_kind)k), &kind));
    assert_int_equal(kind, k);
    assert_true(strlen(psdm_control_help((psdm_control_kind)k)) > 5);
  }
  assert_false(psdm_control_find("bang-bang", &kind));
  assert_null(psdm_control_name(PSDM_CONTROL_KINDS));
  assert_null(psdm_control_help((psdm_control_kind)-1));
}

/* ---- algebra ---- */

/* every one-line law on random robots, from M, bias and gravity at the right states */
static void test_laws(void **unused) {
  (void)unused;
  rng g = rng_start("laws");
  random_options random = {.n_min = 1, .n_max = 7, .coupled = true, .trees = true, .prismatic = true, .drives = true};
  static char text[1 << 16];
  double worst = 0;
  for (int trial = 0; trial < 40; trial++) {
    psdm_robot *robot = parse_robot(random_robot_text(&g, &random, text, sizeof text));
    psdm_work *work;
    int n = psdm_robot_n(robot);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    psdm_motion *motion = sines(&g, n);
    double kp[MOST], kd[MOST], q[MOST], qd[MOST], x[3 * MOST], M[MOST * MOST], Md[MOST * MOST],
        t = rng_uniform(&g, 0, 4);
    double bias[MOST], bias_d[MOST], gravity[MOST], gravity_d[MOST];
    for (int i = 0; i < n; i++)
      kp[i] = rng_uniform(&g, 1, 9), kd[i] = rng_uniform(&g, 1, 9), q[i] = rng_uniform(&g, -2, 2),
      qd[i] = rng_uniform(&g, -2, 2);
    psdm_motion_at(motion, t, 3, x);
    assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
    assert_int_equal(psdm_mass(robot, work, x, Md), PSDM_OK);
    assert_int_equal(psdm_bias(robot, work, q, qd, bias), PSDM_OK);
    assert_int_equal(psdm_bias(robot, work, x, x + n, bias_d), PSDM_OK);
    assert_int_equal(psdm_gravity(robot, work, q, gravity), PSDM_OK);
    assert_int_equal(psdm_gravity(robot, work, x, gravity_d), PSDM_OK);
    psdm_control_options options = {.kp = kp, .kd = kd};
    psdm_control_input in = {.t = t, .q = q, .qd = qd};
    for (int k = 0; k < PSDM_CONTROL_KINDS; k++) {
      if (k == PSDM_CONTROL_TORQUE || k == PSDM_CONTROL_LQR || k == PSDM_CONTROL_ADAPTIVE) continue;
      psdm_controller *c = controller((psdm_control_kind)k, robot, motion, &options);
      double tau[MOST], servo[MOST], wanted[MOST], expected[MOST] = {0}, seen[3 * MOST];
      psdm_control_reference(c, t, seen);
      assert_memory_equal(seen, x, sizeof *x * 3 * (size_t)n);
      assert_int_equal(psdm_control_states(c), 0);
      assert_null(psdm_control_state_name(c, 0));
      assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
      for (int i = 0; i < n; i++)
        servo[i] = kp[i] * (x[i] - q[i]) + kd[i] * (x[n + i] - qd[i]), wanted[i] = x[2 * n + i] + servo[i];
      if (k == PSDM_CONTROL_FEEDFORWARD) times(n, Md, x + 2 * n, bias_d, expected);
      if (k == PSDM_CONTROL_COMPUTED) times(n, M, wanted, bias, expected);
      for (int i = 0; i < n; i++) {
        if (k == PSDM_CONTROL_PD_GRAVITY) expected[i] = gravity[i];
        if (k == PSDM_CONTROL_PD || k == PSDM_CONTROL_PD_GRAVITY || k == PSDM_CONTROL_FEEDFORWARD)
          expected[i] += servo[i];
        /* no joint here is elastic */
        if (k == PSDM_CONTROL_ELASTIC) expected[i] = kp[i] * (x[i] - q[i]) - kd[i] * qd[i] + gravity_d[i];
      }
      worst = fmax(worst, max_difference(tau, expected, n) / fmax(1, max_absolute(expected, n)));
      psdm_control_free(c);
    }
    psdm_motion_free(motion);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  print_message("laws against formulas: %.2g\n", worst);
  assert_true(worst < 1e-12); /* some hundred operations of rounding, relative to the largest torque */
}

/* springs at one joint of two: the motor rests where the spring bears the weight, and the law reads the motor */
static void test_elastic(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot(
      "{gravity: [0, -9.81, 0], convention: dh, joints: [{a: 1.2, stiffness: 400}, {a: 1.1}],"
      "links: [{mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.12}}, {mass: 2, com: [-0.55, 0, 0], inertia: {zz: 0.2}}]}");
  psdm_work *work;
  psdm_motion *motion;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  const double stay[2] = {0.3, -0.5}, go[2] = {0.3, -0.5}, kp[2] = {300, 200}, kd[2] = {20, 10};
  assert_int_equal(psdm_motion_polynomial(2, 5, stay, go, 0, 1, NULL, &motion, NULL), PSDM_OK);
  psdm_control_options options = {.kp = kp, .kd = kd};
  psdm_controller *c = controller(PSDM_CONTROL_ELASTIC, robot, motion, &options);
  double gravity[2], q[2] = {0.1, 0.2}, qd[2] = {1, 2}, theta[2] = {0.4, 0.2}, thetad[2] = {-1, 2}, tau[2];
  psdm_control_input in = {.t = 0.5, .q = q, .qd = qd, .theta = theta, .thetad = thetad};
  assert_int_equal(psdm_gravity(robot, work, stay, gravity), PSDM_OK);
  assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
  assert_true(fabs(gravity[0]) > 10);
  assert_true(fabs(tau[0] - (300 * (0.3 + gravity[0] / 400 - 0.4) + 20 + gravity[0])) < 1e-11);
  assert_true(fabs(tau[1] - (200 * (-0.5 - 0.2) - 20 + gravity[1])) < 1e-11);
  /* with the motor at its target, at rest, the torque is the weight */
  theta[0] = 0.3 + gravity[0] / 400, theta[1] = -0.5, thetad[0] = thetad[1] = 0;
  assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
  assert_true(max_difference(tau, gravity, 2) < 1e-11);
  psdm_control_free(c);
  psdm_motion_free(motion);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* kp = w^2 and kd = 2 w times the mass where the reference begins, w = 20 unless given; some may be given */
static void test_default_gains(void **unused) {
  (void)unused;
  rng g = rng_start("default gains");
  psdm_robot *robot = load_shipped("kuka_kr6");
  enum { n = 6 };
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_motion *motion = sines(&g, n);
  double x[3 * n], M[n * n], q[n], qd[n], tau[n], given[n] = {1, 2, 3, 4, 5, 6}, worst = 0;
  psdm_motion_at(motion, psdm_motion_begin(motion), 3, x);
  assert_int_equal(psdm_mass(robot, work, x, M), PSDM_OK);
  for (int i = 0; i < n; i++) q[i] = x[i] - 0.01 * (i + 1), qd[i] = x[n + i] + 0.1 * (i - 2);
  for (int trial = 0; trial < 4; trial++) {
    psdm_control_options options = {.bandwidth = trial & 1 ? 7 : 0, .kp = trial & 2 ? given : NULL};
    double w = trial & 1 ? 7 : 20;
    psdm_control_input in = {.t = psdm_motion_begin(motion), .q = q, .qd = qd};
    psdm_controller *c = controller(PSDM_CONTROL_PD, robot, motion, &options);
    assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
    for (int i = 0; i < n; i++) {
      double kp = trial & 2 ? given[i] : w * w * M[i * n + i],
             expected = kp * (x[i] - q[i]) + 2 * w * M[i * n + i] * (x[n + i] - qd[i]);
      worst = fmax(worst, fabs(tau[i] - expected) / (fabs(kp) + 2 * w * M[i * n + i]));
    }
    psdm_control_free(c);
  }
  assert_true(worst < 1e-15);
  psdm_motion_free(motion);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* friction at the reference's velocity is added only on request */
static void test_friction(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot(
      "{gravity: [0, -9.81, 0], convention: dh, joints: [{a: 1, friction: {coulomb: 2, static: 3, stribeck: 0.1, "
      "viscous: 0.7, offset: 0.2}}, {a: 1}],"
      "links: [{mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.12}}, {mass: 2, com: [-0.55, 0, 0], inertia: {zz: 0.2}}]}");
  rng g = rng_start("friction");
  psdm_motion *motion = sines(&g, 2);
  double q[2] = {0.1, 0.2}, qd[2] = {-3, 3}, x[6], with[2], without[2], friction[2];
  psdm_control_input in = {.t = 1.3, .q = q, .qd = qd};
  psdm_motion_at(motion, 1.3, 3, x);
  psdm_friction_torque(robot, x + 2, friction);
  assert_true(fabs(friction[0]) > 1 && friction[1] == 0);
  for (int k = 0; k < PSDM_CONTROL_KINDS; k++) {
    if (k == PSDM_CONTROL_TORQUE || k == PSDM_CONTROL_ADAPTIVE) continue;
    psdm_control_options options = {.friction = true};
    psdm_controller *c = controller((psdm_control_kind)k, robot, motion, &options),
                    *plain = controller((psdm_control_kind)k, robot, motion, NULL);
    assert_int_equal(psdm_control_torque(c, &in, NULL, with, NULL), PSDM_OK);
    assert_int_equal(psdm_control_torque(plain, &in, NULL, without, NULL), PSDM_OK);
    bool adds = k == PSDM_CONTROL_FEEDFORWARD || k == PSDM_CONTROL_COMPUTED;
    for (int i = 0; i < 2; i++)
      assert_true(fabs(with[i] - without[i] - (adds ? friction[i] : 0)) <= 1e-12 * fmax(1, fabs(without[i])));
    psdm_control_free(c);
    psdm_control_free(plain);
  }
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

static void test_table(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  psdm_signal *signal, *wide;
  const double t[2] = {0, 1}, values[6] = {1, 2, 3, -4, 5, 6};
  psdm_controller *c;
  psdm_error error;
  double tau[2];
  assert_int_equal(psdm_signal_table(2, 2, t, values, false, NULL, &signal, NULL), PSDM_OK);
  assert_int_equal(psdm_signal_table(3, 2, t, values, false, NULL, &wide, NULL), PSDM_OK);
  psdm_control_options options = {.torque = signal};
  psdm_control_input in = {.t = 0.25};
  c = controller(PSDM_CONTROL_TORQUE, robot, NULL, &options);
  assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
  assert_true(tau[0] == 1.5 && tau[1] == 0.5);
  psdm_control_free(c);
  options.torque = wide;
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, &options, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "the torques have 3 columns, and the robot 2 joints");
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, NULL, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_null(c);
  c = controller(PSDM_CONTROL_NONE, robot, NULL, NULL);
  assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
  assert_true(tau[0] == 0 && tau[1] == 0);
  psdm_control_free(c);
  psdm_control_free(NULL);
  psdm_signal_free(signal);
  psdm_signal_free(wide);
  psdm_robot_free(robot);
}

/* ---- closed loop ---- */

/* x = (q; qd) after this many Runge-Kutta steps with a stateless controller */
static void run(const psdm_robot *robot, psdm_work *work, psdm_controller *c, double h, int steps, double *x) {
  int n = psdm_robot_n(robot);
  double k[4][2 * MOST], at[2 * MOST], tau[MOST];
  for (int step = 0; step < steps; step++) {
    for (int stage = 0; stage < 4; stage++) {
      double part = !stage ? 0 : stage < 3 ? 0.5 * h : h;
      for (int i = 0; i < 2 * n; i++) at[i] = x[i] + (stage ? part * k[stage - 1][i] : 0);
      psdm_control_input in = {.t = step * h + part, .q = at, .qd = at + n};
      assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
      memcpy(k[stage], at + n, sizeof *at * (size_t)n);
      assert_int_equal(psdm_forward(robot, work, at, at + n, tau, k[stage] + n), PSDM_OK);
    }
    for (int i = 0; i < 2 * n; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

/* e'' + 2 w e' + w^2 e = 0: e = (e0 + (e0' + w e0) t) exp(-w t), at the order of the integration */
static void test_computed_torque(void **unused) {
  (void)unused;
  rng g = rng_start("computed torque");
  enum { n = 6 };
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_motion *motion = sines(&g, n);
  psdm_control_options options = {.bandwidth = 10};
  psdm_controller *c = controller(PSDM_CONTROL_COMPUTED, robot, motion, &options);
  double x[3 * n], start[2 * n], wrong[3], w = 10, end = 0.3;
  psdm_motion_at(motion, 0, 3, x);
  for (int i = 0; i < 2 * n; i++) start[i] = x[i] - rng_uniform(&g, -0.3, 0.3);
  for (int pass = 0; pass < 3; pass++) {
    double now[2 * n], reference[3 * n];
    int steps = 100 << pass;
    memcpy(now, start, sizeof now);
    run(robot, work, c, end / steps, steps, now);
    psdm_motion_at(motion, end, 3, reference);
    wrong[pass] = 0;
    for (int i = 0; i < n; i++) {
      double e = x[i] - start[i], de = x[n + i] - start[n + i], exact = (e + (de + w * e) * end) * exp(-w * end);
      wrong[pass] = fmax(wrong[pass], fabs(reference[i] - now[i] - exact));
    }
  }
  print_message("computed torque: error %.2g, %.2g, %.2g at 100, 200, 400 steps\n", wrong[0], wrong[1], wrong[2]);
  assert_true(wrong[0] < 1e-7);
  /* order four: 16 */
  for (int k = 0; k < 2; k++) assert_true(wrong[k] / wrong[k + 1] > 12 && wrong[k] / wrong[k + 1] < 20);
  psdm_control_free(c);
  psdm_motion_free(motion);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* PD + gravity comes to rest at its target, from afar */
static void test_regulation(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_control_options options = {.bandwidth = 5};
  psdm_controller *c = controller(PSDM_CONTROL_PD_GRAVITY, robot, NULL, &options);
  double x[4] = {1, -1.5, 0, 0};
  run(robot, work, c, 0.002, 5000, x);
  print_message("PD with gravity: %.2g after 10 s\n", max_absolute(x, 4));
  assert_true(max_absolute(x, 4) < 1e-6);
  psdm_control_free(c);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link"), *unknown = parse_robot("{convention: dh, joints: [{a: 1}, {a: 1}]}");
  psdm_controller *c;
  psdm_error error, ready;
  double good[4] = {1, 2, 3, 4}, bad[3][2] = {{1, NAN}, {INFINITY, 1}, {1, -1}};
  for (int k = 0; k < 3; k++) {
    const psdm_control_options wrong[] = {{.kp = bad[k]},
                                          {.kd = bad[k]},
                                          {.R = bad[k]},
                                          {.bandwidth = bad[k][k != 1]},
                                          {.horizon_step = bad[k][k != 1]},
                                          {.lambda = bad[k][k != 1]},
                                          {.gamma = bad[k][k != 1]},
                                          {.bound = bad[k][k != 1]}};
    for (int i = 0; i < 8; i++) {
      error.text[0] = '\0';
      assert_int_equal(psdm_control_new(PSDM_CONTROL_PD, robot, NULL, &wrong[i], NULL, &c, &error), PSDM_E_ARGUMENT);
      assert_null(c);
      assert_true(strlen(error.text) > 5);
    }
  }
  assert_int_equal(psdm_control_new(PSDM_CONTROL_KINDS, robot, NULL, NULL, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_control_new(PSDM_CONTROL_PD, NULL, NULL, NULL, NULL, &c, NULL), PSDM_E_ARGUMENT);
  rng g = rng_start("refusals");
  psdm_motion *motion = sines(&g, 3);
  assert_int_equal(psdm_control_new(PSDM_CONTROL_PD, robot, motion, NULL, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "the reference moves 3 joints, and the robot has 2");
  psdm_motion_free(motion);
  /* no inertias: controllers that need them name the missing one; PD with gains needs none */
  assert_int_equal(psdm_robot_ready(unknown, &ready), PSDM_E_MISSING);
  for (int k = PSDM_CONTROL_PD; k < PSDM_CONTROL_KINDS; k++) {
    assert_int_equal(psdm_control_new((psdm_control_kind)k, unknown, NULL, NULL, NULL, &c, &error), PSDM_E_MISSING);
    assert_string_equal(error.text, ready.text);
  }
  psdm_control_options gains = {.kp = good, .kd = good};
  c = controller(PSDM_CONTROL_PD, unknown, NULL, &gains);
  /* NAN */
  double q[2] = {0.1, 0.2}, tau[2];
  psdm_control_input in = {.t = 0, .q = q, .qd = q};
  assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
  const psdm_control_input wrong[] = {{.t = NAN, .q = q, .qd = q},
                                      {.q = bad[0], .qd = q},
                                      {.q = q, .qd = bad[1]},
                                      {.q = q, .qd = q, .theta = bad[0]},
                                      {.q = q, .qd = q, .thetad = bad[0]},
                                      {.q = q},
                                      {.qd = q}};
  for (int i = 0; i < 7; i++) assert_int_equal(psdm_control_torque(c, &wrong[i], NULL, tau, NULL), PSDM_E_ARGUMENT);
  psdm_control_free(c);
  psdm_robot_free(robot);
  psdm_robot_free(unknown);
}

/* every allocation fails once: no leak, and the message says so */
static void test_memory(void **unused) {
  (void)unused;
  rng g = rng_start("memory");
  psdm_robot *robots[] = {load_shipped("two_link"), load_shipped("parallelogram"), load_shipped("five_bar")};
  psdm_motion *motion = sines(&g, 2);
  psdm_signal *signal;
  const double t[2] = {0, 1}, values[4] = {1, 2, 3, 4};
  long failures = 0;
  assert_int_equal(psdm_signal_table(2, 2, t, values, true, NULL, &signal, NULL), PSDM_OK);
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < PSDM_CONTROL_KINDS; k++) {
      if (r == 2 && k == PSDM_CONTROL_LQR) continue; /* closed loops have none */
      psdm_control_options options = {.torque = signal, .horizon_step = 0.1};
      psdm_status status = PSDM_E_MEMORY;
      for (long fail_at = 1; status; fail_at++) {
        counting memory;
        psdm_controller *c;
        psdm_error error;
        counting_init(&memory, fail_at);
        status = psdm_control_new((psdm_control_kind)k, robots[r], r == 2 ? NULL : motion, &options, &memory.allocator,
                                  &c, &error);
        assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
        assert_true((status == PSDM_OK) == (c != NULL));
        if (status) failures++, assert_true(strstr(error.text, "memory") != NULL);
        psdm_control_free(c);
        assert_int_equal(memory.live, 0);
      }
    }
  print_message("%ld failed allocations survived\n", failures);
  assert_true(failures > 30);
  psdm_signal_free(signal);
  psdm_motion_free(motion);
  for (int r = 0; r < 3; r++) psdm_robot_free(robots[r]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),           cmocka_unit_test(test_laws),
                                     cmocka_unit_test(test_elastic),         cmocka_unit_test(test_default_gains),
                                     cmocka_unit_test(test_friction),        cmocka_unit_test(test_table),
                                     cmocka_unit_test(test_computed_torque), cmocka_unit_test(test_regulation),
                                     cmocka_unit_test(test_refusals),        cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
