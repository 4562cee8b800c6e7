/* nary.c: converts nodes of two operands to items of many, and back. */
#include "expr/nary_priv.h"

#include <string.h>

#include "expr/graph_priv.h"
#include "expr/heap_priv.h"

bool psdmp_expr_reserve(const psdm_allocator *allocator, void *array, uint32_t *room, size_t need, size_t element) {
  void *memory;
  if (need <= *room) return true;
  memcpy(&memory, array, sizeof memory);
  size_t fresh = *room ? 2 * (size_t)*room : 256;
  if (fresh < need) fresh = need;
  if (fresh > UINT32_MAX / 4) return false;
  void *larger = psdmp_base_alloc_raw(allocator, fresh * element);
  if (!larger) return false;
  if (*room) memcpy(larger, memory, *room * element);
  psdmp_base_free(allocator, memory);
  memcpy(array, &larger, sizeof larger);
  *room = (uint32_t)fresh;
  return true;
}

uint32_t psdmp_expr_nary_item(psdmp_expr_nary *n, psdm_op op, uint32_t length) {
  if (!psdmp_expr_reserve(n->allocator, &n->item, &n->item_room, n->items + 1, sizeof *n->item) ||
      !psdmp_expr_reserve(n->allocator, &n->pool, &n->pool_room, (size_t)n->pooled + length, sizeof *n->pool))
    return UINT32_MAX;
  n->item[n->items] = (psdmp_expr_item){.op = op, .first = n->pooled, .length = length};
  n->pooled += length;
  return n->items++;
}

/* keeps the memory */
static void clear(psdmp_expr_nary *n) {
  psdmp_base_free(n->allocator, n->output);
  n->output = NULL;
  n->outputs = 0;
  n->items = n->pooled = 0;
}

void psdmp_expr_nary_free(psdmp_expr_nary *n) {
  clear(n);
  psdmp_base_free(n->allocator, n->item);
  psdmp_base_free(n->allocator, n->pool);
  *n = (psdmp_expr_nary){.allocator = n->allocator};
}

/* ---- reading ---- */

typedef struct reader {
  const psdm_graph *g;
  psdmp_expr_nary *n;
  bool doubles;
  uint32_t *uses;   /* (nodes) 0: dead */
  uint32_t *parent; /* (nodes) op of the last user seen: of the only one if uses is 1 */
  uint32_t *item;   /* (nodes) */
  psdm_ref *stack;
  uint32_t stack_room;
  uint32_t two; /* item of the constant 2, UINT32_MAX: none yet */
} reader;

static bool is_double(const reader *r, uint32_t node) {
  const psdmp_expr_node *k = &r->g->node[node];
  return r->doubles && k->op == PSDM_OP_ADD && k->u.of.a == k->u.of.b;
}

static uint32_t op_of(const reader *r, uint32_t node) { return is_double(r, node) ? PSDM_OP_MUL : r->g->node[node].op; }

static void use(reader *r, psdm_ref operand, uint32_t by) {
  r->uses[operand >> 1]++;
  r->parent[operand >> 1] = by;
}

/* counts users, from the outputs down, and notes their op */
static void count_uses(reader *r, const psdm_ref *outputs, size_t count) {
  for (size_t k = 0; k < count; k++) use(r, outputs[k], UINT32_MAX);
  for (uint32_t k = r->g->size; k-- > 0;) {
    if (!r->uses[k]) continue;
    int arity = psdmp_expr_arity((psdm_op)r->g->node[k].op);
    uint32_t by = op_of(r, k);
    if (arity > 0) use(r, r->g->node[k].u.of.a, by);
    if (arity > 1 && !is_double(r, k)) use(r, r->g->node[k].u.of.b, by);
  }
}

static bool swallowed(const reader *r, uint32_t node) {
  uint32_t op = op_of(r, node);
  return r->uses[node] == 1 && (op == PSDM_OP_ADD || op == PSDM_OP_MUL) && r->parent[node] == op;
}

static bool append(reader *r, uint32_t operand) {
  psdmp_expr_nary *n = r->n;
  if (!psdmp_expr_reserve(n->allocator, &n->pool, &n->pool_room, (size_t)n->pooled + 1, sizeof *n->pool)) return false;
  n->pool[n->pooled++] = operand;
  n->item[operand >> 1].uses++;
  return true;
}

/* a constant has no operands, so those of the current item stay contiguous */
static bool append_two(reader *r) {
  if (r->two == UINT32_MAX) {
    r->two = psdmp_expr_nary_item(r->n, PSDM_OP_CONST, 0);
    if (r->two == UINT32_MAX) return false;
    r->n->item[r->two].value = 2;
  }
  return append(r, 2 * r->two);
}

/* the operands of a sum or product, absorbed ones expanded; the item is the last one with operands in the pool */
static bool read_operands(reader *r, uint32_t node, uint32_t into) {
  uint32_t deep = 0;
  if (!psdmp_expr_reserve(r->n->allocator, &r->stack, &r->stack_room, 1, sizeof *r->stack)) return false;
  r->stack[deep++] = 2 * node;
  while (deep) {
    psdm_ref top = r->stack[--deep];
    const psdmp_expr_node *k = &r->g->node[top >> 1];
    bool twice = is_double(r, top >> 1);
    if (top >> 1 != node && !swallowed(r, top >> 1)) {
      if (!append(r, 2 * r->item[top >> 1] + (top & 1u))) return false;
      continue;
    }
    if (twice && !append_two(r)) return false;
    if (!psdmp_expr_reserve(r->n->allocator, &r->stack, &r->stack_room, (size_t)deep + 2, sizeof *r->stack))
      return false;
    if (psdmp_expr_arity((psdm_op)k->op) > 1 && !twice) r->stack[deep++] = k->u.of.b ^ (top & 1u);
    r->stack[deep++] = k->u.of.a ^ (top & 1u);
  }
  r->n->item[into].length = r->n->pooled - r->n->item[into].first;
  return true;
}

/* products have no sign below them: references to products carry it */
static bool read_node(reader *r, uint32_t node) {
  const psdmp_expr_node *k = &r->g->node[node];
  if (k->op == PSDM_OP_CONST && k->u.value == 2 && r->two != UINT32_MAX) {
    r->item[node] = r->two;
    return true;
  }
  uint32_t item = psdmp_expr_nary_item(r->n, (psdm_op)op_of(r, node), 0);
  if (item == UINT32_MAX) return false;
  r->item[node] = item;
  if (k->op == PSDM_OP_CONST) {
    r->n->item[item].value = k->u.value;
    if (k->u.value == 2) r->two = item;
    return true;
  }
  if (k->op == PSDM_OP_INPUT) {
    r->n->item[item].input = k->u.input;
    return true;
  }
  return read_operands(r, node, item);
}

static bool read_outputs(reader *r, const psdm_ref *outputs, size_t count) {
  r->n->output = psdmp_base_alloc_raw(r->n->allocator, count * sizeof *r->n->output);
  if (!r->n->output) return false;
  r->n->outputs = count;
  for (size_t k = 0; k < count; k++) {
    uint32_t item = r->item[outputs[k] >> 1];
    r->n->output[k] = 2 * item + (outputs[k] & 1u);
    r->n->item[item].uses++;
  }
  return true;
}

bool psdmp_expr_nary_read(psdmp_expr_nary *n, const psdm_graph *g, const psdm_ref *outputs, size_t count,
                          bool doubles) {
  clear(n);
  if (!count) return true;
  reader r = {.g = g, .n = n, .doubles = doubles, .two = UINT32_MAX};
  r.uses = psdmp_base_alloc(n->allocator, 3 * (size_t)g->size * sizeof *r.uses);
  if (!r.uses) return false;
  r.parent = r.uses + g->size;
  r.item = r.parent + g->size;
  count_uses(&r, outputs, count);
  bool ok = true;
  for (uint32_t k = 0; ok && k < g->size; k++)
    if (r.uses[k] && !swallowed(&r, k)) ok = read_node(&r, k);
  ok = ok && read_outputs(&r, outputs, count);
  psdmp_base_free(n->allocator, r.stack);
  psdmp_base_free(n->allocator, r.uses);
  return ok;
}

/* ---- writing ---- */

typedef struct writer {
  const psdmp_expr_nary *n;
  psdm_graph *g;
  psdm_ref *made; /* (items) PSDM_REF_NONE: not yet */
  uint32_t *stack;
  uint32_t stack_room;
  uint64_t *heap; /* operands of the current item, by arrival */
  uint32_t heap_room;
  uint32_t *depth; /* (known) of the graph's nodes */
  uint32_t depth_room, known;
} writer;

static bool know_depths(writer *w) {
  const psdm_graph *g = w->g;
  if (w->known == g->size) return true;
  if (!psdmp_expr_reserve(w->n->allocator, &w->depth, &w->depth_room, g->size, sizeof *w->depth)) return false;
  for (; w->known < g->size; w->known++) {
    const psdmp_expr_node *k = &g->node[w->known];
    int arity = psdmp_expr_arity((psdm_op)k->op);
    uint32_t a = arity > 0 ? w->depth[k->u.of.a >> 1] + 1 : 0, b = arity > 1 ? w->depth[k->u.of.b >> 1] + 1 : 0;
    w->depth[w->known] = a > b ? a : b;
  }
  return true;
}

/* when an operand is available: constants first, so that they fold, then by depth, then by number */
static uint64_t arrival(const writer *w, psdm_ref r) {
  uint64_t when = psdmp_expr_op(w->g, r) == PSDM_OP_CONST ? 0 : (uint64_t)w->depth[r >> 1] + 1;
  return when << 32 | r;
}

/* combining the two earliest until one is left gives the least depth (Huffman's tree with max instead of plus) */
static psdm_ref combine(writer *w, psdm_op op, uint32_t size) {
  while (size > 1) {
    psdm_ref a = (psdm_ref)psdmp_expr_heap_pop(w->heap, &size), b = (psdm_ref)psdmp_expr_heap_pop(w->heap, &size);
    psdm_ref both = op == PSDM_OP_ADD ? psdm_graph_add(w->g, a, b) : psdm_graph_mul(w->g, a, b);
    if (both == PSDM_REF_NONE || !know_depths(w)) return PSDM_REF_NONE;
    psdmp_expr_heap_push(w->heap, &size, arrival(w, both));
  }
  return (psdm_ref)w->heap[0];
}

static psdm_ref write_many(writer *w, const psdmp_expr_item *it) {
  uint32_t size = 0;
  if (!it->length) return psdm_graph_const(w->g, it->op == PSDM_OP_MUL);
  if (!know_depths(w) || !psdmp_expr_reserve(w->n->allocator, &w->heap, &w->heap_room, it->length, sizeof *w->heap))
    return PSDM_REF_NONE;
  for (uint32_t k = 0; k < it->length; k++) {
    uint32_t operand = w->n->pool[it->first + k];
    psdmp_expr_heap_push(w->heap, &size, arrival(w, w->made[operand >> 1] ^ (operand & 1u)));
  }
  psdm_ref r = combine(w, (psdm_op)it->op, size);
  return r == PSDM_REF_NONE ? r : r ^ it->sign;
}

static psdm_ref write_item(writer *w, const psdmp_expr_item *it) {
  const uint32_t *operand = w->n->pool + it->first;
  psdm_ref two[2] = {PSDM_REF_NONE, PSDM_REF_NONE};
  if (it->op == PSDM_OP_ADD || it->op == PSDM_OP_MUL) return write_many(w, it);
  if (it->op == PSDM_OP_CONST) return psdm_graph_const(w->g, it->value);
  if (it->op == PSDM_OP_INPUT) return psdm_graph_input(w->g, it->input);
  for (uint32_t k = 0; k < it->length; k++) two[k] = w->made[operand[k] >> 1] ^ (operand[k] & 1u);
  return psdmp_expr_build(w->g, (psdm_op)it->op, two[0], two[1]);
}

/* an item after its operands; the stack holds those that wait */
static bool write_from(writer *w, uint32_t root) {
  uint32_t deep = 0;
  if (!psdmp_expr_reserve(w->n->allocator, &w->stack, &w->stack_room, 1, sizeof *w->stack)) return false;
  w->stack[deep++] = root;
  while (deep) {
    uint32_t item = w->stack[deep - 1], waiting = deep;
    const psdmp_expr_item *it = &w->n->item[item];
    if (w->made[item] != PSDM_REF_NONE) {
      deep--;
      continue;
    }
    if (!psdmp_expr_reserve(w->n->allocator, &w->stack, &w->stack_room, (size_t)deep + it->length, sizeof *w->stack))
      return false;
    for (uint32_t k = it->length; k-- > 0;)
      if (w->made[w->n->pool[it->first + k] >> 1] == PSDM_REF_NONE) w->stack[deep++] = w->n->pool[it->first + k] >> 1;
    if (deep > waiting) continue;
    w->made[item] = write_item(w, it);
    if (w->made[item] == PSDM_REF_NONE) return false;
    deep--;
  }
  return true;
}

psdm_status psdmp_expr_nary_write(const psdmp_expr_nary *n, psdm_graph *g, psdm_ref *outputs) {
  if (!n->outputs) return PSDM_OK;
  writer w = {.n = n, .g = g};
  w.made = psdmp_base_alloc_raw(n->allocator, n->items * sizeof *w.made);
  bool ok = w.made != NULL;
  for (uint32_t k = 0; ok && k < n->items; k++) w.made[k] = PSDM_REF_NONE;
  for (size_t k = 0; ok && k < n->outputs; k++) ok = write_from(&w, n->output[k] >> 1);
  for (size_t k = 0; ok && k < n->outputs; k++) outputs[k] = w.made[n->output[k] >> 1] ^ (n->output[k] & 1u);
  psdmp_base_free(n->allocator, w.made);
  psdmp_base_free(n->allocator, w.stack);
  psdmp_base_free(n->allocator, w.heap);
  psdmp_base_free(n->allocator, w.depth);
  return ok ? PSDM_OK : PSDM_E_MEMORY;
}
