/* schedule.c: the order of statements.
 *
 * A value is alive from its statement to its last use; an output is stored at once and stays alive only while others
 * use it. Values that die in a statement make room for its result. Sines, cosines and what they need come first in
 * every order but the built one: emitted code computes all angles at the start. */
#include "expr/graph_priv.h"
#include "expr/heap_priv.h"

#include <string.h>

typedef struct plan {
  const psdm_graph *g;
  const psdm_ref *outputs;
  size_t count;  /* outputs */
  uint32_t live; /* operations to order */
  /* by node: */
  uint32_t *uses;   /* 0: dead; outputs count here */
  uint32_t *reads;  /* operand places of live operations that read it */
  uint32_t *first;  /* (nodes + 1) its readers, into reader */
  uint32_t *reader; /* (2 * nodes) */
  uint32_t *early;  /* 1: an angle needs it */
  uint32_t *left;   /* operand places that have not read it yet */
  uint32_t *owner;  /* sum of the node numbers of those that have not */
  uint32_t *waits;  /* operand places not computed yet, or readers not placed yet */
  uint32_t *gain;   /* values that die when it is computed, or that do not become alive when it is placed backwards */
  uint32_t *tie;    /* tie-breaker, the lower first */
  uint32_t *by_tie; /* the node with that tie */
  uint32_t *path;   /* longest path to an output */
  uint32_t *done;
  uint32_t *order;  /* the schedule being made */
  uint32_t *stack;  /* (2 * nodes) */
  uint64_t *heap;   /* (4 * nodes) */
  uint64_t *second; /* (4 * nodes) */
} plan;

enum { ARRAYS32 = 17, ARRAYS64 = 8 }; /* words per node in all of the above */

/* cycles until a result can be used: common to current x86 and ARM cores; sine and cosine are calls */
static uint32_t latency(psdm_op op) {
  switch (op) {
    case PSDM_OP_RECIP: return 13;
    case PSDM_OP_SQRT: return 15;
    case PSDM_OP_SIN:
    case PSDM_OP_COS:
    case PSDM_OP_EXP:
    case PSDM_OP_TANH: return 20;
    case PSDM_OP_POW: return 40;
    case PSDM_OP_PAIR: return 0;
    case PSDM_OP_BRISTLES: return 400;
    default: return 4;
  }
}

/* ---- the nodes to order ---- */

static int operands_of(const plan *p, uint32_t node, uint32_t out[2]) {
  const psdmp_expr_node *k = &p->g->node[node];
  int arity = psdmp_expr_arity((psdm_op)k->op), count = 0;
  for (int i = 0; i < arity; i++) {
    uint32_t operand = (i ? k->u.of.b : k->u.of.a) >> 1;
    if (psdmp_expr_arity((psdm_op)p->g->node[operand].op)) out[count++] = operand;
  }
  return count;
}

static bool is_live(const plan *p, uint32_t node) {
  return p->uses[node] && psdmp_expr_arity((psdm_op)p->g->node[node].op);
}

static bool is_angle(const plan *p, uint32_t node) {
  uint32_t op = p->g->node[node].op;
  return op == PSDM_OP_SIN || op == PSDM_OP_COS;
}

/* readers of each value, packed */
static void list_readers(plan *p) {
  uint32_t o[2], size = p->g->size;
  for (uint32_t k = 0; k < size; k++)
    for (int i = is_live(p, k) ? operands_of(p, k, o) : 0; i-- > 0;) p->reads[o[i]]++;
  for (uint32_t k = 0; k < size; k++) p->first[k + 1] = p->first[k] + p->reads[k];
  memcpy(p->waits, p->first, size * sizeof *p->waits);
  for (uint32_t k = 0; k < size; k++)
    for (int i = is_live(p, k) ? operands_of(p, k, o) : 0; i-- > 0;) p->reader[p->waits[o[i]]++] = k;
}

static void mark_early(plan *p) {
  uint32_t o[2];
  for (uint32_t k = p->g->size; k-- > 0;) {
    if (!is_live(p, k) || !(p->early[k] |= is_angle(p, k))) continue;
    for (int i = operands_of(p, k, o); i-- > 0;) p->early[o[i]] = 1;
  }
}

static void measure_paths(plan *p) {
  uint32_t o[2];
  for (uint32_t k = p->g->size; k-- > 0;) {
    if (!is_live(p, k)) continue;
    p->path[k] += latency((psdm_op)p->g->node[k].op);
    for (int i = operands_of(p, k, o); i-- > 0;)
      if (p->path[o[i]] < p->path[k]) p->path[o[i]] = p->path[k];
  }
}

static bool make_plan(plan *p) {
  uint32_t size = p->g->size;
  p->heap = psdmp_base_alloc(
      p->g->allocator, (size_t)size * ARRAYS64 * sizeof(uint64_t) + ((size_t)size * ARRAYS32 + 1) * sizeof(uint32_t));
  if (!p->heap) return false;
  p->second = p->heap + 4 * (size_t)size;
  uint32_t *at = (uint32_t *)(p->second + 4 * (size_t)size);
  uint32_t **single[] = {&p->uses, &p->reads, &p->early,  &p->left, &p->owner, &p->waits,
                         &p->gain, &p->tie,   &p->by_tie, &p->path, &p->done,  &p->order};
  for (size_t k = 0; k < sizeof single / sizeof *single; k++, at += size) *single[k] = at;
  p->reader = at;
  p->stack = at += 2 * (size_t)size;
  p->first = at += 2 * (size_t)size;
  psdmp_expr_graph_uses(p->g, p->outputs, p->count, p->uses);
  list_readers(p);
  mark_early(p);
  measure_paths(p);
  for (uint32_t k = 0; k < size; k++) p->live += is_live(p, k);
  return true;
}

static long peak_of(plan *p, const uint32_t *order) {
  long alive = 0, peak = 0;
  uint32_t o[2];
  memcpy(p->left, p->reads, p->g->size * sizeof *p->left);
  for (uint32_t k = 0; k < p->live; k++) {
    for (int i = operands_of(p, order[k], o); i-- > 0;) alive -= --p->left[o[i]] == 0;
    if (alive + 1 > peak) peak = alive + 1;
    alive += p->reads[order[k]] > 0;
  }
  return peak;
}

/* ---- depth first, the operand that needs more values first (Sethi, Ullman 1970, as if the graph were a tree) ---- */

static void measure_need(plan *p, uint32_t *need) {
  uint32_t o[2];
  for (uint32_t k = 0; k < p->g->size; k++) {
    need[k] = 0;
    if (!is_live(p, k)) continue;
    int count = operands_of(p, k, o);
    uint32_t a = count > 0 ? need[o[0]] : 0, b = count > 1 ? need[o[1]] : 0;
    need[k] = a == b ? a + 1 : a > b ? a : b;
    /* angles already exist */
    if (is_angle(p, k)) need[k] = 1;
  }
}

static uint32_t visit(plan *p, uint32_t root, const uint32_t *need, uint32_t length) {
  uint32_t deep = 0, o[2];
  p->stack[deep++] = root;
  while (deep) {
    uint32_t node = p->stack[deep - 1], waiting = deep;
    int count = p->done[node] ? 0 : operands_of(p, node, o);
    /* the heavier operand on top */
    if (count == 2 && (need[o[0]] > need[o[1]])) {
      uint32_t swap = o[0];
      o[0] = o[1];
      o[1] = swap;
    }
    /* an operand that waits further down is pushed again and done when that place comes up. At most two places a
     * level */
    for (int i = 0; i < count; i++)
      if (!p->done[o[i]] && !(i && o[0] == o[1])) p->stack[deep++] = o[i];
    if (deep > waiting) continue;
    deep--;
    if (!p->done[node]) p->order[length++] = node;
    p->done[node] = 1;
  }
  return length;
}

/* outputs as given, or the last one first */
static void order_depth_first(plan *p, bool backwards) {
  uint32_t length = 0, *need = p->gain;
  memset(p->done, 0, p->g->size * sizeof *p->done);
  measure_need(p, need);
  for (uint32_t k = 0; k < p->g->size; k++)
    if (is_live(p, k) && is_angle(p, k)) length = visit(p, k, need, length);
  for (size_t k = 0; k < p->count; k++) {
    uint32_t node = p->outputs[backwards ? p->count - 1 - k : k] >> 1;
    if (is_live(p, node)) length = visit(p, node, need, length);
  }
}

/* ---- lists of ready nodes ---- */

/* ties go by place in order, the lower first */
static void break_ties(plan *p, const uint32_t *order, bool backwards) {
  for (uint32_t k = 0; k < p->live; k++) {
    uint32_t node = order[backwards ? p->live - 1 - k : k];
    p->tie[node] = k;
    p->by_tie[k] = node;
  }
}

/* early ones, then those that leave the fewest values alive, then the tie */
static uint64_t pressure_key(const plan *p, uint32_t node) {
  uint32_t growth = 4 + (p->reads[node] > 0) - p->gain[node];
  return (uint64_t)!p->early[node] << 62 | (uint64_t)growth << 32 | p->tie[node];
}

/* early ones, then the longest path to an output, then the tie */
static uint64_t latency_key(const plan *p, uint32_t node) {
  const uint32_t longest = (1u << 30) - 1;
  uint32_t path = p->path[node] < longest ? p->path[node] : longest;
  return (uint64_t)!p->early[node] << 62 | (uint64_t)(longest - path) << 32 | p->tie[node];
}

typedef struct ready {
  uint32_t pressed, timed; /* sizes of the two heaps */
} ready;

static void offer(plan *p, ready *r, uint32_t node, bool again) {
  psdmp_expr_heap_push(p->heap, &r->pressed, pressure_key(p, node));
  if (!again) psdmp_expr_heap_push(p->second, &r->timed, latency_key(p, node));
}

/* skips stale entries: nodes that are done, or that were entered again with another growth */
static uint32_t choose(plan *p, ready *r, bool pressed) {
  for (;;) {
    uint64_t key = pressed ? psdmp_expr_heap_pop(p->heap, &r->pressed) : psdmp_expr_heap_pop(p->second, &r->timed);
    uint32_t node = p->by_tie[(uint32_t)key];
    if (!p->done[node] && (!pressed || key == pressure_key(p, node))) return node;
  }
}

static bool reads_twice(const plan *p, uint32_t node, uint32_t value) {
  uint32_t o[2];
  return operands_of(p, node, o) == 2 && o[0] == value && o[1] == value;
}

/* the last remaining reader of value, or UINT32_MAX while there are several */
static uint32_t last_reader(const plan *p, uint32_t value) {
  if (p->left[value] == 1) return p->owner[value];
  uint32_t half = p->owner[value] / 2;
  return p->left[value] == 2 && p->owner[value] % 2 == 0 && half < p->g->size && reads_twice(p, half, value)
             ? half
             : UINT32_MAX;
}

static void start_forward(plan *p, ready *r) {
  uint32_t size = p->g->size, o[2];
  memcpy(p->left, p->reads, size * sizeof *p->left);
  memset(p->owner, 0, size * sizeof *p->owner);
  memset(p->gain, 0, size * sizeof *p->gain);
  memset(p->done, 0, size * sizeof *p->done);
  for (uint32_t k = 0; k < size; k++) {
    if (!is_live(p, k)) continue;
    p->waits[k] = (uint32_t)operands_of(p, k, o);
    for (uint32_t i = 0; i < p->waits[k]; i++) p->owner[o[i]] += k;
  }
  for (uint32_t k = 0; k < size; k++) {
    uint32_t last = is_live(p, k) && p->reads[k] ? last_reader(p, k) : UINT32_MAX;
    if (last != UINT32_MAX) p->gain[last]++;
  }
  for (uint32_t k = 0; k < size; k++)
    if (is_live(p, k) && !p->waits[k]) offer(p, r, k, false);
}

/* marks node as computed: its operands lose a reader, its readers an obstacle. Returns how many values died */
static long compute(plan *p, ready *r, uint32_t node) {
  uint32_t o[2];
  long died = 0;
  int count = operands_of(p, node, o);
  p->done[node] = 1;
  for (int i = 0; i < count; i++) {
    p->left[o[i]]--;
    p->owner[o[i]] -= node;
  }
  for (int i = 0; i < count - (count == 2 && o[0] == o[1]); i++) {
    died += p->left[o[i]] == 0;
    uint32_t last = p->left[o[i]] ? last_reader(p, o[i]) : UINT32_MAX;
    if (last == UINT32_MAX) continue;
    p->gain[last]++;
    if (!p->waits[last]) offer(p, r, last, true);
  }
  for (uint32_t k = p->first[node]; k < p->first[node + 1]; k++)
    if (--p->waits[p->reader[k]] == 0) offer(p, r, p->reader[k], false);
  return died;
}

/* longest path first while fewer than `registers` values are alive, else whatever leaves fewest alive */
static void order_forward(plan *p, uint32_t *order, long registers) {
  ready r = {0, 0};
  long alive = 0;
  start_forward(p, &r);
  for (uint32_t k = 0; k < p->live; k++) {
    order[k] = choose(p, &r, alive >= registers);
    alive -= compute(p, &r, order[k]);
    alive += p->reads[order[k]] > 0;
  }
}

/* ---- backwards from the outputs: a value lives from its last reader back to its computation ---- */

static uint64_t backward_key(const plan *p, uint32_t node) {
  uint32_t o[2];
  uint32_t count = (uint32_t)operands_of(p, node, o),
           growth = 4 + count - (count == 2 && o[0] == o[1]) - p->gain[node] - (p->reads[node] > 0);
  return (uint64_t)p->early[node] << 62 | (uint64_t)growth << 32 | p->tie[node];
}

/* value is alive before node: all its other readers become cheaper */
static void begin_value(plan *p, uint32_t *size, uint32_t value) {
  p->left[value] = 1;
  for (uint32_t k = p->first[value], before = UINT32_MAX; k < p->first[value + 1]; k++) {
    uint32_t reader = p->reader[k];
    if (reader != before && !p->done[reader]) {
      p->gain[reader]++;
      if (!p->waits[reader]) psdmp_expr_heap_push(p->heap, size, backward_key(p, reader));
    }
    before = reader;
  }
}

static void place_last(plan *p, uint32_t *size, uint32_t node) {
  uint32_t o[2];
  int count = operands_of(p, node, o);
  p->done[node] = 1;
  for (int i = 0; i < count; i++) {
    if (!p->left[o[i]]) begin_value(p, size, o[i]);
    if (--p->waits[o[i]] == 0) psdmp_expr_heap_push(p->heap, size, backward_key(p, o[i]));
  }
}

static void order_backward(plan *p, uint32_t *order) {
  uint32_t heap = 0, size = p->g->size;
  memset(p->left, 0, size * sizeof *p->left);
  memset(p->gain, 0, size * sizeof *p->gain);
  memset(p->done, 0, size * sizeof *p->done);
  memcpy(p->waits, p->reads, size * sizeof *p->waits);
  for (uint32_t k = 0; k < size; k++)
    if (is_live(p, k) && !p->waits[k]) psdmp_expr_heap_push(p->heap, &heap, backward_key(p, k));
  for (uint32_t k = p->live; k > 0;) {
    uint64_t key = psdmp_expr_heap_pop(p->heap, &heap);
    uint32_t node = p->by_tie[(uint32_t)key];
    if (p->done[node] || key != backward_key(p, node)) continue;
    order[--k] = node;
    place_last(p, &heap, node);
  }
}

/* ---- the orders ---- */

static void order_built(const plan *p, uint32_t *order) {
  for (uint32_t k = 0, length = 0; k < p->g->size; k++)
    if (is_live(p, k)) order[length++] = k;
}

/* keeps p->order when it needs fewer values than order */
static void keep_better(plan *p, uint32_t *order, long *peak) {
  long now = peak_of(p, p->order);
  if (now >= *peak) return;
  *peak = now;
  memcpy(order, p->order, p->live * sizeof *order);
}

/* the best of a few greedy orders; each depth-first order also breaks the ties of the lists */
static void order_registers(plan *p, uint32_t *order) {
  long peak = INT32_MAX;
  for (int backwards = 0; backwards < 2; backwards++) {
    order_depth_first(p, backwards);
    keep_better(p, order, &peak);
    break_ties(p, p->order, true);
    order_backward(p, p->order);
    keep_better(p, order, &peak);
    /* the best so far breaks the ties of the forward list */
    break_ties(p, order, false);
    order_forward(p, p->order, 0);
    keep_better(p, order, &peak);
  }
}

static void order_latency(plan *p, uint32_t *order, long registers) {
  order_registers(p, order);
  break_ties(p, order, false);
  order_forward(p, order, registers);
}

psdm_status psdm_graph_schedule(const psdm_graph *g, const psdm_ref *outputs, size_t count, psdm_order how,
                                int registers, uint32_t *order, size_t *length, long *peak) {
  *length = 0;
  if (peak) *peak = 0;
  if (g->status || g->size == 0) return g->status;
  if (registers < 0) return PSDM_E_ARGUMENT;
  for (size_t k = 0; k < count; k++)
    if (outputs[k] == PSDM_REF_NONE) return PSDM_E_ARGUMENT;
  plan p = {.g = g, .outputs = outputs, .count = count};
  if (!make_plan(&p)) return PSDM_E_MEMORY;
  switch (how) {
    case PSDM_ORDER_LATENCY: order_latency(&p, order, registers ? registers : 16); break;
    case PSDM_ORDER_REGISTERS: order_registers(&p, order); break;
    default: order_built(&p, order); break;
  }
  *length = p.live;
  if (peak) *peak = peak_of(&p, order);
  psdmp_base_free(g->allocator, p.heap);
  return PSDM_OK;
}

void psdmp_expr_graph_mark(const psdm_graph *graph, const psdm_ref *outputs, size_t count, bool *live) {
  uint32_t nodes = psdm_graph_size(graph);
  memset(live, 0, nodes);
  for (size_t k = 0; k < count; k++) live[psdm_ref_node(outputs[k])] = true;
  for (uint32_t k = nodes; k-- > 0;) {
    psdm_node n = psdm_graph_node(graph, k);
    if (!live[k] || n.op == PSDM_OP_CONST || n.op == PSDM_OP_INPUT) continue;
    live[psdm_ref_node(n.a)] = true;
    if (n.b != PSDM_REF_NONE) live[psdm_ref_node(n.b)] = true;
  }
}
