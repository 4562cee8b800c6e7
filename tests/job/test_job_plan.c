/* test_job_plan.c: the job plan along trajectories from memory: rows, figures and document, stops, refusals. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs.h"

enum { ROWS = 201 };

static double t[ROWS], q[2 * ROWS], curve[2 * ROWS];

/* a trajectory from rest to rest: u = 3 t^2 - 2 t^3, whose largest speed is 1.5 in the middle; the joints go to 1 and
 * 0.5. A path to the same place: a parabola */
static int set_up(void **state) {
  for (int k = 0; k < ROWS; k++) {
    t[k] = (double)k / (ROWS - 1);
    q[2 * k] = t[k] * t[k] * (3 - 2 * t[k]), q[2 * k + 1] = 0.5 * q[2 * k];
    curve[2 * k] = t[k], curve[2 * k + 1] = 0.5 * t[k] * t[k];
  }
  return load(state);
}

static psdm_job *along(const char *what, const psdm_job_host *host) {
  const char *const names[] = {"t", "q1", "q2"};
  const double *from = strcmp(what, "scale") == 0 ? q : curve, *const columns[] = {t, from, from + 1};
  const long stride[] = {1, 2, 2};
  psdm_error error = {0};
  psdm_job *job = job_of("plan", host, robot);
  set(job, "what", what);
  if (psdm_job_table(job, "trajectory", ROWS, 3, names, columns, stride, &error)) fail_msg("%s", error.text);
  assert_int_equal(psdm_job_keep(job, "out", &error), PSDM_OK);
  return job;
}

static const psdm_plan_result *answer_of(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_plan_result_type);
  return (const psdm_plan_result *)psdm_job_result(job);
}

/* columns, times, torques by the recursion, and the extremes that the document tells of, which looks between the rows
 * too */
static void check_rows(const psdm_job *job, const psdm_job_rows *rows) {
  static const char *const names[] = {"t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2", "tau1", "tau2"};
  const psdm_plan_result *r = answer_of(job);
  psdm_work *work;
  assert_int_equal(rows->columns, 9);
  for (int c = 0; c < 9; c++) assert_string_equal(rows->names[c], names[c]);
  assert_int_equal(rows->rows, r->rows);
  assert_true(rows->values[0] == 0 && rows->values[9 * (rows->rows - 1)] == r->seconds);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (long k = 0; k < rows->rows; k++) {
    const double *row = rows->values + 9 * k;
    double tau[2];
    assert_int_equal(psdm_inverse(robot, work, row + 1, row + 3, row + 5, tau), PSDM_OK);
    for (int i = 0; i < 2; i++) {
      assert_float_equal(row[7 + i], tau[i], 1e-12 * (1 + fabs(tau[i])));
      assert_true(fabs(row[3 + i]) <= r->peak_velocity.item[i] && fabs(row[5 + i]) <= r->peak_acceleration.item[i] &&
                  fabs(row[7 + i]) <= r->peak_torque.item[i]);
    }
  }
  psdm_work_free(work, NULL);
}

TEST(a_trajectory_is_stretched) {
  psdm_job_rows rows;
  psdm_job *job = along("scale", NULL);
  set(job, "velocity", "0.5");
  set(job, "output", "0.1");
  run(job);
  const psdm_plan_result *r = answer_of(job);
  assert_true(psdm_job_good(job) && !psdm_job_stopped(job));
  assert_string_equal(r->what, "scale");
  assert_string_equal(r->limited_by, "velocity");
  assert_int_equal(r->limited_joint, 1);
  /* 1.5 / 0.5, by the spline through 201 points of the cubic, which is the cubic but for its ends */
  assert_float_equal(r->factor, 3, 1e-6);
  assert_float_equal(r->seconds, r->factor, 1e-12);
  assert_float_equal(r->limit_used, 1, 1e-9);
  assert_true(r->recomputed < 1e-12 && !r->path && !r->solver && !psdm_job_path_plan(job));
  assert_float_equal(r->joints.item[1].limits.velocity, 0.5, 0);
  assert_true(psdm_job_rows_of(job, "out", &rows) && rows.rows == 31);
  check_rows(job, &rows);
  writes_its_document(job);
  psdm_job_free(job);
}

TEST(a_path_is_followed) {
  psdm_job_rows rows;
  psdm_job *job = along("time", NULL);
  set(job, "effort", "90,40");
  set(job, "velocity", "3");
  set(job, "points", "20000"); /* between the points of a grid a limit may be exceeded by a little */
  run(job);
  const psdm_plan_result *r = answer_of(job);
  const psdm_path_plan *plan = psdm_job_path_plan(job);
  assert_true(psdm_job_good(job) && plan);
  assert_true(r->limit_used <= 1.01 && r->limit_used > 0.99 && !r->limited_by);
  assert_true(r->seconds == plan->seconds && r->points == plan->points && r->points == 20000);
  /* 500 of them, the first and the last among them */
  assert_true(r->path && r->path->s.rows == 500 && r->path->t.item[0] == 0);
  assert_true(r->path->t.item[499] == plan->t[19999] && r->path->speed.item[250] == sqrt(plan->x[250 * 19999 / 499]));
  assert_true(psdm_job_rows_of(job, "out", &rows));
  check_rows(job, &rows);
  assert_float_equal(rows.values[9 * (rows.rows - 1) + 1], 1, 1e-9);
  writes_its_document(job);
  psdm_job_free(job);
}

/* a file has the bits that are kept, and is a trajectory that the job takes again */
TEST(the_file_has_the_same_bits) {
  char path[] = "/tmp/psdm_job_plan_XXXXXX";
  close(mkstemp(path));
  psdm_job *job = along("time", NULL), *again = job_of("plan", NULL, robot);
  psdm_job_rows rows;
  psdm_csv *csv;
  psdm_error error;
  bool more;
  set(job, "effort", "60,20");
  set(job, "out", path);
  run(job);
  assert_true(psdm_job_rows_of(job, "out", &rows));
  assert_int_equal(psdm_csv_open(path, NULL, &csv, &error), PSDM_OK);
  for (long k = 0; k < rows.rows; k++) {
    double row[9];
    assert_int_equal(psdm_csv_row(csv, row, &more, &error), PSDM_OK);
    assert_memory_equal(row, rows.values + 9 * k, sizeof row);
  }
  assert_true(!psdm_csv_row(csv, (double[9]){0}, &more, &error) && !more);
  psdm_csv_close(csv);
  set(again, "what", "scale");
  set(again, "trajectory", path);
  set(again, "factor", "2");
  run(again);
  assert_float_equal(answer_of(again)->seconds, 2 * answer_of(job)->seconds, 1e-12);
  assert_true(psdm_job_good(again) && !psdm_job_rows_of(again, "out", &rows));
  psdm_job_free(job);
  psdm_job_free(again);
  unlink(path);
}

/* an answer that exceeds a limit is one, and not good */
TEST(an_exceeded_limit_is_told) {
  told heard = {""};
  psdm_job *job = along("scale", &(psdm_job_host){.user = &heard, .tell = hear});
  set(job, "velocity", "0.5");
  set(job, "factor", "2");
  run(job);
  assert_false(psdm_job_good(job));
  assert_float_equal(answer_of(job)->limit_used, 1.5, 1e-6);
  assert_true(was_told(&heard, PSDM_JOB_WARNING, "a limit is exceeded: the motion reaches 150.0 % of it"));
  psdm_job_free(job);
}

static bool no(void *user, const char *doing, double share) {
  (void)user;
  assert_true(share >= 0 && share <= 1 && doing[0]);
  return false;
}

/* no motion is the best so far */
TEST(a_stop_leaves_nothing) {
  static const char *const what[] = {"scale", "time"};
  for (int k = 0; k < 4; k++) {
    const psdm_job_host host[] = {{.progress = no}, {.stopped = always}};
    psdm_job *job = along(what[k % 2], &host[k / 2]);
    psdm_job_rows rows;
    psdm_error error = {0};
    set(job, "velocity", "0.5");
    assert_int_equal(psdm_job_run(job, &error), PSDM_E_STOPPED);
    assert_true(psdm_job_stopped(job) && !psdm_job_good(job) && !psdm_job_result(job));
    assert_true(!psdm_job_rows_of(job, "out", &rows) && rows.rows == 0);
    psdm_job_free(job);
  }
}

TEST(wrong_settings_are_named) {
  psdm_job *job;
  expect_wrong(robot, "plan", "what", "tme", "`what` 'tme': did you mean 'time'? There are time, energy, scale");
  expect_wrong(robot, "plan", "what", "scale", "scale needs `trajectory = FILE.csv`");
  expect_wrong(robot, "plan", "what", "time", "missing `to = Q,...` or `trajectory = FILE.csv`");
  expect_wrong(robot, "plan", "factor", "2", "missing `to = Q,...` or `trajectory = FILE.csv`");
  expect_wrong(robot, "plan", "friction", "lugre",
               "`friction` 'lugre': one of none, viscous, coulomb, stribeck, power");
  expect_wrong(robot, "plan", "fro", "1", "plan has no setting 'fro'; did you mean 'from'?");

  static const wrong_setting wrong[] = {
      {"to", "1", "give either `from` and `to`, or `trajectory`"},
      {"factor", "2", "`factor` needs scale"},
      {"duration", "-1", "`duration` must not be negative"},
      {"wall", "nan", "`wall` 'nan': a number was expected, SECONDS"},
      {"output", "0", "`output` 0: a positive number was expected"},
      {"blend", "1.5", "`blend` 1.5: 0 to 1 was expected"},
      {"nodes", "1", "`nodes` 1: a whole number from 2 to 10000 was expected"},
      {"points", "2.5", "`points` 2.5: a whole number from 2 to 10000000 was expected"},
      {"velocity", "1,2,3", "`velocity` '1,2,3': one number or 2 were expected"},
      {"effort", "-1", "joint 'shoulder': limits of velocity, acceleration and torque are positive numbers"},
      {"output", "1e-9", "`output` 1e-09: "}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    job = along("time", NULL);
    set(job, "velocity", "3");
    refuses_setting(job, &wrong[k]);
  }
  job = along("energy", NULL);
  refuses(job, PSDM_E_SETTING, "`trajectory` needs time or scale");
  job = along("time", NULL);
  *(const char **)psdm_job_value(job, "what") = "slow"; /* as a caller that fills the struct may */
  refuses(job, PSDM_E_SETTING, "`what` 'slow': ");
}

/* settings that are right, and no motion */
TEST(nothing_satisfies) {
  refuses(along("scale", NULL), PSDM_E_ARGUMENT,
          "no limit applies to the trajectory; give limits of velocity, acceleration or torque, or `factor`");
  psdm_job *job = along("scale", NULL);
  set(job, "effort", "0.1");
  refuses(job, PSDM_E_ACCURACY, "no factor respects the limits: joint 'shoulder' at t = 0 s needs ");
  refuses(along("time", NULL), PSDM_E_ACCURACY, "s = ");
  job = job_of("plan", NULL, robot);
  set(job, "what", "scale");
  set(job, "trajectory", "/nowhere/path.csv");
  refuses(job, PSDM_E_IO, "cannot be opened");
}

TEST_MAIN_IN(set_up, unload, a_trajectory_is_stretched, a_path_is_followed, the_file_has_the_same_bits,
             an_exceeded_limit_is_told, a_stop_leaves_nothing, wrong_settings_are_named, nothing_satisfies)
