/* parameters.c: the result of a calibration, and how a robot takes it over. */
#include "psdm/parameters.h"

#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "psdm/base_parameters.h"
#include "robot/robot.h"

psdm_status psdmp_parameters_model(const psdm_robot *robot, const psdm_allocator *allocator, psdm_model **model,
                                   psdm_derive_info *info, psdm_error *error) {
  static const psdm_derive_options physical = {.rank_tolerance = PSDMP_PARAMETERS_PHYSICAL_RANK};
  psdm_robot bare = *robot;
  bare.assumptions = 0;
  return psdm_base_parameters_derive(&bare, &physical, allocator, model, info, error);
}

psdm_status psdm_parameters_model(const psdm_robot *robot, const psdm_allocator *allocator, psdm_model **model,
                                  psdm_error *error) {
  return psdmp_parameters_model(robot, allocator, model, NULL, error);
}

/* ---- from a calibration ---- */

psdm_parameters *psdmp_parameters_new(const psdm_allocator *allocator) {
  struct psdmp_parameters *inside = psdmp_base_alloc(allocator, sizeof *inside);
  if (!inside) return NULL;
  inside->arena.allocator = allocator;
  inside->p.internal = inside;
  return &inside->p;
}

void psdm_parameters_free(psdm_parameters *p) {
  if (!p) return;
  struct psdmp_parameters *inside = p->internal;
  psdmp_base_arena_free_owner(&inside->arena, inside);
}

/* NULL stays NULL; false: out of memory */
static bool copy(psdmp_base_arena *arena, const double **to, const double *from, size_t count) {
  if (!from) return true;
  double *memory = psdmp_base_arena_alloc(arena, count * sizeof *memory);
  if (memory && count) memcpy(memory, from, count * sizeof *memory);
  *to = memory;
  return memory != NULL;
}

static bool copy_theta(psdmp_base_arena *arena, const psdm_calibration *c, psdm_parameters *p) {
  psdm_estimate *theta = psdmp_base_arena_alloc(arena, ((size_t)c->base + 1) * sizeof *theta);
  p->theta = theta;
  for (int j = 0; j < c->base && theta; j++) {
    theta[j] = c->theta[j];
    if (!(theta[j].name = psdmp_base_arena_text(arena, c->theta[j].name, strlen(c->theta[j].name)))) return false;
  }
  return theta != NULL;
}

static bool copy_columns(psdmp_base_arena *arena, const psdm_calibration *c, psdm_parameters *p) {
  size_t n = (size_t)c->n;
  int *columns = psdmp_base_arena_alloc(arena, n * sizeof *columns);
  const psdm_column **column = psdmp_base_arena_alloc(arena, n * sizeof *column);
  if (!columns || !column) return false;
  for (size_t i = 0; i < n; i++) {
    size_t count = (size_t)c->columns[i];
    psdm_column *own = psdmp_base_arena_alloc(arena, (count + 1) * sizeof *own);
    if (!own) return false;
    if (count) memcpy(own, c->column[i], count * sizeof *own);
    columns[i] = c->columns[i];
    column[i] = own;
  }
  p->columns = columns;
  p->column = column;
  return true;
}

static bool copy_fit(psdmp_base_arena *arena, const psdm_part_fit *from, int n, psdm_part_fit *to) {
  psdm_joint_fit *joint = psdmp_base_arena_alloc(arena, (size_t)n * sizeof *joint);
  if (joint) memcpy(joint, from->joint, (size_t)n * sizeof *joint);
  *to = *from;
  to->joint = joint;
  return joint != NULL;
}

/* symmetric to the last bit, since a file only has one triangle */
static bool copy_covariance(psdmp_base_arena *arena, const double *from, size_t wide, const double **to) {
  double *V = psdmp_base_arena_alloc(arena, (wide * wide + 1) * sizeof *V);
  for (size_t i = 0; i < wide && V; i++)
    for (size_t j = 0; j <= i; j++) V[i * wide + j] = V[j * wide + i] = from[i * wide + j];
  *to = V;
  return V != NULL;
}

static int loaded_columns(const psdm_calibration *c, int *all) {
  int loaded = 0;
  *all = 0;
  for (int i = 0; i < c->n; i++) {
    *all += c->columns[i];
    for (int k = 0; k < c->columns[i]; k++) loaded += c->column[i][k].load != 0;
  }
  return loaded;
}

static bool copy_all(const psdm_calibration *c, bool covariance, psdm_parameters *p) {
  psdmp_base_arena *arena = &p->internal->arena;
  const char *name = psdm_robot_name(c->robot);
  int all, loaded = loaded_columns(c, &all);
  size_t n = (size_t)c->n, base = (size_t)c->base, wide = base + (size_t)all;
  p->robot = psdmp_base_arena_text(arena, name, strlen(name));
  p->kinematics = psdm_robot_fingerprint(c->robot);
  p->estimator = c->estimator;
  p->n = c->n, p->links = psdm_robot_links(c->robot), p->base = c->base, p->standard = c->standard;
  p->source = c->kinematics, p->cutoff = c->cutoff, p->delay = c->delay, p->lambda = c->lambda, p->rest = c->rest,
  p->rate = c->rate;
  return p->robot && copy_theta(arena, c, p) && copy_columns(arena, c, p) &&
         copy(arena, &p->pi, c->pi, (size_t)c->standard) &&
         copy(arena, &p->theta_load, loaded ? c->theta_load : NULL, base) && copy(arena, &p->sigma, c->sigma, n) &&
         copy(arena, &p->speed, c->speed, n) && copy(arena, &p->load, c->load, n) &&
         copy_fit(arena, &c->train[PSDM_FIT_MOVING], c->n, &p->train) &&
         copy_fit(arena, &c->heldout[PSDM_FIT_MOVING], c->n, &p->heldout) &&
         (!covariance || wide > PSDMP_PARAMETERS_COVARIANCE_MOST ||
          copy_covariance(arena, c->covariance, wide, &p->covariance));
}

psdm_status psdm_parameters_from(const psdm_calibration *c, bool covariance, const psdm_allocator *allocator,
                                 psdm_parameters **out, psdm_error *error) {
  *out = NULL;
  psdm_parameters *p = psdmp_parameters_new(allocator);
  if (!p || !copy_all(c, covariance, p)) {
    psdm_parameters_free(p);
    return psdmp_base_no_memory("", error);
  }
  *out = p;
  return PSDM_OK;
}

/* ---- friction in the terms of a robot file ---- */

/* the drive's friction in steady sliding, at the mean load; position left out */
static double steady(const psdm_parameters *p, int drive, double v) {
  double sum = 0, load = p->load ? p->load[drive] : 0;
  for (int k = 0; k < p->columns[drive]; k++) {
    const psdm_column *c = &p->column[drive][k];
    if (c->kind >= PSDM_COLUMN_LINEAR) continue;
    /* a distance so long that every stop slides */
    psdmp_parameters_column_state state = {.any = true, .last = v > 0 ? -1e30 : 1e30};
    double value;
    psdmp_parameters_columns_at(&(psdmp_parameters_column){c->kind, c->width, c->load}, 1, 0, v, load, &state, &value);
    sum += value * c->gain;
  }
  return sum;
}

enum { SPEEDS = 50 };

/* the k-th tested speed: from a fiftieth of the drive's speed upwards */
static double tested(const psdm_parameters *p, int drive, int k) { return p->speed[drive] * (k + 1) / SPEEDS; }

/* least squares of the odd part in v by coulomb + viscous |v|, neither below zero */
static void fit_odd(const psdm_parameters *p, int drive, psdm_friction *f) {
  double one = 0, x = 0, xx = 0, y = 0, xy = 0;
  for (int k = 0; k < SPEEDS; k++) {
    double v = tested(p, drive, k), odd = (steady(p, drive, v) - steady(p, drive, -v)) / 2;
    one += 1, x += v, xx += v * v, y += odd, xy += v * odd;
  }
  f->viscous = (one * xy - x * y) / (one * xx - x * x);
  f->coulomb = (y - f->viscous * x) / one;
  if (f->coulomb < 0) f->coulomb = 0, f->viscous = fmax(xy / xx, 0);
  if (f->viscous < 0) f->viscous = 0, f->coulomb = fmax(y / one, 0);
}

void psdm_parameters_friction(const psdm_parameters *p, int drive, psdm_friction *f, double *left_out) {
  *f = p->lugre ? p->lugre[drive] : (psdm_friction){.exponent = 1, .given = true};
  if (left_out) *left_out = 0;
  if (p->lugre) return;
  if (!p->speed || !(p->speed[drive] > 0)) return;
  fit_odd(p, drive, f);
  f->stat = f->coulomb;
  for (int k = 0; k < SPEEDS; k++)
    f->offset += (steady(p, drive, tested(p, drive, k)) + steady(p, drive, -tested(p, drive, k))) / (2 * SPEEDS);
  for (int k = 0; k < 2 * SPEEDS && left_out; k++) {
    double v = k < SPEEDS ? tested(p, drive, k) : -tested(p, drive, k - SPEEDS);
    double near = f->coulomb * (v > 0 ? 1 : -1) + f->viscous * v + f->offset;
    *left_out = fmax(*left_out, fabs(steady(p, drive, v) - near));
  }
}

/* ---- a robot takes it over ---- */

psdm_status psdmp_parameters_match(const psdm_parameters *p, const psdm_robot *r, psdm_error *error) {
  char name[80];
  if (!p->kinematics || p->kinematics == psdm_robot_fingerprint(r)) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_ROBOT, "", 0, 0, "the parameters were found for other kinematics (robot '%s')",
                         psdmp_base_quote(p->robot, strlen(p->robot), name, sizeof name));
}

psdm_status psdmp_parameters_complete(const psdm_parameters *p, const psdm_robot *r, const char *file, int line,
                                      psdm_error *error) {
  psdm_model *model;
  psdm_status status = psdm_parameters_model(r, r->arena.allocator, &model, error);
  if (status) return status;
  for (int j = 0; j < psdm_model_l(model) && !status; j++) {
    int k = 0;
    while (k < p->base && strcmp(p->theta[k].name, psdm_model_base_name(model, j)) != 0) k++;
    if (k == p->base)
      status = psdmp_base_fail(error, PSDM_E_MISSING, file, line, 0,
                               "base parameter '%s' of robot '%s' is not among the parameters",
                               psdm_model_base_name(model, j), r->name);
  }
  if (!status && psdm_model_l(model) != p->base)
    status = psdmp_base_fail(error, PSDM_E_ROBOT, file, line, 0,
                             "%d base parameters for a robot that has %d; gravity is not that of the calibration",
                             p->base, psdm_model_l(model));
  psdm_model_free(model);
  return status;
}

/* the base parameter from the whole set pi: its formula, and the size of its terms */
static double by_formula(const psdm_model *m, int j, const double *pi, double *size) {
  double sum = 0;
  *size = 0;
  for (int t = 0; t < psdm_model_base_terms(m, j); t++) {
    int k;
    double term = psdm_model_base_term(m, j, t, &k) * pi[k];
    sum += term, *size += fabs(term);
  }
  return sum;
}

psdm_status psdmp_parameters_agree(const psdm_parameters *p, const psdm_robot *r, const char *file, int line,
                                   psdm_error *error) {
  const double rounded = 1e-4; /* rounding by hand, in either of them */
  psdm_model *model;
  psdm_status status = psdm_parameters_model(r, r->arena.allocator, &model, error);
  if (status) return status;
  bool same = psdm_model_l(model) == p->base; /* else gravity differs, and only pi counts */
  for (int j = 0; j < p->base && same; j++) same = strcmp(p->theta[j].name, psdm_model_base_name(model, j)) == 0;
  for (int j = 0; j < p->base && same && !status; j++) {
    double size, value = by_formula(model, j, p->pi, &size);
    if (!(fabs(value - p->theta[j].value) <= rounded * size))
      status =
          psdmp_base_fail(error, PSDM_E_PARSE, file, line, 0,
                          "theta and pi do not agree: %s is %.6g, and %.6g by pi; without the key 'pi' theta is used",
                          p->theta[j].name, p->theta[j].value, value);
  }
  psdm_model_free(model);
  return status;
}

/* a drive's friction and torque constant go to the joint of the same number; what no step has found stays the robot's
 * own */
static void set_drives(const psdm_parameters *p, psdm_robot *r) {
  for (int j = 0; j < r->joints; j++) {
    int q = r->joint[j].q;
    if (q < 0) continue;
    if (!p->lugre || p->lugre[q].given) psdm_parameters_friction(p, q, &r->joint[j].friction, NULL);
    if (p->torque_constant && p->currents && isfinite(p->torque_constant[q]))
      r->joint[j].torque_constant = p->torque_constant[q];
  }
}

psdm_status psdm_parameters_apply(const psdm_parameters *p, psdm_robot *r, psdm_error *error) {
  psdm_status shown = psdmp_parameters_match(p, r, error);
  if (!shown) shown = psdmp_parameters_shown(p, error);
  if (shown) return shown;
  if (p->pi) {
    psdm_robot_set_parameters(r, p->pi);
  } else {
    psdm_status status = psdmp_parameters_complete(p, r, "", 0, error);
    if (status) return status;
    double *pi = psdmp_base_alloc(r->arena.allocator, (size_t)p->standard * sizeof *pi);
    if (!pi) return psdmp_base_no_memory("", error);
    for (int j = 0; j < p->base; j++) pi[psdmp_robot_standard_find(r, p->theta[j].name)] = p->theta[j].value;
    psdm_robot_set_parameters(r, pi);
    psdmp_base_free(r->arena.allocator, pi);
  }
  set_drives(p, r);
  return PSDM_OK;
}
