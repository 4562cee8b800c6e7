/* test_reduce_spread.c: reductions and searches for motions by several ranks give the same bits as by one process. */
#include <math.h>
#include <string.h>

#include "psdm/excite.h"
#include "psdm/reduce.h"
#include "ranks_by_fork.h"

/* ---- reductions ---- */

typedef struct answer {
  psdm_reduce_info info;
  double mean[200], median[200], largest[200], error_at[2];
  long functions;
} answer;

static void reduce(const psdm_robot *robot, const psdm_model *model, const psdm_reduce_options *o, answer *a) {
  psdm_reducer *reducer;
  psdm_model *reduced;
  psdm_error error;
  *a = (answer){.functions = psdm_model_p(model)};
  assert_true(a->functions <= 200);
  if (psdm_reducer_new(robot, model, o, NULL, &reducer, &error)) fail_msg("%s", error.text);
  for (long f = 0; f < a->functions; f++)
    psdm_reducer_contribution(reducer, f, &a->mean[f], &a->median[f], &a->largest[f]);
  if (psdm_reducer_errors(reducer, a->functions - 1, (const double[]){0.5, 0.9}, a->error_at, &error))
    fail_msg("%s", error.text);
  if (psdm_reducer_reduce(reducer, 0.05, 0.9, &reduced, &a->info, &error)) fail_msg("%s", error.text);
  a->info.seconds = 0;
  psdm_model_free(reduced);
  psdm_reducer_free(reducer);
}

static void assert_same(const answer *a, const answer *b) {
  assert_memory_equal(a->mean, b->mean, sizeof a->mean);
  assert_memory_equal(a->median, b->median, sizeof a->median);
  assert_memory_equal(a->largest, b->largest, sizeof a->largest);
  assert_memory_equal(a->error_at, b->error_at, sizeof a->error_at);
  assert_true(a->info.functions == b->info.functions && a->info.error == b->info.error &&
              a->info.error_half == b->info.error_half && a->info.error_most == b->info.error_most);
}

static void on_ranks(const psdm_robot *robot, const psdm_model *model, psdm_reduce_options o, int size,
                     const answer *expected) {
  static answer found;
  forked f;
  fork_ranks(&f, size);
  o.ranks = &f.ranks, o.threads = 1;
  if (f.ranks.rank > 0) {
    psdm_status status = psdm_reducer_help(robot, model, &o, NULL, NULL);
    join_ranks(&f, status ? "a helper fails" : NULL);
  }
  reduce(robot, model, &o, &found);
  reduce(robot, model, &o, &found); /* another reducer of the same ranks */
  assert_same(&found, expected);
  join_ranks(&f, NULL);
}

static void reductions(void **state) {
  (void)state;
  static answer expected;
  static double states[3 * 2 * 500];
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  for (int i = 0; i < 3000; i++) states[i] = sin(1.7 * i) * (1 + i % 3);
  const psdm_reduce_options cases[] = {
      {.samples = 60000,
       .contributions = 30000,
       .seed = 3,
       .threads = 1,
       .medians = true,
       .profile = {.q = 3, .qd = 2, .qdd = 3}},
      {.samples = 60000,
       .contributions = 30000,
       .seed = 4,
       .threads = 1,
       .forward = true,
       .profile = {.q = 3, .qd = 2, .qdd = 3}},
      {.threads = 1, .profile = {.count = 500, .states = states}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    reduce(robot, model, &cases[k], &expected);
    assert_true(expected.info.functions > 0 && expected.info.functions <= expected.functions &&
                expected.info.samples > 0);
    on_ranks(robot, model, cases[k], 2, &expected);
    on_ranks(robot, model, cases[k], 3, &expected);
  }
  psdm_model_free(model);
  psdm_robot_free(robot);
}

/* more reducers than helpers can hold, a helper that is rank 0, a helper with another robot */
static void refusals(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link"), *other = load_shipped("puma560");
  psdm_model *model;
  psdm_error error;
  forked f;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  fork_ranks(&f, 2);
  psdm_reduce_options o = {
      .samples = 1000, .contributions = 1000, .threads = 1, .profile = {.q = 3, .qd = 2, .qdd = 3}, .ranks = &f.ranks};
  if (f.ranks.rank > 0) {
    bool refused = psdm_reducer_help(other, model, &o, NULL, &error) == PSDM_E_ROBOT;
    psdm_status status = psdm_reducer_help(robot, model, &o, NULL, NULL);
    join_ranks(&f, status || !refused ? "a helper fails" : NULL);
  }
  assert_int_equal(psdm_reducer_help(robot, model, &o, NULL, &error), PSDM_E_ARGUMENT);
  psdm_reducer *many[17] = {NULL};
  for (int k = 0; k < 17; k++) {
    psdm_status status = psdm_reducer_new(robot, model, &o, NULL, &many[k], &error);
    assert_int_equal(status, k < 16 ? PSDM_OK : PSDM_E_LIMIT);
  }
  assert_non_null(strstr(error.text, "more than 16 reducers at a time"));
  for (int k = 0; k < 16; k++) psdm_reducer_free(many[k]);
  assert_int_equal(psdm_reducer_new(robot, model, &o, NULL, &many[0], &error), PSDM_OK); /* there is room again */
  psdm_reducer_free(many[0]);
  join_ranks(&f, NULL);
  psdm_model_free(model);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

/* ---- searches ---- */

static void searches(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("two_link");
  for (int shape = 0; shape < 2; shape++) {
    psdm_excite_options o = {.step = PSDM_STEP_INERTIA,
                             .shape = shape ? PSDM_EXCITE_SINES : PSDM_EXCITE_FOURIER,
                             .goal = shape ? PSDM_EXCITE_LOGDET : PSDM_EXCITE_CONDITION,
                             .harmonics = 3,
                             .starts = 3,
                             .evaluations = 60,
                             .threads = 1,
                             .seed = 5,
                             .wall = 1000};
    psdm_excitation *alone, *together;
    psdm_error error;
    forked f;
    if (psdm_excite(robot, &o, NULL, &alone, &error)) fail_msg("%s", error.text);
    fork_ranks(&f, 2);
    o.ranks = &f.ranks;
    if (f.ranks.rank > 0) {
      psdm_status status = psdm_excite(robot, &o, NULL, &together, NULL);
      join_ranks(&f, status ? "a helper fails" : NULL);
    }
    if (psdm_excite(robot, &o, NULL, &together, &error)) fail_msg("%s", error.text);
    print_message("condition %.17g %.17g, evaluations %ld %ld\n", alone->condition, together->condition,
                  alone->evaluations, together->evaluations);
    assert_true(together->condition == alone->condition && together->evaluations == alone->evaluations);
    double a[6], b[6];
    for (double t = 0; t < 10; t += 0.7) {
      psdm_motion_at(alone->motion, t, 3, a);
      psdm_motion_at(together->motion, t, 3, b);
      assert_memory_equal(a, b, sizeof a);
    }
    join_ranks(&f, NULL);
    psdm_excitation_free(alone);
    psdm_excitation_free(together);
  }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reductions), cmocka_unit_test(refusals),
                                     cmocka_unit_test(searches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
