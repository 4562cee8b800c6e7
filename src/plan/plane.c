/* plane.c: linear programs in two variables. */
#include <math.h>

#include "plan/plan_priv.h"

static const double far = 1e150;   /* u is practically unbounded there */
static const double slack = 1e-12; /* relative: a few roundings */

/* interval [from, to] of the parameter along point + parameter direction, where a line and all previous ones hold */
static bool cut(const psdmp_plan_line *l, double pu, double px, double du, double dx, double *from, double *to) {
  double slope = l->a * du + l->b * dx, left = l->c - l->a * pu - l->b * px, size = fabs(l->a * du) + fabs(l->b * dx);
  if (fabs(slope) <= 1e-14 * size || slope == 0)
    return left >= -slack * (fabs(l->c) + fabs(l->a * pu) + fabs(l->b * px));
  double at = left / slope;
  if (slope > 0) *to = fmin(*to, at);
  else *from = fmax(*from, at);
  return *from <= *to + slack * (fabs(*from) + fabs(*to));
}

static bool inside(const psdmp_plan_line *l, double u, double x) {
  return l->a * u + l->b * x <= l->c + slack * (fabs(l->a * u) + fabs(l->b * x) + fabs(l->c));
}

/* best point on the boundary of line k */
static bool along(int k, const psdmp_plan_line *line, double low, double high, double p, double r, double *u,
                  double *x) {
  const psdmp_plan_line *l = &line[k];
  double square = l->a * l->a + l->b * l->b, pu = l->a * l->c / square, px = l->b * l->c / square, du = -l->b,
         dx = l->a, from = -far, to = far;
  const psdmp_plan_line box[2] = {{0, 1, high}, {0, -1, -low}};
  bool any = true;
  for (int i = 0; i < 2 && any; i++) any = cut(&box[i], pu, px, du, dx, &from, &to);
  for (int i = 0; i < k && any; i++) any = cut(&line[i], pu, px, du, dx, &from, &to);
  if (!any) return false;
  double slope = p * du + r * dx, best = slope > 0 ? to : slope < 0 ? from : from > 0 ? from : to < 0 ? to : 0;
  *u = pu + best * du;
  *x = px + best * dx;
  return true;
}

bool psdmp_plan_plane_largest(int count, const psdmp_plan_line *line, double low, double high, double p, double r,
                              double *u, double *x) {
  if (!(low <= high)) return false;
  *u = p > 0 ? far : p < 0 ? -far : 0;
  *x = r > 0 ? high : low;
  for (int k = 0; k < count; k++) {
    const psdmp_plan_line *l = &line[k];
    if (l->a == 0 && l->b == 0) {
      if (l->c < 0) return false;
      continue;
    }
    if (inside(l, *u, *x)) continue;
    if (!along(k, line, low, high, p, r, u, x)) return false;
    *x = fmin(fmax(*x, low), high);
  }
  return true;
}
