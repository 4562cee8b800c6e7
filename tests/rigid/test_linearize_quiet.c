/* Linearization allocates nothing: malloc and its kin are wrapped by the linker and counted. */
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "support.h"

enum { MOST = 8, OUT = 8 * 128 };

/* every function once; all answer with the same status */
static void call_all(const psdm_robot *robot, psdm_linear *l, psdm_status expected, double *const *out,
                     double *scratch) {
  double q[MOST], qd[MOST], x[MOST];
  for (int i = 0; i < MOST; i++) q[i] = 0.3 * i - 1, qd[i] = 0.5 - 0.1 * i, x[i] = 1;
  const psdm_direction d = {q, qd, x};
  const psdm_small_motion motion = {.joint = 0, .place = PSDM_AT_JOINT, .turn = {0, 0, 1}};
  const psdm_sensitivity p = {true, 1, &motion};
  const psdm_sample samples[3] = {{q, qd, x}, {q, qd, x}, {q, qd, x}};
  assert_int_equal(psdm_linear_inverse_along(robot, l, q, qd, x, q, qd, x, out[0]), expected);
  assert_int_equal(psdm_linearize_inverse(robot, l, q, qd, x, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_linear_forward_along(robot, l, q, qd, x, q, qd, x, out[0]), expected);
  assert_int_equal(psdm_linear_forward_along_dense(robot, l, q, qd, x, q, qd, x, out[0]), expected);
  assert_int_equal(psdm_linearize_forward(robot, l, q, qd, x, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_linearize_forward_at(robot, l, q, qd, x, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_linearize_forward_dense(robot, l, q, qd, x, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_innovations(robot, l, q, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_linear_inverse_second(robot, l, q, qd, x, &d, &d, out[0]), expected);
  assert_int_equal(psdm_linearize_inverse_second(robot, l, q, qd, x, &d, out[0], out[1], out[2]), expected);
  assert_int_equal(psdm_sensitivity_inverse(robot, l, &p, q, qd, x, out[0]), expected);
  assert_int_equal(psdm_sensitivity_forward(robot, l, &p, q, qd, x, out[0]), expected);
  memset(out[0], 0, sizeof **out * OUT * 2);
  assert_int_equal(psdm_sensitivity_step(robot, l, &p, samples, 1e-3, scratch, out[0]), expected);
}

TEST(test_no_allocation) {
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    size_t bytes = psdm_linear_bytes(robot);
    void *memory = malloc(bytes);
    double *out[3] = {calloc(2 * OUT, sizeof(double)), calloc(OUT, sizeof(double)), calloc(OUT, sizeof(double))};
    const psdm_sensitivity p = {true, 1, NULL};
    double *scratch = calloc(psdm_sensitivity_scratch(robot, &p), sizeof(double));
    psdm_linear *l;
    psdm_status expected = psdm_robot_ready(robot, NULL);
    if (!expected && psdm_robot_loops(robot)) expected = PSDM_E_ROBOT;

    long before = allocations;
    assert_true(before > 0); /* the counter works: the loader did allocate */
    assert_int_equal(psdm_linear_init(robot, memory, bytes, &l), PSDM_OK);
    call_all(robot, l, expected, out, scratch);
    assert_int_equal(allocations, before);

    for (int i = 0; i < 3; i++) free(out[i]);
    free(scratch);
    free(memory);
    psdm_robot_free(robot);
  }
}

TEST(test_memory_is_checked) {
  psdm_robot *robot = load_shipped("kuka_kr6");
  size_t bytes = psdm_linear_bytes(robot);
  char *memory = malloc(bytes + 1);
  psdm_linear *l;
  assert_int_equal(psdm_linear_init(robot, memory, bytes - 1, &l), PSDM_E_ARGUMENT);
  assert_null(l);
  assert_int_equal(psdm_linear_init(robot, NULL, bytes, &l), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_linear_init(robot, memory + 1, bytes, &l), PSDM_E_ARGUMENT);
  counting c;
  counting_init(&c, 1);
  assert_int_equal(psdm_linear_new(robot, &c.allocator, &l), PSDM_E_MEMORY);
  assert_null(l);
  counting_init(&c, 0);
  assert_int_equal(psdm_linear_new(robot, &c.allocator, &l), PSDM_OK);
  psdm_linear_free(l, &c.allocator);
  assert_int_equal(c.live, 0);
  free(memory);
  psdm_robot_free(robot);
}

TEST_MAIN(test_no_allocation, test_memory_is_checked)
