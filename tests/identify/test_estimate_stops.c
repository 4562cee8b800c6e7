/* test_estimate_stops.c: a robot that fails in the middle of a stretch ends the walk over its rows and the sum of its
 * work: the status is returned with its message, and no later row counts. The linker puts the test's own functions of
 * the robot in the library's place (--wrap). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "fenced.h"
#include "psdm/base_parameters.h"

enum { N = 2, ROWS = 60, EDGE = 10 };

static const char arm[] = "name: failing\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: 0.4, alpha: pi/2, "
                          "drive_inertia: 0.3}\n  - {name: b, type: revolute, a: 0.3}\n"
                          "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n  "
                          "- {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}\n";

/* ---- in the library's place ---- */

static int calls, fail_at, used; /* of the functions below; the call that fails, counted from 1; rows that came */

psdm_status __real_psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *qdd, double *Y);
psdm_status __wrap_psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *qdd, double *Y) {
  return ++calls == fail_at ? PSDM_E_LIMIT : __real_psdm_regressor_standard(robot, work, q, qd, qdd, Y);
}

psdm_status __real_psdm_poses(const psdm_robot *robot, psdm_work *work, const double *q, double *poses);
psdm_status __wrap_psdm_poses(const psdm_robot *robot, psdm_work *work, const double *q, double *poses) {
  return ++calls == fail_at ? PSDM_E_LIMIT : __real_psdm_poses(robot, work, q, poses);
}

static void use(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  (void)to;
  assert_true(row->fitted[0] && row->fitted[1]);
  used++;
}

static psdm_status follow(void *user, const psdmp_feed_stretch *stretch, const psdmp_identify_prepared *p, double *q,
                          double *qd, double *qdd, bool *ready, psdm_error *error) {
  psdm_status *fails = user;
  if (*fails) return psdmp_base_fail(error, *fails, "motion", 3, 4, "it cannot follow");
  for (long k = 0; k < p->rows * N; k++) q[k] = stretch->q[k], qd[k] = 0.1, qdd[k] = 0.2, ready[k / N] = true;
  return PSDM_OK;
}

/* ---- a run and rows ---- */

typedef struct scene {
  psdmp_identify_run run;
  psdm_calibrate_options options;
  psdmp_identify_choice choice[N];
  psdmp_identify_dictionary dictionary[N];
  double speed[N], load[64], t[ROWS], q[ROWS * N], tau[ROWS * N];
  unsigned char bad[ROWS * N];
  int kept[64];
  psdmp_feed_stretch stretch;
} scene;

static void scene_new(scene *s) {
  memset(s, 0, sizeof *s);
  fail_at = 0;
  psdm_robot *robot = parse_robot(arm);
  s->run = (psdmp_identify_run){.robot = robot,
                                .options = &s->options,
                                .n = N,
                                .S = psdm_robot_parameter_count(robot),
                                .kept = s->kept,
                                .choice = s->choice,
                                .dictionary = s->dictionary,
                                .speed = s->speed,
                                .interval = 0.01,
                                .rows = ROWS,
                                .tempo = 5,
                                .band = {.kinematics = PSDM_KINEMATICS_POSITION, .cutoff = INFINITY, .wide = INFINITY},
                                .theta_load = s->load};
  assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &s->run.model, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &s->run.work), PSDM_OK);
  s->run.l = psdm_model_l(s->run.model);
  for (int j = 0; j < s->run.l; j++) psdm_model_base_term(s->run.model, j, 0, &s->kept[j]), s->load[j] = 1;
  for (int i = 0; i < N; i++) {
    s->choice[i] = (psdmp_identify_choice){.count = 2, .take = {1, 0}};
    s->dictionary[i] = (psdmp_identify_dictionary){2, {{PSDM_COLUMN_VISCOUS, 0, 0}, {PSDM_COLUMN_SIGN, 0, 1}}};
  }
  for (int k = 0; k < ROWS * N; k++) s->t[k / N] = 0.01 * (k / N), s->q[k] = sin(0.1 * k), s->tau[k] = cos(0.3 * k);
  s->stretch = (psdmp_feed_stretch){
      .rows = ROWS, .begins = true, .ends = true, .t = s->t, .q = s->q, .tau = s->tau, .bad = s->bad};
}

static void scene_free(scene *s) {
  psdm_work_free(s->run.work, NULL);
  psdm_model_free(s->run.model);
  psdm_robot_free((psdm_robot *)(size_t)s->run.robot);
}

static void expect_words(const psdm_error *error) {
  assert_string_equal(error->text, psdm_status_text(PSDM_E_LIMIT));
  assert_string_equal(error->file, "failing");
  assert_true(error->status == PSDM_E_LIMIT && error->line == 0 && error->column == 0);
}

static void walk_ends(void **state) {
  (void)state;
  scene s;
  psdm_status follows = PSDM_OK;
  scene_new(&s);
  psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_IV, .run = &s.run};
  psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
  for (int auxiliary = 0; auxiliary < 2; auxiliary++) {
    psdmp_identify_walker *walker = psdmp_identify_walker_new(&to, use, auxiliary ? follow : NULL, &follows);
    follows = PSDM_OK;
    for (fail_at = 0; fail_at <= ROWS * (1 + auxiliary); fail_at++) {
      psdm_error error = {0};
      calls = used = 0;
      assert_int_equal(psdmp_identify_walker_stretch(walker, &s.stretch, &error), fail_at ? PSDM_E_LIMIT : PSDM_OK);
      if (fail_at) expect_words(&error);
      int row = fail_at ? (fail_at - 1) / (1 + auxiliary) : ROWS, most = ROWS - 2 * EDGE;
      assert_int_equal(used, row < EDGE ? 0 : row - EDGE < most ? row - EDGE : most);
      assert_int_equal(calls, fail_at ? fail_at : ROWS * (1 + auxiliary));
    }
    /* neighbours' columns are only remembered */
    s.stretch.lead = 13, s.stretch.trail = 16, fail_at = calls = used = 0;
    assert_int_equal(psdmp_identify_walker_stretch(walker, &s.stretch, NULL), PSDM_OK);
    assert_true(used == ROWS - 13 - 16 && calls == used * (1 + auxiliary));
    s.stretch.lead = s.stretch.trail = 0;
    /* the motion sets its own message */
    psdm_error error = {0};
    fail_at = calls = used = 0, follows = PSDM_E_SINGULAR;
    assert_int_equal(psdmp_identify_walker_stretch(walker, &s.stretch, &error), auxiliary ? PSDM_E_SINGULAR : PSDM_OK);
    assert_string_equal(error.text, auxiliary ? "it cannot follow" : "");
    assert_int_equal(calls, auxiliary ? 0 : ROWS);
    psdmp_identify_walker_free(walker);
  }
  scene_free(&s);
}

/* in the order of their choice, and no more than there are */
static void chosen(void **state) {
  (void)state;
  scene s;
  scene_new(&s);
  psdmp_parameters_column *column = fenced_new(3 * sizeof *column);
  s.dictionary[1] = (psdmp_identify_dictionary){
      4, {{PSDM_COLUMN_VISCOUS, 1, 0}, {PSDM_COLUMN_SIGN, 2, 1}, {PSDM_COLUMN_OFFSET, 3, 2}, {PSDM_COLUMN_TANH, 4, 0}}};
  s.choice[1] = (psdmp_identify_choice){.count = 3, .take = {3, 0, 2, 1}};
  assert_int_equal(psdmp_identify_chosen_columns(&s.run, 1, column), 3);
  for (int k = 0; k < 3; k++) {
    const psdmp_parameters_column *should = &s.dictionary[1].column[s.choice[1].take[k]];
    assert_true(column[k].kind == should->kind && column[k].width == should->width && column[k].load == should->load);
  }
  fenced_free(column);
  scene_free(&s);
}

static int fitted[N];

static void count(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  (void)to;
  for (int i = 0; i < N; i++) fitted[i] += row->fitted[i];
}

/* a drive is at rest up to and including a share of its speed; if the share is zero, a drive at a standstill is fitted
 * too */
static void rest_rows(void **state) {
  (void)state;
  static double qd[ROWS * N];
  scene s;
  scene_new(&s);
  psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ROBUST, .run = &s.run};
  psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
  for (int k = 0; k < ROWS * N; k++) qd[k] = 1;
  s.stretch.qd = qd, s.run.band.kinematics = PSDM_KINEMATICS_VELOCITY;
  s.speed[0] = 0.5, s.speed[1] = 2;
  qd[20 * N] = 0.25, qd[21 * N] = -0.25, qd[22 * N] = 0.26, qd[23 * N] = 0, qd[24 * N + 1] = -1.01,
          qd[25 * N + 1] = 0.99, qd[26 * N + 1] = 0;
  for (int i = 27; i < ROWS; i++) qd[i * N + 1] = -1.5;
  for (int share = 0; share < 2; share++) {
    psdmp_identify_walker *walker = psdmp_identify_walker_new(&to, count, NULL, NULL);
    s.run.rest = 0.5 * share, fitted[0] = fitted[1] = 0;
    assert_int_equal(psdmp_identify_walker_stretch(walker, &s.stretch, NULL), PSDM_OK);
    /* the second drive has 1 rad/s until row 27, except in row 24 */
    const int all = ROWS - 2 * EDGE, still[N] = {3, 27 - EDGE - 1};
    for (int i = 0; i < N; i++) assert_int_equal(fitted[i], all - share * still[i]);
    psdmp_identify_walker_free(walker);
  }
  scene_free(&s);
}

static void work_ends(void **state) {
  (void)state;
  /* no column depends on load, one does, and one depends on an unknown load */
  for (int loads = 0; loads < 3; loads++) {
    scene s;
    scene_new(&s);
    int each = loads == 1 ? 4 : 3, window = 5;
    if (!loads) s.dictionary[0].column[1].load = s.dictionary[1].column[1].load = 0;
    if (loads == 1) s.dictionary[0].column[1].load = 0; /* the second drive's */
    if (loads == 2) s.run.theta_load = NULL;
    psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ENERGY, .run = &s.run};
    psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, 1, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
    psdmp_identify_energies *e = psdmp_identify_energies_new(&to);
    for (fail_at = 0; fail_at <= ROWS * each; fail_at++) {
      psdm_error error = {0};
      double count = 0;
      calls = 0;
      psdmp_linalg_blocks_clear(&to.blocks);
      assert_int_equal(psdmp_identify_energies_stretch(e, &s.stretch, &error), fail_at ? PSDM_E_LIMIT : PSDM_OK);
      if (fail_at) expect_words(&error);
      psdmp_linalg_blocks_flush(&to.blocks);
      for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) count += to.blocks.count[k];
      assert_true(count == (fail_at ? 0 : ROWS - 2 * EDGE - window));
      assert_int_equal(calls, fail_at ? fail_at : ROWS * each);
    }
    /* one neighbouring row on either side is used; neighbours' columns are only remembered */
    s.stretch.begins = s.stretch.ends = false, s.stretch.first = 100, s.run.rows = 200;
    for (int lead = 0; lead < 3; lead++)
      for (int trail = 0; trail < 3; trail++) {
        fail_at = calls = 0, s.stretch.lead = 6 * lead, s.stretch.trail = 9 * trail;
        assert_int_equal(psdmp_identify_energies_stretch(e, &s.stretch, NULL), PSDM_OK);
        assert_int_equal(calls, (ROWS - 6 * lead - 9 * trail + !!lead + !!trail) * each);
      }
    psdmp_identify_energies_free(e);
    psdmp_linalg_blocks_free(&to.blocks);
    scene_free(&s);
  }
  psdmp_identify_energies_free(NULL), psdmp_identify_walker_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(walk_ends), cmocka_unit_test(chosen), cmocka_unit_test(rest_rows),
                                     cmocka_unit_test(work_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
