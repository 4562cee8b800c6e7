/* evaluate.c: torque errors of the result over all rows, by threads and ranks. */
#include "identify/evaluate_priv.h"

#include <math.h>
#include <string.h>

/* ---- parts ---- */

void psdmp_identify_evaluated_free(void *user, void *part) {
  const psdm_allocator *a = ((psdmp_identify_calibration *)user)->run->allocator;
  psdmp_identify_evaluated *e = part;
  if (!e) return;
  psdmp_identify_open_free(&e->open);
  void *const parts[] = {e->sum, e->load, e->product, e->lags, e->residual, e->place, e->file, e->worst, e};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
}

void *psdmp_identify_evaluated_new(void *user) {
  const psdmp_identify_run *r = ((psdmp_identify_calibration *)user)->run;
  const psdm_allocator *a = r->allocator;
  size_t n = (size_t)r->n;
  psdmp_identify_evaluated *e = psdmp_base_alloc(a, sizeof *e);
  if (!e) return NULL;
  e->open.allocator = a;
  e->sum = psdmp_base_alloc(a, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  e->load = psdmp_base_alloc(a, n * sizeof *e->load);
  e->product = psdmp_base_alloc(a, n * sizeof *e->product);
  e->lags = psdmp_base_alloc(a, n * PSDMP_IDENTIFY_LAGS * sizeof *e->lags);
  e->place = psdmp_base_alloc(a, PSDMP_IDENTIFY_BLOCKS * sizeof *e->place);
  e->file = psdmp_base_alloc(a, 2 * (size_t)r->options->files * sizeof *e->file);
  e->worst = psdmp_base_alloc(a, n * sizeof *e->worst);
  if (e->sum && e->load && e->product && e->lags && e->place && e->file && e->worst) return e;
  psdmp_identify_evaluated_free(user, e);
  return NULL;
}

static void part_put(void *user, const void *part, psdmp_parallel_bytes *to) {
  size_t n = (size_t)((psdmp_identify_calibration *)user)->run->n;
  const psdmp_identify_evaluated *e = part;
  psdmp_parallel_bytes_put(to, e->sum, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  psdmp_parallel_bytes_put(to, e->load, n * sizeof *e->load);
  psdmp_parallel_bytes_put(to, e->product, n * sizeof *e->product);
  psdmp_parallel_bytes_put(to, e->lags, n * PSDMP_IDENTIFY_LAGS * sizeof *e->lags);
  psdmp_parallel_bytes_put(to, e->place, PSDMP_IDENTIFY_BLOCKS * sizeof *e->place);
  psdmp_parallel_bytes_put(to, e->file,
                           2 * (size_t)((psdmp_identify_calibration *)user)->run->options->files * sizeof *e->file);
  psdmp_parallel_bytes_put(to, e->worst, n * sizeof *e->worst);
  PSDMP_PARALLEL_PUT(to, e->loads);
  psdmp_identify_open_put(&e->open, to);
  PSDMP_PARALLEL_PUT(to, e->residuals);
  psdmp_parallel_bytes_put(to, e->residual, (size_t)e->residuals * (n + 1) * sizeof *e->residual);
}

static bool get_residuals(const psdmp_identify_run *r, psdmp_identify_evaluated *e, psdmp_parallel_bytes *from) {
  size_t row = ((size_t)r->n + 1) * sizeof *e->residual;
  e->residuals = e->residual_room = psdmp_parallel_bytes_count(from, row);
  if (e->residuals <= 0) return !from->failed;
  if (!(e->residual = psdmp_base_alloc_raw(r->allocator, (size_t)e->residuals * row))) return false;
  psdmp_parallel_bytes_get(from, e->residual, (size_t)e->residuals * row);
  return !from->failed;
}

static void *part_get(void *user, psdmp_parallel_bytes *from) {
  const psdmp_identify_run *r = ((psdmp_identify_calibration *)user)->run;
  size_t n = (size_t)r->n;
  psdmp_identify_evaluated *e = psdmp_identify_evaluated_new(user);
  if (!e) return NULL;
  psdmp_parallel_bytes_get(from, e->sum, 2 * PSDM_FIT_PARTS * n * sizeof *e->sum);
  psdmp_parallel_bytes_get(from, e->load, n * sizeof *e->load);
  psdmp_parallel_bytes_get(from, e->product, n * sizeof *e->product);
  psdmp_parallel_bytes_get(from, e->lags, n * PSDMP_IDENTIFY_LAGS * sizeof *e->lags);
  psdmp_parallel_bytes_get(from, e->place, PSDMP_IDENTIFY_BLOCKS * sizeof *e->place);
  psdmp_parallel_bytes_get(from, e->file, 2 * (size_t)r->options->files * sizeof *e->file);
  psdmp_parallel_bytes_get(from, e->worst, n * sizeof *e->worst);
  PSDMP_PARALLEL_GET(from, e->loads);
  if (psdmp_identify_open_get(&e->open, from) && get_residuals(r, e, from)) return e;
  psdmp_identify_evaluated_free(user, e);
  return NULL;
}

/* ---- threads ---- */

static void *space_new(void *user, psdmp_identify_run *own) {
  return psdmp_identify_evaluation_new(user, own, own->options->decimate > 1);
}

static void space_free(void *user, void *space) {
  (void)user;
  psdmp_identify_evaluation_free(space);
}

static psdm_status add_part(void *space, void *part, const psdmp_feed_stretch *s, psdm_error *error) {
  psdmp_identify_evaluation *e = space;
  e->to = part;
  if (e->sieve) psdmp_identify_open_begin(&e->to->open, e->sieve, s);
  psdm_status status = psdmp_identify_evaluation_rows(e, s, error);
  if (!status && e->sieve && !psdmp_identify_open_take(&e->to->open, e->sieve, true, psdmp_identify_evaluation_mean, e))
    status = psdmp_base_no_memory("", error);
  return !status && e->to->failed ? psdmp_base_no_memory("", error) : status;
}

/* ---- sums of sums ---- */

static psdm_status merge_residuals(psdmp_identify_run *r, psdmp_identify_evaluated *e,
                                   const psdmp_identify_evaluated *f) {
  size_t row = ((size_t)r->n + 1) * sizeof *e->residual;
  long all = e->residuals + f->residuals;
  if (!f->residuals) return PSDM_OK;
  double *both = psdmp_base_alloc_raw(r->allocator, (size_t)all * row);
  if (!both) return PSDM_E_MEMORY;
  if (e->residuals) memcpy(both, e->residual, (size_t)e->residuals * row);
  memcpy((char *)both + (size_t)e->residuals * row, f->residual, (size_t)f->residuals * row);
  psdmp_base_free(r->allocator, e->residual);
  e->residual = both;
  e->residuals = e->residual_room = all;
  return PSDM_OK;
}

/* means across the seam come after the first part's rows, and before the second one's */
static psdm_status merge_means(psdmp_identify_calibration *a, psdmp_identify_evaluated *e,
                               psdmp_identify_evaluated *f) {
  if (a->run->options->decimate <= 1) return PSDM_OK;
  psdmp_identify_evaluation *space = psdmp_identify_evaluation_new(a, a->run, false);
  if (!space) return PSDM_E_MEMORY;
  space->to = e;
  bool ok = psdmp_identify_open_merge(&e->open, &f->open, psdmp_identify_evaluation_mean, space) && !e->failed;
  psdmp_identify_evaluation_free(space);
  return ok ? merge_residuals(a->run, e, f) : PSDM_E_MEMORY;
}

/* right's rows come after left's */
static void merge_places(const psdmp_identify_run *r, psdmp_identify_evaluated *e, const psdmp_identify_evaluated *f) {
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    psdmp_identify_error_place *p = &e->place[b];
    const psdmp_identify_error_place *q = &f->place[b];
    if (!q->rows) continue;
    if (!p->rows) p->file = q->file, p->from = q->from;
    if (p->file == q->file) p->to = q->to;
    p->rows += q->rows, p->error += q->error, p->square += q->square;
  }
  for (int k = 0; k < 2 * r->options->files; k++) e->file[k] += f->file[k];
  for (int i = 0; i < r->n; i++)
    if (fabs(f->worst[i].error) > fabs(e->worst[i].error)) e->worst[i] = f->worst[i];
}

static psdm_status part_merge(void *user, void *left, void *right) {
  int n = ((psdmp_identify_calibration *)user)->run->n;
  psdmp_identify_evaluated *e = left, *f = right;
  psdm_status status = merge_means(user, e, f);
  for (int k = 0; k < 2 * PSDM_FIT_PARTS * n; k++) psdmp_identify_tally_merge(&e->sum[k], &f->sum[k]);
  for (int i = 0; i < n; i++) e->load[i] += f->load[i], e->product[i] += f->product[i];
  for (int i = 0; i < n * PSDMP_IDENTIFY_LAGS; i++) e->lags[i] += f->lags[i];
  e->loads += f->loads;
  merge_places(((psdmp_identify_calibration *)user)->run, e, f);
  psdmp_identify_evaluated_free(user, right);
  return status;
}

/* after the last row: pending means, and the autocorrelation of the kept residuals */
static psdm_status part_end(psdmp_identify_calibration *a, psdmp_identify_evaluated *e) {
  psdmp_identify_run *r = a->run;
  long width = r->n + 1, seen = 0;
  if (r->options->decimate <= 1) return PSDM_OK;
  psdmp_identify_evaluation *space = psdmp_identify_evaluation_new(a, r, false);
  if (!space) return PSDM_E_MEMORY;
  space->to = e;
  psdmp_identify_open_end(&e->open, psdmp_identify_evaluation_mean, space);
  for (long k = 0; k < e->residuals; k++, seen++) {
    const double *row = e->residual + k * width;
    if (k && row[0] != row[-width]) seen = 0; /* a segment starts */
    for (int i = 0; i < r->n; i++)
      psdmp_identify_evaluated_lags(e, i, row[1 + i], seen, space->history + (long)i * PSDMP_IDENTIFY_LAGS);
  }
  psdmp_identify_evaluation_free(space);
  return e->failed ? PSDM_E_MEMORY : PSDM_OK;
}

/* ---- all rows ---- */

static psdmp_identify_sum evaluate_sum(psdmp_identify_calibration *a) {
  return (psdmp_identify_sum){.name = "evaluate",
                              .work = PSDMP_IDENTIFY_WORK_EVALUATE,
                              .doing = "evaluating",
                              .user = a,
                              .space_new = space_new,
                              .space_free = space_free,
                              .part_new = psdmp_identify_evaluated_new,
                              .add = add_part,
                              .merge = part_merge,
                              .part_free = psdmp_identify_evaluated_free,
                              .put = part_put,
                              .get = part_get};
}

static psdm_status sum_rows(psdmp_identify_calibration *a, bool all, void **part, psdm_error *error) {
  psdmp_identify_run *r = a->run;
  psdmp_identify_sum sum = evaluate_sum(a);
  psdmp_parallel_bytes request = {.allocator = r->allocator};
  psdmp_identify_run_put(r, &r->band, true, &request);
  psdmp_parallel_bytes_put(&request, a->theta, (size_t)r->l * sizeof *a->theta);
  psdmp_parallel_bytes_put(&request, a->gain, 16 * (size_t)r->n * sizeof *a->gain);
  PSDMP_PARALLEL_PUT(&request, all);
  psdm_status status =
      psdmp_identify_sum_rows(r, &sum, &request, all, psdmp_identify_band_margin(r, &r->band), part, error);
  psdmp_parallel_bytes_free(&request);
  if (!status && !*part && !(*part = psdmp_identify_evaluated_new(a))) return psdmp_base_no_memory("", error);
  return status || !(status = part_end(a, *part)) ? status : psdmp_base_no_memory("", error);
}

psdm_status psdmp_identify_serve_evaluate(psdmp_identify_run *r, psdmp_parallel_bytes *request,
                                          psdmp_parallel_bytes *answer, psdm_error *error) {
  psdmp_identify_calibration a = {.run = r};
  psdmp_base_arena arena = {.allocator = r->allocator};
  bool all;
  a.theta = psdmp_base_arena_alloc(&arena, (size_t)r->l * sizeof *a.theta);
  a.gain = psdmp_base_arena_alloc(&arena, 16 * (size_t)r->n * sizeof *a.gain);
  psdm_status status =
      a.theta && a.gain && psdmp_identify_run_get(r, &r->band, request) ? PSDM_OK : psdmp_base_no_memory("", error);
  if (!status) {
    psdmp_identify_sum sum = evaluate_sum(&a);
    psdmp_parallel_bytes_get(request, a.theta, (size_t)r->l * sizeof *a.theta);
    psdmp_parallel_bytes_get(request, a.gain, 16 * (size_t)r->n * sizeof *a.gain);
    PSDMP_PARALLEL_GET(request, all);
    status = request->failed ? psdmp_base_no_memory("", error)
                             : psdmp_identify_sum_serve(r, &sum, request, all, psdmp_identify_band_margin(r, &r->band),
                                                        answer, error);
  }
  psdmp_base_arena_free(&arena);
  return status;
}

static psdm_part_fit part_of(int n, const psdmp_identify_evaluated *e, int held, int part, psdm_joint_fit *fits) {
  const psdmp_identify_tally *s = e->sum + ((long)held * PSDM_FIT_PARTS + part) * n;
  double rows = 0;
  for (int i = 0; i < n; i++) fits[i] = psdmp_identify_tally_fit(&s[i]), rows += s[i].count;
  return (psdm_part_fit){.joint = fits, .global_rel = psdmp_identify_tally_rel(n, s), .rows = (long)rows};
}

static void set_fits(const psdmp_identify_evaluated *e, psdmp_identify_calibration *a, psdm_calibration *out) {
  int n = a->run->n, counted = 0;
  for (int held = 0; held < 2; held++)
    for (int part = 0; part < PSDM_FIT_PARTS; part++)
      *(held ? &out->heldout[part] : &out->train[part]) =
          part_of(n, e, held, part, a->fits + ((long)held * PSDM_FIT_PARTS + part) * n);
  memcpy(a->place, e->place, PSDMP_IDENTIFY_BLOCKS * sizeof *a->place);
  memcpy(a->file, e->file, 2 * (size_t)a->run->options->files * sizeof *a->file);
  memcpy(a->worst, e->worst, (size_t)n * sizeof *a->worst);
  for (int i = 0; i < n && e->loads; i++) a->load[i] = e->load[i] / (double)e->loads;
  for (int i = 0; i < n; i++) {
    const double *lags = e->lags + (long)i * PSDMP_IDENTIFY_LAGS;
    if (!(lags[0] > 0)) continue;
    int zero = 1;
    while (zero < PSDMP_IDENTIFY_LAGS - 1 && lags[zero] > 0) zero++;
    out->durbin_watson += e->product[i] / lags[0];
    out->correlation += zero;
    counted++;
  }
  if (counted) out->durbin_watson /= counted, out->correlation /= counted;
  for (int i = 0; i < n; i++) out->used += out->train[PSDM_FIT_ALL].joint[i].rows / n;
}

psdm_status psdmp_identify_evaluate(psdmp_identify_calibration *a, bool all, psdm_calibration *out, psdm_error *error) {
  void *sums = NULL;
  psdm_status status = sum_rows(a, all, &sums, error);
  if (!status) set_fits(sums, a, out);
  psdmp_identify_evaluated_free(a, sums);
  return status;
}
