/* estimate_blocks.c: triangles of rows per block of time, and least squares on them. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "linalg/linalg.h"

int psdmp_identify_estimate_width(const psdmp_identify_run *r) {
  int sum = r->l;
  for (int i = 0; i < r->n; i++) sum += r->choice[i].count;
  return sum;
}

double psdmp_identify_estimate_change(int W, const double *before, const double *x, const double *classical) {
  double most = 0;
  for (int j = 0; j < W; j++) {
    double variance = classical[(long)j * W + j];
    if (variance > 0) most = fmax(most, fabs(x[j] - before[j]) / sqrt(variance));
  }
  return most;
}

/* ---- some blocks together ---- */

unsigned psdmp_identify_blocks_all(void) { return (1u << PSDMP_IDENTIFY_BLOCKS) - 1; }

unsigned psdmp_identify_blocks_without(int fold) {
  unsigned mask = 0;
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++)
    if (b * PSDMP_IDENTIFY_FOLDS / PSDMP_IDENTIFY_BLOCKS != fold) mask |= 1u << b;
  return mask;
}

/* rows of some blocks in the form that the fits take; all memory is the arena's */
static bool take(psdmp_identify_run *r, psdmp_linalg_blocks *b, unsigned mask, psdmp_base_arena *arena,
                 psdmp_fit_rows *out) {
  size_t n = (size_t)b->n;
  int *extras = psdmp_base_arena_alloc(arena, n * sizeof *extras);
  double **R = psdmp_base_arena_alloc(arena, n * sizeof *R), *count = psdmp_base_arena_alloc(arena, n * sizeof *count);
  if (!extras || !R || !count) return false;
  for (int i = 0; i < b->n; i++) {
    size_t w = (size_t)b->width[i];
    extras[i] = b->width[i] - r->l - 1;
    if (!(R[i] = psdmp_base_arena_alloc(arena, w * w * sizeof **R))) return false;
    count[i] = psdmp_linalg_blocks_stack(b, i, mask, R[i]);
  }
  *out = (psdmp_fit_rows){.n = b->n,
                          .base = r->l,
                          .standard = r->S,
                          .links = r->links,
                          .K = r->K,
                          .extras = extras,
                          .R = R,
                          .count = count};
  return true;
}

psdm_status psdmp_identify_blocks_fit(psdmp_identify_run *r, psdmp_linalg_blocks *b, unsigned mask, const double *sigma,
                                      double *x, double *covariance) {
  psdmp_base_arena arena = {.allocator = r->allocator};
  psdmp_fit_rows rows;
  const psdmp_fit_options o = {.sigma = sigma};
  psdmp_fit fit = {.theta = x, .phi = x + r->l, .covariance = covariance};
  psdm_status status = PSDM_E_MEMORY;
  if (take(r, b, mask, &arena, &rows)) {
    double *scratch = psdmp_base_arena_alloc_raw(&arena, psdmp_fit_scratch(&rows) * sizeof *scratch);
    if (scratch) status = psdmp_fit_linear(&rows, &o, scratch, &fit);
  }
  psdmp_base_arena_free(&arena);
  return status;
}

psdm_status psdmp_identify_blocks_finish(psdmp_identify_run *r, psdmp_linalg_blocks *b, const double *sigma,
                                         psdmp_identify_estimated *e) {
  psdmp_base_arena arena = {.allocator = r->allocator};
  psdmp_fit_rows whole, block[PSDMP_IDENTIFY_BLOCKS];
  int blocks = 0, W = psdmp_identify_estimate_width(r);
  psdm_status status = psdmp_identify_blocks_fit(r, b, psdmp_identify_blocks_all(), sigma, e->x, e->classical);
  bool ok = !status && take(r, b, psdmp_identify_blocks_all(), &arena, &whole);
  for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS && ok; k++) {
    double any = 0;
    for (int i = 0; i < b->n; i++) any += b->count[i * PSDMP_IDENTIFY_BLOCKS + k];
    if (any > 0) ok = take(r, b, 1u << k, &arena, &block[blocks++]);
  }
  double *scratch =
      ok ? psdmp_base_arena_alloc_raw(&arena, psdmp_fit_sandwich_scratch(&whole) * sizeof *scratch) : NULL;
  if (!status && !scratch) status = PSDM_E_MEMORY;
  const psdmp_fit_options o = {.sigma = sigma};
  const psdmp_fit fit = {.theta = e->x, .phi = e->x + r->l};
  if (!status) status = psdmp_fit_sandwich(&whole, blocks, block, &o, &fit, false, scratch, e->covariance, NULL);
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS && !status; fold++)
    status =
        psdmp_identify_blocks_fit(r, b, psdmp_identify_blocks_without(fold), sigma, e->folds + (long)fold * W, NULL);
  psdmp_base_arena_free(&arena);
  return status;
}

psdm_status psdmp_identify_blocks_jackknife(psdmp_identify_run *r, psdmp_linalg_blocks *b, const double *sigma,
                                            const double *x, double *covariance) {
  int W = psdmp_identify_estimate_width(r), blocks = 0;
  double *without = psdmp_base_alloc_raw(r->allocator, (size_t)W * sizeof *without);
  psdm_status status = without ? PSDM_OK : PSDM_E_MEMORY;
  memset(covariance, 0, (size_t)W * (size_t)W * sizeof *covariance);
  for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS && !status; k++) {
    double any = 0;
    for (int i = 0; i < b->n; i++) any += b->count[i * PSDMP_IDENTIFY_BLOCKS + k];
    if (!(any > 0)) continue;
    blocks++;
    status = psdmp_identify_blocks_fit(r, b, psdmp_identify_blocks_all() & ~(1u << k), sigma, without, NULL);
    for (int i = 0; i < W && !status; i++)
      for (int j = 0; j < W; j++) covariance[(long)i * W + j] += (without[i] - x[i]) * (without[j] - x[j]);
  }
  for (long k = 0; k < (long)W * W && blocks > 0; k++) covariance[k] *= (blocks - 1.0) / blocks;
  psdmp_base_free(r->allocator, without);
  return status;
}
