/* test_steps_friction.c: the friction step against its plain twin on whole experiments: poses, filters, tools, logs,
 * and obstacles. */
#include "test_steps_friction_twin.h"

/* three joints, each in poses of the joints behind it; a constant torque at the second */
static void poses_and_uncertainty(void **state) {
  (void)state;
  arm a = arms[0];
  a.friction[1].offset = 0.8;
  trial t;
  trial_new(&t, "poses_and_uncertainty", &a, NULL);
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, poses_track(&a, 0.01), &t.g);
  psdm_steps *s = trial_run(&t, INFINITY);
  seen_of all = expect_twin(s);
  print_message("%d drives, %d poses, %d with a constant torque, %d columns\n", all.fitted, all.poses, all.offsets,
                all.columns);
  assert_true(all.fitted == 3 && all.poses == 2 + 2 + 1 && all.offsets >= 1 && all.columns > 6);
  psdm_steps_free(s);
  trial_free(&t);
}

/* behind a transmission, filtered, in two logs, with a known tool */
static void filtered_with_tool(void **state) {
  (void)state;
  static const char tool[] =
      "tool: {mass: 1.2, com: [0.02, -0.03, 0.08], inertia: {xx: 0.004, yy: 0.005, zz: 0.003, xy: 0.0002}}\n";
  trial t;
  trial_new(&t, "filtered_with_tool", &arms[1], tool);
  psdm_robot *carrying = arm_robot(&arms[1], (told){.inertias = true, .more = tool});
  t.r.robot = carrying;
  for (int k = 0; k < 2; k++) {
    track *m = track_new(2, 0.01);
    m->at[0] = 0.2 + 0.3 * k, m->at[1] = 0.4;
    alone(m, k, 1.5, 0.4);
    go(m, 0.1, -0.2, 0);
    alone(m, 1 - k, 0.5, 0.5);
    track_hold(m, 0.5);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
  }
  psdm_steps *s = trial_run(&t, 15);
  seen_of all = expect_twin(s);
  assert_true(all.fitted == 2 && all.poses >= 3);
  psdm_steps_free(s);
  psdm_robot_free(carrying);
  trial_free(&t);
}

/* ten poses are two too many */
static void many_poses(void **state) {
  (void)state;
  trial t;
  trial_new(&t, "many_poses", &arms[1], NULL);
  track *m = track_new(2, 0.01);
  m->at[0] = 0.3;
  for (int k = 0; k < 11; k++) {
    /* the last is the sixth again, at the largest distance that counts as equal */
    go(m, 0.1 * (k % 3), k == 10 ? 1e-3 : 0.2 * k - 1, 0);
    track_hold(m, 0.3);
    track_sine(m, 0, 0.3, 1.1, 1.5);
    track_hold(m, 0.3);
  }
  track_hold(m, 3); /* a tenth of the windows at rest: then the ends of moves are not the second joint alone */
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
  psdm_steps *s = trial_run(&t, INFINITY);
  seen_of all = expect_twin(s);
  print_message("%d drives, %d poses, %d left out\n", all.fitted, all.poses, all.left_out);
  assert_true(all.fitted == 1 && all.poses == 8 && all.left_out == 2);
  assert_true(remarked(s, "friction of 'j2' is not fitted: it does not move alone in any log") &&
              !remarked(s, "the known value is kept"));
  psdm_steps_free(s);
  trial_free(&t);
}

/* ---- obstacles ---- */

static int told_shares;

/* shares grow from drive to drive, and each drive has its own part of the whole */
static bool shares(void *user, const char *doing, double share) {
  double *last = user;
  char name[64];
  if (!strstr(doing, ": j")) return true;
  for (int d = 0; d < 3; d++) {
    snprintf(name, sizeof name, "friction: j%d", d + 1);
    if (strcmp(doing, name) == 0)
      assert_true(share >= d / 3.0 - 1e-12 && share <= (d + 1) / 3.0 + 1e-12 &&
                  (share > last[d] || last[d] < 0 || share == last[d])),
          last[d] = share, told_shares++;
  }
  return true;
}

/* Where a run is stopped: at the first call of this name and share. */
typedef struct brake {
  const char *doing;
  double share;
  int calls;
} brake;

static bool stops(void *user, const char *doing, double share) {
  brake *b = user;
  if (strcmp(doing, b->doing) != 0 || share < b->share) return true;
  b->calls++;
  return false;
}

static void obstacles(void **state) {
  (void)state;
  trial t;
  psdm_error error = {0};
  psdm_steps *s = NULL;
  trial_new(&t, "obstacles", &arms[0], NULL);
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, poses_track(&arms[0], 0.01), &t.g);
  psdm_steps_options o = {.logs = 1, .log = t.logs.log, .before = &t.e.p};
  o.cutoff[PSDM_STEP_FRICTION] = INFINITY;
  /* gravity of the first link is unknown: it acts only on the drive before it; the last torque constant is unknown
   * too */
  double last[3] = {-1, -1, -1};
  s = run_steps(t.asked, &(psdm_steps_options){.logs = 1,
                                               .log = t.logs.log,
                                               .before = &t.e.p,
                                               .cutoff = {0, 0, INFINITY, 0},
                                               .progress = shares,
                                               .progress_user = last});
  int first = -1;
  for (int j = 0; j < s->base && first < 0; j++)
    if (s->gravity[j] && strchr(s->theta[j].name, '1')) first = j;
  assert_true(first >= 0 && told_shares > 30 && last[0] >= 0 && last[1] > 1 / 3.0 && last[2] > 2 / 3.0);
  assert_true(!remarked(s, "is not fitted"));
  psdm_steps_free(s);
  t.e.known[first] = 0, t.e.theta[first].value = NAN, t.e.constant[2] = NAN;
  t.e.lugre[2] = arms[0].friction[2];
  s = run_steps(t.asked, &o);
  assert_true(remarked(s, "friction of 'j1' is not fitted: a parameter of its gravity is not known"));
  assert_true(remarked(s, "friction of 'j3' is not fitted: its torque constant is not known; the known value is kept"));
  assert_true(!remarked(s, "friction of 'j2' is not") && s->friction_from[0] == PSDM_FROM_NOTHING &&
              s->friction_from[1] == PSDM_FROM_LOG && s->friction_from[2] == PSDM_FROM_FILE);
  assert_true(s->friction[2].sigma0 == arms[0].friction[2].sigma0 && !isnan(s->step[PSDM_STEP_FRICTION].train[1].rmse));
  psdm_steps_free(s);
  /* none of them */
  t.e.constant[1] = NAN;
  assert_int_equal(psdm_steps_run(t.asked, &o, NULL, &s, &error), PSDM_E_MISSING);
  assert_string_equal(error.file, t.logs.log[0].path);
  assert_true(error.line == 0 && error.column == 0);
  assert_string_equal(error.text,
                      "friction cannot be fitted for any drive: of the last one, its torque constant is not known");
  /* stopped before a drive, or within its fit: nothing of the step is kept */
  for (int k = 0; k < 2; k++) {
    brake b = {.doing = "friction: j2", .share = k ? 1 / 3.0 + 1e-6 : 0};
    trial_free(&t);
    trial_new(&t, "obstacles", &arms[0], NULL);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, poses_track(&arms[0], 0.01), &t.g);
    o.log = t.logs.log, o.before = &t.e.p, o.progress = stops, o.progress_user = &b;
    assert_int_equal(psdm_steps_run(t.asked, &o, NULL, &s, &error), PSDM_OK);
    assert_true(s->stopped && !s->step[PSDM_STEP_FRICTION].done && b.calls == 1);
    psdm_steps_free(s);
  }
  trial_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_poses), cmocka_unit_test(filtered_with_tool),
                                     cmocka_unit_test(poses_and_uncertainty), cmocka_unit_test(obstacles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
