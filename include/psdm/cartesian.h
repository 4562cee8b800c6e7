/* psdm/cartesian.h: the dynamics in other coordinates p = f(q), m <= n of them: of the end effector, or of any task.
 *
 *   M_p pdd + S_p pd + S_n qd_0 + g_p = F,    pd = J qd,   tau = J^T F + N tau_0
 *
 *   M_p = (J M^-1 J^T + damping^2)^-1                    inertia
 *   Jbar = M^-1 J^T M_p                                  dynamically consistent inverse, = J^-1 where m = n
 *   S_p = Jbar^T S Jbar - M_p dJ/dt Jbar                 dM_p/dt - 2 S_p is skew, S of the joints' Christoffel symbols
 *   S_n = Jbar^T S - M_p dJ/dt                           effect on the task of the null-space motion
 *                                                        qd_0 = (1 - Jbar J) qd
 *   g_p = Jbar^T g,   c_p = S_n qd = S_p pd + S_n qd_0
 *   N = 1 - J^T Jbar^T                                   torques N tau_0 do not accelerate p
 *
 * De Luca, Robotics 2 (coordinate transformation); Khatib (1987) for redundant arms. With damping M_p stays finite near
 * singular positions; the equations are then those of a compliant task, and J Jbar is not quite 1. Nothing here
 * allocates; scratch belongs to one thread. Row-major. */
#ifndef PSDM_CARTESIAN_H
#define PSDM_CARTESIAN_H

#include "psdm/linearize.h"

/* Directions of a task by name, as bits: 0 to 2 of the velocity, 3 to 5 of the angular velocity, base frame. */
#define PSDM_DIRECTION_LIST(X) X(x) X(y) X(z) X(rx) X(ry) X(rz)
enum { PSDM_DIRECTIONS = 6, PSDM_ALL_DIRECTIONS = 63 };

#ifdef __cplusplus
extern "C" {
#endif

/* J and dJ/dt (m x n) of selected rows of the twist of the link behind a joint at its frame's origin: bits 0 to 2
 * select x, y, z of the velocity, bits 3 to 5 of the angular velocity, base frame. PSDM_E_ARGUMENT when no row is
 * selected. twelve: scratch (12 n). */
PSDM_API psdm_status psdm_task_link(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                    int joint, unsigned rows, double *twelve, double *J, double *J_rate);

/* "x,y,rz" or "x y rz" as bits; false where a word is none of them, or is repeated, or there is none. */
PSDM_API bool psdm_directions_find(const char *list, unsigned *rows);
PSDM_API int psdm_directions_count(unsigned rows);

/* The same of another point of the link, x y z in its frame. */
PSDM_API psdm_status psdm_task_point(const psdm_robot *robot, psdm_work *work, const double *q, const double *qd,
                                     int joint, const double point[3], unsigned rows, double *twelve, double *J,
                                     double *J_rate);

/* Outputs; NULL: not wanted. */
typedef struct psdm_cartesian {
  double *M, *S;     /* (m x m) */
  double *S_null;    /* (m x n) */
  double *c, *g;     /* (m) */
  double *J_inverse; /* (n x m) Jbar */
  double *N;         /* (n x n) */
  double
      smallest;   /* out: least eigenvalue of J M^-1 J^T, 1/kg: much smaller than the others near a singular position */
  double largest; /* out: the largest */
} psdm_cartesian;

PSDM_API size_t psdm_cartesian_scratch(const psdm_robot *robot, int m); /* numbers */

/* At a state, for a task of m <= n rows. qd, J_rate and linear are needed for S, S_null and c, and may be NULL without
 * them. PSDM_E_SINGULAR when J M^-1 J^T + damping^2 cannot be inverted; damping >= 0 in 1/sqrt(kg). */
PSDM_API psdm_status psdm_cartesian_at(const psdm_robot *robot, psdm_work *work, psdm_linear *linear, const double *q,
                                       const double *qd, int m, const double *J, const double *J_rate, double damping,
                                       double *scratch, psdm_cartesian *out);

#ifdef __cplusplus
}
#endif
#endif
