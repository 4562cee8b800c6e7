/* Controllers in the loop: samples that are held, encoders, noise, saturation, and a reference motion. */
#include "sim_support.h"

static psdm_controller *controller_of(psdm_control_kind kind, const psdm_robot *robot, const psdm_motion *reference,
                                      const psdm_control_options *options) {
  psdm_controller *controller;
  psdm_error error;
  if (psdm_control_new(kind, robot, reference, options, NULL, &controller, &error)) fail_msg("%s", error.text);
  return controller;
}

static psdm_motion *waves(int n) {
  double centre[MOST], amplitude[MOST], frequency[MOST], phase[MOST];
  psdm_motion *motion;
  for (int i = 0; i < n; i++) centre[i] = 0.1 * i - 0.3, amplitude[i] = 0.3, frequency[i] = 2 + 0.3 * i, phase[i] = i;
  assert_int_equal(psdm_motion_sines(n, 1, centre, amplitude, frequency, phase, 10, NULL, &motion, NULL), PSDM_OK);
  return motion;
}

/* torque is constant within a period, changes at its multiples, and is the law's for positions in whole encoder
 * steps */
static void test_samples(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  const double kp[2] = {200, 100}, kd[2] = {20, 8}, period = 0.01, quantum = 1e-3, zero[2] = {0};
  const psdm_control_options gains = {.kp = kp, .kd = kd};
  psdm_motion *motion = waves(2);
  psdm_controller *pd = controller_of(PSDM_CONTROL_PD, robot, motion, &gains);
  for (int k = 0; k < 3; k++) {
    psdm_integrator integrator = k == 0 ? PSDM_INTEGRATOR_ADAMS : k == 1 ? PSDM_INTEGRATOR_RK4 : PSDM_INTEGRATOR_EULER;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {.integrator = integrator,
                                      .no_code = true,
                                      .controller = pd,
                                      .period = period,
                                      .quantum = quantum,
                                      .output = 1e-3};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, zero, zero);
    psdm_sim_result result = go_on(sim, 0.5, &rec);
    double before[2] = {0}, expected[2] = {0};
    int jumps = 0;
    assert_int_equal(rec.rows, 501);
    for (long r = 0; r < rec.rows; r++) {
      const kept_row *row = &rec.row[r];
      double x[4];
      psdm_motion_at(motion, row->t, 2, x);
      for (int i = 0; i < 2 && r % 10 == 0; i++) {
        double seen = quantum * round(row->q[i] / quantum), rate = r ? (seen - before[i]) / period : 0,
               tau = kp[i] * (x[i] - seen) + kd[i] * (x[2 + i] - rate);
        jumps += tau != expected[i];
        expected[i] = tau;
        before[i] = seen;
      }
      /* the same to the last digit but for the sum's order */
      assert_true(max_difference(row->tau, expected, 2) < 1e-9);
    }
    assert_true(jumps > 60);
    assert_true(result.energy_balance < (k == 0 ? 1e-9 : k == 1 ? 1e-9 : 0.1));
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_control_free(pd);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* an elastic joint has two encoders: pd reads the link's, elastic-pd the motor's */
static void test_encoder_on_motor(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(2, 0, ", drive_inertia: 0.5, stiffness: 50");
  const double kp = 30, kd = 2, quantum = 1e-2, period = 0.01, start = 0.4, zero = 0;
  const psdm_control_options gains = {.kp = &kp, .kd = &kd};
  for (int motor = 0; motor < 2; motor++) {
    psdm_controller *pd = controller_of(motor ? PSDM_CONTROL_ELASTIC : PSDM_CONTROL_PD, robot, NULL, &gains);
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                      .no_code = true,
                                      .elastic = true,
                                      .controller = pd,
                                      .period = period,
                                      .quantum = quantum,
                                      .output = period};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    double apart = 0, before = 0;
    place(sim, 0, &start, &zero);
    go_on(sim, 1, &rec);
    for (long r = 0; r < rec.rows; r++) {
      const kept_row *row = &rec.row[r];
      double seen = quantum * round((motor ? row->theta[0] : row->q[0]) / quantum),
             rate = motor ? r ? (seen - before) / period : 0 : row->qd[0];
      assert_true(fabs(row->tau[0] + kp * seen + kd * rate) < 1e-9);
      apart = fmax(apart, fabs(row->q[0] - row->theta[0]));
      before = seen;
    }
    assert_true(apart > 5 * quantum);
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_control_free(pd);
  }
  psdm_robot_free(robot);
}

/* noise has the given deviation, zero mean, no correlation, and depends on the seed */
static void test_noise(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  joint_of(robot, 0)->limits.effort = 20; /* the other has none: 1 Nm */
  psdm_controller *none = controller_of(PSDM_CONTROL_NONE, robot, NULL, NULL);
  double zero[2] = {0};
  record rec[3] = {{0}};
  enum { SAMPLES = 4000 };
  for (int k = 0; k < 3; k++) {
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_EULER,
                                      .no_code = true,
                                      .controller = none,
                                      .period = 1e-3,
                                      .noise = 0.05,
                                      .output = 1e-3,
                                      .seed = k < 2 ? 7 : 8};
    psdm_sim *sim = sim_of(robot, &options);
    place(sim, 0, zero, zero);
    go_on(sim, SAMPLES * 1e-3, &rec[k]);
    psdm_sim_free(sim);
  }
  for (int i = 0; i < 2; i++) {
    double mean = 0, square = 0, next = 0, cross = 0, sd = i ? 0.05 : 1, fourth = 0;
    for (int r = 0; r < SAMPLES; r++) {
      double x = rec[0].row[r].tau[i] / sd;
      mean += x, square += x * x, next += x * rec[0].row[r + 1].tau[i] / sd, cross += x * rec[0].row[r].tau[1 - i],
          fourth += x * x * x * x;
      assert_true(rec[0].row[r].tau[i] == rec[1].row[r].tau[i] && rec[0].row[r].tau[i] != rec[2].row[r].tau[i]);
    }
    double root = sqrt(SAMPLES);
    print_message("mean %.3f, deviation %.4f, fourth moment %.3f, next %.3f\n", mean / SAMPLES, sqrt(square / SAMPLES),
                  fourth / SAMPLES, next / SAMPLES);
    assert_true(fabs(mean / SAMPLES) < 4 / root && fabs(square / SAMPLES - 1) < 4 * sqrt(2) / root); /* four sigmas */
    assert_true(fabs(next / SAMPLES) < 4 / root && fabs(cross / SAMPLES) < 4 / root &&
                fabs(fourth / SAMPLES - 3) < 4 * sqrt(96) / root);
  }
  for (int k = 0; k < 3; k++) record_free(&rec[k]);
  psdm_control_free(none);
  psdm_robot_free(robot);
}

static void test_saturation(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  for (int i = 0; i < 2; i++) joint_of(robot, i)->limits.effort = 10;
  psdm_controller *pd = controller_of(PSDM_CONTROL_PD, robot, NULL, NULL);
  double q[2] = {1, -1}, zero[2] = {0};
  for (int saturate = 0; saturate < 2; saturate++)
    for (int sampled = 0; sampled < 2; sampled++) {
      const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                        .no_code = true,
                                        .controller = pd,
                                        .saturate = saturate,
                                        .period = sampled ? 2e-3 : 0};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      double most = 0;
      place(sim, 0, q, zero);
      psdm_sim_result result = go_on(sim, 0.3, &rec);
      for (long r = 0; r < rec.rows; r++) most = fmax(most, max_absolute(rec.row[r].tau, 2));
      assert_true(saturate ? most == 10 : most > 20);
      assert_true(result.energy_balance < 1e-5); /* rk4 over the corners of saturation */
      record_free(&rec);
      psdm_sim_free(sim);
    }
  psdm_control_free(pd);
  psdm_robot_free(robot);
}

/* computed torque with the true model: a motion that starts on the reference stays there, an error decays as (1 + w t)
 * e^-wt */
static void test_tracking(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_motion *motion = waves(6);
  psdm_controller *computed = controller_of(PSDM_CONTROL_COMPUTED, robot, motion, NULL);
  const psdm_sim_options options = {.no_code = true, .controller = computed};
  psdm_sim *sim = sim_of(robot, &options);
  record rec = {0};
  double x[12], worst[2] = {0};
  for (int off = 0; off < 2; off++) {
    psdm_motion_at(motion, 0, 2, x);
    for (int i = 0; i < 6; i++) x[i] += off ? 0.1 : 0;
    place(sim, 0, x, x + 6);
    psdm_sim_result result = go_on(sim, 1, &rec);
    assert_true(result.energy_balance < 1e-9);
    for (long r = 0; r < rec.rows; r++) {
      double want[12], w = 20 * rec.row[r].t, left = off ? 0.1 * (1 + w) * exp(-w) : 0;
      psdm_motion_at(motion, rec.row[r].t, 2, want);
      for (int i = 0; i < 6; i++) worst[off] = fmax(worst[off], fabs(rec.row[r].q[i] - want[i] - left));
    }
    record_free(&rec);
  }
  print_message("on the reference %.2g, decay %.2g\n", worst[0], worst[1]);
  assert_true(worst[0] < 1e-10 && worst[1] < 1e-10);
  psdm_sim_free(sim);
  psdm_control_free(computed);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* a controller's own states: sampled faster and faster they become the continuous ones */
static void test_controller_states(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  psdm_motion *motion = waves(2);
  double wrong[64], *theta = wrong, truth[64], errors[3], periods[3], x[4];
  psdm_controller *probe = controller_of(PSDM_CONTROL_ADAPTIVE, robot, motion, NULL);
  int states = psdm_control_states(probe);
  assert_in_range(states, 1, 64);
  psdm_control_start(probe, wrong);
  for (int i = 0; i < states; i++) wrong[i] *= 1.2;
  psdm_control_free(probe);
  const psdm_control_options start = {.theta = theta};
  psdm_motion_at(motion, 0, 2, x);
  for (int k = 0; k < 4; k++) {
    psdm_controller *adaptive = controller_of(PSDM_CONTROL_ADAPTIVE, robot, motion, &start);
    double period = k ? 4e-3 / (1 << k) : 0;
    const psdm_sim_options options = {
        .integrator = PSDM_INTEGRATOR_RK4, .no_code = true, .controller = adaptive, .period = period, .step = 5e-4};
    psdm_sim *sim = sim_of(robot, &options);
    place(sim, 0, x, x + 2);
    psdm_sim_row row = now(sim);
    assert_int_equal(row.control_states, states);
    assert_memory_equal(row.control, wrong, sizeof *wrong * (size_t)states);
    go_on(sim, 1, NULL);
    row = now(sim);
    if (!k) {
      memcpy(truth, row.control, sizeof *truth * (size_t)states);
      assert_true(max_difference(truth, wrong, states) > 1e-3);
    } else {
      periods[k - 1] = period, errors[k - 1] = max_difference(row.control, truth, states);
    }
    psdm_sim_free(sim);
    psdm_control_free(adaptive);
  }
  double slope = slope_of(3, periods, errors);
  print_message("sampled states off by %.2g %.2g %.2g, slope %.2f\n", errors[0], errors[1], errors[2], slope);
  assert_true(fabs(slope - 1) < 0.2);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples),  cmocka_unit_test(test_encoder_on_motor),
                                     cmocka_unit_test(test_noise),    cmocka_unit_test(test_saturation),
                                     cmocka_unit_test(test_tracking), cmocka_unit_test(test_controller_states)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
