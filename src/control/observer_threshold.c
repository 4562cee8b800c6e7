/* observer_threshold.c: how large r may be without a collision.
 *
 *   noise of torques     sigma^2 (1 - a) / (1 + a) (1 + 2 S),   S = sum over m >= 1 of a^m rho(m),   rho(m) = max(1
 *                                                               - m / c, 0)
 *   noise of velocities  A sum over i of M_ji^2 s_i^2,          A = 2 (1 - a)^2 / (1 + a) / h^2
 *                        of differences                         A = (1 - a)^2 (1 + (2 - a)^2 + (1 - a)^3 / (1 + a))
 *                                                               / (2 h^2)
 *   model uncertainty    unchanged: constant over the filter's memory
 *   dry friction         where it is unknown, its error is bounded; the bound passes through the same filter
 *
 * The first is the variance of a first-order filter's response to stationary noise (Box, Jenkins, Time Series Analysis,
 * ch. 3), the second sums the squares of its response to one disturbed sample; docs/observer.md derives them. The three
 * variances add up. The bound of friction is subtracted from |r|, and the rest is tested twice at every sample, each
 * time with half of the accepted false alarms: joint by joint, where the sum over joints and samples is a bound under
 * any dependence (Bonferroni), and as a sum of squares over the joints. */
#include <float.h>
#include <math.h>

#include "control/observer_priv.h"

static const double BANDWIDTH = 100, REST = 0.01, FALSE_ALARMS = 0.1, HOLD = 0.1;

/* ---- from the options ---- */

static bool within(int n, const double *x, double least) {
  for (int i = 0; x && i < n; i++)
    if (!(x[i] >= least && x[i] <= DBL_MAX)) return false;
  return true;
}

static bool not_negative(double x) { return x >= 0 && x <= DBL_MAX; }

bool psdmp_control_observer_acceptable(int n, const psdm_observer_options *s) {
  return s->rate > 0 && s->rate <= DBL_MAX && not_negative(s->bandwidth) && not_negative(s->rest) &&
         not_negative(s->false_alarms) && not_negative(s->hold) && (unsigned)s->friction < PSDM_FRICTION_KINDS &&
         within(n, s->gain, DBL_MIN) && within(n, s->sigma, DBL_MIN) && within(n, s->correlation, 1) &&
         within(n, s->velocity_noise, 0) && within(n, s->doubt, 0);
}

static double or_else(double x, double otherwise) { return x > 0 ? x : otherwise; }

static double square(double x) { return x * x; }

/* variance of r per variance of a torque correlated over c samples: S in closed form, which is 0 at c = 1 */
static double torque_gain(double blend, double c) {
  double a = 1 - blend, forgotten = -expm1(c * log1p(-blend)); /* 1 - a^c */
  double S = a / blend - a * forgotten / (c * square(blend));
  return blend / (1 + a) * (1 + 2 * fmax(S, 0));
}

/* variance of r per variance of p */
static double momentum_gain(double blend, double rate, bool differences) {
  double a = 1 - blend, h = 1 / rate;
  if (!differences) return 2 * square(blend / h) / (1 + a);
  return square(blend / h) * (1 + square(1 + blend) + blend * square(blend) / (1 + a)) / 2;
}

/* probability that a sum of n squares of normal numbers exceeds x (Abramowitz, Stegun, 26.4.4 and 26.4.5) */
static double beyond(int n, double x) {
  double y = x / 2, sum = n % 2 ? erfc(sqrt(y)) : 0,
         term = exp(-y) * (n % 2 ? 2 * sqrt(y / 3.14159265358979323846) : 1);
  for (double k = n % 2 ? 1.5 : 1; k <= n / 2.; k++) sum += term, term *= y / k;
  return sum;
}

/* the x where it has the accepted value; it falls from 1 */
static double quantile(int n, double accepted) {
  double low = 0, high = 1480; /* beyond it exp(-x / 2) underflows */
  for (int k = 0; k < 100; k++) {
    double middle = (low + high) / 2;
    *(beyond(n, middle) > accepted ? &low : &high) = middle;
  }
  return high;
}

void psdmp_control_observer_tune(psdm_observer *o, const psdm_observer_options *s) {
  /* of either test at one sample */
  const double looks = 3600 * s->rate, accepted = or_else(s->false_alarms, FALSE_ALARMS) / looks / 2;
  o->flagged = s->sigma != NULL, o->uncertain = s->velocity_noise != NULL;
  o->z = sqrt(quantile(1, accepted / o->n)), o->squares = quantile(o->n, accepted);
  o->hold = (long)fmin(ceil(or_else(s->hold, HOLD) * s->rate), 1e9);
  for (int j = 0; j < o->n; j++) {
    psdmp_control_observed_joint *x = &o->joint[j];
    double noise = s->velocity_noise ? s->velocity_noise[j] : 0;
    x->blend = -expm1(-(s->gain ? s->gain[j] : or_else(s->bandwidth, BANDWIDTH)) / s->rate);
    x->variance = (s->sigma ? square(s->sigma[j]) * torque_gain(x->blend, s->correlation ? s->correlation[j] : 1) : 0) +
                  (s->doubt ? square(s->doubt[j]) : 0);
    x->velocity = square(noise), x->amplify = momentum_gain(x->blend, s->rate, s->differences);
    x->rest = or_else(s->rest, REST) + 3 * noise;
    x->own = NAN;
  }
}

/* ---- after a step ---- */

void psdmp_control_observer_calm(psdm_observer *o) {
  o->left = 0, o->hit = -1, o->statistic = 0, o->spread = 1;
  for (int j = 0; j < o->n; j++) o->joint[j].allowance = 0, o->joint[j].sd = sqrt(o->joint[j].variance);
}

/* Near rest the true dry friction may have any value up to its maximum, in either direction, and the model predicted
 * one: the difference is bounded by both together. Near: too slow to distinguish from rest, or so slow that the next
 * sample may change direction. */
static double friction_error(const psdm_observer *o, int j, double v0, double v1) {
  const psdmp_control_observed_joint *x = &o->joint[j];
  double slowest = v0 * v1 > 0 ? fmin(fabs(v0), fabs(v1)) : 0;
  return slowest > x->rest + fabs(v1 - v0) ? 0 : psdm_friction_most(x->friction, o->kind) + fabs(o->dry[j]);
}

/* covariance of two joints' momenta from the velocities' noise */
static double shared(const psdm_observer *o, const double *M, int i, int j) {
  double sum = 0;
  for (int k = 0; k < o->n; k++) sum += M[(long)i * o->n + k] * o->joint[k].velocity * M[(long)j * o->n + k];
  return sum * sqrt(o->joint[i].amplify * o->joint[j].amplify);
}

/* Standard deviations with the velocities' noise, which joints share: a sum of squares spreads no more than one of
 * independent numbers whose variance is the largest eigenvalue of their correlations, and that is no larger than the
 * largest row sum (Gershgorin). */
static psdm_status add_velocities(psdm_observer *o, const double *q) {
  const double *M = o->scratch;
  psdm_status status = psdm_mass(o->robot, o->work, q, o->scratch);
  if (status) return status;
  for (int j = 0; j < o->n; j++) o->joint[j].sd = sqrt(o->joint[j].variance + shared(o, M, j, j));
  o->spread = 1;
  for (int i = 0; i < o->n; i++) {
    double row = 1;
    for (int j = 0; j < o->n; j++)
      if (j != i && o->joint[i].sd > 0 && o->joint[j].sd > 0)
        row += fabs(shared(o, M, i, j)) / (o->joint[i].sd * o->joint[j].sd);
    o->spread = fmax(o->spread, row);
  }
  return PSDM_OK;
}

static bool own_rule(const psdm_observer *o, int j) { return !isnan(o->joint[j].own); }

/* possible r without dry friction */
static double reach(const psdm_observer *o, int j) {
  if (own_rule(o, j)) return o->joint[j].own;
  return o->flagged ? o->z * o->joint[j].sd : INFINITY;
}

/* the largest ratio to the flag's level, joint by joint and all together; the most prominent joint */
static double look(const psdm_observer *o, int *joint) {
  double most = 0, sum = 0;
  bool together = o->flagged;
  for (int j = 0; j < o->n; j++) {
    double over = fmax(fabs(o->r[j]) - o->joint[j].allowance, 0), share = over > 0 ? over / reach(o, j) : 0;
    if (share > most) most = share, *joint = j;
    if (over > 0 && !own_rule(o, j)) sum += square(over / o->joint[j].sd);
    together = together && !own_rule(o, j);
  }
  return together ? fmax(most, sqrt(sum / (o->squares * o->spread))) : most;
}

psdm_status psdmp_control_observer_judge(psdm_observer *o, const psdmp_control_observed *now,
                                         const psdmp_control_observed *next) {
  int joint = -1;
  psdm_status status = o->uncertain ? add_velocities(o, next->q) : PSDM_OK;
  if (status) return status;
  for (int j = 0; j < o->n; j++) {
    psdmp_control_observed_joint *x = &o->joint[j];
    x->allowance += x->blend * (friction_error(o, j, now->qd[j], next->qd[j]) - x->allowance);
  }
  o->statistic = look(o, &joint);
  o->left -= o->left > 0;
  if (!(o->statistic > 1)) return PSDM_OK;
  if (o->left == 0) o->hit = joint;
  o->left = o->hold + 1; /* this sample counts too */
  return PSDM_OK;
}

/* ---- answers ---- */

void psdm_observer_thresholds(const psdm_observer *o, double *threshold) {
  for (int j = 0; j < o->n; j++) threshold[j] = o->joint[j].allowance + reach(o, j);
}

void psdm_observer_set_thresholds(psdm_observer *o, const double *threshold) {
  for (int j = 0; j < o->n; j++) o->joint[j].own = threshold ? threshold[j] : NAN;
}

bool psdm_observer_collision(const psdm_observer *o, int *joint) {
  if (joint) *joint = o->left > 0 ? o->hit : -1;
  return o->left > 0;
}

double psdm_observer_statistic(const psdm_observer *o) { return o->statistic; }

void psdm_observer_sd(const psdm_observer *o, double *sd) {
  for (int j = 0; j < o->n; j++) sd[j] = o->joint[j].sd;
}

void psdm_observer_doubt(int n, int base, const double *Y, const double *covariance, int stride, double *sd) {
  for (int i = 0; i < n; i++) {
    const double *y = Y + (long)i * base;
    double sum = 0;
    for (int k = 0; k < base; k++)
      for (int l = 0; l < base; l++) sum += y[k] * covariance[(long)k * stride + l] * y[l];
    sd[i] = sqrt(fmax(sum, 0)); /* rounding may make it negative */
  }
}
