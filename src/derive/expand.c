/* expand.c: every coefficient of the dynamics, by one walk over the tree.
 *
 * With a, b, c on the path to body k (a before b before c), D the mass matrix of body k and commas for derivatives:
 *   D_ij           starts at body j from joint i's twist there, and passes outward through Lambda
 *   D_aa,c         = D_aa (of c's parent) dLambda_c:   qd_a qd_c in torque a, -1/2 qd_a^2 in torque c
 *   D_ab,b         = the derivative of D_ab at body b: qd_b^2 in torque a
 *   S = D_ab,c + D_ac,b:                               qd_b qd_c in torque a
 *   N = D_ab,c - D_ac,b:                               qd_a qd_c in torque b, and its negative qd_a qd_b in torque c
 * since D_bc does not depend on q_a. Gravity: torque i is U,i; U starts as -g over the base's first moments. */
#include <math.h>
#include <string.h>

#include "derive/expand_priv.h"

/* ---- memory ---- */

typedef struct psdmp_derive_pool_chunk {
  struct psdmp_derive_pool_chunk *next;
  uint64_t *begin;
} psdmp_derive_pool_chunk;

enum { CHUNK_WORDS = 32 * 1024, RECORD_WORDS = 2 + PSDMP_ROBOT_STANDARD };

size_t psdmp_derive_limit(const psdm_robot *r, const psdm_derive_options *o) {
  return psdmp_base_memory_limit(o && o->memory ? o->memory : r->memory);
}

psdm_status psdmp_derive_ask(const psdm_robot *r, double need, size_t limit, psdm_error *error) {
  char what[64];
  psdmp_base_print(what, sizeof what, "the closed form of these %d joints", r->bodies);
  return psdmp_base_memory_ask(r->file, what, need, limit, "; recursions and base parameters need no closed form",
                               error);
}

static void *raw(psdmp_derive_pool *pool, size_t bytes) {
  pool->beyond |= !pool->failed && bytes > pool->limit - pool->bytes;
  pool->failed |= pool->beyond;
  void *memory = pool->failed ? NULL : psdmp_base_alloc_raw(pool->allocator, bytes);
  pool->failed |= !memory;
  pool->bytes += memory ? bytes : 0;
  return memory;
}

static bool grow(psdmp_derive_pool *pool) {
  psdmp_derive_pool_chunk *chunk = raw(pool, sizeof *chunk + CHUNK_WORDS * sizeof(uint64_t));
  if (!chunk) return false;
  *chunk = (psdmp_derive_pool_chunk){pool->chunks, (uint64_t *)(void *)(chunk + 1)};
  pool->chunks = chunk;
  pool->at = chunk->begin;
  pool->end = chunk->begin + CHUNK_WORDS;
  return true;
}

void psdmp_derive_pool_free(psdmp_derive_pool *pool) {
  while (pool->chunks) {
    psdmp_derive_pool_chunk *next = pool->chunks->next;
    psdmp_base_free(pool->allocator, pool->chunks);
    pool->chunks = next;
  }
}

void psdmp_derive_pool_rewind(psdmp_derive_pool *pool) {
  if (pool->chunks) pool->at = pool->chunks->begin;
}

/* ---- building a list ---- */

typedef psdmp_derive_builder builder;

/* room for one record of the largest kind at pool->at; NULL when out of memory */
static inline uint64_t *reserve(builder *b) {
  psdmp_derive_pool *pool = &b->e->pool;
  if (b->last && pool->end - pool->at >= RECORD_WORDS) return pool->at;
  const size_t words = (sizeof(psdmp_derive_segment) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  if ((size_t)(pool->end - pool->at) < words + RECORD_WORDS && !grow(pool)) return NULL;
  psdmp_derive_segment *segment = (psdmp_derive_segment *)(void *)pool->at;
  pool->at += words;
  *segment = (psdmp_derive_segment){NULL, pool->at, pool->at};
  if (b->last) b->last->next = segment;
  else b->rows.first = segment;
  b->last = segment;
  return pool->at;
}

/* appends the entries of row above rounding level; nothing if there are none */
static inline void append(builder *b, uint64_t code, const double row[10], unsigned candidates) {
  uint64_t *record = reserve(b);
  if (!record) return;
  double *value = (double *)(void *)(record + 2);
  unsigned mask = 0;
  int count = 0;
  for (unsigned left = candidates; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    double size = fabs(row[i]);
    if (size > PSDMP_DERIVE_ROUNDING) {
      mask |= 1u << i;
      value[count++] = row[i];
    } else if (size > b->e->largest_dropped) {
      b->e->largest_dropped = size;
    }
  }
  if (!count) return;
  record[0] = code;
  record[1] = mask | (uint64_t)count << 16;
  b->e->pool.at = b->last->end = record + 2 + count;
  if (!b->rows.count || code < b->rows.low) b->rows.low = code;
  if (code > b->rows.high) b->rows.high = code;
  b->rows.count++;
  b->rows.entries += count;
}

void psdmp_derive_append(psdmp_derive_builder *b, uint64_t code, const double row[10]) { append(b, code, row, 0x3FF); }

/* ---- passing outward: rows times sum basis_b M_b ---- */

void psdmp_derive_passage_set(psdmp_derive_passage *p, int count, double M[PSDMP_DERIVE_BASIS][100]) {
  p->count = count;
  for (int b = 0; b < count; b++)
    for (int i = 0; i < 10; i++) {
      psdmp_derive_sparse *s = &p->M[b];
      s->reach[i] = s->count[i] = 0;
      for (int j = 0; j < 10; j++) {
        s->dense[i][j] = M[b][10 * i + j];
        if (M[b][10 * i + j] == 0) continue;
        s->column[i][s->count[i]] = (unsigned char)j;
        s->value[i][s->count[i]++] = M[b][10 * i + j];
        s->reach[i] |= 1u << j;
      }
    }
}

psdmp_derive_rows psdmp_derive_pass(psdmp_derive_expansion *e, const psdmp_derive_rows *in,
                                    const psdmp_derive_passage *p, uint64_t digit) {
  builder out = {.e = e};
  PSDMP_DERIVE_EACH (in, segment, record) {
    const double *value = psdmp_derive_record_values(record);
    for (int b = 0; b < p->count; b++) {
      const psdmp_derive_sparse *s = &p->M[b];
      double row[10] = {0};
      unsigned reached = 0;
      int k = 0;
      for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1, k++) {
        int i = __builtin_ctz(left);
        if (s->count[i] > 5) /* nearly full: the plain loop is faster than selecting entries */
          for (int t = 0; t < 10; t++) row[t] += value[k] * s->dense[i][t];
        else
          for (int t = 0; t < s->count[i]; t++) row[s->column[i][t]] += value[k] * s->value[i][t];
        reached |= s->reach[i];
      }
      if (reached) append(&out, record[0] + (uint64_t)b * digit, row, reached);
    }
  }
  return out.rows;
}

/* ---- twists: multilinear, six numbers each, also stored as rows ---- */

psdmp_derive_rows psdmp_derive_pass_twist(psdmp_derive_expansion *e, const psdmp_derive_rows *in,
                                          const psdmp_derive_joint_maps *maps, bool prismatic, uint64_t digit) {
  builder out = {.e = e};
  PSDMP_DERIVE_EACH (in, segment, record) {
    const double *value = psdmp_derive_record_values(record);
    double full[6] = {0};
    int k = 0;
    for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1)
      full[__builtin_ctz(left)] = value[k++];
    for (int b = 0; b < (prismatic ? 2 : 3); b++) {
      double row[10] = {0};
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) row[i] += maps->Ad[b][6 * i + j] * full[j];
      append(&out, record[0] + (uint64_t)b * digit, row, 0x3F);
    }
  }
  return out.rows;
}

/* D_ij at body j: joint i's twist there with joint j's own */
psdmp_derive_rows psdmp_derive_start_mass(psdmp_derive_expansion *e, const psdmp_derive_rows *twist,
                                          const double own[6]) {
  builder out = {.e = e};
  PSDMP_DERIVE_EACH (twist, segment, record) {
    const double *value = psdmp_derive_record_values(record);
    double full[6] = {0}, row[10];
    int k = 0;
    for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1)
      full[__builtin_ctz(left)] = value[k++];
    psdmp_derive_inertia_row(full, own, row);
    append(&out, record[0], row, 0x3FF);
  }
  return out.rows;
}

/* derivative in a joint of degree one: s -> c, c -> -s, q -> 1 */
psdmp_derive_rows psdmp_derive_linear(psdmp_derive_expansion *e, const psdmp_derive_rows *in, bool prismatic,
                                      uint64_t digit) {
  builder out = {.e = e};
  PSDMP_DERIVE_EACH (in, segment, record) {
    int d = (int)(record[0] / digit % 5);
    if (!d) continue;
    const double *value = psdmp_derive_record_values(record);
    double row[10] = {0}, sign = !prismatic && d == 2 ? -1 : 1;
    uint64_t code = record[0] - (uint64_t)d * digit + (prismatic ? 0 : d == 1 ? 2 : 1) * digit;
    int k = 0;
    for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1)
      row[__builtin_ctz(left)] = sign * value[k++];
    append(&out, code, row, psdmp_derive_record_mask(record));
  }
  return out.rows;
}

/* ---- S = X + Y and N = X - Y, matched by code ---- */

typedef struct table {
  uint64_t **slot; /* records by hash of their code, NULL where free */
  size_t size;     /* a power of two */
} table;

static inline size_t place(const table *t, uint64_t code) {
  return (size_t)((code * 0x9E3779B97F4A7C15u) >> 32) & (t->size - 1);
}

static bool fill_table(psdmp_derive_expansion *e, const psdmp_derive_rows *rows, table *t) {
  size_t need = 2 * (size_t)rows->count + 8;
  if (need > t->size) {
    size_t size = 64;
    while (size < need) size *= 2;
    t->slot = psdmp_base_arena_alloc(&e->arena, size * sizeof *t->slot);
    t->size = t->slot ? size : 0;
    if (!t->slot) {
      e->pool.failed = true;
      return false;
    }
  } else {
    memset(t->slot, 0, t->size * sizeof *t->slot);
  }
  PSDMP_DERIVE_EACH (rows, segment, record) {
    size_t at = place(t, record[0]);
    while (t->slot[at]) at = (at + 1) & (t->size - 1);
    t->slot[at] = record;
  }
  return true;
}

/* removes the record of that code from the table; NULL if there is none. A removed slot keeps its chain by a mark. */
static inline uint64_t *take(table *t, uint64_t code, uint64_t *mark) {
  for (size_t at = place(t, code); t->slot[at]; at = (at + 1) & (t->size - 1))
    if (t->slot[at] != mark && t->slot[at][0] == code) {
      uint64_t *record = t->slot[at];
      t->slot[at] = mark;
      return record;
    }
  return NULL;
}

static inline void scatter(const uint64_t *record, double sign, double row[10]) {
  const double *value = psdmp_derive_record_values(record);
  for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1)
    row[__builtin_ctz(left)] += sign * *value++;
}

/* one of the two combinations; called twice, so that each list is contiguous */
static psdmp_derive_rows combine(psdmp_derive_expansion *e, const psdmp_derive_rows *X, const psdmp_derive_rows *Y,
                                 double sign, table *t) {
  builder out = {.e = e};
  uint64_t mark[1] = {0};
  if (!fill_table(e, Y, t)) return out.rows;
  PSDMP_DERIVE_EACH (X, segment, record) {
    double row[10] = {0};
    unsigned mask = psdmp_derive_record_mask(record);
    uint64_t *other = take(t, record[0], mark);
    scatter(record, 1, row);
    if (other) {
      scatter(other, sign, row);
      mask |= psdmp_derive_record_mask(other);
    }
    append(&out, record[0], row, mask);
  }
  for (size_t at = 0; at < t->size; at++) {
    if (!t->slot[at] || t->slot[at] == mark) continue;
    double row[10] = {0};
    scatter(t->slot[at], sign, row);
    append(&out, t->slot[at][0], row, psdmp_derive_record_mask(t->slot[at]));
  }
  return out.rows;
}

/* ---- the walk ---- */

typedef struct walk {
  const psdm_robot *robot;
  psdmp_derive_expansion *e;
  const uint64_t *digit;
  table merge;
} walk;

static bool new_level(walk *w, const psdmp_derive_level *parent, int body, psdmp_derive_level *k) {
  size_t d = parent ? (size_t)parent->depth + 1 : 1;
  psdmp_base_arena *arena = &w->e->arena;
  int *path = psdmp_base_arena_alloc(arena, d * sizeof *path);
  *k = (psdmp_derive_level){.body = body, .depth = (int)d, .path = path};
  k->twist = psdmp_base_arena_alloc(arena, d * sizeof *k->twist);
  k->mass = psdmp_base_arena_alloc(arena, d * d * sizeof *k->mass);
  k->gravity = psdmp_base_arena_alloc(arena, d * sizeof *k->gravity);
  k->self = psdmp_base_arena_alloc(arena, d * d * sizeof *k->self);
  k->sum = psdmp_base_arena_alloc(arena, d * d * d * sizeof *k->sum);
  k->difference = psdmp_base_arena_alloc(arena, d * d * d * sizeof *k->difference);
  if (!path || !k->twist || !k->mass || !k->gravity || !k->self || !k->sum || !k->difference) return false;
  for (size_t i = 0; i + 1 < d; i++) path[i] = parent->path[i];
  path[d - 1] = body;
  return true;
}

void psdmp_derive_emit(psdmp_derive_expansion *e, const psdmp_derive_term *term) {
  if (!term->rows.count) return;
  if (!psdmp_base_arena_room(&e->arena, &e->term, e->terms, 1, &e->room, sizeof *term)) e->pool.failed = true;
  else e->term[e->terms++] = *term;
}

/* makes a polynomial of this body part of the answer */
static void emit(walk *w, const psdmp_derive_rows *rows, int first, int second, int torque, int body, double scale) {
  psdmp_derive_emit(w->e, &(psdmp_derive_term){*rows, first, second, torque, body, scale});
}

/* all polynomials of a body, from its parent's and its own joint */
static void fill_level(walk *w, const psdmp_derive_level *parent, const psdmp_derive_rows *base, psdmp_derive_level *k,
                       const psdmp_derive_joint_maps *maps) {
  psdmp_derive_expansion *e = w->e;
  static const psdmp_derive_rows none = {NULL, 0, 0, 0, 0};
  psdmp_derive_passage P, dP;
  uint64_t digit = w->digit[k->body];
  bool prismatic = w->robot->body[k->body].prismatic;
  int d = k->depth, c = d - 1, D = parent ? parent->depth : 0;
  psdmp_derive_passage_set(&P, maps->count, (double(*)[100])maps->L);
  psdmp_derive_passage_set(&dP, maps->count, (double(*)[100])maps->dL);

  /* joints' twists and the new column of the mass matrix */
  for (int i = 0; i < D; i++) {
    k->twist[i] = psdmp_derive_pass_twist(e, &parent->twist[i], maps, prismatic, digit);
    k->mass[i * d + c] = psdmp_derive_start_mass(e, &k->twist[i], maps->twist);
  }
  builder own = {.e = e};
  double row[10] = {0};
  memcpy(row, maps->twist, sizeof maps->twist);
  append(&own, 0, row, 0x3F);
  k->twist[c] = own.rows;
  k->mass[c * d + c] = psdmp_derive_start_mass(e, &own.rows, maps->twist);

  /* existing lists pass outward */
  const psdmp_derive_rows *potential = parent ? &parent->potential : base;
  k->potential = psdmp_derive_pass(e, potential, &P, digit);
  k->gravity[c] = psdmp_derive_pass(e, potential, &dP, digit);
  for (int a = 0; a < D; a++) {
    k->gravity[a] = psdmp_derive_pass(e, &parent->gravity[a], &P, digit);
    for (int b = a; b < D; b++) {
      k->mass[a * d + b] = psdmp_derive_pass(e, &parent->mass[a * D + b], &P, digit);
      if (b > a) {
        k->self[a * d + b] = psdmp_derive_pass(e, &parent->self[a * D + b], &P, digit);
        k->self[b * d + a] = psdmp_derive_pass(e, &parent->self[b * D + a], &P, digit);
      }
      for (int m = b + 1; b > a && m < D; m++) {
        k->sum[(a * d + b) * d + m] = psdmp_derive_pass(e, &parent->sum[(a * D + b) * D + m], &P, digit);
        k->difference[(a * d + b) * d + m] = psdmp_derive_pass(e, &parent->difference[(a * D + b) * D + m], &P, digit);
      }
    }
  }

  /* derivatives in the new joint */
  for (int a = 0; a < D; a++) {
    k->self[a * d + c] = psdmp_derive_pass(e, &parent->mass[a * D + a], &dP, digit);
    k->self[c * d + a] = psdmp_derive_linear(e, &k->mass[a * d + c], prismatic, digit);
    for (int b = a + 1; b < D; b++) {
      psdmp_derive_rows X = psdmp_derive_pass(e, &parent->mass[a * D + b], &dP, digit);
      psdmp_derive_rows Y =
          psdmp_derive_linear(e, &k->mass[a * d + c], w->robot->body[k->path[b]].prismatic, w->digit[k->path[b]]);
      k->sum[(a * d + b) * d + c] = X.count || Y.count ? combine(e, &X, &Y, 1, &w->merge) : none;
      k->difference[(a * d + b) * d + c] = X.count || Y.count ? combine(e, &X, &Y, -1, &w->merge) : none;
    }
  }
}

static void emit_level(walk *w, const psdmp_derive_level *k) {
  const int *at = k->path;
  int d = k->depth;
  for (int a = 0; a < d; a++) {
    emit(w, &k->gravity[a], -1, -1, at[a], k->body, 1);
    for (int b = a; b < d; b++) {
      const psdmp_derive_rows *D = &k->mass[a * d + b];
      emit(w, D, at[b], -1, at[a], k->body, 1);
      if (b == a) continue;
      emit(w, D, at[a], -1, at[b], k->body, 1);
      emit(w, &k->self[a * d + b], at[a], at[b], at[a], k->body, 1);
      emit(w, &k->self[a * d + b], at[a], at[a], at[b], k->body, -0.5);
      emit(w, &k->self[b * d + a], at[b], at[b], at[a], k->body, 1);
      for (int c = b + 1; c < d; c++) {
        const psdmp_derive_rows *S = &k->sum[(a * d + b) * d + c], *N = &k->difference[(a * d + b) * d + c];
        emit(w, S, at[b], at[c], at[a], k->body, 1);
        emit(w, N, at[a], at[c], at[b], k->body, 1);
        emit(w, N, at[a], at[b], at[c], k->body, -1);
      }
    }
  }
}

double psdmp_derive_unit_length(double length) {
  int exponent;
  if (!(length > 1e-100) || !isfinite(length)) return 1;
  return frexp(length, &exponent) < 0.70710678118654752 ? ldexp(1, exponent - 1) : ldexp(1, exponent);
}

static double length(const double x[3]) { return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

/* displacement of a joint that follows revolute ones, at rest and for a radian of each */
static double slides(const psdm_robot *r, int b) {
  double sum = r->body[b].prismatic && r->coupled ? fabs(r->c[b]) : 0;
  for (int j = 0; j < r->joints && r->coupled && r->body[b].prismatic; j++)
    for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++)
      if (r->joint[j].q == r->g_col[e] && r->joint[j].type != PSDM_PRISMATIC) sum += fabs(r->g_val[e]);
  return sum;
}

/* largest radius of gyration about a joint, of the known bodies */
static double gyration(const psdm_robot *r) {
  double most = 0;
  for (int b = 0; b < r->bodies; b++) {
    /* m, first moments, XX XY XZ YY YZ ZZ */
    const double *pi = r->body[b].pi, square = 0.5 * (pi[4] + pi[7] + pi[9]) / pi[0];
    if (pi[0] > 0 && square > 0 && isfinite(square)) most = fmax(most, sqrt(square));
  }
  return most;
}

/* Longest path from the base to any link frame or joint: the unit of length of the coefficients. Offsets that are small
 * beside the bodies, or negligible (1e-12 m in a wrist whose axes meet), do not count. */
double psdmp_derive_reach(const psdm_robot *r, psdmp_base_arena *arena) {
  double *to = psdmp_base_arena_alloc(arena, (size_t)r->bodies * sizeof *to), longest = 0, size = gyration(r);
  for (int b = 0; to && b < r->bodies; b++) {
    const psdmp_robot_pose *joint = &r->body[b].joint, *link = &r->link[r->body[b].index].frame;
    /* the base's own position moves nothing */
    to[b] = (r->body[b].parent < 0 ? 0 : to[r->body[b].parent] + length(joint->p)) + slides(r, b);
    longest = fmax(longest, to[b] + length(link->p));
  }
  if (longest < 0.1 * size) longest = size;
  return longest > 1e-9 ? psdmp_derive_unit_length(longest) : 1;
}

/* the potential of a unit gravity before any joint: -g over the base's first moments */
static psdmp_derive_rows start_potential(psdmp_derive_expansion *e, const double g[3]) {
  builder out = {.e = e};
  double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), row[10] = {0};
  for (int i = 0; i < 3 && size > 0; i++) row[1 + i] = fabs(g[i]) > 1e-15 * size ? -g[i] / size : 0;
  append(&out, 0, row, 0xE);
  return out.rows;
}

enum { TELLING = 4000000 }; /* bytes of records from which their further growth can be estimated well */

/* after `done` levels: whether everything will fit. Asked as soon as the records allow an estimate and it is in doubt,
 * and when the limit is exceeded. */
static psdm_status ask(walk *w, const psdmp_derive_rows *base, const psdmp_derive_level *levels, int done,
                       psdm_error *error) {
  const psdmp_derive_expansion *e = w->e;
  double left = w->robot->bodies - done, limit = (double)e->pool.limit;
  bool small = e->pool.bytes < TELLING || (double)e->pool.bytes * pow(8, left) < limit;
  if (!e->pool.beyond && (small || left == 0)) return PSDM_OK;
  double need = psdmp_derive_expand_estimate(w->robot, w->digit, e, base, levels, done);
  if (e->pool.beyond) need = fmax(need, 1.01 * limit);
  /* the estimate was up to a quarter too large for two more joints (planar chains); this margin prevents false
   * refusals */
  if (!e->pool.beyond && need < limit * fmin(2, 1 + left / 4)) return PSDM_OK;
  return psdmp_derive_ask(w->robot, need, e->pool.limit, error);
}

psdm_status psdmp_derive_expand(const psdm_robot *r, const uint64_t *digit, const psdm_derive_options *o,
                                const psdm_allocator *allocator, psdmp_derive_expansion *e, psdm_error *error) {
  *e = (psdmp_derive_expansion){.pool = {.allocator = allocator, .limit = psdmp_derive_limit(r, o)},
                                .arena = {.allocator = allocator}};
  walk w = {.robot = r, .e = e, .digit = digit};
  psdmp_derive_level *levels = psdmp_base_arena_alloc(&e->arena, (size_t)r->bodies * sizeof *levels);
  psdmp_derive_joint_maps *maps = psdmp_base_arena_alloc(&e->arena, sizeof *maps);
  e->reach = psdmp_derive_reach(r, &e->arena);
  psdmp_derive_rows base = start_potential(e, r->gravity);
  bool ok = levels && maps && !e->arena.failed;
  for (int b = 0; b < r->bodies && ok && !e->pool.failed; b++) {
    const psdmp_derive_level *parent = r->body[b].parent < 0 ? NULL : &levels[r->body[b].parent];
    ok = new_level(&w, parent, b, &levels[b]);
    if (!ok) break;
    psdmp_derive_joint_maps_set(r, b, e->reach, maps);
    fill_level(&w, parent, &base, &levels[b], maps);
    if (!e->pool.beyond) emit_level(&w, &levels[b]);
    psdm_status status = ask(&w, &base, levels, e->pool.beyond ? b : b + 1, error);
    if (status) return status;
    if (o && o->progress && !o->progress(o->progress_user, "deriving", (double)(b + 1) / r->bodies))
      return psdmp_base_fail(error, PSDM_E_STOPPED, r->file, 0, 0, "stopped while deriving");
  }
  /* before the first joint */
  if (e->pool.beyond) return psdmp_derive_ask(r, 2 * (double)e->pool.limit, e->pool.limit, error);
  return ok && !e->pool.failed ? PSDM_OK : psdmp_base_no_memory(r->file, error);
}

void psdmp_derive_expansion_free(psdmp_derive_expansion *e) {
  psdmp_derive_pool_free(&e->pool);
  psdmp_base_arena_free(&e->arena);
}
