/* pairs.c: finds paths that are run back the same way, q(T + s) = q(T - s), and the pairs of rows on them.
 *
 * At T every joint is at rest. For every stop the agreement of the rows on both sides is computed; the longest is
 * taken, then the next in what remains, until stops have little on both sides. T is stored as the sum of two row
 * numbers,
 * so that it may lie between two rows. */
#include <math.h>
#include <string.h>

#include "steps/steps_priv.h"

static const double stopped = 0.05;     /* share of its largest speed below which a joint is at a stop */
static const double idle = 1e-3;        /* share of the fastest joint's speed below which a joint does not take part */
static const double apart = 5e-3;       /* of a joint's range, and */
static const double least_apart = 1e-3; /* rad or m at least: both directions agree within this */
static const double least_motion = 1;   /* s of motion that a path has on each side */
static const double sliding = 0.5;      /* share of a drive's usual speed above which it slides */
static const double alike = 0.2;        /* forwards and backwards differ by less than this share of it */
enum { MOST_PATHS = 64, TRIES = 2000 };

typedef struct search {
  psdmp_steps *s;
  const psdmp_steps_record *record;
  unsigned char *still, *taken; /* (rows) */
  double tolerance[PSDM_CALIBRATE_JOINTS];
  long stride; /* of rows that are compared */
} search;

typedef struct turn {
  long twice, reach, motion; /* reach: rows on each side; motion: how many of these move */
  double mismatch;           /* mean square difference of both directions, in tolerances */
} turn;

static void prepare(search *g) {
  const psdmp_steps_record *r = g->record;
  int n = g->s->n;
  double most[PSDM_CALIBRATE_JOINTS] = {0}, all = 0;
  for (int j = 0; j < n; j++) {
    double low = INFINITY, high = -INFINITY;
    for (long k = 0; k < r->rows; k++) {
      most[j] = fmax(most[j], fabs(r->qd[k * n + j]));
      low = fmin(low, r->q[k * n + j]), high = fmax(high, r->q[k * n + j]);
    }
    g->tolerance[j] = fmax(least_apart, apart * (high - low));
    all = fmax(all, most[j]);
  }
  for (long k = 0; k < r->rows; k++) {
    g->still[k] = 1;
    for (int j = 0; j < n; j++) g->still[k] &= fabs(r->qd[k * n + j]) <= fmax(stopped * most[j], idle * all);
  }
  g->stride = (long)fmax(1, 0.01 / r->dt);
}

/* agreement of both sides of a stop */
static turn try_turn(const search *g, long twice) {
  const psdmp_steps_record *r = g->record;
  int n = g->s->n;
  turn t = {.twice = twice};
  long compared = 0;
  for (long k = (twice + 1) / 2; k < r->rows && twice - k >= 0; k += g->stride) {
    const double *a = r->q + k * n, *b = r->q + (twice - k) * n;
    if (g->taken[k] || g->taken[twice - k]) break;
    double sum = 0;
    bool agrees = true;
    for (int j = 0; j < n && agrees; j++) {
      double d = (a[j] - b[j]) / g->tolerance[j];
      agrees = fabs(d) <= 1;
      sum += d * d;
    }
    if (!agrees) break;
    t.mismatch += sum;
    t.reach = k - (twice + 1) / 2 + 1;
    t.motion += g->still[k] ? 0 : g->stride;
    compared++;
  }
  if (compared) t.mismatch /= (double)compared;
  return t;
}

/* farther, or nearly as far and closer */
static bool better(const turn *a, const turn *b) {
  if (10 * a->reach < 9 * b->reach) return false;
  return 9 * a->reach > 10 * b->reach || a->mismatch < b->mismatch;
}

static turn best_turn(const search *g, long low, long high, long step) {
  turn best = {.twice = -1};
  for (long twice = low; twice <= high; twice += step) {
    turn t = try_turn(g, twice);
    if (best.twice < 0 || better(&t, &best)) best = t;
  }
  return best;
}

/* the best turn of all stops */
static turn find_turn(const search *g) {
  turn best = {0};
  long rows = g->record->rows;
  for (long k = 0; k < rows; k++) {
    if (!g->still[k]) continue;
    long end = k;
    while (end < rows && g->still[end]) end++;
    long step = 1 + 2 * (end - k) / TRIES;
    turn t = best_turn(g, 2 * k, 2 * end - 2, step);
    if (step > 1)
      t = best_turn(g, t.twice - step < 2 * k ? 2 * k : t.twice - step,
                    t.twice + step > 2 * end - 2 ? 2 * end - 2 : t.twice + step, 1);
    if (t.motion > best.motion) best = t;
    k = end;
  }
  return best;
}

/* ---- which rows of a path a drive slides in ---- */

/* usual |v| while it moves; 0 if it does not take part. sorted: (count) */
static double usual_speed(const psdmp_steps *s, const psdmp_steps_record *r, const psdmp_steps_path *p, int drive,
                          double *sorted) {
  double most = 0, all = 0;
  long moving = 0;
  for (long k = p->first; k < p->first + p->count; k++)
    for (int d = 0; d < s->n; d++) {
      double v = fabs(r->v[k * s->n + d]);
      all = fmax(all, v);
      if (d == drive) most = fmax(most, v);
    }
  if (!(most > idle * all)) return 0;
  for (long k = p->first; k < p->first + p->count; k++)
    if (fabs(r->v[k * s->n + drive]) > stopped * most) sorted[moving++] = fabs(r->v[k * s->n + drive]);
  return psdmp_steps_median(moving, sorted);
}

/* rows without steady sliding, and those next to them that the filter mixes with them, are skipped; so are the path's
 * ends */
static void mark_drive(const psdmp_steps *s, const psdmp_steps_records *records, psdmp_steps_path *p, int drive,
                       double usual) {
  const psdmp_steps_record *r = &records->record[p->record];
  long guard = (long)ceil(records->rest / r->dt), good = 0;
  for (long k = 0; k < p->count; k++) {
    long row = p->first + k, other = p->twice - row;
    double v = r->v[row * s->n + drive], back = r->v[other * s->n + drive];
    bool slides = usual > 0 && fabs(v) > sliding * usual && fabs(v + back) < alike * usual &&
                  !r->bad[row * s->n + drive] && !r->bad[other * s->n + drive];
    for (long b = 1; b <= guard && !slides && good && b <= k; b++) p->use[(k - b) * s->n + drive] = 0;
    good = slides ? good + 1 : 0;
    p->use[k * s->n + drive] = slides && good > guard && p->count - k > guard;
  }
}

static bool mark(const psdmp_steps *s, const psdmp_steps_records *records, psdmp_steps_path *p,
                 psdmp_base_arena *arena) {
  double *sorted = psdmp_base_alloc_raw(s->allocator, (size_t)p->count * sizeof *sorted);
  p->use = psdmp_base_arena_alloc(arena, (size_t)p->count * (size_t)s->n);
  bool ok = sorted && p->use;
  for (int d = 0; d < s->n && ok; d++)
    mark_drive(s, records, p, d, usual_speed(s, &records->record[p->record], p, d, sorted));
  psdmp_base_free(s->allocator, sorted);
  return ok;
}

/* ---- all paths ---- */

typedef struct tally {
  double *moving, *used; /* (logs) s */
} tally;

static psdm_status search_record(psdmp_steps *s, const psdmp_steps_records *records, int number,
                                 psdmp_base_arena *arena, psdmp_steps_path *path, int *count, tally *sum,
                                 psdm_error *error) {
  search g = {.s = s, .record = &records->record[number]};
  const psdmp_steps_record *r = g.record;
  g.still = psdmp_base_arena_alloc(arena, (size_t)r->rows), g.taken = psdmp_base_arena_alloc(arena, (size_t)r->rows);
  if (!g.still || !g.taken) return psdmp_base_no_memory("", error);
  prepare(&g);
  for (long k = 0; k < r->rows; k++) sum->moving[r->log] += g.still[k] ? 0 : r->dt;
  for (int found = 0; found < MOST_PATHS; found++) {
    if (!psdmp_steps_progress(s, "paths", -1)) return psdmp_steps_stop(error);
    turn t = find_turn(&g);
    if ((double)t.motion * r->dt < least_motion) break;
    psdmp_steps_path *p = &path[(*count)++];
    *p = (psdmp_steps_path){.record = number, .twice = t.twice, .first = (t.twice + 1) / 2, .count = t.reach};
    if (!mark(s, records, p, arena)) return psdmp_base_no_memory("", error);
    memset(g.taken + t.twice - (p->first + p->count - 1), 1, (size_t)(2 * (p->first + p->count) - 1 - t.twice));
    sum->used[r->log] += 2 * (double)t.motion * r->dt;
  }
  return PSDM_OK;
}

/* a log without a turn is not a gravity log; one that is mostly something else gets a remark */
static psdm_status check(psdmp_steps *s, const tally *sum, psdm_error *error) {
  for (int k = 0; k < s->options.logs; k++) {
    const psdm_steps_log *log = &s->options.log[k];
    if (log->step != PSDM_STEP_GRAVITY) continue;
    if (!(sum->used[k] > 0))
      return psdmp_base_fail(
          error, PSDM_E_ARGUMENT, log->path, 0, 0,
          "there is no time T with q(T + s) = q(T - s): a slow path, and the same path back, were expected");
    if (sum->used[k] < 0.5 * sum->moving[k])
      psdmp_steps_remark(
          s, "gravity: only %.0f %% of the motion in %.80s returns along its own path; the rest is not used",
          100 * sum->used[k] / sum->moving[k], log->path);
  }
  return PSDM_OK;
}

psdm_status psdmp_steps_paths(psdmp_steps *s, const psdmp_steps_records *records, psdmp_base_arena *arena,
                              psdmp_steps_path **path, int *count, psdm_error *error) {
  tally sum = {PSDMP_BASE_NEW(arena, s->options.logs, double), PSDMP_BASE_NEW(arena, s->options.logs, double)};
  *count = 0;
  *path = PSDMP_BASE_NEW(arena, records->count * MOST_PATHS, psdmp_steps_path);
  psdm_status status = *path && sum.moving && sum.used ? PSDM_OK : psdmp_base_no_memory("", error);
  for (int k = 0; k < records->count && !status; k++)
    status = search_record(s, records, k, arena, *path, count, &sum, error);
  return status ? status : check(s, &sum, error);
}

void psdmp_steps_path_pair(const psdmp_steps *s, const psdmp_steps_records *records, const psdmp_steps_path *p,
                           long index, psdmp_steps_pair *pair) {
  const psdmp_steps_record *r = &records->record[p->record];
  int n = s->n;
  long back = p->first + index, there = p->twice - back;
  pair->t = r->start + (double)there * r->dt;
  pair->use = p->use + index * n;
  for (int j = 0; j < n; j++) {
    pair->q[j] = (r->q[there * n + j] + r->q[back * n + j]) / 2;
    pair->qd[j] = (r->qd[there * n + j] - r->qd[back * n + j]) / 2;
    pair->qdd[j] = (r->qdd[there * n + j] + r->qdd[back * n + j]) / 2;
    pair->i[j] = (r->i[there * n + j] + r->i[back * n + j]) / 2;
    pair->v[j] = (r->v[there * n + j] - r->v[back * n + j]) / 2;
  }
}
