/* cmd_plan_rows.c: the motion in rows, its margins to the limits, and the text report. */
#include <math.h>
#include <string.h>

#include "cmd_plan.h"

const psdm_joint *plan_joint(const plan_job *j, int q) {
  int k = 0;
  while (psdm_robot_joint(j->robot, k)->q != q) k++;
  return psdm_robot_joint(j->robot, k);
}

void plan_add_friction(const plan_job *j) {
  for (int i = 0; i < j->n; i++) {
    const psdm_friction *f = &plan_joint(j, i)->friction;
    if (f->given && j->friction) j->tau[i] += psdm_friction_steady(f, j->friction, j->state[j->n + i]);
  }
}

/* q, qd, qdd and tau at a moment */
static psdm_status state_at(const plan_job *j, double t) {
  int n = j->n;
  if (j->optimal) {
    psdm_motion_at(j->optimal->motion, t, 3, j->state);
    return psdm_optimal_torque(j->optimal, j->robot, t, j->tau);
  }
  if (j->plan) {
    psdm_path_plan_state(j->plan, j->path, t, j->state);
  } else {
    psdm_motion_at(j->path, psdm_motion_begin(j->path) + t / j->k, 3, j->state);
    for (int i = 0; i < n; i++) j->state[n + i] /= j->k, j->state[2 * n + i] /= j->k * j->k;
  }
  psdm_status status = psdm_inverse(j->robot, j->work, j->state, j->state + n, j->state + 2 * n, j->tau);
  if (!status) plan_add_friction(j);
  return status;
}

static void share(plan_job *j, double value, double limit) {
  if (isfinite(limit)) j->used = fmax(j->used, value / limit);
}

/* positions count once they are outside, by the share of their range, beyond rounding */
static void share_position(plan_job *j, int i) {
  double lower = j->limit[LIMIT_LOWER][i], upper = j->limit[LIMIT_UPPER][i],
         over = fmax(lower - j->state[i], j->state[i] - upper);
  double room = isfinite(upper - lower) ? fmax(upper - lower, 1) : 1;
  if (over > 1e-9 * room) j->used = fmax(j->used, 1 + over / room);
}

static void measure(plan_job *j, double weight) {
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

static void write_row(plan_job *j, psdm_output *out, double t) {
  const double *const group[4] = {j->state, j->state + j->n, j->state + 2 * j->n, j->tau};
  psdm_output_number(out, t);
  tool_group_numbers(out, group, 4, j->n);
}

static void write_header(const plan_job *j, psdm_output *out) {
  static const char *const names[] = {"q", "qd", "qdd", "tau"};
  psdm_output_text(out, "t");
  tool_group_names(out, names, 4, j->n);
}

/* limits and energy on a grid of FINE points between rows, the energy by the trapezoidal rule; every FINE-th point
 * is a row */
int plan_rows(plan_job *j) {
  enum { FINE = 10, MOST_ROWS = 100000000 };
  psdm_output *out = NULL;
  double rows = ceil(j->seconds / j->set.output * (1 - 1e-12));
  if (!(rows <= MOST_ROWS))
    return tool_usage("plan", "--output %g: %g s would take more than %d rows", j->set.output, j->seconds, MOST_ROWS);
  long last = (long)rows;
  int code = j->set.out ? tool_open(j->set.out, &out) : -1;
  if (code >= 0) return code;
  if (last < 1) last = 1;
  if (out) write_header(j, out);
  for (long k = 0; k <= last * FINE; k++) {
    double step = j->seconds / (double)(last * FINE), t = k < last * FINE ? step * (double)k : j->seconds;
    if (state_at(j, t)) {
      tool_abort(&out);
      return tool_usage("plan", "no torques at t = %g s", t);
    }
    measure(j, k && k < last * FINE ? step : step / 2);
    if (out && k % FINE == 0) write_row(j, out, t);
  }
  j->rows = last + 1;
  code = out ? tool_commit(&out) : EXIT_OK;
  return code == EXIT_OK ? -1 : code;
}

/* ---- text ---- */

static void print_what(const plan_job *j) {
  const char *name = tool_safe(psdm_robot_name(j->robot));
  if (j->what == PLAN_SCALE) {
    printf("%s: the trajectory scaled by %.6g, %.6g s\n", name, j->k, j->seconds);
    if (j->by.by != PSDM_SCALE_NOTHING)
      printf("  %s the %s of joint '%s' is at its limit\n", j->set.factor > 0 ? "with the smallest factor" : "at which",
             psdm_scale_name(j->by.by), tool_safe(plan_joint(j, j->by.joint)->name));
    printf("  scaled torques against recomputed ones: %.1e\n", j->recomputed);
  } else if (j->plan) {
    long met = 0;
    for (long k = 0; k < j->plan->points; k++) met += j->plan->usage[k] > 0.99;
    printf("%s: fastest traversal of the path, %.6g s; a limit is active at %.1f %% of %ld points\n", name, j->seconds,
           100 * (double)met / (double)j->plan->points, j->plan->points);
  } else {
    printf("%s: %s, %.6g s, integral of squared torques %.6g\n", name,
           j->what == PLAN_TIME ? "fastest motion" : "least strenuous motion", j->seconds, j->energy);
    printf("  %s; %d iterations, %.2f s; the initial guess took %.6g s and %.6g\n", j->optimal->words,
           j->optimal->iterations, j->optimal->wall, j->optimal->guess_seconds, j->optimal->guess_energy);
  }
}

void plan_print(const plan_job *j) {
  print_what(j);
  printf("\n  %-16s %11s %11s %11s %11s %11s %11s\n", "joint", "peak |qd|", "limit", "peak |qdd|", "limit",
         "peak |tau|", "limit");
  for (int i = 0; i < j->n; i++) {
    printf("  %-16.16s", tool_safe(plan_joint(j, i)->name));
    for (int p = 0; p < 3; p++) {
      double limit = j->limit[LIMIT_VELOCITY + p][i];
      printf(" %11.5g", j->peak[p][i]);
      if (isfinite(limit)) printf(" %11.5g", limit);
      else printf(" %11s", "-");
    }
    printf("\n");
  }
  printf("  at most %.2f %% of a limit, on %ld points\n", 100 * j->used, 10 * (j->rows - 1) + 1);
  if (j->set.out) printf("  %ld rows in %s\n", j->rows, tool_safe(j->set.out));
}

static void put_optimal(const plan_job *j, psdm_plan_result *r) {
  const psdm_optimal *o = j->optimal;
  if (!o) return;
  r->converged = o->converged, r->stopped = o->stopped;
  r->solver = psdm_result_text(&r->head, o->words);
  r->iterations = o->iterations;
  r->wall = o->wall, r->infeasibility = o->infeasibility;
  r->guess_seconds = o->guess_seconds, r->guess_energy = o->guess_energy;
}

/* at most this many points of the path, evenly spaced: position, speed, and largest share of a limit */
static void put_path(const plan_job *j, psdm_plan_result *r) {
  enum { MOST = 500 };
  const psdm_path_plan *p = j->plan;
  if (!p) return;
  long shown = p->points < MOST ? p->points : MOST;
  psdm_path_profile *to = psdm_result_items(&r->head, &psdm_path_profile_type, 1);
  double *s = psdm_result_memory(&r->head, 4 * shown, sizeof *s);
  if (!to || !s) return;
  double *t = s + shown, *speed = t + shown, *usage = speed + shown;
  for (long k = 0; k < shown; k++) {
    long at = shown > 1 ? k * (p->points - 1) / (shown - 1) : 0;
    s[k] = p->s[at], t[k] = p->t[at], speed[k] = sqrt(p->x[at]), usage[k] = p->usage[at];
  }
  PSDM_RESULT_SET(to->s, s, shown);
  PSDM_RESULT_SET(to->t, t, shown);
  PSDM_RESULT_SET(to->speed, speed, shown);
  PSDM_RESULT_SET(to->usage, usage, shown);
  r->points = p->points;
  r->path = to;
}

int plan_json(const plan_job *j) {
  psdm_result *head;
  psdm_error error;
  if (psdm_result_new(&psdm_plan_result_type, NULL, &head, &error)) return tool_fail(&error);
  psdm_plan_result *r = (psdm_plan_result *)head;
  psdm_result_name_robot(head, j->robot, &r->name, &r->fingerprint);
  r->n = j->n;
  PSDM_RESULT_SET(r->joints, psdm_result_joints(head, j->robot, j->limit), j->n);
  r->what = j->words[1];
  r->seconds = j->seconds, r->energy = j->energy, r->limit_used = j->used;
  PSDM_RESULT_SET(r->peak_velocity, j->peak[0], j->n);
  PSDM_RESULT_SET(r->peak_acceleration, j->peak[1], j->n);
  PSDM_RESULT_SET(r->peak_torque, j->peak[2], j->n);
  if (j->what == PLAN_SCALE) {
    r->factor = j->k;
    r->limited_by = psdm_scale_name(j->by.by);
    r->limited_joint = j->by.joint + 1;
    r->recomputed = j->recomputed;
  }
  put_path(j, r);
  put_optimal(j, r);
  r->rows = j->rows;
  r->settings.item = settings_values(&plan_line, &j->set, head, &r->settings.rows);
  return tool_answer(head);
}
