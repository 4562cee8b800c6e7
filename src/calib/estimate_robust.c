/* estimate_robust.c: iteratively reweighted least squares. Huber's weights first, which have one solution, then Tukey's, for which far outliers do not count at
 * all (Huber, Ronchetti 2009, chapter 7; Beaton, Tukey 1974). Scales are median absolute residuals, so that outliers do not set them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "calib/estimate.h"

static const double huber = 1.345, tukey = 4.685; /* 95 % efficient where residuals are normal */
static const double normal_median = 0.6744897501960817;
enum { BINS = 4096, ROUNDS = 12 };
static const double per_bin = 0.01;               /* bins of |residual| / scale are so much wider each */

typedef enum weighing { LOOK, HUBER, TUKEY } weighing;

typedef struct robust {
  psdmp_run *run;
  psdmp_blocks blocks;
  const double *x;
  double *scale;     /* (n) */
  long *seen;        /* (n x BINS) */
  weighing stage;
  bool settled;
  double weights, slopes, rows, out; /* sums of w and of d(w u)/du; how many rows; how many hardly count */
} robust;

/* w(u) = psi(u) / u, and psi'(u) */
static double weight(weighing stage, double u, double *slope) {
  double size = fabs(u), share = u / tukey * (u / tukey);
  *slope = 1;
  if (stage == LOOK) return 1;
  if (stage == HUBER) return size <= huber ? 1 : (*slope = 0, huber / size);
  if (share >= 1) return *slope = 0;
  *slope = (1 - share) * (1 - 5 * share);
  return (1 - share) * (1 - share);
}

static void note(long *seen, double u) {
  double at = BINS / 2 + log(fmax(fabs(u), 1e-300)) / per_bin;
  seen[at < 0 ? 0 : at >= BINS ? BINS - 1 : (int)at]++;
}

static double median(const long *seen) {
  long all = 0, below = 0;
  int k = 0;
  for (int b = 0; b < BINS; b++) all += seen[b];
  while (k < BINS - 1 && 2 * (below += seen[k]) < all) k++;
  return all ? exp((k + 0.5 - BINS / 2) * per_bin) : 0;
}

static psdm_status add(void *user, const psdmp_walk_row *row) {
  robust *b = user;
  psdmp_run *r = b->run;
  int l = r->l;
  const double *phi = b->x + l;
  for (int i = 0; i < r->n; phi += r->choice[i++].count) {
    int count = r->choice[i].count;
    if (!row->fitted[i]) continue;
    const double *Y = row->Y + (long)i * l, *F = row->F + 16L * i;
    double error = -row->tau[i], slope;
    for (int j = 0; j < l; j++) error += Y[j] * b->x[j];
    for (int k = 0; k < count; k++) error += F[k] * phi[k];
    double u = error / b->scale[i], w = weight(b->stage, u, &slope);
    note(b->seen + (long)i * BINS, u);
    b->weights += w, b->slopes += slope, b->rows++, b->out += w < 0.1;
    if (b->stage == LOOK || w == 0) continue;
    double *to = psdmp_blocks_row(&b->blocks, i, row->block), root = sqrt(w);
    for (int j = 0; j < l; j++) to[j] = root * Y[j];
    for (int k = 0; k < count; k++) to[l + k] = root * F[k];
    to[l + count] = root * row->tau[i];
  }
  return PSDM_OK;
}

/* one pass at x; the scales for the next one */
static psdm_status pass(robust *b, psdm_error *error) {
  psdmp_run *r = b->run;
  psdmp_blocks_clear(&b->blocks);
  memset(b->seen, 0, (size_t)r->n * BINS * sizeof *b->seen);
  b->weights = b->slopes = b->rows = b->out = 0;
  psdm_status status = psdmp_walk(r, !r->stopped, NULL, NULL, NULL, add, b, error);
  psdmp_blocks_flush(&b->blocks);
  for (int i = 0; i < r->n && !status && b->stage != TUKEY; i++) {
    double middle = median(b->seen + (long)i * BINS);
    if (middle > 0) b->scale[i] = fmax(b->scale[i] * middle / normal_median, 1e-12);
  }
  return status;
}

static psdm_status reweight(robust *b, psdmp_estimated *e, double *before, psdm_error *error) {
  psdmp_run *r = b->run;
  int W = psdmp_estimate_width(r);
  psdm_status status = pass(b, error);
  b->stage = HUBER;
  for (e->steps = 1; e->steps < ROUNDS && !b->settled && !status && (e->steps == 1 || !r->stopped); e->steps++) {
    memcpy(before, e->x, (size_t)W * sizeof *before);
    status = pass(b, error);
    if (!status && (status = psdmp_blocks_fit(r, &b->blocks, psdmp_blocks_all(), b->scale, e->x, e->classical))) psdmp_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
    bool still = !status && psdmp_estimate_change(W, before, e->x, e->classical) < 0.05;
    b->settled = still && b->stage == TUKEY;
    if (still || e->steps == ROUNDS / 2) b->stage = TUKEY;
    psdmp_going_on(r, "weighing outliers", (double)e->steps / ROUNDS);
  }
  return status;
}

psdm_status psdmp_estimate_robust(psdmp_run *r, psdmp_estimated *e, psdm_error *error) {
  psdmp_arena arena = {.allocator = r->allocator};
  int width[PSDM_CALIBRATE_JOINTS], W = psdmp_estimate_width(r);
  robust b = {.run = r, .x = e->x, .scale = r->sigma};
  for (int i = 0; i < r->n; i++) width[i] = r->l + r->choice[i].count + 1;
  b.seen = psdmp_arena_alloc(&arena, (size_t)r->n * BINS * sizeof *b.seen);
  double *before = psdmp_arena_alloc(&arena, (size_t)W * sizeof *before);
  bool ok = b.seen && before && psdmp_blocks_new(r->allocator, r->n, width, &b.blocks);
  psdm_status status = ok ? reweight(&b, e, before, error) : psdmp_fail(error, PSDM_E_MEMORY, "", 0, 0, "out of memory");
  if (!status && (status = psdmp_blocks_finish(r, &b.blocks, b.scale, e))) psdmp_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  /* the slope of psi, not its weight, belongs in the sandwich's bread */
  double bread = b.slopes > 0 ? b.weights / b.slopes : 1;
  for (long k = 0; k < (long)W * W && !status; k++) e->covariance[k] *= bread * bread;
  if (!status && r->reasons < 8)
    snprintf(r->reason[r->reasons++], sizeof r->reason[0], "robust: %.2g %% of the torques are outliers that hardly count%s", 100 * b.out / fmax(b.rows, 1),
             b.settled ? "" : "; weights have not settled");
  psdmp_blocks_free(&b.blocks);
  psdmp_arena_free(&arena);
  return status;
}
