/* loop_functions.c: the functions of robots with closed loops, from those of their open tree. */
#include <string.h>

#include "codegen/loop_priv.h"
#include "codegen/trace_priv.h"
#include "model/model.h"
#include "psdm/cartesian.h"

typedef psdmp_loops loops;

/* ---- the tree's functions ---- */

static psdm_status tree_program(psdm_code *code, psdm_function f, bool plain, psdmp_codegen_program **out,
                                psdm_error *error) {
  psdmp_codegen_loop_tree *tree = code->loop->tree;
  psdmp_codegen_program *p = *out = &tree->program[plain][f];
  if (p->graph) return PSDM_OK;
  psdm_status status = psdmp_codegen_build_recursive(&tree->robot[plain], tree->model, tree->theta[plain],
                                                     &tree->options, f, plain, &code->arena, p, error);
  if (status) {
    psdm_graph_free(p->graph);
    *p = (psdmp_codegen_program){0};
  }
  return status;
}

/* by[block]: what its inputs become; NULL: they stay */
static psdm_status import(loops *l, const psdmp_codegen_program *p, const psdm_ref *const *by, psdm_ref *out) {
  const psdm_graph *from = p->graph;
  uint32_t size = psdm_graph_size(from);
  bool *live = psdmp_base_arena_alloc(l->arena, size + 1);
  psdm_ref *now = psdmp_base_arena_alloc(l->arena, ((size_t)size + 1) * sizeof *now);
  if (!live || !now) return PSDM_E_MEMORY;
  psdmp_expr_graph_mark(from, p->output, p->outputs, live);
  for (uint32_t k = 0; k < size; k++) {
    psdm_node n = psdm_graph_node(from, k);
    int block = n.input / PSDMP_CODEGEN_BLOCK;
    if (!live[k]) continue;
    if (n.op == PSDM_OP_CONST) {
      now[k] = psdm_graph_const(l->g, n.value);
    } else if (n.op == PSDM_OP_INPUT) {
      now[k] = by[block] ? by[block][n.input % PSDMP_CODEGEN_BLOCK] : psdm_graph_input(l->g, n.input);
    } else {
      psdm_ref a = now[psdm_ref_node(n.a)], b = n.b == PSDM_REF_NONE ? n.b : now[psdm_ref_node(n.b)];
      if (psdm_ref_negated(n.a)) a = psdm_ref_neg(a);
      if (n.b != PSDM_REF_NONE && psdm_ref_negated(n.b)) b = psdm_ref_neg(b);
      now[k] = psdmp_expr_build(l->g, n.op, a, b);
    }
  }
  for (size_t i = 0; i < p->outputs; i++) {
    psdm_ref r = now[psdm_ref_node(p->output[i])];
    out[i] = psdm_ref_negated(p->output[i]) ? psdm_ref_neg(r) : r;
  }
  return psdm_graph_status(l->g);
}

/* ---- one function while it is built ---- */

typedef struct builder {
  loops l;
  psdm_code *code;
  psdmp_codegen_program *program;
  psdm_error *error;
  bool plain;
  psdm_ref *v, *a;    /* (N) the tree's motion */
  psdm_ref *theta;    /* (tree's l) its base parameters, where they are arguments */
  psdm_ref *qd, *qdd; /* (n) arguments */
  psdm_ref *tree, *M; /* (N x N), (n x n) */
  psdm_ref *tau, *bias;
} builder;

static psdm_ref argument(builder *b, psdmp_codegen_block block, int index) {
  return psdm_graph_input(b->l.g, (int)block * PSDMP_CODEGEN_BLOCK + index);
}

/* a function of the tree at its motion; derivatives are without the wrench that torques may take */
static psdm_status of_tree(builder *b, psdm_function f, psdm_ref *out) {
  psdmp_codegen_program *p;
  const psdm_ref none[6] = {b->l.zero, b->l.zero, b->l.zero, b->l.zero, b->l.zero, b->l.zero};
  const psdm_ref *by[PSDMP_CODEGEN_IN_COUNT] = {[PSDMP_CODEGEN_IN_Q] = b->l.x,
                                                [PSDMP_CODEGEN_IN_QD] = b->v,
                                                [PSDMP_CODEGEN_IN_QDD] = b->a,
                                                [PSDMP_CODEGEN_IN_THETA] = b->theta};
  if (!b->program->length[PSDMP_CODEGEN_IN_WRENCH]) by[PSDMP_CODEGEN_IN_WRENCH] = none;
  psdm_status status = tree_program(b->code, f, b->plain, &p, b->error);
  if (status) return status;
  status = import(&b->l, p, by, out);
  return status ? psdmp_base_fail(b->error, status, b->code->robot->file, 0, 0, "%s while generating '%s'",
                                  psdm_status_text(status), b->program->name)
                : PSDM_OK;
}

/* the tree's base parameters from the argument: each of the loops' is the value of the standard one that it is named
 * after */
static void set_theta(builder *b) {
  const psdm_model *tree = b->code->loop->tree->model, *closed = b->code->model;
  for (int j = 0; j < tree->l; j++) {
    b->theta[j] = b->l.zero;
    for (int t = 0; t < tree->base[j].terms; t++)
      for (int c = 0; c < closed->l; c++)
        if (closed->base[c].parameter == tree->base[j].term[t].parameter)
          b->theta[j] = psdm_graph_add(
              b->l.g, b->theta[j],
              psdm_graph_scale(b->l.g, tree->base[j].term[t].coefficient, argument(b, PSDMP_CODEGEN_IN_THETA, c)));
  }
}

static bool start(builder *b, psdm_code *code, psdmp_base_arena *arena) {
  int N = code->robot->closure->tree->n, n = code->robot->n, l = code->loop->tree->model->l;
  if (!psdmp_codegen_loop_start(&b->l, code, b->program->graph, arena)) return false;
  b->v = PSDMP_BASE_NEW(arena, N, psdm_ref);
  b->a = PSDMP_BASE_NEW(arena, N, psdm_ref);
  b->theta = PSDMP_BASE_NEW(arena, l, psdm_ref);
  b->qd = PSDMP_BASE_NEW(arena, n, psdm_ref);
  b->qdd = PSDMP_BASE_NEW(arena, n, psdm_ref);
  b->tree = PSDMP_BASE_NEW(arena, N * (N > l ? N : l) + 12 + 6 * N, psdm_ref);
  b->M = PSDMP_BASE_NEW(arena, n * n, psdm_ref);
  b->tau = PSDMP_BASE_NEW(arena, n, psdm_ref);
  b->bias = PSDMP_BASE_NEW(arena, n, psdm_ref);
  if (!b->v || !b->a || !b->theta || !b->qd || !b->qdd || !b->tree || !b->M || !b->tau || !b->bias) return false;
  for (int i = 0; i < n; i++)
    b->qd[i] = argument(b, PSDMP_CODEGEN_IN_QD, i), b->qdd[i] = argument(b, PSDMP_CODEGEN_IN_QDD, i);
  set_theta(b);
  return true;
}

/* ---- the functions ---- */

/* tau = G^T tau_tree; qdd NULL: zero */
static psdm_status torques(builder *b, const psdm_ref *qdd, psdm_ref *tau) {
  psdmp_loops_rates(&b->l, b->qd, b->v);
  psdmp_loops_accelerations(&b->l, qdd, b->v, b->a);
  psdm_status status = of_tree(b, PSDM_F_INVERSE, b->tree);
  if (!status) psdmp_loops_restrict(&b->l, b->tree, tau);
  return status;
}

/* a row of the tree times G: (n) */
static psdm_ref times_G(builder *b, const psdm_ref *row, int stride, int j) {
  loops *l = &b->l;
  psdm_ref sum = row[(long)l->closure->independent[j] * stride];
  for (int k = 0; k < l->m; k++)
    sum = psdm_graph_add(l->g, sum,
                         psdm_graph_mul(l->g, row[(long)l->closure->passive[k] * stride], l->G[(long)k * l->n + j]));
  return sum;
}

/* G^T M G */
static psdm_status mass(builder *b, psdm_ref *M) {
  loops *l = &b->l;
  int n = l->n, N = l->N;
  psdm_ref *half = PSDMP_BASE_NEW(l->arena, N * n, psdm_ref);
  psdm_status status = half ? of_tree(b, PSDM_F_MASS, b->tree) : PSDM_E_MEMORY;
  for (int k = 0; k < N && !status; k++)
    for (int j = 0; j < n; j++) half[k * n + j] = times_G(b, b->tree + (long)k * N, 1, j);
  for (int i = 0; i < n && !status; i++)
    for (int j = 0; j <= i; j++) M[i * n + j] = M[j * n + i] = times_G(b, half + j, n, i);
  return status;
}

/* what solves with M, without a chain */
static psdmp_codegen_trace *trace_of(builder *b) {
  psdmp_codegen_trace *t = PSDMP_BASE_NEW(b->l.arena, 1, psdmp_codegen_trace);
  psdmp_codegen_chain *chain = PSDMP_BASE_NEW(b->l.arena, 1, psdmp_codegen_chain);
  if (!t || !chain) return NULL;
  chain->n = b->l.n;
  t->g = b->l.g, t->zero = b->l.zero, t->chain = chain;
  return t;
}

/* tau - bias */
static psdm_status drive(builder *b, psdm_ref *out) {
  psdm_status status = torques(b, NULL, b->bias);
  for (int i = 0; i < b->l.n && !status; i++)
    out[i] = psdm_graph_sub(b->l.g, argument(b, PSDMP_CODEGEN_IN_TAU, i), b->bias[i]);
  return status;
}

static psdm_status forward(builder *b, psdm_ref *out) {
  psdmp_codegen_trace *t = trace_of(b);
  psdm_status status = t ? drive(b, out) : PSDM_E_MEMORY;
  if (!status) status = mass(b, b->M);
  if (!status) psdmp_codegen_solve_mass(t, b->M, out);
  return status;
}

static psdm_status inverse_mass(builder *b, psdm_ref *out) {
  psdmp_codegen_trace *t = trace_of(b);
  psdm_status status = t ? mass(b, b->M) : PSDM_E_MEMORY;
  if (!status) psdmp_codegen_inverse_mass(t, b->M, out);
  return status;
}

static psdm_status energies(builder *b, psdm_ref *out) {
  psdmp_loops_rates(&b->l, b->qd, b->v);
  return of_tree(b, PSDM_F_ENERGY, out);
}

/* a column of the standard regressor is a sum of the tree's base columns: the base parameters that it is a term of */
static psdm_ref column_at(builder *b, const psdm_ref *row, int parameter) {
  const psdm_model *m = b->code->loop->tree->model;
  psdm_ref sum = b->l.zero;
  for (int j = 0; j < m->l; j++)
    for (int t = 0; t < m->base[j].terms; t++)
      if (m->base[j].term[t].parameter == parameter)
        sum = psdm_graph_add(b->l.g, sum, psdm_graph_scale(b->l.g, m->base[j].term[t].coefficient, row[j]));
  return sum;
}

/* G^T Y, then columns of friction and drives */
static psdm_status regressor(builder *b, psdm_ref *out) {
  loops *l = &b->l;
  const psdm_code_options *o = &b->code->options;
  int n = l->n, columns = (int)b->program->outputs / n, base = b->code->model->l, tree = b->code->loop->tree->model->l;
  psdm_ref *Y = PSDMP_BASE_NEW(l->arena, tree, psdm_ref);
  psdmp_loops_rates(l, b->qd, b->v);
  psdmp_loops_accelerations(l, b->qdd, b->v, b->a);
  psdm_status status = Y ? of_tree(b, PSDM_F_REGRESSOR, b->tree) : PSDM_E_MEMORY;
  for (int i = 0; i < n && !status; i++) {
    psdm_ref *row = out + (long)i * columns, *more = row + base;
    for (int k = 0; k < tree; k++) Y[k] = times_G(b, b->tree + k, tree, i);
    for (int j = 0; j < columns; j++) row[j] = l->zero;
    for (int j = 0; j < base; j++) row[j] = column_at(b, Y, b->code->model->base[j].parameter);
    if (b->program->function != PSDM_F_REGRESSOR) continue;
    if (o->friction_columns) more[i] = psdm_graph_sign(l->g, b->qd[i]), more[n + i] = b->qd[i], more += 2 * n;
    if (o->drive_columns) more[i] = b->qdd[i];
  }
  return status;
}

static psdm_status jacobian(builder *b, psdm_ref *out) {
  psdm_status status = of_tree(b, PSDM_F_JACOBIAN, b->tree);
  for (int i = 0; i < 6 && !status; i++)
    for (int j = 0; j < b->l.n; j++) out[i * b->l.n + j] = times_G(b, b->tree + (long)i * b->l.N, 1, j);
  return status;
}

/* ---- derivatives ---- */

/* dtau/dq along the loops, dtau/dqd, M = dtau/dqdd, from torques of the arguments' motion */
static psdm_status differentiate(builder *b, const psdm_ref *tau, psdm_ref *dq, psdm_ref *dqd, psdm_ref *M) {
  loops *l = &b->l;
  int n = l->n, m = l->m, count = 3 * n + m;
  int *inputs = PSDMP_BASE_NEW(l->arena, count, int);
  psdm_ref *by = PSDMP_BASE_NEW(l->arena, count, psdm_ref);
  if (!inputs || !by) return PSDM_E_MEMORY;
  for (int i = 0; i < n; i++) {
    inputs[i] = PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK + i;
    inputs[n + i] = PSDMP_CODEGEN_IN_QD * PSDMP_CODEGEN_BLOCK + i;
    inputs[2 * n + i] = PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i;
  }
  for (int k = 0; k < m; k++) inputs[3 * n + k] = PSDMP_CODEGEN_IN_P * PSDMP_CODEGEN_BLOCK + k;
  for (int i = 0; i < n; i++) {
    psdm_status status = psdm_graph_gradient(l->g, tau[i], inputs, (size_t)count, by);
    if (status) return status;
    for (int j = 0; j < n; j++) {
      dq[i * n + j] = by[j];
      for (int k = 0; k < m; k++)
        dq[i * n + j] = psdm_graph_add(l->g, dq[i * n + j], psdm_graph_mul(l->g, by[3 * n + k], l->G[(long)k * n + j]));
      dqd[i * n + j] = by[n + j];
      if (j >= i) M[i * n + j] = M[j * n + i] = by[2 * n + j];
    }
  }
  return PSDM_OK;
}

/* torques are differentiated without G, which the derivatives by q need then */
static psdm_status linearize_inverse(builder *b, psdm_ref *out) {
  int nn = b->l.n * b->l.n;
  psdm_status status = torques(b, b->qdd, b->tau);
  if (!status && !b->l.G) psdmp_loops_find_G(&b->l);
  if (!status && b->l.arena->failed) status = PSDM_E_MEMORY;
  return status ? status : differentiate(b, b->tau, out, out + nn, out + 2 * nn);
}

/* out = -A B, (n x n) */
static void product(builder *b, const psdm_ref *A, const psdm_ref *B, psdm_ref *out) {
  int n = b->l.n;
  for (int i = 0; i < n * n; i++) {
    out[i] = b->l.zero;
    for (int k = 0; k < n; k++)
      out[i] = psdm_graph_sub(b->l.g, out[i], psdm_graph_mul(b->l.g, A[i / n * n + k], B[k * n + i % n]));
  }
}

/* the accelerations M^-1 (tau - bias) take the place of placeholders once torques are differentiated */
static psdm_status linearize_forward(builder *b, psdm_ref *out) {
  loops *l = &b->l;
  int n = l->n, nn = n * n, inputs[PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref *dq = PSDMP_BASE_NEW(l->arena, 3 * nn, psdm_ref), *dqd = dq + nn, *M = dqd + nn, *Minv = out + 2 * nn;
  psdm_ref still[PSDMP_CODEGEN_CODE_JOINTS], acceleration[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_trace *t = trace_of(b);
  if (!dq || !t) return PSDM_E_MEMORY;
  psdm_status status = torques(b, b->qdd, b->tau);
  if (!status && !l->G) psdmp_loops_find_G(l);
  if (!status && l->arena->failed) status = PSDM_E_MEMORY;
  if (!status) status = differentiate(b, b->tau, dq, dqd, M);
  if (status) return status;
  for (int i = 0; i < n; i++) {
    inputs[i] = PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i;
    still[i] = l->zero;
  }
  memcpy(b->bias, b->tau, (size_t)n * sizeof *b->bias);
  status = psdm_graph_substitute(l->g, inputs, still, (size_t)n, b->bias, (size_t)n);
  if (status) return status;
  psdmp_codegen_inverse_mass(t, M, Minv);
  for (int i = 0; i < n; i++) {
    acceleration[i] = l->zero;
    for (int k = 0; k < n; k++)
      acceleration[i] =
          psdm_graph_add(l->g, acceleration[i],
                         psdm_graph_mul(l->g, Minv[i * n + k],
                                        psdm_graph_sub(l->g, argument(b, PSDMP_CODEGEN_IN_TAU, k), b->bias[k])));
  }
  status = psdm_graph_substitute(l->g, inputs, acceleration, (size_t)n, dq, (size_t)nn);
  if (!status) status = psdm_graph_substitute(l->g, inputs, acceleration, (size_t)n, dqd, (size_t)nn);
  product(b, Minv, dq, out);
  product(b, Minv, dqd, out + nn);
  return status;
}

/* ---- terms and tasks ---- */

/* what f changes by along a small motion, which passive joints follow; NULL: zero */
static psdm_status along(builder *b, const psdm_ref *dq, const psdm_ref *dqd, const psdm_ref *dqdd, const psdm_ref *f,
                         size_t count, psdm_ref *out) {
  static const psdmp_codegen_block blocks[3] = {PSDMP_CODEGEN_IN_Q, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD};
  loops *l = &b->l;
  const psdm_ref *given[3] = {dq, dqd, dqdd};
  int n = l->n, all = 3 * n + l->m, *inputs = PSDMP_BASE_NEW(l->arena, all, int);
  psdm_ref *by = PSDMP_BASE_NEW(l->arena, all, psdm_ref);
  if (!inputs || !by) return PSDM_E_MEMORY;
  if (!l->G) psdmp_loops_find_G(l);
  if (l->arena->failed) return PSDM_E_MEMORY;
  for (int i = 0; i < 3 * n; i++) {
    inputs[i] = blocks[i / n] * PSDMP_CODEGEN_BLOCK + i % n;
    by[i] = given[i / n] ? given[i / n][i % n] : l->zero;
  }
  for (int k = 0; k < l->m; k++) {
    inputs[3 * n + k] = PSDMP_CODEGEN_IN_P * PSDMP_CODEGEN_BLOCK + k;
    by[3 * n + k] = l->zero;
    for (int j = 0; j < n && dq; j++)
      by[3 * n + k] = psdm_graph_add(l->g, by[3 * n + k], psdm_graph_mul(l->g, l->G[(long)k * n + j], dq[j]));
  }
  return psdm_graph_along(l->g, inputs, by, (size_t)all, f, count, out);
}

/* half of what torques change by with rates */
static psdm_status coriolis(builder *b, psdm_ref *C) {
  int nn = b->l.n * b->l.n;
  psdm_ref *other = PSDMP_BASE_NEW(b->l.arena, 2 * nn, psdm_ref);
  psdm_status status = other ? torques(b, NULL, b->tau) : PSDM_E_MEMORY;
  if (!status && !b->l.G) psdmp_loops_find_G(&b->l);
  if (!status) status = b->l.arena->failed ? PSDM_E_MEMORY : differentiate(b, b->tau, other, C, other + nn);
  for (int i = 0; i < nn && !status; i++) C[i] = psdm_graph_scale(b->l.g, 0.5, C[i]);
  return status;
}

static psdm_status mass_rate(builder *b, psdm_ref *out) {
  int n = b->l.n;
  psdm_ref *C = PSDMP_BASE_NEW(b->l.arena, n * n, psdm_ref);
  psdm_status status = C ? coriolis(b, C) : PSDM_E_MEMORY;
  for (int i = 0; i < n * n && !status; i++) out[i] = psdm_graph_add(b->l.g, C[i], C[i % n * n + i / n]);
  return status;
}

static psdm_status gravity(builder *b, psdm_ref *out) {
  psdm_status status = of_tree(b, PSDM_F_GRAVITY, b->tree);
  if (!status) psdmp_loops_restrict(&b->l, b->tree, out);
  return status;
}

/* p = M qd, and C^T qd */
static psdm_status momentum(builder *b, psdm_ref *p, psdm_ref *gradient) {
  int n = b->l.n;
  psdm_graph *g = b->l.g;
  psdm_ref *C = PSDMP_BASE_NEW(b->l.arena, n * n, psdm_ref);
  psdm_status status = C ? mass(b, b->M) : PSDM_E_MEMORY;
  if (!status) status = coriolis(b, C);
  for (int i = 0; i < n && !status; i++) {
    p[i] = gradient[i] = b->l.zero;
    for (int k = 0; k < n; k++) {
      p[i] = psdm_graph_add(g, p[i], psdm_graph_mul(g, b->M[i * n + k], b->qd[k]));
      gradient[i] = psdm_graph_add(g, gradient[i], psdm_graph_mul(g, C[k * n + i], b->qd[k]));
    }
  }
  return status;
}

static psdm_status momentum_rate(builder *b, psdm_ref *out) {
  psdm_status status = momentum(b, b->bias, out);
  if (!status) status = gravity(b, b->bias);
  for (int i = 0; i < b->l.n && !status; i++)
    out[i] = psdm_graph_add(b->l.g, argument(b, PSDMP_CODEGEN_IN_TAU, i), psdm_graph_sub(b->l.g, out[i], b->bias[i]));
  return status;
}

static psdm_status innovations(builder *b, psdm_ref *out) {
  int n = b->l.n, place[PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref *room = PSDMP_BASE_NEW(b->l.arena, n * n, psdm_ref);
  psdmp_codegen_trace *t = trace_of(b);
  psdm_status status = t && room ? mass(b, b->M) : PSDM_E_MEMORY;
  for (int i = 0; i < n; i++) place[i] = i;
  if (!status) psdmp_codegen_factors_of(t, place, b->M, room, out);
  return status;
}

static void arguments(builder *b, psdmp_codegen_block block, psdm_ref *x) {
  for (int i = 0; i < b->l.n; i++) x[i] = argument(b, block, i);
}

static psdm_status inverse_along(builder *b, psdm_ref *out) {
  psdm_ref dq[PSDMP_CODEGEN_CODE_JOINTS], dqd[PSDMP_CODEGEN_CODE_JOINTS], dqdd[PSDMP_CODEGEN_CODE_JOINTS];
  arguments(b, PSDMP_CODEGEN_IN_DQ, dq);
  arguments(b, PSDMP_CODEGEN_IN_DQD, dqd);
  arguments(b, PSDMP_CODEGEN_IN_DQDD, dqdd);
  psdm_status status = torques(b, b->qdd, out);
  return status ? status : along(b, dq, dqd, dqdd, out, (size_t)b->l.n, out);
}

/* what dq and dqd change torques by, at accelerations that placeholders stand for while it is found */
static psdm_status forward_along(builder *b, psdm_ref *out) {
  loops *l = &b->l;
  int n = l->n, inputs[PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref dq[PSDMP_CODEGEN_CODE_JOINTS], dqd[PSDMP_CODEGEN_CODE_JOINTS], qdd[PSDMP_CODEGEN_CODE_JOINTS],
      *M = PSDMP_BASE_NEW(l->arena, n * n, psdm_ref);
  psdmp_codegen_trace *t = trace_of(b);
  arguments(b, PSDMP_CODEGEN_IN_DQ, dq);
  arguments(b, PSDMP_CODEGEN_IN_DQD, dqd);
  psdm_status status = t && M ? torques(b, b->qdd, out) : PSDM_E_MEMORY;
  if (!status) status = along(b, dq, dqd, NULL, out, (size_t)n, out);
  if (!status) status = forward(b, qdd);
  if (!status) status = mass(b, M);
  for (int i = 0; i < n; i++) inputs[i] = PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i;
  if (!status) status = psdm_graph_substitute(l->g, inputs, qdd, (size_t)n, out, (size_t)n);
  for (int i = 0; i < n && !status; i++) out[i] = psdm_graph_sub(l->g, argument(b, PSDMP_CODEGEN_IN_DTAU, i), out[i]);
  if (!status) psdmp_codegen_solve_mass(t, M, out);
  return status;
}

/* -M^-1 Y at the accelerations of the torques */
static psdm_status sensitivity(builder *b, psdm_ref *out) {
  int n = b->l.n, columns = (int)b->program->outputs / n;
  psdm_ref qdd[PSDMP_CODEGEN_CODE_JOINTS], inverse[PSDMP_CODEGEN_CODE_JOINTS], x[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_trace *t = trace_of(b);
  psdm_status status = t ? forward(b, qdd) : PSDM_E_MEMORY;
  if (status) return status;
  memcpy(b->qdd, qdd, sizeof *qdd * (size_t)n);
  status = regressor(b, out);
  if (!status) status = mass(b, b->M);
  if (status) return status;
  psdmp_codegen_factorise(t, n, 0, b->M, inverse);
  for (int c = 0; c < columns; c++) {
    for (int i = 0; i < n; i++) x[i] = psdm_ref_neg(out[(long)i * columns + c]);
    psdmp_codegen_solve_factors(t, n, b->M, inverse, x);
    for (int i = 0; i < n; i++) out[(long)i * columns + c] = x[i];
  }
  return PSDM_OK;
}

static psdm_status task_jacobian(builder *b, int m, psdm_ref *J) {
  psdm_status status = of_tree(b, PSDM_F_CARTESIAN_JACOBIAN, b->tree);
  for (int i = 0; i < m && !status; i++)
    for (int j = 0; j < b->l.n; j++) J[i * b->l.n + j] = times_G(b, b->tree + (long)i * b->l.N, 1, j);
  return status;
}

/* c is quadratic in rates: half of what they change it by along themselves; and dJ/dt qd */
static psdm_status task_rates(builder *b, int m, psdmp_codegen_task_parts *p) {
  int n = b->l.n;
  psdm_status status = torques(b, NULL, p->forces);
  if (!status) status = along(b, NULL, b->qd, NULL, p->forces, (size_t)n, p->forces);
  for (int i = 0; i < n; i++) p->forces[i] = psdm_graph_scale(b->l.g, 0.5, p->forces[i]);
  for (int i = 0; i < m; i++) {
    p->drift[i] = b->l.zero;
    for (int j = 0; j < n; j++)
      p->drift[i] = psdm_graph_add(b->l.g, p->drift[i], psdm_graph_mul(b->l.g, p->J[i * n + j], b->qd[j]));
  }
  return status ? status : along(b, b->qd, NULL, NULL, p->drift, (size_t)m, p->drift);
}

static psdm_status task(builder *b, psdm_function f, psdm_ref *out) {
  loops *l = &b->l;
  int n = l->n, m = psdmp_codegen_width(&b->code->options, 0, f);
  psdm_ref forces[PSDMP_CODEGEN_CODE_JOINTS], drift[PSDM_DIRECTIONS],
      *room = PSDMP_BASE_NEW(l->arena, (int)psdmp_codegen_task_room(n) + 2 * m * n + n * n, psdm_ref);
  psdmp_codegen_trace *t = trace_of(b);
  if (!room || !t) return PSDM_E_MEMORY;
  t->options = &b->code->options;
  psdmp_codegen_task_parts p = {.M = b->M, .forces = forces, .drift = drift};
  p.J = f == PSDM_F_CARTESIAN_JACOBIAN ? out : room;
  p.J_rate = room + m * n;
  p.C = p.J_rate + m * n;
  psdm_status status = task_jacobian(b, m, p.J);
  if (status || f == PSDM_F_CARTESIAN_JACOBIAN) return status;
  if (f == PSDM_F_CARTESIAN_CORIOLIS) status = task_rates(b, m, &p);
  else p.drift = NULL;
  if (!status && f == PSDM_F_CARTESIAN_GRAVITY) status = gravity(b, forces);
  if (!status && f == PSDM_F_CARTESIAN_FACTOR) status = along(b, b->qd, NULL, NULL, p.J, (size_t)(m * n), p.J_rate);
  if (!status && f == PSDM_F_CARTESIAN_FACTOR) status = coriolis(b, p.C);
  if (!status) status = mass(b, b->M);
  if (!status) psdmp_codegen_task_of(t, f, &p, p.C + n * n, out);
  return status;
}

/* ---- all ---- */

/* below so many joints, G costs less than what it spares */
enum { FEW = 2 };

static bool wants_G(psdm_function f, int n) {
  bool vectors = f == PSDM_F_INVERSE || f == PSDM_F_BIAS || f == PSDM_F_GRAVITY || f == PSDM_F_ENERGY,
       derivatives = f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD;
  return f != PSDM_F_POSE && (n <= FEW || !(vectors || derivatives));
}

static psdm_status build_function(builder *b, psdm_function f, psdm_ref *out) {
  switch (f) {
    case PSDM_F_INVERSE: return torques(b, b->qdd, out);
    case PSDM_F_BIAS: return torques(b, NULL, out);
    case PSDM_F_GRAVITY: return gravity(b, out);
    case PSDM_F_MASS: return mass(b, out);
    case PSDM_F_FORWARD: return forward(b, out);
    case PSDM_F_REGRESSOR: return regressor(b, out);
    case PSDM_F_ENERGY: return energies(b, out);
    case PSDM_F_JACOBIAN: return jacobian(b, out);
    case PSDM_F_POSE: return of_tree(b, f, out);
    case PSDM_F_LINEARIZE_INVERSE: return linearize_inverse(b, out);
    case PSDM_F_LINEARIZE_FORWARD: return linearize_forward(b, out);
    case PSDM_F_INVERSE_MASS: return inverse_mass(b, out);
    case PSDM_F_CORIOLIS: return coriolis(b, out);
    case PSDM_F_MASS_RATE: return mass_rate(b, out);
    case PSDM_F_MOMENTUM: return momentum(b, out, out + b->l.n);
    case PSDM_F_MOMENTUM_RATE: return momentum_rate(b, out);
    case PSDM_F_INNOVATIONS: return innovations(b, out);
    case PSDM_F_INVERSE_ALONG: return inverse_along(b, out);
    case PSDM_F_FORWARD_ALONG: return forward_along(b, out);
    case PSDM_F_SENSITIVITY: return sensitivity(b, out);
    default: return psdm_function_is_task(f) ? task(b, f, out) : PSDM_E_ARGUMENT;
  }
}

psdm_status psdmp_codegen_build_closed(psdm_code *code, psdm_function f, bool plain, psdmp_base_arena *arena,
                                       psdmp_codegen_program *program, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = arena->allocator};
  builder b = {.code = code, .program = program, .error = error, .plain = plain};
  psdm_error why = {0};
  b.error = &why;
  psdm_status status =
      psdmp_codegen_program_shape(code->robot, code->model->l, &code->options, f, arena, program, error);
  if (status) return status;
  program->method = "recursive";
  program->inner = NULL;
  if (!start(&b, code, &scratch)) status = PSDM_E_MEMORY;
  if (!status && wants_G(f, code->robot->n)) psdmp_loops_find_G(&b.l);
  if (!status) status = scratch.failed ? PSDM_E_MEMORY : build_function(&b, f, program->output);
  if (!status) status = scratch.failed ? PSDM_E_MEMORY : psdm_graph_status(program->graph);
  psdmp_base_arena_free(&scratch);
  if (status && why.text[0] && error) *error = why;
  else if (status)
    psdmp_base_fail(error, status, code->robot->file, 0, 0, "%s while generating '%s'", psdm_status_text(status),
                    program->name);
  return status;
}
