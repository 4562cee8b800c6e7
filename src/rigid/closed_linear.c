/* closed_linear.c: the linearized dynamics of robots with closed loops, exact through the loops.
 *
 * A small change dq moves the tree by dx = G dq, and the loops stay closed: A v = 0 and A a + gap''(v, v) = 0 for v =
 * qd_tree, a = qdd_tree remain true, where the independent parts of dv and da are dqd and dqdd. With F the passive
 * part's response to the residual, A_p F(y) = -y,
 *
 *   dv = (dG/dt) dq + G dqd                                          dG/dt G_j: F(gap''(v, G_j))
 *   da = W dq + 2 (dG/dt) dqd + G dqdd                               W_j = F(gap''(a, G_j) + gap'''(v, v, G_j)
 *                                                                            + 2 gap''(v, (dG/dt)_j))
 *
 * Torques are tau = G^T tau_tree. With the forces lambda that close the loops, A_p^T lambda = (tau_tree)_p, the change
 * of G has the same effect as that of A with these forces fixed, since A G = 0 remains true:
 *
 *   dtau = G^T (dtau_tree - H dx),   H = second derivative of lambda . gap by x
 *
 * (the tree's derivatives: linearize_inverse.c, linearize_along.c). */
#include <string.h>

#include "rigid/closed_priv.h"
#include "rigid/linearize_priv.h"

/* out[passive] = F(right), the rest of out (N) is zero */
static void follow(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *right, double *out) {
  const psdmp_robot_closure *c = r->closure;
  double x[PSDM_MAX_JOINTS];
  memset(out, 0, sizeof *out * (size_t)c->tree->n);
  psdmp_rigid_closed_solve(r, w, right, 1, x);
  for (int k = 0; k < c->passives; k++) out[c->passive[k]] = -x[k];
}

/* a's change along g = G_j or G dq, with s = (dG/dt) of the same: W */
static void bend(const psdm_robot *r, psdm_linear *l, const double *g, const double *s, double *out) {
  psdmp_rigid_closed_work *w = l->work->closed;
  double *sum = l->equations, *part = l->equations + 3 * r->closure->loops;
  psdmp_rigid_closed_second(r, w, w->qdd, g, sum);
  psdmp_rigid_closed_third(r, w, w->qd, w->qd, g, part);
  for (int i = 0; i < 3 * r->closure->loops; i++) sum[i] += part[i];
  psdmp_rigid_closed_second(r, w, w->qd, s, part);
  for (int i = 0; i < 3 * r->closure->loops; i++) sum[i] += 2 * part[i];
  follow(r, w, sum, out);
}

/* The motion, G, dG/dt, the tree's frames, and the forces lambda. */
static psdm_status start(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd) {
  psdmp_rigid_closed_work *w = l->work->closed;
  const psdm_robot *tree = r->closure->tree;
  psdm_status status = psdmp_rigid_closed_motion(r, w, q, qd, qdd);
  if (!status) status = psdm_inverse(tree, w->tree, w->q, w->qd, w->qdd, w->tau);
  if (status) return status;
  psdmp_rigid_closed_force(r, w, w->tau);
  psdmp_rigid_set_arms(tree, w->tree, w->q);
  return PSDM_OK;
}

/* ---- matrices ---- */

static void column_of(const double *X, int rows, int columns, int j, double *x) {
  for (int k = 0; k < rows; k++) x[k] = X[(long)k * columns + j];
}

/* y (rows) += X x, X (rows x columns) */
static void add_product(int rows, int columns, const double *X, const double *x, double *y) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) y[i] += X[(long)i * columns + j] * x[j];
}

/* column j of out = G^T y */
static void put_column(const psdm_robot *r, const double *G, const double *y, int j, double *out) {
  double x[PSDM_MAX_JOINTS];
  if (!out) return;
  psdmp_rigid_closed_restrict(r, G, y, x);
  for (int i = 0; i < r->n; i++) out[(long)i * r->n + j] = x[i];
}

psdm_status psdmp_rigid_closed_linearize(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                         const double *qdd, double *dtau_dq, double *dtau_dqd, double *M) {
  psdmp_rigid_closed_work *w = l->work->closed;
  const psdm_robot *tree = r->closure->tree;
  int N = tree->n, n = r->n;
  double *B = l->tree_B, *A = l->tree_A, *T = l->tree_M, *g = l->column[0], *s = l->column[1], *b = l->column[2],
         *y = l->column[3];
  psdm_status status = start(r, l, q, qd, qdd);
  if (!status) status = psdm_linearize_inverse(tree, l->open, w->q, w->qd, w->qdd, B, A, T);
  if (status) return status;
  psdmp_rigid_closed_subtract_bend(r, w, w->force, B);
  for (int j = 0; j < n; j++) {
    column_of(w->G, N, n, j, g);
    column_of(w->G_rate, N, n, j, s);
    bend(r, l, g, s, b);
    memset(y, 0, sizeof *y * (size_t)N);
    add_product(N, N, B, g, y), add_product(N, N, A, s, y), add_product(N, N, T, b, y);
    put_column(r, w->G, y, j, dtau_dq);
    for (int k = 0; k < N; k++) y[k] = 0, s[k] *= 2;
    add_product(N, N, A, g, y), add_product(N, N, T, s, y);
    put_column(r, w->G, y, j, dtau_dqd);
    memset(y, 0, sizeof *y * (size_t)N);
    add_product(N, N, T, g, y);
    put_column(r, w->G, y, j, M);
  }
  for (int i = 0; i < n && M; i++) /* symmetric to the last bit */
    for (int j = 0; j < i; j++) M[(long)i * n + j] = M[(long)j * n + i];
  return PSDM_OK;
}

/* ---- along a direction ---- */

psdm_status psdmp_rigid_closed_along(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                     const double *qdd, const double *dq, const double *dqd, const double *dqdd,
                                     double *dtau) {
  psdmp_rigid_closed_work *w = l->work->closed;
  const psdm_robot *tree = r->closure->tree;
  int N = tree->n, n = r->n;
  double *x = l->column[0], *v = l->column[1], *a = l->column[2], *y = l->column[3];
  psdm_status status = start(r, l, q, qd, qdd);
  if (status) return status;
  psdmp_rigid_closed_expand(r, w->G, dq ? dq : l->zero, x);
  psdmp_rigid_closed_expand(r, w->G_rate, dq ? dq : l->zero, v);
  bend(r, l, x, v, a);
  if (dqd) add_product(N, n, w->G, dqd, v), psdmp_rigid_closed_expand(r, w->G_rate, dqd, y);
  for (int k = 0; k < N && dqd; k++) a[k] += 2 * y[k];
  if (dqdd) add_product(N, n, w->G, dqdd, a);
  memset(l->tree_B, 0, sizeof *l->tree_B * (size_t)N * (size_t)N);
  psdmp_rigid_closed_subtract_bend(r, w, w->force, l->tree_B);
  status = psdm_linear_inverse_along(tree, l->open, w->q, w->qd, w->qdd, x, v, a, y);
  if (status) return status;
  add_product(N, N, l->tree_B, x, y);
  psdmp_rigid_closed_restrict(r, w->G, y, dtau);
  return PSDM_OK;
}
