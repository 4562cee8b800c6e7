/* lqr.c: u = u_d - K (x - x_d), x = (q; qd), u_d the inverse dynamics of the reference.
 *
 * For a constant reference, K minimises the integral of dx^T Q dx + du^T R du for the linear model there. Along a
 * moving reference the model depends on time, and K comes from the sum over steps of length h of h (dx^T Q dx + du^T R
 * du), backwards from its end (Kwakernaak, Sivan 1972, section 6.4):
 *
 *   K = (h R + B^T X B)^-1 B^T X A,   X <- h Q + (A - B K)^T X (A - B K) + K^T h R K
 *
 * with A, B sampled exactly from the model in the middle of the step, and X at the end that of the infinite horizon
 * with the model there. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "psdm/statespace.h"
#include "control/control_priv.h"

/* sets of gains: two minutes at 5 ms are 24000, and 200000 of KR6 are 115 MB */
enum { MOST_DEFAULT = 20000, MOST_GAINS = 200000 };

/* Work space of a design. N = 2n states, m inputs. */
typedef struct design {
  psdm_controller *c;
  psdmp_base_arena arena;
  psdm_linear *linear;
  int N, m;
  double *A, *all, *B;   /* (N x N), (N x n) with all joints' motors, (N x m) with existing ones */
  double *Ad, *Bd;       /* the same, sampled */
  double *Q, *R;         /* (N x N), (m x m) diagonal; times h where sampled */
  double *X;             /* (N x N) cost to go */
  double *XB, *S, *side; /* (N x m), (m x m), (m) */
  double *closed, *XC;   /* (N x N) A - B K, X (A - B K) */
  double *scratch;       /* of the system's functions */
} design;

static psdm_status design_start(design *d) {
  psdm_controller *c = d->c;
  size_t n = (size_t)c->n, N = (size_t)d->N, m = (size_t)d->m, bytes = psdm_linear_bytes(c->model);
  psdmp_base_arena *arena = &d->arena;
  void *memory = psdmp_base_arena_alloc(arena, bytes);
  d->A = PSDMP_BASE_NEW(arena, N * N, double), d->all = PSDMP_BASE_NEW(arena, N * n, double),
  d->B = PSDMP_BASE_NEW(arena, N * m, double);
  d->Ad = PSDMP_BASE_NEW(arena, N * N, double), d->Bd = PSDMP_BASE_NEW(arena, N * m, double);
  d->Q = PSDMP_BASE_NEW(arena, N * N, double), d->R = PSDMP_BASE_NEW(arena, m * m, double),
  d->X = PSDMP_BASE_NEW(arena, N * N, double);
  d->XB = PSDMP_BASE_NEW(arena, N * m, double), d->S = PSDMP_BASE_NEW(arena, m * m, double),
  d->side = PSDMP_BASE_NEW(arena, m, double);
  d->closed = PSDMP_BASE_NEW(arena, N * N, double), d->XC = PSDMP_BASE_NEW(arena, N * N, double);
  d->scratch = PSDMP_BASE_NEW(arena, psdm_system_scratch(d->N, d->m), double);
  bool ok = memory && d->A && d->all && d->B && d->Ad && d->Bd && d->Q && d->R && d->X && d->XB && d->S && d->side &&
            d->closed && d->XC && d->scratch;
  return ok ? psdm_linear_init(c->model, memory, bytes, &d->linear) : PSDM_E_MEMORY;
}

/* ---- weights ---- */

/* 1 / effort^2 where the joint has a limit, so that full torque costs 1 */
static void default_weights(const psdm_robot *r, double *R) {
  for (int k = 0; k < psdm_robot_joints(r); k++) {
    const psdm_joint *joint = psdm_robot_joint(r, k);
    double effort = joint->limits.effort;
    if (joint->q >= 0) R[joint->q] = effort > 0 && isfinite(effort) ? 1 / (effort * effort) : 0.01;
  }
}

/* diagonals of Q and R, times the length of a step */
static void set_weights(design *d, const psdm_control_options *o, double step) {
  const psdmp_control_regulator *g = &d->c->regulator;
  double *R = d->c->part;
  default_weights(d->c->model, R);
  if (o->R) memcpy(R, o->R, sizeof *R * (size_t)d->c->n);
  for (int i = 0; i < d->N; i++) d->Q[(long)i * (d->N + 1)] = step * (o->Q ? o->Q[i] : i < d->c->n ? 100 : 1);
  for (int k = 0; k < d->m; k++) d->R[(long)k * (d->m + 1)] = step * R[g->joint[k]];
}

/* ---- models ---- */

/* A, B of the linear model at the reference at time t */
static psdm_status model_at(design *d, double t) {
  psdm_controller *c = d->c;
  int n = c->n;
  psdm_control_reference(c, t, c->x);
  psdm_status status = psdm_state_space(c->model, d->linear, c->x, c->x + n, c->x + 2 * n, d->A, d->all);
  for (int i = 0; i < d->N && !status; i++)
    for (int k = 0; k < d->m; k++) d->B[(long)i * d->m + k] = d->all[(long)i * n + c->regulator.joint[k]];
  return status;
}

/* K and X of the infinite horizon with a model; step 0: continuous */
static psdm_status forever(design *d, const double *A, const double *B, double step, double *K, psdm_error *error) {
  psdm_lqr_info info;
  psdm_status status = psdm_system_lqr(d->N, d->m, A, B, step, d->Q, d->R, d->scratch, K, d->X, NULL, &info);
  if (status) return psdmp_control_fail(d->c, status, error);
  if (info.outcome == PSDM_LQR_OK) return PSDM_OK;
  status = info.outcome == PSDM_LQR_LACKING  ? PSDM_E_MISSING
           : info.outcome == PSDM_LQR_FAILED ? PSDM_E_LIMIT
                                             : PSDM_E_ARGUMENT;
  return psdmp_base_fail(error, status, NULL, 0, 0, "lqr: %s", psdm_lqr_text(info.outcome));
}

/* ---- the recursion ---- */

/* C (rows x columns) = A (rows x inner) B (inner x columns) */
static void product(int rows, int inner, int columns, const double *A, const double *B, double *C) {
  memset(C, 0, sizeof *C * (size_t)rows * (size_t)columns);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++)
      for (int j = 0; j < columns; j++) C[(long)i * columns + j] += A[(long)i * inner + k] * B[(long)k * columns + j];
}

/* C (rows x columns) += A^T B, A (inner x rows), B (inner x columns) */
static void add_transposed(int rows, int inner, int columns, const double *A, const double *B, double *C) {
  for (int k = 0; k < inner; k++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) C[(long)i * columns + j] += A[(long)k * rows + i] * B[(long)k * columns + j];
}

/* K = (R + B^T X B)^-1 B^T X A; false on overflow */
static bool step_gains(design *d, double *K) {
  int N = d->N, m = d->m;
  product(N, N, m, d->X, d->Bd, d->XB);
  memcpy(d->S, d->R, sizeof *d->S * (size_t)m * (size_t)m);
  add_transposed(m, N, m, d->Bd, d->XB, d->S);
  memset(K, 0, sizeof *K * (size_t)m * (size_t)N);
  add_transposed(m, N, N, d->XB, d->Ad, K);
  if (!psdmp_linalg_cholesky(m, d->S)) return false;
  for (int j = 0; j < N; j++) {
    for (int k = 0; k < m; k++) d->side[k] = K[(long)k * N + j];
    psdmp_linalg_cholesky_solve(m, d->S, d->side);
    for (int k = 0; k < m; k++) K[(long)k * N + j] = d->side[k];
  }
  return true;
}

/* X = Q + (A - B K)^T X (A - B K) + K^T R K: a sum of squares, so that rounding cannot make it negative */
static bool step_cost(design *d, const double *K) {
  int N = d->N, m = d->m;
  product(N, m, N, d->Bd, K, d->closed);
  for (long i = 0; i < (long)N * N; i++) d->closed[i] = d->Ad[i] - d->closed[i];
  product(N, N, N, d->X, d->closed, d->XC);
  memcpy(d->X, d->Q, sizeof *d->X * (size_t)N * (size_t)N);
  add_transposed(N, N, N, d->closed, d->XC, d->X);
  for (int k = 0; k < m; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        d->X[(long)i * N + j] += d->R[(long)k * (m + 1)] * K[(long)k * N + i] * K[(long)k * N + j];
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double mean = 0.5 * (d->X[(long)i * N + j] + d->X[(long)j * N + i]);
      d->X[(long)i * N + j] = d->X[(long)j * N + i] = mean;
      sum += mean;
    }
  return isfinite(sum);
}

static psdm_status backwards(design *d, psdm_error *error) {
  psdmp_control_regulator *g = &d->c->regulator;
  long size = (long)d->m * d->N;
  psdm_status status = model_at(d, g->begin + (double)(g->count - 1) * g->step);
  if (!status) status = psdm_system_discretise(d->N, d->m, d->A, d->B, g->step, d->scratch, d->Ad, d->Bd);
  if (status) return psdmp_control_fail(d->c, status, error);
  status = forever(d, d->Ad, d->Bd, g->step, g->K + (g->count - 1) * size, error);
  if (status) return status;
  for (long k = g->count - 2; k >= 0; k--) {
    status = model_at(d, g->begin + ((double)k + 0.5) * g->step);
    if (!status) status = psdm_system_discretise(d->N, d->m, d->A, d->B, g->step, d->scratch, d->Ad, d->Bd);
    if (status) return psdmp_control_fail(d->c, status, error);
    if (!step_gains(d, g->K + k * size) || !step_cost(d, g->K + k * size))
      return psdmp_base_fail(error, PSDM_E_LIMIT, NULL, 0, 0, "lqr along the reference: %s",
                             psdm_lqr_text(PSDM_LQR_FAILED));
  }
  return PSDM_OK;
}

/* ---- the design ---- */

/* whether the reference differs from its start at any of `count` times */
static bool moves(psdm_controller *c, double begin, double step, long count) {
  double *now = c->x, *first = c->part;
  psdm_control_reference(c, begin, now);
  memcpy(first, now, sizeof *first * (size_t)c->n);
  for (long k = 0; k < count; k++) {
    psdm_control_reference(c, begin + (double)k * step, now);
    for (int i = 0; i < c->n; i++)
      if (now[i] != first[i] || now[c->n + i] != 0 || now[2 * c->n + i] != 0) return true;
  }
  return false;
}

/* number and spacing of the sets of gains; one for a constant reference */
static psdm_status set_grid(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  psdmp_control_regulator *g = &c->regulator;
  double duration = psdmp_control_duration(c),
         step = o->horizon_step > 0 ? o->horizon_step : fmax(0.005, duration / (MOST_DEFAULT - 2));
  double steps = ceil(duration / step * (1 - 1e-12)); /* 2 s in steps of 0.1 s are 20, with or without rounding */
  g->begin = psdmp_control_begin(c);
  g->count = 1;
  g->step = 1;
  if (!(duration > 0)) return PSDM_OK;
  if (!(steps < MOST_GAINS))
    return psdmp_base_fail(error, PSDM_E_LIMIT, NULL, 0, 0, "lqr: %.0f sets of gains; at most %d are accepted",
                           steps + 1, MOST_GAINS);
  if (!moves(c, g->begin, duration / steps, (long)steps + 1)) return PSDM_OK;
  g->count = (long)steps + 1;
  g->step = duration / steps;
  return PSDM_OK;
}

static psdm_status place(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  psdmp_control_regulator *g = &c->regulator;
  g->joint = PSDMP_BASE_NEW(&c->arena, c->n, int);
  g->deviation = PSDMP_BASE_NEW(&c->arena, 2 * c->n, double);
  if (!g->joint || !g->deviation) return psdmp_control_fail(c, PSDM_E_MEMORY, error);
  for (int i = 0; i < c->n; i++)
    if (!o->inputs || o->inputs[i]) g->joint[g->inputs++] = i;
  if (!g->inputs) return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "lqr: no joint has a motor");
  double bytes = 2.0 * sizeof *g->K * (double)g->count * g->inputs * c->n;
  char what[64];
  psdmp_base_print(what, sizeof what, "lqr: keeping %ld sets of gains", g->count);
  psdm_status status = psdmp_base_memory_ask("", what, bytes, psdm_robot_memory(c->model), "", error);
  if (status) return status;
  g->K = PSDMP_BASE_NEW(&c->arena, (size_t)g->count * (size_t)g->inputs * 2 * (size_t)c->n, double);
  return g->K ? PSDM_OK : psdmp_control_fail(c, PSDM_E_MEMORY, error);
}

psdm_status psdmp_control_regulator_design(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  psdmp_control_regulator *g = &c->regulator;
  psdm_status status = set_grid(c, o, error);
  if (!status) status = place(c, o, error);
  if (status) return status;
  design d = {.c = c, .arena = {.allocator = c->arena.allocator}, .N = 2 * c->n, .m = g->inputs};
  status = design_start(&d);
  if (status) {
    psdmp_control_fail(c, status, error);
  } else if (g->count == 1) {
    set_weights(&d, o, 1);
    status = model_at(&d, g->begin);
    status = status ? psdmp_control_fail(c, status, error) : forever(&d, d.A, d.B, 0, g->K, error);
  } else {
    set_weights(&d, o, g->step);
    status = backwards(&d, error);
  }
  psdmp_base_arena_free(&d.arena);
  return status;
}

/* ---- the control law ---- */

/* joints without a motor get no torque, not even the reference's */
psdm_status psdmp_control_regulator_torque(psdm_controller *c, const psdm_control_input *in, const double *states,
                                           double *tau, double *rates) {
  (void)states, (void)rates;
  psdmp_control_regulator *g = &c->regulator;
  int n = c->n, N = 2 * n;
  psdm_status status = psdm_inverse(c->model, c->work, c->x, c->x + n, c->x + 2 * n, c->part);
  if (status) return status;
  memset(tau, 0, sizeof *tau * (size_t)n);
  for (int i = 0; i < n; i++) g->deviation[i] = in->q[i] - c->x[i], g->deviation[n + i] = in->qd[i] - c->x[n + i];
  /* gains are interpolated linearly in time, and constant beyond the ends */
  double at = fmin(fmax((in->t - g->begin) / g->step, 0), (double)(g->count - 1));
  long k = (long)at < g->count - 1 ? (long)at : g->count > 1 ? g->count - 2 : 0;
  double share = at - (double)k;
  const double *K = g->K + k * g->inputs * N, *next = g->count > 1 ? K + (long)g->inputs * N : K;
  for (int j = 0; j < g->inputs; j++) {
    double u = c->part[g->joint[j]];
    for (int i = 0; i < N; i++)
      u -= ((1 - share) * K[(long)j * N + i] + share * next[(long)j * N + i]) * g->deviation[i];
    tau[g->joint[j]] = u;
  }
  return PSDM_OK;
}
