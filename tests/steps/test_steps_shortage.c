/* test_steps_shortage.c: memory runs out at every place of a calibration step by step. */
#include "test_steps_log.h"
#include "test_steps_arms.h"

#include "psdm/parameters.h"
#include "shortage.h"

typedef struct task {
  const psdm_robot *robot;
  psdm_steps_options options;
} task;

static bool take_row(void *user, const psdm_steps_row *row) { return !user && row; }

static psdm_status try_steps(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const task *t = what;
  psdm_steps *s = (psdm_steps *)&s;
  psdm_parameters *p = NULL;
  psdm_status status = psdm_steps_run(t->robot, &t->options, allocator, &s, error);
  if (status) {
    assert_null(s);
    return status;
  }
  status = psdm_steps_predict(s, take_row, NULL, error);
  if (!status) status = psdm_parameters_from_steps(s, allocator, &p, error);
  psdm_parameters_free(p);
  psdm_steps_free(s);
  return status;
}

static void steps(void **state) {
  (void)state;
  rng g = rng_start("steps");
  const arm *a = &arms[1];
  shelf logs = {.logs = 0};
  psdm_robot *truth = arm_robot(a, (told){.inertias = true}),
             *asked = arm_robot(
                 a, (told){.friction = true, .more = "assume: [Ixz1 = 0]\ntool: {mass: 1, com: [0, 0, 0.1]}\n"});
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .noise = 0.1};
  make_logs(&logs, MOTOR | GRAVITY | INERTIA, a, r, 0.04, &g);
  shortage_everywhere("steps", try_steps, &(task){asked, steps_options(&logs, false)});
  psdm_robot_free(truth), psdm_robot_free(asked);
  shelf_clear(&logs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
