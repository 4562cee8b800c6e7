/* loop_priv.h: closed loops in code: what their tree's functions become when passive joints follow the others
 * (loops/loops.h). Private. */
#ifndef PSDMP_CODEGEN_LOOP_PRIV_H
#define PSDMP_CODEGEN_LOOP_PRIV_H

#include "codegen/codegen.h"
#include "codegen/trial.h"
#include "loops/loops.h"

/* What the tree's functions are made of. */
typedef struct psdmp_codegen_loop_tree {
  /* without assumptions: with parameters that the loops regroup at zero, and, where known, with its own */
  psdm_robot robot[2];
  psdm_model *model; /* its base parameters, owned */
  psdm_code_options options;
  double *theta[2];                                      /* (l) values to bake */
  psdmp_codegen_program program[2][PSDM_FUNCTION_COUNT]; /* made when they are first needed; graphs owned */
} psdmp_codegen_loop_tree;

/* ---- loop.c ---- */

/* psdmp_loops_start at the arguments q and passive. */
bool psdmp_codegen_loop_start(psdmp_loops *l, const psdm_code *code, psdm_graph *g, psdmp_base_arena *arena);

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
