/* The comparison of a model with the recursions: it accepts the right model and rejects the wrong one, with and without
 * inertias, stops on request, and reports why it could not be made. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support.h"

static const char arm[] = "name: arm\nconvention: dh\ngravity: [0, -9.81, 0]\njoints: [{name: s, a: LENGTH, "
                          "drive_inertia: 0.2}, {name: e, a: 0.7}]\n";
static const char links[] = "links: [{mass: 1, com: [-0.5, 0.1, 0], inertia: {zz: 0.1, xx: 0.05, yy: 0.1}}, {mass: 2, "
                            "com: [-0.3, 0.05, 0], inertia: {zz: 0.1, xx: 0.05, yy: 0.1}}]\n";

static psdm_robot *make(const char *length, bool inertias) {
  char text[1024];
  const char *at = strstr(arm, "LENGTH");
  snprintf(text, sizeof text, "%.*s%s%s%s", (int)(at - arm), arm, length, at + 6, inertias ? links : "");
  return parse_robot(text);
}

static psdm_model *derive(const psdm_robot *robot) {
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  return model;
}

static void test_right_and_wrong(void **unused) {
  (void)unused;
  for (int inertias = 0; inertias < 2; inertias++) {
    psdm_robot *robot = make("1", inertias), *longer = make("1.01", inertias);
    psdm_model *model = derive(robot);
    double residual;
    assert_int_equal(psdm_model_check(robot, model, NULL, 100, NULL, &residual, NULL), PSDM_OK);
    assert_true(residual < 1e-13); /* a few dozen roundings of the largest torque */
    assert_int_equal(psdm_model_check(longer, model, NULL, 100, NULL, &residual, NULL), PSDM_OK);
    assert_true(residual > 1e-3 && residual < 1); /* a hundredth of a length is worth about that much torque */
    psdm_model_free(model);
    psdm_robot_free(robot);
    psdm_robot_free(longer);
  }
}

/* ten states show an error of a thousandth in any one coefficient, for the robot's inertias or random ones */
static void test_every_coefficient(void **unused) {
  (void)unused;
  for (int inertias = 0; inertias < 2; inertias++) {
    psdm_robot *robot = make("1", inertias);
    psdm_model *model = derive(robot);
    for (long e = 0; e < psdm_model_entries(model); e++) {
      double residual, was = model->P[e].value;
      model->P[e].value *= 1.001;
      assert_int_equal(psdm_model_check(robot, model, NULL, 10, NULL, &residual, NULL), PSDM_OK);
      if (!(residual > PSDM_MODEL_ACCURACY)) fail_msg("coefficient %ld off by a thousandth: %g", e, residual);
      model->P[e].value = was;
    }
    psdm_model_free(model);
    psdm_robot_free(robot);
  }
}

/* A heavy slide on a short offset, beside a light mass far away: its coefficients are tiny in units of that
 * distance, and all the torque of a slide that moves little. Such a model is right there, or refused. */
static void test_short_slides(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot("convention: dh\ngravity: [0, 0, 0]\njoints:\n  - {name: a, alpha: 1}\n  - {name: b, "
                                  "alpha: 1}\n  - {name: c, theta: -3}\n  - {name: d, a: -0.0004}\n"
                                  "  - {name: e, type: prismatic}\nlinks:\n  - {mass: 0, com: [0, 0, 0], inertia: {zz: "
                                  "0}}\n  - {mass: 0.002, com: [0, 0, 100], inertia: {zz: 0}}\n"
                                  "  - {mass: 0, com: [0, 0, 0], inertia: {zz: 0}}\n  - {mass: 0, com: [0, 0, 0], "
                                  "inertia: {zz: 0}}\n  - {mass: 1000, com: [0, 0, 0], inertia: {zz: 0}}\n");
  psdm_model *model = NULL;
  psdm_error error;
  psdm_status status = psdm_model_derive(robot, NULL, NULL, &model, NULL, &error);
  if (status) {
    assert_int_equal(status, PSDM_E_ACCURACY);
    assert_non_null(strstr(error.text, "closed form"));
  } else {
    double worst = 0, largest = 0, tau[5], recursive[5], pi[64], theta[64],
           *y = malloc(sizeof *y * (size_t)psdm_model_p(model));
    psdm_work *work;
    rng g = {20};
    assert_true(y != NULL && psdm_robot_parameter_count(robot) <= 64);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(model, pi, theta);
    for (int s = 0; s < 100; s++) {
      double state[15];
      for (int i = 0; i < 15; i++) state[i] = rng_uniform(&g, -2, 2) * (i % 5 == 4 ? 1e-4 : 1);
      assert_int_equal(psdm_inverse(robot, work, state, state + 5, state + 10, recursive), PSDM_OK);
      psdm_model_y(model, state, state + 5, state + 10, y);
      psdm_model_torque(model, PSDM_PART_ALL, y, theta, tau);
      for (int i = 0; i < 5; i++)
        worst = fmax(worst, fabs(tau[i] - recursive[i])), largest = fmax(largest, fabs(recursive[i]));
    }
    if (!(worst <= PSDM_MODEL_ACCURACY * largest)) fail_msg("%g of the largest torque", worst / largest);
    psdm_work_free(work, NULL);
    free(y);
  }
  psdm_model_free(model);
  psdm_robot_free(robot);
}

static bool three_times(void *user, const char *doing, double share) {
  int *calls = user;
  assert_string_equal(doing, "checking states");
  assert_true(share == ++*calls / 100.0);
  return *calls < 3;
}

static void test_stops_on_request(void **unused) {
  (void)unused;
  psdm_robot *robot = make("1", true);
  psdm_model *model = derive(robot);
  int calls = 0;
  double residual;
  const psdm_derive_options options = {.progress = three_times, .progress_user = &calls};
  assert_int_equal(psdm_model_check(robot, model, &options, 100, NULL, &residual, NULL), PSDM_OK);
  assert_int_equal(calls, 3);
  assert_true(residual < 1e-13);
  assert_int_equal(psdm_model_check(robot, model, NULL, 0, NULL, &residual, NULL), PSDM_OK);
  assert_true(residual == 0);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

/* each allocation fails once: the status comes with its message, and nothing leaks */
static void test_memory(void **unused) {
  (void)unused;
  for (int inertias = 0; inertias < 2; inertias++) {
    psdm_robot *robot = make("1", inertias);
    psdm_model *model = derive(robot);
    psdm_status status = PSDM_E_MEMORY;
    long call = 1;
    for (; status; call++) {
      counting c;
      psdm_error error = {0};
      double residual;
      counting_init(&c, call);
      status = psdm_model_check(robot, model, NULL, 5, &c.allocator, &residual, &error);
      assert_true(!status || status == PSDM_E_MEMORY);
      assert_int_equal(error.status, status);
      if (status) assert_true(error.text[0] != '\0');
      assert_int_equal(c.live, 0);
    }
    assert_true(call > 2);
    psdm_model_free(model);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_and_wrong), cmocka_unit_test(test_every_coefficient),
                                     cmocka_unit_test(test_short_slides), cmocka_unit_test(test_stops_on_request),
                                     cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
