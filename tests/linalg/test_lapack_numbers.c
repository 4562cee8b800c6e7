/* test_lapack_numbers.c: LAPACK fails at every place where the library calls it: in linear systems, base parameters,
 * bounds, calibrations. The caller gets a numerical error, not a memory error, and no numbers. */
#include "../identify/test_calibrate_log.h"

#include "unsolved.h"
#include "psdm/analyze.h"
#include "psdm/cartesian.h"
#include "psdm/base_parameters.h"
#include "psdm/statespace.h"

/* ---- linear systems: a cart with a pendulum's numbers ---- */

static const double A[16] = {0, 0, 1, 0, 0, 0, 0, 1, 0, 5, -0.1, 0, 0, 25, -0.2, -0.1}, B[4] = {0, 0, 1, 2},
                    Q[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, R[1] = {0.1};

static psdm_status try_system(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  double dt = *(const double *)what, *scratch = malloc(psdm_system_scratch(4, 1) * sizeof *scratch), K[4], X[16],
         Ad[16], Bd[4];
  psdm_mode modes[4];
  psdm_lqr_info info;
  psdm_system_facts facts;
  (void)allocator, (void)error;
  assert_non_null(scratch);
  psdm_status status = dt > 0 ? psdm_system_discretise(4, 1, A, B, dt, scratch, Ad, Bd) : PSDM_OK;
  const double *a = dt > 0 ? Ad : A, *b = dt > 0 ? Bd : B;
  if (!status) status = psdm_system_analyze(4, 1, a, b, dt, scratch, modes, &facts);
  if (!status) status = psdm_system_lqr(4, 1, a, b, dt, Q, R, scratch, K, X, modes, &info);
  if (!status && info.outcome == PSDM_LQR_OK) { /* then it does stabilise */
    for (int k = 0; k < 4; k++) assert_true(isfinite(K[k]));
  } else if (!status) {
    status = PSDM_E_SINGULAR;
  }
  free(scratch);
  return status;
}

TEST(linear_systems) {
  static const double dt[] = {0, 0.01};
  long places = 0;
  /* one refinement less does not matter */
  for (int k = 0; k < 2; k++) places += unsolved_tolerated("system", try_system, &dt[k]);
  assert_true(places > 10);
}

/* ---- robots ---- */

static psdm_status try_params(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_model *model = (psdm_model *)&model;
  psdm_status status = psdm_base_parameters_derive(what, NULL, allocator, &model, NULL, error);
  if (status) assert_null(model);
  if (!status) assert_true(psdm_model_l(model) == 6);
  psdm_model_free(model);
  return status;
}

static psdm_status try_bounds(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_bounds *bounds = (psdm_bounds *)&bounds;
  psdm_status status = psdm_bounds_new(what, &(psdm_bounds_options){.points = 60, .samples = 1100, .threads = 1},
                                       allocator, &bounds, error);
  if (status) assert_null(bounds);
  psdm_bounds_free(bounds);
  return status;
}

static psdm_status try_condition(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  double condition = 0;
  psdm_status status = psdm_mass_condition(what, allocator, &condition, error);
  if (!status) assert_true(condition >= 1);
  return status;
}

TEST(robots) {
  psdm_robot *robot = parse_robot(
      "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, a: 0.5}\n  - {name: b, a: 0.4}\nlinks:\n"
      "  - {mass: 2, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n  - {mass: 1, com: [0, 0.1, 0], "
      "inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n");
  unsolved_tolerated("params", try_params, robot);
  unsolved_everywhere("bounds", try_bounds, robot);
  unsolved_tolerated("condition", try_condition, robot); /* other states show it as well */
  psdm_robot_free(robot);
}

/* ---- calibrations ---- */

typedef struct task {
  const psdm_robot *robot;
  psdm_calibrate_options options;
} task;

static double reference[40];
static bool known;

static psdm_status try_calibrate(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const task *t = what;
  psdm_calibration *c = (psdm_calibration *)&c;
  psdm_status status = psdm_calibrate(t->robot, &t->options, allocator, &c, error);
  if (status) {
    assert_null(c);
    return status;
  }
  /* by another method, but the same number; the verdict may be worse */
  for (int j = 0; j < c->base && !known; j++) reference[j] = c->theta[j].value;
  known = true;
  for (int j = 0; j < c->base; j++)
    if (!(fabs(c->theta[j].value - reference[j]) <= 1e-6 * (1 + fabs(reference[j])))) {
      print_error("%s: %g, not %g\n", c->theta[j].name, c->theta[j].value, reference[j]);
      status = PSDM_E_PARSE; /* no acceptable answer */
    }
  psdm_calibration_free(c);
  return status;
}

TEST(every_estimator) {
  rng g = rng_start("every_estimator");
  psdm_robot *robot =
      parse_robot("name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, a: 0.4}\nlinks:\n  - "
                  "{mass: 2, com: [0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n");
  char log[64];
  const char *path[1] = {log_path(log)};
  const truth w = full_log_of(robot, 200, 0.01, 0.5);
  write_log(path[0], &w, &g);
  long places = 0;
  for (int e = 0; e < PSDM_ESTIMATORS; e++) {
    task plain = {robot, plain_options(path, 1, (psdm_estimator)e, PSDM_KINEMATICS_ACCELERATION, INFINITY)};
    plain.options.lambda = 1e-3, plain.options.threads = 1;
    known = false;
    places += unsolved_tolerated(psdm_estimator_name((psdm_estimator)e), try_calibrate, &plain);
  }
  assert_true(places > 10);
  unlink(path[0]);
  psdm_robot_free(robot);
}

TEST_MAIN(linear_systems, robots, every_estimator)
