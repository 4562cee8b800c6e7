/* test_steps_friction_edges.c: the friction step against its plain twin where single rows and numbers decide: other
 * arms, quick and creeping rows, spikes, and the uncertainty that just explains a constant. */
#include "test_steps_friction_twin.h"

/* two joints on the first one, which do not act on each other; and a joint that follows another, so that all may */
static void branches_and_couplings(void **state) {
  (void)state;
  arm tree = arms[0], coupled = arms[0];
  tree.joint[2] =
      "type: revolute, parent: j1, origin: {xyz: [0.1, -0.2, 0.1], rpy: [0.3, 0, 0.2]}, a: 0.3, alpha: pi/2";
  coupled.joint[1] =
      "type: revolute, a: 0.4, drive_inertia: 0.4}\n  - {name: follower, type: revolute, a: 0.2, couple: {j2: -0.5}";
  coupled.link[1] = LINK_2 "\n  - " LINK_3, coupled.joint[2] = NULL, coupled.drive[1] = "0";
  for (int k = 0; k < 2; k++) {
    const arm *a = k ? &coupled : &tree;
    trial t;
    branched = !k;
    trial_new(&t, "branches_and_couplings", a, NULL);
    assert_int_equal(psdm_robot_coupled(t.asked), k);
    track *m = track_new(arm_n(a), 0.01);
    memcpy(m->at, middle, sizeof middle);
    for (int j = 0; j < arm_n(a); j++)
      for (int pose = 0; pose < 2; pose++) {
        alone(m, j, 0.4, 0.3);
        go(m, 0.4 * (pose == 0), j == 1 ? 0.15 : -0.3 * (pose == 0), j == 2 ? 0.4 : -0.6 * (pose == 0));
      }
    track_hold(m, 1);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
    psdm_steps *s = trial_run(&t, INFINITY);
    seen_of all = expect_twin(s);
    print_message("%d drives, %d poses\n", all.fitted, all.poses);
    assert_true(k ? all.fitted == 2 && all.poses == 4 : all.fitted == 3 && all.poses == 2 + 1 + 1);
    psdm_steps_free(s), trial_free(&t);
  }
  branched = false;
}

/* quick at first, then slow for long; without friction none of its numbers show */
static void quick_beginnings(void **state) {
  (void)state;
  static const psdm_friction none[WIDE];
  for (int rubs = 0; rubs < 2; rubs++) {
    trial t;
    trial_new(&t, "quick_beginnings", &arms[1], NULL);
    if (!rubs) t.r.friction = none;
    track *m = track_new(2, 0.01);
    m->at[0] = 0.3, m->at[1] = 0.4;
    track_hold(m, 0.5), track_sine(m, 1, 0.04, 3, 1.5); /* less than one a second */
    double most = 0;
    for (long k = 0; k < m->rows; k++) most = fmax(most, fabs(m->qd[2 * k + 1]));
    track_sine(m, 1, 0.03, 0.5, 12), track_hold(m, 0.5);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
    psdm_steps *s = trial_run(&t, INFINITY);
    assert_int_equal(expect_twin(s).fitted, 1);
    assert_true(fabs(s->speed[1] - most) < 1e-12 && made.part[made.rows - 10] > 30);
    assert_int_equal(
        remarked(
            s,
            "friction of 'j2': the motion does not show coulomb, static, stribeck, viscous, exponent, sigma0, sigma1"),
        !rubs);
    psdm_steps_free(s);
    trial_free(&t);
  }
}

/* the variance of the second of two uncertain numbers at which it just explains the mean of the residual torque */
static double explaining(psdm_steps *steps, int drive) {
  static double model[ROWS];
  psdmp_steps *s = steps->internal;
  psdmp_base_arena arena = {.allocator = NULL};
  psdmp_steps_records records;
  psdm_error error;
  twin *w = &made;
  assert_int_equal(psdmp_steps_load(s, PSDM_STEP_FRICTION, &arena, &records, &error), PSDM_OK);
  twin_rows(w, s, &records, drive, &arena);
  assert_int_equal(w->columns, 2);
  psdmp_steps_lugre_options o = {.blocks = 20};
  psdmp_steps_lugre_answer a = {.model = model};
  assert_int_equal(psdmp_steps_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
  double sum[20] = {0}, count[20] = {0}, slope = 0, mean = 0, rows = 0, scatter = 0, blocks = 0;
  for (long k = 0; k < w->rows; k++)
    if (w->use[k]) sum[w->part[k] / 2] += w->tau[k] - model[k], count[w->part[k] / 2]++, slope += w->D[2 * k + 1];
  for (int b = 0; b < 20; b++) blocks += count[b] > 0, mean += sum[b], rows += count[b];
  mean /= rows, slope /= rows;
  for (int b = 0; b < 20; b++) scatter += pow((sum[b] - mean * count[b]) / rows, 2) * blocks / (blocks - 1);
  psdmp_base_arena_free(&arena);
  print_message("  %g blocks\n", blocks);
  assert_true(mean * mean / 16 > 1.1 * scatter && scatter > 1e-4 * mean * mean);
  return (mean * mean / 16 - scatter) / (slope * slope);
}

/* a constant torque is fitted a little below that variance, and not a little above it */
static void expect_threshold(trial *t, int which) {
  int N = t->e.p.n + t->e.p.base + NUMBERS * t->e.p.n;
  double enough = NAN;
  t->e.covariance[N + 1] = 1e-30; /* the torque constant's variance, almost zero */
  for (int k = 0; k < 3; k++) {
    t->e.covariance[(3 + which) * (N + 1)] = k ? enough * (k == 1 ? 1 - 1e-6 : 1 + 1e-6) : 1e-30;
    psdm_steps *s = trial_run(t, INFINITY);
    assert_int_equal(expect_twin(s).offsets, k < 2);
    if (k == 0) enough = explaining(s, 1);
    psdm_steps_free(s);
  }
}

/* most is held out: eight blocks of twenty have rows */
static void few_blocks(void **state) {
  (void)state;
  arm a = arms[0];
  a.friction[1].offset = 3;
  trial t;
  trial_new(&t, "few_blocks", &a, NULL);
  int N = t.e.p.n + t.e.p.base + NUMBERS * t.e.p.n, which = -1;
  memset(t.e.covariance, 0, (size_t)(N * N) * sizeof *t.e.covariance);
  t.holdout = 0.8;
  track *m = track_new(3, 0.01);
  memcpy(m->at, middle, 3 * sizeof *middle);
  for (int k = 0; k < 3; k++) alone(m, 1, 0.3, 0.4);
  track_hold(m, 0.5);
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
  psdm_steps *s = trial_run(&t, INFINITY);
  for (int j = 0; j < s->base; j++)
    if (strcmp(s->theta[j].name, "my2") == 0) which = j;
  assert_true(which >= 0);
  psdm_steps_free(s);
  expect_threshold(&t, which);
  trial_free(&t);
}

/* the uncertainty of gravity explains a constant torque: none is fitted */
static void uncertainty_of_gravity(void **state) {
  (void)state;
  arm a = arms[0];
  a.friction[1].offset = 0.8;
  int explained = 0, felt = 0;
  bool feels[64] = {false};
  trial t;
  trial_new(&t, "uncertainty_of_gravity", &a, NULL);
  int N = t.e.p.n + t.e.p.base + NUMBERS * t.e.p.n;
  track *m = track_new(3, 0.01);
  memcpy(m->at, middle, 3 * sizeof *middle);
  alone(m, 1, 0.3, 0.4);
  track_hold(m, 0.5);
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
  memset(t.e.covariance, 0, (size_t)(N * N) * sizeof *t.e.covariance);
  psdm_steps *s = trial_run(&t, INFINITY);
  assert_int_equal(expect_twin(s).offsets, 1);
  for (int j = 0; j < s->base; j++)
    felt += feels[j] = s->gravity[j] && strlen(s->theta[j].name) == 3 && strchr("23", s->theta[j].name[2]);
  psdm_steps_free(s);
  for (int which = 0; which < t.e.p.base; which++) {
    if (!feels[which]) continue;
    memset(t.e.covariance, 0, (size_t)(N * N) * sizeof *t.e.covariance);
    t.e.covariance[(3 + which) * (N + 1)] = 1e-2; /* some Nm */
    s = trial_run(&t, INFINITY);
    int offsets = expect_twin(s).offsets;
    print_message("  uncertainty of %s: %d with a constant torque\n", s->theta[which].name, offsets);
    explained += !offsets;
    psdm_steps_free(s);
    if (explained == 1 && !offsets) expect_threshold(&t, which);
  }
  trial_free(&t);
  assert_true(felt >= 2);
  assert_true(explained >= 1);
}

/* the rows of a log where a joint is quickest, one in each of several parts */
static void quickest_rows(const track *t, int joint, int parts, long *row) {
  for (int p = 0; p < parts; p++) {
    row[p] = t->rows * p / parts;
    for (long k = row[p]; k < t->rows * (p + 1) / parts; k++)
      if (fabs(t->qd[k * t->n + joint]) > fabs(t->qd[row[p] * t->n + joint])) row[p] = k;
  }
}

/* a current of a million in these rows of a log */
static void spike_rows(const char *path, int column, int count, const long *row) {
  char line[1000], copy[80];
  snprintf(copy, sizeof copy, "%s_", path);
  FILE *in = must(fopen(path, "r")), *out = must(fopen(copy, "w"));
  for (long k = -1; fgets(line, sizeof line, in); k++) {
    bool here = false;
    for (int i = 0; i < count; i++) here = here || row[i] == k;
    char *at = line;
    for (int c = 0; c < column; c++) at = strchr(at, ',') + 1;
    char *rest = at + strcspn(at, ",\n");
    if (here) fprintf(out, "%.*s1e6%s", (int)(at - line), line, rest);
    else fputs(line, out);
  }
  fclose(in);
  assert_true(fclose(out) == 0 && rename(copy, path) == 0);
}

/* rests that creep, and currents that are wrong where a drive is quickest: those rows are only simulated, and the
 * observed speed is that of the others */
static void creeping_and_spikes(void **state) {
  (void)state;
  trial t;
  long row[6];
  trial_new(&t, "creeping_and_spikes", &arms[0], NULL);
  track *m = track_new(3, 0.01);
  memcpy(m->at, middle, 3 * sizeof *middle);
  for (int k = 0; k < 4; k++) alone(m, 1 + k % 2, 0.4, 0.3);
  track_hold(m, 0.5);
  for (long k = 0; k < 3 * m->rows; k++)
    if (m->qd[k] == 0) m->qd[k] = 2e-5; /* a tenth of the limit of rest */
  quickest_rows(m, 1, 3, row), quickest_rows(m, 2, 3, row + 3);
  double most[2] = {0};
  for (int k = 0; k < 6; k++) most[k / 3] = fmax(most[k / 3], fabs(m->qd[3 * row[k] + 1 + k / 3]));
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
  spike_rows(t.logs.log[0].path, 1 + 3 * 3 + 1, 3, row), spike_rows(t.logs.log[0].path, 1 + 3 * 3 + 2, 3, row + 3);
  psdm_steps *s = trial_run(&t, INFINITY);
  seen_of all = expect_twin(s);
  assert_true(all.fitted == 2 && s->friction_from[0] == PSDM_FROM_NOTHING);
  for (int d = 1; d < 3; d++) assert_true(s->speed[d] < most[d - 1] && s->speed[d] > 0.9 * most[d - 1]);
  psdm_steps_free(s);
  trial_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(branches_and_couplings), cmocka_unit_test(quick_beginnings),
                                     cmocka_unit_test(uncertainty_of_gravity), cmocka_unit_test(few_blocks),
                                     cmocka_unit_test(creeping_and_spikes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
