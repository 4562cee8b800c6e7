/* A derivation's estimate of its memory against what it really uses; and a refusal comes early, with little memory
 * used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "derive/expand_priv.h"
#include "support.h"

/* an allocator that records the peak */
typedef struct meter {
  size_t now, most;
} meter;

static void *take(void *user, size_t bytes) {
  meter *m = user;
  size_t *block = malloc(bytes + 2 * sizeof(size_t));
  if (!block) return NULL;
  block[0] = bytes;
  m->now += bytes;
  if (m->now > m->most) m->most = m->now;
  return block + 2;
}

static void give(void *user, void *memory) {
  meter *m = user;
  if (!memory) return;
  size_t *block = (size_t *)memory - 2;
  m->now -= block[0];
  free(block);
}

/* chains: nothing aligned; right angles; all in a plane; slides between */
static psdm_robot *chain(int kind, int n) {
  static char text[8000];
  int at = snprintf(text, sizeof text, "convention: modified-dh\njoints:\n");
  for (int j = 0; j < n; j++)
    at += snprintf(text + at, sizeof text - (size_t)at, "  - {type: %s, alpha: %s, a: %.3f, d: %.3f}\n",
                   kind == 3 && j % 2 ? "prismatic" : "revolute",
                   kind == 0   ? (j % 2 ? "0.7" : "-0.4")
                   : kind == 1 ? (j % 2 ? "pi/2" : "-pi/2")
                   : kind == 2 ? "0"
                               : "0.6",
                   0.1 + 0.01 * j, kind == 2 ? 0 : 0.2 - 0.01 * j);
  return parse_robot(text);
}

/* "about 9.3 MB" */
static double number_in(const char *text) {
  const char *at = strstr(text, "about ");
  assert_non_null(at);
  char *unit;
  double value = strtod(at + 6, &unit);
  return value * (strncmp(unit, " kB", 3) == 0   ? 1e3
                  : strncmp(unit, " MB", 3) == 0 ? 1e6
                  : strncmp(unit, " GB", 3) == 0 ? 1e9
                  : strncmp(unit, " TB", 3) == 0 ? 1e12
                                                 : 1e15);
}

static void the_estimate_is_near(void **state) {
  (void)state;
  static const struct { int kind, n; } robots[] = {{0, 6}, {0, 7}, {1, 8}, {1, 9}, {2, 9}, {2, 10}, {3, 9}, {3, 10}};
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    psdm_robot *r = chain(robots[k].kind, robots[k].n);
    meter m = {0};
    const psdm_allocator allocator = {take, give, &m};
    const psdm_derive_options little = {.memory = 1000000};
    psdm_model *model;
    psdm_error error;
    assert_int_equal(psdm_model_derive(r, &little, &allocator, &model, NULL, &error), PSDM_E_LIMIT);
    double estimated = number_in(error.text), refused = (double)m.most;
    assert_int_equal(m.now, 0);
    m.most = 0;
    assert_int_equal(psdm_model_derive(r, NULL, &allocator, &model, NULL, &error), PSDM_OK);
    printf("kind %d, %d joints: estimated %.3g MB, used %.3g MB; %.3g MB when refused\n", robots[k].kind, robots[k].n,
           1e-6 * estimated, 1e-6 * (double)m.most, 1e-6 * refused);
    assert_true(estimated > 0.6 * (double)m.most && estimated < 1.6 * (double)m.most);
    psdm_model_free(model);
    psdm_robot_free(r);
  }
}

/* up to 24 joints are promised; more memory than any machine has is refused at once */
static void refused_early(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    psdm_robot *r = chain(kind, 24);
    meter m = {0};
    const psdm_allocator allocator = {take, give, &m};
    const psdm_derive_options options = {.memory = (size_t)4000000000u};
    psdm_model *model;
    psdm_error error;
    assert_int_equal(psdm_model_derive(r, &options, &allocator, &model, NULL, &error), PSDM_E_LIMIT);
    printf("kind %d: %.3g MB when refused; %s\n", kind, 1e-6 * (double)m.most, error.text);
    assert_true(m.most < 100000000 && number_in(error.text) > 4e9);
    psdm_robot_free(r);
  }
}

/* a robot's own limit holds for every use of it; joints that follow others do not get around it */
static void limit_of_the_robot(void **state) {
  (void)state;
  char text[2000] = "convention: dh\njoints:\n  - {name: j0, a: 0.2, alpha: pi/2}\n";
  for (int j = 1; j < 8; j++)
    snprintf(text + strlen(text), 200, "  - {name: j%d, a: 0.2, d: 0.1, alpha: %s, couple: {j0: %s}}\n", j,
             j % 2 ? "0.7" : "0.4", j % 2 ? "1" : "-1");
  psdm_robot *r;
  psdm_model *m;
  psdm_error error;
  const psdm_robot_options options = {.memory = 2000000};
  assert_int_equal(psdm_robot_parse(text, strlen(text), "coupled", &options, NULL, &r, &error), PSDM_OK);
  assert_int_equal(psdm_robot_memory(r), 2000000);
  assert_int_equal(psdm_robot_fits(r, "this", 2e6, &error), PSDM_OK);
  assert_int_equal(psdm_robot_fits(r, "this", 2000001, &error), PSDM_E_LIMIT);
  assert_non_null(strstr(error.text, "this needs about 2 MB, more than the 2 MB"));
  assert_int_equal(psdm_model_derive(r, NULL, NULL, &m, NULL, &error), PSDM_E_LIMIT);
  printf("%s\n", error.text);
  assert_non_null(strstr(error.text, "2 MB that it may take"));
  psdm_robot_free(r);
}

/* ---- the plain twin: every list in full ---- */

enum { DEEP = 5 };

/* a body with all its lists; S and N exactly, and as estimated: the larger of X and Y, and half of the other */
typedef struct full {
  psdmp_derive_level level;
  int path[DEEP];
  psdmp_derive_rows twist[DEEP], mass[DEEP * DEEP], gravity[DEEP], self[DEEP * DEEP], sum[DEEP * DEEP * DEEP],
      difference[DEEP * DEEP * DEEP];
  psdmp_derive_rows X[DEEP * DEEP], Y[DEEP * DEEP], guess[DEEP * DEEP * DEEP];
  double weight[DEEP * DEEP * DEEP];
} full;

/* X + sign Y, code by code */
static psdmp_derive_rows joined(psdmp_derive_expansion *e, const psdmp_derive_rows *X, const psdmp_derive_rows *Y,
                                double sign) {
  psdmp_derive_builder out = {.e = e};
  const psdmp_derive_rows *const list[2] = {X, Y};
  for (int own = 0; own < 2; own++)
    PSDMP_DERIVE_EACH (list[own], segment, record) {
      double row[10] = {0};
      bool earlier = false;
      for (int k = 0; k < 2; k++)
        PSDMP_DERIVE_EACH (list[k], other_segment, other) {
          if (other[0] != record[0]) continue;
          earlier |= own == 1 && k == 0;
          const double *value = psdmp_derive_record_values(other);
          for (int i = 0; i < 10; i++)
            if (psdmp_derive_record_mask(other) >> i & 1) row[i] += (k ? sign : 1) * *value++;
        }
      if (!earlier) psdmp_derive_append(&out, record[0], row);
    }
  return out.rows;
}

static void fill(psdmp_derive_expansion *e, const psdm_robot *r, const uint64_t *digit, const psdmp_derive_rows *base,
                 int body, full *all) {
  full *k = &all[body], *parent = r->body[body].parent < 0 ? NULL : &all[r->body[body].parent];
  psdmp_derive_joint_maps maps;
  psdmp_derive_passage P, dP;
  int D = parent ? parent->level.depth : 0, d = D + 1;
  bool slides = r->body[body].prismatic;
  psdmp_derive_joint_maps_set(r, body, e->reach, &maps);
  psdmp_derive_passage_set(&P, maps.count, maps.L);
  psdmp_derive_passage_set(&dP, maps.count, maps.dL);
  *k = (full){.level = {.body = body,
                        .depth = d,
                        .path = k->path,
                        .twist = k->twist,
                        .mass = k->mass,
                        .gravity = k->gravity,
                        .self = k->self,
                        .sum = k->sum,
                        .difference = k->difference}};
  for (int i = 0; i < D; i++) k->path[i] = parent->path[i];
  k->path[D] = body;
  double row[10] = {0};
  psdmp_derive_builder own = {.e = e};
  memcpy(row, maps.twist, sizeof maps.twist);
  psdmp_derive_append(&own, 0, row);
  k->twist[D] = own.rows;
  for (int i = 0; i < D; i++) k->twist[i] = psdmp_derive_pass_twist(e, &parent->twist[i], &maps, slides, digit[body]);
  for (int i = 0; i <= D; i++) k->mass[i * d + D] = psdmp_derive_start_mass(e, &k->twist[i], maps.twist);
  const psdmp_derive_rows *potential = parent ? &parent->level.potential : base;
  k->level.potential = psdmp_derive_pass(e, potential, &P, digit[body]);
  k->gravity[D] = psdmp_derive_pass(e, potential, &dP, digit[body]);
  for (int a = 0; a < D; a++) {
    k->gravity[a] = psdmp_derive_pass(e, &parent->gravity[a], &P, digit[body]);
    k->self[a * d + D] = psdmp_derive_pass(e, &parent->mass[a * D + a], &dP, digit[body]);
    k->self[D * d + a] = psdmp_derive_linear(e, &k->mass[a * d + D], slides, digit[body]);
    for (int b = a; b < D; b++) k->mass[a * d + b] = psdmp_derive_pass(e, &parent->mass[a * D + b], &P, digit[body]);
    for (int b = a + 1; b < D; b++) {
      k->self[a * d + b] = psdmp_derive_pass(e, &parent->self[a * D + b], &P, digit[body]);
      k->self[b * d + a] = psdmp_derive_pass(e, &parent->self[b * D + a], &P, digit[body]);
      psdmp_derive_rows *X = &k->X[a * d + b], *Y = &k->Y[a * d + b];
      int fresh = (a * d + b) * d + D;
      *X = psdmp_derive_pass(e, &parent->mass[a * D + b], &dP, digit[body]);
      *Y = psdmp_derive_linear(e, &k->mass[a * d + D], r->body[k->path[b]].prismatic, digit[k->path[b]]);
      k->sum[fresh] = joined(e, X, Y, 1);
      k->difference[fresh] = joined(e, X, Y, -1);
      double x = (double)X->count, y = (double)Y->count;
      k->guess[fresh] = x < y ? *Y : *X;
      k->weight[fresh] = x + y > 0 ? 1 + 0.5 * fmin(x, y) / fmax(x, y) : 0;
      for (int c = b + 1; c < D; c++) {
        int at = (a * d + b) * d + c, from = (a * D + b) * D + c;
        k->sum[at] = psdmp_derive_pass(e, &parent->sum[from], &P, digit[body]);
        k->difference[at] = psdmp_derive_pass(e, &parent->difference[from], &P, digit[body]);
        k->guess[at] = psdmp_derive_pass(e, &parent->guess[from], &P, digit[body]);
        k->weight[at] = parent->weight[from];
      }
    }
  }
}

typedef struct estimated {
  double pool, rows, entries;
} estimated;

static void count(estimated *t, const psdmp_derive_rows *rows, double weight, int lists, int terms) {
  t->pool += lists * weight * 8.0 * (double)(2 * rows->count + rows->entries);
  t->rows += terms * weight * (double)rows->count;
  t->entries += terms * weight * (double)rows->entries;
}

/* what the bodies from `done` on hold and emit: the mass matrix and N twice where two joints share it, X and Y for
 * nothing but S and N */
static estimated rest(const psdm_robot *r, const full *all, int done) {
  estimated t = {0, 0, 0};
  for (int body = done; body < r->bodies; body++) {
    const full *k = &all[body];
    int d = k->level.depth;
    count(&t, &k->level.potential, 1, 1, 0);
    for (int a = 0; a < d; a++) {
      if (a < d - 1) count(&t, &k->twist[a], 1, 1, 0);
      count(&t, &k->gravity[a], 1, 1, 1);
      for (int b = a; b < d; b++) {
        count(&t, &k->mass[a * d + b], 1, 1, a < b ? 2 : 1);
        if (a == b) continue;
        count(&t, &k->self[a * d + b], 1, 1, 2);
        count(&t, &k->self[b * d + a], 1, 1, 1);
        if (b < d - 1) count(&t, &k->X[a * d + b], 1, 1, 0), count(&t, &k->Y[a * d + b], 1, 1, 0);
        for (int c = b + 1; c < d; c++) {
          int at = (a * d + b) * d + c;
          if (k->path[c] < done) count(&t, &k->sum[at], 1, 1, 1), count(&t, &k->difference[at], 1, 1, 2);
          else count(&t, &k->guess[at], k->weight[at], 2, 3);
        }
      }
    }
  }
  return t;
}

/* lists that are not longer than a sample: the estimate is the twin's count to the byte, at every step of the walk.
 * Longer ones: close to it. */
static void the_estimate_is_the_twin(void **state) {
  (void)state;
  static const struct {
    const char *joints;
    double within; /* relative */
  } robots[] = {
      {"{name: a, a: 0.5, alpha: pi/2}, {name: b, a: 0.4, d: 0.2}, {name: c, a: 0.3, alpha: pi/2}", 1e-12},
      {"{name: a, alpha: 0.4, d: 0.2}, {name: b, type: prismatic, a: 0.4, alpha: 0.6}, {name: c, a: 0.3, alpha: 0.5}",
       1e-12},
      {"{name: a, type: prismatic, alpha: pi/2}, {name: b, a: 0.4}, {name: c, type: prismatic, alpha: pi/2, a: 0.2}, "
       "{name: d, a: 0.3}",
       1e-12},
      {"{name: a, a: 0.5, alpha: 0.3}, {name: b, a: 0.4, alpha: 0.2}, {name: c, parent: a, a: 0.3, alpha: 0.4}, {name: "
       "d, parent: c, type: prismatic, alpha: 0.4}",
       1e-12},
      {"{name: a, type: prismatic}, {name: b, type: prismatic, alpha: pi/2, parent: a}, {name: c, a: 0.2, parent: b}, "
       "{name: d, a: 0.3, parent: b}, {name: e, parent: c, type: prismatic}",
       1e-12},
      {"{name: a, a: 0.5, alpha: 0.3}, {name: b, a: 0.4, alpha: 0.2}, {name: c, a: 0.3, alpha: 0.4}, {name: d, a: 0.3, "
       "alpha: 0.4, d: 0.2}, {name: e, a: 0.1, alpha: 1}",
       0.03},
  };
  static full all[DEEP];
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    char text[1000];
    snprintf(text, sizeof text, "convention: dh\ngravity: [1, 2, -9]\njoints: [%s]\n", robots[k].joints);
    psdm_robot *r = parse_robot(text);
    psdmp_derive_expansion lists = {.pool = {.limit = SIZE_MAX}, .reach = 0.5};
    psdmp_derive_term terms[2] = {{.rows = {.count = 7, .entries = 20}}, {.rows = {.count = 11, .entries = 31}}};
    const psdmp_derive_expansion before = {.pool = {.bytes = 12345}, .term = terms, .terms = 2, .reach = 0.5};
    psdmp_derive_level level[DEEP];
    uint64_t digit[DEEP], weight = 1;
    const double gravity[10] = {0, -1 / sqrt(86), -2 / sqrt(86), 9 / sqrt(86)};
    psdmp_derive_builder base = {.e = &lists};
    psdmp_derive_append(&base, 0, gravity);
    for (int b = r->bodies - 1; b >= 0; b--, weight *= 5) digit[b] = weight;
    for (int b = 0; b < r->bodies; b++) {
      fill(&lists, r, digit, &base.rows, b, all);
      level[b] = all[b].level;
    }
    for (int done = 0; done <= r->bodies; done++) {
      estimated t = rest(r, all, done);
      double expected = 12345 + t.pool + psdmp_derive_collect_bytes(t.rows + 18, t.entries + 51, (double)weight),
             is = psdmp_derive_expand_estimate(r, digit, &before, &base.rows, level, done);
      if (!(fabs(is - expected) <= robots[k].within * expected))
        fail_msg("robot %zu after %d levels: %.17g bytes, %.17g were expected", k, done, is, expected);
    }
    psdmp_derive_pool_free(&lists.pool);
    psdmp_base_arena_free(&lists.arena);
    psdm_robot_free(r);
  }
  /* two words a function, an entry, and a bit and a count for every code unless most would be empty */
  assert_true(psdmp_derive_collect_bytes(10, 20, 1000) == 16 * 10 + 16 * 20 + 12 * 16 &&
              psdmp_derive_collect_bytes(10, 20, 1e9) == 16 * 10 + 16 * 20 + 12 * (10 + 65536));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_estimate_is_the_twin), cmocka_unit_test(the_estimate_is_near),
                                     cmocka_unit_test(refused_early), cmocka_unit_test(limit_of_the_robot)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
