/* survey_cuda.c: the survey as a program for a GPU: gravity, M and S = d tau/d qd / 2 by the robot's own
 * straight-line code, eigenvalues by Jacobi's rotations, one block of threads for one group of samples. */
#include "reduce/reduce.h"
#include "analyze/survey_priv.h"

enum { ENDS = 2 * PSDMP_ANALYZE_QUANTITIES, GROUPS = PSDMP_REDUCE_MONTE_CHUNK / PSDMP_ANALYZE_SURVEY_GROUP };

/* What the object is handed, and what it fills. The text has the same structures. */
typedef struct tables {
  unsigned long long state;
  const double *low, *high; /* (n) */
  double limit[ENDS];       /* of quantity k: below at 2k, above at 2k + 1 */
} tables;

typedef struct answers {
  unsigned *count;            /* (SURVEY_ROWS x BINS) since psdm_monte_load */
  unsigned long long *beyond; /* (ENDS) since then */
  double *value;              /* (groups of the last run x ENDS) */
  unsigned *at;               /* where in its group */
} answers;

/* ---- text ---- */

static const char head[] = "struct tables {\n"
                           "  unsigned long long state;\n"
                           "  const double *low, *high;\n"
                           "  double limit[ENDS];\n"
                           "};\n\n"
                           "struct answers {\n"
                           "  unsigned *count;\n"
                           "  unsigned long long *beyond;\n"
                           "  double *value;\n"
                           "  unsigned *at;\n"
                           "};\n\n"
                           "/* small matrices in registers, large ones in memory */\n"
                           "#if defined(__CUDACC__) && PSDM_MONTE_N <= 8\n"
                           "#define UNROLL _Pragma(\"unroll\")\n"
                           "#define ROLL _Pragma(\"unroll 1\")\n"
                           "#else\n"
                           "#define UNROLL\n"
                           "#define ROLL\n"
                           "#endif\n\n";

/* as psdmp_analyze_survey_draw */
static const char drawing[] = "/* pieces of a stick, and directions in the plane: uniform on the sphere */\n"
                              "FN void on_sphere(unsigned long long at, double *x) {\n"
                              "  enum { PAIRS = (N + 1)/2 };\n"
                              "  double cut[PAIRS + 1], sum = 0;\n"
                              "  cut[0] = 0;\n"
                              "  UNROLL for (int k = 1; k < PAIRS; k++) {\n"
                              "    cut[k] = uniform(at += step, 0, 1);\n"
                              "    UNROLL for (int m = k; m > 1; m--) {\n"
                              "      const double low = fmin(cut[m - 1], cut[m]), high = fmax(cut[m - 1], cut[m]);\n"
                              "      cut[m - 1] = low, cut[m] = high;\n"
                              "    }\n"
                              "  }\n"
                              "  cut[PAIRS] = 1;\n"
                              "  UNROLL for (int k = 0; k < PAIRS; k++) {\n"
                              "    double u, v, square;\n"
                              "    do {\n"
                              "      u = uniform(at += step, -1, 1);\n"
                              "      v = uniform(at += step, -1, 1);\n"
                              "      square = add(times(u, u), times(v, v));\n"
                              "    } while (!(square < 1) || square == 0);\n"
                              "    const double stretch = sqrt((cut[k + 1] - cut[k])/square);\n"
                              "    x[2*k] = times(u, stretch);\n"
                              "    if (2*k + 1 < N) x[2*k + 1] = times(v, stretch);\n"
                              "  }\n"
                              "  UNROLL for (int j = 0; j < N; j++) sum = add(sum, times(x[j], x[j]));\n"
                              "  const double size = sqrt(sum);\n"
                              "  UNROLL for (int j = 0; j < N; j++) x[j] = sum > 0 ? x[j]/size : j == 0;\n"
                              "}\n\n"
                              "FN void draw(const tables &t, unsigned long long i, double *q, double *qd) {\n"
                              "  unsigned long long at = mix(t.state + i + step);\n"
                              "  UNROLL for (int j = 0; j < N; j++) q[j] = uniform(at += step, t.low[j], t.high[j]);\n"
                              "  on_sphere(at, qd);\n"
                              "}\n\n";

static const char eigenvalues[] =
    "enum { PACKED = N*(N + 1)/2 };\n"
    "FN constexpr int at(int i, int j) { return i >= j ? i*(i + 1)/2 + j : j*(j + 1)/2 + i; }\n\n"
    "/* results that a function has and that are kept: the lower triangle, all, none */\n"
    "struct triangle {\n"
    "  double *to;\n"
    "  PSDM_MONTE_INLINE void set(int k, double x) const {\n"
    "    if (k % N <= k/N) to[at(k/N, k % N)] = x;\n"
    "  }\n"
    "};\n"
    "struct whole {\n"
    "  double *to;\n"
    "  PSDM_MONTE_INLINE void set(int k, double x) const { to[k] = x; }\n"
    "};\n"
    "struct nothing {\n"
    "  PSDM_MONTE_INLINE void set(int, double) const {}\n"
    "};\n\n"
    "FN double root_below_one(double x) { /* 1/sqrt */\n"
    "#if defined(__CUDA_ARCH__)\n"
    "  return rsqrt(x);\n"
    "#else\n"
    "  return 1/sqrt(x);\n"
    "#endif\n"
    "}\n\n"
    "/* A(p, p + 1) = 0 by a rotation; the two change places */\n"
    "FN void rotate(double *A, int p) {\n"
    "  const double x = A[at(p + 1, p)], d = A[at(p + 1, p + 1)] - A[at(p, p)];\n"
    "  const double t = x*x > 0 ? (d < 0 ? -2*x : 2*x)/(fabs(d) + sqrt(d*d + 4*(x*x))) : 0, c = root_below_one(t*t + "
    "1), s = t*c;\n"
    "  const double low = A[at(p, p)] - t*x;\n"
    "  A[at(p, p)] = A[at(p + 1, p + 1)] + t*x, A[at(p + 1, p + 1)] = low, A[at(p + 1, p)] = 0;\n"
    "  UNROLL for (int k = 0; k < N; k++) {\n"
    "    if (k == p || k == p + 1) continue;\n"
    "    const double a = A[at(k, p)], b = A[at(k, p + 1)];\n"
    "    A[at(k, p)] = s*a + c*b, A[at(k, p + 1)] = c*a - s*b;\n"
    "  }\n"
    "}\n\n"
    "/* Jacobi's method, neighbours only: N rounds of even and odd pairs that change places let every pair meet once "
    "(Luk and Park 1989), with N - 1 rotations in the code.\n"
    " * Sweeps until what is off the diagonal is rounding; A, packed, is spoilt. */\n"
    "FN void extreme_eigenvalues(double *A, double *least, double *largest) {\n"
    "  for (int sweep = 0; sweep < 30; sweep++) {\n"
    "    double off = 0, on = 0;\n"
    "    UNROLL for (int i = 0; i < N; i++) {\n"
    "      UNROLL for (int j = 0; j < i; j++) off += A[at(i, j)]*A[at(i, j)];\n"
    "      on += A[at(i, i)]*A[at(i, i)];\n"
    "    }\n"
    "    if (off <= 1e-33*on) break;\n"
    "    ROLL for (int round = 0; round < N; round += 2) {\n"
    "      UNROLL for (int p = 0; p + 1 < N; p += 2) rotate(A, p);\n"
    "      UNROLL for (int p = 1; p + 1 < N; p += 2) rotate(A, p);\n"
    "    }\n"
    "  }\n"
    "  *least = *largest = A[0];\n"
    "  UNROLL for (int i = 1; i < N; i++) *least = fmin(*least, A[at(i, i)]), *largest = fmax(*largest, A[at(i, i)]);\n"
    "}\n\n";

/* as psdmp_analyze_survey_look */
static const char looking[] =
    "FN double gravity_norm(const double *q) {\n"
    "  double g[N], sum = 0;\n"
    "  psdm_monte_gravity_state(q, whole{g});\n"
    "  UNROLL for (int j = 0; j < N; j++) sum += g[j]*g[j];\n"
    "  return sqrt(sum);\n"
    "}\n\n"
    "FN double mass_norm(const double *q, double *least) {\n"
    "  double M[PACKED], largest;\n"
    "  psdm_monte_mass_state(q, triangle{M});\n"
    "  extreme_eigenvalues(M, least, &largest);\n"
    "  return fmax(largest, -*least);\n"
    "}\n\n"
    "/* what the linearization has beside d tau/d qd is not used, and so not computed */\n"
    "FN double coriolis_norm(const double *q, const double *qd) {\n"
    "  double qdd[N] = {0}, S[N*N], A[PACKED], least, largest;\n"
    "  psdm_monte_linearize_inverse_state(q, qd, qdd, nothing{}, whole{S}, nothing{});\n"
    "  UNROLL for (int i = 0; i < N; i++)\n"
    "    UNROLL for (int j = 0; j <= i; j++) {\n"
    "      double sum = 0;\n"
    "      UNROLL for (int k = 0; k < N; k++) sum += S[k*N + i]*S[k*N + j];\n"
    "      A[at(i, j)] = sum;\n"
    "    }\n"
    "  extreme_eigenvalues(A, &least, &largest);\n"
    "  return sqrt(fmax(largest, 0.0))/2;\n"
    "}\n\n"
    "FN void look(const tables &t, unsigned long long i, double *x) {\n"
    "  double q[N], qd[N];\n"
    "  draw(t, i, q, qd);\n"
    "  x[0] = mass_norm(q, &x[1]);\n"
    "  x[2] = coriolis_norm(q, qd);\n"
    "  x[3] = gravity_norm(q);\n"
    "}\n\n"
    "FN unsigned place(int quantity, double x) { return (quantity == LEAST && x < 0 ? QUANTITIES : quantity)*BINS + "
    "bin(fabs(x)/UNIT); }\n\n"
    "/* ends with even numbers are the least */\n"
    "FN bool better(int end, double x, unsigned k, double y, unsigned m) { return x == y ? k < m : end % 2 ? x > y : x "
    "< y; }\n\n"
    "FN bool outside(const tables &t, int end, double x) { return end % 2 ? x > t.limit[end] : x < t.limit[end]; }\n\n"
    "static tables here; /* on a GPU its pointers are the device's */\n"
    "static unsigned long long groups; /* of the last run */\n\n";

static const char on_device[] =
    "#if defined(__CUDACC__)\n"
    "static answers there;\n\n"
    "static __global__ void __launch_bounds__(THREADS) survey(const tables t, unsigned long long first, unsigned long "
    "long some, const answers a) {\n"
    "  __shared__ double value[ENDS][THREADS];\n"
    "  __shared__ unsigned at[ENDS][THREADS];\n"
    "  const unsigned me = threadIdx.x;\n"
    "  const unsigned long long group = blockIdx.x;\n"
    "  for (int e = 0; e < ENDS; e++) value[e][me] = e % 2 ? -INFINITY : INFINITY, at[e][me] = 0;\n"
    "  for (unsigned k = me; k < GROUP && group*GROUP + k < some; k += THREADS) {\n"
    "    double x[QUANTITIES];\n"
    "    look(t, first + group*GROUP + k, x);\n"
    "    UNROLL for (int c = 0; c < QUANTITIES; c++) atomicAdd(&a.count[place(c, x[c])], 1u);\n"
    "    UNROLL for (int e = 0; e < ENDS; e++) {\n"
    "      if (outside(t, e, x[e/2])) atomicAdd(&a.beyond[e], 1ull);\n"
    "      if (better(e, x[e/2], k, value[e][me], at[e][me])) value[e][me] = x[e/2], at[e][me] = k;\n"
    "    }\n"
    "  }\n"
    "  for (unsigned half = THREADS/2; half; half /= 2) {\n"
    "    __syncthreads();\n"
    "    for (int e = 0; me < half && e < ENDS; e++)\n"
    "      if (better(e, value[e][me + half], at[e][me + half], value[e][me], at[e][me])) value[e][me] = value[e][me + "
    "half], at[e][me] = at[e][me + half];\n"
    "  }\n"
    "  __syncthreads();\n"
    "  if (me < ENDS) a.value[group*ENDS + me] = value[me][0], a.at[group*ENDS + me] = at[me][0];\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_load(const tables *given) {\n"
    "  int code = 0;\n"
    "  psdm_monte_close();\n"
    "  here = *given;\n"
    "  send(here.low, N, &code), send(here.high, N, &code);\n"
    "  there.count = (unsigned *)room(ROWS*(size_t)BINS*sizeof(unsigned), &code);\n"
    "  there.beyond = (unsigned long long *)room(ENDS*sizeof(unsigned long long), &code);\n"
    "  there.value = (double *)room(GROUPS*(size_t)ENDS*sizeof(double), &code);\n"
    "  there.at = (unsigned *)room(GROUPS*(size_t)ENDS*sizeof(unsigned), &code);\n"
    "  return code;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_run(unsigned long long first, unsigned long long some) {\n"
    "  groups = (some + GROUP - 1)/GROUP;\n"
    "  if (!some) return 0;\n"
    "  survey<<<(unsigned)groups, THREADS>>>(here, first, some, there);\n"
    "  int code = cudaGetLastError();\n"
    "  return code ? code : (int)cudaDeviceSynchronize();\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_take(answers *to) {\n"
    "  int code = cudaMemcpy(to->count, there.count, ROWS*(size_t)BINS*sizeof(unsigned), cudaMemcpyDeviceToHost);\n"
    "  if (!code) code = cudaMemcpy(to->beyond, there.beyond, ENDS*sizeof(unsigned long long), "
    "cudaMemcpyDeviceToHost);\n"
    "  if (!code) code = cudaMemcpy(to->value, there.value, groups*ENDS*sizeof(double), cudaMemcpyDeviceToHost);\n"
    "  return code ? code : (int)cudaMemcpy(to->at, there.at, groups*ENDS*sizeof(unsigned), cudaMemcpyDeviceToHost);\n"
    "}\n\n";

static const char on_processor[] =
    "#else\n"
    "static unsigned count[ROWS*BINS], where[GROUPS*ENDS];\n"
    "static unsigned long long beyond[ENDS];\n"
    "static double value[GROUPS*ENDS];\n\n"
    "extern \"C\" int psdm_monte_load(const tables *given) {\n"
    "  here = *given;\n"
    "  memset(count, 0, sizeof count);\n"
    "  memset(beyond, 0, sizeof beyond);\n"
    "  return 0;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_run(unsigned long long first, unsigned long long some) {\n"
    "  groups = (some + GROUP - 1)/GROUP;\n"
    "  for (unsigned long long i = 0; i < some; i++) {\n"
    "    const unsigned k = (unsigned)(i % GROUP);\n"
    "    double x[QUANTITIES], *v = value + i/GROUP*ENDS;\n"
    "    unsigned *w = where + i/GROUP*ENDS;\n"
    "    look(here, first + i, x);\n"
    "    for (int c = 0; c < QUANTITIES; c++) count[place(c, x[c])]++;\n"
    "    for (int e = 0; e < ENDS; e++) {\n"
    "      beyond[e] += outside(here, e, x[e/2]);\n"
    "      if (k == 0 || better(e, x[e/2], k, v[e], w[e])) v[e] = x[e/2], w[e] = k;\n"
    "    }\n"
    "  }\n"
    "  return 0;\n"
    "}\n\n"
    "extern \"C\" int psdm_monte_take(answers *to) {\n"
    "  memcpy(to->count, count, sizeof count);\n"
    "  memcpy(to->beyond, beyond, sizeof beyond);\n"
    "  memcpy(to->value, value, groups*ENDS*sizeof *value);\n"
    "  memcpy(to->at, where, groups*ENDS*sizeof *where);\n"
    "  return 0;\n"
    "}\n"
    "#endif\n";

static void emit(psdmp_emit_writer *e, const void *user) {
  (void)user;
  psdm_output_print(
      e->out,
      "enum { QUANTITIES = %d, ENDS = 2*QUANTITIES, LEAST = %d, ROWS = %d, GROUP = %d, GROUPS = %d, THREADS = 128 };\n",
      PSDMP_ANALYZE_QUANTITIES, PSDMP_ANALYZE_OF_LEAST, PSDMP_ANALYZE_SURVEY_ROWS, PSDMP_ANALYZE_SURVEY_GROUP, GROUPS);
  psdm_output_print(e->out, "static const double UNIT = %a;\n\n", PSDMP_ANALYZE_SURVEY_UNIT);
  psdm_output_text(e->out, head);
  psdm_output_text(e->out, drawing);
  psdm_output_text(e->out, eigenvalues);
  psdm_output_text(e->out, looking);
  psdm_output_text(e->out, on_device);
  psdm_output_text(e->out, on_processor);
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
      .functions = 1u << PSDM_CODE_GRAVITY | 1u << PSDM_CODE_MASS | 1u << PSDM_CODE_LINEARIZE_INVERSE, .emit = emit};
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
