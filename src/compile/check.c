/* check.c: compares the compiled functions with the library's recursions before use: compilers and caches are not
 * ours. */

#include "compile/compile.h"
#include "codegen/codegen.h"

/* one object and room for the numbers of a call, in its own precision */
typedef struct caller {
  const psdm_compiled *c;
  float *single; /* (blocks x PSDMP_CODEGEN_BLOCK, then outputs); NULL: double */
} caller;

static void run_compiled(void *user, const psdmp_codegen_program *p, const double *input, double *out) {
  caller *k = user;
  const void *arguments[PSDMP_CODEGEN_IN_COUNT];
  void *results[3];
  size_t count = 0, inputs = (size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK;
  float *narrow = k->single;
  for (size_t i = 0; i < inputs && narrow; i++) narrow[i] = (float)input[i];
  for (size_t b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b])
      arguments[count++] =
          narrow ? (const void *)(narrow + b * PSDMP_CODEGEN_BLOCK) : (const void *)(input + b * PSDMP_CODEGEN_BLOCK);
  for (int r = 0; r < p->results; r++)
    results[r] = narrow ? (void *)(narrow + inputs + p->result[r].first) : (void *)(out + p->result[r].first);
  k->c->unit[p->function].call(arguments, results);
  for (size_t i = 0; i < p->outputs && narrow; i++) out[i] = (double)narrow[inputs + i];
}

static psdm_status check_programs(const psdm_code *code, psdmp_codegen_trial *t, caller *k, psdm_error *error) {
  for (int i = 0; i < code->programs; i++) {
    const psdmp_codegen_program *p = &code->program[i];
    double off;
    if (k->c->single) {
      k->single = psdmp_base_arena_alloc(
          t->arena, ((size_t)PSDMP_CODEGEN_IN_COUNT * PSDMP_CODEGEN_BLOCK + p->outputs) * sizeof *k->single);
      if (!k->single) return psdmp_base_no_memory("", error);
    }
    psdm_status status = psdmp_codegen_trial_error(t, p, run_compiled, k, &off);
    if (status)
      return psdmp_base_fail(error, status, NULL, 0, 0, "%s while checking the compiled '%s'", psdm_status_text(status),
                             p->name);
    if (!(off <= psdmp_codegen_tolerance(code)))
      return psdmp_base_fail(error, PSDM_E_COMPILER, NULL, 0, 0,
                             "the compiled '%s' differs from the recursion by %.2g of the largest number", p->name,
                             off);
  }
  return PSDM_OK;
}

psdm_status psdmp_compile_compiled_check(const psdm_code *code, const psdm_compiled *c, psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = c->arena.allocator};
  psdmp_codegen_trial t;
  caller k = {.c = c};
  psdm_status status = psdmp_codegen_trial_new(code, &scratch, &t, error);
  if (!status) {
    status = check_programs(code, &t, &k, error);
    psdmp_codegen_trial_free(&t);
  }
  psdmp_base_arena_free(&scratch);
  return status;
}
