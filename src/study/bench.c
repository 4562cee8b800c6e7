/* bench.c: operations and time of generated code beside the recursions. */
#include <string.h>

#include "study/bench_priv.h"

#define SETTINGS_STRUCT psdmp_study_bench_settings
static const psdm_setting settings[] = {BENCH_SETTINGS(PSDM_SETTINGS_ROW){0}};

/* larger errors are not rounding */
static const double tolerance = 1e-12;

enum { EXPANDED_LINKS = 8 }; /* above this, the expanded model is far too large; codegen's auto uses the same bound */

/* progress over all functions in place of one */
static bool generating(void *user, const char *doing, double share) {
  const psdmp_study_bench *b = user;
  (void)doing;
  (void)share;
  return psdmp_job_progress(&b->job, "generating", b->share);
}

static psdm_status parse(psdmp_study_bench *b, psdm_code_options *o) {
  const psdmp_study_bench_settings *set = &b->set;
  if (!(set->repeat >= 1 && set->repeat <= 1e6) || set->repeat != (int)set->repeat)
    return psdmp_job_wrong(&b->job, "`repeat`: a whole number from 1 to 1000000 was expected");
  o->throughput = strcmp(set->optimise, "throughput") == 0;
  o->target = PSDM_CODE_SIMD;
  o->prefix = "arm"; /* the machine code does not depend on the robot's name */
  o->effort = set->effort > 0 ? (int)set->effort : -1;
  o->progress = generating;
  o->progress_user = b;
  return psdmp_study_functions(&b->job, set->functions, &o->functions, &o->optional);
}

/* ---- the work ---- */

/* functions whose only row is by this method, and which have a second method */
static unsigned lacking(const psdmp_study_bench *b, const char *method) {
  unsigned functions = 0;
  for (int k = 0; k < b->rows; k++)
    if (strcmp(b->row[k].method, method) == 0 && b->row[k].function != PSDM_F_JACOBIAN &&
        b->row[k].function != PSDM_F_POSE)
      functions |= 1u << b->row[k].function;
  return functions;
}

static psdm_status add_other(psdmp_study_bench *b, psdm_code_options o, psdm_code_method method, unsigned functions) {
  if (!functions) return PSDM_OK;
  o.method = method;
  o.functions = functions;
  return psdmp_study_bench_add(b, &o, false);
}

static psdm_status add_rows(psdmp_study_bench *b, psdm_code_options o) {
  enum { ALL, AUTO, RECURSIVE };
  const int method = psdmp_job_choice(&b->job, "method");
  bool large = psdm_robot_links(b->robot) > EXPANDED_LINKS;
  o.method = method == ALL || method == AUTO ? PSDM_CODE_AUTO
             : method == RECURSIVE           ? PSDM_CODE_RECURSIVE
                                             : PSDM_CODE_EXPANDED;
  psdm_status status = psdmp_study_bench_add(b, &o, o.method == PSDM_CODE_AUTO);
  if (status || method != ALL) return status;
  unsigned by_recursion = lacking(b, "expanded"), expanded = large ? 0 : lacking(b, "recursive");
  status = add_other(b, o, PSDM_CODE_RECURSIVE, by_recursion);
  return status ? status : add_other(b, o, PSDM_CODE_EXPANDED, expanded);
}

/* ---- results ---- */

static double worst_error(const psdmp_study_bench *b) {
  double worst = 0;
  for (int k = 0; k < b->rows; k++)
    if (!(b->row[k].error <= worst)) worst = b->row[k].error;
  return worst;
}

/* the row of a function to report: what auto takes, else the only one */
static const psdmp_study_bench_row *row_of(const psdmp_study_bench *b, int f) {
  const psdmp_study_bench_row *found = NULL;
  for (int k = 0; k < b->rows; k++)
    if ((int)b->row[k].function == f && (!found || b->row[k].chosen)) found = &b->row[k];
  return found;
}

static psdm_timed_code timed(const psdmp_study_bench_row *r) {
  const psdm_cost *c = &r->cost;
  return (psdm_timed_code){
      r->method, c->mult,     c->add,  c->div, c->sqrt, c->sincos, c->depth, (long)r->bytes, (long)r->bytes_batch,
      r->ns,     r->ns_batch, r->error};
}

static void put_function(psdm_result *head, const psdmp_study_bench *b, const psdmp_study_bench_row *r,
                         psdm_timed_function *to) {
  psdm_timed_code *other = psdm_result_items(head, &psdm_timed_code_type, b->rows), t = timed(r);
  long others = 0;
  for (int k = 0; other && k < b->rows; k++)
    if (b->row[k].function == r->function && &b->row[k] != r) other[others++] = timed(&b->row[k]);
  *to = (psdm_timed_function){.function = psdm_function_name(r->function),
                              .method = t.method,
                              .mult = t.mult,
                              .add = t.add,
                              .div = t.div,
                              .sqrt = t.sqrt,
                              .sincos = t.sincos,
                              .depth = t.depth,
                              .bytes = t.bytes,
                              .bytes_batch = t.bytes_batch,
                              .ns = t.ns,
                              .ns_batch = t.ns_batch,
                              .error = t.error,
                              .library_ns = b->library[r->function]};
  PSDM_RESULT_SET(to->others, other, others);
}

static void fill(psdm_job *job, psdm_result *head) {
  const psdmp_study_bench *b = (psdmp_study_bench *)job;
  const psdm_compile_info *info = psdm_compiled_info(b->row[0].from);
  psdm_bench_result *r = (psdm_bench_result *)head;
  long functions = 0;
  psdm_result_name_robot(head, b->robot, &r->name, &r->fingerprint);
  r->n = psdm_robot_n(b->robot);
  r->l = psdm_model_l(b->model);
  psdmp_study_bench_place(r);
  r->compiler = psdm_result_text(head, info->compiler);
  r->cached = info->cached;
  r->states = BENCH_STATES;
  r->repeat = b->rounds;
  r->interrupted = psdmp_job_interrupted(job);
  r->drawn = b->drawn != NULL;
  r->error = worst_error(b);
  psdm_timed_function *function = psdm_result_items(head, &psdm_timed_function_type, PSDM_FUNCTION_COUNT);
  for (int f = 0; function && f < PSDM_FUNCTION_COUNT; f++)
    if (row_of(b, f)) put_function(head, b, row_of(b, f), &function[functions++]);
  PSDM_RESULT_SET(r->functions, function, functions);
  psdm_baseline *baseline = psdm_result_items(head, &psdm_baseline_type, 1);
  if (baseline) *baseline = (psdm_baseline){"inverse", "library's recursion", b->library[PSDM_F_INVERSE]};
  PSDM_RESULT_SET(r->baseline, baseline, b->library[PSDM_F_INVERSE] > 0);
  r->settings.item = psdmp_job_settings(job, head, &r->settings.rows);
}

static psdm_status measure(psdmp_study_bench *b) {
  psdm_job *job = &b->job;
  bool whole = !psdmp_job_interrupted(job);
  psdm_status status = psdmp_study_bench_verify(b);
  if (status) return status;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "measuring");
  psdmp_study_bench_time(b);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  if (psdmp_job_interrupted(job))
    psdmp_job_warn(job, "interrupted: these are the best times of %d rounds%s", b->rounds,
                   whole ? "" : ", of the functions compiled so far");
  psdmp_job_event(job, PSDM_JOB_FINISHING);
  job->good = worst_error(b) <= tolerance;
  if (!job->good)
    psdmp_job_warn(job, "the generated code differs from the recursions by %.1e, more than rounding explains",
                   worst_error(b));
  return psdmp_job_answer(job, &psdm_bench_result_type, fill);
}

static psdm_status run(psdm_job *job) {
  psdmp_study_bench *b = (psdmp_study_bench *)job;
  psdm_code_options options = {0};
  psdm_status status = parse(b, &options);
  if (!status) status = psdmp_job_robot(job, PSDM_ROBOT_SETTINGS_OF(&b->set), &job->robot);
  if (!status) status = psdmp_study_bench_open(b);
  if (status) return status;
  psdmp_job_tell(job, PSDM_JOB_STAGE, "generating");
  psdmp_job_event(job, PSDM_JOB_STOPPABLE);
  status = add_rows(b, options);
  psdmp_job_event(job, PSDM_JOB_STAGE);
  return status ? status : measure(b);
}

static void release(psdm_job *job) { psdmp_study_bench_close((psdmp_study_bench *)job); }

PSDMP_JOB_KIND(study, bench, psdmp_study_bench, .free = release);
