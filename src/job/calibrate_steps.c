/* calibrate_steps.c: calibration step by step: motors, gravity, friction, inertia, each from its own log. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

/* ---- the run: every finished step is on disk ---- */

static bool to_stdout(const psdmp_job_calibrate *j) { return j->set.out && strcmp(j->set.out, "-") == 0; }

/* the result so far as written to a file, and that file; standard output gets the final one only */
static psdm_status keep(psdmp_job_calibrate *j, const psdm_steps *steps, bool last) {
  psdm_error error;
  psdm_parameters_free(j->parameters);
  j->parameters = NULL;
  if (psdm_parameters_from_steps(steps, NULL, &j->parameters, &error)) return psdmp_job_fail(&j->job, &error);
  return psdmp_job_calibrate_parameters(j, last || !to_stdout(j));
}

static bool finished(void *user, const psdm_steps *steps, psdm_step step) {
  psdmp_job_calibrate *j = user;
  (void)step;
  j->steps.saved = keep(j, steps, false);
  return !j->steps.saved;
}

static psdm_status load(psdmp_job_calibrate *j) {
  psdm_robot_settings set = *PSDM_ROBOT_SETTINGS_OF(&j->set);
  set.params = NULL; /* results of earlier runs may be incomplete */
  psdm_status status = psdmp_job_robot(&j->job, &set, &j->job.robot);
  if (status) return status;
  if (j->set.weight.count) psdmp_job_default_link(&j->job, j->job.robot, "`tip` selects another");
  status = psdmp_job_calibrate_numbers(j);
  if (!status && j->set.params) status = psdmp_job_parameters(&j->job, j->set.params, j->job.robot, &j->steps.before);
  j->steps.options.before = j->steps.before;
  j->steps.options.format = j->options.log;
  return status;
}

static bool any_done(const psdm_steps *s) {
  bool any = false;
  for (int k = 0; k < PSDM_STEPS; k++) any |= s->step[k].done;
  return any;
}

static psdm_status identify(psdmp_job_calibrate *j) {
  psdm_error error;
  psdm_steps_options *o = &j->steps.options;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "reading logs");
  psdmp_job_event(&j->job, PSDM_JOB_STOPPABLE);
  o->progress = psdmp_job_watch;
  o->progress_user = &j->job;
  o->finished = finished;
  o->finished_user = j;
  psdm_status status = psdm_steps_run(j->job.robot, o, NULL, &j->steps.result, &error);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  if (j->steps.saved) return j->steps.saved;
  if (status && j->parameters && j->set.out && !to_stdout(j))
    psdmp_job_warn(&j->job, "the finished steps are in '%s'", psdmp_job_safe(&j->job, j->set.out));
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

static psdm_status conclude(psdmp_job_calibrate *j) {
  psdm_error error;
  const psdm_steps *s = j->steps.result;
  if (s->stopped && !any_done(s)) return psdmp_job_nothing(&j->job, "no step was finished");
  if (s->stopped)
    psdmp_job_warn(&j->job, "interrupted: finished steps are kept%s",
                   j->set.out ? "; `params` continues from them" : "");
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  psdm_status status = keep(j, s, true);
  if (status) return status;
  status = psdm_parameters_model(j->job.robot, NULL, &j->model, &error);
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

/* ---- thresholds: the whole model if there were inertia logs, else the last step ---- */

/* |error| / |tau| over all joints, computed as in the library for each step */
static double global_rel(const psdm_joint_fit *joint, int n) {
  double error = 0, tau = 0;
  for (int i = 0; i < n; i++) {
    double own = joint[i].rows ? (double)joint[i].rows * joint[i].rmse * joint[i].rmse : 0;
    error += own;
    if (joint[i].rel > 0 && joint[i].rows) tau += own / (joint[i].rel * joint[i].rel);
  }
  return tau > 0 ? sqrt(error / tau) : NAN;
}

static long rows_of(const psdm_joint_fit *joint, int n) {
  long rows = 0;
  for (int i = 0; i < n && joint; i++) rows += joint[i].rows;
  return rows;
}

double psdmp_job_calibrate_steps_rel(const psdmp_job_calibrate *j) { return global_rel(j->steps.judged, j->n); }

static void judge(psdmp_job_calibrate *j) {
  const psdm_steps *s = j->steps.result;
  bool held = rows_of(j->parameters->heldout.joint, j->n) > 0, all = rows_of(s->all, j->n) > 0;
  j->steps.judged = all ? s->all : held ? j->parameters->heldout.joint : j->parameters->train.joint;
  j->steps.judged_of = all ? "the whole model, held out" : held ? "the last step, held out" : "the last step, training";
  psdmp_job_calibrate_threshold_rel(j, psdmp_job_calibrate_steps_rel(j), j->steps.judged_of);
  psdmp_job_calibrate_threshold_rmse(j, j->steps.judged, j->steps.judged_of);
  if (rows_of(j->steps.judged, j->n)) j->verdict = psdm_verdict_of_fit(j->n, j->steps.judged, &j->steps.finding);
}

/* ---- predicted rows: steps are words in a file, psdm_step in memory ---- */

/* put: psdmp_job_rows_add or _names */
static void put_row(psdmp_job_sink *sink, const psdm_steps_row *row,
                    void (*put)(psdmp_job_sink *sink, const psdmp_job_group *groups, int count)) {
  const double step = row->step, drive = row->drive + 1, heldout = row->heldout;
  const psdmp_job_group group[] = {PSDMP_JOB_GROUP("t", 0, &row->t),
                                   {.name = "step", .value = &step, .said = psdm_step_name(row->step)},
                                   PSDMP_JOB_GROUP("drive", 0, &drive),
                                   PSDMP_JOB_GROUP("heldout", 0, &heldout),
                                   PSDMP_JOB_GROUP("q", 0, &row->q),
                                   PSDMP_JOB_GROUP("qd", 0, &row->qd),
                                   PSDMP_JOB_GROUP("measured", 0, &row->measured),
                                   PSDMP_JOB_GROUP("predicted", 0, &row->predicted)};
  put(sink, group, sizeof group / sizeof *group);
}

static bool add_row(void *sink, const psdm_steps_row *row) {
  put_row(sink, row, psdmp_job_rows_add);
  return !psdmp_job_rows_failed(sink);
}

static psdm_status predict(const psdmp_job_calibrate *j) {
  psdmp_job_sink *sink;
  psdm_error error;
  psdm_status status = psdmp_job_rows_open(&j->job, "predict", j->set.predict, &sink);
  if (status || !sink) return status;
  put_row(sink, &(psdm_steps_row){0}, psdmp_job_rows_names);
  status = psdm_steps_predict(j->steps.result, add_row, sink, &error);
  if (!status) return psdmp_job_rows_commit(&j->job, &sink);
  psdmp_job_rows_abort(&j->job, &sink);
  return psdmp_job_fail(&j->job, &error);
}

psdm_status psdmp_job_calibrate_steps(psdmp_job_calibrate *j) {
  psdm_status status = psdmp_job_calibrate_step_words(j);
  if (!status) status = load(j);
  if (!status) status = identify(j);
  if (!status) status = conclude(j);
  if (status) return status;
  judge(j);
  status = predict(j);
  return status ? status : psdmp_job_calibrate_robot(j);
}
