/* missing.c: links without inertia in the file: which are mere frames, which are unknown, and the notes about
 * them.
 *
 * Links that are fixed to each other are one rigid body, led by its moving link. A link without numbers on a
 * body that has numbers elsewhere is a frame (a flange, a tool's tip, a camera) unless it has a shape. */
#include <stdio.h>
#include <string.h>

#include "robot/spec_priv.h"

enum { BASE = -1, NOT_YET = -2 };

/* the joint whose link leads the body of link j, BASE if nothing moves it; a cycle, which the builder refuses, ends at
 * the base */
static void find_leaders(const psdmp_robot_spec *spec, int *leader) {
  for (int j = 0; j < spec->joints; j++) leader[j] = spec->joint[j].type == PSDM_FIXED ? NOT_YET : j;
  for (int j = 0; j < spec->joints; j++) {
    int top = j, steps = 0;
    while (top >= 0 && leader[top] == NOT_YET && steps++ < spec->joints) top = spec->joint[top].parent;
    int found = top < 0 || leader[top] == NOT_YET ? BASE : leader[top];
    for (int k = j; k >= 0 && leader[k] == NOT_YET; k = spec->joint[k].parent) leader[k] = found;
  }
}

static bool weighs(const psdmp_robot_spec_joint *joint) {
  bool any = false;
  for (int i = 0; joint->known && i < PSDMP_ROBOT_STANDARD; i++) any |= joint->pi[i] != 0;
  return any;
}

/* handling of one link without numbers */
typedef enum fate { FRAME, BOLTED, UNKNOWN } fate;

static fate fate_of(const psdmp_robot_spec *spec, const psdmp_robot_spec_joint *joint, bool informed,
                    psdm_missing_inertia rule) {
  bool fixed = joint->type == PSDM_FIXED;
  if (!spec->urdf || joint->half) return UNKNOWN; /* YAML has no shapes to recognize frames by */
  if (!informed) return fixed ? FRAME : UNKNOWN;  /* its leader is unknown, which is enough */
  if (!joint->shaped) return FRAME;
  return fixed && rule != PSDM_MISSING_UNKNOWN ? BOLTED : UNKNOWN;
}

/* "'a', 'b', 'c' and 4 more" */
typedef struct names {
  int count, shown;
  char text[240];
} names;

static void add_name(names *list, const char *name) {
  char quoted[80];
  size_t used = strlen(list->text);
  psdmp_base_quote(name, strlen(name), quoted, sizeof quoted);
  bool room = list->shown == list->count && used + strlen(quoted) + 24 < sizeof list->text; /* of "and 20000 more" */
  list->count++;
  if (!room) return;
  snprintf(list->text + used, sizeof list->text - used, "%s'%s'", used ? ", " : "", quoted);
  list->shown++;
}

/* a sentence about them, with their names at its end; nothing if there are none */
static psdm_status tell(psdmp_robot_text_list *to, psdmp_base_arena *arena, const names *list, const char *one,
                        const char *many, const char *what) {
  char more[24] = "";
  if (!list->count) return PSDM_OK;
  if (list->shown < list->count) snprintf(more, sizeof more, " and %d more", list->count - list->shown);
  return psdmp_robot_list_add(to, arena, "%d %s%s: %s%s", list->count, list->count == 1 ? one : many, what, list->text,
                              more);
}

psdm_status psdmp_robot_spec_missing(psdmp_robot_spec *spec, psdm_missing_inertia rule, psdmp_base_arena *arena,
                                     psdm_error *error) {
  if (!spec->urdf && rule != PSDM_MISSING_ZERO) return PSDM_OK;
  int *leader = PSDMP_BASE_NEW(arena, spec->joints, int);
  bool *informed = PSDMP_BASE_NEW(arena, spec->joints, bool);
  names unknown = {0}, half = {0}, bolted = {0}, zero = {0};
  if (!leader || !informed) return psdmp_base_no_memory(spec->file, error);
  find_leaders(spec, leader);
  for (int j = 0; j < spec->joints; j++)
    if (leader[j] >= 0) informed[leader[j]] |= weighs(&spec->joint[j]) || (leader[j] == j && spec->joint[j].known);
  for (int j = 0; j < spec->joints; j++) {
    psdmp_robot_spec_joint *joint = &spec->joint[j];
    if (joint->known || leader[j] < 0) continue;
    fate f = fate_of(spec, joint, informed[leader[j]], rule);
    bool taken = f == UNKNOWN && rule == PSDM_MISSING_ZERO;
    if (f == BOLTED) add_name(&bolted, joint->link_name);
    if (f == UNKNOWN) add_name(taken ? &zero : joint->half ? &half : &unknown, joint->link_name);
    joint->known = f != UNKNOWN || taken; /* pi is zero where the file has no numbers */
  }
  psdmp_robot_text_list *warnings = &spec->warnings;
  psdm_status status =
      tell(warnings, arena, &unknown, "moving link has", "moving links have",
           " no <inertial>, which leaves the inertia unknown (`missing_inertia = zero` takes it as zero)");
  if (!status)
    status = tell(
        warnings, arena, &half, "link has", "links have",
        " a mass but no moments of inertia, which leaves these unknown (`missing_inertia = zero` takes them as zero)");
  if (!status)
    status = tell(warnings, arena, &bolted, "fixed link has", "fixed links: each has",
                  " a shape but no <inertial>, and adds nothing to the link that carries it (`missing_inertia = "
                  "unknown` makes that one unknown)");
  if (!status)
    status = tell(&spec->notes, arena, &zero, "link has", "links have",
                  " an inertia that the file does not give and `missing_inertia = zero` takes as zero");
  return status ? psdmp_base_no_memory(spec->file, error) : PSDM_OK;
}
