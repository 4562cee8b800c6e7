/* snap_axes.c: optionally makes nearly parallel or perpendicular successive axes exact. A joint's frame turns about a
 * point of its axis, and everything that the joint carries moves with it as one body; inertias stay in the frames of
 * their links. */
#include <math.h>
#include <string.h>

#include "robot/spec_priv.h"

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double size(const double a[3]) { return sqrt(dot(a, a)); }

/* The axis of the moving joint before j, in the frame of the link that carries j; its index, -1: none. */
static int axis_before(const psdmp_robot_spec *spec, int j, double u[3], double origin[3]) {
  int a = spec->joint[j].parent;
  psdmp_robot_pose to = psdmp_robot_pose_identity(); /* joint frame of a -> link that carries j */
  for (int steps = 0; a >= 0; a = spec->joint[a].parent) {
    if (steps++ == spec->joints) return -1; /* a cycle, which the tree's builder reports */
    to = psdmp_robot_pose_product(&spec->joint[a].after, &to);
    if (spec->joint[a].type != PSDM_FIXED) break;
    to = psdmp_robot_pose_product(&spec->joint[a].before, &to);
  }
  psdmp_robot_pose back = psdmp_robot_pose_inverse(&to);
  for (int i = 0; i < 3; i++) u[i] = back.R[3 * i + 2];
  memcpy(origin, back.p, sizeof back.p);
  return a;
}

/* The direction to snap z to: +-u, or z without its part along u. Returns the angle between both, -1: none is near. */
static double aligned(const double u[3], const double z[3], double most, double to[3], bool *square) {
  double along = dot(u, z), across[3], sine, cosine = along;
  for (int i = 0; i < 3; i++) across[i] = z[i] - along * u[i];
  sine = size(across);
  double parallel = atan2(sine, fabs(cosine)), perpendicular = atan2(fabs(cosine), sine);
  *square = perpendicular <= most;
  if (!*square && parallel > most) return -1;
  for (int i = 0; i < 3; i++) to[i] = *square ? across[i] / sine : along < 0 ? -u[i] : u[i];
  return *square ? perpendicular : parallel;
}

/* R <- the smallest turn from z to `to`, times R */
static void turn(const double z[3], const double to[3], double R[9]) {
  double v[3] = {z[1] * to[2] - z[2] * to[1], z[2] * to[0] - z[0] * to[2], z[0] * to[1] - z[1] * to[0]},
         c = 1 + dot(z, to), turned[9];
  for (int k = 0; k < 3; k++) {
    double x[3] = {R[k], R[3 + k], R[6 + k]},
           w[3] = {v[1] * x[2] - v[2] * x[1], v[2] * x[0] - v[0] * x[2], v[0] * x[1] - v[1] * x[0]};
    double w2[3] = {v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]};
    for (int i = 0; i < 3; i++) turned[3 * i + k] = x[i] + w[i] + w2[i] / c;
  }
  memcpy(R, turned, sizeof turned);
  for (int i = 0; i < 3; i++) R[3 * i + 2] = to[i];
}

/* Distance of the joint's origin from the foot of the common normal, along its axis z; 0 where they agree up to
 * rounding. */
static double behind_foot(const double u[3], const double origin[3], const double z[3], const double p[3]) {
  double from[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]}, c = dot(u, z),
         behind = (dot(from, z) - c * dot(from, u)) / (1 - c * c);
  return fabs(behind) <= 1e-12 * size(from) ? 0 : behind;
}

/* A length along the axis turns with it. Returns their sum. */
static double turn_lengths(psdmp_robot_spec_joint *s, const double z[3], const double to[3]) {
  double sum = 0;
  for (int k = 0; k < s->lengths; k++) {
    double *direction = s->length[k].before, along = dot(direction, z);
    if (fabs(along) < 1 - 1e-12) continue;
    sum += along * s->length[k].value;
    for (int i = 0; i < 3; i++) direction[i] = along < 0 ? -to[i] : to[i];
  }
  return sum;
}

/* Returns the angle by which joint j's axis was turned, 0 if it stays. */
static double snap_joint(psdmp_robot_spec *spec, int j, double most) {
  psdmp_robot_spec_joint *s = &spec->joint[j];
  double u[3], origin[3], to[3], z[3] = {s->before.R[2], s->before.R[5], s->before.R[8]};
  bool square;
  int a = axis_before(spec, j, u, origin);
  double angle = a < 0 ? -1 : aligned(u, z, most, to, &square);
  if (angle <= 1e-15) return 0; /* exact up to rounding */
  /* axes that meet still do */
  bool crossing = square && s->type == PSDM_REVOLUTE && spec->joint[a].type == PSDM_REVOLUTE;
  double held = turn_lengths(s, z, to), behind = crossing ? behind_foot(u, origin, z, s->before.p) : held;
  for (int i = 0; i < 3; i++) s->before.p[i] += behind * (to[i] - z[i]);
  turn(z, to, s->before.R);
  return angle;
}

psdm_status psdmp_robot_spec_snap_axes(psdmp_robot_spec *spec, double most, psdmp_base_arena *arena,
                                       psdm_error *error) {
  if (most == 0) return PSDM_OK;
  if (!(most > 0 && most <= 0.1))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, spec->file, 0, 0,
                           "axes can be snapped within 0 to 0.1 rad, not %.6g", most);
  int changed = 0, worst = -1;
  double largest = 0;
  for (int j = 0; j < spec->joints; j++) {
    if (spec->joint[j].type == PSDM_FIXED) continue;
    double angle = snap_joint(spec, j, most);
    changed += angle > 1e-13;
    if (angle > 1e-13 && angle > largest) largest = angle, worst = j;
  }
  psdm_status status;
  if (!changed) {
    status = psdmp_robot_list_add(&spec->notes, arena,
                                  "no axis is within %.3g rad of parallel or perpendicular to the one before it, apart "
                                  "from those that already are",
                                  most);
  } else {
    char name[80];
    psdmp_base_quote(spec->joint[worst].name, strlen(spec->joint[worst].name), name, sizeof name);
    status = psdmp_robot_list_add(
        &spec->notes, arena, "%d %s made parallel or perpendicular to the one before, by at most %.3g rad (joint '%s')",
        changed, changed == 1 ? "axis was" : "axes were", largest, name);
  }
  return status ? psdmp_base_fail(error, status, spec->file, 0, 0, "out of memory") : PSDM_OK;
}
