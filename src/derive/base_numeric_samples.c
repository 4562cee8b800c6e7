/* base_numeric_samples.c: the matrix W of samples (Gautier 1991, eq. (6), (9), (12)), and samples that scale it well.
 *
 * The error of an entry of W is proportional to its size, so a good W has entries of one size: the paper searches for
 * samples that reduce S = max|W_ij| / min|W_ij|, row by row, and so does this, by accepting random steps that help.
 * Lengths are in units of the robot's reach, so that a robot in millimetres has the same W as in metres. */
#include <math.h>
#include <string.h>

#include "derive/base_numeric_priv.h"
#include "psdm/rigid.h"
#include "rigid/rigid.h"

enum { MAX_STATE = 4 }; /* vectors of length n in one sample */

typedef struct sampler {
  const psdm_robot *robot;
  psdm_work *work;
  psdm_sampling kind;
  const psdmp_derive_restriction *assumed;
  int S, n, height;     /* standard parameters, joints, rows of one sample */
  int variables;        /* numbers in [-1, 1] that make a sample */
  double *scale;        /* (4 n) their scales, as q, qd, qdd or two states */
  double *unit, *force; /* (S) the reach to the power of each column's length degree; (n) the scale of a row */
  double *state, *zero; /* (4 n), (n) */
  double *raw, *other;  /* (height x S) before assumptions; energies of the other state */
  double *J, *Y;        /* (6 x n), (n x S) */
} sampler;

/* ---- one sample ---- */

/* (a.qd)^2 / 2 of each drive; with closed loops a changes with q, and is obtained from the column a (a.qd) of the
 * torques at rest */
static psdm_status drive_energies(const sampler *s, const double *q, const double *qd, double *row) {
  const psdm_robot *r = s->robot;
  psdm_status status = r->closure && r->drives ? psdm_regressor_standard(r, s->work, q, s->zero, qd, s->Y) : PSDM_OK;
  for (int d = 0; d < r->drives && !status; d++) {
    double rate = 0, power = 0;
    for (int i = 0; i < s->n && !r->closure; i++) rate += r->drive[d].a[i] * qd[i];
    for (int i = 0; i < s->n && r->closure; i++)
      power += s->Y[(long)i * s->S + PSDMP_ROBOT_STANDARD * r->bodies + d] * qd[i];
    row[d] = 0.5 * (r->closure ? power : rate * rate);
  }
  return status;
}

/* energy of each standard parameter at a state: T of the link's twist, U = -g.(m p + R h) */
static psdm_status energy_row(const sampler *s, const double *q, const double *qd, double *row) {
  const psdm_robot *r = s->robot;
  int n = s->n;
  for (int b = 0; b < r->bodies; b++) {
    double pose[12], twist[6] = {0}, world[6] = {0}, *to = row + (long)PSDMP_ROBOT_STANDARD * r->body[b].number;
    psdm_status status = psdm_pose(r, s->work, q, r->body[b].index, pose);
    if (!status) status = psdm_jacobian(r, s->work, q, r->body[b].index, s->J);
    if (status) return status;
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < n; k++) world[i] += s->J[i * n + k] * qd[k]; /* v, then w */
    const double *R = pose + 3, *g = r->gravity;
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        twist[i] += R[3 * k + i] * world[3 + k];
        twist[3 + i] += R[3 * k + i] * world[k];
      }
    psdmp_derive_inertia_row(twist, twist, to);
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) to[i] *= 0.5;
    to[0] -= g[0] * pose[0] + g[1] * pose[1] + g[2] * pose[2];
    for (int i = 0; i < 3; i++) to[1 + i] -= g[0] * R[i] + g[1] * R[3 + i] + g[2] * R[6 + i];
  }
  return drive_energies(s, q, qd, row + (long)PSDMP_ROBOT_STANDARD * r->bodies);
}

/* the sample's rows over the standard parameters left by assumptions, (height x S); fails where a loop does not
 * close */
static psdm_status evaluate(const sampler *s, const double *x, double *rows) {
  int n = s->n;
  double *q = s->state, *second = q + n, *third = q + 2 * n;
  for (int i = 0; i < s->variables; i++) s->state[i] = x[i] * s->scale[i];
  double *to = s->assumed->B ? s->raw : rows;
  psdm_status status;
  if (s->kind == PSDM_SAMPLE_H) {
    status = energy_row(s, q, second, to);
    if (!status) status = energy_row(s, third, third + n, s->other);
    for (int k = 0; k < s->S; k++) to[k] -= s->other[k]; /* constants cancel */
  } else {
    bool still = s->kind == PSDM_SAMPLE_D0;
    status = psdm_regressor_standard(s->robot, s->work, q, still ? s->zero : second, still ? second : third, to);
  }
  if (status) return status;
  if (s->assumed->B) memset(rows, 0, sizeof *rows * (size_t)s->height * (size_t)s->S);
  for (int i = 0; i < s->height; i++)
    for (int k = 0; k < s->assumed->count && s->assumed->B; k++)
      for (int c = 0; c < s->S; c++)
        rows[(long)i * s->S + s->assumed->param[k]] += s->assumed->B[(long)k * s->S + c] * s->raw[(long)i * s->S + c];
  for (int i = 0; i < s->height; i++)
    for (int k = 0; k < s->S; k++) rows[(long)i * s->S + k] *= s->force[i] * s->unit[k];
  return PSDM_OK;
}

/* angles over a full turn, lengths in units of the robot's own, rates of a few rad/s for a robot of one metre: gravity
 * has size one in its units */
static void set_scales(sampler *s, double reach) {
  const psdm_robot *r = s->robot;
  static const double size[3][MAX_STATE] = {
      [PSDM_SAMPLE_D] = {3.14159, 3, 5}, [PSDM_SAMPLE_D0] = {3.14159, 5}, [PSDM_SAMPLE_H] = {3.14159, 3, 3.14159, 3}};
  /* of the rate */
  static const int power[3][MAX_STATE] = {
      [PSDM_SAMPLE_D] = {0, 1, 2}, [PSDM_SAMPLE_D0] = {0, 2}, [PSDM_SAMPLE_H] = {0, 1, 0, 1}};
  static const int vectors[3] = {[PSDM_SAMPLE_D] = 3, [PSDM_SAMPLE_D0] = 2, [PSDM_SAMPLE_H] = 4};
  s->variables = vectors[s->kind] * s->n;
  for (int j = 0; j < r->joints; j++)
    for (int v = 0; v < vectors[s->kind] && r->joint[j].q >= 0; v++) {
      double unit = r->joint[j].type == PSDM_PRISMATIC ? reach * (power[s->kind][v] == 0 ? 1 / 3.14159 : 1) : 1;
      s->scale[v * s->n + r->joint[j].q] = size[s->kind][v] * unit * pow(reach, -0.5 * power[s->kind][v]);
    }
  for (int k = 0; k < s->S; k++) s->unit[k] = pow(reach, psdmp_derive_length_degree(r, k));
  for (int i = 0; i < s->n; i++) s->force[i] = 1 / reach;
  for (int j = 0; j < r->joints && s->kind != PSDM_SAMPLE_H; j++)
    if (r->joint[j].q >= 0 && r->joint[j].type == PSDM_PRISMATIC) s->force[r->joint[j].q] = 1;
}

static psdm_status start(sampler *s, const psdm_robot *r, const psdm_base_parameters_options *o,
                         const psdmp_derive_restriction *assumed, psdmp_base_arena *arena, psdm_error *error) {
  *s = (sampler){.robot = r, .kind = o->sampling, .assumed = assumed, .S = psdm_robot_parameter_count(r), .n = r->n};
  s->height = s->kind == PSDM_SAMPLE_H ? 1 : r->n;
  s->scale = PSDMP_BASE_NEW(arena, MAX_STATE * r->n, double);
  s->state = PSDMP_BASE_NEW(arena, MAX_STATE * r->n, double);
  s->zero = PSDMP_BASE_NEW(arena, r->n, double);
  s->raw = PSDMP_BASE_NEW(arena, (long)s->height * s->S, double);
  s->other = PSDMP_BASE_NEW(arena, s->S, double);
  s->J = PSDMP_BASE_NEW(arena, 6 * r->n, double);
  s->Y = PSDMP_BASE_NEW(arena, (long)r->n * s->S, double);
  s->unit = PSDMP_BASE_NEW(arena, s->S, double);
  s->force = PSDMP_BASE_NEW(arena, r->n, double);
  double reach = psdmp_derive_reach(r, arena);
  if (arena->failed || !s->unit || !s->force || !s->scale || !s->state || !s->zero || !s->raw || !s->other || !s->J ||
      !s->Y)
    return psdmp_base_no_memory(r->file, error);
  set_scales(s, reach);
  return psdm_work_new(r, arena->allocator, &s->work) ? psdmp_base_no_memory(r->file, error) : PSDM_OK;
}

/* ---- scaling ---- */

/* which entries of a sample are nonzero by structure, and their size */
typedef struct pattern {
  int entries; /* height x S */
  bool *there;
  double size;           /* a typical largest entry */
  const double *weights; /* (2) of the paper's criterion; both zero: badness below */
} pattern;

static void spread_of(const pattern *p, const double *rows, double *low, double *high) {
  for (int i = 0; i < p->entries; i++) {
    if (!p->there[i]) continue;
    *low = fmin(*low, fabs(rows[i]));
    *high = fmax(*high, fabs(rows[i]));
  }
}

/* J of the paper, for one sample */
static double weighted(const pattern *p, const double *rows, double spread) {
  double squares = 0;
  for (int i = 0; i < p->entries; i++) squares += rows[i] * rows[i];
  return p->weights[0] * sqrt(squares) + p->weights[1] * spread;
}

static bool has_weights(const pattern *p) { return p->weights[0] > 0 || p->weights[1] > 0; }

/* log S of one sample, with a small penalty for leaving the typical size, so that samples match each other */
static double badness(const pattern *p, const double *rows) {
  double low = INFINITY, high = 0;
  spread_of(p, rows, &low, &high);
  if (!(low > 0)) return INFINITY;
  if (has_weights(p)) return weighted(p, rows, high / low);
  return log(high / low) + 0.3 * fabs(log(high / p->size));
}

/* improves the sample x in place; rows are its rows */
static void improve(const sampler *s, const pattern *p, uint64_t *seed, int tries, double *x, double *rows,
                    double *trial_x, double *trial_rows) {
  double best = badness(p, rows), step = 0.3, enough = has_weights(p) ? 0 : log(20); /* the paper accepts S = 10 */
  for (int t = 0; t < tries && best > enough; t++) {
    for (int i = 0; i < s->variables; i++) {
      trial_x[i] = x[i] + step * psdmp_base_random(seed, -1, 1);
      if (fabs(trial_x[i]) > 1) trial_x[i] = copysign(2 - fabs(trial_x[i]), trial_x[i]);
    }
    double now = evaluate(s, trial_x, trial_rows) ? INFINITY : badness(p, trial_rows);
    step = now < best ? fmin(step * 1.5, 0.5) : fmax(step * 0.93, 0.01); /* one success in five keeps the step */
    if (!(now < best)) continue;
    best = now;
    memcpy(x, trial_x, sizeof *x * (size_t)s->variables);
    memcpy(rows, trial_rows, sizeof *rows * (size_t)p->entries);
  }
}

/* ---- the matrix ---- */

typedef struct draw {
  int samples;
  double *x;    /* (samples x variables) */
  double *rows; /* (samples x height x S) */
} draw;

/* moves the position at x towards home until the loops close */
static void close_loops(const sampler *s, double *x, const double *scale) {
  for (int i = 0; i < s->n; i++) s->state[i] = x[i] * scale[i];
  psdmp_rigid_pull_home(s->robot, s->work, s->state);
  for (int i = 0; i < s->n; i++) x[i] = s->state[i] / scale[i];
}

/* a random sample */
static psdm_status draw_one(const sampler *s, uint64_t *seed, double *x, double *rows, psdm_error *error) {
  int second = 2 * s->n; /* position of an energy's other state */
  for (int i = 0; i < s->variables; i++) x[i] = psdmp_base_random(seed, -1, 1);
  if (s->robot->closure) close_loops(s, x, s->scale);
  if (s->robot->closure && s->kind == PSDM_SAMPLE_H) close_loops(s, x + second, s->scale + second);
  psdm_status status = evaluate(s, x, rows);
  return status ? psdmp_base_fail(error, status, s->robot->file, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

static psdm_status find_pattern(const sampler *s, const draw *d, pattern *p, psdm_error *error) {
  double largest = 0, sum = 0;
  for (int k = 0; k < d->samples; k++) {
    double high = 0;
    for (int i = 0; i < p->entries; i++) high = fmax(high, fabs(d->rows[(long)k * p->entries + i]));
    for (int i = 0; i < p->entries; i++)
      if (!isfinite(d->rows[(long)k * p->entries + i]))
        return psdmp_base_fail(error, PSDM_E_ROBOT, s->robot->file, 0, 0,
                               "the robot's lengths are too large to sample its dynamics");
    largest = fmax(largest, high);
    sum += high;
  }
  p->size = sum / d->samples;
  /* rounding is 1e-16 of the largest; no genuine entry is small in every sample for lengths above 1e-4 of the reach */
  for (int k = 0; k < d->samples; k++)
    for (int i = 0; i < p->entries; i++) p->there[i] |= fabs(d->rows[(long)k * p->entries + i]) > 1e-12 * largest;
  return PSDM_OK;
}

static double spread_all(const draw *d, const pattern *p) {
  double low = INFINITY, high = 0;
  for (int k = 0; k < d->samples; k++) spread_of(p, d->rows + (long)k * p->entries, &low, &high);
  return high > 0 && low > 0 ? high / low : INFINITY;
}

/* the columns that are nonzero in some row, in keep order, as a matrix */
static bool assemble(const sampler *s, const draw *d, const pattern *p, psdmp_base_arena *arena,
                     psdmp_derive_samples *out) {
  int *order = PSDMP_BASE_NEW(arena, s->S, int);
  out->rows = d->samples * s->height;
  out->column = PSDMP_BASE_NEW(arena, s->S, int);
  out->unit = PSDMP_BASE_NEW(arena, s->S, double);
  if (!order || !out->column || !out->unit) return false;
  psdmp_derive_keep_order(s->robot, order);
  for (int o = 0; o < s->S; o++) {
    bool there = false;
    for (int i = 0; i < s->height; i++) there |= p->there[(long)i * s->S + order[o]];
    if (!there) continue;
    out->unit[out->columns] = s->unit[order[o]];
    out->column[out->columns++] = order[o];
  }
  out->W = PSDMP_BASE_NEW(arena, (long)out->rows * out->columns, double);
  if (!out->W) return false;
  for (int c = 0; c < out->columns; c++)
    for (int i = 0; i < out->rows; i++) out->W[(long)c * out->rows + i] = d->rows[(long)i * s->S + out->column[c]];
  return true;
}

static psdm_status take(sampler *s, const psdm_base_parameters_options *o, psdmp_base_arena *arena,
                        psdmp_derive_samples *out, psdm_error *error) {
  /* twice as many rows as columns: QR without pivoting then has room for the noise of the columns it leaves out */
  draw d = {.samples = o->samples ? o->samples : (2 * s->S + s->height - 1) / s->height + 2};
  pattern p = {.entries = s->height * s->S, .weights = o->scaling};
  uint64_t seed = 5;
  /* bytes of the samples, the matrix, its factors and the solution's work space (17 times, measured with 64 and 100
   * joints) */
  psdm_status fits = psdmp_base_memory_ask(s->robot->file, "the matrix of samples",
                                           17.0 * sizeof(double) * d.samples * s->height * s->S, s->robot->memory,
                                           "; the exact model needs none", error);
  if (fits) return fits;
  d.x = PSDMP_BASE_NEW(arena, (long)d.samples * s->variables, double);
  d.rows = PSDMP_BASE_NEW(arena, (long)d.samples * p.entries, double);
  p.there = PSDMP_BASE_NEW(arena, p.entries, bool);
  double *trial_x = PSDMP_BASE_NEW(arena, s->variables, double), *trial_rows = PSDMP_BASE_NEW(arena, p.entries, double);
  if (!d.x || !d.rows || !p.there || !trial_x || !trial_rows) return psdmp_base_no_memory(s->robot->file, error);
  psdm_status status = PSDM_OK;
  for (int k = 0; k < d.samples && !status; k++)
    status = draw_one(s, &seed, d.x + (long)k * s->variables, d.rows + (long)k * p.entries, error);
  if (!status) status = find_pattern(s, &d, &p, error);
  if (status) return status;
  out->spread_random = spread_all(&d, &p);
  /* half a second at most: a sample costs n^2, and there are n of them */
  int tries = s->n <= 8 ? 200 : 100000 / (s->n * s->n * s->n);
  for (int k = 0; k < d.samples && !o->no_scaling; k++)
    improve(s, &p, &seed, tries, d.x + (long)k * s->variables, d.rows + (long)k * p.entries, trial_x, trial_rows);
  out->spread = spread_all(&d, &p);
  if (!assemble(s, &d, &p, arena, out)) return psdmp_base_no_memory(s->robot->file, error);
  if (out->rows < out->columns)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "%d samples give %d rows for %d columns; at least %d samples are needed", d.samples,
                           out->rows, out->columns, (out->columns + s->height - 1) / s->height);
  return PSDM_OK;
}

psdm_status psdmp_derive_samples_take(const psdm_robot *r, const psdm_base_parameters_options *o,
                                      psdmp_base_arena *arena, psdmp_derive_samples *out, psdm_error *error) {
  const psdm_derive_options assume = {.assume_count = o->assume_count, .assume = o->assume};
  psdmp_derive_restriction assumed;
  sampler s = {0};
  *out = (psdmp_derive_samples){0};
  psdm_status status = psdmp_derive_restriction_set(r, &assume, arena, &assumed, error);
  if (!status) status = start(&s, r, o, &assumed, arena, error);
  if (!status) status = take(&s, o, arena, out, error);
  psdm_work_free(s.work, arena->allocator);
  return status;
}
