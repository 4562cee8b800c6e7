/* survey_priv.h: norms of M, S and g at very many random positions: their distribution and extremes. Private to the
 * library.
 *
 * A sample is drawn from its number alone, with operations that every machine rounds alike, so that a GPU has the same
 * samples as the CPU. Values are counted in bins by integers. Samples are taken in groups of consecutive numbers; each
 * group gives its least and largest, and the best of those are kept. So nothing depends on threads, ranks or the
 * device, except rounding in the last bits of functions. */
#ifndef PSDMP_ANALYZE_SURVEY_H
#define PSDMP_ANALYZE_SURVEY_H

#include "reduce/reduce.h"
#include "analyze/bounds_priv.h"

/* ||M||, its least eigenvalue, ||S||, |g| */
typedef enum psdmp_analyze_quantity {
  PSDMP_ANALYZE_OF_MASS,
  PSDMP_ANALYZE_OF_LEAST,
  PSDMP_ANALYZE_OF_CORIOLIS,
  PSDMP_ANALYZE_OF_GRAVITY,
  PSDMP_ANALYZE_QUANTITIES
} psdmp_analyze_quantity;

enum {
  PSDMP_ANALYZE_SURVEY_GROUP = 1024, /* samples that give one least and one largest value of each quantity */
  PSDMP_ANALYZE_SURVEY_KEPT = 4,     /* of all groups, the best */
  /* of bins; the last one is for least eigenvalues below 0 */
  PSDMP_ANALYZE_SURVEY_ROWS = PSDMP_ANALYZE_QUANTITIES + 1
};

/* bins range from 2^-48 to 2^48: those of psdmp_reduce_bin, 2^32 times higher */
#define PSDMP_ANALYZE_SURVEY_UNIT 0x1p32

/* The request. */
typedef struct psdmp_analyze_survey_aim {
  const psdm_robot *robot;
  const psdmp_analyze_range *range; /* (n); unlimited joints stay at 0 */
  uint64_t seed;
  long samples;                              /* fewer than 2^32 */
  double limit[PSDMP_ANALYZE_QUANTITIES][2]; /* values should not be below, above */
  int threads;
  psdm_ranks *ranks;
  const psdm_allocator *allocator;
  psdm_progress progress;
  void *progress_user;
} psdmp_analyze_survey_aim;

typedef struct psdmp_analyze_extreme {
  double value;
  long number; /* of the sample; the smallest where values are equal */
} psdmp_analyze_extreme;

typedef struct psdmp_analyze_survey {
  long samples;                             /* fewer than requested if progress stopped it */
  uint32_t *count;                          /* (SURVEY_ROWS x BINS) */
  long beyond[PSDMP_ANALYZE_QUANTITIES][2]; /* samples outside the limits */
  int kept;
  /* the least, the largest; the best one first */
  psdmp_analyze_extreme end[PSDMP_ANALYZE_QUANTITIES][2][PSDMP_ANALYZE_SURVEY_KEPT];
} psdmp_analyze_survey;

/* ---- one sample ---- */

/* q uniform in its ranges, qd uniform on the unit sphere. (n) each */
uint64_t psdmp_analyze_survey_state(uint64_t seed);
void psdmp_analyze_survey_draw(uint64_t state, int n, const psdmp_analyze_range *range, long number, double *q,
                               double *qd);

/* ---- all samples ---- */

psdmp_analyze_survey *psdmp_analyze_survey_new(const psdm_allocator *allocator);               /* NULL: out of memory */
void psdmp_analyze_survey_free(psdmp_analyze_survey *survey, const psdm_allocator *allocator); /* accepts NULL */
void psdmp_analyze_survey_keep(psdmp_analyze_survey *survey, psdmp_analyze_quantity quantity, int end,
                               psdmp_analyze_extreme x);

/* on threads and ranks */
psdm_status psdmp_analyze_survey_run(const psdmp_analyze_survey_aim *aim, psdmp_analyze_survey **survey,
                                     psdm_error *error);

/* On a GPU, by a program compiled for the robot: PSDM_E_COMPILER if that fails. */
struct psdmp_reduce_monte;
psdm_status psdmp_analyze_survey_program(const psdm_robot *robot, const char *nvcc, const psdm_allocator *allocator,
                                         struct psdmp_reduce_monte **program, psdm_error *error);
psdm_status psdmp_analyze_survey_cuda(const psdmp_analyze_survey_aim *aim, struct psdmp_reduce_monte *program,
                                      psdmp_analyze_survey **survey, psdm_error *error);

/* Ranks other than 0: helps until dismissed. Uses robot, ranges, ranks, threads and allocator of the aim. */
psdm_status psdmp_analyze_survey_help(const psdmp_analyze_survey_aim *aim, psdm_error *error);

/* A quantile, at most a thousandth too large. */
double psdmp_analyze_survey_quantile(const psdmp_analyze_survey *survey, psdmp_analyze_quantity quantity, double share);

#endif
