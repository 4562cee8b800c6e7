/* cmd_simulate.h: what the files of psdm simulate share: settings, one run's belongings, the steps of a run. */
#ifndef CMD_SIMULATE_H
#define CMD_SIMULATE_H

#include "tool.h"

#define SIMULATE_SETTINGS(X)                                                                                          \
  X(number, time, "0", "SECONDS", "how long; with --inverse 0 is the whole of a reference that has an end")           \
  X(text, initial, "", "FILE.csv|reference",                                                                          \
    "where it starts: one row of q1.., optionally t, qd1.., theta1.., thetad1.. (motors) (default: q = qd = 0)")      \
  X(text, out, "", "FILE.csv", "every row of the motion, whole or not at all; - is standard output")                  \
  X(number, output, "0.01", "SECONDS", "between rows")                                                                \
  X(flag, json, "", "", "write one JSON object")                                                                      \
  X(text, integrator, "auto", SETTING_WORDS(PSDM_INTEGRATOR_LIST), "how to integrate, see above")                     \
  X(number, step, "0.001", "SECONDS", "rk4, euler: fixed step")                                                       \
  X(number, tolerance, "0", "RELATIVE", "adams, bdf: error per step; 0 is 1e-13 for adams, 1e-9 for bdf")             \
  X(flag, no_code, "", "", "by the recursions, even where generated code could be compiled")                          \
  X(number, wall, "0", "SECONDS", "end after this much wall time with what there is; 0 is never")                     \
  X(number, speed_limit, "1e6", "RAD/S", "beyond this velocity a motion has diverged")                                \
  X(text, friction, "none", SETTING_WORDS(PSDM_FRICTION_LIST), "friction of the joints, see above")                   \
  X(flag, elastic, "", "", "joints with a stiffness are springs between motor and link")                              \
  X(text, limits, "ignore", "ignore|end|stop|bounce", "what happens at the joints' position limits")                  \
  X(number, restitution, "0.5", "SHARE", "--limits bounce: share of the velocity that comes back")                    \
  X(flag, saturate, "", "", "hold the controller's torque within the effort limits")                                  \
  X(text, wrench, "", "FILE.csv", "external force and moment: t, fx, fy, fz, and optionally mx, my, mz; base frame")  \
  X(text, wrench_link, "", "NAME",                                                                                    \
    "link or joint whose link the wrench acts on, at its frame's origin (default: the tip of the longest moving "     \
    "chain)")                                                                                                         \
  X(text, payload, "", "FILE.csv",                                                                                    \
    "bodies that the tip of the longest moving chain carries from t on: t, m, and optionally rx.., Ixx, Iyy, Izz, "   \
    "Ixy, Ixz, Iyz; m = 0 drops it")                                                                                  \
  X(flag, held, "", "", "rows of --torque and --wrench last until the next, rather than straight lines between them") \
  X(flag, theta, "", "", "take the base parameters that the robot file states under theta")                           \
  X(text, control, "none", SETTING_WORDS(PSDM_CONTROL_LIST), "controller, see above")                                 \
  X(text, reference, "hold", "FILE.csv|cubic|quintic|septic|nonic|hold|sines|fourier",                                \
    "motion to follow: t, q1.., optionally qd1.., qdd1..; or one of those above")                                     \
  X(text, to, "", "Q,...",                                                                                            \
    "where the polynomials end, what hold holds, the centre of sines and fourier (default: where it starts)")         \
  X(number, duration, "0", "SECONDS", "of the polynomials' motion; 0 is --time")                                      \
  X(text, amplitude, "", "A,...", "sines: of each joint; fourier: the largest deviation (default: 0.5)")              \
  X(text, frequency, "", "HZ,...", "sines: of each joint (default: 0.5)")                                             \
  X(number, harmonics, "5", "COUNT", "fourier: random ones, at least 3")                                              \
  X(number, period, "10", "SECONDS", "fourier: of the first harmonic")                                                \
  X(text, torque, "", "FILE.csv", "torques for --control torque: t, tau1..")                                          \
  X(number, bandwidth, "20", "RAD/S", "of the default gains")                                                         \
  X(text, kp, "", "A,...", "gains by position: one number or n")                                                      \
  X(text, kd, "", "A,...", "gains by velocity: one number or n")                                                      \
  X(flag, compensate, "", "", "feedforward, computed-torque: add the model's steady friction")                        \
  X(text, Q, "", "A,B,...",                                                                                           \
    "lqr: diagonal of Q: one number, or q's and qd's weights, or 2n (default: 100 for q, 1 for qd)")                  \
  X(text, R, "", "A,B,...", "lqr: diagonal of R: one number or n (default: 1/effort^2, or 0.01)")                     \
  X(text, inputs, "", "1,2,...", "lqr: only these joints have motors")                                                \
  X(number, lambda, "0", "1/S", "adaptive: s = de/dt + lambda e; 0 is half the bandwidth")                            \
  X(number, gamma, "1", "1/S", "adaptive: rate of adaptation")                                                        \
  X(number, bound, "0", "SHARE", "adaptive: how far estimates may move; 0 is any way")                                \
  X(text, model, "", "ROBOT", "robot file that the controller believes in (default: the robot)")                      \
  X(number, model_error, "0", "SHARE", "the controller's links are lighter or heavier by this share, at random")      \
  X(number, rate, "0", "HZ", "the controller samples, and its torque is held in between; 0 is continuous")            \
  X(number, quantum, "0", "RAD", "step of the encoders, for the sampled controller and the log")                      \
  X(number, noise, "0", "SHARE",                                                                                      \
    "standard deviation of torque noise at the motors, of the effort limit or of 1 Nm; with --rate")                  \
  X(number, seed, "1", "INTEGER", "of everything random")                                                             \
  X(text, log, "", "FILE.csv", "what a robot's recorder would have seen: t, q1.., tau1..")                            \
  X(number, log_rate, "0", "HZ", "of the log; 0 is one row per --output")                                             \
  X(number, log_noise, "0", "SHARE",                                                                                  \
    "standard deviation of noise on the log's torques, of the effort limit or of 1 Nm")                               \
  X(flag, current, "", "",                                                                                            \
    "currents i1.. by the torque constants, in place of torques in the log, beside them with --inverse")              \
  X(flag, motor, "", "", "on the motors' side of gears and transmission: qm1.., taum1..")                             \
  X(flag, inverse, "", "", "no integration: the torques that the reference takes")                                    \
  X(flag, ignore_extra, "", "", "let CSV files have columns that are not needed")                                     \
  ROBOT_SETTINGS(X)

typedef struct simulate_settings {
  SIMULATE_SETTINGS(SETTINGS_FIELD)
} simulate_settings;

/* where a motion comes from; the first four are polynomials of degree 3, 5, 7, 9 */
#define REFERENCE_LIST(X)                                        \
  X(CUBIC, "cubic", "from rest to rest, polynomial of degree 3") \
  X(QUINTIC, "quintic", "degree 5")                              \
  X(SEPTIC, "septic", "degree 7")                                \
  X(NONIC, "nonic", "degree 9")                                  \
  X(HOLD, "hold", "stand still")                                 \
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

/* --inverse: what the last link carries, as a robot whose links are else without inertia. */
typedef struct carried {
  psdm_robot *load;
  psdm_work *work;
  double *nothing;                   /* (parameters) zero */
  double *tau;                       /* (n) what it takes */
  double *sum, *sum_motor, *current; /* (n) of the row, with the load */
  int next;                          /* row of the table that comes next */
} carried;

/* Everything one run holds; simulate_free releases it. */
typedef struct simulate_job {
  simulate_settings set;
  int n;
  psdm_robot *file, *stated, *believed_file, *believed; /* as read; with its stated theta; the controller's */
  const psdm_robot *robot, *model;                      /* that moves; that the controller computes with */

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

/* zeroed, freed with the job; NULL when memory is out */
void *simulate_array(simulate_job *j, size_t count, size_t size);
bool simulate_given(const simulate_job *j, const char *name); /* a setting differs from its default */

/* "1,2,3": count numbers, or one for all. The option's name is for the message. -1 to go on, else an exit code. */
int simulate_numbers(const char *option, const char *text, int count, double *value);

/* ---- the steps: -1 to go on, else an exit code ---- */

int simulate_words(simulate_job *j); /* cmd_simulate_check.c: names to numbers, contradictions */
/* cmd_simulate_robots.c: the robot, and what the controller takes for it */
int simulate_robots(simulate_job *j, const char *path);
int simulate_initial(simulate_job *j);    /* cmd_simulate_inputs.c: --initial */
int simulate_inputs(simulate_job *j);     /* --torque, --wrench, --payload */
int simulate_reference(simulate_job *j);  /* cmd_simulate_reference.c */
int simulate_controller(simulate_job *j); /* cmd_simulate_control.c */
int simulate_open(simulate_job *j);       /* cmd_simulate_run.c: files to write */
int simulate_run(simulate_job *j);
int simulate_inverse(simulate_job *j); /* cmd_simulate_inverse.c */

/* ---- what --payload adds to torques along a motion: cmd_simulate_carry.c ---- */

int simulate_carry_prepare(simulate_job *j);
/* j->carried.tau: torque that the load takes at this row */
psdm_status simulate_carry(simulate_job *j, const psdm_along_row *row, psdm_error *error);

/* ---- rows out: cmd_simulate_rows.c ---- */

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
