/* graph.c: nodes, their constructors, and their cost.
 *
 * Signs live in references, so x, -x, a - b and b - a share their nodes: a sum keeps its first operand positive, a
 * product and a constant have no sign at all. */
#include "expr/graph_priv.h"

#include <math.h>
#include <string.h>

#include "psdm/friction.h"

int psdmp_expr_arity(psdm_op op) {
  switch (op) {
    case PSDM_OP_CONST:
    case PSDM_OP_INPUT: return 0;
    case PSDM_OP_ADD:
    case PSDM_OP_MUL:
    case PSDM_OP_POW:
    case PSDM_OP_PAIR:
    case PSDM_OP_BRISTLES: return 2;
    default: return 1;
  }
}

/* ---- memory ---- */

psdm_status psdm_graph_new(const psdm_allocator *allocator, psdm_graph **graph) {
  psdm_graph *g = psdmp_base_alloc(allocator, sizeof *g);
  *graph = g;
  if (!g) return PSDM_E_MEMORY;
  g->allocator = allocator;
  return PSDM_OK;
}

void psdm_graph_free(psdm_graph *g) {
  if (!g) return;
  psdmp_base_free(g->allocator, g->node);
  psdmp_base_free(g->allocator, g->slot);
  psdmp_base_free(g->allocator, g);
}

void psdm_graph_clear(psdm_graph *g) {
  g->size = 0;
  g->status = PSDM_OK;
  if (g->slot) memset(g->slot, 0, g->slots * sizeof *g->slot);
}

psdm_status psdm_graph_status(const psdm_graph *g) { return g->status; }
uint32_t psdm_graph_size(const psdm_graph *g) { return g->size; }

static psdm_ref out_of_memory(psdm_graph *g) {
  g->status = PSDM_E_MEMORY;
  return PSDM_REF_NONE;
}

static void place(psdm_graph *g, uint32_t node) {
  uint32_t at = g->node[node].hash & (g->slots - 1);
  while (g->slot[at]) at = (at + 1) & (g->slots - 1);
  g->slot[at] = node + 1;
}

/* doubles nodes and slots */
static bool grow(psdm_graph *g) {
  uint32_t room = g->room ? 2 * g->room : 512;
  if (room > UINT32_MAX / 8) return false;
  psdmp_expr_node *node = psdmp_base_alloc_raw(g->allocator, room * sizeof *node);
  uint32_t *slot = psdmp_base_alloc(g->allocator, 2 * (size_t)room * sizeof *slot);
  if (!node || !slot) {
    psdmp_base_free(g->allocator, node);
    psdmp_base_free(g->allocator, slot);
    return false;
  }
  if (g->size) memcpy(node, g->node, g->size * sizeof *node);
  psdmp_base_free(g->allocator, g->node);
  psdmp_base_free(g->allocator, g->slot);
  g->node = node;
  g->room = room;
  g->slot = slot;
  g->slots = 2 * room;
  for (uint32_t k = 0; k < g->size; k++) place(g, k);
  return true;
}

/* ---- hash-consing ---- */

static uint32_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return (uint32_t)(x >> 32);
}

/* the node with these contents, created if new */
static psdm_ref intern(psdm_graph *g, psdm_op op, psdmp_expr_node fresh) {
  uint64_t bits;
  memcpy(&bits, &fresh.u, sizeof bits);
  fresh.op = (uint32_t)op;
  fresh.hash = mix(bits * 31 + (uint64_t)op);
  if (g->slots) {
    uint32_t at = fresh.hash & (g->slots - 1);
    for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
      const psdmp_expr_node *k = &g->node[g->slot[at] - 1];
      if (k->hash == fresh.hash && k->op == fresh.op && memcmp(&k->u, &fresh.u, sizeof fresh.u) == 0)
        return 2 * (g->slot[at] - 1);
    }
  }
  if (g->size == g->room && !grow(g)) return out_of_memory(g);
  g->node[g->size] = fresh;
  place(g, g->size);
  return 2 * g->size++;
}

static psdm_ref operation(psdm_graph *g, psdm_op op, psdm_ref a, psdm_ref b) {
  psdmp_expr_node fresh = {.u.of = {a, b}};
  return intern(g, op, fresh);
}

psdm_node psdm_graph_node(const psdm_graph *g, uint32_t node) {
  const psdmp_expr_node *k = &g->node[node];
  psdm_node out = {.op = (psdm_op)k->op, .a = PSDM_REF_NONE, .b = PSDM_REF_NONE};
  int arity = psdmp_expr_arity(out.op);
  if (arity > 0) out.a = k->u.of.a;
  if (arity > 1) out.b = k->u.of.b;
  if (out.op == PSDM_OP_CONST) out.value = k->u.value;
  if (out.op == PSDM_OP_INPUT) out.input = k->u.input;
  return out;
}

/* ---- constructors ---- */

psdm_ref psdm_graph_const(psdm_graph *g, double value) {
  psdmp_expr_node fresh = {.u.value = fabs(value)};
  psdm_ref r = intern(g, PSDM_OP_CONST, fresh);
  return r == PSDM_REF_NONE || !(value < 0) ? r : r ^ 1u;
}

psdm_ref psdm_graph_input(psdm_graph *g, int number) {
  psdmp_expr_node fresh;
  memset(&fresh, 0, sizeof fresh);
  fresh.u.input = number;
  return intern(g, PSDM_OP_INPUT, fresh);
}

int psdm_graph_is_const(const psdm_graph *g, psdm_ref a, double *value) {
  if (a == PSDM_REF_NONE || psdmp_expr_op(g, a) != PSDM_OP_CONST) return 0;
  if (value) *value = a & 1u ? -g->node[a >> 1].u.value : g->node[a >> 1].u.value;
  return 1;
}

/* a constant and the rest of a product or sum with one; the constant is always the first operand */
static bool leading_const(const psdm_graph *g, psdm_ref r, psdm_op op, double *value, psdm_ref *rest) {
  if (psdmp_expr_op(g, r) != op || !psdm_graph_is_const(g, psdmp_expr_a(g, r), value)) return false;
  *rest = psdmp_expr_b(g, r);
  return true;
}

/* constants first, then by number */
static bool comes_before(const psdm_graph *g, psdm_ref a, psdm_ref b) {
  bool ca = psdmp_expr_op(g, a) == PSDM_OP_CONST, cb = psdmp_expr_op(g, b) == PSDM_OP_CONST;
  return ca != cb ? ca : a >> 1 < b >> 1;
}

/* c + (d + x) = (c + d) + x */
static psdm_ref add_const(psdm_graph *g, double c, psdm_ref b) {
  double d;
  psdm_ref rest;
  psdm_ref sum = PSDM_REF_NONE;
  if (!leading_const(g, b, PSDM_OP_ADD, &d, &rest)) return sum;
  double sign = b & 1u ? -1 : 1;
  return psdm_graph_add(g, psdm_graph_const(g, c + sign * d), rest ^ (b & 1u));
}

psdm_ref psdm_graph_add(psdm_graph *g, psdm_ref a, psdm_ref b) {
  double x, y;
  if (a == PSDM_REF_NONE || b == PSDM_REF_NONE) return PSDM_REF_NONE;
  if (!comes_before(g, a, b)) {
    psdm_ref swap = a;
    a = b;
    b = swap;
  }
  if (psdm_graph_is_const(g, a, &x)) {
    if (x == 0) return b;
    if (psdm_graph_is_const(g, b, &y)) return psdm_graph_const(g, x + y);
    psdm_ref folded = add_const(g, x, b);
    if (folded != PSDM_REF_NONE || g->status) return folded;
  }
  if (a == (b ^ 1u)) return psdm_graph_const(g, 0);
  /* the first operand is positive */
  psdm_ref sum = operation(g, PSDM_OP_ADD, a & ~1u, b ^ (a & 1u));
  return sum == PSDM_REF_NONE ? sum : sum ^ (a & 1u);
}

psdm_ref psdm_graph_sub(psdm_graph *g, psdm_ref a, psdm_ref b) { return psdm_graph_add(g, a, psdm_ref_neg(b)); }

psdm_ref psdm_graph_scale(psdm_graph *g, double factor, psdm_ref a) {
  return psdm_graph_mul(g, psdm_graph_const(g, factor), a);
}

/* c x: zero, one and two are not products, and constants of x are multiplied by c */
static psdm_ref mul_const(psdm_graph *g, psdm_ref a, psdm_ref b) {
  double c = g->node[a >> 1].u.value, d;
  psdm_ref rest;
  if (psdm_graph_is_const(g, b, &d)) return psdm_graph_const(g, c * d);
  if (c == 0) return a;
  if (c == 1) return b;
  if (leading_const(g, b, PSDM_OP_MUL, &d, &rest)) return psdm_graph_mul(g, psdm_graph_const(g, c * d), rest);
  if (psdmp_expr_op(g, b) == PSDM_OP_ADD && psdmp_expr_a(g, b) == psdmp_expr_b(g, b))
    return psdm_graph_mul(g, psdm_graph_const(g, 2 * c), psdmp_expr_a(g, b));
  return c == 2 ? psdm_graph_add(g, b, b) : operation(g, PSDM_OP_MUL, a, b);
}

psdm_ref psdm_graph_mul(psdm_graph *g, psdm_ref a, psdm_ref b) {
  if (a == PSDM_REF_NONE || b == PSDM_REF_NONE) return PSDM_REF_NONE;
  uint32_t sign = (a ^ b) & 1u;
  a &= ~1u;
  b &= ~1u;
  if (!comes_before(g, a, b)) {
    psdm_ref swap = a;
    a = b;
    b = swap;
  }
  psdm_ref product = psdmp_expr_op(g, a) == PSDM_OP_CONST ? mul_const(g, a, b) : operation(g, PSDM_OP_MUL, a, b);
  if (product == PSDM_REF_NONE) return product;
  return psdm_graph_is_const(g, product, NULL) && g->node[product >> 1].u.value == 0 ? product & ~1u : product ^ sign;
}

psdm_ref psdm_graph_power(psdm_graph *g, psdm_ref a, int exponent) {
  if (exponent <= 0) return psdm_graph_const(g, 1);
  psdm_ref half = psdm_graph_power(g, a, exponent / 2), square = psdm_graph_mul(g, half, half);
  return exponent % 2 ? psdm_graph_mul(g, square, a) : square;
}

psdm_ref psdm_graph_recip(psdm_graph *g, psdm_ref a) {
  double c;
  if (a == PSDM_REF_NONE) return a;
  if (psdm_graph_is_const(g, a, &c)) return psdm_graph_const(g, 1 / c);
  if (psdmp_expr_op(g, a) == PSDM_OP_RECIP) return psdmp_expr_a(g, a) ^ (a & 1u);
  psdm_ref r = operation(g, PSDM_OP_RECIP, a & ~1u, PSDM_REF_NONE);
  return r == PSDM_REF_NONE ? r : r ^ (a & 1u);
}

/* effect on the sign of an operand */
typedef enum parity { ODD, EVEN, NEITHER } parity;

static psdm_ref unary(psdm_graph *g, psdm_op op, psdm_ref a, parity p) {
  double c;
  if (a == PSDM_REF_NONE) return a;
  if (psdm_graph_is_const(g, a, &c)) return psdm_graph_const(g, psdmp_expr_value(op, c, 0));
  psdm_ref r = operation(g, op, p == NEITHER ? a : a & ~1u, PSDM_REF_NONE);
  return r == PSDM_REF_NONE || p != ODD ? r : r ^ (a & 1u);
}

psdm_ref psdm_graph_sin(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_SIN, a, ODD); }
psdm_ref psdm_graph_cos(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_COS, a, EVEN); }
psdm_ref psdm_graph_sign(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_SIGN, a, ODD); }
psdm_ref psdm_graph_sqrt(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_SQRT, a, NEITHER); }
psdm_ref psdm_graph_exp(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_EXP, a, NEITHER); }
psdm_ref psdm_graph_tanh(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_TANH, a, ODD); }
psdm_ref psdm_graph_clip(psdm_graph *g, psdm_ref a) { return unary(g, PSDM_OP_CLIP, a, ODD); }
psdm_ref psdm_graph_abs(psdm_graph *g, psdm_ref a) { return psdm_graph_mul(g, a, psdm_graph_sign(g, a)); }

psdm_ref psdm_graph_pow(psdm_graph *g, psdm_ref a, double exponent) {
  double c;
  if (a == PSDM_REF_NONE) return a;
  if (psdm_graph_is_const(g, a, &c)) return psdm_graph_const(g, psdmp_expr_value(PSDM_OP_POW, c, exponent));
  if (exponent == 0) return psdm_graph_const(g, 1);
  if (exponent == 1) return psdm_graph_abs(g, a);
  if (exponent == 2) return psdm_graph_mul(g, a, a);
  psdm_ref b = psdm_graph_const(g, exponent);
  return b == PSDM_REF_NONE ? b : operation(g, PSDM_OP_POW, a & ~1u, b);
}

/* ---- bristles: eight operands, as pairs of pairs ---- */

static psdm_ref pair(psdm_graph *g, psdm_ref a, psdm_ref b) {
  return a == PSDM_REF_NONE || b == PSDM_REF_NONE ? PSDM_REF_NONE : operation(g, PSDM_OP_PAIR, a, b);
}

psdm_ref psdm_graph_bristles(psdm_graph *g, const psdm_friction *f, psdm_ref v0, psdm_ref v1, psdm_ref dt, psdm_ref z) {
  psdm_ref motion = pair(g, pair(g, v0, v1), pair(g, dt, z));
  psdm_ref numbers = pair(g, pair(g, psdm_graph_const(g, f->coulomb), psdm_graph_const(g, f->stat)),
                          pair(g, psdm_graph_const(g, f->stribeck), psdm_graph_const(g, f->sigma0)));
  return motion == PSDM_REF_NONE || numbers == PSDM_REF_NONE ? PSDM_REF_NONE
                                                             : operation(g, PSDM_OP_BRISTLES, motion, numbers);
}

void psdmp_expr_bristles_operands(const psdm_graph *g, uint32_t node, psdm_ref operand[PSDMP_EXPR_BRISTLES]) {
  const psdm_ref half[2] = {g->node[node].u.of.a, g->node[node].u.of.b};
  for (int k = 0; k < PSDMP_EXPR_BRISTLES; k++) {
    psdm_ref two = k & 2 ? psdmp_expr_b(g, half[k / 4]) : psdmp_expr_a(g, half[k / 4]);
    operand[k] = k & 1 ? psdmp_expr_b(g, two) : psdmp_expr_a(g, two);
  }
}

double psdmp_expr_bristles(const double x[PSDMP_EXPR_BRISTLES]) {
  const psdm_friction f = {
      .coulomb = x[4], .stat = x[5], .stribeck = x[6], .sigma0 = x[7], .exponent = 1, .given = true};
  const double t[2] = {0, x[2]};
  double z[2], tau[2];
  psdm_lugre_follow(&f, x[3], 2, t, x, z, tau);
  return z[1];
}

psdm_ref psdmp_expr_build(psdm_graph *g, psdm_op op, psdm_ref a, psdm_ref b) {
  double exponent = NAN;
  switch (op) {
    case PSDM_OP_ADD: return psdm_graph_add(g, a, b);
    case PSDM_OP_MUL: return psdm_graph_mul(g, a, b);
    case PSDM_OP_RECIP: return psdm_graph_recip(g, a);
    case PSDM_OP_SIN: return psdm_graph_sin(g, a);
    case PSDM_OP_COS: return psdm_graph_cos(g, a);
    case PSDM_OP_SQRT: return psdm_graph_sqrt(g, a);
    case PSDM_OP_SIGN: return psdm_graph_sign(g, a);
    case PSDM_OP_EXP: return psdm_graph_exp(g, a);
    case PSDM_OP_TANH: return psdm_graph_tanh(g, a);
    case PSDM_OP_CLIP: return psdm_graph_clip(g, a);
    case PSDM_OP_POW: psdm_graph_is_const(g, b, &exponent); return psdm_graph_pow(g, a, exponent);
    default: return a == PSDM_REF_NONE || b == PSDM_REF_NONE ? PSDM_REF_NONE : operation(g, op, a, b);
  }
}

/* ---- cost ---- */

void psdmp_expr_graph_uses(const psdm_graph *g, const psdm_ref *outputs, size_t count, uint32_t *used) {
  for (size_t k = 0; k < count; k++) used[outputs[k] >> 1]++;
  for (uint32_t k = g->size; k-- > 0;) {
    if (!used[k]) continue;
    int arity = psdmp_expr_arity((psdm_op)g->node[k].op);
    if (arity > 0) used[g->node[k].u.of.a >> 1]++;
    if (arity > 1) used[g->node[k].u.of.b >> 1]++;
  }
}

static void count_node(const psdmp_expr_node *k, psdm_cost *cost) {
  switch ((psdm_op)k->op) {
    case PSDM_OP_ADD: cost->add++; break;
    case PSDM_OP_MUL: cost->mult++; break;
    case PSDM_OP_RECIP: cost->div++; break;
    case PSDM_OP_SQRT: cost->sqrt++; break;
    case PSDM_OP_EXP:
    case PSDM_OP_TANH:
    case PSDM_OP_POW:
    case PSDM_OP_BRISTLES: cost->calls++; break;
    default: break;
  }
}

/* distinct angles: every angle has a sine or a cosine node, and a cosine counts only where the sine is dead */
static long count_angles(const psdm_graph *g, const uint32_t *used, uint32_t *angle) {
  long angles = 0;
  memset(angle, 0, g->size * sizeof *angle);
  for (uint32_t k = 0; k < g->size; k++) {
    psdm_op op = (psdm_op)g->node[k].op;
    if (!used[k] || (op != PSDM_OP_SIN && op != PSDM_OP_COS)) continue;
    uint32_t *seen = &angle[g->node[k].u.of.a >> 1];
    angles += !*seen;
    *seen = 1;
  }
  return angles;
}

psdm_status psdm_graph_cost(const psdm_graph *g, const psdm_ref *outputs, size_t count, psdm_cost *cost) {
  *cost = (psdm_cost){0};
  if (g->status || g->size == 0) return g->status;
  for (size_t k = 0; k < count; k++)
    if (outputs[k] == PSDM_REF_NONE) return PSDM_E_ARGUMENT;
  uint32_t *used = psdmp_base_alloc(g->allocator, 2 * (size_t)g->size * sizeof *used), *depth = used + g->size;
  if (!used) return PSDM_E_MEMORY;
  psdmp_expr_graph_uses(g, outputs, count, used);
  cost->sincos = count_angles(g, used, depth);
  for (uint32_t k = 0; k < g->size; k++) {
    const psdmp_expr_node *node = &g->node[k];
    int arity = psdmp_expr_arity((psdm_op)node->op);
    depth[k] = 0;
    if (!used[k] || !arity) continue;
    count_node(node, cost);
    uint32_t a = depth[node->u.of.a >> 1], b = arity > 1 ? depth[node->u.of.b >> 1] : 0;
    depth[k] = 1 + (a > b ? a : b);
    if ((long)depth[k] > cost->depth) cost->depth = depth[k];
  }
  psdmp_base_free(g->allocator, used);
  return PSDM_OK;
}

/* ---- the plain evaluator ---- */

#define VALUE(r) ((r)&1u ? -v[(r) >> 1] : v[(r) >> 1])

static double bristles_at(const psdm_graph *g, uint32_t node, const double *v) {
  psdm_ref operand[PSDMP_EXPR_BRISTLES];
  double x[PSDMP_EXPR_BRISTLES];
  psdmp_expr_bristles_operands(g, node, operand);
  for (int k = 0; k < PSDMP_EXPR_BRISTLES; k++) x[k] = VALUE(operand[k]);
  return psdmp_expr_bristles(x);
}

void psdm_graph_evaluate(const psdm_graph *g, const double *input, const psdm_ref *outputs, size_t count, double *v,
                         double *out) {
  for (uint32_t k = 0; k < g->size; k++) {
    const psdmp_expr_node *n = &g->node[k];
    psdm_op op = (psdm_op)n->op;
    switch (op) {
      case PSDM_OP_CONST: v[k] = n->u.value; break;
      case PSDM_OP_INPUT: v[k] = input[n->u.input]; break;
      case PSDM_OP_ADD: v[k] = VALUE(n->u.of.a) + VALUE(n->u.of.b); break;
      case PSDM_OP_MUL: v[k] = VALUE(n->u.of.a) * VALUE(n->u.of.b); break;
      case PSDM_OP_BRISTLES: v[k] = bristles_at(g, k, v); break;
      default: v[k] = psdmp_expr_value(op, VALUE(n->u.of.a), psdmp_expr_arity(op) > 1 ? VALUE(n->u.of.b) : 0);
    }
  }
  for (size_t k = 0; k < count; k++) out[k] = VALUE(outputs[k]);
}
#undef VALUE
