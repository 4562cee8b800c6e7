/* psdm/calibrate.h: a trustworthy model from logs.
 *
 *   tau = Y(q, qd, qdd) theta + friction,    friction of each drive from a dictionary of columns, chosen by
 *                                            cross-validation
 *
 *   psdm_calibrate_options options = {.files = 1, .path = &path, .holdout = 0.3};
 *   psdm_calibrate(robot, &options, NULL, &calibration, &error);
 *
 * With a transmission the equations are those of the drives: gear times motor torque, and friction at the motor's own
 * speed. All choices (source of velocities, cutoff, delay of the torque, friction columns, weight of the prior) are
 * made by cross-validation over contiguous blocks of the training part; the held-out part is used only at the end.
 * docs/calibrate.md has the equations. */
#ifndef PSDM_CALIBRATE_H
#define PSDM_CALIBRATE_H

#include "psdm/log.h"
#include "psdm/ranks.h"
#include "psdm/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* constant, name, help */
#define PSDM_ESTIMATOR_LIST(X)                                                                               \
  X(PSDM_ESTIMATOR_CONSISTENT, "consistent",                                                                 \
    "least squares with every link's inertia physically possible, weakly pulled to a prior")                 \
  X(PSDM_ESTIMATOR_OLS, "ols", "ordinary least squares")                                                     \
  X(PSDM_ESTIMATOR_WLS, "wls", "least squares, each drive weighted by its own residual")                     \
  X(PSDM_ESTIMATOR_ROBUST, "robust", "weighted, and outliers count less (Huber, Tukey)")                     \
  X(PSDM_ESTIMATOR_TLS, "tls", "total least squares: errors in the regressor too")                           \
  X(PSDM_ESTIMATOR_RIDGE, "ridge", "weighted least squares with a quadratic pull to the prior")              \
  X(PSDM_ESTIMATOR_IV, "iv", "instrumental variables from the simulated robot (IDIM-IV, Janot et al. 2014)") \
  X(PSDM_ESTIMATOR_DIDIM, "didim",                                                                           \
    "torques of the simulated robot against the measured ones (DIDIM, Gautier et al. 2013)")                 \
  X(PSDM_ESTIMATOR_ENERGY, "energy", "energy and work between moments: no accelerations (Gautier, Khalil 1988)")

typedef enum psdm_estimator { PSDM_ESTIMATOR_LIST(PSDM_LIST_CONSTANT) PSDM_ESTIMATORS } psdm_estimator;

PSDM_API const char *psdm_estimator_name(psdm_estimator estimator); /* NULL when out of range */
PSDM_API bool psdm_estimator_find(const char *name, psdm_estimator *estimator);

/* Source of velocities and accelerations. constant, name */
#define PSDM_KINEMATICS_LIST(X)   \
  X(PSDM_KINEMATICS_AUTO, "auto") \
  X(PSDM_KINEMATICS_POSITION, "q") X(PSDM_KINEMATICS_VELOCITY, "qd") X(PSDM_KINEMATICS_ACCELERATION, "qdd")

typedef enum psdm_kinematics { PSDM_KINEMATICS_LIST(PSDM_LIST_CONSTANT) PSDM_KINEMATICS_KINDS } psdm_kinematics;

PSDM_API const char *psdm_kinematics_name(psdm_kinematics kinematics); /* NULL when out of range */
PSDM_API bool psdm_kinematics_find(const char *name, psdm_kinematics *kinematics);

/* Zero-initialise for the defaults. */
typedef struct psdm_calibrate_options {
  int files;
  const char *const *path;
  psdm_log_options log;
  psdm_estimator estimator;
  double holdout;       /* share of the rows, the last ones, to hold out; 0: none */
  double holdout_block; /* or every holdout_every-th block of this many seconds */
  int holdout_every;
  psdm_kinematics kinematics;
  double cutoff; /* Hz; 0: chosen; infinite: no filter */
  /* s by which torques lag, if delay_given; else chosen, up to 20 ms either way, and on to 250 ms if that is not
   * enough */
  double delay;
  bool delay_given;
  double lambda;       /* consistent, ridge: weight of the prior; 0: chosen */
  bool plain_friction; /* viscous, Coulomb (sign) and offset only: no dictionary */
  int columns;         /* most friction columns of a drive, 16 at most; 0: 6; three are always included */
  /* add x, and for revolute joints sin x and cos x, to every drive in any case, on top of columns */
  bool springs;
  /* K > 1: regressor, friction and torque of all rows pass through one psdm_decimator, and every K-th is fitted and
   * judged; 0, 1: rows are thinned as far as the filter's cutoff allows. Not for robust, iv, didim, energy. */
  int decimate;
  /* leave out rows slower than this share of a joint's speed; 0: chosen (none or 0.01); negative: none */
  double rest;
  /* standard parameters (psdm_robot_parameter_count) to pull towards; NULL: the robot's, or from its kinematics */
  const double *prior;
  bool prior_kinematics; /* ignore the robot's own inertias as a prior */
  /* most rows kept in memory, at least 65536; 0: 2 million. For longer logs choices use evenly spread pieces, and all
   * rows are read again. */
  long cache;
  /* 0: from OMP_NUM_THREADS or the number of processors; 1 with the caller's allocator. The answer does not depend on
   * it */
  int threads;
  psdm_ranks *ranks; /* other processes that help; NULL: none. The answer does not depend on their number */
  /* folder for finished parts, so that an interrupted run continues there; NULL: none */
  const char *checkpoint;
  /* after a stop choices not yet made keep their defaults, and only rows in memory are fitted */
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_calibrate_options;

/* How well the torques of one joint are predicted. */
typedef struct psdm_joint_fit {
  long rows;
  /* Nm; |error| / |tau|; rmse / range of tau; 1 - |error|^2 / |tau - mean|^2; NAN without rows, or when the divisor is
   * zero */
  double rmse, rel, nrmse, r2;
} psdm_joint_fit;

/* The same over one subset of the rows. */
typedef struct psdm_part_fit {
  const psdm_joint_fit *joint; /* (n) */
  double global_rel;           /* |error| / |tau| over all joints; NAN without rows */
  long rows;
} psdm_part_fit;

/* RAW: all rows, torque as logged */
enum { PSDM_FIT_ALL, PSDM_FIT_MOVING, PSDM_FIT_REST, PSDM_FIT_RAW, PSDM_FIT_PARTS };

/* One friction column of a drive: its value times gain is a torque. x, v: the drive's position and speed, f: the fit's
 * rigid torque. id, text */
#define PSDM_COLUMN_LIST(X)                                                       \
  X(PSDM_COLUMN_VISCOUS, "v")                                                     \
  X(PSDM_COLUMN_OFFSET, "1")                                                      \
  X(PSDM_COLUMN_SIGN, "sign(v)")                                                  \
  X(PSDM_COLUMN_TANH, "tanh(v/w)")                                                \
  X(PSDM_COLUMN_STOP, "stop(x/w)") /* z <- clip(z + dx/w, -1, 1): Maxwell slip */ \
  X(PSDM_COLUMN_STRIBECK, "tanh(3v/w) exp(-(v/w)^2)")                             \
  X(PSDM_COLUMN_POWER, "|v|^w sign(v)")                                           \
  X(PSDM_COLUMN_ABSOLUTE, "|v|")                                                  \
  X(PSDM_COLUMN_LINEAR, "x")                                                      \
  X(PSDM_COLUMN_SINE, "sin(w x)")                                                 \
  X(PSDM_COLUMN_COSINE, "cos(w x)")

typedef enum psdm_column_kind { PSDM_COLUMN_LIST(PSDM_LIST_CONSTANT) PSDM_COLUMN_KINDS } psdm_column_kind;

PSDM_API const char *psdm_column_text(psdm_column_kind kind); /* NULL when out of range */

typedef struct psdm_column {
  psdm_column_kind kind;
  double width;    /* w above, rad/s or rad */
  int load;        /* 0; 1, 2: times |f|, f^2 */
  double gain, sd; /* Nm per unit of the column */
} psdm_column;

/* One base parameter. */
typedef struct psdm_estimate {
  const char *name;
  double value, sd;
  double prior_share; /* of its variance: above one half the log says little about it */
  /* false: zeroing this and all others marked false changes the torques by no more than their noise */
  bool essential;
} psdm_estimate;

/* Quality of an answer. constant, name, meaning */
#define PSDM_VERDICT_LIST(X)                                                                                   \
  X(PSDM_VERDICT_GOOD, "good", "no rule found anything")                                                       \
  X(PSDM_VERDICT_USABLE, "usable", "it explains the torques; what was found is to be known before it is used") \
  X(PSDM_VERDICT_POOR, "poor", "the torques are explained badly, or the numbers cannot be right")              \
  X(PSDM_VERDICT_USELESS, "useless", "no better, or not much better, than no model at all")

typedef enum psdm_verdict { PSDM_VERDICT_LIST(PSDM_LIST_CONSTANT) PSDM_VERDICTS } psdm_verdict;

PSDM_API const char *psdm_verdict_name(psdm_verdict verdict); /* NULL when out of range */
PSDM_API bool psdm_verdict_find(const char *name, psdm_verdict *verdict);

/* A rule that was not met, and the verdict it leads to. docs/calibrate.md has them all. */
typedef struct psdm_finding {
  psdm_verdict verdict;
  const char *rule; /* "error", "mass", ... */
  char text[280];   /* what was found, where, what was expected */
} psdm_finding;

/* The rules that need errors only: unexplained torque, compared with a constant's. Rows in motion; finding is set
 * unless the verdict is good. */
PSDM_API psdm_verdict psdm_verdict_of_fit(int n, const psdm_joint_fit *joint, psdm_finding *finding);

/* The answer. Constant once made; all pointers live as long as the calibration. */
typedef struct psdm_calibration {
  const psdm_robot *robot;
  psdm_estimator estimator;
  int n, base, standard;
  const psdm_estimate *theta; /* (base), named as psdm params names them */
  const double *covariance;   /* ((base + all columns)^2) of theta, then the columns' gains drive by drive */
  const double *pi;           /* (standard) full parameters: consistent and ridge; else NULL */
  const double *prior;        /* (standard) the prior; NULL: none */
  bool prior_from_kinematics;
  double prior_mass;                /* kg, of the kinematic prior */
  const int *columns;               /* (n) friction columns of each drive */
  const psdm_column *const *column; /* (n) */
  const double *sigma;              /* (n) residual's standard deviation of each drive, Nm */
  /* (n) of the drives in the training part: 99th percentile of speed; mean |f|, 0 where no column uses it */
  const double *speed, *load;
  const double *theta_load;           /* (base) the fit that f comes from; NULL: no load yet */
  psdm_kinematics kinematics;         /* the choices, */
  double cutoff, delay, lambda, rest; /* Hz (infinite: none), s, nats, share */
  int stride;                         /* every n-th row was used */
  double rate;                        /* Hz of the log's clock */
  char reasons[8][160];               /* reasons, one sentence each; "" past the end */
  psdm_part_fit train[PSDM_FIT_PARTS], heldout[PSDM_FIT_PARTS];
  double cost_ratio;       /* training cost over that of ordinary least squares with the same columns */
  double condition;        /* of the scaled regressor of theta and columns */
  const double *singular;  /* (base + all columns) its singular values, falling */
  int folds;               /* contiguous parts of the training rows, each left out once, */
  const double *fold_rmse; /* (folds x n) Nm, error of each drive on it by the fit to the others; NAN without rows */
  double durbin_watson;    /* of the residuals, mean over joints; 2: white */
  /* samples after which residuals are uncorrelated (first zero of the autocorrelation, mean) */
  double correlation;
  long rows, used; /* in the logs, after decimation and masks */
  int segments;
  long faults[PSDM_FAULTS];
  int steps;                       /* Newton's; for estimators that simulate or weigh outliers: passes over the rows */
  bool stopped;                    /* by progress: this is the best so far */
  long parts_found, parts_saved;   /* of the checkpoint: reused from an earlier run; written by this one */
  long parts_stale, parts_damaged; /* from other logs, settings or versions: ignored; damaged: recomputed */
  double seconds;
  psdm_verdict verdict; /* the worst of the findings; good if there are none */
  bool judged_heldout;  /* from the held-out rows; else from the folds, each predicted by a fit to the others */
  double judged_rel;    /* |error| / |tau| of that, rows in motion */
  /* the same of a constant per joint, and (on the folds) of plain least squares: theta, viscous, Coulomb, constant; NAN
   * where unknown */
  double no_model, plain;
  double cross_rel; /* the same of this estimate on the folds, for comparison with plain */
  struct psdmp_identify_calibration *internal;
} psdm_calibration;

/* Calibrates. Allocates; free with psdm_calibration_free. The robot must outlive the answer. Up to
 * PSDM_CALIBRATE_JOINTS joints; assumptions of the robot file ("assume:") are not used: the log decides, and theta is
 * that of the robot without them. */
enum { PSDM_CALIBRATE_JOINTS = 32 };
PSDM_API psdm_status psdm_calibrate(const psdm_robot *robot, const psdm_calibrate_options *options,
                                    const psdm_allocator *allocator, psdm_calibration **calibration, psdm_error *error);
PSDM_API void psdm_calibration_free(psdm_calibration *calibration); /* accepts NULL */

/* Removes this run's checkpoint, once its answer is safe elsewhere: the parts that it made or reused, of all ranks;
 * those of other runs and the folder stay. Does nothing without a checkpoint, or after a stop, which may be continued.
 * removed (nullable): how many. */
PSDM_API psdm_status psdm_calibration_clear(const psdm_calibration *calibration, long *removed, psdm_error *error);

/* One row of a log as the calibration uses it. */
typedef struct psdm_predicted_row {
  double t; /* s, of the torque; the motion is taken at t - delay */
  int segment;
  bool heldout;
  const double *q, *qd, *qdd;          /* (n) filtered */
  const double *tau, *raw, *predicted; /* (n) measured in the model's band, as logged, and predicted */
  const double *band;                  /* (n) standard deviation of the prediction, noise included */
  const double *friction;              /* (n) friction, included in predicted */
} psdm_predicted_row;

typedef bool (*psdm_predicted_write)(void *user, const psdm_predicted_row *row); /* false stops */

/* Reads the logs again and predicts. */
PSDM_API psdm_status psdm_calibration_predict(const psdm_calibration *calibration, psdm_predicted_write write,
                                              void *user, psdm_error *error);

/* Faults in the logs: sentences, "file:line: ..."; NULL past the end. */
PSDM_API const char *psdm_calibration_fault(const psdm_calibration *calibration, int index);

/* What the verdict rests on, the worst first; NULL past the end. */
PSDM_API const psdm_finding *psdm_calibration_finding(const psdm_calibration *calibration, int index);

/* Combinations that the data do not determine, or barely: one sentence each, with the formula; NULL past the end. */
PSDM_API const char *psdm_calibration_blind(const psdm_calibration *calibration, int index);

#ifdef __cplusplus
}
#endif
#endif
