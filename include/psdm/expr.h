/* psdm/expr.h: a graph of arithmetic operations, to count, reduce and write out as code.
 *
 *   psdm_graph *g;
 *   psdm_graph_new(NULL, &g);
 *   psdm_ref x = psdm_graph_input(g, 0), s = psdm_graph_sin(g, x), c = psdm_graph_cos(g, x);
 *   psdm_ref y = psdm_graph_add(g, psdm_graph_mul(g, s, s), psdm_graph_mul(g, c, s));
 *
 * Every operation goes through its constructor, which folds constants, x*0, x*1, x+0, x-x and powers, normalises signs
 * and the order of operands, and returns the existing node when the same value was built before (hash-consing). A
 * reference is a node and a sign: negation costs nothing and makes no node. Multiplying by two is an addition, x + x.
 *
 * Memory: the graph allocates as it grows. When memory runs out, constructors return PSDM_REF_NONE, which every
 * constructor passes on, and psdm_graph_status returns PSDM_E_MEMORY: check once, at the end. A graph belongs to one
 * thread at a time. */
#ifndef PSDM_EXPR_H
#define PSDM_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "psdm/alloc.h"
#include "psdm/robot.h"
#include "psdm/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_graph psdm_graph;

/* 2 * node + (1 when negated). */
typedef uint32_t psdm_ref;
#define PSDM_REF_NONE UINT32_MAX

typedef enum psdm_op {
  PSDM_OP_CONST, /* value > 0, or 0: signs live in references */
  PSDM_OP_INPUT, /* input number */
  PSDM_OP_ADD,   /* a + b; a is never negated, b may be */
  PSDM_OP_MUL,   /* a * b; neither is negated */
  PSDM_OP_RECIP, /* 1 / a */
  PSDM_OP_SIN,   /* of a, never negated */
  PSDM_OP_COS,
  PSDM_OP_SQRT,
  PSDM_OP_SIGN, /* -1, 0, 1 */
  PSDM_OP_EXP,
  PSDM_OP_TANH,
  PSDM_OP_CLIP,    /* the nearest number from -1 to 1 */
  PSDM_OP_POW,     /* |a|^b, b a constant; 0 where a is 0 and b is negative */
  PSDM_OP_PAIR,    /* no value: two operands of an operation with more than two */
  PSDM_OP_BRISTLES /* psdm_graph_bristles; a and b are pairs of pairs */
} psdm_op;

/* One node; operands are nodes with lower numbers. */
typedef struct psdm_node {
  psdm_op op;
  psdm_ref a, b; /* operands, PSDM_REF_NONE if unused */
  int input;     /* INPUT */
  double value;  /* CONST */
} psdm_node;

PSDM_API psdm_status psdm_graph_new(const psdm_allocator *allocator, psdm_graph **graph);
PSDM_API void psdm_graph_free(psdm_graph *graph);  /* accepts NULL */
PSDM_API void psdm_graph_clear(psdm_graph *graph); /* removes all nodes, keeps the memory */
PSDM_API psdm_status psdm_graph_status(const psdm_graph *graph);

PSDM_API uint32_t psdm_graph_size(const psdm_graph *graph); /* nodes */
PSDM_API psdm_node psdm_graph_node(const psdm_graph *graph, uint32_t node);

/* ---- constructors ---- */

PSDM_API psdm_ref psdm_graph_const(psdm_graph *graph, double value);
PSDM_API psdm_ref psdm_graph_input(psdm_graph *graph, int number);
PSDM_API psdm_ref psdm_graph_add(psdm_graph *graph, psdm_ref a, psdm_ref b);
PSDM_API psdm_ref psdm_graph_sub(psdm_graph *graph, psdm_ref a, psdm_ref b);
PSDM_API psdm_ref psdm_graph_mul(psdm_graph *graph, psdm_ref a, psdm_ref b);
PSDM_API psdm_ref psdm_graph_scale(psdm_graph *graph, double factor, psdm_ref a);
PSDM_API psdm_ref psdm_graph_power(psdm_graph *graph, psdm_ref a, int exponent); /* exponent >= 0, by squaring */
PSDM_API psdm_ref psdm_graph_recip(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_sin(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_cos(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_sqrt(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_sign(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_exp(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_tanh(psdm_graph *graph, psdm_ref a);
PSDM_API psdm_ref psdm_graph_clip(psdm_graph *graph, psdm_ref a);                 /* max(-1, min(1, a)) */
PSDM_API psdm_ref psdm_graph_abs(psdm_graph *graph, psdm_ref a);                  /* a sign(a) */
PSDM_API psdm_ref psdm_graph_pow(psdm_graph *graph, psdm_ref a, double exponent); /* |a|^exponent */

/* LuGre bristle deflection after dt, starting from z, while the velocity changes linearly from v0 to v1:
 * psdm_lugre_follow (psdm/friction.h). Has no derivative. */
PSDM_API psdm_ref psdm_graph_bristles(psdm_graph *graph, const psdm_friction *friction, psdm_ref v0, psdm_ref v1,
                                      psdm_ref dt, psdm_ref z);

static inline psdm_ref psdm_ref_neg(psdm_ref a) { return a == PSDM_REF_NONE ? a : a ^ 1u; }
static inline uint32_t psdm_ref_node(psdm_ref a) { return a >> 1; }
static inline int psdm_ref_negated(psdm_ref a) { return (int)(a & 1u); }

/* Whether a is a constant; its value in *value. */
PSDM_API int psdm_graph_is_const(const psdm_graph *graph, psdm_ref a, double *value);

/* ---- cost of outputs: only nodes that they reach count ---- */

typedef struct psdm_cost {
  long mult, add, div, sqrt; /* div: reciprocals */
  long sincos;               /* distinct angles */
  long calls;                /* exponentials, hyperbolic tangents, powers, bristle steps */
  /* operations on the longest path; sin, cos, reciprocal and root count as one each, signs as none */
  long depth;
  /* most values alive in the schedule of psdm_graph_schedule(.., PSDM_ORDER_REGISTERS) */
  long live;
} psdm_cost;

/* Fills depth; live is zero: only the scheduler knows it. */
PSDM_API psdm_status psdm_graph_cost(const psdm_graph *graph, const psdm_ref *outputs, size_t count, psdm_cost *cost);

/* ---- the plain evaluator, node by node; the reference for generated code ---- */

/* input[number] for every input; out (count). scratch: psdm_graph_size doubles. */
PSDM_API void psdm_graph_evaluate(const psdm_graph *graph, const double *input, const psdm_ref *outputs, size_t count,
                                  double *scratch, double *out);

/* ---- simplification: rewrites outputs in place to equal expressions in the same graph; may add nodes ---- */

/* Takes out common factors (a b + a c = a (b + c)) and shared pairs of longer sums and products, as long as this saves
 * operations. Never costs more than before. */
PSDM_API psdm_status psdm_graph_factor(psdm_graph *graph, psdm_ref *outputs, size_t count);

/* Reorders sums and products of more than two operands so that late operands come last: less depth, same operations. */
PSDM_API psdm_status psdm_graph_balance(psdm_graph *graph, psdm_ref *outputs, size_t count);

/* ---- derivatives ---- */

/* gradient[i] = d output / d input number inputs[i], by one backward sweep; adds nodes. The derivative of sign counts
 * as zero, as do those of clip at -1 and 1 and of a power of |0|. PSDM_E_ARGUMENT when output depends on bristles. */
PSDM_API psdm_status psdm_graph_gradient(psdm_graph *graph, psdm_ref output, const int *inputs, size_t count,
                                         psdm_ref *gradient);

/* along[k] = what outputs[k] changes by when input number inputs[i] changes by by[i], to first order; by one forward
 * sweep; adds nodes. Derivatives as in psdm_graph_gradient; along may be outputs. */
PSDM_API psdm_status psdm_graph_along(psdm_graph *graph, const int *inputs, const psdm_ref *by, size_t count,
                                      const psdm_ref *outputs, size_t output_count, psdm_ref *along);

/* Replaces inputs by expressions: rewrites outputs to equal ones where input number inputs[i] is by[i]; adds nodes. */
PSDM_API psdm_status psdm_graph_substitute(psdm_graph *graph, const int *inputs, const psdm_ref *by, size_t count,
                                           psdm_ref *outputs, size_t output_count);

/* ---- order of statements ---- */

typedef enum psdm_order {
  PSDM_ORDER_BUILT,    /* in the order of construction */
  PSDM_ORDER_LATENCY,  /* longest path to an output first, within the given number of registers */
  PSDM_ORDER_REGISTERS /* few values alive at a time, by a greedy choice */
} psdm_order;

/* The live nodes (inputs and constants left out) in executable order: order has room for psdm_graph_size entries,
 * *length is how many. registers: values that may be alive before latency gives way (0: 16). peak (nullable): most
 * values alive. */
PSDM_API psdm_status psdm_graph_schedule(const psdm_graph *graph, const psdm_ref *outputs, size_t count, psdm_order how,
                                         int registers, uint32_t *order, size_t *length, long *peak);

#ifdef __cplusplus
}
#endif
#endif
