/* psdm/steps.h: an arm calibrated in four steps, each from its own experiment (Lloyd, Irani, Ahmadi 2022, section 3).
 *
 *   diag(Kt) i = tau_grav + tau_fric + tau_iner + tau_tool                                  (15)
 *
 *   motor      Kt from known masses: sweeps there and back, without and with them           (16, 17)
 *   gravity    the base parameters visible in gravity torques: slow paths there and back    (18)
 *   friction   LuGre of each drive: sines of one joint at a time                            (19, 20)
 *   inertia    the other base parameters, from the remaining torque                         (21)
 *
 * The known tool (`tool:` of the robot file) is subtracted in every step. Each step uses the results of the earlier
 * ones with their uncertainty: one covariance of all numbers grows from step to step. A step without logs keeps the
 * values in `before`, or the robot file's, taken as exact. What the experiments do not determine is reported, never
 * guessed. docs/steps.md has the equations. */
#ifndef PSDM_STEPS_H
#define PSDM_STEPS_H

#include "psdm/calibrate.h"
#include "psdm/excite.h"

#ifdef __cplusplus
extern "C" {
#endif

struct psdm_parameters;
struct psdm_steps;

/* One log and its step. */
typedef struct psdm_steps_log {
  const char *path;
  psdm_step step;
  /* motor: known mass on the default link (psdm_robot_default_link), kg, and its centre of mass in that link's frame,
   * m; 0: none */
  double mass, com[3];
} psdm_steps_log;

/* Zero-initialise for the defaults. */
typedef struct psdm_steps_options {
  int logs;
  const psdm_steps_log *log;
  psdm_log_options format;
  const struct psdm_parameters *before; /* results of earlier runs (psdm/parameters.h); nullable */
  double holdout;                       /* share of each step's rows, in blocks, to hold out; 0: 0.15; negative: none */
  double cutoff[PSDM_STEPS];            /* Hz of the zero-phase filter; 0: 4, 4, 40, 15; infinite: none */
  psdm_progress progress;               /* after a stop finished steps are kept */
  void *progress_user;
  /* called with the answer so far after each step, so that it can be saved; false stops */
  bool (*finished)(void *user, const struct psdm_steps *steps, psdm_step step);
  void *finished_user;
  unsigned long long reserved[8];
} psdm_steps_options;

/* coulomb, stat, stribeck, viscous, exponent, sigma0, sigma1, offset: as in psdm_friction */
enum { PSDM_FRICTION_NUMBERS = 8 };

/* Result of one step. */
typedef struct psdm_step_fit {
  bool done, from_before; /* by this run; by an earlier one */
  long rows;              /* number fitted */
  /* (n) of the step's own torque, as in Table 3; rows = 0 where a drive has none */
  const psdm_joint_fit *train, *heldout;
  const double *sigma; /* (n) Nm, residual */
  double condition;    /* of the step's scaled regressor; NAN for friction */
  double seconds;
} psdm_step_fit;

/* The answer. Constant once made (psdm_steps_predict borrows its memory: one thread at a time); all pointers live as
 * long as it does. The covariance is of the vector x of all numbers: Kt (n), theta (base), friction (8 n). */
typedef struct psdm_steps {
  const psdm_robot *robot;
  int n, base, standard, numbers; /* numbers: n + base + 8 n */
  /* (n) Nm/A (or Nm/Nm where logs have torques); NAN if neither the logs nor the file give it */
  const double *torque_constant;
  const int *torque_constant_from; /* (n) PSDM_FROM_... */
  bool currents;                   /* logs have currents; else torques, and Kt scales them */
  const psdm_estimate *theta;      /* (base) of the arm without the tool, named as psdm params names them */
  const int *theta_from;           /* (base) PSDM_FROM_... ; value is NAN where nothing determines it */
  const unsigned char *gravity;    /* (base) 1: visible in gravity torques */
  const psdm_friction *friction;   /* (n) drives; given = false where there is none */
  const int *friction_from;        /* (n) */
  const double *effective_inertia; /* (n) kg m^2, of the drive in the friction experiment's pose; NAN: not tested */
  const double *speed;             /* (n) rad/s, largest tested speed of the drive */
  /* (10) standard parameters of the known tool about the last link's frame; NULL: none */
  const double *tool;
  const double *covariance; /* (numbers^2); zero rows where unknown */
  const double *sd;         /* (numbers); infinite where unknown */
  psdm_step_fit step[PSDM_STEPS];
  /* (n) the whole model on the held-out rows of the inertia logs (Table 3's last column); rows = 0: no such logs */
  const psdm_joint_fit *all;
  /* remarks for the user: unobservable, taken from the file, ...; "" past the end */
  char (*remark)[200];
  bool stopped;
  double seconds, rate; /* s; Hz of the inertia logs, or of the last step's */
  struct psdmp_steps *internal;
} psdm_steps;

enum { PSDM_FROM_NOTHING, PSDM_FROM_FILE, PSDM_FROM_BEFORE, PSDM_FROM_LOG };

/* Allocates; free with psdm_steps_free. The robot must outlive the answer. PSDM_E_MISSING without cminpack and NLopt
 * where friction logs are given. */
PSDM_API psdm_status psdm_steps_run(const psdm_robot *robot, const psdm_steps_options *options,
                                    const psdm_allocator *allocator, psdm_steps **steps, psdm_error *error);
PSDM_API void psdm_steps_free(psdm_steps *steps); /* accepts NULL */

/* Faults in the logs, as psdm_calibration_fault. */
PSDM_API const char *psdm_steps_fault(const psdm_steps *steps, int index);

/* One row of a step's logs and the model: for plots. torque: measured and modelled, of what the step fits. */
typedef struct psdm_steps_row {
  double t;
  psdm_step step;
  int drive;
  bool heldout;
  double q, qd, measured, predicted;
} psdm_steps_row;
typedef bool (*psdm_steps_write)(void *user, const psdm_steps_row *row); /* false stops */

/* Reads the logs of this run's steps again, and passes on their rows. Allocates and frees. */
PSDM_API psdm_status psdm_steps_predict(const psdm_steps *steps, psdm_steps_write write, void *user, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
