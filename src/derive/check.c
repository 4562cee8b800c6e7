/* check.c: the model against the recursions at random states. */
#include <math.h>
#include <string.h>

#include "derive/collect.h"
#include "psdm/rigid.h"

#define NEW(arena, count, type) ((type *)psdmp_arena_alloc(arena, (size_t)((count) > 0 ? (count) : 1) * sizeof(type)))

/* torques of the standard parameters by the recursive regressor: it needs no inertias in the robot */
static psdm_status recursive_torque(const psdm_robot *r, psdm_work *work, const double *state, const double *pi, double *Y, double *tau) {
  int n = r->n, S = psdm_robot_parameter_count(r);
  if (psdm_robot_ready(r, NULL) == PSDM_OK) return psdm_inverse(r, work, state, state + n, state + 2 * n, tau);
  psdm_status status = psdm_regressor_standard(r, work, state, state + n, state + 2 * n, Y);
  for (int i = 0; i < n && !status; i++) {
    tau[i] = 0;
    for (int k = 0; k < S; k++) tau[i] += Y[(long)i * S + k] * pi[k];
  }
  return status;
}

psdm_status psdm_model_check(const psdm_robot *r, const psdm_model *m, const psdm_derive_options *options, int states, bool (*going_on)(void *user, int done),
                             void *user, const psdm_allocator *allocator, double *residual, psdm_error *error) {
  psdmp_arena arena = {.allocator = allocator};
  int n = r->n, S = m->standard;
  double *y = NEW(&arena, m->p, double), *Y = NEW(&arena, n * S, double), *pi = NEW(&arena, S, double), *theta = NEW(&arena, m->l, double);
  double *state = NEW(&arena, 3 * n, double), *tau = NEW(&arena, n, double), *recursive = NEW(&arena, n, double), worst = 0, largest = 0;
  psdm_work *work = NULL;
  psdm_status status = PSDM_E_MEMORY;
  if (y && Y && pi && theta && state && tau && recursive) status = psdm_work_new(r, allocator, &work);
  if (!status) {
    psdm_robot_parameters(r, pi);
    if (psdm_robot_ready(r, NULL)) status = psdmp_sample_assumed(r, options, 3, &arena, pi, error);
    psdm_model_theta(m, pi, theta);
  }
  uint64_t seed = 11;
  for (int s = 0; s < states && !status; s++) {
    for (int i = 0; i < 3 * n; i++) state[i] = psdmp_sample(&seed) * (i < n ? 3.14159 : 1);
    psdm_model_y(m, state, state + n, state + 2 * n, y);
    psdm_model_torque(m, PSDM_PART_ALL, y, theta, tau);
    status = recursive_torque(r, work, state, pi, Y, recursive);
    for (int i = 0; i < n; i++) {
      worst = fmax(worst, fabs(tau[i] - recursive[i]));
      largest = fmax(largest, fabs(recursive[i]));
    }
    if (going_on && !going_on(user, s + 1)) break;
  }
  *residual = largest > 0 ? worst / largest : worst;
  psdm_work_free(work, allocator);
  psdmp_arena_free(&arena);
  return status && error && status != PSDM_E_PARSE ? psdmp_fail(error, status, r->file, 0, 0, "%s", psdm_status_text(status)) : status;
}
