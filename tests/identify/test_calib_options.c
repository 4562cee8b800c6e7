/* test_calib_options.c: options of calibration, steps, excitation and logs out of range, NAN included: each is refused
 * with its own message. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/calibrate.h"
#include "psdm/excite.h"
#include "psdm/log.h"
#include "psdm/steps.h"
#include "support.h"

static const char arm[] = "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{name: a, a: 0.4}]\n";

static void expect(psdm_status status, psdm_status wanted, const psdm_error *error, const char *sentence, size_t k) {
  if (status != wanted || !strstr(error->text, sentence))
    fail_msg("case %zu: status %d, '%s'; '%s' was expected", k, status, error->text, sentence);
}

TEST(calibrations) {
  static const char *const path[] = {"/nowhere.csv"};
  const struct {
    psdm_calibrate_options o;
    const char *sentence;
  } cases[] = {
      {{.files = 0}, "at least one log is needed"},
      {{.estimator = PSDM_ESTIMATORS}, "an option of the calibration is out of its range"},
      {{.kinematics = PSDM_KINEMATICS_KINDS}, "an option of the calibration is out of its range"},
      {{.holdout = 0.95}, "the held-out share must be at least 0 and below 0.95"},
      {{.holdout = NAN}, "the held-out share must be"},
      {{.holdout_block = -1, .holdout_every = 3}, "held-out blocks need a length above zero"},
      {{.holdout_block = NAN, .holdout_every = 3}, "held-out blocks need a length above zero"},
      {{.holdout_block = 1, .holdout_every = 1}, "at most every second one"},
      {{.cutoff = -1}, "cutoff, lambda and columns must not be negative"},
      {{.cutoff = NAN}, "cutoff, lambda and columns must not be negative"},
      {{.lambda = -1}, "cutoff, lambda and columns must not be negative"},
      {{.lambda = NAN}, "cutoff, lambda and columns must not be negative"},
      {{.columns = -1}, "cutoff, lambda and columns must not be negative"},
      {{.columns = 17}, "columns at most 16"},
      {{.decimate = -1}, "rows are decimated by a factor from 1"},
      {{.decimate = 4, .estimator = PSDM_ESTIMATOR_ROBUST}, "cannot use decimated rows"},
      {{.delay = 2, .delay_given = true}, "the torques' delay must be at most a second"},
      {{.delay = NAN, .delay_given = true}, "the torques' delay must be at most a second"},
  };
  psdm_robot *robot = parse_robot(arm);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_calibrate_options o = cases[k].o;
    psdm_calibration *c = (psdm_calibration *)&c;
    psdm_error error = {0};
    o.path = path, o.files = k ? 1 : 0;
    expect(psdm_calibrate(robot, &o, NULL, &c, &error), PSDM_E_ARGUMENT, &error, cases[k].sentence, k);
    assert_null(c);
  }
  psdm_robot_free(robot);
}

TEST(steps) {
  static const psdm_steps_log none = {.step = PSDM_STEP_GRAVITY, .path = NULL},
                              before = {.step = (psdm_step)-1, .path = "x"}, behind = {.step = PSDM_STEPS, .path = "x"},
                              nan_mass = {.step = PSDM_STEP_MOTOR, .path = "x", .mass = NAN},
                              negative = {.step = PSDM_STEP_MOTOR, .path = "x", .mass = -1},
                              far = {.step = PSDM_STEP_MOTOR, .path = "x", .mass = 1, .com = {INFINITY}},
                              wrong = {.step = PSDM_STEP_GRAVITY, .path = "x", .mass = 1},
                              fine = {.step = PSDM_STEP_GRAVITY, .path = "x"};
  const struct {
    psdm_steps_options o;
    const char *sentence;
  } cases[] = {
      {{.logs = 0, .log = &fine}, "at least one log is needed"},
      {{.logs = 1}, "at least one log is needed"},
      {{.logs = 1, .log = &fine, .holdout = 0.99}, "the held-out share must be below 0.95"},
      {{.logs = 1, .log = &fine, .holdout = NAN}, "the held-out share must be below 0.95"},
      {{.logs = 1, .log = &fine, .cutoff = {0, -1}}, "a cutoff must not be negative"},
      {{.logs = 1, .log = &fine, .cutoff = {NAN}}, "a cutoff must not be negative"},
      {{.logs = 1, .log = &none}, "log 1 belongs to no step"},
      {{.logs = 1, .log = &before}, "log 1 belongs to no step"},
      {{.logs = 1, .log = &behind}, "log 1 belongs to no step"},
      {{.logs = 1, .log = &nan_mass}, "its known mass must be a finite number"},
      {{.logs = 1, .log = &negative}, "its known mass must be a finite number"},
      {{.logs = 1, .log = &far}, "with a finite centre"},
      {{.logs = 1, .log = &wrong}, "only logs of the motor step carry a known mass"},
  };
  psdm_robot *robot = parse_robot(arm), *loop = load_shipped("five_bar");
  psdm_steps *s = (psdm_steps *)&s;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_error error = {0};
    expect(psdm_steps_run(robot, &cases[k].o, NULL, &s, &error), PSDM_E_ARGUMENT, &error, cases[k].sentence, k);
    assert_null(s);
  }
  psdm_error error = {0};
  expect(psdm_steps_run(loop, &(psdm_steps_options){.logs = 1, .log = &fine}, NULL, &s, &error), PSDM_E_ROBOT, &error,
         "closed loops", 0);
  psdm_robot_free(robot), psdm_robot_free(loop);
}

TEST(excitations) {
  const struct {
    psdm_excite_options o;
    const char *sentence;
  } cases[] = {
      {{.step = PSDM_STEPS}, "step 4; 0 to 3 were expected"},
      {{.seconds = -1}, "-1 seconds"},
      {{.seconds = NAN}, "seconds; a positive, finite number"},
      {{.seconds = INFINITY}, "seconds; a positive, finite number"},
      {{.harmonics = -1}, "must not be negative"},
      {{.starts = -1}, "must not be negative"},
      {{.threads = -1}, "must not be negative"},
      {{.evaluations = -1}, "must not be negative"},
      {{.band = NAN}, "must not be negative"},
      {{.wall = -1}, "must not be negative"},
      {{.evaluations = 2000000000000L}, "at most"},
  };
  psdm_robot *robot = parse_robot(arm);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_excitation *e = (psdm_excitation *)&e;
    psdm_error error = {0};
    expect(psdm_excite(robot, &cases[k].o, NULL, &e, &error), PSDM_E_ARGUMENT, &error, cases[k].sentence, k);
    assert_null(e);
  }
  psdm_robot_free(robot);
}

TEST(logs) {
  const struct {
    psdm_log_options o;
    const char *sentence;
  } cases[] = {{{.rate = -1}, "the rate must be a finite number"},
               {{.rate = NAN}, "the rate must be a finite number"},
               {{.rate = INFINITY}, "the rate must be a finite number"},
               {{.rate = 1e-9}, "0.001 to 1e6 Hz were expected"},
               {{.rate = 1e9}, "0.001 to 1e6 Hz were expected"},
               {{.jump = 0.5}, "a gap must be longer than one interval"},
               {{.jump = NAN}, "a gap must be longer than one interval"},
               {{.jump = INFINITY}, "a gap must be longer than one interval"}};
  psdm_robot *robot = parse_robot(arm);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_log *log = (psdm_log *)&log;
    psdm_error error = {0};
    expect(psdm_log_open(SOURCE_DIR "/tests/fuzz/corpus/log/moving.csv", robot, &cases[k].o, NULL, &log, &error),
           PSDM_E_ARGUMENT, &error, cases[k].sentence, k);
    assert_null(log);
  }
  psdm_robot_free(robot);
}

TEST_MAIN(calibrations, steps, excitations, logs)
