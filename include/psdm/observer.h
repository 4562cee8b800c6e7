/* psdm/observer.h: torques that the surroundings exert, without a force sensor: the generalised-momentum observer, and
 * a flag for collisions.
 *
 *   r = K (p(t) - integral of (tau + C^T qd - g - friction + r) dt - p(0)),   p = M(q) qd,   dr/dt = K (tau_ext - r)
 *
 * De Luca and Mattone (2003, 2005); Haddadin, De Luca, Albu-Schaeffer (2017). r follows tau_ext like a first-order
 * filter of bandwidth K, needs no accelerations and no inverse of M. In discrete time it steps exactly for a torque
 * that is constant between samples.
 *
 * The flag compares |r_j| with a threshold that follows from what a calibration reported: z standard deviations, by
 * noise of torques and velocities through the observer's filter and by the doubt of the model, and what dry friction
 * may be off by near rest; and the joints together by the sum of their squares, which sees forces that are spread
 * over several. docs/observer.md has the derivation. In the caller's memory; nothing allocates or prints. One thread
 * at a time. */
#ifndef PSDM_OBSERVER_H
#define PSDM_OBSERVER_H

#include "psdm/friction.h"
#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_observer psdm_observer;

/* Zero-initialise for the defaults; rate is needed. Arrays are copied. */
typedef struct psdm_observer_options {
  double rate;                 /* Hz of the samples */
  double bandwidth;            /* rad/s, K of all joints; 0: 100 */
  const double *gain;          /* (n) K of each joint in place of bandwidth; nullable */
  psdm_friction_kind friction; /* of the robot's joints, that tau is expected to overcome */
  /* tau are samples of torques that go on changing, straight lines in between; false: held from one sample to the
   * next */
  bool sampled;
  /* velocities are differences of positions, qd is not asked for: exact in time, and r is that of half a sample ago */
  bool differences;
  /* (n) Nm, above 0: standard deviation of the torque that the model does not explain (psdm_calibration.sigma);
   * needed for the flag */
  const double *sigma;
  const double *correlation; /* (n) samples after which that is uncorrelated; NULL: 1, white */
  /* (n) rad/s, standard deviation of qd's error, white; of differences: quantum rate / sqrt(6); a step takes O(n^3)
   * then; NULL: 0 */
  const double *velocity_noise;
  /* (n) Nm, standard deviation of the model's own error, constant over the filter's memory; NULL: 0 */
  const double *doubt;
  double rest;         /* rad/s (m/s) below which dry friction may be anything between its extremes; 0: 0.01 */
  double false_alarms; /* per hour, that are accepted; 0: 0.1 */
  double hold;         /* s for which the flag stays up; 0: 0.1 */
  unsigned long long reserved[8];
} psdm_observer_options;

PSDM_API size_t psdm_observer_bytes(const psdm_robot *robot);

/* The robot must outlive it. Memory aligned like malloc's. PSDM_E_ARGUMENT with options out of range, PSDM_E_MISSING
 * where inertias, or numbers of a friction model, are unknown. Where the robot's parameters change (psdm_robot_set_parameters: a load is taken up), restart. */
PSDM_API psdm_status psdm_observer_init(const psdm_robot *robot, const psdm_observer_options *options, void *memory,
                                        size_t bytes, psdm_observer **observer);

/* Forgets: the next sample begins anew with r = 0, and the flag is down. Also where samples were lost. */
PSDM_API void psdm_observer_restart(psdm_observer *observer);

/* One sample: what was measured at it, tau (n) the motors' torque seen from the joints. qd may be NULL with
 * differences. r (n): external torques up to here. PSDM_E_ARGUMENT, and nothing is changed, when a number is not
 * finite. */
PSDM_API psdm_status psdm_observer_step(psdm_observer *observer, const double *q, const double *qd, const double *tau,
                                        double *r);

/* Thresholds (n), Nm, after the last step: |r_j| above them is a collision. They follow from the options, infinite
 * without sigma; a joint that is near rest, or was within the filter's memory, has on top what dry friction may be
 * off by there. set_thresholds replaces all but that, and the sum of squares no longer counts (n, not negative;
 * NULL: those of the options again). */
PSDM_API void psdm_observer_thresholds(const psdm_observer *observer, double *threshold);
PSDM_API void psdm_observer_set_thresholds(psdm_observer *observer, const double *threshold);

/* The flag after the last step: joint (nullable) is the one that was farthest beyond its threshold when the flag
 * went up, -1: none. */
PSDM_API bool psdm_observer_collision(const psdm_observer *observer, int *joint);

/* What the last step's r is of what raises the flag: above 1 it does. The largest of joint by joint and all
 * together. */
PSDM_API double psdm_observer_statistic(const psdm_observer *observer);

/* Standard deviation (n) of r that the options' noise and doubt lead to at the last step's state, for those who
 * bring their own rule. */
PSDM_API void psdm_observer_sd(const psdm_observer *observer, double *sd);

/* Model doubt at a state from a covariance of base parameters: sd of Y theta, (n). Y (n x base), covariance with row
 * stride `stride` >= base. For `doubt` above. */
PSDM_API void psdm_observer_doubt(int n, int base, const double *Y, const double *covariance, int stride, double *sd);

#ifdef __cplusplus
}
#endif
#endif
