/* drag.c: friction of a whole robot, of its joints by their own numbers or drive by drive as a calibration found it.
 *
 * A drive's position, speed and load are those of its joint seen through transmission and gear: x = motor / gear, f =
 * motor torque * gear. Its friction goes the same way back. Nothing here keeps state: what bristles and stops remember
 * comes in and goes out. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "robot/robot.h"
#include "psdm/friction.h"

typedef psdmp_parameters_drag drag;

/* ---- what there is ---- */

static bool is_loaded(const psdm_parameters *p) {
  for (int i = 0; i < p->n && !p->lugre; i++)
    for (int k = 0; k < p->columns[i]; k++)
      if (p->column[i][k].load) return true;
  return false;
}

static int count_stops(const psdm_parameters *p) {
  int stops = 0;
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < p->columns[i]; k++) stops += p->column[i][k].kind == PSDM_COLUMN_STOP;
  return stops;
}

static psdm_status take_joints(drag *d, psdm_error *error) {
  for (int k = 0; k < psdm_robot_joints(d->robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(d->robot, k);
    if (joint->q < 0) continue;
    const char *lacks = joint->friction.given ? psdm_friction_lacks(&joint->friction, d->kind) : NULL;
    char name[64];
    if (lacks)
      return psdmp_base_fail(error, PSDM_E_MISSING, d->robot->file, 0, 0, "joint '%s': %s",
                             psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name), lacks);
    d->friction[joint->q] = joint->friction;
  }
  return PSDM_OK;
}

psdm_status psdmp_parameters_drag_set(drag *d, const psdm_robot *robot, psdm_friction_kind kind,
                                      const psdm_parameters *p, psdmp_base_arena *arena, psdm_error *error) {
  int n = robot->n;
  *d = (drag){.robot = robot, .kind = !p ? kind : p->lugre ? PSDM_FRICTION_LUGRE : PSDM_FRICTION_NONE, .p = p, .n = n};
  d->friction = PSDMP_BASE_NEW(arena, n, psdm_friction);
  d->gear = PSDMP_BASE_NEW(arena, n, double);
  d->room = PSDMP_BASE_NEW(arena, 6 * n, double);
  if (!d->friction || !d->gear || !d->room) return psdmp_base_no_memory(robot->file, error);
  for (int j = 0; j < robot->joints; j++)
    if (robot->joint[j].q >= 0) d->gear[robot->joint[j].q] = robot->joint[j].gear;
  if (p && p->lugre) memcpy(d->friction, p->lugre, (size_t)n * sizeof *d->friction);
  d->formula = !p || p->lugre;
  d->loaded = p && is_loaded(p);
  d->states = !d->formula ? count_stops(p) : d->kind == PSDM_FRICTION_LUGRE ? n : 0;
  d->columns = n * psdm_friction_columns(d->kind);
  for (int i = 0; i < n && !d->formula; i++) d->columns += p->columns[i];
  return p ? PSDM_OK : take_joints(d, error);
}

/* ---- between joints and drives ---- */

void psdmp_parameters_drag_drives(const drag *d, const double *joint, bool torque, double *drive) {
  memcpy(drive, joint, (size_t)d->n * sizeof *drive);
  if (!d->p) return;
  double *motor = d->room;
  if (torque) psdm_robot_motor_torque(d->robot, joint, motor);
  else psdm_robot_joint_to_motor(d->robot, joint, motor);
  for (int i = 0; i < d->n; i++) drive[i] = torque ? motor[i] * d->gear[i] : motor[i] / d->gear[i];
}

void psdmp_parameters_drag_joints(const drag *d, const double *drive, double *joint) {
  memcpy(joint, drive, (size_t)d->n * sizeof *joint);
  if (!d->p) return;
  double *motor = d->room;
  for (int i = 0; i < d->n; i++) motor[i] = drive[i] / d->gear[i];
  psdm_robot_joint_torque(d->robot, motor, joint);
}

/* ---- memory ---- */

static psdmp_parameters_column column_of(const drag *d, int drive, int k) {
  const psdm_column *c = &d->p->column[drive][k];
  return (psdmp_parameters_column){c->kind, c->width, c->load};
}

void psdmp_parameters_drag_begin(const drag *d, const double *qd, double *z) {
  double *v = d->room + d->n;
  memset(z, 0, (size_t)d->states * sizeof *z);
  if (!d->formula || !d->states) return;
  psdmp_parameters_drag_drives(d, qd, false, v);
  for (int i = 0; i < d->n; i++) z[i] = psdm_lugre_steady(&d->friction[i], v[i]);
}

static void step_bristles(const drag *d, const double *qd0, const double *qd, double dt, double *z) {
  double *v0 = d->room + d->n, *v1 = v0 + d->n;
  psdmp_parameters_drag_drives(d, qd0, false, v0);
  psdmp_parameters_drag_drives(d, qd, false, v1);
  for (int i = 0; i < d->n; i++) {
    const double t[2] = {0, dt}, v[2] = {v0[i], v1[i]};
    double bent[2], tau[2];
    psdm_lugre_follow(&d->friction[i], z[i], 2, t, v, bent, tau);
    z[i] = bent[1];
  }
}

void psdmp_parameters_drag_step(const drag *d, const double *q0, const double *qd0, const double *q, const double *qd,
                                double dt, double *z) {
  double *x0 = d->room + d->n, *x1 = x0 + d->n;
  if (!d->states) return;
  if (d->formula) {
    step_bristles(d, qd0, qd, dt, z);
    return;
  }
  psdmp_parameters_drag_drives(d, q0, false, x0);
  psdmp_parameters_drag_drives(d, q, false, x1);
  for (int i = 0; i < d->n; i++)
    for (int k = 0; k < d->p->columns[i]; k++) {
      psdmp_parameters_column c = column_of(d, i, k);
      if (c.kind == PSDM_COLUMN_STOP) *z = psdmp_parameters_column_stop(&c, x1[i] - x0[i], *z), z++;
    }
}

/* ---- torques ---- */

/* one drive: formulas */
static double formula_torque(const drag *d, int i, double v, double z) {
  const psdm_friction *f = &d->friction[i];
  double rate, tau;
  if (!f->given) return 0;
  if (d->kind != PSDM_FRICTION_LUGRE) return psdm_friction_steady(f, d->kind, v);
  psdm_lugre(f, v, z, &rate, &tau);
  return tau;
}

static double column_torque(const drag *d, int i, double x, double v, double load, const double **z) {
  double sum = 0;
  for (int k = 0; k < d->p->columns[i]; k++) {
    psdmp_parameters_column c = column_of(d, i, k);
    sum += psdmp_parameters_column_value(&c, x, v, load, c.kind == PSDM_COLUMN_STOP ? *(*z)++ : 0) *
           d->p->column[i][k].gain;
  }
  return sum;
}

/* positions, speeds and loads of all drives, one after the other */
static double *look(const drag *d, const double *q, const double *qd, const double *load) {
  double *x = d->room + 2 * d->n, *v = x + d->n, *f = v + d->n;
  psdmp_parameters_drag_drives(d, q, false, x);
  psdmp_parameters_drag_drives(d, qd, false, v);
  memset(f, 0, (size_t)d->n * sizeof *f);
  if (d->loaded && load) psdmp_parameters_drag_drives(d, load, true, f);
  return x;
}

void psdmp_parameters_drag_torque(const drag *d, const double *q, const double *qd, const double *load, const double *z,
                                  double *tau) {
  const double *x = look(d, q, qd, load), *v = x + d->n, *f = v + d->n;
  double *own = d->room + d->n;
  for (int i = 0; i < d->n; i++)
    own[i] =
        d->formula ? formula_torque(d, i, v[i], d->states ? z[i] : 0) : column_torque(d, i, x[i], v[i], fabs(f[i]), &z);
  psdmp_parameters_drag_joints(d, own, tau);
}

/* ---- columns of a regressor ---- */

/* value of column `at`, which belongs to one drive, in the rows of the joints that it acts on */
static void spread(const drag *d, int drive, double value, double *F, int at) {
  double *own = d->room + d->n, *joint = d->room + 5 * d->n;
  memset(own, 0, (size_t)d->n * sizeof *own);
  own[drive] = value;
  psdmp_parameters_drag_joints(d, own, joint);
  for (int i = 0; i < d->n; i++) F[(long)i * d->columns + at] = joint[i];
}

void psdmp_parameters_drag_columns(const drag *d, const double *q, const double *qd, const double *load,
                                   const double *z, double *F) {
  int n = d->n, each = psdm_friction_columns(d->kind), at = 0;
  const double *x = look(d, q, qd, load) + n, *v = x, *f = v + n;
  for (int i = 0; i < n; i++) {
    double value[PSDM_FRICTION_MOST_COLUMNS], own[3] = {d->room[2 * n + i], v[i], fabs(f[i])};
    if (d->formula) psdm_friction_column_values(&d->friction[i], d->kind, own[1], d->states ? z[i] : 0, value);
    for (int k = 0; k < each && d->formula; k++) spread(d, i, value[k], F, k * n + i);
    for (int k = 0; !d->formula && k < d->p->columns[i]; k++) {
      psdmp_parameters_column c = column_of(d, i, k);
      spread(d, i, psdmp_parameters_column_value(&c, own[0], own[1], own[2], c.kind == PSDM_COLUMN_STOP ? *z++ : 0), F,
             at++);
    }
  }
}

/* ---- slopes ---- */

static void formula_slopes(const drag *d, int i, double v, double z, double slope[3]) {
  const psdm_friction *f = &d->friction[i];
  slope[1] = !f->given                        ? 0
             : d->kind != PSDM_FRICTION_LUGRE ? psdm_friction_steady_slope(f, d->kind, v)
                                              : psdm_lugre_slope(f, v, z);
}

static void column_slopes(const drag *d, int i, const double at[3], const double **z, double slope[3]) {
  for (int k = 0; k < d->p->columns[i]; k++) {
    psdmp_parameters_column c = column_of(d, i, k);
    double own[3];
    psdmp_parameters_column_slopes(&c, at[0], at[1], at[2], c.kind == PSDM_COLUMN_STOP ? *(*z)++ : 0, own);
    for (int m = 0; m < 3; m++) slope[m] += own[m] * d->p->column[i][k].gain;
  }
}

void psdmp_parameters_drag_slopes(const drag *d, const double *q, const double *qd, const double *load, const double *z,
                                  double *by_x, double *by_v, double *by_f) {
  const double *x = look(d, q, qd, load), *v = x + d->n, *f = v + d->n;
  for (int i = 0; i < d->n; i++) {
    const double at[3] = {x[i], v[i], fabs(f[i])};
    double slope[3] = {0};
    if (d->formula) formula_slopes(d, i, v[i], d->states ? z[i] : 0, slope);
    else column_slopes(d, i, at, &z, slope);
    by_x[i] = slope[0], by_v[i] = slope[1], by_f[i] = (f[i] < 0 ? -1 : f[i] > 0) * slope[2];
  }
}
