/* substitute.c: replaces inputs by expressions. */
#include "expr/graph_priv.h"

/* rebuilds the node from its new operands */
static psdm_ref rebuild(psdm_graph *g, uint32_t k, const psdm_ref *now) {
  psdm_node n = psdm_graph_node(g, k);
  psdm_ref a = n.a == PSDM_REF_NONE ? n.a : now[n.a >> 1], b = n.b == PSDM_REF_NONE ? n.b : now[n.b >> 1];
  if (a != PSDM_REF_NONE) a ^= n.a & 1u;
  if (b != PSDM_REF_NONE) b ^= n.b & 1u;
  return psdmp_expr_build(g, n.op, a, b);
}

psdm_status psdm_graph_substitute(psdm_graph *g, const int *inputs, const psdm_ref *by, size_t count, psdm_ref *outputs,
                                  size_t output_count) {
  uint32_t size = g->size;
  if (g->status || !size) return g->status;
  psdm_ref *now = psdmp_base_alloc_raw(g->allocator, size * sizeof *now);
  uint32_t *used = psdmp_base_alloc(g->allocator, size * sizeof *used);
  psdm_status status = now && used ? PSDM_OK : PSDM_E_MEMORY;
  for (uint32_t k = 0; k < size && !status; k++) now[k] = 2 * k;
  for (size_t i = 0; i < count && !status; i++) {
    psdm_ref input = psdm_graph_input(g, inputs[i]);
    if (input != PSDM_REF_NONE && input >> 1 < size) now[input >> 1] = by[i];
  }
  if (!status) psdmp_expr_graph_uses(g, outputs, output_count, used);
  for (uint32_t k = 0; k < size && !status; k++)
    if (used[k] && psdmp_expr_arity((psdm_op)g->node[k].op) > 0) now[k] = rebuild(g, k, now);
  for (size_t i = 0; i < output_count && !status; i++) {
    psdm_ref r = now[outputs[i] >> 1];
    outputs[i] = r == PSDM_REF_NONE ? r : r ^ (outputs[i] & 1u);
  }
  psdmp_base_free(g->allocator, now);
  psdmp_base_free(g->allocator, used);
  return status ? status : g->status;
}
