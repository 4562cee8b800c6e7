/* trial.h: states, and what the library's recursions, which share nothing with the generator, give for them. For the
 * self-test that is written beside the code, and for the check of every program when it is made. Private to the
 * library. */
#ifndef PSDMP_CODEGEN_TRIAL_H
#define PSDMP_CODEGEN_TRIAL_H

#include "codegen/codegen.h"
#include "psdm/eval.h"
#include "psdm/linearize.h"

enum { PSDMP_CODEGEN_STATES = 8 };

/* What goes in, and the robot that says what must come out. */
typedef struct psdmp_codegen_trial {
  psdmp_base_arena *arena;
  const psdm_code *code;
  psdm_robot robot; /* a copy whose gravity and inertias are ours */
  psdm_work *work;
  psdm_linear *linear;
  double unit;        /* metres: psdmp_robot_unit */
  double *pi, *theta; /* standard and base parameters */
  double gravity[3], payload[10], wrench[6];
  double *q, *qd, *qdd; /* (PSDMP_CODEGEN_STATES x n) */
  double *tau;          /* the same: of the states, once a function that takes them was evaluated */
  double *small[7];     /* (PSDMP_CODEGEN_STATES x n) dq dqd dqdd dtau eq eqd eqdd */
  /* friction: the robot that loads drives, a copy too; a row before, (PSDMP_CODEGEN_STATES x n); what is remembered,
   * (PSDMP_CODEGEN_STATES x states); room */
  psdm_robot loaded;
  double dt, *q0, *qd0, *z, *room;
  double *p;               /* (PSDMP_CODEGEN_STATES x passives) of closed loops */
  double *state, *scratch; /* (9 n) in psdm_eval's order, then (3 n n) */
  double *input;           /* (blocks x PSDMP_CODEGEN_BLOCK) room for one state's arguments */
  bool conditioned;        /* the self-test has CONDITION */
} psdmp_codegen_trial;

/* How far joint i moves at random states, per radian of others: 1, or psdmp_robot_unit where it slides something. */
double psdmp_codegen_joint_unit(const psdm_robot *robot, int i);

/* Uniform in [-range, range), on a grid of 1/64, which float and short text hold exactly. */
double psdmp_codegen_trial_coarse(uint64_t *seed, double range);

/* The code needs its model and theta, no programs yet. Memory comes from the arena but for what
 * psdmp_codegen_trial_free frees. */
psdm_status psdmp_codegen_trial_new(const psdm_code *code, psdmp_base_arena *arena, psdmp_codegen_trial *t,
                                    psdm_error *error);
void psdmp_codegen_trial_free(psdmp_codegen_trial *t);

/* Functions that invert M: their errors are judged by the torques that they amount to. */
bool psdmp_codegen_inverts(psdm_function f);

/* Others that divide by M, or by a task's J M^-1 J^T: their errors are judged by what the condition of these takes. */
bool psdmp_codegen_divides(psdm_function f);
psdm_status psdmp_codegen_trial_condition(psdmp_codegen_trial *t, const psdmp_codegen_program *p, int s,
                                          double *condition);

/* What a function gives at every state, (PSDMP_CODEGEN_STATES x outputs); forward's is the qdd that its torques were
 * made from. PSDM_E_SINGULAR where it has none. */
psdm_status psdmp_codegen_trial_expect(psdmp_codegen_trial *t, const psdmp_codegen_program *p, double *out);

/* A function of one robot of the trial at state s, as the program's arguments have it, without friction. */
psdm_status psdmp_codegen_trial_of(psdmp_codegen_trial *t, const psdm_robot *robot, const psdmp_codegen_program *p,
                                   psdm_function f, int s, double *out);

/* Beside it, for the same program: another function of state s; M^-1 and derivatives. */
psdm_status psdmp_codegen_trial_evaluate(psdmp_codegen_trial *t, const psdmp_codegen_program *p, psdm_function f, int s,
                                         double *out);
/* with friction where p is a program that has it; p may be NULL */
psdm_status psdmp_codegen_trial_linearized(psdmp_codegen_trial *t, const psdmp_codegen_program *p, psdm_function f,
                                           int s, double *out);

/* ---- trial_friction.c ---- */

bool psdmp_codegen_trial_friction_new(psdmp_codegen_trial *t); /* its memory; false: out of memory */
void psdmp_codegen_trial_friction_states(psdmp_codegen_trial *t);

/* Friction torques of state s (n); f: INVERSE, or BIAS for zero acceleration. */
psdm_status psdmp_codegen_trial_friction(psdmp_codegen_trial *t, const psdmp_codegen_program *p, psdm_function f, int s,
                                         double *tau);
/* z of state s, a step later (states). */
void psdmp_codegen_trial_friction_step(psdmp_codegen_trial *t, int s, double *z);
/* Columns of friction, behind each other in rows (n x columns). */
psdm_status psdmp_codegen_trial_friction_columns(psdmp_codegen_trial *t, const psdmp_codegen_program *p, int s,
                                                 double *columns);
/* Adds friction's derivatives to dtau/dq, dtau/dqd and dtau/dqdd, (n x n) each. */
psdm_status psdmp_codegen_trial_friction_slopes(psdmp_codegen_trial *t, int s, double *dq, double *dqd, double *dqdd);

#endif
