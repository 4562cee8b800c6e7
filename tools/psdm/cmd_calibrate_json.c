/* cmd_calibrate_json.c: everything that a calibration found, as a document. */
#include <math.h>
#include <string.h>

#include "cmd_calibrate.h"

/* texts of a calibration, its index-th or NULL */
typedef const char *(*text_at)(const void *from, int index);

static const char *fault_at(const void *from, int index) { return psdm_calibration_fault(from, index); }
static const char *blind_at(const void *from, int index) { return psdm_calibration_blind(from, index); }
static const char *reason_at(const void *from, int index) {
  const psdm_calibration *c = from;
  return index < (int)(sizeof c->reasons / sizeof *c->reasons) && c->reasons[index][0] ? c->reasons[index] : NULL;
}
static const char *doubt_at(const void *from, int index) {
  static char text[160];
  return calibrate_doubt(from, index, text, sizeof text);
}
static const char *log_at(const void *from, int index) {
  const calibrate_job *j = from;
  return index < j->set.log.count ? j->set.log.value[index] : NULL;
}

#define PUT_TEXTS(r, key, at, from) (r->key.item = tool_texts(&r->head, at, from, &r->key.rows))

static void put_log(const calibrate_job *j, psdm_calibrate_result *r) {
  const psdm_calibration *c = j->result;
  const long *f = c->faults;
  PUT_TEXTS(r, logs, log_at, j);
  r->rows = c->rows, r->used = c->used, r->segments = c->segments, r->rate = c->rate;
  r->faults = (psdm_fault_counts){f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]};
  PUT_TEXTS(r, fault_lines, fault_at, c);
}

static void put_choices(const psdm_calibration *c, psdm_calibrate_result *r) {
  r->choices = (psdm_calibrate_choices){.kinematics = psdm_kinematics_name(c->kinematics),
                                        .cutoff = c->cutoff,
                                        .delay = c->delay,
                                        .lambda = c->lambda,
                                        .rest = c->rest,
                                        .stride = c->stride,
                                        .prior_from_kinematics = c->prior_from_kinematics,
                                        .prior_mass = c->prior_from_kinematics ? c->prior_mass : NAN};
  PUT_TEXTS(r, reasons, reason_at, c);
}

const psdm_named_fit *calibrate_fits(const calibrate_job *j, psdm_result *head, const psdm_joint_fit *fit) {
  psdm_named_fit *to = psdm_result_items(head, &psdm_named_fit_type, j->n);
  for (int i = 0; to && i < j->n; i++) {
    to[i].name = psdm_result_text(head, calibrate_joint_name(j, i));
    if (!fit) continue;
    to[i].rows = fit[i].rows, to[i].rmse = fit[i].rmse, to[i].rel = fit[i].rel;
    to[i].nrmse = fit[i].nrmse, to[i].r2 = fit[i].r2;
  }
  return to;
}

void calibrate_put_part(const calibrate_job *j, psdm_result *head, const psdm_part_fit *fit, psdm_fit_part *to) {
  PSDM_RESULT_SET(to->joints, calibrate_fits(j, head, fit->joint), j->n);
  to->global_rel = fit->global_rel;
  to->rows = fit->rows;
}

/* rows in motion, and the other kinds beside them */
static void put_fit(const calibrate_job *j, psdm_result *head, const psdm_part_fit *fit, psdm_fit_set *to) {
  psdm_fit_part moving;
  calibrate_put_part(j, head, &fit[PSDM_FIT_MOVING], &moving);
  PSDM_RESULT_SET(to->joints, moving.joints.item, j->n);
  to->global_rel = moving.global_rel, to->rows = moving.rows;
  calibrate_put_part(j, head, &fit[PSDM_FIT_ALL], &to->all);
  calibrate_put_part(j, head, &fit[PSDM_FIT_REST], &to->rest);
  calibrate_put_part(j, head, &fit[PSDM_FIT_RAW], &to->raw);
}

const psdm_named_number *calibrate_formula(const calibrate_job *j, psdm_result *head, int parameter, long *terms) {
  char name[32];
  psdm_named_number *term = psdm_result_memory(head, psdm_model_base_terms(j->model, parameter), sizeof *term);
  for (int t = 0; term && t < psdm_model_base_terms(j->model, parameter); t++) {
    int standard;
    term[t].value = psdm_model_base_term(j->model, parameter, t, &standard);
    term[t].name = psdm_result_text(head, psdm_model_standard_name(j->model, standard, name, sizeof name));
    *terms = t + 1;
  }
  return term;
}

static void put_parameters(const calibrate_job *j, psdm_calibrate_result *r) {
  const psdm_calibration *c = j->result;
  psdm_fitted_parameter *to = psdm_result_items(&r->head, &psdm_fitted_parameter_type, c->base);
  char name[32];
  for (int k = 0; to && k < c->base; k++) {
    const psdm_estimate *from = &c->theta[k];
    to[k].name = psdm_result_text(&r->head, from->name);
    to[k].value = from->value, to[k].sd = from->sd;
    to[k].prior_share = from->prior_share, to[k].essential = from->essential;
    to[k].formula.item = calibrate_formula(j, &r->head, k, &to[k].formula.rows);
  }
  PSDM_RESULT_SET(r->parameters, to, c->base);
  if (!c->pi) return;
  psdm_named_number *pi = psdm_result_memory(&r->head, c->standard, sizeof *pi);
  for (int k = 0; pi && k < c->standard; k++) {
    psdm_robot_parameter_name(j->robot, k, name, sizeof name);
    pi[k] = (psdm_named_number){psdm_result_text(&r->head, name), c->pi[k]};
  }
  PSDM_RESULT_SET(r->standard_parameters, pi, c->standard);
}

const double *calibrate_block(psdm_result *head, const double *matrix, long size, long first, int count) {
  double *block = psdm_result_memory(head, (long)count * count, sizeof *block);
  for (int k = 0; block && k < count; k++)
    memcpy(block + (long)k * count, matrix + (first + k) * size + first, (size_t)count * sizeof *block);
  return block;
}

static void put_columns(const psdm_calibration *c, int i, psdm_result *head, psdm_fitted_friction *to) {
  psdm_friction_column *column = psdm_result_items(head, &psdm_friction_column_type, c->columns[i]);
  char text[96];
  for (int k = 0; column && k < c->columns[i]; k++) {
    const psdm_column *from = &c->column[i][k];
    column[k].text = psdm_result_text(head, calibrate_column_text(from, text, sizeof text));
    column[k].column = psdm_column_text(from->kind);
    column[k].width = from->width, column[k].load = from->load;
    column[k].gain = from->gain, column[k].sd = from->sd;
  }
  PSDM_RESULT_SET(to->columns, column, c->columns[i]);
}

static void put_friction(const calibrate_job *j, psdm_calibrate_result *r) {
  const psdm_calibration *c = j->result;
  psdm_fitted_friction *to = psdm_result_items(&r->head, &psdm_fitted_friction_type, c->n);
  long size = c->base, first = c->base; /* of one drive's gains, which are behind theta */
  for (int i = 0; i < c->n; i++) size += c->columns[i];
  for (int i = 0; to && i < c->n; i++) {
    psdm_friction near;
    double left_out;
    psdm_parameters_friction(j->parameters, i, &near, &left_out);
    to[i].joint = psdm_result_text(&r->head, calibrate_joint_name(j, i));
    put_columns(c, i, &r->head, &to[i]);
    if (c->covariance) {
      const double *block = calibrate_block(&r->head, c->covariance, size, first, c->columns[i]);
      PSDM_RESULT_SET(to[i].covariance, block, c->columns[i]);
      to[i].covariance.columns = c->columns[i];
    }
    first += c->columns[i];
    to[i].sigma = c->sigma[i], to[i].speed = c->speed[i], to[i].mean_load = c->load[i];
    to[i].nearest = (psdm_nearest_friction){near.coulomb, near.viscous, near.offset, left_out};
  }
  PSDM_RESULT_SET(r->friction, to, c->n);
}

static void put_worth(const psdm_calibration *c, psdm_calibrate_result *r) {
  int columns = 0;
  for (int i = 0; i < c->n; i++) columns += c->columns[i];
  r->cost_ratio = c->cost_ratio, r->condition = c->condition;
  PSDM_RESULT_SET(r->singular_values, psdm_result_numbers(&r->head, c->singular, c->base + columns), c->base + columns);
  PUT_TEXTS(r, blind, blind_at, c);
  psdm_fold *fold = psdm_result_items(&r->head, &psdm_fold_type, c->folds);
  for (int k = 0; fold && k < c->folds; k++)
    PSDM_RESULT_SET(fold[k].rmse, psdm_result_numbers(&r->head, c->fold_rmse + (long)k * c->n, c->n), c->n);
  PSDM_RESULT_SET(r->folds, fold, c->folds);
  r->durbin_watson = c->durbin_watson, r->correlation = c->correlation;
  r->steps = c->steps, r->seconds = c->seconds, r->stopped = c->stopped;
}

static void put_comparison(const calibrate_job *j, psdm_calibrate_result *r) {
  const comparison *c = &j->compared;
  double own = 0, others = 0, square = 0;
  if (!j->set.compare) return;
  psdm_comparison *to = psdm_result_items(&r->head, &psdm_comparison_type, 1);
  psdm_compared_fit *fit = psdm_result_items(&r->head, &psdm_compared_fit_type, j->n);
  psdm_compared_parameter *parameter = psdm_result_items(&r->head, &psdm_compared_parameter_type, j->result->base);
  if (!to || !fit || !parameter) return;
  r->compare = to;
  to->part = c->heldout ? "heldout" : "train";
  to->rows = c->rows;
  for (int i = 0; i < j->n; i++) {
    fit[i] = (psdm_compared_fit){sqrt(c->own[i] / (double)c->rows), sqrt(c->others[i] / (double)c->rows)};
    own += c->own[i], others += c->others[i], square += c->square[i];
  }
  PSDM_RESULT_SET(to->joints, fit, j->n);
  to->global_rel = sqrt(own / square);
  to->global_rel_compared = sqrt(others / square);
  for (int k = 0; k < j->result->base; k++) {
    parameter[k].name = psdm_result_text(&r->head, j->result->theta[k].name);
    parameter[k].compared = NAN;
    parameter[k].sds_apart = calibrate_apart(j, k, &parameter[k].compared);
  }
  PSDM_RESULT_SET(to->parameters, parameter, j->result->base);
}

static const char *failure_at(const void *from, int index) {
  const calibrate_job *j = from;
  return index < j->failures ? j->failure[index] : NULL;
}

const psdm_found *calibrate_findings(const calibrate_job *j, psdm_result *head, long *count) {
  while (calibrate_finding(j, (int)*count)) ++*count;
  psdm_found *to = psdm_result_items(head, &psdm_found_type, *count);
  for (int k = 0; to && k < *count; k++) {
    const psdm_finding *f = calibrate_finding(j, k);
    to[k] =
        (psdm_found){psdm_result_text(head, f->rule), psdm_verdict_name(f->verdict), psdm_result_text(head, f->text)};
  }
  return to;
}

const psdm_word *calibrate_failures(const calibrate_job *j, psdm_result *head, long *count) {
  return tool_texts(head, failure_at, j, count);
}

static void put_verdict(const calibrate_job *j, psdm_calibrate_result *r) {
  psdm_calibrate_verdict *v = &r->verdict;
  PUT_TEXTS(r, doubts, doubt_at, j);
  v->heldout = j->result->judged_heldout, v->error = j->result->judged_rel, v->no_model = j->result->no_model;
  v->cross_validated = j->result->cross_rel, v->plain_least_squares = j->result->plain;
  CALIBRATE_PUT_VERDICT(j, &r->head, v);
}

int calibrate_json(calibrate_job *j) {
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_calibrate_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_calibrate_result *r = (psdm_calibrate_result *)head;
  psdm_result_name_robot(head, j->robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, j->robot, NULL), j->n);
  r->coupled_drives = tool_coupled_drives(j->robot);
  r->route = "oneshot";
  r->estimator = psdm_estimator_name(j->result->estimator);
  put_fit(j, head, j->result->train, &r->train);
  put_fit(j, head, j->result->heldout, &r->heldout);
  put_parameters(j, r);
  put_friction(j, r);
  put_choices(j->result, r);
  put_log(j, r);
  put_worth(j->result, r);
  put_comparison(j, r);
  put_verdict(j, r);
  r->settings.item = settings_values(&calibrate_line, &j->set, head, &r->settings.rows);
  return tool_answer(head);
}
