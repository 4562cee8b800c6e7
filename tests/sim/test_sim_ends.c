/* How runs end and resume: divergence, wall time, the caller, singular masses; two runs equal one; refusals. */
#include "sim_support.h"

static const psdm_integrator all[] = {PSDM_INTEGRATOR_ADAMS, PSDM_INTEGRATOR_BDF, PSDM_INTEGRATOR_RK4,
                                      PSDM_INTEGRATOR_EULER};

/* friction that drives: speed grows as e^t, and the run ends where it is too fast, with all earlier rows */
static void test_divergence(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(2, 0, "");
  set_friction(robot, 0, 0, 0, 0, -20);
  for (int k = 0; k < 4; k++) {
    if (!psdm_integrator_available(all[k])) continue;
    const psdm_sim_options options = {
        .integrator = all[k], .friction = PSDM_FRICTION_VISCOUS, .no_code = true, .speed_limit = 1e3};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    double q = 0, v = 1;
    place(sim, 0, &q, &v);
    psdm_sim_result result = go(sim, 10, &rec);
    assert_int_equal(result.end, PSDM_SIM_DIVERGED);
    assert_non_null(strstr(result.text, "slide"));
    assert_true(fabs(result.t - log(1e3) / 10) < 0.03 && result.t < 10); /* seen at a row at the latest */
    assert_true(rec.rows >= 69 && rec.row[rec.rows - 1].t == result.t && rec.row[rec.rows - 1].qd[0] > 1e3);
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* friction of the wrong sign makes it overflow unless it is stopped before */
static void test_divergence_to_the_end(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  for (int i = 0; i < 2; i++) set_friction(robot, i, 0, 0, 0, -400);
  const double zero[2] = {0}, q[2] = {0.1, 0.2};
  for (int k = 0; k < 4; k++) {
    if (!psdm_integrator_available(all[k])) continue;
    const psdm_sim_options options = {.integrator = all[k],
                                      .friction = PSDM_FRICTION_VISCOUS,
                                      .no_code = true,
                                      .speed_limit = 1e300,
                                      .wall_limit = 0.2};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, q, zero);
    psdm_sim_result result = go(sim, 10, &rec);
    print_message("%s: %s\n", psdm_integrator_name(all[k]), result.text);
    bool crawls = k < 2 && result.end == PSDM_SIM_TIMEOUT; /* towards a time that it cannot reach */
    assert_true(crawls || result.end == PSDM_SIM_DIVERGED || result.end == PSDM_SIM_FAILED);
    assert_true(strlen(result.text) > 10 && rec.rows > 0 && result.t < 1);
    for (long r = 0; r < rec.rows; r++) assert_true(isfinite(rec.row[r].q[0]) && isfinite(rec.row[r].qd[1]));
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

static void test_wall_time(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  for (int k = 0; k < 4; k++)
    for (int rare = 0; rare < 2; rare++) {
      if (!psdm_integrator_available(all[k])) continue;
      const psdm_sim_options options = {
          .integrator = all[k], .no_code = true, .wall_limit = 0.03, .output = rare ? 1e6 : 0.01, .step = 1e-4};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      psdm_sim_result result = go(sim, 1e5, &rec);
      assert_int_equal(result.end, PSDM_SIM_TIMEOUT);
      assert_true(result.wall >= 0.03 && result.wall < 3 && result.t > 0);
      assert_true(rec.rows >= 2 && rec.row[rec.rows - 1].t == result.t);
      record_free(&rec);
      psdm_sim_free(sim);
    }
  psdm_robot_free(robot);
}

/* a link without inertia: no forward dynamics, and an error that says so before the run begins */
static void test_singular(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\njoints:\n  - {name: a, a: 1}\n  - {name: b, a: 1}\nlinks:\n"
                                  "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - {mass: 0, com: "
                                  "[0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n");
  for (int k = 0; k < 4; k++) {
    if (!psdm_integrator_available(all[k])) continue;
    const psdm_sim_options options = {.integrator = all[k], .no_code = k % 2};
    psdm_sim *sim;
    psdm_error error;
    assert_int_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_E_SINGULAR);
    assert_null(sim);
    assert_non_null(strstr(error.text, "joint 'b' moves nothing that has inertia"));
  }
  psdm_robot_free(robot);
}

/* a load gives the joint inertia or takes it away: trouble later in the run is reported before it begins */
static void test_singular_without_load(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\njoints:\n  - {name: a, a: 1}\n  - {name: b, a: 1}\nlinks:\n"
                                  "  - {mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - {mass: 0, com: "
                                  "[0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}\n");
  const struct {
    double first, second, from, until;
    const char *words; /* NULL: accepted */
  } runs[] = {{0, 9, 0, 1, NULL},        {0.5, 9, 0, 1, "before the first payload"},
              {0.5, 9, 0.5, 1, NULL},    {0, 0.5, 0, 0.4, NULL},
              {0, 0.5, 0, 1, "t = 0.5"}, {-1, 0.5, 0.6, 1, "t = 0.5"}};
  for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
    /* a body, and then nothing again */
    psdm_sim_payload loads[2] = {{.t = runs[k].first, .pi = {1, 0.1, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1}},
                                 {.t = runs[k].second}};
    const psdm_sim_options options = {
        .payloads = 2, .payload = loads, .integrator = PSDM_INTEGRATOR_RK4, .step = 0.01, .no_code = k % 2};
    const double zero[2] = {0};
    psdm_sim *sim;
    psdm_error error;
    psdm_sim_result result;
    assert_int_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_OK);
    assert_int_equal(psdm_sim_set(sim, runs[k].from, zero, zero, &error), PSDM_OK);
    psdm_status status = psdm_sim_run(sim, runs[k].until - runs[k].from, NULL, NULL, &result, &error);
    assert_int_equal(status, runs[k].words ? PSDM_E_SINGULAR : PSDM_OK);
    if (runs[k].words) assert_non_null(strstr(error.text, "joint 'b' moves nothing that has inertia"));
    if (runs[k].words) assert_non_null(strstr(error.text, runs[k].words));
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* ---- resuming ---- */

/* one run or several, stopped in between or not: the same rows; with samples, noise, an encoder, a load and friction */
static void test_runs_are_one(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  for (int i = 0; i < 2; i++) set_friction(robot, i, 0.5, 0.8, 0.1, 0.2);
  psdm_sim_payload loads[2] = {{.t = 0.2, .pi = {1, 0.1, 0, 0, 0.1, 0, 0, 0.1, 0, 0.1}}, {.t = 0.6}};
  psdm_controller *pd;
  assert_int_equal(psdm_control_new(PSDM_CONTROL_PD_GRAVITY, robot, NULL, NULL, NULL, &pd, NULL), PSDM_OK);
  double q[2] = {0.5, -0.3}, zero[2] = {0};
  for (int k = 0; k < 4; k++) {
    if (!psdm_integrator_available(all[k])) continue;
    const psdm_sim_options options = {.integrator = all[k],
                                      .no_code = true,
                                      .controller = pd,
                                      .period = 0.03,
                                      .quantum = 1e-4,
                                      .noise = 0.1,
                                      .payloads = 2,
                                      .payload = loads,
                                      .friction = PSDM_FRICTION_STRIBECK};
    psdm_sim *sim = sim_of(robot, &options);
    record whole = {0}, parts = {0};
    place(sim, 0, q, zero);
    psdm_sim_result one = go_on(sim, 1, &whole);
    assert_int_equal(whole.rows, 101);
    place(sim, 0, q, zero);
    double worst = go_on(sim, 0.25, &parts).energy_balance;
    parts.stop_after = 50;
    psdm_sim_result stopped = go(sim, 0.75, &parts);
    assert_int_equal(stopped.end, PSDM_SIM_STOPPED);
    assert_int_equal(parts.rows, 50);
    assert_true(stopped.t == parts.row[49].t);
    parts.stop_after = 0;
    worst = fmax(worst, fmax(stopped.energy_balance, go_on(sim, 1 - stopped.t, &parts).energy_balance));
    assert_int_equal(parts.rows, 103); /* rows where runs meet are written by both */
    double off = 0, tolerance = k == 0 ? 1e-10 : k == 1 ? 1e-6 : 1e-12;
    for (long r = 0, p = 0; r < whole.rows; r++, p++) {
      if (p + 1 < parts.rows && fabs(parts.row[p + 1].t - whole.row[r].t) < 1e-9) p++;
      assert_true(fabs(parts.row[p].t - whole.row[r].t) < 1e-12);
      off = fmax(off, max_difference(whole.row[r].q, parts.row[p].q, 2));
      off = fmax(off, fabs(whole.row[r].dissipated - parts.row[p].dissipated));
      off = fmax(off, max_difference(whole.row[r].tau, parts.row[p].tau, 2) / 100);
    }
    print_message("%s: one run and three: %.2g; balance %.2g and %.2g\n", psdm_integrator_name(all[k]), off,
                  one.energy_balance, worst);
    assert_true(off < tolerance && worst < fmax(3 * one.energy_balance, 1e-9) * 10);
    record_free(&whole);
    record_free(&parts);
    psdm_sim_free(sim);
  }
  psdm_control_free(pd);
  psdm_robot_free(robot);
}

/* a run of no time is allowed, and time may begin anywhere */
static void test_no_time(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link");
  for (int k = 0; k < 4; k++) {
    if (!psdm_integrator_available(all[k])) continue;
    const psdm_sim_options options = {.integrator = all[k], .no_code = true, .output = 0.1};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    double q[2] = {0.1, 0.2}, zero[2] = {0};
    place(sim, -1e4, q, zero);
    assert_true(go_on(sim, 0, &rec).t == -1e4);
    assert_int_equal(rec.rows, 1);
    assert_true(go_on(sim, 0.3, &rec).t == -1e4 + 0.3);
    assert_int_equal(rec.rows, 5);
    psdm_sim_result result;
    psdm_error error;
    assert_int_equal(psdm_sim_run(sim, -1, NULL, NULL, &result, &error), PSDM_E_ARGUMENT);
    assert_int_equal(psdm_sim_run(sim, NAN, NULL, NULL, &result, &error), PSDM_E_ARGUMENT);
    q[0] = NAN;
    assert_int_equal(psdm_sim_set(sim, 0, q, zero, &error), PSDM_E_ARGUMENT);
    assert_int_equal(psdm_sim_set_motors(sim, q, NULL), PSDM_E_ARGUMENT);
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link"), *other = load_shipped("kuka_kr6");
  psdm_controller *six;
  psdm_signal *narrow;
  double t = 0, value = 1;
  assert_int_equal(psdm_control_new(PSDM_CONTROL_PD, other, NULL, NULL, NULL, &six, NULL), PSDM_OK);
  assert_int_equal(psdm_signal_table(1, 1, &t, &value, true, NULL, &narrow, NULL), PSDM_OK);
  const psdm_sim_payload late[2] = {{.t = 1}, {.t = 0.5}}, broken = {.t = 1, .pi = {NAN}};
  const struct {
    psdm_sim_options options;
    const char *says;
  } cases[] = {{{.integrator = (psdm_integrator)99}, "range"},
               {{.friction = (psdm_friction_kind)-1}, "range"},
               {{.at_limit = (psdm_at_limit)99}, "range"},
               {{.step = -1}, "negative"},
               {{.output = NAN}, "negative"},
               {{.tolerance = 0.5}, "tolerance"},
               {{.restitution = 1.5}, "restitution"},
               {{.quantum = 1e-3}, "period"},
               {{.noise = 0.1}, "period"},
               {{.controller = six}, "number of joints"},
               {{.wrench = narrow}, "six columns"},
               {{.wrench_link = "hand"}, "no link or joint has the name 'hand'"},
               {{.payloads = 2, .payload = late}, "in time"},
               {{.payloads = 1, .payload = &broken}, "finite"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_sim *sim;
    psdm_error error;
    psdm_sim_options options = cases[k].options;
    options.no_code = true;
    assert_int_equal(psdm_sim_new(robot, &options, NULL, &sim, &error), PSDM_E_ARGUMENT);
    assert_null(sim);
    if (!strstr(error.text, cases[k].says)) fail_msg("'%s' does not contain '%s'", error.text, cases[k].says);
  }
  psdm_sim *sim;
  psdm_error error;
  joint_of(robot, 1)->friction = (psdm_friction){.given = true, .coulomb = -1};
  const psdm_sim_options rough = {.friction = PSDM_FRICTION_COULOMB, .no_code = true};
  assert_int_equal(psdm_sim_new(robot, &rough, NULL, &sim, &error), PSDM_E_MISSING);
  assert_non_null(strstr(error.text, "elbow"));
  psdm_robot *unknown = load_shipped("denso_vs6556g");
  assert_int_equal(psdm_sim_new(unknown, NULL, NULL, &sim, &error), PSDM_E_MISSING);
  psdm_robot_free(unknown);
  psdm_control_free(six);
  psdm_signal_free(narrow);
  psdm_robot_free(other);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_divergence),
                                     cmocka_unit_test(test_divergence_to_the_end),
                                     cmocka_unit_test(test_wall_time),
                                     cmocka_unit_test(test_singular),
                                     cmocka_unit_test(test_singular_without_load),
                                     cmocka_unit_test(test_runs_are_one),
                                     cmocka_unit_test(test_no_time),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
