/* control.c: controllers, their options and gains, and the simple control laws. */
#include <math.h>
#include <string.h>

#include "control/control_priv.h"
#include "psdm/friction.h"

typedef psdm_status (*law)(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                           double *rates);

/* ---- the reference ---- */

void psdm_control_reference(const psdm_controller *c, double t, double *x) {
  if (c->reference) psdm_motion_at(c->reference, t, 3, x);
  else memset(x, 0, sizeof *x * 3 * (size_t)c->n);
}

double psdmp_control_begin(const psdm_controller *c) { return c->reference ? psdm_motion_begin(c->reference) : 0; }
double psdmp_control_duration(const psdm_controller *c) {
  return c->reference ? psdm_motion_end(c->reference) - psdm_motion_begin(c->reference) : 0;
}

/* ---- laws ---- */

/* tau += Kp e + Kd de/dt */
static void add_servo(const psdm_controller *c, const psdm_control_input *in, double *tau) {
  const double *q = c->x, *qd = c->x + c->n;
  for (int i = 0; i < c->n; i++) tau[i] += c->kp[i] * (q[i] - in->q[i]) + c->kd[i] * (qd[i] - in->qd[i]);
}

/* rad/s or m/s: a slower reference stands still, and the sign of its rounding must not cause friction */
static const double standing = 1e-9;

/* tau += steady friction at the reference's velocity, which is overwritten */
static void add_friction(const psdm_controller *c, double *tau) {
  double *qd = c->x + c->n;
  if (!c->friction) return;
  for (int i = 0; i < c->n; i++)
    if (fabs(qd[i]) < standing) qd[i] = 0;
  psdm_friction_torque(c->model, qd, c->part);
  for (int i = 0; i < c->n; i++) tau[i] += c->part[i];
}

static psdm_status no_torque(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                             double *rates) {
  (void)in, (void)states, (void)rates;
  memset(tau, 0, sizeof *tau * (size_t)c->n);
  return PSDM_OK;
}

static psdm_status from_table(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                              double *rates) {
  (void)states, (void)rates;
  psdm_signal_at(c->torque, in->t, tau);
  return PSDM_OK;
}

static psdm_status servo(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                         double *rates) {
  no_torque(c, in, states, tau, rates);
  add_servo(c, in, tau);
  return PSDM_OK;
}

/* Takegaki, Arimoto (1981) */
static psdm_status servo_gravity(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                                 double *rates) {
  (void)states, (void)rates;
  psdm_status status = psdm_gravity(c->model, c->work, in->q, tau);
  if (!status) add_servo(c, in, tau);
  return status;
}

static psdm_status feedforward(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                               double *rates) {
  (void)states, (void)rates;
  psdm_status status = psdm_inverse(c->model, c->work, c->x, c->x + c->n, c->x + 2 * c->n, tau);
  if (status) return status;
  add_servo(c, in, tau);
  add_friction(c, tau);
  return PSDM_OK;
}

/* the inverse dynamics of the acceleration for e'' + kd e' + kp e = 0 */
static psdm_status computed(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                            double *rates) {
  (void)states, (void)rates;
  memcpy(c->part, c->x + 2 * c->n, sizeof *c->part * (size_t)c->n);
  add_servo(c, in, c->part);
  psdm_status status = psdm_inverse(c->model, c->work, in->q, in->qd, c->part, tau);
  if (!status) add_friction(c, tau);
  return status;
}

/* Tomei (1991): the motors are where springs under gravity hold the links at q_d; rigid joints do not deflect */
static psdm_status elastic(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                           double *rates) {
  (void)states, (void)rates;
  const double *theta = in->theta ? in->theta : in->q, *thetad = in->thetad ? in->thetad : in->qd;
  psdm_status status = psdm_gravity(c->model, c->work, c->x, tau);
  for (int i = 0; i < c->n && !status; i++)
    tau[i] += c->kp[i] * (c->x[i] + tau[i] / c->spring[i] - theta[i]) - c->kd[i] * thetad[i];
  return status;
}

/* ---- properties of each kind ---- */

static const char *const kinds[] = {PSDM_CONTROL_LIST(PSDMP_BASE_LIST_WORD)};

static const struct needs {
  law law;
  bool inertia; /* of the model, for any options */
  bool state;   /* q and qd */
  bool kp, kd;
} needs[PSDM_CONTROL_KINDS] = {
    [PSDM_CONTROL_NONE] = {no_torque, false, false, false, false},
    [PSDM_CONTROL_TORQUE] = {from_table, false, false, false, false},
    [PSDM_CONTROL_PD] = {servo, false, true, true, true},
    [PSDM_CONTROL_PD_GRAVITY] = {servo_gravity, true, true, true, true},
    [PSDM_CONTROL_FEEDFORWARD] = {feedforward, true, true, true, true},
    [PSDM_CONTROL_COMPUTED] = {computed, true, true, true, true},
    [PSDM_CONTROL_LQR] = {psdmp_control_regulator_torque, true, true, false, false},
    [PSDM_CONTROL_ADAPTIVE] = {psdmp_control_adaptation_torque, false, true, false, true},
    [PSDM_CONTROL_ELASTIC] = {elastic, true, true, true, true},
};

static bool known(psdm_control_kind kind) { return (unsigned)kind < PSDM_CONTROL_KINDS; }

const char *psdm_control_name(psdm_control_kind kind) { return psdmp_base_word(kinds, PSDM_CONTROL_KINDS, (int)kind); }

bool psdm_control_find(const char *name, psdm_control_kind *kind) {
  int k = psdmp_base_word_find(kinds, PSDM_CONTROL_KINDS, name);
  return k >= 0 && (*kind = (psdm_control_kind)k, true);
}

/* ---- options ---- */

static bool all_finite(const double *x, int count) {
  for (int i = 0; x && i < count; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

static bool at_least_zero(const double *x, int count) {
  for (int i = 0; x && i < count; i++)
    if (!(x[i] >= 0) || !isfinite(x[i])) return false;
  return true;
}

static bool above_zero(const double *x, int count) {
  for (int i = 0; x && i < count; i++)
    if (!(x[i] > 0) || !isfinite(x[i])) return false;
  return true;
}

static psdm_status refuse(psdm_error *error, const char *why) {
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "%s", why);
}

/* checks the options used by this kind; theta is checked where its length is known */
static psdm_status check_options(psdm_control_kind kind, int n, const psdm_control_options *o, psdm_error *error) {
  const double *const single[] = {&o->bandwidth, &o->horizon_step, &o->lambda, &o->gamma, &o->bound};
  static const char *const name[] = {"bandwidth", "horizon step", "lambda", "gamma", "bound"};
  for (int k = 0; k < 5; k++)
    if (!at_least_zero(single[k], 1))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the controller's %s is negative or not finite",
                             name[k]);
  if (!at_least_zero(o->kp, n) || !at_least_zero(o->kd, n)) return refuse(error, "a gain is negative or not finite");
  if (!at_least_zero(o->Q, 2 * n)) return refuse(error, "a weight in Q is negative or not finite");
  if (!above_zero(o->R, n)) return refuse(error, "a weight in R is not positive and finite");
  if (kind == PSDM_CONTROL_ADAPTIVE && !above_zero(o->kd, n))
    return refuse(error, "adaptive control needs a positive gain kd at every joint");
  if (kind == PSDM_CONTROL_TORQUE && !o->torque) return refuse(error, "torque control needs a table of torques");
  if (kind == PSDM_CONTROL_TORQUE && psdm_signal_columns(o->torque) != n)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the torques have %d columns, and the robot %d joints",
                           psdm_signal_columns(o->torque), n);
  return PSDM_OK;
}

static psdm_status check(psdm_control_kind kind, const psdm_robot *model, const psdm_motion *reference,
                         const psdm_control_options *o, psdm_error *error) {
  if (!known(kind)) return refuse(error, "unknown controller");
  if (!model) return refuse(error, "a controller needs a model of the robot");
  int n = psdm_robot_n(model);
  if (reference && psdm_motion_n(reference) != n)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the reference moves %d joints, and the robot has %d",
                           psdm_motion_n(reference), n);
  if (reference && !isfinite(psdm_motion_end(reference) - psdm_motion_begin(reference)))
    return refuse(error, "the reference does not end");
  return check_options(kind, n, o, error);
}

/* ---- gains ---- */

psdm_status psdmp_control_fail(const psdm_controller *c, psdm_status status, psdm_error *error) {
  if (status == PSDM_E_MISSING) return psdm_robot_ready(c->model, error);
  if (status == PSDM_E_MEMORY) return psdmp_base_fail(error, status, NULL, 0, 0, "out of memory for a controller");
  return psdmp_base_fail(error, status, NULL, 0, 0, "%s control: %s", kinds[c->kind], psdm_status_text(status));
}

/* mass (n): the diagonal of M at the start of the reference */
static psdm_status masses(psdm_controller *c, double *mass, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = c->arena.allocator};
  double *M = PSDMP_BASE_NEW(&scratch, (size_t)c->n * (size_t)c->n, double);
  psdm_control_reference(c, psdmp_control_begin(c), c->x);
  psdm_status status = M ? psdm_mass(c->model, c->work, c->x, M) : PSDM_E_MEMORY;
  for (int i = 0; i < c->n && !status; i++) {
    mass[i] = M[(long)i * c->n + i];
    if (!(mass[i] > 0)) status = PSDM_E_SINGULAR;
  }
  psdmp_base_arena_free(&scratch);
  return status ? psdmp_control_fail(c, status, error) : PSDM_OK;
}

/* gains as given; else a double pole at the bandwidth, e'' + 2 w e' + w^2 e = 0, for each joint separately */
static psdm_status set_gains(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  bool default_kp = needs[c->kind].kp && !o->kp, default_kd = needs[c->kind].kd && !o->kd,
       torques = c->kind != PSDM_CONTROL_COMPUTED;
  double w = c->bandwidth, *mass = c->part;
  psdm_status status = torques && (default_kp || default_kd) ? masses(c, mass, error) : PSDM_OK;
  for (int i = 0; i < c->n && !status; i++) {
    double unit = torques ? mass[i] : 1;
    c->kp[i] = default_kp ? unit * w * w : o->kp ? o->kp[i] : 0;
    c->kd[i] = default_kd ? unit * 2 * w : o->kd ? o->kd[i] : 0;
  }
  return status;
}

static void set_springs(psdm_controller *c) {
  for (int k = 0; k < psdm_robot_joints(c->model); k++) {
    const psdm_joint *joint = psdm_robot_joint(c->model, k);
    if (joint->q >= 0) c->spring[joint->q] = joint->stiffness;
  }
}

/* ---- construction ---- */

static psdm_status place(psdm_controller *c, psdm_error *error) {
  size_t bytes = psdm_work_bytes(c->model);
  void *memory = psdmp_base_arena_alloc(&c->arena, bytes);
  c->kp = PSDMP_BASE_NEW(&c->arena, c->n, double);
  c->kd = PSDMP_BASE_NEW(&c->arena, c->n, double);
  c->spring = PSDMP_BASE_NEW(&c->arena, c->n, double);
  c->part = PSDMP_BASE_NEW(&c->arena, c->n, double);
  c->x = PSDMP_BASE_NEW(&c->arena, 3 * c->n, double);
  bool ok = memory && c->kp && c->kd && c->spring && c->part && c->x;
  psdm_status status = ok ? psdm_work_init(c->model, memory, bytes, &c->work) : PSDM_E_MEMORY;
  return status ? psdmp_control_fail(c, status, error) : PSDM_OK;
}

static psdm_status prepare(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  psdm_status status = place(c, error);
  if (!status && needs[c->kind].inertia) status = psdm_robot_ready(c->model, error);
  if (!status) status = set_gains(c, o, error);
  if (!status) set_springs(c);
  if (!status && c->kind == PSDM_CONTROL_LQR) status = psdmp_control_regulator_design(c, o, error);
  if (!status && c->kind == PSDM_CONTROL_ADAPTIVE) status = psdmp_control_adaptation_design(c, o, error);
  return status;
}

psdm_status psdm_control_new(psdm_control_kind kind, const psdm_robot *model, const psdm_motion *reference,
                             const psdm_control_options *options, const psdm_allocator *allocator,
                             psdm_controller **controller, psdm_error *error) {
  static const psdm_control_options defaults = {0};
  const psdm_control_options *o = options ? options : &defaults;
  *controller = NULL;
  psdm_status status = check(kind, model, reference, o, error);
  if (status) return status;
  psdm_controller *c = psdmp_base_alloc(allocator, sizeof *c);
  if (!c) return psdmp_base_fail(error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory for a controller");
  c->arena.allocator = allocator;
  c->kind = kind;
  c->n = psdm_robot_n(model);
  c->model = model;
  c->reference = reference;
  c->torque = o->torque;
  c->friction = o->friction;
  c->bandwidth = o->bandwidth > 0 ? o->bandwidth : 20;
  status = prepare(c, o, error);
  if (status) psdm_control_free(c);
  else *controller = c;
  return status;
}

void psdm_control_free(psdm_controller *c) {
  if (!c) return;
  psdm_model_free(c->adaptation.model);
  psdmp_base_arena_free_owner(&c->arena, c);
}

/* ---- facts and states ---- */

int psdm_control_n(const psdm_controller *c) { return c->n; }
int psdm_control_states(const psdm_controller *c) { return c->adaptation.l; }
const char *psdm_control_state_name(const psdm_controller *c, int index) {
  return index >= 0 && index < c->adaptation.l ? c->adaptation.name[index] : NULL;
}

void psdm_control_start(const psdm_controller *c, double *states) {
  if (c->adaptation.l) memcpy(states, c->adaptation.start, sizeof *states * (size_t)c->adaptation.l);
}

psdm_status psdm_control_torque(psdm_controller *c, const psdm_control_input *in, const double *states, double *tau,
                                double *rates) {
  if (!isfinite(in->t) || (needs[c->kind].state && (!in->q || !in->qd)) || (c->adaptation.l && !states))
    return PSDM_E_ARGUMENT;
  if (!all_finite(in->q, c->n) || !all_finite(in->qd, c->n) || !all_finite(in->theta, c->n) ||
      !all_finite(in->thetad, c->n))
    return PSDM_E_ARGUMENT;
  if (!all_finite(states, c->adaptation.l)) return PSDM_E_ARGUMENT;
  psdm_control_reference(c, in->t, c->x);
  return needs[c->kind].law(c, in, states, tau, rates);
}
