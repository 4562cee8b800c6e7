/* A simulator's steps allocate nothing, and a simulator that cannot be made leaks nothing. malloc and its kin are
 * counted by the linker. */
#include "allocations.h"
#include "sim_support.h"

/* ---- steps ---- */

static psdm_robot *rough_robot(void) {
  psdm_robot *robot = load_shipped("two_branch");
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    joint_of(robot, k)->friction = (psdm_friction){.given = true,
                                                   .coulomb = 1,
                                                   .stat = 1.5,
                                                   .stribeck = 0.1,
                                                   .viscous = 0.3,
                                                   .exponent = 0.8,
                                                   .sigma0 = 1e4,
                                                   .sigma1 = 50};
    joint_of(robot, k)->limits.lower = -0.2, joint_of(robot, k)->limits.upper = 0.2;
  }
  return robot;
}

static void test_steps_allocate_nothing(void **unused) {
  (void)unused;
  psdm_robot *rough = rough_robot(), *loop = load_shipped("five_bar"),
             *spring = slider(2, 1, ", drive_inertia: 0.5, stiffness: 300");
  const double t = 0, w[6] = {1, 2, 3, 0.1, 0.2, 0.3}, tau[MOST] = {1, -2, 0.5};
  psdm_signal *wrench;
  assert_int_equal(psdm_signal_table(6, 1, &t, w, true, NULL, &wrench, NULL), PSDM_OK);
  const struct {
    const psdm_robot *robot;
    psdm_sim_options options;
  } cases[] = {
      {rough, {.no_code = true}},
      {rough, {.no_code = true, .friction = PSDM_FRICTION_POWER, .at_limit = PSDM_AT_LIMIT_BOUNCE, .wrench = wrench}},
      {rough, {.no_code = true, .friction = PSDM_FRICTION_LUGRE, .at_limit = PSDM_AT_LIMIT_STOP}},
      {spring, {.no_code = true, .elastic = true}},
      {loop, {.no_code = true}},
      {rough, {.no_code = false}}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int k = 0; k < 2; k++) {
      psdm_sim_options options = cases[c].options;
      options.integrator = k ? PSDM_INTEGRATOR_EULER : PSDM_INTEGRATOR_RK4;
      long start = allocations;
      psdm_sim *sim = sim_of(cases[c].robot, &options);
      assert_true(allocations > start); /* the counter works */
      long before = allocations;
      psdm_sim_row row;
      for (int i = 0; i < 300; i++) {
        assert_int_equal(psdm_sim_step(sim, tau, 1e-3), PSDM_OK);
        psdm_sim_now(sim, &row);
      }
      assert_int_equal(allocations, before);
      assert_true(fabs(row.t - 0.3) < 1e-12 && row.kinetic + row.supplied != 0);
      assert_int_equal(psdm_sim_step(sim, tau, 0), PSDM_E_ARGUMENT);
      assert_int_equal(psdm_sim_step(sim, tau, NAN), PSDM_E_ARGUMENT);
      psdm_sim_free(sim);
    }
  psdm_signal_free(wrench);
  psdm_robot_free(rough);
  psdm_robot_free(loop);
  psdm_robot_free(spring);
}

/* steps of a caller's loop are those of a run */
static void test_steps_are_a_run(void **unused) {
  (void)unused;
  psdm_robot *robot = rough_robot();
  int n = psdm_robot_n(robot);
  for (int k = 0; k < 2; k++) {
    const psdm_sim_options options = {.integrator = k ? PSDM_INTEGRATOR_EULER : PSDM_INTEGRATOR_RK4,
                                      .no_code = true,
                                      .friction = PSDM_FRICTION_STRIBECK,
                                      .at_limit = PSDM_AT_LIMIT_STOP,
                                      .output = 0.5};
    psdm_sim *run = sim_of(robot, &options), *steps = sim_of(robot, &options);
    go_on(run, 0.5, NULL);
    for (int i = 0; i < 500; i++) assert_int_equal(psdm_sim_step(steps, NULL, 1e-3), PSDM_OK);
    psdm_sim_row one = now(run);
    double off = max_difference(one.q, now(steps).q, n);
    assert_true(off < 1e-12 && fabs(one.dissipated - now(steps).dissipated) < 1e-10);
    psdm_sim_free(run);
    psdm_sim_free(steps);
  }
  if (psdm_integrator_available(PSDM_INTEGRATOR_ADAMS)) { /* variable steps are not the caller's */
    const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_ADAMS, .no_code = true};
    psdm_sim *sim = sim_of(robot, &options);
    assert_int_equal(psdm_sim_step(sim, NULL, 1e-3), PSDM_E_ARGUMENT);
    psdm_sim_free(sim);
  }
  psdm_robot_free(robot);
}

/* ---- failure ---- */

/* every allocation fails once (with generated code: increasingly few); nothing leaks, and the message says why. */
static void fail_everywhere(const psdm_robot *robot, const psdm_sim_options *options, bool all) {
  long failures = 0;
  for (long at = 1;; at += all ? 1 : 1 + at / 6) {
    counting c;
    psdm_sim *sim = NULL;
    psdm_error error;
    counting_init(&c, at);
    psdm_status status = psdm_sim_new(robot, options, &c.allocator, &sim, &error);
    bool failed = c.calls >= at;
    /* a lack of memory in the compiler costs the code alone */
    if (failed && (all || status)) assert_int_equal(status, PSDM_E_MEMORY);
    assert_true((status == PSDM_OK) == (sim != NULL));
    if (sim) go_on(sim, 0.01, NULL);
    psdm_sim_free(sim);
    assert_int_equal(c.live, 0);
    if (!failed) break;
    failures++;
    if (status) assert_non_null(strstr(error.text, "memory"));
  }
  print_message("%ld failures\n", failures);
  assert_true(failures > 3);
}

static void test_failing_allocations(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("two_link"), *loop = load_shipped("five_bar"),
             *spring = slider(2, 1, ", drive_inertia: 0.5, stiffness: 300");
  for (int k = 0; k < 2; k++) {
    psdm_integrator integrator = k ? PSDM_INTEGRATOR_ADAMS : PSDM_INTEGRATOR_RK4;
    if (!psdm_integrator_available(integrator)) continue;
    const psdm_sim_options plain = {.integrator = integrator, .no_code = true},
                           elastic = {.integrator = integrator, .no_code = true, .elastic = true},
                           code = {.integrator = integrator};
    fail_everywhere(robot, &plain, true);
    fail_everywhere(loop, &plain, true);
    fail_everywhere(spring, &elastic, true);
    if (!k) fail_everywhere(robot, &code, false);
  }
  psdm_robot_free(robot);
  psdm_robot_free(loop);
  psdm_robot_free(spring);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_allocate_nothing),
                                     cmocka_unit_test(test_steps_are_a_run),
                                     cmocka_unit_test(test_failing_allocations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
