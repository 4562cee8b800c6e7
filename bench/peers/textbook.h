/* textbook.h: the recursions of textbooks: generic loops, 3-vectors, inertia about the centre of mass, no tricks. */
#ifndef BENCH_TEXTBOOK_H
#define BENCH_TEXTBOOK_H

#include <stdbool.h>

enum { TEXTBOOK_MOST = 16 }; /* links */

typedef struct textbook_link {
  int parent; /* -1: the base; parents come before their children */
  bool prismatic;
  double R[3][3], p[3];               /* joint frame in the parent's at q = 0; the joint moves about or along its z */
  double mass, com[3], inertia[3][3]; /* about the centre of mass */
  /* the same as standard parameters: m, mx my mz, XX XY XZ YY YZ ZZ about the origin */
  double pi[10];
  double drive;
} textbook_link;

typedef struct textbook {
  int links;
  double gravity[3];
  textbook_link link[TEXTBOOK_MOST];
} textbook;

/* rotation and translation from a link to its parent */
void textbook_move(const textbook_link *l, double q, double R[3][3], double p[3]);
void textbook_times(double R[3][3], const double x[3], double y[3]);      /* y = R x */
void textbook_transposed(double R[3][3], const double x[3], double y[3]); /* y = R' x */
void textbook_cross(const double a[3], const double b[3], double c[3]);

/* Velocity and acceleration of a link from its parent's: w, dw and a of its origin, in its own frame */
void textbook_outward(const textbook_link *l, double R[3][3], const double p[3], const double above[3][3], double qd,
                      double qdd, double motion[3][3]);

/* Newton-Euler (Luh, Walker, Paul 1980) */
void textbook_inverse(const textbook *t, const double gravity[3], const double *q, const double *qd, const double *qdd,
                      double *tau);

/* Y (links x 10 links), tau = Y pi + drives (Atkeson, An, Hollerbach 1986) */
void atkeson_regressor(const textbook *t, const double *q, const double *qd, const double *qdd, double *Y);
#endif
