/* bench_run.h: what psdm bench measures: generated functions by each method, and the library's recursions. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "tool.h"

enum { BENCH_STATES = 64, BENCH_ROWS = 2 * PSDM_CODE_FUNCTIONS };

/* One generated function by one method. */
typedef struct bench_row {
  psdm_code_function function;
  const char *method;
  bool chosen; /* the method that auto takes */
  const psdm_compiled *from;
  psdm_cost cost;
  size_t bytes, bytes_batch; /* of machine code */
  double error;              /* worst, relative to the recursions' largest number */
  double ns, ns_batch;       /* per state */
} bench_row;

typedef struct bench {
  const psdm_robot *robot;
  psdm_model *model; /* base parameters, for the recursions' regressor */
  psdm_work *work;
  psdm_linear *linear;
  double *scratch;
  double *state;               /* (states x 4 n): q, qd, qdd, tau */
  double *turned;              /* the same as (4 n x states), for batches */
  double *out;                 /* space for every result of every state */
  psdm_code *code[BENCH_ROWS]; /* one per function: finished ones are kept after an interrupt */
  psdm_compiled *compiled[BENCH_ROWS];
  int codes;
  bench_row row[BENCH_ROWS];
  int rows;
  double library[PSDM_CODE_FUNCTIONS]; /* ns of the recursion; 0: not measured */
  int rounds;                          /* measured so far */
} bench;

/* Prepares everything except the code. -1 to go on, else an exit code. */
int bench_open(const psdm_robot *robot, bench *b);
void bench_close(bench *b);

/* The user of options->progress is a tool_search. Generates, compiles and adds the rows of functions by a method; a
 * function that is there by this method already is left out. chosen: the rows are what auto takes. An interrupt ends
 * it with the rows so far, if there are any. */
int bench_add(bench *b, const psdm_code_options *options, bool chosen, const char *compiler);

/* Errors of all rows. */
int bench_verify(bench *b);

/* Best times of this many rounds; each round measures everything once. */
void bench_time(bench *b, int rounds, progress *bar);

#endif
