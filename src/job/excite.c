/* excite.c: motions that make a robot's parameters identifiable, from the settings to the answer. */
#include <math.h>
#include <string.h>

#include "job/excite_priv.h"
#include "job/state_priv.h"

#define SETTINGS_STRUCT psdmp_job_excite_settings
static const psdm_setting settings[] = {
    {"for", PSDM_SETTING_text, offsetof(psdmp_job_excite_settings, experiment), "inertia",
     "inertia|gravity|friction|motor", "what the motion is for, see above"},
    EXCITE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static void clear(psdm_job *job) {
  psdmp_job_excite *j = (psdmp_job_excite *)job;
  psdm_excitation_free(j->result);
  psdm_work_free(j->work, NULL);
  psdmp_base_free(NULL, j->rows.t);
}

/* the motion goes to a file that can be replaced again and again */
static bool saves(const psdmp_job_excite *j) { return j->set.out && strcmp(j->set.out, "-") != 0; }

/* ---- the best so far is always on disk: nothing is lost however the program ends ---- */

/* every new best motion (by its goal, which may differ from the condition number) is checked and written, but this
 * takes at most a tenth of the time */
static void save_better(void *user, const psdm_motion *best, double condition) {
  psdmp_job_excite *j = user;
  double began = psdmp_base_clock();
  psdm_error error;
  if (condition == j->saved || began < j->next_save) return;
  bool kept = !psdmp_job_excite_measure_motion(j, best, &error) && psdmp_job_excite_keeps(j);
  psdm_status status = kept ? psdmp_job_excite_write(j, false) : PSDM_OK;
  if (kept && !status) j->saved = condition;
  if (status && status != PSDM_E_STOPPED) {
    char text[1024];
    psdm_error_format(&j->job.state->error, text, sizeof text);
    psdmp_job_warn(&j->job, "%s", text);
  }
  j->next_save = status ? INFINITY : began + 10 * (psdmp_base_clock() - began);
}

/* ---- the run ---- */

static psdm_status load(psdmp_job_excite *j) {
  psdm_status status = psdmp_job_robot(&j->job, PSDM_ROBOT_SETTINGS_OF(&j->set), &j->job.robot);
  if (status) return status;
  j->n = psdm_robot_n(j->job.robot);
  if (j->options.step == PSDM_STEP_MOTOR) psdmp_job_default_link(&j->job, j->job.robot, "`tip` selects another");
  j->torques = !psdm_robot_ready(j->job.robot, NULL);
  for (int k = 0; k < psdm_robot_joints(j->job.robot); k++)
    j->friction |= psdm_robot_joint(j->job.robot, k)->friction.given;
  return psdm_work_new(j->job.robot, NULL, &j->work) ? psdmp_job_memory(&j->job) : PSDM_OK;
}

/* fail on an unwritable file now, not after the search */
static psdm_status try_file(const psdmp_job_excite *j) {
  psdmp_job_sink *sink;
  if (!saves(j) || psdmp_job_helps(&j->job)) return PSDM_OK;
  psdm_status status = psdmp_job_rows_open(&j->job, "out", j->set.out, &sink);
  psdmp_job_rows_abort(&j->job, &sink);
  return status;
}

static psdm_status plan(psdmp_job_excite *j) {
  psdm_error error;
  /* known in advance for inertia only */
  const double period = j->set.seconds > 0 ? j->set.seconds : PSDM_EXCITE_SECONDS;
  if (j->options.step == PSDM_STEP_INERTIA && psdmp_job_excite_fits(j, j->set.periods * period, &error))
    return psdmp_job_fail(&j->job, &error);
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "searching");
  j->saved = INFINITY;
  j->options.progress = psdmp_job_watch;
  j->options.progress_user = &j->job;
  j->options.better = saves(j) ? save_better : NULL;
  j->options.better_user = j;
  j->options.ranks = j->job.host.ranks;
  psdmp_job_event(&j->job, PSDM_JOB_STOPPABLE);
  psdm_status status = psdm_excite(j->job.robot, &j->options, NULL, &j->result, &error);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(&j->job, &error);
  if (psdmp_job_helps(&j->job)) return PSDM_OK;
  j->interrupted = psdmp_job_interrupted(&j->job);
  j->job.good = !j->interrupted;
  psdmp_job_detail(&j->job, "%ld evaluations in %.3g s", j->result->evaluations, j->result->wall);
  if (j->interrupted) psdmp_job_warn(&j->job, "interrupted: this is the best so far");
  if (j->options.step == PSDM_STEP_INERTIA) psdmp_job_weak_axes(&j->job, j->job.robot, j->result->condition);
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  return PSDM_OK;
}

/* never write a motion that exceeds a limit, whatever the cause */
static psdm_status verify(psdmp_job_excite *j) {
  psdm_error error;
  if (psdmp_job_excite_measure_motion(j, j->result->motion, &error)) return psdmp_job_fail(&j->job, &error);
  if (psdmp_job_excite_keeps(j)) return PSDM_OK;
  if (j->planned.worst <= 1)
    return psdmp_job_wrong(&j->job,
                           "`rate` %g: between the rows a robot would reach %.6g of a limit; use a higher rate",
                           j->set.rate, j->between.worst);
  error = (psdm_error){.status = PSDM_E_ACCURACY};
  psdmp_base_print(error.text, sizeof error.text,
                   "the motion reaches %.6g of a limit (smallest gap %.3g m): it is not written", j->planned.worst,
                   j->planned.gap);
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status run(psdm_job *job) {
  psdmp_job_excite *j = (psdmp_job_excite *)job;
  psdm_status status = psdmp_job_excite_words(j);
  if (!status) status = load(j);
  if (!status) status = psdmp_job_excite_limits(j);
  if (!status) status = try_file(j);
  if (!status) status = plan(j);
  if (status || psdmp_job_helps(job)) return status;
  status = verify(j);
  if (!status) status = psdmp_job_excite_write(j, true);
  if (!status) status = psdmp_job_excite_read_back(j);
  return !status ? psdmp_job_answer(job, &psdm_excite_result_type, psdmp_job_excite_fill) : status;
}

PSDMP_JOB_KIND(job, excite, psdmp_job_excite, .free = clear);
