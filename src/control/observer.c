/* observer.c: the generalised-momentum observer in discrete time.
 *
 *   dp/dt = tau + tau_ext + dT/dq - g - friction,   p = M qd
 *
 * Over an interval h between two states, e = (p1 - p0) / h - mean of (tau + dT/dq - g - friction) is the mean of
 * tau_ext, and r1 = a r0 + (1 - a) e with a = exp(-K h) solves dr/dt = K (tau_ext - r) exactly where tau_ext is
 * constant (De Luca, Mattone 2003; Haddadin, De Luca, Albu-Schaeffer 2017). The mean of smooth terms is that of the two
 * ends, an error of order h^2; dry friction changes sign where the linearly interpolated velocity does. */
#include <math.h>
#include <string.h>

#include "control/observer_priv.h"
#include "rigid/rigid.h"

/* ---- memory ---- */

static void lay_out_state(psdmp_rigid_carver *c, size_t n, psdmp_control_observed *state) {
  double **piece[] = {&state->q, &state->qd, &state->p, &state->u, &state->z};
  for (size_t k = 0; k < sizeof piece / sizeof *piece; k++) *piece[k] = psdmp_rigid_carve(c, n, sizeof(double));
}

static psdm_observer *lay_out(const psdm_robot *r, void *memory, size_t *bytes) {
  psdmp_rigid_carver c = {memory, 0};
  size_t n = (size_t)psdm_robot_n(r);
  psdm_observer *o = psdmp_rigid_carve(&c, 1, sizeof *o), count;
  psdm_observer *at = o ? o : &count;
  at->work_memory = psdmp_rigid_carve(&c, psdm_work_bytes(r), 1);
  at->joint = psdmp_rigid_carve(&c, n, sizeof *at->joint);
  for (int k = 0; k < 2; k++) lay_out_state(&c, n, &at->node[k]);
  for (int k = 0; k < 2; k++) at->torque[k] = psdmp_rigid_carve(&c, n, sizeof(double));
  at->q = psdmp_rigid_carve(&c, n, sizeof(double));
  at->r = psdmp_rigid_carve(&c, n, sizeof(double));
  at->e = psdmp_rigid_carve(&c, n, sizeof(double));
  at->dry = psdmp_rigid_carve(&c, n, sizeof(double));
  at->scratch = psdmp_rigid_carve(&c, n * n, sizeof(double));
  *bytes = c.used;
  return o;
}

size_t psdm_observer_bytes(const psdm_robot *r) {
  size_t bytes;
  lay_out(r, NULL, &bytes);
  return bytes;
}

/* ---- initialisation ---- */

static const psdm_friction no_friction = {.exponent = 1};

/* friction of each independent joint; false where a model lacks numbers */
static bool find_friction(psdm_observer *o) {
  for (int k = 0; k < psdm_robot_joints(o->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(o->robot, k);
    if (joint->q < 0) continue;
    o->joint[joint->q].friction = joint->friction.given ? &joint->friction : &no_friction;
    if (psdm_friction_lacks(&joint->friction, o->kind)) return false;
  }
  return true;
}

/* weights of the last three torques in the mean over an interval: oldest first */
static const double shares[2][2][3] = {
    {{0, 1, 0}, {0, 0.5, 0.5}},            /* from sample to sample: held; linear */
    {{0.5, 0.5, 0}, {0.125, 0.75, 0.125}}, /* from halfway before a sample to halfway after it */
};

psdm_status psdm_observer_init(const psdm_robot *r, const psdm_observer_options *options, void *memory, size_t bytes,
                               psdm_observer **observer) {
  size_t need = psdm_observer_bytes(r);
  *observer = NULL;
  if (!memory || bytes < need || (uintptr_t)memory % _Alignof(max_align_t) ||
      !psdmp_control_observer_acceptable(r->n, options))
    return PSDM_E_ARGUMENT;
  if (!psdmp_rigid_ready(r)) return PSDM_E_MISSING;
  memset(memory, 0, need);
  psdm_observer *o = lay_out(r, memory, &need);
  o->robot = r, o->n = r->n;
  o->rate = options->rate, o->kind = options->friction, o->differences = options->differences;
  memcpy(o->share, shares[options->differences][options->sampled], sizeof o->share);
  psdm_status status = psdm_work_init(r, o->work_memory, psdm_work_bytes(r), &o->work);
  if (!status && !find_friction(o)) status = PSDM_E_MISSING;
  if (status) return status;
  psdmp_control_observer_tune(o, options);
  psdm_observer_restart(o);
  *observer = o;
  return PSDM_OK;
}

void psdm_observer_restart(psdm_observer *o) {
  o->samples = 0;
  for (int j = 0; j < o->n; j++) o->r[j] = 0;
  psdmp_control_observer_calm(o);
}

/* ---- friction over an interval ---- */

static double sign(double v) { return (v > 0) - (v < 0); }

/* mean of dry friction while the velocity changes linearly from v0 to v1 */
static double dry_mean(const psdm_friction *f, psdm_friction_kind kind, double v0, double v1) {
  double begin = psdm_friction_dry(f, kind, fabs(v0)), end = psdm_friction_dry(f, kind, fabs(v1));
  if (sign(v0) * sign(v1) >= 0) return sign(v0 + v1) * (begin + end) / 2;
  /* each direction for its part of the time, between its end and rest */
  double share = v0 / (v0 - v1), rest = psdm_friction_dry(f, kind, 0);
  return sign(v0) * (share * (begin + rest) - (1 - share) * (end + rest)) / 2;
}

/* mean of sigma0 z + sigma1 dz/dt, and z at the end */
static double bristle_mean(const psdm_friction *f, double rate, double v0, double v1, double z0, double *z1) {
  const double t[2] = {0, 1 / rate}, v[2] = {v0, v1};
  double z[2], tau[2];
  psdm_lugre_follow(f, z0, 2, t, v, z, tau);
  *z1 = z[1];
  return f->sigma0 * (z0 + z[1]) / 2 + f->sigma1 * (z[1] - z0) * rate;
}

static double friction_mean(psdm_observer *o, int j, const psdmp_control_observed *now,
                            const psdmp_control_observed *next) {
  const psdm_friction *f = o->joint[j].friction;
  double v0 = now->qd[j], v1 = next->qd[j];
  bool bristles = o->kind == PSDM_FRICTION_LUGRE && f->given;
  o->dry[j] = bristles ? bristle_mean(f, o->rate, v0, v1, now->z[j], &next->z[j]) : dry_mean(f, o->kind, v0, v1);
  return o->dry[j] + (psdm_friction_smooth(f, o->kind, v0) + psdm_friction_smooth(f, o->kind, v1)) / 2;
}

/* ---- a sample ---- */

static bool all_finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* position and velocity: at the sample, or halfway from the one before it. Bristles start in steady sliding. */
static void place(psdm_observer *o, const double *q, const double *qd, psdmp_control_observed *state) {
  for (int j = 0; j < o->n; j++) {
    state->q[j] = o->differences ? o->q[j] + (q[j] - o->q[j]) / 2 : q[j];
    state->qd[j] = o->differences ? (q[j] - o->q[j]) * o->rate : qd[j];
    state->z[j] = psdm_lugre_steady(o->joint[j].friction, state->qd[j]);
  }
}

/* p and dT/dq - g there */
static psdm_status observe(psdm_observer *o, psdmp_control_observed *state) {
  double *g = o->scratch;
  psdm_status status = psdm_momentum(o->robot, o->work, state->q, state->qd, state->p, state->u);
  if (!status) status = psdm_gravity(o->robot, o->work, state->q, g);
  if (status) return status;
  for (int j = 0; j < o->n; j++) state->u[j] -= g[j];
  return all_finite(o->n, state->p) && all_finite(o->n, state->u) ? PSDM_OK : PSDM_E_ARGUMENT;
}

/* the mean of tau_ext between two states */
static bool compare(psdm_observer *o, const double *tau, const psdmp_control_observed *now,
                    const psdmp_control_observed *next) {
  for (int j = 0; j < o->n; j++) {
    double torque = o->share[0] * o->torque[0][j] + o->share[1] * o->torque[1][j] + o->share[2] * tau[j];
    o->e[j] =
        (next->p[j] - now->p[j]) * o->rate - torque - (now->u[j] + next->u[j]) / 2 + friction_mean(o, j, now, next);
  }
  return all_finite(o->n, o->e);
}

static psdm_status follow(psdm_observer *o, const double *tau, const psdmp_control_observed *now,
                          const psdmp_control_observed *next) {
  if (!compare(o, tau, now, next)) return PSDM_E_ARGUMENT;
  for (int j = 0; j < o->n; j++) o->r[j] += o->joint[j].blend * (o->e[j] - o->r[j]);
  return psdmp_control_observer_judge(o, now, next);
}

/* makes the sample the last one, and the new state the last state */
static void keep(psdm_observer *o, const double *q, const double *tau, bool placed) {
  double *oldest = o->torque[0];
  o->torque[0] = o->torque[1], o->torque[1] = oldest;
  for (int j = 0; j < o->n; j++) {
    oldest[j] = tau[j], o->q[j] = q[j];
    if (o->samples == 0) o->torque[0][j] = tau[j];
  }
  if (placed) {
    psdmp_control_observed last = o->node[0];
    o->node[0] = o->node[1], o->node[1] = last;
  }
  if (o->samples < 2) o->samples++;
}

psdm_status psdm_observer_step(psdm_observer *o, const double *q, const double *qd, const double *tau, double *r) {
  int first = o->differences ? 1 : 0; /* first sample with a state */
  psdmp_control_observed *now = &o->node[0], *next = &o->node[1];
  if (!all_finite(o->n, q) || !all_finite(o->n, tau) || (!o->differences && !all_finite(o->n, qd)))
    return PSDM_E_ARGUMENT;
  psdm_status status = PSDM_OK;
  if (o->samples >= first) {
    place(o, q, qd, next);
    status = observe(o, next);
  }
  if (!status && o->samples > first) status = follow(o, tau, now, next);
  if (status) return status;
  keep(o, q, tau, o->samples >= first);
  memcpy(r, o->r, sizeof *r * (size_t)o->n);
  return PSDM_OK;
}
