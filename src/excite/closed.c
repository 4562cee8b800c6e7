/* closed.c: the same derivatives as adjoint.c for robots with closed loops.
 *
 * Row i of the regressor times its weights is the torque of joint i of a robot whose parameters are those weights: its
 * derivatives are those of the inverse dynamics, exact through the loops. */
#include <string.h>

#include "excite/inertia_priv.h"

bool psdmp_excite_closed_new(const psdm_robot *r, psdmp_base_arena *arena, psdmp_excite_closed *c) {
  *c = (psdmp_excite_closed){.robot = NULL};
  if (!psdm_robot_loops(r)) return true;
  c->by = psdmp_excite_numbers(arena, 3L * psdm_robot_n(r) * psdm_robot_n(r));
  return c->by && !psdm_robot_clone(r, arena->allocator, &c->robot) &&
         !psdm_linear_new(c->robot, arena->allocator, &c->linear);
}

void psdmp_excite_closed_free(psdmp_excite_closed *c, const psdm_allocator *allocator) {
  psdm_linear_free(c->linear, allocator);
  psdm_robot_free(c->robot);
}

psdm_status psdmp_excite_closed_gradient(psdmp_excite_closed *c, const double *state, const double *weight,
                                         double *by_state) {
  int n = psdm_robot_n(c->robot), nn = n * n;
  memset(by_state, 0, 3 * (size_t)n * sizeof *by_state);
  for (int i = 0; i < n; i++) {
    psdm_robot_set_parameters(c->robot, weight + (long)i * psdm_robot_parameter_count(c->robot));
    psdm_status status =
        psdm_linearize_inverse(c->robot, c->linear, state, state + n, state + 2 * n, c->by, c->by + nn, c->by + 2 * nn);
    if (status) return status;
    for (int d = 0; d < 3; d++)
      for (int j = 0; j < n; j++) by_state[d * n + j] += c->by[d * nn + i * n + j];
  }
  return PSDM_OK;
}
