/* test_filter_exact.c: what a low pass reads and needs: its reach by the poles, its exact scratch size, response at any
 * frequency, and short signals against the sum of sines of their continuation, in fenced memory. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fenced.h"
#include "psdm/filter.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const long double PI = 3.14159265358979323846264338327950288L;
static const long LONGEST = 1L << 30;

static psdm_filter design(int order, double cutoff, double rate) {
  psdm_filter f;
  assert_int_equal(psdm_filter_butterworth(order, cutoff, rate, &f), PSDM_OK);
  return f;
}

/* ---- reach ---- */

/* sum over |m| > reach of sum_k |s_k / 2N  2 g / (1 - g s_k)^2| |p_k|^(|m| - 1) */
static long double beyond(int order, long double g, long double reach) {
  long double sum = 0;
  for (int k = 0; k < order; k++) {
    long double complex s = cexpl(I * (PI / 2 + (2 * k + 1) * PI / (2 * order))), below = 1 - g * s;
    long double size = cabsl((1 + g * s) / below);
    sum += 2 / (2.0L * order) * 2 * g / (cabsl(below) * cabsl(below)) * powl(size, reach) / (1 - size);
  }
  return sum;
}

/* the smallest number of samples beyond which at most 1e-13 remains */
static void test_reach(void **unused) {
  (void)unused;
  static const double cutoffs[] = {1e-4, 3e-3, 0.02, 0.1, 0.25, 0.31, 0.4, 0.47, 0.499};
  for (int order = 1; order <= 32; order++)
    for (int c = 0; c < COUNT(cutoffs); c++) {
      psdm_filter f = design(order, cutoffs[c], 1);
      long double g = tanl(PI * cutoffs[c]);
      assert_true(fabsl(f.g / g - 1) <= 4 * DBL_EPSILON);
      assert_true(f.reach >= 1);
      /* its only pole is zero there: 0^0 */
      if (order > 1 || cutoffs[c] != 0.25) assert_true(beyond(order, g, f.reach) <= 1e-13L * (1 + 1e-9L));
      if (f.reach > 1) assert_true(beyond(order, g, f.reach - 1) >= 1e-13L * (1 - 1e-9L));
    }
  assert_int_equal(design(1, 0.25, 1).reach, 1);
  assert_int_equal(design(4, 1e-300, 1).reach, LONGEST);
  assert_int_equal(design(3, 1e-12, 1).reach, LONGEST);
}

/* every number of a filter is set, also in unused sections */
static void test_every_byte(void **unused) {
  (void)unused;
  for (int order = 1; order <= 32; order++) {
    psdm_filter a, b;
    memset(&a, 0xA5, sizeof a), memset(&b, 0x5A, sizeof b);
    assert_int_equal(psdm_filter_butterworth(order, 30, 250, &a), PSDM_OK);
    assert_int_equal(psdm_filter_butterworth(order, 30, 250, &b), PSDM_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.sections, (order + 1) / 2);
    for (int k = 0; k < PSDM_FILTER_SECTIONS; k++) {
      bool second = k < order / 2, first = order % 2 && k == order / 2;
      assert_true(second ? fabs(a.damping[k] - 2 * sin((2 * k + 1) * (double)PI / (2 * order))) <= 4 * DBL_EPSILON
                         : a.damping[k] == 0);
      assert_true(a.a[k][0] == (second || first) && (second || (a.a[k][2] == 0 && a.b[k][2] == 0)));
    }
  }
}

/* ---- scratch ---- */

/* four numbers a row, of the rows and their continuations: reach, at most 64 times their length, at most 2^30 */
static void test_scratch(void **unused) {
  (void)unused;
  const long rows[] = {
      0,        1,       2, 3, 10, 1000, (1L << 24) - 2, (1L << 24) - 1, 1L << 24, (1L << 24) + 1, (1L << 24) + 2,
      1L << 30, 1L << 56};
  const psdm_filter filters[] = {design(4, 0.2, 1), design(2, 1e-3, 1), design(4, 1e-300, 1)};
  for (int i = 0; i < COUNT(filters); i++)
    for (int k = 0; k < COUNT(rows); k++) {
      size_t outside = rows[k] < 2                                                   ? 0
                       : rows[k] > 1L << 25 || 64 * (rows[k] - 1) > filters[i].reach ? (size_t)filters[i].reach
                                                                                     : 64 * (size_t)(rows[k] - 1);
      assert_true(psdm_filter_scratch(&filters[i], rows[k]) == (rows[k] < 2 ? 0 : 4 * ((size_t)rows[k] + 2 * outside)));
    }
}

/* ---- response ---- */

/* |H| is one of |tan|: it repeats with the rate, and a frequency has no sign */
static void test_any_frequency(void **unused) {
  (void)unused;
  static const double frequencies[] = {0, 1, 30, 77, 124.9, 125.1, 170, 249, 250, 281, 1033};
  const double rate = 250;
  for (int order = 1; order <= 9; order++)
    for (int c = 0; c < COUNT(frequencies); c++) {
      psdm_filter f = design(order, 30, rate);
      long double w = fabsl(tanl(PI * fmodl(frequencies[c], rate) / rate)) / tanl(PI * 30 / rate),
                  wanted = 1 / sqrtl(1 + powl(w, 2 * order));
      for (int sign = -1; sign <= 1; sign += 2) {
        double gain = psdm_filter_gain(&f, sign * frequencies[c], rate);
        /* near half the rate, and beyond several of its multiples, the tangent's error grows with its slope */
        assert_true(fabsl(gain / wanted - 1) <= 1e-10L * order || fabsl(gain - wanted) < 1e-15L);
      }
    }
  for (int order = 1; order <= 9; order++) {
    psdm_filter f = design(order, 30, rate);
    assert_true(psdm_filter_gain(&f, 125, rate) < 1e-15 && psdm_filter_gain(&f, -125, rate) < 1e-15);
  }
}

/* ---- short signals ---- */

/* The rest above the line through the ends is odd and repeats after 2 (rows - 1): a sum of sines, each of which comes
 * out as |H|^2 times itself. */
static void by_sines(int order, double cutoff, long rows, int columns, const double *x, long double *y) {
  long last = rows - 1;
  for (int c = 0; c < columns; c++) {
    long double from = x[c], slope = (x[last * columns + c] - from) / last;
    for (long i = 0; i < rows; i++) y[i * columns + c] = from + slope * i;
    for (long k = 1; k < last; k++) {
      long double amount = 0, w = tanl(PI * k / (2 * last)) / tanl(PI * cutoff), power = 1 / (1 + powl(w, 2 * order));
      for (long i = 1; i < last; i++)
        amount += 2.0L / last * (x[i * columns + c] - from - slope * i) * sinl(PI * k * i / last);
      for (long i = 1; i < last; i++) y[i * columns + c] += power * amount * sinl(PI * k * i / last);
    }
  }
}

/* one pass pole by pole, p = (1 + g s)/(1 - g s), begun in the steady state of the first value */
static void plain_pass(int order, long double g, long count, long step, long double *x) {
  enum { MOST = 64 * 2 * 29 + 30 };
  static long double complex y[MOST];
  assert_true(count <= MOST);
  for (long i = 0; i < count; i++) y[i] = x[i * step];
  for (int k = 0; k < order; k++) {
    long double complex s = cexpl(I * (PI / 2 + (2 * k + 1) * PI / (2 * order))),
                        short_of_one = -2 * g * s / (1 - g * s), before = y[0], state = y[0];
    for (long i = 0; i < count; i++) {
      long double complex now = y[i];
      state += short_of_one * ((now + before) / 2 - state);
      before = now, y[i] = state;
    }
  }
  for (long i = 0; i < count; i++) x[i * step] = creall(y[i]);
}

/* the same by two passes over the rest above the line, continued over reach, at most 64 times its length */
static void by_passes(const psdm_filter *f, int order, double cutoff, long rows, int columns, const double *x,
                      long double *y) {
  static long double all[64 * 2 * 29 + 30];
  long last = rows - 1, outside = f->reach < 64 * last ? f->reach : 64 * last;
  for (int c = 0; c < columns; c++) {
    long double from = x[c], slope = (x[last * columns + c] - from) / last;
    for (long i = -outside; i <= last + outside; i++) {
      long at = (i % (2 * last) + 2 * last) % (2 * last), inside = at <= last ? at : 2 * last - at;
      all[outside + i] = (at <= last ? 1 : -1) * (x[inside * columns + c] - from - slope * inside);
    }
    plain_pass(order, tanl(PI * cutoff), rows + 2 * outside, 1, all);
    plain_pass(order, tanl(PI * cutoff), rows + 2 * outside, -1, all + rows + 2 * outside - 1);
    for (long i = 0; i < rows; i++) y[i * columns + c] = from + slope * i + all[outside + i];
  }
}

static void test_short_signals(void **unused) {
  (void)unused;
  static const double cutoffs[] = {0.002, 0.02, 0.06, 0.13, 0.25, 0.37, 0.49};
  rng g = rng_start("test_short_signals");
  double worst = 0, sines = 0;
  int cut_short = 0;
  for (int trial = 0; trial < 120; trial++) {
    int order = 1 + trial % 9, columns = 1 + trial % 10;
    long rows = trial < 40 ? 2 + trial % 5 : rng_int(&g, 3, 30);
    double cutoff = cutoffs[trial % COUNT(cutoffs)];
    psdm_filter f = design(order, cutoff * 40, 40);
    size_t size = (size_t)(rows * columns), room = psdm_filter_scratch(&f, rows);
    double *x = fenced_new(size * sizeof *x), *scratch = fenced_new(room * sizeof *scratch);
    long double passes[30 * 10], sum[30 * 10];
    for (size_t i = 0; i < size; i++) x[i] = rng_uniform(&g, -1, 1);
    by_passes(&f, order, cutoff, rows, columns, x, passes);
    by_sines(order, cutoff, rows, columns, x, sum);
    psdm_filter_zero_phase(&f, rows, columns, x, scratch);
    bool whole = 64 * (rows - 1) >= f.reach;
    cut_short += !whole;
    for (size_t i = 0; i < size; i++) {
      worst = fmax(worst, (double)fabsl(x[i] - passes[i]));
      if (whole) sines = fmax(sines, (double)fabsl(x[i] - sum[i]));
    }
    assert_true(worst <= 1e-12 && sines <= 1e-12);
    fenced_free(x), fenced_free(scratch);
  }
  printf("short signals: at most %.1e off two plain passes, %.1e off their sines; %d are shorter than reach / 64\n",
         worst, sines, cut_short);
  assert_in_range(cut_short, 10, 110);
}

/* fewer than two rows are unchanged */
static void test_too_few(void **unused) {
  (void)unused;
  psdm_filter f = design(4, 0.1, 1);
  double x[3] = {5, -2, 7};
  psdm_filter_zero_phase(&f, 1, 3, x, NULL);
  psdm_filter_zero_phase(&f, 0, 3, x, NULL);
  assert_true(x[0] == 5 && x[1] == -2 && x[2] == 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_reach),         cmocka_unit_test(test_every_byte),
                                     cmocka_unit_test(test_scratch),       cmocka_unit_test(test_any_frequency),
                                     cmocka_unit_test(test_short_signals), cmocka_unit_test(test_too_few)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
