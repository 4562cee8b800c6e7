/* linearize_priv.h: what the files of the job linearize share: settings, one run's belongings, the steps of a point. */
#ifndef PSDMP_STUDY_LINEARIZE_PRIV_H
#define PSDMP_STUDY_LINEARIZE_PRIV_H

#include "study/study.h"
#include "psdm/psdm.h"

#define LINEARIZE_SETTINGS(X)                                                                                          \
  X(text, at, "", "FILE.csv", "points: columns q1.., optionally t, qd1.., and qdd1.. or tau1..; - is standard input")  \
  X(flag, equilibrium, "", "",                                                                                         \
    "points at rest: from q1.. the torques that hold them, or from tau1.. a q that they hold")                         \
  X(text, form, "state-space", "second-order|state-space", "M, C2, D, G, or A and B")                                  \
  X(number, dt, "0", "SECONDS",                                                                                        \
    "discretise exactly, torques held constant between samples: Ad and Bd in place of A and B")                        \
  X(flag, friction, "", "", "include the robot's friction; at rest only its smooth part has a slope")                  \
  X(text, inputs, "", "1,2,...", "only these joints have motors: columns of B (default: all)")                         \
  X(flag, lqr, "", "", "gains K of du = -K dx that minimise the integral (sum, with `dt`) of dx'Q dx + du'R du")       \
  X(text, Q, "", "A,B,...", "diagonal of Q: one number, or weights of q and qd, or 2n (default: 100 for q, 1 for qd)") \
  X(text, R, "", "A,B,...", "diagonal of R: one number, or one per input (default: 1/effort^2, or 0.01)")              \
  X(text, out, "", "FILE.csv|.json|.mat", "write the matrices; the file is replaced only when complete")               \
  X(flag, ignore_extra, "", "", "ignore unknown columns of the CSV")                                                   \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_study_linearize_settings, LINEARIZE_SETTINGS);

/* possible inputs of a point */
enum { POINT_T, POINT_Q, POINT_QD, POINT_QDD, POINT_TAU, POINT_GROUPS };

/* the matrices of a point, in the order of the files */
enum { MATRIX_M, MATRIX_C2, MATRIX_D, MATRIX_G, MATRIX_A, MATRIX_B, MATRIX_K, MATRICES };

/* the most that a row of numbers has: t, q, qd, qdd, tau, and five matrices */
enum { LINEARIZE_SHOWN = 1 + 4 + MATRICES };

/* Numbers of a point by name. */
typedef struct psdmp_study_linearize_shown {
  const char *name;
  int rows, columns; /* rows is 0 for a vector, both are for a number */
  double *value;
  const char *const *words; /* names of a matrix's numbers */
} psdmp_study_linearize_shown;

typedef struct psdmp_study_linearize {
  psdm_job job;
  psdmp_study_linearize_settings set;
  bool (*take)(void *user, const psdm_linearization *point); /* NULL: the document has the points */
  void *user;

  psdm_work *work;
  psdm_linear *linear;
  int n, states, inputs;
  bool second_order;
  int *input; /* (inputs) joints with motors */
  psdm_csv *csv;
  bool given[POINT_GROUPS]; /* the file has the group */
  int *place;               /* (GROUPS n) the CSV column of each number */
  double *row;              /* (csv columns) */
  double t, *q, *qd, *qdd, *tau;
  double *matrix[MATRICES], *full, *Ad, *Bd, *Q, *R; /* full: B of all joints */
  double *scratch;
  psdm_mode *modes, *sampled, *closed;
  psdm_system_facts facts, sampled_facts;
  psdm_equilibrium_info equilibrium;
  psdm_lqr_info lqr;

  psdm_result *head; /* the document until the run has ended */
  psdm_output *json; /* the file of that format */
  psdmp_job_sink *rows;
  double *kept; /* for .mat: (points x numbers) */
  psdm_linear_point *found;
  long points, kept_room, found_room;
  bool enough;                                        /* the caller wants no more points */
  psdmp_study_linearize_shown shown[LINEARIZE_SHOWN]; /* the numbers of a point, as files have them */
  int shown_count;
} psdmp_study_linearize;

/* ---- points: linearize_point.c ---- */

psdm_status psdmp_study_linearize_columns(psdmp_study_linearize *j); /* which columns are what */
/* the row as a point, and its matrices */
psdm_status psdmp_study_linearize_point(psdmp_study_linearize *j);
psdm_status psdmp_study_linearize_analyze(psdmp_study_linearize *j); /* eigenvalues and what follows from them */
/* torques that hold no position have no model */
bool psdmp_study_linearize_lost(const psdmp_study_linearize *j);
bool psdmp_study_linearize_gains(const psdmp_study_linearize *j); /* gains were found */

/* ---- files and the document: linearize_out.c ---- */

bool psdmp_study_linearize_ends(const char *path, const char *ending); /* false where path is NULL */
psdm_status psdmp_study_linearize_open(psdmp_study_linearize *j);
psdm_status psdmp_study_linearize_write(psdmp_study_linearize *j, bool facts); /* a point */
bool psdmp_study_linearize_failed(const psdmp_study_linearize *j);             /* no use in going on */
psdm_status psdmp_study_linearize_close(psdmp_study_linearize *j);
void psdmp_study_linearize_abort(psdmp_study_linearize *j);

#endif
