/* simulate_log.c: a log as a robot's recorder would write it: quantised encoders, noisy torques or currents. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

/* a joint's noise in Nm: a share of its effort limit, or of 1 Nm without one; of its torque constant for currents */
static psdm_status prepare_joint(psdmp_job_simulate *j, const psdm_joint *joint) {
  double effort = joint->limits.effort;
  psdm_error error = {.status = PSDM_E_MISSING};
  j->log_noise[joint->q] = j->set.log_noise * (isfinite(effort) && effort > 0 ? effort : 1);
  j->constant[joint->q] = joint->torque_constant;
  j->gear[joint->q] = joint->gear;
  if (!j->set.current || isfinite(joint->torque_constant)) return PSDM_OK;
  snprintf(error.text, sizeof error.text, "`current`: joint '%s' has no torque_constant",
           psdmp_job_safe(&j->job, joint->name));
  return psdmp_job_fail(&j->job, &error);
}

psdm_status psdmp_job_simulate_log_prepare(psdmp_job_simulate *j) {
  psdm_status status = PSDM_OK;
  j->log_noise = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->log_noise);
  j->constant = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->constant);
  j->gear = psdmp_job_array(&j->job, (size_t)j->n, sizeof *j->gear);
  j->scratch = psdmp_job_array(&j->job, 3 * (size_t)j->n, sizeof *j->scratch);
  j->log_random = (uint64_t)j->set.seed ^ 0x106u; /* a stream of its own */
  if (!j->log_noise || !j->constant || !j->gear || !j->scratch) return psdmp_job_memory(&j->job);
  for (int k = 0; k < psdm_robot_joints(j->robot) && !status; k++)
    if (psdm_robot_joint(j->robot, k)->q >= 0) status = prepare_joint(j, psdm_robot_joint(j->robot, k));
  return status;
}

/* with springs between motors and joints, motors turn with theta */
static void see(psdmp_job_simulate *j, const psdm_sim_row *row, double *q, double *tau, double *joint_tau) {
  for (int i = 0; i < j->n; i++)
    joint_tau[i] =
        row->tau[i] + (j->log_noise[i] > 0 ? j->log_noise[i] * psdmp_job_simulate_gaussian(&j->log_random) : 0);
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

void psdmp_job_simulate_log_row(psdmp_job_simulate *j, const psdm_sim_row *row) {
  if (!j->log) return;
  double *q = j->scratch, *tau = q + j->n, *joint_tau = tau + j->n;
  see(j, row, q, tau, joint_tau);
  const char *torques = j->set.current ? "i" : j->set.motor ? "taum" : "tau";
  const psdmp_job_group list[] = {PSDMP_JOB_GROUP("t", 0, &row->t), PSDMP_JOB_GROUP(j->set.motor ? "qm" : "q", j->n, q),
                                  PSDMP_JOB_GROUP(torques, j->n, tau)};
  psdmp_job_rows_add(j->log, list, 3);
}
