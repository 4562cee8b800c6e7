/* test_fit_cone.c: the stacked problem of a fit with a prior, piece by piece against its dense twin: the layout, the
 * starting point, Newton's step, and the resulting phi and theta. */
#include "test_fit_twin.h"

/* ---- where it begins ---- */

static double *start(const held *h, psdmp_fit_cone *c) {
  double *scratch = scratch_of(psdmp_fit_cone_scratch(&h->p.rows));
  assert_int_equal(psdmp_fit_cone_start(c, &h->p.rows, &h->options, scratch), PSDM_OK);
  return scratch;
}

static void expect_start(const held *h, const psdmp_fit_cone *c, const twin *w) {
  int own = h->p.own, base = h->p.rows.base, S = h->p.rows.standard, W = own + base, M = own + S, full = W + 1;
  double *scratch = scratch_of(psdmp_fit_gather_scratch(&h->p.rows)), *G = scratch_of((size_t)(full * full));
  assert_true(psdmp_fit_gather(&h->p.rows, h->sigma, scratch, G));
  assert_true(c->own == own && c->W == W && c->M == M && c->positives == w->positives &&
              c->lambda == h->options.lambda && c->mu == 0 && c->rows == &h->p.rows && c->options == &h->options);
  /* two factorisations of the same rows agree to the rounding of a column's length: the memory's alignment may
   * choose another kernel */
  double length[64] = {0};
  assert_true(full <= 64);
  for (int k = 0; k < full; k++)
    for (int i = 0; i <= k; i++) length[k] = hypot(length[k], G[i * full + k]);
  for (int i = 0; i < W; i++) {
    const double *row = c->E + i * (M + 1);
    for (int k = 0; k < own; k++) expect(row[k], G[i * full + k], length[k], "own", i, k);
    expect(row[M], G[i * full + W], length[W], "torque", i, 0);
    for (int s = 0; s < S; s++) {
      number sum = 0, size = 0;
      for (int b = 0; b < base; b++)
        sum += (number)G[i * full + own + b] * h->p.K[b * S + s],
            size += fabsl((number)length[own + b] * h->p.K[b * S + s]);
      expect(row[own + s], sum, size, "E", i, s);
    }
  }
  for (int i = 0; i < M; i++) {
    assert_true(c->sign[i] == (w->sign[i] ? 1 : 0));
    assert_true(c->x[i] == (i < own ? 0 : h->prior[i - own]));
    assert_true(c->centre[i] == w->centre[i]);
    expect(c->ridge[i], w->ridge[i], w->ridge[i], "ridge", i, 0);
  }
  for (int k = 0; k < c->rows->links; k++) {
    number L[4][4], inverse[4][4];
    assert_true(lower(h->prior + 10 * k, L));
    inverse4(h->prior + 10 * k, inverse);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        expect(c->L[16 * k + 4 * i + j], L[i][j], L[i][i] + L[j][j], "L", i, j);
        /* conditions of some thousand */
        expect(c->pull[16 * k + 4 * i + j], inverse[i][j], 1e3L * sqrtl(inverse[i][i] * inverse[j][j]),
               "inverse of the prior", i, j);
        if (j > i) assert_true(c->L[16 * k + 4 * i + j] == 0);
      }
  }
  fenced_free(G), fenced_free(scratch);
}

/* adjacent pieces, and the amount requested */
static void expect_layout(const held *h, const psdmp_fit_cone *c, const double *scratch) {
  long W = c->W, M = c->M, links = h->p.rows.links, full = W + 1, wide = M + 1;
  const double *const piece[] = {c->E,      c->X,    c->T, c->diagonal, c->x,    c->step, c->ridge,
                                 c->centre, c->sign, c->L, c->pull,     c->tilt, c->map,  c->scratch};
  const long size[] = {W * wide, W * wide, wide * wide, M,          M,          M,          M,
                       M,        M,        16 * links,  16 * links, 10 * links, 100 * links};
  long at = 0;
  for (int k = 0; k < 14; k++) {
    assert_int_equal(piece[k] - scratch, at);
    at += k < 13 ? size[k] : 0;
  }
  size_t gather = psdmp_fit_gather_scratch(&h->p.rows) + (size_t)(full * full),
         factor = psdmp_linalg_factor_scratch((int)wide, W);
  /* covariance, root, observable columns; a step's beginning */
  size_t behind = (size_t)(W * W + W * M + 2 * W + M + 16 * links);
  assert_int_equal(psdmp_fit_cone_scratch(&h->p.rows), (size_t)at + (factor > gather ? factor : gather) + behind);
}

static void starts(void **state) {
  (void)state;
  rng g = rng_start("starts");
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 4; turn++) {
      held h;
      twin w;
      psdmp_fit_cone c;
      held_new(&h, &g, &shapes[k], 20);
      if (turn == 1) h.options.ridge = 0, h.options.drives_nonnegative = false;
      if (turn == 2) h.options.nonnegative = NULL, h.options.ridge = 3;
      if (turn == 3) /* unobservable columns */
        for (int j = 0; j < h.p.rows.n; j++) {
          for (int s = 0; s < h.p.rows.base * h.p.rows.standard; s++) h.p.K[s] *= (s + 1) % h.p.rows.standard != 0;
          for (long i = 0; i < h.p.each && h.p.extras[j] > 0; i++) h.p.X[j][i * width_of(&h.p, j) + h.p.rows.base] = 0;
          compress(&h.p, 0, h.p.each, h.p.R);
        }
      twin_new(&w, &h);
      double *scratch = start(&h, &c);
      expect_start(&h, &c, &w);
      expect_layout(&h, &c, scratch);
      fenced_free(scratch);
      problem_free(&h.p);
    }
}

/* ---- refusals, and inside or not ---- */

static psdm_status try_start(held *h, double *scratch) {
  psdmp_fit_cone c;
  return psdmp_fit_cone_start(&c, &h->p.rows, &h->options, scratch);
}

static void refusals(void **state) {
  (void)state;
  rng g = rng_start("refusals");
  held h;
  held_new(&h, &g, &shapes[0], 20);
  double *scratch = scratch_of(psdmp_fit_cone_scratch(&h.p.rows));
  assert_int_equal(try_start(&h, scratch), PSDM_OK);
  const double bad[] = {0, -1, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    h.options.lambda = bad[k];
    assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
    h.options.lambda = 0.7, h.sigma[2] = bad[k];
    assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
    h.sigma[2] = 2;
  }
  for (int i = 0; i < 22; i++) { /* every number of the prior must be finite */
    double kept = h.prior[i];
    for (int k = 2; k < 4; k++) h.prior[i] = bad[k], assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
    h.prior[i] = kept;
  }
  h.prior[10] = -1; /* a mass */
  assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
  memcpy(h.prior + 10, h.prior, 10 * sizeof *h.prior), h.prior[20] = -1; /* a drive may begin anywhere */
  assert_int_equal(try_start(&h, scratch), PSDM_OK);
  h.options.prior = NULL;
  assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
  h.options.prior = h.prior;
  h.p.rows.standard = 19;
  assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
  h.p.rows.standard = 22, h.p.rows.links = -1;
  assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
  h.p.rows.links = 2, h.p.R[2][0] = NAN;
  assert_int_equal(try_start(&h, scratch), PSDM_E_ARGUMENT);
  fenced_free(scratch);
  problem_free(&h.p);
}

static void stands(void **state) {
  (void)state;
  rng g = rng_start("stands");
  for (int k = 0; k < SHAPES; k++) {
    held h;
    psdmp_fit_cone c;
    held_new(&h, &g, &shapes[k], 20);
    double *scratch = start(&h, &c);
    for (int i = 0; i < c.own; i++) c.x[i] = 0.5;
    assert_true(psdmp_fit_cone_stand(&c, true) && psdmp_fit_cone_stand(&c, false));
    for (int i = 0; i < c.M; i++) {
      double kept = c.x[i];
      bool single = i < c.own || i >= c.own + 10 * c.rows->links, mass = !single && (i - c.own) % 10 == 0;
      if (!single && !mass) continue;
      const double at[] = {0, -1, NAN, 1e-300};
      for (int v = 0; v < 4; v++) {
        c.x[i] = at[v];
        assert_int_equal(psdmp_fit_cone_stand(&c, false), single);
        assert_int_equal(psdmp_fit_cone_stand(&c, true), single && (!(c.sign[i] > 0) || v == 3));
      }
      c.x[i] = kept;
    }
    assert_true(psdmp_fit_cone_stand(&c, true));
    fenced_free(scratch);
    problem_free(&h.p);
  }
}

/* ---- a step ---- */

/* somewhere else inside: other bodies, all scalars positive */
static void elsewhere(psdmp_fit_cone *c, rng *g) {
  for (int i = 0; i < c->M; i++) c->x[i] = rng_uniform(g, 0.2, 2);
  for (int k = 0; k < c->rows->links; k++) random_body(g, 4, 0.5, c->x + c->own + 10 * k);
  assert_true(psdmp_fit_cone_stand(c, true));
}

static void expect_step(psdmp_fit_cone *c, twin *w, bool barriers) {
  static number C[MOST][MOST], V[MOST][MOST];
  int M = w->M, wide = M + 1, links = w->links;
  double decrement = psdmp_fit_cone_newton(c, barriers);
  twin_newton(w, c->x, barriers);
  expect(decrement, w->decrement, w->decrement + 1, "decrement", M, 0);
  for (int k = 0; k < links; k++)
    for (int i = 0; i < 10; i++)
      for (int a = 0; a < 10; a++) {
        number should = w->map[w->own + 10 * k + i][w->own + 10 * k + a];
        expect(c->map[100 * k + 10 * i + a], should, 1 + fabsl(should), "map", i, a);
      }
  for (int k = 0; k < links; k++) {
    number tilt[10];
    twin_link(w, c->x, k, tilt);
    for (int a = 0; a < 10; a++)
      expect(c->tilt[10 * k + a], tilt[a], 1e3L * (fabsl(tilt[a]) + tilt[0] + tilt[1] + tilt[2] + tilt[3]), "tilt", k,
             a);
  }
  for (int i = 0; i < M; i++) {
    expect(c->diagonal[i], w->root[i], w->root[i], "diagonal", i, 0);
    for (int k = 0; k < M; k++) {
      number sum = 0;
      for (int e = 0; e < M; e++) sum += (number)c->T[e * wide + i] * c->T[e * wide + k];
      expect((double)sum, w->H[i][k], sqrtl(w->H[i][i] * w->H[k][k]), "H", i, k);
      if (k < i) assert_true(c->T[i * wide + k] == 0);
    }
  }
  twin_doubt(w, C, V);
  for (int i = 0; i < M; i++) { /* in units of each coordinate's own curvature; conditions of some 10^4 */
    expect(c->step[i], w->z[i], 1e3L * sqrtl(w->decrement + 1) / w->root[i], "step", i, 0);
  }
  double *J = scratch_of((size_t)(w->W * M)), *seen = scratch_of((size_t)w->W);
  psdmp_fit_cone_root(c, J);
  for (int i = 0; i < w->W; i++)
    for (int k = 0; k < w->W; k++) {
      number sum = 0;
      for (int e = 0; e < M; e++) sum += (number)J[i * M + e] * J[k * M + e];
      expect((double)sum, C[i][k], 1e3L * sqrtl(C[i][i] * C[k][k]), "root", i, k);
    }
  psdmp_fit_cone_seen(c, seen);
  for (int i = 0; i < w->W; i++) {
    const psdmp_fit_rows *r = c->rows;
    number sum = i < w->own ? c->x[i] : 0, size = fabsl(sum);
    for (int s = 0; s < r->standard && i >= w->own; s++)
      sum += (number)r->K[(i - w->own) * r->standard + s] * c->x[w->own + s],
          size += fabsl((number)r->K[(i - w->own) * r->standard + s] * c->x[w->own + s]);
    expect(seen[i], sum, size, "seen", i, 0);
  }
  fenced_free(J), fenced_free(seen);
  psdmp_fit_cone_unfold(c);
  for (int i = 0; i < M; i++) {
    number size = 0;
    for (int a = 0; a < M; a++) size += fabsl(w->map[i][a]) * sqrtl(w->decrement + 1) / w->root[a];
    expect(c->step[i], w->step[i], 1e3L * size, "unfolded", i, 0);
  }
}

static void steps(void **state) {
  (void)state;
  rng g = rng_start("steps");
  for (int k = 0; k < SHAPES; k++)
    for (int turn = 0; turn < 5; turn++) {
      held h;
      twin w;
      psdmp_fit_cone c;
      held_new(&h, &g, &shapes[k], 20);
      h.options.lambda = turn == 3 ? 30 : 0.7;
      h.options.drives_nonnegative = turn != 4;
      twin_new(&w, &h);
      double *scratch = start(&h, &c);
      if (turn == 0) expect_step(&c, &w, false); /* from the prior, like a surrogate */
      elsewhere(&c, &g);
      c.mu = w.mu = turn == 1 ? 0.05 : turn == 2 ? 0 : 4;
      c.lambda = w.lambda = turn == 3 ? 5 : c.lambda;
      expect_step(&c, &w, turn != 4 && turn != 0);
      fenced_free(scratch);
      problem_free(&h.p);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(starts), cmocka_unit_test(refusals), cmocka_unit_test(stands),
                                     cmocka_unit_test(steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
