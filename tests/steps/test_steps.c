/* test_steps.c: arms whose truth is known: exact logs give exact answers, tools are subtracted, and parameters that do
 * not show are reported. */
#include "test_steps_arms.h"

#include "psdm/parameters.h"

/* ---- exact answers ---- */

/* friction from the file. Constants: rounding and cubic interpolation. Gravity: bristles lag behind a changing speed,
 * which makes them not odd in it, by some 1e-9 of the torque. The rest: the simulated friction is exact to some 1e-5 of
 * itself (lugre_fit.h). */
static void exact_logs(void **state) {
  (void)state;
  rng g = rng_start("exact_logs");
  for (int k = 0; k < ARMS; k++) {
    const arm *a = &arms[k];
    shelf logs = {.logs = 0};
    psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.friction = true});
    /* along a prismatic joint at constant speed the current stands still to the last bit, and a log takes that for a
     * frozen channel */
    recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .rates = true, .noise = 1e-8};
    make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, r, 0.005, &g);
    psdm_steps_options o = steps_options(&logs, false);
    psdm_steps *s = run_steps(asked, &o);
    worst w = compare(s, a, truth);
    print_message("%s: constants %.1e, gravity %.1e, others %.1e\n", a->name, w.constant, w.gravity, w.other);
    assert_true(w.constant < 1e-8 && w.gravity < 1e-7 && w.other < 2e-6);
    for (int d = 0; d < s->n; d++) {
      assert_true(s->torque_constant_from[d] == PSDM_FROM_LOG && s->friction_from[d] == PSDM_FROM_FILE);
      assert_true(s->all[d].r2 > 1 - 1e-8 && s->step[PSDM_STEP_MOTOR].heldout[d].r2 > 1 - 1e-12);
    }
    for (int j = 0; j < s->base; j++) assert_int_equal(s->theta_from[j], PSDM_FROM_LOG);
    assert_true(s->step[PSDM_STEP_MOTOR].done && !s->step[PSDM_STEP_FRICTION].done && s->currents && !s->stopped &&
                s->rate > 199 && s->rate < 201);
    assert_true(s->step[PSDM_STEP_GRAVITY].condition >= 1 && s->step[PSDM_STEP_INERTIA].rows > 1000);
    psdm_steps_free(s);
    psdm_robot_free(truth), psdm_robot_free(asked);
    shelf_clear(&logs);
  }
}

/* torques in place of currents: the constants are factors, wrong by a tenth like the sensor */
static void torque_logs(void **state) {
  (void)state;
  rng g = rng_start("torque_logs");
  for (int k = 0; k < 2; k++) {
    const arm *a = &arms[k];
    shelf logs = {.logs = 0};
    psdm_robot *truth = arm_robot(a, (told){.inertias = true}),
               *asked = arm_robot(a, (told){.friction = true, .motors = true});
    recorder r = {.robot = truth, .friction = a->friction, .rates = true};
    make_logs(&logs, MOTOR | GRAVITY, a, r, 0.005, &g);
    psdm_steps_options o = steps_options(&logs, false);
    psdm_steps *s = run_steps(asked, &o);
    for (int d = 0; d < s->n; d++) assert_true(fabs(s->torque_constant[d] - 1) < 1e-8);
    assert_true(!s->currents && remarked(s, "torques, not currents"));
    psdm_steps_free(s);
    /* gravity alone: torques are used unscaled, whatever the file's torque constants */
    o.logs = 1, o.log = &logs.log[3];
    s = run_steps(asked, &o);
    worst w = compare(s, &(arm){.constant = {1, 1, 1}}, truth);
    assert_true(w.constant == 0 && w.gravity < 1e-7);
    psdm_steps_free(s);
    psdm_robot_free(truth), psdm_robot_free(asked);
    shelf_clear(&logs);
  }
}

/* default filters and a 5e-7 rad encoder, no noise: the effect of the sweeps' ends, 0.5 s away, and of differences (2
 * ms) of motions of some 10 rad/s */
static void filtered_logs(void **state) {
  (void)state;
  rng g = rng_start("filtered_logs");
  const arm *a = &arms[0];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.friction = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .step = 5e-7};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, r, 0.002, &g);
  psdm_steps_options o = steps_options(&logs, true);
  psdm_steps *s = run_steps(asked, &o);
  worst w = compare(s, a, truth);
  print_message("constants %.1e, gravity %.1e, others %.1e\n", w.constant, w.gravity, w.other);
  assert_true(w.constant < 1e-4 && w.gravity < 1e-4 && w.other < 1e-3);
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

/* ---- the known tool ---- */

/* the arm with a tool that its file knows is the arm without it */
static void tool_is_subtracted(void **state) {
  (void)state;
  static const char tool[] =
      "tool: {mass: 1.2, com: [0.02, -0.03, 0.08], inertia: {xx: 0.004, yy: 0.005, zz: 0.003, xy: 0.0002}}\n";
  for (int k = 0; k < 2; k++) {
    rng g = rng_start("tool_is_subtracted"), same = g;
    const arm *a = &arms[k];
    shelf logs = {.logs = 0}, bare = {.logs = 0};
    psdm_robot *arm_alone = arm_robot(a, (told){.inertias = true}),
               *carrying = arm_robot(a, (told){.inertias = true, .more = tool});
    psdm_robot *asked = arm_robot(a, (told){.friction = true}),
               *asked_tool = arm_robot(a, (told){.friction = true, .more = tool});
    recorder with = {.robot = carrying, .constant = a->constant, .friction = a->friction, .rates = true},
             without = with;
    without.robot = arm_alone;
    make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, with, 0.005, &g);
    make_logs(&bare, MOTOR | GRAVITY | INERTIA, a, without, 0.005, &same);
    psdm_steps_options o = steps_options(&logs, false), p = steps_options(&bare, false);
    psdm_steps *s = run_steps(asked_tool, &o), *t = run_steps(asked, &p);
    worst w = compare(s, a, arm_alone);
    print_message("%s with its tool: constants %.1e, gravity %.1e, others %.1e\n", a->name, w.constant, w.gravity,
                  w.other);
    assert_true(w.constant < 1e-8 && w.gravity < 1e-7 && w.other < 2e-6);
    for (int j = 0; j < s->base; j++) assert_true(relative(s->theta[j].value, t->theta[j].value, 0.1) < 1e-5);
    assert_true(s->tool && s->tool[0] == 1.2 && !t->tool);
    psdm_steps_free(s), psdm_steps_free(t);
    psdm_robot_free(arm_alone), psdm_robot_free(carrying), psdm_robot_free(asked), psdm_robot_free(asked_tool);
    shelf_clear(&logs), shelf_clear(&bare);
  }
}

/* ---- parameters that do not show ---- */

/* a first axis along gravity: no mass shows there. The file's constant, or none */
static void unobservable_constant(void **state) {
  (void)state;
  rng g = rng_start("unobservable_constant");
  arm a = arms[0];
  a.head = "gravity: [0, 0, -9.81]\n";
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(&a, (told){.inertias = true}),
             *with = arm_robot(&a, (told){.friction = true, .motors = true}),
             *without = arm_robot(&a, (told){.friction = true});
  recorder r = {.robot = truth, .constant = a.constant, .friction = a.friction, .rates = true, .noise = 0.01};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA, &a, r, 0.005, &g);
  psdm_steps_options o = steps_options(&logs, false);
  psdm_steps *s = run_steps(with, &o);
  assert_true(s->torque_constant[0] == a.constant[0] && s->sd[0] == 0 && s->torque_constant_from[0] == PSDM_FROM_FILE &&
              s->torque_constant_from[1] == PSDM_FROM_LOG);
  assert_true(remarked(s, "torque constant of 'j1' is unobservable") && s->step[PSDM_STEP_MOTOR].heldout[0].rows == 0 &&
              s->all[0].r2 > 0.999);
  worst w = compare(s, &a, truth);
  assert_true(w.gravity < 1e-2 && w.other < 1e-2);
  psdm_steps_free(s);
  /* its rows are omitted: its own drive inertia, which is part of the first base parameter, does not show */
  s = run_steps(without, &o);
  assert_true(isnan(s->torque_constant[0]) && isinf(s->sd[0]) && s->torque_constant_from[0] == PSDM_FROM_NOTHING &&
              s->all[0].rows == 0 && s->all[1].rows > 0);
  assert_true(isnan(s->theta[0].value) && isinf(s->theta[0].sd) && s->theta_from[0] == PSDM_FROM_NOTHING &&
              remarked(s, "does not distinguish"));
  for (long k = 0; k < (long)s->numbers * s->numbers; k++) assert_true(isfinite(s->covariance[k]));
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(with), psdm_robot_free(without);
  shelf_clear(&logs);
}

/* behind a prismatic joint first moments act alike under gravity: only the inertia step tells them apart */
static void gravity_shows_sums_only(void **state) {
  (void)state;
  rng g = rng_start("gravity_shows_sums_only");
  arm a = arms[2];
  a.joint[0] = "type: revolute, a: 0.2, alpha: pi/2", a.joint[1] = "type: prismatic, d: 0.3, alpha: pi/2";
  a.constant[0] = 20, a.constant[1] = 90;
  a.friction[0] = arms[2].friction[1], a.friction[1] = arms[2].friction[0];
  a.low[0] = -1.2, a.high[0] = 1.2, a.low[1] = -0.3, a.high[1] = 0.3, a.speed[0] = 0.3, a.speed[1] = 0.08;
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(&a, (told){.inertias = true}),
             *asked = arm_robot(&a, (told){.friction = true, .motors = true});
  recorder r = {.robot = truth, .constant = a.constant, .friction = a.friction, .rates = true, .noise = 1e-6};
  make_logs(&logs, GRAVITY | INERTIA, &a, r, 0.005, &g);
  psdm_steps_options o = steps_options(&logs, false);
  o.logs = 1;
  psdm_steps *s = run_steps(asked, &o);
  int unknown = 0;
  for (int j = 0; j < s->base; j++) unknown += s->gravity[j] && isnan(s->theta[j].value) && isinf(s->theta[j].sd);
  assert_true(unknown == 4 && remarked(s, "do not distinguish mx1, mz1, mx2, my2") &&
              s->step[PSDM_STEP_GRAVITY].heldout[1].r2 > 0.99);
  psdm_steps_free(s);
  o.logs = 2;
  s = run_steps(asked, &o);
  worst w = compare(s, &a, truth);
  print_message("gravity %.1e, others %.1e\n", w.gravity, w.other);
  assert_true(w.gravity < 1e-5 && w.other < 1e-5);
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

/* a file that declares zeros: fewer numbers, the same truth; and the zeros have no uncertainty */
static void assumptions(void **state) {
  (void)state;
  rng g = rng_start("assumptions");
  arm a = arms[0];
  a.link[2] = "{mass: 2, com: [-0.05, 0, 0.06], inertia: {xx: 0.015, yy: 0.02, zz: 0.012}}";
  shelf logs = {.logs = 0};
  static const char assumed[] = "assume: [ry3 = 0, Ixy3 = 0, Ixz3 = 0, Iyz3 = 0]\n";
  psdm_robot *truth = arm_robot(&a, (told){.inertias = true}),
             *asked = arm_robot(&a, (told){.friction = true, .motors = true, .more = assumed});
  psdm_robot *plain = arm_robot(&a, (told){.friction = true, .motors = true});
  recorder r = {.robot = truth, .constant = a.constant, .friction = a.friction, .rates = true, .noise = 0.01};
  make_logs(&logs, GRAVITY | INERTIA, &a, r, 0.005, &g);
  psdm_steps_options o = steps_options(&logs, false);
  psdm_steps *s = run_steps(asked, &o), *t = run_steps(plain, &o);
  assert_true(remarked(s, "4 assumptions") && s->base == t->base);
  worst w = compare(s, &a, truth), v = compare(t, &a, truth);
  print_message("assumed: gravity %.1e, others %.1e; not: %.1e, %.1e\n", w.gravity, w.other, v.gravity, v.other);
  assert_true(w.gravity < 1e-3 && w.other < 1e-2);
  bool zero = false;
  for (int j = 0; j < s->base; j++) {
    if (strcmp(s->theta[j].name, "XY3") == 0)
      zero = fabs(s->theta[j].value) < 1e-12 && s->theta[j].sd < 1e-12 && t->theta[j].sd > 1e-7;
    assert_true(s->theta[j].sd < 1.5 * t->theta[j].sd);
  }
  assert_true(zero);
  psdm_steps_free(s), psdm_steps_free(t);
  psdm_robot_free(truth), psdm_robot_free(asked), psdm_robot_free(plain);
  shelf_clear(&logs);
}

/* ---- rows once more ---- */

typedef struct tally {
  double error[PSDM_STEPS][2][WIDE];
  long rows[PSDM_STEPS][2][WIDE], all, stop;
} tally;

static bool count_row(void *user, const psdm_steps_row *row) {
  tally *t = user;
  assert_true(isfinite(row->t) && isfinite(row->q) && isfinite(row->qd) && isfinite(row->measured));
  t->error[row->step][row->heldout][row->drive] += (row->measured - row->predicted) * (row->measured - row->predicted);
  t->rows[row->step][row->heldout][row->drive]++;
  return ++t->all != t->stop;
}

static void predicted_rows(void **state) {
  (void)state;
  rng g = rng_start("predicted_rows");
  const arm *a = &arms[2];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.friction = true});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.1};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, r, 0.005, &g);
  psdm_steps_options o = steps_options(&logs, true);
  psdm_steps *s = run_steps(asked, &o);
  tally t = {.all = 0}, few = {.stop = 10};
  psdm_error error;
  assert_int_equal(psdm_steps_predict(s, count_row, &t, &error), PSDM_OK);
  for (int k = 0; k < PSDM_STEPS; k++)
    for (int d = 0; d < s->n; d++) {
      const psdm_joint_fit *fit[] = {&s->step[k].train[d], &s->step[k].heldout[d]};
      for (int held = 0; held < 2; held++) {
        assert_int_equal(t.rows[k][held][d], fit[held]->rows);
        if (fit[held]->rows)
          assert_true(relative(sqrt(t.error[k][held][d] / (double)fit[held]->rows), fit[held]->rmse, 1e-12) < 1e-9);
      }
      if (s->step[k].done)
        assert_true(fabs((double)fit[1]->rows / (double)(fit[0]->rows + fit[1]->rows) - 0.15) < 0.08);
    }
  assert_int_equal(psdm_steps_predict(s, count_row, &few, &error), PSDM_OK);
  assert_int_equal(few.all, 10);
  assert_null(psdm_steps_fault(s, 0));
  psdm_steps_free(s);
  /* nothing is held out */
  o.holdout = -1;
  s = run_steps(asked, &o);
  for (int d = 0; d < s->n; d++) assert_true(s->step[PSDM_STEP_INERTIA].heldout[d].rows == 0 && isnan(s->all[d].rmse));
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_logs),
      cmocka_unit_test(torque_logs),
      cmocka_unit_test(filtered_logs),
      cmocka_unit_test(tool_is_subtracted),
      cmocka_unit_test(unobservable_constant),
      cmocka_unit_test(gravity_shows_sums_only),
      cmocka_unit_test(assumptions),
      cmocka_unit_test(predicted_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
