/* test_lugre_fit_steps.c: the search for friction's numbers, step by step. The beginnings, the minimiser and the
 * uncertainty are stand-ins: each descent must begin where a plain twin says, with these numbers free, and ends where
 * the test says; the dropped numbers and the whole answer follow from that. */
#if defined(PSDM_HAVE_CMINPACK) && defined(PSDM_HAVE_NLOPT)

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "steps/lugre_priv.h"
#include "fenced.h"

enum { PIECES = 3, ROWS = 60, POSES = 2, NUMBERS = INERTIA + POSES, MOST_LOOKS = 8, MOST_USED = PIECES * ROWS };

static double gauss(rng *g) {
  return sqrt(-2 * log(1 - rng_uniform(g, 0, 1))) * cos(6.283185307179586 * rng_uniform(g, 0, 1));
}

/* ---- a short log ---- */

static struct {
  psdmp_steps_lugre_piece piece[PIECES];
  double v[PIECES][ROWS], a[PIECES][ROWS], tau[PIECES][ROWS];
  signed char use[PIECES][ROWS];
  psdmp_steps_lugre_options options;
  psdm_filter filter;
  double fastest;
  long used, rows;
} m;

static void count_log(void) {
  m.fastest = m.used = m.rows = 0;
  for (int p = 0; p < PIECES; p++)
    for (long i = 0; i < m.piece[p].rows; i++, m.rows++)
      if (m.use[p][i]) m.used++, m.fastest = fmax(m.fastest, fabs(m.v[p][i]));
}

static void make_log(rng *g) {
  memset(&m, 0, sizeof m);
  m.options.offset = true;
  for (int p = 0; p < PIECES; p++) {
    for (int i = 0; i < ROWS; i++) {
      m.v[p][i] = 0.8 * sin(0.31 * i + p) + 0.1 * gauss(g), m.a[p][i] = rng_uniform(g, -4, 4),
      m.tau[p][i] = rng_uniform(g, -9, 9);
      m.use[p][i] = rng_int(g, 0, 4) > 0;
    }
    m.piece[p] = (psdmp_steps_lugre_piece){.rows = ROWS - 7 * p,
                                           .dt = 0.01 + 0.002 * p,
                                           .v = m.v[p],
                                           .a = m.a[p],
                                           .tau = m.tau[p],
                                           .use = m.use[p],
                                           .pose = p % 2};
  }
  count_log();
}

/* ---- the twin ---- */

static double *number(psdmp_steps_lugre_point *point, int k) {
  psdm_friction *f = &point->friction;
  double *const numbers[] = {&f->coulomb,  &f->stat,   &f->stribeck, &f->viscous,
                             &f->exponent, &f->sigma0, &f->sigma1,   &f->offset};
  return k < INERTIA ? numbers[k] : &point->inertia[k - INERTIA];
}

static bool is_log(int k) { return k != SIGMA1 && k != OFFSET && k < INERTIA; }

typedef struct look {
  unsigned hidden, doubtful; /* bits of numbers that depend on others, or whose uncertainty is large */
  unsigned lost;             /* the numbers that must then be dropped */
  double doubt;              /* variance of the doubtful */
} look;

static struct {
  /* the test's choice */
  int count;
  psdm_status begins;
  psdmp_steps_lugre_point points[BEGINNINGS];
  /* the residual from each beginning; how far each coordinate moves, as a share of its index */
  double left[BEGINNINGS], step;
  double sigma1[16]; /* where a descent takes it; NAN: by the step */
  look looks[MOST_LOOKS];
  bool apart, certain; /* covariance of Fc and Fs as below, or none */
  int stop_at;         /* the progress call that stops, from 1 */
  /* the state so far */
  psdmp_steps_lugre_point point, best, beginning;
  double least;
  int k, descents, looked, columns, asked;
  bool rough, again, stopped;
  /* (NUMBERS x NUMBERS) that the stand-in for the uncertainty makes up */
  double covariance[UNKNOWNS * UNKNOWNS], inverse[UNKNOWNS * UNKNOWNS];
} twin;

/* numbers that are tied */
static void tied(psdmp_steps_lugre_point *point) {
  if (!point->free[STAT]) point->friction.stat = point->friction.coulomb;
  if (!point->free[SIGMA0]) point->friction.sigma0 = point->friction.coulomb * 1e4;
}

/* all numbers are free; the offset if requested and the drive moves both ways */
static void freed(psdmp_steps_lugre_point *point) {
  bool forth = false, back = false;
  for (int p = 0; p < PIECES; p++)
    for (long i = 0; i < m.piece[p].rows; i++) {
      double speed = m.v[p][i] / m.fastest;
      if (m.use[p][i] && speed > 0.1) forth = true;
      if (m.use[p][i] && speed < -0.1) back = true;
    }
  for (int k = 0; k < NUMBERS; k++) point->free[k] = true;
  if (m.options.offset && forth && back) return;
  point->free[OFFSET] = false, point->friction.offset = 0;
}

/* from the beginning once more, without the dropped numbers */
static void begun_again(void) {
  bool free[UNKNOWNS];
  psdmp_steps_lugre_point *p = &twin.point;
  psdm_friction *f = &p->friction;
  double moderate = 0.3 * m.fastest;
  memcpy(free, p->free, sizeof free);
  *p = twin.beginning;
  memcpy(p->free, free, sizeof free);
  if (!free[STAT])
    f->coulomb += (f->stat - f->coulomb) * exp(-moderate * moderate / (f->stribeck * f->stribeck)),
        f->stribeck = m.fastest / 1000;
  if (!free[EXPONENT]) f->viscous *= pow(moderate, f->exponent) / moderate, f->exponent = 1;
  if (!free[VISCOUS]) f->coulomb += f->viscous * moderate, f->viscous = 0;
  for (int k = SIGMA1; k < NUMBERS; k++)
    if (!free[k]) *number(p, k) = 0;
  tied(p);
}

static void expect_point(const psdmp_steps_lugre_point *is, const char *what) {
  psdmp_steps_lugre_point copy = *is;
  for (int k = 0; k < NUMBERS; k++) {
    double x = *number(&copy, k), should = *number(&twin.point, k);
    if (is->free[k] != twin.point.free[k])
      fail_msg("%s %d: number %d is %sfree", what, twin.descents, k, is->free[k] ? "" : "not ");
    if (!(fabs(x - should) <= 1e-13 * fabs(should)))
      fail_msg("%s %d: number %d is %.15g, %.15g was expected", what, twin.descents, k, x, should);
  }
}

static void set_place(const double *x, const double *from) {
  int n = 0;
  for (int k = 0; k < NUMBERS; k++)
    if (twin.point.free[k])
      *number(&twin.point, k) = is_log(k) ? exp(fmin(fmax(x[n], from[n] - 7), from[n] + 7)) : x[n], n++;
  tied(&twin.point);
}

/* residual and J beside those of the twin's point */
static void expect_rows(int n, const double *residual, const double *J) {
  static double r[MOST_USED], D[MOST_USED * UNKNOWNS];
  psdmp_steps_lugre w;
  assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, POSES, &m.options, NULL, &w, NULL), PSDM_OK);
  int before = twin.columns;
  psdmp_steps_lugre_residual(&w, &twin.point, r, D, NULL);
  twin.columns = before;
  psdmp_base_arena_free(&w.arena);
  for (long i = 0; i < m.used && residual; i++)
    if (!(fabs(residual[i] - r[i]) <= 1e-11 * (10 + fabs(r[i]))))
      fail_msg("descent %d, row %ld: %.15g, %.15g was expected", twin.descents, i, residual[i], r[i]);
  for (int k = 0; k < n && J; k++) {
    double most = max_absolute(D + k * m.used, (int)m.used);
    for (long i = 0; i < m.used; i++)
      if (!(fabs(J[k * m.used + i] - D[k * m.used + i]) <= 1e-11 * (most + 1e-3)))
        fail_msg("descent %d, column %d, row %ld: %.15g, %.15g was expected", twin.descents, k, i, J[k * m.used + i],
                 D[k * m.used + i]);
  }
}

/* ---- the stand-ins ---- */

void __real_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width);
void __wrap_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width);
void __wrap_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width) {
  twin.columns++;
  __real_psdmp_steps_lugre_columns(w, f, width);
}

psdm_status __wrap_psdmp_steps_lugre_begin(psdmp_steps_lugre *w, psdmp_steps_lugre_point *points, int *count,
                                           psdm_error *error);
psdm_status __wrap_psdmp_steps_lugre_begin(psdmp_steps_lugre *w, psdmp_steps_lugre_point *points, int *count,
                                           psdm_error *error) {
  assert_true(w->fastest == m.fastest && w->used == m.used && w->rows == m.rows && w->poses == POSES &&
              w->pieces == PIECES);
  for (int k = 0; k < BEGINNINGS; k++)
    for (int i = 0; i < UNKNOWNS; i++)
      assert_true(!points[k].free[i] && (i >= INERTIA + POSES || *number(&points[k], i) == 0));
  memcpy(points, twin.points, sizeof twin.points);
  *count = twin.count;
  twin.point = twin.points[0], twin.rough = true;
  freed(&twin.point);
  return twin.begins ? psdmp_base_fail(error, twin.begins, "", 0, 0, "no beginning") : PSDM_OK;
}

static void descended(void) {
  psdmp_steps_lugre_point *p = &twin.point;
  if (twin.again) {
    twin.again = false, p->free[SIGMA1] = true;
  } else if (p->free[SIGMA1] && p->friction.sigma1 < 0) {
    twin.again = true, p->free[SIGMA1] = false, p->friction.sigma1 = 0;
    return;
  }
  if (!twin.rough) return;
  if (twin.k == 0 || twin.left[twin.k] < twin.least)
    twin.least = twin.left[twin.k], twin.best = *p, twin.beginning = twin.points[twin.k];
  if (++twin.k < twin.count) *p = twin.points[twin.k], freed(p);
  else *p = twin.best, twin.rough = false;
}

typedef int function(void *user, int rows, int n, const double *x, double *residual, double *J, int ld, int what);

int __wrap_lmder(function *f, void *user, int rows, int n, double *x, double *residual, double *J, int ld, double ftol,
                 double xtol, double gtol, int most, double *diagonal, int mode, double factor, int print, int *values,
                 int *jacobians, int *pivot, double *qtf, double *one, double *two, double *three, double *spare);
int __wrap_lmder(function *f, void *user, int rows, int n, double *x, double *residual, double *J, int ld, double ftol,
                 double xtol, double gtol, int most, double *diagonal, int mode, double factor, int print, int *values,
                 int *jacobians, int *pivot, double *qtf, double *one, double *two, double *three, double *spare) {
  double *const memory[] = {x, residual, J, spare, diagonal, qtf, one, two, three}, from[UNKNOWNS] = {0};
  const int sizes[] = {n, rows, rows * n, rows, n, n, n, n, n};
  if (twin.stopped) { /* it is not called again, and nothing is evaluated */
    int asks = twin.asked, before = twin.columns;
    assert_true(f(user, rows, n, x, residual, J, ld, 1) == -1 && f(user, rows, n, x, residual, J, ld, 2) == -1 &&
                twin.asked == asks && twin.columns == before);
    return -1;
  }
  assert_true(rows == m.used && ld == rows && ftol == (twin.rough ? 1e-4 : 1e-10) &&
              xtol == (twin.rough ? 1e-3 : 1e-8) && gtol == 0 && most == 60);
  assert_true(mode == 1 && factor >= 0.1 && factor <= 100 && print == 0); /* what MINPACK allows */
  int free = 0;
  for (int k = 0; k < NUMBERS; k++)
    if (twin.point.free[k]) {
      double should = is_log(k) ? log(*number(&twin.point, k)) : *number(&twin.point, k);
      assert_true(free < n);
      if (!(fabs(x[free] - should) <= 1e-13 * (1 + fabs(should))))
        fail_msg("descent %d begins at %.15g of number %d, %.15g was expected", twin.descents, x[free], k, should);
      from[free] = x[free], free++;
    }
  assert_int_equal(n, free);
  for (int k = 0; k < 9; k++)
    for (int i = 0; i < sizes[k]; i++) memory[k][i] = k;
  for (int i = 0; i < n; i++) pivot[i] = i;
  for (int k = 0; k < 9; k++)
    for (int i = 0; i < sizes[k]; i++) assert_true(memory[k][i] == k);
  *values = *jacobians = 1;
  int which = 0;
  for (int k = 0; k < NUMBERS; k++)
    if (twin.point.free[k]) {
      x[which] = from[which] + twin.step * (k + 1) * (twin.descents % 2 ? -1 : 1);
      if (k == SIGMA1 && !isnan(twin.sigma1[twin.descents])) x[which] = twin.sigma1[twin.descents];
      which++;
    }
  double near[UNKNOWNS];
  for (int i = 0; i < n; i++) near[i] = from[i] + 0.01 * (i + 1);
  for (int what = 1; what <= 2; what++) {
    int before = twin.columns;
    for (int i = 0; i < rows; i++) residual[i] = NAN;
    for (int i = 0; i < rows * n; i++) J[i] = NAN;
    int answer = f(user, rows, n, near, residual, J, ld, what);
    if (twin.stopped) {
      assert_true(answer == -1 && twin.columns == before);
      return -1;
    }
    assert_true(answer == 0 && twin.columns == before + 1);
    assert_true(what == 1 ? isnan(J[0]) : isnan(residual[0]));
    set_place(near, from);
    expect_rows(n, what == 1 ? residual : NULL, what == 2 ? J : NULL);
  }
  set_place(x, from);
  for (int i = 0; i < rows; i++) residual[i] = i ? 0 : sqrt(twin.left[twin.k < twin.count ? twin.k : 0]);
  twin.descents++;
  descended();
  return 1;
}

static void make_covariance(void) {
  rng g = {.state = 20260101};
  for (int i = 0; i < NUMBERS; i++)
    for (int k = 0; k <= i; k++) {
      twin.covariance[i * NUMBERS + k] = twin.covariance[k * NUMBERS + i] =
          i == k ? rng_uniform(&g, 0.001, 0.002) : 1e-4 * gauss(&g);
      twin.inverse[i * NUMBERS + k] = twin.inverse[k * NUMBERS + i] = gauss(&g);
    }
  if (twin.certain)
    twin.covariance[0] = twin.covariance[1] = twin.covariance[NUMBERS] = twin.covariance[NUMBERS + 1] = 0;
  if (!twin.apart) return;
  /* of log Fs / Fc: 0.05; three of its standard deviations are 0.6708 */
  twin.covariance[0] = 0.04, twin.covariance[1] = twin.covariance[NUMBERS] = 0.01, twin.covariance[NUMBERS + 1] = 0.03;
}

void __wrap_psdmp_steps_lugre_doubt_at(const psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point,
                                       const double *residual, const double *J, psdmp_steps_lugre_doubt *d);
void __wrap_psdmp_steps_lugre_doubt_at(const psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point,
                                       const double *residual, const double *J, psdmp_steps_lugre_doubt *d) {
  assert_int_equal(w->used, m.used);
  memset(d, 0xFF, sizeof *d);
  d->count = 0;
  if (twin.stopped) return; /* nothing is made of it */
  expect_point(point, "doubt behind descent");
  for (int k = 0; k < NUMBERS; k++)
    if (point->free[k]) d->which[d->count++] = k;
  expect_rows(d->count, residual, J);
  assert_true(twin.looked < MOST_LOOKS);
  look *l = &twin.looks[twin.looked++];
  for (int i = 0; i < d->count; i++) {
    d->shown[i] = !(l->hidden >> d->which[i] & 1);
    for (int k = 0; k < d->count; k++) {
      d->covariance[i * d->count + k] = twin.covariance[d->which[i] * NUMBERS + d->which[k]];
      d->inverse[i * d->count + k] = twin.inverse[d->which[i] * NUMBERS + d->which[k]];
    }
    if (l->doubtful >> d->which[i] & 1) d->covariance[i * d->count + i] = l->doubt;
    if (l->doubtful >> d->which[i] & 1 && !l->lost) twin.covariance[d->which[i] * (NUMBERS + 1)] = l->doubt;
  }
  if (!l->lost) return;
  for (int k = 0; k < NUMBERS; k++)
    if (l->lost >> k & 1) assert_true(twin.point.free[k]), twin.point.free[k] = false;
  begun_again();
}

/* ---- running it ---- */

static psdmp_steps_lugre_answer answer;
static psdm_error error;
static double covariance[NUMBERS * NUMBERS], model[MOST_USED];

static bool ask(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  assert_ptr_equal(user, &twin);
  double should = fmin(0.5 + 0.01 * twin.columns, 1);
  if (!(fabs(share - should) <= 1e-15)) fail_msg("share %.15g, %.15g was expected", share, should);
  twin.stopped = ++twin.asked == twin.stop_at;
  return !twin.stopped;
}

static void start(void) {
  static const psdmp_steps_lugre_point points[BEGINNINGS] = {
      {{3, 4.2, 0.05, 0.6, 0.8, 2e3, 2, 0.7, true}, {1.5, 2.5}, {false}},
      {{2, 3.1, 0.4, 7, 1.3, 9e3, 0.5, -0.3, true}, {0.4, 0.6}, {false}},
      {{5, 3.5, 0.2, 1, 0.4, 4e4, 9, 0.2, true}, {-0.2, 0.9}, {false}}};
  memset(&twin, 0, sizeof twin);
  memcpy(twin.points, points, sizeof points);
  twin.count = 1, twin.step = 0.02, twin.left[0] = 4;
  for (int k = 0; k < 16; k++) twin.sigma1[k] = NAN;
  m.options.progress = ask, m.options.progress_user = &twin;
}

static psdm_status run(const psdm_allocator *allocator) {
  make_covariance();
  memset(&answer, 0xFF, sizeof answer), memset(&error, 0, sizeof error);
  for (int k = 0; k < NUMBERS * NUMBERS; k++) covariance[k] = NAN;
  for (int k = 0; k < MOST_USED; k++) model[k] = NAN;
  answer.covariance = covariance, answer.model = model;
  return psdmp_steps_lugre_fit(PIECES, m.piece, POSES, &m.options, allocator, &answer, &error);
}

/* the torque along all rows at the twin's point, with the bend of each piece that gives the least residual */
static void expect_model(double *square) {
  static double columns[2 * ROWS], scratch[40 * ROWS];
  const double *is = model;
  *square = 0;
  for (int p = 0; p < PIECES; p++) {
    const psdmp_steps_lugre_piece *piece = &m.piece[p];
    double both = 0, own = 0;
    psdmp_steps_lugre_simulate(&twin.point.friction, piece->rows, piece->dt, piece->v, TORQUE_AND_START, columns);
    if (m.options.filter) psdm_filter_zero_phase(m.options.filter, piece->rows, 2, columns, scratch);
    for (long i = 0; i < piece->rows; i++)
      columns[2 * i] += twin.point.friction.offset + twin.point.inertia[piece->pose] * piece->a[i];
    for (long i = 0; i < piece->rows; i++)
      if (piece->use[i])
        both += (piece->tau[i] - columns[2 * i]) * columns[2 * i + 1], own += columns[2 * i + 1] * columns[2 * i + 1];
    for (long i = 0; i < piece->rows; i++) {
      double should = columns[2 * i] + (own > 0 ? both / own : 0) * columns[2 * i + 1], left = should - piece->tau[i];
      if (!(fabs(is[i] - should) <= 1e-11 * (10 + fabs(should))))
        fail_msg("model of piece %d, row %ld: %.15g, %.15g was expected", p, i, is[i], should);
      if (piece->use[i]) *square += left * left;
    }
    is += piece->rows;
  }
}

static void expect_answer(void) {
  double square;
  expect_model(&square);
  assert_true(fabs(answer.rmse - sqrt(square / (double)m.used)) <= 1e-11 * answer.rmse);
  assert_true(answer.friction.given && answer.evaluations == twin.columns);
  psdmp_steps_lugre_point is = {.friction = answer.friction};
  memcpy(is.inertia, answer.inertia, sizeof is.inertia);
  memcpy(is.free, twin.point.free, sizeof is.free);
  expect_point(&is, "answer behind descent");
  for (int k = 0; k < INERTIA; k++) assert_int_equal(answer.fitted[k], twin.point.free[k]);
  for (int p = POSES; p < POSES_MOST; p++) assert_true(answer.inertia[p] == 0);
  for (int i = 0; i < NUMBERS; i++)
    for (int k = 0; k < NUMBERS; k++) {
      double by = (is_log(i) ? *number(&twin.point, i) : 1) * (is_log(k) ? *number(&twin.point, k) : 1);
      double should = twin.point.free[i] && twin.point.free[k] ? by * twin.covariance[i * NUMBERS + k] : 0;
      if (!(fabs(covariance[i * NUMBERS + k] - should) <= 1e-12 * fabs(should)))
        fail_msg("covariance of %d and %d: %.15g, %.15g was expected", i, k, covariance[i * NUMBERS + k], should);
    }
}

static void expect_nothing(void) {
  double square = 0;
  for (int p = 0; p < PIECES; p++)
    for (long i = 0; i < m.piece[p].rows; i++)
      if (m.use[p][i]) square += m.tau[p][i] * m.tau[p][i];
  assert_true(!answer.friction.given && fabs(answer.rmse - sqrt(square / (double)m.used)) <= 1e-13 * answer.rmse &&
              answer.evaluations == twin.columns);
  for (int i = 0; i < NUMBERS * NUMBERS; i++) assert_true(covariance[i] == 0);
  for (long i = 0; i < m.rows; i++) assert_true(model[i] == 0);
  for (int k = 0; k < INERTIA; k++) assert_false(answer.fitted[k]);
}

/* the beginning with the least residual, the first of equal ones; none */
static void beginnings(void **state) {
  (void)state;
  static const double left[][BEGINNINGS] = {{4, 2, 3}, {2, 2, 3},        {3, 4, 2},  {5, 5, 5},
                                            {4, 1, 1}, {0.5, NAN, 0.25}, {NAN, 1, 2}};
  rng g = rng_start("lugre fit steps");
  for (int trial = 0; trial < 7; trial++)
    for (int count = 0; count <= BEGINNINGS; count++) {
      make_log(&g);
      if (trial == 3)
        assert_int_equal(psdm_filter_butterworth(2, 20, 100, &m.filter), PSDM_OK), m.options.filter = &m.filter;
      /* a piece that is only simulated: its beginning is not bent */
      if (trial == 5) memset(m.use[1], 0, sizeof m.use[1]), count_log();
      start();
      twin.count = count, memcpy(twin.left, left[trial], sizeof twin.left);
      assert_int_equal(run(NULL), PSDM_OK);
      if (count) expect_answer();
      else expect_nothing();
      assert_int_equal(twin.descents, count ? count + 1 : 0);
    }
  make_log(&g), start(), twin.begins = PSDM_E_MISSING;
  assert_int_equal(run(NULL), PSDM_E_MISSING);
  assert_true(twin.descents == 0 && !answer.friction.given && !strcmp(error.text, "no beginning"));
}

/* negative damping of the bristles becomes zero, and the other numbers are fitted once more; a number changes by a
 * factor of e^7 at most in one descent */
static void bounds_of_descents(void **state) {
  (void)state;
  static const double damping[][6] = {{-1, NAN, NAN, NAN, NAN, NAN},
                                      {NAN, -2, NAN, 3, NAN, NAN},
                                      {0, 0, NAN, NAN, NAN, NAN},
                                      {-1, NAN, -1, NAN, -1e-9, NAN}};
  static const int descents[] = {4, 4, 3, 6};
  rng g = rng_start("lugre bounds");
  for (int trial = 0; trial < 4; trial++) {
    make_log(&g), start();
    twin.count = 2, twin.left[1] = 3, memcpy(twin.sigma1, damping[trial], sizeof damping[trial]);
    assert_int_equal(run(NULL), PSDM_OK);
    expect_answer();
    assert_int_equal(twin.descents, descents[trial]);
    assert_true((answer.friction.sigma1 == 0) == (trial == 3) && answer.fitted[SIGMA1]);
  }
  for (int down = 0; down < 2; down++) {
    make_log(&g), start();
    twin.step = down ? -8 : 8;
    for (int k = 0; k < 16; k++) twin.sigma1[k] = 1;
    assert_int_equal(run(NULL), PSDM_OK);
    /* there and back again */
    assert_true(fabs(answer.friction.coulomb / 3 - 1) < 1e-13 && fabs(answer.friction.sigma0 / 2e3 - 1) < 1e-13);
    assert_true(fabs(twin.best.friction.coulomb / 3 - exp(down ? -7 : 7)) < 1e-12 * exp(7));
  }
}

/* an offset is fitted if requested and if used rows go faster than a tenth of the drive's top speed both ways */
static void free_numbers(void **state) {
  (void)state;
  rng g = rng_start("lugre free");
  for (int trial = 0; trial < 9; trial++) {
    make_log(&g);
    for (int p = 0; p < PIECES; p++)
      for (int i = 0; i < ROWS; i++)
        if (trial > 0) m.v[p][i] = (trial % 2 ? 1 : -1) * (0.1 + fabs(m.v[p][i]));
    m.v[0][5] = trial % 2 ? 4 : -4, m.use[0][5] = 1; /* the fastest */
    double other = m.v[0][5] * -0.1;
    m.v[1][7] = trial < 3 ? other : trial < 5 ? nextafter(other, 2 * other) : 2 * other, m.use[1][7] = trial < 5;
    for (int p = 1; p < PIECES; p++) /* behind the pieces */
      for (long i = m.piece[p].rows; i < ROWS; i++) m.v[p][i] = 3 * other, m.use[p][i] = 1;
    if (trial > 6) m.v[0][0] = 3 * other, m.use[0][0] = 1; /* the first row of all */
    count_log();
    start();
    assert_int_equal(run(NULL), PSDM_OK);
    expect_answer();
    assert_int_equal(answer.fitted[OFFSET], trial == 0 || trial == 3 || trial == 4 || trial > 6);
    if (trial > 0) continue;
    m.options.offset = false, start();
    assert_int_equal(run(NULL), PSDM_OK);
    expect_answer();
    assert_true(!answer.fitted[OFFSET] && answer.friction.offset == 0);
  }
}

/* ---- dropped numbers ---- */

#define BIT(number) (1u << (number))
#define FIRST BIT(INERTIA)
#define SECOND BIT(INERTIA + 1)
#define DIP (BIT(STAT) | BIT(STRIBECK))
#define BRISTLES (BIT(SIGMA0) | BIT(SIGMA1))

static void expect_dropped(const char *what, int looks, const look *l) {
  int lost = 0;
  start();
  memcpy(twin.looks, l, sizeof *l * (size_t)looks);
  assert_int_equal(run(NULL), PSDM_OK);
  for (int k = 0; k < looks; k++) lost += l[k].lost != 0;
  if (twin.looked != lost + 1 || twin.descents != lost + 2)
    fail_msg("%s: %d looks, %d were expected", what, twin.looked, lost + 1);
  expect_answer();
}

static void doubtful_numbers_are_dropped(void **state) {
  (void)state;
  static const look one[] = {{BIT(SIGMA0), 0, BRISTLES, 0},
                             {0x3FF, 0, BRISTLES, 0},
                             {BIT(SIGMA1) | 0x1F, 0, BIT(SIGMA1), 0},
                             {BIT(STAT) | BIT(EXPONENT), 0, DIP, 0},
                             {BIT(STRIBECK) | BIT(VISCOUS), 0, DIP, 0},
                             {BIT(COULOMB) | FIRST, 0, DIP, 0},
                             {BIT(EXPONENT) | BIT(OFFSET), 0, BIT(EXPONENT), 0},
                             {BIT(VISCOUS) | BIT(OFFSET), 0, BIT(EXPONENT), 0},
                             {BIT(OFFSET) | FIRST | SECOND, 0, BIT(OFFSET), 0},
                             {FIRST | SECOND, 0, FIRST, 0},
                             {SECOND, 0, SECOND, 0},
                             {0, BIT(SIGMA0), BRISTLES, 1},
                             {0, BIT(SIGMA0), BRISTLES, NAN},
                             {0, BIT(VISCOUS), BIT(EXPONENT), 1},
                             {0, BIT(EXPONENT), BIT(EXPONENT), 7},
                             {0, BIT(STRIBECK), DIP, 1},
                             {0, 0x3C, 0, 0.99},
                             {0, BIT(SIGMA1) | BIT(OFFSET) | FIRST | SECOND, 0, 50}};
  rng g = rng_start("lugre let go");
  make_log(&g);
  for (int k = 0; k < (int)(sizeof one / sizeof *one); k++) {
    char what[40];
    snprintf(what, sizeof what, "case %d", k);
    expect_dropped(what, 1, &one[k]);
  }
  expect_dropped("one after the other", 8,
                 (look[]){{BIT(VISCOUS), 0, BIT(EXPONENT), 0},
                          {BIT(VISCOUS), 0, BIT(VISCOUS), 0},
                          {SECOND, 0, SECOND, 0},
                          {BIT(SIGMA1), 0, BIT(SIGMA1), 0},
                          {BIT(STAT), 0, DIP, 0},
                          {BIT(SIGMA0), 0, BIT(SIGMA0), 0},
                          {BIT(OFFSET), 0, BIT(OFFSET), 0},
                          {0, 0, 0, 0}});
  expect_dropped("bristles, then the power", 3,
                 (look[]){{BIT(SIGMA0), 0, BRISTLES, 0},
                          {BRISTLES | BIT(EXPONENT), 0, BIT(EXPONENT), 0},
                          {BIT(EXPONENT) | DIP, 0, DIP, 0}});
  expect_dropped("a constant", 4,
                 (look[]){{BIT(STAT), 0, DIP, 0},
                          {BIT(VISCOUS), 0, BIT(EXPONENT), 0},
                          {BIT(VISCOUS), 0, BIT(VISCOUS), 0},
                          {DIP | BIT(VISCOUS) | BIT(EXPONENT), 0, 0, 0}});
  /* without Fc there is no friction */
  static const look none[] = {{BIT(COULOMB), 0, DIP, 0}, {BIT(COULOMB), 0, 0, 0}};
  start();
  memcpy(twin.looks, none, sizeof none);
  assert_int_equal(run(NULL), PSDM_OK);
  assert_int_equal(twin.looked, 2);
  expect_nothing();
}

/* Fs and Fc that differ by less than three standard deviations are one number; without standard deviations they are
 * kept apart */
static void level_curves(void **state) {
  (void)state;
  static const double apart[] = {0.66, 0.68, -0.66, -0.68};
  rng g = rng_start("lugre level");
  make_log(&g);
  for (int k = 0; k < 4; k++) {
    start();
    twin.apart = true, twin.step = 0;
    twin.points[0].friction.stat = twin.points[0].friction.coulomb * exp(apart[k]);
    if (k % 2 == 0) twin.looks[0].lost = DIP;
    assert_int_equal(run(NULL), PSDM_OK);
    assert_int_equal(twin.looked, 2 - k % 2);
    expect_answer();
  }
  start();
  twin.certain = true, twin.step = 0, twin.points[0].friction.stat = twin.points[0].friction.coulomb;
  assert_int_equal(run(NULL), PSDM_OK);
  assert_int_equal(twin.looked, 1);
  expect_answer();
}

/* the number of poses matches the covariances: else these are left unchanged */
static void covariance_of_poses(void **state) {
  (void)state;
  static double many[(INERTIA + POSES_MOST + 1) * (INERTIA + POSES_MOST + 1)];
  rng g = rng_start("lugre poses");
  make_log(&g), start();
  for (int poses = -1; poses <= POSES_MOST + 1; poses++) {
    int cleared = poses > 0 && poses <= POSES_MOST ? (INERTIA + poses) * (INERTIA + poses) : 0;
    psdmp_steps_lugre_answer a = {.covariance = many};
    for (int k = 0; k < (int)(sizeof many / sizeof *many); k++) many[k] = 5;
    /* no pieces */
    assert_int_equal(psdmp_steps_lugre_fit(0, m.piece, poses, &m.options, NULL, &a, &error), PSDM_E_ARGUMENT);
    for (int k = 0; k < (int)(sizeof many / sizeof *many); k++) assert_true(many[k] == (k < cleared ? 0 : 5));
    assert_ptr_equal(a.covariance, many);
  }
}

/* ---- memory, stops, and how the answer follows ---- */

static void memory_and_stops(void **state) {
  (void)state;
  rng g = rng_start("lugre memory");
  make_log(&g);
  long fails = 0;
  psdm_status status;
  do {
    counting memory;
    counting_fenced_init(&memory, ++fails);
    start();
    status = run(&memory.allocator);
    assert_int_equal(memory.live, 0);
    if (status)
      assert_true(status == PSDM_E_MEMORY && error.status == PSDM_E_MEMORY && twin.descents == 0 &&
                  !answer.friction.given);
  } while (status && fails < 20);
  assert_int_equal(fails, 4 + 4 + 1); /* those of opening, those of the search */
  expect_answer();
  for (int stop = 1; stop <= 6; stop++) {
    start();
    twin.count = 2, twin.left[1] = 3, twin.stop_at = stop;
    psdm_status stopped = run(NULL);
    assert_int_equal(stopped, PSDM_E_STOPPED);
    assert_string_equal(error.text, "stopped while friction was fitted");
    assert_true(twin.asked == stop && twin.descents == (stop - 1) / 2);
    expect_nothing();
  }
}

/* all columns of D, by the made-up inverse: S C J^T D */
static void gains(void **state) {
  (void)state;
  enum { COLUMNS = 3 };
  static double J[MOST_USED * UNKNOWNS], D[MOST_USED * COLUMNS];
  rng g = rng_start("lugre gains");
  make_log(&g);
  for (int trial = 0; trial < 4; trial++) {
    psdmp_steps_lugre_answer a = {.friction = {3, 4.2, 0.05, 5, 0.8, 2e3, 2, 0.7, true},
                                  .inertia = {1.5, trial == 1 ? 0 : 2.5}};
    double gain[NUMBERS * COLUMNS + 1];
    psdmp_steps_lugre w;
    start();
    make_covariance();
    for (int k = 0; k < INERTIA; k++) a.fitted[k] = trial == 0 || rng_int(&g, 0, 3) > 0;
    if (!a.fitted[STAT]) a.friction.stat = a.friction.coulomb;
    if (!a.fitted[SIGMA0]) a.friction.sigma0 = a.friction.coulomb / 1e-4;
    a.friction.given = trial < 3;
    twin.point.friction = a.friction;
    memcpy(twin.point.inertia, a.inertia, sizeof a.inertia);
    for (int k = 0; k < NUMBERS; k++) twin.point.free[k] = k < INERTIA ? a.fitted[k] : a.inertia[k - INERTIA] != 0;
    for (long i = 0; i < m.rows * COLUMNS; i++) D[i] = gauss(&g);
    for (int k = 0; k <= NUMBERS * COLUMNS; k++) gain[k] = NAN;
    assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, POSES, &m.options, &a, COLUMNS, D, NULL, gain), PSDM_OK);
    assert_true(isnan(gain[NUMBERS * COLUMNS]) && twin.looked == (trial < 3) && twin.columns == (trial < 3));
    int which[UNKNOWNS], n;
    assert_int_equal(psdmp_steps_lugre_open(PIECES, m.piece, POSES, &m.options, NULL, &w, NULL), PSDM_OK);
    psdmp_steps_lugre_residual(&w, &twin.point, NULL, J, NULL);
    n = psdmp_steps_lugre_free_numbers(&w, &twin.point, which);
    psdmp_base_arena_free(&w.arena);
    for (int k = 0; k < NUMBERS; k++)
      for (int c = 0; c < COLUMNS; c++) {
        double sum = 0, size = 0;
        for (int j = 0; j < n && twin.point.free[k]; j++) {
          long row = 0, used = 0;
          double both = 0;
          for (int p = 0; p < PIECES; p++)
            for (long i = 0; i < m.piece[p].rows; i++, row++)
              if (m.use[p][i]) both += J[j * m.used + used++] * D[row * COLUMNS + c];
          double part = (is_log(k) ? *number(&twin.point, k) : 1) * twin.inverse[k * NUMBERS + which[j]] * both;
          sum += part, size += fabs(part);
        }
        if (trial == 3) sum = 0;
        if (!(fabs(gain[k * COLUMNS + c] - sum) <= 1e-12 * size))
          fail_msg("trial %d, number %d by column %d: %.15g, %.15g was expected", trial, k, c, gain[k * COLUMNS + c],
                   sum);
      }
    long fails = 0;
    psdm_status status;
    do {
      counting memory;
      counting_fenced_init(&memory, ++fails);
      status = psdmp_steps_lugre_gain(PIECES, m.piece, POSES, &m.options, &a, COLUMNS, D, &memory.allocator, gain);
      assert_true(memory.live == 0 && (status == PSDM_E_MEMORY || status == PSDM_OK));
    } while (status && fails < 20);
    assert_int_equal(fails, 4 + 1 + 4 + 1);
    assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, POSES, &m.options, &a, 1, D, NULL, gain), PSDM_OK);
    assert_int_equal(psdmp_steps_lugre_gain(PIECES, m.piece, POSES, &m.options, &a, 0, D, NULL, gain), PSDM_E_ARGUMENT);
    assert_int_equal(psdmp_steps_lugre_gain(0, m.piece, POSES, &m.options, &a, 1, D, NULL, gain), PSDM_E_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(beginnings),       cmocka_unit_test(bounds_of_descents),
                                     cmocka_unit_test(free_numbers),     cmocka_unit_test(doubtful_numbers_are_dropped),
                                     cmocka_unit_test(level_curves),     cmocka_unit_test(covariance_of_poses),
                                     cmocka_unit_test(memory_and_stops), cmocka_unit_test(gains)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) { return 0; }

#endif
