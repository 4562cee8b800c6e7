/* cmd_payload_json.c: all results on a load as JSON. */
#include <math.h>
#include <string.h>

#include "cmd_payload.h"

static const char *const numbers[10] = {"m", "mx", "my", "mz", "XX", "XY", "XZ", "YY", "YZ", "ZZ"};
static const char *const pairs[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};

static void put_named(psdm_output *out, const char *key, const char *const *names, const double *value, int count) {
  psdm_json_object(out, key);
  for (int k = 0; k < count; k++) psdm_json_number(out, names[k], value[k]);
  psdm_json_close(out);
}

static void put_load(const payload_job *j, psdm_output *out) {
  const psdm_payload_answer *a = j->answer;
  psdm_json_object(out, "load");
  psdm_json_number(out, "mass", j->load.mass);
  psdm_json_numbers(out, "com", j->load.com, 3);
  put_named(out, "inertia", pairs, j->load.inertia, 6);
  if (a) {
    psdm_json_number(out, "mass_sd", a->mass_sd);
    psdm_json_numbers(out, "com_sd", a->com_sd, 3);
    put_named(out, "inertia_sd", pairs, a->inertia_sd, 6);
  }
  psdm_json_close(out);
  put_named(out, "pi", numbers, j->pi, 10);
  if (!a) return;
  put_named(out, "pi_sd", numbers, a->pi_sd, 10);
  put_named(out, "prior_share", numbers, a->prior_share, 10);
  psdm_json_array(out, "covariance");
  for (int k = 0; k < 10; k++) psdm_json_numbers(out, NULL, a->covariance + 10 * k, 10);
  psdm_json_close(out);
}

static void put_fit(const payload_job *j, const char *key, const psdm_joint_fit *fit, double global, psdm_output *out) {
  psdm_json_object(out, key);
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_integer(out, "rows", fit[i].rows);
    psdm_json_number(out, "rmse", fit[i].rmse);
    psdm_json_number(out, "rel", fit[i].rel);
    psdm_json_number(out, "nrmse", fit[i].nrmse);
    psdm_json_number(out, "r2", fit[i].r2);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_number(out, "global_rel", global);
  psdm_json_close(out);
}

static const psdm_estimate *find(const psdm_parameters *p, const char *name) {
  for (int k = 0; k < p->base; k++)
    if (strcmp(p->theta[k].name, name) == 0) return &p->theta[k];
  return NULL;
}

/* theta <- theta + L pi, in the order of theta in generated code */
static void put_theta(const payload_job *j, psdm_output *out) {
  psdm_json_array(out, "theta");
  for (int k = 0; k < psdm_model_l(j->model); k++) {
    const char *name = psdm_model_base_name(j->model, k);
    const psdm_estimate *empty = find(j->empty, name), *with = find(j->with, name);
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", name);
    psdm_json_number(out, "empty", empty ? empty->value : NAN);
    psdm_json_number(out, "loaded", with ? with->value : NAN);
    psdm_json_number(out, "loaded_sd", with ? with->sd : NAN);
    psdm_json_numbers(out, "L", j->L + 10L * k, 10);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_logs(const payload_job *j, psdm_output *out) {
  const psdm_payload_answer *a = j->answer;
  const char *text;
  put_fit(j, "before", a->before, a->global_before, out);
  put_fit(j, "after", a->after, a->global_after, out);
  psdm_json_object(out, "verdict");
  psdm_json_string(out, "word", psdm_verdict_name(j->verdict));
  psdm_json_bool(out, "good", j->verdict <= j->accept);
  psdm_json_string(out, "text", j->finding.text);
  psdm_json_close(out);
  psdm_json_integer(out, "rows", a->rows);
  psdm_json_number(out, "seconds", a->seconds);
  psdm_json_bool(out, "stopped", a->stopped);
  psdm_json_array(out, "fault_lines");
  for (int k = 0; (text = psdm_payload_fault(a, k)); k++) psdm_json_string(out, NULL, text);
  psdm_json_close(out);
  psdm_json_array(out, "remarks");
  for (int k = 0; k < (int)(sizeof a->remark / sizeof *a->remark) && a->remark[k][0]; k++)
    psdm_json_string(out, NULL, a->remark[k]);
  psdm_json_close(out);
}

int payload_json(payload_job *j) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "payload");
  tool_json_robot(out, "name", j->robot);
  psdm_json_integer(out, "n", j->n);
  tool_json_joints(out, j->robot, NULL);
  psdm_json_string(out, "link", psdm_robot_link_name(j->robot, j->joint));
  put_load(j, out);
  put_theta(j, out);
  if (j->answer) put_logs(j, out);
  settings_json(&payload_line, &j->set, out);
  psdm_json_close(out);
  return tool_commit(&out);
}
