/* oracle.h: the dynamics in long double, straight from the file's numbers, and the size of the terms that cancel in
 * them.
 *
 * Newton-Euler in base axes over standard parameters. It shares no code with the library. Every value has a scale: the
 * same recursion over norms, where nothing cancels. A change of every number of the file by one unit in its last place
 * moves a value by a few eps times its scale, so scale / |value| is its condition number, and a sound algorithm in
 * double errs by no more than a few eps times the scale per joint. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>

#include "psdm/robot.h"

enum { MOST = 24 }; /* joints, fixed ones included */

typedef long double ld;

typedef struct pose {
  ld R[9], p[3]; /* row-major; x_outer = R x + p */
} pose;

typedef struct oracle_body {
  int parent; /* -1: the base */
  psdm_joint_type type;
  pose before, after; /* parent's frame -> joint frame, which moves about or along its z -> this frame */
  ld pi[10];          /* standard parameters about this frame's origin */
  ld drive;
  ld G[MOST], c;    /* position = G q + c */
  double length[2]; /* all lengths before the joint's motion, and after it */
} oracle_body;

typedef struct oracle {
  int bodies, n;
  bool common; /* scales are those of an algorithm with one point of reference for all bodies, on any of them */
  double base; /* the distance of the whole robot: no algorithm may lose accuracy by it */
  bool frames; /* body j's frame is the frame of the link after joint j */
  ld gravity[3];
  oracle_body body[MOST];
} oracle;

/* The same from the canonical tree of a robot: the library's reading of the file counts as right. False: more than MOST
 * joints, or loops. */
bool oracle_of_robot(const psdm_robot *robot, oracle *o);

pose pose_product(const pose *a, const pose *b);
pose pose_inverse(const pose *a);
pose pose_turn(int axis, ld angle);
pose pose_shift(ld x, ld y, ld z);
pose pose_rpy(const ld xyz[3], const ld rpy[3]);
pose pose_to_axis(const ld axis[3]); /* takes z to a direction */
void pose_angles(const pose *a, ld rpy[3]);

/* Which parts of the torques. */
enum { WITH_GRAVITY = 1, WITH_DRIVES = 2, WITH_ALL = 3 };

void oracle_inverse(const oracle *o, int with, const ld *q, const ld *qd, const ld *qdd, ld *tau);
void oracle_mass(const oracle *o, const ld *q, ld *M);
void oracle_energy(const oracle *o, const ld *q, const ld *qd, ld E[2]); /* kinetic, potential */
void oracle_frame(const oracle *o, const ld *q, int body, pose *frame);
void oracle_jacobian(const oracle *o, const ld *q, int body, ld *J); /* (6 x n) */

/* dtau/dq, dtau/dqd (n x n) by central differences of order six: the torques are products of sines of degree two and
 * polynomials, differentiated to 16 digits. reach: a length, for the steps of sliding joints. */
void oracle_linearize(const oracle *o, const ld *q, const ld *qd, const ld *qdd, ld reach, ld *by_q, ld *by_qd);
/* the error of these differences by joint j, in eps of double per unit of scale */
double oracle_noise(const oracle *o, int j, double reach);
void oracle_kinetic_gradient(const oracle *o, const ld *q, const ld *qd, ld reach, ld *dT_dq);

/* ---- scales ---- */

/* longest way from a first joint; q NULL: sliding joints at zero */
double oracle_reach(const oracle *o, const double *q);
double oracle_distance(const oracle *o, const double *q); /* longest way from the base's origin */
/* The effect of the rounding of the largest angle of a turning joint on everything after it, in eps; at least one. */
double scale_angles(const oracle *o, const double *q);
void scale_inverse(const oracle *o, int with, const double *q, const double *qd, const double *qdd, double *tau);
void scale_mass(const oracle *o, const double *q, double *M);
void scale_energy(const oracle *o, const double *q, const double *qd, double E[2]);
void scale_linearize(const oracle *o, const double *q, const double *qd, const double *qdd, double *by_q,
                     double *by_qd);

/* ---- linear systems ---- */

/* The inverse of a symmetric M (n x n), by Gauss-Jordan. Returns the condition number, in the maximum norm, of M
 * scaled to a unit diagonal; infinite where M is not positive definite. */
ld oracle_invert(int n, const ld *M, ld *Minv);

#endif
