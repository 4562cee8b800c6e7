/* The recursions write every entry of an output and nothing beyond it; entries that no body can fill are exactly zero;
 * indices out of range have an answer. */
#include <math.h>
#include <string.h>

#include "support.h"
#include "psdm/loop.h"
#include "psdm/friction.h"

enum { ROBOTS = 40, MOST = 24, GUARD = 4 };

/* an output of this many numbers, with a guard behind it */
typedef struct guarded {
  double x[11 * MOST * MOST + GUARD];
  int count;
} guarded;

static const double untouched = -7.25e77;

static double *open_output(guarded *out, int count) {
  out->count = count;
  for (int k = 0; k < count; k++) out->x[k] = NAN;
  for (int k = 0; k < GUARD; k++) out->x[count + k] = untouched;
  return out->x;
}

static void expect_filled(const guarded *out, const char *what) {
  for (int k = 0; k < out->count; k++)
    if (isnan(out->x[k])) fail_msg("%s: entry %d of %d was not written", what, k, out->count);
  for (int k = 0; k < GUARD; k++)
    if (out->x[out->count + k] != untouched) fail_msg("%s: entry %d behind the last was written", what, k);
}

#define EXPECT(count, call)                    \
  do {                                         \
    double *out = open_output(&output, count); \
    assert_int_equal(call, PSDM_OK);           \
    expect_filled(&output, #call);             \
  } while (0)

static void check_outputs(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, const double *qdd) {
  static guarded output;
  int n = psdm_robot_n(r), joints = psdm_robot_joints(r), last = joints - 1;
  psdm_wrench wrench = {last, {1, 2, 3}, {4, 5, 6}};
  EXPECT(n, psdm_inverse(r, work, q, qd, qdd, out));
  EXPECT(n, psdm_bias(r, work, q, qd, out));
  EXPECT(n, psdm_gravity(r, work, q, out));
  EXPECT(n * n, psdm_mass(r, work, q, out));
  EXPECT(n, psdm_forward(r, work, q, qd, qdd, out));
  EXPECT(n, psdm_forward_cholesky(r, work, q, qd, qdd, out));
  EXPECT(n * psdm_robot_parameter_count(r), psdm_regressor_standard(r, work, q, qd, qdd, out));
  EXPECT(12 * joints, psdm_poses(r, work, q, out));
  EXPECT(12, psdm_pose(r, work, q, last, out));
  EXPECT(6 * n, psdm_jacobian(r, work, q, last, out));
  EXPECT(6 * n, psdm_jacobian_rate(r, work, q, qd, last, out));
  EXPECT(n, psdm_wrench_torque(r, work, q, 1, &wrench, out));
  open_output(&output, n);
  psdm_friction_torque(r, qd, output.x);
  expect_filled(&output, "psdm_friction_torque");
}

static void test_outputs_whole_and_no_more(void **unused) {
  (void)unused;
  rng g = rng_start("outputs");
  static const random_options kinds[] = {{1, 8, false, false, true, true}, {2, 8, true, true, true, true}};
  for (int k = 0; k < ROBOTS; k++) {
    char text[1 << 15];
    psdm_robot *r = parse_robot(random_robot_text(&g, &kinds[k % 2], text, sizeof text));
    psdm_work *work;
    double q[MOST], qd[MOST], qdd[MOST];
    for (int i = 0; i < psdm_robot_n(r); i++)
      q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -2, 2), qdd[i] = rng_uniform(&g, -5, 5);
    assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
    check_outputs(r, work, q, qd, qdd);
    psdm_work_free(work, NULL);
    psdm_robot_free(r);
  }
}

/* joint j is on the path from the base to joint b */
static bool carries(const psdm_robot *r, int j, int b) {
  for (; b >= 0; b = psdm_robot_joint(r, b)->parent)
    if (b == j) return true;
  return false;
}

/* a joint's torque depends only on the links after it, a drive's only on the joints it moves: everything else is zero,
 * not small */
static void test_zeros_are_zero(void **unused) {
  (void)unused;
  rng g = rng_start("zeros");
  static const random_options kind = {2, 8, false, true, true, false};
  int zeros = 0;
  for (int k = 0; k < ROBOTS; k++) {
    char text[1 << 15];
    psdm_robot *r = parse_robot(random_robot_text(&g, &kind, text, sizeof text));
    psdm_work *work;
    int n = psdm_robot_n(r), columns = psdm_robot_parameter_count(r);
    double q[MOST], qd[MOST], qdd[MOST], Y[11 * MOST * MOST], M[MOST * MOST];
    for (int i = 0; i < n; i++)
      q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -2, 2), qdd[i] = rng_uniform(&g, -5, 5);
    assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_regressor_standard(r, work, q, qd, qdd, Y), PSDM_OK);
    assert_int_equal(psdm_mass(r, work, q, M), PSDM_OK);
    for (int a = 0; a < psdm_robot_joints(r); a++)
      for (int b = 0; b < psdm_robot_joints(r); b++) {
        const psdm_joint *at = psdm_robot_joint(r, a), *of = psdm_robot_joint(r, b);
        if (at->q < 0 || of->q < 0 || of->link < 0 || carries(r, a, b)) continue;
        for (int c = 0; c < 10; c++, zeros++) assert_true(Y[(long)at->q * columns + 10 * of->link + c] == 0);
        if (!carries(r, b, a)) assert_true(M[at->q * n + of->q] == 0);
      }
    psdm_work_free(work, NULL);
    psdm_robot_free(r);
  }
  assert_true(zeros > 1000);
}

static void test_loops_out_of_range(void **unused) {
  (void)unused;
  psdm_robot *chain = parse_robot("convention: dh\njoints: [{}, {}]\n");
  assert_int_equal(psdm_loop_equations(chain), 0);
  assert_int_equal(psdm_loop_passives(chain), 0);
  assert_null(psdm_robot_tree(chain));
  for (int k = -1; k < 3; k++) {
    assert_int_equal(psdm_loop_passive(chain, k), -1);
    assert_int_equal(psdm_loop_independent(chain, k), -1);
  }
  psdm_robot_free(chain);
  psdm_robot *closed = load_shipped("five_bar");
  int passives = psdm_loop_passives(closed), n = psdm_robot_n(closed), N = psdm_robot_n(psdm_robot_tree(closed));
  assert_int_equal(n + passives, N);
  assert_int_equal(psdm_loop_passive(closed, -1), -1);
  assert_int_equal(psdm_loop_passive(closed, passives), -1);
  assert_int_equal(psdm_loop_independent(closed, n), -1);
  bool seen[MOST] = {false};
  for (int k = 0; k < N; k++) { /* every joint of the tree is one or the other, and once */
    int place = k < n ? psdm_loop_independent(closed, k) : psdm_loop_passive(closed, k - n);
    assert_true(place >= 0 && place < N && !seen[place]);
    seen[place] = true;
  }
  psdm_robot_free(closed);
}

static void test_capsules_out_of_range(void **unused) {
  (void)unused;
  int a, b;
  psdm_robot *r = parse_robot("convention: dh\njoints: [{name: s, a: 1}, {name: e, a: 1}]\ncollision:\n  capsules:\n   "
                              " - {link: s, from: [-1, 0, 0], to: [0, 0, 0], radius: 0.1}\n"
                              "    - {link: base, from: [0, 0, -1], to: [0, 0, -2], radius: 0.1}\n");
  int capsules = psdm_collision_capsules(r), gaps = psdm_collision_gaps(r);
  assert_int_equal(capsules, 2);
  assert_non_null(psdm_collision_capsule(r, capsules - 1));
  assert_null(psdm_collision_capsule(r, capsules));
  assert_null(psdm_collision_capsule(r, -1));
  assert_false(psdm_collision_pair(r, gaps, &a, &b));
  assert_false(psdm_collision_pair(r, -1, &a, &b));
  psdm_robot_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outputs_whole_and_no_more),
      cmocka_unit_test(test_zeros_are_zero),
      cmocka_unit_test(test_loops_out_of_range),
      cmocka_unit_test(test_capsules_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
