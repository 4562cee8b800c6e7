/* test_job_reduce.c: reduce as a job: a model within its error, listed states from memory, files in a folder, stops. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_ROBOT "fanuc_sr6ia"
#include "job_folder.h"

static const psdm_reduce_result *reduced(const psdm_job *job) {
  assert_ptr_equal(psdm_job_result(job)->type, &psdm_reduce_result_type);
  return (const psdm_reduce_result *)psdm_job_result(job);
}

/* |tau - reduced tau| / |tau| at random states of a profile, sorted */
static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double error_at(const psdm_model *model, double share, double qd_most, double qdd_most) {
  enum { STATES = 4000 };
  static double error[STATES];
  int n = psdm_robot_n(robot);
  rng g = rng_start("error_at");
  psdm_work *work;
  double *scratch = calloc(psdm_model_scratch(model), sizeof *scratch),
         *pi = calloc((size_t)psdm_robot_parameter_count(robot), sizeof *pi),
         *theta = calloc((size_t)psdm_model_l(model), sizeof *theta), q[8], qd[8], qdd[8], tau[8], less[8];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  psdm_model_theta(model, pi, theta);
  for (int s = 0; s < STATES; s++) {
    double off = 0, size = 0;
    for (int k = 0; k < n; k++) {
      bool slides = k == 2; /* within the file's limits */
      q[k] = slides ? 0.1 : rng_uniform(&g, -3.14159, 3.14159);
      qd[k] = rng_uniform(&g, -qd_most, qd_most), qdd[k] = rng_uniform(&g, -qdd_most, qdd_most);
    }
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    psdm_model_inverse(model, theta, q, qd, qdd, scratch, less);
    for (int k = 0; k < n; k++) off += (tau[k] - less[k]) * (tau[k] - less[k]), size += tau[k] * tau[k];
    error[s] = sqrt(off / size);
  }
  qsort(error, STATES, sizeof *error, by_size);
  psdm_work_free(work, NULL);
  free(scratch);
  free(pi);
  free(theta);
  return error[(int)(share * (STATES - 1))];
}

/* a smaller model, which meets its error at states of this test's own; it is handed over once */
TEST(the_error_is_met) {
  psdm_job *job = job_of("reduce", NULL, robot);
  set(job, "profile", "fast");
  set(job, "samples", "20000");
  set(job, "figures", "");
  assert_null(psdm_job_take_model(job));
  run(job);
  const psdm_reduce_result *r = reduced(job);
  assert_true(psdm_job_good(job) && r->reached && r->error <= 0.01 && r->samples == 20000 && !r->table.rows);
  assert_true(r->p < r->p_before && r->error_half <= r->error && r->error <= r->error_999);
  assert_int_equal(r->figures.rows, 2);
  for (int k = 0; k < 2; k++) {
    const psdm_reduced_figure *f = &r->figures.item[k];
    double in_bins = (double)f->contributions.median_below;
    for (long b = 0; b < f->contributions.median.rows; b++) in_bins += f->contributions.median.item[b];
    assert_true(in_bins == (double)f->functions && f->functions == r->p_before);
    const psdm_reduced_size *last = &f->sizes.item[f->sizes.rows - 1];
    assert_true(last->functions == r->p_before && last->error_95 < 1e-9);
  }
  writes_its_document(job);
  psdm_model *model = psdm_job_take_model(job);
  assert_non_null(model);
  assert_null(psdm_job_take_model(job));
  long p = r->p;
  psdm_job_free(job);
  assert_int_equal(psdm_model_p(model), p);
  /* 4000 states: the share within the error is known to 0.35 % */
  assert_true(error_at(model, 0.93, 1, 10) <= 0.01);
  psdm_model_free(model);
}

/* states from memory; model and code in a folder */
TEST(listed_states) {
  enum { ROWS = 200, COLUMNS = 12 };
  static double values[ROWS][COLUMNS];
  static const char *const names[COLUMNS] = {"q1",  "q2",  "q3",   "q4",   "qd1",  "qd2",
                                             "qd3", "qd4", "qdd1", "qdd2", "qdd3", "qdd4"};
  const double *column[COLUMNS];
  long stride[COLUMNS];
  char path[100];
  psdm_error error;
  psdm_model *model;
  rng g = rng_start("listed_states");
  for (int i = 0; i < ROWS; i++)
    for (int c = 0; c < COLUMNS; c++) values[i][c] = rng_uniform(&g, -1, 1);
  for (int c = 0; c < COLUMNS; c++) column[c] = &values[0][c], stride[c] = COLUMNS;
  psdm_job *job = job_of("reduce", NULL, robot);
  if (psdm_job_table(job, "profile", ROWS, COLUMNS, names, column, stride, &error)) fail_msg("%s", error.text);
  snprintf(path, sizeof path, "%s/small", own_folder);
  set(job, "out", path);
  run(job);
  const psdm_reduce_result *r = reduced(job);
  assert_string_equal(r->profile, "listed");
  assert_int_equal(r->samples, ROWS);
  snprintf(path, sizeof path, "%s/small/model.json", own_folder);
  if (psdm_model_load(path, NULL, &model, &error)) fail_msg("%s", error.text);
  assert_int_equal(psdm_model_p(model), r->p);
  psdm_model_free(model);
  snprintf(path, sizeof path, "%s/small/fanuc_sr6ia.c", own_folder);
  assert_int_equal(access(path, R_OK), 0);
  psdm_job_free(job);

  job = job_of("reduce", NULL, robot);
  if (psdm_job_table(job, "profile", 5, COLUMNS, names, column, stride, &error)) fail_msg("%s", error.text);
  refuses(job, PSDM_E_PARSE, "5 states are too few for a profile");
  job = job_of("reduce", NULL, robot);
  if (psdm_job_table(job, "profile", ROWS, COLUMNS - 1, names, column, stride, &error)) fail_msg("%s", error.text);
  refuses(job, PSDM_E_PARSE, "missing column 'qdd4'; a profile needs q1.. qd1.. qdd1..");
}

TEST(an_error_that_cannot_be_met) {
  psdm_job *job = job_of("reduce", NULL, robot);
  set(job, "error", "1e-17");
  set(job, "samples", "1000");
  run(job);
  assert_true(!psdm_job_good(job) && !psdm_job_stopped(job) && !reduced(job)->reached);
  assert_true(reduced(job)->error > 1e-17 && reduced(job)->p <= reduced(job)->p_before);
  psdm_job_free(job);
}

static bool over(void *user) { return ++*(int *)user > 20; }

/* a stop before there is a model; one that leaves the best so far */
TEST(stops) {
  int asked = 0;
  psdm_job *job = job_of("reduce", &(psdm_job_host){.stopped = always}, robot);
  refuses(job, PSDM_E_STOPPED, "");
  job = job_of("reduce", &(psdm_job_host){.user = &asked, .stopped = over}, robot);
  set(job, "samples", "4000000000");
  set(job, "table", "");
  run(job);
  const psdm_reduce_result *r = reduced(job);
  assert_true(psdm_job_stopped(job) && r->interrupted && r->stopped && r->samples <= 100000 && !r->table.rows);
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  static const wrong_setting wrong[] = {{"error", "1", "`error` must lie between 0 and 1"},
                                        {"confidence", "0", "`confidence` must lie between 0 and 1"},
                                        {"samples", "10.5", "`samples` must be a whole number from 1000 to 4e9"},
                                        {"seed", "-1", "`seed` must be a whole number"},
                                        {"device", "gpu", "`device` 'gpu': did you mean 'cpu'? There are cpu, cuda"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) refuses_setting(job_of("reduce", NULL, robot), &wrong[k]);
}

TEST_MAIN_IN(load_with_folder, unload_with_folder, the_error_is_met, listed_states, an_error_that_cannot_be_met, stops,
             wrong_settings_are_named)
