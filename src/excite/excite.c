/* excite.c: the entry to planning: limits, the answer, and measures of any motion that do not rely on the planner. */
#include "psdm/excite.h"

#include <math.h>
#include <string.h>

#include "plugin/plugin.h"
#include "excite/inertia_priv.h"
#include "linalg/linalg.h"
#include "parallel/parallel.h"
#include "psdm/friction.h"

enum { POINTS_PER_SECOND = 50, FEWEST_POINTS = 400, MOST_POINTS = 5000 };      /* for condition numbers */
enum { CHECKS_PER_SECOND = 200, FEWEST_CHECKS = 10001, MOST_CHECKS = 100001 }; /* for extremes */
enum { MOST_EVALUATIONS = 1000000000 };                                        /* NLopt counts in int */

static const double default_margin = 0.02, default_clearance = 0.01;

/* ---- limits ---- */

static double margin_of(const psdm_excite_options *o) { return o->margin == 0 ? default_margin : fmax(0, o->margin); }
static double clearance_of(const psdm_excite_options *o) {
  return o->clearance == 0 ? default_clearance : fmax(0, o->clearance);
}

/* the option's number, else the robot's, else a default */
static double first_finite(const double *option, int i, double robot, double otherwise) {
  if (option && isfinite(option[i])) return option[i];
  return isfinite(robot) ? robot : otherwise;
}

/* the joint's given limits; missing ones get a default by joint type */
static void set_joint(const psdm_excite_options *o, const psdm_joint *joint, psdmp_excite_limits *l) {
  const psdm_limits *own = &joint->limits;
  bool turns = joint->type == PSDM_REVOLUTE;
  int i = joint->q;
  double reach = turns ? 2 : 0.5, lower = first_finite(o->lower, i, own->lower, -INFINITY),
         upper = first_finite(o->upper, i, own->upper, INFINITY);
  /* one side given beyond the default of the other: the default range from there */
  if (!isfinite(lower)) lower = upper > -reach ? -reach : upper - 2 * reach;
  if (!isfinite(upper)) upper = lower < reach ? reach : lower + 2 * reach;
  l->lower[i] = lower;
  l->upper[i] = upper;
  l->velocity[i] = first_finite(o->velocity, i, own->velocity, turns ? 2 : 0.5);
  l->acceleration[i] = first_finite(o->acceleration, i, own->acceleration, turns ? 8 : 2);
  l->effort[i] = first_finite(o->effort, i, own->effort, INFINITY);
}

static psdm_status check_joint(const psdm_joint *joint, const psdmp_excite_limits *l, psdm_error *error) {
  int i = joint->q;
  char name[64];
  psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name);
  if (!(l->lower[i] < l->upper[i]))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "no motion fits the limits: joint '%s' has no room between %g and %g", name, l->lower[i],
                           l->upper[i]);
  if (!(l->velocity[i] > 0) || !(l->acceleration[i] > 0) || !(l->effort[i] > 0))
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, "", 0, 0,
        "no motion fits the limits: joint '%s' may have velocities up to %g, accelerations up to %g, torques up to %g",
        name, l->velocity[i], l->acceleration[i], l->effort[i]);
  return PSDM_OK;
}

/* limits as given, no margin */
static psdm_status given_limits(const psdm_robot *robot, const psdm_excite_options *o, psdmp_base_arena *arena,
                                psdmp_excite_limits *l, psdm_error *error) {
  int n = psdm_robot_n(robot);
  double *all = psdmp_excite_numbers(arena, 5L * n);
  if (!all) return psdmp_base_no_memory("", error);
  *l = (psdmp_excite_limits){.lower = all,
                             .upper = all + n,
                             .velocity = all + 2 * n,
                             .acceleration = all + 3 * n,
                             .effort = all + 4 * n,
                             .clearance = clearance_of(o),
                             .torques = !psdm_robot_ready(robot, NULL)};
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (joint->q < 0) continue;
    set_joint(o, joint, l);
    psdm_status status = check_joint(joint, l, error);
    if (status) return status;
  }
  return PSDM_OK;
}

/* subtracts margins; torques that cannot be predicted are not limited */
static psdm_status planned_limits(const psdmp_excite_limits *given, int n, double margin, psdmp_base_arena *arena,
                                  psdmp_excite_limits *l, psdm_error *error) {
  double *all = psdmp_excite_numbers(arena, 5L * n);
  if (!all) return psdmp_base_no_memory("", error);
  if (!(margin < 1))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "a margin of %g leaves nothing of the limits", margin);
  *l = (psdmp_excite_limits){.lower = all,
                             .upper = all + n,
                             .velocity = all + 2 * n,
                             .acceleration = all + 3 * n,
                             .effort = all + 4 * n,
                             .clearance = given->clearance,
                             .margin = margin,
                             .torques = given->torques};
  for (int i = 0; i < n; i++) {
    double off = margin * (given->upper[i] - given->lower[i]) / 2;
    l->lower[i] = given->lower[i] + off;
    l->upper[i] = given->upper[i] - off;
    l->velocity[i] = (1 - margin) * given->velocity[i];
    l->acceleration[i] = (1 - margin) * given->acceleration[i];
    l->effort[i] = given->torques ? (1 - margin) * given->effort[i] : INFINITY;
  }
  return PSDM_OK;
}

/* ---- measures ---- */

/* A motion being checked. */
typedef struct checking {
  const psdm_robot *robot;
  psdmp_base_arena arena;
  psdm_work *work;
  psdmp_excite_limits limits;
  int n, gaps, followers;
  psdmp_excite_follower *follower;
  const psdm_friction **friction;
  double *state, *tau, *gap;
} checking;

static psdm_status new_checking(const psdm_robot *robot, const psdm_excite_options *options, checking *c,
                                psdm_error *error) {
  bool whole;
  psdm_status status = given_limits(robot, options, &c->arena, &c->limits, error);
  if (status) return status;
  c->n = psdm_robot_n(robot);
  c->gaps = psdm_collision_gaps(robot);
  c->state = psdmp_excite_numbers(&c->arena, 3L * c->n);
  c->tau = psdmp_excite_numbers(&c->arena, c->n);
  c->gap = psdmp_excite_numbers(&c->arena, c->gaps);
  c->friction = psdmp_base_arena_alloc(&c->arena, (size_t)c->n * sizeof *c->friction);
  c->follower = psdmp_excite_followers(robot, 0, &c->arena, &c->followers, &whole);
  if (!whole || !c->state || !c->tau || !c->gap || !c->friction || psdm_work_new(robot, c->arena.allocator, &c->work))
    return psdmp_base_no_memory("", error);
  for (int j = 0; j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    if (joint->q >= 0 && joint->friction.given) c->friction[joint->q] = &joint->friction;
  }
  return PSDM_OK;
}

static double follower_share(const checking *c) {
  double most = 0;
  for (int k = 0; k < c->followers; k++) {
    const psdmp_excite_follower *f = &c->follower[k];
    double x[3] = {f->c, 0, 0}, middle = (f->limits.lower + f->limits.upper) / 2,
           half = (f->limits.upper - f->limits.lower) / 2;
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < c->n; i++) x[d] += f->G[i] * c->state[d * c->n + i];
    if (isfinite(half)) most = fmax(most, fabs(x[0] - middle) / half);
    if (!isfinite(half) && (x[0] < f->limits.lower || x[0] > f->limits.upper)) most = INFINITY;
    most = fmax(most, fmax(fabs(x[1]) / f->limits.velocity, fabs(x[2]) / f->limits.acceleration));
  }
  return most;
}

/* a gap as the share of a limit: 1 at its clearance */
static double gap_share(double gap, double clearance) {
  return gap > 0 ? clearance / gap : gap == 0 && clearance == 0 ? 1 : INFINITY;
}

psdm_status psdm_excite_check(const psdm_robot *robot, const psdm_excite_options *options, const psdm_motion *motion,
                              long points, const psdm_allocator *allocator, psdm_excite_extremes *extremes,
                              psdm_error *error) {
  const psdm_excite_options defaults = {0};
  checking c = {.robot = robot, .arena = {.allocator = allocator}};
  int n = psdm_robot_n(robot);
  double *lower = extremes->lower, *upper = extremes->upper, *velocity = extremes->velocity,
         *acceleration = extremes->acceleration, *effort = extremes->effort, *gap = &extremes->gap,
         *worst = &extremes->worst;
  if (points < 2 || psdm_motion_n(motion) != n)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "%ld points of a motion of %d joints; 2 or more of %d were expected", points,
                           psdm_motion_n(motion), n);
  psdm_status status = new_checking(robot, options ? options : &defaults, &c, error);
  for (int i = 0; i < n; i++)
    lower[i] = INFINITY, upper[i] = -INFINITY, velocity[i] = acceleration[i] = 0,
    effort[i] = c.limits.torques ? 0 : NAN;
  *gap = INFINITY;
  *worst = 0;
  double begin = psdm_motion_begin(motion), length = psdm_motion_end(motion) - begin;
  for (long p = 0; p < points && !status; p++) {
    const double *q = c.state, *qd = q + n, *qdd = qd + n;
    psdm_motion_at(motion, begin + length * (double)p / (double)(points - 1), 3, c.state);
    if (c.limits.torques) status = psdm_inverse(robot, c.work, q, qd, qdd, c.tau);
    if (!status && c.gaps) status = psdm_collision_at(robot, c.work, q, c.gap, NULL);
    if (status) {
      psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
      break;
    }
    for (int i = 0; i < n; i++) {
      lower[i] = fmin(lower[i], q[i]);
      upper[i] = fmax(upper[i], q[i]);
      velocity[i] = fmax(velocity[i], fabs(qd[i]));
      acceleration[i] = fmax(acceleration[i], fabs(qdd[i]));
      if (c.limits.torques)
        effort[i] = fmax(
            effort[i],
            fabs(c.tau[i] + (c.friction[i] ? psdm_friction_steady(c.friction[i], PSDM_FRICTION_POWER, qd[i]) : 0)));
    }
    for (int k = 0; k < c.gaps; k++) *gap = fmin(*gap, c.gap[k]);
    *worst = fmax(*worst, follower_share(&c));
  }
  for (int i = 0; i < n && !status; i++) {
    const psdmp_excite_limits *l = &c.limits;
    double middle = (l->lower[i] + l->upper[i]) / 2, half = (l->upper[i] - l->lower[i]) / 2;
    *worst = fmax(*worst, fmax(upper[i] - middle, middle - lower[i]) / half);
    *worst = fmax(*worst, fmax(velocity[i] / l->velocity[i], acceleration[i] / l->acceleration[i]));
    if (l->torques) *worst = fmax(*worst, effort[i] / l->effort[i]);
  }
  if (c.gaps) *worst = fmax(*worst, gap_share(*gap, c.limits.clearance));
  psdm_work_free(c.work, allocator);
  psdmp_base_arena_free(&c.arena);
  return status;
}

/* condition numbers of a motion, from evenly spaced states */
static psdm_status measure(const psdmp_excite_told *told, const psdm_motion *motion, psdmp_base_arena *arena,
                           double *condition, double *logdet, double *plain, psdm_error *error) {
  double begin = psdm_motion_begin(motion), length = psdm_motion_end(motion) - begin;
  long points = (long)fmin(MOST_POINTS, fmax(FEWEST_POINTS, ceil(POINTS_PER_SECOND * length)));
  psdm_work *work = NULL;
  psdmp_excite_gathering *g = psdmp_excite_gathering_new(told, arena);
  double *state = psdmp_excite_numbers(arena, 3L * told->n);
  psdm_status status = g && state ? psdm_work_new(told->robot, arena->allocator, &work) : PSDM_E_MEMORY;
  if (!status) psdmp_excite_gathering_begin(g);
  for (long p = 0; p < points && !status; p++) {
    psdm_motion_at(motion, begin + length * (double)p / (double)points, 3, state);
    status = psdmp_excite_gathering_add(g, work, state);
  }
  if (!status) status = psdmp_excite_gathering_end(g, condition, logdet, plain);
  psdm_work_free(work, arena->allocator);
  return status ? psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

/* joints that closed loops move, or that are coupled, have no q whose limits a motion could keep */
static psdm_status check_passives(const psdm_robot *robot, psdm_error *error) {
  for (int j = 0; psdm_robot_loops(robot) && j < psdm_robot_joints(robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    const psdm_limits *l = &joint->limits;
    bool limited = isfinite(l->lower) || isfinite(l->upper) || isfinite(l->velocity) || isfinite(l->acceleration);
    char name[80];
    if (joint->q >= 0 || joint->type == PSDM_FIXED || !limited) continue;
    return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0,
                           "closed loops: motions do not keep the limits of joint '%s', which has no q; independent "
                           "joints' limits were expected",
                           psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name));
  }
  return PSDM_OK;
}

psdm_status psdm_excite_condition(const psdm_robot *robot, const psdm_excite_options *options,
                                  const psdm_motion *motion, const psdm_allocator *allocator, double *condition,
                                  double *plain, psdm_error *error) {
  const psdm_excite_options defaults = {0}, *o = options ? options : &defaults;
  psdmp_base_arena arena = {.allocator = allocator};
  psdmp_excite_limits given, limits;
  psdmp_excite_told told;
  double logdet;
  if (psdm_motion_n(motion) != psdm_robot_n(robot))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "a motion of %d joints for a robot that has %d",
                           psdm_motion_n(motion), psdm_robot_n(robot));
  psdm_status status = check_passives(robot, error);
  if (!status) status = given_limits(robot, o, &arena, &given, error);
  if (!status) status = planned_limits(&given, psdm_robot_n(robot), margin_of(o), &arena, &limits, error);
  if (!status) status = psdmp_excite_told_new(robot, o, &limits, given.effort, &arena, &told, error);
  if (!status) status = measure(&told, motion, &arena, condition, &logdet, plain, error);
  psdmp_base_arena_free(&arena);
  return status;
}

/* ---- planning ---- */

struct psdmp_excite_excitation {
  psdm_excitation e;
  psdmp_base_arena arena;
  psdm_motion *motion;
};

static psdm_status set_extremes(const psdm_robot *robot, const psdm_excite_options *o,
                                struct psdmp_excite_excitation *x, psdm_error *error) {
  int n = x->e.n;
  double *all = psdmp_excite_numbers(&x->arena, 5L * n),
         length = psdm_motion_end(x->motion) - psdm_motion_begin(x->motion);
  long points = (long)fmin(MOST_CHECKS, fmax(FEWEST_CHECKS, CHECKS_PER_SECOND * length));
  if (!all) return psdmp_base_no_memory("", error);
  x->e.extremes = (psdm_excite_extremes){
      .lower = all, .upper = all + n, .velocity = all + 2 * n, .acceleration = all + 3 * n, .effort = all + 4 * n};
  return psdm_excite_check(robot, o, x->motion, points, x->arena.allocator, &x->e.extremes, error);
}

static psdm_status plan_inertia(const psdm_robot *robot, const psdm_excite_options *o, const psdmp_excite_limits *given,
                                const psdmp_excite_limits *limits, struct psdmp_excite_excitation *x,
                                psdm_error *error) {
  psdmp_excite_told told;
  psdmp_excite_found found = {0};
  if (!psdmp_excite_nlopt()) return psdmp_plugin_nlopt_missing(error, "motions for inertia");
  psdm_status status = psdmp_excite_told_new(robot, o, limits, given->effort, &x->arena, &told, error);
  if (!status) status = psdmp_excite_search(robot, o, limits, &told, &x->arena, &found, error);
  x->motion = found.motion;
  if (!status && psdmp_parallel_team_member(o->ranks)) return PSDM_OK; /* only rank 0 has the motion */
  if (!status)
    status = measure(&told, x->motion, &x->arena, &x->e.condition, &x->e.logdet, &x->e.condition_plain, error);
  if (status) return status;
  x->e.random_best = found.random_best, x->e.random_median = found.random_median;
  x->e.random_plain_best = found.random_plain_best, x->e.random_plain_median = found.random_plain_median;
  x->e.parameters = told.columns;
  x->e.evaluations = found.evaluations;
  x->e.starts = found.starts;
  x->e.start_condition = found.start_condition;
  x->e.stopped = found.stopped;
  return PSDM_OK;
}

static psdm_status plan(const psdm_robot *robot, const psdm_excite_options *o, struct psdmp_excite_excitation *x,
                        psdm_error *error) {
  psdmp_excite_limits given, limits;
  psdm_status status = given_limits(robot, o, &x->arena, &given, error);
  if (!status) status = planned_limits(&given, x->e.n, margin_of(o), &x->arena, &limits, error);
  if (status) return status;
  if (o->step == PSDM_STEP_INERTIA) status = plan_inertia(robot, o, &given, &limits, x, error);
  else status = psdmp_excite_experiment(robot, o, &limits, &x->arena, x->arena.allocator, &x->e, &x->motion, error);
  if (status || !x->motion) return status;
  x->e.motion = x->motion;
  x->e.seconds = psdm_motion_end(x->motion) - psdm_motion_begin(x->motion);
  return set_extremes(robot, o, x, error);
}

static psdm_status check_options(const psdm_excite_options *o, psdm_error *error) {
  if ((unsigned)o->step >= PSDM_STEPS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "step %d; 0 to %d were expected", (int)o->step,
                           PSDM_STEPS - 1);
  if (!(o->seconds >= 0) || !isfinite(o->seconds))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%g seconds; a positive, finite number was expected",
                           o->seconds);
  if (o->harmonics < 0 || o->starts < 0 || o->threads < 0 || o->evaluations < 0 || !(o->band >= 0) || !(o->wall >= 0))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                           "harmonics, band, starts, threads, evaluations and wall must not be negative");
  if (o->evaluations > MOST_EVALUATIONS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%ld evaluations; at most %d are possible", o->evaluations,
                           MOST_EVALUATIONS);
  return PSDM_OK;
}

psdm_status psdm_excite(const psdm_robot *robot, const psdm_excite_options *options, const psdm_allocator *allocator,
                        psdm_excitation **excitation, psdm_error *error) {
  const psdm_excite_options defaults = {0};
  psdm_excite_options o = options ? *options : defaults;
  double began = psdmp_base_clock();
  *excitation = NULL;
  psdm_status status = check_options(&o, error);
  if (!status) status = check_passives(robot, error);
  if (status) return status;
  if (o.step == PSDM_STEP_INERTIA && o.seconds == 0) o.seconds = PSDM_EXCITE_SECONDS;
  if (o.step != PSDM_STEP_INERTIA && psdmp_parallel_team_member(o.ranks)) return PSDM_OK;
  bool helps = psdmp_parallel_team_member(o.ranks),
       asks = o.step == PSDM_STEP_INERTIA && psdmp_parallel_team_size(o.ranks) > 1 && !helps;
  if (helps) o.progress = NULL, o.better = NULL;
  struct psdmp_excite_excitation *x = psdmp_base_alloc(allocator, sizeof *x);
  if (!x) return psdmp_base_no_memory("", error);
  x->arena.allocator = allocator;
  x->e = (psdm_excitation){.n = psdm_robot_n(robot),
                           .step = o.step,
                           .condition = NAN,
                           .logdet = NAN,
                           .condition_plain = NAN,
                           .random_best = NAN,
                           .random_median = NAN,
                           .random_plain_best = NAN,
                           .random_plain_median = NAN,
                           .internal = x};
  psdm_error own = {0};
  psdmp_linalg_blas_alone();
  status = psdmp_linalg_blas_room(&own);
  if (!status) status = plan(robot, &o, x, &own);
  psdmp_linalg_blas_back();
  if (status && error) *error = own;
  if (status && helps) psdmp_parallel_team_refuse(o.ranks, &own);
  if (asks) psdmp_parallel_team_dismiss(o.ranks);
  if (status || helps) {
    psdm_excitation_free(&x->e);
    return status;
  }
  x->e.wall = psdmp_base_clock() - began;
  *excitation = &x->e;
  return PSDM_OK;
}

void psdm_excitation_free(psdm_excitation *excitation) {
  if (!excitation) return;
  struct psdmp_excite_excitation *x = excitation->internal;
  psdm_motion_free(x->motion);
  psdmp_base_arena_free_owner(&x->arena, x);
}
