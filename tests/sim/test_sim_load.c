/* External loads: payloads picked up and dropped at a time, external wrenches. */
#include "sim_support.h"

/* ---- payloads ---- */

/* xx xy xz yy yz zz */
static const double load_mass = 2.5, load_com[3] = {0.1, -0.05, 0.2},
                    load_inertia[6] = {0.03, 0.002, -0.001, 0.025, 0.003, 0.02};

/* Steiner's theorem, by hand */
static void standard_load(double pi[10]) {
  const double *c = load_com, m = load_mass, square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  pi[0] = m;
  for (int i = 0; i < 3; i++) pi[1 + i] = m * c[i];
  for (int i = 0, k = 4; i < 3; i++)
    for (int j = i; j < 3; j++, k++) pi[k] = load_inertia[k - 4] + m * ((i == j ? square : 0) - c[i] * c[j]);
}

/* an arm, whose last link is fixed to the moving one before it, with or without the load as its tool */
static psdm_robot *arm(bool fixed, bool loaded) {
  char text[2000], tool[300] = "";
  if (loaded)
    snprintf(tool, sizeof tool,
             "tool: {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: %.17g, xy: %.17g, xz: %.17g, yy: %.17g, "
             "yz: %.17g, zz: %.17g}}\n",
             load_mass, load_com[0], load_com[1], load_com[2], load_inertia[0], load_inertia[1], load_inertia[2],
             load_inertia[3], load_inertia[4], load_inertia[5]);
  snprintf(text, sizeof text,
           "gravity: [1, 2, -9]\nconvention: dh\njoints:\n  - {name: a, d: 0.3, a: 0.1, alpha: pi/2, drive_inertia: "
           "0.3}\n  - {name: b, a: 0.5, alpha: 0.3}\n"
           "  - {name: c, type: prismatic, d: 0.2, alpha: -1}\n%slinks:\n  - {mass: 4, com: [0, 0.1, 0], inertia: {xx: "
           "0.1, yy: 0.1, zz: 0.1}}\n"
           "  - {mass: 3, com: [-0.2, 0, 0.1], inertia: {xx: 0.02, yy: 0.1, zz: 0.1}}\n  - {mass: 2, com: [0, 0, "
           "-0.1], inertia: {xx: 0.02, yy: 0.02, zz: 0.01}}\n%s%s",
           fixed ? "  - {name: flange, type: fixed, theta: 0.7, d: 0.1, a: 0.2, alpha: 0.4}\n" : "",
           fixed ? "  - {mass: 0.5, com: [0.01, 0, 0], inertia: {xx: 0.01, yy: 0.01, zz: 0.01}}\n" : "", tool);
  return parse_robot(text);
}

static void check_payload(bool fixed, psdm_integrator integrator, bool no_code) {
  psdm_robot *empty = arm(fixed, false), *full = arm(fixed, true);
  psdm_sim_payload loads[2] = {{.t = 0.31}, {.t = 0.72}};
  standard_load(loads[0].pi);
  psdm_sim_options options = {.integrator = integrator, .no_code = no_code, .payloads = 2, .payload = loads};
  const psdm_sim_options plain = {.integrator = integrator, .no_code = true};
  psdm_sim *sim = sim_of(empty, &options), *part[2] = {sim_of(empty, &plain), sim_of(full, &plain)};
  double q[3] = {0.2, 0.4, 0.1}, qd[3] = {1, -2, 0.3}, t = 0, ends[3] = {0.31, 0.72, 1};
  for (int again = 0; again < 2; again++) { /* a second run from the beginning finds no load of the first */
    record rec = {0};
    double x[6] = {0.2, 0.4, 0.1, 1, -2, 0.3}, jump = 0, energy[2] = {0};
    place(sim, 0, q, qd);
    psdm_sim_result result = go_on(sim, 1, &rec);
    const kept_row *end = &rec.row[rec.rows - 1];
    t = 0;
    for (int k = 0; k < 3; k++) {
      psdm_sim *now_carrying = part[k == 1];
      place(now_carrying, t, x, x + 3);
      psdm_sim_row row = now(now_carrying);
      energy[0] = row.kinetic + row.potential;
      jump += k ? energy[0] - energy[1] : 0;
      go_on(now_carrying, ends[k] - t, NULL);
      row = now(now_carrying);
      memcpy(x, row.q, sizeof *x * 3);
      memcpy(x + 3, row.qd, sizeof *x * 3);
      energy[1] = row.kinetic + row.potential;
      t = ends[k];
    }
    double off = fmax(max_difference(end->q, x, 3), max_difference(end->qd, x + 3, 3));
    print_message("%s%s%s: off by %.2g, balance %.2g, work of the load %.4f J\n", psdm_integrator_name(integrator),
                  fixed ? ", flange" : "", result.native ? ", code" : "", off, result.energy_balance, end->payload);
    assert_true(off < 1e-9 && fabs(end->payload - jump) < 1e-9 * (1 + fabs(jump)) && result.energy_balance < 1e-8 &&
                result.energy_drift > 0.01);
    record_free(&rec);
  }
  for (int k = 0; k < 2; k++) psdm_sim_free(part[k]);
  psdm_sim_free(sim);
  psdm_robot_free(empty);
  psdm_robot_free(full);
}

static void test_payload(void **unused) {
  (void)unused;
  for (int fixed = 0; fixed < 2; fixed++) {
    check_payload(fixed, PSDM_INTEGRATOR_RK4, true);
    check_payload(fixed, PSDM_INTEGRATOR_RK4, false);
    if (psdm_integrator_available(PSDM_INTEGRATOR_ADAMS)) check_payload(fixed, PSDM_INTEGRATOR_ADAMS, true);
  }
}

/* a load that a joint cannot carry: the motor's spring and its friction feel it from its time on */
static void test_payload_breaks_away(void **unused) {
  (void)unused;
  psdm_robot *robot = slider(2, 1, "");
  set_friction(robot, 0, 3, 3, 0, 0);
  const psdm_sim_payload load = {.t = 0.5, .pi = {3, 0, 0, 0, 1, 0, 0, 1, 0, 1}};
  const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                    .friction = PSDM_FRICTION_COULOMB,
                                    .no_code = true,
                                    .payloads = 1,
                                    .payload = &load};
  psdm_sim *sim = sim_of(robot, &options);
  double zero = 0;
  place(sim, 0, &zero, &zero);
  go_on(sim, 1.5, NULL);
  assert_true(fabs(now(sim).q[0] - (5 - 3.) / 5 / 2) < 1e-12); /* 2 N are held, 5 N are not */
  psdm_sim_free(sim);
  psdm_robot_free(robot);
}

/* ---- wrenches ---- */

/* a constant force from 0.5 s on: x = F (t - 0.5)^2 / (2 m); it jumps at a row of the table, and no step crosses
 * that */
static void test_constant_force(void **unused) {
  (void)unused;
  const double t[3] = {0, 0.5, 1.5}, w[18] = {0, 0, 0, 0, 0, 0, 3, 1, 1, 0.3, 0.2, 0.1, 0, 0, 0, 0, 0, 0}, zero = 0;
  psdm_robot *robot = slider(2, 0, "");
  psdm_signal *force;
  assert_int_equal(psdm_signal_table(6, 3, t, w, true, NULL, &force, NULL), PSDM_OK);
  for (int k = 0; k < 2; k++) {
    psdm_integrator integrator = k ? PSDM_INTEGRATOR_RK4 : PSDM_INTEGRATOR_ADAMS;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options options = {
        .integrator = integrator, .no_code = true, .wrench = force, .output = 0.04, .step = 0.01};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    place(sim, 0, &zero, &zero);
    psdm_sim_result result = go_on(sim, 2, &rec);
    for (long i = 0; i < rec.rows; i++) {
      double since = fmin(1, fmax(0, rec.row[i].t - 0.5)), after = fmax(0, rec.row[i].t - 1.5);
      assert_true(fabs(rec.row[i].q[0] - (0.75 * since * since + 1.5 * after)) < 1e-12);
    }
    assert_true(fabs(rec.row[rec.rows - 1].external - 3 * 0.75) < 1e-12 && result.energy_balance < 1e-12);
    assert_true(k || result.steps < 500); /* it does not search for the jump */
    record_free(&rec);
    psdm_sim_free(sim);
  }
  psdm_signal_free(force);
  psdm_robot_free(robot);
}

/* J^T w moves it, and the wrench's power is the change of energy; on any link */
static void test_wrench(void **unused) {
  (void)unused;
  rng g = rng_start("wrench");
  double worst = 0, balance = 0;
  for (int trial = 0; trial < 10; trial++) {
    psdm_robot *robot = random_robot(&g, 1, 5, true);
    int n = psdm_robot_n(robot), joint = trial % 2 ? rng_int(&g, 1, psdm_robot_joints(robot)) : 0,
        named = joint ? joint - 1 : psdm_robot_default_link(robot, NULL);
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double t[3] = {0, 0.4, 1}, w[18], q[MOST], qd[MOST], J[6 * MOST], tau[MOST], qdd[MOST], at[6];
    for (int i = 0; i < 18; i++) w[i] = rng_uniform(&g, -5, 5);
    psdm_signal *force;
    assert_int_equal(psdm_signal_table(6, 3, t, w, false, NULL, &force, NULL), PSDM_OK);
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4,
                                      .no_code = true,
                                      .wrench = force,
                                      .wrench_link = joint ? psdm_robot_link_name(robot, joint - 1) : NULL,
                                      .output = 0.1};
    psdm_sim *sim = sim_of(robot, &options);
    record rec = {0};
    random_state(&g, n, 1, q, qd);
    place(sim, 0, q, qd);
    balance = fmax(balance, go_on(sim, 0.8, &rec).energy_balance);
    for (long k = 0; k < rec.rows; k++) {
      const kept_row *row = &rec.row[k];
      psdm_signal_at(force, row->t, at);
      assert_int_equal(psdm_jacobian(robot, work, row->q, named, J), PSDM_OK);
      for (int i = 0; i < n; i++) {
        tau[i] = 0;
        for (int c = 0; c < 6; c++) tau[i] += J[c * n + i] * at[c];
      }
      assert_int_equal(psdm_forward(robot, work, row->q, row->qd, tau, qdd), PSDM_OK);
      worst = fmax(worst, max_difference(qdd, row->qdd, n) / (1 + max_absolute(qdd, n)));
    }
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_signal_free(force);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  print_message("accelerations off by %.2g, balance %.2g\n", worst, balance);
  assert_true(worst < 1e-11 && balance < 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_payload), cmocka_unit_test(test_payload_breaks_away),
                                     cmocka_unit_test(test_constant_force), cmocka_unit_test(test_wrench)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
