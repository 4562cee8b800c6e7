/* prepare.c: one clock, zero-phase filters, derivatives, the drives' side; and the split into training and held-out
 * rows. */
#include <math.h>
#include <string.h>

#include "identify/identify.h"
#include "psdm/friction.h"

static const double usable = 0.45;  /* above this share of the rate a cutoff has no effect */
static const int oversampling = 10; /* rows per period of the cutoff to keep */
enum { EDGE = 10, ORDER = 4 };      /* unused rows at a segment's ends; of Butterworth's filter */

static double rate_of(const psdmp_identify_run *r) { return 1 / r->interval; }

static bool filters(const psdmp_identify_run *r, double cutoff) {
  return isfinite(cutoff) && cutoff < usable * rate_of(r);
}

/* rows to decimate later are all kept here */
int psdmp_identify_band_stride(const psdmp_identify_run *r, const psdmp_identify_band *b) {
  if (r->options->decimate > 1) return 1;
  double stride = filters(r, b->cutoff) ? floor(rate_of(r) / (oversampling * b->cutoff)) : 1;
  return stride > 1 ? (int)stride : 1;
}

long psdmp_identify_band_margin(const psdmp_identify_run *r, const psdmp_identify_band *b) {
  double lowest = fmin(b->cutoff, b->wide);
  psdm_filter f;
  long margin = EDGE + 4 + (long)ceil(fabs(b->delay) / r->interval);
  if (filters(r, lowest) && !psdm_filter_butterworth(ORDER, lowest, rate_of(r), &f)) margin += f.reach;
  return margin;
}

/* ---- held-out rows ---- */

static bool held_out(const psdmp_identify_run *r, long index, double t, double origin) {
  const psdm_calibrate_options *o = r->options;
  if (o->holdout_block > 0 && o->holdout_every > 0) {
    double block = floor((t - origin) / o->holdout_block + 1e-9);
    return fmod(block, o->holdout_every) == o->holdout_every - 1;
  }
  return o->holdout > 0 && (double)index >= (1 - o->holdout) * (double)r->rows;
}

/* the block of time of a training row. Training rows are nearly evenly spread or come first: it follows from their
 * share of all rows up to here. */
static int block_of(const psdmp_identify_run *r, long index) {
  const psdm_calibrate_options *o = r->options;
  double all = (double)r->rows;
  if (o->holdout > 0 && !(o->holdout_block > 0)) all *= 1 - o->holdout;
  int block = (int)((double)index / all * PSDMP_IDENTIFY_BLOCKS);
  return block < 0 ? 0 : block >= PSDMP_IDENTIFY_BLOCKS ? PSDMP_IDENTIFY_BLOCKS - 1 : block;
}

/* training rows within the filter's reach of a held-out one are not used, nor are those next to the ends of a segment's
 * clock of so many rows */
static void set_labels(const psdmp_identify_run *r, const psdmp_identify_band *b, const psdmp_feed_stretch *s,
                       long clock_rows, long skip, int stride, psdmp_identify_prepared *p) {
  long gap = filters(r, b->cutoff) ? (long)ceil(0.35 / b->cutoff * rate_of(r)) : 2;
  for (long k = 0; k < p->rows; k++) {
    long at = p->index[k] - s->first;
    double t = p->t[k];
    long row = skip + k * stride;
    bool edge = (s->begins && row < EDGE) || (s->ends && row >= clock_rows - EDGE);
    bool margin = at < s->lead || at >= s->rows - s->trail;
    bool here = held_out(r, p->index[k], t, s->origin);
    p->label[k] = (signed char)(edge     ? PSDMP_IDENTIFY_EDGE
                                : margin ? PSDMP_IDENTIFY_UNUSED
                                : here   ? PSDMP_IDENTIFY_HELDOUT
                                         : block_of(r, p->index[k]));
    if (p->label[k] < 0) continue;
    double before = t - (double)gap * r->interval, after = t + (double)gap * r->interval;
    if (held_out(r, p->index[k] - gap, before, s->origin) || held_out(r, p->index[k] + gap, after, s->origin))
      p->label[k] = PSDMP_IDENTIFY_UNUSED;
  }
}

/* ---- memory ---- */

void psdmp_identify_prepared_free(psdmp_identify_prepared *p, const psdm_allocator *a) {
  void *const parts[] = {p->index, p->t,    p->q,   p->qd,       p->qdd,   p->x,  p->v,
                         p->tau,   p->wide, p->raw, p->friction, p->label, p->bad};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
  *p = (psdmp_identify_prepared){0};
}

/* arrays of the whole clock, before rows are dropped */
typedef struct clock_rows {
  long rows;
  double *q, *qd, *qdd, *tau, *wide, *raw, *scratch;
  double *friction; /* NULL: none is known */
} clock_rows;

static void free_clock(clock_rows *c, const psdm_allocator *a) {
  void *const parts[] = {c->q, c->qd, c->qdd, c->tau, c->wide, c->raw, c->scratch, c->friction};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) psdmp_base_free(a, parts[k]);
}

static bool make_clock(clock_rows *c, const psdm_allocator *a, long rows, int n, size_t scratch) {
  double **parts[] = {&c->q, &c->qd, &c->qdd, &c->tau, &c->wide, &c->raw};
  c->rows = rows;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (!(*parts[k] = psdmp_base_alloc_raw(a, (size_t)rows * (size_t)n * sizeof(double)))) return false;
  return (c->scratch = psdmp_base_alloc_raw(a, scratch * sizeof(double))) != NULL;
}

static size_t scratch_for(const psdmp_identify_run *r, double cutoff, long rows) {
  psdm_filter f;
  return filters(r, cutoff) && !psdm_filter_butterworth(ORDER, cutoff, rate_of(r), &f) ? psdm_filter_scratch(&f, rows)
                                                                                       : 1;
}

/* ---- signals ---- */

/* y = A x for every row, in place; A NULL: nothing */
static void turn(long rows, int n, const double *A, bool transposed, double *x) {
  double y[PSDM_MAX_JOINTS];
  for (long k = 0; k < rows && A; k++, x += n) {
    for (int i = 0; i < n; i++) {
      y[i] = 0;
      for (int j = 0; j < n; j++) y[i] += (transposed ? A[j * n + i] : A[i * n + j]) * x[j];
    }
    memcpy(x, y, (size_t)n * sizeof *x);
  }
}

/* The clock of a stretch: ticks since its segment began, so that windows and whole segments have the same rows. */
typedef struct ticking {
  double start; /* time of row 0, and */
  long tick;    /* its number */
  long rows;
  long logged;  /* row of the log that row 0 is, where */
  bool uniform; /* the log already has this clock */
} ticking;

/* from the first tick that has torque and, the delay earlier, motion, to the last one */
static ticking ticks_of(const psdmp_identify_run *r, const psdmp_feed_stretch *s, double delay) {
  double since = (s->t[0] - s->begin) / r->interval, nearest = floor(since + 0.5);
  ticking c = {.tick = (long)(fabs(since - nearest) <= 0.02 ? nearest : ceil(since)), .uniform = true};
  c.start = s->begin + (double)c.tick * r->interval;
  for (long k = 0; k < s->rows && c.uniform; k++)
    c.uniform = fabs(s->t[k] - c.start - (double)k * r->interval) <= 0.02 * r->interval;
  c.rows = c.uniform ? s->rows : (long)floor((s->t[s->rows - 1] - c.start) / r->interval + 1e-6) + 1;
  long apart = (long)ceil(fabs(delay) / r->interval - 1e-6);
  c.logged = delay > 0 ? apart : 0;
  c.tick += c.logged;
  c.start = s->begin + (double)c.tick * r->interval;
  c.rows -= apart;
  return c;
}

/* a channel on the clock, delayed; copied if the log already has that clock */
static void on_clock(const psdmp_identify_run *r, const psdmp_feed_stretch *s, const double *x, const ticking *c,
                     double later, double *out) {
  if (c->uniform && later == 0) memcpy(out, x + c->logged * r->n, (size_t)c->rows * (size_t)r->n * sizeof *out);
  else psdm_resample(s->rows, r->n, s->t, x, c->start + later, r->interval, c->rows, out);
}

static void smooth(const psdmp_identify_run *r, double cutoff, clock_rows *c, double *x) {
  psdm_filter f;
  if (!filters(r, cutoff) || psdm_filter_butterworth(ORDER, cutoff, rate_of(r), &f)) return;
  psdm_filter_zero_phase(&f, c->rows, r->n, x, c->scratch);
}

static void kinematics(const psdmp_identify_run *r, const psdmp_identify_band *b, const psdmp_feed_stretch *s,
                       const ticking *ticks, clock_rows *c) {
  /* the motion is moved to the torque: interpolation would remove noise from the torque, and delays would not be
   * comparable */
  double ago = -b->delay;
  on_clock(r, s, s->q, ticks, ago, c->q);
  if (b->kinematics == PSDM_KINEMATICS_POSITION || !s->qd) {
    smooth(r, b->cutoff, c, c->q);
    psdm_difference(c->rows, r->n, r->interval, c->q, c->qd);
    psdm_difference(c->rows, r->n, r->interval, c->qd, c->qdd);
    return;
  }
  on_clock(r, s, s->qd, ticks, ago, c->qd);
  smooth(r, b->cutoff, c, c->qd);
  if (b->kinematics == PSDM_KINEMATICS_ACCELERATION && s->qdd) {
    on_clock(r, s, s->qdd, ticks, ago, c->qdd);
    smooth(r, b->cutoff, c, c->qdd);
  } else {
    psdm_difference(c->rows, r->n, r->interval, c->qd, c->qdd);
  }
}

static void torques(const psdmp_identify_run *r, const psdmp_identify_band *b, const psdmp_feed_stretch *s,
                    const ticking *ticks, clock_rows *c) {
  size_t bytes = (size_t)c->rows * (size_t)r->n * sizeof(double);
  on_clock(r, s, s->tau, ticks, 0, c->raw);
  memcpy(c->tau, c->raw, bytes);
  memcpy(c->wide, c->raw, bytes);
  smooth(r, b->cutoff, c, c->tau);
  smooth(r, b->wide, c, c->wide);
  turn(c->rows, r->n, r->T, true, c->tau);
  turn(c->rows, r->n, r->T, true, c->wide);
  turn(c->rows, r->n, r->T, true, c->raw);
}

/* known friction along the motion: bristles follow every tick, then the same filter as for the torque */
static bool friction(const psdmp_identify_run *r, const psdmp_identify_band *b, clock_rows *c) {
  size_t rows = (size_t)c->rows, n = (size_t)r->n;
  double *one = psdmp_base_alloc_raw(r->allocator, 3 * rows * sizeof *one), *t = one, *v = t + rows, *tau = v + rows;
  c->friction = psdmp_base_alloc_raw(r->allocator, rows * n * sizeof *c->friction);
  if (one && c->friction) {
    memcpy(c->friction, c->qd, rows * n * sizeof *c->friction);
    turn(c->rows, r->n, r->T_inverse, false, c->friction);
    for (size_t k = 0; k < rows; k++) t[k] = (double)k * r->interval;
    for (size_t i = 0; i < n; i++) {
      for (size_t k = 0; k < rows; k++) v[k] = c->friction[k * n + i];
      psdm_lugre_follow(&r->lugre[i], psdm_lugre_steady(&r->lugre[i], v[0]), c->rows, t, v, NULL, tau);
      for (size_t k = 0; k < rows; k++) c->friction[k * n + i] = r->lugre[i].given ? tau[k] : 0;
    }
    smooth(r, b->cutoff, c, c->friction);
  }
  psdmp_base_free(r->allocator, one);
  return one && c->friction;
}

/* every stride-th row of the clock */
static bool thin(const psdmp_identify_run *r, const psdmp_feed_stretch *s, const clock_rows *c, int stride, long skip,
                 double start, psdmp_identify_prepared *p) {
  const psdm_allocator *a = r->allocator;
  long rows = c->rows > skip ? (c->rows - skip + stride - 1) / stride : 0;
  size_t n = (size_t)r->n, whole = (size_t)rows * n * sizeof(double);
  struct {
    double **to;
    const double *from;
  } const parts[] = {{&p->q, c->q},       {&p->qd, c->qd},   {&p->qdd, c->qdd},
                     {&p->x, c->q},       {&p->v, c->qd},    {&p->tau, c->tau},
                     {&p->wide, c->wide}, {&p->raw, c->raw}, {&p->friction, c->friction}};
  p->rows = rows;
  if (!rows) return true;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (!parts[k].from) continue;
    if (!(*parts[k].to = psdmp_base_alloc_raw(a, whole))) return false;
    for (long i = 0; i < rows; i++)
      memcpy(*parts[k].to + (size_t)i * n, parts[k].from + (size_t)(skip + i * stride) * n, n * sizeof(double));
  }
  p->t = psdmp_base_alloc_raw(a, (size_t)rows * sizeof *p->t);
  p->index = psdmp_base_alloc_raw(a, (size_t)rows * sizeof *p->index);
  p->label = psdmp_base_alloc(a, (size_t)rows);
  p->bad = psdmp_base_alloc(a, (size_t)rows * n);
  if (!p->t || !p->index || !p->label || !p->bad) return false;
  long at = 0;
  for (long i = 0; i < rows; i++) {
    p->t[i] = start + (double)(skip + i * stride) * r->interval;
    while (at + 1 < s->rows && fabs(s->t[at + 1] - p->t[i]) <= fabs(s->t[at] - p->t[i])) at++;
    p->index[i] = s->first + at;
    memcpy(p->bad + (size_t)i * n, s->bad + (size_t)at * n, n);
  }
  turn(rows, r->n, r->T_inverse, false, p->x);
  turn(rows, r->n, r->T_inverse, false, p->v);
  return true;
}

/* ---- spikes ---- */

/* interpolates x (rows x n) linearly between rows without the bit; rows at the ends keep the nearest one's value */
static void bridge(long rows, int n, const unsigned char *bad, int bit, double *x) {
  for (int i = 0; i < n; i++)
    for (long k = 0; k < rows; k++) {
      if (!(bad[k * n + i] & bit)) continue;
      long from = k - 1, to = k;
      while (to < rows && bad[to * n + i] & bit) to++;
      for (long at = k; at < to; at++) {
        double share = (double)(at - from) / (double)(to - from);
        if (from >= 0 && to < rows) x[at * n + i] = (1 - share) * x[from * n + i] + share * x[to * n + i];
        else if (from >= 0 || to < rows) x[at * n + i] = x[(from >= 0 ? from : to) * n + i];
      }
      k = to;
    }
}

/* Rows with a spike are not fitted, but the filter needs them: it sees interpolated values. Copies are made if there
 * are any; false: out of memory */
static bool bridge_spikes(const psdmp_identify_run *r, psdmp_feed_stretch *s, double **copies) {
  size_t cells = (size_t)s->rows * (size_t)r->n;
  unsigned char any = 0;
  for (size_t k = 0; k < cells; k++) any |= s->bad[k];
  if (!(any & 12)) return true;
  struct {
    const double **x;
    int bit;
  } const parts[] = {{&s->q, 4}, {&s->qd, 4}, {&s->qdd, 4}, {&s->tau, 8}};
  if (!(*copies = psdmp_base_alloc_raw(r->allocator, 4 * cells * sizeof **copies))) return false;
  for (size_t k = 0; k < 4; k++) {
    double *own = *copies + k * cells;
    if (!*parts[k].x || !(any & parts[k].bit)) continue;
    memcpy(own, *parts[k].x, cells * sizeof *own);
    bridge(s->rows, r->n, s->bad, parts[k].bit, own);
    *parts[k].x = own;
  }
  return true;
}

/* a drive's row is bad if that of a joint that it moves is */
static void spread_bad(const psdmp_identify_run *r, psdmp_identify_prepared *p) {
  for (long k = 0; k < p->rows && r->T; k++) {
    unsigned char *bad = p->bad + (size_t)k * (size_t)r->n, any = 0;
    for (int i = 0; i < r->n; i++) any |= bad[i];
    for (int i = 0; i < r->n && any; i++)
      for (int j = 0; j < r->n; j++)
        if (i != j && r->T[j * r->n + i] != 0) bad[i] |= bad[j];
  }
}

psdm_status psdmp_identify_run_prepare(psdmp_identify_run *r, const psdmp_identify_band *b,
                                       const psdmp_feed_stretch *logged, psdmp_identify_prepared *p,
                                       psdm_error *error) {
  psdmp_feed_stretch bridged = *logged, *s = &bridged;
  double *copies = NULL;
  *p = (psdmp_identify_prepared){.begins = s->begins && s->lead == 0, .segment = s->segment, .file = s->file};
  if (s->rows < 3 * EDGE) return PSDM_OK;
  int stride = psdmp_identify_band_stride(r, b);
  ticking ticks = ticks_of(r, s, b->delay);
  if (ticks.rows < 3) return PSDM_OK;                  /* what differences need */
  long skip = (stride - ticks.tick % stride) % stride; /* every tick that is a multiple of the stride */
  p->tick = ticks.tick + skip;
  size_t narrow = scratch_for(r, b->cutoff, ticks.rows), wide = scratch_for(r, b->wide, ticks.rows);
  clock_rows c = {0};
  bool ok =
      make_clock(&c, r->allocator, ticks.rows, r->n, narrow > wide ? narrow : wide) && bridge_spikes(r, s, &copies);
  if (ok) {
    kinematics(r, b, s, &ticks, &c);
    torques(r, b, s, &ticks, &c);
    ok = (!r->lugre || friction(r, b, &c)) && thin(r, s, &c, stride, skip, ticks.start, p);
  }
  free_clock(&c, r->allocator);
  psdmp_base_free(r->allocator, copies);
  if (!ok) {
    psdmp_identify_prepared_free(p, r->allocator);
    return psdmp_base_no_memory("", error);
  }
  set_labels(r, b, s, ticks.rows, skip, stride, p);
  spread_bad(r, p);
  return PSDM_OK;
}
