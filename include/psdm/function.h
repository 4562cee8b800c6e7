/* psdm/function.h: the functions of a robot: one table for psdm_eval, code generation, the command line and Python. */
#ifndef PSDM_FUNCTION_H
#define PSDM_FUNCTION_H

#include <stdbool.h>

#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* instead of columns, of a result that is no matrix */
enum { PSDM_VECTOR = -1 };

/* id, name, inputs (n numbers each), results, rows and columns of each result for n joints, l parameters and m
 * directions of a task, help */
#define PSDM_FUNCTION_LIST(X)                                                                                       \
  X(INVERSE, "inverse", "q qd qdd", "tau", n, PSDM_VECTOR, "torques of a motion")                                   \
  X(GRAVITY, "gravity", "q", "tau", n, PSDM_VECTOR, "torques at rest")                                              \
  X(BIAS, "bias", "q qd", "tau", n, PSDM_VECTOR, "torques at zero acceleration")                                    \
  X(MASS, "mass", "q", "M", n, n, "mass matrix, full, row-major")                                                   \
  X(FORWARD, "forward", "q qd tau", "qdd", n, PSDM_VECTOR, "accelerations under torques")                           \
  X(REGRESSOR, "regressor", "q qd qdd", "Y", n, l, "Y with tau = Y theta, row-major (n x l)")                       \
  X(ENERGY, "energy", "q qd", "E", 2, PSDM_VECTOR, "kinetic and potential energy")                                  \
  X(JACOBIAN, "jacobian", "q", "J", 6, n, "of a link, linear rows then angular, base frame")                        \
  X(POSE, "pose", "q", "X", 12, PSDM_VECTOR, "x y z and the rotation, row-major, of a link in the base frame")      \
  X(LINEARIZE_INVERSE, "linearize_inverse", "q qd qdd", "dtau_dq dtau_dqd M", n, n,                                 \
    "derivatives of inverse, row-major")                                                                            \
  X(LINEARIZE_FORWARD, "linearize_forward", "q qd tau", "dqdd_dq dqdd_dqd Minv", n, n,                              \
    "derivatives of forward, row-major")                                                                            \
  X(INVERSE_MASS, "inverse_mass", "q", "Minv", n, n, "inverse of the mass matrix, full, row-major")                 \
  X(CORIOLIS, "coriolis", "q qd", "C", n, n, "Coriolis matrix, by Christoffel symbols: dM/dt - 2 C is skew")        \
  X(MASS_RATE, "mass_rate", "q qd", "dM_dt", n, n, "dM/dt = C + C^T, row-major")                                    \
  X(MOMENTUM, "momentum", "q qd", "momentum dT_dq", n, PSDM_VECTOR, "p = M qd and the gradient of T, C^T qd")       \
  X(MOMENTUM_RATE, "momentum_rate", "q qd tau", "dp_dt", n, PSDM_VECTOR, "dp/dt = tau + C^T qd - g")                \
  X(INNOVATIONS, "innovations", "q", "L L_inverse D", n, n, "factors of the mass matrix, M = L D L^T")              \
  X(INVERSE_ALONG, "inverse_along", "q qd qdd dq dqd dqdd", "dtau", n, PSDM_VECTOR,                                 \
    "what a small motion (dq, dqd, dqdd) changes inverse by")                                                       \
  X(FORWARD_ALONG, "forward_along", "q qd tau dq dqd dtau", "dqdd", n, PSDM_VECTOR,                                 \
    "what a small change (dq, dqd, dtau) changes forward by")                                                       \
  X(INVERSE_SECOND, "inverse_second", "q qd qdd dq dqd dqdd eq eqd eqdd", "d2tau", n, PSDM_VECTOR,                  \
    "second derivative of inverse along two small motions")                                                         \
  X(LINEARIZE_SECOND, "linearize_second", "q qd qdd dq dqd dqdd", "ddtau_dq ddtau_dqd dM", n, n,                    \
    "what a small motion changes linearize_inverse by")                                                             \
  X(SENSITIVITY, "sensitivity", "q qd tau", "dqdd_dtheta", n, l,                                                    \
    "derivatives of forward by the parameters, -M^-1 Y (n x l)")                                                    \
  X(CARTESIAN_JACOBIAN, "cartesian_jacobian", "q", "J", m, n, "of a link's point in the task's directions")         \
  X(CARTESIAN_MASS, "cartesian_mass", "q", "Mp", m, m, "mass matrix of the task, (J M^-1 J^T)^-1")                  \
  X(CARTESIAN_CORIOLIS, "cartesian_coriolis", "q qd", "cp", m, PSDM_VECTOR,                                         \
    "Coriolis and centrifugal forces of the task, Jbar^T c - Mp dJ/dt qd")                                          \
  X(CARTESIAN_GRAVITY, "cartesian_gravity", "q", "gp", m, PSDM_VECTOR, "gravity of the task, Jbar^T g")             \
  X(CARTESIAN_FACTOR, "cartesian_factor", "q qd", "Sp", m, m, "Coriolis matrix of the task: dMp/dt - 2 Sp is skew") \
  X(CARTESIAN_INVERSE, "cartesian_inverse", "q", "Jbar", n, m, "dynamically consistent inverse, M^-1 J^T Mp")       \
  X(CARTESIAN_NULL_SPACE, "cartesian_null_space", "q", "N", n, n,                                                   \
    "1 - J^T Jbar^T: torques N tau do not accelerate the task")

/* The same, of functions that are generated code alone, for robots with friction: psdm_eval has none of them. friction
 * takes qdd and z, too, where it depends on them; n of friction_step is the length of z. */
#define PSDM_FUNCTION_FRICTION_LIST(X)                                            \
  X(FRICTION, "friction", "q qd", "tau", n, PSDM_VECTOR, "friction torques")      \
  X(FRICTION_STEP, "friction_step", "dt q0 qd0 q qd z", "z_next", n, PSDM_VECTOR, \
    "what friction remembers, one row later")

typedef enum psdm_function {
#define PSDM_FUNCTION_ENUM(id, name, inputs, results, rows, columns, help) PSDM_F_##id,
  PSDM_FUNCTION_LIST(PSDM_FUNCTION_ENUM) PSDM_FUNCTION_FRICTION_LIST(PSDM_FUNCTION_ENUM)
#undef PSDM_FUNCTION_ENUM
      PSDM_FUNCTION_COUNT
} psdm_function;

/* psdm_eval has the functions before this one. */
#define PSDM_EVAL_FUNCTIONS PSDM_F_FRICTION

/* The columns of the table; NULL when out of range. inputs and results: words separated by one space. */
PSDM_API const char *psdm_function_name(psdm_function function);
PSDM_API const char *psdm_function_inputs(psdm_function function);
PSDM_API const char *psdm_function_results(psdm_function function);
PSDM_API const char *psdm_function_help(psdm_function function);

/* Rows and columns of each result; l: parameters, or the directions of a function of a task. Returns its numbers, 0
 * when out of range. */
PSDM_API int psdm_function_shape(psdm_function function, int n, int l, int *rows, int *columns);

/* Whether it is of a task: a point of a link, and some of its directions (psdm/cartesian.h). */
PSDM_API bool psdm_function_is_task(psdm_function function);

/* By name; '-' is read as '_'. */
PSDM_API bool psdm_function_find(const char *name, psdm_function *function);

#ifdef __cplusplus
}
#endif
#endif
