/* test_axes.c: points and directions of joints against the Jacobian's columns: w = z, v = z x (p
 * - o); v = z where a joint slides. */
#include <math.h>
#include <stdlib.h>

#include "support.h"

/* every link's columns of every joint that moves it alone */
static void compare(const psdm_robot *robot, const double *q) {
  int n = psdm_robot_n(robot), joints = psdm_robot_joints(robot);
  double *axes = calloc((size_t)joints * 6, sizeof *axes), *poses = calloc((size_t)joints * 12, sizeof *poses),
         *J = calloc((size_t)n * 6, sizeof *J);
  psdm_work *work;
  assert_true(axes && poses && J);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_axes(robot, work, q, axes), PSDM_OK);
  assert_int_equal(psdm_poses(robot, work, q, poses), PSDM_OK);
  for (int j = 0; j < joints; j++) {
    assert_int_equal(psdm_jacobian(robot, work, q, j, J), PSDM_OK);
    for (int k = j; k >= 0; k = psdm_robot_joint(robot, k)->parent) {
      const psdm_joint *joint = psdm_robot_joint(robot, k);
      const double *o = axes + 6 * k, *z = o + 3, *p = poses + 12 * j;
      double arm[3] = {p[0] - o[0], p[1] - o[1], p[2] - o[2]}, scale = 1 + fabs(arm[0]) + fabs(arm[1]) + fabs(arm[2]);
      double turn[3] = {z[1] * arm[2] - z[2] * arm[1], z[2] * arm[0] - z[0] * arm[2], z[0] * arm[1] - z[1] * arm[0]};
      assert_true(fabs(z[0] * z[0] + z[1] * z[1] + z[2] * z[2] - 1) < 1e-13);
      if (joint->type == PSDM_FIXED || joint->q < 0) continue;
      bool slides = joint->type == PSDM_PRISMATIC;
      for (int i = 0; i < 3; i++) {
        /* a few roundings of sums of products of that size */
        assert_true(fabs(J[i * n + joint->q] - (slides ? z[i] : turn[i])) < 1e-13 * scale);
        assert_true(fabs(J[(3 + i) * n + joint->q] - (slides ? 0 : z[i])) < 1e-13);
      }
    }
  }
  psdm_work_free(work, NULL);
  free(axes);
  free(poses);
  free(J);
}

static void compare_at_random(const psdm_robot *robot, rng *g) {
  double q[64];
  assert_true(psdm_robot_n(robot) <= 64);
  for (int i = 0; i < psdm_robot_n(robot); i++) q[i] = rng_uniform(g, -3, 3);
  compare(robot, q);
}

static void test_random_robots(void **state) {
  (void)state;
  static char text[1 << 16];
  rng g = rng_start("test_axes");
  for (int round = 0; round < 200; round++) {
    psdm_robot *robot = parse_robot(random_robot_text(
        &g, &(random_options){.n_min = 1, .n_max = 8, .trees = true, .prismatic = true}, text, sizeof text));
    compare_at_random(robot, &g);
    psdm_robot_free(robot);
  }
}

/* a closed loop has axes, too: those of its open tree where it is closed */
static void test_loop(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("five_bar");
  int joints = psdm_robot_joints(robot);
  double *axes = calloc((size_t)joints * 6, sizeof *axes), q[8] = {0};
  psdm_work *work;
  assert_true(psdm_robot_n(robot) <= 8);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_status status = psdm_axes(robot, work, q, axes);
  assert_true(status == PSDM_OK || status == PSDM_E_LOOP);
  for (int j = 0; !status && j < joints; j++)
    assert_true(fabs(axes[6 * j + 3] * axes[6 * j + 3] + axes[6 * j + 4] * axes[6 * j + 4] +
                     axes[6 * j + 5] * axes[6 * j + 5] - 1) < 1e-13);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
  free(axes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots), cmocka_unit_test(test_loop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
