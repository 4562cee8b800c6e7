/* test_gather_rows.c: how the rows of a log are used, against plain twins: ranges and factors of all rows, rows that
 * estimators walk over, energy and work between two moments; and the same bits when other ranks have some of them. A
 * two-joint arm whose second motor moves against the first, with friction columns that have memory or depend on
 * load. */
#include "../parallel/calibrate_spread.h"

#include "identify/estimate_priv.h"
#include "psdm/base_parameters.h"

enum { N = 2, BASE = 64, ROWS = 420, BLOCK = PSDMP_IDENTIFY_BLOCKS };

#include "test_scene.h"

static const char arm[] =
    "name: coupled\nconvention: dh\ngravity: [1, -9.81, 2]\n"
    "joints:\n  - {name: a, type: revolute, a: 0.5, gear: 100, drive_inertia: 0.6}\n  - {name: b, type: revolute, a: "
    "0.4, gear: -80, drive_inertia: 0.3}\n"
    "links:\n  - {mass: 4, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.03, yy: 0.05, zz: 0.04, xy: 0.002}}\n"
    "  - {mass: 3, com: [-0.2, 0.015, 0.02], inertia: {xx: 0.01, yy: 0.05, zz: 0.05, yz: 0.001}}\n"
    "transmission: [[1, 0], [-1, 1]]\n";

/* ---- a run without a calibration: the drives choose four and three of seven columns ---- */

static void scene_new(scene *s, bool plain, rng *g) {
  scene_begin(s, plain ? parse_robot(two_links) : parse_robot(arm), !plain, ROWS, 0.1);
  s->options.holdout = 0.2;
  s->run.sigma = s->sigma;
  s->choice[0] = (psdmp_identify_choice){4, {0, 2, 6, 1}}, s->choice[1] = (psdmp_identify_choice){3, {4, 5, 0}};
  for (int j = 0; j < s->run.l; j++) s->load[j] = rng_uniform(g, -1, 1);
}

/* a stretch of rows in memory, some of them bad for one drive */
typedef struct table {
  double t[ROWS], q[ROWS * N], qd[ROWS * N], qdd[ROWS * N], tau[ROWS * N];
  unsigned char bad[ROWS * N];
  psdmp_feed_stretch stretch;
} table;

static void table_new(table *w, const scene *s, long lead, long trail, rng *g) {
  truth of = {.robot = s->run.robot};
  tones m = tones_of(g, &of);
  memset(w, 0, sizeof *w);
  for (long k = 0; k < ROWS; k++) {
    w->t[k] = 3 + 0.01 * (double)k;
    tones_at(&m, N, w->t[k], w->q + k * N, w->qd + k * N, w->qdd + k * N);
    for (int i = 0; i < N; i++) w->tau[k * N + i] = rng_uniform(g, -20, 20), w->bad[k * N + i] = k % 97 == 60 + i;
  }
  w->stretch = (psdmp_feed_stretch){.rows = ROWS,
                                    .lead = lead,
                                    .trail = trail,
                                    .first = 20,
                                    .begins = lead == 0,
                                    .ends = trail == 0,
                                    .origin = 1,
                                    .begin = 3,
                                    .t = w->t,
                                    .q = w->q,
                                    .qd = w->qd,
                                    .qdd = w->qdd,
                                    .tau = w->tau,
                                    .bad = w->bad};
}

/* ---- plain twins of a row ---- */

/* x and v of the drives: q1 = x1, q2 = x2 - x1 without gears */
static void drives_of(const scene *s, const double *q, double *x) {
  x[0] = q[0];
  x[1] = s->run.T ? q[0] + q[1] : q[1];
}

/* Y (N x l) of the drives at a state: T^T of the joints' */
static void plain_regressor(const scene *s, const double *q, const double *qd, const double *qdd, double *Y) {
  const psdmp_identify_run *r = &s->run;
  double standard[N * 64];
  assert_true(r->S <= 64);
  assert_int_equal(psdm_regressor_standard(r->robot, r->work, q, qd, qdd, standard), PSDM_OK);
  for (int j = 0; j < r->l; j++) {
    double first = standard[r->kept[j]], second = standard[r->S + r->kept[j]];
    Y[j] = first - (r->T ? second : 0), Y[r->l + j] = second;
  }
}

static double plain_load(const scene *s, const double *Y) {
  double sum = 0;
  for (int j = 0; j < s->run.l && s->run.theta_load; j++) sum += Y[j] * s->load[j];
  return fabs(sum);
}

/* columns of a drive; the caller keeps the states of STOP: z and the last x, NAN before the first row */
typedef struct memory {
  double z[16], last;
} memory;

static void plain_columns(const scene *s, int drive, bool chosen, double x, double v, double load, memory *m,
                          double *F) {
  int count = chosen ? s->choice[drive].count : s->dictionary[drive].count;
  for (int k = 0; k < count; k++) {
    const psdmp_parameters_column *c = &s->dictionary[drive].column[chosen ? s->choice[drive].take[k] : k];
    double value = c->kind == PSDM_COLUMN_VISCOUS  ? v
                   : c->kind == PSDM_COLUMN_OFFSET ? 1
                   : c->kind == PSDM_COLUMN_SIGN   ? (v > 0) - (v < 0)
                                                   : tanh(v / c->width);
    if (c->kind == PSDM_COLUMN_STOP)
      value = m->z[k] = fmax(-1, fmin(1, m->z[k] + (isnan(m->last) ? 0 : (x - m->last) / c->width)));
    F[k] = value * pow(load, c->load);
  }
  m->last = x;
}

static void forget_all(memory m[N]) {
  memset(m, 0, N * sizeof *m);
  for (int i = 0; i < N; i++) m[i].last = NAN;
}

static void near(double is, double should, double scale, const char *what, long k) {
  if (!(fabs(is - should) <= 1e-11 * scale)) fail_msg("%s %ld: %.15g, %.15g was expected", what, k, is, should);
}

/* R^T R of an upper triangle against a sum of rows' squares */
static void same_square(int width, const double *R, const double *square, const char *what, long at) {
  for (int i = 0; i < width; i++)
    for (int k = 0; k < width; k++) {
      double sum = 0;
      for (int row = 0; row < width && R; row++) sum += R[row * width + i] * R[row * width + k];
      double scale = sqrt(square[i * width + i] * square[k * width + k]);
      if (!(fabs(sum - square[i * width + k]) <= 1e-11 * scale))
        fail_msg("%s %ld, entry %d %d: %.15g, %.15g was expected", what, at, i, k, sum, square[i * width + k]);
    }
}

static void add_square(int width, const double *row, double *square) {
  for (int i = 0; i < width; i++)
    for (int k = 0; k < width; k++) square[i * width + k] += row[i] * row[k];
}

/* ---- logs: ranges and factors ---- */

enum { FILES = 2, WIDE = 32 };

typedef struct logs {
  char path[FILES][64];
  const char *name[FILES];
} logs;

static void logs_new(logs *l, scene *s, rng *g) {
  for (int k = 0; k < FILES; k++) {
    truth w = log_of(s->run.robot, ROWS / FILES, 0.01, 2, 3);
    w.rates = w.accelerations = true;
    w.noise = 0.01;
    l->name[k] = log_path(l->path[k]);
    write_log(l->path[k], &w, g);
  }
  s->options.files = FILES, s->options.path = l->name;
  assert_int_equal(psdmp_feed_open(s->run.robot, &s->options, NULL, &s->run.feed, NULL), PSDM_OK);
  s->run.interval = psdmp_feed_interval(s->run.feed);
}

static void logs_free(logs *l, scene *s) {
  psdmp_feed_close(s->run.feed);
  for (int k = 0; k < FILES; k++) unlink(l->path[k]);
}

typedef struct expected {
  scene *s;
  bool chosen;
  int blocks;
  long rows;
  double low[N], high[N], quick[N], quicker[N], speeds[N][ROWS];
  double count[N * BLOCK * 2], square[N * BLOCK * 2][WIDE * WIDE];
} expected;

static psdm_status look(void *user, const psdmp_feed_stretch *stretch, psdm_error *error) {
  expected *e = user;
  scene *s = e->s;
  int l = s->run.l;
  psdmp_identify_prepared p;
  memory m[N];
  forget_all(m);
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, stretch, &p, error), PSDM_OK);
  for (long k = 0; k < p.rows; k++) {
    double Y[N * 32], row[WIDE], x[N], v[N];
    drives_of(s, p.q + k * N, x), drives_of(s, p.qd + k * N, v);
    plain_regressor(s, p.q + k * N, p.qd + k * N, p.qdd + k * N, Y);
    bool used = p.label[k] >= 0;
    for (int i = 0; i < N; i++) {
      int own = e->chosen ? s->choice[i].count : s->dictionary[i].count, width = l + own + 2,
          rest = fabs(v[i]) <= s->run.still * s->speed[i];
      memcpy(row, Y + i * l, (size_t)l * sizeof *row);
      plain_columns(s, i, e->chosen, x[i], v[i], used ? plain_load(s, Y + i * l) : 0, &m[i], row + l);
      row[width - 2] = p.tau[k * N + i], row[width - 1] = p.wide[k * N + i];
      if (!used) continue;
      e->speeds[i][e->rows] = fabs(v[i]);
      e->low[i] = fmin(e->low[i], x[i]), e->high[i] = fmax(e->high[i], x[i]);
      e->quick[i] += p.qd[k * N + i] * p.qd[k * N + i], e->quicker[i] += p.qdd[k * N + i] * p.qdd[k * N + i];
      int at = (i * e->blocks + p.label[k] * e->blocks / BLOCK) * 2 + rest;
      if (p.bad[k * N + i]) continue;
      e->count[at]++;
      add_square(width, row, e->square[at]);
    }
    e->rows += used;
  }
  psdmp_identify_prepared_free(&p, NULL);
  return PSDM_OK;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

TEST(ranges_and_factors) {
  static expected e;
  rng g = rng_start("ranges_and_factors");
  for (int round = 0; round < 6; round++) {
    scene s;
    logs l;
    psdm_error error = {0};
    scene_new(&s, round % 2, &g);
    logs_new(&l, &s, &g);
    if (round % 3 == 1) s.options.holdout = 0, s.options.holdout_block = 0.4, s.options.holdout_every = 3;
    if (round == 4) s.run.theta_load = NULL;
    e = (expected){.s = &s, .chosen = round % 3 != 0, .blocks = round < 3 ? BLOCK : 5};
    for (int i = 0; i < N; i++) e.low[i] = INFINITY, e.high[i] = -INFINITY, s.speed[i] = 0;
    assert_int_equal(psdmp_feed_each(s.run.feed, false, 50, look, &e, &error), PSDM_OK);
    s.run.tempo = 77, s.run.finishing = round == 2;
    assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_OK);
    assert_int_equal(s.run.finishing, round == 2);
    double tempo = 0;
    for (int i = 0; i < N; i++) {
      qsort(e.speeds[i], (size_t)e.rows, sizeof(double), ascending);
      near(s.speed[i], e.speeds[i][(e.rows - 1) * 99 / 100], 1, "speed", i);
      near(s.span[i], e.high[i] - e.low[i], 1, "span", i);
      near(s.centre[i], (e.high[i] + e.low[i]) / 2, 1, "centre", i);
      tempo = fmax(tempo, sqrt(e.quicker[i] / e.quick[i]) / (2 * 3.14159265358979323846));
    }
    near(s.run.tempo, tempo, tempo, "tempo", 0);
    /* which parameters act on a drive's torque: the first motor's alone does not act on the second */
    double scratch[N * 128], Y[N * 64];
    assert_int_equal(psdmp_identify_run_reach(&s.run, scratch, Y), PSDM_OK);
    int without = 0;
    for (int i = 0; i < N * s.run.l; i++) without += !s.reached[i];
    assert_true(without > 0 && without < s.run.l);
    e = (expected){.s = &s, .chosen = e.chosen, .blocks = e.blocks};
    assert_int_equal(psdmp_feed_each(s.run.feed, false, 50, look, &e, &error), PSDM_OK);
    psdmp_identify_factors f;
    assert_int_equal(psdmp_identify_gather_rows(&s.run, &s.run.band, e.chosen, e.blocks, round % 2, &f, &error),
                     PSDM_OK);
    double rest = 0, all = 0;
    assert_int_equal(f.blocks, e.blocks);
    for (int i = 0; i < N; i++) {
      int own = e.chosen ? s.choice[i].count : 7;
      assert_int_equal(f.width[i], s.run.l + own + 2);
      assert_true(f.width[i] <= WIDE);
      for (int b = 0; b < 2 * e.blocks; b++) {
        long at = 2L * i * e.blocks + b;
        assert_true(f.count[at] == e.count[at]);
        same_square(f.width[i], f.R[at], e.square[at], "factor", at);
        for (int a = 0; a < f.width[i]; a++)
          for (int c = 0; c < a; c++) assert_true(f.R[at][a * f.width[i] + c] == 0);
        rest += b % 2 ? f.count[at] : 0, all += f.count[at];
      }
    }
    assert_true(rest > 5 && rest < all / 2);
    psdmp_identify_factors_free(&s.run, &f);
    assert_true(!f.R && !f.count && !f.width);
    /* nothing to train on */
    s.options.holdout = 1, s.options.holdout_block = 0;
    assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_E_ARGUMENT);
    assert_string_equal(error.text, "no row is left to train on: the log is too short, or all of it is held out");
    logs_free(&l, &s);
    scene_free(&s);
  }
}

/* ---- rows that estimators walk over ---- */

typedef struct walked {
  scene *s;
  const table *w;
  int block[ROWS];
  bool fitted[ROWS][N], any_auxiliary;
  double Y[ROWS][N * 32], F[ROWS][16 * N], tau[ROWS][N], Ya[ROWS][N * 32], Fa[ROWS][16 * N];
  long rows;
} walked;

static walked came;

static void keep_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  walked *c = &came;
  long k = c->rows++;
  int l = to->run->l;
  assert_true(k < ROWS);
  c->block[k] = row->block;
  memcpy(c->fitted[k], row->fitted, sizeof c->fitted[k]);
  memcpy(c->Y[k], row->Y, (size_t)(N * l) * sizeof(double)), memcpy(c->F[k], row->F, sizeof c->F[k]),
      memcpy(c->tau[k], row->tau, sizeof c->tau[k]);
  assert_true(!row->Y_auxiliary == !c->any_auxiliary && !row->F_auxiliary == !c->any_auxiliary);
  if (row->Y_auxiliary)
    memcpy(c->Ya[k], row->Y_auxiliary, (size_t)(N * l) * sizeof(double)),
        memcpy(c->Fa[k], row->F_auxiliary, sizeof c->Fa[k]);
}

/* a motion slightly different from the measured one, unknown in some rows */
static bool other_ready(long k) { return k % 50 > 4; }

static void other_motion(const psdmp_identify_prepared *p, long k, double *q, double *qd, double *qdd) {
  for (int i = 0; i < N; i++)
    q[i] = 1.1 * p->q[k * N + i] + 0.01, qd[i] = 1.2 * p->qd[k * N + i] - 0.1, qdd[i] = 0.9 * p->qdd[k * N + i];
}

static psdm_status make_other(void *user, const psdmp_feed_stretch *stretch, const psdmp_identify_prepared *p,
                              double *q, double *qd, double *qdd, bool *ready, psdm_error *error) {
  (void)stretch, (void)error;
  assert_true(user == &came);
  for (long k = 0; k < p->rows; k++) other_motion(p, k, q + k * N, qd + k * N, qdd + k * N), ready[k] = other_ready(k);
  return PSDM_OK;
}

static void expect_walk(scene *s, const psdmp_feed_stretch *stretch, bool auxiliary) {
  static psdmp_identify_prepared p;
  memory m[N], ma[N];
  long at = 0;
  int l = s->run.l;
  bool began = false;
  forget_all(m);
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, stretch, &p, NULL), PSDM_OK);
  for (long k = 0; k < p.rows; k++) {
    long logged = p.index[k] - stretch->first;
    double Y[N * 32], F[N][16], Ya[N * 32], Fa[N][16], q[N], qd[N], qdd[N], x[N], v[N], xa[N], va[N];
    bool own = logged >= stretch->lead && logged < stretch->rows - stretch->trail, known = !auxiliary || other_ready(k),
         counts[N], any = false;
    if (logged >= stretch->rows - stretch->trail) break;
    drives_of(s, p.q + k * N, x), drives_of(s, p.qd + k * N, v);
    if (own && !began) memcpy(ma, m, sizeof ma), began = true;
    plain_regressor(s, p.q + k * N, p.qd + k * N, p.qdd + k * N, Y);
    for (int i = 0; i < N; i++) plain_columns(s, i, true, x[i], v[i], own ? plain_load(s, Y + i * l) : 0, &m[i], F[i]);
    if (!own) continue;
    if (auxiliary && known) {
      other_motion(&p, k, q, qd, qdd);
      drives_of(s, q, xa), drives_of(s, qd, va);
      plain_regressor(s, q, qd, qdd, Ya);
      for (int i = 0; i < N; i++) plain_columns(s, i, true, xa[i], va[i], plain_load(s, Ya + i * l), &ma[i], Fa[i]);
    } else {
      forget_all(ma);
    }
    for (int i = 0; i < N; i++) {
      counts[i] = p.label[k] >= 0 && known && !p.bad[k * N + i] &&
                  !(s->run.rest > 0 && fabs(v[i]) <= s->run.rest * s->speed[i]);
      any |= counts[i];
    }
    if (!any) continue;
    assert_true(at < came.rows);
    assert_int_equal(came.block[at], p.label[k]);
    for (int i = 0; i < N; i++) {
      assert_int_equal(came.fitted[at][i], counts[i]);
      for (int j = 0; j < l; j++) near(came.Y[at][i * l + j], Y[i * l + j], 10, "Y of row", k);
      for (int c = 0; c < s->choice[i].count; c++) near(came.F[at][16 * i + c], F[i][c], 100, "F of row", k);
      for (int j = 0; j < l && auxiliary; j++) near(came.Ya[at][i * l + j], Ya[i * l + j], 10, "auxiliary Y of row", k);
      for (int c = 0; c < s->choice[i].count && auxiliary; c++)
        near(came.Fa[at][16 * i + c], Fa[i][c], 100, "auxiliary F of row", k);
      near(came.tau[at][i], p.tau[k * N + i], 20, "torque of row", k);
    }
    at++;
  }
  assert_int_equal(at, came.rows);
  psdmp_identify_prepared_free(&p, NULL);
}

TEST(walks) {
  static table w;
  rng g = rng_start("walks");
  for (int round = 0; round < 8; round++) {
    scene s;
    scene_new(&s, round % 2, &g);
    bool auxiliary = round & 2;
    if (round == 5) s.run.theta_load = NULL;
    if (round >= 6) s.run.rest = 0, s.options.holdout = 0;
    table_new(&w, &s, round & 4 ? 33 : 0, round & 4 ? 27 : 0, &g);
    if (round < 2) w.stretch.first = 0; /* rows of the first block */
    s.run.rows = ROWS + 60;
    psdmp_identify_pass pass = {.kind = auxiliary ? PSDMP_IDENTIFY_PASS_IV : PSDMP_IDENTIFY_PASS_ROBUST, .run = &s.run};
    psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
    psdmp_identify_walker *walker = psdmp_identify_walker_new(&to, keep_row, auxiliary ? make_other : NULL, &came);
    psdm_error error = {0};
    for (int again = 0; again < 2; again++) { /* nothing is remembered from the stretch before */
      came = (walked){.s = &s, .any_auxiliary = auxiliary};
      assert_int_equal(psdmp_identify_walker_stretch(walker, &w.stretch, &error), PSDM_OK);
      expect_walk(&s, &w.stretch, auxiliary);
      assert_true(came.rows > 200);
    }
    psdmp_identify_walker_free(walker);
    scene_free(&s);
  }
}

/* ---- energy and work ---- */

/* kinetic and potential energy of each unit parameter, from psdm_energy of robots with that parameter alone */
static void unit_energies(const scene *s, const double *q, const double *qd, double *h) {
  const psdmp_identify_run *r = &s->run;
  double *pi = calloc((size_t)r->S, sizeof *pi), kinetic, potential;
  for (int j = 0; j < r->l; j++) {
    psdm_robot *unit;
    psdm_work *work;
    pi[r->kept[j]] = 1;
    assert_int_equal(psdm_robot_clone(r->robot, NULL, &unit), PSDM_OK);
    psdm_robot_set_parameters(unit, pi);
    assert_int_equal(psdm_work_new(unit, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_energy(unit, work, q, qd, &kinetic, &potential), PSDM_OK);
    h[j] = kinetic + potential;
    pi[r->kept[j]] = 0;
    psdm_work_free(work, NULL), psdm_robot_free(unit);
  }
  free(pi);
}

/* the integral from row to row: of the cubic through four rows, of a straight line at the ends */
static double work_between(long rows, long k, const double *power, double interval) {
  if (k == 0 || k + 2 == rows) return interval * (power[k] + power[k + 1]) / 2;
  return interval * (-power[k - 1] + 13 * power[k] + 13 * power[k + 1] - power[k + 2]) / 24;
}

static void expect_energies(scene *s, const psdmp_feed_stretch *stretch, const psdmp_linalg_blocks *b) {
  static double value[ROWS][WIDE], power[ROWS], square[BLOCK][WIDE * WIDE], count[BLOCK];
  int l = s->run.l, own = s->choice[0].count + s->choice[1].count, width = l + own + 1;
  long first = 0, last = 0, good = 0, window;
  psdmp_identify_prepared p;
  memory m[N];
  memset(square, 0, sizeof square), memset(count, 0, sizeof count);
  forget_all(m);
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &s->run.band, stretch, &p, NULL), PSDM_OK);
  while (p.index[first] - stretch->first < stretch->lead) first++;
  for (last = p.rows; p.index[last - 1] - stretch->first >= stretch->rows - stretch->trail;) last--;
  first = first > 0 ? first - 1 : 0, last = last < p.rows ? last + 1 : p.rows;
  for (long k = 0; k < last; k++) {
    double Y[N * 32], F[16], x[N], v[N], sum = 0;
    int at = l;
    drives_of(s, p.q + k * N, x), drives_of(s, p.qd + k * N, v);
    plain_regressor(s, p.q + k * N, p.qd + k * N, p.qdd + k * N, Y);
    for (int i = 0; i < N; i++) {
      plain_columns(s, i, true, x[i], v[i], k >= first ? plain_load(s, Y + i * l) : 0, &m[i], F);
      for (int c = 0; c < s->choice[i].count; c++) value[k][at++] = F[c] * v[i];
      sum += p.tau[k * N + i] * v[i];
    }
    value[k][at] = sum;
    if (k >= first) unit_energies(s, p.q + k * N, p.qd + k * N, value[k]);
  }
  for (int c = l; c < width; c++) {
    for (long k = first; k < last; k++) power[k - first] = value[k][c];
    value[first][c] = 0;
    for (long k = first; k + 1 < last; k++)
      value[k + 1][c] = value[k][c] + work_between(last - first, k - first, power, s->run.interval);
  }
  window = (long)fmax(2, floor(0.25 / fmax(s->run.tempo, 1e-3) / s->run.interval + 0.5));
  for (long k = first; k < last; k++) {
    double row[WIDE];
    good = p.label[k] < 0 || p.bad[k * N] || p.bad[k * N + 1] ? 0 : good + 1;
    if (good <= window) continue;
    for (int c = 0; c < width; c++) row[c] = value[k][c] - value[k - window][c];
    add_square(width, row, square[p.label[k]]);
    count[p.label[k]]++;
  }
  assert_int_equal(b->width[0], width);
  for (int k = 0; k < BLOCK; k++) {
    assert_true(b->count[k] == count[k]);
    same_square(width, b->R[k], square[k], "energy of block", k);
  }
  psdmp_identify_prepared_free(&p, NULL);
}

TEST(energies) {
  static table w;
  /* windows of 15, 28, far too many, 2 (the minimum), 2, 10, 8, 3, 6 and 5 rows */
  static const double tempos[] = {1.7, 0.9, 0, 40, 25, 2.6, 3, 9, 4, 5};
  rng g = rng_start("energies");
  for (int round = 0; round < 10; round++) {
    scene s;
    scene_new(&s, round % 2, &g);
    if (round == 3) s.run.theta_load = NULL;
    if (round == 4 || round > 7) s.options.holdout = 0;
    if (round < 6) table_new(&w, &s, round >= 3 ? 40 : 0, round >= 3 ? 35 : 0, &g);
    else
      table_new(&w, &s, round - 6, 9 - round, &g),
          w.stretch.begins = w.stretch.ends = false; /* cut out of the middle, with hardly a neighbour */
    if (round == 7) w.stretch.first = 0;             /* a window that ends in the first block */
    s.run.rows = ROWS + 60, s.run.tempo = tempos[round];
    psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ENERGY, .run = &s.run};
    psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
    psdmp_identify_pass_shape(&pass);
    assert_true(pass.equations == 1 && pass.numbers == 0 && pass.width[0] == s.run.l + 4 + 3 + 1);
    assert_true(psdmp_linalg_blocks_new(NULL, 1, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
    psdmp_identify_energies *e = psdmp_identify_energies_new(&to);
    psdm_error error = {0};
    for (int again = 0; again < 2; again++) {
      psdmp_linalg_blocks_clear(&to.blocks);
      assert_int_equal(psdmp_identify_energies_stretch(e, &w.stretch, &error), PSDM_OK);
      psdmp_linalg_blocks_flush(&to.blocks);
      expect_energies(&s, &w.stretch, &to.blocks);
    }
    double all = 0;
    for (int k = 0; k < BLOCK; k++) all += to.blocks.count[k];
    assert_true(round == 2 ? all == 0 : all > 100);
    psdmp_identify_energies_free(e);
    psdmp_linalg_blocks_free(&to.blocks);
    scene_free(&s);
  }
}

/* none, one, two and three rows that a narrow band leaves: no equation, and nothing is read out of bounds */
TEST(short_stretches) {
  static table w;
  rng g = rng_start("short stretches");
  for (int rows = 0; rows < 4; rows++) {
    scene s;
    scene_new(&s, true, &g);
    table_new(&w, &s, 0, 0, &g);
    /* every thirtieth row */
    s.run.band.cutoff = 0.33, s.run.tempo = 1e9, w.stretch.rows = rows ? 30 * rows : 20,
    w.stretch.begins = w.stretch.ends = false;
    memset(w.bad, 0, sizeof w.bad);
    psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ENERGY, .run = &s.run};
    psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run};
    psdmp_identify_prepared p;
    assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &w.stretch, &p, NULL), PSDM_OK);
    assert_int_equal(p.rows, rows);
    psdmp_identify_prepared_free(&p, NULL);
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, 1, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
    psdmp_identify_energies *e = psdmp_identify_energies_new(&to);
    psdmp_identify_walker *walker = psdmp_identify_walker_new(&to, keep_row, make_other, &came);
    came = (walked){.s = &s, .any_auxiliary = true};
    assert_int_equal(psdmp_identify_energies_stretch(e, &w.stretch, NULL), PSDM_OK);
    assert_int_equal(psdmp_identify_walker_stretch(walker, &w.stretch, NULL), PSDM_OK);
    psdmp_linalg_blocks_flush(&to.blocks);
    /* a window of two rows, which ends in block 4 */
    for (int k = 0; k < BLOCK; k++) assert_true(to.blocks.count[k] == (rows == 3 && k == 4));
    assert_true(came.rows == 0);
    for (int walking = 0; walking < 2; walking++)
      for (long n = 1, enough = 0; !enough; n++) {
        counting c;
        counting_init(&c, n);
        s.run.allocator = &c.allocator;
        psdm_status status = walking ? psdmp_identify_walker_stretch(walker, &w.stretch, NULL)
                                     : psdmp_identify_energies_stretch(e, &w.stretch, NULL);
        enough = c.calls < n;
        assert_true(status == (enough ? PSDM_OK : PSDM_E_MEMORY) && c.live == 0);
      }
    s.run.allocator = NULL;
    psdmp_identify_walker_free(walker), psdmp_identify_energies_free(e);
    psdmp_linalg_blocks_free(&to.blocks);
    scene_free(&s);
  }
}

/* ---- a whole pass: blocks of all stretches, numbers added up ---- */

static psdm_status add_energies(void *user, const psdmp_feed_stretch *stretch, psdm_error *error) {
  return psdmp_identify_energies_stretch(user, stretch, error);
}
static psdm_status add_walk(void *user, const psdmp_feed_stretch *stretch, psdm_error *error) {
  return psdmp_identify_walker_stretch(user, stretch, error);
}

TEST(passes) {
  rng g = rng_start("passes");
  for (int kind = 0; kind < PSDMP_IDENTIFY_PASSES; kind++) {
    /* a simulation is test_estimate_simulate.c's */
    if (kind == PSDMP_IDENTIFY_PASS_DIDIM || kind == PSDMP_IDENTIFY_PASS_IV) continue;
    scene s;
    logs l;
    psdm_error error = {0};
    double x[64], scale[N] = {3, 5};
    scene_new(&s, kind == PSDMP_IDENTIFY_PASS_ENERGY, &g);
    logs_new(&l, &s, &g);
    assert_int_equal(psdmp_identify_run_ranges(&s.run, &s.run.band, &error), PSDM_OK);
    for (int k = 0; k < psdmp_identify_estimate_width(&s.run); k++) x[k] = rng_uniform(&g, -1, 1);
    psdmp_identify_pass pass = {
        .kind = (psdmp_identify_pass_kind)kind, .run = &s.run, .stage = 1, .x = x, .scale = scale};
    psdmp_linalg_blocks b;
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &b));
    double *added = calloc((size_t)pass.numbers + 1, sizeof *added),
           *sums = calloc((size_t)pass.numbers + 1, sizeof *sums);
    assert_int_equal(psdmp_identify_pass_run(&pass, &b, added, &error), PSDM_OK);
    /* one stretch after the other into one set of blocks */
    psdmp_identify_pass_rows to = {.pass = &pass, .run = &s.run, .numbers = sums};
    assert_true(psdmp_linalg_blocks_new(NULL, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
    psdmp_identify_energies *e = kind == PSDMP_IDENTIFY_PASS_ENERGY ? psdmp_identify_energies_new(&to) : NULL;
    psdmp_identify_walker *walker = e ? NULL : psdmp_identify_walker_new(&to, psdmp_identify_robust_row, NULL, NULL);
    psdmp_feed_reader *reader = psdmp_feed_reader_new(s.run.feed);
    assert_int_equal(psdmp_feed_units(s.run.feed, false), FILES);
    for (long unit = 0; unit < FILES; unit++)
      assert_int_equal(psdmp_feed_unit(reader, false, unit, 50, 50, e ? add_energies : add_walk,
                                       e ? (void *)e : (void *)walker, &error),
                       PSDM_OK);
    psdmp_feed_reader_free(reader);
    psdmp_linalg_blocks_flush(&to.blocks);
    double all = 0;
    for (int at = 0; at < pass.equations * BLOCK; at++) {
      int width = pass.width[at / BLOCK];
      double square[WIDE * WIDE] = {0};
      assert_true(b.count[at] == to.blocks.count[at]);
      all += b.count[at];
      for (int row = 0; row < width; row++) add_square(width, to.blocks.R[at] + (long)row * width, square);
      same_square(width, b.R[at], square, "block", at);
    }
    assert_true(all > 100);
    for (long k = 0; k < pass.numbers; k++) near(added[k], sums[k], 1 + fabs(sums[k]), "number", k);
    psdmp_identify_walker_free(walker), psdmp_identify_energies_free(e);
    psdmp_linalg_blocks_free(&b), psdmp_linalg_blocks_free(&to.blocks);
    free(added), free(sums);
    logs_free(&l, &s);
    scene_free(&s);
  }
}

/* ---- other ranks ---- */

/* What progress hears between rounds. */
typedef struct rounds {
  int calls;
  const char *doing;
} rounds;

static bool count_rounds(void *user, const char *doing, double share) {
  rounds *r = user;
  r->calls += share < 0 && strcmp(doing, r->doing) == 0;
  return true;
}

/* The bits do not depend on who works on which file. */
TEST(on_other_ranks) {
  static const psdm_estimator kinds[] = {PSDM_ESTIMATOR_ROBUST, PSDM_ESTIMATOR_IV, PSDM_ESTIMATOR_ENERGY,
                                         PSDM_ESTIMATOR_WLS, PSDM_ESTIMATOR_WLS};
  rng g = rng_start("on_other_ranks");
  psdm_robot *robot = parse_robot(two_links);
  logs l;
  for (int k = 0; k < FILES; k++) {
    truth w = {.robot = robot, .rows = 500, .dt = 0.004, .viscous = 2, .coulomb = 3, .rates = true, .noise = 0.01};
    l.name[k] = log_path(l.path[k]);
    write_log(l.path[k], &w, &g);
  }
  for (int e = 0; e < 5; e++) {
    psdm_calibrate_options o = {.files = FILES,
                                .path = l.name,
                                .holdout = 0.2,
                                .estimator = kinds[e],
                                .kinematics = PSDM_KINEMATICS_VELOCITY,
                                .cutoff = 25,
                                .delay_given = true,
                                .rest = 0.02,
                                .plain_friction = e != 3,
                                .columns = 5,
                                .threads = 1,
                                .decimate = e == 4 ? 3 : 0};
    rounds heard = {.doing = e == 0 ? "weighing outliers" : "simulating"};
    o.progress = count_rounds, o.progress_user = &heard;
    psdm_calibration *c = calibrate(robot, &o, NULL);
    numbers *alone = numbers_of(c);
    /* progress on rows in memory is reported by file; robust passes over its rows once before */
    if (e < 2) assert_int_equal(heard.calls, e ? c->steps * (FILES + 1) : c->steps - 1);
    o.progress = NULL;
    psdm_calibration_free(c);
    on_ranks(robot, o, 2 + e % 2, alone);
    free(alone);
  }
  for (int k = 0; k < FILES; k++) unlink(l.path[k]);
  psdm_robot_free(robot);
}

/* another rank receives these parts of a run; the rest is its own */
TEST(what_other_ranks_receive) {
  rng g = rng_start("what_other_ranks_receive");
  for (int round = 0; round < 8; round++) {
    bool chosen = round & 1, load = round & 2, had = round & 4;
    scene s, other;
    scene_new(&s, false, &g), scene_new(&other, false, &g);
    psdmp_identify_band band = {.kinematics = PSDM_KINEMATICS_VELOCITY, .cutoff = 12.5, .delay = 0.003, .wide = 77},
                        heard;
    psdmp_parallel_bytes bytes = {0};
    s.run.still = 0.125, s.run.rest = 0.75, s.speed[0] = 1.5, s.speed[1] = 2.5;
    if (!load) s.run.theta_load = NULL;
    if (!had) other.run.theta_load = NULL;
    if (!chosen) { /* more columns than may be chosen */
      s.dictionary[1].count = 40;
      for (int k = 0; k < 40; k++)
        s.dictionary[1].column[k] = (psdmp_parameters_column){PSDM_COLUMN_TANH, 0.1 * k, k % 3};
    }
    memset(other.dictionary, 0x55, sizeof other.dictionary), memset(other.choice, 0x55, sizeof other.choice),
        memset(&heard, 0x55, sizeof heard);
    other.run.arena = (psdmp_base_arena){0};
    psdmp_identify_run_put(&s.run, &band, chosen, &bytes);
    assert_true(psdmp_identify_run_get(&other.run, &heard, &bytes) && !bytes.failed);
    assert_true(heard.kinematics == band.kinematics && heard.cutoff == band.cutoff && heard.delay == band.delay &&
                heard.wide == band.wide);
    assert_true(other.run.still == 0.125 && other.run.rest == 0.75 && other.speed[0] == 1.5 && other.speed[1] == 2.5);
    assert_int_equal(other.run.theta_load != NULL, load);
    for (int j = 0; j < s.run.l && load; j++) assert_true(other.run.theta_load[j] == s.load[j]);
    for (int i = 0; i < N; i++) {
      int count = chosen ? s.choice[i].count : s.dictionary[i].count, most = count < 16 ? count : 16;
      assert_true(other.dictionary[i].count == count && other.choice[i].count == most);
      for (int k = 0; k < count; k++) {
        const psdmp_parameters_column *is = &other.dictionary[i].column[k],
                                      *should = &s.dictionary[i].column[chosen ? s.choice[i].take[k] : k];
        assert_true(is->kind == should->kind && is->width == should->width && is->load == should->load);
        if (k < 16) assert_int_equal(other.choice[i].take[k], k);
      }
    }
    psdmp_base_arena_free(&other.run.arena);
    /* half a message is refused, and so are more columns than there is room for */
    for (size_t length = 0; length < bytes.used; length += 1 + length / 9) {
      psdmp_parallel_bytes part = {0};
      psdmp_parallel_bytes_put(&part, bytes.data, length);
      assert_false(psdmp_identify_run_get(&other.run, &heard, &part));
      psdmp_parallel_bytes_free(&part);
      psdmp_base_arena_free(&other.run.arena);
      other.run.theta_load = NULL;
    }
    psdmp_parallel_bytes_free(&bytes);
    scene_free(&s), scene_free(&other);
  }
}

TEST_MAIN(ranges_and_factors, walks, energies, short_stretches, passes, on_other_ranks, what_other_ranks_receive)
