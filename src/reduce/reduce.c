/* reduce.c: which functions of a model matter over a profile, and the smallest model that is good enough (Lloyd,
 * Irani, Ahmadi 2021, section 4.3). */
#include "reduce/monte.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "robot/robot.h"

enum {
  SAMPLES = 1000000,      /* that verify */
  CONTRIBUTIONS = 100000, /* that rank, as in the paper */
  SELECT_LEAST = 30000,   /* that a size is chosen with: its quantile is then good to a percent or two */
  SELECT_MOST = 100000,
  TAIL = 1500, /* states beyond the quantile that are wanted among them */
  ROUNDS = 12  /* of verification, each a little larger */
};

#define WHOLE 0.85 /* share of the error that goes into leaving out whole functions */

/* listed states are what there is */
static long at_most(const psdm_reducer *r, long count) {
  long listed = r->options.profile.count;
  return listed > 0 && listed < count ? listed : count;
}

/* ---- contributions ---- */

static psdm_status find_contributions(psdm_reducer *r, psdm_error *error) {
  return psdmp_reduce_rank(r, at_most(r, r->options.contributions), error);
}

/* ---- the ranking ---- */

typedef struct ranked {
  long function;
  double mean;
  bool first; /* before all that are not */
} ranked;

static int by_rank(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->first != y->first) return x->first ? -1 : 1;
  if (x->mean != y->mean) return x->mean > y->mean ? -1 : 1;
  return (x->function > y->function) - (x->function < y->function);
}

static psdm_status rank_functions(psdm_reducer *r, psdm_error *error) {
  const psdm_model *m = r->model;
  psdmp_base_arena scratch = {.allocator = r->arena.allocator};
  ranked *list = PSDMP_BASE_NEW(&scratch, m->p, ranked);
  if (!list) return psdmp_base_no_memory("", error);
  long start = m->class_start[1], end = m->class_start[1 + m->n];
  for (long f = 0; f < m->p; f++) list[f] = (ranked){f, r->mean[f], r->options.forward && f >= start && f < end};
  qsort(list, (size_t)m->p, sizeof *list, by_rank);
  for (long k = 0; k < m->p; k++) r->order[k] = list[k].function;
  r->accelerations = r->options.forward ? end - start : 0;
  psdmp_base_arena_free(&scratch);
  return PSDM_OK;
}

/* ---- what is kept ---- */

/* of the mass matrix both halves stay, or none */
static void make_symmetric(psdm_reducer *r) {
  const psdm_model *m = r->model;
  for (int a = 0; a < m->n; a++)
    for (long f = m->class_start[1 + a]; f < m->class_start[2 + a]; f++)
      for (int i = 0; i < a; i++) {
        long mirror = psdmp_model_find(m, 1 + i, m->code[f]);
        if (mirror >= 0 && r->joints[f] && r->joints[mirror]) continue;
        r->joints[f] &= ~((uint64_t)1 << i);
        if (mirror >= 0) r->joints[mirror] &= ~((uint64_t)1 << a);
      }
}

static int by_mean(const void *a, const void *b) {
  const struct psdmp_reduce_weak *x = a, *y = b;
  if (x->mean != y->mean) return x->mean < y->mean ? -1 : 1;
  if (x->function != y->function) return x->function < y->function ? -1 : 1;
  return x->joint - y->joint;
}

/* the kept functions' torques one by one, by the mean of |their share of torque i| / |tau| */
static void list_weak(psdm_reducer *r) {
  int n = r->model->n;
  r->weaks = 0;
  for (long f = 0; f < r->model->p; f++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += r->size[f * n + i] * r->size[f * n + i];
    for (int i = 0; i < n; i++)
      if ((r->joints[f] >> i & 1) && r->size[f * n + i] > 0)
        r->weak[r->weaks++] = (struct psdmp_reduce_weak){f, i, r->mean[f] * r->size[f * n + i] / sqrt(sum)};
  }
  qsort(r->weak, (size_t)r->weaks, sizeof *r->weak, by_mean);
}

static void choose(psdm_reducer *r, const psdmp_reduce_choice *c) {
  memset(r->joints, 0, (size_t)r->model->p * sizeof *r->joints);
  for (long k = 0; k < c->functions; k++)
    if (k >= r->accelerations || k < r->accelerations - c->accelerations_out)
      r->joints[r->order[k]] = UINT64_MAX >> (64 - r->model->n);
  if (r->options.forward) make_symmetric(r);
  if (!c->entries_out) return;
  list_weak(r);
  for (long k = 0; k < c->entries_out && k < r->weaks; k++)
    r->joints[r->weak[k].function] &= ~((uint64_t)1 << r->weak[k].joint);
}

/* ---- errors ---- */

/* bins of the errors of what is kept, with the refitted parameters; a GPU is for the many states that verify, so
 * that what is chosen does not depend on it */
static psdm_status measure(psdm_reducer *r, psdmp_reduce_stream stream, long total, psdm_error *error) {
  return r->monte && stream == PSDMP_REDUCE_STREAM_VERIFY ? psdmp_reduce_monte_errors(r->monte, r, stream, total, error)
                                                          : psdmp_reduce_errors(r, stream, total, error);
}

static double error_at(const psdm_reducer *r, long total, double confidence) {
  return psdmp_reduce_quantile(r->count, PSDMP_REDUCE_BIN_BITS, (uint64_t)total, confidence);
}

/* ---- parameters ---- */

/* theta + the step that least squares asks for; a step in a direction that the kept functions hardly see stays small */
static void solve_step(psdm_reducer *r) {
  int l = r->model->l;
  const double ridge = 1e-10; /* of a column's own size: parameters that cannot be distinguished keep their values */
  for (int j = 0; j < l; j++) r->unit[j] = r->G[j * l + j] > 0 ? 1 / sqrt(r->G[j * l + j]) : 0;
  for (int j = 0; j < l; j++) {
    for (int c = 0; c <= j; c++) r->G[j * l + c] *= r->unit[j] * r->unit[c];
    r->G[j * l + j] = r->unit[j] > 0 ? 1 + ridge : 1;
    r->h[j] *= r->unit[j];
  }
  bool ok = psdmp_linalg_cholesky(l, r->G);
  if (ok) psdmp_linalg_cholesky_solve(l, r->G, r->h);
  for (int j = 0; j < l; j++) r->theta_new[j] = r->theta[j] + (ok ? r->unit[j] * r->h[j] : 0);
}

/* parameters of what is kept, by least squares on the relative errors; those that are zero stay zero */
static psdm_status refit(psdm_reducer *r, long total, psdm_error *error) {
  psdm_status status = psdmp_reduce_normal(r, total, error);
  if (!status) solve_step(r);
  return status;
}

/* ---- how many ---- */

static long select_count(const psdm_reducer *r, double confidence) {
  double wanted = TAIL / (1 - confidence);
  return at_most(r, wanted < SELECT_LEAST ? SELECT_LEAST : wanted > SELECT_MOST ? SELECT_MOST : (long)wanted);
}

/* What is asked for, and with how many states sizes are tried. */
typedef struct aim {
  double error, confidence;
  long total;
  bool refits;
} aim;

/* a trial: whether so much is good enough */
static psdm_status judge(psdm_reducer *r, const psdmp_reduce_choice *c, const aim *a, bool *good, psdm_error *error) {
  choose(r, c);
  memcpy(r->theta_new, r->theta, (size_t)r->model->l * sizeof *r->theta);
  psdm_status status = a->refits ? refit(r, a->total < SELECT_LEAST ? a->total : SELECT_LEAST, error) : PSDM_OK;
  if (!status) status = measure(r, PSDMP_REDUCE_STREAM_SELECT, a->total, error);
  *good = error_at(r, a->total, a->confidence) <= a->error;
  if (!status && *good) r->best = *c;
  return status;
}

/* bisection to half a percent: one end of *number is good, the other is not */
static psdm_status bisect(psdm_reducer *r, psdmp_reduce_choice *c, long *number, long good, long bad, const aim *a,
                          psdm_error *error) {
  psdm_status status = PSDM_OK;
  while (!status && labs(good - bad) > 1 + labs(good) / 200) {
    bool fine;
    *number = good + (bad - good) / 2;
    status = judge(r, c, a, &fine, error);
    *(fine ? &good : &bad) = *number;
  }
  *number = good;
  return status;
}

/* the fewest functions: upward in steps, without refitting and with few states; then refitted, which helps by a few
 * percent */
static psdm_status fewest(psdm_reducer *r, psdmp_reduce_choice *c, const aim *wanted, psdm_error *error) {
  long p = r->model->p, front = r->accelerations, low = front, high = front + 16;
  aim rough = {wanted->error, wanted->confidence, wanted->total / 3, false};
  bool good = false;
  psdm_status status = PSDM_OK;
  while (!status) {
    c->functions = high = high < p ? high : p;
    status = judge(r, c, &rough, &good, error);
    if (good || high == p) break;
    low = high;
    high = front + (high - front) * 3 / 2;
  }
  if (!status) status = bisect(r, c, &c->functions, high, low, &rough, error);
  high = c->functions;
  for (int round = 0; !status && round < 8; round++) { /* rough was too low now and then */
    c->functions = high;
    status = judge(r, c, wanted, &good, error);
    if (good || high == p) break;
    low = high;
    high = high + (high - front) / 50 + 1 < p ? high + (high - front) / 50 + 1 : p;
  }
  if (low < front + (high - front) * 4 / 5) low = front + (high - front) * 4 / 5;
  return status ? status : bisect(r, c, &c->functions, high, low, wanted, error);
}

/* grows what failed by two percent */
static void grow(const psdm_reducer *r, psdmp_reduce_choice *c) {
  c->functions += 1 + (c->functions - r->accelerations) / 50;
  if (c->functions > r->model->p) c->functions = r->model->p;
  c->accelerations_out -= (c->accelerations_out + 49) / 50;
  c->entries_out -= (c->entries_out + 49) / 50;
}

/* verified over many states that had no part in the choice; a tenth of them tells most failures */
static psdm_status verify(psdm_reducer *r, psdmp_reduce_choice *c, double wanted, double confidence,
                          psdm_reduce_info *info, psdm_error *error) {
  long all = r->options.profile.count > 0 ? r->options.profile.count : r->options.samples, total = all;
  psdm_status status = PSDM_OK;
  if (r->stopped && all > SELECT_MOST) all = SELECT_MOST; /* somebody waits */
  for (int round = 0; round < ROUNDS && !status; round++) {
    choose(r, c);
    status = refit(r, at_most(r, SELECT_LEAST), error);
    total = r->options.profile.count > 0 || all < 10 * SELECT_LEAST ? all : all / 10;
    if (!status) status = measure(r, PSDMP_REDUCE_STREAM_VERIFY, total, error);
    if (!status && total < all && error_at(r, total, confidence) <= wanted)
      status = measure(r, PSDMP_REDUCE_STREAM_VERIFY, total = all, error);
    info->reached = error_at(r, total, confidence) <= wanted;
    if (status || info->reached || (c->functions == r->model->p && !c->accelerations_out && !c->entries_out)) break;
    grow(r, c);
  }
  info->error = error_at(r, total, confidence);
  info->error_half = error_at(r, total, 0.5);
  info->error_most = error_at(r, total, 0.999);
  info->samples = total;
  return status;
}

/* ---- the public functions ---- */

static psdm_status check_options(const psdm_robot *robot, const psdm_model *m, const psdm_reduce_options *o,
                                 psdm_error *error) {
  const psdm_profile *p = &o->profile;
  if (!m->p || m->n > 64 || m->n != psdm_robot_n(robot))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the model has no functions, or is another robot's");
  if (o->samples < 0 || o->contributions < 0 || p->count < 0 || (p->count > 0 && !p->states))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "a number of states is negative");
  if (o->samples > UINT32_MAX || o->contributions > UINT32_MAX || p->count > UINT32_MAX)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "more than %lu states were asked for; they are counted in 32 bits",
                           (unsigned long)UINT32_MAX);
  if (p->count == 0 && !(p->q > 0 && p->qd >= 0 && p->qdd >= 0))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "a profile needs ranges or states");
  return psdm_robot_ready(robot, error);
}

/* revolute joints turn in the profile's range, sliding ones between their limits */
static void set_ranges(psdm_reducer *r) {
  for (int j = 0; j < r->model->n; j++) {
    r->source.low[j] = -r->options.profile.q;
    r->source.high[j] = r->options.profile.q;
  }
  for (int k = 0; k < psdm_robot_joints(r->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(r->robot, k);
    if (joint->q < 0 || joint->type != PSDM_PRISMATIC) continue;
    bool limited = isfinite(joint->limits.lower) && isfinite(joint->limits.upper);
    r->source.low[joint->q] = limited ? joint->limits.lower : -1;
    r->source.high[joint->q] = limited ? joint->limits.upper : 1;
  }
}

static bool allocate(psdm_reducer *r) {
  const psdm_model *m = r->model;
  psdmp_base_arena *a = &r->arena;
  int n = m->n, l = m->l;
  double **const part[] = {&r->theta, &r->theta_new, &r->mean, &r->median,     &r->largest,
                           &r->G,     &r->h,         &r->unit, &r->source.low, &r->source.high};
  const size_t size[] = {(size_t)l, (size_t)l, (size_t)m->p, (size_t)m->p, (size_t)m->p, (size_t)l * (size_t)l,
                         (size_t)l, (size_t)l, (size_t)n,    (size_t)n};
  for (size_t k = 0; k < sizeof size / sizeof *size; k++)
    if (!(*part[k] = PSDMP_BASE_NEW(a, size[k], double))) return false;
  r->order = PSDMP_BASE_NEW(a, m->p, long);
  r->joints = PSDMP_BASE_NEW(a, m->p, uint64_t);
  r->size = PSDMP_BASE_NEW(a, m->p * n, double);
  r->weak = PSDMP_BASE_NEW(a, m->P_start[m->p], struct psdmp_reduce_weak);
  r->count = PSDMP_BASE_NEW(a, PSDMP_REDUCE_BINS, uint32_t);
  return r->order && r->joints && r->size && r->weak && r->count;
}

psdm_status psdmp_reduce_reducer_start(psdm_reducer *r, psdm_error *error) {
  const psdm_model *m = r->model;
  if (!allocate(r)) return psdmp_base_no_memory("", error);
  double *pi = PSDMP_BASE_NEW(&r->arena, m->standard + psdm_robot_parameter_count(r->robot), double);
  if (!pi) return psdmp_base_no_memory("", error);
  psdm_robot_parameters(r->robot, pi);
  psdm_model_theta(m, pi, r->theta);
  r->source.robot = r->robot, r->source.model = m, r->source.options = &r->options;
  set_ranges(r);
  r->from = 0, r->to = 0.2;
  return PSDM_OK;
}

static psdm_status start(psdm_reducer *r, psdm_error *error) {
  psdm_status status = psdmp_reduce_reducer_start(r, error);
  if (!status && r->options.cuda && !r->options.profile.count)
    status = psdmp_reduce_monte_errors_new(r->robot, r->model, r->options.nvcc, r->arena.allocator, &r->monte, error);
  if (!status) status = psdmp_reduce_introduce(r, error);
  if (!status) status = find_contributions(r, error);
  return status ? status : rank_functions(r, error);
}

psdm_status psdm_reducer_new(const psdm_robot *robot, const psdm_model *model, const psdm_reduce_options *options,
                             const psdm_allocator *allocator, psdm_reducer **out, psdm_error *error) {
  *out = NULL;
  psdm_status status = check_options(robot, model, options, error);
  if (!status) status = psdm_model_match(model, robot, error);
  if (status) return status;
  psdm_reducer *r = psdmp_base_alloc(allocator, sizeof *r);
  if (!r) return psdmp_base_no_memory("", error);
  r->arena.allocator = allocator;
  r->robot = robot, r->model = model, r->options = *options;
  if (!r->options.samples) r->options.samples = SAMPLES;
  if (!r->options.contributions) r->options.contributions = CONTRIBUTIONS;
  status = start(r, error);
  if (status) {
    psdm_reducer_free(r);
    return status;
  }
  *out = r;
  return PSDM_OK;
}

void psdm_reducer_free(psdm_reducer *r) {
  if (!r) return;
  psdmp_reduce_forget(r);
  psdmp_reduce_monte_free(r->monte);
  psdmp_base_arena_free_owner(&r->arena, r);
}

void psdm_reducer_contribution(const psdm_reducer *r, long f, double *mean, double *median, double *largest) {
  *mean = r->mean[f];
  *median = r->median[f];
  *largest = r->largest[f];
}

psdm_status psdm_reducer_errors(psdm_reducer *r, long functions, const double confidence[2], double error_found[2],
                                psdm_error *error) {
  double larger = confidence[0] > confidence[1] ? confidence[0] : confidence[1];
  long total = select_count(r, larger);
  if (functions < 1 || functions > r->model->p || !(larger < 1))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "%ld of %ld functions", functions, r->model->p);
  bool good;
  psdm_status status = judge(r, &(psdmp_reduce_choice){functions, 0, 0}, &(aim){1, larger, total, true}, &good, error);
  for (int k = 0; k < 2; k++) error_found[k] = error_at(r, total, confidence[k]);
  return status;
}

static psdm_status kept_model(psdm_reducer *r, psdm_model **reduced, psdm_error *error) {
  if (psdmp_model_keep(r->model, r->joints, r->theta, r->theta_new, r->arena.allocator, reduced))
    return psdmp_base_no_memory("", error);
  (*reduced)->robot.inertia = psdmp_robot_inertia(r->robot); /* what was left out is small for these inertias */
  return PSDM_OK;
}

psdm_status psdm_reducer_keep(psdm_reducer *r, long functions, psdm_model **reduced, psdm_error *error) {
  *reduced = NULL;
  if (functions < 1 || functions > r->model->p)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "%ld of %ld functions", functions, r->model->p);
  choose(r, &(psdmp_reduce_choice){functions, 0, 0});
  psdm_status status = refit(r, at_most(r, SELECT_LEAST), error);
  return status ? status : kept_model(r, reduced, error);
}

psdm_status psdm_reducer_reduce(psdm_reducer *r, double wanted, double confidence, psdm_model **reduced,
                                psdm_reduce_info *info, psdm_error *error) {
  psdm_reduce_info own;
  double began = psdmp_base_clock();
  psdmp_reduce_choice c = {0};
  if (!info) info = &own;
  *info = (psdm_reduce_info){.functions_before = r->model->p, .parameters_before = r->model->l};
  *reduced = NULL;
  if (!(wanted > 0 && wanted < 1 && confidence > 0 && confidence < 1))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "error and confidence lie between 0 and 1");
  aim all = {wanted, confidence, select_count(r, confidence), true}, first = all;
  r->from = 0.2, r->to = 0.3;
  /* most of the error is spent on whole functions; in forward mode half, on those of velocities and gravity. The
   * rest of it lets go what matters next to nothing of the accelerations' functions, or single torques of the
   * others. */
  first.error *= r->options.forward ? 0.5 : WHOLE;
  r->told = 0, r->stopped = false, r->best = (psdmp_reduce_choice){0};
  psdm_status status = fewest(r, &c, &first, error);
  long *next = r->options.forward ? &c.accelerations_out : &c.entries_out, most = r->accelerations;
  if (!status && !r->options.forward) {
    choose(r, &c);
    list_weak(r);
    most = r->weaks;
  }
  if (!status) status = bisect(r, &c, next, 0, most + 1, &all, error);
  if (!status && r->options.forward) status = fewest(r, &c, &all, error); /* what the accelerations could not use */
  r->from = 0.3, r->to = 1;
  if (!status) status = verify(r, &c, wanted, confidence, info, error);
  if (r->stopped && r->best.functions) {
    c = r->best;
    status = verify(r, &c, wanted, confidence, info, error);
  }
  info->stopped = r->stopped;
  if (!status) status = kept_model(r, reduced, error);
  if (status) return status;
  info->functions = (*reduced)->p;
  info->parameters = (*reduced)->l;
  info->digits = -log10(info->error);
  info->seconds = psdmp_base_clock() - began;
  return PSDM_OK;
}
