/* full.c: physically consistent standard parameters from base parameters.
 *
 *   minimise  sum over links of tr(P_k Q_k^-1) - log det P_k  +  sum over drives of x/x0 - log x     subject to  K
 *                                                                pi = theta,
 *
 * P_k the 4 x 4 pseudo-inertia of link k (Wensing, Kim, Slotine 2018), Q_k that of the prior. Strictly convex; Newton's
 * method from the prior, which need not satisfy the constraint (Boyd, Vandenberghe 2004, section 10.3). */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/model.h"

/* the pseudo-inertia [Sigma h; h' m], Sigma = tr(I)/2 - I; entry e of the ten parameters enters with these weights */
static void pseudo_inertia(const double pi[10], double P[16]) {
  double xx = pi[4], yy = pi[7], zz = pi[9], half = 0.5 * (xx + yy + zz);
  const double full[16] = {half - xx, -pi[5], -pi[6],    pi[1], -pi[5], half - yy, -pi[8], pi[2],
                           -pi[6],    -pi[8], half - zz, pi[3], pi[1],  pi[2],     pi[3],  pi[0]};
  memcpy(P, full, sizeof full);
}

/* inverse of a positive definite 4 x 4 matrix; false when it is not */
static bool invert4(const double P[16], double inverse[16]) {
  double L[16];
  memcpy(L, P, sizeof L);
  if (!psdmp_linalg_cholesky(4, L)) return false;
  for (int c = 0; c < 4; c++) {
    double x[4] = {0};
    x[c] = 1;
    psdmp_linalg_cholesky_solve(4, L, x);
    for (int i = 0; i < 4; i++) inverse[4 * i + c] = x[i];
  }
  return true;
}

static double trace_product(const double A[16], const double B[16]) {
  double sum = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) sum += A[4 * i + j] * B[4 * j + i];
  return sum;
}

static void product4(const double A[16], const double B[16], double C[16]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      C[4 * i + j] = 0;
      for (int k = 0; k < 4; k++) C[4 * i + j] += A[4 * i + k] * B[4 * k + j];
    }
}

typedef struct problem {
  const psdm_model *m;
  int S, l, links, size; /* size: S + l */
  const double *theta, *prior;
  double *prior_inverse; /* (links x 16) */
  double *K;             /* (l x S) */
  double *x, *nu, *step; /* (S), (l), (size) */
  double *H;             /* (links x 100, then drives) Hessian blocks, then their Cholesky factors */
  double *HK;            /* (l x S) rows of H^-1 K' */
  double *schur;         /* (l x l) K H^-1 K' */
  double *r, *trial;     /* (size) */
} problem;

/* gradient of the objective at x; false outside the cone. H gets the Hessian's blocks when it is not NULL. */
static bool derivatives(const problem *p, const double *x, double *gradient, double *H) {
  for (int k = 0; k < p->links; k++) {
    double P[16], Pi[16], E[16], PE[10][16];
    pseudo_inertia(x + 10 * k, P);
    if (!invert4(P, Pi)) return false;
    for (int e = 0; e < 10; e++) {
      double unit[10] = {0};
      unit[e] = 1;
      pseudo_inertia(unit, E);
      product4(Pi, E, PE[e]);
      gradient[10 * k + e] = trace_product(p->prior_inverse + 16 * k, E) - trace_product(Pi, E);
    }
    for (int e = 0; H && e < 10; e++)
      for (int f = 0; f < 10; f++) H[100 * k + 10 * e + f] = trace_product(PE[e], PE[f]);
  }
  for (int d = 10 * p->links; d < p->S; d++) {
    if (!(x[d] > 0)) return false;
    gradient[d] = 1 / p->prior[d] - 1 / x[d];
    if (H) H[90 * p->links + d] = 1 / (x[d] * x[d]); /* after the links' blocks */
  }
  return true;
}

/* v = H^-1 v, with the links' blocks factorised */
static void solve_blocks(const problem *p, double *v) {
  for (int k = 0; k < p->links; k++) psdmp_linalg_cholesky_solve(10, p->H + 100 * k, v + 10 * k);
  for (int d = 10 * p->links; d < p->S; d++) v[d] /= p->H[90 * p->links + d];
}

/* residual of the optimality conditions: gradient + K' nu, then K x - theta */
static bool residual(const problem *p, const double *x, const double *nu, double *H, double *r, double *norm) {
  if (!derivatives(p, x, r, H)) return false;
  for (int j = 0; j < p->l; j++)
    for (int i = 0; i < p->S; i++) r[i] += p->K[(long)j * p->S + i] * nu[j];
  *norm = 0;
  for (int j = 0; j < p->l; j++) {
    r[p->S + j] = -p->theta[j];
    for (int i = 0; i < p->S; i++) r[p->S + j] += p->K[(long)j * p->S + i] * x[i];
  }
  for (int i = 0; i < p->size; i++) *norm += r[i] * r[i];
  *norm = sqrt(*norm);
  return isfinite(*norm);
}

/* dx and dnu: (K H^-1 K') dnu = (K x - theta) - K H^-1 r, dx = -H^-1 (r + K' dnu), r the first part of the residual */
static bool newton_direction(problem *p) {
  double *dx = p->step, *dnu = p->step + p->S;
  for (int k = 0; k < p->links; k++)
    if (!psdmp_linalg_cholesky(10, p->H + 100 * k)) return false;
  memcpy(dx, p->r, sizeof *dx * (size_t)p->S);
  solve_blocks(p, dx);
  for (int j = 0; j < p->l; j++) {
    const double *K = p->K + (long)j * p->S;
    memcpy(p->HK + (long)j * p->S, K, sizeof *K * (size_t)p->S);
    solve_blocks(p, p->HK + (long)j * p->S);
    dnu[j] = p->r[p->S + j];
    for (int i = 0; i < p->S; i++) dnu[j] -= K[i] * dx[i];
  }
  for (int j = 0; j < p->l; j++)
    for (int k = 0; k < p->l; k++) {
      double sum = 0;
      for (int i = 0; i < p->S; i++) sum += p->K[(long)j * p->S + i] * p->HK[(long)k * p->S + i];
      p->schur[(long)j * p->l + k] = sum;
    }
  if (!psdmp_linalg_cholesky(p->l, p->schur)) return false;
  psdmp_linalg_cholesky_solve(p->l, p->schur, dnu);
  for (int i = 0; i < p->S; i++) {
    dx[i] = -dx[i];
    for (int j = 0; j < p->l; j++) dx[i] -= p->HK[(long)j * p->S + i] * dnu[j];
  }
  return true;
}

/* one Newton step with backtracking on the residual; false when no progress is possible */
static bool newton(problem *p, double *norm) {
  if (!residual(p, p->x, p->nu, p->H, p->r, norm) || !newton_direction(p)) return false;
  for (double t = 1; t > 1e-10; t *= 0.5) {
    double after;
    for (int i = 0; i < p->size; i++) p->trial[i] = (i < p->S ? p->x[i] : p->nu[i - p->S]) + t * p->step[i];
    if (!residual(p, p->trial, p->trial + p->S, NULL, p->r, &after) || after > (1 - 0.1 * t) * *norm) continue;
    memcpy(p->x, p->trial, sizeof *p->x * (size_t)p->S);
    memcpy(p->nu, p->trial + p->S, sizeof *p->nu * (size_t)p->l);
    *norm = after;
    return true;
  }
  return false;
}

static bool set_up(problem *p, psdmp_base_arena *arena) {
  const psdm_model *m = p->m;
  p->K = PSDMP_BASE_NEW(arena, p->l * p->S, double);
  p->prior_inverse = PSDMP_BASE_NEW(arena, 16 * p->links, double);
  p->x = PSDMP_BASE_NEW(arena, p->S, double);
  p->nu = PSDMP_BASE_NEW(arena, p->l, double);
  p->step = PSDMP_BASE_NEW(arena, p->size, double);
  p->r = PSDMP_BASE_NEW(arena, p->size, double);
  p->trial = PSDMP_BASE_NEW(arena, p->size, double);
  p->H = PSDMP_BASE_NEW(arena, 90 * p->links + p->S, double);
  p->HK = PSDMP_BASE_NEW(arena, p->l * p->S, double);
  p->schur = PSDMP_BASE_NEW(arena, p->l * p->l, double);
  if (!p->K || !p->prior_inverse || !p->x || !p->nu || !p->step || !p->r || !p->trial || !p->H || !p->HK || !p->schur)
    return false;
  for (int j = 0; j < m->l; j++)
    for (int t = 0; t < m->base[j].terms; t++)
      p->K[(long)j * p->S + m->base[j].term[t].parameter] = m->base[j].term[t].coefficient;
  memcpy(p->x, p->prior, sizeof *p->x * (size_t)p->S);
  return true;
}

static bool consistent(problem *p) {
  for (int k = 0; k < p->links; k++) {
    double P[16];
    pseudo_inertia(p->prior + 10 * k, P);
    if (!invert4(P, p->prior_inverse + 16 * k)) return false;
  }
  for (int d = 10 * p->links; d < p->S; d++)
    if (!(p->prior[d] > 0)) return false;
  return true;
}

psdm_status psdm_model_full(const psdm_model *m, const double *theta, const double *prior,
                            const psdm_allocator *allocator, double *pi, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  problem p = {.m = m,
               .S = m->standard,
               .l = m->l,
               .links = m->links,
               .size = m->standard + m->l,
               .theta = theta,
               .prior = prior};
  psdm_status status = PSDM_OK;
  double norm = INFINITY, scale = 1;
  if (!set_up(&p, &arena)) status = psdmp_base_no_memory("", error);
  else if (!consistent(&p))
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the prior itself is not physically consistent");
  for (int j = 0; j < m->l; j++) scale = fmax(scale, fabs(theta[j]));
  /* quadratic near the end; a far prior takes some hundred damped steps, and without a solution the residual stops
   * shrinking */
  double landmark = INFINITY;
  for (int i = 0; i < 3000 && !status && norm > 1e-13 * scale; i++) {
    if (!newton(&p, &norm)) break;
    if (i % 100 == 99) {
      if (norm > 0.99 * landmark) break;
      landmark = norm;
    }
  }
  double gap = 0;
  for (int j = 0; !status && j < m->l; j++) {
    double sum = -theta[j];
    for (int i = 0; i < p.S; i++) sum += p.K[(long)j * p.S + i] * p.x[i];
    gap = fmax(gap, fabs(sum));
  }
  if (!status && gap > 1e-9 * scale)
    status = psdmp_base_fail(error, PSDM_E_SINGULAR, NULL, 0, 0,
                             "no physically consistent parameters have these base parameters (they miss by %.2g)", gap);
  if (!status) memcpy(pi, p.x, sizeof *pi * (size_t)p.S);
  psdmp_base_arena_free(&arena);
  return status;
}
