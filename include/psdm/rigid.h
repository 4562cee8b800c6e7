/* psdm/rigid.h: recursive dynamics for any n: trees, revolute and prismatic joints, coupled joints, drive inertias.
 *
 *   tau = M(q) qdd + c(q, qd) + g(q)
 *
 * The robot is constant and may be shared; each thread brings a psdm_work of its own. After psdm_work_init nothing here
 * allocates, prints or keeps state between calls. q, qd, qdd, tau have length n = psdm_robot_n; matrices are row-major;
 * vectors and poses are in the base frame; positive tau is what the motor must supply. Outputs never overlap inputs.
 *
 * Every function that needs inertias returns PSDM_E_MISSING when some are unknown (psdm_robot_ready says which). Poses,
 * Jacobians and the regressor need none. */
#ifndef PSDM_RIGID_H
#define PSDM_RIGID_H

#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_work psdm_work;

/* Scratch in the caller's memory: ask for the size, provide memory aligned like malloc's, initialise it. */
PSDM_API size_t psdm_work_bytes(const psdm_robot *robot);
PSDM_API psdm_status psdm_work_init(const psdm_robot *robot, void *memory, size_t bytes, psdm_work **work);

/* The same on the heap. */
PSDM_API psdm_status psdm_work_new(const psdm_robot *robot, const psdm_allocator *allocator, psdm_work **work);
PSDM_API void psdm_work_free(psdm_work *work, const psdm_allocator *allocator); /* accepts NULL */

/* tau of a motion: recursive Newton-Euler (Luh, Walker, Paul 1980), O(n). */
PSDM_API psdm_status psdm_inverse(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                  const double *qdd, double *tau);
PSDM_API psdm_status psdm_bias(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                               double *tau);
PSDM_API psdm_status psdm_gravity(const psdm_robot *robot, psdm_work *work, const double *q, double *tau);

/* M(q), (n x n), both triangles: composite rigid bodies (Walker, Orin 1982). */
PSDM_API psdm_status psdm_mass(const psdm_robot *robot, psdm_work *work, const double *q, double *M);

/* M(q)^-1, (n x n), both triangles. PSDM_E_SINGULAR when M is not positive definite. */
PSDM_API psdm_status psdm_inverse_mass(const psdm_robot *robot, psdm_work *work, const double *q, double *Minv);

/* Whether accelerations exist: PSDM_E_SINGULAR, with a sentence that names the joints, when M is singular at every
 * state because joints move nothing with inertia. condition (nullable): of M scaled to a unit diagonal, the best over
 * some fixed states; above 1e12 accelerations have few correct digits. Allocates scratch and frees it, O(n^3). */
PSDM_API psdm_status psdm_mass_condition(const psdm_robot *robot, const psdm_allocator *allocator, double *condition,
                                         psdm_error *error);

/* qdd of given torques: articulated bodies (Featherstone 1983), O(n); by psdm_forward_cholesky where joints are coupled
 * or drives act through a transmission. PSDM_E_SINGULAR when the mass matrix is not positive definite. */
PSDM_API psdm_status psdm_forward(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                  const double *tau, double *qdd);
PSDM_API psdm_status psdm_forward_cholesky(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                           const double *tau, double *qdd);

/* Y with tau = Y pi for the standard parameters pi of psdm_robot_parameters: (n x parameter_count). */
PSDM_API psdm_status psdm_regressor_standard(const psdm_robot *robot, psdm_work *work, const double *q,
                                             const double *qd, const double *qdd, double *Y);

/* Kinetic and potential energy; the potential is zero at the base origin. */
PSDM_API psdm_status psdm_energy(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                 double *kinetic, double *potential);

/* Generalised momentum p = M qd (n) and the gradient of the kinetic energy dT/dq = C^T qd (n), O(n); either may be
 * NULL. */
PSDM_API psdm_status psdm_momentum(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                   double *p, double *dT_dq);

/* x y z, then the rotation R1_1 .. R3_3 from link to base axes, for the link behind each joint: (joints x 12). */
PSDM_API psdm_status psdm_poses(const psdm_robot *robot, psdm_work *work, const double *q, double *poses);
/* (12) */
PSDM_API psdm_status psdm_pose(const psdm_robot *robot, psdm_work *work, const double *q, int joint, double *pose);

/* Where each joint moves: a point on its axis, x y z, then the axis' direction, in the base frame; a fixed joint has
 * its link's origin and z axis: (joints x 6). */
PSDM_API psdm_status psdm_axes(const psdm_robot *robot, psdm_work *work, const double *q, double *axes);

/* J with (velocity of the link frame's origin; angular velocity) = J qd, and dJ/dt: (6 x n). joint names the link. */
PSDM_API psdm_status psdm_jacobian(const psdm_robot *robot, psdm_work *work, const double *q, int joint, double *J);
PSDM_API psdm_status psdm_jacobian_rate(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                        int joint, double *J_rate);

/* An external force and moment on the link behind a joint, at the origin of its frame. */
typedef struct psdm_wrench {
  int joint;
  double force[3], moment[3];
} psdm_wrench;

/* The joint torques of wrenches, J^T w: subtract them from inverse's result, add them to forward's input. */
PSDM_API psdm_status psdm_wrench_torque(const psdm_robot *robot, psdm_work *work, const double *q, int count,
                                        const psdm_wrench *wrenches, double *tau);

#ifdef __cplusplus
}
#endif
#endif
