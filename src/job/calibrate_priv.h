/* calibrate_priv.h: what the files of the job calibrate share: settings, the data of one run, its stages. */
#ifndef PSDMP_JOB_CALIBRATE_PRIV_H
#define PSDMP_JOB_CALIBRATE_PRIV_H

#include "job/job.h"
#include "psdm/psdm.h"

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
  X(text, out, "", "PARAMS.yaml", "parameter file, for `params` of every command")                                     \
  X(flag, covariance, "", "", "store the covariance of all parameters in `out`")                                       \
  X(flag, json, "", "", "write one JSON object")                                                                       \
  X(flag, degrees, "", "", "positions and their derivatives in the log are in degrees")                                \
  X(text, offset, "", "RAD,...", "added to the log's positions, one number per joint")                                 \
  X(text, sign, "", "1,-1,...", "sign of each joint's positions and torques in the log, applied before `offset`")      \
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

PSDM_SETTINGS_STRUCT(psdmp_job_calibrate_settings, CALIBRATE_SETTINGS);

/* An earlier result on the rows of this one. */
typedef struct psdmp_job_comparison {
  psdm_parameters *other;
  bool heldout; /* over the held-out rows; without any, over the training rows */
  long rows;
  double *own, *others, *square; /* (n) sums of squares: errors of both, torque */
} psdmp_job_comparison;

/* route steps only. */
typedef struct psdmp_job_steps {
  bool chosen;
  psdm_steps_log *log; /* (logs) */
  psdm_steps_options options;
  psdm_parameters *before; /* params */
  psdm_steps *result;
  psdm_status saved;            /* of the last parameter file */
  const psdm_joint_fit *judged; /* (n) what thresholds are compared with, */
  const char *judged_of;        /* as text */
  psdm_finding finding;         /* verdict on the errors; rule NULL: none */
} psdmp_job_steps;

/* All data of one run. */
typedef struct psdmp_job_calibrate {
  psdm_job job;
  psdmp_job_calibrate_settings set;
  int n;
  psdm_calibrate_options options;
  double *sign, *offset, *max_rmse; /* (n), NULL where not given */
  double *prior;                    /* (standard), NULL where not given */
  psdm_calibration *result;
  psdm_parameters *parameters; /* the same as in a file */
  psdm_model *model;           /* for formulas */
  psdmp_job_comparison compared;
  psdmp_job_steps steps;
  char failure[64][160]; /* unmet thresholds, a sentence each */
  int failures;
  psdm_verdict verdict, accept; /* verdict, and the worst accepted one */
} psdmp_job_calibrate;

/* ---- settings: calibrate_check.c ---- */

psdm_status psdmp_job_calibrate_route(psdmp_job_calibrate *j);   /* by its setting and the names of the logs */
psdm_status psdmp_job_calibrate_words(psdmp_job_calibrate *j);   /* settings that need no robot */
psdm_status psdmp_job_calibrate_numbers(psdmp_job_calibrate *j); /* those that do: one number per joint, the prior */
/* a file is to be written, or its content kept */
bool psdmp_job_calibrate_asked(const psdmp_job_calibrate *j, const char *setting);
/* for both routes: a number above zero, or a word; accept; what all logs have in common, to options.log; of these
 * settings and json at most one uses standard output (words: how they are listed) */
psdm_status psdmp_job_calibrate_positive_or(const psdmp_job_calibrate *j, const char *setting, const char *text,
                                            const char *word, double meant, double *value);
psdm_status psdmp_job_calibrate_accept(psdmp_job_calibrate *j);
void psdmp_job_calibrate_log_options(psdmp_job_calibrate *j);
psdm_status psdmp_job_calibrate_one_output(const psdmp_job_calibrate *j, const char *const *path, int count,
                                           const char *words);

/* ---- the run ---- */

psdm_status psdmp_job_calibrate_compare(psdmp_job_calibrate *j); /* calibrate_compare.c: with an earlier result */
/* difference of a base parameter from the compared result in standard deviations of both; NAN without one */
double psdmp_job_calibrate_apart(const psdmp_job_calibrate *j, int parameter, double *other);
/* calibrate.c: thresholds, of errors that part names */
void psdmp_job_calibrate_threshold_rel(psdmp_job_calibrate *j, double rel, const char *part);
void psdmp_job_calibrate_threshold_rmse(psdmp_job_calibrate *j, const psdm_joint_fit *fit, const char *part);
/* reasons for the verdict; NULL after the last */
const psdm_finding *psdmp_job_calibrate_finding(const psdmp_job_calibrate *j, int index);

/* ---- files: calibrate_files.c ---- */

/* to_file: out is written too, not only kept */
psdm_status psdmp_job_calibrate_parameters(const psdmp_job_calibrate *j, bool to_file);
psdm_status psdmp_job_calibrate_predictions(const psdmp_job_calibrate *j);
psdm_status psdmp_job_calibrate_robot(const psdmp_job_calibrate *j); /* urdf, codegen */

/* ---- answers: calibrate_answer.c, calibrate_steps_answer.c ---- */

void psdmp_job_calibrate_fill(psdm_job *job, psdm_result *head);       /* a psdm_calibrate_result */
void psdmp_job_calibrate_steps_fill(psdm_job *job, psdm_result *head); /* a psdm_calibrate_steps_result */
/* parts of both; memory is head's */
const psdm_named_fit *psdmp_job_calibrate_fits(const psdmp_job_calibrate *j, psdm_result *head,
                                               const psdm_joint_fit *fit); /* (n) */
void psdmp_job_calibrate_put_part(const psdmp_job_calibrate *j, psdm_result *head, const psdm_part_fit *fit,
                                  psdm_fit_part *to);
const psdm_named_number *psdmp_job_calibrate_formula(const psdmp_job_calibrate *j, psdm_result *head, int parameter,
                                                     long *terms);
/* count x count on the diagonal of a square matrix of this size */
const double *psdmp_job_calibrate_block(psdm_result *head, const double *matrix, long size, long first, int count);
const psdm_found *psdmp_job_calibrate_findings(const psdmp_job_calibrate *j, psdm_result *head, long *count);
const psdm_word *psdmp_job_calibrate_failures(const psdmp_job_calibrate *j, psdm_result *head, long *count);
/* PSDM_VERDICT_FIELDS of v */
#define CALIBRATE_PUT_VERDICT(j, head, v)                                                            \
  ((v)->word = psdm_verdict_name((j)->verdict), (v)->good = (j)->job.good,                           \
   (v)->accept = psdm_verdict_name((j)->accept), (v)->asked = (j)->set.max_rel > 0 || (j)->max_rmse, \
   (v)->findings.item = psdmp_job_calibrate_findings(j, head, &(v)->findings.rows),                  \
   (v)->failures.item = psdmp_job_calibrate_failures(j, head, &(v)->failures.rows))

/* ---- route steps ---- */

psdm_status psdmp_job_calibrate_step_words(psdmp_job_calibrate *j); /* calibrate_step_check.c */
psdm_status psdmp_job_calibrate_steps(psdmp_job_calibrate *j); /* calibrate_steps.c: all of it, once it is chosen */
double psdmp_job_calibrate_steps_rel(const psdmp_job_calibrate *j); /* |error| / |tau| of what is judged */

#endif
