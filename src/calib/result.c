/* result.c: the fit with the chosen columns, what it is worth, and what it does not know. */
#include "calib/result.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calib/estimate.h"

/* what an answer keeps */
struct psdmp_calibration {
  psdmp_run *run;
  psdm_calibrate_options options; /* copies, for predictions */
  double *theta, *gain;           /* (l), (16 n) */
  psdm_estimate *estimate;
  double *pi, *covariance, *singular, *share, *load;
  double *classical, *folds;      /* (W x W) correlations; (PSDMP_FOLDS x W) answers without each fold */
  double *fold_rmse;              /* (PSDMP_FOLDS x n) */
  bool *essential;                /* (l) */
  psdm_column **column;
  int *columns;
  psdm_joint_fit *fits;           /* (2 * PSDM_FIT_PARTS * n) */
  const char *blind[64];
  int blinds;
};

static psdm_status no_memory(psdm_error *error) { return psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory"); }

static psdm_status failed(const psdmp_run *r, psdm_status status, psdm_error *error) {
  return psdmp_fail(error, status, psdm_robot_name(r->robot), 0, 0, "%s", psdm_status_text(status));
}

#define NEW(r, count, type) psdmp_arena_alloc(&(r)->arena, (size_t)(count) * sizeof(type))

static int all_columns(const psdmp_run *r) {
  int sum = 0;
  for (int i = 0; i < r->n; i++) sum += r->choice[i].count;
  return sum;
}

/* ---- the fit ---- */

typedef struct fitting {
  psdmp_run *run;
  psdmp_factors factors;       /* chosen columns, PSDMP_BLOCKS blocks */
  psdmp_selected whole;
  psdmp_selected block[PSDMP_BLOCKS];
  int blocks;                  /* that have rows */
  double *scratch;
  double *theta, *pi, *phi, *cost;
  bool **nonnegative;
  psdmp_fit fit;
} fitting;

static psdm_status run_fit(fitting *g, const psdmp_rows *rows, psdm_estimator estimator, double lambda, psdmp_fit *fit) {
  psdmp_run *r = g->run;
  const psdmp_fit_options o = {.sigma = estimator == PSDM_ESTIMATOR_OLS ? NULL : r->sigma, .prior = r->prior, .lambda = lambda,
                               .nonnegative = (const bool *const *)g->nonnegative, .drives_nonnegative = true};
  switch (estimator) {
    case PSDM_ESTIMATOR_CONSISTENT: return psdmp_fit_consistent(rows, &o, g->scratch, fit);
    case PSDM_ESTIMATOR_RIDGE: return psdmp_fit_surrogate(rows, &o, g->scratch, fit);
    case PSDM_ESTIMATOR_TLS: return psdmp_fit_total(rows, &o, g->scratch, fit);
    default: return psdmp_fit_linear(rows, &o, g->scratch, fit);
  }
}

/* sum of squares of drive i's residuals in compressed rows */
static double residual(const psdmp_rows *rows, int i, const double *theta, const double *phi) {
  int l = rows->base, k = rows->extras[i], w = l + k + 1;
  double sum = 0;
  for (int row = 0; row < w; row++) {
    double e = -rows->R[i][(long)row * w + w - 1];
    for (int j = row; j < w - 1; j++) e += rows->R[i][(long)row * w + j] * (j < l ? theta[j] : phi[j - l]);
    sum += e * e;
  }
  return sum;
}

/* cross-validated mean log RMSE of an estimator at a weight */
static psdm_status cross_validate(fitting *g, psdm_estimator estimator, double lambda, double *score) {
  psdmp_run *r = g->run;
  double sum[PSDM_MAX_JOINTS] = {0}, count[PSDM_MAX_JOINTS] = {0};
  for (int fold = 0; fold < PSDMP_FOLDS; fold++) {
    unsigned inside = 0;
    for (int b = 0; b < PSDMP_BLOCKS; b++)
      if (b * PSDMP_FOLDS / PSDMP_BLOCKS != fold) inside |= 1u << b;
    psdmp_selected train, test;
    if (!psdmp_select(r, &g->factors, inside, true, &train)) return PSDM_E_MEMORY;
    if (!psdmp_select(r, &g->factors, ~inside & ((1u << PSDMP_BLOCKS) - 1), true, &test)) return psdmp_selected_free(r, &train), PSDM_E_MEMORY;
    psdmp_fit fit = {.theta = g->theta, .pi = g->pi, .phi = g->phi};
    psdm_status status = run_fit(g, &train.rows, estimator, lambda, &fit);
    const double *phi = g->phi;
    for (int i = 0; i < r->n && !status; i++) {
      sum[i] += residual(&test.rows, i, g->theta, phi);
      count[i] += test.count[i];
      phi += r->choice[i].count;
    }
    psdmp_selected_free(r, &train);
    psdmp_selected_free(r, &test);
    if (status) return status;
  }
  *score = 0;
  for (int i = 0; i < r->n; i++) *score += 0.5 * log(fmax(sum[i], 1e-300) / fmax(count[i], 1)) / r->n;
  return PSDM_OK;
}

/* the smallest weight of the prior that does as well as the best */
static psdm_status choose_lambda(fitting *g, psdm_estimator estimator) {
  static const double weights[] = {0.1, 1, 10, 100};
  psdmp_run *r = g->run;
  double score[4], least = INFINITY;
  if (r->options->lambda > 0 || (estimator != PSDM_ESTIMATOR_CONSISTENT && estimator != PSDM_ESTIMATOR_RIDGE)) return PSDM_OK;
  for (int k = 0; k < 4; k++) {
    psdm_status status = cross_validate(g, estimator, weights[k], &score[k]);
    if (status) return status;
    least = fmin(least, score[k]);
    if (!psdmp_going_on(r, "choosing the prior's weight", 0.25 * k)) return PSDM_OK;
  }
  for (int k = 0; k < 4; k++)
    if (score[k] <= least + 0.005) {
      r->lambda = weights[k];
      break;
    }
  if (r->reasons < 8) snprintf(r->reason[r->reasons++], sizeof r->reason[0], "prior: weight %g, the smallest whose cross-validated error is within 0.5 %% of the best", r->lambda);
  return PSDM_OK;
}

/* weights of the drives from their own residuals; a poor prior must not make room for itself, so without its pull */
static psdm_status reweight(fitting *g, psdm_estimator estimator) {
  psdmp_run *r = g->run;
  bool pulled = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  for (int round = 0; round < 3; round++) {
    psdmp_fit fit = {.theta = g->theta, .pi = g->pi, .phi = g->phi};
    psdm_status status = run_fit(g, &g->whole.rows, pulled ? PSDM_ESTIMATOR_WLS : estimator, r->lambda, &fit);
    if (status) return status;
    const double *phi = g->phi;
    for (int i = 0; i < r->n; i++) {
      double sum = residual(&g->whole.rows, i, g->theta, phi), free_rows = g->whole.count[i] - (double)r->l / r->n - r->choice[i].count;
      phi += r->choice[i].count;
      if (sum > 0 && free_rows > 1) r->sigma[i] = sqrt(sum / free_rows);
    }
    if (estimator == PSDM_ESTIMATOR_OLS) break;
  }
  return PSDM_OK;
}

static bool prepare_fit(fitting *g) {
  psdmp_run *r = g->run;
  int own = all_columns(r);
  g->theta = NEW(r, r->l, double), g->pi = NEW(r, r->S, double), g->phi = NEW(r, own + 1, double), g->cost = NEW(r, r->n, double);
  g->nonnegative = NEW(r, r->n, bool *);
  if (!g->theta || !g->pi || !g->phi || !g->cost || !g->nonnegative) return false;
  for (int i = 0; i < r->n; i++) {
    g->nonnegative[i] = NEW(r, r->choice[i].count + 1, bool);
    if (!g->nonnegative[i]) return false;
    for (int k = 0; k < 2 && k < r->choice[i].count; k++) g->nonnegative[i][k] = true;
  }
  if (!psdmp_select(r, &g->factors, (1u << PSDMP_BLOCKS) - 1, true, &g->whole)) return false;
  for (int b = 0; b < PSDMP_BLOCKS; b++) {
    bool any = false;
    for (int i = 0; i < r->n; i++)
      for (int rest = 0; rest < (r->rest > 0 ? 1 : 2); rest++) any |= g->factors.count[((long)i * PSDMP_BLOCKS + b) * 2 + rest] > 0;
    if (!any) continue;
    if (!psdmp_select(r, &g->factors, 1u << b, true, &g->block[g->blocks])) return false;
    g->blocks++;
  }
  size_t one = psdmp_fit_scratch(&g->whole.rows), two = psdmp_fit_sandwich_scratch(&g->whole.rows);
  g->scratch = psdmp_alloc_raw(r->allocator, (one > two ? one : two) * sizeof(double));
  return g->scratch != NULL;
}

static void free_fit(fitting *g) {
  psdmp_run *r = g->run;
  psdmp_selected_free(r, &g->whole);
  for (int b = 0; b < PSDMP_BLOCKS; b++) psdmp_selected_free(r, &g->block[b]);
  psdmp_factors_free(r, &g->factors);
  psdmp_free(r->allocator, g->scratch);
}

/* ---- doubt ---- */

static psdm_status set_doubt(fitting *g, psdm_estimator estimator, psdmp_calibration *a) {
  psdmp_run *r = g->run;
  psdmp_rows block[PSDMP_BLOCKS];
  for (int b = 0; b < g->blocks; b++) block[b] = g->block[b].rows;
  bool pulled = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  const psdmp_fit_options o = {.sigma = estimator == PSDM_ESTIMATOR_OLS ? NULL : r->sigma, .prior = r->prior, .lambda = pulled ? r->lambda : 0,
                               .nonnegative = (const bool *const *)g->nonnegative, .drives_nonnegative = true, .leave_out = true};
  psdmp_fit at = g->fit;
  if (estimator == PSDM_ESTIMATOR_RIDGE) at.pi = r->prior, at.gap = 0; /* its pull is the Hessian there, wherever the fit is */
  return psdmp_fit_sandwich(&g->whole.rows, g->blocks, block, &o, &at, pulled, g->scratch, a->covariance, a->share);
}

/* singular values of the regressor, columns scaled to length one and rows by sigma; and what it hardly sees */
static bool set_singular(fitting *g, psdmp_calibration *a, psdm_calibration *out) {
  psdmp_run *r = g->run;
  int l = r->l, own = all_columns(r), W = l + own, at = l;
  psdmp_arena arena = {.allocator = r->allocator};
  long rows = 0;
  for (int i = 0; i < r->n; i++) rows += l + r->choice[i].count + 1;
  double *A = psdmp_arena_alloc(&arena, (size_t)rows * (size_t)W * sizeof *A), *V = psdmp_arena_alloc(&arena, (size_t)W * (size_t)W * sizeof *V);
  double *super = psdmp_arena_alloc(&arena, (size_t)W * sizeof *super);
  if (!A || !V || !super) return psdmp_arena_free(&arena), false;
  long row = 0;
  for (int i = 0; i < r->n; i++) {
    int k = r->choice[i].count, w = l + k + 1;
    for (int p = 0; p < w; p++, row++)
      for (int j = p; j < w - 1; j++) A[row * W + (j < l ? j : at + j - l)] = g->whole.R[i][(long)p * w + j] / r->sigma[i];
    at += k;
  }
  for (int j = 0; j < W; j++) {
    double length = 0;
    for (long p = 0; p < rows; p++) length += A[p * W + j] * A[p * W + j];
    for (long p = 0; p < rows && length > 0; p++) A[p * W + j] /= sqrt(length);
  }
  bool ok = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (int)rows, W, A, W, a->singular, NULL, (int)rows, V, W, super) == 0;
  out->condition = ok && a->singular[W - 1] > 0 ? a->singular[0] / a->singular[W - 1] : INFINITY;
  for (int k = W - 1; k >= 0 && ok && a->blinds < 64; k--) {
    if (a->singular[k] > 1e-3 * a->singular[0]) break;
    char text[512];
    int length = snprintf(text, sizeof text, "singular value %.1e: ", a->singular[k] / a->singular[0]), terms = 0;
    for (int j = 0; j < W && length < (int)sizeof text - 64; j++) {
      double share = V[(long)k * W + j];
      if (fabs(share) < 0.15) continue;
      length += snprintf(text + length, sizeof text - (size_t)length, "%s%.2g %s", terms++ ? (share < 0 ? " - " : " + ") : share < 0 ? "-" : "", fabs(share), j < l ? psdm_model_base_name(r->model, j) : "a friction column");
    }
    if (!(a->blind[a->blinds] = psdmp_arena_text(&r->arena, text, strlen(text)))) ok = false;
    else a->blinds++;
  }
  psdmp_arena_free(&arena);
  return ok;
}

/* ---- predictions, row by row ---- */

/* Sums over rows. */
typedef struct evaluated {
  psdmp_tally *sum;           /* ((2 * PSDM_FIT_PARTS) * n) */
  double *load;               /* (n) sums of |f| over training rows, and how many */
  long loads;
  double *product;            /* (n) squared steps of residuals, for their whiteness */
  double *lags;               /* (n * LAGS) */
} evaluated;

typedef struct evaluation {
  const psdmp_calibration *a;
  psdmp_run *run;
  psdm_predicted_write write; /* NULL: only sums */
  void *user;
  bool stopped;
  psdmp_column (*column)[16];
  psdmp_column_state *state;
  double *scratch, *drive, *friction, *band;
  double *row;                /* Y (n x l), friction columns (n x 16), |f|, tau, raw (n) of one row of the clock */
  double *aside;              /* t, q, qd, qdd, v of it */
  psdmp_sieve *sieve;         /* through which both go; NULL: as they are */
  int segment;
  evaluated *to;
  double *history;            /* (n * LAGS) of residuals */
  long seen;                  /* training rows of this stretch */
  bool lagged;                /* the stretch is among those that tell the autocorrelation */
} evaluation;

enum { LAGS = 512, LAGGED = 100000 }; /* lags of the autocorrelation; rows that are enough for it */
static const double moving = 0.01;      /* share of a joint's speed above which it moves */

/* standard deviations, drives taken as independent */
static void bands_from_drives(const psdmp_run *r, const double *drive, double *joint) {
  for (int i = 0; i < r->n; i++) {
    double sum = r->T ? 0 : drive[i] * drive[i];
    for (int j = 0; j < r->n && r->T; j++) sum += r->T_inverse[j * r->n + i] * r->T_inverse[j * r->n + i] * drive[j] * drive[j];
    joint[i] = sqrt(sum);
  }
}

/* One row that is looked at: of the clock, or after decimation. */
typedef struct looked {
  int label;
  unsigned bad;                                /* bits of the drives */
  double t;
  const double *q, *qd, *qdd, *v;              /* (n) */
  const double *Y, *value, *load, *tau, *raw;  /* (n x l), (n x 16), (n) */
} looked;

static looked look(const psdmp_run *r, int label, unsigned bad, const double *row, const double *aside) {
  long n = r->n, values = n * r->l, loads = values + 16 * n;
  return (looked){.label = label, .bad = bad, .t = aside[0], .q = aside + 1, .qd = aside + 1 + n, .qdd = aside + 1 + 2 * n, .v = aside + 1 + 3 * n,
                  .Y = row, .value = row + values, .load = row + loads, .tau = row + loads + n, .raw = row + loads + 2 * n};
}

/* what the torques of a row of the clock are made of */
static psdm_status fill_row(evaluation *e, const psdmp_prepared *p, long k) {
  psdmp_run *r = e->run;
  long n = r->n, l = r->l;
  size_t bytes = (size_t)n * sizeof(double);
  double *value = e->row + n * l, *loads = value + 16 * n;
  psdm_status status = psdmp_run_regressor(r, p->q + k * n, p->qd + k * n, p->qdd + k * n, e->scratch, e->row);
  for (int i = 0; i < n && !status; i++) {
    double load = 0;
    const double *Y = e->row + i * l;
    for (int j = 0; j < l && r->theta_load; j++) load += Y[j] * r->theta_load[j];
    loads[i] = fabs(load);
    psdmp_columns_at(e->column[i], r->choice[i].count, p->x[k * n + i], p->v[k * n + i], loads[i], &e->state[i], value + 16 * i);
  }
  memcpy(loads + n, p->tau + k * n, bytes);
  memcpy(loads + 2 * n, p->raw + k * n, bytes);
  e->aside[0] = p->t[k];
  memcpy(e->aside + 1, p->q + k * n, bytes);
  memcpy(e->aside + 1 + n, p->qd + k * n, bytes);
  memcpy(e->aside + 1 + 2 * n, p->qdd + k * n, bytes);
  memcpy(e->aside + 1 + 3 * n, p->v + k * n, bytes);
  return status;
}

/* drives' torques of one row; variance of each where it is asked for */
static void predict(evaluation *e, const looked *row) {
  psdmp_run *r = e->run;
  const psdmp_calibration *a = e->a;
  int n = r->n, l = r->l, at = l, W = l + all_columns(r);
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
      for (int v = 0; v < l + count; v++) part += a->covariance[(long)line * W + (v < l ? v : at + v - l)] * (v < l ? Y[v] : value[v - l]);
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

static void add_sums(evaluation *e, const looked *row, const double *joint, const double *tau, const double *raw) {
  psdmp_run *r = e->run;
  int n = r->n, held = row->label == PSDMP_HELDOUT;
  for (int i = 0; i < n; i++) {
    double *past = e->history + (long)i * LAGS;
    if (row->bad >> i & 1) {
      if (!held) past[e->seen % LAGS] = 0;
      continue;
    }
    bool rest = fabs(row->v[i]) <= moving * r->speed[i];
    psdmp_tally *s = e->to->sum + (long)held * PSDM_FIT_PARTS * n;
    double error = tau[i] - joint[i];
    psdmp_tally_add(&s[PSDM_FIT_ALL * n + i], tau[i], error);
    psdmp_tally_add(&s[(rest ? PSDM_FIT_REST : PSDM_FIT_MOVING) * n + i], tau[i], error);
    psdmp_tally_add(&s[PSDM_FIT_RAW * n + i], raw[i], raw[i] - joint[i]);
    if (held || !e->lagged) continue;
    for (long lag = 1; lag < LAGS && lag <= e->seen; lag++) e->to->lags[(long)i * LAGS + lag] += error * past[(e->seen - lag) % LAGS];
    e->to->lags[(long)i * LAGS] += error * error;
    double step = e->seen ? error - past[(e->seen - 1) % LAGS] : 0;
    e->to->product[i] += step * step;
    past[e->seen % LAGS] = error;
  }
  if (!held) e->seen++;
}

static void use_row(evaluation *e, const looked *row) {
  psdmp_run *r = e->run;
  double joint[PSDM_CALIBRATE_JOINTS], friction[PSDM_CALIBRATE_JOINTS], tau[PSDM_CALIBRATE_JOINTS], raw[PSDM_CALIBRATE_JOINTS], band[PSDM_CALIBRATE_JOINTS];
  if (row->label <= PSDMP_UNUSED) return;
  predict(e, row);
  psdmp_run_to_joints(r, e->drive, joint);
  psdmp_run_to_joints(r, row->tau, tau);
  psdmp_run_to_joints(r, row->raw, raw);
  add_sums(e, row, joint, tau, raw);
  if (!e->write) return;
  psdmp_run_to_joints(r, e->friction, friction);
  bands_from_drives(r, e->band, band);
  const psdm_predicted_row out = {.t = row->t, .segment = e->segment, .heldout = row->label == PSDMP_HELDOUT, .q = row->q, .qd = row->qd, .qdd = row->qdd,
                                  .tau = tau, .raw = raw, .predicted = joint, .band = band, .friction = friction};
  e->stopped = !e->write(e->user, &out);
}

/* rows that the sieve is done with */
static void use_kept(evaluation *e, bool end) {
  const psdmp_kept *m;
  while (e->sieve && !e->stopped && (m = psdmp_sieve_next(e->sieve, end))) {
    looked row = look(e->run, m->label, m->bad, m->value, m->aside);
    use_row(e, &row);
  }
}

static void begin_segment(evaluation *e, int segment) {
  use_kept(e, true);
  if (e->sieve) psdmp_sieve_restart(e->sieve);
  memset(e->state, 0, (size_t)e->run->n * sizeof *e->state);
  e->segment = segment;
}

/* rows before the stretch's own only tell what columns remember */
static psdm_status evaluate_rows(evaluation *e, const psdmp_stretch *s, psdm_error *error) {
  psdmp_run *r = e->run;
  int n = r->n;
  psdmp_prepared p;
  psdm_status status = psdmp_run_prepare(r, &r->band, s, &p, error);
  if (status) return status;
  e->seen = 0;
  e->lagged = (s->first + s->lead) / psdmp_band_stride(r, &r->band) < LAGGED;
  e->segment = s->segment;
  for (long k = 0; k < p.rows && !status && !e->stopped; k++) {
    long at = p.index[k] - s->first;
    if (at >= s->rows - s->trail) break;
    if (at < s->lead && e->sieve) continue;
    status = fill_row(e, &p, k);
    if (status || at < s->lead) continue;
    looked row = look(r, p.label[k], psdmp_bad_bits(n, p.bad + k * n), e->row, e->aside);
    if (e->sieve) psdmp_sieve_row(e->sieve, p.tick + k, row.label, row.bad, e->row, e->aside), use_kept(e, false);
    else use_row(e, &row);
  }
  psdmp_prepared_free(&p, r->allocator);
  return status ? failed(r, status, error) : PSDM_OK;
}

/* ---- parts ---- */

static void part_free(void *user, void *part) {
  const psdm_allocator *a = ((psdmp_calibration *)user)->run->allocator;
  evaluated *e = part;
  if (!e) return;
  void *const parts[] = {e->sum, e->load, e->product, e->lags, e};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_free(a, parts[k]);
}

static void *part_new(void *user) {
  const psdmp_run *r = ((psdmp_calibration *)user)->run;
  const psdm_allocator *a = r->allocator;
  size_t n = (size_t)r->n;
  evaluated *e = psdmp_alloc(a, sizeof *e);
  if (!e) return NULL;
  e->sum = psdmp_alloc(a, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  e->load = psdmp_alloc(a, n * sizeof *e->load);
  e->product = psdmp_alloc(a, n * sizeof *e->product);
  e->lags = psdmp_alloc(a, n * LAGS * sizeof *e->lags);
  if (e->sum && e->load && e->product && e->lags) return e;
  part_free(user, e);
  return NULL;
}

static psdm_status part_merge(void *user, void *left, void *right) {
  int n = ((psdmp_calibration *)user)->run->n;
  evaluated *e = left, *f = right;
  for (int k = 0; k < 2 * PSDM_FIT_PARTS * n; k++) psdmp_tally_merge(&e->sum[k], &f->sum[k]);
  for (int i = 0; i < n; i++) e->load[i] += f->load[i], e->product[i] += f->product[i];
  for (int i = 0; i < n * LAGS; i++) e->lags[i] += f->lags[i];
  e->loads += f->loads;
  part_free(user, right);
  return PSDM_OK;
}

static void part_put(void *user, const void *part, psdmp_bytes *to) {
  size_t n = (size_t)((psdmp_calibration *)user)->run->n;
  const evaluated *e = part;
  psdmp_bytes_put(to, e->sum, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  psdmp_bytes_put(to, e->load, n * sizeof *e->load);
  psdmp_bytes_put(to, e->product, n * sizeof *e->product);
  psdmp_bytes_put(to, e->lags, n * LAGS * sizeof *e->lags);
  PSDMP_PUT(to, e->loads);
}

static void *part_get(void *user, psdmp_bytes *from) {
  size_t n = (size_t)((psdmp_calibration *)user)->run->n;
  evaluated *e = part_new(user);
  if (!e) return NULL;
  psdmp_bytes_get(from, e->sum, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  psdmp_bytes_get(from, e->load, n * sizeof *e->load);
  psdmp_bytes_get(from, e->product, n * sizeof *e->product);
  psdmp_bytes_get(from, e->lags, n * LAGS * sizeof *e->lags);
  PSDMP_GET(from, e->loads);
  if (!from->failed) return e;
  part_free(user, e);
  return NULL;
}

/* ---- threads ---- */

static void space_free(void *user, void *space) {
  evaluation *e = space;
  (void)user;
  if (!e) return;
  const psdm_allocator *a = e->run->allocator;
  if (e->sieve) psdmp_sieve_free(e->sieve, a);
  void *const parts[] = {e->column, e->state, e->scratch, e->row, e->aside, e->drive, e->friction, e->band, e->history, e->sieve, e};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_free(a, parts[k]);
}

static bool fill_space(evaluation *e) {
  psdmp_run *r = e->run;
  size_t n = (size_t)r->n, columns = n * (size_t)(r->l + 16 + 3), aside = 1 + 4 * n;
#define PART(field, count) (e->field = psdmp_alloc(r->allocator, (size_t)(count) * sizeof *e->field))
  if (!PART(column, n) || !PART(state, n) || !PART(scratch, n * (size_t)(r->S + r->l)) || !PART(row, columns) || !PART(aside, aside) || !PART(drive, n) ||
      !PART(friction, n) || !PART(band, n) || !PART(history, n * LAGS))
    return false;
  for (int i = 0; i < r->n; i++)
    for (int k = 0; k < r->choice[i].count; k++) e->column[i][k] = r->dictionary[i].column[r->choice[i].take[k]];
  if (r->options->decimate <= 1) return true;
  if (!PART(sieve, 1)) return false;
#undef PART
  return psdmp_sieve_new(r->allocator, r->options->decimate, (long)columns, (long)aside, e->sieve) == PSDM_OK;
}

static void *space_new(void *user, psdmp_run *own) {
  evaluation *e = psdmp_alloc(own->allocator, sizeof *e);
  if (!e) return NULL;
  e->a = user;
  e->run = own;
  if (fill_space(e)) return e;
  space_free(user, e);
  return NULL;
}

static psdm_status add_part(void *space, void *part, const psdmp_stretch *s, psdm_error *error) {
  evaluation *e = space;
  e->to = part;
  memset(e->state, 0, (size_t)e->run->n * sizeof *e->state);
  return evaluate_rows(e, s, error);
}

/* ---- in the order of rows: predictions that are written, and decimation ---- */

static psdm_status evaluate_stretch(void *user, const psdmp_stretch *s, psdm_error *error) {
  evaluation *e = user;
  psdmp_run *r = e->a->run;
  if (s->lead == 0 && e->sieve) begin_segment(e, s->segment);
  if (!e->sieve) memset(e->state, 0, (size_t)e->run->n * sizeof *e->state);
  psdm_status status = evaluate_rows(e, s, error);
  if (status) return status;
  if (!e->write && !r->finishing && !psdmp_going_on(r, "evaluating", (double)(s->first + s->rows) / (double)r->rows)) e->stopped = true;
  return e->stopped ? PSDM_E_ARGUMENT : PSDM_OK; /* which ends the reading */
}

static psdm_status evaluate_in_order(const psdmp_calibration *a, bool all, psdm_predicted_write write, void *user, void **part, psdm_error *error) {
  psdmp_run *r = a->run;
  evaluation *e = space_new((void *)a, r);
  *part = e ? part_new((void *)a) : NULL;
  if (!*part) return space_free(NULL, e), no_memory(error);
  e->write = write, e->user = user, e->to = *part;
  psdm_status status = psdmp_feed_each_warm(r->feed, all, psdmp_band_margin(r, &r->band), evaluate_stretch, e, error);
  if (!status) use_kept(e, true);
  if (e->stopped) status = PSDM_OK;
  space_free(NULL, e);
  return status;
}

/* ---- all rows ---- */

static psdmp_sum evaluate_sum(psdmp_calibration *a) {
  return (psdmp_sum){.name = "evaluate", .work = PSDMP_WORK_EVALUATE, .doing = "evaluating", .user = a, .space_new = space_new, .space_free = space_free,
                     .part_new = part_new, .add = add_part, .merge = part_merge, .part_free = part_free, .put = part_put, .get = part_get};
}

static psdm_status evaluate(psdmp_calibration *a, bool all, void **part, psdm_error *error) {
  psdmp_run *r = a->run;
  psdmp_sum sum = evaluate_sum(a);
  psdmp_bytes request = {.allocator = r->allocator};
  if (r->options->decimate > 1) return evaluate_in_order(a, all, NULL, NULL, part, error);
  psdmp_run_put(r, &r->band, true, &request);
  psdmp_bytes_put(&request, a->theta, (size_t)r->l * sizeof *a->theta);
  psdmp_bytes_put(&request, a->gain, 16 * (size_t)r->n * sizeof *a->gain);
  PSDMP_PUT(&request, all);
  psdm_status status = psdmp_sum_rows(r, &sum, &request, all, psdmp_band_margin(r, &r->band), part, error);
  psdmp_bytes_free(&request);
  if (!status && !*part && !(*part = part_new(a))) return no_memory(error);
  return status;
}

psdm_status psdmp_serve_evaluate(psdmp_run *r, psdmp_bytes *request, psdmp_bytes *answer, psdm_error *error) {
  psdmp_calibration a = {.run = r};
  psdmp_arena arena = {.allocator = r->allocator};
  bool all;
  a.theta = psdmp_arena_alloc(&arena, (size_t)r->l * sizeof *a.theta);
  a.gain = psdmp_arena_alloc(&arena, 16 * (size_t)r->n * sizeof *a.gain);
  psdm_status status = a.theta && a.gain && psdmp_run_get(r, &r->band, request) ? PSDM_OK : no_memory(error);
  if (!status) {
    psdmp_sum sum = evaluate_sum(&a);
    psdmp_bytes_get(request, a.theta, (size_t)r->l * sizeof *a.theta);
    psdmp_bytes_get(request, a.gain, 16 * (size_t)r->n * sizeof *a.gain);
    PSDMP_GET(request, all);
    status = request->failed ? no_memory(error) : psdmp_sum_serve(r, &sum, request, all, psdmp_band_margin(r, &r->band), answer, error);
  }
  psdmp_arena_free(&arena);
  return status;
}

static psdm_part_fit part_of(int n, const evaluated *e, int held, int part, psdm_joint_fit *fits) {
  const psdmp_tally *s = e->sum + ((long)held * PSDM_FIT_PARTS + part) * n;
  double rows = 0;
  for (int i = 0; i < n; i++) fits[i] = psdmp_tally_fit(&s[i]), rows += s[i].count;
  return (psdm_part_fit){.joint = fits, .global_rel = psdmp_tally_rel(n, s), .rows = (long)rows};
}

static void set_fits(const evaluated *e, psdmp_calibration *a, psdm_calibration *out) {
  int n = a->run->n, counted = 0;
  for (int held = 0; held < 2; held++)
    for (int part = 0; part < PSDM_FIT_PARTS; part++) *(held ? &out->heldout[part] : &out->train[part]) = part_of(n, e, held, part, a->fits + ((long)held * PSDM_FIT_PARTS + part) * n);
  for (int i = 0; i < n && e->loads; i++) a->load[i] = e->load[i] / (double)e->loads;
  for (int i = 0; i < n; i++) {
    const double *lags = e->lags + (long)i * LAGS;
    if (!(lags[0] > 0)) continue;
    int zero = 1;
    while (zero < LAGS - 1 && lags[zero] > 0) zero++;
    out->durbin_watson += e->product[i] / lags[0];
    out->correlation += zero;
    counted++;
  }
  if (counted) out->durbin_watson /= counted, out->correlation /= counted;
  for (int i = 0; i < n; i++) out->used += out->train[PSDM_FIT_ALL].joint[i].rows / n;
}

/* ---- the answer ---- */

void psdmp_run_free(psdmp_run *r) {
  const psdm_allocator *allocator = r->allocator;
  psdmp_feed_close(r->feed);
  psdmp_checkpoint_free(r->checkpoint);
  psdm_model_free(r->model);
  psdm_work_free(r->work, allocator);
  psdmp_arena_free(&r->arena);
  psdmp_free(allocator, r);
}

static psdm_calibration *new_answer(psdmp_run *r) {
  psdm_calibration *out = NEW(r, 1, psdm_calibration);
  psdmp_calibration *a = NEW(r, 1, psdmp_calibration);
  int own = all_columns(r), W = r->l + own;
  if (!out || !a) return NULL;
  out->internal = a;
  a->run = r;
  a->theta = NEW(r, r->l, double), a->gain = NEW(r, 16 * r->n, double), a->estimate = NEW(r, r->l, psdm_estimate), a->pi = NEW(r, r->S, double);
  a->covariance = NEW(r, (size_t)W * (size_t)W, double), a->singular = NEW(r, W, double), a->share = NEW(r, W, double), a->load = NEW(r, r->n, double);
  a->classical = NEW(r, (size_t)W * (size_t)W, double), a->folds = NEW(r, PSDMP_FOLDS * W, double), a->fold_rmse = NEW(r, PSDMP_FOLDS * r->n, double), a->essential = NEW(r, r->l, bool);
  a->column = NEW(r, r->n, psdm_column *), a->columns = NEW(r, r->n, int), a->fits = NEW(r, 2 * PSDM_FIT_PARTS * r->n, psdm_joint_fit);
  if (!a->theta || !a->gain || !a->estimate || !a->pi || !a->covariance || !a->singular || !a->share || !a->load || !a->classical || !a->folds || !a->fold_rmse || !a->essential || !a->column || !a->columns || !a->fits) return NULL;
  for (int i = 0; i < r->n; i++)
    if (!(a->column[i] = NEW(r, r->choice[i].count + 1, psdm_column))) return NULL;
  return out;
}

static void fill_answer(const fitting *g, psdm_estimator estimator, psdm_calibration *out) {
  psdmp_calibration *a = out->internal;
  psdmp_run *r = a->run;
  int own = all_columns(r), W = r->l + own, at = r->l;
  const double *phi = g->phi;
  bool full = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  for (int j = 0; j < r->l; j++) {
    a->theta[j] = g->theta[j];
    a->estimate[j] = (psdm_estimate){.name = psdm_model_base_name(r->model, j), .value = g->theta[j], .sd = sqrt(fmax(a->covariance[(long)j * W + j], 0)), .prior_share = a->share[j], .essential = a->essential[j]};
  }
  for (int i = 0; i < r->n; i++) {
    a->columns[i] = r->choice[i].count;
    for (int k = 0; k < r->choice[i].count; k++, at++) {
      const psdmp_column *c = &r->dictionary[i].column[r->choice[i].take[k]];
      a->gain[16 * i + k] = *phi;
      a->column[i][k] = (psdm_column){.kind = c->kind, .width = c->width, .load = c->load, .gain = *phi++, .sd = sqrt(fmax(a->covariance[(long)at * W + at], 0))};
    }
  }
  memcpy(a->pi, g->pi, (size_t)r->S * sizeof *a->pi);
  *out = (psdm_calibration){.robot = r->robot, .estimator = estimator, .n = r->n, .base = r->l, .standard = r->S, .theta = a->estimate, .covariance = a->covariance,
                            .pi = full ? a->pi : NULL, .prior = full ? r->prior : NULL, .prior_from_kinematics = r->prior_kinematics, .prior_mass = r->prior_mass,
                            .columns = a->columns, .column = (const psdm_column *const *)a->column, .sigma = r->sigma, .speed = r->speed, .load = a->load, .theta_load = r->theta_load, .kinematics = r->band.kinematics,
                            .cutoff = r->band.cutoff, .delay = r->band.delay, .lambda = full ? r->lambda : 0, .rest = r->rest, .stride = r->options->decimate > 1 ? r->options->decimate : psdmp_band_stride(r, &r->band),
                            .rate = 1 / r->interval, .singular = a->singular, .folds = PSDMP_FOLDS, .fold_rmse = a->fold_rmse, .rows = r->rows, .segments = psdmp_feed_segments(r->feed), .steps = g->fit.steps,
                            .stopped = r->stopped, .internal = a};
  for (int k = 0; k < r->reasons; k++) memcpy(out->reasons[k], r->reason[k], sizeof out->reasons[k]);
  psdmp_feed_faults(r->feed, out->faults);
}

/* training cost over that of ordinary least squares with the same columns and weights */
static psdm_status set_cost_ratio(fitting *g, psdm_calibration *out) {
  psdmp_run *r = g->run;
  double cost = 0, least = 0;
  const double *phi = g->phi;
  for (int i = 0; i < r->n; i++) {
    cost += residual(&g->whole.rows, i, g->theta, phi) / (r->sigma[i] * r->sigma[i]);
    phi += r->choice[i].count;
  }
  double *theta = NEW(r, r->l, double), *own = NEW(r, all_columns(r) + 1, double);
  if (!theta || !own) return PSDM_E_MEMORY;
  psdmp_fit fit = {.theta = theta, .phi = own};
  psdm_status status = run_fit(g, &g->whole.rows, PSDM_ESTIMATOR_WLS, 0, &fit);
  phi = own;
  for (int i = 0; i < r->n && !status; i++) {
    least += residual(&g->whole.rows, i, theta, phi) / (r->sigma[i] * r->sigma[i]);
    phi += r->choice[i].count;
  }
  out->cost_ratio = least > 0 ? cost / least : NAN;
  return status;
}

/* ---- estimators that go through the rows once more ---- */

typedef psdm_status (*walking_estimator)(psdmp_run *run, psdmp_estimated *e, psdm_error *error);

static walking_estimator walking(psdm_estimator estimator) {
  switch (estimator) {
    case PSDM_ESTIMATOR_ROBUST: return psdmp_estimate_robust;
    case PSDM_ESTIMATOR_IV: return psdmp_estimate_iv;
    case PSDM_ESTIMATOR_DIDIM: return psdmp_estimate_didim;
    case PSDM_ESTIMATOR_ENERGY: return psdmp_estimate_energy;
    default: return NULL;
  }
}

bool psdmp_result_walks(psdm_estimator estimator) { return walking(estimator) != NULL; }

/* sigma of each drive: of what the fit leaves of its torque */
static void set_sigma(fitting *g) {
  psdmp_run *r = g->run;
  const double *phi = g->phi;
  for (int i = 0; i < r->n; phi += r->choice[i++].count) {
    double sum = residual(&g->whole.rows, i, g->theta, phi), free_rows = g->whole.count[i] - (double)r->l / r->n - r->choice[i].count;
    if (sum > 0 && free_rows > 1) r->sigma[i] = sqrt(sum / free_rows);
  }
}

/* says so when torques are met much worse than by the least squares that it began with */
static void say_worse(psdmp_run *r, psdm_estimator estimator, const double *before) {
  double most = 0;
  for (int i = 0; i < r->n; i++) most = fmax(most, r->sigma[i] / before[i]);
  if (most > 1.5 && r->reasons < 8)
    snprintf(r->reason[r->reasons++], sizeof r->reason[0], "%s: torques of a drive are %.1f times further off than by weighted least squares", psdm_estimator_name(estimator), most);
}

/* begins at weighted least squares, or where a robot is simulated at one that can be */
static psdm_status fit_walking(fitting *g, psdm_estimator estimator, psdmp_calibration *a, psdm_error *error) {
  psdmp_run *r = g->run;
  int own = all_columns(r), W = r->l + own;
  bool simulated = estimator == PSDM_ESTIMATOR_IV || estimator == PSDM_ESTIMATOR_DIDIM;
  double *x = NEW(r, W, double), *before = NEW(r, r->n, double);
  if (!x || !before) return no_memory(error);
  memcpy(before, r->sigma, (size_t)r->n * sizeof *before);
  g->fit = (psdmp_fit){.theta = g->theta, .pi = g->pi, .phi = g->phi, .cost = g->cost};
  psdm_status status = run_fit(g, &g->whole.rows, simulated ? PSDM_ESTIMATOR_CONSISTENT : PSDM_ESTIMATOR_WLS, r->lambda, &g->fit);
  if (status) return failed(r, status, error);
  memcpy(x, g->theta, (size_t)r->l * sizeof *x);
  memcpy(x + r->l, g->phi, (size_t)own * sizeof *x);
  psdmp_estimated e = {.x = x, .covariance = a->covariance, .classical = a->classical, .folds = a->folds};
  status = walking(estimator)(r, &e, error);
  if (status) return status;
  memcpy(g->theta, x, (size_t)r->l * sizeof *x);
  memcpy(g->phi, x + r->l, (size_t)own * sizeof *x);
  g->fit.steps = e.steps;
  if (estimator == PSDM_ESTIMATOR_ROBUST) return PSDM_OK; /* its scale is one that outliers do not blow up */
  set_sigma(g);
  say_worse(r, estimator, before);
  return PSDM_OK;
}

/* ---- folds, and parameters that could be left out ---- */

/* answers without each fold, where the estimator is one of compressed rows */
static psdm_status fit_folds(fitting *g, psdm_estimator estimator, psdmp_calibration *a) {
  psdmp_run *r = g->run;
  long W = r->l + all_columns(r);
  for (int fold = 0; fold < PSDMP_FOLDS; fold++) {
    psdmp_selected train;
    if (!psdmp_select(r, &g->factors, psdmp_blocks_without(fold), true, &train)) return PSDM_E_MEMORY;
    psdmp_fit fit = {.theta = a->folds + fold * W, .phi = a->folds + fold * W + r->l};
    psdm_status status = run_fit(g, &train.rows, estimator, r->lambda, &fit);
    psdmp_selected_free(r, &train);
    if (status) return status;
  }
  return PSDM_OK;
}

static psdm_status set_fold_rmse(fitting *g, psdmp_calibration *a) {
  psdmp_run *r = g->run;
  long W = r->l + all_columns(r);
  for (int fold = 0; fold < PSDMP_FOLDS; fold++) {
    psdmp_selected test;
    if (!psdmp_select(r, &g->factors, ~psdmp_blocks_without(fold) & psdmp_blocks_all(), true, &test)) return PSDM_E_MEMORY;
    const double *theta = a->folds + fold * W, *phi = theta + r->l;
    for (int i = 0; i < r->n; phi += r->choice[i++].count) a->fold_rmse[fold * r->n + i] = test.count[i] > 0 ? sqrt(residual(&test.rows, i, theta, phi) / test.count[i]) : NAN;
    psdmp_selected_free(r, &test);
  }
  return PSDM_OK;
}

static psdm_status set_essential(fitting *g, psdmp_calibration *a) {
  psdmp_run *r = g->run;
  int own = all_columns(r), W = r->l + own;
  double *scratch = psdmp_alloc_raw(r->allocator, ((size_t)W * (size_t)W + 3 * (size_t)W) * sizeof *scratch);
  if (!scratch) return PSDM_E_MEMORY;
  double *x = scratch + (long)W * W + W, *sd = x + W;
  memcpy(x, g->theta, (size_t)r->l * sizeof *x);
  memcpy(x + r->l, g->phi, (size_t)own * sizeof *x);
  for (int j = 0; j < W; j++) sd[j] = sqrt(fmax(a->covariance[(long)j * W + j], 0));
  psdmp_essential(r->l, W, x, a->classical, sd, scratch, a->essential);
  psdmp_free(r->allocator, scratch);
  return PSDM_OK;
}

static psdm_status fit_rows(fitting *g, psdm_estimator estimator, psdmp_calibration *a, psdm_error *error) {
  psdmp_run *r = g->run;
  psdm_status status = choose_lambda(g, estimator);
  g->fit = (psdmp_fit){.theta = g->theta, .pi = g->pi, .phi = g->phi, .cost = g->cost, .covariance = a->classical};
  if (!status) status = run_fit(g, &g->whole.rows, estimator, r->lambda, &g->fit);
  if (!status) status = set_doubt(g, estimator, a);
  if (!status) status = fit_folds(g, estimator, a);
  return status ? failed(r, status, error) : PSDM_OK;
}

static psdm_status fit_all(fitting *g, psdm_estimator estimator, psdm_calibration *out, psdm_error *error) {
  psdmp_run *r = g->run;
  psdmp_calibration *a = out->internal;
  psdmp_going_on(r, "fitting", 0);
  psdm_status status = reweight(g, walking(estimator) ? PSDM_ESTIMATOR_WLS : estimator);
  if (status) return failed(r, status, error);
  status = walking(estimator) ? fit_walking(g, estimator, a, error) : fit_rows(g, estimator, a, error);
  if (status) return status;
  if ((status = set_fold_rmse(g, a)) || (status = set_essential(g, a))) return failed(r, status, error);
  fill_answer(g, estimator, out);
  if (!set_singular(g, a, out)) return no_memory(error);
  status = set_cost_ratio(g, out);
  return status ? failed(r, status, error) : PSDM_OK;
}

psdm_status psdmp_result_make(psdmp_run *r, psdm_calibration **out, psdm_error *error) {
  fitting g = {.run = r};
  psdm_estimator estimator = r->options->estimator;
  psdmp_going_on(r, "gathering", 0);
  r->finishing = r->stopped; /* what was chosen so far is still fitted, to what is in memory */
  psdm_status status = psdmp_gather_rows(r, &r->band, true, PSDMP_BLOCKS, !r->stopped, &g.factors, error);
  psdm_calibration *answer = status ? NULL : new_answer(r);
  if (!status && (!answer || !prepare_fit(&g))) status = no_memory(error);
  if (!status && g.blocks < 2) status = psdmp_fail(error, PSDM_E_ARGUMENT, psdm_robot_name(r->robot), 0, 0, "too few rows are left to fit: the log is too short, or joints hardly move in it");
  if (!status) status = fit_all(&g, estimator, answer, error);
  free_fit(&g);
  if (status) return status;
  void *sums = NULL;
  r->finishing = r->stopped;
  status = evaluate(answer->internal, !r->stopped, &sums, error);
  if (!status) set_fits(sums, answer->internal, answer);
  part_free(answer->internal, sums);
  answer->stopped = r->stopped;
  if (r->checkpoint) psdmp_checkpoint_counts(r->checkpoint, &answer->parts_found, &answer->parts_saved, &answer->parts_stale, &answer->parts_damaged);
  answer->parts_found += r->parts_of_others[0], answer->parts_saved += r->parts_of_others[1], answer->parts_damaged += r->parts_of_others[2];
  if (!status) *out = answer;
  return status;
}

psdm_status psdm_calibration_predict(const psdm_calibration *c, psdm_predicted_write write, void *user, psdm_error *error) {
  void *sums = NULL;
  psdm_status status = evaluate_in_order(c->internal, true, write, user, &sums, error);
  part_free(c->internal, sums);
  return status;
}

void psdm_calibration_free(psdm_calibration *c) {
  if (c) psdmp_run_free(c->internal->run);
}

const char *psdm_calibration_fault(const psdm_calibration *c, int index) { return psdmp_feed_fault(c->internal->run->feed, index); }
const char *psdm_calibration_blind(const psdm_calibration *c, int index) { return index >= 0 && index < c->internal->blinds ? c->internal->blind[index] : NULL; }
