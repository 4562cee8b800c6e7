/* psdm/optimal.h: the fastest, or least strenuous, motion from rest to rest.
 *
 *   minimise  w_time T + w_energy integral of sum (tau_j / effort_j)^2 dt      such that  M qdd + c + g + friction =
 *                                                                              tau, |tau| <= effort, limits of q,
 *                                                                              qd, qdd
 *
 * by direct collocation: the motion is a sequence of polynomial pieces, q and qd continuous, qdd a cubic in each piece
 * that may jump between them; torques by inverse dynamics at Lobatto points, so that the dynamics hold by construction;
 * limits of q, qd and qdd by Bezier coefficients, everywhere. First derivatives are exact (psdm/linearize.h), second
 * ones differences of them; solved by IPOPT (Waechter and Biegler 2006), an optional plug-in loaded on first use. Where
 * torques switch, nodes are moved to the switch, and where they exceed their limits between points, points are added.
 * Answers are local optima. Elastic joints: the motor side is eliminated, tau_motor from q and its four derivatives, at
 * rest at both ends; a damper parallel to the spring is ignored. Closed loops: along the independent joints.
 * docs/plan.md has the equations. */
#ifndef PSDM_OPTIMAL_H
#define PSDM_OPTIMAL_H

#include "psdm/friction.h"
#include "psdm/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults. */
typedef struct psdm_optimal_options {
  const double *from, *to; /* (n) at rest; both required */
  double time, energy;     /* weights; both 0: time = 1 */
  double duration;         /* s, fixed; 0: free. Required where only energy counts */
  double longest;          /* s, upper bound of a free duration; 0: ten times that of the initial guess */
  /* (n) override the robot's; NULL: the robot's; infinite: none */
  const double *lower, *upper, *velocity, *acceleration, *effort;
  /* a joint without a torque limit has effort_j = 1 in the objective */
  /* steady part, smoothed: tanh(qd / w), w = 1 % of the velocity limit, or of the initial guess' largest speed if there
   * is none */
  psdm_friction_kind friction;
  bool elastic; /* joints with a stiffness are springs */
  int nodes;    /* initial number of pieces; 0: 20 */
  /* NULL: quintic from rest to rest (elastic: of degree nine), as fast as its limits allow */
  const psdm_motion *guess;
  double tolerance; /* 0: 1e-8 */
  int iterations;   /* in all; 0: 1000 */
  double wall;      /* s; 0: 300 */
  psdm_progress progress;
  void *progress_user;
  /* called before progress after each iteration; the count restarts with each grid */
  void (*iterated)(void *user, int iteration, double objective, double infeasibility);
  void *iterated_user;
  unsigned long long reserved[6];
} psdm_optimal_options;

typedef struct psdm_optimal {
  int n;
  double seconds; /* duration of the motion */
  double energy;  /* integral of sum tau^2 dt, (Nm)^2 s */
  double objective;
  const psdm_motion *motion; /* q, qd, qdd at any time */
  /* largest share by which a limit is violated on a grid ten times finer; torques by psdm_inverse and smoothed
   * friction */
  double infeasibility;
  double worst_effort; /* largest share of the torque limit on that grid */
  bool converged, stopped;
  int iterations;
  double wall;
  double guess_seconds, guess_energy; /* of the initial guess */
  char words[160];                    /* the solver's verdict */
  struct psdmp_plan_optimal *internal;
} psdm_optimal;

/* Allocates; free with psdm_optimal_free. The robot must outlive the answer. PSDM_E_MISSING without IPOPT or inertias;
 * PSDM_E_ARGUMENT where the limits allow no motion. A motion that did not converge is PSDM_OK: see converged. Programs
 * are solved one at a time, also from several threads. */
PSDM_API psdm_status psdm_optimal_new(const psdm_robot *robot, const psdm_optimal_options *options,
                                      const psdm_allocator *allocator, psdm_optimal **optimal, psdm_error *error);
PSDM_API void psdm_optimal_free(psdm_optimal *optimal); /* accepts NULL */

/* PSDM_OK when IPOPT's plug-in is available, and its file; else PSDM_E_MISSING, and the folders searched, or why it
 * does not load. */
PSDM_API psdm_status psdm_optimal_solver(char *where, size_t size);

/* Motor torques (n) at time t of the answer, smoothed friction included. One thread at a time; robot: the one it was
 * made with. */
PSDM_API psdm_status psdm_optimal_torque(const psdm_optimal *optimal, const psdm_robot *robot, double t, double *tau);

#ifdef __cplusplus
}
#endif
#endif
