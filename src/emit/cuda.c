/* cuda.c: PREFIX.cuh, the straight-line functions of one state as C++ that runs on a GPU and, without CUDA, anywhere.
 *
 * Sines and cosines as in emit_sincos.c, but with fused operations, which every GPU has: pi/2 in two parts of full
 * length is then enough, and the range is wider. One test for each state finds angles beyond it; those are left to
 * the library's sine, by a call early in the function, where few values are at hand, so that it costs an ordinary
 * state no register. */

#include "emit/cuda.h"

/* ---- sines and cosines ---- */

/* one precision's numbers */
typedef struct precision {
  /* sum of squares of a state's angles up to its square: k has 16 bits (float) or 29, and 2/pi is good to that */
  double range;
  double part[2]; /* of pi/2, each rounded to the precision */
  double rounder; /* 1.5 times 2^(bits of the fraction) */
  int terms;
  double sine[6], cosine[6]; /* sin r = r + r z (sine), cos r = 1 - z/2 + z^2 (cosine), z = r^2 */
} precision;

/* fdlibm's polynomials (Sun Microsystems, 1993) */
static const precision in_double = {
    1e8,
    {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    0x1.8p52,
    6,
    {-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
     -2.50507602534068634195e-08, 1.58969099521155010221e-10},
    {4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
     2.08757232129817482790e-09, -1.13596475577881948265e-11}};

/* Cephes' polynomials (Moshier, 1992) */
static const precision in_single = {1e4,
                                    {0x1.921fb6p+0, -0x1.777a5cp-25},
                                    0x1.8p23,
                                    3,
                                    {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4},
                                    {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5}};

static const precision *precision_of(const psdmp_emit_writer *e) { return e->single ? &in_single : &in_double; }

/* "fma(z, fma(z, c2, c1), c0)", then the outer factors of a sine or cosine */
static void emit_horner(psdmp_emit_writer *e, const double *c, int terms) {
  char text[40];
  for (int k = 0; k + 1 < terms; k++) psdmp_emit_say(e, "fma~(z, ");
  psdm_output_text(e->out, psdmp_emit_literal(e, c[terms - 1], text));
  for (int k = terms - 2; k >= 0; k--) psdm_output_print(e->out, ", %s)", psdmp_emit_literal(e, c[k], text));
}

static void emit_polynomials(psdmp_emit_writer *e) {
  const precision *p = precision_of(e);
  char one[40], half[40];
  psdmp_emit_say(e, "  const ` a = fma~(r*z, ");
  emit_horner(e, p->sine, p->terms);
  psdmp_emit_say(e, ", r);\n  const ` b = fma~(z, fma~(z, ");
  emit_horner(e, p->cosine, p->terms);
  psdmp_emit_say(e, ", %s), %s);\n", psdmp_emit_literal(e, -0.5, half), psdmp_emit_literal(e, 1, one));
}

/* the bits of a number, and back, on either side */
static void emit_bits(psdmp_emit_writer *e) {
  const char *bits = e->single ? "unsigned" : "unsigned long long",
             *to = e->single ? "__float_as_uint(x)" : "(unsigned long long)__double_as_longlong(x)",
             *from = e->single ? "__uint_as_float(u)" : "__longlong_as_double((long long)u)";
  psdmp_emit_say(e,
                 "$INLINE %s @bits(` x) {\n#if defined(__CUDA_ARCH__)\n  return %s;\n#else\n  %s u;\n  memcpy(&u, &x, "
                 "sizeof u);\n  return u;\n#endif\n}\n\n",
                 bits, to, bits);
  psdmp_emit_say(e,
                 "$INLINE ` @number(%s u) {\n#if defined(__CUDA_ARCH__)\n  return %s;\n#else\n  ` x;\n  memcpy(&x, &u, "
                 "sizeof x);\n  return x;\n#endif\n}\n\n",
                 bits, from);
}

static void emit_turn(psdmp_emit_writer *e) {
  const precision *p = precision_of(e);
  char scale[40], rounder[40], part[2][40];
  const char *bits = e->single ? "unsigned" : "unsigned long long";
  int up = e->single ? 30 : 62;
  psdmp_emit_literal(e, 0.63661977236758134308, scale);
  psdmp_emit_literal(e, p->rounder, rounder);
  for (int k = 0; k < 2; k++) psdmp_emit_literal(e, -p->part[k], part[k]);
  psdmp_emit_say(
      e,
      "/* sin x and cos x by x = k pi/2 + r, polynomials in r, and the quadrant: to %s absolutely for |x| up to\n"
      " * %g; no branch, no memory */\n",
      e->single ? "1e-7" : "2e-16", p->range);
  psdmp_emit_say(e, "$INLINE void @turn(` x, ` *s, ` *c) {\n  const ` t = fma~(x, %s, %s), k = t - %s;\n", scale,
                 rounder, rounder);
  psdmp_emit_say(e, "  const ` r = fma~(k, %s, fma~(k, %s, x)), z = r*r;\n", part[1], part[0]);
  emit_polynomials(e);
  psdmp_emit_say(e, "  const %s n = @bits(t), odd = n & 1, sign = (%s)2 << %d;\n", bits, bits, up);
  psdmp_emit_say(e, "  *s = @number(@bits(odd ? b : a) ^ ((n << %d) & sign));\n", up);
  psdmp_emit_say(e, "  *c = @number(@bits(odd ? a : b) ^ (((n + 1) << %d) & sign));\n}\n\n", up);
}

static void emit_angle_helpers(psdmp_emit_writer *e) {
  emit_bits(e);
  emit_turn(e);
  psdmp_emit_say(e, "/* of any angle, by the library */\nstruct @sine_cosine {\n  ` s, c;\n};\n\n$OUTLINE @sine_cosine "
                    "@turn_far(` x) {\n  const @sine_cosine y = {sin~(x), cos~(x)};\n  return y;\n}\n\n");
}

/* ---- the dialect ---- */

static void cuda_store(psdmp_emit_listing *l, const char *result, int index, bool shared, bool close) {
  (void)shared;
  if (close) psdm_output_text(l->e->out, ");\n");
  else psdm_output_print(l->e->out, "  %s.set(%d, ", result, index);
}

static void emit_far_angles(psdmp_emit_listing *l) {
  psdmp_emit_writer *e = l->e;
  char sine[24], cosine[24], square[40];
  double range = precision_of(e)->range;
  psdm_output_text(e->out, "  if (!(");
  for (uint32_t a = 0; a < l->angles; a++) psdm_output_print(e->out, "%sx%u*x%u", a ? " + " : "", a, a);
  psdmp_emit_say(e, " <= %s)) {\n    @sine_cosine y;\n", psdmp_emit_literal(e, range * range, square));
  for (uint32_t a = 0; a < l->angles; a++) {
    psdmp_emit_angle_names(l, a, sine, cosine);
    psdmp_emit_say(e, "    y = @turn_far(x%u), %s = y.s, %s = y.c;\n", a, sine, cosine);
  }
  psdm_output_text(e->out, "  }\n");
}

static void cuda_angles(psdmp_emit_listing *l) {
  psdmp_emit_writer *e = l->e;
  bool polynomial = e->code->options.sincos == PSDM_SINCOS_POLYNOMIAL;
  char sine[24], cosine[24];
  for (uint32_t a = 0; a < l->angles; a++) {
    psdmp_emit_angle_names(l, a, sine, cosine);
    psdmp_emit_say(e, "  ` x%u = ", a);
    psdmp_emit_value(l, 2 * l->angle[a], 0);
    if (polynomial) psdmp_emit_say(e, ";\n  ` %s, %s;\n  @turn(x%u, &%s, &%s);\n", sine, cosine, a, sine, cosine);
    else
      psdmp_emit_say(e, ";\n  ` %s = sin~(x%u), %s = cos~(x%u);\n  (void)%s, (void)%s;\n", sine, a, cosine, a, sine,
                     cosine);
  }
  if (polynomial) emit_far_angles(l);
}

static void cuda_input(psdmp_emit_listing *l, psdmp_codegen_block block, int index) {
  psdmp_emit_dialect_c.input(l, block, index);
}
static void cuda_call(psdmp_emit_listing *l, uint32_t node) { psdmp_emit_dialect_c.call(l, node); }

/* no const: CUDA's front end tries to evaluate constants while it compiles, through all that they are made of, over
 * and over */
static const psdmp_emit_dialect dialect_cuda = {"`", "", false, cuda_input, NULL, cuda_store, cuda_angles, cuda_call};

/* outputs in the order of columns */
static void column_store(psdmp_emit_listing *l, const char *result, int at, bool shared, bool close) {
  int index, which = psdmp_emit_layout_place(l->e, l->p, at, &index);
  (void)result;
  cuda_store(l, l->p->result[which].name, index, shared, close);
}

static const psdmp_emit_dialect dialect_columns = {"`",  "",           false,       cuda_input,
                                                   NULL, column_store, cuda_angles, cuda_call};

/* ---- the functions ---- */

static void emit_inputs(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *format, const char *between) {
  for (int b = 0, some = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b]) {
      if (some++) psdm_output_text(e->out, between);
      psdmp_emit_say(e, format, psdmp_emit_block_names[b]);
    }
}

/* "template <class R0, class R1> void arm_NAME_STEP(arguments, R0 result, R1 result) {" */
static void emit_signature(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *step) {
  for (int r = 0; r < p->results; r++) psdm_output_print(e->out, r ? ", class R%d" : "template <class R%d", r);
  psdmp_emit_say(e, ">\n$INLINE void @%s_%s(", p->name, step);
  emit_inputs(e, p, "const ` *%s", ", ");
  for (int r = 0; r < p->results; r++) psdm_output_print(e->out, ", R%d %s", r, p->result[r].name);
  psdm_output_text(e->out, ") {\n");
}

static psdm_status emit_step(psdmp_emit_writer *e, const psdmp_codegen_program *p, const psdmp_emit_layout *y,
                             const char *step, psdmp_base_arena *arena) {
  psdmp_emit_listing l;
  psdm_status status = psdmp_emit_listing_set(e, &y->program, y->columns ? &dialect_columns : &dialect_cuda, arena, &l);
  if (status) return status;
  emit_signature(e, p, step);
  psdmp_emit_body(&l);
  psdm_output_text(e->out, "}\n\n");
  return PSDM_OK;
}

/* ---- a function in two stages ---- */

static psdm_status emit_stages(psdmp_emit_writer *e, const psdmp_codegen_program *p, const psdmp_emit_stages *s,
                               psdmp_base_arena *arena) {
  int n = e->code->robot->n;
  psdm_status status = emit_step(e, &s->part[0], &s->layout[0], "first", arena);
  if (!status) status = emit_step(e, &s->part[1], &s->layout[1], "second", arena);
  if (status) return status;
  emit_signature(e, p, "state");
  psdmp_emit_say(e, "  ` qdd[%d]; /* and one triangle of M^-1 */\n  @%s_first(", psdmp_codegen_stage_values(n),
                 p->name);
  emit_inputs(e, p, "%s", ", ");
  psdmp_emit_say(e, ", @results{qdd, 1});\n");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int low = i < j ? i : j, high = i < j ? j : i;
      psdm_output_print(e->out, "  %s.set(%d, qdd[%d]);\n", p->result[2].name, i * n + j,
                        n + low * n - low * (low - 1) / 2 + high - low);
    }
  psdmp_emit_say(e, "  @%s_second(", p->name);
  emit_inputs(e, &s->part[1], "%s", ", ");
  for (int r = 0; r < 2; r++) psdm_output_print(e->out, ", %s", p->result[r].name);
  psdm_output_text(e->out, ");\n}\n\n");
  return PSDM_OK;
}

/* a line above the function; what two stages both need counts twice */
static psdm_status emit_counts(psdmp_emit_writer *e, const psdmp_emit_stages *s) {
  char text[160];
  psdm_cost all = {0};
  for (int k = 0; k < s->count; k++) {
    psdm_cost one;
    psdm_status status = psdm_graph_cost(s->part[k].graph, s->part[k].output, s->part[k].outputs, &one);
    if (status) return status;
    all.mult += one.mult, all.add += one.add, all.div += one.div, all.sincos += one.sincos;
  }
  psdm_output_print(e->out, "/* %s. %ld multiplications, %ld additions, %ld divisions, %ld sin+cos%s */\n",
                    psdmp_emit_summary(s->function, text), all.mult, all.add, all.div, all.sincos,
                    s->count == 2 ? ", in two stages" : "");
  return PSDM_OK;
}

static psdm_status emit_state(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena) {
  psdmp_emit_stages s;
  psdm_status status = psdmp_emit_stages_set(e, p, arena, &s);
  if (!status) status = emit_counts(e, &s);
  if (status) return status;
  return s.count == 2 ? emit_stages(e, p, &s, arena) : emit_step(e, p, &s.layout[0], "state", arena);
}

/* pointers in, pointers out */
static void emit_plain(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdmp_emit_say(e, "$INLINE void @%s_device(", p->name);
  emit_inputs(e, p, "const ` *%s", ", ");
  for (int r = 0; r < p->results; r++) psdmp_emit_say(e, ", ` *%s", p->result[r].name);
  psdmp_emit_say(e, ") {\n  @%s_state(", p->name);
  emit_inputs(e, p, "%s", ", ");
  for (int r = 0; r < p->results; r++) psdmp_emit_say(e, ", @results{%s, 1}", p->result[r].name);
  psdm_output_text(e->out, ");\n}\n\n");
}

static void emit_head(psdmp_emit_writer *e) {
  psdmp_emit_banner(e,
                    "Dynamics of a robot as straight-line code for kernels of one's own; C++14, with CUDA or without.");
  psdmp_emit_say(e, "/* @NAME_device(arguments, results): as @NAME in the header, one state. @NAME_state(arguments, "
                    "results) writes number k of a result\n"
                    " * by result.set(k, x), wherever that puts it. */\n");
  psdmp_emit_say(e,
                 "#ifndef $CUH\n#define $CUH\n\n#include <math.h>\n#include <stddef.h>\n#include "
                 "<string.h>\n\n#include \"%s.h\"\n\n",
                 e->prefix);
  psdmp_emit_say(
      e, "#if defined(__CUDACC__)\n#define $INLINE __host__ __device__ __forceinline__\n#define $OUTLINE static "
         "__host__ __device__ __noinline__\n#else\n#define $INLINE inline\n#define $OUTLINE static inline\n#endif\n\n");
  psdmp_emit_say(e, "/* a result: number k is at[k*stride] */\nstruct @results {\n  ` *at;\n  size_t stride;\n  "
                    "$INLINE void set(int k, ` x) const { at[(size_t)k*stride] = x; }\n};\n\n");
}

psdm_status psdmp_emit_cuda_device(psdmp_emit_writer *e, psdmp_base_arena *arena) {
  const psdm_code *code = e->code;
  psdmp_emit_needs needs = {0};
  for (int k = 0; k < code->programs; k++) {
    psdmp_emit_listing l;
    psdm_status status = psdmp_emit_listing_set(e, &code->program[k], &dialect_cuda, arena, &l);
    if (status) return status;
    psdmp_emit_listing_needs(&l, &needs);
  }
  emit_head(e);
  psdmp_emit_functions(e, &needs, "$INLINE", "$OUTLINE");
  if (needs.angles && code->options.sincos == PSDM_SINCOS_POLYNOMIAL) emit_angle_helpers(e);
  for (int k = 0; k < code->programs; k++) {
    psdm_status status = emit_state(e, &code->program[k], arena);
    if (status) return status;
    emit_plain(e, &code->program[k]);
  }
  psdm_output_text(e->out, "#endif\n");
  return PSDM_OK;
}
