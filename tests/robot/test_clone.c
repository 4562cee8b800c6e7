/* A clone has its own numbers: changing them does not change the original, nor the other way round. */
#include <math.h>
#include <string.h>

#include "support.h"

enum { MOST = 12, PARAMETERS = 11 * 24 };

/* tau of a random motion, which depends on all numbers */
static void torques(const psdm_robot *robot, rng g, double *tau) {
  double q[MOST], qd[MOST], qdd[MOST];
  psdm_work *work;
  for (int i = 0; i < psdm_robot_n(robot); i++)
    q[i] = 1.5 + rng_uniform(&g, -0.3, 0.3), qd[i] = rng_uniform(&g, -1, 1), qdd[i] = rng_uniform(&g, -1, 1);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
  psdm_work_free(work, NULL);
}

static void check(psdm_robot *robot, rng *g) {
  int n = psdm_robot_n(robot), count = psdm_robot_parameter_count(robot);
  double pi[PARAMETERS], other[PARAMETERS], back[PARAMETERS], before[MOST], tau[MOST], expected[MOST];
  psdm_robot *clone;
  assert_in_range(count, 1, PARAMETERS);
  psdm_robot_parameters(robot, pi);
  for (int i = 0; i < count; i++) other[i] = pi[i] * rng_uniform(g, 1.1, 1.3) + 0.01;
  torques(robot, *g, before);
  assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
  assert_int_equal(psdm_robot_n(clone), n);
  assert_string_equal(psdm_robot_name(clone), psdm_robot_name(robot));
  torques(clone, *g, tau);
  assert_memory_equal(tau, before, sizeof *tau * (size_t)n);
  /* other numbers in the clone: the robot keeps its own */
  psdm_robot_set_parameters(clone, other);
  psdm_robot_parameters(robot, back);
  assert_memory_equal(back, pi, sizeof *pi * (size_t)count);
  torques(robot, *g, tau);
  assert_memory_equal(tau, before, sizeof *tau * (size_t)n);
  /* and the clone behaves like the robot with them */
  torques(clone, *g, tau);
  psdm_robot_set_parameters(robot, other);
  torques(robot, *g, expected);
  assert_memory_equal(tau, expected, sizeof *tau * (size_t)n);
  assert_true(max_difference(tau, before, n) > 1e-3 * max_absolute(before, n));
  psdm_robot_set_parameters(robot, pi);
  torques(clone, *g, tau);
  assert_memory_equal(tau, expected, sizeof *tau * (size_t)n);
  /* one unknown number makes only the clone unready */
  other[0] = NAN;
  psdm_robot_set_parameters(clone, other);
  assert_int_equal(psdm_robot_ready(clone, NULL), PSDM_E_MISSING);
  assert_int_equal(psdm_robot_ready(robot, NULL), PSDM_OK);
  psdm_robot_free(clone);
}

static void check_failures(const psdm_robot *robot) {
  for (long at = 1;; at++) {
    counting c;
    psdm_robot *clone;
    counting_init(&c, at);
    psdm_status status = psdm_robot_clone(robot, &c.allocator, &clone);
    assert_int_equal(status, c.calls >= at ? PSDM_E_MEMORY : PSDM_OK);
    assert_true((clone != NULL) == (status == PSDM_OK));
    psdm_robot_free(clone);
    assert_int_equal(c.live, 0);
    if (!status) return;
  }
}

static void test_shipped(void **unused) {
  (void)unused;
  rng g = rng_start("clones of shipped robots");
  for (int k = 0; k < 10; k++) {
    const char *name = k < 9 ? shipped_robots[k] : "five_bar";
    psdm_robot *robot = load_shipped(name);
    if (psdm_robot_ready(robot, NULL) == PSDM_OK) check(robot, &g);
    check_failures(robot);
    psdm_robot_free(robot);
  }
}

/* drives through a transmission, couplings, trees */
static void test_random(void **unused) {
  (void)unused;
  rng g = rng_start("clones of random robots");
  static char text[1 << 16];
  const random_options options = {
      .n_min = 1, .n_max = 8, .coupled = true, .trees = true, .prismatic = true, .drives = true};
  for (int trial = 0; trial < 40; trial++) {
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    check(robot, &g);
    check_failures(robot);
    psdm_robot_free(robot);
  }
  psdm_robot *robot = parse_robot(
      "convention: dh\njoints:\n  - {a: 1, drive_inertia: 0.5}\n  - {a: 1, drive_inertia: 0.7}\ntransmission: [[1, 0], "
      "[0.5, 1]]\nlinks:\n"
      "  - {mass: 1, com: [0.1, 0, 0], inertia: {zz: 1}}\n  - {mass: 2, com: [0.2, 0, 0], inertia: {zz: 2}}\n");
  double B[4];
  check(robot, &g);
  check_failures(robot);
  psdm_robot_drive_mass(robot, B); /* motors turn by q1 and q2 - q1 / 2 */
  assert_true(fabs(B[0] - (0.5 + 0.25 * 0.7)) < 1e-15 && fabs(B[1] + 0.35) < 1e-15 && B[1] == B[2] &&
              fabs(B[3] - 0.7) < 1e-15);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_shipped), cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
