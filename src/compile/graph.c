/* graph.c: evaluates the operation graph where no compiler is installed: live nodes renumbered once, one operation
 * after the other. */
#include <math.h>

#include "compile/compile.h"

static psdm_ref renumber(const uint32_t *number, psdm_ref r) {
  return r == PSDM_REF_NONE ? r : 2 * number[psdm_ref_node(r)] + (r & 1u);
}

/* position of a block among the existing arguments */
static psdm_ref argument_of(const psdmp_codegen_program *p, int block) {
  psdm_ref at = 0;
  for (int b = 0; b < block; b++) at += p->length[b] > 0;
  return at;
}

static psdmp_compile_step make_step(const psdmp_codegen_program *p, const psdm_node *n, const uint32_t *number) {
  psdmp_compile_step s = {.op = n->op, .value = n->value};
  if (n->op == PSDM_OP_INPUT) {
    s.a = argument_of(p, n->input / PSDMP_CODEGEN_BLOCK);
    s.b = (psdm_ref)(n->input % PSDMP_CODEGEN_BLOCK);
  } else if (n->op != PSDM_OP_CONST) {
    s.a = renumber(number, n->a);
    s.b = renumber(number, n->b);
  }
  return s;
}

static psdm_status compact(const psdmp_codegen_program *p, psdmp_base_arena *arena, psdmp_base_arena *scratch,
                           psdmp_compile_unit *u) {
  uint32_t nodes = psdm_graph_size(p->graph);
  bool *live = psdmp_base_arena_alloc(scratch, nodes + 1);
  uint32_t *number = psdmp_base_arena_alloc(scratch, ((size_t)nodes + 1) * sizeof *number);
  if (!live || !number) return PSDM_E_MEMORY;
  psdmp_expr_graph_mark(p->graph, p->output, p->outputs, live);
  for (uint32_t k = 0; k < nodes; k++) number[k] = u->steps, u->steps += live[k];
  u->step = psdmp_base_arena_alloc(arena, ((size_t)u->steps + 1) * sizeof *u->step);
  u->output = psdmp_base_arena_alloc(arena, (p->outputs + 1) * sizeof *u->output);
  if (!u->step || !u->output) return PSDM_E_MEMORY;
  for (uint32_t k = 0; k < nodes; k++) {
    psdm_node n = psdm_graph_node(p->graph, k);
    if (live[k]) u->step[number[k]] = make_step(p, &n, number);
  }
  for (size_t k = 0; k < p->outputs; k++) u->output[k] = renumber(number, p->output[k]);
  return PSDM_OK;
}

psdm_status psdmp_compile_graph_units(const psdm_code *code, psdm_compiled *c) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < code->programs && !status; k++) {
    psdmp_base_arena scratch = {.allocator = c->arena.allocator};
    psdmp_compile_unit *u = &c->unit[code->program[k].function];
    status = compact(&code->program[k], &c->arena, &scratch, u);
    if (u->steps > c->scratch) c->scratch = u->steps;
    psdmp_base_arena_free(&scratch);
  }
  return status;
}

static double read(const void *array, bool single, size_t at) {
  return single ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static void store(void *array, bool single, size_t at, double x) {
  if (single) ((float *)array)[at] = (float)x;
  else ((double *)array)[at] = x;
}

#define VALUE(r) ((r)&1u ? -v[(r) >> 1] : v[(r) >> 1])

/* its operands are two pairs of pairs, which are steps without a value */
static double bristles(const psdmp_compile_step *step, const psdmp_compile_step *s, const double *v) {
  double x[PSDMP_EXPR_BRISTLES];
  for (int k = 0; k < PSDMP_EXPR_BRISTLES; k++) {
    const psdmp_compile_step *half = &step[psdm_ref_node(k & 4 ? s->b : s->a)],
                             *two = &step[psdm_ref_node(k & 2 ? half->b : half->a)];
    x[k] = VALUE(k & 1 ? two->b : two->a);
  }
  return psdmp_expr_bristles(x);
}

static double compute(const psdmp_compile_step *step, const psdmp_compile_step *s, const double *v) {
  switch (s->op) {
    case PSDM_OP_CONST: return s->value;
    case PSDM_OP_ADD: return VALUE(s->a) + VALUE(s->b);
    case PSDM_OP_MUL: return VALUE(s->a) * VALUE(s->b);
    case PSDM_OP_BRISTLES: return bristles(step, s, v);
    default: return psdmp_expr_value(s->op, VALUE(s->a), s->b == PSDM_REF_NONE ? 0 : VALUE(s->b));
  }
}

void psdmp_compile_graph_run(const psdmp_compile_unit *u, bool single, size_t stride, size_t i,
                             const void *const *arguments, void *const *results, double *v) {
  for (uint32_t k = 0; k < u->steps; k++) {
    const psdmp_compile_step *s = &u->step[k];
    if (s->op == PSDM_OP_INPUT)
      v[k] = read(arguments[s->a], single, u->argument[s->a].shared ? s->b : s->b * stride + i);
    else v[k] = compute(u->step, s, v);
  }
  const psdm_ref *output = u->output;
  for (int r = 0; r < u->results; r++)
    for (int k = 0; k < u->result[r].length; k++, output++)
      store(results[r], single, (size_t)k * stride + i, VALUE(*output));
}
