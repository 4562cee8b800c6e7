/* cartesian.c: dynamics in task coordinates, with the factor S_p that keeps dM_p/dt - 2 S_p skew. */
#include "psdm/cartesian.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

#define WORD(name) #name,
static const char *const words[PSDM_DIRECTIONS] = {PSDM_DIRECTION_LIST(WORD)};
#undef WORD

bool psdm_directions_find(const char *list, unsigned *rows) {
  *rows = 0;
  while (*list) {
    size_t length = strcspn(list, ", ");
    int k = 0;
    while (k < PSDM_DIRECTIONS && (strlen(words[k]) != length || strncmp(words[k], list, length) != 0)) k++;
    if (k == PSDM_DIRECTIONS || *rows >> k & 1u) return false;
    *rows |= 1u << k;
    list += length;
    list += *list != '\0';
  }
  return *rows != 0;
}

int psdm_directions_count(unsigned rows) {
  int count = 0;
  for (int k = 0; k < PSDM_DIRECTIONS; k++) count += rows >> k & 1u;
  return count;
}

/* linear rows += angular rows x r: from the link's origin to a point at r */
static void move_rows(int n, const double *angular, const double r[3], double *linear) {
  for (int j = 0; j < n; j++) {
    double w[3] = {angular[j], angular[n + j], angular[2 * n + j]};
    linear[j] += w[1] * r[2] - w[2] * r[1];
    linear[n + j] += w[2] * r[0] - w[0] * r[2];
    linear[2 * n + j] += w[0] * r[1] - w[1] * r[0];
  }
}

/* from the link's origin to the point, base frame: r, and its rate w x r */
static psdm_status lever(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd, int joint,
                         const double point[3], const double *angular, double r[3], double rate[3]) {
  double pose[12], w[3] = {0};
  int n = psdm_robot_n(robot);
  psdm_status status = psdm_pose(robot, work, q, joint, pose);
  for (int i = 0; i < 3 && !status; i++)
    r[i] = pose[3 + 3 * i] * point[0] + pose[4 + 3 * i] * point[1] + pose[5 + 3 * i] * point[2];
  for (int k = 0; k < 3 * n && qd && !status; k++) w[k / n] += angular[k] * qd[k % n];
  rate[0] = w[1] * r[2] - w[2] * r[1];
  rate[1] = w[2] * r[0] - w[0] * r[2];
  rate[2] = w[0] * r[1] - w[1] * r[0];
  return status;
}

psdm_status psdm_task_point(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd, int joint,
                            const double point[3], unsigned rows, double *twelve, double *J, double *J_rate) {
  size_t n = (size_t)psdm_robot_n(robot), m = 0;
  double r[3], rate[3], *second = twelve + 6 * n;
  if (!(rows & PSDM_ALL_DIRECTIONS)) return PSDM_E_ARGUMENT;
  psdm_status status = psdm_jacobian(robot, work, q, joint, twelve);
  if (!status && J_rate) status = psdm_jacobian_rate(robot, work, q, qd, joint, second);
  if (!status && point) status = lever(robot, work, q, J_rate ? qd : NULL, joint, point, twelve + 3 * n, r, rate);
  if (status) return status;
  if (point && J_rate) {
    move_rows((int)n, second + 3 * n, r, second);
    move_rows((int)n, twelve + 3 * n, rate, second);
  }
  if (point) move_rows((int)n, twelve + 3 * n, r, twelve);
  for (size_t k = 0; k < PSDM_DIRECTIONS; k++) {
    if (!(rows >> k & 1u)) continue;
    memcpy(J + m * n, twelve + k * n, sizeof *J * n);
    if (J_rate) memcpy(J_rate + m * n, second + k * n, sizeof *J * n);
    m++;
  }
  return PSDM_OK;
}

psdm_status psdm_task_link(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd, int joint,
                           unsigned rows, double *twelve, double *J, double *J_rate) {
  return psdm_task_point(robot, work, q, qd, joint, NULL, rows, twelve, J, J_rate);
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

/* M, S where it is wanted, and g of the joints */
static psdm_status joint_terms(const psdm_robot *robot, psdm_work *work, psdm_linear *linear, const double *q,
                               const double *qd, bool couples, bool gravity, task *t) {
  psdm_status status = PSDM_OK;
  memset(t->column, 0, sizeof *t->column * (size_t)t->n);
  if (!couples) status = psdm_mass(robot, work, q, t->M);
  else status = psdm_linearize_inverse(robot, linear, q, qd, t->column, NULL, t->S, t->M);
  /* c is quadratic in qd with symmetric Christoffel symbols: dc/dqd = 2 S */
  for (size_t k = 0; k < (size_t)t->n * (size_t)t->n && !status && couples; k++) t->S[k] /= 2;
  return status || !gravity ? status : psdm_gravity(robot, work, q, t->g);
}

psdm_status psdm_cartesian_at(const psdm_robot *robot, psdm_work *work, psdm_linear *linear, const double *q,
                              const double *qd, int m, const double *J, const double *J_rate, double damping,
                              double *scratch, psdm_cartesian *out) {
  task t = {.n = psdm_robot_n(robot), .m = m, .J = J, .J_rate = J_rate};
  bool couples = out->S || out->S_null || out->c;
  if (m < 1 || m > t.n || !(damping >= 0) || !isfinite(damping)) return PSDM_E_ARGUMENT;
  if (couples && (!linear || !qd || !J_rate)) return PSDM_E_ARGUMENT;
  lay_out(&t, scratch);
  psdm_status status = joint_terms(robot, work, linear, q, qd, couples, out->g != NULL, &t);
  if (status) return status;
  if (psdmp_linalg_blas_room(NULL)) return PSDM_E_MEMORY;
  if (!task_inertia(&t)) return PSDM_E_SINGULAR;
  memcpy(t.Mp, t.A, sizeof *t.A * (size_t)m * (size_t)m);
  if (!psdmp_linalg_singular_values(m, t.Mp, t.eigen, t.lapack)) return PSDM_E_SINGULAR;
  out->smallest = t.eigen[m - 1]; /* A is symmetric and not negative: singular values are eigenvalues */
  out->largest = t.eigen[0];
  if (!(out->smallest + damping * damping > 1e-13 * out->largest) || !invert_task(&t, damping)) return PSDM_E_SINGULAR;
  product(t.n, m, m, t.B, false, t.Mp, t.Jbar);
  if (couples) couple(&t);
  give(&t, qd, out);
  return PSDM_OK;
}
