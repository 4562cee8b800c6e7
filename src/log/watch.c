/* watch.c: frozen channels, saturated torques, and spikes.
 *
 * A channel is frozen when it keeps its value to the last bit over a span of at least 20 samples and 0.1 s, and another
 * one contradicts it:
 *   q    against qd: the integral of qd over the span; without qd: it stops, or continues, more abruptly than
 *        anywhere else;
 *   qd   against q, qdd against qd: the mean rate over the span differs from the constant;
 *   tau  while the joint moves, where it otherwise changes from sample to sample.
 * A robot at rest contradicts nothing. Thresholds are fractions of the channel's values in the whole log so far,
 * including some rows ahead, and steps of a coarse encoder are recognised by the smallest change seen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "log/log_priv.h"

enum {
  SPAN_SAMPLES = 20, /* shortest span of a frozen channel, */
  CLIP_SAMPLES = 5,  /* and of one at its extreme */
  CLIP_TIMES = 3,    /* this many times at the same extreme, or once for a whole span */
  ORDINARY = 200,    /* changes that must have been seen before a channel's own habits count */
  TOP = 8,           /* the eighth largest represents the largest: one or two spikes must not disable the check */
  OCTAVES = 40,      /* sizes are counted by powers of two, from 2^LOWEST on */
  LOWEST = -20,
  AROUND = 3 /* rows on either side of a value for its median */
};

static const double SPAN_SECONDS = 0.1;
static const double QUANTA = 3;      /* less than this many steps of an encoder is not motion */
static const double ABRUPT = 4;      /* times more abrupt than ever before */
static const double RATE_PART = 0.1; /* of the swing of a rate: less is not a contradiction */
static const double ACCELERATION_PART = 0.25;
static const double MOVING_PART = 0.05;
/* of the swing of a position: less is rest. Torques are largest where joints reverse */
static const double RESTING_PART = 1e-3;
/* a spike differs by this many times the 95th percentile of changes, */
static const double SPIKE_STEPS = 20;
static const double SPIKE_SIZES = 3;  /* and this many times the 95th percentile of its values; */
static const double SPIKE_WAY = 0.05; /* positions have no usual size: by this much, rad or m */
static const double SMOOTH = 10;      /* swing of a signal over its usual step: noise alone has about 4 */

/* Statistics of a channel over all rows stored so far. */
typedef struct ahead {
  bool any;
  double last, low, high;
  double quantum; /* smallest change, infinite before the first */
  double squares; /* of changes, summed */
  long rows, changes;
  double from, from_t; /* where the present span began */
  long in_span;
  double rate_low, rate_high;            /* start of the present span */
  long at_low[2], at_high[2];            /* rows at the extreme, and within its smallest change of it */
  unsigned step[OCTAVES], size[OCTAVES]; /* how many changes, values are of a size */
} ahead;

/* A stretch of equal values. */
typedef struct stretch {
  long start, length; /* first row in the store (may have left it: negative), rows */
  double value;
  long line; /* of the first row */
} stretch;

typedef struct channel {
  ahead ahead;
  stretch run, before;  /* the present one, and the one before it */
  long two_before;      /* length of the one before that */
  double entry;         /* change by which the present run began, NAN when it is not known */
  long judged;          /* rows of the run that have been judged in whole spans */
  bool frozen, counted; /* the last span was contradicted; the run is counted as a fault */
  double top[TOP];      /* q: largest second differences, descending */
  long ordinary;        /* how many second differences, or tau: changes while moving */
  long longest;         /* tau: longest stretch while moving that was not frozen */
  double spike;         /* more off its neighbours is a spike, */
  long spike_rows;      /* rows required for that */
  struct {
    double value;
    int count; /* stretches at this value */
    stretch seen[CLIP_TIMES];
  } clip[2]; /* lowest, highest */
} channel;

struct psdmp_log_watch {
  const psdmp_log_map *map;
  psdmp_log_store *store;
  psdmp_log_faults *faults;
  int n;
  long span;
  channel *channel; /* (width), [0] unused */
};

static const unsigned char mark_of[PSDMP_LOG_KINDS] = {PSDMP_LOG_MARK_Q, PSDMP_LOG_MARK_QD, PSDMP_LOG_MARK_QDD,
                                                       PSDMP_LOG_MARK_TAU};

/* ---- small things ---- */

static double value_at(const psdmp_log_watch *w, long row, int c) { return w->store->raw[row * w->store->width + c]; }
static double swing(const ahead *a) { return a->any ? a->high - a->low : 0; }
static double rate_swing(const ahead *a) { return a->rate_high > a->rate_low ? a->rate_high - a->rate_low : 0; }
static double larger(double a, double b) { return a > b ? a : b; }

/* the same joint's channel of another kind, -1 if the log has none or it was measured on another side */
static int partner(const psdmp_log_watch *w, int kind, int other, int joint) {
  const psdmp_log_map *m = w->map;
  if (!m->has[other]) return -1;
  bool same = m->group[kind]->side == m->group[other]->side;
  return same || kind == PSDMP_LOG_TAU ? m->at[other] + joint : -1;
}

static const char *name_of(const psdmp_log_watch *w, int kind, int joint, char name[32]) {
  snprintf(name, 32, "%s%d", w->map->group[kind]->name, joint + 1);
  return name;
}

static void mark(psdmp_log_watch *w, int kind, int joint, long from, long to) {
  for (long r = from < 0 ? 0 : from; r <= to; r++) w->store->mark[r * w->n + joint] |= mark_of[kind];
}

/* largest swing of the mean rates, or of the rates themselves, over all joints of a kind */
static double kind_swing(const psdmp_log_watch *w, int kind, bool of_rates) {
  double most = 0;
  for (int j = 0; j < w->n; j++) {
    const ahead *a = &w->channel[w->map->at[kind] + j].ahead;
    most = larger(most, of_rates ? rate_swing(a) : swing(a));
  }
  return most;
}

/* largest step of an encoder of this kind, infinite before any motion */
static double kind_quantum(const psdmp_log_watch *w, int kind) {
  double most = 0;
  for (int j = 0; j < w->n; j++) {
    double quantum = w->channel[w->map->at[kind] + j].ahead.quantum;
    if (isfinite(quantum)) most = larger(most, quantum);
  }
  return most > 0 ? most : INFINITY;
}

/* ---- ahead: statistics of the log ---- */

static void note_octave(unsigned count[OCTAVES], double x) {
  int octave = x != 0 ? ilogb(x) - LOWEST : 0;
  count[octave < 0 ? 0 : octave >= OCTAVES ? OCTAVES - 1 : octave]++;
}

/* the 95th percentile */
static double usual(const unsigned count[OCTAVES]) {
  double all = 0, below = 0;
  int octave = -1;
  for (int k = 0; k < OCTAVES; k++) all += count[k];
  while (octave < OCTAVES - 1 && below < 0.95 * all) below += count[++octave];
  return ldexp(1, octave + 1 + LOWEST);
}

static void note_span(ahead *a, double t, double x, long span, bool fresh) {
  if (fresh) {
    a->from = x;
    a->from_t = t;
    a->in_span = 0;
  } else if (++a->in_span == span && t > a->from_t) {
    double rate = (x - a->from) / (t - a->from_t);
    if (rate < a->rate_low) a->rate_low = rate;
    if (rate > a->rate_high) a->rate_high = rate;
    note_span(a, t, x, span, true);
  }
}

/* rows at the extreme and one step of the channel short of it; `beyond` is how far x lies outside the previous extreme
 * */
static void note_extreme(long count[2], double beyond, double quantum) {
  if (beyond > 0) {
    count[1] = beyond < 1.5 * quantum ? count[0] : 0;
    count[0] = 1;
  } else if (beyond == 0) {
    count[0]++;
  } else if (-beyond < 1.5 * quantum) {
    count[1]++;
  }
}

void psdmp_log_watch_ahead(psdmp_log_watch *w, long row) {
  const double *values = w->store->raw + row * w->store->width;
  bool fresh = row == 0 || w->store->segment[row] != w->store->segment[row - 1];
  for (int c = 1; c < w->map->width; c++) {
    ahead *a = &w->channel[c].ahead;
    double x = values[c], change = x - a->last;
    double quantum = isfinite(a->quantum) ? a->quantum : 0;
    note_extreme(a->at_low, a->any ? a->low - x : 0, quantum);
    note_extreme(a->at_high, a->any ? x - a->high : 0, quantum);
    if (!a->any || x < a->low) a->low = x;
    if (!a->any || x > a->high) a->high = x;
    if (a->any && !fresh) {
      a->rows++;
      a->squares += change * change;
      if (change != 0) a->changes++;
      note_octave(a->step, change);
      if (change != 0 && fabs(change) < a->quantum) a->quantum = fabs(change);
    }
    note_octave(a->size, x);
    note_span(a, values[0], x, w->span, fresh || !a->any);
    a->any = true;
    a->last = x;
  }
}

/* ---- frozen ---- */

/* q is constant over rows from .. to: does qd continue? */
static bool position_contradicted(const psdmp_log_watch *w, int joint, long from, long to) {
  int rate = partner(w, PSDMP_LOG_Q, PSDMP_LOG_QD, joint);
  if (rate < 0) return false;
  const ahead *a = &w->channel[rate].ahead;
  double way = 0, T = value_at(w, to, 0) - value_at(w, from, 0),
         noise = a->rows ? sqrt(a->squares / (double)a->rows) : 0;
  for (long r = from + 1; r <= to; r++)
    way += (value_at(w, r, rate) + value_at(w, r - 1, rate)) / 2 * (value_at(w, r, 0) - value_at(w, r - 1, 0));
  /* white noise has a small swing for its steps, and a mean that falls with the root of the samples */
  if (!(swing(a) > SMOOTH * noise) || swing(a) < MOVING_PART * kind_swing(w, PSDMP_LOG_QD, false)) return false;
  return fabs(way) > RATE_PART * swing(a) * T && fabs(way) > 5 * noise * T / sqrt((double)(to - from)) &&
         fabs(way) > QUANTA * kind_quantum(w, PSDMP_LOG_Q);
}

/* a rate is constant over rows from .. to: does its integral change at another rate? */
static bool rate_contradicted(const psdmp_log_watch *w, int kind, int joint, long from, long to) {
  int under = kind == PSDMP_LOG_QD ? PSDMP_LOG_Q : PSDMP_LOG_QD, integral = partner(w, kind, under, joint);
  if (integral < 0) return false;
  const ahead *a = &w->channel[integral].ahead;
  double T = value_at(w, to, 0) - value_at(w, from, 0), part = kind == PSDMP_LOG_QD ? RATE_PART : ACCELERATION_PART;
  double off =
      fabs(value_at(w, to, integral) - value_at(w, from, integral) - value_at(w, from, w->map->at[kind] + joint) * T);
  double scale = larger(rate_swing(a), swing(&w->channel[w->map->at[kind] + joint].ahead));
  return rate_swing(a) >= MOVING_PART * kind_swing(w, under, true) && off > part * scale * T &&
         off > QUANTA * kind_quantum(w, under);
}

/* distance from the lowest to the highest position of a joint over rows */
static double way_of(const psdmp_log_watch *w, int joint, long from, long to) {
  double low = INFINITY, high = -INFINITY;
  for (long r = from; r <= to; r++) {
    double x = value_at(w, r, w->map->at[PSDMP_LOG_Q] + joint);
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return high - low;
}

/* does the joint move, by more than a part of its usual rate and some steps of its encoder? */
static bool moves(const psdmp_log_watch *w, int joint, long from, long to) {
  const ahead *a = &w->channel[w->map->at[PSDMP_LOG_Q] + joint].ahead;
  double way = way_of(w, joint, from, to);
  return way > QUANTA * a->quantum && way > MOVING_PART * rate_swing(a) * (value_at(w, to, 0) - value_at(w, from, 0));
}

/* a torque is constant while its joint moves; at its extreme it is saturated rather than frozen */
static bool torque_contradicted(const psdmp_log_watch *w, int joint, const channel *c, long from, long to) {
  const ahead *a = &c->ahead;
  if (!moves(w, joint, from, to)) return false;
  if (!a->changes) return a->rows >= 1000 && c->run.value != 0; /* an unactuated joint has 0 all the time */
  if (c->run.value == a->low || c->run.value == a->high) return false;
  return a->changes >= ORDINARY && a->changes * 2 >= a->rows - c->run.length && c->run.length > 4 * c->longest;
}

/* the contradiction in words; NULL: none */
static const char *contradiction(const psdmp_log_watch *w, int kind, int joint, const channel *c, long from, long to,
                                 char words[48]) {
  char name[32];
  int other = kind == PSDMP_LOG_Q ? PSDMP_LOG_QD : kind == PSDMP_LOG_QDD ? PSDMP_LOG_QD : PSDMP_LOG_Q;
  bool found = kind == PSDMP_LOG_Q     ? position_contradicted(w, joint, from, to)
               : kind == PSDMP_LOG_TAU ? torque_contradicted(w, joint, c, from, to)
                                       : rate_contradicted(w, kind, joint, from, to);
  if (!found) return NULL;
  snprintf(words, 48, "while %s moves", name_of(w, other, joint, name));
  return words;
}

static void count_frozen(psdmp_log_watch *w, int kind, int joint, channel *c, long line, const char *words) {
  char name[32], number[32];
  if (c->counted) return;
  c->counted = true;
  psdmp_base_format_short(c->run.value, number);
  psdmp_log_fault_add(w->faults, PSDM_FAULT_FROZEN, line, "%s stays at %s %s", name_of(w, kind, joint, name), number,
                      words);
}

/* at the end of each whole span of a run, and with every row after it */
static void judge_span(psdmp_log_watch *w, int kind, int joint, channel *c, long row) {
  if (c->run.length - c->judged >= w->span) {
    long from = row - w->span + 1;
    char words[48];
    const char *why = contradiction(w, kind, joint, c, from, row, words);
    c->judged = c->run.length;
    c->frozen = why;
    if (why) count_frozen(w, kind, joint, c, w->store->line[from], why);
    if (why) mark(w, kind, joint, from, row);
  }
  if (c->frozen) mark(w, kind, joint, row, row);
}

/* ---- q without qd: how abruptly a run starts and ends ---- */

static bool is_abrupt(const channel *c, double change) {
  return c->ordinary >= ORDINARY && fabs(change) > ABRUPT * c->top[TOP - 1] && fabs(change) > QUANTA * c->ahead.quantum;
}

static void note_ordinary(channel *c, double second) {
  second = fabs(second);
  if (isnan(second)) return;
  c->ordinary++;
  for (int k = 0; k < TOP; k++)
    if (second > c->top[k]) {
      double smaller = c->top[k];
      c->top[k] = second;
      second = smaller;
    }
}

static void judge_entry(psdmp_log_watch *w, int joint, channel *c, long row) {
  if (c->run.length == w->span && is_abrupt(c, c->entry)) {
    count_frozen(w, PSDMP_LOG_Q, joint, c, c->run.line, "from one sample to the next");
    mark(w, PSDMP_LOG_Q, joint, c->run.start, row);
    c->frozen = true;
  }
  if (c->frozen) mark(w, PSDMP_LOG_Q, joint, row, row);
}

/* mean change over the few rows after one; a motion from rest continues with steps of the same size, a frozen channel
 * jumps */
static double pace_behind(const psdmp_log_watch *w, int c, long row) {
  long last = row;
  double sum = 0;
  while (last + 1 < w->store->used && last < row + 5 && w->store->segment[last + 1] == w->store->segment[row]) last++;
  for (long r = row + 1; r <= last; r++) sum += fabs(value_at(w, r, c) - value_at(w, r - 1, c));
  return last > row ? sum / (double)(last - row) : INFINITY;
}

/* change: by which the run ends; NAN when it is not known */
static void judge_exit(psdmp_log_watch *w, int joint, channel *c, long last, double change) {
  if (c->run.length < w->span) { /* an ordinary stretch: its second differences */
    if (c->run.length == 1) {
      note_ordinary(c, change - c->entry);
    } else {
      note_ordinary(c, c->entry);
      note_ordinary(c, change);
    }
  } else if (is_abrupt(c, change) &&
             fabs(change) > ABRUPT * pace_behind(w, w->map->at[PSDMP_LOG_Q] + joint, last + 1)) {
    count_frozen(w, PSDMP_LOG_Q, joint, c, c->run.line, "and then jumps");
    mark(w, PSDMP_LOG_Q, joint, c->run.start, last);
  }
}

/* ---- saturated ---- */

/* does the joint not rest around these rows? */
static bool moves_around(const psdmp_log_watch *w, int joint, long from, long to) {
  long first = from - w->span, last = to + w->span;
  int segment = w->store->segment[to];
  if (first < 0) first = 0;
  if (last >= w->store->used) last = w->store->used - 1;
  while (w->store->segment[first] != segment) first++;
  while (w->store->segment[last] != segment) last--;
  const ahead *a = &w->channel[w->map->at[PSDMP_LOG_Q] + joint].ahead;
  double way = way_of(w, joint, first, last);
  return way > QUANTA * a->quantum && way > RESTING_PART * swing(a);
}

static void count_clip(psdmp_log_watch *w, int joint, const stretch *s, bool highest) {
  char name[32], number[32];
  psdmp_base_format_short(s->value, number);
  psdmp_log_fault_add(w->faults, PSDM_FAULT_SATURATED, s->line, "%s stays at %s, its %s",
                      name_of(w, PSDMP_LOG_TAU, joint, name), number, highest ? "largest" : "smallest");
  mark(w, PSDMP_LOG_TAU, joint, s->start, s->start + s->length - 1);
}

/* A stretch at the extreme, between one of `left` and one of `right` equal values. The top of a smooth curve with
 * coarse steps is not saturated: its neighbours one step below hold at least 0.41 of its length together (a parabola),
 * and with noise there are more rows one step below than at the extreme. Saturation has steep sides, and most rows at
 * the extreme. */
static void judge_clip(psdmp_log_watch *w, int joint, channel *c, const stretch *s, long left, long right) {
  bool highest = s->value == c->ahead.high;
  long sides = (left > 1 ? left - 1 : 0) + (right > 1 ? right - 1 : 0);
  const long *rows = highest ? c->ahead.at_high : c->ahead.at_low;
  if (s->length < CLIP_SAMPLES || rows[0] <= 4 * rows[1] || !c->ahead.changes || (!highest && s->value != c->ahead.low))
    return;
  if (s->length - 1 <= 4 * sides || s->start + s->length <= 0 ||
      !moves_around(w, joint, s->start < 0 ? 0 : s->start, s->start + s->length - 1))
    return;
  int side = highest;
  if (c->clip[side].value != s->value) c->clip[side].count = 0;
  c->clip[side].value = s->value;
  int count = c->clip[side].count;
  if (count < CLIP_TIMES - 1 && s->length < w->span) { /* not yet often enough */
    c->clip[side].seen[c->clip[side].count++] = *s;
    return;
  }
  for (int k = 0; count < CLIP_TIMES && k < count; k++) count_clip(w, joint, &c->clip[side].seen[k], highest);
  count_clip(w, joint, s, highest);
  c->clip[side].count = CLIP_TIMES;
}

/* ---- spikes ---- */

static double median(double *x, int count) {
  for (int i = 1; i < count; i++)
    for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
      double smaller = x[k];
      x[k] = x[k - 1];
      x[k - 1] = smaller;
    }
  return x[count / 2];
}

static double spike_limit(const ahead *a, int kind) {
  return larger(SPIKE_STEPS * usual(a->step), kind == PSDMP_LOG_Q
                                                  ? larger(SPIKE_WAY, QUANTA * (isfinite(a->quantum) ? a->quantum : 0))
                                                  : SPIKE_SIZES * usual(a->size));
}

/* a value far from its neighbours on both sides. Steps and ramps are their own median. */
static void watch_spike(psdmp_log_watch *w, int kind, int joint, long row) {
  int at = w->map->at[kind] + joint, count = 0;
  channel *c = &w->channel[at];
  long first = row - AROUND, last = row + AROUND, other;
  double x = value_at(w, row, at), around[2 * AROUND + 1];
  if (c->spike_rows != c->ahead.rows) c->spike = spike_limit(&c->ahead, kind), c->spike_rows = c->ahead.rows;
  other = first >= 0 ? first : last;
  if (other >= w->store->used || fabs(x - value_at(w, other, at)) <= c->spike || c->ahead.rows < ORDINARY) return;
  for (long r = first < 0 ? 0 : first; r <= last && r < w->store->used; r++)
    if (w->store->segment[r] == w->store->segment[row]) around[count++] = value_at(w, r, at);
  double usually = count >= 5 ? median(around, count) : x;
  if (fabs(x - usually) <= c->spike) return;
  char name[32], number[32], neighbours[32];
  psdmp_base_format_short(x, number);
  psdmp_base_format_short(usually, neighbours);
  psdmp_log_fault_add(w->faults, PSDM_FAULT_SPIKE, w->store->line[row], "%s is %s, and %s around it",
                      name_of(w, kind, joint, name), number, neighbours);
  w->store->mark[row * w->n + joint] |= kind == PSDMP_LOG_TAU ? PSDMP_LOG_MARK_TAU_SPIKE : PSDMP_LOG_MARK_SPIKE;
}

/* ---- runs ---- */

/* a torque's run has ended: the one before it now has both its neighbours */
static void end_torque_run(psdmp_log_watch *w, int joint, channel *c, bool last) {
  if (c->before.length) judge_clip(w, joint, c, &c->before, c->two_before, c->run.length);
  if (last) judge_clip(w, joint, c, &c->run, c->before.length, 0);
  if (!c->counted && c->run.start >= 0) {
    int q = w->map->at[PSDMP_LOG_Q] + joint;
    bool moved = value_at(w, c->run.start, q) != value_at(w, c->run.start + c->run.length - 1, q);
    if (moved && c->run.length > c->longest) c->longest = c->run.length;
  }
  c->two_before = last ? 0 : c->before.length;
  c->before = last ? (stretch){0} : c->run;
}

static void end_run(psdmp_log_watch *w, int kind, int joint, channel *c, double change, bool last) {
  if (!c->run.length) return;
  if (kind == PSDMP_LOG_TAU) end_torque_run(w, joint, c, last);
  if (kind == PSDMP_LOG_Q && partner(w, PSDMP_LOG_Q, PSDMP_LOG_QD, joint) < 0)
    judge_exit(w, joint, c, c->run.start + c->run.length - 1, change);
  c->run.length = 0;
}

static void begin_run(channel *c, long row, long line, double x, double change) {
  c->run = (stretch){row, 1, x, line};
  c->entry = change;
  c->judged = 0;
  c->frozen = c->counted = false;
}

static void watch_value(psdmp_log_watch *w, int kind, int joint, long row, bool fresh) {
  int at = w->map->at[kind] + joint;
  channel *c = &w->channel[at];
  double x = value_at(w, row, at), change = fresh || !w->store->regular[row] ? NAN : x - c->run.value;
  if (!fresh && c->run.length && x == c->run.value) {
    c->run.length++;
    if (kind == PSDMP_LOG_Q && partner(w, PSDMP_LOG_Q, PSDMP_LOG_QD, joint) < 0) judge_entry(w, joint, c, row);
    else judge_span(w, kind, joint, c, row);
    return;
  }
  end_run(w, kind, joint, c, change, fresh);
  begin_run(c, row, w->store->line[row], x, change);
}

void psdmp_log_watch_row(psdmp_log_watch *w, long row) {
  bool fresh = row == 0 || w->store->segment[row] != w->store->segment[row - 1];
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
    for (int j = 0; w->map->has[kind] && j < w->n; j++) {
      watch_value(w, kind, j, row, fresh);
      watch_spike(w, kind, j, row);
    }
}

void psdmp_log_watch_end(psdmp_log_watch *w) {
  for (int kind = 0; kind < PSDMP_LOG_KINDS; kind++)
    for (int j = 0; w->map->has[kind] && j < w->n; j++)
      end_run(w, kind, j, &w->channel[w->map->at[kind] + j], NAN, true);
}

void psdmp_log_watch_shift(psdmp_log_watch *w, long rows) {
  for (int k = 1; k < w->map->width; k++) {
    channel *c = &w->channel[k];
    c->run.start -= rows;
    c->before.start -= rows;
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < CLIP_TIMES; i++) c->clip[side].seen[i].start -= rows;
  }
}

void psdmp_log_watch_reset(psdmp_log_watch *w, double interval) {
  /* samples in the shortest span */
  double samples = interval > 0 ? ceil(SPAN_SECONDS / interval - 1e-6) + 1 : SPAN_SAMPLES;
  long most = w->store->hold / 4;
  w->span = samples < SPAN_SAMPLES ? SPAN_SAMPLES : samples > (double)most ? most : (long)samples;
  for (int k = 1; k < w->map->width; k++)
    w->channel[k] =
        (channel){.ahead = {.quantum = INFINITY, .rate_low = INFINITY, .rate_high = -INFINITY}, .entry = NAN};
}

/* ---- bookmarks ---- */

size_t psdmp_log_watch_bytes(const psdmp_log_watch *w) {
  return sizeof w->span + sizeof *w->channel * (size_t)w->map->width;
}

void psdmp_log_watch_save(const psdmp_log_watch *w, unsigned char *bytes) {
  memcpy(bytes, &w->span, sizeof w->span);
  memcpy(bytes + sizeof w->span, w->channel, sizeof *w->channel * (size_t)w->map->width);
}

void psdmp_log_watch_restore(psdmp_log_watch *w, const unsigned char *bytes) {
  memcpy(&w->span, bytes, sizeof w->span);
  memcpy(w->channel, bytes + sizeof w->span, sizeof *w->channel * (size_t)w->map->width);
}

psdmp_log_watch *psdmp_log_watch_new(const psdmp_log_map *map, psdmp_log_store *store, psdmp_log_faults *faults,
                                     psdmp_base_arena *arena) {
  psdmp_log_watch *w = psdmp_base_arena_alloc(arena, sizeof *w);
  if (!w) return NULL;
  *w = (psdmp_log_watch){.map = map, .store = store, .faults = faults, .n = store->n};
  w->channel = psdmp_base_arena_alloc(arena, sizeof *w->channel * (size_t)map->width);
  return w->channel ? w : NULL;
}
