/* optimal_pieces.c: polynomial pieces between nodes in Bezier form: values, derivatives and convex hulls, all linear in
 * the derivatives at both ends.
 *
 * A piece of degree D = 2 held - 1 has the coefficients b_i = sum over r <= i of binomial(i, r) (D - r)! / D! x^(r)
 * from its left end, and likewise from its right end with alternating signs; its derivative of order k has D! / (D -
 * k)! times their k-th differences (Farin, Curves and surfaces for CAGD). */
#include <string.h>

#include "plan/optimal_priv.h"

static double binomial(int n, int k) {
  double b = 1;
  for (int i = 1; i <= k; i++) b = b * (n - k + i) / i;
  return b;
}

static double falling(int n, int k) {
  double product = 1;
  for (int i = 0; i < k; i++) product *= n - i;
  return product;
}

/* coefficient i of the piece itself */
static void hull_point(int held, int i, double *c) {
  int degree = 2 * held - 1;
  bool right = i >= held;
  int j = right ? degree - i : i;
  memset(c, 0, sizeof *c * 2 * (size_t)held);
  for (int r = 0; r <= j; r++)
    c[(right ? held : 0) + r] = binomial(j, r) / falling(degree, r) * (right && r % 2 ? -1 : 1);
}

void psdmp_plan_piece_hull(int held, int k, int i, double *c) {
  double point[2 * PSDMP_PLAN_MOST_HELD], scale = falling(2 * held - 1, k);
  memset(c, 0, sizeof *c * 2 * (size_t)held);
  for (int j = 0; j <= k; j++) {
    hull_point(held, i + j, point);
    for (int e = 0; e < 2 * held; e++) c[e] += scale * binomial(k, j) * ((k - j) % 2 ? -1 : 1) * point[e];
  }
}

void psdmp_plan_piece_factors(int held, double sigma, int k, double *c) {
  int degree = 2 * held - 1 - k;
  double point[2 * PSDMP_PLAN_MOST_HELD], left = 1, right[2 * PSDMP_PLAN_MOST_HELD] = {1};
  for (int i = 1; i <= degree; i++) right[i] = right[i - 1] * (1 - sigma);
  memset(c, 0, sizeof *c * 2 * (size_t)held);
  for (int i = 0; i <= degree; i++, left *= sigma) {
    psdmp_plan_piece_hull(held, k, i, point);
    for (int e = 0; e < 2 * held; e++) c[e] += binomial(degree, i) * left * right[degree - i] * point[e];
  }
}

/* Lobatto's rule with five points, of degree seven; sqrt(3/7) = 0.65465367070797714380 */
const double psdmp_plan_point[PSDMP_PLAN_POINTS] = {0, 0.17267316464601142810, 0.5, 0.82732683535398857190, 1};
const double psdmp_plan_point_weight[PSDMP_PLAN_POINTS] = {1 / 20., 49 / 180., 16 / 45., 49 / 180., 1 / 20.};

int psdmp_plan_points(int level) { return ((PSDMP_PLAN_POINTS - 1) << level) + 1; }

double psdmp_plan_level_point(int level, int k) {
  int left = k >> level, part = k - (left << level);
  return part ? psdmp_plan_point[left] + (psdmp_plan_point[left + 1] - psdmp_plan_point[left]) * part / (1 << level)
              : psdmp_plan_point[left];
}

double psdmp_plan_level_weight(int level, int k) { return k % (1 << level) ? 0 : psdmp_plan_point_weight[k >> level]; }
