/* lugre_begin.c: the two steps of Lloyd, Irani, Ahmadi (2022), section 3.3, which give initial values for the search
 * over all numbers.
 *
 * First Fc, Fv, d and the inertia from fast rows, eq. 20, by Levenberg and Marquardt; then Fs, vs, sigma0 by Nelder
 * and Mead's simplex on the simulated bristles, eq. 12 to 14. Whatever is linear is solved for at each place (Golub,
 * Pereyra 1973): in the first step all but d; in the second Fc, sigma1, Fv, offset and the inertias, as h / Fc
 * depends on Fc / sigma0, Fs / Fc and vs only. */
#include <math.h>
#include <string.h>

#ifdef PSDM_HAVE_CMINPACK
#include <cminpack.h>
#endif

#include "plugin/plugin.h"
#include "steps/lugre_priv.h"

#if defined(PSDM_HAVE_CMINPACK) && defined(PSDM_HAVE_NLOPT)

enum { LINEAR = 5 + POSES_MOST }; /* columns at most: Fc, Fv, offset, sigma1, inertias, a bend */

/* ---- linear least squares of a few columns: the remaining sum of squares ---- */

typedef struct sums {
  int n;
  double A[LINEAR * LINEAR], b[LINEAR], square; /* A: upper triangle */
} sums;

static void add_row(sums *s, const double *row, double tau) {
  for (int i = 0; i < s->n; i++) {
    for (int k = i; k < s->n; k++) s->A[i * s->n + k] += row[i] * row[k];
    s->b[i] += row[i] * tau;
  }
  s->square += tau * tau;
}

/* columns that depend on earlier ones get 0 */
static double solve(const sums *s, double *x) {
  int n = s->n;
  bool shown[LINEAR];
  double X[LINEAR * LINEAR], left = s->square;
  psdmp_steps_lugre_invert(n, s->A, X, shown);
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int k = 0; k < n; k++) x[i] += X[i * n + k] * s->b[k];
    left -= x[i] * s->b[i];
  }
  return fmax(left, 0);
}

/* ---- first step: fast rows ---- */

typedef struct fast {
  int poses;
  bool offset;
  long rows;
  double *v, *a, *tau; /* (rows) */
  signed char *pose;   /* (rows) */
} fast;

static double exponent_of(double x) { return exp(fmin(fmax(x, -3), 1.6)); } /* d from 0.05 to 5 */

static void fast_row(const fast *f, long i, double d, double *row) {
  double sign = copysign(1, f->v[i]);
  memset(row, 0, sizeof *row * (size_t)(3 + f->poses));
  row[0] = sign;
  row[1] = sign * pow(fabs(f->v[i]), d);
  row[2] = f->offset;
  row[3 + f->pose[i]] = f->a[i];
}

/* residual of fast rows when everything but d is solved for */
static int fast_residual(void *user, int m, int n, const double *x, double *residual, int iflag) {
  const fast *f = user;
  sums s = {.n = 3 + f->poses};
  double row[LINEAR], linear[LINEAR], d = exponent_of(x[0]);
  (void)n, (void)iflag;
  for (long i = 0; i < f->rows; i++) {
    fast_row(f, i, d, row);
    add_row(&s, row, f->tau[i]);
  }
  solve(&s, linear);
  for (int i = 0; i < m; i++) {
    fast_row(f, i, d, row);
    residual[i] = -f->tau[i];
    for (int k = 0; k < s.n; k++) residual[i] += row[k] * linear[k];
  }
  return 0;
}

/* rows above a speed */
static void take_fast(const psdmp_steps_lugre *w, double above, fast *f) {
  f->rows = 0;
  for (int p = 0; p < w->pieces; p++)
    for (long i = 0; i < w->piece[p].rows; i++)
      if (w->piece[p].use[i] && fabs(w->piece[p].v[i]) > above) {
        f->v[f->rows] = w->piece[p].v[i];
        f->a[f->rows] = w->piece[p].a[i];
        f->tau[f->rows] = w->piece[p].tau[i];
        f->pose[f->rows++] = (signed char)w->piece[p].pose;
      }
}

/* d and the residual; memory: (rows) each */
static double fit_fast(fast *f, double *residual, double *derivative, double *spare, double *d) {
  double x = log(0.7), diagonal, qtf, one, two, three, square = 0;
  int pivot, evaluations, m = (int)f->rows;
  lmdif(fast_residual, f, m, 1, &x, residual, 1e-6, 1e-4, 0, 30, 1e-4, &diagonal, 1, 1, 0, &evaluations, derivative, m,
        &pivot, &qtf, &one, &two, &three, spare);
  for (int i = 0; i < m; i++) square += residual[i] * residual[i];
  *d = exponent_of(x);
  return sqrt(square / m);
}

/* Threshold of fast rows, relative to the fastest speed: the lowest one that (20) fits as well as the highest, to a
 * tenth, so that no Stribeck effect is included. */
static psdm_status fit_fast_rows(psdmp_steps_lugre *w, fast *f, double *d) {
  static const double thresholds[] = {0.3, 0.2, 0.12, 0.07, 0.04, 0.02};
  size_t used = (size_t)w->used;
  double *memory = psdmp_base_arena_alloc_raw(&w->arena, 6 * used * sizeof *memory), first = INFINITY;
  f->pose = psdmp_base_arena_alloc_raw(&w->arena, used);
  if (!memory || !f->pose) return PSDM_E_MEMORY;
  f->v = memory, f->a = memory + used, f->tau = memory + 2 * used;
  for (int k = 0; k < (int)(sizeof thresholds / sizeof *thresholds); k++) {
    double next;
    take_fast(w, thresholds[k] * w->fastest, f);
    double rmse = fit_fast(f, memory + 3 * used, memory + 4 * used, memory + 5 * used, &next);
    if (k == 0) first = rmse;
    if (rmse > 1.1 * first) break;
    *d = next;
  }
  return PSDM_OK;
}

/* ---- second step: bristles ---- */

typedef struct shape {
  psdmp_steps_lugre *w;
  double *viscous; /* (rows) sign(v) |v|^d, filtered */
  double d;
  bool damped;       /* sigma1 too */
  double best, x[3]; /* least sum of squares so far, and its position: log of Fc / sigma0, Fs / Fc, vs */
  double linear[LINEAR];
  const psdmp_plugin_nlopt_table *nlopt;
  nlopt_opt simplex;
} shape;

static void set_viscous(shape *s) {
  double *out = s->viscous;
  for (int p = 0; p < s->w->pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &s->w->piece[p];
    for (long i = 0; i < piece->rows; i++) out[i] = copysign(pow(fabs(piece->v[i]), s->d), piece->v[i]);
    if (s->w->options->filter) psdm_filter_zero_phase(s->w->options->filter, piece->rows, 1, out, s->w->scratch);
    out += piece->rows;
  }
}

/* the last column of a piece's sums is solved for separately, and the residual sums of the others are added to those of
 * all pieces */
static void add_without_last(const sums *piece, sums *all) {
  int rest = piece->n - 1, wide = piece->n;
  const double *last = piece->A + rest; /* its column */
  double share = psdmp_steps_lugre_by_square(last[rest * wide]);
  for (int i = 0; i < rest; i++) {
    for (int k = i; k < rest; k++)
      all->A[i * rest + k] += piece->A[i * wide + k] - share * last[i * wide] * last[k * wide];
    all->b[i] += piece->b[i] - share * last[i * wide] * piece->b[rest];
  }
  all->square += piece->square - share * piece->b[rest] * piece->b[rest];
}

/* columns: Fc, Fv, offset, sigma1, inertias; and for each piece the initial deflection */
static void sum_shape(const shape *s, sums *all) {
  const double *columns = s->w->columns, *viscous = s->viscous;
  for (int p = 0; p < s->w->pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &s->w->piece[p];
    sums sum = {.n = all->n + 1};
    for (long i = 0; i < piece->rows; i++, columns += BRISTLES_ONLY, viscous++) {
      double row[LINEAR] = {columns[0], *viscous, s->w->options->offset, s->damped ? columns[1] : 0};
      if (!piece->use[i]) continue;
      row[4 + piece->pose] = piece->a[i];
      row[all->n] = columns[2];
      add_row(&sum, row, piece->tau[i]);
    }
    add_without_last(&sum, all);
  }
}

/* reject zero friction, and friction that pushes */
static double left_over(shape *s, const double *x) {
  psdm_friction f = {.coulomb = 1, .stat = exp(x[1]), .stribeck = exp(x[2]), .sigma0 = exp(-x[0])};
  double linear[LINEAR];
  sums sum = {.n = 4 + s->w->poses};
  psdmp_steps_lugre_columns(s->w, &f, BRISTLES_ONLY);
  sum_shape(s, &sum);
  double left = solve(&sum, linear);
  if (!(linear[0] > 0)) return 2 * sum.square;
  if (left < s->best) {
    s->best = left;
    memcpy(s->x, x, sizeof s->x);
    memcpy(s->linear, linear, sizeof s->linear);
  }
  return left;
}

static double simplex_value(unsigned n, const double *x, double *gradient, void *user) {
  shape *s = user;
  (void)n, (void)gradient;
  if (!psdmp_steps_lugre_progress(s->w, 0.003 * s->w->evaluations)) s->nlopt->force_stop(s->simplex);
  return left_over(s, x);
}

/* travel of the drive */
static double travel(const psdmp_steps_lugre *w) {
  double most = 0;
  for (int p = 0; p < w->pieces; p++) {
    double at = 0, low = 0, high = 0;
    for (long i = 1; i < w->piece[p].rows; i++) {
      at += 0.5 * w->piece[p].dt * (w->piece[p].v[i - 1] + w->piece[p].v[i]);
      low = fmin(low, at), high = fmax(high, at);
    }
    most = fmax(most, high - low);
  }
  return most;
}

/* bristle length, in rows without Stribeck effect */
static bool scan_lengths(shape *s, double way) {
  for (int k = 2; k <= 14; k++) {
    double x[3] = {log(way) - 0.5 * k * log(10), 0, log(s->w->fastest)};
    left_over(s, x);
  }
  return s->best < INFINITY;
}

/* ---- in between: the steady curve, from sliding rows ---- */

enum { SPEEDS = 18, SLIDING_MOST = 6000 }; /* enough rows for an initial value */

typedef struct curve {
  double vs, d, rise, left; /* rise: Fs / Fc */
} curve;

/* rows, no more than enough of them, preceded by travel of five bristle lengths in one direction */
static void take_sliding(const psdmp_steps_lugre *w, double length, fast *f) {
  long every = w->used / SLIDING_MOST + 1, seen = 0;
  f->rows = 0;
  for (int p = 0; p < w->pieces; p++) {
    const psdmp_steps_lugre_piece *piece = &w->piece[p];
    double gone = 0;
    for (long i = 1; i < piece->rows; i++) {
      gone = piece->v[i] * piece->v[i - 1] > 0 ? gone + fabs(piece->v[i]) * piece->dt : 0;
      if (!piece->use[i] || gone < 5 * length || seen++ % every) continue;
      f->v[f->rows] = piece->v[i], f->a[f->rows] = piece->a[i], f->tau[f->rows] = piece->tau[i];
      f->pose[f->rows++] = (signed char)piece->pose;
    }
  }
}

/* Fc, Fv, offset, Fs - Fc and inertias are linear in the steady torque */
static curve curve_at(const fast *f, double vs, double d) {
  sums s = {.n = 4 + f->poses};
  double row[LINEAR], x[LINEAR];
  for (long i = 0; i < f->rows; i++) {
    double ratio = f->v[i] / vs;
    fast_row(f, i, d, row);
    memmove(row + 4, row + 3, sizeof *row * (size_t)f->poses);
    row[3] = row[0] * exp(-ratio * ratio);
    add_row(&s, row, f->tau[i]);
  }
  double left = solve(&s, x), rise = x[0] > 0 ? 1 + x[3] / x[0] : 0;
  return (curve){vs, d, rise, rise > 0.3 && rise < 3 ? left : INFINITY};
}

/* the best d for a vs, by golden section */
static curve curve_of(const fast *f, double vs) {
  const double golden = 0.6180339887498949;
  double low = log(0.1), high = log(3);
  curve left = curve_at(f, vs, exp(high - golden * (high - low))),
        right = curve_at(f, vs, exp(low + golden * (high - low)));
  while (high - low > 0.02)
    if (left.left <= right.left) {
      high = log(right.d), right = left;
      left = curve_at(f, vs, exp(high - golden * (high - low)));
    } else {
      low = log(left.d), left = right;
      right = curve_at(f, vs, exp(low + golden * (high - low)));
    }
  return left.left <= right.left ? left : right;
}

/* Stribeck's dip and a bend of the power law look alike: every vs that is better than its neighbours, and not much
 * worse than the best, is a starting point, the best first; without any, a slow one */
static int best_curves(const fast *f, double fastest, double d, curve best[BEGINNINGS]) {
  curve all[SPEEDS];
  int count = 0;
  for (int k = 0; k < SPEEDS; k++) all[k] = curve_of(f, fastest * pow(10, -0.2 * (k + 1)));
  for (int k = 0; k < SPEEDS; k++) {
    if (!(all[k].left < INFINITY) || (k > 0 && all[k - 1].left < all[k].left) ||
        (k < SPEEDS - 1 && all[k + 1].left < all[k].left))
      continue;
    int place = count < BEGINNINGS ? count++ : BEGINNINGS;
    for (; place > 0 && all[k].left < best[place - 1].left; place--)
      if (place < BEGINNINGS) best[place] = best[place - 1];
    if (place < BEGINNINGS) best[place] = all[k];
  }
  while (count > 1 && best[count - 1].left > 1.5 * best[0].left) count--;
  if (count == 0) best[count++] = (curve){0.01 * fastest, d, 1, INFINITY};
  return count;
}

/* the last search starts near the end of this one: a few hundredths are accurate enough */
static psdm_status search(shape *s, double way) {
  double low[3] = {log(way) - 20, log(0.1), log(s->w->fastest) - 12}, high[3] = {log(way), log(10), log(s->w->fastest)},
         step[3] = {0.5, 0.15, 0.5}, x[3], value;
  memcpy(x, s->x, sizeof x);
  const psdmp_plugin_nlopt_table *nlopt = s->nlopt;
  nlopt_opt o = s->simplex = nlopt->create(NLOPT_LN_NELDERMEAD, 3);
  if (!o) return PSDM_E_MEMORY;
  nlopt_result result = nlopt->set_min_objective(o, simplex_value, s);
  if (result > 0) result = nlopt->set_lower_bounds(o, low);
  if (result > 0) result = nlopt->set_upper_bounds(o, high);
  if (result > 0) result = nlopt->set_initial_step(o, step);
  if (result > 0) result = nlopt->set_xtol_abs1(o, 0.03);
  if (result > 0) result = nlopt->set_ftol_rel(o, 1e-4);
  if (result > 0) result = nlopt->set_maxeval(o, 120);
  if (result > 0) result = nlopt->optimize(o, x, &value);
  nlopt->destroy(o);
  return result == NLOPT_OUT_OF_MEMORY ? PSDM_E_MEMORY : PSDM_OK;
}

/* numbers that must be positive, but are not, start small */
static void set_point(const shape *s, psdmp_steps_lugre_point *point) {
  double coulomb = s->linear[0];
  point->friction = (psdm_friction){.coulomb = coulomb,
                                    .stat = coulomb * exp(s->x[1]),
                                    .stribeck = exp(s->x[2]),
                                    .viscous = fmax(s->linear[1], 1e-3 * coulomb),
                                    .exponent = s->d,
                                    .sigma0 = coulomb * exp(-s->x[0]),
                                    .sigma1 = fmax(s->linear[3], 0),
                                    .offset = s->linear[2],
                                    .given = true};
  memcpy(point->inertia, s->linear + 4, sizeof *point->inertia * (size_t)s->w->poses);
}

/* from a steady curve to all numbers */
static psdm_status finish(shape *s, double way, double length, const curve *c, psdmp_steps_lugre_point *point) {
  s->d = c->d;
  set_viscous(s);
  s->damped = true;
  s->best = INFINITY;
  left_over(s, (double[]){length, log(c->rise), log(c->vs)});
  if (!(s->best < INFINITY)) return PSDM_OK;
  psdm_status status = search(s, way);
  set_point(s, point);
  return status;
}

static psdm_status begin(shape *s, psdmp_steps_lugre_point *points, int *count) {
  psdmp_steps_lugre *w = s->w;
  fast f = {.poses = w->poses, .offset = w->options->offset};
  curve curves[BEGINNINGS];
  double way = travel(w);
  psdm_status status = fit_fast_rows(w, &f, &s->d);
  if (status) return status;
  set_viscous(s);
  if (!scan_lengths(s, way)) return PSDM_OK; /* no friction */
  double length = s->x[0];
  take_sliding(w, exp(length), &f);
  int found = best_curves(&f, w->fastest, s->d, curves);
  for (int k = 0; k < found && !status && !w->stopped; k++) {
    status = finish(s, way, length, &curves[k], &points[*count]);
    *count += points[*count].friction.given;
  }
  return status;
}

psdm_status psdmp_steps_lugre_begin(psdmp_steps_lugre *w, psdmp_steps_lugre_point *points, int *count,
                                    psdm_error *error) {
  shape s = {.w = w,
             .nlopt = psdmp_plugin_nlopt_open(),
             .best = INFINITY,
             .viscous = psdmp_base_arena_alloc_raw(&w->arena, (size_t)w->rows * sizeof *s.viscous)};
  *count = 0;
  if (!s.nlopt) return psdmp_plugin_nlopt_missing(error, "friction and its bristles");
  psdm_status status = s.viscous ? begin(&s, points, count) : PSDM_E_MEMORY;
  return status ? psdmp_base_fail_status(error, status) : PSDM_OK;
}

#else

psdm_status psdmp_steps_lugre_begin(psdmp_steps_lugre *w, psdmp_steps_lugre_point *points, int *count,
                                    psdm_error *error) {
  (void)w, (void)points, (void)count;
  return psdmp_base_lacks("", "LuGre friction needs", "cminpack and NLopt", "libcminpack-dev libnlopt-dev", error);
}

#endif
