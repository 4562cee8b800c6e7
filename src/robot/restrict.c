/* restrict.c: part of a robot: locked joints, another root, the chain to one tip. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "robot/names_priv.h"
#include "robot/spec_priv.h"

typedef struct cutter {
  psdmp_robot_spec *spec;
  psdmp_base_arena *arena;
  psdm_error *error;
} cutter;

static psdm_status refuse(const cutter *c, const char *option, const char *name, const char *why) {
  char text[80];
  psdmp_base_quote(name, strlen(name), text, sizeof text);
  return psdmp_base_fail(c->error, PSDM_E_ROBOT, c->spec->file, 0, 0, "%s '%s': %s", option, text, why);
}

/* joint of that name, or the joint of the link of that name; -1 if neither exists */
static int find(const psdmp_robot_spec *spec, const char *name, bool links_first) {
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < spec->joints; j++)
      if (strcmp((pass == 0) == links_first ? spec->joint[j].link_name : spec->joint[j].name, name) == 0) return j;
  return -1;
}

/* reports an unknown name with the nearest known one */
static psdm_status not_there(const cutter *c, const char *option, const char *name, const char *what) {
  const psdmp_robot_spec *spec = c->spec;
  const char **words = PSDMP_BASE_NEW(c->arena, 2 * spec->joints, const char *);
  char why[160], text[80];
  if (!words) return psdmp_base_no_memory(c->spec->file, c->error);
  for (int j = 0; j < spec->joints; j++)
    words[j] = spec->joint[j].name, words[spec->joints + j] = spec->joint[j].link_name;
  const char *near = name[0] ? psdmp_base_nearest(name, words, 2 * (size_t)spec->joints) : NULL;
  if (near) psdmp_base_quote(near, strlen(near), text, sizeof text);
  snprintf(why, sizeof why, "the robot has no such %s%s%s%s", what, near ? "; did you mean '" : "", near ? text : "",
           near ? "'?" : "");
  return refuse(c, option, name, why);
}

/* ---- locking ---- */

/* fixes a joint at its couple_offset: the motion becomes part of the transform before it */
static void hold(psdmp_robot_spec_joint *joint) {
  double value = joint->couple_offset;
  psdmp_robot_pose motion =
      joint->type == PSDM_PRISMATIC ? psdmp_robot_pose_translation(0, 0, value) : psdmp_robot_pose_rotation(2, value);
  joint->before = psdmp_robot_pose_product(&joint->before, &motion);
  joint->type = PSDM_FIXED;
  joint->has_drive = joint->coupled = false;
  joint->couples = 0;
}

/* the contribution of joint j, locked at value, becomes a constant; true if this joint follows nothing else */
static bool settle(psdmp_robot_spec_joint *follower, int j, double value) {
  for (int i = 0; i < follower->couples; i++) {
    if (follower->couple[i].joint != j) continue;
    follower->couple_offset += follower->couple[i].factor * value;
    follower->couple[i] = follower->couple[--follower->couples];
    return !follower->couples;
  }
  return false;
}

static psdm_status lock_joint(const cutter *c, const psdm_lock *lock, int *held) {
  psdmp_robot_spec *spec = c->spec;
  int j = find(spec, lock->joint, false), count = 0;
  if (j < 0) return not_there(c, "lock", lock->joint, "joint");
  if (spec->joint[j].type == PSDM_FIXED) return refuse(c, "lock", lock->joint, "this joint does not move");
  if (spec->joint[j].coupled) return refuse(c, "lock", lock->joint, "this joint follows others; lock those");
  if (!isfinite(lock->value)) return refuse(c, "lock", lock->joint, "its position is not a finite number");
  spec->joint[j].couple_offset = lock->value;
  held[count++] = j;
  /* a follower that becomes locked has followers in turn */
  for (int h = 0; h < count; h++) {
    hold(&spec->joint[held[h]]);
    for (int k = 0; k < spec->joints; k++)
      if (settle(&spec->joint[k], held[h], spec->joint[held[h]].couple_offset)) held[count++] = k;
  }
  return PSDM_OK;
}

/* ---- keeping a part ---- */

/* marks the subtree of joint root's link; the joints are in any order, so it sweeps until nothing changes */
static void keep_below(const psdmp_robot_spec *spec, int root, bool *keep) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int j = 0; j < spec->joints; j++) {
      int parent = spec->joint[j].parent;
      if (!keep[j] && j != root && parent >= 0 && (parent == root || keep[parent])) keep[j] = changed = true;
    }
  }
}

/* marks the joints from the root to the tip, then whatever is fixed to their links */
static void keep_chain(const psdmp_robot_spec *spec, int tip, bool *keep) {
  int steps = 0;
  for (int j = tip; j >= 0 && steps++ <= spec->joints; j = spec->joint[j].parent) keep[j] = true;
  bool changed = true;
  while (changed) {
    changed = false;
    for (int j = 0; j < spec->joints; j++) {
      const psdmp_robot_spec_joint *joint = &spec->joint[j];
      if (!keep[j] && joint->type == PSDM_FIXED && joint->parent >= 0 && keep[joint->parent]) keep[j] = changed = true;
    }
  }
}

static psdm_status check_couples(const cutter *c, const bool *keep, const char *option) {
  const psdmp_robot_spec *spec = c->spec;
  for (int j = 0; j < spec->joints; j++)
    for (int i = 0; keep[j] && i < spec->joint[j].couples; i++)
      if (!keep[spec->joint[j].couple[i].joint])
        return refuse(c, option, spec->joint[j].name, "this joint follows one that is removed; keep or lock that one");
  return PSDM_OK;
}

/* position of a link after the cut, -1: the base, -2: removed */
static int moved_to(const int *to, int joint, int base_joint) {
  if (base_joint < 0 ? joint < 0 : joint == base_joint) return -1;
  return joint < 0 || to[joint] < 0 ? -2 : to[joint];
}

/* capsules of removed links are removed, and so is the floor if the base changes */
static psdm_status compact_collision(const cutter *c, const int *to, int base_joint) {
  psdmp_robot_collision *collision = c->spec->collision;
  int capsules = 0, aparts = 0;
  if (!collision) return PSDM_OK;
  for (int i = 0; i < collision->capsules; i++) {
    int joint = moved_to(to, collision->capsule[i].joint, base_joint);
    if (joint == -2) continue;
    collision->capsule[capsules] = collision->capsule[i];
    collision->capsule[capsules++].joint = joint;
  }
  for (int i = 0; i < collision->aparts; i++) {
    int a = moved_to(to, collision->apart[i][0], base_joint), b = moved_to(to, collision->apart[i][1], base_joint);
    if (a == -2 || b == -2) continue;
    collision->apart[aparts][0] = a;
    collision->apart[aparts++][1] = b;
  }
  collision->capsules = capsules;
  collision->aparts = aparts;
  if (base_joint < 0 || !collision->floor) return PSDM_OK;
  collision->floor = false;
  return psdmp_robot_list_add(&c->spec->notes, c->arena, "the floor is fixed in the file's base frame and is omitted")
             ? psdmp_base_no_memory(c->spec->file, c->error)
             : PSDM_OK;
}

/* drops all joints that are not kept and renumbers references to joints; base_joint's link becomes the base */
static psdm_status compact(const cutter *c, const bool *keep, int base_joint) {
  psdmp_robot_spec *spec = c->spec;
  int *to = PSDMP_BASE_NEW(c->arena, spec->joints, int), kept = 0;
  if (!to) return psdmp_base_no_memory(c->spec->file, c->error);
  for (int j = 0; j < spec->joints; j++) to[j] = keep[j] ? kept++ : -1;
  int dropped = spec->joints - kept;
  for (int j = 0; j < spec->joints; j++) {
    if (!keep[j]) continue;
    psdmp_robot_spec_joint joint = spec->joint[j];
    joint.parent = joint.parent < 0 || joint.parent == base_joint ? -1 : to[joint.parent];
    joint.motor_on = joint.motor_on < 0 ? -1 : to[joint.motor_on];
    for (int i = 0; i < joint.couples; i++) joint.couple[i].joint = to[joint.couple[i].joint];
    spec->joint[to[j]] = joint;
  }
  spec->joints = kept;
  psdm_status status = compact_collision(c, to, base_joint);
  if (status) return status;
  if (spec->has_tool && to[spec->tool_on] < 0) {
    spec->has_tool = false;
    if (psdmp_robot_list_add(&spec->notes, c->arena, "the tool's link is left out, and the tool with it"))
      return psdmp_base_no_memory(c->spec->file, c->error);
  }
  spec->tool_on = spec->has_tool ? to[spec->tool_on] : 0;
  if (dropped &&
      psdmp_robot_list_add(&spec->notes, c->arena, "%d joint%s omitted", dropped, dropped == 1 ? " is" : "s are"))
    return psdmp_base_no_memory(c->spec->file, c->error);
  return PSDM_OK;
}

static psdm_status take_root(const cutter *c, const char *name) {
  psdmp_robot_spec *spec = c->spec;
  if (strcmp(name, spec->base_name) == 0) return PSDM_OK;
  int root = find(spec, name, true);
  bool *keep = PSDMP_BASE_NEW(c->arena, spec->joints, bool);
  if (root < 0) return not_there(c, "root", name, "link");
  if (!keep) return psdmp_base_no_memory(c->spec->file, c->error);
  keep_below(spec, root, keep);
  psdm_status status = check_couples(c, keep, "root");
  spec->base = psdmp_robot_pose_identity();
  spec->base_name = spec->joint[root].link_name;
  return status ? status : compact(c, keep, root);
}

static psdm_status take_tip(const cutter *c, const char *name) {
  psdmp_robot_spec *spec = c->spec;
  int tip = find(spec, name, true);
  bool *keep = PSDMP_BASE_NEW(c->arena, spec->joints, bool);
  if (tip < 0 && strcmp(name, spec->base_name) == 0) return refuse(c, "tip", name, "nothing moves the base itself");
  if (tip < 0) return not_there(c, "tip", name, "link");
  if (!keep) return psdmp_base_no_memory(c->spec->file, c->error);
  keep_chain(spec, tip, keep);
  psdm_status status = check_couples(c, keep, "tip");
  return status ? status : compact(c, keep, -1);
}

/* ---- numbers that count moving links and independent joints ---- */

/* assumptions name moving links by number: renumber them, drop those whose link is gone */
static psdm_status renumber_assumptions(const cutter *c, const char **old_links, int old_count) {
  psdmp_robot_spec *spec = c->spec;
  int *to = PSDMP_BASE_NEW(c->arena, old_count, int), kept = 0;
  if (!to) return psdmp_base_no_memory(c->spec->file, c->error);
  for (int k = 0; k < old_count; k++) {
    int number = 0;
    to[k] = -1;
    for (int j = 0; j < spec->joints; j++) {
      if (spec->joint[j].type == PSDM_FIXED) continue;
      if (strcmp(spec->joint[j].link_name, old_links[k]) == 0) to[k] = number;
      number++;
    }
  }
  for (int i = 0; i < spec->assumptions; i++) {
    psdmp_robot_assumption a = spec->assumption[i];
    bool gone = false;
    for (int t = 0; t < a.terms; t++) gone |= to[a.term[t].link] < 0;
    if (gone &&
        psdmp_robot_list_add(&spec->notes, c->arena, "assumption %d is dropped: its link no longer moves", i + 1))
      return psdmp_base_no_memory(c->spec->file, c->error);
    if (gone) continue;
    for (int t = 0; t < a.terms; t++) a.term[t].link = to[a.term[t].link];
    spec->assumption[kept++] = a;
  }
  spec->assumptions = kept;
  return PSDM_OK;
}

/* a joint that follows a follower then follows its independent joint: the joints in between may be cut away */
static void flatten(psdmp_robot_spec *spec) {
  for (int j = 0; j < spec->joints; j++) {
    psdmp_robot_spec_joint *joint = &spec->joint[j];
    /* a cycle is left for the builder to refuse */
    for (int steps = 0; joint->couples == 1 && steps < spec->joints; steps++) {
      const psdmp_robot_spec_joint *master = &spec->joint[joint->couple[0].joint];
      if (!master->coupled || master->couples != 1 || joint->couple[0].joint == j) break;
      joint->couple_offset += joint->couple[0].factor * master->couple_offset;
      joint->couple[0] =
          (psdmp_robot_couple){master->couple[0].joint, joint->couple[0].factor * master->couple[0].factor};
    }
  }
}

psdm_status psdmp_robot_spec_restrict(psdmp_robot_spec *spec, const psdm_robot_options *o, psdmp_base_arena *arena,
                                      psdm_error *error) {
  if (!o->root && !o->tip && !o->lock_count) return PSDM_OK;
  cutter c = {spec, arena, error};
  if (spec->loops)
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->loops_line, 0,
                           "a robot with closed loops cannot be cut or locked");
  if (spec->transmission)
    return psdmp_base_fail(error, PSDM_E_ROBOT, spec->file, spec->transmission_line, 0,
                           "a robot with a transmission matrix cannot be cut or locked");
  const char **links = PSDMP_BASE_NEW(arena, spec->joints, const char *);
  int *held = PSDMP_BASE_NEW(arena, spec->joints, int);
  if (!links || !held) return psdmp_base_no_memory(c.spec->file, c.error);
  int count = 0;
  for (int j = 0; j < spec->joints; j++)
    if (spec->joint[j].type != PSDM_FIXED) links[count++] = spec->joint[j].link_name;
  flatten(spec);
  psdm_status status = PSDM_OK;
  for (int i = 0; i < o->lock_count && !status; i++) status = lock_joint(&c, &o->locks[i], held);
  if (!status && o->root) status = take_root(&c, o->root);
  if (!status && o->tip) status = take_tip(&c, o->tip);
  if (status) return status;
  if (spec->thetas &&
      psdmp_robot_list_add(&spec->notes, arena, "the file's theta does not apply to part of the robot and is dropped"))
    return psdmp_base_no_memory(c.spec->file, c.error);
  spec->thetas = 0;
  return spec->assumptions ? renumber_assumptions(&c, links, count) : PSDM_OK;
}
