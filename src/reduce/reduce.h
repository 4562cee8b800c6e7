/* reduce.h: many states at a time, subsets of a model's functions. Private to the room. */
#ifndef PSDMP_REDUCE_H
#define PSDMP_REDUCE_H

#include "base/base.h"
#include "model/model.h"
#include "parallel/parallel.h"
#include "psdm/reduce.h"
#include "psdm/rigid.h"

enum { PSDMP_REDUCE_LANES = 128 }; /* states in a block: a block's values of all joints stay in the first-level cache */

/* ---- states ---- */

/* One block of states, each quantity lane by lane. */
typedef struct psdmp_reduce_states {
  int n, count;         /* joints; lanes in use */
  double *q, *qd, *qdd; /* (n x LANES) */
  double *value;        /* (digits x LANES) of every joint: digit d of joint j at first[j] + d */
  int *first;           /* (n) */
  double *rate;         /* (classes x LANES), gravity 9.81 or so in the first */
  double *tau;          /* (n x LANES) the recursion's torques */
  double *scale;        /* (LANES) what errors are relative to: |tau|, or |qdd| in forward mode */
  double *weight;       /* (LANES) of the torque residuals in the fit: 1/|tau|, or 1/|M qdd| */
} psdmp_reduce_states;

/* Where states come from: streams of one seed do not overlap. */
typedef enum psdmp_reduce_stream {
  PSDMP_REDUCE_STREAM_RANK,
  PSDMP_REDUCE_STREAM_SELECT,
  PSDMP_REDUCE_STREAM_VERIFY
} psdmp_reduce_stream;

typedef struct psdmp_reduce_source {
  const psdm_robot *robot;
  const psdm_model *model;
  const psdm_reduce_options *options;
  psdm_work *work;
  double *low, *high; /* (n) of q */
} psdmp_reduce_source;

bool psdmp_reduce_states_start(const psdm_model *m, psdmp_base_arena *arena, psdmp_reduce_states *s);

/* Fills block number `block` of `total` states. */
psdm_status psdmp_reduce_states_fill(const psdmp_reduce_source *source, psdmp_reduce_stream stream, long block,
                                     long total, psdmp_reduce_states *s);

/* ---- a subset of the functions, arranged for evaluation ---- */

typedef struct psdmp_reduce_part_entry {
  int joint, parameter; /* parameter -1: the coefficient is complete */
  double value;
} psdmp_reduce_part_entry;

typedef struct psdmp_reduce_part {
  const psdm_model *model;
  long functions;
  long *function; /* (functions) ascending by code, then class */
  int *class;     /* (functions) */
  long *start;    /* (functions + 1) */
  psdmp_reduce_part_entry *entry;
} psdmp_reduce_part;

/* joints (p): bit i is set when the function stays in torque i; NULL: everything stays. theta (l): multiplied in and
 * added up by joint; NULL: parameters stay apart. */
bool psdmp_reduce_part_start(const psdm_model *m, const uint64_t *joints, const double *theta, psdmp_base_arena *arena,
                             psdmp_reduce_part *part);

/* scratch of the evaluation: products of the leading joints */
typedef struct psdmp_reduce_products {
  double *level; /* ((n + 1) x LANES) */
  uint64_t code; /* whose products they are */
  bool any;
} psdmp_reduce_products;

bool psdmp_reduce_products_start(int n, psdmp_base_arena *arena, psdmp_reduce_products *p);

/* The product of digits of a code, lane by lane; codes are asked for in ascending order, so that few digits differ
 * from the last. */
const double *psdmp_reduce_product(const psdm_model *m, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                                   uint64_t code);

/* tau (n x LANES) = torques of the part, M (n x n x LANES, nullable) its mass matrix. */
void psdmp_reduce_part_torque(const psdmp_reduce_part *part, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                              double *tau, double *M);

/* Y (n x l x LANES) of a part whose parameters stand apart. */
void psdmp_reduce_part_regressor(const psdmp_reduce_part *part, const psdmp_reduce_states *s, psdmp_reduce_products *p,
                                 double *Y);

/* ---- quantiles without keeping the numbers: bins of a thousandth, from 2^-80 up ---- */

enum { PSDMP_REDUCE_BIN_BITS = 10, PSDMP_REDUCE_BINS = 96 << PSDMP_REDUCE_BIN_BITS };

static inline uint32_t psdmp_reduce_bin(double x, uint32_t bits) {
  union {
    double d;
    uint64_t u;
  } as = {x};
  int64_t bin = (int64_t)((as.u & 0x7FFFFFFFFFFFFFFFu) >> (52 - bits)) - ((int64_t)(1023 - 80) << bits);
  return bin < 0 ? 0 : bin >= (int64_t)96 << bits ? (96u << bits) - 1 : (uint32_t)bin;
}

/* upper edge of a bin */
double psdmp_reduce_bin_edge(uint32_t bin, uint32_t bits);
double psdmp_reduce_quantile(const uint32_t *count, uint32_t bits, uint64_t total, double share);

/* ---- the reducer ---- */

/* one function in one torque */
struct psdmp_reduce_weak {
  long function;
  int joint;
  double mean;
};

/* How much is kept: the first functions of the ranking, without the last so many of the accelerations' (forward),
 * and without the weakest entries of the others (else). */
typedef struct psdmp_reduce_choice {
  long functions, accelerations_out, entries_out;
} psdmp_reduce_choice;

struct psdm_reducer {
  psdmp_base_arena arena;
  const psdm_robot *robot;
  const psdm_model *model;
  psdm_reduce_options options;
  psdmp_reduce_source source;      /* its work is each thread's own */
  double *theta, *theta_new;       /* (l) the robot's, the refitted */
  double *mean, *median, *largest; /* (p) contributions */
  /* (p) functions, those that matter most first; forward: those of accelerations before all others */
  long *order;
  long accelerations;             /* how many of them stand in front, 0 unless forward */
  uint64_t *joints;               /* (p) what is kept: bit i when the function stays in torque i */
  double *size;                   /* (p x n) the functions' coefficients */
  struct psdmp_reduce_weak *weak; /* (entries) of the kept functions, those that matter least first */
  long weaks;
  double *G, *h, *unit;             /* (l x l), (l), (l) normal equations of the refitting */
  uint32_t *count;                  /* (BINS) of errors */
  struct psdmp_reduce_monte *monte; /* the GPU's part; NULL: none */
  double from, to;                  /* share of the work that is under way */
  bool introduced;                  /* to the other ranks */
  double told;                      /* the largest share that was told: trials repeat, a bar should not go back */
  bool stopped;                     /* by progress */
  psdmp_reduce_choice best;         /* the last trial that was good enough; no functions: none yet */
};

enum { PSDMP_REDUCE_MEDIAN_BITS = 3 }; /* bins of an eighth of an octave */

/* All but what is computed over states. */
psdm_status psdmp_reduce_reducer_start(psdm_reducer *r, psdm_error *error);

/* ---- sums over states: by threads and ranks, the same for any number of both ---- */

psdm_status psdmp_reduce_rank(psdm_reducer *r, long total, psdm_error *error); /* mean, median, largest, size */
/* count, of what joints and theta_new say */
psdm_status psdmp_reduce_errors(psdm_reducer *r, psdmp_reduce_stream stream, long total, psdm_error *error);
psdm_status psdmp_reduce_normal(psdm_reducer *r, long total, psdm_error *error); /* G, h, of what joints say */

/* Rank 0: the others hear of a reducer, and that it is no more. */
psdm_status psdmp_reduce_introduce(psdm_reducer *r, psdm_error *error);
void psdmp_reduce_forget(psdm_reducer *r);

#include "reduce/monte.h"

#endif
