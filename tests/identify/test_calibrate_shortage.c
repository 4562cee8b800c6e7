/* test_calibrate_shortage.c: memory runs out at every place of a calibration and of writing its parameters. */
#include "test_calibrate_log.h"

#include "psdm/parameters.h"
#include "shortage.h"

static const char one_link[] = "name: one\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, a: 0.4, "
                               "limits: {lower: -3, upper: 3, velocity: 5, effort: 100}}\nlinks:\n"
                               "  - {mass: 2, com: [0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n";

typedef struct task {
  const psdm_robot *robot;
  psdm_calibrate_options options;
} task;

static bool take_row(void *user, const psdm_predicted_row *row) { return !user && row->q; }
static void write_parameters(psdm_output *output, const void *what) { psdm_parameters_write(what, output); }

static psdm_status try_calibrate(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const task *t = what;
  psdm_calibration *c = (psdm_calibration *)&c;
  psdm_parameters *p = NULL;
  psdm_status status = psdm_calibrate(t->robot, &t->options, allocator, &c, error);
  if (status) {
    assert_null(c);
    return status;
  }
  status = psdm_calibration_predict(c, take_row, NULL, error);
  if (!status) status = psdm_parameters_from(c, true, allocator, &p, error);
  if (!status) status = shortage_write(write_parameters, p, allocator, error);
  psdm_parameters_free(p);
  psdm_calibration_free(c);
  return status;
}

TEST(every_estimator) {
  rng g = rng_start("every_estimator");
  psdm_robot *robot = parse_robot(one_link);
  char log[2][64];
  const char *path[2] = {log_path(log[0]), log_path(log[1])};
  const truth w = full_log_of(robot, 100, 0.01, 0.5);
  for (int k = 0; k < 2; k++) write_log(path[k], &w, &g);
  for (int e = 0; e < PSDM_ESTIMATORS; e++) {
    task plain = {robot, plain_options(path, 2, (psdm_estimator)e, PSDM_KINEMATICS_ACCELERATION, INFINITY)};
    plain.options.lambda = 1e-3, plain.options.threads = 1;
    shortage_everywhere(psdm_estimator_name((psdm_estimator)e), try_calibrate, &plain);
  }
  unlink(path[0]), unlink(path[1]);
  psdm_robot_free(robot);
}

/* with friction and the prior's weight to choose, and with thinned rows */
TEST(choices) {
  rng g = rng_start("choices");
  psdm_robot *robot = parse_robot(one_link);
  char log[64];
  const char *path[1] = {log_path(log)};
  const truth w = full_log_of(robot, 100, 0.01, 0.5);
  write_log(path[0], &w, &g);
  task open = {robot, plain_options(path, 1, PSDM_ESTIMATOR_CONSISTENT, PSDM_KINEMATICS_ACCELERATION, INFINITY)};
  open.options.plain_friction = false, open.options.springs = true;
  open.options.holdout = 0.3, open.options.columns = 4, open.options.threads = 1;
  shortage_everywhere("choices", try_calibrate, &open);
  task thin = {robot, plain_options(path, 1, PSDM_ESTIMATOR_CONSISTENT, PSDM_KINEMATICS_POSITION, 10)};
  thin.options.decimate = 2, thin.options.rest = 0, thin.options.threads = 1;
  shortage_tolerated("thinned", try_calibrate, &thin); /* predictions do not need the sums of the rows */
  unlink(path[0]);
  psdm_robot_free(robot);
}

TEST_MAIN(every_estimator, choices)
