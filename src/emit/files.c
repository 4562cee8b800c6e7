/* files.c: PREFIX.h, PREFIX.c and the Makefile. */

#include "emit/cuda.h"
#include "emit/wrap_priv.h"
#include "psdm/text.h"
#include "robot/robot.h"

/* ---- the header ---- */

/* what each argument is */
static const char *const block_docs[PSDMP_CODEGEN_IN_COUNT] = {
    [PSDMP_CODEGEN_IN_THETA] = "base parameters, listed above",
    [PSDMP_CODEGEN_IN_GRAVITY] = "gravity in the base frame, m/s^2",
    [PSDMP_CODEGEN_IN_PAYLOAD] =
        "a body on the link, about that link's frame: m mx my mz XX XY XZ YY YZ ZZ; kg, kg m, kg m^2",
    [PSDMP_CODEGEN_IN_WRENCH] = "force and moment on the link, at its frame's origin, base frame; N, N m",
    [PSDMP_CODEGEN_IN_DT] = "time from q0 to q; s",
    [PSDMP_CODEGEN_IN_SINE] = "sin q; not read for prismatic joints",
    [PSDMP_CODEGEN_IN_COSINE] = "cos q; not read for prismatic joints",
    [PSDMP_CODEGEN_IN_Q0] = "positions at the row before",
    [PSDMP_CODEGEN_IN_QD0] = "velocities at the row before",
    [PSDMP_CODEGEN_IN_Q] = "positions; rad, m where a joint slides",
    [PSDMP_CODEGEN_IN_QD] = "velocities; rad/s, m/s",
    [PSDMP_CODEGEN_IN_QDD] = "accelerations; rad/s^2, m/s^2",
    [PSDMP_CODEGEN_IN_TAU] = "torques that the motors supply; N m, N where a joint slides",
    [PSDMP_CODEGEN_IN_DQ] = "a small change of q",
    [PSDMP_CODEGEN_IN_DQD] = "a small change of qd",
    [PSDMP_CODEGEN_IN_DQDD] = "a small change of qdd",
    [PSDMP_CODEGEN_IN_DTAU] = "a small change of tau",
    [PSDMP_CODEGEN_IN_EQ] = "another small change of q",
    [PSDMP_CODEGEN_IN_EQD] = "another small change of qd",
    [PSDMP_CODEGEN_IN_EQDD] = "another small change of qdd",
    [PSDMP_CODEGEN_IN_Z] = "what friction remembers, listed above",
    [PSDMP_CODEGEN_IN_P] = "in, out: positions of the passive joints, listed above"};

static const char *const result_docs[PSDM_FUNCTION_COUNT] = {
    [PSDM_F_INVERSE] = "torques that the motors must supply; N m, N where a joint slides",
    [PSDM_F_GRAVITY] = "torques that the motors must supply; N m, N where a joint slides",
    [PSDM_F_BIAS] = "torques that the motors must supply; N m, N where a joint slides",
    [PSDM_F_MASS] = "mass matrix, row-major, both triangles; kg m^2",
    [PSDM_F_FORWARD] = "accelerations; rad/s^2, m/s^2",
    [PSDM_F_REGRESSOR] = "regressor, row-major: torques = Y theta",
    [PSDM_F_ENERGY] = "kinetic, potential energy; J",
    [PSDM_F_JACOBIAN] =
        "Jacobian, row-major (6 x n): linear rows, then angular, base frame, at the link frame's origin",
    [PSDM_F_POSE] = "x y z, then the rotation from link to base axes, row-major",
    [PSDM_F_LINEARIZE_INVERSE] = "row-major (n x n), row i column j: of torque i by joint j",
    [PSDM_F_LINEARIZE_FORWARD] = "row-major (n x n), row i column j: of acceleration i by joint j",
    [PSDM_F_INVERSE_MASS] = "inverse of the mass matrix, row-major, both triangles",
    [PSDM_F_CORIOLIS] = "Coriolis matrix of Christoffel symbols, row-major (n x n): c = C qd, dM/dt - 2 C is skew",
    [PSDM_F_MASS_RATE] = "dM/dt, row-major, both triangles",
    [PSDM_F_MOMENTUM] = "M qd; then the gradient of the kinetic energy, C^T qd",
    [PSDM_F_MOMENTUM_RATE] = "dp/dt = tau + C^T qd - g",
    [PSDM_F_INNOVATIONS] = "row-major (n x n): M = L D L^T, L with ones on its diagonal, D diagonal",
    [PSDM_F_INVERSE_ALONG] = "what the small motion changes inverse's torques by",
    [PSDM_F_FORWARD_ALONG] = "what the small changes change forward's accelerations by",
    [PSDM_F_INVERSE_SECOND] = "second derivative of inverse's torques along the two small motions",
    [PSDM_F_LINEARIZE_SECOND] = "row-major (n x n): what the small motion changes linearize_inverse's result by",
    [PSDM_F_SENSITIVITY] = "-M^-1 Y, row-major (n x l): of forward's accelerations by base parameters",
    [PSDM_F_CARTESIAN_JACOBIAN] = "row-major, a row for each direction: velocity of the point = J qd",
    [PSDM_F_CARTESIAN_MASS] = "mass matrix of the task, row-major, both triangles; not a number where it is singular",
    [PSDM_F_CARTESIAN_CORIOLIS] = "Coriolis and centrifugal forces of the task; not numbers where it is singular",
    [PSDM_F_CARTESIAN_GRAVITY] = "gravity of the task; not numbers where it is singular",
    [PSDM_F_CARTESIAN_FACTOR] = "Coriolis matrix of the task, row-major; not numbers where it is singular",
    [PSDM_F_CARTESIAN_INVERSE] =
        "J's dynamically consistent inverse, row-major; not numbers where the task is singular",
    [PSDM_F_CARTESIAN_NULL_SPACE] =
        "row-major (n x n): torques N tau do not accelerate the task; not numbers where it is singular",
    [PSDM_F_FRICTION] = "friction torques, which motors must supply beside all else; N m, N where a joint slides",
    [PSDM_F_FRICTION_STEP] = "z at q, qd; an array of its own"};

/* ---- friction ---- */

static void emit_stops(psdmp_emit_writer *e) {
  const psdm_parameters *p = e->code->friction.drag.p;
  for (int i = 0, at = 0; i < p->n; i++)
    for (int k = 0; k < p->columns[i]; k++)
      if (p->column[i][k].kind == PSDM_COLUMN_STOP)
        psdm_output_print(e->out, " *   z[%d]: drive %d, stop(x/w) of w = %.9g\n", at++, i + 1, p->column[i][k].width);
}

static void emit_memory(psdmp_emit_writer *e) {
  const psdmp_parameters_drag *d = &e->code->friction.drag;
  if (!d->states) return;
  psdmp_emit_say(
      e, " * It remembers z: @friction_step gives z of a row from z of the row before; all zero at the beginning "
         "of a motion.\n");
  if (d->formula)
    psdm_output_print(e->out, " *   z[i]: mean deflection of the bristles of %s i + 1\n", d->p ? "drive" : "joint");
  else emit_stops(e);
}

static void emit_friction(psdmp_emit_writer *e) {
  const psdmp_codegen_friction *k = &e->code->friction;
  if (!k->there) return;
  psdm_output_print(e->out,
                    "/* Friction: %s. It is part of inverse, bias, forward, their derivatives and the regressor.\n",
                    !k->drag.p         ? psdm_friction_name(k->drag.kind)
                    : k->drag.p->lugre ? "lugre, of the drives as they were calibrated"
                                       : "of the drives as they were calibrated");
  if (k->loaded)
    psdm_output_text(e->out, " * Rigid torque loads the drives, that of a payload and a wrench included.\n");
  emit_memory(e);
  psdm_output_text(e->out, " */\n");
  if (k->drag.states) psdmp_emit_say(e, "#define $STATES %d /* length of z */\n", k->drag.states);
  psdm_output_text(e->out, "\n");
}

/* twelve digits, as psdm params has them: for reading */
static const char *readable(double x, char text[32]) {
  psdmp_base_print(text, 32, "%.12g", x);
  return text;
}

/* "ZZ1 + 0.29 m3 - mz4" */
static void emit_formula(psdmp_emit_writer *e, int j) {
  const psdm_model *m = e->code->model;
  char name[32], number[32];
  for (int t = 0; t < psdm_model_base_terms(m, j); t++) {
    int k;
    double x = psdm_model_base_term(m, j, t, &k);
    bool minus = x < 0;
    psdm_output_text(e->out, t ? (minus ? " - " : " + ") : minus ? "-" : "");
    if (minus) x = -x;
    if (x != 1) psdm_output_print(e->out, "%s ", readable(x, number));
    psdm_output_text(e->out, psdm_model_standard_name(m, k, name, sizeof name));
  }
}

static void emit_parameters(psdmp_emit_writer *e) {
  const psdm_code *code = e->code;
  int l = psdm_model_l(code->model);
  char number[32];
  if (!l) return;
  if (code->options.theta_argument)
    psdm_output_text(e->out, "/* Base parameters theta, from the standard ones of each link: mass m, first moments mx "
                             "my mz, inertia XX XY XZ YY YZ ZZ about the\n"
                             " * link frame's origin, and drive inertias Ia:\n *\n");
  else
    psdm_output_text(e->out, "/* Base parameters; functions other than the regressor have their numbers inside:\n *\n");
  for (int j = 0; j < l; j++) {
    psdm_output_print(e->out, " *   theta[%d] = ", j);
    emit_formula(e, j);
    if (code->theta) psdm_output_print(e->out, " = %s", psdm_number_text(code->theta[j], number));
    psdm_output_text(e->out, "\n");
  }
  psdm_output_text(e->out, " */\n\n");
}

/* columns of friction from at on */
static void emit_friction_columns(psdmp_emit_writer *e, int at) {
  const psdmp_parameters_drag *d = &e->code->friction.drag;
  const char *whose = d->p ? "drive" : "joint";
  for (int k = 0; d->formula && k < psdm_friction_columns(d->kind); k++, at += d->n)
    psdm_output_print(e->out, "; %d to %d: %s of each %s's friction", at, at + d->n - 1,
                      psdm_friction_column_name(d->kind, k), whose);
  for (int i = 0; !d->formula && i < d->n; at += d->p->columns[i++])
    if (d->p->columns[i])
      psdm_output_print(e->out, "; %d to %d: gains of drive %d's friction", at, at + d->p->columns[i] - 1, i + 1);
}

static void emit_regressor_columns(psdmp_emit_writer *e) {
  const psdm_code_options *o = &e->code->options;
  int n = e->code->robot->n, at = psdm_model_l(e->code->model);
  psdm_output_print(e->out, " * Columns 0 to %d: base parameters", at - 1);
  if (o->friction_columns) {
    psdm_output_print(e->out, "; %d to %d: Coulomb friction, sign(qd); %d to %d: viscous friction, qd", at, at + n - 1,
                      at + n, at + 2 * n - 1);
    at += 2 * n;
  }
  if (e->code->friction.there) emit_friction_columns(e, at), at += e->code->friction.drag.columns;
  if (o->drive_columns) psdm_output_print(e->out, "; %d to %d: drive inertias, qdd", at, at + n - 1);
  psdm_output_text(e->out, ".\n");
}

static void emit_argument_docs(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b])
      psdm_output_print(e->out, " *   %-8s (%d) %s\n", psdmp_emit_block_names[b], p->length[b], block_docs[b]);
  for (int r = 0; r < p->results; r++)
    psdm_output_print(e->out, " *   %-8s (%d) out: %s\n", p->result[r].name, p->result[r].count,
                      result_docs[p->function]);
}

/* the link that a pose or Jacobian is of, or that a load or wrench is on; NULL: the default */
static void emit_link(psdmp_emit_writer *e, const char *link) {
  const psdm_robot *r = e->code->robot;
  psdm_output_text(e->out, " * Link: ");
  psdmp_emit_comment_text(e, link ? link : r->link[r->last].name);
  psdm_output_text(e->out, "\n");
}

/* link, point and directions of a task */
static void emit_task(psdmp_emit_writer *e) {
  static const char *const words[] = {"x", "y", "z", "rx", "ry", "rz"};
  const psdm_code_options *o = &e->code->options;
  char number[3][32];
  emit_link(e, o->link);
  psdm_output_print(
      e->out, " * Point in its frame: %s %s %s. Directions, base frame:", psdm_number_text(o->point[0], number[0]),
      psdm_number_text(o->point[1], number[1]), psdm_number_text(o->point[2], number[2]));
  for (int k = 0; k < 6; k++)
    if (!o->directions || o->directions >> k & 1u) psdm_output_print(e->out, " %s", words[k]);
  psdm_output_text(e->out, "\n");
}

static void emit_prototype(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  char text[160];
  psdm_output_print(e->out, "/* %s.\n", psdmp_emit_summary(p->function, text));
  emit_argument_docs(e, p);
  if (p->function == PSDM_F_REGRESSOR) emit_regressor_columns(e);
  if (p->function == PSDM_F_JACOBIAN || p->function == PSDM_F_POSE) emit_link(e, e->code->options.link);
  if (psdm_function_is_task(p->function)) emit_task(e);
  if (p->length[PSDMP_CODEGEN_IN_PAYLOAD] || p->length[PSDMP_CODEGEN_IN_WRENCH]) emit_link(e, NULL);
  psdm_output_print(e->out, " * %ld multiplications, %ld additions, %ld divisions, %ld sin+cos", p->cost.mult,
                    p->cost.add, p->cost.div, p->cost.sincos);
  if (p->cost.calls) psdm_output_print(e->out, ", %ld exponentials, powers and the like", p->cost.calls);
  psdm_output_text(e->out, " */\n");
  if (e->code->loop) {
    psdmp_emit_loop_prototype(e, p);
    return;
  }
  psdmp_emit_say(e, "void @%s(", p->name);
  psdmp_emit_arguments(e, p);
  psdm_output_text(e->out, ");\n\n");
}

static void emit_batch_prototypes(psdmp_emit_writer *e) {
  psdm_output_print(e->out,
                    "/* The same for count states at a time: number k of state i is at [k*count + i], in and "
                    "out. theta, gravity, payload%s wrench%s are one\n"
                    " * for all states. */\n",
                    e->code->friction.drag.states ? "," : " and", e->code->friction.drag.states ? " and dt" : "");
  for (int k = 0; k < e->code->programs; k++) {
    psdmp_emit_say(e, "void @%s_batch(size_t count, ", e->code->program[k].name);
    psdmp_emit_arguments(e, &e->code->program[k]);
    psdm_output_text(e->out, ");\n");
  }
  psdm_output_text(e->out, "\n");
}

void psdmp_emit_header(psdmp_emit_writer *e) {
  const psdm_code *code = e->code;
  psdmp_emit_banner(
      e, "Dynamics of a robot as straight-line code: no memory of its own, no state; any thread may call it.");
  psdmp_emit_say(e, "#ifndef $H\n#define $H\n\n");
  if (code->options.target != PSDM_CODE_C) psdm_output_text(e->out, "#include <stddef.h>\n\n");
  psdmp_emit_say(e, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  psdmp_emit_say(e, "/* results never overlap arguments */\n#ifdef __cplusplus\n#define $RESTRICT\n#else\n#define "
                    "$RESTRICT restrict\n#endif\n\n");
  psdmp_emit_say(e, "#define $N %d /* joints: length of q, qd, qdd, tau */\n#define $L %d /* base parameters */\n\n",
                 code->robot->n, psdm_model_l(code->model));
  emit_parameters(e);
  emit_friction(e);
  psdmp_emit_loop_header(e);
  for (int k = 0; k < code->programs; k++) emit_prototype(e, &code->program[k]);
  if (code->options.target == PSDM_CODE_SIMD) emit_batch_prototypes(e);
  if (code->options.target == PSDM_CODE_CUDA) psdmp_emit_cuda_prototypes(e);
  psdmp_emit_say(e, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ---- the source ---- */

/* vectors where the compiler and the processor have them; value-changing options would take the rounding in sincos
 * apart */
static void emit_vector_switch(psdmp_emit_writer *e) {
  psdmp_emit_say(e, "#if !defined($VECTORS)\n#if defined(__GNUC__) && !defined(__FAST_MATH__) && (defined(__SSE2__) || "
                    "defined(__ARM_NEON) || defined(__VSX__))\n"
                    "#define $VECTORS 1\n#else\n#define $VECTORS 0\n#endif\n#endif\n\n");
}

/* what stands in the body of the scalar function: the results, or what a loop makes them of */
static psdmp_codegen_program scalar_body(const psdmp_codegen_program *p) {
  psdmp_codegen_program body = *p;
  if (!p->inner) return body;
  int each = (int)p->outputs / 3;
  body.output = p->inner;
  body.results = 2;
  body.result[0] = (psdmp_codegen_result){p->result[2].name, 0, each};
  body.result[1] = (psdmp_codegen_result){"factor", each, 2 * each};
  return body;
}

/* both derivatives are minus M^-1 times those of the torques, whose rows stand side by side */
static void emit_product(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int n = e->code->robot->n;
  /* straight-line again, it would leave the instruction cache */
  psdm_output_text(e->out, "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC unroll 1\n#endif\n");
  psdmp_emit_say(e, "  for (int i = 0; i < %d; i++) {\n    ` row[%d] = {0};\n    for (int k = 0; k < %d; k++)\n", n,
                 2 * n, n);
  psdmp_emit_say(e, "      for (int j = 0; j < %d; j++) row[j] -= %s[%d*i + k]*factor[%d*k + j];\n", 2 * n,
                 p->result[2].name, n, 2 * n);
  psdmp_emit_say(e, "    for (int j = 0; j < %d; j++) %s[%d*i + j] = row[j], %s[%d*i + j] = row[%d + j];\n  }\n", n,
                 p->result[0].name, n, p->result[1].name, n, n);
}

/* before, after: words around the name */
static psdm_status emit_body(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *before,
                             const char *after, psdmp_base_arena *arena) {
  psdmp_emit_listing l;
  psdmp_codegen_program body = scalar_body(p);
  psdm_status status = psdmp_emit_listing_set(e, &body, &psdmp_emit_dialect_c, arena, &l);
  if (status) return status;
  psdmp_emit_say(e, "%svoid @%s%s(", before, p->name, after);
  psdmp_emit_arguments(e, p);
  psdm_output_text(e->out, ") {\n");
  if (p->inner) psdmp_emit_say(e, "  ` factor[%d];\n", body.result[1].count);
  psdmp_emit_body(&l);
  if (p->inner) emit_product(e, p);
  psdm_output_text(e->out, "}\n\n");
  return PSDM_OK;
}

static psdm_status emit_function(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena) {
  psdm_status status = emit_body(e, p, "", e->code->loop ? "_at" : "", arena);
  if (!status && e->code->loop) psdmp_emit_loop_function(e, p);
  return status;
}

static psdm_status add_needs(psdmp_emit_writer *e, const psdmp_codegen_program *p, psdmp_base_arena *arena,
                             psdmp_emit_needs *needs) {
  psdmp_emit_listing l;
  psdmp_codegen_program body = scalar_body(p);
  psdm_status status = psdmp_emit_listing_set(e, &body, &psdmp_emit_dialect_c, arena, &l);
  if (!status) psdmp_emit_listing_needs(&l, needs);
  return status;
}

static psdm_status find_needs(psdmp_emit_writer *e, psdmp_base_arena *arena, psdmp_emit_needs *needs) {
  psdm_status status = e->code->loop ? add_needs(e, &e->code->loop->closure, arena, needs) : PSDM_OK;
  for (int k = 0; k < e->code->programs && !status; k++) status = add_needs(e, &e->code->program[k], arena, needs);
  return status;
}

/* the loops' equations and what solves them */
static psdm_status emit_loops(psdmp_emit_writer *e, psdmp_base_arena *arena) {
  if (!e->code->loop) return PSDM_OK;
  psdm_output_text(e->out, "/* gaps of the loops, and their derivative by p */\n");
  psdm_status status = emit_body(e, &e->code->loop->closure, "static ", "", arena);
  if (!status) psdmp_emit_loop_source(e);
  return status;
}

psdm_status psdmp_emit_source(psdmp_emit_writer *e, psdmp_base_arena *arena) {
  const psdm_code *code = e->code;
  bool simd = code->options.target == PSDM_CODE_SIMD;
  psdmp_emit_needs needs = {0};
  psdm_status status = find_needs(e, arena, &needs);
  if (status) return status;
  psdmp_emit_banner(
      e, "Dynamics of a robot as straight-line code. C99; see the header for what each function takes and gives.");
  psdmp_emit_say(e, "#include \"%s.h\"\n\n", e->prefix);
  if ((needs.calls & ~(1u << PSDM_OP_SIGN)) || needs.angles || code->loop)
    psdm_output_text(e->out, "#include <math.h>\n\n");
  if (simd || (needs.angles && code->options.sincos == PSDM_SINCOS_POLYNOMIAL)) emit_vector_switch(e);
  psdmp_emit_sincos(e, &needs);
  if (simd) psdmp_emit_lanes_helpers(e, &needs);
  status = emit_loops(e, arena);
  for (int k = 0; k < code->programs && !status; k++) status = emit_function(e, &code->program[k], arena);
  for (int k = 0; k < code->programs && !status && simd; k++) status = psdmp_emit_batch(e, &code->program[k], arena);
  return status;
}

/* ---- the Makefile ---- */

/* instructions from the disassembly, stack from the compiler, one line for each function */
static const char size_recipe[] =
    "\t@$(OBJDUMP) -d --no-show-raw-insn $(NAME)_size.o | awk '\\\n"
    "\t  BEGIN { printf \"%-40s %12s %12s\\n\", \"function\", \"instructions\", \"stack bytes\" } \\\n"
    "\t  function show() { if (name) printf \"%-40s %12d %12s\\n\", name, count, stack[name] } \\\n"
    "\t  FNR == NR { split($$1, part, \":\"); stack[part[4]] = $$2; next } \\\n"
    "\t  /^[0-9a-f]+ <.*>:/ { show(); name = $$2; gsub(/[<>:]/, \"\", name); count = 0; next } \\\n"
    "\t  /^ +[0-9a-f]+:/ { count++ } \\\n"
    "\t  END { show() }' $(NAME)_size.su -\n\n";

static const char rules[] =
    "all: $(NAME).o\n\n"
    "$(NAME).o: $(NAME).c $(NAME).h\n\t$(CC) $(CFLAGS) -c -o $@ $(NAME).c\n\n"
    "$(NAME)_selftest: $(NAME)_selftest.c $(NAME).o\n\t$(CC) $(CFLAGS) -o $@ $(NAME)_selftest.c $(NAME).o $(LDFLAGS) "
    "$(LDLIBS)\n\n"
    "check: $(NAME)_selftest\n\t./$(NAME)_selftest\n\n"
    "size: $(NAME).c $(NAME).h\n\t@$(CC) $(CFLAGS) -fstack-usage -c -o $(NAME)_size.o $(NAME).c\n";

void psdmp_emit_makefile(psdmp_emit_writer *e) {
  static const char *const boards[][3] = {{"Cortex-M4F", "cortex-m4", "fpv4-sp-d16"},
                                          {"Cortex-M7", "cortex-m7", "fpv5-d16"}};
  psdm_output *out = e->out;
  psdm_output_print(
      out, "# %s: make, make check (runs the self-test), make size (instructions and stack of each function; gcc).\n",
      e->prefix);
  for (int k = 0; k < 2 && e->single; k++)
    psdm_output_print(out,
                      "# %s: make CC=arm-none-eabi-gcc CFLAGS='-std=c99 -O2 -mcpu=%s -mthumb -mfloat-abi=hard -mfpu=%s "
                      "-ffp-contract=fast -fno-math-errno'\n",
                      boards[k][0], boards[k][1], boards[k][2]);
  psdm_output_text(out, "# CC, CFLAGS, LDFLAGS and LDLIBS may be given on the command line. -ffast-math is not needed "
                        "and turns the vectors off.\n\n");
  psdm_output_print(out, "NAME = %s\n", e->prefix);
  psdm_output_text(out, "CFLAGS ?= -std=c99 -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math "
                        "-Wall -Wextra -pedantic\n"
                        "LDLIBS ?= -lm\nOBJDUMP ?= objdump\n\n");
  psdm_output_text(out, rules);
  psdm_output_text(out, size_recipe);
  psdm_output_text(
      out,
      "clean:\n\trm -f $(NAME).o $(NAME)_selftest $(NAME)_size.o $(NAME)_size.su\n\n.PHONY: all check size clean\n");
  psdmp_emit_wrap_makefile(e);
}
