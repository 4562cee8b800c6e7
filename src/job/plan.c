/* plan.c: fastest and least strenuous motions, and time scaling. */
#include "job/plan_priv.h"

#define SETTINGS_STRUCT psdmp_job_plan_settings
static const psdm_setting settings[] = {PLAN_SETTINGS(PSDM_SETTINGS_ROW){0}};
static const psdm_setting arguments[] = {PLAN_ARGUMENTS(PSDM_SETTINGS_ROW){0}};

static void clear(psdm_job *job) {
  psdmp_job_plan *j = (psdmp_job_plan *)job;
  psdm_optimal_free(j->optimal);
  psdm_path_plan_free(j->plan);
  psdm_motion_free(j->path);
  psdm_work_free(j->work, NULL);
}

static void judge(psdmp_job_plan *j) {
  psdm_job *job = &j->job;
  const psdm_optimal *o = j->optimal;
  bool found = !o || (o->converged && !o->stopped);
  if (!found && !psdmp_job_interrupted(job)) psdmp_job_warn(job, "the motion may not be optimal: %s", o->words);
  if (j->used > 1.01) psdmp_job_warn(job, "a limit is exceeded: the motion reaches %.1f %% of it", 100 * j->used);
  job->good = found && j->used <= 1.01;
}

static psdm_status run(psdm_job *job) {
  psdmp_job_plan *j = (psdmp_job_plan *)job;
  psdm_status status = psdmp_job_plan_words(j);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&j->set), &job->robot);
  if (!status) status = psdmp_job_plan_prepare(j);
  if (!status)
    status = j->what == PLAN_SCALE ? psdmp_job_plan_scale(j)
             : j->path             ? psdmp_job_plan_path(j)
                                   : psdmp_job_plan_optimal(j);
  if (!status) status = psdmp_job_plan_rows(j);
  if (!status) status = psdmp_job_answer(job, &psdm_plan_result_type, psdmp_job_plan_fill);
  if (!status) judge(j);
  return status;
}

PSDMP_JOB_KIND(job, plan, psdmp_job_plan, .arguments = arguments, .free = clear);

const psdm_path_plan *psdm_job_path_plan(const psdm_job *job) {
  return job->kind == &psdmp_job_plan_kind ? ((const psdmp_job_plan *)job)->plan : NULL;
}
