/* lugre_fit.c: LuGre friction of one drive from a measured motion: all numbers by Levenberg and Marquardt, unexcited
 * numbers,
 * and uncertainty.
 *
 * Model of the measured, filtered torque: F[friction(v)] + J a + offset. F is the filter that the torque went
 * through; a was made of filtered positions and is not filtered again. */
#include "steps/lugre_fit_priv.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef PSDM_HAVE_CMINPACK
#include <cminpack.h>
#endif

#include "steps/lugre_priv.h"
#include "psdm/friction.h"

static const double harmless_bend = 1e-4; /* rad: Fc / sigma0 for unexcited bristles */
/* of a logarithm: numbers with an uncertainty above a factor of e are not excited */
static const double most_doubt = 1;

/* ---- opening ---- */

static bool finite_rows(const psdmp_steps_lugre_piece *p) {
  for (long i = 0; i < p->rows; i++)
    if (!isfinite(p->v[i]) || (p->use[i] && (!isfinite(p->a[i]) || !isfinite(p->tau[i])))) return false;
  return true;
}

static bool sound_piece(const psdmp_steps_lugre_piece *p, int poses) {
  return p->rows >= 2 && p->dt > 0 && isfinite(p->dt) && p->pose >= 0 && p->pose < poses && finite_rows(p);
}

static void count_rows(psdmp_steps_lugre *w, size_t *scratch) {
  for (int p = 0; p < w->pieces; p++) {
    size_t wanted = w->options->filter ? psdm_filter_scratch(w->options->filter, w->piece[p].rows) : 0;
    w->rows += w->piece[p].rows;
    *scratch = wanted > *scratch ? wanted : *scratch;
    for (long i = 0; i < w->piece[p].rows; i++) {
      if (!w->piece[p].use[i]) continue;
      w->used++;
      w->fastest = fmax(w->fastest, fabs(w->piece[p].v[i]));
    }
  }
}

static void take_measured(psdmp_steps_lugre *w) {
  double *at = w->tau;
  for (int p = 0; p < w->pieces; p++)
    for (long i = 0; i < w->piece[p].rows; i++)
      if (w->piece[p].use[i]) *at++ = w->piece[p].tau[i];
}

psdm_status psdmp_steps_lugre_open(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                   const psdmp_steps_lugre_options *options, const psdm_allocator *allocator,
                                   psdmp_steps_lugre *w, psdm_error *error) {
  *w = (psdmp_steps_lugre){
      .pieces = pieces, .piece = piece, .poses = poses, .options = options, .arena.allocator = allocator};
  if (pieces < 1 || poses < 1 || poses > POSES_MOST)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "friction needs rows, and 1 to %d poses", POSES_MOST);
  for (int p = 0; p < pieces; p++)
    if (!sound_piece(&piece[p], poses))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                             "piece %d of the friction's rows is too short or has numbers that are not finite", p + 1);
  size_t scratch = 0;
  count_rows(w, &scratch);
  if (w->used < 2 * UNKNOWNS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%ld rows are not enough for friction", w->used);
  if (w->used > INT_MAX / UNKNOWNS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, "", 0, 0, "%ld rows are too many for friction", w->used);
  w->columns = psdmp_base_arena_alloc_raw(&w->arena, (size_t)w->rows * WITH_DERIVATIVES * sizeof *w->columns);
  w->tau = psdmp_base_arena_alloc_raw(&w->arena, (size_t)w->used * sizeof *w->tau);
  w->start = psdmp_base_arena_alloc_raw(&w->arena, (size_t)w->used * sizeof *w->start);
  w->scratch = psdmp_base_arena_alloc_raw(&w->arena, scratch * sizeof *w->scratch);
  if (!w->columns || !w->tau || !w->start || !w->scratch) return psdmp_base_no_memory("", error);
  take_measured(w);
  return PSDM_OK;
}

bool psdmp_steps_lugre_progress(psdmp_steps_lugre *w, double share) {
  if (!w->stopped && w->options->progress &&
      !w->options->progress(w->options->progress_user, "friction", fmin(share, 1)))
    w->stopped = true;
  return !w->stopped;
}

/* ---- coordinates of the search ---- */

static bool logarithmic(int which) { return which < SIGMA1; }

int psdmp_steps_lugre_free_numbers(const psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point,
                                   int which[UNKNOWNS]) {
  int count = 0;
  for (int k = 0; k < INERTIA + w->poses; k++)
    if (point->free[k]) which[count++] = k;
  return count;
}

static double *number_of(psdmp_steps_lugre_point *point, int which) {
  return which < INERTIA ? psdmp_parameters_lugre_number(&point->friction, which) : &point->inertia[which - INERTIA];
}

/* change of the number by a step of 1 in a coordinate */
static double scale_of(psdmp_steps_lugre_point *point, int which) {
  return logarithmic(which) ? *number_of(point, which) : 1;
}

/* a stat that is not free equals the coulomb, and bristles that are not free get a harmless length */
static void tie(psdmp_steps_lugre_point *point) {
  psdm_friction *f = &point->friction;
  if (!point->free[STAT]) f->stat = f->coulomb;
  if (!point->free[SIGMA0]) f->sigma0 = f->coulomb / harmless_bend;
}

/* ---- model ---- */

/* derivative of the row's torque by a number, and by what is tied to it */
static double derivative(const psdmp_steps_lugre_point *point, const psdmp_steps_lugre_piece *piece, long row,
                         const double *columns, int which) {
  if (which == OFFSET) return 1;
  if (which >= INERTIA) return which - INERTIA == piece->pose ? piece->a[row] : 0;
  double by = columns[1 + which];
  if (which == COULOMB && !point->free[STAT]) by += columns[1 + STAT];
  if (which == COULOMB && !point->free[SIGMA0]) by += columns[1 + SIGMA0] / harmless_bend;
  return by;
}

static double torque(const psdmp_steps_lugre_point *point, const psdmp_steps_lugre_piece *piece, long row,
                     const double *columns) {
  return columns[0] + point->friction.offset + point->inertia[piece->pose] * piece->a[row];
}

static double dot(long count, const double *a, const double *b) {
  double sum = 0;
  for (long i = 0; i < count; i++) sum += a[i] * b[i];
  return sum;
}

/* projects x out of y; returns the coefficient */
static double take_out(long count, const double *x, double square, double *y) {
  double share = dot(count, x, y) * psdmp_steps_lugre_by_square(square);
  for (long i = 0; i < count; i++) y[i] -= share * x[i];
  return share;
}

/* one piece's used rows, from `at` on; how many there are */
static long piece_rows(psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point, const psdmp_steps_lugre_piece *piece,
                       const double *columns, int width, long at, double *residual, double *J) {
  psdmp_steps_lugre_point here = *point;
  int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(w, point, which);
  double scale[UNKNOWNS];
  long begin = at;
  for (int k = 0; k < count; k++) scale[k] = scale_of(&here, which[k]);
  for (long i = 0; i < piece->rows; i++, columns += width) {
    if (!piece->use[i]) continue;
    w->start[at] = columns[width - 1];
    if (residual) residual[at] = torque(point, piece, i, columns) - w->tau[at];
    for (int k = 0; k < count && J; k++)
      J[k * w->used + at] = scale[k] * derivative(point, piece, i, columns, which[k]);
    at++;
  }
  return at - begin;
}

void psdmp_steps_lugre_residual(psdmp_steps_lugre *w, const psdmp_steps_lugre_point *point, double *residual, double *J,
                                double *bend) {
  int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(w, point, which),
                       width = J ? WITH_DERIVATIVES : TORQUE_AND_START;
  const double *columns = w->columns;
  long at = 0;
  psdmp_steps_lugre_columns(w, &point->friction, width);
  for (int p = 0; p < w->pieces; p++) {
    long rows = piece_rows(w, point, &w->piece[p], columns, width, at, residual, J);
    double square = dot(rows, w->start + at, w->start + at),
           share = residual ? take_out(rows, w->start + at, square, residual + at) : 0;
    for (int k = 0; k < count && J; k++) take_out(rows, w->start + at, square, J + k * w->used + at);
    if (bend) bend[p] = -share;
    columns += w->piece[p].rows * width;
    at += rows;
  }
}

/* ---- excited numbers ---- */

typedef struct search {
  psdmp_steps_lugre *w;
  psdmp_steps_lugre_point point, beginning;
  psdmp_steps_lugre_doubt doubt;
  double x[UNKNOWNS];   /* coordinates at the start of the descent */
  double *residual, *J; /* (used), (used x UNKNOWNS) */
  double *spare;        /* (used) */
  double *bend;         /* (pieces) Nm, at their starts */
} search;

static psdm_status open_search(search *s) {
  size_t used = (size_t)s->w->used;
  s->residual = psdmp_base_arena_alloc(&s->w->arena, used * sizeof *s->residual);
  s->spare = psdmp_base_arena_alloc_raw(&s->w->arena, used * sizeof *s->spare);
  s->J = psdmp_base_arena_alloc_raw(&s->w->arena, used * (size_t)(INERTIA + s->w->poses) * sizeof *s->J);
  s->bend = psdmp_base_arena_alloc_raw(&s->w->arena, (size_t)s->w->pieces * sizeof *s->bend);
  return s->residual && s->spare && s->J && s->bend ? PSDM_OK : PSDM_E_MEMORY;
}

static void look(search *s) {
  psdmp_steps_lugre_residual(s->w, &s->point, s->residual, s->J, s->bend);
  psdmp_steps_lugre_doubt_at(s->w, &s->point, s->residual, s->J, &s->doubt);
}

/* a fitted number that depends on others, or whose logarithm is undetermined */
static bool unsure(const search *s, int which) {
  const psdmp_steps_lugre_doubt *d = &s->doubt;
  for (int k = 0; k < d->count; k++)
    if (d->which[k] == which)
      return !d->shown[k] || (logarithmic(which) && !(d->covariance[k * (d->count + 1)] < most_doubt * most_doubt));
  return false;
}

/* whether Fs and Fc differ by less than three standard deviations: then vs is undetermined too */
static bool level(const search *s) {
  const psdmp_steps_lugre_doubt *d = &s->doubt;
  int n = d->count; /* COULOMB and STAT, free both, are the first two */
  double apart = log(s->point.friction.stat / s->point.friction.coulomb),
         square = d->covariance[0] - 2 * d->covariance[1] + d->covariance[n + 1];
  return apart * apart < 9 * square;
}

static void hold(psdmp_steps_lugre_point *point, int which, double value) {
  point->free[which] = false;
  *number_of(point, which) = value;
}

/* Drops the first unexcited feature, the most specific first; false: all are excited. */
static bool drop_feature(search *s) {
  bool *free = s->point.free;
  if (unsure(s, SIGMA0)) free[SIGMA0] = free[SIGMA1] = false;
  else if (unsure(s, SIGMA1)) free[SIGMA1] = false;
  else if (free[STAT] && (unsure(s, STAT) || unsure(s, STRIBECK) || unsure(s, COULOMB) || level(s)))
    free[STAT] = free[STRIBECK] = false;
  else if (free[EXPONENT] && (unsure(s, EXPONENT) || unsure(s, VISCOUS))) free[EXPONENT] = false;
  else if (unsure(s, VISCOUS)) free[VISCOUS] = false;
  else {
    for (int k = OFFSET; k < INERTIA + s->w->poses; k++)
      if (unsure(s, k)) {
        free[k] = false;
        return true;
      }
    return false;
  }
  return true;
}

/* Restarts from the initial values, since the search may have gone far astray along unexcited directions; these get
 * harmless values with the same effect at a moderate speed: Fs = Fc, vs below the tested range, viscous friction in
 * proportion or none, bristles that slide at once and have no damping. */
static void begin_again(search *s) {
  psdmp_steps_lugre_point *point = &s->point;
  psdm_friction *f = &point->friction;
  double moderate = 0.3 * s->w->fastest;
  *f = s->beginning.friction;
  memcpy(point->inertia, s->beginning.inertia, sizeof point->inertia);
  if (!point->free[STAT])
    f->coulomb = psdm_friction_dry(f, PSDM_FRICTION_LUGRE, moderate), f->stribeck = 1e-3 * s->w->fastest;
  if (!point->free[EXPONENT]) f->viscous *= pow(moderate, f->exponent - 1), f->exponent = 1;
  if (!point->free[VISCOUS]) f->coulomb += f->viscous * moderate, f->viscous = 0;
  if (!point->free[SIGMA1]) f->sigma1 = 0;
  for (int k = OFFSET; k < INERTIA + s->w->poses; k++)
    if (!point->free[k]) *number_of(point, k) = 0;
  tie(point);
}

/* ---- Levenberg and Marquardt ---- */

static double square_of(const search *s) { return dot(s->w->used, s->residual, s->residual); }

#ifdef PSDM_HAVE_CMINPACK

static void coordinates_of(const psdmp_steps_lugre *w, psdmp_steps_lugre_point *point, double *x) {
  int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(w, point, which);
  for (int k = 0; k < count; k++)
    x[k] = logarithmic(which[k]) ? log(*number_of(point, which[k])) : *number_of(point, which[k]);
}

/* numbers stay within a factor of a thousand of their initial values */
static void set_coordinates(search *s, const double *x) {
  psdmp_steps_lugre_point *point = &s->point;
  int which[UNKNOWNS], count = psdmp_steps_lugre_free_numbers(s->w, point, which);
  for (int k = 0; k < count; k++)
    *number_of(point, which[k]) = logarithmic(which[k]) ? exp(fmin(fmax(x[k], s->x[k] - 7), s->x[k] + 7)) : x[k];
  tie(point);
}

static int evaluate(void *user, int m, int n, const double *x, double *residual, double *J, int ld, int what) {
  search *s = user;
  (void)m, (void)n, (void)ld;
  if (!psdmp_steps_lugre_progress(s->w, 0.5 + 0.01 * s->w->evaluations)) return -1;
  set_coordinates(s, x);
  psdmp_steps_lugre_residual(s->w, &s->point, what == 1 ? residual : NULL, what == 2 ? J : NULL, NULL);
  return 0;
}

/* the remaining sum of squares */
static double descend(search *s, bool roughly) {
  double x[UNKNOWNS], diagonal[UNKNOWNS], qtf[UNKNOWNS], one[UNKNOWNS], two[UNKNOWNS], three[UNKNOWNS];
  int pivot[UNKNOWNS], which[UNKNOWNS], values, jacobians, m = (int)s->w->used,
                                                           n = psdmp_steps_lugre_free_numbers(s->w, &s->point, which);
  coordinates_of(s->w, &s->point, x);
  memcpy(s->x, x, sizeof *x * (size_t)n);
  lmder(evaluate, s, m, n, x, s->residual, s->J, m, roughly ? 1e-4 : 1e-10, roughly ? 1e-3 : 1e-8, 0, 60, diagonal, 1,
        0.1, 0, &values, &jacobians, pivot, qtf, one, two, three, s->spare);
  set_coordinates(s, x);
  return square_of(s);
}

#else

/* never called: there is no starting point without the libraries */
static double descend(search *s, bool roughly) {
  (void)roughly;
  return square_of(s);
}

#endif

/* negative damping of bristles is not allowed: at that bound the others are fitted once more; its uncertainty is kept
 * */
static double descend_damped(search *s, bool roughly) {
  double left = descend(s, roughly);
  if (!s->point.free[SIGMA1] || s->point.friction.sigma1 >= 0) return left;
  hold(&s->point, SIGMA1, 0);
  left = descend(s, roughly);
  s->point.free[SIGMA1] = true;
  return left;
}

/* drops unexcited features one after the other */
static void find_all(search *s) {
  descend_damped(s, false);
  for (look(s); !s->w->stopped && drop_feature(s); look(s)) {
    begin_again(s);
    descend_damped(s, false);
  }
}

/* ---- the result ---- */

static void begin_free(const psdmp_steps_lugre *w, psdmp_steps_lugre_point *point) {
  bool forward = false, backward = false;
  for (int p = 0; p < w->pieces; p++)
    for (long i = 0; i < w->piece[p].rows; i++) {
      forward = forward || (w->piece[p].use[i] && w->piece[p].v[i] > 0.1 * w->fastest);
      backward = backward || (w->piece[p].use[i] && w->piece[p].v[i] < -0.1 * w->fastest);
    }
  for (int k = 0; k < INERTIA + w->poses; k++) point->free[k] = true;
  if (!w->options->offset || !forward || !backward) hold(point, OFFSET, 0);
}

/* no motion, or no friction */
static void answer_nothing(psdmp_steps_lugre *w, psdmp_steps_lugre_answer *answer) {
  if (answer->model) memset(answer->model, 0, sizeof *answer->model * (size_t)w->rows);
  answer->rmse = sqrt(dot(w->used, w->tau, w->tau) / (double)w->used);
}

static void write_covariance(search *s, int numbers, double *covariance) {
  const psdmp_steps_lugre_doubt *d = &s->doubt;
  for (int i = 0; i < d->count; i++)
    for (int k = 0; k < d->count; k++)
      covariance[d->which[i] * numbers + d->which[k]] =
          scale_of(&s->point, d->which[i]) * scale_of(&s->point, d->which[k]) * d->covariance[i * d->count + k];
}

static void write_model(search *s, double *model) {
  const double *columns = s->w->columns;
  psdmp_steps_lugre_columns(s->w, &s->point.friction, TORQUE_AND_START);
  for (int p = 0; p < s->w->pieces; p++)
    for (long i = 0; i < s->w->piece[p].rows; i++, columns += TORQUE_AND_START)
      *model++ = torque(&s->point, &s->w->piece[p], i, columns) + s->bend[p] * columns[1];
}

static void write_answer(search *s, psdmp_steps_lugre_answer *answer) {
  psdmp_steps_lugre *w = s->w;
  answer->friction = s->point.friction;
  memcpy(answer->inertia, s->point.inertia, sizeof answer->inertia);
  memcpy(answer->fitted, s->point.free, sizeof answer->fitted);
  answer->rmse = sqrt(square_of(s) / (double)w->used);
  if (answer->covariance) write_covariance(s, INERTIA + w->poses, answer->covariance);
  if (answer->model) write_model(s, answer->model);
}

/* from each starting point; keeps the best result */
static void choose(search *s, int count, const psdmp_steps_lugre_point *points) {
  psdmp_steps_lugre_point best = points[0];
  double least = INFINITY;
  for (int k = 0; k < count && !s->w->stopped; k++) {
    s->point = points[k];
    begin_free(s->w, &s->point);
    double left = descend_damped(s, true);
    if (k > 0 && !(left < least)) continue;
    least = left, best = s->point, s->beginning = points[k];
  }
  s->point = best;
}

static psdm_status fit(psdmp_steps_lugre *w, psdmp_steps_lugre_answer *answer, psdm_error *error) {
  search s = {.w = w};
  psdmp_steps_lugre_point points[BEGINNINGS] = {{{0}, {0}, {0}}};
  int count;
  psdm_status status = psdmp_steps_lugre_begin(w, points, &count, error);
  if (status) return status;
  if ((status = open_search(&s)) != PSDM_OK) return psdmp_base_fail_status(error, status);
  choose(&s, count, points);
  if (count > 0) find_all(&s);
  if (count == 0 || w->stopped || unsure(&s, COULOMB)) answer_nothing(w, answer);
  else write_answer(&s, answer);
  return PSDM_OK;
}

static void clear(psdmp_steps_lugre_answer *answer, int poses) {
  double *covariance = answer->covariance, *model = answer->model;
  *answer = (psdmp_steps_lugre_answer){.covariance = covariance, .model = model};
  if (covariance && poses > 0 && poses <= POSES_MOST)
    memset(covariance, 0, sizeof *covariance * (size_t)((INERTIA + poses) * (INERTIA + poses)));
}

psdm_status psdmp_steps_lugre_fit(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                  const psdmp_steps_lugre_options *options, const psdm_allocator *allocator,
                                  psdmp_steps_lugre_answer *answer, psdm_error *error) {
  psdmp_steps_lugre w;
  clear(answer, poses);
  psdm_status status = psdmp_steps_lugre_open(pieces, piece, poses, options, allocator, &w, error);
  if (!status && !(w.fastest > 0)) answer_nothing(&w, answer);
  else if (!status) status = fit(&w, answer, error);
  if (!status && w.stopped)
    status = psdmp_base_fail(error, PSDM_E_STOPPED, "", 0, 0, "stopped while friction was fitted");
  answer->evaluations = w.evaluations;
  psdmp_base_arena_free(&w.arena);
  return status;
}

/* ---- derivatives of the result by the torque ---- */

/* gain = S (J^T J)^-1 J^T D, S from the search's coordinates to numbers */
static void write_gain(search *s, int columns, const double *D, double *projected, double *gain) {
  const psdmp_steps_lugre_doubt *d = &s->doubt;
  psdmp_steps_lugre *w = s->w;
  memset(projected, 0, sizeof *projected * (size_t)(UNKNOWNS * columns));
  long at = 0;
  for (int p = 0; p < w->pieces; p++)
    for (long i = 0; i < w->piece[p].rows; i++, D += columns) {
      if (!w->piece[p].use[i]) continue;
      for (int k = 0; k < d->count; k++)
        for (int c = 0; c < columns; c++) projected[k * columns + c] += s->J[k * w->used + at] * D[c];
      at++;
    }
  for (int i = 0; i < d->count; i++)
    for (int c = 0; c < columns; c++) {
      double sum = 0;
      for (int k = 0; k < d->count; k++) sum += d->inverse[i * d->count + k] * projected[k * columns + c];
      gain[d->which[i] * columns + c] = scale_of(&s->point, d->which[i]) * sum;
    }
}

psdm_status psdmp_steps_lugre_gain(int pieces, const psdmp_steps_lugre_piece *piece, int poses,
                                   const psdmp_steps_lugre_options *options, const psdmp_steps_lugre_answer *answer,
                                   int columns, const double *D, const psdm_allocator *allocator, double *gain) {
  psdmp_steps_lugre w;
  if (columns < 1) return PSDM_E_ARGUMENT;
  psdm_status status = psdmp_steps_lugre_open(pieces, piece, poses, options, allocator, &w, NULL);
  search s = {.w = &w, .point.friction = answer->friction};
  if (!status) memset(gain, 0, sizeof *gain * (size_t)((INERTIA + poses) * columns));
  double *projected =
      status ? NULL : psdmp_base_arena_alloc_raw(&w.arena, (size_t)(UNKNOWNS * columns) * sizeof *projected);
  if (!status) status = projected ? open_search(&s) : PSDM_E_MEMORY;
  if (!status && answer->friction.given) {
    memcpy(s.point.inertia, answer->inertia, sizeof s.point.inertia);
    memcpy(s.point.free, answer->fitted, sizeof answer->fitted);
    for (int p = 0; p < poses; p++) s.point.free[INERTIA + p] = answer->inertia[p] != 0;
    psdmp_steps_lugre_residual(&w, &s.point, NULL, s.J, NULL);
    psdmp_steps_lugre_doubt_at(&w, &s.point, NULL, s.J, &s.doubt);
    write_gain(&s, columns, D, projected, gain);
  }
  psdmp_base_arena_free(&w.arena);
  return status;
}

/* ---- prediction ---- */

psdm_status psdmp_steps_lugre_predict(const psdm_friction *f, const psdm_filter *filter, long rows, double dt,
                                      const double *v, const psdm_allocator *allocator, double *tau) {
  bool bristles = f->given && f->sigma0 > 0 && f->coulomb > 0 && f->stat > 0 && f->stribeck > 0;
  if (rows < 2 || !(dt > 0)) return PSDM_E_ARGUMENT;
  double *scratch =
      filter ? psdmp_base_alloc_raw(allocator, psdm_filter_scratch(filter, rows) * sizeof *scratch) : NULL;
  if (filter && !scratch) return PSDM_E_MEMORY;
  if (bristles) psdmp_steps_lugre_simulate(f, rows, dt, v, TORQUE_ALONE, tau);
  for (long i = 0; i < rows && f->given; i++)
    tau[i] = bristles ? tau[i] + f->offset : psdm_friction_steady(f, PSDM_FRICTION_POWER, v[i]);
  for (long i = 0; i < rows && !f->given; i++) tau[i] = 0;
  if (filter) psdm_filter_zero_phase(filter, rows, 1, tau, scratch);
  psdmp_base_free(allocator, scratch);
  return PSDM_OK;
}
