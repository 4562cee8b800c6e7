/* test_job_excite.c: the job excite from memory to memory: its rows and its document, stops, refusals. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs.h"
#include "psdm/friction.h"

static const psdm_excite_result *answer_of(const psdm_job *job) {
  const psdm_result *answer = psdm_job_result(job);
  assert_ptr_equal(answer->type, &psdm_excite_result_type);
  return (const psdm_excite_result *)answer;
}

static const double *column(const psdm_job_rows *rows, const char *name) {
  for (int c = 0; c < rows->columns; c++)
    if (strcmp(rows->names[c], name) == 0) return rows->values + c;
  fail_msg("there is no column %s", name);
  return NULL;
}

/* torques, and the extremes that the document tells of, against the library's functions on the rows themselves */
static void check_rows(const psdm_job *job, const psdm_job_rows *rows) {
  const psdm_excite_result *r = answer_of(job);
  psdm_work *work;
  const double *q = column(rows, "q1"), *qd = column(rows, "qd1"), *qdd = column(rows, "qdd1");
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (long k = 0; k < rows->rows; k++, q += rows->columns, qd += rows->columns, qdd += rows->columns) {
    double tau[2], friction[2];
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    psdm_friction_torque(robot, qd, friction);
    for (int i = 0; i < 2; i++) {
      assert_float_equal(column(rows, "tau1")[k * rows->columns + i], tau[i] + friction[i], 1e-12 * (1 + fabs(tau[i])));
      low[i] = fmin(low[i], q[i]), high[i] = fmax(high[i], q[i]);
      assert_true(fabs(qd[i]) <= r->joints.item[i].limits.velocity);
    }
  }
  psdm_work_free(work, NULL);
  for (int i = 0; i < 2; i++) { /* the document looks between the rows too */
    const psdm_excite_joint *joint = &r->joints.item[i];
    assert_true(low[i] >= joint->lower - 1e-9 && high[i] <= joint->upper + 1e-9);
    assert_float_equal(high[i] - low[i], joint->upper - joint->lower, 1e-2 * (joint->upper - joint->lower));
  }
}

static void expect_file(const char *path, const psdm_job_rows *rows) {
  psdm_csv *csv;
  psdm_error error;
  bool more;
  assert_int_equal(psdm_csv_open(path, NULL, &csv, &error), PSDM_OK);
  assert_int_equal(psdm_csv_columns(csv), rows->columns);
  for (int c = 0; c < rows->columns; c++) assert_string_equal(psdm_csv_name(csv, c), rows->names[c]);
  double *row = calloc((size_t)rows->columns, sizeof *row);
  assert_non_null(row);
  for (long k = 0; k < rows->rows; k++) {
    assert_int_equal(psdm_csv_row(csv, row, &more, &error), PSDM_OK);
    assert_memory_equal(row, rows->values + k * rows->columns, (size_t)rows->columns * sizeof *row);
  }
  assert_int_equal(psdm_csv_row(csv, row, &more, &error), PSDM_OK);
  assert_false(more);
  free(row);
  psdm_csv_close(csv);
}

TEST(rows_and_the_file_have_the_same_bits) {
  static const char *const steps[] = {"motor", "gravity", "friction", "inertia"};
  char path[] = "/tmp/psdm_job_excite_XXXXXX";
  close(mkstemp(path));
  for (int k = 0; k < 4; k++) {
    psdm_job *job = job_of("excite", NULL, robot);
    psdm_job_rows rows;
    set(job, "for", steps[k]);
    if (k == 2) set(job, "levels", "2");
    if (k == 3) set(job, "seconds", "5"), set(job, "starts", "1"), set(job, "evaluations", "100");
    set(job, "out", path);
    assert_int_equal(psdm_job_keep(job, "out", NULL), PSDM_OK);
    run(job);
    assert_true(psdm_job_good(job) && !psdm_job_stopped(job));
    assert_true(psdm_job_rows_of(job, "out", &rows));
    const psdm_excite_result *r = answer_of(job);
    assert_string_equal(r->for_, steps[k]);
    assert_int_equal(r->rows, rows.rows);
    assert_true(r->worst <= 1 && r->verified.file && r->saves >= 1 && !r->stopped);
    assert_float_equal(rows.values[(rows.rows - 1) * rows.columns] - rows.values[0], r->seconds, 1e-9);
    check_rows(job, &rows);
    expect_file(path, &rows);
    psdm_job_free(job);
  }
  unlink(path);
}

/* what is kept does not depend on whether a file is written, nor on the threads */
TEST(the_same_without_a_file) {
  static const char *const threads[] = {"1", "3"};
  psdm_job *job[2];
  psdm_job_rows rows[2];
  for (int k = 0; k < 2; k++) {
    job[k] = job_of("excite", NULL, robot);
    set(job[k], "starts", "3");
    set(job[k], "evaluations", "60");
    set(job[k], "threads", threads[k]);
    psdm_job_keep(job[k], "out", NULL);
    run(job[k]);
    assert_true(psdm_job_rows_of(job[k], "out", &rows[k]));
    assert_null(answer_of(job[k])->verified.file);
    assert_int_equal(answer_of(job[k])->saves, 0);
  }
  assert_int_equal(rows[0].rows, rows[1].rows);
  assert_memory_equal(rows[0].values, rows[1].values,
                      (size_t)rows[0].rows * (size_t)rows[0].columns * sizeof *rows[0].values);
  for (int k = 0; k < 2; k++) psdm_job_free(job[k]);
}

static bool at_once(void *user, const char *doing, double share) {
  (void)user, (void)doing, (void)share;
  return false;
}

/* once there is a motion, its condition number is told */
static bool when_there_is_one(void *user, const char *doing, double share) {
  (void)user, (void)share;
  return !strstr(doing, "condition number");
}

TEST(a_stop_keeps_the_best_so_far) {
  const psdm_job_host host[] = {{.progress = when_there_is_one}, {.progress = at_once}, {.stopped = always}};
  for (int k = 0; k < 3; k++) {
    psdm_job *job = job_of("excite", &host[k], robot);
    psdm_job_rows rows;
    set(job, "starts", "1000");
    set(job, "evaluations", "100000");
    set(job, "wall", "300");
    psdm_job_keep(job, "out", NULL);
    run(job);
    const psdm_excite_result *r = answer_of(job);
    assert_true(psdm_job_stopped(job) && !psdm_job_good(job));
    assert_true(r->stopped && r->interrupted && r->wall_seconds < 250);
    assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows == r->rows);
    check_rows(job, &rows);
    psdm_job_free(job);
  }
}

TEST(wrong_settings_are_named) {
  expect_wrong(robot, "excite", "for", "inertias", "`for` 'inertias': did you mean 'inertia'? There are ");
  expect_wrong(robot, "excite", "levels", "3", "`levels` needs `for = friction`");
  expect_wrong(robot, "excite", "shap", "", "excite has no setting 'shap'; did you mean 'shape'?");
  expect_wrong(robot, "excite", "rate", "0", "`rate`: a number from 1 to 100000 was expected");
  expect_wrong(robot, "excite", "starts", "1.5", "`starts`: an integer from 0 to 1000 was expected");
  expect_wrong(robot, "excite", "velocity", "1,2,3", "`velocity` '1,2,3': one number or 2 were expected");
  expect_wrong(robot, "excite", "acceleration", "0", "joint 'shoulder' cannot move: its largest acceleration is 0");
}

TEST_MAIN_IN(load, unload, rows_and_the_file_have_the_same_bits, the_same_without_a_file, a_stop_keeps_the_best_so_far,
             wrong_settings_are_named)
