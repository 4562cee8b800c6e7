/* pseudo.c: pseudo-inertias (Wensing, Kim, Slotine 2018) and the divergence between them. */
#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"
#include "linalg/linalg.h"

const int psdmp_fit_pair[10][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

void psdmp_fit_pseudo_inertia(const double pi[10], double P[16]) {
  double xx = pi[4], yy = pi[7], zz = pi[9];
  /* halves of sums instead of half the trace minus a moment: a slender body's small entry keeps its digits */
  const double full[16] = {0.5 * (yy + zz - xx),
                           -pi[5],
                           -pi[6],
                           pi[1],
                           -pi[5],
                           0.5 * (xx + zz - yy),
                           -pi[8],
                           pi[2],
                           -pi[6],
                           -pi[8],
                           0.5 * (xx + yy - zz),
                           pi[3],
                           pi[1],
                           pi[2],
                           pi[3],
                           pi[0]};
  memcpy(P, full, sizeof full);
}

void psdmp_fit_pseudo_parameters(const double P[16], double pi[10]) {
  const double of[10] = {P[15], P[3], P[7], P[11], P[5] + P[10], -P[1], -P[2], P[0] + P[10], -P[6], P[0] + P[5]};
  memcpy(pi, of, sizeof of);
}

bool psdmp_fit_pseudo_factor(const double pi[10], double L[16]) {
  psdmp_fit_pseudo_inertia(pi, L);
  for (int i = 0; i < 16; i++)
    if (!isfinite(L[i])) return false;
  if (!psdmp_linalg_cholesky(4, L)) return false;
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 4; j++) L[4 * i + j] = 0;
  return true;
}

bool psdmp_fit_pseudo_positive(const double pi[10]) {
  double L[16];
  return psdmp_fit_pseudo_factor(pi, L);
}

/* with A = L0^-1 L: tr(P0^-1 P) = |A|^2 and log det(P0^-1 P) = 2 sum log A_ii, combined to avoid cancellation near the
 * prior */
static double divergence_of(const double L0[16], const double L[16]) {
  double sum = 0;
  for (int c = 0; c < 4; c++) {
    double a[4] = {0};
    for (int i = c; i < 4; i++) {
      a[i] = L[4 * i + c];
      for (int k = c; k < i; k++) a[i] -= L0[4 * i + k] * a[k];
      a[i] /= L0[5 * i];
      if (i > c) sum += a[i] * a[i];
    }
    double over = a[c] - 1;
    sum += over * (over + 2) - 2 * log1p(over);
  }
  return sum;
}

double psdmp_fit_divergence(int links, const double *prior, const double *pi) {
  double sum = 0, L0[16], L[16];
  for (int k = 0; k < links; k++) {
    if (!psdmp_fit_pseudo_factor(prior + 10 * k, L0) || !psdmp_fit_pseudo_factor(pi + 10 * k, L)) return INFINITY;
    sum += divergence_of(L0, L);
  }
  return sum;
}
