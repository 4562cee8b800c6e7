/* psdm/sim.h: simulation of a robot with friction, springs, load and controller.
 *
 *   M(q) qdd + c(q, qd) + g(q) + friction(qd) = tau + J^T w                        rigid joints
 *   M(q) qdd + c + g + K (q - theta) + D (qd - thetad) = J^T w,                    elastic joints (M without their
 *                                                                                  rotors)
 *   B thetadd + K (theta - q) + D (thetad - qd) + friction(thetad) = tau
 *
 * (De Luca, Robotics 2; LuGre friction of Canudas de Wit et al. 1995.) theta are motor positions behind the gear, on
 * the joint side. Dry friction without bristles sticks and slips exactly: a joint at rest stays at rest until more than
 * its break-away torque acts. Closed loops are solved with constraint forces in the coordinates of the open tree, so
 * that motors may pass positions where they do not determine the loop.
 *
 *   psdm_sim_new(robot, &options, NULL, &sim, &error);
 *   psdm_sim_set(sim, 0, q, qd, &error);
 *   psdm_sim_run(sim, 60, row, user, &result, &error);  // or psdm_sim_step(sim, tau, 0.001) in a loop of your own
 *
 * A simulator belongs to one thread; the robot may be shared. */
#ifndef PSDM_SIM_H
#define PSDM_SIM_H

#include "psdm/control.h"
#include "psdm/friction.h"
#include "psdm/motion.h"
#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* constant, name, help */
#define PSDM_INTEGRATOR_LIST(X)                                                                                  \
  X(PSDM_INTEGRATOR_AUTO, "auto", "bdf where bristles make it stiff, else adams; without SUNDIALS euler or rk4") \
  X(PSDM_INTEGRATOR_ADAMS, "adams", "CVODE, Adams' formulas of variable order up to 12: smooth motion")          \
  X(PSDM_INTEGRATOR_BDF, "bdf", "CVODE, backward differences: stiff motion")                                     \
  X(PSDM_INTEGRATOR_RK4, "rk4", "classical Runge-Kutta, fixed step")                                             \
  X(PSDM_INTEGRATOR_EULER, "euler",                                                                              \
    "semi-implicit Euler, fixed step, friction and springs implicit: any stiffness, real time")

typedef enum psdm_integrator { PSDM_INTEGRATOR_LIST(PSDM_LIST_CONSTANT) PSDM_INTEGRATORS } psdm_integrator;

PSDM_API const char *psdm_integrator_name(psdm_integrator integrator); /* NULL when out of range */
PSDM_API bool psdm_integrator_find(const char *name, psdm_integrator *integrator);
/* CVODE's only if the library was built with SUNDIALS */
PSDM_API bool psdm_integrator_available(psdm_integrator integrator);

/* Behaviour at the joints' position limits. constant, name, help */
#define PSDM_AT_LIMIT_LIST(X)                                                                \
  X(PSDM_AT_LIMIT_IGNORE, "ignore", "joints pass their limits")                              \
  X(PSDM_AT_LIMIT_END, "end", "the simulation ends where the first limit is reached")        \
  X(PSDM_AT_LIMIT_STOP, "stop", "a hard stop: the joint rests there until it is pulled off") \
  X(PSDM_AT_LIMIT_BOUNCE, "bounce", "a hard stop that returns part of the velocity")

typedef enum psdm_at_limit { PSDM_AT_LIMIT_LIST(PSDM_LIST_CONSTANT) PSDM_AT_LIMITS } psdm_at_limit;

PSDM_API const char *psdm_at_limit_name(psdm_at_limit at_limit);
PSDM_API bool psdm_at_limit_find(const char *name, psdm_at_limit *at_limit);

/* From time t on the default link (psdm_robot_default_link) carries this body (all zero: none), which moves at the
 * link's velocity at once. */
typedef struct psdm_sim_payload {
  double t;
  double pi[10]; /* standard parameters about that link's frame */
} psdm_sim_payload;

/* Zero-initialise for the defaults: free motion. Arrays and objects must outlive the simulator. */
typedef struct psdm_sim_options {
  psdm_integrator integrator;
  double step; /* rk4, euler: s; 0: 0.001 */
  /* CVODE: relative; 0: 1e-13 for adams, 1e-9 for bdf. Absolute: a tenth of it, rad, rad/s, ... */
  double tolerance;
  bool no_code; /* use the recursions, even where generated code could be compiled */

  psdm_friction_kind friction;
  bool elastic; /* joints with a stiffness are springs */
  psdm_at_limit at_limit;
  double restitution; /* BOUNCE: share of the velocity that is returned; 0: 0.5 */
  bool saturate;      /* clip the controller's torque to the effort limits */

  /* 6 columns: force and moment on wrench_link, at its frame's origin, base frame */
  const psdm_signal *wrench;
  const char *wrench_link; /* NULL: psdm_robot_default_link */
  int payloads;            /* in ascending t */
  const psdm_sim_payload *payload;

  psdm_controller *controller; /* NULL: no torque */
  double period;               /* s between the controller's samples, torque held in between; 0: continuous */
  /* sampled: the controller sees positions in multiples of this (rad), and velocities as their differences */
  double quantum;
  /* sampled: standard deviation of the noise on the controller's torque, share of effort limit (or of 1 Nm) */
  double noise;
  unsigned long long seed; /* of the noise */

  double output;      /* s between rows; 0: 0.01 */
  double wall_limit;  /* s of wall time after which a run ends with the result so far; 0: none */
  double speed_limit; /* rad/s or m/s beyond which a run has diverged; 0: 1e6 */
  unsigned long long reserved[8];
} psdm_sim_options;

typedef struct psdm_sim psdm_sim;

/* Compiles the robot's code if there is a compiler (seconds the first time, then from the cache). Free with
 * psdm_sim_free. options may be NULL. */
PSDM_API psdm_status psdm_sim_new(const psdm_robot *robot, const psdm_sim_options *options,
                                  const psdm_allocator *allocator, psdm_sim **sim, psdm_error *error);
PSDM_API void psdm_sim_free(psdm_sim *sim); /* accepts NULL */

/* Initial state: motors where the springs carry the load at rest, or at theta, thetad (n; nullable); bristles
 * undeflected. */
PSDM_API psdm_status psdm_sim_set(psdm_sim *sim, double t, const double *q, const double *qd, psdm_error *error);
PSDM_API psdm_status psdm_sim_set_motors(psdm_sim *sim, const double *theta, const double *thetad);

/* One instant of a run. Pointers are the simulator's own, valid during the call. */
typedef struct psdm_sim_row {
  double t;
  int n, joints;                /* independent joints; with the passive ones (closed loops) after them */
  const double *q, *qd, *qdd;   /* (n) */
  const double *passive;        /* (joints) positions of the joints moved by a closed loop; NULL: none */
  const double *theta, *thetad; /* (n) motors; NULL: no elastic joint */
  const double *z;              /* (n) bristles; NULL: no LuGre friction */
  const double *tau, *friction; /* (n) motor torque, friction torque that opposes it */
  const double *control;        /* (control_states) */
  int control_states;
  double kinetic, potential, elastic, bristles; /* J; potential: gravity's */
  /* J since the start: by motors, by friction, dampers and stops, by the wrench, by changes of load */
  double supplied, dissipated, external, payload;
} psdm_sim_row;

/* Why a run ended. id, message */
#define PSDM_SIM_END_LIST(X)                     \
  X(PSDM_SIM_TIME, "reached the end")            \
  X(PSDM_SIM_LIMIT, "a joint reached its limit") \
  X(PSDM_SIM_STOPPED, "stopped by the caller")   \
  X(PSDM_SIM_TIMEOUT, "ran out of wall time")    \
  X(PSDM_SIM_DIVERGED, "the motion diverged")    \
  X(PSDM_SIM_FAILED, "the integrator could not go on")

typedef enum psdm_sim_end { PSDM_SIM_END_LIST(PSDM_LIST_CONSTANT) PSDM_SIM_ENDS } psdm_sim_end;

PSDM_API const char *psdm_sim_end_text(psdm_sim_end end);

typedef struct psdm_sim_result {
  psdm_sim_end end;
  char text[256];             /* one sentence with the time and the joint */
  double t;                   /* where it ended */
  psdm_integrator integrator; /* that was used */
  bool native;                /* generated code was compiled */
  char code_text[256];        /* why not, or "" */
  long steps, evaluations;
  long reversals, sticks, limits; /* events: changes of direction, joints coming to rest, stops hit */
  double energy_start, energy_end, peak_kinetic;
  double energy_drift; /* max |E - E0| / peak kinetic energy, E the sum of a row's energies; 0 without motion */
  /* max |E - E0 - supplied - external - payload + dissipated| / the largest of peak kinetic energy and work done */
  double energy_balance;
  double wall; /* s */
} psdm_sim_result;

/* A row of the output; false stops the run. */
typedef bool (*psdm_sim_write)(void *user, const psdm_sim_row *row);

/* Runs from the present state for `seconds`: rows at the start, at every multiple of the output period and at the end.
 * PSDM_OK also when the run ended early: the result says why, and all rows so far were written. write may be NULL. Call
 * again to continue. */
PSDM_API psdm_status psdm_sim_run(psdm_sim *sim, double seconds, psdm_sim_write write, void *user,
                                  psdm_sim_result *result, psdm_error *error);

/* One step of your own loop, rk4 or euler: tau (n) held for dt; the controller is not used. Never allocates. */
PSDM_API psdm_status psdm_sim_step(psdm_sim *sim, const double *tau, double dt);

/* The state now. */
PSDM_API void psdm_sim_now(psdm_sim *sim, psdm_sim_row *row);

/* The code used by a simulator: forward dynamics dominate its run time. */
PSDM_API bool psdm_sim_native(const psdm_sim *sim);

#ifdef __cplusplus
}
#endif
#endif
