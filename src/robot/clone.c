/* clone.c: a robot with its own parameters on shared kinematics. */
#include <string.h>

#include "robot/robot.h"

static void *copy_of(psdmp_base_arena *arena, const void *from, size_t bytes) {
  void *to = psdmp_base_arena_alloc(arena, bytes);
  if (to) memcpy(to, from, bytes);
  return to;
}

/* gives a robot its own copy of what psdm_robot_set_parameters changes; false: out of memory */
static bool own_numbers(psdm_robot *r, psdmp_base_arena *arena, int n) {
  size_t bodies = (size_t)r->bodies, square = (size_t)n * (size_t)n;
  r->body = copy_of(arena, r->body, bodies * sizeof *r->body);
  r->pi = copy_of(arena, r->pi, PSDMP_ROBOT_STANDARD * bodies * sizeof *r->pi);
  r->body_drive = copy_of(arena, r->body_drive, bodies * sizeof *r->body_drive);
  if (r->drives) r->drive = copy_of(arena, r->drive, (size_t)r->drives * sizeof *r->drive);
  r->joint = copy_of(arena, r->joint, (size_t)r->joints * sizeof *r->joint); /* their friction */
  bool coupled = r->drive_mass != NULL;
  if (coupled) r->drive_mass = copy_of(arena, r->drive_mass, square * sizeof *r->drive_mass);
  return r->body && r->pi && r->joint && r->body_drive && (!r->drives || r->drive) && (!coupled || r->drive_mass);
}

/* a closed robot and its open tree share their numbers */
static bool clone_into(const psdm_robot *from, psdm_robot *to) {
  psdmp_base_arena arena = to->arena;
  *to = *from;
  to->arena = arena;
  if (!own_numbers(to, &to->arena, from->closure ? from->closure->tree->n : from->n)) return false;
  if (!from->closure) return true;
  psdm_robot *tree = copy_of(&to->arena, from->closure->tree, sizeof *tree);
  to->closure = copy_of(&to->arena, from->closure, sizeof *to->closure);
  if (!tree || !to->closure) return false;
  tree->body = to->body;
  tree->pi = to->pi;
  tree->body_drive = to->body_drive;
  tree->drive = to->drive;
  tree->drive_mass = to->drive_mass;
  to->closure->tree = tree;
  return true;
}

psdm_status psdm_robot_clone(const psdm_robot *robot, const psdm_allocator *allocator, psdm_robot **out) {
  *out = NULL;
  psdm_robot *clone = psdmp_base_alloc(allocator, sizeof *clone);
  if (!clone) return PSDM_E_MEMORY;
  clone->arena.allocator = allocator;
  if (!clone_into(robot, clone)) {
    psdm_robot_free(clone);
    return PSDM_E_MEMORY;
  }
  *out = clone;
  return PSDM_OK;
}
