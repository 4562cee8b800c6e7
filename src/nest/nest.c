/* nest.c: polynomials in nested form, with as few intermediate sums as there are independent ones.
 *
 * Taking one mode out of a polynomial leaves one polynomial in the other modes for each of its options (Horner's
 * scheme; Lloyd, Irani, Ahmadi 2021, eq. 57). Done to all outputs at once this leaves many, but they span a space of
 * low dimension: the quantities of the recursion are in there. So before the next mode, the remaining polynomials
 * are eliminated like the rows of a matrix, L U = A, and only the rows of U go on; the others are combinations of
 * them with the few coefficients of L. Pivots are chosen for sparsity (Markowitz) among those that are not small. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nest/nest.h"

/* a sparse polynomial over the monomials that are left at a level */
typedef struct row {
  uint32_t count, room;
  uint32_t *id; /* ascending */
  double *v;
  double size; /* largest coefficient at first */
  bool active;
} row;

/* the monomials at a level: what their option in the level's mode is, and which monomial the rest is at the next
 * level. Numbered so that equal options stand together. */
typedef struct monomials {
  uint32_t count;
  unsigned short *option;
  uint32_t *next;
} monomials;

typedef struct split {
  uint32_t kid;
  unsigned short option;
  double factor;
} split;

typedef struct mix {
  uint32_t base;
  double factor;
} mix;

/* one level: parents are sums of option * factor * kid, kids are sums of factor * base, and the bases are the next
 * level's parents */
typedef struct level {
  int mode;
  uint32_t parents, kids, bases;
  uint32_t *split_start; /* (parents + 1) */
  split *split;
  uint32_t *mix_start; /* (kids + 1) */
  mix *mix;
} level;

typedef struct nest {
  const psdmp_nest_sums *sums;
  const psdmp_nest_nesting *how;
  psdmp_base_arena *arena;
  monomials *at;   /* (length + 1) */
  level *levels;   /* (length) */
  uint32_t *first; /* (monomials) number at the outermost level */
} nest;

/* ---- monomials ---- */

/* numbers for the pairs (option, rest) in ascending order, found by marking a table */
static bool number_level(nest *n, int k, uint32_t *id) {
  const psdmp_nest_sums *s = n->sums;
  int mode = n->how->order[k];
  uint32_t rest = n->at[k + 1].count;
  size_t places = (size_t)s->options[mode] * rest;
  psdmp_base_arena scratch = {.allocator = n->arena->allocator};
  uint32_t *table = psdmp_base_arena_alloc(&scratch, places * sizeof *table), count = 0;
  if (!table) return false;
  for (uint32_t f = 0; f < s->monomials; f++) {
    id[f] += s->option[(size_t)f * (size_t)s->modes + (size_t)mode] * rest;
    table[id[f]] = 1;
  }
  for (size_t p = 0; p < places; p++)
    if (table[p]) table[p] = ++count;
  monomials *m = &n->at[k];
  *m = (monomials){count, PSDMP_BASE_NEW_RAW(n->arena, count, unsigned short),
                   PSDMP_BASE_NEW_RAW(n->arena, count, uint32_t)};
  bool ok = m->option && m->next;
  for (size_t p = 0; ok && p < places; p++)
    if (table[p]) m->option[table[p] - 1] = (unsigned short)(p / rest), m->next[table[p] - 1] = (uint32_t)(p % rest);
  for (uint32_t f = 0; f < s->monomials; f++) id[f] = table[id[f]] - 1;
  psdmp_base_arena_free(&scratch);
  return ok;
}

static bool number_monomials(nest *n) {
  int length = n->how->length;
  n->at = PSDMP_BASE_NEW_RAW(n->arena, length + 1, monomials);
  n->first = psdmp_base_arena_alloc(n->arena, (n->sums->monomials + 1) * sizeof *n->first);
  if (!n->at || !n->first) return false;
  n->at[length] = (monomials){.count = 1};
  for (int k = length - 1; k >= 0; k--)
    if (!number_level(n, k, n->first)) return false;
  return true;
}

/* ---- rows ---- */

static bool row_new(psdmp_base_arena *arena, uint32_t count, row *r) {
  *r = (row){.count = count,
             .room = count,
             .id = PSDMP_BASE_NEW_RAW(arena, count, uint32_t),
             .v = PSDMP_BASE_NEW_RAW(arena, count, double),
             .active = true};
  return r->id && r->v;
}

typedef struct entry {
  uint32_t id;
  double v;
} entry;

static int by_id(const void *a, const void *b) {
  uint32_t x = ((const entry *)a)->id, y = ((const entry *)b)->id;
  return (x > y) - (x < y);
}

/* the outputs themselves, as rows of the outermost level */
static row *output_rows(nest *n) {
  const psdmp_nest_sums *s = n->sums;
  row *rows = psdmp_base_arena_alloc(n->arena, (s->outputs + 1) * sizeof *rows);
  entry *sorted = PSDMP_BASE_NEW_RAW(n->arena, s->terms, entry);
  if (!rows || !sorted) return NULL;
  for (size_t t = 0; t < s->terms;) {
    uint32_t output = s->term[t].output, count = 0;
    for (; t < s->terms && s->term[t].output == output; t++)
      sorted[count++] = (entry){n->first[s->term[t].monomial], s->term[t].value};
    qsort(sorted, count, sizeof *sorted, by_id);
    if (!row_new(n->arena, count, &rows[output])) return NULL;
    for (uint32_t i = 0; i < count; i++) rows[output].id[i] = sorted[i].id, rows[output].v[i] = sorted[i].v;
  }
  return rows;
}

/* the largest coefficient, with its sign: a row is divided by it, so that proportional rows are equal */
static double lead_of(uint32_t count, const double *v) {
  double lead = v[0];
  for (uint32_t i = 1; i < count; i++)
    if (fabs(v[i]) > fabs(lead) * (1 + 1e-9)) lead = v[i];
  return lead;
}

static bool same_row(const row *r, uint32_t count, const uint32_t *id, const double *v, double lead) {
  if (r->count != count || memcmp(r->id, id, count * sizeof *id) != 0) return false;
  for (uint32_t i = 0; i < count; i++)
    if (fabs(r->v[i] - v[i] / lead) > 1e-12 * fabs(r->v[i])) return false;
  return true;
}

/* ---- a mode is taken out ---- */

typedef struct kids {
  row *rows;
  uint32_t count, *slot, slots;
} kids;

/* the kid that is proportional to these coefficients, made when there is none; ids are already those of the next
 * level */
static bool find_kid(nest *n, kids *k, uint32_t count, const uint32_t *id, const double *v, double lead,
                     uint32_t *kid) {
  uint64_t h = count;
  for (uint32_t i = 0; i < count; i++) h = (h ^ id[i]) * 1099511628211u;
  uint32_t at = (uint32_t)(h ^ h >> 32) & (k->slots - 1);
  for (; k->slot[at]; at = (at + 1) & (k->slots - 1)) {
    *kid = k->slot[at] - 1;
    if (same_row(&k->rows[*kid], count, id, v, lead)) return true;
  }
  *kid = k->count;
  k->slot[at] = ++k->count;
  row *r = &k->rows[*kid];
  if (!row_new(n->arena, count, r)) return false;
  memcpy(r->id, id, count * sizeof *id);
  for (uint32_t i = 0; i < count; i++) r->v[i] = v[i] / lead;
  r->size = 1;
  return true;
}

static uint32_t most_splits(const row *parents, uint32_t count, const monomials *m) {
  uint32_t splits = 0;
  for (uint32_t p = 0; p < count; p++)
    for (uint32_t i = 0; i < parents[p].count; i++)
      splits += !i || m->option[parents[p].id[i]] != m->option[parents[p].id[i - 1]];
  return splits;
}

static bool split_rows(nest *n, const monomials *m, const row *parents, level *l, kids *k) {
  uint32_t splits = most_splits(parents, l->parents, m), at = 0;
  *k = (kids){.slots = 16};
  while (k->slots < 2 * splits + 2) k->slots *= 2;
  k->rows = PSDMP_BASE_NEW_RAW(n->arena, splits, row);
  k->slot = psdmp_base_arena_alloc(n->arena, k->slots * sizeof *k->slot);
  uint32_t *id = PSDMP_BASE_NEW_RAW(n->arena, m->count, uint32_t);
  l->split = PSDMP_BASE_NEW_RAW(n->arena, splits, split);
  l->split_start = PSDMP_BASE_NEW_RAW(n->arena, l->parents + 1, uint32_t);
  if (!k->rows || !k->slot || !id || !l->split || !l->split_start) return false;
  for (uint32_t p = 0; p < l->parents; p++) {
    const row *r = &parents[p];
    l->split_start[p] = at;
    for (uint32_t i = 0, end; i < r->count; i = end) {
      unsigned short option = m->option[r->id[i]];
      for (end = i; end < r->count && m->option[r->id[end]] == option; end++) id[end - i] = m->next[r->id[end]];
      double lead = lead_of(end - i, r->v + i);
      l->split[at] = (split){.option = option, .factor = lead};
      if (!find_kid(n, k, end - i, id, r->v + i, lead, &l->split[at].kid)) return false;
      at++;
    }
  }
  l->split_start[l->parents] = at;
  l->kids = k->count;
  return true;
}

/* ---- elimination ---- */

typedef struct elimination {
  row *rows; /* (count) the kids */
  uint32_t count, columns;
  uint32_t *column_count; /* (columns) active rows with this column */
  row *bases;             /* (count) rows of U, divided by their pivots */
  uint32_t rank;
  uint32_t *id; /* (columns) scratch */
  double *v;
  struct found {
    uint32_t kid, base;
    double factor;
  } * found; /* entries of L, as they are found */
  size_t founds, found_room;
  psdmp_base_arena *arena;
} elimination;

static bool find_factor(elimination *e, uint32_t kid, double factor) {
  if (e->founds == e->found_room) {
    size_t room = e->found_room ? 2 * e->found_room : 1024;
    struct found *found = PSDMP_BASE_NEW_RAW(e->arena, room, struct found);
    if (!found) return false;
    if (e->founds) memcpy(found, e->found, e->founds * sizeof *found);
    e->found = found;
    e->found_room = room;
  }
  e->found[e->founds++] = (struct found){kid, e->rank, factor};
  return true;
}

enum { CANDIDATES = 6 }; /* shortest rows that are searched for a pivot */

static int shortest_rows(const elimination *e, uint32_t *candidate) {
  int found = 0;
  for (uint32_t i = 0; i < e->count; i++) {
    if (!e->rows[i].active) continue;
    int at = found;
    while (at > 0 && e->rows[candidate[at - 1]].count > e->rows[i].count) at--;
    if (at == CANDIDATES) continue;
    if (found < CANDIDATES) found++;
    for (int k = found - 1; k > at; k--) candidate[k] = candidate[k - 1];
    candidate[at] = i;
  }
  return found;
}

/* the pivot with the least fill, (row - 1)(column - 1), among the candidates' larger coefficients */
static bool choose_pivot(const elimination *e, const psdmp_nest_nesting *how, uint32_t *pivot_row, uint32_t *place) {
  uint32_t candidate[CANDIDATES];
  int count = shortest_rows(e, candidate);
  uint64_t best = UINT64_MAX;
  for (int c = 0; c < count; c++) {
    const row *r = &e->rows[candidate[c]];
    double largest = fabs(lead_of(r->count, r->v));
    for (uint32_t i = 0; i < r->count; i++) {
      uint64_t fill = (uint64_t)(r->count - 1) * (e->column_count[r->id[i]] - 1);
      if (fabs(r->v[i]) < how->threshold * largest || fill > best || (fill == best && !how->late)) continue;
      best = fill;
      *pivot_row = candidate[c];
      *place = i;
    }
  }
  return count > 0;
}

static bool find_column(const row *r, uint32_t id, uint32_t *place) {
  uint32_t low = 0, high = r->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (r->id[middle] < id) low = middle + 1;
    else high = middle;
  }
  *place = low;
  return low < r->count && r->id[low] == id;
}

/* r -= factor * u; what is left of a cancellation is zero, and so is the pivot's column */
static bool subtract(elimination *e, row *r, const row *u, double factor, uint32_t column) {
  uint32_t count = 0, i = 0, j = 0;
  while (i < r->count || j < u->count) {
    uint32_t a = i < r->count ? r->id[i] : UINT32_MAX, b = j < u->count ? u->id[j] : UINT32_MAX, id = a < b ? a : b;
    double x = a == id ? r->v[i++] : 0, y = b == id ? factor * u->v[j++] : 0, z = x - y;
    double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    if (a == id) e->column_count[id]--;
    if (id == column || fabs(z) <= 1e-11 * larger || fabs(z) <= 1e-14 * r->size) continue;
    e->column_count[id]++;
    e->id[count] = id;
    e->v[count++] = z;
  }
  if (count > r->room) {
    bool active = r->active;
    double size = r->size;
    if (!row_new(e->arena, count + count / 2, r)) return false;
    r->active = active, r->size = size;
  }
  r->count = count;
  r->active = count > 0;
  memcpy(r->id, e->id, count * sizeof *r->id);
  memcpy(r->v, e->v, count * sizeof *r->v);
  return true;
}

/* one step: the pivot's row becomes a base, and its column leaves all other rows */
static bool eliminate(elimination *e, uint32_t pivot_row, uint32_t place) {
  row *p = &e->rows[pivot_row], *base = &e->bases[e->rank];
  uint32_t column = p->id[place];
  double pivot = p->v[place];
  if (!find_factor(e, pivot_row, pivot)) return false;
  p->active = false;
  for (uint32_t i = 0; i < p->count; i++) {
    e->column_count[p->id[i]]--;
    p->v[i] /= pivot;
  }
  *base = *p;
  uint32_t left = e->column_count[column];
  for (uint32_t i = 0; i < e->count && left; i++) {
    row *r = &e->rows[i];
    uint32_t at;
    if (!r->active || !find_column(r, column, &at)) continue;
    double factor = r->v[at];
    left--;
    if (!find_factor(e, i, factor) || !subtract(e, r, base, factor, column)) return false;
  }
  e->rank++;
  return true;
}

/* the entries of L by kid: found ones are by base already */
static bool collect_mixes(nest *n, const elimination *e, level *l) {
  l->mix_start = psdmp_base_arena_alloc(n->arena, (l->kids + 2) * sizeof *l->mix_start);
  l->mix = PSDMP_BASE_NEW_RAW(n->arena, e->founds, mix);
  if (!l->mix_start || !l->mix) return false;
  for (size_t f = 0; f < e->founds; f++) l->mix_start[e->found[f].kid + 2]++;
  for (uint32_t k = 0; k < l->kids; k++) l->mix_start[k + 2] += l->mix_start[k + 1];
  for (size_t f = 0; f < e->founds; f++)
    l->mix[l->mix_start[e->found[f].kid + 1]++] = (mix){e->found[f].base, e->found[f].factor};
  return true;
}

static bool eliminate_rows(nest *n, const kids *k, uint32_t columns, level *l, row **bases) {
  elimination e = {.rows = k->rows, .count = k->count, .columns = columns, .arena = n->arena};
  e.column_count = psdmp_base_arena_alloc(n->arena, (columns + 1) * sizeof *e.column_count);
  e.bases = PSDMP_BASE_NEW_RAW(n->arena, k->count, row);
  e.id = PSDMP_BASE_NEW_RAW(n->arena, columns, uint32_t);
  e.v = PSDMP_BASE_NEW_RAW(n->arena, columns, double);
  if (!e.column_count || !e.bases || !e.id || !e.v) return false;
  for (uint32_t i = 0; i < e.count; i++)
    for (uint32_t t = 0; t < e.rows[i].count; t++) e.column_count[e.rows[i].id[t]]++;
  uint32_t pivot_row = 0, place = 0;
  while (choose_pivot(&e, n->how, &pivot_row, &place))
    if (!eliminate(&e, pivot_row, place)) return false;
  l->bases = e.rank;
  *bases = e.bases;
  return collect_mixes(n, &e, l);
}

static bool make_levels(nest *n) {
  row *parents = output_rows(n);
  uint32_t count = n->sums->outputs;
  n->levels = PSDMP_BASE_NEW_RAW(n->arena, n->how->length, level);
  if (!parents || !n->levels) return false;
  for (int k = 0; k < n->how->length; k++) {
    level *l = &n->levels[k];
    kids found;
    *l = (level){.mode = n->how->order[k], .parents = count};
    if (!split_rows(n, &n->at[k], parents, l, &found) || !eliminate_rows(n, &found, n->at[k + 1].count, l, &parents))
      return false;
    count = l->bases;
  }
  return true;
}

/* ---- into the graph, from the innermost level outward ---- */

/* scale * ref: scales wander outward until they meet another */
typedef struct scaled {
  psdm_ref ref;
  double scale;
} scaled;

/* constants that rounding has told apart */
typedef struct constants {
  double *value;
  uint32_t count, room;
  uint32_t *slot, slots;
} constants;

typedef struct emitter {
  psdm_graph *graph;
  bool gauge;
  constants known;
  scaled *term; /* scratch: the longest sum */
  psdmp_base_arena *arena;
} emitter;

static uint64_t cell_of(double x) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  return ((uint64_t)(exponent + 2000) << 44) + (uint64_t)ldexp(mantissa, 41);
}

static uint32_t cell_slot(const constants *k, uint64_t cell) {
  return (uint32_t)((cell * 0x9E3779B97F4A7C15u) >> 33) & (k->slots - 1);
}

static bool grow_constants(emitter *e) {
  constants *k = &e->known;
  uint32_t room = k->room ? 2 * k->room : 256;
  double *value = PSDMP_BASE_NEW_RAW(e->arena, room, double);
  uint32_t *slot = psdmp_base_arena_alloc(e->arena, 4 * (size_t)room * sizeof *slot);
  if (!value || !slot) return false;
  if (k->count) memcpy(value, k->value, k->count * sizeof *value);
  *k = (constants){value, k->count, room, slot, 4 * room};
  for (uint32_t i = 0; i < k->count; i++) {
    uint32_t at = cell_slot(k, cell_of(value[i]));
    while (slot[at]) at = (at + 1) & (k->slots - 1);
    slot[at] = i + 1;
  }
  return true;
}

/* the constant that x stands for: the first that was seen within rounding */
static double known_constant(emitter *e, double x) {
  static const double simple[] = {1, 2, 0.5};
  double size = fabs(x), sign = x < 0 ? -1 : 1;
  constants *k = &e->known;
  for (int i = 0; i < 3; i++)
    if (fabs(size - simple[i]) <= 1e-14 * size) return sign * simple[i];
  if (k->count == k->room && !grow_constants(e)) return x;
  uint64_t cell = cell_of(size);
  for (int near = -1; near <= 1; near++)
    for (uint32_t at = cell_slot(k, cell + (uint64_t)near); k->slot[at]; at = (at + 1) & (k->slots - 1))
      if (fabs(k->value[k->slot[at] - 1] - size) <= 1e-14 * size) return sign * k->value[k->slot[at] - 1];
  uint32_t at = cell_slot(k, cell);
  while (k->slot[at]) at = (at + 1) & (k->slots - 1);
  k->value[k->count] = size;
  k->slot[at] = ++k->count;
  return x;
}

static int by_ref(const void *a, const void *b) {
  psdm_ref x = ((const scaled *)a)->ref, y = ((const scaled *)b)->ref;
  return (x > y) - (x < y);
}

/* terms by node, equal nodes added up, signs in the scales */
static size_t tidy_terms(scaled *term, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (psdm_ref_negated(term[i].ref)) term[i] = (scaled){psdm_ref_neg(term[i].ref), -term[i].scale};
  qsort(term, count, sizeof *term, by_ref);
  for (size_t i = 0, end; i < count; i = end) {
    scaled sum = term[i];
    double size = fabs(sum.scale);
    for (end = i + 1; end < count && term[end].ref == sum.ref; end++) {
      sum.scale += term[end].scale;
      size += fabs(term[end].scale);
    }
    if (fabs(sum.scale) > 1e-14 * size) term[kept++] = sum;
  }
  return kept;
}

/* the scale that leaves the most coefficients one; two is an addition, and counts for something */
static double common_scale(const scaled *term, size_t count) {
  double best = 0, scale = 1;
  for (size_t i = 0; i < count; i++) {
    double x = fabs(term[i].scale), score = 0;
    for (size_t k = 0; k < count; k++) {
      double ratio = fabs(term[k].scale) / x;
      if (fabs(ratio - 1) <= 1e-13) score += 1;
      if (fabs(ratio - 2) <= 1e-13) score += 0.6;
    }
    if (score > best + 1e-9) best = score, scale = x;
  }
  return scale;
}

/* the sum of the terms in e->term */
static scaled sum_terms(emitter *e, size_t count) {
  scaled *term = e->term;
  count = tidy_terms(term, count);
  if (count == 0) return (scaled){psdm_graph_const(e->graph, 0), 0};
  if (count == 1 && e->gauge) return term[0];
  double scale = e->gauge ? common_scale(term, count) : 1;
  psdm_ref sum = psdm_graph_const(e->graph, 0);
  for (size_t i = 0; i < count; i++)
    sum = psdm_graph_add(e->graph, sum,
                         psdm_graph_scale(e->graph, known_constant(e, term[i].scale / scale), term[i].ref));
  return (scaled){sum, scale};
}

static void emit_level(emitter *e, const level *l, const psdm_ref *option, const scaled *base, scaled *kid,
                       scaled *parent) {
  for (uint32_t k = 0; k < l->kids; k++) {
    size_t count = 0;
    for (uint32_t t = l->mix_start[k]; t < l->mix_start[k + 1]; t++) {
      const scaled *b = &base[l->mix[t].base];
      e->term[count++] = (scaled){b->ref, b->scale * l->mix[t].factor};
    }
    kid[k] = sum_terms(e, count);
  }
  for (uint32_t p = 0; p < l->parents; p++) {
    size_t count = 0;
    for (uint32_t t = l->split_start[p]; t < l->split_start[p + 1]; t++) {
      const scaled *k = &kid[l->split[t].kid];
      double factor = k->scale * l->split[t].factor;
      psdm_ref ref = e->gauge ? k->ref : psdm_graph_scale(e->graph, known_constant(e, factor), k->ref);
      e->term[count++] = (scaled){psdm_graph_mul(e->graph, option[l->split[t].option], ref), e->gauge ? factor : 1};
    }
    parent[p] = sum_terms(e, count);
  }
}

/* values of the options that occur in a mode */
static psdm_ref *option_values(const nest *n, const psdmp_nest_variables *v, psdm_graph *g, int mode) {
  const psdmp_nest_sums *s = n->sums;
  psdm_ref *value = psdmp_base_arena_alloc(n->arena, (size_t)s->options[mode] * sizeof *value);
  bool *occurs = psdmp_base_arena_alloc(n->arena, (size_t)s->options[mode] * sizeof *occurs);
  if (!value || !occurs) return NULL;
  for (uint32_t f = 0; f < s->monomials; f++) occurs[s->option[(size_t)f * (size_t)s->modes + (size_t)mode]] = true;
  for (int o = 0; o < s->options[mode]; o++)
    value[o] = occurs[o] ? psdmp_nest_mode_value(v, g, mode, o) : PSDM_REF_NONE;
  return value;
}

static uint32_t longest_sum(const nest *n) {
  uint32_t longest = 1;
  for (int k = 0; k < n->how->length; k++) {
    const level *l = &n->levels[k];
    for (uint32_t p = 0; p < l->parents; p++)
      if (l->split_start[p + 1] - l->split_start[p] > longest) longest = l->split_start[p + 1] - l->split_start[p];
    for (uint32_t p = 0; p < l->kids; p++)
      if (l->mix_start[p + 1] - l->mix_start[p] > longest) longest = l->mix_start[p + 1] - l->mix_start[p];
  }
  return longest;
}

static bool emit(nest *n, const psdmp_nest_variables *v, psdm_graph *g, psdm_ref *out) {
  emitter e = {.graph = g, .gauge = n->how->gauge, .arena = n->arena};
  int length = n->how->length;
  scaled constant = {psdm_graph_const(g, 1), 1}, *value = &constant;
  e.term = PSDMP_BASE_NEW_RAW(n->arena, longest_sum(n), scaled);
  if (!e.term) return false;
  for (int k = length - 1; k >= 0; k--) {
    const level *l = &n->levels[k];
    psdm_ref *option = option_values(n, v, g, l->mode);
    scaled *kid = PSDMP_BASE_NEW_RAW(n->arena, l->kids, scaled),
           *parent = PSDMP_BASE_NEW_RAW(n->arena, l->parents, scaled);
    if (!option || !kid || !parent) return false;
    emit_level(&e, l, option, value, kid, parent);
    value = parent;
  }
  for (uint32_t i = 0; i < n->sums->outputs; i++)
    out[i] = psdm_graph_scale(g, known_constant(&e, value[i].scale), value[i].ref);
  /* without room for its constants the code would be another */
  return !n->arena->failed && psdm_graph_status(g) == PSDM_OK;
}

/* polynomials without any variable are numbers */
static bool emit_numbers(const psdmp_nest_sums *s, psdm_graph *g, psdm_ref *out) {
  for (uint32_t i = 0; i < s->outputs; i++) out[i] = psdm_graph_const(g, 0);
  for (size_t t = 0; t < s->terms; t++) out[s->term[t].output] = psdm_graph_const(g, s->term[t].value);
  return psdm_graph_status(g) == PSDM_OK;
}

bool psdmp_nest_build(const psdmp_nest_sums *sums, const psdmp_nest_variables *v, const psdmp_nest_nesting *how,
                      const psdm_allocator *allocator, psdm_graph *graph, psdm_ref *out) {
  psdmp_base_arena arena = {.allocator = allocator};
  nest n = {.sums = sums, .how = how, .arena = &arena};
  bool ok =
      how->length ? number_monomials(&n) && make_levels(&n) && emit(&n, v, graph, out) : emit_numbers(sums, graph, out);
  psdmp_base_arena_free(&arena);
  return ok;
}
