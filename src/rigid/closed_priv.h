/* closed_priv.h: robots with closed loops, on top of the recursions of their open tree. Private to the library.
 *
 * The tree's coordinates follow the independent ones, q_tree = F(q), with qd_tree = G(q) qd and qdd_tree = G qdd +
 * (dG/dt) qd. So tau = G^T tau_tree(q_tree, qd_tree, qdd_tree), M = G^T M_tree G, Y = G^T Y_tree, J = J_tree G.
 *
 * The loops' gaps are gap(q_tree) = 0, A is their derivative, A_p its columns of the passive joints. The position is
 * closed where gap = 0, and then A G = 0. */
#ifndef PSDMP_RIGID_CLOSED_H
#define PSDMP_RIGID_CLOSED_H

#include "rigid/rigid.h"

/* Scratch of a closed robot; N is the number of the tree's independent joints, e = 3 loops the number of equations. */
typedef struct psdmp_rigid_closed_work {
  psdm_work *tree;
  bool at_home;               /* home is known: the file's position, with loops closed */
  double *home;               /* (N) */
  double *q, *qd, *qdd, *tau; /* (N) */
  double *G, *G_rate;         /* (N x n) */
  double *A;                  /* (e x N) derivative of the gaps, row-major */
  double *Q, *R;              /* (e x passives), (passives x passives) of A_p */
  double *Q_before, *turn;    /* the same shapes: Q before a step, and how the columns rotated in it */
  double *gap, *force;        /* (e) */
  double *along[3];           /* (bodies) directions in the tree, as rates of its bodies */
  double *J, *J_rate;         /* (6 x N) */
  double *M;                  /* (N x N) */
  double *Y;                  /* (N x parameters) */
} psdmp_rigid_closed_work;

/* ---- closed_gaps.c: the gaps and their derivatives at w->q ---- */

/* w->gap, and w->A where asked. */
void psdmp_rigid_closed_gaps(const psdm_robot *r, psdmp_rigid_closed_work *w, bool derivative);

/* out (e) = the second derivative of the gaps along two directions in the tree's coordinates (N), after
 * psdmp_rigid_closed_gaps; the third along three. */
void psdmp_rigid_closed_second(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *u, const double *v,
                               double *out);
void psdmp_rigid_closed_third(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *u, const double *v,
                              const double *x, double *out);

/* H (N x N) -= the second derivative of force . gap. */
void psdmp_rigid_closed_subtract_bend(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *force, double *H);

/* Q R = A_p. False where its columns are dependent: the loops are singular. */
bool psdmp_rigid_closed_factorise(const psdm_robot *r, psdmp_rigid_closed_work *w);

/* x (passives), the least squares of A_p x = b, b (e) with a stride. */
void psdmp_rigid_closed_solve(const psdm_robot *r, const psdmp_rigid_closed_work *w, const double *b, int stride,
                              double *x);

/* w->force (e): the smallest one with A_p^T force = tau, tau (N). */
void psdmp_rigid_closed_force(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *tau);

/* ---- closed_branch.c: the position ---- */

/* w->q at q, and A and its factors there. PSDM_E_LOOP: the loops do not close, or are singular. */
psdm_status psdmp_rigid_closed_position(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q);

/* ---- closed.c: the motion and the functions ---- */

/* w->q, G, and with qd G_rate and w->qd, w->qdd at zero qdd where qdd is NULL. */
psdm_status psdmp_rigid_closed_motion(const psdm_robot *r, psdmp_rigid_closed_work *w, const double *q,
                                      const double *qd, const double *qdd);

/* tau (n) = G^T tree (N); tree = G x. */
void psdmp_rigid_closed_restrict(const psdm_robot *r, const double *G, const double *tree, double *tau);
void psdmp_rigid_closed_expand(const psdm_robot *r, const double *G, const double *x, double *tree);

psdm_status psdmp_rigid_closed_inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                       const double *qdd, double *tau);
psdm_status psdmp_rigid_closed_gravity(const psdm_robot *r, psdm_work *work, const double *q, double *tau);
psdm_status psdmp_rigid_closed_mass(const psdm_robot *r, psdm_work *work, const double *q, double *M);
psdm_status psdmp_rigid_closed_regressor(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                         const double *qdd, double *Y);
psdm_status psdmp_rigid_closed_energy(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                      double *kinetic, double *potential);
psdm_status psdmp_rigid_closed_momentum(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                        double *p, double *dT_dq);
psdm_status psdmp_rigid_closed_jacobian(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *J);
psdm_status psdmp_rigid_closed_jacobian_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                             int joint, double *J);
psdm_status psdmp_rigid_closed_wrench(const psdm_robot *r, psdm_work *work, const double *q, int count,
                                      const psdm_wrench *wrenches, double *tau);

/* The tree's coordinates at q; *tree_q points into the work. */
psdm_status psdmp_rigid_closed_q(const psdm_robot *r, psdm_work *work, const double *q, const double **tree_q);

#endif
