/* calibrate_answer.c: everything that a calibration found, as a document. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

/* ---- texts: their index-th, or NULL ---- */

static const char *fault_at(const void *from, int index) { return psdm_calibration_fault(from, index); }
static const char *blind_at(const void *from, int index) { return psdm_calibration_blind(from, index); }
static const char *reason_at(const void *from, int index) {
  const psdm_calibration *c = from;
  return index < (int)(sizeof c->reasons / sizeof *c->reasons) && c->reasons[index][0] ? c->reasons[index] : NULL;
}
static const char *log_at(const void *from, int index) {
  const psdmp_job_calibrate *j = from;
  return index < j->set.log.count ? j->set.log.value[index] : NULL;
}

#define PUT_TEXTS(r, key, at, from) (r->key.item = psdmp_job_texts(&r->head, at, from, &r->key.rows))

static void put_log(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
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

const psdm_named_fit *psdmp_job_calibrate_fits(const psdmp_job_calibrate *j, psdm_result *head,
                                               const psdm_joint_fit *fit) {
  psdm_named_fit *to = psdm_result_items(head, &psdm_named_fit_type, j->n);
  for (int i = 0; to && i < j->n; i++) {
    to[i].name = psdm_result_text(head, psdmp_job_joint(j->job.robot, i)->name);
    if (!fit) continue;
    to[i].rows = fit[i].rows, to[i].rmse = fit[i].rmse, to[i].rel = fit[i].rel;
    to[i].nrmse = fit[i].nrmse, to[i].r2 = fit[i].r2;
  }
  return to;
}

void psdmp_job_calibrate_put_part(const psdmp_job_calibrate *j, psdm_result *head, const psdm_part_fit *fit,
                                  psdm_fit_part *to) {
  PSDM_RESULT_SET(to->joints, psdmp_job_calibrate_fits(j, head, fit->joint), j->n);
  to->global_rel = fit->global_rel;
  to->rows = fit->rows;
}

/* rows in motion, and the other kinds beside them */
static void put_fit(const psdmp_job_calibrate *j, psdm_result *head, const psdm_part_fit *fit, psdm_fit_set *to) {
  psdm_fit_part moving;
  psdmp_job_calibrate_put_part(j, head, &fit[PSDM_FIT_MOVING], &moving);
  PSDM_RESULT_SET(to->joints, moving.joints.item, j->n);
  to->global_rel = moving.global_rel, to->rows = moving.rows;
  psdmp_job_calibrate_put_part(j, head, &fit[PSDM_FIT_ALL], &to->all);
  psdmp_job_calibrate_put_part(j, head, &fit[PSDM_FIT_REST], &to->rest);
  psdmp_job_calibrate_put_part(j, head, &fit[PSDM_FIT_RAW], &to->raw);
}

const psdm_named_number *psdmp_job_calibrate_formula(const psdmp_job_calibrate *j, psdm_result *head, int parameter,
                                                     long *terms) {
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

static void put_parameters(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
  const psdm_calibration *c = j->result;
  psdm_fitted_parameter *to = psdm_result_items(&r->head, &psdm_fitted_parameter_type, c->base);
  char name[32];
  for (int k = 0; to && k < c->base; k++) {
    const psdm_estimate *from = &c->theta[k];
    to[k].name = psdm_result_text(&r->head, from->name);
    to[k].value = from->value, to[k].sd = from->sd;
    to[k].prior_share = from->prior_share, to[k].essential = from->essential;
    to[k].formula.item = psdmp_job_calibrate_formula(j, &r->head, k, &to[k].formula.rows);
  }
  PSDM_RESULT_SET(r->parameters, to, c->base);
  if (!c->pi) return;
  psdm_named_number *pi = psdm_result_memory(&r->head, c->standard, sizeof *pi);
  for (int k = 0; pi && k < c->standard; k++) {
    psdm_robot_parameter_name(j->job.robot, k, name, sizeof name);
    pi[k] = (psdm_named_number){psdm_result_text(&r->head, name), c->pi[k]};
  }
  PSDM_RESULT_SET(r->standard_parameters, pi, c->standard);
}

const double *psdmp_job_calibrate_block(psdm_result *head, const double *matrix, long size, long first, int count) {
  double *block = psdm_result_memory(head, (long)count * count, sizeof *block);
  for (int k = 0; block && k < count; k++)
    memcpy(block + (long)k * count, matrix + (first + k) * size + first, (size_t)count * sizeof *block);
  return block;
}

/* "tanh(v/0.02) |f|": a friction column with its numbers. Returns buf. */
static const char *column_text(const psdm_column *column, char *buf, size_t size) {
  static const char *const load[] = {"", " |f|", " f^2"};
  size_t length = 0;
  buf[0] = '\0';
  for (const char *at = psdm_column_text(column->kind); *at && length + 1 < size; at++) {
    if (*at == 'w') length += (size_t)psdmp_base_print(buf + length, size - length, "%.3g", column->width);
    else length += (size_t)snprintf(buf + length, size - length, "%c", *at);
  }
  if (length < size) snprintf(buf + length, size - length, "%s", load[column->load]);
  return buf;
}

static void put_columns(const psdm_calibration *c, int i, psdm_result *head, psdm_fitted_friction *to) {
  psdm_friction_column *column = psdm_result_items(head, &psdm_friction_column_type, c->columns[i]);
  char text[96];
  for (int k = 0; column && k < c->columns[i]; k++) {
    const psdm_column *from = &c->column[i][k];
    column[k].text = psdm_result_text(head, column_text(from, text, sizeof text));
    column[k].column = psdm_column_text(from->kind);
    column[k].width = from->width, column[k].load = from->load;
    column[k].gain = from->gain, column[k].sd = from->sd;
  }
  PSDM_RESULT_SET(to->columns, column, c->columns[i]);
}

static void put_friction(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
  const psdm_calibration *c = j->result;
  psdm_fitted_friction *to = psdm_result_items(&r->head, &psdm_fitted_friction_type, c->n);
  long size = c->base, first = c->base; /* of one drive's gains, which are behind theta */
  for (int i = 0; i < c->n; i++) size += c->columns[i];
  for (int i = 0; to && i < c->n; i++) {
    psdm_friction near;
    double left_out;
    psdm_parameters_friction(j->parameters, i, &near, &left_out);
    to[i].joint = psdm_result_text(&r->head, psdmp_job_joint(j->job.robot, i)->name);
    put_columns(c, i, &r->head, &to[i]);
    if (c->covariance) {
      const double *block = psdmp_job_calibrate_block(&r->head, c->covariance, size, first, c->columns[i]);
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

static void put_comparison(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
  const psdmp_job_comparison *c = &j->compared;
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
    parameter[k].sds_apart = psdmp_job_calibrate_apart(j, k, &parameter[k].compared);
  }
  PSDM_RESULT_SET(to->parameters, parameter, j->result->base);
}

static const char *failure_at(const void *from, int index) {
  const psdmp_job_calibrate *j = from;
  return index < j->failures ? j->failure[index] : NULL;
}

const psdm_found *psdmp_job_calibrate_findings(const psdmp_job_calibrate *j, psdm_result *head, long *count) {
  while (psdmp_job_calibrate_finding(j, (int)*count)) ++*count;
  psdm_found *to = psdm_result_items(head, &psdm_found_type, *count);
  for (int k = 0; to && k < *count; k++) {
    const psdm_finding *f = psdmp_job_calibrate_finding(j, k);
    to[k] =
        (psdm_found){psdm_result_text(head, f->rule), psdm_verdict_name(f->verdict), psdm_result_text(head, f->text)};
  }
  return to;
}

const psdm_word *psdmp_job_calibrate_failures(const psdmp_job_calibrate *j, psdm_result *head, long *count) {
  return psdmp_job_texts(head, failure_at, j, count);
}

/* ---- cautions ---- */

static int mostly_prior(const psdm_calibration *c) {
  int count = 0;
  for (int k = 0; k < c->base; k++) count += c->theta[k].prior_share > 0.5;
  return count;
}

enum { DOUBTS = 6 };

/* what the training cost is above least squares' for, by estimator; ols minimises another sum, and costs nothing */
static void doubt_cost(const psdm_calibration *c, char *text, size_t size) {
  double more = 100 * (c->cost_ratio - 1);
  bool much = c->cost_ratio > 4;
  if (c->estimator == PSDM_ESTIMATOR_CONSISTENT)
    psdmp_base_print(text, size, "physical consistency costs %.0f %% of the training cost%s", more,
                     much ? ": kinematics, units or signs may be wrong" : "");
  else if (c->estimator == PSDM_ESTIMATOR_ENERGY && much)
    psdmp_base_print(text, size,
                     "the training cost is %.3g times that of least squares: energies between moments determine too "
                     "little in this log",
                     c->cost_ratio);
  else if (c->estimator != PSDM_ESTIMATOR_OLS)
    psdmp_base_print(text, size, "estimator %s: the training cost is %.0f %% above that of ordinary least squares",
                     psdm_estimator_name(c->estimator), more);
}

/* "": no such doubt */
static void doubt(const psdm_calibration *c, int kind, char *text, size_t size) {
  double train = c->train[PSDM_FIT_MOVING].global_rel, held = c->heldout[PSDM_FIT_MOVING].global_rel;
  int prior = mostly_prior(c), blind = 0;
  while (psdm_calibration_blind(c, blind)) blind++;
  const bool doubtful[DOUBTS] = {
      c->stopped, c->cost_ratio > 1.11, held > 1.5 * train, prior > 0, blind > 0, c->heldout[PSDM_FIT_ALL].rows == 0};
  text[0] = '\0';
  switch (doubtful[kind] ? kind : DOUBTS) {
    case 0: psdmp_base_print(text, size, "the run was interrupted"); break;
    case 1: doubt_cost(c, text, size); break;
    case 2:
      psdmp_base_print(
          text, size,
          "the held-out error is %.1f times the training error: the motion differs, or there is too little of it",
          held / train);
      break;
    case 3:
      psdmp_base_print(
          text, size,
          "%d of %d base parameters come mostly from the prior: the motion contains little information about them",
          prior, c->base);
      break;
    case 4:
      psdmp_base_print(text, size, "%d combination%s of parameters %s hardly excited by the motion", blind,
                       blind > 1 ? "s" : "", blind > 1 ? "are" : "is");
      break;
    case 5:
      psdmp_base_print(text, size, "nothing was held out: errors are those of the fitted rows (`holdout`)");
      break;
  }
}

static void put_doubts(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
  psdm_word *to = psdm_result_memory(&r->head, DOUBTS, sizeof *to);
  long count = 0;
  for (int k = 0; to && k < DOUBTS; k++) {
    char text[160];
    doubt(j->result, k, text, sizeof text);
    if (text[0]) to[count++] = psdm_result_text(&r->head, text);
  }
  PSDM_RESULT_SET(r->doubts, to, count);
}

static void put_verdict(const psdmp_job_calibrate *j, psdm_calibrate_result *r) {
  psdm_calibrate_verdict *v = &r->verdict;
  put_doubts(j, r);
  v->heldout = j->result->judged_heldout, v->error = j->result->judged_rel, v->no_model = j->result->no_model;
  v->cross_validated = j->result->cross_rel, v->plain_least_squares = j->result->plain;
  CALIBRATE_PUT_VERDICT(j, &r->head, v);
}

void psdmp_job_calibrate_fill(psdm_job *job, psdm_result *head) {
  psdmp_job_calibrate *j = (psdmp_job_calibrate *)job;
  psdm_calibrate_result *r = (psdm_calibrate_result *)head;
  psdm_result_name_robot(head, j->job.robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, j->job.robot, NULL), j->n);
  r->coupled_drives = psdmp_job_coupled_drives(head, j->job.robot);
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
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}
