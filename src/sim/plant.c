/* plant.c: the rates of the state, and energies. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "sim/sim_priv.h"
#include "psdm/loop.h"

/* ---- views of the state ---- */

double psdmp_sim_speed(const psdm_sim *s, const double *y, int joint) {
  const psdmp_sim_drive_train *j = &s->joint[joint];
  return j->motor < 0 ? y[s->at_qd + j->at] : y[s->at_thetad + j->motor];
}

void psdmp_sim_look(psdm_sim *s, const double *y) {
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    s->q[i] = y[j->at];
    s->qd[i] = y[s->at_qd + j->at];
    s->theta[i] = j->motor < 0 ? s->q[i] : y[s->at_theta + j->motor];
    s->thetad[i] = j->motor < 0 ? s->qd[i] : y[s->at_thetad + j->motor];
  }
}

/* ---- torques ---- */

static void saturate(const psdm_sim *s, double *tau) {
  for (int i = 0; s->options.saturate && i < s->n; i++)
    tau[i] = fmax(-s->joint[i].effort, fmin(s->joint[i].effort, tau[i]));
}

static psdm_status motor_torques(psdm_sim *s, double t, const double *y, double *rate) {
  psdm_status status = PSDM_OK;
  if (s->continuous && s->controlling) {
    psdmp_sim_look(s, y);
    const psdm_control_input in = {.t = t, .q = s->q, .qd = s->qd, .theta = s->theta, .thetad = s->thetad};
    status = psdm_control_torque(s->options.controller, &in, y + s->at_control, s->tau, rate + s->at_control);
    saturate(s, s->tau);
  } else {
    memcpy(s->tau, s->held, (size_t)s->n * sizeof *s->tau);
    memset(rate + s->at_control, 0, (size_t)s->control_states * sizeof *rate);
  }
  return status;
}

/* friction of every moving joint, and the rates of the bristles; a stuck joint's is found later, as a reaction */
static void friction_torques(psdm_sim *s, const double *y, double *rate) {
  psdm_friction_kind kind = s->options.friction;
  for (int i = 0; kind != PSDM_FRICTION_NONE && i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double v = psdmp_sim_speed(s, y, i);
    if (kind == PSDM_FRICTION_LUGRE) psdm_lugre(&j->friction, v, y[s->at_z + i], &rate[s->at_z + i], &s->friction[i]);
    else
      s->friction[i] = psdm_friction_smooth(&j->friction, kind, v) +
                       (j->dry ? j->mode * psdm_friction_dry(&j->friction, kind, fabs(v)) : 0);
  }
}

/* push: torques of the wrench. A stepwise wrench jumps at s->until, which belongs to the next piece of the run. */
static psdm_status set_push(psdm_sim *s, double t, const double *y) {
  if (!s->options.wrench) return PSDM_OK;
  double w[6];
  psdm_signal_at(s->options.wrench, t < s->until ? t : nextafter(s->until, -INFINITY), w);
  const psdm_wrench wrench = {.joint = s->wrench_joint, .force = {w[0], w[1], w[2]}, .moment = {w[3], w[4], w[5]}};
  return psdm_wrench_torque(s->moving, s->work, y, 1, &wrench, s->push);
}

psdm_status psdmp_sim_drive(psdm_sim *s, double t, const double *y, double *rate) {
  psdm_status status = motor_torques(s, t, y, rate);
  return status ? status : set_push(s, t, y);
}

/* u and u_motor: all torques on links and motors except their own dynamics */
static void set_loads(psdm_sim *s, const double *y) {
  memcpy(s->u, s->push, (size_t)s->N * sizeof *s->u);
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double net = s->tau[i] - s->friction[i];
    if (j->motor >= 0) {
      double spring = j->stiffness * (y[s->at_theta + j->motor] - y[j->at]) +
                      j->damping * (y[s->at_thetad + j->motor] - y[s->at_qd + j->at]);
      s->u_motor[j->motor] = net - spring;
      net = spring;
    }
    s->u[j->at] += net;
  }
}

/* ---- accelerations ---- */

static bool finite_all(const double *x, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static psdm_status free_forward(psdm_sim *s, const double *q, const double *qd, const double *u, double *qdd) {
  if (s->forward) {
    s->forward(q, qd, u, qdd);
  } else if (s->forward_loaded) {
    s->forward_loaded(s->load, q, qd, u, qdd);
  } else {
    return psdm_forward(s->moving, s->work, q, qd, u, qdd);
  }
  if (finite_all(qdd, s->N)) return PSDM_OK;
  return finite_all(q, s->N) && finite_all(qd, s->N) && finite_all(u, s->N)
             ? psdm_forward(s->moving, s->work, q, qd, u, qdd)
             : PSDM_E_ARGUMENT;
}

psdm_status psdmp_sim_mass(psdm_sim *s, const double *y, double *M) { return psdm_mass(s->moving, s->work, y, M); }

/* Q R of W = L^-1 C^T with the longest column first, by Gram-Schmidt twice; the rank. Column k of Q is in Q[k], R
 * column-major (rows x rows) in the order of `order`. */
static int factorise(int size, int rows, double *W, double *R, int *order) {
  double first = 0;
  for (int k = 0; k < rows; k++) order[k] = k;
  memset(R, 0, (size_t)rows * (size_t)rows * sizeof *R);
  for (int k = 0; k < rows; k++) {
    int best = k;
    double longest = -1;
    for (int c = k; c < rows; c++) {
      double length = 0, *x = W + (long)order[c] * size;
      for (int j = 0; j < k; j++) { /* the part outside the previous columns */
        const double *basis = W + (long)order[j] * size;
        double dot = 0;
        for (int i = 0; i < size; i++) dot += basis[i] * x[i];
        for (int i = 0; i < size; i++) x[i] -= dot * basis[i];
        R[(long)order[c] * rows + j] += dot;
      }
      for (int i = 0; i < size; i++) length += x[i] * x[i];
      if (length > longest) longest = length, best = c;
    }
    int swap = order[k];
    order[k] = order[best];
    order[best] = swap;
    longest = sqrt(longest);
    if (k == 0) first = longest;
    if (!(longest > 1e-9 * first) || first == 0) return k;
    double *x = W + (long)order[k] * size;
    for (int i = 0; i < size; i++) x[i] /= longest;
    R[(long)order[k] * rows + k] = longest;
  }
  return rows;
}

bool psdmp_sim_constrained(psdm_sim *s, int size, int rows, double *M, const double *C, const double *d, double *b,
                           double *x, double *lambda) {
  double *W = s->W, *R = s->R;
  int *order = s->order;
  if (!psdmp_linalg_cholesky(size, M)) return false;
  for (int c = 0; c <= rows; c++) { /* y0 = L^-1 b and W = L^-1 C^T */
    double *column = c < rows ? W + (long)c * size : b;
    for (int i = 0; i < size; i++) {
      double sum = c < rows ? C[(long)c * size + i] : b[i];
      for (int k = 0; k < i; k++) sum -= M[(long)i * size + k] * column[k];
      column[i] = sum / M[(long)i * size + i];
    }
  }
  int rank = factorise(size, rows, W, R, order);
  memset(lambda, 0, (size_t)rows * sizeof *lambda);
  double *part = s->multiplier;
  for (int k = 0; k < rank; k++) { /* R^T s = d; s - Q^T y0 is then the constraints' contribution */
    double sum = d ? d[order[k]] : 0;
    for (int j = 0; j < k; j++) sum -= R[(long)order[k] * rows + j] * s->limit[j];
    s->limit[k] = sum / R[(long)order[k] * rows + k];
    part[k] = s->limit[k];
    for (int i = 0; i < size; i++) part[k] -= W[(long)order[k] * size + i] * b[i];
  }
  for (int k = 0; k < rank; k++)
    for (int i = 0; i < size; i++) b[i] += W[(long)order[k] * size + i] * part[k];
  for (int k = rank - 1; k >= 0; k--) {
    double sum = part[k];
    for (int j = k + 1; j < rank; j++) sum -= R[(long)order[j] * rows + k] * lambda[order[j]];
    lambda[order[k]] = sum / R[(long)order[k] * rows + k];
  }
  for (int i = size - 1; i >= 0; i--) { /* x = L^-T y */
    double sum = b[i];
    for (int k = i + 1; k < size; k++) sum -= M[(long)k * size + i] * x[k];
    x[i] = sum / M[(long)i * size + i];
  }
  return true;
}

/* rate at which a loop opened by rounding closes again, 1/s (Baumgarte 1972) */
static const double closing = 20;

/* rows of the constraints on coordinates: closed loops, stuck joints, joints at a stop. Their number; row[] has their
 * joints. */
static psdm_status set_constraints(psdm_sim *s, const double *y, int *rows) {
  psdm_status status = PSDM_OK;
  int N = s->N;
  *rows = s->loops;
  if (s->loops) {
    status = psdm_loop_gaps(s->plant, s->loop_work, y, y + s->at_qd, s->gap, s->C, s->drift);
    for (int e = 0; e < s->loops && !status; e++) {
      double speed = 0;
      for (int k = 0; k < N; k++) speed += s->C[(long)e * N + k] * y[s->at_qd + k];
      s->drift[e] = -s->drift[e] - 2 * closing * speed - closing * closing * s->gap[e];
    }
  }
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    bool stuck = j->dry && j->motor < 0 && j->mode == 0;
    if (!stuck && !j->stop) continue;
    memset(s->C + (long)*rows * N, 0, (size_t)N * sizeof *s->C);
    s->C[(long)*rows * N + j->at] = 1;
    s->drift[*rows] = 0;
    s->row[(*rows)++] = i;
  }
  return status;
}

static psdm_status link_accelerations(psdm_sim *s, const double *y, double *qdd) {
  const double *q = y, *qd = y + s->at_qd;
  int rows = 0;
  if (!s->loops && !s->dry && !s->stops) return free_forward(s, q, qd, s->u, qdd);
  memset(s->reaction, 0, (size_t)s->n * sizeof *s->reaction);
  memset(s->stop_reaction, 0, (size_t)s->n * sizeof *s->stop_reaction);
  psdm_status status = set_constraints(s, y, &rows);
  if (status || !rows) return status ? status : free_forward(s, q, qd, s->u, qdd);
  status = psdmp_sim_mass(s, y, s->M);
  if (!status) status = psdm_bias(s->moving, s->work, q, qd, s->qdd);
  if (status) return status;
  for (int k = 0; k < s->N; k++) s->u[k] -= s->qdd[k];
  if (!psdmp_sim_constrained(s, s->N, rows, s->M, s->C, s->drift, s->u, qdd, s->lambda)) return PSDM_E_SINGULAR;
  for (int c = s->loops; c < rows; c++) {
    const psdmp_sim_drive_train *j = &s->joint[s->row[c]];
    *(j->stop ? &s->stop_reaction[s->row[c]] : &s->reaction[s->row[c]]) = s->lambda[c];
    qdd[j->at] = 0; /* exactly: a held joint must not creep */
  }
  return PSDM_OK;
}

/* B thetadd = u_motor, stuck motors held */
static bool motor_accelerations(psdm_sim *s, double *thetadd) {
  int m = s->motors, rows = 0;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    if (j->motor < 0 || !j->dry || j->mode != 0) continue;
    memset(s->C + (long)rows * m, 0, (size_t)m * sizeof *s->C);
    s->C[(long)rows * m + j->motor] = 1;
    s->row[rows++] = i;
  }
  if (!rows) {
    memcpy(thetadd, s->u_motor, (size_t)m * sizeof *thetadd);
    psdmp_linalg_cholesky_solve(m, s->B_factor, thetadd);
    return true;
  }
  memcpy(s->M, s->B, (size_t)m * (size_t)m * sizeof *s->M);
  if (!psdmp_sim_constrained(s, m, rows, s->M, s->C, NULL, s->u_motor, thetadd, s->lambda)) return false;
  for (int c = 0; c < rows; c++) {
    s->reaction[s->row[c]] = s->lambda[c];
    thetadd[s->joint[s->row[c]].motor] = 0;
  }
  return true;
}

/* power of motors, friction, dampers and the wrench */
static void set_powers(psdm_sim *s, const double *y, double *rate) {
  double *work = rate + s->at_work;
  memset(work, 0, PSDMP_SIM_WORKS * sizeof *work);
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double v = psdmp_sim_speed(s, y, i);
    if (j->dry && j->mode == 0) s->friction[i] -= s->reaction[i];
    work[PSDMP_SIM_SUPPLIED] += s->tau[i] * v;
    work[PSDMP_SIM_DISSIPATED] += s->friction[i] * v;
    if (s->at_z >= 0) work[PSDMP_SIM_DISSIPATED] -= j->friction.sigma0 * y[s->at_z + i] * rate[s->at_z + i];
    if (j->motor >= 0) {
      double slip = v - y[s->at_qd + j->at];
      work[PSDMP_SIM_DISSIPATED] += j->damping * slip * slip;
    }
  }
  for (int k = 0; s->options.wrench && k < s->N; k++) work[PSDMP_SIM_EXTERNAL] += s->push[k] * y[s->at_qd + k];
}

psdm_status psdmp_sim_rates(psdm_sim *s, double t, const double *y, double *rate) {
  s->evaluations++;
  psdm_status status = psdmp_sim_drive(s, t, y, rate);
  if (status) return s->trouble = status;
  friction_torques(s, y, rate);
  set_loads(s, y);
  memcpy(rate, y + s->at_qd, (size_t)s->N * sizeof *rate);
  status = link_accelerations(s, y, rate + s->at_qd);
  if (status) return s->trouble = status;
  if (s->motors) {
    memcpy(rate + s->at_theta, y + s->at_thetad, (size_t)s->motors * sizeof *rate);
    if (!motor_accelerations(s, rate + s->at_thetad)) return s->trouble = PSDM_E_SINGULAR;
  }
  if (s->length == s->size) set_powers(s, y, rate);
  return s->trouble = finite_all(rate, s->length) ? PSDM_OK : PSDM_E_ARGUMENT;
}

/* ---- energies ---- */

psdm_status psdmp_sim_energies(psdm_sim *s, const double *y, double energy[4]) {
  psdm_status status = psdm_energy(s->moving, s->work, y, y + s->at_qd, &energy[0], &energy[1]);
  energy[2] = energy[3] = 0;
  for (int i = 0; i < s->motors; i++)
    for (int j = 0; j < s->motors; j++)
      energy[0] += 0.5 * y[s->at_thetad + i] * s->B[(long)i * s->motors + j] * y[s->at_thetad + j];
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    double stretch = j->motor < 0 ? 0 : y[s->at_theta + j->motor] - y[j->at];
    if (j->motor >= 0) energy[2] += 0.5 * j->stiffness * stretch * stretch;
    if (s->at_z >= 0) energy[3] += 0.5 * j->friction.sigma0 * y[s->at_z + i] * y[s->at_z + i];
  }
  return status;
}

/* ---- loads ---- */

static psdm_status total(psdm_sim *s, double *sum) {
  double e[4];
  psdm_status status = psdmp_sim_energies(s, s->y, e);
  *sum = e[0] + e[1] + e[2] + e[3];
  return status;
}

/* the load, given about the last link's frame, as part of the moving link that carries it */
static void move_load(const psdm_sim *s, const double load[PSDMP_ROBOT_STANDARD], double moved[PSDMP_ROBOT_STANDARD],
                      int *number) {
  const psdm_robot *r = s->plant;
  const psdmp_robot_link *last = &r->link[r->last];
  const psdmp_robot_body *body = &r->body[last->body];
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&r->link[body->index].frame),
                   there = psdmp_robot_pose_product(&back, &last->frame);
  psdmp_robot_standard_move(&there, load, moved);
  *number = body->number;
}

/* replaces the plant's load */
static void replace_load(psdm_sim *s, const double load[PSDMP_ROBOT_STANDARD]) {
  double moved[PSDMP_ROBOT_STANDARD];
  int number;
  move_load(s, load, moved, &number);
  for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++)
    s->plant->pi[PSDMP_ROBOT_STANDARD * (long)number + i] =
        s->robot->pi[PSDMP_ROBOT_STANDARD * (long)number + i] + moved[i];
  psdmp_robot_refresh(s->plant);
}

psdm_status psdmp_sim_loads_regular(psdm_sim *s, double end, psdm_error *error) {
  static const double nothing[PSDMP_ROBOT_STANDARD] = {0};
  const psdm_sim_options *o = &s->options;
  psdm_error why;
  psdm_status status = PSDM_OK;
  /* in order of time; a run starts with the last one before it */
  for (; s->regular <= o->payloads && !status; s->regular++) {
    int k = s->regular - 1; /* -1: none yet */
    bool past = k + 1 < o->payloads && o->payload[k + 1].t <= s->t;
    if (k >= 0 && o->payload[k].t > end) break;
    if (past) continue;
    replace_load(s, k < 0 ? nothing : o->payload[k].pi);
    status = psdm_mass_condition(s->plant, s->arena.allocator, NULL, &why);
    if (status && k < 0)
      status = psdmp_base_fail(error, status, why.file, 0, 0, "%s (before the first payload is taken up)", why.text);
    if (status && k >= 0)
      status =
          psdmp_base_fail(error, status, why.file, 0, 0, "%s (with the payload of t = %g)", why.text, o->payload[k].t);
    if (status) break;
  }
  replace_load(s, s->load);
  return status;
}

psdm_status psdmp_sim_carry(psdm_sim *s, const double load[PSDMP_ROBOT_STANDARD]) {
  double before, after;
  if (memcmp(load, s->load, sizeof s->load) == 0) return PSDM_OK;
  psdm_status status = total(s, &before);
  if (status) return status;
  replace_load(s, load);
  memcpy(s->load, load, sizeof s->load);
  status = total(s, &after);
  s->payload_work += after - before;
  s->fresh = true;
  return status;
}
