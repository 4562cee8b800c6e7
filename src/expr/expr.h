/* expr.h: more of psdm/expr.h, for rooms that make or print graphs. Private to the library. */
#ifndef PSDMP_EXPR_H
#define PSDMP_EXPR_H

#include "base/base.h"
#include "psdm/expr.h"

/* Which of a graph's nodes some outputs reach: live (nodes). */
void psdmp_expr_graph_mark(const psdm_graph *graph, const psdm_ref *outputs, size_t count, bool *live);

#endif
