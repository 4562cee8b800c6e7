/* optimal_loop.c: first derivatives of the torques of robots with closed loops.
 *
 * The tree's coordinates follow the independent ones, q_t = f(q), with G = df/dq, F_i = dG/dq_i, qd_t = G qd and qdd_t
 * = G qdd + g, g = sum F_i qd_i qd; tau = G^T tau_t. So
 *
 *   dtau/dq_i  = F_i^T tau_t + G^T (B_t G_i + A_t F_i qd + M_t (F_i qdd + dg/dq_i))
 *   dtau/dqd_i = G^T (A_t G_i + 2 M_t F_i qd),   dtau/dqdd = G^T M_t G              (B_t, A_t, M_t:
 *                                                                                   psdm/linearize.h, of the tree)
 *
 * Derivatives of the loops' gaps give all of these: with A = d gap / dq_t and dA(u) v its derivative along u, symmetric
 * in u and v,
 *
 *   A G = 0,   A F_ij = -dA(G_i) G_j,   A g = -dA(qd_t) qd_t,   A dg/dq_i = -dA(G_i) g - d2A(G_i, qd_t) qd_t - 2
 *                                                               dA(qd_t) F_i qd
 *
 * dA is exact, from the drift dA(v) v of psdm_loop_gaps at sums and differences; d2A is a central difference of it. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "plan/optimal_priv.h"
#include "psdm/loop.h"

enum { MOST_STEPS = 20 };

static double *row_of(double *matrix, int columns, int row) { return matrix + (long)row * columns; }

/* the passive part of A x = right, in the least-squares sense; x (N) is zero elsewhere */
static void solve(const psdmp_plan_loop *l, const double *right, double *x) {
  double *y = l->small;
  memset(x, 0, sizeof *x * (size_t)l->N);
  for (int a = 0; a < l->passives; a++) {
    int column = psdm_loop_passive(l->robot, a);
    y[a] = 0;
    for (int e = 0; e < l->equations; e++) y[a] += l->A[(long)e * l->N + column] * right[e];
  }
  psdmp_linalg_cholesky_solve(l->passives, l->S, y);
  for (int a = 0; a < l->passives; a++) x[psdm_loop_passive(l->robot, a)] = y[a];
}

/* A at l->q, and the factors of its passive columns' products; gap may be NULL */
static psdm_status factorise(psdmp_plan_loop *l, double *gap) {
  psdm_status status = psdm_loop_gaps(l->robot, l->work, l->q, NULL, gap, l->A, NULL);
  for (int a = 0; a < l->passives && !status; a++)
    for (int b = 0; b <= a; b++) {
      int column_a = psdm_loop_passive(l->robot, a), column_b = psdm_loop_passive(l->robot, b);
      double sum = 0;
      for (int e = 0; e < l->equations; e++) sum += l->A[(long)e * l->N + column_a] * l->A[(long)e * l->N + column_b];
      l->S[(long)a * l->passives + b] = sum;
    }
  if (!status && !psdmp_linalg_cholesky(l->passives, l->S)) status = PSDM_E_LOOP;
  return status;
}

/* l->q at q: by Newton steps from home if that is near, else on the branch that the file starts with */
static psdm_status close_loop(psdmp_plan_loop *l, const double *q) {
  if (!l->near) {
    psdm_status status = psdm_loop_close(l->robot, l->work, q, NULL, l->q, NULL);
    return status ? status : factorise(l, NULL);
  }
  memcpy(l->q, l->home, sizeof *l->q * (size_t)l->N);
  for (int i = 0; i < l->n; i++) l->q[psdm_loop_independent(l->robot, i)] = q[i];
  for (int k = 0; k < MOST_STEPS; k++) {
    double most = 0;
    psdm_status status = factorise(l, l->right);
    if (status) return status;
    solve(l, l->right, l->side);
    for (int i = 0; i < l->N; i++) l->q[i] -= l->side[i], most = fmax(most, fabs(l->side[i]));
    if (most < 1e-10) return factorise(l, NULL); /* the remainder is its square */
  }
  return PSDM_E_LOOP;
}

static void set_G(psdmp_plan_loop *l) {
  for (int i = 0; i < l->n; i++) {
    int column = psdm_loop_independent(l->robot, i);
    for (int e = 0; e < l->equations; e++) l->right[e] = -l->A[(long)e * l->N + column];
    solve(l, l->right, row_of(l->G, l->N, i));
    row_of(l->G, l->N, i)[column] = 1;
  }
}

/* l->right += factor dA(u) v */
static psdm_status add_bilinear(psdmp_plan_loop *l, const double *u, const double *v, double factor) {
  psdm_status status = PSDM_OK;
  for (int sign = -1; sign <= 1 && !status; sign += 2) {
    for (int k = 0; k < l->N; k++) l->side[k] = u[k] + sign * v[k];
    status = psdm_loop_gaps(l->robot, l->work, l->q, l->side, NULL, NULL, l->drift);
    for (int e = 0; e < l->equations && !status; e++) l->right[e] += factor * sign * l->drift[e] / 4;
  }
  return status;
}

/* l->right += factor d2A(u, v) v */
static psdm_status add_second(psdmp_plan_loop *l, const double *u, const double *v, double factor) {
  psdm_status status = PSDM_OK;
  for (int sign = -1; sign <= 1 && !status; sign += 2) {
    for (int k = 0; k < l->N; k++) l->side[k] = l->q[k] + sign * psdmp_plan_q_step * u[k];
    status = psdm_loop_gaps(l->robot, l->work, l->side, v, NULL, NULL, l->drift);
    for (int e = 0; e < l->equations && !status; e++)
      l->right[e] += factor * sign * l->drift[e] / (2 * psdmp_plan_q_step);
  }
  return status;
}

static void clear_right(psdmp_plan_loop *l) { memset(l->right, 0, sizeof *l->right * (size_t)l->equations); }

/* F_i x = sum over j of F_ij x_j */
static void apply_F(const psdmp_plan_loop *l, int i, const double *x, double *out) {
  memset(out, 0, sizeof *out * (size_t)l->N);
  for (int j = 0; j < l->n; j++)
    for (int k = 0; k < l->N; k++) out[k] += l->F[((long)i * l->n + j) * l->N + k] * x[j];
}

/* F, qd_t, g and qdd_t */
static psdm_status set_rates(psdmp_plan_loop *l, const double *qd, const double *qdd) {
  psdm_status status = PSDM_OK;
  for (int i = 0; i < l->n && !status; i++)
    for (int j = 0; j <= i && !status; j++) {
      double *own = l->F + ((long)i * l->n + j) * l->N;
      clear_right(l);
      status = add_bilinear(l, row_of(l->G, l->N, i), row_of(l->G, l->N, j), -1);
      solve(l, l->right, own);
      memcpy(l->F + ((long)j * l->n + i) * l->N, own, sizeof *own * (size_t)l->N);
    }
  memset(l->qd, 0, sizeof *l->qd * (size_t)l->N);
  for (int i = 0; i < l->n; i++)
    for (int k = 0; k < l->N; k++) l->qd[k] += row_of(l->G, l->N, i)[k] * qd[i];
  if (!status) status = psdm_loop_gaps(l->robot, l->work, l->q, l->qd, NULL, NULL, l->drift);
  for (int e = 0; e < l->equations; e++) l->right[e] = -l->drift[e];
  solve(l, l->right, l->g);
  memcpy(l->qdd, l->g, sizeof *l->g * (size_t)l->N);
  for (int i = 0; i < l->n; i++)
    for (int k = 0; k < l->N; k++) l->qdd[k] += row_of(l->G, l->N, i)[k] * qdd[i];
  return status;
}

/* column `column` of J: G^T x, and F_i^T tau_t where i >= 0 */
static void put_column(const psdmp_plan_loop *l, const double *x, int i, int column, double *J) {
  for (int r = 0; r < l->n; r++) {
    double sum = 0;
    for (int k = 0; k < l->N; k++)
      sum += l->G[(long)r * l->N + k] * x[k] + (i < 0 ? 0 : l->F[((long)i * l->n + r) * l->N + k] * l->tau[k]);
    J[(long)r * 3 * l->n + column] = sum;
  }
}

static void add_product(int N, const double *matrix, const double *x, double *out) {
  for (int r = 0; r < N; r++)
    for (int k = 0; k < N; k++) out[r] += matrix[(long)r * N + k] * x[k];
}

static psdm_status put_columns(psdmp_plan_loop *l, int i, const double *qd, const double *qdd, double *J) {
  int n = l->n, N = l->N;
  double *G = row_of(l->G, N, i), *Fqd = l->vector, *change = Fqd + N, *out = change + N, *Fqdd = out + N;
  size_t bytes = sizeof *out * (size_t)N;
  apply_F(l, i, qd, Fqd);
  apply_F(l, i, qdd, Fqdd);
  clear_right(l);
  psdm_status status = add_bilinear(l, G, l->g, -1);
  if (!status) status = add_second(l, G, l->qd, -1);
  if (!status) status = add_bilinear(l, l->qd, Fqd, -2);
  solve(l, l->right, change);
  for (int k = 0; k < N; k++) change[k] += Fqdd[k];
  /* by q_i */
  memset(out, 0, bytes);
  add_product(N, l->B, G, out);
  add_product(N, l->C, Fqd, out);
  add_product(N, l->M, change, out);
  put_column(l, out, i, i, J);
  /* by qd_i */
  memset(out, 0, bytes);
  for (int k = 0; k < N; k++) change[k] = 2 * Fqd[k];
  add_product(N, l->C, G, out);
  add_product(N, l->M, change, out);
  put_column(l, out, -1, n + i, J);
  /* by qdd_i */
  memset(out, 0, bytes);
  add_product(N, l->M, G, out);
  put_column(l, out, -1, 2 * n + i, J);
  return status;
}

psdm_status psdmp_plan_loop_slope(psdmp_plan_loop *l, const double *z, double *tau, double *J) {
  const double *qd = z + l->n, *qdd = qd + l->n;
  psdm_status status = close_loop(l, z);
  if (status) return status;
  set_G(l);
  status = set_rates(l, qd, qdd);
  if (!status) status = psdm_inverse(l->tree, l->tree_work, l->q, l->qd, l->qdd, l->tau);
  if (!status) status = psdm_linearize_inverse(l->tree, l->linear, l->q, l->qd, l->qdd, l->B, l->C, l->M);
  for (int i = 0; i < l->n && !status; i++) {
    tau[i] = 0;
    for (int k = 0; k < l->N; k++) tau[i] += row_of(l->G, l->N, i)[k] * l->tau[k];
    status = put_columns(l, i, qd, qdd, J);
  }
  return status;
}

void psdmp_plan_loop_stay(psdmp_plan_loop *l, bool near) {
  l->near = near;
  if (near) memcpy(l->home, l->q, sizeof *l->q * (size_t)l->N);
}

psdm_status psdmp_plan_loop_init(psdmp_plan_loop *l, const psdm_robot *robot, psdm_work *work,
                                 psdmp_base_arena *arena) {
  *l = (psdmp_plan_loop){.robot = robot,
                         .tree = psdm_robot_tree(robot),
                         .work = work,
                         .n = psdm_robot_n(robot),
                         .passives = psdm_loop_passives(robot),
                         .equations = psdm_loop_equations(robot)};
  l->N = psdm_robot_n(l->tree);
  size_t n = (size_t)l->n, N = (size_t)l->N, P = (size_t)l->passives, E = (size_t)l->equations;
  size_t work_bytes = psdm_work_bytes(l->tree), linear_bytes = psdm_linear_bytes(l->tree), at = 0;
  struct {
    double **to;
    size_t count;
  } const part[] = {{&l->home, N},  {&l->q, N},     {&l->qd, N},         {&l->qdd, N},   {&l->g, N},
                    {&l->tau, N},   {&l->side, N},  {&l->vector, 4 * N}, {&l->G, n * N}, {&l->F, n * n * N},
                    {&l->A, E * N}, {&l->S, P * P}, {&l->small, P},      {&l->right, E}, {&l->drift, E},
                    {&l->B, N * N}, {&l->C, N * N}, {&l->M, N * N}};
  size_t parts = sizeof part / sizeof *part, total = 0;
  for (size_t k = 0; k < parts; k++) total += part[k].count;
  double *memory = psdmp_base_arena_alloc(arena, total * sizeof *memory);
  void *work_memory = psdmp_base_arena_alloc(arena, work_bytes),
       *linear_memory = psdmp_base_arena_alloc(arena, linear_bytes);
  if (!memory || !work_memory || !linear_memory) return PSDM_E_MEMORY;
  for (size_t k = 0; k < parts; at += part[k++].count) *part[k].to = memory + at;
  psdm_status status = psdm_work_init(l->tree, work_memory, work_bytes, &l->tree_work);
  return status ? status : psdm_linear_init(l->tree, linear_memory, linear_bytes, &l->linear);
}
