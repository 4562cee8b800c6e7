/* path.c: time-optimal parameterisation of a path by reachability analysis (Pham and Pham 2018). */
#include "psdm/path.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "plan/plan_priv.h"
#include "psdm/rigid.h"

enum { POINTS = 1000, MOST_POINTS = 10000000, PASSES = 8 };

struct psdmp_plan_path_plan {
  psdm_path_plan p;
  psdmp_base_arena arena;
};

/* Data of one plan; arrays over points are row-major. */
typedef struct job {
  const psdm_robot *robot;
  const psdm_motion *path;
  psdm_path_options options;
  const psdm_allocator *allocator;
  psdmp_base_arena scratch;
  psdm_work *work;
  int n;
  long points;
  double step;                              /* of s */
  double *velocity, *acceleration, *effort; /* (n) limits */
  double *d1, *d2;                          /* (points x n) q', q'' */
  double *a, *b, *c;                        /* (points x n) tau = a u + b x + c; NULL: torques have no limits */
  /* (points x n) speed-dependent friction, from the previous answer; NULL: none */
  double *viscous;
  double *low, *high;    /* (points) controllable interval of x */
  double *x, *u;         /* (points) */
  psdmp_plan_line *line; /* (8n + 2) */
  long reductions;
  psdm_error *error;
} job;

static double *numbers(psdmp_base_arena *arena, size_t count) {
  return psdmp_base_arena_alloc(arena, (count ? count : 1) * sizeof(double));
}

/* ---- limits ---- */

static void fill_limits(job *j) {
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, k);
    if (joint->q < 0) continue;
    const psdm_path_options *o = &j->options;
    j->velocity[joint->q] = o->velocity ? o->velocity[joint->q] : joint->limits.velocity;
    j->acceleration[joint->q] = o->acceleration ? o->acceleration[joint->q] : joint->limits.acceleration;
    j->effort[joint->q] = o->effort ? o->effort[joint->q] : joint->limits.effort;
  }
}

static psdm_status check_limits(job *j, bool *torques) {
  *torques = false;
  for (int i = 0; i < j->n; i++) {
    if (!(j->velocity[i] > 0) || !(j->acceleration[i] > 0) || !(j->effort[i] > 0))
      return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "limits of joint %d: positive numbers were expected",
                             i + 1);
    *torques |= isfinite(j->effort[i]);
  }
  return PSDM_OK;
}

/* ---- the path as coefficients ---- */

static double s_of(const job *j, long k) { return psdm_motion_begin(j->path) + j->step * (double)k; }

/* dry friction in the path's direction, independent of speed */
static void add_dry(const job *j, long k) {
  for (int i = 0; i < psdm_robot_joints(j->robot); i++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, i);
    if (joint->q < 0 || !joint->friction.given) continue;
    double slope = j->d1[k * j->n + joint->q];
    j->c[k * j->n + joint->q] +=
        psdm_friction_most(&joint->friction, j->options.friction) * ((slope > 0) - (slope < 0)) +
        (j->options.friction ? joint->friction.offset : 0);
  }
}

static psdm_status torque_coefficients(job *j, long k, const double *q, double *zero) {
  size_t at = (size_t)k * (size_t)j->n;
  double *a = j->a + at, *b = j->b + at, *c = j->c + at;
  psdm_status status = psdm_gravity(j->robot, j->work, q, c);
  if (!status) status = psdm_inverse(j->robot, j->work, q, zero, j->d1 + at, a);
  if (!status) status = psdm_inverse(j->robot, j->work, q, j->d1 + at, j->d2 + at, b);
  for (int i = 0; i < j->n && !status; i++) {
    a[i] -= c[i];
    b[i] -= c[i];
  }
  if (!status && j->options.friction) add_dry(j, k);
  return status;
}

static psdm_status sample_path(job *j, bool torques) {
  double *state = numbers(&j->scratch, 4 * (size_t)j->n);
  if (!state) return psdmp_base_no_memory("", j->error);
  for (long k = 0; k < j->points; k++) {
    size_t at = (size_t)k * (size_t)j->n;
    psdm_motion_at(j->path, s_of(j, k), 3, state);
    memcpy(j->d1 + at, state + j->n, sizeof *state * (size_t)j->n);
    memcpy(j->d2 + at, state + 2 * j->n, sizeof *state * (size_t)j->n);
    psdm_status status = torques ? torque_coefficients(j, k, state, state + 3 * j->n) : PSDM_OK;
    if (status == PSDM_E_MISSING) return psdm_robot_ready(j->robot, j->error);
    if (status) return psdmp_base_fail(j->error, status, "", 0, 0, "no torques at s = %.6g", s_of(j, k));
  }
  return PSDM_OK;
}

/* ---- limits as lines in (u, x) ---- */

/* |a u + b x + c| <= most */
static int both_sides(psdmp_plan_line *line, double a, double b, double c, double most) {
  line[0] = (psdmp_plan_line){a, b, most - c};
  line[1] = (psdmp_plan_line){-a, -b, most + c};
  return 2;
}

/* the limits at point k of an interval that starts at x: there (reach = 0), or at its end, where x has become x + reach
 * u */
static int lines_at(const job *j, long k, double reach, psdmp_plan_line *line) {
  int count = 0;
  for (int i = 0; i < j->n; i++) {
    size_t at = (size_t)(k * j->n + i);
    if (isfinite(j->acceleration[i]))
      count += both_sides(line + count, j->d1[at] + reach * j->d2[at], j->d2[at], 0, j->acceleration[i]);
    if (isfinite(j->effort[i]))
      count += both_sides(line + count, j->a[at] + reach * j->b[at], j->b[at],
                          j->c[at] + (j->viscous ? j->viscous[at] : 0), j->effort[i]);
  }
  return count;
}

/* the largest x within the velocity limits at a point */
static double fastest(const job *j, long k) {
  double most = 1e150;
  for (int i = 0; i < j->n; i++) {
    double slope = fabs(j->d1[k * j->n + i]);
    if (slope > 0) most = fmin(most, j->velocity[i] / slope * (j->velocity[i] / slope));
  }
  return most;
}

/* ---- the two passes ---- */

static psdm_status fail_at(const job *j, long k, const char *why) {
  return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "s = %.6g: %s", s_of(j, k), why);
}

/* all constraints on (u, x) at the start of interval k: limits at both its ends, and x + 2 step u in the controllable
 * set */
static int interval_lines(const job *j, long k) {
  int count = lines_at(j, k, 0, j->line);
  count += lines_at(j, k + 1, 2 * j->step, j->line + count);
  j->line[count] = (psdmp_plan_line){2 * j->step, 1, j->high[k + 1]};
  j->line[count + 1] = (psdmp_plan_line){-2 * j->step, -1, -j->low[k + 1]};
  return count + 2;
}

static psdm_status backward(job *j) {
  double u;
  long last = j->points - 1;
  j->low[last] = j->high[last] = j->options.end * j->options.end;
  if (j->high[last] > fastest(j, last)) return fail_at(j, last, "the requested final speed is above a velocity limit");
  for (long k = last - 1; k >= 0; k--) {
    int count = interval_lines(j, k);
    double most = fastest(j, k);
    if (!psdmp_plan_plane_largest(count, j->line, 0, most, 0, 1, &u, &j->high[k]) ||
        !psdmp_plan_plane_largest(count, j->line, 0, most, 0, -1, &u, &j->low[k]))
      return fail_at(j, k, "from here on no speed along the path keeps to the limits");
    if (j->high[k] >= 1e149)
      return fail_at(j, k,
                     "nothing limits the speed along the path; a velocity, acceleration or torque limit is needed");
    j->low[k] = fmin(j->low[k], j->high[k]);
  }
  return PSDM_OK;
}

/* the largest u at x that stays inside; false if there is none */
static bool quickest(job *j, long k, double x, double *u) {
  double at;
  return psdmp_plan_plane_largest(interval_lines(j, k), j->line, x, x, 1, 0, u, &at);
}

static psdm_status forward(job *j) {
  double x = j->options.begin * j->options.begin;
  if (x > j->high[0] * (1 + 1e-9) || x < j->low[0] * (1 - 1e-9))
    return fail_at(j, 0, "the initial speed is too high to stay within the limits along the path");
  for (long k = 0; k + 1 < j->points; k++) {
    x = fmin(fmax(x, j->low[k]), j->high[k]);
    /* rounding may put x slightly outside: then use a little less */
    double u = 0, less = 1e-13;
    bool any = quickest(j, k, x, &u);
    for (; !any && less < 1e-6; less *= 10) {
      any = quickest(j, k, fmax(x * (1 - less), j->low[k]), &u);
      if (any) x = fmax(x * (1 - less), j->low[k]), j->reductions++;
    }
    if (!any) return fail_at(j, k, "the limits leave no room");
    j->x[k] = x;
    x = fmin(fmax(x + 2 * j->step * u, j->low[k + 1]), j->high[k + 1]);
    j->u[k] = (x - j->x[k]) / (2 * j->step);
    if (!(j->x[k] > 0) && !(x > 0))
      return fail_at(j, k, "the path stands still: the limits leave no torque to move it");
  }
  j->x[j->points - 1] = x;
  j->u[j->points - 1] = j->u[j->points - 2];
  return PSDM_OK;
}

/* viscous friction and the Stribeck effect at the answer's speeds; true: it changed by more than a share of the
 * effort */
static bool take_viscous(job *j) {
  bool changed = false;
  for (int i = 0; i < psdm_robot_joints(j->robot); i++) {
    const psdm_joint *joint = psdm_robot_joint(j->robot, i);
    if (joint->q < 0 || !joint->friction.given) continue;
    for (long k = 0; k < j->points; k++) {
      const psdm_friction *f = &joint->friction;
      double *now = &j->viscous[k * j->n + joint->q], slope = j->d1[k * j->n + joint->q], v = slope * sqrt(j->x[k]),
             before = *now;
      /* and the difference of dry friction from its maximum at this speed */
      double less = psdm_friction_most(f, j->options.friction) - psdm_friction_dry(f, j->options.friction, fabs(v));
      *now = psdm_friction_smooth(f, j->options.friction, v) - f->offset - less * ((slope > 0) - (slope < 0));
      changed |= fabs(*now - before) > 1e-6 * j->effort[joint->q];
    }
  }
  return changed;
}

static psdm_status both_passes(job *j) {
  psdm_status status = PSDM_OK;
  bool again = true;
  for (int pass = 0; pass < PASSES && again && !status; pass++) {
    j->reductions = 0;
    status = backward(j);
    if (!status) status = forward(j);
    again = !status && j->viscous && take_viscous(j);
  }
  return status;
}

/* ---- the answer ---- */

typedef struct user {
  double share;
  int joint, by;
} user;

static void take_share(user *best, double share, int joint, int by) {
  if (share > best->share) *best = (user){share, joint, by};
}

/* usage by interval `from` at point k, one of its ends */
static void usage_at(const job *j, long from, long k, user *best) {
  double x = j->x[k], u = j->u[from];
  for (int i = 0; i < j->n; i++) {
    size_t at = (size_t)(k * j->n + i);
    take_share(best, fabs(j->d1[at]) * sqrt(x) / j->velocity[i], i, 0);
    take_share(best, fabs(j->d1[at] * u + j->d2[at] * x) / j->acceleration[i], i, 1);
    if (j->a)
      take_share(best, fabs(j->a[at] * u + j->b[at] * x + j->c[at] + (j->viscous ? j->viscous[at] : 0)) / j->effort[i],
                 i, 2);
  }
}

static psdm_status give(job *j, psdm_path_plan **out) {
  struct psdmp_plan_path_plan *answer = psdmp_base_alloc(j->allocator, sizeof *answer);
  size_t points = (size_t)j->points;
  if (!answer) return psdmp_base_no_memory("", j->error);
  answer->arena.allocator = j->allocator;
  double *s = numbers(&answer->arena, 5 * points), *t = s + points, *x = t + points, *u = x + points,
         *usage = u + points;
  int *joint = psdmp_base_arena_alloc(&answer->arena, 2 * points * sizeof *joint), *by = joint + points;
  if (!s || !joint) {
    psdmp_base_arena_free(&answer->arena);
    psdmp_base_free(j->allocator, answer);
    return psdmp_base_no_memory("", j->error);
  }
  for (long k = 0; k < j->points; k++) {
    user best = {-1, -1, -1};
    long from = k < j->points - 1 ? k : k - 1; /* no interval starts at the last point */
    usage_at(j, from, from, &best);
    usage_at(j, from, from + 1, &best);
    s[k] = s_of(j, k);
    t[k] = k ? t[k - 1] + 2 * j->step / (sqrt(j->x[k - 1]) + sqrt(j->x[k])) : 0;
    x[k] = j->x[k];
    u[k] = j->u[k];
    usage[k] = best.share;
    joint[k] = best.joint;
    by[k] = best.by;
  }
  answer->p = (psdm_path_plan){.n = j->n,
                               .points = j->points,
                               .seconds = t[points - 1],
                               .s = s,
                               .t = t,
                               .x = x,
                               .u = u,
                               .usage = usage,
                               .joint = joint,
                               .by = by,
                               .reductions = j->reductions,
                               .internal = answer};
  *out = &answer->p;
  return PSDM_OK;
}

static psdm_status prepare(job *j) {
  const psdm_path_options *o = &j->options;
  double length = psdm_motion_end(j->path) - psdm_motion_begin(j->path);
  bool torques;
  if (psdm_robot_loops(j->robot))
    return psdmp_base_fail(j->error, PSDM_E_ROBOT, "", 0, 0, "paths of robots with closed loops are not planned");
  if (psdm_motion_n(j->path) != j->n)
    return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "a path of %d joints; %d were expected",
                           psdm_motion_n(j->path), j->n);
  if (!(length > 0)) return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "the path has no length");
  if ((unsigned)o->friction >= PSDM_FRICTION_KINDS || o->points < 0 || o->points == 1 || o->points > MOST_POINTS ||
      !(o->begin >= 0) || !(o->end >= 0) || !isfinite(o->begin + o->end))
    return psdmp_base_fail(j->error, PSDM_E_ARGUMENT, "", 0, 0, "an option is out of range");
  j->points = o->points ? o->points : POINTS;
  j->step = length / (double)(j->points - 1);
  size_t points = (size_t)j->points, n = (size_t)j->n;
  j->velocity = numbers(&j->scratch, 3 * n);
  j->d1 = numbers(&j->scratch, 2 * points * n);
  j->low = numbers(&j->scratch, 4 * points);
  j->line = psdmp_base_arena_alloc(&j->scratch, (8 * n + 2) * sizeof *j->line);
  if (!j->velocity || !j->d1 || !j->low || !j->line) return psdmp_base_no_memory("", j->error);
  j->acceleration = j->velocity + n;
  j->effort = j->acceleration + n;
  j->d2 = j->d1 + points * n;
  j->high = j->low + points;
  j->x = j->high + points;
  j->u = j->x + points;
  fill_limits(j);
  psdm_status status = check_limits(j, &torques);
  if (status) return status;
  if (torques) {
    j->a = numbers(&j->scratch, 4 * points * n);
    if (!j->a || psdm_work_new(j->robot, j->allocator, &j->work)) return psdmp_base_no_memory("", j->error);
    j->b = j->a + points * n;
    j->c = j->b + points * n;
    if (o->friction) j->viscous = j->c + points * n;
  }
  return sample_path(j, torques);
}

psdm_status psdm_path_plan_new(const psdm_robot *robot, const psdm_motion *path, const psdm_path_options *options,
                               const psdm_allocator *allocator, psdm_path_plan **out, psdm_error *error) {
  job j = {.robot = robot,
           .path = path,
           .options = options ? *options : (psdm_path_options){0},
           .allocator = allocator,
           .n = psdm_robot_n(robot),
           .error = error};
  j.scratch.allocator = allocator;
  *out = NULL;
  psdm_status status = prepare(&j);
  if (!status) status = both_passes(&j);
  if (!status) status = give(&j, out);
  psdm_work_free(j.work, allocator);
  psdmp_base_arena_free(&j.scratch);
  return status;
}

void psdm_path_plan_free(psdm_path_plan *plan) {
  if (!plan) return;
  struct psdmp_plan_path_plan *answer = plan->internal;
  psdmp_base_arena_free_owner(&answer->arena, answer);
}

/* s, ds/dt, d2s/dt2 at time t */
static void at(const psdm_path_plan *p, double t, double *s, double *rate, double *second) {
  long low = 0, high = p->points - 1;
  bool in = t > 0 && t < p->seconds;
  if (!in) {
    long end = t > 0 ? high : 0;
    *s = p->s[end];
    *rate = sqrt(p->x[end]);
    *second = 0;
    return;
  }
  while (high - low > 1) {
    long middle = low + (high - low) / 2;
    *(p->t[middle] <= t ? &low : &high) = middle;
  }
  double dt = t - p->t[low], v = sqrt(p->x[low]), u = p->u[low];
  *s = fmin(p->s[low] + dt * (v + dt * u / 2), p->s[low + 1]);
  *rate = fmax(v + dt * u, 0);
  *second = u;
}

void psdm_path_plan_state(const psdm_path_plan *p, const psdm_motion *path, double t, double *x) {
  double s, rate, second, *qd = x + p->n, *qdd = qd + p->n;
  at(p, t, &s, &rate, &second);
  psdm_motion_at(path, s, 3, x);
  for (int i = 0; i < p->n; i++) {
    qdd[i] = qd[i] * second + qdd[i] * rate * rate;
    qd[i] *= rate;
  }
}
