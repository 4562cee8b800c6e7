/* psdm/control.h: controllers for robots, simulated or real.
 *
 *   psdm_controller *c;
 *   psdm_control_new(PSDM_CONTROL_COMPUTED, model, reference, NULL, NULL, &c, &error);
 *   psdm_control_torque(c, &in, states, tau, rates);
 *
 * A controller has a model of the robot (which may differ from the robot), follows a reference and may have states
 * (parameter estimates), which the caller stores and integrates. psdm_control_torque neither allocates nor prints; a
 * controller belongs to one thread. */
#ifndef PSDM_CONTROL_H
#define PSDM_CONTROL_H

#include "psdm/motion.h"
#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* e = q_d - q. constant, name, help */
#define PSDM_CONTROL_LIST(X)                                                                                      \
  X(PSDM_CONTROL_NONE, "none", "no torque")                                                                       \
  X(PSDM_CONTROL_TORQUE, "torque", "torques from a table")                                                        \
  X(PSDM_CONTROL_PD, "pd", "Kp e + Kd de/dt")                                                                     \
  X(PSDM_CONTROL_PD_GRAVITY, "pd-gravity", "Kp e + Kd de/dt + g(q)")                                              \
  X(PSDM_CONTROL_FEEDFORWARD, "feedforward", "inverse dynamics of the reference + Kp e + Kd de/dt")               \
  X(PSDM_CONTROL_COMPUTED, "computed-torque", "M(q) (qdd_d + kd de/dt + kp e) + c(q, qd) + g(q)")                 \
  X(PSDM_CONTROL_LQR, "lqr", "u_d - K (x - x_d), K from the linear model at the reference, constant or along it") \
  X(PSDM_CONTROL_ADAPTIVE, "adaptive", "Slotine and Li: Y theta^ + Kd s, theta^ adapts")                          \
  X(PSDM_CONTROL_ELASTIC, "elastic-pd",                                                                           \
    "elastic joints: Kp (theta_d - theta) - Kd dtheta/dt + g(q_d), theta_d = q_d + g(q_d) / K")

typedef enum psdm_control_kind { PSDM_CONTROL_LIST(PSDM_LIST_CONSTANT) PSDM_CONTROL_KINDS } psdm_control_kind;

PSDM_API const char *psdm_control_name(psdm_control_kind kind); /* NULL when out of range */
PSDM_API bool psdm_control_find(const char *name, psdm_control_kind *kind);

/* Zero-initialise for the defaults. Arrays are copied. */
typedef struct psdm_control_options {
  /* (n) NULL: from bandwidth. computed-torque: 1/s^2 and 1/s; the others: Nm/rad and Nms/rad */
  const double *kp, *kd;
  /* rad/s of the default gains: kp = w^2, kd = 2 w, times the model's M_ii where they are torques; 0: 20 */
  double bandwidth;
  /* feedforward, computed-torque: add the model's steady friction at the reference's velocity */
  bool friction;
  const psdm_signal *torque; /* TORQUE: (n) columns; must outlive the controller */
  const double *Q, *R;       /* LQR: diagonals (2n), (n); NULL: 100 for q and 1 for qd; 1/effort^2, or 0.01 */
  const bool *inputs;        /* LQR: joints that have motors; NULL: all */
  /* LQR along a moving reference: s between gains; 0: 0.005, or longer for at most 20000 gains */
  double horizon_step;
  double lambda; /* ADAPTIVE: s = de/dt + lambda e; 0: bandwidth / 2 */
  /* ADAPTIVE: adaptation rate, 1/s: mean over the parameters, along the reference; 0: 1 */
  double gamma;
  const double *theta; /* ADAPTIVE: initial estimates (l); NULL: the model's values */
  /* ADAPTIVE: estimates stay within theta +- bound |theta| (at least 1/100 of their kind's largest); 0: the proof's
   * bound */
  double bound;
  unsigned long long reserved[8];
} psdm_control_options;

typedef struct psdm_controller psdm_controller;

/* model and reference (NULL: hold q = 0; not needed for TORQUE and NONE) must outlive the controller. options may be
 * NULL. */
PSDM_API psdm_status psdm_control_new(psdm_control_kind kind, const psdm_robot *model, const psdm_motion *reference,
                                      const psdm_control_options *options, const psdm_allocator *allocator,
                                      psdm_controller **controller, psdm_error *error);
PSDM_API void psdm_control_free(psdm_controller *controller); /* accepts NULL */

PSDM_API int psdm_control_n(const psdm_controller *controller);

/* The controller's states: number, names, initial values. */
PSDM_API int psdm_control_states(const psdm_controller *controller);
PSDM_API const char *psdm_control_state_name(const psdm_controller *controller, int index); /* NULL when out of range */
PSDM_API void psdm_control_start(const psdm_controller *controller, double *states);

/* Measurements: joints, and motors behind springs (theta = q where a joint is rigid). */
typedef struct psdm_control_input {
  double t;
  const double *q, *qd;         /* (n) */
  const double *theta, *thetad; /* (n) motor positions after the gear; NULL: q, qd */
} psdm_control_input;

/* tau (n), and the rates of the controller's states (nullable without states). */
PSDM_API psdm_status psdm_control_torque(psdm_controller *controller, const psdm_control_input *in,
                                         const double *states, double *tau, double *rates);

/* The reference at t: q, qd, qdd (3 x n). */
PSDM_API void psdm_control_reference(const psdm_controller *controller, double t, double *x);

#ifdef __cplusplus
}
#endif
#endif
