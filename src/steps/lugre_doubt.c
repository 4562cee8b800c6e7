/* lugre_doubt.c: uncertainty of the friction numbers.
 *
 * Residuals of filtered logs are correlated over many rows, say T, so that s^2 (J^T J)^-1 is several times too small.
 * The scatter of the gradients of blocks that are much longer than T (Liang, Zeger 1986) is also right if some
 * rows fit worse than others, but for a number that only a few blocks excite it is a scatter of few; T s^2 (J^T J)^-1
 * uses the noise of all rows, but assumes that it is uniform. Each number gets the larger of the two. */
#include <math.h>
#include <string.h>

#include "steps/lugre_priv.h"

/* ---- a small inverse that detects dependent columns ---- */

/* a column with less than this of its square left depends on the earlier ones */
static const double dependent = 1e-11;

/* R^-1 of A = R^T R (unit diagonal), without dependent columns */
static void invert_root(int n, const double *A, double *T, bool *shown) {
  double R[UNKNOWNS * UNKNOWNS];
  memset(T, 0, sizeof *T * (size_t)(n * n));
  for (int k = 0; k < n; k++) {
    double left = A[k * n + k];
    for (int i = 0; i < k; i++) {
      double sum = A[i * n + k];
      for (int m = 0; m < i; m++) sum -= R[m * n + i] * R[m * n + k];
      R[i * n + k] = shown[i] ? sum / R[i * n + i] : 0;
      left -= R[i * n + k] * R[i * n + k];
    }
    shown[k] = left > dependent;
    if (!shown[k]) continue;
    R[k * n + k] = sqrt(left);
    T[k * n + k] = 1 / R[k * n + k];
    for (int i = k - 1; i >= 0; i--) {
      double sum = 0;
      for (int m = i; m < k; m++) sum += T[i * n + m] * R[m * n + k];
      T[i * n + k] = -sum * T[k * n + k];
    }
  }
}

void psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown) {
  double scaled[UNKNOWNS * UNKNOWNS], T[UNKNOWNS * UNKNOWNS], size[UNKNOWNS];
  for (int i = 0; i < n; i++) size[i] = A[i * n + i] > 0 ? sqrt(A[i * n + i]) : 1;
  for (int i = 0; i < n; i++)
    for (int k = i; k < n; k++) scaled[i * n + k] = A[i * n + k] / (size[i] * size[k]);
  invert_root(n, scaled, T, shown);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int m = 0; m < n; m++) sum += T[i * n + m] * T[k * n + m];
      X[i * n + k] = sum / (size[i] * size[k]);
    }
}

/* ---- the sandwich ---- */

/* correlation length of the residuals in rows: 1 + 2 sum of their correlations until these have died out */
static double correlation_time(long used, const double *r) {
  double power = 0, time = 1;
  for (long i = 0; i < used; i++) power += r[i] * r[i];
  for (long lag = 1; lag < used / 20; lag++) {
    double sum = 0;
    for (long i = lag; i < used; i++) sum += r[i] * r[i - lag];
    if (!(sum > 0.05 * power)) break;
    time += 2 * sum / power;
  }
  return time;
}

/* blocks of 8 correlation times lose an eighth of the correlation at their ends; at least `blocks` of them */
static long block_length(const psdmp_steps_lugre *w, double together) {
  int blocks = w->options->blocks > 1 ? w->options->blocks : 20;
  return (long)fmax(fmin(8 * together, (double)w->used / blocks), 1);
}

static void add_square(int n, const double *C, const double *g, double *V) {
  double moved[UNKNOWNS];
  for (int i = 0; i < n; i++) {
    moved[i] = 0;
    for (int k = 0; k < n; k++) moved[i] += C[i * n + k] * g[k];
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) V[i * n + k] += moved[i] * moved[k];
}

/* V = B/(B-1) sum over blocks of (C g)(C g)^T; the gradients' mean is zero at the answer */
static void sandwich(int n, long used, long length, const double *residual, const double *J, const double *C,
                     double *V) {
  double blocks = 0;
  memset(V, 0, sizeof *V * (size_t)(n * n));
  for (long at = 0; at < used; at += length, blocks++) {
    double g[UNKNOWNS] = {0};
    for (int k = 0; k < n; k++)
      for (long i = at; i < used && i < at + length; i++) g[k] += J[k * used + i] * residual[i];
    add_square(n, C, g, V);
  }
  for (int i = 0; i < n * n; i++) V[i] *= blocks / (blocks - 1);
}

/* keeps the correlations of a covariance while a number's uncertainty grows to the other's */
static void widen(int n, double noise, const double *C, double *V) {
  double more[UNKNOWNS];
  for (int i = 0; i < n; i++) more[i] = V[i * (n + 1)] > 0 ? sqrt(fmax(noise * C[i * (n + 1)] / V[i * (n + 1)], 1)) : 1;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) V[i * n + k] *= more[i] * more[k];
}

void psdmp_steps_lugre_doubt_at(const psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point,
                                const double *residual, const double *J, psdmp_steps_lugre_doubt *d) {
  double G[UNKNOWNS * UNKNOWNS];
  int n = d->count = psdmp_steps_lugre_free_numbers(w, point, d->which);
  for (int i = 0; i < n; i++)
    for (int k = 0; k <= i; k++) {
      double sum = 0;
      for (long row = 0; row < w->used; row++) sum += J[i * w->used + row] * J[k * w->used + row];
      G[k * n + i] = sum;
    }
  psdmp_steps_lugre_invert(n, G, d->inverse, d->shown);
  if (!residual) return;
  double together = correlation_time(w->used, residual), square = 0;
  for (long i = 0; i < w->used; i++) square += residual[i] * residual[i];
  sandwich(n, w->used, block_length(w, together), residual, J, d->inverse, d->covariance);
  widen(n, together * square / (double)(w->used - n), d->inverse, d->covariance);
}
