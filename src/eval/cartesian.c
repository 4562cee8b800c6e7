/* cartesian.c: dynamics in task coordinates, with the factor S_p that keeps dM_p/dt - 2 S_p skew. */
#include "psdm/cartesian.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

psdm_status psdm_task_link(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd, int joint,
                           unsigned rows, double *twelve, double *J, double *J_rate) {
  int n = psdm_robot_n(robot), m = 0;
  if (!(rows & 63u)) return PSDM_E_ARGUMENT;
  psdm_status status = psdm_jacobian(robot, work, q, joint, twelve);
  if (!status && J_rate) status = psdm_jacobian_rate(robot, work, q, qd, joint, twelve + 6 * (size_t)n);
  for (int r = 0; r < 6 && !status; r++) {
    if (!(rows >> r & 1u)) continue;
    memcpy(J + (size_t)m * (size_t)n, twelve + (size_t)r * (size_t)n, sizeof *J * (size_t)n);
    if (J_rate) memcpy(J_rate + (size_t)m * (size_t)n, twelve + (size_t)(6 + r) * (size_t)n, sizeof *J * (size_t)n);
    m++;
  }
  return status;
}

/* One call; matrices row-major. */
typedef struct task {
  int n, m;
  const double *J, *J_rate;
  double *M, *S;      /* (n x n) of the joints; M becomes its Cholesky factor */
  double *g, *column; /* (n) */
  double *B;          /* (n x m) M^-1 J^T */
  double *A, *Mp;     /* (m x m) J M^-1 J^T; its inverse */
  double *Jbar;       /* (n x m) */
  double *Sn;         /* (m x n) */
  double *eigen, *lapack;
} task;

size_t psdm_cartesian_scratch(const psdm_robot *robot, int m) {
  size_t n = (size_t)psdm_robot_n(robot), k = (size_t)m;
  return 2 * n * n + 2 * n + 3 * n * k + 3 * k * k + k + psdmp_linalg_modes_scratch(m, 0);
}

static void lay_out(task *t, double *at) {
  size_t n = (size_t)t->n, m = (size_t)t->m;
  t->M = at, at += n * n;
  t->S = at, at += n * n;
  t->g = at, at += n;
  t->column = at, at += n;
  t->B = at, at += n * m;
  t->Jbar = at, at += n * m;
  t->Sn = at, at += n * m;
  t->A = at, at += m * m;
  t->Mp = at, at += 2 * m * m;
  t->eigen = at, at += m;
  t->lapack = at;
}

/* out (a x c) = X^T Y with X (b x a), Y (b x c), or X Y with X (a x b) */
static void product(int a, int b, int c, const double *X, bool transposed, const double *Y, double *out) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < c; j++) {
      double sum = 0;
      for (int k = 0; k < b; k++)
        sum += (transposed ? X[(size_t)k * (size_t)a + (size_t)i] : X[(size_t)i * (size_t)b + (size_t)k]) *
               Y[(size_t)k * (size_t)c + (size_t)j];
      out[(size_t)i * (size_t)c + (size_t)j] = sum;
    }
}

/* B = M^-1 J^T, A = J B */
static bool task_inertia(task *t) {
  int n = t->n, m = t->m;
  if (!psdmp_linalg_cholesky(n, t->M)) return false;
  for (int j = 0; j < m; j++) {
    memcpy(t->column, t->J + (size_t)j * (size_t)n, sizeof *t->column * (size_t)n);
    psdmp_linalg_cholesky_solve(n, t->M, t->column);
    for (int i = 0; i < n; i++) t->B[(size_t)i * (size_t)m + (size_t)j] = t->column[i];
  }
  product(m, n, m, t->J, false, t->B, t->A);
  return true;
}

/* M_p = (A + damping^2)^-1, symmetric to the last bit */
static bool invert_task(task *t, double damping) {
  int m = t->m;
  double *A = t->Mp + (size_t)m * (size_t)m;
  memcpy(A, t->A, sizeof *A * (size_t)m * (size_t)m);
  for (int i = 0; i < m; i++) A[(size_t)i * (size_t)m + (size_t)i] += damping * damping;
  if (!psdmp_linalg_cholesky(m, A)) return false;
  for (int j = 0; j < m; j++) {
    double *row = t->Mp + (size_t)j * (size_t)m;
    for (int i = 0; i < m; i++) row[i] = i == j;
    psdmp_linalg_cholesky_solve(m, A, row);
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < i; j++) {
      double *a = &t->Mp[(size_t)i * (size_t)m + (size_t)j], *b = &t->Mp[(size_t)j * (size_t)m + (size_t)i];
      *a = *b = (*a + *b) / 2;
    }
  return true;
}

/* S_n = Jbar^T S - M_p dJ/dt */
static void couple(task *t) {
  int n = t->n, m = t->m;
  product(m, n, n, t->Jbar, true, t->S, t->Sn);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        t->Sn[(size_t)i * (size_t)n + (size_t)j] -=
            t->Mp[(size_t)i * (size_t)m + (size_t)k] * t->J_rate[(size_t)k * (size_t)n + (size_t)j];
}

static void give(const task *t, const double *qd, psdm_cartesian *out) {
  int n = t->n, m = t->m;
  if (out->M) memcpy(out->M, t->Mp, sizeof *out->M * (size_t)m * (size_t)m);
  if (out->J_inverse) memcpy(out->J_inverse, t->Jbar, sizeof *out->J_inverse * (size_t)n * (size_t)m);
  if (out->S_null) memcpy(out->S_null, t->Sn, sizeof *out->S_null * (size_t)m * (size_t)n);
  if (out->S) product(m, n, m, t->Sn, false, t->Jbar, out->S);
  if (out->c) product(m, n, 1, t->Sn, false, qd, out->c);
  if (out->g) product(m, n, 1, t->Jbar, true, t->g, out->g);
  for (int i = 0; i < n && out->N; i++)
    for (int j = 0; j < n; j++) {
      double sum = i == j;
      for (int k = 0; k < m; k++)
        sum -= t->J[(size_t)k * (size_t)n + (size_t)i] * t->Jbar[(size_t)j * (size_t)m + (size_t)k];
      out->N[(size_t)i * (size_t)n + (size_t)j] = sum;
    }
}

psdm_status psdm_cartesian_at(const psdm_robot *robot, psdm_work *work, psdm_linear *linear, const double *q,
                              const double *qd, int m, const double *J, const double *J_rate, double damping,
                              double *scratch, psdm_cartesian *out) {
  task t = {.n = psdm_robot_n(robot), .m = m, .J = J, .J_rate = J_rate};
  if (m < 1 || m > t.n || !(damping >= 0) || !isfinite(damping)) return PSDM_E_ARGUMENT;
  lay_out(&t, scratch);
  /* c is quadratic in qd with symmetric Christoffel symbols: dc/dqd = 2 S */
  memset(t.column, 0, sizeof *t.column * (size_t)t.n);
  psdm_status status = psdm_linearize_inverse(robot, linear, q, qd, t.column, NULL, t.S, t.M);
  for (size_t k = 0; k < (size_t)t.n * (size_t)t.n && !status; k++) t.S[k] /= 2;
  if (!status) status = psdm_gravity(robot, work, q, t.g);
  if (status) return status;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  if (!task_inertia(&t)) return PSDM_E_SINGULAR;
  memcpy(t.Mp, t.A, sizeof *t.A * (size_t)m * (size_t)m);
  if (!psdmp_linalg_singular_values(m, t.Mp, t.eigen, t.lapack)) return PSDM_E_SINGULAR;
  out->smallest = t.eigen[m - 1]; /* A is symmetric and not negative: singular values are eigenvalues */
  out->largest = t.eigen[0];
  if (!(out->smallest + damping * damping > 1e-13 * out->largest) || !invert_task(&t, damping)) return PSDM_E_SINGULAR;
  product(t.n, m, m, t.B, false, t.Mp, t.Jbar);
  couple(&t);
  give(&t, qd, out);
  return PSDM_OK;
}
