/* Names, sizes and options of the evaluation table, against its functions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "psdm/friction.h"

static void test_names(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("kuka_kr6");
  char name[32];
  assert_int_equal(psdm_eval_inputs(robot, PSDM_F_INVERSE), 18);
  assert_int_equal(psdm_eval_inputs(robot, PSDM_F_MASS), 6);
  assert_string_equal(psdm_eval_input_name(robot, PSDM_F_INVERSE, 0, name, sizeof name), "q1");
  assert_string_equal(psdm_eval_input_name(robot, PSDM_F_INVERSE, 11, name, sizeof name), "qd6");
  assert_string_equal(psdm_eval_input_name(robot, PSDM_F_FORWARD, 12, name, sizeof name), "tau1");
  assert_string_equal(psdm_eval_input_name(robot, PSDM_F_FORWARD, 18, name, sizeof name), "");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_MASS, NULL, 7, name, sizeof name), "M2_2");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_REGRESSOR, NULL, 61, name, sizeof name), "Y2_2");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_POSE, NULL, 2, name, sizeof name), "z");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_POSE, NULL, 11, name, sizeof name), "R3_3");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_JACOBIAN, NULL, 35, name, sizeof name), "J6_6");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_ENERGY, NULL, 1, name, sizeof name), "U");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_LINEARIZE_INVERSE, NULL, 0, name, sizeof name), "dtau_dq1_1");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_LINEARIZE_INVERSE, NULL, 37, name, sizeof name),
                      "dtau_dqd1_2");
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_LINEARIZE_FORWARD, NULL, 107, name, sizeof name), "Minv6_6");
  psdm_eval_options motor = {.motor = true};
  assert_string_equal(psdm_eval_output_name(robot, PSDM_F_INVERSE, &motor, 0, name, sizeof name), "taum1");
  psdm_function f;
  for (int i = 0; i < PSDM_FUNCTION_COUNT; i++) {
    assert_true(psdm_function_find(psdm_function_name((psdm_function)i), &f));
    assert_int_equal(f, i);
    assert_true(psdm_eval_outputs(robot, f, NULL) > 0);
  }
  assert_false(psdm_function_find("invers", &f));
  /* a function out of range has no name, no inputs and no outputs; a buffer of zero bytes is not touched */
  const psdm_function none = PSDM_FUNCTION_COUNT;
  assert_true(!psdm_function_name(none) && !psdm_function_inputs(none) && !psdm_function_help(none));
  assert_true(psdm_function_help(PSDM_F_MASS) && strlen(psdm_function_help(PSDM_F_MASS)) > 4);
  assert_int_equal(psdm_eval_inputs(robot, none), 0);
  assert_int_equal(psdm_eval_outputs(robot, none, NULL), 0);
  for (int index = -1; index < 37; index += 37) {
    assert_string_equal(psdm_eval_input_name(robot, PSDM_F_MASS, index, name, sizeof name), "");
    assert_string_equal(psdm_eval_output_name(robot, PSDM_F_MASS, NULL, index, name, sizeof name), "");
  }
  name[0] = 'x';
  psdm_eval_input_name(robot, PSDM_F_MASS, 0, name, 0);
  psdm_eval_output_name(robot, PSDM_F_MASS, NULL, 0, name, 0);
  assert_int_equal(name[0], 'x');
  psdm_robot_free(robot);
}

/* friction, wrenches and the motor side have the documented effect, and forward undoes inverse with all of them on */
static void test_options(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot(
      "{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2, gear: 50, friction: {coulomb: 2, viscous: 1.5}},"
      "{name: b, a: 0.3, gear: 20, friction: {coulomb: 1, static: 1.4, stribeck: 0.1, viscous: 0.8, exponent: 0.7, "
      "offset: 0.2}}],"
      "links: [{mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.01, yy: 0.06, zz: 0.05}}, {mass: 2, com: [-0.15, 0, "
      "0.03], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}]}");
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_wrench wrench = {1, {3, -2, 5}, {0.1, 0.2, -0.3}};
  psdm_eval_options options = {.friction = true, .wrench_count = 1, .wrenches = &wrench};
  double in[6] = {0.4, -0.9, 1, -0.6, 2, -3}, plain[2], full[2], friction[2], outside[2], motor[2], load[6], qdd[2];
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, NULL, in, plain), PSDM_OK);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, full), PSDM_OK);
  psdm_friction_torque(robot, in + 2, friction);
  assert_true(friction[0] == 2 + 1.5 && friction[1] < -1.3 && friction[1] > -1.4);
  assert_int_equal(psdm_wrench_torque(robot, work, in, 1, &wrench, outside), PSDM_OK);
  for (int i = 0; i < 2; i++) assert_true(fabs(full[i] - (plain[i] + friction[i] - outside[i])) < 1e-14);
  memcpy(load, in, 4 * sizeof *load);
  memcpy(load + 4, full, 2 * sizeof *load);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_FORWARD, &options, load, qdd), PSDM_OK);
  assert_true(max_difference(qdd, in + 4, 2) < 1e-13);
  options.motor = true;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, motor), PSDM_OK);
  assert_true(fabs(motor[0] - full[0] / 50) < 1e-15 && fabs(motor[1] - full[1] / 20) < 1e-15);
  wrench.joint = 7;
  assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, motor), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_eval(robot, work, PSDM_FUNCTION_COUNT, NULL, in, motor), PSDM_E_ARGUMENT);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* every function through the derived model, against the recursions; the base regressor both ways */
static void test_expanded(void **unused) {
  (void)unused;
  static const char *const names[] = {"fanuc_sr6ia", "kuka_kr6", "parallelogram", "hitachi_hpr", "puma560"};
  static const psdm_function functions[] = {PSDM_F_INVERSE, PSDM_F_FORWARD, PSDM_F_MASS,
                                            PSDM_F_BIAS,    PSDM_F_GRAVITY, PSDM_F_REGRESSOR};
  for (int k = 0; k < 5; k++) {
    psdm_robot *robot = load_shipped(names[k]);
    psdm_model *model;
    psdm_work *work;
    assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    double pi[100], theta[60], in[18], a[400], b[400],
        *scratch = calloc(psdm_eval_scratch(robot, model), sizeof *scratch);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(model, pi, theta);
    for (int i = 0; i < 18; i++) in[i] = sin(i + 1.0);
    psdm_eval_options options = {.model = model, .theta = theta, .scratch = scratch};
    for (int f = 0; f < 6; f++) {
      int count = psdm_eval_outputs(robot, functions[f], &options);
      options.expanded = false;
      assert_int_equal(psdm_eval(robot, work, functions[f], &options, in, a), PSDM_OK);
      options.expanded = true;
      assert_int_equal(psdm_eval(robot, work, functions[f], &options, in, b), PSDM_OK);
      /* forward: the two differ by the mass matrix's condition, some 1e3 here */
      assert_true(max_difference(a, b, count) <=
                  (functions[f] == PSDM_F_FORWARD ? 1e-9 : 1e-12) * max_absolute(a, count));
    }
    psdm_robot *other = load_shipped("two_link");
    assert_int_equal(psdm_eval(other, work, PSDM_F_INVERSE, &options, in, b), PSDM_E_ROBOT);
    psdm_robot_free(other);
    options.theta = NULL;
    assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, b), PSDM_E_ARGUMENT);
    options.theta = theta, options.model = NULL;
    assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, b), PSDM_E_ARGUMENT);
    options.model = model, options.scratch = NULL;
    assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &options, in, b), PSDM_E_ARGUMENT);
    free(scratch);
    psdm_work_free(work, NULL);
    psdm_model_free(model);
    psdm_robot_free(robot);
  }
}

/* the linearizations are the library's, and refuse to work without their scratch */
static void test_linearizations(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("puma560");
  psdm_work *work;
  psdm_linear *linear;
  double in[18], out[108], by_q[36], by_qd[36], mass[36];
  for (int i = 0; i < 18; i++) in[i] = cos(i + 2.0);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  psdm_eval_options options = {.linear = linear};
  assert_int_equal(psdm_eval_outputs(robot, PSDM_F_LINEARIZE_INVERSE, NULL), 108);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_LINEARIZE_INVERSE, NULL, in, out), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_LINEARIZE_INVERSE, &options, in, out), PSDM_OK);
  assert_int_equal(psdm_linearize_inverse(robot, linear, in, in + 6, in + 12, by_q, by_qd, mass), PSDM_OK);
  assert_memory_equal(out, by_q, sizeof by_q);
  assert_memory_equal(out + 36, by_qd, sizeof by_qd);
  assert_memory_equal(out + 72, mass, sizeof mass);
  assert_int_equal(psdm_eval(robot, work, PSDM_F_LINEARIZE_FORWARD, &options, in, out), PSDM_OK);
  assert_int_equal(psdm_linearize_forward(robot, linear, in, in + 6, in + 12, by_q, by_qd, mass), PSDM_OK);
  assert_memory_equal(out, by_q, sizeof by_q);
  assert_memory_equal(out + 36, by_qd, sizeof by_qd);
  assert_memory_equal(out + 72, mass, sizeof mass);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* with friction: the derivative by qd of eval's own result with friction, by central differences */
static void test_linearized_friction(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("{convention: dh, joints: [{name: a, a: 0.4, alpha: pi/2, friction: {coulomb: 2, viscous: 1.5}},"
                  "{name: b, a: 0.3, friction: {coulomb: 1, static: 1.4, stribeck: 0.6, viscous: 0.8, exponent: 0.7, "
                  "offset: 0.2}}],"
                  "links: [{mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.01, yy: 0.06, zz: 0.05}}, {mass: 2, com: "
                  "[-0.15, 0, 0.03], inertia: {xx: 0.01, yy: 0.03, zz: 0.03}}]}");
  psdm_work *work;
  psdm_linear *linear;
  static const psdm_function plain[2] = {PSDM_F_INVERSE, PSDM_F_FORWARD},
                             slopes[2] = {PSDM_F_LINEARIZE_INVERSE, PSDM_F_LINEARIZE_FORWARD};
  double in[6], out[12], plus[2], minus[2], slope[2];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  psdm_eval_options options = {.linear = linear, .friction = true};
  for (int trial = 0; trial < 40; trial++) {
    int f = trial % 2;
    for (int i = 0; i < 6; i++) in[i] = sin(2.3 * i + trial) + 0.01;
    assert_int_equal(psdm_eval(robot, work, slopes[f], &options, in, out), PSDM_OK);
    for (int j = 0; j < 2; j++) {
      double keep = in[2 + j], h = 1e-5 * fabs(keep);
      in[2 + j] = keep + h;
      assert_int_equal(psdm_eval(robot, work, plain[f], &options, in, plus), PSDM_OK);
      in[2 + j] = keep - h;
      assert_int_equal(psdm_eval(robot, work, plain[f], &options, in, minus), PSDM_OK);
      in[2 + j] = keep;
      for (int i = 0; i < 2; i++)
        assert_true(fabs((plus[i] - minus[i]) / (2 * h) - out[4 + 2 * i + j]) < 1e-6 * max_absolute(out + 4, 4));
    }
  }
  memset(in, 0, sizeof in);
  psdm_friction_slope(robot, in, slope);
  assert_true(slope[0] == 1.5 && slope[1] == 0); /* a power below one is not smooth at rest */
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* [Y Yf] times parameters and friction's numbers is inverse with friction, of standard and base parameters */
static void test_regressor_with_friction(void **unused) {
  (void)unused;
  enum { N = 2, MOST = 60 };
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *model;
  psdm_work *work;
  psdm_error error;
  double pi[MOST], theta[MOST], scratch[N * MOST], in[3 * N], Y[N * MOST], tau[N];
  ((psdm_joint *)psdm_robot_joint(robot, 0))->friction = (psdm_friction){
      .viscous = 1.5, .exponent = 0.6, .coulomb = 2, .stat = 3, .stribeck = 0.4, .offset = -0.25, .given = true};
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, &error), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_robot_parameters(robot, pi);
  psdm_model_theta(model, pi, theta);
  for (int trial = 0; trial < 20; trial++) {
    psdm_eval_options o = {
        .friction = true, .friction_columns = true, .model = trial % 2 ? model : NULL, .scratch = scratch};
    int rigid = trial % 2 ? psdm_model_l(model) : psdm_robot_parameter_count(robot), columns = rigid + 4 * N;
    const double *numbers = trial % 2 ? theta : pi, friction[] = {1.5, -0.25, 2, 3};
    for (int i = 0; i < 3 * N; i++) in[i] = sin(2.3 * i + trial);
    if (trial == 7) in[2] = 0;
    assert_int_equal(psdm_eval_outputs(robot, PSDM_F_REGRESSOR, &o), N * columns);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_REGRESSOR, &o, in, Y), PSDM_OK);
    assert_int_equal(psdm_eval(robot, work, PSDM_F_INVERSE, &o, in, tau), PSDM_OK);
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int j = 0; j < rigid; j++) sum += Y[i * columns + j] * numbers[j];
      for (int c = 0; c < 4; c++) sum += Y[i * columns + rigid + c * N] * friction[c];
      assert_true(fabs(sum - tau[i]) < 1e-13 * (1 + max_absolute(tau, N)));
    }
    /* a joint whose file has no friction: plain columns */
    assert_true(Y[columns + rigid + 1] == in[3] && Y[columns + rigid + N + 1] == 1);
    assert_true(Y[columns + rigid + 2 * N + 1] == (in[3] > 0) - (in[3] < 0) && Y[columns + rigid + 3 * N + 1] == 0);
  }
  psdm_model_free(model);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names),
                                     cmocka_unit_test(test_options),
                                     cmocka_unit_test(test_expanded),
                                     cmocka_unit_test(test_linearizations),
                                     cmocka_unit_test(test_linearized_friction),
                                     cmocka_unit_test(test_regressor_with_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
