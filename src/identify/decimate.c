/* decimate.c: replaces rows of one clock by weighted means around every factor-th
 * (psdm_decimator). Regressor, friction columns and torques that go through together stay one equation, as
 * the mean is linear (Gautier 1997: parallel filtering and decimation).
 *
 * A row is added to all means that it has a tap in, some thirty, so that memory does not grow with the factor; the
 * order of the sums is psdm_decimate's, and so are the bits.
 *
 * Separately processed stretches of rows have means at both ends that reach into their neighbours. A mean is a
 * sum: each side has a part of it, and the parts are added when the stretches are joined. */
#include <string.h>

#include "identify/identify.h"

unsigned psdmp_identify_bad_bits(int n, const unsigned char *bad) {
  unsigned bits = 0;
  for (int i = 0; i < n; i++) bits |= (unsigned)(bad[i] != 0) << i; /* at most PSDM_CALIBRATE_JOINTS = 32 */
  return bits;
}

psdm_status psdmp_identify_sieve_new(const psdm_allocator *a, int factor, long columns, long aside,
                                     psdmp_identify_sieve *s) {
  *s = (psdmp_identify_sieve){.columns = columns, .aside = aside, .out = -1};
  psdm_status status = psdm_decimator_new(factor, a, &s->filter);
  if (status) return status;
  s->slots = 2 * s->filter.half / factor + 2;
  s->slot = psdmp_base_alloc(a, (size_t)s->slots * sizeof *s->slot);
  s->numbers = psdmp_base_alloc_raw(a, (size_t)s->slots * (size_t)(columns + aside) * sizeof *s->numbers);
  if (!s->slot || !s->numbers) return psdmp_identify_sieve_free(s, a), PSDM_E_MEMORY;
  for (int k = 0; k < s->slots; k++) {
    s->slot[k].value = s->numbers + k * (columns + aside);
    s->slot[k].aside = s->slot[k].value + columns;
  }
  psdmp_identify_sieve_restart(s, false);
  return PSDM_OK;
}

void psdmp_identify_sieve_free(psdmp_identify_sieve *s, const psdm_allocator *a) {
  psdm_decimator_free(&s->filter, a);
  psdmp_base_free(a, s->slot);
  psdmp_base_free(a, s->numbers);
  *s = (psdmp_identify_sieve){0};
}

void psdmp_identify_sieve_restart(psdmp_identify_sieve *s, bool begun) {
  s->begun = begun;
  s->out = s->last = -1;
  for (int k = 0; k < s->slots; k++) s->slot[k].tick = -1;
}

static psdmp_identify_kept *slot_of(psdmp_identify_sieve *s, long tick) {
  return &s->slot[tick / s->filter.factor % s->slots];
}

static psdmp_identify_kept *open_slot(psdmp_identify_sieve *s, long tick) {
  psdmp_identify_kept *m = slot_of(s, tick);
  if (m->tick == tick) return m;
  *m = (psdmp_identify_kept){.tick = tick, .label = PSDMP_IDENTIFY_UNUSED, .value = m->value, .aside = m->aside};
  memset(m->value, 0, (size_t)s->columns * sizeof *m->value);
  return m;
}

void psdmp_identify_sieve_row(psdmp_identify_sieve *s, long tick, int label, unsigned bad, const double *value,
                              const double *aside) {
  const long factor = s->filter.factor, half = s->filter.half;
  s->last = tick;
  if (label == PSDMP_IDENTIFY_EDGE) return;
  long from = tick > half ? (tick - half + factor - 1) / factor * factor : 0;
  if (s->out < 0) s->out = s->begun ? from : (tick + factor - 1) / factor * factor;
  for (long at = from < s->out ? s->out : from; at <= tick + half; at += factor) {
    psdmp_identify_kept *m = open_slot(s, at);
    double tap = s->filter.taps[at < tick ? tick - at : at - tick];
    m->rows++;
    m->weight += tap;
    m->bad |= bad;
    m->mixed |= label < 0;
    for (long c = 0; c < s->columns && value; c++) m->value[c] += tap * value[c];
    if (at != tick) continue;
    m->middle = true;
    m->label = label;
    memcpy(m->aside, aside, (size_t)s->aside * sizeof *aside);
  }
}

/* the next one whose middle is this tick at most, in its present state */
static psdmp_identify_kept *take(psdmp_identify_sieve *s, long most) {
  while (s->out >= 0 && s->out <= most) {
    psdmp_identify_kept *m = slot_of(s, s->out);
    bool there = m->tick == s->out;
    s->out += s->filter.factor;
    if (there) return m;
  }
  return NULL;
}

/* a sum becomes a mean: taps are missing at the ends. False: invalid, since its middle is missing. */
static bool finish(long half, long columns, psdmp_identify_kept *m) {
  if (!m->middle) return false;
  for (long c = 0; c < columns && m->rows != 2 * half + 1; c++) m->value[c] /= m->weight;
  if (m->label >= 0 && m->mixed) m->label = PSDMP_IDENTIFY_UNUSED;
  return true;
}

const psdmp_identify_kept *psdmp_identify_sieve_next(psdmp_identify_sieve *s, bool end) {
  for (psdmp_identify_kept *m; (m = take(s, end ? s->last : s->last - s->filter.half));)
    if (finish(s->filter.half, s->columns, m)) return m;
  return NULL;
}

/* ---- parts ---- */

void psdmp_identify_open_free(psdmp_identify_open *o) {
  for (int k = 0; k < o->count; k++) psdmp_base_free(o->allocator, o->mean[k]);
  psdmp_base_free(o->allocator, o->mean);
  *o = (psdmp_identify_open){.allocator = o->allocator};
}

static psdmp_identify_kept *new_mean(const psdmp_identify_open *o) {
  psdmp_identify_kept *m =
      psdmp_base_alloc(o->allocator, sizeof *m + (size_t)(o->columns + o->aside) * sizeof *m->value);
  if (!m) return NULL;
  m->value = (double *)(m + 1);
  m->aside = m->value + o->columns;
  return m;
}

static bool has_room(psdmp_identify_open *o, int count) {
  return psdmp_base_room(o->allocator, &o->mean, o->count, count - o->count, &o->room, sizeof *o->mean);
}

static bool waits(const psdmp_identify_open *o, const psdmp_identify_kept *m) {
  bool before = o->left && (!o->cut || !m->later) && m->tick - o->half < o->first;
  return before || (o->right && (!o->cut || m->later) && m->tick + o->half > o->last);
}

void psdmp_identify_open_begin(psdmp_identify_open *o, psdmp_identify_sieve *s, const psdmp_feed_stretch *stretch) {
  o->half = s->filter.half, o->columns = s->columns, o->aside = s->aside;
  o->left = stretch->lead > 0, o->right = stretch->trail > 0;
  o->first_run = o->last_run = stretch->segment;
  psdmp_identify_sieve_restart(s, o->left);
}

void psdmp_identify_open_row(psdmp_identify_open *o, long tick) {
  if (!o->any) o->first = tick;
  o->any = true;
  o->last = tick;
}

/* a copy in its present state */
static bool keep(psdmp_identify_open *o, const psdmp_identify_kept *from) {
  psdmp_identify_kept *m = has_room(o, o->count + 1) ? new_mean(o) : NULL;
  if (!m) return false;
  double *value = m->value, *aside = m->aside;
  *m = *from;
  m->value = value, m->aside = aside;
  memcpy(value, from->value, (size_t)o->columns * sizeof *value);
  if (m->middle) memcpy(aside, from->aside, (size_t)o->aside * sizeof *aside);
  o->mean[o->count++] = m;
  return true;
}

bool psdmp_identify_open_take(psdmp_identify_open *o, psdmp_identify_sieve *s, bool end, psdmp_identify_use_kept use,
                              void *user) {
  for (psdmp_identify_kept *m; (m = take(s, end ? s->last + o->half : s->last - o->half));) {
    bool kept = waits(o, m);
    if (kept && !keep(o, m)) return false;
    if (!kept && finish(o->half, o->columns, m)) use(user, m);
  }
  return true;
}

/* ---- neighbours ---- */

static void add_mean(const psdmp_identify_open *o, psdmp_identify_kept *to, const psdmp_identify_kept *m) {
  to->rows += m->rows, to->weight += m->weight;
  to->bad |= m->bad, to->mixed |= m->mixed;
  for (long c = 0; c < o->columns; c++) to->value[c] += m->value[c];
  if (!m->middle) return;
  to->middle = true, to->label = m->label;
  memcpy(to->aside, m->aside, (size_t)o->aside * sizeof *to->aside);
}

/* Two parts side by side; joined: one run of rows is cut between them, at the seam. */
typedef struct seam {
  const psdmp_identify_open *l, *r;
  bool joined;
} seam;

static bool at_seam(const seam *s, const psdmp_identify_kept *m, bool right) {
  return s->joined && (right ? !s->r->cut || !m->later : !s->l->cut || m->later);
}

/* the run of a mean is the first of both parts, or the last; either, both, or neither */
static bool in_first(const seam *s, const psdmp_identify_kept *m, bool right) {
  return at_seam(s, m, right) ? !s->l->cut : !right && (!s->l->cut || !m->later);
}

static bool in_last(const seam *s, const psdmp_identify_kept *m, bool right) {
  return at_seam(s, m, right) ? !s->r->cut : right && (!s->r->cut || m->later);
}

static psdmp_identify_open together(const seam *s) {
  const psdmp_identify_open *l = s->l, *r = s->r;
  psdmp_identify_open o = {.allocator = l->allocator, .half = l->half, .columns = l->columns, .aside = l->aside};
  o.left = l->left, o.right = r->right, o.any = l->any || r->any, o.cut = !s->joined || l->cut || r->cut;
  o.first_run = l->first_run, o.last_run = r->last_run;
  o.first = l->any || l->cut ? l->first : r->first, o.last = r->any || r->cut ? r->last : l->last;
  return o;
}

static void keep_or_use(psdmp_identify_open *o, psdmp_identify_kept *m, bool first, bool last,
                        psdmp_identify_use_kept use, void *user) {
  bool waiting =
      (first && o->left && m->tick - o->half < o->first) || (last && o->right && m->tick + o->half > o->last);
  m->later = !first;
  if (waiting) {
    o->mean[o->count++] = m;
    return;
  }
  if (finish(o->half, o->columns, m)) use(user, m);
  psdmp_base_free(o->allocator, m);
}

/* concatenates both lists; at the seam by their ticks, and shared means are added */
bool psdmp_identify_open_merge(psdmp_identify_open *l, psdmp_identify_open *r, psdmp_identify_use_kept use,
                               void *user) {
  const seam s = {l, r, l->right && r->left && l->last_run == r->first_run};
  psdmp_identify_open o = together(&s);
  if (!has_room(&o, l->count + r->count)) return false;
  for (int i = 0, k = 0; i < l->count || k < r->count;) {
    psdmp_identify_kept *a = i < l->count ? l->mean[i] : NULL, *b = k < r->count ? r->mean[k] : NULL;
    bool both = a && b && at_seam(&s, a, false) && at_seam(&s, b, true), right = !a || (both && b->tick < a->tick);
    if (both && a->tick == b->tick) {
      add_mean(&o, a, b);
      psdmp_base_free(r->allocator, b);
      k++;
    }
    psdmp_identify_kept *next = right ? b : a;
    bool first = in_first(&s, next, right), last = in_last(&s, next, right);
    keep_or_use(&o, next, first, last, use, user);
    if (right) k++;
    else i++;
  }
  l->count = r->count = 0; /* their memory has moved */
  psdmp_identify_open_free(l);
  psdmp_identify_open_free(r);
  *l = o;
  return true;
}

void psdmp_identify_open_end(psdmp_identify_open *o, psdmp_identify_use_kept use, void *user) {
  for (int k = 0; k < o->count; k++)
    if (finish(o->half, o->columns, o->mean[k])) use(user, o->mean[k]);
  psdmp_identify_open_free(o);
}

/* ---- bytes ---- */

void psdmp_identify_open_put(const psdmp_identify_open *o, psdmp_parallel_bytes *to) {
  const long numbers[] = {o->half, o->columns,   o->aside,    o->left,  o->right, o->any,
                          o->cut,  o->first_run, o->last_run, o->first, o->last,  o->count};
  psdmp_parallel_bytes_put(to, numbers, sizeof numbers);
  for (int k = 0; k < o->count; k++) {
    const psdmp_identify_kept *m = o->mean[k];
    const long own[] = {m->tick, m->label, (long)m->bad, m->middle, m->mixed, m->later, m->rows};
    psdmp_parallel_bytes_put(to, own, sizeof own);
    PSDMP_PARALLEL_PUT(to, m->weight);
    psdmp_parallel_bytes_put(to, m->value, (size_t)(o->columns + o->aside) * sizeof *m->value);
  }
}

static bool get_mean(psdmp_identify_open *o, psdmp_parallel_bytes *from) {
  psdmp_identify_kept *m = has_room(o, o->count + 1) ? new_mean(o) : NULL;
  long own[7];
  if (!m) return false;
  o->mean[o->count++] = m;
  psdmp_parallel_bytes_get(from, own, sizeof own);
  PSDMP_PARALLEL_GET(from, m->weight);
  psdmp_parallel_bytes_get(from, m->value, (size_t)(o->columns + o->aside) * sizeof *m->value);
  m->tick = own[0], m->label = (int)own[1], m->bad = (unsigned)own[2], m->middle = own[3] != 0, m->mixed = own[4] != 0,
  m->later = own[5] != 0, m->rows = own[6];
  return !from->failed;
}

bool psdmp_identify_open_get(psdmp_identify_open *o, psdmp_parallel_bytes *from) {
  long numbers[12];
  psdmp_parallel_bytes_get(from, numbers, sizeof numbers);
  o->half = numbers[0], o->columns = numbers[1], o->aside = numbers[2], o->left = numbers[3] != 0,
  o->right = numbers[4] != 0, o->any = numbers[5] != 0;
  o->cut = numbers[6] != 0, o->first_run = (int)numbers[7], o->last_run = (int)numbers[8], o->first = numbers[9],
  o->last = numbers[10];
  if (o->columns < 0 || o->aside < 0 || o->columns > 1 << 24 || o->aside > 1 << 24) from->failed = true;
  for (long k = 0; k < numbers[11] && !from->failed; k++)
    if (!get_mean(o, from)) from->failed = true;
  return !from->failed;
}
