/* psdm/excite.h: motions that make parameters identifiable.
 *
 *   psdm_excite_options options = {.step = PSDM_STEP_INERTIA, .seconds = 10};
 *   psdm_excite(robot, &options, NULL, &excitation, &error);
 *   psdm_motion_at(excitation->motion, t, 3, x);
 *
 * Inertia: a periodic motion q_i(t) = c_i + sum over harmonics k of a_ik/(w k) sin(w k t) - b_ik/(w k) cos(w k t), w =
 * 2 pi / seconds (Swevers et al. 1997), or eq. 22 of Lloyd, Irani, Ahmadi (2022), a few sines per joint whose harmonics
 * are optimised too. Velocity and acceleration vanish at both ends. It maximises log det(Y^T W Y + ridge) (D-optimal)
 * or minimises the condition number of the stacked, scaled regressor, friction columns included, over all rows of a
 * period, with exact gradients. Positions, velocities, accelerations and torques stay inside their limits at all times
 * (not only at samples: the factor cos(pi N / M) of trigonometric polynomials of degree N on M points, Ehlich and
 * Zeller 1964), and capsules and floor keep their distance. NLopt searches globally, then locally, from several starts
 * in parallel.
 *
 * Motor, gravity, friction: the experiments of sections 3.1 to 3.3 of that paper. docs/excite.md has the equations. */
#ifndef PSDM_EXCITE_H
#define PSDM_EXCITE_H

#include <stdint.h>

#include "psdm/collision.h"
#include "psdm/motion.h"
#include "psdm/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The four steps of a calibration, in their order. constant, name, help */
#define PSDM_STEP_LIST(X)                                                                                          \
  X(PSDM_STEP_MOTOR, "motor",                                                                                      \
    "each joint there and back at constant speed, in a pose where a known mass shows; to be run without and with " \
    "masses")                                                                                                      \
  X(PSDM_STEP_GRAVITY, "gravity", "all joints jog slowly through their range, then back along the same path")      \
  X(PSDM_STEP_FRICTION, "friction",                                                                                \
    "one joint after the other, sines of growing size, from bending bristles to full speed")                       \
  X(PSDM_STEP_INERTIA, "inertia", "an optimised periodic motion of all joints")

typedef enum psdm_step { PSDM_STEP_LIST(PSDM_LIST_CONSTANT) PSDM_STEPS } psdm_step;

PSDM_API const char *psdm_step_name(psdm_step step); /* NULL when out of range */
PSDM_API const char *psdm_step_help(psdm_step step);
PSDM_API bool psdm_step_find(const char *name, psdm_step *step);

typedef enum psdm_excite_shape { PSDM_EXCITE_FOURIER, PSDM_EXCITE_SINES } psdm_excite_shape;
typedef enum psdm_excite_goal { PSDM_EXCITE_CONDITION, PSDM_EXCITE_LOGDET } psdm_excite_goal;

#define PSDM_EXCITE_SECONDS 10 /* default period of motions for inertia */

/* Zero-initialise for the defaults. Limits given by neither options nor robot: positions +-2 rad (+-0.5 m), velocities
 * 2 rad/s (0.5 m/s), accelerations 8 rad/s^2 (2 m/s^2), torques unlimited. Torques are limited only where the robot's
 * inertias are known. */
typedef struct psdm_excite_options {
  psdm_step step; /* note: MOTOR is 0; set it */
  /* of a period; of the whole experiment for the others; 0: PSDM_EXCITE_SECONDS (inertia), else what the experiment
   * needs */
  double seconds;
  /* (n) override the robot's limits; NULL: the robot's */
  const double *lower, *upper, *velocity, *acceleration, *effort;
  double margin;    /* share of the limits to leave unused; 0: 0.02; negative: none */
  double clearance; /* m, least distance of capsules and floor; 0: 0.01; negative: 0 */
  uint64_t seed;
  /* inertia */
  psdm_excite_shape shape;
  psdm_excite_goal goal;
  int harmonics; /* 0: 5; sines: number of sines, 0: 3 */
  /* Hz, the highest frequency: FOURIER leaves out harmonics above it, all SINES are below it; 0: none for FOURIER, 1 Hz
   * for SINES */
  double band;
  bool no_friction; /* leave viscous, Coulomb and offset columns out of the regressor */
  int starts;       /* local searches from different starts; 0: 8 */
  int threads;      /* 0: from OMP_NUM_THREADS or the number of processors; the answer does not depend on it */
  /* other processes that take some of the starts (INERTIA only); NULL: none. The answer does not depend on their
   * number */
  psdm_ranks *ranks;
  long evaluations; /* of the objective in each start; 0: 600 local after 1500 global ones */
  /* s after which it ends with the best so far, which then depends on the machine's speed; 0: 100 */
  double wall;
  /* motor, gravity, friction */
  double mass;   /* kg, motor: the heaviest known mass, for torque limits and the choice of poses; 0: 3 */
  double com[3]; /* m, its centre of mass in the frame of the default link (psdm_robot_default_link) */
  /* share of the velocity limit: motor, gravity: 0: 0.1; friction: of the largest sine, 0: 0.9 */
  double speed;
  int levels; /* friction: number of amplitudes; 0: 10 */
  psdm_progress progress;
  void *progress_user;
  /* called before progress once there is a feasible motion: the best so far, valid during the call, and its condition
   * number */
  void (*better)(void *user, const psdm_motion *best, double condition);
  void *better_user;
  /* inertia: relations of body parameters that need not be identified, as "rx1 = 2*rx2", in addition to the file's;
   * none: the file's are not made either, as in a calibration in one go */
  int assume_count;
  const char *const *assume;
  unsigned long long reserved[4];
} psdm_excite_options;

/* How close a motion comes to its limits, on a fine grid. */
typedef struct psdm_excite_extremes {
  double *lower, *upper;                    /* (n) extreme positions */
  double *velocity, *acceleration, *effort; /* (n) largest magnitudes; effort NAN where torques are unknown */
  double gap;                               /* m, the least; infinite without collision checks */
  /* largest share of a limit in use, 1: at the limit (margins not counted); above 1 only if violated */
  double worst;
} psdm_excite_extremes;

/* One part of an experiment, for logs and messages. */
typedef struct psdm_excite_part {
  double begin, end;           /* s */
  int joint;                   /* the joint that moves, -1: all */
  int direction;               /* 1, -1, 0: both */
  double amplitude, frequency; /* friction: rad, Hz */
} psdm_excite_part;

/* The answer; pointers live as long as it does. */
typedef struct psdm_excitation {
  int n;
  psdm_step step;
  const psdm_motion *motion;
  double seconds;
  psdm_excite_extremes extremes;
  int parts;
  const psdm_excite_part *part; /* (parts) motor, gravity, friction */
  /* inertia */
  /* of the stacked regressor, rows divided by effort and columns scaled (docs/excite.md) */
  double condition, logdet;
  double condition_plain; /* of the stacked base regressor alone, unscaled, as in eq. 23 */
  /* condition of 100 random motions scaled to the same limits; NAN unless inertia */
  double random_best, random_median;
  double random_plain_best, random_plain_median;
  int parameters; /* number of columns */
  long evaluations;
  int starts;
  const double *start_condition; /* (starts) result of each start; NAN: not finished */
  const int *blind_joints;       /* motor: (n) 1 where gravity never shows a mass at this joint */
  bool stopped;
  double wall;
  struct psdmp_excite_excitation *internal;
} psdm_excitation;

/* Plans. Allocates; free with psdm_excitation_free. The robot must outlive the answer. PSDM_E_MISSING for inertia
 * without NLopt; PSDM_E_ROBOT for closed loops, PSDM_E_ARGUMENT with a sentence when no motion fits the limits. */
PSDM_API psdm_status psdm_excite(const psdm_robot *robot, const psdm_excite_options *options,
                                 const psdm_allocator *allocator, psdm_excitation **excitation, psdm_error *error);
PSDM_API void psdm_excitation_free(psdm_excitation *excitation); /* accepts NULL */

/* Measures any motion against the same limits, on `points` points: a check independent of the planner. The arrays of
 * extremes are the caller's. */
PSDM_API psdm_status psdm_excite_check(const psdm_robot *robot, const psdm_excite_options *options,
                                       const psdm_motion *motion, long points, const psdm_allocator *allocator,
                                       psdm_excite_extremes *extremes, psdm_error *error);

/* Condition numbers of any motion: the scaled one, and eq. 23's. */
PSDM_API psdm_status psdm_excite_condition(const psdm_robot *robot, const psdm_excite_options *options,
                                           const psdm_motion *motion, const psdm_allocator *allocator,
                                           double *condition, double *condition_plain, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
