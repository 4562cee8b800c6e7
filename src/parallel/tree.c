/* tree.c: sums in the order of a binary tree over the numbers of their parts.
 *
 * Neighbours 2k and 2k + 1 of a level become k of the next as soon as both exist. Whoever has a run of parts can add up
 * its complete subtrees and pass on the rest: the sums are the same, bit for bit. Nodes without a neighbour at the end
 * are added from the right. */
#include "parallel/parallel.h"

static psdm_status merge_last(psdmp_parallel_tree *t) {
  psdmp_parallel_tree_node *left = &t->node[t->count - 2], *right = &t->node[t->count - 1];
  void *part = right->part;
  t->count--;
  if (part && left->part) return t->way.merge(t->way.user, left->part, part);
  if (part) left->part = part;
  return PSDM_OK;
}

static bool neighbours(const psdmp_parallel_tree_node *left, const psdmp_parallel_tree_node *right) {
  return left->level == right->level && left->index % 2 == 0 && right->index == left->index + 1;
}

psdm_status psdmp_parallel_tree_add(psdmp_parallel_tree *t, long index, int level, void *part) {
  if (t->count == (int)(sizeof t->node / sizeof *t->node)) {
    if (part) t->way.release(t->way.user, part);
    return PSDM_E_LIMIT;
  }
  t->node[t->count++] = (psdmp_parallel_tree_node){index, level, part};
  while (t->count > 1 && neighbours(&t->node[t->count - 2], &t->node[t->count - 1])) {
    psdm_status status = merge_last(t);
    if (status) return status;
    psdmp_parallel_tree_node *whole = &t->node[t->count - 1];
    whole->index /= 2;
    whole->level++;
  }
  return PSDM_OK;
}

psdm_status psdmp_parallel_tree_end(psdmp_parallel_tree *t, void **part) {
  psdm_status status = PSDM_OK;
  *part = NULL;
  while (t->count > 1 && !status) status = merge_last(t);
  if (status) return psdmp_parallel_tree_free(t), status;
  if (t->count) *part = t->node[0].part;
  t->count = 0;
  return PSDM_OK;
}

void psdmp_parallel_tree_free(psdmp_parallel_tree *t) {
  while (t->count)
    if (t->node[--t->count].part) t->way.release(t->way.user, t->node[t->count].part);
}
