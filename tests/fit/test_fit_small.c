/* test_fit_small.c: the parts of linear fits, number by number, on a few joints of different sizes: sizes, refusals,
 * the gathered triangle, gradients, answers, ranks at their bound, scratch. */
#include "fit/fit_priv.h"
#include "linalg/linalg.h"
#include "test_fit_problem.h"

enum { MOST = 32 };

/* ---- problems and their sums, in long double ---- */

static void small_new(problem *p, rng *g, int n, int base, const int *extras, long each) {
  problem_new(p, n, base, 0, 0, extras, each);
  for (int j = 0; j < n; j++) {
    int w = width_of(p, j);
    for (long i = 0; i < each * w; i++) p->X[j][i] = rng_normal(g) * (1 + 0.3 * (double)(i % w)) + 0.2;
    p->count[j] = (double)each + 3 * j + 0.5;
  }
  compress(p, 0, each, p->R);
}

/* a row of a joint over phi, theta and tau, divided by sigma */
static void wide_row(const problem *p, const double *sigma, int joint, long i, long double *a) {
  int base = p->rows.base, w = width_of(p, joint), first = 0;
  const double *row = p->X[joint] + i * w;
  for (int k = 0; k <= p->own + base; k++) a[k] = 0;
  for (int j = 0; j < joint; j++) first += p->extras[j];
  for (int k = 0; k < base; k++) a[p->own + k] = row[k];
  for (int k = 0; k < p->extras[joint]; k++) a[first + k] = row[base + k];
  a[p->own + base] = row[w - 1];
  for (int k = 0; k <= p->own + base; k++) a[k] /= sigma ? sigma[joint] : 1;
}

/* N = A^T A of all rows, phi theta tau */
static void sums(const problem *p, const double *sigma, long double N[MOST][MOST]) {
  int W = p->own + p->rows.base;
  long double a[MOST];
  for (int i = 0; i <= W; i++)
    for (int k = 0; k <= W; k++) N[i][k] = 0;
  for (int j = 0; j < p->rows.n; j++)
    for (long r = 0; r < p->each; r++) {
      wide_row(p, sigma, j, r, a);
      for (int i = 0; i <= W; i++)
        for (int k = 0; k <= W; k++) N[i][k] += a[i] * a[k];
    }
}

/* inverse of the first W rows and columns, by elimination */
static void inverse_of(int W, long double N[MOST][MOST], long double inverse[MOST][MOST]) {
  long double A[MOST][MOST];
  for (int i = 0; i < W; i++)
    for (int k = 0; k < W; k++) A[i][k] = N[i][k], inverse[i][k] = i == k;
  for (int c = 0; c < W; c++) {
    long double pivot = A[c][c];
    for (int k = 0; k < W; k++) A[c][k] /= pivot, inverse[c][k] /= pivot;
    for (int i = 0; i < W; i++) {
      long double factor = A[i][c];
      for (int k = 0; k < W && i != c; k++) A[i][k] -= factor * A[c][k], inverse[i][k] -= factor * inverse[c][k];
    }
  }
}

static void expect(double is, long double should, double scale, const char *what, int i, int k) {
  if (!(fabsl(is - should) <= 1e-12L * scale)) fail_msg("%s %d %d: %.17g, %.17Lg was expected", what, i, k, is, should);
}

/* shapes: the widest joint first, last and in the middle, joints without own columns, no shared ones */
static const struct {
  int n, base, extras[3];
} shapes[] = {{3, 4, {2, 0, 3}}, {3, 2, {3, 1, 0}}, {3, 3, {1, 4, 2}}, {1, 1, {0}},
              {1, 0, {1}},       {2, 0, {2, 1}},    {2, 5, {0, 0}},    {1, 3, {2}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- sizes and refusals ---- */

TEST(sizes) {
  static const int own[SHAPES] = {5, 4, 7, 0, 1, 3, 0, 2}, widest[SHAPES] = {8, 6, 8, 2, 2, 3, 6, 6};
  for (int k = 0; k < SHAPES; k++) {
    psdmp_fit_rows rows = {.n = shapes[k].n, .base = shapes[k].base, .extras = shapes[k].extras};
    assert_int_equal(psdmp_fit_own(&rows), own[k]);
    assert_int_equal(psdmp_fit_widest(&rows), widest[k]);
    assert_true(psdmp_fit_sound(&rows, &(psdmp_fit_options){0}));
  }
}

static bool sound(int n, int base, const int *extras, const double *sigma, double ridge) {
  const psdmp_fit_rows rows = {.n = n, .base = base, .extras = extras};
  return psdmp_fit_sound(&rows, &(psdmp_fit_options){.sigma = sigma, .ridge = ridge});
}

TEST(refusals) {
  const int extras[3] = {2, 0, 1}, none[3] = {0, 0, 0}, fewer[3] = {-1, 2, 3};
  assert_true(sound(3, 4, extras, NULL, 0) && sound(1, 4, none, NULL, 0) && sound(3, 0, extras, NULL, 0) &&
              sound(3, 1, none, NULL, 0));
  assert_false(sound(0, 4, extras, NULL, 0) || sound(-1, 4, extras, NULL, 0) || sound(3, -1, extras, NULL, 0) ||
               sound(3, 0, none, NULL, 0));
  for (int j = 0; j < 3; j++) {
    const int bad[3] = {fewer[(3 - j) % 3], fewer[(4 - j) % 3], fewer[(5 - j) % 3]};
    assert_false(sound(3, 4, bad, NULL, 0));
    const double wrong[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
      double sigma[3] = {1, 1, 1};
      assert_true(sound(3, 4, extras, sigma, 0));
      sigma[j] = wrong[k];
      assert_false(sound(3, 4, extras, sigma, 0));
      assert_true(sound(j > 0 ? j : 3, 4, extras, j > 0 ? sigma : NULL, 0)); /* an unknown one */
    }
  }
  assert_true(sound(3, 4, extras, NULL, 1e300));
  assert_false(sound(3, 4, extras, NULL, -1e-300) || sound(3, 4, extras, NULL, NAN) ||
               sound(3, 4, extras, NULL, INFINITY));
}

/* ---- the triangle of all joints ---- */

TEST(gathered) {
  rng g = rng_start("gathered");
  static long double N[MOST][MOST];
  static const double sigma[3] = {0.5, 3, 1.25};
  for (int k = 0; k < SHAPES; k++)
    for (int weighted = 0; weighted < 2; weighted++) {
      problem p;
      small_new(&p, &g, shapes[k].n, shapes[k].base, shapes[k].extras, 20);
      int base = p.rows.base, full = p.own + base + 1;
      double *scratch = scratch_of(psdmp_fit_gather_scratch(&p.rows)), *G = scratch_of((size_t)(full * full));
      assert_true(psdmp_fit_gather(&p.rows, weighted ? sigma : NULL, scratch, G));
      sums(&p, weighted ? sigma : NULL, N);
      for (int i = 0; i < full; i++)
        for (int c = 0; c < full; c++) {
          long double sum = 0;
          for (int e = 0; e < full; e++) sum += (long double)G[e * full + i] * G[e * full + c];
          expect((double)sum, N[i][c], sqrt((double)(N[i][i] * N[c][c])), "N", i, c);
          if (c < i) assert_true(G[i * full + c] == 0);
        }
      /* rows of a joint's own columns have no other joint's */
      for (int j = 0, first = 0; j < p.rows.n; first += p.extras[j++])
        for (int i = first; i < first + p.extras[j]; i++)
          for (int c = first + p.extras[j]; c < p.own; c++) assert_true(G[i * full + c] == 0);
      for (int j = 0; j < p.rows.n; j++) {
        int last = width_of(&p, j) * width_of(&p, j) - 1;
        double kept = p.R[j][last];
        p.R[j][last] = j % 2 ? INFINITY : NAN;
        assert_false(psdmp_fit_gather(&p.rows, NULL, scratch, G));
        p.R[j][last] = kept;
      }
      fenced_free(G), fenced_free(scratch);
      problem_free(&p);
    }
}

/* ---- gradients and answers at some x ---- */

TEST(gradients) {
  rng g = rng_start("gradients");
  static const double sigma[3] = {0.5, 3, 1.25};
  for (int k = 0; k < SHAPES; k++)
    for (int weighted = 0; weighted < 2; weighted++) {
      problem p;
      small_new(&p, &g, shapes[k].n, shapes[k].base, shapes[k].extras, 20);
      int W = p.own + p.rows.base;
      double *x = scratch_of((size_t)W), *is = scratch_of((size_t)W),
             *scratch = scratch_of(2 * (size_t)psdmp_fit_widest(&p.rows)), size[MOST] = {0};
      long double should[MOST], a[MOST];
      for (int i = 0; i < W; i++) x[i] = rng_uniform(&g, -1, 1), should[i] = is[i] = rng_uniform(&g, -1, 1);
      for (int j = 0; j < p.rows.n; j++)
        for (long r = 0; r < p.each; r++) {
          wide_row(&p, weighted ? sigma : NULL, j, r, a);
          long double left = -a[W];
          for (int i = 0; i < W; i++) left += a[i] * x[i];
          for (int i = 0; i < W; i++) should[i] += 0.7L * left * a[i], size[i] += fabs((double)(left * a[i]));
        }
      psdmp_fit_gradient(&p.rows, weighted ? sigma : NULL, x, 0.7, scratch, is);
      for (int i = 0; i < W; i++) expect(is[i], should[i], 1 + size[i], "gradient", k, i);
      fenced_free(x), fenced_free(is), fenced_free(scratch);
      problem_free(&p);
    }
}

/* any x, any C, and degrees of freedom on both sides of one */
TEST(answers) {
  rng g = rng_start("answers");
  static const double sigma[3] = {0.5, 3, 1.25};
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 5; turn++) {
      problem p;
      small_new(&p, &g, shapes[k].n, shapes[k].base, shapes[k].extras, 20);
      const double *weights = turn % 2 ? sigma : NULL;
      int base = p.rows.base, own = p.own, W = own + base, n = p.rows.n,
          parameters = turn == 0   ? 1000
                       : turn == 1 ? 1
                                   : 2 * turn;
      double *x = scratch_of((size_t)W), *C = scratch_of((size_t)(W * W)),
             *scratch = scratch_of((size_t)(2 * psdmp_fit_widest(&p.rows) + n)), count = 0;
      double *theta = scratch_of((size_t)base), *phi = scratch_of((size_t)own), *cost = scratch_of((size_t)n),
             *covariance = scratch_of((size_t)(W * W));
      long double each[3] = {0}, weighted = 0, a[MOST];
      for (int i = 0; i < W; i++) x[i] = rng_uniform(&g, -1, 1);
      for (int i = 0; i < W * W; i++) C[i] = rng_uniform(&g, -1, 1);
      for (int j = 0; j < n; j++) {
        for (long r = 0; r < p.each; r++) {
          wide_row(&p, NULL, j, r, a);
          long double left = -a[W];
          for (int i = 0; i < W; i++) left += a[i] * x[i];
          each[j] += left * left;
        }
        weighted += each[j] / (weights ? (long double)weights[j] * weights[j] : 1);
        count += p.count[j];
      }
      psdmp_fit fit = {.theta = theta, .phi = phi, .cost = cost, .covariance = covariance};
      psdmp_fit_finish(&p.rows, weights, x, C, parameters, scratch, &fit);
      for (int i = 0; i < base; i++) assert_true(theta[i] == x[own + i]);
      for (int i = 0; i < own; i++) assert_true(phi[i] == x[i]);
      for (int j = 0; j < n; j++) expect(cost[j], each[j], (double)each[j], "cost", k, j);
      long double variance = weighted / (count - parameters > 1 ? count - parameters : 1);
      for (int i = 0; i < W; i++)
        for (int c = 0; c < W; c++) {
          /* theta stands first in the answer */
          int from = i < own ? base + i : i - own, to = c < own ? base + c : c - own;
          expect(covariance[from * W + to], variance * C[i * W + c], (double)variance, "covariance", i, c);
        }
      /* optional outputs that are absent are not filled, and without C there is no covariance */
      memset(covariance, 0, sizeof *covariance * (size_t)(W * W));
      psdmp_fit_finish(&p.rows, weights, x, NULL, parameters, scratch, &fit);
      assert_true(max_absolute(covariance, W * W) == 0);
      psdmp_fit nothing = {0};
      psdmp_fit_finish(&p.rows, weights, x, C, parameters, scratch, &nothing);
      assert_true(!nothing.theta && !nothing.phi && !nothing.cost && !nothing.covariance);
      fenced_free(x), fenced_free(C), fenced_free(scratch), fenced_free(theta), fenced_free(phi), fenced_free(cost),
          fenced_free(covariance);
      problem_free(&p);
    }
}

/* ---- least squares ---- */

typedef psdm_status estimator(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                              psdmp_fit *fit);

/* every output of an estimator, arrays filled with NAN before; x: phi theta */
static psdm_status estimate(estimator *run, const problem *p, const psdmp_fit_options *o, double *x, double *covariance,
                            psdmp_fit *fit) {
  double *scratch = scratch_of(psdmp_fit_scratch(&p->rows));
  *fit = (psdmp_fit){.theta = x + p->own,
                     .phi = x,
                     .covariance = covariance,
                     .steps = 7,
                     .gap = 7,
                     .decrement = 7,
                     .feasible = true,
                     .rank = -7};
  psdm_status status = run(&p->rows, o, scratch, fit);
  fenced_free(scratch);
  return status;
}

TEST(linear) {
  rng g = rng_start("linear");
  static long double N[MOST][MOST], inverse[MOST][MOST];
  static const double sigma[3] = {0.5, 3, 1.25};
  for (int k = 0; k < SHAPES; k++)
    for (int weighted = 0; weighted < 2; weighted++) {
      problem p;
      psdmp_fit fit;
      small_new(&p, &g, shapes[k].n, shapes[k].base, shapes[k].extras, 40);
      const psdmp_fit_options o = {.sigma = weighted ? sigma : NULL};
      int base = p.rows.base, own = p.own, W = own + base;
      double x[MOST], *covariance = scratch_of((size_t)(W * W)), count = 0;
      sums(&p, o.sigma, N);
      inverse_of(W, N, inverse);
      long double least = N[W][W], y[MOST];
      for (int i = 0; i < W; i++) {
        y[i] = 0;
        for (int c = 0; c < W; c++) y[i] += inverse[i][c] * N[c][W];
        least -= y[i] * N[i][W];
      }
      for (int j = 0; j < p.rows.n; j++) count += p.count[j];
      assert_int_equal(estimate(psdmp_fit_linear, &p, &o, x, covariance, &fit), PSDM_OK);
      assert_true(fit.steps == 0 && fit.gap == 0 && fit.decrement == 0 && !fit.feasible && fit.rank == W);
      for (int i = 0; i < W; i++) expect(x[i], y[i], sqrt((double)(inverse[i][i] * N[W][W])), "x", k, i);
      for (int i = 0; i < W; i++)
        for (int c = 0; c < W; c++) {
          int from = i < own ? base + i : i - own, to = c < own ? base + c : c - own;
          long double should = least / (count - W) * inverse[i][c];
          expect(covariance[from * W + to], should,
                 10 * (double)(least / (count - W)) * sqrt((double)(inverse[i][i] * inverse[c][c])), "covariance", i,
                 c);
        }
      /* total least squares has the same covariance except for its residual, and the same refusals */
      psdmp_fit total;
      double t[MOST], *other = scratch_of((size_t)(W * W));
      assert_int_equal(estimate(psdmp_fit_total, &p, &o, t, other, &total), PSDM_OK);
      assert_true(total.steps == 0 && total.gap == 0 && total.decrement == 0 && !total.feasible && total.rank == W);
      long double more = N[W][W];
      for (int i = 0; i < W; i++) {
        more -= 2 * t[i] * N[i][W];
        for (int c = 0; c < W; c++) more += t[i] * N[i][c] * t[c];
      }
      for (int i = 0; i < W; i++)
        for (int c = 0; c < W; c++) {
          int from = i < own ? base + i : i - own, to = c < own ? base + c : c - own;
          long double should = more / (count - W) * inverse[i][c];
          expect(other[from * W + to], should,
                 10 * (double)(more / (count - W)) * sqrt((double)(inverse[i][i] * inverse[c][c])),
                 "total's covariance", i, c);
        }
      /* without a covariance the same x */
      double again[MOST];
      assert_int_equal(estimate(psdmp_fit_linear, &p, &o, again, NULL, &fit), PSDM_OK);
      assert_memory_equal(again, x, sizeof *x * (size_t)W);
      assert_int_equal(estimate(psdmp_fit_total, &p, &o, again, NULL, &fit), PSDM_OK);
      assert_memory_equal(again, t, sizeof *t * (size_t)W);
      fenced_free(covariance), fenced_free(other);
      problem_free(&p);
    }
}

/* the least singular vector of [A / lengths, tau / its length] by inverse iteration on its squares */
TEST(total) {
  rng g = rng_start("total");
  static long double N[MOST][MOST], inverse[MOST][MOST];
  static const double sigma[3] = {0.5, 3, 1.25};
  for (int k = 0; k < SHAPES; k++)
    for (int weighted = 0; weighted < 2; weighted++) {
      problem p;
      psdmp_fit fit;
      small_new(&p, &g, shapes[k].n, shapes[k].base, shapes[k].extras, 40);
      /* a torque that the columns nearly explain: the least singular value is far from the next */
      for (int j = 0; j < p.rows.n; j++)
        for (long i = 0; i < p.each; i++) {
          double *row = p.X[j] + i * width_of(&p, j), *tau = &row[width_of(&p, j) - 1];
          *tau *= 0.01;
          for (int c = 0; c < width_of(&p, j) - 1; c++) *tau += row[c] * (1 + c);
          *tau *= weighted ? 1 : 1e-4; /* also less than one, all of it */
        }
      compress(&p, 0, p.each, p.R);
      const psdmp_fit_options o = {.sigma = weighted ? sigma : NULL};
      int W = p.own + p.rows.base;
      double x[MOST];
      long double v[MOST], scale[MOST];
      sums(&p, o.sigma, N);
      for (int i = 0; i <= W; i++) scale[i] = sqrtl(N[i][i]), v[i] = 1 + 0.3L * i;
      for (int i = 0; i <= W; i++)
        for (int c = 0; c <= W; c++) N[i][c] /= scale[i] * scale[c];
      inverse_of(W + 1, N, inverse);
      for (int pass = 0; pass < 60; pass++) {
        long double next[MOST], size = 0;
        for (int i = 0; i <= W; i++) {
          next[i] = 0;
          for (int c = 0; c <= W; c++) next[i] += inverse[i][c] * v[c];
          size += next[i] * next[i];
        }
        for (int i = 0; i <= W; i++) v[i] = next[i] / sqrtl(size);
      }
      assert_int_equal(estimate(psdmp_fit_total, &p, &o, x, NULL, &fit), PSDM_OK);
      for (int i = 0; i < W; i++) {
        long double should = -v[i] / v[W] * scale[W] / scale[i];
        /* singular values some 1e-2 apart */
        if (!(fabsl(x[i] - should) <= 1e-10L * scale[W] / scale[i]))
          fail_msg("x %d: %.17g, %.17Lg was expected", i, x[i], should);
      }
      problem_free(&p);
    }
}

/* ---- ranks: directions below 1e-10 of the largest do not count ---- */

/* two columns and a torque as a triangle, one joint */
static void triangle_new(problem *p, const double R[9]) {
  const int extras[1] = {1};
  problem_new(p, 1, 1, 0, 0, extras, 3);
  memcpy(p->R[0], R, 9 * sizeof *R);
}

/* columns of length 4 and 3, in unit length (1, 0) and (1, e): singular values of 1.41 and e / 1.41 */
TEST(ranks) {
  for (int deep = 0; deep < 2; deep++)
    for (int kind = 0; kind < 2; kind++) {
      problem p;
      psdmp_fit fit;
      double x[2], covariance[4], e = deep ? 1.98e-10 : 2.02e-10;
      const double R[9] = {4, 3, 2, 0, 3 * e, 1, 0, 0, 2};
      triangle_new(&p, R);
      assert_int_equal(
          estimate(kind ? psdmp_fit_total : psdmp_fit_linear, &p, &(psdmp_fit_options){0}, x, covariance, &fit),
          PSDM_OK);
      assert_int_equal(fit.rank, deep ? 1 : 2);
      if (deep && !kind) { /* the least norm in unit length is (1, 1); the residuals are 1 and 2, from three rows */
        const double length[2] = {4, 3}, value[2] = {x[1], x[0]};
        for (int i = 0; i < 2; i++) {
          assert_true(fabs(value[i] - 1 / length[i]) < 1e-9);
          for (int k = 0; k < 2; k++)
            assert_true(fabs(covariance[2 * i + k] - (1 + 4) / (3.0 - 1) / (4 * length[i] * length[k])) < 1e-9);
        }
      }
      problem_free(&p);
    }
}

/* how a pair of columns is solved: by pivots if more than 1e-8 of the second's length is independent */
TEST(by_pivots) {
  for (int k = 0; k < 2; k++) {
    double e = k ? 1.01e-8 : 0.99e-8, x[2], Z[4], *scratch = scratch_of(psdmp_fit_solve_scratch(2));
    const double G[9] = {1, 1, 2, 0, e, e, 0, 0, 0};
    assert_int_equal(psdmp_fit_solve(2, G, scratch, x, Z), 2);
    assert_true(fabs(x[0] - 1) < 1e-7 && fabs(x[1] - 1) < 1e-7); /* eight digits are lost */
    assert_int_equal((Z[0] == 0) + (Z[1] == 0) + (Z[2] == 0) + (Z[3] == 0), k);
    fenced_free(scratch);
  }
}

/* a torque that only the remainder explains */
TEST(torque_outside_the_columns) {
  for (int k = 0; k < 3; k++) {
    /* unit columns at a distance of 0.5 from each other's line; the torque has 0, 1e-13 and 1e-11 along the weak
     * direction */
    static const double along[] = {0, 1e-13, 1e-11};
    problem p;
    psdmp_fit fit;
    double x[2];
    const double R[9] = {1, 0.8, -0.5 * along[k], 0, 0.6, along[k], 0, 0, 1};
    triangle_new(&p, R);
    assert_int_equal(estimate(psdmp_fit_total, &p, &(psdmp_fit_options){0}, x, NULL, &fit),
                     k < 2 ? PSDM_E_ARGUMENT : PSDM_OK);
    problem_free(&p);
  }
}

/* nothing is observable, and nothing is claimed, also by total least squares; NAN gives no answer */
TEST(nothing) {
  const int extras[2] = {1, 2};
  problem p;
  psdmp_fit fit;
  double x[6], covariance[36];
  problem_new(&p, 2, 3, 0, 0, extras, 5);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(estimate(k ? psdmp_fit_total : psdmp_fit_linear, &p, &(psdmp_fit_options){0}, x, covariance, &fit),
                     PSDM_OK);
    assert_int_equal(fit.rank, 0);
    assert_true(max_absolute(x, 6) == 0 && max_absolute(covariance, 36) == 0);
  }
  problem_free(&p);
  double G[9] = {1, 2, 3, 0, NAN, 4, 0, 0, 5}, Z[4], *scratch = scratch_of(psdmp_fit_solve_scratch(2));
  assert_int_equal(psdmp_fit_solve(2, G, scratch, x, Z), -1);
  fenced_free(scratch);
}

/* x and Z of a triangle, all of them; a column of zeros does not count */
TEST(solved) {
  rng g = rng_start("solved");
  for (int trial = 0; trial < 40; trial++) {
    int W = 1 + trial % 8, zero = trial % 3 == 2 ? rng_int(&g, 0, W - 1) : -1, full = W + 1;
    double *G = zeros_of(full * full), *x = scratch_of((size_t)W), *Z = scratch_of((size_t)(W * W)),
           *scratch = scratch_of(psdmp_fit_solve_scratch(W));
    static long double N[MOST][MOST], inverse[MOST][MOST];
    for (int i = 0; i < full; i++)
      for (int k = i; k < full; k++)
        G[i * full + k] = k == zero ? 0 : (i == k ? 2 : rng_uniform(&g, -1, 1)) * pow(10, k % 3 - 1);
    for (int i = 0; i < full; i++) /* the part below it must not be read */
      for (int k = 0; k < i; k++) G[i * full + k] = 1e6;
    for (int i = 0; i < full; i++)
      for (int k = 0; k < full; k++) {
        N[i][k] = 0;
        for (int e = 0; e <= (i < k ? i : k); e++) N[i][k] += (long double)G[e * full + i] * G[e * full + k];
      }
    if (zero >= 0) N[zero][zero] = 1;
    inverse_of(W, N, inverse);
    assert_int_equal(psdmp_fit_solve(W, G, scratch, x, Z), zero >= 0 ? W - 1 : W);
    /* of a direction that does not count */
    for (int i = 0; i < W && zero >= 0; i++) assert_true(Z[i * W + W - 1] == 0);
    int none = 0; /* a triangle turned by pivots, or directions */
    for (int i = 0; i < W * W; i++) none += Z[i] == 0;
    if (zero < 0) assert_int_equal(none, W * (W - 1) / 2);
    for (int i = 0; i < W; i++) {
      long double should = 0;
      for (int k = 0; k < W && i != zero; k++) should += inverse[i][k] * N[k][W];
      /* conditions of some hundred */
      expect(x[i], should, 100 * sqrt((double)(inverse[i][i] * N[W][W])), "x", trial, i);
      for (int k = 0; k < W; k++) {
        long double sum = 0;
        for (int e = 0; e < W; e++) sum += (long double)Z[i * W + e] * Z[k * W + e];
        expect((double)sum, i == zero || k == zero ? 0 : inverse[i][k],
               100 * sqrt((double)(inverse[i][i] * inverse[k][k])), "Z Z^T", i, k);
      }
    }
    fenced_free(G), fenced_free(x), fenced_free(Z), fenced_free(scratch);
  }
}

/* the scratch requested: its pieces, one by one */
TEST(scratches) {
  for (int k = 0; k < SHAPES; k++) {
    const psdmp_fit_rows r = {.n = shapes[k].n, .base = shapes[k].base, .extras = shapes[k].extras};
    size_t w = (size_t)psdmp_fit_widest(&r), shared = (size_t)r.base + 1, n = (size_t)r.n,
           W = (size_t)(psdmp_fit_own(&r) + r.base), full = W + 1;
    /* a joint's factor, taken apart, scaled, and which columns; theta's triangle */
    size_t gather = w * w + w * w + w * w + w + shared * shared + psdmp_linalg_factor_scratch((int)w, (long)w);
    assert_int_equal(psdmp_fit_gather_scratch(&r), gather);
    /* A, U, V, six rows of numbers and two more for five of integers; LAPACK's work */
    size_t solve[2];
    for (size_t e = 0; e < 2; e++)
      solve[e] = 3 * (W + e) * (W + e) + 8 * (W + e) + 4 * (W + e) * (W + e) + 80 * (W + e) + 4225;
    assert_int_equal(psdmp_fit_solve_scratch((int)W), solve[0]);
    assert_int_equal(psdmp_fit_solve_scratch((int)W + 1), solve[1]);
    /* total least squares: the triangle, x and y, the torque's four matrices of one column and row more, both
     * solutions' scratch; and the shared ones */
    size_t total = full * full + 2 * W + 4 * (full + 1) * (full + 1) + 2 * solve[1], cone = psdmp_fit_cone_scratch(&r);
    assert_true(cone < total);
    assert_int_equal(psdmp_fit_scratch(&r), total + gather + 2 * w + n);
  }
  /* many standard parameters: the cone takes more */
  const psdmp_fit_rows wide = {.n = 1, .base = 2, .extras = shapes[3].extras, .standard = 200, .links = 20};
  size_t cone = psdmp_fit_cone_scratch(&wide), gather = psdmp_fit_gather_scratch(&wide);
  assert_int_equal(psdmp_fit_scratch(&wide), cone + gather + 2 * 3 + 1);
  static const struct {
    int w;
    long rows;
    size_t should;
  } factors[] = {{3, 0, 18 + 72},          {3, -1, 18 + 72},          {3, 1, 18 + 3 + 72},
                 {3, 5, 18 + 15 + 72},     {3, 511, 18 + 1533 + 72},  {3, 512, 18 + 1536 + 72},
                 {3, 513, 18 + 1536 + 72}, {1, 1 << 20, 2 + 512 + 24}};
  for (size_t k = 0; k < sizeof factors / sizeof *factors; k++)
    assert_int_equal(psdmp_linalg_factor_scratch(factors[k].w, factors[k].rows), factors[k].should);
}

/* columns of a factor in another order: entries beyond the list are not read */
TEST(taken) {
  rng g = rng_start("taken");
  enum { w = 9 };
  for (int v = 1; v <= 8; v++) {
    static const int order[8] = {7, 2, 8, 0, 3, 6, 1, 5};
    double *R = zeros_of(w * w), *out = scratch_of((size_t)(v * v)),
           *scratch = scratch_of(psdmp_linalg_factor_scratch(w, w));
    int *take = (int *)fenced_new((size_t)v * sizeof *take);
    memcpy(take, order, (size_t)v * sizeof *take);
    for (int i = 0; i < w; i++)
      for (int k = i; k < w; k++) R[i * w + k] = rng_uniform(&g, -1, 1);
    psdmp_linalg_factor_take(w, R, v, take, out, scratch);
    for (int i = 0; i < v; i++)
      for (int k = 0; k < v; k++) {
        long double is = 0, should = 0;
        for (int e = 0; e < v; e++) is += (long double)out[e * v + i] * out[e * v + k];
        for (int e = 0; e < w; e++) should += (long double)R[e * w + order[i]] * R[e * w + order[k]];
        expect((double)is, should, w, "product", i, k);
        if (k < i) assert_true(out[i * v + k] == 0);
      }
    fenced_free(R), fenced_free(out), fenced_free(scratch), fenced_free(take);
  }
}

TEST_MAIN(sizes, refusals, gathered, gradients, answers, linear, total, ranks, torque_outside_the_columns, nothing,
          solved, scratches, by_pivots, taken)
