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

static void every_estimator(void **state) {
  (void)state;
  rng g = rng_start("every_estimator");
  psdm_robot *robot = parse_robot(one_link);
  char log[2][64];
  const char *path[2] = {log_path(log[0]), log_path(log[1])};
  for (int k = 0; k < 2; k++)
    write_log(path[k],
              &(truth){.robot = robot,
                       .rows = 100,
                       .dt = 0.01,
                       .viscous = 1,
                       .coulomb = 0.5,
                       .rates = true,
                       .accelerations = true,
                       .noise = 0.01},
              &g);
  for (int e = 0; e < PSDM_ESTIMATORS; e++) {
    const task plain = {robot,
                        {.files = 2,
                         .path = path,
                         .estimator = (psdm_estimator)e,
                         .kinematics = PSDM_KINEMATICS_ACCELERATION,
                         .cutoff = INFINITY,
                         .delay_given = true,
                         .plain_friction = true,
                         .rest = -1,
                         .lambda = 1e-3,
                         .threads = 1}};
    shortage_everywhere(psdm_estimator_name((psdm_estimator)e), try_calibrate, &plain);
  }
  unlink(path[0]), unlink(path[1]);
  psdm_robot_free(robot);
}

/* with friction and the prior's weight to choose, and with thinned rows */
static void choices(void **state) {
  (void)state;
  rng g = rng_start("choices");
  psdm_robot *robot = parse_robot(one_link);
  char log[64];
  const char *path[1] = {log_path(log)};
  write_log(path[0],
            &(truth){.robot = robot,
                     .rows = 100,
                     .dt = 0.01,
                     .viscous = 1,
                     .coulomb = 0.5,
                     .rates = true,
                     .accelerations = true,
                     .noise = 0.01},
            &g);
  const task open = {robot,
                     {.files = 1,
                      .path = path,
                      .holdout = 0.3,
                      .kinematics = PSDM_KINEMATICS_ACCELERATION,
                      .cutoff = INFINITY,
                      .rest = -1,
                      .delay_given = true,
                      .columns = 4,
                      .threads = 1,
                      .springs = true}};
  shortage_everywhere("choices", try_calibrate, &open);
  const task thin = {robot,
                     {.files = 1,
                      .path = path,
                      .decimate = 2,
                      .kinematics = PSDM_KINEMATICS_POSITION,
                      .cutoff = 10,
                      .delay_given = true,
                      .plain_friction = true,
                      .threads = 1}};
  shortage_tolerated("thinned", try_calibrate, &thin); /* predictions do not need the sums of the rows */
  unlink(path[0]);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_estimator), cmocka_unit_test(choices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
