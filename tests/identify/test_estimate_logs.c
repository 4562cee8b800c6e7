/* test_estimate_logs.c: robust, instrumental, simulated and energy estimators on logs whose truth is known. */
#include "test_estimate_log.h"

static const psdm_estimator walking[] = {PSDM_ESTIMATOR_ROBUST, PSDM_ESTIMATOR_IV, PSDM_ESTIMATOR_DIDIM,
                                         PSDM_ESTIMATOR_ENERGY};
enum { WALKING = sizeof walking / sizeof *walking };

static psdm_calibration *calibrate_log(const psdm_robot *robot, const char *path, psdm_estimator estimator,
                                       psdm_kinematics kinematics, double cutoff) {
  psdm_calibrate_options o = plain_options(&path, 1, estimator, kinematics, cutoff);
  o.rest = 0;
  psdm_calibration *c = NULL;
  psdm_error error = {0};
  if (psdm_calibrate(robot, &o, NULL, &c, &error))
    fail_msg("%s: %s: %s", psdm_estimator_name(estimator), error.file, error.text);
  assert_all_finite(c);
  assert_int_equal(c->estimator, estimator);
  return c;
}

/* The errors of the answers to many logs. */
typedef struct tally {
  double sum[64], square[64]; /* of a parameter's error, and of its standard deviation */
  double relative;            /* mean of |theta - truth| / |truth| */
  int parameters, inside, all, logs;
} tally;

static void add(tally *t, const psdm_calibration *c, const double *theta) {
  double off = 0, size = 0;
  t->parameters = c->base;
  for (int j = 0; j < c->base; j++) {
    double error = c->theta[j].value - theta[j];
    off += error * error, size += theta[j] * theta[j];
    t->sum[j] += error, t->square[j] += c->theta[j].sd * c->theta[j].sd;
    t->inside += fabs(error) <= 3 * c->theta[j].sd;
    t->all++;
  }
  t->relative += sqrt(off / size);
  t->logs++;
}

/* the largest mean error of a parameter over the standard deviation of that mean */
static double bias(const tally *t) {
  double most = 0;
  for (int j = 0; j < t->parameters; j++) most = fmax(most, fabs(t->sum[j]) / sqrt(t->square[j]));
  return most;
}

static void say(const char *what, const tally *t) {
  printf("%-12s %d logs: theta off by %.2g on average, %.1f %% within 3 sd, mean error at most %.1f sd of the mean\n",
         what, t->logs, t->relative / t->logs, 100.0 * t->inside / t->all, bias(t));
}

/* logs of two_link with the same motion and different noise, each estimator on all of them */
static void many(const char *test, const truth *w, const damage *d, psdm_kinematics kinematics, double cutoff, int logs,
                 int estimators, const psdm_estimator *estimator, tally *out) {
  rng motion = rng_start(test), noise = {rng_next(&motion)};
  const rng same = motion;
  char path[64];
  double pi[400], theta[64];
  log_path(path);
  psdm_robot_parameters(w->robot, pi);
  true_theta(w->robot, pi, theta);
  memset(out, 0, (size_t)estimators * sizeof *out);
  for (int k = 0; k < logs; k++) {
    motion = same;
    write_damaged(path, w, d, &motion, &noise);
    for (int e = 0; e < estimators; e++) {
      psdm_calibration *c = calibrate_log(w->robot, path, estimator[e], kinematics, cutoff);
      add(&out[e], c, theta);
      psdm_calibration_free(c);
    }
  }
  for (int e = 0; e < estimators; e++) say(psdm_estimator_name(estimator[e]), &out[e]);
  unlink(path);
}

static truth rough(const psdm_robot *robot) {
  return (truth){.robot = robot, .rows = 3000, .dt = 0.005, .viscous = 3, .coulomb = 2, .offset = 0.5, .noise = 0.01};
}

/* inertias that are possible */
static const char possible[] =
    "name: two\ngravity: [0, 0, -9.81]\nconvention: dh\n"
    "joints:\n  - {name: a, type: revolute, a: 0.4, alpha: pi/2, drive_inertia: 0.3}\n  - {name: b, type: revolute, a: "
    "0.3, drive_inertia: 0.1}\n"
    "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n"
    "  - {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.001}}\n";

/* ---- without noise they find the truth ---- */

TEST(exact_logs) {
  /* robust, iv: to rounding, whatever the weights and instruments; didim, energy: to the error of the reference's
   * filter and of the quadrature */
  static const double bound[WALKING] = {1e-12, 1e-12, 1e-3, 1e-5};
  rng g = rng_start("exact_logs");
  char path[64], coupled[1024];
  double pi[400], theta[64];
  log_path(path);
  snprintf(coupled, sizeof coupled, "%stransmission: [[1, 0], [-1, 1]]\n", possible);
  for (int kind = 0; kind < 3; kind++) {
    psdm_robot *robot = kind == 0   ? load_shipped("two_link")
                        : kind == 1 ? load_shipped("kuka_kr6")
                                    : parse_robot(coupled);
    truth w = {.robot = robot, .rows = kind == 1 ? 1400 : 2000, .dt = 0.005, .viscous = kind == 2 ? 0 : 3};
    const damage none = {.accelerations = true};
    write_damaged(path, &w, &none, &g, &g);
    psdm_robot_parameters(robot, pi);
    true_theta(robot, pi, theta);
    for (int e = 0; e < WALKING; e++) {
      psdm_calibration *c = calibrate_log(robot, path, walking[e], PSDM_KINEMATICS_ACCELERATION, INFINITY);
      double off = 0, size = 0;
      for (int j = 0; j < c->base; j++)
        off = fmax(off, fabs(c->theta[j].value - theta[j])), size = fmax(size, fabs(theta[j]));
      printf("%s: %s off by %.1e of the largest parameter, condition %.2g\n", psdm_robot_name(robot),
             psdm_estimator_name(walking[e]), off / size, c->condition);
      assert_true(off < bound[e] * size);
      psdm_calibration_free(c);
    }
    psdm_robot_free(robot);
  }
  unlink(path);
}

/* ---- noise ---- */

/* torque noise alone: no estimator is biased, and the uncertainty is right */
TEST(torque_noise) {
  psdm_robot *robot = load_shipped("two_link");
  truth w = rough(robot);
  const damage none = {.accelerations = true};
  tally t[WALKING];
  many("torque_noise", &w, &none, PSDM_KINEMATICS_ACCELERATION, INFINITY, 6, WALKING, walking, t);
  for (int e = 0; e < WALKING; e++) {
    /* thirty-six cases, of which 0.3 % to 2 % (t with 19 degrees, 20 blocks) are outside */
    assert_true(t[e].inside >= 0.93 * t[e].all);
    assert_true(bias(&t[e]) < 4);
    assert_true(t[e].relative / t[e].logs < 0.03);
  }
  psdm_robot_free(robot);
}

/* one torque in sixteen is wrong: least squares fails, robust does not */
TEST(outliers) {
  static const psdm_estimator two[] = {PSDM_ESTIMATOR_WLS, PSDM_ESTIMATOR_ROBUST};
  psdm_robot *robot = load_shipped("two_link");
  truth w = rough(robot);
  const damage d = {.accelerations = true, .outliers = 0.06};
  tally t[2];
  many("outliers", &w, &d, PSDM_KINEMATICS_ACCELERATION, INFINITY, 6, 2, two, t);
  assert_true(t[0].relative / t[0].logs > 0.3 && t[1].relative / t[1].logs < 0.03);
  assert_true(t[1].inside >= 0.93 * t[1].all && bias(&t[1]) < 4);
  psdm_robot_free(robot);
}

/* Tukey's equations, sum of w(u) e [Y F] = 0, row by row from the predictions */
typedef struct score {
  const psdm_calibration *c;
  const psdm_robot *robot;
  psdm_work *work;
  double g[64], H[64 * 64], Y[2 * 40]; /* gradient, sum of w [Y F]^T [Y F] / sigma^2; theta and gains */
  int kept[64], rows, W;
} score;

static bool add_score(void *user, const psdm_predicted_row *row) {
  score *s = user;
  const psdm_calibration *c = s->c;
  assert_int_equal(psdm_regressor_standard(s->robot, s->work, row->q, row->qd, row->qdd, s->Y), PSDM_OK);
  for (int i = 0, at = c->base; i < c->n; at += c->columns[i++]) {
    double x[64] = {0}, v = row->qd[i], u = (row->predicted[i] - row->tau[i]) / c->sigma[i],
           share = u / 4.685 * (u / 4.685), w = share < 1 ? (1 - share) * (1 - share) : 0;
    if (fabs(v) <= c->rest * c->speed[i]) continue;
    for (int j = 0; j < c->base; j++) x[j] = s->Y[i * c->standard + s->kept[j]];
    x[at] = v, x[at + 1] = v > 0 ? 1 : -1, x[at + 2] = 1;
    for (int j = 0; j < s->W; j++) {
      s->g[j] += w * u * x[j] / c->sigma[i];
      for (int k = 0; k < s->W; k++) s->H[j * s->W + k] += w * x[j] * x[k] / (c->sigma[i] * c->sigma[i]);
    }
    s->rows++;
  }
  return true;
}

TEST(robust_solves_its_equations) {
  rng g = rng_start("robust_solves_its_equations");
  psdm_robot *robot = load_shipped("two_link");
  truth w = rough(robot);
  const damage d = {.accelerations = true, .outliers = 0.06};
  char path[64];
  log_path(path);
  write_damaged(path, &w, &d, &g, &g);
  psdm_calibration *c = calibrate_log(robot, path, PSDM_ESTIMATOR_ROBUST, PSDM_KINEMATICS_ACCELERATION, INFINITY);
  score s = {.c = c, .robot = robot, .W = c->base + 3 * c->n};
  psdm_model *model;
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  for (int j = 0; j < c->base; j++) psdm_model_base_term(model, j, 0, &s.kept[j]);
  assert_int_equal(psdm_work_new(robot, NULL, &s.work), PSDM_OK);
  assert_int_equal(psdm_calibration_predict(c, add_score, &s, NULL), PSDM_OK);
  assert_true(s.rows > 5000);
  /* the remaining step, by elimination, in standard deviations */
  double worst = 0, *H = s.H;
  int W = s.W;
  for (int i = 0; i < W; i++)
    for (int k = i + 1; k < W; k++) {
      double share = H[k * W + i] / H[i * W + i];
      for (int j = i; j < W; j++) H[k * W + j] -= share * H[i * W + j];
      s.g[k] -= share * s.g[i];
    }
  for (int i = W - 1; i >= 0; i--) {
    for (int j = i + 1; j < W; j++) s.g[i] -= H[i * W + j] * s.g[j];
    s.g[i] /= H[i * W + i];
    worst = fmax(worst, fabs(s.g[i]) / sqrt(c->covariance[(long)i * W + i]));
  }
  printf("remaining step: at most %.2g standard deviations\n", worst);
  assert_true(worst < 0.1); /* rounds end when steps are below 0.05 */
  psdm_work_free(s.work, NULL);
  psdm_model_free(model);
  psdm_calibration_free(c);
  unlink(path);
  psdm_robot_free(robot);
}

/* noisy velocities, filtered too little: least squares is biased, instruments and simulation hardly are */
TEST(noisy_velocities) {
  static const psdm_estimator four[] = {PSDM_ESTIMATOR_OLS, PSDM_ESTIMATOR_WLS, PSDM_ESTIMATOR_IV,
                                        PSDM_ESTIMATOR_DIDIM};
  psdm_robot *robot = load_shipped("two_link");
  truth w = rough(robot);
  const damage d = {.position = 1e-4, .rate = 0.02};
  tally t[4];
  many("noisy_velocities", &w, &d, PSDM_KINEMATICS_VELOCITY, 40, 5, 4, four, t);
  for (int e = 0; e < 4; e++)
    if (e < 2) assert_true(bias(&t[e]) > 6 && t[e].relative / t[e].logs > 0.05);
    else assert_true(bias(&t[e]) < 4 && t[e].inside >= 0.93 * t[e].all && t[e].relative / t[e].logs < 0.03);
  psdm_robot_free(robot);
}

/* accelerations in the log are nonsense: energy does not use them */
TEST(energy_needs_no_accelerations) {
  rng g = rng_start("energy_needs_no_accelerations");
  psdm_robot *robot = load_shipped("kuka_kr6");
  truth w = {.robot = robot, .rows = 6000, .dt = 0.005, .viscous = 3, .coulomb = 2, .offset = 0.5, .noise = 0.002};
  const damage none = {0};
  char path[64];
  double pi[400], theta[64];
  log_path(path);
  write_damaged(path, &w, &none, &g, &g);
  psdm_robot_parameters(robot, pi);
  true_theta(robot, pi, theta);
  psdm_calibration *c = calibrate_log(robot, path, PSDM_ESTIMATOR_ENERGY, PSDM_KINEMATICS_VELOCITY, INFINITY);
  tally t = {0};
  add(&t, c, theta);
  say("energy, KR6", &t);
  assert_true(t.relative < 0.02 && t.inside >= 0.93 * t.all);
  for (int i = 0; i < c->n; i++)
    assert_true(fabs(c->column[i][0].gain - 3) < 0.5 && fabs(c->column[i][1].gain - 2) < 0.5);
  psdm_calibration_free(c);
  unlink(path);
  psdm_robot_free(robot);
}

/* ---- folds and essential parameters ---- */

/* a left-out fold is predicted as well as the rest, within the uncertainty of 600 rows (3 %) and of a fit to the
 * others */
TEST(folds) {
  rng g = rng_start("folds");
  psdm_robot *robot = parse_robot(possible);
  truth w = rough(robot);
  const damage none = {.accelerations = true};
  double least = INFINITY, most = 0;
  char path[64];
  log_path(path);
  write_damaged(path, &w, &none, &g, &g);
  for (int e = 0; e < PSDM_ESTIMATORS; e++) {
    if (e == PSDM_ESTIMATOR_TLS) continue; /* it is not meant for exact kinematics */
    psdm_calibration *c = calibrate_log(robot, path, (psdm_estimator)e, PSDM_KINEMATICS_ACCELERATION, INFINITY);
    assert_int_equal(c->folds, 5);
    for (int fold = 0; fold < c->folds; fold++)
      for (int i = 0; i < c->n; i++) {
        double share = c->fold_rmse[fold * c->n + i] / c->sigma[i];
        least = fmin(least, share), most = fmax(most, share);
        assert_true(share > 0.9 && share < 1.15);
      }
    psdm_calibration_free(c);
  }
  printf("rmse on left-out folds: %.3f to %.3f of the residual's\n", least, most);
  unlink(path);
  psdm_robot_free(robot);
}

/* the arm is symmetric: its first moments along y are zero, and noise may hide a single one in one case of twenty at
 * most; the others are far from zero */
TEST(essentials) {
  static const psdm_estimator all[] = {PSDM_ESTIMATOR_OLS, PSDM_ESTIMATOR_WLS,   PSDM_ESTIMATOR_ROBUST,
                                       PSDM_ESTIMATOR_IV,  PSDM_ESTIMATOR_DIDIM, PSDM_ESTIMATOR_ENERGY};
  rng g = rng_start("essentials");
  psdm_robot *robot = load_shipped("two_link");
  truth w = rough(robot);
  const damage none = {.accelerations = true};
  char path[64];
  double pi[400], theta[64];
  int zeros = 0, found = 0;
  log_path(path);
  psdm_robot_parameters(robot, pi);
  true_theta(robot, pi, theta);
  for (int log = 0; log < 2; log++) {
    write_damaged(path, &w, &none, &g, &g);
    for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
      psdm_calibration *c = calibrate_log(robot, path, all[e], PSDM_KINEMATICS_ACCELERATION, INFINITY);
      for (int j = 0; j < c->base; j++) {
        bool zero = fabs(theta[j]) < 1e-6;
        if (!zero && !c->theta[j].essential)
          fail_msg("%s: %s is %g +- %g, and essential", psdm_estimator_name(all[e]), c->theta[j].name,
                   c->theta[j].value, c->theta[j].sd);
        zeros += zero, found += zero && !c->theta[j].essential;
      }
      psdm_calibration_free(c);
    }
  }
  printf("%d of %d zeros are found to be unneeded\n", found, zeros);
  assert_int_equal(zeros, 2 * 6 * 2);
  assert_true(found >= 0.5 * zeros); /* the six see the same noise */
  unlink(path);
  psdm_robot_free(robot);
}

/* ---- failures ---- */

static bool until_simulated(void *user, const char *doing, double share) {
  (void)share;
  int *left = user;
  if (strcmp(doing, "fitting") == 0 || strcmp(doing, "simulating") == 0 || strcmp(doing, "weighing outliers") == 0)
    --*left;
  return *left > 0;
}

TEST(stopped) {
  log_case l;
  log_case_new(&l, "stopped", load_shipped("two_link"));
  truth w = rough(l.robot);
  const damage d = {.accelerations = true, .outliers = 0.03};
  write_damaged(l.path, &w, &d, &l.g, &l.g);
  for (int round = 0; round < 2 * WALKING; round++) {
    int e = round / 2, left = 1 + round % 2; /* before the first pass, or behind it */
    psdm_calibrate_options o = plain_options(&l.name, 1, walking[e], PSDM_KINEMATICS_ACCELERATION, INFINITY);
    o.progress = until_simulated, o.progress_user = &left, o.rest = 0;
    psdm_calibration *c = NULL;
    psdm_error error = {0};
    if (psdm_calibrate(l.robot, &o, NULL, &c, &error)) fail_msg("%s: %s", error.file, error.text);
    assert_all_finite(c);
    assert_true((c->stopped || walking[e] == PSDM_ESTIMATOR_ENERGY) && c->steps <= 2);
    psdm_calibration_free(c);
  }
  log_case_free(&l);
}

TEST_MAIN(exact_logs, torque_noise, outliers, robust_solves_its_equations, noisy_velocities,
          energy_needs_no_accelerations, folds, essentials, stopped)
