/* rigid.h: scratch of the recursions and three-vectors. Private to the library. */
#ifndef PSDMP_RIGID_H
#define PSDMP_RIGID_H

#include <string.h>

#include "psdm/friction.h"
#include "psdm/rigid.h"
#include "robot/robot.h"

/* One body in motion, in its own canonical frame. Angular velocity w and acceleration dw; velocity v and acceleration a
 * of the origin; wrench f, n about the origin. Each recursion fills what it needs. */
typedef struct psdmp_rigid_motion {
  double R[9], p[3]; /* this frame in the parent's */
  double w[3], dw[3], v[3], a[3];
  double U[9]; /* [dw]x + [w]x[w]x: a point at x accelerates by a + U x */
  double f[3], n[3];
} psdmp_rigid_motion;

/* Inertia of an articulated body: n = J dw + H a, f = H^T dw + M a. */
typedef struct psdmp_rigid_articulated {
  double J[6], H[9], M[6];   /* symmetric ones as xx xy xz yy yz zz */
  double n[3], f[3];         /* bias wrench */
  double Un[3], Uf[3], g, u; /* U, 1/D, u of its joint */
  double cw[2], cv[2];       /* acceleration due to the joint's velocity; none along z */
} psdmp_rigid_articulated;

struct psdm_work {
  psdmp_rigid_motion *motion;             /* (bodies) */
  psdmp_rigid_articulated *articulated;   /* (bodies) */
  double *composite;                      /* (10 bodies) */
  double *world;                          /* (12 bodies) R, p of each body in the base frame */
  double *q, *qd, *qdd, *tau;             /* (bodies) tree coordinates */
  double *sine, *cosine;                  /* (bodies) of q, revolute or not */
  double *height;                         /* (bodies) potential of a unit mass at the body's origin */
  double *M;                              /* (n x n) */
  double *row;                            /* (n) */
  struct psdmp_rigid_closed_work *closed; /* NULL: no closed loops */
};

/* Tree coordinates of x = q (with the constant part) or a rate; x itself when the robot is direct. */
const double *psdmp_rigid_expand_q(const psdm_robot *r, const double *x, double *tree);
const double *psdmp_rigid_expand_rate(const psdm_robot *r, const double *x, double *tree);

/* tau = G^T tree. */
void psdmp_rigid_restrict(const psdm_robot *r, const double *tree, double *tau);

/* Sines and cosines of x, with an absolute error below 1.6e-16. */
void psdmp_rigid_sines(int count, const double *restrict x, double *restrict sine, double *restrict cosine);

/* R, p of every body from the tree's q. */
void psdmp_rigid_set_frames(const psdm_robot *r, psdm_work *w, const double *q_tree);

/* Frames, then R, p of every body in the base frame. */
void psdmp_rigid_set_world(const psdm_robot *r, psdm_work *w, const double *q);

/* The same with positions relative to the first joint: their differences are exact wherever the robot is. */
void psdmp_rigid_set_arms(const psdm_robot *r, psdm_work *w, const double *q);

/* Moves q straight towards home by halves until the loops close there; false when they never do. Without loops true at
 * once. */
bool psdmp_rigid_pull_home(const psdm_robot *r, psdm_work *w, double *q);

/* Whether a joint has a spring, where springs count (elastic). PSDM_E_ROBOT or PSDM_E_MISSING, with its name, where it
 * cannot have one or lacks what this friction needs. */
psdm_status psdmp_rigid_joint_check(const psdm_robot *robot, const psdm_joint *joint, psdm_friction_kind friction,
                                    bool elastic, bool *spring, psdm_error *error);

/* The robot without the rotors of its independent joints, and the mass matrix (n x n) of those alone. */
psdm_status psdmp_rigid_part_rotors(const psdm_robot *robot, psdmp_base_arena *arena, psdm_robot **links,
                                    double **rotors, psdm_error *error);

/* False when some inertia or drive is unknown. */
static inline bool psdmp_rigid_ready(const psdm_robot *r) { return r->unknown_link < 0 && r->unknown_drive < 0; }

/* ---- three-vectors: out never overlaps in ---- */

/* out = R x */
static inline void psdmp_rigid_rotate(const double R[9], const double x[3], double out[3]) {
  out[0] = R[0] * x[0] + R[1] * x[1] + R[2] * x[2];
  out[1] = R[3] * x[0] + R[4] * x[1] + R[5] * x[2];
  out[2] = R[6] * x[0] + R[7] * x[1] + R[8] * x[2];
}

/* out = R^T x */
static inline void psdmp_rigid_unrotate(const double R[9], const double x[3], double out[3]) {
  out[0] = R[0] * x[0] + R[3] * x[1] + R[6] * x[2];
  out[1] = R[1] * x[0] + R[4] * x[1] + R[7] * x[2];
  out[2] = R[2] * x[0] + R[5] * x[1] + R[8] * x[2];
}

static inline void psdmp_rigid_cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out += a x b */
static inline void psdmp_rigid_cross_add(const double a[3], const double b[3], double out[3]) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/* parent's f and n += those of m */
static inline void psdmp_rigid_carry(const psdmp_rigid_motion *m, psdmp_rigid_motion *restrict parent) {
  double f[3], n[3];
  psdmp_rigid_rotate(m->R, m->f, f);
  psdmp_rigid_rotate(m->R, m->n, n);
  psdmp_rigid_cross_add(m->p, f, n);
  for (int i = 0; i < 3; i++) parent->f[i] += f[i], parent->n[i] += n[i];
}

static inline double psdmp_rigid_dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = S x for a symmetric S = xx xy xz yy yz zz */
static inline void psdmp_rigid_symmetric(const double S[6], const double x[3], double out[3]) {
  out[0] = S[0] * x[0] + S[1] * x[1] + S[2] * x[2];
  out[1] = S[1] * x[0] + S[3] * x[1] + S[4] * x[2];
  out[2] = S[2] * x[0] + S[4] * x[1] + S[5] * x[2];
}

/* out = R S R^T in 28 multiplications: S = zz 1 + L + [v]x, where L has no third column and v = (-yz, xz, 0).
 * Only rows y and z of R L R^T are needed: the trace gives xx, the symmetry of the result the rest. */
static inline void psdmp_rigid_rotate_symmetric(const double R[9], const double S[6], double out[6]) {
  double xx = S[0] - S[5], xy = S[1], yy = S[3] - S[5], xz = 2 * S[2], yz = 2 * S[4];
  double y0 = R[3] * xx + R[4] * xy + R[5] * xz, y1 = R[3] * xy + R[4] * yy + R[5] * yz;
  double z0 = R[6] * xx + R[7] * xy + R[8] * xz, z1 = R[6] * xy + R[7] * yy + R[8] * yz;
  double LYY = y0 * R[3] + y1 * R[4], LZZ = z0 * R[6] + z1 * R[7];
  out[0] = (xx + yy + S[5]) - (LYY + LZZ);
  out[1] = y0 * R[0] + y1 * R[1] + (R[7] * S[2] - R[6] * S[4]);
  out[2] = z0 * R[0] + z1 * R[1] - (R[4] * S[2] - R[3] * S[4]);
  out[3] = LYY + S[5];
  out[4] = z0 * R[3] + z1 * R[4] + (R[1] * S[2] - R[0] * S[4]);
  out[5] = LZZ + S[5];
}

/* ---- motion of a body from its parent's (NULL: the base) ---- */

/* w and v */
static inline void psdmp_rigid_set_velocity(const psdmp_robot_body *body, psdmp_rigid_motion *restrict m,
                                            const psdmp_rigid_motion *parent, double qd) {
  double w[3] = {0}, v[3] = {0};
  if (parent) {
    double at[3];
    psdmp_rigid_cross(parent->w, m->p, at);
    for (int i = 0; i < 3; i++) at[i] += parent->v[i];
    psdmp_rigid_unrotate(m->R, parent->w, w);
    psdmp_rigid_unrotate(m->R, at, v);
  }
  *(body->prismatic ? &v[2] : &w[2]) += qd;
  for (int i = 0; i < 3; i++) m->w[i] = w[i], m->v[i] = v[i];
}

/* w, dw, a and U; the base does not turn, and accelerates by base */
static inline void psdmp_rigid_move_body(const psdmp_robot_body *body, psdmp_rigid_motion *restrict m,
                                         const psdmp_rigid_motion *parent, const double base[3], double qd,
                                         double qdd) {
  double w[3] = {0}, d[3] = {0}, a[3];
  if (parent) {
    double at[3];
    psdmp_rigid_rotate(parent->U, m->p, at);
    for (int i = 0; i < 3; i++) at[i] += parent->a[i];
    psdmp_rigid_unrotate(m->R, parent->w, w);
    psdmp_rigid_unrotate(m->R, parent->dw, d);
    psdmp_rigid_unrotate(m->R, at, a);
  } else {
    psdmp_rigid_unrotate(m->R, base, a);
  }
  if (body->prismatic) {
    a[0] += 2 * w[1] * qd;
    a[1] -= 2 * w[0] * qd;
    a[2] += qdd;
  } else {
    d[0] += w[1] * qd;
    d[1] -= w[0] * qd;
    d[2] += qdd;
    w[2] += qd;
  }
  for (int i = 0; i < 3; i++) m->w[i] = w[i], m->dw[i] = d[i], m->a[i] = a[i];
  /* U = [dw]x + [w]x[w]x */
  double xx = w[0] * w[0], xy = w[0] * w[1], xz = w[0] * w[2], yy = w[1] * w[1], yz = w[1] * w[2], zz = w[2] * w[2];
  m->U[0] = -yy - zz, m->U[1] = xy - d[2], m->U[2] = xz + d[1];
  m->U[3] = xy + d[2], m->U[4] = -xx - zz, m->U[5] = yz - d[0];
  m->U[6] = xz - d[1], m->U[7] = yz + d[0], m->U[8] = -xx - yy;
}

/* returns aligned pieces of the caller's memory; with memory NULL it only counts */
typedef struct psdmp_rigid_carver {
  char *memory;
  size_t used;
} psdmp_rigid_carver;

static inline void *psdmp_rigid_carve(psdmp_rigid_carver *c, size_t count, size_t size) {
  enum { LINE = 64 }; /* a cache line each */
  void *piece = c->memory ? c->memory + c->used : NULL;
  c->used += (count * size + LINE - 1) / LINE * LINE;
  return piece;
}

#endif
