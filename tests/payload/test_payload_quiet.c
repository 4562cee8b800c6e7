/* test_payload_quiet.c: the run-time update: theta + L pi allocates nothing, may work in place, and is the matrix
 * product. */
#include <math.h>
#include <stdlib.h>

#include "allocations.h"
#include "support.h"

TEST(updates_quietly) {
  enum { BASE = 40 };
  rng g = rng_start("updates_quietly");
  double L[10 * BASE], pi[10], theta[BASE], loaded[BASE], by_hand[BASE];
  void *volatile probe = malloc(1);
  free(probe);
  assert_true(allocations > 0); /* the counter works */
  for (int round = 0; round < 100; round++) {
    for (int k = 0; k < 10 * BASE; k++) L[k] = rng_uniform(&g, -1, 1);
    for (int k = 0; k < 10; k++) pi[k] = rng_uniform(&g, -1, 1);
    for (int j = 0; j < BASE; j++) {
      theta[j] = by_hand[j] = rng_uniform(&g, -5, 5);
      for (int k = 0; k < 10; k++) by_hand[j] += L[10 * j + k] * pi[k];
    }
    long before = allocations;
    psdm_payload_update(BASE, L, pi, theta, loaded);
    psdm_payload_update(BASE, L, pi, theta, theta);
    assert_int_equal(allocations, before);
    /* eleven terms of size ten */
    assert_true(max_difference(loaded, by_hand, BASE) <= 1e-14 && max_difference(theta, by_hand, BASE) <= 1e-14);
  }
}

TEST_MAIN(updates_quietly)
