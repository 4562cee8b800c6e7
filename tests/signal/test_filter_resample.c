/* test_filter_resample.c: derivatives by differences, and values on a uniform clock. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fenced.h"
#include "psdm/filter.h"

enum { ROWS = 4096 };

static double x[ROWS * 3], out[ROWS * 3], t[ROWS];

/* ---- differences ---- */

/* a parabola's slope is exact everywhere, also at the ends */
static void test_difference_exact(void **unused) {
  (void)unused;
  rng g = rng_start("test_difference_exact");
  for (int trial = 0; trial < 100; trial++) {
    long rows = trial < 10 ? 3 : rng_int(&g, 3, 200);
    int columns = rng_int(&g, 1, 3);
    double a[3], b[3], dt = rng_uniform(&g, 0.001, 2), last = dt * (double)(rows - 1);
    for (int c = 0; c < columns; c++) a[c] = rng_uniform(&g, -1, 1), b[c] = rng_uniform(&g, -1, 1);
    for (long i = 0; i < rows; i++)
      for (int c = 0; c < columns; c++) x[i * columns + c] = (a[c] * dt * (double)i + b[c]) * dt * (double)i;
    psdm_difference(rows, columns, dt, x, out);
    for (long i = 0; i < rows; i++)
      for (int c = 0; c < columns; c++)
        assert_true(fabs(out[i * columns + c] - (2 * a[c] * dt * (double)i + b[c])) <=
                    16 * DBL_EPSILON * (last * last + last) / dt);
  }
}

/* row by row by its formula; nothing outside the rows is read or written */
static void test_difference_twin(void **unused) {
  (void)unused;
  rng g = rng_start("test_difference_twin");
  for (int trial = 0; trial < 60; trial++) {
    long rows = trial < 10 ? 3 + trial % 3 : rng_int(&g, 3, 50), last = rows - 1;
    int columns = rng_int(&g, 1, 3);
    double dt = rng_uniform(&g, 0.001, 2), *from = fenced_new(sizeof *from * (size_t)(rows * columns)),
           *to = fenced_new(sizeof *to * (size_t)(rows * columns));
    for (long i = 0; i < rows * columns; i++) from[i] = rng_uniform(&g, -1, 1);
    psdm_difference(rows, columns, dt, from, to);
    for (long i = 0; i < rows; i++)
      for (int c = 0; c < columns; c++) {
        const double *x0 = from + c, *xn = from + last * columns + c;
        long double slope = i == 0      ? (-3 * (long double)x0[0] + 4 * (long double)x0[columns] - x0[2 * columns])
                            : i == last ? (3 * (long double)xn[0] - 4 * (long double)xn[-columns] + xn[-2 * columns])
                                        : (long double)from[(i + 1) * columns + c] - from[(i - 1) * columns + c];
        assert_true(fabsl(to[i * columns + c] - slope / (2 * dt)) <= 16 * DBL_EPSILON / dt);
      }
    fenced_free(from), fenced_free(to);
  }
}

static double difference_error(long rows, double *at_ends) {
  double dt = 3.0 / (double)(rows - 1), worst = 0;
  for (long i = 0; i < rows; i++) x[i] = sin(2 * dt * (double)i + 0.3);
  psdm_difference(rows, 1, dt, x, out);
  for (long i = 1; i < rows - 1; i++) worst = fmax(worst, fabs(out[i] - 2 * cos(2 * dt * (double)i + 0.3)));
  *at_ends = fmax(fabs(out[0] - 2 * cos(0.3)), fabs(out[rows - 1] - 2 * cos(6.3)));
  return worst;
}

static void test_difference_order(void **unused) {
  (void)unused;
  double ends_before, ends, before = difference_error(101, &ends_before), after = difference_error(201, &ends);
  printf("differences: order %.3f, at the ends %.3f\n", log2(before / after), log2(ends_before / ends));
  assert_true(fabs(log2(before / after) - 2) < 0.05 && fabs(log2(ends_before / ends) - 2) < 0.05);
}

/* ---- resampling ---- */

static void jittered(rng *g, long rows, double span, double jitter) {
  for (long i = 0; i < rows; i++)
    t[i] = span * ((double)i + (i && i < rows - 1 ? rng_uniform(g, -jitter, jitter) : 0)) / (double)(rows - 1);
}

/* any parabola is reproduced, whatever the clock; a line already from two rows, a constant from one */
static void test_resample_exact(void **unused) {
  (void)unused;
  rng g = rng_start("test_resample_exact");
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    long rows = trial < 60 ? 1 + trial % 4 : rng_int(&g, 3, 100), count = rng_int(&g, 1, 300);
    int columns = rng_int(&g, 1, 3);
    double a[3], b[3], c[3], span = rng_uniform(&g, 0.5, 2), dt = span / (double)count;
    if (rows > 1) jittered(&g, rows, span, 0.4);
    else t[0] = 0.1;
    for (int k = 0; k < columns; k++)
      a[k] = rows > 2 ? rng_uniform(&g, -1, 1) : 0, b[k] = rows > 1 ? rng_uniform(&g, -1, 1) : 0,
      c[k] = rng_uniform(&g, -1, 1);
    for (long i = 0; i < rows; i++)
      for (int k = 0; k < columns; k++) x[i * columns + k] = (a[k] * t[i] + b[k]) * t[i] + c[k];
    psdm_resample(rows, columns, t, x, 0, dt, count, out);
    for (long i = 0; i < count; i++)
      for (int k = 0; k < columns; k++) {
        double time = fmin(dt * (double)i, rows > 1 ? t[rows - 1] : 0);
        worst = fmax(worst, fabs(out[i * columns + k] - ((a[k] * time + b[k]) * time + c[k])));
      }
    /* neighbours are at least a fifth of the mean step apart, so that no weight exceeds about ten */
    assert_true(worst <= 256 * DBL_EPSILON * 7);
  }
  printf("parabolas: at most %.1e off\n", worst);
}

/* the same piece written out: slopes first, then the cubic through values and slopes, in extended precision */
static long double plain_slope(long rows, long i) {
  long m = i < 1 ? 1 : i > rows - 2 ? rows - 2 : i;
  long double sum = 0;
  for (long k = m - 1; k <= m + 1; k++) { /* Lagrange's polynomials, differentiated at t_i */
    long double below = 1, slope = 0;
    for (long j = m - 1; j <= m + 1; j++) below *= j == k ? 1 : (long double)t[k] - t[j];
    for (long j = m - 1; j <= m + 1; j++) slope += j == k ? 0 : (long double)t[i] - t[3 * m - k - j];
    sum += x[k] * slope / below;
  }
  return sum;
}

static long double plain_value(long rows, long double time) {
  long j = 0;
  if (time <= t[0]) return x[0];
  if (time >= t[rows - 1]) return x[rows - 1];
  while (t[j + 1] <= time) j++;
  long double h = (long double)t[j + 1] - t[j], d = time - t[j], secant = ((long double)x[j + 1] - x[j]) / h;
  long double s = plain_slope(rows, j), e = plain_slope(rows, j + 1), second = (3 * secant - 2 * s - e) / h,
              third = (s + e - 2 * secant) / (h * h);
  return x[j] + d * (s + d * (second + d * third));
}

/* several columns in fenced memory; two rows are a line, one a constant */
static void test_resample_bounds(void **unused) {
  (void)unused;
  rng g = rng_start("test_resample_bounds");
  for (int trial = 0; trial < 80; trial++) {
    long rows = trial < 40 ? 1 + trial % 4 : rng_int(&g, 3, 40), count = rng_int(&g, 1, 60);
    int columns = rng_int(&g, 1, 3);
    double start = rng_uniform(&g, -0.5, 0.5), dt = 3.0 / (double)count;
    if (rows > 1) jittered(&g, rows, 2, 0.4);
    else t[0] = 0.1;
    double *times = fenced_new(sizeof *times * (size_t)rows),
           *from = fenced_new(sizeof *from * (size_t)(rows * columns)),
           *to = fenced_new(sizeof *to * (size_t)(count * columns));
    memcpy(times, t, sizeof *times * (size_t)rows);
    for (long i = 0; i < rows * columns; i++) from[i] = rng_uniform(&g, -1, 1);
    psdm_resample(rows, columns, times, from, start, dt, count, to);
    for (int c = 0; c < columns; c++) {
      for (long i = 0; i < rows; i++) x[i] = from[i * columns + c];
      for (long i = 0; i < count; i++) {
        long double time = start + dt * (double)i,
                    share = rows == 2 ? fminl(1, fmaxl(0, (time - t[0]) / (t[1] - t[0]))) : 0;
        long double value = rows > 2 ? plain_value(rows, time) : x[0] + share * (rows == 2 ? x[1] - x[0] : 0);
        assert_true(fabsl(to[i * columns + c] - value) <= 4 * DBL_EPSILON * 2 * 20 * 40);
      }
    }
    fenced_free(times), fenced_free(from), fenced_free(to);
  }
}

/* at the ends and beyond them nothing else is read */
static void test_resample_ends(void **unused) {
  (void)unused;
  double rows[6] = {3, NAN, NAN, NAN, NAN, 7}, is[4];
  for (int i = 0; i < 6; i++) t[i] = 0.5 * i;
  psdm_resample(6, 1, t, rows, -0.25, 0.125, 3, is);
  assert_true(is[0] == 3 && is[1] == 3 && is[2] == 3);
  psdm_resample(6, 1, t, rows, 2.5, 1, 4, is);
  assert_true(is[0] == 7 && is[1] == 7 && is[3] == 7);
  /* zeros stay zeros */
  const double none[6] = {0};
  psdm_resample(6, 1, t, none, 0.1, 0.7, 4, is);
  for (int k = 0; k < 4; k++) assert_true(is[k] == 0);
  /* a row two away has no effect, nor has one not next to the time */
  double some[6] = {NAN, 1, 2, 4, 8, NAN};
  psdm_resample(6, 1, t, some, 1.25, 10, 1, is);
  assert_true(isfinite(is[0]));
  some[1] = NAN, some[5] = 16;
  psdm_resample(6, 1, t, some, 1.5, 10, 1, is); /* at a row it begins a piece */
  assert_true(is[0] == 4);
}

static void test_resample_twin(void **unused) {
  (void)unused;
  rng g = rng_start("test_resample_twin");
  double worst = 0;
  for (int trial = 0; trial < 100; trial++) {
    long rows = rng_int(&g, 3, 200), count = rng_int(&g, 1, 400);
    jittered(&g, rows, 2, 0.4);
    for (long i = 0; i < rows; i++) x[i] = rng_uniform(&g, -1, 1);
    double start = rng_uniform(&g, -0.5, 0.5), dt = 3.0 / (double)count;
    psdm_resample(rows, 1, t, x, start, dt, count, out);
    for (long i = 0; i < count; i++)
      worst = fmax(worst, (double)fabsl(out[i] - plain_value(rows, start + dt * (double)i)));
    /* the clock is rounded to eps of its span of two, and slopes reach some 20 per step of 2/200 */
    assert_true(worst <= 4 * DBL_EPSILON * 2 * 20 * 100);
  }
  printf("resampling: at most %.1e off its twin\n", worst);
}

/* unevenness: how far rows are off the even clock, in steps, by a pattern that repeats */
static double resample_error(long rows, double unevenness) {
  static const double pattern[3] = {1, -1, 0.2};
  double worst = 0, dt = 3.0 / 4000;
  for (long i = 0; i < rows; i++)
    t[i] = 3 * ((double)i + (i && i < rows - 1 ? unevenness * pattern[i % 3] : 0)) / (double)(rows - 1);
  for (long i = 0; i < rows; i++) x[i] = sin(2 * t[i] + 0.3);
  psdm_resample(rows, 1, t, x, 0, dt, 4000, out);
  for (long i = 0; i < 4000; i++) worst = fmax(worst, fabs(out[i] - sin(2 * dt * (double)i + 0.3)));
  return worst;
}

/* slopes of second order, values of third */
static void test_resample_order(void **unused) {
  (void)unused;
  double even = log2(resample_error(101, 0) / resample_error(401, 0)) / 2,
         uneven = log2(resample_error(101, 0.3) / resample_error(401, 0.3)) / 2;
  printf("resampling: order %.3f, on an uneven clock %.3f\n", even, uneven);
  assert_true(fabs(even - 3) < 0.1 && fabs(uneven - 3) < 0.1);
}

/* the value at a row is that row, to the bit; beyond the ends the end rows */
static void test_resample_rows(void **unused) {
  (void)unused;
  rng g = rng_start("test_resample_rows");
  for (long i = 0; i < 50; i++)
    t[i] = 0.125 * (double)i, x[2 * i] = rng_uniform(&g, -1, 1), x[2 * i + 1] = rng_uniform(&g, -1, 1);
  psdm_resample(50, 2, t, x, -1, 0.125, 66, out);
  for (long i = 0; i < 66; i++) {
    long row = i < 8 ? 0 : i - 8 > 49 ? 49 : i - 8;
    assert_memory_equal(out + 2 * i, x + 2 * row, 2 * sizeof *x);
  }
}

/* two rows are a line, and beyond it the nearest row */
static void test_resample_two(void **unused) {
  (void)unused;
  const double times[2] = {0.5, 2}, rows[4] = {3, -1, 7, 5};
  double is[2 * 21];
  psdm_resample(2, 2, times, rows, 0.25, 0.1, 21, is);
  for (int k = 0; k < 21; k++) {
    double u = fmin(fmax((0.25 + 0.1 * k - 0.5) / 1.5, 0), 1);
    assert_true(fabs(is[2 * k] - (3 + 4 * u)) < 1e-14 * 7 && fabs(is[2 * k + 1] - (6 * u - 1)) < 1e-14 * 7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_difference_exact), cmocka_unit_test(test_difference_twin),
                                     cmocka_unit_test(test_difference_order), cmocka_unit_test(test_resample_exact),
                                     cmocka_unit_test(test_resample_twin),    cmocka_unit_test(test_resample_order),
                                     cmocka_unit_test(test_resample_rows),    cmocka_unit_test(test_resample_two),
                                     cmocka_unit_test(test_resample_bounds),  cmocka_unit_test(test_resample_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
