/* monte.h: very many states on a GPU. Private to the library.
 *
 * A program is text: functions of the robot's dynamics as psdm codegen writes them for CUDA, and a kernel that draws
 * a state from its number and counts in bins what it finds. CUDA's compiler makes an object of it while we run, kept
 * in the cache of psdm/compile.h. Bins are counted in integers, so that any order of threads gives the same.
 * Compiled by a C++ compiler in place of CUDA's it loops on the processor. */
#ifndef PSDMP_REDUCE_MONTE_H
#define PSDMP_REDUCE_MONTE_H

#include "emit/emit.h"
#include "reduce/reduce.h"

/* ---- a program ---- */

/* What is its own. The text has psdm_monte_load(const tables *), psdm_monte_run(first, some) and psdm_monte_take(to
 * host memory), of C linkage, which answer 0 or CUDA's number; it begins with psdmp_reduce_emit_monte's. */
typedef struct psdmp_reduce_monte_text {
  unsigned functions; /* bit 1 << psdm_function, prefix psdm_monte */
  void (*emit)(psdmp_emit_writer *e, const void *user);
  const void *user;
} psdmp_reduce_monte_text;

typedef struct psdmp_reduce_monte psdmp_reduce_monte;

/* N, mix, uniform, add, times (without fusing), bin; room and send for the device's memory. */
void psdmp_reduce_emit_monte(psdmp_emit_writer *e, const char *key);

/* Generates, compiles or finds in the cache, and loads. compiler: NULL for $NVCC, else nvcc. PSDM_E_COMPILER without
 * it, or without a GPU that it can use. */
psdm_status psdmp_reduce_monte_new(const psdm_robot *robot, const psdmp_reduce_monte_text *text, const char *compiler,
                                   const psdm_allocator *allocator, psdmp_reduce_monte **monte, psdm_error *error);
void psdmp_reduce_monte_free(psdmp_reduce_monte *monte); /* accepts NULL */

/* states between two questions whether to go on: a fraction of a second on a GPU */
enum { PSDMP_REDUCE_MONTE_CHUNK = 1 << 24 };

psdm_status psdmp_reduce_monte_load(psdmp_reduce_monte *monte, const void *tables, psdm_error *error);
psdm_status psdmp_reduce_monte_run(psdmp_reduce_monte *monte, long first, long some, psdm_error *error);
psdm_status psdmp_reduce_monte_take(psdmp_reduce_monte *monte, void *to, psdm_error *error);

/* ---- errors of a reduced model ---- */

psdm_status psdmp_reduce_monte_errors_new(const psdm_robot *robot, const psdm_model *model, const char *compiler,
                                          const psdm_allocator *allocator, psdmp_reduce_monte **monte,
                                          psdm_error *error);

/* Bins of the errors of states 0 to total - 1 of a stream, as psdmp_reduce_errors has them. */
psdm_status psdmp_reduce_monte_errors(psdmp_reduce_monte *monte, psdm_reducer *r, psdmp_reduce_stream stream,
                                      long total, psdm_error *error);

#endif
