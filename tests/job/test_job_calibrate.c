/* test_job_calibrate.c: the job calibrate on logs in memory, in one go and in steps: what it keeps is what the library
 * finds in files of the same numbers; stops, refusals, the checkpoint, the report. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "job_folder.h"

/* what a recorder sees: of a motion at random, and of one for gravity, there and back */
typedef struct recording {
  psdm_job *job;
  psdm_log_table log;
  const double *columns[16];
  long strides[16];
} recording;
static recording fast, slow;
static void keep(psdm_job *job, const char *setting) { assert_int_equal(psdm_job_keep(job, setting, NULL), PSDM_OK); }

static psdm_job *recorder(void) {
  psdm_job *job = job_of("simulate", NULL, robot);
  set(job, "inverse", "");
  set(job, "log_rate", "100");
  keep(job, "log");
  return job;
}

static void record(recording *r, psdm_job *job) {
  psdm_job_rows rows;
  r->job = job;
  run(job);
  assert_true(psdm_job_rows_of(job, "log", &rows) && rows.columns <= 16);
  for (int c = 0; c < rows.columns; c++) r->columns[c] = rows.values + c, r->strides[c] = rows.columns;
  r->log = (psdm_log_table){"run", rows.rows, rows.columns, rows.names, r->columns, r->strides};
}

static void record_fast(void) {
  psdm_job *job = recorder();
  set(job, "reference", "fourier");
  set(job, "time", "5");
  record(&fast, job);
}

static void record_slow(void) {
  psdm_job_rows rows;
  psdm_error error;
  const double *column[16];
  long stride[16];
  psdm_job *motion = job_of("excite", NULL, robot), *job = recorder();
  set(motion, "for", "gravity");
  set(motion, "seconds", "20");
  keep(motion, "out");
  run(motion);
  assert_true(psdm_job_rows_of(motion, "out", &rows) && rows.columns >= 7);
  for (int c = 0; c < 7; c++) column[c] = rows.values + c, stride[c] = rows.columns; /* t, q, qd, qdd */
  if (psdm_job_table(job, "reference", rows.rows, 7, rows.names, column, stride, &error)) fail_msg("%s", error.text);
  record(&slow, job);
  psdm_job_free(motion);
}

static int set_up(void **state) {
  if (load_with_folder(state)) return -1;
  record_fast();
  record_slow();
  return 0;
}

static int tear_down(void **state) {
  psdm_job_free(fast.job);
  psdm_job_free(slow.job);
  return unload_with_folder(state);
}

static const char *path_in(char path[200], const char *name) {
  snprintf(path, 200, "%s/%s", own_folder, name);
  return path;
}

/* the slow one where the name begins with gravity */
static void give_log(psdm_job *job, const char *name) {
  psdm_error error;
  psdm_log_table *log = strncmp(name, "gravity", 7) == 0 ? &slow.log : &fast.log;
  log->name = name;
  if (psdm_job_log(job, "log", log, &error)) fail_msg("%s", error.text);
}

/* least squares without choices: fast, and the same whenever */
static psdm_job *quick_job(const psdm_job_host *host) {
  psdm_job *job = job_of("calibrate", host, robot);
  give_log(job, "run");
  set(job, "estimator", "ols");
  set(job, "plain_friction", "");
  set(job, "cutoff", "20");
  set(job, "delay", "0");
  set(job, "holdout", "0.2");
  return job;
}

/* ---- in one go ---- */

typedef struct predicted {
  const psdm_job_rows *rows;
  long seen;
} predicted;

static bool same_row(void *user, const psdm_predicted_row *row) {
  predicted *p = user;
  const double *kept = p->rows->values + p->seen++ * p->rows->columns;
  assert_true(p->seen <= p->rows->rows);
  assert_true(kept[0] == row->t && kept[1] == row->segment && kept[2] == row->heldout);
  const double *const group[] = {row->q,   row->qd,        row->qdd,  row->tau,
                                 row->raw, row->predicted, row->band, row->friction};
  for (int g = 0; g < 8; g++) assert_memory_equal(kept + 3 + 2 * g, group[g], 2 * sizeof(double));
  return true;
}

/* the same numbers as the library's own call makes of them */
TEST(an_answer_from_memory_is_the_librarys) {
  psdm_calibration *c;
  psdm_parameters *p;
  psdm_error error;
  psdm_job_rows rows;
  const char *name = "run";
  psdm_job *job = quick_job(NULL);
  set(job, "covariance", "");
  keep(job, "out");
  keep(job, "predict");
  run(job);
  const psdm_calibrate_options options = {.files = 1,
                                          .path = &name,
                                          .log = {.tables = 1, .table = &fast.log},
                                          .estimator = PSDM_ESTIMATOR_OLS,
                                          .plain_friction = true,
                                          .cutoff = 20,
                                          .delay_given = true,
                                          .holdout = 0.2};
  if (psdm_calibrate(robot, &options, NULL, &c, &error)) fail_msg("%s", error.text);
  const psdm_calibrate_result *r = (const psdm_calibrate_result *)psdm_job_result(job);
  assert_ptr_equal(r->head.type, &psdm_calibrate_result_type);
  assert_true(psdm_job_good(job) && !psdm_job_stopped(job) && r->verdict.good);
  assert_int_equal(r->parameters.rows, c->base);
  assert_string_equal(r->logs.item[0], "run");
  const char *text = psdm_job_text_of(job, "out");
  assert_non_null(strstr(text, "# verdict: "));
  assert_int_equal(psdm_parameters_parse(text, strlen(text), "kept", robot, NULL, &p, &error), PSDM_OK);
  assert_non_null(p->covariance);
  for (int k = 0; k < c->base; k++) {
    assert_true(r->parameters.item[k].value == c->theta[k].value && p->theta[k].value == c->theta[k].value);
    assert_true(r->parameters.item[k].sd == c->theta[k].sd);
  }
  assert_true(r->heldout.global_rel == c->heldout[PSDM_FIT_MOVING].global_rel && r->heldout.global_rel < 0.01);
  assert_true(psdm_job_rows_of(job, "predict", &rows));
  assert_int_equal(rows.columns, 19);
  assert_string_equal(rows.names[13], "predicted1");
  predicted seen = {&rows, 0};
  assert_int_equal(psdm_calibration_predict(c, same_row, &seen, &error), PSDM_OK);
  assert_int_equal(seen.seen, rows.rows);
  writes_its_document(job);
  psdm_parameters_free(p);
  psdm_calibration_free(c);
  psdm_job_free(job);
}

/* files, kept texts and kept rows have the same content */
TEST(files_and_what_is_kept_are_the_same) {
  static const char *const settings[] = {"out", "urdf"};
  char path[200];
  psdm_job_rows rows;
  psdm_job *job = job_of("calibrate", NULL, robot);
  give_log(job, "run");
  set(job, "plain_friction", "");
  set(job, "cutoff", "20");
  set(job, "delay", "0");
  set(job, "lambda", "1");
  for (int k = 0; k < 2; k++) set(job, settings[k], path_in(path, settings[k])), keep(job, settings[k]);
  set(job, "predict", path_in(path, "rows.csv"));
  keep(job, "predict");
  run(job);
  for (int k = 0; k < 2; k++) {
    char *text = file_read(path_in(path, settings[k]));
    assert_string_equal(text, psdm_job_text_of(job, settings[k]));
    free(text);
  }
  psdm_csv *csv;
  double row[19];
  bool more = true;
  assert_true(psdm_job_rows_of(job, "predict", &rows));
  assert_int_equal(psdm_csv_open(path_in(path, "rows.csv"), NULL, &csv, NULL), PSDM_OK);
  assert_int_equal(psdm_csv_columns(csv), 19);
  for (long k = 0; k < rows.rows; k++) {
    assert_int_equal(psdm_csv_row(csv, row, &more, NULL), PSDM_OK);
    assert_true(more);
    assert_memory_equal(row, rows.values + k * rows.columns, sizeof row);
  }
  assert_int_equal(psdm_csv_row(csv, row, &more, NULL), PSDM_OK);
  assert_false(more);
  psdm_csv_close(csv);
  psdm_job_free(job);
}

/* an earlier answer as text, compared on the same rows with itself: nothing is apart */
TEST(an_earlier_answer_as_text) {
  psdm_error error;
  psdm_job *first = quick_job(NULL), *again = quick_job(NULL);
  keep(first, "out");
  run(first);
  assert_int_equal(psdm_job_text(again, "compare", "earlier", psdm_job_text_of(first, "out"), &error), PSDM_OK);
  run(again);
  const psdm_comparison *c = ((const psdm_calibrate_result *)psdm_job_result(again))->compare;
  assert_non_null(c);
  assert_string_equal(c->part, "heldout");
  assert_true(c->rows > 0);
  for (long k = 0; k < c->parameters.rows; k++) assert_true(c->parameters.item[k].sds_apart == 0);
  /* sums of the same numbers, whose friction is added in another order */
  assert_float_equal(c->global_rel, c->global_rel_compared, 1e-9 * c->global_rel + 1e-13);
  psdm_job_free(first);
  psdm_job_free(again);
}

/* ---- thresholds, stops, the checkpoint ---- */

TEST(unmet_thresholds) {
  psdm_job *job = quick_job(NULL);
  set(job, "max_rel", "1e-9");
  set(job, "max_rmse", "1e-9,1e9");
  run(job);
  const psdm_calibrate_verdict *v = &((const psdm_calibrate_result *)psdm_job_result(job))->verdict;
  assert_true(!psdm_job_good(job) && !psdm_job_stopped(job) && !v->good && v->asked);
  assert_int_equal(v->failures.rows, 2);
  assert_non_null(strstr(v->failures.item[0], "(held out) is above 1e-09"));
  assert_non_null(strstr(v->failures.item[1], "of joint shoulder is above 1e-09"));
  psdm_job_free(job);
}

/* true from the call on that *user counts down to */
static bool later(void *user) { return --*(int *)user < 0; }

/* how a document names settings is the caller's choice */
static bool doubts(const psdm_calibrate_result *r, const char *text) {
  bool found = false;
  for (long k = 0; k < r->doubts.rows; k++) found |= strstr(r->doubts.item[k], text) != NULL;
  return found;
}

/* before the logs are read there is nothing; then there is always an answer, the better the later */
TEST(a_stop_keeps_the_best_so_far) {
  int calls = 0, answers = 0;
  psdm_job *job = job_of("calibrate", &(psdm_job_host){.user = &calls, .stopped = later}, robot);
  give_log(job, "run");
  refuses(job, PSDM_E_STOPPED, "");
  for (int k = 1; k < 12; k++) {
    psdm_error error = {0};
    calls = k;
    job = job_of("calibrate", &(psdm_job_host){.user = &calls, .stopped = later}, robot);
    give_log(job, "run");
    keep(job, "out");
    if (psdm_job_run(job, &error)) {
      assert_int_equal(error.status, PSDM_E_STOPPED);
      assert_int_equal(answers, 0);
    } else {
      const psdm_calibrate_result *r = (const psdm_calibrate_result *)psdm_job_result(job);
      answers++;
      assert_true(psdm_job_stopped(job) && r->stopped && r->parameters.rows > 0);
      assert_non_null(psdm_job_text_of(job, "out"));
      assert_true(doubts(r, "the run was interrupted") && doubts(r, "(`holdout`)"));
    }
    psdm_job_free(job);
  }
  assert_true(answers > 0);
}

/* finished parts stay until the answer is where it belongs */
TEST(a_checkpoint_goes_when_the_job_is_settled) {
  char path[200];
  psdm_job *job = quick_job(NULL);
  set(job, "checkpoint", path_in(path, "parts"));
  psdm_job_settle(job); /* nothing yet */
  run(job);
  assert_true(files_in(path) > 0);
  psdm_job_settle(job);
  assert_int_equal(files_in(path), 0);
  psdm_job_free(job);
}

/* ---- refusals ---- */

static void expect_refused(const char *name, const char *value, const char *sentence) {
  refuses_setting(quick_job(NULL), &(wrong_setting){name, value, sentence});
}

TEST(wrong_settings_are_named) {
  expect_wrong(robot, "calibrate", "cutoff", "4", "missing `log = FILE` (the measured log)");
  expect_wrong(robot, "calibrate", "log", "", "`log`: empty file name");
  expect_wrong(robot, "calibrate", "route", "step", "`route` 'step': did you mean 'steps'?");
  expect_wrong(robot, "calibrate", "estimator", "old", "`estimator` 'old': did you mean 'ols'?");
  expect_refused("holdout", "1", "`holdout` '1': a share from 0 to 0.95, or blocks:SECONDS/K, was expected");
  expect_refused("max_rel", "-1", "`lambda`, `rate` and `max_rel` must not be negative");
  expect_refused("friction_columns", "2", "`friction_columns`: a whole number from 3 to 16 was expected");
  expect_refused("offset", "1", "`offset` '1': 2 numbers were expected, one per joint");
  expect_refused("urdf", "a.urdf", "`urdf` needs `estimator = consistent`");
  expect_refused("covariance", "", "`covariance` needs `out`, the file that stores it");
  expect_refused("route", "steps", "`log` 'run': `route = steps` needs a step before every log's name");
  expect_refused("weight", "run=1", "`weight` needs `route = steps`");
  psdm_job *job = quick_job(NULL);
  keep(job, "urdf");
  refuses(job, PSDM_E_SETTING, "`urdf` needs `estimator = consistent`");
  job = quick_job(NULL);
  set(job, "log", "run");
  refuses(job, PSDM_E_SETTING, "`log` 'run': another log has this name");
}

/* ---- in steps ---- */

static psdm_job *step_job(const psdm_job_host *host, const char *log) {
  psdm_job *job = job_of("calibrate", host, robot);
  give_log(job, log);
  return job;
}

TEST(the_gravity_step) {
  char path[200];
  psdm_job_rows rows;
  psdm_parameters *p;
  psdm_error error;
  psdm_job *job = step_job(NULL, "gravity:slow");
  keep(job, "out");
  set(job, "predict", path_in(path, "steps.csv"));
  keep(job, "predict");
  run(job);
  const psdm_calibrate_steps_result *r = (const psdm_calibrate_steps_result *)psdm_job_result(job);
  assert_ptr_equal(r->head.type, &psdm_calibrate_steps_result_type);
  assert_true(r->steps.gravity.done && !r->steps.gravity.from_before && !r->steps.inertia.done);
  assert_string_equal(r->logs.item[0].path, "slow");
  assert_string_equal(r->logs.item[0].step, "gravity");
  const char *text = psdm_job_text_of(job, "out");
  assert_non_null(strstr(text, "steps: [gravity]"));
  assert_int_equal(psdm_parameters_parse(text, strlen(text), "kept", robot, NULL, &p, &error), PSDM_OK);
  assert_true(p->steps == 1u << PSDM_STEP_GRAVITY);
  for (long k = 0; k < r->parameters.rows; k++)
    assert_true(!isfinite(r->parameters.item[k].value) || r->parameters.item[k].with_tool == p->theta[k].value);
  /* in memory steps are numbers, in the file words */
  assert_true(psdm_job_rows_of(job, "predict", &rows) && rows.rows > 100);
  assert_int_equal(rows.columns, 8);
  assert_string_equal(rows.names[1], "step");
  for (long k = 0; k < rows.rows; k++) assert_true(rows.values[k * 8 + 1] == PSDM_STEP_GRAVITY);
  char *csv = file_read(path);
  assert_true(strncmp(csv, "t,step,drive,heldout,q,qd,measured,predicted\n", 45) == 0);
  assert_non_null(strstr(csv, ",gravity,2,0,"));
  free(csv);
  psdm_parameters_free(p);
  psdm_job_free(job);
}

/* the gravity step's text is what the inertia step goes on from */
TEST(a_step_continues_from_text) {
  psdm_error error;
  psdm_job *gravity = step_job(NULL, "gravity:slow"), *inertia = step_job(NULL, "inertia:fast");
  keep(gravity, "out");
  run(gravity);
  assert_int_equal(psdm_job_text(inertia, "params", "before", psdm_job_text_of(gravity, "out"), &error), PSDM_OK);
  keep(inertia, "out");
  run(inertia);
  const psdm_calibrate_steps_result *r = (const psdm_calibrate_steps_result *)psdm_job_result(inertia);
  assert_true(r->steps.gravity.done && r->steps.gravity.from_before);
  assert_true(r->steps.inertia.done && !r->steps.inertia.from_before);
  assert_non_null(strstr(psdm_job_text_of(inertia, "out"), "steps: [gravity, inertia]"));
  for (long k = 0; k < r->parameters.rows; k++)
    assert_string_equal(r->parameters.item[k].from, r->parameters.item[k].gravity ? "before" : "log");
  psdm_job_free(gravity);
  psdm_job_free(inertia);
}

TEST(steps_refuse_and_stop) {
  int calls = 0;
  psdm_job *job = step_job(NULL, "gravity:slow");
  set(job, "decimate", "2");
  refuses(job, PSDM_E_SETTING, "`decimate` cannot be used with `route = steps`: steps use every row");
  job = step_job(NULL, "gravity:slow");
  keep(job, "urdf");
  refuses(job, PSDM_E_SETTING, "`urdf` cannot be used with `route = steps`: steps find base parameters");
  job = step_job(NULL, "motor:loaded");
  set(job, "weight", "motor:loaded=1");
  refuses(job, PSDM_E_SETTING, "`weight` 'motor:loaded=1': no motor log has this name; write it as after motor:");
  job = step_job(&(psdm_job_host){.user = &calls, .stopped = later}, "gravity:slow");
  refuses(job, PSDM_E_STOPPED, "no step was finished");
}

/* ---- the report takes both answers, and knows whose rows are whose by their names ---- */

static const char *write_result(char path[200], const char *name, const psdm_job *job) {
  psdm_output *out;
  assert_int_equal(psdm_output_open(path_in(path, name), NULL, &out, NULL), PSDM_OK);
  psdm_job_json(job, out);
  assert_int_equal(psdm_output_commit(&out, NULL), PSDM_OK);
  return path;
}

static const char *write_rows(char path[200], const char *name, const psdm_job *job) {
  psdm_job_rows rows;
  psdm_output *out;
  assert_true(psdm_job_rows_of(job, "predict", &rows));
  assert_int_equal(psdm_output_open(path_in(path, name), NULL, &out, NULL), PSDM_OK);
  for (int c = 0; c < rows.columns; c++) psdm_output_print(out, "%s%s", c ? "," : "", rows.names[c]);
  psdm_output_text(out, "\n");
  psdm_output_rows(out, rows.rows, rows.columns, rows.values, 1);
  assert_int_equal(psdm_output_commit(&out, NULL), PSDM_OK);
  return path;
}

static void add_file(psdm_report *report, const char *path) {
  psdm_error error;
  if (psdm_report_add(report, path, &error)) fail_msg("%s: %s", path, error.text);
}

static psdm_report *new_report(void) {
  psdm_report *report;
  const psdm_report_options options = {.gnuplot = "/nowhere/gnuplot"};
  assert_int_equal(psdm_report_new(&options, NULL, &report, NULL), PSDM_OK);
  return report;
}

static void all_is_shown(psdm_report *report) {
  char path[200];
  psdm_error error = {0};
  if (psdm_report_write(report, path_in(path, "report.html"), &error)) fail_msg("%s", error.text);
  if (psdm_report_unused(report, 0)) fail_msg("%s is not shown", psdm_report_unused(report, 0));
  assert_true(psdm_report_sections(report) >= 2);
  psdm_report_free(report);
}

TEST(answers_are_fit_for_a_report) {
  char path[200];
  static const char *const names[][2] = {{"1.json", "1.csv"}, {"2.json", "2.csv"}};
  psdm_job *job[] = {quick_job(NULL), step_job(NULL, "gravity:slow")};
  psdm_report *memory = new_report(), *files = new_report();
  for (int k = 0; k < 2; k++) {
    psdm_error error = {0};
    keep(job[k], "predict");
    run(job[k]);
    assert_int_equal(psdm_report_add_result(memory, psdm_job_result(job[k]), names[k][0], &error), PSDM_OK);
    add_file(files, write_rows(path, names[k][1], job[k]));
    add_file(files, write_result(path, names[k][0], job[k]));
    psdm_job_free(job[k]);
  }
  all_is_shown(memory);
  all_is_shown(files);
}

TEST_MAIN_IN(set_up, tear_down, an_answer_from_memory_is_the_librarys, files_and_what_is_kept_are_the_same,
             an_earlier_answer_as_text, unmet_thresholds, a_stop_keeps_the_best_so_far,
             a_checkpoint_goes_when_the_job_is_settled, wrong_settings_are_named, the_gravity_step,
             a_step_continues_from_text, steps_refuse_and_stop, answers_are_fit_for_a_report)
