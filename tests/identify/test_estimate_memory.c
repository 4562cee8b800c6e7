/* test_estimate_memory.c: memory runs out in the estimators that need more passes over the rows. */
#include "test_estimate_log.h"

static const psdm_estimator walking[] = {PSDM_ESTIMATOR_ROBUST, PSDM_ESTIMATOR_IV, PSDM_ESTIMATOR_DIDIM,
                                         PSDM_ESTIMATOR_ENERGY};
enum { WALKING = sizeof walking / sizeof *walking };

/* every allocation of the last part fails once, and some of the rest */
TEST(out_of_memory) {
  log_case l;
  log_case_new(&l, "out_of_memory", load_shipped("two_link"));
  truth w = {.robot = l.robot, .rows = 400, .dt = 0.005, .viscous = 3, .coulomb = 2, .offset = 0.5, .noise = 0.01};
  const damage d = {.accelerations = true};
  write_damaged(l.path, &w, &d, &l.g, &l.g);
  for (int e = 0; e < WALKING; e++) {
    psdm_calibrate_options o = plain_options(&l.name, 1, walking[e], PSDM_KINEMATICS_ACCELERATION, INFINITY);
    o.rest = 0;
    counting c;
    psdm_calibration *answer = NULL;
    counting_init(&c, 0);
    assert_int_equal(psdm_calibrate(l.robot, &o, &c.allocator, &answer, NULL), PSDM_OK);
    psdm_calibration_free(answer);
    assert_int_equal(c.live, 0);
    long calls = c.calls, failed = 0;
    for (long at = 1 + e; at <= calls; at += at + 97 < calls - 40 ? 97 : 1) {
      psdm_error error = {0};
      counting_init(&c, at);
      psdm_status status = psdm_calibrate(l.robot, &o, &c.allocator, &answer, &error);
      if (status == PSDM_OK)
        fail_msg("%s: allocation %ld of %ld failed and went unnoticed", psdm_estimator_name(walking[e]), at, calls);
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_true(error.text[0] != 0);
      assert_int_equal(c.live, 0);
      failed++;
    }
    printf("%s: %ld of %ld allocations failed\n", psdm_estimator_name(walking[e]), failed, calls);
  }
  log_case_free(&l);
}

TEST_MAIN(out_of_memory)
