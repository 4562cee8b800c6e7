/* test_job.c: jobs from memory to memory: settings by name, robots and tables as arguments, rows as results, stops. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"

TEST(rows_are_kept) {
  psdm_job *job = job_of("simulate", NULL, robot);
  psdm_job_rows rows;
  set(job, "time", "1");
  set(job, "output", "0.1");
  assert_int_equal(psdm_job_keep(job, "out", NULL), PSDM_OK);
  run(job);
  assert_true(psdm_job_good(job) && !psdm_job_stopped(job));
  assert_true(psdm_job_rows_of(job, "out", &rows));
  assert_int_equal(rows.rows, 11);
  assert_string_equal(rows.names[0], "t");
  assert_string_equal(rows.names[1], "q1");
  assert_float_equal(rows.values[10 * rows.columns], 1, 1e-12);
  const psdm_simulation *found = psdm_job_simulation(job);
  assert_int_equal(found->rows, 11);
  assert_memory_equal(found->last.q, &rows.values[10 * rows.columns + 1], 2 * sizeof(double));
  assert_true(found->run.energy_balance < 1e-9);
  assert_false(psdm_job_rows_of(job, "log", &rows));
  assert_string_equal(psdm_robot_name(psdm_job_robot_used(job)), psdm_robot_name(robot));
  psdm_error error;
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "a job runs once");
  psdm_job_free(job);
}

/* a table in memory stands where a file may: a reference, column by column, every other number */
TEST(tables_come_from_memory) {
  enum { ROWS = 101 };
  static double q[2 * ROWS], t[ROWS];
  for (int k = 0; k < ROWS; k++) t[k] = 0.01 * k, q[2 * k] = 0.5 * t[k] * t[k], q[2 * k + 1] = -t[k];
  const char *const names[] = {"t", "q1", "q2"};
  const double *const columns[] = {t, q, q + 1};
  const long stride[] = {1, 2, 2};
  psdm_error error;
  psdm_job_rows rows;
  psdm_job *job = job_of("simulate", NULL, robot);
  assert_int_equal(psdm_job_table(job, "reference", ROWS, 3, names, columns, stride, &error), PSDM_OK);
  set(job, "inverse", "");
  set(job, "output", "0.5");
  psdm_job_keep(job, "out", NULL);
  run(job);
  assert_true(psdm_job_rows_of(job, "out", &rows));
  assert_int_equal(rows.rows, 3);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 2; c++) assert_float_equal(rows.values[r * rows.columns + 1 + c], q[100 * r + c], 1e-12);
  psdm_job_free(job);

  job = job_of("simulate", NULL, robot);
  q[21] = NAN;
  assert_int_equal(psdm_job_table(job, "reference", ROWS, 3, names, columns, stride, &error), PSDM_OK);
  set(job, "inverse", "");
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_PARSE);
  assert_string_equal(error.file, "reference");
  assert_int_equal(error.line, 11);
  assert_string_equal(error.text, "column 'q2' has a value that is not finite");
  psdm_job_free(job);

  const char *const twice[] = {"t", "q1", "q1"};
  job = job_of("simulate", NULL, robot);
  assert_int_equal(psdm_job_table(job, "reference", ROWS, 3, twice, columns, stride, &error), PSDM_E_PARSE);
  assert_string_equal(error.text, "columns 2 and 3 are both named 'q1'");
  psdm_job_free(job);
}

static bool never(void *user, const char *doing, double share) {
  (void)doing;
  *(double *)user = share;
  return false;
}

TEST(a_stop_keeps_the_rows_so_far) {
  double share = -1;
  psdm_job_rows rows;
  psdm_job *job = job_of("simulate", &(psdm_job_host){.user = &share, .progress = never}, robot);
  set(job, "time", "1e7");
  psdm_job_keep(job, "out", NULL);
  run(job);
  assert_true(psdm_job_stopped(job) && !psdm_job_good(job));
  assert_true(share >= 0 && share < 1);
  assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows >= 1);
  assert_int_equal(psdm_job_simulation(job)->run.end, PSDM_SIM_STOPPED);
  psdm_job_free(job);
}

/* the text of an answer, to be aborted with out */
static const char *json_of(const psdm_result *answer, psdm_output **out) {
  assert_non_null(answer);
  assert_int_equal(psdm_output_memory(NULL, out), PSDM_OK);
  psdm_result_write_json(answer, *out);
  return psdm_output_kept(*out);
}

/* the answer's JSON, read from a file, is the same document again */
static void check_document(const psdm_job *job, const psdm_result_type *type) {
  char path[] = "/tmp/psdm-test-job-XXXXXX";
  psdm_output *first, *second;
  psdm_result *again;
  psdm_error error = {0};
  const char *text = json_of(psdm_job_result(job), &first);
  int file = mkstemp(path);
  assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && close(file) == 0);
  assert_ptr_equal(psdm_job_result(job)->type, type);
  if (psdm_result_read_json(path, psdm_results, NULL, &again, &error))
    fail_msg("%s:%d %s", path, error.line, error.text);
  assert_ptr_equal(again->type, type);
  assert_string_equal(json_of(again, &second), text);
  psdm_output_abort(&first);
  psdm_output_abort(&second);
  psdm_result_free(again);
  unlink(path);
}

TEST(simulations_are_documents) {
  psdm_job *job = job_of("simulate", NULL, robot);
  set(job, "time", "0.5");
  set(job, "control", "adaptive");
  set(job, "reference", "sines");
  set(job, "friction", "lugre");
  assert_null(psdm_job_result(job));
  run(job);
  check_document(job, &psdm_simulate_result_type);
  const psdm_simulate_result *r = (const psdm_simulate_result *)psdm_job_result(job);
  const psdm_simulation *found = psdm_job_simulation(job);
  assert_string_equal(r->end, "time");
  assert_true(r->time == 0.5 && r->energy_balance == found->run.energy_balance &&
              r->energy.kinetic == found->last.kinetic);
  assert_memory_equal(r->final_state.q.item, found->last.q, 2 * sizeof(double));
  assert_true(r->tracking && r->tracking->rms.item[0] == found->rms[0] && r->final_state.z.rows == 2);
  assert_true(r->final_state.control.rows > 0 && r->settings.rows == 4);
  psdm_job_free(job);

  job = job_of("simulate", NULL, robot);
  set(job, "inverse", "");
  set(job, "reference", "quintic");
  set(job, "to", "1");
  set(job, "time", "1");
  run(job);
  check_document(job, &psdm_simulate_inverse_result_type);
  const psdm_simulate_inverse_result *i = (const psdm_simulate_inverse_result *)psdm_job_result(job);
  assert_true(i->begin == 0 && i->end == 1 && i->rows == 101);
  /* the quintic from rest to rest is quickest halfway: 15/8 of its mean speed */
  assert_float_equal(i->peak_speed.item[1], 1.875, 1e-9);
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  psdm_error error;
  psdm_job *job;
  expect_wrong(robot, "simulate", "contrl", "pd", "simulate has no setting 'contrl'; did you mean 'control'?");
  expect_wrong(robot, "simulate", "control", "lqrr", "`control` 'lqrr': did you mean 'lqr'? There are ");
  expect_wrong(robot, "simulate", "time", "long", "`time` 'long': a number was expected, SECONDS");
  expect_wrong(robot, "simulate", "log_rate", "-1", "`log_rate` must not be negative");
  assert_int_equal(psdm_job_new("simulte", NULL, &job, &error), PSDM_E_ARGUMENT);
  assert_null(job);
  assert_null(psdm_job_settings("simulte"));
}

TEST_MAIN_IN(load, unload, rows_are_kept, tables_come_from_memory, a_stop_keeps_the_rows_so_far,
             simulations_are_documents, wrong_settings_are_named)
