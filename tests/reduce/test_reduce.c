#define _POSIX_C_SOURCE 200809L /* mkstemp */
/* Reduced models: the promised error, measured again with other states; saving, code generation and repetition. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "reduce/reduce.h"
#include "support.h"

enum { MOST = 12 };

typedef struct fixture {
  psdm_robot *robot;
  psdm_model *model;
  psdm_work *work;
  psdm_reducer *reducer;
  int n;
} fixture;

static bool open_model(fixture *x, psdm_robot *robot) {
  *x = (fixture){.robot = robot, .n = psdm_robot_n(robot)};
  if (psdm_robot_ready(robot, NULL) || psdm_model_derive(robot, NULL, NULL, &x->model, NULL, NULL)) {
    psdm_robot_free(robot);
    return false;
  }
  assert_int_equal(psdm_work_new(robot, NULL, &x->work), PSDM_OK);
  return true;
}

static void open_reducer(fixture *x, const psdm_reduce_options *options) {
  psdm_error error;
  if (psdm_reducer_new(x->robot, x->model, options, NULL, &x->reducer, &error)) fail_msg("%s", error.text);
}

static void close_fixture(fixture *x) {
  psdm_reducer_free(x->reducer);
  psdm_work_free(x->work, NULL);
  psdm_model_free(x->model);
  psdm_robot_free(x->robot);
}

static psdm_model *reduce(fixture *x, double wanted, double confidence, psdm_reduce_info *info) {
  psdm_model *reduced;
  psdm_error error;
  if (psdm_reducer_reduce(x->reducer, wanted, confidence, &reduced, info, &error)) fail_msg("%s", error.text);
  return reduced;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double norm(int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static void random_state(rng *g, const psdm_profile *p, int n, double *q, double *qd, double *qdd) {
  for (int i = 0; i < n; i++)
    q[i] = rng_uniform(g, -p->q, p->q), qd[i] = rng_uniform(g, -p->qd, p->qd), qdd[i] = rng_uniform(g, -p->qdd, p->qdd);
}

/* the quantile of the error by the library's model evaluator and recursion, state by state, with the tests' own
 * numbers */
static double measured(fixture *x, rng *g, const psdm_model *reduced, const psdm_profile *profile, bool forward,
                       double confidence) {
  enum { STATES = 20000 };
  double *errors = calloc(STATES, sizeof *errors), *scratch = calloc(psdm_model_scratch(reduced), sizeof *scratch),
         pi[400], theta[200];
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST], back[MOST];
  int n = x->n;
  psdm_robot_parameters(x->robot, pi);
  psdm_model_theta(reduced, pi, theta);
  for (int k = 0; k < STATES; k++) {
    random_state(g, profile, n, q, qd, qdd);
    psdm_inverse(x->robot, x->work, q, qd, qdd, tau);
    const double *want = forward ? qdd : tau;
    if (forward) assert_int_equal(psdm_model_forward(reduced, theta, q, qd, tau, scratch, back), PSDM_OK);
    else psdm_model_inverse(reduced, theta, q, qd, qdd, scratch, back);
    for (int i = 0; i < n; i++) back[i] -= want[i];
    errors[k] = norm(n, back) / norm(n, want);
  }
  qsort(errors, STATES, sizeof *errors, ascending);
  double at = errors[(int)(confidence * STATES)];
  free(errors);
  free(scratch);
  return at;
}

static long operations(const psdm_robot *robot, const psdm_model *model, psdm_code_function f) {
  psdm_code *code;
  psdm_cost cost;
  psdm_error error;
  psdm_code_options options = {.functions = 1u << f, .method = PSDM_CODE_EXPANDED};
  if (model ? psdm_code_build_model(robot, model, &options, NULL, &code, &error)
            : psdm_code_build(robot, &options, NULL, &code, &error))
    fail_msg("%s", error.text);
  psdm_code_at(code, 0, &cost, NULL);
  psdm_code_free(code);
  return cost.mult + cost.add + cost.div;
}

/* ---- the paper's robots ---- */

static void test_published(void **unused) {
  (void)unused;
  static const struct {
    const char *name;
    double fewer; /* percent of the operations of the full closed form */
  } robots[] = {{"kuka_kr6", 75}, {"kuka_lbr7", 70}};
  rng g = rng_start("reduce");
  for (int k = 0; k < 2; k++) {
    fixture x;
    psdm_reduce_info info;
    psdm_reduce_options options = {
        .profile = psdm_profile_slow(), .samples = 100000, .contributions = 20000, .seed = 1};
    assert_true(open_model(&x, load_shipped(robots[k].name)));
    open_reducer(&x, &options);
    psdm_model *reduced = reduce(&x, 0.01, 0.95, &info);
    double error = measured(&x, &g, reduced, &options.profile, false, 0.95);
    long full = operations(x.robot, NULL, PSDM_CODE_INVERSE), less = operations(x.robot, reduced, PSDM_CODE_INVERSE);
    printf("%s: %ld of %ld functions, %d of %d parameters, error %.4f (measured %.4f), %ld of %ld operations, %.1f %% "
           "fewer\n",
           robots[k].name, info.functions, info.functions_before, info.parameters, info.parameters_before, info.error,
           error, less, full, 100 - 100.0 * (double)less / (double)full);
    assert_true(info.reached && info.error <= 0.01 && info.samples == 100000);
    assert_true(error <= 0.0105);
    assert_true(info.functions * 50 < info.functions_before && info.parameters < info.parameters_before);
    assert_true((double)less <= (1 - robots[k].fewer / 100) * (double)full);
    psdm_model_free(reduced);
    close_fixture(&x);
  }
}

/* tighter errors and higher confidences need more functions */
static void test_monotone(void **unused) {
  (void)unused;
  fixture x;
  psdm_reduce_info a, b, c;
  psdm_reduce_options options = {.profile = psdm_profile_fast(), .samples = 20000, .contributions = 20000, .seed = 3};
  assert_true(open_model(&x, load_shipped("fanuc_sr6ia")));
  open_reducer(&x, &options);
  psdm_model_free(reduce(&x, 0.05, 0.95, &a));
  psdm_model_free(reduce(&x, 0.01, 0.95, &b));
  psdm_model_free(reduce(&x, 0.01, 0.999, &c));
  assert_true(a.functions <= b.functions && b.functions <= c.functions && a.functions < c.functions);
  assert_true(b.error_half <= b.error && b.error <= b.error_most);
  double errors[2];
  const double confidence[2] = {0.95, 0.999};
  assert_int_equal(psdm_reducer_errors(x.reducer, psdm_model_p(x.model), confidence, errors, NULL), PSDM_OK);
  assert_true(errors[0] < 1e-12 && errors[1] < 1e-10);
  assert_int_equal(psdm_reducer_errors(x.reducer, 20, confidence, errors, NULL), PSDM_OK);
  assert_true(errors[0] > 1e-6 && errors[0] <= errors[1]);
  close_fixture(&x);
}

/* contributions again, one function and state at a time */
static void test_contributions(void **unused) {
  (void)unused;
  enum { STATES = 20000 };
  rng g = rng_start("contributions");
  fixture x;
  psdm_reduce_options options = {.profile = psdm_profile_slow(), .contributions = STATES, .medians = true};
  assert_true(open_model(&x, load_shipped("two_link")));
  open_reducer(&x, &options);
  long p = psdm_model_p(x.model);
  double sum[64] = {0}, *y = calloc((size_t)p, sizeof *y), pi[100], theta[64], q[MOST], qd[MOST], qdd[MOST], tau[MOST];
  psdm_robot_parameters(x.robot, pi);
  psdm_model_theta(x.model, pi, theta);
  for (int k = 0; k < STATES; k++) {
    random_state(&g, &options.profile, x.n, q, qd, qdd);
    psdm_inverse(x.robot, x.work, q, qd, qdd, tau);
    psdm_model_y(x.model, q, qd, qdd, y);
    for (long f = 0; f < p; f++) {
      double one[64] = {0}, part[MOST];
      one[f] = y[f];
      psdm_model_torque(x.model, PSDM_PART_ALL, one, theta, part);
      sum[f] += norm(x.n, part) / norm(x.n, tau) / STATES;
    }
  }
  for (long f = 0; f < p; f++) {
    double mean, median, largest;
    psdm_reducer_contribution(x.reducer, f, &mean, &median, &largest);
    assert_true(median <= 1.2 * largest && mean <= largest);
    if (fabs(mean - sum[f]) > 0.2 * sum[f] + 1e-15) fail_msg("function %ld: %.4g, by hand %.4g", f, mean, sum[f]);
  }
  free(y);
  close_fixture(&x);
}

/* ---- accelerations ---- */

static void test_forward(void **unused) {
  (void)unused;
  rng g = rng_start("reduce, forward");
  fixture x;
  psdm_reduce_info info;
  psdm_reduce_options options = {
      .profile = psdm_profile_fast(), .samples = 30000, .contributions = 20000, .seed = 2, .forward = true};
  assert_true(open_model(&x, load_shipped("fanuc_sr6ia")));
  open_reducer(&x, &options);
  psdm_model *reduced = reduce(&x, 0.01, 0.95, &info);
  assert_true(info.reached && info.functions < info.functions_before);
  double error = measured(&x, &g, reduced, &(psdm_profile){.q = 1, .qd = 1, .qdd = 10}, true, 0.95);
  printf("forward: %ld of %ld functions, error %.4f (measured %.4f)\n", info.functions, info.functions_before,
         info.error, error);
  assert_true(error <= 0.011);
  /* the mass matrix stays symmetric */
  double pi[100], theta[64], *scratch = calloc(psdm_model_scratch(reduced), sizeof *scratch), M[MOST * MOST],
                             q[MOST] = {0.3, -0.7, 0.2, 1.1};
  psdm_robot_parameters(x.robot, pi);
  psdm_model_theta(reduced, pi, theta);
  psdm_model_mass(reduced, theta, q, scratch, M);
  for (int i = 0; i < x.n; i++)
    for (int j = 0; j < i; j++) assert_true(fabs(M[i * x.n + j] - M[j * x.n + i]) <= 1e-12);
  free(scratch);
  psdm_model_free(reduced);
  close_fixture(&x);
}

/* ---- the result as an object ---- */

/* same seed, same model; saved and loaded it gives the same torques, and so does its graph */
static void test_object(void **unused) {
  (void)unused;
  fixture x;
  psdm_reduce_info info;
  psdm_reduce_options options = {.profile = psdm_profile_fast(), .samples = 20000, .contributions = 10000, .seed = 7};
  assert_true(open_model(&x, load_shipped("hitachi_hpr")));
  open_reducer(&x, &options);
  psdm_model *a = reduce(&x, 0.02, 0.9, &info), *b = NULL, *loaded;
  psdm_reducer *again;
  assert_int_equal(psdm_reducer_new(x.robot, x.model, &options, NULL, &again, NULL), PSDM_OK);
  assert_int_equal(psdm_reducer_reduce(again, 0.02, 0.9, &b, NULL, NULL), PSDM_OK);
  psdm_reducer_free(again);
  assert_int_equal(a->p, b->p);
  assert_int_equal(a->l, b->l);
  assert_memory_equal(a->code, b->code, (size_t)a->p * sizeof *a->code);
  double pi[400], theta[200], other[200];
  psdm_robot_parameters(x.robot, pi);
  psdm_model_theta(a, pi, theta);
  psdm_model_theta(b, pi, other);
  assert_memory_equal(theta, other, (size_t)a->l * sizeof *theta);

  char path[] = "/tmp/psdm-reduce-XXXXXX";
  close(mkstemp(path));
  assert_int_equal(psdm_model_save(a, x.robot, path, NULL), PSDM_OK);
  psdm_error error;
  if (psdm_model_load(path, NULL, &loaded, &error)) fail_msg("%s", error.text);
  unlink(path);
  psdm_model_theta(loaded, pi, other);

  psdm_code *code;
  assert_int_equal(psdm_code_build_model(x.robot, a, NULL, NULL, &code, NULL), PSDM_OK);
  const psdmp_codegen_program *program = &code->program[0];
  double *input = calloc((size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK, sizeof *input),
         *values = calloc(psdm_graph_size(program->graph) + 1, sizeof *values);
  double *scratch = calloc(psdm_model_scratch(a), sizeof *scratch), tau[MOST], tau_loaded[MOST], tau_code[MOST];
  double *q = input + PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK, *qd = input + PSDMP_CODEGEN_IN_QD * PSDMP_CODEGEN_BLOCK,
         *qdd = input + PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK;
  rng g = rng_start("reduced object");
  for (int k = 0; k < 20; k++) {
    random_state(&g, &options.profile, x.n, q, qd, qdd);
    psdm_model_inverse(a, theta, q, qd, qdd, scratch, tau);
    psdm_model_inverse(loaded, other, q, qd, qdd, scratch, tau_loaded);
    psdm_graph_evaluate(program->graph, input, program->output, program->outputs, values, tau_code);
    assert_true(max_difference(tau, tau_loaded, x.n) <= 1e-13 * max_absolute(tau, x.n));
    assert_true(max_difference(tau, tau_code, x.n) <= 1e-12 * max_absolute(tau, x.n));
  }
  free(input);
  free(values);
  free(scratch);
  psdm_code_free(code);
  psdm_model_free(a);
  psdm_model_free(b);
  psdm_model_free(loaded);
  close_fixture(&x);
}

/* ---- listed states, random robots, failures ---- */

static double *listed_states(rng *g, int n, long count) {
  double *states = calloc((size_t)(count * 3 * n), sizeof *states);
  for (long k = 0; k < count * 3 * n; k++) states[k] = rng_uniform(g, -1, 1);
  return states;
}

static void test_random_robots(void **unused) {
  (void)unused;
  rng g = rng_start("reduce, random robots");
  static char text[64 * 1024];
  for (int k = 0; k < 30; k++) {
    random_options random = {1, 4, k % 3 == 0, k % 2, true, true};
    fixture x;
    psdm_reduce_info info;
    if (!open_model(&x, parse_robot(random_robot_text(&g, &random, text, sizeof text)))) continue;
    double *states = listed_states(&g, x.n, 300);
    psdm_reduce_options options = {.profile = {.count = 300, .states = states}, .forward = k % 4 == 1};
    open_reducer(&x, &options);
    psdm_model *reduced = reduce(&x, 0.02, 0.9, &info);
    assert_true(info.reached && info.samples == 300 && info.functions <= info.functions_before);
    psdm_model_free(reduced);
    free(states);
    close_fixture(&x);
  }
}

static bool stop(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  (void)share;
  return --*(int *)user > 0;
}

/* stopped at any moment: no model, or one that keeps its promise at states it was not made from. One thread: its
 * progress calls are counted */
static void test_stopped(void **unused) {
  (void)unused;
  fixture x;
  psdm_error error;
  psdm_reduce_info whole, info;
  int calls = 1000000, left = calls, answers = 0;
  rng g = rng_start("stopped");
  const psdm_reduce_options options = {.profile = psdm_profile_fast(),
                                       .samples = 400000,
                                       .contributions = 20000,
                                       .seed = 3,
                                       .threads = 1,
                                       .progress = stop,
                                       .progress_user = &left};
  assert_true(open_model(&x, load_shipped("fanuc_sr6ia")));
  open_reducer(&x, &options);
  left = calls;
  psdm_model_free(reduce(&x, 0.02, 0.95, &whole));
  assert_false(whole.stopped);
  calls -= left; /* calls of a whole reduction */
  for (int k = 0; k < 6; k++) {
    psdm_model *reduced;
    left = 2 + (calls - 2) * k / 6;
    psdm_status status = psdm_reducer_reduce(x.reducer, 0.02, 0.95, &reduced, &info, &error);
    assert_true(info.stopped);
    if (status) {
      assert_int_equal(status, PSDM_E_STOPPED);
      assert_null(reduced);
      continue;
    }
    answers++;
    assert_true(info.reached && info.error <= 0.02 && info.samples <= 100000 && info.samples >= 20000);
    assert_true(info.functions >= whole.functions * 9 / 10);
    /* a quantile of 20000 states is exact to 1.96 sqrt(0.95 0.05 / 20000) = 0.3 % of confidence */
    assert_true(measured(&x, &g, reduced, &options.profile, false, 0.947) <= 0.02);
    psdm_model_free(reduced);
  }
  assert_true(answers >= 3); /* verification alone takes more than half of the calls */
  close_fixture(&x);
}

static void test_refusals(void **unused) {
  (void)unused;
  fixture x;
  psdm_error error;
  psdm_model *reduced;
  int left = 2;
  assert_true(open_model(&x, load_shipped("two_link")));
  psdm_reduce_options none = {0}, stopped = {.profile = psdm_profile_slow(), .progress = stop, .progress_user = &left},
                      plain = {.profile = psdm_profile_slow(), .contributions = 1000, .samples = 1000};
  assert_int_equal(psdm_reducer_new(x.robot, x.model, &none, NULL, &x.reducer, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_reducer_new(x.robot, x.model, &stopped, NULL, &x.reducer, &error), PSDM_E_STOPPED);
  assert_string_equal(error.text, "stopped on request");
  psdm_reduce_options many = plain;
  many.samples = 5000000000;
  assert_int_equal(psdm_reducer_new(x.robot, x.model, &many, NULL, &x.reducer, &error), PSDM_E_ARGUMENT);
  open_reducer(&x, &plain);
  assert_int_equal(psdm_reducer_reduce(x.reducer, 0, 0.95, &reduced, NULL, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_reducer_reduce(x.reducer, 0.01, 1, &reduced, NULL, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_reducer_keep(x.reducer, 0, &reduced, &error), PSDM_E_ARGUMENT);
  close_fixture(&x);
}

/* every allocation fails once, and nothing leaks */
static void test_memory(void **unused) {
  (void)unused;
  fixture x;
  rng g = rng_start("reduce, memory");
  assert_true(open_model(&x, load_shipped("two_link")));
  double *states = listed_states(&g, x.n, 40);
  psdm_reduce_options options = {.profile = {.count = 40, .states = states}, .medians = true};
  psdm_status status = PSDM_E_MEMORY;
  for (long k = 1; status && k < 10000; k += 1 + k / 20) {
    counting c;
    psdm_reducer *reducer = NULL;
    psdm_model *reduced = NULL;
    counting_init(&c, k);
    status = psdm_reducer_new(x.robot, x.model, &options, &c.allocator, &reducer, NULL);
    if (!status) status = psdm_reducer_reduce(reducer, 0.01, 0.9, &reduced, NULL, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    psdm_model_free(reduced);
    psdm_reducer_free(reducer);
    assert_int_equal(c.live, 0);
  }
  assert_int_equal(status, PSDM_OK);
  free(states);
  close_fixture(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),      cmocka_unit_test(test_stopped), cmocka_unit_test(test_contributions),
      cmocka_unit_test(test_monotone),      cmocka_unit_test(test_object),  cmocka_unit_test(test_forward),
      cmocka_unit_test(test_random_robots), cmocka_unit_test(test_memory),  cmocka_unit_test(test_published)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
