/* assume_priv.h: the standard parameters that satisfy a robot file's assumptions. Private to the library. */
#ifndef PSDMP_STEPS_ASSUME_H
#define PSDMP_STEPS_ASSUME_H

#include "base/base.h"
#include "psdm/robot.h"

/* pi = B^T rho, B (count x standard); B NULL: no assumptions. */
psdm_status psdmp_steps_assumed(const psdm_robot *robot, psdmp_base_arena *arena, int *count, double **B,
                                psdm_error *error);

#endif
