/* simulator_mujoco.c: MuJoCo's own integrators, mj_step in a loop. */
#include <stdlib.h>

#include "mujoco_model.h"
#include "simulator.h"

typedef struct own {
  mjModel *model;
  mjData *data;
} own;

static const char *refusal(const psdm_robot *robot) {
  return !robot->direct ? "coupled joints" : robot->drive_mass ? "drives behind a transmission" : NULL;
}

static void *open_model(const psdm_robot *robot, scheme scheme, double step) {
  own *m = calloc(1, sizeof *m);
  if (!m || !(m->model = mujoco_model(robot)) || !(m->data = mj_makeData(m->model))) return NULL;
  m->model->opt.integrator = scheme == RK4 ? mjINT_RK4 : mjINT_EULER; /* their Euler is semi-implicit */
  m->model->opt.timestep = step;
  return m;
}

static void place(void *o, const double *x) {
  own *m = o;
  mj_resetData(m->model, m->data);
  memcpy(m->data->qpos, x, sizeof *x * (size_t)m->model->nq);
  memcpy(m->data->qvel, x + m->model->nq, sizeof *x * (size_t)m->model->nv);
}

static void run(void *o, int steps) {
  own *m = o;
  for (int k = 0; k < steps; k++) mj_step(m->model, m->data);
}

static void look(void *o, double *x) {
  own *m = o;
  memcpy(x, m->data->qpos, sizeof *x * (size_t)m->model->nq);
  memcpy(x + m->model->nq, m->data->qvel, sizeof *x * (size_t)m->model->nv);
}

static void close_model(void *o) {
  own *m = o;
  mj_deleteData(m->data);
  mj_deleteModel(m->model);
  free(m);
}

const simulator *simulators(void) {
  static char way[64];
  static const simulator list[] = {{"MuJoCo", way, refusal, open_model, place, run, look, close_model}, {0}};
  snprintf(way, sizeof way, "mj_step of %s, the binary of its wheel", mj_versionString());
  return list;
}
