/* identify.h: from logs to parameters. Private to the library. Logs come from feed/, columns from parameters/.
 *
 *   sums.c        sums over all stretches, by threads and ranks
 *   serve.c       work of other ranks for rank 0
 *   prepare.c     one clock, filters, derivatives: rows for the regressor
 *   dictionary.c  the dictionary of friction columns
 *   decimate.c    every k-th row, as a weighted mean of its neighbours
 *   gather.c      triangular factors of [Y F tau] per drive and block of time
 *   prior.c       inertias from kinematics alone
 *   choose.c      friction columns by cross-validation on the factors
 *   calibrate.c   the recipe
 *   drives.c      torques of joints and drives
 *   tally.c       torque errors
 *   result.c      the result and its uncertainty
 *   evaluate*.c   predicted torques of all rows, and their errors
 *
 * The equations are those of the drives: with q = T x (x the drives' positions on the joint side, T the transmission
 * without gears) they are T^T tau = T^T Y theta + friction(x, dx/dt). Without a transmission T = 1 and drives are
 * joints. */
#ifndef PSDMP_IDENTIFY_H
#define PSDMP_IDENTIFY_H

#include "base/base.h"
#include "feed/feed.h"
#include "fit/fit.h"
#include "psdm/calibrate.h"
#include "psdm/filter.h"
#include "parallel/parallel.h"
#include "parameters/parameters.h"
#include "psdm/model.h"
#include "psdm/rigid.h"

enum { PSDMP_IDENTIFY_FOLDS = 5, PSDMP_IDENTIFY_BLOCKS = 20 };
/* labels of rows, EDGE: a segment's first and last; others are blocks of time 0 .. PSDMP_IDENTIFY_BLOCKS - 1 */
enum { PSDMP_IDENTIFY_HELDOUT = -1, PSDMP_IDENTIFY_UNUSED = -2, PSDMP_IDENTIFY_EDGE = -3 };

/* ---- prepare.c ---- */

/* Processing of logged rows into kinematics and torque. */
typedef struct psdmp_identify_band {
  psdm_kinematics kinematics;
  double cutoff, delay; /* Hz, infinite: no filter; s */
  double wide;          /* Hz of the torque that choices are scored against; infinite: as logged */
} psdmp_identify_band;

/* Rows on one clock, drives' side. */
typedef struct psdmp_identify_prepared {
  long rows;
  long tick;                /* of row 0, since its segment began */
  long *index;              /* (rows) nearest logged row among all */
  double *t;                /* (rows) */
  double *q, *qd, *qdd;     /* (rows x n) joints */
  double *x, *v;            /* (rows x n) drives */
  double *tau, *wide, *raw; /* (rows x n) drives' torque in the band, in the wide band, as logged */
  /* (rows x n) known friction of the drives in the band: simulated at every tick, and filtered like the torque; NULL if
   * unknown */
  double *friction;
  signed char *label; /* (rows) */
  unsigned char *bad; /* (rows x n) of the drives: of any joint that moves with it */
  bool begins;        /* a segment starts here */
  int segment, file;
} psdmp_identify_prepared;

/* ---- the run ---- */

/* The columns of one drive. */
typedef struct psdmp_identify_dictionary {
  int count;
  psdmp_parameters_column column[PSDMP_PARAMETERS_MOST_COLUMNS];
} psdmp_identify_dictionary;

/* The selected columns of a drive's dictionary, in order of selection. */
typedef struct psdmp_identify_choice {
  int count;
  int take[16];
} psdmp_identify_choice;

/* Factors of [Y F tau wide] of every drive and block; rest: rows at rest, separately. */
typedef struct psdmp_identify_factors {
  int blocks;
  int *width;    /* (n) columns of each drive's factor: base + dictionary + 2 */
  double **R;    /* (n * blocks * 2) index ((drive * blocks + block) * 2 + rest), (width^2) */
  double *count; /* the same index */
} psdmp_identify_factors;

typedef struct psdmp_identify_run {
  const psdm_robot *robot;
  const psdm_calibrate_options *options;
  const psdm_allocator *allocator;
  psdmp_base_arena arena; /* lives as long as the result */
  bool singular;          /* a matrix could not be factorised: not a lack of memory */
  psdmp_feed *feed;
  psdmp_feed_checkpoint *checkpoint; /* NULL: none */
  long parts_of_others[3];           /* of other ranks: found, saved, damaged */
  psdm_model *model;                 /* base parameters */
  psdm_work *work;
  int n, l, S, links, drives;
  int *kept;             /* (l) standard parameter that each base parameter is named after */
  double *K;             /* (l x S) */
  double *T, *T_inverse; /* (n x n) q = T x; NULL: identity */
  double interval;
  long rows, training, heldout; /* in the logs */
  /* Hz, mean frequency of the fastest joint: rms acceleration over rms velocity (Rice 1944) */
  double tempo;
  double *speed, *span, *centre; /* (n) of the drives: 99 % of their speed, range, middle of x in the training part */
  psdmp_identify_band band;
  const psdm_friction *lugre; /* (n) friction of the drives that is known beforehand; NULL: none */
  double rest;                /* share of speed below which rows are at rest and not fitted; 0: all are fitted */
  double still;               /* share of speed below which rows are gathered separately */
  unsigned char *reached;     /* (n x l) whether a base parameter has any effect on a drive's torque */
  psdmp_identify_dictionary *dictionary; /* (n) */
  psdmp_identify_choice *choice;         /* (n) */
  double *theta_load;                    /* (l) fit whose rigid torque loads friction; NULL: none yet */
  double *prior, *sigma;                 /* (S), (n) */
  double prior_mass;
  /* best scale of the prior before that mass: negative if the torques have the opposite sign; NAN: unknown */
  double prior_scale;
  bool prior_kinematics;
  bool delay_end; /* the delay is the longest one tried */
  double lambda;
  char (*reason)[160];
  int reasons;
  const char *doing;
  bool stopped, finishing; /* by progress; finishing: progress is no longer called */
  bool prior_known;
} psdmp_identify_run;

/* Labels of rows: fills label[0..rows) for logged rows first .. in stretch order. */
psdm_status psdmp_identify_run_prepare(psdmp_identify_run *run, const psdmp_identify_band *band,
                                       const psdmp_feed_stretch *stretch, psdmp_identify_prepared *out,
                                       psdm_error *error);
void psdmp_identify_prepared_free(psdmp_identify_prepared *p, const psdm_allocator *allocator);
int psdmp_identify_band_stride(const psdmp_identify_run *run, const psdmp_identify_band *band);
long psdmp_identify_band_margin(const psdmp_identify_run *run, const psdmp_identify_band *band);

/* Speeds and spans of the drives over the training part. */
psdm_status psdmp_identify_run_ranges(psdmp_identify_run *run, const psdmp_identify_band *band, psdm_error *error);

/* ---- sums.c ---- */

/* requests to other ranks */
enum {
  PSDMP_IDENTIFY_WORK_RANGES = PSDMP_FEED_WORK_OF_FEED,
  PSDMP_IDENTIFY_WORK_GATHER,
  PSDMP_IDENTIFY_WORK_EVALUATE,
  PSDMP_IDENTIFY_WORK_PASS
};

/* A sum over rows. Parts of stretches are added along a tree over units, and within a unit along one over its
 * stretches: the sum depends on the logs alone. */
typedef struct psdmp_identify_sum {
  const char *name;
  int work;
  const char *doing; /* for progress; NULL: as before */
  void *user;        /* the same for all threads, constant */
  /* state of one thread; own: the run with this thread's work. NULL: out of memory */
  void *(*space_new)(void *user, psdmp_identify_run *own);
  void (*space_free)(void *user, void *space);
  void *(*part_new)(void *user);
  psdm_status (*add)(void *space, void *part, const psdmp_feed_stretch *stretch, psdm_error *error);
  psdm_status (*merge)(void *user, void *left, void *right); /* the sum of both goes to left; right is released */
  void (*part_free)(void *user, void *part);
  void (*put)(void *user, const void *part, psdmp_parallel_bytes *to);
  void *(*get)(void *user, psdmp_parallel_bytes *from); /* NULL: out of memory, or invalid bytes */
} psdmp_identify_sum;

/* Rank 0: over rows in memory, or all; request is what other ranks need to know. *part NULL: there were no rows.
 * Stopped by progress: what there is so far. */
psdm_status psdmp_identify_sum_rows(psdmp_identify_run *run, const psdmp_identify_sum *sum,
                                    const psdmp_parallel_bytes *request, bool all, long margin, void **part,
                                    psdm_error *error);

/* Another rank: its share, as bytes. */
psdm_status psdmp_identify_sum_serve(psdmp_identify_run *run, const psdmp_identify_sum *sum,
                                     const psdmp_parallel_bytes *request, bool all, long margin,
                                     psdmp_parallel_bytes *answer, psdm_error *error);

/* Settings of the run for every sum: band, columns of the drives (chosen, or all of the dictionary), speeds, load. */
void psdmp_identify_run_put(const psdmp_identify_run *run, const psdmp_identify_band *band, bool chosen,
                            psdmp_parallel_bytes *to);
/* columns become the dictionary */
bool psdmp_identify_run_get(psdmp_identify_run *run, psdmp_identify_band *band, psdmp_parallel_bytes *from);

/* ---- serve.c ---- */

/* A rank other than 0: works until it is dismissed. */
psdm_status psdmp_identify_serve(psdmp_identify_run *run, psdm_error *error);

psdm_status psdmp_identify_serve_ranges(psdmp_identify_run *run, psdmp_parallel_bytes *request,
                                        psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status psdmp_identify_serve_gather(psdmp_identify_run *run, psdmp_parallel_bytes *request,
                                        psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status psdmp_identify_serve_evaluate(psdmp_identify_run *run, psdmp_parallel_bytes *request,
                                          psdmp_parallel_bytes *answer, psdm_error *error);
psdm_status psdmp_identify_serve_pass(psdmp_identify_run *run, psdmp_parallel_bytes *request,
                                      psdmp_parallel_bytes *answer, psdm_error *error);

/* ---- decimate.c ---- */

/* An output row: means of the rows around its middle. */
typedef struct psdmp_identify_kept {
  long tick;          /* of the middle */
  int label;          /* the middle's; UNUSED if it would train, but a tap is on a row that does not */
  unsigned bad;       /* bits: a tap is on a bad row of a drive */
  bool middle, mixed; /* the middle has come; a tap is on a row that does not train */
  bool later;         /* of psdmp_identify_open: it belongs to the last run of several */
  long rows;          /* with a tap in it, and the sum of those */
  double weight;
  double *value, *aside; /* (columns) means; (aside) the middle's own */
} psdmp_identify_kept;

typedef struct psdmp_identify_sieve {
  psdm_decimator filter;
  long columns, aside;
  bool begun;                /* earlier rows exist, elsewhere */
  int slots;                 /* rows in progress at once */
  psdmp_identify_kept *slot; /* (slots) */
  double *numbers;           /* of all of them */
  long out, last;            /* tick of the next output row, of the last input row; -1: none */
} psdmp_identify_sieve;

unsigned psdmp_identify_bad_bits(int n, const unsigned char *bad);
psdm_status psdmp_identify_sieve_new(const psdm_allocator *allocator, int factor, long columns, long aside,
                                     psdmp_identify_sieve *sieve);
void psdmp_identify_sieve_free(psdmp_identify_sieve *sieve, const psdm_allocator *allocator);
void psdmp_identify_sieve_restart(psdmp_identify_sieve *sieve, bool begun);

/* One row, ticks ascending. Rows of the label EDGE count as missing. value NULL: no training mean has a tap here, and
 * others are not needed. */
void psdmp_identify_sieve_row(psdmp_identify_sieve *sieve, long tick, int label, unsigned bad, const double *value,
                              const double *aside);

/* The next finished row, or at the end any remaining one; NULL: none. Valid until the next row comes. */
const psdmp_identify_kept *psdmp_identify_sieve_next(psdmp_identify_sieve *sieve, bool end);

/* Means of rows that come in parts: those that reach beyond a part's rows are completed by its neighbours.
 * Zero-initialise with allocator set. */
typedef struct psdmp_identify_open {
  const psdm_allocator *allocator;
  long half, columns, aside; /* of the sieve */
  bool left, right;          /* rows of the same run exist before the first, after the last */
  bool any, cut;             /* there are rows; they are of more than one run */
  int first_run, last_run;   /* segments */
  long first, last;          /* ticks of the first run's first row, and of the last run's last */
  int count;
  long room;
  psdmp_identify_kept **mean; /* (count) in their order */
} psdmp_identify_open;

typedef void (*psdmp_identify_use_kept)(void *user, const psdmp_identify_kept *kept);

void psdmp_identify_open_free(psdmp_identify_open *open);

/* One stretch: begin, then rows of the sieve, each followed by take, and take with end. False: out of memory. */
void psdmp_identify_open_begin(psdmp_identify_open *open, psdmp_identify_sieve *sieve,
                               const psdmp_feed_stretch *stretch);
void psdmp_identify_open_row(psdmp_identify_open *open, long tick);
bool psdmp_identify_open_take(psdmp_identify_open *open, psdmp_identify_sieve *sieve, bool end,
                              psdmp_identify_use_kept use, void *user);

/* left becomes both; completed means are used, in order. */
bool psdmp_identify_open_merge(psdmp_identify_open *left, psdmp_identify_open *right, psdmp_identify_use_kept use,
                               void *user);
/* no further rows */
void psdmp_identify_open_end(psdmp_identify_open *open, psdmp_identify_use_kept use, void *user);

void psdmp_identify_open_put(const psdmp_identify_open *open, psdmp_parallel_bytes *to);
bool psdmp_identify_open_get(psdmp_identify_open *open, psdmp_parallel_bytes *from);

/* number of fixed columns at the start of a dictionary */
int psdmp_identify_columns_always(const psdmp_identify_run *run, int drive);
void psdmp_identify_dictionary_fill(const psdmp_identify_run *run, int drive, bool basic, bool loads,
                                    psdmp_identify_dictionary *d);

/* Y of the base parameters on the drives' side, (n x l). scratch: (n x S + n x l) */
psdm_status psdmp_identify_run_regressor(psdmp_identify_run *run, const double *q, const double *qd, const double *qdd,
                                         double *scratch, double *Y);

/* Sets reached. scratch as above, Y (n x l) */
psdm_status psdmp_identify_run_reach(psdmp_identify_run *run, double *scratch, double *Y);

/* Factors over all rows in memory, or all there are; only the chosen columns when chosen. Stopped by progress while
 * all rows are read: those so far. */
psdm_status psdmp_identify_gather_rows(psdmp_identify_run *run, const psdmp_identify_band *band, bool chosen,
                                       int blocks, bool all, psdmp_identify_factors *out, psdm_error *error);
void psdmp_identify_factors_free(psdmp_identify_run *run, psdmp_identify_factors *f);

/* ---- prior.c ---- */

/* Standard parameters (S) of cylinders between the joints, one kilogram in all; drive inertias 0. */
void psdmp_identify_prior_cylinders(const psdm_robot *robot, double *prior);

/* The scale of the prior that explains the torques best, with free friction and drive inertias; false: out of memory.
 * */
bool psdmp_identify_prior_scale(psdmp_identify_run *run, const psdmp_identify_factors *f, double *scale);

/* m, from the first joint to the farthest end, stretched out */
double psdmp_identify_prior_reach(const psdm_robot *robot);

/* H (10 x 10) = tr(P^-1 E_a P^-1 E_b): Hessian of a link's divergence from the prior, at the prior. */
void psdmp_identify_pull_hessian(const double prior[10], double H[100]);

/* Inverse of a symmetric positive definite matrix after scaling its diagonal to ones; overwrites A. */
bool psdmp_identify_invert_scaled(int n, double *A, double *inverse, double *scale); /* scale: (n) scratch */

/* ---- choose.c ---- */

/* Chooses columns of every drive by cross-validation; false: out of memory. most: columns at most. */
bool psdmp_identify_choose(psdmp_identify_run *run, const psdmp_identify_factors *f, int most, bool swap_only);

/* Cross-validated log RMSE (wide torque, moving rows), mean over drives; each (n) may be NULL. */
bool psdmp_identify_score(psdmp_identify_run *run, const psdmp_identify_factors *f, double *mean, double *each);

/* Residual standard deviations of the surrogate fit, iterated. */
bool psdmp_identify_reweight(psdmp_identify_run *run, const psdmp_identify_factors *f);

/* Rows of the chosen columns over some blocks (bit mask), for the estimators; allocated. */
typedef struct psdmp_identify_selected {
  psdmp_fit_rows rows;
  int *extras;
  double **R, *count;
} psdmp_identify_selected;
bool psdmp_identify_select(psdmp_identify_run *run, const psdmp_identify_factors *f, unsigned blocks,
                           bool chosen_already, psdmp_identify_selected *out);
void psdmp_identify_selected_free(psdmp_identify_run *run, psdmp_identify_selected *s);

/* ---- drives.c ---- */

/* Sets T and T_inverse, in the arena; NULL if drives are joints. False: out of memory. */
bool psdmp_identify_run_transmission(psdmp_identify_run *run, psdmp_base_arena *arena);

/* Torques (n). */
void psdmp_identify_run_to_drives(const psdmp_identify_run *run, const double *joint, double *drive);
void psdmp_identify_run_to_joints(const psdmp_identify_run *run, const double *drive, double *joint);

/* Sets kept and K, in the arena, from the model's formulas. False: out of memory. */
bool psdmp_identify_run_formulas(psdmp_identify_run *run, psdmp_base_arena *arena);

/* ---- tally.c ---- */

/* Sums behind a psdm_joint_fit; zero-initialise. */
typedef struct psdmp_identify_tally {
  double count, error, square, sum, low, high;
} psdmp_identify_tally;

void psdmp_identify_tally_add(psdmp_identify_tally *s, double measured, double error);
void psdmp_identify_tally_merge(psdmp_identify_tally *s, const psdmp_identify_tally *other);
psdm_joint_fit psdmp_identify_tally_fit(const psdmp_identify_tally *s); /* NAN if unknown */

/* |error| / |torque| of all together; NAN without a torque. */
double psdmp_identify_tally_rel(int count, const psdmp_identify_tally *s);

/* ---- result.c ---- */

typedef struct psdmp_identify_calibration psdmp_identify_calibration;

bool psdmp_identify_progress(psdmp_identify_run *run, const char *doing, double share);

#endif
