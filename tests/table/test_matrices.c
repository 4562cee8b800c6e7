/* Named matrices in a MATLAB file: read back as written, completely or not at all. */
#define _POSIX_C_SOURCE 200809L /* symlink */
#include <matio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"
#include "support.h"

static void test_round_trip(void **unused) {
  (void)unused;
  const double A[6] = {1, 2, 3, 4, 5, 6.5}, pages[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const psdm_matrix list[3] = {
      {"A", 2, 3, 1, A, NULL}, {"B", 2, 2, 3, pages, NULL}, {.name = "kinematics", .text = "0123456789abcdef"}};
  const char *const names[] = {"A", NULL};
  psdmp_base_arena arena = {.allocator = NULL};
  psdmp_table_matrix read;
  char path[64];
  snprintf(path, sizeof path, "test_matrices-%ld.mat", (long)getpid());
  assert_int_equal(psdm_matrices_save(3, list, path, NULL, NULL), PSDM_OK);
  assert_int_equal(psdmp_table_matrix_read(path, names, &arena, &read, NULL), PSDM_OK);
  assert_int_equal(read.rows, 2);
  assert_int_equal(read.columns, 3);
  assert_memory_equal(read.value, A, sizeof A);
  psdmp_base_arena_free(&arena);
  mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
  matvar_t *text = Mat_VarRead(file, "kinematics");
  assert_non_null(text);
  assert_int_equal(text->class_type, MAT_C_CHAR);
  assert_int_equal(text->dims[1], 16);
  Mat_VarFree(text);
  Mat_Close(file);
  assert_int_equal(unlink(path), 0);
}

/* MATLAB's own reader's twin: ranks, classes, names of every length, characters */
static void test_matio_reads_it(void **unused) {
  (void)unused;
  char path[64];
  double many[600];
  const char text[] = "acbd"; /* by columns: "ab", "cd" */
  for (int i = 0; i < 600; i++) many[i] = i % 7 ? 0 : 1.0 / (i + 1);
  const psdmp_table_mat_array list[] = {
      {.name = "x", .rank = 2, .dims = {1, 1}, .number = many},
      {.name = "name", .rank = 2, .dims = {2, 2}, .character = text},
      {.name = "a_name_of_more_letters", .rank = 3, .dims = {10, 20, 3}, .number = many},
      {.name = "empty", .rank = 2, .dims = {0, 3}, .number = many}};
  snprintf(path, sizeof path, "test_matio-%ld.mat", (long)getpid());
  psdm_output *out;
  assert_int_equal(psdm_output_open(path, NULL, &out, NULL), PSDM_OK);
  psdmp_table_mat_begin(out);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    assert_int_equal(psdmp_table_mat_put(out, &list[k], NULL), PSDM_OK);
  assert_int_equal(psdm_output_commit(&out, NULL), PSDM_OK);
  mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
  assert_non_null(file);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    matvar_t *var = Mat_VarReadNext(file);
    size_t count = 1;
    assert_non_null(var);
    assert_string_equal(var->name, list[k].name);
    assert_int_equal(var->rank, list[k].rank);
    for (int i = 0; i < var->rank; i++) assert_int_equal(var->dims[i], list[k].dims[i]), count *= var->dims[i];
    assert_int_equal(var->class_type, list[k].number ? MAT_C_DOUBLE : MAT_C_CHAR);
    if (list[k].number && count) assert_memory_equal(var->data, many, count * sizeof *many);
    for (size_t i = 0; !list[k].number && i < count; i++)
      assert_int_equal(var->data_type == MAT_T_UINT16 ? ((uint16_t *)var->data)[i] : ((unsigned char *)var->data)[i],
                       text[i]);
    Mat_VarFree(var);
  }
  assert_null(Mat_VarReadNext(file));
  Mat_Close(file);
  assert_int_equal(unlink(path), 0);
}

/* the same bytes whenever it is written, whatever has the temporary file's name, and a full disk is reported */
static void test_the_file(void **unused) {
  (void)unused;
  const double A[4] = {1, 2, 3, 4};
  const psdm_matrix m = {"A", 2, 2, 1, A, NULL};
  static const char begins[] = "MATLAB 5.0 MAT-file, written by psdm    ";
  char path[64], part[100], head[sizeof begins] = "", victim[64];
  psdm_error error;
  snprintf(path, sizeof path, "test_matrices-%ld.mat", (long)getpid());
  snprintf(victim, sizeof victim, "test_victim-%ld", (long)getpid());
  FILE *file = fopen(victim, "w");
  fputs("mine", file);
  fclose(file);
  for (int i = 0; i < 2; i++) { /* with and without the number that outputs have at the end */
    snprintf(part, sizeof part, i ? "%s.part-%ld" : "%s.part-%ld-0", path, (long)getpid());
    assert_int_equal(symlink(victim, part), 0);
    assert_int_equal(psdm_matrices_save(1, &m, path, NULL, NULL), PSDM_OK);
    assert_int_equal(unlink(part), 0);
  }
  file = fopen(victim, "r");
  assert_int_equal(fread(head, 1, sizeof head, file), 4);
  assert_memory_equal(head, "mine", 4);
  fclose(file);
  file = fopen(path, "r");
  assert_int_equal(fread(head, 1, sizeof head - 1, file), sizeof head - 1);
  assert_memory_equal(head, begins, sizeof begins - 1);
  fclose(file);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(symlink("/dev/full", path), 0);
  assert_int_equal(psdm_matrices_save(1, &m, path, NULL, &error), PSDM_E_IO);
  assert_non_null(strstr(error.text, "No space left"));
  assert_int_equal(unlink(path) || unlink(victim), 0);
}

static void test_refusals(void **unused) {
  (void)unused;
  const double one = 1;
  psdm_matrix m = {"A", 1, 1, 1, &one, NULL};
  psdm_error error;
  counting c;
  assert_int_equal(psdm_matrices_save(1, &m, "no-such-folder/a.mat", NULL, &error), PSDM_E_IO);
  assert_string_equal(error.file, "no-such-folder/a.mat");
  long calls = 0;
  psdm_status status;
  do {
    counting_init(&c, ++calls);
    status = psdm_matrices_save(1, &m, "test_matrices.mat", &c.allocator, &error);
    assert_int_equal(c.live, 0);
    if (status) assert_int_equal(access("test_matrices.mat", F_OK), -1);
  } while (status == PSDM_E_MEMORY);
  assert_int_equal(status, PSDM_OK);
  assert_true(calls > 3);
  assert_int_equal(unlink("test_matrices.mat"), 0);
  m.pages = 1L << 30;
  assert_int_equal(psdm_matrices_save(1, &m, "test_matrices.mat", NULL, &error), PSDM_E_LIMIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip), cmocka_unit_test(test_matio_reads_it),
                                     cmocka_unit_test(test_the_file), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
