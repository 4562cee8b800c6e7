/* batch.c: one function at many states, in threads. Each state is evaluated alone: results equal psdm_eval's for any
 * number of threads. */
#include "eval/batch_priv.h"

#include <limits.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { STATES = 64 }; /* taken by a thread at a time: some 100 microseconds of work */

static psdm_status eval_some(const psdm_batch *b, psdmp_eval_batch_thread *t, long from, long to, const double *in,
                             double *out, long *at) {
  psdm_status status = PSDM_OK;
  for (*at = from; *at < to && !status; ++*at)
    status = psdm_eval(b->robot, t->work, b->function, &t->options, in + *at * b->inputs, out + *at * b->outputs);
  if (status) --*at;
  return status;
}

psdm_status psdm_batch_eval(psdm_batch *b, long count, const double *in, double *out, long *failed) {
  psdm_status first = PSDM_OK;
  long where = LONG_MAX, pieces = (count + STATES - 1) / STATES;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads) if (b->threads > 1 && pieces > 1)
#endif
  for (long piece = 0; piece < pieces; piece++) {
#ifdef _OPENMP
    psdmp_eval_batch_thread *t = &b->thread[omp_get_thread_num()];
#else
    psdmp_eval_batch_thread *t = &b->thread[0];
#endif
    long at, to = (piece + 1) * STATES < count ? (piece + 1) * STATES : count;
    psdm_status status = eval_some(b, t, piece * STATES, to, in, out, &at);
    if (!status) continue;
#ifdef _OPENMP
#pragma omp critical
#endif
    if (at < where) where = at, first = status;
  }
  if (failed) *failed = first ? where : count;
  return first;
}
