/* test_lugre_doubt.c: residuals of the friction fit and the uncertainty of its numbers, against plain formulas in
 * extended precision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steps/lugre_priv.h"
#include "fenced.h"
#include "psdm/friction.h"

typedef long double real;

/* ---- inverses ---- */

/* of a positive definite matrix, by elimination */
static void plain_inverse(int n, const real *A, real *X) {
  real W[UNKNOWNS][2 * UNKNOWNS];
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 2 * n; k++) W[i][k] = k < n ? A[i * n + k] : k - n == i;
  for (int c = 0; c < n; c++) {
    real pivot = W[c][c];
    for (int k = 0; k < 2 * n; k++) W[c][k] /= pivot;
    for (int i = 0; i < n; i++) {
      real factor = W[i][c];
      for (int k = 0; k < 2 * n && i != c; k++) W[i][k] -= factor * W[c][k];
    }
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) X[i * n + k] = W[i][n + k];
}

static void expect_close(int n, const double *is, const real *should, double tolerance, const char *what) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      real scale = sqrtl(should[i * (n + 1)] * should[k * (n + 1)]);
      if (!(fabsl(is[i * n + k] - should[i * n + k]) <= tolerance * scale))
        fail_msg("%s [%d][%d]: %.15g, %.15g was expected", what, i, k, is[i * n + k], (double)should[i * n + k]);
    }
}

/* sizes of columns from 1e-6 to 1e6; a column that depends on others, or is zero, is left out, and the others are as
 * without it */
TEST(test_inverse) {
  rng g = rng_start("lugre inverse");
  for (int trial = 0; trial < 200; trial++) {
    int n = rng_int(&g, 1, UNKNOWNS), out = trial % 3 && n > 1 ? rng_int(&g, 0, n - 1) : -1, rows = 3 * n, at = 0;
    double J[UNKNOWNS][3 * UNKNOWNS], A[UNKNOWNS * UNKNOWNS], X[UNKNOWNS * UNKNOWNS], kept[UNKNOWNS * UNKNOWNS];
    real B[UNKNOWNS * UNKNOWNS], should[UNKNOWNS * UNKNOWNS];
    bool shown[UNKNOWNS];
    int place[UNKNOWNS];
    for (int i = 0; i < n; i++) {
      double size = pow(10, rng_uniform(&g, -6, 6));
      for (int r = 0; r < rows; r++) J[i][r] = size * rng_normal(&g);
      for (int r = 0; r < rows && i == out; r++)
        J[i][r] = trial % 3 == 1 || !i ? 0 : 3 * J[0][r] - (i > 1 ? J[1][r] * 0.5 : 0);
    }
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        real sum = 0;
        for (int r = 0; r < rows; r++) sum += (real)J[i][r] * J[k][r];
        A[i * n + k] = (double)sum;
      }
    psdmp_steps_lugre_invert(n, A, X, shown);
    for (int i = 0; i < n; i++) {
      assert_int_equal(shown[i], i != out);
      if (i != out) place[at++] = i;
      for (int k = 0; k < n; k++) assert_true((i != out && k != out) || X[i * n + k] == 0);
    }
    for (int i = 0; i < at; i++)
      for (int k = 0; k < at; k++)
        B[i * at + k] = A[place[i] * n + place[k]], kept[i * at + k] = X[place[i] * n + place[k]];
    plain_inverse(at, B, should);
    expect_close(at, kept, should, 1e-10, "inverse"); /* random columns have conditions of some 1e3 squared */
  }
}

/* ---- the sandwich ---- */

/* residuals correlated over this many rows */
static void remembered(rng *g, long used, double memory, double *r) {
  double state = 0;
  for (long i = 0; i < used; i++) r[i] = state = memory * state + rng_normal(g);
}

/* equation by equation: correlated rows, blocks of eight times as many, the larger of both uncertainties, correlations
 * kept */
static void plain_doubt(int n, long used, int least, const double *r, const double *J, const real *C, real *V) {
  real power = 0, together = 1, more[UNKNOWNS];
  for (long i = 0; i < used; i++) power += (real)r[i] * r[i];
  for (long lag = 1; lag < used / 20; lag++) {
    real sum = 0;
    for (long i = 0; i + lag < used; i++) sum += (real)r[i] * r[i + lag];
    if (sum <= 0.05L * power) break;
    together += 2 * sum / power;
  }
  long length = (long)(8 * together < (real)used / least ? 8 * together : (real)used / least), blocks;
  if (length < 1) length = 1;
  blocks = (used + length - 1) / length;
  for (int i = 0; i < n * n; i++) V[i] = 0;
  for (long b = 0; b < blocks; b++) {
    real g[UNKNOWNS] = {0}, step[UNKNOWNS] = {0};
    for (int k = 0; k < n; k++)
      for (long i = b * length; i < (b + 1) * length && i < used; i++) g[k] += (real)J[k * used + i] * r[i];
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) step[i] += C[i * n + k] * g[k];
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++)
        V[i * n + k] += step[i] * step[k] * (blocks > 1 ? (real)blocks / (real)(blocks - 1) : 1);
  }
  for (int i = 0; i < n; i++) {
    real classical = together * power / (real)(used - n) * C[i * (n + 1)];
    more[i] = classical > V[i * (n + 1)] ? sqrtl(classical / V[i * (n + 1)]) : 1;
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) V[i * n + k] *= more[i] * more[k];
}

TEST(test_doubt) {
  enum { USED = 3000, MOST = 10 };
  static double r[USED], J[MOST * USED];
  rng g = rng_start("lugre doubt");
  for (int trial = 0; trial < 24; trial++) {
    psdmp_steps_lugre_options options = {.blocks = trial % 4 == 0 ? 0 : trial % 4 == 1 ? 1 : rng_int(&g, 2, 60)};
    psdmp_steps_lugre w = {.poses = 2, .options = &options, .used = trial % 5 == 4 ? 397 : USED};
    psdmp_steps_lugre_point point = {.free = {false}};
    psdmp_steps_lugre_doubt d;
    real G[MOST * MOST], C[MOST * MOST], V[MOST * MOST];
    int n = 0, which[UNKNOWNS];
    for (int k = 0; k < INERTIA + 2; k++)
      if ((point.free[k] = rng_int(&g, 0, 3) > 0)) which[n++] = k;
    if (!n) continue;
    point.free[INERTIA + 2] = true; /* an unknown pose */
    remembered(&g, w.used, trial % 3 ? rng_uniform(&g, 0, 0.95) : 0, r);
    for (int k = 0; k < n; k++) remembered(&g, w.used, rng_uniform(&g, 0, 0.95), J + k * w.used);
    /* noise that varies along the log */
    for (long i = 0; i < w.used && trial % 2; i++) r[i] *= i > w.used / 2 ? 5 : 1;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        G[i * n + k] = 0;
        for (long row = 0; row < w.used; row++) G[i * n + k] += (real)J[i * w.used + row] * J[k * w.used + row];
      }
    plain_inverse(n, G, C);
    plain_doubt(n, w.used, options.blocks > 1 ? options.blocks : 20, r, J, C, V);
    psdmp_steps_lugre_doubt_at(&w, &point, r, J, &d);
    assert_int_equal(d.count, n);
    for (int k = 0; k < n; k++) assert_true(d.which[k] == which[k] && d.shown[k]);
    expect_close(n, d.inverse, C, 1e-12, "inverse");
    expect_close(n, d.covariance, V, 1e-11, "covariance");
    /* without residuals the inverse alone */
    memset(&d, 0, sizeof d);
    psdmp_steps_lugre_doubt_at(&w, &point, NULL, J, &d);
    expect_close(n, d.inverse, C, 1e-12, "inverse");
    assert_true(d.covariance[0] == 0);
  }
}

/* the largest number of numbers, then fewer: in fenced memory that is not initialised, where only the upper triangle is
 * read; zero columns are reported */
TEST(test_inverse_in_fences) {
  static const int sizes[] = {16, 2, 16, 10, 4};
  rng g = rng_start("lugre fences");
  for (int trial = 0; trial < 10; trial++) {
    int n = sizes[trial % 5], rows = 3 * n, first = trial % 2 ? 0 : -1, last = trial % 3 ? n - 1 : -1, at = 0,
        place[UNKNOWNS];
    double J[UNKNOWNS][3 * UNKNOWNS], *A = fenced_new(sizeof *A * (size_t)(n * n)),
                                      *X = fenced_new(sizeof *X * (size_t)(n * n));
    real B[UNKNOWNS * UNKNOWNS], should[UNKNOWNS * UNKNOWNS];
    double kept[UNKNOWNS * UNKNOWNS];
    bool *shown = fenced_new((size_t)n);
    for (int i = 0; i < n; i++)
      for (int r = 0; r < rows; r++) J[i][r] = i == first || i == last ? 0 : rng_normal(&g);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        real sum = 0;
        for (int r = 0; r < rows; r++) sum += (real)J[i][r] * J[k][r];
        A[i * n + k] = k < i ? NAN : (double)sum;
      }
    for (int i = 0; i < n; i++) shown[i] = trial < 5;
    psdmp_steps_lugre_invert(n, A, X, shown);
    for (int i = 0; i < n; i++) {
      bool zero = i == first || i == last;
      assert_int_equal(shown[i], !zero);
      if (!zero) place[at++] = i;
      for (int k = 0; k < n; k++) assert_true(zero || k == first || k == last || X[i * n + k] != 0);
      for (int k = 0; k < n && zero; k++) assert_true(X[i * n + k] == 0 && X[k * n + i] == 0);
    }
    for (int i = 0; i < at; i++)
      for (int k = 0; k < at; k++)
        B[i * at + k] = A[place[i < k ? i : k] * n + place[i < k ? k : i]],
                   kept[i * at + k] = X[place[i] * n + place[k]];
    plain_inverse(at, B, should);
    expect_close(at, kept, should, 1e-12, "inverse");
    fenced_free(A), fenced_free(X), fenced_free(shown);
  }
}

/* all sixteen numbers, few rows: residuals correlated for longer than the search looks, or hardly; more blocks than
 * rows; blocks that fill the rows exactly, or not */
TEST(test_doubt_in_fences) {
  static const struct {
    long used;
    int blocks, numbers;
    double mean, memory;
  } cases[] = {{200, 20, 16, 3, 0},     {200, 4, 16, 3, 0}, {202, 7, 16, 0, 0},
               {120, 1000, 16, 3, 0.5}, {60, 60, 9, 1, 0},  {44, 5, 9, 3, 0.9},
               {400, 2, 16, 0.5, 0},    {60, 7, 3, 0, 0},   {200, 1, 16, 3, 0}};
  rng g = rng_start("lugre doubt in fences");
  for (int trial = 0; trial < 9; trial++) {
    long used = cases[trial].used;
    int n = cases[trial].numbers;
    psdmp_steps_lugre_options options = {.blocks = cases[trial].blocks};
    psdmp_steps_lugre w = {.poses = n > INERTIA ? n - INERTIA : 1, .options = &options, .used = used};
    psdmp_steps_lugre_point point = {.free = {false}};
    psdmp_steps_lugre_doubt *d = fenced_new(sizeof *d);
    double *J = fenced_new(sizeof *J * (size_t)(n * used)), *r = fenced_new(sizeof *r * (size_t)used);
    real G[UNKNOWNS * UNKNOWNS], C[UNKNOWNS * UNKNOWNS], V[UNKNOWNS * UNKNOWNS];
    for (int k = 0; k < n; k++) point.free[k] = true;
    remembered(&g, used, cases[trial].memory, r);
    for (long i = 0; i < used; i++) r[i] += cases[trial].mean;
    /* twenty rows of 1, two of them neighbours: their correlation is a twentieth, which counts as none */
    if (trial == 7)
      for (long i = 0; i < used; i++) r[i] = i == 1 || (i % 3 == 0 && i < 57);
    for (int k = 0; k < n; k++) remembered(&g, used, rng_uniform(&g, 0, 0.9), J + k * used);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        G[i * n + k] = 0;
        for (long row = 0; row < used; row++) G[i * n + k] += (real)J[i * used + row] * J[k * used + row];
      }
    plain_inverse(n, G, C);
    plain_doubt(n, used, options.blocks > 1 ? options.blocks : 20, r, J, C, V);
    if (n < UNKNOWNS) d->covariance[n * n] = 5;
    psdmp_steps_lugre_doubt_at(&w, &point, r, J, d);
    assert_true(n == UNKNOWNS || d->covariance[n * n] == 5); /* behind it */
    assert_int_equal(d->count, n);
    for (int k = 0; k < n; k++) assert_true(d->which[k] == k && d->shown[k]);
    expect_close(n, d->inverse, C, 1e-11, "inverse");
    expect_close(n, d->covariance, V, 1e-10, "covariance");
    fenced_free(J), fenced_free(r), fenced_free(d);
  }
}

/* a number whose column is zero has no uncertainty, nor has one that no residual depends on; the other's is
 * unchanged */
TEST(test_numbers_without_doubt) {
  enum { USED = 80 };
  psdmp_steps_lugre_options options = {.blocks = 20};
  psdmp_steps_lugre w = {.poses = 1, .options = &options, .used = USED};
  psdmp_steps_lugre_point point = {.free = {true, true, true}};
  psdmp_steps_lugre_doubt d;
  double J[3 * USED] = {0}, r[USED] = {0}, power = 0, square = 0;
  rng g = rng_start("lugre doubt of nothing");
  for (int i = 0; i < USED; i++) {
    /* residuals of alternating sign are not positively correlated */
    if (i < 40) r[i] = i % 2 ? -1 - 0.01 * i : 1, J[2 * USED + i] = rng_uniform(&g, 1, 2);
    else J[i] = rng_uniform(&g, 1, 2);
    power += r[i] * r[i], square += J[2 * USED + i] * J[2 * USED + i];
  }
  memset(&d, 0xFF, sizeof d);
  psdmp_steps_lugre_doubt_at(&w, &point, r, J, &d);
  assert_true(d.count == 3 && d.shown[0] && !d.shown[1] && d.shown[2]);
  assert_true(d.inverse[0] > 0 && d.inverse[4] == 0 && fabs(d.inverse[8] * square - 1) < 1e-14);
  double scatter = 0; /* blocks of four rows: twenty of them are wanted */
  for (int b = 0; b < 10; b++) {
    double sum = 0;
    for (int i = 4 * b; i < 4 * b + 4; i++) sum += J[2 * USED + i] * r[i];
    scatter += sum * sum / (square * square) * 20 / 19;
  }
  double should = fmax(scatter, power / (USED - 3) / square);
  for (int i = 0; i < 9; i++)
    if (!(fabs(d.covariance[i] - (i == 8 ? should : 0)) <= 1e-13 * should))
      fail_msg("covariance [%d]: %.15g, %.15g was expected", i, d.covariance[i], i == 8 ? should : 0);
}

/* ---- residuals ---- */

enum { ROWS = 300, PIECES = 3, POSES = 2 };

typedef struct motion {
  psdmp_steps_lugre_piece piece[PIECES];
  double v[PIECES][ROWS], a[PIECES][ROWS], tau[PIECES][ROWS];
  signed char use[PIECES][ROWS];
} motion;

static void make_motion(rng *g, motion *m) {
  for (int p = 0; p < PIECES; p++) {
    double w = rng_uniform(g, 2, 9), phase = rng_uniform(g, 0, 6);
    for (int i = 0; i < ROWS; i++) {
      m->v[p][i] = 0.3 * sin(w * i * 0.01 + phase), m->a[p][i] = 0.3 * w * cos(w * i * 0.01 + phase),
      m->tau[p][i] = rng_uniform(g, -10, 10);
      m->use[p][i] = rng_int(g, 0, 4) > 0;
    }
    m->piece[p] = (psdmp_steps_lugre_piece){.rows = ROWS - 20 * p,
                                            .dt = 0.01,
                                            .v = m->v[p],
                                            .a = m->a[p],
                                            .tau = m->tau[p],
                                            .use = m->use[p],
                                            .pose = p % POSES};
  }
}

/* y without its projection on x */
static double without(long count, const double *x, double *y) {
  real both = 0, square = 0;
  for (long i = 0; i < count; i++) both += (real)x[i] * y[i], square += (real)x[i] * x[i];
  for (long i = 0; i < count; i++) y[i] = (double)(y[i] - both / square * x[i]);
  return (double)(both / square);
}

/* piece by piece from the simulation itself; tied numbers move together */
TEST(test_residual) {
  static motion m;
  static double residual[PIECES * ROWS], J[UNKNOWNS * PIECES * ROWS], alone[PIECES * ROWS],
      columns[ROWS * WITH_DERIVATIVES], y[ROWS], start[ROWS], bend[PIECES];
  static const double harmless = 1e-4;
  rng g = rng_start("lugre residual");
  for (int trial = 0; trial < 16; trial++) {
    psdmp_steps_lugre_options options = {0};
    psdmp_steps_lugre w;
    psdm_error error;
    psdmp_steps_lugre_point point = {.friction = {.given = true,
                                                  .coulomb = 3,
                                                  .stat = 4,
                                                  .stribeck = 0.05,
                                                  .viscous = 5,
                                                  .exponent = 0.8,
                                                  .sigma0 = 2e3,
                                                  .sigma1 = 20,
                                                  .offset = 0.7},
                                     .inertia = {1.5, 2.5}};
    make_motion(&g, &m);
    for (int k = 0; k < INERTIA + POSES; k++) point.free[k] = trial < 2 || rng_int(&g, 0, 2) > 0;
    if (!point.free[STAT]) point.friction.stat = point.friction.coulomb;
    if (!point.free[SIGMA0]) point.friction.sigma0 = point.friction.coulomb / harmless;
    assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, POSES, &options, NULL, &w, &error), PSDM_OK);
    double fastest = 0;
    long at = 0, used = 0, rows = 0;
    for (int p = 0; p < PIECES; p++)
      for (long i = 0; i < m.piece[p].rows; i++, rows++)
        if (m.use[p][i]) used++, fastest = fmax(fastest, fabs(m.v[p][i]));
    assert_true(w.used == used && w.rows == rows && w.fastest == fastest && w.evaluations == 0);
    psdmp_steps_lugre_residual(&w, &point, residual, J, bend);
    psdmp_steps_lugre_residual(&w, &point, alone, NULL, NULL);
    assert_int_equal(w.evaluations, 2);
    double *number[UNKNOWNS];
    int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(&w, &point, which);
    for (int k = 0; k < INERTIA + POSES; k++)
      number[k] = k < INERTIA ? psdmp_parameters_lugre_number(&point.friction, k) : &point.inertia[k - INERTIA];
    for (int p = 0; p < PIECES; p++) {
      const psdmp_steps_lugre_piece *piece = &m.piece[p];
      long own = 0;
      psdmp_steps_lugre_simulate(&point.friction, piece->rows, piece->dt, piece->v, WITH_DERIVATIVES, columns);
      for (long i = 0; i < piece->rows; i++) {
        if (!piece->use[i]) continue;
        start[own] = columns[i * WITH_DERIVATIVES + 8];
        y[own++] = columns[i * WITH_DERIVATIVES] + 0.7 + point.inertia[p % POSES] * piece->a[i] - piece->tau[i];
      }
      double share = without(own, start, y);
      assert_true(fabs(bend[p] + share) <= 1e-12 * fmax(1, fabs(share)));
      for (long i = 0; i < own; i++)
        assert_true(fabs(y[i] - residual[at + i]) <= 1e-12 * 20 && alone[at + i] == residual[at + i]);
      for (int k = 0; k < count; k++) {
        double scale = which[k] < SIGMA1 ? *number[which[k]] : 1;
        long row = 0;
        for (long i = 0; i < piece->rows; i++) {
          const double *c = columns + i * WITH_DERIVATIVES;
          if (!piece->use[i]) continue;
          double by = which[k] == OFFSET    ? 1
                      : which[k] >= INERTIA ? (which[k] - INERTIA == p % POSES ? piece->a[i] : 0)
                                            : c[1 + which[k]];
          if (which[k] == COULOMB && !point.free[STAT]) by += c[1 + STAT];
          if (which[k] == COULOMB && !point.free[SIGMA0]) by += c[1 + SIGMA0] / harmless;
          y[row++] = scale * by;
        }
        without(own, start, y);
        double most = max_absolute(y, (int)own);
        for (long i = 0; i < own; i++) assert_true(fabs(y[i] - J[k * w.used + at + i]) <= 1e-12 * fmax(1, most));
      }
      at += own;
    }
    assert_int_equal(at, used);
    psdmp_base_arena_free(&w.arena);
  }
}

/* a piece whose first used row comes 350 to 380 lengths after its beginning: the bend there has no effect any more,
 * though it is still a number of the fit */
TEST(test_forgotten_beginning) {
  enum { LONG = 90 };
  double v[LONG], a[LONG] = {0}, tau[LONG], columns[LONG * TORQUE_AND_START], residual[LONG], bend;
  signed char use[LONG];
  for (int lengths = 350; lengths <= 380; lengths++) {
    psdm_friction f = {
        .given = true, .coulomb = 2, .stat = 2, .stribeck = 0.1, .exponent = 1, .sigma0 = 2.0 * lengths / 40 / 0.01};
    psdmp_steps_lugre_piece piece = {.rows = LONG, .dt = 0.01, .v = v, .a = a, .tau = tau, .use = use};
    psdmp_steps_lugre_options options = {0};
    psdmp_steps_lugre_point point = {.friction = f};
    psdmp_steps_lugre w;
    for (int i = 0; i < LONG; i++) v[i] = 1, tau[i] = 2 + 0.1 * (i % 7), use[i] = i >= 40;
    psdmp_steps_lugre_simulate(&f, LONG, 0.01, v, TORQUE_AND_START, columns);
    assert_true(columns[2 * 40 + 1] > 0 && columns[2 * 40 + 1] < 1e-150);
    assert_int_equal(psdmp_steps_lugre_open(1, &piece, 1, &options, NULL, &w, NULL), PSDM_OK);
    psdmp_steps_lugre_residual(&w, &point, residual, NULL, &bend);
    psdmp_base_arena_free(&w.arena);
    assert_true(bend == 0);
    for (int i = 40; i < LONG; i++) assert_true(residual[i - 40] == columns[2 * i] - tau[i]);
  }
}

/* ---- prediction ---- */

/* bristles along the velocity and the offset, then the filter; the steady state without bristles; nothing without
 * friction */
TEST(test_predict) {
  enum { SAMPLES = 400 };
  rng g = rng_start("lugre predict");
  double *v = fenced_new(sizeof *v * SAMPLES), *is = fenced_new(sizeof *is * SAMPLES), should[SAMPLES], dt = 0.004,
         scratch[4000];
  psdm_filter filter;
  assert_int_equal(psdm_filter_butterworth(4, 20, 1 / dt, &filter), PSDM_OK);
  assert_true(psdm_filter_scratch(&filter, SAMPLES) <= 4000);
  for (int i = 0; i < SAMPLES; i++) v[i] = 0.8 * sin(0.05 * i) + 0.1 * rng_normal(&g);
  for (int lacks = -1; lacks < 5; lacks++)
    for (int filtered = 0; filtered < 2; filtered++) {
      psdm_friction f = {6, 8, 0.05, 10, 0.7, 3e4, 19, 0.4, true};
      double *const needed[] = {&f.sigma0, &f.coulomb, &f.stat, &f.stribeck};
      if (lacks >= 0 && lacks < 4) *needed[lacks] = 0;
      if (lacks == 4) f.given = false;
      psdmp_steps_lugre_simulate(&f, SAMPLES, dt, v, TORQUE_ALONE, should);
      for (int i = 0; i < SAMPLES; i++)
        should[i] = lacks == 4 ? 0 : lacks < 0 ? should[i] + 0.4 : psdm_friction_steady(&f, PSDM_FRICTION_POWER, v[i]);
      if (filtered) psdm_filter_zero_phase(&filter, SAMPLES, 1, should, scratch);
      assert_int_equal(psdmp_steps_lugre_predict(&f, filtered ? &filter : NULL, SAMPLES, dt, v, NULL, is), PSDM_OK);
      for (int i = 0; i < SAMPLES; i++) assert_true(is[i] == should[i]);
      is[1] = NAN;
      assert_int_equal(psdmp_steps_lugre_predict(&f, NULL, 2, dt, v, NULL, is), PSDM_OK);
      assert_true(isfinite(is[1]));
      assert_int_equal(psdmp_steps_lugre_predict(&f, NULL, 1, dt, v, NULL, is), PSDM_E_ARGUMENT);
      assert_int_equal(psdmp_steps_lugre_predict(&f, NULL, SAMPLES, 0, v, NULL, is), PSDM_E_ARGUMENT);
    }
  fenced_free(v), fenced_free(is);
}

/* where Fs is Fc, bristles bend as Fc (1 - e^-(sigma0 x / Fc)) with the way x, however short the steps: to 1e-12 of
 * it in each */
TEST(test_bending) {
  enum { STEPS = 40 };
  const psdm_friction f = {6, 6, 0.05, 0, 1, 3e4, 0, 0, true};
  double v[STEPS], is[STEPS], dt = 0.004;
  for (double speed = -1e-6; fabs(speed) < 1; speed *= -1.7) {
    for (int i = 0; i < STEPS; i++) v[i] = speed;
    psdmp_steps_lugre_simulate(&f, STEPS, dt, v, TORQUE_ALONE, is);
    for (int i = 0; i < STEPS; i++) {
      /* expm1 is negative: along the velocity */
      double should = (speed < 0 ? 6 : -6) * expm1(-3e4 * fabs(speed) * dt * i / 6);
      if (!(fabs(is[i] - should) <= 1e-12 * 6 * (i + 1)))
        fail_msg("%g rad/s, row %d: %.15g, %.15g was expected", speed, i, is[i], should);
    }
  }
}

/* ---- bristles, step by step ---- */

enum { LAW = 7, SIM = 160 };

static real plain_grip(const real *p, real speed) { return p[0] + (p[1] - p[0]) * expl(-speed / p[2] * speed / p[2]); }

/* one step, G and 1 / G along chords */
static void plain_step(const real *p, real sign, real time, real from, real to, real *h, real *start) {
  real g0 = plain_grip(p, from), g1 = plain_grip(p, to), A = p[5] * time / 2 * (from / g0 + to / g1);
  if (!(A > 0)) return;
  real e = expl(-A), mean = -expm1l(-A) / A;
  *h = *h * e + sign * ((mean - e) * g0 + (1 - mean) * g1);
  *start *= e;
}

static void plain_fine(const real *p, double vs, real sign, real time, double from, double to, real *h, real *start) {
  int n = (int)fmin(fmax(ceil(fabs(to - from) / (vs / 8)), 1), 80);
  for (int k = 0; k < n; k++)
    plain_step(p, sign, time / n, from + ((real)to - from) * k / n, from + ((real)to - from) * (k + 1) / n, h, start);
}

/* in steps of an eighth of vs up to five of them, the grid's vs, so that a derivative is that of the scheme */
static void plain_straight(const real *p, double vs, real sign, real time, double from, double to, real *h,
                           real *start) {
  double edge = 5 * vs;
  real until = time * (edge - (real)from) / ((real)to - from);
  if (fabs(to - from) <= vs / 8 || fmin(from, to) >= edge) {
    plain_step(p, sign, time, from, to, h, start);
  } else if (fmax(from, to) <= edge) {
    plain_fine(p, vs, sign, time, from, to, h, start);
  } else if (to > from) {
    plain_fine(p, vs, sign, until, from, edge, h, start);
    plain_step(p, sign, time - until, edge, to, h, start);
  } else {
    plain_step(p, sign, until, from, edge, h, start);
    plain_fine(p, vs, sign, time - until, edge, to, h, start);
  }
}

/* torque, the beginning's share in it, h, z', the beginning's share in h */
static void plain_bristles(const real *p, double vs, long rows, real dt, const double *v, real (*out)[5]) {
  real h = 0, start = 1;
  for (long i = 0; i < rows; i++) {
    double before = i ? v[i - 1] : 0, speed = fabs(v[i]);
    if (i > 0 && before * v[i] < 0) {
      real until = dt * before / ((real)before - v[i]);
      plain_straight(p, vs, before < 0 ? -1 : 1, until, fabs(before), 0, &h, &start);
      plain_straight(p, vs, v[i] < 0 ? -1 : 1, dt - until, 0, speed, &h, &start);
    } else if (i > 0) {
      plain_straight(p, vs, before + v[i] < 0 ? -1 : 1, dt, fabs(before), speed, &h, &start);
    }
    real G = plain_grip(p, speed), rate = v[i] - speed * h / G, sign = (v[i] > 0) - (v[i] < 0);
    out[i][0] = h + p[6] * rate + p[3] * sign * powl(speed, p[4]);
    out[i][1] = (1 - p[6] * speed / G) * start;
    out[i][2] = h, out[i][3] = rate, out[i][4] = start;
  }
}

/* speeds of all sizes, turns, rests and jumps; exact up to rounding, and series exact to 1e-12 */
TEST(test_bristles) {
  rng g = rng_start("lugre bristles");
  for (int trial = 0; trial < 14; trial++) {
    psdm_friction f = {rng_uniform(&g, 1, 9),
                       0,
                       rng_uniform(&g, 0.01, 0.2),
                       rng_uniform(&g, 1, 20),
                       rng_uniform(&g, 0.5, 1.3),
                       pow(10, rng_uniform(&g, 2, 5)),
                       rng_uniform(&g, 0, 20),
                       0,
                       true};
    f.stat = trial % 4 ? f.coulomb * rng_uniform(&g, 0.8, 1.5) : f.coulomb;
    double v[SIM], dt = 0.004, is[SIM * WITH_DERIVATIVES], alone[SIM], two[2 * SIM], three[3 * SIM],
                   size = pow(10, rng_uniform(&g, -3, 1));
    /* short steps of the bristles, long ones of the curve */
    if (trial > 11) f.stribeck = 1e-5, f.sigma0 = 100, f.sigma1 = 0, f.stat = 2 * f.coulomb, size = 1;
    for (int i = 0; i < SIM; i++)
      v[i] = f.stribeck * size * (i % 40 > 36 ? 0 : i % 40 == 20 ? 9 : sin(0.11 * i + trial) + 0.3 * rng_normal(&g));
    psdmp_steps_lugre_simulate(&f, SIM, dt, v, WITH_DERIVATIVES, is);
    psdmp_steps_lugre_simulate(&f, SIM, dt, v, TORQUE_ALONE, alone);
    psdmp_steps_lugre_simulate(&f, SIM, dt, v, TORQUE_AND_START, two);
    psdmp_steps_lugre_simulate(&f, SIM, dt, v, BRISTLES_ONLY, three);
    real p[LAW], should[SIM][5], up[SIM][5], down[SIM][5];
    for (int k = 0; k < LAW; k++) p[k] = *psdmp_parameters_lugre_number(&f, k);
    plain_bristles(p, f.stribeck, SIM, dt, v, should);
    for (int i = 0; i < SIM; i++) {
      real damped = 1 + f.sigma1 * fabs(v[i]) / fmin(f.coulomb, f.stat),
           most = 1e-11L * damped * (f.coulomb + f.stat + f.viscous * pow(fabs(v[i]), f.exponent));
      if (!(fabsl(is[i * WITH_DERIVATIVES] - should[i][0]) <= most))
        fail_msg("trial %d, row %d: %.15g, %.15g was expected", trial, i, is[i * WITH_DERIVATIVES],
                 (double)should[i][0]);
      assert_true(fabsl(is[i * WITH_DERIVATIVES + 8] - should[i][1]) <= 1e-11L * damped);
      assert_true(alone[i] == is[i * WITH_DERIVATIVES] && two[2 * i] == alone[i] &&
                  two[2 * i + 1] == is[i * WITH_DERIVATIVES + 8]);
      assert_true(fabsl(three[3 * i] - should[i][2]) <= most &&
                  fabsl(three[3 * i + 1] - should[i][3]) <= 1e-11L * (1 + fabs(v[i])) &&
                  fabsl(three[3 * i + 2] - should[i][4]) <= 1e-11L);
    }
    /* differences over a hundred thousandth: 1e-10 times the curvature */
    for (int k = 0; k < LAW && trial < 12; k++) {
      real before = p[k], step = 1e-5L * before, largest = 0;
      if (before == 0) continue;
      p[k] = before + step, plain_bristles(p, f.stribeck, SIM, dt, v, up);
      p[k] = before - step, plain_bristles(p, f.stribeck, SIM, dt, v, down);
      p[k] = before;
      for (int i = 0; i < SIM; i++) largest = fmaxl(largest, fabsl(up[i][0] - down[i][0]) / (2 * step));
      for (int i = 0; i < SIM; i++) {
        real slope = (up[i][0] - down[i][0]) / (2 * step);
        if (!(fabsl(is[i * WITH_DERIVATIVES + 1 + k] - slope) <=
              1e-7L * largest + 1e-18L * (f.coulomb + f.stat) / step))
          fail_msg("trial %d, number %d, row %d: %.15g, %.15g was expected", trial, k, i,
                   is[i * WITH_DERIVATIVES + 1 + k], (double)slope);
      }
    }
  }
}

/* at rest there is no viscous torque, not even with exponent 0, and no derivative except through the bristles */
TEST(test_rest_of_bristles) {
  const psdm_friction f = {6, 8, 0.05, 5, 0, 3e4, 10, 0, true};
  const double v[4] = {0, 0.5, 0, 0};
  double is[4 * WITH_DERIVATIVES], bristles[4 * BRISTLES_ONLY];
  psdmp_steps_lugre_simulate(&f, 4, 0.01, v, WITH_DERIVATIVES, is);
  psdmp_steps_lugre_simulate(&f, 4, 0.01, v, BRISTLES_ONLY, bristles);
  for (int i = 0; i < 4; i++) {
    const double *row = is + i * WITH_DERIVATIVES;
    if (i == 1) continue;
    assert_true(row[0] == bristles[3 * i] && row[1 + VISCOUS] == 0 && row[1 + EXPONENT] == 0 && row[1 + SIGMA1] == 0 &&
                row[8] == bristles[3 * i + 2]);
    assert_true(i > 0 || (row[0] == 0 && row[8] == 1));
  }
  assert_true(is[WITH_DERIVATIVES + 1 + VISCOUS] == 1 && is[WITH_DERIVATIVES + 1 + EXPONENT] == 5 * log(0.5));
  assert_true(is[2 * WITH_DERIVATIVES] > 6 && is[3 * WITH_DERIVATIVES] == is[2 * WITH_DERIVATIVES]);
}

TEST_MAIN(test_inverse, test_inverse_in_fences, test_doubt, test_doubt_in_fences, test_numbers_without_doubt,
          test_residual, test_forgotten_beginning, test_predict, test_bending, test_bristles, test_rest_of_bristles)
