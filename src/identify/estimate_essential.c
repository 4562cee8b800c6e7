/* estimate_essential.c: the parameters that the data require (essential parameters: Khalil, Dombre 2002, section
 * 12.5.4; here by backward elimination). */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

/* 95 % of chi squared with k degrees of freedom (Wilson, Hilferty 1931), to half a percent; one is a table's */
static double likely(int k) {
  if (k == 1) return 3.841459;
  double step = 2 / (9.0 * k), root = 1 - step + 1.6448536269514722 * sqrt(step);
  return k * root * root * root;
}

/* the remaining parameter with the least significant loss: its t value squared */
static int least(int base, int W, const double *x, const double *V, const bool *essential, double *t2) {
  int found = -1;
  for (int j = 0; j < base; j++) {
    double variance = V[(long)j * W + j], now = variance > 0 ? x[j] * x[j] / variance : x[j] == 0 ? 0 : INFINITY;
    if (!essential[j] || (found >= 0 && !(now < *t2))) continue;
    found = j;
    *t2 = now;
  }
  return found;
}

/* the other x and their V under the condition x[j] = 0: equal to least squares without its column if V is s^2 (W^T
 * W)^-1 */
static void drop(int W, int j, double *x, double *V) {
  const double *row = V + (long)j * W;
  if (!(row[j] > 0)) return;
  for (int i = 0; i < W; i++) {
    double share = V[(long)i * W + j] / row[j];
    if (i == j) continue;
    x[i] -= share * x[j];
    for (int k = 0; k < W; k++) V[(long)i * W + k] -= share * row[k];
  }
}

void psdmp_identify_essential(int base, int W, const double *x, const double *classical, const double *sd,
                              double *scratch, bool *essential) {
  double *V = scratch, *now = scratch + (long)W * W, sum = 0;
  /* correlations as for white residuals, standard deviations as they are: the sandwich alone has the rank of its blocks
   * */
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) {
      double size = sqrt(classical[(long)i * W + i] * classical[(long)k * W + k]);
      V[(long)i * W + k] = size > 0 ? classical[(long)i * W + k] / size * sd[i] * sd[k] : 0;
    }
  memcpy(now, x, (size_t)W * sizeof *now);
  for (int j = 0; j < base; j++) essential[j] = true;
  for (int gone = 1; gone <= base; gone++) {
    double t2 = 0;
    int j = least(base, W, now, V, essential, &t2);
    /* dropped parameters must be insignificant, alone and together */
    if (j < 0 || t2 > likely(1) || (sum += t2) > likely(gone)) return;
    essential[j] = false;
    drop(W, j, now, V);
  }
}
