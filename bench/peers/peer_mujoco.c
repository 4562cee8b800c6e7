/* peer_mujoco.c: MuJoCo's C library, without constraints, contacts, sensors and damping. Its compiler refuses inertias that are not
 * physical (some published ones are not), so it gets stand-ins, and the robot's own numbers afterwards. */
#include <mujoco/mujoco.h>
#include <stdio.h>

#define PEER_COMPILER "the binary of its wheel"
#include "peer_table.h"

typedef struct own {
  mjModel *model;
  mjData *data;
} own;

static const char *name(void) {
  static char text[32];
  snprintf(text, sizeof text, "MuJoCo %s", mj_versionString());
  return text;
}

static const char *refusal(const psdm_robot *robot) { return refuse_coupled(robot); }

static void close_robot(void *o) {
  own *m = o;
  mj_deleteData(m->data);
  mj_deleteModel(m->model);
  free(m);
}

static char *body_name(int b, char buf[16]) {
  snprintf(buf, 16, "body%d", b);
  return buf;
}

static mjModel *compile(const psdm_robot *robot) {
  mjSpec *spec = mj_makeSpec();
  char text[16];
  memcpy(spec->option.gravity, robot->gravity, sizeof robot->gravity);
  spec->option.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_SENSOR | mjDSBL_ACTUATION;
  for (int b = 0; b < robot->bodies; b++) {
    const psdmp_body *from = &robot->body[b];
    mjsBody *body = mjs_addBody(mjs_findBody(spec, from->parent < 0 ? "world" : body_name(from->parent, text)), NULL);
    mjs_setName(body->element, body_name(b, text));
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
static void set_body(mjModel *model, int at, const double pi[10]) {
  static const int from[3][3] = {{4, 5, 6}, {5, 7, 8}, {6, 8, 9}};
  mjtNum com[3], square = 0, inertia[9], axes[9];
  for (int i = 0; i < 3; i++) com[i] = pi[0] ? pi[1 + i] / pi[0] : 0, square += com[i] * com[i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) inertia[3 * i + j] = pi[from[i][j]] - pi[0] * ((i == j ? square : 0) - com[i] * com[j]);
  model->body_mass[at] = pi[0];
  memcpy(model->body_ipos + 3 * at, com, sizeof com);
  mju_eig3(model->body_inertia + 3 * at, axes, model->body_iquat + 4 * at, inertia);
}

static void *open_robot(const psdm_robot *robot) {
  own *m = calloc(1, sizeof *m);
  if (!m || !(m->model = compile(robot)) || !(m->data = mj_makeData(m->model))) return NULL;
  char text[16];
  for (int b = 0; b < robot->bodies; b++) {
    int at = mj_name2id(m->model, mjOBJ_BODY, body_name(b, text));
    if (at != b + 1) return NULL; /* theirs are depth first; so are our robots */
    set_body(m->model, at, robot->body[b].pi);
  }
  return m;
}

static const own *set(const peer *p, const double *x) {
  const own *m = p->own;
  memcpy(m->data->qpos, x, sizeof *x * (size_t)p->n);
  memcpy(m->data->qvel, x + p->n, sizeof *x * (size_t)p->n);
  return m;
}

static void inverse(peer *p, const double *x, double *tau) {
  const own *m = set(p, x);
  memcpy(m->data->qacc, x + 2 * p->n, sizeof *x * (size_t)p->n);
  mj_inverse(m->model, m->data);
  memcpy(tau, m->data->qfrc_inverse, sizeof *tau * (size_t)p->n);
}

/* only what mj_inverse needs of its stages */
static void inverse_stages(peer *p, const double *x, double *tau) {
  const own *m = set(p, x);
  const double *qdd = x + 2 * p->n;
  memcpy(m->data->qacc, qdd, sizeof *x * (size_t)p->n);
  mj_kinematics(m->model, m->data);
  mj_comPos(m->model, m->data);
  mj_comVel(m->model, m->data);
  mj_rne(m->model, m->data, 1, tau);
  for (int i = 0; i < p->n; i++) tau[i] += m->model->dof_armature[i] * qdd[i];
}

static void mass(peer *p, const double *x, double *M) {
  const own *m = set(p, x);
  mj_kinematics(m->model, m->data);
  mj_comPos(m->model, m->data);
  mj_makeM(m->model, m->data);
  mj_fullM(m->model, m->data, M);
}

static void forward(peer *p, const double *x, double *qdd) {
  const own *m = set(p, x);
  memcpy(m->data->qfrc_applied, x + 3 * p->n, sizeof *x * (size_t)p->n);
  mj_forward(m->model, m->data);
  memcpy(qdd, m->data->qacc, sizeof *qdd * (size_t)p->n);
}

static const way ways[FUNCTIONS][MOST_WAYS] = {
    [INVERSE] = {{"mj_inverse", inverse, NULL}, {"mj_kinematics ... mj_rne", inverse_stages, NULL}},
    [MASS] = {{"mj_kinematics ... mj_makeM, mj_fullM", mass, NULL}},
    [FORWARD] = {{"mj_forward", forward, NULL}},
};

PEER_FACE
