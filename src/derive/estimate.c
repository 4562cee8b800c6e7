/* estimate.c: estimates the memory of a derivation in advance.
 *
 * On the way outward nothing is merged: a record of a list becomes up to five records of the next body's list. So lists
 * grow as trees do, and the size of a tree can be estimated by following a few of its branches, each standing for those
 * skipped (Knuth 1975, "Estimating the efficiency of backtrack programs"). S and N of a new joint are the one place
 * where two lists meet; their union counts as the larger one and half of the other. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "derive/expand_priv.h"

enum { FEW = 32, RECORD = 2 + PSDMP_ROBOT_STANDARD };

/* some records of a list, each of which represents `weight` of them */
typedef struct sample {
  double weight;
  psdmp_derive_rows rows;
  psdmp_derive_segment segment; /* its only segment, over word */
  uint64_t word[FEW * RECORD];
} sample;

/* the lists passed on by a body that the walk has not reached; gravity, self, sum and difference are followed to the
 * end where they start */
typedef struct place {
  int depth, *path;
  sample potential, *twist, *mass; /* (depth), (depth^2) of which i <= j exist */
} place;

typedef struct estimate {
  const psdm_robot *robot;
  const uint64_t *digit;
  const psdmp_derive_level *level;
  int done;
  psdmp_derive_expansion scratch; /* for one list at a time */
  psdmp_derive_joint_maps *maps;  /* (bodies) */
  psdmp_derive_passage *P, *dP;   /* (bodies) */
  place *at;                      /* (bodies) from done on */
  sample *line;                   /* (bodies + 4) of one list on its way */
  uint64_t random;
  double pool, rows, entries; /* bytes of records, rows and entries of the answer */
} estimate;

/* how often a list is in memory and how often it is part of the answer */
typedef struct use {
  int lists, terms;
} use;

static double size_of(const sample *s) { return s->weight * (double)s->rows.count; }

/* at most FEW of the records, one from each stretch */
static void thin(estimate *t, const psdmp_derive_rows *in, double weight, sample *out) {
  long few = in->count < FEW ? in->count : FEW, taken = 0, i = 0;
  double stretch = few ? (double)in->count / (double)few : 0;
  long next = (long)(psdmp_base_random(&t->random, 0, 1) * stretch);
  uint64_t *to = out->word;
  out->rows = (psdmp_derive_rows){.first = &out->segment};
  PSDMP_DERIVE_EACH (in, segment, record) {
    if (taken == few) break;
    if (i == next) {
      size_t words = (size_t)(psdmp_derive_record_next(record) - record);
      memcpy(to, record, words * sizeof *to);
      to += words;
      out->rows.entries += psdmp_derive_record_count(record);
      taken++;
      next = (long)(stretch * ((double)taken + psdmp_base_random(&t->random, 0, 1)));
      next = next > i ? next : i + 1;
    }
    i++;
  }
  out->rows.count = taken;
  out->weight = taken ? weight * (double)in->count / (double)taken : 0;
  out->segment = (psdmp_derive_segment){NULL, out->word, to};
}

static psdmp_derive_expansion *scratch(estimate *t) {
  psdmp_derive_pool_rewind(&t->scratch.pool);
  return &t->scratch;
}

static void tally(estimate *t, const psdmp_derive_rows *rows, double weight, use u) {
  t->pool += u.lists * weight * (double)sizeof(uint64_t) * (double)(2 * rows->count + rows->entries);
  t->rows += u.terms * weight * (double)rows->count;
  t->entries += u.terms * weight * (double)rows->entries;
}

static void pass(estimate *t, const sample *in, const psdmp_derive_passage *passage, int body, use u, sample *out) {
  psdmp_derive_rows rows = psdmp_derive_pass(scratch(t), &in->rows, passage, t->digit[body]);
  tally(t, &rows, in->weight, u);
  thin(t, &rows, in->weight, out);
}

/* follows a list of body to all bodies after it */
static void descend(estimate *t, int body, const sample *s, use u, sample *line) {
  for (int k = body + 1; k < t->robot->bodies && s->rows.count; k++) {
    if (t->robot->body[k].parent != body || k < t->done) continue;
    pass(t, s, &t->P[k], k, u, line);
    descend(t, k, line, u, line + 1);
  }
}

/* follows a list of the walk's last bodies to body and beyond */
static void carry_on(estimate *t, const psdmp_derive_rows *list, int body, use u) {
  thin(t, list, 1, &t->line[0]);
  pass(t, &t->line[0], &t->P[body], body, u, &t->line[1]);
  descend(t, body, &t->line[1], u, t->line + 2);
}

/* the walk's lists from which nothing new starts */
static void carry_level(estimate *t, const psdmp_derive_level *p, int body) {
  int D = p->depth;
  for (int a = 0; a < D; a++) {
    carry_on(t, &p->gravity[a], body, (use){1, 1});
    for (int b = a + 1; b < D; b++) {
      carry_on(t, &p->self[a * D + b], body, (use){1, 2});
      carry_on(t, &p->self[b * D + a], body, (use){1, 1});
      for (int c = b + 1; c < D; c++) {
        carry_on(t, &p->sum[(a * D + b) * D + c], body, (use){1, 1});
        carry_on(t, &p->difference[(a * D + b) * D + c], body, (use){1, 2});
      }
    }
  }
}

static bool new_place(estimate *t, psdmp_base_arena *arena, int body) {
  place *k = &t->at[body];
  int parent = t->robot->body[body].parent, D = parent < 0         ? 0
                                                : parent < t->done ? t->level[parent].depth
                                                                   : t->at[parent].depth;
  size_t d = (size_t)D + 1;
  k->depth = (int)d;
  k->path = psdmp_base_arena_alloc(arena, d * sizeof *k->path);
  k->twist = psdmp_base_arena_alloc_raw(arena, d * sizeof *k->twist);
  k->mass = psdmp_base_arena_alloc_raw(arena, d * d * sizeof *k->mass);
  if (!k->path || !k->twist || !k->mass) return false;
  if (D) memcpy(k->path, parent < t->done ? t->level[parent].path : t->at[parent].path, (size_t)D * sizeof *k->path);
  k->path[D] = body;
  return true;
}

/* the parent's list, from the walk or from the estimate */
static const sample *of(estimate *t, int parent, const psdmp_derive_rows *real, const sample *guess) {
  if (parent >= t->done) return guess;
  thin(t, real, 1, &t->line[t->robot->bodies + 2]);
  return &t->line[t->robot->bodies + 2];
}

/* twists and mass matrix of a body, from which its other lists start */
static void fill_place(estimate *t, int body, const psdmp_derive_rows *base) {
  place *k = &t->at[body];
  int parent = t->robot->body[body].parent, d = k->depth, D = d - 1;
  const psdmp_derive_level *real = parent >= 0 && parent < t->done ? &t->level[parent] : NULL;
  const place *guess = parent >= t->done ? &t->at[parent] : NULL;
  const psdmp_derive_joint_maps *maps = &t->maps[body];
  for (int i = 0; i <= D; i++) {
    if (i < D) {
      const sample *twist = of(t, parent, real ? &real->twist[i] : NULL, guess ? &guess->twist[i] : NULL);
      psdmp_derive_rows rows =
          psdmp_derive_pass_twist(scratch(t), &twist->rows, maps, t->robot->body[body].prismatic, t->digit[body]);
      tally(t, &rows, twist->weight, (use){1, 0});
      thin(t, &rows, twist->weight, &k->twist[i]);
    } else {
      psdmp_derive_builder own = {.e = scratch(t)};
      double row[PSDMP_ROBOT_STANDARD] = {0};
      memcpy(row, maps->twist, sizeof maps->twist);
      psdmp_derive_append(&own, 0, row);
      thin(t, &own.rows, 1, &k->twist[i]);
    }
    psdmp_derive_rows rows = psdmp_derive_start_mass(scratch(t), &k->twist[i].rows, maps->twist);
    tally(t, &rows, k->twist[i].weight, (use){1, i < D ? 2 : 1});
    thin(t, &rows, k->twist[i].weight, &k->mass[i * d + D]);
    for (int j = i; j < D; j++)
      pass(t, of(t, parent, real ? &real->mass[i * D + j] : NULL, guess ? &guess->mass[i * D + j] : NULL), &t->P[body],
           body, (use){1, i < j ? 2 : 1}, &k->mass[i * d + j]);
  }
  const sample *potential = &t->line[0];
  if (parent < 0) thin(t, base, 1, &t->line[0]);
  else potential = of(t, parent, real ? &real->potential : NULL, guess ? &guess->potential : NULL);
  pass(t, potential, &t->P[body], body, (use){1, 0}, &k->potential);
  if (parent >= 0) potential = of(t, parent, real ? &real->potential : NULL, guess ? &guess->potential : NULL);
  pass(t, potential, &t->dP[body], body, (use){1, 1}, &t->line[1]);
  descend(t, body, &t->line[1], (use){1, 1}, t->line + 2);
}

/* derivatives of the mass matrix in the new joint */
static void start_derivatives(estimate *t, int body) {
  place *k = &t->at[body];
  int parent = t->robot->body[body].parent, d = k->depth, c = d - 1, D = c;
  const psdmp_derive_level *real = parent >= 0 && parent < t->done ? &t->level[parent] : NULL;
  const place *guess = parent >= t->done ? &t->at[parent] : NULL;
  for (int a = 0; a < D; a++)
    for (int b = a; b < D; b++) {
      const sample *mass = of(t, parent, real ? &real->mass[a * D + b] : NULL, guess ? &guess->mass[a * D + b] : NULL),
                   *own = &k->mass[a * d + c];
      pass(t, mass, &t->dP[body], body, (use){1, b > a ? 0 : 2}, &t->line[0]);
      int in = b > a ? k->path[b] : body;
      psdmp_derive_rows rows = psdmp_derive_linear(scratch(t), &own->rows, t->robot->body[in].prismatic, t->digit[in]);
      tally(t, &rows, own->weight, (use){1, b > a ? 0 : 1});
      thin(t, &rows, own->weight, &t->line[1]);
      if (b == a) {
        descend(t, body, &t->line[0], (use){1, 2}, t->line + 2);
        descend(t, body, &t->line[1], (use){1, 1}, t->line + 2);
        continue;
      }
      double x = size_of(&t->line[0]), y = size_of(&t->line[1]);
      if (!(x + y > 0)) continue;
      sample *larger = &t->line[x < y];
      larger->weight *= (fmax(x, y) + 0.5 * fmin(x, y)) / fmax(x, y);
      tally(t, &larger->rows, larger->weight, (use){2, 3}); /* S once, N twice */
      descend(t, body, larger, (use){2, 3}, t->line + 2);
    }
}

static void set_maps(estimate *t, double reach) {
  for (int b = t->done; b < t->robot->bodies; b++) {
    psdmp_derive_joint_maps *maps = &t->maps[b];
    psdmp_derive_joint_maps_set(t->robot, b, reach, maps);
    psdmp_derive_passage_set(&t->P[b], maps->count, maps->L);
    psdmp_derive_passage_set(&t->dP[b], maps->count, maps->dL);
  }
}

double psdmp_derive_expand_estimate(const psdm_robot *r, const uint64_t *digit, const psdmp_derive_expansion *e,
                                    const psdmp_derive_rows *base, const psdmp_derive_level *level, int done) {
  psdmp_base_arena arena = {.allocator = e->arena.allocator};
  estimate t = {.robot = r,
                .digit = digit,
                .level = level,
                .done = done,
                .random = 1,
                .scratch = {.pool = {.allocator = arena.allocator, .limit = SIZE_MAX}}};
  size_t bodies = (size_t)r->bodies;
  t.maps = psdmp_base_arena_alloc_raw(&arena, bodies * sizeof *t.maps);
  t.P = psdmp_base_arena_alloc_raw(&arena, bodies * sizeof *t.P);
  t.dP = psdmp_base_arena_alloc_raw(&arena, bodies * sizeof *t.dP);
  t.at = psdmp_base_arena_alloc(&arena, bodies * sizeof *t.at);
  t.line = psdmp_base_arena_alloc_raw(&arena, (bodies + 4) * sizeof *t.line);
  bool ok = t.maps && t.P && t.dP && t.at && t.line;
  if (ok) set_maps(&t, e->reach);
  /* existing terms: every record is in a list, and most lists are written */
  for (int i = 0; i < e->terms && ok; i++)
    t.rows += (double)e->term[i].rows.count, t.entries += (double)e->term[i].rows.entries;
  for (int b = done; b < r->bodies && ok; b++) {
    int parent = r->body[b].parent;
    ok = new_place(&t, &arena, b);
    if (!ok) break;
    if (parent >= 0 && parent < done) carry_level(&t, &level[parent], b);
    fill_place(&t, b, base);
    start_derivatives(&t, b);
    ok = !t.scratch.pool.failed;
  }
  psdmp_derive_pool_free(&t.scratch.pool);
  psdmp_base_arena_free(&arena);
  return ok ? (double)e->pool.bytes + t.pool +
                  psdmp_derive_collect_bytes(t.rows, t.entries, pow(PSDMP_DERIVE_BASIS, r->bodies))
            : 0;
}
