/* evaluate_rows.c: predicted torques and errors of a stretch's rows. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "identify/evaluate_priv.h"

enum { LAGGED = 100000 };          /* rows that are enough for the autocorrelation */
static const double moving = 0.01; /* share of a joint's speed above which it moves */

static psdm_status failed(const psdmp_identify_run *r, psdm_status status, psdm_error *error) {
  return psdmp_base_fail(error, status, psdm_robot_name(r->robot), 0, 0, "%s", psdm_status_text(status));
}

/* standard deviations, drives taken as independent */
static void bands_from_drives(const psdmp_identify_run *r, const double *drive, double *joint) {
  for (int i = 0; i < r->n; i++) {
    double sum = r->T ? 0 : drive[i] * drive[i];
    for (int j = 0; j < r->n && r->T; j++)
      sum += r->T_inverse[j * r->n + i] * r->T_inverse[j * r->n + i] * drive[j] * drive[j];
    joint[i] = sqrt(sum);
  }
}

/* One row to evaluate: of the clock, or after decimation. */
typedef struct looked {
  int label;
  unsigned bad; /* bits of the drives */
  double t;
  const double *q, *qd, *qdd, *v;             /* (n) */
  const double *Y, *value, *load, *tau, *raw; /* (n x l), (n x 16), (n) */
} looked;

static looked look(const psdmp_identify_run *r, int label, unsigned bad, const double *row, const double *aside) {
  long n = r->n, values = n * r->l, loads = values + 16 * n;
  return (looked){.label = label,
                  .bad = bad,
                  .t = aside[0],
                  .q = aside + 1,
                  .qd = aside + 1 + n,
                  .qdd = aside + 1 + 2 * n,
                  .v = aside + 1 + 3 * n,
                  .Y = row,
                  .value = row + values,
                  .load = row + loads,
                  .tau = row + loads + n,
                  .raw = row + loads + 2 * n};
}

/* the parts of the torques of a row of the clock */
static psdm_status fill_row(psdmp_identify_evaluation *e, const psdmp_identify_prepared *p, long k) {
  psdmp_identify_run *r = e->run;
  long n = r->n, l = r->l;
  size_t bytes = (size_t)n * sizeof(double);
  double *value = e->row + n * l, *loads = value + 16 * n;
  psdm_status status = psdmp_identify_run_regressor(r, p->q + k * n, p->qd + k * n, p->qdd + k * n, e->scratch, e->row);
  for (int i = 0; i < n && !status; i++) {
    double load = 0;
    const double *Y = e->row + i * l;
    for (int j = 0; j < l && r->theta_load; j++) load += Y[j] * r->theta_load[j];
    loads[i] = fabs(load);
    psdmp_parameters_columns_at(e->column[i], r->choice[i].count, p->x[k * n + i], p->v[k * n + i], loads[i],
                                &e->state[i], value + 16 * i);
  }
  memcpy(loads + n, p->tau + k * n, bytes);
  memcpy(loads + 2 * n, p->raw + k * n, bytes);
  e->aside[0] = p->t[k];
  memcpy(e->aside + 1, p->q + k * n, bytes);
  memcpy(e->aside + 1 + n, p->qd + k * n, bytes);
  memcpy(e->aside + 1 + 2 * n, p->qdd + k * n, bytes);
  memcpy(e->aside + 1 + 3 * n, p->v + k * n, bytes);
  e->aside[1 + 4 * n] = e->segment;
  e->aside[2 + 4 * n] = e->lagged;
  e->aside[3 + 4 * n] = (double)e->index;
  e->aside[4 + 4 * n] = e->log;
  return status;
}

/* rows before the stretch only update columns with memory */
static void remember(psdmp_identify_evaluation *e, const psdmp_identify_prepared *p, long k) {
  const psdmp_identify_run *r = e->run;
  for (int i = 0; i < r->n; i++)
    psdmp_parameters_columns_at(e->column[i], r->choice[i].count, p->x[k * r->n + i], p->v[k * r->n + i], 0,
                                &e->state[i], e->row);
}

/* drives' torques of one row; their variances if requested */
static void predict(psdmp_identify_evaluation *e, const looked *row) {
  psdmp_identify_run *r = e->run;
  const psdmp_identify_calibration *a = e->a;
  int n = r->n, l = r->l, at = l, W = psdmp_identify_estimate_width(r);
  for (int i = 0; i < n; i++) {
    double rigid = 0, friction = 0, variance = r->sigma[i] * r->sigma[i];
    const double *Y = row->Y + (long)i * l, *value = row->value + 16L * i;
    int count = r->choice[i].count;
    for (int j = 0; j < l; j++) rigid += Y[j] * a->theta[j];
    for (int c = 0; c < count; c++) friction += value[c] * a->gain[16 * i + c];
    for (int u = 0; u < l + count && e->write; u++) {
      double xu = u < l ? Y[u] : value[u - l], part = 0;
      int line = u < l ? u : at + u - l;
      if (xu == 0) continue;
      for (int v = 0; v < l + count; v++)
        part += a->covariance[(long)line * W + (v < l ? v : at + v - l)] * (v < l ? Y[v] : value[v - l]);
      variance += xu * part;
    }
    e->drive[i] = rigid + friction;
    e->friction[i] = friction;
    if (row->label >= 0) e->to->load[i] += row->load[i];
    e->band[i] = sqrt(fmax(variance, 0));
    at += count;
  }
  e->to->loads += row->label >= 0;
}

/* products of a residual with the preceding ones; NAN: of a bad row */
void psdmp_identify_evaluated_lags(psdmp_identify_evaluated *to, int i, double error, long seen, double *past) {
  double *lags = to->lags + (long)i * PSDMP_IDENTIFY_LAGS;
  past[seen % PSDMP_IDENTIFY_LAGS] = 0;
  if (isnan(error)) return;
  for (long lag = 1; lag < PSDMP_IDENTIFY_LAGS && lag <= seen; lag++)
    lags[lag] += error * past[(seen - lag) % PSDMP_IDENTIFY_LAGS];
  lags[0] += error * error;
  double step = seen ? error - past[(seen - 1) % PSDMP_IDENTIFY_LAGS] : 0;
  to->product[i] += step * step;
  past[seen % PSDMP_IDENTIFY_LAGS] = error;
}

/* decimated neighbours come from other stretches: residuals are kept, and multiplied at the end */
static void keep_residual(psdmp_identify_evaluation *e, const double *error) {
  psdmp_identify_evaluated *to = e->to;
  long width = e->run->n + 1;
  if (!psdmp_base_room(e->run->allocator, &to->residual, to->residuals, 1, &to->residual_room,
                       (size_t)width * sizeof *to->residual)) {
    to->failed = true;
    return;
  }
  double *row = to->residual + to->residuals++ * width;
  row[0] = e->segment;
  memcpy(row + 1, error, (size_t)(width - 1) * sizeof *row);
}

/* location of errors, for the verdict; relative to the usual error of each drive */
static void add_place(psdmp_identify_evaluation *e, double t, int i, bool rest, double tau, double error, double raw) {
  const psdmp_identify_run *r = e->run;
  long block = r->rows > 0 ? e->index * PSDMP_IDENTIFY_BLOCKS / r->rows : 0;
  psdmp_identify_error_place *p = &e->to->place[block < 0                        ? 0
                                                : block >= PSDMP_IDENTIFY_BLOCKS ? PSDMP_IDENTIFY_BLOCKS - 1
                                                                                 : block];
  psdmp_identify_worst *w = &e->to->worst[i];
  if (!p->rows) p->file = e->log, p->from = t;
  if (p->file == e->log) p->to = t;
  p->rows++;
  if (fabs(raw) > fabs(w->error)) *w = (psdmp_identify_worst){raw, tau, t, e->log};
  if (rest) return;
  double weight = 1 / fmax(r->sigma[i] * r->sigma[i], 1e-300);
  p->error += weight * error * error, p->square += weight * tau * tau;
  e->to->file[2 * e->log] += weight * error * error, e->to->file[2 * e->log + 1] += weight * tau * tau;
}

static void add_sums(psdmp_identify_evaluation *e, const looked *row, const double *joint, const double *tau,
                     const double *raw) {
  psdmp_identify_run *r = e->run;
  int n = r->n, held = row->label == PSDMP_IDENTIFY_HELDOUT;
  double error[PSDM_CALIBRATE_JOINTS];
  for (int i = 0; i < n; i++) {
    error[i] = NAN;
    if (row->bad >> i & 1) continue;
    bool rest = fabs(row->v[i]) <= moving * r->speed[i];
    psdmp_identify_tally *s = e->to->sum + (long)held * PSDM_FIT_PARTS * n;
    error[i] = tau[i] - joint[i];
    psdmp_identify_tally_add(&s[PSDM_FIT_ALL * n + i], tau[i], error[i]);
    psdmp_identify_tally_add(&s[(rest ? PSDM_FIT_REST : PSDM_FIT_MOVING) * n + i], tau[i], error[i]);
    psdmp_identify_tally_add(&s[PSDM_FIT_RAW * n + i], raw[i], raw[i] - joint[i]);
    add_place(e, row->t, i, rest, tau[i], error[i], raw[i] - joint[i]);
  }
  if (held || !e->lagged) return;
  if (r->options->decimate > 1) {
    keep_residual(e, error);
    return;
  }
  for (int i = 0; i < n; i++)
    psdmp_identify_evaluated_lags(e->to, i, error[i], e->seen, e->history + (long)i * PSDMP_IDENTIFY_LAGS);
  e->seen++;
}

static void use_row(psdmp_identify_evaluation *e, const looked *row) {
  psdmp_identify_run *r = e->run;
  double joint[PSDM_CALIBRATE_JOINTS], friction[PSDM_CALIBRATE_JOINTS], tau[PSDM_CALIBRATE_JOINTS],
      raw[PSDM_CALIBRATE_JOINTS], band[PSDM_CALIBRATE_JOINTS];
  if (row->label <= PSDMP_IDENTIFY_UNUSED) return;
  predict(e, row);
  psdmp_identify_run_to_joints(r, e->drive, joint);
  psdmp_identify_run_to_joints(r, row->tau, tau);
  psdmp_identify_run_to_joints(r, row->raw, raw);
  add_sums(e, row, joint, tau, raw);
  if (!e->write) return;
  psdmp_identify_run_to_joints(r, e->friction, friction);
  bands_from_drives(r, e->band, band);
  const psdm_predicted_row out = {.t = row->t,
                                  .segment = e->segment,
                                  .heldout = row->label == PSDMP_IDENTIFY_HELDOUT,
                                  .q = row->q,
                                  .qd = row->qd,
                                  .qdd = row->qdd,
                                  .tau = tau,
                                  .raw = raw,
                                  .predicted = joint,
                                  .band = band,
                                  .friction = friction};
  e->stopped = !e->write(e->user, &out);
}

/* a mean finished by the sieve */
void psdmp_identify_evaluation_mean(void *user, const psdmp_identify_kept *m) {
  psdmp_identify_evaluation *e = user;
  int n = e->run->n;
  if (!m->middle || e->stopped) return;
  looked row = look(e->run, m->label, m->bad, m->value, m->aside);
  e->segment = (int)m->aside[1 + 4 * n];
  e->lagged = m->aside[2 + 4 * n] != 0;
  e->index = (long)m->aside[3 + 4 * n];
  e->log = (int)m->aside[4 + 4 * n];
  use_row(e, &row);
}

void psdmp_identify_evaluation_next(psdmp_identify_evaluation *e, bool end) {
  for (const psdmp_identify_kept *m; e->sieve && !e->stopped && (m = psdmp_identify_sieve_next(e->sieve, end));)
    psdmp_identify_evaluation_mean(e, m);
}

/* of rows that go through the sieve: in order, or as far as this stretch has them */
static psdm_status sift_row(psdmp_identify_evaluation *e, const looked *row, long tick) {
  psdmp_identify_open *open = &e->to->open;
  if (!e->in_order) psdmp_identify_open_row(open, tick);
  psdmp_identify_sieve_row(e->sieve, tick, row->label, row->bad, e->row, e->aside);
  if (!e->in_order)
    return psdmp_identify_open_take(open, e->sieve, false, psdmp_identify_evaluation_mean, e) ? PSDM_OK : PSDM_E_MEMORY;
  psdmp_identify_evaluation_next(e, false);
  return PSDM_OK;
}

psdm_status psdmp_identify_evaluation_rows(psdmp_identify_evaluation *e, const psdmp_feed_stretch *s,
                                           psdm_error *error) {
  psdmp_identify_run *r = e->run;
  int n = r->n;
  psdmp_identify_prepared p;
  psdm_status status = psdmp_identify_run_prepare(r, &r->band, s, &p, error);
  if (status) return status;
  e->seen = 0;
  memset(e->state, 0, (size_t)n * sizeof *e->state);
  for (long k = 0; k < p.rows && !status && !e->stopped; k++) {
    long at = p.index[k] - s->first;
    if (at >= s->rows - s->trail) break;
    e->segment = s->segment; /* means may include rows of other stretches */
    e->lagged = (s->first + s->lead) / psdmp_identify_band_stride(r, &r->band) < LAGGED;
    if (at < s->lead) {
      remember(e, &p, k);
      continue;
    }
    e->index = p.index[k];
    e->log = s->file;
    if ((status = fill_row(e, &p, k))) break;
    looked row = look(r, p.label[k], psdmp_identify_bad_bits(n, p.bad + k * n), e->row, e->aside);
    if (e->sieve) status = sift_row(e, &row, p.tick + k);
    else use_row(e, &row);
  }
  psdmp_identify_prepared_free(&p, r->allocator);
  return status ? failed(r, status, error) : PSDM_OK;
}

/* ---- memory ---- */

void psdmp_identify_evaluation_free(psdmp_identify_evaluation *e) {
  if (!e) return;
  const psdm_allocator *a = e->run->allocator;
  if (e->sieve) psdmp_identify_sieve_free(e->sieve, a);
  void *const parts[] = {e->column,   e->state, e->scratch, e->row,   e->aside, e->drive,
                         e->friction, e->band,  e->history, e->sieve, e};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
}

static bool fill_space(psdmp_identify_evaluation *e, bool sieve) {
  psdmp_identify_run *r = e->run;
  size_t n = (size_t)r->n, columns = n * (size_t)(r->l + 16 + 3), aside = 5 + 4 * n;
#define PART(field, count) (e->field = psdmp_base_alloc(r->allocator, (size_t)(count) * sizeof *e->field))
  if (!PART(column, n) || !PART(state, n) || !PART(scratch, n * (size_t)(r->S + r->l)) || !PART(row, columns) ||
      !PART(aside, aside) || !PART(drive, n) || !PART(friction, n) || !PART(band, n) ||
      !PART(history, n * PSDMP_IDENTIFY_LAGS))
    return false;
  for (int i = 0; i < r->n; i++)
    for (int k = 0; k < r->choice[i].count; k++) e->column[i][k] = r->dictionary[i].column[r->choice[i].take[k]];
  if (!sieve) return true;
  if (!PART(sieve, 1)) return false;
#undef PART
  return psdmp_identify_sieve_new(r->allocator, r->options->decimate, (long)columns, (long)aside, e->sieve) == PSDM_OK;
}

psdmp_identify_evaluation *psdmp_identify_evaluation_new(const psdmp_identify_calibration *a, psdmp_identify_run *own,
                                                         bool sieve) {
  psdmp_identify_evaluation *e = psdmp_base_alloc(own->allocator, sizeof *e);
  if (!e) return NULL;
  e->a = a;
  e->run = own;
  if (fill_space(e, sieve)) return e;
  psdmp_identify_evaluation_free(e);
  return NULL;
}
