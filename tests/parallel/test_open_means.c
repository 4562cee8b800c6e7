/* test_open_means.c: rows decimated in parts, which are then merged along any tree, against one sieve over all rows in
 * order. */
#include <math.h>
#include <string.h>

#include "support.h"

#include "identify/identify.h"

enum { COLUMNS = 5, ASIDE = 2, MOST_ROWS = 700, MOST_RUNS = 4, MOST_PARTS = 64, MOST_MEANS = MOST_ROWS };

/* Rows of several runs. */
typedef struct rows {
  long count;
  int run[MOST_ROWS], label[MOST_ROWS];
  unsigned bad[MOST_ROWS];
  long tick[MOST_ROWS];
  double value[MOST_ROWS][COLUMNS], aside[MOST_ROWS][ASIDE];
} rows;

typedef struct means {
  long count;
  psdmp_identify_kept mean[MOST_MEANS];
  double value[MOST_MEANS][COLUMNS], aside[MOST_MEANS][ASIDE];
} means;

static void add(means *to, const psdmp_identify_kept *m) {
  assert_true(to->count < MOST_MEANS);
  to->mean[to->count] = *m;
  memcpy(to->value[to->count], m->value, sizeof to->value[0]);
  memcpy(to->aside[to->count++], m->aside, sizeof to->aside[0]);
}

static void use(void *user, const psdmp_identify_kept *m) { add(user, m); }

/* runs that begin anywhere, with unused rows at their ends */
static void make_rows(rng *g, rows *r) {
  int runs = 1 + (int)(rng_next(g) % MOST_RUNS);
  r->count = 0;
  for (int run = 0; run < runs; run++) {
    long count = 1 + (long)(rng_next(g) % (MOST_ROWS / MOST_RUNS)), tick = (long)(rng_next(g) % 50);
    for (long k = 0; k < count; k++, r->count++, tick++) {
      long at = r->count;
      r->run[at] = run;
      r->tick[at] = tick;
      r->label[at] = k < 2 || k >= count - 2 ? PSDMP_IDENTIFY_EDGE
                     : rng_next(g) % 40 == 0 ? PSDMP_IDENTIFY_HELDOUT
                                             : (int)(at * 20 / MOST_ROWS);
      r->bad[at] = rng_next(g) % 30 == 0 ? 1u + (unsigned)(rng_next(g) % 3) : 0;
      for (int c = 0; c < COLUMNS; c++) r->value[at][c] = rng_uniform(g, -1, 1);
      for (int c = 0; c < ASIDE; c++) r->aside[at][c] = rng_uniform(g, -1, 1);
    }
  }
}

static void one_sieve(const rows *r, psdmp_identify_sieve *s, means *out) {
  const psdmp_identify_kept *m;
  for (long k = 0; k < r->count; k++) {
    if (k == 0 || r->run[k] != r->run[k - 1]) {
      while (k && (m = psdmp_identify_sieve_next(s, true))) add(out, m);
      psdmp_identify_sieve_restart(s, false);
    }
    psdmp_identify_sieve_row(s, r->tick[k], r->label[k], r->bad[k], r->value[k], r->aside[k]);
    while ((m = psdmp_identify_sieve_next(s, false))) add(out, m);
  }
  while ((m = psdmp_identify_sieve_next(s, true))) add(out, m);
}

/* One part, and its complete means so far. */
typedef struct part {
  psdmp_identify_open open;
  means whole;
} part;

static void fill_part(const rows *r, long from, long to, psdmp_identify_sieve *s, part *p) {
  memset(p, 0, sizeof *p);
  const psdmp_feed_stretch stretch = {.segment = r->run[from],
                                      .lead = from > 0 && r->run[from - 1] == r->run[from],
                                      .trail = to < r->count && r->run[to] == r->run[from]};
  psdmp_identify_open_begin(&p->open, s, &stretch);
  for (long k = from; k < to; k++) {
    psdmp_identify_open_row(&p->open, r->tick[k]);
    psdmp_identify_sieve_row(s, r->tick[k], r->label[k], r->bad[k], r->value[k], r->aside[k]);
    assert_true(psdmp_identify_open_take(&p->open, s, false, use, &p->whole));
  }
  assert_true(psdmp_identify_open_take(&p->open, s, true, use, &p->whole));
}

/* through bytes and back */
static void travel(part *p) {
  psdmp_parallel_bytes bytes = {0};
  psdmp_identify_open_put(&p->open, &bytes);
  psdmp_identify_open_free(&p->open);
  p->open = (psdmp_identify_open){0};
  assert_true(psdmp_identify_open_get(&p->open, &bytes));
  assert_int_equal(bytes.at, bytes.used);
  psdmp_parallel_bytes_free(&bytes);
}

static void merge(part *left, part *right) {
  assert_true(psdmp_identify_open_merge(&left->open, &right->open, use, &left->whole));
  for (long k = 0; k < right->whole.count; k++) {
    right->whole.mean[k].value = right->whole.value[k], right->whole.mean[k].aside = right->whole.aside[k];
    add(&left->whole, &right->whole.mean[k]);
  }
}

static void compare(const means *got, const means *expected, double *worst) {
  assert_int_equal(got->count, expected->count);
  for (long k = 0; k < got->count; k++) {
    const psdmp_identify_kept *a = &got->mean[k], *b = &expected->mean[k];
    assert_true(a->tick == b->tick && a->label == b->label && a->bad == b->bad && a->mixed == b->mixed &&
                a->rows == b->rows);
    assert_memory_equal(got->aside[k], expected->aside[k], sizeof got->aside[k]);
    for (int c = 0; c < COLUMNS; c++) *worst = fmax(*worst, fabs(got->value[k][c] - expected->value[k][c]));
  }
}

static void parts_are_the_whole(void **state) {
  (void)state;
  rng g = rng_start("parts_are_the_whole");
  static rows r;
  static means expected;
  static part p[MOST_PARTS];
  double worst = 0;
  long compared = 0;
  for (int round = 0; round < 600; round++) {
    int factor = 2 + (int)(rng_next(&g) % (round % 3 ? 12 : 60)), count = 0;
    psdmp_identify_sieve s;
    assert_int_equal(psdmp_identify_sieve_new(NULL, factor, COLUMNS, ASIDE, &s), PSDM_OK);
    make_rows(&g, &r);
    expected.count = 0;
    one_sieve(&r, &s, &expected);
    /* cut anywhere, and always where a run begins */
    for (long from = 0, to; from < r.count; from = to) {
      for (to = from + 1; to < r.count && r.run[to] == r.run[from] && (count >= MOST_PARTS / 2 || rng_next(&g) % 40);
           to++)
        continue;
      fill_part(&r, from, to, &s, &p[count++]);
    }
    /* neighbours in any order */
    while (count > 1) {
      int at = (int)(rng_next(&g) % (unsigned)(count - 1));
      if (rng_next(&g) % 4 == 0) travel(&p[at]);
      merge(&p[at], &p[at + 1]);
      memmove(&p[at + 1], &p[at + 2], (size_t)(count - at - 2) * sizeof *p);
      count--;
    }
    psdmp_identify_open_end(&p[0].open, use, &p[0].whole);
    compare(&p[0].whole, &expected, &worst);
    compared += expected.count;
    psdmp_identify_sieve_free(&s, NULL);
  }
  print_message("%ld means, the largest difference is %.2g\n", compared, worst);
  /* sums of some 1000 products below one, divided by a weight of about one */
  assert_true(compared > 1000 && worst < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_the_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
