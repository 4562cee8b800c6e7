/* Limits of position: a bouncing ball in closed form, stops that hold and release, runs that end there, and impulses on
 * every robot. */
#include "sim_support.h"

/* both find the times of events */
static const psdm_integrator exact[] = {PSDM_INTEGRATOR_ADAMS, PSDM_INTEGRATOR_RK4};
static const double g0 = 9.81;

/* ---- a ball ---- */

/* the k-th flight begins at t_k = t_1 (1 + 2 (e + .. + e^k)) with speed e^k v_1; after all of them it rests */
static double ball(double height, double e, double t) {
  double first = sqrt(2 * height / g0), speed = g0 * first;
  if (t < first) return height - g0 / 2 * t * t;
  for (t -= first, speed *= e; speed > 1e-4; speed *= e) {
    double flight = 2 * speed / g0;
    if (t < flight) return speed * t - g0 / 2 * t * t;
    t -= flight;
  }
  return 0;
}

static void test_ball(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(0.7, -g0, ", limits: {lower: 0, upper: 10}");
  for (int k = 0; k < 3; k++) {
    psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {.integrator = integrator,
                                      .at_limit = PSDM_AT_LIMIT_BOUNCE,
                                      .restitution = 0.7,
                                      .no_code = true,
                                      .output = 0.013};
    psdm_sim *sim = sim_of(robot, &options);
    double q = 1, v = 0, worst = 0;
    record rec = {0};
    place(sim, 0, &q, &v);
    psdm_sim_result result = go_on(sim, 4, &rec);
    for (long i = 0; i < rec.rows; i++) {
      worst = fmax(worst, fabs(rec.row[i].q[0] - ball(1, 0.7, rec.row[i].t)));
      assert_true(rec.row[i].q[0] >= -1e-12);
    }
    const kept_row *end = &rec.row[rec.rows - 1];
    print_message("%s: %ld bounces, off by %.2g, balance %.2g\n", psdm_integrator_name(integrator), result.limits,
                  worst, result.energy_balance);
    assert_true(end->q[0] == 0 && end->qd[0] == 0 && end->qdd[0] == 0);
    if (k == 2) assert_true(worst < 0.05 && result.limits > 5 && fabs(end->dissipated - 0.7 * g0) < 0.05);
    if (k < 2) {
      assert_true(worst < 1e-9 && fabs(end->dissipated - 0.7 * g0) < 1e-9 && result.energy_balance < 1e-11);
      assert_in_range(result.limits, 29, 32); /* 4.4 * 0.7^k falls below 1e-4 m/s at the 30th */
    }
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* pushed into its stop it rests there; when the push reverses it leaves at once */
static void test_stop_holds(void **unused) {
  (void)unused;
  const double t[2] = {0, 2}, push[2] = {4, -4};
  psdm_robot *robot = slider(2, 0, ", limits: {lower: -1, upper: 0.5}");
  psdm_signal *signal;
  psdm_controller *controller;
  assert_int_equal(psdm_signal_table(1, 2, t, push, false, NULL, &signal, NULL), PSDM_OK);
  const psdm_control_options pushing = {.torque = signal};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_TORQUE, robot, NULL, &pushing, NULL, &controller, NULL), PSDM_OK);
  for (int k = 0; k < 3; k++)
    for (int friction = 0; friction < 2; friction++) {
      psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
      if (!psdm_integrator_available(integrator)) continue;
      set_friction(robot, 0, friction ? 1 : 0, friction ? 1 : 0, 0, 0);
      const psdm_sim_options options = {.integrator = integrator,
                                        .at_limit = PSDM_AT_LIMIT_STOP,
                                        .no_code = true,
                                        .controller = controller,
                                        .friction = PSDM_FRICTION_COULOMB};
      psdm_sim *sim = sim_of(robot, &options);
      double q = 0, v = 0.3, leaves = friction ? 1.25 : 1; /* push = 4 - 4 t; with friction it takes 1 N more */
      record rec = {0};
      place(sim, 0, &q, &v);
      psdm_sim_result result = go_on(sim, 1.8, &rec);
      for (long i = 0; i < rec.rows; i++) {
        const kept_row *row = &rec.row[i];
        double since = fmax(0, row->t - leaves);
        if (row->t > 0.9 && row->t < leaves - 1e-3)
          assert_true(row->q[0] == 0.5 && row->qd[0] == 0 && row->qdd[0] == 0);
        if (row->t > leaves)
          assert_true(fabs(row->q[0] - (0.5 - 4 * since * since * since / 12)) < (k < 2 ? 1e-8 : 2e-3));
      }
      assert_int_equal(result.limits, 1);
      assert_true(result.energy_balance < (k < 2 ? 1e-10 : 2e-3));
      record_free(&rec);
      psdm_sim_free(sim);
    }
  psdm_control_free(controller);
  psdm_signal_free(signal);
  psdm_robot_free(robot);
}

/* the run ends at the limit, and names the joint */
static void test_end(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(2, 1, ", limits: {lower: -1, upper: 0.5}");
  for (int k = 0; k < 3; k++) {
    psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {.integrator = integrator, .at_limit = PSDM_AT_LIMIT_END, .no_code = true};
    psdm_sim *sim = sim_of(robot, &options);
    double q = 0, v = -0.3, when = 0.3 + sqrt(0.09 + 1);
    record rec = {0};
    place(sim, 0, &q, &v);
    psdm_sim_result result = go(sim, 5, &rec);
    assert_int_equal(result.end, PSDM_SIM_LIMIT);
    assert_non_null(strstr(result.text, "slide"));
    assert_true(fabs(result.t - when) < (k < 2 ? 1e-9 : 1.1e-3));
    assert_true(rec.row[rec.rows - 1].t == result.t && fabs(rec.row[rec.rows - 1].q[0] - 0.5) < (k < 2 ? 1e-9 : 2e-3));
    record_free(&rec);
    /* from the limit outwards the run ends at once, inwards it goes on */
    v = 0, q = 0.5;
    place(sim, 0, &q, &v);
    assert_int_equal(go(sim, 1, NULL).end, PSDM_SIM_LIMIT);
    assert_true(now(sim).t == 0);
    q = -1;
    place(sim, 0, &q, &v);
    assert_int_equal(go(sim, 1, NULL).end, PSDM_SIM_TIME);
    q = -1.1;
    psdm_error error;
    assert_int_equal(psdm_sim_set(sim, 0, &q, &v, &error), PSDM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "slide"));
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* ---- impulses ---- */

/* joints that start at their limits and run into them: only they get impulses, stops only push, and the lost energy is
 * counted */
static void test_impulses(void **unused) {
  (void)unused;
  rng g = rng_start("impulses");
  int struck = 0, rested = 0;
  for (int trial = 0; trial < 200; trial++) {
    psdm_robot *robot = random_robot(&g, 1, 7, true);
    int n = psdm_robot_n(robot), side[MOST] = {0};
    bool bounce = trial % 2, several = trial % 4 >= 2;
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double q[MOST], qd[MOST], M[MOST * MOST], momentum[MOST], before, after, potential;
    random_state(&g, n, 2, q, qd);
    for (int k = 0; k < robot->joints; k++) {
      int i = robot->joint[k].q;
      if (i < 0 || (!several && i != trial % n) || (several && rng_int(&g, 0, 2) == 0)) continue;
      side[i] = rng_int(&g, 0, 1) ? 1 : -1;
      *(side[i] > 0 ? &robot->joint[k].limits.upper : &robot->joint[k].limits.lower) = q[i];
      if (several && rng_int(&g, 0, 2) == 0) qd[i] = 0; /* it rests there */
    }
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                      .at_limit = bounce ? PSDM_AT_LIMIT_BOUNCE : PSDM_AT_LIMIT_STOP,
                                      .restitution = 0.6,
                                      .no_code = true};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, q, qd);
    psdm_sim_result result = go_on(sim, 0, &rec);
    const kept_row *row = &rec.row[0];
    assert_int_equal(psdm_energy(robot, work, q, qd, &before, &potential), PSDM_OK);
    assert_int_equal(psdm_energy(robot, work, q, row->qd, &after, &potential), PSDM_OK);
    assert_true(fabs(row->dissipated - (before - after)) < 1e-12 * (1 + before));
    assert_true(after <= before * (1 + 1e-12));
    assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
    double size = max_absolute(M, n * n) * (max_absolute(qd, n) + max_absolute(row->qd, n));
    for (int i = 0; i < n; i++) {
      momentum[i] = 0;
      for (int k = 0; k < n; k++) momentum[i] += M[i * n + k] * (row->qd[k] - qd[k]);
      if (!side[i]) assert_true(fabs(momentum[i]) < 1e-12 * size);
      if (side[i]) {
        assert_true(side[i] * momentum[i] <= 1e-12 * size); /* stops push */
        assert_true(side[i] * row->qd[i] <= 0);             /* and no joint moves into them */
        rested += row->qd[i] == 0;
        struck += fabs(momentum[i]) > 1e-9 * size;
      }
      if (side[i] && !several && side[i] * qd[i] > 0)
        assert_true(fabs(row->qd[i] + (bounce ? 0.6 * qd[i] : 0)) < 1e-13);
      if (side[i] && !several && side[i] * qd[i] <= 0) assert_true(row->qd[i] == qd[i]);
    }
    assert_true(several || result.limits == (side[trial % n] * qd[trial % n] > 0));
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  print_message("%d joints struck, %d came to rest\n", struck, rested);
  assert_true(struck > 100 && rested > 50);
}

/* robots that tumble between their stops, some with friction, one integrator against the balance of energy */
static void test_tumbling(void **unused) {
  (void)unused;
  rng g = rng_start("tumbling");
  double worst[3] = {0};
  long limits = 0;
  for (int trial = 0; trial < 8; trial++) {
    psdm_robot *robot = random_robot(&g, 2, 4, true);
    int n = psdm_robot_n(robot);
    double q[MOST], qd[MOST], low[MOST], high[MOST];
    random_state(&g, n, 2, q, qd);
    for (int k = 0; k < robot->joints; k++) {
      int i = robot->joint[k].q;
      if (i < 0) continue;
      low[i] = robot->joint[k].limits.lower = q[i] - rng_uniform(&g, 0, 0.5);
      high[i] = robot->joint[k].limits.upper = q[i] + rng_uniform(&g, 0, 0.5);
      if (trial % 2) set_friction(robot, k, rng_uniform(&g, 0.1, 1), 0, 0, 0.1);
    }
    for (int k = 0; k < 3; k++) {
      psdm_integrator integrator = k < 2 ? exact[k] : PSDM_INTEGRATOR_EULER;
      if (!psdm_integrator_available(integrator)) continue;
      const psdm_sim_options options = {.integrator = integrator,
                                        .at_limit = trial % 4 < 2 ? PSDM_AT_LIMIT_BOUNCE : PSDM_AT_LIMIT_STOP,
                                        .no_code = true,
                                        .friction = trial % 2 ? PSDM_FRICTION_COULOMB : PSDM_FRICTION_NONE};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      place(sim, 0, q, qd);
      psdm_sim_result result = go_on(sim, 2, &rec);
      for (long r = 0; r < rec.rows; r++)
        for (int i = 0; i < n; i++)
          assert_true(rec.row[r].q[i] >= low[i] - 1e-12 && rec.row[r].q[i] <= high[i] + 1e-12);
      worst[k] = fmax(worst[k], result.energy_balance);
      limits += result.limits;
      record_free(&rec);
      psdm_sim_free(sim);
    }
    psdm_robot_free(robot);
  }
  print_message("balance: adams %.2g, rk4 %.2g, euler %.2g; %ld blows\n", worst[0], worst[1], worst[2], limits);
  assert_true(worst[0] < 1e-8 && worst[1] < 1e-6 && worst[2] < 0.1 && limits > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ball), cmocka_unit_test(test_stop_holds),
                                     cmocka_unit_test(test_end), cmocka_unit_test(test_impulses),
                                     cmocka_unit_test(test_tumbling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
