/* test_lugre_begin_asked.h: the beginnings of friction's search with stand-ins for the minimisers: they record what
 * they are called with, and the wrapped inverse shows each matrix of sums. Plain least squares in extended precision
 * beside them. Part of one program at a time. */
#ifndef TEST_LUGRE_BEGIN_ASKED_H
#define TEST_LUGRE_BEGIN_ASKED_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/plugin.h"
#include "steps/lugre_priv.h"
#include "fenced.h"

typedef long double real;

enum { MOST_PIECES = 4, MOST_ROWS = 2700, MOST_COLUMNS = 12, CALLS = 900 };

static inline double gauss(rng *g) {
  return sqrt(-2 * log(1 - rng_uniform(g, 0, 1))) * cos(6.283185307179586 * rng_uniform(g, 0, 1));
}

/* ---- a scene: pieces of different lengths, clocks and poses ---- */

typedef struct scene {
  psdmp_steps_lugre_piece piece[MOST_PIECES];
  double v[MOST_PIECES][MOST_ROWS], a[MOST_PIECES][MOST_ROWS], tau[MOST_PIECES][MOST_ROWS];
  signed char use[MOST_PIECES][MOST_ROWS];
  int pieces, poses;
  psdmp_steps_lugre_options options;
  psdm_filter filter;
} scene;

static scene s;

/* slow and fast, turns and rests; the first row of a piece is used in the first piece alone, and nothing of the fourth.
 * The fastest row has 1 rad/s, and some are exactly at the bounds of fast rows. */
static inline void make_scene(rng *g, int pieces, int poses, const long *rows, const psdm_friction *f, bool offset,
                              bool filter) {
  static const double bounds[] = {0.3, 0.2, 0.12, 0.07, 0.04, 0.02};
  double fastest = 0;
  memset(&s, 0, sizeof s);
  s.pieces = pieces, s.poses = poses, s.options.offset = offset;
  for (int p = 0; p < pieces; p++) {
    double dt = 0.004 + 0.001 * p, phase = rng_uniform(g, 0, 6), w = rng_uniform(g, 9, 14);
    for (long i = 0; i < rows[p]; i++) {
      double t = (double)i * dt;
      s.v[p][i] = i % 50 > 47 || i == 13
                      ? 0
                      : sin(w * t + phase) * (0.03 + 0.97 * pow(sin(2.3 * t + p), 4)) * (p == 1 ? 1.3 : 1);
      s.use[p][i] = (p == 0 && i == 0) || (p < 3 && (p == 0 || i > 5) && rng_uniform(g, 0, 1) < 0.85);
      if (s.use[p][i]) fastest = fmax(fastest, fabs(s.v[p][i]));
    }
    /* behind the piece */
    for (long i = rows[p]; i < MOST_ROWS; i++) s.v[p][i] = 0.5, s.tau[p][i] = NAN, s.use[p][i] = 1;
    s.piece[p] = (psdmp_steps_lugre_piece){.rows = rows[p],
                                           .dt = dt,
                                           .v = s.v[p],
                                           .a = s.a[p],
                                           .tau = s.tau[p],
                                           .use = s.use[p],
                                           .pose = p == 1 ? poses - 1 : 0};
  }
  for (int p = 0; p < pieces; p++) {
    for (long i = 0; i < rows[p]; i++) s.v[p][i] /= fastest, s.a[p][i] = rng_uniform(g, -5, 5);
    for (int k = 0; k < 6 && p == 0; k++) s.v[p][20 + k] = k % 2 ? -bounds[k] : bounds[k], s.use[p][20 + k] = 1;
    /* rows that slide slowly */
    for (int k = 0; k < 12 && p == 0; k++) s.v[p][60 + k] = k < 8 ? 0.4 : 5e-4 * k, s.use[p][60 + k] = 1;
    psdmp_steps_lugre_simulate(f, rows[p], s.piece[p].dt, s.v[p], TORQUE_ALONE, s.tau[p]);
    for (long i = 0; i < rows[p]; i++)
      s.tau[p][i] += f->coulomb * ((0.1 + 0.05 * p) * s.a[p][i] + (offset ? 0.2 : 0) + 0.05 * gauss(g));
  }
  if (filter) assert_int_equal(psdm_filter_butterworth(2, 40, 200, &s.filter), PSDM_OK), s.options.filter = &s.filter;
}

static inline double fastest_used(void) {
  double fastest = 0;
  for (int p = 0; p < s.pieces; p++)
    for (long i = 0; i < s.piece[p].rows; i++)
      if (s.use[p][i]) fastest = fmax(fastest, fabs(s.v[p][i]));
  return fastest;
}

/* ---- plain least squares ---- */

typedef struct design {
  int n;
  long rows;
  real X[MOST_PIECES * MOST_ROWS * MOST_COLUMNS], y[MOST_PIECES * MOST_ROWS];
  /* sums of squares; size: of columns before the piece's beginning is removed */
  real G[MOST_COLUMNS][MOST_COLUMNS], size[MOST_COLUMNS], left, square, x[MOST_COLUMNS];
} design;

static design now;

static inline real *new_row(double tau) {
  real *row = now.X + now.rows * now.n;
  for (int k = 0; k < now.n; k++) row[k] = 0;
  now.y[now.rows++] = tau;
  return row;
}

static inline void sum_design(void) {
  for (int i = 0; i < now.n; i++)
    for (int k = 0; k < now.n; k++) now.G[i][k] = 0;
  now.square = 0;
  for (long r = 0; r < now.rows; r++) {
    now.square += now.y[r] * now.y[r];
    for (int i = 0; i < now.n; i++)
      for (int k = 0; k < now.n; k++) now.G[i][k] += now.X[r * now.n + i] * now.X[r * now.n + k];
  }
}

/* by elimination; columns that are zero or depend on those before get 0 */
static inline void solve_design(void) {
  real A[MOST_COLUMNS][MOST_COLUMNS + 1], b[MOST_COLUMNS] = {0}, size[MOST_COLUMNS];
  bool out[MOST_COLUMNS];
  int n = now.n;
  for (long r = 0; r < now.rows; r++)
    for (int i = 0; i < n; i++) b[i] += now.X[r * n + i] * now.y[r];
  for (int i = 0; i < n; i++) size[i] = now.G[i][i] > 0 ? sqrtl(now.G[i][i]) : 1;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) A[i][k] = now.G[i][k] / (size[i] * size[k]);
    A[i][n] = b[i] / size[i];
  }
  for (int c = 0; c < n; c++) {
    out[c] = !(A[c][c] > 1e-11L);
    for (int i = 0; i < n && !out[c]; i++) {
      real factor = A[i][c] / A[c][c];
      for (int k = 0; k <= n && i != c; k++) A[i][k] -= factor * A[c][k];
    }
  }
  now.left = now.square;
  for (int i = 0; i < n; i++) now.x[i] = out[i] ? 0 : A[i][n] / A[i][i] / size[i], now.left -= now.x[i] * b[i];
}

/* rows of (20) above a speed; columns Fc, Fv, offset, inertias */
static inline void fast_design(double above, double d) {
  now.n = 3 + s.poses, now.rows = 0;
  for (int p = 0; p < s.pieces; p++)
    for (long i = 0; i < s.piece[p].rows; i++) {
      double v = s.v[p][i], sign = v < 0 ? -1 : 1;
      if (!s.use[p][i] || !(fabs(v) > above)) continue;
      real *row = new_row(s.tau[p][i]);
      row[0] = sign, row[1] = sign * pow(fabs(v), d), row[2] = s.options.offset, row[3 + s.piece[p].pose] = s.a[p][i];
    }
  sum_design();
  solve_design();
}

/* rows after which the drive has gone five lengths in one direction, thinned; columns Fc, Fv, offset, Fs - Fc,
 * inertias; Fs / Fc */
static inline double curve_design(double length, double vs, double d) {
  long used = 0, seen = 0;
  for (int p = 0; p < s.pieces; p++)
    for (long i = 0; i < s.piece[p].rows; i++) used += s.use[p][i];
  now.n = 4 + s.poses, now.rows = 0;
  for (int p = 0; p < s.pieces; p++) {
    double gone = 0;
    for (long i = 1; i < s.piece[p].rows; i++) {
      double v = s.v[p][i], sign = v < 0 ? -1 : 1;
      gone = v * s.v[p][i - 1] > 0 ? gone + fabs(v) * s.piece[p].dt : 0;
      if (!s.use[p][i] || gone < 5 * length) continue;
      if (seen++ % (used / 6000 + 1) != 0) continue;
      real *row = new_row(s.tau[p][i]);
      row[0] = sign, row[1] = sign * pow(fabs(v), d), row[2] = s.options.offset,
      row[3] = sign * exp(-(v / vs) * (v / vs)), row[4 + s.piece[p].pose] = s.a[p][i];
    }
  }
  sum_design();
  solve_design();
  double rise = now.x[0] > 0 ? (double)(1 + now.x[3] / now.x[0]) : 0;
  if (!(rise > 0.3 && rise < 3)) now.left = INFINITY;
  return rise;
}

/* bristles; columns Fc, Fv, offset, sigma1, inertias; the projection on the bend at each piece's beginning is removed
 * from them and from the torque */
static inline void shape_design(const psdm_friction *f, double d, bool damped) {
  static double column[MOST_ROWS * BRISTLES_ONLY], viscous[MOST_ROWS], scratch[4 * MOST_ROWS], start[MOST_ROWS];
  now.n = 4 + s.poses, now.rows = 0;
  for (int k = 0; k < now.n; k++) now.size[k] = 0;
  for (int p = 0; p < s.pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &s.piece[p];
    psdmp_steps_lugre_simulate(f, piece->rows, piece->dt, piece->v, BRISTLES_ONLY, column);
    for (long i = 0; i < piece->rows; i++)
      viscous[i] = piece->v[i] == 0 ? 0 : (piece->v[i] < 0 ? -1 : 1) * pow(fabs(piece->v[i]), d);
    if (s.options.filter) {
      assert_true(psdm_filter_scratch(s.options.filter, piece->rows) <= 4 * MOST_ROWS);
      psdm_filter_zero_phase(s.options.filter, piece->rows, BRISTLES_ONLY, column, scratch);
      psdm_filter_zero_phase(s.options.filter, piece->rows, 1, viscous, scratch);
    }
    long first = now.rows;
    real square = 0, share;
    for (long i = 0; i < piece->rows; i++) {
      if (!piece->use[i]) continue;
      real *row = new_row(piece->tau[i]);
      row[0] = column[3 * i], row[1] = viscous[i], row[2] = s.options.offset, row[3] = damped ? column[3 * i + 1] : 0,
      row[4 + piece->pose] = piece->a[i];
      start[now.rows - 1 - first] = column[3 * i + 2];
      for (int k = 0; k < now.n; k++) now.size[k] += row[k] * row[k];
    }
    long rows = now.rows - first;
    for (long i = 0; i < rows; i++) square += (real)start[i] * start[i];
    for (int k = 0; k <= now.n && rows > 0; k++) {
      real *at = k < now.n ? now.X + first * now.n + k : now.y + first, both = 0;
      long step = k < now.n ? now.n : 1;
      for (long i = 0; i < rows; i++) both += at[i * step] * start[i];
      share = square > 1e-280L ? both / square : 0; /* less is not exact in double precision */
      for (long i = 0; i < rows; i++) at[i * step] -= share * start[i];
    }
  }
  sum_design();
  solve_design();
}

/* ---- what is called ---- */

static struct {
  psdm_friction columns[CALLS]; /* of psdmp_steps_lugre_columns */
  int shapes;
  struct {
    int n;
    double A[MOST_COLUMNS * MOST_COLUMNS];
  } sums[CALLS]; /* each matrix that is inverted, but for fast rows */
  int inverted;
  bool inside;                                    /* of the search for fast rows */
  bool (*instead)(int n, double *X, bool *shown); /* nullable; false: the inverse itself */
  void (*fast)(int (*f)(void *, int, int, const double *, double *, int), void *user, int m, double *x,
               double *residual);
  int fasts;
  void (*simplex)(nlopt_func f, void *user, const double *x);
  int simplexes, refuse; /* refuse: the call of the table that fails, counted from 1 */
  nlopt_result failure;
  int called, created, destroyed, stopped;
  bool absent;
  double low[3], high[3], from[BEGINNINGS][3];
} asked;

void __real_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width);
void __wrap_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width);
void __wrap_psdmp_steps_lugre_columns(psdmp_steps_lugre *w, const psdm_friction *f, int width) {
  assert_int_equal(width, BRISTLES_ONLY);
  assert_true(asked.shapes < CALLS);
  asked.columns[asked.shapes++] = *f;
  __real_psdmp_steps_lugre_columns(w, f, width);
}

void __real_psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown);
void __wrap_psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown);
void __wrap_psdmp_steps_lugre_invert(int n, const double *A, double *X, bool *shown) {
  assert_true(asked.inverted < CALLS);
  if (!asked.inside)
    asked.sums[asked.inverted].n = n, memcpy(asked.sums[asked.inverted++].A, A, sizeof *A * (size_t)(n * n));
  X[n * n] = NAN; /* there is room, but its content is undefined */
  if (asked.inside || !asked.instead || !asked.instead(n, X, shown)) __real_psdmp_steps_lugre_invert(n, A, X, shown);
}

/* Levenberg and Marquardt's own memory does not overlap: each piece is filled with its own number */
int __wrap_lmdif(int (*f)(void *, int, int, const double *, double *, int), void *user, int m, int n, double *x,
                 double *residual, double ftol, double xtol, double gtol, int most, double step, double *diagonal,
                 int mode, double factor, int print, int *evaluations, double *J, int ld, int *pivot, double *qtf,
                 double *one, double *two, double *three, double *spare);
int __wrap_lmdif(int (*f)(void *, int, int, const double *, double *, int), void *user, int m, int n, double *x,
                 double *residual, double ftol, double xtol, double gtol, int most, double step, double *diagonal,
                 int mode, double factor, int print, int *evaluations, double *J, int ld, int *pivot, double *qtf,
                 double *one, double *two, double *three, double *spare) {
  double *const memory[] = {residual, J, spare, diagonal, qtf, one, two, three};
  assert_true(ftol > 0 && ftol < 1e-5 && xtol > 0 && xtol < 1e-3 && gtol == 0 && most == 30 && step > 0 &&
              step < 1e-3 && mode == 1 && factor == 1 && print == 0);
  assert_true(n == 1 && ld == m && x[0] == log(0.7));
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < (k < 3 ? m : 1); i++) memory[k][i] = k;
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < (k < 3 ? m : 1); i++) assert_true(memory[k][i] == k);
  *pivot = 1, *evaluations = 2;
  assert_true(x[0] == log(0.7));
  asked.inside = true;
  asked.fast(f, user, m, x, residual);
  asked.inside = false, asked.fasts++;
  return 1;
}

/* ---- the simplex' table ---- */

static nlopt_opt const opened = (nlopt_opt)&asked;

static inline nlopt_result answered(void) { return ++asked.called == asked.refuse ? asked.failure : NLOPT_SUCCESS; }

static inline nlopt_opt create(nlopt_algorithm which, unsigned n) {
  assert_true(which == NLOPT_LN_NELDERMEAD && n == 3);
  asked.created++;
  return answered() < 0 ? NULL : opened;
}

static inline void destroy(nlopt_opt o) {
  assert_ptr_equal(o, opened);
  asked.destroyed++;
}

static nlopt_func objective;
static void *objective_user;

static inline nlopt_result set_min_objective(nlopt_opt o, nlopt_func f, void *user) {
  assert_ptr_equal(o, opened);
  objective = f, objective_user = user;
  return answered();
}

static inline nlopt_result set_lower_bounds(nlopt_opt o, const double *low) {
  assert_ptr_equal(o, opened);
  memcpy(asked.low, low, sizeof asked.low);
  return answered();
}

static inline nlopt_result set_upper_bounds(nlopt_opt o, const double *high) {
  assert_ptr_equal(o, opened);
  memcpy(asked.high, high, sizeof asked.high);
  return answered();
}

static inline nlopt_result set_initial_step(nlopt_opt o, const double *step) {
  assert_ptr_equal(o, opened);
  assert_true(step[0] == 0.5 && step[1] == 0.15 && step[2] == 0.5);
  return answered();
}

static inline nlopt_result set_xtol_abs1(nlopt_opt o, double to) {
  assert_true(o == opened && to == 0.03);
  return answered();
}

static inline nlopt_result set_ftol_rel(nlopt_opt o, double to) {
  assert_true(o == opened && to == 1e-4);
  return answered();
}

static inline nlopt_result set_maxeval(nlopt_opt o, int most) {
  assert_true(o == opened && most == 120);
  return answered();
}

static inline nlopt_result optimize(nlopt_opt o, double *x, double *value) {
  assert_ptr_equal(o, opened);
  assert_true(asked.simplexes < BEGINNINGS);
  memcpy(asked.from[asked.simplexes], x, sizeof *asked.from);
  if (asked.simplex) asked.simplex(objective, objective_user, x);
  asked.simplexes++, *value = 0;
  return answered();
}

static inline nlopt_result force_stop(nlopt_opt o) {
  assert_ptr_equal(o, opened);
  asked.stopped++;
  return NLOPT_SUCCESS;
}

static const psdmp_plugin_nlopt_table stand_in = {.create = create,
                                                  .destroy = destroy,
                                                  .optimize = optimize,
                                                  .set_min_objective = set_min_objective,
                                                  .set_lower_bounds = set_lower_bounds,
                                                  .set_upper_bounds = set_upper_bounds,
                                                  .set_initial_step = set_initial_step,
                                                  .set_xtol_abs1 = set_xtol_abs1,
                                                  .set_ftol_rel = set_ftol_rel,
                                                  .set_maxeval = set_maxeval,
                                                  .force_stop = force_stop};

const psdmp_plugin_nlopt_table *__wrap_psdmp_plugin_nlopt_open(void);
const psdmp_plugin_nlopt_table *__wrap_psdmp_plugin_nlopt_open(void) { return asked.absent ? NULL : &stand_in; }

/* ---- running it ---- */

static psdmp_steps_lugre w;
static psdmp_steps_lugre_point points[BEGINNINGS];
static int count;
static psdm_error error;
static counting memory;

static inline psdm_status begin(long fail_at) {
  counting_fenced_init(&memory, 0);
  memset(points, 0, sizeof points);
  count = 77;
  assert_int_equal(psdmp_steps_lugre_open(s.pieces, s.piece, s.poses, &s.options, &memory.allocator, &w, &error),
                   PSDM_OK);
  memory.fail_at = fail_at ? memory.calls + fail_at : 0;
  psdm_status status = psdmp_steps_lugre_begin(&w, points, &count, &error);
  psdmp_base_arena_free(&w.arena);
  assert_true(memory.live == 0);
  return status;
}

static inline void ask_anew(void) { memset(&asked, 0, sizeof asked); }

static inline void expect_near(double is, double should, double within, const char *what) {
  if (!(fabs(is - should) <= within)) fail_msg("%s: %.15g, %.15g was expected", what, is, should);
}

#endif
