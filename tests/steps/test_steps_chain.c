/* test_steps_chain.c: all four steps one after the other, friction included: at once, and resumed. */
#include "test_steps_arms.h"

#include "psdm/parameters.h"

/* ---- steps alone, one after the other ---- */

static psdm_parameters *parameters_of(const psdm_steps *s) {
  psdm_parameters *p;
  psdm_error error;
  if (psdm_parameters_from_steps(s, NULL, &p, &error)) fail_msg("%s", error.text);
  return p;
}

/* four runs that pass on their results equal one run, to the last bit */
static void resumed(void **state) {
  (void)state;
  rng g = rng_start("resumed");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.inertias = false});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.2, .step = 5e-7};
  make_logs(&logs, MOTOR | GRAVITY | FRICTION | INERTIA, a, r, 0.002, &g);
  psdm_steps_options o = steps_options(&logs, true);
  psdm_steps *whole = run_steps(asked, &o), *s = NULL;
  psdm_parameters *before = NULL;
  static const int first[] = {0, 3, 4, 5}, count[] = {3, 1, 1, 1};
  for (int k = 0; k < PSDM_STEPS; k++) {
    psdm_steps_free(s);
    o.log = logs.log + first[k], o.logs = count[k], o.before = before;
    s = run_steps(asked, &o);
    psdm_parameters_free(before);
    before = parameters_of(s);
    assert_int_equal(before->steps, (1u << (k + 1)) - 1);
    for (int i = 0; i < PSDM_STEPS; i++) assert_true(s->step[i].done == (i == k) && s->step[i].from_before == (i < k));
    assert_int_equal(s->torque_constant_from[0], k ? PSDM_FROM_BEFORE : PSDM_FROM_LOG);
  }
  assert_int_equal(whole->numbers, s->numbers);
  for (int i = 0; i < s->n; i++) assert_true(whole->torque_constant[i] == s->torque_constant[i]);
  for (int j = 0; j < s->base; j++)
    assert_true(whole->theta[j].value == s->theta[j].value && whole->theta[j].sd == s->theta[j].sd);
  for (int d = 0; d < s->n; d++)
    assert_true(whole->friction[d].sigma0 == s->friction[d].sigma0 &&
                whole->friction[d].coulomb == s->friction[d].coulomb);
  for (long k = 0; k < (long)s->numbers * s->numbers; k++) assert_true(whole->covariance[k] == s->covariance[k]);
  /* motors once more: results found with the old constants stay, and a remark says so */
  psdm_steps_free(s);
  o.log = logs.log, o.logs = 3, o.before = before;
  s = run_steps(asked, &o);
  assert_true(remarked(s, "run it again") && s->step[PSDM_STEP_INERTIA].from_before &&
              s->theta[0].value == whole->theta[0].value);
  assert_true(s->covariance[s->n] == 0); /* a new constant has nothing to do with the old theta */
  psdm_steps_free(s), psdm_steps_free(whole);
  psdm_parameters_free(before);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

/* ---- friction ---- */

/* the whole chain with noise: curves of friction, and how the pieces fit together */
static void whole_chain(void **state) {
  (void)state;
  rng g = rng_start("whole_chain");
  const arm *a = &arms[1]; /* behind a transmission */
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}), *asked = arm_robot(a, (told){.inertias = false});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.1, .step = 5e-7};
  make_logs(&logs, MOTOR | GRAVITY | FRICTION | INERTIA, a, r, 0.002, &g);
  psdm_steps_options o = steps_options(&logs, true);
  psdm_steps *s = run_steps(asked, &o);
  double worst_curve = 0, M[4], *pi = must(malloc((size_t)psdm_robot_parameter_count(truth) * sizeof *pi));
  psdm_work *work;
  assert_int_equal(psdm_work_new(truth, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_mass(truth, work, middle, M), PSDM_OK);
  for (int d = 0; d < s->n; d++) {
    assert_true(s->friction_from[d] == PSDM_FROM_LOG && s->friction[d].given && s->speed[d] > 1);
    assert_true(s->step[PSDM_STEP_FRICTION].heldout[d].r2 > 0.999 && s->all[d].r2 > 0.999);
    for (double v = 1e-3; v < s->speed[d]; v *= 1.3) {
      double true_torque = psdm_friction_steady(&a->friction[d], PSDM_FRICTION_LUGRE, v);
      worst_curve =
          fmax(worst_curve, relative(psdm_friction_steady(&s->friction[d], PSDM_FRICTION_LUGRE, v), true_torque, 0));
    }
  }
  print_message("steady friction within %.2f %%, inertia of drive 1 %.4f, of drive 2 %.4f\n", 100 * worst_curve,
                s->effective_inertia[0], s->effective_inertia[1]);
  assert_true(worst_curve < 0.01);
  /* joint 1 alone: T^T M e_1 of its drive, q2 standing: M11 - M21; joint 2 alone moves drive 2 alone */
  assert_true(fabs(s->effective_inertia[0] - (M[0] - M[2])) < 0.01 && fabs(s->effective_inertia[1] - M[3]) < 0.01);
  worst w = compare(s, a, truth);
  assert_true(w.constant < 3e-3 && w.gravity < 3e-3 && w.other < 3e-3);
  free(pi);
  psdm_work_free(work, NULL);
  psdm_steps_free(s);
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(resumed), cmocka_unit_test(whole_chain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
