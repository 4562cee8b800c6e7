/* simulate_carry.c: what payload adds to the torques along a motion. Torques are linear in inertias: those of
 * the load alone, on links without any, are what it takes. */
#include "job/simulate_priv.h"

psdm_status psdmp_job_simulate_carry_prepare(psdmp_job_simulate *j) {
  psdmp_job_carried *c = &j->carried;
  size_t n = (size_t)j->n;
  if (!j->options.payloads) return PSDM_OK;
  c->nothing = psdmp_job_array(&j->job, (size_t)psdm_robot_parameter_count(j->robot), sizeof *c->nothing);
  c->tau = psdmp_job_array(&j->job, 4 * n, sizeof *c->tau);
  if (!c->nothing || !c->tau || psdm_robot_clone(j->robot, NULL, &c->load) || psdm_work_new(c->load, NULL, &c->work))
    return psdmp_job_memory(&j->job);
  c->sum = c->tau + n, c->sum_motor = c->tau + 2 * n, c->current = c->tau + 3 * n;
  psdm_robot_set_parameters(c->load, c->nothing);
  return PSDM_OK;
}

psdm_status psdmp_job_simulate_carry(psdmp_job_simulate *j, const psdm_along_row *row, psdm_error *error) {
  psdmp_job_carried *c = &j->carried;
  int before = c->next;
  psdm_status status = PSDM_OK;
  while (c->next < j->options.payloads && j->payload[c->next].t <= row->t + 1e-9 * j->row_period) c->next++;
  if (c->next > before) {
    psdm_robot_set_parameters(c->load, c->nothing);
    status = psdm_payload_attach(c->load, psdm_robot_default_link(c->load, NULL), j->payload[c->next - 1].pi, error);
  }
  return status ? status : psdm_inverse(c->load, c->work, row->q, row->qd, row->qdd, c->tau);
}
