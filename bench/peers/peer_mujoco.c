/* peer_mujoco.c: MuJoCo's C library, with the model of mujoco_model.h. */
#include "mujoco_model.h"

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

static void *open_robot(const psdm_robot *robot) {
  own *m = calloc(1, sizeof *m);
  return m && (m->model = mujoco_model(robot)) && (m->data = mj_makeData(m->model)) ? m : NULL;
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

/* only the stages that mj_inverse needs */
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
