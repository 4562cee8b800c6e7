/* psdm/reduce.h: smaller models within a given error at a given confidence (Lloyd, Irani, Ahmadi 2021, section 4.3).
 *
 *   psdm_reducer *reducer;
 *   psdm_reducer_new(robot, model, &options, NULL, &reducer, &error);       // contributions of every function
 *                                                                           // over a profile
 *   psdm_reducer_reduce(reducer, 0.01, 0.95, &reduced, &info, &error);      // the smallest model within 1 % in
 *                                                                           // 95 % of the states
 *   psdm_model_save(reduced, robot, "reduced.json", &error);
 *
 * A reduced model is a psdm_model like any other: fewer functions, fewer base parameters, and parameters whose formulas
 * are scaled so that the robot's numbers give the refitted values. A reducer belongs to one thread; the robot and the
 * model must outlive it. */
#ifndef PSDM_REDUCE_H
#define PSDM_REDUCE_H

#include "psdm/model.h"
#include "psdm/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* States typical of a task: uniform in ranges, or listed. Prismatic joints move between their limits, or +-1 m
 * without. */
typedef struct psdm_profile {
  double q, qd, qdd;    /* +-rad, +-rad/s, +-rad/s^2 (m for prismatic joints) */
  long count;           /* > 0: listed states instead of ranges */
  const double *states; /* row-major (count x 3n): q, qd, qdd */
} psdm_profile;

PSDM_API psdm_profile psdm_profile_slow(void); /* +-pi, 0.1, 1 */
PSDM_API psdm_profile psdm_profile_fast(void); /* +-pi, 1, 10 */

/* Zero-initialise for the defaults. */
typedef struct psdm_reduce_options {
  psdm_profile profile;
  long samples;       /* states to verify a result; 0: 1000000 */
  long contributions; /* states to rank the functions; 0: 100000 */
  unsigned long long seed;
  /* measure errors of accelerations; drop velocity and gravity functions before acceleration functions */
  bool forward;
  bool medians; /* compute median and largest contributions too */
  /* verify on a GPU; ranges only, listed states are verified on the CPU. The same states; an error within rounding of a
   * bin's edge may fall into the next bin. PSDM_E_COMPILER without CUDA's compiler or a usable GPU */
  bool cuda;
  /* that compiler, with arguments; NULL: $NVCC, else nvcc. A C++ compiler turns the same text into loops on the CPU */
  const char *nvcc;
  /* 0: from OMP_NUM_THREADS or the number of processors; 1 with the caller's allocator. The answer does not depend on
   * it */
  int threads;
  /* rank 0: ranks that are in psdm_reducer_help and take some of the states; NULL: none. The answer does not depend on
   * their number */
  psdm_ranks *ranks;
  psdm_progress progress; /* only psdm_reducer_reduce has a best result so far */
  void *progress_user;
  unsigned long long reserved[8];
} psdm_reduce_options;

/* How good the answer is. */
typedef struct psdm_reduce_info {
  long functions, functions_before;
  int parameters, parameters_before;
  /* at the requested confidence, over the verifying states: |tau - reduced tau| / |tau|, 2-norms */
  double error;
  double digits;     /* -log10(error), eq. (67) */
  double error_half; /* at one half */
  double error_most; /* at 0.999 */
  long samples;      /* verifying states */
  bool reached;      /* the requested error is met */
  double seconds;
  bool stopped; /* by progress: the best so far, verified over at most 100000 states, not the smallest */
} psdm_reduce_info;

typedef struct psdm_reducer psdm_reducer;

/* Ranks the functions by the mean of their relative contributions, eq. (66). PSDM_E_MISSING when the robot's inertias
 * are unknown. Allocates; free with psdm_reducer_free. */
PSDM_API psdm_status psdm_reducer_new(const psdm_robot *robot, const psdm_model *model,
                                      const psdm_reduce_options *options, const psdm_allocator *allocator,
                                      psdm_reducer **reducer, psdm_error *error);
PSDM_API void psdm_reducer_free(psdm_reducer *reducer); /* accepts NULL */

/* Ranks other than 0, with the same robot and model: work for all reducers of rank 0 (16 at a time) until it closes.
 * Uses only ranks and threads of the options. */
PSDM_API psdm_status psdm_reducer_help(const psdm_robot *robot, const psdm_model *model,
                                       const psdm_reduce_options *options, const psdm_allocator *allocator,
                                       psdm_error *error);

/* Relative contribution of a function, |its torques| / |torques|; median and largest are 0 unless requested. */
PSDM_API void psdm_reducer_contribution(const psdm_reducer *reducer, long function, double *mean, double *median,
                                        double *largest);

/* Errors at two confidences with only the first `functions` of the ranking and parameters refitted. */
PSDM_API psdm_status psdm_reducer_errors(psdm_reducer *reducer, long functions, const double confidence[2],
                                         double error_at[2], psdm_error *error);

/* The model with the first `functions` of the ranking, refitted. Free with psdm_model_free. */
PSDM_API psdm_status psdm_reducer_keep(psdm_reducer *reducer, long functions, psdm_model **reduced, psdm_error *error);

/* The smallest model within the error at the confidence (both between 0 and 1). Allocates; free with
 * psdm_model_free. info may be NULL. */
PSDM_API psdm_status psdm_reducer_reduce(psdm_reducer *reducer, double error_wanted, double confidence,
                                         psdm_model **reduced, psdm_reduce_info *info, psdm_error *error);

#ifdef __cplusplus
}
#endif
#endif
