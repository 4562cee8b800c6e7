/* estimate_robust.c: iteratively reweighted least squares. Huber's weights first, which have one solution, then
 * Tukey's, for which far outliers do not count at all (Huber, Ronchetti 2009, chapter 7; Beaton, Tukey 1974). Scales
 * are median absolute residuals, so that outliers do not set them. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

static const double huber = 1.345, tukey = 4.685; /* 95 % efficient where residuals are normal */
static const double normal_median = 0.6744897501960817;
enum { BINS = 4096, ROUNDS = 12 };
static const double per_bin = 0.01; /* bins of |residual| / scale are so much wider each */

typedef enum weighing { LOOK, HUBER, TUKEY } weighing;

enum {
  WEIGHTS,
  SLOPES,
  ROWS,
  OUT,
  SUMS
}; /* sums of w and of d(w u)/du; number of rows; number with negligible weight
                                              */

typedef struct robust {
  psdmp_identify_pass pass;
  psdmp_linalg_blocks blocks;
  double *scale;   /* (n) */
  double *numbers; /* (SUMS), then how often each bin was hit (n x BINS) */
  bool settled;
} robust;

long psdmp_identify_robust_numbers(const psdmp_identify_run *r) { return SUMS + (long)r->n * BINS; }

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

static void note(double *seen, double u) {
  double at = BINS / 2 + log(fabs(u)) / per_bin;
  seen[(int)fmin(fmax(at, 0), BINS - 1)]++; /* the first one also for NaN */
}

static double median(const double *seen) {
  double all = 0, below = 0;
  int k = 0;
  for (int b = 0; b < BINS; b++) all += seen[b];
  while (2 * (below += seen[k]) < all) k++;
  return all > 0 ? exp((k + 0.5 - BINS / 2) * per_bin) : 0;
}

void psdmp_identify_robust_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  const psdmp_identify_pass *pass = to->pass;
  psdmp_identify_run *r = to->run;
  int l = r->l;
  const double *phi = pass->x + l;
  double *sum = to->numbers;
  for (int i = 0; i < r->n; phi += r->choice[i++].count) {
    int count = r->choice[i].count;
    if (!row->fitted[i]) continue;
    const double *Y = row->Y + (long)i * l, *F = row->F + 16L * i;
    double error = -row->tau[i], slope;
    for (int j = 0; j < l; j++) error += Y[j] * pass->x[j];
    for (int k = 0; k < count; k++) error += F[k] * phi[k];
    double u = error / pass->scale[i], w = weight((weighing)pass->stage, u, &slope);
    note(sum + SUMS + (long)i * BINS, u);
    sum[WEIGHTS] += w, sum[SLOPES] += slope, sum[ROWS]++, sum[OUT] += w < 0.1;
    if (pass->stage == LOOK || w == 0) continue;
    double *equation = psdmp_linalg_blocks_row(&to->blocks, i, row->block), root = sqrt(w);
    for (int j = 0; j < l; j++) equation[j] = root * Y[j];
    for (int k = 0; k < count; k++) equation[l + k] = root * F[k];
    equation[l + count] = root * row->tau[i];
  }
}

/* one pass at x; the scales for the next one */
static psdm_status pass_once(robust *b, psdm_error *error) {
  psdmp_identify_run *r = b->pass.run;
  b->pass.all = !r->stopped;
  psdm_status status = psdmp_identify_pass_run(&b->pass, &b->blocks, b->numbers, error);
  for (int i = 0; i < r->n && !status && b->pass.stage != TUKEY; i++) {
    double middle = median(b->numbers + SUMS + (long)i * BINS);
    if (middle > 0) b->scale[i] = fmax(b->scale[i] * middle / normal_median, 1e-12);
  }
  return status;
}

static psdm_status reweight(robust *b, psdmp_identify_estimated *e, double *before, psdm_error *error) {
  psdmp_identify_run *r = b->pass.run;
  int W = psdmp_identify_estimate_width(r);
  psdm_status status = pass_once(b, error);
  b->pass.stage = HUBER;
  for (e->steps = 1; e->steps < ROUNDS && !b->settled && !status && (e->steps == 1 || !r->stopped); e->steps++) {
    memcpy(before, e->x, (size_t)W * sizeof *before);
    status = pass_once(b, error);
    if (!status &&
        (status = psdmp_identify_blocks_fit(r, &b->blocks, psdmp_identify_blocks_all(), b->scale, e->x, e->classical)))
      psdmp_base_fail_status(error, status);
    bool still = !status && psdmp_identify_estimate_change(W, before, e->x, e->classical) < 0.05;
    b->settled = still && b->pass.stage == TUKEY;
    if (still || e->steps == ROUNDS / 2) b->pass.stage = TUKEY;
    psdmp_identify_progress(r, "weighing outliers", -1);
  }
  return status;
}

psdm_status psdmp_identify_estimate_robust(psdmp_identify_run *r, psdmp_identify_estimated *e, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = r->allocator};
  int W = psdmp_identify_estimate_width(r);
  robust b = {.pass = {.kind = PSDMP_IDENTIFY_PASS_ROBUST, .run = r, .stage = LOOK, .x = e->x, .scale = r->sigma},
              .scale = r->sigma};
  psdmp_identify_pass_shape(&b.pass);
  b.numbers = psdmp_base_arena_alloc(&arena, (size_t)b.pass.numbers * sizeof *b.numbers);
  double *before = psdmp_base_arena_alloc(&arena, (size_t)W * sizeof *before);
  bool ok = b.numbers && before &&
            psdmp_linalg_blocks_new(r->allocator, b.pass.equations, b.pass.width, PSDMP_IDENTIFY_BLOCKS, &b.blocks);
  psdm_status status = ok ? reweight(&b, e, before, error) : psdmp_base_no_memory("", error);
  if (!status && (status = psdmp_identify_blocks_finish(r, &b.blocks, b.scale, e)))
    psdmp_base_fail_status(error, status);
  /* the sandwich's bread uses the slope of psi, not its weight */
  double bread = ok && b.numbers[SLOPES] > 0 ? b.numbers[WEIGHTS] / b.numbers[SLOPES] : 1;
  for (long k = 0; k < (long)W * W && !status; k++) e->covariance[k] *= bread * bread;
  if (!status && r->reasons < 8)
    psdmp_base_print(r->reason[r->reasons++], sizeof r->reason[0],
                     "robust: %.2g %% of the torques are outliers that hardly count%s",
                     100 * b.numbers[OUT] / fmax(b.numbers[ROWS], 1), b.settled ? "" : "; weights have not converged");
  psdmp_linalg_blocks_free(&b.blocks);
  psdmp_base_arena_free(&arena);
  return status;
}
