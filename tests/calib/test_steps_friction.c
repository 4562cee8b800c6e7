/* test_steps_friction.c: the friction step beside a plain twin: which rows it takes of which stretches, what is left of their torque, and how the answer, its doubt and its rows follow. The fit
 * itself is lugre_fit.h's, called by both. */
#include "test_steps_arms.h"

#include "calib/lugre_fit.h"
#include "calib/parameters_priv.h"
#include "calib/steps_priv.h"

enum { NUMBERS = PSDM_FRICTION_NUMBERS, ROWS = 12000 };

/* ---- what earlier steps said ---- */

/* torque constants and what gravity shows, with a covariance; friction and the rest are not known */
typedef struct earlier {
  psdm_parameters p;
  psdm_estimate theta[64];
  unsigned char known[64];
  psdm_friction lugre[WIDE];
  double constant[WIDE], *covariance;
} earlier;

/* the doubt of every third number is zero */
static void earlier_new(earlier *e, const arm *a, const psdm_robot *truth, rng *g) {
  double theta[64];
  memset(e, 0, sizeof *e);
  int n = arm_n(a), l = true_theta(truth, theta), N = n + l + NUMBERS * n;
  e->covariance = must(calloc((size_t)(N * N), sizeof *e->covariance));
  for (int d = 0; d < n; d++) e->constant[d] = a->constant[d];
  for (int j = 0; j < l; j++) e->theta[j].value = theta[j], e->known[j] = 1;
  for (int shared = 0; shared < 4; shared++) {
    double u[80];
    for (int i = 0; i < n + l; i++) u[i] = i % 3 == 2 ? 0 : 1e-3 * rng_uniform(g, 0.2, 1) * (i < n ? a->constant[i] : 1);
    for (int i = 0; i < n + l; i++)
      for (int k = 0; k < n + l; k++) e->covariance[i * N + k] += (shared % 2 && i != k ? -1 : 1) * u[i] * u[k] / (i == k ? 1 : 8);
  }
  e->p = (psdm_parameters){.n = n, .base = l, .theta = e->theta, .theta_known = e->known, .lugre = e->lugre, .covariance = e->covariance, .torque_constant = e->constant, .currents = true,
                           .steps = 1u << PSDM_STEP_MOTOR | 1u << PSDM_STEP_GRAVITY};
}

/* ---- motions ---- */

/* a joint alone: sines, of which the last is quick, behind a rest */
static void alone(track *t, int joint, double rest, double size) {
  track_hold(t, rest);
  track_sine(t, joint, 0.1 * size, 1.3, 2);
  track_sine(t, joint, size, 0.9, 2);
}

static void go(track *t, double q1, double q2, double q3) {
  const double to[WIDE] = {q1, q2, q3};
  track_move(t, to, 0.8);
}

/* each joint behind a long rest, in two poses of the joints behind it; the joint before it elsewhere once more */
static track *poses_track(const arm *a, double dt) {
  int n = arm_n(a);
  track *t = track_new(n, dt);
  memcpy(t->at, middle, (size_t)n * sizeof *middle);
  for (int j = 0; j < n; j++) {
    alone(t, j, j == 1 ? 0.3 : 1.7, 0.3);
    go(t, 0.4, -0.3, -0.6);
    alone(t, j, 1.4, 0.4);
    go(t, -0.5, j == 2 ? 0.5 : -0.3, -0.6);
    alone(t, j, 0.2, 0.2);
    go(t, middle[0], middle[1], middle[2]);
  }
  /* one that rests for long while others move */
  for (int k = 1; k < n + 2; k++) alone(t, k % n, 0.3, 0.3);
  track_hold(t, 0.5);
  return t;
}

/* ---- the twin ---- */

typedef struct twin {
  psdmp_steps *s;
  int drive, pieces, poses, left_out;
  psdmp_lugre_piece piece[16];
  int record[16];
  long first[16]; /* of the rows below */
  long rows, used;
  long row[ROWS]; /* of the record */
  double v[ROWS], a[ROWS], tau[ROWS], *D;
  signed char use[ROWS], part[ROWS]; /* part: -1 simulated only */
  int column[64], columns;
  const double *pose[16];
  bool lacks;
} twin;

static twin made;

static bool held_out(const psdmp_steps *s, int part) {
  double share = s->options.holdout == 0 ? 0.15 : s->options.holdout;
  return share > 0 && floor((part + 1) * share + 1e-9) > floor(part * share + 1e-9);
}

/* whether joint k is behind joint j of a serial arm, or of two joints on the first one; or all are coupled */
static bool branched;
static bool behind(const psdmp_steps *s, int k, int j) { return psdm_robot_coupled(s->run.robot) || (branched ? j == 0 && k > 0 : k > j); }

static int pose_number(twin *w, const double *q) {
  for (int p = 0; p < w->poses; p++) {
    double apart = 0;
    for (int k = 0; k < w->s->n; k++)
      if (k != w->drive && behind(w->s, k, w->drive)) apart = fmax(apart, fabs(q[k] - w->pose[p][k]));
    if (apart <= 1e-3) return p;
  }
  if (w->poses == 8) return -1;
  w->pose[w->poses] = q;
  return w->poses++;
}

static void twin_row(twin *w, const psdmp_record *r, long k, long at) {
  psdmp_steps *s = w->s;
  int n = s->n, l = s->l;
  double *scratch = must(malloc(psdmp_steps_scratch(s) * sizeof *scratch)), *Y = must(malloc((size_t)(n * l) * sizeof *Y)), tool[WIDE], gravity = 0;
  assert_int_equal(psdmp_steps_regressor(s, r->q + k * n, r->qd + k * n, r->qdd + k * n, scratch, Y, tool), PSDM_OK);
  assert_int_equal(psdmp_steps_regressor(s, r->q + k * n, r->qd + k * n, NULL, scratch, Y, NULL), PSDM_OK);
  for (int j = 0; j < l; j++) {
    double y = Y[w->drive * l + j];
    if (!s->gravity[j] || fabs(y) < 1e-12) continue;
    if (isfinite(s->x[n + j])) gravity += y * s->x[n + j];
    else w->lacks = true;
  }
  w->tau[at] = s->x[w->drive] * r->i[k * n + w->drive] - gravity - tool[w->drive];
  for (int c = 0; c < w->columns; c++) w->D[at * w->columns + c] = w->column[c] < n ? r->i[k * n + w->drive] : -Y[w->drive * l + w->column[c] - n];
  free(scratch), free(Y);
}

/* rows of one stretch: 5 cm of way before it, rests of more than a second cut */
static void twin_stretch(twin *w, const psdmp_records *records, const psdmp_solo *solo, long before, long all) {
  const psdmp_record *r = &records->record[solo->record];
  int n = w->s->n, d = w->drive, pose = pose_number(w, r->q + solo->from * n);
  long begin = solo->from, ends = 2 + (long)ceil(records->rest / r->dt), resting = 0, from = w->rows;
  double way = 0, most = 0;
  if (pose < 0) {
    w->left_out++;
    return;
  }
  while (begin > 0 && way < 0.05) begin--, way += fabs(r->v[begin * n + d]) * r->dt;
  for (long k = begin; k < solo->from; k++) most = fmax(most, fabs(r->v[k * n + d]));
  for (long k = begin; k < solo->to; k++) {
    bool rests = k < solo->from && fabs(r->v[k * n + d]) <= 1e-4 * most;
    resting = rests ? resting + 1 : 0;
    if ((double)resting * r->dt > 1 + r->dt / 2) continue;
    long at = w->rows++;
    assert_true(at < ROWS);
    w->row[at] = k, w->v[at] = r->v[k * n + d], w->a[at] = r->a[k * n + d], w->tau[at] = 0, w->use[at] = 0, w->part[at] = -1;
    for (int c = 0; c < w->columns; c++) w->D[at * w->columns + c] = 0;
    if (k < solo->from + ends || k >= solo->to - ends || r->bad[k * n + d]) continue;
    twin_row(w, r, k, at);
    w->part[at] = (signed char)fmin(39, floor(40 * ((double)(before + k - solo->from) / (double)all)));
    w->use[at] = !held_out(w->s, w->part[at]);
    w->used += w->use[at];
  }
  w->record[w->pieces] = solo->record, w->first[w->pieces] = from;
  w->piece[w->pieces++] = (psdmp_lugre_piece){.rows = w->rows - from, .dt = r->dt, .v = w->v + from, .a = w->a + from, .tau = w->tau + from,
                                              .use = w->use + from, .pose = pose};
}

static void twin_rows(twin *w, psdmp_steps *s, const psdmp_records *records, int drive, psdmp_arena *arena) {
  psdmp_solo *solo;
  psdm_error error;
  int solos;
  long all = 0, before = 0;
  memset(w, 0, sizeof *w);
  w->s = s, w->drive = drive;
  if (s->C[(long)drive * (s->N + 1)] > 0) w->column[w->columns++] = drive;
  for (int j = 0; j < s->l; j++)
    if (s->gravity[j] && isfinite(s->x[s->n + j]) && s->C[(long)(s->n + j) * (s->N + 1)] > 0) w->column[w->columns++] = s->n + j;
  w->D = psdmp_arena_alloc(arena, (size_t)(ROWS * (w->columns + 1)) * sizeof *w->D);
  assert_int_equal(psdmp_steps_solo(s, records, arena, &solo, &solos, &error), PSDM_OK);
  for (int k = 0; k < solos; k++) all += solo[k].joint == drive ? solo[k].to - solo[k].from : 0;
  for (int k = 0; k < solos; k++) {
    if (solo[k].joint != drive) continue;
    int taken = w->pieces;
    twin_stretch(w, records, &solo[k], before, all);
    before += w->pieces > taken ? solo[k].to - solo[k].from : 0;
  }
}

/* whether the mean of what is left is beyond four of its standard errors: blocks' scatter and earlier numbers' doubt */
static bool leaves_constant(const twin *w, const double *model) {
  const psdmp_steps *s = w->s;
  double sum[20] = {0}, count[20] = {0}, slope[64] = {0}, mean = 0, rows = 0, variance = 0;
  int blocks = 0;
  for (long k = 0; k < w->rows; k++) {
    if (!w->use[k]) continue;
    sum[w->part[k] / 2] += w->tau[k] - model[k], count[w->part[k] / 2]++;
    for (int c = 0; c < w->columns; c++) slope[c] += w->D[k * w->columns + c];
  }
  for (int b = 0; b < 20; b++) mean += sum[b], rows += count[b], blocks += count[b] > 0;
  if (blocks < 2) return false;
  mean /= rows;
  for (int b = 0; b < 20; b++) variance += pow((sum[b] - mean * count[b]) / rows, 2) * blocks / (blocks - 1.0);
  for (int a = 0; a < w->columns; a++)
    for (int b = 0; b < w->columns; b++) variance += slope[a] / rows * (slope[b] / rows) * s->C[(long)w->column[a] * s->N + w->column[b]];
  return mean * mean > 16 * variance;
}

static void expect_near(double is, double should, double scale, const char *what, int k) {
  if (!(fabs(is - should) <= 1e-9 * scale)) fail_msg("%s %d: %.15g, %.15g was expected", what, k, is, should);
}

/* the answer's numbers and inertias, C = noise + G C G^T of its own, G C beside earlier ones */
static void expect_answer(twin *w, psdmp_lugre_options *o, psdmp_lugre_answer *a) {
  psdmp_steps *s = w->s;
  int wide = NUMBERS + w->poses, N = s->N;
  double *gain = must(calloc((size_t)(wide * (w->columns + 1)), sizeof *gain));
  if (w->columns) assert_int_equal(psdmp_lugre_gain(w->pieces, w->piece, w->poses, o, a, w->columns, w->D, NULL, gain), PSDM_OK);
  for (int k = 0; k < NUMBERS; k++) {
    int own = psdmp_at_friction(s, w->drive, k);
    double should = *psdmp_lugre_number(&a->friction, k);
    expect_near(s->x[own], should, fabs(should), "number", k);
    for (int i = 0; i < s->n + s->l; i++) { /* beside earlier numbers */
      double sum = 0, scale = 0;
      for (int c = 0; c < w->columns; c++) {
        double part = gain[k * w->columns + c] * s->C[(long)w->column[c] * N + i];
        sum += part, scale += fabs(part);
      }
      expect_near(s->C[(long)own * N + i], sum, scale, "covariance beside earlier number", i);
      assert_true(s->C[(long)own * N + i] == s->C[(long)i * N + own]);
    }
    for (int i = 0; i < NUMBERS; i++) {
      double sum = (a->covariance[k * wide + i] + a->covariance[i * wide + k]) / 2, scale = fabs(sum);
      for (int c = 0; c < w->columns; c++)
        for (int b = 0; b < w->columns; b++) {
          double part = gain[k * w->columns + c] * s->C[(long)w->column[c] * N + w->column[b]] * gain[i * w->columns + b];
          sum += part, scale += fabs(part);
        }
      expect_near(s->C[(long)own * N + psdmp_at_friction(s, w->drive, i)], sum, scale, "covariance", k * NUMBERS + i);
    }
  }
  for (int p = 0; p < w->poses; p++) expect_near(s->pose_inertia[w->drive * PSDMP_POSES + p], a->inertia[p], fabs(a->inertia[p]), "inertia of pose", p);
  assert_true(s->p.effective_inertia[w->drive] == s->pose_inertia[w->drive * PSDMP_POSES] && s->p.friction_from[w->drive] == PSDM_FROM_LOG);
  free(gain);
}

/* ---- rows once more ---- */

typedef struct listed {
  psdm_steps_row row[3 * ROWS];
  long rows, stop;
} listed;

static listed seen;

static bool list_row(void *user, const psdm_steps_row *row) {
  listed *l = user;
  l->row[l->rows++] = *row;
  return l->rows != l->stop;
}

/* the rows that are handed out, and their tallies */
static long expect_rows(const twin *w, const psdmp_records *records, const listed *l, long at) {
  psdmp_steps *s = w->s;
  double square[2] = {0}, count[2] = {0}, fastest = 0;
  static double model[ROWS];
  for (int p = 0; p < w->pieces; p++) {
    const psdmp_lugre_piece *piece = &w->piece[p];
    const psdmp_record *r = &records->record[w->record[p]];
    assert_int_equal(psdmp_lugre_predict(&s->friction[w->drive], isinf(records->cutoff) ? NULL : &records->filter, piece->rows, piece->dt, piece->v, NULL, model), PSDM_OK);
    for (long k = w->first[p]; k < w->first[p] + piece->rows; k++) {
      if (w->part[k] < 0) continue;
      const psdm_steps_row *is = &l->row[at++];
      double measured = w->tau[k] - s->pose_inertia[w->drive * PSDMP_POSES + piece->pose] * w->a[k], predicted = model[k - w->first[p]];
      assert_true(is->step == PSDM_STEP_FRICTION && is->drive == w->drive && is->heldout == held_out(s, w->part[k]));
      assert_true(is->q == r->q[w->row[k] * s->n + w->drive] && is->qd == w->v[k]);
      expect_near(is->t, r->start + (double)w->row[k] * r->dt, 1, "time of row", (int)k);
      expect_near(is->measured, measured, 10 + fabs(w->tau[k]), "measured row", (int)k);
      expect_near(is->predicted, predicted, 10, "predicted row", (int)k);
      square[is->heldout] += (measured - predicted) * (measured - predicted), count[is->heldout]++;
      fastest = fmax(fastest, fabs(w->v[k]));
    }
  }
  const psdm_step_fit *fit = &s->p.step[PSDM_STEP_FRICTION];
  assert_true(fit->train[w->drive].rows == (long)count[0] && fit->heldout[w->drive].rows == (long)count[1] && count[0] > 0);
  expect_near(fit->train[w->drive].rmse, sqrt(square[0] / count[0]), 1, "rmse of drive", w->drive);
  if (count[1] > 0) expect_near(fit->heldout[w->drive].rmse, sqrt(square[1] / count[1]), 1, "held-out rmse of drive", w->drive);
  assert_true(fit->sigma[w->drive] == fit->train[w->drive].rmse);
  assert_true(s->p.speed[w->drive] == fastest);
  return at;
}

/* ---- a step beside its twin ---- */

static const char *const number_key[NUMBERS] = {"coulomb", "static", "stribeck", "viscous", "exponent", "sigma0", "sigma1", "offset"};

static void expect_remarks(const twin *w, const psdmp_lugre_answer *a, bool offset) {
  char text[200], names[100] = "";
  for (int k = 0; k < NUMBERS - 1; k++)
    if (!a->fitted[k]) snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", number_key[k]);
  snprintf(text, sizeof text, "friction of 'j%d': the motion does not show %s", w->drive + 1, names);
  assert_int_equal(remarked(&w->s->p, text), names[0] != 0);
  snprintf(text, sizeof text, "friction of 'j%d': a constant torque of %.3g is left", w->drive + 1, a->friction.offset);
  assert_int_equal(remarked(&w->s->p, text), offset);
  snprintf(text, sizeof text, "friction of 'j%d': of its poses %d are fitted; %d stretches in others are left out", w->drive + 1, w->poses, w->left_out);
  assert_int_equal(remarked(&w->s->p, text), w->left_out > 0);
}

/* What the drives of a log showed. */
typedef struct seen_of {
  int fitted, offsets, left_out, poses, columns;
} seen_of;

static seen_of expect_twin(psdm_steps *steps) {
  static double model[ROWS], covariance[256];
  psdmp_steps *s = steps->internal;
  psdmp_arena arena = {.allocator = NULL};
  psdmp_records records;
  psdm_error error = {0};
  seen_of all = {0};
  long at = 0, used = 0;
  int remarks = s->remarks;
  if (psdmp_steps_load(s, PSDM_STEP_FRICTION, &arena, &records, &error)) fail_msg("%s", error.text);
  assert_int_equal(s->remarks, remarks);
  seen.rows = 0, seen.stop = -1;
  assert_int_equal(psdm_steps_predict(steps, list_row, &seen, &error), PSDM_OK);
  for (int d = 0; d < s->n; d++) {
    twin *w = &made;
    twin_rows(w, s, &records, d, &arena);
    if (!w->used || w->lacks || !isfinite(s->x[d])) {
      assert_true(steps->friction_from[d] == PSDM_FROM_NOTHING && isnan(steps->effective_inertia[d]) && steps->step[PSDM_STEP_FRICTION].train[d].rows == 0);
      continue;
    }
    psdmp_lugre_options o = {.filter = isinf(records.cutoff) ? NULL : &records.filter, .blocks = 20};
    psdmp_lugre_answer a = {.covariance = covariance, .model = model};
    assert_int_equal(psdmp_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
    if (leaves_constant(w, model)) {
      o.offset = true;
      assert_int_equal(psdmp_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
    }
    expect_answer(w, &o, &a);
    at = expect_rows(w, &records, &seen, at);
    expect_remarks(w, &a, o.offset);
    used += w->used;
    all.fitted++, all.offsets += o.offset, all.left_out += w->left_out, all.poses += w->poses, all.columns += w->columns;
  }
  assert_int_equal(at, seen.rows);
  assert_int_equal(steps->step[PSDM_STEP_FRICTION].rows, used);
  for (int d = 0; d < s->n; d++) assert_false(steps->step[PSDM_STEP_INERTIA].sigma[d] > 0 || steps->step[PSDM_STEP_GRAVITY].sigma[d] > 0); /* of no other step */
  /* a reader that has had enough */
  seen.rows = 0, seen.stop = 7;
  assert_int_equal(psdm_steps_predict(steps, list_row, &seen, &error), PSDM_OK);
  assert_int_equal(seen.rows, 7);
  psdmp_arena_free(&arena);
  return all;
}

/* One log or two of an arm, with what is known before. */
typedef struct trial {
  const arm *a;
  psdm_robot *truth, *asked;
  shelf logs;
  recorder r;
  earlier e;
  rng g;
} trial;

static void trial_new(trial *t, const char *name, const arm *a, const char *more) {
  *t = (trial){.a = a, .g = rng_start(name), .truth = arm_robot(a, (told){.inertias = true}), .asked = arm_robot(a, (told){.more = more})};
  t->r = (recorder){.robot = t->truth, .constant = a->constant, .friction = a->friction, .rates = true, .noise = 0.02};
  earlier_new(&t->e, a, t->truth, &t->g);
}

static psdm_steps *trial_run(trial *t, double cutoff) {
  psdm_steps_options o = {.logs = t->logs.logs, .log = t->logs.log, .before = &t->e.p};
  o.cutoff[PSDM_STEP_FRICTION] = cutoff;
  return run_steps(t->asked, &o);
}

static void trial_free(trial *t) {
  psdm_robot_free(t->truth), psdm_robot_free(t->asked);
  shelf_clear(&t->logs);
  free(t->e.covariance);
}

/* three joints, each in poses of the joints behind it; a constant torque at the second */
static void poses_and_doubt(void **state) {
  (void)state;
  arm a = arms[0];
  a.friction[1].offset = 0.8;
  trial t;
  trial_new(&t, "poses_and_doubt", &a, NULL);
  shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, poses_track(&a, 0.01), &t.g);
  psdm_steps *s = trial_run(&t, INFINITY);
  seen_of all = expect_twin(s);
  print_message("%d drives, %d poses, %d with a constant torque, %d columns\n", all.fitted, all.poses, all.offsets, all.columns);
  assert_true(all.fitted == 3 && all.poses == 2 + 2 + 1 && all.offsets >= 1 && all.columns > 6);
  psdm_steps_free(s);
  trial_free(&t);
}

/* two joints on the first one, which do not feel each other; and a joint that follows another, so that all of them may */
static void branches_and_couplings(void **state) {
  (void)state;
  arm tree = arms[0], coupled = arms[0];
  tree.joint[2] = "type: revolute, parent: j1, origin: {xyz: [0.1, -0.2, 0.1], rpy: [0.3, 0, 0.2]}, a: 0.3, alpha: pi/2";
  coupled.joint[1] = "type: revolute, a: 0.4, drive_inertia: 0.4}\n  - {name: follower, type: revolute, a: 0.2, couple: {j2: -0.5}";
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

/* quick at first, and slow for long; without friction no number of it shows */
static void quick_beginnings(void **state) {
  (void)state;
  static const psdm_friction none[WIDE];
  for (int rubs = 0; rubs < 2; rubs++) {
    trial t;
    trial_new(&t, "quick_beginnings", &arms[1], NULL);
    if (!rubs) t.r.friction = none;
    track *m = track_new(2, 0.01);
    m->at[0] = 0.3, m->at[1] = 0.4;
    track_hold(m, 0.5), track_sine(m, 1, 0.3, 3, 1.5);
    double most = 0;
    for (long k = 0; k < m->rows; k++) most = fmax(most, fabs(m->qd[2 * k + 1]));
    track_sine(m, 1, 0.2, 0.5, 12), track_hold(m, 0.5);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
    psdm_steps *s = trial_run(&t, INFINITY);
    assert_int_equal(expect_twin(s).fitted, 1);
    assert_true(fabs(s->speed[1] - most) < 1e-12 && made.part[made.rows - 10] > 30);
    assert_int_equal(remarked(s, "friction of 'j2': the motion does not show coulomb, static, stribeck, viscous, exponent, sigma0, sigma1"), !rubs);
    psdm_steps_free(s);
    trial_free(&t);
  }
}

/* the variance of the second of two doubted numbers at which it just explains what is left of the torque's mean */
static double explaining(psdm_steps *steps, int drive) {
  static double model[ROWS];
  psdmp_steps *s = steps->internal;
  psdmp_arena arena = {.allocator = NULL};
  psdmp_records records;
  psdm_error error;
  twin *w = &made;
  assert_int_equal(psdmp_steps_load(s, PSDM_STEP_FRICTION, &arena, &records, &error), PSDM_OK);
  twin_rows(w, s, &records, drive, &arena);
  assert_int_equal(w->columns, 2);
  psdmp_lugre_options o = {.blocks = 20};
  psdmp_lugre_answer a = {.model = model};
  assert_int_equal(psdmp_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
  double sum[20] = {0}, count[20] = {0}, slope = 0, mean = 0, rows = 0, scatter = 0;
  for (long k = 0; k < w->rows; k++)
    if (w->use[k]) sum[w->part[k] / 2] += w->tau[k] - model[k], count[w->part[k] / 2]++, slope += w->D[2 * k + 1];
  for (int b = 0; b < 20; b++) assert_true(count[b] > 0), mean += sum[b], rows += count[b];
  mean /= rows, slope /= rows;
  for (int b = 0; b < 20; b++) scatter += pow((sum[b] - mean * count[b]) / rows, 2) * 20 / 19;
  psdmp_arena_free(&arena);
  assert_true(mean * mean / 16 > 1.1 * scatter && scatter > 1e-4 * mean * mean);
  return (mean * mean / 16 - scatter) / (slope * slope);
}

/* the doubt of gravity explains a constant torque: it is not fitted */
static void doubt_of_gravity(void **state) {
  (void)state;
  arm a = arms[0];
  a.friction[1].offset = 0.8;
  int explained = 0;
  double enough = NAN;
  for (int which = 0; which < 64; which++) {
    trial t;
    trial_new(&t, "doubt_of_gravity", &a, NULL);
    int N = t.e.p.n + t.e.p.base + NUMBERS * t.e.p.n;
    memset(t.e.covariance, 0, (size_t)(N * N) * sizeof *t.e.covariance);
    if (which >= t.e.p.base) {
      trial_free(&t);
      break;
    }
    track *m = track_new(3, 0.01);
    memcpy(m->at, middle, 3 * sizeof *middle);
    alone(m, 1, 0.3, 0.4);
    track_hold(m, 0.5);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, m, &t.g);
    psdm_steps *s = trial_run(&t, INFINITY);
    bool feels = s->gravity[which] && strchr("23", s->theta[which].name[2]) && strlen(s->theta[which].name) == 3;
    assert_int_equal(expect_twin(s).offsets, 1);
    psdm_steps_free(s);
    if (feels) {
      t.e.covariance[(3 + which) * (N + 1)] = 1e-2; /* some Nm */
      s = trial_run(&t, INFINITY);
      int offsets = expect_twin(s).offsets;
      print_message("  doubt of %s: %d with a constant torque\n", s->theta[which].name, offsets);
      explained += !offsets;
      psdm_steps_free(s);
      for (int k = 0; k < 3 && explained == 1 && !offsets; k++) { /* hardly any, a little less than enough, a little more */
        t.e.covariance[N + 1] = 1e-30; /* the torque constant, hardly at all */
        t.e.covariance[(3 + which) * (N + 1)] = k ? enough * (k == 1 ? 1 - 1e-6 : 1 + 1e-6) : 1e-30;
        s = trial_run(&t, INFINITY);
        assert_int_equal(expect_twin(s).offsets, k < 2);
        if (k == 0) enough = explaining(s, 1);
        psdm_steps_free(s);
      }
    }
    trial_free(&t);
  }
  assert_true(explained >= 1);
}

/* the rows of a log where a joint is quickest, one in each of so many parts */
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

/* rests that creep, and currents that are wrong where a drive is quickest: those rows are simulated only, and the speed that was seen is that of the others */
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
    if (m->qd[k] == 0) m->qd[k] = 2e-5; /* a tenth of what is still */
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

/* behind a transmission, filtered, in two logs, with a known tool */
static void filtered_with_tool(void **state) {
  (void)state;
  static const char tool[] = "tool: {mass: 1.2, com: [0.02, -0.03, 0.08], inertia: {xx: 0.004, yy: 0.005, zz: 0.003, xy: 0.0002}}\n";
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
    go(m, 0.1 * (k % 3), k == 10 ? 1e-3 : 0.2 * k - 1, 0); /* the last is the sixth again, as far from it as is alike */
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
  assert_true(remarked(s, "friction of 'j2' is not fitted: it does not move alone in any log") && !remarked(s, "what was known is kept"));
  psdm_steps_free(s);
  trial_free(&t);
}

/* ---- what is in the way ---- */

static int told_shares;

/* shares grow from drive to drive, and each drive's are its own part of the whole */
static bool shares(void *user, const char *doing, double share) {
  double *last = user;
  char name[64];
  if (!strstr(doing, ": j")) return true;
  for (int d = 0; d < 3; d++) {
    snprintf(name, sizeof name, "friction: j%d", d + 1);
    if (strcmp(doing, name) == 0) assert_true(share >= d / 3.0 - 1e-12 && share <= (d + 1) / 3.0 + 1e-12 && (share > last[d] || last[d] < 0 || share == last[d])), last[d] = share, told_shares++;
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
  /* gravity of the first link is not known: only the drive before it feels it; the last torque constant is not known either */
  double last[3] = {-1, -1, -1};
  s = run_steps(t.asked, &(psdm_steps_options){.logs = 1, .log = t.logs.log, .before = &t.e.p, .cutoff = {0, 0, INFINITY, 0}, .going_on = shares, .going_on_user = last});
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
  assert_true(remarked(s, "friction of 'j3' is not fitted: its torque constant is not known; what was known is kept"));
  assert_true(!remarked(s, "friction of 'j2' is not") && s->friction_from[0] == PSDM_FROM_NOTHING && s->friction_from[1] == PSDM_FROM_LOG && s->friction_from[2] == PSDM_FROM_FILE);
  assert_true(s->friction[2].sigma0 == arms[0].friction[2].sigma0 && !isnan(s->step[PSDM_STEP_FRICTION].train[1].rmse));
  psdm_steps_free(s);
  /* none of them */
  t.e.constant[1] = NAN;
  assert_int_equal(psdm_steps_run(t.asked, &o, NULL, &s, &error), PSDM_E_MISSING);
  assert_string_equal(error.file, t.logs.log[0].path);
  assert_string_equal(error.text, "friction of no drive can be fitted: of the last one, its torque constant is not known");
  /* stopped before a drive, and within its fit: nothing of the step is kept */
  for (int k = 0; k < 2; k++) {
    brake b = {.doing = "friction: j2", .share = k ? 1 / 3.0 + 1e-6 : 0};
    trial_free(&t);
    trial_new(&t, "obstacles", &arms[0], NULL);
    shelf_write(&t.logs, PSDM_STEP_FRICTION, &t.r, poses_track(&arms[0], 0.01), &t.g);
    o.log = t.logs.log, o.before = &t.e.p, o.going_on = stops, o.going_on_user = &b;
    assert_int_equal(psdm_steps_run(t.asked, &o, NULL, &s, &error), PSDM_OK);
    assert_true(s->stopped && !s->step[PSDM_STEP_FRICTION].done && b.calls == 1);
    psdm_steps_free(s);
  }
  trial_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_poses), cmocka_unit_test(filtered_with_tool), cmocka_unit_test(doubt_of_gravity), cmocka_unit_test(creeping_and_spikes), cmocka_unit_test(quick_beginnings), cmocka_unit_test(branches_and_couplings), cmocka_unit_test(poses_and_doubt), cmocka_unit_test(obstacles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
