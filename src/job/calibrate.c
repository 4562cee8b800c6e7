/* calibrate.c: from logs to a model and its reliability, from the settings to the answer. */
#include <string.h>

#include "job/calibrate_priv.h"
#include "job/state_priv.h"

#define SETTINGS_STRUCT psdmp_job_calibrate_settings
static const psdm_setting settings[] = {CALIBRATE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static void clear(psdm_job *job) {
  psdmp_job_calibrate *j = (psdmp_job_calibrate *)job;
  psdm_parameters_free(j->compared.other);
  psdm_parameters_free(j->parameters);
  psdm_model_free(j->model);
  psdm_calibration_free(j->result);
  psdm_steps_free(j->steps.result);
  psdm_parameters_free(j->steps.before);
}

/* ---- thresholds ---- */

static char *next_failure(psdmp_job_calibrate *j) {
  return j->failures < (int)(sizeof j->failure / sizeof *j->failure) ? j->failure[j->failures++] : NULL;
}

void psdmp_job_calibrate_threshold_rel(psdmp_job_calibrate *j, double rel, const char *part) {
  char *text = j->set.max_rel > 0 && !(rel <= j->set.max_rel) ? next_failure(j) : NULL;
  if (text)
    psdmp_base_print(text, sizeof j->failure[0], "global relative error %.4g (%s) is above %.4g", rel, part,
                     j->set.max_rel);
}

void psdmp_job_calibrate_threshold_rmse(psdmp_job_calibrate *j, const psdm_joint_fit *fit, const char *part) {
  for (int i = 0; i < j->n && j->max_rmse; i++) {
    char *text = !(fit[i].rmse <= j->max_rmse[i]) && (fit[i].rows || !j->steps.chosen) ? next_failure(j) : NULL;
    if (text)
      psdmp_base_print(text, sizeof j->failure[0], "RMSE %.4g (%s) of joint %.60s is above %.4g", fit[i].rmse, part,
                       psdmp_job_safe(&j->job, psdmp_job_joint(j->job.robot, i)->name), j->max_rmse[i]);
  }
}

static void judge(psdmp_job_calibrate *j) {
  const psdm_calibration *c = j->result;
  bool held = c->heldout[PSDM_FIT_MOVING].rows > 0;
  const char *part = held ? "held out" : "training";
  const psdm_part_fit *judged = held ? &c->heldout[PSDM_FIT_MOVING] : &c->train[PSDM_FIT_MOVING];
  psdmp_job_calibrate_threshold_rel(j, judged->global_rel, part);
  psdmp_job_calibrate_threshold_rmse(j, judged->joint, part);
  j->verdict = c->verdict;
}

const psdm_finding *psdmp_job_calibrate_finding(const psdmp_job_calibrate *j, int index) {
  if (!j->steps.chosen) return psdm_calibration_finding(j->result, index);
  return index == 0 && j->steps.finding.rule ? &j->steps.finding : NULL;
}

/* ---- the run: a stop ends it and keeps the best so far ---- */

static void tell_checkpoint(const psdmp_job_calibrate *j) {
  const psdm_calibration *c = j->result;
  const char *folder = psdmp_job_safe(&j->job, j->set.checkpoint ? j->set.checkpoint : "");
  if (c->parts_found)
    psdmp_job_note(&j->job, "%s: parts reused from an earlier run: %ld; new: %ld", folder, c->parts_found,
                   c->parts_saved);
  if (c->parts_stale)
    psdmp_job_warn(&j->job, "%s: parts of other logs, settings or versions, not used: %ld", folder, c->parts_stale);
  if (c->parts_damaged)
    psdmp_job_warn(&j->job, "%s: damaged parts that were computed again: %ld", folder, c->parts_damaged);
}

static void tell(const psdmp_job_calibrate *j) {
  tell_checkpoint(j);
  if (j->result->stopped)
    psdmp_job_warn(&j->job, "interrupted during the cross-validation: this is the best so far, with the choices made "
                            "until then");
  psdmp_job_weak_axes(&j->job, j->job.robot, j->result->condition);
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  psdmp_job_detail(&j->job, "fitted to %ld of %ld rows in %d segments", j->result->used, j->result->rows,
                   j->result->segments);
}

static psdm_status identify(psdmp_job_calibrate *j) {
  psdm_error error;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "reading logs");
  psdmp_job_event(&j->job, PSDM_JOB_STOPPABLE);
  j->options.progress = psdmp_job_watch;
  j->options.progress_user = &j->job;
  psdm_status status = psdm_calibrate(j->job.robot, &j->options, NULL, &j->result, &error);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(&j->job, &error);
  if (psdmp_job_helps(&j->job)) return PSDM_OK;
  tell(j);
  status = psdm_parameters_from(j->result, j->set.covariance, NULL, &j->parameters, &error);
  if (!status && j->set.covariance && !j->parameters->covariance)
    psdmp_job_warn(&j->job, "`covariance`: too many parameters; covariance omitted");
  if (!status) status = psdm_parameters_model(j->job.robot, NULL, &j->model, &error);
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

static psdm_status oneshot(psdmp_job_calibrate *j) {
  psdm_status status = psdmp_job_calibrate_words(j);
  if (!status) status = psdmp_job_robot(&j->job, PSDM_ROBOT_SETTINGS_OF(&j->set), &j->job.robot);
  if (!status) status = psdmp_job_calibrate_numbers(j);
  if (!status) status = identify(j);
  if (status || psdmp_job_helps(&j->job)) return status;
  status = psdmp_job_calibrate_compare(j);
  if (!status) judge(j);
  if (!status) status = psdmp_job_calibrate_parameters(j, true);
  if (!status) status = psdmp_job_calibrate_predictions(j);
  return status ? status : psdmp_job_calibrate_robot(j);
}

/* an input must not be overwritten: refuse before the work, not after; params may be, since calibrations continue in
 * their own file */
static psdm_status spare_inputs(const psdmp_job_calibrate *j) {
  const char *const written[] = {j->set.out, j->set.predict, j->set.urdf};
  psdm_status status = PSDM_OK;
  if (j->job.path) psdmp_job_reads(&j->job, j->job.path);
  for (size_t k = 0; k < sizeof written / sizeof *written && !status; k++)
    if (written[k]) status = psdmp_job_writes(&j->job, written[k], false);
  return status;
}

static psdm_status run(psdm_job *job) {
  psdmp_job_calibrate *j = (psdmp_job_calibrate *)job;
  psdm_status status = psdmp_job_calibrate_route(j);
  bool steps = j->steps.chosen;
  if (!status && steps && psdmp_job_helps(job)) return PSDM_OK; /* steps run on rank 0 alone */
  if (!status) status = spare_inputs(j);
  if (!status) status = steps ? psdmp_job_calibrate_steps(j) : oneshot(j);
  if (status || psdmp_job_helps(job)) return status;
  psdmp_job_interrupted(job); /* a stop that came too late to change anything is known all the same */
  job->good = !j->failures && j->verdict <= j->accept;
  return psdmp_job_answer(job, steps ? &psdm_calibrate_steps_result_type : &psdm_calibrate_result_type,
                          steps ? psdmp_job_calibrate_steps_fill : psdmp_job_calibrate_fill);
}

/* parts serve an unfinished run */
static void settle(psdm_job *job) {
  psdmp_job_calibrate *j = (psdmp_job_calibrate *)job;
  psdm_error error;
  long removed = 0;
  if (!j->set.checkpoint || !j->result || psdmp_job_interrupted(job)) return;
  if (psdm_calibration_clear(j->result, &removed, &error))
    psdmp_job_warn(job, "%s: %s", psdmp_job_safe(job, error.file), error.text);
  if (removed)
    psdmp_job_detail(job, "%s: parts of this run removed: %ld", psdmp_job_safe(job, j->set.checkpoint), removed);
}

PSDMP_JOB_KIND(job, calibrate, psdmp_job_calibrate, .free = clear, .settle = settle, .continues = true);
