/* sim_priv.h: the simulator. Private to the library.
 *
 *   plant.c       rates of the state, energies
 *   contact.c     dry friction that sticks, stops: which joints are held, what releases them
 *   fixed.c       Runge-Kutta and semi-implicit Euler
 *   variable.c    SUNDIALS' CVODE
 *   run.c         time: samples, loads, rows, the audit
 *
 * The state y is one vector: q and qd of all coordinates (those of the open tree with closed loops), theta and thetad
 * of the elastic joints' motors, z of the bristles, the controller's own states, and the work done so far. */
#ifndef PSDMP_SIM_PRIV_H
#define PSDMP_SIM_PRIV_H

#include "psdm/compile.h"
#include "psdm/sim.h"
#include "robot/robot.h"

enum { PSDMP_SIM_SUPPLIED, PSDMP_SIM_DISSIPATED, PSDMP_SIM_EXTERNAL, PSDMP_SIM_WORKS };

/* One independent joint in the simulation. */
typedef struct psdmp_sim_drive_train {
  int at;    /* its coordinate */
  int motor; /* index of its motor behind a spring, -1: rigid */
  double stiffness, damping, effort, lower, upper;
  psdm_friction friction;
  bool dry; /* friction that can hold it */
  int mode; /* dry: the direction it slides in, 0: it sticks */
  int stop; /* -1, 1: it rests at its lower, upper stop */
} psdmp_sim_drive_train;

typedef struct psdmp_sim_cvode psdmp_sim_cvode; /* CVODE's objects */

struct psdm_sim {
  psdmp_base_arena arena;
  psdm_sim_options options;
  psdm_integrator integrator;  /* never auto */
  const psdm_robot *robot;     /* the caller's */
  psdm_robot *plant;           /* its numbers: with the load, elastic joints without rotors */
  const psdm_robot *moving;    /* the plant, or its open tree */
  psdm_work *work, *loop_work; /* of moving; of a plant with closed loops */
  psdm_compiled *compiled;     /* forward dynamics, NULL: by recursion */
  /* the compiled function, without or with a load */
  void (*forward)(const double *q, const double *qd, const double *tau, double *qdd);
  void (*forward_loaded)(const double *load, const double *q, const double *qd, const double *tau, double *qdd);
  char code_text[256];
  double load[PSDMP_ROBOT_STANDARD]; /* payload */
  /* accelerations are known to exist without a load and with this many of the payloads */
  int regular;
  int n, N, motors, loops, size; /* independent joints, coordinates, elastic joints, loop equations, length of y */
  int length;                    /* length integrated: size, without the works at its end where no work is done */
  int at_qd, at_theta, at_thetad, at_z, at_control, at_work; /* start of each part of y; at_z < 0: no bristles */
  int control_states;
  psdmp_sim_drive_train *joint; /* (n) */
  bool dry, stops, ends;        /* some joint may stick; limits are stops; limits end the run */
  int wrench_joint;
  double *B, *B_factor; /* (motors x motors) rotors of elastic joints, and Cholesky's factor */

  double t, *y;
  double until;  /* next jump of a stepwise wrench */
  double origin; /* time of psdm_sim_set: samples are counted from there */
  long samples;
  int next_load;
  double *tau, *friction; /* (n) motor torque, friction opposing it, of the latest rates */
  double *held;           /* (n) torque of a sampled controller or the caller */
  bool continuous;        /* the controller is called in every evaluation */
  /* (n) torque holding a stuck joint, and a joint at its stop, of the latest rates */
  double *reaction, *stop_reaction;

  /* sampled control */
  double *seen_before; /* (n) */
  uint64_t random;
  double spare; /* the second of a pair of normal numbers */
  bool has_spare;

  /* scratch */
  double *q, *qd, *theta, *thetad; /* (n) state as the controller sees it */
  double *acceleration;            /* (n) of a row */
  double *u, *qdd, *push;          /* (N) */
  double *u_motor;                 /* (motors) */
  double *M;                       /* (N x N) */
  double *C, *W, *R;               /* constraints: (rows x N) twice and (rows x rows), rows = loops + n */
  double *drift, *gap, *lambda, *limit, *multiplier; /* (rows) */
  double *rate, *k1, *k2, *k3, *k4, *trial, *save;   /* (size) */
  double *implicit;                                  /* 2 (N + motors)^2, Euler */
  /* (N + motors) joint whose friction, whose position belongs to an unknown of Euler's; -1: none */
  int *rubs, *moves;
  double *g, *g_next; /* events (3 n) */
  bool *fired;        /* (3 n) */
  int *order, *row;   /* (rows) pivots; joint behind each constraint */
  psdmp_sim_cvode *variable;
  bool fresh;          /* the state or a torque jumped: modes, and CVODE, start again */
  bool controlling;    /* a run calls the controller, a step does not */
  psdm_status trouble; /* of the latest rates */

  long steps, evaluations, reversals, sticks, limits;
  double payload_work;
};

/* ---- plant.c ---- */

/* y' at t. Also sets tau, friction and reactions. */
psdm_status psdmp_sim_rates(psdm_sim *sim, double t, const double *y, double *rate);

/* tau, push and the rates of the controller's states alone. */
psdm_status psdmp_sim_drive(psdm_sim *sim, double t, const double *y, double *rate);

/* kinetic, gravity's potential, springs, bristles */
psdm_status psdmp_sim_energies(psdm_sim *sim, const double *y, double energy[4]);

/* M x = b + C^T lambda with C x = d: x (size), lambda (rows). M (size x size) and b are overwritten. Rows of C (rows x
 * size) may be dependent. False when M is not positive definite. */
bool psdmp_sim_constrained(psdm_sim *sim, int size, int rows, double *M, const double *C, const double *d, double *b,
                           double *x, double *lambda);

/* velocity of a joint's friction: its motor's where there is a spring */
double psdmp_sim_speed(const psdm_sim *sim, const double *y, int joint);

/* Mass matrix of the coordinates at y into M (N x N). */
psdm_status psdmp_sim_mass(psdm_sim *sim, const double *y, double *M);

/* Whether accelerations exist without and with each payload before end: PSDM_E_SINGULAR and the joints' names. */
psdm_status psdmp_sim_loads_regular(psdm_sim *sim, double end, psdm_error *error);

/* Picks up or drops a load, and counts the energy of that. */
psdm_status psdmp_sim_carry(psdm_sim *sim, const double load[PSDMP_ROBOT_STANDARD]);

/* Sets what the controller sees, from y. */
void psdmp_sim_look(psdm_sim *sim, const double *y);

/* ---- contact.c ---- */

/* Decides which joints stick, slide or rest at a stop in the present state. */
psdm_status psdmp_sim_settle(psdm_sim *sim);

/* Event functions (3 n): positive while nothing happens. */
psdm_status psdmp_sim_events(psdm_sim *sim, double t, const double *y, double *g);
bool psdmp_sim_has_events(const psdm_sim *sim);

/* The same from the reactions of the latest rates. */
void psdmp_sim_event_values(const psdm_sim *sim, const double *y, double *g);

/* If limits end the run: the joint about to leave them, -1: none. After psdmp_sim_settle. */
int psdmp_sim_outside(const psdm_sim *sim);

/* Handles events in the present state: fired (3 n) are those whose function is not positive: a joint came to rest,
 * broke away, hit or left its stop. *hit: joint whose limit ends the run, else -1. */
psdm_status psdmp_sim_event(psdm_sim *sim, const bool *fired, int *hit);

/* ---- fixed.c ---- */

/* One step of size h from sim's state, cut at events. */
psdm_status psdmp_sim_rk4(psdm_sim *sim, double h, int *hit);
psdm_status psdmp_sim_euler(psdm_sim *sim, double h, int *hit);

/* Whether Euler's steps solve for friction, springs and stops. */
bool psdmp_sim_implicit(const psdm_sim *sim);

/* ---- variable.c ---- */

/* To t_end, not beyond it when hard. Handles events on the way. */
psdm_status psdmp_sim_variable_new(psdm_sim *sim, psdm_error *error);
void psdmp_sim_variable_free(psdmp_sim_cvode *variable);
bool psdmp_sim_variable_there(void);
psdm_status psdmp_sim_variable(psdm_sim *sim, double t_end, bool hard, int *hit, bool *again, char *text, size_t size);

/* Limit of rows of a run: more is an error before it starts. */
#define PSDMP_SIM_ROWS 1e9
#define PSDMP_SIM_STEPS 1e12

#endif
