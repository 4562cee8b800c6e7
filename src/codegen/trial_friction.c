/* trial_friction.c: what resists the joints at the states of a trial, by the library's own functions. */
#include <math.h>
#include <string.h>

#include "codegen/friction_priv.h"
#include "codegen/trial.h"
#include "psdm/rigid.h"

enum { STATES = PSDMP_CODEGEN_STATES };

typedef psdmp_codegen_trial trial;

static const psdmp_parameters_drag *drag_of(const trial *t) { return &t->code->friction.drag; }

static const double *remembered(const trial *t, int s) { return t->z + (long)s * drag_of(t)->states; }

/* ---- states ---- */

/* bristles bent by at most what dry friction bends them; stops anywhere */
static double most_of(const psdmp_parameters_drag *d, int k) {
  if (!d->formula) return 1;
  const psdm_friction *f = &d->friction[k];
  return f->sigma0 > 0 ? psdm_friction_most(f, PSDM_FRICTION_LUGRE) / f->sigma0 : 0;
}

/* a row before each state: near it, and less near; some joints turned round in between */
static void set_rows(trial *t) {
  uint64_t seed = 1995;
  const psdmp_parameters_drag *d = drag_of(t);
  int n = t->code->robot->n;
  t->dt = 0x1p-13; /* bristles are on their way then */
  for (int i = 0; i < STATES * n; i++) {
    t->q0[i] = t->q[i] + psdmp_codegen_trial_coarse(&seed, 1) * pow(2, -2 * (i % 5));
    t->qd0[i] = t->qd[i] + psdmp_codegen_trial_coarse(&seed, 1);
  }
  for (int i = 0; i < STATES * d->states; i++)
    t->z[i] = psdmp_codegen_trial_coarse(&seed, 1) * most_of(d, i % d->states);
}

bool psdmp_codegen_trial_friction_new(trial *t) {
  const psdmp_codegen_friction *k = &t->code->friction;
  const psdmp_parameters_drag *d = &k->drag;
  int n = t->code->robot->n;
  t->room = PSDMP_BASE_NEW(t->arena, n + n * d->columns + 7 * n + 4 * n * n, double);
  if (!k->there) return t->room;
  t->q0 = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  t->qd0 = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  t->z = PSDMP_BASE_NEW(t->arena, STATES * d->states, double);
  if (!t->room || !t->q0 || !t->qd0 || !t->z) return false;
  return !k->loaded || psdmp_codegen_robot_copy(t->code->robot, t->arena, &t->loaded);
}

void psdmp_codegen_trial_friction_states(trial *t) {
  if (t->code->friction.there) set_rows(t);
}

/* ---- torques ---- */

/* behind everything that callers keep in the room */
static double *own_room(trial *t) {
  int n = t->code->robot->n;
  return t->room + n + n * drag_of(t)->columns;
}

/* the joints' rigid torques that load the drives; NULL where none do */
static psdm_status load_of(trial *t, const psdmp_codegen_program *p, psdm_function f, int s, const double **load) {
  double *own = own_room(t);
  *load = NULL;
  if (!drag_of(t)->loaded) return PSDM_OK;
  *load = own;
  return psdmp_codegen_trial_of(t, &t->loaded, p, f, s, own);
}

psdm_status psdmp_codegen_trial_friction(trial *t, const psdmp_codegen_program *p, psdm_function f, int s,
                                         double *tau) {
  const double *load;
  int n = t->code->robot->n;
  psdm_status status = load_of(t, p, f, s, &load);
  if (!status) psdmp_parameters_drag_torque(drag_of(t), t->q + s * n, t->qd + s * n, load, remembered(t, s), tau);
  return status;
}

void psdmp_codegen_trial_friction_step(trial *t, int s, double *z) {
  int at = s * t->code->robot->n;
  memcpy(z, remembered(t, s), sizeof *z * (size_t)drag_of(t)->states);
  psdmp_parameters_drag_step(drag_of(t), t->q0 + at, t->qd0 + at, t->q + at, t->qd + at, t->dt, z);
}

psdm_status psdmp_codegen_trial_friction_columns(trial *t, const psdmp_codegen_program *p, int s, double *columns) {
  const double *load;
  int n = t->code->robot->n;
  psdm_status status = load_of(t, p, PSDM_F_INVERSE, s, &load);
  if (!status) psdmp_parameters_drag_columns(drag_of(t), t->q + s * n, t->qd + s * n, load, remembered(t, s), columns);
  return status;
}

/* ---- derivatives ---- */

/* to += A diag(d) B, (n x n) each */
static void add_product(int n, const double *A, const double *d, const double *B, double *to) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) to[i * n + j] += A[i * n + k] * d[k] * B[k * n + j];
}

/* drives' loads by (n x n) derivatives of the joints' */
static void turn(int n, const double *load, const double *joint, double *out) {
  memset(out, 0, sizeof *out * (size_t)(n * n));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) out[i * n + j] += load[i * n + k] * joint[k * n + j];
}

psdm_status psdmp_codegen_trial_friction_slopes(trial *t, int s, double *dq, double *dqd, double *dqdd) {
  const psdmp_codegen_friction *k = &t->code->friction;
  int n = t->code->robot->n, at = s * n, nn = n * n;
  double *tau = own_room(t), *by_x = tau + n, *by_v = by_x + n, *by_f = by_v + n, *part = by_f + n,
         *drive = part + 3 * nn;
  const double *q = t->q + at, *qd = t->qd + at, *qdd = t->qdd + at;
  psdm_status status = PSDM_OK;
  if (k->loaded) {
    status = psdm_linearize_inverse(&t->loaded, t->linear, q, qd, qdd, part, part + nn, part + 2 * nn);
    if (!status) status = psdm_inverse(&t->loaded, t->work, q, qd, qdd, tau);
  }
  if (status) return status;
  psdmp_parameters_drag_slopes(&k->drag, q, qd, k->loaded ? tau : NULL, remembered(t, s), by_x, by_v, by_f);
  add_product(n, k->joint, by_x, k->drive, dq);
  add_product(n, k->joint, by_v, k->drive, dqd);
  double *const to[3] = {dq, dqd, dqdd};
  for (int m = 0; m < 3 && k->loaded; m++) {
    turn(n, k->load, part + m * nn, drive);
    add_product(n, k->joint, by_f, drive, to[m]);
  }
  return PSDM_OK;
}
