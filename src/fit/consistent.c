/* consistent.c: physically possible parameters of bodies, by a log-det barrier (Boyd, Vandenberghe 2004, section 11.3)
 * with an entropic pull to a prior (Lee, Wensing, Park 2020). The sum of squares has weight one half, so that lambda
 * and mu are in nats if sigma is correct. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "fit/fit_priv.h"
#include "linalg/linalg.h"

/* ---- step length: f is a parabola and logarithms of 1 + t rate ---- */

typedef struct ray {
  double slope, bend; /* f' and f'' of the parabola and the linear terms, at t = 0 */
  int rates;          /* 4 links + positives */
  int even;           /* the first ones have weight lambda + mu, the others mu */
  double weight, mu;
  double *rate;
} ray;

static double derivative(const ray *r, double t, double *second) {
  double first = r->slope + r->bend * t;
  *second = r->bend;
  for (int i = 0; i < r->rates; i++) {
    double part = r->rate[i] / (1 + t * r->rate[i]), weight = i < r->even ? r->weight : r->mu;
    first -= weight * part;
    *second += weight * part * part;
  }
  return first;
}

/* the least f on (0, end): Newton's method on f', which increases, kept inside a bracket */
static double search(const ray *r) {
  double end = INFINITY, low = 0, second;
  for (int i = 0; i < r->rates; i++)
    if (r->rate[i] < 0) end = fmin(end, -1 / r->rate[i]);
  double high = fmin(0.99 * end, 1e6), t = fmin(1, high); /* unbounded steps are limited */
  if (derivative(r, high, &second) <= 0) return high;
  for (int i = 0; i < 60 && high - low > 1e-3 * high; i++) {
    double first = derivative(r, t, &second), next = t - first / second;
    if (first > 0) high = t;
    else low = t;
    if (fabs(next - t) < 1e-3 * t && next > low && next < high) return next;
    t = next > low && next < high ? next : 0.5 * (low + high);
  }
  return t;
}

/* a link's Z from its coordinates */
static void symmetric(const double z[10], double Z[16]) {
  for (int a = 0; a < 10; a++) {
    int i = psdmp_fit_pair[a][0], j = psdmp_fit_pair[a][1];
    Z[4 * i + j] = Z[4 * j + i] = i == j ? z[a] : z[a] / 1.4142135623730950488;
  }
}

/* eigenvalues of a link's Z: rates of the logarithm of its pseudo-inertia */
static bool rates_of(const double *z, double rate[4]) {
  double A[16], work[64];
  symmetric(z, A);
  return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'N', 'U', 4, A, 4, rate, work, 64) == 0;
}

/* The step's length. At its start a Newton step has f' = -decrement and f'' = decrement: subtracting the logarithms'
 * part gives the parabola's, without a difference of large sums. rate: (4 links + positives) */
static bool measure(psdmp_fit_cone *c, double decrement, double *rate, double *length) {
  int links = c->rows->links;
  ray r = {.slope = -decrement,
           .bend = decrement,
           .even = 4 * links,
           .rates = 4 * links,
           .weight = c->lambda + c->mu,
           .mu = c->mu,
           .rate = rate};
  for (int k = 0; k < links; k++)
    if (!rates_of(c->step + c->own + 10 * k, rate + 4 * k)) return false;
  for (int i = 0; i < c->M; i++)
    if (c->sign[i] > 0) rate[r.rates++] = c->step[i] / c->x[i];
  for (int i = 0; i < r.rates; i++) {
    double weight = i < r.even ? r.weight : r.mu;
    r.slope += weight * rate[i];
    r.bend -= weight * rate[i] * rate[i];
  }
  r.bend = fmax(0, r.bend);
  *length = search(&r);
  return isfinite(*length);
}

/* L <- L C with C C^T = 1 + t Z: small eigenvalues keep their digits however large the others are. False when L L^T,
 * rounded, is not inside. */
static bool move_link(const double *from, const double *z, double t, double *L, double *pi) {
  double C[16], P[16] = {0};
  symmetric(z, C);
  for (int i = 0; i < 16; i++) C[i] = (i % 5 == 0) + t * C[i];
  if (!psdmp_linalg_cholesky(4, C)) return false;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      L[4 * i + j] = 0;
      for (int k = j; k <= i; k++) L[4 * i + j] += from[4 * i + k] * C[4 * k + j];
    }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j <= i; j++) {
      for (int k = 0; k <= j; k++) P[4 * i + j] += L[4 * i + k] * L[4 * j + k];
      P[4 * j + i] = P[4 * i + j];
    }
  psdmp_fit_pseudo_parameters(P, pi);
  return psdmp_fit_pseudo_positive(pi);
}

/* scalars stay inside because of the step's length */
static bool move(psdmp_fit_cone *c, double t, const double *x, const double *L) {
  bool inside = true;
  for (int i = 0; i < c->M; i++) c->x[i] = x[i] + t * c->step[i];
  for (int k = 0; k < c->rows->links && inside; k++)
    inside = move_link(L + 16 * k, c->step + c->own + 10 * k, t, c->L + 16 * k, c->x + c->own + 10 * k);
  return inside;
}

/* moves along the step, strictly inside; false when the step is below rounding. from: (M + 16 links) */
static bool advance(psdmp_fit_cone *c, double t, double *from) {
  size_t unknowns = (size_t)c->M, factors = 16 * (size_t)c->rows->links;
  double *L = from + c->M;
  memcpy(from, c->x, sizeof *from * unknowns);
  memcpy(L, c->L, sizeof *L * factors);
  for (int halving = 0; halving < 8; halving++, t *= 0.5)
    if (move(c, t, from, L)) return true;
  memcpy(c->x, from, sizeof *from * unknowns);
  memcpy(c->L, L, sizeof *L * factors);
  return false;
}

/* ---- the path ---- */

enum { MOST_STEPS = 600 }; /* 20 to 60 are usual; hundreds where the data contradict the cone by 10^9 nats */

/* at the distance from the wall where the barrier balances the data's curvature */
static void place_positives(psdmp_fit_cone *c) {
  for (int i = 0; i < c->M; i++) {
    double length = cblas_dnrm2(c->W, c->E + i, c->M + 1);
    if (c->sign[i] > 0 && !(c->x[i] > 0)) c->x[i] = sqrt(c->mu) / (length > 0 ? length : 1);
  }
}

/* Newton steps at one mu until the squared decrement, twice the remaining decrease of f, is below `enough` */
static bool centre(psdmp_fit_cone *c, double enough, double *spare, psdmp_fit *fit) {
  while (fit->steps < MOST_STEPS) {
    double length, decrement = psdmp_fit_cone_newton(c, true);
    if (!isfinite(decrement) || !measure(c, decrement, spare, &length)) return false;
    fit->steps++;
    fit->decrement = decrement;
    if (decrement <= enough) length = fmin(1, length);
    if (!advance(c, length, spare)) return true; /* the step is below rounding */
    if (c->options->watch) c->options->watch(c->options->watch_user, c->x + c->own, c->x, c->mu);
    if (decrement <= enough) return true;
  }
  return true;
}

/* Down to a hundredth of a nat for all together: a gap relative to the torques would stop too early. A pull weaker than
 * mu would let directions without data run far away and back, and a mu far below the data's gain from the first step
 * leaves the path at once, for hundreds of short steps: so the pull is never weaker than mu on the way, and mu starts
 * higher where the data pull hard. The end does not depend on it: f is strictly convex. */
static bool follow(psdmp_fit_cone *c, double *spare, psdmp_fit *fit) {
  int count = 4 * c->rows->links + c->positives;
  double first = psdmp_fit_cone_newton(c, false) / fmax(1, count);
  /* decrements below this come from the rows' twelfth digits */
  double torque = cblas_dnrm2(c->W, c->E + c->M, c->M + 1), rounding = 1e-22 * torque * torque;
  if (!isfinite(first)) return false;
  while (c->mu < first) c->mu /= 0.15;
  place_positives(c);
  for (;; c->mu *= 0.15) {
    bool last = c->mu * count < 0.01;
    c->lambda = last ? c->options->lambda : fmax(c->options->lambda, c->mu);
    /* on the way an accuracy of one mu suffices, but with ten the path is lost where the data contradict the cone; at
     * the end as accurate as the data's digits allow */
    if (!centre(c, fmax(rounding, last ? 1e-9 : c->mu), spare, fit)) return false;
    if (last || fit->steps >= MOST_STEPS) break;
  }
  fit->gap = c->mu * count;
  return true;
}

/* theta, phi, pi, cost and covariance at the cone's position; T is the factor there */
static void tell(const psdmp_fit_cone *c, double *spare, psdmp_fit *fit) {
  double *at = spare, *seen = psdmp_fit_piece(&at, c->W), *C = NULL;
  if (fit->covariance) {
    double *J = psdmp_fit_piece(&at, (long)c->W * c->M);
    C = psdmp_fit_piece(&at, (long)c->W * c->W);
    psdmp_fit_cone_root(c, J);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, c->W, c->W, c->M, 1, J, c->M, J, c->M, 0, C, c->W);
  }
  psdmp_fit_cone_seen(c, seen);
  if (fit->pi) memcpy(fit->pi, c->x + c->own, sizeof *fit->pi * (size_t)c->rows->standard);
  psdmp_fit_finish(c->rows, c->options->sigma, seen, C, c->W, at, fit);
}

psdm_status psdmp_fit_surrogate(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                                psdmp_fit *fit) {
  psdmp_fit_cone c;
  psdm_status status = psdmp_fit_cone_start(&c, rows, options, scratch);
  if (status) return status;
  /* one whole step from the prior, barriers off: the quadratic model's minimum */
  double decrement = psdmp_fit_cone_newton(&c, false);
  if (!isfinite(decrement)) return PSDM_E_ARGUMENT;
  psdmp_fit_cone_unfold(&c);
  for (int i = 0; i < c.M; i++) c.x[i] += c.step[i];
  fit->steps = 1, fit->gap = 0, fit->decrement = 0, fit->rank = c.W;
  tell(&c, c.scratch, fit);
  fit->feasible = psdmp_fit_cone_stand(&c, true);
  return PSDM_OK;
}

psdm_status psdmp_fit_consistent(const psdmp_fit_rows *rows, const psdmp_fit_options *options, double *scratch,
                                 psdmp_fit *fit) {
  psdmp_fit_cone c;
  psdm_status status = psdmp_fit_cone_start(&c, rows, options, scratch);
  if (status) return status;
  if (options->start) memcpy(c.x + c.own, options->start, sizeof *c.x * (size_t)rows->standard);
  c.mu = 10;
  if (!psdmp_fit_cone_stand(&c, false)) return PSDM_E_ARGUMENT;
  fit->steps = 0, fit->rank = c.W;
  double *spare = c.scratch; /* unused between Newton steps */
  if (!follow(&c, spare, fit)) return PSDM_E_ARGUMENT;
  fit->feasible = psdmp_fit_cone_stand(&c, true);
  if (fit->covariance && !isfinite(psdmp_fit_cone_newton(&c, true))) return PSDM_E_ARGUMENT;
  tell(&c, spare, fit);
  return PSDM_OK;
}
