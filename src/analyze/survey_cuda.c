/* survey_cuda.c: the survey as a program for a GPU: gravity, M and S = d tau/d qd / 2 by the robot's own straight-line
 * code, eigenvalues by Jacobi rotations, one block of threads for one group of samples. */
#include "reduce/reduce.h"
#include "analyze/survey_priv.h"

enum { ENDS = 2 * PSDMP_ANALYZE_QUANTITIES, GROUPS = PSDMP_REDUCE_MONTE_CHUNK / PSDMP_ANALYZE_SURVEY_GROUP };

/* Input and output of the object. The generated text has the same structures. */
typedef struct tables {
  unsigned long long state;
  const double *low, *high; /* (n) */
  double limit[ENDS];       /* of quantity k: below at 2k, above at 2k + 1 */
} tables;

typedef struct answers {
  unsigned *count;            /* (SURVEY_ROWS x BINS) since psdm_monte_load */
  unsigned long long *beyond; /* (ENDS) since then */
  double *value;              /* (groups of the last run x ENDS) */
  unsigned *at;               /* position in its group */
} answers;

/* ---- text ---- */

extern const char psdmp_analyze_survey_text[]; /* survey.cu */

static void emit(psdmp_emit_writer *e, const void *user) {
  (void)user;
  psdm_output_print(
      e->out,
      "enum { QUANTITIES = %d, ENDS = 2*QUANTITIES, LEAST = %d, ROWS = %d, GROUP = %d, GROUPS = %d, THREADS = 128 };\n",
      PSDMP_ANALYZE_QUANTITIES, PSDMP_ANALYZE_OF_LEAST, PSDMP_ANALYZE_SURVEY_ROWS, PSDMP_ANALYZE_SURVEY_GROUP, GROUPS);
  psdm_output_print(e->out, "static const double UNIT = %a;\n\n", PSDMP_ANALYZE_SURVEY_UNIT);
  psdm_output_text(e->out, psdmp_analyze_survey_text);
}

/* ---- running it ---- */

static bool make_answers(psdmp_base_arena *arena, const psdmp_analyze_survey *survey, answers *to) {
  size_t ends = (size_t)GROUPS * ENDS;
  *to = (answers){.count = survey->count,
                  .beyond = psdmp_base_arena_alloc(arena, sizeof *to->beyond * ENDS),
                  .value = psdmp_base_arena_alloc_raw(arena, sizeof *to->value * ends),
                  .at = psdmp_base_arena_alloc_raw(arena, sizeof *to->at * ends)};
  return to->beyond && to->value && to->at;
}

static void keep_groups(psdmp_analyze_survey *s, const answers *a, long first, long some) {
  for (long group = 0; group * PSDMP_ANALYZE_SURVEY_GROUP < some; group++) {
    for (int e = 0; e < ENDS; e++)
      psdmp_analyze_survey_keep(
          s, (psdmp_analyze_quantity)(e / 2), e % 2,
          (psdmp_analyze_extreme){a->value[group * ENDS + e],
                                  first + group * PSDMP_ANALYZE_SURVEY_GROUP + (long)a->at[group * ENDS + e]});
    s->kept += s->kept < PSDMP_ANALYZE_SURVEY_KEPT;
  }
  for (int e = 0; e < ENDS; e++) s->beyond[e / 2][e % 2] = (long)a->beyond[e];
  s->samples += some;
}

static bool make_tables(const psdmp_analyze_survey_aim *aim, psdmp_base_arena *arena, tables *t) {
  size_t n = (size_t)psdm_robot_n(aim->robot);
  double *low = psdmp_base_arena_alloc(arena, sizeof *low * n), *high = psdmp_base_arena_alloc(arena, sizeof *high * n);
  if (!low || !high) return false;
  for (size_t j = 0; j < n; j++) low[j] = aim->range[j].lower, high[j] = aim->range[j].upper;
  *t = (tables){.state = psdmp_analyze_survey_state(aim->seed), .low = low, .high = high};
  for (int e = 0; e < ENDS; e++) t->limit[e] = aim->limit[e / 2][e % 2];
  return true;
}

static psdm_status run_chunks(const psdmp_analyze_survey_aim *aim, psdmp_reduce_monte *monte, psdmp_base_arena *arena,
                              psdmp_analyze_survey *s, psdm_error *error) {
  tables t;
  answers a;
  if (!make_tables(aim, arena, &t) || !make_answers(arena, s, &a)) return psdmp_base_no_memory("", error);
  psdm_status status = psdmp_reduce_monte_load(monte, &t, error);
  for (long at = 0; at < aim->samples && !status; at += PSDMP_REDUCE_MONTE_CHUNK) {
    long some = aim->samples - at < PSDMP_REDUCE_MONTE_CHUNK ? aim->samples - at : PSDMP_REDUCE_MONTE_CHUNK;
    if (aim->progress && !aim->progress(aim->progress_user, "samples", (double)at / (double)aim->samples)) break;
    status = psdmp_reduce_monte_run(monte, at, some, error);
    if (!status) status = psdmp_reduce_monte_take(monte, &a, error);
    if (!status) keep_groups(s, &a, at, some);
  }
  return status;
}

psdm_status psdmp_analyze_survey_program(const psdm_robot *robot, const char *nvcc, const psdm_allocator *allocator,
                                         psdmp_reduce_monte **program, psdm_error *error) {
  static const psdmp_reduce_monte_text text = {
      .functions = 1u << PSDM_F_GRAVITY | 1u << PSDM_F_MASS | 1u << PSDM_F_LINEARIZE_INVERSE, .emit = emit};
  return psdmp_reduce_monte_new(robot, &text, nvcc, allocator, program, error);
}

psdm_status psdmp_analyze_survey_cuda(const psdmp_analyze_survey_aim *aim, psdmp_reduce_monte *program,
                                      psdmp_analyze_survey **survey, psdm_error *error) {
  psdmp_base_arena arena = {.allocator = aim->allocator};
  *survey = psdmp_analyze_survey_new(aim->allocator);
  psdm_status status = *survey ? run_chunks(aim, program, &arena, *survey, error) : psdmp_base_no_memory("", error);
  if (status) {
    psdmp_analyze_survey_free(*survey, aim->allocator);
    *survey = NULL;
  }
  psdmp_base_arena_free(&arena);
  return status;
}
