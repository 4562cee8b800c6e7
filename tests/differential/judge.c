/* judge.c: a robot with its states, the oracle's values for them, and whether a route agrees. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "routes.h"

/* ---- subjects ---- */

/* the scale of sliding joints' positions */
static double slide(const oracle *o) {
  double span = oracle_reach(o, NULL) / (o->bodies ? o->bodies : 1);
  return span > 0 ? span : 1;
}

/* the robot's size: its reach, or its bodies' where they are larger. A force counts as its torque at that distance. */
static double size_of(const oracle *o) {
  double most = oracle_reach(o, NULL);
  for (int b = 0; b < o->bodies; b++) {
    const ld *pi = o->body[b].pi;
    if (pi[0] > 0) most = fmax(most, (double)sqrtl((pi[4] + pi[7] + pi[9]) / (2 * pi[0])));
  }
  return most;
}

static void draw_state(subject *s, int k) {
  state *x = &s->at[k];
  bool turns[MOST] = {false}; /* turns something, even if it also slides */
  double unit = slide(&s->o);
  for (int b = 0; b < s->o.bodies; b++)
    for (int i = 0; i < s->n; i++) turns[i] |= s->o.body[b].type == PSDM_REVOLUTE && s->o.body[b].G[i] != 0;
  for (int i = 0; i < s->n; i++) {
    double scale = turns[i] ? 1 : unit;
    x->q[i] = (float)(scale * rng_uniform(&s->g, -3, 3));
    x->qd[i] = (float)(scale * rng_uniform(&s->g, -2, 2));
    x->qdd[i] = (float)(scale * rng_uniform(&s->g, -3, 3));
    x->lq[i] = x->q[i], x->lqd[i] = x->qd[i], x->lqdd[i] = x->qdd[i];
  }
  x->has_mass = x->has_linear = false;
  oracle_inverse(&s->o, WITH_ALL, x->lq, x->lqd, x->lqdd, x->ltau);
  scale_inverse(&s->o, WITH_ALL, x->q, x->qd, x->qdd, x->size);
  for (int i = 0; i < s->n; i++) {
    x->tau[i] = (double)x->ltau[i];
    s->torque = fmax(s->torque, fabs(x->tau[i]) * (turns[i] ? 1 : fmax(1, size_of(&s->o))));
  }
}

static bool open_states(subject *s) {
  s->n = s->o.n;
  if (psdm_work_new(s->robot, NULL, &s->work) || psdm_linear_new(s->robot, NULL, &s->linear)) return false;
  s->angles = 1, s->torque = 0;
  /* the largest torque is that of many states: the two judged ones may happen to need little */
  rng judged = s->g;
  for (int k = 0; k < STATES * 8; k++) draw_state(s, 0);
  s->g = judged;
  for (int k = 0; k < STATES; k++) {
    draw_state(s, k);
    s->angles = fmax(s->angles, scale_angles(&s->o, s->at[k].q));
  }
  return true;
}

bool subject_open(subject *s, const arm *a, const char *text, rng g, psdm_error *error) {
  s->arm = a, s->text = text, s->g = g, s->robot = NULL, s->work = NULL, s->linear = NULL;
  if (arm_read(a, text, &s->robot, error)) return false;
  arm_oracle(a, &s->o);
  if (psdm_robot_n(s->robot) != s->o.n || psdm_robot_joints(s->robot) != a->joints) {
    *error = (psdm_error){.status = PSDM_E_ROBOT, .text = "another number of joints than the file's"};
    return false;
  }
  return open_states(s);
}

bool subject_open_robot(subject *s, psdm_robot *robot, rng g) {
  s->arm = NULL, s->text = "", s->g = g, s->robot = robot, s->work = NULL, s->linear = NULL;
  return psdm_robot_ready(robot, NULL) == PSDM_OK && oracle_of_robot(robot, &s->o) && open_states(s);
}

void subject_scales(subject *s, bool common) {
  common |= s->common;
  if (s->o.common == common) return;
  s->o.common = common;
  for (int k = 0; k < STATES; k++) {
    state *x = &s->at[k];
    scale_inverse(&s->o, WITH_ALL, x->q, x->qd, x->qdd, x->size);
    x->has_mass = x->has_linear = false;
  }
}

void subject_close(subject *s) {
  psdm_linear_free(s->linear, NULL);
  psdm_work_free(s->work, NULL);
  psdm_robot_free(s->robot);
}

double reach_at(const subject *s, int k) {
  double reach = oracle_reach(&s->o, s->at[k].q);
  return reach > 0 ? reach : 1;
}

const state *with_mass(subject *s, int k) {
  state *x = &s->at[k];
  int n = s->n;
  if (x->has_mass) return x;
  x->has_mass = true;
  oracle_mass(&s->o, x->lq, x->M);
  scale_mass(&s->o, x->q, x->M_size);
  x->condition = oracle_invert(n, x->M, x->Minv);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      ld sum = 0;
      for (int m = 0; m < n; m++) sum += fabsl(x->M[i * n + m]) * fabsl(x->Minv[m * n + j]);
      x->amplified[i * n + j] = (double)sum;
    }
  return x;
}

const state *with_linear(subject *s, int k) {
  state *x = &s->at[k];
  if (x->has_linear) return x;
  x->has_linear = true;
  double reach = reach_at(s, k);
  oracle_linearize(&s->o, x->lq, x->lqd, x->lqdd, reach, x->by_q, x->by_qd);
  scale_linearize(&s->o, x->q, x->qd, x->qdd, x->by_q_size, x->by_qd_size);
  for (int i = 0; i < s->n * s->n; i++) {
    double lost = oracle_noise(&s->o, i % s->n, reach) * x->size[i / s->n];
    x->by_q_size[i] += lost, x->by_qd_size[i] += lost;
  }
  return x;
}

bool singular(subject *s, int k) {
  const state *x = with_mass(s, k);
  double rounding = ROUNDING * (s->o.bodies + 4) * s->angles * DBL_EPSILON;
  for (int i = 0; i < s->n; i++) /* the remainder where masses meet their axis */
    if (!(x->M[i * s->n + i] > rounding * x->M_size[i * s->n + i])) return true;
  return !(x->condition * rounding < 1);
}

/* ---- verdicts ---- */

void refuse(verdict *v, psdm_status status, const char *text, bool excused) {
  v->status = status, v->excused = excused && status != PSDM_E_MEMORY;
  snprintf(v->text, sizeof v->text, "%s", text && text[0] ? text : psdm_status_text(status));
}

bool stated(const char *text) {
  static const char *const reasons[] = {
      /* in sines and cosines: none for non-integer factors and sliders that follow turns */
      "closed form",
      "the dense method is for", /* few independent joints */
      "too nearly dependent for an echelon form",
      "too large to sample",
      "sampled functions is singular",
      "cannot be factorised",
      "code is generated for at most",
      "other base parameters for other gravity",
      "differs from the recursion", /* checked before it is returned, and found wrong */
      "reproduce the torques of the recursion only to",
      "gives no finite numbers",
      "less accurate than",
      "it has a pose but no Jacobian", /* bolted to the base */
      NULL};
  for (int i = 0; reasons[i]; i++)
    if (strstr(text, reasons[i])) return true;
  return false;
}

/* whether a result is in the unit of torques (energies are, and masses at an acceleration of one), or a sum of such */
static bool is_torque(const char *what) {
  static const char *const names[] = {"tau", "other", "bias", "gravity", "qdd", "kinetic", "mass", NULL};
  for (int i = 0; names[i]; i++)
    if (strcmp(what, names[i]) == 0) return true;
  return false;
}

/* the rounding that a number of scale one may have */
static double unit_of(const subject *s, const verdict *v) {
  return v->loss * ROUNDING * (s->o.bodies + 4) * s->angles * v->eps;
}

void agree(const subject *s, verdict *v, const char *what, int count, const double *got, const ld *want,
           const double *scale) {
  double unit = unit_of(s, v), least = v->eps > 1e-10 ? (double)FLT_MIN * 1e3 : DBL_MIN * 1e3;
  ld most = 0, worst = 0;
  for (int i = 0; i < count; i++) most = fmaxl(most, fabsl(want[i]));
  least += v->promise * (is_torque(what) ? fmax((double)most, s->torque) : (double)most);
  for (int i = 0; i < count; i++) {
    ld error = fabsl(got[i] - want[i]);
    double ratio = isfinite(got[i]) ? (double)(error / (unit * scale[i] + least)) : HUGE_VAL;
    if (!(error <= worst)) worst = isfinite(got[i]) ? error : HUGE_VALL;
    if (ratio <= v->ratio) continue;
    v->ratio = ratio;
    snprintf(v->worst, sizeof v->worst, "%s %d", what, i + 1);
  }
  if (strcmp(what, "tau") == 0 && most > 0) v->relative = fmax(v->relative, (double)(worst / most));
}

/* ---- functions ---- */

static void judge_torque(subject *s, verdict *v, int k, psdm_code_function f, const double *out) {
  const state *x = &s->at[k];
  const ld zero[MOST] = {0};
  const double still[MOST] = {0};
  ld want[MOST];
  double scale[MOST];
  const ld *qd = f == PSDM_CODE_GRAVITY ? zero : x->lqd;
  const double *speed = f == PSDM_CODE_GRAVITY ? still : x->qd;
  if (f == PSDM_CODE_INVERSE) {
    agree(s, v, "tau", s->n, out, x->ltau, x->size);
    return;
  }
  oracle_inverse(&s->o, WITH_ALL, x->lq, qd, zero, want);
  scale_inverse(&s->o, WITH_ALL, x->q, speed, still, scale);
  agree(s, v, f == PSDM_CODE_GRAVITY ? "gravity" : "bias", s->n, out, want, scale);
}

/* the error of M x for a promised error of M's entries, as a share of the largest: M's condition is the robot's own */
static double promised_product(const subject *s, const verdict *v, const state *x, const double *column, int stride) {
  double most = 0, sum = 0;
  for (int i = 0; i < s->n * s->n; i++) most = fmax(most, fabs((double)x->M[i]));
  for (int i = 0; i < s->n; i++) sum += fabs(column[i * stride]);
  return v->promise * most * sum;
}

/* M is returned with entries that may be off by E, as agree allows; M + E can be singular only where the largest
 * eigenvalue of |M^-1| E is at least one. Collatz's lower bound of it, so that no sound M is called singular. */
bool singular_within(subject *s, const verdict *v, int k) {
  const state *x = with_mass(s, k);
  int n = s->n;
  double most = 0, bound = 0, E[MOST * MOST], at[MOST], by_E[MOST];
  for (int i = 0; i < n * n; i++) most = fmax(most, fabs((double)x->M[i]));
  for (int i = 0; i < n * n; i++) E[i] = unit_of(s, v) * x->M_size[i] + v->promise * fmax(most, s->torque);
  for (int i = 0; i < n; i++) at[i] = sqrt(fmax(0, (double)x->Minv[i * n + i]));
  for (int step = 0; step < 30; step++) {
    double least = HUGE_VAL, next[MOST], norm = 0;
    for (int i = 0; i < n; i++) {
      by_E[i] = 0;
      for (int j = 0; j < n; j++) by_E[i] += E[i * n + j] * at[j];
    }
    for (int i = 0; i < n; i++) {
      next[i] = 0;
      for (int j = 0; j < n; j++) next[i] += fabs((double)x->Minv[i * n + j]) * by_E[j];
      least = fmin(least, at[i] > 0 ? next[i] / at[i] : 0);
      norm = fmax(norm, next[i]);
    }
    bound = fmax(bound, least);
    for (int i = 0; i < n; i++) at[i] = next[i] / norm;
  }
  return !(bound < 1);
}

/* residual of the equation of motion, in torques */
static void judge_forward(subject *s, verdict *v, int k, const double *qdd) {
  const state *x = with_mass(s, k);
  ld motion[MOST], tau[MOST];
  double back[MOST], scale[MOST];
  if (v->at_run_time && singular(s, k)) return;
  for (int i = 0; i < s->n; i++)
    if (!isfinite(qdd[i])) {
      v->ratio = HUGE_VAL;
      snprintf(v->worst, sizeof v->worst, "qdd %d is not finite", i + 1);
      return;
    }
  if (singular(s, k)) return;
  for (int i = 0; i < s->n; i++) motion[i] = qdd[i];
  oracle_inverse(&s->o, WITH_ALL, x->lq, x->lqd, motion, tau);
  for (int i = 0; i < s->n; i++) {
    back[i] = (double)(tau[i] - x->ltau[i]), scale[i] = 0;
    for (int j = 0; j < s->n; j++) scale[i] += x->amplified[i * s->n + j] * x->size[j];
    scale[i] += promised_product(s, v, x, qdd, 1) / unit_of(s, v);
    tau[i] = 0;
  }
  agree(s, v, "qdd", s->n, back, tau, scale);
}

/* M X + B, which should vanish; B NULL: minus the unit matrix. A zero entry of M^-1 has the scale that its diagonals
 * allow. */
static void judge_solved(subject *s, verdict *v, int k, const char *what, const double *X, const ld *B,
                         const double *B_size) {
  const state *x = with_mass(s, k);
  int n = s->n;
  ld zero[MOST * MOST] = {0};
  double left[MOST * MOST], error[MOST * MOST], scale[MOST * MOST], size[MOST * MOST];
  if (v->at_run_time && singular(s, k)) return;
  for (int i = 0; i < n * n; i++)
    if (!isfinite(X[i])) {
      v->ratio = HUGE_VAL;
      snprintf(v->worst, sizeof v->worst, "%s %d is not finite", what, i + 1);
      return;
    }
  if (singular(s, k)) return;
  for (int i = 0; i < n * n; i++) size[i] = fabs(X[i]);
  /* about a common point the inverse is multiplied out: its errors scale with the terms of B, which may be far larger
   * than X */
  for (int i = 0; i < n && B && s->o.common; i++)
    for (int j = 0; j < n; j++)
      for (int m = 0; m < n; m++) size[i * n + j] += (double)fabsl(x->Minv[i * n + m]) * B_size[m * n + j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      ld sum = B ? B[i * n + j] : -(i == j);
      error[i * n + j] = B ? B_size[i * n + j] : 0;
      for (int m = 0; m < n; m++) {
        double own = B ? 0 : (double)sqrtl(x->Minv[m * n + m] * x->Minv[j * n + j]);
        sum += x->M[i * n + m] * X[m * n + j], error[i * n + j] += x->M_size[i * n + m] * (size[m * n + j] + own);
      }
      left[i * n + j] = (double)sum;
    }
  /* the accelerations at which B is taken have an error of their own: B is linear in them and of their torques' size */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      scale[i * n + j] = 0;
      for (int m = 0; m < n; m++) scale[i * n + j] += x->amplified[i * n + m] * error[m * n + j];
      scale[i * n + j] += promised_product(s, v, x, X + j, n) / unit_of(s, v);
    }
  agree(s, v, what, n * n, left, zero, scale);
}

/* the effect of an error of the accelerations, eps |M^-1| size, on dtau/dq: rotated mass matrices times it */
static void size_at_solution(subject *s, int k, double *size) {
  const state *x = with_linear(s, k);
  int n = s->n;
  with_mass(s, k);
  memcpy(size, x->by_q_size, sizeof *size * (size_t)(n * n));
  double moved[MOST] = {0}, zero[MOST] = {0}, by_q[MOST * MOST], by_qd[MOST * MOST];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) moved[i] += (double)fabsl(x->Minv[i * n + j]) * x->size[j];
  scale_linearize(&s->o, x->q, zero, moved, by_q, by_qd);
  for (int i = 0; i < n * n; i++) size[i] += by_q[i];
}

static void judge_energy(subject *s, verdict *v, int k, const double *out) {
  const state *x = &s->at[k];
  ld E[2];
  double scale[2];
  oracle_energy(&s->o, x->lq, x->lqd, E);
  scale_energy(&s->o, x->q, x->qd, scale);
  agree(s, v, "kinetic", 1, out, E, scale);
}

static void judge_place(subject *s, verdict *v, int k, psdm_code_function f, const double *out) {
  const state *x = &s->at[k];
  int last = s->o.bodies - 1, n = s->n;
  double scale[6 * MOST], reach = oracle_reach(&s->o, x->q), distance = oracle_distance(&s->o, x->q);
  if (!s->o.frames) return;
  if (f == PSDM_CODE_POSE) {
    pose T;
    ld want[12];
    oracle_frame(&s->o, x->lq, last, &T);
    memcpy(want, T.p, sizeof T.p), memcpy(want + 3, T.R, sizeof T.R);
    for (int i = 0; i < 12; i++) scale[i] = i < 3 ? distance : 1;
    agree(s, v, "pose", 12, out, want, scale);
    return;
  }
  ld J[6 * MOST];
  double G[MOST] = {0};
  oracle_jacobian(&s->o, x->lq, last, J);
  for (int b = last; b >= 0; b = s->o.body[b].parent)
    for (int j = 0; j < n; j++)
      G[j] += fabs((double)s->o.body[b].G[j]) * (s->o.body[b].type == PSDM_PRISMATIC && reach > 0 ? 1 / reach : 1);
  for (int i = 0; i < 6 * n; i++) scale[i] = G[i % n] * (i < 3 * n ? reach : 1);
  agree(s, v, "jacobian", 6 * n, out, J, scale);
}

void judge(subject *s, verdict *v, int k, psdm_code_function f, const double *const *out) {
  int nn = s->n * s->n;
  double size[MOST * MOST];
  switch (f) {
    case PSDM_CODE_MASS: agree(s, v, "mass", nn, out[0], with_mass(s, k)->M, s->at[k].M_size); break;
    case PSDM_CODE_FORWARD: judge_forward(s, v, k, out[0]); break;
    case PSDM_CODE_ENERGY: judge_energy(s, v, k, out[0]); break;
    case PSDM_CODE_JACOBIAN:
    case PSDM_CODE_POSE: judge_place(s, v, k, f, out[0]); break;
    case PSDM_CODE_LINEARIZE_INVERSE:
      with_linear(s, k);
      agree(s, v, "dtau_dq", nn, out[0], s->at[k].by_q, s->at[k].by_q_size);
      agree(s, v, "dtau_dqd", nn, out[1], s->at[k].by_qd, s->at[k].by_qd_size);
      judge(s, v, k, PSDM_CODE_MASS, out + 2);
      break;
    case PSDM_CODE_LINEARIZE_FORWARD:
      size_at_solution(s, k, size);
      judge_solved(s, v, k, "dqdd_dq", out[0], s->at[k].by_q, size);
      judge_solved(s, v, k, "dqdd_dqd", out[1], s->at[k].by_qd, s->at[k].by_qd_size);
      judge(s, v, k, PSDM_CODE_INVERSE_MASS, out + 2);
      break;
    case PSDM_CODE_INVERSE_MASS: judge_solved(s, v, k, "Minv", out[0], NULL, NULL); break;
    default: judge_torque(s, v, k, f, out[0]);
  }
}
