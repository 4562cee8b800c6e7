/* parameter files: written and read back unchanged, applied to robots, the nearest friction curve, predictions,
 * refusals, memory. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_parameters_text.h"
#include "psdm/predictor.h"

/* ---- made-up parameters ---- */

/* A psdm_parameters whose memory is the test's. */
typedef struct made {
  psdm_parameters p;
  psdm_estimate theta[MOST_STANDARD];
  char name[MOST_STANDARD][32];
  double pi[MOST_STANDARD], theta_load[MOST_STANDARD], sigma[MOST], speed[MOST], load[MOST];
  int columns[MOST];
  psdm_column column[MOST][MOST_COLUMNS];
  const psdm_column *at[MOST];
  psdm_joint_fit train[MOST], heldout[MOST];
  double covariance[(MOST_STANDARD + MOST * MOST_COLUMNS) * (MOST_STANDARD + MOST * MOST_COLUMNS)];
} made;

static psdm_column random_column(rng *g) {
  psdm_column c = {
      .kind = (psdm_column_kind)rng_int(g, 0, PSDM_COLUMN_KINDS - 1), .gain = any_number(g), .sd = fabs(any_number(g))};
  c.width = c.kind >= PSDM_COLUMN_TANH && c.kind != PSDM_COLUMN_ABSOLUTE && c.kind != PSDM_COLUMN_LINEAR
                ? rng_uniform(g, 0.001, 2)
                : 0;
  c.load = rng_int(g, 0, 2);
  return c;
}

static made *make(rng *g, const psdm_robot *robot, bool full, bool covariance) {
  made *m = calloc(1, sizeof *m);
  psdm_model *model;
  psdm_error error;
  assert_non_null(m);
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, &error), PSDM_OK);
  int n = psdm_robot_n(robot), base = psdm_model_l(model), wide = base;
  assert_true(n <= MOST && psdm_robot_parameter_count(robot) <= MOST_STANDARD);
  for (int j = 0; j < base; j++) {
    snprintf(m->name[j], sizeof m->name[j], "%s", psdm_model_base_name(model, j));
    m->theta[j] =
        (psdm_estimate){m->name[j], any_number(g), fabs(any_number(g)), rng_uniform(g, 0, 1), rng_int(g, 0, 1)};
    m->theta_load[j] = any_number(g);
  }
  for (int k = 0; k < psdm_robot_parameter_count(robot); k++) m->pi[k] = any_number(g);
  double theta[MOST_STANDARD];
  psdm_model_theta(model, m->pi, theta);
  for (int j = 0; j < base && full; j++) m->theta[j].value = theta[j];
  psdm_model_free(model);
  for (int i = 0; i < n; i++) {
    m->sigma[i] = any_number(g), m->speed[i] = rng_uniform(g, 0.1, 3), m->load[i] = rng_uniform(g, 0, 10);
    m->columns[i] = rng_int(g, 0, MOST_COLUMNS);
    m->at[i] = m->column[i];
    for (int k = 0; k < m->columns[i]; k++) m->column[i][k] = random_column(g);
    wide += m->columns[i];
  }
  for (int i = 0; i < wide; i++)
    for (int j = 0; j <= i; j++) m->covariance[i * wide + j] = m->covariance[j * wide + i] = any_number(g);
  m->p = (psdm_parameters){.robot = "a \"quoted\" \\ name",
                           .kinematics = psdm_robot_fingerprint(robot),
                           .estimator = (psdm_estimator)rng_int(g, 0, PSDM_ESTIMATORS - 1),
                           .n = n,
                           .links = psdm_robot_links(robot),
                           .base = base,
                           .standard = psdm_robot_parameter_count(robot),
                           .theta = m->theta,
                           .pi = full ? m->pi : NULL,
                           .columns = m->columns,
                           .column = m->at,
                           .theta_load = m->theta_load,
                           .sigma = m->sigma,
                           .speed = m->speed,
                           .load = m->load,
                           .source = PSDM_KINEMATICS_VELOCITY,
                           .cutoff = rng_int(g, 0, 1) ? INFINITY : any_number(g),
                           .delay = any_number(g),
                           .lambda = any_number(g),
                           .rest = any_number(g),
                           .rate = any_number(g),
                           .covariance = covariance ? m->covariance : NULL};
  make_fit(g, n, m->train, &m->p.train);
  make_fit(g, n, m->heldout, &m->p.heldout);
  return m;
}

static void test_round_trip(void **state) {
  (void)state;
  rng g = rng_start("round trip");
  for (int k = 0; k < 60; k++) {
    psdm_robot *robot = random_robot(&g);
    made *m = make(&g, robot, k % 2, k % 3 == 0);
    char *text = written(&m->p);
    psdm_parameters *p = parsed(text, robot);
    same(&m->p, p);
    char *again = written(p);
    assert_string_equal(text, again);
    free(again);
    free(text);
    psdm_parameters_free(p);
    free(m);
    psdm_robot_free(robot);
  }
}

/* ---- applied to robots ---- */

/* torques of the robot are Y theta, or Y pi: the plain twin */
static void test_apply(void **state) {
  (void)state;
  rng g = rng_start("apply");
  double worst = 0;
  for (int k = 0; k < 40; k++) {
    psdm_robot *robot = random_robot(&g), *clone;
    int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
    bool full = k % 2;
    made *m = make(&g, robot, full, false);
    double q[MOST], qd[MOST], qdd[MOST], tau[MOST], expected[MOST], Y[MOST * MOST_STANDARD], before[MOST_STANDARD],
        after[MOST_STANDARD];
    psdm_work *work;
    psdm_error error;
    for (int j = 0; j < m->p.base; j++) m->theta[j].value = rng_uniform(&g, -2, 2);
    for (int j = 0; j < S; j++) m->pi[j] = rng_uniform(&g, -2, 2);
    psdm_robot_parameters(robot, before);
    psdm_friction friction = psdm_robot_joint(robot, 0)->friction;
    assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
    assert_int_equal(psdm_parameters_apply(&m->p, clone, &error), PSDM_OK);
    assert_int_equal(psdm_work_new(clone, NULL, &work), PSDM_OK);
    for (int s = 0; s < 5; s++) {
      random_state(&g, n, q, qd, qdd);
      assert_int_equal(psdm_inverse(clone, work, q, qd, qdd, tau), PSDM_OK);
      assert_int_equal(psdm_regressor_standard(clone, work, q, qd, qdd, Y), PSDM_OK);
      double scale = 1;
      for (int i = 0; i < n; i++) {
        expected[i] = 0;
        for (int c = 0; c < S && full; c++)
          expected[i] += Y[i * S + c] * m->pi[c], scale = fmax(scale, fabs(Y[i * S + c]));
        for (int j = 0; j < m->p.base && !full; j++)
          for (int c = 0; c < S; c++) {
            char name[32];
            if (strcmp(psdm_robot_parameter_name(robot, c, name, sizeof name), m->name[j]) == 0)
              expected[i] += Y[i * S + c] * m->theta[j].value, scale = fmax(scale, fabs(Y[i * S + c]));
          }
      }
      worst = fmax(worst, max_difference(tau, expected, n) / scale);
    }
    /* the cloned robot keeps its numbers and its friction */
    psdm_robot_parameters(robot, after);
    same_bits(before, after, S);
    assert_memory_equal(&friction, &psdm_robot_joint(robot, 0)->friction, sizeof friction);
    for (int j = 0; j < psdm_robot_joints(clone); j++)
      if (psdm_robot_joint(clone, j)->q >= 0) assert_true(psdm_robot_joint(clone, j)->friction.given);
    psdm_work_free(work, NULL);
    psdm_robot_free(clone);
    psdm_robot_free(robot);
    free(m);
  }
  printf("apply: worst %.1e\n", worst);
  assert_true(worst < 1e-11); /* some hundred products of sizes up to 2, along chains of six joints */
}

/* assumptions of a robot file do not apply to a log's parameters */
static void test_assumptions(void **state) {
  (void)state;
  rng g = rng_start("assumptions");
#define TWO "convention: dh\njoints:\n  - {name: a, a: 1.2, alpha: pi/2}\n  - {name: b, a: 1.1}\n"
  psdm_robot *bare = parse_robot(TWO), *robot = parse_robot(TWO "assume: [ry2 = 0, Ixx2 = Iyy2]\n");
#undef TWO
  made *m = make(&g, bare, false, false);
  psdm_model *assumed;
  psdm_error error;
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &assumed, NULL, &error), PSDM_OK);
  assert_true(psdm_model_l(assumed) < m->p.base);
  char *text = written(&m->p);
  psdm_parameters *p = parsed(text, robot);
  same(&m->p, p);
  assert_int_equal(psdm_parameters_apply(p, robot, &error), PSDM_OK);
  free(text);
  psdm_parameters_free(p);
  psdm_model_free(assumed);
  free(m);
  psdm_robot_free(robot);
  psdm_robot_free(bare);
}

/* ---- fingerprints ---- */

static psdm_robot *written_again(const psdm_robot *robot, psdm_robot_format format) {
  psdm_output *out;
  psdm_error error;
  psdm_robot *again;
  char path[] = "/tmp/psdm_robotXXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(psdm_output_open(path, NULL, &out, &error), PSDM_OK);
  psdm_robot_write(robot, format, out);
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_OK);
  assert_int_equal(psdm_robot_load(path, NULL, NULL, &again, &error), PSDM_OK);
  unlink(path);
  return again;
}

static uint64_t fingerprint_of(const char *text) {
  psdm_robot *robot = parse_robot(text);
  uint64_t print = psdm_robot_fingerprint(robot);
  psdm_robot_free(robot);
  return print;
}

static void test_fingerprint(void **state) {
  (void)state;
#define ARM(rows, rest)                                                                                          \
  "gravity: [0, 0, -9.81]\nconvention: dh\njoints:\n  - {name: a, a: 1.2, alpha: pi/2}\n  - {name: b, " rows "}" \
  "\n" rest
  static const char *const texts[] = {ARM("a: 1.1", ""),
                                      ARM("a: 1.1000001", ""),
                                      ARM("a: 1.1, theta: 0.001", ""),
                                      ARM("a: 1.1, type: prismatic", ""),
                                      ARM("a: 1.1, drive_inertia: 1", ""),
                                      ARM("a: 1.1, couple: {a: 0.5}", ""),
                                      ARM("a: 1.1, gear: 5", "transmission: [[1, 0], [0.5, 1]]\n")};
  enum { TEXTS = sizeof texts / sizeof *texts };
  for (int i = 0; i < TEXTS; i++)
    for (int j = 0; j < i; j++) assert_true(fingerprint_of(texts[i]) != fingerprint_of(texts[j]));
  /* neither inertias nor rounding nor the file's format matter */
  assert_true(fingerprint_of(ARM("a: 1.1", "")) ==
              fingerprint_of(ARM("a: 1.1000000000001", "links: [{mass: 1}, {mass: 2, com: [0.1, 0, 0]}]\n")));
#undef ARM
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    if (!psdm_robot_loops(robot)) {
      psdm_robot *again = written_again(robot, PSDM_FORMAT_YAML);
      assert_true(psdm_robot_fingerprint(robot) == psdm_robot_fingerprint(again) || psdm_robot_has_transmission(robot));
      psdm_robot_free(again);
    }
    psdm_robot_free(robot);
  }
}

/* ---- friction's nearest curve ---- */

static void set_columns(made *m, int count, const psdm_column *column) {
  m->columns[0] = count;
  memcpy(m->column[0], column, (size_t)count * sizeof *column);
}

static void test_friction(void **state) {
  (void)state;
  rng g = rng_start("friction");
  psdm_robot *robot = load_shipped("two_link");
  made *m = make(&g, robot, true, false);
  psdm_friction f;
  double left_out;
  /* friction that a robot file can express is exact; a stop is Coulomb friction once it slides, and columns of the
   * position are ignored */
  const psdm_column plain[] = {
      {.kind = PSDM_COLUMN_VISCOUS, .gain = 3},          {.kind = PSDM_COLUMN_SIGN, .gain = 2},
      {.kind = PSDM_COLUMN_OFFSET, .gain = -0.5},        {.kind = PSDM_COLUMN_STOP, .width = 0.01, .gain = 0.25},
      {.kind = PSDM_COLUMN_SINE, .width = 2, .gain = 9}, {.kind = PSDM_COLUMN_SIGN, .load = 1, .gain = 0.5}};
  set_columns(m, 6, plain);
  m->load[0] = 4;
  psdm_parameters_friction(&m->p, 0, &f, &left_out);
  assert_true(fabs(f.viscous - 3) < 1e-13 && fabs(f.coulomb - 4.25) < 1e-13 && fabs(f.offset + 0.5) < 1e-13 &&
              left_out < 1e-12);
  assert_true(f.given && f.exponent == 1 && f.stat == f.coulomb && f.stribeck == 0);
  /* least squares: no curve nearby is better over the tested speeds */
  const psdm_column bent[] = {{.kind = PSDM_COLUMN_VISCOUS, .gain = 1},
                              {.kind = PSDM_COLUMN_TANH, .width = 0.2, .gain = 3},
                              {.kind = PSDM_COLUMN_POWER, .width = 0.5, .gain = 2}};
  set_columns(m, 3, bent);
  m->speed[0] = 1.5;
  psdm_parameters_friction(&m->p, 0, &f, &left_out);
  double best = 0;
  for (int trial = 0; trial < 200; trial++) {
    double c = f.coulomb + (trial ? rng_uniform(&g, -0.3, 0.3) : 0),
           v = f.viscous + (trial ? rng_uniform(&g, -0.3, 0.3) : 0), sum = 0, most = 0;
    for (int k = 1; k <= 50; k++) {
      double x = 1.5 * k / 50, e = x + 3 * tanh(x / 0.2) + 2 * sqrt(x) - c - v * x;
      sum += e * e;
      most = fmax(most, fabs(e));
    }
    if (!trial) best = sum, assert_true(fabs(most - left_out) < 1e-12);
    assert_true(sum >= best * (1 - 1e-12));
  }
  /* neither part below zero, and a drive that never moved has no friction */
  const psdm_column falling[] = {{.kind = PSDM_COLUMN_VISCOUS, .gain = -1}, {.kind = PSDM_COLUMN_SIGN, .gain = 3}};
  set_columns(m, 2, falling);
  psdm_parameters_friction(&m->p, 0, &f, NULL);
  assert_true(f.viscous == 0 && f.coulomb > 0);
  const psdm_column rising[] = {{.kind = PSDM_COLUMN_VISCOUS, .gain = 3}, {.kind = PSDM_COLUMN_SIGN, .gain = -0.5}};
  set_columns(m, 2, rising);
  psdm_parameters_friction(&m->p, 0, &f, NULL);
  assert_true(f.coulomb == 0 && f.viscous > 0 && f.viscous < 3);
  m->speed[0] = 0;
  psdm_parameters_friction(&m->p, 0, &f, &left_out);
  assert_true(f.coulomb == 0 && f.viscous == 0 && left_out == 0);
  free(m);
  psdm_robot_free(robot);
}

/* ---- predictions of a calibration and of its file ---- */

/* torques of the arm along sines, with friction of the drives, of which the second moves by q2 - q1 / 2 */
static void write_log(const char *path, const psdm_robot *robot) {
  double q[2], qd[2], qdd[2], tau[2];
  psdm_work *work;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  fprintf(file, "t,q1,q2,tau1,tau2\n");
  for (int k = 0; k < 3000; k++) {
    double t = 0.01 * k;
    for (int i = 0; i < 2; i++) {
      double a = 1 + i, w = 1.1 + 0.7 * i, b = 0.4, u = 2.9 - 0.8 * i;
      q[i] = a * sin(w * t) + b * sin(u * t), qd[i] = a * w * cos(w * t) + b * u * cos(u * t),
      qdd[i] = -a * w * w * sin(w * t) - b * u * u * sin(u * t);
    }
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, tau), PSDM_OK);
    double v[] = {qd[0], qd[1] - qd[0] / 2}, f[2];
    for (int i = 0; i < 2; i++) f[i] = 2 * tanh(v[i] / 0.1) + 0.5 * v[i];
    tau[0] += f[0] - f[1] / 2;
    tau[1] += f[1];
    fprintf(file, "%.17g,%.17g,%.17g,%.17g,%.17g\n", t, q[0], q[1], tau[0], tau[1]);
  }
  fclose(file);
  psdm_work_free(work, NULL);
}

typedef struct following {
  psdm_predictor *predictor;
  psdm_robot *applied;
  psdm_work *work;
  long rows;
  double worst, worst_rigid, scale;
} following;

static bool follow(void *user, const psdm_predicted_row *row) {
  following *w = user;
  double tau[2], friction[2], rigid[2];
  assert_int_equal(psdm_predictor_step(w->predictor, row->q, row->qd, row->qdd, tau, friction), PSDM_OK);
  assert_int_equal(psdm_inverse(w->applied, w->work, row->q, row->qd, row->qdd, rigid), PSDM_OK);
  w->scale = fmax(w->scale, max_absolute(row->predicted, 2));
  if (++w->rows < 300) return true; /* until then stops may remember rows that are not reported */
  w->worst = fmax(w->worst, fmax(max_difference(tau, row->predicted, 2), max_difference(friction, row->friction, 2)));
  for (int i = 0; i < 2; i++)
    w->worst_rigid = fmax(w->worst_rigid, fabs(row->predicted[i] - row->friction[i] - rigid[i]));
  return true;
}

static void follow_calibration(const char *log, psdm_robot *robot, psdm_estimator estimator) {
  const psdm_calibrate_options options = {
      .files = 1, .path = &log, .estimator = estimator, .cutoff = 10, .delay_given = true};
  psdm_calibration *c;
  psdm_parameters *from;
  psdm_error error;
  char sentence[900];
  if (psdm_calibrate(robot, &options, NULL, &c, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  assert_int_equal(psdm_parameters_from(c, true, NULL, &from, &error), PSDM_OK);
  char *text = written(from);
  psdm_parameters *p = parsed(text, robot);
  same(from, p);
  following w = {.scale = 1};
  assert_int_equal(psdm_predictor_new(p, robot, NULL, &w.predictor, &error), PSDM_OK);
  assert_int_equal(psdm_robot_clone(robot, NULL, &w.applied), PSDM_OK);
  assert_int_equal(psdm_parameters_apply(p, w.applied, &error), PSDM_OK);
  assert_int_equal(psdm_work_new(w.applied, NULL, &w.work), PSDM_OK);
  psdm_predictor_begin(w.predictor);
  assert_int_equal(psdm_calibration_predict(c, follow, &w, &error), PSDM_OK);
  printf("%s: %ld rows, predictor %.1e, applied robot %.1e of %.0f Nm, training error %.2e\n",
         psdm_estimator_name(estimator), w.rows, w.worst, w.worst_rigid, w.scale, c->train[PSDM_FIT_MOVING].global_rel);
  assert_true(w.rows > 500 && c->train[PSDM_FIT_MOVING].global_rel < 0.05);
  assert_int_equal(!p->pi, estimator != PSDM_ESTIMATOR_CONSISTENT);
  assert_true(w.worst < 1e-11 * w.scale && w.worst_rigid < 1e-11 * w.scale);
  psdm_work_free(w.work, NULL);
  psdm_robot_free(w.applied);
  psdm_predictor_free(w.predictor);
  free(text);
  psdm_parameters_free(p);
  psdm_parameters_free(from);
  psdm_calibration_free(c);
}

static void test_calibration(void **state) {
  (void)state;
  char path[] = "/tmp/psdm_logXXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  psdm_robot *robot = parse_robot(arm_text);
  write_log(path, robot);
  follow_calibration(path, robot, PSDM_ESTIMATOR_CONSISTENT);
  follow_calibration(path, robot, PSDM_ESTIMATOR_WLS);
  unlink(path);
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static const char good[] = "format: psdm-parameters-1\n"
                           "robot: {name: \"two_link\", kinematics: \"FINGERPRINT-----\"}\n"
                           "estimator: wls\n"
                           "theta:\n"
                           "  ZZ1: {value: 1, sd: 0.1}\n"
                           "  mx1: {value: 2}\n"
                           "  my1: {value: 3}\n"
                           "  ZZ2: {value: 4}\n"
                           "  mx2: {value: 5}\n"
                           "  my2: {value: 6}\n"
                           "friction:\n"
                           "  - [{column: \"v\", gain: 1}]\n"
                           "  - []\n"
                           "speed: [1, 2]\n";

/* the good text with its fingerprint, and one piece replaced */
static char *changed(const psdm_robot *robot, const char *from, const char *to) {
  char *text = calloc(sizeof good + 400, 1), print[17];
  assert_non_null(text);
  snprintf(print, sizeof print, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  strcpy(text, good);
  memcpy(strstr(text, "FINGERPRINT-----"), print, 16);
  char *at = strstr(text, from);
  assert_non_null(at);
  memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
  memcpy(at, to, strlen(to));
  return text;
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *sentence;
  } cases[] = {
      {"format: psdm-parameters-1\n", "", "p.yaml:1:1: no 'format' in a parameter file"},
      {"parameters-1", "parameters-2", "p.yaml:1:9: format is 'psdm-parameters-2'; psdm-parameters-1 was expected"},
      {"speed:", "spead:", "p.yaml:14:1: unknown key 'spead' in a parameter file; did you mean 'speed'?"},
      {"speed: [1, 2]\n", "speed: [1, 2]\nspeed: [1, 2]\n", "p.yaml:15:1: duplicate key 'speed' in a parameter file"},
      {"speed: [1, 2]", "speed: [1]", "p.yaml:14:8: speed has 1 numbers; 2 were expected"},
      {"speed: [1, 2]", "speed: [1, x]", "p.yaml:14:12: an entry is 'x'; a decimal number was expected"},
      {"speed: [1, 2]", "speed: [1, .inf]", "p.yaml:14:12: an entry is '.inf'; a finite number was expected"},
      {"speed: [1, 2]", "speed: 3", "p.yaml:14:8: speed is '3'; a list of numbers was expected"},
      {"wls", "magic", "p.yaml:3:12: estimator is 'magic'; the name of an estimator was expected"},
      {"  my2: {value: 6}\n", "", "p.yaml:5: base parameter 'my2' of robot 'two_link' is not among the parameters"},
      {"  my2: {value: 6}\n", "  my2: {value: 6}\n  m1: {value: 1}\n",
       "p.yaml:5: 7 base parameters for a robot that has 6; gravity is not that of the calibration"},
      {"  my2:", "  my3:", "p.yaml:10:3: 'my3' is not a parameter of robot 'two_link'"},
      {"  my2:", "  mx2:", "p.yaml:10:3: duplicate base parameter 'mx2'"},
      {"value: 6", "sd: 6", "p.yaml:10:8: no 'value' in a base parameter"},
      {"value: 6", "value: .nan", "p.yaml:10:16: value is '.nan'; a finite number was expected"},
      {"{value: 6}", "6", "p.yaml:10:8: a base parameter is not a map"},
      {"{value: 6}", "{value: 6, essential: perhaps}",
       "p.yaml:10:30: essential is 'perhaps'; true or false was expected"},
      {"\"v\"", "\"w\"", "p.yaml:12:15: column is 'w'; a column such as \"v\" or \"tanh(v/w)\" was expected"},
      {"\"v\"", "\"tanh(v/w)\"", "p.yaml:12:6: column \"tanh(v/w)\" needs a width above zero"},
      {"gain: 1}", "gain: 1, load: 3}", "p.yaml:12:35: load is '3'; 0, 1 or 2 was expected"},
      {"gain: 1}", "gain: 1, load: 1}", "p.yaml:12:3: a friction column depends on the load, but 'load' is missing"},
      {"  - []\n", "", "p.yaml:12:3: friction needs a list of columns for each of 2 drives"},
      {"speed: [1, 2]\n", "speed: [1, 2]\npi: {links: [[1]], drives: []}\n",
       "p.yaml:15:13: a list of 2 links, ten numbers each, was expected"},
      {"speed: [1, 2]\n", "speed: [1, 2]\ncovariance: [[1]]\n",
       "p.yaml:15:13: covariance needs 7 rows, one for each base parameter and friction column"},
      {"speed: [1, 2]\n", "speed: [1, 2]\nchoices: {kinematics: x}\n",
       "p.yaml:15:23: kinematics is 'x'; auto, q, qd or qdd was expected"},
      {"speed: [1, 2]\n", "speed: [1, 2]\nerrors: {train: {rows: [-1, 2]}}\n",
       "p.yaml:15:24: rows is a list; counts of rows was expected"},
      {"kinematics: \"", "kinematics: \"z", NULL}, /* any place; see below */
  };
  psdm_robot *robot = load_shipped("two_link"), *other = load_shipped("kuka_kr6");
  psdm_parameters *p;
  psdm_error error;
  char sentence[900];
  char *text = changed(robot, "wls", "wls");
  psdm_parameters_free(parsed(text, robot));
  assert_int_equal(psdm_parameters_parse(text, strlen(text), "p.yaml", other, NULL, &p, &error), PSDM_E_ROBOT);
  assert_null(p);
  assert_string_equal(
      psdm_error_format(&error, sentence, sizeof sentence),
      "p.yaml:2:39: the parameters were found for robot 'two_link', whose kinematics (01c62e82b4641d6f) are not those "
      "of 'kuka_kr6' (ddc3c32d72f81ff6); without the key 'kinematics' they are accepted anyway");
  free(text);
  /* a file without it */
  text = changed(robot, ", kinematics: \"01c62e82b4641d6f\"", "");
  p = parsed(text, robot);
  assert_true(p->kinematics == 0);
  psdm_parameters_free(p);
  free(text);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    text = changed(robot, cases[k].from, cases[k].to);
    assert_int_not_equal(psdm_parameters_parse(text, strlen(text), "p.yaml", robot, NULL, &p, &error), PSDM_OK);
    assert_null(p);
    psdm_error_format(&error, sentence, sizeof sentence);
    if (cases[k].sentence) assert_string_equal(sentence, cases[k].sentence);
    if (!cases[k].sentence)
      assert_non_null(strstr(sentence, "a fingerprint of sixteen hexadecimal digits was expected"));
    free(text);
  }
  assert_int_equal(psdm_parameters_load("/nowhere/p.yaml", robot, NULL, &p, &error), PSDM_E_IO);
  assert_null(p);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

static void test_broken(void **state) {
  (void)state;
  rng g = rng_start("broken");
  psdm_robot *robot = random_robot(&g);
  made *m = make(&g, robot, true, false);
  char *text = written(&m->p);
  broken_file(&g, robot, text);
  free(text);
  free(m);
  psdm_robot_free(robot);
}

/* ---- memory ---- */

static void test_memory(void **state) {
  (void)state;
  rng g = rng_start("memory");
  psdm_robot *robot = random_robot(&g);
  made *m = make(&g, robot, false, true);
  char *text = written(&m->p);
  psdm_error error;
  long failed = 0;
  bool done = false;
  for (long at = 1; !done; at++) {
    counting c;
    psdm_parameters *p;
    psdm_predictor *predictor = NULL;
    counting_init(&c, at);
    psdm_status status = psdm_parameters_parse(text, strlen(text), "p.yaml", robot, &c.allocator, &p, &error);
    if (!status) status = psdm_predictor_new(p, robot, &c.allocator, &predictor, &error);
    done = !status && c.calls < at;
    if (!done) failed++;
    assert_true(status == PSDM_E_MEMORY || done);
    assert_true(status ? !predictor : predictor != NULL);
    psdm_predictor_free(predictor);
    psdm_parameters_free(p);
    assert_int_equal(c.live, 0);
  }
  assert_true(failed > 3);
  free(text);
  free(m);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_apply),    cmocka_unit_test(test_assumptions),
      cmocka_unit_test(test_fingerprint), cmocka_unit_test(test_friction), cmocka_unit_test(test_calibration),
      cmocka_unit_test(test_refusals),    cmocka_unit_test(test_broken),   cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
