/* cmd_calibrate_steps_json.c: all results of --route steps as JSON. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

static void put_numbers(const psdm_joint_fit *fit, psdm_output *out) {
  psdm_json_integer(out, "rows", fit ? fit->rows : 0);
  psdm_json_number(out, "rmse", fit ? fit->rmse : NAN);
  psdm_json_number(out, "rel", fit ? fit->rel : NAN);
  psdm_json_number(out, "nrmse", fit ? fit->nrmse : NAN);
  psdm_json_number(out, "r2", fit ? fit->r2 : NAN);
}

/* a step's own torque: held-out figures, the training rows' beside them */
static void put_step(const calibrate_job *j, psdm_step step, psdm_output *out) {
  const psdm_steps *s = j->steps.result;
  const psdm_step_fit *fit = &s->step[step];
  psdm_json_object(out, psdm_step_name(step));
  psdm_json_bool(out, "done", fit->done || fit->from_before);
  psdm_json_bool(out, "from_before", fit->from_before);
  psdm_json_integer(out, "rows", fit->rows);
  psdm_json_number(out, "condition", fit->done ? fit->condition : NAN);
  psdm_json_number(out, "seconds", fit->seconds);
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", calibrate_joint_name(j, i));
    if (step == PSDM_STEP_MOTOR) {
      psdm_json_number(out, "constant", s->torque_constant[i]);
      psdm_json_number(out, "sd", s->sd[i]);
      psdm_json_string(out, "from", calibrate_from(s->torque_constant_from[i]));
    }
    put_numbers(fit->heldout ? fit->heldout + i : NULL, out);
    psdm_json_object(out, "train");
    put_numbers(fit->train ? fit->train + i : NULL, out);
    psdm_json_close(out);
    psdm_json_number(out, "sigma", fit->sigma ? fit->sigma[i] : NAN);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_close(out);
}

static void put_part(const calibrate_job *j, const char *key, const psdm_part_fit *fit, psdm_output *out) {
  psdm_json_object(out, key);
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", calibrate_joint_name(j, i));
    put_numbers(&fit->joint[i], out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_number(out, "global_rel", fit->global_rel);
  psdm_json_integer(out, "rows", fit->rows);
  psdm_json_close(out);
}

static void put_all(const calibrate_job *j, psdm_output *out) {
  const psdm_joint_fit *all = j->steps.result->all;
  psdm_json_array(out, "all");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", calibrate_joint_name(j, i));
    put_numbers(all ? &all[i] : NULL, out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

/* value: the arm alone; with_tool: what --out has */
static void put_parameters(const calibrate_job *j, psdm_output *out) {
  const psdm_steps *s = j->steps.result;
  char name[32];
  psdm_json_array(out, "parameters");
  for (int k = 0; k < s->base; k++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", s->theta[k].name);
    psdm_json_number(out, "value", s->theta[k].value);
    psdm_json_number(out, "sd", s->theta[k].sd);
    psdm_json_number(out, "with_tool", j->parameters->theta[k].value);
    psdm_json_string(out, "from", calibrate_from(s->theta_from[k]));
    psdm_json_bool(out, "gravity", s->gravity[k] != 0);
    psdm_json_object(out, "formula");
    for (int t = 0; t < psdm_model_base_terms(j->model, k); t++) {
      int standard;
      double coefficient = psdm_model_base_term(j->model, k, t, &standard);
      psdm_json_number(out, psdm_model_standard_name(j->model, standard, name, sizeof name), coefficient);
    }
    psdm_json_close(out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

/* of one drive's eight numbers of friction, from first on in the vector of all */
static void put_covariance(const psdm_steps *s, int first, psdm_output *out) {
  psdm_json_array(out, "covariance");
  for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++)
    psdm_json_numbers(out, NULL, s->covariance + (long)(first + k) * s->numbers + first, PSDM_FRICTION_NUMBERS);
  psdm_json_close(out);
}

static void put_friction(const calibrate_job *j, psdm_output *out) {
  const psdm_steps *s = j->steps.result;
  psdm_json_array(out, "friction");
  for (int i = 0; i < j->n; i++) {
    const double *sd = s->sd + s->n + s->base + PSDM_FRICTION_NUMBERS * i;
    bool given = s->friction[i].given;
    psdm_json_object(out, NULL);
    psdm_json_string(out, "joint", calibrate_joint_name(j, i));
    psdm_json_string(out, "from", calibrate_from(given ? s->friction_from[i] : PSDM_FROM_NOTHING));
    for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++)
      psdm_json_number(out, calibrate_friction_key(k), given ? calibrate_friction_number(&s->friction[i], k) : NAN);
    psdm_json_object(out, "sd");
    for (int k = 0; k < PSDM_FRICTION_NUMBERS; k++)
      psdm_json_number(out, calibrate_friction_key(k), given ? sd[k] : NAN);
    psdm_json_close(out);
    if (given) put_covariance(s, s->n + s->base + PSDM_FRICTION_NUMBERS * i, out);
    psdm_json_number(out, "effective_inertia", s->effective_inertia[i]);
    psdm_json_number(out, "speed", s->speed[i]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_logs(const calibrate_job *j, psdm_output *out) {
  const char *text;
  psdm_json_array(out, "logs");
  for (int i = 0; i < j->set.log.count; i++) {
    const psdm_steps_log *log = &j->steps.log[i];
    psdm_json_object(out, NULL);
    psdm_json_string(out, "path", log->path);
    psdm_json_string(out, "step", psdm_step_name(log->step));
    if (log->mass > 0) psdm_json_number(out, "mass", log->mass);
    if (log->mass > 0) psdm_json_numbers(out, "com", log->com, 3);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_array(out, "fault_lines");
  for (int k = 0; (text = psdm_steps_fault(j->steps.result, k)); k++) psdm_json_string(out, NULL, text);
  psdm_json_close(out);
}

static void put_verdict(const calibrate_job *j, psdm_output *out) {
  const psdm_steps *s = j->steps.result;
  psdm_json_array(out, "remarks");
  for (int k = 0; s->remark && s->remark[k][0]; k++) psdm_json_string(out, NULL, s->remark[k]);
  psdm_json_close(out);
  psdm_json_object(out, "verdict");
  calibrate_put_verdict(j, out);
  psdm_json_string(out, "of", j->steps.judged_of);
  psdm_json_number(out, "error", calibrate_steps_rel(j));
  psdm_json_close(out);
}

int calibrate_steps_json(calibrate_job *j) {
  const psdm_steps *s = j->steps.result;
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "calibrate");
  tool_json_robot(out, "name", j->robot);
  psdm_json_integer(out, "n", j->n);
  tool_json_joints(out, j->robot, NULL);
  psdm_json_bool(out, "coupled_drives", tool_coupled_drives(j->robot));
  psdm_json_string(out, "route", "steps");
  psdm_json_object(out, "steps");
  for (int k = 0; k < PSDM_STEPS; k++) put_step(j, (psdm_step)k, out);
  psdm_json_close(out);
  put_part(j, "train", &j->parameters->train, out);
  put_part(j, "heldout", &j->parameters->heldout, out);
  put_all(j, out);
  put_parameters(j, out);
  put_friction(j, out);
  psdm_json_bool(out, "currents", s->currents);
  if (s->tool) psdm_json_numbers(out, "tool", s->tool, 10);
  put_logs(j, out);
  psdm_json_number(out, "rate", s->rate);
  psdm_json_number(out, "seconds", s->seconds);
  psdm_json_bool(out, "stopped", s->stopped);
  put_verdict(j, out);
  settings_json(&calibrate_line, &j->set, out);
  psdm_json_close(out);
  return tool_commit(&out);
}
