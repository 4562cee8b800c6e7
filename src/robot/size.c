/* size.c: how large a robot is. */
#include <math.h>

#include "robot/robot.h"

static double length(const double *a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

double psdmp_robot_reach(const psdm_robot *r) {
  double most = 0;
  for (int b = 0; b < r->bodies; b++) {
    const double *pi = r->body[b].pi;
    /* its centre of mass, if known */
    double way = pi[0] > 0 && isfinite(pi[0]) ? length(pi + 1) / pi[0] : 0;
    if (!isfinite(way)) way = 0;
    for (int k = b; r->body[k].parent >= 0; k = r->body[k].parent) way += length(r->body[k].joint.p);
    most = fmax(most, way);
  }
  return most;
}

double psdmp_robot_unit(const psdm_robot *r) {
  double reach = psdmp_robot_reach(r);
  int power;
  if (!(reach > 0) || (reach > 0.1 && reach < 100)) return 1;
  frexp(reach, &power);
  return ldexp(1, power / 2 * 2);
}
