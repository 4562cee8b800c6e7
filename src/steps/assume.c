/* assume.c: the span of standard parameters that satisfy the robot file's assumptions, as in the derivation. Separate
 * from span.c because the two rooms share private names. */
#include "steps/assume_priv.h"

#include "derive/derive.h"

psdm_status psdmp_steps_assumed(const psdm_robot *robot, psdmp_base_arena *arena, int *count, double **B,
                                psdm_error *error) {
  psdmp_derive_restriction left = {0};
  psdm_status status = psdmp_derive_restriction_set(robot, NULL, arena, &left, error);
  *count = left.count;
  *B = left.B;
  return status;
}
