/* springs.c: elastic joints: which joints can be, and the links without their rotors. */
#include <math.h>
#include <string.h>

#include "rigid/rigid.h"

static psdm_status fail_joint(const psdm_joint *joint, psdm_status status, const char *text, psdm_error *error) {
  char name[64];
  return psdmp_base_fail(error, status, "", 0, 0, "joint '%s': %s",
                         psdmp_base_quote(joint->name, strlen(joint->name), name, sizeof name), text);
}

/* an elastic joint must be one of the open tree's independent ones, with a rotor behind its spring */
static psdm_status check_spring(const psdm_robot *robot, const psdm_joint *joint, psdm_error *error) {
  if (psdm_robot_loops(robot))
    return fail_joint(joint, PSDM_E_ROBOT,
                      "it is elastic, and the robot has closed loops; springs are known for open robots only", error);
  if (joint->q < 0)
    return fail_joint(joint, PSDM_E_ROBOT,
                      "it has a stiffness and follows other joints; only independent joints can be elastic", error);
  if (joint->drive < 0)
    return fail_joint(joint, PSDM_E_MISSING,
                      "it has a stiffness but no drive_inertia; an elastic joint needs a rotor behind its spring",
                      error);
  return PSDM_OK;
}

psdm_status psdmp_rigid_joint_check(const psdm_robot *robot, const psdm_joint *joint, psdm_friction_kind friction,
                                    bool elastic, bool *spring, psdm_error *error) {
  const char *lacks = joint->q >= 0 && joint->friction.given ? psdm_friction_lacks(&joint->friction, friction) : NULL;
  *spring = elastic && isfinite(joint->stiffness) && joint->type != PSDM_FIXED;
  psdm_status status = *spring ? check_spring(robot, joint, error) : PSDM_OK;
  return !status && lacks ? fail_joint(joint, PSDM_E_MISSING, lacks, error) : status;
}

psdm_status psdmp_rigid_part_rotors(const psdm_robot *robot, psdmp_base_arena *arena, psdm_robot **links,
                                    double **rotors, psdm_error *error) {
  int parameters = psdm_robot_parameter_count(robot), inertial = parameters - psdm_robot_drives(robot);
  double *pi = psdmp_base_arena_alloc(arena, 2 * (size_t)parameters * sizeof *pi), *rest = pi + parameters;
  *rotors = psdmp_base_arena_alloc(arena, (size_t)robot->n * (size_t)robot->n * sizeof **rotors);
  if (!pi || !*rotors || psdm_robot_clone(robot, arena->allocator, links)) return psdmp_base_no_memory("", error);
  psdm_robot_parameters(robot, pi);
  memcpy(rest, pi, (size_t)parameters * sizeof *pi);
  memset(pi + inertial, 0, (size_t)(parameters - inertial) * sizeof *pi);
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    if (joint->q < 0 || joint->drive < 0) continue;
    pi[inertial + joint->drive] = rest[inertial + joint->drive];
    rest[inertial + joint->drive] = 0;
  }
  psdm_robot_set_parameters(*links, pi);
  psdm_robot_drive_mass(*links, *rotors);
  psdm_robot_set_parameters(*links, rest);
  return PSDM_OK;
}
