/* simulate_priv.h: what the files of the job simulate share: settings, one run's belongings, the steps of a run. */
#ifndef PSDMP_JOB_SIMULATE_PRIV_H
#define PSDMP_JOB_SIMULATE_PRIV_H

#include "job/job.h"
#include "psdm/psdm.h"

#define SIMULATE_SETTINGS(X)                                                                                           \
  X(number, time, "0", "SECONDS", "simulated time; with `inverse` 0 is the whole of a finite reference")               \
  X(text, initial, "", "FILE.csv|reference",                                                                           \
    "initial state: one row of q1.., optionally t, qd1.., theta1.., thetad1.. (motors) (default: at rest at q = 0, "   \
    "or where the loops of the file begin)")                                                                           \
  X(text, out, "", "FILE.csv", "every row of the motion, replaced only when complete; - is standard output")           \
  X(number, output, "0.01", "SECONDS", "interval of the rows")                                                         \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(text, integrator, "auto", PSDM_SETTING_WORDS(PSDM_INTEGRATOR_LIST), "integration method, see above")               \
  X(number, step, "0.001", "SECONDS", "rk4, euler: fixed step")                                                        \
  X(number, tolerance, "0", "RELATIVE", "adams, bdf: error per step; 0 is 1e-13 for adams, 1e-9 for bdf")              \
  X(flag, no_code, "", "", "use the recursions, even where generated code could be compiled")                          \
  X(number, wall, "0", "SECONDS", "stop after this wall time with the motion so far; 0: never")                        \
  X(number, speed_limit, "1e6", "RAD/S", "a motion beyond this velocity has diverged")                                 \
  X(text, friction, "none", PSDM_SETTING_WORDS(PSDM_FRICTION_LIST), "friction of the joints, see above")               \
  X(flag, elastic, "", "", "model joints with a stiffness as springs between motor and link")                          \
  X(text, limits, "ignore", "ignore|end|stop|bounce", "behaviour at the joints' position limits")                      \
  X(number, restitution, "0.5", "SHARE", "`limits = bounce`: share of the velocity after the impact")                  \
  X(flag, saturate, "", "", "saturate the controller's torque at the effort limits")                                   \
  X(text, wrench, "", "FILE.csv", "external force and moment: t, fx, fy, fz, and optionally mx, my, mz; base frame")   \
  X(text, wrench_link, "", "NAME",                                                                                     \
    "link or joint of the link that the wrench acts on, at its frame's origin (default: the tip of the longest "       \
    "moving chain)")                                                                                                   \
  X(text, payload, "", "FILE.csv",                                                                                     \
    "bodies carried by the tip of the longest moving chain from t on: t, m, and optionally rx.., Ixx, Iyy, Izz, Ixy, " \
    "Ixz, Iyz; m = 0 drops it")                                                                                        \
  X(flag, held, "", "", "rows of `torque` and `wrench` hold until the next instead of linear interpolation")           \
  X(flag, theta, "", "", "use the base parameters under theta in the robot file")                                      \
  X(text, control, "none", PSDM_SETTING_WORDS(PSDM_CONTROL_LIST), "controller, see above")                             \
  X(text, reference, "hold", "FILE.csv|cubic|quintic|septic|nonic|hold|sines|fourier",                                 \
    "motion to follow: t, q1.., optionally qd1.., qdd1..; or one of those above")                                      \
  X(text, to, "", "Q,...",                                                                                             \
    "end of the polynomials, position of hold, centre of sines and fourier (default: the initial position)")           \
  X(number, duration, "0", "SECONDS", "duration of the polynomials; 0: `time`")                                        \
  X(text, amplitude, "", "A,...", "sines: amplitude of each joint; fourier: the largest deviation (default: 0.5)")     \
  X(text, frequency, "", "HZ,...", "sines: frequency of each joint (default: 0.5)")                                    \
  X(number, harmonics, "5", "COUNT", "fourier: number of random harmonics, at least 3")                                \
  X(number, period, "10", "SECONDS", "fourier: period of the first harmonic")                                          \
  X(text, torque, "", "FILE.csv", "torques for `control = torque`: t, tau1..")                                         \
  X(number, bandwidth, "20", "RAD/S", "bandwidth of the default gains")                                                \
  X(text, kp, "", "A,...", "position gains: one number or n")                                                          \
  X(text, kd, "", "A,...", "velocity gains: one number or n")                                                          \
  X(flag, compensate, "", "", "feedforward, computed-torque: add the model's steady friction")                         \
  X(text, Q, "", "A,B,...",                                                                                            \
    "lqr: diagonal of Q: one number, or weights of q and qd, or 2n (default: 100 for q, 1 for qd)")                    \
  X(text, R, "", "A,B,...", "lqr: diagonal of R: one number or n (default: 1/effort^2, or 0.01)")                      \
  X(text, inputs, "", "1,2,...", "lqr: only these joints have motors")                                                 \
  X(number, lambda, "0", "1/S", "adaptive: s = de/dt + lambda e; 0: half the bandwidth")                               \
  X(number, gamma, "1", "1/S", "adaptive: rate of adaptation")                                                         \
  X(number, bound, "0", "SHARE", "adaptive: bound on the change of the estimates; 0: none")                            \
  X(text, model, "", "ROBOT", "robot file for the controller's model (default: the robot)")                            \
  X(number, model_error, "0", "SHARE", "change the links of the controller's model by this share, at random")          \
  X(number, rate, "0", "HZ", "sample rate of the controller, whose torque is held in between; 0: continuous")          \
  X(number, quantum, "0", "RAD", "resolution of the encoders, for the sampled controller and the log")                 \
  X(number, noise, "0", "SHARE",                                                                                       \
    "standard deviation of torque noise at the motors, as a share of the effort limit or of 1 Nm; with `rate`")        \
  X(number, seed, "1", "INTEGER", "random seed")                                                                       \
  X(text, log, "", "FILE.csv", "log as a robot's recorder would write it: t, q1.., tau1..")                            \
  X(number, log_rate, "0", "HZ", "sample rate of the log; 0: one row per `output`")                                    \
  X(number, log_noise, "0", "SHARE",                                                                                   \
    "standard deviation of noise on the log's torques, as a share of the effort limit or of 1 Nm")                     \
  X(flag, current, "", "", "log currents i1.. by the torque constants instead of torques, with `inverse` both")        \
  X(flag, motor, "", "", "log the motor side of gears and transmission: qm1.., taum1..")                               \
  X(flag, inverse, "", "", "no integration: the torques along the reference")                                          \
  X(flag, ignore_extra, "", "", "ignore unknown columns of CSV files")                                                 \
  PSDM_ROBOT_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_job_simulate_settings, SIMULATE_SETTINGS);

typedef enum psdmp_job_reference_kind {
#define REFERENCE_ENUM(id, name, help) REFERENCE_##id,
  PSDM_REFERENCE_LIST(REFERENCE_ENUM)
#undef REFERENCE_ENUM
      REFERENCE_FILE,
  REFERENCE_KINDS
} psdmp_job_reference_kind;

enum { SIMULATE_PAYLOADS = 4096 };

/* How well a controller followed, over the rows; (n) each. */
typedef struct psdmp_job_tracking {
  double *sum, *late_sum, *peak, *last; /* squares of all rows, of the last quarter; largest and last error */
  double *reference;                    /* (3 n) scratch */
  long rows, late_rows;
} psdmp_job_tracking;

/* inverse: what the last link carries, as a robot whose links are else without inertia. */
typedef struct psdmp_job_carried {
  psdm_robot *load;
  psdm_work *work;
  double *nothing;                   /* (parameters) zero */
  double *tau;                       /* (n) what it takes */
  double *sum, *sum_motor, *current; /* (n) of the row, with the load */
  int next;                          /* row of the table that comes next */
} psdmp_job_carried;

/* All data of one run; simulate_free releases it. */
typedef struct psdmp_job_simulate {
  psdm_job job;
  psdmp_job_simulate_settings set;
  int n;
  psdm_robot *file, *stated, *believed_file, *believed; /* as read; with its stated theta; the controller's */
  const psdm_robot *robot, *model;                      /* the moving robot; the controller's model */

  psdmp_job_reference_kind reference_kind;
  psdm_control_kind control_kind;
  bool start_on_reference;
  double start;                    /* s */
  double *q, *qd, *theta, *thetad; /* (n) where it starts; the last two NULL: springs at rest */
  psdm_motion *reference;
  psdm_signal *torque, *wrench;
  psdm_sim_payload *payload;
  psdmp_job_carried carried;
  psdm_controller *controller;
  psdm_sim_options options;
  psdm_sim *sim;

  psdmp_job_sink *out, *log;
  bool interrupted;
  long rows, out_rows, log_rows;
  int decimation;    /* rows of the simulation per row of out */
  double row_period; /* s between the simulation's rows */
  uint64_t log_random;
  double *log_noise, *constant, *gear; /* (n) Nm; Nm/A; motor turns per joint turn */
  double *scratch, *kept;              /* (3 n); the last row's numbers */
  psdmp_job_tracking tracking;
  psdm_sim_row last;        /* a copy of the last row, in the job's own memory */
  double first[4];          /* kinetic, potential, elastic and bristles' energy at the start */
  double began;             /* of the stage, by the clock */
  long long total;          /* us of motion */
  const char **state_names; /* of the controller's states */
  psdm_sim_result result;
  psdm_simulation answer;
} psdmp_job_simulate;

/* ---- the steps ---- */

psdm_status psdmp_job_simulate_words(psdmp_job_simulate *j); /* simulate_check.c: names to numbers, contradictions */
/* simulate_robots.c: the robot, and what the controller takes for it */
psdm_status psdmp_job_simulate_robots(psdmp_job_simulate *j);
psdm_status psdmp_job_simulate_initial(psdmp_job_simulate *j);    /* simulate_inputs.c: initial */
psdm_status psdmp_job_simulate_inputs(psdmp_job_simulate *j);     /* torque, wrench, payload */
psdm_status psdmp_job_simulate_reference(psdmp_job_simulate *j);  /* simulate_reference.c */
psdm_status psdmp_job_simulate_controller(psdmp_job_simulate *j); /* simulate_control.c */
psdm_status psdmp_job_simulate_open(psdmp_job_simulate *j);       /* simulate_run.c: files to write */
psdm_status psdmp_job_simulate_run(psdmp_job_simulate *j);
psdm_status psdmp_job_simulate_inverse(psdmp_job_simulate *j); /* simulate_inverse.c */

/* ---- torques of payload along a motion: simulate_carry.c ---- */

psdm_status psdmp_job_simulate_carry_prepare(psdmp_job_simulate *j);
/* j->carried.tau: torque of the load at this row */
psdm_status psdmp_job_simulate_carry(psdmp_job_simulate *j, const psdm_along_row *row, psdm_error *error);

/* ---- rows out: simulate_rows.c, simulate_log.c ---- */

void psdmp_job_simulate_row(psdmp_job_simulate *j, const psdm_sim_row *row);     /* to out */
void psdmp_job_simulate_log_row(psdmp_job_simulate *j, const psdm_sim_row *row); /* to log */
psdm_status psdmp_job_simulate_log_prepare(psdmp_job_simulate *j);

psdm_status psdmp_job_simulate_answer(psdmp_job_simulate *j); /* simulate_answer.c: the document */

/* ---- random numbers: simulate_reference.c ---- */

double psdmp_job_simulate_gaussian(uint64_t *state); /* variance 1 */

#endif
