/* functions.c: operations that C has no operator for, as small functions of generated files: signs, bounds, powers,
 * bristles; and exponentials of many states at a time.
 *
 *   e^x - 1 = 2^k p + (2^k - 1), p = e^r - 1, x = k ln 2 + r, |r| <= ln 2 / 2: k by adding and subtracting a number so
 *   large that no fraction fits beside it, r by taking away k times ln 2 in two parts, p by its Taylor polynomial,
 *   whose next term is below half a unit in the last place. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "emit/emit.h"

extern const char psdmp_emit_bristles[]; /* src/rigid/bristles_priv.h */

const char *psdmp_emit_call_name(psdm_op op) {
  switch (op) {
    case PSDM_OP_SQRT: return "sqrt";
    case PSDM_OP_SIGN: return "sign";
    case PSDM_OP_SIN: return "sin";
    case PSDM_OP_COS: return "cos";
    case PSDM_OP_EXP: return "exp";
    case PSDM_OP_TANH: return "tanh";
    case PSDM_OP_CLIP: return "clip";
    case PSDM_OP_POW: return "pow";
    case PSDM_OP_BRISTLES: return "bristle_step";
    default: return NULL;
  }
}

bool psdmp_emit_call_own(psdm_op op) {
  return op == PSDM_OP_SIGN || op == PSDM_OP_CLIP || op == PSDM_OP_POW || op == PSDM_OP_BRISTLES;
}

/* ---- bristles: the library's own text, with other names ---- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_libm(const char *word, size_t length) {
  static const char *const known[] = {"exp", "expm1", "log1p", "fabs", "fmin", "fmax", "copysign"};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strlen(known[k]) == length && strncmp(known[k], word, length) == 0) return true;
  return false;
}

/* the word at c, as the generated file has it; what comes behind it. function: words before one */
static const char *emit_word(psdmp_emit_writer *e, const char *c, const char *function) {
  size_t length = 0;
  char literal[40];
  while (is_word(c[length])) length++;
#define IS(text) (length == sizeof text - 1 && strncmp(c, text, length) == 0)
  if (IS("BRISTLE_NUMBER")) {
    const char *number = c + length + 1, *end = strchr(number, ')');
    double value = NAN;
    psdmp_base_parse_number(number, (size_t)(end - number), &value);
    psdm_output_text(e->out, psdmp_emit_literal(e, value, literal));
    return end + 1;
  }
  if (IS("real")) psdmp_emit_say(e, "`");
  else if (IS("BRISTLE_FUNCTION")) psdmp_emit_say(e, "%s", function);
  else if (IS("BRISTLE_LEVEL")) psdm_output_text(e->out, psdmp_emit_literal(e, e->single ? 1e-6 : 1e-14, literal));
  else if (IS("BRISTLE_SHORT")) psdm_output_text(e->out, psdmp_emit_literal(e, e->single ? 1e-6 : 1e-15, literal));
  else
    psdmp_emit_say(e, "%s%.*s%s", strncmp(c, "bristle_", 8) == 0 ? "@" : "", (int)length, c,
                   c[length] == '(' && is_libm(c, length) ? "~" : "");
#undef IS
  return c + length;
}

static void emit_bristles(psdmp_emit_writer *e, const char *function) {
  static const char begin[] = "/* generated code begins here */\n\n", end[] = "/* generated code ends here */";
  const char *c = strstr(psdmp_emit_bristles, begin) + sizeof begin - 1, *stop = strstr(c, end);
  psdm_output_text(
      e->out, "/* LuGre friction: where bristles stand after dt, while the velocity goes in a straight line from v0 "
              "to v1 (docs/codegen.md of\n * libpsdm has the equations). A loop of a few dozen steps at most. */\n");
  while (c < stop) {
    if (c[0] == '/' && c[1] == '*') {
      const char *after = strstr(c, "*/") + 2;
      psdm_output_print(e->out, "%.*s", (int)(after - c), c);
      c = after;
    } else if (is_word(*c)) {
      c = emit_word(e, c, function);
    } else {
      psdm_output_print(e->out, "%c", *c++);
    }
  }
}

void psdmp_emit_functions(psdmp_emit_writer *e, const psdmp_emit_needs *needs, const char *inlined,
                          const char *outlined) {
#define NEEDS(op) (needs->calls >> PSDM_OP_##op & 1u)
  if (NEEDS(SIGN)) psdmp_emit_say(e, "%s ` @sign(` x) { return (`)((x > 0) - (x < 0)); }\n\n", inlined);
  if (NEEDS(CLIP)) psdmp_emit_say(e, "%s ` @clip(` x) { return fmax~(-1, fmin~(1, x)); }\n\n", inlined);
  if (NEEDS(POW))
    psdmp_emit_say(e,
                   "/* |x|^b; 0 where x is 0 and b is negative */\n%s ` @pow(` x, ` b) { return x != 0 || b >= 0 ? "
                   "pow~(fabs~(x), b) : 0; }\n\n",
                   inlined);
  if (NEEDS(BRISTLES)) emit_bristles(e, outlined);
#undef NEEDS
}

/* ---- exponentials of all lanes ---- */

/* one precision's numbers */
typedef struct precision {
  double low, high; /* of arguments; beyond, as at them */
  double part[2];   /* of ln 2, the first one short enough for exact products */
  double rounder;   /* 1.5 times 2^(bits of the fraction) */
  int terms;        /* of e^r - 1 - r */
  int bits, bias;   /* of the fraction; of the exponent */
  double one;       /* from here on tanh is 1 */
} precision;

static const precision in_double = {-708, 709, {0x1.62e42feep-1, 0x1.a39ef35793c76p-33}, 0x1.8p52, 12, 52, 1023, 20};
static const precision in_single = {-87, 88, {0x1.63p-1, -0x1.bd0106p-13}, 0x1.8p23, 6, 23, 127, 10};

static const precision *precision_of(const psdmp_emit_writer *e) { return e->single ? &in_single : &in_double; }

/* value in the lanes where mask has its bits set */
static void emit_put(psdmp_emit_writer *e) {
  psdmp_emit_say(
      e, "static inline void @lane_put(@lanes *x, const @lane_bits *mask, ` value) {\n  const @lanes zero = {0};\n  "
         "const @lane_bits old = (@lane_bits)*x, all = (@lane_bits)(zero + value);\n  *x = (@lanes)(old ^ "
         "((old ^ all) & *mask));\n}\n\n");
}

static void emit_powers(psdmp_emit_writer *e) {
  const precision *p = precision_of(e);
  double c[12], factorial = 1;
  char text[4][40];
  for (int k = 0; k < p->terms; k++) c[k] = 1 / (factorial *= k + 2);
  psdmp_emit_say(e, "/* e^x = power + power*part */\nstatic inline void @lane_powers(const @lanes *x, @lanes *part, "
                    "@lanes *power) {\n");
  psdmp_emit_say(e, "  const @lanes t = *x*%s + %s, k = t - %s;\n",
                 psdmp_emit_literal(e, 1.4426950408889634074, text[0]), psdmp_emit_literal(e, p->rounder, text[1]),
                 psdmp_emit_literal(e, p->rounder, text[2]));
  psdmp_emit_say(e, "  const @lanes z = (*x - k*%s) - k*%s, w = z*z;\n  *part = z + w*(",
                 psdmp_emit_literal(e, p->part[0], text[0]), psdmp_emit_literal(e, p->part[1], text[1]));
  psdmp_emit_polynomial(e, c, p->terms);
  psdmp_emit_say(e, ");\n  *power = (@lanes)(((@lane_bits)t + %d) << %d);\n}\n\n", p->bias, p->bits);
}

static void emit_exp(psdmp_emit_writer *e) {
  const precision *p = precision_of(e);
  char low[40], high[40];
  psdmp_emit_literal(e, p->low, low);
  psdmp_emit_literal(e, p->high, high);
  psdmp_emit_say(e,
                 "static inline void @lane_exp(@lanes *x) {\n  @lanes part, power;\n  const @lane_bits low = "
                 "(@lane_bits)(*x < %s), high = (@lane_bits)(*x > %s);\n",
                 low, high);
  psdmp_emit_say(e,
                 "  @lane_put(x, &low, %s);\n  @lane_put(x, &high, %s);\n  @lane_powers(x, &part, &power);\n  *x = "
                 "power + power*part;\n}\n\n",
                 low, high);
}

/* (e^2x - 1) / (e^2x + 1) of |x|, then its sign */
static void emit_tanh(psdmp_emit_writer *e) {
  char most[40], one[40], two[40];
  psdmp_emit_literal(e, precision_of(e)->one, most);
  psdmp_emit_literal(e, 1, one);
  psdmp_emit_literal(e, 2, two);
  psdmp_emit_say(e,
                 "static inline void @lane_tanh(@lanes *x) {\n  const @lane_bits none = {0}, sign = (@lane_bits)*x & "
                 "((none + 1) << %d);\n",
                 e->single ? 31 : 63);
  psdmp_emit_say(e,
                 "  @lanes y = (@lanes)((@lane_bits)*x ^ sign), part, power;\n  const @lane_bits far = (@lane_bits)(y "
                 "> %s);\n  @lane_put(&y, &far, %s);\n  y += y;\n",
                 most, most);
  psdmp_emit_say(e,
                 "  @lane_powers(&y, &part, &power);\n  y = power*part + (power - %s);\n  *x = "
                 "(@lanes)((@lane_bits)(y/(y + %s)) | sign);\n}\n\n",
                 one, two);
}

void psdmp_emit_lane_exponentials(psdmp_emit_writer *e, const psdmp_emit_needs *needs) {
  bool exponential = needs->lane_calls >> PSDM_OP_EXP & 1u, tangent = needs->lane_calls >> PSDM_OP_TANH & 1u;
  if (!exponential && !tangent) return;
  emit_put(e);
  emit_powers(e);
  if (exponential) emit_exp(e);
  if (tangent) emit_tanh(e);
}
