/* derive.h: standard parameters under assumptions, for rooms that sample or identify them. Private to the library. */
#ifndef PSDMP_DERIVE_H
#define PSDMP_DERIVE_H

#include "base/base.h"
#include "psdm/model.h"
#include "robot/robot.h"

/* The standard parameters left by assumptions: pi = B^T (those of param), B (count x standard), identity on param. */
typedef struct psdmp_derive_restriction {
  int count;
  int *param;
  double *B;
} psdmp_derive_restriction;

/* From the robot's assumptions and further ones; count is 0 and B NULL without assumptions. */
psdm_status psdmp_derive_restriction_set(const psdm_robot *robot, const psdm_derive_options *options,
                                         psdmp_base_arena *arena, psdmp_derive_restriction *out, psdm_error *error);

/* One random set of standard parameters that satisfies the assumptions; different for every seed. */
psdm_status psdmp_derive_sample_assumed(const psdm_robot *robot, const psdm_derive_options *options, uint64_t seed,
                                        psdmp_base_arena *arena, double *pi, psdm_error *error);

/* Standard parameters that bodies can have: random where pi has none (NAN), within the robot's assumptions. possible:
 * whether they are, or the assumptions leave no such bodies. */
psdm_status psdmp_derive_draw_bodies(const psdm_robot *robot, uint64_t seed, psdmp_base_arena *arena, double *pi,
                                     bool *possible, psdm_error *error);

#endif
