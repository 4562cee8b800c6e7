/* wrap_casadi.c: PREFIX_casadi.c, generated functions as external functions of CasADi (its C interface since 3.5).
 *
 * CasADi calls a function NAME(arg, res, iw, w, mem) and asks beside it for NAME_n_in, NAME_sparsity_in and so on;
 * it differentiates through jac_NAME, which takes the inputs of NAME, then its outputs, and gives one block for each
 * pair of an output and an input. Matrices are column by column, their structural zeros left out. Torques are affine
 * in base parameters, gravity and payload, so that those blocks are differences of values at unit vectors. */
#include <stdio.h>

#include "emit/wrap_priv.h"

/* What a result or a block of derivatives looks like: rows, columns, and which are zero by structure. */
typedef struct block {
  char name[64]; /* "tau", "jac_tau_q" */
  int rows, columns;
  const psdmp_codegen_program *from; /* whose zeros it has, NULL: full */
  int first;                         /* into its outputs */
} block;

/* How jac_NAME comes about. */
typedef struct derivative {
  const psdmp_codegen_program *of;      /* the function */
  const psdmp_codegen_program *linear;  /* its linearization, or the Jacobian of a pose */
  const psdmp_codegen_program *torques; /* inverse, where accelerations need it for arguments that are not of motion */
} derivative;

/* ---- shapes ---- */

static block result_block(const psdm_code *code, const psdmp_codegen_program *p, int r) {
  int columns;
  block b = {.from = p, .first = p->result[r].first};
  psdm_function_shape(p->function, code->robot->n,
                      psdmp_codegen_width(&code->options, psdm_model_l(code->model), p->function), &b.rows, &columns);
  b.columns = p->result[r].count / b.rows;
  snprintf(b.name, sizeof b.name, "%s", p->result[r].name);
  return b;
}

static bool is_zero(const block *b, int row, int column) {
  double value;
  return b->from &&
         psdm_graph_is_const(b->from->graph, b->from->output[b->first + row * b->columns + column], &value) &&
         value == 0;
}

static int nonzeros(const block *b) {
  int count = 0;
  for (int c = 0; c < b->columns; c++)
    for (int r = 0; r < b->rows; r++) count += !is_zero(b, r, c);
  return count;
}

static bool is_full(const block *b) { return nonzeros(b) == b->rows * b->columns; }

/* a full vector, or a full matrix of one row, is where it should be already */
static bool in_place(const block *b) { return is_full(b) && (b->columns == 1 || b->rows == 1); }

/* rows, columns, then 1 when full, else where columns begin and each entry's row */
static void emit_sparsity(psdmp_emit_writer *e, const char *function, const block *b) {
  psdmp_emit_say(e, "static const casadi_int %s_%s[] = {%d, %d", function, b->name, b->rows, b->columns);
  if (is_full(b)) {
    psdmp_emit_say(e, ", 1};\n");
    return;
  }
  int count = 0;
  psdmp_emit_say(e, ",\n  0");
  for (int c = 0; c < b->columns; c++) {
    for (int r = 0; r < b->rows; r++) count += !is_zero(b, r, c);
    psdmp_emit_say(e, ", %d", count);
  }
  for (int c = 0; c < b->columns; c++)
    for (int r = 0; r < b->rows; r++)
      if (!is_zero(b, r, c)) psdmp_emit_say(e, ", %d", r);
  psdmp_emit_say(e, "};\n");
}

/* where each entry is in the row-major result; what is written column by column at once needs none */
static void emit_places(psdmp_emit_writer *e, const char *function, const block *b) {
  const char *between = "";
  if (!b->from || in_place(b) || !nonzeros(b)) return;
  psdmp_emit_say(e, "static const int %s_%s_at[] = {", function, b->name);
  for (int c = 0; c < b->columns; c++)
    for (int r = 0; r < b->rows; r++) {
      if (is_zero(b, r, c)) continue;
      psdmp_emit_say(e, "%s%d", between, r * b->columns + c);
      between = ", ";
    }
  psdmp_emit_say(e, "};\n");
}

/* ---- the interface around a function ---- */

static const char *const types[] = {
    "#ifndef casadi_real",
    "#define casadi_real double",
    "#endif",
    "#ifndef casadi_int",
    "#define casadi_int long long int",
    "#endif",
    "",
};

static const char *const helpers[] = {
    "/* what CasADi asks about a function; no memory is kept between calls, so that number 0 serves every thread */",
    "#define $INTERFACE(name, words) \\",
    "  $EXPORT casadi_int name##_n_in(void) { return (casadi_int)(sizeof name##_in/sizeof *name##_in); } \\",
    "  $EXPORT casadi_int name##_n_out(void) { return (casadi_int)(sizeof name##_out/sizeof *name##_out); } \\",
    "  $EXPORT const char *name##_name_in(casadi_int i) { return i >= 0 && i < name##_n_in() ? name##_in[i] : 0; } \\",
    "  $EXPORT const char *name##_name_out(casadi_int i) { return i >= 0 && i < name##_n_out() ? name##_out[i] : 0; } "
    "\\",
    "  $EXPORT casadi_real name##_default_in(casadi_int i) { (void)i; return 0; } \\",
    "  $EXPORT const casadi_int *name##_sparsity_in(casadi_int i) { return i >= 0 && i < name##_n_in() ? "
    "name##_shape_in[i] : 0; } \\",
    "  $EXPORT const casadi_int *name##_sparsity_out(casadi_int i) { return i >= 0 && i < name##_n_out() ? "
    "name##_shape_out[i] : 0; } \\",
    "  $EXPORT int name##_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, casadi_int *sz_w) { \\",
    "    if (sz_arg) *sz_arg = name##_n_in(); \\",
    "    if (sz_res) *sz_res = name##_n_out(); \\",
    "    if (sz_iw) *sz_iw = 0; \\",
    "    if (sz_w) *sz_w = words; \\",
    "    return 0; \\",
    "  } \\",
    "  $EXPORT int name##_checkout(void) { return 0; } \\",
    "  $EXPORT void name##_release(int mem) { (void)mem; } \\",
    "  $EXPORT void name##_incref(void) {} \\",
    "  $EXPORT void name##_decref(void) {}",
    "",
    "/* an input that is not given is zero */",
    "static const double *given(const double *x) { return x ? x : nought; }",
    "",
    "/* row-major numbers to the entries of a result, column by column; a result that is not wanted is NULL */",
    "static void take(double *to, const double *from, const int *at, int count) {",
    "  for (int k = 0; to && k < count; k++) to[k] = from[at ? at[k] : k];",
    "}",
    "",
};

static void emit_input_shapes(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b]) psdmp_emit_say(e, "shape_%d, ", p->length[b]);
}

static void emit_input_names(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b]) psdmp_emit_say(e, "\"%s\", ", psdmp_emit_block_names[b]);
}

static void emit_outputs(psdmp_emit_writer *e, const char *function, const block *out, int count) {
  for (int k = 0; k < count; k++) {
    emit_sparsity(e, function, &out[k]);
    emit_places(e, function, &out[k]);
  }
  psdmp_emit_say(e, "static const char *const %s_out[] = {", function);
  for (int k = 0; k < count; k++) psdmp_emit_say(e, "\"%s\", ", out[k].name);
  psdmp_emit_say(e, "};\nstatic const casadi_int *const %s_shape_out[] = {", function);
  for (int k = 0; k < count; k++) psdmp_emit_say(e, "%s_%s, ", function, out[k].name);
  psdmp_emit_say(e, "};\n");
}

static void emit_signature(psdmp_emit_writer *e, const char *function) {
  psdmp_emit_say(e,
                 "$EXPORT int %s(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w, int mem) "
                 "{\n  (void)iw, (void)mem;\n",
                 function);
}

/* "take(res[0], w + 36, mass_M_at, 36);" */
static void emit_take(psdmp_emit_writer *e, const char *function, const block *b, int index, int word) {
  char at[384] = "0";
  int count = nonzeros(b);
  if (!count) return;
  if (!in_place(b)) snprintf(at, sizeof at, "%s_%s_at", function, b->name);
  psdmp_emit_say(e, "  take(res[%d], w + %d, %s, %d);\n", index, word, at, count);
}

/* which input of a function a block is, -1: none */
static int input_index(const psdmp_codegen_program *p, int b) {
  int index = 0;
  for (int k = 0; k < b; k++) index += p->length[k] > 0;
  return p->length[b] ? index : -1;
}

/* the arguments of one function from the inputs of another: where it has none, zero; instead (nullable): other words
 * for some of them */
static void emit_call(psdmp_emit_writer *e, const psdmp_codegen_program *callee, const psdmp_codegen_program *outer,
                      const char *const *instead) {
  psdmp_emit_say(e, "@%s(", callee->name);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!callee->length[b]) continue;
    int index = input_index(outer, b);
    if (instead && instead[b]) psdmp_emit_say(e, "%s, ", instead[b]);
    else if (index < 0) psdmp_emit_say(e, "nought, ");
    else psdmp_emit_say(e, "given(arg[%d]), ", index);
  }
}

static void emit_function(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  char text[160];
  block out[3];
  for (int r = 0; r < p->results; r++) out[r] = result_block(e->code, p, r);
  psdmp_emit_say(e, "/* ---- %s: %s ---- */\n\n", p->name, psdmp_emit_summary(p->function, text));
  psdmp_emit_say(e, "static const char *const %s_in[] = {", p->name);
  emit_input_names(e, p);
  psdmp_emit_say(e, "};\nstatic const casadi_int *const %s_shape_in[] = {", p->name);
  emit_input_shapes(e, p);
  psdmp_emit_say(e, "};\n");
  emit_outputs(e, p->name, out, p->results);
  psdmp_emit_say(e, "$INTERFACE(%s, %d)\n\n", p->name, (int)p->outputs);
  emit_signature(e, p->name);
  psdmp_emit_say(e, "  ");
  emit_call(e, p, p, NULL);
  for (int r = 0; r < p->results; r++) psdmp_emit_say(e, "%sw + %d", r ? ", " : "", p->result[r].first);
  psdmp_emit_say(e, ");\n");
  for (int r = 0; r < p->results; r++) emit_take(e, p->name, &out[r], r, p->result[r].first);
  psdmp_emit_say(e, "  return 0;\n}\n\n");
}

/* ---- derivatives ---- */

/* the linearization's result that holds the derivative by an input, -1: not of motion */
static int linear_result(int b) {
  switch (b) {
    case PSDMP_CODEGEN_IN_Q: return 0;
    case PSDMP_CODEGEN_IN_QD: return 1;
    case PSDMP_CODEGEN_IN_QDD:
    case PSDMP_CODEGEN_IN_TAU: return 2;
    default: return -1;
  }
}

static bool find_derivative(const psdm_code *code, const psdmp_codegen_program *p, derivative *d) {
  *d = (derivative){.of = p};
  bool arguments =
      p->length[PSDMP_CODEGEN_IN_THETA] || p->length[PSDMP_CODEGEN_IN_GRAVITY] || p->length[PSDMP_CODEGEN_IN_PAYLOAD];
  switch (p->function) {
    case PSDM_F_INVERSE:
    case PSDM_F_BIAS:
    case PSDM_F_GRAVITY: d->linear = psdmp_emit_wrap_program(code, PSDM_F_LINEARIZE_INVERSE); break;
    case PSDM_F_FORWARD:
      d->linear = psdmp_emit_wrap_program(code, PSDM_F_LINEARIZE_FORWARD);
      d->torques = psdmp_emit_wrap_program(code, PSDM_F_INVERSE);
      if (arguments && !d->torques) return false;
      break;
    case PSDM_F_POSE: d->linear = psdmp_emit_wrap_program(code, PSDM_F_JACOBIAN); break;
    default: return false;
  }
  return d->linear && !p->length[PSDMP_CODEGEN_IN_WRENCH];
}

static block derivative_block(const psdm_code *code, const derivative *d, int b) {
  const psdmp_codegen_program *p = d->of;
  int r = linear_result(b);
  block out = {.rows = p->result[0].count, .columns = p->length[b]};
  if (r >= 0 && p->function != PSDM_F_POSE) out = result_block(code, d->linear, r);
  snprintf(out.name, sizeof out.name, "jac_%s_%s", p->result[0].name, psdmp_emit_block_names[b]);
  return out;
}

/* behind the linearization's results: accelerations, torques at zero and at a unit vector, that vector */
static int words_of(const psdm_code *code, const derivative *d, int *more) {
  int longest = 0;
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (d->of->length[b] > longest) longest = d->of->length[b];
  *more = d->of->function == PSDM_F_POSE ? 12 + (int)d->linear->outputs : (int)d->linear->outputs;
  return *more + 3 * code->robot->n + longest;
}

/* columns by one argument that is not of motion: torques at unit vectors less those at zero, and accelerations that
 * undo them */
static void emit_columns(psdmp_emit_writer *e, const derivative *d, int b, int index, int more) {
  int n = e->code->robot->n;
  const psdmp_codegen_program *callee = d->torques ? d->torques : d->of;
  const char *instead[PSDMP_CODEGEN_IN_COUNT] = {0};
  instead[b] = "unit";
  if (d->torques) instead[PSDMP_CODEGEN_IN_QDD] = "qdd";
  psdmp_emit_say(
      e, "  if (res[%d]) { /* torques are affine in %s */\n    double *zero = w + %d, *one = w + %d, *unit = w + %d;\n",
      index, psdmp_emit_block_names[b], more + n, more + 2 * n, more + 3 * n);
  psdmp_emit_say(e, "    for (int i = 0; i < %d; i++) unit[i] = 0;\n", d->of->length[b]);
  if (d->torques) {
    psdmp_emit_say(e, "    double *qdd = w + %d;\n    ", more);
    emit_call(e, d->of, d->of, NULL);
    psdmp_emit_say(e, "qdd);\n");
  }
  psdmp_emit_say(e, "    ");
  emit_call(e, callee, d->of, instead);
  psdmp_emit_say(e, "zero);\n    for (int i = 0; i < %d; i++) {\n      unit[i] = 1;\n      ", d->of->length[b]);
  emit_call(e, callee, d->of, instead);
  psdmp_emit_say(e, "one);\n      unit[i] = 0;\n");
  if (d->torques) {
    psdmp_emit_say(e, "      for (int j = 0; j < %d; j++) {\n        double sum = 0;\n", n);
    psdmp_emit_say(e,
                   "        for (int k = 0; k < %d; k++) sum -= w[%d + %d*j + k]*(one[k] - zero[k]);\n        "
                   "res[%d][%d*i + j] = sum;\n      }\n",
                   n, d->linear->result[2].first, n, index, n);
  } else {
    psdmp_emit_say(e, "      for (int k = 0; k < %d; k++) res[%d][%d*i + k] = one[k] - zero[k];\n", n, index, n);
  }
  psdmp_emit_say(e, "    }\n  }\n");
}

/* positions turn by the linear rows; each axis of the link turns about the angular ones */
static const char *const pose_lines[] = {
    "    for (int i = 0; i < 3; i++) to[i] = J[$N*i + j];",
    "    const double x = J[3*$N + j], y = J[4*$N + j], z = J[5*$N + j];",
    "    for (int i = 3; i < 6; i++) {",
    "      to[i] = y*X[i + 6] - z*X[i + 3];",
    "      to[i + 3] = z*X[i] - x*X[i + 6];",
    "      to[i + 6] = x*X[i + 3] - y*X[i];",
    "    }",
};

static void emit_pose_body(psdmp_emit_writer *e) {
  psdmp_emit_say(e, "  double *X = w, *J = w + 12;\n  @pose(given(arg[0]), X);\n  @jacobian(given(arg[0]), J);\n");
  psdmp_emit_say(e, "  for (int j = 0; res[0] && j < $N; j++) {\n    double *to = res[0] + 12*j;\n");
  psdmp_emit_wrap_lines(e, pose_lines, sizeof pose_lines / sizeof *pose_lines);
  psdmp_emit_say(e, "  }\n");
}

static void emit_motion_body(psdmp_emit_writer *e, const char *name, const derivative *d, const block *out, int more) {
  const psdmp_codegen_program *p = d->of, *l = d->linear;
  psdmp_emit_say(e, "  ");
  emit_call(e, l, p, NULL);
  for (int r = 0; r < l->results; r++) psdmp_emit_say(e, "%sw + %d", r ? ", " : "", l->result[r].first);
  psdmp_emit_say(e, ");\n");
  for (int b = 0, index = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    if (linear_result(b) >= 0) emit_take(e, name, &out[index], index, l->result[linear_result(b)].first);
    else emit_columns(e, d, b, index, more);
    index++;
  }
}

static void emit_derivative(psdmp_emit_writer *e, const derivative *d) {
  const psdmp_codegen_program *p = d->of;
  block out[PSDMP_CODEGEN_IN_COUNT];
  char name[64];
  int count = 0, more;
  int words = words_of(e->code, d, &more);
  snprintf(name, sizeof name, "jac_%s", p->name);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b]) out[count++] = derivative_block(e->code, d, b);
  /* values of the function are offered, and not needed: a shape without entries */
  psdmp_emit_say(e,
                 "/* derivatives of %s */\nstatic const casadi_int %s_value[] = {%d, 1, 0, 0};\nstatic const char "
                 "*const %s_in[] = {",
                 p->name, name, p->result[0].count, name);
  emit_input_names(e, p);
  psdmp_emit_say(e, "\"out_%s\"};\nstatic const casadi_int *const %s_shape_in[] = {", p->result[0].name, name);
  emit_input_shapes(e, p);
  psdmp_emit_say(e, "%s_value};\n", name);
  emit_outputs(e, name, out, count);
  psdmp_emit_say(e, "$INTERFACE(%s, %d)\n\n", name, words);
  emit_signature(e, name);
  if (p->function == PSDM_F_POSE) emit_pose_body(e);
  else emit_motion_body(e, name, d, out, more);
  psdmp_emit_say(e, "  return 0;\n}\n\n");
}

/* ---- the file ---- */

/* a column for each length of inputs, and as many zeros as the longest */
static void emit_shapes(psdmp_emit_writer *e) {
  int longest = 1;
  for (int length = 1; length < PSDMP_CODEGEN_BLOCK; length++) {
    bool used = false;
    for (int k = 0; k < e->code->programs; k++)
      for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) used = used || e->code->program[k].length[b] == length;
    if (!used) continue;
    psdmp_emit_say(e, "static const casadi_int shape_%d[] = {%d, 1, 1};\n", length, length);
    longest = length;
  }
  psdmp_emit_say(e, "static const double nought[%d] = {0};\n\n", longest);
}

void psdmp_emit_wrap_casadi(psdmp_emit_writer *e) {
  psdmp_emit_banner(e, "Generated functions as external functions of CasADi: 'make casadi', then "
                       "casadi.external('inverse', './lib..._casadi.so').");
  psdmp_emit_say(e, "#include \"%s.h\"\n\n", e->prefix);
  psdmp_emit_wrap_lines(e, types, sizeof types / sizeof *types);
  psdmp_emit_wrap_export(e);
  emit_shapes(e);
  psdmp_emit_wrap_lines(e, helpers, sizeof helpers / sizeof *helpers);
  for (int k = 0; k < e->code->programs; k++) {
    derivative d;
    emit_function(e, &e->code->program[k]);
    if (find_derivative(e->code, &e->code->program[k], &d)) emit_derivative(e, &d);
  }
  psdmp_emit_say(e, "#ifdef __cplusplus\n}\n#endif\n");
}
