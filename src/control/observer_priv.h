/* observer_priv.h: the observer's memory, shared by its filter (observer.c) and its thresholds
 * (observer_threshold.c). Private to the library. */
#ifndef PSDMP_CONTROL_OBSERVER_PRIV_H
#define PSDMP_CONTROL_OBSERVER_PRIV_H

#include "psdm/observer.h"

/* The robot at one time: at a sample, or halfway between two. */
typedef struct psdmp_control_observed {
  double *q, *qd; /* (n) */
  double *p, *u;  /* (n) momentum; dT/dq - g */
  double *z;      /* (n) LuGre's bristles */
} psdmp_control_observed;

/* One joint's filter and uncertainties; all but the last two follow from the options. */
typedef struct psdmp_control_observed_joint {
  const psdm_friction *friction; /* the robot's; zero if there is none */
  double blend;                  /* 1 - a = 1 - exp(-K / rate) */
  double variance;               /* of r: noise of the torque and uncertainty of the model */
  double velocity, amplify;      /* variance of qd's error; variance of r per variance of p */
  double rest;                   /* rad/s below which dry friction is unknown */
  double own;                    /* the caller's threshold; NAN: none */
  double sd, allowance;          /* of r at the last state; possible error of friction near rest, through the filter */
} psdmp_control_observed_joint;

struct psdm_observer {
  const psdm_robot *robot;
  psdm_work *work;
  void *work_memory;
  int n;
  double rate;
  psdm_friction_kind kind;
  bool differences;
  bool flagged, uncertain; /* sigma was given, velocity_noise was */
  double share[3];         /* of the last three torques in the mean over an interval, oldest first */
  /* standard deviations that count as a collision; the same of the sum of their squares, */
  double z, squares;
  double spread;                       /* its increase because joints share noise, at the last state */
  double statistic;                    /* share of the level that sets the flag */
  long hold, left;                     /* samples for which the flag stays set, and how many remain */
  int hit;                             /* joint that set it */
  int samples;                         /* since the start, as far as it matters: 0 to 2 */
  psdmp_control_observed_joint *joint; /* (n) */
  psdmp_control_observed node[2];      /* the last state, and the new one */
  double *torque[2];                   /* (n) of the last two samples, older first */
  double *q;                           /* (n) of the last sample */
  /* (n) external torque; its mean over the last interval; the part of friction that was dry */
  double *r, *e, *dry;
  double *scratch; /* (n x n) */
};

/* Checks the options for n joints, and computes what follows from them. */
bool psdmp_control_observer_acceptable(int n, const psdm_observer_options *options);
void psdmp_control_observer_tune(psdm_observer *o, const psdm_observer_options *options);

/* Clears flag and allowances. */
void psdmp_control_observer_calm(psdm_observer *o);

/* After a step of r: updates allowances, standard deviations and the flag. */
psdm_status psdmp_control_observer_judge(psdm_observer *o, const psdmp_control_observed *now,
                                         const psdmp_control_observed *next);

#endif
