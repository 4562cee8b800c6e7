/* cone.c: Newton's stacked least-squares problem for parameters with a prior and barriers.
 *
 *   f = |E [x; -1]|^2 / 2 + sum over scalars of ridge^2 (x - centre)^2 / 2 - mu log x  + sum over links of lambda
 *   D(P | P0) - mu log det P
 *
 * A link moves as P -> L (1 + Z) L^T with P = L L^T. In orthonormal coordinates of the symmetric Z the last sum has the
 * Hessian (lambda + mu) 1 and the gradient lambda L^T P0^-1 L - (lambda + mu) 1. So everything except the data is a
 * diagonal above the data's rows, and one triangular-pentagonal QR gives the step: the stacked rows [R; sqrt(lambda +
 * mu) vec(L^-1 E_a L^-T); sqrt(mu) / x] in variables that make the second block a unit matrix. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"
#include "linalg/linalg.h"

static const double root2 = 1.4142135623730950488;

static int unknowns(const psdmp_fit_rows *rows) { return psdmp_fit_own(rows) + rows->standard; }

size_t psdmp_fit_cone_scratch(const psdmp_fit_rows *rows) {
  size_t W = (size_t)(psdmp_fit_own(rows) + rows->base), M = (size_t)unknowns(rows), links = (size_t)rows->links;
  size_t factor = psdmp_linalg_factor_scratch((int)M + 1, (long)W),
         gather = psdmp_fit_gather_scratch(rows) + (W + 1) * (W + 1);
  return 2 * W * (M + 1) + (M + 1) * (M + 1) + 6 * M + links * (16 + 16 + 10 + 100) +
         (factor > gather ? factor : gather) + W * W + W * M + 2 * W + M + 16 * links;
}

static void lay_out(psdmp_fit_cone *c, double *at) {
  long W = c->W, M = c->M, links = c->rows->links;
  c->E = psdmp_fit_piece(&at, W * (M + 1));
  c->X = psdmp_fit_piece(&at, W * (M + 1));
  c->T = psdmp_fit_piece(&at, (M + 1) * (M + 1));
  c->diagonal = psdmp_fit_piece(&at, M);
  c->x = psdmp_fit_piece(&at, M);
  c->step = psdmp_fit_piece(&at, M);
  c->ridge = psdmp_fit_piece(&at, M);
  c->centre = psdmp_fit_piece(&at, M);
  c->sign = psdmp_fit_piece(&at, M);
  c->L = psdmp_fit_piece(&at, 16 * links);
  c->pull = psdmp_fit_piece(&at, 16 * links);
  c->tilt = psdmp_fit_piece(&at, 10 * links);
  c->map = psdmp_fit_piece(&at, 100 * links);
  c->scratch = at;
}

/* whether unknown i is a scalar, not one of a link's ten */
static bool scalar(const psdmp_fit_cone *c, int i) { return i < c->own || i >= c->own + 10 * c->rows->links; }

/* ---- start ---- */

/* E = G [1 0 0; 0 K 0; 0 0 1]: the data in phi and pi; G's last row has no unknown */
static void spread(psdmp_fit_cone *c, const double *G) {
  int base = c->rows->base, standard = c->rows->standard, wide = c->M + 1, full = c->W + 1;
  for (int i = 0; i < c->W; i++) {
    memcpy(c->E + (long)i * wide, G + (long)i * full, sizeof *G * (size_t)c->own);
    c->E[(long)i * wide + c->M] = G[(long)i * full + c->W];
  }
  if (standard > 0)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c->W, standard, base, 1, G + c->own, full, c->rows->K,
                standard, 0, c->E + c->own, wide);
}

static void invert_prior(psdmp_fit_cone *c) {
  for (int k = 0; k < c->rows->links; k++) {
    double L[16];
    memcpy(L, c->L + 16 * k, sizeof L);
    for (int column = 0; column < 4; column++) {
      double x[4] = {0};
      x[column] = 1;
      psdmp_linalg_cholesky_solve(4, L, x);
      for (int i = 0; i < 4; i++) c->pull[16 * k + 4 * i + column] = x[i];
    }
  }
}

/* which scalars must not be negative */
static void set_signs(psdmp_fit_cone *c) {
  const psdmp_fit_options *o = c->options;
  memset(c->sign, 0, sizeof *c->sign * (size_t)c->M);
  for (int j = 0, first = 0; j < c->rows->n; first += c->rows->extras[j++])
    for (int k = 0; k < c->rows->extras[j]; k++)
      c->sign[first + k] = o->nonnegative && o->nonnegative[j] && o->nonnegative[j][k];
  for (int i = c->own + 10 * c->rows->links; i < c->M; i++) c->sign[i] = o->drives_nonnegative;
  for (int i = 0; i < c->M; i++) c->positives += c->sign[i] > 0;
}

/* weak ridge on scalars, own ones to zero, drives to their prior; weight one where the data have no effect at all */
static void set_ridge(psdmp_fit_cone *c) {
  double share = c->options->ridge > 0 ? c->options->ridge : 1e-6;
  for (int i = 0; i < c->M; i++) {
    double length = scalar(c, i) ? cblas_dnrm2(c->W, c->E + i, c->M + 1) : 0;
    c->ridge[i] = !scalar(c, i) ? 0 : length > 0 ? share * length : 1;
    c->centre[i] = i < c->own || !scalar(c, i) ? 0 : c->options->prior[i - c->own];
  }
}

psdm_status psdmp_fit_cone_start(psdmp_fit_cone *c, const psdmp_fit_rows *rows, const psdmp_fit_options *options,
                                 double *scratch) {
  if (!psdmp_fit_sound(rows, options) || !options->prior || !(options->lambda > 0 && isfinite(options->lambda)))
    return PSDM_E_ARGUMENT;
  if (rows->links < 0 || rows->standard < 10 * rows->links) return PSDM_E_ARGUMENT;
  *c = (psdmp_fit_cone){
      .rows = rows, .options = options, .own = psdmp_fit_own(rows), .M = unknowns(rows), .lambda = options->lambda};
  c->W = c->own + rows->base;
  lay_out(c, scratch);
  double *G = c->scratch;
  if (!psdmp_fit_gather(rows, options->sigma, G + (long)(c->W + 1) * (c->W + 1), G)) return PSDM_E_ARGUMENT;
  spread(c, G);
  set_signs(c);
  set_ridge(c);
  memset(c->x, 0, sizeof *c->x * (size_t)c->own);
  memcpy(c->x + c->own, options->prior, sizeof *c->x * (size_t)rows->standard);
  for (int i = 0; i < rows->standard; i++)
    if (!isfinite(options->prior[i])) return PSDM_E_ARGUMENT;
  if (!psdmp_fit_cone_stand(c, false)) return PSDM_E_ARGUMENT;
  invert_prior(c);
  return PSDM_OK;
}

bool psdmp_fit_cone_stand(psdmp_fit_cone *c, bool positive) {
  for (int k = 0; k < c->rows->links; k++)
    if (!psdmp_fit_pseudo_factor(c->x + c->own + 10 * k, c->L + 16 * k)) return false;
  for (int i = 0; i < c->M && positive; i++)
    if (c->sign[i] > 0 && !(c->x[i] > 0)) return false;
  return true;
}

/* ---- a step ---- */

/* map's column a: the parameters of L S_a L^T; tilt: the coordinates of L^T P0^-1 L */
static void set_coordinates(psdmp_fit_cone *c, int k) {
  const double *L = c->L + 16 * k, *pull = c->pull + 16 * k;
  for (int a = 0; a < 10; a++) {
    int p = psdmp_fit_pair[a][0], q = psdmp_fit_pair[a][1];
    double P[16], pi[10], size = p == q ? 0.5 : 1 / root2, sum = 0;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        P[4 * i + j] = size * (L[4 * i + p] * L[4 * j + q] + L[4 * i + q] * L[4 * j + p]);
        sum += P[4 * i + j] * pull[4 * i + j];
      }
    psdmp_fit_pseudo_parameters(P, pi);
    for (int i = 0; i < 10; i++) c->map[100 * k + 10 * i + a] = pi[i];
    c->tilt[10 * k + a] = sum;
  }
}

/* X: the data's rows in the coordinates, and minus their residual at x */
static void set_data(psdmp_fit_cone *c) {
  int wide = c->M + 1;
  memcpy(c->X, c->E, sizeof *c->X * (size_t)c->W * (size_t)wide);
  for (int k = 0; k < c->rows->links; k++) {
    int at = c->own + 10 * k;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, c->W, 10, 10, 1, c->E + at, wide, c->map + 100 * k, 10, 0,
                c->X + at, wide);
  }
  cblas_dgemv(CblasRowMajor, CblasNoTrans, c->W, c->M, -1, c->E, wide, c->x, 1, 1, c->X + c->M, wide);
}

/* T: the diagonal, and minus the gradient divided by it */
static void set_held(psdmp_fit_cone *c, bool positive) {
  int wide = c->M + 1;
  double lambda = c->lambda, weight = lambda + c->mu;
  memset(c->T, 0, sizeof *c->T * (size_t)wide * (size_t)wide);
  for (int i = 0; i < c->M; i++) {
    double gradient, root;
    if (scalar(c, i)) {
      double barrier = positive && c->sign[i] > 0 ? c->mu / c->x[i] : 0;
      gradient = c->ridge[i] * c->ridge[i] * (c->x[i] - c->centre[i]) - barrier;
      root = barrier > 0 ? hypot(c->ridge[i], sqrt(c->mu) / c->x[i]) : c->ridge[i];
    } else {
      int a = i - c->own;
      bool on_diagonal = psdmp_fit_pair[a % 10][0] == psdmp_fit_pair[a % 10][1];
      gradient = lambda * c->tilt[a] - (on_diagonal ? weight : 0);
      root = sqrt(weight);
    }
    c->diagonal[i] = root;
    c->T[(long)i * wide + i] = root;
    c->T[(long)i * wide + c->M] = -gradient / root;
  }
}

double psdmp_fit_cone_newton(psdmp_fit_cone *c, bool positive) {
  int wide = c->M + 1, links = c->rows->links;
  for (int k = 0; k < links; k++) set_coordinates(c, k);
  set_data(c);
  set_held(c, positive);
  psdmp_linalg_factor_add(wide, c->T, c->W, c->X, c->scratch);
  cblas_dcopy(c->M, c->T + c->M, wide, c->step, 1);
  double decrement = cblas_ddot(c->M, c->step, 1, c->step, 1);
  cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, c->M, c->T, wide, c->step, 1);
  return decrement;
}

void psdmp_fit_cone_unfold(psdmp_fit_cone *c) {
  for (int k = 0; k < c->rows->links; k++) {
    double pi[10], *z = c->step + c->own + 10 * k;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, 10, 10, 1, c->map + 100 * k, 10, z, 1, 0, pi, 1);
    memcpy(z, pi, sizeof pi);
  }
}

/* ---- results in theta and phi ---- */

void psdmp_fit_cone_root(const psdmp_fit_cone *c, double *J) {
  int base = c->rows->base, standard = c->rows->standard, M = c->M, drives = c->own + 10 * c->rows->links;
  memset(J, 0, sizeof *J * (size_t)c->W * (size_t)M);
  for (int i = 0; i < c->own; i++) J[(long)i * M + i] = 1;
  for (int i = 0; i < base; i++) {
    const double *K = c->rows->K + (long)i * standard;
    double *row = J + (long)(c->own + i) * M;
    for (int k = 0; k < c->rows->links; k++)
      cblas_dgemv(CblasRowMajor, CblasTrans, 10, 10, 1, c->map + 100 * k, 10, K + 10 * k, 1, 0, row + c->own + 10 * k,
                  1);
    for (int d = drives; d < M; d++) row[d] = K[d - c->own];
  }
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, c->W, M, 1, c->T, M + 1, J, M);
}

void psdmp_fit_cone_seen(const psdmp_fit_cone *c, double *seen) {
  memcpy(seen, c->x, sizeof *seen * (size_t)c->own);
  for (int i = 0; i < c->rows->base; i++)
    seen[c->own + i] = cblas_ddot(c->rows->standard, c->rows->K + (long)i * c->rows->standard, 1, c->x + c->own, 1);
}
