/* along_spring.c: D x' + K x = f along a motion.
 *
 * With a = D / K and f a polynomial, P = (f - a f' + a^2 f'' - ...) / K is a solution, and every other one differs from
 * it by a multiple of exp(-t / a). Where a is long compared with the interval these terms are large and cancel; there
 * use the integral
 *
 *   x(h) = x(0) exp(-r) + r / K sum_j c_j I_j,   I_j = integral of s^j exp(-r (1 - s)) from 0 to 1,   r = h / a,   f
 *                                                = sum_j c_j s^j, s = t / h
 *
 * with I_5 from its series and I_(j-1) = (1 - r I_j) / j. */
#include "sim/along_priv.h"

#include <math.h>

enum { DEGREE = 5 };

/* coefficients in powers of s of the polynomial with these values and derivatives at s = 0 and s = 1 */
static void interpolate(double h, const double f0[3], const double f1[3], double c[DEGREE + 1]) {
  double rise = f1[0] - f0[0], u0 = h * f0[1], u1 = h * f1[1], v0 = h * h * f0[2], v1 = h * h * f1[2];
  c[0] = f0[0];
  c[1] = u0;
  c[2] = v0 / 2;
  c[3] = 10 * rise - 6 * u0 - 4 * u1 - 1.5 * v0 + 0.5 * v1;
  c[4] = -15 * rise + 8 * u0 + 7 * u1 + 1.5 * v0 - v1;
  c[5] = 6 * rise - 3 * (u0 + u1) - 0.5 * (v0 - v1);
}

/* the k-th derivative at s = 0 or 1 */
static double derivative(const double c[DEGREE + 1], int k, int s) {
  double sum = 0;
  for (int i = k; i <= (s ? DEGREE : k); i++) {
    double falling = c[i];
    for (int j = 0; j < k; j++) falling *= i - j;
    sum += falling;
  }
  return sum;
}

/* the k-th derivative by s of K P at s = 0 or 1 */
static double slow(const double c[DEGREE + 1], double r, int k, int s) {
  double sum = 0;
  for (int j = DEGREE; j >= k; j--) sum = derivative(c, j, s) - sum / r;
  return sum;
}

static void step_stiff(double K, double h, double r, const double c[DEGREE + 1], double x0, double x[3]) {
  double rest = (x0 - slow(c, r, 0, 0) / K) * exp(-r), rate = r / h;
  x[0] = slow(c, r, 0, 1) / K + rest;
  x[1] = slow(c, r, 1, 1) / (K * h) - rest * rate;
  x[2] = slow(c, r, 2, 1) / (K * h * h) + rest * rate * rate;
}

static void step_soft(double K, double D, double r, const double c[DEGREE + 1], const double f1[3], double x0,
                      double x[3]) {
  /* the integral of s^5 exp(-r (1 - s)): sum of (-r)^m 5! / (6 + m)!; r <= 1, so that 16 terms exceed double
   * precision */
  double term = 1.0 / (DEGREE + 1), I = 0, sum = 0;
  for (int m = 0; m < 16; m++) {
    I += term;
    term *= -r / (DEGREE + 2 + m);
  }
  for (int j = DEGREE; j >= 0; j--) {
    sum += c[j] * I;
    if (j) I = (1 - r * I) / j;
  }
  x[0] = x0 * exp(-r) + r / K * sum;
  x[1] = (f1[0] - K * x[0]) / D;
  x[2] = (f1[1] - K * x[1]) / D;
}

void psdmp_sim_spring_start(double K, double D, const double f[3], double x[3]) {
  double a = D / K;
  x[0] = (f[0] - a * (f[1] - a * f[2])) / K;
  x[1] = (f[1] - a * f[2]) / K;
  x[2] = f[2] / K;
}

void psdmp_sim_spring_step(double K, double D, double h, const double f0[3], const double f1[3], double x0,
                           double x[3]) {
  double c[DEGREE + 1], r = D > 0 ? h * K / D : INFINITY;
  if (!isfinite(r)) {
    psdmp_sim_spring_start(K, 0, f1, x);
    return;
  }
  interpolate(h, f0, f1, c);
  if (r >= 1) step_stiff(K, h, r, c, x0, x);
  else step_soft(K, D, r, c, f1, x0, x);
}
