/* contact.c: stick-slip of dry friction, and hard stops.
 *
 * A joint with dry friction slides in a direction or sticks. While it slides, its friction has that direction's sign at
 * any speed, so that the motion is smooth up to the event of zero speed. While it sticks, it is held like a locked
 * joint, until the torque that holds it exceeds friction. A joint at a stop is held in the same way, by a torque that
 * can only push. */
#include <math.h>
#include <string.h>

#include "sim/sim_priv.h"
#include "psdm/loop.h"

/* a joint is released when its load exceeds friction by this much, so that it surely moves */
static const double margin = 1e-9;

/* how far beyond zero a speed (rad/s, m/s) or a distance (rad, m) is an event, so that one starting at zero is not: it
 * reverses before that */
static const double beyond_speed = 1e-12, beyond_distance = 1e-13;

/* slower than this (rad/s, m/s) nothing bounces: the bounces of a joint shrink without end, and from beyond_distance it
 * comes with 1e-6 again */
static const double too_slow_to_bounce = 1e-4;

static double hold(const psdm_sim *s, const psdmp_sim_drive_train *j) {
  return j->dry ? psdm_friction_dry(&j->friction, s->options.friction, 0) : 0;
}

/* reserve of friction for a stuck joint; negative: it breaks away */
static double left_of_friction(const psdm_sim *s, int i) {
  return hold(s, &s->joint[i]) * (1 + margin) - fabs(s->reaction[i]);
}

/* how firmly a joint rests at its stop; negative: it leaves. Friction helps to hold a rigid joint there; that of an
 * elastic one is on its motor. */
static double rest_at_stop(const psdm_sim *s, int i) {
  const psdmp_sim_drive_train *j = &s->joint[i];
  double friction = j->motor < 0 ? hold(s, j) : 0;
  return -j->stop * s->stop_reaction[i] + friction * (1 + margin) + margin;
}

/* held by friction, and not by a stop */
static bool stuck(const psdmp_sim_drive_train *j) { return j->dry && j->mode == 0 && !(j->stop && j->motor < 0); }

bool psdmp_sim_has_events(const psdm_sim *s) { return s->dry || s->stops || s->ends; }

static bool some_held(const psdm_sim *s) {
  for (int i = 0; i < s->n; i++)
    if (stuck(&s->joint[i]) || s->joint[i].stop) return true;
  return false;
}

void psdmp_sim_event_values(const psdm_sim *s, const double *y, double *g) {
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double lower = isfinite(j->lower) ? y[j->at] - j->lower + beyond_distance : 1,
           upper = isfinite(j->upper) ? j->upper - y[j->at] + beyond_distance : 1;
    bool limits = s->stops || s->ends;
    g[i] = stuck(j)            ? left_of_friction(s, i)
           : j->dry && j->mode ? j->mode * psdmp_sim_speed(s, y, i) + beyond_speed
                               : 1;
    g[s->n + 2 * i] = !limits || j->stop > 0 ? 1 : j->stop < 0 ? rest_at_stop(s, i) : lower;
    g[s->n + 2 * i + 1] = !limits || j->stop < 0 ? 1 : j->stop > 0 ? rest_at_stop(s, i) : upper;
  }
}

psdm_status psdmp_sim_events(psdm_sim *s, double t, const double *y, double *g) {
  psdm_status status = some_held(s) ? psdmp_sim_rates(s, t, y, s->rate) : PSDM_OK;
  psdmp_sim_event_values(s, y, g);
  return status;
}

/* ---- impulses ---- */

/* -1, 1: the coordinate is at its lower, upper limit or beyond */
static int side_of(const psdm_sim *s, int i) {
  const psdmp_sim_drive_train *j = &s->joint[i];
  return s->y[j->at] <= j->lower ? -1 : s->y[j->at] >= j->upper ? 1 : 0;
}

/* speed of a joint at its limit into the stop */
static double into_stop(const psdm_sim *s, int i) { return side_of(s, i) * s->y[s->at_qd + s->joint[i].at]; }

/* RESTING: held by a stop, which pushes but does not pull */
typedef enum bearing { FREE, STRUCK, HELD, RESTING } bearing;

/* one row for each joint that is not free; the struck one changes its velocity by `change` */
static int impulse_rows(psdm_sim *s, const bearing *as, double change) {
  int rows = s->loops, N = s->N;
  memset(s->drift, 0, (size_t)rows * sizeof *s->drift);
  for (int k = 0; k < s->n; k++) {
    if (as[k] == FREE) continue;
    memset(s->C + (long)rows * N, 0, (size_t)N * sizeof *s->C);
    s->C[(long)rows * N + s->joint[k].at] = 1;
    s->row[rows] = k;
    s->drift[rows++] = as[k] == STRUCK ? change : 0;
  }
  return rows;
}

/* the joint that its stop would have to pull back most; -1: none */
static int pulled_off(const psdm_sim *s, const bearing *as, int rows) {
  int worst = -1;
  double most = 0;
  for (int c = s->loops; c < rows; c++) {
    int k = s->row[c];
    double pull = as[k] == RESTING ? side_of(s, k) * s->lambda[c] : 0;
    if (pull > most) most = pull, worst = k;
  }
  return worst;
}

/* an impulse gives the struck joint i the velocity v; loops stay closed, held joints stay at rest. The energy lost is
 * dissipated. */
static psdm_status strike(psdm_sim *s, int i, double v, bearing *as) {
  double *qd = s->y + s->at_qd, before[4], after[4];
  int rows = 0, off = -1;
  psdm_status status = psdmp_sim_energies(s, s->y, before);
  if (!status && s->loops) status = psdm_loop_gaps(s->plant, s->loop_work, s->y, NULL, NULL, s->C, NULL);
  as[i] = STRUCK;
  do {
    if (off >= 0) as[off] = FREE;
    if (!status) status = psdmp_sim_mass(s, s->y, s->M);
    if (status) return status;
    rows = impulse_rows(s, as, v - qd[s->joint[i].at]);
    memset(s->u, 0, (size_t)s->N * sizeof *s->u);
    if (!psdmp_sim_constrained(s, s->N, rows, s->M, s->C, s->drift, s->u, s->qdd, s->lambda)) return PSDM_E_SINGULAR;
  } while ((off = pulled_off(s, as, rows)) >= 0);
  for (int k = 0; k < s->N; k++) qd[k] += s->qdd[k];
  for (int c = s->loops; c < rows; c++) qd[s->joint[s->row[c]].at] = s->row[c] == i ? v : 0;
  status = psdmp_sim_energies(s, s->y, after);
  s->y[s->at_work + PSDMP_SIM_DISSIPATED] += before[0] - after[0];
  return status;
}

/* sets the speed of a joint that came to rest to exactly zero. Loops share the impulse. */
static psdm_status rest(psdm_sim *s, int i) {
  const psdmp_sim_drive_train *j = &s->joint[i];
  if (j->motor >= 0) s->y[s->at_thetad + j->motor] = 0;
  if (j->motor < 0 && !s->loops) s->y[s->at_qd + j->at] = 0;
  if (!s->loops || s->y[s->at_qd + j->at] == 0) return PSDM_OK;
  bearing as[PSDM_MAX_JOINTS];
  for (int k = 0; k < s->n; k++)
    as[k] = (s->joint[k].dry || s->joint[k].stop) && s->y[s->at_qd + s->joint[k].at] == 0 ? HELD : FREE;
  return strike(s, i, 0, as);
}

/* the joint that moves fastest into its stop, -1: none */
static int fastest_into_stop(const psdm_sim *s, double *speed) {
  int fastest = -1;
  *speed = 0;
  for (int k = 0; k < s->n; k++)
    if (into_stop(s, k) > *speed) *speed = into_stop(s, k), fastest = k;
  return fastest;
}

/* resolves joints that run into their stops, the fastest first, until none does. Slow impacts do not lift resting
 * joints off their stops, or two joints would rattle forever; after many impacts none bounces any more, and in the end
 * all joints at stops come to rest. */
static psdm_status impacts(psdm_sim *s) {
  psdm_status status = PSDM_OK;
  double share = s->options.at_limit == PSDM_AT_LIMIT_BOUNCE ? s->options.restitution : 0, speed;
  for (int round = 0; s->stops && !status; round++) {
    bearing as[PSDM_MAX_JOINTS];
    int struck = fastest_into_stop(s, &speed);
    if (struck < 0) return PSDM_OK;
    bool slow = speed<too_slow_to_bounce, last = round> 40 * s->n;
    double back = round < 20 * s->n ? share * speed : 0;
    for (int k = 0; k < s->n; k++)
      as[k] = side_of(s, k) && (last || s->y[s->at_qd + s->joint[k].at] == 0) ? last || slow ? HELD : RESTING : FREE;
    s->limits++;
    status = strike(s, struck, back < too_slow_to_bounce ? 0 : -side_of(s, struck) * back, as);
  }
  return status;
}

/* ---- which joints are held ---- */

/* releases the joint whose load exceeds its hold most; false when all hold */
static bool release_one(psdm_sim *s) {
  int worst = -1;
  bool off_stop = false;
  double excess = 0;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double off = j->stop ? 0.5 * margin - rest_at_stop(s, i) : 0,
           away = stuck(j) ? 0.5 * margin * hold(s, j) - left_of_friction(s, i) : 0;
    if (off > excess) excess = off, worst = i, off_stop = true;
    if (away > excess) excess = away, worst = i, off_stop = false;
  }
  if (worst < 0) return false;
  psdmp_sim_drive_train *j = &s->joint[worst];
  if (!off_stop) {
    j->mode = s->reaction[worst] < 0 ? 1 : -1;
    return true;
  }
  if (j->dry && j->motor < 0) j->mode = -j->stop;
  j->stop = 0;
  return true;
}

/* a joint that was released but is pushed back by later changes is held again */
static bool hold_again(psdm_sim *s) {
  bool any = false;
  for (int i = 0; i < s->n; i++) {
    psdmp_sim_drive_train *j = &s->joint[i];
    double pull = s->rate[s->at_qd + j->at], turn = j->motor < 0 ? pull : s->rate[s->at_thetad + j->motor];
    int side = s->stops && s->y[s->at_qd + j->at] == 0 ? side_of(s, i) : 0;
    if (j->dry && j->mode && psdmp_sim_speed(s, s->y, i) == 0 && turn * j->mode < 0) j->mode = 0, any = true;
    if (side && !j->stop && pull * side > 0) j->stop = side, any = true;
  }
  return any;
}

psdm_status psdmp_sim_settle(psdm_sim *s) {
  if (!psdmp_sim_has_events(s)) return PSDM_OK;
  psdm_status status = impacts(s);
  for (int i = 0; i < s->n; i++) {
    psdmp_sim_drive_train *j = &s->joint[i];
    double v = psdmp_sim_speed(s, s->y, i);
    j->mode = v > 0 ? 1 : v < 0 ? -1 : 0;
    j->stop = s->stops && s->y[s->at_qd + j->at] == 0 ? side_of(s, i) : 0;
  }
  bool again = true;
  for (int round = 0; round < 4 * s->n + 4 && again && !status; round++) {
    status = psdmp_sim_rates(s, s->t, s->y, s->rate);
    again = !status && ((round < 2 * s->n && hold_again(s)) || release_one(s));
  }
  return status;
}

int psdmp_sim_outside(const psdm_sim *s) {
  for (int i = 0; s->ends && i < s->n; i++) {
    int side = side_of(s, i), at = s->joint[i].at;
    double v = s->y[s->at_qd + at];
    if (side && (v * side > 0 || (v == 0 && s->rate[s->at_qd + at] * side > 0))) return i;
  }
  return -1;
}

/* ---- events ---- */

psdm_status psdmp_sim_event(psdm_sim *s, const bool *fired, int *hit) {
  psdm_status status = PSDM_OK;
  *hit = -1;
  for (int i = 0; i < s->n && !status; i++) {
    psdmp_sim_drive_train *j = &s->joint[i];
    if (fired[i] && j->mode) {
      s->reversals++;
      status = rest(s, i);
    }
    for (int side = -1; side <= 1; side += 2) {
      if (!fired[s->n + 2 * i + (side > 0)] || j->stop) continue;
      if (!s->loops) s->y[j->at] = side < 0 ? j->lower : j->upper;
      if (s->ends) *hit = i;
    }
  }
  if (!status) status = psdmp_sim_settle(s);
  for (int i = 0; i < s->n; i++)
    if (fired[i] && s->joint[i].dry && s->joint[i].mode == 0) s->sticks++;
  s->fresh = true;
  return status;
}
