/* parameter files of steps: written and read back unchanged, the tool, applied to robots, bristles along rows,
 * refusals, memory. */
#define _XOPEN_SOURCE 700
#include "psdm/friction.h"
#include "psdm/predictor.h"
#include "test_parameters_text.h"

/* ---- a made-up arm calibrated in steps ---- */

/* A psdm_steps whose memory is the test's. */
typedef struct made_steps {
  psdm_steps s;
  psdm_estimate theta[MOST_STANDARD];
  char name[MOST_STANDARD][32];
  double constant[MOST], speed[MOST], sigma[MOST], tool[10];
  double sd[MOST_STANDARD + 9 * MOST], covariance[(MOST_STANDARD + 9 * MOST) * (MOST_STANDARD + 9 * MOST)];
  int from[MOST_STANDARD];
  psdm_friction friction[MOST];
  psdm_joint_fit train[PSDM_STEPS][MOST], heldout[PSDM_STEPS][MOST];
} made_steps;

static psdm_friction random_lugre(rng *g) {
  psdm_friction f = {.coulomb = rng_uniform(g, 1, 10),
                     .stat = rng_uniform(g, 1, 12),
                     .stribeck = rng_uniform(g, 0.01, 0.2),
                     .given = true};
  f.viscous = rng_uniform(g, 1, 20), f.exponent = rng_uniform(g, 0.5, 1.2);
  f.sigma0 = pow(10, rng_uniform(g, 3, 5.5)), f.sigma1 = rng_uniform(g, 0, 30), f.offset = rng_uniform(g, -1, 1);
  return f;
}

/* done: bits of steps; with gravity and inertia both done every base parameter is known */
static made_steps *make_steps(rng *g, const psdm_robot *robot, unsigned done, bool tool) {
  made_steps *m = calloc(1, sizeof *m);
  psdm_model *model;
  psdm_error error;
  assert_non_null(m);
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  int n = psdm_robot_n(robot), base = psdm_model_l(model), wide = 9 * n + base;
  for (int j = 0; j < base; j++) {
    bool known = done >> (j % 2 ? PSDM_STEP_GRAVITY : PSDM_STEP_INERTIA) & 1;
    snprintf(m->name[j], sizeof m->name[j], "%s", psdm_model_base_name(model, j));
    m->theta[j] = (psdm_estimate){m->name[j], known ? any_number(g) : NAN, known ? fabs(any_number(g)) : NAN, 0, true};
    m->from[j] = known ? PSDM_FROM_LOG : PSDM_FROM_NOTHING;
  }
  psdm_model_free(model);
  for (int i = 0; i < n; i++) {
    m->constant[i] = done >> PSDM_STEP_MOTOR & 1 ? rng_uniform(g, -40, 40) : NAN;
    m->speed[i] = rng_int(g, 0, 3) ? rng_uniform(g, 0.1, 3) : NAN;
    m->sigma[i] = any_number(g);
    m->friction[i] = done >> PSDM_STEP_FRICTION & 1 && rng_int(g, 0, 4) ? random_lugre(g) : (psdm_friction){0};
  }
  for (int i = 0; i < wide; i++) m->sd[i] = rng_int(g, 0, 9) ? fabs(any_number(g)) : NAN;
  for (int i = 0; i < wide; i++)
    for (int j = 0; j <= i; j++) m->covariance[i * wide + j] = m->covariance[j * wide + i] = any_number(g);
  for (int k = 0; k < 10; k++) m->tool[k] = rng_uniform(g, -2, 2);
  m->s = (psdm_steps){.robot = robot,
                      .n = n,
                      .base = base,
                      .standard = psdm_robot_parameter_count(robot),
                      .numbers = wide,
                      .torque_constant = m->constant,
                      .torque_constant_from = m->from,
                      .currents = rng_int(g, 0, 1),
                      .theta = m->theta,
                      .theta_from = m->from,
                      .friction = m->friction,
                      .friction_from = m->from,
                      .effective_inertia = m->speed,
                      .speed = m->speed,
                      .tool = tool ? m->tool : NULL,
                      .covariance = m->covariance,
                      .sd = m->sd,
                      .rate = rng_uniform(g, 100, 1000)};
  for (int k = 0; k < PSDM_STEPS; k++) {
    psdm_part_fit fit;
    make_fit(g, n, m->train[k], &fit), make_fit(g, n, m->heldout[k], &fit);
    if (done >> k & 1)
      m->s.step[k] = (psdm_step_fit){
          .done = k % 2, .from_before = k % 2 == 0, .train = m->train[k], .heldout = m->heldout[k], .sigma = m->sigma};
  }
  return m;
}

static psdm_parameters *from_steps(const psdm_steps *steps) {
  psdm_parameters *p;
  psdm_error error;
  char sentence[900];
  if (psdm_parameters_from_steps(steps, NULL, &p, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return p;
}

/* the same for results of steps alone */
static void same_steps(const psdm_parameters *a, const psdm_parameters *b) {
  int wide = a->n + a->base + PSDM_FRICTION_NUMBERS * a->n;
  assert_true(a->steps == b->steps && a->currents == b->currents);
  for (int i = 0; i < a->n; i++) {
    assert_int_equal(a->lugre[i].given, b->lugre[i].given);
    same_bits(&a->lugre[i].coulomb, &b->lugre[i].coulomb, 1), same_bits(&a->lugre[i].stat, &b->lugre[i].stat, 1),
        same_bits(&a->lugre[i].stribeck, &b->lugre[i].stribeck, 1);
    same_bits(&a->lugre[i].viscous, &b->lugre[i].viscous, 1),
        same_bits(&a->lugre[i].exponent, &b->lugre[i].exponent, 1),
        same_bits(&a->lugre[i].offset, &b->lugre[i].offset, 1);
    same_bits(&a->lugre[i].sigma0, &b->lugre[i].sigma0, 1), same_bits(&a->lugre[i].sigma1, &b->lugre[i].sigma1, 1);
  }
  same_bits(a->lugre_sd, b->lugre_sd, PSDM_FRICTION_NUMBERS * a->n);
  same_bits(a->torque_constant, b->torque_constant, a->n),
      same_bits(a->torque_constant_sd, b->torque_constant_sd, a->n);
  same_bits(a->tool, b->tool, 10);
  assert_memory_equal(a->theta_known, b->theta_known, (size_t)a->base);
  for (int k = 0; k < PSDM_STEPS * a->n; k++) {
    assert_int_equal(a->step_fit[k].rows, b->step_fit[k].rows);
    same_bits(&a->step_fit[k].rmse, &b->step_fit[k].rmse, 4);
  }
  same_bits(a->covariance, b->covariance, wide * wide);
}

/* every set of finished steps, with and without a tool: a copy equals the original, and a file is read back
 * unchanged */
TEST(test_steps_round_trip) {
  rng g = rng_start("steps, round trip");
  for (unsigned k = 0; k < 32; k++) {
    psdm_robot *robot = random_robot(&g);
    made_steps *m = make_steps(&g, robot, k % 16, k >= 16);
    psdm_parameters *from = from_steps(&m->s);
    int n = m->s.n, base = m->s.base, wide = m->s.numbers;
    assert_true(from->steps == k % 16 && from->currents == m->s.currents && from->n == n && from->base == base &&
                !from->pi && !from->theta_load);
    same_bits(from->torque_constant, m->constant, n), same_bits(from->torque_constant_sd, m->sd, n);
    same_bits(from->covariance, m->covariance, wide * wide);
    same_bits(from->tool, m->s.tool, 10);
    for (int j = 0; j < base; j++) {
      assert_int_equal(from->theta_known[j], !isnan(m->theta[j].value));
      same_bits(&from->theta[j].sd, &m->theta[j].sd, 1);
      if (!m->s.tool) same_bits(&from->theta[j].value, &m->theta[j].value, 1);
    }
    for (int i = 0; i < n; i++) {
      same_bits(&from->lugre[i].coulomb, &m->friction[i].coulomb, 8);
      if (m->friction[i].given) same_bits(from->lugre_sd + 8 * i, m->sd + n + base + 8 * i, 8);
      for (int step = 0; step < PSDM_STEPS; step++)
        if (k >> step & 1) same_bits(&from->step_fit[step * n + i].rmse, &m->heldout[step][i].rmse, 4);
        else assert_int_equal(from->step_fit[step * n + i].rows, 0);
    }
    char *text = written(from);
    psdm_parameters *p = parsed(text, robot);
    same(from, p), same_steps(from, p);
    char *again = written(p);
    assert_string_equal(text, again);
    free(again);
    free(text);
    psdm_parameters_free(p);
    psdm_parameters_free(from);
    free(m);
    psdm_robot_free(robot);
  }
}

/* the error of all joints from each one's own: made-up errors and torques */
TEST(test_steps_errors) {
  rng g = rng_start("steps, errors");
  psdm_robot *robot = load_shipped("kuka_kr6");
  made_steps *m = make_steps(&g, robot, 1u << PSDM_STEP_GRAVITY, false);
  double errors = 0, torques = 0;
  for (int i = 0; i < 6; i++) {
    double error = 0, torque = 0;
    int rows = i ? 100 + i : 0; /* the first joint has none */
    for (int k = 0; k < rows; k++) {
      double e = rng_uniform(&g, -1, 1), t = rng_uniform(&g, -20, 20);
      error += e * e, torque += t * t;
    }
    m->heldout[PSDM_STEP_GRAVITY][i] = (psdm_joint_fit){rows, sqrt(error / rows), sqrt(error / torque), 0, 0};
    errors += error, torques += torque;
  }
  psdm_parameters *p = from_steps(&m->s);
  assert_true(fabs(p->heldout.global_rel / sqrt(errors / torques) - 1) < 1e-13 && p->heldout.rows == 515);
  psdm_parameters_free(p);
  free(m);
  psdm_robot_free(robot);
}

/* ---- applied to robots ---- */

/* steps describe the arm alone; a robot to which their file is applied carries the tool: twin, the arm's and the tool's
 * standard parameters added link by link */
TEST(test_steps_tool) {
  rng g = rng_start("steps, tool");
  static const char *const arms[] = {
      "convention: dh\njoints:\n  - {name: a, a: 0.4, alpha: pi/2, drive_inertia: 0.3}\n  - {name: b, a: 0.5}\n  - "
      "{name: c, a: 0.1, alpha: -pi/2}\n",
      "convention: modified-dh\njoints:\n  - {name: a, d: 0.4}\n  - {name: b, alpha: pi/2, drive_inertia: 0.3}\n  - "
      "{name: c, a: 0.5}\n",
      /* a tool of the file's own, on a flange of the second link, and a third link elsewhere */
      "convention: modified-dh\njoints:\n  - {name: a, d: 0.4}\n  - {name: b, alpha: pi/2}\n  - {name: c, parent: a, "
      "a: 0.5}\n  - {name: flange, type: fixed, parent: b, d: 0.1, a: 0.2}\n"
      "tool: {mass: 2, com: [0.1, 0, 0.05], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}\n"};
  double worst = 0;
  for (int k = 0; k < 20; k++) {
    psdm_robot *robot = parse_robot(arms[k % 3]), *truth;
    psdm_model *model;
    psdm_error error;
    psdm_work *work, *true_work;
    int n = 3, S = psdm_robot_parameter_count(robot);
    made_steps *m = make_steps(&g, robot, 15, true);
    int link = k % 3 == 2 ? 1 : 2;
    if (k % 3 == 2) assert_int_equal(psdm_robot_tool(robot, m->tool), link);
    double pi[MOST_STANDARD], theta[MOST_STANDARD], q[MOST], qd[MOST], qdd[MOST], tau[MOST], expected[MOST];
    for (int j = 0; j < S; j++) pi[j] = rng_uniform(&g, -2, 2);
    assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
    base_from_standard(model, pi, theta);
    for (int j = 0; j < m->s.base; j++) m->theta[j].value = theta[j];
    psdm_parameters *p = from_steps(&m->s);
    assert_int_equal(psdm_robot_clone(robot, NULL, &truth), PSDM_OK);
    for (int j = 0; j < 10; j++) pi[10 * link + j] += m->tool[j];
    psdm_robot_set_parameters(truth, pi);
    assert_int_equal(psdm_parameters_apply(p, robot, &error), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_work_new(truth, NULL, &true_work), PSDM_OK);
    for (int s = 0; s < 10; s++) {
      random_state(&g, n, q, qd, qdd);
      assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
      assert_int_equal(psdm_inverse(truth, true_work, q, qd, qdd, expected), PSDM_OK);
      worst = fmax(worst, max_difference(tau, expected, n) / fmax(1, max_absolute(expected, n)));
    }
    psdm_work_free(work, NULL), psdm_work_free(true_work, NULL);
    psdm_parameters_free(p);
    psdm_model_free(model);
    free(m);
    psdm_robot_free(truth), psdm_robot_free(robot);
  }
  printf("steps, tool: worst %.1e\n", worst);
  assert_true(worst < 1e-12); /* a few dozen products of sizes up to 10 */
}

/* friction and torque constants of the joints; unidentified numbers stay; missing steps are named */
TEST(test_steps_apply) {
  rng g = rng_start("steps, apply");
  const char *text = "convention: dh\njoints:\n  - {name: a, a: 0.4, alpha: pi/2, torque_constant: 7, friction: "
                     "{coulomb: 3}}\n  - {name: b, a: 0.5, torque_constant: 8, friction: {coulomb: 4}}\n";
  static const struct {
    unsigned done;
    const char *lacks;
  } cases[] = {{15, NULL},
               {10, NULL},
               {13, "the step 'gravity' is missing (psdm calibrate `log = gravity:FILE`)"},
               {7, "the step 'inertia' is missing (psdm calibrate `log = inertia:FILE`)"},
               {0, "the step 'gravity' is missing"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_robot *robot = parse_robot(text);
    psdm_error error;
    psdm_predictor *predictor;
    made_steps *m = make_steps(&g, robot, cases[k].done, false);
    m->s.currents = true;
    if (k == 0)
      m->friction[0] = random_lugre(&g), m->friction[1] = (psdm_friction){0}, m->constant[0] = -36.1,
      m->constant[1] = NAN;
    psdm_parameters *p = from_steps(&m->s);
    psdm_status status = psdm_parameters_apply(p, robot, &error);
    assert_int_equal(status, cases[k].lacks ? PSDM_E_MISSING : PSDM_OK);
    if (cases[k].lacks) {
      assert_non_null(strstr(error.text, cases[k].lacks));
      assert_int_equal(psdm_predictor_new(p, robot, NULL, &predictor, &error), PSDM_E_MISSING);
      assert_true(strstr(error.text, cases[k].lacks) && !predictor);
    }
    const psdm_joint *first = psdm_robot_joint(robot, 0), *second = psdm_robot_joint(robot, 1);
    if (k == 0) {
      assert_true(first->torque_constant == -36.1 && second->torque_constant == 8 && second->friction.coulomb == 4);
      same_bits(&first->friction.coulomb, &m->friction[0].coulomb, 8);
      /* and exactly, not as the nearest curve */
      psdm_friction f;
      double left_out = 1;
      psdm_parameters_friction(p, 0, &f, &left_out);
      same_bits(&f.coulomb, &m->friction[0].coulomb, 8);
      assert_true(left_out == 0 && f.given);
    } else {
      assert_true(first->torque_constant == 7 || cases[k].done == 15);
    }
    psdm_parameters_free(p);
    /* torque factors are not torque constants; a parameter that no step identifies is named */
    m->s.currents = false;
    m->theta[0].value = NAN;
    if (k == 0) {
      psdm_robot *other = parse_robot(text);
      p = from_steps(&m->s);
      assert_int_equal(psdm_parameters_apply(p, other, &error), PSDM_E_MISSING);
      assert_non_null(strstr(error.text, "none of the steps shows it"));
      psdm_parameters_free(p);
      m->theta[0].value = 1;
      p = from_steps(&m->s);
      assert_int_equal(psdm_parameters_apply(p, other, &error), PSDM_OK);
      assert_true(psdm_robot_joint(other, 0)->torque_constant == 7);
      psdm_parameters_free(p);
      psdm_robot_free(other);
    }
    free(m);
    psdm_robot_free(robot);
  }
}

/* ---- bristles along rows ---- */

/* plain twin: each interval cut finely, psdm_lugre_step at the middle's speed */
static double stepped(const psdm_friction *f, double from, double to, double interval, double *z) {
  enum { PIECES = 4000 };
  double rate, tau;
  for (int k = 0; k < PIECES; k++)
    *z = psdm_lugre_step(f, from + (to - from) * (k + 0.5) / PIECES, *z, interval / PIECES);
  psdm_lugre(f, to, *z, &rate, &tau);
  return tau;
}

TEST(test_steps_predictor) {
  rng g = rng_start("steps, predictor");
  enum { ROWS = 60 };
  double worst = 0, worst_rigid = 0;
  for (int trial = 0; trial < 6; trial++) {
    /* with a transmission drives are not joints: x2 = q2 - q1 / 2 */
    psdm_robot *robot = parse_robot(
        trial % 2 ? arm_text : "convention: dh\njoints:\n  - {name: a, a: 0.4, alpha: pi/2}\n  - {name: b, a: 0.5}\n");
    bool coupled = trial % 2;
    psdm_error error;
    psdm_predictor *predictor;
    psdm_robot *applied;
    psdm_work *work;
    made_steps *m = make_steps(&g, robot, 15, false);
    for (int j = 0; j < m->s.base; j++) m->theta[j].value = rng_uniform(&g, -2, 2);
    for (int i = 0; i < 2; i++) {
      m->friction[i] = random_lugre(&g);
      m->friction[i].sigma0 = pow(10, rng_uniform(&g, 2, 3.5)); /* soft enough for the twin's middle speeds */
    }
    if (trial == 4) m->friction[1] = (psdm_friction){0};
    psdm_parameters *p = from_steps(&m->s);
    double rate = trial < 2 ? m->s.rate : rng_uniform(&g, 200, 900), z[2] = {0}, before[2] = {0};
    assert_int_equal(psdm_predictor_new(p, robot, NULL, &predictor, &error), PSDM_OK);
    assert_int_equal(psdm_robot_clone(robot, NULL, &applied), PSDM_OK);
    assert_int_equal(psdm_parameters_apply(p, applied, &error), PSDM_OK);
    assert_int_equal(psdm_work_new(applied, NULL, &work), PSDM_OK);
    if (trial >= 2) psdm_predictor_rate(predictor, rate);
    for (int row = 0; row < ROWS; row++) {
      if (row == ROWS / 2) psdm_predictor_begin(predictor);
      bool fresh = row % (ROWS / 2) == 0;
      double t = row / rate, q[2], qd[2], qdd[2], tau[2], friction[2], rigid[2], drive[2], expected[2];
      for (int i = 0; i < 2; i++)
        q[i] = sin(20 * t + i), qd[i] = 0.3 * cos(30 * t + i) - (i ? 0 : 0.3), qdd[i] = sin(t);
      assert_int_equal(psdm_predictor_step(predictor, q, qd, qdd, tau, friction), PSDM_OK);
      assert_int_equal(psdm_inverse(applied, work, q, qd, qdd, rigid), PSDM_OK);
      const double v[] = {qd[0], coupled ? qd[1] - qd[0] / 2 : qd[1]};
      for (int i = 0; i < 2; i++) {
        double z_rate;
        if (fresh)
          z[i] = psdm_lugre_steady(&m->friction[i], v[i]), psdm_lugre(&m->friction[i], v[i], z[i], &z_rate, &drive[i]);
        else drive[i] = stepped(&m->friction[i], before[i], v[i], 1 / rate, &z[i]);
        if (!m->friction[i].given) drive[i] = 0;
        before[i] = v[i];
      }
      expected[0] = drive[0] - (coupled ? drive[1] / 2 : 0), expected[1] = drive[1];
      worst = fmax(worst, max_difference(friction, expected, 2));
      for (int i = 0; i < 2; i++) worst_rigid = fmax(worst_rigid, fabs(tau[i] - friction[i] - rigid[i]));
    }
    psdm_work_free(work, NULL);
    psdm_robot_free(applied);
    psdm_predictor_free(predictor);
    psdm_parameters_free(p);
    free(m);
    psdm_robot_free(robot);
  }
  printf("steps, predictor: friction %.1e Nm, rigid %.1e Nm\n", worst, worst_rigid);
  /* the twin's middle speeds err by (v h / g)^2 or so, pieces h = 1e-6 s, v / g up to 600 / s: 4e-7 of some 10 Nm at
   * most */
  assert_true(worst < 4e-6 && worst_rigid < 1e-12);
}

/* rows with unknown rates: as at a steady speed */
TEST(test_steps_no_rate) {
  rng g = rng_start("steps, no rate");
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: a, a: 0.4, alpha: pi/2}\n  - {name: b, a: 0.5}\n");
  made_steps *m = make_steps(&g, robot, 15, false);
  psdm_predictor *predictor;
  psdm_error error;
  m->s.rate = NAN;
  for (int i = 0; i < 2; i++) m->friction[i] = random_lugre(&g);
  psdm_parameters *p = from_steps(&m->s);
  assert_int_equal(psdm_predictor_new(p, robot, NULL, &predictor, &error), PSDM_OK);
  for (int k = 0; k < 20; k++) {
    double q[2], qd[2], qdd[2], tau[2], friction[2];
    random_state(&g, 2, q, qd, qdd);
    assert_int_equal(psdm_predictor_step(predictor, q, qd, qdd, tau, friction), PSDM_OK);
    for (int i = 0; i < 2; i++) {
      double steady = psdm_friction_steady(&m->friction[i], PSDM_FRICTION_LUGRE, qd[i]);
      /* sigma0 z - g is constant: the remainder of sigma1 z' is rounding */
      assert_true(fabs(friction[i] - steady) < 1e-12 * (fabs(steady) + m->friction[i].sigma1));
    }
  }
  psdm_predictor_free(predictor);
  psdm_parameters_free(p);
  free(m);
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static const char good_steps[] = "format: psdm-parameters-1\n"
                                 "robot: {name: \"two_link\", kinematics: \"FINGERPRINT-----\"}\n"
                                 "route: steps\n"
                                 "steps: [motor, gravity]\n"
                                 "currents: true\n"
                                 "motors: [{constant: 30, sd: 0.1}, {constant: .nan, sd: .nan}]\n"
                                 "theta: {ZZ1: {value: .nan}, mx1: {value: 2, sd: 0.1}, my1: {value: 3}, ZZ2: {value: "
                                 ".nan}, mx2: {value: 5}, my2: {value: 6}}\n"
                                 "lugre:\n"
                                 "  - {coulomb: 9, static: 12, stribeck: 0.01, viscous: 23, exponent: 0.6, sigma0: "
                                 "2e5, sigma1: 22, offset: 0, sd: [1, 1, 1, 1, 1, 1, 1, 1]}\n"
                                 "  - none\n"
                                 "tool: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"
                                 "speed: [1, 2]\n"
                                 "step_errors: {motor: {rows: [3, 4], rmse: [0.1, 0.2]}}\n"
                                 "covariance:\n";

/* the good text of steps with a covariance, and one piece replaced */
static char *changed_steps(const psdm_robot *robot, const char *from, const char *to) {
  enum { WIDE = 9 * 2 + 6 };
  char *text = calloc(sizeof good_steps + 4000, 1), print[17];
  assert_non_null(text);
  snprintf(print, sizeof print, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  strcpy(text, good_steps);
  memcpy(strstr(text, "FINGERPRINT-----"), print, 16);
  for (int i = 0; i < WIDE; i++) {
    strcat(text, "  - [");
    for (int j = 0; j <= i; j++) strcat(text, j ? ", 1" : "1");
    strcat(text, "]\n");
  }
  char *at = strstr(text, from);
  assert_non_null(at);
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
  return text;
}

TEST(test_steps_refusals) {
  static const struct {
    const char *from, *to, *sentence;
  } cases[] = {
      {"route: steps", "route: stairs", "p.yaml:3:8: route is 'stairs'; oneshot or steps was expected"},
      {"route: steps\n", "", "p.yaml:1:1: no 'estimator' in a parameter file of the route oneshot"},
      {"route: steps\n", "route: oneshot\nestimator: wls\nfriction: [[], []]\n",
       "p.yaml:6:1: 'steps' belongs to the route steps; this file is of oneshot"},
      {"route: steps\n", "route: steps\nestimator: wls\n",
       "p.yaml:4:1: 'estimator' belongs to the route oneshot; this file is of steps"},
      {"route: steps\n", "route: steps\npi: {links: [], drives: []}\n",
       "p.yaml:4:1: 'pi' belongs to the route oneshot; this file is of steps"},
      {"steps: [motor", "steps: [motors",
       "p.yaml:4:9: an entry is 'motors'; motor, gravity, friction or inertia was expected"},
      {"motor, gravity", "motor, motor", "p.yaml:4:16: duplicate step 'motor'"},
      {"[motor, gravity]", "motor", "p.yaml:4:8: steps is 'motor'; a list of steps was expected"},
      {"steps: [motor, gravity]\n", "", "p.yaml:1:1: no 'steps' in a parameter file of the route steps"},
      {"currents: true\n", "", "p.yaml:1:1: no 'currents' in a parameter file of the route steps"},
      {"currents: true", "currents: yes", "p.yaml:5:11: currents is 'yes'; true or false was expected"},
      {"constant: 30", "constant: 0", "p.yaml:6:21: constant is '0'; a number other than zero was expected"},
      {"constant: 30", "constant: .inf", "p.yaml:6:21: constant is '.inf'; a finite number or .nan was expected"},
      {"constant: 30, sd: 0.1", "constant: 30", "p.yaml:6:10: no 'sd' in a motor"},
      {", {constant: .nan, sd: .nan}", "", "p.yaml:6:9: motors needs {constant, sd} of each of 2 drives"},
      {"ZZ1: {value: .nan}", "ZZ1: {value: .inf}",
       "p.yaml:7:22: value is '.inf'; a finite number or .nan was expected"},
      {", my2: {value: 6}", "", "p.yaml:7: base parameter 'my2' of robot 'two_link' is not among the parameters"},
      {"  - none\n", "", "p.yaml:9:3: lugre needs the friction of each of the 2 drives"},
      {"- none", "- some", "p.yaml:10:5: an entry is 'some'; a map of friction's numbers, or none, was expected"},
      {"sigma1: 22, ", "", "p.yaml:9:5: no 'sigma1' in a drive's friction"},
      {"sigma1: 22", "sigma2: 22", "p.yaml:9:87: unknown key 'sigma2' in a drive's friction; did you mean 'sigma0'?"},
      {"coulomb: 9", "coulomb: -9", "p.yaml:9:5: coulomb is negative"},
      {"stribeck: 0.01", "stribeck: -1", "p.yaml:9:5: stribeck, sigma0 or sigma1 is negative"},
      {"sigma0: 2e5", "sigma0: -2e5", "p.yaml:9:5: stribeck, sigma0 or sigma1 is negative"},
      {"exponent: 0.6", "exponent: 0", "p.yaml:9:5: exponent is missing or not positive"},
      {"viscous: 23", "viscous: .nan", "p.yaml:9:55: viscous is '.nan'; a finite number was expected"},
      {"sd: [1, 1, ", "sd: [1, ", "p.yaml:9:114: sd has 7 numbers; 8 were expected"},
      {"tool: [1, ", "tool: [", "p.yaml:11:7: tool has 9 numbers; 10 were expected"},
      {"step_errors: {motor", "step_errors: {motion",
       "p.yaml:13:15: unknown key 'motion' in step_errors; did you mean 'motor'?"},
      {"rows: [3, 4]", "rows: [3, 4.5e30]", "p.yaml:13:29: rows is a list; counts of rows was expected"},
      {"  - [1]\n", "",
       "p.yaml:15:3: covariance needs 24 rows, one for each motor, base parameter and number of lugre"},
      {"covariance:\n", "sigma:\n", "p.yaml:1:1: no 'covariance' in a parameter file of the route steps"},
  };
  psdm_robot *robot = load_shipped("two_link");
  psdm_parameters *p;
  psdm_error error;
  char sentence[900];
  char *text = changed_steps(robot, "steps", "steps");
  p = parsed(text, robot);
  assert_true(p->steps == 3 && p->currents && p->torque_constant[0] == 30 && isnan(p->torque_constant[1]) &&
              !p->theta_known[0] && p->theta_known[1] && p->tool[9] == 10);
  assert_true(p->lugre[0].given && !p->lugre[1].given && p->step_fit[1].rows == 4 && p->step_fit[1].rmse == 0.2 &&
              p->step_fit[2].rows == 0);
  psdm_parameters_free(p);
  free(text);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text = changed_steps(robot, cases[k].from, cases[k].to);
    assert_int_not_equal(psdm_parameters_parse(text, strlen(text), "p.yaml", robot, NULL, &p, &error), PSDM_OK);
    assert_null(p);
    assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), cases[k].sentence);
    free(text);
  }
  psdm_robot_free(robot);
}

TEST(test_steps_broken) {
  rng g = rng_start("steps, broken");
  psdm_robot *robot = load_shipped("two_link");
  made_steps *m = make_steps(&g, robot, 15, true);
  psdm_parameters *p = from_steps(&m->s);
  char *text = written(p);
  broken_file(&g, robot, text);
  free(text);
  psdm_parameters_free(p);
  free(m);
  psdm_robot_free(robot);
}

/* ---- memory ---- */

TEST(test_steps_memory) {
  rng g = rng_start("steps, memory");
  psdm_robot *robot = load_shipped("two_link");
  made_steps *m = make_steps(&g, robot, 15, true);
  psdm_parameters *whole = from_steps(&m->s);
  char *text = written(whole);
  psdm_error error;
  long failed = 0;
  bool done = false;
  for (long at = 1; !done; at++) {
    counting c;
    psdm_parameters *from, *p = NULL;
    psdm_predictor *predictor = NULL;
    counting_init(&c, at);
    psdm_status status = psdm_parameters_from_steps(&m->s, &c.allocator, &from, &error);
    if (!status) status = psdm_parameters_parse(text, strlen(text), "p.yaml", robot, &c.allocator, &p, &error);
    if (!status) status = psdm_predictor_new(p, robot, &c.allocator, &predictor, &error);
    done = !status && c.calls < at;
    if (!done) failed++;
    assert_true(status == PSDM_E_MEMORY || done);
    psdm_predictor_free(predictor);
    psdm_parameters_free(p);
    psdm_parameters_free(from);
    assert_int_equal(c.live, 0);
  }
  assert_true(failed > 5);
  free(text);
  psdm_parameters_free(whole);
  free(m);
  psdm_robot_free(robot);
}

TEST_MAIN(test_steps_round_trip, test_steps_errors, test_steps_tool, test_steps_apply, test_steps_predictor,
          test_steps_no_rate, test_steps_refusals, test_steps_broken, test_steps_memory)
