/* plan_priv.h: shared by the planners. Private to the library. */
#ifndef PSDMP_PLAN_PRIV_H
#define PSDMP_PLAN_PRIV_H

#include "base/base.h"

/* A half plane a u + b x <= c. */
typedef struct psdmp_plan_line {
  double a, b, c;
} psdmp_plan_line;

/* Largest p u + r x over half planes, low <= x <= high, |u| <= 1e150 where nothing else bounds it (Seidel 1991, in the
 * order given). False: empty. Lines are scaled to length one internally; a point may violate one by 1e-12. */
bool psdmp_plan_plane_largest(int count, const psdmp_plan_line *line, double low, double high, double p, double r,
                              double *u, double *x);

#endif
