/* cmd_simulate_run.c: the run itself: files, rows, interrupts. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* ---- files ---- */

/* the simulation makes one row per log row; out takes every k-th */
static int set_periods(simulate_job *j) {
  j->row_period = j->set.output;
  j->decimation = 1;
  if (!(j->set.log_rate > 0)) return -1;
  double share = j->set.output * j->set.log_rate;
  if (!(share >= 1 - 1e-9 && share < 1e9) || fabs(share - round(share)) > 1e-6 * share)
    return tool_usage("simulate", "--output must be a multiple of the log's period, 1 / --log-rate");
  j->row_period = 1 / j->set.log_rate;
  j->decimation = (int)round(share);
  return -1;
}

int simulate_open(simulate_job *j) {
  int code = set_periods(j);
  if (code < 0 && (j->set.log || j->set.current)) code = simulate_log_prepare(j);
  if (code < 0 && j->set.out) code = tool_open(j->set.out, &j->out);
  if (code < 0 && j->set.log) code = tool_open(j->set.log, &j->log);
  if (code < 0) tool_listen();
  return code;
}

bool simulate_words_wanted(const simulate_job *j) {
  bool taken = (j->set.out && strcmp(j->set.out, "-") == 0) || (j->set.log && strcmp(j->set.log, "-") == 0);
  return !j->set.json && !taken && !tool_quiet();
}

/* ---- how well a controller follows ---- */

static bool is_followed(const simulate_job *j) { return j->controller && j->reference; }

static int tracking_start(simulate_job *j) {
  tracking *t = &j->tracking;
  size_t n = (size_t)j->n;
  double *memory = simulate_array(j, 7 * n, sizeof *memory);
  if (!memory) return tool_no_memory("simulate");
  *t = (tracking){.sum = memory,
                  .late_sum = memory + n,
                  .peak = memory + 2 * n,
                  .last = memory + 3 * n,
                  .reference = memory + 4 * n};
  return -1;
}

static void tracking_row(simulate_job *j, const psdm_sim_row *row) {
  tracking *t = &j->tracking;
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
static void keep(simulate_job *j, const psdm_sim_row *row) {
  psdm_sim_row *k = &j->last;
  double *at = j->kept;
  int n = row->n;
  *k = *row;
  k->q = copy(&at, row->q, n), k->qd = copy(&at, row->qd, n), k->qdd = copy(&at, row->qdd, n);
  k->theta = copy(&at, row->theta, n), k->thetad = copy(&at, row->thetad, n), k->z = copy(&at, row->z, n);
  k->tau = copy(&at, row->tau, n), k->friction = copy(&at, row->friction, n);
  k->passive = copy(&at, row->passive, row->joints), k->control = copy(&at, row->control, row->control_states);
}

static int keep_start(simulate_job *j) {
  psdm_sim_row now;
  psdm_sim_now(j->sim, &now);
  j->kept = simulate_array(j, 8 * (size_t)now.n + (size_t)now.joints + (size_t)now.control_states, sizeof *j->kept);
  if (!j->kept) return tool_no_memory("simulate");
  keep(j, &now);
  return -1;
}

/* a row at no multiple of its period is the end, and goes to out alone */
static bool take_row(void *user, const psdm_sim_row *row) {
  simulate_job *j = user;
  double place = (row->t - j->start) / j->row_period, whole = round(place);
  bool on_grid = fabs(place - whole) <= 1e-6, last = row->t >= j->start + j->set.time - 1e-9 * j->set.time;
  if (!j->rows++)
    memcpy(j->first, (double[4]){row->kinetic, row->potential, row->elastic, row->bristles}, sizeof j->first);
  if (is_followed(j)) tracking_row(j, row);
  if (!on_grid || last || fmod(whole, j->decimation) == 0) simulate_row(j, row);
  if (on_grid) simulate_log_row(j, row);
  keep(j, row);
  progress_show(&j->bar, (long long)(1e6 * (row->t - j->start)), (long long)(row->t - j->start), "s simulated");
  j->interrupted = tool_interrupted();
  return !j->interrupted && !(j->out && psdm_output_failed(j->out)) && !(j->log && psdm_output_failed(j->log));
}

static int start(simulate_job *j) {
  const simulate_settings *s = &j->set;
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
  tool_fragile("SUNDIALS");
  psdm_status status = psdm_sim_new(j->robot, o, NULL, &j->sim, &error);
  tool_solid();
  if (status) return tool_fail(&error);
  if (psdm_sim_set(j->sim, j->start, j->q, j->qd, &error)) return tool_fail(&error);
  if ((j->theta || j->thetad) && psdm_sim_set_motors(j->sim, j->theta, j->thetad))
    return tool_usage("simulate", "the motors' positions could not be set");
  int code = keep_start(j);
  return code < 0 && is_followed(j) ? tracking_start(j) : code;
}

static void say_end(const simulate_job *j) {
  const psdm_sim_result *r = &j->result;
  if (j->interrupted)
    tool_warn("interrupted at t = %.6g s of %.6g s; the motion until then is written%s%s", r->t, j->start + j->set.time,
              j->set.out ? " to " : "", j->set.out ? tool_safe(j->set.out) : "");
  else if (r->end != PSDM_SIM_TIME) tool_warn("%s", r->text[0] ? r->text : psdm_sim_end_text(r->end));
}

/* files are kept however the run ended: all of their rows are valid */
static int finish(simulate_job *j) {
  int code = j->out ? tool_commit(&j->out) : EXIT_OK;
  if (j->log && code == EXIT_OK) code = tool_commit(&j->log);
  if (code != EXIT_OK) return code;
  if (j->set.json) code = simulate_json(j);
  if (simulate_words_wanted(j)) simulate_print(j);
  if (code != EXIT_OK) return code;
  bool whole = j->result.end == PSDM_SIM_TIME || j->result.end == PSDM_SIM_LIMIT;
  return whole ? EXIT_OK : EXIT_QUALITY;
}

int simulate_run(simulate_job *j) {
  psdm_error error;
  int code = start(j);
  if (code >= 0) return code;
  j->bar = progress_start("simulating", (long long)(1e6 * j->set.time));
  psdm_status status = psdm_sim_run(j->sim, j->set.time, take_row, j, &j->result, &error);
  progress_end(&j->bar);
  if (status) return tool_fail(&error);
  tool_deaf();
  tool_detail("simulated to t = %.6g s in %.3g s", j->result.t, tool_now() - j->bar.started);
  say_end(j);
  return finish(j);
}
