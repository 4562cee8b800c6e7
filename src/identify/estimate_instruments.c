/* estimate_instruments.c: Z^T W x = Z^T tau without the normal equations. Of each drive the triangle of [Z W tau] is
 * kept. With Z = Q R_Z the equations are Q^T W x = Q^T tau, which are rows of that triangle. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "linalg/linalg.h"

/* position of column k of [Z W] of a drive, whose own columns begin at `first`, among the unknowns */
static int unknown(const psdmp_identify_run *r, int drive, int first, int k) {
  int half = r->l + r->choice[drive].count, at = k % half;
  return at < r->l ? at : first + at - r->l;
}

/* T: the triangle of all drives' [Z W tau] over some blocks, divided by sigma; returns the rows */
static double stack(psdmp_identify_instruments *v, unsigned mask) {
  psdmp_identify_run *r = v->run;
  int W = v->W, G = 2 * W + 1;
  double rows = 0;
  memset(v->T, 0, (size_t)G * (size_t)G * sizeof *v->T);
  for (int i = 0, first = r->l; i < r->n; first += r->choice[i++].count) {
    int w = v->blocks.width[i], half = w / 2;
    rows += psdmp_linalg_blocks_stack(&v->blocks, i, mask, v->stacked);
    memset(v->X, 0, (size_t)w * (size_t)G * sizeof *v->X);
    for (int row = 0; row < w; row++)
      for (int k = row; k < w; k++) {
        int to = k == w - 1 ? 2 * W : k < half ? unknown(r, i, first, k) : W + unknown(r, i, first, k);
        v->X[(long)row * G + to] = v->stacked[(long)row * w + k] / r->sigma[i];
      }
    psdmp_linalg_factor_add(G, v->T, w, v->X, v->scratch);
  }
  return rows;
}

bool psdmp_identify_instruments_solve(psdmp_identify_instruments *v, unsigned mask, double *x, double *rows) {
  int W = v->W, G = 2 * W + 1;
  *rows = stack(v, mask);
  for (int k = 0; k < W; k++) {
    v->length[k] = 0;
    for (int i = 0; i < W; i++) v->length[k] = hypot(v->length[k], v->T[(long)i * G + W + k]);
    if (!(v->length[k] > 0) || !(fabs(v->T[(long)k * G + k]) > 0)) return false;
    for (int i = 0; i < W; i++) v->A[i + (long)k * W] = v->T[(long)i * G + W + k] / v->length[k];
    v->B[k] = v->T[(long)k * G + 2 * W];
    v->B[(long)(k + 1) * W + k] = 1;
  }
  if (!psdmp_linalg_solve_refined(W, W + 1, v->A, v->B, v->solved, v->LU, v->pivot, v->residual, v->sum)) return false;
  for (int c = 0; c <= W; c++)
    for (int k = 0; k < W; k++) v->solved[k + (long)c * W] /= v->length[k];
  memcpy(x, v->solved, (size_t)W * sizeof *x);
  for (int k = 0; k < W; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

/* ---- uncertainty ---- */

/* s^2 A^-1 A^-T, A = Q^T W: the covariance of x under white noise */
static void set_classical(psdmp_identify_instruments *v, double rows, const double *x, double *classical) {
  int W = v->W, G = 2 * W + 1;
  double square = 0;
  for (int i = 0; i < G; i++) {
    double e = -v->T[(long)i * G + 2 * W];
    for (int k = i > W ? i : W; k < 2 * W; k++) e += v->T[(long)i * G + k] * x[k - W];
    square += e * e;
  }
  square /= fmax(1, rows - W);
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      double sum = 0;
      for (int c = 1; c <= W; c++) sum += v->solved[i + (long)c * W] * v->solved[k + (long)c * W];
      classical[(long)i * W + k] = square * sum;
    }
}

/* g (W) = Z^T (W x - tau) / sigma^2 of one block */
static void gradient(psdmp_identify_instruments *v, int block, const double *x, double *g) {
  psdmp_identify_run *r = v->run;
  memset(g, 0, (size_t)v->W * sizeof *g);
  for (int i = 0, first = r->l; i < r->n; first += r->choice[i++].count) {
    int w = v->blocks.width[i], half = w / 2;
    const double *R = v->blocks.R[i * PSDMP_IDENTIFY_BLOCKS + block];
    for (int row = 0; row < half; row++) {
      double e = -R[(long)row * w + w - 1];
      for (int k = half; k < w - 1; k++) e += R[(long)row * w + k] * x[unknown(r, i, first, k)];
      e /= r->sigma[i] * r->sigma[i];
      for (int k = row; k < half; k++) g[unknown(r, i, first, k)] += R[(long)row * w + k] * e;
    }
  }
}

/* y (W) = (Z^T W)^-1 g = A^-1 R_Z^-T g */
static void through(psdmp_identify_instruments *v, double *g, double *y) {
  int W = v->W, G = 2 * W + 1;
  for (int i = 0; i < W; i++) {
    for (int k = 0; k < i; k++) g[i] -= v->T[(long)k * G + i] * g[k];
    g[i] /= v->T[(long)i * G + i];
  }
  for (int i = 0; i < W; i++) {
    y[i] = 0;
    for (int c = 0; c < W; c++) y[i] += v->solved[i + (long)(c + 1) * W] * g[c];
  }
}

/* sum over blocks of (Z^T W)^-1 g g^T (Z^T W)^-T: White's sandwich with instruments in the bread. At the answer of
 * all blocks the g have no mean. */
static void set_covariance(psdmp_identify_instruments *v, const double *x, double *covariance) {
  int W = v->W, blocks = 0;
  double *g = v->gradient, *y = g + W;
  memset(covariance, 0, (size_t)W * (size_t)W * sizeof *covariance);
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
    double any = 0;
    for (int i = 0; i < v->run->n; i++) any += v->blocks.count[i * PSDMP_IDENTIFY_BLOCKS + b];
    if (!(any > 0)) continue;
    blocks++;
    gradient(v, b, x, g);
    through(v, g, y);
    for (int i = 0; i < W; i++)
      for (int k = 0; k < W; k++) covariance[(long)i * W + k] += y[i] * y[k];
  }
  for (long k = 0; k < (long)W * W; k++) covariance[k] *= blocks > 1 ? blocks / (blocks - 1.0) : 0;
}

void psdmp_identify_instruments_doubt(psdmp_identify_instruments *v, double rows, const double *x, double *classical,
                                      double *covariance) {
  set_classical(v, rows, x, classical);
  if (covariance) set_covariance(v, x, covariance);
}

/* ---- memory ---- */

bool psdmp_identify_instruments_new(psdmp_identify_run *r, psdmp_identify_instruments *v) {
  *v = (psdmp_identify_instruments){
      .run = r, .arena = {.allocator = r->allocator}, .W = psdmp_identify_estimate_width(r)};
  int width[PSDM_CALIBRATE_JOINTS];
  size_t W = (size_t)v->W, G = 2 * W + 1;
  for (int i = 0; i < r->n; i++) {
    width[i] = 2 * (r->l + r->choice[i].count) + 1;
    v->widest = width[i] > v->widest ? width[i] : v->widest;
  }
  size_t widest = (size_t)v->widest;
#define PART(field, number) (v->field = psdmp_base_arena_alloc(&v->arena, (size_t)(number) * sizeof *v->field))
  bool ok = PART(gradient, 2 * W) && PART(stacked, widest * widest) && PART(X, widest * G) && PART(T, G * G) &&
            PART(scratch, psdmp_linalg_factor_scratch((int)G, (long)widest)) && PART(A, W * W) &&
            PART(B, W * (W + 1)) && PART(solved, W * (W + 1)) && PART(LU, W * W) && PART(residual, W * (W + 1)) &&
            PART(length, W) && PART(sum, W) && PART(pivot, W) &&
            psdmp_linalg_blocks_new(r->allocator, r->n, width, PSDMP_IDENTIFY_BLOCKS, &v->blocks);
#undef PART
  if (!ok) psdmp_identify_instruments_free(v);
  return ok;
}

void psdmp_identify_instruments_free(psdmp_identify_instruments *v) {
  psdmp_linalg_blocks_free(&v->blocks);
  psdmp_base_arena_free(&v->arena);
}
