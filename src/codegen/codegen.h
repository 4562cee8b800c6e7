/* codegen.h: what a generated function is, between the builders (graph) and the unparsers (text). Private to the
 * library. */
#ifndef PSDMP_CODEGEN_H
#define PSDMP_CODEGEN_H

#include "base/base.h"
#include "psdm/codegen.h"
#include "expr/expr.h"
#include "nest/nest.h"
#include "parameters/parameters.h"
#include "robot/robot.h"

/* Inputs are numbered in blocks: input = block * PSDMP_CODEGEN_BLOCK + index. */
enum { PSDMP_CODEGEN_BLOCK = 1 << 12 };

/* id, name in C, length (expression in n, l) */
#define PSDMP_CODEGEN_INPUT_LIST(X)                                                                    \
  X(THETA, "theta")     /* (l) base parameters */                                                      \
  X(GRAVITY, "gravity") /* (3) in the base frame */                                                    \
  X(PAYLOAD, "payload") /* (10) standard parameters about the default link's frame */                  \
  X(WRENCH, "wrench")   /* (6) force, moment on the default link, at its frame's origin, base frame */ \
  X(DT, "dt")           /* (1) from q0 to q */                                                         \
  X(SINE, "s")          /* (n) sin q, given by the caller */                                           \
  X(COSINE, "c")        /* (n) */                                                                      \
  X(Q0, "q0")           /* (n) the row before */                                                       \
  X(QD0, "qd0")         /* (n) */                                                                      \
  X(Q, "q")                                                                                            \
  X(QD, "qd")                                                                                          \
  X(QDD, "qdd")                                                                                        \
  X(TAU, "tau")                                                                                        \
  X(DQ, "dq") /* (n) each of a small motion, and of a second one */                                    \
  X(DQD, "dqd")                                                                                        \
  X(DQDD, "dqdd")                                                                                      \
  X(DTAU, "dtau")                                                                                      \
  X(EQ, "eq")                                                                                          \
  X(EQD, "eqd")                                                                                        \
  X(EQDD, "eqdd")                                                                                      \
  X(Z, "z")       /* (states) what friction remembers */                                               \
  X(P, "passive") /* (passives) positions of the passive joints of closed loops */

typedef enum psdmp_codegen_block {
#define PSDMP_CODEGEN_INPUT_ENUM(id, name) PSDMP_CODEGEN_IN_##id,
  PSDMP_CODEGEN_INPUT_LIST(PSDMP_CODEGEN_INPUT_ENUM)
#undef PSDMP_CODEGEN_INPUT_ENUM
      PSDMP_CODEGEN_IN_COUNT
} psdmp_codegen_block;

extern const psdmp_nest_inputs psdmp_codegen_inputs; /* the same for polynomials */

/* A named array of outputs, in the order of the C arguments. */
typedef struct psdmp_codegen_result {
  const char *name; /* "tau" */
  int first, count; /* into output */
} psdmp_codegen_result;

/* One function: arguments in the order of psdmp_codegen_block (those with length > 0), then results. */
typedef struct psdmp_codegen_program {
  psdm_function function;
  const char *name;                   /* "inverse" */
  const char *method;                 /* "recursive" or "expanded" */
  psdm_graph *graph;                  /* owned */
  int length[PSDMP_CODEGEN_IN_COUNT]; /* 0: not an argument */
  psdmp_codegen_result result[3];
  int results;
  psdm_ref *output; /* owned by the arena of the bundle */
  size_t outputs;
  /* linearize_forward, many joints: M^-1, then rows of dtau/dq and dtau/dqd side by side, from which scalar code
   * makes the results by a loop; NULL: straight-line. As many as outputs. */
  psdm_ref *inner;
  /* linearize_forward for GPUs, in two stages: what psdmp_codegen_linearize_stages makes, psdmp_codegen_stage_values
   * and 2 n n; NULL: in one */
  psdm_ref *early, *late;
  bool friction;  /* is in it */
  psdm_cost cost; /* of the outputs */
  double error;   /* largest difference from the recursions when it was made (check.c), relative */
} psdmp_codegen_program;

/* ---- the two ways to build a function's graph: both fill every field of program but cost, from a clean program
 * ---- */

/* base: the base parameters (psdm_base_parameters_derive is enough); its theta is what theta means as an argument.
 * theta (l): values to bake, may be NULL when they are an argument or the function has none. plain: inertias move only
 * along what each joint alone leaves free, which is exact, and not by the base parameters' formulas, which may have
 * lost digits. */
psdm_status psdmp_codegen_build_recursive(const psdm_robot *robot, const psdm_model *base, const double *theta,
                                          const psdm_code_options *options, psdm_function function, bool plain,
                                          psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error);

/* model: the derived functions. limit (operations, 0: none): gives up with program->graph NULL once it is exceeded. */
psdm_status psdmp_codegen_build_expanded(const psdm_robot *robot, const psdm_model *model, const double *theta,
                                         const psdm_code_options *options, psdm_function function, long limit,
                                         psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error);

/* Arguments and results of a function, its outputs array and an empty graph allocated; shared by the two. l: base
 * parameters. */
psdm_status psdmp_codegen_program_shape(const psdm_robot *robot, int l, const psdm_code_options *options,
                                        psdm_function function, psdmp_base_arena *arena, psdmp_codegen_program *program,
                                        psdm_error *error);

/* What psdm_function_shape wants beside n: parameters, or the directions of a task. */
int psdmp_codegen_width(const psdm_code_options *options, int l, psdm_function function);

/* What the first stage of linearize_forward hands to the second: qdd and one triangle of M^-1. */
int psdmp_codegen_stage_values(int n);

/* The robot under a gravity that no joint is aligned with; shares all else. */
psdm_robot psdmp_codegen_any_gravity(const psdm_robot *robot);

/* Refuses what no wrapper can pass on, and adds the functions that the wrappers of options->wraps need. */
psdm_status psdmp_codegen_wrap_options(psdm_code_options *options, psdm_error *error);

/* ---- check.c: nothing is handed over unchecked ---- */

struct psdmp_codegen_trial;

/* Computes a program's outputs in its own way. input: psdmp_codegen_block by psdmp_codegen_block. */
typedef void (*psdmp_codegen_runner)(void *user, const psdmp_codegen_program *p, const double *input, double *out);

/* Largest difference from the recursions over the states of a trial, relative to the largest number of its kind and,
 * where M is inverted, to what M's condition takes; INFINITY where something is no number. */
psdm_status psdmp_codegen_trial_error(struct psdmp_codegen_trial *t, const psdmp_codegen_program *p,
                                      psdmp_codegen_runner run, void *user, double *error);

/* The same for a program's graph, in every form that is written of it, into p->error; PSDM_E_SINGULAR where the
 * function does not exist. */
psdm_status psdmp_codegen_program_check(struct psdmp_codegen_trial *t, psdmp_codegen_program *p);

/* psdmp_codegen_build_recursive and its check; plainly, too, where that is more exact. */
psdm_status psdmp_codegen_build_precise(psdm_code *code, psdm_function function, struct psdmp_codegen_trial *t,
                                        psdmp_base_arena *arena, psdmp_codegen_program *best, psdm_error *error);

/* Beyond it a program is refused: of double, of float. */
double psdmp_codegen_tolerance(const psdm_code *code);

/* Friction that was asked for: friction.c. Maps are (n x n). */
typedef struct psdmp_codegen_friction {
  bool there;
  psdmp_parameters_drag drag;
  double *drive, *load,
      *joint;               /* drives' positions and speeds, their loads from joints'; joints' torques from theirs */
  const psdm_robot *loaded; /* whose rigid torques load the drives; NULL: nothing depends on them */
  const double *pi;         /* (standard) of that robot */
} psdmp_codegen_friction;

/* Closed loops: loop.c. Columns and rows of matrices as code has them. */
typedef struct psdmp_codegen_loop {
  int passives, equations;
  /* q, p -> gap (equations), A (equations x passives), its derivative by p, column by column */
  psdmp_codegen_program closure;
  double *home, *start; /* (n), (passives) where the branch starts */
  double *unit;         /* (n + passives) 1, or metres where a joint slides */
  double size;          /* of the loops, m */
  /* where this holds, the determinant of A0^T A is positive all along the branch; A0: (equations x passives) */
  bool oriented;
  double *A;
  struct psdmp_codegen_loop_tree *tree;
} psdmp_codegen_loop;

/* A bundle of functions, ready to be written. */
struct psdm_code {
  psdmp_base_arena arena;    /* owns everything below but graphs and model */
  psdm_code_options options; /* functions filled in; prefix checked, a C identifier */
  const psdm_robot *robot;   /* the caller's; must outlive the code */
  psdmp_codegen_friction friction;
  psdmp_codegen_loop *loop; /* NULL: no closed loops */
  psdm_model *model;        /* owned: base parameters, functions too when they were derived */
  /* the model is what is right, not the robot: psdm_code_build_model */
  bool given;
  double *theta;     /* (l) NULL when the robot does not know its inertias */
  const char **note; /* (notes) what its maker should know */
  int notes;
  unsigned omitted; /* optional functions that do not exist for this robot */
  int programs;
  psdmp_codegen_program program[PSDM_FUNCTION_COUNT]; /* those asked for, in the order of the enum */
};

#include "codegen/trial.h"

#endif
