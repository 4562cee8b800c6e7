/* expr.h: additions to psdm/expr.h, for rooms that make or print graphs. Private to the library. */
#ifndef PSDMP_EXPR_H
#define PSDMP_EXPR_H

#include <math.h>

#include "base/base.h"
#include "psdm/expr.h"

/* How many operands op has: 0, 1, 2. */
int psdmp_expr_arity(psdm_op op);

/* Operands of bristles, in the order of psdmp_expr_bristles. */
enum { PSDMP_EXPR_BRISTLES = 8 };

/* Bristle deflection after dt, starting from z. operand: v0 v1 dt z, then Fc, Fs, vs and sigma0. */
double psdmp_expr_bristles(const double operand[PSDMP_EXPR_BRISTLES]);
void psdmp_expr_bristles_operands(const psdm_graph *graph, uint32_t node, psdm_ref operand[PSDMP_EXPR_BRISTLES]);

/* The value of an operation; not for constants, inputs and bristles. */
static inline double psdmp_expr_value(psdm_op op, double a, double b) {
  switch (op) {
    case PSDM_OP_ADD: return a + b;
    case PSDM_OP_MUL: return a * b;
    case PSDM_OP_RECIP: return 1 / a;
    case PSDM_OP_SIN: return sin(a);
    case PSDM_OP_COS: return cos(a);
    case PSDM_OP_SQRT: return sqrt(a);
    case PSDM_OP_SIGN: return (a > 0) - (a < 0);
    case PSDM_OP_EXP: return exp(a);
    case PSDM_OP_TANH: return tanh(a);
    case PSDM_OP_CLIP: return fmax(-1, fmin(1, a));
    case PSDM_OP_POW: return a != 0 || b >= 0 ? pow(fabs(a), b) : 0;
    default: return 0;
  }
}

/* Adds the operation to a graph by its constructor; not for constants and inputs. */
psdm_ref psdmp_expr_build(psdm_graph *graph, psdm_op op, psdm_ref a, psdm_ref b);

/* Marks the nodes that the outputs reach: live (nodes). */
void psdmp_expr_graph_mark(const psdm_graph *graph, const psdm_ref *outputs, size_t count, bool *live);

#endif
