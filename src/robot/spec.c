/* spec.c: shared by the readers of robot files: defaults of a joint, angles snapped to 15 degrees, warnings about
 * implausible links. */
#include "robot/spec_priv.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

void psdmp_robot_spec_joint_init(psdmp_robot_spec_joint *joint) {
  *joint = (psdmp_robot_spec_joint){.parent = -1,
                                    .before = psdmp_robot_pose_identity(),
                                    .after = psdmp_robot_pose_identity(),
                                    .limits = {-INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
                                    .friction = {.exponent = 1},
                                    .stiffness = INFINITY,
                                    .torque_constant = NAN,
                                    .gear = 1,
                                    .motor_on = -1};
}

psdm_status psdmp_robot_list_add(psdmp_robot_text_list *list, psdmp_base_arena *arena, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  psdmp_base_vprint(text, sizeof text, format, args);
  va_end(args);
  const char *copy = psdmp_base_arena_text(arena, text, strlen(text));
  if (!copy || !psdmp_base_arena_room(arena, &list->text, list->count, 1, &list->room, sizeof *list->text))
    return PSDM_E_MEMORY;
  list->text[list->count++] = copy;
  return PSDM_OK;
}

psdm_status psdmp_robot_spec_snap(psdmp_robot_spec *spec, psdmp_base_arena *arena, double *angle, int line,
                                  const char *where, const char *key) {
  double before = *angle, nearest = psdmp_robot_nearest_15(before), off = fabs(before - nearest);
  if (off > 1e-4) return PSDM_OK;
  *angle = nearest;
  if (off <= 1e-13) return PSDM_OK;
  return psdmp_robot_list_add(&spec->notes, arena, "line %d: %s%s%s %.10g snapped to %g deg (`no_snap` keeps it)", line,
                              where, where[0] ? ": " : "", key, before, nearest * (180 / 3.14159265358979323846));
}

/* principal moments about the centre of mass: all positive, none larger than the sum of the other two. Equality is
 * common for flat and slender bodies, so rounding of the printed digits is tolerated: 1e-9 of the largest. */
static psdm_status check_moments(psdmp_robot_spec *spec, psdmp_base_arena *arena, const char *name,
                                 const double pi[10]) {
  double inertia[6], moment[3], com[3] = {pi[1] / pi[0], pi[2] / pi[0], pi[3] / pi[0]}, about[10];
  psdmp_robot_pose to_com = psdmp_robot_pose_translation(-com[0], -com[1], -com[2]);
  psdmp_robot_standard_move(&to_com, pi, about);
  memcpy(inertia, about + 4, sizeof inertia);
  psdmp_linalg_eigenvalues3(inertia, moment);
  double scale = fmax(fabs(moment[0]), fabs(moment[2])), slack = 1e-9 * scale + 1e-15;
  if (moment[0] < -slack)
    return psdmp_robot_list_add(
        &spec->warnings, arena,
        "link '%s': inertia about its centre of mass is not positive definite (smallest principal moment %g kg m^2)",
        name, moment[0]);
  if (moment[2] > moment[0] + moment[1] + slack)
    return psdmp_robot_list_add(
        &spec->warnings, arena,
        "link '%s': inertia breaks the triangle inequality (principal moments %g, %g, %g kg m^2)", name, moment[0],
        moment[1], moment[2]);
  return PSDM_OK;
}

psdm_status psdmp_robot_spec_check_link(psdmp_robot_spec *spec, psdmp_base_arena *arena, const char *link_name,
                                        const double pi[10]) {
  char name[80];
  psdmp_base_quote(link_name, strlen(link_name), name, sizeof name);
  if (pi[0] < 0)
    return psdmp_robot_list_add(&spec->warnings, arena, "link '%s': mass is negative (%g kg)", name, pi[0]);
  if (pi[0] > 0) return check_moments(spec, arena, name, pi);
  /* massless is a common idealisation; massless with moments is not */
  for (int i = 1; i < PSDMP_ROBOT_STANDARD; i++)
    if (pi[i] != 0)
      return psdmp_robot_list_add(&spec->warnings, arena, "link '%s': mass is zero but %s is %g", name,
                                  psdmp_robot_standard_names[i], pi[i]);
  return PSDM_OK;
}
