/* test_steps_friction_twin.h: a plain twin of the friction step: which rows it takes from which stretches, their
 * residual torque, and the resulting answer, uncertainty and rows. The fit itself is lugre_fit.h's, called by both.
 * Part of one program at a time. */
#ifndef TEST_STEPS_FRICTION_TWIN_H
#define TEST_STEPS_FRICTION_TWIN_H

#include "test_steps_arms.h"

#include "steps/lugre_fit_priv.h"
#include "parameters/parameters.h"
#include "steps/steps_priv.h"

enum { NUMBERS = PSDM_FRICTION_NUMBERS, ROWS = 12000 };

/* ---- results of earlier steps ---- */

/* torque constants and gravity parameters with a covariance; friction and the rest are unknown */
typedef struct earlier {
  psdm_parameters p;
  psdm_estimate theta[64];
  unsigned char known[64];
  psdm_friction lugre[WIDE];
  double constant[WIDE], *covariance;
} earlier;

/* the variance of every third number is zero */
static inline void earlier_new(earlier *e, const arm *a, const psdm_robot *truth, rng *g) {
  double theta[64];
  memset(e, 0, sizeof *e);
  int n = arm_n(a), l = true_theta(truth, theta), N = n + l + NUMBERS * n;
  e->covariance = must(calloc((size_t)(N * N), sizeof *e->covariance));
  for (int d = 0; d < n; d++) e->constant[d] = a->constant[d];
  for (int j = 0; j < l; j++) e->theta[j].value = theta[j], e->known[j] = 1;
  for (int shared = 0; shared < 4; shared++) {
    double u[80];
    for (int i = 0; i < n + l; i++)
      u[i] = i % 3 == 2 ? 0 : 1e-3 * rng_uniform(g, 0.2, 1) * (i < n ? a->constant[i] : 1);
    for (int i = 0; i < n + l; i++)
      for (int k = 0; k < n + l; k++)
        e->covariance[i * N + k] += (shared % 2 && i != k ? -1 : 1) * u[i] * u[k] / (i == k ? 1 : 8);
  }
  e->p = (psdm_parameters){.n = n,
                           .base = l,
                           .theta = e->theta,
                           .theta_known = e->known,
                           .lugre = e->lugre,
                           .covariance = e->covariance,
                           .torque_constant = e->constant,
                           .currents = true,
                           .steps = 1u << PSDM_STEP_MOTOR | 1u << PSDM_STEP_GRAVITY};
}

/* ---- motions ---- */

/* a joint alone: sines after a rest, the last of them quick */
static inline void alone(track *t, int joint, double rest, double size) {
  track_hold(t, rest);
  track_sine(t, joint, 0.1 * size, 1.3, 2);
  track_sine(t, joint, size, 0.9, 2);
}

static inline void go(track *t, double q1, double q2, double q3) {
  const double to[WIDE] = {q1, q2, q3};
  track_move(t, to, 0.8);
}

/* each joint after a long rest, in two poses of the joints after it; once more with the joint before it elsewhere */
static inline track *poses_track(const arm *a, double dt) {
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
  /* one joint that rests for long while others move */
  for (int k = 1; k < n + 2; k++) alone(t, k % n, 0.3, 0.3);
  track_hold(t, 0.5);
  return t;
}

/* ---- the twin ---- */

typedef struct twin {
  psdmp_steps *s;
  int drive, pieces, poses, left_out;
  psdmp_steps_lugre_piece piece[16];
  int record[16];
  long first[16]; /* of the rows below */
  long rows, used;
  long row[ROWS]; /* of the record */
  double v[ROWS], a[ROWS], tau[ROWS], *D;
  signed char use[ROWS], part[ROWS]; /* part: -1 only simulated */
  int column[64], columns;
  const double *pose[16];
  bool lacks;
} twin;

static twin made;

static inline bool held_out(const psdmp_steps *s, int part) {
  double share = s->options.holdout == 0 ? 0.15 : s->options.holdout;
  return share > 0 && floor((part + 1) * share + 1e-9) > floor(part * share + 1e-9);
}

/* whether joint k is behind joint j of a serial arm, or of two joints on the first one; or all are coupled */
static bool branched;
static inline bool behind(const psdmp_steps *s, int k, int j) {
  return psdm_robot_coupled(s->run.robot) || (branched ? j == 0 && k > 0 : k > j);
}

static inline int pose_number(twin *w, const double *q) {
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

static inline void twin_row(twin *w, const psdmp_steps_record *r, long k, long at) {
  psdmp_steps *s = w->s;
  int n = s->n, l = s->l;
  double *scratch = must(malloc(psdmp_steps_scratch(s) * sizeof *scratch)),
         *Y = must(malloc((size_t)(n * l) * sizeof *Y)), tool[WIDE], gravity = 0;
  assert_int_equal(psdmp_steps_regressor(s, r->q + k * n, r->qd + k * n, r->qdd + k * n, scratch, Y, tool), PSDM_OK);
  assert_int_equal(psdmp_steps_regressor(s, r->q + k * n, r->qd + k * n, NULL, scratch, Y, NULL), PSDM_OK);
  for (int j = 0; j < l; j++) {
    double y = Y[w->drive * l + j];
    if (!s->gravity[j] || fabs(y) < 1e-12) continue;
    if (isfinite(s->x[n + j])) gravity += y * s->x[n + j];
    else w->lacks = true;
  }
  w->tau[at] = s->x[w->drive] * r->i[k * n + w->drive] - gravity - tool[w->drive];
  for (int c = 0; c < w->columns; c++)
    w->D[at * w->columns + c] = w->column[c] < n ? r->i[k * n + w->drive] : -Y[w->drive * l + w->column[c] - n];
  free(scratch), free(Y);
}

/* rows of one stretch: 5 cm of travel before it, rests of more than a second cut */
static inline void twin_stretch(twin *w, const psdmp_steps_records *records, const psdmp_steps_alone *solo, long before,
                                long all) {
  const psdmp_steps_record *r = &records->record[solo->record];
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
    w->row[at] = k, w->v[at] = r->v[k * n + d], w->a[at] = r->a[k * n + d], w->tau[at] = 0, w->use[at] = 0,
    w->part[at] = -1;
    for (int c = 0; c < w->columns; c++) w->D[at * w->columns + c] = 0;
    if (k < solo->from + ends || k >= solo->to - ends || r->bad[k * n + d]) continue;
    twin_row(w, r, k, at);
    w->part[at] = (signed char)fmin(39, floor(40 * ((double)(before + k - solo->from) / (double)all)));
    w->use[at] = !held_out(w->s, w->part[at]);
    w->used += w->use[at];
  }
  w->record[w->pieces] = solo->record, w->first[w->pieces] = from;
  w->piece[w->pieces++] = (psdmp_steps_lugre_piece){.rows = w->rows - from,
                                                    .dt = r->dt,
                                                    .v = w->v + from,
                                                    .a = w->a + from,
                                                    .tau = w->tau + from,
                                                    .use = w->use + from,
                                                    .pose = pose};
}

static inline void twin_rows(twin *w, psdmp_steps *s, const psdmp_steps_records *records, int drive,
                             psdmp_base_arena *arena) {
  psdmp_steps_alone *solo;
  psdm_error error;
  int solos;
  long all = 0, before = 0;
  memset(w, 0, sizeof *w);
  w->s = s, w->drive = drive;
  if (s->C[(long)drive * (s->N + 1)] > 0) w->column[w->columns++] = drive;
  for (int j = 0; j < s->l; j++)
    if (s->gravity[j] && isfinite(s->x[s->n + j]) && s->C[(long)(s->n + j) * (s->N + 1)] > 0)
      w->column[w->columns++] = s->n + j;
  w->D = psdmp_base_arena_alloc(arena, (size_t)(ROWS * (w->columns + 1)) * sizeof *w->D);
  assert_int_equal(psdmp_steps_solo(s, records, arena, &solo, &solos, &error), PSDM_OK);
  for (int k = 0; k < solos; k++) all += solo[k].joint == drive ? solo[k].to - solo[k].from : 0;
  for (int k = 0; k < solos; k++) {
    if (solo[k].joint != drive) continue;
    int taken = w->pieces;
    twin_stretch(w, records, &solo[k], before, all);
    before += w->pieces > taken ? solo[k].to - solo[k].from : 0;
  }
}

/* whether the residual's mean exceeds four of its standard errors: blocks' scatter and earlier numbers' uncertainty */
static inline bool leaves_constant(const twin *w, const double *model) {
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
    for (int b = 0; b < w->columns; b++)
      variance += slope[a] / rows * (slope[b] / rows) * s->C[(long)w->column[a] * s->N + w->column[b]];
  return mean * mean > 16 * variance;
}

static inline void expect_near(double is, double should, double scale, const char *what, int k) {
  if (!(fabs(is - should) <= 1e-9 * scale)) fail_msg("%s %d: %.15g, %.15g was expected", what, k, is, should);
}

/* the answer's numbers and inertias, C = noise + G C G^T for its own, G C with earlier ones */
static inline void expect_answer(twin *w, psdmp_steps_lugre_options *o, psdmp_steps_lugre_answer *a) {
  psdmp_steps *s = w->s;
  int wide = NUMBERS + w->poses, N = s->N;
  double *gain = must(calloc((size_t)(wide * (w->columns + 1)), sizeof *gain));
  if (w->columns)
    assert_int_equal(psdmp_steps_lugre_gain(w->pieces, w->piece, w->poses, o, a, w->columns, w->D, NULL, gain),
                     PSDM_OK);
  for (int k = 0; k < NUMBERS; k++) {
    int own = psdmp_steps_at_friction(s, w->drive, k);
    double should = *psdmp_parameters_lugre_number(&a->friction, k);
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
          double part =
              gain[k * w->columns + c] * s->C[(long)w->column[c] * N + w->column[b]] * gain[i * w->columns + b];
          sum += part, scale += fabs(part);
        }
      expect_near(s->C[(long)own * N + psdmp_steps_at_friction(s, w->drive, i)], sum, scale, "covariance",
                  k * NUMBERS + i);
    }
  }
  for (int p = 0; p < w->poses; p++)
    expect_near(s->pose_inertia[w->drive * PSDMP_STEPS_POSES + p], a->inertia[p], fabs(a->inertia[p]),
                "inertia of pose", p);
  assert_true(s->p.effective_inertia[w->drive] == s->pose_inertia[w->drive * PSDMP_STEPS_POSES] &&
              s->p.friction_from[w->drive] == PSDM_FROM_LOG);
  free(gain);
}

/* ---- rows once more ---- */

typedef struct listed {
  psdm_steps_row row[3 * ROWS];
  long rows, stop;
} listed;

static listed seen;

static inline bool list_row(void *user, const psdm_steps_row *row) {
  listed *l = user;
  l->row[l->rows++] = *row;
  return l->rows != l->stop;
}

/* the rows passed on, and their tallies */
static inline long expect_rows(const twin *w, const psdmp_steps_records *records, const listed *l, long at) {
  psdmp_steps *s = w->s;
  double square[2] = {0}, count[2] = {0}, fastest = 0;
  static double model[ROWS];
  for (int p = 0; p < w->pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &w->piece[p];
    const psdmp_steps_record *r = &records->record[w->record[p]];
    assert_int_equal(psdmp_steps_lugre_predict(&s->friction[w->drive], isinf(records->cutoff) ? NULL : &records->filter,
                                               piece->rows, piece->dt, piece->v, NULL, model),
                     PSDM_OK);
    for (long k = w->first[p]; k < w->first[p] + piece->rows; k++) {
      if (w->part[k] < 0) continue;
      const psdm_steps_row *is = &l->row[at++];
      double measured = w->tau[k] - s->pose_inertia[w->drive * PSDMP_STEPS_POSES + piece->pose] * w->a[k],
             predicted = model[k - w->first[p]];
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
  assert_true(fit->train[w->drive].rows == (long)count[0] && fit->heldout[w->drive].rows == (long)count[1] &&
              count[0] > 0);
  expect_near(fit->train[w->drive].rmse, sqrt(square[0] / count[0]), 1, "rmse of drive", w->drive);
  if (count[1] > 0)
    expect_near(fit->heldout[w->drive].rmse, sqrt(square[1] / count[1]), 1, "held-out rmse of drive", w->drive);
  assert_true(fit->sigma[w->drive] == fit->train[w->drive].rmse);
  assert_true(s->p.speed[w->drive] == fastest);
  return at;
}

/* ---- a step and its twin ---- */

static const char *const number_key[NUMBERS] = {"coulomb",  "static", "stribeck", "viscous",
                                                "exponent", "sigma0", "sigma1",   "offset"};

static inline void expect_remarks(const twin *w, const psdmp_steps_lugre_answer *a, bool offset) {
  char text[200], names[100] = "";
  for (int k = 0; k < NUMBERS - 1; k++)
    if (!a->fitted[k])
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", names[0] ? ", " : "", number_key[k]);
  snprintf(text, sizeof text, "friction of 'j%d': the motion does not show %s", w->drive + 1, names);
  assert_int_equal(remarked(&w->s->p, text), names[0] != 0);
  snprintf(text, sizeof text, "friction of 'j%d': a constant torque of %.3g is left", w->drive + 1, a->friction.offset);
  assert_int_equal(remarked(&w->s->p, text), offset);
  snprintf(text, sizeof text, "friction of 'j%d': %d poses are fitted; %d stretches in other poses are omitted",
           w->drive + 1, w->poses, w->left_out);
  assert_int_equal(remarked(&w->s->p, text), w->left_out > 0);
}

/* What the drives of a log showed. */
typedef struct seen_of {
  int fitted, offsets, left_out, poses, columns;
} seen_of;

static inline seen_of expect_twin(psdm_steps *steps) {
  static double model[ROWS], covariance[256];
  psdmp_steps *s = steps->internal;
  psdmp_base_arena arena = {.allocator = NULL};
  psdmp_steps_records records;
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
      assert_true(steps->friction_from[d] == PSDM_FROM_NOTHING && isnan(steps->effective_inertia[d]) &&
                  steps->step[PSDM_STEP_FRICTION].train[d].rows == 0);
      continue;
    }
    psdmp_steps_lugre_options o = {.filter = isinf(records.cutoff) ? NULL : &records.filter, .blocks = 20};
    psdmp_steps_lugre_answer a = {.covariance = covariance, .model = model};
    assert_int_equal(psdmp_steps_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
    if (leaves_constant(w, model)) {
      o.offset = true;
      assert_int_equal(psdmp_steps_lugre_fit(w->pieces, w->piece, w->poses, &o, NULL, &a, &error), PSDM_OK);
    }
    expect_answer(w, &o, &a);
    at = expect_rows(w, &records, &seen, at);
    expect_remarks(w, &a, o.offset);
    used += w->used;
    all.fitted++, all.offsets += o.offset, all.left_out += w->left_out, all.poses += w->poses,
        all.columns += w->columns;
  }
  assert_int_equal(at, seen.rows);
  assert_int_equal(steps->step[PSDM_STEP_FRICTION].rows, used);
  /* of no other step */
  for (int d = 0; d < s->n; d++)
    assert_false(steps->step[PSDM_STEP_INERTIA].sigma[d] > 0 || steps->step[PSDM_STEP_GRAVITY].sigma[d] > 0);
  /* a reader that stops */
  seen.rows = 0, seen.stop = 7;
  assert_int_equal(psdm_steps_predict(steps, list_row, &seen, &error), PSDM_OK);
  assert_int_equal(seen.rows, 7);
  psdmp_base_arena_free(&arena);
  return all;
}

/* One or two logs of an arm, with earlier results. */
typedef struct trial {
  const arm *a;
  psdm_robot *truth, *asked;
  shelf logs;
  recorder r;
  earlier e;
  rng g;
  double holdout; /* 0: the usual share */
} trial;

static inline void trial_new(trial *t, const char *name, const arm *a, const char *more) {
  *t = (trial){.a = a,
               .g = rng_start(name),
               .truth = arm_robot(a, (told){.inertias = true}),
               .asked = arm_robot(a, (told){.more = more})};
  t->r = (recorder){.robot = t->truth, .constant = a->constant, .friction = a->friction, .rates = true, .noise = 0.02};
  earlier_new(&t->e, a, t->truth, &t->g);
}

static inline psdm_steps *trial_run(trial *t, double cutoff) {
  psdm_steps_options o = {.logs = t->logs.logs, .log = t->logs.log, .before = &t->e.p, .holdout = t->holdout};
  o.cutoff[PSDM_STEP_FRICTION] = cutoff;
  return run_steps(t->asked, &o);
}

static inline void trial_free(trial *t) {
  psdm_robot_free(t->truth), psdm_robot_free(t->asked);
  shelf_clear(&t->logs);
  free(t->e.covariance);
}

#endif
