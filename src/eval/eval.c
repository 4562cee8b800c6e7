/* eval.c: every function of a robot in one call: names of inputs and outputs, and values from the recursions or the
 * derived model. */
#include <stdio.h>
#include <string.h>

#include "eval/eval_priv.h"
#include "model/model.h"
#include "psdm/friction.h"
#include "psdm/statespace.h"
#include "robot/robot.h"

static const psdm_eval_options no_options = {0};

/* ---- names ---- */

static bool has(psdm_function f) { return (unsigned)f < PSDM_EVAL_FUNCTIONS; }

static int words(const char *list) {
  int count = list != NULL;
  for (const char *c = list ? list : ""; *c; c++) count += *c == ' ';
  return count;
}

/* "q3": a word of such a list, and the number behind it */
static void word(const char *list, int index, int number, char *buf, size_t size) {
  for (int k = 0; k < index; k++) list = strchr(list, ' ') + 1;
  snprintf(buf, size, "%.*s%d", (int)strcspn(list, " "), list, number);
}

int psdm_eval_inputs(const psdm_robot *r, psdm_function f) {
  return has(f) ? words(psdm_function_inputs(f)) * r->n : 0;
}

char *psdm_eval_input_name(const psdm_robot *r, psdm_function f, int index, char *buf, size_t size) {
  if (size) buf[0] = '\0';
  if (index < 0 || index >= psdm_eval_inputs(r, f)) return buf;
  word(psdm_function_inputs(f), index / r->n, index % r->n + 1, buf, size);
  return buf;
}

/* columns of the regressor: base parameters of the model, or all standard ones; and those of friction behind them */
static int rigid_columns(const psdm_robot *r, const psdm_eval_options *o) {
  return o->model ? o->model->l : psdm_robot_parameter_count(r);
}

static int regressor_columns(const psdm_robot *r, const psdm_eval_options *o) {
  return rigid_columns(r, o) + (o->friction_columns ? r->n * psdm_friction_columns(PSDM_FRICTION_POWER) : 0);
}

/* numbers of one result; a model is looked at for parameters alone */
static int shape(const psdm_robot *r, psdm_function f, const psdm_eval_options *o, int *rows, int *columns) {
  int l = f == PSDM_F_REGRESSOR      ? regressor_columns(r, o)
          : f == PSDM_F_SENSITIVITY  ? rigid_columns(r, o)
          : psdm_function_is_task(f) ? psdmp_eval_directions(o)
                                     : 0;
  return psdm_function_shape(f, r->n, l, rows, columns);
}

int psdm_eval_outputs(const psdm_robot *r, psdm_function f, const psdm_eval_options *options) {
  int rows, columns;
  return has(f) ? words(psdm_function_results(f)) * shape(r, f, options ? options : &no_options, &rows, &columns) : 0;
}

char *psdm_eval_output_name(const psdm_robot *r, psdm_function f, const psdm_eval_options *options, int index,
                            char *buf, size_t size) {
  static const char *const energy[] = {"T", "U"}, *const place[] = {"x", "y", "z"};
  const psdm_eval_options *o = options ? options : &no_options;
  const char *results = psdm_function_results(f);
  int rows, columns, each = shape(r, f, o, &rows, &columns);
  if (!size) return buf;
  buf[0] = '\0';
  if (index < 0 || index >= psdm_eval_outputs(r, f, o)) return buf;
  if (f == PSDM_F_ENERGY || (f == PSDM_F_POSE && index < 3)) {
    snprintf(buf, size, "%s", f == PSDM_F_POSE ? place[index] : energy[index]);
    return buf;
  }
  if (f == PSDM_F_POSE) results = "R", index -= 3, each = 9, columns = 3;
  else if (o->motor && strcmp(results, "tau") == 0) results = "taum";
  int at = index % each;
  word(results, index / each, (columns == PSDM_VECTOR ? at : at / columns) + 1, buf, size);
  size_t length = strlen(buf);
  if (columns != PSDM_VECTOR && length < size) snprintf(buf + length, size - length, "_%d", at % columns + 1);
  return buf;
}

/* ---- values ---- */

/* adds external and friction torques with a sign */
static psdm_status add_outside(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                               const double *qd, double sign, double *tau) {
  double part[PSDM_MAX_JOINTS];
  if (o->wrench_count) {
    psdm_status status = psdm_wrench_torque(r, work, q, o->wrench_count, o->wrenches, part);
    if (status) return status;
    for (int i = 0; i < r->n; i++) tau[i] += sign * part[i];
  }
  if (o->friction) {
    psdm_friction_torque(r, qd, part);
    for (int i = 0; i < r->n; i++) tau[i] -= sign * part[i];
  }
  return PSDM_OK;
}

/* motor torques of a rest, a velocity or a motion; qdd or both rates are NULL where zero */
static psdm_status torques(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                           const double *qd, const double *qdd, double *out) {
  static const double still[PSDM_MAX_JOINTS];
  double tau[PSDM_MAX_JOINTS];
  psdm_status status = PSDM_OK;
  if (!o->expanded)
    status = qdd  ? psdm_inverse(r, work, q, qd, qdd, tau)
             : qd ? psdm_bias(r, work, q, qd, tau)
                  : psdm_gravity(r, work, q, tau);
  else if (qdd) psdm_model_inverse(o->model, o->theta, q, qd, qdd, o->scratch, tau);
  else psdm_model_bias(o->model, o->theta, q, qd, o->scratch, tau);
  if (!status) status = add_outside(r, work, o, q, qd ? qd : still, -1, tau);
  if (status) return status;
  if (o->motor) psdm_robot_motor_torque(r, tau, out);
  else memcpy(out, tau, sizeof *out * (size_t)r->n);
  return PSDM_OK;
}

static psdm_status accelerations(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                                 const double *qd, const double *tau, double *qdd) {
  double total[PSDM_MAX_JOINTS];
  memcpy(total, tau, sizeof *total * (size_t)r->n);
  psdm_status status = add_outside(r, work, o, q, qd, 1, total);
  if (status) return status;
  return o->expanded ? psdm_model_forward(o->model, o->theta, q, qd, total, o->scratch, qdd)
                     : psdm_forward(r, work, q, qd, total, qdd);
}

size_t psdm_eval_scratch(const psdm_robot *r, const psdm_model *m) {
  size_t standard = m ? (size_t)r->n * (size_t)psdm_robot_parameter_count(r) : 0, model = m ? psdm_model_scratch(m) : 0,
         n = (size_t)r->n, most = standard > model ? standard : model;
  if (most < n * n + n) most = n * n + n; /* -M^-1 Y */
  return most > psdmp_eval_task_scratch(r) ? most : psdmp_eval_task_scratch(r);
}

bool psdm_eval_linearizes(psdm_function f) {
  return f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD || f == PSDM_F_CORIOLIS ||
         f == PSDM_F_MASS_RATE || (f >= PSDM_F_INNOVATIONS && f <= PSDM_F_LINEARIZE_SECOND) ||
         f == PSDM_F_CARTESIAN_CORIOLIS || f == PSDM_F_CARTESIAN_FACTOR;
}

/* The base regressor is the kept columns of the standard one, if the assumptions only removed columns; else, and on
 * request, it comes from the model's functions. */
static psdm_status rigid_regressor(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                                   const double *qd, const double *qdd, double *out) {
  const psdm_model *m = o->model;
  if (!m) return psdm_regressor_standard(r, work, q, qd, qdd, out);
  if (o->expanded || m->combined) {
    psdm_model_y(m, q, qd, qdd, o->scratch);
    psdm_model_regressor(m, PSDM_PART_ALL, o->scratch, out);
    return PSDM_OK;
  }
  psdm_status status = psdm_regressor_standard(r, work, q, qd, qdd, o->scratch);
  for (int i = 0; i < r->n && !status; i++)
    for (int j = 0; j < m->l; j++) out[i * m->l + j] = o->scratch[(long)i * m->standard + m->base[j].parameter];
  return status;
}

/* rows moved apart, the last first, and n columns of each of friction's numbers behind them */
static void add_columns(const psdm_robot *r, int rigid, int columns, const double *qd, double *out) {
  for (int i = r->n - 1; i >= 0; i--) {
    memmove(out + (long)i * columns, out + (long)i * rigid, sizeof *out * (size_t)rigid);
    memset(out + (long)i * columns + rigid, 0, sizeof *out * (size_t)(columns - rigid));
  }
  for (int k = 0; k < r->joints; k++) {
    double value[PSDM_FRICTION_MOST_COLUMNS];
    int q = r->joint[k].q;
    if (q < 0) continue;
    psdm_friction_column_values(&r->joint[k].friction, PSDM_FRICTION_POWER, qd[q], 0, value);
    for (int c = 0; c < psdm_friction_columns(PSDM_FRICTION_POWER); c++)
      out[(long)q * columns + rigid + c * r->n + q] = value[c];
  }
}

static psdm_status regressor(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                             const double *qd, const double *qdd, double *out) {
  psdm_status status = rigid_regressor(r, work, o, q, qd, qdd, out);
  if (!status && o->friction_columns) add_columns(r, rigid_columns(r, o), regressor_columns(r, o), qd, out);
  return status;
}

/* -M^-1 Y at the accelerations of the torques */
static psdm_status sensitivity(const psdm_robot *r, psdm_work *work, const psdm_eval_options *o, const double *q,
                               const double *qd, const double *tau, double *out) {
  double qdd[PSDM_MAX_JOINTS];
  if (!o->scratch) return PSDM_E_ARGUMENT;
  psdm_status status = psdm_forward(r, work, q, qd, tau, qdd);
  if (!status) status = rigid_regressor(r, work, o, q, qd, qdd, out);
  return status ? status : psdmp_eval_solve_columns(r, work, q, rigid_columns(r, o), o->scratch, out);
}

/* three matrices in sequence: by q, by qd, and M or its inverse; friction depends on qd alone */
static psdm_status linearized(const psdm_robot *r, const psdm_eval_options *o, bool forward, const double *q,
                              const double *qd, const double *third, double *out) {
  double *by_qd = out + (long)r->n * r->n, *mass = by_qd + (long)r->n * r->n, part[PSDM_MAX_JOINTS],
         tau[PSDM_MAX_JOINTS];
  if (!o->linear) return PSDM_E_ARGUMENT;
  if (forward && o->friction) {
    psdm_friction_torque(r, qd, part);
    for (int i = 0; i < r->n; i++) tau[i] = third[i] - part[i];
    third = tau;
  }
  psdm_status status = forward ? psdm_linearize_forward(r, o->linear, q, qd, third, out, by_qd, mass)
                               : psdm_linearize_inverse(r, o->linear, q, qd, third, out, by_qd, mass);
  if (status || !o->friction) return status;
  psdm_friction_slope(r, qd, part);
  for (int i = 0; i < r->n; i++)
    for (int j = 0; j < r->n; j++) {
      if (forward) by_qd[(long)i * r->n + j] -= mass[(long)i * r->n + j] * part[j];
      if (!forward && i == j) by_qd[(long)i * r->n + j] += part[j];
    }
  return PSDM_OK;
}

psdm_status psdm_eval(const psdm_robot *r, psdm_work *work, psdm_function f, const psdm_eval_options *options,
                      const double *in, double *out) {
  const psdm_eval_options *o = options ? options : &no_options;
  const double *q = in, *second = in + r->n, *third = second + r->n;
  if (o->expanded && (!o->model || !o->theta || !o->scratch)) return PSDM_E_ARGUMENT;
  if ((o->expanded || (o->model && (f == PSDM_F_REGRESSOR || f == PSDM_F_SENSITIVITY))) &&
      (o->model->n != r->n || o->model->standard != psdm_robot_parameter_count(r)))
    return PSDM_E_ROBOT;
  switch (f) {
    case PSDM_F_INVERSE: return torques(r, work, o, q, second, third, out);
    case PSDM_F_BIAS: return torques(r, work, o, q, second, NULL, out);
    case PSDM_F_GRAVITY: return torques(r, work, o, q, NULL, NULL, out);
    case PSDM_F_FORWARD: return accelerations(r, work, o, q, second, third, out);
    case PSDM_F_MASS:
      if (!o->expanded) return psdm_mass(r, work, q, out);
      psdm_model_mass(o->model, o->theta, q, o->scratch, out);
      return PSDM_OK;
    case PSDM_F_REGRESSOR: return regressor(r, work, o, q, second, third, out);
    case PSDM_F_ENERGY:
      if (!o->expanded) return psdm_energy(r, work, q, second, &out[0], &out[1]);
      psdm_model_energy(o->model, o->theta, q, second, o->scratch, &out[0], &out[1]);
      return PSDM_OK;
    case PSDM_F_INVERSE_MASS: return psdm_inverse_mass(r, work, q, out);
    case PSDM_F_JACOBIAN: return psdm_jacobian(r, work, q, psdmp_robot_named(r, o->link), out);
    case PSDM_F_POSE: return psdm_pose(r, work, q, psdmp_robot_named(r, o->link), out);
    case PSDM_F_LINEARIZE_INVERSE:
    case PSDM_F_LINEARIZE_FORWARD: return linearized(r, o, f == PSDM_F_LINEARIZE_FORWARD, q, second, third, out);
    case PSDM_F_SENSITIVITY: return sensitivity(r, work, o, q, second, third, out);
    default:
      return psdm_function_is_task(f) ? psdmp_eval_task(r, work, f, o, in, out)
                                      : psdmp_eval_terms(r, work, f, o, in, out);
  }
}
