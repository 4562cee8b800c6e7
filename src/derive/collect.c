/* collect.c: numbers the functions and orders their coefficients by function. The codes of one class are marked in a
 * bit set, or listed and sorted where that would be mostly empty; the rank of a code in it is the function's position
 * in the class. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"

/* codes present in one class, with the count of those before each word; for sparse codes, the sorted codes
 * themselves */
typedef struct code_set {
  uint64_t *bits;
  uint32_t *before;
  uint64_t low, words; /* word index of the first bit in use, number of words in use */
  uint64_t room;       /* words allocated */
  uint64_t *code;      /* (count) ascending */
  long count;
  bool sparse;
} code_set;

/* set bits of a word; not every supported processor has an instruction for it */
static inline uint32_t count_bits(uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static int class_of_term(const psdm_model *m, const int *q, const psdmp_derive_term *t) {
  return psdmp_model_class_of(m->n, t->first < 0 ? -1 : q[t->first], t->second < 0 ? -1 : q[t->second]);
}

/* terms grouped by class, inside by torque and body: the order in which entries must be written */
typedef struct sorted_term {
  const psdmp_derive_term *term;
  int class_index, torque, body;
} sorted_term;

static int compare_terms(const void *a, const void *b) {
  const sorted_term *x = a, *y = b;
  if (x->class_index != y->class_index) return x->class_index < y->class_index ? -1 : 1;
  if (x->torque != y->torque) return x->torque < y->torque ? -1 : 1;
  return (x->body > y->body) - (x->body < y->body);
}

static long search(const code_set *s, uint64_t code) {
  long low = 0, high = s->count - 1;
  while (low < high) {
    long middle = (low + high) / 2;
    if (s->code[middle] < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

static inline long rank_of(const code_set *s, uint64_t code) {
  if (s->sparse) return search(s, code);
  uint64_t word = code / 64 - s->low;
  return (long)s->before[word] + count_bits(s->bits[word] & ((UINT64_C(1) << (code % 64)) - 1));
}

static int compare_codes(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* the codes themselves, each once; s->code has room for all */
static long list_all(code_set *s, const sorted_term *first, const sorted_term *end, uint64_t extra, bool has_extra) {
  long count = 0, left = 0;
  for (const sorted_term *t = first; t < end; t++)
    PSDMP_DERIVE_EACH (&t->term->rows, segment, record) s->code[count++] = record[0];
  if (has_extra) s->code[count++] = extra;
  qsort(s->code, (size_t)count, sizeof *s->code, compare_codes);
  for (long i = 0; i < count; i++)
    if (!left || s->code[i] != s->code[left - 1]) s->code[left++] = s->code[i];
  return s->count = left;
}

/* marks every code of a class's terms; returns how many there are */
static long mark(code_set *s, const sorted_term *first, const sorted_term *end, uint64_t extra, bool has_extra) {
  uint64_t low = has_extra ? extra : UINT64_MAX, high = has_extra ? extra : 0;
  for (const sorted_term *t = first; t < end; t++) {
    if (t->term->rows.low < low) low = t->term->rows.low;
    if (t->term->rows.high > high) high = t->term->rows.high;
  }
  s->low = low / 64;
  s->words = high / 64 - s->low + 1;
  s->sparse = s->words > s->room;
  if (s->sparse) return list_all(s, first, end, extra, has_extra);
  memset(s->bits, 0, s->words * sizeof *s->bits);
  for (const sorted_term *t = first; t < end; t++)
    PSDMP_DERIVE_EACH (&t->term->rows, segment, record)
      s->bits[record[0] / 64 - s->low] |= UINT64_C(1) << (record[0] % 64);
  if (has_extra) s->bits[extra / 64 - s->low] |= UINT64_C(1) << (extra % 64);
  uint32_t count = 0;
  for (uint64_t w = 0; w < s->words; w++) {
    s->before[w] = count;
    count += count_bits(s->bits[w]);
  }
  return (long)count;
}

/* the codes, ascending */
static void list_codes(const code_set *s, uint64_t *code) {
  if (s->sparse) {
    memmove(code, s->code, (size_t)s->count * sizeof *code);
    return;
  }
  for (uint64_t w = 0; w < s->words; w++)
    for (uint64_t left = s->bits[w]; left; left &= left - 1)
      *code++ = (s->low + w) * 64 + (uint64_t)__builtin_ctzll(left);
}

/* a drive's constant: class qdd_k, torque i, value a_i a_k; a function of its own if no link has it */
typedef struct constant {
  int joint, parameter;
  double value;
} constant;

typedef struct collector {
  psdm_model *m;
  const psdm_robot *robot;
  code_set set;
  constant *drive; /* of the current class */
  int drives;
  double kept;       /* smallest coefficient kept, relative */
  const int *column; /* (standard) output column of each parameter, -1: left out */
  double reach;      /* the unit of lengths in the terms */
  double power[7];   /* reach^-4 to reach^2 */
} collector;

static void set_drives(collector *c, int class_index) {
  const psdm_robot *r = c->robot;
  int k = class_index - 1;
  c->drives = 0;
  if (k < 0 || k >= r->n) return;
  for (int i = 0; i < r->n; i++)
    for (int d = 0; d < r->drives; d++)
      if (r->drive[d].a[i] * r->drive[d].a[k] != 0 && c->column[PSDMP_ROBOT_STANDARD * r->bodies + d] >= 0)
        c->drive[c->drives++] =
            (constant){i, PSDMP_ROBOT_STANDARD * r->bodies + d, r->drive[d].a[i] * r->drive[d].a[k]};
}

/* the parameters of a term's body that are kept, as a mask */
static unsigned kept_mask(const collector *c, const sorted_term *t) {
  unsigned mask = 0;
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++)
    if (c->column[PSDMP_ROBOT_STANDARD * t->body + i] >= 0) mask |= 1u << i;
  return mask;
}

/* start[f + 1] counts the entries of function f of this class */
static void count_entries(collector *c, const sorted_term *first, const sorted_term *end, long *start) {
  for (const sorted_term *t = first; t < end; t++) {
    unsigned keep = kept_mask(c, t);
    PSDMP_DERIVE_EACH (&t->term->rows, segment, record)
      start[rank_of(&c->set, record[0]) + 1] += count_bits(psdmp_derive_record_mask(record) & keep);
  }
  for (int d = 0; d < c->drives; d++) start[rank_of(&c->set, 0) + 1]++;
}

/* data used for each term to be placed */
typedef struct placing {
  unsigned keep; /* kept parameters of the body */
  unsigned short column[PSDMP_ROBOT_STANDARD], torque;
  double scale[PSDMP_ROBOT_STANDARD], smallest; /* from units of the reach to metres; smallest stays in those */
} placing;

/* writes the kept entries of one record at its function's position; returns the position after them. slides: divisor
 * from its monomial's displacements */
static inline long place_record(placing *p, const uint64_t *record, double slides, psdmp_model_entry *P, long at) {
  unsigned mask = psdmp_derive_record_mask(record);
  const double *value = psdmp_derive_record_values(record);
  double smallest = p->smallest;
  if (mask == 0x3FF) { /* a full row: no need to search */
    for (unsigned left = p->keep; left; left &= left - 1) {
      int i = __builtin_ctz(left);
      double size = fabs(value[i]);
      smallest = size < smallest ? size : smallest;
      P[at++] = (psdmp_model_entry){value[i] * p->scale[i] * slides, p->torque, p->column[i]};
    }
  } else {
    for (unsigned left = mask; left; left &= left - 1, value++) {
      int i = __builtin_ctz(left);
      if (!(p->keep >> i & 1)) continue;
      double size = fabs(*value);
      smallest = size < smallest ? size : smallest;
      P[at++] = (psdmp_model_entry){*value * p->scale[i] * slides, p->torque, p->column[i]};
    }
  }
  p->smallest = smallest;
  return at;
}

static int sliding(const psdm_model *m, int joint) { return joint >= 0 && m->prismatic[joint]; }

/* 1 / reach^exponents of the prismatic joints in a monomial */
static double slides_of(const collector *c, uint64_t code) {
  const psdm_model *m = c->m;
  int power = 0;
  for (int j = 0; j < m->n; j++)
    if (m->prismatic[j]) power += (int)(code / m->weight[j] % (uint64_t)m->radix[j]);
  return power ? pow(c->reach, -power) : 1;
}

static void place_term(collector *c, const sorted_term *t, long *next) {
  static const int degree[PSDMP_ROBOT_STANDARD] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  const psdm_model *m = c->m;
  placing p = {.keep = kept_mask(c, t), .torque = (unsigned short)t->torque, .smallest = c->kept};
  /* a torque is mass times reach squared per acceleration, times reach for gravity, and a prismatic joint has one
   * length less */
  int first, second, power = t->class_index ? 2 : 1;
  psdm_model_class_rates(m, t->class_index, &first, &second);
  power -= sliding(m, t->torque) + sliding(m, first) + sliding(m, second);
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++) {
    p.column[i] = (unsigned short)c->column[PSDMP_ROBOT_STANDARD * t->body + i];
    p.scale[i] = t->term->scale * c->power[4 + power - degree[i]];
  }
  bool slides = false;
  for (int j = 0; j < m->n; j++) slides |= m->prismatic[j];
  PSDMP_DERIVE_EACH (&t->term->rows, segment, record) {
    long *at = &next[rank_of(&c->set, record[0])];
    *at = place_record(&p, record, slides ? slides_of(c, record[0]) : 1, m->P, *at);
  }
  c->kept = p.smallest;
}

/* entries come by torque and body; the drives of each torque follow its links. next[f] moves to the end of function
 * f. */
static void place_entries(collector *c, const sorted_term *first, const sorted_term *end, long *next) {
  const sorted_term *t = first;
  for (int joint = 0; joint < c->m->n; joint++) {
    for (; t < end && t->torque == joint; t++) place_term(c, t, next);
    for (int d = 0; d < c->drives; d++)
      if (c->drive[d].joint == joint)
        c->m->P[next[rank_of(&c->set, 0)]++] = (psdmp_model_entry){c->drive[d].value, (unsigned short)joint,
                                                                   (unsigned short)c->column[c->drive[d].parameter]};
  }
}

/* one class: its functions, then the starts of their entries, then the entries */
static void add_class(collector *c, const sorted_term *first, const sorted_term *end) {
  psdm_model *m = c->m;
  c->set.code = m->code + m->p; /* the list is built in place */
  long count = mark(&c->set, first, end, 0, c->drives > 0), *start = m->P_start + m->p;
  list_codes(&c->set, m->code + m->p);
  memset(start + 1, 0, (size_t)count * sizeof *start);
  count_entries(c, first, end, start);
  for (long f = 0; f < count; f++) start[f + 1] += start[f];
  long begin = start[0];
  place_entries(c, first, end, start);
  /* placing moved every start to the next function's: move them back */
  memmove(start + 1, start, (size_t)count * sizeof *start);
  start[0] = begin;
  m->p += count;
}

static void add_classes(collector *c, const sorted_term *sorted, int terms) {
  const sorted_term *t = sorted, *last = sorted + terms;
  for (int k = 0; k < c->m->classes; k++) {
    const sorted_term *end = t;
    while (end < last && end->class_index == k) end++;
    set_drives(c, k);
    c->m->class_start[k] = c->m->p;
    if (end > t || c->drives) add_class(c, t, end);
    t = end;
  }
  c->m->class_start[c->m->classes] = c->m->p;
}

/* room for the most that the terms can give: every row its own function */
static bool make_room(const psdm_robot *r, const psdmp_derive_expansion *e, psdm_model *m) {
  long rows = r->n, entries = (long)r->drives * r->n * r->n;
  for (int t = 0; t < e->terms; t++) {
    rows += e->term[t].rows.count;
    entries += e->term[t].rows.entries;
  }
  m->code = psdmp_base_arena_alloc_raw(&m->arena, (size_t)rows * sizeof *m->code);
  m->P_start = psdmp_base_arena_alloc_raw(&m->arena, (size_t)(rows + 1) * sizeof *m->P_start);
  m->P = psdmp_base_arena_alloc_raw(&m->arena, (size_t)(entries + 1) * sizeof *m->P);
  if (!m->code || !m->P_start || !m->P) return false;
  m->P_start[0] = 0;
  return true;
}

/* a bit and a count for every possible code, unless most would be empty: three joints more than the rows fill */
static double words_for(double rows, double codes) { return fmin(floor(codes / 64) + 1, rows + (1u << 16)); }

double psdmp_derive_collect_bytes(double rows, double entries, double codes) {
  return 16 * rows + 16 * entries + 12 * words_for(rows, codes);
}

psdm_status psdmp_derive_collect(const psdm_robot *r, const psdmp_derive_expansion *e, const int *q, const int *column,
                                 const psdm_derive_options *options, psdm_model *m, double *kept, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  collector c = {.m = m, .robot = r, .kept = INFINITY, .column = column, .reach = e->reach};
  for (int i = 0; i < 7; i++) c.power[i] = pow(e->reach, i - 4);
  sorted_term *sorted = PSDMP_BASE_NEW(&scratch, e->terms, sorted_term);
  long rows = 0, entries = 0;
  for (int t = 0; t < e->terms; t++) rows += e->term[t].rows.count, entries += e->term[t].rows.entries;
  double codes = (double)m->weight[0] * m->radix[0];
  uint64_t words = c.set.room = (uint64_t)words_for((double)rows, codes);
  double need = (double)e->pool.bytes + psdmp_derive_collect_bytes((double)rows, (double)entries, codes);
  psdm_status status = psdmp_derive_ask(r, need, psdmp_derive_limit(r, options), error);
  if (status) return psdmp_base_arena_free(&scratch), status;
  c.drive = PSDMP_BASE_NEW(&scratch, r->drives * r->n, constant);
  c.set.bits = psdmp_base_arena_alloc_raw(&scratch, words * sizeof *c.set.bits);
  c.set.before = psdmp_base_arena_alloc_raw(&scratch, words * sizeof *c.set.before);
  bool ok = sorted && c.drive && c.set.bits && c.set.before && make_room(r, e, m);
  if (ok) {
    for (int t = 0; t < e->terms; t++)
      sorted[t] = (sorted_term){&e->term[t], class_of_term(m, q, &e->term[t]), q[e->term[t].torque],
                                r->body[e->term[t].body].number};
    qsort(sorted, (size_t)e->terms, sizeof *sorted, compare_terms);
    add_classes(&c, sorted, e->terms);
  }
  *kept = c.kept;
  psdmp_base_arena_free(&scratch);
  return ok ? PSDM_OK : psdmp_base_no_memory(r->file, error);
}
