/* decimate.c: rows of one clock come one after the other, and every factor-th leaves as the weighted mean of those around it (psdm_decimator). Regressor, friction
 * columns and torques that go through together stay one equation, as the mean is linear (Gautier 1997: parallel filtering and decimation).
 *
 * A row is added to all means that it has a tap in, some thirty, so that memory does not grow with the factor; the order of the sums is psdm_decimate's, and so are the bits. */
#include <string.h>

#include "calib/calib_priv.h"

unsigned psdmp_bad_bits(int n, const unsigned char *bad) {
  unsigned bits = 0;
  for (int i = 0; i < n; i++) bits |= (unsigned)(bad[i] != 0) << i; /* at most PSDM_CALIBRATE_JOINTS = 32 */
  return bits;
}

psdm_status psdmp_sieve_new(const psdm_allocator *a, int factor, long columns, long aside, psdmp_sieve *s) {
  *s = (psdmp_sieve){.columns = columns, .aside = aside, .out = -1};
  psdm_status status = psdm_decimator_new(factor, a, &s->filter);
  if (status) return status;
  s->slots = 2 * s->filter.half / factor + 2;
  s->slot = psdmp_alloc(a, (size_t)s->slots * sizeof *s->slot);
  s->numbers = psdmp_alloc_raw(a, (size_t)s->slots * (size_t)(columns + aside) * sizeof *s->numbers);
  if (!s->slot || !s->numbers) return psdmp_sieve_free(s, a), PSDM_E_MEMORY;
  for (int k = 0; k < s->slots; k++) {
    s->slot[k].value = s->numbers + k * (columns + aside);
    s->slot[k].aside = s->slot[k].value + columns;
  }
  psdmp_sieve_restart(s);
  return PSDM_OK;
}

void psdmp_sieve_free(psdmp_sieve *s, const psdm_allocator *a) {
  psdm_decimator_free(&s->filter, a);
  psdmp_free(a, s->slot);
  psdmp_free(a, s->numbers);
  *s = (psdmp_sieve){0};
}

void psdmp_sieve_restart(psdmp_sieve *s) {
  s->out = s->last = -1;
  for (int k = 0; k < s->slots; k++) s->slot[k].tick = -1;
}

static psdmp_kept *slot_of(psdmp_sieve *s, long tick) { return &s->slot[tick / s->filter.factor % s->slots]; }

static psdmp_kept *open_slot(psdmp_sieve *s, long tick) {
  psdmp_kept *m = slot_of(s, tick);
  if (m->tick == tick) return m;
  *m = (psdmp_kept){.tick = tick, .label = PSDMP_UNUSED, .value = m->value, .aside = m->aside};
  memset(m->value, 0, (size_t)s->columns * sizeof *m->value);
  return m;
}

void psdmp_sieve_row(psdmp_sieve *s, long tick, int label, unsigned bad, const double *value, const double *aside) {
  const long factor = s->filter.factor, half = s->filter.half;
  s->last = tick;
  if (label == PSDMP_EDGE) return;
  if (s->out < 0) s->out = (tick + factor - 1) / factor * factor;
  long from = tick > half ? (tick - half + factor - 1) / factor * factor : 0;
  for (long at = from < s->out ? s->out : from; at <= tick + half; at += factor) {
    psdmp_kept *m = open_slot(s, at);
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

const psdmp_kept *psdmp_sieve_next(psdmp_sieve *s, bool end) {
  while (s->out >= 0 && (end ? s->out : s->out + s->filter.half) <= s->last) {
    psdmp_kept *m = slot_of(s, s->out);
    bool there = m->tick == s->out && m->middle;
    s->out += s->filter.factor;
    if (!there) continue;
    for (long c = 0; c < s->columns && m->rows != 2L * s->filter.half + 1; c++) m->value[c] /= m->weight; /* taps are missing at the ends */
    if (m->label >= 0 && m->mixed) m->label = PSDMP_UNUSED;
    return m;
  }
  return NULL;
}
