/* batch_priv.h: many states at once. Private to the room. */
#ifndef PSDMP_EVAL_BATCH_H
#define PSDMP_EVAL_BATCH_H

#include "parallel/parallel.h"
#include "psdm/eval.h"

/* Data of one thread. */
typedef struct psdmp_eval_batch_thread {
  psdm_work *work;
  psdm_eval_options options; /* with its own scratch */
} psdmp_eval_batch_thread;

struct psdm_batch {
  psdmp_base_arena arena;
  const psdm_robot *robot;
  psdm_function function;
  int inputs, outputs, threads;
  psdmp_eval_batch_thread *thread; /* (threads) */
};

#endif
