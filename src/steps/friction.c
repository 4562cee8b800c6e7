/* friction.c: LuGre friction of each drive from its joint moving alone (Lloyd, Irani, Ahmadi 2022, section 3.3).
 *
 * The remaining torque, tau - tau_grav - tau_tool (19), is friction and a constant inertia times the
 * acceleration, since M_jj does not depend on q_j; lugre_fit.h fits both. Velocity terms of the gravity parameters are
 * subtracted too: they are zero for a joint that moves alone, but not always behind a transmission. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/lugre_fit_priv.h"
#include "parameters/parameters.h"
#include "steps/steps_priv.h"

static const double same_pose = 1e-3; /* rad or m */
static const double forgotten = 0.05; /* rad or m of travel after which bristles have forgotten their initial state */
/* s: longer rests before a stretch are cut to this, since bristles do not change at rest */
static const double pause = 1;
/* a constant torque is fitted if the mean residual exceeds this many times its uncertainty */
static const double offset_t = 4;
enum { NUMBERS = PSDMP_STEPS_LUGRE_NUMBERS };

/* One stretch of a drive, with the travel before it that bends its bristles. */
typedef struct stretch {
  const psdmp_steps_record *record;
  long *row;           /* (rows) of the record */
  double *v, *a, *tau; /* (rows) */
  double *D;           /* (rows x columns) d tau / d earlier numbers */
  signed char *use;    /* (rows) 1: fitted */
  signed char *piece;  /* (rows) of the jackknife and held-out pieces; -1: simulated only */
  long rows;
  int pose;
} stretch;

typedef struct friction {
  psdmp_steps *s;
  psdmp_base_arena *arena; /* of the step, and */
  psdmp_base_arena *own;   /* of the drive */
  psdmp_steps_records records;
  psdmp_steps_alone *solo;
  int solos;
  double *scratch, *Y;
  int drive;
  stretch *stretch; /* of the drive */
  psdmp_steps_lugre_piece *piece;
  int stretches, poses, left_out; /* left_out: stretches in further poses */
  long rows, used;
  int *column, columns; /* numbers of x that affect its torque and are uncertain */
  double low, high;     /* range of progress */
  bool lacks;           /* a parameter that the gravity step should give is unknown */
} friction;

/* ---- stretches ---- */

/* whether joint k is carried by the joint of q j: then its position changes the torque of q j; coupled joints always do
   */
static bool affects(const psdm_robot *robot, int k, int j) {
  if (psdm_robot_coupled(robot)) return true;
  int at = 0; /* there is one */
  for (int i = 0; i < psdm_robot_joints(robot); i++)
    if (psdm_robot_joint(robot, i)->q == k) at = i;
  for (at = psdm_robot_joint(robot, at)->parent; at >= 0; at = psdm_robot_joint(robot, at)->parent)
    if (psdm_robot_joint(robot, at)->q == j) return true;
  return false;
}

/* the number of a pose among those so far; no room for more: -1 */
static int pose_of(friction *f, const double *q, const double **pose) {
  int n = f->s->n, known = 0;
  for (; known < f->poses; known++) {
    bool alike = true;
    for (int k = 0; k < n && alike; k++)
      alike = k == f->drive || !affects(f->s->run.robot, k, f->drive) || fabs(q[k] - pose[known][k]) <= same_pose;
    if (alike) return known;
  }
  if (known == PSDMP_STEPS_POSES) return -1;
  pose[f->poses++] = q;
  return known;
}

/* first simulated row of the drive: early enough for sufficient travel before the stretch */
static long begin_of(const friction *f, const psdmp_steps_record *r, long from) {
  double way = 0;
  while (from > 0 && way < forgotten) way += fabs(r->v[--from * f->s->n + f->drive]) * r->dt;
  return from;
}

/* rows from `begin` to the stretch's end, with long rests before it cut */
static bool list_rows(friction *f, const psdmp_steps_alone *solo, stretch *t) {
  const psdmp_steps_record *r = t->record;
  long begin = begin_of(f, r, solo->from), resting = 0, most = (long)(pause / r->dt);
  double still = 0;
  for (long k = begin; k < solo->from; k++) still = fmax(still, fabs(r->v[k * f->s->n + f->drive]));
  still *= 1e-4;
  if (!(t->row = PSDMP_BASE_NEW(f->own, solo->to - begin, long))) return false;
  for (long k = begin; k < solo->to; k++) {
    resting = k < solo->from && fabs(r->v[k * f->s->n + f->drive]) <= still ? resting + 1 : 0;
    if (resting <= most) t->row[t->rows++] = k;
  }
  return true;
}

static bool allocate(friction *f, stretch *t) {
  t->v = PSDMP_BASE_NEW(f->own, t->rows, double), t->a = PSDMP_BASE_NEW(f->own, t->rows, double),
  t->tau = PSDMP_BASE_NEW(f->own, t->rows, double);
  t->use = PSDMP_BASE_NEW(f->own, t->rows, signed char), t->piece = PSDMP_BASE_NEW(f->own, t->rows, signed char);
  t->D = PSDMP_BASE_NEW(f->own, t->rows * f->columns, double);
  return t->v && t->a && t->tau && t->use && t->piece && t->D;
}

/* earlier numbers that affect the torque: the torque constant and the gravity parameters */
static bool list_columns(friction *f) {
  const psdmp_steps *s = f->s;
  f->columns = 0;
  if (!(f->column = PSDMP_BASE_NEW(f->own, s->l + 1, int))) return false;
  if (s->C[(long)f->drive * (s->N + 1)] > 0) f->column[f->columns++] = f->drive;
  for (int j = 0; j < s->l; j++)
    if (s->gravity[j] && psdmp_steps_known(s, j) && s->C[(long)psdmp_steps_at_theta(s, j) * (s->N + 1)] > 0)
      f->column[f->columns++] = psdmp_steps_at_theta(s, j);
  return true;
}

/* the remaining torque at one row (19), and its derivative by earlier numbers */
static psdm_status fill_row(friction *f, stretch *t, long k) {
  psdmp_steps *s = f->s;
  const psdmp_steps_record *r = t->record;
  long row = t->row[k] * s->n;
  double tool[PSDM_CALIBRATE_JOINTS], sum = 0, *Y = f->Y + (long)f->drive * s->l;
  psdm_status status = psdmp_steps_regressor(s, r->q + row, r->qd + row, r->qdd + row, f->scratch, f->Y, tool);
  if (!status) status = psdmp_steps_regressor(s, r->q + row, r->qd + row, NULL, f->scratch, f->Y, NULL);
  for (int j = 0; j < s->l && !status; j++) {
    if (!s->gravity[j] || fabs(Y[j]) < 1e-12) continue;
    if (psdmp_steps_known(s, j)) sum += Y[j] * s->x[psdmp_steps_at_theta(s, j)];
    else f->lacks = true;
  }
  t->tau[k] = s->x[f->drive] * r->i[row + f->drive] - sum - tool[f->drive];
  for (int c = 0; c < f->columns; c++)
    t->D[k * f->columns + c] = f->column[c] == f->drive ? r->i[row + f->drive] : -Y[f->column[c] - s->n];
  return status;
}

/* rows of the stretch itself, counted over all stretches of the drive; number of rows before */
static psdm_status fill_stretch(friction *f, const psdmp_steps_alone *solo, stretch *t, long before, long all) {
  const psdmp_steps_record *r = t->record;
  long ends = 2 + (long)ceil(f->records.rest / r->dt);
  for (long k = 0; k < t->rows; k++) {
    long row = t->row[k];
    t->v[k] = r->v[row * f->s->n + f->drive], t->a[k] = r->a[row * f->s->n + f->drive];
    t->piece[k] = -1;
    if (row < solo->from + ends || row >= solo->to - ends || r->bad[row * f->s->n + f->drive]) continue;
    psdm_status status = fill_row(f, t, k);
    if (status) return status;
    t->piece[k] = (signed char)psdmp_steps_piece((double)(before + row - solo->from) / (double)all);
    t->use[k] = !psdmp_steps_held(f->s, t->piece[k]);
    f->used += t->use[k];
  }
  return PSDM_OK;
}

/* all stretches of the drive */
static psdm_status collect(friction *f, psdm_error *error) {
  psdmp_steps *s = f->s;
  const double *pose[PSDMP_STEPS_POSES];
  long all = 0, before = 0;
  psdm_status status = list_columns(f) ? PSDM_OK : PSDM_E_MEMORY;
  f->stretches = f->poses = f->left_out = 0, f->rows = f->used = 0, f->lacks = false;
  f->stretch = PSDMP_BASE_NEW(f->own, f->solos, stretch),
  f->piece = PSDMP_BASE_NEW(f->own, f->solos, psdmp_steps_lugre_piece);
  if (!f->stretch || !f->piece) status = PSDM_E_MEMORY;
  for (int k = 0; k < f->solos; k++) all += f->solo[k].joint == f->drive ? f->solo[k].to - f->solo[k].from : 0;
  for (int k = 0; k < f->solos && !status; k++) {
    const psdmp_steps_alone *solo = &f->solo[k];
    if (solo->joint != f->drive) continue;
    stretch *t = &f->stretch[f->stretches];
    *t = (stretch){.record = &f->records.record[solo->record]};
    t->pose = pose_of(f, t->record->q + solo->from * s->n, pose);
    if (t->pose < 0) {
      f->left_out++;
      continue;
    }
    status = list_rows(f, solo, t) && allocate(f, t) ? fill_stretch(f, solo, t, before, all) : PSDM_E_MEMORY;
    before += solo->to - solo->from;
    f->piece[f->stretches++] = (psdmp_steps_lugre_piece){
        .rows = t->rows, .dt = t->record->dt, .v = t->v, .a = t->a, .tau = t->tau, .use = t->use, .pose = t->pose};
    f->rows += t->rows;
  }
  return status ? psdmp_base_fail_status(error, status) : PSDM_OK;
}

/* ---- the fit ---- */

static bool progress(void *user, const char *doing, double share) {
  friction *f = user;
  (void)doing;
  return psdmp_steps_progress(f->s, psdmp_steps_drive(f->s, f->drive), f->low + (f->high - f->low) * share);
}

/* whether the residual of the training rows has a mean that neither noise nor the uncertainty of earlier numbers
 * explains; slope: (columns) zeros */
static bool constant_left(const friction *f, const double *model, double *slope) {
  const psdmp_steps *s = f->s;
  double sum[PSDMP_STEPS_STEP_BLOCKS] = {0}, count[PSDMP_STEPS_STEP_BLOCKS] = {0}, mean = 0, scatter = 0, rows = 0,
         doubt = 0;
  int blocks = 0;
  for (int k = 0; k < f->stretches; k++) {
    const stretch *t = &f->stretch[k];
    for (long i = 0; i < t->rows; i++) {
      if (!t->use[i]) continue;
      sum[t->piece[i] / 2] += t->tau[i] - model[i], count[t->piece[i] / 2]++;
      for (int c = 0; c < f->columns; c++) slope[c] += t->D[i * f->columns + c];
    }
    model += t->rows;
  }
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++) mean += sum[b], rows += count[b], blocks += count[b] > 0;
  if (blocks < 2) return false;
  mean /= rows;
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++)
    scatter += pow(sum[b] - mean * count[b], 2) * blocks / (blocks - 1) / (rows * rows);
  for (int a = 0; a < f->columns; a++)
    for (int b = 0; b < f->columns; b++)
      doubt += slope[a] * slope[b] * s->C[(long)f->column[a] * s->N + f->column[b]] / (rows * rows);
  return fabs(mean) > offset_t * sqrt(scatter + doubt);
}

/* fits, with a constant torque if the rows need one */
static psdm_status fit_twice(friction *f, psdmp_steps_lugre_options *o, psdmp_steps_lugre_answer *a,
                             psdm_error *error) {
  double *slope = PSDMP_BASE_NEW(f->own, f->columns, double);
  if (!slope) return psdmp_base_no_memory("", error);
  psdm_status status = psdmp_steps_lugre_fit(f->stretches, f->piece, f->poses, o, f->s->allocator, a, error);
  if (status || !constant_left(f, a->model, slope)) return status;
  o->offset = true;
  return psdmp_steps_lugre_fit(f->stretches, f->piece, f->poses, o, f->s->allocator, a, error);
}

/* copies the result to x: numbers, their noise, and their derivatives by earlier ones */
static psdm_status keep(friction *f, const psdmp_steps_lugre_options *o, const psdmp_steps_lugre_answer *a,
                        psdm_error *error) {
  psdmp_steps *s = f->s;
  int wide = NUMBERS + f->poses, own[NUMBERS], N = s->N;
  double value[NUMBERS], noise[NUMBERS * NUMBERS];
  double *D = PSDMP_BASE_NEW(f->own, f->rows * f->columns, double),
         *step = PSDMP_BASE_NEW(f->own, (long)wide * f->columns, double),
         *gain = PSDMP_BASE_NEW(f->own, (long)NUMBERS * N, double);
  psdm_friction numbers = a->friction;
  long at = 0;
  if (!D || !step || !gain) return psdmp_base_no_memory("", error);
  for (int k = 0; k < f->stretches; k++) {
    memcpy(D + at * f->columns, f->stretch[k].D, (size_t)(f->stretch[k].rows * f->columns) * sizeof *D);
    at += f->stretch[k].rows;
  }
  psdm_status status =
      f->columns ? psdmp_steps_lugre_gain(f->stretches, f->piece, f->poses, o, a, f->columns, D, s->allocator, step)
                 : PSDM_OK;
  if (status) return psdmp_base_fail_status(error, status);
  for (int k = 0; k < NUMBERS; k++) {
    own[k] = psdmp_steps_at_friction(s, f->drive, k);
    value[k] = *psdmp_parameters_lugre_number(&numbers, k);
    for (int i = 0; i < NUMBERS; i++) noise[k * NUMBERS + i] = a->covariance[(long)k * wide + i];
    for (int c = 0; c < f->columns; c++) gain[(long)k * N + f->column[c]] = step[(long)k * f->columns + c];
  }
  s->friction_from[f->drive] = PSDM_FROM_LOG;
  s->inertia[f->drive] = a->inertia[0];
  memcpy(s->pose_inertia + (long)f->drive * PSDMP_STEPS_POSES, a->inertia, (size_t)f->poses * sizeof *a->inertia);
  return psdmp_steps_update(s, NUMBERS, own, value, noise, gain, error);
}

static void say_lost(friction *f, const psdmp_steps_lugre_answer *a, bool offset) {
  char names[100]; /* of seven keys */
  int at = 0;
  for (int k = 0; k < NUMBERS - 1; k++)
    if (!a->fitted[k])
      at += snprintf(names + at, sizeof names - (size_t)at, "%s%s", at ? ", " : "", psdmp_parameters_lugre_key[k]);
  if (at)
    psdmp_steps_remark(f->s, "friction of '%.60s': the motion does not show %s", psdmp_steps_drive(f->s, f->drive),
                       names);
  if (offset)
    psdmp_steps_remark(f->s, "friction of '%.60s': a constant torque of %.3g is left",
                       psdmp_steps_drive(f->s, f->drive), a->friction.offset);
}

static double quickest(const friction *f) {
  double most = 0;
  for (int k = 0; k < f->stretches; k++)
    for (long i = 0; i < f->stretch[k].rows; i++)
      if (f->stretch[k].piece[i] >= 0) most = fmax(most, fabs(f->stretch[k].v[i]));
  return most;
}

static psdm_status fit_drive(friction *f, psdm_error *error) {
  psdmp_steps *s = f->s;
  psdmp_steps_lugre_options o = {.filter = isinf(f->records.cutoff) ? NULL : &f->records.filter,
                                 .blocks = PSDMP_STEPS_STEP_BLOCKS,
                                 .progress = progress,
                                 .progress_user = f};
  int wide = NUMBERS + f->poses;
  psdmp_steps_lugre_answer a = {.covariance = PSDMP_BASE_NEW(f->own, (long)wide * wide, double),
                                .model = PSDMP_BASE_NEW(f->own, f->rows, double)};
  if (!a.covariance || !a.model) return psdmp_base_no_memory("", error);
  psdm_status status = fit_twice(f, &o, &a, error);
  if (status) return status;
  if (s->stopped) return psdmp_steps_stop(error);
  status = keep(f, &o, &a, error);
  if (status) return status;
  s->speed[f->drive] = quickest(f);
  s->p.step[PSDM_STEP_FRICTION].rows += f->used;
  say_lost(f, &a, o.offset);
  return PSDM_OK;
}

/* why a drive is not fitted, NULL: it is */
static const char *obstacle(const friction *f) {
  if (!f->stretches || !f->used) return "it does not move alone in any log";
  if (!isfinite(f->s->x[f->drive])) return "its torque constant is not known";
  return f->lacks ? "a parameter of its gravity is not known" : NULL;
}

/* ---- judging ---- */

static bool judge_stretch(const friction *f, const stretch *t, const double *model, psdmp_steps_judge *judge) {
  const psdmp_steps *s = f->s;
  double J = s->pose_inertia[(long)f->drive * PSDMP_STEPS_POSES + t->pose];
  for (long k = 0; k < t->rows; k++) {
    if (t->piece[k] < 0) continue;
    psdm_steps_row row = {.t = t->record->start + (double)t->row[k] * t->record->dt,
                          .step = PSDM_STEP_FRICTION,
                          .drive = f->drive,
                          .heldout = psdmp_steps_held(s, t->piece[k]),
                          .q = t->record->q[t->row[k] * s->n + f->drive],
                          .qd = t->v[k],
                          .measured = t->tau[k] - J * t->a[k],
                          .predicted = model[k]};
    if (!psdmp_steps_judge_row(judge, &row)) return false;
  }
  return true;
}

static psdm_status judge_drive(const friction *f, psdmp_steps_judge *judge, psdm_error *error) {
  for (int k = 0; k < f->stretches; k++) {
    const stretch *t = &f->stretch[k];
    double *model = PSDMP_BASE_NEW(f->own, t->rows, double);
    psdm_status status = model ? psdmp_steps_lugre_predict(&f->s->friction[f->drive],
                                                           isinf(f->records.cutoff) ? NULL : &f->records.filter,
                                                           t->rows, t->record->dt, t->v, f->s->allocator, model)
                               : PSDM_E_MEMORY;
    if (status) return psdmp_base_fail_status(error, status);
    if (!judge_stretch(f, t, model, judge)) return PSDM_OK;
  }
  return PSDM_OK;
}

/* ---- all drives ---- */

static psdm_status load(friction *f, psdm_error *error) {
  psdmp_steps *s = f->s;
  psdm_status status = psdmp_steps_load(s, PSDM_STEP_FRICTION, f->arena, &f->records, error);
  if (!status) status = psdmp_steps_solo(s, &f->records, f->arena, &f->solo, &f->solos, error);
  f->scratch = PSDMP_BASE_NEW(f->arena, psdmp_steps_scratch(s), double),
  f->Y = PSDMP_BASE_NEW(f->arena, (long)s->n * s->l, double);
  return status ? status : f->scratch && f->Y ? PSDM_OK : psdmp_base_no_memory("", error);
}

psdm_status psdmp_steps_friction_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                       psdm_error *error) {
  friction f = {.s = s, .arena = arena};
  psdm_status status = load(&f, error);
  for (f.drive = 0; f.drive < s->n && !status && !judge->stopped; f.drive++) {
    psdmp_base_arena own = {.allocator = s->allocator};
    f.own = &own;
    if (s->friction_from[f.drive] == PSDM_FROM_LOG) status = collect(&f, error);
    if (s->friction_from[f.drive] == PSDM_FROM_LOG && !status) status = judge_drive(&f, judge, error);
    psdmp_base_arena_free(&own);
  }
  return status;
}

/* one drive; *why gives the reason if it cannot be fitted */
static psdm_status try_drive(friction *f, psdmp_steps_judge *judge, const char **why, psdm_error *error) {
  psdmp_steps *s = f->s;
  psdm_status status = collect(f, error);
  *why = status ? NULL : obstacle(f);
  if (!status && *why)
    psdmp_steps_remark(s, "friction of '%.60s' is not fitted: %s%s", psdmp_steps_drive(s, f->drive), *why,
                       s->friction[f->drive].given ? "; the known value is kept" : "");
  if (!status && f->left_out)
    psdmp_steps_remark(s, "friction of '%.60s': %d poses are fitted; %d stretches in other poses are omitted",
                       psdmp_steps_drive(s, f->drive), f->poses, f->left_out);
  if (!status && !*why) status = fit_drive(f, error);
  if (!status && !*why) status = judge_drive(f, judge, error);
  return status;
}

psdm_status psdmp_steps_friction(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error) {
  friction f = {.s = s, .arena = arena};
  psdmp_steps_judge judge = {0};
  int step = PSDM_STEP_FRICTION;
  bool done = false;
  const char *why = NULL;
  psdm_status status = load(&f, error);
  if (!status && psdmp_steps_judge_start(&judge, s->n, arena)) status = psdmp_base_no_memory("", error);
  s->p.step[step].rows = 0;
  for (f.drive = 0; f.drive < s->n && !status; f.drive++) {
    psdmp_base_arena own = {.allocator = s->allocator};
    f.own = &own, f.low = (double)f.drive / s->n, f.high = (f.drive + 1.0) / s->n;
    status = progress(&f, NULL, 0) ? try_drive(&f, &judge, &why, error) : psdmp_steps_stop(error);
    done = done || (!status && !why);
    psdmp_base_arena_free(&own);
  }
  if (status) return status;
  if (!done)
    return psdmp_base_fail(error, PSDM_E_MISSING, s->options.log[f.records.record[0].log].path, 0, 0,
                           "friction cannot be fitted for any drive: of the last one, %s", why ? why : "there is none");
  psdmp_steps_judge_end(&judge, s->fit + 2 * step * s->n, s->fit + (2 * step + 1) * s->n);
  for (int d = 0; d < s->n; d++) s->sigma[step * s->n + d] = s->fit[2 * step * s->n + d].rmse;
  return PSDM_OK;
}
