/* Tables of numbers: how text is read, where a wrong one is refused, and what a header of a binary file may claim. */
#define _GNU_SOURCE /* mkstemp */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"
#include "support.h"

static const char *const names[] = {"DH", NULL};

static psdm_status read_text(const char *text, size_t length, psdmp_base_arena *arena, psdmp_table_matrix *m,
                             psdm_error *error) {
  char path[] = "/tmp/psdm_matrixXXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0 && write(fd, text, length) == (ssize_t)length);
  close(fd);
  *error = (psdm_error){0};
  psdm_status status = psdmp_table_matrix_read(path, names, arena, m, error);
  unlink(path);
  return status;
}

static void test_tables(void **unused) {
  (void)unused;
  static const char *const same[] = {"1,2,3\n4,5,6\n",
                                     "1 2 3\n4 5 6",
                                     "a;b;c\n1;2;3\r\n4;5;6\r\n",
                                     "% words\n1\t2\t3 # more\n\n  4, 5, 6\n",
                                     "1e0, 2.0 ,+3\n4 5 6 %\n",
                                     " \n\n1,2,3\n#\n4,5,6\n\n"};
  for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
    psdmp_base_arena arena = {0};
    psdmp_table_matrix m;
    psdm_error error;
    psdm_status status = read_text(same[k], strlen(same[k]), &arena, &m, &error);
    if (status) fail_msg("'%s': %s", same[k], error.text);
    assert_true(m.rows == 2 && m.columns == 3);
    for (int i = 0; i < 6; i++) assert_true(m.value[i] == i + 1);
    psdmp_base_arena_free(&arena);
  }
}

static void test_refusals(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    size_t length;
    int line, column;
    const char *expected;
  } cases[] = {
      {"1,2\n3\n", 6, 2, 0, "1 numbers; the rows above have 2"},
      {"1,2\n3,x\n", 8, 2, 3, "a finite decimal number was expected"},
      {"1,2\n3,inf\n", 10, 2, 3, "a finite decimal number was expected"},
      {"a,b\nc,d\n", 8, 2, 1, "a finite decimal number was expected"}, /* one line of names, no more */
      {"1,\0002\n", 5, 0, 0, "a NUL byte; this is not a text file"},
      {"# nothing\n", 10, 0, 0, "found no numbers; a table was expected"},
      {"", 0, 0, 0, "found no numbers; a table was expected"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdmp_base_arena arena = {0};
    psdmp_table_matrix m;
    psdm_error error;
    assert_int_equal(read_text(cases[k].text, cases[k].length, &arena, &m, &error), PSDM_E_PARSE);
    if (!strstr(error.text, cases[k].expected) || error.line != cases[k].line || error.column != cases[k].column)
      fail_msg("case %zu: %d:%d: %s", k, error.line, error.column, error.text);
    psdmp_base_arena_free(&arena);
  }
  psdmp_base_arena arena = {0};
  psdmp_table_matrix m;
  psdm_error error;
  assert_int_equal(psdmp_table_matrix_read("/nowhere/at_all.csv", names, &arena, &m, &error), PSDM_E_IO);
  assert_int_equal(psdmp_table_matrix_read("/nowhere/at_all.mat", names, &arena, &m, &error), PSDM_E_IO);
  psdmp_base_arena_free(&arena);
}

/* each allocation of a reading fails once: the status is PSDM_E_MEMORY, nothing leaks */
static void test_memory(void **unused) {
  (void)unused;
  static const char text[] = "1,2,3\n4,5,6\n";
  psdm_status status = PSDM_E_MEMORY;
  long call = 1;
  for (; status; call++) {
    counting c;
    counting_init(&c, call);
    psdmp_base_arena arena = {.allocator = &c.allocator};
    psdmp_table_matrix m;
    psdm_error error;
    status = read_text(text, sizeof text - 1, &arena, &m, &error);
    assert_true(!status || status == PSDM_E_MEMORY);
    psdmp_base_arena_free(&arena);
    assert_int_equal(c.live, 0);
  }
  assert_true(call > 2);
}

/* deflate packs 1032 to 1 at most: a file that claims more is refused */
static void test_claims(void **unused) {
  (void)unused;
  assert_true(psdmp_table_matrix_fits(1032, 1, 1, 1));
  assert_false(psdmp_table_matrix_fits(1033, 1, 1, 1));
  assert_false(psdmp_table_matrix_fits(1032, 1, 8, 7));
  assert_true(psdmp_table_matrix_fits(1032, 1, 8, 8));
  assert_true(psdmp_table_matrix_fits(0, SIZE_MAX, 8, 0) && psdmp_table_matrix_fits(SIZE_MAX, 0, 8, 0));
  assert_false(psdmp_table_matrix_fits(SIZE_MAX, SIZE_MAX, 8, 1ull << 40)); /* the product does not wrap around */
  assert_false(psdmp_table_matrix_fits(1, 1, 1, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_refusals),
                                     cmocka_unit_test(test_memory), cmocka_unit_test(test_claims)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
