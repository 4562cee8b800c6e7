/* arm.h: the loop's interface to an arm, in the style of ros2_control: a system that is read and written, and a
 * controller between the two.
 *
 * The life cycle of both: configure (may allocate, may fail), activate (from the present position), then in every
 * period read, update, write, which neither allocate nor wait, and deactivate. Another arm is another system with the
 * same functions. */
#ifndef ARM_H
#define ARM_H

#include <stdbool.h>

#include "arm_model.h" /* generated: psdm codegen --prefix arm_model */

enum { JOINTS = ARM_MODEL_N };

/* State interfaces: what is measured. */
typedef struct arm_state {
  double position[JOINTS], velocity[JOINTS]; /* rad, rad/s; m, m/s for a prismatic joint */
} arm_state;

/* Command interfaces: what the motors must supply. */
typedef struct arm_command {
  double effort[JOINTS]; /* N m, N */
} arm_command;

/* A system: on a real arm these functions talk to its drives. */
typedef struct arm_system {
  void *self;
  bool (*on_configure)(void *self);
  bool (*on_activate)(void *self);
  void (*read)(void *self, arm_state *state);
  void (*write)(void *self, const arm_command *command, double period);
  void (*on_deactivate)(void *self);
} arm_system;

/* ---- controller.c ---- */

typedef enum arm_control { COMPUTED_TORQUE, GRAVITY_PD } arm_control;

typedef struct arm_controller {
  arm_control control;
  /* computed torque: of the error dynamics, 1/s^2 and 1/s; gravity and PD: multiplied by the joint's inertia at the
   * start */
  double stiffness, damping;
  double amplitude;       /* of the reference, rad or m */
  double home[JOINTS];    /* computed by activate: start of the reference */
  double inertia[JOINTS]; /* the same: diagonal of the mass matrix there */
  double error[JOINTS];   /* computed by update: reference minus position */
} arm_controller;

bool controller_on_configure(arm_controller *controller);
void controller_on_activate(arm_controller *controller, const arm_state *state);
void controller_update(arm_controller *controller, double time, const arm_state *state, arm_command *command);

/* ---- simulated_arm.c: an arm that follows its model, with a body in its hand unknown to the controller ---- */

typedef struct simulated_arm {
  arm_state state;
  double payload[10]; /* standard parameters about the last link's frame: m mx my mz XX XY XZ YY YZ ZZ */
} simulated_arm;

arm_system simulated_arm_system(simulated_arm *arm);

/* ---- cycle.c: the periods themselves ---- */

/* What is measured of each period; the caller's arrays of `periods`. */
typedef struct cycle_record {
  double *lateness;    /* s: actual minus planned start of a period */
  double *computation; /* s: read, update and write together */
  double *error;       /* largest error of a joint */
} cycle_record;

typedef struct cycle_result {
  long periods, overruns; /* all; and those that ended after the planned start of the next */
  double square[JOINTS];  /* sum of squared errors */
} cycle_result;

/* Runs periods at a rate (Hz) by the monotonic clock. Neither allocates nor prints. */
cycle_result cycle_run(const arm_system *system, arm_controller *controller, double rate, long periods,
                       const cycle_record *record);

#endif
