/* cmd_calibrate_compare.c: an earlier result beside this one, parameter by parameter and on the same rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_calibrate.h"

typedef struct comparing {
  comparison *c;
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

int calibrate_compare(calibrate_job *j) {
  comparison *c = &j->compared;
  psdm_error error;
  size_t n = (size_t)j->n;
  if (!j->set.compare) return -1;
  if (psdm_parameters_load(j->set.compare, j->robot, NULL, &c->other, &error)) return tool_fail(&error);
  tool_unsigned(j->set.compare, c->other);
  c->own = calloc(4 * n + 1, sizeof *c->own);
  if (!c->own) return tool_no_memory("calibrate");
  c->others = c->own + n;
  c->square = c->others + n;
  c->heldout = j->result->heldout[PSDM_FIT_ALL].rows > 0;
  comparing w = {.c = c, .n = j->n, .segment = -1, .tau = c->square + n};
  if (psdm_predictor_new(c->other, j->robot, NULL, &w.predictor, &error)) return tool_fail(&error);
  psdm_predictor_rate(w.predictor, j->result->rate / (j->result->stride > 1 ? j->result->stride : 1));
  psdm_status status = psdm_calibration_predict(j->result, compare_row, &w, &error);
  psdm_predictor_free(w.predictor);
  return status ? tool_fail(&error) : -1;
}

double calibrate_apart(const calibrate_job *j, int parameter, double *other) {
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
