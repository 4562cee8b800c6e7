/* loop_twin.h: an independent twin of robots with closed loops: a tree twin and Lagrange multipliers for the points
 * that must meet, in extended complex numbers. It has no G and no rate of G, and shares no code with the library. */
#ifndef LOOP_TWIN_H
#define LOOP_TWIN_H

#include "twin.h"

enum { LOOP_TWIN_MOST = 3 };

typedef struct loop_twin {
  twin tree;
  int loops, n; /* n: independent joints */
  twin_point end[LOOP_TWIN_MOST][2];
  bool passive[TWIN_MOST];    /* by the tree's q */
  double home[TWIN_MOST];     /* a closed position */
  int independent[TWIN_MOST]; /* (n) the tree's q */
} loop_twin;

/* Random loops on a random tree of so many joints: spatial ones, with sliding and coupled joints, or planar ones. */
loop_twin loop_twin_random(rng *g, int joints, int loops, bool planar);

char *loop_twin_write(const loop_twin *t, char *buf, size_t size);
psdm_robot *loop_twin_robot(const loop_twin *t, char *buf, size_t size);

/* The tree's coordinates at q, followed from home in steps. False: the loops do not close, or are nearly singular. */
bool loop_twin_close(const loop_twin *t, const cld *q, cld *tree);

/* Torques of a motion; false as above. */
bool loop_twin_inverse(const loop_twin *t, const cld *q, const cld *qd, const cld *qdd, cld *tau);

/* Its derivatives by complex steps: B = dtau/dq, A = dtau/dqd, M = dtau/dqdd, (n x n). */
bool loop_twin_linearize(const loop_twin *t, const double *q, const double *qd, const double *qdd, long double *B,
                         long double *A, long double *M);

#endif
