/* reduce_priv.h: what the files of the job reduce share: settings, one run's belongings, the numbers of its figures and
 * table (Lloyd, Irani, Ahmadi 2021, Figures 2 and 7, Table 3). */
#ifndef PSDMP_STUDY_REDUCE_PRIV_H
#define PSDMP_STUDY_REDUCE_PRIV_H

#include "study/study.h"
#include "psdm/psdm.h"

#define REDUCE_SETTINGS(X)                                                                                           \
  X(text, profile, "slow", "slow|fast|FILE.csv", "operating states: slow, fast, or rows of q1.. qd1.. qdd1..")       \
  X(number, error, "0.01", "E", "largest |tau - reduced tau| / |tau| (with `forward`: of accelerations)")            \
  X(number, confidence, "0.95", "C", "share of the states that must be within it")                                   \
  X(flag, forward, "", "",                                                                                           \
    "reduce forward dynamics: functions of velocities and gravity are dropped before those of accelerations")        \
  X(number, samples, "1000000", "N", "states that verify the result")                                                \
  X(text, device, "cpu", "cpu|cuda", "where these states are evaluated: CPU, or GPU (needs nvcc; for 10^8 samples)") \
  X(number, seed, "1", "S", "random seed of the states; the same seed gives the same model")                         \
  X(text, out, "", "DIR", "write model.json and the reduced code into this folder")                                  \
  X(flag, table, "", "", "operations at two and three digits, slow and fast, at 95 and 99.9 %")                      \
  X(flag, times, "", "", "also compile the code and measure the time of one evaluation (needs a C compiler)")        \
  X(flag, figures, "", "", "with `json`: contributions and the trade-off, slow and fast, for psdm report")           \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_study_reduce_settings, REDUCE_SETTINGS);

/* code that is timed: the cells of the table, then these */
enum { TIMED_FULL = 8, TIMED_REDUCED, TIMED_RECURSION, TIMED };
enum { FIGURE_SIZES = 16, FIGURE_PROFILES = 2, FIGURE_BINS = 60, TABLE_CELLS = 8 };

/* One size of a reduced model: the first functions of the ranking, refitted. */
typedef struct psdmp_study_reduce_size {
  long functions;
  double error[2]; /* at the two confidences */
  long operations;
} psdmp_study_reduce_size;

/* One profile: how many functions contribute how much, and the trade-off. */
typedef struct psdmp_study_reduce_figure {
  const char *name;
  long functions;
  long median[FIGURE_BINS], largest[FIGURE_BINS]; /* functions whose median and largest contribution falls into a bin */
  long median_below, largest_below;               /* below the first bin, or always 0 */
  int sizes;
  psdmp_study_reduce_size size[FIGURE_SIZES];
} psdmp_study_reduce_figure;

/* One cell of the table. */
typedef struct psdmp_study_reduce_cell {
  const char *profile;
  double error, confidence; /* requested */
  psdm_reduce_info info;
  psdm_cost cost;
} psdmp_study_reduce_cell;

typedef struct psdmp_study_reduce {
  psdm_job job;
  psdmp_study_reduce_settings set;
  psdm_model *model, *reduced;
  psdm_reducer *reducer;
  psdm_profile profile;
  double *states; /* of a CSV */
  psdm_reduce_info info;
  psdm_cost full, recursion, less;
  psdmp_study_reduce_figure figure[FIGURE_PROFILES];
  int figures;
  psdmp_study_reduce_cell table[TABLE_CELLS];
  bool tabled;
  bool stopped; /* table and figures may be missing */
  psdm_compiled *compiled[TIMED];
  double ns[TIMED]; /* of one evaluation; 0: not measured */
  bool untimed;     /* the code does not compile */
} psdmp_study_reduce;

psdm_status psdmp_study_reduce_profile(psdmp_study_reduce *j); /* reduce_profile.c: the states */
const char *psdmp_study_reduce_profile_name(const psdmp_study_reduce *j);

/* ---- the steps: reduce.c ---- */

psdm_status psdmp_study_reduce_start(psdmp_study_reduce *j, const psdm_profile *profile, bool medians,
                                     psdm_reducer **reducer);
psdm_status psdmp_study_reduce_to(const psdmp_study_reduce *j, psdm_reducer *reducer, double wanted, double confidence,
                                  psdm_model **reduced, psdm_reduce_info *info);
psdm_function psdmp_study_reduce_asked(const psdmp_study_reduce *j); /* the function in question */
/* its operations: of a model, or (NULL) of the robot by a method; slot: where it is timed, -1: nowhere */
psdm_status psdmp_study_reduce_count(psdmp_study_reduce *j, const psdm_model *model, psdm_code_method method, int slot,
                                     psdm_cost *cost);
long psdmp_study_reduce_operations(const psdm_cost *cost); /* in all */

/* ---- times: reduce_times.c ---- */

/* for later; code that does not compile ends the measuring, with a warning */
void psdmp_study_reduce_compile(psdmp_study_reduce *j, const psdm_code *code, int slot);
psdm_status psdmp_study_reduce_measure(psdmp_study_reduce *j);
void psdmp_study_reduce_times_free(psdmp_study_reduce *j);

/* ---- figures and table: reduce_figures.c ---- */

psdm_status psdmp_study_reduce_figures(psdmp_study_reduce *j);
psdm_status psdmp_study_reduce_table(psdmp_study_reduce *j);
void psdmp_study_reduce_put(const psdmp_study_reduce *j, psdm_reduce_result *r); /* both into the document */

#endif
