/* routes_rigid.c: the recursions against the oracle, and a robot against its copies: clone, batch, and the files
 * written from it. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "psdm/eval.h"
#include "psdm/linearize.h"
#include "routes.h"
#include "written.h"

/* a status of the recursions; forward dynamics of a singular M may be refused */
static bool answered(subject *s, verdict *v, int k, bool solves, psdm_status status) {
  if (status) refuse(v, status, NULL, solves && status == PSDM_E_SINGULAR && singular(s, k));
  return status == PSDM_OK;
}

static void torques(subject *s, const psdm_robot *robot, verdict *v) {
  double tau[MOST];
  const double *const out[] = {tau};
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    if (!answered(s, v, k, false, psdm_inverse(robot, s->work, x->q, x->qd, x->qdd, tau))) return;
    judge(s, v, k, PSDM_CODE_INVERSE, out);
    if (!answered(s, v, k, false, psdm_bias(robot, s->work, x->q, x->qd, tau))) return;
    judge(s, v, k, PSDM_CODE_BIAS, out);
    if (!answered(s, v, k, false, psdm_gravity(robot, s->work, x->q, tau))) return;
    judge(s, v, k, PSDM_CODE_GRAVITY, out);
  }
}

void route_inverse(subject *s, verdict *v) { torques(s, s->robot, v); }

void route_regressor(subject *s, verdict *v) {
  int standard = psdm_robot_parameter_count(s->robot);
  double Y[MOST * 11 * MOST], pi[11 * MOST], tau[MOST];
  psdm_robot_parameters(s->robot, pi);
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    if (!answered(s, v, k, false, psdm_regressor_standard(s->robot, s->work, x->q, x->qd, x->qdd, Y))) return;
    for (int i = 0; i < s->n; i++) {
      ld sum = 0;
      for (int p = 0; p < standard; p++) sum += (ld)Y[i * standard + p] * pi[p];
      tau[i] = (double)sum;
    }
    agree(s, v, "tau", s->n, tau, x->ltau, x->size);
  }
}

void route_mass(subject *s, verdict *v) {
  double M[MOST * MOST], turned[MOST * MOST];
  const double *const out[] = {M};
  for (int k = 0; k < STATES; k++) {
    if (!answered(s, v, k, false, psdm_mass(s->robot, s->work, s->at[k].q, M))) return;
    judge(s, v, k, PSDM_CODE_MASS, out);
    for (int i = 0; i < s->n * s->n; i++) turned[i] = M[i % s->n * s->n + i / s->n];
    if (memcmp(turned, M, sizeof *M * (size_t)(s->n * s->n)))
      v->ratio = HUGE_VAL, strcpy(v->worst, "M is not symmetric");
  }
}

typedef psdm_status forward(const psdm_robot *, psdm_work *, const double *, const double *, const double *, double *);

static void accelerations(subject *s, verdict *v, forward *f) {
  double qdd[MOST];
  const double *const out[] = {qdd};
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    if (!answered(s, v, k, true, f(s->robot, s->work, x->q, x->qd, x->tau, qdd))) return;
    judge(s, v, k, PSDM_CODE_FORWARD, out);
  }
}

void route_forward(subject *s, verdict *v) { accelerations(s, v, psdm_forward); }
void route_cholesky(subject *s, verdict *v) { accelerations(s, v, psdm_forward_cholesky); }

void route_energy(subject *s, verdict *v) {
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    double E[2], scale[2];
    ld want[2];
    if (!answered(s, v, k, false, psdm_energy(s->robot, s->work, x->q, x->qd, &E[0], &E[1]))) return;
    oracle_energy(&s->o, x->lq, x->lqd, want);
    scale_energy(&s->o, x->q, x->qd, scale);
    agree(s, v, "energy", s->o.frames ? 2 : 1, E, want, scale);
  }
}

void route_momentum(subject *s, verdict *v) {
  int n = s->n;
  for (int k = 0; k < STATES; k++) {
    const state *x = with_mass(s, k);
    double p[MOST], gradient[MOST], size[MOST], still[MOST] = {0}, by_q[MOST * MOST], by_qd[MOST * MOST],
                                                reach = reach_at(s, k), E[2];
    ld want[MOST], slope[MOST];
    if (!answered(s, v, k, false, psdm_momentum(s->robot, s->work, x->q, x->qd, p, gradient))) return;
    oracle_kinetic_gradient(&s->o, x->lq, x->lqd, reach, slope);
    scale_energy(&s->o, x->q, x->qd, E);
    for (int i = 0; i < n; i++) {
      want[i] = 0, size[i] = 0;
      for (int j = 0; j < n; j++)
        want[i] += x->M[i * n + j] * x->lqd[j], size[i] += x->M_size[i * n + j] * fabs(x->qd[j]);
    }
    agree(s, v, "momentum", n, p, want, size);
    /* dT/dq_j = qd . d(M qd)/dq_j / 2, and M qd are the torques of qd in place of qdd */
    scale_linearize(&s->o, x->q, still, x->qd, by_q, by_qd);
    for (int j = 0; j < n; j++) {
      size[j] = oracle_noise(&s->o, j, reach) * E[0];
      for (int i = 0; i < n; i++) size[j] += fabs(x->qd[i]) * by_q[i * n + j];
    }
    agree(s, v, "dT_dq", n, gradient, slope, size);
  }
}

void route_places(subject *s, verdict *v) {
  int last = psdm_robot_joints(s->robot) - 1;
  double X[12], J[6 * MOST];
  const double *const pose_out[] = {X}, *const jacobian_out[] = {J};
  for (int k = 0; k < STATES; k++) {
    if (!answered(s, v, k, false, psdm_pose(s->robot, s->work, s->at[k].q, last, X))) return;
    judge(s, v, k, PSDM_CODE_POSE, pose_out);
    if (!answered(s, v, k, false, psdm_jacobian(s->robot, s->work, s->at[k].q, last, J))) return;
    judge(s, v, k, PSDM_CODE_JACOBIAN, jacobian_out);
  }
}

/* the matrices, and along one direction the same */
void route_linearize_inverse(subject *s, verdict *v) {
  int n = s->n;
  double D[3][MOST * MOST], dq[MOST], dqd[MOST], dtau[MOST], size[MOST];
  const double *const out[] = {D[0], D[1], D[2]};
  ld want[MOST];
  for (int k = 0; k < STATES; k++) {
    const state *x = with_linear(s, k);
    if (!answered(s, v, k, false, psdm_linearize_inverse(s->robot, s->linear, x->q, x->qd, x->qdd, D[0], D[1], D[2])))
      return;
    judge(s, v, k, PSDM_CODE_LINEARIZE_INVERSE, out);
    for (int i = 0; i < n; i++) dq[i] = rng_uniform(&s->g, -1, 1), dqd[i] = rng_uniform(&s->g, -1, 1);
    if (!answered(s, v, k, false,
                  psdm_linear_inverse_along(s->robot, s->linear, x->q, x->qd, x->qdd, dq, dqd, NULL, dtau)))
      return;
    for (int i = 0; i < n; i++) {
      want[i] = 0, size[i] = 0;
      for (int j = 0; j < n; j++) {
        want[i] += x->by_q[i * n + j] * dq[j] + x->by_qd[i * n + j] * dqd[j];
        size[i] += x->by_q_size[i * n + j] * fabs(dq[j]) + x->by_qd_size[i * n + j] * fabs(dqd[j]);
      }
    }
    agree(s, v, "along", n, dtau, want, size);
  }
}

static void linearized_forward(subject *s, verdict *v, bool dense) {
  double D[3][MOST * MOST];
  const double *const out[] = {D[0], D[1], D[2]};
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    psdm_status status = dense
                             ? psdm_linearize_forward_dense(s->robot, s->linear, x->q, x->qd, x->qdd, D[0], D[1], D[2])
                             : psdm_linearize_forward(s->robot, s->linear, x->q, x->qd, x->tau, D[0], D[1], D[2]);
    if (!answered(s, v, k, true, status)) return;
    judge(s, v, k, PSDM_CODE_LINEARIZE_FORWARD, out);
  }
}

void route_linearize_forward(subject *s, verdict *v) { linearized_forward(s, v, false); }
void route_linearize_dense(subject *s, verdict *v) { linearized_forward(s, v, true); }

/* ---- copies ---- */

static void differ(verdict *v, const char *what, const double *a, const double *b, int count) {
  if (memcmp(a, b, sizeof *a * (size_t)count)) v->ratio = HUGE_VAL, strcpy(v->worst, what);
}

void route_clone(subject *s, verdict *v) {
  psdm_robot *clone;
  double a[MOST], b[MOST], pi[11 * MOST];
  psdm_status status = psdm_robot_clone(s->robot, NULL, &clone);
  if (status) {
    refuse(v, status, NULL, false);
    return;
  }
  psdm_robot_parameters(s->robot, pi);
  for (int k = 0; k < STATES; k++) {
    const state *x = &s->at[k];
    psdm_inverse(s->robot, s->work, x->q, x->qd, x->qdd, a);
    psdm_inverse(clone, s->work, x->q, x->qd, x->qdd, b);
    differ(v, "a clone's torques are other bits", a, b, s->n);
    psdm_robot_set_parameters(clone, pi);
  }
  psdm_robot_free(clone);
}

void route_batch(subject *s, verdict *v) {
  psdm_batch *batch;
  psdm_error error;
  int n = s->n;
  double in[STATES * 3 * MOST], out[STATES * MOST], one[MOST];
  psdm_status status = psdm_batch_new(s->robot, PSDM_F_INVERSE, NULL, 1, NULL, &batch, &error);
  if (status) {
    refuse(v, status, error.text, false);
    return;
  }
  for (int k = 0; k < STATES; k++) {
    double *row = in + 3 * n * k;
    memcpy(row, s->at[k].q, sizeof *row * (size_t)n);
    memcpy(row + n, s->at[k].qd, sizeof *row * (size_t)n);
    memcpy(row + 2 * n, s->at[k].qdd, sizeof *row * (size_t)n);
  }
  status = psdm_batch_eval(batch, STATES, in, out, NULL);
  if (status) refuse(v, status, NULL, false);
  for (int k = 0; k < STATES && !status; k++) {
    psdm_inverse(s->robot, s->work, s->at[k].q, s->at[k].qd, s->at[k].qdd, one);
    differ(v, "a batch's torques are other bits", one, out + n * k, n);
  }
  psdm_batch_free(batch);
}

static void rewritten(subject *s, verdict *v, psdm_robot_format format) {
  static char text[WRITTEN_BYTES];
  char loss[160];
  const psdm_robot_options options = {.no_snap = true, .gravity = psdm_robot_gravity(s->robot)};
  psdm_robot *again;
  psdm_error error;
  if (psdm_robot_loss(s->robot, format, 0, loss, sizeof loss)) {
    v->skipped = true;
    return;
  }
  size_t length = written_robot(s->robot, format, text);
  psdm_status status = length ? psdm_robot_parse(text, length, "again", &options, NULL, &again, &error) : PSDM_E_IO;
  if (status) {
    refuse(v, status, length ? error.text : "not written", false);
    return;
  }
  if (psdm_robot_n(again) == s->n) torques(s, again, v);
  else v->ratio = HUGE_VAL, strcpy(v->worst, "another number of joints");
  psdm_robot_free(again);
}

void route_yaml(subject *s, verdict *v) { rewritten(s, v, PSDM_FORMAT_YAML); }
void route_urdf(subject *s, verdict *v) { rewritten(s, v, PSDM_FORMAT_URDF); }
