/* test_sections_spectrum.c: the report's computations on residuals, each against a plain twin: Fourier transform,
 * Welch's estimate, histograms, normal curves, means in bins. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/spectrum_priv.h"
#include "support.h"

static const double pi = 3.14159265358979323846;

static double *numbers(size_t count) {
  double *out = calloc(count ? count : 1, sizeof *out);
  assert_non_null(out);
  return out;
}

/* ---- Fourier ---- */

/* the definition; angles are reduced before they are large */
static void plain_fourier(size_t count, const double *re, const double *im, double *out_re, double *out_im) {
  for (size_t k = 0; k < count; k++) {
    out_re[k] = out_im[k] = 0;
    for (size_t j = 0; j < count; j++) {
      double angle = -2 * pi * (double)(j * k % count) / (double)count;
      out_re[k] += re[j] * cos(angle) - im[j] * sin(angle);
      out_im[k] += re[j] * sin(angle) + im[j] * cos(angle);
    }
  }
}

/* errors of both sums grow with the norm of the input times count (the plain one) in the worst case; in the mean far
 * less */
static void test_fourier(void **state) {
  (void)state;
  rng g = rng_start("test_fourier");
  for (size_t count = 1; count <= 1024; count *= 2) {
    double *x = numbers(8 * count), *re = x + 2 * count, *im = re + count, *want_re = im + count,
           *want_im = want_re + count, *cosine = want_im + count, *sine = cosine + count / 2, norm = 0;
    for (size_t k = 0; k < 2 * count; k++) x[k] = rng_uniform(&g, -1, 1), norm += x[k] * x[k];
    memcpy(re, x, 2 * count * sizeof *x);
    psdmp_report_fourier_table(count, cosine, sine);
    psdmp_report_fourier(count, re, im, cosine, sine);
    plain_fourier(count, x, x + count, want_re, want_im);
    double most = 8 * DBL_EPSILON * sqrt((double)count) * sqrt(norm) * (1 + log2((double)count)), power = 0;
    for (size_t k = 0; k < count; k++) {
      assert_true(fabs(re[k] - want_re[k]) <= most + 4 * DBL_EPSILON * (double)count);
      assert_true(fabs(im[k] - want_im[k]) <= most + 4 * DBL_EPSILON * (double)count);
      power += re[k] * re[k] + im[k] * im[k];
    }
    /* Parseval */
    assert_true(fabs(power / (double)count - norm) <= 64 * DBL_EPSILON * norm);
    free(x);
  }
}

/* ---- Welch ---- */

/* the same windows one after the other, by the definition; returns how many */
static size_t plain_welch(const double *x, size_t count, double rate, size_t length, double *power) {
  double *w = numbers(6 * length), *re = w + length, *im = re + length, *out_re = im + length,
         *out_im = out_re + length, square = 0;
  size_t windows = 0;
  memset(power, 0, (length / 2 + 1) * sizeof *power);
  for (size_t k = 0; k < length; k++)
    w[k] = sin(pi * (double)k / (double)length) * sin(pi * (double)k / (double)length), square += w[k] * w[k];
  for (size_t from = 0; from + length <= count;) {
    size_t bad = 0;
    double mean = 0;
    for (size_t k = 0; k < length; k++)
      if (!isfinite(x[from + k])) bad = k + 1;
    if (bad) {
      from += bad;
      continue;
    }
    for (size_t k = 0; k < length; k++) mean += x[from + k] / (double)length;
    for (size_t k = 0; k < length; k++) re[k] = w[k] * (x[from + k] - mean), im[k] = 0;
    plain_fourier(length, re, im, out_re, out_im);
    for (size_t k = 0; k <= length / 2; k++)
      power[k] +=
          (out_re[k] * out_re[k] + out_im[k] * out_im[k]) * (k == 0 || k == length / 2 ? 1 : 2) / (square * rate);
    windows++;
    from += length / 2;
  }
  for (size_t k = 0; windows && k <= length / 2; k++) power[k] /= (double)windows;
  free(w);
  return windows;
}

static void test_welch_twin(void **state) {
  (void)state;
  rng g = rng_start("test_welch_twin");
  for (int round = 0; round < 40; round++) {
    size_t length = (size_t)1 << rng_int(&g, 4, 7), count = (size_t)rng_int(&g, 0, 1200);
    double *x = numbers(count), *power = numbers(length / 2 + 1), *want = numbers(length / 2 + 1),
           *scratch = numbers(4 * length), rate = rng_uniform(&g, 0.5, 2000), most = 0;
    for (size_t k = 0; k < count; k++) x[k] = rng_uniform(&g, -3, 5);
    for (int gap = rng_int(&g, 0, 4); gap > 0 && count; gap--)
      x[rng_int(&g, 0, (int)count - 1)] = rng_int(&g, 0, 1) ? NAN : INFINITY;
    size_t windows = psdmp_report_welch(x, count, rate, length, power, scratch);
    assert_int_equal(windows, plain_welch(x, count, rate, length, want));
    for (size_t k = 0; k <= length / 2; k++) most = fmax(most, want[k]);
    for (size_t k = 0; windows && k <= length / 2; k++) assert_true(fabs(power[k] - want[k]) <= 1e-12 * most);
    free(x), free(power), free(want), free(scratch);
  }
}

/* a sine with whole periods in every window: all its power, amplitude^2 / 2, around its frequency, whatever the rate */
static void test_welch_sine(void **state) {
  (void)state;
  rng g = rng_start("test_welch_sine");
  enum { LENGTH = 256, COUNT = 4096 };
  double *x = numbers(COUNT), *power = numbers(LENGTH / 2 + 1), *scratch = numbers(4 * LENGTH);
  for (int round = 0; round < 20; round++) {
    double amplitude = rng_uniform(&g, 0.1, 10), phase = rng_uniform(&g, 0, 6), offset = rng_uniform(&g, -50, 50),
           rate = rng_uniform(&g, 10, 1000), sum = 0;
    int bin = rng_int(&g, 3, LENGTH / 2 - 3);
    for (int k = 0; k < COUNT; k++)
      x[k] = offset + amplitude * sin(2 * pi * (double)(k * bin % LENGTH) / LENGTH + phase);
    assert_int_equal(psdmp_report_welch(x, COUNT, rate, LENGTH, power, scratch), 2 * COUNT / LENGTH - 1);
    for (int k = 0; k <= LENGTH / 2; k++) sum += power[k] * rate / LENGTH;
    assert_true(fabs(sum - amplitude * amplitude / 2) <= 1e-10 * (amplitude * amplitude + fabs(offset)));
    for (int k = 0; k <= LENGTH / 2; k++)
      if (abs(k - bin) > 1) assert_true(power[k] <= 1e-20 * (amplitude * amplitude + offset * offset) * LENGTH);
  }
  free(x), free(power), free(scratch);
}

static void test_welch_length(void **state) {
  (void)state;
  for (size_t count = 0; count < 40000; count += 7) {
    size_t length = psdmp_report_welch_length(count);
    assert_true(length == 0 ? count < 16
                            : length >= 16 && length <= 2048 && (length & (length - 1)) == 0 && length <= count);
    if (length > 16) assert_true(9 * length / 2 <= count);
  }
}

/* ---- distributions ---- */

static void test_spread(void **state) {
  (void)state;
  rng g = rng_start("test_spread");
  for (int round = 0; round < 200; round++) {
    int count = rng_int(&g, 0, 60), used = 0;
    double x[60], sum = 0, square = 0;
    for (int k = 0; k < count; k++) {
      x[k] = rng_int(&g, 0, 9) ? rng_uniform(&g, -4, 9) : NAN;
      if (!isnan(x[k])) sum += x[k], used++;
    }
    psdmp_report_spread s = psdmp_report_spread_of(x, (size_t)count);
    assert_int_equal(s.count, used);
    if (used < 2) {
      assert_true(isnan(s.sd) && isnan(s.inside[0]));
      continue;
    }
    for (int k = 0; k < count; k++) square += isnan(x[k]) ? 0 : (x[k] - sum / used) * (x[k] - sum / used);
    assert_true(fabs(s.mean - sum / used) < 1e-13 && fabs(s.sd - sqrt(square / (used - 1))) < 1e-13);
    for (int i = 0; i < 3; i++) {
      int inside = 0;
      for (int k = 0; k < count; k++) inside += fabs(x[k] - s.mean) <= (i + 1) * s.sd;
      assert_true(s.inside[i] == (double)inside / used && s.inside[i] <= 1);
    }
    assert_true(s.inside[0] <= s.inside[1] && s.inside[1] <= s.inside[2]);
  }
}

/* sum of uniform numbers: nearly normal, so that shares come near those of a normal distribution, 4 standard errors
 * apart at most */
static void test_normal_shares(void **state) {
  (void)state;
  rng g = rng_start("test_normal_shares");
  enum { COUNT = 20000 };
  static const double want[3] = {0.6827, 0.9545, 0.9973};
  double *x = numbers(COUNT);
  for (int k = 0; k < COUNT; k++)
    for (int i = 0; i < 24; i++) x[k] += rng_uniform(&g, -1, 1);
  psdmp_report_spread s = psdmp_report_spread_of(x, COUNT);
  for (int i = 0; i < 3; i++)
    assert_true(fabs(s.inside[i] - want[i]) < 4 * sqrt(want[i] * (1 - want[i]) / COUNT) + 0.003);
  assert_true(fabs(s.sd - sqrt(8)) < 4 * sqrt(8) / sqrt(2.0 * COUNT));
  free(x);
}

static void test_normal(void **state) {
  (void)state;
  double sum = 0, moment = 0;
  const double mean = 1.3, sd = 0.4, step = 1e-3;
  for (int k = -4000; k <= 4000; k++) {
    double x = mean + k * step, y = psdmp_report_normal(mean, sd, x);
    sum += y * step, moment += y * step * (x - mean) * (x - mean);
  }
  assert_true(fabs(sum - 1) < 1e-12 && fabs(moment - sd * sd) < 1e-12);
  assert_true(fabs(psdmp_report_normal(0, 1, 0) - 0.3989422804014327) < 1e-15);
}

static void test_histogram(void **state) {
  (void)state;
  rng g = rng_start("test_histogram");
  double middle[PSDMP_REPORT_MOST_BINS], density[PSDMP_REPORT_MOST_BINS], x[500], scratch[500];
  for (int round = 0; round < 100; round++) {
    int count = rng_int(&g, 1, 500), bins = rng_int(&g, 1, PSDMP_REPORT_MOST_BINS), used = 0;
    double low = rng_uniform(&g, -2, 0), high = rng_uniform(&g, 0.1, 2), width = (high - low) / bins, share = 0;
    for (int k = 0; k < count; k++) x[k] = rng_int(&g, 0, 20) ? rng_uniform(&g, -3, 3) : NAN, used += !isnan(x[k]);
    x[0] = high; /* the last bin has both its ends */
    used = 0;
    for (int k = 0; k < count; k++) used += !isnan(x[k]);
    assert_true(psdmp_report_histogram(x, (size_t)count, low, high, bins, middle, density));
    for (int b = 0; b < bins; b++) {
      int inside = 0;
      for (int k = 0; k < count; k++) inside += fabs(x[k] - middle[b]) <= width / 2;
      /* a value on the border of two bins counts in one of them */
      assert_true(fabs(density[b] * used * width - inside) < 1.001);
      assert_true(fabs(density[b] * used * width - rint(density[b] * used * width)) < 1e-9);
      share += density[b] * width;
    }
    int inside = 0;
    for (int k = 0; k < count; k++) inside += x[k] >= low && x[k] <= high;
    assert_true(fabs(share - (double)inside / used) < 1e-12);
    int chosen = psdmp_report_histogram_bins(x, (size_t)count, scratch, low, high);
    assert_true(chosen >= PSDMP_REPORT_LEAST_BINS && chosen <= PSDMP_REPORT_MOST_BINS);
  }
  x[0] = NAN;
  assert_false(psdmp_report_histogram(x, 1, 0, 1, 10, middle, density));
  assert_false(psdmp_report_histogram(x, 1, 1, 1, 10, middle, density));
  assert_false(psdmp_report_histogram(x, 1, NAN, 1, 10, middle, density));
  assert_int_equal(psdmp_report_histogram_bins(x, 1, scratch, 0, 1), PSDMP_REPORT_LEAST_BINS);
}

static const double *sorted_by;

static int compare_places(const void *a, const void *b) {
  double x = sorted_by[*(const size_t *)a], y = sorted_by[*(const size_t *)b];
  return (x > y) - (x < y);
}

static void test_binned_means(void **state) {
  (void)state;
  rng g = rng_start("test_binned_means");
  for (int round = 0; round < 100; round++) {
    enum { MOST = 300 };
    double x[MOST], y[MOST], mean_x[24], mean_y[24], all = 0, back = 0;
    size_t order[MOST], plain[MOST], used = 0;
    int count = rng_int(&g, 0, MOST), bins = rng_int(&g, 1, 24);
    for (int k = 0; k < count; k++) {
      x[k] = rng_int(&g, 0, 9) ? rng_uniform(&g, -5, 5) : NAN, y[k] = rng_int(&g, 0, 9) ? rng_uniform(&g, -5, 5) : NAN;
      if (!isnan(x[k]) && !isnan(y[k])) plain[used++] = (size_t)k, all += y[k];
    }
    int made = psdmp_report_binned_means(x, y, (size_t)count, bins, order, mean_x, mean_y);
    assert_int_equal(made, used < (size_t)bins ? (int)used : bins);
    sorted_by = x;
    qsort(plain, used, sizeof *plain, compare_places);
    for (size_t k = 0; k < used; k++) assert_int_equal(order[k], plain[k]);
    for (int b = 1; b < made; b++) assert_true(mean_x[b] > mean_x[b - 1]);
    /* bins of equal size: the mean of means is the mean of all */
    for (int b = 0; b < made; b++) back += mean_y[b] / made;
    if (used && used % (size_t)made == 0) assert_true(fabs(back - all / (double)used) < 1e-13);
    if (made == 1) assert_true(fabs(mean_y[0] - all / (double)used) < 1e-13);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fourier),      cmocka_unit_test(test_welch_twin), cmocka_unit_test(test_welch_sine),
      cmocka_unit_test(test_welch_length), cmocka_unit_test(test_spread),     cmocka_unit_test(test_normal_shares),
      cmocka_unit_test(test_normal),       cmocka_unit_test(test_histogram),  cmocka_unit_test(test_binned_means),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
