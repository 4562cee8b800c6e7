/* bench_run.c: generated functions and recursions at the same states: compared, then timed, best of
 * several rounds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "derive/derive.h"
#include "study/bench_priv.h"

/* ---- states ---- */

/* motions and their torques */
static psdm_status fill_states(psdmp_study_bench *b) {
  static const double most[3] = {3, 2, 5};
  size_t n = (size_t)psdm_robot_n(b->robot);
  uint64_t seed = 1;
  psdm_status status = PSDM_OK;
  for (size_t s = 0; s < BENCH_STATES && !status; s++) {
    double *x = b->state + 4 * n * s;
    for (size_t i = 0; i < 3 * n; i++) x[i] = most[i / n] * psdmp_base_random(&seed, -1, 1);
    status = psdm_inverse(b->robot, b->work, x, x + n, x + 2 * n, x + 3 * n);
    for (size_t i = 0; i < 4 * n; i++) b->turned[i * BENCH_STATES + s] = x[i];
  }
  return status;
}

/* length of the largest result */
static size_t most_outputs(const psdmp_study_bench *b) {
  size_t n = (size_t)psdm_robot_n(b->robot), l = (size_t)psdm_model_l(b->model), most = 12;
  if (6 * n > most) most = 6 * n;
  if (3 * n * n > most) most = 3 * n * n;
  return n * l > most ? n * l : most;
}

/* a robot whose file has no inertias gets some: the code and its time depend on which are zero, not on their values */
static psdm_status draw_inertias(psdmp_study_bench *b) {
  psdm_error error;
  psdmp_base_arena arena = {0};
  bool possible;
  double *pi = PSDMP_BASE_NEW(&arena, psdm_robot_parameter_count(b->robot), double);
  psdm_status status = pi ? psdm_robot_clone(b->robot, NULL, &b->drawn) : PSDM_E_MEMORY;
  if (!status) {
    psdm_robot_parameters(b->robot, pi);
    status = psdmp_derive_draw_bodies(b->robot, 1, &arena, pi, &possible, &error);
    if (status) psdmp_job_fail(&b->job, &error);
  } else status = psdmp_job_memory(&b->job);
  if (!status) {
    psdm_robot_set_parameters(b->drawn, pi);
    b->robot = b->drawn;
    psdmp_job_warn(&b->job, "inertias are unknown: the code is that of drawn ones%s",
                   possible ? ", which bodies can have" : "; no body can have them, because of the assumptions");
  }
  psdmp_base_arena_free(&arena);
  return status;
}

psdm_status psdmp_study_bench_open(psdmp_study_bench *b) {
  const psdm_robot *robot = b->robot = b->job.robot;
  psdm_error error;
  size_t n = (size_t)psdm_robot_n(robot);
  if (psdm_robot_loops(robot))
    return psdmp_job_fail(
        &b->job,
        &(psdm_error){
            .status = PSDM_E_ROBOT,
            .text = "closed loops are not measured: their time depends on how far p is from closing; psdm codegen "
                    "writes their code"});
  psdm_status status = psdm_robot_ready(robot, NULL) ? draw_inertias(b) : PSDM_OK;
  if (status) return status;
  robot = b->robot;
  if (psdm_base_parameters_derive(robot, NULL, NULL, &b->model, NULL, &error)) return psdmp_job_fail(&b->job, &error);
  if (psdm_work_new(robot, NULL, &b->work) || psdm_linear_new(robot, NULL, &b->linear))
    return psdmp_job_memory(&b->job);
  b->state = calloc(4 * n * BENCH_STATES + 1, sizeof(double));
  b->turned = calloc(4 * n * BENCH_STATES + 1, sizeof(double));
  b->out = calloc((BENCH_STATES + 2) * most_outputs(b), sizeof(double));
  b->scratch = calloc(psdm_eval_scratch(robot, b->model) + 1, sizeof(double));
  if (!b->state || !b->turned || !b->out || !b->scratch) return psdmp_job_memory(&b->job);
  status = fill_states(b);
  return status ? psdmp_job_fail(&b->job, &(psdm_error){.status = status}) : PSDM_OK;
}

void psdmp_study_bench_close(psdmp_study_bench *b) {
  for (int k = 0; k < b->codes; k++) {
    psdm_compiled_free(b->compiled[k]);
    psdm_code_free(b->code[k]);
  }
  psdm_robot_free(b->drawn);
  psdm_work_free(b->work, NULL);
  psdm_linear_free(b->linear, NULL);
  psdm_model_free(b->model);
  free(b->state);
  free(b->turned);
  free(b->out);
  free(b->scratch);
}

/* ---- rows ---- */

static bool has_row(const psdmp_study_bench *b, psdm_function f, const char *method) {
  for (int k = 0; k < b->rows; k++)
    if (b->row[k].function == f && strcmp(b->row[k].method, method) == 0) return true;
  return false;
}

/* a compiler that runs is stopped with us; what is there already is worth measuring */
static psdm_status fail(const psdmp_study_bench *b, const psdm_error *error) {
  bool stopped =
      error->status == PSDM_E_STOPPED || (error->status == PSDM_E_COMPILER && psdmp_job_interrupted(&b->job));
  return stopped && b->rows ? PSDM_OK : psdmp_job_fail(&b->job, error);
}

/* one function */
static psdm_status add_function(psdmp_study_bench *b, const psdm_code_options *options, bool chosen) {
  psdm_error error;
  int at = b->codes;
  psdm_compile_options compile = {.native = true, .compiler = b->set.compiler};
  psdm_status status = psdm_code_build(b->robot, options, NULL, &b->code[at], &error);
  if (status == PSDM_E_SINGULAR && (options->optional & options->functions))
    return psdmp_job_warn(&b->job, "%s", error.text), PSDM_OK;
  if (status) return fail(b, &error);
  b->codes++;
  double began = psdmp_base_clock();
  psdmp_job_ask_soon(&b->job); /* for some time nothing else is said */
  psdmp_job_progress(&b->job, "compiling", -1);
  if (psdm_compile(b->code[at], &compile, NULL, &b->compiled[at], &error)) return fail(b, &error);
  const psdm_compile_info *info = psdm_compiled_info(b->compiled[at]);
  psdmp_job_detail(&b->job, "%s: %d functions %s in %.3g s", psdmp_job_safe(&b->job, info->compiler),
                   psdm_code_count(b->code[at]), info->cached ? "found in the cache" : "compiled",
                   psdmp_base_clock() - began);
  for (int k = 0; k < psdm_code_count(b->code[at]); k++) {
    psdmp_study_bench_row row = {.chosen = chosen, .from = b->compiled[at]};
    row.function = psdm_code_at(b->code[at], k, &row.cost, &row.method);
    if (has_row(b, row.function, row.method)) continue;
    psdm_compiled_symbol(row.from, row.function, false, &row.bytes);
    psdm_compiled_symbol(row.from, row.function, true, &row.bytes_batch);
    b->row[b->rows++] = row;
  }
  return PSDM_OK;
}

static int bits(unsigned x) {
  int count = 0;
  for (; x; x &= x - 1) count++;
  return count;
}

psdm_status psdmp_study_bench_add(psdmp_study_bench *b, const psdm_code_options *options, bool chosen) {
  psdm_status status = PSDM_OK;
  for (unsigned f = 0; f < PSDM_FUNCTION_COUNT && !status; f++) {
    psdm_code_options one = *options;
    one.functions &= 1u << f;
    if (!one.functions) continue;
    if (psdmp_job_interrupted(&b->job) && b->rows) break; /* the rows so far are worth measuring */
    psdmp_job_tell(&b->job, PSDM_JOB_LACKING, "%s", b->rows ? "" : "no result yet");
    b->share = (double)bits(options->functions & ((1u << f) - 1)) / bits(options->functions);
    status = add_function(b, &one, chosen);
  }
  return status;
}

/* ---- one sweep over all states ---- */

typedef void (*takes_one)(const double *, double *);
typedef void (*takes_two)(const double *, const double *, double *);
typedef void (*takes_three)(const double *, const double *, const double *, double *);
typedef void (*gives_three)(const double *, const double *, const double *, double *, double *, double *);
typedef void (*batch_one)(size_t, const double *, double *);
typedef void (*batch_two)(size_t, const double *, const double *, double *);
typedef void (*batch_three)(size_t, const double *, const double *, const double *, double *);
typedef void (*batch_gives_three)(size_t, const double *, const double *, const double *, double *, double *, double *);

static bool linearizes(psdm_function f) { return f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD; }

/* how many of q, qd, and qdd or tau a function takes */
static int takes(const psdmp_study_bench *b, psdm_function f) {
  return psdm_eval_inputs(b->robot, f) / psdm_robot_n(b->robot);
}

/* q, qd, and qdd or tau */
static size_t third(psdm_function f, size_t n) {
  return (f == PSDM_F_FORWARD || f == PSDM_F_LINEARIZE_FORWARD ? 3 : 2) * n;
}

/* the generated function itself, called by its own type; step: numbers between the results of two states */
static void sweep_generated(const psdmp_study_bench *b, const psdmp_study_bench_row *row, size_t step) {
  size_t n = (size_t)psdm_robot_n(b->robot), last = third(row->function, n);
  int count = takes(b, row->function);
  psdm_compiled_pointer p = psdm_compiled_symbol(row->from, row->function, false, NULL);
  for (size_t s = 0; s < BENCH_STATES; s++) {
    const double *x = b->state + 4 * n * s;
    double *out = b->out + step * s;
    if (linearizes(row->function)) {
      ((gives_three)p)(x, x + n, x + last, out, out + n * n, out + 2 * n * n);
      continue;
    }
    switch (count) {
      case 1: ((takes_one)p)(x, out); break;
      case 2: ((takes_two)p)(x, x + n, out); break;
      default: ((takes_three)p)(x, x + n, x + last, out);
    }
  }
}

static void sweep_batch(const psdmp_study_bench *b, const psdmp_study_bench_row *row) {
  size_t n = (size_t)psdm_robot_n(b->robot) * BENCH_STATES, last = third(row->function, n);
  int count = takes(b, row->function);
  psdm_compiled_pointer p = psdm_compiled_symbol(row->from, row->function, true, NULL);
  const double *x = b->turned;
  size_t each = n / BENCH_STATES * n;
  if (linearizes(row->function)) {
    ((batch_gives_three)p)(BENCH_STATES, x, x + n, x + last, b->out, b->out + each, b->out + 2 * each);
    return;
  }
  switch (count) {
    case 1: ((batch_one)p)(BENCH_STATES, x, b->out); break;
    case 2: ((batch_two)p)(BENCH_STATES, x, x + n, b->out); break;
    default: ((batch_three)p)(BENCH_STATES, x, x + n, x + last, b->out);
  }
}

/* the library's recursion at one state */
static psdm_status recursion(const psdmp_study_bench *b, psdm_function f, const double *x, double *out) {
  const psdm_robot *r = b->robot;
  int n = psdm_robot_n(r), joint = psdm_robot_default_link(r, NULL);
  psdm_eval_options base = {.model = b->model, .scratch = b->scratch};
  switch (f) {
    case PSDM_F_INVERSE: return psdm_inverse(r, b->work, x, x + n, x + 2 * n, out);
    case PSDM_F_GRAVITY: return psdm_gravity(r, b->work, x, out);
    case PSDM_F_BIAS: return psdm_bias(r, b->work, x, x + n, out);
    case PSDM_F_MASS: return psdm_mass(r, b->work, x, out);
    case PSDM_F_FORWARD: return psdm_forward(r, b->work, x, x + n, x + 3 * n, out);
    case PSDM_F_REGRESSOR: return psdm_eval(r, b->work, PSDM_F_REGRESSOR, &base, x, out);
    case PSDM_F_ENERGY: return psdm_energy(r, b->work, x, x + n, out, out + 1);
    case PSDM_F_JACOBIAN: return psdm_jacobian(r, b->work, x, joint, out);
    case PSDM_F_LINEARIZE_INVERSE:
      return psdm_linearize_inverse(r, b->linear, x, x + n, x + 2 * n, out, out + n * n, out + 2 * n * n);
    case PSDM_F_LINEARIZE_FORWARD:
      return psdm_linearize_forward(r, b->linear, x, x + n, x + 3 * n, out, out + n * n, out + 2 * n * n);
    case PSDM_F_INVERSE_MASS: return psdm_linearize_forward_at(r, b->linear, x, x + n, x + 2 * n, NULL, NULL, out);
    default: return psdm_pose(r, b->work, x, joint, out);
  }
}

static void sweep_recursion(const psdmp_study_bench *b, psdm_function f) {
  size_t n = (size_t)psdm_robot_n(b->robot);
  for (size_t s = 0; s < BENCH_STATES; s++) recursion(b, f, b->state + 4 * n * s, b->out);
}

/* ---- errors ---- */

static double largest(const double *x, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* accelerations are judged by the torques that their errors amount to, potential energy by its change from the first
 * state */
static double difference(const psdmp_study_bench *b, psdm_function f, size_t s, const double *got, const double *want,
                         double shift, size_t count) {
  size_t n = (size_t)psdm_robot_n(b->robot);
  double worst = 0, *M = b->out + (BENCH_STATES + 1) * most_outputs(b);
  if (f == PSDM_F_FORWARD) psdm_mass(b->robot, b->work, b->state + 4 * n * s, M);
  for (size_t i = 0; i < count; i++) {
    double d = got[i] - want[i] - (f == PSDM_F_ENERGY && i == 1 ? shift : 0);
    if (f == PSDM_F_FORWARD) {
      d = 0;
      for (size_t j = 0; j < n; j++) d += M[i * n + j] * (got[j] - b->state[4 * n * s + 2 * n + j]);
    }
    if (!(fabs(d) <= worst)) worst = fabs(d);
  }
  return worst;
}

/* results in b->out, of state s, number i, at [s * by_state + i * by_number] */
static psdm_status compare(const psdmp_study_bench *b, psdm_function f, size_t by_state, size_t by_number, size_t count,
                           double *error) {
  size_t n = (size_t)psdm_robot_n(b->robot), most = most_outputs(b);
  double *want = b->out + BENCH_STATES * most, *got = malloc(most * sizeof *got), worst = 0, scale = 0, shift = 0;
  psdm_status status = got ? PSDM_OK : PSDM_E_MEMORY;
  for (size_t s = 0; s < BENCH_STATES && !status; s++) {
    const double *x = b->state + 4 * n * s;
    status = recursion(b, f, x, want);
    for (size_t i = 0; i < count; i++) got[i] = b->out[s * by_state + i * by_number];
    if (f == PSDM_F_ENERGY && s == 0) shift = got[1] - want[1];
    double d = difference(b, f, s, got, want, shift, count);
    if (!(d <= worst)) worst = d;
    scale = fmax(scale, f == PSDM_F_FORWARD ? largest(x + 3 * n, n) : largest(want, count));
  }
  free(got);
  worst /= scale > 0 ? scale : 1;
  if (!(worst <= *error)) *error = worst;
  return status;
}

static psdm_status verify_row(const psdmp_study_bench *b, psdmp_study_bench_row *row) {
  int count = 0;
  psdm_compiled_result(row->from, row->function, 0, &count);
  sweep_generated(b, row, (size_t)count);
  psdm_status status = compare(b, row->function, (size_t)count, 1, (size_t)count, &row->error);
  if (status) return status;
  sweep_batch(b, row);
  return compare(b, row->function, 1, BENCH_STATES, (size_t)count, &row->error);
}

psdm_status psdmp_study_bench_verify(psdmp_study_bench *b) {
  psdm_status status = PSDM_OK;
  for (int k = 0; k < b->rows && !status; k++) status = verify_row(b, &b->row[k]);
  return status ? psdmp_job_fail(&b->job, &(psdm_error){.status = status}) : PSDM_OK;
}

/* ---- time ---- */

typedef enum what { GENERATED, BATCH, LIBRARY } what;

static void sweep(const psdmp_study_bench *b, what kind, int index) {
  switch (kind) {
    case GENERATED: sweep_generated(b, &b->row[index], 0); break;
    case BATCH: sweep_batch(b, &b->row[index]); break;
    default: sweep_recursion(b, (psdm_function)index);
  }
}

/* ns per state, over enough sweeps for the clock's resolution; *ns is the best so far, 0: none */
static void measure(const psdmp_study_bench *b, what kind, int index, double *ns) {
  const double least = 100e-6;
  long sweeps = 1;
  double spent;
  if (*ns > 0) sweeps = (long)(least * 1e9 / (*ns * BENCH_STATES)) + 1;
  do {
    double started = psdmp_base_clock();
    for (long i = 0; i < sweeps; i++) sweep(b, kind, index);
    spent = psdmp_base_clock() - started;
    sweeps = *ns > 0 || spent >= least ? sweeps : 2 * sweeps;
  } while (*ns == 0 && spent < least);
  spent *= 1e9 / ((double)sweeps * BENCH_STATES);
  if (*ns == 0 || spent < *ns) *ns = spent;
}

void psdmp_study_bench_time(psdmp_study_bench *b) {
  bool timed[PSDM_FUNCTION_COUNT] = {false};
  double began = psdmp_base_clock();
  int rounds = (int)b->set.repeat;
  for (int k = 0; k < b->rows; k++) timed[b->row[k].function] = true;
  for (int round = 0; round < rounds; round++) {
    for (int k = 0; k < b->rows; k++) measure(b, GENERATED, k, &b->row[k].ns);
    for (int k = 0; k < b->rows; k++) measure(b, BATCH, k, &b->row[k].ns_batch);
    for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
      if (timed[f]) measure(b, LIBRARY, f, &b->library[f]);
    b->rounds = round + 1;
    if (!psdmp_job_count(&b->job, began, round + 1, rounds, round + 1, "rounds")) break;
  }
}
