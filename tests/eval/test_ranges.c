/* test_ranges.c: arguments out of range, or without room, are answered as documented in the headers: no name, no text,
 * PSDM_E_ARGUMENT. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/cartesian.h"
#include "psdm/eval.h"
#include "psdm/statespace.h"
#include "support.h"

static void functions(void **state) {
  (void)state;
  const psdm_function none = (psdm_function)PSDM_FUNCTION_COUNT;
  psdm_robot *robot = load_shipped("two_link");
  char text[64], nothing[1] = {'x'};
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
    psdm_function found;
    assert_true(psdm_function_find(psdm_function_name((psdm_function)f), &found) && (int)found == f);
    assert_true(psdm_function_inputs((psdm_function)f)[0] == 'q' && strlen(psdm_function_help((psdm_function)f)) > 5);
    int inputs = psdm_eval_inputs(robot, (psdm_function)f), outputs = psdm_eval_outputs(robot, (psdm_function)f, NULL);
    assert_true(inputs >= 2 && outputs >= 2);
    assert_string_equal(psdm_eval_input_name(robot, (psdm_function)f, inputs, text, sizeof text), "");
    assert_string_equal(psdm_eval_input_name(robot, (psdm_function)f, -1, text, sizeof text), "");
    assert_string_equal(psdm_eval_input_name(robot, (psdm_function)f, 1, text, sizeof text), "q2");
    assert_string_equal(psdm_eval_output_name(robot, (psdm_function)f, NULL, outputs, text, sizeof text), "");
    assert_string_equal(psdm_eval_output_name(robot, (psdm_function)f, NULL, -1, text, sizeof text), "");
    /* each name once */
    for (int k = 0; k < outputs; k++)
      for (int i = 0; i < k; i++) {
        char other[64];
        assert_string_not_equal(psdm_eval_output_name(robot, (psdm_function)f, NULL, k, text, sizeof text),
                                psdm_eval_output_name(robot, (psdm_function)f, NULL, i, other, sizeof other));
      }
  }
  assert_null(psdm_function_name(none));
  assert_null(psdm_function_inputs(none));
  assert_null(psdm_function_help(none));
  assert_true(psdm_eval_inputs(robot, none) == 0 && psdm_eval_outputs(robot, none, NULL) == 0);
  assert_string_equal(psdm_eval_input_name(robot, none, 0, text, sizeof text), "");
  assert_ptr_equal(psdm_eval_input_name(robot, PSDM_F_INVERSE, 0, nothing, 0), nothing);
  assert_ptr_equal(psdm_eval_output_name(robot, PSDM_F_INVERSE, NULL, 0, nothing, 0), nothing);
  assert_int_equal(nothing[0], 'x');
  /* a closed form without its model, its parameters or its room */
  psdm_model *model;
  psdm_work *work;
  double in[6] = {0}, out[64], theta[16] = {0}, *scratch;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  scratch = calloc(psdm_eval_scratch(robot, model) + 1, sizeof *scratch);
  assert_non_null(scratch);
  const psdm_eval_options whole = {.expanded = true, .model = model, .theta = theta, .scratch = scratch};
  psdm_eval_options o = whole;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &o, in, out), PSDM_OK);
  o = whole, o.model = NULL;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &o, in, out), PSDM_E_ARGUMENT);
  o = whole, o.theta = NULL;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &o, in, out), PSDM_E_ARGUMENT);
  o = whole, o.scratch = NULL;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &o, in, out), PSDM_E_ARGUMENT);
  free(scratch);
  psdm_work_free(work, NULL);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

static void models(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *m;
  char text[64], nothing[1] = {'x'};
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &m, NULL, NULL), PSDM_OK);
  assert_true(psdm_model_class_start(m, -1) == 0 &&
              psdm_model_class_start(m, psdm_model_classes(m)) == psdm_model_p(m) &&
              psdm_model_class_start(m, 1000) == psdm_model_p(m));
  assert_string_equal(psdm_model_function_text(m, -1, text, sizeof text), "");
  assert_string_equal(psdm_model_function_text(m, psdm_model_p(m), text, sizeof text), "");
  assert_ptr_equal(psdm_model_function_text(m, 0, nothing, 0), nothing);
  assert_int_equal(nothing[0], 'x');
  /* truncated text ends within its buffer, wherever it is cut */
  for (long f = 0; f < psdm_model_p(m); f++) {
    size_t length = strlen(psdm_model_function_text(m, f, text, sizeof text));
    for (size_t room = 1; room <= length; room++) {
      char cut[64];
      memset(cut, 'x', sizeof cut);
      psdm_model_function_text(m, f, cut, room);
      assert_true(strlen(cut) < room && strncmp(cut, text, strlen(cut)) == 0);
    }
  }
  assert_null(psdm_model_base_name(m, -1));
  assert_null(psdm_model_base_name(m, psdm_model_l(m)));
  assert_string_equal(psdm_model_standard_name(m, -1, text, sizeof text), "");
  assert_string_equal(psdm_model_standard_name(m, psdm_model_standard_count(m), text, sizeof text), "");
  psdm_model_free(m);
  psdm_robot_free(robot);
}

static void systems(void **state) {
  (void)state;
  const double A[4] = {0, 1, -4, 0}, B[2] = {0, 1}, Q[4] = {1, 0, 0, 1}, R[1] = {1}, bad[4] = {0, NAN, 0, 0},
               skew[4] = {1, 1, 0, 1}, negative[1] = {-1};
  double *scratch = calloc(psdm_system_scratch(2, 1), sizeof *scratch), Ad[4], Bd[2], K[2], X[4];
  psdm_mode modes[2];
  psdm_system_facts facts;
  psdm_lqr_info info;
  assert_non_null(scratch);
  assert_null(psdm_lqr_text(PSDM_LQR_COUNT));
  assert_null(psdm_stability_text((psdm_stability)100));
  static const struct {
    int states, inputs;
    double dt;
  } odd[] = {{0, 1, 0}, {2, 0, 0}, {2, 1, -1}, {2, 1, NAN}, {2, 1, INFINITY}};
  for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
    assert_int_equal(psdm_system_discretise(odd[k].states, odd[k].inputs, A, B, odd[k].dt, scratch, Ad, Bd),
                     PSDM_E_ARGUMENT);
    assert_int_equal(psdm_system_analyze(odd[k].states, odd[k].inputs, A, B, odd[k].dt, scratch, modes, &facts),
                     PSDM_E_ARGUMENT);
    assert_int_equal(psdm_system_lqr(odd[k].states, odd[k].inputs, A, B, odd[k].dt, Q, R, scratch, K, X, modes, &info),
                     PSDM_E_ARGUMENT);
  }
  assert_int_equal(psdm_system_analyze(2, 1, bad, B, 0, scratch, modes, &facts), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_system_analyze(2, 1, A, bad, 0, scratch, modes, &facts), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_system_lqr(2, 1, A, B, 0, bad, R, scratch, K, X, modes, &info), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_system_lqr(2, 1, A, B, 0, Q, bad + 1, scratch, K, X, modes, &info), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_system_lqr(2, 1, A, B, 0, skew, R, scratch, K, X, modes, &info), PSDM_OK);
  assert_int_equal(info.outcome, PSDM_LQR_WEIGHT);
  assert_int_equal(psdm_system_lqr(2, 1, A, B, 0, Q, negative, scratch, K, X, modes, &info), PSDM_OK);
  assert_int_equal(info.outcome, PSDM_LQR_WEIGHT);
  /* without the cost and the modes; an odd number of states */
  assert_int_equal(psdm_system_lqr(2, 1, A, B, 0, Q, R, scratch, K, NULL, NULL, &info), PSDM_OK);
  assert_int_equal(info.outcome, PSDM_LQR_OK);
  assert_int_equal(psdm_system_analyze(1, 1, (const double[]){-2}, (const double[]){1}, 0, scratch, modes, &facts),
                   PSDM_OK);
  assert_true(facts.stability == PSDM_STABILITY_STABLE && fabs(modes[0].frequency - 2) < 1e-14 &&
              facts.reachable == 1 && facts.controllable);
  assert_int_equal(psdm_system_analyze(1, 1, (const double[]){0}, (const double[]){0}, 0, scratch, modes, &facts),
                   PSDM_OK);
  assert_true(facts.reachable == 0 && !facts.controllable);
  free(scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions), cmocka_unit_test(models), cmocka_unit_test(systems)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
