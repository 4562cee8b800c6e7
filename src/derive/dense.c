/* dense.c: functions by square systems, coefficients by least squares, parameters by QR. See dense_priv.h. */
#include "derive/dense_priv.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

/* torques below this, in the arm's own units, are rounding (section 3.4.3) */
static const double TOLERANCE = 1e-10;

/* Monomials solved for together: all classes that search the same ones share one factorisation. */
typedef struct square {
  long count;
  uint64_t *code;
  int classes, class_index[PSDMP_DERIVE_DENSE_CLASSES];
} square;

typedef struct dense {
  const psdm_robot *robot;
  const psdm_derive_options *options;
  psdm_model *m;
  psdm_derive_info *info;
  psdm_error *error;
  psdmp_derive_source source;
  psdmp_derive_space space;
  psdmp_derive_restriction left; /* parameters left by assumptions */
  psdmp_base_arena arena;
  square *system; /* (classes) */
  int systems;
  long found[PSDMP_DERIVE_DENSE_CLASSES]; /* functions of each class, and their codes */
  uint64_t *code[PSDMP_DERIVE_DENSE_CLASSES];
  double *pi; /* (sets x standard) random parameters; the first set serves the square systems */
  int sets;
  double *psi; /* (p n x standard) coefficient rows by function, then joint */
  double done; /* share of the work */
} dense;

static psdm_status step_on(dense *d, double share) {
  d->done += share;
  if (!d->options || !d->options->progress ||
      d->options->progress(d->options->progress_user, "deriving", fmin(d->done, 1)))
    return PSDM_OK;
  return psdmp_base_fail(d->error, PSDM_E_STOPPED, d->robot->file, 0, 0, "the derivation was stopped");
}

/* zero or not, and how clear that was */
static bool judge(dense *d, double size) {
  if (size > TOLERANCE) {
    d->info->kept = fmin(d->info->kept, size);
    return true;
  }
  d->info->dropped = fmax(d->info->dropped, size);
  return false;
}

/* ---- units: lengths in units of the reach, so that coefficients of every class, joint and parameter have the same
 * size ---- */

static int sliding(const dense *d, int j) { return j >= 0 && d->m->prismatic[j]; }

/* the factor that makes a class's torque on a joint mass times reach squared */
static double class_unit(const dense *d, int k, int joint) {
  int first, second;
  psdm_model_class_rates(d->m, k, &first, &second);
  int power = (k == 0) + sliding(d, first) + sliding(d, second) + sliding(d, joint);
  return pow(d->source.reach, power);
}

static double parameter_unit(const dense *d, int k) {
  int kind = k < PSDMP_ROBOT_STANDARD * d->robot->bodies ? k % PSDMP_ROBOT_STANDARD : PSDMP_ROBOT_STANDARD;
  if (kind == PSDMP_ROBOT_STANDARD) /* a drive's inertia or reflected mass acts alone */
    return d->robot->joint[d->robot->drive[k - PSDMP_ROBOT_STANDARD * d->robot->bodies].index].type == PSDM_PRISMATIC
               ? pow(d->source.reach, -2)
               : 1;
  return pow(d->source.reach, kind == 0 ? -2 : kind < 4 ? -1 : 0);
}

/* powers of prismatic joints in a monomial, which is evaluated at q / reach */
static double code_unit(const dense *d, uint64_t code) {
  int power = 0;
  for (int j = 0; j < d->m->n; j++)
    if (sliding(d, j)) power += psdmp_derive_space_digit(&d->space, code, j);
  return pow(d->source.reach, power);
}

/* ---- monomials at states ---- */

/* Y (states x count), column-major: each column a product of the joints' digit columns */
static bool fill_monomials(const dense *d, const double *q, long states, const uint64_t *code, long count,
                           psdmp_base_arena *arena, double *Y) {
  int n = d->m->n;
  double *value = PSDMP_BASE_NEW_RAW(arena, (long)n * PSDMP_DERIVE_BASIS * states, double);
  if (!value) return false;
  for (int j = 0; j < n; j++)
    for (long t = 0; t < states; t++) {
      double x = q[t * n + j], s = sliding(d, j) ? x / d->source.reach : sin(x), c = sliding(d, j) ? s * s : cos(x);
      const double digit[PSDMP_DERIVE_BASIS] = {1, s, c, s * c, c * c};
      for (int b = 0; b < PSDMP_DERIVE_BASIS; b++) value[((long)j * PSDMP_DERIVE_BASIS + b) * states + t] = digit[b];
    }
  for (long f = 0; f < count; f++) {
    double *column = Y + f * states;
    for (long t = 0; t < states; t++) column[t] = 1;
    for (int j = 0; j < n; j++) {
      int digit = psdmp_derive_space_digit(&d->space, code[f], j);
      const double *factor = value + ((long)j * PSDMP_DERIVE_BASIS + digit) * states;
      for (long t = 0; digit && t < states; t++) column[t] *= factor[t];
    }
  }
  return true;
}

/* ---- functions: square systems ---- */

/* B (count x classes n), column-major: torques of the system's classes at its states, in the arm's units */
static psdm_status sample_system(dense *d, const square *s, const double *q, double *T, double *B, double *size) {
  int n = d->m->n;
  for (int c = 0; c < s->classes; c++) {
    int first, second, k = s->class_index[c];
    psdm_model_class_rates(d->m, k, &first, &second);
    psdm_status status = psdmp_derive_source_class(&d->source, q, s->count, d->pi, 1, first, second, T, size, d->error);
    if (status) return status;
    for (int i = 0; i < n; i++)
      for (long t = 0; t < s->count; t++) B[((long)c * n + i) * s->count + t] = T[t * n + i] * class_unit(d, k, i);
  }
  return PSDM_OK;
}

/* functions whose row of coefficients is nonzero (equation 26); size is the scale for zero */
static bool keep_functions(dense *d, const square *s, int c, const double *X, double size) {
  int n = d->m->n, k = s->class_index[c];
  d->code[k] = PSDMP_BASE_NEW_RAW(&d->arena, s->count, uint64_t);
  if (!d->code[k]) return false;
  for (long f = 0; f < s->count; f++) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(X[((long)c * n + i) * s->count + f]));
    if (judge(d, largest / size)) d->code[k][d->found[k]++] = s->code[f];
  }
  return true;
}

/* a system and its numbers */
typedef struct solution {
  const square *s;
  int columns;
  double *q, *T, *B, *X, size;
} solution;

static bool new_solution(const dense *d, const square *s, psdmp_base_arena *arena, solution *x) {
  long N = s->count, n = d->m->n;
  *x = (solution){.s = s, .columns = s->classes * (int)n};
  x->q = PSDMP_BASE_NEW_RAW(arena, N * n, double);
  x->T = PSDMP_BASE_NEW_RAW(arena, N * n, double);
  x->B = PSDMP_BASE_NEW_RAW(arena, N * x->columns, double);
  x->X = PSDMP_BASE_NEW_RAW(arena, N * x->columns, double);
  return x->q && x->T && x->B && x->X;
}

static psdm_status singular(const dense *d, const psdmp_base_arena *arena, long count) {
  return arena->failed ? psdmp_base_no_memory(d->robot->file, d->error)
                       : psdmp_base_fail(d->error, PSDM_E_LIMIT, d->robot->file, 0, 0,
                                         "a system of %ld sampled functions is singular", count);
}

static psdm_status solve_whole(dense *d, solution *x, uint64_t seed, psdmp_base_arena *arena) {
  long N = x->s->count;
  double *R = PSDMP_BASE_NEW_RAW(arena, N * x->columns, double), *Y = PSDMP_BASE_NEW_RAW(arena, N * N, double),
         *LU = PSDMP_BASE_NEW_RAW(arena, N * N, double);
  long double *sum = PSDMP_BASE_NEW_RAW(arena, N, long double);
  int *pivot = PSDMP_BASE_NEW_RAW(arena, N, int);
  if (!R || !Y || !LU || !sum || !pivot) return psdmp_base_no_memory(d->robot->file, d->error);
  psdmp_derive_source_positions(&d->source, seed, N, x->q);
  if (!fill_monomials(d, x->q, N, x->s->code, N, arena, Y)) return psdmp_base_no_memory(d->robot->file, d->error);
  psdm_status status = sample_system(d, x->s, x->q, x->T, x->B, &x->size);
  if (status) return status;
  return psdmp_linalg_solve_refined((int)N, x->columns, Y, x->B, x->X, LU, pivot, R, sum) ? PSDM_OK
                                                                                          : singular(d, arena, N);
}

static psdm_status solve_blocks(dense *d, solution *x, uint64_t seed, psdmp_base_arena *arena) {
  psdmp_derive_blocks blocks;
  if (!psdmp_derive_blocks_set(&d->space, x->s->count, x->s->code, seed, &blocks))
    return singular(d, arena, x->s->count);
  psdmp_derive_blocks_positions(&d->space, &blocks, d->source.reach, x->q);
  psdm_status status = sample_system(d, x->s, x->q, x->T, x->B, &x->size);
  if (status) return status;
  return psdmp_derive_blocks_solve(&d->space, &blocks, d->source.reach, x->columns, x->B, x->X, arena)
             ? PSDM_OK
             : singular(d, arena, x->s->count);
}

static bool large(const square *s) { return s->count > PSDMP_DERIVE_DENSE_SYSTEM; }

static psdm_status solve_system(dense *d, const square *s, uint64_t seed) {
  size_t N = (size_t)s->count, columns = (size_t)(s->classes * d->m->n);
  psdmp_base_arena arena = {.allocator = d->arena.allocator};
  size_t bytes = sizeof(double) * ((large(s) ? 0 : 2 * N * N) + (large(s) ? 5 : 3) * N * columns);
  char what[64];
  solution x;
  psdmp_base_print(what, sizeof what, "a system of %ld functions", s->count);
  psdm_status status =
      psdmp_base_memory_ask(d->robot->file, what, (double)bytes, psdmp_derive_limit(d->robot, d->options),
                            "; the exact method needs none", d->error);
  if (status) return status;
  if (!new_solution(d, s, &arena, &x)) status = psdmp_base_no_memory(d->robot->file, d->error);
  if (!status) status = (large(s) ? solve_blocks : solve_whole)(d, &x, seed, &arena);
  for (int c = 0; c < s->classes && !status; c++)
    if (!keep_functions(d, s, c, x.X, x.size > 0 ? x.size : 1)) status = psdmp_base_no_memory(d->robot->file, d->error);
  if (bytes > d->info->bytes) d->info->bytes = bytes;
  d->info->searched += s->count * s->classes;
  psdmp_base_arena_free(&arena);
  return status;
}

/* ---- systems ---- */

/* Adds a class to the system that searches the same monomials, or to a new one. Too many candidates: all products,
 * which can be solved in blocks. */
static bool add_class(dense *d, int k, int from, const unsigned char *candidate) {
  int first, second;
  psdm_model_class_rates(d->m, k, &first, &second);
  square *s = &d->system[d->systems];
  *s = (square){.count = psdmp_derive_search(&d->space, first, second, candidate, NULL)};
  if (large(s)) candidate = NULL, s->count = psdmp_derive_search(&d->space, first, second, NULL, NULL);
  s->code = PSDMP_BASE_NEW_RAW(&d->arena, s->count, uint64_t);
  if (!s->code) return false;
  psdmp_derive_search(&d->space, first, second, candidate, s->code);
  for (int other = from; other < d->systems; other++)
    if (d->system[other].count == s->count &&
        memcmp(d->system[other].code, s->code, sizeof *s->code * (size_t)s->count) == 0) {
      d->system[other].class_index[d->system[other].classes++] = k;
      return true;
    }
  s->class_index[s->classes++] = k;
  d->systems++;
  return true;
}

/* solves the systems from one on; they get this share of the whole progress, by the cubes of their sizes */
static psdm_status solve_systems(dense *d, int from, double share) {
  double all = 0;
  for (int s = from; s < d->systems; s++) all += pow((double)d->system[s].count + 1, 3);
  for (int s = from; s < d->systems; s++) {
    psdm_status status = d->system[s].count ? solve_system(d, &d->system[s], 100 + (uint64_t)s) : PSDM_OK;
    if (!status) status = step_on(d, share * pow((double)d->system[s].count + 1, 3) / all);
    if (status) return status;
  }
  return PSDM_OK;
}

/* gravity and accelerations first; velocities contain only the accelerations' functions and their derivatives */
static psdm_status find_functions(dense *d) {
  int n = d->m->n, velocities;
  unsigned char *candidate = psdmp_base_arena_alloc(&d->arena, (size_t)d->space.codes);
  if (!candidate) return psdmp_base_no_memory(d->robot->file, d->error);
  for (int k = d->m->gravity > 0 ? 0 : 1; k <= n; k++)
    if (!add_class(d, k, d->systems, NULL)) return psdmp_base_no_memory(d->robot->file, d->error);
  psdm_status status = solve_systems(d, 0, 0.5);
  if (status) return status;
  for (int k = 1; k <= n; k++)
    for (long f = 0; f < d->found[k]; f++) psdmp_derive_search_derivatives(&d->space, d->code[k][f], candidate);
  velocities = d->systems;
  for (int k = n + 1; k < d->m->classes; k++)
    if (!add_class(d, k, velocities, candidate)) return psdmp_base_no_memory(d->robot->file, d->error);
  return solve_systems(d, velocities, 0.2);
}

/* ---- coefficients over the standard parameters: least squares ---- */

/* The rows of one class (equation 32), two states per function: first its coefficients for each parameter set, then for
 * each of the remaining parameters, since they are linear in them. */
typedef struct regression {
  long functions, states, words;
  double *q, *Y, *T, *B; /* B: (states x n sets) torques, then coefficients, column-major */
  double *K, *C;         /* K: (sets x parameters) samples, C: (sets x functions n) coefficients by set */
  double *work;
} regression;

static bool new_regression(dense *d, long functions, psdmp_base_arena *arena, regression *g) {
  int n = d->m->n;
  long states = 2 * functions, second = psdmp_linalg_least_squares_work(d->sets, d->left.count, (int)(functions * n));
  *g = (regression){.functions = functions,
                    .states = states,
                    .words = psdmp_linalg_least_squares_work((int)states, (int)functions, n * d->sets)};
  if (second > g->words) g->words = second;
  g->q = PSDMP_BASE_NEW_RAW(arena, states * n, double);
  g->Y = PSDMP_BASE_NEW_RAW(arena, states * functions, double);
  g->T = PSDMP_BASE_NEW_RAW(arena, states * n * d->sets, double);
  g->B = PSDMP_BASE_NEW_RAW(arena, states * n * d->sets, double);
  g->K = PSDMP_BASE_NEW_RAW(arena, (long)d->sets * d->left.count, double);
  g->C = PSDMP_BASE_NEW_RAW(arena, functions * n * d->sets, double);
  g->work = PSDMP_BASE_NEW_RAW(arena, g->words, double);
  return g->q && g->Y && g->T && g->B && g->K && g->C && g->work;
}

/* from parameter sets to parameters: K x = c for every function and joint */
static bool fit_parameters(const dense *d, const regression *g) {
  int n = d->m->n, S = d->m->standard;
  for (int k = 0; k < d->left.count; k++)
    for (int set = 0; set < d->sets; set++) g->K[(long)k * d->sets + set] = d->pi[(long)set * S + d->left.param[k]];
  for (long f = 0; f < g->functions; f++)
    for (int i = 0; i < n; i++)
      for (int set = 0; set < d->sets; set++)
        g->C[(f * n + i) * d->sets + set] = g->B[((long)i * d->sets + set) * g->states + f];
  return psdmp_linalg_least_squares(d->sets, d->left.count, (int)(g->functions * n), g->K, g->C, g->work, g->words);
}

/* coefficients that are not rounding go to psi; row is the first of this class */
static void store_rows(dense *d, const regression *g, int k, double *row) {
  int n = d->m->n, S = d->m->standard;
  for (long f = 0; f < g->functions; f++) {
    double power = code_unit(d, d->code[k][f]);
    for (int i = 0; i < n; i++)
      for (int e = 0; e < d->left.count; e++) {
        double x = g->C[(f * n + i) * d->sets + e], unit = class_unit(d, k, i) * parameter_unit(d, d->left.param[e]);
        if (judge(d, fabs(x) * unit)) row[(f * n + i) * S + d->left.param[e]] = x / power;
      }
  }
}

static psdm_status fit_class(dense *d, int k, double *row) {
  int n = d->m->n, first, second;
  psdmp_base_arena arena = {.allocator = d->arena.allocator};
  regression g;
  double size = 0;
  psdm_status status =
      new_regression(d, d->found[k], &arena, &g) ? PSDM_OK : psdmp_base_no_memory(d->robot->file, d->error);
  psdm_model_class_rates(d->m, k, &first, &second);
  if (!status) {
    psdmp_derive_source_positions(&d->source, 200 + (uint64_t)k, g.states, g.q);
    if (!fill_monomials(d, g.q, g.states, d->code[k], g.functions, &arena, g.Y))
      status = psdmp_base_no_memory(d->robot->file, d->error);
  }
  if (!status)
    status = psdmp_derive_source_class(&d->source, g.q, g.states, d->pi, d->sets, first, second, g.T, &size, d->error);
  for (long c = 0; c < (long)n * d->sets && !status; c++)
    for (long t = 0; t < g.states; t++) g.B[c * g.states + t] = g.T[t * n * d->sets + c];
  if (!status &&
      !(psdmp_linalg_least_squares((int)g.states, (int)g.functions, n * d->sets, g.Y, g.B, g.work, g.words) &&
        fit_parameters(d, &g)))
    status = psdmp_base_fail(d->error, PSDM_E_LIMIT, d->robot->file, 0, 0,
                             "a system of %ld sampled functions is singular", g.functions);
  if (!status) store_rows(d, &g, k, row);
  psdmp_base_arena_free(&arena);
  return status;
}

static psdm_status fit_classes(dense *d) {
  int n = d->m->n;
  long functions = 0, row = 0;
  double all = 0;
  for (int k = 0; k < d->m->classes; k++) functions += d->found[k], all += pow((double)d->found[k], 2);
  d->psi = psdmp_base_arena_alloc(&d->arena, sizeof *d->psi * (size_t)(functions * n + 1) * (size_t)d->m->standard);
  if (!d->psi) return psdmp_base_no_memory(d->robot->file, d->error);
  for (int k = 0; k < d->m->classes; row += d->found[k++] * n) {
    psdm_status status = d->found[k] ? fit_class(d, k, d->psi + row * d->m->standard) : PSDM_OK;
    if (!status && d->found[k]) status = step_on(d, 0.3 * pow((double)d->found[k], 2) / all);
    if (status) return status;
  }
  return PSDM_OK;
}

/* ---- the model ---- */

static bool fill_model(dense *d) {
  psdm_model *m = d->m;
  int n = m->n, S = m->standard;
  long functions = 0, entries = 0, at = 0, row = 0;
  for (int k = 0; k < m->classes; k++) functions += d->found[k];
  for (long e = 0; e < functions * n * S; e++) entries += d->psi[e] != 0;
  m->code = PSDMP_BASE_NEW_RAW(&m->arena, functions, uint64_t);
  m->P_start = PSDMP_BASE_NEW_RAW(&m->arena, functions + 1, long);
  m->P = PSDMP_BASE_NEW_RAW(&m->arena, entries, psdmp_model_entry);
  if (!m->code || !m->P_start || !m->P) return false;
  for (int k = 0; k < m->classes; k++) {
    m->class_start[k] = m->p;
    for (long f = 0; f < d->found[k]; f++) {
      m->P_start[m->p] = at;
      for (int i = 0; i < n; i++, row++)
        for (int e = 0; e < S; e++)
          if (d->psi[row * S + e] != 0)
            m->P[at++] = (psdmp_model_entry){d->psi[row * S + e], (unsigned short)i, (unsigned short)e};
      if (at > m->P_start[m->p]) m->code[m->p++] = d->code[k][f];
    }
  }
  m->class_start[m->classes] = m->p;
  m->P_start[m->p] = at;
  return true;
}

/* base parameters from all rows of coefficients, in units of the reach */
static psdm_status reduce(dense *d) {
  int n = d->m->n, S = d->m->standard;
  long functions = 0, row = 0;
  for (int k = 0; k < d->m->classes; k++) functions += d->found[k];
  double *psi = PSDMP_BASE_NEW_RAW(&d->arena, functions * n * S, double);
  if (!psi) return psdmp_base_no_memory(d->robot->file, d->error);
  for (int k = 0; k < d->m->classes; k++)
    for (long f = 0; f < d->found[k]; f++)
      for (int i = 0; i < n; i++, row++) {
        double unit = class_unit(d, k, i) * code_unit(d, d->code[k][f]);
        for (int e = 0; e < S; e++) psi[row * S + e] = d->psi[row * S + e] * unit * parameter_unit(d, e);
      }
  return psdmp_derive_dense_reduce(d->robot, d->source.reach, psi, functions * n, d->m, d->info, d->error);
}

/* ---- all together ---- */

/* parameters left by assumptions, and random sets that satisfy them: somewhat more than parameters, for a
 * well-conditioned fit */
static psdm_status set_parameters(dense *d) {
  int S = d->m->standard;
  psdm_status status = psdmp_derive_restriction_set(d->robot, d->options, &d->arena, &d->left, d->error);
  if (status) return status;
  d->m->combined = d->left.B != NULL;
  if (!d->left.B) {
    d->left = (psdmp_derive_restriction){.count = S, .param = PSDMP_BASE_NEW_RAW(&d->arena, S, int)};
    for (int k = 0; d->left.param && k < S; k++) d->left.param[k] = k;
  }
  d->sets = d->left.count + 10;
  d->pi = PSDMP_BASE_NEW_RAW(&d->arena, (long)d->sets * S, double);
  if (!d->left.param || !d->pi) return psdmp_base_no_memory(d->robot->file, d->error);
  for (int set = 0; set < d->sets && !status; set++)
    status = psdmp_derive_sample_assumed(d->robot, d->options, 1000 + (uint64_t)set, &d->arena, d->pi + (long)set * S,
                                         d->error);
  return status;
}

psdm_status psdmp_derive_dense(const psdm_robot *r, const psdm_derive_options *options, psdm_model *m,
                               psdm_derive_info *info, psdm_error *error) {
  if (r->coupled)
    return psdmp_base_fail(error, PSDM_E_ROBOT, r->file, 0, 0,
                           "a joint follows others; the dense method is for robots whose joints are all independent");
  if (r->n > PSDMP_DERIVE_DENSE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d joints; the dense method is for at most %d (the exact one for more)", r->n,
                           PSDMP_DERIVE_DENSE_JOINTS);
  if (psdmp_linalg_blas_room(error)) return PSDM_E_MEMORY;
  dense d = {
      .robot = r, .options = options, .m = m, .info = info, .error = error, .arena = {.allocator = m->arena.allocator}};
  info->kept = INFINITY;
  psdmp_derive_source_set(r, options, m->arena.allocator, &d.source);
  psdmp_derive_space_set(r, m, &d.space);
  d.system = PSDMP_BASE_NEW_RAW(&d.arena, m->classes, square);
  psdm_status status = d.system ? set_parameters(&d) : psdmp_base_no_memory(d.robot->file, d.error);
  if (!status) status = find_functions(&d);
  if (!status) status = fit_classes(&d);
  if (!status && !fill_model(&d)) status = psdmp_base_no_memory(d.robot->file, d.error);
  if (!status) status = reduce(&d);
  psdmp_base_arena_free(&d.arena);
  return status;
}
