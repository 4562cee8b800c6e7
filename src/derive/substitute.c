/* substitute.c: a coupled robot's terms in its independent joints. Inserts q_tree = G q + c into every monomial: sines
 * and cosines of sums are expanded (exact for integer factors), products are reduced by s s = 1 - c c, accelerations
 * and velocities follow G, torques G^T. Terms that cancel are removed: a planar parallelogram keeps eight parameters
 * where its free tree has twelve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"

enum { MOST_MONOMIALS = 4096 };

/* a polynomial in the independent joints: codes and coefficients */
typedef struct poly {
  int count;
  uint64_t code[MOST_MONOMIALS];
  double value[MOST_MONOMIALS];
} poly;

typedef struct substitution {
  const psdm_robot *robot;
  psdm_model *m;
  psdmp_derive_expansion *e;
  poly *digit;           /* (bodies x 5) each digit of each tree joint */
  poly *product, *other; /* of the current monomial */
  poly *angle[2];        /* cosine and sine of the angle being added */
  bool overflow;
} substitution;

static int digit_of(const psdm_model *m, uint64_t code, int j) {
  return (int)(code / m->weight[j] % (uint64_t)m->radix[j]);
}

static void add_monomial(poly *p, uint64_t code, double value, bool *overflow) {
  for (int i = 0; i < p->count; i++)
    if (p->code[i] == code) {
      p->value[i] += value;
      return;
    }
  if (p->count == MOST_MONOMIALS) {
    *overflow = true;
    return;
  }
  p->code[p->count] = code;
  p->value[p->count++] = value;
}

/* out += value * (a b), joint by joint from j on: exponents add, and sin^2 becomes 1 - cos^2 */
static void multiply_codes(substitution *s, uint64_t a, uint64_t b, double value, int j, uint64_t code, poly *out) {
  const psdm_model *m = s->m;
  for (; j < m->n; j++) {
    int x = digit_of(m, a, j), y = digit_of(m, b, j);
    int sum = x + y;
    if (m->prismatic[j] || !(x % 2 && y % 2)) {
      code += (uint64_t)sum * m->weight[j];
      continue;
    }
    /* 2c + s on both sides: s s = 1 - c c leaves 2c, and minus 2(c + 2) */
    multiply_codes(s, a, b, -value, j + 1, code + (uint64_t)(sum + 2) * m->weight[j], out);
    code += (uint64_t)(sum - 2) * m->weight[j];
  }
  add_monomial(out, code, value, &s->overflow);
}

static void multiply(substitution *s, const poly *a, const poly *b, poly *out) {
  out->count = 0;
  for (int i = 0; i < a->count; i++)
    for (int k = 0; k < b->count; k++) multiply_codes(s, a->code[i], b->code[k], a->value[i] * b->value[k], 0, 0, out);
}

static void add_scaled(substitution *s, poly *to, const poly *from, double factor) {
  for (int i = 0; i < from->count; i++) add_monomial(to, from->code[i], factor * from->value[i], &s->overflow);
}

static void drop_zeros(poly *p) {
  int left = 0;
  for (int i = 0; i < p->count; i++)
    if (fabs(p->value[i]) > 1e-15) {
      p->code[left] = p->code[i];
      p->value[left++] = p->value[i];
    }
  p->count = left;
}

/* ---- each tree joint's digits ---- */

/* sin and cos of c + sum G q by adding one angle at a time */
static psdm_status set_turn(substitution *s, int b, psdm_error *error) {
  const psdm_robot *r = s->robot;
  poly *sine = &s->digit[5 * b + 1], *cosine = &s->digit[5 * b + 2], *t = s->product, *u = s->other;
  psdmp_robot_pose start = psdmp_robot_pose_rotation(2, r->c[b]);
  sine->count = cosine->count = 0;
  add_monomial(sine, 0, start.R[3], &s->overflow);
  add_monomial(cosine, 0, start.R[0], &s->overflow);
  for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) {
    int j = r->g_col[g];
    double factor = r->g_val[g], whole = round(factor);
    if (s->m->prismatic[j] || fabs(factor - whole) > 1e-12 || fabs(whole) > 8)
      return psdmp_base_fail(
          error, PSDM_E_ROBOT, r->file, 0, 0,
          "joint '%s' follows another with factor %g; a closed form needs whole factors of turning joints (up to 8)",
          r->joint[r->body[b].index].name, factor);
    double sign = whole < 0 ? -1 : 1;
    poly *c = s->angle[0], *sn = s->angle[1];
    c->count = sn->count = 1;
    c->code[0] = 2 * s->m->weight[j], c->value[0] = 1;
    sn->code[0] = s->m->weight[j], sn->value[0] = sign;
    for (int k = 0; k < (int)fabs(whole); k++) {
      poly *next_s = t, *next_c = u, *scratch = &s->digit[5 * b + 3];
      multiply(s, sine, c, next_s);
      multiply(s, cosine, sn, scratch);
      add_scaled(s, next_s, scratch, 1);
      multiply(s, cosine, c, next_c);
      multiply(s, sine, sn, scratch);
      add_scaled(s, next_c, scratch, -1);
      drop_zeros(next_s);
      drop_zeros(next_c);
      *sine = *next_s;
      *cosine = *next_c;
    }
  }
  multiply(s, sine, cosine, &s->digit[5 * b + 3]);
  multiply(s, cosine, cosine, &s->digit[5 * b + 4]);
  return PSDM_OK;
}

static psdm_status set_slide(substitution *s, int b, psdm_error *error) {
  const psdm_robot *r = s->robot;
  poly *x = &s->digit[5 * b + 1];
  x->count = 0;
  add_monomial(x, 0, r->c[b] / s->e->reach, &s->overflow);
  for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++) {
    int j = r->g_col[g];
    if (!s->m->prismatic[j])
      return psdmp_base_fail(
          error, PSDM_E_ROBOT, r->file, 0, 0,
          "joint '%s' slides with a turning joint; a closed form in sines and cosines does not exist",
          r->joint[r->body[b].index].name);
    add_monomial(x, s->m->weight[j], r->g_val[g], &s->overflow);
  }
  drop_zeros(x);
  multiply(s, x, x, &s->digit[5 * b + 2]);
  return PSDM_OK;
}

/* ---- accumulating rows by (class, torque, body, code) ---- */

typedef struct key {
  int first, second, torque, body;
  uint64_t code;
  double row[PSDMP_ROBOT_STANDARD];
} key;

typedef struct keys {
  key *item;
  long count, room;
  long *slot; /* hash to item, -1 free */
  long slots;
  size_t bytes, limit; /* allocated, the terms included, and limit */
  double beyond;       /* bytes needed, if that is more */
} keys;

static uint64_t hash(const key *k) {
  uint64_t h = k->code * 0x9E3779B97F4A7C15u;
  h ^= (uint64_t)(k->first + 1) * 0xBF58476D1CE4E5B9u + (uint64_t)(k->second + 1) * 0x94D049BB133111EBu;
  h ^= (uint64_t)k->torque * 0xD6E8FEB86659FD93u + (uint64_t)k->body * 0xA0761D6478BD642Fu;
  return h ^ (h >> 29);
}

static bool same(const key *a, const key *b) {
  return a->code == b->code && a->first == b->first && a->second == b->second && a->torque == b->torque &&
         a->body == b->body;
}

static bool grow_keys(keys *t, psdmp_base_arena *arena) {
  long room = t->room ? 2 * t->room : 1024, slots = 4 * room;
  double need = (double)t->bytes + (double)room * (sizeof(key) + 4.0 * sizeof(long));
  t->beyond = need > (double)t->limit ? need : 0;
  if (t->beyond > 0) return false;
  key *item = psdmp_base_arena_alloc(arena, (size_t)room * sizeof *item);
  long *slot = psdmp_base_arena_alloc(arena, (size_t)slots * sizeof *slot);
  if (!item || !slot) return false;
  if (t->count) memcpy(item, t->item, (size_t)t->count * sizeof *item);
  for (long i = 0; i < slots; i++) slot[i] = -1;
  for (long i = 0; i < t->count; i++) {
    long at = (long)(hash(&item[i]) % (uint64_t)slots);
    while (slot[at] >= 0) at = (at + 1) % slots;
    slot[at] = i;
  }
  t->bytes = (size_t)need;
  t->item = item, t->room = room;
  t->slot = slot, t->slots = slots;
  return true;
}

/* the row of a key, created if new; NULL when out of memory */
static double *row_of(keys *t, const key *k, psdmp_base_arena *arena) {
  if (t->count == t->room && !grow_keys(t, arena)) return NULL;
  long at = (long)(hash(k) % (uint64_t)t->slots);
  for (; t->slot[at] >= 0; at = (at + 1) % t->slots)
    if (same(&t->item[t->slot[at]], k)) return t->item[t->slot[at]].row;
  t->slot[at] = t->count;
  t->item[t->count] = *k;
  return t->item[t->count++].row;
}

/* the monomial of a tree code as a polynomial in s->product */
static void expand_code(substitution *s, uint64_t code, const uint64_t *tree_digit) {
  s->product->count = 1;
  s->product->code[0] = 0;
  s->product->value[0] = 1;
  for (int b = 0; b < s->robot->bodies; b++) {
    int d = (int)(code / tree_digit[b] % 5);
    if (!d) continue;
    multiply(s, s->product, &s->digit[5 * b + d], s->other);
    drop_zeros(s->other);
    poly *swap = s->product;
    s->product = s->other;
    s->other = swap;
  }
}

/* shares of a tree joint's rate in the independent joints; gravity and single rates have one empty share */
typedef struct shares {
  int count;
  int joint[PSDMP_DERIVE_JOINTS];
  double factor[PSDMP_DERIVE_JOINTS];
} shares;

static shares shares_of(const psdm_robot *r, int body) {
  shares s = {0, {0}, {0}};
  if (body < 0) return (shares){1, {-1}, {1}};
  for (int g = r->g_row[body]; g < r->g_row[body + 1]; g++) {
    s.joint[s.count] = r->g_col[g];
    s.factor[s.count++] = r->g_val[g];
  }
  return s;
}

/* adds one record to every class and torque that it reaches */
static bool spread(substitution *s, keys *t, const psdmp_derive_term *term, const uint64_t *record,
                   psdmp_base_arena *arena) {
  shares first = shares_of(s->robot, term->first), second = shares_of(s->robot, term->second),
         torque = shares_of(s->robot, term->torque);
  for (int a = 0; a < first.count; a++)
    for (int b = 0; b < second.count; b++)
      for (int i = 0; i < torque.count; i++)
        for (int k = 0; k < s->product->count; k++) {
          int x = first.joint[a], y = second.joint[b];
          bool ordered = y < 0 || x <= y;
          key at = {.first = ordered ? x : y,
                    .second = ordered ? y : x,
                    .torque = torque.joint[i],
                    .body = term->body,
                    .code = s->product->code[k]};
          double *row = row_of(t, &at, arena),
                 factor = term->scale * first.factor[a] * second.factor[b] * torque.factor[i] * s->product->value[k];
          if (!row) return false;
          const double *value = psdmp_derive_record_values(record);
          for (unsigned left = psdmp_derive_record_mask(record); left; left &= left - 1)
            row[__builtin_ctz(left)] += factor * *value++;
        }
  return true;
}

static int compare_keys(const void *a, const void *b) {
  const key *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  if (x->second != y->second) return x->second < y->second ? -1 : 1;
  if (x->torque != y->torque) return x->torque < y->torque ? -1 : 1;
  if (x->body != y->body) return x->body < y->body ? -1 : 1;
  return (x->code > y->code) - (x->code < y->code);
}

/* the accumulated rows as the expansion's new terms */
static bool replace_terms(psdmp_derive_expansion *e, const keys *t) {
  e->terms = 0;
  for (long i = 0; i < t->count;) {
    const key *k = &t->item[i];
    psdmp_derive_builder out = {.e = e};
    for (; i < t->count && t->item[i].first == k->first && t->item[i].second == k->second &&
           t->item[i].torque == k->torque && t->item[i].body == k->body;
         i++)
      psdmp_derive_append(&out, t->item[i].code, t->item[i].row);
    psdmp_derive_emit(e, &(psdmp_derive_term){out.rows, k->first, k->second, k->torque, k->body, 1});
  }
  return !e->pool.failed;
}

/* degrees: each tree joint brings two of each angle it contains */
static psdm_status set_radix(const psdm_robot *r, psdm_model *m, psdm_error *error) {
  double degree[PSDMP_DERIVE_JOINTS] = {0};
  for (int b = 0; b < r->bodies; b++)
    for (int g = r->g_row[b]; g < r->g_row[b + 1]; g++)
      degree[r->g_col[g]] += 2 * (r->body[b].prismatic ? 1 : fabs(round(r->g_val[g])));
  uint64_t weight = 1;
  for (int j = m->n - 1; j >= 0; j--) {
    int radix = m->prismatic[j] ? (int)degree[j] + 1 : 2 * (int)degree[j] + 3; /* one more while s s is being reduced */
    if (radix > 64 || weight > UINT64_MAX / 64 / (uint64_t)radix)
      return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0, "too many joints follow each other for a closed form");
    m->radix[j] = radix;
    m->weight[j] = weight;
    weight *= (uint64_t)radix;
  }
  return PSDM_OK;
}

psdm_status psdmp_derive_substitute(const psdm_robot *r, psdm_model *m, psdmp_derive_expansion *e, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = m->arena.allocator};
  substitution s = {.robot = r, .m = m, .e = e};
  uint64_t tree_digit[PSDMP_DERIVE_JOINTS], weight = 1;
  for (int b = r->bodies - 1; b >= 0; b--, weight *= 5) tree_digit[b] = weight;
  s.digit = PSDMP_BASE_NEW(&scratch, 5 * r->bodies, poly);
  s.product = PSDMP_BASE_NEW(&scratch, 1, poly);
  s.other = PSDMP_BASE_NEW(&scratch, 1, poly);
  s.angle[0] = PSDMP_BASE_NEW(&scratch, 1, poly);
  s.angle[1] = PSDMP_BASE_NEW(&scratch, 1, poly);
  psdm_status status = s.digit && s.product && s.other && s.angle[0] && s.angle[1]
                           ? set_radix(r, m, error)
                           : psdmp_base_no_memory(r->file, error);
  for (int b = 0; b < r->bodies && !status; b++)
    status = r->body[b].prismatic ? set_slide(&s, b, error) : set_turn(&s, b, error);
  keys t = {.bytes = e->pool.bytes, .limit = e->pool.limit};
  bool ok = true;
  for (int k = 0; k < e->terms && !status && ok; k++)
    PSDMP_DERIVE_EACH (&e->term[k].rows, segment, record) {
      expand_code(&s, record[0], tree_digit);
      ok = ok && spread(&s, &t, &e->term[k], record, &scratch);
    }
  if (!status && s.overflow)
    status = psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0, "too many joints follow each other for a closed form");
  if (!status && ok) {
    qsort(t.item, (size_t)t.count, sizeof *t.item, compare_keys);
    ok = replace_terms(e, &t);
  }
  psdmp_base_arena_free(&scratch);
  if (!status && e->pool.beyond) t.beyond = 1.01 * (double)e->pool.limit;
  if (!status && !ok) status = psdmp_derive_ask(r, t.beyond, e->pool.limit, error);
  if (!status && !ok) status = psdmp_base_no_memory(r->file, error);
  return status;
}
