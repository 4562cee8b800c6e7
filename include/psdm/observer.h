/* psdm/observer.h: external torques without a force sensor: the generalised-momentum observer, and a collision flag.
 *
 *   r = K (p(t) - integral of (tau + C^T qd - g - friction + r) dt - p(0)),   p = M(q) qd,   dr/dt = K (tau_ext - r)
 *
 * De Luca and Mattone (2003, 2005); Haddadin, De Luca, Albu-Schaeffer (2017). r follows tau_ext like a first-order
 * filter of bandwidth K, needs no accelerations and no inverse of M. In discrete time it is exact for a torque that is
 * constant between samples.
 *
 * The flag compares |r_j| with a threshold from the calibration's uncertainties: z standard deviations, from noise of
 * torques and velocities passed through the observer's filter and from the model's uncertainty, plus the possible error
 * of dry friction near rest; and it tests all joints together by the sum of their squares, which detects forces spread
 * over several. docs/observer.md has the derivation. Uses the caller's memory; nothing allocates or prints. One thread
 * at a time. */
#ifndef PSDM_OBSERVER_H
#define PSDM_OBSERVER_H

#include "psdm/friction.h"
#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_observer psdm_observer;

/* Zero-initialise for the defaults; rate is required. Arrays are copied. */
typedef struct psdm_observer_options {
  double rate;                 /* Hz of the samples */
  double bandwidth;            /* rad/s, K of all joints; 0: 100 */
  const double *gain;          /* (n) K of each joint instead of bandwidth; nullable */
  psdm_friction_kind friction; /* of the robot's joints, contained in tau */
  /* tau are samples of changing torques, linear in between; false: held from one sample to the next */
  bool sampled;
  /* velocities are differences of positions, qd is not used: exact in time, and r is that of half a sample ago */
  bool differences;
  /* (n) Nm, above 0: standard deviation of the torque that the model does not explain (psdm_calibration.sigma);
   * required for the flag */
  const double *sigma;
  const double *correlation; /* (n) samples after which it is uncorrelated; NULL: 1, white */
  /* (n) rad/s, standard deviation of qd's error, white; of differences: quantum rate / sqrt(6); a step then takes
   * O(n^3); NULL: 0 */
  const double *velocity_noise;
  /* (n) Nm, standard deviation of the model's own error, constant over the filter's memory; NULL: 0 */
  const double *doubt;
  double rest;         /* rad/s (m/s) below which dry friction may have any value between its extremes; 0: 0.01 */
  double false_alarms; /* accepted, per hour; 0: 0.1 */
  double hold;         /* s for which the flag stays set; 0: 0.1 */
  unsigned long long reserved[8];
} psdm_observer_options;

PSDM_API size_t psdm_observer_bytes(const psdm_robot *robot);

/* The robot must outlive it. Memory aligned like malloc's. PSDM_E_ARGUMENT for options out of range, PSDM_E_MISSING
 * where inertias or friction parameters are unknown. Restart when the robot's parameters change
 * (psdm_robot_set_parameters: a load is picked up). */
PSDM_API psdm_status psdm_observer_init(const psdm_robot *robot, const psdm_observer_options *options, void *memory,
                                        size_t bytes, psdm_observer **observer);

/* Clears the state: the next sample starts with r = 0, and the flag is off. Also after lost samples. */
PSDM_API void psdm_observer_restart(psdm_observer *observer);

/* One sample: measurements, tau (n) the motor torques on the joint side. qd may be NULL with differences. r (n):
 * external torques up to this sample. PSDM_E_ARGUMENT, and nothing is changed, when a number is not finite. */
PSDM_API psdm_status psdm_observer_step(psdm_observer *observer, const double *q, const double *qd, const double *tau,
                                        double *r);

/* Thresholds (n), Nm, after the last step: |r_j| above them is a collision. They follow from the options, infinite
 * without sigma; for a joint near rest, now or within the filter's memory, the possible error of dry friction is added.
 * set_thresholds replaces all but that addition, and switches off the test of the sum of squares (n, not negative;
 * NULL: back to those of the options). */
PSDM_API void psdm_observer_thresholds(const psdm_observer *observer, double *threshold);
PSDM_API void psdm_observer_set_thresholds(psdm_observer *observer, const double *threshold);

/* The flag after the last step: joint (nullable) is the one that exceeded its threshold most when the flag was set, -1:
 * none. */
PSDM_API bool psdm_observer_collision(const psdm_observer *observer, int *joint);

/* The last step's r relative to the thresholds: above 1 the flag is set. The largest over each joint and all
 * together. */
PSDM_API double psdm_observer_statistic(const psdm_observer *observer);

/* Standard deviation (n) of r from the options' noise and model uncertainty at the last step's state, for rules of your
 * own. */
PSDM_API void psdm_observer_sd(const psdm_observer *observer, double *sd);

/* Model uncertainty at a state from a covariance of base parameters: sd of Y theta, (n). Y (n x base), covariance with
 * row stride `stride` >= base. For `doubt` above. */
PSDM_API void psdm_observer_doubt(int n, int base, const double *Y, const double *covariance, int stride, double *sd);

#ifdef __cplusplus
}
#endif
#endif
