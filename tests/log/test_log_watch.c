/* test_log_watch.c: frozen channels and saturated torques are found; robots at rest, coarse encoders and noise are not
 * reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/log_priv.h"
#include "support.h"

enum { N = 3 };
static const char ROBOT[] = "convention: dh\njoints: [{a: 1}, {a: 1}, {a: 1}]\n";

/* how a log is made */
typedef struct recipe {
  double rate;
  long rows;
  bool rates, accelerations;
  double encoder;  /* step of q, 0: none */
  double current;  /* step of tau, 0: none */
  double noise;    /* of qd and tau, part of their amplitude */
  long rest;       /* rows at the beginning, in the middle and at the end in which nothing moves */
  bool quiet_rest; /* then torques are constant too, to the last bit */
  bool repeats;    /* the same motion again and again, without noise */
} recipe;

typedef struct log_data {
  recipe r;
  int width; /* t, q, tau, [qd], [qdd] */
  double *x; /* (rows x width) */
} log_data;

enum { T = 0, Q = 1, TAU = 1 + N, QD = 1 + 2 * N, QDD = 1 + 3 * N };

static double *cell(const log_data *d, long row, int column) { return &d->x[row * d->width + column]; }
static double step(double x, double quantum) { return quantum > 0 ? round(x / quantum) * quantum : x; }

/* time along the motion: it stops in the rest phases and starts again smoothly */
static double phase(const recipe *r, long row) {
  long part = r->rows / 2, in = row % part;
  double moving = (double)(part - 2 * r->rest), s = ((double)in - (double)r->rest) / moving;
  if (s < 0) s = 0;
  if (s > 1) s = 1;
  double smooth = r->rest ? s * s * s * (10 - 15 * s + 6 * s * s) : s; /* minimum jerk */
  return ((double)(row / part) + smooth) * (double)part / r->rate;
}

static double position(const double *a, const double *f, const double *p, double t) {
  double q = 0;
  for (int k = 0; k < 3; k++) q += a[k] * sin(6.283185307179586 * f[k] * t + p[k]);
  return q;
}

static log_data make_log(rng *g, recipe r) {
  log_data d = {r, 1 + 2 * N + (r.rates ? N : 0) + (r.accelerations ? N : 0), NULL};
  d.x = malloc(sizeof *d.x * (size_t)(r.rows * d.width));
  assert_non_null(d.x);
  for (int j = 0; j < N; j++) {
    double a[3], f[3], p[3], h = 1e-4, resting = 0;
    for (int k = 0; k < 3; k++)
      a[k] = rng_uniform(g, 0.3, 1) / (k + 1), f[k] = r.repeats ? 0.25 * (k + 1) : rng_uniform(g, 0.15, 0.3) * (k + 1),
      p[k] = rng_uniform(g, 0, 6.28);
    for (long i = 0; i < r.rows; i++) {
      double dt = 1 / r.rate, t = phase(&r, i), before = phase(&r, i ? i - 1 : 0), q = position(a, f, p, t);
      double speed = (t - before) * r.rate,
             qd = (position(a, f, p, t + h) - position(a, f, p, t - h)) / (2 * h) * speed;
      double qdd = (position(a, f, p, t + h) - 2 * q + position(a, f, p, t - h)) / (h * h) * speed * speed;
      double tau = 20 * sin(q + j) + 3 * qdd + 2 * qd;
      bool rests = r.quiet_rest && t == before;
      if (!rests) resting = tau + r.noise * rng_uniform(g, -20, 20);
      *cell(&d, i, T) = (double)i * dt;
      *cell(&d, i, Q + j) = step(q, r.encoder);
      *cell(&d, i, TAU + j) = step(resting, r.current);
      if (r.rates) *cell(&d, i, QD + j) = rests ? 0 : qd + r.noise * rng_uniform(g, -2, 2);
      if (r.accelerations) *cell(&d, i, QDD + j) = rests ? 0 : qdd + r.noise * rng_uniform(g, -5, 5);
    }
  }
  return d;
}

/* ---- from memory to a log: text is made on the fly ---- */

typedef struct writer {
  const log_data *d;
  long row; /* -1: the header */
  char line[1024];
  size_t at, length;
} writer;

static size_t write_header(const log_data *d, char *line) {
  static const char *const groups[] = {"q", "tau", "qd", "qdd"};
  bool has[] = {true, true, d->r.rates, d->r.accelerations};
  size_t n = (size_t)sprintf(line, "t");
  for (int g = 0; g < 4; g++)
    for (int j = 0; has[g] && j < N; j++) n += (size_t)sprintf(line + n, ",%s%d", groups[g], j + 1);
  return n + (size_t)sprintf(line + n, "\n");
}

static ptrdiff_t write_some(void *user, char *buffer, size_t size) {
  writer *w = user;
  size_t made = 0;
  while (made < size) {
    if (w->at == w->length) {
      if (w->row == w->d->r.rows) break;
      w->at = w->length = 0;
      if (w->row < 0) w->length = write_header(w->d, w->line);
      for (int c = 0; w->row >= 0 && c < w->d->width; c++)
        w->length +=
            (size_t)sprintf(w->line + w->length, "%.15g%c", *cell(w->d, w->row, c), c + 1 < w->d->width ? ',' : '\n');
      w->row++;
    }
    size_t n = w->length - w->at < size - made ? w->length - w->at : size - made;
    memcpy(buffer + made, w->line + w->at, n);
    w->at += n;
    made += n;
  }
  return (ptrdiff_t)made;
}

/* the findings */
typedef struct finding {
  long frozen, saturated, others;
  long first_frozen; /* line; of the first saturated one if none is frozen */
  char reported[200];
  unsigned char *bad; /* (rows x N) */
} finding;

static finding watch(const log_data *d) {
  finding f = {.bad = calloc((size_t)d->r.rows, N)};
  writer w = {.d = d, .row = -1};
  psdm_robot *robot = parse_robot(ROBOT);
  psdm_log *log;
  psdm_log_rows rows;
  psdm_error error;
  assert_non_null(f.bad);
  assert_int_equal(psdmp_log_open_source(write_some, &w, "log.csv", robot, NULL, NULL, &log, &error), PSDM_OK);
  long seen = 0;
  while (assert_int_equal(psdm_log_read(log, 777, &rows, &error), PSDM_OK), rows.count) {
    for (long k = 0; k < rows.count * N; k++) f.bad[seen * N + k] = rows.bad[k];
    seen += rows.count;
  }
  assert_int_equal(seen, d->r.rows);
  f.frozen = psdm_log_faults(log, PSDM_FAULT_FROZEN);
  f.saturated = psdm_log_faults(log, PSDM_FAULT_SATURATED);
  for (int k = 0; k < PSDM_FAULTS; k++)
    if (k != PSDM_FAULT_FROZEN && k != PSDM_FAULT_SATURATED) f.others += psdm_log_faults(log, k);
  const char *reported = psdm_log_fault(log, PSDM_FAULT_FROZEN, 0, &f.first_frozen);
  if (!reported) reported = psdm_log_fault(log, PSDM_FAULT_SATURATED, 0, &f.first_frozen);
  snprintf(f.reported, sizeof f.reported, "%s", reported ? reported : "");
  psdm_log_close(log);
  psdm_robot_free(robot);
  return f;
}

static long marked(const log_data *d, const finding *f, int joint, int bit, long from, long to) {
  long count = 0;
  for (long r = from; r <= to; r++) count += (f->bad[r * N + joint] & bit) != 0;
  (void)d;
  return count;
}

static long marked_anywhere(const log_data *d, const finding *f) {
  long count = 0;
  for (long k = 0; k < d->r.rows * N; k++) count += f->bad[k] != 0;
  return count;
}

/* ---- clean logs raise no alarm ---- */

static void clean_logs(void **state) {
  (void)state;
  rng g = rng_start("clean_logs");
  static const recipe recipes[] = {
      {.rate = 1000, .rows = 6000, .rates = true, .accelerations = true, .noise = 0.01},
      {.rate = 1000, .rows = 6000},
      /* a coarse encoder: 1000 steps a turn */
      {.rate = 1000, .rows = 8000, .rates = true, .encoder = 6.283e-3, .noise = 0.02},
      {.rate = 1000, .rows = 8000, .encoder = 6.283e-3},
      /* rests, with noise */
      {.rate = 1000, .rows = 8000, .rates = true, .encoder = 1e-4, .noise = 0.01, .rest = 1000},
      /* rests, to the last bit */
      {.rate = 1000, .rows = 8000, .rates = true, .accelerations = true, .rest = 1000, .quiet_rest = true},
      {.rate = 1000, .rows = 8000, .encoder = 1e-5, .rest = 1500, .quiet_rest = true, .current = 0.1},
      /* coarse torque, the same peak again and again */
      {.rate = 1000, .rows = 12000, .encoder = 1e-4, .current = 0.5, .repeats = true},
      {.rate = 1000, .rows = 12000, .rates = true, .encoder = 1e-4, .current = 0.05, .repeats = true},
      /* coarse torque with noise about its step */
      {.rate = 1000, .rows = 6000, .rates = true, .encoder = 1e-4, .current = 1, .noise = 0.02},
      {.rate = 125, .rows = 3000, .rates = true, .noise = 0.005},
      {.rate = 125, .rows = 3000, .rest = 200},
      {.rate = 30, .rows = 1000, .rates = true, .noise = 0.01},
      {.rate = 30, .rows = 1000, .rest = 60, .quiet_rest = true, .current = 0.02},
      {.rate = 5000, .rows = 20000, .encoder = 1e-4, .noise = 0.01, .rest = 2000},
  };
  for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
    for (int round = 0; round < 2; round++) {
      log_data d = make_log(&g, recipes[i]);
      finding f = watch(&d);
      if (f.frozen || f.saturated || f.others || marked_anywhere(&d, &f))
        fail_msg("recipe %zu, round %d: %s (%ld others)", i, round, f.reported, f.others);
      free(f.bad);
      free(d.x);
    }
}

/* ---- frozen ---- */

/* rows from .. to of a column keep the value of the first */
static void freeze(log_data *d, int column, long from, long to) {
  for (long r = from + 1; r <= to; r++) *cell(d, r, column) = *cell(d, from, column);
}

typedef struct freezing {
  recipe r;
  int column;
  int bit;
  const char *name;
} freezing;

enum { SPAN = 101 }; /* rows of 0.1 s at 1 kHz */

/* the first whole span of a freeze in which the joint's mean rate differs from `level` by more than a quarter of the
 * largest; -1: none */
static long clear_span(const log_data *d, int joint, long from, long to, double level) {
  double most = 0;
  for (long r = SPAN; r < d->r.rows; r += 50)
    most = fmax(most, fabs(*cell(d, r, Q + joint) - *cell(d, r - SPAN, Q + joint)) * d->r.rate / SPAN);
  for (long r = from, k = 0; r + SPAN - 1 <= to; r += SPAN, k++)
    if (fabs((*cell(d, r + SPAN - 1, Q + joint) - *cell(d, r, Q + joint)) * d->r.rate / (SPAN - 1) - level) >
        0.25 * most)
      return k;
  return -1;
}

static bool is_extreme(const log_data *d, int column, long row) {
  bool above = false, below = false;
  for (long r = 0; r < d->r.rows; r++)
    above |= *cell(d, r, column) > *cell(d, row, column), below |= *cell(d, r, column) < *cell(d, row, column);
  return !above || !below;
}

static void frozen_channels(void **state) {
  (void)state;
  rng g = rng_start("frozen_channels");
  static const recipe full = {
      .rate = 1000, .rows = 9000, .rates = true, .accelerations = true, .noise = 0.005, .encoder = 1e-5};
  static const recipe bare = {.rate = 1000, .rows = 9000, .noise = 0.005, .encoder = 1e-5};
  const freezing cases[] = {
      {full, Q, 1, "q"}, {full, QD, 1, "qd"}, {full, TAU, 2, "tau"}, {bare, Q, 1, "q"}, {bare, TAU, 2, "tau"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int tried = 0;
    for (int round = 0; round < 8; round++) {
      log_data d = make_log(&g, cases[i].r);
      int joint = rng_int(&g, 0, N - 1);
      long from = rng_int(&g, 1000, 7000), to = from + rng_int(&g, 120, 1500);
      long clear = clear_span(&d, joint, from, to, cases[i].column == QD ? *cell(&d, from, QD + joint) : 0);
      freeze(&d, cases[i].column + joint, from, to);
      /* it may have been on this step before */
      while (*cell(&d, from - 1, cases[i].column + joint) == *cell(&d, from, cases[i].column + joint)) from--;
      finding f = watch(&d);
      char name[32];
      snprintf(name, sizeof name, ": %s%d stays at ", cases[i].name, joint + 1);
      /* never anything else; at the latest from the first clear span on */
      long inside = marked(&d, &f, joint, cases[i].bit, from, to);
      assert_int_equal(marked_anywhere(&d, &f), inside);
      /* then it looks like saturation */
      if (cases[i].bit == 2 && is_extreme(&d, cases[i].column + joint, from)) f.frozen += f.saturated, f.saturated = 0;
      if (f.others + f.saturated) fail_msg("case %zu, round %d: %s, and %ld others", i, round, f.reported, f.others);
      if (clear >= 0) {
        tried++;
        if (f.frozen != 1 || !strstr(f.reported, name))
          fail_msg("case %zu, round %d: %ld, '%s' instead of '...%s'", i, round, f.frozen, f.reported, name);
        if (f.first_frozen - 2 < from || f.first_frozen - 2 > from + clear * SPAN)
          fail_msg("case %zu, round %d: %s, from %ld on, clear from %ld", i, round, f.reported, from + 2, clear);
        if (inside < SPAN) fail_msg("case %zu, round %d: %ld of %ld rows marked", i, round, inside, to - from + 1);
      }
      free(f.bad);
      free(d.x);
    }
    if (tried < 2) fail_msg("case %zu: only %d clear ones", i, tried);
  }
}

/* a channel that is frozen from the beginning */
static void dead_channels(void **state) {
  (void)state;
  rng g = rng_start("dead_channels");
  static const recipe full = {
      .rate = 500, .rows = 4000, .rates = true, .accelerations = true, .noise = 0.005, .encoder = 1e-5};
  const int columns[] = {Q, QD, TAU}, bits[] = {1, 1, 2};
  for (int i = 0; i < 3; i++) {
    log_data d = make_log(&g, full);
    freeze(&d, columns[i] + 1, 0, full.rows - 1);
    finding f = watch(&d);
    assert_int_equal(f.frozen, 1);
    long inside = marked(&d, &f, 1, bits[i], 0, full.rows - 1);
    if (inside < full.rows / 2) fail_msg("column %d: %ld of %ld rows marked", columns[i], inside, full.rows);
    assert_int_equal(inside, marked_anywhere(&d, &f));
    free(f.bad);
    free(d.x);
  }
}

/* stops shorter than a span do not count */
static void short_stops_are_not_reported(void **state) {
  (void)state;
  rng g = rng_start("short_stops_are_not_reported");
  static const recipe full = {.rate = 1000, .rows = 5000, .rates = true, .accelerations = true, .noise = 0.005};
  for (int round = 0; round < 8; round++) {
    log_data d = make_log(&g, full);
    const int columns[] = {Q, QD, QDD, TAU};
    long from = rng_int(&g, 1000, 4000);
    freeze(&d, columns[round % 4], from, from + 95);
    finding f = watch(&d);
    assert_int_equal(f.frozen + f.saturated + f.others + marked_anywhere(&d, &f), 0);
    free(f.bad);
    free(d.x);
  }
}

/* ---- saturated ---- */

static void cut_off_torques(void **state) {
  (void)state;
  rng g = rng_start("cut_off_torques");
  for (int round = 0; round < 12; round++) {
    recipe r = {.rate = round % 2 ? 1000 : 250,
                .rows = 6000,
                .rates = round % 3 == 0,
                .noise = round % 4 ? 0 : 0.002,
                .encoder = 1e-5};
    log_data d = make_log(&g, r);
    int joint = rng_int(&g, 0, N - 1);
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < r.rows; i++)
      low = fmin(low, *cell(&d, i, TAU + joint)), high = fmax(high, *cell(&d, i, TAU + joint));
    bool upper = rng_int(&g, 0, 1);
    double limit = upper ? high - 0.3 * (high - low) : low + 0.3 * (high - low);
    bool *cut = calloc((size_t)r.rows, sizeof *cut);
    assert_non_null(cut);
    long stretches = 0, longest = 0, first = 0, run = 0;
    for (long i = 0; i < r.rows; i++) {
      double *x = cell(&d, i, TAU + joint);
      cut[i] = upper ? *x > limit : *x < limit;
      if (cut[i]) *x = limit;
      run = cut[i] ? run + 1 : 0;
      if (run == 5) {
        if (!stretches++) first = i - 4;
      }
      if (run > longest) longest = run;
    }
    finding f = watch(&d);
    /* every stretch of five or more, when there are three or a long one; never a row that was not cut */
    bool expected = stretches >= 3 || longest > r.rate / 10;
    for (long i = 0; i < r.rows; i++)
      for (int j = 0; j < N; j++)
        if (f.bad[i * N + j] && (j != joint || !cut[i]))
          fail_msg("round %d: row %ld of joint %d is marked", round, i, j + 1);
    if (expected && (!f.saturated || f.frozen))
      fail_msg("round %d: %ld saturated, %ld frozen, of %ld stretches, the longest %ld", round, f.saturated, f.frozen,
               stretches, longest);
    if (expected && r.noise == 0) {
      char words[200];
      snprintf(words, sizeof words, "line %ld: tau%d stays at ", first + 2, joint + 1);
      assert_int_equal(f.saturated, stretches);
      assert_true(strncmp(f.reported, words, strlen(words)) == 0);
      assert_non_null(strstr(f.reported, upper ? ", its largest" : ", its smallest"));
      for (long i = 0, in = 0; i < r.rows; i++) { /* the whole of each stretch of five */
        in = cut[i] ? in + 1 : 0;
        if (in >= 5)
          for (long k = i - 4; k <= i; k++) assert_true(f.bad[k * N + joint]);
      }
    }
    free(cut);
    free(f.bad);
    free(d.x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clean_logs),      cmocka_unit_test(frozen_channels),
      cmocka_unit_test(dead_channels),   cmocka_unit_test(short_stops_are_not_reported),
      cmocka_unit_test(cut_off_torques),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
