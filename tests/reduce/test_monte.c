/* Errors of reduced models by the program for GPUs, compiled as loops on the processor: bin by bin equal to the
 * library's own code, for random choices of functions; and the message if no compiler is installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/monte.h"
#include "support.h"

static rng g;

static uint64_t next(void) { return rng_next(&g); }

typedef struct fixture {
  psdm_robot *robot;
  psdm_model *model;
  psdm_reducer *reducer;
  uint32_t *count;
} fixture;

static void open_fixture(fixture *x, const char *name, bool forward) {
  psdm_error error;
  x->robot = load_shipped(name);
  assert_int_equal(psdm_model_derive(x->robot, NULL, NULL, &x->model, NULL, NULL), PSDM_OK);
  psdm_reduce_options options = {.profile = psdm_profile_fast(),
                                 .samples = 1000,
                                 .contributions = 1000,
                                 .seed = next() >> 32,
                                 .forward = forward,
                                 .cuda = true,
                                 .nvcc = "c++",
                                 .threads = 1};
  if (psdm_reducer_new(x->robot, x->model, &options, NULL, &x->reducer, &error)) fail_msg("%s", error.text);
  x->count = calloc(PSDMP_REDUCE_BINS, sizeof *x->count);
  assert_non_null(x->count);
}

static void close_fixture(fixture *x) {
  free(x->count);
  psdm_reducer_free(x->reducer);
  psdm_model_free(x->model);
  psdm_robot_free(x->robot);
}

/* most functions, some of them in single torques only: errors far above rounding. forward: the mass matrix stays
 * symmetric if all of it is kept */
static void choose(fixture *x, bool forward) {
  const psdm_model *m = x->model;
  psdm_reducer *r = x->reducer;
  for (long f = 0; f < m->p; f++) r->joints[f] = (next() >> 62 ? UINT64_MAX : next()) >> (64 - m->n);
  for (long f = m->class_start[1]; forward && f < m->class_start[1 + m->n]; f++)
    r->joints[f] = UINT64_MAX >> (64 - m->n);
  for (int j = 0; j < m->l; j++) r->theta_new[j] = r->theta[j] * (1 + 1e-3 * rng_uniform(&g, 0, 100));
}

/* same states, same errors up to rounding: one state in a billion is that close to a bin's edge */
static void same_bins(const char *name, bool forward, long total) {
  fixture x;
  psdm_error error;
  open_fixture(&x, name, forward);
  choose(&x, forward);
  assert_int_equal(psdmp_reduce_errors(x.reducer, PSDMP_REDUCE_STREAM_VERIFY, total, &error), PSDM_OK);
  memcpy(x.count, x.reducer->count, PSDMP_REDUCE_BINS * sizeof *x.count);
  if (psdmp_reduce_monte_errors(x.reducer->monte, x.reducer, PSDMP_REDUCE_STREAM_VERIFY, total, &error))
    fail_msg("%s", error.text);
  long moved = 0, all = 0, bins = 0;
  for (int k = 0; k < PSDMP_REDUCE_BINS; k++) {
    moved += labs((long)x.count[k] - (long)x.reducer->count[k]);
    all += x.reducer->count[k];
    bins += x.count[k] > 0;
  }
  printf("%s%s: %ld states in %ld bins, %ld moved\n", name, forward ? ", forward" : "", all, bins, moved / 2);
  assert_int_equal(all, total);
  assert_true(bins > 100);
  assert_true(moved / 2 <= 1);
  close_fixture(&x);
}

static void bins(void **state) {
  (void)state;
  same_bins("two_link", false, 20011);
  same_bins("fanuc_sr6ia", false, 20011);
  same_bins("fanuc_sr6ia", true, 20011);
  same_bins("kuka_kr6", false, 3001);
}

/* the whole reduction: the same model, the same figures */
static void whole(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  psdm_model *model, *reduced[2];
  psdm_reduce_info info[2];
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  for (int k = 0; k < 2; k++) {
    psdm_error error;
    psdm_reducer *reducer;
    psdm_reduce_options options = {
        .profile = psdm_profile_fast(), .samples = 30000, .seed = 3, .cuda = k == 1, .nvcc = "c++", .threads = 1};
    if (psdm_reducer_new(robot, model, &options, NULL, &reducer, &error)) fail_msg("%s", error.text);
    if (psdm_reducer_reduce(reducer, 0.01, 0.95, &reduced[k], &info[k], &error)) fail_msg("%s", error.text);
    psdm_reducer_free(reducer);
  }
  assert_int_equal(info[0].functions, info[1].functions);
  assert_int_equal(info[0].samples, info[1].samples);
  assert_true(info[0].error == info[1].error && info[0].error_half == info[1].error_half &&
              info[0].error_most == info[1].error_most);
  for (int k = 0; k < 2; k++) psdm_model_free(reduced[k]);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

static void refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"/nonexistent/nvcc", "CUDA's compiler: '/nonexistent/nvcc' was not found"},
                                         {"false", "the compiler failed"},
                                         {"true", "wrote no object"}};
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_error error;
    psdm_reducer *reducer;
    psdm_reduce_options options = {.profile = psdm_profile_fast(), .cuda = true, .nvcc = cases[k][0], .threads = 1};
    assert_int_equal(psdm_reducer_new(robot, model, &options, NULL, &reducer, &error), PSDM_E_COMPILER);
    assert_null(reducer);
    if (!strstr(error.text, cases[k][1])) fail_msg("'%s' lacks '%s'", error.text, cases[k][1]);
  }
  psdm_model_free(model);
  psdm_robot_free(robot);
}

int main(void) {
  g = rng_start("test_monte");
  if (system("command -v c++ > /dev/null")) return printf("SKIPPED: no C++ compiler\n"), 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(bins), cmocka_unit_test(whole), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
