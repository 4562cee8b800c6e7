/* psdm/along.h: what motors must do for a motion: inverse dynamics with rotors, gears, friction and springs.
 *
 *   rigid     tau = M qdd + c + g + friction(qd)
 *   elastic   theta = q + tau_q / K with tau_q = M qdd + c + g (M without the elastic joints' rotors),
 *             tau = B thetadd + tau_q + friction(thetad)                      (De Luca, Robotics 2: elastic joints)
 *
 * thetadd needs the first four derivatives of q: they enter through the exact second derivative of tau_q along the
 * motion. With a damper beside the spring, D (thetad - qd) + K (theta - q) = tau_q is integrated along the motion
 * from a beginning without transient, exactly for the polynomial of degree five between rows that has tau_q and its
 * two derivatives there. All rotors of independent joints turn with theta (= q where a joint is rigid): where a
 * transmission couples rigid and elastic joints, B has entries between them. */
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
  psdm_friction_kind friction; /* LuGre: bristles follow the motion, unbent at its beginning */
  bool elastic;                /* joints with a stiffness are springs */
  double output;               /* s between rows; 0: 0.01 */
  unsigned long long reserved[8];
} psdm_along_options;

/* One moment. Pointers are valid during the call. */
typedef struct psdm_along_row {
  double t;
  int n;
  const double *q, *qd, *qdd; /* (n) */
  const double *tau;          /* (n) torque of the motors, seen from the joints */
  const double *friction;     /* (n) part of it that is friction */
  /* (n) motors behind the gear, seen from the joints; = q, qd, qdd where rigid */
  const double *theta, *thetad, *thetadd;
  const double *q_motor, *tau_motor; /* (n) on the motors' side of gear and transmission */
  /* (n) A, motor torque behind its gear / torque constant, so tau / torque constant without a transmission; NAN
   * where not given */
  const double *current;
} psdm_along_row;

typedef bool (*psdm_along_write)(void *user, const psdm_along_row *row); /* false stops */

/* From the motion's beginning to its end. PSDM_E_MISSING when inertias, or an elastic joint's rotor, are unknown;
 * PSDM_E_ROBOT for elastic joints in closed loops. options may be NULL. */
PSDM_API psdm_status psdm_along(const psdm_robot *robot, const psdm_motion *motion, const psdm_along_options *options,
                                const psdm_allocator *allocator, psdm_along_write write, void *user, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
