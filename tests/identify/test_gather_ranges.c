/* test_gather_ranges.c: the drives' regressor of base parameters, which parameters reach a drive, and the ranges of a
 * log part by part, number by number; without memory, without rows, and for another rank. */
#include "test_gather_scene.h"

/* ---- the regressor ---- */

TEST(regressor_of_drives) {
  rng g = rng_start("regressor_of_drives");
  for (int round = 0; round < 6; round++) {
    scene s;
    scene_new(&s, round % 2, &g);
    psdmp_identify_run *r = &s.run;
    int l = r->l;
    double x[3 * N], standard[N * 64], scratch[N * 128], Y[N * BASE];
    assert_true(r->S <= 64);
    for (int i = 0; i < 3 * N; i++) x[i] = rng_uniform(&g, -2, 2);
    for (int a = 0, b = l - 1; a < b && round > 3; a++, b--) { /* in any order */
      int kept = r->kept[a];
      r->kept[a] = r->kept[b], r->kept[b] = kept;
    }
    assert_int_equal(psdm_regressor_standard(r->robot, r->work, x, x + N, x + 2 * N, standard), PSDM_OK);
    assert_int_equal(psdmp_identify_run_regressor(r, x, x + N, x + 2 * N, scratch, Y), PSDM_OK);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < l; j++) {
        long double sum = 0, size = 0;
        for (int k = 0; k < N; k++) {
          long double term = (s.coupled ? transmission[k][i] : k == i) * (long double)standard[k * r->S + r->kept[j]];
          sum += term, size += fabsl(term);
        }
        assert_true(fabsl(Y[i * l + j] - sum) <= 1e-15L * size);
      }
    seen = (states){.fail_at = 1};
    assert_int_equal(psdmp_identify_run_regressor(r, x, x + N, x + 2 * N, scratch, Y), PSDM_E_MISSING);
    seen = (states){0};
    scene_free(&s);
  }
}

/* three states by Lehmer's generator, from -3 to 3: 48271^k mod 2^31 - 1; earlier reach is kept */
TEST(reach) {
  rng g = rng_start("reach");
  for (int round = 0; round < 2; round++) {
    scene s;
    scene_new(&s, round, &g);
    psdmp_identify_run *r = &s.run;
    double scratch[N * 128], Y[N * BASE];
    unsigned char any[N * BASE] = {0}, had[N * BASE];
    for (int k = 0; k < N * r->l; k++) s.reached[k] = had[k] = k % 11 == 3;
    for (int fail = 1; fail <= 3; fail++) {
      seen = (states){.fail_at = fail};
      assert_int_equal(psdmp_identify_run_reach(r, scratch, Y), PSDM_E_MISSING);
      assert_int_equal(seen.calls, fail);
    }
    memcpy(s.reached, had, sizeof had);
    seen = (states){0};
    assert_int_equal(psdmp_identify_run_reach(r, scratch, Y), PSDM_OK);
    assert_int_equal(seen.calls, 3);
    states asked = seen;
    uint64_t power = 1;
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 3 * N; i++) {
        power = power * 48271 % 2147483647;
        assert_true(fabs(asked.q[k][i] - (6 * ((double)power / 2147483647) - 3)) <= 1e-15 * 3);
      }
      assert_int_equal(psdmp_identify_run_regressor(r, asked.q[k], asked.q[k] + N, asked.q[k] + 2 * N, scratch, Y),
                       PSDM_OK);
      for (int j = 0; j < N * r->l; j++) any[j] |= Y[j] != 0;
    }
    int none = 0;
    for (int k = 0; k < N * r->l; k++) {
      assert_int_equal(s.reached[k], any[k] || had[k]);
      none += !s.reached[k];
    }
    assert_true(none > 0);
    scene_free(&s);
  }
}

/* ---- ranges, as they are sent ---- */

enum { MOST_ROWS = 1100 };

typedef struct range_numbers {
  long rows;
  double speed[MOST_ROWS][N], low[N], high[N], quick[N], quicker[N];
} range_numbers;

static void put_ranges(const range_numbers *n, psdmp_parallel_bytes *to) {
  const double *const sums[] = {n->low, n->high, n->quick, n->quicker};
  PSDMP_PARALLEL_PUT(to, n->rows);
  psdmp_parallel_bytes_put(to, n->speed, (size_t)n->rows * sizeof n->speed[0]);
  for (int k = 0; k < 4; k++) psdmp_parallel_bytes_put(to, sums[k], N * sizeof(double));
}

static void get_ranges(range_numbers *n, psdmp_parallel_bytes *from) {
  double *const sums[] = {n->low, n->high, n->quick, n->quicker};
  from->at = 0;
  PSDMP_PARALLEL_GET(from, n->rows);
  assert_in_range(n->rows, 0, MOST_ROWS);
  psdmp_parallel_bytes_get(from, n->speed, (size_t)n->rows * sizeof n->speed[0]);
  for (int k = 0; k < 4; k++) psdmp_parallel_bytes_get(from, sums[k], N * sizeof(double));
  assert_true(!from->failed && from->at == from->used);
}

/* training rows of all stretches of the script */
static void plain_ranges(scene *s, range_numbers *n) {
  *n = (range_numbers){0};
  for (int i = 0; i < N; i++) n->low[i] = INFINITY, n->high[i] = -INFINITY;
  for (int k = 0; k < scripted.count; k++) {
    psdmp_identify_prepared p;
    assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, &scripted.stretch[k], &p, NULL), PSDM_OK);
    for (long row = 0; row < p.rows; row++) {
      if (p.label[row] < 0) continue;
      for (int i = 0; i < N; i++) {
        double x = p.x[row * N + i], v = p.v[row * N + i], qd = p.qd[row * N + i], qdd = p.qdd[row * N + i];
        n->speed[n->rows][i] = v < 0 ? -v : v;
        if (x < n->low[i]) n->low[i] = x;
        if (x > n->high[i]) n->high[i] = x;
        n->quick[i] += qd * qd, n->quicker[i] += qdd * qdd;
      }
      n->rows++;
    }
    psdmp_identify_prepared_free(&p, s->run.allocator);
  }
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* the ranges that the run gets */
static void expect_run(const scene *s, const range_numbers *n) {
  double tempo = 0;
  for (int i = 0; i < N; i++) {
    double column[MOST_ROWS];
    for (long k = 0; k < n->rows; k++) column[k] = n->speed[k][i];
    qsort(column, (size_t)n->rows, sizeof *column, ascending);
    assert_true(s->speed[i] == column[(n->rows - 1) * 99 / 100]);
    assert_true(s->span[i] == n->high[i] - n->low[i] && s->centre[i] == (n->low[i] + n->high[i]) / 2);
    if (n->quick[i] > 0) tempo = fmax(tempo, sqrt(n->quicker[i] / n->quick[i]) / (2 * 3.14159265358979323846));
  }
  assert_true(isfinite(tempo) && fabs(s->run.tempo - tempo) <= 1e-13 * tempo);
}

TEST(ranges_of_parts) {
  static table w;
  static range_numbers is, should;
  rng g = rng_start("ranges_of_parts");
  for (int round = 0; round < 6; round++) {
    scene s;
    counting memory;
    psdm_error error = {0};
    scene_new(&s, round % 2, &g);
    table_new(&w, &s, &g);
    counting_fenced_init(&memory, 0);
    s.run.allocator = &memory.allocator;
    s.run.finishing = round == 3, s.run.tempo = 77;
    if (round == 4) s.options.holdout_every = 0;
    if (round < 5) script_pieces(&w, round == 2 ? 0 : 20);
    else script_whole(&w);
    scripted.halves = round < 2;
    psdmp_parallel_bytes request = {0};
    psdmp_identify_run_put(&s.run, &s.run.band, true, &request);
    plain_ranges(&s, &should);
    assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_OK);
    assert_true(scripted.calls == 1 && scripted.work == PSDMP_IDENTIFY_WORK_RANGES && !scripted.all &&
                scripted.finishing && s.run.finishing == (round == 3));
    assert_true(strcmp(scripted.name, "ranges") == 0 &&
                scripted.margin == psdmp_identify_band_margin(&s.run, &s.run.band));
    same_bytes(&scripted.request, &request);
    get_ranges(&is, &scripted.answer);
    assert_int_equal(is.rows, should.rows);
    assert_true(is.rows > 200);
    for (int i = 0; i < N; i++) {
      for (long k = 0; k < is.rows; k++) assert_true(is.speed[k][i] == should.speed[k][i]);
      assert_true(is.low[i] == should.low[i] && is.high[i] == should.high[i]);
      assert_true(fabs(is.quick[i] - should.quick[i]) <= 1e-13 * should.quick[i] &&
                  fabs(is.quicker[i] - should.quicker[i]) <= 1e-13 * should.quicker[i]);
    }
    expect_run(&s, &should);
    assert_int_equal(memory.live, 0);
    psdmp_parallel_bytes_free(&request);
    script_clear();
    scene_free(&s);
  }
}

/* ---- ranges that are made up ---- */

static range_numbers made;

static void *made_part(const psdmp_identify_sum *sum) {
  psdmp_parallel_bytes bytes = {0};
  put_ranges(&made, &bytes);
  void *part = sum->get(sum->user, &bytes);
  assert_non_null(part);
  psdmp_parallel_bytes_free(&bytes);
  return part;
}

/* any number of rows; drives that always rest have no tempo, whatever their acceleration */
TEST(ranges_of_any_rows) {
  static const long rows[] = {1, 2, 3, 99, 100, 101, 102, 200, 201, 202, 301};
  rng g = rng_start("ranges_of_any_rows");
  for (int round = 0; round < 11; round++) {
    scene s;
    psdm_error error = {0};
    scene_new(&s, false, &g);
    made = (range_numbers){.rows = rows[round]};
    for (long k = 0; k < made.rows; k++)
      for (int i = 0; i < N; i++) made.speed[k][i] = rng_uniform(&g, 0, 3);
    for (int i = 0; i < N; i++) {
      made.low[i] = rng_uniform(&g, -2, 1), made.high[i] = made.low[i] + rng_uniform(&g, 0, 3);
      made.quick[i] = i == round % N ? 0 : rng_uniform(&g, 0.1, 1), made.quicker[i] = rng_uniform(&g, 0.1, 50);
    }
    script_clear();
    scripted.make = made_part;
    assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_OK);
    expect_run(&s, &made);
    script_clear();
    scene_free(&s);
  }
}

/* ---- room ---- */

static size_t last_bytes;

static void *allocate_and_tell(void *user, size_t bytes) {
  (void)user;
  last_bytes = bytes;
  return malloc(bytes);
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

/* this many rows are added to 100, and this room is requested; 0: there is enough */
static void *grown_part(const psdmp_identify_sum *sum) {
  static const long more[] = {30, 60, 10, 300, 0, 500, 20}, room[] = {216, 0, 0, 500, 0, 1016, 2048};
  static range_numbers all, is;
  made = all = (range_numbers){.rows = 100};
  for (int i = 0; i < N; i++) made.low[i] = -1, made.high[i] = 1;
  for (long k = 0; k < 100; k++) made.speed[k][0] = all.speed[k][0] = (double)k;
  void *part = made_part(sum);
  for (int step = 0; step < 7; step++) {
    made.rows = more[step];
    for (long k = 0; k < made.rows; k++) made.speed[k][0] = all.speed[all.rows + k][0] = (double)(1000 * step + k);
    all.rows += made.rows;
    void *next = made_part(sum);
    last_bytes = 0;
    assert_int_equal(sum->merge(sum->user, part, next), PSDM_OK);
    assert_int_equal(last_bytes, (size_t)room[step] * N * sizeof(double));
    psdmp_parallel_bytes bytes = {0};
    sum->put(sum->user, part, &bytes);
    get_ranges(&is, &bytes);
    assert_int_equal(is.rows, all.rows);
    for (long k = 0; k < is.rows; k++) assert_true(is.speed[k][0] == all.speed[k][0]);
    psdmp_parallel_bytes_free(&bytes);
  }
  return part;
}

/* room is doubled, so that many parts are not copied each time */
TEST(room_doubles) {
  const psdm_allocator own = {allocate_and_tell, release, NULL};
  rng g = rng_start("room_doubles");
  scene s;
  psdm_error error = {0};
  scene_new(&s, false, &g);
  s.run.allocator = &own;
  script_clear();
  scripted.make = grown_part;
  assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_OK);
  script_clear();
  scene_free(&s);
}

/* ---- the largest number of joints ---- */

enum { JOINTS = PSDM_CALIBRATE_JOINTS };

static double many[3][1 + 4][JOINTS]; /* one row's speeds, low, high, quick, quicker: of both parts, and together */

static void *many_joints(const psdmp_identify_sum *sum) {
  void *part[2];
  for (int k = 0; k < 2; k++) {
    psdmp_parallel_bytes bytes = {0};
    long rows = 1;
    PSDMP_PARALLEL_PUT(&bytes, rows);
    PSDMP_PARALLEL_PUT(&bytes, many[k]);
    part[k] = sum->get(sum->user, &bytes);
    assert_non_null(part[k]);
    psdmp_parallel_bytes_free(&bytes);
  }
  assert_int_equal(sum->merge(sum->user, part[0], part[1]), PSDM_OK);
  return part[0];
}

TEST(ranges_of_many_joints) {
  static psdmp_identify_dictionary dictionary[JOINTS];
  static psdmp_identify_choice choice[JOINTS];
  double speed[JOINTS] = {0}, span[JOINTS], centre[JOINTS];
  rng g = rng_start("ranges_of_many_joints");
  counting memory;
  counting_fenced_init(&memory, 0);
  psdm_calibrate_options options = {.threads = 1};
  psdmp_identify_run r = {.options = &options,
                          .allocator = &memory.allocator,
                          .n = JOINTS,
                          .interval = 0.01,
                          .speed = speed,
                          .span = span,
                          .centre = centre,
                          .dictionary = dictionary,
                          .choice = choice,
                          .band = {.cutoff = INFINITY, .wide = INFINITY}};
  for (int i = 0; i < JOINTS; i++) {
    for (int k = 0; k < 2; k++)
      for (int row = 0; row < 5; row++) many[k][row][i] = rng_uniform(&g, row == 1 ? -3 : 1, row == 1 ? -1 : 3);
    many[2][0][i] = fmin(many[0][0][i], many[1][0][i]); /* the slower of two */
    many[2][1][i] = fmin(many[0][1][i], many[1][1][i]), many[2][2][i] = fmax(many[0][2][i], many[1][2][i]);
    for (int row = 3; row < 5; row++) many[2][row][i] = many[0][row][i] + many[1][row][i];
  }
  script_clear();
  scripted.make = many_joints;
  assert_int_equal(psdmp_identify_run_ranges(&r, &r.band, NULL), PSDM_OK);
  double tempo = 0, sums[4][JOINTS];
  assert_int_equal(scripted.answer.used, sizeof(long) + 2 * sizeof sums[0] + sizeof sums);
  memcpy(sums, scripted.answer.data + sizeof(long) + 2 * sizeof sums[0], sizeof sums);
  for (int i = 0; i < JOINTS; i++) {
    for (int row = 0; row < 4; row++) assert_true(sums[row][i] == many[2][row + 1][i]);
    assert_true(speed[i] == many[2][0][i] && span[i] == many[2][2][i] - many[2][1][i] &&
                centre[i] == (many[2][2][i] + many[2][1][i]) / 2);
    tempo = fmax(tempo, sqrt(many[2][4][i] / many[2][3][i]) / (2 * 3.14159265358979323846));
  }
  assert_true(fabs(r.tempo - tempo) <= 1e-13 * tempo);
  assert_int_equal(memory.live, 0);
  script_clear();
}

/* ---- failures ---- */

static long times_back;

void __wrap_psdmp_feed_faults(const psdmp_feed *feed, long faults[PSDM_FAULTS]);
void __wrap_psdmp_feed_faults(const psdmp_feed *feed, long faults[PSDM_FAULTS]) {
  (void)feed;
  for (int k = 0; k < PSDM_FAULTS; k++) faults[k] = k == PSDM_FAULT_BACK ? times_back : 5;
}

int __wrap_psdmp_feed_segments(const psdmp_feed *feed);
int __wrap_psdmp_feed_segments(const psdmp_feed *feed) { return feed ? -1 : 8; }

TEST(nothing_to_train_on) {
  static table w;
  rng g = rng_start("nothing_to_train_on");
  scene s;
  scene_new(&s, true, &g);
  table_new(&w, &s, &g);
  s.options.holdout_every = 1; /* all is held out */
  s.run.tempo = 77;
  for (int none = 0; none < 2; none++)
    for (times_back = 0; times_back < 8; times_back += 7) {
      counting memory;
      psdm_error error = {.line = 7, .column = 7, .file = "other"};
      counting_fenced_init(&memory, 0);
      s.run.allocator = &memory.allocator;
      script_whole(&w);
      scripted.none = none;
      assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error),
                       times_back ? PSDM_E_PARSE : PSDM_E_ARGUMENT);
      assert_string_equal(error.text,
                          times_back ? "no row is left to train on: t runs back 7 times, and the 8 pieces in between "
                                       "are too short; are the rows in order?"
                                     : "no row is left to train on: the log is too short, or all of it is held out");
      assert_true(error.line == 0 && error.column == 0 && error.file[0] == 0);
      assert_true(memory.live == 0 && !s.run.finishing && s.run.tempo == 77);
      s.run.allocator = NULL;
    }
  /* a log that cannot be read reports its own error */
  psdm_error error = {0};
  scripted.refuse = PSDM_E_IO;
  assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_E_IO);
  assert_string_equal(error.text, "refused");
  assert_true(!s.run.finishing && s.run.tempo == 77);
  script_clear();
  scene_free(&s);
}

/* every allocation fails once: nothing leaks, and earlier ranges are kept */
TEST(no_memory_for_ranges) {
  static table w;
  rng g = rng_start("no_memory_for_ranges");
  scene s;
  scene_new(&s, true, &g);
  table_new(&w, &s, &g);
  bool done = false;
  for (long at = 1; !done; at++) {
    counting memory;
    psdm_error error = {0};
    counting_fenced_init(&memory, at);
    s.run.allocator = &memory.allocator, s.run.finishing = false, s.run.tempo = 77;
    script_pieces(&w, 20);
    psdm_status status = psdmp_identify_run_ranges(&s.run, &s.run.band, &error);
    done = memory.calls < at;
    assert_int_equal(status, done ? PSDM_OK : PSDM_E_MEMORY);
    assert_string_equal(error.text, done ? "" : "out of memory");
    assert_true(memory.live == 0 && !s.run.finishing && done == (s.run.tempo != 77));
    if (done) assert_true(at > 100);
    s.run.allocator = NULL;
  }
  script_clear();
  scene_free(&s);
}

/* ---- another rank ---- */

/* it receives bands and columns, and answers with the sums that rank 0 would have made */
TEST(served_ranges) {
  static table w;
  rng g = rng_start("served_ranges");
  scene s, other;
  psdm_error error = {0};
  scene_new(&s, true, &g), scene_new(&other, true, &g);
  table_new(&w, &s, &g);
  psdmp_identify_band band = s.run.band;
  band.delay = 0.023;
  script_pieces(&w, 20);
  assert_int_equal(psdmp_identify_run_ranges(&s.run, &band, &error), PSDM_OK);
  psdmp_parallel_bytes request = scripted.request, alone = scripted.answer, answer = {0};
  scripted.request = scripted.answer = (psdmp_parallel_bytes){0};
  for (size_t length = 0; length < request.used; length += 5) {
    psdmp_parallel_bytes half = {.data = request.data, .used = length};
    scripted.calls = 0;
    error.text[0] = 0;
    assert_int_equal(psdmp_identify_serve_ranges(&other.run, &half, &answer, &error), PSDM_E_MEMORY);
    assert_string_equal(error.text, "out of memory");
    assert_true(scripted.calls == 0 && answer.used == 0);
  }
  assert_int_equal(psdmp_identify_serve_ranges(&other.run, &request, &answer, &error), PSDM_OK);
  assert_true(scripted.calls == 1 && !scripted.all && scripted.work == PSDMP_IDENTIFY_WORK_RANGES &&
              scripted.margin == psdmp_identify_band_margin(&s.run, &band));
  assert_true(scripted.margin > psdmp_identify_band_margin(&s.run, &s.run.band));
  same_bytes(&answer, &alone);
  scripted.refuse = PSDM_E_IO;
  request.at = 0;
  assert_int_equal(psdmp_identify_serve_ranges(&other.run, &request, &answer, &error), PSDM_E_IO);
  psdmp_parallel_bytes_free(&request), psdmp_parallel_bytes_free(&alone), psdmp_parallel_bytes_free(&answer);
  script_clear();
  psdmp_base_arena_free(&other.run.arena);
  scene_free(&s), scene_free(&other);
}

TEST_MAIN(regressor_of_drives, reach, ranges_of_parts, ranges_of_any_rows, room_doubles, ranges_of_many_joints,
          nothing_to_train_on, no_memory_for_ranges, served_ranges)
