/* parameters.c: the parameters of the loaded robot, from those of the empty one, without identification. */
#include <math.h>
#include <string.h>

#include "parameters/parameters.h"
#include "payload/payload_priv.h"

/* ---- a copy ---- */

/* NULL stays NULL; false: out of memory */
static bool copy(psdmp_base_arena *arena, void *to, const void *from, size_t count, size_t size) {
  if (!from) return true;
  void *memory = psdmp_base_arena_alloc(arena, (count + 1) * size);
  if (memory) memcpy(memory, from, count * size);
  memcpy(to, &memory, sizeof memory);
  return memory != NULL;
}

#define COPY(arena, p, field, count) copy(arena, &(p)->field, (p)->field, (size_t)(count), sizeof *(p)->field)

/* first row of theta in the covariance: for steps after the torque constants */
static int covariance_theta(const psdm_parameters *p) { return p->lugre ? p->n : 0; }

static bool copy_theta(psdmp_base_arena *arena, psdm_parameters *p) {
  psdm_estimate *theta = psdmp_base_arena_alloc(arena, ((size_t)p->base + 1) * sizeof *theta);
  for (int j = 0; j < p->base && theta; j++) {
    theta[j] = p->theta[j];
    if (!(theta[j].name = psdmp_base_arena_text(arena, theta[j].name, strlen(theta[j].name)))) return false;
  }
  p->theta = theta;
  return theta != NULL;
}

static bool copy_columns(psdmp_base_arena *arena, psdm_parameters *p) {
  const psdm_column **column = psdmp_base_arena_alloc(arena, ((size_t)p->n + 1) * sizeof *column);
  for (int i = 0; i < p->n && column; i++) {
    column[i] = p->column[i];
    if (!copy(arena, &column[i], column[i], (size_t)p->columns[i], sizeof **column)) return false;
  }
  p->column = column;
  return column != NULL;
}

/* replaces every array of p by its own copy */
static bool own_all(psdmp_base_arena *arena, psdm_parameters *p) {
  size_t wide = (size_t)psdmp_parameters_wide(p), n = (size_t)p->n;
  p->robot = psdmp_base_arena_text(arena, p->robot, strlen(p->robot));
  return p->robot && copy_columns(arena, p) && COPY(arena, p, columns, n) && copy_theta(arena, p) &&
         COPY(arena, p, pi, p->standard) && COPY(arena, p, theta_load, p->base) && COPY(arena, p, sigma, n) &&
         COPY(arena, p, speed, n) && COPY(arena, p, load, n) && COPY(arena, p, train.joint, n) &&
         COPY(arena, p, heldout.joint, n) && COPY(arena, p, covariance, wide * wide) && COPY(arena, p, lugre, n) &&
         COPY(arena, p, lugre_sd, PSDM_FRICTION_NUMBERS * n) && COPY(arena, p, torque_constant, n) &&
         COPY(arena, p, torque_constant_sd, n) && COPY(arena, p, tool, 10) &&
         COPY(arena, p, step_fit, PSDM_STEPS * n) && COPY(arena, p, theta_known, p->base);
}

static psdm_status duplicate(const psdm_parameters *from, const psdm_allocator *allocator, psdm_parameters **out,
                             psdm_error *error) {
  psdm_parameters *p = psdmp_parameters_new(allocator);
  if (!p) return psdmp_base_no_memory("", error);
  struct psdmp_parameters *inside = p->internal;
  *p = *from;
  p->internal = inside;
  if (own_all(&inside->arena, p)) return *out = p, PSDM_OK;
  psdm_parameters_free(p);
  return psdmp_base_no_memory("", error);
}

/* ---- the load ---- */

/* V += L C L^T, V the theta part of a covariance */
static void widen(int base, const double *L, const double *C, int wide, double *V) {
  for (int i = 0; i < base; i++) {
    double row[10] = {0};
    for (int b = 0; b < 10; b++)
      for (int a = 0; a < 10; a++) row[b] += L[10L * i + a] * C[10 * a + b];
    for (int j = 0; j < base; j++)
      for (int b = 0; b < 10; b++) V[(long)i * wide + j] += row[b] * L[10L * j + b];
  }
}

/* symmetric to the last bit, since a file has one triangle only */
static void mirror(int count, int wide, double *V) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) V[(long)j * wide + i] = V[(long)i * wide + j];
}

/* the arrays are this file's own copies, though const in the public struct */
static psdm_status add_load(psdm_parameters *p, const double *L, const double pi_L[10], const double *C,
                            psdm_error *error) {
  psdm_estimate *theta = (psdm_estimate *)p->theta;
  double *load = (double *)p->theta_load,
         *V = psdmp_base_alloc(p->internal->arena.allocator, ((size_t)p->base * (size_t)p->base + 1) * sizeof *V);
  if (!V) return psdmp_base_no_memory("", error);
  if (C) widen(p->base, L, C, p->base, V);
  for (int j = 0; j < p->base; j++) {
    double change = 0;
    psdm_payload_update(1, L + 10L * j, pi_L, &(double){0}, &change);
    theta[j].value += change;
    if (load) load[j] += change;
    theta[j].sd = sqrt(theta[j].sd * theta[j].sd + fmax(V[(long)j * (p->base + 1)], 0));
  }
  psdmp_base_free(p->internal->arena.allocator, V);
  if (C && p->covariance) {
    int wide = psdmp_parameters_wide(p), at = covariance_theta(p);
    widen(p->base, L, C, wide, (double *)p->covariance + (long)at * (wide + 1));
    mirror(p->base, wide, (double *)p->covariance + (long)at * (wide + 1));
  }
  return PSDM_OK;
}

/* L in the order of the parameters' theta, which may differ; missing base parameters are refused */
static psdm_status map_by_names(const psdm_robot *robot, const psdm_parameters *p, const psdmp_payload_mount *mount,
                                double *L, psdm_error *error) {
  psdm_model *model;
  psdm_status status = psdmp_parameters_complete(p, robot, "", 0, error);
  if (!status) status = psdm_parameters_model(robot, p->internal->arena.allocator, &model, error);
  if (status) return status;
  double *own = psdmp_base_alloc(p->internal->arena.allocator, (10 * (size_t)p->base + 1) * sizeof *own);
  if (own) psdmp_payload_mount_map(mount, model, own);
  for (int j = 0; j < p->base && own; j++)
    for (int k = 0; k < psdm_model_l(model); k++)
      if (strcmp(p->theta[j].name, psdm_model_base_name(model, k)) == 0)
        memcpy(L + 10L * j, own + 10L * k, 10 * sizeof *L);
  psdmp_base_free(p->internal->arena.allocator, own);
  psdm_model_free(model);
  return own ? PSDM_OK : psdmp_base_no_memory("", error);
}

psdm_status psdm_payload_parameters(const psdm_robot *robot, const psdm_parameters *empty, int joint,
                                    const double pi_L[10], const double *covariance_L, const psdm_allocator *allocator,
                                    psdm_parameters **out, psdm_error *error) {
  psdmp_payload_mount mount;
  psdm_parameters *p = NULL;
  double moved[10];
  *out = NULL;
  psdm_status status = psdmp_parameters_match(empty, robot, error);
  if (!status) status = psdmp_payload_mount_find(robot, joint, &mount, error);
  if (!status) status = duplicate(empty, allocator, &p, error);
  if (status) return status;
  double *L = psdmp_base_alloc(allocator, (10 * (size_t)p->base + 1) * sizeof *L);
  status = L ? map_by_names(robot, p, &mount, L, error) : psdmp_base_no_memory("", error);
  if (!status) status = add_load(p, L, pi_L, covariance_L, error);
  psdmp_payload_mount_move(&mount, pi_L, moved);
  for (int k = 0; k < 10 && p->pi; k++) ((double *)p->pi)[10L * mount.link + k] += moved[k];
  psdmp_base_free(allocator, L);
  if (status) psdm_parameters_free(p);
  else *out = p;
  return status;
}
