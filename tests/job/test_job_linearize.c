/* test_job_linearize.c: linearize as a job: points in the document, in memory or one by one; the same numbers as the
 * library's functions; stops. */
#include <math.h>
#include <stdlib.h>

#include "jobs.h"

enum { N = 2, ROWS = 5 };

static double motion[ROWS][1 + 3 * N];

static int set_up(void **state) {
  rng g = rng_start("motion");
  for (int i = 0; i < ROWS; i++)
    for (int c = 0; c < 1 + 3 * N; c++) motion[i][c] = c ? rng_uniform(&g, -1, 1) : 0.1 * i;
  return load(state);
}

/* the first columns of the motion as the points of a job */
static psdm_job *linearized(const psdm_job_host *host, int columns) {
  static const char *const names[] = {"t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2"};
  const double *column[7];
  long stride[7];
  psdm_error error;
  psdm_job *job = job_of("linearize", host, robot);
  for (int c = 0; c < columns; c++) column[c] = &motion[0][c], stride[c] = 1 + 3 * N;
  if (psdm_job_table(job, "at", ROWS, columns, names, column, stride, &error)) fail_msg("%s", error.text);
  return job;
}

static const psdm_linearize_result *result_of(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_linearize_result_type);
  return (const psdm_linearize_result *)psdm_job_result(job);
}

/* the document has every point with the matrices of psdm_state_space, and the rows that are kept the same numbers */
TEST(points_are_the_librarys) {
  psdm_linear *linear;
  psdm_error error;
  psdm_job_rows rows;
  double A[4 * N * N], B[2 * N * N];
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  psdm_job *job = linearized(NULL, 7);
  set(job, "lqr", "");
  assert_int_equal(psdm_job_keep(job, "out", &error), PSDM_OK);
  run(job);
  const psdm_linearize_result *r = result_of(job);
  assert_true(psdm_job_good(job) && r->points.rows == ROWS && r->n == N && r->dt == 0);
  assert_true(psdm_job_rows_of(job, "out", &rows));
  assert_int_equal(rows.rows, ROWS);
  assert_int_equal(rows.columns, 1 + 4 * N + 4 * N * N + 2 * N * N + 2 * N * N);
  assert_string_equal(rows.names[1 + 4 * N + 5], "A2_2");
  for (int i = 0; i < ROWS; i++) {
    const psdm_linear_point *p = &r->points.item[i];
    const double *row = rows.values + (long)i * rows.columns, *at = motion[i];
    assert_int_equal(psdm_state_space(robot, linear, at + 1, at + 1 + N, at + 1 + 2 * N, A, B), PSDM_OK);
    assert_memory_equal(p->A.item, A, sizeof A);
    assert_memory_equal(p->B.item, B, sizeof B);
    assert_memory_equal(row, at, (1 + 3 * N) * sizeof *row);
    assert_memory_equal(row + 1 + 4 * N, A, sizeof A);
    assert_true(p->t == at[0] && p->A.rows == 2 * N && p->A.columns == 2 * N && p->eigenvalues.rows == 2 * N);
    assert_string_equal(p->lqr->outcome, "ok");
    for (long k = 0; k < p->lqr->closed_loop.rows; k++) assert_true(p->lqr->closed_loop.item[k].re < 0);
  }
  writes_its_document(job);
  psdm_job_free(job);
  psdm_linear_free(linear, NULL);
}

/* torques that hold nothing: less than was asked for, and the document says so */
TEST(no_equilibrium) {
  static const double tau[2] = {500, 0};
  static const char *const names[] = {"tau1", "tau2"};
  const double *column[2] = {&tau[0], &tau[1]};
  const long stride[2] = {2, 2};
  psdm_error error;
  psdm_job *job = job_of("linearize", NULL, robot);
  assert_int_equal(psdm_job_table(job, "at", 1, 2, names, column, stride, &error), PSDM_OK);
  set(job, "equilibrium", "");
  run(job);
  const psdm_linear_point *p = &result_of(job)->points.item[0];
  assert_true(!psdm_job_good(job) && p->equilibrium && !p->equilibrium->found && !p->A.rows && !p->stability);
  writes_its_document(job);
  psdm_job_free(job);
}

typedef struct seen {
  int points, most;
} seen;

static bool see(void *user, const psdm_linearization *found) {
  seen *s = user;
  const double *at = motion[s->points];
  assert_memory_equal(found->point->q.item, at + 1, N * sizeof *at);
  assert_int_equal(found->line, s->points + 1);
  assert_true(found->rates && !found->accelerations && found->head->n == N && found->facts && !found->lqr);
  assert_int_equal(found->facts->unstable + found->facts->drifting + found->facts->undamped + found->facts->damped,
                   2 * N);
  return ++s->points < s->most;
}

/* a caller gets them one by one, until it has enough, and the document has none */
TEST(points_one_by_one) {
  for (int most = 1; most <= ROWS + 1; most += ROWS) {
    seen s = {0, most};
    psdm_job *job = linearized(NULL, 5);
    psdm_job_points(job, see, &s);
    run(job);
    assert_int_equal(s.points, most < ROWS ? most : ROWS);
    assert_int_equal(result_of(job)->points.rows, 0);
    psdm_job_free(job);
  }
}

TEST(a_stop_leaves_the_first_points) {
  psdm_job *job = linearized(&(psdm_job_host){.stopped = always}, 3);
  run(job);
  assert_true(psdm_job_stopped(job) && result_of(job)->points.rows >= 1 && result_of(job)->points.rows < ROWS);
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  static const wrong_setting wrong[] = {
      {"dt", "-1", "`dt` must not be negative"},
      {"Q", "1", "`Q` and `R` need `lqr`"},
      {"out", "a.txt", "`out` 'a.txt': a name that ends in .csv, .json or .mat was expected"},
      {"inputs", "2,1", "`inputs` '2,1': ascending numbers of joints, 1 to 2, were expected"},
      {"form", "third-order", "`form` 'third-order': did you mean"}};
  expect_wrong(robot, "linearize", "lqr", "", "missing `at = FILE.csv`: the points to linearize at");
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) refuses_setting(linearized(NULL, 3), &wrong[k]);
  refuses(linearized(NULL, 2), PSDM_E_PARSE, "column 'q2' is missing; q goes from 1 to 2");
}

TEST_MAIN_IN(set_up, unload, points_are_the_librarys, no_equilibrium, points_one_by_one, a_stop_leaves_the_first_points,
             wrong_settings_are_named)
