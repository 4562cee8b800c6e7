/* joints_json.c: the independent joints: what q1 ... qn are. */
#include <math.h>
#include <stdlib.h>

#include "tool.h"

static const psdm_joint *joint_of(const psdm_robot *robot, int q) {
  for (int k = 0; k < psdm_robot_joints(robot); k++)
    if (psdm_robot_joint(robot, k)->q == q) return psdm_robot_joint(robot, k);
  return NULL;
}

bool tool_coupled_drives(const psdm_robot *robot) {
  int n = psdm_robot_n(robot);
  double *motor = calloc(2 * (size_t)n + 1, sizeof *motor), *q = motor + n;
  bool coupled = false;
  for (int i = 0; motor && i < n; i++) {
    /* one turn of a motor's gear turns its own joint once, and no other */
    motor[i] = joint_of(robot, i) ? joint_of(robot, i)->gear : 1;
    psdm_robot_motor_to_joint(robot, motor, q);
    for (int k = 0; k < n; k++) coupled |= fabs(q[k] - (k == i)) > 1e-9;
    motor[i] = 0;
  }
  free(motor);
  return coupled;
}
