/* simulate_json.c: the result of a simulation as one object. */
#include <math.h>

#include "job/simulate_priv.h"

static const char *const ends[PSDM_SIM_ENDS] = {"time", "limit", "stopped", "timeout", "diverged", "failed"};

static void json_state(const psdmp_job_simulate *j, psdm_output *out, const psdm_sim_row *row) {
  psdm_json_object(out, "final_state");
  psdm_json_number(out, "t", row->t);
  psdm_json_numbers(out, "q", row->q, row->n);
  psdm_json_numbers(out, "qd", row->qd, row->n);
  psdm_json_numbers(out, "qdd", row->qdd, row->n);
  psdm_json_numbers(out, "tau", row->tau, row->n);
  if (j->options.friction != PSDM_FRICTION_NONE) psdm_json_numbers(out, "friction", row->friction, row->n);
  if (row->z) psdm_json_numbers(out, "z", row->z, row->n);
  if (row->theta) psdm_json_numbers(out, "theta", row->theta, row->n);
  if (row->theta) psdm_json_numbers(out, "thetad", row->thetad, row->n);
  if (row->passive && row->joints) psdm_json_numbers(out, "passive", row->passive, row->joints);
  if (row->control_states) {
    psdm_json_object(out, "control");
    for (int i = 0; i < row->control_states; i++)
      psdm_json_number(out, psdm_control_state_name(j->controller, i), row->control[i]);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}

static void json_energy(const psdmp_job_simulate *j, psdm_output *out, const psdm_sim_row *row) {
  const psdm_sim_result *r = &j->result;
  psdm_json_number(out, "energy_drift", r->energy_drift);
  psdm_json_number(out, "energy_balance", r->energy_balance);
  psdm_json_object(out, "energy");
  psdm_json_number(out, "start", r->energy_start);
  psdm_json_number(out, "end", r->energy_end);
  psdm_json_number(out, "peak_kinetic", r->peak_kinetic);
  psdm_json_number(out, "kinetic", row->kinetic);
  psdm_json_number(out, "potential", row->potential);
  psdm_json_number(out, "elastic", row->elastic);
  psdm_json_number(out, "bristles", row->bristles);
  psdm_json_number(out, "supplied", row->supplied);
  psdm_json_number(out, "dissipated", row->dissipated);
  psdm_json_number(out, "external", row->external);
  psdm_json_number(out, "payload", row->payload);
  psdm_json_close(out);
}

static void json_tracking(const psdmp_job_simulate *j, psdm_output *out) {
  const psdm_simulation *a = &j->answer;
  if (!a->rms) return;
  psdm_json_object(out, "tracking");
  psdm_json_numbers(out, "rms", a->rms, j->n);
  psdm_json_numbers(out, "rms_last_quarter", a->rms_last_quarter, j->n);
  psdm_json_numbers(out, "peak", a->peak, j->n);
  psdm_json_numbers(out, "final", a->final, j->n);
  psdm_json_close(out);
}

static void json_work(const psdmp_job_simulate *j, psdm_output *out) {
  const psdm_sim_result *r = &j->result;
  psdm_json_object(out, "events");
  psdm_json_integer(out, "reversals", r->reversals);
  psdm_json_integer(out, "sticks", r->sticks);
  psdm_json_integer(out, "limits", r->limits);
  psdm_json_close(out);
  psdm_json_string(out, "integrator", psdm_integrator_name(r->integrator));
  psdm_json_bool(out, "native", r->native);
  if (r->code_text[0]) psdm_json_string(out, "code", r->code_text);
  psdm_json_integer(out, "steps", r->steps);
  psdm_json_integer(out, "evaluations", r->evaluations);
  psdm_json_number(out, "wall_seconds", r->wall);
  psdm_json_number(out, "speed", r->wall > 0 ? (r->t - j->start) / r->wall : NAN);
  psdm_json_integer(out, "rows", j->out_rows);
  psdm_json_integer(out, "log_rows", j->log_rows);
}

static void json_simulation(const psdmp_job_simulate *j, psdm_output *out) {
  const psdm_sim_result *r = &j->result;
  psdm_json_string(out, "control", psdm_control_name(j->control_kind));
  psdm_json_string(out, "end", ends[r->end]);
  psdm_json_string(out, "end_text", r->text[0] ? r->text : psdm_sim_end_text(r->end));
  psdm_json_number(out, "time", r->t - j->start);
  json_state(j, out, &j->last);
  json_energy(j, out, &j->last);
  json_tracking(j, out);
  json_work(j, out);
}

static void json_inverse(const psdmp_job_simulate *j, psdm_output *out) {
  const psdm_simulation *a = &j->answer;
  psdm_json_number(out, "begin", a->begin);
  psdm_json_number(out, "end", a->end);
  psdm_json_integer(out, "rows", a->along);
  psdm_json_integer(out, "log_rows", j->log_rows);
  psdm_json_numbers(out, "peak_speed", a->peak_speed, j->n);
  psdm_json_numbers(out, "peak_torque", a->peak_torque, j->n);
  psdm_json_numbers(out, "rms_torque", a->rms_torque, j->n);
}

void psdmp_job_simulate_json(const psdm_job *job, psdm_output *out) {
  const psdmp_job_simulate *j = (const psdmp_job_simulate *)job;
  psdmp_job_json_begin(job, out);
  psdmp_job_json_robot(out, "robot", j->robot);
  psdm_json_integer(out, "n", j->n);
  psdmp_job_json_joints(out, j->robot, NULL);
  psdm_settings_json(job->kind->settings, &j->set, out);
  if (j->set.inverse) json_inverse(j, out);
  else json_simulation(j, out);
  psdm_json_close(out);
}
