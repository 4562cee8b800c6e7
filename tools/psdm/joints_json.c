/* joints_json.c: the independent joints in a result: what q1 ... qn are, with units and limits. */
#include "tool.h"

static const psdm_joint *joint_of(const psdm_robot *robot, int q) {
  for (int k = 0; k < psdm_robot_joints(robot); k++)
    if (psdm_robot_joint(robot, k)->q == q) return psdm_robot_joint(robot, k);
  return NULL;
}

const char *tool_joint_type(const psdm_robot *robot, int q) {
  const psdm_joint *joint = joint_of(robot, q);
  return joint && joint->type == PSDM_PRISMATIC ? "prismatic" : "revolute";
}

const char *tool_fingerprint(const psdm_robot *robot, char text[TOOL_FINGERPRINT]) {
  snprintf(text, TOOL_FINGERPRINT, "%016llx", (unsigned long long)psdm_robot_fingerprint(robot));
  return text;
}

void tool_json_robot(psdm_output *out, const char *key, const psdm_robot *robot) {
  char text[TOOL_FINGERPRINT];
  psdm_json_string(out, key, psdm_robot_name(robot));
  psdm_json_string(out, "fingerprint", tool_fingerprint(robot, text));
}

void tool_json_joints(psdm_output *out, const psdm_robot *robot, double *const *limit) {
  static const char *const keys[TOOL_LIMITS] = {"lower", "upper", "velocity", "acceleration", "effort"};
  psdm_json_array(out, "joints");
  for (int q = 0; q < psdm_robot_n(robot); q++) {
    const psdm_joint *joint = joint_of(robot, q);
    if (!joint) continue;
    const psdm_limits *own = &joint->limits;
    const double file[TOOL_LIMITS] = {own->lower, own->upper, own->velocity, own->acceleration, own->effort};
    psdm_json_object(out, NULL);
    psdm_json_string(out, "name", joint->name);
    psdm_json_string(out, "type", tool_joint_type(robot, q));
    psdm_json_object(out, "limits");
    for (int k = 0; k < TOOL_LIMITS; k++) psdm_json_number(out, keys[k], limit ? limit[k][q] : file[k]);
    psdm_json_close(out);
    psdm_json_close(out);
  }
  psdm_json_close(out);
}
