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

/* adds a node's contribution to its operands */
static void pass_on(psdm_graph *g, uint32_t k, psdm_ref *adjoint) {
  psdm_node n = psdm_graph_node(g, k);
  psdm_ref r = adjoint[k], self = 2 * k;
  switch (n.op) {
    case PSDM_OP_ADD:
      collect(g, adjoint, n.a, r);
      collect(g, adjoint, n.b, r);
      break;
    case PSDM_OP_MUL:
      collect(g, adjoint, n.a, psdm_graph_mul(g, r, n.b & ~1u));
      collect(g, adjoint, n.b, psdm_graph_mul(g, r, n.a & ~1u));
      break;
    case PSDM_OP_RECIP:
      collect(g, adjoint, n.a, psdm_ref_neg(psdm_graph_mul(g, r, psdm_graph_mul(g, self, self))));
      break;
    case PSDM_OP_SIN: collect(g, adjoint, n.a, psdm_graph_mul(g, r, psdm_graph_cos(g, n.a))); break;
    case PSDM_OP_COS: collect(g, adjoint, n.a, psdm_ref_neg(psdm_graph_mul(g, r, psdm_graph_sin(g, n.a)))); break;
    case PSDM_OP_SQRT:
      collect(g, adjoint, n.a, psdm_graph_scale(g, 0.5, psdm_graph_mul(g, r, psdm_graph_recip(g, self))));
      break;
    case PSDM_OP_EXP: collect(g, adjoint, n.a, psdm_graph_mul(g, r, self)); break;
    case PSDM_OP_TANH:
      collect(g, adjoint, n.a,
              psdm_graph_mul(g, r, psdm_graph_sub(g, psdm_graph_const(g, 1), psdm_graph_mul(g, self, self))));
      break;
    case PSDM_OP_CLIP: collect(g, adjoint, n.a, psdm_graph_mul(g, r, inside(g, n.a))); break;
    case PSDM_OP_POW: collect(g, adjoint, n.a, psdm_graph_mul(g, r, slope_of_power(g, n.a, n.b))); break;
    default: break; /* the sign's derivative is zero, where it exists */
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
