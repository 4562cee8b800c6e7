/* test_calibrate_odd.c: logs with little information, refusals, calibrations that are stopped or run out of memory. */
#include "test_calibrate_log.h"

#include "psdm/calibrate.h"

/* ---- logs with little information ---- */

TEST(a_joint_that_never_moves) {
  log_case l;
  log_case_new(&l, "a_joint_that_never_moves", load_shipped("puma560"));
  for (int still = 1; still <= 6; still += 5) {
    truth w = log_of(l.robot, 1000, 0.01, 2, 1);
    w.smooth = 0.05, w.noise = still == 1 ? 0 : 0.01, w.still = still;
    write_log(l.path, &w, &l.g);
    for (int estimator = PSDM_ESTIMATOR_CONSISTENT; estimator <= PSDM_ESTIMATOR_WLS; estimator += 2) {
      psdm_calibrate_options o = {.files = 1,
                                  .path = &l.name,
                                  .estimator = (psdm_estimator)estimator,
                                  .holdout = 0.25,
                                  .prior_kinematics = true,
                                  .plain_friction = estimator > 0,
                                  .delay_given = true};
      psdm_calibration *c = calibrate(l.robot, &o, NULL);
      if (c->pi) assert_true(physically_possible(c->pi, 6));
      psdm_calibration_free(c);
    }
  }
  log_case_free(&l);
}

/* every outcome is an answer of finite numbers or an error message */
static psdm_status any_outcome(const psdm_robot *robot, const psdm_calibrate_options *o, char sentence[512]) {
  psdm_calibration *c = NULL;
  psdm_error error = {0};
  psdm_status status = psdm_calibrate(robot, o, NULL, &c, &error);
  if (status) {
    assert_null(c);
    assert_true(error.text[0] != 0);
    if (sentence) strcpy(sentence, error.text);
    return status;
  }
  assert_all_finite(c);
  psdm_calibration_free(c);
  return PSDM_OK;
}

TEST(short_logs) {
  char sentence[512];
  log_case l;
  log_case_new(&l, "short_logs", parse_robot(two_driven_links));
  static const long rows[] = {1, 2, 3, 10, 29, 30, 31, 40, 60, 100, 200, 500};
  int answers = 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    for (int hold = 0; hold < 3; hold++) {
      truth w = {.robot = l.robot, .rows = rows[k], .dt = 0.001, .viscous = 2, .noise = 0.01};
      write_log(l.path, &w, &l.g);
      psdm_calibrate_options o = {.files = 1,
                                  .path = &l.name,
                                  .holdout = hold == 1 ? 0.3 : 0,
                                  .holdout_block = hold == 2 ? 0.05 : 0,
                                  .holdout_every = 2};
      answers += any_outcome(l.robot, &o, sentence) == PSDM_OK;
    }
  print_message("%d of 36 short logs were calibrated; last refusal: %s\n", answers, sentence);
  assert_true(answers > 3 && answers < 36);
  /* a log of two samples a second is not filtered */
  truth slow = {.robot = l.robot, .rows = 400, .dt = 0.5, .viscous = 2, .rates = true, .accelerations = true};
  write_log(l.path, &slow, &l.g);
  psdm_calibrate_options o = {.files = 1, .path = &l.name, .kinematics = PSDM_KINEMATICS_ACCELERATION};
  psdm_calibration *c = calibrate(l.robot, &o, NULL);
  assert_true(isinf(c->cutoff));
  psdm_calibration_free(c);
  log_case_free(&l);
}

/* one segment of twenty rows among others, and two files */
TEST(short_segments) {
  rng g = rng_start("short_segments");
  char path[64], second[64];
  const char *names[] = {log_path(path), log_path(second)};
  psdm_robot *robot = parse_robot(two_driven_links);
  truth w = log_of(robot, 1200, 0.005, 2, 1);
  w.rates = w.accelerations = true;
  w.smooth = 0.05;
  tones m = tones_of(&g, &w);
  FILE *file = fopen(path, "w");
  write_rows(file, &w, &g, &m, true, 0);
  w.rows = 20;
  write_rows(file, &w, &g, &m, false, 10);
  w.rows = 1500;
  write_rows(file, &w, &g, &m, false, 20);
  assert_int_equal(fclose(file), 0);
  write_log(second, &w, &g);
  psdm_calibrate_options o = {.files = 2,
                              .path = names,
                              .estimator = PSDM_ESTIMATOR_WLS,
                              .kinematics = PSDM_KINEMATICS_ACCELERATION,
                              .cutoff = INFINITY,
                              .delay_given = true,
                              .holdout = 0.2};
  psdm_calibration *c = calibrate(robot, &o, NULL);
  assert_int_equal(c->segments, 4);
  assert_int_equal(c->rows, 1200 + 20 + 1500 + 1500);
  assert_int_equal(c->faults[PSDM_FAULT_JUMP], 2);
  assert_non_null(psdm_calibration_fault(c, 0));
  assert_true(c->heldout[PSDM_FIT_ALL].global_rel < 0.01);
  psdm_calibration_free(c);
  psdm_robot_free(robot);
  unlink(path);
  unlink(second);
}

/* torques frozen in all rows while joints move: no row is left to fit */
TEST(all_rows_bad) {
  char sentence[512];
  log_case l;
  log_case_new(&l, "all_rows_bad", parse_robot(two_driven_links));
  FILE *file = fopen(l.path, "w");
  fputs("t,q1,q2,tau1,tau2\n", file);
  for (int k = 0; k < 2000; k++)
    fprintf(file, "%.3f,%.9f,%.9f,%d,%d\n", 0.002 * k, sin(0.01 * k), cos(0.007 * k), k % 400 < 2 ? k % 2 : 5,
            k % 400 < 2 ? k % 2 : 7);
  assert_int_equal(fclose(file), 0);
  psdm_calibrate_options o = {.files = 1, .path = &l.name, .holdout = 0.3};
  psdm_status status = any_outcome(l.robot, &o, sentence);
  if (status) print_message("refused: %s\n", sentence);
  file = fopen(l.path, "w");
  fputs("t,q1,q2,tau1,tau2\nnothing here\n", file);
  assert_int_equal(fclose(file), 0);
  assert_int_not_equal(any_outcome(l.robot, &o, sentence), PSDM_OK);
  log_case_free(&l);
}

/* ---- refusals ---- */

TEST(refusals) {
  char sentence[512];
  log_case l;
  log_case_new(&l, "refusals", parse_robot(two_driven_links));
  truth w = {.robot = l.robot, .rows = 500, .dt = 0.01};
  write_log(l.path, &w, &l.g);
  static const double bad_prior[64] = {0};
  const psdm_calibrate_options good = {.files = 1, .path = &l.name, .holdout = 0.2};
  psdm_calibrate_options o;
  struct {
    psdm_calibrate_options o;
    const char *word;
  } cases[12];
  int count = 0;
#define CASE(change, text) (o = good, o.change, cases[count].o = o, cases[count++].word = text)
  CASE(files = 0, "at least one log");
  CASE(estimator = PSDM_ESTIMATORS, "out of its range");
  CASE(kinematics = PSDM_KINEMATICS_KINDS, "out of its range");
  CASE(holdout = 0.99, "held-out share");
  CASE(holdout = NAN, "held-out share");
  CASE(holdout_block = -1, "held-out blocks");
  CASE(cutoff = -1, "cutoff");
  CASE(columns = 17, "columns");
  CASE(prior = bad_prior, "prior");
  CASE(kinematics = PSDM_KINEMATICS_ACCELERATION, "has no qdd");
  CASE(kinematics = PSDM_KINEMATICS_VELOCITY, "has no qd");
#undef CASE
  for (int k = 0; k < count; k++) {
    assert_int_not_equal(any_outcome(l.robot, &cases[k].o, sentence), PSDM_OK);
    if (!strstr(sentence, cases[k].word)) fail_msg("case %d: '%s' has no '%s'", k, sentence, cases[k].word);
  }
  psdm_robot_free(l.robot);
  /* more joints than are calibrated at once */
  char *text = malloc(40000), *at = text;
  at += sprintf(at, "convention: dh\njoints:\n");
  for (int j = 0; j < PSDM_CALIBRATE_JOINTS + 1; j++)
    at += sprintf(at, "  - {name: j%d, type: revolute, a: 0.1, alpha: pi/2}\n", j);
  l.robot = parse_robot(text);
  assert_int_equal(any_outcome(l.robot, &good, sentence), PSDM_E_LIMIT);
  free(text);
  log_case_free(&l);
}

/* ---- stopping ---- */

typedef struct stopper {
  long calls, stop_at;
} stopper;

static bool stop_once(void *user, const char *doing, double share) {
  stopper *s = user;
  assert_non_null(doing);
  assert_true(share <= 1 + 1e-9);
  return ++s->calls < s->stop_at;
}

TEST(stops_anywhere) {
  char sentence[512] = "";
  log_case l;
  log_case_new(&l, "stops_anywhere", parse_robot(two_driven_links));
  truth w = {.robot = l.robot, .rows = 2500, .dt = 0.005, .viscous = 2, .coulomb = 1, .smooth = 0.05, .noise = 0.01};
  write_log(l.path, &w, &l.g);
  stopper s = {.stop_at = 1000000};
  psdm_calibrate_options o = {.files = 1, .path = &l.name, .holdout = 0.2, .progress = stop_once, .progress_user = &s};
  psdm_calibration *c = calibrate(l.robot, &o, NULL);
  long calls = s.calls;
  double best = c->heldout[PSDM_FIT_ALL].global_rel, most = 0;
  assert_false(c->stopped);
  psdm_calibration_free(c);
  for (long at = 1; at <= calls; at += at < 6 ? 1 : calls / 6) {
    s = (stopper){.stop_at = at};
    psdm_error error = {0};
    psdm_status status = psdm_calibrate(l.robot, &o, NULL, &c, &error);
    if (status) {
      assert_int_equal(status, PSDM_E_STOPPED);
      assert_non_null(strstr(error.text, "stopped while the logs were read"));
      strcpy(sentence, error.text);
      continue;
    }
    assert_true(c->stopped);
    assert_all_finite(c);
    assert_true(physically_possible(c->pi, 2));
    assert_true(c->heldout[PSDM_FIT_ALL].rows > 0);
    most = fmax(most, c->heldout[PSDM_FIT_ALL].global_rel);
    psdm_calibration_free(c);
  }
  print_message("%ld calls; held out %.3g to the end, at worst %.3g when stopped\n", calls, best, most);
  assert_true(most < 0.5 && sentence[0]);
  log_case_free(&l);
}

/* ---- memory ---- */

TEST(memory_runs_out) {
  log_case l;
  log_case_new(
      &l, "memory_runs_out",
      parse_robot(
          "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: revolute, a: 0.4}\n"));
  const double pi[10] = {2, 0.4, 0.1, 0, 0.1, 0, 0, 0.1, 0, 0.2};
  truth w = {.robot = l.robot, .pi = pi, .rows = 400, .dt = 0.01, .viscous = 2, .noise = 0.01};
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = {.files = 1, .path = &l.name, .holdout = 0.2, .delay_given = true, .cutoff = 10};
  long failures = 0;
  for (long fail_at = 1;; fail_at += 1 + fail_at / 20) {
    counting memory;
    psdm_calibration *c = NULL;
    psdm_error error = {0};
    counting_init(&memory, fail_at);
    psdm_status status = psdm_calibrate(l.robot, &o, &memory.allocator, &c, &error);
    bool done = memory.calls < fail_at;
    if (done) assert_int_equal(status, PSDM_OK);
    else if (status) assert_int_equal(status, PSDM_E_MEMORY), failures++;
    psdm_calibration_free(c);
    if (memory.live != 0) fail_msg("%ld allocations leak after failure %ld", memory.live, fail_at);
    if (done) break;
  }
  print_message("%ld failures\n", failures);
  assert_true(failures > 40);
  log_case_free(&l);
}

TEST_MAIN(a_joint_that_never_moves, short_logs, short_segments, all_rows_bad, refusals, stops_anywhere, memory_runs_out)
