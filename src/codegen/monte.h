/* monte.h: errors of a reduced model at very many states, on a GPU. Private to the room.
 *
 * The program is text: the robot's inverse dynamics as psdm codegen writes it for CUDA, and a kernel that draws a state from its number, as reduce_states.c does,
 * evaluates a table of functions, and counts errors in bins. CUDA's compiler makes an object of it while we run, kept in the cache of psdm/compile.h. Bins are
 * counted in integers, so that any order of threads gives the same. Compiled by a C++ compiler in place of CUDA's it loops on the processor. */
#ifndef PSDMP_MONTE_H
#define PSDMP_MONTE_H

#include "codegen/emit_cuda.h"
#include "codegen/reduce.h"

/* What the object is handed: host pointers, read by psdm_monte_load. The text has the same structure. */
typedef struct psdmp_monte_tables {
  unsigned long long state;    /* of the stream: blocks of 128 states are drawn from it and their number */
  double gravity, qd, qdd;     /* size of gravity; ranges of rates */
  const double *low, *high;    /* (n) of q */
  const unsigned char *slides; /* (n) joint slides */
  const int *first;            /* (n + 1) where a joint's digits begin among all */
  int functions, forward;
  const unsigned char *digit;  /* (functions x n) */
  const int *from;             /* (functions) first joint whose digit is another than in the function before */
  const int *rate_a, *rate_b;  /* (functions) -1 -1: gravity; a -1: qdd_a; a b: qd_a qd_b */
  const int *start;            /* (functions + 1) into the entries */
  const int *joint;            /* (entries) */
  const double *value;
} psdmp_monte_tables;

typedef struct psdmp_monte psdmp_monte;

void psdmp_emit_monte(psdmp_writer *e, int digits, const char *key); /* digits: of all joints */

/* Generates, compiles or finds in the cache, and loads. compiler: NULL for $NVCC, else nvcc. PSDM_E_COMPILER without it, or without a GPU that it can use. */
psdm_status psdmp_monte_new(const psdm_robot *robot, const psdm_model *model, const char *compiler, const psdm_allocator *allocator, psdmp_monte **monte, psdm_error *error);
void psdmp_monte_free(psdmp_monte *monte); /* accepts NULL */

/* Bins of the errors of states 0 to total - 1 of a stream, as psdmp_reduce_errors has them. */
psdm_status psdmp_monte_errors(psdmp_monte *monte, psdm_reducer *r, psdmp_stream stream, long total, psdm_error *error);

#endif
