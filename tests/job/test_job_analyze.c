/* test_job_analyze.c: analyze as a job: structure and bounds, a path from memory to memory, plots without gnuplot. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, setenv */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs.h"

static const psdm_analyze_result *result_of(const psdm_job *job) {
  const psdm_result *head = psdm_job_result(job);
  assert_non_null(head);
  assert_ptr_equal(head->type, &psdm_analyze_result_type);
  return (const psdm_analyze_result *)head;
}

/* no state has more than what is proved */
TEST(bounds_hold) {
  rng g = rng_start("test_job_analyze bounds_hold");
  psdm_work *work;
  psdm_job *job = job_of("analyze", NULL, robot);
  set(job, "points", "20000");
  set(job, "limits", "shoulder=-1:1,2=0:0.5");
  run(job);
  const psdm_analyze_result *r = result_of(job);
  const psdm_analysis *a = psdm_job_analysis(job);
  assert_true(psdm_job_good(job) && r->bounds && !r->path);
  assert_string_equal(r->masses, "own");
  assert_true(a->lower[0] == -1 && a->upper[0] == 1 && a->lower[1] == 0 && a->upper[1] == 0.5);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < 1000; k++) {
    double q[2] = {rng_uniform(&g, -1, 1), rng_uniform(&g, 0, 0.5)}, gravity[2], M[4];
    assert_int_equal(psdm_gravity(robot, work, q, gravity), PSDM_OK);
    assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
    double half = (M[0] + M[3]) / 2, root = hypot((M[0] - M[3]) / 2, M[1]);
    assert_true(hypot(gravity[0], gravity[1]) <= r->bounds->gravity.bound);
    assert_true(half + root <= r->bounds->mass.bound && half - root >= r->bounds->mass_least.bound);
  }
  psdm_work_free(work, NULL);
  writes_its_document(job);
  psdm_job_free(job);
}

enum { ROWS = 3 };
static const double times[ROWS] = {0, 0.5, 1}, angles[2 * ROWS] = {0, 0.4, 0.1, 1.5, 0.2, 0};

static void give_path(psdm_job *job) {
  static const char *const names[] = {"t", "q1", "q2"};
  static const double *const columns[] = {times, angles, angles + 1};
  static const long stride[] = {1, 2, 2};
  psdm_error error;
  assert_int_equal(psdm_job_table(job, "path", ROWS, 3, names, columns, stride, &error), PSDM_OK);
}

/* the manipulability of an arm in a plane is |det| of its Jacobian */
TEST(a_path_goes_from_memory_to_memory) {
  psdm_job_rows rows;
  psdm_work *work;
  psdm_job *job = job_of("analyze", NULL, robot);
  give_path(job);
  set(job, "no_bounds", "");
  assert_int_equal(psdm_job_keep(job, "out", NULL), PSDM_OK);
  run(job);
  const psdm_path_result *path = result_of(job)->path;
  assert_true(path && path->positions == ROWS && path->dimensions == 2);
  assert_true(path->least.t == 1 && fabs(path->least.manipulability) < 1e-12);
  assert_true(psdm_job_rows_of(job, "out", &rows));
  assert_true(rows.rows == ROWS && rows.columns == 3 + 3 + 36);
  assert_string_equal(rows.names[4], "w2");
  assert_string_equal(rows.names[rows.columns - 1], "im3z");
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < ROWS; k++) {
    double J[12];
    const double *row = rows.values + (long)k * rows.columns;
    assert_int_equal(psdm_jacobian(robot, work, angles + 2 * k, psdm_robot_default_link(robot, NULL), J), PSDM_OK);
    assert_true(row[0] == times[k] && row[1] == angles[2 * k] && row[2] == angles[2 * k + 1]);
    assert_float_equal(row[4], fabs(J[0] * J[3] - J[1] * J[2]), 1e-12);
    assert_float_equal(row[6] * row[7], row[4], 1e-12);
  }
  psdm_work_free(work, NULL);
  psdm_job_free(job);
}

TEST(a_stop_leaves_bounds_that_hold) {
  psdm_job *job = job_of("analyze", &(psdm_job_host){.stopped = always}, robot);
  set(job, "points", "2e9");
  run(job);
  const psdm_bounds_result *b = result_of(job)->bounds;
  assert_true(psdm_job_stopped(job) && b && b->mass.bound >= b->mass.found);
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  static const wrong_setting wrong[] = {{"points", "0", "`points` must be a whole number"},
                                        {"samples", "5e9", "`samples` must be a whole number from 0 to 4e9"},
                                        {"device", "cuda", "`device` needs `samples = N`"},
                                        {"link", "link2", "`link` needs `path`"},
                                        {"limits", "3=0:1", "`limits`: '3' is not an independent joint"},
                                        {"limits", "1=1:0", "`limits` '1=1:0': JOINT=LOWER:UPPER,... was expected"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) refuses_setting(job_of("analyze", NULL, robot), &wrong[k]);
  psdm_job *job = job_of("analyze", NULL, robot);
  give_path(job);
  set(job, "link", "link22");
  refuses(job, PSDM_E_SETTING, "`link` 'link22': did you mean 'link2'?");
  job = job_of("analyze", NULL, robot);
  assert_int_equal(psdm_job_keep(job, "out", NULL), PSDM_OK);
  refuses(job, PSDM_E_SETTING, "`out` needs `path`");
}

/* scripts without pictures: told, and not good */
TEST(plots_without_gnuplot) {
  static const char *const names[] = {"mass", "gravity", "path"};
  char folder[] = "/tmp/psdm_plots_XXXXXX", name[64];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
  psdm_job *job = job_of("analyze", NULL, robot);
  give_path(job);
  set(job, "no_bounds", "");
  set(job, "plots", folder);
  run(job);
  assert_false(psdm_job_good(job));
  for (int k = 0; k < 3; k++) {
    snprintf(name, sizeof name, "%s/%s.gp", folder, names[k]);
    assert_int_equal(remove(name), 0);
  }
  assert_int_equal(rmdir(folder), 0);
  psdm_job_free(job);
}

TEST_MAIN_IN(load, unload, bounds_hold, a_path_goes_from_memory_to_memory, a_stop_leaves_bounds_that_hold,
             wrong_settings_are_named, plots_without_gnuplot)
