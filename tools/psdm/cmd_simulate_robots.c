/* cmd_simulate_robots.c: the moving robot, and the model of its controller. */
#include <math.h>
#include <string.h>

#include "cmd_simulate.h"

/* ---- --theta: standard parameters that have the stated base parameters ---- */

static int stated_value(const simulate_job *j, const char *name, double *value) {
  for (int i = 0; i < psdm_robot_thetas(j->file); i++)
    if (strcmp(psdm_robot_theta(j->file, i, value), name) == 0) return -1;
  psdm_error error = {.status = PSDM_E_MISSING};
  snprintf(error.text, sizeof error.text, "--theta: the robot file does not state base parameter '%s'", name);
  return tool_fail(&error);
}

/* each base parameter becomes the value of the standard parameter that it is named after, the others regrouped into it
 * become 0 */
static int fill_stated(simulate_job *j, const psdm_model *model) {
  int count = psdm_robot_parameter_count(j->file), own;
  double *pi = simulate_array(j, (size_t)count, sizeof *pi);
  if (!pi || psdm_robot_clone(j->file, NULL, &j->stated)) return tool_no_memory("simulate");
  for (int k = 0; k < psdm_model_l(model); k++) {
    double value;
    int code = stated_value(j, psdm_model_base_name(model, k), &value);
    if (code >= 0) return code;
    psdm_model_base_term(model, k, 0, &own);
    pi[own] = value;
  }
  psdm_robot_set_parameters(j->stated, pi);
  return -1;
}

/* this could break assumptions that tie parameters together; the torques would then differ from the model's */
static int check_stated(const simulate_job *j, const psdm_model *model) {
  enum { STATES = 100 };
  const double bound = 1e-9;
  psdm_derive_options options = {0};
  psdm_error error;
  double residual;
  if (psdm_model_check(j->stated, model, &options, STATES, NULL, &residual, &error)) return tool_fail(&error);
  if (residual < bound) return -1;
  error = (psdm_error){.status = PSDM_E_ROBOT};
  snprintf(error.text, sizeof error.text,
           "--theta: no standard parameters satisfy both the file's assumptions and these base parameters");
  return tool_fail(&error);
}

static int take_stated(simulate_job *j) {
  psdm_model *model;
  psdm_error error;
  if (!psdm_robot_thetas(j->file))
    return tool_fail(&(psdm_error){.status = PSDM_E_MISSING,
                                   .text = "--theta: the robot file states no base parameters (theta: {...})"});
  if (psdm_model_derive(j->file, NULL, NULL, &model, NULL, &error)) return tool_fail(&error);
  int code = fill_stated(j, model);
  if (code < 0) code = check_stated(j, model);
  psdm_model_free(model);
  j->robot = j->stated;
  return code;
}

static int check_ready(const simulate_job *j) {
  psdm_error error;
  if (!psdm_robot_ready(j->robot, &error)) return -1;
  size_t length = strlen(error.text);
  if (psdm_robot_thetas(j->robot))
    snprintf(error.text + length, sizeof error.text - length, "; --theta uses the base parameters in the file");
  return tool_fail(&error);
}

/* friction was requested, and the file has none */
static void warn_friction(const simulate_job *j) {
  bool given = j->options.friction == PSDM_FRICTION_NONE;
  for (int k = 0; k < psdm_robot_joints(j->robot); k++) given = given || psdm_robot_joint(j->robot, k)->friction.given;
  if (!given) tool_warn("--friction %s: no joint of this robot has friction", j->set.friction);
}

/* ---- the controller's model ---- */

/* scaling all parameters of a link keeps it physically possible */
static int make_wrong(simulate_job *j) {
  int count = psdm_robot_parameter_count(j->model), links = psdm_robot_links(j->model);
  double *pi = simulate_array(j, (size_t)count, sizeof *pi), factor = 1;
  unsigned long long random = (unsigned long long)j->set.seed;
  if (!pi || psdm_robot_clone(j->model, NULL, &j->believed)) return tool_no_memory("simulate");
  psdm_robot_parameters(j->model, pi);
  for (int k = 0; k < count; k++) {
    if (k >= 10 * links || k % 10 == 0) factor = 1 + (tool_random(&random) < 0.5 ? -1 : 1) * j->set.model_error;
    pi[k] *= factor;
  }
  psdm_robot_set_parameters(j->believed, pi);
  j->model = j->believed;
  return -1;
}

static int load_model(simulate_job *j) {
  psdm_error error;
  robot_settings set = *ROBOT_SETTINGS_OF(&j->set);
  set.params = NULL; /* they are the robot's */
  int code = tool_load("simulate", j->set.model, &set, &j->believed_file);
  if (code >= 0) return code;
  j->model = j->believed_file;
  if (psdm_robot_n(j->model) != j->n)
    return tool_usage("simulate", "--model: it has %d independent joints, the robot has %d", psdm_robot_n(j->model),
                      j->n);
  return psdm_robot_ready(j->model, &error) ? tool_fail(&error) : -1;
}

int simulate_robots(simulate_job *j, const char *path) {
  int code = tool_load("simulate", path, ROBOT_SETTINGS_OF(&j->set), &j->file);
  if (code >= 0) return code;
  j->robot = j->file;
  j->n = psdm_robot_n(j->file);
  if (j->set.theta) code = take_stated(j);
  if (code < 0) code = check_ready(j);
  if (code < 0) warn_friction(j);
  j->model = j->robot;
  if (code < 0 && j->set.model) code = load_model(j);
  return code < 0 && j->set.model_error > 0 ? make_wrong(j) : code;
}
