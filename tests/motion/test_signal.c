/* test_signal.c: tables over time against a search from the beginning, from files, and refusals. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum { ROWS = 30, COLUMNS = 4 };

/* one column at a time by its definition, row after row */
static double plain(long rows, int columns, const double *t, const double *values, bool held, int column, double at) {
  if (at < t[0]) return held ? 0 : values[column];
  for (long k = 0; k + 1 < rows; k++) {
    double now = values[k * columns + column], next = values[(k + 1) * columns + column];
    if (at >= t[k + 1]) continue;
    return held ? now : now + (next - now) * ((at - t[k]) / (t[k + 1] - t[k]));
  }
  return values[(rows - 1) * columns + column];
}

TEST(test_twin) {
  rng g = rng_start("signal");
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    long rows = rng_int(&g, 1, ROWS);
    int columns = rng_int(&g, 1, COLUMNS);
    bool held = rng_int(&g, 0, 1);
    double t[ROWS], values[ROWS * COLUMNS], got[COLUMNS];
    psdm_signal *s;
    psdm_error error;
    t[0] = rng_uniform(&g, -1, 1);
    for (long k = 1; k < rows; k++) t[k] = t[k - 1] + exp(rng_uniform(&g, -5, 1));
    for (long i = 0; i < rows * columns; i++) values[i] = rng_uniform(&g, -1, 1);
    expect_ok(psdm_signal_table(columns, rows, t, values, held, NULL, &s, &error), &error);
    assert_int_equal(psdm_signal_columns(s), columns);
    assert_int_equal(psdm_signal_rows(s), rows);
    assert_int_equal(psdm_signal_held(s), held);
    assert_true(psdm_signal_time(s, rows - 1) == t[rows - 1] && isnan(psdm_signal_time(s, rows)) &&
                isnan(psdm_signal_time(s, -1)));
    for (int sample = 0; sample < 100; sample++) {
      /* rows exactly, their neighbours, and anything else */
      double row = t[rng_int(&g, 0, (int)rows - 1)], at = rng_uniform(&g, t[0] - 1, t[rows - 1] + 1);
      if (sample < 60) at = sample % 3 ? nextafter(row, sample % 3 == 1 ? -INFINITY : INFINITY) : row;
      psdm_signal_at(s, at, got);
      for (int c = 0; c < columns; c++) {
        double expected = plain(rows, columns, t, values, held, c, at), off = fabs(got[c] - expected);
        if (held || at == row) assert_true(got[c] == expected);
        worst = fmax(worst, off);
      }
    }
    psdm_signal_free(s);
  }
  print_message("worst %.2g\n", worst);
  assert_true(worst < 4 * DBL_EPSILON); /* values below one, a few roundings */
}

/* ---- files ---- */

static const char *const wrench[] = {"fx", "fy", "mz", NULL}, *const may_lack[] = {"fy", "mz", NULL};

TEST(test_load) {
  psdm_signal *s;
  psdm_error error;
  double got[3];
  file_write("s.csv", "fx,t,mz\n1,0,3\n2,1,5\n");
  expect_ok(psdm_signal_load("s.csv", wrench, may_lack, false, false, NULL, &s, &error), &error);
  psdm_signal_at(s, 0.5, got);
  assert_true(got[0] == 1.5 && got[1] == 0 && got[2] == 4);
  psdm_signal_free(s);
  file_write("s.csv", "mz,extra,fx,fy,t\n1,9,2,3,4\n");
  expect_ok(psdm_signal_load("s.csv", wrench, NULL, true, true, NULL, &s, &error), &error);
  psdm_signal_at(s, 4, got);
  assert_true(got[0] == 2 && got[1] == 3 && got[2] == 1);
  psdm_signal_at(s, 3.9, got);
  assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0);
  psdm_signal_free(s);
}

static void expect_message(psdm_status status, psdm_status wanted, psdm_signal *const *s, const psdm_error *error,
                           const char *sentence) {
  char got[900];
  assert_int_equal(status, wanted);
  assert_null(*s);
  assert_string_equal(psdm_error_format(error, got, sizeof got), sentence);
}

TEST(test_errors) {
  static const struct {
    const char *text, *sentence;
  } cases[] = {
      {"fx\n1\n", "s.csv:1: column 't' is missing"},
      {"\n\nt,fy,mz\n1,1,1\n", "s.csv:3: column 'fx' is missing"},
      {"t,fx,q\n1,1,1\n", "s.csv:1: column 'q' is not one of t, fx, fy, mz; `ignore_extra` skips it"},
      {"t,fx\n1,1\n2,1\n1.5,1\n", "s.csv:4: t is 1.5 after 2 in the previous row; times must increase"},
      {"t,fx\n", "s.csv:1: no row after the header; at least one was expected"},
      {"t,fx\n1\n", "s.csv:2:2: 1 values; the header on line 1 names 2 columns"},
  };
  psdm_signal *s;
  psdm_error e;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    file_write("s.csv", cases[k].text);
    expect_message(psdm_signal_load("s.csv", wrench, may_lack, false, false, NULL, &s, &e), PSDM_E_PARSE, &s, &e,
                   cases[k].sentence);
  }
  const double t[2] = {0, 0}, v[2] = {1, INFINITY}, up[2] = {0, 1};
  const char *const none[] = {NULL};
  expect_message(psdm_signal_load("s.csv", none, NULL, false, false, NULL, &s, &e), PSDM_E_ARGUMENT, &s, &e,
                 "s.csv: a signal has at least one column");
  expect_message(psdm_signal_table(0, 1, t, v, false, NULL, &s, &e), PSDM_E_ARGUMENT, &s, &e,
                 "a table of 1 rows of 0 columns; at least one of each was expected");
  expect_message(psdm_signal_table(1, 2, t, up, false, NULL, &s, &e), PSDM_E_ARGUMENT, &s, &e,
                 "t of row 2 is not above that of the previous row");
  expect_message(psdm_signal_table(1, 2, up, v, false, NULL, &s, &e), PSDM_E_ARGUMENT, &s, &e,
                 "row 2 has a number that is not finite");
  psdm_signal_free(NULL);
}

/* a long list of names is cut where the message would become too long */
TEST(test_many_names) {
  static char text[200][24];
  const char *names[201] = {NULL};
  psdm_signal *s;
  psdm_error error;
  for (int k = 0; k < 200; k++) snprintf(text[k], sizeof text[k], "column%d", k), names[k] = text[k];
  file_write("s.csv", "t,other\n1,1\n");
  assert_int_equal(psdm_signal_load("s.csv", names, names, false, false, NULL, &s, &error), PSDM_E_PARSE);
  assert_non_null(strstr(error.text, "column 'other' is not one of t, column0, column1, "));
  assert_non_null(strstr(error.text, ", ...; `ignore_extra`"));
}

/* every allocation fails once: an error, and nothing leaks */
TEST(test_allocation_failure) {
  const double t[2] = {0, 1}, v[2] = {3, 4};
  FILE *file = fopen("s.csv", "w");
  assert_non_null(file);
  fputs("t,fx\n", file);
  /* more than the reader's first buffer, and than an arena's chunk */
  for (int k = 0; k < 3000; k++) fprintf(file, "%d,%d\n", k, k % 5);
  assert_int_equal(fclose(file), 0);
  for (int load = 0; load < 2; load++) {
    long failures = 0;
    for (psdm_status status = PSDM_E_MEMORY; status; failures++) {
      counting c;
      psdm_signal *s;
      psdm_error error;
      counting_init(&c, failures + 1);
      status = load ? psdm_signal_load("s.csv", wrench, may_lack, false, false, &c.allocator, &s, &error)
                    : psdm_signal_table(1, 2, t, v, true, &c.allocator, &s, &error);
      if (status) {
        assert_int_equal(status, PSDM_E_MEMORY);
        assert_string_equal(error.text, "out of memory");
        assert_null(s);
      }
      psdm_signal_free(s);
      assert_int_equal(c.live, 0);
      assert_true(failures < 100);
    }
    assert_true(failures > 1);
  }
}

TEST_MAIN_IN(folder_enter, folder_remove, test_twin, test_load, test_errors, test_many_names, test_allocation_failure)
