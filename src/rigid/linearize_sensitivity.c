/* linearize_sensitivity.c: how torques and accelerations depend on the robot's parameters, exactly.
 *
 * Inertial: tau = Y pi, so dtau/dpi = Y and dqdd/dpi = -M^-1 Y. Kinematic: a small change of a fixed transform acts
 * like one more joint at that place which stands still. Its column of dtau/dq is Algorithm 2's, with the twist s
 * instead of h and rates sd = V x s, sdd = a x s + V x sd of the body that it is fixed to: h_i.(2 Rb sd + R sdd + s x*
 * f) at the joints that carry it, sdd.X_i + sd.Xb_i at those it carries. */
#include <string.h>

#include "rigid/linearize_priv.h"

int psdm_sensitivity_columns(const psdm_robot *r, const psdm_sensitivity *p) {
  return (p->standard ? psdm_robot_parameter_count(r) : 0) + p->motions;
}

/* ---- one kinematic column ---- */

static bool moves(const psdm_robot *r, const psdm_small_motion *m) {
  return m->joint >= 0 && m->joint < r->joints && r->joint[m->joint].type != PSDM_FIXED && m->place <= PSDM_AT_LINK;
}

/* the twist of a motion given in a frame that is fixed to a body (-1: the base) */
static void set_twist(const psdm_linear *l, int body, const psdmp_robot_pose *frame, const psdm_small_motion *m,
                      double s[6]) {
  const double *R = body < 0 ? l->base : l->spatial[body].R, *p = body < 0 ? l->base + 9 : l->spatial[body].p;
  double turn[3], shift[3], at[3];
  psdmp_rigid_rotate(frame->R, m->turn, turn);
  psdmp_rigid_rotate(frame->R, m->shift, shift);
  psdmp_rigid_cross_add(frame->p, turn, shift);
  psdmp_rigid_rotate(R, turn, s);
  psdmp_rigid_rotate(R, shift, s + 3);
  for (int i = 0; i < 3; i++) at[i] = p[i];
  psdmp_rigid_cross_add(at, s, s + 3);
}

/* sd = V x s, sdd = a x s + V x sd of the body that it is fixed to */
static void set_rates(const psdm_linear *l, int body, const double s[6], double sd[6], double sdd[6]) {
  const double still[6] = {0}, up[6] = {0, 0, 0, l->up[0], l->up[1], l->up[2]};
  const double *V = body < 0 ? still : l->spatial[body].V, *a = body < 0 ? up : l->spatial[body].a;
  double turned[6];
  psdmp_rigid_cross6(V, s, sd);
  psdmp_rigid_cross6(a, s, sdd);
  psdmp_rigid_cross6(V, sd, turned);
  for (int i = 0; i < 6; i++) sdd[i] += turned[i];
}

/* the tree's torques per unit of a small motion */
static void set_column(const psdm_robot *r, psdm_linear *l, const psdm_small_motion *m, double *tree) {
  int b = r->link[m->joint].body, parent = r->body[b].parent, outer = r->joint[m->joint].parent;
  bool behind = m->place == PSDM_AT_LINK;
  const psdmp_robot_pose *frame = behind                      ? &r->link[m->joint].frame
                                  : m->place == PSDM_AT_JOINT ? &r->body[b].joint
                                  : outer < 0                 ? &r->base
                                                              : &r->link[outer].frame;
  double s[6], sd[6], sdd[6], twice[3], X[6];
  int fixed_to = behind ? b : parent;
  set_twist(l, fixed_to, frame, m, s);
  set_rates(l, fixed_to, s, sd, sdd);
  for (int i = 0; i < 3; i++) twice[i] = 2 * sd[i];
  psdmp_rigid_change_of(&l->spatial[b], s, twice, sdd, X);
  for (int i = 0; i < r->bodies; i++) {
    const psdmp_rigid_spatial *k = &l->spatial[i];
    l->mark[i] = i == b || (i > b && r->body[i].parent >= b && l->mark[r->body[i].parent]);
    tree[i] = l->mark[i] ? psdmp_rigid_dot6(sdd, k->X) + psdmp_rigid_dot(sd, k->Xb) : 0;
  }
  for (int i = fixed_to; i >= 0; i = r->body[i].parent) tree[i] = psdmp_rigid_dot6(l->spatial[i].h, X);
}

/* ---- all columns ---- */

/* Y is at the front of out in rows of its own width: moves them apart, the last first */
static void spread_rows(int n, int width, int columns, double *out) {
  for (int i = n - 1; i > 0 && width < columns; i--)
    memmove(out + (long)i * columns, out + (long)i * width, sizeof *out * (size_t)width);
}

psdm_status psdm_sensitivity_inverse(const psdm_robot *r, psdm_linear *l, const psdm_sensitivity *p, const double *q,
                                     const double *qd, const double *qdd, double *dtau_dp) {
  int columns = psdm_sensitivity_columns(r, p), width = columns - p->motions;
  psdm_status status = psdmp_rigid_linear_check(r);
  if (!status && p->motions) status = psdmp_rigid_linear_check_open(r);
  for (int m = 0; m < p->motions && !status; m++)
    if (!moves(r, &p->motion[m])) status = PSDM_E_ARGUMENT;
  if (!status && p->standard) status = psdm_regressor_standard(r, l->work, q, qd, qdd, dtau_dp);
  if (status) return status;
  spread_rows(r->n, width, columns, dtau_dp);
  if (!p->motions) return PSDM_OK;
  double *tau = l->vector + r->n; /* qdd may be the first */
  psdmp_rigid_spatial_set(r, l, q, qd, qdd);
  psdmp_rigid_spatial_gather(r, l);
  for (int m = 0; m < p->motions; m++) {
    set_column(r, l, &p->motion[m], l->tree);
    psdmp_rigid_restrict(r, l->tree, tau);
    for (int i = 0; i < r->n; i++) dtau_dp[(long)i * columns + width + m] = tau[i];
  }
  return PSDM_OK;
}

/* X = -Minv X, column by column */
static void solve(int n, int columns, const double *Minv, double *column, double *X) {
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += Minv[(long)i * n + k] * X[(long)k * columns + c];
      column[i] = sum;
    }
    for (int i = 0; i < n; i++) X[(long)i * columns + c] = -column[i];
  }
}

psdm_status psdm_sensitivity_forward(const psdm_robot *r, psdm_linear *l, const psdm_sensitivity *p, const double *q,
                                     const double *qd, const double *qdd, double *dqdd_dp) {
  psdm_status status = psdm_sensitivity_inverse(r, l, p, q, qd, qdd, dqdd_dp);
  /* the dense fallback factorises in l->M and reads l->A, l->B only for requested outputs */
  if (!status) status = psdm_linearize_forward_at(r, l, q, qd, qdd, NULL, NULL, l->A);
  if (!status) solve(r->n, psdm_sensitivity_columns(r, p), l->A, l->vector + r->n, dqdd_dp);
  return status;
}

/* ---- along a trajectory ---- */

/* The model at one sample: S' = [S_v; Aq S_q + Ad S_v + B]. */
typedef struct slope {
  double *Aq, *Ad, *B; /* (n x n), (n x n), (n x columns) */
} slope;

static psdm_status set_slope(const psdm_robot *r, psdm_linear *l, const psdm_sensitivity *p, const psdm_sample *at,
                             const slope *s) {
  double *qdd = l->vector;
  psdm_status status = psdm_forward(r, l->work, at->q, at->qd, at->tau, qdd);
  if (!status) status = psdm_sensitivity_forward(r, l, p, at->q, at->qd, qdd, s->B);
  return status ? status : psdm_linearize_forward_at(r, l, at->q, at->qd, qdd, s->Aq, s->Ad, NULL);
}

static void apply(int n, int columns, const slope *s, const double *S, double *rate) {
  const double *Sv = S + (long)n * columns;
  memcpy(rate, Sv, sizeof *rate * (size_t)n * (size_t)columns);
  for (int i = 0; i < n; i++)
    for (int c = 0; c < columns; c++) {
      double sum = s->B[(long)i * columns + c];
      for (int k = 0; k < n; k++)
        sum += s->Aq[(long)i * n + k] * S[(long)k * columns + c] + s->Ad[(long)i * n + k] * Sv[(long)k * columns + c];
      rate[(long)(n + i) * columns + c] = sum;
    }
}

size_t psdm_sensitivity_scratch(const psdm_robot *r, const psdm_sensitivity *p) {
  size_t n = (size_t)r->n, columns = (size_t)psdm_sensitivity_columns(r, p);
  return 2 * n * n + 7 * n * columns;
}

psdm_status psdm_sensitivity_step(const psdm_robot *r, psdm_linear *l, const psdm_sensitivity *p,
                                  const psdm_sample samples[3], double dt, double *scratch, double *S) {
  static const struct {
    int sample;
    double reach, weight;
  } stage[4] = {{0, 0, 1}, {1, 0.5, 2}, {1, 0.5, 2}, {2, 1, 1}};
  int n = r->n, columns = psdm_sensitivity_columns(r, p);
  long square = (long)n * n, size = 2L * n * columns;
  const slope s = {scratch, scratch + square, scratch + 2 * square};
  double *rate = s.B + size / 2, *at = rate + size, *sum = at + size;
  psdm_status status = psdmp_rigid_linear_check(r);
  if (status) return status;
  memset(rate, 0, sizeof *rate * (size_t)size);
  memset(sum, 0, sizeof *sum * (size_t)size);
  for (int k = 0; k < 4; k++) {
    if (k == 0 || stage[k].sample != stage[k - 1].sample) status = set_slope(r, l, p, &samples[stage[k].sample], &s);
    if (status) return status;
    for (long i = 0; i < size; i++) at[i] = S[i] + stage[k].reach * dt * rate[i];
    apply(n, columns, &s, at, rate);
    for (long i = 0; i < size; i++) sum[i] += stage[k].weight * rate[i];
  }
  for (long i = 0; i < size; i++) S[i] += dt / 6 * sum[i];
  return PSDM_OK;
}
