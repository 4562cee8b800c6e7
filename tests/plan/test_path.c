/* path.c: closed forms, limits on a finer grid, bang-bang. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static psdm_motion *line(int n, const double *from, const double *to) {
  /* one straight line at constant speed in s: knots with slopes */
  double t[2] = {0, 1}, *q = calloc(6 * (size_t)n, sizeof *q);
  psdm_motion *motion;
  for (int i = 0; i < n; i++) {
    q[i] = from[i];
    q[n + i] = to[i];
    q[2 * n + i] = q[3 * n + i] = to[i] - from[i];
  }
  assert_int_equal(psdm_motion_table(n, 2, t, q, q + 2 * n, q + 4 * n, NULL, &motion, NULL), PSDM_OK);
  free(q);
  return motion;
}

/* a cart: least time of a double integrator from rest to rest is 2 sqrt(d / a); with a speed limit d / v + v / a */
static void double_integrator(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic}]\nlinks: "
                                  "[{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n");
  psdm_motion *path = line(1, (const double[]){0}, (const double[]){3});
  psdm_path_plan *plan;
  psdm_error error;
  const double effort[] = {8}, speed[] = {2};
  assert_int_equal(
      psdm_path_plan_new(robot, path, &(psdm_path_options){.effort = effort, .points = 2001}, NULL, &plan, &error),
      PSDM_OK);
  printf("double integrator: %.9f, closed form %.9f\n", plan->seconds, 2 * sqrt(3 / 4.));
  /* an odd number of points has one in the middle, where the torque turns round: exact up to rounding */
  assert_true(fabs(plan->seconds / (2 * sqrt(3 / 4.)) - 1) < 1e-9);
  for (long k = 0; k < plan->points; k++) assert_true(fabs(plan->usage[k] - 1) < 1e-9 && plan->by[k] == 2);
  psdm_path_plan_free(plan);
  assert_int_equal(
      psdm_path_plan_new(robot, path, &(psdm_path_options){.effort = effort, .velocity = speed, .points = 3001}, NULL,
                         &plan, &error),
      PSDM_OK);
  assert_true(fabs(plan->seconds / (3 / 2. + 2 / 4.) - 1) < 1e-6);
  psdm_path_plan_free(plan);
  /* nothing limits it */
  assert_int_equal(psdm_path_plan_new(robot, path, NULL, NULL, &plan, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "nothing limits"));
  psdm_motion_free(path);
  psdm_robot_free(robot);
}

static void refuses(const psdm_robot *robot, const psdm_motion *path, psdm_path_options options, psdm_status expected,
                    const char *words) {
  psdm_path_plan *plan = (psdm_path_plan *)&plan;
  psdm_error error = {0};
  psdm_status status = psdm_path_plan_new(robot, path, &options, NULL, &plan, &error);
  if (status != expected || plan || !strstr(error.text, words))
    fail_msg("status %d, '%s'; %d and '%s' were expected", status, error.text, expected, words);
}

static void refusals(void **state) {
  (void)state;
  psdm_robot *cart = parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints: [{name: cart, type: prismatic}]\nlinks: "
                                 "[{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n");
  psdm_robot *unknown = parse_robot("convention: dh\njoints: [{name: cart, type: prismatic}]\n"),
             *loop = load_shipped("five_bar");
  psdm_robot *lift = parse_robot("convention: dh\ngravity: [0, 0, -10]\njoints: [{name: cart, type: "
                                 "prismatic}]\nlinks: [{mass: 2, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]\n");
  psdm_motion *path = line(1, (const double[]){0}, (const double[]){3}),
              *wide = line(2, (const double[]){0, 0}, (const double[]){1, 1}), *still;
  const double eight[] = {8}, zero[] = {0}, negative[] = {-1}, weak[] = {19.9}, slow[] = {1};
  assert_int_equal(psdm_motion_table(1, 1, zero, zero, NULL, NULL, NULL, &still, NULL), PSDM_OK);
  refuses(loop, wide, (psdm_path_options){.effort = eight}, PSDM_E_ROBOT, "closed loops");
  refuses(cart, wide, (psdm_path_options){.effort = eight}, PSDM_E_ARGUMENT, "a path of 2 joints; 1 were expected");
  refuses(cart, still, (psdm_path_options){.effort = eight}, PSDM_E_ARGUMENT, "no length");
  refuses(cart, path, (psdm_path_options){.effort = eight, .friction = PSDM_FRICTION_KINDS}, PSDM_E_ARGUMENT,
          "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .points = -1}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .points = 1}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .points = 2000000000}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .begin = -1}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .end = NAN}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = eight, .end = INFINITY}, PSDM_E_ARGUMENT, "out of range");
  refuses(cart, path, (psdm_path_options){.effort = zero}, PSDM_E_ARGUMENT, "");
  refuses(cart, path, (psdm_path_options){.effort = eight, .velocity = negative}, PSDM_E_ARGUMENT, "");
  refuses(cart, path, (psdm_path_options){.effort = eight, .acceleration = zero}, PSDM_E_ARGUMENT, "");
  refuses(unknown, path, (psdm_path_options){.effort = eight}, PSDM_E_MISSING, "");
  refuses(lift, path, (psdm_path_options){.effort = weak}, PSDM_E_ARGUMENT, ""); /* it cannot hold its own weight */
  refuses(cart, path, (psdm_path_options){.effort = eight, .velocity = slow, .end = 2}, PSDM_E_ARGUMENT,
          "above a velocity limit");
  /* too fast to stop */
  refuses(cart, path, (psdm_path_options){.effort = eight, .begin = 100}, PSDM_E_ARGUMENT,
          "the initial speed is too high");
  psdm_motion_free(path), psdm_motion_free(wide), psdm_motion_free(still);
  psdm_robot_free(cart), psdm_robot_free(unknown), psdm_robot_free(loop), psdm_robot_free(lift);
}

/* a curved path of a random robot: limits hold, one is always met, slower paths are never quicker */
static void random_paths(void **state) {
  (void)state;
  rng g = rng_start("random_paths");
  const random_options options = {.n_min = 2, .n_max = 6, .trees = true, .prismatic = true, .drives = true};
  double worst = 0, least = 1, share = 0;
  int paths = 0;
  for (int round = 0; round < 25; round++) {
    static char text[65536];
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    int n = psdm_robot_n(robot);
    double q[8 * 8], t[8], effort[8], velocity[8], tau[8], x[3 * 8];
    psdm_motion *path;
    psdm_path_plan *plan;
    psdm_error error;
    psdm_work *work;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    for (int k = 0; k < 6; k++) {
      t[k] = k;
      for (int i = 0; i < n; i++) q[k * n + i] = rng_uniform(&g, -1, 1);
    }
    /* knots with slopes, so that the path never stands still in s */
    double qd[8 * 8], qdd[8 * 8];
    for (int k = 0; k < 6 * n; k++) {
      qd[k] = rng_uniform(&g, 0.2, 1) * (rng_int(&g, 0, 1) ? 1 : -1);
      qdd[k] = rng_uniform(&g, -0.3, 0.3);
    }
    assert_int_equal(psdm_motion_table(n, 6, t, q, qd, qdd, NULL, &path, NULL), PSDM_OK);
    /* enough torque to hold the path anywhere, and half as much again */
    for (int i = 0; i < n; i++) effort[i] = 1, velocity[i] = rng_uniform(&g, 1, 3);
    for (int k = 0; k <= 500; k++) {
      psdm_motion_at(path, 5 * k / 500., 3, x);
      psdm_gravity(robot, work, x, tau);
      for (int i = 0; i < n; i++) effort[i] = fmax(effort[i], 1.5 * fabs(tau[i]));
    }
    psdm_status status = psdm_path_plan_new(
        robot, path, &(psdm_path_options){.effort = effort, .velocity = velocity, .points = 4001}, NULL, &plan, &error);
    if (status) print_message("%s\n", error.text);
    assert_int_equal(status, PSDM_OK);
    paths++;
    long met = 0;
    for (long k = 0; k < plan->points; k++) {
      least = fmin(least, plan->usage[k]);
      met += plan->usage[k] > 0.99;
      assert_true(plan->usage[k] < 1 + 1e-6);
    }
    share += (double)met / (double)plan->points;
    /* between the points torques come from the path itself */
    for (int k = 0; k <= 20000; k++) {
      psdm_path_plan_state(plan, path, plan->seconds * k / 20000., x);
      assert_int_equal(psdm_inverse(robot, work, x, x + n, x + 2 * n, tau), PSDM_OK);
      for (int i = 0; i < n; i++) worst = fmax(worst, fmax(fabs(tau[i]) / effort[i], fabs(x[n + i]) / velocity[i]));
    }
    psdm_path_plan_free(plan);
    psdm_motion_free(path);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  printf("%d paths: a limit is met at %.2f %% of the points, least used %.3f, most on the fine grid %.5f\n", paths,
         100 * share / paths, least, worst);
  assert_true(worst < 1.01);
  assert_true(share / paths > 0.99);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(double_integrator), cmocka_unit_test(refusals),
                                     cmocka_unit_test(random_paths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
