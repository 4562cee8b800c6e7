/* sim.c: creates simulators and sets their initial state. */
#include "psdm/sim.h"
#include "psdm/loop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "linalg/linalg.h"
#include "sim/sim_priv.h"

/* ---- names ---- */

static const char *const integrators[] = {PSDM_INTEGRATOR_LIST(PSDMP_BASE_LIST_WORD)};
static const char *const limits[] = {PSDM_AT_LIMIT_LIST(PSDMP_BASE_LIST_WORD)};
static const char *const ends[] = {PSDM_SIM_END_LIST(PSDMP_BASE_LIST_WORD)};

const char *psdm_integrator_name(psdm_integrator i) { return psdmp_base_word(integrators, PSDM_INTEGRATORS, (int)i); }
const char *psdm_at_limit_name(psdm_at_limit i) { return psdmp_base_word(limits, PSDM_AT_LIMITS, (int)i); }
const char *psdm_sim_end_text(psdm_sim_end i) { return psdmp_base_word(ends, PSDM_SIM_ENDS, (int)i); }

bool psdm_integrator_find(const char *name, psdm_integrator *integrator) {
  int i = psdmp_base_word_find(integrators, PSDM_INTEGRATORS, name);
  return i >= 0 && (*integrator = (psdm_integrator)i, true);
}

bool psdm_at_limit_find(const char *name, psdm_at_limit *at_limit) {
  int i = psdmp_base_word_find(limits, PSDM_AT_LIMITS, name);
  return i >= 0 && (*at_limit = (psdm_at_limit)i, true);
}

bool psdm_integrator_available(psdm_integrator integrator) {
  return (integrator != PSDM_INTEGRATOR_ADAMS && integrator != PSDM_INTEGRATOR_BDF) || psdmp_sim_variable_there();
}

/* ---- checks ---- */

static psdm_status refuse(const psdm_sim *s, psdm_error *error, const char *text) {
  return psdmp_base_fail(error, PSDM_E_ARGUMENT, s->robot->file, 0, 0, "%s", text);
}

static psdm_status refuse_joint(const psdm_sim *s, int i, psdm_status status, psdm_error *error, const char *text) {
  char name[80];
  const char *given = "";
  for (int j = 0; j < s->robot->joints; j++)
    if (s->robot->joint[j].q == i) given = s->robot->joint[j].name;
  psdmp_base_quote(given, strlen(given), name, sizeof name);
  return psdmp_base_fail(error, status, s->robot->file, 0, 0, "joint '%s': %s", name, text);
}

static bool fine(double x) { return x >= 0 && isfinite(x); }

static psdm_status check_options(const psdm_sim *s, psdm_error *error) {
  const psdm_sim_options *o = &s->options;
  if (!psdm_integrator_name(o->integrator) || !psdm_friction_name(o->friction) || !psdm_at_limit_name(o->at_limit))
    return refuse(s, error, "an option of the simulation is out of its range");
  if (!psdm_integrator_available(o->integrator))
    return refuse(s, error, "variable steps need SUNDIALS, which this build lacks: use rk4 or euler");
  if (!fine(o->step) || !fine(o->tolerance) || !fine(o->output) || !fine(o->period) || !fine(o->quantum) ||
      !fine(o->noise) || !fine(o->wall_limit) || !fine(o->speed_limit))
    return refuse(s, error, "steps, periods, tolerances and limits must not be negative");
  if (o->tolerance > 0.1) return refuse(s, error, "a tolerance above 0.1 is meaningless");
  if (!fine(o->restitution) || o->restitution > 1)
    return refuse(s, error, "the restitution is a share between 0 and 1");
  if ((o->quantum > 0 || o->noise > 0) && !(o->period > 0))
    return refuse(s, error, "encoder steps and noise need a sampled controller (period)");
  if (o->controller && psdm_control_n(o->controller) != s->n)
    return refuse(s, error, "the controller has another number of joints");
  if (o->wrench && psdm_signal_columns(o->wrench) != 6) return refuse(s, error, "a wrench has six columns");
  int joint;
  if (psdmp_robot_named_or_fail(s->robot, o->wrench_link, &joint, error)) return PSDM_E_ARGUMENT;
  if (o->wrench && o->wrench_link && s->robot->link[joint].body < 0)
    return refuse(s, error, "the wrench acts on a link that is fixed to the base");
  for (int k = 0; k < o->payloads; k++) {
    if (!isfinite(o->payload[k].t) || (k && !(o->payload[k].t > o->payload[k - 1].t)))
      return refuse(s, error, "payloads must follow each other in time");
    for (int i = 0; i < PSDMP_ROBOT_STANDARD; i++)
      if (!isfinite(o->payload[k].pi[i])) return refuse(s, error, "a payload has a number that is not finite");
  }
  if (o->elastic && s->robot->closure) return refuse(s, error, "elastic joints in closed loops are not simulated");
  if (s->robot->closure && o->integrator == PSDM_INTEGRATOR_EULER && o->friction == PSDM_FRICTION_LUGRE)
    return refuse(s, error, "LuGre friction in closed loops needs bdf or rk4: euler treats it explicitly there");
  return PSDM_OK;
}

/* ---- joints ---- */

static psdm_status set_joints(psdm_sim *s, psdm_error *error) {
  const psdm_robot *r = s->robot;
  for (int k = 0; k < r->joints; k++) {
    const psdm_joint *from = &r->joint[k];
    if (from->q < 0) continue;
    psdmp_sim_drive_train *j = &s->joint[from->q];
    *j = (psdmp_sim_drive_train){.at = r->closure ? psdm_loop_independent(r, from->q) : from->q,
                                 .motor = -1,
                                 .stiffness = from->stiffness,
                                 .damping = from->damping,
                                 .effort = from->limits.effort,
                                 .lower = from->limits.lower,
                                 .upper = from->limits.upper,
                                 .friction = from->friction};
    if (s->options.elastic && isfinite(from->stiffness)) j->motor = s->motors++;
    if (s->options.friction != PSDM_FRICTION_NONE && from->friction.given) {
      const char *lack = psdm_friction_lacks(&from->friction, s->options.friction);
      if (lack) return refuse_joint(s, from->q, PSDM_E_MISSING, error, lack);
    }
    j->dry = s->options.friction != PSDM_FRICTION_LUGRE && psdm_friction_most(&j->friction, s->options.friction) > 0;
    s->dry |= j->dry;
    bool limited = s->options.at_limit != PSDM_AT_LIMIT_IGNORE && (isfinite(j->lower) || isfinite(j->upper));
    *(s->options.at_limit == PSDM_AT_LIMIT_END ? &s->ends : &s->stops) |= limited;
  }
  if (s->options.elastic && !s->motors) return refuse(s, error, "no joint has a stiffness: nothing is elastic");
  return PSDM_OK;
}

/* rotors of elastic joints leave the links' model for B; a transmission must not couple them with rigid joints' */
static psdm_status set_rotors(psdm_sim *s, psdm_error *error) {
  int n = s->n, m = s->motors;
  if (!m) return PSDM_OK;
  double *all = psdmp_base_arena_alloc(&s->arena, (size_t)n * (size_t)n * sizeof *all);
  double *pi = psdmp_base_arena_alloc(&s->arena, (size_t)psdm_robot_parameter_count(s->plant) * sizeof *pi);
  if (!all || !pi) return psdmp_base_no_memory("", error);
  psdm_robot_drive_mass(s->plant, all);
  for (int i = 0; i < n; i++) {
    int a = s->joint[i].motor;
    if (a >= 0 && !(all[(long)i * n + i] > 0))
      return refuse_joint(s, i, PSDM_E_MISSING, error,
                          "an elastic joint needs the inertia of its motor (drive_inertia above zero)");
    for (int k = 0; k < n; k++) {
      int b = s->joint[k].motor;
      if ((a < 0) != (b < 0) && all[(long)i * n + k] != 0)
        return refuse_joint(s, a < 0 ? k : i, PSDM_E_ROBOT, error,
                            "its drive is coupled to that of a rigid joint; both or none may be elastic");
      if (a >= 0 && b >= 0) s->B[(long)a * m + b] = s->B_factor[(long)a * m + b] = all[(long)i * n + k];
    }
  }
  if (!psdmp_linalg_cholesky(m, s->B_factor))
    return psdmp_base_fail(error, PSDM_E_SINGULAR, s->robot->file, 0, 0,
                           "the motors' inertias are not positive definite");
  psdm_robot_parameters(s->plant, pi);
  for (int d = 0; d < s->plant->drives; d++) {
    int q = s->plant->joint[s->plant->drive[d].index].q;
    if (q >= 0 && s->joint[q].motor >= 0) pi[PSDMP_ROBOT_STANDARD * (long)s->plant->bodies + d] = 0;
  }
  psdm_robot_set_parameters(s->plant, pi);
  return PSDM_OK;
}

/* ---- memory ---- */

static void lay_out(psdm_sim *s) {
  int at = 2 * s->N;
  s->at_qd = s->N;
  s->at_theta = at, at += s->motors;
  s->at_thetad = at, at += s->motors;
  s->at_z = s->options.friction == PSDM_FRICTION_LUGRE ? at : -1;
  if (s->at_z >= 0) at += s->n;
  s->at_control = at, at += s->control_states;
  s->at_work = at, at += PSDMP_SIM_WORKS;
  s->size = s->length = at;
  /* the other integrators take torques from the caller */
  bool variable = s->integrator == PSDM_INTEGRATOR_ADAMS || s->integrator == PSDM_INTEGRATOR_BDF;
  if (variable && s->options.friction == PSDM_FRICTION_NONE && !s->motors && !s->options.controller &&
      !s->options.wrench)
    s->length = s->at_work;
}

static bool allocate(psdm_sim *s) {
  size_t n = (size_t)s->n, N = (size_t)s->N, m = (size_t)s->motors, rows = (size_t)s->loops + n, size = (size_t)s->size,
         wide = N > rows ? N : rows;
  struct {
    double **to;
    size_t count;
  } const parts[] = {
      {&s->y, size},
      {&s->tau, n},
      {&s->friction, n},
      {&s->held, n},
      {&s->reaction, n},
      {&s->stop_reaction, n},
      {&s->seen_before, n},
      {&s->acceleration, n},
      {&s->q, n},
      {&s->qd, n},
      {&s->theta, n},
      {&s->thetad, n},
      {&s->u, N},
      {&s->qdd, N},
      {&s->push, N},
      {&s->u_motor, m + 1},
      {&s->M, N * N + m * m},
      {&s->C, rows * (N + m)},
      {&s->W, wide * (N + m)},
      {&s->R, rows * rows},
      {&s->drift, rows},
      {&s->gap, rows},
      {&s->lambda, rows},
      {&s->limit, rows},
      {&s->multiplier, rows},
      {&s->rate, size},
      {&s->k1, size},
      {&s->k2, size},
      {&s->k3, size},
      {&s->k4, size},
      {&s->trial, size},
      {&s->save, size},
      {&s->implicit, 2 * (N + m) * (N + m)},
      {&s->g, 3 * n},
      {&s->g_next, 3 * n},
  };
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (!(*parts[k].to = psdmp_base_arena_alloc(&s->arena, parts[k].count * sizeof(double)))) return false;
  s->fired = psdmp_base_arena_alloc(&s->arena, 3 * n * sizeof *s->fired);
  s->order = psdmp_base_arena_alloc(&s->arena, rows * sizeof *s->order);
  s->row = psdmp_base_arena_alloc(&s->arena, rows * sizeof *s->row);
  s->rubs = psdmp_base_arena_alloc(&s->arena, (N + m) * sizeof *s->rubs);
  s->moves = psdmp_base_arena_alloc(&s->arena, (N + m) * sizeof *s->moves);
  return s->fired && s->order && s->row && s->rubs && s->moves;
}

static void number_unknowns(psdm_sim *s) {
  for (int k = 0; k < s->N + s->motors; k++) s->rubs[k] = s->moves[k] = -1;
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    s->rubs[j->motor < 0 ? j->at : s->N + j->motor] = i;
    s->moves[j->at] = i;
  }
}

/* ---- generated code ---- */

/* forward dynamics as machine code; without a compiler the recursion computes the same */
static psdm_status compile(psdm_sim *s, psdm_error *error) {
  if (s->options.no_code || s->loops) {
    snprintf(s->code_text, sizeof s->code_text, "%s",
             s->loops ? "closed loops are integrated with their tree, by the recursions" : "");
    return PSDM_OK;
  }
  const psdm_code_options options = {
      .functions = 1u << PSDM_F_FORWARD, .effort = -1, .payload_argument = s->options.payloads > 0};
  const psdm_compile_options how = {.native = true};
  psdm_code *code = NULL;
  psdm_error why = {.status = PSDM_OK};
  psdm_status status = psdm_code_build(s->plant, &options, s->arena.allocator, &code, &why);
  if (!status) status = psdm_compile(code, &how, s->arena.allocator, &s->compiled, &why);
  psdm_code_free(code);
  if (status == PSDM_E_MEMORY) return psdmp_base_no_memory("", error);
  if (status) {
    snprintf(s->code_text, sizeof s->code_text, "%.250s", why.text);
    return PSDM_OK;
  }
  psdm_compiled_pointer pointer = psdm_compiled_symbol(s->compiled, PSDM_F_FORWARD, false, NULL);
  if (options.payload_argument) memcpy(&s->forward_loaded, &pointer, sizeof pointer);
  else memcpy(&s->forward, &pointer, sizeof pointer);
  return PSDM_OK;
}

/* ---- new, free ---- */

/* bristles are stiff; springs between links and motors only ring, which Adams' formulas do not damp */
static psdm_integrator choose(const psdm_sim *s) {
  if (s->options.integrator != PSDM_INTEGRATOR_AUTO) return s->options.integrator;
  bool stiff = s->options.friction == PSDM_FRICTION_LUGRE;
  if (!psdmp_sim_variable_there()) return stiff ? PSDM_INTEGRATOR_EULER : PSDM_INTEGRATOR_RK4;
  return stiff ? PSDM_INTEGRATOR_BDF : PSDM_INTEGRATOR_ADAMS;
}

static psdm_status fill(psdm_sim *s, psdm_error *error) {
  const psdm_robot *r = s->robot;
  s->n = r->n;
  psdm_status status = check_options(s, error);
  if (!status) status = psdm_robot_ready(r, error);
  if (status) return status;
  if (s->options.step == 0) s->options.step = 1e-3;
  if (s->options.output == 0) s->options.output = 1e-2;
  if (s->options.speed_limit == 0) s->options.speed_limit = 1e6;
  if (s->options.restitution == 0) s->options.restitution = 0.5;
  s->joint = psdmp_base_arena_alloc(&s->arena, (size_t)s->n * sizeof *s->joint);
  if (!s->joint) return psdmp_base_no_memory("", error);
  status = set_joints(s, error);
  if (status) return status;
  s->integrator = choose(s);
  if (psdm_robot_clone(r, s->arena.allocator, &s->plant)) return psdmp_base_no_memory("", error);
  s->moving = s->plant->closure ? s->plant->closure->tree : s->plant;
  s->N = s->moving->n;
  s->loops = psdm_loop_equations(r);
  s->control_states = s->options.controller ? psdm_control_states(s->options.controller) : 0;
  s->wrench_joint = psdmp_robot_named(r, s->options.wrench_link);
  s->continuous = s->options.controller && s->options.period == 0;
  lay_out(s);
  size_t square = (size_t)s->motors * (size_t)s->motors + 1;
  s->B = psdmp_base_arena_alloc(&s->arena, square * sizeof *s->B);
  s->B_factor = psdmp_base_arena_alloc(&s->arena, square * sizeof *s->B_factor);
  if (!s->B || !s->B_factor || !allocate(s)) return psdmp_base_no_memory("", error);
  number_unknowns(s);
  status = set_rotors(s, error);
  /* a load may still add inertia to a joint: psdm_sim_run checks */
  if (!status && !s->options.payloads) status = psdm_mass_condition(s->plant, s->arena.allocator, NULL, error);
  if (!status) status = compile(s, error);
  if (status) return status;
  if (psdm_work_new(s->moving, s->arena.allocator, &s->work) ||
      (s->loops && psdm_work_new(s->plant, s->arena.allocator, &s->loop_work)))
    return psdmp_base_no_memory("", error);
  bool variable = s->integrator == PSDM_INTEGRATOR_ADAMS || s->integrator == PSDM_INTEGRATOR_BDF;
  return variable ? psdmp_sim_variable_new(s, error) : PSDM_OK;
}

psdm_status psdm_sim_new(const psdm_robot *robot, const psdm_sim_options *options, const psdm_allocator *allocator,
                         psdm_sim **out, psdm_error *error) {
  *out = NULL;
  psdm_sim *s = psdmp_base_alloc(allocator, sizeof *s);
  if (!s) return psdmp_base_no_memory("", error);
  s->arena.allocator = allocator;
  s->robot = robot;
  if (options) s->options = *options;
  psdm_status status = fill(s, error);
  if (!status) { /* at zero, or at the nearest position within the limits */
    double *start = s->rate, *zero = s->k1;
    for (int i = 0; (s->stops || s->ends) && i < s->n; i++)
      start[i] = fmax(s->joint[i].lower, fmin(s->joint[i].upper, 0));
    status = psdm_sim_set(s, 0, start, zero, error);
    if (status == PSDM_E_LOOP) status = PSDM_OK; /* a loop that cannot be closed there may have another initial state */
  }
  if (status) {
    psdm_sim_free(s);
    return status;
  }
  *out = s;
  return PSDM_OK;
}

void psdm_sim_free(psdm_sim *s) {
  if (!s) return;
  const psdm_allocator *allocator = s->arena.allocator;
  psdmp_sim_variable_free(s->variable);
  psdm_work_free(s->work, allocator);
  psdm_work_free(s->loop_work, allocator);
  psdm_compiled_free(s->compiled);
  psdm_robot_free(s->plant);
  psdmp_base_arena_free(&s->arena);
  psdmp_base_free(allocator, s);
}

bool psdm_sim_native(const psdm_sim *s) { return s->compiled != NULL; }

/* ---- initial state ---- */

/* motors where springs carry gravity at rest */
static psdm_status place_motors(psdm_sim *s) {
  if (!s->motors) return PSDM_OK;
  psdm_status status = psdm_gravity(s->plant, s->work, s->y, s->u);
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    if (j->motor < 0) continue;
    s->y[s->at_theta + j->motor] = s->y[j->at] + s->u[j->at] / j->stiffness;
    s->y[s->at_thetad + j->motor] = s->y[s->at_qd + j->at];
  }
  return status;
}

static psdm_status check_start(const psdm_sim *s, double t, const double *q, const double *qd, psdm_error *error) {
  for (int i = 0; i < s->n; i++) {
    const psdmp_sim_drive_train *j = &s->joint[i];
    if (!isfinite(q[i]) || !isfinite(qd[i]) || !isfinite(t)) return refuse(s, error, "the initial state is not finite");
    if ((s->stops || s->ends) && (q[i] < j->lower || q[i] > j->upper))
      return refuse_joint(s, i, PSDM_E_ARGUMENT, error, "it starts outside its limits");
  }
  return PSDM_OK;
}

/* resets all counts and sums of a run */
static void forget(psdm_sim *s, double t) {
  s->t = s->origin = t;
  s->until = INFINITY;
  s->samples = s->next_load = s->regular = 0;
  s->payload_work = 0;
  s->random = s->options.seed;
  s->has_spare = false;
  s->controlling = false;
  s->fresh = true;
  memset(s->held, 0, (size_t)s->n * sizeof *s->held);
  memset(s->y + 2 * s->N, 0, (size_t)(s->size - 2 * s->N) * sizeof *s->y);
  if (s->control_states) psdm_control_start(s->options.controller, s->y + s->at_control);
}

psdm_status psdm_sim_set(psdm_sim *s, double t, const double *q, const double *qd, psdm_error *error) {
  static const double nothing[PSDMP_ROBOT_STANDARD] = {0};
  psdm_status status = check_start(s, t, q, qd, error);
  if (status) return status;
  if (s->loops) {
    status = psdm_loop_close(s->plant, s->loop_work, q, qd, s->y, s->y + s->at_qd);
  } else {
    memmove(s->y, q, (size_t)s->n * sizeof *q);
    memmove(s->y + s->at_qd, qd, (size_t)s->n * sizeof *qd);
  }
  if (!status) status = psdmp_sim_carry(s, nothing);
  forget(s, t);
  if (!status) status = place_motors(s);
  return status ? psdmp_base_fail(error, status, s->robot->file, 0, 0, "%s", psdm_status_text(status)) : PSDM_OK;
}

psdm_status psdm_sim_set_motors(psdm_sim *s, const double *theta, const double *thetad) {
  for (int i = 0; i < s->n; i++) {
    if ((theta && !isfinite(theta[i])) || (thetad && !isfinite(thetad[i]))) return PSDM_E_ARGUMENT;
    int motor = s->joint[i].motor;
    if (motor >= 0 && theta) s->y[s->at_theta + motor] = theta[i];
    if (motor >= 0 && thetad) s->y[s->at_thetad + motor] = thetad[i];
  }
  s->fresh = true;
  return PSDM_OK;
}
