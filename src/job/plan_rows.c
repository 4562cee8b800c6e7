/* plan_rows.c: the motion in rows, and its margins to the limits. */
#include <math.h>

#include "job/plan_priv.h"

void psdmp_job_plan_add_friction(const psdmp_job_plan *j) {
  for (int i = 0; i < j->n; i++) {
    const psdm_friction *f = &psdmp_job_joint(j->job.robot, i)->friction;
    if (f->given && j->friction) j->tau[i] += psdm_friction_steady(f, j->friction, j->state[j->n + i]);
  }
}

/* q, qd, qdd and tau at a moment */
static psdm_status state_at(const psdmp_job_plan *j, double t) {
  const psdm_robot *robot = j->job.robot;
  int n = j->n;
  if (j->optimal) {
    psdm_motion_at(j->optimal->motion, t, 3, j->state);
    return psdm_optimal_torque(j->optimal, robot, t, j->tau);
  }
  if (j->plan) {
    psdm_path_plan_state(j->plan, j->path, t, j->state);
  } else {
    psdm_motion_at(j->path, psdm_motion_begin(j->path) + t / j->k, 3, j->state);
    for (int i = 0; i < n; i++) j->state[n + i] /= j->k, j->state[2 * n + i] /= j->k * j->k;
  }
  psdm_status status = psdm_inverse(robot, j->work, j->state, j->state + n, j->state + 2 * n, j->tau);
  if (!status) psdmp_job_plan_add_friction(j);
  return status;
}

static void share(psdmp_job_plan *j, double value, double limit) {
  if (isfinite(limit)) j->used = fmax(j->used, value / limit);
}

/* positions count once they are outside, by the share of their range, beyond rounding */
static void share_position(psdmp_job_plan *j, int i) {
  double lower = j->limit[LIMIT_LOWER][i], upper = j->limit[LIMIT_UPPER][i],
         over = fmax(lower - j->state[i], j->state[i] - upper);
  double room = isfinite(upper - lower) ? fmax(upper - lower, 1) : 1;
  if (over > 1e-9 * room) j->used = fmax(j->used, 1 + over / room);
}

static void measure(psdmp_job_plan *j, double weight) {
  for (int i = 0; i < j->n; i++) {
    share_position(j, i);
    const double size[3] = {fabs(j->state[j->n + i]), fabs(j->state[2 * j->n + i]), fabs(j->tau[i])};
    for (int p = 0; p < 3; p++) {
      j->peak[p][i] = fmax(j->peak[p][i], size[p]);
      share(j, size[p], j->limit[LIMIT_VELOCITY + p][i]);
    }
    j->energy += weight * j->tau[i] * j->tau[i];
  }
}

static void add_row(const psdmp_job_plan *j, psdmp_job_sink *sink, double t) {
  const psdmp_job_group group[] = {
      PSDMP_JOB_GROUP("t", 0, &t), PSDMP_JOB_GROUP("q", j->n, j->state), PSDMP_JOB_GROUP("qd", j->n, j->state + j->n),
      PSDMP_JOB_GROUP("qdd", j->n, j->state + 2 * j->n), PSDMP_JOB_GROUP("tau", j->n, j->tau)};
  psdmp_job_rows_add(sink, group, sizeof group / sizeof *group);
}

/* the motion of a search that was stopped is measured to its end */
psdm_status psdmp_job_plan_go_on(const psdmp_job_plan *j, const char *doing, long done, long total) {
  if (j->optimal || psdmp_job_progress(&j->job, doing, (double)done / (double)total)) return PSDM_OK;
  return psdmp_job_fail(&j->job, &(psdm_error){.status = PSDM_E_STOPPED});
}

/* limits and energy on a grid of FINE points between rows, the energy by the trapezoidal rule; every FINE-th point
 * is a row */
static psdm_status walk(psdmp_job_plan *j, long last, psdmp_job_sink *sink) {
  enum { FINE = 10 };
  const long steps = last * FINE;
  psdm_status status = PSDM_OK;
  for (long k = 0; k <= steps && !status && !psdmp_job_rows_failed(sink); k++) {
    double step = j->seconds / (double)steps, t = k < steps ? step * (double)k : j->seconds;
    if (state_at(j, t)) return psdmp_job_wrong(&j->job, "no torques at t = %g s", t);
    measure(j, k && k < steps ? step : step / 2);
    if (k % FINE) continue;
    if (sink) add_row(j, sink, t);
    status = psdmp_job_plan_go_on(j, "measuring", k, steps);
  }
  return status;
}

/* kept rows, whose room doubles */
static psdm_status check_room(const psdmp_job_plan *j, double rows) {
  char what[64];
  psdm_error error;
  if (!psdmp_job_kept_wanted(&j->job, "out")) return PSDM_OK;
  psdmp_base_print(what, sizeof what, "keeping %.3g rows", rows);
  return psdm_robot_fits(j->job.robot, what, rows * 24 * (1 + 4 * j->n), &error) ? psdmp_job_fail(&j->job, &error)
                                                                                 : PSDM_OK;
}

psdm_status psdmp_job_plan_rows(psdmp_job_plan *j) {
  enum { MOST_ROWS = 100000000 };
  psdmp_job_sink *sink;
  double rows = fmax(ceil(j->seconds / j->set.output * (1 - 1e-12)), 1);
  if (!(rows <= MOST_ROWS))
    return psdmp_job_wrong(&j->job, "`output` %g: %g s would take more than %d rows", j->set.output, j->seconds,
                           MOST_ROWS);
  psdm_status status = check_room(j, rows + 1);
  if (!status) status = psdmp_job_rows_open(&j->job, "out", j->set.out, &sink);
  if (status) return status;
  j->rows = (long)rows + 1;
  status = walk(j, (long)rows, sink);
  if (!status) return psdmp_job_rows_commit(&j->job, &sink);
  psdmp_job_rows_abort(&j->job, &sink);
  return status;
}
