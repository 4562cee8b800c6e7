/* pose.c: poses, rotations that are exact at multiples of 15 degrees, and standard parameters in another frame. */
#include <math.h>
#include <string.h>

#include "robot/robot.h"

static const double STEP = 3.14159265358979323846 / 12; /* 15 degrees */

psdmp_robot_pose psdmp_robot_pose_identity(void) { return (psdmp_robot_pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}; }

psdmp_robot_pose psdmp_robot_pose_translation(double x, double y, double z) {
  psdmp_robot_pose t = psdmp_robot_pose_identity();
  t.p[0] = x;
  t.p[1] = y;
  t.p[2] = z;
  return t;
}

psdmp_robot_pose psdmp_robot_pose_product(const psdmp_robot_pose *a, const psdmp_robot_pose *b) {
  psdmp_robot_pose c;
  for (int i = 0; i < 3; i++) {
    const double *r = a->R + 3 * i;
    for (int j = 0; j < 3; j++) c.R[3 * i + j] = r[0] * b->R[j] + r[1] * b->R[3 + j] + r[2] * b->R[6 + j];
    c.p[i] = r[0] * b->p[0] + r[1] * b->p[1] + r[2] * b->p[2] + a->p[i];
  }
  return c;
}

psdmp_robot_pose psdmp_robot_pose_inverse(const psdmp_robot_pose *a) {
  psdmp_robot_pose c;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) c.R[3 * i + j] = a->R[3 * j + i];
    c.p[i] = -(a->R[i] * a->p[0] + a->R[3 + i] * a->p[1] + a->R[6 + i] * a->p[2]);
  }
  return c;
}

double psdmp_robot_nearest_15(double angle) { return round(angle / STEP) * STEP; }

/* sine of k steps of 15 degrees, k in 0..6, each the double nearest to the true value */
static double sine_of_step(int k) {
  static const double value[] = {
      0, 0.25881904510252074, 0.5, 0.70710678118654757, 0.86602540378443860, 0.96592582628906831, 1};
  return value[k];
}

static double exact_sine(long k) {
  k = ((k % 24) + 24) % 24;
  if (k > 12) return -exact_sine(24 - k);
  return sine_of_step((int)(k > 6 ? 12 - k : k));
}

psdmp_robot_pose psdmp_robot_pose_rotation(int axis, double angle) {
  double s, c, k = round(angle / STEP);
  if (fabs(k) < 1e6 && fabs(angle - k * STEP) <= 4e-16 * fabs(k * STEP) + 1e-300) {
    s = exact_sine((long)k);
    c = exact_sine((long)k + 6);
  } else {
    s = sin(angle);
    c = cos(angle);
  }
  psdmp_robot_pose r = psdmp_robot_pose_identity();
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  r.R[3 * u + u] = r.R[3 * v + v] = c;
  r.R[3 * v + u] = s;
  r.R[3 * u + v] = -s;
  return r;
}

psdmp_robot_pose psdmp_robot_pose_rpy(const double xyz[3], const double rpy[3]) {
  psdmp_robot_pose x = psdmp_robot_pose_rotation(0, rpy[0]), y = psdmp_robot_pose_rotation(1, rpy[1]),
                   z = psdmp_robot_pose_rotation(2, rpy[2]);
  psdmp_robot_pose t = psdmp_robot_pose_product(&y, &x);
  t = psdmp_robot_pose_product(&z, &t);
  memcpy(t.p, xyz, sizeof t.p);
  return t;
}

/* I' = R I R^T for the six entries XX XY XZ YY YZ ZZ */
static void rotate_inertia(const double R[9], const double in[6], double out[6]) {
  const double I[9] = {in[0], in[1], in[2], in[1], in[3], in[4], in[2], in[4], in[5]};
  double RI[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) RI[3 * i + j] = R[3 * i] * I[j] + R[3 * i + 1] * I[3 + j] + R[3 * i + 2] * I[6 + j];
  int k = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++)
      out[k++] = RI[3 * i] * R[3 * j] + RI[3 * i + 1] * R[3 * j + 1] + RI[3 * i + 2] * R[3 * j + 2];
}

/* with x' = R x + p: h' = R h + m p, and I' = R I R^T + (p.h~ + h~.p) 1 - p h~^T - h~ p^T + m (p.p 1 - p p^T), h~ =
 * R h */
void psdmp_robot_standard_move(const psdmp_robot_pose *frame, const double from[10], double to[10]) {
  const double *R = frame->R, *p = frame->p;
  double m = from[0], h[3], I[6];
  for (int i = 0; i < 3; i++) h[i] = R[3 * i] * from[1] + R[3 * i + 1] * from[2] + R[3 * i + 2] * from[3];
  rotate_inertia(R, from + 4, I);
  double trace = 2 * (p[0] * h[0] + p[1] * h[1] + p[2] * h[2]) + m * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  int k = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++, k++)
      to[4 + k] = I[k] + (i == j ? trace : 0) - p[i] * h[j] - h[i] * p[j] - m * p[i] * p[j];
  to[0] = m;
  for (int i = 0; i < 3; i++) to[1 + i] = h[i] + m * p[i];
}

void psdmp_robot_standard_from_body(double mass, const double com[3], const double inertia[6], double to[10]) {
  double at_com[10] = {mass, 0, 0, 0};
  memcpy(at_com + 4, inertia, 6 * sizeof *inertia);
  psdmp_robot_pose shift = psdmp_robot_pose_translation(com[0], com[1], com[2]);
  psdmp_robot_standard_move(&shift, at_com, to);
}
