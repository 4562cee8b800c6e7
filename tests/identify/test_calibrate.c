/* test_calibrate.c: calibrations from logs whose truth is known, for every kind of robot. */
#include "test_calibrate_log.h"

#include <lapacke.h>

#include "psdm/calibrate.h"

/* exact kinematics as logged, no filter, no delay, plain friction: least squares without any choice */
static psdm_calibrate_options exactly(const char *const *path, psdm_estimator estimator) {
  return plain_options(path, 1, estimator, PSDM_KINEMATICS_ACCELERATION, INFINITY);
}

/* ---- the answer is the truth ---- */

TEST(robots_of_every_kind) {
  rng g = rng_start("robots_of_every_kind");
  double most = 0;
  char path[64], text[16384];
  const char *name = log_path(path);
  for (int round = 0; round < 30; round++) {
    const random_options kinds = random_kinds(round, 5);
    psdm_robot *robot = parse_robot(random_robot_text(&g, &kinds, text, sizeof text));
    truth w = log_of(robot, 600, 0.01, 2, 3);
    w.rates = w.accelerations = true;
    w.offset = -1;
    write_log(path, &w, &g);
    psdm_calibrate_options o = exactly(&name, round % 2 ? PSDM_ESTIMATOR_WLS : PSDM_ESTIMATOR_OLS);
    o.holdout = 0.3;
    psdm_calibration *c = calibrate(robot, &o, NULL);
    double *pi = malloc((size_t)c->standard * sizeof *pi), *theta = malloc((size_t)c->base * sizeof *theta), size = 0;
    psdm_robot_parameters(robot, pi);
    true_theta(robot, pi, theta);
    for (int j = 0; j < c->base; j++) size = fmax(size, fabs(theta[j]));
    /* theta to double precision at this condition number (some 100 roundings of 1.1e-16 per row) */
    double bound = 1e-13 * c->condition * fmax(size, 1);
    for (int j = 0; j < c->base; j++) {
      double off = fabs(c->theta[j].value - theta[j]);
      if (c->condition < 1e8 && off > bound)
        fail_msg("round %d: %s is %.17g, not %.17g (condition %g)", round, c->theta[j].name, c->theta[j].value,
                 theta[j], c->condition);
      if (c->condition < 1e8) most = fmax(most, off / bound);
    }
    for (int i = 0; i < c->n && c->condition < 1e8; i++)
      assert_true(fabs(c->column[i][0].gain - 2) < bound + 1e-12 * c->condition &&
                  fabs(c->column[i][1].gain - 3) < bound + 1e-12 * c->condition);
    assert_true(c->heldout[PSDM_FIT_ALL].global_rel < 1e-7);
    assert_true(c->heldout[PSDM_FIT_ALL].rows > 0 && c->train[PSDM_FIT_ALL].rows > c->heldout[PSDM_FIT_ALL].rows);
    free(pi);
    free(theta);
    psdm_calibration_free(c);
    psdm_robot_free(robot);
  }
  print_message("largest error of theta over its bound: %.2g\n", most);
  unlink(path);
}

/* ---- the plain twin: all rows at once ---- */

typedef struct stacked {
  const psdm_robot *robot;
  psdm_work *work;
  double *A, *b, *Y; /* (rows n x W), (rows n) */
  const int *kept;
  long rows, room;
  int n, l, S, W;
} stacked;

static bool stack_row(void *user, const psdm_predicted_row *row) {
  stacked *s = user;
  if (row->heldout) return true;
  assert_true(s->rows < s->room);
  assert_int_equal(psdm_regressor_standard(s->robot, s->work, row->q, row->qd, row->qdd, s->Y), PSDM_OK);
  for (int i = 0; i < s->n; i++) {
    double *to = s->A + (s->rows * s->n + i) * s->W;
    memset(to, 0, (size_t)s->W * sizeof *to);
    for (int j = 0; j < s->l; j++) to[j] = s->Y[(long)i * s->S + s->kept[j]];
    double *own = to + s->l + 3 * i, v = row->qd[i];
    own[0] = v, own[1] = v > 0 ? 1 : v < 0 ? -1 : 0, own[2] = 1;
    s->b[s->rows * s->n + i] = row->tau[i];
  }
  s->rows++;
  return true;
}

/* least squares through blocks, active columns and triangles equals least squares of the whole matrix, filtered and
 * with noise */
TEST(factors_are_the_whole_matrix) {
  rng g = rng_start("factors_are_the_whole_matrix");
  char path[64];
  const char *name = log_path(path);
  psdm_robot *robot = load_shipped("kuka_kr6");
  truth w = {.robot = robot, .rows = 3000, .dt = 0.005, .viscous = 5, .coulomb = 2, .noise = 0.01};
  write_log(path, &w, &g);
  psdm_calibrate_options o = plain_options(&name, 1, PSDM_ESTIMATOR_OLS, PSDM_KINEMATICS_AUTO, 15);
  o.holdout = 0.2;
  psdm_calibration *c = calibrate(robot, &o, NULL);
  int n = c->n, l = c->base, W = l + 3 * n;
  psdm_model *model;
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  int *kept = malloc((size_t)l * sizeof *kept);
  for (int j = 0; j < l; j++) psdm_model_base_term(model, j, 0, &kept[j]);
  stacked s = {.robot = robot, .kept = kept, .room = 3000, .n = n, .l = l, .S = c->standard, .W = W};
  s.A = malloc(3000 * (size_t)n * (size_t)W * sizeof *s.A), s.b = malloc(3000 * (size_t)n * sizeof *s.b),
  s.Y = malloc((size_t)n * (size_t)s.S * sizeof *s.Y);
  assert_int_equal(psdm_work_new(robot, NULL, &s.work), PSDM_OK);
  assert_int_equal(psdm_calibration_predict(c, stack_row, &s, NULL), PSDM_OK);
  assert_int_equal(LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (int)(s.rows * n), W, 1, s.A, W, s.b, 1), 0);
  double off = 0, size = 0;
  for (int j = 0; j < l; j++) off = fmax(off, fabs(c->theta[j].value - s.b[j])), size = fmax(size, fabs(s.b[j]));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) off = fmax(off, fabs(c->column[i][k].gain - s.b[l + 3 * i + k]));
  print_message("largest difference %.2g, condition %.3g, rows %ld\n", off / size, c->condition, s.rows);
  assert_true(off < 1e-13 * c->condition * size);
  free(s.A), free(s.b), free(s.Y), free(kept);
  psdm_work_free(s.work, NULL);
  psdm_model_free(model);
  psdm_calibration_free(c);
  psdm_robot_free(robot);
  unlink(path);
}

/* ---- noise, filters, choices ---- */

TEST(recipe_with_noise) {
  log_case l;
  log_case_new(&l, "recipe_with_noise", parse_robot(two_driven_links));
  truth w = log_of(l.robot, 6000, 0.005, 4, 3);
  w.smooth = 0.5, w.noise = 0.01, w.step = 2e-5;
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = {.files = 1, .path = &l.name, .holdout = 0.3};
  psdm_calibration *c = calibrate(l.robot, &o, NULL);
  print_message("held out %.3g of the torque, cost ratio %.3f, filter %g Hz, delay %g s\n",
                c->heldout[PSDM_FIT_ALL].global_rel, c->cost_ratio, c->cutoff, c->delay);
  assert_true(physically_possible(c->pi, 2));
  /* the residual of the logged torque is its noise and hardly more: the standard deviation of 3 % of so many rows is
   * below 3 % */
  for (int i = 0; i < 2; i++) assert_true(c->heldout[PSDM_FIT_RAW].joint[i].rmse < 1.06 * 0.01 * largest_torque[i]);
  assert_true(c->delay == 0 && c->reasons[0][0] && c->steps > 0);
  /* full and base parameters describe the same robot */
  double theta[40];
  true_theta(l.robot, c->pi, theta);
  for (int j = 0; j < c->base; j++) assert_true(fabs(theta[j] - c->theta[j].value) < 1e-9 * (1 + fabs(theta[j])));
  /* a torque delayed by 10 ms is detected by default */
  psdm_calibration_free(c);
  FILE *in = fopen(l.path, "r"), *out;
  char late[64], line[1024];
  const char *late_name = log_path(late);
  out = fopen(late, "w");
  assert_true(in && out);
  assert_non_null(fgets(line, sizeof line, in));
  fputs("t,q1,q2,tau1,tau2\n", out);
  double t, a, b, u, v, tau1[2], tau2[2];
  for (long row = 0; fgets(line, sizeof line, in) && sscanf(line, "%lf,%lf,%lf,%lf,%lf", &t, &a, &b, &u, &v) == 5;
       row++) { /* positions of this row, torques of two rows ago */
    if (row >= 2) fprintf(out, "%.9f,%.17g,%.17g,%.17g,%.17g\n", t, a, b, tau1[row % 2], tau2[row % 2]);
    tau1[row % 2] = u, tau2[row % 2] = v;
  }
  fclose(in);
  assert_int_equal(fclose(out), 0);
  o.path = &late_name;
  c = calibrate(l.robot, &o, NULL);
  print_message("late by 10 ms: found %g ms, filter %g Hz, held out %.3g\n", 1e3 * c->delay, c->cutoff,
                c->heldout[PSDM_FIT_ALL].global_rel);
  assert_true(fabs(c->delay - 0.01) < 1e-12);
  psdm_calibration_free(c);
  o.delay_given = true;
  c = calibrate(l.robot, &o, NULL);
  assert_true(c->delay == 0);
  psdm_calibration_free(c);
  unlink(late);
  log_case_free(&l);
}

/* the stated errors are those of the predictions */
typedef struct recount {
  double error[4], square[4], band;
  long rows, held;
} recount;

static bool count_row(void *user, const psdm_predicted_row *row) {
  recount *r = user;
  r->rows++;
  r->held += row->heldout;
  for (int i = 0; i < 2 && row->heldout; i++) {
    double e = row->tau[i] - row->predicted[i];
    r->error[i] += e * e, r->square[i] += row->tau[i] * row->tau[i];
  }
  for (int i = 0; i < 2; i++) {
    assert_true(isfinite(row->predicted[i]) && isfinite(row->band[i]) && row->band[i] > 0 &&
                fabs(row->friction[i]) < 100);
    r->band = fmax(r->band, row->band[i]);
  }
  return true;
}

static bool stop_at_ten(void *user, const psdm_predicted_row *row) {
  (void)row;
  return ++*(long *)user < 10;
}

TEST(predictions_are_counted) {
  log_case l;
  log_case_new(&l, "predictions_are_counted", parse_robot(two_driven_links));
  truth w = {.robot = l.robot, .rows = 3000, .dt = 0.005, .viscous = 4, .noise = 0.01, .rates = true, .jitter = 0.2};
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = {
      .files = 1, .path = &l.name, .holdout_block = 1, .holdout_every = 3, .cutoff = 10, .delay_given = true};
  psdm_calibration *c = calibrate(l.robot, &o, NULL);
  recount r = {0};
  assert_int_equal(psdm_calibration_predict(c, count_row, &r, NULL), PSDM_OK);
  const psdm_part_fit *held = &c->heldout[PSDM_FIT_ALL];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(held->joint[i].rows, r.held);
    assert_true(fabs(held->joint[i].rmse - sqrt(r.error[i] / (double)r.held)) < 1e-12 * (1 + held->joint[i].rmse));
  }
  assert_true(fabs(held->global_rel - sqrt((r.error[0] + r.error[1]) / (r.square[0] + r.square[1]))) < 1e-12);
  assert_true(r.held * 3 > r.rows * 0.8 && r.held * 3 < r.rows * 1.6);
  long seen = 0;
  assert_int_equal(psdm_calibration_predict(c, stop_at_ten, &seen, NULL), PSDM_OK);
  assert_int_equal(seen, 10);
  psdm_calibration_free(c);
  log_case_free(&l);
}

/* ---- drives through a transmission ---- */

TEST(transmission) {
  char text[2048];
  snprintf(text, sizeof text, "%s%s", two_driven_links, "transmission: [[1, 0], [-1, 1]]\n");
  log_case l;
  log_case_new(&l, "transmission", parse_robot(text));
  truth w = {.robot = l.robot, .rows = 1500, .dt = 0.01, .rates = true, .accelerations = true};
  write_log(l.path, &w, &l.g);
  psdm_calibrate_options o = exactly(&l.name, PSDM_ESTIMATOR_WLS);
  psdm_calibration *c = calibrate(l.robot, &o, NULL);
  double pi[64], theta[40];
  psdm_robot_parameters(l.robot, pi);
  true_theta(l.robot, pi, theta);
  for (int j = 0; j < c->base; j++) assert_true(fabs(c->theta[j].value - theta[j]) < 1e-13 * c->condition * 10);
  psdm_calibration_free(c);
  log_case_free(&l);
}

/* the file's assumptions are ignored, and the answer says so */
TEST(assumptions) {
  rng g = rng_start("assumptions");
  char path[64], text[2048];
  const char *name = log_path(path);
  snprintf(text, sizeof text, "%s%s", two_driven_links, "assume: [ry2 = 0, Ixx2 = Iyy2]\n");
  psdm_robot *robot = parse_robot(text), *bare = parse_robot(two_driven_links);
  truth w = {.robot = bare, .rows = 1500, .dt = 0.01, .rates = true, .accelerations = true};
  write_log(path, &w, &g);
  psdm_calibrate_options o = exactly(&name, PSDM_ESTIMATOR_WLS);
  psdm_calibration *c = calibrate(robot, &o, NULL);
  double pi[64], theta[40];
  psdm_robot_parameters(bare, pi);
  true_theta(bare, pi, theta);
  for (int j = 0; j < c->base; j++) assert_true(fabs(c->theta[j].value - theta[j]) < 1e-13 * c->condition * 10);
  assert_non_null(strstr(c->reasons[0], "assumptions"));
  psdm_calibration_free(c);
  psdm_robot_free(robot);
  psdm_robot_free(bare);
  unlink(path);
}

TEST_MAIN(robots_of_every_kind, factors_are_the_whole_matrix, recipe_with_noise, predictions_are_counted, transmission,
          assumptions)
