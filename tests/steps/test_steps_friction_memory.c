/* test_steps_friction_memory.c: memory runs out while the friction step collects rows, keeps its answer and judges it:
 * each piece has a fence, and each allocation fails once. */
#include "test_steps_arms.h"

#include "fenced.h"

/* Where a drive's turn begins, by allocations so far. */
typedef struct clock_of {
  const counting *memory;
  long begins[2]; /* of the drives; the last one ends with the run */
  double share;
} clock_of;

static bool looks(void *user, const char *doing, double share) {
  clock_of *c = user;
  for (int d = 0; d < 2; d++) {
    char name[32];
    snprintf(name, sizeof name, "friction: j%d", d + 1);
    if (strcmp(doing, name) == 0 && c->begins[d] == 0) c->begins[d] = c->memory->calls;
  }
  c->share = share;
  return true;
}

typedef struct scene {
  psdm_robot *robot;
  psdm_steps_options options;
  clock_of clock;
} scene;

static psdm_status run(scene *s, counting *memory, psdm_steps **steps, psdm_error *error) {
  s->clock = (clock_of){.memory = memory};
  s->options.progress = looks, s->options.progress_user = &s->clock;
  return psdm_steps_run(s->robot, &s->options, &memory->allocator, steps, error);
}

static void fails(scene *s, long at) {
  counting memory;
  psdm_steps *steps = NULL;
  psdm_error error = {0};
  counting_fenced_init(&memory, at);
  psdm_status status = run(s, &memory, &steps, &error);
  if (status != PSDM_E_MEMORY) fail_msg("allocation %ld: status %d, '%s'", at, status, error.text);
  assert_null(steps);
  assert_int_equal(memory.live, 0);
}

static void every_piece(void **state) {
  (void)state;
  rng g = rng_start("every_piece");
  const arm *a = &arms[1];
  psdm_robot *truth = arm_robot(a, (told){.inertias = true});
  shelf logs = {.logs = 0};
  recorder r = {.robot = truth, .constant = a->constant, .friction = a->friction, .rates = true, .noise = 0.02};
  track *m = track_new(2, 0.02);
  m->at[0] = 0.3, m->at[1] = 0.4;
  for (int d = 0; d < 2; d++) {
    track_hold(m, 0.5);
    track_sine(m, d, 0.3, 1.1, 2);
  }
  track_hold(m, 0.5);
  shelf_write(&logs, PSDM_STEP_FRICTION, &r, m, &g);
  scene s = {.robot = arm_robot(a, (told){.inertias = true, .motors = true}),
             .options = {.logs = 1, .log = logs.log, .cutoff = {0, 0, INFINITY, 0}}};
  counting memory;
  psdm_steps *steps = NULL;
  psdm_error error = {0};
  counting_fenced_init(&memory, 0);
  if (run(&s, &memory, &steps, &error)) fail_msg("%s", error.text);
  long all = memory.calls;
  assert_true(steps->friction_from[0] == PSDM_FROM_LOG && steps->friction_from[1] == PSDM_FROM_LOG &&
              s.clock.begins[0] > 0 && s.clock.begins[1] > s.clock.begins[0]);
  print_message("%ld allocations, drives begin after %ld and %ld\n", all, s.clock.begins[0], s.clock.begins[1]);
  psdm_steps_free(steps);
  /* the step's own last pieces, then those of each drive */
  for (long at = s.clock.begins[0] - 5; at <= all; at++) fails(&s, at);
  psdm_robot_free(s.robot), psdm_robot_free(truth);
  shelf_clear(&logs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_piece)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
