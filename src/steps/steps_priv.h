/* steps_priv.h: an arm calibrated in four steps. Private to the library.
 *
 *   steps.c     the order of the steps, stops, predictions
 *   answer.c    one vector of all numbers and one covariance; initial values from earlier runs and the robot file
 *   data.c      logs as filtered signals on one clock, drives' side
 *   solo.c      stretches in which one joint moves alone
 *   span.c      theta under assumptions, and how a known part determines the rest
 *   assume.c    the span that satisfies assumptions
 *   linear.c    triangular factors of rows, weighted least squares, uncertainty, and derivatives by earlier numbers
 *   motor.c     Lloyd, Irani, Ahmadi (2022), eq. 16 and 17
 *   gravity.c   eq. 18;  pairs.c: paths forwards and backwards
 *   friction.c  eq. 19 and 20, by lugre_fit_priv.h
 *   inertia.c   eq. 21
 *
 * The equations are those of the drives, T^T tau = Kt i, as in identify.h. All numbers are in x = [Kt (n); theta (l);
 * friction (8 n)]. */
#ifndef PSDMP_STEPS_PRIV_H
#define PSDMP_STEPS_PRIV_H

#include "identify/identify.h"
#include "linalg/linalg.h"
#include "psdm/steps.h"

enum {
  PSDMP_STEPS_PIECES = 40,      /* of a step's rows: some are held out, */
  PSDMP_STEPS_STEP_BLOCKS = 20, /* the others are the jackknife's blocks, two pieces each */
  PSDMP_STEPS_FRICTION = PSDM_FRICTION_NUMBERS,
  PSDMP_STEPS_POSES = 8, /* of a joint in the friction experiment, as many as lugre_fit_priv.h allows */
  PSDMP_STEPS_REMARKS = 64,
  PSDMP_STEPS_STEP_FAULTS = 200
};

/* Destination of a step's rows once it is fitted: sums of each drive, and the caller of psdm_steps_predict. */
typedef struct psdmp_steps_judge {
  int n;
  psdmp_identify_tally *sum; /* (2 x n) training, held out */
  psdm_steps_write write;    /* NULL: only sums */
  void *user;
  bool stopped;
} psdmp_steps_judge;

struct psdmp_steps {
  psdm_steps p; /* the result; its pointers lead to the following arrays */
  psdm_steps_options options;
  const psdm_allocator *allocator;
  psdmp_base_arena arena; /* lives as long as the result */
  psdmp_identify_run run; /* robot, model, work, T, kept, K: used by psdmp_identify_run_regressor */
  int n, l, S, N;
  double *span; /* (l x spans) orthonormal: theta under the assumptions; NULL: no restriction */
  int spans;
  double *x, *C, *sd; /* (N), (N x N), (N) */
  int *constant_from, *theta_from, *friction_from;
  char (*name)[64]; /* (n) names of the drives' joints for messages */
  psdm_estimate *theta;
  unsigned char *gravity;
  /* (l) estimates of indistinguishable parameters: for predictions, never returned; NAN: none */
  double *shadow;
  psdm_friction *friction;
  double *inertia, *speed;
  double *pose_inertia; /* (n x PSDMP_STEPS_POSES) of the friction experiment's poses */
  double *tool_pi;      /* (S) the known tool as standard parameters of its link, zero elsewhere; NULL: none */
  double tool[10];
  psdm_joint_fit *fit; /* ((2 PSDM_STEPS + 1) x n) train and held out of each step, then all */
  double *sigma;       /* (PSDM_STEPS x n) */
  int remarks;
  int currents; /* -1: no log read yet */
  double rate;
  bool stopped;
  psdm_step doing;
  const char *fault[PSDMP_STEPS_STEP_FAULTS];
  int faults;
};

typedef struct psdmp_steps psdmp_steps;

psdm_status psdmp_steps_no_singular(int code, psdm_error *error);           /* by LAPACKE's return value */
bool psdmp_steps_progress(psdmp_steps *s, const char *doing, double share); /* false: stop; s->stopped is set */
psdm_status psdmp_steps_stop(psdm_error *error);                            /* return value of a stopped step */
/* name of the joint counted as this drive, escaped */
const char *psdmp_steps_drive(const psdmp_steps *s, int drive);

/* ---- answer.c ---- */

/* Everything known before the first step. */
psdm_status psdmp_steps_begin(psdmp_steps *s, psdm_error *error);
void psdmp_steps_remark(psdmp_steps *s, const char *format, ...) PSDM_PRINTF(2, 3);

/* New values of own[0..count) of x: their own noise (count x count) and their derivative by all previous x (count x N).
 * value may be NAN: then the rows of C are zero and sd is infinite. */
psdm_status psdmp_steps_update(psdmp_steps *s, int count, const int *own, const double *value, const double *noise,
                               const double *gain, psdm_error *error);
void psdmp_steps_publish(psdmp_steps *s); /* copies x and C to the public pointers */

/* Index in x. */
static inline int psdmp_steps_at_theta(const psdmp_steps *s, int j) { return s->n + j; }
static inline int psdmp_steps_at_friction(const psdmp_steps *s, int drive, int k) {
  return s->n + s->l + PSDMP_STEPS_FRICTION * drive + k;
}

/* sum of Y theta over those with which[j] == value (which NULL: all), indistinguishable ones by their estimates; false
 * if a needed one is unknown. */
bool psdmp_steps_torque(const psdmp_steps *s, const double *Y, const bool *which, bool value, double *torque);

/* theta[j] is given by a step, an earlier run or the file. */
bool psdmp_steps_known(const psdmp_steps *s, int j);

/* ---- data.c ---- */

/* One segment of a log on a uniform clock, zero-phase filtered. */
typedef struct psdmp_steps_record {
  int log; /* index among the options' logs */
  long rows;
  double dt, start;     /* s */
  double *q, *qd, *qdd; /* (rows x n) joints */
  double *v, *a;        /* (rows x n) drives; qd and qdd themselves without a transmission */
  double *i;            /* (rows x n) drives: currents, or torques if logs have those */
  unsigned char *bad;   /* (rows x n) of the drives */
} psdmp_steps_record;

typedef struct psdmp_steps_records {
  int count;
  psdmp_steps_record *record;
  double rate, cutoff; /* Hz; infinite: no filter */
  psdm_filter filter;  /* where cutoff is finite */
  int stride;          /* every k-th row contains everything that the filter passes */
  double rest;         /* s after which the filter has forgotten a jump up to a percent: 2 / cutoff */
} psdmp_steps_records;

psdm_status psdmp_steps_load(psdmp_steps *s, psdm_step step, psdmp_base_arena *arena, psdmp_steps_records *out,
                             psdm_error *error);

/* Y of the base parameters on the drives' side (n x l), and the tool's torque (n); scratch: (psdmp_steps_scratch).
 * qd, qdd NULL: zero. */
size_t psdmp_steps_scratch(const psdmp_steps *s);
psdm_status psdmp_steps_regressor(psdmp_steps *s, const double *q, const double *qd, const double *qdd, double *scratch,
                                  double *Y, double *tool);

/* Which of PSDMP_STEPS_PIECES a row belongs to, from the share of the rows before it; and whether a piece is held
 * out. */
int psdmp_steps_piece(double share);
bool psdmp_steps_held(const psdmp_steps *s, int piece);

/* Median of count numbers; sorts them. */
double psdmp_steps_median(long count, double *x);

/* ---- judging the fit ---- */

psdm_status psdmp_steps_judge_start(psdmp_steps_judge *judge, int n, psdmp_base_arena *arena);
bool psdmp_steps_judge_row(psdmp_steps_judge *judge, const psdm_steps_row *row); /* false: the caller asked to stop */
void psdmp_steps_judge_end(const psdmp_steps_judge *judge, psdm_joint_fit *train, psdm_joint_fit *heldout);

/* ---- solo.c ---- */

typedef struct psdmp_steps_alone {
  int record, joint;
  long from, to; /* rows */
} psdmp_steps_alone;

psdm_status psdmp_steps_solo(psdmp_steps *s, const psdmp_steps_records *records, psdmp_base_arena *arena,
                             psdmp_steps_alone **solo, int *count, psdm_error *error);

/* Largest difference of the joints' positions at two rows, except `but`. */
double psdmp_steps_pose_apart(int n, const double *a, const double *b, int but);

/* ---- pairs.c ---- */

/* A path and the same path back: row k of the record goes with row twice - k, first <= k < first + count. */
typedef struct psdmp_steps_path {
  int record;
  long twice, first, count;
  unsigned char *use; /* (count x n) the drive slides, forwards and backwards, and has done so for a while */
} psdmp_steps_path;

/* A pair of rows: friction cancels in their mean. */
typedef struct psdmp_steps_pair {
  double t;
  /* joints, as on the forward path */
  double q[PSDM_CALIBRATE_JOINTS], qd[PSDM_CALIBRATE_JOINTS], qdd[PSDM_CALIBRATE_JOINTS];
  double i[PSDM_CALIBRATE_JOINTS], v[PSDM_CALIBRATE_JOINTS]; /* drives */
  const unsigned char *use;                                  /* (n) */
  int piece;
} psdmp_steps_pair;

psdm_status psdmp_steps_paths(psdmp_steps *s, const psdmp_steps_records *records, psdmp_base_arena *arena,
                              psdmp_steps_path **path, int *count, psdm_error *error);
void psdmp_steps_path_pair(const psdmp_steps *s, const psdmp_steps_records *records, const psdmp_steps_path *path,
                           long index, psdmp_steps_pair *pair);

/* ---- span.c ---- */

psdm_status psdmp_steps_assume(psdmp_steps *s, psdm_error *error); /* sets span */

/* theta = A known + B y: known (l, zero if unknown) is the known part, y the free one. own: the first columns of B,
 * which belong to theta's part `first`, on which the others are zero; y is then [own; others]. */
typedef struct psdmp_steps_parts {
  double *A; /* (l x l) */
  double *B; /* (l x r) */
  int r, own;
} psdmp_steps_parts;

psdm_status psdmp_steps_split(const psdmp_steps *s, const bool *known, psdmp_base_arena *arena,
                              psdmp_steps_parts *split, psdm_error *error);
psdm_status psdmp_steps_split_first(const psdmp_steps *s, const bool *first, psdmp_base_arena *arena,
                                    psdmp_steps_parts *split, psdm_error *error);

/* ---- linear.c ---- */

/* Rows of each drive and block, [Y (l), i, rest, d rest / d friction (8)], as triangular factors: Kt i - rest = Y
 * theta. */
typedef struct psdmp_steps_linear {
  int n, l, width;
  psdmp_linalg_blocks rows; /* (n x PSDMP_STEPS_STEP_BLOCKS) */
} psdmp_steps_linear;

bool psdmp_steps_linear_new(const psdmp_steps *s, psdmp_base_arena *arena, psdmp_steps_linear *linear);
void psdmp_steps_linear_row(psdmp_steps_linear *linear, int drive, int block, const double *row);

typedef struct psdmp_steps_linear_answer {
  double *theta; /* (l) */
  double *noise; /* (l x l) own */
  double *gain;  /* (l x N) by x */
  bool *shown;   /* (l) false: indistinguishable from others in the rows */
  double *sigma; /* (n) Nm, residual of each drive; the caller's */
  double condition;
  int rank, free; /* of r directions of y */
} psdmp_steps_linear_answer;

/* prior (split->r, nullable): standard deviation about zero of each y, infinite: none. Rows of drives without a torque
 * constant are skipped. */
psdm_status psdmp_steps_linear_solve(psdmp_steps *s, psdmp_steps_linear *linear, const psdmp_steps_parts *split,
                                     const bool *known, const double *prior, psdmp_base_arena *arena,
                                     psdmp_steps_linear_answer *answer, psdm_error *error);

/* The parameters of theta with kept[j] update x: they are of the log from now on. */
psdm_status psdmp_steps_linear_keep(psdmp_steps *s, const psdmp_steps_linear_answer *answer, const bool *kept,
                                    psdmp_base_arena *arena, psdm_error *error);

/* "mx2 and my3" for messages: lists those with which[j] == value. Returns buf. */
char *psdmp_steps_names(const psdmp_steps *s, const bool *which, bool value, char *buf, size_t size);

/* ---- the steps. Each fits, updates x, and fills fits; *_judge evaluates the logs with the current numbers ---- */

psdm_status psdmp_steps_motor(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error);
psdm_status psdmp_steps_gravity(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error);
psdm_status psdmp_steps_friction(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error);
psdm_status psdmp_steps_inertia(psdmp_steps *s, psdmp_base_arena *arena, psdm_error *error);
psdm_status psdmp_steps_motor_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                    psdm_error *error);
psdm_status psdmp_steps_gravity_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                      psdm_error *error);
psdm_status psdmp_steps_friction_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                       psdm_error *error);
psdm_status psdmp_steps_inertia_judge(psdmp_steps *s, psdmp_steps_judge *judge, psdmp_base_arena *arena,
                                      psdm_error *error);

#endif
