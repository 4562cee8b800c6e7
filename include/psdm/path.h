/* psdm/path.h: the fastest motion along a given path, under velocity, acceleration and torque limits.
 *
 * Along q(s) with x = (ds/dt)^2 and u = d2s/dt2 all limits are lines in the (u, x) plane:
 *
 *   qd^2 = q'^2 x,   qdd = q' u + q'' x,   tau = (M q') u + (M q'' + c(q, q')) x + g + friction
 *
 * Reachability analysis (Pham and Pham 2018): backward, the interval of x at each point from which the end can still be
 * reached; forward, the largest u that stays inside. Two small linear programs per point. Between points u is constant,
 * so that x is linear in s and time is exact; limits hold at both ends of every interval. Friction: dry friction
 * depends on the path's direction alone; viscous friction and the Stribeck effect, which are not linear in x, are taken
 * from the previous answer, in a few iterations. */
#ifndef PSDM_PATH_H
#define PSDM_PATH_H

#include "psdm/friction.h"
#include "psdm/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults. */
typedef struct psdm_path_options {
  /* (n) override the robot's limits; NULL: the robot's, infinite where it has none */
  const double *velocity, *acceleration, *effort;
  psdm_friction_kind friction; /* steady part only */
  long points;                 /* of the grid over s; 0: 1000 */
  double begin, end;           /* ds/dt at both ends */
  unsigned long long reserved[8];
} psdm_path_options;

/* The answer; pointers live as long as it does. */
typedef struct psdm_path_plan {
  int n;
  long points; /* grid points, points - 1 intervals */
  double seconds;
  const double *s, *t; /* (points) */
  const double *x, *u; /* (points) (ds/dt)^2, and d2s/dt2 from there to the next point */
  /* (points) largest share of a limit in use from there to the next point: 1, at a limit */
  const double *usage;
  const int *joint; /* (points) which joint's, */
  const int *by;    /* (points) and which: 0 velocity, 1 acceleration, 2 torque */
  long reductions;  /* points where rounding required a smaller x than the analysis gave; usually 0 */
  struct psdmp_plan_path_plan *internal;
} psdm_path_plan;

/* The path is a motion whose time is s, from psdm_motion_begin to psdm_motion_end. Allocates; free with
 * psdm_path_plan_free. PSDM_E_ARGUMENT where the path cannot be followed (error names s and the limit) or nothing
 * limits it. Closed loops: PSDM_E_ROBOT. */
PSDM_API psdm_status psdm_path_plan_new(const psdm_robot *robot, const psdm_motion *path,
                                        const psdm_path_options *options, const psdm_allocator *allocator,
                                        psdm_path_plan **plan, psdm_error *error);
PSDM_API void psdm_path_plan_free(psdm_path_plan *plan); /* accepts NULL */

/* x (3 x n): q, qd, qdd at time t along the path. */
PSDM_API void psdm_path_plan_state(const psdm_path_plan *plan, const psdm_motion *path, double t, double *x);

#ifdef __cplusplus
}
#endif
#endif
