/* fixed.c: steps of a fixed size. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "sim/sim_priv.h"

/* ---- classical Runge-Kutta, cut at events ---- */

static void combine(const psdm_sim *s, const double *y, double h, const double *k, double *out) {
  for (int i = 0; i < s->size; i++) out[i] = y[i] + h * k[i];
}

/* y after h; k1 holds the rates at the start */
static psdm_status rk4_to(psdm_sim *s, double h, double *out) {
  combine(s, s->y, h / 2, s->k1, s->trial);
  psdm_status status = psdmp_sim_rates(s, s->t + h / 2, s->trial, s->k2);
  if (status) return status;
  combine(s, s->y, h / 2, s->k2, s->trial);
  status = psdmp_sim_rates(s, s->t + h / 2, s->trial, s->k3);
  if (status) return status;
  combine(s, s->y, h, s->k3, s->trial);
  status = psdmp_sim_rates(s, s->t + h, s->trial, s->k4);
  if (status) return status;
  for (int i = 0; i < s->size; i++) out[i] = s->y[i] + h / 6 * (s->k1[i] + 2 * (s->k2[i] + s->k3[i]) + s->k4[i]);
  return PSDM_OK;
}

/* whether some event occurs between the start, where its function was positive, and a later state */
static psdm_status fires(psdm_sim *s, double t, const double *y, bool *any) {
  psdm_status status = psdmp_sim_events(s, t, y, s->g_next);
  *any = false;
  for (int i = 0; i < 3 * s->n; i++) {
    s->fired[i] = s->g_next[i] < 0 && s->g[i] >= 0;
    *any |= s->fired[i];
  }
  return status;
}

/* the part of a step before its first event, by bisection: at its end the event has just happened */
static psdm_status cut(psdm_sim *s, double h, double *part) {
  double low = 0, high = h;
  bool any = true;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < 50 && high - low > 1e-14 * (h + fabs(s->t)) && !status; k++) {
    double middle = low + (high - low) / 2;
    status = rk4_to(s, middle, s->save);
    if (!status) status = fires(s, s->t + middle, s->save, &any);
    *(any ? &high : &low) = middle;
  }
  *part = high;
  if (!status) status = rk4_to(s, high, s->save);
  return status ? status : fires(s, s->t + high, s->save, &any);
}

/* the fastest rate in the state, 1/s: bristles that follow a sliding joint, springs and bristles acting on their
 * masses */
static psdm_status stiffness(psdm_sim *s, double *fastest) {
  *fastest = 0;
  if (s->at_z < 0 && !s->motors) return PSDM_OK;
  psdm_status status = psdmp_sim_mass(s, s->y, s->M);
  if (status || !psdmp_linalg_invert(s->N, s->M, s->W, psdmp_linalg_rounding(s->N)))
    return status ? status : PSDM_E_SINGULAR;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double v = psdmp_sim_speed(s, s->y, i), lightness = s->W[(long)j->at * s->N + j->at], stiff = 0, damp = 0;
    if (j->motor >= 0) {
      stiff = j->stiffness * lightness, damp = j->damping * lightness;
      lightness = 1 / s->B[(long)j->motor * s->motors + j->motor];
      stiff += j->stiffness * lightness, damp += j->damping * lightness;
    }
    if (s->at_z >= 0 && j->friction.sigma0 > 0) {
      stiff += j->friction.sigma0 * lightness, damp += j->friction.sigma1 * lightness;
      damp += fabs(v) / psdm_lugre_steady(&j->friction, fabs(v) + 1e-300);
    }
    *fastest = fmax(*fastest, damp + sqrt(stiff));
  }
  return PSDM_OK;
}

/* of a step; between events: a bouncing joint cuts a step more and more often */
enum { MOST_PARTS = 1000, MOST_PIECES = 1000 };

static psdm_status rk4_part(psdm_sim *s, double h, int *hit) {
  bool events = psdmp_sim_has_events(s);
  for (int pieces = 0; h > 0 && *hit < 0; pieces++) {
    double part = h;
    bool any = false;
    psdm_status status = psdmp_sim_rates(s, s->t, s->y, s->k1);
    if (!status && events) psdmp_sim_event_values(s, s->y, s->g);
    if (!status) status = rk4_to(s, h, s->save);
    if (!status && events) status = fires(s, s->t + h, s->save, &any);
    if (!status && any && pieces < MOST_PIECES) status = cut(s, h, &part);
    if (status) return status;
    memcpy(s->y, s->save, (size_t)s->size * sizeof *s->y);
    s->t += part;
    h = part < h ? h - part : 0;
    s->steps++;
    if (any && (status = psdmp_sim_event(s, s->fired, hit))) return status;
  }
  return PSDM_OK;
}

psdm_status psdmp_sim_rk4(psdm_sim *s, double h, int *hit) {
  double fastest, end = s->t + h;
  *hit = -1;
  psdm_status status = stiffness(s, &fastest);
  if (status) return status;
  int parts = (int)fmin(MOST_PARTS, ceil(h * fastest / 1.5)); /* Runge-Kutta is stable to about 2.8 */
  if (parts < 1) parts = 1;
  for (int k = 0; k < parts && *hit < 0; k++)
    if ((status = rk4_part(s, h / parts, hit))) return status;
  if (*hit < 0) s->t = end;
  return PSDM_OK;
}

/* ---- semi-implicit Euler ----
 *
 * M v' = M v + h (all forces at q, v, except friction, springs and stops at v'), q' = q + h v'. Velocities of
 * coordinates and motors are the unknowns x of A x + h friction(x) = b, A = [M + S, -S; -S, B + S], S = h^2 K + h D.
 * Friction and stops act on each unknown alone. One by one (Gauss-Seidel: the descent of a convex function, so that it
 * converges) the unknowns determine which stick and which touch a stop, and Newton's step on the others makes it
 * fast. */

/* a joint's friction at velocity x at the end of the step, without its dry part; and its slope */
static double resist(const psdm_sim *s, int i, double h, double x, double *slope) {
  const psdm_friction *f = &s->joint[i].friction;
  psdm_friction_kind kind = s->options.friction;
  double z = s->at_z >= 0 ? s->y[s->at_z + i] : 0, delta = 1e-7 * (fabs(x) + 1e-3), at[2] = {x, x + delta}, torque[2];
  for (int k = 0; k < 2; k++) {
    torque[k] = psdm_friction_smooth(f, kind, at[k]);
    if (s->at_z < 0) continue;
    double bent = psdm_lugre_step(f, at[k], z, h);
    torque[k] += f->sigma0 * bent + f->sigma1 * (bent - z) / h;
  }
  *slope = (torque[1] - torque[0]) / delta;
  return torque[0];
}

/* x of a x + h friction(x) = r for a > 0, one joint; friction rises with x or falls slower than a x rises */
static double solve_smooth(const psdm_sim *s, int i, double a, double r, double h, double x) {
  double low = -INFINITY, high = INFINITY, slope;
  for (int k = 0; k < 60; k++) {
    double error = a * x + h * resist(s, i, h, x, &slope) - r;
    *(error > 0 ? &high : &low) = x;
    double next = x - error / fmax(a + h * slope, 0.01 * a);
    if (!(next > low && next < high) && isfinite(low) && isfinite(high)) next = (low + high) / 2;
    if (fabs(next - x) <= 1e-15 * fabs(x) + 1e-18) return next;
    x = next;
  }
  return x;
}

/* h times the dry friction, whose size is that at the previous velocity */
static double dry_impulse(const psdm_sim *s, int i, double h) {
  return h * psdm_friction_dry(&s->joint[i].friction, s->options.friction, fabs(psdmp_sim_speed(s, s->y, i)));
}

static double solve_joint(const psdm_sim *s, int i, double a, double r, double h, double x) {
  if (!s->joint[i].dry) return solve_smooth(s, i, a, r, h, x);
  double slope, dry = dry_impulse(s, i, h), offset = h * resist(s, i, h, 0, &slope);
  if (fabs(r - offset) <= dry) return 0;
  double direction = r > offset ? 1 : -1;
  return direction * fmax(0, direction * solve_smooth(s, i, a, r - direction * dry, h, x));
}

/* a velocity within its bounds: just up to a stop, or away from it where the joint bounces (fired[n + i]) */
static double at_stop(const psdm_sim *s, int i, double h, double x) {
  const psdmp_sim_drive_train *j = &s->joint[i];
  double low = (j->lower - s->y[j->at]) / h, high = (j->upper - s->y[j->at]) / h, v = s->y[s->at_qd + j->at];
  if (!s->stops) return x;
  if (s->fired[s->n + i] && v < 0) low = -s->options.restitution * v;
  if (s->fired[s->n + i] && v > 0) high = -s->options.restitution * v;
  return fmax(low, fmin(high, x));
}

/* position after a step, exactly at a stop that it just reaches */
static double moved(const psdm_sim *s, int k, double h, double x) {
  int link = s->moves[k];
  double q = s->y[k] + h * x;
  if (!s->stops || link < 0 || !s->fired[link]) return q;
  const psdmp_sim_drive_train *j = &s->joint[link];
  double near = 1e-12 * (1 + fabs(q));
  return fabs(q - j->lower) <= near ? j->lower : fabs(q - j->upper) <= near ? j->upper : q;
}

/* A (G x G) and b, G = N + motors; friction left out */
static psdm_status set_implicit(psdm_sim *s, double h, double *A, double *b) {
  int N = s->N, m = s->motors, G = N + m;
  const double *qd = s->y + s->at_qd, *thetad = s->y + s->at_thetad;
  psdm_status status = psdmp_sim_mass(s, s->y, s->M);
  if (!status) status = psdm_bias(s->moving, s->work, s->y, qd, s->qdd);
  if (status) return status;
  memset(A, 0, (size_t)G * (size_t)G * sizeof *A);
  for (int i = 0; i < N; i++) {
    b[i] = h * (s->push[i] - s->qdd[i]);
    for (int k = 0; k < N; k++) A[(long)i * G + k] = s->M[(long)i * N + k], b[i] += s->M[(long)i * N + k] * qd[k];
  }
  for (int i = 0; i < m; i++) {
    b[N + i] = 0;
    for (int k = 0; k < m; k++)
      A[(long)(N + i) * G + N + k] = s->B[(long)i * m + k], b[N + i] += s->B[(long)i * m + k] * thetad[k];
  }
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    int x = j->motor < 0 ? j->at : N + j->motor;
    b[x] += h * s->tau[i];
    if (j->motor < 0) continue;
    double S = h * h * j->stiffness + h * j->damping,
           stretch = h * j->stiffness * (s->y[s->at_theta + j->motor] - s->y[j->at]);
    A[(long)x * G + x] += S, A[(long)j->at * G + j->at] += S;
    A[(long)x * G + j->at] -= S, A[(long)j->at * G + x] -= S;
    b[x] -= stretch, b[j->at] += stretch;
  }
  return PSDM_OK;
}

/* every unknown from the others, once; false when none changed beyond rounding. The impulses of friction and stops are
 * left in friction and, for elastic joints, stop_reaction; fired says which touch a stop. */
static bool sweep(psdm_sim *s, double h, const double *A, const double *b, double *x) {
  int N = s->N, G = N + s->motors;
  bool changed = false;
  for (int k = 0; k < G; k++) {
    int joint = s->rubs[k], link = s->moves[k];
    double a = A[(long)k * G + k], r = b[k], size = fabs(b[k]), before = x[k];
    for (int c = 0; c < G; c++) {
      if (c == k) continue;
      r -= A[(long)k * G + c] * x[c];
      size += fabs(A[(long)k * G + c] * x[c]);
    }
    x[k] = joint >= 0 ? solve_joint(s, joint, a, r, h, x[k]) : r / a;
    if (link >= 0) {
      double stop = at_stop(s, link, h, x[k]);
      s->fired[link] = stop != x[k];
      x[k] = stop;
      s->stop_reaction[link] = joint < 0 && s->fired[link] ? (a * stop - r) / h : 0;
    }
    if (joint >= 0) s->friction[joint] = (r - a * x[k]) / h;
    changed |= !(a * fabs(x[k] - before) <= 1e-15 * (8 + G) * size);
  }
  return changed;
}

/* whether an unknown sticks or touches a stop */
static bool pinned(const psdm_sim *s, int k, double x) {
  int joint = s->rubs[k], link = s->moves[k];
  return (joint >= 0 && s->joint[joint].dry && x == 0) || (link >= 0 && s->fired[link]);
}

/* Newton's step for the unknowns that neither stick nor touch a stop */
static void newton(psdm_sim *s, double h, const double *A, const double *b, double *x) {
  int G = s->N + s->motors;
  double *J = s->implicit + (long)G * G, *step = s->k2;
  for (int k = 0; k < G; k++) {
    int joint = s->rubs[k];
    double slope = 0, torque = joint >= 0 ? resist(s, joint, h, x[k], &slope) : 0,
           dry = joint >= 0 && s->joint[joint].dry ? dry_impulse(s, joint, h) : 0;
    bool free = !pinned(s, k, x[k]);
    step[k] = free ? b[k] - h * torque - (x[k] > 0 ? dry : -dry) : 0;
    for (int c = 0; c < G; c++) {
      J[(long)k * G + c] = free && !pinned(s, c, x[c]) ? A[(long)k * G + c] : 0;
      if (free) step[k] -= A[(long)k * G + c] * x[c];
    }
    J[(long)k * G + k] = free ? A[(long)k * G + k] + h * fmax(slope, 0) : 1;
  }
  if (!psdmp_linalg_cholesky(G, J)) return;
  psdmp_linalg_cholesky_solve(G, J, step);
  for (int k = 0; k < G; k++) x[k] += step[k];
}

enum { NEWTON_SWEEPS = 30, MOST_SWEEPS = 2000 };

static void solve_sweeps(psdm_sim *s, double h, const double *A, const double *b, double *x) {
  for (int k = 0; sweep(s, h, A, b, x) && k < MOST_SWEEPS; k++)
    if (k < NEWTON_SWEEPS) newton(s, h, A, b, x);
}

/* first finds which joints touch a stop without bouncing; then those that ran into one bounce */
static void solve_implicit(psdm_sim *s, double h, const double *A, const double *b, double *x) {
  bool bounces = false;
  memset(s->fired, 0, 2 * (size_t)s->n * sizeof *s->fired);
  solve_sweeps(s, h, A, b, x);
  for (int i = 0; i < s->n && s->options.at_limit == PSDM_AT_LIMIT_BOUNCE; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double v = s->y[s->at_qd + j->at], next = s->y[j->at] + h * x[j->at];
    s->fired[s->n + i] = s->fired[i] && (next - j->lower < j->upper - next ? v < 0 : v > 0);
    bounces |= s->fired[s->n + i];
  }
  if (bounces) solve_sweeps(s, h, A, b, x);
}

/* old and new speed of friction; v, x: those of the joint */
static void count_events(psdm_sim *s, int i, double old, double new, double v, double x) {
  if (s->joint[i].dry && old * new <= 0 && old != 0) s->reversals++, s->sticks += new == 0;
  if (s->stops && s->fired[i] && v != 0 && v * x <= 0) s->limits++;
}

/* the new state, and the work at the mean of old and new velocities: exact where M is constant */
static void euler_move(psdm_sim *s, double h, const double *x) {
  int N = s->N;
  double *work = s->y + s->at_work;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double old = psdmp_sim_speed(s, s->y, i), new = x[j->motor < 0 ? j->at : N + j->motor], mean = (old + new) / 2,
           stored = 0;
    if (s->at_z >= 0) {
      double z = s->y[s->at_z + i], bent = psdm_lugre_step(&j->friction, new, z, h);
      stored = 0.5 * j->friction.sigma0 * (bent * bent - z * z);
      s->y[s->at_z + i] = bent;
    }
    work[PSDMP_SIM_SUPPLIED] += h * s->tau[i] * mean;
    work[PSDMP_SIM_DISSIPATED] += h * s->friction[i] * mean - stored;
    count_events(s, i, old, new, s->y[s->at_qd + j->at], x[j->at]);
    if (j->motor < 0) continue;
    double link = (s->y[s->at_qd + j->at] + x[j->at]) / 2, slip = mean - link;
    work[PSDMP_SIM_DISSIPATED] += h * j->damping * slip * slip - h * s->stop_reaction[i] * link;
  }
  for (int k = 0; k < N; k++) {
    work[PSDMP_SIM_EXTERNAL] += h * s->push[k] * (s->y[s->at_qd + k] + x[k]) / 2;
    s->y[s->at_qd + k] = x[k];
    s->y[k] = moved(s, k, h, x[k]);
  }
  for (int k = 0; k < s->motors; k++) {
    s->y[s->at_thetad + k] = x[N + k];
    s->y[s->at_theta + k] += h * x[N + k];
  }
  for (int i = 0; i < s->control_states; i++) s->y[s->at_control + i] += h * s->k1[s->at_control + i];
}

/* closed loops: friction and stops are explicit, and events during the step are handled at its end */
static psdm_status late_events(psdm_sim *s) {
  int hit;
  bool any = false;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double q = s->y[j->at];
    s->fired[i] = j->dry && j->mode && s->y[s->at_qd + j->at] * j->mode < 0;
    s->fired[s->n + 2 * i] = s->stops && q < j->lower;
    s->fired[s->n + 2 * i + 1] = s->stops && q > j->upper;
    any |= s->fired[i] || s->fired[s->n + 2 * i] || s->fired[s->n + 2 * i + 1];
  }
  return any ? psdmp_sim_event(s, s->fired, &hit) : PSDM_OK;
}

/* v' = v + h qdd */
static psdm_status euler_explicit(psdm_sim *s, double h, double *x) {
  psdm_status status = psdmp_sim_rates(s, s->t, s->y, s->k1);
  if (s->stops) memset(s->fired, 0, (size_t)s->n * sizeof *s->fired);
  for (int k = 0; k < s->N && !status; k++) x[k] = s->y[s->at_qd + k] + h * s->k1[s->at_qd + k];
  return status;
}

static psdm_status euler_implicit(psdm_sim *s, double h, double *x) {
  s->evaluations++;
  psdm_status status = psdmp_sim_drive(s, s->t, s->y, s->k1);
  if (!status) status = set_implicit(s, h, s->implicit, s->save);
  if (status) return status;
  memcpy(x, s->y + s->at_qd, (size_t)s->N * sizeof *x);
  if (s->motors) memcpy(x + s->N, s->y + s->at_thetad, (size_t)s->motors * sizeof *x);
  solve_implicit(s, h, s->implicit, s->save, x);
  return PSDM_OK;
}

psdm_status psdmp_sim_euler(psdm_sim *s, double h, int *hit) {
  bool implicit = psdmp_sim_implicit(s);
  double *x = s->trial;
  *hit = -1;
  psdm_status status = implicit ? euler_implicit(s, h, x) : euler_explicit(s, h, x);
  for (int k = 0; k < s->N + s->motors && !status; k++)
    if (!isfinite(x[k])) status = PSDM_E_ARGUMENT;
  if (status) return status;
  euler_move(s, h, x);
  s->t += h;
  s->steps++;
  if (implicit) s->fresh = true; /* sticking is determined when needed */
  if (s->loops) status = late_events(s);
  for (int i = 0; i < s->n && s->ends; i++)
    if (s->y[s->joint[i].at] < s->joint[i].lower || s->y[s->joint[i].at] > s->joint[i].upper) *hit = i;
  return status;
}

bool psdmp_sim_implicit(const psdm_sim *s) {
  return s->integrator == PSDM_INTEGRATOR_EULER && !s->loops &&
         (s->options.friction != PSDM_FRICTION_NONE || s->motors || s->stops);
}
