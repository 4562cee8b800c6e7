/* cmd_plan_ways.c: the three methods: time scaling, along a path, optimal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_plan.h"

/* ---- scale ---- */

/* Rows of the trajectory and their torques, separately; (rows x n) each. */
typedef struct apart {
  long rows;
  double *memory, *qd, *qdd, *tau, *gravity, *viscous, *dry;
} apart;

/* friction that grows with speed is scaled by 1/k, which is exact for Fv v; a power or Stribeck's decrease is treated
 * as dry: it changes little */
static void friction_apart(const plan_job *j, apart *a, long at) {
  for (int i = 0; i < j->n; i++) {
    const psdm_friction *f = &plan_joint(j, i)->friction;
    if (!f->given || !j->friction) continue;
    double v = a->qd[at + i], all = psdm_friction_steady(f, j->friction, v);
    a->viscous[at + i] = j->friction == PSDM_FRICTION_POWER && f->exponent != 1 ? 0 : f->viscous * v;
    a->dry[at + i] = all - a->viscous[at + i];
    a->tau[at + i] += all;
  }
}

static psdm_status torques_apart(const plan_job *j, apart *a) {
  double begin = psdm_motion_begin(j->path), length = psdm_motion_end(j->path) - begin;
  psdm_status status = PSDM_OK;
  for (long k = 0; k < a->rows && !status; k++) {
    long at = k * j->n;
    psdm_motion_at(j->path, begin + length * (double)k / (double)(a->rows - 1), 3, j->state);
    memcpy(a->qd + at, j->state + j->n, sizeof *a->qd * (size_t)j->n);
    memcpy(a->qdd + at, j->state + 2 * j->n, sizeof *a->qdd * (size_t)j->n);
    status = psdm_inverse(j->robot, j->work, j->state, a->qd + at, a->qdd + at, a->tau + at);
    if (!status) status = psdm_gravity(j->robot, j->work, j->state, a->gravity + at);
    friction_apart(j, a, at);
  }
  return status;
}

/* torques scaled from the stored ones, against torques of the slower trajectory: equal up to rounding if friction is
 * absent or linear */
static psdm_status recompute(plan_job *j, const apart *a, const psdm_scale_rows *rows) {
  double *scaled = malloc(sizeof *scaled * (size_t)(a->rows * j->n)), begin = psdm_motion_begin(j->path),
         length = psdm_motion_end(j->path) - begin, worst = 0, size = 0;
  psdm_status status = scaled ? PSDM_OK : PSDM_E_MEMORY;
  if (scaled) psdm_scale_torque(rows, j->k, scaled);
  for (long k = 0; k < a->rows && !status; k++) {
    psdm_motion_at(j->path, begin + length * (double)k / (double)(a->rows - 1), 3, j->state);
    for (int i = 0; i < j->n; i++) j->state[j->n + i] /= j->k, j->state[2 * j->n + i] /= j->k * j->k;
    status = psdm_inverse(j->robot, j->work, j->state, j->state + j->n, j->state + 2 * j->n, j->tau);
    if (!status) plan_add_friction(j);
    for (int i = 0; i < j->n && !status; i++) {
      worst = fmax(worst, fabs(scaled[k * j->n + i] - j->tau[i]));
      size = fmax(size, fabs(j->tau[i]));
    }
  }
  j->recomputed = size > 0 ? worst / size : 0;
  free(scaled);
  return status;
}

static int impossible(const plan_job *j, const apart *a) {
  psdm_error error = {.status = PSDM_E_ARGUMENT};
  double length = psdm_motion_end(j->path) - psdm_motion_begin(j->path);
  if (j->by.row < 0) {
    snprintf(error.text, sizeof error.text, "no factor respects the limits");
  } else {
    snprintf(
        error.text, sizeof error.text,
        "no factor respects the limits: joint '%s' at t = %.4g s needs %.4g Nm at rest, above its limit of %.4g Nm",
        tool_safe(plan_joint(j, j->by.joint)->name),
        psdm_motion_begin(j->path) + length * (double)j->by.row / (double)(a->rows - 1),
        fabs(a->gravity[j->by.row * j->n + j->by.joint] + a->dry[j->by.row * j->n + j->by.joint]),
        j->limit[LIMIT_EFFORT][j->by.joint]);
  }
  tool_fail(&error);
  return EXIT_QUALITY;
}

static int find_factor(plan_job *j, apart *a) {
  const psdm_scale_rows rows = {.rows = a->rows,
                                .n = j->n,
                                .qd = a->qd,
                                .qdd = a->qdd,
                                .tau = a->tau,
                                .gravity = a->gravity,
                                .viscous = a->viscous,
                                .dry = a->dry};
  const psdm_scale_limits limits = {j->limit[LIMIT_VELOCITY], j->limit[LIMIT_ACCELERATION], j->limit[LIMIT_EFFORT]};
  psdm_error error = {.status = PSDM_E_ARGUMENT};
  if (torques_apart(j, a)) return tool_usage("plan", "no torques along the trajectory");
  psdm_status status = psdm_scale_least(&rows, &limits, &j->k, &j->by);
  if (j->set.factor > 0) {
    j->k = j->set.factor;
  } else if (status) {
    return impossible(j, a);
  } else if (j->by.by == PSDM_SCALE_NOTHING) {
    snprintf(error.text, sizeof error.text,
             "no limit applies to the trajectory; give limits of velocity, acceleration or torque, or --factor");
    return tool_fail(&error);
  }
  if ((status = recompute(j, a, &rows))) return tool_fail(&(psdm_error){.status = status});
  j->seconds = j->k * (psdm_motion_end(j->path) - psdm_motion_begin(j->path));
  return -1;
}

int plan_scale(plan_job *j) {
  apart a = {.rows = j->set.points >= 2 ? (long)j->set.points : 10001};
  size_t each = (size_t)(a.rows * j->n);
  if (!(a.memory = calloc(6 * each, sizeof *a.memory))) return tool_no_memory("plan");
  a.qd = a.memory, a.qdd = a.qd + each, a.tau = a.qdd + each, a.gravity = a.tau + each, a.viscous = a.gravity + each,
  a.dry = a.viscous + each;
  int code = find_factor(j, &a);
  free(a.memory);
  return code;
}

/* ---- along a path ---- */

int plan_path(plan_job *j) {
  const psdm_path_options options = {.velocity = j->limit[LIMIT_VELOCITY],
                                     .acceleration = j->limit[LIMIT_ACCELERATION],
                                     .effort = j->limit[LIMIT_EFFORT],
                                     .friction = j->friction,
                                     .points = (long)j->set.points};
  psdm_error error;
  psdm_status status = psdm_path_plan_new(j->robot, j->path, &options, NULL, &j->plan, &error);
  if (status) {
    int code = tool_fail(&error);
    return status == PSDM_E_ARGUMENT ? EXIT_QUALITY : code;
  }
  j->seconds = j->plan->seconds;
  return -1;
}

/* ---- optimal ---- */

static bool keeps(double infeasibility) { return infeasibility <= 1e-3; }

static const char none_keeps[] = "no motion so far respects all limits";

/* user: why no motion of this one is an answer; NULL: it is */
static void iterated(void *lacking, int iteration, double objective, double infeasibility) {
  (void)iteration, (void)objective;
  progress_lacking(lacking ? lacking : keeps(infeasibility) ? NULL : none_keeps);
}

static int solve(plan_job *j, psdm_optimal_options *o, const char *lacking, psdm_optimal **answer) {
  psdm_error error;
  progress bar = progress_start("optimising", 0);
  o->progress = progress_words;
  o->progress_user = &bar;
  o->iterated = iterated;
  o->iterated_user = (void *)lacking;
  progress_lacking(lacking ? lacking : none_keeps);
  tool_fragile("IPOPT");
  psdm_status status = psdm_optimal_new(j->robot, o, NULL, answer, &error);
  tool_solid();
  progress_end(&bar);
  if (!status)
    tool_detail("%s: %d iterations, %.3g s; the motion takes %.6g s", (*answer)->words, (*answer)->iterations,
                (*answer)->wall, (*answer)->seconds);
  return status ? tool_fail(&error) : -1;
}

static int interrupted(const char *why) {
  tool_warn("interrupted: %s; nothing was written", why);
  return EXIT_INTERRUPTED;
}

/* an interrupted motion is useful if it respects the limits */
static int keep_best(plan_job *j) {
  if (!tool_interrupted()) return -1;
  if (!keeps(j->optimal->infeasibility) || !(j->optimal->worst_effort <= 1.001)) return interrupted(none_keeps);
  tool_warn("interrupted: this motion respects the limits, but is not optimal");
  return -1;
}

int plan_optimal(plan_job *j) {
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
  int code = -1;
  if (blend == 1 && !(j->set.duration > 0)) {
    /* energy alone is least in infinite time: 1.2 times the least time is a sensible default */
    psdm_optimal *quick = NULL;
    psdm_optimal_options first = o;
    first.time = 1;
    first.energy = 0;
    static const char no_time[] = "the least time, which determines the duration, was not found";
    code = solve(j, &first, no_time, &quick);
    if (code < 0) o.duration = 1.2 * quick->seconds;
    if (code < 0 && tool_interrupted()) code = interrupted(no_time);
    if (code < 0 && !quick->converged && !quick->stopped)
      tool_warn("the least time, which determines the duration, is uncertain: %s", quick->words);
    psdm_optimal_free(quick);
  } else if (blend == 1) {
    o.duration = j->set.duration;
  } else {
    o.longest = j->set.duration;
  }
  if (code < 0) code = solve(j, &o, NULL, &j->optimal);
  if (code < 0) code = keep_best(j);
  tool_deaf();
  if (code < 0) j->seconds = j->optimal->seconds;
  return code;
}
