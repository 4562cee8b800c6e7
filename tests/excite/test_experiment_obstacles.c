/* test_experiment_obstacles.c: experiments that avoid capsules, the floor and torque limits. */
#include <stdio.h>

#include "test_experiment_trial.h"

#define CAPSULES                                                             \
  "collision:\n  floor: {height: -0.2}\n  capsules:\n"                       \
  "    - {link: base, from: [0, 0, -0.1], to: [0, 0, 0.1], radius: 0.1}\n"   \
  "    - {link: A1, from: [-0.025, 0, 0], to: [0, 0, 0], radius: 0.08}\n"    \
  "    - {link: A2, from: [0.315, 0, 0.1], to: [0, 0, 0.1], radius: 0.07}\n" \
  "    - {link: A3, from: [0, 0, 0], to: [0, 0, 0.25], radius: 0.06}\n"      \
  "    - {link: A5, from: [0, 0, 0], to: [0, 0, 0.05], radius: 0.05}\n"      \
  "    - {link: A6, from: [0, 0, 0], to: [0, 0, 0.1], radius: 0.05}\n"

static psdm_robot *kr6_with(const char *rest) {
  static char text[1 << 14];
  FILE *file = fopen(SOURCE_DIR "/robots/kuka_kr6.yaml", "r");
  assert_non_null(file);
  size_t length = fread(text, 1, sizeof text - 4000, file);
  fclose(file);
  snprintf(text + length, sizeof text - length, "%s", rest);
  return parse_robot(text);
}

static void obstacles_are_avoided(void **state) {
  (void)state;
  psdm_robot *robot = kr6_with(CAPSULES "  apart: [[base, A2], [A3, A5]]\n");
  psdm_work *work;
  double gap[64], least[3] = {INFINITY, INFINITY, INFINITY}, worst = 0;
  int gaps = psdm_collision_gaps(robot);
  assert_in_range(gaps, 1, 64);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++)
    for (uint64_t seed = 1; seed <= 2; seed++) {
      trial t;
      open_trial(&t, robot, (psdm_step)step, seed);
      must_plan(&t);
      check_limits(&t, &worst);
      check_parts(&t);
      for (int k = 0; k <= GRID; k++) {
        double q[MOST];
        psdm_motion_at(t.motion, grid_time(&t, k), 1, q);
        assert_int_equal(psdm_collision_at(robot, work, q, gap, NULL), PSDM_OK);
        for (int g = 0; g < gaps; g++) least[step] = fmin(least[step], gap[g]);
      }
      close_trial(&t);
    }
  printf("least gaps: motor %.4f m, gravity %.4f m, friction %.4f m\n", least[0], least[1], least[2]);
  for (int step = 0; step < 3; step++) assert_true(least[step] >= 0.01);
  assert_true(least[0] < 0.1 && least[1] < 0.1); /* obstacles did matter */
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

static void torque_limits_hold(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6"), *loaded = NULL;
  psdm_work *work;
  const double effort[6] = {35, 75, 45, 8, 8, 4}; /* less than the stretched arm needs */
  double worst[3] = {0}, free_need = 0;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int pass = 0; pass < 2; pass++) /* without limits first: they would be exceeded */
    for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++) {
      trial t;
      open_trial(&t, robot, (psdm_step)step, 4);
      if (!loaded) loaded = with_mass(robot, 3, t.options.com);
      memcpy(t.effort, effort, sizeof effort);
      t.limits.torques = pass == 1;
      must_plan(&t);
      for (int k = 0; k <= GRID; k++) {
        double x[3 * MOST], tau[MOST];
        psdm_motion_at(t.motion, grid_time(&t, k), 3, x);
        for (int r = 0; r < (step == PSDM_STEP_MOTOR ? 2 : 1); r++) {
          assert_int_equal(psdm_inverse(r ? loaded : robot, work, x, x + t.n, x + 2 * t.n, tau), PSDM_OK);
          for (int i = 0; i < t.n; i++) {
            double *to = pass ? &worst[step] : &free_need;
            *to = fmax(*to, fabs(tau[i]) / effort[i]);
          }
        }
      }
      close_trial(&t);
    }
  printf("torques: share of the limits motor %.3f, gravity %.3f, friction %.3f; %.2f without torque limits\n", worst[0],
         worst[1], worst[2], free_need);
  /* sampled at eight points of a piece: values between them differ by an eighth of the curvature, well below the 2 % of
   * the margins */
  for (int step = 0; step < 3; step++) assert_true(worst[step] <= 1.005);
  assert_true(free_need > 1.1);
  psdm_work_free(work, NULL);
  psdm_robot_free(loaded);
  psdm_robot_free(robot);
}

/* the same seed, the same bytes; another, another motion */
static void seeds(void **state) {
  (void)state;
  psdm_robot *robot = kr6_with(CAPSULES "  apart: [[base, A2], [A3, A5]]\n");
  for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_GRAVITY; step++) {
    trial t[3];
    double x[3][MOST], other = 0;
    for (int k = 0; k < 3; k++) {
      open_trial(&t[k], robot, (psdm_step)step, k < 2 ? 1 : 2);
      must_plan(&t[k]);
    }
    assert_true(psdm_motion_end(t[0].motion) == psdm_motion_end(t[1].motion));
    for (int s = 0; s <= 100; s++) {
      for (int k = 0; k < 3; k++) psdm_motion_at(t[k].motion, grid_time(&t[0], s * (GRID / 100)), 1, x[k]);
      assert_memory_equal(x[0], x[1], (size_t)t[0].n * sizeof(double));
      other = fmax(other, max_difference(x[0], x[2], t[0].n));
    }
    assert_true(other > 0.1);
    for (int k = 0; k < 3; k++) close_trial(&t[k]);
  }
  psdm_robot_free(robot);
}

static void expect_refusal(trial *t, const char *sentence) {
  assert_int_equal(plan_trial(t), PSDM_E_ARGUMENT);
  if (!strstr(t->error.text, sentence)) fail_msg("says: %s\nexpected: %s", t->error.text, sentence);
  assert_null(t->motion);
  close_trial(t);
}

/* each refusal names the obstacle */
static void obstacles_are_named(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6"), *touching = kr6_with(CAPSULES "  apart: [[base, A2]]\n");
  trial t;
  for (int step = PSDM_STEP_MOTOR; step <= PSDM_STEP_FRICTION; step++) {
    open_trial(&t, touching, (psdm_step)step, 1);
    expect_refusal(
        &t, "capsules 4 and 5, of links 'link3' and 'link5', are too near to each other in every pose that was tried");
    /* torque limits too low even for holding still */
    open_trial(&t, robot, (psdm_step)step, 1);
    t.limits.torques = true;
    for (int i = 0; i < t.n; i++) t.effort[i] = 0.01;
    expect_refusal(&t, "was found");
  }
  psdm_robot_free(touching);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(obstacles_are_avoided), cmocka_unit_test(torque_limits_hold),
                                     cmocka_unit_test(seeds), cmocka_unit_test(obstacles_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
