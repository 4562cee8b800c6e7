/* calibrate_steps_answer.c: everything that a calibration step by step found, as a document. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

static const char *from(int where) {
  static const char *const words[] = {"nothing", "file", "before", "log"};
  return words[where];
}

/* a step's own torque: held-out figures, the training rows' beside them */
static void put_step(const psdmp_job_calibrate *j, psdm_step step, psdm_result *head, psdm_step_result *to) {
  const psdm_steps *s = j->steps.result;
  const psdm_step_fit *fit = &s->step[step];
  psdm_step_joint *joint = psdm_result_items(head, &psdm_step_joint_type, j->n);
  to->done = fit->done || fit->from_before, to->from_before = fit->from_before;
  to->rows = fit->rows, to->condition = fit->done ? fit->condition : NAN, to->seconds = fit->seconds;
  PSDM_RESULT_SET(to->joints, joint, j->n);
  for (int i = 0; joint && i < j->n; i++) {
    joint[i].name = psdm_result_text(head, psdmp_job_joint(j->job.robot, i)->name);
    if (step == PSDM_STEP_MOTOR) {
      joint[i].constant = s->torque_constant[i], joint[i].sd = s->sd[i];
      joint[i].from = from(s->torque_constant_from[i]);
    }
    if (fit->heldout) {
      const psdm_joint_fit *f = &fit->heldout[i];
      joint[i].rows = f->rows, joint[i].rmse = f->rmse, joint[i].rel = f->rel;
      joint[i].nrmse = f->nrmse, joint[i].r2 = f->r2;
    }
    if (fit->train) {
      const psdm_joint_fit *f = &fit->train[i];
      joint[i].train = (psdm_fit_numbers){f->rows, f->rmse, f->rel, f->nrmse, f->r2};
    }
    if (fit->sigma) joint[i].sigma = fit->sigma[i];
  }
}

/* value: the arm alone; with_tool: what `out` has */
static void put_parameters(const psdmp_job_calibrate *j, psdm_calibrate_steps_result *r) {
  const psdm_steps *s = j->steps.result;
  psdm_step_parameter *to = psdm_result_items(&r->head, &psdm_step_parameter_type, s->base);
  for (int k = 0; to && k < s->base; k++) {
    to[k].name = psdm_result_text(&r->head, s->theta[k].name);
    to[k].value = s->theta[k].value, to[k].sd = s->theta[k].sd;
    to[k].with_tool = j->parameters->theta[k].value;
    to[k].from = from(s->theta_from[k]);
    to[k].gravity = s->gravity[k] != 0;
    to[k].formula.item = psdmp_job_calibrate_formula(j, &r->head, k, &to[k].formula.rows);
  }
  PSDM_RESULT_SET(r->parameters, to, s->base);
}

static void put_friction(const psdmp_job_calibrate *j, psdm_calibrate_steps_result *r) {
  const psdm_steps *s = j->steps.result;
  psdm_step_friction_result *to = psdm_result_items(&r->head, &psdm_step_friction_result_type, j->n);
  for (int i = 0; to && i < j->n; i++) {
    int first = s->n + s->base + PSDM_FRICTION_NUMBERS * i; /* of the drive's eight numbers in the vector of all */
    const psdm_friction *f = &s->friction[i];
    const double *sd = s->sd + first;
    to[i].joint = psdm_result_text(&r->head, psdmp_job_joint(j->job.robot, i)->name);
    to[i].from = from(f->given ? s->friction_from[i] : PSDM_FROM_NOTHING);
    to[i].effective_inertia = s->effective_inertia[i], to[i].speed = s->speed[i];
    if (!f->given) continue;
    to[i].coulomb = f->coulomb, to[i].static_ = f->stat, to[i].stribeck = f->stribeck, to[i].viscous = f->viscous;
    to[i].exponent = f->exponent, to[i].sigma0 = f->sigma0, to[i].sigma1 = f->sigma1, to[i].offset = f->offset;
    to[i].sd = (psdm_lugre_numbers){sd[0], sd[1], sd[2], sd[3], sd[4], sd[5], sd[6], sd[7]};
    const double *block = psdmp_job_calibrate_block(&r->head, s->covariance, s->numbers, first, PSDM_FRICTION_NUMBERS);
    PSDM_RESULT_SET(to[i].covariance, block, PSDM_FRICTION_NUMBERS);
    to[i].covariance.columns = PSDM_FRICTION_NUMBERS;
  }
  PSDM_RESULT_SET(r->friction, to, j->n);
}

static const char *fault_at(const void *from, int index) { return psdm_steps_fault(from, index); }
static const char *remark_at(const void *from, int index) {
  const psdm_steps *s = from;
  return s->remark && s->remark[index][0] ? s->remark[index] : NULL;
}

static void put_logs(const psdmp_job_calibrate *j, psdm_calibrate_steps_result *r) {
  int count = j->set.log.count;
  psdm_step_log *to = psdm_result_items(&r->head, &psdm_step_log_type, count);
  for (int i = 0; to && i < count; i++) {
    const psdm_steps_log *log = &j->steps.log[i];
    to[i].path = psdm_result_text(&r->head, log->path);
    to[i].step = psdm_step_name(log->step);
    if (!(log->mass > 0)) continue;
    to[i].mass = log->mass;
    memcpy(to[i].com, log->com, sizeof to[i].com);
  }
  PSDM_RESULT_SET(r->logs, to, count);
  r->fault_lines.item = psdmp_job_texts(&r->head, fault_at, j->steps.result, &r->fault_lines.rows);
}

void psdmp_job_calibrate_steps_fill(psdm_job *job, psdm_result *head) {
  const psdmp_job_calibrate *j = (psdmp_job_calibrate *)job;
  const psdm_steps *s = j->steps.result;
  psdm_calibrate_steps_result *r = (psdm_calibrate_steps_result *)head;
  psdm_step_result *const step[PSDM_STEPS] = {&r->steps.motor, &r->steps.gravity, &r->steps.friction,
                                              &r->steps.inertia};
  psdm_result_name_robot(head, j->job.robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, j->job.robot, NULL), j->n);
  r->coupled_drives = psdmp_job_coupled_drives(head, j->job.robot);
  r->route = "steps";
  for (int k = 0; k < PSDM_STEPS; k++) put_step(j, (psdm_step)k, head, step[k]);
  psdmp_job_calibrate_put_part(j, head, &j->parameters->train, &r->train);
  psdmp_job_calibrate_put_part(j, head, &j->parameters->heldout, &r->heldout);
  PSDM_RESULT_SET(r->all, psdmp_job_calibrate_fits(j, head, s->all), j->n);
  put_parameters(j, r);
  put_friction(j, r);
  r->currents = s->currents;
  if (s->tool) PSDM_RESULT_SET(r->tool, psdm_result_numbers(head, s->tool, 10), 10);
  put_logs(j, r);
  r->rate = s->rate, r->seconds = s->seconds, r->stopped = s->stopped;
  r->remarks.item = psdmp_job_texts(head, remark_at, s, &r->remarks.rows);
  CALIBRATE_PUT_VERDICT(j, head, &r->verdict);
  r->verdict.of = j->steps.judged_of;
  r->verdict.error = psdmp_job_calibrate_steps_rel(j);
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}
