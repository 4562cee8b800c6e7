/* Momentum and the observer allocate nothing: malloc and its kin are wrapped by the linker and counted. */
#include <stdlib.h>

/* without --wrap at link time nothing can be counted */
#pragma weak __real_malloc
#pragma weak __real_calloc
#pragma weak __real_realloc
#include "allocations.h"
#include "support.h"

enum { N = 6 };

static void test_no_allocation(void **unused) {
  (void)unused;
  if (!__real_malloc) skip();
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  psdm_observer *o;
  size_t bytes = psdm_observer_bytes(robot);
  void *memory = malloc(bytes);
  long before = allocations;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_true(allocations > before); /* the counter works */
  const double sigma[N] = {1, 1, 1, 1, 1, 1}, threshold[N] = {1, 2, 3, 4, 5, 6};
  double q[N] = {0.1, -1, 1, 0.2, 0.3, 0.4}, qd[N] = {0}, tau[N] = {0}, r[N], sd[N], p[N];
  before = allocations;
  for (int mode = 0; mode < 2; mode++) {
    psdm_observer_options options = {.rate = 1000,
                                     .friction = PSDM_FRICTION_POWER,
                                     .sigma = sigma,
                                     .velocity_noise = sigma,
                                     .doubt = sigma,
                                     .differences = mode};
    assert_int_equal(psdm_observer_init(robot, &options, memory, bytes, &o), PSDM_OK);
    for (int step = 0; step < 100; step++) {
      for (int j = 0; j < N; j++) q[j] += 0.001 * j, qd[j] = j, tau[j] = (step * (j + 3)) % 11 - 5;
      assert_int_equal(psdm_observer_step(o, q, qd, tau, r), PSDM_OK);
      psdm_observer_thresholds(o, sd), psdm_observer_sd(o, sd);
      psdm_observer_collision(o, NULL), psdm_observer_statistic(o);
    }
    psdm_observer_set_thresholds(o, threshold);
    psdm_observer_restart(o);
  }
  assert_int_equal(psdm_momentum(robot, work, q, qd, p, r), PSDM_OK);
  psdm_observer_doubt(1, 1, q, sigma, 1, sd);
  assert_int_equal(allocations, before);
  psdm_work_free(work, NULL);
  free(memory);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_allocation)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
