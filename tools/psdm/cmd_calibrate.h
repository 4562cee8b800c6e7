/* cmd_calibrate.h: what the files of psdm calibrate share: settings, one run's belongings, its steps. */
#ifndef CMD_CALIBRATE_H
#define CMD_CALIBRATE_H

#include "tool.h"

#define CALIBRATE_SETTINGS(X)                                                                                          \
  X(list, log, "", "[STEP:]FILE ...",                                                                                  \
    "measured logs; may be given several times. Steps: motor: gravity: friction: inertia: before each name")           \
  X(text, route, "", "oneshot|steps",                                                                                  \
    "everything from one kind of log (the default), or step by step (where logs have a step)")                         \
  X(list, weight, "", "FILE=KG[,X,Y,Z] ...",                                                                           \
    "steps: mass on the tip of the longest moving chain that the motor log FILE was made with, and its centre in "     \
    "that link's frame (m)")                                                                                           \
  X(text, estimator, "consistent", SETTING_WORDS(PSDM_ESTIMATOR_LIST), "how parameters are found, see above")          \
  X(text, holdout, "", "SHARE|blocks:SECONDS/K",                                                                       \
    "hold out the last share of the rows, or every K-th block of so many seconds; only looked at in the end (steps: "  \
    "a share of each step's, 0.15)")                                                                                   \
  X(text, columns, "", "t=1,q=2:7,tau=8:13", "where channels stand in logs without a header, counted from 1")          \
  X(text, out, "", "PARAMS.yaml", "parameter file, for --params of every command")                                     \
  X(flag, covariance, "", "", "keep the covariance of all parameters in --out")                                        \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(flag, degrees, "", "", "positions of the log, and their rates, are in degrees")                                    \
  X(text, offset, "", "RAD,...", "added to the log's positions, one number per joint")                                 \
  X(text, sign, "", "1,-1,...", "the log's direction of each joint, positions and torques, before --offset")           \
  X(number, rate, "0", "HZ", "of logs without t")                                                                      \
  X(flag, ignore_extra, "", "", "pass over columns of logs that are no channel")                                       \
  X(text, kinematics, "auto", "auto|q|qd|qdd", "logged channel that velocities and accelerations come from")           \
  X(text, cutoff, "", "HZ|none",                                                                                       \
    "of the zero-phase filter (default: chosen by cross-validation; steps: one or four, 4,4,40,15)")                   \
  X(text, delay, "", "SECONDS", "by which torques are late (default: chosen by cross-validation)")                     \
  X(number, lambda, "0", "NATS", "consistent, ridge: weight of the prior; 0 is chosen by cross-validation")            \
  X(text, prior, "", "FILE|kinematics",                                                                                \
    "what the consistent estimator is pulled to: a parameter or robot file, or cylinders (default: the robot's "       \
    "inertias)")                                                                                                       \
  X(flag, plain_friction, "", "", "viscous, Coulomb and offset only, no dictionary of friction")                       \
  X(number, friction_columns, "6", "COUNT", "friction columns of a drive at most, up to 16")                           \
  X(flag, springs, "", "",                                                                                             \
    "x, sin x and cos x of each drive are columns too, whatever is chosen: springs, counterbalances")                  \
  X(number, decimate, "0", "K",                                                                                        \
    "regressor and torque of all rows through one low pass, then every K-th; not for robust, iv, didim, energy")       \
  X(text, rest, "", "SHARE|none", "leave out rows slower than this share of a joint's speed (default: 0.01)")          \
  X(text, predict, "", "FILE.csv",                                                                                     \
    "every row again: t, segment, heldout, q*, qd*, qdd*, tau*, raw*, predicted*, band*, friction* (steps: t, step, "  \
    "drive, heldout, q, qd, measured, predicted)")                                                                     \
  X(text, urdf, "", "FILE.urdf", "the robot with its identified inertias and friction (consistent only)")              \
  X(text, codegen, "", "DIR", "C code of the calibrated robot, as psdm codegen writes it")                             \
  X(text, compare, "", "PARAMS.yaml",                                                                                  \
    "an earlier result beside this one: differences, and both errors on the same rows")                                \
  X(number, max_rel, "0", "SHARE",                                                                                     \
    "exit 1 when the global relative error, held out where something is, lies above; 0 is never")                      \
  X(text, max_rmse, "", "NM,...", "the same for each joint's RMSE: one number or one per joint")                       \
  X(text, accept, "usable", SETTING_WORDS(PSDM_VERDICT_LIST), "the worst verdict that still ends with exit code 0")    \
  X(number, threads, "0", "COUNT",                                                                                     \
    "threads (default: OMP_NUM_THREADS, or the processors); the answer does not depend on it")                         \
  X(number, cache, "0", "ROWS",                                                                                        \
    "rows kept in memory at most (default: 2 million); of longer logs choices see evenly spread pieces, and all rows " \
    "are read again")                                                                                                  \
  X(text, checkpoint, "", "DIR",                                                                                       \
    "keep finished parts of long logs here: the same command goes on from there after it was killed")                  \
  ROBOT_SETTINGS(X)

typedef struct calibrate_settings {
  CALIBRATE_SETTINGS(SETTINGS_FIELD)
} calibrate_settings;

/* An earlier result on the rows of this one. */
typedef struct comparison {
  psdm_parameters *other;
  bool heldout; /* over the held-out rows; else over the training rows, as none are held out */
  long rows;
  double *own, *others, *square; /* (n) sums of squares: errors of both, torque */
} comparison;

/* What only --route steps has. */
typedef struct steps_job {
  bool chosen;
  psdm_steps_log *log; /* (logs) */
  psdm_steps_options options;
  psdm_parameters *before; /* --params */
  psdm_steps *result;
  int saved;                    /* exit code of the last --out, -1: none or well */
  const psdm_joint_fit *judged; /* (n) what thresholds look at, */
  const char *judged_of;        /* in words */
} steps_job;

/* Everything one run holds; calibrate_free releases it. */
typedef struct calibrate_job {
  calibrate_settings set;
  const char *path;
  psdm_robot *robot;
  int n;
  psdm_calibrate_options options;
  double *sign, *offset, *max_rmse; /* (n), NULL where not given */
  double *prior;                    /* (standard), NULL where not given */
  psdm_calibration *result;
  psdm_parameters *parameters; /* the same as a file has it */
  psdm_model *model;           /* for formulas */
  comparison compared;
  steps_job steps;
  const psdm_part_fit *judged; /* the part that thresholds look at */
  char failure[64][160];       /* thresholds that were not met, a sentence each */
  int failures;
  psdm_verdict verdict, accept; /* what the answer is worth, and may be */
  psdm_finding fit;             /* --route steps: what the errors say; rule NULL: nothing */
} calibrate_job;

bool calibrate_words_wanted(const calibrate_job *j); /* standard output is free for a report */
const char *calibrate_joint_name(const calibrate_job *j, int q);
void calibrate_fail_threshold(calibrate_job *j, const char *text);

/* ---- the steps: -1 to go on, else an exit code ---- */

int calibrate_route(calibrate_job *j);   /* cmd_calibrate_words.c: which one, by --route and the names of the logs */
int calibrate_words(calibrate_job *j);   /* options that need no robot */
int calibrate_numbers(calibrate_job *j); /* those that do: one number per joint, the prior */
int calibrate_files(calibrate_job *j);   /* cmd_calibrate_files.c: --out, --predict, --urdf, --codegen */
int calibrate_write_parameters(const calibrate_job *j); /* --out */
int calibrate_write_robot(const calibrate_job *j);      /* --urdf, --codegen */
int calibrate_compare(calibrate_job *j);                /* cmd_calibrate_compare.c */
void calibrate_judge(calibrate_job *j);                 /* cmd_calibrate.c: thresholds, and the verdict */
/* what the verdict rests on; NULL behind the last */
const psdm_finding *calibrate_finding(const calibrate_job *j, int index);
bool calibrate_good(const calibrate_job *j); /* thresholds are met, and the verdict is accepted: exit 0 */
void calibrate_print_verdict(const calibrate_job *j, const char *of, double rel); /* cmd_calibrate_print.c */
/* cmd_calibrate_json.c: within an object */
void calibrate_put_verdict(const calibrate_job *j, psdm_output *out);
void calibrate_warn_verdict(const calibrate_job *j); /* cmd_calibrate.c: where standard output has no room for it */

/* ---- reports ---- */

void calibrate_print(const calibrate_job *j); /* cmd_calibrate_print.c */
int calibrate_json(calibrate_job *j);         /* cmd_calibrate_json.c: exit code */

/* ---- --route steps ---- */

/* a number above zero, or a word */
int calibrate_positive_or(const char *option, const char *text, const char *word, double meant, double *value);
/* cmd_calibrate_words.c: what all logs have in common, to options.log */
void calibrate_log_options(calibrate_job *j);
int calibrate_step_words(calibrate_job *j);         /* cmd_calibrate_step_words.c: options that need no robot */
int calibrate_steps(calibrate_job *j);              /* cmd_calibrate_steps.c: all of it, once the route is known */
void calibrate_steps_print(const calibrate_job *j); /* cmd_calibrate_steps_print.c */
int calibrate_steps_json(calibrate_job *j);         /* cmd_calibrate_steps_json.c: exit code */
double calibrate_steps_rel(const calibrate_job *j); /* |error| / |tau| of what is judged */
const char *calibrate_from(int from);               /* PSDM_FROM_...: "log" */
const char *calibrate_friction_key(int number);     /* "coulomb", ... */
double calibrate_friction_number(const psdm_friction *friction, int number);

/* "tanh(v/0.02) |f|": a friction column with its numbers. Returns buf. */
char *calibrate_column_text(const psdm_column *column, char *buf, size_t size);

/* What should make one careful, the index-th; NULL behind the last. */
const char *calibrate_doubt(const calibrate_job *j, int index, char *buf, size_t size);

/* Difference of a base parameter to the compared result in standard deviations of both; NAN when it is not there. */
double calibrate_apart(const calibrate_job *j, int parameter, double *other);

#endif
