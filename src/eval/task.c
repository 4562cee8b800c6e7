/* task.c: functions of a task: a point of a link, and some of its directions. */
#include <string.h>

#include "eval/eval_priv.h"
#include "psdm/cartesian.h"
#include "robot/robot.h"

int psdmp_eval_directions(const psdm_eval_options *o) {
  return o->directions ? psdm_directions_count(o->directions) : PSDM_DIRECTIONS;
}

size_t psdmp_eval_task_scratch(const psdm_robot *r) {
  size_t n = (size_t)r->n, m = n < PSDM_DIRECTIONS ? n : PSDM_DIRECTIONS;
  return 12 * n + 2 * PSDM_DIRECTIONS * n + (m ? psdm_cartesian_scratch(r, (int)m) : 0);
}

psdm_status psdm_eval_check(const psdm_robot *r, psdm_function f, const psdm_eval_options *o, psdm_error *error) {
  int joint, m = o ? psdmp_eval_directions(o) : PSDM_DIRECTIONS;
  const char *link = o ? o->link : NULL;
  if (r->closure && (f == PSDM_F_INVERSE_SECOND || f == PSDM_F_LINEARIZE_SECOND))
    return psdmp_base_fail(error, PSDM_E_ROBOT, r->file, 0, 0,
                           "closed loops: %s is not available; the first derivatives of torques are",
                           psdm_function_name(f));
  if (!psdm_function_is_task(f)) return PSDM_OK;
  if (psdmp_robot_named_or_fail(r, link, &joint, error)) return PSDM_E_ARGUMENT;
  if (!psdm_robot_moves(r, joint)) {
    char name[80];
    psdmp_base_quote(r->link[joint].name, strlen(r->link[joint].name), name, sizeof name);
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0, "link '%s' is fixed to the base: it moves in no task",
                           name);
  }
  if (f == PSDM_F_CARTESIAN_JACOBIAN || m <= r->n) return PSDM_OK;
  return psdmp_base_fail(
      error, PSDM_E_ARGUMENT, r->file, 0, 0,
      "%s in %d directions needs as many joints, and this robot has %d: choose at most %d directions",
      psdm_function_name(f), m, r->n, r->n);
}

psdm_status psdmp_eval_task(const psdm_robot *r, psdm_work *work, psdm_function f, const psdm_eval_options *o,
                            const double *in, double *out) {
  size_t n = (size_t)r->n;
  int m = psdmp_eval_directions(o);
  unsigned rows = o->directions ? o->directions : PSDM_ALL_DIRECTIONS;
  bool rates = f == PSDM_F_CARTESIAN_CORIOLIS || f == PSDM_F_CARTESIAN_FACTOR,
       jacobian = f == PSDM_F_CARTESIAN_JACOBIAN;
  const double *q = in, *qd = rates ? in + n : NULL;
  if (!o->scratch || (rates && !o->linear) || rows > PSDM_ALL_DIRECTIONS || (!jacobian && m > r->n))
    return PSDM_E_ARGUMENT;
  double *twelve = o->scratch, *J = jacobian ? out : twelve + 12 * n, *J_rate = twelve + (12 + PSDM_DIRECTIONS) * n;
  psdm_status status =
      psdm_task_point(r, work, q, qd, psdmp_robot_named(r, o->link), o->point, rows, twelve, J, rates ? J_rate : NULL);
  psdm_cartesian want = {.M = f == PSDM_F_CARTESIAN_MASS ? out : NULL,
                         .S = f == PSDM_F_CARTESIAN_FACTOR ? out : NULL,
                         .c = f == PSDM_F_CARTESIAN_CORIOLIS ? out : NULL,
                         .g = f == PSDM_F_CARTESIAN_GRAVITY ? out : NULL,
                         .J_inverse = f == PSDM_F_CARTESIAN_INVERSE ? out : NULL,
                         .N = f == PSDM_F_CARTESIAN_NULL_SPACE ? out : NULL};
  return status || jacobian ? status
                            : psdm_cartesian_at(r, work, o->linear, q, qd, m, J, rates ? J_rate : NULL, 0,
                                                J_rate + PSDM_DIRECTIONS * n, &want);
}
