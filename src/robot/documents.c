/* documents.c: how documents name a robot and its joints. */
#include <stdio.h>

#include "psdm/results.h"

#define LIMITS(X, S)                                                       \
  X(S, number, lower, , , "rad, m", "lowest position")                     \
  X(S, number, upper, , , "rad, m", "highest position")                    \
  X(S, number, velocity, , , "rad/s, m/s", "highest speed")                \
  X(S, number, acceleration, , , "rad/s^2, m/s^2", "highest acceleration") \
  X(S, number, effort, , , "Nm, N", "highest torque or force")
PSDM_RESULT_TYPE(psdm_limits, LIMITS, NULL, "Limits of a joint; null: none")
PSDM_RESULT_TYPE(psdm_named_joint, PSDM_NAMED_JOINT, NULL, "An independent joint")

static const psdm_result_field friction_fields[] = {
#define FRICTION(key, member, unit, meaning) \
  {key, PSDM_FIELD_number, "", unit, meaning, offsetof(psdm_friction, member), sizeof(double), NULL},
    FRICTION("coulomb", coulomb, "Nm", "Coulomb friction") FRICTION("static", stat, "Nm", "breakaway torque")
        FRICTION("stribeck", stribeck, "rad/s", "Stribeck speed")
            FRICTION("viscous", viscous, "Nm (s/rad)^exponent", "viscous friction")
                FRICTION("exponent", exponent, "", "of the speed")
                    FRICTION("sigma0", sigma0, "Nm/rad", "stiffness of the bristles")
                        FRICTION("sigma1", sigma1, "Nms/rad", "damping of the bristles")
                            FRICTION("offset", offset, "Nm", "constant torque")};
const psdm_result_type psdm_friction_type = {"psdm_friction",
                                             NULL,
                                             "Friction of a drive",
                                             sizeof(psdm_friction),
                                             sizeof friction_fields / sizeof *friction_fields,
                                             friction_fields};

void psdm_result_name_robot(psdm_result *result, const psdm_robot *robot, const char **name, const char **fingerprint) {
  char text[17];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  *name = psdm_result_text(result, psdm_robot_name(robot));
  *fingerprint = psdm_result_text(result, text);
}

const psdm_named_joint *psdm_result_joints(psdm_result *result, const psdm_robot *robot, double *const *limit) {
  psdm_named_joint *to = psdm_result_items(result, &psdm_named_joint_type, psdm_robot_n(robot));
  for (int k = 0; to && k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    int q = joint->q;
    if (q < 0) continue;
    to[q].name = psdm_result_text(result, joint->name);
    to[q].type = joint->type == PSDM_PRISMATIC ? "prismatic" : "revolute";
    to[q].limits = joint->limits;
    if (limit) to[q].limits = (psdm_limits){limit[0][q], limit[1][q], limit[2][q], limit[3][q], limit[4][q]};
  }
  return to;
}
