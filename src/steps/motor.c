/* motor.c: torque constants from known masses (Lloyd, Irani, Ahmadi 2022, section 3.1).
 *
 * A joint is swept there and back at constant speed, alone. The mean of both directions at one position has no
 * friction; with a known mass minus without it has no gravity of the arm: Kt (i_w - i_nom) = tau_w = J^T f_w (16,
 * 17). The noise is in the currents, so di = slope tau_w is fitted, and Kt = 1 / slope. */
#include <math.h>
#include <string.h>

#include "steps/steps_priv.h"

static const double steady = 0.05;    /* a sweep's speed stays within this share of its median */
static const double standing = 5e-3;  /* share of a stretch's largest speed below which a joint is at rest */
static const double same_pose = 1e-3; /* rad or m: the others stay within this */
static const double same_speed = 0.1; /* forward and backward within this share */
static const double least_t = 10;     /* slopes below this many standard deviations are not reported */
/* share of the robot file's constant by which that of the logs may differ silently */
static const double differing = 0.25;
enum { LEAST_ROWS = 20, LEAST_POINTS = 2 * PSDMP_STEPS_PIECES, MOST_POINTS = 20000 };

typedef struct sweep {
  int record, log, joint, direction;
  long from, to;
  double low, high, speed;
  const double *pose; /* (n) positions at its middle */
} sweep;

/* One position of one sweep with a mass: eq. 16 for a drive. */
typedef struct point {
  int drive, piece;
  double t, q, v, current, torque; /* di; tau_w */
} point;

typedef struct motor {
  psdmp_steps *s;
  psdmp_base_arena *arena;
  psdmp_steps_records records;
  sweep *sweep;
  int sweeps;
  long sweep_room;
  point *point;
  long points, point_room;
  double *Y;          /* (n x S) */
  double mass_torque; /* largest |tau_w| of any joint */
} motor;

/* drives that a joint moves when it moves alone: their friction cancels */
static bool moves(const psdmp_steps *s, int drive, int joint) {
  return s->run.T ? fabs(s->run.T_inverse[drive * s->n + joint]) > 1e-9 : drive == joint;
}

/* ---- sweeps ---- */

static bool add_sweep(motor *m, sweep w) {
  if (!psdmp_base_arena_room(m->arena, &m->sweep, m->sweeps, 1, &m->sweep_room, sizeof w)) return false;
  m->sweep[m->sweeps++] = w;
  return true;
}

/* the longest part of rows from .. to in which the speed is nearly the median one */
static void steady_part(const double *speed, int n, double median, long *from, long *to) {
  long best = 0, begin = *from, best_from = *from;
  for (long k = *from; k <= *to; k++) {
    if (k < *to && fabs(fabs(speed[k * n]) - median) <= steady * median) continue;
    if (k - begin > best) best = k - begin, best_from = begin;
    begin = k + 1;
  }
  *from = best_from;
  *to = best_from + best;
}

/* a run of rows in one direction becomes a sweep when its speed is constant for most of it; its ends, where the filter
 * mixes in earlier rows, are cut */
static bool try_sweep(motor *m, const psdmp_steps_alone *solo, long from, long to, double *sorted) {
  const psdmp_steps_record *r = &m->records.record[solo->record];
  int n = m->s->n;
  long rows = to - from;
  const double *speed = r->qd + solo->joint;
  for (long k = from; k < to; k++) sorted[k - from] = fabs(speed[k * n]);
  double median = psdmp_steps_median(rows, sorted);
  steady_part(speed, n, median, &from, &to);
  if (2 * (to - from) < rows || to - from < LEAST_ROWS) return true;
  long trim = (long)fmax(0.05 * (double)(to - from), fmin(m->records.rest / r->dt, 0.1 * (double)(to - from)));
  from += trim, to -= trim;
  const double *q = r->q + solo->joint;
  sweep w = {.record = solo->record,
             .log = r->log,
             .joint = solo->joint,
             .direction = speed[from * n] > 0 ? 1 : -1,
             .from = from,
             .to = to,
             .speed = median,
             .low = fmin(q[from * n], q[(to - 1) * n]),
             .high = fmax(q[from * n], q[(to - 1) * n]),
             .pose = r->q + (from + to) / 2 * n};
  for (long k = from; k < to; k++)
    for (int d = 0; d < n; d++)
      if (r->bad[k * n + d] && moves(m->s, d, w.joint)) return true;
  return add_sweep(m, w);
}

/* a run in one direction, from rest to rest: where it is faster than half of its largest speed */
static bool try_run(motor *m, const psdmp_steps_alone *solo, long from, long to, double *sorted) {
  const double *speed = m->records.record[solo->record].qd + solo->joint;
  int n = m->s->n;
  double most = 0;
  for (long k = from; k < to; k++) most = fmax(most, fabs(speed[k * n]));
  while (from < to && !(fabs(speed[from * n]) > most / 2)) from++;
  while (from < to && !(fabs(speed[(to - 1) * n]) > most / 2)) to--;
  return from == to || try_sweep(m, solo, from, to, sorted);
}

static bool sweeps_of(motor *m, const psdmp_steps_alone *solo) {
  const double *speed = m->records.record[solo->record].qd + solo->joint;
  int n = m->s->n;
  double most = 0, *sorted = psdmp_base_alloc_raw(m->s->allocator, (size_t)(solo->to - solo->from) * sizeof *sorted);
  bool ok = sorted != NULL;
  for (long k = solo->from; k < solo->to; k++) most = fmax(most, fabs(speed[k * n]));
  for (long k = solo->from; k < solo->to && ok; k++) {
    long end = k;
    while (end < solo->to && speed[end * n] * speed[k * n] > 0 && fabs(speed[end * n]) > standing * most) end++;
    if (end == k) continue;
    ok = try_run(m, solo, k, end, sorted);
    k = end - 1;
  }
  psdmp_base_free(m->s->allocator, sorted);
  return ok;
}

/* ---- a pose: all sweeps of one joint while the others are in one position ---- */

static bool same(const motor *m, const sweep *a, const sweep *b) {
  return a->joint == b->joint && psdmp_steps_pose_apart(m->s->n, a->pose, b->pose, a->joint) <= same_pose;
}

static double mass_of(const motor *m, const sweep *w) { return m->s->options.log[w->log].mass; }

/* currents (and times) of one sweep at positions low + k step, by interpolation over its positions, which ascend */
static bool resample(const motor *m, const sweep *w, double low, double step, long count, double *out) {
  const psdmp_steps_record *r = &m->records.record[w->record];
  int n = m->s->n;
  long rows = w->to - w->from, kept = 0;
  double *q = psdmp_base_alloc_raw(m->s->allocator, (size_t)rows * (size_t)(n + 2) * sizeof *q), *value = q + rows;
  if (!q) return false;
  for (long k = 0; k < rows; k++) {
    long row = w->direction > 0 ? w->from + k : w->to - 1 - k;
    double at = r->q[row * n + w->joint];
    if (kept && !(at > q[kept - 1])) continue;
    q[kept] = at;
    memcpy(value + kept * (n + 1), r->i + row * n, (size_t)n * sizeof *value);
    value[kept * (n + 1) + n] = r->start + (double)row * r->dt;
    kept++;
  }
  psdm_resample(kept, n + 1, q, value, low, step, count, out);
  psdmp_base_free(m->s->allocator, q);
  return true;
}

/* the mean over a log's sweeps in one direction; their number, -1: out of memory */
static int mean_of(const motor *m, const sweep *pose, int log, int direction, double low, double step, long count,
                   double *sum) {
  long size = count * (m->s->n + 1);
  int sweeps = 0;
  double *one = psdmp_base_alloc_raw(m->s->allocator, (size_t)size * sizeof *one);
  if (!one) return -1;
  memset(sum, 0, (size_t)size * sizeof *sum);
  for (int k = 0; k < m->sweeps; k++) {
    const sweep *w = &m->sweep[k];
    if (w->log != log || w->direction != direction || !same(m, w, pose)) continue;
    if (!resample(m, w, low, step, count, one)) return psdmp_base_free(m->s->allocator, one), -1;
    for (long i = 0; i < size; i++) sum[i] += one[i];
    sweeps++;
  }
  for (long i = 0; i < size && sweeps; i++) sum[i] /= sweeps;
  psdmp_base_free(m->s->allocator, one);
  return sweeps;
}

static psdm_status refuse(const motor *m, const sweep *w, const char *why, psdm_error *error) {
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, m->s->options.log[w->log].path, 0, 0, "joint '%s' %s",
                         psdmp_steps_drive(m->s, w->joint), why);
}

/* positions that all sweeps of a pose pass, and their number; both directions at one speed */
static psdm_status common_range(const motor *m, const sweep *pose, double *low, double *step, long *count,
                                psdm_error *error) {
  double high = INFINITY, widest = 0, slowest = INFINITY;
  *low = -INFINITY;
  for (int k = 0; k < m->sweeps; k++) {
    const sweep *w = &m->sweep[k];
    if (!same(m, w, pose)) continue;
    *low = fmax(*low, w->low);
    high = fmin(high, w->high);
    widest = fmax(widest, w->high - w->low);
    slowest = fmin(slowest, w->speed);
    for (int i = 0; i < k; i++)
      if (m->sweep[i].log == w->log && same(m, &m->sweep[i], w) &&
          fabs(m->sweep[i].speed - w->speed) > same_speed * w->speed)
        return refuse(m, w, "is swept there and back at different speeds: friction does not cancel", error);
  }
  if (!(high - *low > 0.1 * widest))
    return refuse(m, pose, "is swept over ranges that hardly overlap, with and without a mass, there and back", error);
  double wish = (high - *low) / (slowest / m->records.rate * m->records.stride);
  *count = wish > MOST_POINTS ? MOST_POINTS : wish < LEAST_POINTS ? LEAST_POINTS : (long)wish;
  *step = (high - *low) / (double)(*count - 1);
  return PSDM_OK;
}

/* ---- points ---- */

/* the link that carries masses: the default one, like the payload of a simulation, and a point of its frame in that of
 * the moving link it is fixed to */
static psdm_status carried(const motor *m, const double com[3], int *link, double at[3], psdm_error *error) {
  const psdm_robot *robot = m->s->run.robot;
  int last = psdm_robot_default_link(robot, NULL), joint = last;
  double q[PSDM_CALIBRATE_JOINTS] = {0}, tip[12], own[12], x[3];
  while (joint >= 0 && psdm_robot_joint(robot, joint)->link < 0) joint = psdm_robot_joint(robot, joint)->parent;
  if (joint < 0)
    return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0, "the last link, which would carry a mass, does not move");
  psdm_status status = psdm_pose(robot, m->s->run.work, q, last, tip);
  if (!status) status = psdm_pose(robot, m->s->run.work, q, joint, own);
  if (status) return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  for (int i = 0; i < 3; i++)
    x[i] = tip[i] - own[i] + tip[3 + 3 * i] * com[0] + tip[4 + 3 * i] * com[1] + tip[5 + 3 * i] * com[2];
  for (int i = 0; i < 3; i++) at[i] = own[3 + i] * x[0] + own[6 + i] * x[1] + own[9 + i] * x[2];
  if (joint == last) memcpy(at, com, 3 * sizeof *at);
  *link = psdm_robot_joint(robot, joint)->link;
  return PSDM_OK;
}

/* torques of the drives due to a mass (17) while one joint moves at constant speed: a point's standard parameters. For
 * a joint that moves alone the speed makes no difference; behind a transmission there are centrifugal torques of the
 * other joints, the same in both directions. */
static psdm_status mass_torque(motor *m, const double *q, const double *qd, double mass, const double pi[10], int link,
                               double *torque) {
  int n = m->s->n, S = m->s->S;
  double zero[PSDM_CALIBRATE_JOINTS] = {0}, joint[PSDM_CALIBRATE_JOINTS];
  psdm_status status = psdm_regressor_standard(m->s->run.robot, m->s->run.work, q, qd, zero, m->Y);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    const double *y = m->Y + (long)i * S + 10L * link;
    joint[i] = 0;
    for (int k = 0; k < 10; k++) joint[i] += mass * y[k] * pi[k];
    m->mass_torque = fmax(m->mass_torque, fabs(joint[i]));
  }
  psdmp_identify_run_to_drives(&m->s->run, joint, torque);
  return PSDM_OK;
}

static bool add_point(motor *m, point p) {
  if (!psdmp_base_arena_room(m->arena, &m->point, m->points, 1, &m->point_room, sizeof p)) return false;
  m->point[m->points++] = p;
  return true;
}

/* one mass in one pose and the arm without it; there, back: currents and times (count x (n + 1)), bare: mean currents
 * without a mass */
static psdm_status add_mass(motor *m, const sweep *w, const double *there, const double *back, const double *bare,
                            double low, double step, long count, psdm_error *error) {
  const psdm_steps_log *log = &m->s->options.log[w->log];
  int n = m->s->n, link = 0;
  double q[PSDM_CALIBRATE_JOINTS], qd[PSDM_CALIBRATE_JOINTS] = {0}, torque[PSDM_CALIBRATE_JOINTS], c[3];
  psdm_status status = carried(m, log->com, &link, c, error);
  if (status) return status;
  const double pi[10] = {1,
                         c[0],
                         c[1],
                         c[2],
                         c[1] * c[1] + c[2] * c[2],
                         -c[0] * c[1],
                         -c[0] * c[2],
                         c[0] * c[0] + c[2] * c[2],
                         -c[1] * c[2],
                         c[0] * c[0] + c[1] * c[1]};
  memcpy(q, w->pose, (size_t)n * sizeof *q);
  qd[w->joint] = w->speed;
  for (long k = 0; k < count; k++) {
    q[w->joint] = low + (double)k * step;
    status = mass_torque(m, q, qd, log->mass, pi, link, torque);
    if (status) return psdmp_base_fail(error, status, log->path, 0, 0, "%s", psdm_status_text(status));
    for (int d = 0; d < n; d++) {
      long at = k * (n + 1) + d;
      point p = {.drive = d,
                 .piece = psdmp_steps_piece((double)k / (double)count),
                 .t = there[k * (n + 1) + n],
                 .q = q[w->joint],
                 .v = w->speed,
                 .current = (there[at] + back[at]) / 2 - bare[at],
                 .torque = torque[d]};
      if (moves(m->s, d, w->joint) && !add_point(m, p)) return psdmp_base_no_memory("", error);
    }
  }
  return PSDM_OK;
}

/* the mean of both directions of one log in a pose; 0: it has no sweep there */
static psdm_status both_ways(const motor *m, const sweep *pose, int log, double low, double step, long count,
                             double *there, double *back, int *found, psdm_error *error) {
  *found = mean_of(m, pose, log, 1, low, step, count, there);
  int returning = mean_of(m, pose, log, -1, low, step, count, back);
  if (*found < 0 || returning < 0) return psdmp_base_no_memory("", error);
  if ((*found > 0) == (returning > 0)) return PSDM_OK;
  sweep named = *pose;
  named.log = log;
  return refuse(m, &named, "is swept in one direction only; both directions were expected", error);
}

/* all logs of one pose */
static psdm_status add_pose(motor *m, const sweep *pose, psdm_error *error) {
  double low = 0, step = 0;
  long count = 0;
  int n = m->s->n, found, bares = 0;
  psdm_status status = common_range(m, pose, &low, &step, &count, error);
  if (status) return status;
  psdmp_base_arena arena = {.allocator = m->s->allocator};
  double *there = PSDMP_BASE_NEW(&arena, count * (n + 1), double),
         *back = PSDMP_BASE_NEW(&arena, count * (n + 1), double),
         *bare = PSDMP_BASE_NEW(&arena, count * (n + 1), double);
  if (!there || !back || !bare) status = psdmp_base_no_memory("", error);
  for (int log = 0; log < m->s->options.logs && !status; log++) {
    if (m->s->options.log[log].step != PSDM_STEP_MOTOR || m->s->options.log[log].mass > 0) continue;
    status = both_ways(m, pose, log, low, step, count, there, back, &found, error);
    for (long i = 0; i < count * (n + 1) && !status && found; i++) bare[i] += (there[i] + back[i]) / 2;
    bares += !status && found;
  }
  for (long i = 0; i < count * (n + 1) && !status; i++) bare[i] /= bares;
  for (int log = 0; log < m->s->options.logs && !status; log++) {
    if (m->s->options.log[log].step != PSDM_STEP_MOTOR || !(m->s->options.log[log].mass > 0)) continue;
    status = both_ways(m, pose, log, low, step, count, there, back, &found, error);
    for (int k = 0; k < m->sweeps && !status && found; k++) /* the others' positions in this log */
      if (m->sweep[k].log == log && same(m, &m->sweep[k], pose)) {
        status = add_mass(m, &m->sweep[k], there, back, bare, low, step, count, error);
        break;
      }
  }
  psdmp_base_arena_free(&arena);
  return status;
}

/* the first sweep without a mass in this pose, -1: none */
static int bare_of(const motor *m, const sweep *w) {
  for (int k = 0; k < m->sweeps; k++)
    if (!(mass_of(m, &m->sweep[k]) > 0) && same(m, &m->sweep[k], w)) return k;
  return -1;
}

static psdm_status collect(motor *m, psdm_error *error) {
  psdmp_steps_alone *solo;
  int solos;
  bool bare = false, loaded = false;
  psdm_status status = psdmp_steps_load(m->s, PSDM_STEP_MOTOR, m->arena, &m->records, error);
  if (!status) status = psdmp_steps_solo(m->s, &m->records, m->arena, &solo, &solos, error);
  if (status) return status;
  m->Y = PSDMP_BASE_NEW(m->arena, (long)m->s->n * m->s->S, double);
  for (int k = 0; k < solos && m->Y; k++)
    if (!sweeps_of(m, &solo[k])) return psdmp_base_no_memory("", error);
  if (!m->Y) return psdmp_base_no_memory("", error);
  for (int k = 0; k < m->s->options.logs; k++) {
    const psdm_steps_log *log = &m->s->options.log[k];
    bare |= log->step == PSDM_STEP_MOTOR && !(log->mass > 0);
    loaded |= log->step == PSDM_STEP_MOTOR && log->mass > 0;
  }
  if (!bare || !loaded)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, m->s->options.log[m->records.record[0].log].path, 0, 0,
                           "the motor step needs the same sweeps %s a known mass, too", bare ? "with" : "without");
  for (int k = 0; k < m->sweeps; k++)
    if (mass_of(m, &m->sweep[k]) > 0 && bare_of(m, &m->sweep[k]) < 0)
      return refuse(m, &m->sweep[k],
                    "is swept with a mass in a pose that no log without the mass has: the other joints must agree "
                    "within 0.001 rad",
                    error);
  /* each pose once, at its first sweep without a mass, if there is one with a mass too */
  for (int k = 0; k < m->sweeps && !status; k++) {
    if (bare_of(m, &m->sweep[k]) != k) continue;
    bool any = false;
    for (int i = 0; i < m->sweeps; i++) any |= mass_of(m, &m->sweep[i]) > 0 && same(m, &m->sweep[i], &m->sweep[k]);
    if (any) status = add_pose(m, &m->sweep[k], error);
    if (!psdmp_steps_progress(m->s, "sweeps", (double)k / m->sweeps)) return psdmp_steps_stop(error);
  }
  return status;
}

/* ---- the fit ---- */

typedef struct slope {
  long rows;
  double constant, variance, t, most; /* Kt; its variance; slope over its standard deviation; largest |tau_w| */
} slope;

/* Kt = sum tau_w^2 / sum tau_w di, and its jackknife over blocks of positions */
static slope fit_drive(const motor *m, int drive) {
  double square[PSDMP_STEPS_STEP_BLOCKS] = {0}, product[PSDMP_STEPS_STEP_BLOCKS] = {0}, squares = 0, products = 0,
         mean = 0, scatter = 0;
  int blocks = 0;
  slope f = {.constant = NAN};
  for (long k = 0; k < m->points; k++) {
    const point *p = &m->point[k];
    if (p->drive != drive || psdmp_steps_held(m->s, p->piece)) continue;
    square[p->piece / 2] += p->torque * p->torque, product[p->piece / 2] += p->torque * p->current;
    f.most = fmax(f.most, fabs(p->torque));
    f.rows++;
  }
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++)
    squares += square[b], products += product[b], blocks += square[b] > 0;
  if (blocks < 2) return f;
  f.constant = squares / products;
  /* on slopes, whose mean is well defined where Kt's is not */
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++)
    if (square[b] > 0) mean += (products - product[b]) / (squares - square[b]) / blocks;
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++)
    if (square[b] > 0)
      scatter += pow((products - product[b]) / (squares - square[b]) - mean, 2) * (blocks - 1) / blocks;
  f.t = fabs(products / squares) / sqrt(scatter);
  f.variance = scatter * pow(f.constant, 4); /* d(1/s) = -ds / s^2 */
  return f;
}

/* unobservable constants keep the file's value, with a remark, or an earlier run's, without one */
static void say_unobservable(psdmp_steps *s, int drive, bool swept) {
  const char *why = swept ? "no mass has an effect on it" : "it is not swept", *name = psdmp_steps_drive(s, drive);
  if (s->constant_from[drive] == PSDM_FROM_NOTHING)
    psdmp_steps_remark(s, "torque constant of '%.60s' is unobservable (%s) and not known: its rows are omitted", name,
                       why);
  if (s->constant_from[drive] == PSDM_FROM_FILE)
    psdmp_steps_remark(s, "torque constant of '%.60s' is unobservable (%s): %.6g is taken as exact", name, why,
                       s->x[drive]);
}

/* an implausible sign or size: a mass assigned to the wrong log, a wrong mass, currents in another unit */
static void say_odd(psdmp_steps *s, int drive, double constant) {
  const char *name = psdmp_steps_drive(s, drive);
  if (constant < 0)
    psdmp_steps_remark(s,
                       "torque constant of '%.60s' is negative: its current counts the other way, or `weight` names "
                       "the log without the mass",
                       name);
  else if (s->constant_from[drive] == PSDM_FROM_FILE && s->currents > 0 &&
           fabs(constant - s->x[drive]) > differing * fabs(s->x[drive]))
    psdmp_steps_remark(s, "torque constant of '%.60s' is %.6g by the logs, %.6g in the robot file: is the mass right?",
                       name, constant, s->x[drive]);
}

static psdm_status fit(motor *m, psdm_error *error) {
  psdmp_steps *s = m->s;
  double *gain = PSDMP_BASE_NEW(m->arena, s->N, double);
  long rows = 0;
  if (!gain) return psdmp_base_no_memory("", error);
  for (int d = 0; d < s->n; d++) {
    slope f = fit_drive(m, d);
    bool seen = f.rows > 0 && f.most > 1e-9 * m->mass_torque && f.t >= least_t && isfinite(f.constant);
    if (!seen) {
      say_unobservable(s, d, f.rows > 0);
      continue;
    }
    say_odd(s, d, f.constant);
    s->constant_from[d] = PSDM_FROM_LOG;
    psdm_status status = psdmp_steps_update(s, 1, &d, &f.constant, &f.variance, gain, error);
    if (status) return status;
    rows += f.rows;
  }
  if (!rows)
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, s->options.log[m->records.record[0].log].path, 0, 0,
        "no torque constant can be found: sweeps of one joint at a time, there and back at constant speed, "
        "with and without a mass, were expected");
  s->p.step[PSDM_STEP_MOTOR].rows = rows;
  s->p.step[PSDM_STEP_MOTOR].condition = 1; /* one unknown in each drive's equations */
  return PSDM_OK;
}

static bool judge_points(const motor *m, psdmp_steps_judge *judge) {
  for (long k = 0; k < m->points; k++) {
    const point *p = &m->point[k];
    if (m->s->constant_from[p->drive] != PSDM_FROM_LOG) continue;
    psdm_steps_row row = {.t = p->t,
                          .step = PSDM_STEP_MOTOR,
                          .drive = p->drive,
                          .heldout = psdmp_steps_held(m->s, p->piece),
                          .q = p->q,
                          .qd = p->v,
                          .measured = m->s->x[p->drive] * p->current,
                          .predicted = p->torque};
    if (!psdmp_steps_judge_row(judge, &row)) return false;
  }
  return true;
}

psdm_status psdmp_steps_motor_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                    psdm_error *error) {
  motor m = {.s = s, .arena = arena};
  psdm_status status = collect(&m, error);
  if (!status) judge_points(&m, judge);
  return status;
}

psdm_status psdmp_steps_motor(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error) {
  motor m = {.s = s, .arena = arena};
  psdmp_steps_judge judge = {0};
  int step = PSDM_STEP_MOTOR;
  psdm_status status = collect(&m, error);
  if (!status) status = fit(&m, error);
  if (!status && psdmp_steps_judge_start(&judge, s->n, arena)) status = psdmp_base_no_memory("", error);
  if (status) return status;
  judge_points(&m, &judge);
  psdmp_steps_judge_end(&judge, s->fit + 2 * step * s->n, s->fit + (2 * step + 1) * s->n);
  for (int d = 0; d < s->n; d++) s->sigma[step * s->n + d] = s->fit[2 * step * s->n + d].rmse;
  return PSDM_OK;
}
