/* sincos.c: scalar C, and sines and cosines as text: of all angles of a state at a time on vectors where the compiler
 * has them.
 *
 *   x = k pi/2 + r, |r| <= pi/4: k by adding and subtracting a number so large that no fraction fits beside it, r by
 *   taking away k times pi/2 in three parts, the first two short enough for exact products (Cody, Waite 1980);
 *   minimax polynomials for sin r and cos r; then the quadrant by masks. */
#include <stdio.h>

#include "emit/emit.h"

/* one precision's numbers */
typedef struct precision {
  double range;              /* |x| beyond it goes to libm */
  double part[3];            /* of pi/2 */
  double rounder;            /* 1.5 times 2^(bits of the fraction) */
  int terms;                 /* of each polynomial */
  double sine[6], cosine[6]; /* sin r = r + r z (sine), cos r = 1 - (z/2 - z^2 (cosine)), z = r^2 */
  const char *accuracy;
} precision;

/* fdlibm's polynomials (Sun Microsystems, 1993); pi/2 by 33, 33 and 53 bits, so that k may have 20 */
static const precision in_double = {
    1e6,
    {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69},
    0x1.8p52,
    6,
    {-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
     -2.50507602534068634195e-08, 1.58969099521155010221e-10},
    {4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
     2.08757232129817482790e-09, -1.13596475577881948265e-11},
    "2.5 units in the last place"};

/* Cephes' polynomials (Moshier, 1992); pi/2 by 11, 11 and 24 bits, so that k may have 13 */
static const precision in_single = {8000,
                                    {0x1.92p+0, 0x1.fb4p-12, 0x1.4442d2p-24},
                                    0x1.8p23,
                                    3,
                                    {-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4},
                                    {4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5},
                                    "1e-7 (absolute)"};

static const precision *precision_of(const psdmp_emit_writer *e) { return e->single ? &in_single : &in_double; }

double psdmp_emit_sincos_range(const psdmp_emit_writer *e) { return precision_of(e)->range; }

void psdmp_emit_polynomial(psdmp_emit_writer *e, const double *c, int terms) {
  char a[40], b[40];
  for (int k = 0; k < terms; k += 2) {
    if (k) psdm_output_text(e->out, k + 2 < terms ? " + w*(" : " + w*");
    if (k + 1 < terms)
      psdm_output_print(e->out, "(%s + z*%s)", psdmp_emit_literal(e, c[k], a), psdmp_emit_literal(e, c[k + 1], b));
    else psdm_output_text(e->out, psdmp_emit_literal(e, c[k], a));
  }
  for (int k = 2; k + 2 < terms; k += 2) psdm_output_text(e->out, ")");
}

/* r, z, w, then sin r as a, cos r as b */
static void emit_reduced(psdmp_emit_writer *e, const char *type, const char *x, const char *k) {
  const precision *p = precision_of(e);
  char part[3][40], one[40], half[40];
  for (int i = 0; i < 3; i++) psdmp_emit_literal(e, p->part[i], part[i]);
  psdmp_emit_say(e, "  const %s r = ((%s - %s*%s) - %s*%s) - %s*%s, z = r*r, w = z*z;\n", type, x, k, part[0], k,
                 part[1], k, part[2]);
  psdmp_emit_say(e, "  const %s a = r + r*z*(", type);
  psdmp_emit_polynomial(e, p->sine, p->terms);
  psdmp_emit_say(e, ");\n  const %s b = %s - (%s*z - w*(", type, psdmp_emit_literal(e, 1, one),
                 psdmp_emit_literal(e, 0.5, half));
  psdmp_emit_polynomial(e, p->cosine, p->terms);
  psdm_output_text(e->out, "));\n");
}

void psdmp_emit_turn(psdmp_emit_writer *e, const char *value, const char *bits, const char *name) {
  char rounder[40], scale[40];
  int sign = e->single ? 30 : 62;
  psdmp_emit_literal(e, precision_of(e)->rounder, rounder);
  psdmp_emit_literal(e, 0.63661977236758134308, scale);
  psdmp_emit_say(e, "static inline void %s(const %s *x, %s *s, %s *c) {\n", name, value, value, value);
  psdmp_emit_say(e, "  const %s t = *x*%s + %s, k = t - %s;\n", value, scale, rounder, rounder);
  emit_reduced(e, value, "*x", "k");
  psdmp_emit_say(e, "  const %s n = (%s)t, swap = ((%s)a ^ (%s)b) & -(n & 1);\n", bits, bits, bits, bits);
  psdmp_emit_say(e, "  *s = (%s)(((%s)a ^ swap) ^ ((n & 2) << %d));\n", value, bits, sign);
  psdmp_emit_say(e, "  *c = (%s)(((%s)b ^ swap) ^ (((n + 1) & 2) << %d));\n}\n\n", value, bits, sign);
}

/* one angle, without vectors; k is rounded by conversion, which needs no particular rounding of intermediate values */
static void emit_one(psdmp_emit_writer *e) {
  char range[40], scale[40], half[40];
  psdmp_emit_literal(e, precision_of(e)->range, range);
  psdmp_emit_literal(e, 0.63661977236758134308, scale);
  psdmp_emit_literal(e, 0.5, half);
  psdmp_emit_say(e, "static inline void @sincos(` x, ` *s, ` *c) {\n#if defined(__FAST_MATH__) /* would reorder the "
                    "reduction */\n  *s = sin~(x);\n  *c = cos~(x);\n#else\n");
  psdmp_emit_say(e, "  if (!(fabs~(x) <= %s)) {\n    *s = sin~(x);\n    *c = cos~(x);\n    return;\n  }\n", range);
  psdmp_emit_say(e, "  const long n = (long)(x*%s + (x < 0 ? -%s : %s));\n  const ` k = (`)n;\n", scale, half, half);
  emit_reduced(e, "`", "x", "k");
  psdmp_emit_say(e, "  *s = n & 1 ? b : a;\n  *c = n & 1 ? a : b;\n  if (n & 2) *s = -*s;\n  if ((n + 1) & 2) *c = "
                    "-*c;\n#endif\n}\n\n");
}

/* all lanes of a group, with libm for those that are far out or no numbers */
static void emit_group(psdmp_emit_writer *e, int width) {
  char range[40], square[40], name[64], value[64], bits[64];
  double far = precision_of(e)->range;
  psdmp_emit_literal(e, far, range);
  psdmp_emit_literal(e, far * far, square);
  snprintf(name, sizeof name, "@turn%d", width);
  snprintf(value, sizeof value, "@v%d", width);
  snprintf(bits, sizeof bits, "@u%d", width);
  psdmp_emit_say(e, "#if $VECTORS\ntypedef ` %s __attribute__((vector_size(%d*sizeof(`))));\n", value, width);
  psdmp_emit_say(e, "typedef unsigned %s %s __attribute__((vector_size(%d*sizeof(`))));\n\n",
                 e->single ? "int" : "long long", bits, width);
  psdmp_emit_turn(e, value, bits, name);
  psdmp_emit_say(e, "static __attribute__((noinline, cold)) void @far%d(int count, const %s *x, %s *s, %s *c) {\n",
                 width, value, value, value);
  psdmp_emit_say(e,
                 "  for (int i = 0; i < count; i++)\n    if (!(fabs~((*x)[i]) <= %s)) (*s)[i] = sin~((*x)[i]), (*c)[i] "
                 "= cos~((*x)[i]);\n}\n\n",
                 range);
  psdmp_emit_say(e, "static inline void @sincos%d(int count, %s *x, %s *s, %s *c) {\n  %s(x, s, c);\n", width, value,
                 value, value, name);
  psdmp_emit_say(e, "  const ` far = ");
  for (int i = 0; i < width; i++) psdmp_emit_say(e, "%s(*x)[%d]*(*x)[%d]", i ? " + " : "", i, i);
  /* on copies: what has its address taken would not stay in a register */
  psdmp_emit_say(e, ";\n  if (!(far <= %s)) {\n    %s y = *x, sy = *s, cy = *c;\n    @far%d(count, &y, &sy, &cy);\n",
                 square, value, width);
  psdmp_emit_say(e, "    *s = sy;\n    *c = cy;\n  }\n}\n");
  psdmp_emit_say(e, "#else\ntypedef ` %s[%d];\n\nstatic inline void @sincos%d(int count, %s *x, %s *s, %s *c) {\n",
                 value, width, width, value, value, value);
  psdmp_emit_say(e, "  for (int i = 0; i < count; i++) @sincos((*x)[i], &(*s)[i], &(*c)[i]);\n}\n#endif\n\n");
}

void psdmp_emit_sincos(psdmp_emit_writer *e, const psdmp_emit_needs *needs) {
  const precision *p = precision_of(e);
  char range[40];
  psdmp_emit_functions(e, needs, "static inline", "static");
  if (!needs->angles || e->code->options.sincos != PSDM_SINCOS_POLYNOMIAL) return;
  psdmp_emit_say(e, "/* Sines and cosines: within %s for |x| <= %s; libm's beyond, and for infinities and\n",
                 p->accuracy, psdmp_emit_literal(e, p->range, range));
  psdmp_emit_say(e, " * nan. x = k pi/2 + r with pi/2 in three parts, minimax polynomials in r, then the quadrant; all "
                    "angles of a state at\n"
                    " * a time where the compiler has vectors. */\n");
  psdmp_emit_say(e, "#if !$VECTORS\n");
  emit_one(e);
  psdmp_emit_say(e, "#endif\n\n");
  for (int width = 2; width <= 16; width *= 2)
    if (needs->widths >> width & 1u) emit_group(e, width);
}

/* ---- scalar C ---- */

static void c_input(psdmp_emit_listing *l, psdmp_codegen_block block, int index) {
  psdm_output_print(l->e->out, "%s[%d]", psdmp_emit_block_names[block], index);
}

static void c_store(psdmp_emit_listing *l, const char *result, int index, bool shared, bool close) {
  (void)shared;
  if (close) psdm_output_text(l->e->out, ";\n");
  else psdm_output_print(l->e->out, "  %s[%d] = ", result, index);
}

static void c_angles_libm(psdmp_emit_listing *l) {
  char name[2][24];
  for (uint32_t a = 0; a < l->angles; a++) {
    bool live[2];
    psdmp_emit_angle_names(l, a, name[0], name[1]);
    psdmp_emit_angle_live(l, a, &live[0], &live[1]);
    for (int i = 0; i < 2; i++) {
      if (!live[i]) continue;
      psdmp_emit_say(l->e, "  const ` %s = %s~(", name[i], i ? "cos" : "sin");
      psdmp_emit_value(l, 2 * l->angle[a], 0);
      psdm_output_text(l->e->out, ");\n");
    }
  }
}

/* names of the lanes that are used, one statement each for sines and cosines */
static void c_take_lanes(psdmp_emit_listing *l, uint32_t first, uint32_t count, unsigned group, bool cosine) {
  char name[2][24];
  int taken = 0;
  for (uint32_t a = first; a < first + count; a++) {
    bool live[2];
    psdmp_emit_angle_names(l, a, name[0], name[1]);
    psdmp_emit_angle_live(l, a, &live[0], &live[1]);
    if (!live[cosine]) continue;
    psdmp_emit_say(l->e, "%s%s = %s%u[%u]", taken++ ? ", " : "  const ` ", name[cosine], cosine ? "cosines" : "sines",
                   group, a - first);
  }
  if (taken) psdm_output_text(l->e->out, ";\n");
}

static void c_angles(psdmp_emit_listing *l) {
  if (l->e->code->options.sincos != PSDM_SINCOS_POLYNOMIAL) {
    c_angles_libm(l);
    return;
  }
  uint32_t most = l->e->single ? 16 : 8;
  for (uint32_t first = 0, group = 0; first < l->angles; first += most, group++) {
    uint32_t count = l->angles - first < most ? l->angles - first : most;
    int width = psdmp_emit_group_width(l->e, count);
    psdmp_emit_say(l->e, "  @v%d angles%u = {", width, group);
    for (uint32_t a = first; a < first + count; a++) {
      if (a > first) psdm_output_text(l->e->out, ", ");
      psdmp_emit_value(l, 2 * l->angle[a], 0);
    }
    psdmp_emit_say(l->e, "}, sines%u, cosines%u;\n  @sincos%d(%u, &angles%u, &sines%u, &cosines%u);\n", group, group,
                   width, count, group, group, group);
    c_take_lanes(l, first, count, group, false);
    c_take_lanes(l, first, count, group, true);
  }
}

static void c_call(psdmp_emit_listing *l, uint32_t k) {
  psdm_op op = l->node[k].op;
  bool own = psdmp_emit_call_own(op);
  psdmp_emit_say(l->e, "  %s` t%u = %s%s%s(", l->dialect->constant, l->name[k], own ? "@" : "",
                 psdmp_emit_call_name(op), own ? "" : "~");
  psdmp_emit_operands(l, k, "");
  psdm_output_text(l->e->out, ");\n");
}

const psdmp_emit_dialect psdmp_emit_dialect_c = {"`", "const ", false, c_input, NULL, c_store, c_angles, c_call};
