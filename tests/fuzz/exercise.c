/* exercise.c: checks of a robot that was read: its facts are consistent, its dynamics answer, and written as YAML or
 * URDF it is read again. */
#define _GNU_SOURCE /* memfd_create */
#include "exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "psdm/collision.h"
#include "psdm/friction.h"
#include "psdm/rigid.h"
#include "written.h"

void check(int holds) {
  if (!holds) abort();
}

/* done, or a loop that does not close here */
static int answered(const psdm_robot *robot, psdm_status status) {
  return status == PSDM_OK || (status == PSDM_E_LOOP && psdm_robot_loops(robot));
}

void check_message(const char *text) {
  check(text && text[0]);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) check(*c >= 0x20 && *c != 0x7F);
}

void check_error(const psdm_error *error, psdm_status status) {
  check(error->status == status && error->line >= 0 && error->column >= 0);
  check_message(error->text);
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
  for (int k = 0; k < psdm_robot_parameter_count(robot); k++)
    check(psdm_robot_parameter_name(robot, k, text, sizeof text)[0]);
  for (int i = 0; i < psdm_robot_notes(robot); i++) check_message(psdm_robot_note(robot, i));
  for (int i = 0; i < psdm_robot_warnings(robot); i++) check_message(psdm_robot_warning(robot, i));
  for (int i = 0; i < psdm_robot_assumptions(robot); i++)
    check_message(psdm_robot_assumption(robot, i, text, sizeof text));
  for (int i = 0; i < psdm_robot_thetas(robot); i++) check(psdm_robot_theta(robot, i, &value) && value - value == 0);
}

/* gaps and their gradients, whatever the capsules are */
static void run_collision(const psdm_robot *robot, psdm_work *work) {
  int n = psdm_robot_n(robot), gaps = psdm_collision_gaps(robot), a, b;
  double q[MOST_JOINTS], *gap = malloc(sizeof *gap * (size_t)(gaps + 1)),
                         *gradient = malloc(sizeof *gradient * (size_t)(gaps + 1) * (size_t)n);
  check(gap && gradient);
  for (int i = 0; i < n; i++) q[i] = 0.3 * i - 1;
  check(answered(robot, psdm_collision_at(robot, work, q, gap, NULL)));
  check(answered(robot, psdm_collision_at(robot, work, q, gap, gradient)));
  for (int k = 0; k < gaps; k++)
    check(psdm_collision_pair(robot, k, &a, &b) && psdm_collision_capsule(robot, a) &&
          (b < 0 || psdm_collision_capsule(robot, b)));
  check(!psdm_collision_pair(robot, gaps, &a, &b));
  free(gap);
  free(gradient);
}

static void run_rigid(const psdm_robot *robot, psdm_work *work) {
  int n = psdm_robot_n(robot), joints = psdm_robot_joints(robot), links = psdm_robot_links(robot);
  double q[MOST_JOINTS], qd[MOST_JOINTS], qdd[MOST_JOINTS], tau[MOST_JOINTS], out[MOST_JOINTS];
  double M[MOST_JOINTS * MOST_JOINTS], J[6 * MOST_JOINTS], poses[12 * MOST_JOINTS], kinetic, potential;
  double G[MOST_JOINTS * MOST_JOINTS], c[MOST_JOINTS], Y[MOST_JOINTS * 11 * MOST_JOINTS], pi[11 * MOST_JOINTS];
  for (int i = 0; i < n; i++) q[i] = 0.3 * i - 1, qd[i] = 1.5 - 0.4 * i, qdd[i] = 0.7 * i;
  psdm_status known = psdm_robot_ready(robot, NULL);
  psdm_status inverse = psdm_inverse(robot, work, q, qd, qdd, tau);
  check(inverse == known || (known == PSDM_OK && answered(robot, inverse)));
  if (known == PSDM_OK && inverse) return;
  check(psdm_bias(robot, work, q, qd, out) == known);
  check(psdm_gravity(robot, work, q, out) == known);
  check(psdm_mass(robot, work, q, M) == known);
  check(psdm_energy(robot, work, q, qd, &kinetic, &potential) == known);
  if (!known) {
    psdm_forward(robot, work, q, qd, tau, out);
    psdm_forward_cholesky(robot, work, q, qd, tau, out);
  }
  check(answered(robot, psdm_regressor_standard(robot, work, q, qd, qdd, Y)));
  check(answered(robot, psdm_poses(robot, work, q, poses)));
  for (int j = 0; j < joints; j++) {
    psdm_wrench wrench = {j, {1, 2, 3}, {4, 5, 6}};
    check(answered(robot, psdm_jacobian(robot, work, q, j, J)));
    check(answered(robot, psdm_jacobian_rate(robot, work, q, qd, j, J)));
    check(answered(robot, psdm_wrench_torque(robot, work, q, 1, &wrench, out)));
  }
  psdm_friction_torque(robot, qd, out);
  psdm_robot_coupling(robot, G, c);
  psdm_robot_motor_to_joint(robot, q, out);
  psdm_robot_joint_to_motor(robot, q, out);
  psdm_robot_motor_torque(robot, tau, out);
  psdm_robot_parameters(robot, pi);
  check(links <= MOST_JOINTS);
}

psdm_robot *parse_or_refuse(const uint8_t *data, size_t size, const char *name, const psdm_robot_options *options) {
  psdm_robot *robot;
  psdm_error error = {.line = -1};
  psdm_status status = psdm_robot_parse((const char *)data, size, name, options, NULL, &robot, &error);
  check(!robot == !!status);
  if (!status) return robot;
  check_error(&error, status);
  return NULL;
}

void exercise(const psdm_robot *robot) {
  psdm_work *work;
  check_facts(robot);
  if (psdm_robot_joints(robot) > MOST_JOINTS) return;
  check(psdm_work_new(robot, NULL, &work) == PSDM_OK);
  run_rigid(robot, work);
  run_collision(robot, work);
  psdm_work_free(work, NULL);
}

/* ---- files in memory ---- */

int memory_file(const uint8_t *data, size_t size, char path[PATH_BYTES]) {
  int fd = memfd_create("fuzz", MFD_CLOEXEC);
  check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  snprintf(path, PATH_BYTES, "/proc/self/fd/%d", fd);
  return fd;
}

/* ---- out and in again ---- */

/* a name that both formats keep unchanged: printable ASCII, and not a keyword of YAML robot files */
static bool plain(const char *name) {
  for (const char *c = name; *c; c++)
    if (*c < 0x20 || *c > 0x7E) return false;
  return strcmp(name, "base") && strcmp(name, "offset") && strlen(name) < 180 && !strstr(name, "__") &&
         !strstr(name, "$");
}

static bool writable(const psdm_robot *robot) {
  static double pi[11 * MOST_JOINTS];
  psdm_robot_parameters(robot, pi);
  if (!plain(psdm_robot_name(robot)) || !plain(psdm_robot_base_name(robot))) return false;
  for (int j = 0; j < psdm_robot_joints(robot); j++)
    if (!plain(psdm_robot_joint(robot, j)->name) || !plain(psdm_robot_link_name(robot, j))) return false;
  /* numbers that overflow, or nearly so, are not a robot */
  for (int k = 0; k < psdm_robot_parameter_count(robot); k++)
    if (!(pi[k] > -1e50 && pi[k] < 1e50)) return false;
  return true;
}

void exercise_writing(const psdm_robot *robot) {
  static char text[WRITTEN_BYTES];
  static const char *const names[] = {"again.yaml", "again.urdf"};
  char loss[160];
  if (psdm_robot_joints(robot) > MOST_JOINTS) return;
  for (psdm_robot_format format = PSDM_FORMAT_YAML; format <= PSDM_FORMAT_URDF; format++) {
    bool faithful = writable(robot) && !psdm_robot_loss(robot, format, 0, loss, sizeof loss);
    const psdm_robot_options options = {.no_snap = true};
    size_t length = written_robot(robot, format, text);
    check(length > 0);
    psdm_robot *again = parse_or_refuse((const uint8_t *)text, length, names[format], &options);
    if (faithful)
      check(again && psdm_robot_n(again) == psdm_robot_n(robot) && psdm_robot_links(again) == psdm_robot_links(robot));
    if (faithful)
      check(psdm_collision_capsules(again) == psdm_collision_capsules(robot) &&
            psdm_collision_gaps(again) == psdm_collision_gaps(robot));
    psdm_robot_free(again);
  }
}
