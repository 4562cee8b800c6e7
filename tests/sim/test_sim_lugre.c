/* LuGre friction in motion, with the numbers of Lloyd, Irani, Ahmadi (2022), Table 2: the same motion from every
 * integrator, energy, stick and slip. */
#include "sim_support.h"

/* the Denso arm's kinematics and friction, with made-up inertias */
static psdm_robot *denso(void) {
  psdm_robot *robot = load_shipped("denso_vs6556g");
  static const double mass[6] = {6, 5, 3, 1.5, 1, 0.3}, drive[6] = {1.2, 1.2, 0.6, 0.15, 0.15, 0.1};
  double pi[66] = {0};
  assert_int_equal(psdm_robot_parameter_count(robot), 66);
  for (int i = 0; i < 6; i++) {
    double *p = pi + 10 * i, inertia = 0.02 * mass[i];
    p[0] = mass[i];
    p[1] = 0.02 * mass[i];
    p[4] = p[7] = p[9] = inertia;
    pi[60 + i] = drive[i];
  }
  psdm_robot_set_parameters(robot, pi);
  return robot;
}

static const double start_q[6] = {0.2, -0.4, 0.6, 0.1, 0.5, -0.3}, start_qd[6] = {1, -0.8, 1.2, -2, 1.5, 2};

static psdm_sim_result motion_of(const psdm_robot *robot, psdm_integrator integrator, double h, double seconds,
                                 double *x, double *z) {
  const psdm_sim_options options = {
      .integrator = integrator, .step = h, .friction = PSDM_FRICTION_LUGRE, .no_code = true};
  psdm_sim *sim = sim_of(robot, &options);
  place(sim, 0, start_q, start_qd);
  psdm_sim_result result = go_on(sim, seconds, NULL);
  psdm_sim_row row = now(sim);
  memcpy(x, row.q, sizeof *x * 6);
  memcpy(x + 6, row.qd, sizeof *x * 6);
  memcpy(z, row.z, sizeof *z * 6);
  psdm_sim_free(sim);
  return result;
}

/* from a swing into rest: velocities pass Stribeck's speeds, bristles bend and hold */
static void test_integrators_agree(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  psdm_robot *robot = denso();
  double truth[12], z[6], x[12], bent[6], error[3], step[3] = {4e-4, 2e-4, 1e-4}, deflection = 0;
  psdm_sim_result bdf = motion_of(robot, PSDM_INTEGRATOR_BDF, 0, 0.12, truth, z);
  print_message("bdf: %ld steps, balance %.2g\n", bdf.steps, bdf.energy_balance);
  assert_true(bdf.energy_balance < 1e-6);
  psdm_sim_result rk4 = motion_of(robot, PSDM_INTEGRATOR_RK4, 2e-4, 0.12, x, bent);
  for (int i = 0; i < 6; i++)
    deflection = fmax(deflection,
                      fabs(bent[i] - z[i]) / fabs(robot->joint[i].friction.coulomb / robot->joint[i].friction.sigma0));
  print_message("rk4 against bdf: %.2g, bristles %.2g, balance %.2g, %ld steps\n", max_difference(x, truth, 12),
                deflection, rk4.energy_balance, rk4.steps);
  assert_true(max_difference(x, truth, 12) < 1e-5 && deflection < 1e-3 && rk4.energy_balance < 1e-4);
  for (int k = 0; k < 3; k++) {
    motion_of(robot, PSDM_INTEGRATOR_EULER, step[k], 0.12, x, bent);
    error[k] = max_difference(x, truth, 12);
  }
  double slope = slope_of(3, step, error);
  print_message("euler against bdf: %.2g %.2g %.2g, slope %.2f\n", error[0], error[1], error[2], slope);
  assert_true(slope > 0.8 && error[2] < 5e-3);
  psdm_robot_free(robot);
}

/* the real-time step, a thousand times too long for the bristles */
static void test_stiff_is_safe(void **unused) {
  (void)unused;
  psdm_robot *robot = denso();
  for (int trial = 0; trial < 3; trial++) {
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_EULER,
                                      .step = trial < 2 ? 1e-3 : 1e-2,
                                      .friction = PSDM_FRICTION_LUGRE,
                                      .no_code = true};
    if (trial == 1)
      for (int i = 0; i < 6; i++) joint_of(robot, i)->friction.sigma0 = 3e5;
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, start_q, start_qd);
    psdm_sim_result result = go_on(sim, 2, &rec);
    double fastest = 0;
    for (long i = 0; i < rec.rows; i++) fastest = fmax(fastest, max_absolute(rec.row[i].qd, 6));
    print_message("euler %g s: balance %.2g, fastest %.3g, at the end %.2g\n", options.step, result.energy_balance,
                  fastest, max_absolute(rec.row[rec.rows - 1].qd, 6));
    assert_true(fastest <= 2.5 && result.energy_balance < 0.2);
    assert_true(max_absolute(rec.row[rec.rows - 1].qd, 6) < 0.5);
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* a block pulled slowly through a spring: the example of Canudas de Wit et al. (1995), section III.C */
static void test_stick_slip(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(1, 0, "");
  joint_of(robot, 0)->friction = (psdm_friction){.given = true,
                                                 .coulomb = 1,
                                                 .stat = 1.5,
                                                 .stribeck = 1e-3,
                                                 .viscous = 0.4,
                                                 .exponent = 1,
                                                 .sigma0 = 1e5,
                                                 .sigma1 = 316};
  const double t[2] = {0, 100}, way[2] = {0, 10}, speed[2] = {0.1, 0.1}, stiff = 2, none = 0;
  psdm_motion *pull;
  psdm_controller *spring;
  assert_int_equal(psdm_motion_table(1, 2, t, way, speed, NULL, NULL, &pull, NULL), PSDM_OK);
  const psdm_control_options gains = {.kp = &stiff, .kd = &none};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_PD, robot, pull, &gains, NULL, &spring, NULL), PSDM_OK);
  for (int k = 0; k < 2; k++) {
    psdm_integrator integrator = k ? PSDM_INTEGRATOR_EULER : PSDM_INTEGRATOR_BDF;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {.integrator = integrator,
                                      .friction = PSDM_FRICTION_LUGRE,
                                      .no_code = true,
                                      .controller = spring,
                                      .output = 0.01};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    double zero = 0;
    place(sim, 0, &zero, &zero);
    psdm_sim_result result = go_on(sim, 30, &rec);
    int slips = 0;
    double first = -1, highest = 0;
    bool slipping = false;
    for (long i = 0; i < rec.rows; i++) {
      const kept_row *row = &rec.row[i];
      highest = fmax(highest, row->tau[0]);
      if (!slipping && row->qd[0] > 0.05) {
        slips++, slipping = true;
        if (first < 0) first = row->t;
      }
      if (slipping && fabs(row->qd[0]) < 1e-3) slipping = false;
    }
    print_message("%s: %d slips, the first at %.2f s, spring up to %.3f N, balance %.2g\n",
                  psdm_integrator_name(integrator), slips, first, highest, result.energy_balance);
    assert_in_range(slips, 3, 8);
    assert_true(fabs(first - 7.5) < 0.5); /* 2 N/m * 0.1 m/s * 7.5 s = Fs */
    assert_true(highest > 1.45 && highest < 1.55);
    assert_true(result.energy_balance < (k ? 2e-2 : 1e-6));
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_control_free(spring);
  psdm_motion_free(pull);
  psdm_robot_free(robot);
}

/* below break-away it is a spring with memory: there and back encloses an area and returns to the start */
static void test_presliding(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  psdm_robot *robot = slider(1, 0, "");
  joint_of(robot, 0)->friction = (psdm_friction){.given = true,
                                                 .coulomb = 1,
                                                 .stat = 1.5,
                                                 .stribeck = 1e-3,
                                                 .viscous = 0.4,
                                                 .exponent = 1,
                                                 .sigma0 = 1e5,
                                                 .sigma1 = 316};
  const double t[5] = {0, 1, 2, 3, 4}, push[5] = {0, 1.2, -1.2, 1.2, -1.2}, zero = 0;
  psdm_signal *signal;
  psdm_controller *controller;
  assert_int_equal(psdm_signal_table(1, 5, t, push, false, NULL, &signal, NULL), PSDM_OK);
  const psdm_control_options table = {.torque = signal};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, &table, NULL, &controller, NULL), PSDM_OK);
  const psdm_sim_options options = {
      .friction = PSDM_FRICTION_LUGRE, .no_code = true, .controller = controller, .output = 0.5};
  psdm_sim *sim = sim_of(robot, &options);
  record rec = {0};
  place(sim, 0, &zero, &zero);
  psdm_sim_result result = go_on(sim, 3, &rec);
  assert_int_equal(result.integrator, PSDM_INTEGRATOR_BDF);
  double forth = rec.row[3].q[0], back = rec.row[5].q[0]; /* both at zero force, before and after the turn */
  print_message("at zero force: %.3g after a pull, %.3g after a push, farthest %.3g m\n", forth, back, rec.row[2].q[0]);
  assert_true(forth > 1e-7 && back < forth - 1e-7 && rec.row[2].q[0] < 1e-4 && rec.row[2].q[0] > 1.2e-5);
  assert_true(rec.row[6].dissipated > 0 && result.energy_balance < 1e-5);
  record_free(&rec);
  psdm_sim_free(sim);
  psdm_control_free(controller);
  psdm_signal_free(signal);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_integrators_agree), cmocka_unit_test(test_stiff_is_safe),
                                     cmocka_unit_test(test_stick_slip), cmocka_unit_test(test_presliding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
