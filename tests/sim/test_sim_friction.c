/* Dry friction that sticks and slips: closed forms of a block, and properties of every robot. */
#include "sim_support.h"

static const double block = 2; /* kg */

static psdm_controller *torque_table(const psdm_robot *robot, int rows, const double *t, const double *values,
                                     psdm_signal **signal) {
  psdm_controller *controller;
  assert_int_equal(psdm_signal_table(psdm_robot_n(robot), rows, t, values, false, NULL, signal, NULL), PSDM_OK);
  const psdm_control_options options = {.torque = *signal};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, &options, NULL, &controller, NULL), PSDM_OK);
  return controller;
}

/* both find the times of events */
static const psdm_integrator exact[] = {PSDM_INTEGRATOR_ADAMS, PSDM_INTEGRATOR_RK4};

/* ---- a block ---- */

/* from v it comes to rest after m v / F at m v^2 / (2 F), and stays there */
static void test_block_stops(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(block, 0, "");
  set_friction(robot, 0, 3, 3, 0, 0);
  for (int k = 0; k < 3; k++) {
    psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {
        .integrator = integrator, .friction = PSDM_FRICTION_COULOMB, .no_code = true, .output = 0.05};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    double q = 0.1, v = 1.3, end = 0.1 + block * v * v / (2 * 3), when = block * v / 3;
    place(sim, 0, &q, &v);
    psdm_sim_result result = go_on(sim, 2, &rec);
    double tolerance = k < 2 ? 1e-12 : 1e-3 * v; /* Euler: up to a step of its path */
    for (long i = 0; i < rec.rows; i++) {
      const kept_row *row = &rec.row[i];
      double t = fmin(row->t, when), at = q + v * t - 1.5 * t * t / block;
      assert_true(fabs(row->q[0] - at) < tolerance);
      assert_true((row->qd[0] == 0) == (row->t > when - (k < 2 ? 0 : 1e-3)));
      assert_true(row->qd[0] == 0 || fabs(row->friction[0] - 3) < 1e-12);
      assert_true(row->qd[0] != 0 || (row->friction[0] == 0 && row->qdd[0] == 0));
    }
    assert_true(fabs(rec.row[rec.rows - 1].q[0] - end) < tolerance);
    assert_int_equal(result.sticks, 1);
    assert_int_equal(result.reversals, 1);
    assert_true(result.energy_balance < 1e-12);
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* on an incline: m g sin against Fs, sliding with (m g sin - F) / m */
static void test_incline(void **unused) {
  (void)unused;
  for (int k = 0; k < 3; k++)
    for (int slides = 0; slides < 2; slides++) {
      psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
      if (!psdm_integrator_available(integrator)) continue;
      double pull = slides ? 5.0001 : 4.9999, zero = 0;
      psdm_robot *robot = slider(block, pull / block, "");
      set_friction(robot, 0, 3, 5, 1e-9, 0); /* leaves Fs at once */
      const psdm_sim_options options = {.integrator = integrator, .friction = PSDM_FRICTION_STRIBECK, .no_code = true};
      psdm_sim *sim = sim_of(robot, &options);
      place(sim, 0, &zero, &zero);
      psdm_sim_result result = go_on(sim, 1, NULL);
      psdm_sim_row row = now(sim);
      double at = slides ? (pull - 3) / block / 2 : 0;
      assert_true(slides ? fabs(row.q[0] - at) < 2e-3 : row.q[0] == 0 && row.qd[0] == 0 && row.qdd[0] == 0);
      assert_true(fabs(row.friction[0] - (slides ? 3 : pull)) < 1e-9);
      assert_true(result.energy_balance < (k < 2 ? 1e-3 : 2e-3));
      psdm_sim_free(sim);
      psdm_robot_free(robot);
    }
}

/* a pull that grows by k per second breaks away at Fs / k; with Coulomb's friction x = k (t - t_b)^3 / (6 m) from
 * there on */
static void test_ramp(void **unused) {
  (void)unused;
  const double t[2] = {0, 10}, pull[2] = {0, 40}, rise = 4, zero = 0;
  for (int kind = 0; kind < 2; kind++)
    for (int k = 0; k < 2; k++) {
      if (!psdm_integrator_available(exact[k])) continue;
      psdm_robot *robot = slider(block, 0, "");
      set_friction(robot, 0, 3, 5, 0.01, 0);
      psdm_signal *signal;
      psdm_controller *controller = torque_table(robot, 2, t, pull, &signal);
      const psdm_sim_options options = {.integrator = exact[k],
                                        .friction = kind ? PSDM_FRICTION_STRIBECK : PSDM_FRICTION_COULOMB,
                                        .no_code = true,
                                        .controller = controller,
                                        .output = 1e-3};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      place(sim, 0, &zero, &zero);
      psdm_sim_result result = go_on(sim, 2, &rec);
      double leaves = (kind ? 5 : 3) / rise, worst = 0;
      for (long i = 0; i < rec.rows; i++) {
        const kept_row *row = &rec.row[i];
        double since = fmax(0, row->t - leaves);
        if (row->t < leaves)
          assert_true(row->qd[0] == 0 && row->q[0] == 0 && fabs(row->friction[0] - rise * row->t) < 1e-12);
        if (row->t > leaves + 1e-5) assert_true(row->qd[0] > 0);
        if (!kind) worst = fmax(worst, fabs(row->q[0] - rise * since * since * since / (6 * block)));
      }
      assert_true(worst < 1e-9); /* it leaves at 1 + 1e-9 of Fc */
      /* rk4 cannot follow Stribeck's fall in one step */
      assert_true(result.energy_balance < (kind && k ? 1e-6 : 1e-9));
      record_free(&rec);
      psdm_sim_free(sim);
      psdm_control_free(controller);
      psdm_signal_free(signal);
      psdm_robot_free(robot);
    }
}

/* a torque that goes up and down by straight lines: slides from 2/3 s, rests from 1 + (1 + sqrt 2) / 3 s, slides
 * back from 2 + 2/3 s */
static void test_reversing(void **unused) {
  (void)unused;
  const double t[5] = {0, 1, 3, 5, 7}, pull[5] = {0, 3, -3, 3, -3}, zero = 0, leaves = 2. / 3,
               rests = 1 + (1 + sqrt(2)) / 3;
  psdm_robot *robot = slider(1, 0, "");
  set_friction(robot, 0, 2, 2, 0, 0);
  psdm_signal *signal;
  psdm_controller *controller = torque_table(robot, 5, t, pull, &signal);
  for (int k = 0; k < 2; k++) {
    if (!psdm_integrator_available(exact[k])) continue;
    const psdm_sim_options options = {.integrator = exact[k],
                                      .friction = PSDM_FRICTION_COULOMB,
                                      .no_code = true,
                                      .controller = controller,
                                      .output = 1e-3};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, &zero, &zero);
    psdm_sim_result result = go_on(sim, 6.9, &rec);
    for (long i = 0; i < rec.rows; i++) {
      const kept_row *row = &rec.row[i];
      double when = row->t;
      if (when < 2 + leaves - 1e-6 && fabs(when - leaves) > 1e-6)
        assert_true((row->qd[0] > 0) == (when > leaves && when < rests));
      if (when > 2 + leaves + 1e-4 && when < 3) assert_true(row->qd[0] < 0);
      if (row->qd[0] == 0) assert_true(fabs(row->friction[0] - row->tau[0]) < 1e-12);
    }
    assert_true(result.energy_balance < 1e-9 && result.sticks >= 3);
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_control_free(controller);
  psdm_signal_free(signal);
  psdm_robot_free(robot);
}

/* ---- many joints ---- */

/* two blocks side by side come to rest at the same instant, and a chain of two that goes as one */
static void test_same_instant(void **unused) {
  (void)unused;
  static const char *const texts[2] = {"convention: modified-dh\nbase: {rpy: [0, pi/2, 0]}\njoints:\n  - {name: a, "
                                       "type: prismatic}\n  - {name: b, type: prismatic, parent: base}\n"
                                       "links:\n  - {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - "
                                       "{mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n",
                                       "convention: modified-dh\nbase: {rpy: [0, pi/2, 0]}\njoints:\n  - {name: a, "
                                       "type: prismatic}\n  - {name: b, type: prismatic}\n"
                                       "links:\n  - {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - "
                                       "{mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n"};
  for (int c = 0; c < 2; c++)
    for (int k = 0; k < 2; k++) {
      if (!psdm_integrator_available(exact[k])) continue;
      psdm_robot *robot = parse_robot(texts[c]);
      set_friction(robot, 0, c ? 4 : 2, c ? 4 : 2, 0, 0);
      set_friction(robot, 1, 2, 2, 0, 0);
      const psdm_sim_options options = {
          .integrator = exact[k], .friction = PSDM_FRICTION_COULOMB, .no_code = true, .output = 0.1};
      psdm_sim *sim = sim_of(robot, &options);
      /* the chain: b rests on a, whose braking of 2 per kg b's friction just bears */
      double q[2] = {0}, qd[2] = {1, c ? 0 : 1};
      place(sim, 0, q, qd);
      psdm_sim_result result = go_on(sim, 1, NULL);
      psdm_sim_row row = now(sim);
      assert_true(row.qd[0] == 0 && row.qd[1] == 0);
      assert_true(fabs(row.q[0] - 0.25) < 1e-9);
      assert_true(fabs(row.q[1] - (c ? 0 : 0.25)) < 1e-9);
      assert_true(result.energy_balance < 1e-9);
      psdm_sim_free(sim);
      psdm_robot_free(robot);
    }
}

/* at rest under random torques: friction holds the joints it can, and the others move the way they are pulled */
static void test_who_moves(void **unused) {
  (void)unused;
  rng g = rng_start("who moves");
  int moving = 0, held = 0;
  for (int trial = 0; trial < 300; trial++) {
    psdm_robot *robot = random_robot(&g, 1, 7, true);
    int n = psdm_robot_n(robot);
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double q[MOST], zero[MOST] = {0}, tau[MOST], back[MOST], most[MOST], t0 = 0;
    random_state(&g, n, 0, q, zero);
    assert_int_equal(psdm_gravity(robot, work, q, tau), PSDM_OK);
    for (int k = 0; k < robot->joints; k++) {
      int i = robot->joint[k].q;
      if (i < 0) continue;
      most[i] = rng_uniform(&g, 0.1, 10);
      set_friction(robot, k, most[i], most[i], 0, 0);
      tau[i] += rng_uniform(&g, -1.7, 1.7) * most[i];
    }
    psdm_signal *signal;
    psdm_controller *controller = torque_table(robot, 1, &t0, tau, &signal);
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                      .friction = PSDM_FRICTION_COULOMB,
                                      .no_code = true,
                                      .controller = controller};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, q, zero);
    go_on(sim, 0, &rec);
    const kept_row *row = &rec.row[0];
    assert_int_equal(psdm_inverse(robot, work, q, zero, row->qdd, back), PSDM_OK);
    double size = max_absolute(tau, n) + max_absolute(back, n) + 1;
    for (int i = 0; i < n; i++) {
      assert_true(fabs(back[i] + row->friction[i] - tau[i]) < 1e-10 * size); /* M qdd + g + friction = tau */
      assert_true(fabs(row->friction[i]) <= most[i] * (1 + 2e-9) + 1e-12 * size);
      if (row->qdd[i] != 0) assert_true(fabs(row->friction[i] - copysign(most[i], row->qdd[i])) < 1e-12 * most[i]);
      *(row->qdd[i] != 0 ? &moving : &held) += 1;
    }
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_control_free(controller);
    psdm_signal_free(signal);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  print_message("%d joints moved, %d were held\n", moving, held);
  assert_true(moving > 200 && held > 200);
}

static psdm_robot *random_arm(rng *g, int n_max, bool stribeck) {
  static char text[1 << 16];
  const random_options options = {.n_min = 2, .n_max = n_max, .trees = true, .drives = true};
  psdm_robot *robot = parse_robot(random_robot_text(g, &options, text, sizeof text));
  for (int k = 0; k < robot->joints; k++) {
    double coulomb = rng_uniform(g, 0.5, 3);
    set_friction(robot, k, coulomb, stribeck ? coulomb * rng_uniform(g, 1, 1.5) : coulomb, stribeck ? 0.1 : 0,
                 rng_uniform(g, 0.2, 1));
  }
  return robot;
}

/* energy is accounted for, sticking joints do not creep, and in the end all are at rest */
static void test_energy_and_rest(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  rng g = rng_start("energy and rest");
  double worst = 0;
  long sticks = 0, reversals = 0;
  for (int trial = 0; trial < 12; trial++) {
    psdm_robot *robot = random_arm(&g, 5, trial % 2);
    int n = psdm_robot_n(robot);
    double q[MOST], qd[MOST];
    random_state(&g, n, 3, q, qd);
    const psdm_sim_options options = {.friction = trial % 2 ? PSDM_FRICTION_STRIBECK : PSDM_FRICTION_COULOMB,
                                      .no_code = true};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, q, qd);
    bool moves = true;
    for (int part = 0; part < 20 && moves; part++) { /* some swing, and some creep down, for minutes */
      psdm_sim_result result = go_on(sim, 20, &rec);
      worst = fmax(worst, result.energy_balance);
      sticks += result.sticks, reversals += result.reversals;
      moves = max_absolute(rec.row[rec.rows - 100].qd, n) > 0;
    }
    const kept_row *end = &rec.row[rec.rows - 1], *before = &rec.row[rec.rows - 100];
    for (int i = 0; i < n; i++) assert_true(end->qd[i] == 0 && end->qdd[i] == 0 && end->q[i] == before->q[i]);
    assert_true(end->dissipated > 0);
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_robot_free(robot);
  }
  print_message("balance %.2g, %ld sticks, %ld reversals\n", worst, sticks, reversals);
  assert_true(worst < 1e-8 && sticks > 12);
}

/* ---- fixed steps ---- */

static double error_at(const psdm_robot *robot, psdm_integrator integrator, double h, const double *q, const double *qd,
                       double seconds, const double *truth, double *x, double *balance) {
  int n = psdm_robot_n(robot);
  const psdm_sim_options options = {
      .integrator = integrator, .step = h, .friction = PSDM_FRICTION_COULOMB, .no_code = true, .output = 0.1};
  psdm_sim *sim = sim_of(robot, &options);
  place(sim, 0, q, qd);
  psdm_sim_result result = go_on(sim, seconds, NULL);
  *balance = result.energy_balance;
  psdm_sim_row row = now(sim);
  memcpy(x, row.q, sizeof *x * (size_t)n);
  memcpy(x + n, row.qd, sizeof *x * (size_t)n);
  psdm_sim_free(sim);
  return truth ? max_difference(x, truth, 2 * n) : 0;
}

static void test_fixed_steps(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  rng g = rng_start("fixed steps");
  for (int trial = 0; trial < 4; trial++) {
    psdm_robot *robot = random_arm(&g, 4, false);
    int n = psdm_robot_n(robot);
    double q[MOST], qd[MOST], truth[2 * MOST], x[2 * MOST], steps[3], error[2][3], balance[2][3], none;
    random_state(&g, n, 2, q, qd);
    error_at(robot, PSDM_INTEGRATOR_ADAMS, 0, q, qd, 1, NULL, truth, &none);
    for (int k = 0; k < 3; k++) {
      steps[k] = 4e-3 / (1 << k);
      error[0][k] = error_at(robot, PSDM_INTEGRATOR_RK4, 2 * steps[k], q, qd, 1, truth, x, &balance[0][k]);
      error[1][k] = error_at(robot, PSDM_INTEGRATOR_EULER, steps[k] / 16, q, qd, 1, truth, x, &balance[1][k]);
    }
    double rk4 = slope_of(3, steps, error[0]), euler = slope_of(3, steps, error[1]);
    print_message("rk4: errors %.2g %.2g %.2g slope %.2f balance %.2g %.2g %.2g; euler: %.2g %.2g %.2g slope %.2f "
                  "balance %.2g %.2g %.2g\n",
                  error[0][0], error[0][1], error[0][2], rk4, balance[0][0], balance[0][1], balance[0][2], error[1][0],
                  error[1][1], error[1][2], euler, balance[1][0], balance[1][1], balance[1][2]);
    assert_true(rk4 > 3 && balance[0][2] < balance[0][0] / 64 + 1e-13);
    /* an event shifts by a fraction of a step that depends on its time: error / h is bounded, not constant */
    double share[3] = {error[1][0] / steps[0], error[1][1] / steps[1], error[1][2] / steps[2]};
    assert_true(fmax(share[0], fmax(share[1], share[2])) < 4 * fmin(share[0], fmin(share[1], share[2])) &&
                balance[1][2] < balance[1][0]);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_block_stops),     cmocka_unit_test(test_incline),      cmocka_unit_test(test_ramp),
      cmocka_unit_test(test_reversing),       cmocka_unit_test(test_same_instant), cmocka_unit_test(test_who_moves),
      cmocka_unit_test(test_energy_and_rest), cmocka_unit_test(test_fixed_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
