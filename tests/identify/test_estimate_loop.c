/* test_estimate_loop.c: the simulated motion that estimators follow, number by number: its reference's cutoff, its
 * rows, each step of the closed loop, and the robots it is made with; on other threads and ranks. The linker puts the
 * test's own ranges and passes in the library's place (--wrap), records which robots are set, and makes accelerations
 * fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "fenced.h"
#include "psdm/motion.h"
#include "psdm/base_parameters.h"

enum {
  N = 3,
  MANY = PSDM_CALIBRATE_JOINTS,
  ROWS = 300,
  CELLS = 36 * MANY,
  NUMBERS = 12 * MANY,
  MOST = 16,
  HALVINGS = 5
};
static const double pi = 3.14159265358979323846;

static const char arm[] = "name: three\nconvention: dh\ngravity: [1, 2, -9.81]\n"
                          "joints:\n  - {name: a, type: revolute, a: 0.4, alpha: pi/2, drive_inertia: 0.3}\n  - {name: "
                          "b, type: revolute, a: 0.3, drive_inertia: 0.1}\n  - {name: c, type: prismatic, alpha: 0.3}\n"
                          "links:\n  - {mass: 4, com: [-0.2, 0.01, 0.02], inertia: {xx: 0.02, yy: 0.06, zz: 0.06}}\n"
                          "  - {mass: 2, com: [-0.1, 0.02, 0.03], inertia: {xx: 0.01, yy: 0.02, zz: 0.02, xy: 0.001}}\n"
                          "  - {mass: 1, com: [0.1, 0.02, -0.03], inertia: {xx: 0.01, yy: 0.01, zz: 0.02}}\n";

/* ---- in the library's place ---- */

typedef struct watched {
  int ranges, fail_ranges, passes, singular, forwards, fail_forward, bad_joint, set;
  double tempo[MOST];                             /* that each call of psdmp_identify_run_ranges finds */
  psdmp_identify_band band[MOST];                 /* requested */
  psdm_status pass_status;                        /* of the first `singular` passes */
  double last[MOST][NUMBERS], now[MOST][NUMBERS]; /* robots of each pass */
  psdm_robot *robot[2];                           /* that were set last, */
  double pi[2][NUMBERS];                          /* to this */
  bool still;                                     /* none is requested after a bad acceleration */
} watched;

static watched was;
static psdmp_identify_run *running;

psdm_status __wrap_psdmp_identify_run_ranges(psdmp_identify_run *run, const psdmp_identify_band *band,
                                             psdm_error *error) {
  int k = was.ranges++;
  assert_true(k < MOST);
  was.band[k] = *band;
  run->tempo = was.tempo[k];
  for (int i = 0; i < N; i++) run->speed[i] = run->span[i] = run->centre[i] = -1;
  return k + 1 == was.fail_ranges ? psdmp_base_fail_status(error, PSDM_E_IO) : PSDM_OK;
}

void __real_psdm_robot_set_parameters(psdm_robot *robot, const double *parameters);
void __wrap_psdm_robot_set_parameters(psdm_robot *robot, const double *parameters) {
  int at = was.set++ % 2;
  was.robot[at] = robot;
  memcpy(was.pi[at], parameters, (size_t)psdm_robot_parameter_count(robot) * sizeof *parameters);
  __real_psdm_robot_set_parameters(robot, parameters);
}

psdm_status __real_psdm_forward(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                const double *tau, double *qdd);
psdm_status __wrap_psdm_forward(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                const double *tau, double *qdd) {
  was.forwards++;
  if (was.fail_forward && was.forwards > was.fail_forward && was.still) return memset(qdd, 0, N * sizeof *qdd), PSDM_OK;
  psdm_status status = __real_psdm_forward(robot, work, q, qd, tau, qdd);
  if (was.forwards != was.fail_forward) return status;
  if (was.bad_joint < 0) return PSDM_E_LIMIT;
  qdd[was.bad_joint] = INFINITY;
  return status;
}

/* what a simulation sends to other ranks */
typedef struct message {
  psdm_kinematics kinematics;
  double cutoff, wide, bandwidth, share, last[NUMBERS], now[NUMBERS];
} message;

static message ask(const psdmp_identify_simulation *s, int l) {
  psdmp_parallel_bytes bytes = {0};
  message a = {0};
  psdmp_identify_simulation_put(s, &bytes);
  assert_int_equal(bytes.used, sizeof a.kinematics + (4 + 2 * (size_t)l) * sizeof(double));
  PSDMP_PARALLEL_GET(&bytes, a.kinematics), PSDMP_PARALLEL_GET(&bytes, a.cutoff), PSDMP_PARALLEL_GET(&bytes, a.wide),
      PSDMP_PARALLEL_GET(&bytes, a.bandwidth), PSDMP_PARALLEL_GET(&bytes, a.share);
  psdmp_parallel_bytes_get(&bytes, a.last, (size_t)l * sizeof(double)),
      psdmp_parallel_bytes_get(&bytes, a.now, (size_t)l * sizeof(double));
  assert_false(bytes.failed);
  psdmp_parallel_bytes_free(&bytes);
  return a;
}

psdm_status __wrap_psdmp_identify_pass_run(psdmp_identify_pass *pass, psdmp_linalg_blocks *blocks, double *numbers,
                                           psdm_error *error) {
  int k = was.passes++;
  psdmp_identify_pass shape = {.kind = PSDMP_IDENTIFY_PASS_IV, .run = running};
  psdmp_identify_pass_shape(&shape);
  assert_true(k < MOST && pass->kind == PSDMP_IDENTIFY_PASS_IV && pass->run == running && !pass->all && !numbers &&
              !blocks && !pass->x && !pass->scale && !pass->stage);
  assert_true(pass->equations == N && pass->numbers == 0 && !memcmp(pass->width, shape.width, N * sizeof *shape.width));
  message a = ask(pass->simulation, running->l);
  memcpy(was.last[k], a.last, sizeof a.last), memcpy(was.now[k], a.now, sizeof a.now);
  for (int j = 0; j < running->l; j++)
    assert_true(was.pi[0][running->kept[j]] == a.last[j] && was.pi[1][running->kept[j]] == a.now[j]);
  return k < was.singular ? psdmp_base_fail_status(error, was.pass_status) : PSDM_OK;
}

/* ---- a run and a stretch of rows ---- */

typedef struct scene {
  psdmp_identify_run run;
  psdm_calibrate_options options;
  psdmp_identify_choice choice[MANY];
  int kept[NUMBERS];
  double speed[MANY], span[MANY], centre[MANY], theta[NUMBERS], other[NUMBERS], standard[NUMBERS];
  char reason[8][160];
  double t[ROWS], q[CELLS], tau[CELLS];
  unsigned char bad[CELLS];
  psdmp_feed_stretch stretch;
} scene;

/* rows of a robot: of base parameters where it is small */
static void scene_of(scene *s, psdm_robot *robot, long rows, rng *g) {
  int n = psdm_robot_n(robot);
  memset(s, 0, sizeof *s);
  was = (watched){0};
  s->options = (psdm_calibrate_options){.threads = 1};
  s->run = (psdmp_identify_run){
      .robot = robot,
      .options = &s->options,
      .n = n,
      .S = psdm_robot_parameter_count(robot),
      .kept = s->kept,
      .choice = s->choice,
      .speed = s->speed,
      .span = s->span,
      .centre = s->centre,
      .reason = s->reason,
      .interval = 0.01,
      .rows = rows,
      .tempo = 1.25,
      .band = {.kinematics = PSDM_KINEMATICS_VELOCITY, .cutoff = INFINITY, .delay = 0, .wide = 33}};
  running = &s->run;
  s->run.l = s->run.S;
  assert_true(s->run.S <= NUMBERS && rows * n <= CELLS && rows <= ROWS);
  psdm_robot_parameters(robot, s->standard);
  memcpy(s->theta, s->standard, sizeof s->theta);
  for (int j = 0; j < s->run.l; j++) s->kept[j] = j;
  if (n <= N) {
    assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &s->run.model, NULL, NULL), PSDM_OK);
    s->run.l = psdm_model_l(s->run.model);
    assert_true(s->run.l < s->run.S);
    for (int j = 0; j < s->run.l; j++) psdm_model_base_term(s->run.model, j, 0, &s->kept[j]);
    psdm_model_theta(s->run.model, s->standard, s->theta);
  }
  for (int j = 0; j < s->run.l; j++) s->other[j] = s->theta[j] * rng_uniform(g, 0.95, 1.05);
  double size[MANY], w[MANY], phase[MANY];
  for (int i = 0; i < n; i++) {
    s->choice[i].count = 1 + i % 3, s->speed[i] = 2 + i, s->span[i] = 3 + i, s->centre[i] = 4 + i;
    size[i] = rng_uniform(g, 0.2, 0.6), w[i] = rng_uniform(g, 3, 6), phase[i] = rng_uniform(g, -3, 3);
  }
  for (long k = 0; k < rows; k++) {
    s->t[k] = 5 + 0.01 * (double)k;
    for (int i = 0; i < n; i++)
      s->q[k * n + i] = size[i] * sin(w[i] * s->t[k] + phase[i]) + 0.1 * size[i] * cos(9 * s->t[k]),
                   s->tau[k * n + i] = rng_uniform(g, -1, 1);
  }
  s->stretch = (psdmp_feed_stretch){.rows = rows,
                                    .begins = true,
                                    .ends = true,
                                    .origin = 5,
                                    .begin = 5,
                                    .t = s->t,
                                    .q = s->q,
                                    .tau = s->tau,
                                    .bad = s->bad};
}

static void scene_new(scene *s, rng *g) { scene_of(s, parse_robot(arm), ROWS, g); }

static void scene_free(scene *s) {
  psdm_model_free(s->run.model);
  psdm_robot_free((psdm_robot *)(size_t)s->run.robot);
}

static psdmp_identify_simulation *simulation_of(scene *s) {
  psdmp_identify_simulation *simulation;
  assert_int_equal(psdmp_identify_simulation_new(&s->run, &simulation, NULL), PSDM_OK);
  return simulation;
}

/* ---- the reference's cutoff ---- */

/* the first cutoff six times above the mean frequency of the signal that passes it, below the run's own and 0.4 of the
 * rate */
static void cutoffs(void **state) {
  (void)state;
  static const double ladder[] = {3, 4, 5, 7, 10, 14, 20, 28, 40, 60, 100};
  static const struct {
    double interval, own, tempo[MOST], cutoff;
    int ranges;
    const char *top;
  } cases[] = {
      {0.01, INFINITY, {0.5}, 3, 1, "up to 3 Hz"},
      {0.01, INFINITY, {0.51, 0.51}, 4, 2, "up to 4 Hz"},
      {0.01, INFINITY, {5, 5, 0.8}, 5, 3, "up to 5 Hz"},
      {0.01, INFINITY, {2.4, 2.4, 2.4, 2.4, 2.4, 2.4, 2.4}, 20, 7, "up to 20 Hz"},
      {0.01, INFINITY, {6.6, 6.6, 6.6, 6.6, 6.6, 6.6, 6.6, 6.6, 6.6, 1}, 40, 9, "up to 40 Hz"},
      {0.01, INFINITY, {7, 7, 7, 7, 7, 7, 7, 7, 7, 1}, INFINITY, 9, "as logged"},
      {0.001, INFINITY, {16.6, 16.6, 16.6, 16.6, 16.6, 16.6, 16.6, 16.6, 16.6, 16.6, 16.6}, 100, 11, "up to 100 Hz"},
      {0.001, INFINITY, {20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 1}, INFINITY, 11, "as logged"},
      {0.01, 10, {2, 2, 2, 2, 1, 1}, 10, 4, "up to 10 Hz"},
      {0.01, 2.5, {1}, 2.5, 0, "up to 2.5 Hz"}};
  rng g = rng_start("cutoffs");
  assert_true(0.4 / 0.01 == 40);
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    scene s;
    char said[160];
    double bandwidth;
    scene_new(&s, &g);
    s.run.interval = cases[c].interval, s.run.band.cutoff = cases[c].own, s.run.reasons = 2, s.run.band.delay = 0.002;
    memcpy(was.tempo, cases[c].tempo, sizeof was.tempo);
    psdmp_identify_simulation *simulation = simulation_of(&s);
    assert_int_equal(was.ranges, cases[c].ranges);
    for (int k = 0; k < was.ranges; k++) {
      const psdmp_identify_band *b = &was.band[k];
      assert_true(b->cutoff == ladder[k] && b->kinematics == PSDM_KINEMATICS_POSITION && b->wide == INFINITY &&
                  b->delay == 0);
    }
    psdmp_identify_band band = psdmp_identify_simulation_band(simulation, &bandwidth);
    assert_true(band.cutoff == cases[c].cutoff && band.kinematics == PSDM_KINEMATICS_POSITION &&
                band.wide == INFINITY && band.delay == 0);
    assert_true(fabs(bandwidth - 4 * pi * fmin(band.cutoff, 0.05 / s.run.interval)) <= 1e-14 * bandwidth);
    assert_true(s.run.tempo == 1.25 && s.run.band.cutoff == cases[c].own && s.run.band.wide == 33);
    for (int i = 0; i < N; i++) assert_true(s.speed[i] == 2 + i && s.span[i] == 3 + i && s.centre[i] == 4 + i);
    snprintf(said, sizeof said, "simulated: computed torque along the measured positions, %s", cases[c].top);
    assert_int_equal(s.run.reasons, 3);
    assert_string_equal(s.reason[2], said);
    psdmp_identify_simulation_free(simulation);
    scene_free(&s);
  }
}

/* ranges fail, or memory runs out: nothing leaks and nothing changes */
static void refused(void **state) {
  (void)state;
  rng g = rng_start("refused");
  bool done = false;
  for (int n = 0; !done; n++) {
    scene s;
    counting c;
    psdm_error error = {0};
    psdmp_identify_simulation *simulation = (psdmp_identify_simulation *)(void *)&s;
    scene_new(&s, &g);
    counting_fenced_init(&c, n);
    s.run.allocator = &c.allocator;
    for (int k = 0; k < 3; k++) was.tempo[k] = 5;
    was.fail_ranges = n ? 0 : 3;
    psdm_status status = psdmp_identify_simulation_new(&s.run, &simulation, &error);
    done = n && c.calls < n;
    assert_int_equal(status, n == 0 ? PSDM_E_IO : done ? PSDM_OK : PSDM_E_MEMORY);
    if (!done) assert_true(!simulation && s.run.reasons == 0 && was.ranges == (n ? 0 : 3));
    if (!done) assert_string_equal(error.text, psdm_status_text(status));
    if (done) psdmp_identify_simulation_free(simulation);
    for (int i = 0; i < N; i++) assert_true(s.speed[i] == 2 + i && s.span[i] == 3 + i && s.centre[i] == 4 + i);
    assert_true(s.run.tempo == 1.25);
    assert_int_equal(c.live, 0);
    scene_free(&s);
  }
  psdmp_identify_simulation_free(NULL);
}

/* no more than 200000 rows are simulated in one pass */
static void shares(void **state) {
  (void)state;
  static const struct {
    long rows;
    double own, share;
    const char *part;
  } cases[] = {{200000, INFINITY, 1, ""},
               {199999, INFINITY, 1, ""},
               {250000, INFINITY, 0.8, "; the first 80 % of each block of time"},
               {1500000, INFINITY, 2 / 15.0, "; the first 13 % of each block of time"},
               {1500000, 2, 2 / 3.0, "; the first 67 % of each block of time"}}; /* every fifth row is there */
  rng g = rng_start("shares");
  for (int reasons = 6; reasons <= 8; reasons++)
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      scene s;
      char said[160], top[32] = "as logged";
      scene_new(&s, &g);
      was.tempo[0] = 5;
      for (int k = 0; k < MOST; k++) was.tempo[k] = 10;
      s.run.rows = cases[c].rows, s.run.band.cutoff = cases[c].own, s.run.reasons = reasons;
      psdmp_identify_simulation *simulation = simulation_of(&s);
      message a = ask(simulation, s.run.l);
      assert_true(fabs(a.share - cases[c].share) <= 1e-15);
      if (isfinite(cases[c].own)) snprintf(top, sizeof top, "up to %g Hz", cases[c].own);
      snprintf(said, sizeof said, "simulated: computed torque along the measured positions, %s%s", top, cases[c].part);
      assert_int_equal(s.run.reasons, reasons < 8 ? reasons + 1 : 8);
      assert_string_equal(reasons < 8 ? s.reason[reasons] : said, said);
      psdmp_identify_simulation_free(simulation);
      scene_free(&s);
    }
}

/* ---- the closed loop ---- */

static psdm_robot *robot_of(const psdmp_identify_run *r, const double *theta) {
  double all[NUMBERS] = {0};
  psdm_robot *clone;
  for (int j = 0; j < r->l; j++) all[r->kept[j]] = theta[j];
  assert_int_equal(psdm_robot_clone(r->robot, NULL, &clone), PSDM_OK);
  __real_psdm_robot_set_parameters(clone, all);
  return clone;
}

/* what moves: the model that the controller has, the robot, the reference, rad/s */
typedef struct loop {
  psdm_robot *robot[2];
  psdm_work *work[2];
  psdm_motion *reference;
  double w;
  int n;
} loop;

/* (qd, qdd) of (q, qd) */
static void rates(const loop *o, double t, const double *y, double *out) {
  double r[3 * MANY], a[MANY], tau[MANY];
  int n = o->n;
  psdm_motion_at(o->reference, t, 3, r);
  for (int i = 0; i < n; i++)
    out[i] = y[n + i], a[i] = r[2 * n + i] - 2 * o->w * (y[n + i] - r[n + i]) - o->w * o->w * (y[i] - r[i]);
  assert_int_equal(psdm_inverse(o->robot[0], o->work[0], y, y + n, a, tau), PSDM_OK);
  assert_int_equal(__real_psdm_forward(o->robot[1], o->work[1], y, y + n, tau, out + n), PSDM_OK);
}

/* Kutta's rule in its usual form */
static void kutta(const loop *o, double t, double h, double *y) {
  double k[4][2 * MANY], at[2 * MANY];
  int n = o->n;
  rates(o, t, y, k[0]);
  for (int i = 0; i < 2 * n; i++) at[i] = y[i] + h / 2 * k[0][i];
  rates(o, t + h / 2, at, k[1]);
  for (int i = 0; i < 2 * n; i++) at[i] = y[i] + h / 2 * k[1][i];
  rates(o, t + h / 2, at, k[2]);
  for (int i = 0; i < 2 * n; i++) at[i] = y[i] + h * k[2][i];
  rates(o, t + h, at, k[3]);
  for (int i = 0; i < 2 * n; i++) y[i] += h * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]) / 6;
}

typedef struct motion {
  double q[CELLS], qd[CELLS], qdd[CELLS];
  bool ready[ROWS];
} motion;

/* numbers that cannot be a motion, so that writes show */
static void motion_new(motion *m) {
  for (int k = 0; k < CELLS; k++) m->q[k] = m->qd[k] = m->qdd[k] = 77;
  memset(m->ready, 0, sizeof m->ready);
}

/* whether a row is in the part of its block that is simulated */
static bool in_share(const scene *s, double share, long index) {
  double all = (double)s->run.rows;
  if (!(s->options.holdout_block > 0)) all *= 1 - s->options.holdout;
  return fmod(20 * (double)index / all, 1) < share;
}

static long expect_motion(scene *s, const psdmp_identify_simulation *simulation, const psdmp_identify_prepared *p,
                          motion *m) {
  const double *theta[2] = {s->theta, s->other};
  int n = s->run.n;
  loop o = {.n = n};
  psdmp_identify_prepared narrow;
  psdmp_identify_band band = psdmp_identify_simulation_band(simulation, &o.w);
  message a = ask(simulation, s->run.l);
  double y[2 * MANY], edge = isfinite(band.cutoff) ? 2 / band.cutoff : 0, rate[2 * MANY];
  long rows = 0, begun = -1;
  for (int k = 0; k < 2; k++) {
    o.robot[k] = robot_of(&s->run, theta[k]);
    assert_int_equal(psdm_work_new(o.robot[k], NULL, &o.work[k]), PSDM_OK);
  }
  assert_int_equal(psdmp_identify_run_prepare(&s->run, &band, &s->stretch, &narrow, NULL), PSDM_OK);
  assert_int_equal(
      psdm_motion_table(n, narrow.rows, narrow.t, narrow.q, narrow.qd, narrow.qdd, NULL, &o.reference, NULL), PSDM_OK);
  for (long k = 0; k < p->rows; k++) {
    double from = narrow.t[0] + (s->stretch.begins ? edge : 0),
           to = narrow.t[narrow.rows - 1] - (s->stretch.ends ? edge : 0);
    m->ready[k] = p->label[k] >= 0 && in_share(s, a.share, p->index[k]) && !(p->t[k] < from) && !(p->t[k] > to);
    if (!m->ready[k]) {
      begun = -1;
      continue;
    }
    if (begun < 0) psdm_motion_at(o.reference, p->t[k], 2, y);
    else {
      double gap = p->t[k] - p->t[k - 1];
      int steps = 1;
      while (gap / steps * o.w > 0.2) steps++;
      for (int i = 0; i < steps; i++) kutta(&o, p->t[k - 1] + i * gap / steps, gap / steps, y);
    }
    begun = k, rows++;
    rates(&o, p->t[k], y, rate);
    memcpy(m->q + k * n, y, (size_t)n * sizeof *y), memcpy(m->qd + k * n, y + n, (size_t)n * sizeof *y),
        memcpy(m->qdd + k * n, rate + n, (size_t)n * sizeof *y);
  }
  for (int k = 0; k < 2; k++) psdm_work_free(o.work[k], NULL), psdm_robot_free(o.robot[k]);
  psdm_motion_free(o.reference);
  psdmp_identify_prepared_free(&narrow, NULL);
  return rows;
}

static void near(const double *is, const double *should, int count, double size, const char *what) {
  for (int k = 0; k < count; k++)
    if (!(fabs(is[k] - should[k]) <= 1e-11 * size))
      fail_msg("%s, number %d: %.15g, %.15g was expected", what, k, is[k], should[k]);
}

static void closed_loop(void **state) {
  (void)state;
  static const struct {
    double own, tempo; /* the run's cutoff; the tempo that decides on the reference's */
    long lead, trail, rows, first;
    bool begins, ends;
    double holdout, block;                                               /* seconds from every third block */
    long at_least, at_most;                                              /* simulated rows */
  } cases[] = {{INFINITY, 9, 0, 0, ROWS, 0, true, true, 0, 0, 280, 280}, /* as logged, but for ten rows at either end */
               {INFINITY, 9, 0, 0, ROWS, 0, false, false, 0, 0, 300, 300}, /* all of it */
               /* a reference up to 5 Hz: 0.4 s at either end */
               {30, 0.8, 0, 0, ROWS, 0, true, true, 0, 0, 210, 222},
               {30, 0.8, 0, 0, ROWS, 0, true, false, 0, 0, 250, 262},            /* at one end */
               {3.2, 0.5, 17, 33, ROWS, 0, false, false, 0, 0, 80, 90},          /* every third row */
               {INFINITY, 9, 25, 0, ROWS, 4000, false, false, 0.3, 0, 155, 161}, /* training rows end */
               /* a quarter of each block of time: it begins here, */
               {INFINITY, 9, 0, 40, 800000, 127900, false, true, 0.2, 0, 160, 160},
               {INFINITY, 9, 0, 0, 800000, 7300, false, false, 0.25, 0, 200, 200}, /* it ends here, */
               /* it begins, and rows in its middle are held out */
               {30, 0.8, 0, 0, 800000, 39950, false, false, 0.25, 0.8, 160, 170}};
  static motion is, should;
  rng g = rng_start("closed loop");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    scene s;
    psdmp_identify_prepared p;
    psdm_error error = {0};
    scene_new(&s, &g);
    for (int k = 0; k < MOST; k++) was.tempo[k] = cases[c].tempo;
    s.run.rows = cases[c].rows, s.run.band.cutoff = cases[c].own, s.options.holdout = cases[c].holdout,
    s.options.holdout_block = cases[c].block, s.options.holdout_every = 3;
    if (cases[c].first == 4000) s.run.rows = 5980;
    s.stretch.first = cases[c].first, s.stretch.lead = cases[c].lead, s.stretch.trail = cases[c].trail,
    s.stretch.begins = cases[c].begins, s.stretch.ends = cases[c].ends;
    psdmp_identify_simulation *simulation = simulation_of(&s);
    psdmp_identify_simulation_set(simulation, s.theta, s.other);
    assert_true(was.set == 2 && was.robot[0] != was.robot[1] && was.robot[0] != s.run.robot &&
                was.robot[1] != s.run.robot);
    assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &s.stretch, &p, &error), PSDM_OK);
    motion_new(&is), motion_new(&should);
    assert_int_equal(psdmp_identify_simulate(simulation, &s.stretch, &p, is.q, is.qd, is.qdd, is.ready, &error),
                     PSDM_OK);
    long rows = expect_motion(&s, simulation, &p, &should);
    double bandwidth;
    psdmp_identify_simulation_band(simulation, &bandwidth);
    for (long k = 0; k < p.rows; k++)
      if (is.ready[k] != should.ready[k]) fail_msg("case %zu: row %ld of %ld is ready: %d", c, k, p.rows, is.ready[k]);
    near(is.q, should.q, CELLS, 1, "q"), near(is.qd, should.qd, CELLS, bandwidth, "qd"),
        near(is.qdd, should.qdd, CELLS, bandwidth * bandwidth, "qdd");
    if (rows < cases[c].at_least || rows > cases[c].at_most) fail_msg("case %zu: %ld rows", c, rows);
    psdmp_identify_prepared_free(&p, NULL);
    psdmp_identify_simulation_free(simulation);
    scene_free(&s);
  }
}

/* the largest number of joints: a long chain that shakes at a touch */
static void many_joints(void **state) {
  (void)state;
  static motion is, should;
  static char text[1 << 16];
  rng g = rng_start("many joints");
  const random_options kinds = {.n_min = MANY, .n_max = MANY, .drives = true};
  scene s;
  psdmp_identify_prepared p;
  double bandwidth;
  scene_of(&s, parse_robot(random_robot_text(&g, &kinds, text, sizeof text)), 34, &g);
  memcpy(s.other, s.theta, sizeof s.other);
  for (int j = 0; j < s.run.l; j++) s.other[j] *= j < s.run.l - MANY ? 1 : 1.05; /* drives */
  for (int k = 0; k < MOST; k++) was.tempo[k] = 9;
  s.stretch.begins = s.stretch.ends = false;
  psdmp_identify_simulation *simulation = simulation_of(&s);
  psdmp_identify_simulation_set(simulation, s.theta, s.other);
  psdmp_identify_simulation_band(simulation, &bandwidth);
  assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &s.stretch, &p, NULL), PSDM_OK);
  motion_new(&is), motion_new(&should);
  assert_int_equal(psdmp_identify_simulate(simulation, &s.stretch, &p, is.q, is.qd, is.qdd, is.ready, NULL), PSDM_OK);
  assert_int_equal(expect_motion(&s, simulation, &p, &should), 34);
  near(is.q, should.q, CELLS, 1, "q"), near(is.qd, should.qd, CELLS, bandwidth, "qd"),
      near(is.qdd, should.qdd, CELLS, bandwidth * bandwidth, "qdd");
  psdmp_identify_prepared_free(&p, NULL);
  psdmp_identify_simulation_free(simulation);
  scene_free(&s);
}

/* three rows of the reference are too few */
static void short_stretch(void **state) {
  (void)state;
  static motion m;
  rng g = rng_start("short stretch");
  for (int rows = 28; rows <= 40; rows++) {
    scene s;
    psdmp_identify_prepared p, narrow;
    double bandwidth;
    scene_new(&s, &g);
    s.run.band.cutoff = 1, s.stretch.rows = rows, s.stretch.begins = s.stretch.ends = false;
    psdmp_identify_simulation *simulation = simulation_of(&s);
    psdmp_identify_simulation_set(simulation, s.theta, s.other);
    psdmp_identify_band band = psdmp_identify_simulation_band(simulation, &bandwidth);
    assert_int_equal(psdmp_identify_run_prepare(&s.run, &band, &s.stretch, &narrow, NULL), PSDM_OK);
    assert_int_equal(narrow.rows, rows < 30 ? 0 : rows <= 30 ? 3 : 4);
    s.run.band.cutoff = INFINITY;
    assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &s.stretch, &p, NULL), PSDM_OK);
    motion_new(&m);
    assert_int_equal(psdmp_identify_simulate(simulation, &s.stretch, &p, m.q, m.qd, m.qdd, m.ready, NULL), PSDM_OK);
    int ready = 0;
    for (long k = 0; k < p.rows; k++) ready += m.ready[k];
    assert_int_equal(ready, rows <= 30 ? 0 : 31); /* up to the reference's last row */
    psdmp_identify_prepared_free(&p, NULL), psdmp_identify_prepared_free(&narrow, NULL);
    psdmp_identify_simulation_free(simulation);
    scene_free(&s);
  }
}

/* a robot whose acceleration fails or becomes infinite: later rows are not touched */
static void stopped(void **state) {
  (void)state;
  static motion m;
  rng g = rng_start("stopped");
  scene s;
  psdmp_identify_prepared p;
  scene_new(&s, &g);
  for (int k = 0; k < MOST; k++) was.tempo[k] = 9;
  psdmp_identify_simulation *simulation = simulation_of(&s);
  psdmp_identify_simulation_set(simulation, s.theta, s.other);
  assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &s.stretch, &p, NULL), PSDM_OK);
  /* calls per row, except the first, which takes one */
  int steps = (int)ceil(0.01 * 4 * pi * 5 / 0.2), each = 4 * steps + 1;
  for (int call = 1; call <= 1 + 2 * each; call++)
    /* the call fails or a joint's acceleration is infinite: at the row, or on the way to it */
    for (int how = -1; how < 2 * N; how++) {
      char said[160];
      psdm_error error = {0};
      bool on_the_way = (call - 1) % each != 0;
      if ((how >= N) != on_the_way && how >= 0) continue;
      was.forwards = 0, was.fail_forward = call, was.bad_joint = how < 0 ? -1 : how % N, was.still = how >= N;
      motion_new(&m);
      psdm_status should = how < 0 ? PSDM_E_LIMIT : PSDM_E_SINGULAR;
      assert_int_equal(psdmp_identify_simulate(simulation, &s.stretch, &p, m.q, m.qd, m.qdd, m.ready, &error), should);
      snprintf(said, sizeof said, "the robot of the present estimate cannot be simulated: %s",
               psdm_status_text(should));
      assert_string_equal(error.text, said);
      assert_string_equal(error.file, psdm_robot_name(s.run.robot));
      assert_true(error.line == 0 && error.column == 0);
      /* the first ten rows are an edge; an acceleration at the end of a step is a position of the next one */
      int row = 10 + (call + each - 2) / each + (how >= N && call % each == 0);
      for (int k = 0; k < ROWS; k++)
        assert_true(m.ready[k] == (k >= 10 && k <= row) &&
                    (m.q[k * N] == 77) == (k < 10 || k > row || (k == row && how < 0 && on_the_way)));
      if (how < 0) assert_int_equal(was.forwards, call);
    }
  was.fail_forward = 0;
  psdmp_identify_prepared_free(&p, NULL);
  psdmp_identify_simulation_free(simulation);
  scene_free(&s);
}

/* ---- other threads and ranks ---- */

static void on_other_threads_and_ranks(void **state) {
  (void)state;
  static motion here, there;
  rng g = rng_start("on_other_threads_and_ranks");
  scene s;
  psdmp_identify_prepared p;
  scene_new(&s, &g);
  for (int k = 0; k < MOST; k++) was.tempo[k] = 0.8;
  psdmp_identify_simulation *simulation = simulation_of(&s);
  psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, s.theta, NULL);
  psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, s.other, NULL);
  psdmp_identify_simulation_set(simulation, s.theta, s.other);
  assert_int_equal(psdmp_identify_run_prepare(&s.run, &s.run.band, &s.stretch, &p, NULL), PSDM_OK);
  motion_new(&here);
  assert_int_equal(psdmp_identify_simulate(simulation, &s.stretch, &p, here.q, here.qd, here.qdd, here.ready, NULL),
                   PSDM_OK);
  for (int rank = 0; rank < 2; rank++) { /* another thread of this rank, another rank */
    bool done = false;
    for (int n = 1; !done; n++) {
      counting c;
      psdm_error error = {0};
      psdmp_identify_run own = s.run;
      psdmp_parallel_bytes bytes = {0};
      psdmp_identify_simulation *other = (psdmp_identify_simulation *)(void *)&s;
      counting_fenced_init(&c, n);
      own.allocator = &c.allocator;
      psdmp_identify_simulation_put(simulation, &bytes);
      was.set = 0;
      psdm_status status = PSDM_OK;
      if (rank) status = psdmp_identify_simulation_get(&own, &bytes, &other, &error);
      else other = psdmp_identify_simulation_thread(simulation, &own);
      done = c.calls < n;
      if (!done) {
        assert_true(!other && status == (rank ? PSDM_E_MEMORY : PSDM_OK) && c.live == 0);
        if (rank) assert_string_equal(error.text, psdm_status_text(PSDM_E_MEMORY));
      } else {
        assert_int_equal(status, PSDM_OK);
        assert_true(bytes.at == (rank ? bytes.used : 0) && !bytes.failed && was.set == 2 * rank);
        psdmp_parallel_bytes again = {0};
        psdmp_identify_simulation_put(other, &again);
        assert_true(again.used == bytes.used && !memcmp(again.data, bytes.data, bytes.used));
        if (rank) { /* the last one set is the last pass's: the same robot twice */
          for (int j = 0; j < s.run.l; j++)
            assert_true(was.pi[0][s.kept[j]] == s.other[j] && was.pi[1][s.kept[j]] == s.other[j]);
          psdmp_identify_simulation_set(other, s.theta, s.other);
        }
        psdmp_parallel_bytes_free(&again);
        long calls = c.calls;
        c.fail_at = 0;
        motion_new(&there);
        assert_int_equal(
            psdmp_identify_simulate(other, &s.stretch, &p, there.q, there.qd, there.qdd, there.ready, NULL), PSDM_OK);
        assert_true(c.calls > calls); /* the memory is its own */
        assert_memory_equal(&here, &there, sizeof here);
        psdmp_identify_simulation_free(other);
        assert_int_equal(c.live, 0);
      }
      psdmp_parallel_bytes_free(&bytes);
    }
  }
  /* the first one is unchanged, and its own memory may fail */
  for (int n = 0, calls = 1; n <= calls; n++) {
    counting c;
    psdm_error error = {0};
    const psdm_allocator *before = s.run.allocator;
    counting_fenced_init(&c, n);
    s.run.allocator = &c.allocator;
    motion_new(&there);
    assert_int_equal(
        psdmp_identify_simulate(simulation, &s.stretch, &p, there.q, there.qd, there.qdd, there.ready, &error),
        n ? PSDM_E_MEMORY : PSDM_OK);
    if (!n) assert_memory_equal(&here, &there, sizeof here);
    if (!n) calls = (int)c.calls;
    assert_int_equal(c.live, 0);
    s.run.allocator = before;
  }
  psdmp_identify_prepared_free(&p, NULL);
  psdmp_identify_simulation_free(simulation);
  scene_free(&s);
}

/* ---- rounds ---- */

/* the controller has the last pass's robot; if the requested robot cannot move, a robot half way back is tried, and
 * finally the last one */
static void half_way(void **state) {
  (void)state;
  rng g = rng_start("half way");
  for (int singular = 0; singular <= HALVINGS + 1; singular++)
    for (int first = 0; first < 2; first++) {
      scene s;
      char said[160];
      psdm_error error = {0};
      scene_new(&s, &g);
      int l = s.run.l;
      double next[NUMBERS], expected[NUMBERS], third[NUMBERS];
      for (int j = 0; j < l; j++) next[j] = rng_uniform(&g, -1, 1), third[j] = rng_uniform(&g, -1, 1);
      psdmp_identify_simulation *simulation = simulation_of(&s);
      s.run.reasons = 0;
      was.singular = first && singular, was.pass_status = PSDM_E_SINGULAR;
      /* the first pass has itself as its model, and nothing to go back to */
      assert_int_equal(psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, s.theta, &error),
                       first && singular ? PSDM_E_SINGULAR : PSDM_OK);
      assert_true(was.passes == 1 && !memcmp(was.last[0], s.theta, (size_t)l * sizeof(double)) &&
                  !memcmp(was.now[0], s.theta, (size_t)l * sizeof(double)));
      psdmp_identify_simulation_say(simulation, 0);
      assert_int_equal(s.run.reasons, 0);
      was.passes = 0, was.singular = singular;
      assert_int_equal(psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, next, &error),
                       singular > HALVINGS ? PSDM_E_SINGULAR : PSDM_OK);
      assert_int_equal(was.passes, singular > HALVINGS ? HALVINGS + 1 : singular + 1);
      memcpy(expected, next, sizeof next);
      for (int k = 0; k < was.passes; k++) {
        for (int j = 0; j < l && k; j++) expected[j] = k < HALVINGS ? 0.5 * expected[j] + 0.5 * s.theta[j] : s.theta[j];
        for (int j = 0; j < l; j++)
          assert_true(was.last[k][j] == s.theta[j] &&
                      fabs(was.now[k][j] - expected[j]) < 1e-15 * (1 + fabs(s.theta[j])));
      }
      /* the remark: once, if there is room */
      for (int room = 7; room <= 8; room++)
        for (int change = 0; change < 2; change++) {
          s.run.reasons = room, s.reason[7][0] = 0;
          psdmp_identify_simulation_say(simulation, change * 0.0234);
          snprintf(
              said, sizeof said, "%s",
              singular ? "simulated: the last robot that can move; the estimate's mass matrix is not positive definite"
              : change
                  ? "simulated: not converged, the last round changed a parameter by 0.023 of its standard deviation"
                  : "");
          if (room == 8) said[0] = 0;
          assert_int_equal(s.run.reasons, room == 8 || said[0] ? 8 : 7);
          assert_string_equal(s.reason[7], said);
        }
      /* the robot that moved is the next one's model */
      was.passes = was.singular = 0;
      assert_int_equal(psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, third, &error),
                       PSDM_OK);
      for (int j = 0; j < l; j++)
        assert_true(fabs(was.last[0][j] - expected[j]) < 1e-15 * (1 + fabs(s.theta[j])) && was.now[0][j] == third[j]);
      s.run.reasons = 0;
      psdmp_identify_simulation_say(simulation, 0);
      assert_int_equal(s.run.reasons, 0);
      /* any other failure ends the search */
      was.passes = 0, was.singular = 9, was.pass_status = PSDM_E_MEMORY;
      assert_int_equal(psdmp_identify_simulation_walk(simulation, PSDMP_IDENTIFY_PASS_IV, NULL, next, &error),
                       PSDM_E_MEMORY);
      assert_int_equal(was.passes, 1);
      psdmp_identify_simulation_free(simulation);
      scene_free(&s);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cutoffs),     cmocka_unit_test(refused),
                                     cmocka_unit_test(shares),      cmocka_unit_test(closed_loop),
                                     cmocka_unit_test(many_joints), cmocka_unit_test(short_stretch),
                                     cmocka_unit_test(stopped),     cmocka_unit_test(on_other_threads_and_ranks),
                                     cmocka_unit_test(half_way)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
