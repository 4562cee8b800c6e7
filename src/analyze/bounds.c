/* bounds.c: rigorous bounds on ||M||, ||S|| and |g| over the joints' ranges, and the largest values found.
 * docs/analyze.md has the proofs. */
#include <math.h>
#include <string.h>

#include "reduce/reduce.h"
#include "linalg/linalg.h"
#include "analyze/survey_priv.h"

enum { SAMPLES = 400, STARTS = 3 };
static const long default_points = 2000000, most_samples = 4000000000; /* counts have 32 bits */
static const double tolerance = 1e-3;
/* of a bound, added to it: well above rounding of recursions and eigenvalues */
static const double rounding = 1e-9;
static const double pi = 3.14159265358979324;

struct psdmp_analyze_bounds {
  psdmp_base_arena arena;
};

/* the five problems; f is maximised */
typedef enum question { MASS, CORIOLIS, GRAVITY, SMALL, LEAST, QUESTIONS } question;

typedef struct bounder {
  const psdm_robot *robot;
  const psdm_bounds_options *options;
  const psdm_allocator *allocator;
  psdmp_base_arena *arena;
  psdm_model *model;
  int n;
  bool solid;   /* every link's kinetic energy is that of a body: M is not negative */
  double floor; /* no eigenvalue of M is below this */
  double gravity;
  double *theta, *scale;      /* (l), (n) square roots of M's mean diagonal */
  psdmp_analyze_range *range; /* (n) */
  psdmp_analyze_norms norms;
  psdmp_analyze_heights spread[QUESTIONS];
  double *sample; /* (SAMPLES x n) */
  double *f;      /* (SAMPLES) of the current problem */
  double softest; /* least eigenvalue of the scaled M found */
  double *sum;    /* (n x n) */
  double enough;  /* corners with a smaller ||S|| need no sharper bound */
  question question;
  uint64_t state;
  long points;
  bool stopped;
  psdmp_reduce_monte *program; /* of the samples on a GPU */
} bounder;

/* ---- positions ---- */

static psdm_status set_range(bounder *b, const psdm_joint *joint, psdm_error *error) {
  psdmp_analyze_range *r = &b->range[joint->q];
  double lower = b->options->lower ? b->options->lower[joint->q] : joint->limits.lower,
         upper = b->options->upper ? b->options->upper[joint->q] : joint->limits.upper;
  r->slides = joint->type == PSDM_PRISMATIC;
  if (isnan(lower) || isnan(upper) || lower > upper) {
    char name[64];
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "joint '%s': no position lies between its limits",
                           psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name));
  }
  bool limited = isfinite(lower) && isfinite(upper);
  if (limited && (r->slides || upper - lower < 2 * pi)) {
    r->lower = lower;
    r->upper = upper;
  } else if (r->slides) {
    r->unlimited = true;
  } else {
    r->lower = -pi;
    r->upper = pi;
  }
  return PSDM_OK;
}

static psdm_status set_ranges(bounder *b, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < psdm_robot_joints(b->robot) && !status; k++)
    if (psdm_robot_joint(b->robot, k)->q >= 0) status = set_range(b, psdm_robot_joint(b->robot, k), error);
  return status;
}

/* ---- M is not negative if every link has mass and moments of inertia about its centre that are not ---- */

static bool solid_body(const double *pi10) {
  double m = pi10[0], size = fabs(pi10[4]) + fabs(pi10[7]) + fabs(pi10[9]), c[3], I[6], eigen[3];
  if (m < 0) return false;
  for (int i = 0; i < 3; i++) c[i] = m > 0 ? pi10[1 + i] / m : 0;
  if (m == 0 && (pi10[1] != 0 || pi10[2] != 0 || pi10[3] != 0)) return false;
  static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  for (int k = 0; k < 6; k++) I[k] = pi10[4 + k] - m * ((row[k] == column[k] ? square : 0) - c[row[k]] * c[column[k]]);
  psdmp_linalg_eigenvalues3(I, eigen);
  return eigen[0] >= -1e-12 * size;
}

static bool solid(const psdm_robot *robot, const double *parameters) {
  psdm_body body;
  for (int k = 0; psdm_robot_body(robot, k, &body); k++)
    if (!solid_body(body.pi)) return false;
  for (int k = 10 * psdm_robot_links(robot); k < psdm_robot_parameter_count(robot); k++)
    if (parameters[k] < 0) return false;
  return true;
}

/* ---- values at a position, and between positions ---- */

static const double *eigen_of_mass(bounder *b) {
  size_t square = (size_t)b->n * (size_t)b->n;
  memcpy(b->norms.copy, b->norms.M, sizeof(double) * square);
  return psdmp_analyze_norms_eigen(&b->norms, b->norms.copy);
}

static double size_of_mass(bounder *b) {
  const double *eigen = eigen_of_mass(b);
  return fmax(eigen[b->n - 1], -eigen[0]);
}

/* least eigenvalue of diag(1/scale) M diag(1/scale) */
static double softness(bounder *b) {
  for (int i = 0; i < b->n; i++)
    for (int j = 0; j < b->n; j++) b->norms.copy[i * b->n + j] = b->norms.M[i * b->n + j] / (b->scale[i] * b->scale[j]);
  return psdmp_analyze_norms_eigen(&b->norms, b->norms.copy)[0];
}

static void values_at(void *user, const double *q, double *values) {
  bounder *b = user;
  if (b->question == GRAVITY) {
    values[0] = psdmp_analyze_norms_gravity(&b->norms, q);
  } else if (b->question == CORIOLIS) {
    psdmp_analyze_norms_coriolis(&b->norms, q);
    values[0] = psdmp_analyze_norms_coriolis_bound(&b->norms, b->enough);
  } else {
    psdmp_analyze_norms_mass(&b->norms, q);
    if (b->question == SMALL) memcpy(values, b->norms.M, sizeof *values * (size_t)b->n * (size_t)b->n);
    else values[0] = b->question == MASS ? size_of_mass(b) : eigen_of_mass(b)[0];
    if (b->question == LEAST) values[1] = softness(b);
  }
}

static double highest(int corners, const double *values, double error) {
  double most = -INFINITY;
  for (int c = 0; c < corners; c++) most = fmax(most, values[c]);
  return most + error;
}

/* M >= M_corners - error scale^2 >= (1 - error / softness) M_corners, of which the least eigenvalue is concave */
static double least_between(const bounder *b, int corners, const double *values, double error) {
  double least = INFINITY;
  for (int c = 0; c < corners; c++) {
    double eigenvalue = values[2 * c], soft = values[2 * c + 1];
    least = fmin(least, error == 0 ? eigenvalue : soft > error ? (1 - error / soft) * eigenvalue : b->floor);
  }
  return -least;
}

static double quadratic(int n, const double *M, const double *u) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += u[i] * M[i * n + j] * u[j];
  return sum;
}

/* ||M|| >= u^T M u for any unit u: one that is nearly the best for all corners, by power iteration on their sum */
static double small_between(bounder *b, int corners, const double *values, double error) {
  int n = b->n;
  double *u = b->norms.vector[0], *next = b->norms.vector[1], least = INFINITY;
  memset(b->sum, 0, sizeof *b->sum * (size_t)n * (size_t)n);
  for (int c = 0; c < corners; c++)
    for (int x = 0; x < n * n; x++) b->sum[x] += values[(long)c * n * n + x];
  int top = 0;
  for (int i = 1; i < n; i++)
    if (b->sum[i * n + i] > b->sum[top * n + top]) top = i;
  for (int i = 0; i < n; i++) u[i] = b->sum[i * n + top];
  for (int round = 0; round < 30; round++) {
    double size = 0;
    for (int i = 0; i < n; i++) {
      next[i] = 0;
      for (int j = 0; j < n; j++) next[i] += b->sum[i * n + j] * u[j];
      size += next[i] * next[i];
    }
    if (!(size > 0)) return 0;
    for (int i = 0; i < n; i++) u[i] = next[i] / sqrt(size);
  }
  for (int c = 0; c < corners; c++) least = fmin(least, quadratic(n, values + (long)c * n * n, u));
  return -fmax(least - error, 0);
}

static double bound_between(void *user, int corners, const double *values, double error) {
  bounder *b = user;
  if (b->question == LEAST) return least_between(b, corners, values, error);
  if (b->question == SMALL) return small_between(b, corners, values, error);
  return highest(corners, values, error);
}

/* value of a position; for S the value found, not its bound */
static double f_at(void *user, const double *q) {
  bounder *b = user;
  if (b->question == GRAVITY) return psdmp_analyze_norms_gravity(&b->norms, q);
  if (b->question == CORIOLIS) {
    psdmp_analyze_norms_coriolis(&b->norms, q);
    return psdmp_analyze_norms_coriolis_found(&b->norms, NULL);
  }
  psdmp_analyze_norms_mass(&b->norms, q);
  return b->question == MASS ? size_of_mass(b) : b->question == SMALL ? -size_of_mass(b) : -eigen_of_mass(b)[0];
}

/* ---- values found ---- */

static void draw(bounder *b) {
  for (int k = 0; k < SAMPLES; k++)
    for (int j = 0; j < b->n; j++)
      b->sample[k * b->n + j] = psdmp_base_random(&b->state, b->range[j].lower, b->range[j].upper);
}

/* after a stop unchanged: climbing takes seconds */
static void keep_better(bounder *b, double *q, double *f, double *best_q) {
  double x = b->stopped ? f_at(b, q) : psdmp_analyze_climb(b->n, b->range, f_at, b, q);
  if (!(x > *f)) return;
  *f = x;
  memcpy(best_q, q, sizeof *q * (size_t)b->n);
}

typedef struct asked {
  bounder *b;
  double done;
} asked;

/* shares of positions and time per problem; samples, if any, take half of all time */
static const double share_of[QUESTIONS] = {
    [MASS] = 0.4, [CORIOLIS] = 0.05, [GRAVITY] = 0.3, [SMALL] = 0.1, [LEAST] = 0.15};
static const double time_of[QUESTIONS] = {
    [MASS] = 0.2, [CORIOLIS] = 0.4, [GRAVITY] = 0.1, [SMALL] = 0.1, [LEAST] = 0.2};

static bool ask(void *user, const char *doing, double share) {
  asked *a = user;
  double all = a->done + time_of[a->b->question] * share;
  return a->b->options->progress(a->b->options->progress_user, doing, a->b->options->samples ? all / 2 : all);
}

/* climbs from the best samples; after a stop the best of a few */
static double look_around(asked *a, double *q, double *best_q) {
  bounder *b = a->b;
  double best = -INFINITY;
  for (int k = 0; k < SAMPLES; k++) {
    if (k % 8 == 0 && b->options->progress && !b->stopped) b->stopped = !ask(a, "bounds", 0);
    b->f[k] = b->stopped && k >= 8 ? -INFINITY : f_at(b, b->sample + (long)k * b->n);
  }
  for (int start = 0; start < (b->stopped ? 1 : STARTS); start++) {
    int top = 0;
    for (int k = 1; k < SAMPLES; k++)
      if (b->f[k] > b->f[top]) top = k;
    b->f[top] = -INFINITY;
    memcpy(q, b->sample + (long)top * b->n, sizeof *q * (size_t)b->n);
    keep_better(b, q, &best, best_q);
    if (b->options->progress && !b->stopped) b->stopped = !ask(a, "bounds", 0);
  }
  return best;
}

/* ---- bounds proved ---- */

/* joints with little effect are held fixed, and their possible contribution is the slack; limits the number searched */
static void choose_joints(bounder *b, psdmp_analyze_box_search *s, double reference) {
  const psdmp_analyze_heights *spread = &b->spread[b->question];
  bool held[PSDM_MAX_JOINTS] = {false};
  int free_joints = b->n;
  for (;;) {
    int least = -1;
    for (int j = 0; j < b->n; j++)
      if (!held[j] && (least < 0 || spread->swing[j] < spread->swing[least])) least = j;
    if (least < 0) break;
    double added = b->range[least].upper > b->range[least].lower ? 2 * spread->swing[least] : 0;
    if (s->slack + added > tolerance / 4 * reference && free_joints <= PSDMP_ANALYZE_SEARCH_JOINTS) break;
    s->slack += added;
    held[least] = true;
    free_joints--;
  }
  for (int j = 0; j < b->n; j++) {
    if (held[j] || !(b->range[j].upper > b->range[j].lower)) continue;
    s->joint[s->d] = j;
    s->lower[s->d] = b->range[j].lower;
    s->upper[s->d] = b->range[j].upper;
    s->bend[s->d++] = spread->bend[j];
  }
}

static psdm_status answer(bounder *b, question which, psdm_bound *out, psdm_error *error) {
  size_t row = sizeof(double) * (size_t)b->n;
  double *q = psdmp_base_arena_alloc(b->arena, row), *best_q = psdmp_base_arena_alloc(b->arena, row),
         *search_q = psdmp_base_arena_alloc(b->arena, row);
  double *qd = which == CORIOLIS ? psdmp_base_arena_alloc(b->arena, row) : NULL;
  if (!q || !best_q || !search_q || (which == CORIOLIS && !qd)) return psdmp_base_no_memory("", error);
  asked a = {.b = b};
  for (int k = 0; k < (int)which; k++) a.done += time_of[k];
  b->question = which;
  double f = look_around(&a, q, best_q);
  psdmp_analyze_box_search s = {.n = b->n,
                                .q = q,
                                .best_q = search_q,
                                .at = values_at,
                                .bound = bound_between,
                                .user = b,
                                .tolerance = tolerance,
                                .points = (long)(share_of[which] * (double)b->points)};
  s.width = which == SMALL ? b->n * b->n : which == LEAST ? 2 : 1;
  if (b->options->progress) s.progress = ask, s.progress_user = &a;
  memcpy(q, best_q, row);
  choose_joints(b, &s, which == LEAST ? b->softest : fabs(f));
  b->enough = 0.7 * f;
  if (b->stopped) s.points = 0;
  if (!psdmp_analyze_box_search_run(&s, b->allocator)) return psdmp_base_no_memory("", error);
  b->stopped = b->stopped || s.stopped;
  keep_better(b, search_q, &f, best_q);
  /* rounding may put the value found above the bound */
  double top = fmax(fmin(s.top, which < SMALL ? b->spread[which].all : INFINITY), f);
  if (which == CORIOLIS) {
    psdmp_analyze_norms_coriolis(&b->norms, best_q);
    psdmp_analyze_norms_coriolis_found(&b->norms, qd);
  }
  top += rounding * fabs(top);
  *out = (psdm_bound){.bound = which < SMALL ? top : -top, .found = which < SMALL ? f : -f, .q = best_q, .qd = qd};
  return PSDM_OK;
}

/* ---- preparation ---- */

/* M's mean diagonal as a scale, and the least eigenvalue of M with it */
static void measure(bounder *b, double *largest) {
  int n = b->n;
  for (int k = 0; k < SAMPLES; k++) {
    psdmp_analyze_norms_mass(&b->norms, b->sample + (long)k * n);
    for (int i = 0; i < n; i++) b->scale[i] += fmax(b->norms.M[i * n + i], 0) / SAMPLES;
  }
  for (int i = 0; i < n; i++) b->scale[i] = b->scale[i] > 0 ? sqrt(b->scale[i]) : 1;
  b->softest = INFINITY;
  for (int k = 0; k < SAMPLES; k++) {
    const double *q = b->sample + (long)k * n;
    psdmp_analyze_norms_mass(&b->norms, q);
    b->softest = fmin(b->softest, fmax(softness(b), 0));
    if (k >= 40) continue; /* a few suffice to rank the joints */
    psdmp_analyze_norms_coriolis(&b->norms, q);
    for (int j = 0; j < n; j++)
      for (int x = 0; x < n * n; x++) largest[j] += b->norms.S[(long)j * n * n + x] * b->norms.S[(long)j * n * n + x];
  }
}

static psdm_status spread_of(bounder *b, question which, psdmp_analyze_series_part part, const double *scale,
                             double factor) {
  psdmp_analyze_heights *s = &b->spread[which];
  psdm_status status =
      psdmp_analyze_heights_make(b->arena, b->model, b->theta, b->gravity, b->range, part, scale, &b->norms, s);
  s->all *= factor;
  for (int j = 0; j < b->n && !status; j++) {
    s->bend[j] *= factor;
    s->swing[j] *= factor;
    /* kinetic energy is a convex parabola in a prismatic joint's position: largest at an end */
    if (which == MASS && b->solid && b->range[j].slides) s->bend[j] = 0;
  }
  return status;
}

static psdm_status spreads(bounder *b, psdm_error *error) {
  psdm_status status = spread_of(b, MASS, PSDMP_ANALYZE_MASS, NULL, 1);
  if (!status) status = spread_of(b, SMALL, PSDMP_ANALYZE_MASS, NULL, 1);
  if (!status) status = spread_of(b, LEAST, PSDMP_ANALYZE_MASS, b->scale, 1);
  if (!status) status = spread_of(b, CORIOLIS, PSDMP_ANALYZE_CORIOLIS, NULL, b->norms.net_factor);
  if (!status) status = spread_of(b, GRAVITY, PSDMP_ANALYZE_GRAVITY, NULL, 1);
  if (status == PSDM_E_LIMIT)
    return psdmp_base_fail(error, status, "", 0, 0, "%d joints have too many functions for bounds", b->n);
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

static psdm_status prepare(bounder *b, psdm_error *error) {
  int n = b->n;
  size_t row = sizeof(double) * (size_t)n;
  double *parameters = psdmp_base_arena_alloc(b->arena, sizeof(double) * (size_t)psdm_robot_parameter_count(b->robot)),
         *largest = psdmp_base_arena_alloc(b->arena, row);
  b->theta = psdmp_base_arena_alloc(b->arena, sizeof(double) * ((size_t)psdm_model_l(b->model) + 1));
  b->scale = psdmp_base_arena_alloc(b->arena, row);
  b->sample = psdmp_base_arena_alloc(b->arena, SAMPLES * row);
  b->f = psdmp_base_arena_alloc(b->arena, SAMPLES * sizeof(double));
  b->sum = psdmp_base_arena_alloc(b->arena, row * (size_t)n);
  if (!parameters || !largest || !b->theta || !b->scale || !b->sample || !b->f || !b->sum ||
      !psdmp_analyze_norms_make(b->arena, b->robot, &b->norms))
    return psdmp_base_no_memory("", error);
  psdm_robot_parameters(b->robot, parameters);
  psdm_model_theta(b->model, parameters, b->theta);
  b->solid = solid(b->robot, parameters);
  draw(b);
  measure(b, largest);
  if (!psdmp_analyze_norms_net(b->arena, &b->norms, largest)) return psdmp_base_no_memory("", error);
  return spreads(b, error);
}

/* ---- further bounds ---- */

/* ||M|| >= any M_ii */
static psdm_status least_diagonal(bounder *b, double *least) {
  psdm_status status = PSDM_OK;
  double x;
  for (int i = 0; i < b->n && !status; i++) {
    status = psdmp_analyze_heights_diagonal(b->allocator, b->model, b->theta, b->range, i, &x);
    *least = fmax(*least, x * (1 - rounding));
  }
  return status;
}

/* M is at least the drives' part */
static double least_of_drives(bounder *b) {
  psdm_robot_drive_mass(b->robot, b->norms.copy);
  return fmax(psdmp_analyze_norms_eigen(&b->norms, b->norms.copy)[0], 0) * (1 - rounding);
}

static psdm_status complete(bounder *b, psdm_bounds *out, psdm_error *error) {
  out->k[2] = b->spread[MASS].growth[1] * (1 + rounding);
  out->k[3] = b->spread[MASS].growth[2] * (1 + rounding);
  out->k[5] = b->spread[CORIOLIS].growth[1] * (1 + rounding);
  out->coriolis_square = b->spread[CORIOLIS].growth[2] * (1 + rounding);
  out->k[7] = b->spread[GRAVITY].growth[1] * (1 + rounding);
  bool grows = b->spread[MASS].growth[1] > 0 || b->spread[MASS].growth[2] > 0; /* with a sliding joint without limits */
  if (grows) out->mass_small.bound = 0;
  if (grows) out->mass_least.bound = b->solid ? 0 : -INFINITY;
  if (b->solid) out->mass_least.bound = fmax(out->mass_least.bound, fmin(least_of_drives(b), out->mass_least.found));
  psdm_status status = least_diagonal(b, &out->mass_small.bound);
  out->mass_small.bound = fmin(out->mass_small.bound, out->mass_small.found);
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

static void set_constants(const bounder *b, psdm_bounds *out) {
  out->k[0] = out->mass_small.bound;
  out->k[1] = out->mass.bound;
  out->k[4] = out->coriolis.bound;
  out->k[6] = out->gravity.bound;
  out->stopped = b->stopped;
}

/* ---- samples: the distribution, and a test of the bounds ---- */

/* the sampled quantity of each problem, and which end of it */
static const struct {
  psdmp_analyze_quantity quantity;
  int end;
} about[QUESTIONS] = {[MASS] = {PSDMP_ANALYZE_OF_MASS, 1},
                      [CORIOLIS] = {PSDMP_ANALYZE_OF_CORIOLIS, 1},
                      [GRAVITY] = {PSDMP_ANALYZE_OF_GRAVITY, 1},
                      [SMALL] = {PSDMP_ANALYZE_OF_MASS, 0},
                      [LEAST] = {PSDMP_ANALYZE_OF_LEAST, 0}};

/* Possible error of a value, beyond the 10^-9 added to a bound: rounding of sums. Eigenvalues err by this share of
 * ||M||; a power is at most |gravity| sqrt(all mass) sqrt(qd^T M qd) (Cauchy and Schwarz), so that |g| is at most
 * |gravity| sqrt(all mass ||M||). */
static double rounding_of(const bounder *b, question which, const psdm_bounds *out) {
  const double part = 1e-12;
  double mass = 0, size = out->mass.bound;
  psdm_body body;
  for (int k = 0; psdm_robot_body(b->robot, k, &body); k++) mass += fabs(body.pi[0]);
  if (which == GRAVITY) size = b->gravity * sqrt(mass * out->mass.bound) + out->gravity.bound;
  if (which == CORIOLIS) size += out->coriolis.bound;
  return part * size;
}

static bool survey_goes_on(void *user, const char *doing, double share) {
  bounder *b = user;
  b->stopped = b->stopped || !b->options->progress(b->options->progress_user, doing, 0.5 + share / 2);
  return !b->stopped;
}

/* climbs from the best samples; for S also with the sample's own velocities */
static psdm_status climb_from(bounder *b, question which, const psdmp_analyze_survey *s, psdm_bound *out,
                              psdm_error *error) {
  size_t row = sizeof(double) * (size_t)b->n;
  double *q = psdmp_base_arena_alloc(b->arena, row), *qd = psdmp_base_arena_alloc(b->arena, row),
         *best_q = psdmp_base_arena_alloc(b->arena, row), *best_qd = psdmp_base_arena_alloc(b->arena, row);
  if (!q || !qd || !best_q || !best_qd) return psdmp_base_no_memory("", error);
  double sign = about[which].end ? 1 : -1, before = sign * out->found, f = before;
  b->question = which;
  for (int k = 0; k < s->kept; k++) {
    psdmp_analyze_survey_draw(psdmp_analyze_survey_state(b->options->seed), b->n, b->range,
                              s->end[about[which].quantity][about[which].end][k].number, q, qd);
    for (int j = 0; j < b->n; j++) q[j] = fmin(fmax(q[j], b->range[j].lower), b->range[j].upper);
    double own = which == CORIOLIS ? psdmp_analyze_norms_coriolis_at(&b->norms, q, qd) : -INFINITY;
    if (own > f) {
      f = own;
      memcpy(best_q, q, row), memcpy(best_qd, qd, row);
    }
    double higher = f;
    keep_better(b, q, &higher, best_q);
    if (higher > f && which == CORIOLIS) {
      psdmp_analyze_norms_coriolis(&b->norms, best_q);
      psdmp_analyze_norms_coriolis_found(&b->norms, best_qd);
    }
    f = higher;
  }
  if (!(f > before)) return PSDM_OK;
  out->found = sign * f, out->q = best_q, out->qd = which == CORIOLIS ? best_qd : NULL;
  return PSDM_OK;
}

static psdm_samples samples_of(const psdmp_analyze_survey *s, question which) {
  psdmp_analyze_quantity k = about[which].quantity;
  return (psdm_samples){.least = s->end[k][0][0].value,
                        .largest = s->end[k][1][0].value,
                        .half = psdmp_analyze_survey_quantile(s, k, 0.5),
                        .most = psdmp_analyze_survey_quantile(s, k, 0.95),
                        .nearly_all = psdmp_analyze_survey_quantile(s, k, 0.999),
                        .beyond = s->beyond[k][about[which].end]};
}

/* counts a value that exceeds a bound; one that exceeds it by rounding is set to it */
static void hold_against(psdm_bound *x, question which, double allowance) {
  double sign = about[which].end ? 1 : -1, excess = sign * (x->found - x->bound);
  if (excess > allowance) x->at_samples.beyond++;
  else if (excess > 0) x->bound = x->found;
}

static psdm_status survey(bounder *b, psdm_bound *const where[QUESTIONS], psdm_bounds *out, psdm_error *error) {
  const psdm_bounds_options *o = b->options;
  psdmp_analyze_survey_aim aim = {.robot = b->robot,
                                  .range = b->range,
                                  .seed = o->seed,
                                  .samples = o->samples,
                                  .threads = o->threads,
                                  .ranks = o->ranks,
                                  .allocator = b->allocator};
  psdmp_analyze_survey *s = NULL;
  double began = psdmp_base_clock();
  if (o->progress) aim.progress = survey_goes_on, aim.progress_user = b;
  for (int k = 0; k < PSDMP_ANALYZE_QUANTITIES; k++) aim.limit[k][0] = -INFINITY, aim.limit[k][1] = INFINITY;
  for (int k = 0; k < QUESTIONS; k++)
    aim.limit[about[k].quantity][about[k].end] =
        where[k]->bound + (about[k].end ? 1 : -1) * rounding_of(b, (question)k, out);
  psdm_status status =
      b->program ? psdmp_analyze_survey_cuda(&aim, b->program, &s, error) : psdmp_analyze_survey_run(&aim, &s, error);
  out->samples = s ? s->samples : 0;
  out->samples_seconds = psdmp_base_clock() - began;
  for (int k = 0; k < QUESTIONS && !status && s->samples; k++) {
    where[k]->at_samples = samples_of(s, (question)k);
    status = climb_from(b, (question)k, s, where[k], error);
    if (!status) hold_against(where[k], (question)k, rounding_of(b, (question)k, out));
  }
  psdmp_analyze_survey_free(s, b->allocator);
  return status;
}

static psdm_status fill(bounder *b, psdm_bounds *out, psdm_error *error) {
  psdm_bound *const where[QUESTIONS] = {[MASS] = &out->mass,
                                        [CORIOLIS] = &out->coriolis,
                                        [GRAVITY] = &out->gravity,
                                        [SMALL] = &out->mass_small,
                                        [LEAST] = &out->mass_least};
  psdm_status status = set_ranges(b, error);
  if (!status && b->options->samples && b->options->cuda)
    status = psdmp_analyze_survey_program(b->robot, b->options->nvcc, b->allocator, &b->program, error);
  if (!status) status = psdm_model_derive(b->robot, NULL, b->allocator, &b->model, NULL, error);
  if (!status) status = prepare(b, error);
  if (!status && b->norms.status)
    status = psdmp_base_fail(error, b->norms.status, "", 0, 0, "%s", psdm_status_text(b->norms.status));
  for (int k = 0; k < QUESTIONS && !status; k++) {
    status = answer(b, (question)k, where[k], error);
    b->floor = b->solid ? 0 : -out->mass.bound;
  }
  if (!status && b->norms.status)
    status = psdmp_base_fail(error, b->norms.status, "", 0, 0, "%s", psdm_status_text(b->norms.status));
  if (!status) status = complete(b, out, error);
  if (!status && b->options->samples && !b->stopped) status = survey(b, where, out, error);
  if (!status && b->norms.status)
    status = psdmp_base_fail(error, b->norms.status, "", 0, 0, "%s", psdm_status_text(b->norms.status));
  if (!status) set_constants(b, out);
  psdm_model_free(b->model);
  return status;
}

/* ---- the public functions ---- */

static psdm_status check_options(const psdm_robot *robot, const psdm_bounds_options *o, psdm_error *error) {
  if (o->samples < 0 || o->samples > most_samples)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "the number of samples must lie between 0 and 4e9");
  return psdm_robot_ready(robot, error);
}

/* a rank other than 0 takes its part of the samples, if any */
static psdm_status help_rank_0(bounder *b, psdm_error *error) {
  psdm_error own = {0};
  psdmp_analyze_survey_aim aim = {.robot = b->robot,
                                  .range = b->range,
                                  .threads = b->options->threads,
                                  .ranks = b->options->ranks,
                                  .allocator = b->allocator};
  psdm_status status = b->range ? set_ranges(b, &own) : psdmp_base_no_memory("", &own);
  if (!status) return psdmp_analyze_survey_help(&aim, error);
  psdmp_parallel_team_refuse(b->options->ranks, &own);
  if (error) *error = own;
  return status;
}

static bool shares_samples(const psdm_bounds_options *o) {
  return o->samples && !o->cuda && psdmp_parallel_team_size(o->ranks) > 1;
}

psdm_status psdm_bounds_new(const psdm_robot *robot, const psdm_bounds_options *options,
                            const psdm_allocator *allocator, psdm_bounds **bounds, psdm_error *error) {
  static const psdm_bounds_options none = {0};
  const psdm_bounds_options *o = options ? options : &none;
  double start = psdmp_base_clock();
  bool helps = psdmp_parallel_team_member(o->ranks);
  *bounds = NULL;
  psdm_status status = check_options(robot, o, error);
  if (status || (helps && !shares_samples(o))) return status;
  if (psdmp_linalg_blas_room(error)) return psdmp_parallel_team_unable(o->ranks, error);
  const double *g = psdm_robot_gravity(robot);
  psdm_bounds *out = psdmp_base_alloc(allocator, sizeof *out);
  if (out) out->internal = psdmp_base_alloc(allocator, sizeof *out->internal);
  if (!out || !out->internal) {
    psdmp_base_free(allocator, out);
    return psdmp_parallel_team_unable(shares_samples(o) ? o->ranks : NULL, error);
  }
  out->internal->arena.allocator = allocator;
  out->n = psdm_robot_n(robot);
  bounder b = {.robot = robot, .options = o, .allocator = allocator, .arena = &out->internal->arena, .n = out->n};
  b.gravity = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  b.points = o->points > 0 ? o->points : default_points;
  b.state = o->seed;
  b.range = psdmp_base_arena_alloc(b.arena, sizeof *b.range * (size_t)out->n);
  status = helps ? help_rank_0(&b, error) : b.range ? fill(&b, out, error) : psdmp_base_no_memory("", error);
  if (shares_samples(o) && !helps) psdmp_parallel_team_dismiss(o->ranks);
  psdmp_reduce_monte_free(b.program);
  if (status || helps) {
    psdm_bounds_free(out);
    return status;
  }
  out->seconds = psdmp_base_clock() - start;
  *bounds = out;
  return PSDM_OK;
}

void psdm_bounds_free(psdm_bounds *bounds) {
  if (!bounds) return;
  const psdm_allocator *allocator = bounds->internal->arena.allocator;
  psdmp_base_arena_free(&bounds->internal->arena);
  psdmp_base_free(allocator, bounds->internal);
  psdmp_base_free(allocator, bounds);
}
