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

/* tables as above, and states as reduce_states.c draws them */
static const char head[] = "struct tables {\n"
                           "  unsigned long long state;\n"
                           "  double gravity, qd, qdd;\n"
                           "  const double *low, *high;\n"
                           "  const unsigned char *slides;\n"
                           "  const int *first;\n"
                           "  int functions, forward;\n"
                           "  const unsigned char *digit;\n"
                           "  const int *from, *rate_a, *rate_b, *start, *joint;\n"
                           "  const double *value;\n"
                           "};\n\n"
                           "FN void draw(const tables &t, unsigned long long i, double *q, double *qd, double *qdd) {\n"
                           "  const unsigned long long block = mix(t.state + i/LANES + step);\n"
                           "  for (int j = 0; j < N; j++) {\n"
                           "    const unsigned long long at = block + step*((i % LANES)*3*N + 3*j + 1);\n"
                           "    q[j] = uniform(at, t.low[j], t.high[j]);\n"
                           "    qd[j] = uniform(at + step, -t.qd, t.qd);\n"
                           "    qdd[j] = uniform(at + 2*step, -t.qdd, t.qdd);\n"
                           "  }\n"
                           "}\n\n";

static const char table_of_functions[] =
    "/* digits of all joints, then function by function: products of digits up to the first joint that differs stay "
    "*/\n"
    "FN void evaluate(const tables &t, const double *q, const double *qd, const double *qdd, double *tau, double *M) "
    "{\n"
    "  double value[DIGITS], level[N + 1];\n"
    "  for (int j = 0; j < N; j++) {\n"
    "    double *v = value + t.first[j];\n"
    "    const double one = t.slides[j] ? q[j] : sin(q[j]), two = t.slides[j] ? q[j]*q[j] : cos(q[j]);\n"
    "    for (int d = 0; d < t.first[j + 1] - t.first[j]; d++) v[d] = d == 0 ? 1 : d == 1 ? one : two*v[d - 2];\n"
    "  }\n"
    "  level[0] = 1;\n"
    "  for (int k = 0; k < t.functions; k++) {\n"
    "    for (int j = t.from[k]; j < N; j++) {\n"
    "      const int d = t.digit[k*N + j];\n"
    "      level[j + 1] = d ? level[j]*value[t.first[j] + d] : level[j];\n"
    "    }\n"
    "    const int a = t.rate_a[k], b = t.rate_b[k];\n"
    "    const double y = level[N]*(a < 0 ? t.gravity : b < 0 ? qdd[a] : qd[a]*qd[b]);\n"
    "    for (int e = t.start[k]; e < t.start[k + 1]; e++) {\n"
    "      tau[t.joint[e]] += t.value[e]*y;\n"
    "      if (t.forward && a >= 0 && b < 0) M[t.joint[e]*N + a] += t.value[e]*level[N];\n"
    "    }\n"
    "  }\n"
    "}\n\n"
    "/* x = M^-1 x by Cholesky; false when M is not positive definite */\n"
    "FN bool solve(double *M, double *x) {\n"
    "  for (int i = 0; i < N; i++) {\n"
    "    for (int j = 0; j <= i; j++) {\n"
    "      double sum = M[i*N + j];\n"
    "      for (int k = 0; k < j; k++) sum -= M[i*N + k]*M[j*N + k];\n"
    "      if (i == j && !(sum > 0)) return false;\n"
    "      M[i*N + j] = i == j ? sqrt(sum) : sum/M[j*N + j];\n"
    "    }\n"
    "    for (int k = 0; k < i; k++) x[i] -= M[i*N + k]*x[k];\n"
    "    x[i] /= M[i*N + i];\n"
    "  }\n"
    "  for (int i = N - 1; i >= 0; i--) {\n"
    "    for (int k = i + 1; k < N; k++) x[i] -= M[k*N + i]*x[k];\n"
    "    x[i] /= M[i*N + i];\n"
    "  }\n"
    "  return true;\n"
    "}\n\n"
    "FN double norm(const double *x) {\n"
    "  double sum = 0;\n"
    "  for (int j = 0; j < N; j++) sum += x[j]*x[j];\n"
    "  return sqrt(sum);\n"
    "}\n\n";

static const char errors[] = "/* |tau - reduced tau| / |tau|, or |M^-1 (tau - reduced tau)| / |qdd| */\n"
                             "FN unsigned bin_of(const tables &t, unsigned long long i) {\n"
                             "  double q[N], qd[N], qdd[N], tau[N], r[N] = {0}, M[N*N];\n"
                             "  draw(t, i, q, qd, qdd);\n"
                             "  psdm_monte_inverse_device(q, qd, qdd, tau);\n"
                             "  for (int k = 0; t.forward && k < N*N; k++) M[k] = 0;\n"
                             "  evaluate(t, q, qd, qdd, r, M);\n"
                             "  for (int j = 0; j < N; j++) r[j] = tau[j] - r[j];\n"
                             "  const double size = norm(r);\n"
                             "  if (size == 0) return bin(0);\n"
                             "  if (!t.forward) return bin(size/norm(tau));\n"
                             "  return solve(M, r) ? bin(norm(r)/norm(qdd)) : BINS - 1;\n"
                             "}\n\n";

static const char on_device[] =
    "static tables here; /* on a GPU its pointers are the device's */\n\n"
    "#if defined(__CUDACC__)\n"
    "static unsigned *counts;\n\n"
    "static __global__ void count(const tables t, unsigned long long first, unsigned long long some, unsigned *counts) "
    "{\n"
    "  for (unsigned long long i = blockIdx.x*(unsigned long long)blockDim.x + threadIdx.x; i < some; i += "
    "gridDim.x*(unsigned long long)blockDim.x)\n"
    "    atomicAdd(&counts[bin_of(t, first + i)], 1u);\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_load(const tables *given) {\n"
    "  const size_t functions = given->functions, entries = given->start[functions];\n"
    "  psdm_monte_close();\n"
    "  here = *given;\n"
    "  int code = 0;\n"
    "  send(here.low, N, &code), send(here.high, N, &code), send(here.slides, N, &code), send(here.first, N + 1, "
    "&code), send(here.digit, functions*N, &code);\n"
    "  send(here.from, functions, &code), send(here.rate_a, functions, &code), send(here.rate_b, functions, &code), "
    "send(here.start, functions + 1, &code);\n"
    "  send(here.joint, entries, &code), send(here.value, entries, &code);\n"
    "  counts = (unsigned *)room(BINS*sizeof(unsigned), &code);\n"
    "  return code;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_run(unsigned long long first, unsigned long long some) {\n"
    "  const unsigned long long blocks = (some + 127)/128;\n"
    "  if (!some) return 0;\n"
    "  count<<<(unsigned)(blocks < 65536 ? blocks : 65536), 128>>>(here, first, some, counts);\n"
    "  int code = cudaGetLastError();\n"
    "  return code ? code : (int)cudaDeviceSynchronize();\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_take(unsigned *to) { return cudaMemcpy(to, counts, BINS*sizeof(unsigned), "
    "cudaMemcpyDeviceToHost); }\n\n";

static const char on_processor[] =
    "#else\n"
    "static unsigned counts[BINS];\n\n"
    "extern \"C\" int psdm_monte_load(const tables *given) {\n"
    "  here = *given;\n"
    "  memset(counts, 0, sizeof counts);\n"
    "  return 0;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_run(unsigned long long first, unsigned long long some) {\n"
    "  for (unsigned long long i = 0; i < some; i++) counts[bin_of(here, first + i)]++;\n"
    "  return 0;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_take(unsigned *to) {\n"
    "  memcpy(to, counts, sizeof counts);\n"
    "  return 0;\n"
    "}\n"
    "#endif\n";

static void emit(psdmp_emit_writer *e, const void *user) {
  psdm_output_print(e->out, "enum { DIGITS = %d, LANES = %d };\n\n", *(const int *)user, PSDMP_REDUCE_LANES);
  psdm_output_text(e->out, head);
  psdm_output_text(e->out, table_of_functions);
  psdm_output_text(e->out, errors);
  psdm_output_text(e->out, on_device);
  psdm_output_text(e->out, on_processor);
}

psdm_status psdmp_reduce_monte_errors_new(const psdm_robot *robot, const psdm_model *model, const char *compiler,
                                          const psdm_allocator *allocator, psdmp_reduce_monte **monte,
                                          psdm_error *error) {
  int digits = 0;
  for (int k = 0; k < model->n; k++) digits += model->radix[k];
  return psdmp_reduce_monte_new(
      robot, &(psdmp_reduce_monte_text){.functions = 1u << PSDM_CODE_INVERSE, .emit = emit, .user = &digits}, compiler,
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
