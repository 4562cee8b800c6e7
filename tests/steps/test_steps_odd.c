/* test_steps_odd.c: refusals with their messages, steps that are stopped. */
#include "test_steps_arms.h"

#include "psdm/parameters.h"

static void refused(const psdm_robot *robot, const psdm_steps_options *o, psdm_status expected, const char *words) {
  psdm_steps *s = (psdm_steps *)&s;
  psdm_error error = {0};
  assert_int_equal(psdm_steps_run(robot, o, NULL, &s, &error), expected);
  assert_null(s);
  if (!strstr(error.text, words)) fail_msg("'%s' is not in '%s: %s'", words, error.file, error.text);
}

/* ---- refusals ---- */

TEST(wrong_options_are_refused) {
  psdm_robot *robot = arm_robot(&arms[0], (told){.motors = true});
  psdm_steps_log log = {.path = "none.csv", .step = PSDM_STEP_GRAVITY};
  psdm_steps_options o = {0};
  refused(robot, &o, PSDM_E_ARGUMENT, "at least one log");
  o = (psdm_steps_options){.logs = 1, .log = &log};
  refused(robot, &o, PSDM_E_IO, "cannot be opened");
  o.holdout = 0.95;
  refused(robot, &o, PSDM_E_ARGUMENT, "held-out share");
  o.holdout = 0, o.cutoff[2] = NAN;
  refused(robot, &o, PSDM_E_ARGUMENT, "cutoff");
  o.cutoff[2] = 0, log.mass = 1;
  refused(robot, &o, PSDM_E_ARGUMENT, "only logs of the motor step");
  log.step = PSDM_STEPS, log.mass = 0;
  refused(robot, &o, PSDM_E_ARGUMENT, "belongs to no step");
  log.step = PSDM_STEP_MOTOR, log.mass = NAN;
  refused(robot, &o, PSDM_E_ARGUMENT, "known mass");
  psdm_robot_free(robot);
  psdm_steps_free(NULL);
}

TEST(wrong_motor_logs_are_refused) {
  rng g = rng_start("wrong_motor_logs_are_refused");
  const arm *a = &arms[0];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.inertias = false});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction}, loaded = r, torques = r;
  loaded.mass = 2, loaded.com[2] = 0.1, torques.constant = NULL, torques.mass = 2;
  shelf_write(&logs, PSDM_STEP_MOTOR, &r, motor_track(a, 0.01), &g);
  psdm_steps_options o = steps_options(&logs, true);
  refused(asked, &o, PSDM_E_ARGUMENT, "the same sweeps with a known mass");
  /* another pose of the others: joint 2 is swept while joint 3 stands elsewhere */
  track *elsewhere = motor_track(a, 0.01);
  for (long k = 0; k < elsewhere->rows; k++) elsewhere->q[3 * k + 2] += 0.002;
  shelf_write(&logs, PSDM_STEP_MOTOR, &loaded, elsewhere, &g);
  o = steps_options(&logs, true);
  refused(asked, &o, PSDM_E_ARGUMENT, "joint 'j1' is swept with a mass in a pose that no log without the mass has");
  o.logs = 1, o.log = &logs.log[1];
  refused(asked, &o, PSDM_E_ARGUMENT, "the same sweeps without a known mass");
  shelf_write(&logs, PSDM_STEP_MOTOR, &torques, motor_track(a, 0.01), &g);
  const psdm_steps_log mixed[] = {logs.log[0], logs.log[2]};
  o.logs = 2, o.log = mixed;
  refused(asked, &o, PSDM_E_PARSE, "some of the step's logs have currents, others torques");
  /* there, but not back at a sweep's constant speed */
  track *once = track_new(3, 0.01), *back = track_new(3, 0.01);
  double home[WIDE] = {-1, 0.15, 0.4};
  for (int k = 0; k < 2; k++) {
    track *t = k ? back : once;
    memcpy(t->at, home, sizeof t->at);
    track_hold(t, 1);
    track_sweep(t, 0, 1, 0.3);
    track_hold(t, 1);
    track_move(t, home, 2);
    track_hold(t, 1);
  }
  shelf_clear(&logs);
  shelf_write(&logs, PSDM_STEP_MOTOR, &r, once, &g);
  shelf_write(&logs, PSDM_STEP_MOTOR, &loaded, back, &g);
  o = steps_options(&logs, true);
  refused(asked, &o, PSDM_E_ARGUMENT, "joint 'j1' is swept in one direction only");
  shelf_clear(&logs);
  /* no sweep at all */
  shelf_write(&logs, PSDM_STEP_MOTOR, &r, inertia_track(a, 0.01, 10, &g), &g);
  shelf_write(&logs, PSDM_STEP_MOTOR, &loaded, inertia_track(a, 0.01, 10, &g), &g);
  o = steps_options(&logs, true);
  refused(asked, &o, PSDM_E_ARGUMENT, "no torque constant can be found");
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

TEST(gravity_logs_need_a_turn) {
  rng g = rng_start("gravity_logs_need_a_turn");
  const arm *a = &arms[0];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.motors = true}),
             *dumb = arm_robot(a, (told){.inertias = false});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction};
  shelf_write(&logs, PSDM_STEP_GRAVITY, &r, inertia_track(a, 0.01, 20, &g), &g);
  psdm_steps_options o = steps_options(&logs, true);
  refused(asked, &o, PSDM_E_ARGUMENT, "a slow path, and the same path back, were expected");
  shelf_clear(&logs);
  shelf_write(&logs, PSDM_STEP_GRAVITY, &r, gravity_track(a, 0.01, 20), &g);
  o = steps_options(&logs, true);
  refused(dumb, &o, PSDM_E_ARGUMENT, "no row is left to fit"); /* no torque constant is known */
  psdm_robot_free(truth), psdm_robot_free(asked), psdm_robot_free(dumb);
  shelf_clear(&logs);
}

/* two paths in one log, one of them with a rest at its turn, and another motion between them */
TEST(several_paths) {
  rng g = rng_start("several_paths");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.motors = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .rates = true};
  track *t = gravity_track(a, 0.01, 21);
  double far[WIDE] = {1, -1}, size[WIDE] = {-0.8, 0.7}, frequency[WIDE] = {0.06, 0.045};
  track_hold(t, 1);
  track_move(t, far, 2);
  track_hold(t, 1.3);
  track_there_and_back(t, size, frequency, 17);
  track_hold(t, 0.7);
  shelf_write(&logs, PSDM_STEP_GRAVITY, &r, t, &g);
  psdm_steps_options o = steps_options(&logs, false);
  psdm_steps *s = run_steps(asked, &o);
  worst w = compare(s, a, truth);
  print_message("gravity within %.1e from %ld rows\n", w.gravity, s->step[PSDM_STEP_GRAVITY].rows);
  assert_true(w.gravity < 1e-6 && s->step[PSDM_STEP_GRAVITY].rows > 3000 && s->remark[0][0] == 0);
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

static bool any_row(void *user, const psdm_steps_row *row) {
  ++*(long *)user;
  return row->step == PSDM_STEP_GRAVITY;
}

/* most of a log is not a path there and back: reported once, however often its rows are read */
TEST(mostly_something_else) {
  rng g = rng_start("mostly_something_else");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.motors = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .rates = true};
  const double corner[3][WIDE] = {{1, -1}, {-0.5, 0.3}, {0.2, 1}};
  track *t = gravity_track(a, 0.01, 10);
  for (int k = 0; k < 9; k++) track_hold(t, 0.5), track_move(t, corner[k % 3], 6);
  shelf_write(&logs, PSDM_STEP_GRAVITY, &r, t, &g);
  psdm_steps_options o = steps_options(&logs, false);
  psdm_steps *s = run_steps(asked, &o);
  assert_true(strstr(s->remark[0], "of the motion in") && s->remark[1][0] == 0);
  for (int k = 0; k < 2; k++) {
    long rows = 0;
    assert_int_equal(psdm_steps_predict(s, any_row, &rows, NULL), PSDM_OK);
    assert_true(rows > 100 && s->remark[0][0] && s->remark[1][0] == 0);
  }
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

/* friction needs gravity; and earlier results must belong to this robot */
TEST(missing_results_are_refused) {
  rng g = rng_start("missing_results_are_refused");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.motors = true}),
             *other = arm_robot(&arms[0], (told){.motors = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction};
  make_logs(&logs, GRAVITY | FRICTION, a, r, 0.01, &g);
  psdm_steps_options o = {.logs = 1, .log = &logs.log[1]};
  refused(asked, &o, PSDM_E_MISSING, "a parameter of its gravity is not known");
  o.log = &logs.log[0];
  psdm_steps *s = run_steps(asked, &o);
  psdm_parameters *before;
  assert_int_equal(psdm_parameters_from_steps(s, NULL, &before, NULL), PSDM_OK);
  o.before = before;
  refused(other, &o, PSDM_E_ROBOT, "other kinematics");
  psdm_parameters_free(before);
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked), psdm_robot_free(other);
  shelf_clear(&logs);
}

/* ---- stops ---- */

typedef struct stopping {
  long calls, stop;
  int finished, stop_finished;
  double last;
} stopping;

static bool go_on(void *user, const char *doing, double share) {
  stopping *s = user;
  assert_true(doing[0] && share <= 1);
  return ++s->calls != s->stop;
}

static bool was_finished(void *user, const psdm_steps *steps, psdm_step step) {
  stopping *s = user;
  assert_true(steps->step[step].done && (int)step >= s->finished);
  s->finished = (int)step + 1;
  return s->finished != s->stop_finished;
}

TEST(stopped) {
  rng g = rng_start("stopped");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.friction = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.1};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, r, 0.02, &g);
  stopping whole = {0};
  psdm_steps_options o = steps_options(&logs, true);
  o.progress = go_on, o.finished = was_finished, o.progress_user = o.finished_user = &whole;
  psdm_steps *s = run_steps(asked, &o);
  assert_true(!s->stopped && whole.finished == PSDM_STEPS && whole.calls > 10);
  psdm_steps_free(s);
  int kept[PSDM_STEPS + 1] = {0};
  for (long stop = 1; stop <= whole.calls; stop++) {
    stopping at = {.stop = stop};
    o.progress_user = o.finished_user = &at;
    s = run_steps(asked, &o);
    assert_true(s->stopped && at.calls == stop);
    /* the finished steps are there, and nothing else */
    assert_true(s->step[PSDM_STEP_MOTOR].done == (at.finished > PSDM_STEP_MOTOR) &&
                s->step[PSDM_STEP_GRAVITY].done == (at.finished > PSDM_STEP_GRAVITY));
    assert_int_equal(s->torque_constant_from[0], at.finished ? PSDM_FROM_LOG : PSDM_FROM_NOTHING);
    kept[at.finished]++;
    psdm_steps_free(s);
  }
  assert_true(kept[0] && kept[PSDM_STEP_MOTOR + 1] && kept[PSDM_STEP_GRAVITY + 1]);
  stopping first = {.stop_finished = 1};
  o.progress_user = o.finished_user = &first;
  s = run_steps(asked, &o);
  assert_true(s->stopped && s->step[PSDM_STEP_MOTOR].done && !s->step[PSDM_STEP_GRAVITY].done &&
              isnan(s->theta[1].value));
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

TEST_MAIN(wrong_options_are_refused, wrong_motor_logs_are_refused, gravity_logs_need_a_turn, several_paths,
          mostly_something_else, missing_results_are_refused, stopped)
