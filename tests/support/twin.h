/* twin.h: an independent twin of the dynamics: Newton-Euler in the base frame, straight from the DH rows, over
 * extended complex numbers, so that a complex step gives exact derivatives. It shares no code with the library.
 * Trees, both conventions, prismatic and coupled joints, drives, one of them through a transmission, base pose. */
#ifndef TWIN_H
#define TWIN_H

#include <complex.h>
#include <stdio.h>

#include "support.h"

enum { TWIN_MOST = 12 };

typedef long double complex cld;

typedef struct twin_row {
  bool prismatic, coupled;
  int parent, q; /* q: its independent coordinate, or the one it follows */
  double factor, offset, origin[6], drive;
  double mass, com[3], inertia[6]; /* about the com: xx xy xz yy yz zz */
  cld theta, d, a, alpha;          /* complex, so that they can be stepped */
} twin_row;

typedef struct twin {
  int joints, n;
  bool modified;
  double gravity[3], base[6]; /* base: xyz, rpy */
  double mix;                 /* q_1 = motor_1 + mix motor_0; zero: no transmission */
  twin_row row[TWIN_MOST];
} twin;

/* At most so many joints; coupled, through a transmission: whether that may occur. */
twin twin_random(rng *g, int joints_max, bool may_couple, bool may_mix);

/* The robot file that says the same, and the robot. Returns buf. */
char *twin_write(const twin *t, char *buf, size_t size);
psdm_robot *twin_robot(const twin *t, char *buf, size_t size);
void twin_write_transmission(FILE *f, const twin *t, int n); /* for a file with so many independent joints */

/* A link's frame in the base's: rotation and place, as a 4 x 4 matrix. */
typedef struct twin_frame {
  cld a[4][4];
} twin_frame;

void twin_frames(const twin *t, const cld *q, twin_frame *T); /* (joints) */

void twin_inverse(const twin *t, const cld *q, const cld *qd, const cld *qdd, cld *tau);

/* A point of the link behind a joint, -1: of the base's frame. */
typedef struct twin_point {
  int joint;
  double at[3];
} twin_point;

/* Where a point is (3), its acceleration in a motion (3) and the derivative of its position by q (3 x n), row-major;
 * each may be NULL. */
void twin_point_motion(const twin *t, const twin_point *point, const cld *q, const cld *qd, const cld *qdd, cld *place,
                       cld *acceleration, cld *J);

/* Derivatives of twin_inverse by complex steps: B = dtau/dq, A = dtau/dqd, M = dtau/dqdd, row-major. */
void twin_linearize(const twin *t, const double *q, const double *qd, const double *qdd, long double *B, long double *A,
                    long double *M);

/* X = M^-1 Y, (n x columns), and the condition number of M in the one norm. */
long double twin_solve(int n, int columns, const long double *M, const long double *Y, long double *X);

#endif
