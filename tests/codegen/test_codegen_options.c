/* test_codegen_options.c: options of generated code and reduced models that are out of their range, and models of
 * other robots: each refused with its sentence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/codegen.h"
#include "psdm/base_parameters.h"
#include "psdm/reduce.h"
#include "support.h"

static void expect(psdm_status status, psdm_status wanted, const psdm_error *error, const char *sentence, size_t k) {
  if (status != wanted || !strstr(error->text, sentence))
    fail_msg("case %zu: status %d, '%s'; '%s' was expected", k, status, error->text, sentence);
}

TEST(code) {
  const struct {
    psdm_code_options o;
    psdm_status status;
    const char *sentence;
  } cases[] = {
      {{.functions = 1u << 31}, PSDM_E_ARGUMENT, "unknown function"},
      {{.link = ""}, PSDM_E_ARGUMENT, "no link or joint has the name ''"},
      {{.link = "hand"}, PSDM_E_ARGUMENT, "no link or joint has the name 'hand'"},
      {{.prefix = "1st"}, PSDM_E_ARGUMENT, "the prefix must be a C identifier"},
      {{.prefix = "a-b"}, PSDM_E_ARGUMENT, "the prefix must be a C identifier"},
      {{.prefix = "a234567890123456789012345678901234567890123456789012345678901"},
       PSDM_E_ARGUMENT,
       "the prefix must be a C identifier"},
      {{.method = PSDM_CODE_EXPANDED, .gravity_argument = true}, PSDM_E_ARGUMENT, "need the recursive method"},
      {{.wraps = 1u << PSDM_CODE_WRAP_FMU, .real_float = true}, PSDM_E_ARGUMENT, ""},
      {{.wraps = 1u << PSDM_CODE_WRAP_CASADI, .target = PSDM_CODE_CUDA}, PSDM_E_ARGUMENT, ""},
      {{.wraps = 1u << 20}, PSDM_E_ARGUMENT, ""},
  };
  psdm_robot *robot = load_shipped("two_link"), *one = parse_robot("convention: dh\njoints: [{name: a, a: 1}]\n");
  psdm_code *found = (psdm_code *)&found;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_error error = {0};
    expect(psdm_code_build(robot, &cases[k].o, NULL, &found, &error), cases[k].status, &error, cases[k].sentence, k);
    assert_null(found);
  }
  psdm_error error = {0};
  expect(psdm_code_build(one, NULL, NULL, &found, &error), PSDM_E_MISSING, &error, "", 0);
  psdm_model *model, *base;
  assert_int_equal(psdm_model_derive(one, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  expect(psdm_code_build_model(robot, model, NULL, NULL, &found, &error), PSDM_E_ROBOT, &error,
         "the model has 1 joints", 0);
  psdm_model_free(model);
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &base, NULL, NULL), PSDM_OK); /* without functions */
  expect(psdm_code_build_model(robot, base, NULL, NULL, &found, &error), PSDM_E_ARGUMENT, &error,
         "the model has no functions", 0);
  psdm_model_free(base);
  assert_null(psdm_function_name(PSDM_FUNCTION_COUNT));
  assert_null(psdm_function_help((psdm_function)-1));
  assert_null(psdm_code_wrap_name(PSDM_CODE_WRAPS));
  psdm_function f;
  assert_false(psdm_function_find("Inverse", &f));
  psdm_robot_free(robot), psdm_robot_free(one);
}

TEST(reduction) {
  psdm_robot *robot = load_shipped("two_link"), *one = parse_robot("convention: dh\njoints: [{name: a, a: 1}]\n");
  psdm_model *model, *other, *base, *reduced;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_model_derive(one, NULL, NULL, &other, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &base, NULL, NULL), PSDM_OK);
  const struct {
    const psdm_model *model;
    psdm_reduce_options o;
    const char *sentence;
  } cases[] = {
      {other, {.profile = {1, 1, 1, 0, NULL}}, "another robot's"},
      {base, {.profile = {1, 1, 1, 0, NULL}}, "the model has no functions"},
      {model, {.samples = -1}, "a number of states is negative"},
      {model, {.contributions = -1}, "a number of states is negative"},
      {model, {.profile = {.count = -1}}, "a number of states is negative"},
      {model, {.profile = {.count = 3}}, "a number of states is negative"},
      {model, {.samples = 1L << 40, .profile = {1, 1, 1, 0, NULL}}, "counted in 32 bits"},
      {model, {.contributions = 1L << 40, .profile = {1, 1, 1, 0, NULL}}, "counted in 32 bits"},
      {model, {.profile = {0, 1, 1, 0, NULL}}, "a profile needs ranges or states"},
      {model, {.profile = {1, -1, 1, 0, NULL}}, "a profile needs ranges or states"},
      {model, {.profile = {1, 1, NAN, 0, NULL}}, "a profile needs ranges or states"},
  };
  psdm_reducer *r = (psdm_reducer *)&r;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_error error = {0};
    expect(psdm_reducer_new(robot, cases[k].model, &cases[k].o, NULL, &r, &error), PSDM_E_ARGUMENT, &error,
           cases[k].sentence, k);
    assert_null(r);
  }
  psdm_error error = {0};
  assert_int_equal(
      psdm_reducer_new(
          robot, model,
          &(psdm_reduce_options){.profile = psdm_profile_slow(), .samples = 100, .contributions = 100, .threads = 1},
          NULL, &r, &error),
      PSDM_OK);
  static const double pairs[][2] = {{0, 0.5}, {1, 0.5}, {0.1, 0}, {0.1, 1}, {NAN, 0.5}, {0.1, NAN}};
  for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
    psdm_reduce_info info;
    assert_int_equal(psdm_reducer_reduce(r, pairs[k][0], pairs[k][1], &reduced, &info, &error), PSDM_E_ARGUMENT);
  }
  psdm_reducer_free(r);
  psdm_model_free(model), psdm_model_free(other), psdm_model_free(base);
  psdm_robot_free(robot), psdm_robot_free(one);
}

TEST_MAIN(code, reduction)
