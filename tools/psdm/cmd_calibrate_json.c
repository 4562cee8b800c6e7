/* cmd_calibrate_json.c: all results of a calibration as JSON. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

static void put_log(const calibrate_job *j, psdm_output *out) {
  static const char *const key[] = {"garbage", "short",  "nan",       "repeated", "back",    "jump",
                                    "jitter",  "frozen", "saturated", "spikes",   "wrapped", "commas"};
  const psdm_calibration *c = j->result;
  const char *text;
  psdm_json_array(out, "logs");
  for (int i = 0; i < j->set.log.count; i++) psdm_json_string(out, NULL, j->set.log.value[i]);
  psdm_json_close(out);
  psdm_json_integer(out, "rows", c->rows);
  psdm_json_integer(out, "used", c->used);
  psdm_json_integer(out, "segments", c->segments);
  psdm_json_number(out, "rate", c->rate);
  psdm_json_object(out, "faults");
  for (int k = 0; k < PSDM_FAULTS && k < (int)(sizeof key / sizeof *key); k++)
    psdm_json_integer(out, key[k], c->faults[k]);
  psdm_json_close(out);
  psdm_json_array(out, "fault_lines");
  for (int k = 0; (text = psdm_calibration_fault(c, k)); k++) psdm_json_string(out, NULL, text);
  psdm_json_close(out);
}

static void put_choices(const psdm_calibration *c, psdm_output *out) {
  psdm_json_object(out, "choices");
  psdm_json_string(out, "kinematics", psdm_kinematics_name(c->kinematics));
  psdm_json_number(out, "cutoff", c->cutoff); /* null: no filter */
  psdm_json_number(out, "delay", c->delay);
  psdm_json_number(out, "lambda", c->lambda);
  psdm_json_number(out, "rest", c->rest);
  psdm_json_integer(out, "stride", c->stride);
  psdm_json_bool(out, "prior_from_kinematics", c->prior_from_kinematics);
  psdm_json_number(out, "prior_mass", c->prior_from_kinematics ? c->prior_mass : NAN);
  psdm_json_close(out);
  psdm_json_array(out, "reasons");
  for (int k = 0; k < 8 && c->reasons[k][0]; k++) psdm_json_string(out, NULL, c->reasons[k]);
  psdm_json_close(out);
}

static void put_part(const calibrate_job *j, const psdm_part_fit *fit, psdm_output *out) {
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", calibrate_joint_name(j, i));
    psdm_json_integer(out, "rows", fit->joint[i].rows);
    psdm_json_number(out, "rmse", fit->joint[i].rmse);
    psdm_json_number(out, "rel", fit->joint[i].rel);
    psdm_json_number(out, "nrmse", fit->joint[i].nrmse);
    psdm_json_number(out, "r2", fit->joint[i].r2);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_number(out, "global_rel", fit->global_rel);
  psdm_json_integer(out, "rows", fit->rows);
}

/* rows in motion, and the other kinds beside them */
static void put_fit(const calibrate_job *j, const char *key, const psdm_part_fit *fit, psdm_output *out) {
  static const struct {
    const char *key;
    int part;
  } others[] = {{"all", PSDM_FIT_ALL}, {"rest", PSDM_FIT_REST}, {"raw", PSDM_FIT_RAW}};
  psdm_json_object(out, key);
  put_part(j, &fit[PSDM_FIT_MOVING], out);
  for (int k = 0; k < 3; k++) {
    psdm_json_object(out, others[k].key);
    put_part(j, &fit[others[k].part], out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_parameters(const calibrate_job *j, psdm_output *out) {
  const psdm_calibration *c = j->result;
  char name[32];
  psdm_json_array(out, "parameters");
  for (int k = 0; k < c->base; k++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", c->theta[k].name);
    psdm_json_number(out, "value", c->theta[k].value);
    psdm_json_number(out, "sd", c->theta[k].sd);
    psdm_json_number(out, "prior_share", c->theta[k].prior_share);
    psdm_json_bool(out, "essential", c->theta[k].essential);
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
  if (!c->pi) return;
  psdm_json_object(out, "standard_parameters");
  for (int k = 0; k < c->standard; k++)
    psdm_json_number(out, psdm_robot_parameter_name(j->robot, k, name, sizeof name), c->pi[k]);
  psdm_json_close(out);
}

/* of one drive's gains, whose first stands there behind theta */
static void put_covariance(const psdm_calibration *c, int first, int columns, psdm_output *out) {
  long size = c->base;
  for (int i = 0; i < c->n; i++) size += c->columns[i];
  if (!c->covariance) return;
  psdm_json_array(out, "covariance");
  for (int k = 0; k < columns; k++)
    psdm_json_numbers(out, NULL, c->covariance + (c->base + first + k) * size + c->base + first, columns);
  psdm_json_close(out);
}

static void put_friction(const calibrate_job *j, psdm_output *out) {
  const psdm_calibration *c = j->result;
  int first = 0;
  char text[96];
  psdm_json_array(out, "friction");
  for (int i = 0; i < c->n; i++) {
    psdm_friction near;
    double left_out;
    psdm_parameters_friction(j->parameters, i, &near, &left_out);
    psdm_json_object(out, NULL);
    psdm_json_string(out, "joint", calibrate_joint_name(j, i));
    psdm_json_array(out, "columns");
    for (int k = 0; k < c->columns[i]; k++) {
      const psdm_column *column = &c->column[i][k];
      psdm_json_object(out, NULL);
      psdm_json_string(out, "text", calibrate_column_text(column, text, sizeof text));
      psdm_json_string(out, "column", psdm_column_text(column->kind));
      psdm_json_number(out, "width", column->width);
      psdm_json_integer(out, "load", column->load);
      psdm_json_number(out, "gain", column->gain);
      psdm_json_number(out, "sd", column->sd);
      psdm_json_close(out);
    }
    psdm_json_close(out);
    put_covariance(c, first, c->columns[i], out);
    first += c->columns[i];
    psdm_json_number(out, "sigma", c->sigma[i]);
    psdm_json_number(out, "speed", c->speed[i]);
    psdm_json_number(out, "mean_load", c->load[i]);
    psdm_json_object(out, "nearest");
    psdm_json_number(out, "coulomb", near.coulomb);
    psdm_json_number(out, "viscous", near.viscous);
    psdm_json_number(out, "offset", near.offset);
    psdm_json_number(out, "left_out", left_out);
    psdm_json_close(out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void put_worth(const psdm_calibration *c, psdm_output *out) {
  const char *text;
  int columns = 0;
  for (int i = 0; i < c->n; i++) columns += c->columns[i];
  psdm_json_number(out, "cost_ratio", c->cost_ratio);
  psdm_json_number(out, "condition", c->condition);
  psdm_json_numbers(out, "singular_values", c->singular, c->base + columns);
  psdm_json_array(out, "blind");
  for (int k = 0; (text = psdm_calibration_blind(c, k)); k++) psdm_json_string(out, NULL, text);
  psdm_json_close(out);
  psdm_json_array(out, "folds");
  for (int k = 0; k < c->folds; k++) {
    psdm_json_object(out, NULL);
    psdm_json_numbers(out, "rmse", c->fold_rmse + (long)k * c->n, c->n);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_number(out, "durbin_watson", c->durbin_watson);
  psdm_json_number(out, "correlation", c->correlation);
  psdm_json_integer(out, "steps", c->steps);
  psdm_json_number(out, "seconds", c->seconds);
  psdm_json_bool(out, "stopped", c->stopped);
}

static void put_comparison(const calibrate_job *j, psdm_output *out) {
  const comparison *c = &j->compared;
  double own = 0, others = 0, square = 0;
  if (!j->set.compare) return;
  psdm_json_object(out, "compare");
  psdm_json_string(out, "part", c->heldout ? "heldout" : "train");
  psdm_json_integer(out, "rows", c->rows);
  psdm_json_array(out, "joints");
  for (int i = 0; i < j->n; i++) {
    psdm_json_object(out, NULL);
    psdm_json_number(out, "rmse", sqrt(c->own[i] / (double)c->rows));
    psdm_json_number(out, "rmse_compared", sqrt(c->others[i] / (double)c->rows));
    psdm_json_close(out);
    own += c->own[i], others += c->others[i], square += c->square[i];
  }
  psdm_json_close(out);
  psdm_json_number(out, "global_rel", sqrt(own / square));
  psdm_json_number(out, "global_rel_compared", sqrt(others / square));
  psdm_json_array(out, "parameters");
  for (int k = 0; k < j->result->base; k++) {
    double other = NAN, apart = calibrate_apart(j, k, &other);
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", j->result->theta[k].name);
    psdm_json_number(out, "compared", other);
    psdm_json_number(out, "sds_apart", apart);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_close(out);
}

void calibrate_put_verdict(const calibrate_job *j, psdm_output *out) {
  const psdm_finding *f;
  psdm_json_string(out, "word", psdm_verdict_name(j->verdict));
  psdm_json_bool(out, "good", calibrate_good(j));
  psdm_json_string(out, "accept", psdm_verdict_name(j->accept));
  psdm_json_bool(out, "asked", j->set.max_rel > 0 || j->max_rmse);
  psdm_json_array(out, "findings");
  for (int k = 0; (f = calibrate_finding(j, k)); k++) {
    psdm_json_object(out, NULL);
    psdm_json_string(out, "rule", f->rule);
    psdm_json_string(out, "verdict", psdm_verdict_name(f->verdict));
    psdm_json_string(out, "text", f->text);
    psdm_json_close(out);
  }
  psdm_json_close(out);
  psdm_json_array(out, "failures");
  for (int k = 0; k < j->failures; k++) psdm_json_string(out, NULL, j->failure[k]);
  psdm_json_close(out);
}

static void put_verdict(const calibrate_job *j, psdm_output *out) {
  char text[160];
  psdm_json_array(out, "doubts");
  for (int k = 0; calibrate_doubt(j, k, text, sizeof text); k++) psdm_json_string(out, NULL, text);
  psdm_json_close(out);
  psdm_json_object(out, "verdict");
  calibrate_put_verdict(j, out);
  psdm_json_bool(out, "heldout", j->result->judged_heldout);
  psdm_json_number(out, "error", j->result->judged_rel);
  psdm_json_number(out, "no_model", j->result->no_model);
  psdm_json_number(out, "cross_validated", j->result->cross_rel);
  psdm_json_number(out, "plain_least_squares", j->result->plain);
  psdm_json_close(out);
}

int calibrate_json(calibrate_job *j) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "calibrate");
  tool_json_robot(out, "name", j->robot);
  psdm_json_integer(out, "n", j->n);
  tool_json_joints(out, j->robot, NULL);
  psdm_json_bool(out, "coupled_drives", tool_coupled_drives(j->robot));
  psdm_json_string(out, "route", "oneshot");
  psdm_json_string(out, "estimator", psdm_estimator_name(j->result->estimator));
  put_fit(j, "train", j->result->train, out);
  put_fit(j, "heldout", j->result->heldout, out);
  put_parameters(j, out);
  put_friction(j, out);
  put_choices(j->result, out);
  put_log(j, out);
  put_worth(j->result, out);
  put_comparison(j, out);
  put_verdict(j, out);
  settings_json(&calibrate_line, &j->set, out);
  psdm_json_close(out);
  return tool_commit(&out);
}
