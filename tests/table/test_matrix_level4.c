/* MATLAB files of level 4, of either byte order: what is read from them, and what their heads may claim. */
#define _GNU_SOURCE /* mkstemps */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/table.h"
#include "support.h"

static const char *const names[] = {"DH", NULL};

/* ---- files: twenty bytes, a name, columns ---- */

typedef struct level4 {
  unsigned char byte[512];
  size_t used;
} level4;

static void put_word(level4 *f, uint32_t x, bool big) {
  for (int k = 0; k < 4; k++) f->byte[f->used++] = (unsigned char)(x >> 8 * (big ? 3 - k : k));
}

/* a real matrix of rows by columns with the numbers 1, 2, .. by columns; the first is replaced */
static void put_matrix(level4 *f, const char *name, uint32_t rows, uint32_t columns, bool big, bool complex,
                       double first) {
  put_word(f, big ? 1000 : 0, big), put_word(f, rows, big), put_word(f, columns, big), put_word(f, complex, big),
      put_word(f, (uint32_t)strlen(name) + 1, big);
  memcpy(f->byte + f->used, name, strlen(name) + 1);
  f->used += strlen(name) + 1;
  for (uint32_t k = 0; k < rows * columns * (1 + complex) && f->used + 8 <= sizeof f->byte; k++) {
    double x = k ? k + 1 : first;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_word(f, (uint32_t)(big ? bits >> 32 : bits), big);
    put_word(f, (uint32_t)(big ? bits : bits >> 32), big);
  }
}

static psdm_status read_level4(const level4 *f, psdmp_base_arena *arena, psdmp_table_matrix *m, psdm_error *error) {
  char path[] = "/tmp/psdm_matrixXXXXXX.mat";
  int fd = mkstemps(path, 4);
  assert_true(fd >= 0 && write(fd, f->byte, f->used) == (ssize_t)f->used);
  close(fd);
  psdm_status status = psdmp_table_matrix_read(path, names, arena, m, error);
  unlink(path);
  return status;
}

static void test_level4(void **unused) {
  (void)unused;
  psdmp_base_arena arena = {0};
  psdmp_table_matrix m;
  psdm_error error;
  for (int big = 0; big < 2; big++) {
    level4 named = {.used = 0}, alone = {.used = 0};
    put_matrix(&named, "other", 1, 1, big, false, 7);
    put_matrix(&named, "DH", 2, 3, big, false, 1);
    put_matrix(&alone, "whatever", 2, 3, big, false, 1);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(read_level4(k ? &alone : &named, &arena, &m, &error), PSDM_OK);
      assert_true(m.rows == 2 && m.columns == 3);
      for (int i = 0; i < 6; i++) assert_true(m.value[i] == 1 + i / 3 + 2 * (i % 3)); /* by rows */
    }
  }
  static const struct {
    uint32_t rows, columns, claimed; /* claimed: the number of rows claimed in the header */
    bool complex, twice;
    double first;
    psdm_status status;
    const char *words;
  } cases[] = {{2, 2, 0, false, true, 1, PSDM_E_PARSE, "not one numeric matrix alone"},
               {2, 2, 0, true, false, 1, PSDM_E_PARSE, "not one numeric matrix alone"},
               {2, 2, 0, false, false, NAN, PSDM_E_PARSE, "entry (1, 1) is not finite"},
               {0, 2, 0, false, false, 1, PSDM_E_LIMIT, "a matrix of 0 by 2"},
               {2, 0, 0, false, false, 1, PSDM_E_LIMIT, "a matrix of 2 by 0"},
               {2, 2, 100000, false, false, 1, PSDM_E_PARSE, "does not end within it"},
               {2, 2, 5, false, false, 1, PSDM_E_PARSE, "its variable 1 does not end within it"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    level4 f = {.used = 0}, head = {.used = 0};
    put_matrix(&f, "a", cases[k].rows, cases[k].columns, false, cases[k].complex, cases[k].first);
    if (cases[k].twice) put_matrix(&f, "b", 1, 1, false, false, 1);
    put_word(&head, cases[k].claimed, false);
    if (cases[k].claimed) memcpy(f.byte + 4, head.byte, 4);
    psdm_status status = read_level4(&f, &arena, &m, &error);
    if (status != cases[k].status || !strstr(error.text, cases[k].words))
      fail_msg("case %zu: status %d, %s", k, status, error.text);
  }
  /* invalid headers: numbers of an unknown size, parts other than the real and the imaginary one */
  for (int k = 0; k < 2; k++) {
    level4 f = {.used = 0}, head = {.used = 0};
    put_matrix(&f, "a", 2, 2, false, false, 1);
    put_word(&head, k ? 2 : 60, false);
    memcpy(f.byte + (k ? 12 : 0), head.byte, 4);
    assert_int_not_equal(read_level4(&f, &arena, &m, &error), PSDM_OK);
  }
  psdmp_base_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_level4)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
