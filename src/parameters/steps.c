/* steps.c: the result of a calibration in steps, for a file. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"

int psdmp_parameters_wide(const psdm_parameters *p) {
  int wide = p->base;
  for (int i = 0; i < p->n; i++) wide += p->lugre ? 1 + PSDM_FRICTION_NUMBERS : p->columns[i];
  return wide;
}

/* NULL stays NULL; false: out of memory */
static bool copy(psdmp_base_arena *arena, const double **to, const double *from, int count) {
  if (!from) return true;
  double *memory = PSDMP_BASE_NEW(arena, count, double);
  if (memory) memcpy(memory, from, (size_t)count * sizeof *memory);
  *to = memory;
  return memory != NULL;
}

static bool is_done(const psdm_steps *s, int step) { return s->step[step].done || s->step[step].from_before; }

/* the last step of this run, else of those before; -1: none */
static int last_step(const psdm_steps *s) {
  int step = PSDM_STEPS - 1;
  while (step >= 0 && !s->step[step].done) step--;
  if (step >= 0) return step;
  for (step = PSDM_STEPS - 1; step >= 0 && !s->step[step].from_before;) step--;
  return step;
}

/* ---- theta of the arm with its tool ---- */

/* the moving link that carries the tool: the last one where the robot file has none */
static int tool_link(const psdm_robot *robot) {
  double own[10];
  int joint = psdm_robot_tool(robot, own);
  return joint < 0 ? psdm_robot_links(robot) - 1 : psdm_robot_joint(robot, joint)->link;
}

/* K pi_tool: the tool's contribution to each base parameter, by their formulas */
static void add_tool(const psdm_robot *robot, const psdm_model *model, const double *tool, psdm_estimate *theta) {
  int link = tool_link(robot);
  for (int j = 0; j < psdm_model_l(model); j++)
    for (int t = 0; t < psdm_model_base_terms(model, j); t++) {
      int standard;
      double coefficient = psdm_model_base_term(model, j, t, &standard);
      if (standard >= 10 * link && standard < 10 * link + 10)
        theta[j].value += coefficient * tool[standard - 10 * link];
    }
}

static psdm_status take_theta(const psdm_steps *s, psdm_parameters *p, psdm_error *error) {
  psdmp_base_arena *arena = &p->internal->arena;
  psdm_estimate *theta = PSDMP_BASE_NEW(arena, s->base, psdm_estimate);
  unsigned char *known = PSDMP_BASE_NEW(arena, s->base, unsigned char);
  if (!theta || !known) return psdmp_base_no_memory("", error);
  for (int j = 0; j < s->base; j++) {
    theta[j] = s->theta[j];
    if (!(theta[j].name = psdmp_base_arena_text(arena, s->theta[j].name, strlen(s->theta[j].name))))
      return psdmp_base_no_memory("", error);
    known[j] = !isnan(theta[j].value);
  }
  p->theta = theta;
  p->theta_known = known;
  if (!s->tool) return PSDM_OK;
  psdm_model *model;
  psdm_status status = psdm_parameters_model(s->robot, arena->allocator, &model, error);
  if (status) return status;
  if (psdm_model_l(model) == s->base) add_tool(s->robot, model, s->tool, theta);
  else
    status = psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "%d base parameters for a robot that has %d", s->base,
                             psdm_model_l(model));
  psdm_model_free(model);
  return status;
}

/* ---- friction, motors, fit figures ---- */

/* no columns: a drive's friction is LuGre's */
static bool take_friction(const psdm_steps *s, psdm_parameters *p) {
  psdmp_base_arena *arena = &p->internal->arena;
  psdm_friction *lugre = PSDMP_BASE_NEW(arena, s->n, psdm_friction);
  const psdm_column **column = PSDMP_BASE_NEW(arena, s->n, const psdm_column *);
  double *speed = PSDMP_BASE_NEW(arena, s->n, double),
         *sd = PSDMP_BASE_NEW(arena, PSDM_FRICTION_NUMBERS * s->n, double);
  p->columns = PSDMP_BASE_NEW(arena, s->n, int);
  p->column = column;
  p->lugre = lugre;
  p->lugre_sd = sd;
  p->speed = speed;
  if (!lugre || !column || !speed || !sd || !p->columns) return false;
  for (int i = 0; i < s->n; i++) {
    if (s->friction[i].given) lugre[i] = s->friction[i];
    for (int k = 0, at = PSDM_FRICTION_NUMBERS * i; k < PSDM_FRICTION_NUMBERS; k++, at++)
      sd[at] = lugre[i].given ? s->sd[s->n + s->base + at] : NAN;
    speed[i] = isfinite(s->speed[i]) ? s->speed[i] : 0;
  }
  return true;
}

/* |error| / |tau| over all joints: a joint's |tau| is its |error| over rel */
static double global_rel(const psdm_joint_fit *joint, int n) {
  double error = 0, tau = 0;
  for (int i = 0; i < n; i++) {
    if (!joint[i].rows || !isfinite(joint[i].rmse)) continue;
    double own = (double)joint[i].rows * joint[i].rmse * joint[i].rmse;
    error += own;
    if (joint[i].rel > 0) tau += own / (joint[i].rel * joint[i].rel);
  }
  return tau > 0 ? sqrt(error / tau) : NAN;
}

/* a part's figures; without any, joints without rows */
static bool take_part(psdmp_base_arena *arena, const psdm_joint_fit *from, int n, psdm_part_fit *to) {
  psdm_joint_fit *joint = PSDMP_BASE_NEW(arena, n, psdm_joint_fit);
  to->joint = joint;
  to->global_rel = NAN;
  for (int i = 0; i < n && joint; i++) {
    joint[i] = from ? from[i] : (psdm_joint_fit){.rmse = NAN, .rel = NAN, .nrmse = NAN, .r2 = NAN};
    to->rows += joint[i].rows;
  }
  if (joint) to->global_rel = global_rel(joint, n);
  return joint != NULL;
}

static bool take_figures(const psdm_steps *s, psdm_parameters *p) {
  psdmp_base_arena *arena = &p->internal->arena;
  int last = last_step(s);
  psdm_joint_fit *fit = PSDMP_BASE_NEW(arena, PSDM_STEPS * s->n, psdm_joint_fit);
  p->step_fit = fit;
  for (int k = 0; k < PSDM_STEPS && fit; k++) {
    const psdm_joint_fit *held = is_done(s, k) ? s->step[k].heldout : NULL;
    for (int i = 0; i < s->n; i++)
      fit[k * s->n + i] = held ? held[i] : (psdm_joint_fit){.rmse = NAN, .rel = NAN, .nrmse = NAN, .r2 = NAN};
    if (is_done(s, k)) p->steps |= 1u << k;
  }
  return fit && take_part(arena, last < 0 ? NULL : s->step[last].train, s->n, &p->train) &&
         take_part(arena, last < 0 ? NULL : s->step[last].heldout, s->n, &p->heldout) &&
         copy(arena, &p->sigma, last < 0 ? NULL : s->step[last].sigma, s->n);
}

/* symmetric to the last bit, since a file only has one triangle */
static bool take_covariance(const psdm_steps *s, psdm_parameters *p) {
  long wide = s->numbers;
  double *V = PSDMP_BASE_NEW(&p->internal->arena, wide * wide, double);
  p->covariance = V;
  for (long i = 0; i < wide && V; i++)
    for (long j = 0; j <= i; j++) V[i * wide + j] = V[j * wide + i] = s->covariance[i * wide + j];
  return V != NULL;
}

static bool take_numbers(const psdm_steps *s, psdm_parameters *p) {
  psdmp_base_arena *arena = &p->internal->arena;
  const char *name = psdm_robot_name(s->robot);
  p->robot = psdmp_base_arena_text(arena, name, strlen(name));
  p->kinematics = psdm_robot_fingerprint(s->robot);
  p->estimator = PSDM_ESTIMATOR_WLS; /* as in the linear steps */
  p->n = s->n, p->links = psdm_robot_links(s->robot), p->base = s->base, p->standard = s->standard;
  p->rate = s->rate;
  p->currents = s->currents;
  return p->robot && copy(arena, &p->torque_constant, s->torque_constant, s->n) &&
         copy(arena, &p->torque_constant_sd, s->sd, s->n) && copy(arena, &p->tool, s->tool, 10) &&
         take_friction(s, p) && take_figures(s, p) && take_covariance(s, p);
}

psdm_status psdm_parameters_from_steps(const psdm_steps *s, const psdm_allocator *allocator, psdm_parameters **out,
                                       psdm_error *error) {
  *out = NULL;
  psdm_parameters *p = psdmp_parameters_new(allocator);
  psdm_status status = PSDM_OK;
  if (!p || !take_numbers(s, p)) status = psdmp_base_no_memory("", error);
  if (!status) status = take_theta(s, p, error);
  if (status) psdm_parameters_free(p);
  else *out = p;
  return status;
}

/* ---- what is still missing ---- */

psdm_status psdmp_parameters_shown(const psdm_parameters *p, psdm_error *error) {
  static const psdm_step shows[] = {PSDM_STEP_GRAVITY, PSDM_STEP_INERTIA};
  int j = 0;
  while (j < p->base && (!p->theta_known || p->theta_known[j])) j++;
  if (j == p->base) return PSDM_OK;
  for (int k = 0; k < 2; k++)
    if (!(p->steps >> shows[k] & 1))
      return psdmp_base_fail(
          error, PSDM_E_MISSING, "", 0, 0,
          "base parameter '%s' is not known: the step '%s' is missing (psdm calibrate `log = %s:FILE`)",
          p->theta[j].name, psdm_step_name(shows[k]), psdm_step_name(shows[k]));
  return psdmp_base_fail(error, PSDM_E_MISSING, "", 0, 0,
                         "base parameter '%s' is not known: none of the steps shows it", p->theta[j].name);
}
