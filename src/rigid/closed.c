/* closed.c: robots with closed loops through their open tree: rates follow from the loops' derivative. */
#include <math.h>
#include <string.h>

#include "rigid/closed_priv.h"
#include "psdm/loop.h"

/* out (columns of G wide) = row G */
static void row_times_G(const psdm_robot *r, const double *G, const double *row, double *out) {
  int n = r->n, N = r->closure->tree->n;
  for (int j = 0; j < n; j++) {
    out[j] = 0;
    for (int k = 0; k < N; k++) out[j] += row[k] * G[(long)k * n + j];
  }
}

void psdmp_rigid_closed_restrict(const psdm_robot *r, const double *G, const double *tree, double *tau) {
  row_times_G(r, G, tree, tau);
}

void psdmp_rigid_closed_expand(const psdm_robot *r, const double *G, const double *x, double *tree) {
  for (int k = 0; k < r->closure->tree->n; k++) {
    tree[k] = 0;
    for (int j = 0; j < r->n; j++) tree[k] += G[(long)k * r->n + j] * x[j];
  }
}

/* ---- G and dG/dt ---- */

/* whether the passive joints can follow the rate of the independent joint j with rates (passives): A_p x + A_j is zero
 * to rounding. It is not where the loops leave fewer degrees of freedom than independent joints. */
static bool follows(const psdm_robot *r, const psdmp_rigid_closed_work *w, int j, const double *x) {
  const psdmp_robot_closure *c = r->closure;
  double off = 0, size = c->size / c->unit[c->independent[j]];
  for (int i = 0; i < 3 * c->loops; i++) {
    const double *row = w->A + (long)i * c->tree->n;
    double sum = row[c->independent[j]], terms = fabs(sum);
    for (int k = 0; k < c->passives; k++) {
      double term = row[c->passive[k]] * x[k];
      sum += term, terms += fabs(term);
    }
    off = fmax(off, fabs(sum)), size = fmax(size, terms);
  }
  return off <= 1e-7 * size;
}

/* q_tree and G */
static psdm_status set_G(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q) {
  const psdmp_robot_closure *c = r->closure;
  int n = r->n, N = c->tree->n;
  double x[PSDM_MAX_JOINTS];
  psdm_status status = psdmp_rigid_closed_position(r, w, q);
  if (status) return status;
  memset(w->G, 0, sizeof *w->G * (size_t)N * (size_t)n);
  for (int j = 0; j < n; j++) {
    w->G[(long)c->independent[j] * n + j] = 1;
    psdmp_rigid_closed_solve(r, w, w->A + c->independent[j], N, x);
    for (int k = 0; k < c->passives; k++) w->G[(long)c->passive[k] * n + j] = x[k] = -x[k];
    if (!follows(r, w, j, x)) return PSDM_E_LOOP;
  }
  return PSDM_OK;
}

/* column j of a matrix (N x n) */
static void column_of(const psdm_robot *r, const double *matrix, int j, double *x) {
  for (int k = 0; k < r->closure->tree->n; k++) x[k] = matrix[(long)k * r->n + j];
}

/* (dA/dt) G + A dG/dt = 0 gives the passive rows of dG/dt; the others are zero */
static void set_G_rate(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int n = r->n, N = c->tree->n;
  double x[PSDM_MAX_JOINTS];
  memset(w->G_rate, 0, sizeof *w->G_rate * (size_t)N * (size_t)n);
  for (int j = 0; j < n; j++) {
    column_of(r, w->G, j, w->tau);
    psdmp_rigid_closed_second(r, w, w->qd, w->tau, w->gap);
    psdmp_rigid_closed_solve(r, w, w->gap, 1, x);
    for (int k = 0; k < c->passives; k++) w->G_rate[(long)c->passive[k] * n + j] = -x[k];
  }
}

psdm_status psdmp_rigid_closed_motion(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q,
                                      const double *qd, const double *qdd) {
  psdm_status status = set_G(r, w, q);
  if (status) return status;
  psdmp_rigid_closed_expand(r, w->G, qd, w->qd);
  set_G_rate(r, w);
  psdmp_rigid_closed_expand(r, w->G_rate, qd, w->qdd);
  for (int k = 0; qdd && k < r->closure->tree->n; k++)
    for (int j = 0; j < r->n; j++) w->qdd[k] += w->G[(long)k * r->n + j] * qdd[j];
  return PSDM_OK;
}

/* ---- the functions ---- */

psdm_status psdmp_rigid_closed_q(const psdm_robot *r, psdm_work *work, const double *q, const double **tree_q) {
  *tree_q = work->closed->q;
  return psdmp_rigid_closed_position(r, work->closed, q);
}

psdm_status psdmp_rigid_closed_inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                       const double *qdd, double *tau) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = psdmp_rigid_closed_motion(r, w, q, qd, qdd);
  if (!status) status = psdm_inverse(r->closure->tree, w->tree, w->q, w->qd, w->qdd, w->tau);
  if (!status) psdmp_rigid_closed_restrict(r, w->G, w->tau, tau);
  return status;
}

psdm_status psdmp_rigid_closed_gravity(const psdm_robot *r, psdm_work *work, const double *q, double *tau) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_gravity(r->closure->tree, w->tree, w->q, w->tau);
  if (!status) psdmp_rigid_closed_restrict(r, w->G, w->tau, tau);
  return status;
}

psdm_status psdmp_rigid_closed_mass(const psdm_robot *r, psdm_work *work, const double *q, double *M) {
  psdmp_rigid_closed_work *w = work->closed;
  int n = r->n, N = r->closure->tree->n;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_mass(r->closure->tree, w->tree, w->q, w->M);
  if (status) return status;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) {
        double part = 0;
        for (int l = 0; l < N; l++) part += w->M[(long)k * N + l] * w->G[(long)l * n + j];
        sum += w->G[(long)k * n + i] * part;
      }
      M[i * n + j] = M[j * n + i] = sum;
    }
  return PSDM_OK;
}

psdm_status psdmp_rigid_closed_regressor(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                         const double *qdd, double *Y) {
  psdmp_rigid_closed_work *w = work->closed;
  int n = r->n, N = r->closure->tree->n, S = psdm_robot_parameter_count(r);
  psdm_status status = psdmp_rigid_closed_motion(r, w, q, qd, qdd);
  if (!status) status = psdm_regressor_standard(r->closure->tree, w->tree, w->q, w->qd, w->qdd, w->Y);
  if (status) return status;
  memset(Y, 0, sizeof *Y * (size_t)n * (size_t)S);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < n; i++)
      for (int c = 0; c < S; c++) Y[(long)i * S + c] += w->G[(long)k * n + i] * w->Y[(long)k * S + c];
  return PSDM_OK;
}

psdm_status psdmp_rigid_closed_energy(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                      double *kinetic, double *potential) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = set_G(r, w, q);
  if (status) return status;
  psdmp_rigid_closed_expand(r, w->G, qd, w->qd);
  return psdm_energy(r->closure->tree, w->tree, w->q, w->qd, kinetic, potential);
}

/* v = G qd changes by dG/dt per unit of q where q moves by qd, and dv_k/dq_j is (dG/dt)_kj: the second derivatives of
 * q_tree are symmetric */
psdm_status psdmp_rigid_closed_momentum(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                        double *p, double *dT_dq) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = psdmp_rigid_closed_motion(r, w, q, qd, NULL);
  if (!status) status = psdm_momentum(r->closure->tree, w->tree, w->q, w->qd, w->tau, w->qdd);
  if (status) return status;
  if (p) psdmp_rigid_closed_restrict(r, w->G, w->tau, p);
  if (!dT_dq) return PSDM_OK;
  psdmp_rigid_closed_restrict(r, w->G, w->qdd, dT_dq);
  for (int k = 0; k < r->closure->tree->n; k++)
    for (int j = 0; j < r->n; j++) dT_dq[j] += w->G_rate[(long)k * r->n + j] * w->tau[k];
  return PSDM_OK;
}

psdm_status psdmp_rigid_closed_jacobian(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *J) {
  psdmp_rigid_closed_work *w = work->closed;
  int N = r->closure->tree->n;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_jacobian(r->closure->tree, w->tree, w->q, joint, w->J);
  for (int i = 0; i < 6 && !status; i++) row_times_G(r, w->G, w->J + (long)i * N, J + (long)i * r->n);
  return status;
}

/* J_tree G and J_tree dG/dt + (dJ_tree/dt) G */
psdm_status psdmp_rigid_closed_jacobian_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                             int joint, double *J) {
  psdmp_rigid_closed_work *w = work->closed;
  int n = r->n, N = r->closure->tree->n;
  psdm_status status = psdmp_rigid_closed_motion(r, w, q, qd, NULL);
  if (!status) status = psdm_jacobian(r->closure->tree, w->tree, w->q, joint, w->J);
  if (!status) status = psdm_jacobian_rate(r->closure->tree, w->tree, w->q, w->qd, joint, w->J_rate);
  for (int i = 0; i < 6 && !status; i++) {
    row_times_G(r, w->G, w->J_rate + (long)i * N, J + (long)i * n);
    for (int j = 0; j < n; j++)
      for (int k = 0; k < N; k++) J[(long)i * n + j] += w->J[(long)i * N + k] * w->G_rate[(long)k * n + j];
  }
  return status;
}

psdm_status psdmp_rigid_closed_wrench(const psdm_robot *r, psdm_work *work, const double *q, int count,
                                      const psdm_wrench *wrenches, double *tau) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_wrench_torque(r->closure->tree, w->tree, w->q, count, wrenches, w->tau);
  if (!status) psdmp_rigid_closed_restrict(r, w->G, w->tau, tau);
  return status;
}

/* ---- the loops themselves ---- */

bool psdmp_rigid_pull_home(const psdm_robot *r, psdm_work *work, double *q) {
  enum { HALVINGS = 30 };
  for (int k = 0; r->closure && psdmp_rigid_closed_position(r, work->closed, q); k++) {
    if (k == HALVINGS) return false;
    for (int i = 0; i < r->n; i++) q[i] = r->closure->home[i] + 0.5 * (q[i] - r->closure->home[i]);
  }
  return true;
}

const psdm_robot *psdm_robot_tree(const psdm_robot *r) { return r->closure ? r->closure->tree : NULL; }
int psdm_loop_equations(const psdm_robot *r) { return r->closure ? 3 * r->closure->loops : 0; }
int psdm_loop_passives(const psdm_robot *r) { return r->closure ? r->closure->passives : 0; }

int psdm_loop_independent(const psdm_robot *r, int index) {
  return r->closure && index >= 0 && index < r->n ? r->closure->independent[index] : -1;
}

int psdm_loop_passive(const psdm_robot *r, int index) {
  return r->closure && index >= 0 && index < r->closure->passives ? r->closure->passive[index] : -1;
}

psdm_status psdm_loop_close(const psdm_robot *r, psdm_work *work, const double *q, const double *qd, double *tree_q,
                            double *tree_qd) {
  psdmp_rigid_closed_work *w = work->closed;
  if (!w) return PSDM_E_ARGUMENT;
  psdm_status status = set_G(r, w, q);
  if (status) return status;
  memcpy(tree_q, w->q, sizeof *tree_q * (size_t)r->closure->tree->n);
  if (qd && tree_qd) psdmp_rigid_closed_expand(r, w->G, qd, tree_qd);
  return PSDM_OK;
}

psdm_status psdm_loop_gaps(const psdm_robot *r, psdm_work *work, const double *tree_q, const double *tree_qd,
                           double *gap, double *A, double *drift) {
  psdmp_rigid_closed_work *w = work->closed;
  if (!w) return PSDM_E_ARGUMENT;
  int N = r->closure->tree->n, e = 3 * r->closure->loops;
  memcpy(w->q, tree_q, sizeof *tree_q * (size_t)N);
  psdmp_rigid_closed_gaps(r, w, A != NULL);
  if (gap) memcpy(gap, w->gap, sizeof *gap * (size_t)e);
  if (A) memcpy(A, w->A, sizeof *A * (size_t)e * (size_t)N);
  if (drift) psdmp_rigid_closed_second(r, w, tree_qd, tree_qd, drift);
  return PSDM_OK;
}
