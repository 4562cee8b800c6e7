/* test_calibrate_loops.c: robots with closed loops from logs of known truth. */
#define _XOPEN_SOURCE 700

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/calibrate.h"
#include "psdm/rigid.h"
#include "support.h"

enum { ROWS = 4000 };

/* sums of sines about the position that the file begins with, at 200 Hz; noise: share of torques of 1 */
static void write_log(const char *path, const psdm_robot *robot, double reach, double noise, rng *g) {
  int n = psdm_robot_n(robot);
  double home[8], a[8][4], phase[8][4];
  psdm_work *work;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_robot_home(robot, home);
  fprintf(file, "t");
  for (int i = 0; i < n; i++) fprintf(file, ",q%d,tau%d", i + 1, i + 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) a[i][k] = rng_uniform(g, 0.4, 1) * reach / (k + 1), phase[i][k] = rng_uniform(g, -3, 3);
  for (int row = 0; row < ROWS; row++) {
    double t = 0.005 * row, q[8], qd[8], qdd[8], tau[8];
    for (int i = 0; i < n; i++) {
      q[i] = home[i], qd[i] = qdd[i] = 0;
      for (int k = 0; k < 4; k++) {
        double w = 0.8 * (k + 1) + 0.13 * i, s = sin(w * t + phase[i][k]), c = cos(w * t + phase[i][k]);
        q[i] += a[i][k] * s, qd[i] += a[i][k] * w * c, qdd[i] -= a[i][k] * w * w * s;
      }
    }
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    fprintf(file, "\n%.4f", t);
    for (int i = 0; i < n; i++) fprintf(file, ",%.12g,%.12g", q[i], tau[i] + noise * rng_uniform(g, -1, 1));
  }
  fprintf(file, "\n");
  assert_int_equal(fclose(file), 0);
  psdm_work_free(work, NULL);
}

/* base parameters with torques held out, and what they predict elsewhere */
TEST(loops_are_calibrated) {
  static const struct {
    const char *name;
    double reach, noise;
  } cases[] = {{"five_bar", 0.4, 0.01}, {"delta", 0.15, 0.002}};
  rng g = rng_start("loops_are_calibrated");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char path[] = "/tmp/psdm-loops-XXXXXX";
    const char *name = path;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    psdm_robot *robot = load_shipped(cases[k].name);
    write_log(path, robot, cases[k].reach, cases[k].noise, &g);
    psdm_calibrate_options o = {.files = 1, .path = &name, .holdout = 0.25, .delay_given = true};
    psdm_calibration *c = NULL;
    psdm_error error;
    if (psdm_calibrate(robot, &o, NULL, &c, &error)) fail_msg("%s: %s", cases[k].name, error.text);
    print_message("%s: held out %.3g, %d base parameters\n", cases[k].name, c->heldout[PSDM_FIT_ALL].global_rel,
                  c->base);
    assert_true(c->heldout[PSDM_FIT_ALL].global_rel < 0.01);
    if (k == 0) { /* all that a five-bar's torques show, to a few per cent of the largest */
      psdm_model *model;
      double pi[64], theta[64];
      assert_int_equal(psdm_parameters_model(robot, NULL, &model, NULL), PSDM_OK);
      psdm_robot_parameters(robot, pi);
      psdm_model_theta(model, pi, theta);
      assert_int_equal(c->base, psdm_model_l(model));
      for (int j = 0; j < c->base; j++)
        if (!(fabs(c->theta[j].value - theta[j]) < 0.01))
          fail_msg("%s: %g, not %g", c->theta[j].name, c->theta[j].value, theta[j]);
      psdm_model_free(model);
    }
    psdm_calibration_free(c);
    psdm_robot_free(robot);
    unlink(path);
  }
}

TEST_MAIN(loops_are_calibrated)
