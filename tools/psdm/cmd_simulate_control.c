/* cmd_simulate_control.c: words to a controller's options. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

static int take_list(simulate_job *j, const char *option, const char *text, int count, const double **to) {
  if (!text) return -1;
  double *value = simulate_array(j, (size_t)count, sizeof *value);
  *to = value;
  return value ? simulate_numbers(option, text, count, value) : tool_no_memory("simulate");
}

/* one number, or q's and qd's, or 2n */
static int take_Q(simulate_job *j, const double **to) {
  const char *comma = j->set.Q ? strchr(j->set.Q, ',') : NULL;
  bool pair = comma && !strchr(comma + 1, ',') && j->n > 1;
  if (!pair) return take_list(j, "Q", j->set.Q, 2 * j->n, to);
  double two[2], *value = simulate_array(j, 2 * (size_t)j->n, sizeof *value);
  if (!value) return tool_no_memory("simulate");
  int code = simulate_numbers("Q", j->set.Q, 2, two);
  for (int i = 0; i < 2 * j->n; i++) value[i] = two[i >= j->n];
  *to = value;
  return code;
}

static int take_inputs(simulate_job *j, const bool **to) {
  const char *at = j->set.inputs;
  if (!at) return -1;
  bool *input = simulate_array(j, (size_t)j->n, sizeof *input);
  if (!input) return tool_no_memory("simulate");
  *to = input;
  for (int last = 0;; at++) {
    char part[32];
    double joint;
    size_t length = strcspn(at, ",");
    snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), at);
    if (length >= sizeof part || !tool_parse_number(part, &joint) || joint != floor(joint) || joint <= last ||
        joint > j->n)
      break;
    last = (int)joint;
    input[last - 1] = true;
    at += length;
    if (!*at) return -1;
  }
  return tool_usage("simulate", "--inputs '%s': ascending numbers of joints, 1 to %d, were expected",
                    tool_safe(j->set.inputs), j->n);
}

int simulate_controller(simulate_job *j) {
  const simulate_settings *s = &j->set;
  psdm_control_options options = {.bandwidth = s->bandwidth,
                                  .friction = s->compensate,
                                  .torque = j->torque,
                                  .lambda = s->lambda,
                                  .gamma = s->gamma,
                                  .bound = s->bound};
  psdm_error error;
  if (j->control_kind == PSDM_CONTROL_NONE) return -1;
  int code = take_list(j, "kp", s->kp, j->n, &options.kp);
  if (code < 0) code = take_list(j, "kd", s->kd, j->n, &options.kd);
  if (code < 0) code = take_Q(j, &options.Q);
  if (code < 0) code = take_list(j, "R", s->R, j->n, &options.R);
  if (code < 0) code = take_inputs(j, &options.inputs);
  if (code >= 0) return code;
  if (psdm_control_new(j->control_kind, j->model, j->reference, &options, NULL, &j->controller, &error))
    return tool_fail(&error);
  return -1;
}
