/* differentiate.c: derivatives of graph outputs as new nodes of the graph. */
#include "expr/graph_priv.h"

/* to += r, with the sign of the reference that reached the node */
static void collect(psdm_graph *g, psdm_ref *adjoint, psdm_ref operand, psdm_ref r) {
  psdm_ref *to = &adjoint[operand >> 1];
  *to = psdm_graph_add(g, *to, operand & 1u ? psdm_ref_neg(r) : r);
}

/* 1 inside -1 to 1, else 0: with s the sign of 1 - a^2 it is s (s + 1) / 2 */
static psdm_ref inside(psdm_graph *g, psdm_ref a) {
  psdm_ref s = psdm_graph_sign(g, psdm_graph_sub(g, psdm_graph_const(g, 1), psdm_graph_mul(g, a, a)));
  return psdm_graph_scale(g, 0.5, psdm_graph_mul(g, s, psdm_graph_add(g, s, psdm_graph_const(g, 1))));
}

/* b |a|^(b - 1) sign(a) */
static psdm_ref slope_of_power(psdm_graph *g, psdm_ref a, psdm_ref b) {
  double exponent = 1;
  psdm_graph_is_const(g, b, &exponent);
  return psdm_graph_scale(g, exponent, psdm_graph_mul(g, psdm_graph_pow(g, a, exponent - 1), psdm_graph_sign(g, a)));
}

/* r times the derivative of a function of one operand; zero where it has none */
static psdm_ref times_slope(psdm_graph *g, uint32_t k, psdm_ref r) {
  psdm_node n = psdm_graph_node(g, k);
  psdm_ref self = 2 * k;
  switch (n.op) {
    case PSDM_OP_RECIP: return psdm_ref_neg(psdm_graph_mul(g, r, psdm_graph_mul(g, self, self)));
    case PSDM_OP_SIN: return psdm_graph_mul(g, r, psdm_graph_cos(g, n.a));
    case PSDM_OP_COS: return psdm_ref_neg(psdm_graph_mul(g, r, psdm_graph_sin(g, n.a)));
    case PSDM_OP_SQRT: return psdm_graph_scale(g, 0.5, psdm_graph_mul(g, r, psdm_graph_recip(g, self)));
    case PSDM_OP_EXP: return psdm_graph_mul(g, r, self);
    case PSDM_OP_TANH:
      return psdm_graph_mul(g, r, psdm_graph_sub(g, psdm_graph_const(g, 1), psdm_graph_mul(g, self, self)));
    case PSDM_OP_CLIP: return psdm_graph_mul(g, r, inside(g, n.a));
    case PSDM_OP_POW: return psdm_graph_mul(g, r, slope_of_power(g, n.a, n.b));
    default: return psdm_graph_const(g, 0); /* the sign's derivative is zero, where it exists */
  }
}

/* adds a node's contribution to its operands */
static void pass_on(psdm_graph *g, uint32_t k, psdm_ref *adjoint) {
  psdm_node n = psdm_graph_node(g, k);
  psdm_ref r = adjoint[k];
  switch (n.op) {
    case PSDM_OP_ADD:
      collect(g, adjoint, n.a, r);
      collect(g, adjoint, n.b, r);
      break;
    case PSDM_OP_MUL:
      collect(g, adjoint, n.a, psdm_graph_mul(g, r, n.b & ~1u));
      collect(g, adjoint, n.b, psdm_graph_mul(g, r, n.a & ~1u));
      break;
    case PSDM_OP_CONST:
    case PSDM_OP_INPUT:
    case PSDM_OP_SIGN:
    case PSDM_OP_PAIR:
    case PSDM_OP_BRISTLES: break;
    default: collect(g, adjoint, n.a, times_slope(g, k, r));
  }
}

psdm_status psdm_graph_gradient(psdm_graph *g, psdm_ref output, const int *inputs, size_t count, psdm_ref *gradient) {
  uint32_t size = g->size;
  psdm_ref zero = psdm_graph_const(g, 0);
  if (output == PSDM_REF_NONE || g->status) return g->status ? g->status : PSDM_E_ARGUMENT;
  psdm_ref *adjoint = psdmp_base_alloc_raw(g->allocator, ((size_t)size + 1) * sizeof *adjoint);
  if (!adjoint) return PSDM_E_MEMORY;
  for (uint32_t k = 0; k < size; k++) adjoint[k] = zero;
  /* backwards: a node's adjoint is complete before its operands' */
  adjoint[output >> 1] = psdm_graph_const(g, output & 1u ? -1 : 1);
  psdm_status status = PSDM_OK;
  for (uint32_t k = (output >> 1) + 1; k-- > 0;) {
    if (adjoint[k] == zero) continue;
    if (psdmp_expr_op(g, 2 * k) == PSDM_OP_BRISTLES) status = PSDM_E_ARGUMENT;
    pass_on(g, k, adjoint);
  }
  for (size_t i = 0; i < count; i++) {
    psdm_ref input = psdm_graph_input(g, inputs[i]);
    gradient[i] = input != PSDM_REF_NONE && input >> 1 < size ? adjoint[input >> 1] : zero;
  }
  psdmp_base_free(g->allocator, adjoint);
  return g->status ? g->status : status;
}

/* of an operand, with its sign */
static psdm_ref change_of(const psdm_ref *change, psdm_ref operand) {
  psdm_ref c = change[operand >> 1];
  return operand & 1u ? psdm_ref_neg(c) : c;
}

/* whether what a bristle's step is made of changes; operands are pairs of pairs */
static bool changes(const psdm_graph *g, uint32_t k, psdm_ref zero, const psdm_ref *change) {
  psdm_ref operand[PSDMP_EXPR_BRISTLES];
  psdmp_expr_bristles_operands(g, k, operand);
  for (int i = 0; i < PSDMP_EXPR_BRISTLES; i++)
    if (change[operand[i] >> 1] != zero) return true;
  return false;
}

/* what a node changes by, from what its operands do */
static psdm_ref change_at(psdm_graph *g, uint32_t k, psdm_ref zero, const psdm_ref *change, psdm_status *status) {
  psdm_node n = psdm_graph_node(g, k);
  switch (n.op) {
    case PSDM_OP_ADD: return psdm_graph_add(g, change_of(change, n.a), change_of(change, n.b));
    case PSDM_OP_MUL:
      return psdm_graph_add(g, psdm_graph_mul(g, change_of(change, n.a), n.b),
                            psdm_graph_mul(g, n.a, change_of(change, n.b)));
    case PSDM_OP_BRISTLES:
      if (changes(g, k, zero, change)) *status = PSDM_E_ARGUMENT;
      return zero;
    case PSDM_OP_CONST:
    case PSDM_OP_INPUT:
    case PSDM_OP_SIGN:
    case PSDM_OP_PAIR: return zero;
    default: return change[n.a >> 1] == zero ? zero : times_slope(g, k, change_of(change, n.a));
  }
}

psdm_status psdm_graph_along(psdm_graph *g, const int *inputs, const psdm_ref *by, size_t count,
                             const psdm_ref *outputs, size_t output_count, psdm_ref *along) {
  psdm_ref zero = psdm_graph_const(g, 0);
  for (size_t i = 0; i < count; i++) psdm_graph_input(g, inputs[i]);
  uint32_t size = g->size;
  for (size_t i = 0; i < output_count; i++)
    if (outputs[i] == PSDM_REF_NONE || g->status) return g->status ? g->status : PSDM_E_ARGUMENT;
  psdm_ref *change = psdmp_base_alloc_raw(g->allocator, ((size_t)size + 1) * sizeof *change);
  bool *live = psdmp_base_alloc_raw(g->allocator, (size_t)size + 1);
  psdm_status status = change && live ? PSDM_OK : PSDM_E_MEMORY;
  if (!status) psdmp_expr_graph_mark(g, outputs, output_count, live);
  for (uint32_t k = 0; k < size && !status; k++) change[k] = zero;
  for (size_t i = 0; i < count && !status; i++) change[psdm_graph_input(g, inputs[i]) >> 1] = by[i];
  for (uint32_t k = 0; k < size && !status; k++)
    if (live[k] && psdmp_expr_op(g, 2 * k) != PSDM_OP_INPUT) change[k] = change_at(g, k, zero, change, &status);
  for (size_t i = 0; i < output_count && !status; i++) along[i] = change_of(change, outputs[i]);
  psdmp_base_free(g->allocator, change);
  psdmp_base_free(g->allocator, live);
  return g->status ? g->status : status;
}
