/* Free motion: energy is kept, generated code and the recursion move alike, every integrator converges at its order. */
#include "sim_support.h"

/* ---- energy ---- */

static double drift_of(const char *name, double seconds) {
  psdm_robot *robot = load_shipped(name);
  if (psdm_robot_ready(robot, NULL)) {
    psdm_robot_free(robot);
    return -1;
  }
  const psdm_sim_options options = {.no_code = true};
  psdm_sim *sim = sim_of(robot, &options);
  psdm_sim_result result = go_on(sim, seconds, NULL);
  assert_int_equal(result.integrator, PSDM_INTEGRATOR_ADAMS);
  assert_false(result.native);
  assert_true(result.peak_kinetic > 0.1);
  assert_true(result.energy_balance == result.energy_drift); /* nothing came from outside */
  psdm_sim_free(sim);
  psdm_robot_free(robot);
  return result.energy_drift;
}

static void test_energy_is_kept(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  for (const char *const *name = shipped_robots; *name; name++) {
    double drift = drift_of(*name, 10);
    if (drift >= 0) print_message("%s: drift %.2g in 10 s\n", *name, drift);
    assert_true(drift < 1e-9);
  }
}

/* the recursion and the code are independent: one motion, until chaos shows (KR6 doubles a difference in about 0.1
 * s) */
static void test_code_and_recursion(void **unused) {
  (void)unused;
  static const char *const names[] = {"two_link", "kuka_kr6", "two_branch"};
  for (int k = 0; k < 3; k++) {
    psdm_robot *robot = load_shipped(names[k]);
    int n = psdm_robot_n(robot);
    kept_row end[2];
    bool native = false;
    for (int plain = 0; plain < 2; plain++) {
      const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4, .step = 1e-3, .no_code = plain};
      psdm_sim *sim = sim_of(robot, &options);
      record rec = {0};
      psdm_sim_result result = go_on(sim, 1, &rec);
      assert_int_equal(result.native, psdm_sim_native(sim));
      assert_true(result.native || result.code_text[0] || plain);
      native |= result.native;
      end[plain] = rec.row[rec.rows - 1];
      assert_int_equal(rec.rows, 101);
      record_free(&rec);
      psdm_sim_free(sim);
    }
    double off = fmax(max_difference(end[0].q, end[1].q, n),
                      max_difference(end[0].qd, end[1].qd, n) / (1 + max_absolute(end[1].qd, n)));
    print_message("%s: code%s against recursion after 1 s: %.2g\n", names[k], native ? "" : " (no compiler)", off);
    assert_true(off < 1e-9);
    psdm_robot_free(robot);
  }
}

/* ---- order ---- */

static void end_state(const psdm_robot *robot, const psdm_sim_options *options, const double *q, const double *qd,
                      double seconds, double *x) {
  psdm_sim *sim = sim_of(robot, options);
  int n = psdm_robot_n(robot);
  place(sim, 0, q, qd);
  go_on(sim, seconds, NULL);
  psdm_sim_row row = now(sim);
  memcpy(x, row.q, sizeof *x * (size_t)n);
  memcpy(x + n, row.qd, sizeof *x * (size_t)n);
  psdm_sim_free(sim);
}

/* errors of three steps, each half of the one before, against the truth; 0 where they are below the truth's own, of
 * about 1e-13 */
static double order_of(const psdm_robot *robot, psdm_integrator integrator, double h, const double *q, const double *qd,
                       double seconds) {
  int n = psdm_robot_n(robot);
  double truth[2 * MOST], x[2 * MOST], steps[3], errors[3];
  /* so that no row shortens a step */
  psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_ADAMS, .no_code = true, .output = 1};
  end_state(robot, &options, q, qd, seconds, truth);
  options.integrator = integrator;
  for (int k = 0; k < 3; k++) {
    options.step = steps[k] = h / (1 << k);
    end_state(robot, &options, q, qd, seconds, x);
    errors[k] = max_difference(x, truth, 2 * n) / (1 + max_absolute(truth, 2 * n));
  }
  if (errors[2] < 1e-12) return 0;
  double slope = slope_of(3, steps, errors);
  print_message("%s: errors %.2g %.2g %.2g, slope %.3f\n", psdm_integrator_name(integrator), errors[0], errors[1],
                errors[2], slope);
  return slope;
}

static void test_orders(void **unused) {
  (void)unused;
  NEEDS_SUNDIALS();
  rng g = rng_start("orders");
  double q[MOST] = {0.1, -1, 1, 0.3, 0.5, 0.2}, qd[MOST] = {0.5, -0.4, 0.3, 1, -1, 0.5};
  psdm_robot *robot = load_shipped("kuka_kr6");
  assert_true(fabs(order_of(robot, PSDM_INTEGRATOR_RK4, 2e-3, q, qd, 0.2) - 4) < 0.2);
  assert_true(fabs(order_of(robot, PSDM_INTEGRATOR_EULER, 2e-5, q, qd, 0.1) - 1) < 0.1);
  psdm_robot_free(robot);
  int checked = 0;
  for (int trial = 0; trial < 30 && checked < 4; trial++) {
    robot = random_robot(&g, 2, 5, true);
    random_state(&g, psdm_robot_n(robot), 1, q, qd);
    double rk4 = order_of(robot, PSDM_INTEGRATOR_RK4, 8e-3, q, qd, 0.4),
           euler = rk4 == 0 ? 0 : order_of(robot, PSDM_INTEGRATOR_EULER, 5e-5, q, qd, 0.1);
    assert_true(rk4 == 0 || (fabs(rk4 - 4) < 0.2 && fabs(euler - 1) < 0.1));
    checked += rk4 != 0;
    psdm_robot_free(robot);
  }
  assert_int_equal(checked, 4);
}

/* ---- rows ---- */

/* accelerations of a row are those of the forward dynamics, energies those of psdm_energy, times are multiples of
 * the output period */
static void test_rows(void **unused) {
  (void)unused;
  rng g = rng_start("rows");
  for (int trial = 0; trial < 5; trial++) {
    psdm_robot *robot = random_robot(&g, 1, 6, true);
    int n = psdm_robot_n(robot);
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double q[MOST], qd[MOST], qdd[MOST], zero[MOST] = {0};
    random_state(&g, n, 1, q, qd);
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4, .no_code = true, .output = 0.1};
    psdm_sim *sim = sim_of(robot, &options);
    place(sim, 2, q, qd);
    record rec = {0};
    go_on(sim, 0.35, &rec);
    assert_int_equal(rec.rows, 5); /* 2, 2.1, 2.2, 2.3, 2.35 */
    for (int k = 0; k < 5; k++) {
      const kept_row *row = &rec.row[k];
      double kinetic, potential;
      assert_true(fabs(row->t - (k < 4 ? 2 + 0.1 * k : 2.35)) < 1e-12);
      assert_int_equal(psdm_forward(robot, work, row->q, row->qd, zero, qdd), PSDM_OK);
      assert_true(max_difference(qdd, row->qdd, n) <= 1e-13 * (1 + max_absolute(qdd, n)));
      assert_int_equal(psdm_energy(robot, work, row->q, row->qd, &kinetic, &potential), PSDM_OK);
      assert_true(row->energy == kinetic + potential && row->kinetic == kinetic);
    }
    assert_memory_equal(rec.row[0].q, q, sizeof *q * (size_t)n);
    record_free(&rec);
    psdm_sim_free(sim);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

static void test_names(void **unused) {
  (void)unused;
  for (int k = 0; k < PSDM_INTEGRATORS; k++) {
    psdm_integrator found = PSDM_INTEGRATORS;
    assert_true(psdm_integrator_find(psdm_integrator_name((psdm_integrator)k), &found));
    assert_int_equal(found, k);
    assert_true(strlen(psdm_integrator_help(found)) > 5);
  }
  for (int k = 0; k < PSDM_AT_LIMITS; k++) {
    psdm_at_limit found = PSDM_AT_LIMITS;
    assert_true(psdm_at_limit_find(psdm_at_limit_name((psdm_at_limit)k), &found));
    assert_int_equal(found, k);
    assert_true(strlen(psdm_at_limit_help(found)) > 5);
  }
  for (int k = 0; k < PSDM_SIM_ENDS; k++) assert_true(strlen(psdm_sim_end_text((psdm_sim_end)k)) > 5);
  assert_null(psdm_integrator_name(PSDM_INTEGRATORS));
  assert_null(psdm_at_limit_help((psdm_at_limit)-1));
  assert_null(psdm_sim_end_text(PSDM_SIM_ENDS));
  assert_true(psdm_integrator_available(PSDM_INTEGRATOR_RK4) && psdm_integrator_available(PSDM_INTEGRATOR_AUTO));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_energy_is_kept), cmocka_unit_test(test_code_and_recursion),
                                     cmocka_unit_test(test_orders), cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
