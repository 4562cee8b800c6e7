/* cmd_simulate_log.c: a log as a robot's recorder would write it: quantised encoders, noisy torques or currents. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* a joint's noise in Nm: a share of its effort limit, or of 1 Nm without one; of its torque constant for currents */
static int prepare_joint(simulate_job *j, const psdm_joint *joint) {
  double effort = joint->limits.effort;
  psdm_error error = {.status = PSDM_E_MISSING};
  j->log_noise[joint->q] = j->set.log_noise * (isfinite(effort) && effort > 0 ? effort : 1);
  j->constant[joint->q] = joint->torque_constant;
  j->gear[joint->q] = joint->gear;
  if (!j->set.current || isfinite(joint->torque_constant)) return -1;
  snprintf(error.text, sizeof error.text, "--current: joint '%s' has no torque_constant", tool_safe(joint->name));
  return tool_fail(&error);
}

int simulate_log_prepare(simulate_job *j) {
  int code = -1;
  j->log_noise = simulate_array(j, (size_t)j->n, sizeof *j->log_noise);
  j->constant = simulate_array(j, (size_t)j->n, sizeof *j->constant);
  j->gear = simulate_array(j, (size_t)j->n, sizeof *j->gear);
  j->scratch = simulate_array(j, 3 * (size_t)j->n, sizeof *j->scratch);
  j->log_random = (unsigned long long)j->set.seed ^ 0x106u; /* a separate random stream */
  if (!j->log_noise || !j->constant || !j->gear || !j->scratch) return tool_no_memory("simulate");
  for (int k = 0; k < psdm_robot_joints(j->robot) && code < 0; k++)
    if (psdm_robot_joint(j->robot, k)->q >= 0) code = prepare_joint(j, psdm_robot_joint(j->robot, k));
  return code;
}

/* with springs between motors and joints, motors turn with theta */
static void see(simulate_job *j, const psdm_sim_row *row, double *q, double *tau, double *joint_tau) {
  for (int i = 0; i < j->n; i++)
    joint_tau[i] = row->tau[i] + (j->log_noise[i] > 0 ? j->log_noise[i] * simulate_gaussian(&j->log_random) : 0);
  if (j->set.motor) psdm_robot_joint_to_motor(j->robot, row->theta ? row->theta : row->q, q);
  else
    for (int i = 0; i < j->n; i++) q[i] = row->q[i];
  for (int i = 0; i < j->n && j->set.quantum > 0; i++) q[i] = j->set.quantum * round(q[i] / j->set.quantum);
  bool through = j->set.motor || (j->set.current && psdm_robot_has_transmission(j->robot));
  if (through) psdm_robot_motor_torque(j->robot, joint_tau, tau);
  else memcpy(tau, joint_tau, (size_t)j->n * sizeof *tau);
  /* a motor's torque constant is given after its gear */
  for (int i = 0; i < j->n && j->set.current; i++) tau[i] *= (through ? j->gear[i] : 1) / j->constant[i];
}

void simulate_log_row(simulate_job *j, const psdm_sim_row *row) {
  if (!j->log) return;
  double *q = j->scratch, *tau = q + j->n, *joint_tau = tau + j->n;
  see(j, row, q, tau, joint_tau);
  const column_group list[] = {{"t", 0, &row->t},
                               {j->set.motor ? "qm" : "q", j->n, q},
                               {j->set.current ? "i"
                                : j->set.motor ? "taum"
                                               : "tau",
                                j->n, tau}};
  if (!j->log_begun) simulate_header(j, j->log, list, 3);
  j->log_begun = true;
  simulate_values(j->log, list, 3);
  j->log_rows++;
}
