/* loop.c: what code for closed loops needs beside its functions: the tree, the loops' equations, the position that the
 * branch starts from. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/friction_priv.h"
#include "codegen/loop_priv.h"
#include "model/model.h"
#include "psdm/base_parameters.h"
#include "psdm/loop.h"

/* ---- options ---- */

static psdm_status refuse(const psdm_robot *r, psdm_error *error, const char *text) {
  return psdmp_base_fail(error, PSDM_E_ROBOT, r->file, 0, 0, "closed loops: %s", text);
}

psdm_status psdmp_codegen_loop_options(const psdm_robot *r, const psdm_code_options *o, psdm_error *error) {
  if (!r->closure) return PSDM_OK;
  if (r->closure->loops > PSDMP_CODEGEN_CODE_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0, "%d closed loops; code is generated for at most %d",
                           r->closure->loops, (int)PSDMP_CODEGEN_CODE_JOINTS);
  if (o->method == PSDM_CODE_EXPANDED)
    return refuse(r, error,
                  "there is no closed form in sines and cosines to expand; the recursive method has all functions");
  if (o->sincos == PSDM_SINCOS_CALLER)
    return refuse(r, error, "the angles of passive joints are found by the code, so it takes their sines itself");
  if (o->target != PSDM_CODE_C)
    return refuse(
        r, error,
        "code is generated for target c; not for simd or cuda, whose states would each follow their own branch");
  if (o->wraps) return refuse(r, error, "wrappers cannot pass on the passive joints' positions and the status");
  if (o->friction != PSDM_FRICTION_NONE || o->parameters)
    return refuse(r, error, "friction is not generated; friction columns of the regressor are");
  return PSDM_OK;
}

/* ---- the tree ---- */

/* the standard parameters that the loops' base parameters are the values of, all others zero */
static void regrouped(const psdm_code *code, double *pi) {
  memset(pi, 0, sizeof *pi * (size_t)code->model->standard);
  for (int j = 0; j < code->model->l && code->theta; j++) pi[code->model->base[j].parameter] = code->theta[j];
}

static psdm_status set_tree(psdm_code *code, psdm_error *error) {
  const psdm_robot *r = code->robot;
  psdmp_codegen_loop_tree *t = code->loop->tree;
  psdm_robot bare = *r->closure->tree;
  bool known = psdm_robot_ready(r, NULL) == PSDM_OK;
  bare.assumptions = 0;
  psdm_robot any = psdmp_codegen_any_gravity(&bare);
  psdm_status status = psdm_base_parameters_derive(code->options.gravity_argument ? &any : &bare, NULL,
                                                   code->arena.allocator, &t->model, NULL, error);
  if (status) return status;
  double *pi = PSDMP_BASE_NEW(&code->arena, t->model->standard, double);
  for (int k = 0; k < 2; k++) t->theta[k] = PSDMP_BASE_NEW(&code->arena, t->model->l, double);
  if (!pi || !t->theta[0] || !t->theta[1] || !psdmp_codegen_robot_copy(&bare, &code->arena, &t->robot[0]))
    return psdmp_base_no_memory(r->file, error);
  regrouped(code, pi);
  psdm_model_theta(t->model, pi, t->theta[0]);
  psdm_robot_set_parameters(&t->robot[0], pi);
  t->robot[1] = known ? bare : t->robot[0];
  if (known) psdm_robot_parameters(r, pi);
  psdm_model_theta(t->model, pi, t->theta[1]);
  t->options = code->options;
  t->options.friction_columns = t->options.drive_columns = false;
  return PSDM_OK;
}

/* ---- the position at the beginning ---- */

static psdm_status set_home(psdm_code *code, psdm_error *error) {
  const psdm_robot *r = code->robot;
  const psdmp_robot_closure *c = r->closure;
  psdmp_codegen_loop *l = code->loop;
  psdm_work *work = NULL;
  double *q = PSDMP_BASE_NEW(&code->arena, c->tree->n, double);
  l->home = PSDMP_BASE_NEW(&code->arena, r->n, double);
  l->start = PSDMP_BASE_NEW(&code->arena, l->passives, double);
  l->unit = PSDMP_BASE_NEW(&code->arena, r->n + l->passives, double);
  l->A = PSDMP_BASE_NEW(&code->arena, l->equations * l->passives, double);
  if (!q || !l->home || !l->start || !l->unit || !l->A || psdm_work_new(r, code->arena.allocator, &work))
    return psdmp_base_no_memory(r->file, error);
  psdm_robot_home(r, l->home);
  psdm_status status = psdm_loop_close(r, work, l->home, NULL, q, NULL);
  psdm_work_free(work, code->arena.allocator);
  if (status)
    return psdmp_base_fail(
        error, status, r->file, 0, 0,
        "the loops cannot be closed at the position that the file starts with, or are singular there");
  for (int i = 0; i < r->n; i++) l->unit[i] = c->unit[c->independent[i]];
  for (int k = 0; k < l->passives; k++) {
    l->start[k] = q[c->passive[k]];
    l->unit[r->n + k] = c->unit[c->passive[k]];
  }
  return PSDM_OK;
}

/* ---- the equations ---- */

bool psdmp_codegen_loop_start(psdmp_loops *l, const psdm_code *code, psdm_graph *g, psdmp_base_arena *arena) {
  const psdmp_robot_closure *c = code->robot->closure;
  psdm_ref *x = PSDMP_BASE_NEW(arena, c->tree->n, psdm_ref);
  if (!x) return false;
  for (int i = 0; i < code->robot->n; i++)
    x[c->independent[i]] = psdm_graph_input(g, PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK + i);
  for (int k = 0; k < c->passives; k++)
    x[c->passive[k]] = psdm_graph_input(g, PSDMP_CODEGEN_IN_P * PSDMP_CODEGEN_BLOCK + k);
  return psdmp_loops_start(l, code->robot, g, x, arena);
}

/* gaps, and the passive joints' columns of their derivative one after the other */
static psdm_status set_closure(psdm_code *code, psdm_error *error) {
  psdmp_codegen_loop *loop = code->loop;
  psdmp_codegen_program *p = &loop->closure;
  psdmp_base_arena scratch = {.allocator = code->arena.allocator};
  psdmp_loops l;
  int e = loop->equations, m = loop->passives;
  *p = (psdmp_codegen_program){.function = PSDM_F_POSE, .name = "closure", .method = "recursive", .results = 2};
  p->length[PSDMP_CODEGEN_IN_Q] = code->robot->n;
  p->length[PSDMP_CODEGEN_IN_P] = m;
  p->result[0] = (psdmp_codegen_result){"gap", 0, e};
  p->result[1] = (psdmp_codegen_result){"A", e, e * m};
  p->outputs = (size_t)(e + e * m);
  p->output = PSDMP_BASE_NEW(&code->arena, e + e * m, psdm_ref);
  psdm_status status = p->output ? psdm_graph_new(code->arena.allocator, &p->graph) : PSDM_E_MEMORY;
  if (!status && !psdmp_codegen_loop_start(&l, code, p->graph, &scratch)) status = PSDM_E_MEMORY;
  for (int i = 0; i < e && !status; i++) {
    p->output[i] = l.gap[i];
    for (int k = 0; k < m; k++) p->output[e + k * e + i] = l.A[(long)i * l.N + l.closure->passive[k]];
  }
  psdmp_base_arena_free(&scratch);
  if (!status) status = psdm_graph_factor(p->graph, p->output, p->outputs);
  if (!status) status = psdm_graph_cost(p->graph, p->output, p->outputs, &p->cost);
  return status ? psdmp_base_no_memory(code->robot->file, error) : PSDM_OK;
}

psdm_status psdmp_codegen_loop_new(psdm_code *code, psdm_error *error) {
  const psdmp_robot_closure *c = code->robot->closure;
  if (!c) return PSDM_OK;
  if (code->model->combined && (code->options.theta_argument || code->options.functions >> PSDM_F_REGRESSOR & 1))
    return refuse(code->robot, error,
                  "under these assumptions base parameters are not standard ones: neither theta as an argument nor a "
                  "regressor");
  code->loop = PSDMP_BASE_NEW(&code->arena, 1, psdmp_codegen_loop);
  psdmp_codegen_loop_tree *tree = PSDMP_BASE_NEW(&code->arena, 1, psdmp_codegen_loop_tree);
  if (!code->loop || !tree) {
    code->loop = NULL;
    return psdmp_base_no_memory(code->robot->file, error);
  }
  *code->loop = (psdmp_codegen_loop){.passives = c->passives, .equations = 3 * c->loops, .size = c->size, .tree = tree};
  psdm_status status = set_tree(code, error);
  if (!status) status = set_home(code, error);
  return status ? status : set_closure(code, error);
}

void psdmp_codegen_loop_free(psdm_code *code) {
  if (!code->loop) return;
  psdm_graph_free(code->loop->closure.graph);
  for (int k = 0; k < 2; k++)
    for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) psdm_graph_free(code->loop->tree->program[k][f].graph);
  psdm_model_free(code->loop->tree->model);
}

/* ---- the equations at a few positions ---- */

/* closure's outputs at q and p */
static void evaluate(const psdm_code *code, const double *q, const double *p, double *input, double *nodes,
                     double *out) {
  const psdmp_codegen_program *c = &code->loop->closure;
  memcpy(input + PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK, q, (size_t)code->robot->n * sizeof *q);
  memcpy(input + PSDMP_CODEGEN_IN_P * PSDMP_CODEGEN_BLOCK, p, (size_t)code->loop->passives * sizeof *p);
  psdm_graph_evaluate(c->graph, input, c->output, c->outputs, nodes, out);
}

/* orthonormal columns of A_p at home, (e x m) */
static void orthonormalise(int e, int m, double *A) {
  for (int k = 0; k < m; k++) {
    double *x = A + (long)k * e, size = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int j = 0; j < k; j++) {
        double dot = 0;
        for (int i = 0; i < e; i++) dot += A[(long)j * e + i] * x[i];
        for (int i = 0; i < e; i++) x[i] -= dot * A[(long)j * e + i];
      }
    for (int i = 0; i < e; i++) size += x[i] * x[i];
    for (int i = 0; i < e; i++) x[i] /= sqrt(size);
  }
}

/* whether the columns at another position span the same space, as they do where there are no more equations than
 * passive joints or all is planar */
static bool spans(int e, int m, const double *Q, const double *A) {
  double size = 0, left = 0;
  for (int k = 0; k < m; k++)
    for (int i = 0; i < e; i++) {
      double rest = A[(long)k * e + i];
      size = fmax(size, fabs(rest));
      for (int j = 0; j < m; j++) {
        double dot = 0;
        for (int t = 0; t < e; t++) dot += Q[(long)j * e + t] * A[(long)k * e + t];
        rest -= dot * Q[(long)j * e + i];
      }
      left = fmax(left, fabs(rest));
    }
  return left < 1e-9 * size;
}

psdm_status psdmp_codegen_loop_check(psdm_code *code, psdmp_codegen_trial *t, psdm_error *error) {
  psdmp_codegen_loop *loop = code->loop;
  if (!loop) return PSDM_OK;
  int n = code->robot->n, e = loop->equations, m = loop->passives;
  double *nodes = psdmp_base_arena_alloc(t->arena, (psdm_graph_size(loop->closure.graph) + 1) * sizeof *nodes),
         *out = PSDMP_BASE_NEW(t->arena, e + e * m, double), worst = 0;
  if (!nodes || !out) return psdmp_base_no_memory(code->robot->file, error);
  evaluate(code, loop->home, loop->start, t->input, nodes, out);
  memcpy(loop->A, out + e, (size_t)(e * m) * sizeof *out);
  orthonormalise(e, m, loop->A);
  loop->oriented = true;
  for (int s = 0; s < PSDMP_CODEGEN_STATES; s++) {
    evaluate(code, t->q + (long)s * n, t->p + (long)s * m, t->input, nodes, out);
    for (int i = 0; i < e; i++)
      if (!(fabs(out[i]) <= worst)) worst = fabs(out[i]);
    loop->oriented = loop->oriented && spans(e, m, loop->A, out + e);
  }
  if (worst <= 1e-10 * loop->size) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_ACCURACY, code->robot->file, 0, 0,
                         "the generated equations of the loops leave gaps of %.2g m where the recursion closes them",
                         worst);
}
