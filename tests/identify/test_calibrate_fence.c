/* test_calibrate_fence.c: every estimator on two logs without noise, with memory that is not zeroed and has a fence
 * behind every piece: the truth is found, nothing is written out of bounds, and nothing leaks. */
#include "test_calibrate_log.h"

#include "fenced.h"
#include "psdm/calibrate.h"

/* the error of theta and of the gains of viscous and Coulomb friction, relative to the largest */
static double error_of(const psdm_calibration *c, const double *theta, double viscous, double coulomb) {
  double size = 0, off = 0;
  for (int j = 0; j < c->base; j++)
    size = fmax(size, fabs(theta[j])), off = fmax(off, fabs(c->theta[j].value - theta[j]));
  for (int i = 0; i < c->n; i++)
    off = fmax(off, fmax(fabs(c->column[i][0].gain - viscous), fabs(c->column[i][1].gain - coulomb)));
  return off / size;
}

/* least squares: rounding times a condition of some hundreds; with a pull to the prior, which is the truth: where
 * Newton's method ends; didim and energy: a controller's error, an integral's */
static const double most[PSDM_ESTIMATORS] = {
    [PSDM_ESTIMATOR_CONSISTENT] = 1e-7, [PSDM_ESTIMATOR_OLS] = 1e-12,  [PSDM_ESTIMATOR_WLS] = 1e-12,
    [PSDM_ESTIMATOR_ROBUST] = 1e-12,    [PSDM_ESTIMATOR_TLS] = 1e-12,  [PSDM_ESTIMATOR_RIDGE] = 1e-6,
    [PSDM_ESTIMATOR_IV] = 1e-12,        [PSDM_ESTIMATOR_DIDIM] = 1e-2, [PSDM_ESTIMATOR_ENERGY] = 1e-4};

TEST(every_estimator) {
  rng g = rng_start("fences");
  psdm_robot *robot = parse_robot(two_driven_links);
  truth w = log_of(robot, 600, 0.004, 2, 3);
  w.rates = w.accelerations = true;
  w.offset = -1;
  char path[2][64];
  const char *const name[2] = {log_path(path[0]), log_path(path[1])};
  double pi[22], theta[22];
  for (int k = 0; k < 2; k++) write_log(path[k], &w, &g);
  psdm_robot_parameters(robot, pi);
  true_theta(robot, pi, theta);
  for (int e = 0; e < PSDM_ESTIMATORS; e++)
    for (int kind = 0; kind < 3; kind++) {
      psdm_calibrate_options o = plain_options(name, 2, (psdm_estimator)e, PSDM_KINEMATICS_ACCELERATION, INFINITY);
      bool walks = e == PSDM_ESTIMATOR_ROBUST || e == PSDM_ESTIMATOR_IV || e == PSDM_ESTIMATOR_DIDIM ||
                   e == PSDM_ESTIMATOR_ENERGY;
      if (kind == 1) o.holdout = 0.3, o.rest = 0.02;
      if (kind == 2 && walks) continue; /* they need undecimated rows */
      if (kind == 2) o.decimate = 2, o.holdout_block = 0.5, o.holdout_every = 4;
      counting memory;
      psdm_calibration *c = NULL;
      psdm_error error = {0};
      counting_fenced_init(&memory, 0);
      if (psdm_calibrate(robot, &o, &memory.allocator, &c, &error))
        fail_msg("%s: %s", psdm_estimator_name((psdm_estimator)e), error.text);
      assert_all_finite(c);
      double off = error_of(c, theta, 2, 3);
      print_message("  %-12s %d: off by %.1e, %ld rows used, verdict %s, %ld allocations\n",
                    psdm_estimator_name((psdm_estimator)e), kind, off, c->used, psdm_verdict_name(c->verdict),
                    memory.calls);
      if (!(off < most[e])) fail_msg("%s: off by %.3g", psdm_estimator_name((psdm_estimator)e), off);
      if (c->verdict && !c->pi)
        fail_msg("%s: %s", psdm_estimator_name((psdm_estimator)e), psdm_calibration_finding(c, 0)->text);
      psdm_calibration_free(c);
      assert_int_equal(memory.live, 0);
    }
  for (int k = 0; k < 2; k++) unlink(path[k]);
  psdm_robot_free(robot);
}

TEST_MAIN(every_estimator)
