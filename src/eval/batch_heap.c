/* batch_heap.c: the memory of a batch. */
#include "eval/batch_priv.h"

static psdm_status start_thread(psdm_batch *b, const psdm_eval_options *o, psdmp_eval_batch_thread *t) {
  const psdm_allocator *a = b->arena.allocator;
  bool linearizes = psdm_eval_linearizes(b->function),
       works = o->model || b->function == PSDM_F_SENSITIVITY || psdm_function_is_task(b->function);
  t->options = *o;
  t->options.linear = NULL;
  t->options.scratch =
      works ? psdmp_base_arena_alloc(&b->arena, psdm_eval_scratch(b->robot, o->model) * sizeof(double)) : NULL;
  if (works && !t->options.scratch) return PSDM_E_MEMORY;
  psdm_status status = psdm_work_new(b->robot, a, &t->work);
  return status || !linearizes ? status : psdm_linear_new(b->robot, a, &t->options.linear);
}

psdm_status psdm_batch_new(const psdm_robot *robot, psdm_function function, const psdm_eval_options *options,
                           int threads, const psdm_allocator *allocator, psdm_batch **out, psdm_error *error) {
  static const psdm_eval_options none = {0};
  const psdm_eval_options *o = options ? options : &none;
  *out = NULL;
  if ((unsigned)function >= PSDM_EVAL_FUNCTIONS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "unknown function %d", (int)function);
  psdm_status unsuited = psdm_eval_check(robot, function, o, error);
  if (unsuited) return unsuited;
  if (o->model) {
    psdm_status other = psdm_model_match(o->model, robot, error);
    if (other) return other;
  }
  psdm_batch *b = psdmp_base_alloc(allocator, sizeof *b);
  if (!b) return psdmp_base_no_memory("", error);
  b->arena.allocator = allocator;
  b->robot = robot, b->function = function, b->threads = psdmp_parallel_threads(threads, NULL, 1024);
  b->inputs = psdm_eval_inputs(robot, function);
  b->outputs = psdm_eval_outputs(robot, function, o);
  b->thread = psdmp_base_arena_alloc(&b->arena, (size_t)b->threads * sizeof *b->thread);
  psdm_status status = b->thread ? PSDM_OK : PSDM_E_MEMORY;
  for (int k = 0; k < b->threads && !status; k++) status = start_thread(b, o, &b->thread[k]);
  if (status) {
    psdm_batch_free(b);
    return psdmp_base_fail(error, status, "", 0, 0, "%s", psdm_status_text(status));
  }
  *out = b;
  return PSDM_OK;
}

void psdm_batch_free(psdm_batch *b) {
  if (!b) return;
  const psdm_allocator *allocator = b->arena.allocator;
  for (int k = 0; b->thread && k < b->threads; k++) {
    psdm_work_free(b->thread[k].work, allocator);
    psdm_linear_free(b->thread[k].options.linear, allocator);
  }
  psdmp_base_arena_free(&b->arena);
  psdmp_base_free(allocator, b);
}
