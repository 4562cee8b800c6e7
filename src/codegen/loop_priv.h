/* loop_priv.h: closed loops in graphs: what their tree's functions become when passive joints follow the others.
 * Private.
 *
 * x is the tree's position, of which q and p, the passive joints', are parts; A is the derivative of the loops' gaps,
 * A_q and A_p its columns. Where the gaps are closed, x' = G qd with A G = 0, x'' = G qdd + h with A h = -(dA/dt) x',
 * and tau = G^T tau_tree. */
#ifndef PSDMP_CODEGEN_LOOP_PRIV_H
#define PSDMP_CODEGEN_LOOP_PRIV_H

#include "codegen/codegen.h"
#include "codegen/trial.h"

/* What the tree's functions are made of. */
typedef struct psdmp_codegen_loop_tree {
  /* without assumptions: with parameters that the loops regroup at zero, and, where known, with its own */
  psdm_robot robot[2];
  psdm_model *model; /* its base parameters, owned */
  psdm_code_options options;
  double *theta[2];                                      /* (l) values to bake */
  psdmp_codegen_program program[2][PSDM_FUNCTION_COUNT]; /* made when they are first needed; graphs owned */
} psdmp_codegen_loop_tree;

/* One function while it is built. Counts: n, N of the tree, m passive joints, e equations. */
typedef struct psdmp_codegen_loops {
  psdm_code *code;
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
} psdmp_codegen_loops;

/* ---- loop_gaps.c ---- */

/* l->gap and l->A from l->x. */
void psdmp_codegen_loop_gaps(psdmp_codegen_loops *l);

/* out (e) = (dA/dt) v, v (N). */
void psdmp_codegen_loop_drift(psdmp_codegen_loops *l, const psdm_ref *v, psdm_ref *out);

/* ---- loop_solve.c ---- */

/* Position, gaps, factors of A_p in a program's graph. False: out of memory. */
bool psdmp_codegen_loops_start(psdmp_codegen_loops *l, psdm_code *code, psdm_graph *g, psdmp_base_arena *arena);

/* x (m) = A_p^-1 b, b (e) is overwritten; f (e) = A_p^-T t, t (m). */
void psdmp_codegen_loop_solve(psdmp_codegen_loops *l, psdm_ref *b, psdm_ref *x);
void psdmp_codegen_loop_solve_turned(psdmp_codegen_loops *l, const psdm_ref *t, psdm_ref *f);

/* l->G. */
void psdmp_codegen_loop_find_G(psdmp_codegen_loops *l);

/* v (N) = G qd; a (N) = G qdd + h, qdd NULL: zero; tau (n) = G^T tree (N). */
void psdmp_codegen_loop_rates(psdmp_codegen_loops *l, const psdm_ref *qd, psdm_ref *v);
void psdmp_codegen_loop_accelerations(psdmp_codegen_loops *l, const psdm_ref *qdd, const psdm_ref *v, psdm_ref *a);
void psdmp_codegen_loop_restrict(psdmp_codegen_loops *l, const psdm_ref *tree, psdm_ref *tau);

/* ---- loop.c ---- */

/* code->loop of a robot with closed loops, once model and theta are there. */
psdm_status psdmp_codegen_loop_new(psdm_code *code, psdm_error *error);
void psdmp_codegen_loop_free(psdm_code *code); /* without loops: nothing to do */

/* Refuses options that closed loops exclude. */
psdm_status psdmp_codegen_loop_options(const psdm_robot *robot, const psdm_code_options *options, psdm_error *error);

/* Whether the code's check at home applies to all positions, and code->loop->closure's first check: by the states of a
 * trial. */
psdm_status psdmp_codegen_loop_check(psdm_code *code, psdmp_codegen_trial *t, psdm_error *error);

/* ---- loop_functions.c ---- */

/* As psdmp_codegen_build_recursive. */
psdm_status psdmp_codegen_build_closed(psdm_code *code, psdm_function function, bool plain, psdmp_base_arena *arena,
                                       psdmp_codegen_program *program, psdm_error *error);

/* ---- trial_loop.c ---- */

/* Moves the states of a trial to where the loops close, far from singular positions; t->p. */
psdm_status psdmp_codegen_trial_close(psdmp_codegen_trial *t, psdm_error *error);

#endif
