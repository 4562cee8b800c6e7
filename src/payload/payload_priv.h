/* payload_priv.h: shared by the files of the payload. Private to the library.
 *
 *   payload.c     a load as numbers, on a link, in theta, on a robot
 *   parameters.c  the parameter file of the loaded robot
 *   gather.c      rows of logs with and without the load as triangular factors
 *   fit.c         the load and its uncertainty from these
 *   identify.c    the iteration
 *
 * The remaining torque of the drives after the calibrated parameters of the empty robot is
 *
 *   r = A pi_L + D d + F c + noise
 *
 * A: columns of the link that carries the load, zero in logs without it. D d: the error of the calibrated parameters, d
 * = S u, S S^T their covariance and u of variance one: the calibration's errors are estimated together with the load,
 * with its covariance as a prior. F c: friction and offset that have drifted since.
 *
 * With logs without the load the prior is made a hundred times as wide, so that they determine d. As A = D L, only the
 * difference of two logs of one motion then depends on the load, and errors of the model, in the span of D or not,
 * cancel. Uncertainty is by blocks of time, the same share of both. */
#ifndef PSDMP_PAYLOAD_PRIV_H
#define PSDMP_PAYLOAD_PRIV_H

#include "identify/identify.h"
#include "linalg/linalg.h"
#include "psdm/payload.h"
#include "psdm/predictor.h"

/* ---- payload.c ---- */

/* Position of a load: the moving link that carries it, and its standard parameters about that link's frame from those
 * about the named one's. */
typedef struct psdmp_payload_mount {
  int joint, link;
  double move[100]; /* (10 x 10) */
} psdmp_payload_mount;

psdm_status psdmp_payload_mount_find(const psdm_robot *robot, int joint, psdmp_payload_mount *mount, psdm_error *error);

/* out (10) = move pi */
void psdmp_payload_mount_move(const psdmp_payload_mount *mount, const double pi[10], double out[10]);

/* L (base x 10) for base parameters in the order of a model */
void psdmp_payload_mount_map(const psdmp_payload_mount *mount, const psdm_model *model, double *L);

/* Standard deviations of mass, centre and inertia by their derivatives (covariance of pi). */
void psdmp_payload_load_doubt(const psdm_load *load, const double covariance[100], double *mass, double com[3],
                              double inertia[6]);

/* ---- gather.c ---- */

enum { PSDMP_PAYLOAD_DRIFTS = 3 }; /* offset, Coulomb, viscous */

/* Columns of one drive's rows: uncertain numbers, drift, load, torque. */
typedef struct psdmp_payload_columns {
  int doubts, drifts, width; /* width: doubts + drifts + 10 + 1 */
  int *place;                /* (doubts) number of each among all uncertain ones */
} psdmp_payload_columns;

typedef struct psdmp_payload {
  psdm_payload_answer answer;
  psdmp_base_arena arena;
  const psdm_robot *robot;
  const psdm_parameters *empty;
  psdm_parameters *loaded;             /* with the load found so far; NULL: not yet */
  const psdm_payload_options *options; /* during identification */
  psdm_calibrate_options logs;         /* all files, those with the load first */
  int files;                           /* with the load */
  long with, without;                  /* rows of logs with and without it */
  psdmp_payload_mount mount;
  psdmp_identify_run run;
  psdmp_identify_band band;
  bool drift, loads; /* drift is fitted; some friction depends on the load */
  bool currents;     /* logs have currents of the drives, not torques of the joints */

  /* uncertain numbers: d = S u */
  int doubted, axes;                /* numbers, and columns of S */
  double *S;                        /* (doubted x axes) */
  psdmp_payload_columns *columns;   /* (n) */
  psdmp_parameters_column *coulomb; /* (n) shape of the drive's Coulomb friction */

  /* rows */
  psdmp_linalg_blocks blocks; /* (n x PSDMP_IDENTIFY_BLOCKS) */
  double *square;             /* (n) sum of the measured torque's squares */
  long rows;                  /* of logs with the load that were used */

  double *sigma;   /* (n) */
  double *drifted; /* (n x PSDMP_PAYLOAD_DRIFTS) */
  int remarks;
} psdmp_payload;

/* One row of a log on the drives' side. */
typedef struct psdmp_payload_row {
  double t;
  int segment, label;
  bool loaded;                     /* the log is one with the load */
  const unsigned char *bad;        /* (n) */
  const double *q, *qd, *qdd;      /* (n) joints */
  const double *x, *v, *tau, *raw; /* (n) drives */
  const double *friction;          /* (n) drives: LuGre's, filtered like tau; NULL: use the predictor's */
} psdmp_payload_row;

typedef struct psdmp_payload_visitor {
  /* a segment starts: reset friction */
  void (*begin)(void *user, int segment);
  psdm_status (*row)(void *user, const psdmp_payload_row *row, bool *stop, psdm_error *error);
  void *user;
  /* for progress; NULL: no progress */
  const char *doing;
} psdmp_payload_visitor;

/* Visits all rows of all logs in order. */
psdm_status psdmp_payload_walk(psdmp_payload *p, const psdmp_payload_visitor *visitor, psdm_error *error);

/* Torques (n) of the joints at a row, and the part that is friction (n). */
psdm_status psdmp_payload_predict(const psdmp_payload *p, psdm_predictor *predictor, const psdmp_payload_row *row,
                                  double *tau, double *friction);

double psdmp_payload_rate(const psdmp_payload *p); /* Hz of the rows that walk visits */

/* sets uncertain numbers, columns, memory of the factors */
psdm_status psdmp_payload_prepare(psdmp_payload *p, psdm_error *error);
psdm_status psdmp_payload_gather(psdmp_payload *p, psdm_error *error); /* fills R, count, square, rows */

/* Whether drive i moves enough at this row to be fitted and judged. */
bool psdmp_payload_moves(const psdmp_payload *p, const psdmp_payload_row *row, int drive);

/* ---- fit.c ---- */

/* Sets the result's load, its uncertainty, sigma and drifted. */
psdm_status psdmp_payload_fit(psdmp_payload *p, psdm_error *error);

void psdmp_payload_remark(psdmp_payload *p, const char *format, ...) PSDM_PRINTF(2, 3);

#endif
