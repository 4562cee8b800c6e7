/* simulate_control.c: words to a controller's options. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

static psdm_status take_list(psdmp_job_simulate *j, const char *option, const char *text, int count,
                             const double **to) {
  if (!text) return PSDM_OK;
  double *value = psdmp_job_array(&j->job, (size_t)count, sizeof *value);
  *to = value;
  return value ? psdmp_job_numbers(&j->job, option, text, count, value) : psdmp_job_memory(&j->job);
}

/* one number, or q's and qd's, or 2n */
static psdm_status take_Q(psdmp_job_simulate *j, const double **to) {
  const char *comma = j->set.Q ? strchr(j->set.Q, ',') : NULL;
  bool pair = comma && !strchr(comma + 1, ',') && j->n > 1;
  if (!pair) return take_list(j, "Q", j->set.Q, 2 * j->n, to);
  double two[2], *value = psdmp_job_array(&j->job, 2 * (size_t)j->n, sizeof *value);
  if (!value) return psdmp_job_memory(&j->job);
  psdm_status status = psdmp_job_numbers(&j->job, "Q", j->set.Q, 2, two);
  for (int i = 0; i < 2 * j->n; i++) value[i] = two[i >= j->n];
  *to = value;
  return status;
}

static psdm_status take_inputs(psdmp_job_simulate *j, const bool **to) {
  const char *at = j->set.inputs;
  if (!at) return PSDM_OK;
  bool *input = psdmp_job_array(&j->job, (size_t)j->n, sizeof *input);
  if (!input) return psdmp_job_memory(&j->job);
  *to = input;
  for (int last = 0;; at++) {
    char part[32];
    double joint;
    size_t length = strcspn(at, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    if (length >= sizeof part || !psdm_parse_number(part, &joint) || joint != floor(joint) || joint <= last ||
        joint > j->n)
      break;
    last = (int)joint;
    input[last - 1] = true;
    at += length;
    if (!*at) return PSDM_OK;
  }
  return psdmp_job_wrong(&j->job, "`inputs` '%s': ascending numbers of joints, 1 to %d, were expected",
                         psdmp_job_safe(&j->job, j->set.inputs), j->n);
}

psdm_status psdmp_job_simulate_controller(psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  psdm_control_options options = {.bandwidth = s->bandwidth,
                                  .friction = s->compensate,
                                  .torque = j->torque,
                                  .lambda = s->lambda,
                                  .gamma = s->gamma,
                                  .bound = s->bound};
  psdm_error error;
  if (j->control_kind == PSDM_CONTROL_NONE) return PSDM_OK;
  psdm_status status = take_list(j, "kp", s->kp, j->n, &options.kp);
  if (!status) status = take_list(j, "kd", s->kd, j->n, &options.kd);
  if (!status) status = take_Q(j, &options.Q);
  if (!status) status = take_list(j, "R", s->R, j->n, &options.R);
  if (!status) status = take_inputs(j, &options.inputs);
  if (status) return status;
  if (psdm_control_new(j->control_kind, j->model, j->reference, &options, NULL, &j->controller, &error))
    return psdmp_job_fail(&j->job, &error);
  return PSDM_OK;
}
