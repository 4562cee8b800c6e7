/* cmd_calibrate.h: shared by the files of psdm calibrate: settings, the data of one run, its stages. */
#ifndef CMD_CALIBRATE_H
#define CMD_CALIBRATE_H

#include "tool.h"

#define CALIBRATE_SETTINGS(X)                                                                                          \
  X(list, log, "", "[STEP:]FILE ...",                                                                                  \
    "measured logs; may be given several times. Steps: motor: gravity: friction: inertia: before each name")           \
  X(text, route, "", "oneshot|steps",                                                                                  \
    "all parameters from one kind of log (the default), or step by step (where logs name a step)")                     \
  X(list, weight, "", "FILE=KG[,X,Y,Z] ...",                                                                           \
    "steps: mass on the tip of the longest moving chain during motor log FILE, and its centre in that link's frame "   \
    "(m)")                                                                                                             \
  X(text, estimator, "consistent", PSDM_SETTING_WORDS(PSDM_ESTIMATOR_LIST), "estimation method, see above")            \
  X(text, holdout, "", "SHARE|blocks:SECONDS/K",                                                                       \
    "hold out the last share of the rows, or every K-th block of this many seconds, for the final errors only "        \
    "(steps: a share of each step's, 0.15)")                                                                           \
  X(text, columns, "", "t=1,q=2:7,tau=8:13", "columns of the channels in logs without a header, counted from 1")       \
  X(text, out, "", "PARAMS.yaml", "parameter file, for --params of every command")                                     \
  X(flag, covariance, "", "", "store the covariance of all parameters in --out")                                       \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(flag, degrees, "", "", "positions and their derivatives in the log are in degrees")                                \
  X(text, offset, "", "RAD,...", "added to the log's positions, one number per joint")                                 \
  X(text, sign, "", "1,-1,...", "sign of each joint's positions and torques in the log, applied before --offset")      \
  X(number, rate, "0", "HZ", "sample rate of logs without t")                                                          \
  X(flag, ignore_extra, "", "", "ignore unknown columns of logs")                                                      \
  X(text, kinematics, "auto", "auto|q|qd|qdd", "logged channel that velocities and accelerations are computed from")   \
  X(text, cutoff, "", "HZ|none",                                                                                       \
    "cutoff of the zero-phase filter (default: chosen by cross-validation; steps: one or four, 4,4,40,15)")            \
  X(text, delay, "", "SECONDS", "delay of the torques (default: chosen by cross-validation)")                          \
  X(number, lambda, "0", "NATS", "consistent, ridge: weight of the prior; 0: chosen by cross-validation")              \
  X(text, prior, "", "FILE|kinematics",                                                                                \
    "prior of the consistent estimator: a parameter or robot file, or cylinders (default: the robot's inertias)")      \
  X(flag, plain_friction, "", "", "friction is viscous, Coulomb and offset only, no dictionary")                       \
  X(number, friction_columns, "6", "COUNT", "most friction columns per drive, up to 16")                               \
  X(flag, springs, "", "", "always include columns x, sin x and cos x for each drive: springs, counterbalances")       \
  X(number, decimate, "0", "K",                                                                                        \
    "low-pass regressor and torque of all rows, then keep every K-th; not for robust, iv, didim, energy")              \
  X(text, rest, "", "SHARE|none", "omit rows slower than this share of a joint's speed (default: 0.01)")               \
  X(text, predict, "", "FILE.csv",                                                                                     \
    "CSV of every row: t, segment, heldout, q*, qd*, qdd*, tau*, raw*, predicted*, band*, friction* (steps: t, step, " \
    "drive, heldout, q, qd, measured, predicted)")                                                                     \
  X(text, urdf, "", "FILE.urdf", "robot with its identified inertias and friction (consistent only)")                  \
  X(text, codegen, "", "DIR", "C code of the calibrated robot, as written by psdm codegen")                            \
  X(text, compare, "", "PARAMS.yaml",                                                                                  \
    "compare with an earlier result: parameter differences, and both errors on the same rows")                         \
  X(number, max_rel, "0", "SHARE",                                                                                     \
    "exit 1 when the global relative error (on held-out rows if any) is above this; 0: never")                         \
  X(text, max_rmse, "", "NM,...", "the same for each joint's RMSE: one number or one per joint")                       \
  X(text, accept, "usable", PSDM_SETTING_WORDS(PSDM_VERDICT_LIST), "worst verdict that still exits with 0")            \
  X(number, threads, "0", "COUNT",                                                                                     \
    "threads (default: OMP_NUM_THREADS, or the processors); the result does not depend on it")                         \
  X(number, cache, "0", "ROWS",                                                                                        \
    "most rows kept in memory (default: 2 million); for longer logs choices use evenly spread pieces, and the fit "    \
    "reads all rows again")                                                                                            \
  X(text, checkpoint, "", "DIR",                                                                                       \
    "store finished parts of long logs here: after a crash or kill, the same command continues from them")             \
  PSDM_ROBOT_SETTINGS(X)

typedef struct calibrate_settings {
  CALIBRATE_SETTINGS(PSDM_SETTINGS_FIELD)
} calibrate_settings;

/* An earlier result on the rows of this one. */
typedef struct comparison {
  psdm_parameters *other;
  bool heldout; /* over the held-out rows; without any, over the training rows */
  long rows;
  double *own, *others, *square; /* (n) sums of squares: errors of both, torque */
} comparison;

/* For --route steps only. */
typedef struct steps_job {
  bool chosen;
  psdm_steps_log *log; /* (logs) */
  psdm_steps_options options;
  psdm_parameters *before; /* --params */
  psdm_steps *result;
  int saved;                    /* exit code of the last --out, -1: none or success */
  const psdm_joint_fit *judged; /* (n) what thresholds are compared with, */
  const char *judged_of;        /* as text */
} steps_job;

/* All data of one run; calibrate_free releases it. */
typedef struct calibrate_job {
  calibrate_settings set;
  const char *path;
  psdm_robot *robot;
  int n;
  psdm_calibrate_options options;
  double *sign, *offset, *max_rmse; /* (n), NULL where not given */
  double *prior;                    /* (standard), NULL where not given */
  psdm_calibration *result;
  psdm_parameters *parameters; /* the same as in a file */
  psdm_model *model;           /* for formulas */
  comparison compared;
  steps_job steps;
  const psdm_part_fit *judged; /* the rows that thresholds apply to */
  char failure[64][160];       /* unmet thresholds, a sentence each */
  int failures;
  psdm_verdict verdict, accept; /* verdict, and the worst accepted one */
  psdm_finding fit;             /* --route steps: verdict on the errors; rule NULL: none */
} calibrate_job;

bool calibrate_words_wanted(const calibrate_job *j); /* standard output is free for a report */
const char *calibrate_joint_name(const calibrate_job *j, int q);
void calibrate_fail_threshold(calibrate_job *j, const char *text);

/* ---- stages: -1 to go on, else an exit code ---- */

int calibrate_route(calibrate_job *j);   /* cmd_calibrate_words.c: which one, by --route and the names of the logs */
int calibrate_words(calibrate_job *j);   /* options that need no robot */
int calibrate_numbers(calibrate_job *j); /* those that do: one number per joint, the prior */
int calibrate_files(calibrate_job *j);   /* cmd_calibrate_files.c: --out, --predict, --urdf, --codegen */
int calibrate_write_parameters(const calibrate_job *j); /* --out */
int calibrate_write_robot(const calibrate_job *j);      /* --urdf, --codegen */
int calibrate_compare(calibrate_job *j);                /* cmd_calibrate_compare.c */
void calibrate_judge(calibrate_job *j);                 /* cmd_calibrate.c: thresholds, and the verdict */
/* reasons for the verdict; NULL after the last */
const psdm_finding *calibrate_finding(const calibrate_job *j, int index);
bool calibrate_good(const calibrate_job *j); /* thresholds are met and the verdict is accepted: exit 0 */
void calibrate_print_verdict(const calibrate_job *j, const char *of, double rel); /* cmd_calibrate_print.c */
/* cmd_calibrate_json.c: parts of both documents; memory is head's */
const psdm_named_fit *calibrate_fits(const calibrate_job *j, psdm_result *head, const psdm_joint_fit *fit); /* (n) */
void calibrate_put_part(const calibrate_job *j, psdm_result *head, const psdm_part_fit *fit, psdm_fit_part *to);
const psdm_named_number *calibrate_formula(const calibrate_job *j, psdm_result *head, int parameter, long *terms);
/* count x count on the diagonal of a square matrix of this size */
const double *calibrate_block(psdm_result *head, const double *matrix, long size, long first, int count);
const psdm_found *calibrate_findings(const calibrate_job *j, psdm_result *head, long *count);
const psdm_word *calibrate_failures(const calibrate_job *j, psdm_result *head, long *count);
/* PSDM_VERDICT_FIELDS of v */
#define CALIBRATE_PUT_VERDICT(j, head, v)                                                            \
  ((v)->word = psdm_verdict_name((j)->verdict), (v)->good = calibrate_good(j),                       \
   (v)->accept = psdm_verdict_name((j)->accept), (v)->asked = (j)->set.max_rel > 0 || (j)->max_rmse, \
   (v)->findings.item = calibrate_findings(j, head, &(v)->findings.rows),                            \
   (v)->failures.item = calibrate_failures(j, head, &(v)->failures.rows))
void calibrate_warn_verdict(const calibrate_job *j); /* cmd_calibrate.c: when standard output is taken */

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

/* The index-th caution; NULL after the last. */
const char *calibrate_doubt(const calibrate_job *j, int index, char *buf, size_t size);

/* Difference of a base parameter from the compared result in standard deviations of both; NAN without one. */
double calibrate_apart(const calibrate_job *j, int parameter, double *other);

#endif
