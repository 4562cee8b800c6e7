/* test_estimate_spread.c: estimators that reread the rows, decimated rows, and predictions: the same bits by threads,
 * by ranks, and after a killed run; and the truth for logs that are exact up to rounding. */
#define _XOPEN_SOURCE 700

#include "calibrate_spread.h"

static const psdm_estimator walking[] = {PSDM_ESTIMATOR_ROBUST, PSDM_ESTIMATOR_IV, PSDM_ESTIMATOR_DIDIM,
                                         PSDM_ESTIMATOR_ENERGY};
enum { WALKING = sizeof walking / sizeof *walking };

/* one thread of one process, then ranks, then threads */
static void same_everywhere(const psdm_robot *robot, psdm_calibrate_options o, int ranks, int threads) {
  o.threads = 1;
  psdm_calibration *c = calibrate(robot, &o, NULL);
  numbers *expected = numbers_of(c);
  psdm_calibration_free(c);
  on_ranks(robot, o, ranks, expected);
  o.threads = threads;
  c = calibrate(robot, &o, NULL);
  assert_same(c, expected);
  psdm_calibration_free(c);
  free(expected);
}

static psdm_calibrate_options plain(const char *const *path, int files) {
  psdm_calibrate_options o = plain_options(path, files, PSDM_ESTIMATOR_WLS, PSDM_KINEMATICS_POSITION, 25);
  o.holdout = 0.2;
  return o;
}

/* several windows, a segment that is cut by one, rows in memory */
TEST(from_memory) {
  log_case l;
  log_case_new(&l, "from_memory", parse_robot(two_links));
  write_segments(l.path, &l.g, l.robot, 34000);
  for (int e = 0; e < WALKING; e++) {
    psdm_calibrate_options o = plain(&l.name, 1);
    o.estimator = walking[e], o.cutoff = 10;
    same_everywhere(l.robot, o, 2 + e % 3, 2 + e % 2);
  }
  static const int factors[] = {40, 1500}; /* the last one's means reach over all windows */
  for (size_t k = 0; k < sizeof factors / sizeof *factors; k++) {
    psdm_calibrate_options o = plain(&l.name, 1);
    o.decimate = factors[k];
    same_everywhere(l.robot, o, 2 + (int)k, 3);
  }
  log_case_free(&l);
}

/* columns with memory, too: of the rows before a window */
TEST(with_memory_of_friction) {
  log_case l;
  log_case_new(&l, "with_memory_of_friction", parse_robot(one_link));
  write_pendulum(l.path, &l.g, 70000);
  psdm_calibrate_options o = plain(&l.name, 1);
  /* both of whose motions have their own memory */
  o.estimator = PSDM_ESTIMATOR_IV, o.plain_friction = false, o.columns = 5, o.cutoff = 10;
  same_everywhere(l.robot, o, 2, 2);
  log_case_free(&l);
}

/* ---- rows that are read again ---- */

static bool die_while_weighing(void *user, const char *doing, double share) {
  int *rounds = user;
  if (strcmp(doing, "weighing outliers") == 0 && share > 0.9 && ++*rounds == 3) kill(getpid(), SIGKILL);
  return true;
}

TEST(read_again) {
  rng g = rng_start("read_again");
  char path[2][64], folder[64];
  const char *name[2] = {log_path(path[0]), log_path(path[1])};
  psdm_robot *robot = parse_robot(one_link);
  write_pendulum(path[0], &g, 140000);
  write_pendulum(path[1], &g, 20000);
  snprintf(folder, sizeof folder, "%.50s.parts", path[0]);
  psdm_calibrate_options o = streamed(name, 2);
  o.estimator = PSDM_ESTIMATOR_ENERGY;
  same_everywhere(robot, o, 2, 2);
  o.estimator = PSDM_ESTIMATOR_WLS, o.decimate = 50;
  same_everywhere(robot, o, 2, 2);
  o.estimator = PSDM_ESTIMATOR_ROBUST, o.decimate = 0, o.threads = 1;
  psdm_calibration *c = calibrate(robot, &o, NULL);
  numbers *expected = numbers_of(c);
  assert_true(c->steps >= 3);
  psdm_calibration_free(c);
  o.checkpoint = folder;
  psdm_calibrate_options deadly = o;
  int rounds = 0;
  deadly.progress = die_while_weighing, deadly.progress_user = &rounds;
  int left = killed_run(robot, &deadly);
  on_ranks(robot, o, 2, expected); /* reuses them, and leaves all of its own */
  assert_true(left >= 6 && parts_in(folder) > left);
  o.threads = 2;
  c = calibrate(robot, &o, NULL);
  assert_same(c, expected);
  assert_int_equal(c->parts_found, parts_in(folder));
  assert_int_equal(c->parts_saved, 0);
  assert_int_equal(psdm_calibration_clear(c, NULL, NULL), PSDM_OK);
  assert_int_equal(parts_in(folder), 0);
  psdm_calibration_free(c);
  print_message("the killed run left %d parts\n", left);
  assert_int_equal(rmdir(folder), 0);
  free(expected);
  psdm_robot_free(robot);
  unlink(path[0]), unlink(path[1]);
}

/* ---- predictions ---- */

typedef struct written {
  unsigned long long hash;
  long rows;
  double last;
} written;

static void mix(written *w, const double *x, int count) {
  for (int k = 0; k < count; k++) {
    unsigned long long bits;
    memcpy(&bits, &x[k], sizeof bits);
    w->hash = (w->hash ^ bits) * 1099511628211u; /* Fowler, Noll, Vo */
  }
}

static bool note_row(void *user, const psdm_predicted_row *row) {
  written *w = user;
  const double *const group[] = {row->q,   row->qd,        row->qdd,  row->tau,
                                 row->raw, row->predicted, row->band, row->friction};
  mix(w, (double[]){row->t, row->segment, row->heldout}, 3);
  for (int k = 0; k < 8; k++) mix(w, group[k], 1);
  w->rows++;
  w->last = row->t;
  return true;
}

static bool until_row(void *user, const psdm_predicted_row *row) {
  (void)row;
  return ++*(long *)user < 20000;
}

/* rows come in order and with the same bits, whoever made them; after a stop no more come */
TEST(predictions) {
  log_case l;
  log_case_new(&l, "predictions", parse_robot(one_link));
  write_pendulum(l.path, &l.g, 100000);
  for (int round = 0; round < 2; round++) {
    written one = {0};
    psdm_calibrate_options o = plain(&l.name, 1);
    o.cutoff = 100, o.cache = round == 1 ? 65536 : 0;
    for (o.threads = 1; o.threads <= 3; o.threads += 2) {
      psdm_calibration *c = calibrate(l.robot, &o, NULL);
      written w = {0};
      long seen = 0;
      assert_int_equal(psdm_calibration_predict(c, note_row, &w, NULL), PSDM_OK);
      if (o.threads == 1) one = w;
      assert_true(w.hash == one.hash && w.rows == one.rows && w.last > 99 && w.rows > 10000);
      assert_int_equal(psdm_calibration_predict(c, until_row, &seen, NULL), PSDM_OK);
      assert_int_equal(seen, w.rows < 20000 ? w.rows : 20000);
      psdm_calibration_free(c);
    }
  }
  log_case_free(&l);
}

/* ---- the truth ---- */

/* with many windows and two threads, as with one: the residual is the filters' error */
TEST(truth_is_found) {
  log_case l;
  log_case_new(&l, "truth_is_found", parse_robot(one_link));
  double pi[10] = {3, 0.5, 0.02, 0, 0.05, 0.06, 0.3};
  truth w = log_of(l.robot, 34000, 0.001, 2, 1);
  w.rates = w.accelerations = true;
  w.pi = pi;
  tones m = tones_of(&l.g, &w);
  FILE *file = fopen(l.path, "w");
  assert_non_null(file);
  write_rows(file, &w, &l.g, &m, true, 0);
  assert_int_equal(fclose(file), 0);
  for (int e = 0; e < WALKING; e++) {
    psdm_calibrate_options o = plain(&l.name, 1);
    o.estimator = walking[e], o.kinematics = PSDM_KINEMATICS_ACCELERATION, o.cutoff = INFINITY, o.threads = 2;
    psdm_calibration *c = calibrate(l.robot, &o, NULL);
    assert_true(fabs(c->column[0][0].gain - 2) < 0.01 && fabs(c->column[0][1].gain - 1) < 0.01);
    double rel = c->heldout[PSDM_FIT_MOVING].global_rel;
    print_message("%s: viscous %.6f, Coulomb %.6f, held out %.2g\n", psdm_estimator_name(walking[e]),
                  c->column[0][0].gain, c->column[0][1].gain, rel);
    assert_true(rel < 1e-3);
    psdm_calibration_free(c);
  }
  log_case_free(&l);
}

TEST_MAIN(read_again, from_memory, with_memory_of_friction, predictions, truth_is_found)
