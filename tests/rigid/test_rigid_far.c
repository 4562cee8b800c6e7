/* Only poses and heights depend on where a robot stands: the same random robots at the origin and a thousand kilometres
 * away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/linearize.h"
#include "support.h"

enum { MOST = 8, ROBOTS = 200 };

/* the file with another base position, its angles kept */
static psdm_robot *standing_at(const char *text, const char *xyz) {
  static char moved[64 * 1024];
  const char *from = strstr(text, "base: {xyz: ["), *to = strstr(from, "], rpy");
  snprintf(moved, sizeof moved, "%.*sbase: {xyz: [%s%s", (int)(from - text), text, xyz, to);
  return parse_robot(moved);
}

typedef struct answers {
  double Y[MOST * 11 * MOST], J[6 * MOST], rate[6 * MOST], lever[MOST], by_q[MOST * MOST], by_qd[MOST * MOST],
      M[MOST * MOST];
} answers;

static void ask(const psdm_robot *robot, const double *q, const double *qd, const double *qdd, answers *a) {
  psdm_work *work;
  psdm_linear *linear;
  int last = psdm_robot_joints(robot) - 1;
  const psdm_wrench wrench = {last, {3, -2, 1}, {0.1, 0.3, -0.2}};
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_regressor_standard(robot, work, q, qd, qdd, a->Y), PSDM_OK);
  assert_int_equal(psdm_jacobian(robot, work, q, last, a->J), PSDM_OK);
  assert_int_equal(psdm_jacobian_rate(robot, work, q, qd, last, a->rate), PSDM_OK);
  assert_int_equal(psdm_wrench_torque(robot, work, q, 1, &wrench, a->lever), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, linear, q, qd, qdd, a->by_q, a->by_qd, a->M), PSDM_OK);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
}

static void expect_same(const char *what, const double *near, const double *far, int count) {
  double error = max_difference(near, far, count), most = max_absolute(near, count);
  if (!(error <= 1e-14 * most)) fail_msg("%s differs by %.2g of the largest", what, error / most);
}

static void test_far_away(void **unused) {
  (void)unused;
  rng g = rng_start("far away");
  static char text[64 * 1024];
  static answers near, far;
  /* one root: two would be apart only to the digits of the file */
  const random_options options = {1, 7, true, false, true, true};
  for (int k = 0; k < ROBOTS; k++) {
    double q[MOST], qd[MOST], qdd[MOST];
    random_robot_text(&g, &options, text, sizeof text);
    psdm_robot *here = standing_at(text, "0, 0, 0"), *there = standing_at(text, "1e6, -2e6, 1e5");
    int n = psdm_robot_n(here);
    for (int i = 0; i < n; i++)
      q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -1, 1), qdd[i] = rng_uniform(&g, -2, 2);
    ask(here, q, qd, qdd, &near);
    ask(there, q, qd, qdd, &far);
    expect_same("the regressor", near.Y, far.Y, n * psdm_robot_parameter_count(here));
    expect_same("the Jacobian", near.J, far.J, 6 * n);
    expect_same("its rate", near.rate, far.rate, 6 * n);
    expect_same("a wrench's torque", near.lever, far.lever, n);
    expect_same("dtau/dq", near.by_q, far.by_q, n * n);
    expect_same("dtau/dqd", near.by_qd, far.by_qd, n * n);
    expect_same("M", near.M, far.M, n * n);
    psdm_robot_free(here);
    psdm_robot_free(there);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_far_away)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
