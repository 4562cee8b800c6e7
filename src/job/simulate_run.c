/* simulate_run.c: the run itself: files, rows, interrupts. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

/* ---- files ---- */

/* the simulation makes one row per log row; out takes every k-th */
static psdm_status set_periods(psdmp_job_simulate *j) {
  j->row_period = j->set.output;
  j->decimation = 1;
  if (!(j->set.log_rate > 0)) return PSDM_OK;
  double share = j->set.output * j->set.log_rate;
  if (!(share >= 1 - 1e-9 && share < 1e9) || fabs(share - round(share)) > 1e-6 * share)
    return psdmp_job_wrong(&j->job, "`output` must be a multiple of the log's period, 1 / `log_rate`");
  j->row_period = 1 / j->set.log_rate;
  j->decimation = (int)round(share);
  return PSDM_OK;
}

psdm_status psdmp_job_simulate_open(psdmp_job_simulate *j) {
  psdm_status status = set_periods(j);
  if (!status && (j->set.log || j->set.current || psdmp_job_kept_wanted(&j->job, "log")))
    status = psdmp_job_simulate_log_prepare(j);
  if (!status) status = psdmp_job_rows_open(&j->job, "out", j->set.out, &j->out);
  if (!status) status = psdmp_job_rows_open(&j->job, "log", j->set.log, &j->log);
  if (!status) psdmp_job_event(&j->job, PSDM_JOB_STOPPABLE);
  return status;
}

/* ---- how well a controller follows ---- */

static bool is_followed(const psdmp_job_simulate *j) { return j->controller && j->reference; }

static psdm_status tracking_start(psdmp_job_simulate *j) {
  psdmp_job_tracking *t = &j->tracking;
  size_t n = (size_t)j->n;
  double *memory = psdmp_job_array(&j->job, 7 * n, sizeof *memory);
  if (!memory) return psdmp_job_memory(&j->job);
  *t = (psdmp_job_tracking){.sum = memory,
                            .late_sum = memory + n,
                            .peak = memory + 2 * n,
                            .last = memory + 3 * n,
                            .reference = memory + 4 * n};
  return PSDM_OK;
}

static void tracking_row(psdmp_job_simulate *j, const psdm_sim_row *row) {
  psdmp_job_tracking *t = &j->tracking;
  bool late = row->t >= j->start + 0.75 * j->set.time;
  psdm_control_reference(j->controller, row->t, t->reference);
  for (int i = 0; i < j->n; i++) {
    double e = t->last[i] = t->reference[i] - row->q[i];
    t->sum[i] += e * e;
    if (late) t->late_sum[i] += e * e;
    t->peak[i] = fmax(t->peak[i], fabs(e));
  }
  t->rows++;
  t->late_rows += late;
}

/* ---- rows ---- */

static const double *copy(double **to, const double *from, int count) {
  if (!from) return NULL;
  double *out = *to;
  memcpy(out, from, (size_t)count * sizeof *out);
  *to += count;
  return out;
}

/* the simulator's own arrays change as it goes on: the final inputs are in the last row only */
static void keep(psdmp_job_simulate *j, const psdm_sim_row *row) {
  psdm_sim_row *k = &j->last;
  double *at = j->kept;
  int n = row->n;
  *k = *row;
  k->q = copy(&at, row->q, n), k->qd = copy(&at, row->qd, n), k->qdd = copy(&at, row->qdd, n);
  k->theta = copy(&at, row->theta, n), k->thetad = copy(&at, row->thetad, n), k->z = copy(&at, row->z, n);
  k->tau = copy(&at, row->tau, n), k->friction = copy(&at, row->friction, n);
  k->passive = copy(&at, row->passive, row->joints), k->control = copy(&at, row->control, row->control_states);
}

static psdm_status keep_start(psdmp_job_simulate *j) {
  psdm_sim_row now;
  psdm_sim_now(j->sim, &now);
  j->kept =
      psdmp_job_array(&j->job, 8 * (size_t)now.n + (size_t)now.joints + (size_t)now.control_states, sizeof *j->kept);
  j->state_names = psdmp_job_array(&j->job, (size_t)now.control_states, sizeof *j->state_names);
  if (!j->kept || !j->state_names) return psdmp_job_memory(&j->job);
  for (int i = 0; i < now.control_states; i++) j->state_names[i] = psdm_control_state_name(j->controller, i);
  keep(j, &now);
  return PSDM_OK;
}

/* a row at no multiple of its period is the end, and goes to out alone */
static bool take_row(void *user, const psdm_sim_row *row) {
  psdmp_job_simulate *j = user;
  double place = (row->t - j->start) / j->row_period, whole = round(place);
  bool on_grid = fabs(place - whole) <= 1e-6, last = row->t >= j->start + j->set.time - 1e-9 * j->set.time;
  if (!j->rows++)
    memcpy(j->first, (double[4]){row->kinetic, row->potential, row->elastic, row->bristles}, sizeof j->first);
  if (is_followed(j)) tracking_row(j, row);
  if (!on_grid || last || fmod(whole, j->decimation) == 0) psdmp_job_simulate_row(j, row);
  if (on_grid) psdmp_job_simulate_log_row(j, row);
  keep(j, row);
  double done = row->t - j->start;
  j->interrupted =
      !psdmp_job_count(&j->job, j->began, (long long)(1e6 * done), j->total, (long long)done, "s simulated");
  return !j->interrupted && !psdmp_job_rows_failed(j->out) && !psdmp_job_rows_failed(j->log);
}

static psdm_status start(psdmp_job_simulate *j) {
  const psdmp_job_simulate_settings *s = &j->set;
  psdm_sim_options *o = &j->options;
  psdm_error error;
  o->step = s->step;
  o->tolerance = s->tolerance;
  o->no_code = s->no_code;
  o->elastic = s->elastic;
  o->restitution = s->restitution;
  o->saturate = s->saturate;
  o->controller = j->controller;
  o->period = s->rate > 0 ? 1 / s->rate : 0;
  o->quantum = s->rate > 0 ? s->quantum : 0;
  o->noise = s->noise;
  o->seed = (unsigned long long)s->seed;
  o->output = j->row_period;
  o->wall_limit = s->wall;
  o->speed_limit = s->speed_limit;
  psdmp_job_tell(&j->job, PSDM_JOB_FRAGILE, "%s", "SUNDIALS");
  psdm_status status = psdm_sim_new(j->robot, o, NULL, &j->sim, &error);
  psdmp_job_event(&j->job, PSDM_JOB_FRAGILE);
  if (status) return psdmp_job_fail(&j->job, &error);
  if (psdm_sim_set(j->sim, j->start, j->q, j->qd, &error)) return psdmp_job_fail(&j->job, &error);
  if ((j->theta || j->thetad) && psdm_sim_set_motors(j->sim, j->theta, j->thetad))
    return psdmp_job_wrong(&j->job, "the motors' positions could not be set");
  status = keep_start(j);
  return !status && is_followed(j) ? tracking_start(j) : status;
}

static void say_end(const psdmp_job_simulate *j) {
  const psdm_sim_result *r = &j->result;
  if (j->interrupted)
    psdmp_job_warn(&j->job, "interrupted at t = %.6g s of %.6g s; the motion until then is written%s%s", r->t,
                   j->start + j->set.time, j->set.out ? " to " : "",
                   j->set.out ? psdmp_job_safe(&j->job, j->set.out) : "");
  else if (r->end != PSDM_SIM_TIME) psdmp_job_warn(&j->job, "%s", r->text[0] ? r->text : psdm_sim_end_text(r->end));
}

/* files are kept however the run ended: all of their rows are valid */
static psdm_status finish(psdmp_job_simulate *j) {
  j->out_rows = psdmp_job_rows_count(j->out);
  j->log_rows = psdmp_job_rows_count(j->log);
  psdm_status status = psdmp_job_rows_commit(&j->job, &j->out);
  if (!status) status = psdmp_job_rows_commit(&j->job, &j->log);
  j->job.good = j->result.end == PSDM_SIM_TIME || j->result.end == PSDM_SIM_LIMIT;
  return status;
}

psdm_status psdmp_job_simulate_run(psdmp_job_simulate *j) {
  psdm_error error;
  psdm_status status = start(j);
  if (status) return status;
  psdmp_job_tell(&j->job, PSDM_JOB_STAGE, "simulating");
  j->began = psdmp_base_clock();
  j->total = (long long)(1e6 * j->set.time);
  status = psdm_sim_run(j->sim, j->set.time, take_row, j, &j->result, &error);
  psdmp_job_event(&j->job, PSDM_JOB_STAGE);
  if (status) return psdmp_job_fail(&j->job, &error);
  psdmp_job_event(&j->job, PSDM_JOB_FINISHING);
  psdmp_job_detail(&j->job, "simulated to t = %.6g s in %.3g s", j->result.t, psdmp_base_clock() - j->began);
  say_end(j);
  return finish(j);
}
