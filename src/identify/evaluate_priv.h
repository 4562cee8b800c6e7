/* evaluate_priv.h: rows as a calibration sees them: torques, errors, sums. Private to the library.
 *
 *   evaluate_rows.c   one stretch after its rows
 *   evaluate.c        all rows, by threads and ranks, and figures of the fit
 *   evaluate_write.c  predictions that are written, in their order */
#ifndef PSDMP_IDENTIFY_EVALUATE_H
#define PSDMP_IDENTIFY_EVALUATE_H

#include "identify/identify.h"

/* Squares over the rows of all folds, each predicted by a fit to the others: of the error, of plain least squares'
 * error, of a constant's, of the torque. */
typedef struct psdmp_identify_folds {
  double count, own, plain, constant, square;
} psdmp_identify_folds;

/* A twentieth of all rows: its position, and squares of errors and torques over sigma^2 of its rows in motion. */
typedef struct psdmp_identify_error_place {
  double rows, file, from, to; /* file of its first row; times */
  double error, square;
} psdmp_identify_error_place;

/* The row with the largest error against the logged torque. */
typedef struct psdmp_identify_worst {
  double error, tau, t, file;
} psdmp_identify_worst;

/* Data kept with a result. */
struct psdmp_identify_calibration {
  psdmp_identify_run *run;
  psdm_calibrate_options options; /* copies, for predictions */
  double *theta, *gain;           /* (l), (16 n) */
  psdm_estimate *estimate;
  double *pi, *covariance, *singular, *share, *load;
  double *classical, *folds; /* (W x W) correlations; (PSDMP_IDENTIFY_FOLDS x W) results without each fold */
  double *fold_rmse;         /* (PSDMP_IDENTIFY_FOLDS x n) */
  bool *essential;           /* (l) */
  psdm_column **column;
  int *columns;
  psdm_joint_fit *fits; /* (2 * PSDM_FIT_PARTS * n) */
  const char *blind[64];
  int blinds;
  psdmp_identify_folds *cross;       /* (n) errors on held-out rows, by the results without each fold */
  psdmp_identify_error_place *place; /* (PSDMP_IDENTIFY_BLOCKS) of all rows, in their order */
  double *file;                      /* (2 files) squared errors and torques over sigma^2 of each log's moving rows */
  psdmp_identify_worst *worst;       /* (n) */
  psdm_finding finding[64];
  int findings;
};

enum { PSDMP_IDENTIFY_LAGS = 512 }; /* of the autocorrelation */

/* Sums over rows. */
typedef struct psdmp_identify_evaluated {
  psdmp_identify_tally *sum; /* ((2 * PSDM_FIT_PARTS) * n) */
  double *load;              /* (n) sums of |f| over training rows, and how many */
  long loads;
  double *product;          /* (n) squared steps of residuals, for their whiteness */
  double *lags;             /* (n * PSDMP_IDENTIFY_LAGS) */
  psdmp_identify_open open; /* with decimated rows: pending means, */
  /* (residuals x (n + 1)) their segment, and errors, NAN where a drive's row is bad: the sample for the
   * autocorrelation, in order */
  double *residual;
  long residuals, residual_room;
  psdmp_identify_error_place *place; /* (PSDMP_IDENTIFY_BLOCKS), */
  double *file;                      /* (2 files) */
  psdmp_identify_worst *worst;       /* (n) as kept by the result */
  bool failed;                       /* out of memory */
} psdmp_identify_evaluated;

typedef struct psdmp_identify_evaluation {
  const psdmp_identify_calibration *a;
  psdmp_identify_run *run;
  psdm_predicted_write write; /* NULL: only sums */
  void *user;
  bool stopped;
  psdmp_parameters_column (*column)[16];
  psdmp_parameters_column_state *state;
  double *scratch, *drive, *friction, *band;
  double *row;                 /* Y (n x l), friction columns (n x 16), |f|, tau, raw (n) of one row of the clock */
  double *aside;               /* t, q, qd, qdd, v of it, segment, lagged, index, file */
  psdmp_identify_sieve *sieve; /* through which both go; NULL: unchanged */
  bool in_order;               /* one stretch after the other: the sieve has seen the earlier ones */
  int segment;
  long index; /* of the row among all, */
  int log;    /* and its file */
  psdmp_identify_evaluated *to;
  double *history; /* (n * PSDMP_IDENTIFY_LAGS) of residuals */
  long seen;       /* training rows of this stretch */
  bool lagged;     /* the stretch is sampled for the autocorrelation */
} psdmp_identify_evaluation;

/* NULL: out of memory */
psdmp_identify_evaluation *psdmp_identify_evaluation_new(const psdmp_identify_calibration *a, psdmp_identify_run *own,
                                                         bool sieve);
void psdmp_identify_evaluation_free(psdmp_identify_evaluation *e); /* accepts NULL */

/* Rows of one stretch; e->to has their sums. */
psdm_status psdmp_identify_evaluation_rows(psdmp_identify_evaluation *e, const psdmp_feed_stretch *stretch,
                                           psdm_error *error);
/* one finished by a sieve */
void psdmp_identify_evaluation_mean(void *evaluation, const psdmp_identify_kept *kept);
/* all that its own sieve has finished, in order */
void psdmp_identify_evaluation_next(psdmp_identify_evaluation *e, bool end);

/* Products of a residual with the preceding ones (PSDMP_IDENTIFY_LAGS), of which this many are known; NAN: of a bad
 * row. */
void psdmp_identify_evaluated_lags(psdmp_identify_evaluated *to, int i, double error, long seen, double *past);

/* Sums without rows; user: a psdmp_identify_calibration. */
void *psdmp_identify_evaluated_new(void *user);             /* NULL: out of memory */
void psdmp_identify_evaluated_free(void *user, void *part); /* accepts NULL */

/* verdict.c: the verdict on the result, by rules, after its evaluation. */
void psdmp_identify_verdict(psdmp_identify_calibration *a, psdm_calibration *out);

/* Over all rows, or those in memory: figures of the fit in out. */
psdm_status psdmp_identify_evaluate(psdmp_identify_calibration *a, bool all, psdm_calibration *out, psdm_error *error);

#endif
