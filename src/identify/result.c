/* result.c: the fit with the chosen columns, its quality, and its uncertainty. */
#include "identify/result_priv.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "identify/evaluate_priv.h"
#include "linalg/linalg.h"

static psdm_status failed(const psdmp_identify_run *r, psdm_status status, psdm_error *error) {
  return psdmp_base_fail(error, status, psdm_robot_name(r->robot), 0, 0, "%s", psdm_status_text(status));
}

static int all_columns(const psdmp_identify_run *r) {
  int sum = 0;
  for (int i = 0; i < r->n; i++) sum += r->choice[i].count;
  return sum;
}

/* ---- the fit ---- */

typedef struct fitting {
  psdmp_identify_run *run;
  psdmp_identify_factors factors; /* chosen columns, PSDMP_IDENTIFY_BLOCKS blocks */
  psdmp_identify_selected whole;
  psdmp_identify_selected block[PSDMP_IDENTIFY_BLOCKS];
  int blocks; /* that have rows */
  double *scratch;
  double *theta, *pi, *phi, *cost;
  bool **nonnegative;
  psdmp_fit fit;
} fitting;

static psdm_status run_fit(fitting *g, const psdmp_fit_rows *rows, psdm_estimator estimator, double lambda,
                           psdmp_fit *fit) {
  psdmp_identify_run *r = g->run;
  const psdmp_fit_options o = {.sigma = estimator == PSDM_ESTIMATOR_OLS ? NULL : r->sigma,
                               .prior = r->prior,
                               .lambda = lambda,
                               .nonnegative = (const bool *const *)g->nonnegative,
                               .drives_nonnegative = true};
  switch (estimator) {
    case PSDM_ESTIMATOR_CONSISTENT: return psdmp_fit_consistent(rows, &o, g->scratch, fit);
    case PSDM_ESTIMATOR_RIDGE: return psdmp_fit_surrogate(rows, &o, g->scratch, fit);
    case PSDM_ESTIMATOR_TLS: return psdmp_fit_total(rows, &o, g->scratch, fit);
    default: return psdmp_fit_linear(rows, &o, g->scratch, fit);
  }
}

/* sum of squares of drive i's residuals in compressed rows */
static double residual(const psdmp_fit_rows *rows, int i, const double *theta, const double *phi) {
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
  psdmp_identify_run *r = g->run;
  double sum[PSDM_MAX_JOINTS] = {0}, count[PSDM_MAX_JOINTS] = {0};
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
    unsigned inside = 0;
    for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++)
      if (b * PSDMP_IDENTIFY_FOLDS / PSDMP_IDENTIFY_BLOCKS != fold) inside |= 1u << b;
    psdmp_identify_selected train, test;
    if (!psdmp_identify_select(r, &g->factors, inside, true, &train)) return PSDM_E_MEMORY;
    if (!psdmp_identify_select(r, &g->factors, ~inside & ((1u << PSDMP_IDENTIFY_BLOCKS) - 1), true, &test))
      return psdmp_identify_selected_free(r, &train), PSDM_E_MEMORY;
    psdmp_fit fit = {.theta = g->theta, .pi = g->pi, .phi = g->phi};
    psdm_status status = run_fit(g, &train.rows, estimator, lambda, &fit);
    const double *phi = g->phi;
    for (int i = 0; i < r->n && !status; i++) {
      sum[i] += residual(&test.rows, i, g->theta, phi);
      count[i] += test.count[i];
      phi += r->choice[i].count;
    }
    psdmp_identify_selected_free(r, &train);
    psdmp_identify_selected_free(r, &test);
    if (status) return status;
  }
  *score = 0;
  for (int i = 0; i < r->n; i++) *score += 0.5 * log(fmax(sum[i], 1e-300) / fmax(count[i], 1)) / r->n;
  return PSDM_OK;
}

/* the smallest weight of the prior that is as good as the best */
static psdm_status choose_lambda(fitting *g, psdm_estimator estimator) {
  static const double weights[] = {0.1, 1, 10, 100};
  psdmp_identify_run *r = g->run;
  double score[4], least = INFINITY;
  if (r->options->lambda > 0 || (estimator != PSDM_ESTIMATOR_CONSISTENT && estimator != PSDM_ESTIMATOR_RIDGE))
    return PSDM_OK;
  for (int k = 0; k < 4; k++) {
    psdm_status status = cross_validate(g, estimator, weights[k], &score[k]);
    if (status) return status;
    least = fmin(least, score[k]);
    if (!psdmp_identify_progress(r, "choosing the prior's weight", 0.25 * k)) return PSDM_OK;
  }
  for (int k = 0; k < 4; k++)
    if (score[k] <= least + 0.005) {
      r->lambda = weights[k];
      break;
    }
  if (r->reasons < 8)
    psdmp_base_print(r->reason[r->reasons++], sizeof r->reason[0],
                     "prior: weight %g, the smallest whose cross-validated error is within 0.5 %% of the best",
                     r->lambda);
  return PSDM_OK;
}

/* weights of the drives from their own residuals, without the prior's pull: a poor prior must not weaken the data */
static psdm_status reweight(fitting *g, psdm_estimator estimator) {
  psdmp_identify_run *r = g->run;
  bool pulled = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  for (int round = 0; round < 3; round++) {
    psdmp_fit fit = {.theta = g->theta, .pi = g->pi, .phi = g->phi};
    psdm_status status = run_fit(g, &g->whole.rows, pulled ? PSDM_ESTIMATOR_WLS : estimator, r->lambda, &fit);
    if (status) return status;
    const double *phi = g->phi;
    for (int i = 0; i < r->n; i++) {
      double sum = residual(&g->whole.rows, i, g->theta, phi),
             free_rows = g->whole.count[i] - (double)r->l / r->n - r->choice[i].count;
      phi += r->choice[i].count;
      if (sum > 0 && free_rows > 1) r->sigma[i] = sqrt(sum / free_rows);
    }
    if (estimator == PSDM_ESTIMATOR_OLS) break;
  }
  return PSDM_OK;
}

static bool prepare_fit(fitting *g) {
  psdmp_identify_run *r = g->run;
  int own = all_columns(r);
  g->theta = PSDMP_BASE_NEW(&r->arena, r->l, double), g->pi = PSDMP_BASE_NEW(&r->arena, r->S, double),
  g->phi = PSDMP_BASE_NEW(&r->arena, own + 1, double), g->cost = PSDMP_BASE_NEW(&r->arena, r->n, double);
  g->nonnegative = PSDMP_BASE_NEW(&r->arena, r->n, bool *);
  if (!g->theta || !g->pi || !g->phi || !g->cost || !g->nonnegative) return false;
  for (int i = 0; i < r->n; i++) {
    g->nonnegative[i] = PSDMP_BASE_NEW(&r->arena, r->choice[i].count + 1, bool);
    if (!g->nonnegative[i]) return false;
    for (int k = 0; k < 2 && k < r->choice[i].count; k++) g->nonnegative[i][k] = true;
  }
  if (!psdmp_identify_select(r, &g->factors, (1u << PSDMP_IDENTIFY_BLOCKS) - 1, true, &g->whole)) return false;
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    bool any = false;
    for (int i = 0; i < r->n; i++)
      for (int rest = 0; rest < (r->rest > 0 ? 1 : 2); rest++)
        any |= g->factors.count[((long)i * PSDMP_IDENTIFY_BLOCKS + b) * 2 + rest] > 0;
    if (!any) continue;
    if (!psdmp_identify_select(r, &g->factors, 1u << b, true, &g->block[g->blocks])) return false;
    g->blocks++;
  }
  size_t one = psdmp_fit_scratch(&g->whole.rows), two = psdmp_fit_sandwich_scratch(&g->whole.rows);
  g->scratch = psdmp_base_alloc_raw(r->allocator, (one > two ? one : two) * sizeof(double));
  return g->scratch != NULL;
}

static void free_fit(fitting *g) {
  psdmp_identify_run *r = g->run;
  psdmp_identify_selected_free(r, &g->whole);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) psdmp_identify_selected_free(r, &g->block[b]);
  psdmp_identify_factors_free(r, &g->factors);
  psdmp_base_free(r->allocator, g->scratch);
}

/* ---- uncertainty ---- */

static psdm_status set_doubt(fitting *g, psdm_estimator estimator, psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  psdmp_fit_rows block[PSDMP_IDENTIFY_BLOCKS];
  for (int b = 0; b < g->blocks; b++) block[b] = g->block[b].rows;
  bool pulled = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  const psdmp_fit_options o = {.sigma = estimator == PSDM_ESTIMATOR_OLS ? NULL : r->sigma,
                               .prior = r->prior,
                               .lambda = pulled ? r->lambda : 0,
                               .nonnegative = (const bool *const *)g->nonnegative,
                               .drives_nonnegative = true,
                               .leave_out = true};
  psdmp_fit at = g->fit;
  /* its pull is the Hessian there, wherever the fit is */
  if (estimator == PSDM_ESTIMATOR_RIDGE) at.pi = r->prior, at.gap = 0;
  return psdmp_fit_sandwich(&g->whole.rows, g->blocks, block, &o, &at, pulled, g->scratch, a->covariance, a->share);
}

/* singular values of the regressor, columns scaled to length one and rows by sigma; and the weakly excited directions
   */
static bool set_singular(fitting *g, psdmp_identify_calibration *a, psdm_calibration *out) {
  psdmp_identify_run *r = g->run;
  int l = r->l, own = all_columns(r), W = l + own, at = l;
  psdmp_base_arena arena = {.allocator = r->allocator};
  long rows = 0;
  for (int i = 0; i < r->n; i++) rows += l + r->choice[i].count + 1;
  double *A = psdmp_base_arena_alloc(&arena, (size_t)rows * (size_t)W * sizeof *A),
         *V = psdmp_base_arena_alloc(&arena, (size_t)W * (size_t)W * sizeof *V);
  double *super = psdmp_base_arena_alloc(&arena, (size_t)W * sizeof *super);
  if (!A || !V || !super) return psdmp_base_arena_free(&arena), false;
  long row = 0;
  for (int i = 0; i < r->n; i++) {
    int k = r->choice[i].count, w = l + k + 1;
    for (int p = 0; p < w; p++, row++)
      for (int j = p; j < w - 1; j++)
        A[row * W + (j < l ? j : at + j - l)] = g->whole.R[i][(long)p * w + j] / r->sigma[i];
    at += k;
  }
  for (int j = 0; j < W; j++) {
    double length = 0;
    for (long p = 0; p < rows; p++) length += A[p * W + j] * A[p * W + j];
    for (long p = 0; p < rows && length > 0; p++) A[p * W + j] /= sqrt(length);
  }
  int code = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', (int)rows, W, A, W, a->singular, NULL, (int)rows, V, W, super);
  /* no condition number without convergence */
  bool found = code == 0, ok = code != LAPACK_WORK_MEMORY_ERROR && code != LAPACK_TRANSPOSE_MEMORY_ERROR;
  out->condition = found && a->singular[W - 1] > 0 ? a->singular[0] / a->singular[W - 1] : INFINITY;
  for (int k = W - 1; k >= 0 && found && ok && a->blinds < 64; k--) {
    if (a->singular[k] > 1e-3 * a->singular[0]) break;
    char text[512];
    int length = psdmp_base_print(text, sizeof text, "singular value %.1e: ", a->singular[k] / a->singular[0]),
        terms = 0;
    for (int j = 0; j < W && length < (int)sizeof text - 64; j++) {
      double share = V[(long)k * W + j];
      if (fabs(share) < 0.15) continue;
      length += psdmp_base_print(text + length, sizeof text - (size_t)length, "%s%.2g %s",
                                 terms++     ? (share < 0 ? " - " : " + ")
                                 : share < 0 ? "-"
                                             : "",
                                 fabs(share), j < l ? psdm_model_base_name(r->model, j) : "a friction column");
    }
    if (!(a->blind[a->blinds] = psdmp_base_arena_text(&r->arena, text, strlen(text)))) ok = false;
    else a->blinds++;
  }
  psdmp_base_arena_free(&arena);
  return ok;
}

/* ---- the result ---- */

void psdmp_identify_run_free(psdmp_identify_run *r) {
  const psdm_allocator *allocator = r->allocator;
  psdmp_feed_close(r->feed);
  psdmp_feed_checkpoint_free(r->checkpoint);
  psdm_model_free(r->model);
  psdm_work_free(r->work, allocator);
  psdmp_base_arena_free(&r->arena);
  psdmp_base_free(allocator, r);
}

static psdm_calibration *new_answer(psdmp_identify_run *r) {
  psdm_calibration *out = PSDMP_BASE_NEW(&r->arena, 1, psdm_calibration);
  psdmp_identify_calibration *a = PSDMP_BASE_NEW(&r->arena, 1, psdmp_identify_calibration);
  int own = all_columns(r), W = r->l + own;
  if (!out || !a) return NULL;
  out->internal = a;
  a->run = r;
  a->theta = PSDMP_BASE_NEW(&r->arena, r->l, double), a->gain = PSDMP_BASE_NEW(&r->arena, 16 * r->n, double),
  a->estimate = PSDMP_BASE_NEW(&r->arena, r->l, psdm_estimate), a->pi = PSDMP_BASE_NEW(&r->arena, r->S, double);
  a->covariance = PSDMP_BASE_NEW(&r->arena, (size_t)W * (size_t)W, double),
  a->singular = PSDMP_BASE_NEW(&r->arena, W, double), a->share = PSDMP_BASE_NEW(&r->arena, W, double),
  a->load = PSDMP_BASE_NEW(&r->arena, r->n, double);
  a->classical = PSDMP_BASE_NEW(&r->arena, (size_t)W * (size_t)W, double),
  a->folds = PSDMP_BASE_NEW(&r->arena, PSDMP_IDENTIFY_FOLDS * W, double),
  a->fold_rmse = PSDMP_BASE_NEW(&r->arena, PSDMP_IDENTIFY_FOLDS * r->n, double),
  a->essential = PSDMP_BASE_NEW(&r->arena, r->l, bool);
  a->column = PSDMP_BASE_NEW(&r->arena, r->n, psdm_column *), a->columns = PSDMP_BASE_NEW(&r->arena, r->n, int),
  a->fits = PSDMP_BASE_NEW(&r->arena, 2 * PSDM_FIT_PARTS * r->n, psdm_joint_fit);
  a->cross = PSDMP_BASE_NEW(&r->arena, r->n, psdmp_identify_folds),
  a->place = PSDMP_BASE_NEW(&r->arena, PSDMP_IDENTIFY_BLOCKS, psdmp_identify_error_place),
  a->file = PSDMP_BASE_NEW(&r->arena, 2 * r->options->files, double),
  a->worst = PSDMP_BASE_NEW(&r->arena, r->n, psdmp_identify_worst);
  if (!a->cross || !a->place || !a->file || !a->worst) return NULL;
  if (!a->theta || !a->gain || !a->estimate || !a->pi || !a->covariance || !a->singular || !a->share || !a->load ||
      !a->classical || !a->folds || !a->fold_rmse || !a->essential || !a->column || !a->columns || !a->fits)
    return NULL;
  for (int i = 0; i < r->n; i++)
    if (!(a->column[i] = PSDMP_BASE_NEW(&r->arena, r->choice[i].count + 1, psdm_column))) return NULL;
  return out;
}

static void fill_answer(const fitting *g, psdm_estimator estimator, psdm_calibration *out) {
  psdmp_identify_calibration *a = out->internal;
  psdmp_identify_run *r = a->run;
  int own = all_columns(r), W = r->l + own, at = r->l;
  const double *phi = g->phi;
  bool full = estimator == PSDM_ESTIMATOR_CONSISTENT || estimator == PSDM_ESTIMATOR_RIDGE;
  for (int j = 0; j < r->l; j++) {
    a->theta[j] = g->theta[j];
    a->estimate[j] = (psdm_estimate){.name = psdm_model_base_name(r->model, j),
                                     .value = g->theta[j],
                                     .sd = sqrt(fmax(a->covariance[(long)j * W + j], 0)),
                                     .prior_share = a->share[j],
                                     .essential = a->essential[j]};
  }
  for (int i = 0; i < r->n; i++) {
    a->columns[i] = r->choice[i].count;
    for (int k = 0; k < r->choice[i].count; k++, at++) {
      const psdmp_parameters_column *c = &r->dictionary[i].column[r->choice[i].take[k]];
      a->gain[16 * i + k] = *phi;
      a->column[i][k] = (psdm_column){.kind = c->kind,
                                      .width = c->width,
                                      .load = c->load,
                                      .gain = *phi++,
                                      .sd = sqrt(fmax(a->covariance[(long)at * W + at], 0))};
    }
  }
  memcpy(a->pi, g->pi, (size_t)r->S * sizeof *a->pi);
  *out = (psdm_calibration){
      .robot = r->robot,
      .estimator = estimator,
      .n = r->n,
      .base = r->l,
      .standard = r->S,
      .theta = a->estimate,
      .covariance = a->covariance,
      .pi = full ? a->pi : NULL,
      .prior = full ? r->prior : NULL,
      .prior_from_kinematics = r->prior_kinematics,
      .prior_mass = r->prior_mass,
      .columns = a->columns,
      .column = (const psdm_column *const *)a->column,
      .sigma = r->sigma,
      .speed = r->speed,
      .load = a->load,
      .theta_load = r->theta_load,
      .kinematics = r->band.kinematics,
      .cutoff = r->band.cutoff,
      .delay = r->band.delay,
      .lambda = full ? r->lambda : 0,
      .rest = r->rest,
      .stride = r->options->decimate > 1 ? r->options->decimate : psdmp_identify_band_stride(r, &r->band),
      .rate = 1 / r->interval,
      .singular = a->singular,
      .folds = PSDMP_IDENTIFY_FOLDS,
      .fold_rmse = a->fold_rmse,
      .rows = r->rows,
      .segments = psdmp_feed_segments(r->feed),
      .steps = g->fit.steps,
      .stopped = r->stopped,
      .internal = a};
  for (int k = 0; k < r->reasons; k++) memcpy(out->reasons[k], r->reason[k], sizeof out->reasons[k]);
  psdmp_feed_faults(r->feed, out->faults);
}

/* training cost over that of ordinary least squares with the same columns and weights */
static psdm_status set_cost_ratio(fitting *g, psdm_calibration *out) {
  psdmp_identify_run *r = g->run;
  double cost = 0, least = 0;
  const double *phi = g->phi;
  for (int i = 0; i < r->n; i++) {
    cost += residual(&g->whole.rows, i, g->theta, phi) / (r->sigma[i] * r->sigma[i]);
    phi += r->choice[i].count;
  }
  double *theta = PSDMP_BASE_NEW(&r->arena, r->l, double), *own = PSDMP_BASE_NEW(&r->arena, all_columns(r) + 1, double);
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

/* ---- estimators that need the rows again ---- */

typedef psdm_status (*walking_estimator)(psdmp_identify_run *run, psdmp_identify_estimated *e, psdm_error *error);

static walking_estimator walking(psdm_estimator estimator) {
  switch (estimator) {
    case PSDM_ESTIMATOR_ROBUST: return psdmp_identify_estimate_robust;
    case PSDM_ESTIMATOR_IV: return psdmp_identify_estimate_iv;
    case PSDM_ESTIMATOR_DIDIM: return psdmp_identify_estimate_didim;
    case PSDM_ESTIMATOR_ENERGY: return psdmp_identify_estimate_energy;
    default: return NULL;
  }
}

bool psdmp_identify_result_walks(psdm_estimator estimator) { return walking(estimator) != NULL; }

/* sigma of each drive: of its torque residuals */
static void set_sigma(fitting *g) {
  psdmp_identify_run *r = g->run;
  const double *phi = g->phi;
  for (int i = 0; i < r->n; phi += r->choice[i++].count) {
    double sum = residual(&g->whole.rows, i, g->theta, phi),
           free_rows = g->whole.count[i] - (double)r->l / r->n - r->choice[i].count;
    if (sum > 0 && free_rows > 1) r->sigma[i] = sqrt(sum / free_rows);
  }
}

/* reports torque errors much larger than those of the initial least squares */
static void say_worse(psdmp_identify_run *r, psdm_estimator estimator, const double *before) {
  double most = 0;
  for (int i = 0; i < r->n; i++) most = fmax(most, r->sigma[i] / before[i]);
  if (most > 1.5 && r->reasons < 8)
    psdmp_base_print(r->reason[r->reasons++], sizeof r->reason[0],
                     "%s: torque errors of a drive are %.1f times those of weighted least squares",
                     psdm_estimator_name(estimator), most);
}

/* starts at weighted least squares, or for simulation at a fit that can be simulated */
static psdm_status fit_walking(fitting *g, psdm_estimator estimator, psdmp_identify_calibration *a, psdm_error *error) {
  psdmp_identify_run *r = g->run;
  int own = all_columns(r), W = r->l + own;
  bool simulated = estimator == PSDM_ESTIMATOR_IV || estimator == PSDM_ESTIMATOR_DIDIM;
  double *x = PSDMP_BASE_NEW(&r->arena, W, double), *before = PSDMP_BASE_NEW(&r->arena, r->n, double);
  if (!x || !before) return psdmp_base_no_memory("", error);
  memcpy(before, r->sigma, (size_t)r->n * sizeof *before);
  g->fit = (psdmp_fit){.theta = g->theta, .pi = g->pi, .phi = g->phi, .cost = g->cost};
  psdm_status status =
      run_fit(g, &g->whole.rows, simulated ? PSDM_ESTIMATOR_CONSISTENT : PSDM_ESTIMATOR_WLS, r->lambda, &g->fit);
  if (status) return failed(r, status, error);
  memcpy(x, g->theta, (size_t)r->l * sizeof *x);
  memcpy(x + r->l, g->phi, (size_t)own * sizeof *x);
  psdmp_identify_estimated e = {.x = x, .covariance = a->covariance, .classical = a->classical, .folds = a->folds};
  status = walking(estimator)(r, &e, error);
  if (status) return status;
  memcpy(g->theta, x, (size_t)r->l * sizeof *x);
  memcpy(g->phi, x + r->l, (size_t)own * sizeof *x);
  g->fit.steps = e.steps;
  if (estimator == PSDM_ESTIMATOR_ROBUST) return PSDM_OK; /* a robust scale */
  set_sigma(g);
  say_worse(r, estimator, before);
  return PSDM_OK;
}

/* ---- folds, and non-essential parameters ---- */

/* results without each fold, for estimators on compressed rows */
static psdm_status fit_folds(fitting *g, psdm_estimator estimator, psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  long W = r->l + all_columns(r);
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
    psdmp_identify_selected train;
    if (!psdmp_identify_select(r, &g->factors, psdmp_identify_blocks_without(fold), true, &train)) return PSDM_E_MEMORY;
    psdmp_fit fit = {.theta = a->folds + fold * W, .phi = a->folds + fold * W + r->l};
    psdm_status status = run_fit(g, &train.rows, estimator, r->lambda, &fit);
    psdmp_identify_selected_free(r, &train);
    if (status) return status;
  }
  return PSDM_OK;
}

static psdm_status set_fold_rmse(fitting *g, psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  long W = r->l + all_columns(r);
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
    psdmp_identify_selected test;
    if (!psdmp_identify_select(r, &g->factors, ~psdmp_identify_blocks_without(fold) & psdmp_identify_blocks_all(), true,
                               &test))
      return PSDM_E_MEMORY;
    const double *theta = a->folds + fold * W, *phi = theta + r->l;
    for (int i = 0; i < r->n; phi += r->choice[i++].count)
      a->fold_rmse[fold * r->n + i] =
          test.count[i] > 0 ? sqrt(residual(&test.rows, i, theta, phi) / test.count[i]) : NAN;
    psdmp_identify_selected_free(r, &test);
  }
  return PSDM_OK;
}

/* ---- reference fits to the same rows ---- */

enum { PLAIN = 3 }; /* friction columns of plain least squares, the first of every choice: viscous, Coulomb, constant */

/* compressed rows with base parameters, the first columns, torque */
static bool plain_rows(fitting *g, const psdmp_identify_selected *from, psdmp_base_arena *arena, psdmp_fit_rows *to) {
  psdmp_identify_run *r = g->run;
  int l = r->l, v = l + PLAIN + 1, *extras = psdmp_base_arena_alloc(arena, (size_t)r->n * sizeof *extras);
  double **R = psdmp_base_arena_alloc(arena, (size_t)r->n * sizeof *R);
  *to = from->rows;
  if (!extras || !R) return false;
  for (int i = 0; i < r->n; i++) {
    int w = l + from->rows.extras[i] + 1;
    double *own = psdmp_base_arena_alloc(arena, (size_t)v * (size_t)v * sizeof *own),
           *X = psdmp_base_arena_alloc(arena, (size_t)w * (size_t)v * sizeof *X);
    double *scratch = psdmp_base_arena_alloc(arena, psdmp_linalg_factor_scratch(v, w) * sizeof *scratch);
    if (!own || !X || !scratch) return false;
    for (int row = 0; row < w; row++)
      for (int j = 0; j < v; j++) {
        int column = j < v - 1 ? j : w - 1;
        X[(long)row * v + j] = column >= row ? from->rows.R[i][(long)row * w + column] : 0;
      }
    psdmp_linalg_factor_add(v, own, w, X, scratch);
    R[i] = own;
    extras[i] = PLAIN;
  }
  to->extras = extras;
  to->R = R;
  return true;
}

/* sum of squares of drive i's torque less a constant, by its column of ones */
static double constant_error(const psdmp_fit_rows *rows, int i, double constant) {
  int l = rows->base, w = l + rows->extras[i] + 1;
  double sum = 0;
  for (int row = 0; row < w; row++) {
    double e = rows->R[i][(long)row * w + w - 1] - constant * (row <= l + 2 ? rows->R[i][(long)row * w + l + 2] : 0);
    sum += e * e;
  }
  return sum;
}

static double best_constant(const psdmp_fit_rows *rows, int i) {
  int l = rows->base, w = l + rows->extras[i] + 1;
  double top = 0, bottom = 0;
  for (int row = 0; row <= l + 2; row++) {
    double one = rows->R[i][(long)row * w + l + 2];
    top += one * rows->R[i][(long)row * w + w - 1], bottom += one * one;
  }
  return bottom > 0 ? top / bottom : 0;
}

/* one fold: fit the others by plain least squares and by a constant, and compare their errors with the result without
 * it */
static psdm_status add_cross(fitting *g, int fold, const psdmp_identify_selected *train,
                             const psdmp_identify_selected *test, psdmp_base_arena *arena,
                             psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  psdmp_fit_rows plain, plain_test;
  long W = r->l + all_columns(r);
  double *theta = psdmp_base_arena_alloc(arena, (size_t)r->l * sizeof *theta),
         *own = psdmp_base_arena_alloc(arena, PLAIN * (size_t)r->n * sizeof *own);
  if (!theta || !own || !plain_rows(g, train, arena, &plain) || !plain_rows(g, test, arena, &plain_test))
    return PSDM_E_MEMORY;
  psdmp_fit fit = {.theta = theta, .phi = own};
  psdm_status status = run_fit(g, &plain, PSDM_ESTIMATOR_OLS, 0, &fit);
  const double *phi = a->folds + fold * W + r->l;
  for (int i = 0; i < r->n; phi += r->choice[i++].count) {
    psdmp_identify_folds *c = &a->cross[i];
    if (!(test->count[i] > 0)) continue;
    c->count += test->count[i];
    c->own += residual(&test->rows, i, a->folds + fold * W, phi);
    c->plain += status ? NAN : residual(&plain_test, i, theta, own + PLAIN * i);
    c->constant += constant_error(&test->rows, i, best_constant(&train->rows, i));
    c->square += constant_error(&test->rows, i, 0);
  }
  return PSDM_OK;
}

static psdm_status set_cross(fitting *g, psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  psdm_status status = PSDM_OK;
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS && !status; fold++) {
    psdmp_identify_selected train = {0}, test = {0};
    psdmp_base_arena arena = {.allocator = r->allocator};
    bool ok = psdmp_identify_select(r, &g->factors, psdmp_identify_blocks_without(fold), true, &train);
    ok = ok && psdmp_identify_select(r, &g->factors, ~psdmp_identify_blocks_without(fold) & psdmp_identify_blocks_all(),
                                     true, &test);
    status = ok ? add_cross(g, fold, &train, &test, &arena, a) : PSDM_E_MEMORY;
    psdmp_base_arena_free(&arena);
    psdmp_identify_selected_free(r, &test);
    psdmp_identify_selected_free(r, &train);
  }
  return status;
}

static psdm_status set_essential(fitting *g, psdmp_identify_calibration *a) {
  psdmp_identify_run *r = g->run;
  int own = all_columns(r), W = r->l + own;
  double *scratch = psdmp_base_alloc_raw(r->allocator, ((size_t)W * (size_t)W + 3 * (size_t)W) * sizeof *scratch);
  if (!scratch) return PSDM_E_MEMORY;
  double *x = scratch + (long)W * W + W, *sd = x + W;
  memcpy(x, g->theta, (size_t)r->l * sizeof *x);
  memcpy(x + r->l, g->phi, (size_t)own * sizeof *x);
  for (int j = 0; j < W; j++) sd[j] = sqrt(fmax(a->covariance[(long)j * W + j], 0));
  psdmp_identify_essential(r->l, W, x, a->classical, sd, scratch, a->essential);
  psdmp_base_free(r->allocator, scratch);
  return PSDM_OK;
}

static psdm_status fit_rows(fitting *g, psdm_estimator estimator, psdmp_identify_calibration *a, psdm_error *error) {
  psdmp_identify_run *r = g->run;
  psdm_status status = choose_lambda(g, estimator);
  g->fit = (psdmp_fit){.theta = g->theta, .pi = g->pi, .phi = g->phi, .cost = g->cost, .covariance = a->classical};
  if (!status) status = run_fit(g, &g->whole.rows, estimator, r->lambda, &g->fit);
  if (!status) status = set_doubt(g, estimator, a);
  if (!status) status = fit_folds(g, estimator, a);
  return status ? failed(r, status, error) : PSDM_OK;
}

static psdm_status fit_all(fitting *g, psdm_estimator estimator, psdm_calibration *out, psdm_error *error) {
  psdmp_identify_run *r = g->run;
  psdmp_identify_calibration *a = out->internal;
  psdmp_identify_progress(r, "fitting", 0);
  psdm_status status = reweight(g, walking(estimator) ? PSDM_ESTIMATOR_WLS : estimator);
  if (status) return failed(r, status, error);
  status = walking(estimator) ? fit_walking(g, estimator, a, error) : fit_rows(g, estimator, a, error);
  if (status) return status;
  if ((status = set_fold_rmse(g, a)) || (status = set_cross(g, a)) || (status = set_essential(g, a)))
    return failed(r, status, error);
  fill_answer(g, estimator, out);
  if (!set_singular(g, a, out)) return psdmp_base_no_memory("", error);
  status = set_cost_ratio(g, out);
  return status ? failed(r, status, error) : PSDM_OK;
}

psdm_status psdmp_identify_result_make(psdmp_identify_run *r, psdm_calibration **out, psdm_error *error) {
  fitting g = {.run = r};
  psdm_estimator estimator = r->options->estimator;
  psdmp_identify_progress(r, "gathering", 0);
  r->finishing = r->stopped; /* the choices so far are still fitted, to the rows in memory */
  psdm_status status =
      psdmp_identify_gather_rows(r, &r->band, true, PSDMP_IDENTIFY_BLOCKS, !r->stopped, &g.factors, error);
  psdm_calibration *answer = status ? NULL : new_answer(r);
  if (!status && (!answer || !prepare_fit(&g))) status = psdmp_base_no_memory("", error);
  if (!status && g.blocks < 2)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, psdm_robot_name(r->robot), 0, 0,
                             "not enough rows are left to fit: the log is too short, or joints hardly move in it");
  if (!status) status = fit_all(&g, estimator, answer, error);
  free_fit(&g);
  if (status) return status;
  r->finishing = r->stopped;
  status = psdmp_identify_evaluate(answer->internal, !r->stopped, answer, error);
  answer->stopped = r->stopped;
  if (!status) psdmp_identify_verdict(answer->internal, answer);
  if (r->checkpoint)
    psdmp_feed_checkpoint_counts(r->checkpoint, &answer->parts_found, &answer->parts_saved, &answer->parts_stale,
                                 &answer->parts_damaged);
  answer->parts_found += r->parts_of_others[0], answer->parts_saved += r->parts_of_others[1],
      answer->parts_damaged += r->parts_of_others[2];
  if (!status) *out = answer;
  return status;
}

psdm_status psdm_calibration_clear(const psdm_calibration *c, long *removed, psdm_error *error) {
  const psdmp_identify_run *r = c->internal->run;
  long count = 0;
  psdm_status status =
      r->checkpoint && !c->stopped ? psdmp_feed_checkpoint_clear(r->checkpoint, &count, error) : PSDM_OK;
  if (removed) *removed = count;
  return status;
}

void psdm_calibration_free(psdm_calibration *c) {
  if (c) psdmp_identify_run_free(c->internal->run);
}

const char *psdm_calibration_fault(const psdm_calibration *c, int index) {
  return psdmp_feed_fault(c->internal->run->feed, index);
}
const char *psdm_calibration_blind(const psdm_calibration *c, int index) {
  return index >= 0 && index < c->internal->blinds ? c->internal->blind[index] : NULL;
}
