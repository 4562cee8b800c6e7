/* test_lugre_begin_steps.c: the beginnings of friction's search, step by step: every sum of squares, the residual, and
 * each number of a beginning, compared with plain least squares column by column. */
#if defined(PSDM_HAVE_CMINPACK) && defined(PSDM_HAVE_NLOPT)

#include "test_lugre_begin_asked.h"

/* ---- all steps ---- */

static const double thresholds[] = {0.3, 0.2, 0.12, 0.07, 0.04, 0.02};
static double wanted_rms[6], found[6]; /* what the search for fast rows answers at each threshold: rms, log d */

/* the residual of the rows above each threshold, at any exponent from 0.05 to 5, is that of plain least squares */
static void compare_fast(int (*f)(void *, int, int, const double *, double *, int), void *user, int m, double *x,
                         double *residual) {
  static const double places[] = {-0.4, 0.3, -9, 9};
  for (int k = 0; k < 4; k++) {
    fast_design(thresholds[asked.fasts] * fastest_used(), exp(k == 2 ? -3 : k == 3 ? 1.6 : places[k]));
    assert_int_equal(m, now.rows);
    for (int i = 0; i < m; i++) residual[i] = NAN;
    double behind = residual[m] = 77;
    assert_int_equal(f(user, m, 1, &places[k], residual, 1), 0);
    assert_true(residual[m] == behind);
    for (long r = 0; r < m; r++) {
      real should = -now.y[r];
      for (int c = 0; c < now.n; c++) should += now.x[c] * now.X[r * now.n + c];
      if (!(fabsl(residual[r] - should) <= 1e-9L * sqrtl(now.square / m)))
        fail_msg("threshold %d, place %d, row %ld: %.12g, %.12g was expected", asked.fasts, k, r, residual[r],
                 (double)should);
    }
  }
  for (int i = 0; i < m; i++) residual[i] = (i % 2 ? -1 : 1) * wanted_rms[asked.fasts];
  *x = found[asked.fasts];
}

/* the simplex evaluates places near and far */
enum { PLACES = 5 };
static double value_at[BEGINNINGS][PLACES];

static void place_at(const double *from, int k, double x[3]) {
  static const double steps[PLACES][3] = {
      {0.4, 0.1, -0.3}, {-1, -0.3, 0.5}, {0, 0, 0}, {-5, 0.7, -2}, {0.1, -0.02, 0.1}};
  for (int c = 0; c < 3; c++) x[c] = from[c] + steps[k][c];
}

static void look_around(nlopt_func f, void *user, const double *from) {
  for (int k = 0; k < PLACES; k++) {
    double x[3];
    place_at(from, k, x);
    value_at[asked.simplexes][k] = f(3, x, NULL, user);
  }
}

/* the next matrix that was inverted is that of the plain design */
static int at_sums;

static void expect_sums(const char *what) {
  assert_true(at_sums < asked.inverted);
  assert_int_equal(asked.sums[at_sums].n, now.n);
  const double *A = asked.sums[at_sums++].A;
  for (int i = 0; i < now.n; i++)
    for (int k = i; k < now.n; k++) { /* the upper triangle, which is what the inverse reads */
      real scale = sqrtl(now.size[i] * now.size[k]);
      if (!(fabsl(A[i * now.n + k] - now.G[i][k]) <= 1e-12L * scale + 1e-290L))
        fail_msg("%s, %d: sum %d %d is %.15g, %.15g was expected", what, at_sums, i, k, A[i * now.n + k],
                 (double)now.G[i][k]);
    }
}

static void expect_shape(const psdm_friction *is, double length, double rise, double vs, double d, bool damped,
                         const char *what) {
  expect_near(is->coulomb, 1, 0, what);
  expect_near(is->stat / exp(rise), 1, 1e-14, what), expect_near(is->stribeck / exp(vs), 1, 1e-14, what),
      expect_near(is->sigma0 * exp(length), 1, 1e-14, what);
  assert_true(is->sigma1 == 0 && is->viscous == 0 && is->offset == 0);
  shape_design(is, d, damped);
  expect_sums(what);
}

static double plain_way(void) {
  double way = 0;
  for (int p = 0; p < s.pieces; p++) {
    double at = 0, low = 0, high = 0;
    for (long i = 1; i < s.piece[p].rows; i++)
      at += (s.v[p][i - 1] + s.v[p][i]) / 2 * s.piece[p].dt, low = fmin(low, at), high = fmax(high, at);
    way = fmax(way, high - low);
  }
  return way;
}

typedef struct found_curve {
  double vs, d, rise, left;
} found_curve;

static found_curve one_curve(double length, double vs, double log_d) {
  found_curve c = {.vs = vs, .d = exp(log_d)};
  c.rise = curve_design(length, vs, c.d);
  c.left = (double)now.left;
  memset(now.size, 0, sizeof now.size);
  for (int k = 0; k < now.n; k++) now.size[k] = now.G[k][k];
  expect_sums("curve");
  return c;
}

static found_curve best_curve(double length, double vs) {
  const double golden = (sqrt(5) - 1) / 2;
  double low = log(0.1), high = log(3), a = high - golden * (high - low), b = low + golden * (high - low);
  found_curve left = one_curve(length, vs, a), right = one_curve(length, vs, b);
  while (high - low > 0.02)
    if (left.left <= right.left)
      high = b, right = left, b = a, a = high - golden * (high - low), left = one_curve(length, vs, a);
    else low = a, left = right, a = b, b = low + golden * (high - low), right = one_curve(length, vs, b);
  return left.left <= right.left ? left : right;
}

/* lows of a row of numbers, the least first, none more than half as much again as the least, three at most; how many */
static int lows_of(const found_curve *all, int n, int *which) {
  int lows = 0;
  while (lows < BEGINNINGS) {
    int best = -1;
    for (int k = 0; k < n; k++) {
      bool taken = !isfinite(all[k].left) || (k > 0 && all[k - 1].left < all[k].left) ||
                   (k < n - 1 && all[k + 1].left < all[k].left);
      for (int i = 0; i < lows; i++) taken = taken || which[i] == k;
      if (!taken && (best < 0 || all[k].left < all[best].left)) best = k;
    }
    if (best < 0 || (lows > 0 && all[best].left > 1.5 * all[which[0]].left)) break;
    which[lows++] = best;
  }
  return lows;
}

static void expect_point(const psdmp_steps_lugre_point *point, const double *best, const real *x, double d) {
  const psdm_friction *f = &point->friction;
  double Fc = (double)x[0], most = 0;
  for (int k = 0; k < now.n; k++) most = fmax(most, fabs((double)x[k]));
  double rounding = 1e-9 * most; /* sums of squares keep half of the digits */
  expect_near(f->coulomb, Fc, rounding, "Fc"),
      expect_near(f->stat / f->coulomb, exp(best[1]), 1e-14 * exp(best[1]), "Fs");
  expect_near(f->stribeck, exp(best[2]), 1e-14 * f->stribeck, "vs"),
      expect_near(f->coulomb / f->sigma0, exp(best[0]), 1e-14 * exp(best[0]), "bristles");
  expect_near(f->viscous, fmax((double)x[1], 1e-3 * Fc), rounding, "Fv"), expect_near(f->exponent, d, 1e-14, "d");
  expect_near(f->offset, (double)x[2], rounding, "offset"),
      expect_near(f->sigma1, fmax((double)x[3], 0), rounding, "sigma1");
  assert_true(f->given && (s.options.offset || f->offset == 0));
  for (int p = 0; p < POSES_MOST; p++)
    expect_near(point->inertia[p], p < s.poses ? (double)x[4 + p] : 0, p < s.poses ? rounding : 0, "inertia");
  for (int k = 0; k < UNKNOWNS; k++) assert_false(point->free[k]);
}

/* every call, from the exponent of fast rows on */
static void expect_all_steps(double d) {
  double way = plain_way(), fastest = fastest_used(), best = INFINITY, length = NAN;
  found_curve all[18];
  int chosen[BEGINNINGS], curves, shape = 0;
  at_sums = 0;
  for (int k = 2; k <= 14; k++) {
    double at = log(way) - 0.5 * k * log(10);
    expect_shape(&asked.columns[shape++], at, 0, log(fastest), d, false, "length");
    if (now.x[0] > 0 && (double)now.left < best) best = (double)now.left, length = at;
  }
  assert_true(isfinite(best));
  for (int k = 0; k < 18; k++) all[k] = best_curve(exp(length), fastest * pow(10, -0.2 * (k + 1)));
  curves = lows_of(all, 18, chosen);
  assert_true(curves > 0 && count == curves && asked.simplexes == curves && asked.created == curves &&
              asked.destroyed == curves && asked.stopped == 0);
  for (int c = 0; c < curves; c++) {
    const found_curve *curve = &all[chosen[c]];
    double from[3] = {length, log(curve->rise), log(curve->vs)}, at[3], least = INFINITY, place[3] = {0};
    real linear[MOST_COLUMNS] = {0};
    for (int k = -1; k < PLACES; k++) {
      memcpy(at, from, sizeof at);
      if (k >= 0) place_at(asked.from[c], k, at);
      const psdm_friction *f = &asked.columns[shape++];
      expect_near(f->stat, exp(at[1]), 1e-8 * f->stat, "rise"); /* found by least squares */
      expect_shape(f, at[0], k < 0 ? log(f->stat) : at[1], at[2], curve->d, true, "bristles");
      double left = now.x[0] > 0 ? (double)now.left : 2 * (double)now.square;
      if (k >= 0) expect_near(value_at[c][k], left, 1e-10 * (double)now.square, "what is left");
      if (now.x[0] > 0 && left < least - 1e-10 * (double)now.square)
        least = left, memcpy(place, at, sizeof at), memcpy(linear, now.x, sizeof linear);
      if (k < 0)
        for (int i = 0; i < 3; i++)
          expect_near(asked.from[c][i], i == 1 ? log(f->stat) : at[i], 1e-13, "where the simplex begins"),
              place[i] = asked.from[c][i];
    }
    expect_point(&points[c], place, linear, curve->d);
  }
  assert_true(shape == asked.shapes && at_sums == asked.inverted);
  static const double below[] = {-20, 0, -12};
  for (int k = 0; k < 3; k++) {
    expect_near(asked.low[k], k == 1 ? log(0.1) : (k ? log(fastest) : log(way)) + below[k], 1e-13, "lower bound");
    expect_near(asked.high[k], k == 1 ? log(10) : k ? log(fastest) : log(way), 1e-13, "upper bound");
  }
  printf("  %d curves, Fc %.4f, %d matrices\n", curves, points[0].friction.coulomb, asked.inverted);
}

/* If the first threshold's residual is 1, one of 1.1 is as good, a larger one is not; d is that of the last good
 * one. */
static void all_steps(void **state) {
  (void)state;
  static const double rms[][6] = {{1, 1, 1, 1, 1, 1}, {1, 1.0999, 1.0999, 1.2, 1, 1},  {2, 2.3, 1, 1, 1, 1},
                                  {0, 0, 0, 0, 0, 0}, {1, 0.5, 0.54, 1.09, 0.2, 1.11}, {0, 1e-9, 0, 0, 0, 0}};
  static const int asks[] = {6, 4, 2, 6, 6, 2}, kept[] = {5, 2, 0, 5, 4, 0};
  static const psdm_friction laws[] = {{3, 4.5, 0.05, 4, 0.8, 3e3, 2, 0, true},
                                       {0.02, 0.03, 0.1, 0.01, 1.3, 9, 0, 0, true},
                                       {3, 4, 0.02, -1, 1, 5e3, -3, 0, true}};
  /* the residual of some beginnings is 1e-160 or less: its square is not exact */
  rng g = {.state = 6 * 0x9E3779B97F4A7C15u + 1};
  for (int trial = 0; trial < 6; trial++) {
    /* enough rows that the curves use every other one */
    static const long few[] = {130, 161, 97, 40}, many[] = {2600, 2700, 2500};
    ask_anew();
    make_scene(&g, trial % 2 ? 3 : 4,
               trial == 3   ? 1
               : trial == 4 ? 8
                            : 3,
               trial == 5 ? many : few, &laws[trial % 3], trial % 2, trial == 2 || trial == 3);
    for (int k = 0; k < 6; k++)
      wanted_rms[k] = rms[trial][k] * laws[trial % 3].coulomb, found[k] = k == 5 ? -9 : -0.1 * (k + 1);
    asked.fast = compare_fast, asked.simplex = look_around;
    assert_int_equal(begin(0), PSDM_OK);
    assert_int_equal(asked.fasts, asks[trial]);
    expect_all_steps(exp(fmax(found[kept[trial]], -3)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
