/* drives.c: maps from joints to drives and back, and from standard parameters to base parameters, independent of any
 * log. */
#include <math.h>

#include "identify/identify.h"
#include "robot/robot.h"

/* T: drives' positions, seen from the joints, to joints */
bool psdmp_identify_run_transmission(psdmp_identify_run *r, psdmp_base_arena *arena) {
  const psdm_robot *robot = r->robot;
  int n = r->n;
  bool identity = true;
  if (!robot->transmission) return true;
  double gear[PSDM_MAX_JOINTS];
  for (int j = 0; j < robot->joints; j++)
    if (robot->joint[j].q >= 0) gear[robot->joint[j].q] = robot->joint[j].gear;
  size_t bytes = (size_t)n * (size_t)n * sizeof(double);
  double *T = psdmp_base_arena_alloc(arena, bytes), *inverse = psdmp_base_arena_alloc(arena, bytes);
  if (!T || !inverse) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      T[i * n + j] = robot->transmission[i * n + j] * gear[j];
      inverse[i * n + j] = robot->transmission_inv[i * n + j] / gear[i];
      identity &= fabs(T[i * n + j] - (i == j)) < 1e-12;
    }
  if (!identity) r->T = T, r->T_inverse = inverse;
  return true;
}

void psdmp_identify_run_to_drives(const psdmp_identify_run *r, const double *joint, double *drive) {
  for (int i = 0; i < r->n; i++) {
    drive[i] = r->T ? 0 : joint[i];
    for (int k = 0; k < r->n && r->T; k++) drive[i] += r->T[k * r->n + i] * joint[k];
  }
}

void psdmp_identify_run_to_joints(const psdmp_identify_run *r, const double *drive, double *joint) {
  for (int i = 0; i < r->n; i++) {
    joint[i] = r->T ? 0 : drive[i];
    for (int k = 0; k < r->n && r->T; k++) joint[i] += r->T_inverse[k * r->n + i] * drive[k];
  }
}

bool psdmp_identify_run_formulas(psdmp_identify_run *r, psdmp_base_arena *arena) {
  r->l = psdm_model_l(r->model);
  r->S = psdm_robot_parameter_count(r->robot);
  r->kept = psdmp_base_arena_alloc(arena, (size_t)r->l * sizeof *r->kept);
  r->K = psdmp_base_arena_alloc(arena, (size_t)r->l * (size_t)r->S * sizeof *r->K);
  if (!r->kept || !r->K) return false;
  for (int j = 0; j < r->l; j++) {
    psdm_model_base_term(r->model, j, 0, &r->kept[j]);
    for (int k = 0; k < psdm_model_base_terms(r->model, j); k++) {
      int standard;
      double value = psdm_model_base_term(r->model, j, k, &standard);
      r->K[(long)j * r->S + standard] = value;
    }
  }
  return true;
}
