/* cmd_simulate.h: shared by the files of psdm simulate: settings, the data of one run, its stages. */
#ifndef CMD_SIMULATE_H
#define CMD_SIMULATE_H

#include "tool.h"

#define SIMULATE_SETTINGS(X)                                                                                           \
  X(number, time, "0", "SECONDS", "simulated time; with --inverse 0 is the whole of a finite reference")               \
  X(text, initial, "", "FILE.csv|reference",                                                                           \
    "initial state: one row of q1.., optionally t, qd1.., theta1.., thetad1.. (motors) (default: q = qd = 0)")         \
  X(text, out, "", "FILE.csv", "every row of the motion, replaced only when complete; - is standard output")           \
  X(number, output, "0.01", "SECONDS", "interval of the rows")                                                         \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(text, integrator, "auto", SETTING_WORDS(PSDM_INTEGRATOR_LIST), "integration method, see above")                    \
  X(number, step, "0.001", "SECONDS", "rk4, euler: fixed step")                                                        \
  X(number, tolerance, "0", "RELATIVE", "adams, bdf: error per step; 0 is 1e-13 for adams, 1e-9 for bdf")              \
  X(flag, no_code, "", "", "use the recursions, even where generated code could be compiled")                          \
  X(number, wall, "0", "SECONDS", "stop after this wall time with the motion so far; 0: never")                        \
  X(number, speed_limit, "1e6", "RAD/S", "a motion beyond this velocity has diverged")                                 \
  X(text, friction, "none", SETTING_WORDS(PSDM_FRICTION_LIST), "friction of the joints, see above")                    \
  X(flag, elastic, "", "", "model joints with a stiffness as springs between motor and link")                          \
  X(text, limits, "ignore", "ignore|end|stop|bounce", "behaviour at the joints' position limits")                      \
  X(number, restitution, "0.5", "SHARE", "--limits bounce: share of the velocity after the impact")                    \
  X(flag, saturate, "", "", "saturate the controller's torque at the effort limits")                                   \
  X(text, wrench, "", "FILE.csv", "external force and moment: t, fx, fy, fz, and optionally mx, my, mz; base frame")   \
  X(text, wrench_link, "", "NAME",                                                                                     \
    "link or joint of the link that the wrench acts on, at its frame's origin (default: the tip of the longest "       \
    "moving chain)")                                                                                                   \
  X(text, payload, "", "FILE.csv",                                                                                     \
    "bodies carried by the tip of the longest moving chain from t on: t, m, and optionally rx.., Ixx, Iyy, Izz, Ixy, " \
    "Ixz, Iyz; m = 0 drops it")                                                                                        \
  X(flag, held, "", "", "rows of --torque and --wrench hold until the next instead of linear interpolation")           \
  X(flag, theta, "", "", "use the base parameters under theta in the robot file")                                      \
  X(text, control, "none", SETTING_WORDS(PSDM_CONTROL_LIST), "controller, see above")                                  \
  X(text, reference, "hold", "FILE.csv|cubic|quintic|septic|nonic|hold|sines|fourier",                                 \
    "motion to follow: t, q1.., optionally qd1.., qdd1..; or one of those above")                                      \
  X(text, to, "", "Q,...",                                                                                             \
    "end of the polynomials, position of hold, centre of sines and fourier (default: the initial position)")           \
  X(number, duration, "0", "SECONDS", "duration of the polynomials; 0: --time")                                        \
  X(text, amplitude, "", "A,...", "sines: amplitude of each joint; fourier: the largest deviation (default: 0.5)")     \
  X(text, frequency, "", "HZ,...", "sines: frequency of each joint (default: 0.5)")                                    \
  X(number, harmonics, "5", "COUNT", "fourier: number of random harmonics, at least 3")                                \
  X(number, period, "10", "SECONDS", "fourier: period of the first harmonic")                                          \
  X(text, torque, "", "FILE.csv", "torques for --control torque: t, tau1..")                                           \
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
    "standard deviation of torque noise at the motors, as a share of the effort limit or of 1 Nm; with --rate")        \
  X(number, seed, "1", "INTEGER", "random seed")                                                                       \
  X(text, log, "", "FILE.csv", "log as a robot's recorder would write it: t, q1.., tau1..")                            \
  X(number, log_rate, "0", "HZ", "sample rate of the log; 0: one row per --output")                                    \
  X(number, log_noise, "0", "SHARE",                                                                                   \
    "standard deviation of noise on the log's torques, as a share of the effort limit or of 1 Nm")                     \
  X(flag, current, "", "", "log currents i1.. by the torque constants instead of torques, with --inverse both")        \
  X(flag, motor, "", "", "log the motor side of gears and transmission: qm1.., taum1..")                               \
  X(flag, inverse, "", "", "no integration: the torques along the reference")                                          \
  X(flag, ignore_extra, "", "", "ignore unknown columns of CSV files")                                                 \
  ROBOT_SETTINGS(X)

typedef struct simulate_settings {
  SIMULATE_SETTINGS(SETTINGS_FIELD)
} simulate_settings;

/* kinds of reference; the first four are polynomials of degree 3, 5, 7, 9 */
#define REFERENCE_LIST(X)                                        \
  X(CUBIC, "cubic", "from rest to rest, polynomial of degree 3") \
  X(QUINTIC, "quintic", "degree 5")                              \
  X(SEPTIC, "septic", "degree 7")                                \
  X(NONIC, "nonic", "degree 9")                                  \
  X(HOLD, "hold", "constant position")                           \
  X(SINES, "sines", "one sine per joint")                        \
  X(FOURIER, "fourier", "random harmonics, at rest at the beginning")

typedef enum reference_kind {
#define REFERENCE_ENUM(id, name, help) REFERENCE_##id,
  REFERENCE_LIST(REFERENCE_ENUM)
#undef REFERENCE_ENUM
      REFERENCE_FILE,
  REFERENCE_KINDS
} reference_kind;

enum { SIMULATE_ARRAYS = 64, SIMULATE_PAYLOADS = 4096 };

/* How well a controller followed, over the rows; (n) each. */
typedef struct tracking {
  double *sum, *late_sum, *peak, *last; /* squares of all rows, of the last quarter; largest and last error */
  double *reference;                    /* (3 n) scratch */
  long rows, late_rows;
} tracking;

/* --inverse: the load of the last link, as a robot whose other links have no inertia. */
typedef struct carried {
  psdm_robot *load;
  psdm_work *work;
  double *nothing;                   /* (parameters) zero */
  double *tau;                       /* (n) what it takes */
  double *sum, *sum_motor, *current; /* (n) of the row, with the load */
  int next;                          /* the next row of the table */
} carried;

/* All data of one run; simulate_free releases it. */
typedef struct simulate_job {
  simulate_settings set;
  int n;
  psdm_robot *file, *stated, *believed_file, *believed; /* as read; with its stated theta; the controller's */
  const psdm_robot *robot, *model;                      /* the moving robot; the controller's model */

  reference_kind reference_kind;
  psdm_control_kind control_kind;
  bool start_on_reference;
  double start;                    /* s */
  double *q, *qd, *theta, *thetad; /* (n) where it starts; the last two NULL: springs at rest */
  psdm_motion *reference;
  psdm_signal *torque, *wrench;
  psdm_payload *payload;
  carried carried;
  psdm_controller *controller;
  psdm_sim_options options;
  psdm_sim *sim;
  void *arrays[SIMULATE_ARRAYS]; /* to be freed */
  int array_count;

  psdm_output *out, *log;
  bool out_begun, log_begun, interrupted;
  long rows, out_rows, log_rows;
  int decimation;    /* rows of the simulation per row of out */
  double row_period; /* s between the simulation's rows */
  unsigned long long log_random;
  double *log_noise, *constant, *gear; /* (n) Nm; Nm/A; motor turns per joint turn */
  double *scratch, *kept;              /* (3 n); the last row's numbers */
  tracking tracking;
  psdm_sim_row last; /* a copy of the last row, in the job's own memory */
  double first[4];   /* kinetic, potential, elastic and bristles' energy at the start */
  progress bar;
  psdm_sim_result result;
} simulate_job;

/* ---- cmd_simulate.c ---- */

/* zeroed, freed with the job; NULL when out of memory */
void *simulate_array(simulate_job *j, size_t count, size_t size);
bool simulate_given(const simulate_job *j, const char *name); /* a setting differs from its default */

/* "1,2,3": count numbers, or one for all. The option's name is for the message. -1 to go on, else an exit code. */
int simulate_numbers(const char *option, const char *text, int count, double *value);

/* ---- stages: -1 to go on, else an exit code ---- */

int simulate_words(simulate_job *j); /* cmd_simulate_check.c: names to numbers, contradictions */
/* cmd_simulate_robots.c: the robot, and the controller's model of it */
int simulate_robots(simulate_job *j, const char *path);
int simulate_initial(simulate_job *j);    /* cmd_simulate_inputs.c: --initial */
int simulate_inputs(simulate_job *j);     /* --torque, --wrench, --payload */
int simulate_reference(simulate_job *j);  /* cmd_simulate_reference.c */
int simulate_controller(simulate_job *j); /* cmd_simulate_control.c */
int simulate_open(simulate_job *j);       /* cmd_simulate_run.c: files to write */
int simulate_run(simulate_job *j);
int simulate_inverse(simulate_job *j); /* cmd_simulate_inverse.c */

/* ---- torques of --payload along a motion: cmd_simulate_carry.c ---- */

int simulate_carry_prepare(simulate_job *j);
/* j->carried.tau: torque of the load at this row */
psdm_status simulate_carry(simulate_job *j, const psdm_along_row *row, psdm_error *error);

/* ---- output rows: cmd_simulate_rows.c ---- */

typedef struct column_group {
  const char *name; /* "q": q1, q2, ..; with count 0 one column of this very name; NULL: the controller's states */
  int count;
  const double *value;
} column_group;

void simulate_header(const simulate_job *j, psdm_output *out, const column_group *groups, int count);
void simulate_values(psdm_output *out, const column_group *groups, int count);
void simulate_row(simulate_job *j, const psdm_sim_row *row);     /* to --out */
void simulate_log_row(simulate_job *j, const psdm_sim_row *row); /* cmd_simulate_log.c: to --log */
int simulate_log_prepare(simulate_job *j);

/* ---- interrupts: cmd_simulate_run.c ---- */

bool simulate_words_wanted(const simulate_job *j); /* standard output is free for a summary */

/* ---- cmd_simulate_summary.c ---- */

void simulate_print(simulate_job *j);
int simulate_json(simulate_job *j); /* exit code */

/* ---- random numbers: cmd_simulate_reference.c ---- */

double simulate_gaussian(unsigned long long *state); /* variance 1 */

#endif
