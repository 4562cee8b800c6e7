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
  int *kept;                            /* (base) standard parameter behind each base parameter */
  double *gear;                         /* (n) */
  psdmp_parameters_column **column;     /* (n) */
  psdmp_parameters_column_state *state; /* (n) */
  double *Y, *value;                    /* (n x standard); the most columns of a drive */
  double *x, *v, *f, *motor, *joint;    /* (n) the drives' positions, speeds, loads; scratch */
  double *z, *before;                   /* (n) bristle deflection, and the drives' speeds, at the previous row */
  double interval;                      /* s between rows; 0: unknown, bristles are in steady state */
  bool fresh;                           /* no row yet */
};

static bool allocate(psdm_predictor *o, const psdm_parameters *p) {
  psdmp_base_arena *arena = &o->arena;
  int n = o->n;
  o->kept = PSDMP_BASE_NEW(arena, p->base, int), o->gear = PSDMP_BASE_NEW(arena, n, double),
  o->column = PSDMP_BASE_NEW(arena, n, psdmp_parameters_column *),
  o->state = PSDMP_BASE_NEW(arena, n, psdmp_parameters_column_state),
  o->Y = PSDMP_BASE_NEW(arena, (long)n * o->standard, double), o->value = PSDMP_BASE_NEW(arena, 128, double),
  o->x = PSDMP_BASE_NEW(arena, n, double), o->v = PSDMP_BASE_NEW(arena, n, double),
  o->f = PSDMP_BASE_NEW(arena, n, double), o->motor = PSDMP_BASE_NEW(arena, n, double),
  o->joint = PSDMP_BASE_NEW(arena, n, double), o->z = PSDMP_BASE_NEW(arena, n, double),
  o->before = PSDMP_BASE_NEW(arena, n, double);
  if (arena->failed) return false;
  for (int i = 0; i < n; i++) {
    if (!(o->column[i] = PSDMP_BASE_NEW(arena, p->columns[i], psdmp_parameters_column))) return false;
    for (int k = 0; k < p->columns[i]; k++)
      o->column[i][k] = (psdmp_parameters_column){p->column[i][k].kind, p->column[i][k].width, p->column[i][k].load};
  }
  for (int j = 0; j < psdm_robot_joints(o->robot); j++)
    if (psdm_robot_joint(o->robot, j)->q >= 0)
      o->gear[psdm_robot_joint(o->robot, j)->q] = psdm_robot_joint(o->robot, j)->gear;
  for (int j = 0; j < p->base; j++) o->kept[j] = psdmp_robot_standard_find(o->robot, p->theta[j].name);
  return true;
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
  if (!allocate(o, p) || psdm_work_new(robot, allocator, &o->work)) {
    psdm_predictor_free(o);
    return psdmp_base_no_memory("", error);
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

void psdm_predictor_begin(psdm_predictor *o) {
  memset(o->state, 0, (size_t)o->n * sizeof *o->state);
  o->fresh = true;
}

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

/* drives' quantities from the joints': motors' through the gears */
static void drives_from_joints(const psdm_predictor *o, const double *joint, bool torque, double *drive) {
  if (torque) psdm_robot_motor_torque(o->robot, joint, o->motor);
  else psdm_robot_joint_to_motor(o->robot, joint, o->motor);
  for (int i = 0; i < o->n; i++) drive[i] = torque ? o->motor[i] * o->gear[i] : o->motor[i] / o->gear[i];
}

/* gains times columns */
static double column_torque(psdm_predictor *o, int i) {
  double sum = 0;
  psdmp_parameters_columns_at(o->column[i], o->p->columns[i], o->x[i], o->v[i], fabs(o->f[i]), &o->state[i], o->value);
  for (int k = 0; k < o->p->columns[i]; k++) sum += o->value[k] * o->p->column[i][k].gain;
  return sum;
}

/* bristles along the straight line from the last row's speed to this one's; at a first row in steady sliding, so
 * undeflected at rest */
static double bristle_torque(psdm_predictor *o, int i) {
  const psdm_friction *f = &o->p->lugre[i];
  const double t[2] = {0, o->interval}, v[2] = {o->before[i], o->v[i]};
  double z[2], tau[2], rate;
  o->before[i] = v[1];
  if (!f->given) return 0;
  if (o->fresh || !(o->interval > 0)) {
    o->z[i] = psdm_lugre_steady(f, v[1]);
    psdm_lugre(f, v[1], o->z[i], &rate, &tau[1]);
  } else {
    psdm_lugre_follow(f, o->z[i], 2, t, v, z, tau);
    o->z[i] = z[1];
  }
  return tau[1];
}

static void add_friction(psdm_predictor *o, const double *q, const double *qd, double *friction) {
  const psdm_parameters *p = o->p;
  drives_from_joints(o, q, false, o->x);
  drives_from_joints(o, qd, false, o->v);
  memset(o->f, 0, (size_t)o->n * sizeof *o->f);
  if (p->theta_load) {
    rigid(o, true, o->joint);
    drives_from_joints(o, o->joint, true, o->f);
  }
  for (int i = 0; i < o->n; i++) o->motor[i] = (p->lugre ? bristle_torque(o, i) : column_torque(o, i)) / o->gear[i];
  o->fresh = false;
  psdm_robot_joint_torque(o->robot, o->motor, friction);
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
