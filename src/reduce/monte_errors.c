/* monte_errors.c: the program that counts errors of reduced models: the robot's inverse dynamics, and a kernel that
 * draws a state from its number, as reduce_states.c does, and evaluates a table of functions. */
#include "reduce/monte.h"

/* What the object is handed: host pointers, read by psdm_monte_load. The text has the same structure. */
typedef struct tables {
  unsigned long long state;    /* of the stream: blocks of 128 states are drawn from it and their number */
  double gravity, qd, qdd;     /* size of gravity; ranges of rates */
  const double *low, *high;    /* (n) of q */
  const unsigned char *slides; /* (n) joint slides */
  const int *first;            /* (n + 1) where a joint's digits begin among all */
  int functions, forward;
  const unsigned char *digit; /* (functions x n) */
  const int *from;            /* (functions) first joint whose digit is another than in the function before */
  const int *rate_a, *rate_b; /* (functions) -1 -1: gravity; a -1: qdd_a; a b: qd_a qd_b */
  const int *start;           /* (functions + 1) into the entries */
  const int *joint;           /* (entries) */
  const double *value;
} tables;

/* ---- text ---- */

extern const char psdmp_reduce_monte_count[]; /* monte_errors.cu */

static void emit(psdmp_emit_writer *e, const void *user) {
  psdm_output_print(e->out, "enum { DIGITS = %d, LANES = %d };\n\n", *(const int *)user, PSDMP_REDUCE_LANES);
  psdm_output_text(e->out, psdmp_reduce_monte_count);
}

psdm_status psdmp_reduce_monte_errors_new(const psdm_robot *robot, const psdm_model *model, const char *compiler,
                                          const psdm_allocator *allocator, psdmp_reduce_monte **monte,
                                          psdm_error *error) {
  int digits = 0;
  for (int k = 0; k < model->n; k++) digits += model->radix[k];
  return psdmp_reduce_monte_new(
      robot, &(psdmp_reduce_monte_text){.functions = 1u << PSDM_F_INVERSE, .emit = emit, .user = &digits}, compiler,
      allocator, monte, error);
}

/* ---- running it ---- */

static int digit_of(const psdm_model *m, long function, int j) {
  return (int)(m->code[function] / m->weight[j] % (uint64_t)m->radix[j]);
}

/* first joint whose digit is not that of the function before */
static int differs(const psdmp_reduce_part *part, long k) {
  const psdm_model *m = part->model;
  for (int j = 0; k > 0 && j < m->n; j++)
    if (digit_of(m, part->function[k], j) != digit_of(m, part->function[k - 1], j)) return j;
  return k > 0 ? m->n : 0;
}

static bool set_tables(const psdm_reducer *r, const psdmp_reduce_part *part, psdmp_reduce_stream stream,
                       psdmp_base_arena *arena, tables *t) {
  const psdm_model *m = part->model;
  long functions = part->functions, entries = part->start[functions];
  int n = m->n, *first = PSDMP_BASE_NEW(arena, n + 1, int), *from = PSDMP_BASE_NEW(arena, functions, int),
      *a = PSDMP_BASE_NEW(arena, functions, int), *b = PSDMP_BASE_NEW(arena, functions, int),
      *start = PSDMP_BASE_NEW(arena, functions + 1, int), *joint = PSDMP_BASE_NEW(arena, entries, int);
  unsigned char *digit = PSDMP_BASE_NEW(arena, functions * n, unsigned char),
                *slides = PSDMP_BASE_NEW(arena, n, unsigned char);
  double *value = PSDMP_BASE_NEW(arena, entries, double);
  if (!first || !from || !a || !b || !start || !joint || !digit || !slides || !value) return false;
  for (int j = 0; j < n; j++) first[j + 1] = first[j] + m->radix[j], slides[j] = m->prismatic[j];
  for (long k = 0; k < functions; k++) {
    for (int j = 0; j < n; j++) digit[k * n + j] = (unsigned char)digit_of(m, part->function[k], j);
    from[k] = differs(part, k);
    psdm_model_class_rates(m, part->class[k], &a[k], &b[k]);
    start[k + 1] = (int)part->start[k + 1];
  }
  for (long e = 0; e < entries; e++) joint[e] = part->entry[e].joint, value[e] = part->entry[e].value;
  const psdm_profile *p = &r->options.profile;
  uint64_t state = r->options.seed * 4 + (uint64_t)stream;
  *t = (tables){.state = psdmp_base_random_bits(&state),
                .gravity = m->gravity,
                .qd = p->qd,
                .qdd = p->qdd,
                .low = r->source.low,
                .high = r->source.high,
                .slides = slides,
                .first = first,
                .functions = (int)functions,
                .forward = r->options.forward,
                .digit = digit,
                .from = from,
                .rate_a = a,
                .rate_b = b,
                .start = start,
                .joint = joint,
                .value = value};
  return true;
}

static psdm_status progress(const psdm_reducer *r, long done, long total, psdm_error *error) {
  double share = r->from + (r->to - r->from) * (double)done / (double)total;
  if (!r->options.progress || r->options.progress(r->options.progress_user, "reducing", share)) return PSDM_OK;
  return psdmp_base_fail(error, PSDM_E_STOPPED, NULL, 0, 0, "stopped on request");
}

psdm_status psdmp_reduce_monte_errors(psdmp_reduce_monte *m, psdm_reducer *r, psdmp_reduce_stream stream, long total,
                                      psdm_error *error) {
  psdmp_base_arena scratch = {.allocator = r->arena.allocator};
  psdmp_reduce_part part;
  tables t;
  psdm_status status = PSDM_OK;
  if (!psdmp_reduce_part_start(r->model, r->joints, r->theta_new, &scratch, &part) ||
      !set_tables(r, &part, stream, &scratch, &t))
    status = psdmp_base_no_memory("", error);
  if (!status) status = psdmp_reduce_monte_load(m, &t, error);
  for (long at = 0; at < total && !status; at += PSDMP_REDUCE_MONTE_CHUNK) {
    status = psdmp_reduce_monte_run(
        m, at, total - at < PSDMP_REDUCE_MONTE_CHUNK ? total - at : PSDMP_REDUCE_MONTE_CHUNK, error);
    if (!status) status = progress(r, at, total, error);
  }
  if (!status) status = psdmp_reduce_monte_take(m, r->count, error);
  psdmp_base_arena_free(&scratch);
  return status;
}
