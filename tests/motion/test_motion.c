/* test_motion.c: motions against closed formulas in extended precision, against each other's derivatives, and
 * splines against a dense twin. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum { ORDERS = PSDM_MOTION_ORDERS, MOST = 8 };

static void randoms(rng *g, double size, double *x, int count) {
  for (int i = 0; i < count; i++) x[i] = rng_uniform(g, -size, size);
}

/* every order against the derivative of the one before: central differences of order ten, exact for polynomials of this
 * degree. The worst error in units of max |x| / h, with h the step: the effect of rounding of x on a difference. */
static double chain_error(const psdm_motion *m, double t, double h) {
  static const double weight[5] = {5.0 / 6, -5.0 / 21, 5.0 / 84, -5.0 / 504, 1.0 / 1260};
  int n = psdm_motion_n(m);
  double x[11][ORDERS * MOST], worst = 0;
  for (int k = -5; k <= 5; k++) psdm_motion_at(m, t + k * h, ORDERS, x[k + 5]);
  for (int order = 0; order + 1 < ORDERS; order++)
    for (int i = 0; i < n; i++) {
      double slope = 0, size = 0;
      for (int k = 1; k <= 5; k++) slope += weight[k - 1] / h * (x[5 + k][order * n + i] - x[5 - k][order * n + i]);
      for (int k = 0; k < 11; k++) size = fmax(size, fabs(x[k][order * n + i]));
      if (size > 0) worst = fmax(worst, fabs(slope - x[5][(order + 1) * n + i]) / (size / h));
    }
  return worst;
}

static void expect_still(const psdm_motion *m, double t, const double *q) {
  int n = psdm_motion_n(m);
  double x[ORDERS * MOST];
  psdm_motion_at(m, t, ORDERS, x);
  for (int i = 0; i < ORDERS * n; i++) assert_true(x[i] == (i < n ? q[i] : 0));
}

/* ---- from rest to rest ---- */

/* the velocity is (2m+1)!/(m!)^2 s^m (1-s)^m; ends and vanishing derivatives are exact */
TEST(test_polynomial) {
  rng g = rng_start("polynomial");
  static const double peak[4] = {6, 30, 140, 630};
  double worst = 0, chain = 0;
  for (int trial = 0; trial < 400; trial++) {
    int half = rng_int(&g, 1, 4), n = rng_int(&g, 1, MOST);
    double from[MOST], to[MOST], x[ORDERS * MOST], duration = exp(rng_uniform(&g, -4, 4)),
                                                   start = rng_uniform(&g, -3, 3) * duration;
    psdm_motion *m;
    psdm_error error;
    randoms(&g, 3, from, n);
    randoms(&g, 3, to, n);
    expect_ok(psdm_motion_polynomial(n, 2 * half + 1, from, to, start, duration, NULL, &m, &error), &error);
    assert_int_equal(psdm_motion_n(m), n);
    assert_true(psdm_motion_begin(m) == start && psdm_motion_end(m) == start + duration);
    expect_still(m, start - 0.1 * duration, from);
    expect_still(m, psdm_motion_end(m) + 0.1 * duration, to);
    expect_still(m, NAN, from);
    for (int end = 0; end < 2; end++) {
      psdm_motion_at(m, end ? psdm_motion_end(m) : start, ORDERS, x);
      for (int i = 0; i < n; i++) assert_true(x[i] == (end ? to[i] : from[i]));
      for (int i = n; i <= half * n; i++) assert_true(x[i] == 0);
      if (half < 4) assert_true(x[(half + 1) * n] != 0);
    }
    /* t is rounded: the formula uses its share of the duration */
    double t = start + rng_uniform(&g, 0.2, 0.8) * duration, length = psdm_motion_end(m) - start;
    long double s = ((long double)t - start) / length, shape = 1;
    for (int k = 0; k < half; k++) shape *= s * (1 - s);
    psdm_motion_at(m, t, ORDERS, x);
    for (int i = 0; i < n; i++) {
      long double exact = ((long double)to[i] - from[i]) / length * peak[half - 1] * shape;
      worst = fmax(worst, (double)fabsl(x[n + i] - exact) / (fabs(to[i] - from[i]) / length * peak[half - 1]));
    }
    chain = fmax(chain, chain_error(m, t, 0.03 * length));
    psdm_motion_free(m);
  }
  print_message("velocity %.2g of its scale, derivatives %.2g of max/step\n", worst, chain);
  /* a few roundings of terms that are no larger than the scale in the half where they are used */
  assert_true(worst < 8 * DBL_EPSILON);
  /* t is rounded by up to four durations' epsilon, and the fastest relative change of an order, near its zeros, is
   * some 30 per duration */
  assert_true(chain < 120 * DBL_EPSILON);
}

/* ---- sines ---- */

TEST(test_sines) {
  rng g = rng_start("sines");
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    bool fourier = trial % 2;
    int n = rng_int(&g, 1, MOST), terms = rng_int(&g, 0, 5);
    double centre[MOST], a[5 * MOST], b[5 * MOST], w[5 * MOST], x[ORDERS * MOST], period = rng_uniform(&g, 0.5, 20);
    psdm_motion *m;
    psdm_error error;
    randoms(&g, 2, centre, n);
    randoms(&g, 2, a, n * terms);
    randoms(&g, 3, b, n * terms);
    randoms(&g, 9, w, n * terms);
    if (fourier) expect_ok(psdm_motion_fourier(n, terms, period, centre, a, b, 7, NULL, &m, &error), &error);
    else expect_ok(psdm_motion_sines(n, terms, centre, a, w, b, 7, NULL, &m, &error), &error);
    assert_true(psdm_motion_begin(m) == 0 && psdm_motion_end(m) == 7);
    double t = rng_uniform(&g, -3, 10);
    psdm_motion_at(m, t, ORDERS, x);
    for (int i = 0; i < n; i++)
      for (int order = 0; order < ORDERS; order++) {
        const long double pi = 3.14159265358979323846264338327950288L;
        long double exact = order ? 0 : centre[i], size = fabs(centre[i]) + 1e-30L;
        for (int k = 0; k < terms; k++) {
          long double f = fourier ? 2 * pi / period * (k + 1) : w[i * terms + k], power = powl(f, order),
                      turn = f * t + order * pi / 2;
          if (fourier) exact += power * (a[i * terms + k] / f * sinl(turn) - b[i * terms + k] / f * cosl(turn));
          else exact += power * a[i * terms + k] * sinl(turn + b[i * terms + k]);
          /* the angle itself is rounded: a relative error of |f t| epsilon */
          size += fabsl(power) * (fabs(a[i * terms + k]) + fabs(b[i * terms + k])) / (fourier ? f : 1) *
                  (order + 2 + fabsl(f * t));
        }
        worst = fmax(worst, (double)(fabsl(x[order * n + i] - exact) / size));
      }
    psdm_motion_free(m);
  }
  print_message("worst %.2g of the terms' sizes\n", worst);
  assert_true(worst < 4 * DBL_EPSILON);
}

/* ---- tables ---- */

/* ascending times whose gaps differ by up to this factor */
static void random_times(rng *g, long rows, double ratio, double *t) {
  t[0] = rng_uniform(g, -2, 2);
  for (long k = 1; k < rows; k++) t[k] = t[k - 1] + 0.1 * exp(rng_uniform(g, 0, log(ratio)));
}

/* solves A X = B, (size x size) and (size x columns), by elimination; B becomes X */
static void eliminate(int size, int columns, long double *A, long double *B) {
  for (int k = 0; k < size; k++) {
    int best = k;
    for (int i = k; i < size; i++)
      if (fabsl(A[i * size + k]) > fabsl(A[best * size + k])) best = i;
    for (int c = 0; c < size + columns; c++) {
      long double *a = c < size ? &A[k * size + c] : &B[k * columns + c - size],
                  *b = c < size ? &A[best * size + c] : &B[best * columns + c - size], swap = *a;
      *a = *b;
      *b = swap;
    }
    for (int i = k + 1; i < size; i++) {
      long double f = A[i * size + k] / A[k * size + k];
      if (f == 0) continue;
      for (int c = k; c < size; c++) A[i * size + c] -= f * A[k * size + c];
      for (int c = 0; c < columns; c++) B[i * columns + c] -= f * B[k * columns + c];
    }
  }
  for (int k = size - 1; k >= 0; k--)
    for (int c = 0; c < columns; c++) {
      for (int i = k + 1; i < size; i++) B[k * columns + c] -= A[k * size + i] * B[i * columns + c];
      B[k * columns + c] /= A[k * size + k];
    }
}

/* factor of s^power in the derivative, divided by h^order */
static long double monomial(int power, int order, long double s, long double h) {
  long double f = 1;
  for (int k = 0; k < order; k++) f *= (power - k) / h;
  return power < order ? 0 : f * powl(s, power - order);
}

enum { ROWS = 10, PIECES = ROWS - 1, SIZE = 6 * PIECES };

/* splines by their definition: six coefficients per piece, all conditions in one dense system. Column j of c is the
 * spline of a table that is one at row j and zero at all others; a table's is the sum of these. */
static void dense_splines(int rows, const double *t, long double *c) {
  static long double A[SIZE * SIZE];
  int size = 6 * (rows - 1), e = 0;
  memset(A, 0, sizeof A);
  memset(c, 0, (size_t)size * (size_t)rows * sizeof *c);
  for (int k = 0; k + 1 < rows; k++) {
    long double h = (long double)t[k + 1] - t[k], next = k + 2 < rows ? (long double)t[k + 2] - t[k + 1] : 0;
    for (int end = 0; end < 2; end++, e++) {
      for (int p = 0; p < 6; p++) A[e * size + 6 * k + p] = monomial(p, 0, end, h);
      c[e * rows + k + end] = 1;
    }
    for (int order = 1; order <= 4 && k + 2 < rows; order++, e++)
      for (int p = 0; p < 6; p++) {
        A[e * size + 6 * k + p] = monomial(p, order, 1, h);
        A[e * size + 6 * (k + 1) + p] = -monomial(p, order, 0, next);
      }
    for (int order = 1; order <= 2; order++)
      for (int end = 0; end < 2; end++) {
        if (end ? k + 2 < rows : k > 0) continue;
        for (int p = 0; p < 6; p++) A[e * size + 6 * k + p] = monomial(p, order, end, h);
        e++;
      }
  }
  assert_int_equal(e, size);
  eliminate(size, rows, A, c);
}

/* the dense spline of q in piece k */
static double dense_at(int rows, const double *t, const double *q, const long double *c, int k, double at, int order) {
  long double h = (long double)t[k + 1] - t[k], s = ((long double)at - t[k]) / h, sum = 0;
  for (int j = 0; j < rows; j++)
    for (int p = 0; p < 6; p++) sum += q[j] * c[(6 * k + p) * rows + j] * monomial(p, order, s, h);
  return (double)sum;
}

/* the effect of unit errors of q, h qd and h^2 qdd at the ends of a piece on its derivatives times h^k: sums of the
 * factors of src/motion/table.c */
static const double factors[ORDERS] = {2, 6, 24, 192, 1140};

/* the same for the numbers that piece k has */
static void conditions(const psdm_motion *m, const double *t, int k, double size[ORDERS]) {
  double h = t[k + 1] - t[k], ends = 0, x[3];
  for (int end = 0; end < 2; end++) {
    psdm_motion_at(m, t[k + end], 3, x);
    ends = fmax(ends, fmax(fabs(x[0]), fmax(h * fabs(x[1]), h * h * fabs(x[2]))));
  }
  for (int order = 0; order < ORDERS; order++) size[order] = factors[order] * ends / pow(h, order);
}

TEST(test_spline_twin) {
  rng g = rng_start("spline");
  double worst = 0, jump = 0;
  for (int trial = 0; trial < 150; trial++) {
    int rows = rng_int(&g, 2, ROWS);
    double t[ROWS], q[ROWS], x[ORDERS], size[ORDERS];
    static long double c[SIZE * ROWS];
    psdm_motion *m;
    psdm_error error;
    random_times(&g, rows, 10, t);
    randoms(&g, 2, q, rows);
    expect_ok(psdm_motion_table(1, rows, t, q, NULL, NULL, NULL, &m, &error), &error);
    dense_splines(rows, t, c);
    for (int sample = 0; sample < 5 * rows; sample++) {
      int k = sample % (rows - 1);
      double at = t[k] + (sample < rows - 1 ? 0 : rng_uniform(&g, 0, 1)) * (t[k + 1] - t[k]);
      psdm_motion_at(m, at, ORDERS, x);
      conditions(m, t, k, size);
      for (int order = 0; order < ORDERS; order++)
        worst = fmax(worst, fabs(x[order] - dense_at(rows, t, q, c, k, at, order)) / size[order]);
    }
    /* both sides of every inner row */
    for (int k = 1; k + 1 < rows; k++) {
      double before[ORDERS];
      psdm_motion_at(m, nextafter(t[k], -INFINITY), ORDERS, before);
      psdm_motion_at(m, t[k], ORDERS, x);
      assert_true(x[0] == q[k]);
      double other[ORDERS];
      conditions(m, t, k - 1, size);
      conditions(m, t, k, other);
      for (int order = 0; order < ORDERS; order++)
        jump = fmax(jump, fabs(x[order] - before[order]) / (size[order] + other[order]));
    }
    psdm_motion_at(m, t[0], 3, x);
    assert_true(x[0] == q[0] && x[1] == 0 && x[2] == 0);
    psdm_motion_at(m, t[rows - 1], 3, x);
    assert_true(x[0] == q[rows - 1] && x[1] == 0 && x[2] == 0);
    expect_still(m, t[rows - 1] + 1e-9, &q[rows - 1]);
    psdm_motion_free(m);
  }
  print_message("spline %.2g, jumps at rows %.2g, of what an error of q, qd, qdd at rows by one does\n", worst, jump);
  /* the system that qd and qdd come from has a condition (of |A^-1| |A|) of up to 1400 where gaps differ by ten, 20
   * where they are equal */
  assert_true(worst < 1400 * DBL_EPSILON && jump < 1400 * DBL_EPSILON);
}

/* the quintic from rest to rest is its own spline, wherever it is sampled */
TEST(test_spline_reproduces) {
  rng g = rng_start("spline reproduces");
  double worst = 0;
  for (int trial = 0; trial < 50; trial++) {
    enum { K = 40, N = 3 };
    long rows = rng_int(&g, 2, K);
    double t[K], q[K * N], x[ORDERS * N], y[ORDERS * N], from[N], to[N];
    psdm_motion *move, *spline;
    psdm_error error;
    random_times(&g, rows, 5, t);
    randoms(&g, 2, from, N);
    randoms(&g, 2, to, N);
    expect_ok(psdm_motion_polynomial(N, 5, from, to, t[0], t[rows - 1] - t[0], NULL, &move, &error), &error);
    for (long k = 0; k < rows; k++) psdm_motion_at(move, t[k], 1, q + k * N);
    expect_ok(psdm_motion_table(N, rows, t, q, NULL, NULL, NULL, &spline, &error), &error);
    for (int sample = 0; sample < 50; sample++) {
      double at = rng_uniform(&g, t[0], t[rows - 1]);
      psdm_motion_at(move, at, ORDERS, x);
      psdm_motion_at(spline, at, ORDERS, y);
      /* q is at most 2, and no gap below 0.1 */
      for (int order = 0; order < ORDERS; order++)
        worst = fmax(worst, max_difference(x + order * N, y + order * N, N) / (2 * factors[order] * pow(10, order)));
    }
    psdm_motion_free(move);
    psdm_motion_free(spline);
  }
  print_message("worst %.2g\n", worst);
  assert_true(worst < 360 * DBL_EPSILON); /* the system's condition where gaps differ by five */
}

/* sin^3 is at rest with its first two derivatives at both ends: q converges with order six, the fourth derivative
 * with order two */
TEST(test_spline_converges) {
  const double pi = 3.14159265358979323846;
  double before[ORDERS] = {0};
  for (int rows = 33; rows <= 129; rows = 2 * rows - 1) {
    double t[129], q[129], x[ORDERS], error_of[ORDERS] = {0};
    psdm_motion *m;
    psdm_error error;
    for (int k = 0; k < rows; k++) t[k] = (double)k / (rows - 1), q[k] = pow(sin(pi * t[k]), 3);
    expect_ok(psdm_motion_table(1, rows, t, q, NULL, NULL, NULL, &m, &error), &error);
    for (int k = 0; k <= 1000; k++) {
      psdm_motion_at(m, k / 1000.0, ORDERS, x);
      for (int order = 0; order < ORDERS; order++) { /* sin^3 = (3 sin - sin 3) / 4 */
        double at = k / 1000.0, turn = order * pi / 2,
               exact = (3 * pow(pi, order) * sin(pi * at + turn) - pow(3 * pi, order) * sin(3 * pi * at + turn)) / 4;
        error_of[order] = fmax(error_of[order], fabs(x[order] - exact));
      }
    }
    for (int order = 0; order < ORDERS && before[0] > 0; order++) {
      double slope = log2(before[order] / error_of[order]);
      print_message("rows %d, derivative %d: error %.2g, order %.2f\n", rows, order, error_of[order], slope);
      assert_true(fabs(slope - (6 - order)) < 0.3);
    }
    memcpy(before, error_of, sizeof before);
    psdm_motion_free(m);
  }
}

TEST(test_spline_of_many) {
  enum { MANY = 100000 };
  double *t = malloc(MANY * sizeof *t), *q = malloc(MANY * 2 * sizeof *q), worst[2] = {0}, x[4];
  rng g = rng_start("many rows");
  psdm_motion *m;
  psdm_error error;
  assert_true(t && q);
  for (long k = 0; k < MANY; k++) t[k] = (double)k * 1e-3 + (k && k < MANY - 1 ? rng_uniform(&g, -3e-4, 3e-4) : 0);
  const double w = 3.14159265358979323846 / (1e-3 * (MANY - 1));
  for (long k = 0; k < MANY; k++) q[2 * k] = 1, q[2 * k + 1] = pow(sin(w * t[k]), 3);
  expect_ok(psdm_motion_table(2, MANY, t, q, NULL, NULL, NULL, &m, &error), &error);
  for (int sample = 0; sample < 20000; sample++) {
    double at = rng_uniform(&g, 0, t[MANY - 1]), s = sin(w * at);
    psdm_motion_at(m, at, 2, x);
    assert_true(fabs(x[0] - 1) < 4 * DBL_EPSILON);
    worst[0] = fmax(worst[0], fabs(x[1] - s * s * s));
    worst[1] = fmax(worst[1], fabs(x[3] - 3 * w * s * s * cos(w * at)));
  }
  for (long k = 0; k < MANY; k += 997) {
    psdm_motion_at(m, t[k], 1, x);
    assert_true(x[0] == q[2 * k] && x[1] == q[2 * k + 1]);
  }
  print_message("%d rows: q %.2g, qd %.2g\n", MANY, worst[0], worst[1]);
  /* rounding of q by epsilon (w t, the sine and its cube), and of its slope by epsilon / gap (4e-4 at least) */
  assert_true(worst[0] < 40 * DBL_EPSILON && worst[1] < 40 * DBL_EPSILON / 4e-4);
  psdm_motion_free(m);
  free(t);
  free(q);
}

/* cubic and quintic pieces take the table's values at its rows, and polynomials of their degree are reproduced */
TEST(test_pieces) {
  rng g = rng_start("pieces");
  double worst = 0, slope_error = 0;
  for (int trial = 0; trial < 100; trial++) {
    enum { K = 12, N = 2 };
    int degree = trial % 2 ? 5 : 3;
    long rows = rng_int(&g, 2, K);
    double t[K], x[3][K * N], c[N][6], y[ORDERS * N];
    psdm_motion *m;
    psdm_error error;
    random_times(&g, rows, 10, t);
    for (int i = 0; i < N; i++) randoms(&g, 1, c[i], 6);
    for (int order = 0; order < 3; order++)
      for (long e = 0; e < rows * N; e++) {
        long double sum = 0;
        for (int p = 0; p <= degree; p++) sum += c[e % N][p] * monomial(p, order, (long double)t[e / N] - t[0], 1);
        x[order][e] = (double)sum;
      }
    expect_ok(psdm_motion_table(N, rows, t, x[0], x[1], degree == 5 ? x[2] : NULL, NULL, &m, &error), &error);
    double span = fmax(1, t[rows - 1] - t[0]), size = pow(span, degree);
    for (long k = 0; k < rows; k++) {
      psdm_motion_at(m, t[k], ORDERS, y);
      for (int i = 0; i < N; i++) {
        assert_true(y[i] == x[0][k * N + i]);
        slope_error = fmax(slope_error, fabs(y[N + i] - x[1][k * N + i]) / fabs(x[1][k * N + i]));
        if (degree == 5) slope_error = fmax(slope_error, fabs(y[2 * N + i] - x[2][k * N + i]) / fabs(x[2][k * N + i]));
      }
    }
    for (int sample = 0; sample < 40; sample++) {
      double at = rng_uniform(&g, t[0], t[rows - 1]);
      psdm_motion_at(m, at, ORDERS, y);
      for (int order = 0; order < ORDERS; order++)
        for (int i = 0; i < N; i++) {
          long double sum = 0;
          for (int p = 0; p <= degree; p++) sum += c[i][p] * monomial(p, order, (long double)at - t[0], 1);
          worst = fmax(worst, fabs((double)(y[order * N + i] - sum)) * pow(0.1, order) / size); /* 0.1: the least gap */
        }
    }
    psdm_motion_free(m);
  }
  print_message("polynomials %.2g, table's rates %.2g\n", worst, slope_error);
  assert_true(worst < 300 * DBL_EPSILON && slope_error < 4 * DBL_EPSILON);
}

/* ---- files and errors ---- */

TEST(test_load) {
  psdm_motion *m;
  psdm_error error;
  double x[ORDERS * 2];
  /* one row is held, whatever its velocity */
  file_write("m.csv", "t,q1,qd1\n3,0.5,7\n");
  expect_ok(psdm_motion_load("m.csv", 1, false, NULL, &m, &error), &error);
  assert_true(psdm_motion_begin(m) == 3 && psdm_motion_end(m) == 3);
  for (int k = 2; k <= 4; k++) expect_still(m, k, (const double[]){0.5});
  psdm_motion_free(m);
  /* columns in any order, extra ones passed over */
  file_write("m.csv", "# a remark\nq2,note,t,q1\n1,9,0,2\n3,9,0.5,4\n");
  expect_ok(psdm_motion_load("m.csv", 2, true, NULL, &m, &error), &error);
  expect_still(m, 1, (const double[]){4, 3});
  psdm_motion_at(m, 0.25, 2, x);
  assert_true(x[0] == 3 && x[1] == 2 && fabs(x[2] - 2 / 0.5 * 1.875) < 1e-14);
  psdm_motion_free(m);
  file_write("m.csv", "t,q1,qd1,qdd1\n0,0,1,2\n2,6,5,2\n");
  expect_ok(psdm_motion_load("m.csv", 1, false, NULL, &m, &error), &error);
  psdm_motion_at(m, 1, ORDERS, x); /* t + t^2 */
  assert_true(fabs(x[0] - 2) < 1e-14 && fabs(x[1] - 3) < 1e-14 && fabs(x[2] - 2) < 1e-13 && fabs(x[3]) < 1e-13 &&
              fabs(x[4]) < 1e-12);
  psdm_motion_free(m);
}

static void expect_message(psdm_status status, psdm_status wanted, psdm_motion *const *m, const psdm_error *error,
                           const char *sentence) {
  char got[900];
  assert_int_equal(status, wanted);
  assert_null(*m);
  assert_string_equal(psdm_error_format(error, got, sizeof got), sentence);
}

TEST(test_load_errors) {
  static const struct {
    const char *text, *sentence;
    int n;
  } cases[] = {
      {"q1\n1\n", "m.csv:1: column 't' is missing", 1},
      {"t\n1\n", "m.csv:1: column 'q1' is missing; q goes from 1 to 2", 2},
      {"t,q1\n1,1\n", "m.csv:1: column 'q2' is missing; q goes from 1 to 3", 3},
      {"#\nt,q1,q2,qd2\n1,1,1,1\n", "m.csv:2: column 'qd1' is missing; qd goes from 1 to 2", 2},
      {"t,q1,qdd1\n1,1,1\n", "m.csv:1: columns qdd1.. need qd1..", 1},
      {"t,q1,q2\n1,1,1\n", "m.csv:1: column 'q2' is not one of t, q, qd, qdd, each 1 to 1; `ignore_extra` skips it", 1},
      {"t,q1\n", "m.csv:1: no row after the header; at least one was expected", 1},
      {"t,q1\n0,1\n\n0.5,1\n0.25,1\n", "m.csv:5: t is 0.25 after 0.5 in the previous row; times must increase", 1},
      {"t,q1\n0,1\n0,1\n", "m.csv:3: t is 0 after 0 in the previous row; times must increase", 1},
      {"t,q1\n0,x\n", "m.csv:2:3: column 'q1' has 'x'; a finite decimal number was expected", 1},
      {"t,q1\n1e-300,1\n1,2\n1e300,3\n", "m.csv: no spline fits these points: the times between them differ too much",
       1},
  };
  psdm_motion *m;
  psdm_error error;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    file_write("m.csv", cases[k].text);
    psdm_status status = psdm_motion_load("m.csv", cases[k].n, false, NULL, &m, &error);
    expect_message(status, k + 1 < sizeof cases / sizeof *cases ? PSDM_E_PARSE : PSDM_E_ARGUMENT, &m, &error,
                   cases[k].sentence);
  }
  expect_message(psdm_motion_load("none.csv", 1, false, NULL, &m, &error), PSDM_E_IO, &m, &error,
                 "none.csv: cannot be opened: No such file or directory");
  expect_message(psdm_motion_load("m.csv", 0, false, NULL, &m, &error), PSDM_E_ARGUMENT, &m, &error,
                 "m.csv: a motion has at least one joint");
}

TEST(test_argument_errors) {
  const double one[4] = {1, 2, 3, 4}, bad[2] = {1, NAN}, back[3] = {0, 1, 1};
  psdm_motion *m;
  psdm_error e;
  const psdm_status A = PSDM_E_ARGUMENT;
  expect_message(psdm_motion_polynomial(0, 5, one, one, 0, 1, NULL, &m, &e), A, &m, &e,
                 "a motion has at least one joint");
  expect_message(psdm_motion_polynomial(1, 4, one, one, 0, 1, NULL, &m, &e), A, &m, &e,
                 "degree 4; 3, 5, 7 or 9 was expected");
  expect_message(psdm_motion_polynomial(1, 5, one, one, 1, 0, NULL, &m, &e), A, &m, &e,
                 "from t = 1 for 0 s; a positive, finite duration was expected");
  expect_message(psdm_motion_polynomial(1, 5, one, one, 1e20, 1, NULL, &m, &e), A, &m, &e,
                 "from t = 1e+20 for 1 s; a positive, finite duration was expected");
  expect_message(psdm_motion_polynomial(2, 5, one, bad, 0, 1, NULL, &m, &e), A, &m, &e,
                 "the ends of a motion must be finite");
  expect_message(psdm_motion_sines(1, -1, one, one, one, one, 1, NULL, &m, &e), A, &m, &e,
                 "1 joints of -1 terms; at least 1 and 0 were expected");
  expect_message(psdm_motion_sines(1, 2, one, one, bad, one, 1, NULL, &m, &e), A, &m, &e,
                 "amplitudes, frequencies and phases must be finite");
  expect_message(psdm_motion_sines(1, 1, one, one, one, one, INFINITY, NULL, &m, &e), A, &m, &e,
                 "duration inf s; a positive, finite number was expected");
  expect_message(psdm_motion_fourier(1, 1, 0, one, one, one, 1, NULL, &m, &e), A, &m, &e,
                 "period 0 s; a positive, finite number was expected");
  expect_message(psdm_motion_fourier(1, 2, 1, one, bad, one, 1, NULL, &m, &e), A, &m, &e,
                 "the coefficients of a motion must be finite");
  expect_message(psdm_motion_fourier(2, 1, 1, bad, one, one, 1, NULL, &m, &e), A, &m, &e,
                 "the centre of a motion must be finite");
  expect_message(psdm_motion_table(1, 0, one, one, NULL, NULL, NULL, &m, &e), A, &m, &e,
                 "a table of 0 rows of 1 joints; at least one of each was expected");
  expect_message(psdm_motion_table(1, 2, one, one, NULL, one, NULL, &m, &e), A, &m, &e, "qdd is given without qd");
  expect_message(psdm_motion_table(1, 3, back, one, NULL, NULL, NULL, &m, &e), A, &m, &e,
                 "t of row 3 is not above that of the previous row");
  expect_message(psdm_motion_table(1, 2, one, bad, NULL, NULL, NULL, &m, &e), A, &m, &e,
                 "row 2 has a number that is not finite");
  assert_int_equal(psdm_motion_polynomial(0, 5, one, one, 0, 1, NULL, &m, NULL), A); /* no error wanted */
  psdm_motion_free(NULL);
}

static psdm_status make(int which, const psdm_allocator *allocator, psdm_motion **m, psdm_error *error) {
  double t[600], q[600];
  for (int k = 0; k < 600; k++) t[k] = k, q[k] = k % 3;
  switch (which) {
    case 0: return psdm_motion_polynomial(3, 7, q, t, 0, 1, allocator, m, error);
    case 1: return psdm_motion_sines(2, 3, q, t, t, q, 1, allocator, m, error);
    case 2: return psdm_motion_fourier(2, 3, 1, q, t, q, 1, allocator, m, error);
    case 3: return psdm_motion_table(1, 600, t, q, NULL, NULL, allocator, m, error);
    case 4: return psdm_motion_table(2, 300, t, q, q, q, allocator, m, error);
    default: return psdm_motion_load("m.csv", 1, false, allocator, m, error);
  }
}

/* every allocation fails once: an error, and nothing leaks; and a success after a failure gives the right answer */
TEST(test_allocation_failure) {
  FILE *file = fopen("m.csv", "w");
  assert_non_null(file);
  fputs("t,q1,qd1\n", file);
  for (int k = 0; k < 600; k++) fprintf(file, "%d,%d,1\n", k, k % 5); /* more than the reader's first buffer */
  assert_int_equal(fclose(file), 0);
  for (int which = 0; which < 6; which++) {
    long failures = 0;
    for (psdm_status status = PSDM_E_MEMORY; status; failures++) {
      counting c;
      psdm_motion *m;
      psdm_error error;
      counting_init(&c, failures + 1);
      status = make(which, &c.allocator, &m, &error);
      if (status) {
        assert_int_equal(status, PSDM_E_MEMORY);
        assert_string_equal(error.text, "out of memory");
        assert_null(m);
      }
      psdm_motion_free(m);
      assert_int_equal(c.live, 0);
      assert_true(failures < 100);
    }
    assert_true(failures > 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_polynomial),       cmocka_unit_test(test_sines),
                                     cmocka_unit_test(test_spline_twin),      cmocka_unit_test(test_spline_reproduces),
                                     cmocka_unit_test(test_spline_converges), cmocka_unit_test(test_spline_of_many),
                                     cmocka_unit_test(test_pieces),           cmocka_unit_test(test_argument_errors)};
  const struct CMUnitTest files[] = {cmocka_unit_test(test_load), cmocka_unit_test(test_load_errors),
                                     cmocka_unit_test(test_allocation_failure)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + cmocka_run_group_tests(files, folder_enter, folder_remove);
}
