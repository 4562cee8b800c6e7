/* lanes.c: the dialect of many states at a time: a value is a vector with one state in each lane, in the compiler's
 * own vector extensions. The last block of a batch overlaps the one before it; fewer states than lanes go through
 * the scalar function. */

#include "emit/emit.h"

/* ---- helpers in the file ---- */

static void emit_types(psdmp_emit_writer *e) {
  int wide = e->single ? 16 : 8;
  psdmp_emit_say(
      e, "/* Many states at a time: one in each lane. $LANES may be given when compiling; 1 means no vectors. */\n");
  psdmp_emit_say(e,
                 "#if !defined($LANES)\n#if !$VECTORS\n#define $LANES 1\n#elif defined(__AVX512F__)\n#define $LANES "
                 "%d\n#else\n#define $LANES %d\n#endif\n#endif\n\n",
                 wide, wide / 2);
  psdmp_emit_say(e, "#if $LANES > 1\n");
  psdmp_emit_say(e, "typedef ` @lanes __attribute__((vector_size($LANES*sizeof(`))));\n");
  psdmp_emit_say(e, "typedef unsigned %s @lane_bits __attribute__((vector_size($LANES*sizeof(`))));\n",
                 e->single ? "int" : "long long");
  psdmp_emit_say(e,
                 "typedef ` @loose __attribute__((vector_size($LANES*sizeof(`)), aligned(sizeof(`)), may_alias));\n\n");
}

/* the angles of one joint in all lanes */
static void emit_lane_sincos(psdmp_emit_writer *e, psdm_code_sincos how) {
  char range[40], square[40];
  double far = psdmp_emit_sincos_range(e);
  psdmp_emit_literal(e, far, range);
  psdmp_emit_literal(e, far * far, square);
  if (how != PSDM_SINCOS_POLYNOMIAL) {
    psdmp_emit_say(e, "static inline void @lane_turn(const @lanes *x, @lanes *s, @lanes *c) {\n");
    psdmp_emit_say(e, "  for (int i = 0; i < $LANES; i++) (*s)[i] = sin~((*x)[i]), (*c)[i] = cos~((*x)[i]);\n}\n\n");
    return;
  }
  psdmp_emit_turn(e, "@lanes", "@lane_bits", "@lane_turn");
  psdmp_emit_say(e, "/* whether some lane may be out of range: squares is a sum of squares of angles */\n");
  psdmp_emit_say(e, "static inline int @lane_far(const @lanes *squares) {\n  ` sum = 0;\n  for (int i = 0; i < $LANES; "
                    "i++) sum += (*squares)[i];\n");
  psdmp_emit_say(e, "  return !(sum <= %s);\n}\n\n", square);
  psdmp_emit_say(e, "static __attribute__((noinline, cold)) void @lane_fix(const @lanes *x, @lanes *s, @lanes *c) {\n  "
                    "for (int i = 0; i < $LANES; i++)\n");
  psdmp_emit_say(e, "    if (!(fabs~((*x)[i]) <= %s)) (*s)[i] = sin~((*x)[i]), (*c)[i] = cos~((*x)[i]);\n}\n\n", range);
}

/* lane by lane; more: further operands, and what they are called with */
static void emit_in_place(psdmp_emit_writer *e, psdm_op op, const char *more, const char *passed) {
  bool own = psdmp_emit_call_own(op);
  const char *name = psdmp_emit_call_name(op);
  psdmp_emit_say(e,
                 "static inline void @lane_%s(@lanes *x%s) {\n  for (int i = 0; i < $LANES; i++) (*x)[i] = "
                 "%s%s%s((*x)[i]%s);\n}\n\n",
                 name, more, own ? "@" : "", name, own ? "" : "~", passed);
}

void psdmp_emit_lanes_helpers(psdmp_emit_writer *e, const psdmp_emit_needs *needs) {
  static const psdm_op alone[] = {PSDM_OP_SQRT, PSDM_OP_SIGN, PSDM_OP_SIN, PSDM_OP_COS, PSDM_OP_CLIP};
  emit_types(e);
  if (needs->angles) emit_lane_sincos(e, e->code->options.sincos);
  for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
    if (needs->lane_calls >> alone[k] & 1u) emit_in_place(e, alone[k], "", "");
  if (needs->lane_calls >> PSDM_OP_POW & 1u) emit_in_place(e, PSDM_OP_POW, ", ` b", ", b");
  psdmp_emit_lane_exponentials(e, needs);
  psdmp_emit_say(e, "#endif\n\n");
}

/* ---- the dialect ---- */

static void lanes_input(psdmp_emit_listing *l, psdmp_codegen_block block, int index) {
  psdm_output_print(l->e->out, psdmp_emit_block_shared(block) ? "%s[%d]" : "%s_%d", psdmp_emit_block_names[block],
                    index);
}

static void lanes_load(psdmp_emit_listing *l, psdmp_codegen_block block, int index) {
  const char *name = psdmp_emit_block_names[block];
  psdmp_emit_say(l->e, "  const @lanes %s_%d = *(const @loose *)(%s + %d*stride);\n", name, index, name, index);
}

static void lanes_store(psdmp_emit_listing *l, const char *result, int index, bool shared, bool close) {
  if (close) psdm_output_text(l->e->out, ";\n");
  else psdmp_emit_say(l->e, "  *(@loose *)(%s + %d*stride) = %s", result, index, shared ? "zero + " : "");
}

static void lanes_angle(psdmp_emit_listing *l, uint32_t a) {
  char sine[24], cosine[24];
  psdmp_emit_angle_names(l, a, sine, cosine);
  psdmp_emit_say(l->e, "  const @lanes x%u = %s", a, l->shared[l->angle[a]] ? "zero + " : "");
  psdmp_emit_value(l, 2 * l->angle[a], l->shared[l->angle[a]]);
  psdmp_emit_say(l->e, ";\n  @lanes %s, %s;\n  @lane_turn(&x%u, &%s, &%s);\n", sine, cosine, a, sine, cosine);
}

static void lanes_angles(psdmp_emit_listing *l) {
  for (uint32_t a = 0; a < l->angles; a++) lanes_angle(l, a);
  if (l->e->code->options.sincos != PSDM_SINCOS_POLYNOMIAL) return;
  psdmp_emit_say(l->e, "  const @lanes squares = ");
  for (uint32_t a = 0; a < l->angles; a++) psdm_output_print(l->e->out, "%sx%u*x%u", a ? " + " : "", a, a);
  psdmp_emit_say(l->e, ";\n  if (@lane_far(&squares)) {\n");
  for (uint32_t a = 0; a < l->angles; a++) {
    char sine[24], cosine[24];
    psdmp_emit_angle_names(l, a, sine, cosine);
    psdmp_emit_say(l->e,
                   "    @lanes fixed_%s = %s, fixed_%s = %s;\n    @lane_fix(&x%u, &fixed_%s, &fixed_%s);\n    %s = "
                   "fixed_%s;\n    %s = fixed_%s;\n",
                   sine, sine, cosine, cosine, a, sine, cosine, sine, sine, cosine, cosine);
  }
  psdm_output_text(l->e->out, "  }\n");
}

static void lanes_call(psdmp_emit_listing *l, uint32_t k) {
  psdm_op op = l->node[k].op;
  if (l->shared[k]) { /* one number for all lanes */
    psdmp_emit_dialect_c.call(l, k);
  } else if (op == PSDM_OP_BRISTLES) {
    psdmp_emit_say(l->e, "  @lanes t%u;\n  for (int i = 0; i < $LANES; i++) t%u[i] = @bristle_step(", l->name[k],
                   l->name[k]);
    psdmp_emit_operands(l, k, "[i]");
    psdm_output_text(l->e->out, ");\n");
  } else {
    psdmp_emit_say(l->e, "  @lanes t%u = ", l->name[k]);
    psdmp_emit_value(l, l->node[k].a, 0);
    psdmp_emit_say(l->e, ";\n  @lane_%s(&t%u", psdmp_emit_call_name(op), l->name[k]);
    if (op == PSDM_OP_POW) psdm_output_text(l->e->out, ", "), psdmp_emit_value(l, l->node[k].b, 0);
    psdm_output_text(l->e->out, ");\n");
  }
}

const psdmp_emit_dialect psdmp_emit_dialect_lanes = {"@lanes",   "const ",    true,         lanes_input,
                                                     lanes_load, lanes_store, lanes_angles, lanes_call};

/* ---- batches ---- */

/* the arguments by name, at state i where they have states */
static void emit_passed(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *before, const char *after) {
  const char *between = "";
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    bool shared = psdmp_emit_block_shared((psdmp_codegen_block)b);
    psdm_output_print(e->out, "%s%s%s%s", between, shared ? "" : before, psdmp_emit_block_names[b],
                      shared ? "" : after);
    between = ", ";
  }
  for (int r = 0; r < p->results; r++) psdm_output_print(e->out, ", %s%s%s", before, p->result[r].name, after);
}

static psdm_status emit_block(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena) {
  psdmp_emit_listing l;
  psdm_status status = psdmp_emit_listing_set(e, p, &psdmp_emit_dialect_lanes, arena, &l);
  if (status) return status;
  psdmp_emit_say(e, "#if $LANES > 1\nstatic void @%s_block(size_t stride, ", p->name);
  psdmp_emit_arguments(e, p);
  psdmp_emit_say(e, ") {\n  const @lanes zero = {0};\n  (void)zero;\n");
  psdmp_emit_body(&l);
  psdm_output_text(e->out, "}\n#endif\n\n");
  return PSDM_OK;
}

/* one state at a time: gather, call, scatter */
static void emit_single_states(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  psdm_output_text(e->out, "  for (; i < count; i++) {\n");
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && !psdmp_emit_block_shared((psdmp_codegen_block)b))
      psdmp_emit_say(e, "    ` one_%s[%d];\n", psdmp_emit_block_names[b], p->length[b]);
  for (int r = 0; r < p->results; r++) psdmp_emit_say(e, "    ` one_%s[%d];\n", p->result[r].name, p->result[r].count);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b] || psdmp_emit_block_shared((psdmp_codegen_block)b)) continue;
    const char *name = psdmp_emit_block_names[b];
    psdm_output_print(e->out, "    for (size_t k = 0; k < %d; k++) one_%s[k] = %s[k*count + i];\n", p->length[b], name,
                      name);
  }
  psdmp_emit_say(e, "    @%s(", p->name);
  emit_passed(e, p, "one_", "");
  psdm_output_text(e->out, ");\n");
  for (int r = 0; r < p->results; r++)
    psdm_output_print(e->out, "    for (size_t k = 0; k < %d; k++) %s[k*count + i] = one_%s[k];\n", p->result[r].count,
                      p->result[r].name, p->result[r].name);
  psdm_output_text(e->out, "  }\n");
}

psdm_status psdmp_emit_batch(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena) {
  psdm_status status = emit_block(e, p, arena);
  if (status) return status;
  psdmp_emit_say(e, "void @%s_batch(size_t count, ", p->name);
  psdmp_emit_arguments(e, p);
  psdmp_emit_say(e, ") {\n  size_t i = 0;\n#if $LANES > 1\n  for (; count >= $LANES && i < count; i += $LANES) {\n");
  psdmp_emit_say(e,
                 "    if (count - i < $LANES) i = count - $LANES; /* the last block overlaps the one before */\n    "
                 "@%s_block(count, ",
                 p->name);
  emit_passed(e, p, "", " + i");
  psdmp_emit_say(e, ");\n  }\n#endif\n");
  emit_single_states(e, p);
  psdm_output_text(e->out, "}\n\n");
  return PSDM_OK;
}
