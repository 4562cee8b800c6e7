/* test_estimate_pass.c: one pass over all rows: the request to the sum over stretches, what a thread gathers from a
 * stretch, adding, sending and receiving parts, an interrupted pass, and what other ranks read from a request. The
 * linker puts the test's own sum, walks and simulation in the library's place (--wrap). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "fenced.h"

enum {
  N = 2,
  L = 3,
  OWN0 = 2,
  OWN1 = 1,
  W = L + OWN0 + OWN1,
  BINS = 4096,
  NUMBERS = 4 + N * BINS,
  WIDEST = 2 * (L + OWN0) + 1,
  PLACES = N * PSDMP_IDENTIFY_BLOCKS
};

static const char *const names[PSDMP_IDENTIFY_PASSES] = {"robust", "didim", "iv", "energy"},
                         *const doings[PSDMP_IDENTIFY_PASSES] = {"weighing outliers", "simulating", "simulating",
                                                                 "adding up work"};

static max_align_t robots[2]; /* of this rank, and of a thread or another rank */
#define SIMULATION(k) ((psdmp_identify_simulation *)(void *)&robots[k])

static bool simulates(int kind) { return kind == PSDMP_IDENTIFY_PASS_DIDIM || kind == PSDMP_IDENTIFY_PASS_IV; }
static int equations_of(int kind) { return kind == PSDMP_IDENTIFY_PASS_ENERGY ? 1 : N; }
static int width_of(int kind, int i) {
  int columns = L + (i ? OWN1 : OWN0);
  return kind == PSDMP_IDENTIFY_PASS_ENERGY ? W + 1 : kind == PSDMP_IDENTIFY_PASS_IV ? 2 * columns + 1 : columns + 1;
}

/* ---- a run ---- */

typedef struct scene {
  psdmp_identify_run run;
  psdm_calibrate_options options;
  psdmp_identify_choice choice[N];
  psdmp_identify_dictionary dictionary[N];
  double speed[N], load[L], x[W], scale[N];
  psdmp_identify_pass pass;
} scene;

static void scene_new(scene *s, int kind) {
  memset(s, 0, sizeof *s);
  s->run = (psdmp_identify_run){
      .n = N,
      .l = L,
      .S = L,
      .options = &s->options,
      .choice = s->choice,
      .dictionary = s->dictionary,
      .speed = s->speed,
      .interval = 0.01,
      .rows = 1000,
      .tempo = 1.5,
      .still = 0.1,
      .rest = 0.05,
      .band = {.kinematics = PSDM_KINEMATICS_VELOCITY, .cutoff = INFINITY, .delay = 0.035, .wide = INFINITY}};
  s->choice[0] = (psdmp_identify_choice){OWN0, {2, 0}}, s->choice[1] = (psdmp_identify_choice){OWN1, {1}};
  for (int i = 0; i < N; i++) {
    s->dictionary[i].count = 3;
    for (int k = 0; k < 3; k++)
      s->dictionary[i].column[k] =
          (psdmp_parameters_column){(psdm_column_kind)PSDMP_IDENTIFY_PASS_ENERGY, 0.1 + k + i, k};
    s->speed[i] = 1 + i, s->scale[i] = 0.25 + i;
  }
  for (int k = 0; k < W; k++) s->x[k] = 1.5 * k;
  s->pass = (psdmp_identify_pass){.kind = (psdmp_identify_pass_kind)kind,
                                  .run = &s->run,
                                  .all = true,
                                  .stage = 2,
                                  .x = s->x,
                                  .scale = s->scale,
                                  .simulation = simulates(kind) ? SIMULATION(0) : NULL};
  psdmp_identify_pass_shape(&s->pass);
}

/* ---- in the library's place ---- */

typedef struct asked {
  /* calls of psdmp_identify_sum_rows; the ones that fail, and are stopped, counted from 1 */
  int sums, fail_sum, stop_sum;
  bool empty, all[4], finishing[4]; /* empty: there are no rows */
  long margin[4];
  psdmp_parallel_bytes request; /* of the last one */
  psdmp_identify_sum sum;
  void (*within)(const psdmp_identify_sum *sum); /* called during a pass; NULL: nothing */
  psdmp_identify_band band;                      /* of the reference */
  int threads, freed, walkers, energies, gone;   /* made and released */
  bool no_thread, no_walker;
  psdmp_identify_pass_rows *to; /* of the walker */
  psdmp_identify_use_row use;
  psdmp_identify_auxiliary_motion auxiliary;
  void *auxiliary_user;
  psdm_status walk, get; /* what the walk and psdmp_identify_simulation_get say */
  int served;
} asked;

static asked was;

/* R of a place (equation and block): none where there are no rows */
static bool any_rows(int k, int salt) { return (k * 7 + salt) % 3 != 0; }

static int rows_at(int k, int salt) { return 1 + k * 5 % 7 + 10 * salt; } /* where there are any */

static void set_triangle(int w, int k, int salt, double *R) {
  for (int i = 0; i < w; i++)
    for (int j = 0; j < w; j++) R[i * w + j] = j < i ? 0 : 1 + sin(1.0 + k + 0.1 * i + 3 * j + salt);
}

/* the beginning of a part, as in estimate_pass.c */
typedef struct pass_part {
  double **R, *count, *numbers;
} pass_part;

static void part_fill(const psdmp_identify_pass *g, pass_part *p, int salt) {
  for (int k = 0; k < g->equations * PSDMP_IDENTIFY_BLOCKS; k++) {
    int w = g->width[k / PSDMP_IDENTIFY_BLOCKS];
    if (!any_rows(k, salt)) continue;
    p->R[k] = g->run->allocator->allocate(g->run->allocator->user, (size_t)(w * w) * sizeof(double));
    set_triangle(w, k, salt, p->R[k]);
    p->count[k] = rows_at(k, salt);
  }
  for (long k = 0; k < g->numbers; k++) p->numbers[k] = k % 5 == salt || k + 1 == g->numbers ? k + 0.5 * salt : 0;
}

psdm_status __wrap_psdmp_identify_sum_rows(psdmp_identify_run *run, const psdmp_identify_sum *sum,
                                           const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                           psdm_error *error) {
  int k = was.sums++;
  assert_true(k < 4 && sum->user);
  was.all[k] = all, was.finishing[k] = run->finishing, was.margin[k] = margin, was.sum = *sum;
  psdmp_parallel_bytes_free(&was.request);
  psdmp_parallel_bytes_put(&was.request, request->data, request->used);
  *part = NULL;
  if (was.within) was.within(sum);
  if (k + 1 == was.stop_sum) run->stopped = true;
  if (k + 1 == was.fail_sum) return psdmp_base_fail_status(error, PSDM_E_IO);
  if (was.empty) return PSDM_OK;
  *part = sum->part_new(sum->user);
  part_fill(sum->user, *part, k);
  return PSDM_OK;
}

psdm_status __wrap_psdmp_identify_sum_serve(psdmp_identify_run *run, const psdmp_identify_sum *sum,
                                            const psdmp_parallel_bytes *request, bool all, long margin,
                                            psdmp_parallel_bytes *answer, psdm_error *error) {
  (void)run, (void)error;
  was.served++, was.all[0] = all, was.margin[0] = margin, was.sum = *sum;
  assert_true(request->at == request->used && answer);
  if (was.within) was.within(sum);
  return was.fail_sum ? PSDM_E_IO : PSDM_OK;
}

psdmp_identify_band __wrap_psdmp_identify_simulation_band(const psdmp_identify_simulation *s, double *bandwidth) {
  assert_true(s == SIMULATION(0) || s == SIMULATION(1));
  *bandwidth = 7;
  return was.band;
}

void __wrap_psdmp_identify_simulation_put(const psdmp_identify_simulation *s, psdmp_parallel_bytes *to) {
  assert_true(s == SIMULATION(0));
  psdmp_parallel_bytes_put(to, "robots", 6);
}

psdm_status __wrap_psdmp_identify_simulation_get(psdmp_identify_run *run, psdmp_parallel_bytes *from,
                                                 psdmp_identify_simulation **s, psdm_error *error) {
  char text[6];
  (void)run;
  *s = NULL;
  if (was.get) return psdmp_base_fail_status(error, was.get);
  psdmp_parallel_bytes_get(from, text, 6);
  if (!from->failed) assert_memory_equal(text, "robots", 6);
  *s = SIMULATION(1);
  was.threads++;
  return PSDM_OK;
}

psdmp_identify_simulation *__wrap_psdmp_identify_simulation_thread(const psdmp_identify_simulation *s,
                                                                   psdmp_identify_run *own) {
  assert_true(s == SIMULATION(0) && own);
  if (was.no_thread) return NULL;
  was.threads++;
  return SIMULATION(1);
}

void __wrap_psdmp_identify_simulation_free(psdmp_identify_simulation *s) {
  assert_true(!s || s == SIMULATION(1));
  was.freed += s != NULL;
}

psdmp_identify_walker *__wrap_psdmp_identify_walker_new(psdmp_identify_pass_rows *to, psdmp_identify_use_row use,
                                                        psdmp_identify_auxiliary_motion auxiliary, void *user) {
  was.to = to, was.use = use, was.auxiliary = auxiliary, was.auxiliary_user = user;
  if (was.no_walker) return NULL;
  was.walkers++;
  return (psdmp_identify_walker *)(void *)&robots[0];
}

void __wrap_psdmp_identify_walker_free(psdmp_identify_walker *w) { was.gone += w != NULL; }

psdmp_identify_energies *__wrap_psdmp_identify_energies_new(psdmp_identify_pass_rows *to) {
  was.to = to, was.use = NULL;
  if (was.no_walker) return NULL;
  was.energies++;
  return (psdmp_identify_energies *)(void *)&robots[1];
}

void __wrap_psdmp_identify_energies_free(psdmp_identify_energies *e) { was.gone += e != NULL; }

/* a stretch's rows: as many of each equation and block as the stretch says */
static psdm_status put_rows(const psdmp_feed_stretch *stretch, psdm_error *error) {
  psdmp_linalg_blocks *b = &was.to->blocks;
  if (was.walk) return psdmp_base_fail_status(error, was.walk);
  for (int i = 0; i < b->n; i++)
    for (long k = 0; k < stretch->rows; k++) {
      double *row = psdmp_linalg_blocks_row(b, i, (int)(stretch->first + 3 * k / stretch->rows));
      for (int c = 0; c < b->width[i]; c++) row[c] = sin(1.0 + (double)k + 5 * c + 0.3 * i);
    }
  if (was.to->pass->numbers) was.to->numbers[4] += (double)stretch->rows, was.to->numbers[NUMBERS - 1] = 3;
  return PSDM_OK;
}

psdm_status __wrap_psdmp_identify_walker_stretch(psdmp_identify_walker *w, const psdmp_feed_stretch *stretch,
                                                 psdm_error *error) {
  assert_true((void *)w == (void *)&robots[0]);
  return put_rows(stretch, error);
}

psdm_status __wrap_psdmp_identify_energies_stretch(psdmp_identify_energies *e, const psdmp_feed_stretch *stretch,
                                                   psdm_error *error) {
  assert_true((void *)e == (void *)&robots[1]);
  return put_rows(stretch, error);
}

/* ---- what a pass asks for and gives ---- */

/* the expected request */
static void plain_request(const scene *s, bool all, psdmp_parallel_bytes *to) {
  int kind = (int)s->pass.kind;
  psdmp_identify_run_put(&s->run, &s->run.band, true, to);
  PSDMP_PARALLEL_PUT(to, kind), PSDMP_PARALLEL_PUT(to, all), PSDMP_PARALLEL_PUT(to, s->run.tempo);
  if (kind == PSDMP_IDENTIFY_PASS_ROBUST)
    PSDMP_PARALLEL_PUT(to, s->pass.stage), psdmp_parallel_bytes_put(to, s->x, sizeof s->x),
        psdmp_parallel_bytes_put(to, s->scale, sizeof s->scale);
  if (simulates(kind)) psdmp_parallel_bytes_put(to, "robots", 6);
}

static void expect_request(const scene *s, bool all) {
  psdmp_parallel_bytes should = {0};
  plain_request(s, all, &should);
  assert_int_equal(was.request.used, should.used);
  assert_memory_equal(was.request.data, should.data, should.used);
  psdmp_parallel_bytes_free(&should);
}

static void expect_blocks(const scene *s, const psdmp_linalg_blocks *b, const double *numbers, int salt) {
  for (int k = 0; k < s->pass.equations * PSDMP_IDENTIFY_BLOCKS; k++) {
    int w = s->pass.width[k / PSDMP_IDENTIFY_BLOCKS];
    double R[WIDEST * WIDEST] = {0};
    bool any = salt >= 0 && any_rows(k, salt);
    if (any) set_triangle(w, k, salt, R);
    assert_true(b->count[k] == (any ? rows_at(k, salt) : 0));
    assert_memory_equal(b->R[k], R, (size_t)(w * w) * sizeof *R);
  }
  for (long k = 0; k < s->pass.numbers; k++)
    assert_true(numbers[k] == (salt >= 0 && (k % 5 == salt || k + 1 == s->pass.numbers) ? k + 0.5 * salt : 0));
}

typedef enum ending { WHOLE, EMPTY, WAS_STOPPED, STOPPED, FAILED, FAILED_TWICE, FINISHING, ENDINGS } ending;

static void passes(void **state) {
  (void)state;
  for (int kind = 0; kind < PSDMP_IDENTIFY_PASSES; kind++)
    for (int end = 0; end < ENDINGS; end++) {
      scene s;
      counting c;
      psdmp_linalg_blocks b;
      psdm_error error = {0};
      scene_new(&s, kind);
      counting_init(&c, 0);
      s.run.allocator = &c.allocator;
      assert_true(s.pass.equations == equations_of(kind) &&
                  s.pass.numbers == (kind == PSDMP_IDENTIFY_PASS_ROBUST ? NUMBERS : 0));
      for (int i = 0; i < s.pass.equations; i++) assert_int_equal(s.pass.width[i], width_of(kind, i));
      assert_int_equal(s.pass.width[s.pass.equations], 0); /* and no more */
      was = (asked){.band = {.cutoff = INFINITY, .wide = INFINITY, .delay = end % 2 ? 0.5 : 0}};
      was.empty = end == EMPTY, was.stop_sum = end == STOPPED || end == FAILED_TWICE,
      was.fail_sum = end == FAILED         ? 1
                     : end == FAILED_TWICE ? 2
                                           : 0;
      s.run.stopped = end == WAS_STOPPED, s.run.finishing = end == FINISHING;
      double *numbers = s.pass.numbers ? fenced_new((size_t)s.pass.numbers * sizeof *numbers) : NULL;
      for (long k = 0; k < s.pass.numbers; k++) numbers[k] = -3;
      assert_true(psdmp_linalg_blocks_new(NULL, s.pass.equations, s.pass.width, PSDMP_IDENTIFY_BLOCKS, &b));
      for (int i = 0; i < s.pass.equations; i++) { /* earlier content is gone */
        double *row = psdmp_linalg_blocks_row(&b, i, 6);
        for (int k = 0; k < s.pass.width[i]; k++) row[k] = 1;
      }
      psdmp_linalg_blocks_flush(&b);
      psdm_status status = psdmp_identify_pass_run(&s.pass, &b, numbers, &error);
      bool twice = end == STOPPED || end == FAILED_TWICE;
      assert_int_equal(status, end == FAILED || end == FAILED_TWICE ? PSDM_E_IO : PSDM_OK);
      assert_int_equal(was.sums, twice ? 2 : 1);
      /* progress is not called after a stop */
      assert_true(was.finishing[0] == (end == WAS_STOPPED || end == FINISHING) && was.finishing[1] == twice &&
                  s.run.finishing == (end == FINISHING));
      assert_true(was.all[0] && !was.all[1] && s.pass.all == !twice);
      /* the longer of two delays */
      for (int k = 0; k < was.sums; k++) assert_int_equal(was.margin[k], simulates(kind) && end % 2 ? 14 + 50 : 14 + 4);
      assert_string_equal(was.sum.name, names[kind]);
      assert_string_equal(was.sum.doing, doings[kind]);
      assert_true(was.sum.work == PSDMP_IDENTIFY_WORK_PASS && was.sum.user == &s.pass);
      expect_request(&s, !twice);
      if (status) assert_true(b.count[6] == 1 && (!numbers || numbers[1] == -3)); /* as they were */
      else expect_blocks(&s, &b, numbers, end == EMPTY ? -1 : twice);
      psdmp_parallel_bytes_free(&was.request);
      assert_int_equal(c.live, 0);
      psdmp_linalg_blocks_free(&b);
      fenced_free(numbers);
    }
}

/* ---- parts ---- */

static counting memory;

static pass_part *new_part(const psdmp_identify_sum *sum, int salt) {
  pass_part *p = sum->part_new(sum->user);
  assert_non_null(p);
  if (salt >= 0) part_fill(sum->user, p, salt);
  return p;
}

/* R^T R of a place */
static void add_square(int w, const double *R, double *square) {
  for (int i = 0; i < w; i++)
    for (int j = 0; j < w; j++)
      for (int row = 0; row < w; row++) square[i * w + j] += R[row * w + i] * R[row * w + j];
}

static void merged(const psdmp_identify_sum *sum) {
  const psdmp_identify_pass *g = sum->user;
  for (int left = -1; left < 3; left++)
    for (int right = -1; right < 3; right++) {
      pass_part *p = new_part(sum, left), *q = new_part(sum, right);
      assert_int_equal(sum->merge(sum->user, p, q), PSDM_OK);
      for (int k = 0; k < g->equations * PSDMP_IDENTIFY_BLOCKS; k++) {
        int w = g->width[k / PSDMP_IDENTIFY_BLOCKS];
        double is[WIDEST * WIDEST] = {0}, should[WIDEST * WIDEST] = {0}, R[WIDEST * WIDEST], count = 0;
        for (int side = 0; side < 2; side++) {
          int salt = side ? right : left;
          if (salt < 0 || !any_rows(k, salt)) continue;
          set_triangle(w, k, salt, R);
          add_square(w, R, should);
          count += rows_at(k, salt);
        }
        assert_true(p->count[k] == count && !p->R[k] == (count == 0));
        if (!p->R[k]) continue;
        add_square(w, p->R[k], is);
        for (int i = 0; i < w * w; i++) assert_true(fabs(is[i] - should[i]) < 1e-12 * WIDEST);
        for (int i = 0; i < w; i++)
          for (int j = 0; j < i; j++) assert_true(p->R[k][i * w + j] == 0);
      }
      for (long k = 0; k < g->numbers; k++) {
        double number = 0;
        for (int side = 0; side < 2; side++) {
          int salt = side ? right : left;
          if (salt >= 0 && (k % 5 == salt || k + 1 == g->numbers)) number += k + 0.5 * salt;
        }
        assert_true(p->numbers[k] == number);
      }
      sum->part_free(sum->user, p);
    }
  /* without memory: an error, and the right-hand part is freed all the same */
  pass_part *p = new_part(sum, 0), *q = new_part(sum, 1);
  memory.fail_at = memory.calls + 1;
  assert_int_equal(sum->merge(sum->user, p, q), PSDM_E_MEMORY);
  sum->part_free(sum->user, p);
  sum->part_free(sum->user, NULL);
}

/* ---- parts as bytes ---- */

static void same_part(const psdmp_identify_pass *g, const pass_part *is, const pass_part *should) {
  for (int k = 0; k < g->equations * PSDMP_IDENTIFY_BLOCKS; k++) {
    int w = g->width[k / PSDMP_IDENTIFY_BLOCKS];
    assert_true(is->count[k] == should->count[k] && !is->R[k] == !should->R[k]);
    if (is->R[k]) assert_memory_equal(is->R[k], should->R[k], (size_t)(w * w) * sizeof(double));
  }
  for (long k = 0; k < g->numbers; k++) assert_true(is->numbers[k] == should->numbers[k]);
}

static void refuses(const psdmp_identify_sum *sum, const unsigned char *data, size_t length) {
  psdmp_parallel_bytes some = {0};
  psdmp_parallel_bytes_put(&some, data, length);
  long live = memory.live;
  assert_null(sum->get(sum->user, &some));
  assert_int_equal(memory.live, live);
  psdmp_parallel_bytes_free(&some);
}

static void sent(const psdmp_identify_sum *sum) {
  const psdmp_identify_pass *g = sum->user;
  for (int salt = -1; salt < 3; salt++) {
    pass_part *p = new_part(sum, salt), *q;
    psdmp_parallel_bytes bytes = {0};
    size_t length = sizeof(long), some = 0;
    sum->put(sum->user, p, &bytes);
    for (int k = 0; k < g->equations * PSDMP_IDENTIFY_BLOCKS; k++) {
      size_t w = (size_t)g->width[k / PSDMP_IDENTIFY_BLOCKS];
      length += sizeof(double) * (1 + (salt >= 0 && any_rows(k, salt) ? w * (w + 1) / 2 : 0));
    }
    for (long k = 0; k < g->numbers; k++) some += p->numbers[k] != 0;
    assert_int_equal(bytes.used, length + some * (sizeof(long) + sizeof(double)));
    q = sum->get(sum->user, &bytes);
    assert_true(q && bytes.at == bytes.used && !bytes.failed);
    same_part(g, q, p);
    sum->part_free(sum->user, q);
    /* half a message and an invalid number are refused; without memory there is no part */
    for (size_t part = 0; part < bytes.used; part += 1 + bytes.used / 23) refuses(sum, bytes.data, part);
    refuses(sum, bytes.data, bytes.used - 1);
    long at[] = {-1, g->numbers, g->numbers - 1, 0};
    for (size_t k = 0; k < sizeof at / sizeof *at && some; k++) {
      memcpy(bytes.data + length, &at[k], sizeof at[k]);
      if (k < 2) refuses(sum, bytes.data, bytes.used);
      bytes.at = 0, bytes.failed = false;
      q = sum->get(sum->user, &bytes);
      assert_int_equal(q != NULL, k >= 2);
      int first = salt ? salt : 5; /* number that is not zero */
      if (k == 3) assert_true(q->numbers[0] == p->numbers[first] && q->numbers[first] == 0);
      sum->part_free(sum->user, q);
    }
    for (int fail = 1, done = 0; !done; fail += fail < 5 ? 1 : 9) {
      long live = memory.live, calls = memory.calls;
      bytes.at = 0, bytes.failed = false;
      memory.fail_at = calls + fail;
      q = sum->get(sum->user, &bytes);
      done = memory.calls < memory.fail_at;
      assert_int_equal(q != NULL, done);
      sum->part_free(sum->user, q);
      assert_int_equal(memory.live, live);
      memory.fail_at = 0;
    }
    psdmp_parallel_bytes_free(&bytes);
    sum->part_free(sum->user, p);
  }
  for (int fail = 1; fail <= (g->numbers ? 4 : 3); fail++) {
    long live = memory.live;
    memory.fail_at = memory.calls + fail;
    assert_null(sum->part_new(sum->user));
    assert_int_equal(memory.live, live);
  }
  memory.fail_at = 0;
}

/* ---- a thread ---- */

static void thread(const psdmp_identify_sum *sum) {
  const psdmp_identify_pass *g = sum->user;
  int kind = (int)g->kind;
  psdmp_identify_run own = *g->run;
  psdm_error error = {0};
  const psdmp_identify_use_row use[PSDMP_IDENTIFY_PASSES] = {psdmp_identify_robust_row, psdmp_identify_didim_row,
                                                             psdmp_identify_iv_row, NULL};
  for (int trouble = 0; trouble < 3; trouble++) { /* without the simulation's thread or without a walker */
    long live = memory.live, gone = was.gone, freed = was.freed;
    was.no_thread = trouble == 1, was.no_walker = trouble == 2;
    was.auxiliary = NULL, was.auxiliary_user = NULL;
    void *space = sum->space_new(sum->user, &own);
    bool fails = trouble == 2 || (trouble == 1 && simulates(kind));
    assert_int_equal(!space, fails);
    if (!fails) {
      assert_true(was.to->pass == g && was.to->run == &own && was.use == use[kind] && was.to->blocks.n == g->equations);
      assert_true(was.auxiliary == (simulates(kind) ? psdmp_identify_simulate : NULL) &&
                  was.auxiliary_user == (simulates(kind) ? SIMULATION(1) : NULL));
      for (int i = 0; i < g->equations; i++) assert_int_equal(was.to->blocks.width[i], g->width[i]);
      sum->space_free(sum->user, space);
    }
    assert_true(memory.live == live && was.gone == gone + !fails &&
                was.freed == freed + (simulates(kind) && trouble != 1));
  }
  was.no_thread = was.no_walker = false;
  sum->space_free(sum->user, NULL);
  for (int fail = 1, done = 0; !done; fail += fail < 5 ? 1 : 7) {
    long live = memory.live;
    memory.fail_at = memory.calls + fail;
    void *space = sum->space_new(sum->user, &own);
    done = memory.calls < memory.fail_at;
    assert_int_equal(space != NULL, done);
    sum->space_free(sum->user, space);
    assert_int_equal(memory.live, live);
    memory.fail_at = 0;
  }
  /* stretch after stretch: nothing of one is in the other's part */
  void *space = sum->space_new(sum->user, &own);
  for (int round = 0; round < 4; round++) {
    pass_part *p = new_part(sum, -1);
    const psdmp_feed_stretch stretch = {.rows = (long[]){700, 90, 1, 0}[round], .first = (long[]){0, 17, 5, 0}[round]};
    assert_int_equal(sum->add(space, p, &stretch, &error), PSDM_OK);
    for (int i = 0; i < g->equations; i++)
      for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) {
        int w = g->width[i], k = i * PSDMP_IDENTIFY_BLOCKS + b;
        double should[WIDEST * WIDEST] = {0}, is[WIDEST * WIDEST] = {0}, count = 0;
        for (long at = 0; at < stretch.rows; at++) {
          if (stretch.first + 3 * at / stretch.rows != b) continue;
          double row[WIDEST];
          for (int c = 0; c < w; c++) row[c] = sin(1.0 + (double)at + 5 * c + 0.3 * i);
          for (int a = 0; a < w * w; a++) should[a] += row[a / w] * row[a % w];
          count++;
        }
        assert_true(p->count[k] == count && !p->R[k] == (count == 0));
        if (count == 0) continue;
        add_square(w, p->R[k], is);
        for (int a = 0; a < w * w; a++) assert_true(fabs(is[a] - should[a]) < 1e-12 * (1 + count));
      }
    if (g->numbers) assert_true(p->numbers[4] == stretch.rows && p->numbers[NUMBERS - 1] == 3 && p->numbers[0] == 0);
    sum->part_free(sum->user, p);
  }
  /* a walk that fails, and no memory for its rows */
  const psdmp_feed_stretch stretch = {.rows = 30};
  pass_part *p = new_part(sum, -1);
  was.walk = PSDM_E_SINGULAR;
  assert_int_equal(sum->add(space, p, &stretch, &error), PSDM_E_SINGULAR);
  for (int k = 0; k < g->equations * PSDMP_IDENTIFY_BLOCKS; k++) assert_null(p->R[k]);
  was.walk = PSDM_OK;
  memory.fail_at = memory.calls + 2;
  assert_int_equal(sum->add(space, p, &stretch, &error), PSDM_E_MEMORY);
  assert_string_equal(error.text, psdm_status_text(PSDM_E_MEMORY));
  sum->part_free(sum->user, p);
  sum->space_free(sum->user, space);
}

static void parts(void **state) {
  (void)state;
  void (*const trials[])(const psdmp_identify_sum *) = {merged, sent, thread};
  for (int kind = 0; kind < PSDMP_IDENTIFY_PASSES; kind++)
    for (int k = 0; k < 3; k++) {
      scene s;
      psdmp_linalg_blocks b;
      scene_new(&s, kind);
      counting_fenced_init(&memory, 0);
      was = (asked){.band = {.cutoff = INFINITY, .wide = INFINITY}, .within = trials[k], .empty = true};
      s.run.allocator = &memory.allocator;
      double *numbers = calloc((size_t)s.pass.numbers + 1, sizeof *numbers);
      assert_true(psdmp_linalg_blocks_new(NULL, s.pass.equations, s.pass.width, PSDMP_IDENTIFY_BLOCKS, &b));
      assert_int_equal(psdmp_identify_pass_run(&s.pass, &b, numbers, NULL), PSDM_OK);
      psdmp_parallel_bytes_free(&was.request);
      assert_int_equal(memory.live, 0);
      psdmp_linalg_blocks_free(&b);
      free(numbers);
    }
}

/* ---- other ranks ---- */

static const scene *sender;

/* the received request equals the sent one */
static void understood(const psdmp_identify_sum *sum) {
  const psdmp_identify_pass *g = sum->user, *should = &sender->pass;
  const psdmp_identify_run *r = g->run;
  int kind = (int)should->kind;
  assert_true(g->kind == should->kind && g->equations == should->equations && g->numbers == should->numbers &&
              !memcmp(g->width, should->width, (size_t)g->equations * sizeof *g->width));
  assert_true(r->tempo == sender->run.tempo && r->band.delay == sender->run.band.delay && r->choice[0].count == OWN0 &&
              r->choice[1].count == OWN1);
  assert_true(g->simulation == (simulates(kind) ? SIMULATION(1) : NULL));
  if (kind == PSDMP_IDENTIFY_PASS_ROBUST)
    assert_true(g->stage == should->stage && !memcmp(g->x, sender->x, sizeof sender->x) &&
                !memcmp(g->scale, sender->scale, sizeof sender->scale));
  else assert_true(!g->x && !g->scale && !g->stage);
  assert_string_equal(sum->name, names[kind]);
  assert_true(sum->work == PSDMP_IDENTIFY_WORK_PASS && sum->part_new && sum->part_free && sum->space_new &&
              sum->space_free && sum->add && sum->merge && sum->put && sum->get);
}

static psdm_status serve(scene *other, const unsigned char *data, size_t length, psdm_error *error) {
  psdmp_parallel_bytes request = {0}, answer = {0};
  counting c;
  counting_fenced_init(&c, 0);
  other->run.allocator = &c.allocator;
  *error = (psdm_error){0};
  psdmp_parallel_bytes_put(&request, data, length);
  psdm_status status = psdmp_identify_serve_pass(&other->run, &request, &answer, error);
  assert_true(c.live == 0 && was.freed == was.threads);
  psdmp_parallel_bytes_free(&request), psdmp_parallel_bytes_free(&answer);
  return status;
}

static void served(void **state) {
  (void)state;
  for (int kind = 0; kind < PSDMP_IDENTIFY_PASSES; kind++)
    for (int all = 0; all < 2; all++) {
      scene s, other;
      psdm_error error;
      psdmp_parallel_bytes bytes = {0};
      scene_new(&s, kind), scene_new(&other, kind);
      sender = &s;
      other.run.tempo = 0, other.run.band = (psdmp_identify_band){0}, other.choice[0].count = 9,
      other.choice[1].count = 11;
      plain_request(&s, all, &bytes);
      was = (asked){.band = {.cutoff = INFINITY, .wide = INFINITY, .delay = 0.2}, .within = understood};
      assert_int_equal(serve(&other, bytes.data, bytes.used, &error), PSDM_OK);
      assert_true(was.served == 1 && was.all[0] == all && was.margin[0] == (simulates(kind) ? 14 + 20 : 14 + 4) &&
                  was.threads == simulates(kind));
      was.fail_sum = 1;
      assert_int_equal(serve(&other, bytes.data, bytes.used, &error), PSDM_E_IO);
      assert_int_equal(was.served, 2);
      /* whatever is missing */
      for (size_t length = 0; length < bytes.used; length++) {
        assert_int_equal(serve(&other, bytes.data, length, &error), PSDM_E_MEMORY);
        assert_string_equal(error.text, psdm_status_text(PSDM_E_MEMORY));
      }
      assert_int_equal(was.served, 2);
      /* more columns than possible, where a kind would follow */
      size_t columns = sizeof(psdmp_identify_band) + (2 + N) * sizeof(double) + sizeof(bool);
      int count = OWN0;
      assert_memory_equal(bytes.data + columns, &count, sizeof count);
      count = PSDMP_PARAMETERS_MOST_COLUMNS + 1;
      memcpy(bytes.data + columns, &count, sizeof count);
      assert_int_equal(serve(&other, bytes.data, bytes.used, &error), PSDM_E_MEMORY);
      count = OWN0;
      memcpy(bytes.data + columns, &count, sizeof count);
      /* an unknown kind */
      size_t place = bytes.used - sizeof(double) - sizeof(bool) - sizeof(int) -
                     (kind == PSDMP_IDENTIFY_PASS_ROBUST ? sizeof(int) + sizeof s.x + sizeof s.scale
                      : simulates(kind)                  ? 6
                                                         : 0);
      const int odd[] = {-1, PSDMP_IDENTIFY_PASSES, 1000};
      for (int k = 0; k < 3; k++) {
        memcpy(bytes.data + place, &odd[k], sizeof odd[k]);
        assert_int_equal(serve(&other, bytes.data, bytes.used, &error), PSDM_E_MEMORY);
        assert_string_equal(error.text, psdm_status_text(PSDM_E_MEMORY));
      }
      memcpy(bytes.data + place, &kind, sizeof kind);
      was.get = PSDM_E_SINGULAR, was.fail_sum = 0;
      assert_int_equal(serve(&other, bytes.data, bytes.used, &error), simulates(kind) ? PSDM_E_SINGULAR : PSDM_OK);
      assert_int_equal(was.served, simulates(kind) ? 2 : 3);
      psdmp_parallel_bytes_free(&bytes);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes), cmocka_unit_test(parts), cmocka_unit_test(served)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
