/* loops.h: the equations of closed loops as graphs of operations: gaps, the passive joints' motion, and what it makes
 * of the tree's torques. Private to the library.
 *
 * x is the tree's position, of which q and p, the passive joints', are parts; A is the derivative of the loops' gaps,
 * A_q and A_p its columns. Where the gaps are closed, x' = G qd with A G = 0, x'' = G qdd + h with A h = -(dA/dt) x',
 * and tau = G^T tau_tree. */
#ifndef PSDMP_LOOPS_H
#define PSDMP_LOOPS_H

#include "base/base.h"
#include "expr/expr.h"
#include "robot/robot.h"

enum { PSDMP_LOOPS_MOST = 100 }; /* bodies, and loops */

/* One function while it is built. Counts: n, N of the tree, m passive joints, e equations. */
typedef struct psdmp_loops {
  const psdm_robot *tree;
  const psdmp_robot_closure *closure;
  psdm_graph *g;
  psdmp_base_arena *arena;
  int n, N, m, e;
  psdm_ref zero;
  psdm_ref *x;    /* (N) the tree's position */
  psdm_ref *gap;  /* (e) */
  psdm_ref *A;    /* (e x N) */
  psdm_ref *Q;    /* (e x m) orthogonal columns of A_p, column by column, in their order */
  psdm_ref *R;    /* (m x m) A_p = Q R, R with ones on its diagonal */
  psdm_ref *size; /* (m) 1 / (squared length of a column of Q) */
  int *order;     /* (m) passive joints: those in few equations first */
  psdm_ref *G;    /* (m x n) rows of the passive joints; NULL: not needed */
} psdmp_loops;

/* ---- gaps.c ---- */

/* l->gap and l->A from l->x. */
void psdmp_loops_gaps(psdmp_loops *l);

/* out (e) = (dA/dt) v, v (N). */
void psdmp_loops_drift(psdmp_loops *l, const psdm_ref *v, psdm_ref *out);

/* ---- solve.c ---- */

/* Gaps and factors of A_p at x (N), nodes of the graph. False: out of memory, or beyond PSDMP_LOOPS_MOST. */
bool psdmp_loops_start(psdmp_loops *l, const psdm_robot *robot, psdm_graph *g, const psdm_ref *x,
                       psdmp_base_arena *arena);

/* x (m) = A_p^-1 b, b (e) is overwritten; f (e) = A_p^-T t, t (m). */
void psdmp_loops_solve(psdmp_loops *l, psdm_ref *b, psdm_ref *x);
void psdmp_loops_solve_turned(psdmp_loops *l, const psdm_ref *t, psdm_ref *f);

/* l->G. */
void psdmp_loops_find_G(psdmp_loops *l);

/* v (N) = G qd; a (N) = G qdd + h, qdd NULL: zero; tau (n) = G^T tree (N). */
void psdmp_loops_rates(psdmp_loops *l, const psdm_ref *qd, psdm_ref *v);
void psdmp_loops_accelerations(psdmp_loops *l, const psdm_ref *qdd, const psdm_ref *v, psdm_ref *a);
void psdmp_loops_restrict(psdmp_loops *l, const psdm_ref *tree, psdm_ref *tau);

#endif
