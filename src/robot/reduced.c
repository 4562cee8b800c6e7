/* reduced.c: frames and inertias with fewer numbers and the same torques.
 *
 * A body's frame may be rotated about and moved along its joint's axis: it is chosen so that the step from a parent to
 * its first child is Rx(alpha), a translation with two components and Rz; other children need one more rotation about
 * the parent's z. Mass on the axis of a revolute joint can be moved to the parent without effect: m, mz and the second
 * moment zz of every revolute body become zero, and whole arms have no mass. */
#include <math.h>

#include "robot/robot.h"

/* x, y by -angle about z */
static void turn_back(double c, double s, double v[3]) {
  double x = v[0], y = v[1];
  v[0] = c * x + s * y;
  v[1] = c * y - s * x;
}

/* the rotation about z after which z has no x component: y is then -sin alpha */
static void find_turn(const double z[3], double *c, double *s) {
  double length = sqrt(z[0] * z[0] + z[1] * z[1]);
  bool parallel = length == 0;
  *c = parallel ? 1 : z[1] / length;
  *s = parallel ? 0 : -z[0] / length;
}

/* second moments of an inertia xx xy xz yy yz zz: tr/2 - J */
static void set_moments(const double pi[PSDMP_ROBOT_STANDARD], double c, double s, double slide,
                        psdmp_robot_reduced *k) {
  const double *J = pi + 4, half = (J[0] + J[3] + J[5]) / 2;
  double at[3] = {pi[1], pi[2], pi[3]}, x[3] = {half - J[0], -J[1], -J[2]}, y[3] = {-J[1], half - J[3], -J[4]},
         z[3] = {-J[2], -J[4], half - J[5]};
  turn_back(c, s, at);
  turn_back(c, s, x), turn_back(c, s, y), turn_back(c, s, z);
  double first[3] = {x[0], y[0], z[0]}, second[3] = {x[1], y[1], z[1]};
  turn_back(c, s, first), turn_back(c, s, second);
  k->mass = pi[0];
  k->c[0] = at[0], k->c[1] = at[1], k->c[2] = at[2] - pi[0] * slide;
  k->S[0] = first[0], k->S[1] = first[1], k->S[2] = z[0] - slide * at[0];
  k->S[3] = second[1], k->S[4] = z[1] - slide * at[1];
  k->S[5] = z[2] - slide * (at[2] + k->c[2]);
}

/* the inertia on the axis goes to the parent: the axis runs along z through p */
static void lump(psdmp_robot_reduced *k, const double z[3], const double p[3], psdmp_robot_reduced *parent) {
  double m = k->mass, mz = k->c[2], zz = k->S[5];
  k->mass = k->c[2] = k->S[5] = 0;
  if (!parent) return;
  parent->mass += m;
  for (int i = 0, e = 0; i < 3; i++) {
    parent->c[i] += m * p[i] + mz * z[i];
    for (int j = i; j < 3; j++, e++)
      parent->S[e] += m * p[i] * p[j] + mz * (p[i] * z[j] + z[i] * p[j]) + zz * z[i] * z[j];
  }
}

/* the step from the parent's frame, which was rotated by (c, s) and moved along its axis to origin; returns this one's
 * displacement */
static double set_step(const psdmp_robot_body *body, double c, double s, double slid, const double origin[3],
                       bool first, psdmp_robot_reduced *k) {
  enum { X, Y, Z };
  double p[3] = {body->joint.p[X] - origin[X], body->joint.p[Y] - origin[Y], body->joint.p[Z] - origin[Z] - slid};
  double x[3] = {body->joint.R[0], body->joint.R[3], body->joint.R[6]},
         y[3] = {body->joint.R[1], body->joint.R[4], body->joint.R[7]};
  double z[3] = {body->joint.R[2], body->joint.R[5], body->joint.R[8]};
  turn_back(c, s, p), turn_back(c, s, x), turn_back(c, s, y), turn_back(c, s, z);
  k->turned = !first;
  k->turn[0] = 1, k->turn[1] = 0;
  if (!first) {
    find_turn(z, &k->turn[0], &k->turn[1]);
    turn_back(k->turn[0], k->turn[1], p), turn_back(k->turn[0], k->turn[1], x);
    turn_back(k->turn[0], k->turn[1], y), turn_back(k->turn[0], k->turn[1], z);
  }
  k->cosine = z[Z], k->sine = -z[Y];
  k->angle = atan2(-y[X], x[X]);
  /* nearly parallel axes stay in a plane: sliding to their common normal could go far */
  k->flat = fabs(k->sine) < 0.1;
  double slide = k->flat ? -p[Z] / k->cosine : p[Y] / k->sine;
  k->along_x = p[X];
  k->along_other = k->flat ? p[Y] - slide * k->sine : p[Z] + slide * k->cosine;
  return slide;
}

void psdmp_robot_reduce(psdm_robot *r) {
  /* torques do not depend on where the base's origin is: at the first joint it is never far */
  static const double parents[3] = {0, 0, 0};
  const double *first = r->bodies ? r->body[0].joint.p : parents;
  for (int b = 0; b < r->bodies; b++) r->body[b].reduced = (psdmp_robot_reduced){.own = {1, 0}, .child = -1};
  for (int b = r->bodies - 1; b >= 0; b--)
    if (r->body[b].parent >= 0) r->body[r->body[b].parent].reduced.child = b;
  for (int b = 0; b < r->bodies; b++) {
    psdmp_robot_body *body = &r->body[b];
    psdmp_robot_reduced *k = &body->reduced;
    const psdmp_robot_reduced *parent = body->parent < 0 ? NULL : &r->body[body->parent].reduced;
    if (k->child >= 0) {
      const double *R = r->body[k->child].joint.R, z[3] = {R[2], R[5], R[8]};
      find_turn(z, &k->own[0], &k->own[1]);
    }
    k->slide = set_step(body, parent ? parent->own[0] : 1, parent ? parent->own[1] : 0, parent ? parent->slide : 0,
                        parent ? parents : first, parent && parent->child == b, k);
    k->angle += atan2(k->own[1], k->own[0]);
    set_moments(body->pi, k->own[0], k->own[1], k->slide, k);
  }
  for (int b = r->bodies - 1; b >= 0; b--) {
    psdmp_robot_reduced *k = &r->body[b].reduced;
    double z[3] = {0, -k->sine, k->cosine},
           p[3] = {k->along_x, k->flat ? k->along_other : 0, k->flat ? 0 : k->along_other};
    turn_back(k->turn[0], -k->turn[1], z), turn_back(k->turn[0], -k->turn[1], p);
    if (!r->body[b].prismatic) lump(k, z, p, r->body[b].parent < 0 ? NULL : &r->body[r->body[b].parent].reduced);
  }
}
