/* part.c: a subset of a model's functions, evaluated for a block of states at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/reduce.h"

/* ---- the subset ---- */

typedef struct place {
  uint64_t code;
  long function;
  int class;
} place;

static int by_code(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->code != y->code) return x->code < y->code ? -1 : 1;
  return x->class - y->class;
}

static place *find_places(const psdm_model *m, const uint64_t *joints, psdmp_base_arena *arena, long *count) {
  place *places = PSDMP_BASE_NEW(arena, m->p, place);
  *count = 0;
  if (!places) return NULL;
  for (int c = 0; c < m->classes; c++)
    for (long f = m->class_start[c]; f < m->class_start[c + 1]; f++)
      if (!joints || joints[f]) places[(*count)++] = (place){m->code[f], f, c};
  qsort(places, (size_t)*count, sizeof *places, by_code);
  return places;
}

/* entries of one function, added up by joint when theta is known */
static long add_entries(const psdm_model *m, long f, uint64_t joints, const double *theta,
                        psdmp_reduce_part_entry *out) {
  long made = 0;
  for (long e = m->P_start[f], end; e < m->P_start[f + 1]; e = end) {
    int joint = m->P[e].joint;
    bool stays = joints >> joint & 1;
    double sum = 0;
    for (end = e; end < m->P_start[f + 1] && m->P[end].joint == joint; end++) {
      if (theta) sum += m->P[end].value * theta[m->P[end].parameter];
      if (!theta && stays) out[made++] = (psdmp_reduce_part_entry){joint, m->P[end].parameter, m->P[end].value};
    }
    if (theta && stays && sum != 0) out[made++] = (psdmp_reduce_part_entry){joint, -1, sum};
  }
  return made;
}

bool psdmp_reduce_part_start(const psdm_model *m, const uint64_t *joints, const double *theta, psdmp_base_arena *arena,
                             psdmp_reduce_part *part) {
  long count, entries = 0;
  place *places = find_places(m, joints, arena, &count);
  if (!places) return false;
  for (long k = 0; k < count; k++) entries += m->P_start[places[k].function + 1] - m->P_start[places[k].function];
  *part = (psdmp_reduce_part){m,
                              count,
                              PSDMP_BASE_NEW(arena, count, long),
                              PSDMP_BASE_NEW(arena, count, int),
                              PSDMP_BASE_NEW(arena, count + 1, long),
                              PSDMP_BASE_NEW(arena, entries, psdmp_reduce_part_entry)};
  if (!part->function || !part->class || !part->start || !part->entry) return false;
  for (long k = 0; k < count; k++) {
    long f = places[k].function;
    part->function[k] = f;
    part->class[k] = places[k].class;
    part->start[k + 1] =
        part->start[k] + add_entries(m, f, joints ? joints[f] : UINT64_MAX, theta, part->entry + part->start[k]);
  }
  return true;
}

/* ---- products ---- */

bool psdmp_reduce_products_start(int n, psdmp_base_arena *arena, psdmp_reduce_products *p) {
  *p = (psdmp_reduce_products){.level = PSDMP_BASE_NEW(arena, (n + 1) * PSDMP_REDUCE_LANES, double)};
  for (int k = 0; p->level && k < PSDMP_REDUCE_LANES; k++) p->level[k] = 1;
  return p->level != NULL;
}

/* level[j + 1] = level[j] * (digit of joint j), from the first joint whose digit differs */
const double *psdmp_reduce_product(const psdm_model *m, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                                   uint64_t code) {
  bool fresh = !p->any;
  for (int j = 0; j < m->n; j++) {
    uint64_t digit = code / m->weight[j] % (uint64_t)m->radix[j];
    fresh |= digit != p->code / m->weight[j] % (uint64_t)m->radix[j];
    if (!fresh) continue;
    const double *restrict before = p->level + j * PSDMP_REDUCE_LANES;
    const double *restrict value = s->value + (s->first[j] + (int)digit) * PSDMP_REDUCE_LANES;
    double *restrict after = p->level + (j + 1) * PSDMP_REDUCE_LANES;
    if (digit)
      for (int k = 0; k < PSDMP_REDUCE_LANES; k++) after[k] = before[k] * value[k];
    else memcpy(after, before, PSDMP_REDUCE_LANES * sizeof *after);
  }
  p->any = true;
  p->code = code;
  return p->level + m->n * PSDMP_REDUCE_LANES;
}

static void add_scaled(double factor, const double *restrict x, double *restrict sum) {
  for (int k = 0; k < PSDMP_REDUCE_LANES; k++) sum[k] += factor * x[k];
}

static const double *function_value(const psdmp_reduce_part *part, const psdmp_reduce_states *s,
                                    psdmp_reduce_products *p, long k, double *restrict y) {
  const psdm_model *m = part->model;
  const double *restrict product = psdmp_reduce_product(m, s, p, m->code[part->function[k]]);
  const double *restrict rate = s->rate + part->class[k] * PSDMP_REDUCE_LANES;
  for (int i = 0; i < PSDMP_REDUCE_LANES; i++) y[i] = product[i] * rate[i];
  return product;
}

void psdmp_reduce_part_torque(const psdmp_reduce_part *part, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                              double *tau, double *M) {
  int n = part->model->n;
  double y[PSDMP_REDUCE_LANES];
  p->any = false;
  memset(tau, 0, (size_t)n * PSDMP_REDUCE_LANES * sizeof *tau);
  if (M) memset(M, 0, (size_t)(n * n) * PSDMP_REDUCE_LANES * sizeof *M);
  for (long k = 0; k < part->functions; k++) {
    const double *product = function_value(part, s, p, k, y);
    int a = part->class[k] - 1;
    for (long e = part->start[k]; e < part->start[k + 1]; e++) {
      const psdmp_reduce_part_entry *x = &part->entry[e];
      add_scaled(x->value, y, tau + x->joint * PSDMP_REDUCE_LANES);
      if (M && a >= 0 && a < n) add_scaled(x->value, product, M + (x->joint * n + a) * PSDMP_REDUCE_LANES);
    }
  }
}

void psdmp_reduce_part_regressor(const psdmp_reduce_part *part, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                                 double *Y) {
  int n = part->model->n, l = part->model->l;
  double y[PSDMP_REDUCE_LANES];
  p->any = false;
  memset(Y, 0, (size_t)(n * l) * PSDMP_REDUCE_LANES * sizeof *Y);
  for (long k = 0; k < part->functions; k++) {
    function_value(part, s, p, k, y);
    for (long e = part->start[k]; e < part->start[k + 1]; e++)
      add_scaled(part->entry[e].value, y,
                 Y + (part->entry[e].joint * l + part->entry[e].parameter) * PSDMP_REDUCE_LANES);
  }
}

/* ---- quantiles ---- */

double psdmp_reduce_bin_edge(uint32_t bin, uint32_t bits) {
  return ldexp(1 + (double)((bin & ((1u << bits) - 1)) + 1) / (double)(1u << bits), (int)(bin >> bits) - 80);
}

double psdmp_reduce_quantile(const uint32_t *count, uint32_t bits, uint64_t total, double share) {
  uint64_t wanted = (uint64_t)ceil(share * (double)total), seen = 0;
  if (wanted < 1) wanted = 1;
  for (uint32_t bin = 0; bin < 96u << bits; bin++) {
    seen += count[bin];
    if (seen >= wanted) return bin ? psdmp_reduce_bin_edge(bin, bits) : 0;
  }
  return INFINITY;
}
