/* psdm/scale.h: slowing down or speeding up a trajectory to its limits.
 *
 * Uniform scaling t -> k t divides velocities by k and accelerations by k^2. The rigid torque needs no new inverse
 * dynamics:
 *
 *   tau_s(k t) = (tau(t) - g(q(t))) / k^2 + g(q(t))                          De Luca, Robotics 2 (dynamic scaling of
 *                                                                            trajectories)
 *
 * With friction F(qd) = dry sign(qd) + viscous qd: tau_s = inertial / k^2 + viscous qd / k + dry sign(qd) + g. Nothing
 * here allocates; rows are row-major (rows x n). */
#ifndef PSDM_SCALE_H
#define PSDM_SCALE_H

#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trajectory's torques by cause. viscous and dry are torques (rows x n) too; NULL: none. */
typedef struct psdm_scale_rows {
  long rows;
  int n;
  const double *qd, *qdd; /* NULL: their limits are ignored */
  const double *tau;      /* total */
  const double *gravity;
  const double *viscous, *dry;
} psdm_scale_rows;

/* scaled (rows x n) <- torques of the trajectory that takes k times as long; k > 0. */
PSDM_API void psdm_scale_torque(const psdm_scale_rows *rows, double k, double *scaled);

/* (n) each; NULL or infinite: no limit. Torques between -effort and effort. */
typedef struct psdm_scale_limits {
  const double *velocity, *acceleration, *effort;
} psdm_scale_limits;

/* id, what limits */
#define PSDM_SCALE_LIST(X)         \
  X(PSDM_SCALE_NOTHING, "nothing") \
  X(PSDM_SCALE_VELOCITY, "velocity") X(PSDM_SCALE_ACCELERATION, "acceleration") X(PSDM_SCALE_EFFORT, "torque")

typedef enum psdm_scale_by { PSDM_SCALE_LIST(PSDM_LIST_CONSTANT) PSDM_SCALE_KINDS } psdm_scale_by;

typedef struct psdm_scale_info {
  psdm_scale_by by; /* the active limit, */
  int joint;        /* its joint, */
  long row;         /* and its row */
} psdm_scale_info;

PSDM_API const char *psdm_scale_name(psdm_scale_by by); /* NULL when out of range */

/* The smallest k > 0 from which on all limits are met in all rows: one value of 1/k from each limit, no search. 0 where
 * nothing limits. PSDM_E_ARGUMENT where no k suffices: even standing still takes too much torque; info says where. */
PSDM_API psdm_status psdm_scale_least(const psdm_scale_rows *rows, const psdm_scale_limits *limits, double *k,
                                      psdm_scale_info *info);

#ifdef __cplusplus
}
#endif
#endif
