/* search.c: the search for an exciting motion, from several starts in parallel.
 *
 * Each start draws random motions, scaled up to the limits (which the answer is also compared with), continues from the
 * best of them by a global search over such scaled motions, then by a local one with exact gradients and the limits as
 * constraints. Every motion found on the way is made strictly feasible before it counts. A start depends on its number
 * and the seed alone: the answer is the same for any number of threads and ranks. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "excite/inertia_priv.h"
#include "parallel/parallel.h"

enum {
  RANDOM_MOTIONS = 100,
  DRAWS = 30, /* of a random motion until one keeps all limits */
  COARSE = 16,
  FINE = 64,
  FEWEST = 64, /* samples per shortest period in the search, for strict limits; and at least */
  GLOBAL = 1500,
  LOCAL = 600
};

static const double interval = 0.2; /* s between two calls of progress */
static const double worth = 1e-3;   /* of the objective: gain required to make a better motion feasible */
static const double broken = 0.03;  /* share of a limit by which it may be exceeded then */
static const double refused = 10;   /* global search: cost of exceeding a limit by its own size */
static const double box = 4;        /* above any coefficient of a motion inside its limits (Parseval) */

/* ---- shared by starts ---- */

typedef struct search {
  const psdm_excite_options *options;
  const psdmp_excite_told *told;
  const psdm_allocator *allocator;
  psdmp_excite_bounds bounds;
  int n, terms, highest, starts, threads;
  long global, local, total;
  double began, wall;
  const double *lower, *upper, *box_lower, *box_upper; /* of the global and of the local search */
  double *random, *random_plain;                       /* (RANDOM_MOTIONS) NAN: none */
  atomic_bool stop;
  atomic_long evaluations;
  /* used in the critical section only */
  double called;
  psdm_motion *best;
  double best_value, best_condition;
} search;

/* One start and its thread's data. */
typedef struct start {
  search *s;
  int number;
  uint64_t random;
  psdm_status status;
  psdm_error error;
  psdmp_excite_wave wave, best_wave, drawn_wave;
  psdmp_excite_grid coarse, fine;
  psdmp_excite_value value;
  psdmp_excite_bounds_work bounds;
  psdmp_excite_gathering *gathering;
  psdm_work *work;
  psdm_linear *linear;
  double *x, *attempt, *best, *drawn, *by_state, *scratch;
  double *result; /* (constraints) */
  const char *doing;
  double seen; /* least objective made feasible, by the search's samples */
  double best_value, best_condition;
  bool any, drew, finished;
} start;

/* ---- progress ---- */

static bool watched(const search *s) { return s->options->progress || s->options->better; }

/* inside the critical section */
static void call(start *o) {
  char text[96];
  search *s = o->s;
  double share = fmin(1, (double)atomic_load(&s->evaluations) / (double)s->total);
  const psdm_excite_options *options = s->options;
  if (atomic_load(&s->stop) || !watched(s)) return;
  if (s->best) psdmp_base_print(text, sizeof text, "%s, condition number %.4g", o->doing, s->best_condition);
  if (s->best && options->better) options->better(options->better_user, s->best, s->best_condition);
  if (options->progress && !options->progress(options->progress_user, s->best ? text : o->doing, share))
    atomic_store(&s->stop, true);
  s->called = psdmp_base_clock();
}

static void report(start *o, bool now) {
#ifdef _OPENMP
#pragma omp critical
#endif
  if (now || psdmp_base_clock() - o->s->called >= interval) call(o);
}

static bool stopped(void *user) {
  start *o = user;
  search *s = o->s;
  if (psdmp_base_clock() - s->began > s->wall) atomic_store(&s->stop, true);
  return o->status || atomic_load(&s->stop);
}

static void count(start *o) {
  long done = atomic_fetch_add(&o->s->evaluations, 1);
  if (watched(o->s) && done % 8 == 0) report(o, false);
}

static void give_up(start *o, psdm_status status, const char *text) {
  o->status = psdmp_base_fail(&o->error, status, "", 0, 0, "%s", text);
  atomic_store(&o->s->stop, true);
}

/* reports the best motion of all starts so far */
static void publish(start *o) {
  search *s = o->s;
#ifdef _OPENMP
#pragma omp critical
#endif
  if (watched(s) && (!s->best || o->best_value < s->best_value)) {
    psdm_motion *motion;
    if (psdmp_excite_wave_motion(&o->best_wave, s->options->shape == PSDM_EXCITE_SINES, o->best, o->scratch,
                                 s->allocator, &motion, &o->error)) {
      o->status = o->error.status;
      atomic_store(&s->stop, true);
    } else {
      psdm_motion_free(s->best);
      s->best = motion;
      s->best_value = o->best_value;
      s->best_condition = o->best_condition;
    }
  }
}

/* ---- one start ---- */

static double evaluate(start *o, const double *x, double *gradient, double *condition) {
  psdmp_excite_grid_at(&o->wave, &o->coarse, x);
  double f = psdmp_excite_value_at(&o->value, o->coarse.state, gradient ? o->by_state : NULL, condition);
  if (gradient) {
    if (isfinite(f)) psdmp_excite_grid_pull(&o->wave, &o->coarse, o->by_state, gradient);
    else memset(gradient, 0, (size_t)(o->wave.n * o->wave.own) * sizeof *gradient);
  }
  return f;
}

/* keeps attempt, which satisfies all limits, if it is better than the best so far */
static void remember(start *o) {
  double condition, f = evaluate(o, o->attempt, NULL, &condition);
  /* the search's own value is only close to it */
  if (isfinite(f) && o->s->options->goal == PSDM_EXCITE_CONDITION) f = log(condition);
  if (!isfinite(f) || (o->any && !(f < o->best_value))) return;
  o->any = true;
  o->best_value = f;
  o->best_condition = condition;
  memcpy(o->best, o->attempt, (size_t)(o->wave.n * o->wave.own) * sizeof *o->best);
  psdmp_excite_wave_copy(&o->wave, &o->best_wave);
  publish(o);
}

static void consider(start *o, const double *x, bool grow) {
  memcpy(o->attempt, x, (size_t)(o->wave.n * o->wave.own) * sizeof *x);
  if (psdmp_excite_bounds_keep(&o->s->bounds, &o->wave, &o->fine, &o->bounds, grow, o->attempt)) remember(o);
}

/* FOURIER: 1, 2, ...; SINES: any, without repetition, ascending (Floyd's random subset) */
static void draw_harmonics(start *o) {
  int N = o->wave.terms, K = o->wave.highest;
  for (int i = 0; i < o->wave.n; i++) {
    int *k = o->wave.harmonic + (long)i * N, used = 0;
    for (int j = K - N + 1; j <= K; j++, used++) {
      int pick = o->s->options->shape == PSDM_EXCITE_FOURIER
                     ? used + 1
                     : 1 + (int)(psdmp_base_random_bits(&o->random) % (uint64_t)j),
          at = used;
      for (int e = 0; e < used; e++)
        if (k[e] == pick) pick = j;
      for (; at > 0 && k[at - 1] > pick; at--) k[at] = k[at - 1];
      k[at] = pick;
    }
  }
  psdmp_excite_wave_set(&o->wave);
  psdmp_excite_grid_set(&o->wave, &o->coarse);
  psdmp_excite_grid_set(&o->wave, &o->fine);
}

static void take_harmonics(start *o, const psdmp_excite_wave *from) {
  psdmp_excite_wave_copy(from, &o->wave);
  psdmp_excite_grid_set(&o->wave, &o->coarse);
  psdmp_excite_grid_set(&o->wave, &o->fine);
}

/* centres in the middle half of the range, coefficients in any direction */
static void draw(start *o, double *x) {
  for (int i = 0; i < o->wave.n; i++)
    for (int j = 0; j < o->wave.own; j++)
      x[(long)i * o->wave.own + j] =
          j ? psdmp_base_random(&o->random, -1, 1) : psdmp_base_random(&o->random, -0.5, 0.5);
}

/* condition numbers of a motion on the fine grid, which already holds its states */
static psdm_status measure(start *o, double *condition, double *plain) {
  double logdet;
  int stride = o->fine.points / 400 + 1;
  psdm_status status = PSDM_OK;
  psdmp_excite_gathering_begin(o->gathering);
  for (int p = 0; p < o->fine.points && !status; p += stride)
    status = psdmp_excite_gathering_add(o->gathering, o->work, o->fine.state + 3L * p * o->wave.n);
  return status ? status : psdmp_excite_gathering_end(o->gathering, condition, &logdet, plain);
}

/* a random motion scaled to its limits, and its objective */
static void random_motion(start *o, int number) {
  search *s = o->s;
  bool fits = false;
  for (int k = 0; k < DRAWS && !fits && !stopped(o); k++) {
    if (s->options->shape == PSDM_EXCITE_SINES || !o->wave.harmonic[0]) draw_harmonics(o);
    draw(o, o->attempt);
    fits = psdmp_excite_bounds_keep(&s->bounds, &o->wave, &o->fine, &o->bounds, true, o->attempt);
  }
  if (!fits) return;
  psdm_status status = measure(o, &s->random[number], &s->random_plain[number]);
  if (status) give_up(o, status, psdm_status_text(status));
  count(o);
  remember(o);
}

/* global: x stands for the motion scaled in its direction as far as the limits of each joint allow */
static double global_value(void *user, const double *x, double *gradient) {
  start *o = user;
  (void)gradient;
  memcpy(o->attempt, x, (size_t)(o->wave.n * o->wave.own) * sizeof *x);
  psdmp_excite_bounds_fit(&o->s->bounds, &o->wave, &o->coarse, true, o->attempt);
  double beyond = psdmp_excite_bounds_shared(&o->s->bounds, &o->coarse, &o->bounds) - 1;
  count(o);
  return psdmp_excite_value_at(&o->value, o->coarse.state, NULL, NULL) + refused * fmax(0, beyond);
}

static double local_value(void *user, const double *x, double *gradient) {
  start *o = user;
  double f = evaluate(o, x, gradient, NULL), most = -INFINITY;
  count(o);
  /* occasionally makes a much better motion feasible, so that a stop loses little */
  if (f < o->seen - worth) {
    psdmp_excite_bounds_smooth(&o->s->bounds, &o->wave, &o->coarse, &o->bounds, o->result, NULL);
    for (int k = 0; k < o->s->bounds.count; k++) most = fmax(most, o->result[k]);
    if (most < broken) {
      o->seen = f;
      consider(o, x, false);
    }
  }
  return f;
}

static void local_bounds(void *user, const double *x, double *result, double *gradient) {
  start *o = user;
  psdmp_excite_grid_at(&o->wave, &o->coarse, x);
  psdmp_excite_bounds_smooth(&o->s->bounds, &o->wave, &o->coarse, &o->bounds, result, gradient);
}

static void search_once(start *o, long evaluations, bool global) {
  search *s = o->s;
  psdmp_excite_minimum problem = {.numbers = o->wave.n * o->wave.own,
                                  .constraints = s->bounds.count,
                                  .lower = global ? s->lower : s->box_lower,
                                  .upper = global ? s->upper : s->box_upper,
                                  .value = global ? global_value : local_value,
                                  .bounds = local_bounds,
                                  .stop = stopped,
                                  .user = o,
                                  .evaluations = evaluations,
                                  .seed = (unsigned long)psdmp_base_random_bits(&o->random)};
  psdm_status status = evaluations > 0 && !stopped(o)
                           ? (global ? psdmp_excite_minimise_global : psdmp_excite_minimise_local)(&problem, o->x)
                           : PSDM_OK;
  if (status)
    give_up(
        o, status,
        status == PSDM_E_MEMORY ? "out of memory" : "NLopt rejects the search: its bounds or counts are not finite");
}

/* the best of several random motions, with random harmonics: start of the global search */
static void explore(start *o, long evaluations) {
  long numbers = (long)o->wave.n * o->wave.own;
  take_harmonics(o, &o->best_wave);
  memcpy(o->x, o->best, (size_t)numbers * sizeof *o->x);
  double least = global_value(o, o->x, NULL);
  for (long k = 1; k < evaluations && !stopped(o); k++) {
    if (o->s->options->shape == PSDM_EXCITE_SINES) draw_harmonics(o);
    draw(o, o->drawn);
    double f = global_value(o, o->drawn, NULL);
    if (!(f < least)) continue;
    least = f;
    memcpy(o->x, o->drawn, (size_t)numbers * sizeof *o->x);
    psdmp_excite_wave_copy(&o->wave, &o->drawn_wave);
    o->drew = true;
  }
  take_harmonics(o, o->drew ? &o->drawn_wave : &o->best_wave);
}

static void clamp(long numbers, const double *lower, const double *upper, double *x) {
  for (long k = 0; k < numbers; k++) x[k] = fmax(lower[k], fmin(upper[k], x[k]));
}

static void run_random(start *o) {
  o->doing = "random motions";
  for (int k = o->number; k < RANDOM_MOTIONS; k += o->s->starts) random_motion(o, k);
  report(o, true);
}

static void run_start(start *o) {
  search *s = o->s;
  long numbers = (long)o->wave.n * o->wave.own;
  if (!o->any || stopped(o)) return;
  o->doing = "searching globally";
  explore(o, s->global / 2);
  clamp(numbers, s->lower, s->upper, o->x);
  search_once(o, s->global - s->global / 2, true);
  consider(o, o->x, true);
  report(o, true);
  if (stopped(o)) return;
  o->doing = "searching locally";
  take_harmonics(o, &o->best_wave);
  memcpy(o->x, o->best, (size_t)numbers * sizeof *o->x);
  clamp(numbers, s->box_lower, s->box_upper, o->x);
  o->seen = evaluate(o, o->x, NULL, NULL);
  search_once(o, s->local, false);
  consider(o, o->x, false);
  consider(o, o->x, true);
  o->finished = !stopped(o);
  report(o, true);
}

/* ---- all starts ---- */

static int coarse_points(const search *s) { return COARSE * s->highest > FEWEST ? COARSE * s->highest : FEWEST; }
static int fine_points(const search *s) { return FINE * s->highest > 4 * FEWEST ? FINE * s->highest : 4 * FEWEST; }

/* memory of the starts: grids, rows of all samples, slopes of torques, squares of columns */
static psdm_status ask_memory(const search *s, psdm_error *error) {
  const psdmp_excite_bounds *b = &s->bounds;
  double n = s->n, own = 2 * s->terms - 1, coarse = coarse_points(s), fine = fine_points(s), W = s->told->columns;
  double numbers = (coarse + fine) * (2 + 3 * n * (own + 1)) +
                   coarse * (s->told->row_total + 6 * n + (b->efforts ? 3 * n * n : 0) + b->gaps) +
                   fine * (n + b->gaps) + 8 * W * W;
  return psdmp_base_memory_ask("", "the search", s->starts * numbers * sizeof(double), psdm_robot_memory(b->robot),
                               "; fewer harmonics or starts need less", error);
}

static bool new_start(search *s, int number, psdmp_base_arena *arena, start *o) {
  int coarse = coarse_points(s), fine = fine_points(s);
  long numbers = (long)s->n * (2 * s->terms - 1);
  const psdmp_excite_limits *limits = s->bounds.limits;
  double seconds = s->options->seconds;
  *o = (start){.s = s,
               .number = number,
               .random = s->options->seed * 0x9E3779B97F4A7C15u + (uint64_t)number * 0xD1B54A32D192ED03u + 1,
               .doing = "",
               .seen = INFINITY,
               .best_value = INFINITY,
               .best_condition = NAN};
  if (psdm_work_new(s->bounds.robot, arena->allocator, &o->work) ||
      psdm_linear_new(s->bounds.robot, arena->allocator, &o->linear))
    return false;
  psdmp_excite_wave *waves[] = {&o->wave, &o->best_wave, &o->drawn_wave};
  for (int k = 0; k < 3; k++)
    if (!psdmp_excite_wave_new(s->n, s->terms, s->highest, seconds, limits, arena, waves[k])) return false;
  if (!psdmp_excite_grid_new(&o->wave, coarse, arena, &o->coarse) ||
      !psdmp_excite_grid_new(&o->wave, fine, arena, &o->fine))
    return false;
  if (!psdmp_excite_value_new(s->told, s->options->goal, coarse, o->work, arena, &o->value)) return false;
  if (!psdmp_excite_bounds_work_new(&s->bounds, fine, coarse, o->work, o->linear, arena, &o->bounds)) return false;
  o->gathering = psdmp_excite_gathering_new(s->told, arena);
  o->x = psdmp_excite_numbers(arena, numbers);
  o->attempt = psdmp_excite_numbers(arena, numbers);
  o->best = psdmp_excite_numbers(arena, numbers);
  o->drawn = psdmp_excite_numbers(arena, numbers);
  o->by_state = psdmp_excite_numbers(arena, 3L * s->n * coarse);
  o->scratch = psdmp_excite_numbers(arena, psdmp_excite_wave_scratch(&o->wave));
  o->result = psdmp_excite_numbers(arena, s->bounds.count);
  return o->gathering && o->x && o->attempt && o->best && o->drawn && o->by_state && o->scratch && o->result;
}

static bool set_boxes(search *s, psdmp_base_arena *arena) {
  long own = 2 * s->terms - 1, numbers = s->n * own;
  double *side[4];
  for (int k = 0; k < 4; k++)
    if (!(side[k] = psdmp_excite_numbers(arena, numbers))) return false;
  for (long k = 0; k < numbers; k++) {
    bool centre = k % own == 0;
    side[1][k] = 1, side[3][k] = centre ? 1 : box;
    side[0][k] = -side[1][k], side[2][k] = -side[3][k];
  }
  s->lower = side[0], s->upper = side[1], s->box_lower = side[2], s->box_upper = side[3];
  return true;
}

static bool set_random(search *s, psdmp_base_arena *arena) {
  s->random = psdmp_excite_numbers(arena, RANDOM_MOTIONS);
  s->random_plain = psdmp_excite_numbers(arena, RANDOM_MOTIONS);
  for (int k = 0; k < RANDOM_MOTIONS && s->random && s->random_plain; k++) s->random[k] = s->random_plain[k] = NAN;
  return s->random && s->random_plain;
}

/* number of harmonics and the highest */
static psdm_status set_harmonics(search *s, psdm_error *error) {
  const psdm_excite_options *o = s->options;
  bool sines = o->shape == PSDM_EXCITE_SINES;
  double band = o->band > 0 ? o->band : sines ? 1 : 0;
  int within =
      band > 0 ? (int)fmin(PSDMP_EXCITE_MOST_TERMS, floor(band * o->seconds * (1 + 1e-12))) : PSDMP_EXCITE_MOST_TERMS;
  s->terms = o->harmonics > 0 ? o->harmonics : sines ? 3 : band > 0 ? within : 5;
  if (s->terms > PSDMP_EXCITE_MOST_TERMS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%d harmonics; at most %d are possible", s->terms,
                           PSDMP_EXCITE_MOST_TERMS);
  if (!sines && s->terms > within) s->terms = within;
  if (s->terms < 2)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "%d harmonics; a motion that begins and ends at rest needs 2, in a band of %g Hz or more",
                           s->terms, 2 / o->seconds);
  if (s->terms > within)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "%d sines do not fit in a band of %g Hz: a period of %g s has %d harmonics there", s->terms,
                           band, o->seconds, within);
  s->highest = sines ? within : s->terms;
  return PSDM_OK;
}

/* by insertion: NANs are left out */
static void order(double *x, double *best, double *median) {
  int used = 0;
  for (int k = 0; k < RANDOM_MOTIONS; k++) {
    double now = x[k];
    int at = used;
    if (isnan(now)) continue;
    for (; at > 0 && x[at - 1] > now; at--) x[at] = x[at - 1];
    x[at] = now;
    used++;
  }
  *best = used ? x[0] : NAN;
  *median = used ? (x[(used - 1) / 2] + x[used / 2]) / 2 : NAN;
}

/* those of this rank */
static void run_starts(search *s, start *all) {
  long first, last;
  psdmp_parallel_team_share(s->options->ranks, s->starts, &first, &last);
  /* starts allocate nothing, except one at a time */
  int threads = psdmp_parallel_threads(s->threads, NULL, last - first);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
  for (long k = first; k < last; k++) run_random(&all[k]);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
  for (long k = first; k < last; k++) run_start(&all[k]);
  (void)threads;
}

/* ---- ranks ---- */

typedef struct outcome {
  psdm_status status;
  psdm_error error;
  bool any, finished;
  double best_value, best_condition;
} outcome;

static void put_start(const start *o, psdmp_parallel_bytes *to) {
  const search *s = o->s;
  const outcome found = {o->status, o->error, o->any, o->finished, o->best_value, o->best_condition};
  PSDMP_PARALLEL_PUT(to, found);
  psdmp_parallel_bytes_put(to, o->best, (size_t)(o->wave.n * o->wave.own) * sizeof *o->best);
  psdmp_parallel_bytes_put(to, o->best_wave.harmonic,
                           (size_t)(o->wave.n * o->wave.terms) * sizeof *o->best_wave.harmonic);
  for (int k = o->number; k < RANDOM_MOTIONS; k += s->starts) {
    PSDMP_PARALLEL_PUT(to, s->random[k]);
    PSDMP_PARALLEL_PUT(to, s->random_plain[k]);
  }
}

static void get_start(start *o, psdmp_parallel_bytes *from) {
  search *s = o->s;
  outcome found;
  PSDMP_PARALLEL_GET(from, found);
  o->status = found.status, o->error = found.error, o->any = found.any, o->finished = found.finished;
  o->best_value = found.best_value, o->best_condition = found.best_condition;
  psdmp_parallel_bytes_get(from, o->best, (size_t)(o->wave.n * o->wave.own) * sizeof *o->best);
  psdmp_parallel_bytes_get(from, o->best_wave.harmonic,
                           (size_t)(o->wave.n * o->wave.terms) * sizeof *o->best_wave.harmonic);
  if (o->any) psdmp_excite_wave_set(&o->best_wave);
  for (int k = o->number; k < RANDOM_MOTIONS; k += s->starts) {
    PSDMP_PARALLEL_GET(from, s->random[k]);
    PSDMP_PARALLEL_GET(from, s->random_plain[k]);
  }
}

/* another rank: the results of its starts */
static psdm_status help(void *user, int work, psdmp_parallel_bytes *request, psdmp_parallel_bytes *answer,
                        psdm_error *error) {
  start *all = user;
  search *s = all->s;
  long first, last, evaluations;
  bool stop;
  (void)work, (void)request, (void)error;
  run_starts(s, all);
  psdmp_parallel_team_share(s->options->ranks, s->starts, &first, &last);
  evaluations = atomic_load(&s->evaluations);
  stop = atomic_load(&s->stop);
  PSDMP_PARALLEL_PUT(answer, first);
  PSDMP_PARALLEL_PUT(answer, last);
  PSDMP_PARALLEL_PUT(answer, evaluations);
  PSDMP_PARALLEL_PUT(answer, stop);
  for (long k = first; k < last; k++) put_start(&all[k], answer);
  return PSDM_OK;
}

static psdm_status hear(search *s, start *all, int rank, psdm_error *error) {
  psdmp_parallel_bytes answer = {.allocator = s->allocator};
  long first, last, evaluations;
  bool stop;
  psdm_status status = psdmp_parallel_team_listen(s->options->ranks, rank, &answer, error);
  PSDMP_PARALLEL_GET(&answer, first);
  PSDMP_PARALLEL_GET(&answer, last);
  PSDMP_PARALLEL_GET(&answer, evaluations);
  PSDMP_PARALLEL_GET(&answer, stop);
  for (long k = first; k < last && !status && !answer.failed && k >= 0 && k < s->starts; k++)
    get_start(&all[k], &answer);
  if (!status && answer.failed)
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "rank %d runs another search than rank 0", rank);
  if (!status && stop) atomic_store(&s->stop, true);
  atomic_fetch_add(&s->evaluations, evaluations);
  psdmp_parallel_bytes_free(&answer);
  return status;
}

/* rank 0: runs its own starts while the others run theirs */
static psdm_status run_together(search *s, start *all, psdm_error *error) {
  psdm_ranks *ranks = s->options->ranks;
  psdm_status status = psdmp_parallel_team_size(ranks) > 1 ? psdmp_parallel_team_ask(ranks, 0, NULL, error) : PSDM_OK;
  if (status) return status;
  run_starts(s, all);
  for (int k = 1; k < psdmp_parallel_team_size(ranks); k++) {
    psdm_error other;
    psdm_status heard = hear(s, all, k, &other);
    if (heard && !status && error) *error = other;
    if (heard && !status) status = heard;
  }
  return status;
}

/* the best start's motion, independent of the order in which they ended */
static psdm_status finish(search *s, start *all, psdmp_excite_found *found, psdm_error *error) {
  start *best = NULL;
  for (int k = 0; k < s->starts; k++) {
    if (all[k].status) return psdmp_base_fail(error, all[k].status, "", 0, 0, "%s", all[k].error.text);
    found->start_condition[k] = all[k].finished ? all[k].best_condition : NAN;
    if (all[k].any && (!best || all[k].best_value < best->best_value)) best = &all[k];
  }
  found->starts = s->starts;
  found->evaluations = atomic_load(&s->evaluations);
  found->stopped = atomic_load(&s->stop);
  order(s->random, &found->random_best, &found->random_median);
  order(s->random_plain, &found->random_plain_best, &found->random_plain_median);
  if (!best && found->stopped && psdmp_base_clock() - s->began > s->wall)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "no motion was found within %g s of wall time", s->wall);
  if (!best && found->stopped)
    return psdmp_base_fail(error, PSDM_E_STOPPED, "", 0, 0, "stopped before the first motion was found");
  if (!best)
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, "", 0, 0,
        "no motion fits the limits: none of %d places leaves room for torques, gaps and coupled joints",
        RANDOM_MOTIONS * DRAWS);
  return psdmp_excite_wave_motion(&best->best_wave, s->options->shape == PSDM_EXCITE_SINES, best->best, best->scratch,
                                  s->allocator, &found->motion, error);
}

psdm_status psdmp_excite_search(const psdm_robot *robot, const psdm_excite_options *options,
                                const psdmp_excite_limits *limits, const psdmp_excite_told *told,
                                psdmp_base_arena *arena, psdmp_excite_found *found, psdm_error *error) {
  search s = {.options = options,
              .told = told,
              .allocator = arena->allocator,
              .n = psdm_robot_n(robot),
              .starts = options->starts > 0 ? options->starts : 8,
              .threads = options->threads,
              .began = psdmp_base_clock(),
              .wall = options->wall > 0 ? options->wall : 100};
  psdmp_base_arena own = {.allocator = arena->allocator}; /* freed with the search */
  s.global = options->evaluations > 0 ? options->evaluations * GLOBAL / (GLOBAL + LOCAL) : GLOBAL;
  s.local = options->evaluations > 0 ? options->evaluations - s.global : LOCAL;
  s.total = s.starts * (s.global + s.local) + RANDOM_MOTIONS;
  s.called = s.began;
  psdm_status status = set_harmonics(&s, error);
  if (status) return status;
  start *all = psdmp_base_arena_alloc(&own, (size_t)s.starts * sizeof *all);
  found->start_condition = psdmp_excite_numbers(arena, s.starts);
  bool whole = all && found->start_condition && psdmp_excite_bounds_new(robot, limits, &own, &s.bounds) &&
               set_boxes(&s, &own) && set_random(&s, &own);
  if (whole) status = ask_memory(&s, error);
  for (int k = 0; whole && !status && k < s.starts; k++) whole = new_start(&s, k, &own, &all[k]);
  if (!whole && !status) status = psdmp_base_no_memory("", error);
  if (!status && psdmp_parallel_team_member(options->ranks))
    status = psdmp_parallel_team_serve(options->ranks, help, all, arena->allocator, error);
  else if (!status) status = run_together(&s, all, error);
  if (!status && !psdmp_parallel_team_member(options->ranks)) status = finish(&s, all, found, error);
  for (int k = 0; all && k < s.starts; k++) {
    psdm_work_free(all[k].work, arena->allocator);
    psdm_linear_free(all[k].linear, arena->allocator);
    psdmp_excite_closed_free(&all[k].value.closed, arena->allocator);
  }
  psdm_motion_free(s.best);
  psdmp_base_arena_free(&own);
  return status;
}
