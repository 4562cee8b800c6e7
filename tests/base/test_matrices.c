/* Named matrices in a MATLAB file: read back as written, whole or not at all. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/matrix.h"
#include "support.h"

static void test_round_trip(void **unused) {
  (void)unused;
  const double A[6] = {1, 2, 3, 4, 5, 6.5}, pages[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const psdm_matrix list[2] = {{"A", 2, 3, 1, A}, {"B", 2, 2, 3, pages}};
  const char *const names[] = {"A", NULL};
  psdmp_arena arena = {.allocator = NULL};
  psdmp_matrix read;
  char path[64];
  snprintf(path, sizeof path, "test_matrices-%ld.mat", (long)getpid());
  assert_int_equal(psdm_matrices_save(2, list, path, NULL, NULL), PSDM_OK);
  assert_int_equal(psdmp_matrix_read(path, names, &arena, &read, NULL), PSDM_OK);
  assert_int_equal(read.rows, 2);
  assert_int_equal(read.columns, 3);
  assert_memory_equal(read.value, A, sizeof A);
  psdmp_arena_free(&arena);
  assert_int_equal(unlink(path), 0);
}

static void test_refusals(void **unused) {
  (void)unused;
  const double one = 1;
  psdm_matrix m = {"A", 1, 1, 1, &one};
  psdm_error error;
  counting c;
  assert_int_equal(psdm_matrices_save(1, &m, "no-such-folder/a.mat", NULL, &error), PSDM_E_IO);
  assert_string_equal(error.file, "no-such-folder/a.mat");
  counting_init(&c, 1);
  assert_int_equal(psdm_matrices_save(1, &m, "test_matrices.mat", &c.allocator, &error), PSDM_E_MEMORY);
  assert_int_equal(access("test_matrices.mat", F_OK), -1);
  m.pages = 1L << 30;
  assert_int_equal(psdm_matrices_save(1, &m, "test_matrices.mat", NULL, &error), PSDM_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
