/* plan_ways.c: the three methods: time scaling, along a path, optimal. */
#include <math.h>
#include <string.h>

#include "job/plan_priv.h"

/* ---- scale ---- */

/* Rows of the trajectory and their torques, separately; (rows x n) each. */
typedef struct apart {
  long rows;
  double *memory, *qd, *qdd, *tau, *gravity, *viscous, *dry, *scaled;
} apart;

/* friction that grows with speed is scaled by 1/k, which is exact for Fv v; a power or Stribeck's decrease is treated
 * as dry: it changes little */
static void friction_apart(const psdmp_job_plan *j, apart *a, long at) {
  for (int i = 0; i < j->n; i++) {
    const psdm_friction *f = &psdmp_job_joint(j->job.robot, i)->friction;
    if (!f->given || !j->friction) continue;
    double v = a->qd[at + i], all = psdm_friction_steady(f, j->friction, v);
    a->viscous[at + i] = j->friction == PSDM_FRICTION_POWER && f->exponent != 1 ? 0 : f->viscous * v;
    a->dry[at + i] = all - a->viscous[at + i];
    a->tau[at + i] += all;
  }
}

static double begin(const psdmp_job_plan *j) { return psdm_motion_begin(j->path); }

static double length(const psdmp_job_plan *j) { return psdm_motion_end(j->path) - psdm_motion_begin(j->path); }

static double time_of(const psdmp_job_plan *j, const apart *a, long row) {
  return begin(j) + length(j) * (double)row / (double)(a->rows - 1);
}

static psdm_status torques_apart(const psdmp_job_plan *j, apart *a) {
  const psdm_robot *robot = j->job.robot;
  psdm_status status = PSDM_OK;
  for (long k = 0; k < a->rows && !status; k++) {
    long at = k * j->n;
    psdm_motion_at(j->path, time_of(j, a, k), 3, j->state);
    memcpy(a->qd + at, j->state + j->n, sizeof *a->qd * (size_t)j->n);
    memcpy(a->qdd + at, j->state + 2 * j->n, sizeof *a->qdd * (size_t)j->n);
    status = psdm_inverse(robot, j->work, j->state, a->qd + at, a->qdd + at, a->tau + at);
    if (!status) status = psdm_gravity(robot, j->work, j->state, a->gravity + at);
    if (status) return psdmp_job_wrong(&j->job, "no torques along the trajectory");
    friction_apart(j, a, at);
    status = psdmp_job_plan_go_on(j, "evaluating", k, a->rows);
  }
  return status;
}

/* torques scaled from the stored ones, against torques of the slower trajectory: equal up to rounding if friction is
 * absent or linear */
static psdm_status recompute(psdmp_job_plan *j, const apart *a, const psdm_scale_rows *rows) {
  double worst = 0, size = 0;
  psdm_status status = PSDM_OK;
  psdm_scale_torque(rows, j->k, a->scaled);
  for (long k = 0; k < a->rows && !status; k++) {
    psdm_motion_at(j->path, time_of(j, a, k), 3, j->state);
    for (int i = 0; i < j->n; i++) j->state[j->n + i] /= j->k, j->state[2 * j->n + i] /= j->k * j->k;
    status = psdm_inverse(j->job.robot, j->work, j->state, j->state + j->n, j->state + 2 * j->n, j->tau);
    if (!status) psdmp_job_plan_add_friction(j);
    for (int i = 0; i < j->n && !status; i++) {
      worst = fmax(worst, fabs(a->scaled[k * j->n + i] - j->tau[i]));
      size = fmax(size, fabs(j->tau[i]));
    }
    if (!status) status = psdmp_job_plan_go_on(j, "recomputing", k, a->rows);
  }
  j->recomputed = size > 0 ? worst / size : 0;
  return status;
}

/* the settings are right, but nothing satisfies them */
static psdm_status impossible(const psdmp_job_plan *j, const apart *a) {
  const psdm_job *job = &j->job;
  psdm_error error = {.status = PSDM_E_ACCURACY};
  const long at = j->by.row * j->n + j->by.joint;
  if (j->by.row < 0) psdmp_base_print(error.text, sizeof error.text, "no factor respects the limits");
  else
    psdmp_base_print(
        error.text, sizeof error.text,
        "no factor respects the limits: joint '%s' at t = %.4g s needs %.4g Nm at rest, above its limit of %.4g Nm",
        psdmp_job_safe(job, psdmp_job_joint(job->robot, j->by.joint)->name), time_of(j, a, j->by.row),
        fabs(a->gravity[at] + a->dry[at]), j->limit[LIMIT_EFFORT][j->by.joint]);
  return psdmp_job_fail(job, &error);
}

static psdm_status find_factor(psdmp_job_plan *j, apart *a) {
  const psdm_job *job = &j->job;
  const psdm_scale_rows rows = {.rows = a->rows,
                                .n = j->n,
                                .qd = a->qd,
                                .qdd = a->qdd,
                                .tau = a->tau,
                                .gravity = a->gravity,
                                .viscous = a->viscous,
                                .dry = a->dry};
  const psdm_scale_limits limits = {j->limit[LIMIT_VELOCITY], j->limit[LIMIT_ACCELERATION], j->limit[LIMIT_EFFORT]};
  psdm_status status = torques_apart(j, a);
  if (status) return status;
  status = psdm_scale_least(&rows, &limits, &j->k, &j->by);
  if (j->set.factor > 0) j->k = j->set.factor;
  else if (status) return impossible(j, a);
  else if (j->by.by == PSDM_SCALE_NOTHING)
    return psdmp_job_fail(job, &(psdm_error){.status = PSDM_E_ARGUMENT,
                                             .text = "no limit applies to the trajectory; give limits of velocity, "
                                                     "acceleration or torque, or `factor`"});
  if ((status = recompute(j, a, &rows))) return psdmp_job_fail(job, &(psdm_error){.status = status});
  j->seconds = j->k * length(j);
  return PSDM_OK;
}

psdm_status psdmp_job_plan_scale(psdmp_job_plan *j) {
  apart a = {.rows = j->set.points >= 2 ? (long)j->set.points : 10001};
  size_t each = (size_t)(a.rows * j->n);
  if (!(a.memory = psdmp_base_alloc(NULL, 7 * each * sizeof *a.memory))) return psdmp_job_memory(&j->job);
  a.qd = a.memory, a.qdd = a.qd + each, a.tau = a.qdd + each, a.gravity = a.tau + each, a.viscous = a.gravity + each,
  a.dry = a.viscous + each, a.scaled = a.dry + each;
  psdm_status status = find_factor(j, &a);
  psdmp_base_free(NULL, a.memory);
  return status;
}

/* ---- along a path ---- */

psdm_status psdmp_job_plan_path(psdmp_job_plan *j) {
  const psdm_path_options options = {.velocity = j->limit[LIMIT_VELOCITY],
                                     .acceleration = j->limit[LIMIT_ACCELERATION],
                                     .effort = j->limit[LIMIT_EFFORT],
                                     .friction = j->friction,
                                     .points = (long)j->set.points};
  psdm_error error;
  if (psdm_path_plan_new(j->job.robot, j->path, &options, NULL, &j->plan, &error)) {
    if (error.status == PSDM_E_ARGUMENT) error.status = PSDM_E_ACCURACY; /* the limits leave no motion */
    return psdmp_job_fail(&j->job, &error);
  }
  j->seconds = j->plan->seconds;
  return PSDM_OK;
}

/* ---- optimal ---- */

static bool keeps(double infeasibility) { return infeasibility <= 1e-3; }

static const char none_keeps[] = "no motion so far respects all limits";

typedef struct search {
  const psdm_job *job;
  const char *lacking; /* why no motion of this one is an answer; NULL: it is */
} search;

static void iterated(void *user, int iteration, double objective, double infeasibility) {
  const search *s = user;
  (void)iteration, (void)objective;
  psdmp_job_tell(s->job, PSDM_JOB_LACKING, "%s", s->lacking ? s->lacking : keeps(infeasibility) ? "" : none_keeps);
}

static psdm_status solve(psdmp_job_plan *j, psdm_optimal_options *o, const char *lacking, psdm_optimal **answer) {
  psdm_job *job = &j->job;
  search s = {job, lacking};
  psdm_error error;
  o->progress = psdmp_job_watch;
  o->progress_user = job;
  o->iterated = iterated;
  o->iterated_user = &s;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "optimising");
  psdmp_job_tell(job, PSDM_JOB_LACKING, "%s", lacking ? lacking : none_keeps);
  psdmp_job_tell(job, PSDM_JOB_FRAGILE, "IPOPT");
  psdm_status status = psdm_optimal_new(job->robot, o, NULL, answer, &error);
  psdmp_job_event(job, PSDM_JOB_FRAGILE);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(job, &error);
  psdmp_job_detail(job, "%s: %d iterations, %.3g s; the motion takes %.6g s", (*answer)->words, (*answer)->iterations,
                   (*answer)->wall, (*answer)->seconds);
  return PSDM_OK;
}

/* an interrupted motion is useful if it respects the limits */
static psdm_status keep_best(const psdmp_job_plan *j) {
  if (!psdmp_job_interrupted(&j->job)) return PSDM_OK;
  if (!keeps(j->optimal->infeasibility) || !(j->optimal->worst_effort <= 1.001))
    return psdmp_job_nothing(&j->job, none_keeps);
  psdmp_job_warn(&j->job, "interrupted: this motion respects the limits, but is not optimal");
  return PSDM_OK;
}

/* energy alone is least in infinite time: 1.2 times the least time is a sensible default */
static psdm_status choose_duration(psdmp_job_plan *j, psdm_optimal_options *o) {
  static const char no_time[] = "the least time, which determines the duration, was not found";
  psdm_optimal *quick = NULL;
  psdm_optimal_options first = *o;
  first.time = 1;
  first.energy = 0;
  psdm_status status = solve(j, &first, no_time, &quick);
  if (status) return status;
  o->duration = 1.2 * quick->seconds;
  if (psdmp_job_interrupted(&j->job)) status = psdmp_job_nothing(&j->job, no_time);
  else if (!quick->converged && !quick->stopped)
    psdmp_job_warn(&j->job, "the least time, which determines the duration, is uncertain: %s", quick->words);
  psdm_optimal_free(quick);
  return status;
}

psdm_status psdmp_job_plan_optimal(psdmp_job_plan *j) {
  double blend = j->set.blend >= 0 ? j->set.blend : j->what == PLAN_ENERGY ? 1 : 0;
  psdm_optimal_options o = {.from = j->from,
                            .to = j->to,
                            .lower = j->limit[LIMIT_LOWER],
                            .upper = j->limit[LIMIT_UPPER],
                            .velocity = j->limit[LIMIT_VELOCITY],
                            .acceleration = j->limit[LIMIT_ACCELERATION],
                            .effort = j->limit[LIMIT_EFFORT],
                            .friction = j->friction,
                            .elastic = j->set.elastic,
                            .nodes = (int)j->set.nodes,
                            .tolerance = j->set.tolerance,
                            .wall = j->set.wall,
                            .time = 1 - blend,
                            .energy = blend};
  psdm_status status = PSDM_OK;
  psdmp_job_event(&j->job, PSDM_JOB_STOPPABLE);
  if (blend != 1) o.longest = j->set.duration;
  else if (j->set.duration > 0) o.duration = j->set.duration;
  else status = choose_duration(j, &o);
  if (!status) status = solve(j, &o, NULL, &j->optimal);
  if (!status) status = keep_best(j);
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  if (!status) j->seconds = j->optimal->seconds;
  return status;
}
