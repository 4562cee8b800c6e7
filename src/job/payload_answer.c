/* payload_answer.c: everything that is known of a load, as a document. */
#include <math.h>
#include <string.h>

#include "job/payload_priv.h"

static const psdm_named_number *ten(psdm_result *head, const double *value) {
  static const char *const names[10] = {"m", "mx", "my", "mz", "XX", "XY", "XZ", "YY", "YZ", "ZZ"};
  psdm_named_number *to = psdm_result_memory(head, 10, sizeof *to);
  for (int k = 0; to && k < 10; k++) to[k] = (psdm_named_number){names[k], value[k]};
  return to;
}

static psdm_inertia_pairs pairs(const double I[6]) { return (psdm_inertia_pairs){I[0], I[1], I[2], I[3], I[4], I[5]}; }

static void put_load(const psdmp_job_payload *j, psdm_payload_result *r) {
  const psdm_payload_answer *a = j->answer;
  r->load.mass = j->load.mass;
  memcpy(r->load.com, j->load.com, sizeof r->load.com);
  r->load.inertia = pairs(j->load.inertia);
  PSDM_RESULT_SET(r->pi, ten(&r->head, j->pi), 10);
  if (!a) return;
  psdm_inertia_pairs *inertia = psdm_result_items(&r->head, &psdm_inertia_pairs_type, 1);
  if (inertia) *inertia = pairs(a->inertia_sd);
  r->load.inertia_sd = inertia;
  r->load.mass_sd = a->mass_sd;
  memcpy(r->load.com_sd, a->com_sd, sizeof r->load.com_sd);
  PSDM_RESULT_SET(r->pi_sd, ten(&r->head, a->pi_sd), 10);
  PSDM_RESULT_SET(r->prior_share, ten(&r->head, a->prior_share), 10);
  PSDM_RESULT_SET(r->covariance, psdm_result_numbers(&r->head, a->covariance, 100), 10);
  r->covariance.columns = 10;
}

static const psdm_fit_part *fit_of(const psdmp_job_payload *j, psdm_result *head, const psdm_joint_fit *fit,
                                   double global) {
  psdm_fit_part *to = psdm_result_items(head, &psdm_fit_part_type, 1);
  psdm_named_fit *joint = psdm_result_items(head, &psdm_named_fit_type, j->n);
  if (!to || !joint) return NULL;
  for (int i = 0; i < j->n; i++)
    joint[i] = (psdm_named_fit){NULL, fit[i].rows, fit[i].rmse, fit[i].rel, fit[i].nrmse, fit[i].r2};
  PSDM_RESULT_SET(to->joints, joint, j->n);
  to->global_rel = global;
  return to;
}

static const psdm_estimate *find(const psdm_parameters *p, const char *name) {
  for (int k = 0; k < p->base; k++)
    if (strcmp(p->theta[k].name, name) == 0) return &p->theta[k];
  return NULL;
}

/* theta <- theta + L pi, in the order in which generated code has theta */
static void put_theta(const psdmp_job_payload *j, psdm_payload_result *r) {
  int count = psdm_model_l(j->model);
  psdm_loaded_parameter *to = psdm_result_items(&r->head, &psdm_loaded_parameter_type, count);
  for (int k = 0; to && k < count; k++) {
    const char *name = psdm_model_base_name(j->model, k);
    const psdm_estimate *empty = find(j->empty, name), *with = find(j->with, name);
    to[k].name = psdm_result_text(&r->head, name);
    if (empty) to[k].empty = empty->value;
    if (with) to[k].loaded = with->value, to[k].loaded_sd = with->sd;
    memcpy(to[k].L, j->L + 10L * k, sizeof to[k].L);
  }
  PSDM_RESULT_SET(r->theta, to, count);
}

static const char *fault_at(const void *from, int index) { return psdm_payload_fault(from, index); }
static const char *remark_at(const void *from, int index) {
  const psdm_payload_answer *a = from;
  return index < (int)(sizeof a->remark / sizeof *a->remark) && a->remark[index][0] ? a->remark[index] : NULL;
}

static void put_logs(const psdmp_job_payload *j, psdm_payload_result *r) {
  const psdm_payload_answer *a = j->answer;
  psdm_payload_verdict *verdict = psdm_result_items(&r->head, &psdm_payload_verdict_type, 1);
  r->before = fit_of(j, &r->head, a->before, a->global_before);
  r->after = fit_of(j, &r->head, a->after, a->global_after);
  if (verdict)
    *verdict = (psdm_payload_verdict){psdm_verdict_name(j->verdict), j->verdict <= j->accept,
                                      psdm_result_text(&r->head, j->finding.text)};
  r->verdict = verdict;
  r->rows = a->rows, r->seconds = a->seconds, r->stopped = a->stopped;
  r->fault_lines.item = psdmp_job_texts(&r->head, fault_at, a, &r->fault_lines.rows);
  r->remarks.item = psdmp_job_texts(&r->head, remark_at, a, &r->remarks.rows);
}

void psdmp_job_payload_fill(psdm_job *job, psdm_result *head) {
  psdmp_job_payload *j = (psdmp_job_payload *)job;
  psdm_payload_result *r = (psdm_payload_result *)head;
  psdm_result_name_robot(head, job->robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, job->robot, NULL), j->n);
  r->link = psdm_result_text(head, psdm_robot_link_name(job->robot, j->joint));
  put_load(j, r);
  put_theta(j, r);
  if (j->answer) put_logs(j, r);
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}
