/* test_header_examples.c: the examples in the headers' comments compile, run and do what they say. header_examples.awk
 * extracts them; a new one needs a function here with its setup. */
#define _XOPEN_SOURCE 700 /* chdir, mkdtemp */
#include "psdm/psdm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "support.h"

enum { N = 2, ROWS = 4000 };

static psdm_error error;

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/* q, qd, qdd of joint i at t: three sines */
static void move_at(double t, int i, double x[3]) {
  static const double w[] = {1.3, 2.9, 5.3}, size[] = {0.5, 0.25, 0.12};
  x[0] = x[1] = x[2] = 0;
  for (int k = 0; k < 3; k++) {
    double v = w[k] * (1 + 0.3 * i), phase = v * t + i + k;
    x[0] += size[k] * sin(phase), x[1] += v * size[k] * cos(phase), x[2] -= v * v * size[k] * sin(phase);
  }
}

static void write_log(const psdm_robot *robot, const char *path) {
  psdm_work *work;
  FILE *out = fopen(path, "w");
  assert_true(out && !psdm_work_new(robot, NULL, &work));
  fprintf(out, "t,q1,q2,tau1,tau2\n");
  for (int k = 0; k < ROWS; k++) {
    double t = 0.005 * k, q[N], qd[N], qdd[N], x[3], tau[N];
    for (int i = 0; i < N; i++) move_at(t, i, x), q[i] = x[0], qd[i] = x[1], qdd[i] = x[2];
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    for (int i = 0; i < N; i++) tau[i] += 0.3 * qd[i] + 0.2 * (qd[i] > 0 ? 1 : -1);
    fprintf(out, "%.9g,%.15g,%.15g,%.15g,%.15g\n", t, q[0], q[1], tau[0], tau[1]);
  }
  fclose(out);
  psdm_work_free(work, NULL);
}

static psdm_calibration *calibrated(const psdm_robot *robot) {
  const char *path = "run.csv";
  psdm_calibration *calibration;
#include "calibrate.inc"
  assert_string_equal(error.text, "");
  return calibration;
}

static void example_calibrate(const psdm_robot *robot) {
  psdm_calibration *calibration = calibrated(robot);
  assert_true(calibration->heldout[PSDM_FIT_ALL].rows > ROWS / 5 &&
              calibration->heldout[PSDM_FIT_ALL].global_rel < 0.05);
  psdm_calibration_free(calibration);
}

static void example_codegen(const psdm_robot *robot) {
  const psdm_code_options options = {0};
#include "codegen.inc"
  assert_true(psdm_code_count(code) > 0 && exists("out/Makefile"));
  psdm_code_free(code);
}

static void example_compile(const psdm_robot *robot) {
  psdm_code *code;
  psdm_work *work;
  double q[N] = {0.3, -0.4}, qd[N] = {1, 2}, qdd[N] = {3, -1}, tau[N], expected[N];
  const psdm_code_options inverse = {.functions = 1u << PSDM_CODE_INVERSE};
  assert_int_equal(psdm_code_build(robot, &inverse, NULL, &code, &error), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
#include "compile.inc"
  assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, expected), PSDM_OK);
  for (int i = 0; i < N; i++) assert_true(fabs(tau[i] - expected[i]) < 1e-12);
  psdm_compiled_free(arm);
  psdm_code_free(code);
  psdm_work_free(work, NULL);
}

static psdm_motion *still_motion(const double *from, const double *to) {
  const int n = N;
  double x[3 * N], t = 1;
#include "motion.inc"
  for (int i = 0; i < N; i++) assert_true(fabs(x[i] - (from[i] + to[i]) / 2) < 1e-12 && fabs(x[2 * N + i]) < 1e-12);
  return move;
}

static void example_motion(const psdm_robot *robot) {
  (void)robot;
  psdm_motion *motion = still_motion((double[N]){0, 1}, (double[N]){1, -1});
  assert_true(psdm_motion_end(motion) == 2);
  psdm_motion_free(motion);
}

static void example_control(const psdm_robot *model) {
  double q[N] = {0.1, 0.2}, qd[N] = {0}, tau[N] = {NAN, NAN};
  const double *states = NULL;
  double *rates = NULL;
  const psdm_control_input in = {.t = 0.5, .q = q, .qd = qd};
  psdm_motion *reference = still_motion((double[N]){0}, (double[N]){1, -1});
#include "control.inc"
  assert_true(isfinite(tau[0]) && isfinite(tau[1]));
  psdm_control_free(c);
  psdm_motion_free(reference);
}

static void example_excite(const psdm_robot *robot) {
  psdm_excitation *excitation = NULL;
  double t = 1, x[3 * N] = {NAN};
  const psdm_excite_options trial = {.step = PSDM_STEP_INERTIA, .starts = 1, .evaluations = 2};
  if (psdm_excite(robot, &trial, NULL, &excitation, &error)) { /* the search is NLopt's, which is optional */
    assert_non_null(strstr(error.text, "NLopt"));
    error.text[0] = '\0';
    return;
  }
  psdm_excitation_free(excitation);
#include "excite.inc"
  assert_true(excitation->seconds >= 10 && isfinite(x[0]));
  psdm_excitation_free(excitation);
}

static void example_expr(const psdm_robot *robot) {
  (void)robot;
#include "expr.inc"
  assert_true(psdm_graph_status(g) == PSDM_OK && y != x);
  psdm_graph_free(g);
}

static void example_job(const psdm_robot *robot) {
  psdm_job *job;
  psdm_job_rows rows;
#include "job.inc"
  assert_int_equal(rows.rows, 101);
  assert_string_equal(rows.names[0], "t");
  psdm_job_free(job);
}

static void example_log(const psdm_robot *robot) {
  psdm_log_rows rows;
  long seen = 0;
#include "log.inc"
  assert_int_equal(seen, ROWS);
  psdm_log_close(log);
}

static void example_parameters(psdm_robot *robot) {
  psdm_calibration *calibration = calibrated(robot);
  psdm_parameters *parameters;
  psdm_output *out;
  assert_int_equal(psdm_parameters_from(calibration, false, NULL, &parameters, &error), PSDM_OK);
  assert_int_equal(psdm_output_open("arm.yaml", NULL, &out, &error), PSDM_OK);
  psdm_parameters_write(parameters, out);
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
  psdm_parameters_free(parameters);
#include "parameters.inc"
  assert_string_equal(error.text, "");
  psdm_parameters_free(parameters);
  psdm_calibration_free(calibration);
}

static void example_ranks(const psdm_robot *robot) {
  const char *path = "run.csv";
  (void)robot;
#include "ranks.inc"
  assert_true(!options.ranks);
}

static psdm_model *derived(const psdm_robot *robot, psdm_derive_info *info) {
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, info, &error), PSDM_OK);
  return model;
}

static void example_reduce(const psdm_robot *robot) {
  psdm_model *model = derived(robot, NULL), *reduced;
  psdm_reduce_info info;
  const psdm_reduce_options options = {.profile = psdm_profile_slow(), .samples = 2000, .contributions = 2000};
#include "reduce.inc"
  assert_true(info.reached && info.functions <= info.functions_before && exists("reduced.json"));
  psdm_reducer_free(reducer);
  psdm_model_free(reduced);
  psdm_model_free(model);
}

static void example_results(const psdm_robot *robot) {
  const int states = 100;
  psdm_output *output;
  psdm_derive_info info;
  const psdm_derive_options options = {0};
  psdm_model *model = derived(robot, &info);
  assert_int_equal(psdm_output_open("calibration.json", NULL, &output, &error), PSDM_OK);
#include "results.inc"
  assert_int_equal(psdm_output_commit(&output, &error), PSDM_OK);
  assert_true(exists("calibration.json"));
  psdm_model_free(model);
}

/* from the files of other examples */
static void example_report(const psdm_robot *robot) {
  FILE *rows = fopen("rows.csv", "w");
  (void)robot;
  assert_non_null(rows);
  fprintf(rows, "t,q1,q2\n0,0,1\n1,1,0\n");
  fclose(rows);
  example_results(robot);
#include "report.inc"
  assert_true(exists("report.html"));
}

static bool row(void *user, const psdm_sim_row *at) {
  *(double *)user = at->t;
  return at->t < 0.5;
}

static void example_sim(const psdm_robot *robot) {
  const psdm_sim_options options = {.no_code = true};
  double q[N] = {0.1, 0}, qd[N] = {0}, seen = 0, *user = &seen;
  psdm_sim_result result;
  psdm_sim *sim;
#include "sim.inc"
  assert_true(result.end == PSDM_SIM_STOPPED && seen == result.t && seen >= 0.5);
  psdm_sim_free(sim);
}

static void test_examples(void **state) {
  (void)state;
  int count = 0;
  char folder[] = "/tmp/psdm-examples-XXXXXX";
  psdm_robot *robot = load_shipped("two_link");
  assert_non_null(mkdtemp(folder));
  assert_int_equal(chdir(folder), 0);
  write_log(robot, "run.csv");
#define X(name)                                             \
  memset(&error, 0, sizeof error);                          \
  example_##name(robot);                                    \
  if (error.text[0]) fail_msg("%s: %s", #name, error.text); \
  count++;
#include "all.inc"
#undef X
  assert_int_equal(count, 15);
  psdm_robot_free(robot);
  assert_int_equal(chdir("/"), 0);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
