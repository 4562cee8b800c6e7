/* linearize_priv.h: scratch of the linearized dynamics. Private to the library.
 *
 * Two representations of the same motion. Waves are in each link's own frame and serve derivatives along directions.
 * Spatials are about one point and in one set of axes, those of body 0 at this instant, so that nothing is carried from
 * link to link: matrices need n^2 scalar products and no transform. Six-vectors are (angular; linear) and (moment;
 * force). */
#ifndef PSDMP_RIGID_LINEARIZE_PRIV_H
#define PSDMP_RIGID_LINEARIZE_PRIV_H

#include "psdm/linearize.h"
#include "rigid/rigid.h"

/* A body's motion and wrench in its own frame, or a derivative of them along one direction or two. */
typedef struct psdmp_rigid_wave {
  double w[3], d[3], a[3]; /* angular velocity and acceleration, acceleration of the origin */
  double turned[2];        /* x, y of d before the joint adds its own */
  double s[6], U[9];       /* w w^T as xx xy xz yy yz zz; [d]x + [w]x[w]x */
  double f[3], n[3];
} psdmp_rigid_wave;

enum { PSDMP_RIGID_NOMINAL, PSDMP_RIGID_FIRST, PSDMP_RIGID_SECOND, PSDMP_RIGID_MIXED, PSDMP_RIGID_LEVELS };

/* A symmetric 6 x 6 matrix by blocks: n = J w + H v, f = H^T w + M v. */
typedef struct psdmp_rigid_six {
  double J[6], H[9], M[6]; /* symmetric ones as xx xy xz yy yz zz */
} psdmp_rigid_six;

/* A body about the common point. Mb = [[A, 0], [-[b]x, 0]] is Jain and Rodriguez' M-bar: Mb V is the wrench of
 * velocities. */
typedef struct psdmp_rigid_spatial {
  double R[9], p[3];          /* its frame in the common one */
  double h[6], hd[6], hdd[6]; /* the joint's unit twist, and its first and second rate (the base accelerating upward) */
  double V[6], a[6];
  double mass, c[3], J[6]; /* inertia; in the inverse dynamics then of all that the joint carries */
  double A[9], b[3];       /* the same of Mb */
  double f[6];             /* wrench transmitted by the joint */
  double own;              /* h.R h */
  double rates[9][2];      /* 2 hd beside hdd, then h beside hd, angular part only: the factors of X and Xb */
  double X[6], Xb[3];      /* R h, 2 Rb^T h of the composites; the last three of Xb are zero */
} psdmp_rigid_spatial;

/* The articulated body behind a joint (Lemma 4.7, Algorithms 5 and 6). Ph, Gh, S, Qr stand for P-hat, G-hat, J, Q
 * there; of those only the first three columns are not zero. */
typedef struct psdmp_rigid_factor {
  psdmp_rigid_six P, Ups;
  double g, D, G[6]; /* 1/D, D, P h/D */
  double Ph[18], Gh[3], S[18];
  double YA[6], YB[6], EA[6], EB[6], Qr[3], U[6];
  /* Algorithm 5: what dq and dqd add to the perturbed acceleration and velocity; bias wrench */
  double x[6], t[3], z[6];
  double row[6]; /* Algorithm 6: row of M^-1 H phi being computed */
  double eps;
  int size_J, size_M;       /* binary exponents of the largest of P's numbers, here or behind */
  bool tip, branches, last; /* carries none, more than one; comes after its siblings */
} psdmp_rigid_factor;

struct psdm_linear {
  psdm_work *work;
  psdmp_rigid_wave *wave;       /* (PSDMP_RIGID_LEVELS bodies) */
  psdmp_rigid_spatial *spatial; /* (bodies) */
  psdmp_rigid_factor *factor;   /* (bodies) */
  double base[12], up[3];       /* the base frame and its acceleration in the common one */
  double *q, *qd, *qdd;         /* (bodies) tree coordinates */
  double *direction[6];         /* (bodies) each: dq, dqd, dqdd of two directions */
  double *zero, *tree;          /* (bodies) zeros; a result */
  double *vector;               /* (3 n) */
  double *M, *A, *B;            /* (n x n) */
  int *mark;                    /* (bodies) */
  /* closed loops: the open tree's scratch, its matrices (N x N), columns (N) and residual of the gaps (2 e) */
  struct psdm_linear *open;
  double *tree_B, *tree_A, *tree_M, *column[4], *equations;
};

/* PSDM_OK when the robot can be linearized. */
static inline psdm_status psdmp_rigid_linear_check(const psdm_robot *r) {
  return psdmp_rigid_ready(r) ? PSDM_OK : PSDM_E_MISSING;
}

/* The same for derivatives that are not available through closed loops. */
static inline psdm_status psdmp_rigid_linear_check_open(const psdm_robot *r) {
  return r->closure ? PSDM_E_ROBOT : psdmp_rigid_linear_check(r);
}

/* Whether the tree alone is exact: no loops, no coupling, no drive through a transmission. */
static inline bool psdmp_rigid_linear_plain(const psdm_robot *r) {
  return !r->closure && !r->coupled && !r->drive_mass;
}

/* The independent joint of a body of a plain robot. */
static inline int psdmp_rigid_joint_of(const psdm_robot *r, int b) { return r->direct ? b : r->g_col[r->g_row[b]]; }

/* Frames, twists, motions, inertias, Mb and each body's own wrench about the common point. */
void psdmp_rigid_spatial_set(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd, const double *qdd);

/* After it: f, inertia and Mb of all that each joint carries, X and Xb. */
void psdmp_rigid_spatial_gather(const psdm_robot *r, psdm_linear *l);

/* ---- closed_linear.c ---- */

psdm_status psdmp_rigid_closed_linearize(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                         const double *qdd, double *dtau_dq, double *dtau_dqd, double *M);
psdm_status psdmp_rigid_closed_along(const psdm_robot *r, psdm_linear *l, const double *q, const double *qd,
                                     const double *qdd, const double *dq, const double *dqd, const double *dqdd,
                                     double *dtau);

/* ---- six-vectors; out never overlaps in ---- */

/* a . b */
static inline double psdmp_rigid_dot6(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* out = V x h of motions: (w x e; w x l + u x e) */
static inline void psdmp_rigid_cross6(const double *V, const double *h, double *out) {
  psdmp_rigid_cross(V, h, out);
  psdmp_rigid_cross(V, h + 3, out + 3);
  psdmp_rigid_cross_add(V + 3, h, out + 3);
}

/* out = h x* f of a motion and a force: (e x n + l x f; e x f) */
static inline void psdmp_rigid_cross_force(const double *h, const double *f, double *out) {
  psdmp_rigid_cross(h, f, out);
  psdmp_rigid_cross_add(h + 3, f + 3, out);
  psdmp_rigid_cross(h, f + 3, out + 3);
}

/* out = M x of a rigid body's inertia; reduced arms have no mass */
static inline void psdmp_rigid_inertia_times(const psdmp_rigid_spatial *k, const double *x, double *out) {
  psdmp_rigid_symmetric(k->J, x, out);
  psdmp_rigid_cross_add(k->c, x + 3, out);
  psdmp_rigid_cross(x, k->c, out + 3);
  for (int i = 0; i < 3 && k->mass != 0; i++) out[3 + i] += k->mass * x[3 + i];
}

/* out = Mb x; x is angular alone */
static inline void psdmp_rigid_bar_times(const psdmp_rigid_spatial *k, const double *x, double *out) {
  psdmp_rigid_rotate(k->A, x, out);
  psdmp_rigid_cross(x, k->b, out + 3);
}

/* X B of a small change of h: 2 Rb hd + R hdd + h x* f, with the composites of k; twice is 2 hd */
static inline void psdmp_rigid_change_of(const psdmp_rigid_spatial *k, const double *h, const double *twice,
                                         const double *hdd, double *out) {
  double bar[6], inertia[6];
  psdmp_rigid_bar_times(k, twice, bar);
  psdmp_rigid_inertia_times(k, hdd, inertia);
  psdmp_rigid_cross_force(h, k->f, out);
  for (int i = 0; i < 6; i++) out[i] += inertia[i] + bar[i];
}

#endif
