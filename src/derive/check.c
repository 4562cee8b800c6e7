/* check.c: compares models and base parameters with the recursions at random states. */
#include <math.h>

#include "derive/collect_priv.h"
#include "psdm/base_parameters.h"
#include "psdm/rigid.h"
#include "rigid/rigid.h"

static psdm_status failed(const psdm_robot *r, psdm_status status, psdm_error *error) {
  return psdmp_base_fail(error, status, r->file, 0, 0, "%s", psdm_status_text(status));
}

/* torques of the standard parameters by the recursive regressor, which needs no inertias in the robot */
static psdm_status recursive_torque(const psdm_robot *r, psdm_work *work, const double *state, const double *pi,
                                    double *Y, double *tau) {
  int n = r->n, S = psdm_robot_parameter_count(r);
  if (psdm_robot_ready(r, NULL) == PSDM_OK) return psdm_inverse(r, work, state, state + n, state + 2 * n, tau);
  psdm_status status = psdm_regressor_standard(r, work, state, state + n, state + 2 * n, Y);
  for (int i = 0; i < n && !status; i++) {
    tau[i] = 0;
    for (int k = 0; k < S; k++) tau[i] += Y[(long)i * S + k] * pi[k];
  }
  return status;
}

psdm_status psdm_model_check(const psdm_robot *r, const psdm_model *m, const psdm_derive_options *options, int states,
                             const psdm_allocator *allocator, double *residual, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  int n = r->n, S = m->standard;
  double *y = PSDMP_BASE_NEW(&arena, m->p, double), *Y = PSDMP_BASE_NEW(&arena, n * S, double),
         *pi = PSDMP_BASE_NEW(&arena, S, double), *theta = PSDMP_BASE_NEW(&arena, m->l, double);
  double *state = PSDMP_BASE_NEW(&arena, 3 * n, double), *tau = PSDMP_BASE_NEW(&arena, n, double),
         *recursive = PSDMP_BASE_NEW(&arena, n, double), worst = 0, largest = 0;
  psdm_work *work = NULL;
  psdm_status status = PSDM_E_MEMORY;
  if (y && Y && pi && theta && state && tau && recursive) status = psdm_work_new(r, allocator, &work);
  if (!status) {
    psdm_robot_parameters(r, pi);
    if (psdm_robot_ready(r, NULL)) status = psdmp_derive_sample_assumed(r, options, 3, &arena, pi, error);
    psdm_model_theta(m, pi, theta);
  }
  uint64_t seed = 11;
  for (int s = 0; s < states && !status; s++) {
    for (int i = 0; i < 3 * n; i++) state[i] = psdmp_base_random(&seed, -1, 1) * (i < n ? 3.14159 : 1);
    psdm_model_y(m, state, state + n, state + 2 * n, y);
    psdm_model_torque(m, PSDM_PART_ALL, y, theta, tau);
    status = recursive_torque(r, work, state, pi, Y, recursive);
    for (int i = 0; i < n; i++) {
      worst = fmax(worst, fabs(tau[i] - recursive[i]));
      largest = fmax(largest, fabs(recursive[i]));
    }
    if (options && options->progress &&
        !options->progress(options->progress_user, "checking states", (double)(s + 1) / states))
      break;
  }
  *residual = largest > 0 ? worst / largest : worst;
  psdm_work_free(work, allocator);
  psdmp_base_arena_free(&arena);
  return status && error && status != PSDM_E_PARSE ? failed(r, status, error) : status;
}

/* ---- results are compared before they are returned ---- */

/* only a few states are compared, but PSDM_MODEL_ACCURACY is promised for all */
enum { MARGIN = 5 };
#define SHORT 0x1p-10
#define FAST 32

/* two sets of parameters: random ones that satisfy the assumptions, and the robot's own if known and nothing is
 * assumed */
typedef struct comparison {
  const psdm_robot *robot;
  const psdmp_derive_checked *of;
  double reach, worst[2]; /* largest difference over the largest torque of its state, per set */
  int sets;
  double *pi, *theta;          /* (2 x standard), (2 x l) */
  double *q, *qd, *qdd;        /* (n) each */
  double *Y, *y, *tau;         /* (n x standard), (p), (n) */
  psdmp_derive_motion *motion; /* (n) torques are compared in its units */
} comparison;

static psdm_status set_parameters(comparison *c, psdmp_base_arena *arena, psdm_error *error) {
  const psdm_robot *r = c->robot;
  const psdm_derive_options *o = c->of->options;
  int S = psdm_robot_parameter_count(r);
  bool assumed = r->assumptions || (o && o->assume_count);
  psdm_status status = psdmp_derive_sample_assumed(r, o, 5, arena, c->pi, error);
  /* ties may compare different units */
  for (int k = 0; k < S && !assumed; k++) c->pi[k] *= pow(c->reach, psdmp_derive_length_degree(r, k));
  c->sets = assumed || psdm_robot_ready(r, NULL) ? 1 : 2;
  if (c->sets == 2) psdm_robot_parameters(r, c->pi + S);
  for (int set = 0; set < c->sets && !status; set++)
    c->of->theta(c->of->answer, c->pi + (long)set * S, c->theta + (long)set * c->of->l);
  return status;
}

/* torques of the base parameters: by the functions, or by the columns of the regressor */
static void base_torque(const comparison *c, const double *theta) {
  const psdmp_derive_checked *of = c->of;
  int n = c->robot->n, S = psdm_robot_parameter_count(c->robot);
  if (of->model && of->model->p) {
    psdm_model_torque(of->model, PSDM_PART_ALL, c->y, theta, c->tau);
    return;
  }
  for (int i = 0; i < n; i++) {
    c->tau[i] = 0;
    for (int j = 0; j < of->l; j++) {
      double column = 0;
      if (!of->restriction || !of->restriction->B) {
        column = c->Y[(long)i * S + of->parameter(of->answer, j)];
      } else { /* parameters tied by assumptions to the kept one change with it */
        for (int e = 0; e < of->restriction->count; e++)
          for (int k = 0; k < S && of->restriction->param[e] == of->parameter(of->answer, j); k++)
            column += of->restriction->B[(long)e * S + k] * c->Y[(long)i * S + k];
      }
      c->tau[i] += column * theta[j];
    }
  }
}

/* Prismatic joints move as far as the robot is long, and rates make gravity as large as all else. The model must also
 * be right where displacements are short, so that their load needs little torque, and where gravity is negligible
 * beside the rates. Of four states one is of each kind. */
static void make_fast(comparison *c) {
  for (int i = 0; i < c->robot->n; i++) c->qd[i] *= FAST, c->qdd[i] *= FAST * FAST;
}

static void shorten_slides(comparison *c) {
  const psdm_robot *r = c->robot;
  for (int j = 0; j < r->joints; j++) {
    int i = r->joint[j].q;
    if (i < 0 || r->joint[j].type != PSDM_PRISMATIC || r->closure) continue;
    c->q[i] *= SHORT, c->qd[i] *= SHORT, c->qdd[i] *= SHORT;
  }
}

static psdm_status compare_at(comparison *c, psdm_work *work, int state, uint64_t *seed) {
  const psdm_robot *r = c->robot;
  int n = r->n, S = psdm_robot_parameter_count(r);
  psdmp_derive_random_state(r, c->reach, c->motion, seed, c->q, c->qd, c->qdd);
  if (state % 2) shorten_slides(c);
  if (state % 4 == 1 || state % 4 == 2) make_fast(c);
  psdmp_rigid_pull_home(r, work, c->q);
  psdm_status status = psdm_regressor_standard(r, work, c->q, c->qd, c->qdd, c->Y);
  if (status) return status;
  if (c->of->model && c->of->model->p) psdm_model_y(c->of->model, c->q, c->qd, c->qdd, c->y);
  for (int set = 0; set < c->sets; set++) {
    double off = 0, largest = 0;
    base_torque(c, c->theta + (long)set * c->of->l);
    for (int i = 0; i < n; i++) {
      double tau = 0;
      for (int k = 0; k < S; k++) tau += c->Y[(long)i * S + k] * c->pi[(long)set * S + k];
      double difference = fabs(tau - c->tau[i]) * c->motion[i].unit;
      largest = fmax(largest, fabs(tau) * c->motion[i].unit);
      if (!(difference <= off)) off = difference; /* NAN is kept */
    }
    if (largest > 0) off /= largest;
    if (!(off <= c->worst[set])) c->worst[set] = off;
  }
  return PSDM_OK;
}

static bool new_comparison(comparison *c, psdmp_base_arena *arena) {
  size_t n = (size_t)c->robot->n, S = (size_t)psdm_robot_parameter_count(c->robot);
  c->pi = psdmp_base_arena_alloc(arena, 2 * S * sizeof(double));
  c->theta = psdmp_base_arena_alloc(arena, (2 * (size_t)c->of->l + 1) * sizeof(double));
  c->q = psdmp_base_arena_alloc(arena, 4 * n * sizeof(double));
  c->motion = PSDMP_BASE_NEW(arena, c->robot->n, psdmp_derive_motion);
  c->Y = psdmp_base_arena_alloc(arena, n * S * sizeof(double));
  c->y = PSDMP_BASE_NEW(arena, c->of->model ? c->of->model->p : 0, double);
  if (!c->pi || !c->theta || !c->q || !c->motion || !c->Y || !c->y) return false;
  c->qd = c->q + n, c->qdd = c->qd + n, c->tau = c->qdd + n;
  psdmp_derive_motions(c->robot, c->reach, c->motion);
  return true;
}

psdm_status psdmp_derive_check_answer(const psdm_robot *r, const psdmp_derive_checked *of,
                                      const psdm_allocator *allocator, double *residual, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = allocator};
  comparison c = {.robot = r, .of = of, .reach = psdmp_derive_reach(r, &arena)};
  psdm_work *work = NULL;
  uint64_t seed = 13;
  psdm_status status = new_comparison(&c, &arena) && !arena.failed ? psdm_work_new(r, allocator, &work) : PSDM_E_MEMORY;
  if (status) failed(r, status, error);
  else status = set_parameters(&c, &arena, error);
  for (int s = 0; s < of->states && !status; s++)
    if ((status = compare_at(&c, work, s, &seed))) failed(r, status, error);
  double worst = 0;
  for (int set = 0; set < c.sets; set++)
    if (!(c.worst[set] <= worst)) worst = c.worst[set];
  *residual = worst;
  psdm_work_free(work, allocator);
  psdmp_base_arena_free(&arena);
  double most = PSDM_MODEL_ACCURACY / MARGIN + of->regrouped;
  if (!status && !(worst <= most))
    return psdmp_base_fail(
        error, PSDM_E_ACCURACY, r->file, 0, 0,
        "%s reproduce the torques of the recursion only to within %.2g of the largest (at most %g is "
        "accepted): the robot's lengths or angles are too "
        "far apart in size for a closed form",
        of->what, worst, most);
  return status;
}

static void theta_of_model(const void *answer, const double *pi, double *theta) { psdm_model_theta(answer, pi, theta); }
static int parameter_of_model(const void *answer, int j) { return ((const psdm_model *)answer)->base[j].parameter; }

psdm_status psdmp_derive_check_model(const psdm_robot *r, const psdm_model *m,
                                     const psdmp_derive_restriction *restriction, const psdm_derive_options *options,
                                     psdm_derive_info *info, psdm_error *error) {
  info->residual = NAN;
  /* torques from outside the library */
  bool foreign = options && options->method == PSDM_METHOD_DENSE && (options->sampler || options->sampler_command);
  if (foreign || (options && options->unchecked)) return PSDM_OK;
  /* a few states: errors occur everywhere. Two of a large model take as long as its derivation. */
  const psdmp_derive_checked of = {.model = m,
                                   .answer = m,
                                   .l = m->l,
                                   .theta = theta_of_model,
                                   .parameter = parameter_of_model,
                                   .restriction = restriction,
                                   .options = options,
                                   .states = m->p > 100000  ? 1
                                             : m->p > 10000 ? 3
                                                            : 8,
                                   .regrouped = options ? options->rank_tolerance * (m->standard - m->l) : 0,
                                   .what = m->p ? "the derived functions" : "the base parameters"};
  return psdmp_derive_check_answer(r, &of, m->arena.allocator, &info->residual, error);
}
