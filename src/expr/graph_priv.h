/* graph_priv.h: the nodes of an operation graph. Private to the room. */
#ifndef PSDMP_EXPR_GRAPH_PRIV_H
#define PSDMP_EXPR_GRAPH_PRIV_H

#include "expr/expr.h"

/* A node in 16 bytes; the meaning of a and b depends on op. */
typedef struct psdmp_expr_node {
  union {
    struct {
      psdm_ref a, b;
    } of;
    double value; /* CONST */
    int input;    /* INPUT */
  } u;
  uint32_t hash;
  uint32_t op;
} psdmp_expr_node;

struct psdm_graph {
  const psdm_allocator *allocator;
  psdm_status status;
  psdmp_expr_node *node; /* (room) */
  uint32_t size, room;
  uint32_t *slot; /* (slots) node + 1, 0: free; open addressing, a power of two, never more than half full */
  uint32_t slots;
};

static inline psdm_op psdmp_expr_op(const psdm_graph *g, psdm_ref r) { return (psdm_op)g->node[r >> 1].op; }
static inline psdm_ref psdmp_expr_a(const psdm_graph *g, psdm_ref r) { return g->node[r >> 1].u.of.a; }
static inline psdm_ref psdmp_expr_b(const psdm_graph *g, psdm_ref r) { return g->node[r >> 1].u.of.b; }

/* Counts in used (size, zeroed by the caller) how often the outputs' live part uses each node; outputs count as
 * uses. */
void psdmp_expr_graph_uses(const psdm_graph *g, const psdm_ref *outputs, size_t count, uint32_t *used);

#endif
