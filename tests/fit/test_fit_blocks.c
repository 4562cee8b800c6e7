/* test_fit_blocks.c: the sandwich on small problems against its dense twin: three unequal blocks, with and without a
 * prior, kept and left out; refusals and scratch. */
#include "test_fit_twin.h"

enum { BLOCKS = 3, EACH = 24 };
static const long ends[BLOCKS + 1] = {0, 13, 16, EACH};

typedef struct parts {
  psdmp_fit_rows block[BLOCKS];
  double *R[BLOCKS][JOINTS_MOST], count[BLOCKS][JOINTS_MOST];
} parts;

static void parts_new(parts *s, const problem *p) {
  for (int b = 0; b < BLOCKS; b++) {
    s->block[b] = p->rows, s->block[b].R = s->R[b], s->block[b].count = s->count[b];
    /* not used */
    for (int j = 0; j < p->rows.n; j++) s->R[b][j] = zeros_of(width_of(p, j) * width_of(p, j)), s->count[b][j] = NAN;
    compress(p, ends[b], ends[b + 1], s->R[b]);
  }
}

static void parts_free(parts *s, const problem *p) {
  for (int b = 0; b < BLOCKS; b++)
    for (int j = 0; j < p->rows.n; j++) fenced_free(s->R[b][j]);
}

/* ---- the twin ---- */

/* x <- A^-1 x, A any matrix: by pivots */
static void solve_any(int W, number A[MOST][MOST], number *x) {
  for (int c = 0; c < W; c++) {
    int p = c;
    for (int i = c; i < W; i++)
      if (fabsl(A[i][c]) > fabsl(A[p][c])) p = i;
    for (int k = 0; k < W; k++) {
      number kept = A[c][k];
      A[c][k] = A[p][k], A[p][k] = kept;
    }
    number kept = x[c];
    x[c] = x[p], x[p] = kept;
    for (int i = c + 1; i < W; i++) {
      number factor = A[i][c] / A[c][c];
      for (int k = c; k < W; k++) A[i][k] -= factor * A[c][k];
      x[i] -= factor * x[c];
    }
  }
  for (int i = W - 1; i >= 0; i--) {
    for (int k = i + 1; k < W; k++) x[i] -= A[i][k] * x[k];
    x[i] /= A[i][i];
  }
}

/* each block's gradient at x and its rows' squares, both over phi theta */
static void block_sums(const held *h, const double *x, number g[BLOCKS][MOST], number H[BLOCKS][MOST][MOST]) {
  const problem *p = &h->p;
  int base = p->rows.base, own = p->own, W = own + base;
  for (int b = 0; b < BLOCKS; b++) {
    memset(g[b], 0, sizeof g[b]), memset(H[b], 0, sizeof H[b]);
    for (int j = 0, first = 0; j < p->rows.n; first += p->extras[j++])
      for (long i = ends[b]; i < ends[b + 1]; i++) {
        int w = width_of(p, j);
        const double *row = p->X[j] + i * w;
        number a[MOST] = {0}, left = -row[w - 1], square = (number)h->sigma[j] * h->sigma[j];
        for (int k = 0; k < base; k++) a[own + k] = row[k];
        for (int k = 0; k < p->extras[j]; k++) a[first + k] = row[base + k];
        for (int k = 0; k < W; k++) left += a[k] * x[k];
        for (int k = 0; k < W; k++) {
          g[b][k] += a[k] * left / square;
          for (int e = 0; e < W; e++) H[b][k][e] += a[k] * a[e] / square;
        }
      }
  }
}

/* should <- V + the blocks' steps squared */
static void add_steps(const held *h, const double *x, number C[MOST][MOST], number V[MOST][MOST]) {
  static number H[BLOCKS][MOST][MOST], g[BLOCKS][MOST], A[MOST][MOST];
  int W = h->p.own + h->p.rows.base;
  bool out = h->options.leave_out;
  number keep = 1 - 1 / (2.0L * BLOCKS), factor = out ? (BLOCKS - 1.0L) / BLOCKS : BLOCKS / (BLOCKS - 1.0L);
  block_sums(h, x, g, H);
  for (int b = 0; b < BLOCKS; b++) {
    number moved[MOST];
    for (int i = 0; i < W; i++) {
      moved[i] = 0;
      for (int k = 0; k < W; k++) moved[i] += C[i][k] * (g[b][k] - (g[0][k] + g[1][k] + g[2][k]) / 3);
      for (int k = 0; k < W && out; k++) {
        A[i][k] = i == k;
        for (int e = 0; e < W; e++) A[i][k] -= keep * C[i][e] * H[b][e][k];
      }
    }
    if (out) solve_any(W, A, moved);
    for (int i = 0; i < W; i++)
      for (int k = 0; k < W; k++) V[i][k] += factor * moved[i] * moved[k];
  }
}

/* (W^T W)^-1 of the rows, phi theta; zero for a column of zeros (-1: there is none) */
static void plain_inverse(const held *h, int blind, number C[MOST][MOST]) {
  static number H[BLOCKS][MOST][MOST], g[BLOCKS][MOST], A[MOST][MOST];
  static const double zero[MOST];
  int W = h->p.own + h->p.rows.base;
  block_sums(h, zero, g, H);
  for (int i = 0; i < W; i++) {
    number e[MOST] = {0};
    e[i] = 1;
    for (int r = 0; r < W; r++)
      for (int k = 0; k < W; k++) A[r][k] = H[0][r][k] + H[1][r][k] + H[2][r][k] + (r == blind && k == blind);
    solve_any(W, A, e);
    for (int k = 0; k < W; k++) C[k][i] = i == blind ? 0 : e[k];
  }
}

static psdm_status sandwich(const held *h, const parts *s, int blocks, const psdmp_fit *fit, bool consistent,
                            double *covariance, double *share) {
  double *scratch = scratch_of(psdmp_fit_sandwich_scratch(&h->p.rows));
  psdm_status status =
      psdmp_fit_sandwich(&h->p.rows, blocks, s->block, &h->options, fit, consistent, scratch, covariance, share);
  fenced_free(scratch);
  return status;
}

/* the sandwich of a fit against V and the prior's share of it, phi theta */
static void expect_sandwich(const held *h, const parts *s, const psdmp_fit *fit, bool consistent, number V[MOST][MOST],
                            const number *prior, number scale) {
  int own = h->p.own, base = h->p.rows.base, W = own + base;
  double *covariance = scratch_of((size_t)(W * W)), *share = scratch_of((size_t)W),
         *alone = scratch_of((size_t)(W * W));
  assert_int_equal(sandwich(h, s, BLOCKS, fit, consistent, covariance, share), PSDM_OK);
  assert_int_equal(sandwich(h, s, BLOCKS, fit, consistent, alone, NULL), PSDM_OK);
  assert_memory_equal(alone, covariance, sizeof *alone * (size_t)(W * W));
  for (int i = 0; i < W; i++) {
    int from = i < own ? base + i : i - own;
    expect(share[from], V[i][i] > 0 ? prior[i] / V[i][i] : 0, scale, "share", i, 0);
    for (int k = 0; k < W; k++) {
      int to = k < own ? base + k : k - own;
      expect(covariance[from * W + to], V[i][k], scale * sqrtl(V[i][i] * V[k][k]), "covariance", i, k);
    }
  }
  fenced_free(covariance), fenced_free(share), fenced_free(alone);
}

static void formulas(void **state) {
  (void)state;
  rng g = rng_start("formulas");
  static number C[MOST][MOST], V[MOST][MOST];
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 8; turn++) {
      held h;
      parts s;
      twin w;
      /* linear, consistent, surrogate, and linear with an unobservable column */
      int kind = turn / 2 % 3, blind = turn >= 6 && shapes[k].extras[0] > 0 ? 0 : -1;
      double theta[MOST], pi[MOST], phi[MOST], x[MOST];
      number prior[MOST] = {0};
      held_new(&h, &g, &shapes[k], EACH);
      for (long i = 0; i < EACH && blind >= 0; i++) h.p.X[0][i * width_of(&h.p, 0) + shapes[k].base] = 0;
      compress(&h.p, 0, EACH, h.p.R);
      parts_new(&s, &h.p);
      h.options.leave_out = turn % 2;
      psdmp_fit fit = {.theta = theta, .pi = kind ? pi : NULL, .phi = phi};
      double *scratch = scratch_of(psdmp_fit_scratch(&h.p.rows));
      psdm_status (*const estimators[])(const psdmp_fit_rows *, const psdmp_fit_options *, double *, psdmp_fit *) = {
          psdmp_fit_linear, psdmp_fit_consistent, psdmp_fit_surrogate};
      if (kind == 2) h.options.nonnegative = NULL, h.options.lambda = 1e6; /* inside, but for drives */
      assert_int_equal(estimators[kind](&h.p.rows, &h.options, scratch, &fit), PSDM_OK);
      for (int i = 0; i < h.p.own; i++) x[i] = phi[i];
      for (int i = 0; i < h.p.rows.base; i++) x[h.p.own + i] = theta[i];
      memset(V, 0, sizeof V);
      if (kind) {
        double at[MOST];
        int W = h.p.own + h.p.rows.base, positives;
        twin_new(&w, &h);
        positives = 4 * w.links + w.positives;
        w.mu = positives ? fit.gap / positives : 0;
        for (int i = 0; i < w.M; i++) at[i] = i < w.own ? phi[i] : pi[i - w.own];
        twin_newton(&w, at, w.mu > 0);
        twin_doubt(&w, C, V);
        for (int i = 0; i < W; i++) prior[i] = V[i][i];
      } else {
        plain_inverse(&h, blind, C);
      }
      add_steps(&h, x, C, V);
      /* conditions of some million, of some ten thousand */
      expect_sandwich(&h, &s, &fit, kind > 0, V, prior, kind ? 1e5L : 1e3L);
      fenced_free(scratch);
      parts_free(&s, &h.p);
      problem_free(&h.p);
    }
}

static void refusals(void **state) {
  (void)state;
  rng g = rng_start("refusals");
  held h;
  parts s;
  double theta[MOST], pi[MOST], phi[MOST], V[MOST * MOST], share[MOST];
  held_new(&h, &g, &shapes[0], EACH);
  parts_new(&s, &h.p);
  double *scratch = scratch_of(psdmp_fit_scratch(&h.p.rows));
  psdmp_fit fit = {.theta = theta, .pi = pi, .phi = phi};
  assert_int_equal(psdmp_fit_consistent(&h.p.rows, &h.options, scratch, &fit), PSDM_OK);
  for (int consistent = 0; consistent < 2; consistent++) {
    assert_int_equal(sandwich(&h, &s, 2, &fit, consistent, V, share), PSDM_OK); /* two are enough */
    for (int blocks = -1; blocks < 2; blocks++)
      assert_int_equal(sandwich(&h, &s, blocks, &fit, consistent, V, share), PSDM_E_ARGUMENT);
    psdmp_fit without = fit;
    without.theta = NULL;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &without, consistent, V, share), PSDM_E_ARGUMENT);
    without = fit, without.phi = NULL;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &without, consistent, V, share), PSDM_E_ARGUMENT);
    without = fit, without.pi = NULL;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &without, consistent, V, share), consistent ? PSDM_E_ARGUMENT : PSDM_OK);
    h.sigma[1] = 0;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, consistent, V, share), PSDM_E_ARGUMENT);
    h.sigma[1] = 1.25;
    double kept = h.p.R[2][0];
    h.p.R[2][0] = NAN;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, consistent, V, share), PSDM_E_ARGUMENT);
    h.p.R[2][0] = kept;
    kept = s.R[1][2][0], s.R[1][2][0] = NAN, h.options.leave_out = true;
    assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, consistent, V, share), PSDM_E_ARGUMENT);
    s.R[1][2][0] = kept, h.options.leave_out = false;
  }
  /* points outside of a fit with a prior: a body, and with a barrier a scalar */
  double mass = pi[10], drive = pi[20];
  pi[10] = -1;
  assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, true, V, share), PSDM_E_ARGUMENT);
  pi[10] = mass, pi[20] = -1;
  assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, true, V, share), PSDM_E_ARGUMENT);
  fit.gap = 0, phi[0] = 0; /* a surrogate's may be anything */
  assert_true(h.flags[0][0]);
  assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, true, V, share), PSDM_OK);
  pi[20] = drive, h.options.lambda = 0;
  assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, true, V, share), PSDM_E_ARGUMENT);
  assert_int_equal(sandwich(&h, &s, BLOCKS, &fit, false, V, share), PSDM_OK);
  fenced_free(scratch);
  parts_free(&s, &h.p);
  problem_free(&h.p);
}

/* a block with 4/3 of the information of all rows, so that leaving out three quarters of it leaves none: singular to
 * the last digit */
static void nothing_remains(void **state) {
  (void)state;
  const int extras[1] = {0};
  int singular = 0;
  problem p, q;
  problem_new(&p, 1, 1, 0, 0, extras, 2), problem_new(&q, 1, 1, 0, 0, extras, 2);
  p.R[0][0] = 1, p.R[0][3] = 0.5, q.R[0][1] = 2;
  const psdmp_fit_rows block[2] = {q.rows, p.rows};
  double theta = 0, phi, V, *scratch = scratch_of(psdmp_fit_sandwich_scratch(&p.rows)), s = sqrt(4.0 / 3);
  const psdmp_fit fit = {.theta = &theta, .phi = &phi};
  for (int k = 0; k < 4; k++) s = nextafter(s, 0);
  for (int k = 0; k < 9; k++, s = nextafter(s, 2)) {
    q.R[0][0] = s;
    psdm_status status =
        psdmp_fit_sandwich(&p.rows, 2, block, &(psdmp_fit_options){.leave_out = true}, &fit, false, scratch, &V, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_ARGUMENT);
    singular += status != PSDM_OK;
  }
  assert_true(singular > 0 && singular < 9);
  fenced_free(scratch);
  problem_free(&p), problem_free(&q);
}

/* the scratch requested: its pieces, one by one */
static void scratches(void **state) {
  (void)state;
  static const shape many[] = {{1, 2, 20, 0, {1}}, {1, 60, 0, 0, {1}}, {2, 0, 0, 0, {1, 1}}, {3, 4, 0, 1, {9, 9, 9}}};
  int largest[2] = {0};
  for (int k = 0; k < SHAPES + 4; k++) {
    const shape *s = k < SHAPES ? &shapes[k] : &many[k - SHAPES];
    const psdmp_fit_rows r = {
        .n = s->n, .base = s->base, .standard = 10 * s->links + s->drives, .links = s->links, .extras = s->extras};
    size_t own = (size_t)psdmp_fit_own(&r), W = own + (size_t)s->base, M = own + (size_t)r.standard,
           w = (size_t)psdmp_fit_widest(&r), gather = psdmp_fit_gather_scratch(&r), triangle = (W + 1) * (W + 1);
    size_t linear = triangle + W * W + W + psdmp_fit_solve_scratch((int)W) + gather,
           with_prior = psdmp_fit_cone_scratch(&r) + W * M, most = linear > with_prior ? linear : with_prior;
    assert_true(4 * W + triangle + 2 * W * W + gather < linear); /* of a block that is left out */
    largest[most == with_prior]++;
    assert_int_equal(psdmp_fit_sandwich_scratch(&r), 2 * W * W + 4 * W + 2 * w + most);
  }
  assert_true(largest[0] && largest[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(formulas), cmocka_unit_test(refusals),
                                     cmocka_unit_test(nothing_remains), cmocka_unit_test(scratches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
