/* cmd_simulate_summary.c: the summary of a run: final state, events, speed, and the energy audit. */
#include <math.h>

#include "cmd_simulate.h"

static const char *const ends[PSDM_SIM_ENDS] = {"time", "limit", "stopped", "timeout", "diverged", "failed"};

static double root_mean(double sum, long rows) { return sqrt(sum / (double)(rows ? rows : 1)); }

static double speed_of(const simulate_job *j) {
  return j->result.wall > 0 ? (j->result.t - j->start) / j->result.wall : NAN;
}

/* ---- text ---- */

static void print_head(const simulate_job *j) {
  const psdm_sim_result *r = &j->result;
  printf("%s: %.6g s simulated in %.3g s", tool_safe(psdm_robot_name(j->robot)), r->t - j->start, r->wall);
  if (isfinite(speed_of(j))) printf(", %.4g times real time", speed_of(j));
  printf("\n  %s, %s; %ld steps, %ld evaluations\n", psdm_integrator_name(r->integrator),
         r->native ? "generated code" : "recursions", r->steps, r->evaluations);
  printf("  %s\n", j->interrupted                           ? "interrupted"
                   : r->end == PSDM_SIM_TIME || !r->text[0] ? psdm_sim_end_text(r->end)
                                                            : r->text);
}

static const char *name_of(const simulate_job *j, int q) {
  for (int k = 0; k < psdm_robot_joints(j->robot); k++)
    if (psdm_robot_joint(j->robot, k)->q == q) return psdm_robot_joint(j->robot, k)->name;
  return "";
}

static void print_state(const simulate_job *j, const psdm_sim_row *row) {
  const tracking *t = &j->tracking;
  printf("\n  at t = %-13.6g %12s %12s %12s %12s", row->t, "q", "qd", "qdd", "tau");
  if (row->theta) printf(" %12s", "theta");
  if (t->rows) printf(" %12s %12s", "error", "rms error");
  printf("\n");
  for (int i = 0; i < row->n; i++) {
    printf("  %-20s %12.6g %12.6g %12.6g %12.6g", tool_safe(name_of(j, i)), row->q[i] + 0.0, row->qd[i] + 0.0,
           row->qdd[i] + 0.0, row->tau[i] + 0.0);
    if (row->theta) printf(" %12.6g", row->theta[i] + 0.0);
    if (t->rows) printf(" %12.3g %12.3g", t->last[i] + 0.0, root_mean(t->sum[i], t->rows));
    printf("\n");
  }
  if (row->passive && row->joints) {
    printf("  %-20s", "passive joints");
    for (int i = 0; i < row->joints; i++) printf(" %12.6g", row->passive[i] + 0.0);
    printf("\n");
  }
}

static void print_energies(const char *name, double start, double end) {
  printf("    %-26s %14.6g %14.6g\n", name, start + 0.0, end + 0.0);
}

static void print_work(const char *name, double value) { printf("    %-26s %14s %14.6g\n", name, "", value + 0.0); }

static void print_audit(const simulate_job *j, const psdm_sim_row *row) {
  const psdm_sim_result *r = &j->result;
  printf("\n  %-28s %14s %14s\n", "energy, J", "start", "end");
  print_energies("kinetic", j->first[0], row->kinetic);
  print_energies("gravity's", j->first[1], row->potential);
  if (row->theta) print_energies("springs'", j->first[2], row->elastic);
  if (row->z) print_energies("bristles'", j->first[3], row->bristles);
  print_energies("in all", r->energy_start, r->energy_end);
  print_work("supplied by motors", row->supplied);
  print_work("dissipated", row->dissipated);
  if (j->options.wrench) print_work("by the wrench", row->external);
  if (j->options.payloads) print_work("by changes of load", row->payload);
  printf("  unaccounted: at most %.2g of the larger of peak kinetic energy and work\n", r->energy_balance);
  bool alone = row->supplied == 0 && row->dissipated == 0 && row->external == 0 && row->payload == 0;
  if (alone)
    printf("  drift, max |E - E0|: %.2g of the peak kinetic energy, %.6g J\n", r->energy_drift, r->peak_kinetic);
}

static void print_events(const simulate_job *j) {
  const psdm_sim_result *r = &j->result;
  bool some = r->reversals || r->sticks || r->limits;
  if (some)
    printf("\n  events: %ld changes of direction, %ld times a joint came to rest, %ld stops hit\n", r->reversals,
           r->sticks, r->limits);
  if (j->set.out) printf("\n  %ld rows in %s\n", j->out_rows, tool_safe(j->set.out));
  if (j->set.log) printf("  %ld rows in %s\n", j->log_rows, tool_safe(j->set.log));
}

void simulate_print(simulate_job *j) {
  print_head(j);
  print_state(j, &j->last);
  print_audit(j, &j->last);
  print_events(j);
}

/* ---- JSON ---- */

static void json_state(const simulate_job *j, psdm_output *out, const psdm_sim_row *row) {
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

static void json_energy(const simulate_job *j, psdm_output *out, const psdm_sim_row *row) {
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

static void json_tracking(simulate_job *j, psdm_output *out) {
  tracking *t = &j->tracking;
  if (!t->rows) return;
  for (int i = 0; i < j->n; i++) {
    t->sum[i] = root_mean(t->sum[i], t->rows);
    t->late_sum[i] = root_mean(t->late_sum[i], t->late_rows);
  }
  psdm_json_object(out, "tracking");
  psdm_json_numbers(out, "rms", t->sum, j->n);
  psdm_json_numbers(out, "rms_last_quarter", t->late_sum, j->n);
  psdm_json_numbers(out, "peak", t->peak, j->n);
  psdm_json_numbers(out, "final", t->last, j->n);
  psdm_json_close(out);
}

static void json_work(const simulate_job *j, psdm_output *out) {
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
  psdm_json_number(out, "speed", speed_of(j));
  psdm_json_integer(out, "rows", j->out_rows);
  psdm_json_integer(out, "log_rows", j->log_rows);
}

int simulate_json(simulate_job *j) {
  psdm_output *out;
  int code = tool_open("-", &out);
  if (code >= 0) return code;
  tool_json_begin(out, "simulate");
  tool_json_robot(out, "robot", j->robot);
  psdm_json_integer(out, "n", j->n);
  tool_json_joints(out, j->robot, NULL);
  settings_json(&simulate_line, &j->set, out);
  psdm_json_string(out, "control", psdm_control_name(j->control_kind));
  psdm_json_string(out, "end", ends[j->result.end]);
  psdm_json_string(out, "end_text", j->result.text[0] ? j->result.text : psdm_sim_end_text(j->result.end));
  psdm_json_number(out, "time", j->result.t - j->start);
  json_state(j, out, &j->last);
  json_energy(j, out, &j->last);
  json_tracking(j, out);
  json_work(j, out);
  psdm_json_close(out);
  return tool_commit(&out);
}
