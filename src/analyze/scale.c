/* scale.c: uniform time scaling of a trajectory from stored torques. */
#include "psdm/scale.h"

#include <math.h>

#include "base/base.h"

static const char *const names[] = {PSDM_SCALE_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_scale_name(psdm_scale_by by) { return psdmp_base_word(names, PSDM_SCALE_KINDS, (int)by); }

static double at(const double *x, long index) { return x ? x[index] : 0; }

/* torque of one joint in one row as a polynomial in u = 1/k: still + linear u + square u^2 */
typedef struct torque {
  double still, linear, square;
} torque;

static torque torque_at(const psdm_scale_rows *r, long index) {
  torque t = {.still = r->gravity[index] + at(r->dry, index), .linear = at(r->viscous, index)};
  t.square = r->tau[index] - t.still - t.linear;
  return t;
}

void psdm_scale_torque(const psdm_scale_rows *r, double k, double *scaled) {
  for (long x = 0; x < r->rows * r->n; x++) {
    torque t = torque_at(r, x);
    scaled[x] = t.square / (k * k) + t.linear / k + t.still;
  }
}

/* the largest u up to which still + linear u + square u^2 <= limit for all smaller u too, given that it holds at u =
 * 0 */
static double first_crossing(double still, double linear, double square, double limit) {
  double c = limit - still;
  if (square == 0) return linear > 0 ? c / linear : INFINITY;
  double d = linear * linear + 4 * square * c;
  if (square > 0) {
    /* the positive root, without cancellation */
    double s = sqrt(d);
    return linear > 0 ? 2 * c / (linear + s) : (s - linear) / (2 * square);
  }
  /* a hill: it touches the limit on its way up, or never */
  if (linear <= 0 || d < 0) return INFINITY;
  return 2 * c / (linear + sqrt(d));
}

typedef struct search {
  double u;
  psdm_scale_info info;
} search;

static void bound(search *s, double u, psdm_scale_by by, int joint, long row) {
  if (!(u < s->u)) return;
  *s = (search){u, {by, joint, row}};
}

static bool bound_torque(search *s, torque t, double effort, int joint, long row) {
  if (!(fabs(t.still) <= effort)) {
    s->info = (psdm_scale_info){PSDM_SCALE_EFFORT, joint, row};
    return false;
  }
  bound(s, first_crossing(t.still, t.linear, t.square, effort), PSDM_SCALE_EFFORT, joint, row);
  bound(s, first_crossing(-t.still, -t.linear, -t.square, effort), PSDM_SCALE_EFFORT, joint, row);
  return true;
}

static double limit_of(const double *limits, int joint) { return limits ? limits[joint] : INFINITY; }

psdm_status psdm_scale_least(const psdm_scale_rows *r, const psdm_scale_limits *limits, double *k,
                             psdm_scale_info *info) {
  search s = {.u = INFINITY, .info = {PSDM_SCALE_NOTHING, -1, -1}};
  bool possible = true;
  for (long row = 0; row < r->rows && possible; row++)
    for (int j = 0; j < r->n && possible; j++) {
      long x = row * r->n + j;
      double speed = fabs(at(r->qd, x)), change = fabs(at(r->qdd, x)), effort = limit_of(limits->effort, j);
      if (speed > 0) bound(&s, limit_of(limits->velocity, j) / speed, PSDM_SCALE_VELOCITY, j, row);
      if (change > 0) bound(&s, sqrt(limit_of(limits->acceleration, j) / change), PSDM_SCALE_ACCELERATION, j, row);
      if (isfinite(effort)) possible = bound_torque(&s, torque_at(r, x), effort, j, row);
    }
  if (info) *info = s.info;
  *k = possible ? (s.u > 0 ? 1 / s.u : INFINITY) : NAN;
  return possible && s.u > 0 ? PSDM_OK : PSDM_E_ARGUMENT;
}
