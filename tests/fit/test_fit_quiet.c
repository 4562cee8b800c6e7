/* Factors and fits allocate nothing: malloc and its kin are wrapped by the linker and counted. Where they are not
 * wrapped there is nothing to count. */
#pragma weak __real_malloc
#pragma weak __real_calloc
#pragma weak __real_realloc

#include "allocations.h"
#include "test_fit_problem.h"
#include "linalg/linalg.h"

enum { BLOCKS = 2 };

TEST(test_no_allocation) {
  void *volatile probe = malloc(1);
  free(probe);
  if (allocations == 0) skip();
  rng g = rng_start("fit quiet");
  psdm_robot *robot = load_shipped("puma560");
  enum { S = 66, own = 18 };
  double pi[S], prior[S], phi[own], sigma[6] = {1, 1, 1, 1, 1, 1}, theta[BASE_MOST], full[S], found[own], cost[6];
  for (int k = 0; k < 6; k++) random_body(&g, 4, 0.15, pi + 10 * k), ball(3, 0.15, prior + 10 * k);
  for (int d = 60; d < S; d++) pi[d] = 0.2, prior[d] = 0.1;
  for (int i = 0; i < own; i++) phi[i] = rng_uniform(&g, 0, 1);
  problem p;
  robot_problem(&p, &g, robot, 60, 3, pi, phi, 0.1);
  int W = p.rows.base + p.own, w = width_of(&p, 0), take[BASE_MOST + 4];
  for (int k = 0; k < w; k++) take[k] = w - 1 - k;
  const psdmp_fit_rows block[BLOCKS] = {p.rows, p.rows};
  const psdmp_fit_options options = {.sigma = sigma, .prior = prior, .lambda = 1, .drives_nonnegative = true};
  double *scratch = scratch_of(psdmp_fit_scratch(&p.rows)), *second = scratch_of(psdmp_fit_sandwich_scratch(&p.rows));
  double *third = scratch_of(psdmp_linalg_factor_scratch(w, p.each));
  double *V = malloc(sizeof *V * (size_t)(W * W)), *covariance = malloc(sizeof *V * (size_t)(W * W)),
         *out = malloc(sizeof *out * (size_t)(w * w));
  double share[BASE_MOST + own];
  psdmp_fit fit = {.theta = theta, .pi = full, .phi = found, .cost = cost, .covariance = covariance};

  long before = allocations;
  assert_int_equal(psdmp_fit_linear(&p.rows, &options, scratch, &fit), PSDM_OK);
  assert_int_equal(psdmp_fit_sandwich(&p.rows, BLOCKS, block, &options, &fit, false, second, V, share), PSDM_OK);
  assert_int_equal(psdmp_fit_total(&p.rows, &options, scratch, &fit), PSDM_OK);
  assert_int_equal(psdmp_fit_surrogate(&p.rows, &options, scratch, &fit), PSDM_OK);
  assert_int_equal(psdmp_fit_consistent(&p.rows, &options, scratch, &fit), PSDM_OK);
  assert_int_equal(psdmp_fit_sandwich(&p.rows, BLOCKS, block, &options, &fit, true, second, V, share), PSDM_OK);
  psdmp_linalg_factor_take(w, p.R[0], w, take, out, third);
  psdmp_linalg_factor_add(w, p.R[0], p.each, p.X[0], third);
  assert_int_equal(allocations, before);

  free(out);
  free(covariance);
  free(V);
  fenced_free(third);
  fenced_free(second);
  fenced_free(scratch);
  problem_free(&p);
  psdm_robot_free(robot);
}

TEST_MAIN(test_no_allocation)
