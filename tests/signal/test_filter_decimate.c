/* test_filter_decimate.c: the decimator's bands, its blocks and its ends. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fenced.h"
#include "psdm/filter.h"

static const double PI = 3.14159265358979323846;
static const int factors[] = {2, 3, 4, 5, 8, 10, 33};
enum { FACTORS = sizeof factors / sizeof *factors, ROWS = 4000, MOST = 5 };

static double x[ROWS * MOST], out[ROWS * MOST], part[ROWS * MOST];

static psdm_decimator design(int factor) {
  psdm_decimator d;
  assert_int_equal(psdm_decimator_new(factor, NULL, &d), PSDM_OK);
  assert_int_equal(d.factor, factor);
  return d;
}

static double response(const psdm_decimator *d, double frequency) {
  double sum = d->taps[0];
  for (int k = 1; k <= d->half; k++) sum += 2 * d->taps[k] * cos(2 * PI * frequency * k);
  return sum;
}

/* bands by 2000 frequencies each; new rate = 1 / factor */
static void test_bands(void **unused) {
  (void)unused;
  double ripple = 0, stop = 0;
  for (int i = 0; i < FACTORS; i++) {
    psdm_decimator d = design(factors[i]);
    double low = 0.4 / factors[i], high = 0.6 / factors[i];
    for (int k = 0; k <= 2000; k++) {
      ripple = fmax(ripple, fabs(response(&d, low * k / 2000) - 1));
      stop = fmax(stop, fabs(response(&d, high + (0.5 - high) * k / 2000)));
    }
    psdm_decimator_free(&d, NULL);
  }
  printf("decimators: pass band flat to %.1e, stop band below by %.1f dB\n", ripple, -20 * log10(stop));
  /* at least 80 dB; Kaiser's formula, which is exact to about 1 dB, was used for 90 */
  assert_true(ripple <= 1e-4 && stop <= 1e-4);
  assert_true(stop <= pow(10, -89 / 20.));
}

/* the signal itself: a slow sine stays, a fast one goes, and neither is moved */
static void test_sines(void **unused) {
  (void)unused;
  rng g = rng_start("test_sines");
  for (int i = 0; i < FACTORS; i++) {
    psdm_decimator d = design(factors[i]);
    double slow = rng_uniform(&g, 0.05, 0.4) / factors[i], fast = rng_uniform(&g, 0.6, 0.99) / factors[i],
           phase = rng_uniform(&g, 0, 6);
    long first = d.half, count = (ROWS - 1 - 2 * d.half) / factors[i];
    for (long k = 0; k < ROWS; k++) x[k] = cos(2 * PI * slow * (double)k + phase) + cos(2 * PI * fast * (double)k);
    psdm_decimate(&d, ROWS, 1, x, first, count, out);
    for (long k = 0; k < count; k++)
      assert_true(fabs(out[k] - cos(2 * PI * slow * (double)(first + k * factors[i]) + phase)) <= 2e-4);
    psdm_decimator_free(&d, NULL);
  }
}

/* written out with every tap, missing rows and all, in extended precision */
static long double plain(const psdm_decimator *d, long rows, int columns, long row, int column) {
  long double sum = 0, weight = 0;
  for (long k = -d->half; k <= d->half; k++)
    if (row + k >= 0 && row + k < rows)
      sum += (long double)d->taps[labs(k)] * x[(row + k) * columns + column], weight += d->taps[labs(k)];
  return sum / weight;
}

static void test_twin(void **unused) {
  (void)unused;
  rng g = rng_start("test_twin");
  double worst = 0;
  for (int trial = 0; trial < 60; trial++) {
    psdm_decimator d = design(trial % 10 + 1);
    int columns = rng_int(&g, 1, MOST);
    long rows = rng_int(&g, 1, 400), first = rng_int(&g, 0, (int)(rows < d.factor ? rows : d.factor) - 1),
         count = (rows - 1 - first) / d.factor + 1;
    for (long i = 0; i < rows * columns; i++) x[i] = rng_uniform(&g, -1, 1);
    psdm_decimate(&d, rows, columns, x, first, count, out);
    for (long k = 0; k < count; k++)
      for (int c = 0; c < columns; c++)
        worst = fmax(worst, (double)fabsl(out[k * columns + c] - plain(&d, rows, columns, first + k * d.factor, c)));
    psdm_decimator_free(&d, NULL);
    /* some 300 products, their absolute sum below 4 */
    assert_true(worst <= 300 * DBL_EPSILON);
  }
  printf("decimators: at most %.1e off their twin\n", worst);
}

/* blocks with half rows around them give the same bits */
static void test_blocks(void **unused) {
  (void)unused;
  rng g = rng_start("test_blocks");
  for (int i = 0; i < FACTORS; i++) {
    psdm_decimator d = design(factors[i]);
    int columns = rng_int(&g, 1, MOST);
    long first = rng_int(&g, 0, d.factor - 1), count = (ROWS - 1 - first) / d.factor + 1;
    for (long k = 0; k < ROWS * columns; k++) x[k] = rng_uniform(&g, -1, 1);
    psdm_decimate(&d, ROWS, columns, x, first, count, out);
    for (long at = 0, size; at < count; at += size) {
      size = rng_int(&g, 1, 200);
      if (size > count - at) size = count - at;
      long begin = first + at * d.factor, end = begin + (size - 1) * d.factor,
           low = begin > d.half ? begin - d.half : 0, high = end + d.half < ROWS ? end + d.half + 1 : ROWS;
      psdm_decimate(&d, high - low, columns, x + low * columns, begin - low, size, part);
      assert_memory_equal(part, out + at * columns, sizeof *part * (size_t)(size * columns));
    }
    psdm_decimator_free(&d, NULL);
  }
}

/* a constant stays one at the ends as well; a factor of one changes nothing */
static void test_ends(void **unused) {
  (void)unused;
  for (int i = 0; i < FACTORS; i++) {
    psdm_decimator d = design(factors[i]);
    for (long k = 0; k < ROWS; k++) x[k] = 0.7;
    psdm_decimate(&d, ROWS, 1, x, 0, (ROWS - 1) / d.factor + 1, out);
    for (long k = 0; k < (ROWS - 1) / d.factor + 1; k++) assert_true(fabs(out[k] - 0.7) <= 200 * DBL_EPSILON);
    psdm_decimator_free(&d, NULL);
  }
  /* and zeros stay zeros */
  psdm_decimator zero = design(3);
  memset(x, 0, 100 * sizeof *x), memset(out, 0xA5, 30 * sizeof *out);
  psdm_decimate(&zero, 100, 1, x, 0, 30, out);
  for (long k = 0; k < 30; k++) assert_true(out[k] == 0);
  psdm_decimator_free(&zero, NULL);
  psdm_decimator d = design(1);
  for (long k = 0; k < ROWS; k++) x[k] = sin((double)(k * k));
  psdm_decimate(&d, ROWS, 1, x, 0, ROWS, out);
  assert_memory_equal(x, out, sizeof *x * ROWS);
  psdm_decimator_free(&d, NULL);
}

/* I_0 by its integral, (1 / pi) int_0^pi exp(z cos t) dt: the trapezoidal rule is exact up to rounding */
static long double bessel(long double z) {
  const int steps = 60;
  long double sum = 0, pi = acosl(-1);
  for (int k = 0; k <= steps; k++) sum += (k == 0 || k == steps ? 0.5L : 1) * expl(z * cosl(pi * k / steps));
  return sum / steps;
}

/* Kaiser's formulas for 90 dB between 0.4 and 0.6 of the new rate; taps one by one, those at multiples of the factor
 * zero to the bit */
static void test_taps(void **unused) {
  (void)unused;
  const long double beta = 0.1102L * (90 - 8.7L), pi = acosl(-1);
  for (int factor = 1; factor <= 26; factor += factor < 12 ? 1 : 7) {
    counting memory;
    psdm_decimator d;
    counting_fenced_init(&memory, 0);
    memset(&d, 0xA5, sizeof d);
    assert_int_equal(psdm_decimator_new(factor, &memory.allocator, &d), PSDM_OK);
    long half = factor == 1 ? 0 : (long)ceill((90 - 8) / (2.285L * 2 * pi * (0.6L - 0.4L) / factor) / 2);
    assert_true(d.factor == factor && d.half == half && memory.live == 1);
    long double taps[600], sum = 0;
    assert_true(half < 600);
    for (long k = 0; k <= half; k++) {
      long double place = half ? (long double)k / half : 0, angle = pi * k / factor;
      taps[k] = bessel(beta * sqrtl(1 - place * place)) / bessel(beta) * (k ? sinl(angle) / angle : 1);
      sum += (k ? 2 : 1) * taps[k];
    }
    for (long k = 0; k <= half; k++) {
      if (k && k % factor == 0) assert_true(d.taps[k] == 0);
      else
        assert_true(fabsl(d.taps[k] - taps[k] / sum) <=
                    32 * DBL_EPSILON * fabsl(taps[k] / sum) + 4 * DBL_EPSILON * (k ? 1.0L / (pi * k) : 0));
    }
    psdm_decimator_free(&d, &memory.allocator);
    assert_true(memory.live == 0 && !d.taps && d.factor == 0 && d.half == 0);
  }
}

/* only these rows are read, and only these answers are written */
static void test_bounds(void **unused) {
  (void)unused;
  rng g = rng_start("test_bounds");
  for (int trial = 0; trial < 100; trial++) {
    psdm_decimator d = design(trial % 5 + 1);
    int columns = rng_int(&g, 1, MOST);
    long rows = rng_int(&g, 1, 200), first = rng_int(&g, 0, (int)rows - 1), count = (rows - 1 - first) / d.factor + 1;
    double *from = fenced_new(sizeof *from * (size_t)(rows * columns)),
           *to = fenced_new(sizeof *to * (size_t)(count * columns));
    for (long i = 0; i < rows * columns; i++) from[i] = x[i] = rng_uniform(&g, -1, 1);
    psdm_decimate(&d, rows, columns, from, first, count, to);
    for (long k = 0; k < count; k++)
      for (int c = 0; c < columns; c++)
        assert_true(fabsl(to[k * columns + c] - plain(&d, rows, columns, first + k * d.factor, c)) <=
                    300 * DBL_EPSILON);
    fenced_free(from), fenced_free(to);
    psdm_decimator_free(&d, NULL);
  }
}

static size_t asked;

static void *refuse(void *user, size_t bytes) {
  (void)user;
  asked = bytes;
  return NULL;
}

/* the largest factor is accepted */
static void test_largest(void **unused) {
  (void)unused;
  const psdm_allocator none = {refuse, NULL, NULL};
  psdm_decimator d;
  assert_int_equal(psdm_decimator_new(1 << 20, &none, &d), PSDM_E_MEMORY);
  assert_true(d.factor == 1 << 20 && !d.taps && asked == ((size_t)d.half + 1) * sizeof(double));
  assert_int_equal(d.half, (int)ceil(82 / (2.285 * 2 * PI * 0.2 / (1 << 20)) / 2));
  asked = 0;
  assert_int_equal(psdm_decimator_new((1 << 20) + 1, &none, &d), PSDM_E_ARGUMENT);
  assert_int_equal(asked, 0);
}

static void test_refused(void **unused) {
  (void)unused;
  psdm_decimator d;
  counting c;
  memset(&d, 0xA5, sizeof d);
  assert_int_equal(psdm_decimator_new(0, NULL, &d), PSDM_E_ARGUMENT);
  assert_true(!d.taps && d.factor == 0 && d.half == 0); /* nothing is allocated */
  assert_int_equal(psdm_decimator_new(-3, NULL, &d), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_decimator_new((1 << 20) + 1, NULL, &d), PSDM_E_ARGUMENT);
  counting_init(&c, 1);
  assert_int_equal(psdm_decimator_new(4, &c.allocator, &d), PSDM_E_MEMORY);
  psdm_decimator_free(&d, &c.allocator);
  assert_int_equal(c.live, 0);
  counting_init(&c, 0);
  assert_int_equal(psdm_decimator_new(4, &c.allocator, &d), PSDM_OK);
  assert_true(c.calls == 1 && c.live == 1);
  psdm_decimator_free(&d, &c.allocator);
  assert_int_equal(c.live, 0);
  psdm_decimator_free(NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bands),  cmocka_unit_test(test_sines),   cmocka_unit_test(test_twin),
      cmocka_unit_test(test_blocks), cmocka_unit_test(test_ends),    cmocka_unit_test(test_taps),
      cmocka_unit_test(test_bounds), cmocka_unit_test(test_largest), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
