/* terms.c: the parts that the equation of motion is made of, and what small motions change it by. */
#include <string.h>

#include "eval/eval_priv.h"
#include "robot/robot.h"

/* dp/dt = tau + C^T qd - g */
static psdm_status momentum_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                 const double *tau, double *out) {
  double g[PSDM_MAX_JOINTS];
  psdm_status status = psdm_momentum(r, work, q, qd, NULL, out);
  if (!status) status = psdm_gravity(r, work, q, g);
  for (int i = 0; i < r->n && !status; i++) out[i] += tau[i] - g[i];
  return status;
}

/* L, L^-1 and D as a matrix */
static psdm_status innovations(const psdm_robot *r, psdm_linear *linear, const double *q, double *out) {
  long n = r->n;
  double D[PSDM_MAX_JOINTS];
  psdm_status status = psdm_innovations(r, linear, q, out, out + n * n, D);
  if (status) return status;
  memset(out + 2 * n * n, 0, sizeof *out * (size_t)(n * n));
  for (long i = 0; i < n; i++) out[2 * n * n + i * n + i] = D[i];
  return PSDM_OK;
}

/* in: q qd tau dq dqd dtau */
static psdm_status forward_along(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *in,
                                 double *out) {
  int n = r->n;
  double qdd[PSDM_MAX_JOINTS];
  psdm_status status = psdm_forward(r, work, in, in + n, in + 2 * n, qdd);
  if (status) return status;
  return (o->dense ? psdm_linear_forward_along_dense : psdm_linear_forward_along)(
      r, o->linear, in, in + n, qdd, in + 3 * n, in + 4 * n, in + 5 * n, out);
}

psdm_status psdmp_eval_terms(const psdm_robot *r, psdm_work *work, psdm_function f, const psdm_eval_options *o,
                             const double *in, double *out) {
  size_t n = (size_t)r->n;
  const double *q = in, *qd = in + n, *third = in + 2 * n;
  const psdm_direction first = {in + 3 * n, in + 4 * n, in + 5 * n}, second = {in + 6 * n, in + 7 * n, in + 8 * n};
  if (psdm_eval_linearizes(f) && !o->linear) return PSDM_E_ARGUMENT;
  switch (f) {
    case PSDM_F_CORIOLIS: return psdm_coriolis(r, o->linear, q, qd, out, NULL);
    case PSDM_F_MASS_RATE: return psdm_coriolis(r, o->linear, q, qd, NULL, out);
    case PSDM_F_MOMENTUM: return psdm_momentum(r, work, q, qd, out, out + n);
    case PSDM_F_MOMENTUM_RATE: return momentum_rate(r, work, q, qd, third, out);
    case PSDM_F_INNOVATIONS: return innovations(r, o->linear, q, out);
    case PSDM_F_INVERSE_ALONG:
      return psdm_linear_inverse_along(r, o->linear, q, qd, third, first.dq, first.dqd, first.dqdd, out);
    case PSDM_F_FORWARD_ALONG: return forward_along(r, work, o, in, out);
    case PSDM_F_INVERSE_SECOND: return psdm_linear_inverse_second(r, o->linear, q, qd, third, &first, &second, out);
    case PSDM_F_LINEARIZE_SECOND:
      return psdm_linearize_inverse_second(r, o->linear, q, qd, third, &first, out, out + n * n, out + 2 * n * n);
    default: return PSDM_E_ARGUMENT;
  }
}

psdm_status psdmp_eval_solve_columns(const psdm_robot *r, psdm_work *work, const double *q, int columns,
                                     double *scratch, double *Y) {
  int n = r->n;
  double *Minv = scratch, *column = Minv + (long)n * n;
  psdm_status status = psdm_inverse_mass(r, work, q, Minv);
  for (int c = 0; c < columns && !status; c++) {
    for (int i = 0; i < n; i++) column[i] = Y[(long)i * columns + c];
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += Minv[(long)i * n + k] * column[k];
      Y[(long)i * columns + c] = -sum;
    }
  }
  return status;
}
