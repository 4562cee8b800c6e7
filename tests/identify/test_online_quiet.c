/* Estimating while the robot runs, and filtering, allocate nothing: malloc and its kin are wrapped by the linker and
 * counted. */
#include <stdlib.h>

/* without --wrap at link time nothing can be counted */
#pragma weak __real_malloc
#pragma weak __real_calloc
#pragma weak __real_realloc
#include "allocations.h"
#include "support.h"

#include "psdm/filter.h"
#include "psdm/online.h"

enum { P = 12, ROWS = 200 };

static void test_no_allocation(void **unused) {
  (void)unused;
  if (!__real_malloc) skip();
  double begin[P] = {0}, sd[P], Y[3 * P], tau[3] = {1, 2, 3}, sigma[3] = {1, 0, 2}, theta[P], covariance[P * P],
         x[ROWS], y[ROWS], t[ROWS];
  long before = allocations;
  void *memory = malloc(psdm_online_bytes(P));
  assert_true(allocations > before); /* the counter works */
  psdm_online *o;
  psdm_filter f;
  psdm_decimator d;
  for (int j = 0; j < P; j++) sd[j] = 1;
  for (int i = 0; i < ROWS; i++) x[i] = i % 7, t[i] = i;
  assert_int_equal(psdm_decimator_new(4, NULL, &d), PSDM_OK);
  assert_int_equal(psdm_filter_butterworth(4, 0.1, 1, &f), PSDM_OK);
  double *scratch = malloc(sizeof *scratch * psdm_filter_scratch(&f, ROWS));
  before = allocations;
  assert_int_equal(psdm_online_init(memory, psdm_online_bytes(P), P, begin, sd, 0.99, &o), PSDM_OK);
  for (int step = 0; step < 100; step++) {
    for (int j = 0; j < 3 * P; j++) Y[j] = (step * (j + 3)) % 11 - 5;
    assert_int_equal(psdm_online_add(o, 3, Y, tau, sigma), PSDM_OK);
    assert_int_equal(psdm_online_theta(o, theta, covariance), PSDM_OK);
    assert_true(psdm_online_misfit(o) >= 0);
  }
  assert_int_equal(psdm_filter_butterworth(4, 0.1, 1, &f), PSDM_OK);
  psdm_filter_zero_phase(&f, ROWS, 1, x, scratch);
  psdm_difference(ROWS, 1, 1, x, y);
  psdm_resample(ROWS, 1, t, x, 0.5, 1, ROWS, y);
  psdm_decimate(&d, ROWS, 1, x, 0, ROWS / 4, y);
  assert_int_equal(allocations, before);
  free(scratch), free(memory);
  psdm_decimator_free(&d, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
