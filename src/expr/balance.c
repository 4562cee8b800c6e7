/* balance.c: the same sums and products, associated so that late operands go in last. */
#include "expr/graph_priv.h"
#include "expr/nary_priv.h"

static bool costs_no_more(const psdm_cost *now, const psdm_cost *before) {
  return now->mult + now->add <= before->mult + before->add && now->mult <= before->mult && now->add <= before->add &&
         now->depth <= before->depth && now->div <= before->div;
}

psdm_status psdm_graph_balance(psdm_graph *g, psdm_ref *outputs, size_t count) {
  psdm_cost before, now;
  psdmp_expr_nary n = {.allocator = g->allocator};
  if (!count) return g->status;
  psdm_status status = psdm_graph_cost(g, outputs, count, &before);
  if (status) return status;
  psdm_ref *fresh = psdmp_base_alloc_raw(g->allocator, count * sizeof *fresh);
  status = fresh && psdmp_expr_nary_read(&n, g, outputs, count, false) ? PSDM_OK : PSDM_E_MEMORY;
  if (!status) status = psdmp_expr_nary_write(&n, g, fresh);
  if (!status) status = psdm_graph_cost(g, fresh, count, &now);
  if (!status && costs_no_more(&now, &before))
    for (size_t k = 0; k < count; k++) outputs[k] = fresh[k];
  psdmp_expr_nary_free(&n);
  psdmp_base_free(g->allocator, fresh);
  return status;
}
