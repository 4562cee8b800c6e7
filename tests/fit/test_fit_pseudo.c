/* test_fit_pseudo.c: pseudo-inertias against those of points, their factors, infeasible ones, and the divergence in
 * long double. */
#include "test_fit_twin.h"

TEST(points) {
  rng g = rng_start("points");
  for (int trial = 0; trial < 50; trial++) {
    /* a point of mass m at r: first moments m r, inertia m (|r|^2 1 - r r^T) about the origin */
    double m = rng_uniform(&g, 0.1, 5), r[4] = {0, 0, 0, 1}, pi[10], P[16], back[10];
    for (int i = 0; i < 3; i++) r[i] = rng_uniform(&g, -1, 1);
    point_parameters(m, r, pi);
    psdmp_fit_pseudo_inertia(pi, P);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) assert_true(fabs(P[4 * i + j] - m * r[i] * r[j]) <= 4e-15 * m);
    psdmp_fit_pseudo_parameters(P, back);
    for (int i = 0; i < 10; i++) assert_true(fabs(back[i] - pi[i]) <= 8e-15 * m);
  }
  for (int a = 0; a < 10; a++) assert_true(psdmp_fit_pair[a][0] == pair[a][0] && psdmp_fit_pair[a][1] == pair[a][1]);
}

TEST(factors) {
  rng g = rng_start("factors");
  for (int trial = 0; trial < 20; trial++) {
    double pi[10], is[16];
    number L[4][4];
    random_body(&g, 3, 0.4, pi);
    assert_true(psdmp_fit_pseudo_factor(pi, is) && psdmp_fit_pseudo_positive(pi) && lower(pi, L));
    /* conditions of some hundred */
    for (int i = 0; i < 16; i++) expect(is[i], L[i / 4][i % 4], 100 * L[i / 4][i / 4], "L", i / 4, i % 4);
    for (int i = 0; i < 4; i++)
      for (int j = i + 1; j < 4; j++) assert_true(is[4 * i + j] == 0);
    for (int i = 0; i < 10; i++) {
      const double bad[] = {NAN, INFINITY, -INFINITY};
      for (int k = 0; k < 3; k++) {
        double kept = pi[i];
        pi[i] = bad[k];
        assert_false(psdmp_fit_pseudo_factor(pi, is) || psdmp_fit_pseudo_positive(pi));
        pi[i] = kept;
      }
    }
  }
  /* on the boundary and beyond it: no mass, a plate, a rod, more of one moment than the two others have */
  const double edge[][10] = {
      {0, 0, 0, 0, 1, 0, 0, 1, 0, 1},   {1, 0, 0, 0, 1, 0, 0, 1, 0, 2},   {1, 0, 0, 0, 0, 0, 0, 1, 0, 1},
      {1, 0, 0, 0, 3, 0, 0, 1, 0, 1},   {1, 0, 0, 0, 1, 0, 0, 3, 0, 1},   {1, 0, 0, 0, 1, 0, 0, 1, 0, 3},
      {1, 1, 0, 0, 1, 0, 0, 1, 0, 1},   {1, 0, 1, 0, 1, 0, 0, 1, 0, 1},   {1, 0, 0, 1, 1, 0, 0, 1, 0, 1},
      {1, 0, 0, 0, 1, 0.6, 0, 1, 0, 1}, {1, 0, 0, 0, 1, 0, 0.6, 1, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 1, 0.6, 1}};
  const double huge[10] = {1, 0, 0, 0, 0.2e308, 0, 0, 1e308, 0, 0.9e308}; /* one entry alone is too large */
  assert_false(psdmp_fit_pseudo_positive(huge));
  const double ball_of[10] = {1, 0, 0, 0, 1, 0, 0, 1, 0, 1};
  for (size_t k = 0; k < sizeof edge / sizeof *edge; k++) {
    double within[10];
    assert_false(psdmp_fit_pseudo_positive(edge[k]));
    for (int i = 0; i < 10; i++) within[i] = 0.4 * edge[k][i] + 0.6 * ball_of[i];
    assert_true(psdmp_fit_pseudo_positive(within));
  }
}

/* trace, determinants and 4, in long double */
static number plain_divergence(const double *prior, const double *pi) {
  number L[4][4], L0[4][4], inverse[4][4], sum = -4;
  double P[16];
  assert_true(lower(pi, L) && lower(prior, L0));
  inverse4(prior, inverse);
  psdmp_fit_pseudo_inertia(pi, P);
  for (int i = 0; i < 4; i++) sum += 2 * logl(L0[i][i] / L[i][i]);
  for (int i = 0; i < 16; i++) sum += inverse[i / 4][i % 4] * P[i];
  return sum;
}

TEST(divergences) {
  rng g = rng_start("divergences");
  for (int trial = 0; trial < 30; trial++) {
    double pi[30], prior[30];
    number sum = 0;
    for (int k = 0; k < 3; k++) random_body(&g, 3, 0.4, pi + 10 * k), random_body(&g, 2, 0.6, prior + 10 * k);
    assert_true(psdmp_fit_divergence(0, prior, pi) == 0);
    for (int links = 1; links <= 3; links++) {
      sum += plain_divergence(prior + 10 * links - 10, pi + 10 * links - 10);
      expect(psdmp_fit_divergence(links, prior, pi), sum, 100 * sum, "divergence", trial, links);
    }
    for (int k = 0; k < 3; k++) {
      double mass = pi[10 * k];
      pi[10 * k] = -1;
      assert_true(isinf(psdmp_fit_divergence(3, prior, pi)) && psdmp_fit_divergence(3, prior, pi) > 0 &&
                  isfinite(psdmp_fit_divergence(k, prior, pi)));
      pi[10 * k] = mass, mass = prior[10 * k], prior[10 * k] = 0;
      assert_true(isinf(psdmp_fit_divergence(3, prior, pi)));
      prior[10 * k] = mass;
    }
    /* near the prior half the square of the change; everything larger by a millionth: 4 (x - log(1 + x)) */
    double more[10];
    for (int i = 0; i < 10; i++) more[i] = prior[i] * (1 + 1e-6);
    assert_true(fabs(psdmp_fit_divergence(1, prior, more) - 4 * (1e-6 - log1p(1e-6))) < 1e-15); /* 2e-12 */
  }
}

TEST_MAIN(points, factors, divergences)
