/* calibrate_compare.c: an earlier result beside this one, parameter by parameter and on the same rows. */
#include <math.h>
#include <string.h>

#include "job/calibrate_priv.h"

typedef struct comparing {
  psdmp_job_comparison *c;
  psdm_predictor *predictor;
  int n, segment;
  double *tau; /* (n) */
} comparing;

static bool compare_row(void *user, const psdm_predicted_row *row) {
  comparing *w = user;
  if (row->segment != w->segment) psdm_predictor_begin(w->predictor);
  w->segment = row->segment;
  if (psdm_predictor_step(w->predictor, row->q, row->qd, row->qdd, w->tau, NULL)) return false;
  if (row->heldout != w->c->heldout) return true;
  for (int i = 0; i < w->n; i++) {
    double own = row->predicted[i] - row->tau[i], others = w->tau[i] - row->tau[i];
    w->c->own[i] += own * own;
    w->c->others[i] += others * others;
    w->c->square[i] += row->tau[i] * row->tau[i];
  }
  w->c->rows++;
  return true;
}

psdm_status psdmp_job_calibrate_compare(psdmp_job_calibrate *j) {
  psdmp_job_comparison *c = &j->compared;
  psdm_error error;
  size_t n = (size_t)j->n;
  if (!j->set.compare) return PSDM_OK;
  psdm_status status = psdmp_job_parameters(&j->job, j->set.compare, j->job.robot, &c->other);
  if (status) return status;
  if (!(c->own = psdmp_job_array(&j->job, 4 * n, sizeof *c->own))) return psdmp_job_memory(&j->job);
  c->others = c->own + n;
  c->square = c->others + n;
  c->heldout = j->result->heldout[PSDM_FIT_ALL].rows > 0;
  comparing w = {.c = c, .n = j->n, .segment = -1, .tau = c->square + n};
  status = psdm_predictor_new(c->other, j->job.robot, NULL, &w.predictor, &error);
  if (status) return psdmp_job_fail(&j->job, &error);
  psdm_predictor_rate(w.predictor, j->result->rate / (j->result->stride > 1 ? j->result->stride : 1));
  status = psdm_calibration_predict(j->result, compare_row, &w, &error);
  psdm_predictor_free(w.predictor);
  return status ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

double psdmp_job_calibrate_apart(const psdmp_job_calibrate *j, int parameter, double *other) {
  const psdm_estimate *e = &j->result->theta[parameter];
  const psdm_parameters *p = j->compared.other;
  for (int k = 0; k < p->base; k++) {
    if (strcmp(p->theta[k].name, e->name) != 0) continue;
    *other = p->theta[k].value;
    double sd = hypot(e->sd, isfinite(p->theta[k].sd) ? p->theta[k].sd : 0), apart = e->value - *other;
    return apart == 0 ? 0 : apart / sd;
  }
  return NAN;
}
