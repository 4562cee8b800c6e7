/* psdm/calibrate.h: a model that one can trust, from logs.
 *
 *   tau = Y(q, qd, qdd) theta + friction,    friction of each drive from a dictionary of columns, chosen by
 *                                            cross-validation
 *
 *   psdm_calibrate_options options = {.files = 1, .path = &path, .holdout = 0.3};
 *   psdm_calibrate(robot, &options, NULL, &calibration, &error);
 *
 * With a transmission the equations are those of the drives: gear times motor torque, and friction at the motor's
 * own speed. All choices (where velocities come from, cutoff, delay of the torque, friction columns, weight of the
 * prior) are made by cross-validation over contiguous blocks of the training part; the part that is held out is only
 * looked at in the end. docs/calibrate.md has the equations. */
#ifndef PSDM_CALIBRATE_H
#define PSDM_CALIBRATE_H

#include "psdm/log.h"
#include "psdm/ranks.h"
#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* id, name, help */
#define PSDM_ESTIMATOR_LIST(X)                                                                                         \
  X(CONSISTENT, "consistent", "least squares with every link's inertia physically possible, weakly pulled to a prior") \
  X(OLS, "ols", "ordinary least squares")                                                                              \
  X(WLS, "wls", "least squares, each drive weighted by its own residual")                                              \
  X(ROBUST, "robust", "weighted, and outliers count less (Huber, Tukey)")                                              \
  X(TLS, "tls", "total least squares: errors in the regressor too")                                                    \
  X(RIDGE, "ridge", "weighted least squares with a quadratic pull to the prior")                                       \
  X(IV, "iv", "instrumental variables from the simulated robot (IDIM-IV, Janot et al. 2014)")                          \
  X(DIDIM, "didim", "torques of the simulated robot against the measured ones (DIDIM, Gautier et al. 2013)")           \
  X(ENERGY, "energy", "energy and work between moments: no accelerations (Gautier, Khalil 1988)")

typedef enum psdm_estimator {
#define PSDM_ESTIMATOR_ENUM(id, name, help) PSDM_ESTIMATOR_##id,
  PSDM_ESTIMATOR_LIST(PSDM_ESTIMATOR_ENUM)
#undef PSDM_ESTIMATOR_ENUM
      PSDM_ESTIMATORS
} psdm_estimator;

PSDM_API const char *psdm_estimator_name(psdm_estimator estimator); /* NULL when out of range */
PSDM_API bool psdm_estimator_find(const char *name, psdm_estimator *estimator);

/* Where velocities and accelerations come from. id, name */
#define PSDM_KINEMATICS_LIST(X) X(AUTO, "auto") X(POSITION, "q") X(VELOCITY, "qd") X(ACCELERATION, "qdd")

typedef enum psdm_kinematics {
#define PSDM_KINEMATICS_ENUM(id, name) PSDM_KINEMATICS_##id,
  PSDM_KINEMATICS_LIST(PSDM_KINEMATICS_ENUM)
#undef PSDM_KINEMATICS_ENUM
      PSDM_KINEMATICS_KINDS
} psdm_kinematics;

PSDM_API const char *psdm_kinematics_name(psdm_kinematics kinematics); /* NULL when out of range */
PSDM_API bool psdm_kinematics_find(const char *name, psdm_kinematics *kinematics);

/* Zero-initialise for the defaults. */
typedef struct psdm_calibrate_options {
  int files;
  const char *const *path;
  psdm_log_options log;
  psdm_estimator estimator;
  double holdout;       /* share of the rows, the last ones, that is held out; 0: none */
  double holdout_block; /* or every holdout_every-th block of so many seconds */
  int holdout_every;
  psdm_kinematics kinematics;
  double cutoff; /* Hz; 0: chosen; infinite: no filter */
  /* s by which torques are late, where delay_given; else it is chosen, up to 20 ms either way, and on to 250 ms
   * where that is not enough */
  double delay;
  bool delay_given;
  double lambda;       /* consistent, ridge: weight of the prior; 0: chosen */
  bool plain_friction; /* viscous, Coulomb (sign) and offset only: no dictionary */
  int columns;         /* most friction columns of a drive, 16 at most; 0: 6; three are always there */
  /* x, and of joints that turn sin x and cos x, are columns of every drive whatever is chosen; they come on top of
   * columns */
  bool springs;
  /* K > 1: regressor, friction and torque of all rows go through one psdm_decimator, and every K-th is fitted and
   * judged; 0, 1: rows are thinned to what the filter's cutoff leaves room for. Not for robust, iv, didim, energy. */
  int decimate;
  /* rows slower than this share of a joint's speed are not fitted; 0: chosen (none or 0.01); negative: none */
  double rest;
  /* standard parameters (psdm_robot_parameter_count) to pull to; NULL: the robot's, or from its kinematics */
  const double *prior;
  bool prior_kinematics; /* ignore the robot's own inertias as a prior */
  /* rows kept in memory at most, 65536 at least; 0: 2 million. Of longer logs choices see evenly spread pieces, and
   * all rows are read again. */
  long cache;
  /* 0: as OMP_NUM_THREADS or the processors say; 1 where the caller has an allocator. The answer does not depend on
   * it */
  int threads;
  psdm_ranks *ranks; /* other processes that help; NULL: none. The answer does not depend on their number */
  /* folder in which finished parts are kept, so that a run that was ended goes on from there; NULL: none */
  const char *checkpoint;
  /* after a stop choices that were not made keep their defaults, and only rows that are in memory are fitted */
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_calibrate_options;

/* How well torques of one joint are met. */
typedef struct psdm_joint_fit {
  long rows;
  /* Nm; |error| / |tau|; rmse / range of tau; 1 - |error|^2 / |tau - mean|^2; NAN where there are no rows, or
   * nothing to divide by */
  double rmse, rel, nrmse, r2;
} psdm_joint_fit;

/* The same over rows of one kind. */
typedef struct psdm_part_fit {
  const psdm_joint_fit *joint; /* (n) */
  double global_rel;           /* |error| / |tau| over all joints; NAN without rows */
  long rows;
} psdm_part_fit;

/* RAW: all rows, torque as it was logged */
enum { PSDM_FIT_ALL, PSDM_FIT_MOVING, PSDM_FIT_REST, PSDM_FIT_RAW, PSDM_FIT_PARTS };

/* One friction column of a drive: its value times gain is torque. x, v: the drive's position and speed, f: the rigid
 * torque of the fit. id, text */
#define PSDM_COLUMN_LIST(X)                                           \
  X(VISCOUS, "v")                                                     \
  X(OFFSET, "1")                                                      \
  X(SIGN, "sign(v)")                                                  \
  X(TANH, "tanh(v/w)")                                                \
  X(STOP, "stop(x/w)") /* z <- clip(z + dx/w, -1, 1): Maxwell slip */ \
  X(STRIBECK, "tanh(3v/w) exp(-(v/w)^2)")                             \
  X(POWER, "|v|^w sign(v)")                                           \
  X(ABSOLUTE, "|v|")                                                  \
  X(LINEAR, "x")                                                      \
  X(SINE, "sin(w x)")                                                 \
  X(COSINE, "cos(w x)")

typedef enum psdm_column_kind {
#define PSDM_COLUMN_ENUM(id, text) PSDM_COLUMN_##id,
  PSDM_COLUMN_LIST(PSDM_COLUMN_ENUM)
#undef PSDM_COLUMN_ENUM
      PSDM_COLUMN_KINDS
} psdm_column_kind;

PSDM_API const char *psdm_column_text(psdm_column_kind kind); /* NULL when out of range */

typedef struct psdm_column {
  psdm_column_kind kind;
  double width;    /* w above, rad/s or rad */
  int load;        /* 0; 1, 2: times |f|, f^2 */
  double gain, sd; /* Nm per column's unit */
} psdm_column;

/* One base parameter. */
typedef struct psdm_estimate {
  const char *name;
  double value, sd;
  double prior_share; /* of its variance: above one half the log says little about it */
  /* false: the torques are met as well, within their noise, when this and the others that are not are zero */
  bool essential;
} psdm_estimate;

/* What an answer is worth. id, name, meaning */
#define PSDM_VERDICT_LIST(X)                                                                      \
  X(GOOD, "good", "no rule found anything")                                                       \
  X(USABLE, "usable", "it explains the torques; what was found is to be known before it is used") \
  X(POOR, "poor", "the torques are explained badly, or the numbers cannot be right")              \
  X(USELESS, "useless", "no better, or not much better, than no model at all")

typedef enum psdm_verdict {
#define PSDM_VERDICT_ENUM(id, name, help) PSDM_VERDICT_##id,
  PSDM_VERDICT_LIST(PSDM_VERDICT_ENUM)
#undef PSDM_VERDICT_ENUM
      PSDM_VERDICTS
} psdm_verdict;

PSDM_API const char *psdm_verdict_name(psdm_verdict verdict); /* NULL when out of range */
PSDM_API bool psdm_verdict_find(const char *name, psdm_verdict *verdict);

/* One rule that was not met, and how far down the answer is for that. docs/calibrate.md has them all. */
typedef struct psdm_finding {
  psdm_verdict verdict;
  const char *rule; /* "error", "mass", ... */
  char text[280];   /* what was found, where, what was expected */
} psdm_finding;

/* The rules that need no more than errors: of the torque that is not explained, and of a constant in its place. Rows
 * in motion; finding is set where it is not good. */
PSDM_API psdm_verdict psdm_verdict_of_fit(int n, const psdm_joint_fit *joint, psdm_finding *finding);

/* The answer. Constant once made; all pointers live as long as the calibration. */
typedef struct psdm_calibration {
  const psdm_robot *robot;
  psdm_estimator estimator;
  int n, base, standard;
  const psdm_estimate *theta; /* (base), named as psdm params names them */
  const double *covariance;   /* ((base + all columns)^2) of theta, then the columns' gains drive by drive */
  const double *pi;           /* (standard) full parameters: consistent and ridge; else NULL */
  const double *prior;        /* (standard) that was pulled to; NULL: none */
  bool prior_from_kinematics;
  double prior_mass;                /* kg, of the kinematic prior */
  const int *columns;               /* (n) friction columns of each drive */
  const psdm_column *const *column; /* (n) */
  const double *sigma;              /* (n) residual's standard deviation of each drive, Nm */
  /* (n) of the drives in the training part: 99 % of their rows are slower; mean |f|, 0 where no column asks for it */
  const double *speed, *load;
  const double *theta_load;           /* (base) the fit whose rigid torque is f; NULL: no load yet */
  psdm_kinematics kinematics;         /* what was chosen, */
  double cutoff, delay, lambda, rest; /* Hz (infinite: none), s, nats, share */
  int stride;                         /* every n-th row was used */
  double rate;                        /* Hz of the log's clock */
  char reasons[8][160];               /* why, a sentence each; "" behind the last */
  psdm_part_fit train[PSDM_FIT_PARTS], heldout[PSDM_FIT_PARTS];
  double cost_ratio;       /* training cost over that of ordinary least squares with the same columns */
  double condition;        /* of the scaled regressor of theta and columns */
  const double *singular;  /* (base + all columns) its singular values, falling */
  int folds;               /* contiguous parts of the training rows, each left out once, */
  const double *fold_rmse; /* (folds x n) Nm of each drive on it, by the fit to the others; NAN without rows */
  double durbin_watson;    /* of the residuals, mean over joints; 2: white */
  /* samples after which residuals are uncorrelated (first zero of the autocorrelation, mean) */
  double correlation;
  long rows, used; /* in the logs, after decimation and masks */
  int segments;
  long faults[PSDM_FAULTS];
  int steps;                       /* Newton's; of estimators that simulate or weigh outliers: passes over the rows */
  bool stopped;                    /* by progress: the best so far */
  long parts_found, parts_saved;   /* of the checkpoint: taken from an earlier run; kept by this one */
  long parts_stale, parts_damaged; /* of other logs, settings or versions: left alone; not whole: made again */
  double seconds;
  psdm_verdict verdict; /* the worst of the findings; good without any */
  bool judged_heldout;  /* by the held-out rows; else by the folds, each predicted by a fit to the others */
  double judged_rel;    /* |error| / |tau| of that, rows in motion */
  /* the same of a constant per joint, and (folds) of plain least squares: theta, viscous, Coulomb, constant; NAN
   * where unknown */
  double no_model, plain;
  double cross_rel; /* the same of this estimate over the folds, to be compared with plain */
  struct psdmp_identify_calibration *internal;
} psdm_calibration;

/* Calibrates. Allocates; free with psdm_calibration_free. The robot must outlive the answer. Up to
 * PSDM_CALIBRATE_JOINTS joints; assumptions of the robot's file ("assume:") are not made here: the log decides, and
 * theta is that of the robot without them. */
enum { PSDM_CALIBRATE_JOINTS = 32 };
PSDM_API psdm_status psdm_calibrate(const psdm_robot *robot, const psdm_calibrate_options *options,
                                    const psdm_allocator *allocator, psdm_calibration **calibration, psdm_error *error);
PSDM_API void psdm_calibration_free(psdm_calibration *calibration); /* accepts NULL */

/* Removes what this run has left in its checkpoint, once its answer is safe elsewhere: the parts that it made or
 * took, of all ranks; those of other runs stay, and so does the folder. Nothing happens where there is no
 * checkpoint, or the run was stopped: it may go on from there. removed (nullable): how many. */
PSDM_API psdm_status psdm_calibration_clear(const psdm_calibration *calibration, long *removed, psdm_error *error);

/* One row of a log as the calibration sees it. */
typedef struct psdm_predicted_row {
  double t; /* s, of the torque; the motion is that of t - delay */
  int segment;
  bool heldout;
  const double *q, *qd, *qdd;          /* (n) filtered */
  const double *tau, *raw, *predicted; /* (n) measured in the model's band, as logged, and the model's */
  const double *band;                  /* (n) standard deviation of the prediction, noise included */
  const double *friction;              /* (n) part of predicted that is friction */
} psdm_predicted_row;

typedef bool (*psdm_predicted_write)(void *user, const psdm_predicted_row *row); /* false stops */

/* Goes through the logs again and predicts. */
PSDM_API psdm_status psdm_calibration_predict(const psdm_calibration *calibration, psdm_predicted_write write,
                                              void *user, psdm_error *error);

/* Fault reports of the logs: sentences, "file:line: ..."; NULL behind the last. */
PSDM_API const char *psdm_calibration_fault(const psdm_calibration *calibration, int index);

/* What the verdict rests on, the gravest first; NULL behind the last. */
PSDM_API const psdm_finding *psdm_calibration_finding(const psdm_calibration *calibration, int index);

/* Combinations that the data cannot see or hardly see: a sentence with the formula each, NULL behind the last. */
PSDM_API const char *psdm_calibration_blind(const psdm_calibration *calibration, int index);

#ifdef __cplusplus
}
#endif
#endif
