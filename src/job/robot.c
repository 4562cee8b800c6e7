/* robot.c: a robot's joints, links and axes, as jobs name them. */
#include <math.h>
#include <string.h>

#include "job/state_priv.h"

const psdm_joint *psdmp_job_joint(const psdm_robot *robot, int q) {
  int k = 0;
  while (psdm_robot_joint(robot, k)->q != q) k++;
  return psdm_robot_joint(robot, k);
}

double psdmp_job_limit(const psdm_joint *joint, int which) {
  const double value[LIMITS] = {joint->limits.lower, joint->limits.upper, joint->limits.velocity,
                                joint->limits.acceleration, joint->limits.effort};
  return value[which];
}

/* ---- links ---- */

int psdmp_job_default_link(const psdm_job *job, const psdm_robot *robot, const char *what) {
  bool chosen;
  int joint = psdm_robot_default_link(robot, &chosen);
  if (chosen && !job->state->told_link)
    psdmp_job_note(job, "link '%s', the tip of the longest moving chain (%s)",
                   psdmp_job_safe(job, psdm_robot_link_name(robot, joint)), what);
  job->state->told_link |= chosen;
  return joint;
}

/* "`link` 'A7': did you mean 'A6'?", among all links and joints */
static psdm_status no_link(const psdm_job *job, const char *setting, const psdm_robot *robot, const char *name) {
  int joints = psdm_robot_joints(robot);
  char known[300] = "";
  const char **words = psdmp_base_arena_alloc(&job->state->arena, 2 * (size_t)joints * sizeof *words), *near;
  if (!words) return psdmp_job_memory(job);
  for (int k = 0; k < joints; k++)
    words[k] = psdm_robot_link_name(robot, k), words[joints + k] = psdm_robot_joint(robot, k)->name;
  if ((near = psdmp_base_nearest(name, words, 2 * (size_t)joints)))
    return psdmp_job_wrong(job, "`%s` '%s': did you mean '%s'?", setting, psdmp_job_safe(job, name),
                           psdmp_job_safe(job, near));
  for (int k = 0; k < joints && strlen(known) < 200; k++)
    psdmp_base_print(known + strlen(known), sizeof known - strlen(known), "%s%.60s", k ? ", " : "",
                     psdmp_job_safe(job, words[k]));
  return psdmp_job_wrong(job, "`%s` '%s': the robot has no such link or joint; its links are %s", setting,
                         psdmp_job_safe(job, name), known);
}

psdm_status psdmp_job_find_link(const psdm_job *job, const char *setting, const psdm_robot *robot, const char *name,
                                int *joint) {
  *joint = psdm_robot_find(robot, name);
  return *joint >= 0 ? PSDM_OK : no_link(job, setting, robot, name);
}

psdm_status psdmp_job_must_move(const psdm_job *job, const char *setting, const psdm_robot *robot, int joint) {
  if (psdm_robot_moves(robot, joint)) return PSDM_OK;
  return psdmp_job_wrong(job, "`%s`: link '%s' is fixed to the base and does not move", setting,
                         psdmp_job_safe(job, psdm_robot_link_name(robot, joint)));
}

/* ---- accelerations ---- */

psdm_status psdmp_job_regular(const psdm_job *job, const psdm_robot *robot) {
  psdm_error error;
  double condition;
  if (psdm_mass_condition(robot, NULL, &condition, &error)) return psdmp_job_fail(job, &error);
  if (condition > 1e12)
    psdmp_job_warn(job, "the mass matrix is nearly singular (condition %.1e): accelerations have few correct digits",
                   condition);
  return PSDM_OK;
}

/* ---- axes ---- */

/* how far the axis of a moving link is from parallel or perpendicular to the one before, whichever is nearer; 0
 * where it has none */
static double off_axis(const psdm_robot *robot, int body, const char **name) {
  psdm_body b;
  if (!psdm_robot_body(robot, body, &b) || b.parent < 0) return 0;
  double along = fabs(b.R[8]), across = hypot(b.R[2], b.R[5]);
  for (int k = 0; k < psdm_robot_joints(robot); k++)
    if (psdm_robot_joint(robot, k)->link == b.link) *name = psdm_robot_joint(robot, k)->name;
  return fmin(atan2(across, along), atan2(along, across));
}

void psdmp_job_weak_axes(const psdm_job *job, const psdm_robot *robot, double condition) {
  const double least = 1e-10, most = 0.02; /* rad: above rounding, below any intended angle */
  char names[400] = "";
  size_t used = 0;
  int count = 0;
  double largest = 0;
  for (int body = 0; body < psdm_robot_links(robot); body++) {
    const char *name = "";
    double off = off_axis(robot, body, &name);
    if (!(off > least && off < most)) continue;
    if (used + 1 < sizeof names)
      used += (size_t)psdmp_base_print(names + used, sizeof names - used, "%s'%.60s' (%.2g rad)", count ? ", " : "",
                                       psdmp_job_safe(job, name), off);
    if (used >= sizeof names) used = sizeof names - 1;
    largest = fmax(largest, off);
    count++;
  }
  if (!count || !(condition > 1e3)) return;
  psdmp_job_warn(job,
                 "condition number %.3g: some parameters are identifiable only because axes are not quite parallel or "
                 "perpendicular to the one before: %s; `snap_axes` %.1g aligns them",
                 condition, names, 2 * largest);
}

/* ---- drives ---- */

bool psdmp_job_coupled_drives(psdm_result *answer, const psdm_robot *robot) {
  int n = psdm_robot_n(robot);
  double *motor = psdm_result_memory(answer, 2 * (long)n, sizeof *motor);
  bool coupled = false;
  for (int i = 0; motor && i < n; i++) {
    double *q = motor + n;
    motor[i] = psdmp_job_joint(robot, i)->gear; /* one turn of it turns its own joint once, and no other */
    psdm_robot_motor_to_joint(robot, motor, q);
    for (int k = 0; k < n; k++) coupled |= fabs(q[k] - (k == i)) > 1e-9;
    motor[i] = 0;
  }
  return coupled;
}
