/* test_old_headers.c: a program compiled with older headers (old_psdm.h) works with today's library, and no options
 * struct has changed its size (old_headers_today.c has today's headers). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "old_psdm.h"

size_t robot_options_today(void), derive_options_today(void), excite_options_today(void);

static const char text[] = "name: old\ngravity: [0, 0, -9.81]\nconvention: dh\njoints:\n"
                           "  - {name: a, type: revolute, a: 0.5, alpha: 90}\n  - {name: b, type: revolute, a: 0.4}\n"
                           "  - {name: c, type: revolute, a: 0.3}\n"
                           "links:\n  - {mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n"
                           "  - {mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n"
                           "  - {mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n";

static bool count(void *user, const char *doing, double share) {
  assert_true(doing && doing[0] && share <= 1);
  ++*(int *)user;
  return true;
}

static psdm_robot *parse(const psdm_robot_options *options) {
  psdm_robot *robot;
  psdm_error error;
  assert_int_equal(psdm_robot_parse(text, strlen(text), "old.yaml", options, NULL, &robot, &error), 0);
  return robot;
}

static void test_sizes(void **state) {
  (void)state;
  assert_int_equal(sizeof(psdm_robot_options), robot_options_today());
  assert_int_equal(sizeof(psdm_derive_options), derive_options_today());
  assert_int_equal(sizeof(psdm_excite_options), excite_options_today());
}

static void test_calls(void **state) {
  (void)state;
  int calls = 0;
  psdm_error error;
  psdm_model *model;
  psdm_excitation *excitation;
  psdm_robot_options upto = {.tip = "b"};
  psdm_derive_options derive = {.progress = count, .progress_user = &calls};
  psdm_excite_options excite = {.step = 2, .progress = count, .progress_user = &calls};
  psdm_robot *whole = parse(NULL), *part = parse(&upto);
  assert_int_equal(psdm_robot_n(whole), 3);
  assert_int_equal(psdm_robot_n(part), 2);
  assert_int_equal(psdm_model_derive(whole, &derive, NULL, &model, NULL, &error), 0);
  assert_true(calls > 0);
  psdm_model_free(model);
  if (psdm_excite(whole, &excite, NULL, &excitation, &error)) fail_msg("%s", error.text);
  psdm_excitation_free(excitation);
  psdm_robot_free(whole);
  psdm_robot_free(part);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
