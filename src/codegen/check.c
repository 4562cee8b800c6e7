/* check.c: every program beside the library's recursions, when it is made.
 *
 * The graph is computed one operation after the other at the states of a trial, in double and, where the code will
 * be float, in float. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/trial.h"
#include "psdm/cartesian.h"
#include "psdm/rigid.h"

enum { STATES = PSDMP_CODEGEN_STATES, MOST_PARTS = 4 };

double psdmp_codegen_tolerance(const psdm_code *code) { return code->options.real_float ? 1e-3 : 1e-9; }

/* the larger one; no number is larger than all */
static double worse(double a, double b) { return isfinite(b) ? fmax(a, b) : INFINITY; }

static double ratio(double error, double scale) { return error == 0 ? 0 : worse(0, error / scale); }

/* ---- outputs that are judged together ---- */

/* Outputs of one unit. least: what they are compared with where all of them vanish. */
typedef struct part {
  double error, scale, least;
} part;

/* what is known of a program's states before its outputs are compared */
typedef struct measure {
  psdmp_codegen_trial *t;
  const psdmp_codegen_program *p;
  double *want;     /* (STATES x outputs) */
  double *tau, *M;  /* (STATES x n), (STATES x n n) */
  double condition; /* of M, functions that invert it */
  double torque;    /* largest one of all states */
  double *unit;     /* (n) metres, or 1 for angles: forces count by their work over a unit */
  double offset;    /* potential energy counts from anywhere: from state 0 */
  double *Y;        /* (n x standard) regressor: of one state */
} measure;

/* of a standard parameter: mass, first and second moments, drives */
static int kind_of(const measure *m, int parameter) {
  int k = parameter % 10;
  return parameter >= 10 * m->t->code->robot->bodies ? 3 : k == 0 ? 0 : k < 4 ? 1 : 2;
}

/* friction's beside those of the drives */
static int kind_of_column(const measure *m, int j) {
  const psdm_model *model = m->t->code->model;
  return j >= model->l ? 3 : kind_of(m, model->base[j].parameter);
}

/* whether direction k of the task, counted from 0, is an angle */
static bool is_turn(const measure *m, int k) {
  unsigned rows = m->t->code->options.directions ? m->t->code->options.directions : PSDM_ALL_DIRECTIONS;
  int at = 0;
  while (k > 0 || !(rows >> at & 1u)) k -= (int)(rows >> at++ & 1u);
  return at >= 3;
}

/* what makes forces and moments, joints that slide and joints that turn comparable */
static double task_weight(const measure *m, int i) {
  const double *u = m->unit, L = m->t->unit;
  int n = m->t->code->robot->n, d = psdmp_codegen_width(&m->t->code->options, 0, m->p->function);
#define LENGTH(k) (is_turn(m, k) ? L : 1)
  switch (m->p->function) {
    case PSDM_F_CARTESIAN_JACOBIAN: return u[i % n];
    case PSDM_F_CARTESIAN_CORIOLIS:
    case PSDM_F_CARTESIAN_GRAVITY: return 1 / LENGTH(i);
    case PSDM_F_CARTESIAN_INVERSE: return L / LENGTH(i % d) / u[i / d];
    case PSDM_F_CARTESIAN_NULL_SPACE: return u[i / n] / u[i % n];
    default: return 1 / (LENGTH(i / d) * LENGTH(i % d));
  }
#undef LENGTH
}

/* what makes outputs of joints that slide comparable with those of joints that turn */
static double weight_of(const measure *m, int i) {
  const double *u = m->unit;
  int n = m->t->code->robot->n, columns = (int)m->p->outputs / n;
  if (psdm_function_is_task(m->p->function)) return task_weight(m, i);
  switch (m->p->function) {
    case PSDM_F_MASS:
    case PSDM_F_CORIOLIS:
    case PSDM_F_MASS_RATE:
    case PSDM_F_LINEARIZE_SECOND:
    case PSDM_F_LINEARIZE_INVERSE: return u[i % (n * n) / n] * u[i % n];
    case PSDM_F_INNOVATIONS: return i < 2 * n * n ? u[i % (n * n) / n] / u[i % n] : u[i % n] * u[i % n];
    case PSDM_F_REGRESSOR: return u[i / columns];
    case PSDM_F_SENSITIVITY: return 1 / u[i / columns];
    case PSDM_F_FORWARD_ALONG: return 1 / u[i];
    case PSDM_F_MOMENTUM: return u[i % n];
    case PSDM_F_JACOBIAN: return u[i % n];
    case PSDM_F_ENERGY:
    case PSDM_F_FRICTION_STEP:
    case PSDM_F_POSE: return 1;
    default: return u[i];
  }
}

static int part_of(const measure *m, int i) {
  int n = m->t->code->robot->n, columns = (int)m->p->outputs / n;
  switch (m->p->function) {
    case PSDM_F_REGRESSOR: return kind_of_column(m, i % columns);
    case PSDM_F_JACOBIAN: return i >= 3 * n;
    case PSDM_F_POSE: return i >= 3;
    case PSDM_F_CARTESIAN_JACOBIAN: return is_turn(m, i / n);
    case PSDM_F_INNOVATIONS:
    case PSDM_F_LINEARIZE_SECOND:
    case PSDM_F_LINEARIZE_INVERSE: return i / (n * n);
    case PSDM_F_MOMENTUM: return i / n;
    default: return 0;
  }
}

/* Columns of base parameters may all but vanish: beside the largest of the standard parameters of their kind, and
 * what moments at the robot's reach amount to. */
static void set_least_columns(const measure *m, part *k) {
  psdmp_codegen_trial *t = m->t;
  const psdm_robot *r = t->code->robot;
  int n = r->n, S = psdm_robot_parameter_count(r);
  for (int s = 0; s < STATES; s++) {
    if (psdm_regressor_standard(&t->robot, t->work, t->q + s * n, t->qd + s * n, t->qdd + s * n, m->Y)) continue;
    for (int i = 0; i < n * S; i++)
      k[kind_of(m, i % S)].least = fmax(k[kind_of(m, i % S)].least, m->unit[i / S] * fabs(m->Y[i]));
  }
  for (int i = 1; i >= 0; i--) k[i].least = fmax(k[i].least, psdmp_robot_reach(r) * k[i + 1].least);
}

/* derivatives beside torques, and these over rates */
static void set_least(const measure *m, part *k) {
  switch (m->p->function) {
    case PSDM_F_INVERSE:
    case PSDM_F_GRAVITY:
    case PSDM_F_FORWARD:
    case PSDM_F_MOMENTUM_RATE:
    case PSDM_F_INVERSE_ALONG:
    case PSDM_F_INVERSE_SECOND:
    case PSDM_F_BIAS: k[0].least = m->torque; break;
    case PSDM_F_CORIOLIS:
    case PSDM_F_MASS_RATE:
    case PSDM_F_MOMENTUM: k[0].least = k[1].least = m->torque * sqrt(m->t->unit); break;
    case PSDM_F_CARTESIAN_CORIOLIS:
    case PSDM_F_CARTESIAN_GRAVITY: k[0].least = m->torque / m->t->unit; break;
    case PSDM_F_CARTESIAN_FACTOR: k[0].least = m->torque * sqrt(m->t->unit) / (m->t->unit * m->t->unit); break;
    case PSDM_F_CARTESIAN_NULL_SPACE: k[0].least = 1; break;
    case PSDM_F_LINEARIZE_SECOND:
      for (int i = 0; i < 3; i++) k[i].least = m->torque;
      break;
    case PSDM_F_REGRESSOR: set_least_columns(m, k); break;
    case PSDM_F_LINEARIZE_FORWARD:
    case PSDM_F_LINEARIZE_INVERSE:
      k[0].least = m->torque;
      k[1].least = m->torque * sqrt(m->t->unit);
      break;
    case PSDM_F_JACOBIAN:
    case PSDM_F_CARTESIAN_JACOBIAN:
    case PSDM_F_POSE:
      k[0].least = psdmp_robot_reach(m->t->code->robot);
      k[1].least = 1;
      break;
    default: break;
  }
}

/* outputs of state s against what was wanted */
static void compare(measure *m, int s, double *got, part *k) {
  int count = (int)m->p->outputs;
  const double *want = m->want + (size_t)s * m->p->outputs;
  if (m->p->function == PSDM_F_ENERGY) {
    k[0].scale = fmax(k[0].scale, fabs(got[1]));
    if (s == 0) m->offset = want[1] - got[1];
    got[1] += m->offset;
  }
  for (int i = 0; i < count; i++) {
    part *at = &k[part_of(m, i)];
    double weight = weight_of(m, i);
    at->error = worse(at->error, weight * fabs(got[i] - want[i]));
    at->scale = fmax(at->scale, weight * fabs(want[i]));
  }
}

/* Results of M^-1 by the torques that their errors amount to, result by result: what is left of M x = b, beside |M|
 * |x|. A matrix that is nearly singular leaves x all but free, and large. */
static void compare_inverse(measure *m, int s, const double *got, part *k) {
  int n = m->t->code->robot->n, columns = m->p->function == PSDM_F_FORWARD ? 1 : n;
  const double *want = m->want + (size_t)s * m->p->outputs, *M = m->M + (size_t)s * (size_t)(n * n);
  for (int r = 0; r < m->p->results; r++)
    for (int j = 0; j < n; j++)
      for (int c = 0; c < columns; c++) {
        double d = 0, all = 0, size = 0;
        for (int i = 0; i < n; i++) {
          int at = n * columns * r + columns * i + c;
          d += M[n * j + i] * (got[at] - want[at]);
          all += M[n * j + i] * want[at];
          size += fabs(M[n * j + i] * got[at]);
        }
        double weight = m->unit[j] * (columns == 1 ? 1 : r + 1 == m->p->results ? 1 / m->unit[c] : m->unit[c]);
        k[r].error = worse(k[r].error, weight * fabs(d));
        k[r].scale = fmax(k[r].scale, weight * fmax(fabs(all), isfinite(size) ? size : 0));
      }
}

/* ---- what goes in ---- */

static void put(double *input, psdmp_codegen_block block, const double *x, int count) {
  memcpy(input + (size_t)block * PSDMP_CODEGEN_BLOCK, x, (size_t)count * sizeof *x);
}

static void set_inputs(const measure *m, int s, double *input) {
  const psdmp_codegen_trial *t = m->t;
  int n = t->code->robot->n;
  const double *q = t->q + s * n;
  put(input, PSDMP_CODEGEN_IN_THETA, t->theta, psdm_model_l(t->code->model));
  put(input, PSDMP_CODEGEN_IN_GRAVITY, t->gravity, 3);
  put(input, PSDMP_CODEGEN_IN_PAYLOAD, t->payload, 10);
  put(input, PSDMP_CODEGEN_IN_WRENCH, t->wrench, 6);
  put(input, PSDMP_CODEGEN_IN_Q, q, n);
  put(input, PSDMP_CODEGEN_IN_QD, t->qd + s * n, n);
  put(input, PSDMP_CODEGEN_IN_QDD, t->qdd + s * n, n);
  put(input, PSDMP_CODEGEN_IN_TAU, m->tau + s * n, n);
  for (int k = 0; k < 7; k++) put(input, (psdmp_codegen_block)(PSDMP_CODEGEN_IN_DQ + k), t->small[k] + s * n, n);
  if (t->p) put(input, PSDMP_CODEGEN_IN_P, t->p + (long)s * t->code->loop->passives, t->code->loop->passives);
  if (t->code->friction.there) {
    int states = t->code->friction.drag.states;
    put(input, PSDMP_CODEGEN_IN_DT, &t->dt, 1);
    put(input, PSDMP_CODEGEN_IN_Q0, t->q0 + s * n, n);
    put(input, PSDMP_CODEGEN_IN_QD0, t->qd0 + s * n, n);
    put(input, PSDMP_CODEGEN_IN_Z, t->z + (long)s * states, states);
  }
  for (int i = 0; i < n; i++) {
    input[PSDMP_CODEGEN_IN_SINE * PSDMP_CODEGEN_BLOCK + i] = sin(q[i]);
    input[PSDMP_CODEGEN_IN_COSINE * PSDMP_CODEGEN_BLOCK + i] = cos(q[i]);
  }
}

/* |M| |M^-1| in the largest entries, times n */
static double condition(const measure *m, const double *M, const double *Minv) {
  int n = m->t->code->robot->n;
  double most = 0, inverse = 0;
  for (int i = 0; i < n * n; i++) {
    double weight = m->unit[i / n] * m->unit[i % n];
    most = fmax(most, weight * fabs(M[i]));
    inverse = fmax(inverse, fabs(Minv[i]) / weight);
  }
  return n * most * inverse;
}

/* torques and mass matrices of all states */
static psdm_status set_measure(measure *m) {
  psdmp_codegen_trial *t = m->t;
  int n = t->code->robot->n;
  double *Minv = PSDMP_BASE_NEW(t->arena, n * n, double);
  m->want = PSDMP_BASE_NEW(t->arena, STATES * (int)m->p->outputs, double);
  m->tau = PSDMP_BASE_NEW(t->arena, STATES * n, double);
  m->M = PSDMP_BASE_NEW(t->arena, STATES * n * n, double);
  m->unit = PSDMP_BASE_NEW(t->arena, n, double);
  m->Y = PSDMP_BASE_NEW(
      t->arena, m->p->function == PSDM_F_REGRESSOR ? n * psdm_robot_parameter_count(t->code->robot) : 0, double);
  if (!m->want || !m->tau || !m->M || !Minv || !m->unit || !m->Y) return PSDM_E_MEMORY;
  for (int i = 0; i < n; i++) m->unit[i] = psdmp_codegen_joint_unit(t->code->robot, i);
  psdm_status status = psdmp_codegen_trial_expect(t, m->p, m->want);
  m->condition = 1;
  for (int s = 0; s < STATES && !status; s++) {
    double *M = m->M + (size_t)s * (size_t)(n * n);
    status = psdmp_codegen_trial_evaluate(t, m->p, PSDM_F_INVERSE, s, m->tau + s * n);
    for (int i = 0; i < n; i++) m->torque = fmax(m->torque, m->unit[i] * fabs(m->tau[s * n + i]));
    if (!status && psdmp_codegen_divides(m->p->function)) {
      double condition = 1;
      status = psdmp_codegen_trial_condition(t, m->p, s, &condition);
      m->condition = fmax(m->condition, condition);
    }
    if (!psdmp_codegen_inverts(m->p->function)) continue;
    if (!status) status = psdmp_codegen_trial_evaluate(t, m->p, PSDM_F_MASS, s, M);
    if (m->p->function == PSDM_F_FORWARD) continue; /* judged by its torques */
    if (!status) status = psdmp_codegen_trial_linearized(t, NULL, PSDM_F_INVERSE_MASS, s, Minv);
    m->condition = fmax(m->condition, condition(m, M, Minv));
  }
  return status;
}

psdm_status psdmp_codegen_trial_error(psdmp_codegen_trial *t, const psdmp_codegen_program *p, psdmp_codegen_runner run,
                                      void *user, double *error) {
  measure m = {.t = t, .p = p};
  part k[MOST_PARTS] = {{0}};
  psdm_status status = set_measure(&m);
  double *got = PSDMP_BASE_NEW(t->arena, (int)p->outputs, double);
  if (status) return status;
  if (!got) return PSDM_E_MEMORY;
  bool inverts = psdmp_codegen_inverts(p->function);
  for (int s = 0; s < STATES; s++) {
    set_inputs(&m, s, t->input);
    run(user, p, t->input, got);
    if (inverts) compare_inverse(&m, s, got, k);
    else compare(&m, s, got, k);
  }
  set_least(&m, k);
  *error = 0;
  for (int i = 0; i < MOST_PARTS; i++)
    *error = worse(*error, ratio(k[i].error, fmax(k[i].scale, k[i].least) * m.condition));
  return PSDM_OK;
}

/* ---- the graph ---- */

typedef struct graph_run {
  bool single;   /* every operation rounded to float */
  double *value; /* (nodes) */
  double *late;  /* (outputs), or inputs of the second stage (blocks) and its values */
} graph_run;

static double rounded(const graph_run *g, double x) { return g->single ? (double)(float)x : x; }

static double at(const graph_run *g, psdm_ref r) {
  return psdm_ref_negated(r) ? -g->value[psdm_ref_node(r)] : g->value[psdm_ref_node(r)];
}

static double bristles(const graph_run *g, const psdm_graph *graph, uint32_t node) {
  psdm_ref operand[PSDMP_EXPR_BRISTLES];
  double x[PSDMP_EXPR_BRISTLES];
  psdmp_expr_bristles_operands(graph, node, operand);
  for (int k = 0; k < PSDMP_EXPR_BRISTLES; k++) x[k] = at(g, operand[k]);
  return psdmp_expr_bristles(x);
}

static double compute(const graph_run *g, const psdm_graph *graph, uint32_t node, const double *input) {
  psdm_node n = psdm_graph_node(graph, node);
  switch (n.op) {
    case PSDM_OP_CONST: return n.value;
    case PSDM_OP_INPUT: return input[n.input];
    case PSDM_OP_BRISTLES: return bristles(g, graph, node);
    default: return psdmp_expr_value(n.op, at(g, n.a), n.b == PSDM_REF_NONE ? 0 : at(g, n.b));
  }
}

static void evaluate(const graph_run *g, const psdm_graph *graph, const double *input, const psdm_ref *outputs,
                     size_t count, double *out) {
  if (!g->single) {
    psdm_graph_evaluate(graph, input, outputs, count, g->value, out);
    return;
  }
  for (uint32_t k = 0, nodes = psdm_graph_size(graph); k < nodes; k++)
    g->value[k] = rounded(g, compute(g, graph, k, input));
  for (size_t i = 0; i < count; i++) out[i] = at(g, outputs[i]);
}

static void run_outputs(void *user, const psdmp_codegen_program *p, const double *input, double *out) {
  evaluate(user, p->graph, input, p->output, p->outputs, out);
}

/* M^-1 and rows of dtau/dq and dtau/dqd side by side, from which a loop makes the results */
static void run_inner(void *user, const psdmp_codegen_program *p, const double *input, double *out) {
  int n = p->length[PSDMP_CODEGEN_IN_Q], nn = n * n;
  double *inner = ((graph_run *)user)->late;
  evaluate(user, p->graph, input, p->inner, p->outputs, inner);
  memcpy(out + 2 * nn, inner, (size_t)nn * sizeof *out);
  for (int i = 0; i < 2 * nn; i++) {
    int row = i % nn / n, column = i % n + (i < nn ? 0 : n);
    out[i] = 0;
    for (int k = 0; k < n; k++) out[i] -= inner[row * n + k] * inner[nn + 2 * n * k + column];
  }
}

/* in two stages, as a GPU has it */
static void run_stages(void *user, const psdmp_codegen_program *p, const double *input, double *out) {
  graph_run *g = user;
  int n = p->length[PSDMP_CODEGEN_IN_Q], nn = n * n, handed = psdmp_codegen_stage_values(n);
  memcpy(g->late, input, (size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK * sizeof *input);
  double *stage = g->late + PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK;
  evaluate(g, p->graph, input, p->early, (size_t)handed, stage);
  put(g->late, PSDMP_CODEGEN_IN_QDD, stage, handed);
  evaluate(g, p->graph, g->late, p->late, (size_t)(2 * nn), out);
  for (int i = 0, k = n; i < n; i++)
    for (int j = i; j < n; j++, k++) out[2 * nn + i * n + j] = out[2 * nn + j * n + i] = stage[k];
}

/* ---- constants ---- */

/* whether the constants behind some outputs can be written */
static bool are_finite(const psdmp_codegen_trial *t, const psdmp_codegen_program *p, const psdm_ref *outputs,
                       size_t count, bool *live) {
  bool single = t->code->options.real_float;
  psdmp_expr_graph_mark(p->graph, outputs, count, live);
  for (uint32_t k = 0, nodes = psdm_graph_size(p->graph); k < nodes; k++) {
    psdm_node n = psdm_graph_node(p->graph, k);
    if (live[k] && n.op == PSDM_OP_CONST && !(fabs(n.value) <= (single ? (double)FLT_MAX : DBL_MAX))) return false;
  }
  return true;
}

static bool constants_finite(const psdmp_codegen_trial *t, const psdmp_codegen_program *p, bool *live) {
  int n = p->length[PSDMP_CODEGEN_IN_Q];
  return are_finite(t, p, p->output, p->outputs, live) && (!p->inner || are_finite(t, p, p->inner, p->outputs, live)) &&
         (!p->early || (are_finite(t, p, p->early, (size_t)psdmp_codegen_stage_values(n), live) &&
                        are_finite(t, p, p->late, (size_t)(2 * n * n), live)));
}

psdm_status psdmp_codegen_program_check(psdmp_codegen_trial *t, psdmp_codegen_program *p) {
  static const psdmp_codegen_runner runners[] = {run_outputs, run_inner, run_stages};
  const bool there[] = {true, p->inner != NULL, p->early != NULL};
  int forms = t->code->options.real_float ? 2 : 1;
  int room = (int)p->outputs + (p->early ? PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK +
                                               psdmp_codegen_stage_values(p->length[PSDMP_CODEGEN_IN_Q])
                                         : 0);
  graph_run g = {.value = psdmp_base_arena_alloc(t->arena, ((size_t)psdm_graph_size(p->graph) + 1) * sizeof *g.value),
                 .late = PSDMP_BASE_NEW(t->arena, room, double)};
  bool *live = psdmp_base_arena_alloc(t->arena, (size_t)psdm_graph_size(p->graph) + 1);
  psdm_status status = g.value && g.late && live ? PSDM_OK : PSDM_E_MEMORY;
  p->error = 0;
  for (int f = 0; f < forms; f++)
    for (int k = 0; k < 3 && !status; k++) {
      double error = 0;
      g.single = f > 0;
      if (there[k]) status = psdmp_codegen_trial_error(t, p, runners[k], &g, &error);
      /* float has its own tolerance: what is kept is double's error unless float's is beyond that */
      if (f == 0 || error > psdmp_codegen_tolerance(t->code)) p->error = worse(p->error, error);
    }
  if (!status && !constants_finite(t, p, live)) p->error = INFINITY;
  return status;
}
