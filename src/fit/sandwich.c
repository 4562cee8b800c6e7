/* sandwich.c: uncertainty from the scatter of the blocks' gradients (White 1980; blocks: Liang, Zeger 1986). Residuals
 * of filtered logs are correlated over many samples, so that s^2 (W^T W)^-1 is several times too small; sums over
 * blocks longer than that are nearly independent. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"

size_t psdmp_fit_sandwich_scratch(const psdmp_fit_rows *rows) {
  size_t W = (size_t)(psdmp_fit_own(rows) + rows->base), M = (size_t)(psdmp_fit_own(rows) + rows->standard),
         widest = (size_t)psdmp_fit_widest(rows);
  size_t linear = (W + 1) * (W + 1) + W * W + W + psdmp_fit_solve_scratch((int)W) + psdmp_fit_gather_scratch(rows);
  /* leaving blocks out needs less than linear fits */
  size_t held = psdmp_fit_cone_scratch(rows) + W * M, most = linear > held ? linear : held;
  return 2 * W * W + 4 * W + 2 * widest + most;
}

/* C = (W^T W)^+ */
static bool inverse_linear(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *at, double *C) {
  int W = psdmp_fit_own(rows) + rows->base;
  double *G = psdmp_fit_piece(&at, (long)(W + 1) * (W + 1)), *Z = psdmp_fit_piece(&at, (long)W * W),
         *x = psdmp_fit_piece(&at, W);
  if (!psdmp_fit_gather(rows, options->sigma, at, G) || psdmp_fit_solve(W, G, at, x, Z) < 0) return false;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, W, W, W, 1, Z, W, Z, W, 0, C, W);
  return true;
}

/* C = J H^-1 J^T and V = J H^-1 H_p H^-1 J^T at the fit, H_p the square of the diagonal; J converts the coordinates to
 * phi and theta */
static psdm_status inverse_held(const psdmp_fit_rows *rows, const psdmp_fit_options *options, const psdmp_fit *fit,
                                double *at, double *C, double *V) {
  psdmp_fit_cone c;
  double *scratch = psdmp_fit_piece(&at, (long)psdmp_fit_cone_scratch(rows)), *J = at;
  psdm_status status = psdmp_fit_cone_start(&c, rows, options, scratch);
  if (status) return status;
  int count = 4 * rows->links + c.positives;
  memcpy(c.x, fit->phi, sizeof *c.x * (size_t)c.own);
  memcpy(c.x + c.own, fit->pi, sizeof *c.x * (size_t)rows->standard);
  c.mu = fit->gap / fmax(1, count);
  if (!psdmp_fit_cone_stand(&c, c.mu > 0) || !isfinite(psdmp_fit_cone_newton(&c, c.mu > 0))) return PSDM_E_ARGUMENT;
  psdmp_fit_cone_root(&c, J);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, c.W, c.W, c.M, 1, J, c.M, J, c.M, 0, C, c.W);
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, c.W, c.M, 1, c.T, c.M + 1, J, c.M);
  for (int i = 0; i < c.W; i++)
    for (int k = 0; k < c.M; k++) J[(long)i * c.M + k] *= c.diagonal[k];
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, c.W, c.W, c.M, 1, J, c.M, J, c.M, 0, V, c.W);
  return PSDM_OK;
}

/* mean of the blocks' gradients */
static void mean_of(int blocks, const psdmp_fit_rows *block, const double *sigma, const double *x, int W, double *at,
                    double *mean) {
  memset(mean, 0, sizeof *mean * (size_t)W);
  for (int b = 0; b < blocks; b++) psdmp_fit_gradient(&block[b], sigma, x, 1.0 / blocks, at, mean);
}

/* moved = C g, g the centred gradient of a block */
static void step_of(const psdmp_fit_rows *block, const double *sigma, const double *x, int W, const double *C,
                    const double *mean, double *at, double *g, double *moved) {
  for (int i = 0; i < W; i++) g[i] = -mean[i];
  psdmp_fit_gradient(block, sigma, x, 1, at, g);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, W, W, 1, C, W, g, 1, 0, moved, 1);
}

/* V += B/(B-1) sum over blocks of (C g)(C g)^T, g centred */
static void add_scatter(int blocks, const psdmp_fit_rows *block, const double *sigma, const double *x, int W,
                        const double *C, double *at, double *V) {
  double *mean = psdmp_fit_piece(&at, W), *g = psdmp_fit_piece(&at, W), *moved = psdmp_fit_piece(&at, W);
  mean_of(blocks, block, sigma, x, W, at, mean);
  for (int b = 0; b < blocks; b++) {
    step_of(&block[b], sigma, x, W, C, mean, at, g, moved);
    cblas_dger(CblasRowMajor, W, W, blocks / (blocks - 1.0), moved, 1, moved, 1, V, W);
  }
}

/* moved <- (1 - keep C H_b)^-1 moved */
static bool without_block(const psdmp_fit_rows *block, const double *sigma, int W, double keep, const double *C,
                          double *at, double *moved) {
  double *G = psdmp_fit_piece(&at, (long)(W + 1) * (W + 1)), *H = psdmp_fit_piece(&at, (long)W * W),
         *A = psdmp_fit_piece(&at, (long)W * W);
  lapack_int *pivot = (lapack_int *)(void *)psdmp_fit_piece(&at, W);
  if (!psdmp_fit_gather(block, sigma, at, G)) return false;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, W, W, W, 1, G, W + 1, G, W + 1, 0, H, W);
  memset(A, 0, sizeof *A * (size_t)W * (size_t)W);
  for (int i = 0; i < W; i++) A[(long)i * (W + 1)] = 1;
  /* its transpose, column-major for LAPACK */
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, W, W, W, -keep, H, W, C, W, 1, A, W);
  return LAPACKE_dgesv_work(LAPACK_COL_MAJOR, W, 1, A, W, pivot, moved, W) == 0;
}

/* V += (B-1)/B sum over blocks of their squared steps, each as if the block had been left out */
static bool add_left_out(int blocks, const psdmp_fit_rows *block, const double *sigma, const double *x, int W,
                         const double *C, double *at, double *V) {
  double *mean = psdmp_fit_piece(&at, W), *g = psdmp_fit_piece(&at, W), *moved = psdmp_fit_piece(&at, W);
  double keep = 1 - 1 / (2.0 * blocks);
  mean_of(blocks, block, sigma, x, W, at, mean);
  for (int b = 0; b < blocks; b++) {
    step_of(&block[b], sigma, x, W, C, mean, at, g, moved);
    if (!without_block(&block[b], sigma, W, keep, C, at, moved)) return false;
    cblas_dger(CblasRowMajor, W, W, (blocks - 1.0) / blocks, moved, 1, moved, 1, V, W);
  }
  return true;
}

psdm_status psdmp_fit_sandwich(const psdmp_fit_rows *rows, int blocks, const psdmp_fit_rows *block,
                               const psdmp_fit_options *options, const psdmp_fit *fit, bool consistent, double *scratch,
                               double *covariance, double *prior_share) {
  if (!psdmp_fit_sound(rows, options) || blocks < 2 || !fit->theta || !fit->phi || (consistent && !fit->pi))
    return PSDM_E_ARGUMENT;
  int base = rows->base, own = psdmp_fit_own(rows), W = own + base;
  double *at = scratch, *C = psdmp_fit_piece(&at, (long)W * W), *V = psdmp_fit_piece(&at, (long)W * W),
         *x = psdmp_fit_piece(&at, W);
  memset(V, 0, sizeof *V * (size_t)W * (size_t)W);
  memcpy(x, fit->phi, sizeof *x * (size_t)own);
  memcpy(x + own, fit->theta, sizeof *x * (size_t)base);
  psdm_status status = consistent                             ? inverse_held(rows, options, fit, at, C, V)
                       : inverse_linear(rows, options, at, C) ? PSDM_OK
                                                              : PSDM_E_ARGUMENT;
  if (status) return status;
  for (int i = 0; i < W && prior_share; i++) prior_share[i < own ? base + i : i - own] = V[(long)i * (W + 1)];
  if (!options->leave_out) add_scatter(blocks, block, options->sigma, x, W, C, at, V);
  else if (!add_left_out(blocks, block, options->sigma, x, W, C, at, V)) return PSDM_E_ARGUMENT;
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++)
      covariance[(long)(i < own ? base + i : i - own) * W + (k < own ? base + k : k - own)] = V[(long)i * W + k];
  for (int i = 0; i < W && prior_share; i++) {
    double whole = covariance[(long)i * (W + 1)];
    prior_share[i] = whole > 0 ? prior_share[i] / whole : 0;
  }
  return PSDM_OK;
}
