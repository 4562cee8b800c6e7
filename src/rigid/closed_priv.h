/* closed_priv.h: robots with closed loops, on top of the recursions of their open tree. Private to the library.
 *
 * The tree's coordinates follow the independent ones, q_tree = F(q), with qd_tree = G(q) qd and qdd_tree = G qdd +
 * (dG/dt) qd. So tau = G^T tau_tree(q_tree, qd_tree, qdd_tree), M = G^T M_tree G, Y = G^T Y_tree, J = J_tree G. */
#ifndef PSDMP_RIGID_CLOSED_H
#define PSDMP_RIGID_CLOSED_H

#include "rigid/rigid.h"

/* Scratch of a closed robot; N is the number of the tree's independent joints, e = 3 loops the number of equations. */
typedef struct psdmp_rigid_closed_work {
  psdm_work *tree;
  double *q, *qd, *qdd, *tau; /* (N) */
  double *G, *G_rate;         /* (N x n) */
  double *A, *A_rate;         /* (e x N) derivative of the loops' gaps, row-major, and its rate */
  double *Q, *R;              /* (e x passives), (passives x passives) of the passive columns */
  double *Q_before, *turn;    /* the same shapes: Q before a step, and how the columns turned in it */
  double *gap;                /* (e) */
  double *J, *J_rate;         /* (6 x N) */
  double *M;                  /* (N x N) */
  double *Y;                  /* (N x parameters) */
} psdmp_rigid_closed_work;

psdm_status psdmp_rigid_closed_inverse(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                       const double *qdd, double *tau);
psdm_status psdmp_rigid_closed_gravity(const psdm_robot *r, psdm_work *work, const double *q, double *tau);
psdm_status psdmp_rigid_closed_mass(const psdm_robot *r, psdm_work *work, const double *q, double *M);
psdm_status psdmp_rigid_closed_regressor(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                         const double *qdd, double *Y);
psdm_status psdmp_rigid_closed_energy(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                      double *kinetic, double *potential);
psdm_status psdmp_rigid_closed_jacobian(const psdm_robot *r, psdm_work *work, const double *q, int joint, double *J);
psdm_status psdmp_rigid_closed_jacobian_rate(const psdm_robot *r, psdm_work *work, const double *q, const double *qd,
                                             int joint, double *J);
psdm_status psdmp_rigid_closed_wrench(const psdm_robot *r, psdm_work *work, const double *q, int count,
                                      const psdm_wrench *wrenches, double *tau);

/* The tree's coordinates at q; *tree_q points into the work. */
psdm_status psdmp_rigid_closed_q(const psdm_robot *r, psdm_work *work, const double *q, const double **tree_q);

#endif
