/* routes_code.c: generated code: graphs evaluated without a compiler, by both methods, in double and float;
 * compiled; inside a simulator. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/compile.h"
#include "psdm/sim.h"
#include "routes.h"

enum { SOLVING = 1 << PSDM_CODE_FORWARD | 1 << PSDM_CODE_LINEARIZE_FORWARD | 1 << PSDM_CODE_INVERSE_MASS };

/* a function without an answer is not generated */
static bool does_not_exist(subject *s, const psdm_code_options *o, const psdm_error *error) {
  /* a mass matrix that is singular at every state has no inverse */
  bool never = true;
  for (int k = 0; k < STATES; k++) never &= singular(s, k);
  return never && (o->functions & SOLVING) && error->status == PSDM_E_SINGULAR;
}

static psdm_compiled *generated(subject *s, verdict *v, const psdm_code_options *o, const psdm_compile_options *how) {
  psdm_code *code;
  psdm_compiled *compiled = NULL;
  psdm_error error;
  psdm_status status = psdm_code_build(s->robot, o, NULL, &code, &error);
  if (!status) {
    /* the closed form on request: as good as the model that it expands, and a note says when that is below the promise
     * of generated code */
    if (o->method == PSDM_CODE_EXPANDED && psdm_code_note(code, 0)) v->promise = fmax(v->promise, v->of_base);
    status = psdm_compile(code, how, NULL, &compiled, &error);
    psdm_code_free(code);
  }
  if (status) refuse(v, status, error.text, stated(error.text) || does_not_exist(s, o, &error));
  return status ? NULL : compiled;
}

/* ---- calls, in double or float ---- */

typedef union numbers {
  double d[3 * MOST * MOST];
  float f[3 * MOST * MOST];
} numbers;

static const double *argument_of(const state *x, const char *name, const double *theta) {
  if (strcmp(name, "theta") == 0) return theta;
  if (strcmp(name, "q") == 0) return x->q;
  if (strcmp(name, "qd") == 0) return x->qd;
  return strcmp(name, "qdd") == 0 ? x->qdd : x->tau;
}

/* Calls function f at a state; out: doubles, one array per result. */
static psdm_status call(const psdm_compiled *c, psdm_code_function f, bool single, const state *x, const double *theta,
                        double *scratch, double (*out)[11 * MOST * MOST]) {
  static numbers in[6], got[3];
  const void *arguments[6];
  void *results[3] = {&got[0], &got[1], &got[2]};
  int length;
  for (int a = 0; a < psdm_compiled_arguments(c, f); a++) {
    const double *from = argument_of(x, psdm_compiled_argument(c, f, a, &length), theta);
    for (int i = 0; i < length; i++)
      if (single) in[a].f[i] = (float)from[i];
      else in[a].d[i] = from[i];
    arguments[a] = &in[a];
  }
  psdm_status status = psdm_compiled_call(c, f, arguments, results, scratch);
  for (int r = 0; r < psdm_compiled_results(c, f); r++) {
    psdm_compiled_result(c, f, r, &length);
    for (int i = 0; i < length; i++) out[r][i] = single ? (double)got[r].f[i] : got[r].d[i];
  }
  return status;
}

/* Y theta for the robot's parameters: as good as its base parameters are */
static void judge_regressor(subject *s, verdict *v, int k, const double *Y, int l, const double *theta) {
  double tau[MOST];
  const double *const out[] = {tau};
  for (int i = 0; i < s->n; i++) {
    ld sum = 0;
    for (int j = 0; j < l; j++) sum += (ld)Y[i * l + j] * theta[j];
    tau[i] = (double)sum;
  }
  double of_code = v->promise;
  v->promise = fmax(v->promise, v->of_base);
  judge(s, v, k, PSDM_CODE_INVERSE, out);
  v->promise = of_code;
}

/* theta (l) as psdm_code_build means it; l, -1 when refused */
static int base_values(subject *s, double *theta) {
  psdm_model *model;
  double pi[11 * MOST];
  if (psdm_base_parameters_derive(s->robot, NULL, NULL, &model, NULL, NULL)) return -1;
  int l = psdm_model_l(model);
  psdm_robot_parameters(s->robot, pi);
  psdm_model_theta(model, pi, theta);
  psdm_model_free(model);
  return l;
}

static void judge_code(subject *s, verdict *v, const psdm_compiled *c, const psdm_code_options *o) {
  static double out[3][11 * MOST * MOST];
  const double *const results[] = {out[0], out[1], out[2]};
  double theta[11 * MOST], *scratch = malloc(sizeof *scratch * (psdm_compiled_scratch(c) + 1));
  int l = base_values(s, theta);
  if (!scratch) abort();
  for (int f = 0; f < PSDM_CODE_FUNCTIONS; f++)
    for (int k = 0; k < STATES; k++) {
      if (!(o->functions >> f & 1)) continue;
      /* omitted: right only for functions that do not exist */
      if (psdm_compiled_arguments(c, (psdm_code_function)f) < 0) {
        if (!(1 << f & SOLVING) || !singular(s, k)) refuse(v, PSDM_E_SINGULAR, "a function is left out", false);
        continue;
      }
      psdm_status status = call(c, (psdm_code_function)f, o->real_float, &s->at[k], theta, scratch, out);
      if (status) refuse(v, status, "a call", false);
      if (f == PSDM_CODE_REGRESSOR) judge_regressor(s, v, k, out[0], l, theta);
      else judge(s, v, k, (psdm_code_function)f, results);
    }
  free(scratch);
}

static const char *last_link(const subject *s) {
  return psdm_robot_link_name(s->robot, psdm_robot_joints(s->robot) - 1);
}

static void generate_and_judge(subject *s, verdict *v, psdm_code_options o) {
  const psdm_compile_options graph = {.graph = true};
  o.prefix = "r", o.sincos = PSDM_SINCOS_LIBM, o.link = last_link(s);
  psdm_compiled *c = generated(s, v, &o, &graph);
  if (c) judge_code(s, v, c, &o);
  psdm_compiled_free(c);
}

/* one function at a time: a search takes a millisecond for the smallest */
static unsigned any_function(subject *s, int most) { return 1u << rng_int(&s->g, 0, most); }
static int most_function(const subject *s) { return s->n <= 4 ? PSDM_CODE_INVERSE_MASS : PSDM_CODE_ENERGY; }

static psdm_code_options one_function(subject *s, psdm_code_method method, int most) {
  return (psdm_code_options){.functions = any_function(s, most), .method = method, .effort = -1};
}

void route_code(subject *s, verdict *v) {
  generate_and_judge(s, v, one_function(s, PSDM_CODE_RECURSIVE, most_function(s)));
}
void route_auto(subject *s, verdict *v) { generate_and_judge(s, v, one_function(s, PSDM_CODE_AUTO, PSDM_CODE_ENERGY)); }

void route_code_theta(subject *s, verdict *v) {
  psdm_code_options o = one_function(s, PSDM_CODE_RECURSIVE, most_function(s));
  o.theta_argument = v->at_run_time = true;
  generate_and_judge(s, v, o);
}

void route_code_searched(subject *s, verdict *v) {
  psdm_code_options o = one_function(s, PSDM_CODE_RECURSIVE, PSDM_CODE_REGRESSOR);
  o.effort = 0;
  generate_and_judge(s, v, o);
}

void route_expanded(subject *s, verdict *v) {
  psdm_code_options o = one_function(s, PSDM_CODE_EXPANDED, PSDM_CODE_ENERGY);
  o.theta_argument = v->at_run_time = rng_int(&s->g, 0, 1);
  generate_and_judge(s, v, o);
}

void route_code_float(subject *s, verdict *v) {
  v->eps = FLT_EPSILON;
  psdm_code_options o = one_function(s, PSDM_CODE_RECURSIVE, PSDM_CODE_BIAS);
  o.real_float = true;
  generate_and_judge(s, v, o);
}

/* through the compiler: the usual functions */
void route_compiled(subject *s, verdict *v) {
  const psdm_compile_options native = {.native = true, .cache = "", .flags = "-O1"};
  const unsigned functions = 1 << PSDM_CODE_INVERSE | 1 << PSDM_CODE_MASS | 1 << PSDM_CODE_REGRESSOR;
  psdm_code_options o = {
      .functions = functions, .method = PSDM_CODE_RECURSIVE, .effort = -1, .prefix = "r", .link = last_link(s)};
  psdm_compiled *c = generated(s, v, &o, &native);
  if (c) judge_code(s, v, c, &o);
  psdm_compiled_free(c);
}

/* ---- a short motion: the simulator's Runge-Kutta against the oracle's ---- */

enum { SIM_STEPS = 4 };

static bool accelerate(subject *s, const ld *q, const ld *qd, ld *qdd) {
  const ld zero[MOST] = {0};
  ld M[MOST * MOST], Minv[MOST * MOST], bias[MOST];
  oracle_mass(&s->o, q, M);
  oracle_inverse(&s->o, WITH_ALL, q, qd, zero, bias);
  ld condition = oracle_invert(s->n, M, Minv);
  for (int i = 0; i < s->n; i++) {
    qdd[i] = 0;
    for (int j = 0; j < s->n; j++) qdd[i] -= Minv[i * s->n + j] * bias[j];
  }
  return condition < 1e10L;
}

/* classical Runge-Kutta over long double */
static bool oracle_steps(subject *s, ld dt, ld *q, ld *qd) {
  static const ld part[4] = {0, 0.5L, 0.5L, 1}, weight[4] = {1.0L / 6, 1.0L / 3, 1.0L / 3, 1.0L / 6};
  for (int step = 0; step < SIM_STEPS; step++) {
    ld k[5][2][MOST] = {{{0}}}, at[2][MOST], sum[2][MOST] = {{0}};
    for (int r = 0; r < 4; r++) {
      for (int i = 0; i < s->n; i++)
        at[0][i] = q[i] + part[r] * dt * k[r][0][i], at[1][i] = qd[i] + part[r] * dt * k[r][1][i],
        k[r + 1][0][i] = at[1][i];
      if (!accelerate(s, at[0], at[1], k[r + 1][1])) return false;
      for (int i = 0; i < s->n; i++) sum[0][i] += weight[r] * k[r + 1][0][i], sum[1][i] += weight[r] * k[r + 1][1][i];
    }
    for (int i = 0; i < s->n; i++) q[i] += dt * sum[0][i], qd[i] += dt * sum[1][i];
  }
  return true;
}

/* in which no joint turns by more than 0.01 rad, or slides by that share of the reach */
static double short_step(subject *s, const state *x, const double *size) {
  double fastest = 0, reach = reach_at(s, 0);
  for (int i = 0; i < s->n; i++) {
    double acc = 0, unit = 1;
    for (int j = 0; j < s->n; j++) acc += (double)fabsl(x->Minv[i * s->n + j]) * size[j];
    for (int b = 0; b < s->o.bodies; b++)
      if (s->o.body[b].type == PSDM_PRISMATIC && s->o.body[b].G[i] != 0) unit = reach;
    fastest = fmax(fastest, fmax(fabs(x->qd[i]) / unit, sqrt(acc / unit)));
  }
  return fmin(1e-3, 0.01 / fastest);
}

/* velocities move by accelerations, whose error is eps |M^-1| scale; stability over so few steps costs a factor of
 * two */
static void simulated(subject *s, verdict *v, bool code) {
  const psdm_sim_options options = {.integrator = PSDM_INTEGRATOR_RK4, .no_code = !code};
  psdm_sim *sim;
  psdm_error error;
  const state *x = with_mass(s, 0);
  ld q[MOST], qd[MOST];
  double tau[MOST] = {0}, scale[MOST], size[MOST], moved[MOST] = {0}, still[MOST] = {0};
  memcpy(q, x->lq, sizeof q), memcpy(qd, x->lqd, sizeof qd);
  scale_inverse(&s->o, WITH_ALL, x->q, x->qd, still, size);
  double dt = short_step(s, x, size);
  if (!(x->condition < 1e9L) || singular(s, 0) || !oracle_steps(s, dt, q, qd)) {
    v->skipped = true;
    return;
  }
  psdm_status status = psdm_sim_new(s->robot, &options, NULL, &sim, &error);
  if (!status) status = psdm_sim_set(sim, 0, x->q, x->qd, &error);
  for (int k = 0; k < SIM_STEPS && !status; k++) status = psdm_sim_step(sim, tau, dt);
  if (status) {
    refuse(v, status, error.text, false);
    psdm_sim_free(sim);
    return;
  }
  psdm_sim_row row;
  psdm_sim_now(sim, &row);
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++) moved[i] += (double)fabsl(x->Minv[i * s->n + j]) * size[j];
  scale_inverse(&s->o, WITH_ALL, x->q, x->qd, moved, size);
  for (int i = 0; i < s->n; i++) {
    scale[i] = fabs(x->qd[i]);
    for (int j = 0; j < s->n; j++) scale[i] += 2 * SIM_STEPS * dt * (double)fabsl(x->Minv[i * s->n + j]) * size[j];
  }
  agree(s, v, "velocity", s->n, row.qd, qd, scale);
  psdm_sim_free(sim);
}

void route_simulate(subject *s, verdict *v) { simulated(s, v, false); }
void route_simulate_code(subject *s, verdict *v) { simulated(s, v, true); }

/* ---- the table ---- */

const route routes[] = {
    {"inverse", 0, 1, LOSS_PLAIN, false, route_inverse},
    {"regressor", 0, 1, LOSS_PLAIN, true, route_regressor},
    {"mass", 0, 1, LOSS_PLAIN, false, route_mass},
    {"forward", 0, 1, LOSS_FORWARD, false, route_forward},
    {"cholesky", 0, 1, LOSS_FORWARD, false, route_cholesky},
    {"energy", 0, 1, LOSS_PLAIN, false, route_energy},
    {"momentum", 0, 4, LOSS_PLAIN, false, route_momentum},
    {"places", 0, 1, LOSS_PLAIN, true, route_places},
    {"linearize-inverse", 0, 4, LOSS_PLAIN, true, route_linearize_inverse},
    {"linearize-forward", 0, 4, LOSS_FORWARD, true, route_linearize_forward},
    {"linearize-dense", 0, 4, LOSS_FORWARD, true, route_linearize_dense},
    {"clone", 0, 8, LOSS_PLAIN, false, route_clone},
    {"batch", 0, 8, LOSS_PLAIN, false, route_batch},
    {"yaml", 0, 4, LOSS_PLAIN, false, route_yaml},
    {"urdf", 0, 4, LOSS_PLAIN, false, route_urdf},
    {"derive", 5, 2, LOSS_EXACT, false, route_derive},
    {"echelon", 4, 8, LOSS_EXACT, false, route_echelon},
    {"dense", 3, 32, LOSS_DENSE, false, route_dense},
    {"saved", 3, 32, LOSS_EXACT, false, route_saved},
    {"params", 0, 1, LOSS_EXACT, true, route_params},
    {"numeric", 5, 16, LOSS_SAMPLED, true, route_numeric},
    {"code", 5, 16, LOSS_CODE, false, route_code},
    {"code-theta", 5, 64, LOSS_CODE, false, route_code_theta},
    {"code-searched", 3, 256, LOSS_CODE, false, route_code_searched},
    {"code-float", 4, 64, LOSS_CODE, false, route_code_float},
    {"expanded", 3, 256, LOSS_CODE, false, route_expanded},
    {"auto", 3, 512, LOSS_CODE, false, route_auto},
    {"compiled", 4, 1024, LOSS_CODE, false, route_compiled},
    {"simulate", 6, 16, LOSS_FORWARD, false, route_simulate},
    {"simulate-code", 4, 1024, LOSS_CODE, false, route_simulate_code},
    {NULL, 0, 0, 0, false, NULL},
};
