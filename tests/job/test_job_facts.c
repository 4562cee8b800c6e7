/* test_job_facts.c: inspect, derive, params and report as jobs: their documents, what is told, what is refused. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_ROBOT "kuka_kr6"
#include "jobs.h"

/* links are where psdm_pose has them, at the position asked for */
TEST(inspect_places_joints) {
  double q[6] = {0.1, -1.2, 0.7, 0.3, 0.2, -0.5}, pose[12];
  psdm_work *work;
  psdm_job *job = job_of("inspect", NULL, robot);
  set(job, "at", "0.1,-1.2,0.7,0.3,0.2,-0.5");
  run(job);
  const psdm_inspect_result *r = (const psdm_inspect_result *)psdm_job_result(job);
  assert_ptr_equal(r->head.type, &psdm_inspect_result_type);
  assert_int_equal(r->joints.rows, 6);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int k = 0; k < 6; k++) {
    assert_int_equal(psdm_pose(robot, work, q, k, pose), PSDM_OK);
    for (int i = 0; i < 3; i++) assert_float_equal(r->joints.item[k].at->link[i], pose[i], 1e-12);
  }
  psdm_work_free(work, NULL);
  writes_its_document(job);
  psdm_job_free(job);

  job = job_of("inspect", NULL, robot);
  set(job, "at", "1,2");
  refuses(job, PSDM_E_SETTING, "`at` '1,2': one number or 6 were expected");
}

/* base parameters of both commands give the same torques as the robot's own parameters */
TEST(derive_and_params_agree) {
  psdm_job *derive = job_of("derive", NULL, robot), *params = job_of("params", NULL, robot);
  run(derive);
  run(params);
  const psdm_derive_result *d = (const psdm_derive_result *)psdm_job_result(derive);
  const psdm_params_result *p = (const psdm_params_result *)psdm_job_result(params);
  assert_true(psdm_job_good(derive) && psdm_job_good(params) && !psdm_job_stopped(derive));
  assert_int_equal(d->l, p->l);
  assert_true(d->residual < 1e-12 && d->states == 1000 && d->nonzeros > d->p);
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  double *pi = calloc((size_t)psdm_robot_parameter_count(robot) + (size_t)p->l, sizeof *pi);
  double *theta = pi + psdm_robot_parameter_count(robot);
  psdm_robot_parameters(robot, pi);
  psdm_model_theta(model, pi, theta);
  assert_int_equal(d->p, psdm_model_p(model));
  for (int k = 0; k < p->l; k++) {
    assert_string_equal(p->base_parameters.item[k].name, psdm_model_base_name(model, k));
    assert_float_equal(p->base_parameters.item[k].value, theta[k], 1e-12);
  }
  free(pi);
  psdm_model_free(model);
  writes_its_document(derive);
  writes_its_document(params);
  assert_int_equal(psdm_robot_n(psdm_job_robot_used(derive)), 6);
  psdm_job_free(derive);
  psdm_job_free(params);
}

TEST(params_as_latex_is_kept) {
  psdm_job *job = job_of("params", NULL, robot);
  assert_int_equal(psdm_job_keep(job, "latex", NULL), PSDM_OK);
  run(job);
  const char *text = psdm_job_text_of(job, "latex");
  const psdm_params_result *r = (const psdm_params_result *)psdm_job_result(job);
  long rows = 0;
  assert_non_null(text);
  assert_memory_equal(text, "\\begin{tabular}{rrp", 19);
  for (const char *at = text; (at = strstr(at, "$\\theta_{")); at++) rows++;
  assert_int_equal(rows, r->l);
  psdm_job_free(job);
}

static bool at_the_check(void *user) { return strstr(((told *)user)->text, "checking") != NULL; }

/* a stop before there is a model leaves nothing, and what that lacks was said; one while it is compared leaves it */
TEST(a_stop_while_deriving) {
  told heard = {""};
  psdm_error error;
  psdm_job *job = job_of("derive", &(psdm_job_host){.user = &heard, .tell = hear, .stopped = always}, robot);
  set(job, "method", "dense");
  assert_int_equal(psdm_job_run(job, &error), PSDM_E_STOPPED);
  assert_null(psdm_job_result(job));
  assert_true(psdm_job_stopped(job) && !psdm_job_good(job));
  assert_non_null(strstr(heard.text, "no result yet"));
  psdm_job_free(job);

  heard = (told){""};
  job = job_of("derive", &(psdm_job_host){.user = &heard, .tell = hear, .stopped = at_the_check}, robot);
  run(job);
  const psdm_derive_result *r = (const psdm_derive_result *)psdm_job_result(job);
  assert_true(psdm_job_stopped(job) && r->states < 1000 && r->l == 36);
  assert_non_null(strstr(heard.text, "interrupted: the model is complete"));
  psdm_job_free(job);
}

TEST(wrong_settings_are_named) {
  static const struct {
    const char *command, *name, *text, *sentence;
  } wrong[] = {{"derive", "sampler", "true", "`sampler` needs `method = dense`"},
               {"params", "rename", "a3=D3", "`rename` needs `symbolic`"},
               {"params", "no_scaling", "", "`no_scaling` needs a sampled model: `model = d`, d0 or h"}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    psdm_job *job = job_of(wrong[k].command, NULL, robot);
    set(job, wrong[k].name, wrong[k].text);
    refuses(job, PSDM_E_SETTING, wrong[k].sentence);
  }
  /* also in a struct that the caller fills */
  psdm_job *job = job_of("derive", NULL, robot);
  *(const char **)((char *)psdm_job_values(job) + psdm_setting_find(psdm_job_settings("derive"), "basis")->offset) =
      "echelonn";
  refuses(job, PSDM_E_SETTING, "`basis` 'echelonn': did you mean 'echelon'?");
}

static bool forbid_called, written;
static psdm_status forbid(void *user, const char *path, bool done, psdm_error *error) {
  (void)user;
  (void)path;
  forbid_called = true;
  if (done || written) return written = done, PSDM_OK;
  *error = (psdm_error){.status = PSDM_E_IO, .text = "not there"};
  return PSDM_E_IO;
}

TEST(a_model_is_written_where_the_host_allows_it) {
  char path[] = "/tmp/psdm_job_XXXXXX";
  int file = mkstemp(path);
  char name[64];
  assert_true(file >= 0);
  close(file);
  snprintf(name, sizeof name, "%s.json", path);
  psdm_job *job = job_of("derive", &(psdm_job_host){.writes = forbid}, robot);
  set(job, "export", name);
  refuses(job, PSDM_E_IO, "not there");
  assert_int_not_equal(access(name, F_OK), 0);
  written = true;
  job = job_of("derive", &(psdm_job_host){.writes = forbid}, robot);
  set(job, "export", name);
  run(job);
  assert_true(forbid_called && written && access(name, R_OK) == 0);
  psdm_job_free(job);
  remove(name);
  remove(path);
}

/* a robot file gives three results; of closed loops no derivation, and that is told once */
TEST(a_page_of_robot_files) {
  told heard = {""};
  psdm_report *report;
  psdm_error error = {0};
  int lacking = 0;
  const psdm_job_host host = {.user = &heard, .tell = hear};
  assert_int_equal(psdm_report_new(&(psdm_report_options){.gnuplot = "/nowhere"}, NULL, &report, &error), PSDM_OK);
  assert_int_equal(psdm_job_report(&host, report, SOURCE_DIR "/robots/kuka_kr6.yaml", &lacking, &error), PSDM_OK);
  assert_int_equal(lacking, 0);
  assert_int_equal(psdm_job_report(&host, report, SOURCE_DIR "/robots/five_bar.yaml", &lacking, &error), PSDM_OK);
  assert_int_equal(lacking, 1);
  assert_non_null(strstr(heard.text, "psdm derive does not work for this robot"));
  assert_int_equal(psdm_job_report(&host, report, "/nowhere.json", &lacking, &error), PSDM_E_IO);
  char path[] = "/tmp/psdm_page_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  assert_int_equal(psdm_report_write(report, path, &error), PSDM_OK);
  assert_true(psdm_report_sections(report) >= 3);
  assert_null(psdm_report_unused(report, 0));
  remove(path);
  psdm_report_free(report);
}

TEST_MAIN_IN(load, unload, inspect_places_joints, derive_and_params_agree, params_as_latex_is_kept,
             a_stop_while_deriving, wrong_settings_are_named, a_model_is_written_where_the_host_allows_it,
             a_page_of_robot_files)
