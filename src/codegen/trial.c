/* trial.c: states, and what the library's recursions give for them: what generated functions are compared with. */
#include "codegen/trial.h"

#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/friction_priv.h"
#include "codegen/loop_priv.h"
#include "nest/nest.h"
#include "derive/derive.h"
#include "linalg/linalg.h"
#include "model/model.h"
#include "psdm/cartesian.h"
#include "psdm/rigid.h"

enum { STATES = PSDMP_CODEGEN_STATES };

typedef psdmp_codegen_trial trial;

/* ---- numbers ---- */

double psdmp_codegen_trial_coarse(uint64_t *seed, double range) {
  return floor(64 * psdmp_nest_uniform(seed, range)) / 64;
}

double psdmp_codegen_joint_unit(const psdm_robot *r, int i) {
  if (r->closure) i = r->closure->independent[i];
  for (int b = 0; b < r->bodies; b++)
    for (int e = r->g_row[b]; e < r->g_row[b + 1] && r->body[b].prismatic; e++)
      if (r->g_col[e] == i) return psdmp_robot_unit(r);
  return 1;
}

/* Robots much smaller or larger than usual move in their own unit of length and, so that gravity does not hide all
 * else, of time: powers of two, which leave the grid as fine as it is. */
static void set_states(trial *t) {
  uint64_t seed = 2021, small = 2026;
  int n = t->code->robot->n, count = STATES * n;
  double L = t->unit, second = sqrt(L);
  for (int i = 0; i < count; i++)
    t->q[i] = psdmp_codegen_trial_coarse(&seed, 3) * psdmp_codegen_joint_unit(t->code->robot, i % n);
  for (int i = 0; i < count; i++)
    t->qd[i] = psdmp_codegen_trial_coarse(&seed, 2) * psdmp_codegen_joint_unit(t->code->robot, i % n) / second;
  for (int i = 0; i < count; i++)
    t->qdd[i] = psdmp_codegen_trial_coarse(&seed, 4) * psdmp_codegen_joint_unit(t->code->robot, i % n) / L;
  for (int k = 0; k < 7; k++)
    for (int i = 0; i < count; i++) {
      double unit = psdmp_codegen_joint_unit(t->code->robot, i % n), rate = k % 4 == 1 ? second : k % 4 == 2 ? L : 1;
      t->small[k][i] = psdmp_codegen_trial_coarse(&small, 2) * (k == 3 ? 1 / unit : unit / rate);
    }
  for (int i = 0; i < 3; i++) t->gravity[i] = psdmp_codegen_trial_coarse(&seed, 10);
  for (int i = 0; i < 6; i++) t->wrench[i] = psdmp_codegen_trial_coarse(&seed, 20) * (i < 3 ? 1 : L);
  /* a body of 2.5 kg */
  static const double payload[10] = {2.5, 0.125, -0.0625, 0.25, 0.125, 0.015625, -0.03125, 0.15625, 0.0078125, 0.09375};
  for (int i = 0; i < 10; i++) t->payload[i] = payload[i] * (i == 0 ? 1 : i < 4 ? L : L * L);
  psdmp_codegen_trial_friction_states(t);
}

/* bodies that could be: mass, a centre near the frame, inertias of similar size; assumptions of the file are kept by
 * its own sampler */
static psdm_status random_parameters(trial *t, psdm_error *error) {
  const psdm_robot *r = t->code->robot;
  uint64_t seed = 7;
  if (r->assumptions) return psdmp_derive_sample_assumed(r, NULL, seed, t->arena, t->pi, error);
  for (int k = 0; k < r->bodies; k++) {
    double com[3], inertia[6];
    for (int i = 0; i < 3; i++) com[i] = psdmp_codegen_trial_coarse(&seed, 0.2) * t->unit;
    for (int i = 0; i < 6; i++)
      inertia[i] = (i == 0 || i == 3 || i == 5 ? 0.5 + psdmp_codegen_trial_coarse(&seed, 0.2)
                                               : psdmp_codegen_trial_coarse(&seed, 0.1)) *
                   t->unit * t->unit;
    psdmp_robot_standard_from_body(3 + psdmp_codegen_trial_coarse(&seed, 2), com, inertia, t->pi + 10 * k);
  }
  for (int d = 0; d < r->drives; d++) t->pi[10 * r->bodies + d] = 0.5 + psdmp_codegen_trial_coarse(&seed, 0.25);
  return PSDM_OK;
}

/* parameters that are arguments may be others than the robot's own, with which M cannot be inverted */
static bool own_are_singular(const trial *t) {
  const psdm_code_options *o = &t->code->options;
  bool any = false;
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
    any |= (o->functions >> f & 1) && psdmp_codegen_inverts((psdm_function)f);
  return any && o->theta_argument &&
         psdm_mass_condition(t->code->robot, t->arena->allocator, NULL, NULL) == PSDM_E_SINGULAR;
}

/* the robot's own; or, where only base parameters are known, those with everything regrouped at zero, which move
 * alike; or random ones */
static psdm_status set_parameters(trial *t, psdm_error *error) {
  const psdm_code *code = t->code;
  const psdm_model *m = code->model;
  psdm_status status = PSDM_OK;
  if (psdm_robot_ready(code->robot, NULL) == PSDM_OK && !own_are_singular(t)) {
    psdm_robot_parameters(code->robot, t->pi);
  } else if (code->theta && psdm_robot_ready(code->robot, NULL)) {
    for (int j = 0; j < m->l; j++) t->pi[m->base[j].parameter] = code->theta[j];
  } else {
    status = random_parameters(t, error);
  }
  psdm_model_theta(m, t->pi, t->theta);
  return status;
}

/* ---- the robot ---- */

static void *duplicate(psdmp_base_arena *arena, const void *from, size_t bytes) {
  void *copy = from ? psdmp_base_arena_alloc(arena, bytes + 1) : NULL;
  if (copy) memcpy(copy, from, bytes);
  return copy;
}

/* a closed robot shares its numbers with its tree */
static bool copy_closed(const psdm_robot *r, psdmp_base_arena *arena, psdm_robot *c) {
  psdm_robot *tree = PSDMP_BASE_NEW(arena, 1, psdm_robot);
  psdmp_robot_closure *closure = duplicate(arena, r->closure, sizeof *closure);
  if (!tree || !closure || !psdmp_codegen_robot_copy(r->closure->tree, arena, tree)) return false;
  *c = *r;
  c->closure = closure;
  closure->tree = tree;
  c->link = tree->link, c->body = tree->body, c->place = tree->place;
  c->pi = tree->pi, c->drive = tree->drive, c->body_drive = tree->body_drive, c->drive_mass = tree->drive_mass;
  return true;
}

bool psdmp_codegen_robot_copy(const psdm_robot *r, psdmp_base_arena *arena, psdm_robot *c) {
  size_t n = (size_t)r->n, bodies = (size_t)r->bodies;
  if (r->closure) return copy_closed(r, arena, c);
  if (!psdmp_robot_copy(r, arena, c)) return false;
  c->pi = duplicate(arena, r->pi, 10 * bodies * sizeof *r->pi);
  c->drive = duplicate(arena, r->drive, (size_t)r->drives * sizeof *r->drive);
  c->body_drive = duplicate(arena, r->body_drive, bodies * sizeof *r->body_drive);
  c->drive_mass = duplicate(arena, r->drive_mass, n * n * sizeof *r->drive_mass);
  return c->pi && (c->drive || !r->drive) && (c->body_drive || !r->body_drive) && (c->drive_mass || !r->drive_mass);
}

/* a copy gets parameters, gravity, and a payload where there is one */
static void dress_robot(psdm_robot *r, const double *pi, const double *gravity, const double *payload) {
  int body = r->link[r->last].body;
  psdm_robot_set_parameters(r, pi);
  memcpy(r->gravity, gravity, sizeof r->gravity);
  if (r->closure) {
    psdm_robot *tree = (psdm_robot *)r->closure->tree; /* of a copy */
    memcpy(tree->gravity, gravity, sizeof tree->gravity);
    r = tree;
  }
  if (!payload || body < 0) return;
  double moved[10];
  psdmp_robot_standard_move(&r->link[r->last].frame, payload, moved);
  for (int i = 0; i < 10; i++) r->body[body].pi[i] += moved[i];
  psdmp_robot_reduce(r);
}

/* gravity and payload as one function has them */
static void dress(trial *t, const psdmp_codegen_program *p) {
  const double *gravity = p->length[PSDMP_CODEGEN_IN_GRAVITY] ? t->gravity : t->code->robot->gravity,
               *payload = p->length[PSDMP_CODEGEN_IN_PAYLOAD] ? t->payload : NULL;
  dress_robot(&t->robot, t->pi, gravity, payload);
  if (t->code->friction.loaded) dress_robot(&t->loaded, t->code->friction.pi, gravity, payload);
}

/* the arguments of a function, one behind the other; torques are those of the state */
static void put_state(trial *t, psdm_function f, int s) {
  static const char *const names[] = {"q", "qd", "qdd", "tau", "dq", "dqd", "dqdd", "dtau", "eq", "eqd", "eqdd"};
  const double *from[] = {t->q,        t->qd,       t->qdd,      t->tau,      t->small[0], t->small[1],
                          t->small[2], t->small[3], t->small[4], t->small[5], t->small[6]};
  int n = t->code->robot->n, k;
  double *to = t->state;
  for (const char *at = psdm_function_inputs(f); *at; at += *at == ' ', to += n) {
    size_t length = strcspn(at, " ");
    for (k = 0; strlen(names[k]) != length || strncmp(names[k], at, length) != 0;) k++;
    memcpy(to, from[k] + s * n, sizeof *to * (size_t)n);
    at += length;
  }
}

/* a function of one of the two robots at state s */
psdm_status psdmp_codegen_trial_of(trial *t, const psdm_robot *robot, const psdmp_codegen_program *p, psdm_function f,
                                   int s, double *out) {
  psdm_wrench wrench = {.joint = t->code->robot->last};
  memcpy(wrench.force, t->wrench, sizeof wrench.force);
  memcpy(wrench.moment, t->wrench + 3, sizeof wrench.moment);
  psdm_eval_options options = {.link = t->code->options.link,
                               .wrench_count = p->length[PSDMP_CODEGEN_IN_WRENCH] > 0,
                               .wrenches = &wrench,
                               .model = t->code->model,
                               .expanded = t->code->given && robot == &t->robot,
                               .theta = t->theta,
                               .point = t->code->options.point,
                               .directions = t->code->options.directions,
                               .scratch = t->scratch,
                               .linear = t->linear};
  put_state(t, f, s);
  return psdm_eval(robot, t->work, f, &options, t->state, out);
}

psdm_status psdmp_codegen_trial_evaluate(trial *t, const psdmp_codegen_program *p, psdm_function f, int s,
                                         double *out) {
  psdm_status status = psdmp_codegen_trial_of(t, &t->robot, p, f, s, out);
  if (status || !p->friction || (f != PSDM_F_INVERSE && f != PSDM_F_BIAS)) return status;
  double *part = t->room;
  status = psdmp_codegen_trial_friction(t, p, f, s, part);
  for (int i = 0; i < t->code->robot->n; i++) out[i] += part[i];
  return status;
}

/* with the torques of its state, where it takes them */
static psdm_status evaluate_with_torques(trial *t, const psdmp_codegen_program *p, int s, double *out) {
  psdm_status status = PSDM_OK;
  if (p->length[PSDMP_CODEGEN_IN_TAU])
    status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_INVERSE, s, t->tau + s * t->code->robot->n);
  return status ? status : psdmp_codegen_trial_evaluate(t, p, p->function, s, out);
}

static double sign(double x) { return (x > 0) - (x < 0); }

/* base columns spread to the full width, with friction and drives behind them */
static psdm_status widen_regressor(trial *t, const psdmp_codegen_program *p, int s, double *Y, int columns) {
  const psdm_code_options *o = &t->code->options;
  int n = t->code->robot->n, l = psdm_model_l(t->code->model), own = p->friction ? t->code->friction.drag.columns : 0;
  psdm_status status = own ? psdmp_codegen_trial_friction_columns(t, p, s, t->room + n) : PSDM_OK;
  for (int i = n - 1; i >= 0; i--) {
    memmove(Y + i * columns, Y + i * l, sizeof *Y * (size_t)l);
    memset(Y + i * columns + l, 0, sizeof *Y * (size_t)(columns - l));
    if (own) memcpy(Y + i * columns + l, t->room + n + i * own, sizeof *Y * (size_t)own);
    double *at = Y + i * columns + l + own + i;
    if (o->friction_columns) {
      at[0] = sign(t->qd[s * n + i]);
      at[n] = t->qd[s * n + i];
      at += 2 * n;
    }
    if (o->drive_columns) at[0] = t->qdd[s * n + i];
  }
  return status;
}

bool psdmp_codegen_inverts(psdm_function f) {
  return f == PSDM_F_FORWARD || f == PSDM_F_LINEARIZE_FORWARD || f == PSDM_F_INVERSE_MASS;
}

bool psdmp_codegen_divides(psdm_function f) {
  return f == PSDM_F_INNOVATIONS || f == PSDM_F_FORWARD_ALONG || f == PSDM_F_SENSITIVITY ||
         (psdm_function_is_task(f) && f != PSDM_F_CARTESIAN_JACOBIAN);
}

/* of the task's J M^-1 J^T */
static psdm_status task_condition(trial *t, const psdmp_codegen_program *p, int s, double *condition) {
  int n = t->code->robot->n, m = psdmp_codegen_width(&t->code->options, 0, p->function);
  double *J = PSDMP_BASE_NEW(t->arena, m * n, double),
         *scratch = psdmp_base_arena_alloc(t->arena, sizeof *scratch * (psdm_cartesian_scratch(&t->robot, m) + 1));
  psdm_cartesian none = {0};
  if (!J || !scratch) return PSDM_E_MEMORY;
  psdm_status status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_CARTESIAN_JACOBIAN, s, J);
  if (!status) status = psdm_cartesian_at(&t->robot, t->work, NULL, t->q + s * n, NULL, m, J, NULL, 0, scratch, &none);
  *condition *= status ? 1 : none.largest / none.smallest;
  return status;
}

psdm_status psdmp_codegen_trial_condition(trial *t, const psdmp_codegen_program *p, int s, double *condition) {
  int n = t->code->robot->n;
  double *M = PSDMP_BASE_NEW(t->arena, 2 * n * n, double), *Minv = M + n * n, scale[2] = {0, 0};
  if (!M) return PSDM_E_MEMORY;
  psdm_status status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_MASS, s, M);
  if (!status) status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_INVERSE_MASS, s, Minv);
  for (int i = 0; i < n * n; i++) {
    double weight = psdmp_codegen_joint_unit(t->code->robot, i / n) * psdmp_codegen_joint_unit(t->code->robot, i % n);
    scale[0] = fmax(scale[0], weight * fabs(M[i]));
    scale[1] = fmax(scale[1], fabs(Minv[i]) / weight);
  }
  *condition = n * scale[0] * scale[1];
  return status || !psdm_function_is_task(p->function) ? status : task_condition(t, p, s, condition);
}

/* Minv = M^-1 with pivots: random parameters need not be those of bodies, nor M positive definite. Rows and columns
 * are scaled first, as metres and angles want it. False where M is singular. */
static bool invert(int n, double *M, double *Minv, double *scale) {
  for (int i = 0; i < n; i++) {
    if (!(fabs(M[i * n + i]) > 0)) return false;
    scale[i] = 1 / sqrt(fabs(M[i * n + i]));
  }
  for (int i = 0; i < n * n; i++) M[i] *= scale[i / n] * scale[i % n];
  if (!psdmp_linalg_invert(n, M, Minv, psdmp_linalg_rounding(n))) return false;
  for (int i = 0; i < n * n; i++) Minv[i] *= scale[i / n] * scale[i % n];
  return true;
}

psdm_status psdmp_codegen_trial_linearized(trial *t, const psdmp_codegen_program *p, psdm_function f, int s,
                                           double *out) {
  int n = t->code->robot->n;
  bool friction = p && p->friction;
  const double *q = t->q + s * n, *qd = t->qd + s * n, *qdd = t->qdd + s * n;
  if (f == PSDM_F_LINEARIZE_INVERSE) {
    psdm_status done = psdm_linearize_inverse(&t->robot, t->linear, q, qd, qdd, out, out + n * n, out + 2 * n * n);
    return done || !friction ? done : psdmp_codegen_trial_friction_slopes(t, s, out, out + n * n, out + 2 * n * n);
  }
  double *dq = t->state + 9 * n, *dqd = dq + n * n, *M = dqd + n * n,
         *Minv = f == PSDM_F_INVERSE_MASS ? out : out + 2 * n * n;
  psdm_status status = psdm_linearize_inverse(&t->robot, t->linear, q, qd, qdd, dq, dqd, M);
  if (!status && friction) status = psdmp_codegen_trial_friction_slopes(t, s, dq, dqd, M);
  if (!status && !invert(n, M, Minv, t->state)) status = PSDM_E_SINGULAR;
  for (int i = 0; i < n * n && !status && Minv != out; i++) {
    out[i] = out[n * n + i] = 0;
    for (int k = 0; k < n; k++) {
      out[i] -= Minv[i / n * n + k] * dq[k * n + i % n];
      out[n * n + i] -= Minv[i / n * n + k] * dqd[k * n + i % n];
    }
  }
  return status;
}

/* one state of a function that is not forward */
static psdm_status expect(trial *t, const psdmp_codegen_program *p, int s, double *out) {
  int n = t->code->robot->n;
  psdm_status status;
  if (p->function == PSDM_F_FRICTION) return psdmp_codegen_trial_friction(t, p, PSDM_F_INVERSE, s, out);
  if (p->function == PSDM_F_FRICTION_STEP) {
    psdmp_codegen_trial_friction_step(t, s, out);
    return PSDM_OK;
  }
  if (p->function == PSDM_F_LINEARIZE_INVERSE || psdmp_codegen_inverts(p->function))
    return psdmp_codegen_trial_linearized(t, p, p->function, s, out);
  status = evaluate_with_torques(t, p, s, out);
  if (!status && p->function == PSDM_F_REGRESSOR && n) status = widen_regressor(t, p, s, out, (int)p->outputs / n);
  return status;
}

psdm_status psdmp_codegen_trial_expect(trial *t, const psdmp_codegen_program *p, double *out) {
  int count = (int)p->outputs;
  psdm_status status = PSDM_OK;
  dress(t, p);
  if (p->function == PSDM_F_FORWARD) {
    memcpy(out, t->qdd, sizeof *out * (size_t)(STATES * t->code->robot->n));
    return PSDM_OK;
  }
  for (int s = 0; s < STATES && !status; s++) status = expect(t, p, s, out + s * count);
  return status;
}

static bool allocate(trial *t) {
  int n = t->code->robot->n, standard = psdm_model_standard_count(t->code->model);
  size_t scratch = psdm_eval_scratch(t->code->robot, t->code->model);
  t->pi = PSDMP_BASE_NEW(t->arena, standard, double);
  t->theta = PSDMP_BASE_NEW(t->arena, psdm_model_l(t->code->model), double);
  t->q = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  t->qd = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  t->qdd = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  t->tau = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  for (int k = 0; k < 7; k++) t->small[k] = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  for (int k = 0; k < 7; k++)
    if (!t->small[k]) return false;
  t->state = PSDMP_BASE_NEW(t->arena, 9 * n + 3 * n * n, double);
  t->scratch = psdmp_base_arena_alloc(t->arena, sizeof *t->scratch * (scratch + (size_t)(STATES * n) + 1));
  t->input = PSDMP_BASE_NEW(t->arena, PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK, double);
  return t->input && t->pi && t->theta && t->q && t->qd && t->qdd && t->tau && t->state && t->scratch &&
         psdmp_codegen_robot_copy(t->code->robot, t->arena, &t->robot) && psdmp_codegen_trial_friction_new(t);
}

psdm_status psdmp_codegen_trial_new(const psdm_code *code, psdmp_base_arena *arena, psdmp_codegen_trial *t,
                                    psdm_error *error) {
  *t = (trial){.arena = arena, .code = code, .unit = psdmp_robot_unit(code->robot)};
  if (!allocate(t) || psdm_work_new(code->robot, arena->allocator, &t->work) ||
      psdm_linear_new(code->robot, arena->allocator, &t->linear)) {
    psdmp_codegen_trial_free(t);
    return psdmp_base_no_memory(code->robot->file, error);
  }
  set_states(t);
  psdm_status status = psdmp_codegen_trial_close(t, error);
  if (!status) status = set_parameters(t, error);
  if (status) psdmp_codegen_trial_free(t);
  return status;
}

void psdmp_codegen_trial_free(psdmp_codegen_trial *t) {
  psdm_linear_free(t->linear, t->arena->allocator);
  psdm_work_free(t->work, t->arena->allocator);
  t->linear = NULL;
  t->work = NULL;
}
