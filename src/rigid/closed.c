/* closed.c: robots with closed loops through their open tree. Passive joints follow by Newton's method from the
 * file's position on, in steps that stay on its branch; rates follow from the loops' derivative. */
#include "rigid/closed_priv.h"

#include <math.h>
#include <string.h>

/* out (columns of G wide) = A G for a row of A */
static void row_times_G(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *row, double *out) {
  int n = r->n, N = r->closure->tree->n;
  for (int j = 0; j < n; j++) {
    out[j] = 0;
    for (int k = 0; k < N; k++) out[j] += row[k] * w->G[(long)k * n + j];
  }
}

/* tau = G^T tree */
static void restrict_torque(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *tree, double *tau) {
  row_times_G(r, w, tree, tau);
}

/* ---- the loops' gaps and their derivative ---- */

/* adds sign times the position of a point of a link, and its derivative, to the three rows of one loop */
static void add_point(const psdm_robot *tree, psdmp_rigid_closed_work *w, int joint, const double point[3], double sign,
                      double *gap, double *A) {
  double pose[12], arm[3];
  int N = tree->n;
  psdm_pose(tree, w->tree, w->q, joint, pose);
  psdmp_rigid_rotate(pose + 3, point, arm);
  for (int i = 0; i < 3; i++) gap[i] += sign * (pose[i] + arm[i]);
  if (!A) return;
  psdm_jacobian(tree, w->tree, w->q, joint, w->J);
  for (int k = 0; k < N; k++) { /* velocity of the point: v + w x arm */
    const double v[3] = {w->J[k], w->J[N + k], w->J[2 * N + k]},
                 turn[3] = {w->J[3 * N + k], w->J[4 * N + k], w->J[5 * N + k]};
    double whole[3] = {v[0], v[1], v[2]};
    psdmp_rigid_cross_add(turn, arm, whole);
    for (int i = 0; i < 3; i++) A[(long)i * N + k] += sign * whole[i];
  }
}

static void set_gaps(const psdm_robot *r, psdmp_rigid_closed_work *w, bool derivative) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, N = c->tree->n;
  memset(w->gap, 0, sizeof *w->gap * (size_t)e);
  if (derivative) memset(w->A, 0, sizeof *w->A * (size_t)e * (size_t)N);
  for (int l = 0; l < c->loops; l++)
    for (int side = 0; side < 2; side++)
      add_point(c->tree, w, c->loop[l].joint[side], c->loop[l].point[side], side ? -1 : 1, w->gap + 3 * l,
                derivative ? w->A + 3L * l * N : NULL);
}

/* Q R of the passive columns of A, by Gram-Schmidt twice; false when they are dependent: the loop is singular here */
static bool factorise(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, m = c->passives, N = c->tree->n;
  memset(w->R, 0, sizeof *w->R * (size_t)m * (size_t)m);
  for (int j = 0; j < m; j++) {
    double *x = w->Q + (long)j * e, size = 0, left = 0;
    for (int i = 0; i < e; i++) x[i] = w->A[(long)i * N + c->passive[j]], size += x[i] * x[i];
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < j; k++) {
        const double *basis = w->Q + (long)k * e;
        double dot = 0;
        for (int i = 0; i < e; i++) dot += basis[i] * x[i];
        for (int i = 0; i < e; i++) x[i] -= dot * basis[i];
        w->R[(long)k * m + j] += dot;
      }
    for (int i = 0; i < e; i++) left += x[i] * x[i];
    if (!(left > 1e-20 * size) || size == 0) return false;
    left = sqrt(left);
    for (int i = 0; i < e; i++) x[i] /= left;
    w->R[(long)j * m + j] = left;
  }
  return true;
}

/* x (passives): least squares of A_p x = b */
static void solve(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *b, int stride, double *x) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, m = c->passives;
  for (int j = 0; j < m; j++) {
    x[j] = 0;
    for (int i = 0; i < e; i++) x[j] += w->Q[(long)j * e + i] * b[(long)i * stride];
  }
  for (int j = m - 1; j >= 0; j--) {
    for (int k = j + 1; k < m; k++) x[j] -= w->R[(long)j * m + k] * x[k];
    x[j] /= w->R[(long)j * m + j];
  }
}

/* ---- q_tree = F(q), G, dG/dt ---- */

/* Newton's method on the passive joints, the independent ones as they stand; steps of half a radian at most */
static bool newton(const psdm_robot *r, psdmp_rigid_closed_work *w, double tolerance) {
  const psdmp_robot_closure *c = r->closure;
  double step[PSDM_MAX_JOINTS];
  for (int i = 0; i < 50; i++) {
    double longest = 0;
    set_gaps(r, w, true);
    if (!factorise(r, w)) return false;
    solve(r, w, w->gap, 1, step);
    for (int j = 0; j < c->passives; j++) longest = fmax(longest, fabs(step[j]));
    double scale = longest > 0.5 ? 0.5 / longest : 1;
    for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] -= scale * step[j];
    if (!(longest > tolerance)) return true;
  }
  return true; /* as near as it gets; the caller looks at the gap */
}

/* where the passive joints go to first order when the independent ones move to home + part (q - home); false when
 * that is far, as near a singular position, where a step too long would land on the other branch */
static bool predict(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, double part) {
  const psdmp_robot_closure *c = r->closure;
  double move[PSDM_MAX_JOINTS], rate[PSDM_MAX_JOINTS];
  set_gaps(r, w, true);
  if (!factorise(r, w)) return false;
  for (int i = 0; i < r->n; i++) {
    double to = part == 1 ? q[i] : c->home[i] + part * (q[i] - c->home[i]);
    rate[i] = to - w->q[c->independent[i]];
  }
  for (int e = 0; e < 3 * c->loops; e++) {
    w->gap[e] = 0;
    for (int i = 0; i < r->n; i++) w->gap[e] += w->A[(long)e * c->tree->n + c->independent[i]] * rate[i];
  }
  solve(r, w, w->gap, 1, move);
  for (int j = 0; j < c->passives; j++)
    if (!(fabs(move[j]) < 0.3)) return false;
  for (int i = 0; i < r->n; i++) w->q[c->independent[i]] += rate[i];
  for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] -= move[j];
  return true;
}

/* whether the passive columns kept their orientation since Q_before: it changes sign where a branch ends, so a step
 * that went past a singular position shows. The determinant of Q_before^T A_p, by elimination. */
static bool same_branch(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, m = c->passives;
  double sign = 1;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      w->turn[(long)i * m + j] = 0;
      for (int k = 0; k < e; k++)
        w->turn[(long)i * m + j] += w->Q_before[(long)i * e + k] * w->A[(long)k * c->tree->n + c->passive[j]];
    }
  for (int k = 0; k < m; k++) {
    int pivot = k;
    for (int i = k + 1; i < m; i++)
      if (fabs(w->turn[(long)i * m + k]) > fabs(w->turn[(long)pivot * m + k])) pivot = i;
    for (int j = 0; j < m && pivot != k; j++) {
      double swap = w->turn[(long)k * m + j];
      w->turn[(long)k * m + j] = w->turn[(long)pivot * m + j];
      w->turn[(long)pivot * m + j] = swap;
    }
    double p = w->turn[(long)k * m + k];
    if (pivot != k) sign = -sign;
    if (p == 0) return false;
    if (p < 0) sign = -sign;
    for (int i = k + 1; i < m; i++)
      for (int j = m - 1; j >= k; j--)
        w->turn[(long)i * m + j] -= w->turn[(long)i * m + k] / p * w->turn[(long)k * m + j];
  }
  return sign > 0;
}

/* one step of the way; false, with nothing changed, when it is too long */
static bool advance(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, double part) {
  double before[PSDM_MAX_JOINTS];
  int N = r->closure->tree->n;
  memcpy(before, w->q, sizeof *before * (size_t)N);
  bool ok = predict(r, w, q, part);
  memcpy(w->Q_before, w->Q, sizeof *w->Q * 3 * (size_t)r->closure->loops * (size_t)r->closure->passives);
  ok = ok && newton(r, w, part == 1 ? 1e-13 : 1e-5) && same_branch(r, w);
  for (int k = 0; k < N && ok; k++) ok = fabs(w->q[k] - before[k]) < 0.4;
  if (!ok) memcpy(w->q, before, sizeof *before * (size_t)N);
  for (int i = 0; i < r->n && ok && part == 1; i++) w->q[r->closure->independent[i]] = q[i];
  return ok;
}

/* From the file's position to q in steps of a tenth of a radian, shorter where the passive joints turn fast, so that
 * the loop stays on that position's branch. */
static psdm_status close_loops(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q) {
  const psdmp_robot_closure *c = r->closure;
  double farthest = 0;
  for (int i = 0; i < r->n; i++) farthest = fmax(farthest, fabs(q[i] - c->home[i]));
  if (!(farthest < 1e3)) return PSDM_E_LOOP;
  for (int i = 0; i < r->n; i++) w->q[c->independent[i]] = c->home[i];
  for (int j = 0; j < c->passives; j++) w->q[c->passive[j]] = c->start[j];
  if (!newton(r, w, 1e-5)) return PSDM_E_LOOP;
  double longest = farthest > 0.1 ? 0.1 / farthest : 1, step = longest;
  for (double part = 0; part < 1;) {
    double next = part + step < 1 ? part + step : 1;
    if (advance(r, w, q, next)) {
      part = next;
      step = fmin(2 * step, longest);
    } else if ((step *= 0.5) < 1e-5 * longest) {
      return PSDM_E_LOOP; /* a singular position stands in the way */
    }
  }
  set_gaps(r, w, true);
  double gap = 0;
  for (int i = 0; i < 3 * c->loops; i++) gap = fmax(gap, fabs(w->gap[i]));
  return gap < 1e-10 && factorise(r, w) ? PSDM_OK : PSDM_E_LOOP;
}

/* rows of passive joints: -A_p^+ (what of A or its rate the given columns make) */
static void set_passive_rows(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *columns, double *G) {
  const psdmp_robot_closure *c = r->closure;
  double x[PSDM_MAX_JOINTS];
  for (int j = 0; j < r->n; j++) {
    solve(r, w, columns + j, r->n, x);
    for (int k = 0; k < c->passives; k++) G[(long)c->passive[k] * r->n + j] = -x[k];
  }
}

static psdm_status set_G(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q) {
  const psdmp_robot_closure *c = r->closure;
  int n = r->n, N = c->tree->n, e = 3 * c->loops;
  psdm_status status = close_loops(r, w, q);
  if (status) return status;
  memset(w->G, 0, sizeof *w->G * (size_t)N * (size_t)n);
  for (int j = 0; j < n; j++) w->G[(long)c->independent[j] * n + j] = 1;
  /* the independent columns of A, e x n, in A_rate's place */
  for (int i = 0; i < e; i++)
    for (int j = 0; j < n; j++) w->A_rate[(long)i * n + j] = w->A[(long)i * N + c->independent[j]];
  set_passive_rows(r, w, w->A_rate, w->G);
  return PSDM_OK;
}

static void expand(const psdm_robot *r, const double *G, const double *x, double *tree) {
  for (int k = 0; k < r->closure->tree->n; k++) {
    tree[k] = 0;
    for (int j = 0; j < r->n; j++) tree[k] += G[(long)k * r->n + j] * x[j];
  }
}

/* rate of A: d/dt (v + w x arm) column by column */
static void add_point_rate(const psdm_robot *tree, psdmp_rigid_closed_work *w, int joint, const double point[3],
                           double sign, double *A) {
  double pose[12], arm[3], spin[3] = {0}, arm_rate[3];
  int N = tree->n;
  psdm_pose(tree, w->tree, w->q, joint, pose);
  psdmp_rigid_rotate(pose + 3, point, arm);
  psdm_jacobian(tree, w->tree, w->q, joint, w->J);
  psdm_jacobian_rate(tree, w->tree, w->q, w->qd, joint, w->J_rate);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < N; k++) spin[i] += w->J[(long)(3 + i) * N + k] * w->qd[k];
  psdmp_rigid_cross(spin, arm, arm_rate);
  for (int k = 0; k < N; k++) {
    const double turn[3] = {w->J[3L * N + k], w->J[4L * N + k], w->J[5L * N + k]};
    const double turn_rate[3] = {w->J_rate[3L * N + k], w->J_rate[4L * N + k], w->J_rate[5L * N + k]};
    double whole[3] = {w->J_rate[k], w->J_rate[N + k], w->J_rate[2L * N + k]};
    psdmp_rigid_cross_add(turn_rate, arm, whole);
    psdmp_rigid_cross_add(turn, arm_rate, whole);
    for (int i = 0; i < 3; i++) A[(long)i * N + k] += sign * whole[i];
  }
}

static void set_A_rate(const psdm_robot *r, psdmp_rigid_closed_work *w) {
  const psdmp_robot_closure *c = r->closure;
  int N = c->tree->n;
  memset(w->A_rate, 0, sizeof *w->A_rate * 3 * (size_t)c->loops * (size_t)N);
  for (int l = 0; l < c->loops; l++)
    for (int side = 0; side < 2; side++)
      add_point_rate(c->tree, w, c->loop[l].joint[side], c->loop[l].point[side], side ? -1 : 1, w->A_rate + 3L * l * N);
}

/* (dA/dt) G + A dG/dt = 0 gives the passive rows of dG/dt; the others are zero */
static psdm_status set_G_rate(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, const double *qd) {
  const psdmp_robot_closure *c = r->closure;
  int n = r->n, N = c->tree->n, e = 3 * c->loops;
  psdm_status status = set_G(r, w, q);
  if (status) return status;
  expand(r, w->G, qd, w->qd);
  set_A_rate(r, w);
  /* row by row in place of A: e x n fits where e x N was */
  for (int i = 0; i < e; i++) {
    double row[PSDM_MAX_JOINTS];
    row_times_G(r, w, w->A_rate + (long)i * N, row);
    memcpy(w->A + (long)i * n, row, sizeof *row * (size_t)n);
  }
  memset(w->G_rate, 0, sizeof *w->G_rate * (size_t)N * (size_t)n);
  set_passive_rows(r, w, w->A, w->G_rate);
  return PSDM_OK;
}

/* q, qd and qdd of the tree; qdd NULL is zero */
static psdm_status set_motion(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q, const double *qd,
                              const double *qdd) {
  psdm_status status = set_G_rate(r, w, q, qd);
  if (status) return status;
  expand(r, w->G_rate, qd, w->qdd);
  for (int k = 0; qdd && k < r->closure->tree->n; k++)
    for (int j = 0; j < r->n; j++) w->qdd[k] += w->G[(long)k * r->n + j] * qdd[j];
  return PSDM_OK;
}

/* ---- the functions ---- */

psdm_status psdmp_rigid_closed_q(const psdm_robot *r, psdm_work *work, const double *q, const double **tree_q) {
  *tree_q = work->closed->q;
  return close_loops(r, work->closed, q);
}

psdm_status psdmp_rigid_closed_inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                       const double *qdd, double *tau) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = set_motion(r, w, q, qd, qdd);
  if (!status) status = psdm_inverse(r->closure->tree, w->tree, w->q, w->qd, w->qdd, w->tau);
  if (!status) restrict_torque(r, w, w->tau, tau);
  return status;
}

psdm_status psdmp_rigid_closed_gravity(const psdm_robot *r, psdm_work *work, const double *q, double *tau) {
  psdmp_rigid_closed_work *w = work->closed;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_gravity(r->closure->tree, w->tree, w->q, w->tau);
  if (!status) restrict_torque(r, w, w->tau, tau);
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
  psdm_status status = set_motion(r, w, q, qd, qdd);
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
  expand(r, w->G, qd, w->qd);
  return psdm_energy(r->closure->tree, w->tree, w->q, w->qd, kinetic, potential);
}

psdm_status psdmp_rigid_closed_jacobian(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *J) {
  psdmp_rigid_closed_work *w = work->closed;
  int N = r->closure->tree->n;
  psdm_status status = set_G(r, w, q);
  if (!status) status = psdm_jacobian(r->closure->tree, w->tree, w->q, joint, w->J);
  for (int i = 0; i < 6 && !status; i++) row_times_G(r, w, w->J + (long)i * N, J + (long)i * r->n);
  return status;
}

/* J_tree G and J_tree dG/dt + (dJ_tree/dt) G */
psdm_status psdmp_rigid_closed_jacobian_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                             int joint, double *J) {
  psdmp_rigid_closed_work *w = work->closed;
  int n = r->n, N = r->closure->tree->n;
  psdm_status status = set_G_rate(r, w, q, qd);
  if (!status) status = psdm_jacobian(r->closure->tree, w->tree, w->q, joint, w->J);
  if (!status) status = psdm_jacobian_rate(r->closure->tree, w->tree, w->q, w->qd, joint, w->J_rate);
  for (int i = 0; i < 6 && !status; i++) {
    row_times_G(r, w, w->J_rate + (long)i * N, J + (long)i * n);
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
  if (!status) restrict_torque(r, w, w->tau, tau);
  return status;
}

/* ---- the loops themselves ---- */

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
  if (qd && tree_qd) expand(r, w->G, qd, tree_qd);
  return PSDM_OK;
}

psdm_status psdm_loop_gaps(const psdm_robot *r, psdm_work *work, const double *tree_q, const double *tree_qd,
                           double *gap, double *A, double *drift) {
  psdmp_rigid_closed_work *w = work->closed;
  if (!w) return PSDM_E_ARGUMENT;
  int N = r->closure->tree->n, e = 3 * r->closure->loops;
  memcpy(w->q, tree_q, sizeof *tree_q * (size_t)N);
  set_gaps(r, w, A != NULL);
  if (gap) memcpy(gap, w->gap, sizeof *gap * (size_t)e);
  if (A) memcpy(A, w->A, sizeof *A * (size_t)e * (size_t)N);
  if (!drift) return PSDM_OK;
  memcpy(w->qd, tree_qd, sizeof *tree_qd * (size_t)N);
  set_A_rate(r, w);
  for (int i = 0; i < e; i++) {
    drift[i] = 0;
    for (int k = 0; k < N; k++) drift[i] += w->A_rate[(long)i * N + k] * tree_qd[k];
  }
  return PSDM_OK;
}
