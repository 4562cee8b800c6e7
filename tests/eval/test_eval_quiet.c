/* The evaluation path allocates nothing: malloc and its kin are wrapped by the linker and counted. */
#include <stdlib.h>

#include "support.h"

static long allocations;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes) {
  allocations++;
  return __real_malloc(bytes);
}
void *__wrap_calloc(size_t count, size_t bytes) {
  allocations++;
  return __real_calloc(count, bytes);
}
void *__wrap_realloc(void *memory, size_t bytes) {
  allocations++;
  return __real_realloc(memory, bytes);
}

static void test_no_allocation(void **unused) {
  (void)unused;
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    size_t bytes = psdm_work_bytes(robot);
    void *memory = malloc(bytes), *second = malloc(psdm_linear_bytes(robot));
    psdm_work *work;
    psdm_linear *linear;
    double in[3 * 8], *out = calloc(8 * 80, sizeof *out);
    for (int i = 0; i < 24; i++) in[i] = 0.1 * i - 1;
    psdm_wrench wrench = {0, {1, 2, 3}, {4, 5, 6}};
    psdm_eval_options options = {.friction = true, .motor = true, .wrench_count = 1, .wrenches = &wrench};
    bool ready = psdm_robot_ready(robot, NULL) == PSDM_OK;

    long before = allocations;
    assert_true(before > 0); /* the counter works: the loader did allocate */
    assert_int_equal(psdm_work_init(robot, memory, bytes, &work), PSDM_OK);
    assert_int_equal(psdm_linear_init(robot, second, psdm_linear_bytes(robot), &linear), PSDM_OK);
    options.linear = linear;
    for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
      psdm_status status = psdm_eval(robot, work, (psdm_function)f, &options, in, out);
      bool needs = f != PSDM_F_POSE && f != PSDM_F_JACOBIAN && f != PSDM_F_REGRESSOR, open = f < PSDM_F_LINEARIZE_INVERSE || !psdm_robot_loops(robot);
      assert_int_equal(status, !ready && needs ? PSDM_E_MISSING : open ? PSDM_OK : PSDM_E_ROBOT);
    }
    if (ready) assert_int_equal(psdm_forward_cholesky(robot, work, in, in + 8, in + 16, out), PSDM_OK);
    assert_int_equal(psdm_jacobian_rate(robot, work, in, in + 8, 0, out), PSDM_OK);
    assert_int_equal(allocations, before);

    free(out);
    free(second);
    free(memory);
    psdm_robot_free(robot);
  }
}

static void test_memory_is_checked(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("kuka_kr6");
  size_t bytes = psdm_work_bytes(robot);
  char *memory = malloc(bytes + 1);
  psdm_work *work;
  assert_int_equal(psdm_work_init(robot, memory, bytes - 1, &work), PSDM_E_ARGUMENT);
  assert_null(work);
  assert_int_equal(psdm_work_init(robot, NULL, bytes, &work), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_work_init(robot, memory + 1, bytes, &work), PSDM_E_ARGUMENT);
  free(memory);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_memory_is_checked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
