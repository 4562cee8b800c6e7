/* joint_maps.c: how parameters and twists pass through one joint, as polynomials in its coordinate. */
#include <math.h>
#include <string.h>

#include "derive/derive_priv.h"

/* the 10 x 10 matrix of a change of frame, column by column */
static void parameter_matrix(const psdmp_robot_pose *frame, double M[100]) {
  for (int j = 0; j < 10; j++) {
    double unit[10] = {0}, image[10];
    unit[j] = 1;
    psdmp_robot_standard_move(frame, unit, image);
    for (int i = 0; i < 10; i++) M[10 * i + j] = image[i];
  }
}

static void product(int n, const double *A, const double *B, double *C) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += A[n * i + k] * B[n * k + j];
      C[n * i + j] = sum;
    }
}

enum { m, mx, my, mz, XX, XY, XZ, YY, YZ, ZZ };

/* Rz(q): h and I turn with s, c, and sc, cc after s s = 1 - c c */
static void turn_matrices(double Z[PSDMP_DERIVE_BASIS][100]) {
  enum { one, s, c, sc, cc };
#define SET(b, i, j, x) Z[b][10 * (i) + (j)] = (x)
  SET(one, m, m, 1), SET(one, mz, mz, 1), SET(one, ZZ, ZZ, 1);
  SET(c, mx, mx, 1), SET(c, my, my, 1), SET(s, mx, my, -1), SET(s, my, mx, 1);
  SET(c, XZ, XZ, 1), SET(c, YZ, YZ, 1), SET(s, XZ, YZ, -1), SET(s, YZ, XZ, 1);
  SET(one, XX, YY, 1), SET(cc, XX, XX, 1), SET(cc, XX, YY, -1), SET(sc, XX, XY, -2);
  SET(one, YY, XX, 1), SET(cc, YY, YY, 1), SET(cc, YY, XX, -1), SET(sc, YY, XY, 2);
  SET(sc, XY, XX, 1), SET(sc, XY, YY, -1), SET(cc, XY, XY, 2), SET(one, XY, XY, -1);
}

/* Tz(q): the parallel-axis terms of p = (0, 0, q) */
static void slide_matrices(double Z[PSDMP_DERIVE_BASIS][100]) {
  enum { one, q, qq };
  for (int i = 0; i < 10; i++) SET(one, i, i, 1);
  SET(q, mz, m, 1);
  SET(q, XX, mz, 2), SET(q, YY, mz, 2), SET(qq, XX, m, 1), SET(qq, YY, m, 1);
  SET(q, XZ, mx, -1), SET(q, YZ, my, -1);
#undef SET
}

/* entries at rounding level of products of exact geometry become exact zeros */
static void clean(int count, double *M) {
  for (int i = 0; i < count; i++)
    if (fabs(M[i]) < 1e-15) M[i] = 0;
}

static psdmp_robot_pose in_units(psdmp_robot_pose pose, double length) {
  for (int i = 0; i < 3; i++) pose.p[i] /= length;
  return pose;
}

/* twists into a frame at `frame` in the old one: w' = R^T w, v' = R^T (v + w x p) */
static void twist_matrix(const psdmp_robot_pose *frame, double M[36]) {
  const double *R = frame->R, *p = frame->p;
  memset(M, 0, 36 * sizeof *M);
  const double P[9] = {0, p[2], -p[1], -p[2], 0, p[0], p[1], -p[0], 0}; /* w x p = P w */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      M[6 * i + j] = M[6 * (3 + i) + 3 + j] = R[3 * j + i];
      for (int k = 0; k < 3; k++) M[6 * (3 + i) + j] += R[3 * k + i] * P[3 * k + j];
    }
}

static void twist_matrices(bool prismatic, double Z[3][36]) {
  enum { one, s, c };
  memset(Z, 0, 3 * sizeof Z[0]);
  if (prismatic) {
    for (int i = 0; i < 6; i++) Z[one][7 * i] = 1;
    Z[1][6 * 3 + 1] = 1; /* v' = v + w x (0, 0, q) */
    Z[1][6 * 4 + 0] = -1;
    return;
  }
  for (int h = 0; h < 6; h += 3) {
    Z[one][7 * (h + 2)] = 1;
    Z[c][7 * h] = Z[c][7 * (h + 1)] = 1;
    Z[s][6 * h + h + 1] = 1;
    Z[s][6 * (h + 1) + h] = -1;
  }
}

/* d/dq of sum basis_b L_b in the same basis: ds = c, dc = -s, d(sc) = 2cc - 1, d(cc) = -2sc; dq = 1, d(qq) = 2q */
static void differentiate(bool prismatic, double L[PSDMP_DERIVE_BASIS][100], double dL[PSDMP_DERIVE_BASIS][100]) {
  for (int i = 0; i < 100; i++) {
    if (prismatic) {
      dL[0][i] = L[1][i];
      dL[1][i] = 2 * L[2][i];
      continue;
    }
    dL[0][i] = -L[3][i];
    dL[1][i] = -L[2][i];
    dL[2][i] = L[1][i];
    dL[3][i] = -2 * L[4][i];
    dL[4][i] = 2 * L[3][i];
  }
}

void psdmp_derive_joint_maps_set(const psdm_robot *r, int b, double reach, psdmp_derive_joint_maps *maps) {
  const psdmp_robot_body *body = &r->body[b];
  const psdmp_robot_pose scaled = in_units(r->link[body->index].frame, reach), *link = &scaled;
  memset(maps, 0, sizeof *maps);
  maps->count = body->prismatic ? 3 : 5;

  /* parent's link frame -> joint frame (constant), the joint's motion, joint frame -> link frame (constant) */
  psdmp_robot_pose before = body->joint;
  if (body->parent >= 0) {
    psdmp_robot_pose home = psdmp_robot_pose_inverse(&r->link[r->body[body->parent].index].frame);
    before = psdmp_robot_pose_product(&home, &body->joint);
  }
  before = in_units(before, reach);
  double A[100], B[100], AZ[100], Z[PSDMP_DERIVE_BASIS][100] = {{0}};
  parameter_matrix(&before, A);
  parameter_matrix(link, B);
  if (body->prismatic) slide_matrices(Z);
  else turn_matrices(Z);
  for (int i = 0; i < maps->count; i++) {
    product(10, A, Z[i], AZ);
    product(10, AZ, B, maps->L[i]);
    clean(100, maps->L[i]);
  }
  differentiate(body->prismatic, maps->L, maps->dL);

  double P[36], Q[36], PZ[36], T[3][36];
  twist_matrix(&before, P);
  twist_matrix(link, Q);
  twist_matrices(body->prismatic, T);
  for (int i = 0; i < 3; i++) {
    product(6, T[i], P, PZ);
    product(6, Q, PZ, maps->Ad[i]);
    clean(36, maps->Ad[i]);
  }
  const int axis = body->prismatic ? 5 : 2;
  for (int i = 0; i < 6; i++) maps->twist[i] = Q[6 * i + axis];
  clean(6, maps->twist);
}

/* w_a.I w_b + m v_a.v_b + h.(v_a x w_b + v_b x w_a) */
void psdmp_derive_inertia_row(const double a[6], const double b[6], double row[10]) {
  const double *w = a, *v = a + 3, *x = b, *y = b + 3;
  row[m] = v[0] * y[0] + v[1] * y[1] + v[2] * y[2];
  row[mx] = v[1] * x[2] - v[2] * x[1] + y[1] * w[2] - y[2] * w[1];
  row[my] = v[2] * x[0] - v[0] * x[2] + y[2] * w[0] - y[0] * w[2];
  row[mz] = v[0] * x[1] - v[1] * x[0] + y[0] * w[1] - y[1] * w[0];
  row[XX] = w[0] * x[0];
  row[XY] = w[0] * x[1] + w[1] * x[0];
  row[XZ] = w[0] * x[2] + w[2] * x[0];
  row[YY] = w[1] * x[1];
  row[YZ] = w[1] * x[2] + w[2] * x[1];
  row[ZZ] = w[2] * x[2];
}
