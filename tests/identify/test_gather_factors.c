/* test_gather_factors.c: factors of [Y F tau wide] part by part against sums of squares of plain rows: stretches with
 * and without neighbours, blocks, columns with memory and load, parameters that do not reach a drive, means of
 * decimated rows across seams; without rows, stopped, without memory, and for another rank. */
#include "test_gather_scene.h"
#include "linalg/linalg.h"

/* ---- requested factorisations: columns and rows ---- */

enum { MOST_CALLS = 1000 };

static struct {
  int count, width[MOST_CALLS];
  long rows[MOST_CALLS];
} added;

void __real_psdmp_linalg_factor_add(int w, double *R, long rows, double *X, double *scratch);
void __wrap_psdmp_linalg_factor_add(int w, double *R, long rows, double *X, double *scratch);
void __wrap_psdmp_linalg_factor_add(int w, double *R, long rows, double *X, double *scratch) {
  if (added.count < MOST_CALLS) added.width[added.count] = w, added.rows[added.count] = rows;
  added.count++;
  __real_psdmp_linalg_factor_add(w, R, rows, X, scratch);
}

/* ---- memory is the run's own ---- */

static bool strict;

void *__real_psdmp_base_alloc(const psdm_allocator *allocator, size_t bytes);
void *__wrap_psdmp_base_alloc(const psdm_allocator *allocator, size_t bytes);
void *__wrap_psdmp_base_alloc(const psdm_allocator *allocator, size_t bytes) {
  assert_true(allocator || !strict);
  return __real_psdmp_base_alloc(allocator, bytes);
}

/* ---- plain rows and their squares ---- */

/* How rows are gathered. */
typedef struct way {
  bool chosen;
  int blocks, factor;
} way;

typedef struct squares {
  double count[N * PSDMP_IDENTIFY_BLOCKS * 2], square[N * PSDMP_IDENTIFY_BLOCKS * 2][WIDE * WIDE];
} squares;

static squares should;

static int width_of(const scene *s, const way *w, int drive) { return s->run.l + own_columns(s, drive, w->chosen) + 2; }

/* [Y F tau wide] of every drive, all parameters; an unused row only updates the columns' memory */
static void plain_row(scene *s, const way *w, const psdmp_identify_prepared *p, long k, bool used,
                      psdmp_parameters_column_state state[N], double row[N][WIDE]) {
  psdmp_identify_run *r = &s->run;
  double scratch[N * 128], Y[N * BASE] = {0};
  if (used)
    assert_int_equal(psdmp_identify_run_regressor(r, p->q + k * N, p->qd + k * N, p->qdd + k * N, scratch, Y), PSDM_OK);
  for (int i = 0; i < N; i++) {
    psdmp_parameters_column list[8];
    int own = own_columns(s, i, w->chosen);
    double load = 0;
    for (int c = 0; c < own; c++) list[c] = s->dictionary[i].column[w->chosen ? s->choice[i].take[c] : c];
    for (int j = 0; j < r->l; j++) {
      row[i][j] = s->reached[i * r->l + j] ? Y[i * r->l + j] : 0;
      if (r->theta_load) load += row[i][j] * s->load[j];
    }
    psdmp_parameters_columns_at(list, own, p->x[k * N + i], p->v[k * N + i], fabs(load), &state[i], row[i] + r->l);
    row[i][r->l + own] = p->tau[k * N + i], row[i][r->l + own + 1] = p->wide[k * N + i];
  }
}

static void add_square(const scene *s, const way *w, int drive, int label, double v, const double *row) {
  int width = width_of(s, w, drive), at = (drive * w->blocks + label * w->blocks / PSDMP_IDENTIFY_BLOCKS) * 2 +
                                          (fabs(v) <= s->run.still * s->speed[drive]);
  should.count[at]++;
  for (int a = 0; a < width; a++)
    for (int b = 0; b < width; b++) should.square[at][a * width + b] += row[a] * row[b];
}

/* every stretch begins without memory; rows before it fill the columns' memory, rows after it do not */
static void plain_stretch(scene *s, const way *w, const psdmp_feed_stretch *stretch) {
  static psdmp_parameters_column_state state[N];
  psdmp_identify_prepared p;
  memset(state, 0, sizeof state);
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, stretch, &p, NULL), PSDM_OK);
  for (long k = 0; k < p.rows && p.index[k] - stretch->first < stretch->rows - stretch->trail; k++) {
    double row[N][WIDE];
    bool used = p.label[k] >= 0 && p.index[k] - stretch->first >= stretch->lead;
    plain_row(s, w, &p, k, used, state, row);
    for (int i = 0; i < N && used; i++)
      if (!p.bad[k * N + i]) add_square(s, w, i, p.label[k], p.v[k * N + i], row[i]);
  }
  psdmp_identify_prepared_free(&p, s->run.allocator);
}

/* a segment up to row `end`: the mean around every tick that is a multiple of the factor, by all taps that are there;
 * it is used if all of them train and none is bad */
static void plain_means(scene *s, const way *w, const psdmp_feed_stretch *stretch, long end) {
  static double row[ROWS][N][WIDE];
  static psdmp_parameters_column_state state[N];
  psdmp_identify_prepared p;
  psdm_decimator d;
  memset(state, 0, sizeof state);
  assert_int_equal(psdm_decimator_new(w->factor, NULL, &d), PSDM_OK);
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, stretch, &p, NULL), PSDM_OK);
  for (long k = 0; k < p.rows; k++) plain_row(s, w, &p, k, p.label[k] >= 0, state, row[k]);
  for (long k = 0; k < end; k++) {
    if ((p.tick + k) % w->factor || p.label[k] < 0) continue;
    for (int i = 0; i < N; i++) {
      double mean[WIDE] = {0}, weight = 0;
      bool clean = true;
      for (long at = k - d.half; at <= k + d.half; at++) {
        if (at < 0 || at >= end || p.label[at] == PSDMP_IDENTIFY_EDGE) continue;
        double tap = d.taps[labs(at - k)];
        clean = clean && p.label[at] >= 0 && !p.bad[at * N + i];
        weight += tap;
        for (int c = 0; c < width_of(s, w, i); c++) mean[c] += tap * row[at][i][c];
      }
      for (int c = 0; c < width_of(s, w, i); c++) mean[c] /= weight;
      /* a row that is bad for one drive spoils that drive's mean alone, one that does not train spoils all */
      if (clean) add_square(s, w, i, p.label[k], p.v[k * N + i], mean);
    }
  }
  psdmp_identify_prepared_free(&p, NULL);
  psdm_decimator_free(&d, NULL);
}

/* R^T R is the sum of the squares, and R a triangle, also without rows; how many rows there are in motion and at
 * rest */
static void same_factors(scene *s, const way *w, const psdmp_identify_factors *f, double all[2]) {
  assert_int_equal(f->blocks, w->blocks);
  all[0] = all[1] = 0;
  for (int i = 0; i < N; i++) {
    int width = width_of(s, w, i);
    assert_int_equal(f->width[i], width);
    for (int b = 0; b < 2 * w->blocks; b++) {
      long at = 2L * i * w->blocks + b;
      const double *R = f->R[at], *square = should.square[at];
      assert_non_null(R);
      if (f->count[at] != should.count[at])
        fail_msg("drive %d, block %d: %g rows, %g were expected", i, b, f->count[at], should.count[at]);
      all[b % 2] += f->count[at];
      for (int x = 0; x < width; x++)
        for (int y = 0; y < width; y++) {
          double sum = 0;
          for (int k = 0; k < width; k++) sum += R[k * width + x] * R[k * width + y];
          near(sum, square[x * width + y], sqrt(square[x * width + x] * square[y * width + y]), "square", at);
          if (y < x) assert_true(R[x * width + y] == 0);
        }
    }
  }
}

/* the request of gather: the run's, blocks, which rows */
static psdmp_parallel_bytes request_of(scene *s, const way *w, bool all) {
  psdmp_parallel_bytes bytes = {0};
  psdmp_identify_run_put(&s->run, &s->run.band, w->chosen, &bytes);
  PSDMP_PARALLEL_PUT(&bytes, w->blocks);
  PSDMP_PARALLEL_PUT(&bytes, all);
  return bytes;
}

static void plain_script(scene *s, const way *w, const table *t) {
  memset(&should, 0, sizeof should);
  for (int segment = 0; segment < SEGMENTS && w->factor > 1; segment++) {
    psdmp_feed_stretch whole = cut(t, segment, 0, ROWS, 0);
    plain_means(s, w, &whole, ROWS);
  }
  for (int k = 0; k < scripted.count && w->factor <= 1; k++) plain_stretch(s, w, &scripted.stretch[k]);
}

/* pieces of memory that gathering takes */
static long gather_and_compare(scene *s, const table *t, const way *w, bool all, double rows[2]) {
  counting memory;
  psdm_error error = {0};
  psdmp_identify_factors f;
  counting_fenced_init(&memory, 0);
  plain_script(s, w, t);
  psdmp_parallel_bytes request = request_of(s, w, all);
  scripted.calls = 0;
  s->run.allocator = &memory.allocator, strict = true;
  assert_int_equal(psdmp_identify_gather_rows(&s->run, &s->run.band, w->chosen, w->blocks, all, &f, &error), PSDM_OK);
  strict = false;
  assert_true(scripted.calls == 1 && scripted.work == PSDMP_IDENTIFY_WORK_GATHER && scripted.all == all &&
              strcmp(scripted.name, "gather") == 0);
  assert_int_equal(scripted.margin, psdmp_identify_band_margin(&s->run, &s->run.band));
  same_bytes(&scripted.request, &request);
  same_factors(s, w, &f, rows);
  psdmp_identify_factors_free(&s->run, &f);
  assert_true(memory.live == 0 && !f.R && !f.count && !f.width && !f.blocks);
  psdmp_parallel_bytes_free(&request);
  s->run.allocator = NULL;
  return memory.calls;
}

static void rows_as_they_are(void **state) {
  (void)state;
  static table t;
  static const int blocks[] = {PSDMP_IDENTIFY_BLOCKS, 5, 1, 3, 7, PSDMP_IDENTIFY_BLOCKS};
  rng g = rng_start("rows_as_they_are");
  for (int round = 0; round < 6; round++) {
    scene s;
    double rows[2];
    const way w = {.chosen = round % 3 != 0, .blocks = blocks[round], .factor = round % 2};
    scene_new(&s, round % 2, &g);
    table_new(&t, &s, &g);
    if (round == 4) s.run.theta_load = NULL;
    s.options.decimate = w.factor; /* 0 and 1 are the same */
    if (round < 5) script_pieces(&t, round == 2 ? 0 : 20 + 10 * round);
    else script_whole(&t);
    scripted.halves = round == 1;
    long calls = gather_and_compare(&s, &t, &w, round % 2, rows);
    s.options.decimate = 0;
    if (!scripted.halves) assert_int_equal(gather_and_compare(&s, &t, &w, round % 2, rows), calls);
    print_message("  %g rows in motion, %g at rest\n", rows[0], rows[1]);
    assert_true(rows[0] > 500 && rows[1] > 10);
    script_clear();
    scene_free(&s);
  }
}

static void means_of_rows(void **state) {
  (void)state;
  static table t;
  rng g = rng_start("means_of_rows");
  for (int round = 0; round < 4; round++) {
    scene s;
    double rows[2];
    const way w = {.chosen = round % 2, .blocks = round % 2 ? PSDMP_IDENTIFY_BLOCKS : 5, .factor = 2 + round % 3};
    scene_new(&s, round < 2, &g);
    s.run.still = 0.375;
    table_new(&t, &s, &g);
    if (round) s.options.holdout_every = 0;
    s.options.decimate = w.factor;
    for (int k = 0; k < ALL * N; k++) t.bad[k] = t.bad[k] && k < 200 * N && k % N == 1;
    if (round == 3) script_whole(&t);
    else
      script_pieces(
          &t, ROWS); /* all rows before are a piece's neighbours: its columns remember what those of the whole do */
    scripted.halves = round == 1;
    gather_and_compare(&s, &t, &w, true, rows);
    print_message("  %g means in motion, %g at rest\n", rows[0], rows[1]);
    assert_true(rows[0] > 30 && rows[1] > 5);
    script_clear();
    scene_free(&s);
  }
}

/* the rows after the last piece never come: waiting means use the rows there are */
static void waiting_means(void **state) {
  (void)state;
  static table t;
  rng g = rng_start("waiting_means");
  for (int round = 0; round < 3; round++) {
    scene s;
    double rows[2];
    counting memory;
    psdmp_identify_factors f;
    const way w = {.chosen = true, .blocks = 5, .factor = 2 + round};
    scene_new(&s, round % 2, &g);
    table_new(&t, &s, &g);
    memset(t.bad, 0, sizeof t.bad);
    s.options.holdout_every = 0, s.options.decimate = w.factor;
    script_pieces(&t, ROWS);
    scripted.count = 4 - round;
    memset(&should, 0, sizeof should);
    psdmp_feed_stretch whole = cut(&t, 0, 0, ROWS, 0);
    plain_means(&s, &w, &whole, round == 0 ? 200 : round == 1 ? 130 : 71);
    counting_fenced_init(&memory, 0);
    s.run.allocator = &memory.allocator;
    assert_int_equal(psdmp_identify_gather_rows(&s.run, &s.run.band, true, 5, true, &f, NULL), PSDM_OK);
    same_factors(&s, &w, &f, rows);
    assert_true(rows[0] > 20);
    psdmp_identify_factors_free(&s.run, &f);
    assert_int_equal(memory.live, 0);
    script_clear();
    scene_free(&s);
  }
}

/* ---- chunks ---- */

enum { LONG = 1800 };

static struct {
  double t[LONG], x[4][LONG * N];
  unsigned char bad[LONG * N];
} lengthy;

/* rows wait until a drive has 512 in motion or at rest, or until another block begins */
static void rows_in_chunks(void **state) {
  (void)state;
  static psdmp_identify_prepared p;
  rng g = rng_start("rows_in_chunks");
  for (int blocks = 1; blocks <= 2; blocks++) {
    scene s;
    psdm_error error = {0};
    psdmp_identify_factors f;
    scene_new(&s, false, &g);
    s.options.holdout_every = 0, s.run.rows = LONG, s.run.still = 0.3;
    for (long k = 0; k < LONG; k++) lengthy.t[k] = 0.01 * (double)k;
    for (int part = 0; part < 4; part++)
      for (long k = 0; k < LONG * N; k++) lengthy.x[part][k] = rng_uniform(&g, -1, 1) * s.speed[k % N];
    script_clear();
    scripted.count = 1;
    scripted.stretch[0] = (psdmp_feed_stretch){.rows = LONG,
                                               .begins = true,
                                               .ends = true,
                                               .t = lengthy.t,
                                               .q = lengthy.x[0],
                                               .qd = lengthy.x[1],
                                               .qdd = lengthy.x[2],
                                               .tau = lengthy.x[3],
                                               .bad = lengthy.bad};
    added.count = 0;
    assert_int_equal(psdmp_identify_gather_rows(&s.run, &s.run.band, true, blocks, false, &f, &error), PSDM_OK);
    assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &scripted.stretch[0], &p, NULL), PSDM_OK);
    int at = 0, before = 0;
    long waiting[2 * N] = {0}, full = 0;
    for (long k = 0; k <= p.rows; k++) {
      int block = k == p.rows ? -1 : p.label[k] < 0 ? before : p.label[k] * blocks / PSDMP_IDENTIFY_BLOCKS;
      for (int i = 0; i < 2 * N && block != before; i++) {
        if (waiting[i])
          assert_true(at < added.count && added.rows[at] == waiting[i] &&
                      added.width[at] == s.choice[i / 2].count + 2 +
                                             (s.run.l - (i < 2   ? 1
                                                         : i < 4 ? (s.run.l + 1) / 3
                                                                 : 2)));
        at += waiting[i] > 0, waiting[i] = 0;
      }
      before = block;
      for (int i = 0; i < N && k < p.rows && p.label[k] >= 0; i++) {
        int to = 2 * i + (fabs(p.v[k * N + i]) <= s.run.still * s.speed[i]);
        if (++waiting[to] < 512) continue;
        assert_true(at < added.count && added.rows[at] == 512);
        at++, full++, waiting[to] = 0;
      }
    }
    assert_int_equal(at, added.count);
    assert_true(full >= 3);
    psdmp_identify_prepared_free(&p, NULL);
    psdmp_identify_factors_free(&s.run, &f);
    script_clear();
    scene_free(&s);
  }
}

/* ---- a long chain of joints with few parameters ---- */

enum { JOINTS = 12, FEW = 60 };

static struct {
  double t[FEW], x[4][FEW * JOINTS], T[JOINTS * JOINTS], speed[JOINTS];
  unsigned char bad[FEW * JOINTS], reached[JOINTS * 120];
  psdmp_identify_dictionary dictionary[JOINTS];
} chain;

/* a regressor needs more than a factor of four columns */
static void few_columns(void **state) {
  (void)state;
  rng g = rng_start("few_columns");
  counting memory;
  psdmp_base_arena arena = {0};
  psdmp_identify_factors f;
  psdm_calibrate_options options = {.threads = 1};
  psdmp_identify_run r = {
      .robot =
          parse_robot("convention: dh\njoints: [{a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: "
                      "1}, {a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: 1},"
                      "{a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: 1}, {a: 1, alpha: 1}]\n"),
      .options = &options,
      .n = JOINTS,
      .speed = chain.speed,
      .dictionary = chain.dictionary,
      .reached = chain.reached,
      .interval = 0.01,
      .rows = FEW,
      .T = chain.T,
      .band = {.kinematics = PSDM_KINEMATICS_ACCELERATION, .cutoff = INFINITY, .wide = INFINITY}};
  assert_int_equal(psdmp_parameters_model(r.robot, NULL, &r.model, NULL, NULL), PSDM_OK);
  assert_true(psdmp_identify_run_formulas(&r, &arena));
  assert_int_equal(psdm_work_new(r.robot, NULL, &r.work), PSDM_OK);
  for (int i = 0; i < JOINTS; i++) {
    chain.T[i * JOINTS + i] = 1, chain.speed[i] = 1;
    chain.dictionary[i] = (psdmp_identify_dictionary){.count = 1, .column = {{PSDM_COLUMN_OFFSET, 0, 0}}};
    chain.reached[i * r.l + r.l - 1] = 1;
  }
  for (long k = 0; k < FEW; k++) chain.t[k] = 0.01 * (double)k;
  for (int part = 0; part < 4; part++)
    for (long k = 0; k < FEW * JOINTS; k++) chain.x[part][k] = rng_uniform(&g, -1, 1);
  script_clear();
  scripted.count = 1;
  scripted.stretch[0] = (psdmp_feed_stretch){.rows = FEW,
                                             .begins = true,
                                             .ends = true,
                                             .t = chain.t,
                                             .q = chain.x[0],
                                             .qd = chain.x[1],
                                             .qdd = chain.x[2],
                                             .tau = chain.x[3],
                                             .bad = chain.bad};
  assert_true(psdmp_linalg_factor_scratch(4, 512) < (size_t)(JOINTS * (r.S + r.l)));
  for (int most = 0; most < 2; most++) { /* and then as many columns of the last drive as there may be */
    psdmp_identify_dictionary *last = &chain.dictionary[JOINTS - 1];
    if (most) last->count = PSDMP_PARAMETERS_MOST_COLUMNS;
    for (int k = 1; k < last->count; k++) last->column[k] = (psdmp_parameters_column){PSDM_COLUMN_TANH, 0.01 * k, 0};
    counting_fenced_init(&memory, 0);
    r.allocator = &memory.allocator;
    assert_int_equal(psdmp_identify_gather_rows(&r, &r.band, false, 1, false, &f, NULL), PSDM_OK);
    for (int i = 0; i < JOINTS; i++) {
      int width = r.l + chain.dictionary[i].count + 2, ones = r.l;
      const double *R = f.R[2 * i];
      double square = 0;
      for (int k = 0; k <= ones; k++) square += R[k * width + ones] * R[k * width + ones];
      assert_true(f.width[i] == width && f.count[2 * i] == FEW - 20 && f.count[2 * i + 1] == 0);
      near(square, FEW - 20, FEW, "rows of drive", i);
    }
    psdmp_identify_factors_free(&r, &f);
    assert_int_equal(memory.live, 0);
  }
  script_clear();
  psdmp_base_arena_free(&arena);
  psdm_work_free(r.work, NULL);
  psdm_model_free(r.model);
  psdm_robot_free((psdm_robot *)(size_t)r.robot);
}

/* ---- a failed stretch leaves nothing behind ---- */

static scene *failing;
static table rows_of_it;

static void *after_a_failure(const psdmp_identify_sum *sum) {
  static const long fail[] = {1, 77, 150};
  void *space = sum->space_new(sum->user, &failing->run), *part;
  assert_non_null(space);
  for (int k = 0; k < 3; k++) {
    psdm_error error = {0};
    psdmp_feed_stretch other = cut(&rows_of_it, 1, 0, ROWS, 0);
    part = sum->part_new(sum->user);
    seen = (states){.fail_at = fail[k]};
    assert_int_equal(sum->add(space, part, &other, &error), PSDM_E_MISSING);
    assert_string_equal(error.text, "a number that this function needs is not known");
    assert_int_equal(seen.calls, fail[k]);
    seen = (states){0};
    sum->part_free(sum->user, part);
  }
  psdm_error error = {0};
  part = sum->part_new(sum->user);
  assert_int_equal(sum->add(space, part, &scripted.stretch[0], &error), PSDM_OK);
  sum->space_free(sum->user, space);
  return part;
}

static void failures(void **state) {
  (void)state;
  rng g = rng_start("failures");
  for (int round = 0; round < 2; round++) {
    scene s;
    double rows[2];
    const way w = {.chosen = true, .blocks = 5, .factor = round ? 2 : 0};
    scene_new(&s, true, &g);
    table_new(&rows_of_it, &s, &g);
    memset(rows_of_it.bad, 0, sizeof rows_of_it.bad);
    s.options.decimate = w.factor, s.options.holdout_every = 0;
    script_clear();
    failing = &s;
    scripted.count = 1, scripted.stretch[0] = cut(&rows_of_it, 0, 0, ROWS, 0), scripted.make = after_a_failure;
    if (w.factor > 1) {
      counting memory;
      psdmp_identify_factors f;
      counting_fenced_init(&memory, 0);
      memset(&should, 0, sizeof should);
      plain_means(&s, &w, &scripted.stretch[0], ROWS);
      s.run.allocator = &memory.allocator;
      assert_int_equal(psdmp_identify_gather_rows(&s.run, &s.run.band, true, 5, true, &f, NULL), PSDM_OK);
      same_factors(&s, &w, &f, rows);
      psdmp_identify_factors_free(&s.run, &f);
      assert_int_equal(memory.live, 0);
      s.run.allocator = NULL;
    } else {
      gather_and_compare(&s, &rows_of_it, &w, false, rows);
    }
    assert_true(rows[0] > 50);
    script_clear();
    scene_free(&s);
  }
}

/* ---- without rows, stopped, refused ---- */

static void none_or_stopped(void **state) {
  (void)state;
  static table t;
  rng g = rng_start("none_or_stopped");
  scene s;
  double rows[2];
  const way w = {.chosen = true, .blocks = 5};
  scene_new(&s, true, &g);
  table_new(&t, &s, &g);
  /* no rows: zeros of the same size */
  script_clear();
  scripted.none = true;
  gather_and_compare(&s, &t, &w, true, rows);
  assert_true(rows[0] == 0 && rows[1] == 0);
  for (int bits = 0; bits < 16; bits++) {
    counting memory;
    psdm_error error = {.line = 7, .column = 7, .file = "other"};
    psdmp_identify_factors f;
    bool stopped = bits & 1, finishing = bits & 2, all = bits & 4, refused = bits & 8,
         works = !refused && (!stopped || finishing || all);
    memset(&f, 0x55, sizeof f);
    counting_fenced_init(&memory, 0);
    s.run.allocator = &memory.allocator, s.run.stopped = stopped, s.run.finishing = finishing;
    script_whole(&t);
    scripted.refuse = refused ? PSDM_E_IO : PSDM_OK;
    assert_int_equal(psdmp_identify_gather_rows(&s.run, &s.run.band, true, 5, all, &f, &error), works ? PSDM_OK
                                                                                                : refused
                                                                                                    ? PSDM_E_IO
                                                                                                    : PSDM_E_STOPPED);
    assert_string_equal(error.text, works ? "" : refused ? "refused" : "stopped");
    if (!works && !refused) assert_true(error.line == 0 && error.column == 0 && error.file[0] == 0);
    assert_true(works == (f.R != NULL) && works == (f.count != NULL) && works == (f.width != NULL) &&
                f.blocks == (works ? 5 : 0));
    psdmp_identify_factors_free(&s.run, &f);
    assert_int_equal(memory.live, 0);
    s.run.allocator = NULL;
  }
  script_clear();
  scene_free(&s);
}

/* every allocation fails once: nothing leaks */
static void no_memory_for_factors(void **state) {
  (void)state;
  static table t;
  rng g = rng_start("no_memory_for_factors");
  scene s;
  scene_new(&s, true, &g);
  table_new(&t, &s, &g);
  s.options.holdout_every = 0;
  for (int round = 0; round < 3; round++) {
    bool done = false;
    long at;
    s.options.decimate = round == 1 ? 2 : 0;
    for (at = 1; !done; at++) {
      counting memory;
      psdm_error error = {0};
      psdmp_identify_factors f;
      counting_fenced_init(&memory, at);
      s.run.allocator = &memory.allocator;
      script_clear();
      scripted.none = round == 2;
      scripted.count = 3;
      for (int k = 0; k < 3; k++)
        scripted.stretch[k] = cut(&t, 0, k ? 40 + 60 * k : 0, 100 + 60 * k, 30), scripted.sent[k] = k == 1;
      psdm_status status = psdmp_identify_gather_rows(&s.run, &s.run.band, true, 2, true, &f, &error);
      done = memory.calls < at;
      assert_int_equal(status, done ? PSDM_OK : PSDM_E_MEMORY);
      assert_string_equal(error.text, done ? "" : "out of memory");
      if (!done) assert_true(!f.R && !f.count && !f.width && !f.blocks);
      psdmp_identify_factors_free(&s.run, &f);
      assert_int_equal(memory.live, 0);
      s.run.allocator = NULL;
    }
    print_message("  %ld pieces\n", at - 2);
    assert_true(at > (round < 2 ? 100 : 10));
  }
  script_clear();
  scene_free(&s);
}

/* ---- another rank ---- */

static void served_factors(void **state) {
  (void)state;
  static table t;
  rng g = rng_start("served_factors");
  for (int round = 0; round < 4; round++) {
    scene s, other;
    counting memory;
    psdm_error error = {0};
    psdmp_identify_factors f;
    bool all = round & 1, chosen = round & 2;
    scene_new(&s, true, &g), scene_new(&other, true, &g);
    table_new(&t, &s, &g);
    psdmp_identify_band band = s.run.band;
    band.delay = 0.023;
    script_pieces(&t, 20);
    assert_int_equal(psdmp_identify_gather_rows(&s.run, &band, chosen, 7, all, &f, &error), PSDM_OK);
    psdmp_identify_factors_free(&s.run, &f);
    psdmp_parallel_bytes request = scripted.request, alone = scripted.answer, answer = {0};
    scripted.request = scripted.answer = (psdmp_parallel_bytes){0};
    counting_fenced_init(&memory, 0);
    other.run.allocator = &memory.allocator;
    for (size_t length = 0; length < request.used; length += length + 16 < request.used ? 7 : 1) {
      psdmp_parallel_bytes half = {.data = request.data, .used = length};
      scripted.calls = 0, error.text[0] = 0;
      assert_int_equal(psdmp_identify_serve_gather(&other.run, &half, &answer, &error), PSDM_E_MEMORY);
      assert_string_equal(error.text, "out of memory");
      assert_true(scripted.calls == 0 && answer.used == 0 && memory.live == 0);
    }
    assert_int_equal(psdmp_identify_serve_gather(&other.run, &request, &answer, &error), PSDM_OK);
    assert_true(scripted.calls == 1 && scripted.all == all && scripted.work == PSDMP_IDENTIFY_WORK_GATHER &&
                scripted.margin == psdmp_identify_band_margin(&s.run, &band) && memory.live == 0);
    same_bytes(&answer, &alone);
    /* without memory */
    bool done = false;
    scripted.none = true;
    for (long at = 1; !done; at++) {
      counting_fenced_init(&memory, at);
      request.at = 0;
      psdm_status status = psdmp_identify_serve_gather(&other.run, &request, &answer, &error);
      done = memory.calls < at;
      assert_true(status == (done ? PSDM_OK : PSDM_E_MEMORY) && memory.live == 0);
      if (done) assert_true(at > 5);
    }
    counting_fenced_init(&memory, 0);
    scripted.refuse = PSDM_E_IO, request.at = 0;
    assert_int_equal(psdmp_identify_serve_gather(&other.run, &request, &answer, &error), PSDM_E_IO);
    assert_int_equal(memory.live, 0);
    psdmp_parallel_bytes_free(&request), psdmp_parallel_bytes_free(&alone), psdmp_parallel_bytes_free(&answer);
    psdmp_base_arena_free(&other.run.arena);
    script_clear();
    scene_free(&s), scene_free(&other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_as_they_are), cmocka_unit_test(means_of_rows),         cmocka_unit_test(waiting_means),
      cmocka_unit_test(rows_in_chunks),   cmocka_unit_test(few_columns),           cmocka_unit_test(failures),
      cmocka_unit_test(none_or_stopped),  cmocka_unit_test(no_memory_for_factors), cmocka_unit_test(served_factors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
