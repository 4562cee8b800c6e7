/* test_csv.c: rows of numbers from sources that return a few bytes at a time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/csv.h"
#include "support.h"

/* text in memory, a few bytes at a time; fails with EIO at the end when broken */
typedef struct source {
  const char *at;
  size_t left, piece;
  bool broken;
} source;

static ptrdiff_t read_piece(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->left < s->piece ? s->left : s->piece;
  if (n > size) n = size;
  if (!n && s->broken) {
    errno = EIO;
    return -1;
  }
  memcpy(buffer, s->at, n);
  s->at += n;
  s->left -= n;
  return (ptrdiff_t)n;
}

/* reads everything; the message is "" if there was no error */
typedef struct reading {
  psdm_status status;
  char sentence[900];
  int columns, rows;
  double sum, last[8]; /* of all values; of the last row */
} reading;

static reading read_text(const char *text, size_t length, size_t piece, bool broken) {
  reading r = {.sentence = ""};
  source s = {text, length, piece, broken};
  psdm_error error;
  psdm_csv *csv;
  r.status = psdm_csv_open_source(read_piece, &s, "log.csv", NULL, &csv, &error);
  assert_int_equal(r.status == PSDM_OK, csv != NULL);
  if (csv) {
    r.columns = psdm_csv_columns(csv);
    assert_true(r.columns <= 8);
    for (bool more = true; more;) {
      r.status = psdm_csv_row(csv, r.last, &more, &error);
      if (r.status) assert_false(more);
      if (more) r.rows++;
      for (int i = 0; more && i < r.columns; i++) r.sum += r.last[i];
    }
  }
  psdm_csv_close(csv);
  if (r.status) psdm_error_format(&error, r.sentence, sizeof r.sentence);
  return r;
}

/* ---- accepted text ---- */

static void headers_and_rows(void **state) {
  (void)state;
  const struct {
    const char *text;
    int columns, rows;
    double sum;
  } cases[] = {
      {"t,q1\n0,1\n1,2\n", 2, 2, 4},
      {"t,q1\n0,1\n1,2", 2, 2, 4},                                          /* no final newline */
      {"t,q1\r\n0,1\r\n1,2\r\n", 2, 2, 4},                                  /* CRLF */
      {"t,q1\r\n0,1\r\n1,2\r", 2, 2, 4},                                    /* CR at the very end */
      {"\xEF\xBB\xBFt,q1\n0,1\n1,2\n", 2, 2, 4},                            /* byte order mark */
      {"\xEF\xBB\xBF# note\n\nt,q1\n0,1\n1,2\n", 2, 2, 4},                  /* byte order mark before a comment */
      {"# note\n#\n\n  \t\nt,q1\n# in\n0,1\n\n \n1,2\n# out\n\n", 2, 2, 4}, /* comments, blank lines */
      {"  t ,\tq1  \n 0 ,\t1\n  1,2  \n", 2, 2, 4},                         /* blanks around fields */
      {"\"t\",\"q1\"\n0,1\n1,2\n", 2, 2, 4},                                /* quoted names */
      {"t,q1\n", 2, 0, 0},                                                  /* no rows */
      {"t", 1, 0, 0},
      {"x\n1e-05\n-.5\n+1.5e3\n", 1, 3, 1499.50001},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t piece = 1; piece <= 7; piece++) {
      reading r = read_text(cases[i].text, strlen(cases[i].text), piece, false);
      if (r.status) fail_msg("case %zu, pieces of %zu: %s", i, piece, r.sentence);
      assert_int_equal(r.columns, cases[i].columns);
      assert_int_equal(r.rows, cases[i].rows);
      if (!(fabs(r.sum - cases[i].sum) < 1e-12)) fail_msg("case %zu, pieces of %zu: sum %.17g", i, piece, r.sum);
    }
}

static void names_and_facts(void **state) {
  (void)state;
  const char *text = "# one\n\n\"t\", q1 ,tau 1\n1,2,3\n";
  source s = {text, strlen(text), 3, false};
  psdm_csv *csv;
  assert_int_equal(psdm_csv_open_source(read_piece, &s, "log.csv", NULL, &csv, NULL), PSDM_OK);
  assert_int_equal(psdm_csv_columns(csv), 3);
  assert_string_equal(psdm_csv_name(csv, 0), "t");
  assert_string_equal(psdm_csv_name(csv, 1), "q1");
  assert_string_equal(psdm_csv_name(csv, 2), "tau 1");
  assert_null(psdm_csv_name(csv, 3));
  assert_null(psdm_csv_name(csv, -1));
  assert_int_equal(psdm_csv_find(csv, "q1"), 1);
  assert_int_equal(psdm_csv_find(csv, "Q1"), -1);
  assert_string_equal(psdm_csv_file(csv), "log.csv");
  assert_int_equal(psdm_csv_header_line(csv), 3);
  double values[3];
  bool more;
  assert_int_equal(psdm_csv_row(csv, values, &more, NULL), PSDM_OK);
  assert_true(more && values[0] == 1 && values[1] == 2 && values[2] == 3);
  for (int i = 0; i < 3; i++) { /* the end stays the end */
    assert_int_equal(psdm_csv_row(csv, values, &more, NULL), PSDM_OK);
    assert_false(more);
  }
  assert_int_equal(psdm_csv_bytes(csv), strlen(text));
  psdm_csv_close(csv);
  psdm_csv_close(NULL);
}

/* ---- refusals ---- */

static void refusals_say_where(void **state) {
  (void)state;
#define TEXT(literal) literal, sizeof literal - 1
  const struct {
    const char *text;
    size_t length;
    const char *sentence;
  } cases[] = {
      {TEXT(""), "log.csv: the file is empty; a header row of names was expected"},
      {TEXT("\n# only\n\n"), "log.csv: the file is empty; a header row of names was expected"},
      {TEXT("t,q1\n0,1\n2\n"), "log.csv:3:2: 1 values; the header on line 1 names 2 columns"},
      {TEXT("# x\nt,q1,q2\n0,1\n"), "log.csv:3:4: 2 values; the header on line 2 names 3 columns"},
      {TEXT("t,q1\n0,1,2\n"), "log.csv:2:5: more values than the 2 columns that the header on line 1 names"},
      {TEXT("t,q1\n0,1,\n"), "log.csv:2:5: more values than the 2 columns that the header on line 1 names"},
      {TEXT("t,q1\n0,\n"), "log.csv:2:3: column 'q1' is empty; a number was expected"},
      {TEXT("t,q1\n,1\n"), "log.csv:2:1: column 't' is empty; a number was expected"},
      {TEXT("t,q1,q2\n0,  ,1\n"), "log.csv:2:5: column 'q1' is empty; a number was expected"},
      {TEXT("t,q1\n0,nan\n"), "log.csv:2:3: column 'q1' has 'nan'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,1\n0, -inf\n"), "log.csv:3:4: column 'q1' has '-inf'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,1e400\n"), "log.csv:2:3: column 'q1' has '1e400'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,0x10\n"), "log.csv:2:3: column 'q1' has '0x10'; a finite decimal number was expected"},
      {TEXT("t,q1\n0;1\n"), "log.csv:2:1: column 't' has '0;1'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,\"1\"\n"), "log.csv:2:3: column 'q1' has '\"1\"'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,\x1B[31m1\n"), "log.csv:2:3: column 'q1' has '\\x1b[31m1'; a finite decimal number was expected"},
      {TEXT("t,\x1Bq\xFF\n0,x\n"), "log.csv:2:3: column '\\x1bq\\xff' has 'x'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,1\r2\n"), "log.csv:2:3: column 'q1' has '1\\x0d2'; a finite decimal number was expected"},
      {TEXT("t,q1\n0,1\0\n"), "log.csv:2:4: a NUL byte; this is not a text file"},
      {TEXT("t\0,q1\n0,1\n"), "log.csv:1:2: a NUL byte; this is not a text file"},
      {TEXT("\0"), "log.csv:1:1: a NUL byte; this is not a text file"},
      {TEXT("0,1\n2,3\n"), "log.csv:1:1: a header row of names was expected, found a number"},
      {TEXT("t, 1.5\n2,3\n"), "log.csv:1:4: a header row of names was expected, found a number"},
      {TEXT("\xEF\xBB\xBF"
            "t,1.5\n"),
       "log.csv:1:3: a header row of names was expected, found a number"},
      {TEXT("t,,q1\n"), "log.csv:1:3: column 2 of the header has no name"},
      {TEXT("t,q1,\n"), "log.csv:1:6: column 3 of the header has no name"},
      {TEXT("t,\"\"\n"), "log.csv:1:3: column 2 of the header has no name"},
      {TEXT("t,q1,q2,q1\n"), "log.csv:1:9: columns 2 and 4 are both named 'q1'"},
      {TEXT("b,c,a,\"b\",c,a,b\n"), "log.csv:1:7: columns 1 and 4 are both named 'b'"},
      {TEXT("\x07,x,\x07\n"), "log.csv:1:5: columns 1 and 3 are both named '\\x07'"},
  };
#undef TEXT
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t piece = 1; piece <= 7; piece++) {
      reading r = read_text(cases[i].text, cases[i].length, piece, false);
      assert_int_equal(r.status, PSDM_E_PARSE);
      assert_string_equal(r.sentence, cases[i].sentence);
    }
}

static void a_failing_source_is_reported(void **state) {
  (void)state;
  char expected[200];
  snprintf(expected, sizeof expected, "log.csv: cannot be read: %s", strerror(EIO));
  const char *const texts[] = {"", "t,q", "t,q1\n0,1\n", "t,q1\n0,1\n2"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    reading r = read_text(texts[i], strlen(texts[i]), 2, true);
    assert_int_equal(r.status, PSDM_E_IO);
    assert_string_equal(r.sentence, expected);
  }
}

static void missing_files_are_refused(void **state) {
  (void)state;
  psdm_csv *csv = (psdm_csv *)&csv;
  psdm_error error;
  char sentence[900], expected[200];
  assert_int_equal(psdm_csv_open("no/such/log.csv", NULL, &csv, &error), PSDM_E_IO);
  assert_null(csv);
  snprintf(expected, sizeof expected, "no/such/log.csv: cannot be opened: %s", strerror(ENOENT));
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
  assert_int_equal(psdm_csv_open(".", NULL, &csv, &error), PSDM_E_IO); /* a folder opens, but cannot be read */
  assert_null(csv);
}

/* ---- sizes ---- */

static void the_longest_line(void **state) {
  (void)state;
  /* "t\n" and a number after blanks, so that the line with its newline has exactly, or one more than, the limit */
  char *text = malloc(PSDM_CSV_LINE + 8);
  assert_non_null(text);
  for (int over = 0; over <= 1; over++) {
    size_t length = 2 + PSDM_CSV_LINE + (size_t)over;
    memset(text, ' ', length);
    memcpy(text, "t\n", 2);
    text[length - 2] = '7';
    text[length - 1] = '\n';
    reading r = read_text(text, length, over ? 65537 : 1 << 22, false);
    if (over) {
      assert_int_equal(r.status, PSDM_E_LIMIT);
      assert_string_equal(r.sentence, "log.csv:2:1: a line longer than 1048576 bytes");
      assert_int_equal(r.rows, 0);
    } else {
      assert_int_equal(r.status, PSDM_OK);
      assert_int_equal(r.rows, 1);
      assert_true(r.last[0] == 7);
    }
  }
  free(text);
}

/* a header c0,c1,... of this many columns; the last is named like the given one unless that is negative */
static char *wide_header(int columns, int twin) {
  char *text = malloc((size_t)columns * 8 + 2), *at = text;
  assert_non_null(text);
  for (int i = 0; i < columns; i++) at += sprintf(at, "%sc%d", i ? "," : "", i == columns - 1 && twin >= 0 ? twin : i);
  strcpy(at, "\n");
  return text;
}

static void the_widest_header(void **state) {
  (void)state;
  psdm_csv *csv;
  psdm_error error;
  char *text = wide_header(PSDM_CSV_COLUMNS, -1);
  source s = {text, strlen(text), 4096, false};
  assert_int_equal(psdm_csv_open_source(read_piece, &s, "wide.csv", NULL, &csv, &error), PSDM_OK);
  assert_int_equal(psdm_csv_columns(csv), PSDM_CSV_COLUMNS);
  assert_string_equal(psdm_csv_name(csv, PSDM_CSV_COLUMNS - 1), "c65535");
  psdm_csv_close(csv);
  free(text);

  text = wide_header(PSDM_CSV_COLUMNS, 12345);
  s = (source){text, strlen(text), 4096, false};
  assert_int_equal(psdm_csv_open_source(read_piece, &s, "wide.csv", NULL, &csv, &error), PSDM_E_PARSE);
  assert_null(csv);
  assert_string_equal(error.text, "columns 12346 and 65536 are both named 'c12345'");
  free(text);

  text = wide_header(PSDM_CSV_COLUMNS + 1, -1);
  s = (source){text, strlen(text), 4096, false};
  assert_int_equal(psdm_csv_open_source(read_piece, &s, "wide.csv", NULL, &csv, &error), PSDM_E_LIMIT);
  assert_string_equal(error.text, "65537 columns; at most 65536 are read");
  free(text);
}

/* a long source: this many rows "0.001,2\n", made on the fly */
typedef struct endless {
  long rows;
  size_t at;
} endless;

static ptrdiff_t read_endless(void *user, char *buffer, size_t size) {
  static const char row[] = "0.001,2\n";
  endless *e = user;
  size_t n = 0;
  while (e->rows && n < size) {
    buffer[n++] = row[e->at++];
    if (!row[e->at]) e->at = 0, e->rows--;
  }
  return (ptrdiff_t)n;
}

static ptrdiff_t read_header_then_endless(void *user, char *buffer, size_t size) {
  endless *e = user;
  if (e->rows >= 0) return read_endless(user, buffer, size);
  e->rows = -e->rows;
  memcpy(buffer, "t,q1\n", 5);
  return 5;
}

static void memory_does_not_grow_with_rows(void **state) {
  (void)state;
  long calls[2];
  for (int k = 0; k < 2; k++) {
    long rows = k ? 400000 : 4;
    endless e = {-rows, 0};
    counting c;
    counting_init(&c, 0);
    psdm_csv *csv;
    assert_int_equal(psdm_csv_open_source(read_header_then_endless, &e, "log.csv", &c.allocator, &csv, NULL), PSDM_OK);
    long opened = c.calls, seen = 0;
    double values[2];
    for (bool more = true; more; seen += more) assert_int_equal(psdm_csv_row(csv, values, &more, NULL), PSDM_OK);
    assert_int_equal(seen, rows);
    assert_int_equal(c.calls, opened); /* a row never allocates */
    assert_int_equal(psdm_csv_bytes(csv), 5 + 8 * rows);
    calls[k] = c.calls;
    psdm_csv_close(csv);
    assert_int_equal(c.live, 0);
  }
  assert_int_equal(calls[0], calls[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_and_rows),          cmocka_unit_test(names_and_facts),
      cmocka_unit_test(refusals_say_where),        cmocka_unit_test(a_failing_source_is_reported),
      cmocka_unit_test(missing_files_are_refused), cmocka_unit_test(the_longest_line),
      cmocka_unit_test(the_widest_header),         cmocka_unit_test(memory_does_not_grow_with_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
