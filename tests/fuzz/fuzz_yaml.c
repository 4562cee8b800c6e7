/* fuzz_yaml.c: any bytes as a robot file. What is refused must be refused with a clean sentence; what is accepted must
 * survive every function of the rigid room. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/rigid.h"
#include "psdm/robot.h"

enum { MOST_JOINTS = 16 }; /* enough for every kind of tree, and thousands of runs per second */

static void check(int holds) {
  if (!holds) abort();
}

/* one sentence: not empty, no control bytes */
static void check_sentence(const char *text) {
  check(text && text[0]);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
}

static void check_facts(const psdm_robot *robot) {
  char text[64];
  double value;
  int joints = psdm_robot_joints(robot), n = psdm_robot_n(robot), links = psdm_robot_links(robot);
  check(n >= 1 && n <= links && links <= joints && links <= PSDM_MAX_JOINTS);
  check(psdm_robot_name(robot)[0]);
  for (int j = 0; j < joints; j++) {
    const psdm_joint *joint = psdm_robot_joint(robot, j);
    check(joint->parent >= -1 && joint->parent < joints && joint->parent != j);
    check(joint->q >= -1 && joint->q < n && joint->link >= -1 && joint->link < links);
    check(psdm_robot_find(robot, psdm_robot_link_name(robot, j)) == j);
  }
  for (int k = 0; k < psdm_robot_parameter_count(robot); k++) check(psdm_robot_parameter_name(robot, k, text, sizeof text)[0]);
  for (int i = 0; i < psdm_robot_notes(robot); i++) check_sentence(psdm_robot_note(robot, i));
  for (int i = 0; i < psdm_robot_warnings(robot); i++) check_sentence(psdm_robot_warning(robot, i));
  for (int i = 0; i < psdm_robot_assumptions(robot); i++) check_sentence(psdm_robot_assumption(robot, i, text, sizeof text));
  for (int i = 0; i < psdm_robot_thetas(robot); i++) check(psdm_robot_theta(robot, i, &value) && value - value == 0);
}

static void run_rigid(const psdm_robot *robot, psdm_work *work) {
  int n = psdm_robot_n(robot), joints = psdm_robot_joints(robot), links = psdm_robot_links(robot);
  double q[MOST_JOINTS], qd[MOST_JOINTS], qdd[MOST_JOINTS], tau[MOST_JOINTS], out[MOST_JOINTS];
  double M[MOST_JOINTS * MOST_JOINTS], J[6 * MOST_JOINTS], poses[12 * MOST_JOINTS], kinetic, potential;
  double G[MOST_JOINTS * MOST_JOINTS], c[MOST_JOINTS], Y[MOST_JOINTS * 11 * MOST_JOINTS], pi[11 * MOST_JOINTS];
  for (int i = 0; i < n; i++) q[i] = 0.3 * i - 1, qd[i] = 1.5 - 0.4 * i, qdd[i] = 0.7 * i;
  psdm_status known = psdm_robot_ready(robot, NULL);
  check(psdm_inverse(robot, work, q, qd, qdd, tau) == known);
  check(psdm_bias(robot, work, q, qd, out) == known);
  check(psdm_gravity(robot, work, q, out) == known);
  check(psdm_mass(robot, work, q, M) == known);
  check(psdm_energy(robot, work, q, qd, &kinetic, &potential) == known);
  if (!known) {
    psdm_forward(robot, work, q, qd, tau, out);
    psdm_forward_cholesky(robot, work, q, qd, tau, out);
  }
  check(psdm_regressor_standard(robot, work, q, qd, qdd, Y) == PSDM_OK);
  check(psdm_poses(robot, work, q, poses) == PSDM_OK);
  for (int j = 0; j < joints; j++) {
    psdm_wrench wrench = {j, {1, 2, 3}, {4, 5, 6}};
    check(psdm_jacobian(robot, work, q, j, J) == PSDM_OK);
    check(psdm_jacobian_rate(robot, work, q, qd, j, J) == PSDM_OK);
    check(psdm_wrench_torque(robot, work, q, 1, &wrench, out) == PSDM_OK);
  }
  psdm_friction_torque(robot, qd, out);
  psdm_robot_coupling(robot, G, c);
  psdm_robot_motor_to_joint(robot, q, out);
  psdm_robot_joint_to_motor(robot, q, out);
  psdm_robot_motor_torque(robot, tau, out);
  psdm_robot_parameters(robot, pi);
  check(links <= MOST_JOINTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const psdm_robot_options options = {.no_snap = size % 2 == 1};
  psdm_robot *robot;
  psdm_error error = {.line = -1};
  psdm_status status = psdm_robot_parse((const char *)data, size, "fuzz.yaml", &options, NULL, &robot, &error);
  if (status) {
    check(!robot && error.status == status && error.line >= 0 && error.column >= 0);
    check_sentence(error.text);
    return 0;
  }
  check_facts(robot);
  if (psdm_robot_joints(robot) <= MOST_JOINTS) {
    psdm_work *work;
    check(psdm_work_new(robot, NULL, &work) == PSDM_OK);
    run_rigid(robot, work);
    psdm_work_free(work, NULL);
  }
  psdm_robot_free(robot);
  return 0;
}
