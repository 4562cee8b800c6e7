/* test_verdict_scene.h: a made-up answer: two joints, two logs, everything good; and the verdict's findings. Part of
 * one program at a time. */
#ifndef TEST_VERDICT_SCENE_H
#define TEST_VERDICT_SCENE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identify/evaluate_priv.h"
#include "feed/feed_priv.h"
#include "robot/robot.h"
#include "support.h"

enum { N = 2, FILES = 2, S = 20, ROWS = 1000 };

typedef struct scene {
  psdm_robot *robot;
  psdmp_feed feed;
  psdmp_feed_file file[FILES + 1]; /* behind each list is an entry that would give a finding if it were read */
  psdmp_feed_joint_facts facts[FILES][N + 1];
  psdm_calibrate_options options;
  psdmp_identify_run run;
  psdmp_identify_calibration a;
  psdm_calibration out;
  psdm_joint_fit train[PSDM_FIT_PARTS][N + 1], held[PSDM_FIT_PARTS][N + 1];
  psdmp_identify_folds cross[N + 1];
  psdmp_identify_error_place place[PSDMP_IDENTIFY_BLOCKS + 1];
  psdmp_identify_worst worst[N + 1];
  psdm_estimate theta[5];
  psdm_column column[N][3];
  const psdm_column *column_of[N];
  double log[2 * FILES + 2], span[N + 1], speed[N], load[N], sigma[N], pi[S + 10], prior[S + 10], prior_of_run[S + 10];
  int columns[N + 1];
} scene;

static const char arm[] =
    "name: arm\nconvention: dh\njoints:\n  - {name: turn, a: 1}\n  - {name: slide, type: prismatic, a: 1}\n";
static const char masses[] = "links:\n  - {mass: 10, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n  - {mass: 10, "
                             "com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n";

/* an error of 1 % of a torque of 10, no constant in it; a log of 10 s */
static inline void set(scene *s, bool known) {
  char text[1024];
  memset(s, 0, sizeof *s);
  snprintf(text, sizeof text, "%s%s", arm, known ? masses : "");
  s->robot = parse_robot(text);
  for (int i = 0; i < N; i++) {
    s->robot->joint[i].limits = (psdm_limits){.lower = -2, .upper = 2, .velocity = 3, .effort = 100};
    for (int p = 0; p < PSDM_FIT_PARTS; p++)
      s->train[p][i] = s->held[p][i] =
          (psdm_joint_fit){.rows = ROWS, .rmse = 0.1, .rel = 0.01, .nrmse = 0.01, .r2 = 1 - 1e-4};
    s->cross[i] = (psdmp_identify_folds){
        .count = ROWS, .own = 0.01 * ROWS, .plain = 0.01 * ROWS, .constant = 100 * ROWS, .square = 100 * ROWS};
    s->worst[i] = (psdmp_identify_worst){.error = 0.5, .tau = 10, .t = 3, .file = 1};
    s->span[i] = 2, s->speed[i] = 1, s->sigma[i] = 0.1, s->columns[i] = 2;
    s->column[i][0] = (psdm_column){.kind = PSDM_COLUMN_VISCOUS, .gain = 1};
    s->column[i][1] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = 1};
    s->column_of[i] = s->column[i];
    for (int k = 0; k < FILES; k++)
      s->facts[k][i] = (psdmp_feed_joint_facts){.q_low = -1,
                                                .q_high = 1,
                                                .peak = 50,
                                                .fast = 1,
                                                .way2 = 1,
                                                .both = 1,
                                                .integral2 = 1,
                                                .squares = 100 * ROWS,
                                                .rows = ROWS};
  }
  for (int p = 0; p < PSDM_FIT_PARTS; p++) {
    s->out.train[p] = (psdm_part_fit){.joint = s->train[p], .rows = ROWS};
    s->out.heldout[p] = (psdm_part_fit){.joint = s->held[p], .rows = ROWS};
  }
  for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++)
    s->place[b] = (psdmp_identify_error_place){
        .rows = 50, .file = b / 10, .from = b % 10, .to = b % 10 + 1, .error = 0.01, .square = 100};
  for (int k = 0; k < FILES; k++) {
    s->file[k] = (psdmp_feed_file){.path = k ? "second.csv" : "first.csv", .facts = {.n = N, .joint = s->facts[k]}};
    s->log[2 * k] = 0.01, s->log[2 * k + 1] = 100;
  }
  for (int k = 0; k < N; k++) {
    const double body[10] = {10, 1, 2, 3, 1, 0, 0, 1, 0, 1};
    memcpy(s->pi + 10 * k, body, sizeof body);
    memcpy(s->prior + 10 * k, body, sizeof body);
    memcpy(s->prior_of_run + 10 * k, body, sizeof body);
  }
  s->file[FILES] = (psdmp_feed_file){.path = "none"};
  s->cross[N] = (psdmp_identify_folds){
      .count = 1, .own = 1e9 * ROWS, .plain = 1e6 * ROWS, .constant = 1e9 * ROWS, .square = 1e9 * ROWS};
  s->place[PSDMP_IDENTIFY_BLOCKS] = (psdmp_identify_error_place){.error = 1e9, .square = 1e9};
  s->worst[N] = (psdmp_identify_worst){.error = 1e9};
  s->log[2 * FILES] = s->log[2 * FILES + 1] = 1e9;
  for (int k = S; k < S + 10; k++) s->pi[k] = s->prior[k] = s->prior_of_run[k] = 1e30;
  s->columns[N] = 1000;
  for (int i = 0; i < N; i++) s->column[i][2] = (psdm_column){.kind = PSDM_COLUMN_SIGN, .gain = -1e6};
  for (int p = 0; p < PSDM_FIT_PARTS; p++)
    s->train[p][N] = s->held[p][N] = (psdm_joint_fit){.rows = ROWS, .rmse = 1e6, .rel = 1, .r2 = 0};
  s->theta[4].prior_share = 1;
  s->feed = (psdmp_feed){.robot = s->robot, .n = N, .files = FILES, .file = s->file};
  s->run = (psdmp_identify_run){.robot = s->robot,
                                .options = &s->options,
                                .feed = &s->feed,
                                .n = N,
                                .l = 4,
                                .S = S,
                                .links = N,
                                .interval = 0.01,
                                .span = s->span,
                                .speed = s->speed,
                                .prior = s->prior_of_run,
                                .prior_scale = 1,
                                .prior_mass = 20,
                                .prior_kinematics = !known,
                                .band = {.kinematics = PSDM_KINEMATICS_POSITION}};
  s->a = (psdmp_identify_calibration){
      .run = &s->run, .cross = s->cross, .place = s->place, .file = s->log, .worst = s->worst};
  s->out.robot = s->robot, s->out.n = N, s->out.base = 4, s->out.standard = S;
  s->out.theta = s->theta, s->out.columns = s->columns, s->out.column = s->column_of, s->out.sigma = s->sigma,
  s->out.speed = s->speed, s->out.load = s->load;
  s->out.pi = s->pi, s->out.prior = s->prior, s->out.cost_ratio = 1, s->out.rows = s->out.used = ROWS,
  s->out.internal = &s->a;
}

/* the gravest finding of a rule; good: none. Findings of other rules are counted in others. */
static inline psdm_verdict found(scene *s, const char *rule, int *others, const char **text) {
  psdm_verdict gravest = PSDM_VERDICT_GOOD;
  *others = 0;
  *text = "";
  psdmp_identify_verdict(&s->a, &s->out);
  for (int k = 0; k < s->a.findings; k++) {
    const psdm_finding *f = psdm_calibration_finding(&s->out, k);
    bool own = strcmp(f->rule, rule) == 0;
    assert_true(f->verdict > PSDM_VERDICT_GOOD && f->text[0]);
    assert_true(k == 0 || f->verdict <= s->a.finding[k - 1].verdict); /* the gravest first */
    *others += !own;
    if (own && f->verdict > gravest) gravest = f->verdict, *text = f->text;
  }
  assert_int_equal(s->out.verdict, s->a.findings ? s->a.finding[0].verdict : PSDM_VERDICT_GOOD);
  assert_null(psdm_calibration_finding(&s->out, s->a.findings));
  assert_null(psdm_calibration_finding(&s->out, -1));
  return gravest;
}

static inline void expect(scene *s, const char *rule, psdm_verdict verdict, const char *words, const char *where,
                          double value) {
  const char *text;
  int others;
  psdm_verdict is = found(s, rule, &others, &text);
  if (is != verdict)
    fail_msg("%s, %s = %.17g: %s, %s was expected; %s", rule, where, value, psdm_verdict_name(is),
             psdm_verdict_name(verdict), text);
  if (verdict && words && !strstr(text, words)) fail_msg("%s: '%s' is not in '%s'", rule, words, text);
}

#define good PSDM_VERDICT_GOOD
#define usable PSDM_VERDICT_USABLE
#define poor PSDM_VERDICT_POOR
#define useless PSDM_VERDICT_USELESS

/* the findings for a figure just below its bound, at it and just above; the figure is restored */
static inline void edge(scene *s, double *x, double bound, const char *rule, psdm_verdict below, psdm_verdict at,
                        psdm_verdict above, const char *words) {
  double before = *x, little = 1e-12 * fabs(bound);
  char where[64];
  snprintf(where, sizeof where, "bound %.6g", bound);
  const double value[3] = {bound - little, bound, bound + little};
  const psdm_verdict verdict[3] = {below, at, above};
  for (int k = 0; k < 3; k++) *x = value[k], expect(s, rule, verdict[k], words, where, *x);
  *x = before;
}

#define ABOVE(x, bound, rule, under, over, words) edge(&s, x, bound, rule, under, under, over, words)
#define BELOW(x, bound, rule, under, over, words) edge(&s, x, bound, rule, under, over, over, words)

static scene s; /* too large for the stack of a test */

static inline void fresh(bool known) {
  if (s.robot) psdm_robot_free(s.robot);
  set(&s, known);
}

#endif
