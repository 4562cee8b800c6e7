/* simulate.c: a robot in motion, from its settings to its result; the run itself is simulate_run.c. */
#include "job/simulate_priv.h"

#include <math.h>

#define SETTINGS_STRUCT psdmp_job_simulate_settings
static const psdm_setting settings[] = {SIMULATE_SETTINGS(PSDM_SETTINGS_ROW){0}};

static void clear(psdm_job *job) {
  psdmp_job_simulate *j = (psdmp_job_simulate *)job;
  psdmp_job_rows_abort(job, &j->out);
  psdmp_job_rows_abort(job, &j->log);
  psdmp_job_tell(job, PSDM_JOB_FRAGILE, "%s", "SUNDIALS");
  psdm_sim_free(j->sim);
  psdmp_job_event(job, PSDM_JOB_FRAGILE);
  psdm_work_free(j->carried.work, NULL);
  psdm_robot_free(j->carried.load);
  psdm_control_free(j->controller);
  psdm_motion_free(j->reference);
  psdm_signal_free(j->torque);
  psdm_signal_free(j->wrench);
  psdm_robot_free(j->believed); /* clones before what they borrow from */
  psdm_robot_free(j->believed_file);
  psdm_robot_free(j->stated);
  psdm_robot_free(j->file);
}

/* ---- the answer ---- */

/* sums of squares to root mean squares, in place */
static void close_tracking(psdmp_job_simulate *j) {
  psdmp_job_tracking *t = &j->tracking;
  for (int i = 0; i < j->n; i++) {
    t->sum[i] = sqrt(t->sum[i] / (double)t->rows);
    t->late_sum[i] = sqrt(t->late_sum[i] / (double)(t->late_rows ? t->late_rows : 1));
  }
  j->answer.rms = t->sum, j->answer.rms_last_quarter = t->late_sum;
  j->answer.peak = t->peak, j->answer.final = t->last;
}

static psdm_status answer(psdmp_job_simulate *j) {
  psdm_simulation *a = &j->answer;
  a->robot = j->robot;
  a->n = j->n;
  a->inverse = j->set.inverse;
  a->stopped = j->interrupted;
  a->rows = j->out_rows, a->log_rows = j->log_rows;
  a->control = j->control_kind;
  a->controller = j->controller;
  a->start = j->start;
  a->run = j->result;
  a->last = j->last;
  for (int k = 0; k < 4; k++) a->first[k] = j->first[k];
  a->friction = j->options.friction != PSDM_FRICTION_NONE;
  a->wrench = j->options.wrench != NULL;
  a->payload = j->options.payloads > 0;
  if (j->tracking.rows) close_tracking(j);
  return psdmp_job_simulate_answer(j);
}

static psdm_status run(psdm_job *job) {
  psdmp_job_simulate *j = (psdmp_job_simulate *)job;
  psdm_status status = psdmp_job_simulate_words(j);
  if (!status) status = psdmp_job_simulate_robots(j);
  if (!status) status = psdmp_job_simulate_initial(j);
  if (!status) status = psdmp_job_simulate_reference(j);
  if (!status) status = psdmp_job_simulate_inputs(j);
  if (!status && !j->set.inverse) status = psdmp_job_simulate_controller(j);
  if (!status) status = psdmp_job_simulate_open(j);
  if (!status) status = j->set.inverse ? psdmp_job_simulate_inverse(j) : psdmp_job_simulate_run(j);
  return status ? status : answer(j);
}

PSDMP_JOB_KIND(job, simulate, psdmp_job_simulate, .free = clear);

const psdm_simulation *psdm_job_simulation(const psdm_job *job) {
  const psdmp_job_simulate *j = (const psdmp_job_simulate *)job;
  return job->kind == &psdmp_job_simulate_kind && j->answer.robot ? &j->answer : NULL;
}
