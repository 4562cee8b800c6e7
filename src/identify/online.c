/* online.c: recursive least squares as a square-root information filter.
 *
 * d = theta - theta_0 minimises |R d - z|^2 + cost, R upper triangular (parameters x parameters). Forgetting scales R
 * and z by sqrt(lambda) and the cost by lambda; an equation y d = r is rotated into R row by row (Golub, Van Loan,
 * Matrix Computations, 5.1 and 12.5), and the remainder of r is added to the cost. R^T R, the inverse covariance, is
 * never formed. */
#include "psdm/online.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 10000 }; /* parameters */

static const double LARGEST = 1e70; /* numbers in units of sigma or sd; squares of their products stay finite */

struct psdm_online {
  int parameters;
  double forgetting, left; /* lambda; lambda^K, the remaining weight of the initial values */
  double cost, weight;     /* sums over the equations: squared residuals, and one, each with lambda^(K-k) */
  double *R;               /* (parameters x parameters) upper triangle */
  double *z;               /* (parameters) */
  double *start, *sd;      /* (parameters) theta_0 and its standard deviations */
  double *row;             /* (parameters) scratch */
};

/* ---- memory ---- */

size_t psdm_online_bytes(int parameters) {
  size_t p = (size_t)parameters;
  return parameters < 1 || parameters > MOST ? 0 : sizeof(psdm_online) + sizeof(double) * p * (p + 4);
}

/* doubles follow the struct, whose size is a multiple of theirs */
static psdm_online *lay_out(void *memory, int parameters) {
  psdm_online *o = memory;
  size_t p = (size_t)parameters;
  o->R = (double *)(o + 1);
  o->z = o->R + p * p, o->start = o->z + p, o->sd = o->start + p, o->row = o->sd + p;
  o->parameters = parameters;
  return o;
}

psdm_status psdm_online_init(void *memory, size_t bytes, int parameters, const double *theta, const double *sd,
                             double forgetting, psdm_online **online) {
  size_t needed = psdm_online_bytes(parameters), p = (size_t)parameters;
  if (!needed || bytes < needed || !(forgetting > 0 && forgetting <= 1)) return PSDM_E_ARGUMENT;
  for (size_t j = 0; j < p; j++)
    if (!(fabs(theta[j]) <= LARGEST) || !(sd[j] >= 1 / LARGEST && sd[j] <= LARGEST)) return PSDM_E_ARGUMENT;
  memset(memory, 0, needed);
  psdm_online *o = lay_out(memory, parameters);
  o->forgetting = forgetting, o->left = 1;
  memcpy(o->start, theta, sizeof *theta * p), memcpy(o->sd, sd, sizeof *sd * p);
  for (size_t j = 0; j < p; j++) o->R[j * p + j] = 1 / sd[j];
  *online = o;
  return PSDM_OK;
}

/* ---- adding equations ---- */

static bool left_out(double sigma) { return sigma == 0 || isinf(sigma); }

static bool fits(double x, double sigma) { return fabs(x) <= LARGEST * sigma && fabs(x) <= LARGEST; }

static bool acceptable(int p, int rows, const double *Y, const double *tau, const double *sigma) {
  for (int i = 0; i < rows; i++) {
    if (left_out(sigma[i])) continue;
    if (!(sigma[i] > 0) || !fits(tau[i], sigma[i])) return false;
    for (int j = 0; j < p; j++)
      if (!fits(Y[(long)i * p + j], sigma[i])) return false;
  }
  return true;
}

static void forget(psdm_online *o) {
  int p = o->parameters;
  double root = sqrt(o->forgetting);
  if (o->forgetting == 1) return;
  for (int i = 0; i < p; i++) {
    for (int j = i; j < p; j++) o->R[(long)i * p + j] *= root;
    o->z[i] *= root;
  }
  o->cost *= o->forgetting, o->weight *= o->forgetting, o->left *= o->forgetting;
}

/* Givens rotations turn the equation row d = rest into R, one column after the other; returns the remainder of rest */
static double rotate_in(psdm_online *o, double rest) {
  int p = o->parameters;
  double *y = o->row;
  for (int j = 0; j < p; j++) {
    double *R = o->R + (long)j * p, length = hypot(R[j], y[j]);
    if (y[j] == 0 || length == 0) continue;
    double cosine = R[j] / length, sine = y[j] / length, z = o->z[j];
    R[j] = length;
    for (int k = j + 1; k < p; k++) {
      double above = R[k];
      R[k] = cosine * above + sine * y[k];
      y[k] = cosine * y[k] - sine * above;
    }
    o->z[j] = cosine * z + sine * rest;
    rest = cosine * rest - sine * z;
  }
  return rest;
}

psdm_status psdm_online_add(psdm_online *o, int rows, const double *Y, const double *tau, const double *sigma) {
  int p = o->parameters;
  if (rows < 0 || !acceptable(p, rows, Y, tau, sigma)) return PSDM_E_ARGUMENT;
  forget(o);
  for (int i = 0; i < rows; i++, Y += p) {
    double rest = tau[i];
    if (left_out(sigma[i])) continue;
    for (int j = 0; j < p; j++) rest -= Y[j] * o->start[j], o->row[j] = Y[j] / sigma[i];
    rest = rotate_in(o, rest / sigma[i]);
    o->cost += rest * rest, o->weight += 1;
  }
  return PSDM_OK;
}

/* ---- results ---- */

/* Whether every diagonal entry is above rounding in its column: every equation adds rounding of eps times the column's
 * length to R, once per rotation. Columns keep their length under rotations. */
static bool regular(const psdm_online *o) {
  int p = o->parameters;
  double noise = 4 * p * DBL_EPSILON;
  for (int j = 0; j < p; j++) {
    double sum = 0, diagonal = o->R[(long)j * p + j];
    for (int i = 0; i <= j; i++) sum += o->R[(long)i * p + j] * o->R[(long)i * p + j];
    if (!(diagonal > 2 / LARGEST / LARGEST) || !(diagonal > noise * sqrt(sum))) return false;
  }
  return true;
}

/* R d = z */
static void solve(const psdm_online *o, double *d) {
  int p = o->parameters;
  for (int i = p - 1; i >= 0; i--) {
    const double *R = o->R + (long)i * p;
    d[i] = o->z[i];
    for (int k = i + 1; k < p; k++) d[i] -= R[k] * d[k];
    d[i] /= R[i];
  }
}

/* U = R^-1 in the upper triangle, column by column: sum over k of R_ik U_kj is the unit matrix */
static void invert(const psdm_online *o, double *U) {
  int p = o->parameters;
  for (int j = 0; j < p; j++)
    for (int i = j; i >= 0; i--) {
      const double *R = o->R + (long)i * p;
      double sum = i == j;
      for (int k = i + 1; k <= j; k++) sum -= R[k] * U[(long)k * p + j];
      U[(long)i * p + j] = sum / R[i];
    }
}

/* P = U U^T in place: P_ij needs U_ik and U_jk for k >= j >= i only, so row by row from the left nothing is
 * overwritten too early */
static void square(int p, double *U) {
  for (int i = 0; i < p; i++)
    for (int j = i; j < p; j++) {
      double sum = 0;
      for (int k = j; k < p; k++) sum += U[(long)i * p + k] * U[(long)j * p + k];
      U[(long)i * p + j] = sum;
    }
  for (int i = 0; i < p; i++)
    for (int j = 0; j < i; j++) U[(long)i * p + j] = U[(long)j * p + i];
}

psdm_status psdm_online_theta(const psdm_online *o, double *theta, double *covariance) {
  if (!regular(o)) return PSDM_E_LIMIT;
  solve(o, theta);
  for (int j = 0; j < o->parameters; j++) theta[j] += o->start[j];
  if (covariance) invert(o, covariance), square(o->parameters, covariance);
  return PSDM_OK;
}

/* the cost includes the initial values' part, lambda^K |d / sd|^2; if d is undetermined by now, that part is forgotten
 * too */
double psdm_online_misfit(const psdm_online *o) {
  double beginning = 0, *d = o->row;
  if (!(o->weight > 0)) return 0;
  if (regular(o)) {
    solve(o, d);
    for (int j = 0; j < o->parameters; j++) beginning += d[j] / o->sd[j] * (d[j] / o->sd[j]);
  }
  return fmax(o->cost - o->left * beginning, 0) / o->weight;
}
