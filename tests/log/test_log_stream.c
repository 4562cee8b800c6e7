/* test_log_stream.c: long logs in constant memory, row by row the same as a plain reader, with scattered faults; and
 * again after a rewind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocations.h"
#include "log/log_priv.h"
#include "support.h"

static const char ROBOT[] = "convention: dh\njoints: [{a: 1}, {a: 1}]\n";
enum { N = 2, COLUMNS = 1 + 3 * N };

/* an endless log: rows are made from their number alone */
typedef struct endless {
  long rows, row;
  char line[256];
  size_t at, length;
} endless;

/* a cheap hash in place of a generator: row k is the same at every request */
static double noise(long row, int column) {
  uint64_t z = (uint64_t)row * 16 + (uint64_t)column + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (double)((z ^ (z >> 31)) >> 40) / (1 << 24) - 0.5;
}

static void make_row(long row, double values[COLUMNS]) {
  double t = 0.001 * (double)row;
  values[0] = round(t * 1000) / 1000;
  for (int j = 0; j < N; j++) {
    /* triangles: no library function is called a million times */
    double period = 3 + j, s = t / period - floor(t / period), q = s < 0.5 ? 4 * s - 1 : 3 - 4 * s,
           qd = (s < 0.5 ? 4 : -4) / period;
    values[1 + j] = round((q + 1e-4 * noise(row, j)) * 1e6) / 1e6;
    values[1 + N + j] = round((qd + 0.01 * noise(row, 4 + j)) * 1e5) / 1e5;
    values[1 + 2 * N + j] = round((10 * q + noise(row, 8 + j)) * 1e4) / 1e4;
  }
}

/* number in fixed decimals, as printf would write it, only faster */
static size_t put(char *to, double x, int decimals) {
  static const long power[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
  long scaled = lround(x * (double)power[decimals]), whole = labs(scaled) / power[decimals],
       part = labs(scaled) % power[decimals];
  char digits[24];
  size_t n = 0, count = 0;
  if (scaled < 0) to[n++] = '-';
  do digits[count++] = (char)('0' + whole % 10);
  while (whole /= 10);
  while (count) to[n++] = digits[--count];
  to[n++] = '.';
  for (int k = decimals - 1; k >= 0; k--) to[n++] = (char)('0' + part / power[k] % 10);
  return n;
}

static size_t write_row(char *line, const double values[COLUMNS]) {
  static const int decimals[COLUMNS] = {3, 6, 6, 5, 5, 4, 4};
  size_t n = 0;
  for (int c = 0; c < COLUMNS; c++) {
    n += put(line + n, values[c], decimals[c]);
    line[n++] = c + 1 < COLUMNS ? ',' : '\n';
  }
  return n;
}

static ptrdiff_t read_endless(void *user, char *buffer, size_t size) {
  endless *e = user;
  size_t made = 0;
  while (made < size) {
    if (e->at == e->length) {
      if (e->row == e->rows) break;
      double values[COLUMNS];
      e->at = 0;
      if (e->row < 0) {
        e->length = (size_t)sprintf(e->line, "t,q1,q2,qd1,qd2,tau1,tau2\n");
      } else {
        make_row(e->row, values);
        e->length = write_row(e->line, values);
      }
      e->row++;
    }
    size_t n = e->length - e->at < size - made ? e->length - e->at : size - made;
    memcpy(buffer + made, e->line + e->at, n);
    e->at += n;
    made += n;
  }
  return (ptrdiff_t)made;
}

static void memory_does_not_grow_with_rows(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(ROBOT);
  long calls[2], bytes[2];
  for (int k = 0; k < 2; k++) {
    long rows = k ? 1000000 : 1000, seen = 0;
    endless e = {.rows = rows, .row = -1};
    counting c;
    counting_init(&c, 0);
    psdm_log *log;
    psdm_log_rows got;
    assert_int_equal(psdmp_log_open_source(read_endless, &e, "log.csv", robot, NULL, &c.allocator, &log, NULL),
                     PSDM_OK);
    long opened = c.calls, outside = allocations;
    while (!psdm_log_read(log, 4096, &got, NULL) && got.count) {
      /* every row for the short log, some of the long one */
      for (long i = 0; i < got.count; i += k ? 97 : 1) {
        double values[COLUMNS];
        make_row(seen + i, values);
        if (got.t[i] != values[0] || got.line[i] != seen + i + 2) fail_msg("row %ld: time or line", seen + i);
        for (int j = 0; j < N; j++)
          if (got.q[i * N + j] != values[1 + j] || got.qd[i * N + j] != values[1 + N + j] ||
              got.tau[i * N + j] != values[1 + 2 * N + j] || got.bad[i * N + j])
            fail_msg("row %ld, joint %d", seen + i, j + 1);
      }
      seen += got.count;
    }
    assert_int_equal(seen, rows);
    for (int f = 0; f < PSDM_FAULTS; f++)
      if (psdm_log_faults(log, f)) fail_msg("%s", psdm_log_fault(log, f, 0, NULL));
    assert_int_equal(c.calls, opened);          /* reading never allocates from the caller's allocator, */
    assert_int_equal(allocations - outside, 0); /* nor from anywhere else */
    calls[k] = c.calls;
    bytes[k] = (long)psdm_log_bytes(log);
    assert_int_equal(psdm_log_size(log), 0);
    psdm_log_close(log);
    assert_int_equal(c.live, 0);
  }
  assert_int_equal(calls[0], calls[1]);
  assert_true(bytes[1] > 900 * bytes[0]);
  psdm_robot_free(robot);
}

/* ---- a plain twin: strtod on good lines ---- */

typedef struct expected_row {
  double values[COLUMNS];
  long line;
  int segment;
} expected_row;

typedef struct strewn {
  char path[64];
  expected_row *rows;
  long count, faults[PSDM_FAULTS];
} strewn;

/* this many rows, one in fifty spoilt in some way; the good rows and the expected counts are recorded */
static strewn strew(rng *g, long rows) {
  strewn s = {.rows = malloc(sizeof *s.rows * (size_t)rows)};
  snprintf(s.path, sizeof s.path, "test_log_stream_%ld.csv", (long)getpid());
  FILE *f = fopen(s.path, "w");
  assert_non_null(f);
  assert_non_null(s.rows);
  fputs("# scattered faults\nt,q1,q2,qd1,qd2,tau1,tau2\n", f);
  double shift = 0, last = -1;
  int segment = 0;
  for (long k = 0, line = 3; k < rows; k++, line++) {
    double values[COLUMNS];
    char text[400];
    size_t length = 0;
    int kind = rng_int(g, 0, 399);
    make_row(k, values);
    values[0] += shift;
    if (kind == 6) values[0] = last;                 /* repeated */
    if (kind == 7) shift -= 1.5, values[0] -= 1.5;   /* back */
    if (kind == 8) shift += 0.25, values[0] += 0.25; /* jump */
    for (int c = 0; c < COLUMNS; c++)
      length += (size_t)sprintf(text + length, "%.17g%s", values[c], c + 1 < COLUMNS ? "," : "");
    if (kind <= 1) { /* garbage */
      char *at = &text[rng_int(g, 0, (int)length - 1)];
      s.faults[*at == ',' ? PSDM_FAULT_SHORT : PSDM_FAULT_GARBAGE]++;
      *at = kind ? 'x' : '\x01';
    } else if (kind == 2) { /* cut short */
      *strrchr(text, ',') = '\0';
      length = strlen(text);
      s.faults[PSDM_FAULT_SHORT]++;
    } else if (kind == 3) {
      length += (size_t)sprintf(text + length, ",1");
      s.faults[PSDM_FAULT_SHORT]++;
    } else if (kind == 4) {
      length = (size_t)(strrchr(text, ',') + 1 - text) + (size_t)sprintf(strrchr(text, ',') + 1, "NaN");
      s.faults[PSDM_FAULT_NAN]++;
    } else if (kind == 5) {
      fputs("\n# a comment\n  \n", f);
      line += 3;
    }
    fwrite(text, 1, length, f);
    fputc('\n', f);
    if (kind <= 4) continue;
    double interval = strtod(text, NULL) - last; /* the first row has no interval */
    if (s.count && interval == 0) {
      s.faults[PSDM_FAULT_REPEATED]++;
      continue;
    }
    if (s.count && interval < 0) segment++, s.faults[PSDM_FAULT_BACK]++;
    if (s.count && interval > 0.005) segment++, s.faults[PSDM_FAULT_JUMP]++;
    if (s.count && interval > 0 && interval <= 0.005 && fabs(interval - 0.001) > 1e-4) s.faults[PSDM_FAULT_JITTER]++;
    expected_row *row = &s.rows[s.count++];
    char *at = text;
    for (int c = 0; c < COLUMNS; c++) row->values[c] = strtod(at, &at), at++;
    row->line = line;
    row->segment = segment;
    last = row->values[0];
  }
  assert_int_equal(fclose(f), 0);
  return s;
}

static void spoilt_logs_twice(void **state) {
  (void)state;
  rng g = rng_start("spoilt_logs_twice");
  psdm_robot *robot = parse_robot(ROBOT);
  static const long sizes[] = {60, 999, 5000, 40000};
  for (int k = 0; k < 4; k++) {
    strewn s = strew(&g, sizes[k]);
    psdm_log *log;
    psdm_log_rows got;
    psdm_error error;
    assert_int_equal(psdm_log_open(s.path, robot, NULL, NULL, &log, &error), PSDM_OK);
    assert_string_equal(psdm_log_file(log), s.path);
    for (int pass = 0; pass < 3; pass++) {
      long seen = 0, stop = pass == 1 ? s.count / 2 : s.count + 1; /* the second pass is aborted */
      while (seen < stop && !psdm_log_read(log, 1 + rng_int(&g, 0, 3000), &got, &error) && got.count) {
        for (long i = 0; i < got.count; i++, seen++) {
          const expected_row *row = &s.rows[seen];
          assert_true(seen < s.count);
          if (got.line[i] != row->line || got.segment != row->segment || got.t[i] != row->values[0])
            fail_msg("row %ld: line %ld instead of %ld", seen, got.line[i], row->line);
          for (int j = 0; j < N; j++)
            if (got.q[i * N + j] != row->values[1 + j] || got.qd[i * N + j] != row->values[1 + N + j] ||
                got.tau[i * N + j] != row->values[1 + 2 * N + j])
              fail_msg("row %ld, joint %d", seen, j + 1);
        }
        assert_int_equal(psdm_log_good(log), seen);
      }
      for (int f = 0; pass != 1 && f < PSDM_FAULTS; f++)
        if (psdm_log_faults(log, f) != s.faults[f])
          fail_msg("%s: %ld instead of %ld", psdm_fault_text(f), psdm_log_faults(log, f), s.faults[f]);
      if (pass != 1) assert_int_equal(seen, s.count);
      assert_int_equal(psdm_log_rewind(log, &error), PSDM_OK);
      assert_int_equal(psdm_log_good(log), 0);
    }
    psdm_log_close(log);
    remove(s.path);
    free(s.rows);
  }
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory_does_not_grow_with_rows),
                                     cmocka_unit_test(spoilt_logs_twice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
