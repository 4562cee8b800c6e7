/* psdm/along.h: motor positions and torques for a motion: inverse dynamics with rotors, gears, friction and springs.
 *
 *   rigid     tau = M qdd + c + g + friction(qd)
 *   elastic   theta = q + tau_q / K with tau_q = M qdd + c + g (M without the elastic joints' rotors),
 *             tau = B thetadd + tau_q + friction(thetad)                      (De Luca, Robotics 2: elastic joints)
 *
 * thetadd needs the first four derivatives of q: they enter through the exact second derivative of tau_q along the
 * motion. With a damper parallel to the spring, D (thetad - qd) + K (theta - q) = tau_q is integrated along the motion
 * from a start without transient. Between rows tau_q is the polynomial of degree five that matches its value and two
 * derivatives at both ends, and the integral is exact. All rotors of independent joints turn with theta (= q where a
 * joint is rigid): where a transmission couples rigid and elastic joints, B has entries between them. */
#ifndef PSDM_ALONG_H
#define PSDM_ALONG_H

#include "psdm/friction.h"
#include "psdm/motion.h"
#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults. */
typedef struct psdm_along_options {
  psdm_friction_kind friction; /* LuGre: bristles follow the motion, undeflected at its start */
  bool elastic;                /* joints with a stiffness are springs */
  double output;               /* s between rows; 0: 0.01 */
  unsigned long long reserved[8];
} psdm_along_options;

/* One instant. Pointers are valid during the call. */
typedef struct psdm_along_row {
  double t;
  int n;
  const double *q, *qd, *qdd; /* (n) */
  const double *tau;          /* (n) motor torque, on the joint side */
  const double *friction;     /* (n) friction, included in tau */
  /* (n) motor positions behind the gear, on the joint side; = q, qd, qdd where rigid */
  const double *theta, *thetad, *thetadd;
  const double *q_motor, *tau_motor; /* (n) on the motor side of gear and transmission */
  /* (n) A, motor torque behind its gear / torque constant (tau / torque constant without a transmission); NAN where the
   * file gives no constant */
  const double *current;
} psdm_along_row;

typedef bool (*psdm_along_write)(void *user, const psdm_along_row *row); /* false stops */

/* From the start of the motion to its end. PSDM_E_MISSING when inertias, or an elastic joint's rotor, are unknown;
 * PSDM_E_ROBOT for elastic joints in closed loops. options may be NULL. */
PSDM_API psdm_status psdm_along(const psdm_robot *robot, const psdm_motion *motion, const psdm_along_options *options,
                                const psdm_allocator *allocator, psdm_along_write write, void *user, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
