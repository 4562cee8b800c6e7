/* psdm/linearize.h: exact derivatives of the dynamics, in O(n) along a direction and O(n^2) as matrices.
 *
 *   inverse  dtau = M dqdd + (dtau/dqd) dqd + (dtau/dq) dq
 *   forward  dqdd = M^-1 dtau + (dqdd/dqd) dqd + (dqdd/dq) dq
 *
 * The six algorithms of Jain and Rodriguez, "Linearization of manipulator dynamics using spatial operators" (IEEE
 * Trans. SMC 23, 1993), extended to trees, gravity, drive inertias and coupled joints; docs/linearize.md has the
 * equations. Rigid-body dynamics without friction, as psdm_inverse and psdm_forward.
 *
 * The robot is constant and may be shared; each thread brings a psdm_linear of its own. After psdm_linear_init nothing
 * here allocates, prints or keeps state between calls. Vectors have length n = psdm_robot_n, matrices are row-major;
 * row i column j of dtau_dq is d tau_i / d q_j. Outputs never overlap inputs. Matrices that are not wanted may be NULL.
 *
 * Every function returns PSDM_E_MISSING when some inertia is unknown, and those that solve for qdd PSDM_E_SINGULAR when
 * the mass matrix is not positive definite. Closed loops: first derivatives are exact through the loops, PSDM_E_LOOP
 * where these do not close; second derivatives and sensitivities to small motions are PSDM_E_ROBOT. */
#ifndef PSDM_LINEARIZE_H
#define PSDM_LINEARIZE_H

#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_linear psdm_linear;

/* Scratch in the caller's memory: ask for the size, provide memory aligned like malloc's, initialise it. */
PSDM_API size_t psdm_linear_bytes(const psdm_robot *robot);
PSDM_API psdm_status psdm_linear_init(const psdm_robot *robot, void *memory, size_t bytes, psdm_linear **linear);

/* The same on the heap. */
PSDM_API psdm_status psdm_linear_new(const psdm_robot *robot, const psdm_allocator *allocator, psdm_linear **linear);
PSDM_API void psdm_linear_free(psdm_linear *linear, const psdm_allocator *allocator); /* accepts NULL */

/* ---- inverse dynamics ---- */

/* dtau of a small change (dq, dqd, dqdd) of a motion, O(n) (Algorithm 1). dq, dqd, dqdd may be NULL: zero. */
PSDM_API psdm_status psdm_linear_inverse_along(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                               const double *qd, const double *qdd, const double *dq, const double *dqd,
                                               const double *dqdd, double *dtau);

/* dtau/dq, dtau/dqd and dtau/dqdd = M, (n x n) each, O(n^2) (Algorithm 2). */
PSDM_API psdm_status psdm_linearize_inverse(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                            const double *qd, const double *qdd, double *dtau_dq, double *dtau_dqd,
                                            double *M);

/* The Coriolis matrix C (n x n) with c = C qd, of the Christoffel symbols C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j -
 * dM_jk/dq_i) qd_k / 2, and dM/dt = C + C^T: dM/dt - 2 C is skew. c is quadratic in qd with these symmetric symbols, so
 * that C is half of dtau/dqd, O(n^2): also Jain's and Rodriguez' H phi (Mb phi^T H^T + M phi^T dH^T/dt). Either may be
 * NULL. */
PSDM_API psdm_status psdm_coriolis(const psdm_robot *robot, psdm_linear *linear, const double *q, const double *qd,
                                   double *C, double *M_rate);

/* ---- forward dynamics; qdd is the acceleration at (q, qd, tau), from the trajectory or from psdm_forward ---- */

/* dqdd of a small change (dq, dqd, dtau), O(n), without a mass matrix (Algorithm 5); by psdm_linear_forward_along_dense
 * where joints are coupled, drives act through a transmission, or links' sizes differ a thousandfold. dq, dqd, dtau may
 * be NULL: zero. */
PSDM_API psdm_status psdm_linear_forward_along(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                               const double *qd, const double *qdd, const double *dq, const double *dqd,
                                               const double *dtau, double *dqdd);

/* dqdd/dq, dqdd/dqd and dqdd/dtau = M^-1, (n x n) each, O(n^2), without forming or inverting M (Algorithm 6); by
 * psdm_linearize_forward_dense where joints are coupled, drives act through a transmission, or links' sizes differ a
 * thousandfold. */
PSDM_API psdm_status psdm_linearize_forward_at(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                               const double *qd, const double *qdd, double *dqdd_dq, double *dqdd_dqd,
                                               double *Minv);

/* The same from the torques: calls psdm_forward first. */
PSDM_API psdm_status psdm_linearize_forward(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                            const double *qd, const double *tau, double *dqdd_dq, double *dqdd_dqd,
                                            double *Minv);

/* The conventional route by Cholesky, O(n^3) (Algorithms 3 and 4): the reference for the two above. */
PSDM_API psdm_status psdm_linear_forward_along_dense(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                                     const double *qd, const double *qdd, const double *dq,
                                                     const double *dqd, const double *dtau, double *dqdd);
PSDM_API psdm_status psdm_linearize_forward_dense(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                                  const double *qd, const double *qdd, double *dqdd_dq,
                                                  double *dqdd_dqd, double *Minv);

/* ---- innovations: M = L D L^T with L = 1 + H phi K, and L^-1 = 1 - H psi K ---- */

/* L and its inverse (n x n) and the diagonal D (n) of the articulated-body factorisation, O(n^2). e = L^-1 tau is the
 * innovation of a torque, and M^-1 = L^-T D^-1 L^-1. L_ij is nonzero where joint i carries joint j: unit upper
 * triangular for robots whose q are in the order of the tree. Where joints are coupled, or drives act through a
 * transmission, L D L^T is factorised from M, O(n^3). */
PSDM_API psdm_status psdm_innovations(const psdm_robot *robot, psdm_linear *linear, const double *q, double *L,
                                      double *L_inverse, double *D);

/* ---- second order ---- */

/* A direction in the space of motions; a NULL member is zero. */
typedef struct psdm_direction {
  const double *dq, *dqd, *dqdd; /* (n) */
} psdm_direction;

/* d2tau = second derivative of psdm_inverse along two directions, O(n). */
PSDM_API psdm_status psdm_linear_inverse_second(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                                const double *qd, const double *qdd, const psdm_direction *first,
                                                const psdm_direction *second, double *d2tau);

/* d/ds of dtau/dq, dtau/dqd and M at (q, qd, qdd) + s direction, (n x n) each, O(n^2): the inverse dynamics' Hessian
 * times a direction. dM depends on direction's dq alone. */
PSDM_API psdm_status psdm_linearize_inverse_second(const psdm_robot *robot, psdm_linear *linear, const double *q,
                                                   const double *qd, const double *qdd, const psdm_direction *direction,
                                                   double *d_dtau_dq, double *d_dtau_dqd, double *dM);

/* ---- sensitivities to parameters ---- */

/* Where a small motion of a fixed transform takes place, and in which axes it is given. A row of a robot file in
 * convention dh has theta and d about and along z at PSDM_AT_JOINT, a and alpha along and about x at PSDM_AT_LINK; one
 * in convention modified-dh (without an origin of its own) theta and d likewise, a and alpha along and about x at
 * PSDM_AT_PARENT. */
typedef enum psdm_place {
  PSDM_AT_PARENT, /* before the joint moves; axes and origin of the parent's link frame */
  PSDM_AT_JOINT,  /* before the joint moves; axes and origin of the joint's frame at q = 0, z is its axis */
  /* after the joint's motion, moving the link's inertia too; axes and origin of the link's frame */
  PSDM_AT_LINK
} psdm_place;

/* One kinematic parameter: everything that the joint carries turns and shifts by this much per unit of the
 * parameter. */
typedef struct psdm_small_motion {
  int joint; /* in file order; any that is not fixed */
  psdm_place place;
  double turn[3], shift[3];
} psdm_small_motion;

/* The parameters in the columns of a sensitivity: the standard ones of psdm_robot_parameters if wanted, then the
 * motions. */
typedef struct psdm_sensitivity {
  bool standard;
  int motions;
  const psdm_small_motion *motion; /* (motions) */
} psdm_sensitivity;

PSDM_API int psdm_sensitivity_columns(const psdm_robot *robot, const psdm_sensitivity *parameters);

/* dtau/dp at constant (q, qd, qdd) and dqdd/dp = -M^-1 dtau/dp at constant (q, qd, tau): (n x columns). PSDM_E_ARGUMENT
 * for a motion of a joint that is out of range or fixed. */
PSDM_API psdm_status psdm_sensitivity_inverse(const psdm_robot *robot, psdm_linear *linear,
                                              const psdm_sensitivity *parameters, const double *q, const double *qd,
                                              const double *qdd, double *dtau_dp);
PSDM_API psdm_status psdm_sensitivity_forward(const psdm_robot *robot, psdm_linear *linear,
                                              const psdm_sensitivity *parameters, const double *q, const double *qd,
                                              const double *qdd, double *dqdd_dp);

/* A sample of a trajectory; each (n). */
typedef struct psdm_sample {
  const double *q, *qd, *tau;
} psdm_sample;

/* One step of the sensitivity model along a trajectory, S' = A(t) S + B(t) for S = [dq/dp; dqd/dp], (2n x columns):
 * classical fourth-order Runge-Kutta from samples at the step's start, middle and end. S holds the start's value on
 * entry and the end's on return; start with zeros if the initial state does not depend on p. scratch:
 * psdm_sensitivity_scratch doubles. */
PSDM_API size_t psdm_sensitivity_scratch(const psdm_robot *robot, const psdm_sensitivity *parameters);
PSDM_API psdm_status psdm_sensitivity_step(const psdm_robot *robot, psdm_linear *linear,
                                           const psdm_sensitivity *parameters, const psdm_sample samples[3], double dt,
                                           double *scratch, double *S);

#ifdef __cplusplus
}
#endif
#endif
