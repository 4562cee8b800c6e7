/* simulate_answer.c: the result of a simulation as a document. */
#include <math.h>

#include "job/simulate_priv.h"

static const char *const ends[PSDM_SIM_ENDS] = {"time", "limit", "stopped", "timeout", "diverged", "failed"};

static void put_control(const psdmp_job_simulate *j, psdm_simulate_result *r, const psdm_sim_row *row) {
  psdm_named_number *state = psdm_result_memory(&r->head, row->control_states, sizeof *state);
  for (int i = 0; state && i < row->control_states; i++)
    state[i] = (psdm_named_number){psdm_control_state_name(j->controller, i), row->control[i]};
  PSDM_RESULT_SET(r->final_state.control, state, row->control_states);
}

static void put_state(const psdmp_job_simulate *j, psdm_simulate_result *r, const psdm_sim_row *row) {
  psdm_final_state *to = &r->final_state;
  int n = row->n;
  to->t = row->t;
  PSDM_RESULT_SET(to->q, row->q, n);
  PSDM_RESULT_SET(to->qd, row->qd, n);
  PSDM_RESULT_SET(to->qdd, row->qdd, n);
  PSDM_RESULT_SET(to->tau, row->tau, n);
  if (j->answer.friction) PSDM_RESULT_SET(to->friction, row->friction, n);
  PSDM_RESULT_SET(to->z, row->z, n);
  PSDM_RESULT_SET(to->theta, row->theta, n);
  if (row->theta) PSDM_RESULT_SET(to->thetad, row->thetad, n);
  if (row->joints) PSDM_RESULT_SET(to->passive, row->passive, row->joints);
  if (row->control_states) put_control(j, r, row);
}

static void put_energy(const psdm_sim_result *run, const psdm_sim_row *row, psdm_simulate_result *r) {
  r->energy_drift = run->energy_drift, r->energy_balance = run->energy_balance;
  r->energy = (psdm_energy_audit){.start = run->energy_start,
                                  .end = run->energy_end,
                                  .peak_kinetic = run->peak_kinetic,
                                  .kinetic = row->kinetic,
                                  .potential = row->potential,
                                  .elastic = row->elastic,
                                  .bristles = row->bristles,
                                  .supplied = row->supplied,
                                  .dissipated = row->dissipated,
                                  .external = row->external,
                                  .payload = row->payload};
}

static void put_tracking(const psdm_simulation *a, psdm_simulate_result *r) {
  psdm_tracking *to = a->rms ? psdm_result_items(&r->head, &psdm_tracking_type, 1) : NULL;
  if (!to) return;
  PSDM_RESULT_SET(to->rms, a->rms, a->n);
  PSDM_RESULT_SET(to->rms_last_quarter, a->rms_last_quarter, a->n);
  PSDM_RESULT_SET(to->peak, a->peak, a->n);
  PSDM_RESULT_SET(to->final, a->final, a->n);
  r->tracking = to;
}

static void put_run(const psdmp_job_simulate *j, psdm_simulate_result *r) {
  const psdm_sim_result *run = &j->result;
  r->control = psdm_control_name(j->control_kind);
  r->end = ends[run->end];
  r->end_text = run->text[0] ? run->text : psdm_sim_end_text(run->end);
  r->time = run->t - j->start;
  put_state(j, r, &j->last);
  put_energy(run, &j->last, r);
  put_tracking(&j->answer, r);
  r->events = (psdm_simulate_events){run->reversals, run->sticks, run->limits};
  r->integrator = psdm_integrator_name(run->integrator);
  r->native = run->native;
  r->code = run->code_text[0] ? run->code_text : NULL;
  r->steps = run->steps, r->evaluations = run->evaluations;
  r->wall_seconds = run->wall;
  r->speed = run->wall > 0 ? r->time / run->wall : NAN;
  r->rows = j->out_rows, r->log_rows = j->log_rows;
}

/* both documents begin with the same fields */
#define PUT_ROBOT(j, r)                                                                     \
  do {                                                                                      \
    psdm_result_name_robot(&(r)->head, (j)->robot, &(r)->robot, &(r)->fingerprint);         \
    (r)->n = (j)->n;                                                                        \
    PSDM_RESULT_SET((r)->joints, psdm_result_joints(&(r)->head, (j)->robot, NULL), (j)->n); \
    (r)->settings.item = psdmp_job_settings(&(j)->job, &(r)->head, &(r)->settings.rows);    \
  } while (0)

static void fill_run(psdm_job *job, psdm_result *answer) {
  psdmp_job_simulate *j = (psdmp_job_simulate *)job;
  psdm_simulate_result *r = (psdm_simulate_result *)answer;
  PUT_ROBOT(j, r);
  put_run(j, r);
}

static void fill_inverse(psdm_job *job, psdm_result *answer) {
  psdmp_job_simulate *j = (psdmp_job_simulate *)job;
  const psdm_simulation *a = &j->answer;
  psdm_simulate_inverse_result *r = (psdm_simulate_inverse_result *)answer;
  PUT_ROBOT(j, r);
  r->begin = a->begin, r->end = a->end;
  r->rows = a->along, r->log_rows = j->log_rows;
  PSDM_RESULT_SET(r->peak_speed, a->peak_speed, j->n);
  PSDM_RESULT_SET(r->peak_torque, a->peak_torque, j->n);
  PSDM_RESULT_SET(r->rms_torque, a->rms_torque, j->n);
}

psdm_status psdmp_job_simulate_answer(psdmp_job_simulate *j) {
  return j->set.inverse ? psdmp_job_answer(&j->job, &psdm_simulate_inverse_result_type, fill_inverse)
                        : psdmp_job_answer(&j->job, &psdm_simulate_result_type, fill_run);
}
