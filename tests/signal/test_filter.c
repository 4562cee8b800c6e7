/* test_filter.c: Butterworth's low pass there and back, against its formula and against plain convolution in
 * extended precision. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/filter.h"
#include "support.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const long double PI = 3.14159265358979323846264338327950288L;

/* exactly the requested size, and not zeroed */
static double *numbers(size_t count) {
  double *memory = malloc(count * sizeof *memory);
  assert_non_null(memory);
  memset(memory, 0xA5, count * sizeof *memory);
  return memory;
}

static psdm_filter design(int order, double cutoff, double rate) {
  psdm_filter f;
  assert_int_equal(psdm_filter_butterworth(order, cutoff, rate, &f), PSDM_OK);
  assert_int_equal(f.sections, (order + 1) / 2);
  return f;
}

static void filter(const psdm_filter *f, long rows, int columns, double *x) {
  double *scratch = numbers(psdm_filter_scratch(f, rows));
  psdm_filter_zero_phase(f, rows, columns, x, scratch);
  free(scratch);
}

/* tan(pi x) for x up to 1/2 */
static long double tangent(long double x) { return x <= 0.25L ? tanl(PI * x) : 1 / tanl(PI * (0.5L - x)); }

/* |H|^2 = 1 / (1 + (w/wc)^2N) of the prewarped frequencies */
static long double power(int order, long double cutoff, long double frequency) {
  return 1 / (1 + powl(tangent(frequency) / tangent(cutoff), 2 * order));
}

/* ---- response ---- */

/* the response of the coefficients b, a on the unit circle */
static long double coefficients_power(const psdm_filter *f, long double frequency) {
  long double complex z = cexpl(-2 * PI * I * frequency), H = 1;
  for (int k = 0; k < f->sections; k++)
    H *= (f->b[k][0] + z * (f->b[k][1] + z * f->b[k][2])) / (f->a[k][0] + z * (f->a[k][1] + z * f->a[k][2]));
  return creall(H) * creall(H) + cimagl(H) * cimagl(H);
}

/* frequencies are multiples of 2^-20 of the rate, so that none of them is rounded */
static void test_response(void **unused) {
  (void)unused;
  static const long cutoffs[] = {1, 16, 105, 1024, 10486, 104858, 262144, 419430, 520000, 524287};
  const double rate = 0x1p20;
  double worst = 0, worst_coefficients = 0;
  for (int order = 1; order <= 32; order++)
    for (int c = 0; c < COUNT(cutoffs); c++) {
      psdm_filter f = design(order, (double)cutoffs[c], rate);
      for (long i = 0; i <= 64; i++) {
        long at = i < 32 ? cutoffs[c] * i / 16 : (i - 32) * 16384;
        if (at >= 524288) at = 524287;
        long double wanted = power(order, (long double)cutoffs[c] / rate, (long double)at / rate);
        double gain = psdm_filter_gain(&f, (double)at, rate);
        if (wanted < 1e-280L) continue;
        /* each of N sections is off by a few roundings of w, c and g */
        double error = (double)fabsl(gain * gain / wanted - 1) / order;
        worst = fmax(worst, error);
        assert_true(error <= 24 * DBL_EPSILON);
        /* a near 1 -2 1 loses digits to cancellation: eps / g^2; near half the rate b's zeros do */
        double g = f.g, spread = fmax(1, 1 / (g * g)), edge = 0.5 - (double)at / rate;
        double unit = (double)fabsl(coefficients_power(&f, (long double)at / rate) / wanted - 1) / order / spread *
                      (edge > 1 / 16. ? 1 : 256 * edge * edge);
        worst_coefficients = fmax(worst_coefficients, unit);
        assert_true(unit <= 64 * DBL_EPSILON);
      }
      assert_true(fabs(psdm_filter_gain(&f, (double)cutoffs[c], rate) - sqrt(0.5)) <= 24 * order * DBL_EPSILON);
      assert_true(psdm_filter_gain(&f, 0, rate) == 1);
    }
  printf("response: |H|^2 off by %.1f eps, of the coefficients by %.1f eps max(1, 1/g^2), an order\n",
         worst / DBL_EPSILON, worst_coefficients / DBL_EPSILON);
}

/* a cosine comes out as |H|^2 times itself, not moved, at every cutoff */
static void test_sine(void **unused) {
  (void)unused;
  static const struct {
    int order;
    double cutoff;
  } cases[] = {{1, 0.01}, {2, 0.1}, {3, 0.02}, {4, 1e-4}, {4, 0.1}, {5, 0.45}, {8, 1e-3}, {32, 0.01}, {32, 0.3}};
  rng g = rng_start("test_sine");
  double worst = 0;
  for (int c = 0; c < COUNT(cases); c++) {
    psdm_filter f = design(cases[c].order, cases[c].cutoff, 1);
    long margin = f.reach, rows = 2 * margin + 1000;
    double *x = numbers((size_t)rows), frequency = fmin(0.49, cases[c].cutoff * rng_uniform(&g, 0.3, 1.3)),
           phase = rng_uniform(&g, 0, 6);
    for (long i = 0; i < rows; i++) x[i] = (double)cosl(2 * PI * frequency * i + phase);
    filter(&f, rows, 1, x);
    long double gain = power(cases[c].order, cases[c].cutoff, frequency);
    for (long i = margin; i < rows - margin; i++)
      worst = fmax(worst, (double)fabsl(x[i] - gain * cosl(2 * PI * frequency * i + phase)));
    free(x);
    assert_true(worst <= 1e-12);
  }
  printf("sine: at most %.1e off |H|^2 times itself\n", worst);
}

/* ---- ends ---- */

static void test_line(void **unused) {
  (void)unused;
  rng g = rng_start("test_line");
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    psdm_filter f = design(rng_int(&g, 1, 32), 0.5 * pow(10, rng_uniform(&g, -3, -0.001)), 1);
    long rows = trial % 3 ? rng_int(&g, 2, 40) : rng_int(&g, 2, 3000);
    int columns = rng_int(&g, 1, 6);
    double from[6], slope[6], *x = numbers((size_t)(rows * columns)), *line = numbers((size_t)(rows * columns));
    for (int c = 0; c < columns; c++)
      from[c] = rng_uniform(&g, -3, 3), slope[c] = rng_uniform(&g, -3, 3) / (double)rows;
    for (long i = 0; i < rows * columns; i++)
      x[i] = line[i] = from[i % columns] + slope[i % columns] * (double)(i / columns);
    filter(&f, rows, columns, x);
    worst = fmax(worst, max_difference(x, line, (int)(rows * columns)));
    free(x), free(line);
    /* a line's own rounding, eps of 6 at most, and the line drawn through its ends; the filter adds up to its gain
     * of that */
    assert_true(worst <= 16 * 6 * DBL_EPSILON);
  }
  /* a constant is exact to the last bit */
  psdm_filter f = design(7, 1e-3, 1);
  double x[50];
  for (int i = 0; i < 50; i++) x[i] = 0.1;
  filter(&f, 50, 1, x);
  for (int i = 0; i < 50; i++) assert_true(x[i] == 0.1);
  printf("straight lines: at most %.1e off\n", worst);
}

/* ---- plain twin ---- */

/* one pass, pole by pole, designed again in extended complex numbers, begun at rest: H = prod (1 - p)/2 (1 + 1/z) / (1
 * - p/z), p = (1 + K s)/(1 - K s) */
static void plain_pass(int order, long double cutoff, long count, long step, long double *x) {
  long double K = tangent(cutoff);
  long double complex *y = malloc(sizeof *y * (size_t)count);
  assert_non_null(y);
  for (long i = 0; i < count; i++) y[i] = x[i * step];
  for (int k = 0; k < order; k++) {
    long double complex s = cexpl(I * (PI / 2 + (2 * k + 1) * PI / (2 * order))),
                        short_of_one = -2 * K * s / (1 - K * s), before = 0, state = 0;
    for (long i = 0; i < count; i++) {
      long double complex now = y[i];
      state += short_of_one * ((now + before) / 2 - state);
      before = now, y[i] = state;
    }
  }
  for (long i = 0; i < count; i++) x[i * step] = creall(y[i]);
  free(y);
}

/* h(0 .. reach) of both passes: the impulse response, correlated with itself */
static void plain_kernel(int order, long double cutoff, long length, long double *h, long reach, long double *both) {
  for (long i = 0; i < length; i++) h[i] = i == 0;
  plain_pass(order, cutoff, length, 1, h);
  for (long m = 0; m < reach; m++) {
    both[m] = 0;
    for (long i = 0; i + m < length; i++) both[m] += h[i] * h[i + m];
  }
}

/* the signal, reflected at the point of its last or first row as often as it takes */
static long double reflected(long rows, const double *x, long i) {
  if (i < 0) return 2 * (long double)x[0] - reflected(rows, x, -i);
  if (i >= rows) return 2 * (long double)x[rows - 1] - reflected(rows, x, 2 * (rows - 1) - i);
  return x[i];
}

static void compare_with_convolution(rng *g, int order, double cutoff, long rows, double *worst, double *spill,
                                     double *slack) {
  psdm_filter f = design(order, cutoff, 1);
  long reach = f.reach, length = 3 * reach / 2 + 64, m = reach + reach / 2 + 8;
  long double *h = malloc(sizeof *h * (size_t)length), *both = malloc(sizeof *both * (size_t)m), beyond = 0, scale = 0;
  double *x = numbers((size_t)rows), *y = numbers((size_t)rows);
  assert_true(h && both);
  plain_kernel(order, cutoff, length, h, m, both);
  for (long i = reach + 1; i < m; i++) beyond += 2 * fabsl(both[i]);
  *spill = fmax(*spill, (double)beyond);
  for (long i = reach / 2; i <= reach; i++) beyond += 2 * fabsl(both[i]);
  *slack = fmin(*slack, (double)beyond);
  for (long i = 0; i < rows; i++) x[i] = y[i] = rng_uniform(g, -1, 1);
  filter(&f, rows, 1, y);
  for (long i = 0; i < rows; i++) {
    long double sum = both[0] * x[i];
    for (long k = 1; k < m; k++) sum += both[k] * (reflected(rows, x, i - k) + reflected(rows, x, i + k));
    scale = fmaxl(scale, fabsl(sum));
    *worst = fmax(*worst, (double)fabsl(y[i] - sum));
  }
  assert_true(*worst <= 1e-12);
  assert_true(scale > 0.01L);
  free(h), free(both), free(x), free(y);
}

static void test_convolution(void **unused) {
  (void)unused;
  rng g = rng_start("test_convolution");
  double worst = 0, spill = 0, slack = 1;
  static const double cutoffs[] = {0.05, 0.12, 0.25, 0.4, 0.48};
  for (int order = 1; order <= 8; order++)
    for (int c = 0; c < COUNT(cutoffs); c++)
      compare_with_convolution(&g, order, cutoffs[c], 40 + 10 * c + order, &worst, &spill, &slack);
  compare_with_convolution(&g, 16, 0.2, 300, &worst, &spill, &slack);
  compare_with_convolution(&g, 32, 0.25, 100, &worst, &spill, &slack);
  compare_with_convolution(&g, 31, 0.45, 50, &worst, &spill, &slack);
  printf("convolution: at most %.1e off; beyond reach %.1e of the kernel, beyond half of it at least %.1e\n", worst,
         spill, slack);
  /* reach is sufficient, and not much more than needed */
  assert_true(spill <= 1e-13 && slack >= 1e-9);
}

/* cutoff at 1e-4 of the rate: both passes in extended precision over the signal and enough of its reflections to begin
 * at rest */
static void test_low_cutoff(void **unused) {
  (void)unused;
  rng g = rng_start("test_low_cutoff");
  const double cutoff = 1e-4;
  psdm_filter f = design(4, cutoff, 1);
  long rows = 50000, outside = f.reach + f.reach / 4, count = rows + 2 * outside;
  double *x = numbers((size_t)rows), *y = numbers((size_t)rows), worst = 0, largest = 0, walk = 0;
  long double *plain = malloc(sizeof *plain * (size_t)count);
  assert_non_null(plain);
  for (long i = 0; i < rows; i++) walk += rng_uniform(&g, -0.01, 0.01), x[i] = y[i] = walk;
  filter(&f, rows, 1, y);
  for (long i = 0; i < count; i++) plain[i] = reflected(rows, x, i - outside) - x[0];
  plain_pass(4, cutoff, count, 1, plain);
  plain_pass(4, cutoff, count, -1, plain + count - 1);
  for (long i = 0; i < rows; i++) {
    worst = fmax(worst, (double)fabsl(y[i] - x[0] - plain[outside + i]));
    largest = fmax(largest, fabs(y[i]));
  }
  printf("cutoff 1e-4: reach %ld, at most %.1e of %.2f off\n", f.reach, worst, largest);
  assert_true(worst <= 1e-12 * largest);
  free(x), free(y), free(plain);
}

/* ---- blocks ---- */

/* filtered block by block, each with margins, only the middle kept */
static double worst_in_blocks(const psdm_filter *f, long rows, int columns, const double *x, const double *whole,
                              long step) {
  double worst = 0;
  for (long from = 0; from < rows; from += step) {
    long to = from + step < rows ? from + step : rows, low = from > f->reach ? from - f->reach : 0,
         high = to + f->reach < rows ? to + f->reach : rows;
    size_t size = (size_t)((high - low) * columns);
    double *block = numbers(size);
    memcpy(block, x + low * columns, size * sizeof *block);
    filter(f, high - low, columns, block);
    worst = fmax(worst,
                 max_difference(block + (from - low) * columns, whole + from * columns, (int)((to - from) * columns)));
    free(block);
  }
  return worst;
}

static double compare_blocks(rng *g, int order, double cutoff, bool walk) {
  psdm_filter f = design(order, cutoff, 1);
  int columns = cutoff < 1e-3 ? 1 : 5;
  long rows = 5 * f.reach + 997, size = rows * columns;
  double *x = numbers((size_t)size), *whole = numbers((size_t)size);
  for (long i = 0; i < size; i++) x[i] = rng_uniform(g, -1, 1) + (walk && i >= columns ? x[i - columns] : 0);
  memcpy(whole, x, (size_t)size * sizeof *x);
  filter(&f, rows, columns, whole);
  double worst =
      worst_in_blocks(&f, rows, columns, x, whole, f.reach + rng_int(g, 1, 1000)) / max_absolute(whole, (int)size);
  free(x), free(whole);
  return worst;
}

static void test_blocks(void **unused) {
  (void)unused;
  static const int orders[] = {1, 2, 3, 4, 8, 16, 32};
  static const double cutoffs[] = {0.45, 0.2, 0.05, 0.005};
  rng g = rng_start("test_blocks");
  double worst = 0;
  for (int o = 0; o < COUNT(orders); o++)
    for (int c = 0; c < COUNT(cutoffs); c++)
      for (int walk = 0; walk < 2; walk++) worst = fmax(worst, compare_blocks(&g, orders[o], cutoffs[c], walk));
  double low = compare_blocks(&g, 4, 1e-4, true);
  printf("blocks: at most %.1e of the largest off the whole signal's answer; at cutoff 1e-4 %.1e\n", worst, low);
  assert_true(worst <= 1e-12 && low <= 1e-12);
}

/* every column like a single one */
static void test_columns(void **unused) {
  (void)unused;
  rng g = rng_start("test_columns");
  enum { ROWS = 60, MOST = 9 };
  for (int columns = 1; columns <= MOST; columns++) {
    psdm_filter f = design(columns, 0.1, 1);
    double x[ROWS * MOST], alone[ROWS];
    for (int i = 0; i < ROWS * columns; i++) x[i] = rng_uniform(&g, -1, 1);
    for (int c = 0; c < columns; c++) {
      double all[ROWS * MOST];
      memcpy(all, x, sizeof all);
      for (int i = 0; i < ROWS; i++) alone[i] = x[i * columns + c];
      filter(&f, ROWS, columns, all);
      filter(&f, ROWS, 1, alone);
      for (int i = 0; i < ROWS; i++) assert_true(all[i * columns + c] == alone[i]);
    }
  }
}

/* ---- refusals and extremes ---- */

static void test_arguments(void **unused) {
  (void)unused;
  static const struct {
    int order;
    double cutoff, rate;
  } bad[] = {{0, 1, 10}, {33, 1, 10}, {-1, 1, 10}, {4, 0, 10},   {4, -1, 10}, {4, 5, 10},
             {4, 6, 10}, {4, 1, 0},   {4, 1, -10}, {4, NAN, 10}, {4, 1, NAN}, {4, 1, INFINITY}};
  psdm_filter f;
  for (int i = 0; i < COUNT(bad); i++)
    assert_int_equal(psdm_filter_butterworth(bad[i].order, bad[i].cutoff, bad[i].rate, &f), PSDM_E_ARGUMENT);
}

/* no cutoff and no length is too small; scratch stays proportional to the rows */
static void test_extremes(void **unused) {
  (void)unused;
  static const double cutoffs[] = {1e-300, 1e-12, 1e-6, 0.25, 0.4999999999, 0.49999999999999994};
  for (int order = 1; order <= 32; order++)
    for (int c = 0; c < COUNT(cutoffs); c++) {
      psdm_filter f = design(order, cutoffs[c], 1);
      assert_true(f.reach >= 1 && f.reach <= 1L << 30);
      for (long rows = 2; rows <= 12; rows += 5) {
        double x[12] = {1, -1, 0.5, 3, -2, 0.25, 1, 1, 2, 0, -1, 1}, y[12];
        memcpy(y, x, sizeof x);
        assert_true(psdm_filter_scratch(&f, rows) <= 4 * (size_t)(129 * rows));
        filter(&f, rows, 1, y);
        for (long i = 0; i < rows; i++) {
          assert_true(fabs(y[i]) <= 10);
          /* far below the signal's own frequencies only the line through its ends passes, far above them all of it */
          if (cutoffs[c] <= 1e-6)
            assert_true(fabs(y[i] - (x[0] + (x[rows - 1] - x[0]) * (double)i / (double)(rows - 1))) <= 1e-3);
          if (cutoffs[c] > 0.49999) assert_true(fabs(y[i] - x[i]) <= 1e-6);
        }
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_response),    cmocka_unit_test(test_sine),       cmocka_unit_test(test_line),
      cmocka_unit_test(test_convolution), cmocka_unit_test(test_low_cutoff), cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_columns),     cmocka_unit_test(test_arguments),  cmocka_unit_test(test_extremes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
