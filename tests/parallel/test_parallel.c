/* test_parallel.c: trees, bytes, shares and teams: sums whose bits do not depend on who computes them. */
#define _XOPEN_SOURCE 700 /* kill */
#include <math.h>
#include <string.h>

#include "parallel/parallel.h"
#include "ranks_by_fork.h"
#include "psdm/component.h"

/* ---- the tree ---- */

static psdm_status add(void *user, void *left, void *right) {
  (void)user;
  *(double *)left += *(double *)right;
  free(right);
  return PSDM_OK;
}

static void release(void *user, void *part) {
  (void)user;
  free(part);
}

static double *number(double x) {
  double *copy = malloc(sizeof *copy);
  assert_non_null(copy);
  *copy = x;
  return copy;
}

/* the tree by definition: the largest complete one first, and the rest from the right */
static double whole(const double *x, long count) {
  return count == 1 ? x[0] : whole(x, count / 2) + whole(x + count / 2, count / 2);
}

static double plain(const double *x, long count) {
  long power = 1;
  while (2 * power <= count) power *= 2;
  return power == count ? whole(x, count) : whole(x, power) + plain(x + power, count - power);
}

/* ranges of parts are first added elsewhere */
static void every_split_gives_the_same_sum(void **state) {
  (void)state;
  rng g = rng_start("every_split_gives_the_same_sum");
  long differs = 0;
  for (int round = 0; round < 300; round++) {
    double x[300], in_order = 0;
    long count = rng_int(&g, 1, 300);
    for (long k = 0; k < count; k++) x[k] = ldexp(rng_uniform(&g, -1, 1), rng_int(&g, -30, 30)), in_order += x[k];
    psdmp_parallel_tree all = {.way = {NULL, add, release}};
    for (long first = 0; first < count;) {
      long last = rng_int(&g, (int)first + 1, (int)count);
      psdmp_parallel_tree some = {.way = {NULL, add, release}};
      for (long k = first; k < last; k++) assert_int_equal(psdmp_parallel_tree_add(&some, k, 0, number(x[k])), PSDM_OK);
      for (int k = 0; k < some.count; k++)
        assert_int_equal(psdmp_parallel_tree_add(&all, some.node[k].index, some.node[k].level, some.node[k].part),
                         PSDM_OK);
      first = last;
    }
    void *sum;
    assert_int_equal(psdmp_parallel_tree_end(&all, &sum), PSDM_OK);
    double expected = plain(x, count);
    assert_memory_equal(sum, &expected, sizeof expected);
    differs += in_order != expected;
    free(sum);
  }
  assert_true(differs > 100); /* else the numbers would prove nothing */
}

/* ---- bytes ---- */

static void bytes_and_wrong_sizes(void **state) {
  (void)state;
  psdmp_parallel_bytes b = {0};
  double x = 1.5, y;
  long count = 3, lie = 1L << 60;
  int many[1000], back[1000];
  for (int k = 0; k < 1000; k++) many[k] = k * k;
  PSDMP_PARALLEL_PUT(&b, x);
  PSDMP_PARALLEL_PUT(&b, many);
  PSDMP_PARALLEL_PUT(&b, count);
  psdmp_parallel_bytes_put(&b, many, 3 * sizeof *many);
  PSDMP_PARALLEL_PUT(&b, lie);
  PSDMP_PARALLEL_GET(&b, y);
  PSDMP_PARALLEL_GET(&b, back);
  assert_true(y == x);
  assert_memory_equal(many, back, sizeof many);
  assert_int_equal(psdmp_parallel_bytes_count(&b, sizeof *many), 3);
  psdmp_parallel_bytes_get(&b, back, 3 * sizeof *back);
  assert_false(b.failed);
  assert_int_equal(psdmp_parallel_bytes_count(&b, 1), -1); /* there are fewer bytes */
  assert_true(b.failed);
  psdmp_parallel_bytes_free(&b);
  b = (psdmp_parallel_bytes){0};
  PSDMP_PARALLEL_GET(&b, y);
  assert_true(b.failed && y == 0);
}

/* ---- shares ---- */

static void shares_cover_everything(void **state) {
  (void)state;
  for (int size = 1; size < 9; size++)
    for (long count = 0; count < 40; count++) {
      long next = 0, least = 1000, most = 0;
      for (int rank = 0; rank < size; rank++) {
        psdm_ranks r = {.rank = rank, .size = size};
        long first, last;
        psdmp_parallel_team_share(&r, count, &first, &last);
        assert_int_equal(first, next);
        next = last;
        least = last - first < least ? last - first : least, most = last - first > most ? last - first : most;
      }
      assert_int_equal(next, count);
      assert_true(most - least <= 1);
    }
}

/* ---- spreading ---- */

typedef struct sines {
  long fails; /* unit that fails; -1: none */
} sines;

static void *space_new(void *user) { return user; }
static void space_free(void *user, void *space) { (void)user, (void)space; }

static psdm_status make(void *space, long unit, void **part, psdm_error *error) {
  if (unit >= ((sines *)space)->fails && ((sines *)space)->fails >= 0)
    return psdmp_base_fail(error, PSDM_E_PARSE, "unit", (int)unit, 0, "it fails");
  if (unit % 7 == 3) return PSDM_OK; /* there is nothing in it */
  *part = number(sin((double)unit) * exp((double)(unit % 50)));
  return PSDM_OK;
}

static void put(void *user, const void *part, psdmp_parallel_bytes *to) {
  (void)user;
  psdmp_parallel_bytes_put(to, part, sizeof(double));
}

static void *get(void *user, psdmp_parallel_bytes *from) {
  double x;
  (void)user;
  PSDMP_PARALLEL_GET(from, x);
  return from->failed ? NULL : number(x);
}

static psdmp_parallel_spread spread_of(sines *s, psdm_ranks *ranks, int threads, long units) {
  return (psdmp_parallel_spread){.ranks = ranks,
                                 .threads = threads,
                                 .units = units,
                                 .user = s,
                                 .space_new = space_new,
                                 .space_free = space_free,
                                 .make = make,
                                 .merge = add,
                                 .part_free = release,
                                 .put = put,
                                 .get = get};
}

static psdm_status serve(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                         psdm_error *error) {
  sines s;
  long units;
  assert_int_equal(work, 5);
  PSDMP_PARALLEL_GET(request, s);
  PSDMP_PARALLEL_GET(request, units);
  psdmp_parallel_spread spread = spread_of(&s, user, 1, units);
  return psdmp_parallel_spread_serve(&spread, answer, error);
}

/* the sum, or the number of the failing unit */
static psdm_status sum_of(sines s, psdm_ranks *ranks, int threads, long units, double *sum, psdm_error *error) {
  psdmp_parallel_bytes request = {0};
  void *part;
  PSDMP_PARALLEL_PUT(&request, s);
  PSDMP_PARALLEL_PUT(&request, units);
  psdmp_parallel_spread spread = spread_of(&s, ranks, threads, units);
  psdm_status status = psdmp_parallel_spread_all(&spread, 5, &request, &part, error);
  psdmp_parallel_bytes_free(&request);
  *sum = part ? *(double *)part : 0;
  free(part);
  return status;
}

static void same_bits_everywhere(void **state) {
  (void)state;
  static const long lengths[] = {1, 2, 5, 64, 1000};
  double expected[5], sum;
  psdm_error error;
  for (int k = 0; k < 5; k++) assert_int_equal(sum_of((sines){-1}, NULL, 1, lengths[k], &expected[k], &error), PSDM_OK);
  for (int size = 2; size <= 8; size++) { /* processes first: threads do not survive a fork */
    forked f;
    fork_ranks(&f, size);
    if (f.ranks.rank > 0) {
      psdmp_parallel_team_serve(&f.ranks, serve, &f.ranks, NULL, NULL);
      join_ranks(&f, NULL);
    }
    for (int k = 0; k < 5; k++) {
      assert_int_equal(sum_of((sines){-1}, &f.ranks, 1, lengths[k], &sum, &error), PSDM_OK);
      assert_memory_equal(&sum, &expected[k], sizeof sum);
    }
    for (long fails = 0; fails < 64; fails += 9) { /* the first failing unit is reported, whoever has it */
      assert_int_equal(sum_of((sines){fails}, &f.ranks, 1, 64, &sum, &error), PSDM_E_PARSE);
      assert_int_equal(error.line, fails);
    }
    psdmp_parallel_team_dismiss(&f.ranks);
    join_ranks(&f, NULL);
  }
  for (int threads = 2; threads < 9; threads++)
    for (int k = 0; k < 5; k++) {
      assert_int_equal(sum_of((sines){-1}, NULL, threads, lengths[k], &sum, &error), PSDM_OK);
      assert_memory_equal(&sum, &expected[k], sizeof sum);
      assert_int_equal(sum_of((sines){lengths[k] / 2}, NULL, threads, lengths[k], &sum, &error), PSDM_E_PARSE);
      assert_int_equal(error.line, lengths[k] / 2);
    }
}

/* ---- ranks that are lost ---- */

static void failures_are_reported(void **state) {
  (void)state;
  forked f;
  psdm_error error;
  double sum;
  fork_ranks(&f, 3); /* one has failed before it could help */
  if (f.ranks.rank == 1) psdmp_parallel_team_serve(&f.ranks, serve, &f.ranks, NULL, NULL);
  if (f.ranks.rank > 0) join_ranks(&f, "arm.yaml: cannot be opened");
  assert_int_equal(sum_of((sines){-1}, &f.ranks, 1, 64, &sum, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "rank 2: arm.yaml: cannot be opened");
  psdmp_parallel_team_dismiss(&f.ranks);
  join_ranks(&f, NULL);
  fork_ranks(&f, 3); /* one is killed */
  if (f.ranks.rank == 2) kill(getpid(), SIGKILL);
  if (f.ranks.rank > 0) psdmp_parallel_team_serve(&f.ranks, serve, &f.ranks, NULL, NULL), join_ranks(&f, NULL);
  int status;
  assert_int_equal(waitpid(f.process[2], &status, 0), f.process[2]);
  assert_int_equal(sum_of((sines){-1}, &f.ranks, 1, 64, &sum, &error), PSDM_E_IO);
  psdm_ranks_close(&f.ranks, NULL);
  close(f.socket[1]), close(f.socket[2]);
  assert_int_equal(waitpid(f.process[1], &status, 0), f.process[1]);
}

static psdm_status cannot_open(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                               psdm_error *error) {
  (void)user, (void)request, (void)answer;
  return work == 1 ? psdmp_base_fail(error, PSDM_E_IO, "a.csv", 0, 0, "cannot be opened")
                   : psdmp_base_fail(error, PSDM_E_PARSE, "a.csv", 7, 0, "not a number");
}

/* a file missing on one machine is reported with its rank; a fault in a file is everyone's, and reported as by one
 * process */
static void files_missing_on_one_machine(void **state) {
  static const char *const expected_texts[] = {"cannot be opened (on rank 1)", "not a number"};
  (void)state;
  forked f;
  fork_ranks(&f, 2);
  if (f.ranks.rank > 0) psdmp_parallel_team_serve(&f.ranks, cannot_open, NULL, NULL, NULL), join_ranks(&f, NULL);
  for (int work = 1; work <= 2; work++) {
    psdmp_parallel_bytes answer = {0};
    psdm_error error;
    assert_int_equal(psdmp_parallel_team_ask(&f.ranks, work, NULL, &error), PSDM_OK);
    assert_int_equal(psdmp_parallel_team_listen(&f.ranks, 1, &answer, &error), work == 1 ? PSDM_E_IO : PSDM_E_PARSE);
    assert_string_equal(error.text, expected_texts[work - 1]);
    assert_string_equal(error.file, "a.csv");
    psdmp_parallel_bytes_free(&answer);
  }
  psdmp_parallel_team_dismiss(&f.ranks);
  join_ranks(&f, NULL);
  psdm_error own = {.status = PSDM_E_IO, .file = "a.csv", .text = "cannot be opened"};
  psdmp_parallel_team_tell(0, PSDM_E_IO, &own);
  assert_string_equal(own.text, "cannot be opened");
  psdmp_parallel_team_tell(3, PSDM_E_IO, NULL);
}

static void threads_as_requested(void **state) {
  (void)state;
  assert_true(psdm_threads() >= 1);
  assert_int_equal(psdmp_parallel_threads(0, NULL, 1000000), psdm_threads());
  assert_int_equal(psdmp_parallel_threads(0, NULL, 1), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_split_gives_the_same_sum),
                                     cmocka_unit_test(bytes_and_wrong_sizes),
                                     cmocka_unit_test(shares_cover_everything),
                                     cmocka_unit_test(failures_are_reported),
                                     cmocka_unit_test(files_missing_on_one_machine),
                                     cmocka_unit_test(threads_as_requested),
                                     cmocka_unit_test(same_bits_everywhere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
