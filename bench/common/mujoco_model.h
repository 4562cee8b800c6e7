/* mujoco_model.h: libpsdm's canonical tree as a MuJoCo model, without constraints, contacts, sensors, springs and
 * damping. MuJoCo's compiler refuses inertias that are not physical (some published ones are not; balanceinertia would
 * change them), so it gets placeholders first, and the robot's own numbers afterwards. */
#ifndef BENCH_MUJOCO_MODEL_H
#define BENCH_MUJOCO_MODEL_H

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <string.h>

#include "robot/robot.h"

static inline char *mujoco_body_name(int b, char buf[16]) {
  snprintf(buf, 16, "body%d", b);
  return buf;
}

static inline mjModel *mujoco_compile(const psdm_robot *robot) {
  mjSpec *spec = mj_makeSpec();
  char text[16];
  memcpy(spec->option.gravity, robot->gravity, sizeof robot->gravity);
  spec->option.disableflags |=
      mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_SENSOR | mjDSBL_ACTUATION | mjDSBL_SPRING | mjDSBL_DAMPER;
  for (int b = 0; b < robot->bodies; b++) {
    const psdmp_robot_body *from = &robot->body[b];
    mjsBody *body =
        mjs_addBody(mjs_findBody(spec, from->parent < 0 ? "world" : mujoco_body_name(from->parent, text)), NULL);
    mjs_setName(body->element, mujoco_body_name(b, text));
    memcpy(body->pos, from->joint.p, sizeof body->pos);
    mju_mat2Quat(body->quat, from->joint.R);
    /* turned and away from the origin: else MuJoCo remembers that the frames coincide */
    body->mass = 1, body->explicitinertial = 1;
    memcpy(body->iquat, (double[]){0.5, 0.5, 0.1, 0.7}, sizeof body->iquat);
    for (int i = 0; i < 3; i++) body->ipos[i] = 0.1 * (i + 1), body->inertia[i] = 1 + 0.1 * i;
    mjsJoint *joint = mjs_addJoint(body, NULL);
    mjs_setName(joint->element, text);
    joint->type = from->prismatic ? mjJNT_SLIDE : mjJNT_HINGE;
    joint->axis[0] = joint->axis[1] = 0, joint->axis[2] = 1;
    joint->armature = robot->body_drive[b];
  }
  mjModel *model = mj_compile(spec, NULL);
  if (!model) fprintf(stderr, "MuJoCo: %s\n", mjs_getError(spec));
  mj_deleteSpec(spec);
  return model;
}

/* mass, centre of mass and principal moments */
static inline void mujoco_set_body(mjModel *model, int at, const double pi[10]) {
  static const int from[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  mjtNum com[3], square = 0, inertia[9], axes[9];
  for (int i = 0; i < 3; i++) com[i] = pi[0] ? pi[1 + i] / pi[0] : 0, square += com[i] * com[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) inertia[3 * i + j] = pi[from[i][j]] - pi[0] * ((i == j ? square : 0) - com[i] * com[j]);
  model->body_mass[at] = pi[0];
  memcpy(model->body_ipos + 3 * at, com, sizeof com);
  mju_eig3(model->body_inertia + 3 * at, axes, model->body_iquat + 4 * at, inertia);
}

/* NULL when it cannot be built */
static inline mjModel *mujoco_model(const psdm_robot *robot) {
  mjModel *model = mujoco_compile(robot);
  char text[16];
  for (int b = 0; model && b < robot->bodies; b++) {
    int at = mj_name2id(model, mjOBJ_BODY, mujoco_body_name(b, text));
    if (at != b + 1) return mj_deleteModel(model), NULL; /* theirs are depth first; so are these robots */
    mujoco_set_body(model, at, robot->body[b].pi);
  }
  return model;
}
#endif
