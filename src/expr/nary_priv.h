/* nary_priv.h: the live part of a graph as sums and products of many operands, where re-association and factoring
 * are list work. Private to the room. */
#ifndef PSDMP_EXPR_NARY_H
#define PSDMP_EXPR_NARY_H

#include "base/base.h"
#include "psdm/expr.h"

/* An operand is 2 * item + (1 when negated), like references to nodes. */
typedef struct psdmp_expr_item {
  uint32_t op;            /* psdm_op; ADD and MUL have any number of operands */
  uint32_t first, length; /* operands, into pool; those of a product have no sign */
  uint32_t uses;          /* by operands and outputs */
  uint32_t sign;          /* 1: a product that is negated as a whole */
  int input;              /* INPUT */
  double value;           /* CONST */
} psdmp_expr_item;

/* Zero-initialise with the allocator set. */
typedef struct psdmp_expr_nary {
  const psdm_allocator *allocator;
  psdmp_expr_item *item; /* (items) */
  uint32_t items, item_room;
  uint32_t *pool; /* (pooled) */
  uint32_t pooled, pool_room;
  uint32_t *output; /* (outputs) operands */
  size_t outputs;
} psdmp_expr_nary;

/* Makes room for need elements in *array (array is a pointer to the pointer), at least doubling. False when out of
 * memory; the array is unchanged. */
bool psdmp_expr_reserve(const psdm_allocator *allocator, void *array, uint32_t *room, size_t need, size_t element);

/* Reads what the outputs reach: sums and products absorb operands of their own kind that have no other user. doubles: x
 * + x is the product 2 x. Items are numbered operands first. False when out of memory. */
bool psdmp_expr_nary_read(psdmp_expr_nary *nary, const psdm_graph *graph, const psdm_ref *outputs, size_t count,
                          bool doubles);

/* A new item with room for length operands, none filled in; UINT32_MAX when out of memory. */
uint32_t psdmp_expr_nary_item(psdmp_expr_nary *nary, psdm_op op, uint32_t length);

/* Writes the items that outputs need into graph, the two earliest operands of each sum and product first. */
psdm_status psdmp_expr_nary_write(const psdmp_expr_nary *nary, psdm_graph *graph, psdm_ref *outputs);

void psdmp_expr_nary_free(psdmp_expr_nary *nary);

#endif
