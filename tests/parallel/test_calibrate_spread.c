/* test_calibrate_spread.c: a calibration by threads, by ranks, and in two runs because the first was killed: the
 * same bits as by one thread of one process. */
#define _XOPEN_SOURCE 700

#include "calibrate_spread.h"

#include "log/log_priv.h"

/* ---- tests ---- */

/* all choices by cross-validation, from rows in memory */
static void choices(void **state) {
  (void)state;
  rng g = rng_start("choices");
  char path[2][64];
  const char *name[2] = {log_path(path[0]), log_path(path[1])};
  psdm_robot *robot = parse_robot(two_links);
  write_segments(path[0], &g, robot, 34000);
  write_segments(path[1], &g, robot, 6000);
  psdm_calibrate_options o = {.files = 2,
                              .path = name,
                              .holdout = 0.3,
                              .estimator = PSDM_ESTIMATOR_CONSISTENT,
                              .kinematics = PSDM_KINEMATICS_POSITION,
                              .delay_given = true,
                              .threads = 1};
  psdm_calibration *c = calibrate(robot, &o);
  numbers *expected = numbers_of(c);
  psdm_calibration_free(c);
  for (int size = 2; size < 4; size++) on_ranks(robot, o, size, expected);
  for (o.threads = 2; o.threads < 5; o.threads++) {
    c = calibrate(robot, &o);
    assert_same(c, expected);
    psdm_calibration_free(c);
  }
  free(expected);
  psdm_robot_free(robot);
  unlink(path[0]), unlink(path[1]);
}

/* the program ends like this when its machine does */
static bool die_half_way(void *user, const char *doing, double share) {
  (void)user;
  if (strcmp(doing, "gathering") == 0 && share > 0.6) kill(getpid(), SIGKILL);
  return true;
}

/* rows that are read again, in parts that survive the run */
static void long_logs(void **state) {
  (void)state;
  rng g = rng_start("long_logs");
  char path[2][64], folder[64];
  const char *name[3] = {log_path(path[0]), log_path(path[1]), path[0]};
  psdm_robot *robot = parse_robot(one_link);
  write_pendulum(path[0], &g, 300000);
  write_pendulum(path[1], &g, 20000);
  snprintf(folder, sizeof folder, "%.50s.parts", path[0]);
  psdm_calibrate_options o = streamed(name, 2);
  psdm_calibration *c = calibrate(robot, &o);
  numbers *expected = numbers_of(c);
  psdm_calibration_free(c);
  on_ranks(robot, o, 2, expected);
  on_ranks(robot, o, 4, expected);
  /* killed, and run again */
  psdm_calibrate_options deadly = o;
  deadly.checkpoint = folder, deadly.progress = die_half_way;
  int left = killed_run(robot, &deadly);
  print_message("the killed run left %d parts\n", left);
  assert_true(left >= 3); /* two logs, one unit at least */
  o.checkpoint = folder;
  c = calibrate(robot, &o);
  assert_same(c, expected);
  assert_int_equal(c->parts_found, left);
  assert_true(c->parts_saved > 0 && c->parts_stale == 0 && c->parts_damaged == 0);
  psdm_calibration_free(c);
  /* a truncated part is made again, by ranks too */
  each_part(folder, "-gather-", true);
  on_ranks(robot, o, 2, expected);
  each_part(folder, "-evaluate-", true);
  c = calibrate(robot, &o);
  assert_same(c, expected);
  assert_true(c->parts_damaged > 0 && c->parts_found > 0);
  psdm_calibration_free(c);
  /* parts of other logs are not touched */
  o.files = 3, o.path = name;
  c = calibrate(robot, &o);
  assert_true(c->parts_stale > 0 && c->parts_found == 0);
  /* nor removed with its own */
  long removed = 0;
  int all = parts_in(folder);
  assert_int_equal(psdm_calibration_clear(c, &removed, NULL), PSDM_OK);
  assert_int_equal(removed, c->parts_saved);
  assert_int_equal(parts_in(folder), all - removed);
  assert_int_equal(parts_in(folder), c->parts_stale);
  psdm_calibration_free(c);
  o.files = 2, o.checkpoint = NULL;
  for (o.threads = 2; o.threads < 5; o.threads += 2) {
    c = calibrate(robot, &o);
    assert_same(c, expected);
    psdm_calibration_free(c);
  }
  each_part(folder, ".part", false);
  assert_int_equal(rmdir(folder), 0);
  free(expected);
  psdm_robot_free(robot);
  unlink(path[0]), unlink(path[1]);
}

/* the first bad file is reported, whoever reads it */
static void bad_files(void **state) {
  (void)state;
  rng g = rng_start("bad_files");
  char path[4][64];
  const char *name[4] = {log_path(path[0]), log_path(path[1]), log_path(path[2]), log_path(path[3])};
  psdm_robot *robot = parse_robot(one_link);
  for (int k = 0; k < 4; k++) write_pendulum(path[k], &g, 3000);
  for (int bad = 0; bad < 4; bad++) {
    psdm_calibrate_options o = streamed(name, 4);
    psdm_calibration *c = NULL;
    psdm_error alone = {0}, together = {0};
    FILE *file = fopen(path[bad], "w");
    assert_non_null(file);
    fputs(bad % 2 ? "t,q1,tau1\nx,y,z\nno,row,either\n" : "t,q1,torque\n0,1,2\n", file);
    assert_int_equal(fclose(file), 0);
    psdm_status expected = psdm_calibrate(robot, &o, NULL, &c, &alone);
    assert_true(expected != PSDM_OK && strcmp(alone.file, path[bad]) == 0);
    for (int size = 2; size < 4; size++) {
      forked f;
      fork_ranks(&f, size);
      o.ranks = &f.ranks;
      psdm_status status = psdm_calibrate(robot, &o, NULL, &c, &together);
      if (f.ranks.rank > 0) join_ranks(&f, NULL);
      assert_int_equal(status, expected);
      assert_null(c);
      assert_string_equal(together.text, alone.text);
      assert_string_equal(together.file, alone.file);
      assert_int_equal(together.line, alone.line);
      join_ranks(&f, NULL);
    }
    write_pendulum(path[bad], &g, 3000);
  }
  psdm_robot_free(robot);
  for (int k = 0; k < 4; k++) unlink(path[k]);
}

/* ---- bookmarks ---- */

enum { ROWS = 60000 };

/* all rows from here on, as one list of numbers: t, q, tau, marks, line, segment */
static long read_on(psdm_log *log, double *to) {
  long count = 0;
  for (;;) {
    psdm_log_rows got;
    psdm_error error;
    if (psdm_log_read(log, 777, &got, &error)) fail_msg("%s", error.text);
    if (!got.count) return count;
    for (long k = 0; k < got.count; k++, count++) {
      double *row = to + 6 * count;
      row[0] = got.t[k], row[1] = got.q[k], row[2] = got.tau[k], row[3] = got.bad[k], row[4] = (double)got.line[k],
      row[5] = got.segment;
    }
  }
}

/* a log with every fault that is watched for: frozen and saturated channels, gaps, time that stands still, bad rows */
static void write_faults(const char *path, rng *g) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("# made by a test\nt,q1,tau1\n", file);
  double t = 0, frozen = 0;
  for (long row = 0; row < ROWS; row++) {
    double tau = 20 * sin(0.0031 * (double)row) + rng_uniform(g, -0.1, 0.1), q = sin(0.002 * (double)row);
    if (row % 7001 == 0) t += 1;
    if (row % 911 != 0) t += 0.001; /* else it repeats */
    if (row % 5000 < 400 && row > 5000) q = frozen;
    else frozen = q;
    if (row % 1301 == 5) fputs("garbage,1,2\n", file);
    if (row % 2003 == 7) fputs("\n# a comment\n", file);
    fprintf(file, "%.6f,%.9f,%.9f\n", t, q, fmax(-15, fmin(15, tau)));
  }
  assert_int_equal(fclose(file), 0);
}

static void from_the_middle(void **state) {
  (void)state;
  rng g = rng_start("from_the_middle");
  char path[64];
  const char *name = log_path(path);
  psdm_robot *robot = parse_robot(one_link);
  psdm_log *log, *other;
  psdm_error error;
  double *all = malloc(6 * ROWS * sizeof *all), *again = malloc(6 * ROWS * sizeof *again);
  psdmp_log_bookmark mark[64];
  int marks = 0;
  write_faults(path, &g);
  assert_int_equal(psdm_log_open(name, robot, NULL, NULL, &log, &error), PSDM_OK);
  assert_int_equal(psdm_log_open(name, robot, NULL, NULL, &other, &error), PSDM_OK);
  long rows = read_on(log, all), marked = 0;
  for (long k = 0; k < rows; k++) marked += all[6 * k + 3] != 0;
  print_message("%ld rows, %ld of them marked, %ld segments\n", rows, marked, (long)all[6 * rows - 1] + 1);
  assert_true(marked > 1000 && psdm_log_faults(log, PSDM_FAULT_GARBAGE) > 10 &&
              psdm_log_faults(log, PSDM_FAULT_REPEATED) > 10);
  assert_int_equal(psdm_log_rewind(log, &error), PSDM_OK);
  for (psdm_log_rows got = {.count = 1}; got.count && marks < 64;) { /* taking bookmarks changes nothing */
    assert_int_equal(psdm_log_read(log, 777, &got, &error), PSDM_OK);
    if (got.count && psdmp_log_markable(log)) assert_true(psdmp_log_bookmark_take(log, NULL, &mark[marks++]));
  }
  assert_true(marks >= 4);
  for (int k = marks - 1; k >= 0; k--) {
    assert_int_equal(psdmp_log_go_to(k % 2 ? log : other, &mark[k], &error), PSDM_OK);
    assert_int_equal(psdm_log_good(k % 2 ? log : other), mark[k].row);
    long left = read_on(k % 2 ? log : other, again);
    assert_int_equal(left, rows - mark[k].row);
    assert_memory_equal(again, all + 6 * mark[k].row, (size_t)left * 6 * sizeof *again);
    psdmp_log_bookmark_free(&mark[k], NULL);
  }
  psdm_log_close(log);
  psdm_log_close(other);
  psdm_robot_free(robot);
  free(all), free(again);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(from_the_middle), cmocka_unit_test(bad_files),
                                     cmocka_unit_test(long_logs), cmocka_unit_test(choices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
