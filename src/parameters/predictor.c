/* predictor.c: torques along a motion from a parameter file: rigid by the regressor, friction drive by drive. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "robot/robot.h"
#include "psdm/friction.h"
#include "psdm/predictor.h"
#include "psdm/rigid.h"

struct psdm_predictor {
  psdmp_base_arena arena;
  const psdm_parameters *p;
  const psdm_robot *robot;
  psdm_work *work;
  int n, standard;
  int *kept;                  /* (base) standard parameter behind each base parameter */
  psdmp_parameters_drag drag; /* friction */
  double *Y;                  /* (n x standard) */
  double *joint;              /* (n) */
  double *q, *qd, *z;         /* (n), (n), (states) the row before, and what friction remembers of it */
  double interval;            /* s between rows; 0: unknown, bristles are in steady state */
  bool fresh;                 /* no row yet */
};

static psdm_status allocate(psdm_predictor *o, const psdm_parameters *p, psdm_error *error) {
  psdmp_base_arena *arena = &o->arena;
  int n = o->n;
  o->kept = PSDMP_BASE_NEW(arena, p->base, int), o->Y = PSDMP_BASE_NEW(arena, (long)n * o->standard, double),
  o->joint = PSDMP_BASE_NEW(arena, n, double), o->q = PSDMP_BASE_NEW(arena, n, double),
  o->qd = PSDMP_BASE_NEW(arena, n, double);
  if (arena->failed || psdm_work_new(o->robot, arena->allocator, &o->work)) return psdmp_base_no_memory("", error);
  for (int j = 0; j < p->base; j++) o->kept[j] = psdmp_robot_standard_find(o->robot, p->theta[j].name);
  psdm_status status = psdmp_parameters_drag_set(&o->drag, o->robot, PSDM_FRICTION_NONE, p, arena, error);
  if (status) return status;
  o->z = PSDMP_BASE_NEW(arena, o->drag.states, double);
  return o->z ? PSDM_OK : psdmp_base_no_memory("", error);
}

psdm_status psdm_predictor_new(const psdm_parameters *p, const psdm_robot *robot, const psdm_allocator *allocator,
                               psdm_predictor **out, psdm_error *error) {
  *out = NULL;
  psdm_status shown = psdmp_parameters_match(p, robot, error);
  if (!shown) shown = psdmp_parameters_shown(p, error);
  if (shown) return shown;
  psdm_predictor *o = psdmp_base_alloc(allocator, sizeof *o);
  if (!o) return psdmp_base_no_memory("", error);
  *o = (psdm_predictor){.arena = {.allocator = allocator},
                        .p = p,
                        .robot = robot,
                        .n = psdm_robot_n(robot),
                        .standard = psdm_robot_parameter_count(robot)};
  psdm_status status = allocate(o, p, error);
  if (status) {
    psdm_predictor_free(o);
    return status;
  }
  psdm_predictor_begin(o);
  psdm_predictor_rate(o, p->rate);
  *out = o;
  return PSDM_OK;
}

void psdm_predictor_free(psdm_predictor *o) {
  if (!o) return;
  const psdm_allocator *allocator = o->arena.allocator;
  psdm_work_free(o->work, allocator);
  psdmp_base_arena_free(&o->arena);
  psdmp_base_free(allocator, o);
}

void psdm_predictor_begin(psdm_predictor *o) { o->fresh = true; }

void psdm_predictor_rate(psdm_predictor *o, double rate) { o->interval = rate > 0 && isfinite(rate) ? 1 / rate : 0; }

/* Y times base parameters, those of the load or the parameters' own; or times the full ones if known, which hold for
 * any gravity */
static void rigid(const psdm_predictor *o, bool load, double *tau) {
  const psdm_parameters *p = o->p;
  bool full = p->pi && !load;
  for (int i = 0; i < o->n; i++) {
    const double *Y = o->Y + (long)i * o->standard;
    tau[i] = 0;
    for (int k = 0; k < o->standard && full; k++) tau[i] += Y[k] * p->pi[k];
    for (int j = 0; j < p->base && !full; j++) tau[i] += Y[o->kept[j]] * (load ? p->theta_load[j] : p->theta[j].value);
  }
}

/* bristles go along the straight line from the last row's speed to this one's; at a first row they are bent as by a
 * long way at its speed, so unbent at rest */
static void add_friction(psdm_predictor *o, const double *q, const double *qd, double *friction) {
  const psdmp_parameters_drag *d = &o->drag;
  size_t row = (size_t)o->n * sizeof *q;
  if (o->fresh || (d->formula && !(o->interval > 0))) psdmp_parameters_drag_begin(d, qd, o->z);
  else psdmp_parameters_drag_step(d, o->q, o->qd, q, qd, o->interval, o->z);
  memcpy(o->q, q, row);
  memcpy(o->qd, qd, row);
  o->fresh = false;
  if (d->loaded && o->p->theta_load) rigid(o, true, o->joint);
  psdmp_parameters_drag_torque(d, q, qd, o->p->theta_load ? o->joint : NULL, o->z, friction);
}

psdm_status psdm_predictor_step(psdm_predictor *o, const double *q, const double *qd, const double *qdd, double *tau,
                                double *friction) {
  psdm_status status = psdm_regressor_standard(o->robot, o->work, q, qd, qdd, o->Y);
  if (status) return status;
  double *part = friction ? friction : tau;
  add_friction(o, q, qd, part);
  rigid(o, false, o->joint);
  for (int i = 0; i < o->n; i++) tau[i] = o->joint[i] + part[i];
  return PSDM_OK;
}
