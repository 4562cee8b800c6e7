/* psdm/parameters.h: the result of a calibration as a file that every command accepts.
 *
 *   psdm_parameters_load("arm.yaml", robot, NULL, &parameters, &error);
 *   psdm_parameters_apply(parameters, robot, &error);    // the robot has the calibrated inertias and friction
 *
 * docs/parameters.md has the format. Numbers are written with 17 digits and read back to the last bit. */
#ifndef PSDM_PARAMETERS_H
#define PSDM_PARAMETERS_H

#include <stdint.h>

#include "psdm/calibrate.h"
#include "psdm/model.h"
#include "psdm/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constant once made; all pointers live as long as it does. */
typedef struct psdm_parameters {
  const char *robot;   /* its name */
  uint64_t kinematics; /* psdm_robot_fingerprint of it; 0: not in the file */
  psdm_estimator estimator;
  int n, links, base, standard;             /* standard: 10 per link, then the drive inertias */
  const psdm_estimate *theta;               /* (base) */
  const double *pi;                         /* (standard) full parameters; NULL: only the base parameters are known */
  const int *columns;                       /* (n) friction columns of each drive */
  const psdm_column *const *column;         /* (n) */
  const double *theta_load;                 /* (base) whose rigid torque loads friction; NULL: no load */
  const double *sigma;                      /* (n) residual's standard deviation of each drive, Nm */
  const double *speed, *load;               /* (n) of the drives: 99th percentile of speed; mean |rigid torque| */
  psdm_kinematics source;                   /* of velocities and accelerations */
  double cutoff, delay, lambda, rest, rate; /* Hz, s, nats, share, Hz */
  psdm_part_fit train, heldout;             /* rows in motion */
  /* ((base + all columns)^2); NULL: not kept. Of steps: (n + base + 8 n)^2 of Kt, theta, friction */
  const double *covariance;
  /* of steps (psdm/steps.h), NULL or 0 otherwise. theta above is that of the robot with its tool; tool is the known
   * part of it */
  const psdm_friction *lugre;                         /* (n) friction of each drive, instead of columns */
  const double *lugre_sd;                             /* (n x 8) in the order of psdm_friction */
  const double *torque_constant, *torque_constant_sd; /* (n) Nm/A; NAN: unknown */
  bool currents;                                      /* they refer to currents; else factors of logged torques */
  const double *tool;               /* (10) standard parameters about the last link's frame; NULL: none */
  unsigned steps;                   /* bits 1 << psdm_step of the steps done */
  const psdm_joint_fit *step_fit;   /* (PSDM_STEPS x n) held-out rows of each step; rows = 0: none */
  const unsigned char *theta_known; /* (base) 0: not determined by a step yet, its value is NAN; NULL: all are known */
  struct psdmp_parameters *internal;
} psdm_parameters;

/* The base parameters used by calibrations, with their formulas: those of the robot without the assumptions of its
 * file. Free with psdm_model_free. */
PSDM_API psdm_status psdm_parameters_model(const psdm_robot *robot, const psdm_allocator *allocator, psdm_model **model,
                                           psdm_error *error);

/* A copy of a calibration's result. Allocates; free with psdm_parameters_free. */
PSDM_API psdm_status psdm_parameters_from(const psdm_calibration *calibration, bool covariance,
                                          const psdm_allocator *allocator, psdm_parameters **parameters,
                                          psdm_error *error);

/* The same for a calibration in steps; the covariance is always kept. */
PSDM_API psdm_status psdm_parameters_from_steps(const psdm_steps *steps, const psdm_allocator *allocator,
                                                psdm_parameters **parameters, psdm_error *error);
PSDM_API void psdm_parameters_free(psdm_parameters *parameters); /* accepts NULL */

PSDM_API void psdm_parameters_write(const psdm_parameters *parameters, psdm_output *output);

/* Reads a file ("-" is standard input) and checks that it is for this robot's kinematics; one without a fingerprint is
 * accepted, and has kinematics = 0. Allocates. */
PSDM_API psdm_status psdm_parameters_load(const char *path, const psdm_robot *robot, const psdm_allocator *allocator,
                                          psdm_parameters **parameters, psdm_error *error);

/* The same from text in memory; name replaces the file name in messages. */
PSDM_API psdm_status psdm_parameters_parse(const char *text, size_t length, const char *name, const psdm_robot *robot,
                                           const psdm_allocator *allocator, psdm_parameters **parameters,
                                           psdm_error *error);

/* Friction of a drive in the terms of a robot file: Coulomb, viscous and offset by least squares over the tested
 * speeds, at the mean load. Position-dependent friction is left out. *left_out (nullable) is the largest difference of
 * the two curves over those speeds, Nm. */
PSDM_API void psdm_parameters_friction(const psdm_parameters *parameters, int drive, psdm_friction *friction,
                                       double *left_out);

/* Sets the robot's standard parameters, its joints' friction (LuGre, from steps, where drives are joints) and torque
 * constants. PSDM_E_MISSING while steps that this needs are not done. Where only base parameters are known, the
 * standard parameter that each is named after gets its value and the rest are zero: the same torques, from links that
 * need not be physically possible. No other thread may use the robot meanwhile. */
PSDM_API psdm_status psdm_parameters_apply(const psdm_parameters *parameters, psdm_robot *robot, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
