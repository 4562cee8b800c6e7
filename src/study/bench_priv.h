/* bench_priv.h: what the job bench measures: generated functions by each method, and the library's recursions. */
#ifndef PSDMP_STUDY_BENCH_PRIV_H
#define PSDMP_STUDY_BENCH_PRIV_H

#include "study/study.h"
#include "psdm/psdm.h"

#define BENCH_SETTINGS(X)                                                                       \
  X(text, functions, "usual", "LIST", "functions, separated by commas; usual: up to pose; all") \
  X(text, method, "all", "all|auto|recursive|expanded",                                         \
    "recursive, expanded (from the closed form), auto (what codegen takes), or all")            \
  X(text, optimise, "latency", "latency|throughput",                                            \
    "schedule statements for the latency of one call or the throughput of many")                \
  X(number, effort, "50", "N",                                                                  \
    "restarts without improvement before the search for fewer operations ends; 0: no search")   \
  X(number, repeat, "50", "N", "rounds; the best one counts")                                   \
  X(text, compiler, "", "COMMAND", "C compiler (default: $CC, else cc)")                        \
  PSDMP_JOB_SETTINGS(X)

PSDM_SETTINGS_STRUCT(psdmp_study_bench_settings, BENCH_SETTINGS);

enum { BENCH_STATES = 64, BENCH_ROWS = 2 * PSDM_FUNCTION_COUNT };

/* One generated function by one method. */
typedef struct psdmp_study_bench_row {
  psdm_function function;
  const char *method;
  bool chosen; /* the method that auto takes */
  const psdm_compiled *from;
  psdm_cost cost;
  size_t bytes, bytes_batch; /* of machine code */
  double error;              /* worst, relative to the recursions' largest number */
  double ns, ns_batch;       /* per state */
} psdmp_study_bench_row;

typedef struct psdmp_study_bench {
  psdm_job job;
  psdmp_study_bench_settings set;
  const psdm_robot *robot; /* the job's, or drawn */
  psdm_robot *drawn;       /* the job's with inertias that its file lacks */
  psdm_model *model;       /* base parameters, for the recursions' regressor */
  psdm_work *work;
  psdm_linear *linear;
  double *scratch;
  double *state;               /* (states x 4 n): q, qd, qdd, tau */
  double *turned;              /* the same as (4 n x states), for batches */
  double *out;                 /* space for every result of every state */
  psdm_code *code[BENCH_ROWS]; /* one per function: finished ones are kept after an interrupt */
  psdm_compiled *compiled[BENCH_ROWS];
  int codes;
  psdmp_study_bench_row row[BENCH_ROWS];
  int rows;
  double library[PSDM_FUNCTION_COUNT]; /* ns of the recursion; 0: not measured */
  int rounds;                          /* measured so far */
  double share;                        /* of the functions that are generated */
} psdmp_study_bench;

/* Prepares everything except the code. */
psdm_status psdmp_study_bench_open(psdmp_study_bench *b);
void psdmp_study_bench_close(psdmp_study_bench *b);

/* Generates, compiles and adds the rows of functions by a method; a function that is there by this method already is
 * left out. chosen: the rows are what auto takes. A stop ends it with the rows so far, if there are any. */
psdm_status psdmp_study_bench_add(psdmp_study_bench *b, const psdm_code_options *options, bool chosen);

/* Errors of all rows. */
psdm_status psdmp_study_bench_verify(psdmp_study_bench *b);

/* Best times of repeat rounds; each measures everything once. */
void psdmp_study_bench_time(psdmp_study_bench *b);

/* machine and date: a time means nothing without them: bench_io.c */
void psdmp_study_bench_place(psdm_bench_result *r);

#endif
