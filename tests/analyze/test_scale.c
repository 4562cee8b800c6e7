/* scale.c: stored torques scaled against torques recomputed; the smallest k. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* a planar arm of two links that hangs down in gravity; the slides' motion: from hanging to link 1 level, link 2
 * upright, cubic, 0.5 s */
static const char two[] = "convention: dh\ngravity: [0, -9.81, 0]\n"
                          "joints: [{name: one, a: 0.5}, {name: two, a: 0.4}]\n"
                          "links:\n"
                          "  - {mass: 10, com: [-0.25, 0, 0], inertia: {xx: 0.1, yy: 0.2, zz: 0.21}}\n"
                          "  - {mass: 5, com: [-0.2, 0, 0], inertia: {xx: 0.05, yy: 0.07, zz: 0.07}}\n";

enum { ROWS = 501, N = 2 };
typedef struct rows {
  double x[ROWS][3][N], tau[ROWS][N], g[ROWS][N], qd[ROWS][N], qdd[ROWS][N];
} rows;

/* rows at the same positions on the path, whatever the duration */
static void sample(const psdm_robot *robot, const psdm_motion *motion, rows *out) {
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < ROWS; k++) {
    double t = psdm_motion_end(motion) * k / (ROWS - 1);
    psdm_motion_at(motion, t, 3, &out->x[k][0][0]);
    for (int i = 0; i < N; i++) {
      out->qd[k][i] = out->x[k][1][i];
      out->qdd[k][i] = out->x[k][2][i];
    }
    assert_int_equal(psdm_inverse(robot, work, out->x[k][0], out->x[k][1], out->x[k][2], out->tau[k]), PSDM_OK);
    assert_int_equal(psdm_gravity(robot, work, out->x[k][0], out->g[k]), PSDM_OK);
  }
  psdm_work_free(work, NULL);
}

static psdm_motion *cubic(double seconds) {
  const double quarter = 1.5707963267948966, from[] = {-quarter, 0}, to[] = {0, quarter};
  psdm_motion *motion;
  assert_int_equal(psdm_motion_polynomial(N, 3, from, to, 0, seconds, NULL, &motion, NULL), PSDM_OK);
  return motion;
}

/* De Luca's example: 0.5 s scaled to 1 s */
static void example(void **state) {
  (void)state;
  static rows quick, slow;
  static double scaled[ROWS][N];
  psdm_robot *robot = parse_robot(two);
  psdm_motion *half = cubic(0.5), *whole = cubic(1);
  sample(robot, half, &quick);
  sample(robot, whole, &slow);
  const psdm_scale_rows r = {.rows = ROWS, .n = N, .tau = &quick.tau[0][0], .gravity = &quick.g[0][0]};
  psdm_scale_torque(&r, 2, &scaled[0][0]);
  double worst = max_difference(&scaled[0][0], &slow.tau[0][0], ROWS * N) / max_absolute(&slow.tau[0][0], ROWS * N);
  double gravity = max_difference(&quick.g[0][0], &slow.g[0][0], ROWS * N) / max_absolute(&slow.g[0][0], ROWS * N);
  printf("scaled against recomputed %.2e, gravity %.2e\n", worst, gravity);
  assert_true(worst < 1e-12);
  assert_true(gravity < 1e-12);
  /* the other way round */
  const psdm_scale_rows back = {.rows = ROWS, .n = N, .tau = &slow.tau[0][0], .gravity = &slow.g[0][0]};
  psdm_scale_torque(&back, 0.5, &scaled[0][0]);
  assert_true(max_difference(&scaled[0][0], &quick.tau[0][0], ROWS * N) / max_absolute(&quick.tau[0][0], ROWS * N) <
              1e-12);
  psdm_motion_free(half);
  psdm_motion_free(whole);
  psdm_robot_free(robot);
}

/* the largest share of a limit that the scaled rows use */
static double used(const psdm_scale_rows *r, const psdm_scale_limits *l, double k) {
  double *tau = malloc(sizeof *tau * (size_t)(r->rows * r->n)), worst = 0;
  psdm_scale_torque(r, k, tau);
  for (long x = 0; x < r->rows * r->n; x++) {
    long j = x % r->n;
    worst = fmax(worst, fabs(tau[x]) / l->effort[j]);
    worst = fmax(worst, fabs(r->qd[x]) / k / l->velocity[j]);
    worst = fmax(worst, fabs(r->qdd[x]) / (k * k) / l->acceleration[j]);
  }
  free(tau);
  return worst;
}

/* random torques with separate friction: the answer just meets a limit, and slower is allowed */
static void least(void **state) {
  (void)state;
  rng g = rng_start("least");
  for (int round = 0; round < 300; round++) {
    enum { R = 40 };
    double part[5][R * N], tau[R * N], qd[R * N], qdd[R * N], velocity[N], acceleration[N], effort[N], k;
    for (int x = 0; x < R * N; x++) {
      for (int p = 0; p < 4; p++) part[p][x] = rng_uniform(&g, -3, 3);
      qd[x] = rng_uniform(&g, -2, 2);
      qdd[x] = rng_uniform(&g, -5, 5);
      part[1][x] = qd[x] * 0.7;
      part[2][x] = 0.4 * ((qd[x] > 0) - (qd[x] < 0));
      tau[x] = part[0][x] + part[1][x] + part[2][x] + part[3][x];
    }
    for (int i = 0; i < N; i++) {
      velocity[i] = rng_uniform(&g, 0.3, 8);
      acceleration[i] = rng_uniform(&g, 0.5, 30);
      effort[i] = rng_uniform(&g, 3.5, 12);
    }
    const psdm_scale_rows r = {
        .rows = R, .n = N, .qd = qd, .qdd = qdd, .tau = tau, .gravity = part[3], .viscous = part[1], .dry = part[2]};
    const psdm_scale_limits l = {velocity, acceleration, effort};
    psdm_scale_info info;
    assert_int_equal(psdm_scale_least(&r, &l, &k, &info), PSDM_OK);
    assert_true(info.by != PSDM_SCALE_NOTHING && info.joint >= 0 && info.row >= 0);
    assert_true(fabs(used(&r, &l, k) - 1) < 1e-11);
    for (int step = 1; step < 50; step++) assert_true(used(&r, &l, k * (1 + 0.05 * step)) <= 1 + 1e-11);
    /* slightly faster exceeds it, at the row that was named */
    assert_true(used(&r, &l, k * (1 - 1e-6)) > 1);
  }
}

static void edges(void **state) {
  (void)state;
  const double tau[] = {5, 1}, gravity[] = {4, 0}, effort[] = {3, 10}, plenty[] = {100, 100}, qd[] = {1, 1};
  const psdm_scale_rows r = {.rows = 1, .n = 2, .qd = qd, .tau = tau, .gravity = gravity};
  psdm_scale_info info;
  double k;
  assert_int_equal(psdm_scale_least(&r, &(psdm_scale_limits){.effort = effort}, &k, &info), PSDM_E_ARGUMENT);
  assert_true(isnan(k) && info.by == PSDM_SCALE_EFFORT && info.joint == 0 && info.row == 0);
  assert_int_equal(psdm_scale_least(&r, &(psdm_scale_limits){0}, &k, &info), PSDM_OK);
  assert_true(k == 0 && info.by == PSDM_SCALE_NOTHING);
  assert_int_equal(
      psdm_scale_least(&r, &(psdm_scale_limits){.effort = plenty, .velocity = (const double[]){0.5, 4}}, &k, &info),
      PSDM_OK);
  assert_true(k == 2 && info.by == PSDM_SCALE_VELOCITY && info.joint == 0);
  assert_string_equal(psdm_scale_name(PSDM_SCALE_EFFORT), "torque");
  assert_null(psdm_scale_name(PSDM_SCALE_KINDS));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(example), cmocka_unit_test(least), cmocka_unit_test(edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
