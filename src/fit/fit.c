/* fit.c: all joints as one triangle, and the results common to all estimators. */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"
#include "linalg/linalg.h"

int psdmp_fit_own(const psdmp_fit_rows *rows) {
  int sum = 0;
  for (int j = 0; j < rows->n; j++) sum += rows->extras[j];
  return sum;
}

int psdmp_fit_widest(const psdmp_fit_rows *rows) {
  int most = 0;
  for (int j = 0; j < rows->n; j++) most = rows->extras[j] > most ? rows->extras[j] : most;
  return rows->base + most + 1;
}

bool psdmp_fit_sound(const psdmp_fit_rows *rows, const psdmp_fit_options *options) {
  if (rows->n < 1 || rows->base < 0 || psdmp_fit_own(rows) + rows->base < 1) return false;
  for (int j = 0; j < rows->n; j++) {
    if (rows->extras[j] < 0) return false;
    if (options->sigma && !(options->sigma[j] > 0 && isfinite(options->sigma[j]))) return false;
  }
  return options->ridge >= 0 && isfinite(options->ridge);
}

static double weight_of(const double *sigma, int joint) { return sigma ? 1 / sigma[joint] : 1; }

/* ---- collecting ---- */

size_t psdmp_fit_gather_scratch(const psdmp_fit_rows *rows) {
  size_t widest = (size_t)psdmp_fit_widest(rows), shared = (size_t)rows->base + 1;
  return 3 * widest * widest + shared * shared + widest + psdmp_linalg_factor_scratch((int)widest, (long)widest);
}

/* the joint's factor with its own columns in front: V (w x w) */
static void own_first(const psdmp_fit_rows *rows, int joint, double weight, double *V, double *scaled, int *take,
                      double *scratch) {
  int base = rows->base, extras = rows->extras[joint], w = base + extras + 1;
  for (long i = 0; i < (long)w * w; i++) scaled[i] = weight * rows->R[joint][i];
  for (int k = 0; k < w; k++) take[k] = k < extras ? base + k : k < extras + base ? k - extras : w - 1;
  psdmp_linalg_factor_take(w, scaled, w, take, V, scratch);
}

bool psdmp_fit_gather(const psdmp_fit_rows *rows, const double *sigma, double *scratch, double *G) {
  int base = rows->base, own = psdmp_fit_own(rows), shared = base + 1, full = own + shared,
      widest = psdmp_fit_widest(rows);
  double *at = scratch, *V = psdmp_fit_piece(&at, (long)widest * widest),
         *X = psdmp_fit_piece(&at, (long)widest * widest);
  double *scaled = psdmp_fit_piece(&at, (long)widest * widest), *T = psdmp_fit_piece(&at, (long)shared * shared);
  int *take = (int *)psdmp_fit_piece(&at, widest);
  memset(G, 0, sizeof *G * (size_t)full * (size_t)full);
  memset(T, 0, sizeof *T * (size_t)shared * (size_t)shared);
  for (int j = 0, first = 0; j < rows->n; first += rows->extras[j++]) {
    int extras = rows->extras[j], w = extras + shared;
    own_first(rows, j, weight_of(sigma, j), V, scaled, take, at);
    /* rows with the joint's own parameters are eliminated */
    for (int i = 0; i < extras; i++) {
      double *row = G + (long)(first + i) * full;
      memcpy(row + first + i, V + (long)i * w + i, sizeof *row * (size_t)(extras - i));
      memcpy(row + own, V + (long)i * w + extras, sizeof *row * (size_t)shared);
    }
    /* the remaining rows have theta alone */
    for (int i = 0; i < shared; i++)
      memcpy(X + (long)i * shared, V + (long)(extras + i) * w + extras, sizeof *X * (size_t)shared);
    psdmp_linalg_factor_add(shared, T, shared, X, at);
  }
  for (int i = 0; i < shared; i++)
    memcpy(G + (long)(own + i) * full + own, T + (long)i * shared, sizeof *G * (size_t)shared);
  return isfinite(psdmp_linalg_largest((long)full * full, G));
}

/* ---- residuals ---- */

/* r (w) = R [theta; phi; -1] of a joint, x the whole vector; returns |r|^2 */
static double residual(const psdmp_fit_rows *rows, int joint, const double *phi, const double *theta, double *y,
                       double *r) {
  int base = rows->base, extras = rows->extras[joint], w = base + extras + 1;
  const double *R = rows->R[joint];
  double sum = 0;
  memcpy(y, theta, sizeof *y * (size_t)base);
  memcpy(y + base, phi, sizeof *y * (size_t)extras);
  y[w - 1] = -1;
  for (int i = 0; i < w; i++) {
    r[i] = 0;
    for (int k = i; k < w; k++) r[i] += R[(long)i * w + k] * y[k];
    sum += r[i] * r[i];
  }
  return sum;
}

void psdmp_fit_gradient(const psdmp_fit_rows *rows, const double *sigma, const double *x, double scale, double *scratch,
                        double *g) {
  int base = rows->base, own = psdmp_fit_own(rows), widest = psdmp_fit_widest(rows);
  double *r = scratch, *y = scratch + widest;
  for (int j = 0, first = 0; j < rows->n; first += rows->extras[j++]) {
    int extras = rows->extras[j], w = base + extras + 1;
    double factor = scale * weight_of(sigma, j) * weight_of(sigma, j);
    residual(rows, j, x + first, x + own, y, r);
    for (int i = 0; i < w; i++) {
      const double *row = rows->R[j] + (long)i * w;
      for (int k = i; k < base; k++) g[own + k] += factor * r[i] * row[k];
      for (int k = i > base ? i : base; k < base + extras; k++) g[first + k - base] += factor * r[i] * row[k];
    }
  }
}

void psdmp_fit_finish(const psdmp_fit_rows *rows, const double *sigma, const double *x, const double *C, int parameters,
                      double *scratch, psdmp_fit *fit) {
  int base = rows->base, own = psdmp_fit_own(rows), W = own + base, widest = psdmp_fit_widest(rows);
  double weighted = 0, count = 0, *cost = scratch + 2 * widest;
  for (int j = 0, first = 0; j < rows->n; first += rows->extras[j++]) {
    cost[j] = residual(rows, j, x + first, x + own, scratch, scratch + widest);
    weighted += cost[j] * weight_of(sigma, j) * weight_of(sigma, j);
    count += rows->count[j];
  }
  if (fit->theta) memcpy(fit->theta, x + own, sizeof *x * (size_t)base);
  if (fit->phi) memcpy(fit->phi, x, sizeof *x * (size_t)own);
  if (fit->cost) memcpy(fit->cost, cost, sizeof *cost * (size_t)rows->n);
  if (!fit->covariance || !C) return;
  double variance = weighted / fmax(1, count - parameters);
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      int from = i < base ? own + i : i - base, to = k < base ? own + k : k - base;
      fit->covariance[(long)i * W + k] = variance * C[(long)from * W + to];
    }
}

/* plain least squares need less than total ones: one matrix less, and one solution */
size_t psdmp_fit_scratch(const psdmp_fit_rows *rows) {
  size_t W = (size_t)(psdmp_fit_own(rows) + rows->base), cone = psdmp_fit_cone_scratch(rows);
  size_t total = (W + 1) * (W + 1) + 2 * W + 4 * (W + 2) * (W + 2) + 2 * psdmp_fit_solve_scratch((int)W + 1);
  return (total > cone ? total : cone) + psdmp_fit_gather_scratch(rows) + 2 * (size_t)psdmp_fit_widest(rows) +
         (size_t)rows->n;
}
