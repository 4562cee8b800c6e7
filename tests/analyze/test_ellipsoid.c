/* test_ellipsoid.c: ellipsoids against their matrices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/analyze.h"
#include "psdm/cartesian.h"
#include "support.h"

enum { N = 7 };

/* sum of axis^power direction direction^T */
static void rebuild(const psdm_ellipsoid *e, int power, double out[9]) {
  memset(out, 0, 9 * sizeof *out);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        out[3 * i + j] += pow(e->axis[k], power) * e->direction[3 * k + i] * e->direction[3 * k + j];
}

static void check_shape(const psdm_ellipsoid *e) {
  assert_true(e->axis[0] >= e->axis[1] && e->axis[1] >= e->axis[2] && e->axis[2] >= 0);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double sum = 0;
      for (int i = 0; i < 3; i++) sum += e->direction[3 * a + i] * e->direction[3 * b + i];
      assert_true(fabs(sum - (a == b)) < 1e-13);
    }
}

/* A A^T of the first three rows */
static void gram(int n, const double *A, double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      out[3 * i + j] = 0;
      for (int k = 0; k < n; k++) out[3 * i + j] += A[i * n + k] * A[j * n + k];
    }
}

static double determinant(const double m[9]) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* J M^-1 column by column: accelerations by unit torques, from the articulated bodies, minus those without torque */
static void accelerations(const psdm_robot *robot, psdm_work *work, const double *q, const double *J, double *A) {
  int n = psdm_robot_n(robot);
  double zero[N] = {0}, tau[N] = {0}, rest[N], qdd[N];
  assert_int_equal(psdm_forward(robot, work, q, zero, tau, rest), PSDM_OK);
  for (int k = 0; k < n; k++) {
    tau[k] = 1;
    assert_int_equal(psdm_forward(robot, work, q, zero, tau, qdd), PSDM_OK);
    tau[k] = 0;
    for (int i = 0; i < 3; i++) {
      A[i * n + k] = 0;
      for (int j = 0; j < n; j++) A[i * n + k] += J[i * n + j] * (qdd[j] - rest[j]);
    }
  }
}

static void random_arms(void **state) {
  (void)state;
  rng g = rng_start("random_arms");
  char text[16384];
  double worst[3] = {0};
  for (int round = 0; round < 60; round++) {
    const random_options options = {.n_min = 3, .n_max = 7, .prismatic = true, .drives = round % 2 == 0};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_work *work;
    psdm_linear *linear;
    int n = psdm_robot_n(robot), joint = psdm_robot_joints(robot) - 1;
    double q[N], qd[N] = {0}, J[6 * N], J_rate[6 * N] = {0}, A[3 * N], want[9], have[9], w[3], M[9],
                 *scratch = malloc(psdm_ellipsoids_scratch(robot) * sizeof *scratch);
    double *task = malloc(psdm_cartesian_scratch(robot, 3) * sizeof *task);
    psdm_ellipsoid v, a, m;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    for (int i = 0; i < n; i++) q[i] = rng_uniform(&g, -3, 3);
    assert_int_equal(psdm_ellipsoids_at(robot, work, q, joint, scratch, &v, &a, &m, w), PSDM_OK);
    check_shape(&v), check_shape(&a), check_shape(&m);
    assert_int_equal(psdm_jacobian(robot, work, q, joint, J), PSDM_OK);
    gram(n, J, want);
    rebuild(&v, 2, have);
    worst[0] = fmax(worst[0], max_difference(have, want, 9) / max_absolute(want, 9));
    assert_true(fabs(w[2] * w[2] - determinant(want)) <= 1e-12 * w[0] * w[0] * w[0] * w[0] * w[0] * w[0]);
    accelerations(robot, work, q, J, A);
    gram(n, A, want);
    rebuild(&a, 2, have);
    worst[1] = fmax(worst[1], max_difference(have, want, 9) / max_absolute(want, 9));
    /* task coordinates have the same apparent mass if it is finite */
    psdm_cartesian out = {.M = M};
    if (v.axis[2] > 1e-2 * v.axis[0] &&
        psdm_cartesian_at(robot, work, linear, q, qd, 3, J, J_rate, 0, task, &out) == PSDM_OK) {
      rebuild(&m, 1, have);
      worst[2] = fmax(worst[2], max_difference(have, M, 9) / max_absolute(M, 9));
    }
    psdm_linear_free(linear, NULL);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
    free(scratch);
    free(task);
  }
  printf("velocity %.2e, acceleration %.2e, apparent mass %.2e\n", worst[0], worst[1], worst[2]);
  /* eigenvalues and inverses of matrices with condition numbers up to 1e5 or so */
  assert_true(worst[0] < 1e-13 && worst[1] < 1e-9 && worst[2] < 1e-9 && worst[2] > 0);
}

/* Yoshikawa's two-link arm: w = l1 l2 |sin q2| */
static void two_links(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{a: 0.5}, {a: 0.4}]\nlinks: [{mass: 1, com: [-0.25, 0, 0], "
                                  "inertia: {zz: 0.1}}, {mass: 1, com: [-0.2, 0, 0], inertia: {zz: 0.1}}]\n");
  psdm_work *work;
  psdm_ellipsoid v, m;
  double scratch[64], w[3];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_true(psdm_ellipsoids_scratch(robot) <= 64);
  for (int k = 0; k < 30; k++) {
    double q[] = {0.3 * k, 0.1 + 0.2 * k};
    assert_int_equal(psdm_ellipsoids_at(robot, work, q, 1, scratch, &v, NULL, &m, w), PSDM_OK);
    assert_true(fabs(w[1] - 0.5 * 0.4 * fabs(sin(q[1]))) < 1e-15);
    assert_true(v.axis[2] < 1e-15 && fabs(fabs(v.direction[8]) - 1) < 1e-12);
    /* across its plane the link does not yield */
    assert_true(isinf(m.axis[0]) && fabs(fabs(m.direction[2]) - 1) < 1e-12 && isfinite(m.axis[1]));
  }
  assert_int_equal(psdm_ellipsoids_at(robot, work, (double[]){0, 0}, 1, scratch, NULL, NULL, &m, w), PSDM_OK);
  assert_true(w[1] < 1e-15 && isinf(m.axis[0]) && isinf(m.axis[1]) && isfinite(m.axis[2]) &&
              fabs(fabs(m.direction[7]) - 1) < 1e-12);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

static void refusals(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{a: 0.5}, {a: 0.4}]\n");
  psdm_work *work;
  psdm_ellipsoid v;
  double scratch[64], q[] = {0, 1}, w[3];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_ellipsoids_at(robot, work, q, 1, scratch, &v, NULL, NULL, w), PSDM_OK);
  assert_int_equal(psdm_ellipsoids_at(robot, work, q, 1, scratch, &v, &v, NULL, w), PSDM_E_MISSING);
  assert_int_equal(psdm_ellipsoids_at(robot, work, q, 5, scratch, &v, NULL, NULL, w), PSDM_E_ARGUMENT);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_arms), cmocka_unit_test(two_links),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
