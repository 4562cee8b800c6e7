/* routes_model.c: derived models in every basis and by both methods, saved and loaded; base parameters by structure
 * and by numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/base_parameters.h"
#include "routes.h"

static void refused(verdict *v, psdm_status status, const psdm_error *error) {
  refuse(v, status, error->text, stated(error->text));
}

/* every function of a model */
static void judge_model(subject *s, verdict *v, const psdm_model *model, bool all) {
  size_t l = (size_t)psdm_model_l(model), scratch = psdm_model_scratch(model);
  double *theta = malloc(sizeof *theta * (l + scratch + 1)), *room = theta + l, pi[11 * MOST], out[MOST * MOST], E[2];
  const double *const result[] = {out};
  if (!theta) abort();
  psdm_robot_parameters(s->robot, pi);
  psdm_model_theta(model, pi, theta);
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    psdm_model_inverse(model, theta, x->q, x->qd, x->qdd, room, out);
    judge(s, v, k, PSDM_F_INVERSE, result);
    if (!all) continue;
    psdm_model_bias(model, theta, x->q, x->qd, room, out);
    judge(s, v, k, PSDM_F_BIAS, result);
    psdm_model_mass(model, theta, x->q, room, out);
    judge(s, v, k, PSDM_F_MASS, result);
    psdm_model_energy(model, theta, x->q, x->qd, room, &E[0], &E[1]);
    judge(s, v, k, PSDM_F_ENERGY, (const double *const[]){E});
    psdm_status status = psdm_model_forward(model, theta, x->q, x->qd, x->tau, room, out);
    if (status && !(status == PSDM_E_SINGULAR && (singular(s, k) || singular_within(s, v, k))))
      refuse(v, status, "forward dynamics of the model", false);
    if (!status) judge(s, v, k, PSDM_F_FORWARD, result);
  }
  free(theta);
}

static psdm_model *derived(subject *s, verdict *v, const psdm_derive_options *options) {
  psdm_model *model;
  psdm_error error;
  psdm_status status = psdm_model_derive(s->robot, options, NULL, &model, NULL, &error);
  if (status) refused(v, status, &error);
  return status ? NULL : model;
}

static void derive_and_judge(subject *s, verdict *v, const psdm_derive_options *options, bool all) {
  psdm_model *model = derived(s, v, options);
  if (model) judge_model(s, v, model, all);
  psdm_model_free(model);
}

void route_derive(subject *s, verdict *v) { derive_and_judge(s, v, NULL, true); }
void route_echelon(subject *s, verdict *v) {
  derive_and_judge(s, v, &(psdm_derive_options){.basis = PSDM_BASIS_ECHELON}, false);
}
void route_dense(subject *s, verdict *v) {
  derive_and_judge(s, v, &(psdm_derive_options){.method = PSDM_METHOD_DENSE}, false);
}

/* 17 digits: the same bits */
void route_saved(subject *s, verdict *v) {
  psdm_model *model = derived(s, v, NULL), *again;
  psdm_error error;
  char path[300];
  if (!model) return;
  snprintf(path, sizeof path, "%s/model.json", s->folder);
  psdm_status status = psdm_model_save(model, s->robot, path, &error);
  if (!status) status = psdm_model_load(path, NULL, &again, &error);
  unlink(path);
  if (status) {
    refuse(v, status, error.text, false);
    psdm_model_free(model);
    return;
  }
  double scale = HUGE_VAL;
  long p = psdm_model_entries(model);
  bool same = psdm_model_p(again) == psdm_model_p(model) && psdm_model_l(again) == psdm_model_l(model) &&
              psdm_model_entries(again) == p;
  for (long e = 0; e < p && same; e++) {
    long f[2];
    int joint[2], parameter[2];
    double value[2];
    psdm_model_entry(model, e, &f[0], &joint[0], &parameter[0], &value[0]);
    psdm_model_entry(again, e, &f[1], &joint[1], &parameter[1], &value[1]);
    same = f[0] == f[1] && joint[0] == joint[1] && parameter[0] == parameter[1] && value[0] == value[1];
  }
  if (!same) v->ratio = scale, strcpy(v->worst, "a loaded model differs");
  judge_model(s, v, again, false);
  psdm_model_free(again);
  psdm_model_free(model);
}

/* ---- base parameters: kept columns of the standard regressor times theta, for the robot's parameters and for
 * others ---- */

typedef struct base {
  int l;
  int kept[11 * MOST];
  double theta[11 * MOST], other[11 * MOST]; /* of pi, and of pi times numbers between -1 and 1 */
  double pi[11 * MOST], other_pi[11 * MOST];
} base;

static void draw_other(subject *s, base *b) {
  psdm_robot_parameters(s->robot, b->pi);
  for (int p = 0; p < psdm_robot_parameter_count(s->robot); p++) b->other_pi[p] = b->pi[p] * rng_uniform(&s->g, -1, 1);
}

static ld row_product(const double *Y, const int *kept, const double *theta, int count) {
  ld sum = 0;
  for (int j = 0; j < count; j++) sum += (ld)Y[kept ? kept[j] : j] * theta[j];
  return sum;
}

static void judge_base(subject *s, verdict *v, const base *b) {
  int standard = psdm_robot_parameter_count(s->robot);
  double Y[MOST * 11 * MOST], tau[2][MOST];
  ld want[MOST];
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    if (psdm_regressor_standard(s->robot, s->work, x->q, x->qd, x->qdd, Y)) abort();
    for (int i = 0; i < s->n; i++) {
      const double *row = Y + (long)i * standard;
      tau[0][i] = (double)row_product(row, b->kept, b->theta, b->l),
      tau[1][i] = (double)row_product(row, b->kept, b->other, b->l);
      want[i] = row_product(row, NULL, b->other_pi, standard);
    }
    agree(s, v, "tau", s->n, tau[0], x->ltau, x->size);
    agree(s, v, "other", s->n, tau[1], want, x->size);
  }
}

void route_params(subject *s, verdict *v) {
  psdm_model *model;
  psdm_error error;
  base b;
  psdm_status status = psdm_base_parameters_derive(s->robot, NULL, NULL, &model, NULL, &error);
  if (status) {
    refused(v, status, &error);
    return;
  }
  draw_other(s, &b);
  b.l = psdm_model_l(model);
  for (int j = 0; j < b.l; j++) psdm_model_base_term(model, j, 0, &b.kept[j]);
  psdm_model_theta(model, b.pi, b.theta);
  psdm_model_theta(model, b.other_pi, b.other);
  judge_base(s, v, &b);
  psdm_model_free(model);
}

/* by samples of any kind and either solver; the least standard parameters have the same torques, too */
void route_numeric(subject *s, verdict *v) {
  const psdm_base_parameters_options options = {.sampling = (psdm_sampling)rng_int(&s->g, 0, 2),
                                                .solver = (psdm_solver)rng_int(&s->g, 0, 1)};
  psdm_base_parameters *params;
  psdm_error error;
  base b;
  psdm_status status = psdm_base_parameters_solve(s->robot, &options, NULL, &params, &error);
  if (status) {
    refused(v, status, &error);
    return;
  }
  draw_other(s, &b);
  b.l = params->rank;
  for (int j = 0; j < b.l; j++) b.kept[j] = params->column[params->kept[j]];
  psdm_base_parameters_theta(params, b.pi, b.theta);
  psdm_base_parameters_theta(params, b.other_pi, b.other);
  judge_base(s, v, &b);
  psdm_base_parameters_free(params);
}
