/* test_batch.c: many states at once give psdm_eval's numbers, bit by bit, for every function and any number of
 * threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { STATES = 1000 };

static void every_function(void **state) {
  (void)state;
  rng g = rng_start("every_function");
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  psdm_linear *linear;
  psdm_model *model;
  psdm_error error;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
  double *scratch = malloc(psdm_eval_scratch(robot, model) * sizeof *scratch);
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
    const psdm_eval_options o = {.model = f == PSDM_F_REGRESSOR ? model : NULL, .scratch = scratch, .linear = linear};
    int inputs = psdm_eval_inputs(robot, (psdm_function)f), outputs = psdm_eval_outputs(robot, (psdm_function)f, &o);
    double *in = malloc((size_t)(STATES * inputs) * sizeof *in),
           *one = malloc((size_t)(STATES * outputs) * sizeof *one),
           *all = malloc((size_t)(STATES * outputs) * sizeof *all);
    for (int k = 0; k < STATES * inputs; k++) in[k] = rng_uniform(&g, -3, 3);
    for (int k = 0; k < STATES; k++)
      assert_int_equal(psdm_eval(robot, work, (psdm_function)f, &o, in + k * inputs, one + k * outputs), PSDM_OK);
    for (int threads = 1; threads < 5; threads++) {
      psdm_batch *batch;
      long failed;
      assert_int_equal(psdm_batch_new(robot, (psdm_function)f, &o, threads, NULL, &batch, &error), PSDM_OK);
      memset(all, 0xAB, (size_t)(STATES * outputs) * sizeof *all);
      assert_int_equal(psdm_batch_eval(batch, STATES, in, all, &failed), PSDM_OK);
      assert_int_equal(failed, STATES);
      assert_memory_equal(one, all, (size_t)(STATES * outputs) * sizeof *all);
      assert_int_equal(psdm_batch_eval(batch, 0, in, all, &failed), PSDM_OK);
      psdm_batch_free(batch);
    }
    free(in), free(one), free(all);
  }
  free(scratch);
  psdm_model_free(model);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* a loop that cannot be closed: the first such state is reported, whichever thread finds it */
static void the_first_failure_is_reported(void **state) {
  (void)state;
  rng g = rng_start("the_first_failure_is_reported");
  psdm_robot *robot = parse_robot("{convention: modified-dh, gravity: [0, -9.81, 0], joints: [{name: a}, {name: b, a: "
                                  "0.25}, {name: c, parent: base, a: 0.3}, {name: d, parent: c, a: 0.25}],"
                                  "links: [{mass: 1}, {mass: 1}, {mass: 1}, {mass: 1}],"
                                  "loops: [{links: [link2, link4], points: [[0.25, 0, 0], [0.25, 0, 0]], joints: [b, "
                                  "d], start: [-0.6, 0.6], at: {a: 90 deg, c: 90 deg}}]}");
  psdm_work *work;
  psdm_error error;
  int n = psdm_robot_n(robot), outputs = psdm_eval_outputs(robot, PSDM_F_GRAVITY, NULL);
  double *in = malloc((size_t)(STATES * n) * sizeof *in), *out = malloc((size_t)(STATES * outputs) * sizeof *out);
  long first = -1;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (long k = 0; k < STATES; k++) { /* the first 300 close, the next one does not */
    psdm_status status = PSDM_OK;
    do {
      for (int i = 0; i < n; i++) in[k * n + i] = rng_uniform(&g, -3, 3);
      status = psdm_eval(robot, work, PSDM_F_GRAVITY, NULL, in + k * n, out);
    } while (k <= 300 && (status == PSDM_OK) == (k == 300));
    if (status && first < 0) first = k;
  }
  print_message("state %ld is the first that fails\n", first);
  assert_int_equal(first, 300);
  for (int threads = 1; threads < 5; threads++) {
    psdm_batch *batch;
    long failed;
    assert_int_equal(psdm_batch_new(robot, PSDM_F_GRAVITY, NULL, threads, NULL, &batch, &error), PSDM_OK);
    assert_int_not_equal(psdm_batch_eval(batch, STATES, in, out, &failed), PSDM_OK);
    assert_int_equal(failed, first);
    psdm_batch_free(batch);
  }
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
  free(in), free(out);
}

static void refusals_and_memory(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  psdm_batch *batch;
  psdm_error error;
  assert_int_equal(psdm_batch_new(robot, PSDM_FUNCTION_COUNT, NULL, 1, NULL, &batch, &error), PSDM_E_ARGUMENT);
  assert_null(batch);
  psdm_batch_free(NULL);
  /* another robot's model */
  psdm_robot *other = load_shipped("puma560");
  psdm_model *model;
  assert_int_equal(psdm_base_parameters_derive(other, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  const psdm_eval_options options = {.model = model};
  assert_int_equal(psdm_batch_new(robot, PSDM_F_REGRESSOR, &options, 1, NULL, &batch, &error), PSDM_E_ROBOT);
  assert_null(batch);
  assert_non_null(strstr(error.text, "standard parameters; robot"));
  assert_int_equal(psdm_batch_new(other, PSDM_F_REGRESSOR, &options, 1, NULL, &batch, &error), PSDM_OK);
  psdm_batch_free(batch);
  psdm_model_free(model);
  psdm_robot_free(other);
  for (long fail = 1;; fail++) {
    counting c;
    counting_init(&c, fail);
    psdm_status status = psdm_batch_new(robot, PSDM_F_LINEARIZE_FORWARD, NULL, 3, &c.allocator, &batch, &error);
    if (!status) psdm_batch_free(batch);
    assert_int_equal(c.live, 0);
    if (!status) break;
    assert_int_equal(status, PSDM_E_MEMORY);
  }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_function), cmocka_unit_test(the_first_failure_is_reported),
                                     cmocka_unit_test(refusals_and_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
