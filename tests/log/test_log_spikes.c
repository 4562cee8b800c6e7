/* test_log_spikes.c: isolated outliers, positions that jump by a full turn, decimal commas: reported with their lines
 * and marked, and nothing else is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/log_priv.h"
#include "support.h"

enum { ROWS = 40000, LINE = 160 };
static const char ARM[] = "convention: dh\njoints: [{a: 1}, {a: 1, type: prismatic}]\n";
static char text[ROWS * LINE];
static double q_true[ROWS];

typedef struct source {
  const char *at;
  size_t left;
} source;

static ptrdiff_t read_all(void *user, char *buffer, size_t size) {
  source *s = user;
  size_t n = s->left < size ? s->left : size;
  memcpy(buffer, s->at, n);
  s->at += n, s->left -= n;
  return (ptrdiff_t)n;
}

/* q1 turns round and round, q2 slides up to 8 m; torques with friction-like steps and noise; change: of tau1 in a
 * row */
static void write_log(long rows, double (*change)(long row), char comma) {
  rng g = {7};
  char *at = text;
  at += sprintf(at, "t;q1;q2;tau1;tau2\n");
  for (long k = 0; k < rows; k++) {
    double t = 0.005 * (double)k, q = q_true[k] = 3 * t + sin(t), v = cos(3 * t),
           tau = 20 * sin(2 * t) + (v > 0 ? 5 : -5) + 0.3 * rng_uniform(&g, -1, 1);
    char *line = at;
    at += sprintf(at, "%.6f;%.9f;%.6f;%.6f;%.6f\n", t, remainder(q, 6.283185307179586), 4 + 4 * sin(t),
                  tau + (change ? change(k) : 0), 3 + rng_uniform(&g, -1, 1));
    for (; comma && *line; line++)
      if (*line == '.') *line = comma;
  }
}

static psdm_log *open_log(const psdm_robot *robot, source *s) {
  psdm_log *log;
  psdm_error error;
  *s = (source){text, strlen(text)};
  if (psdmp_log_open_source(read_all, s, "log.csv", robot, NULL, NULL, &log, &error)) fail_msg("%s", error.text);
  return log;
}

static double few(long k) {
  return k == 1000                ? 1e6
         : k == 2000 || k == 2001 ? -900
         : k >= 3000 && k < 3003  ? 800
         : k >= 4000 && k < 4010  ? 800
                                  : 0;
}

static bool is_spike(long k) { return k == 1000 || k == 2000 || k == 2001 || (k >= 3000 && k < 3003); }

/* marked rows, rows whose q1 differs from the one without turns; returns rows */
static long compare(psdm_log *log, bool (*expected)(long), long *wrong, long *turned) {
  psdm_log_rows rows;
  long row = 0;
  *wrong = *turned = 0;
  while (!psdm_log_read(log, 4096, &rows, NULL) && rows.count)
    for (long k = 0; k < rows.count; k++, row++) {
      *wrong += rows.bad[2 * k] != (expected && expected(row) ? 8 : 0) || rows.bad[2 * k + 1];
      *turned += !(fabs(rows.q[2 * k] - q_true[row]) < 1e-6);
    }
  return row;
}

static void spikes_are_named_and_marked(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(ARM);
  source s;
  long wrong, turned;
  write_log(6000, few, 0);
  psdm_log *log = open_log(robot, &s);
  assert_int_equal(compare(log, is_spike, &wrong, &turned), 6000);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_SPIKE), 6);
  assert_non_null(strstr(psdm_log_fault(log, PSDM_FAULT_SPIKE, 0, NULL), "line 1002: tau1 is "));
  assert_int_equal(wrong, 0);
  assert_int_equal(turned, 0);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_COMMA), 0);
  psdm_log_close(log);
  psdm_robot_free(robot);
}

static void full_turns_are_removed(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(ARM);
  source s;
  long wrong, turned;
  write_log(ROWS, NULL, ',');
  psdm_log *log = open_log(robot, &s);
  assert_int_equal(compare(log, NULL, &wrong, &turned), ROWS);
  assert_int_equal(wrong, 0);
  assert_int_equal(turned, 0);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_SPIKE), 0);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_COMMA), 1);
  assert_int_equal(psdm_log_faults(log, PSDM_FAULT_WRAPPED), (long)floor(q_true[ROWS - 1] / 6.283185307179586 + 0.5));
  assert_non_null(strstr(psdm_log_fault(log, PSDM_FAULT_WRAPPED, 0, NULL), "q1 goes from 3.1"));
  psdm_log_close(log);
  psdm_robot_free(robot);
}

/* after a bookmark the turns before it still count */
static void bookmarks_keep_the_turns(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot(ARM);
  char path[] = "log_spikes_XXXXXX.csv";
  psdm_error error;
  psdm_log *log;
  psdmp_log_bookmark mark = {0};
  psdm_log_rows rows;
  bool taken = false;
  write_log(ROWS, few, 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  assert_int_equal(psdm_log_open(path, robot, NULL, NULL, &log, &error), PSDM_OK);
  while (!psdm_log_read(log, 512, &rows, &error) && rows.count && !taken)
    if (psdm_log_good(log) > 15000 && psdmp_log_markable(log)) taken = psdmp_log_bookmark_take(log, NULL, &mark);
  assert_true(taken);
  assert_int_equal(psdmp_log_go_to(log, &mark, &error), PSDM_OK);
  for (long row = mark.row; !psdm_log_read(log, 512, &rows, &error) && rows.count;)
    for (long k = 0; k < rows.count; k++, row++)
      if (!(fabs(rows.q[2 * k] - q_true[row]) < 1e-6))
        fail_msg("row %ld: q1 is %g, not %g", row, rows.q[2 * k], q_true[row]);
  psdmp_log_bookmark_free(&mark, NULL);
  psdm_log_close(log);
  psdm_robot_free(robot);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spikes_are_named_and_marked),
      cmocka_unit_test(full_turns_are_removed),
      cmocka_unit_test(bookmarks_keep_the_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
