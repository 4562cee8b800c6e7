/* excite_priv.h: shared by the planners of motions. Private to the library.
 *
 *   excite.c            the entry: limits, checks, condition numbers, the answer
 *   inertia_priv.h      inertia: objective, constraints, search
 *   experiment*.c       motor, gravity, friction: motions by rule */
#ifndef PSDMP_EXCITE_PRIV_H
#define PSDMP_EXCITE_PRIV_H

#include "base/base.h"
#include "psdm/excite.h"

/* Limits of a motion, margins already subtracted; (n) each. effort infinite where torques are not limited. */
typedef struct psdmp_excite_limits {
  double *lower, *upper, *velocity, *acceleration, *effort;
  double clearance; /* m */
  double margin;    /* the share subtracted */
  bool torques;     /* inertias are known: torques can be limited */
} psdmp_excite_limits;

/* Plans motor, gravity and friction experiments: a motion (the caller frees it), and parts, blind_joints (motor) in
 * the arena. */
psdm_status psdmp_excite_experiment(const psdm_robot *robot, const psdm_excite_options *options,
                                    const psdmp_excite_limits *limits, psdmp_base_arena *arena,
                                    const psdm_allocator *allocator, psdm_excitation *out, psdm_motion **motion,
                                    psdm_error *error);

#endif
