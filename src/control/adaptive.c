/* adaptive.c: tau = Y(q, qd, qd_r, qdd_r) theta^ + Kd s, theta^' = Gamma Y^T s (Slotine, Li 1987), on the base
 * parameters.
 *
 *   e = q_d - q,  s = e' + lambda e,  qd_r = qd_d + lambda e,  qdd_r = qdd_d + lambda e'
 *   Y theta = M(q) qdd_r + S(q, qd) qd_r + g(q),  S by Christoffel's symbols, so that M' - 2 S is skew
 *
 * With V = 1/2 s^T M s + 1/2 d^T Gamma^-1 d, d = theta^ - theta, V' = -s^T Kd s. The velocity torque c(q, v) is a
 * quadratic form in v, and S(q, a) b is its symmetric bilinear form, so three ordinary regressors give Y
 * (polarisation):
 *
 *   S(q, a) b = c(q, (a + b)/2) - c(q, (a - b)/2) */
#include <math.h>
#include <string.h>

#include "psdm/eval.h"
#include "psdm/base_parameters.h"
#include "control/control_priv.h"

/* ---- regressors ---- */

/* Y (n x l) of the base parameters at a motion */
static psdm_status base_regressor(psdm_controller *c, const double *q, const double *qd, const double *qdd, double *Y) {
  psdmp_control_adaptation *a = &c->adaptation;
  if (a->model) {
    psdm_eval_options options = {.model = a->model, .scratch = a->scratch};
    size_t bytes = sizeof *q * (size_t)c->n;
    memcpy(a->in, q, bytes), memcpy(a->in + c->n, qd, bytes), memcpy(a->in + 2 * c->n, qdd, bytes);
    return psdm_eval(c->model, c->work, PSDM_F_REGRESSOR, &options, a->in, Y);
  }
  int columns = psdm_robot_parameter_count(c->model);
  psdm_status status = psdm_regressor_standard(c->model, c->work, q, qd, qdd, a->scratch);
  for (int i = 0; i < c->n && !status; i++)
    for (int j = 0; j < a->l; j++) Y[(long)i * a->l + j] = a->scratch[(long)i * columns + a->column[j]];
  return status;
}

/* adds sign times the regressor at a motion to Y */
static psdm_status add_regressor(psdm_controller *c, double sign, const double *q, const double *qd,
                                 const double *qdd) {
  psdmp_control_adaptation *a = &c->adaptation;
  psdm_status status = base_regressor(c, q, qd, qdd, a->part);
  for (long i = 0; i < (long)c->n * a->l && !status; i++) a->Y[i] += sign * a->part[i];
  return status;
}

/* Y(q, qd, qd_r, qdd_r) from three regressors; gravity is in each of them, and must be in the sum once */
static psdm_status sliding_regressor(psdm_controller *c, const double *q, const double *qd) {
  static const double still[PSDM_MAX_JOINTS];
  psdmp_control_adaptation *a = &c->adaptation;
  double *half = c->part;
  memset(a->Y, 0, sizeof *a->Y * (size_t)c->n * (size_t)a->l);
  for (int i = 0; i < c->n; i++) half[i] = 0.5 * (qd[i] + a->qd_r[i]);
  psdm_status status = add_regressor(c, 1, q, half, a->qdd_r);
  for (int i = 0; i < c->n; i++) half[i] = 0.5 * (qd[i] - a->qd_r[i]);
  if (!status) status = add_regressor(c, -1, q, half, still);
  return status ? status : add_regressor(c, 1, q, still, still);
}

/* ---- the parameters ---- */

/* allocates arrays for l parameters and the regressor's scratch */
static bool place(psdm_controller *c, int l, size_t scratch) {
  psdmp_control_adaptation *a = &c->adaptation;
  psdmp_base_arena *arena = &c->arena;
  size_t n = (size_t)c->n, entries = n * (size_t)l;
  a->column = PSDMP_BASE_NEW(arena, l, int), a->name = PSDMP_BASE_NEW(arena, l, const char *);
  a->start = PSDMP_BASE_NEW(arena, l, double), a->scale = PSDMP_BASE_NEW(arena, l, double),
  a->gain = PSDMP_BASE_NEW(arena, l, double);
  a->Y = PSDMP_BASE_NEW(arena, entries, double), a->part = PSDMP_BASE_NEW(arena, entries, double),
  a->in = PSDMP_BASE_NEW(arena, 3 * n, double);
  a->scratch = PSDMP_BASE_NEW(arena, scratch, double);
  a->s = PSDMP_BASE_NEW(arena, n, double), a->qd_r = PSDMP_BASE_NEW(arena, n, double),
  a->qdd_r = PSDMP_BASE_NEW(arena, n, double);
  if (!a->column || !a->name || !a->start || !a->scale || !a->gain || !a->Y || !a->part || !a->in || !a->scratch ||
      !a->s || !a->qd_r || !a->qdd_r)
    return false;
  a->l = l;
  return true;
}

static psdm_status set_names(psdm_controller *c, psdm_error *error) {
  psdmp_control_adaptation *a = &c->adaptation;
  char text[16];
  for (int j = 0; j < a->l; j++) {
    psdm_robot_parameter_name(c->model, a->column[j], text, sizeof text);
    a->name[j] = psdmp_base_arena_text(&c->arena, text, strlen(text));
    if (!a->name[j]) return psdmp_control_fail(c, PSDM_E_MEMORY, error);
  }
  return PSDM_OK;
}

/* by structure: kept columns of the standard regressor suffice, unless assumptions combine them */
static psdm_status open_chain(psdm_controller *c, const double *pi, psdm_error *error) {
  psdmp_control_adaptation *a = &c->adaptation;
  const psdm_allocator *allocator = c->arena.allocator;
  psdm_status status = psdm_robot_assumptions(c->model)
                           ? psdm_model_derive(c->model, NULL, allocator, &a->model, NULL, error)
                           : psdm_base_parameters_derive(c->model, NULL, allocator, &a->model, NULL, error);
  if (status) return status;
  if (!place(c, psdm_model_l(a->model), psdm_eval_scratch(c->model, a->model)))
    return psdmp_control_fail(c, PSDM_E_MEMORY, error);
  for (int j = 0; j < a->l; j++) psdm_model_base_term(a->model, j, 0, &a->column[j]);
  psdm_model_theta(a->model, pi, a->start);
  return set_names(c, error);
}

/* by numbers: closed loops have no structure known in advance */
static psdm_status closed_loops(psdm_controller *c, const double *pi, psdm_error *error) {
  psdm_base_parameters *params;
  if (psdm_robot_assumptions(c->model))
    return psdmp_base_fail(error, PSDM_E_ROBOT, NULL, 0, 0,
                           "adaptive control of a robot with closed loops takes no assumptions");
  psdm_status status = psdm_base_parameters_solve(c->model, NULL, c->arena.allocator, &params, error);
  if (status) return status;
  bool placed = place(c, params->rank, (size_t)c->n * (size_t)params->standard);
  for (int j = 0; j < params->rank && placed; j++) c->adaptation.column[j] = params->column[params->kept[j]];
  if (placed) psdm_base_parameters_theta(params, pi, c->adaptation.start);
  psdm_base_parameters_free(params);
  return placed ? set_names(c, error) : psdmp_control_fail(c, PSDM_E_MEMORY, error);
}

/* ---- adaptation rates ---- */

/* 0 mass, 1 first moment, 2 second moment or drive inertia: only equal units are compared */
static int unit_of(const char *name) { return name[0] != 'm' ? 2 : name[1] >= 'x' ? 1 : 0; }

/* |theta|; at least a hundredth of the largest of its kind, since it may be small by cancellation */
static void set_scales(psdmp_control_adaptation *a) {
  double largest[3] = {0};
  for (int j = 0; j < a->l; j++) {
    int unit = unit_of(a->name[j]);
    largest[unit] = fmax(largest[unit], fabs(a->start[j]));
  }
  for (int j = 0; j < a->l; j++) {
    double least = 0.01 * largest[unit_of(a->name[j])];
    a->scale[j] = fmax(fabs(a->start[j]), least > 0 ? least : 0.01);
  }
}

/* sum over joints and parameters of (Y_ij scale_j)^2 / kd_i at a motion, in Nm rad/s: the effect of errors of one
 * scale */
static psdm_status excitation(psdm_controller *c, const double *q, const double *qd, const double *qdd, double *sum) {
  psdmp_control_adaptation *a = &c->adaptation;
  psdm_status status = base_regressor(c, q, qd, qdd, a->part);
  *sum = 0;
  for (int i = 0; i < c->n && !status; i++)
    for (int j = 0; j < a->l; j++) {
      double torque = a->part[(long)i * a->l + j] * a->scale[j];
      *sum += torque * torque / c->kd[i];
    }
  return status;
}

/* Gamma = gamma l diag(scale^2) / excitation, its mean along the reference: where s follows the torque's error, Kd s =
 * -Y d, errors in units of their scales decay as d' = -gamma H d with H of mean trace l, so that gamma is the mean of
 * all their rates. A constant reference may excite nothing; unit accelerations at its start are the minimum. */
static psdm_status set_rates(psdm_controller *c, double gamma, psdm_error *error) {
  enum { MOMENTS = 64 };
  psdmp_control_adaptation *a = &c->adaptation;
  double begin = psdmp_control_begin(c), duration = psdmp_control_duration(c), mean = 0, sum = 0;
  psdm_status status = PSDM_OK;
  for (int k = 0; k < MOMENTS && !status; k++) {
    psdm_control_reference(c, begin + duration * k / MOMENTS, c->x);
    status = excitation(c, c->x, c->x + c->n, c->x + 2 * c->n, &sum);
    mean += sum / MOMENTS;
  }
  if (status) return psdmp_control_fail(c, status, error);
  psdm_control_reference(c, begin, c->x);
  for (int i = 0; i < c->n; i++) a->qd_r[i] = 0, a->qdd_r[i] = 1;
  status = excitation(c, c->x, a->qd_r, a->qdd_r, &sum);
  if (status) return psdmp_control_fail(c, status, error);
  double unit = fmax(mean, sum) > 0 ? fmax(mean, sum) : 1;
  for (int j = 0; j < a->l; j++) a->gain[j] = gamma * a->l * a->scale[j] * a->scale[j] / unit;
  return PSDM_OK;
}

/* ---- the design ---- */

static psdm_status find_parameters(psdm_controller *c, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = c->arena.allocator};
  double *pi = PSDMP_BASE_NEW(&scratch, psdm_robot_parameter_count(c->model), double);
  if (!pi) return psdmp_control_fail(c, PSDM_E_MEMORY, error);
  psdm_robot_parameters(c->model, pi);
  psdm_status status = psdm_robot_loops(c->model) ? closed_loops(c, pi, error) : open_chain(c, pi, error);
  psdmp_base_arena_free(&scratch);
  return status;
}

psdm_status psdmp_control_adaptation_design(psdm_controller *c, const psdm_control_options *o, psdm_error *error) {
  psdmp_control_adaptation *a = &c->adaptation;
  psdm_status status = o->theta ? PSDM_OK : psdm_robot_ready(c->model, error);
  if (!status) status = find_parameters(c, error);
  if (status) return status;
  for (int j = 0; j < a->l && o->theta; j++) {
    a->start[j] = o->theta[j];
    if (!isfinite(o->theta[j]))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "the initial estimate of %s is not finite",
                             a->name[j]);
  }
  a->lambda = o->lambda > 0 ? o->lambda : 0.5 * c->bandwidth;
  a->bound = o->bound;
  set_scales(a);
  return set_rates(c, o->gamma > 0 ? o->gamma : 1, error);
}

/* ---- the control law ---- */

/* smooth projection (Pomet, Praly 1992) onto start +- bound scale: in the outer tenth, outward motion fades to zero */
static double projected(const psdmp_control_adaptation *a, int j, double theta, double rate) {
  double out = theta - a->start[j], wide = a->bound * a->scale[j], inner = 0.9 * wide;
  if (!(wide > 0) || fabs(out) <= inner || out * rate <= 0) return rate;
  return rate * (1 - (out * out - inner * inner) / (wide * wide - inner * inner));
}

psdm_status psdmp_control_adaptation_torque(psdm_controller *c, const psdm_control_input *in, const double *states,
                                            double *tau, double *rates) {
  psdmp_control_adaptation *a = &c->adaptation;
  int n = c->n, l = a->l;
  for (int i = 0; i < n; i++) {
    double e = c->x[i] - in->q[i], de = c->x[n + i] - in->qd[i];
    a->s[i] = de + a->lambda * e;
    a->qd_r[i] = c->x[n + i] + a->lambda * e;
    a->qdd_r[i] = c->x[2 * n + i] + a->lambda * de;
  }
  psdm_status status = sliding_regressor(c, in->q, in->qd);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    tau[i] = c->kd[i] * a->s[i];
    for (int j = 0; j < l; j++) tau[i] += a->Y[(long)i * l + j] * states[j];
  }
  for (int j = 0; j < l && rates; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a->Y[(long)i * l + j] * a->s[i];
    rates[j] = projected(a, j, states[j], a->gain[j] * sum);
  }
  return PSDM_OK;
}
