/* Elastic joints: two masses in closed form, the limit of stiff springs, eigenfrequencies of the linear model,
 * dampers, coupled motors. */
#include "sim_support.h"

extern void dsygv_(const int *type, const char *vectors, const char *half, const int *n, double *A, const int *lda,
                   double *B, const int *ldb, double *w, double *work, const int *room, int *info);

/* ---- two masses ---- */

/* r = theta - q is a damped oscillator of the reduced mass, the common centre does not move */
static void test_two_masses(void **unused) {
  (void)unused;
  static const psdm_integrator all[] = {PSDM_INTEGRATOR_ADAMS, PSDM_INTEGRATOR_BDF, PSDM_INTEGRATOR_RK4,
                                        PSDM_INTEGRATOR_EULER};
  const double m = 2, B = 0.5, K = 300, a = 0.01;
  for (int damped = 0; damped < 2; damped++)
    for (int k = 0; k < 4; k++) {
      if (!psdm_integrator_available(all[k])) continue;
      double D = damped ? 1.5 : 0, inverse = 1 / m + 1 / B, decay = D * inverse / 2,
             w = sqrt(K * inverse - decay * decay), worst = 0;
      psdm_robot *robot = slider(m, 0, ", drive_inertia: 0.5, stiffness: 300");
      joint_of(robot, 0)->damping = D;
      const psdm_sim_options options = {.integrator = all[k], .elastic = true, .no_code = true, .step = 1e-4};
      psdm_sim *sim = sim_of(robot, &options);
      double zero = 0, theta = a;
      record rec = {0};
      place(sim, 0, &zero, &zero);
      assert_int_equal(psdm_sim_set_motors(sim, &theta, NULL), PSDM_OK);
      psdm_sim_result result = go_on(sim, 1, &rec);
      for (long i = 0; i < rec.rows; i++) {
        double t = rec.row[i].t, r = a * exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t)),
               centre = B * a / (m + B);
        worst = fmax(worst, fabs(rec.row[i].q[0] - (centre - B * r / (m + B))));
        worst = fmax(worst, fabs(rec.row[i].theta[0] - (centre + m * r / (m + B))));
      }
      print_message("%s%s: off by %.2g of %g, balance %.2g\n", psdm_integrator_name(all[k]), damped ? " damped" : "",
                    worst, a, result.energy_balance);
      assert_true(worst < a * (k == 0 ? 1e-10 : k == 1 ? 1e-4 : k == 2 ? 1e-7 : 0.05));
      assert_true(result.energy_balance < (k == 0 ? 1e-9 : k == 1 ? 1e-5 : k == 2 ? 1e-7 : 0.1));
      record_free(&rec);
      psdm_sim_free(sim);
      psdm_robot_free(robot);
    }
}

/* ---- random elastic arms ---- */

typedef struct arm {
  psdm_robot *robot;
  int n;
  double B[MOST * MOST], K[MOST]; /* rotors' mass matrix, by hand from the transmission; springs */
} arm;

/* a chain; coupled: q2 = motor2 + mix motor1, so that the rates of the motors are (q1, q2 - mix q1, ...) */
static arm random_arm(rng *g, int n, double stiff, double damping, bool coupled, int rigid) {
  arm a = {.n = n};
  static char text[1 << 14];
  char *at = text, *end = text + sizeof text;
  double drive[MOST], mix = coupled ? rng_uniform(g, -1, 1) : 0;
  at += snprintf(at, (size_t)(end - at), "gravity: [0.5, -1, -9.5]\nconvention: dh\njoints:\n");
  for (int i = 0; i < n; i++) {
    drive[i] = rng_uniform(g, 0.1, 1), a.K[i] = i == rigid ? INFINITY : stiff * rng_uniform(g, 0.5, 2);
    at += snprintf(at, (size_t)(end - at), "  - {theta: %.17g, d: %.17g, a: %.17g, alpha: %.17g, drive_inertia: %.17g",
                   rng_uniform(g, -1, 1), rng_uniform(g, -0.3, 0.3), rng_uniform(g, 0.1, 0.5), rng_uniform(g, -2, 2),
                   drive[i]);
    if (i != rigid) at += snprintf(at, (size_t)(end - at), ", stiffness: %.17g", a.K[i]);
    at += snprintf(at, (size_t)(end - at), "}\n");
  }
  at += snprintf(at, (size_t)(end - at), "links:\n");
  for (int i = 0; i < n; i++)
    at += snprintf(at, (size_t)(end - at),
                   "  - {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: 0.03, yy: 0.04, zz: 0.05}}\n",
                   rng_uniform(g, 0.5, 3), rng_uniform(g, -0.2, 0.2), rng_uniform(g, -0.2, 0.2),
                   rng_uniform(g, -0.2, 0.2));
  if (coupled) {
    at += snprintf(at, (size_t)(end - at), "transmission:\n");
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        at += snprintf(at, (size_t)(end - at), "%s%.17g%s", j ? ", " : "  - [",
                       i == j             ? 1
                       : i == 1 && j == 0 ? mix
                                          : 0,
                       j == n - 1 ? "]\n" : "");
  }
  assert_true(at < end - 1);
  for (int i = 0; i < n; i++) a.B[i * n + i] = drive[i];
  a.B[0] += coupled ? mix * mix * drive[1] : 0;
  if (coupled) a.B[1] = a.B[n] = -mix * drive[1];
  a.robot = parse_robot(text);
  for (int i = 0; i < n; i++) joint_of(a.robot, i)->damping = i == rigid ? 0 : damping * a.K[i];
  return a;
}

/* the links alone: the same robot without its rotors */
static psdm_robot *links_of(const arm *a) {
  psdm_robot *links;
  double pi[11 * MOST];
  assert_int_equal(psdm_robot_clone(a->robot, NULL, &links), PSDM_OK);
  psdm_robot_parameters(links, pi);
  for (int i = 0; i < a->n; i++) pi[10 * a->n + i] = 0;
  psdm_robot_set_parameters(links, pi);
  return links;
}

static psdm_controller *constant_torque(const psdm_robot *robot, const double *tau, psdm_signal **signal) {
  psdm_controller *controller;
  double t = 0;
  assert_int_equal(psdm_signal_table(psdm_robot_n(robot), 1, &t, tau, false, NULL, signal, NULL), PSDM_OK);
  const psdm_control_options options = {.torque = *signal};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, &options, NULL, &controller, NULL), PSDM_OK);
  return controller;
}

/* mass (size x size) x'' + stiff x = 0: squares of the frequencies ascending, and in `stiff` the modes, one per
 * column of LAPACK's */
static void modes_of(int size, double *stiff, double *mass, double *squares) {
  double work[64 * MOST];
  int one = 1, room = 64 * MOST, info;
  dsygv_(&one, "V", "U", &size, stiff, &size, mass, &size, squares, work, &room, &info);
  assert_int_equal(info, 0);
}

/* how far from its start a motion along a mode is after its period, relative to its amplitude */
static double not_returned(psdm_sim *sim, int n, int motors, const double *q0, const double *theta0, const double *mode,
                           double amplitude, double period) {
  double q[MOST], theta[MOST], zero[MOST] = {0}, off = 0, most = max_absolute(mode, n + motors);
  for (int i = 0; i < n; i++) q[i] = q0[i] + amplitude * mode[i] / most;
  for (int i = 0; i < motors; i++) theta[i] = theta0[i] + amplitude * mode[n + i] / most;
  place(sim, 0, q, zero);
  if (motors) assert_int_equal(psdm_sim_set_motors(sim, theta, zero), PSDM_OK);
  go_on(sim, period, NULL);
  psdm_sim_row row = now(sim);
  off = max_difference(row.q, q, n);
  return fmax(off, motors ? max_difference(row.theta, theta, n) : 0) / amplitude;
}

/* every mode of the linear model returns after its period, the better the smaller it is */
static void check_modes(const arm *a, rng *g, bool elastic, int *checked, double *worst) {
  int n = a->n, size = elastic ? 2 * n : n;
  psdm_robot *links = elastic ? links_of(a) : NULL;
  psdm_linear *linear;
  psdm_work *work;
  const psdm_robot *model = elastic ? links : a->robot;
  assert_int_equal(psdm_linear_new(model, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_work_new(model, NULL, &work), PSDM_OK);
  double q[MOST], zero[MOST] = {0}, tau[MOST], theta[MOST], M[MOST * MOST], G[MOST * MOST],
                  stiff[4 * MOST * MOST] = {0}, mass[4 * MOST * MOST] = {0}, squares[2 * MOST];
  for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -1, 1);
  assert_int_equal(psdm_gravity(model, work, q, tau), PSDM_OK);
  assert_int_equal(psdm_second_order(model, linear, q, zero, zero, M, NULL, NULL, G), PSDM_OK);
  for (int i = 0; i < n; i++) {
    theta[i] = q[i] + (elastic ? tau[i] / a->K[i] : 0);
    for (int k = 0; k < n; k++) {
      mass[i * size + k] = M[i * n + k], stiff[i * size + k] = G[i * n + k];
      if (elastic) mass[(n + i) * size + n + k] = a->B[i * n + k];
    }
    if (!elastic) continue;
    stiff[i * size + i] += a->K[i], stiff[(n + i) * size + n + i] = a->K[i];
    stiff[i * size + n + i] = stiff[(n + i) * size + i] = -a->K[i];
  }
  modes_of(size, stiff, mass, squares);
  psdm_signal *signal;
  psdm_controller *hold = constant_torque(a->robot, tau, &signal);
  const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_ADAMS,
                                    .elastic = elastic,
                                    .no_code = true,
                                    .controller = hold,
                                    .tolerance = 1e-13,
                                    .output = 100};
  psdm_sim *sim = sim_of(a->robot, &options);
  for (int k = 0; k < size; k++) {
    if (squares[k] < 1) continue; /* it falls, or its period is long */
    double period = 2 * acos(-1) / sqrt(squares[k]), growth = exp(sqrt(fmax(0, -squares[0])) * period),
           bound = growth * squares[size - 1] / squares[k];
    double off[2] = {not_returned(sim, n, elastic ? n : 0, q, theta, stiff + k * size, 1e-4, period),
                     not_returned(sim, n, elastic ? n : 0, q, theta, stiff + k * size, 1e-5, period)};
    (*checked)++;
    *worst = fmax(*worst, off[1] / bound);
    assert_true(off[0] < 0.1 * bound && off[1] < off[0] / 5 + 1e-6 * bound);
  }
  psdm_sim_free(sim);
  psdm_control_free(hold);
  psdm_signal_free(signal);
  psdm_work_free(work, NULL);
  psdm_linear_free(linear, NULL);
  psdm_robot_free(links);
}

static void test_eigenfrequencies(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  rng g = rng_start("eigenfrequencies");
  int checked[2] = {0};
  double worst[2] = {0};
  for (int trial = 0; trial < 12; trial++) {
    arm a = random_arm(&g, rng_int(&g, 2, 4), 500, 0, trial % 2, -1);
    check_modes(&a, &g, true, &checked[0], &worst[0]);
    check_modes(&a, &g, false, &checked[1], &worst[1]);
    psdm_robot_free(a.robot);
  }
  print_message("%d elastic and %d rigid modes returned, at 1e-5 to %.2g and %.2g of their amplitude\n", checked[0],
                checked[1], worst[0], worst[1]);
  assert_true(checked[0] > 30 && checked[1] > 5 && worst[0] < 1e-2 && worst[1] < 1e-2);
}

/* ---- stiff springs ---- */

/* free motion that begins without ringing: theta = q - B qdd / K, and its derivative */
static void calm_motors(const arm *a, const psdm_sim_options *rigid, const double *q, const double *qd, double *theta,
                        double *thetad) {
  psdm_sim *sim = sim_of(a->robot, rigid);
  double h = 1e-4, qdd[3][MOST], back[MOST];
  int n = a->n;
  place(sim, 0, q, qd);
  memcpy(qdd[1], now(sim).qdd, sizeof *back * (size_t)n);
  go_on(sim, h, NULL);
  memcpy(qdd[2], now(sim).qdd, sizeof *back * (size_t)n);
  for (int i = 0; i < n; i++) back[i] = -qd[i]; /* free motion runs backwards as well */
  place(sim, 0, q, back);
  go_on(sim, h, NULL);
  memcpy(qdd[0], now(sim).qdd, sizeof *back * (size_t)n);
  for (int i = 0; i < n; i++) {
    theta[i] = q[i], thetad[i] = qd[i];
    for (int k = 0; k < n; k++) {
      theta[i] -= a->B[i * n + k] * qdd[1][k] / a->K[i];
      thetad[i] -= a->B[i * n + k] * (qdd[2][k] - qdd[0][k]) / (2 * h) / a->K[i];
    }
  }
  psdm_sim_free(sim);
}

static void test_stiff_limit(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  rng begin = rng_start("stiff limit");
  for (int trial = 0; trial < 3; trial++, rng_next(&begin)) {
    double stiff[4] = {1e4, 4e4, 1.6e5, 6.4e5}, softness[4], off[4], q[3] = {0.3, -0.5, 0.4}, qd[3] = {1, -1, 0.5};
    for (int k = 0; k < 4; k++) {
      rng g = begin; /* the same arm without its springs */
      arm a = random_arm(&g, 3, stiff[k], 0, trial == 1, -1);
      const psdm_sim_options rigid = {.integrator = PSDM_INTEGRATOR_ADAMS, .no_code = true},
                             elastic = {.integrator = PSDM_INTEGRATOR_ADAMS, .no_code = true, .elastic = true};
      double theta[MOST], thetad[MOST];
      calm_motors(&a, &rigid, q, qd, theta, thetad);
      psdm_sim *one = sim_of(a.robot, &rigid), *other = sim_of(a.robot, &elastic);
      place(one, 0, q, qd);
      place(other, 0, q, qd);
      assert_int_equal(psdm_sim_set_motors(other, theta, thetad), PSDM_OK);
      go_on(one, 0.3, NULL);
      psdm_sim_result result = go_on(other, 0.3, NULL);
      assert_true(result.energy_drift < 1e-9);
      softness[k] = 1 / stiff[k];
      off[k] = max_difference(now(one).q, now(other).q, 3);
      psdm_sim_free(one);
      psdm_sim_free(other);
      psdm_robot_free(a.robot);
    }
    double slope = slope_of(4, softness, off);
    print_message("K 1e4 .. 6.4e5: off %.2g %.2g %.2g %.2g rad, slope %.3f in 1/K\n", off[0], off[1], off[2], off[3],
                  slope);
    assert_true(fabs(slope - 1) < 0.1);
  }
}

/* ---- friction and dampers, all integrators ---- */

/* energy is accounted for, with dampers, motor friction, stops of the links and rigid joints in between */
static void test_audit(void **unused) {
  (void)unused;
  rng g = rng_start("audit");
  double worst[3] = {0};
  long limits = 0, sticks = 0;
  for (int trial = 0; trial < 8; trial++) {
    arm a = random_arm(&g, 3, 800, 1e-3, trial == 3, trial == 3 ? -1 : trial % 3);
    double q[MOST], qd[MOST];
    random_state(&g, 3, 1, q, qd);
    for (int i = 0; i < 3; i++) {
      set_friction(a.robot, i, 1, 1.5, 0.5, 0.3);
      joint_of(a.robot, i)->limits.lower = q[i] - 0.4, joint_of(a.robot, i)->limits.upper = q[i] + 0.4;
    }
    for (int k = 0; k < 3; k++) {
      psdm_integrator integrator = k == 0   ? PSDM_INTEGRATOR_ADAMS
                                   : k == 1 ? PSDM_INTEGRATOR_RK4
                                            : PSDM_INTEGRATOR_EULER;
      if (!psdm_integrator_available(integrator)) continue;
      const psdm_sim_options options = {.integrator = integrator,
                                        .elastic = true,
                                        .no_code = true,
                                        .friction = PSDM_FRICTION_STRIBECK,
                                        .step = k == 2 ? 2e-4 : 1e-3,
                                        .at_limit = trial % 2 ? PSDM_AT_LIMIT_STOP : PSDM_AT_LIMIT_BOUNCE};
      psdm_sim *sim = sim_of(a.robot, &options);
      place(sim, 0, q, qd);
      record rec = {0};
      psdm_sim_result result = go_on(sim, 2, &rec);
      worst[k] = fmax(worst[k], result.energy_balance);
      limits += result.limits, sticks += result.sticks;
      assert_true(rec.row[rec.rows - 1].dissipated > 0);
      record_free(&rec);
      psdm_sim_free(sim);
    }
    psdm_robot_free(a.robot);
  }
  print_message("balance: adams %.2g, rk4 %.2g, euler %.2g; %ld blows, %ld sticks\n", worst[0], worst[1], worst[2],
                limits, sticks);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-5 && worst[2] < 0.1 && limits > 20 && sticks > 20);
}

/* springs so stiff that the real-time step is far too long for them */
static void test_euler_is_safe(void **unused) {
  (void)unused;
  rng g = rng_start("euler is safe");
  for (int trial = 0; trial < 5; trial++) {
    arm a = random_arm(&g, 4, 1e8, 0, trial % 2, -1);
    double q[MOST], qd[MOST];
    random_state(&g, 4, 0.5, q, qd);
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_EULER, .elastic = true, .no_code = true};
    psdm_sim *sim = sim_of(a.robot, &options);
    place(sim, 0, q, qd);
    psdm_sim_result result = go_on(sim, 1, NULL);
    assert_true(result.energy_drift < 0.2);
    psdm_sim_free(sim);
    psdm_robot_free(a.robot);
  }
}

/* ---- refusals ---- */

static void refused(const char *what, const psdm_robot *robot) {
  psdm_sim *sim;
  psdm_error error;
  const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4, .elastic = true, .no_code = true};
  assert_int_not_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_OK);
  assert_null(sim);
  if (!strstr(error.text, what)) fail_msg("'%s' does not contain '%s'", error.text, what);
}

static void test_refusals(void **unused) {
  (void)unused;
  rng g = rng_start("refusals");
  psdm_robot *robot = slider(1, 0, "");
  refused("nothing is elastic", robot);
  psdm_robot_free(robot);
  robot = slider(1, 0, ", stiffness: 100");
  refused("drive_inertia", robot);
  psdm_robot_free(robot);
  arm a = random_arm(&g, 3, 100, 0, true, 1);
  refused("coupled to that of a rigid joint", a.robot);
  psdm_robot_free(a.robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_masses),    cmocka_unit_test(test_eigenfrequencies),
                                     cmocka_unit_test(test_stiff_limit),   cmocka_unit_test(test_audit),
                                     cmocka_unit_test(test_euler_is_safe), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
