/* filter.c: zero-phase Butterworth low pass.
 *
 * The prototype 1 / prod(s^2 + c_k s + 1), c_k = 2 sin((2k + 1) pi / 2N) (Butterworth 1930), with s = (1/g)(z - 1)/(z +
 * 1), g = tan(pi cutoff / rate). Each section runs as two trapezoidal integrators in a loop: the same transfer function
 * as its coefficients b, a, but at a low cutoff, where a is 1 -2 1 up to g^2, rounding errors are eps / g instead of
 * eps / g^2; and the steady state of a constant is that constant, to the bit. */
#include "psdm/filter.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* columns filtered side by side; most times that a short signal is extended by itself */
enum { LANES = 4, TIMES = 64 };

static const long LONGEST = 1L << 30; /* samples of reach */
static const double SPILL = 1e-13;    /* part of a sum of one beyond reach */

/* ---- coefficients ---- */

/* tan(pi ratio), for ratio in (0, 1/2), also near 1/2 */
static double prewarped(double ratio) { return ratio <= 0.25 ? tan(PI * ratio) : 1 / tan(PI * (0.5 - ratio)); }

static void set_second_order(psdm_filter *f, int k, double angle) {
  double g = f->g, c = 2 * sin(angle), half = sin(0.5 * (0.5 * PI - angle)), whole = 1 + g * (g + c), b = g * g / whole;
  f->damping[k] = c;
  memcpy(f->b[k], (double[3]){b, 2 * b, b}, sizeof f->b[k]);
  /* 1 - c g + g^2 = (1 - g)^2 + (2 - c) g, 2 - c = 4 half^2 */
  memcpy(f->a[k], (double[3]){1, 2 * (g - 1) * (g + 1) / whole, ((1 - g) * (1 - g) + 4 * half * half * g) / whole},
         sizeof f->a[k]);
}

static void set_first_order(psdm_filter *f, int k) {
  double b = f->g / (1 + f->g);
  memcpy(f->b[k], (double[3]){b, b, 0}, sizeof f->b[k]);
  memcpy(f->a[k], (double[3]){1, (f->g - 1) / (1 + f->g), 0}, sizeof f->a[k]);
}

/* ---- reach ---- */

/* Bound of the sum over |m| > reach of |h(m)|, h the forward and backward impulse response. H(s) H(-s) = 1 / (1 +
 * (-s^2)^N) has residues -s_k / 2N, all of one size; with z = (1 + g s)/(1 - g s), dz/ds = 2 g / (1 - g s)^2,
 *
 *   h(m) = -sum_k s_k / 2N  2 g / (1 - g s_k)^2  p_k^(|m| - 1),  p_k = (1 + g s_k)/(1 - g s_k),  |1 -+ g s_k|^2 = 1
 *                                                                +- c_k g + g^2 */
static double tail(const psdm_filter *f, int order, double reach) {
  double sum = 0;
  for (int k = 0; k < f->sections; k++) {
    bool first_order = !(f->damping[k] > 0);
    double g = f->g, c = first_order ? 2 : f->damping[k], below = 1 + g * (g + c);
    double decay = -0.5 * log1p(-fmin(2 * c * g / below, 1)); /* -log |p| */
    sum += (first_order ? 1 : 2) * 2 * g / below * exp(-decay * reach) / -expm1(-decay);
  }
  return sum / order;
}

static long reach_of(const psdm_filter *f, int order) {
  long low = 0, high = 1;
  while (high < LONGEST && !(tail(f, order, (double)high) <= SPILL)) low = high, high *= 2;
  while (high - low > 1) {
    long middle = low + (high - low) / 2;
    if (tail(f, order, (double)middle) <= SPILL) high = middle;
    else low = middle;
  }
  return high;
}

psdm_status psdm_filter_butterworth(int order, double cutoff, double rate, psdm_filter *f) {
  if (order < 1 || order > 2 * PSDM_FILTER_SECTIONS || !(cutoff > 0) || !(cutoff < 0.5 * rate) || isinf(rate))
    return PSDM_E_ARGUMENT;
  memset(f, 0, sizeof *f);
  f->sections = (order + 1) / 2;
  f->g = prewarped(cutoff / rate);
  for (int k = 0; k < order / 2; k++) set_second_order(f, k, (2 * k + 1) * PI / (2 * order));
  if (order % 2) set_first_order(f, order / 2);
  f->reach = reach_of(f, order);
  return PSDM_OK;
}

/* ---- one pass of one section over count rows of LANES, forward or backward, from the first row's steady state ---- */

/* v = (first + g (x - second)) / (1 + c g + g^2) is the midpoint value of one integrator, second + g v the output */
static void pass_second_order(double g, double c, long count, long step, double *x) {
  double whole = 1 / (1 + g * (g + c)), first[LANES] = {0}, second[LANES];
  memcpy(second, x, sizeof second);
  for (long i = 0; i < count; i++, x += step)
    for (int lane = 0; lane < LANES; lane++) {
      double v = whole * (first[lane] + g * (x[lane] - second[lane])), rise = g * v;
      first[lane] = 2 * v - first[lane];
      x[lane] = second[lane] + rise;
      second[lane] = x[lane] + rise;
    }
}

static void pass_first_order(double g, long count, long step, double *x) {
  double share = g / (1 + g), state[LANES];
  memcpy(state, x, sizeof state);
  for (long i = 0; i < count; i++, x += step)
    for (int lane = 0; lane < LANES; lane++) {
      double rise = share * (x[lane] - state[lane]);
      x[lane] = state[lane] + rise;
      state[lane] = x[lane] + rise;
    }
}

static void pass(const psdm_filter *f, long count, long step, double *x) {
  for (int k = 0; k < f->sections; k++)
    if (f->damping[k] > 0) pass_second_order(f->g, f->damping[k], count, step, x);
    else pass_first_order(f->g, count, step, x);
}

/* ---- ends ---- */

/* rows before and after the signal */
static long extension(const psdm_filter *f, long rows) {
  long most = rows - 1 < LONGEST / TIMES ? TIMES * (rows - 1) : LONGEST;
  return f->reach < most ? f->reach : most;
}

static double line(double from, double to, long i, long last) {
  return from + (to - from) * ((double)i / (double)last);
}

/* the rest above the line from first to last row: a zero-phase filter leaves the line unchanged, and the rest is zero
 * at both ends */
static void take_rest(long rows, int columns, int lanes, const double *x, double *rest) {
  const double *end = x + (rows - 1) * columns;
  for (long i = 0; i < rows; i++)
    for (int lane = 0; lane < LANES; lane++)
      rest[i * LANES + lane] = lane < lanes ? x[i * columns + lane] - line(x[lane], end[lane], i, rows - 1) : 0;
}

static void put_back(long rows, int columns, int lanes, const double *rest, double *x) {
  for (int lane = 0; lane < lanes; lane++) {
    double from = x[lane], to = x[(rows - 1) * columns + lane];
    for (long i = 0; i < rows; i++) x[i * columns + lane] = line(from, to, i, rows - 1) + rest[i * LANES + lane];
  }
}

/* the signal's point reflection at each end is the same line and the odd, periodic continuation of the rest: r(-i) =
 * -r(i), r(i + 2 last) = r(i) */
static void continue_rest(long rows, long outside, double *rest) {
  long last = rows - 1;
  double *end = rest + last * LANES;
  for (long i = 1; i <= outside; i++)
    for (int lane = 0; lane < LANES; lane++) {
      rest[-i * LANES + lane] = i <= last ? -rest[i * LANES + lane] : rest[(2 * last - i) * LANES + lane];
      end[i * LANES + lane] = i <= last ? -end[-i * LANES + lane] : end[(i - 2 * last) * LANES + lane];
    }
}

size_t psdm_filter_scratch(const psdm_filter *f, long rows) {
  return rows < 2 ? 0 : LANES * ((size_t)rows + 2 * (size_t)extension(f, rows));
}

void psdm_filter_zero_phase(const psdm_filter *f, long rows, int columns, double *x, double *scratch) {
  if (rows < 2) return;
  long outside = extension(f, rows), count = rows + 2 * outside;
  double *rest = scratch + outside * LANES;
  for (int column = 0; column < columns; column += LANES) {
    int lanes = columns - column < LANES ? columns - column : LANES;
    take_rest(rows, columns, lanes, x + column, rest);
    continue_rest(rows, outside, rest);
    pass(f, count, LANES, scratch);
    pass(f, count, -LANES, scratch + (count - 1) * LANES);
    put_back(rows, columns, lanes, rest, x + column);
  }
}

/* |1 / (1 - w^2 + i c w)| of each section at s = i w */
double psdm_filter_gain(const psdm_filter *f, double frequency, double rate) {
  double ratio = fabs(frequency) / rate, w = (ratio < 0.5 ? prewarped(ratio) : tan(PI * ratio)) / f->g, gain = 1;
  for (int k = 0; k < f->sections; k++)
    gain /= f->damping[k] > 0 ? hypot((1 - w) * (1 + w), f->damping[k] * w) : hypot(1, w);
  return gain;
}
