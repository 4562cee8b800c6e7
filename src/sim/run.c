/* run.c: advances time: samples of the controller, changes of load, rows of output, the energy audit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim_priv.h"
#include "psdm/loop.h"

/* ---- the controller's samples ---- */

/* in (0, 1) */
static double uniform(psdm_sim *s) { return ((double)(psdmp_base_random_bits(&s->random) >> 11) + 0.5) * 0x1p-53; }

/* Box and Muller 1958 */
static double normal(psdm_sim *s) {
  if (s->has_spare) {
    s->has_spare = false;
    return s->spare;
  }
  double radius = sqrt(-2 * log(uniform(s))), angle = 6.283185307179586 * uniform(s);
  s->spare = radius * sin(angle);
  s->has_spare = true;
  return radius * cos(angle);
}

/* positions in whole steps of the encoder, velocities as their differences; zero at the first sample */
static void measure(psdm_sim *s) {
  double quantum = s->options.quantum, period = s->options.period;
  psdmp_sim_look(s, s->y);
  if (quantum == 0) return;
  for (int i = 0; i < s->n; i++) {
    bool elastic = s->joint[i].motor >= 0;
    double seen = quantum * round((elastic ? s->theta[i] : s->q[i]) / quantum),
           rate = s->samples ? (seen - s->seen_before[i]) / period : 0;
    s->seen_before[i] = seen;
    s->theta[i] = seen, s->thetad[i] = rate;
    s->q[i] = elastic ? quantum * round(s->q[i] / quantum) : seen;
    if (!elastic) s->qd[i] = rate;
  }
}

static psdm_status sample(psdm_sim *s) {
  const psdm_sim_options *o = &s->options;
  double *rates = s->k1 + s->at_control, *states = s->y + s->at_control;
  measure(s);
  const psdm_control_input in = {.t = s->t, .q = s->q, .qd = s->qd, .theta = s->theta, .thetad = s->thetad};
  psdm_status status = psdm_control_torque(o->controller, &in, states, s->held, rates);
  if (status) return status;
  for (int i = 0; i < s->control_states; i++) states[i] += o->period * rates[i];
  for (int i = 0; i < s->n; i++) {
    double effort = s->joint[i].effort;
    if (o->noise > 0) s->held[i] += o->noise * (isfinite(effort) ? effort : 1) * normal(s);
    if (o->saturate) s->held[i] = fmax(-effort, fmin(effort, s->held[i]));
  }
  s->samples++;
  s->fresh = true;
  return PSDM_OK;
}

/* ---- rows ---- */

static void fill_row(psdm_sim *s, psdm_sim_row *row) {
  double e[4];
  const double *work = s->y + s->at_work;
  psdmp_sim_energies(s, s->y, e);
  bool known = psdmp_sim_rates(s, s->t, s->y, s->rate) == PSDM_OK;
  psdmp_sim_look(s, s->y);
  for (int i = 0; i < s->n; i++) s->acceleration[i] = known ? s->rate[s->at_qd + s->joint[i].at] : NAN;
  for (int k = 0; k < s->N - s->n; k++) s->u[k] = s->y[psdm_loop_passive(s->plant, k)];
  *row = (psdm_sim_row){.t = s->t,
                        .n = s->n,
                        .joints = s->N - s->n,
                        .q = s->q,
                        .qd = s->qd,
                        .qdd = s->acceleration,
                        .passive = s->loops ? s->u : NULL,
                        .theta = s->motors ? s->theta : NULL,
                        .thetad = s->motors ? s->thetad : NULL,
                        .z = s->at_z >= 0 ? s->y + s->at_z : NULL,
                        .tau = s->tau,
                        .friction = s->friction,
                        .control = s->y + s->at_control,
                        .control_states = s->control_states,
                        .kinetic = e[0],
                        .potential = e[1],
                        .elastic = e[2],
                        .bristles = e[3],
                        .supplied = work[PSDMP_SIM_SUPPLIED],
                        .dissipated = work[PSDMP_SIM_DISSIPATED],
                        .external = work[PSDMP_SIM_EXTERNAL],
                        .payload = s->payload_work};
}

void psdm_sim_now(psdm_sim *s, psdm_sim_row *row) {
  if (s->fresh) psdmp_sim_settle(s);
  fill_row(s, row);
}

/* ---- the run ---- */

typedef struct run {
  psdm_sim *sim;
  psdm_sim_write write;
  void *user;
  psdm_sim_result *result;
  double begin, end, started;
  double given, drift, imbalance, work; /* given: energy supplied from outside before the run */
  long rows;
  int idle; /* events since time last advanced */
} run;

static double energy_of(const psdm_sim_row *row) {
  return row->kinetic + row->potential + row->elastic + row->bristles;
}

static void audit(run *r, const psdm_sim_row *row) {
  psdm_sim_result *result = r->result;
  double energy = energy_of(row), given = row->supplied + row->external + row->payload - row->dissipated;
  if (!r->rows) result->energy_start = energy, r->given = given;
  result->energy_end = energy;
  result->peak_kinetic = fmax(result->peak_kinetic, row->kinetic);
  r->drift = fmax(r->drift, fabs(energy - result->energy_start));
  r->imbalance = fmax(r->imbalance, fabs(energy - result->energy_start - (given - r->given)));
  r->work = fmax(r->work, fmax(fabs(given + row->dissipated), fabs(row->dissipated)));
}

static bool put_row(run *r) {
  psdm_sim_row row;
  fill_row(r->sim, &row);
  audit(r, &row);
  r->rows++;
  return !r->write || r->write(r->user, &row);
}

static void end(run *r, psdm_sim_end why, const char *text) {
  r->result->end = why;
  snprintf(r->result->text, sizeof r->result->text, "%s", text);
}

static const char *joint_name(const psdm_sim *s, int i, char *buf, size_t size) {
  const char *given = "";
  for (int j = 0; j < s->robot->joints; j++)
    if (s->robot->joint[j].q == i) given = s->robot->joint[j].name;
  return psdmp_base_quote(given, strlen(given), buf, size);
}

/* a sentence with the time: "at 1.25 s: ..." */
static void end_at(run *r, psdm_sim_end why, const char *text) {
  char number[32], whole[256];
  psdmp_base_format_short(r->sim->t, number);
  snprintf(whole, sizeof whole, "%s at %s s: %.150s", psdm_sim_end_text(why), number, text);
  end(r, why, whole);
}

static bool diverged(run *r) {
  const psdm_sim *s = r->sim;
  char name[80], text[160];
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double q = s->y[j->at], speed = fmax(fabs(s->y[s->at_qd + j->at]), fabs(psdmp_sim_speed(s, s->y, i)));
    if (isfinite(q) && isfinite(s->y[s->at_qd + j->at]) && speed <= s->options.speed_limit) continue;
    snprintf(text, sizeof text, "joint '%s' is faster than the limit of speed", joint_name(s, i, name, sizeof name));
    end_at(r, PSDM_SIM_DIVERGED, text);
    return true;
  }
  return false;
}

/* ---- time ---- */

/* times this close are equal: they are sums and products of periods */
static bool reached(double t, double moment) { return t >= moment - 1e-12 * (1 + fabs(moment)); }

static double next_sample(const psdm_sim *s) {
  return s->options.controller && s->options.period > 0 ? s->origin + (double)s->samples * s->options.period : INFINITY;
}

/* the next row of a stepwise wrench */
static double next_step_of_wrench(const psdm_sim *s) {
  const psdm_signal *wrench = s->options.wrench;
  if (!wrench || !psdm_signal_held(wrench)) return INFINITY;
  long low = 0, high = psdm_signal_rows(wrench);
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (psdm_signal_time(wrench, middle) > s->t) high = middle;
    else low = middle + 1;
  }
  return low < psdm_signal_rows(wrench) ? psdm_signal_time(wrench, low) : INFINITY;
}

/* handles what is due now: a load, a step of the wrench, a sample of the controller */
static psdm_status due(psdm_sim *s) {
  const psdm_sim_options *o = &s->options;
  psdm_status status = PSDM_OK;
  while (s->next_load < o->payloads && reached(s->t, o->payload[s->next_load].t) && !status)
    status = psdmp_sim_carry(s, o->payload[s->next_load++].pi);
  if (o->wrench && psdm_signal_held(o->wrench)) {
    double until = next_step_of_wrench(s);
    s->fresh |= until != s->until;
    s->until = until;
  }
  if (!status && reached(s->t, next_sample(s))) status = sample(s);
  if (!status && s->fresh) status = psdmp_sim_settle(s);
  return status;
}

/* the next time at which something jumps */
static double next_jump(const run *r) {
  const psdm_sim *s = r->sim;
  double load = s->next_load < s->options.payloads ? s->options.payload[s->next_load].t : INFINITY;
  return fmin(fmin(r->end, load), fmin(s->until, next_sample(s)));
}

static bool out_of_time(const run *r) {
  return r->sim->options.wall_limit > 0 && psdmp_base_clock() - r->started > r->sim->options.wall_limit;
}

/* steps between looks at the clock; events at one time before the run gives up */
enum { STEPS_AT_ONCE = 1000, MOST_IDLE = 1000 };

/* fixed steps towards t, all of one size */
static psdm_status steps_to(psdm_sim *s, double t, int *hit) {
  double whole = t - s->t, count = fmax(1, ceil(whole / s->options.step - 1e-9)), begin = s->t;
  for (double k = 1; k <= fmin(count, STEPS_AT_ONCE) && *hit < 0; k++) {
    double h = begin + whole * (k / count) - s->t;
    psdm_status status = s->integrator == PSDM_INTEGRATOR_RK4 ? psdmp_sim_rk4(s, h, hit) : psdmp_sim_euler(s, h, hit);
    if (status) return status;
  }
  if (*hit < 0 && count <= STEPS_AT_ONCE) s->t = t;
  return PSDM_OK;
}

static bool end_at_limit(run *r, int joint) {
  char text[160], name[80];
  snprintf(text, sizeof text, "joint '%s'", joint_name(r->sim, joint, name, sizeof name));
  end_at(r, PSDM_SIM_LIMIT, text);
  return false;
}

/* to t or an event; false when the run is over */
static bool advance(run *r, double t, bool hard) {
  psdm_sim *s = r->sim;
  char text[160] = "";
  int hit = -1;
  bool again = false;
  double before = s->t;
  s->trouble = PSDM_OK;
  psdm_status status =
      s->variable ? psdmp_sim_variable(s, t, hard, &hit, &again, text, sizeof text) : steps_to(s, t, &hit);
  r->idle = reached(before, s->t) ? r->idle + 1 : 0;
  if (!status && r->idle > MOST_IDLE) {
    status = PSDM_E_LIMIT;
    snprintf(text, sizeof text, "friction and stops switch endlessly, and time does not advance");
  }
  if ((status || hit < 0) && diverged(r)) return false;
  if (status) {
    end_at(r, PSDM_SIM_FAILED,
           text[0]                     ? text
           : status == PSDM_E_ARGUMENT ? "the accelerations are not finite"
                                       : psdm_status_text(status));
    return false;
  }
  return hit < 0 || end_at_limit(r, hit);
}

static bool begin(run *r) {
  psdm_sim *s = r->sim;
  psdm_status status = due(s);
  bool on = !status;
  if (status) end_at(r, PSDM_SIM_FAILED, psdm_status_text(status));
  int outside = status ? -1 : psdmp_sim_outside(s);
  if (outside >= 0) on = end_at_limit(r, outside);
  if (put_row(r)) return on;
  if (on) end_at(r, PSDM_SIM_STOPPED, "all rows so far are kept");
  return false;
}

/* handles what is due at the time reached: loads, samples, a row */
static bool arrive(run *r, double moment, bool row) {
  r->sim->t = moment;
  psdm_status status = due(r->sim);
  if (status) end_at(r, PSDM_SIM_FAILED, psdm_status_text(status));
  if (status || !row) return !status;
  if (!put_row(r)) end_at(r, PSDM_SIM_STOPPED, "all rows so far are kept");
  return r->result->end != PSDM_SIM_STOPPED;
}

static bool finite_state(const psdm_sim *s) {
  for (int i = 0; i < s->size; i++)
    if (!isfinite(s->y[i])) return false;
  return true;
}

static void loop(run *r) {
  psdm_sim *s = r->sim;
  end(r, PSDM_SIM_TIME, psdm_sim_end_text(PSDM_SIM_TIME));
  if (!begin(r)) return;
  double written = s->t;
  bool on = true;
  while (on && s->t < r->end) {
    double output = r->begin + (double)r->rows * s->options.output, jump = next_jump(r);
    if (reached(output, r->end)) output = r->end;
    if (reached(output, jump) && reached(jump, output)) output = jump;
    double next = fmin(output, jump);
    on = reached(s->t, next) || advance(r, next, jump <= output);
    if (on && reached(s->t, next)) {
      on = arrive(r, next, output <= jump);
      if (output <= jump) written = s->t;
    }
    if (on && s->t < r->end && out_of_time(r)) {
      end_at(r, PSDM_SIM_TIMEOUT, "all rows so far are kept");
      on = false;
    }
  }
  if (!on && s->t != written && finite_state(s)) put_row(r);
}

/* a run that cannot end in a lifetime must be a typo */
static psdm_status check_counts(const psdm_sim *s, double seconds, psdm_error *error) {
  const struct {
    const char *what;
    double interval, most;
  } counts[] = {{"rows", s->options.output, PSDMP_SIM_ROWS},
                {"steps", s->variable ? 0 : s->options.step, PSDMP_SIM_STEPS},
                {"samples of the controller", s->options.period, PSDMP_SIM_STEPS}};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    if (counts[k].interval > 0 && seconds / counts[k].interval > counts[k].most)
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0,
                             "%g s in intervals of %g s would take %.3g %s; at most %.0e are made", seconds,
                             counts[k].interval, seconds / counts[k].interval, counts[k].what, counts[k].most);
  return PSDM_OK;
}

psdm_status psdm_sim_run(psdm_sim *s, double seconds, psdm_sim_write write, void *user, psdm_sim_result *result,
                         psdm_error *error) {
  if (!(seconds >= 0) || !isfinite(seconds))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "the time to simulate must not be negative");
  psdm_status status = check_counts(s, seconds, error);
  if (!status && s->options.payloads) status = psdmp_sim_loads_regular(s, s->t + seconds, error);
  if (status) return status;
  *result = (psdm_sim_result){.integrator = s->integrator, .native = s->compiled != NULL};
  snprintf(result->code_text, sizeof result->code_text, "%s", s->code_text);
  s->steps = s->evaluations = s->reversals = s->sticks = s->limits = 0;
  run r = {.sim = s,
           .write = write,
           .user = user,
           .result = result,
           .begin = s->t,
           .end = s->t + seconds,
           .started = psdmp_base_clock()};
  s->fresh |= s->options.controller && !s->controlling;
  s->controlling = s->options.controller != NULL;
  loop(&r);
  result->t = s->t;
  result->steps = s->steps;
  result->evaluations = s->evaluations;
  result->reversals = s->reversals;
  result->sticks = s->sticks;
  result->limits = s->limits;
  result->energy_drift = result->peak_kinetic > 0 ? r.drift / result->peak_kinetic : 0;
  double scale = fmax(result->peak_kinetic, r.work);
  result->energy_balance = scale > 0 ? r.imbalance / scale : 0;
  result->wall = psdmp_base_clock() - r.started;
  return PSDM_OK;
}

psdm_status psdm_sim_step(psdm_sim *s, const double *tau, double dt) {
  int hit = -1;
  if (s->variable || !(dt > 0) || !isfinite(dt)) return PSDM_E_ARGUMENT;
  if (tau) memcpy(s->held, tau, (size_t)s->n * sizeof *s->held);
  s->controlling = false;
  if (s->options.wrench) s->until = INFINITY;
  if (psdmp_sim_has_events(s) && !psdmp_sim_implicit(s)) {
    psdm_status status = psdmp_sim_settle(s); /* the torque may have jumped */
    if (status) return status;
  }
  return s->integrator == PSDM_INTEGRATOR_RK4 ? psdmp_sim_rk4(s, dt, &hit) : psdmp_sim_euler(s, dt, &hit);
}
