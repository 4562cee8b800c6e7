/* simulate_robots.c: the moving robot, and the model of its controller. */
#include <math.h>
#include <string.h>

#include "job/simulate_priv.h"

/* ---- theta: standard parameters that have the stated base parameters ---- */

static psdm_status stated_value(const psdmp_job_simulate *j, const char *name, double *value) {
  for (int i = 0; i < psdm_robot_thetas(j->file); i++)
    if (strcmp(psdm_robot_theta(j->file, i, value), name) == 0) return PSDM_OK;
  psdm_error error = {.status = PSDM_E_MISSING};
  snprintf(error.text, sizeof error.text, "`theta`: the robot file does not state base parameter '%s'", name);
  return psdmp_job_fail(&j->job, &error);
}

/* each base parameter becomes the value of the standard parameter that it is named after, the others regrouped into it
 * become 0 */
static psdm_status fill_stated(psdmp_job_simulate *j, const psdm_model *model) {
  int count = psdm_robot_parameter_count(j->file), own;
  double *pi = psdmp_job_array(&j->job, (size_t)count, sizeof *pi);
  if (!pi || psdm_robot_clone(j->file, NULL, &j->stated)) return psdmp_job_memory(&j->job);
  for (int k = 0; k < psdm_model_l(model); k++) {
    double value;
    psdm_status status = stated_value(j, psdm_model_base_name(model, k), &value);
    if (status) return status;
    psdm_model_base_term(model, k, 0, &own);
    pi[own] = value;
  }
  psdm_robot_set_parameters(j->stated, pi);
  return PSDM_OK;
}

/* this could break assumptions that tie parameters together; the torques would then differ from the model's */
static psdm_status check_stated(const psdmp_job_simulate *j, const psdm_model *model) {
  enum { STATES = 100 };
  const double bound = 1e-9;
  psdm_derive_options options = {0};
  psdm_error error;
  double residual;
  if (psdm_model_check(j->stated, model, &options, STATES, NULL, &residual, &error))
    return psdmp_job_fail(&j->job, &error);
  if (residual < bound) return PSDM_OK;
  error = (psdm_error){.status = PSDM_E_ROBOT};
  snprintf(error.text, sizeof error.text,
           "`theta`: no standard parameters satisfy both the file's assumptions and these base parameters");
  return psdmp_job_fail(&j->job, &error);
}

static psdm_status take_stated(psdmp_job_simulate *j) {
  psdm_model *model;
  psdm_error error;
  if (!psdm_robot_thetas(j->file))
    return psdmp_job_fail(&j->job,
                          &(psdm_error){.status = PSDM_E_MISSING,
                                        .text = "`theta`: the robot file states no base parameters (theta: {...})"});
  if (psdm_model_derive(j->file, NULL, NULL, &model, NULL, &error)) return psdmp_job_fail(&j->job, &error);
  psdm_status status = fill_stated(j, model);
  if (!status) status = check_stated(j, model);
  psdm_model_free(model);
  j->robot = j->stated;
  return status;
}

static psdm_status check_ready(const psdmp_job_simulate *j) {
  psdm_error error;
  if (!psdm_robot_ready(j->robot, &error)) return PSDM_OK;
  size_t length = strlen(error.text);
  if (psdm_robot_thetas(j->robot))
    snprintf(error.text + length, sizeof error.text - length, "; `theta` uses the base parameters in the file");
  return psdmp_job_fail(&j->job, &error);
}

/* friction was requested, and the file has none */
static void warn_friction(const psdmp_job_simulate *j) {
  bool given = j->options.friction == PSDM_FRICTION_NONE;
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) given = given || psdm_robot_joint(j->robot, k)->friction.given;
  if (!given) psdmp_job_warn(&j->job, "`friction = %s`: no joint of this robot has friction", j->set.friction);
}

/* ---- the controller's model ---- */

/* scaling all parameters of a link keeps it physically possible */
static psdm_status make_wrong(psdmp_job_simulate *j) {
  int count = psdm_robot_parameter_count(j->model), links = psdm_robot_links(j->model);
  double *pi = psdmp_job_array(&j->job, (size_t)count, sizeof *pi), factor = 1;
  uint64_t random = (uint64_t)j->set.seed;
  if (!pi || psdm_robot_clone(j->model, NULL, &j->believed)) return psdmp_job_memory(&j->job);
  psdm_robot_parameters(j->model, pi);
  for (int k = 0; k < count; k++) {
    if (k >= 10 * links || k % 10 == 0)
      factor = 1 + (psdmp_base_random(&random, 0, 1) < 0.5 ? PSDM_OK : 1) * j->set.model_error;
    pi[k] *= factor;
  }
  psdm_robot_set_parameters(j->believed, pi);
  j->model = j->believed;
  return PSDM_OK;
}

static psdm_status load_model(psdmp_job_simulate *j) {
  psdm_error error;
  psdm_robot_settings set = *PSDM_ROBOT_SETTINGS_OF(&j->set);
  set.params = NULL; /* they are the robot's own */
  psdm_status status = psdmp_job_read_robot(&j->job, j->set.model, &set, &j->believed_file);
  if (status) return status;
  j->model = j->believed_file;
  if (psdm_robot_n(j->model) != j->n)
    return psdmp_job_wrong(&j->job, "`model`: it has %d independent joints, the robot has %d", psdm_robot_n(j->model),
                           j->n);
  return psdm_robot_ready(j->model, &error) ? psdmp_job_fail(&j->job, &error) : PSDM_OK;
}

psdm_status psdmp_job_simulate_robots(psdmp_job_simulate *j) {
  psdm_status status = psdmp_job_robot(&j->job, PSDM_ROBOT_SETTINGS_OF(&j->set), &j->file);
  if (status) return status;
  j->robot = j->file;
  j->n = psdm_robot_n(j->file);
  if (j->set.theta) status = take_stated(j);
  if (!status) status = check_ready(j);
  if (!status) warn_friction(j);
  j->model = j->robot;
  if (!status && j->set.model) status = load_model(j);
  return !status && j->set.model_error > 0 ? make_wrong(j) : status;
}
