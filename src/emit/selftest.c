/* selftest.c: a program beside the generated code that runs every function at a few states and compares with what
 * the library's recursions, which share nothing with the generator, gave for them. */
#include <math.h>
#include <stdio.h>

#include "emit/emit.h"
#include "codegen/codegen.h"

enum { STATES = PSDMP_CODEGEN_STATES, PER_LINE = 6 };

/* ---- text ---- */

static void emit_numbers(psdmp_emit_writer *e, const double *x, int count, bool real) {
  char text[40];
  for (int i = 0; i < count; i++) {
    if (i) psdm_output_text(e->out, i % PER_LINE ? ", " : ",\n   ");
    if (!real) psdmp_base_format_short(x[i], text);
    psdm_output_text(e->out, real ? psdmp_emit_literal(e, x[i], text) : text);
  }
}

/* a table with a row for each state; real: an argument, in the code's own precision */
static void emit_table(psdmp_emit_writer *e, const char *name, const double *x, int columns, bool real) {
  psdmp_emit_say(e, "static const %s %s[STATES][%d] = {\n", real ? "`" : "double", name, columns);
  for (int s = 0; s < STATES; s++) {
    psdm_output_text(e->out, "  {");
    emit_numbers(e, x + s * columns, columns, real);
    psdm_output_text(e->out, s + 1 < STATES ? "},\n" : "}};\n");
  }
}

static void emit_list(psdmp_emit_writer *e, const char *name, const double *x, int count) {
  psdmp_emit_say(e, "static const ` in_%s[%d] = {", name, count);
  emit_numbers(e, x, count, true);
  psdm_output_text(e->out, "};\n");
}

static bool any_length(const psdm_code *code, psdmp_codegen_block block) {
  for (int k = 0; k < code->programs; k++)
    if (code->program[k].length[block]) return true;
  return false;
}

static void emit_inputs(psdmp_emit_writer *e, const psdmp_codegen_trial *t) {
  const psdm_code *code = e->code;
  int n = code->robot->n;
  double *turned = t->scratch;
  if (any_length(code, PSDMP_CODEGEN_IN_THETA)) emit_list(e, "theta", t->theta, psdm_model_l(code->model));
  if (any_length(code, PSDMP_CODEGEN_IN_GRAVITY)) emit_list(e, "gravity", t->gravity, 3);
  if (any_length(code, PSDMP_CODEGEN_IN_PAYLOAD)) emit_list(e, "payload", t->payload, 10);
  if (any_length(code, PSDMP_CODEGEN_IN_WRENCH)) emit_list(e, "wrench", t->wrench, 6);
  if (any_length(code, PSDMP_CODEGEN_IN_DT)) emit_list(e, "dt", &t->dt, 1);
  if (any_length(code, PSDMP_CODEGEN_IN_Q0)) emit_table(e, "in_q0", t->q0, n, true);
  if (any_length(code, PSDMP_CODEGEN_IN_QD0)) emit_table(e, "in_qd0", t->qd0, n, true);
  if (any_length(code, PSDMP_CODEGEN_IN_Q)) emit_table(e, "in_q", t->q, n, true);
  if (any_length(code, PSDMP_CODEGEN_IN_QD)) emit_table(e, "in_qd", t->qd, n, true);
  if (any_length(code, PSDMP_CODEGEN_IN_QDD)) emit_table(e, "in_qdd", t->qdd, n, true);
  for (int k = 0; k < 7; k++)
    if (any_length(code, (psdmp_codegen_block)(PSDMP_CODEGEN_IN_DQ + k))) {
      char name[16];
      snprintf(name, sizeof name, "in_%s", psdmp_emit_block_names[PSDMP_CODEGEN_IN_DQ + k]);
      emit_table(e, name, t->small[k], n, true);
    }
  if (any_length(code, PSDMP_CODEGEN_IN_Z)) emit_table(e, "in_z", t->z, code->friction.drag.states, true);
  for (int k = 0; k < 2 && any_length(code, PSDMP_CODEGEN_IN_SINE); k++) {
    for (int i = 0; i < STATES * n; i++) turned[i] = k ? cos(t->q[i]) : sin(t->q[i]);
    emit_table(e, k ? "in_c" : "in_s", turned, n, true);
  }
}

/* Gravity, bias and derivatives may all but vanish beside the terms that they are sums of: the tolerance is a share
 * of the largest torque, as in check.c. */
static bool beside_torques(const psdmp_codegen_program *p) {
  if (p->function >= PSDM_F_CORIOLIS && p->function < PSDM_F_FRICTION) return p->function != PSDM_F_CARTESIAN_JACOBIAN;
  return p->function == PSDM_F_GRAVITY || p->function == PSDM_F_BIAS || p->function == PSDM_F_LINEARIZE_INVERSE ||
         p->function == PSDM_F_LINEARIZE_FORWARD;
}

static bool named_scale(const psdmp_codegen_program *p) {
  return beside_torques(p) && !psdmp_codegen_inverts(p->function);
}

/* whether some test compares numbers with the largest expected one */
static bool needs_largest(const psdm_code *code) {
  if (code->loop) return true;
  for (int k = 0; k < code->programs; k++)
    if (!named_scale(&code->program[k]) &&
        (!psdmp_codegen_inverts(code->program[k].function) || code->options.target != PSDM_CODE_C))
      return true;
  return false;
}

/* whether some test compares numbers with numbers */
static bool compares(const psdm_code *code) {
  if (code->loop) return true;
  for (int k = 0; k < code->programs; k++)
    if (!psdmp_codegen_inverts(code->program[k].function)) return true;
  return code->options.target != PSDM_CODE_C;
}

static void emit_comparison(psdmp_emit_writer *e) {
  psdmp_emit_say(e, "\n/* largest |got - expected|, and a nan that stays */\n"
                    "static double difference(double so_far, const ` *got, const double *expected, int count) {\n"
                    "  for (int i = 0; i < count; i++) {\n    const double d = fabs((double)got[i] - expected[i]);\n"
                    "    if (so_far == so_far && !(d <= so_far)) so_far = d;\n  }\n  return so_far;\n}\n\n");
  if (needs_largest(e->code))
    psdmp_emit_say(
        e,
        "static double largest(const double *x, int count) {\n  double most = 0;\n  for (int i = 0; i < count; i++)\n"
        "    if (fabs(x[i]) > most) most = fabs(x[i]);\n  return most > 0 ? most : 1;\n}\n\n");
}

static void emit_tools(psdmp_emit_writer *e) {
  if (compares(e->code)) emit_comparison(e);
  psdmp_emit_say(e, "static int report(const char *name, double error, double scale) {\n  const int bad = !(error <= "
                    "TOLERANCE*scale);\n"
                    "  printf(\"%%-24s error %%.1e of %%.3g%%s\\n\", name, error, scale, bad ? \"  WRONG\" : \"\");\n  "
                    "return bad;\n}\n\n");
}

/* what errors are compared with: the largest expected number, or the largest torque */
static void emit_scale(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  if (named_scale(p)) psdmp_emit_say(e, "SCALE_OF_%s", p->name);
  else psdmp_emit_say(e, "largest(out_%s[0], STATES*%d)", p->name, (int)p->outputs);
}

/* results stand one behind the other in one array */
static void emit_call(psdmp_emit_writer *e, const psdmp_codegen_program *p, const char *suffix, const char *before,
                      const char *after, const char *result) {
  psdmp_emit_say(e, "@%s%s(%s", p->name, suffix, suffix[0] ? "(size_t)count, " : "");
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    bool shared = psdmp_emit_block_shared((psdmp_codegen_block)b);
    if (b == PSDMP_CODEGEN_IN_P) psdm_output_text(e->out, "p, ");
    else if (b == PSDMP_CODEGEN_IN_TAU && before[0] == 'i')
      psdm_output_print(e->out, "tau_of_%s%s, ", p->name, after); /* not every function has the wrench in it */
    else psdm_output_print(e->out, "%s%s%s, ", shared ? "in_" : before, psdmp_emit_block_names[b], shared ? "" : after);
  }
  psdm_output_text(e->out, result);
  for (int r = 1; r < p->results; r++)
    psdm_output_print(e->out, ", %s + %d%s", result, p->result[r].first, suffix[0] ? "*count" : "");
  psdm_output_text(e->out, ");\n");
}

/* closed loops: p of state i; where there is none, results are nan */
static void emit_walk(psdmp_emit_writer *e) {
  if (e->code->loop) psdmp_emit_say(e, "` p[$PASSIVES];\n    @walk(in_q[i], p);\n    ");
}

/* got against expected, state by state */
static void emit_plain_test(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int count = (int)p->outputs;
  bool energy = p->function == PSDM_F_ENERGY; /* potential energy counts from anywhere: from state 0 */
  psdmp_emit_say(e, "static int test_%s(void) {\n  double error = 0;\n", p->name);
  if (energy) psdmp_emit_say(e, "  double from = 0;\n");
  psdmp_emit_say(e, "  for (int i = 0; i < STATES; i++) {\n    ` got[%d];\n    ", count);
  emit_walk(e);
  emit_call(e, p, "", "in_", "[i]", "got");
  if (energy)
    psdmp_emit_say(
        e, "    if (i == 0) from = out_energy[0][1] - (double)got[1];\n    got[1] = (`)((double)got[1] + from);\n");
  psdmp_emit_say(e, "    error = difference(error, got, out_%s[i], %d);\n  }\n", p->name, count);
  psdmp_emit_say(e, "  return report(\"%s\", error, ", p->name);
  emit_scale(e, p);
  psdmp_emit_say(e, ");\n}\n\n");
}

/* results of M^-1 are judged by the torques that their errors amount to, column by column; an inverse may also lose
 * what M's condition takes */
static void emit_inverting_test(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int n = e->code->robot->n, count = (int)p->outputs, columns = p->function == PSDM_F_FORWARD ? 1 : n;
  psdmp_emit_say(e,
                 "/* judged by the torques that errors amount to */\nstatic int test_%s(void) {\n  double worst = 0;\n",
                 p->name);
  psdmp_emit_say(e, "  for (int m = 0; m < %d; m++) {\n    double error = 0, scale = 0;\n", p->results);
  psdmp_emit_say(e, "    for (int i = 0; i < STATES; i++) {\n      ` got[%d];\n      ", count);
  emit_walk(e);
  emit_call(e, p, "", "in_", "[i]", "got");
  psdmp_emit_say(
      e,
      "      for (int j = 0; j < %d; j++)\n        for (int c = 0; c < %d; c++) {\n          double d = 0, all = 0;\n",
      n, columns);
  psdmp_emit_say(e, "          for (int k = 0; k < %d; k++) {\n            const int at = %d*m + %d*k + c;\n", n,
                 n * columns, columns);
  psdmp_emit_say(e, "            d += mass_of_%s[i][%d*j + k]*((double)got[at] - out_%s[i][at]);\n", p->name, n,
                 p->name);
  psdmp_emit_say(e, "            all += mass_of_%s[i][%d*j + k]*out_%s[i][at];\n          }\n", p->name, n, p->name);
  psdmp_emit_say(e, "          if (error == error && !(fabs(d) <= error)) error = fabs(d);\n          if (fabs(all) > "
                    "scale) scale = fabs(all);\n        }\n    }\n");
  if (columns == 1)
    psdmp_emit_say(e,
                   "    for (int i = 0; i < STATES; i++)\n      for (int j = 0; j < %d; j++)\n        if "
                   "(fabs((double)tau_of_%s[i][j]) > scale) scale = fabs((double)tau_of_%s[i][j]);\n",
                   n, p->name, p->name);
  if (p->function == PSDM_F_LINEARIZE_FORWARD)
    psdmp_emit_say(e, "    if (m < 2 && scale < SCALE_OF_%s) scale = SCALE_OF_%s;\n", p->name, p->name);
  psdmp_emit_say(
      e, "    if (scale > 0) error /= scale;\n    if (worst == worst && !(error <= worst)) worst = error;\n  }\n");
  psdmp_emit_say(e, "  return report(\"%s\", worst, %s);\n}\n\n", p->name, columns == 1 ? "1" : "CONDITION");
}

static double largest(const double *x, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* |M| |M^-1| in the largest entries, times n */
static double condition(const double *M, const double *Minv, int n) {
  return n * largest(M, n * n) * largest(Minv, n * n);
}

/* A GPU rounds otherwise than the processor: two roundings of qdd = M^-1 (tau - bias) differ by M's condition, and
 * by M^-1 tau, which the bias may all but cancel; of the same size as the largest result. */
static double spread(const psdmp_codegen_trial *t, const psdmp_codegen_program *p, const double *tau, const double *M,
                     const double *Minv) {
  int n = t->code->robot->n;
  double most = largest(t->qdd, STATES * n);
  return condition(M, Minv, n) +
         (p->function == PSDM_F_FORWARD && most > 0 ? n * largest(Minv, n * n) * largest(tau, n) / most : 0);
}

/* torques of the states, their mass matrices, and M's condition */
static psdm_status emit_inverting_tables(psdmp_emit_writer *e, psdmp_codegen_trial *t, const psdmp_codegen_program *p) {
  int n = e->code->robot->n;
  char name[64];
  bool cuda = e->code->options.target == PSDM_CODE_CUDA;
  double *tau = PSDMP_BASE_NEW(t->arena, STATES * n, double), *M = PSDMP_BASE_NEW(t->arena, STATES * n * n, double),
         *Minv = PSDMP_BASE_NEW(t->arena, n * n, double), worst = 1, widest = 1;
  psdm_status status = tau && M && Minv ? PSDM_OK : PSDM_E_MEMORY;
  for (int s = 0; s < STATES && !status; s++) {
    status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_INVERSE, s, tau + s * n);
    if (!status) status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_MASS, s, M + s * n * n);
    if (!status && (cuda || p->function != PSDM_F_FORWARD))
      status = psdmp_codegen_trial_linearized(t, NULL, PSDM_F_INVERSE_MASS, s, Minv);
    worst = fmax(worst, condition(M + s * n * n, Minv, n));
    widest = fmax(widest, spread(t, p, tau + s * n, M + s * n * n, Minv));
  }
  if (status) return status;
  snprintf(name, sizeof name, "tau_of_%s", p->name);
  if (p->length[PSDMP_CODEGEN_IN_TAU]) emit_table(e, name, tau, n, true);
  snprintf(name, sizeof name, "mass_of_%s", p->name);
  emit_table(e, name, M, n * n, false);
  if (p->function != PSDM_F_FORWARD && !t->conditioned)
    psdmp_emit_say(e, "#define CONDITION %.3g /* of the mass matrices */\n", worst);
  t->conditioned |= p->function != PSDM_F_FORWARD;
  if (cuda)
    psdmp_emit_say(e, "#define SPREAD_OF_%s %.3g /* what two roundings may differ by, as a multiple of one */\n",
                   p->name, widest);
  return PSDM_OK;
}

/* the batch against the scalar function, at more states than lanes: the states over and over */
static void emit_batch_test(psdmp_emit_writer *e, const psdmp_codegen_program *p) {
  int count = (int)p->outputs;
  bool cuda = e->code->options.target == PSDM_CODE_CUDA;
  psdmp_emit_say(e, "static int test_%s_batch(int count) {\n  static ` many[%d*BATCH];\n", p->name, count);
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++)
    if (p->length[b] && !psdmp_emit_block_shared((psdmp_codegen_block)b))
      psdmp_emit_say(e, "  static ` many_%s[%d*BATCH];\n", psdmp_emit_block_names[b], p->length[b]);
  psdmp_emit_say(e, "  double error = 0;\n");
  for (int b = 0; b < PSDMP_CODEGEN_IN_COUNT; b++) {
    if (!p->length[b] || psdmp_emit_block_shared((psdmp_codegen_block)b)) continue;
    psdmp_emit_say(e,
                   "  for (int i = 0; i < count; i++)\n    for (int k = 0; k < %d; k++) many_%s[k*count + i] = %s%s[i "
                   "%% STATES][k];\n",
                   p->length[b], psdmp_emit_block_names[b], b == PSDMP_CODEGEN_IN_TAU ? "tau_of_" : "in_",
                   b == PSDMP_CODEGEN_IN_TAU ? p->name : psdmp_emit_block_names[b]);
  }
  psdmp_emit_say(e, cuda ? "  const int code = " : "  ");
  emit_call(e, p, cuda ? "_batch_host" : "_batch", "many_", "", "many");
  if (cuda)
    psdmp_emit_say(e, "  if (code) {\n    printf(\"%s_batch: %%s  WRONG\\n\", @cuda_text(code));\n    return 1;\n  }\n",
                   p->name);
  psdmp_emit_say(e, "  for (int i = 0; i < count; i++) {\n    ` got[%d];\n    const int j = i %% STATES;\n    ", count);
  emit_call(e, p, "", "in_", "[j]", "got");
  psdmp_emit_say(e,
                 "    for (int k = 0; k < %d; k++) {\n      const double one = (double)got[k];\n      error = "
                 "difference(error, many + k*count + i, &one, 1);\n    }\n  }\n",
                 count);
  psdmp_emit_say(e, "  return report(\"%s_batch\", error, ", p->name);
  emit_scale(e, p);
  if (cuda && psdmp_codegen_inverts(p->function)) psdmp_emit_say(e, "*SPREAD_OF_%s", p->name);
  psdmp_emit_say(e, ");\n}\n\n");
}

/* of the passive joints */
static double smallest_unit(const psdmp_emit_writer *e) {
  double least = 1;
  for (int k = 0; k < e->code->loop->passives; k++) least = fmin(least, e->code->loop->unit[e->code->robot->n + k]);
  return least;
}

/* closed loops: the passive joints from the file's position, and from near by; a position that does not exist */
static void emit_loop_test(psdmp_emit_writer *e, const psdmp_codegen_trial *t) {
  char near[40];
  if (!e->code->loop) return;
  emit_table(e, "out_p", t->p, e->code->loop->passives, false);
  psdmp_emit_say(e,
                 "static int test_loops(void) {\n  double error = 0;\n  int wrong = 0;\n"
                 "  for (int i = 0; i < STATES; i++) {\n    ` p[$PASSIVES], q[$N];\n"
                 "    wrong += @walk(in_q[i], p) != $OK;\n"
                 "    error = difference(error, p, out_p[i], $PASSIVES);\n"
                 "    for (int k = 0; k < $PASSIVES; k++) p[k] += (`)%s;\n"
                 "    wrong += @close(in_q[i], p) != $OK;\n",
                 psdmp_emit_literal(e, 0.01 * smallest_unit(e), near));
  psdmp_emit_say(e, "    error = difference(error, p, out_p[i], $PASSIVES);\n"
                    "    for (int k = 0; k < $N; k++) q[k] = (`)NAN;\n"
                    "    wrong += @close(q, p) == $OK || @walk(q, p) == $OK;\n"
                    "    error = difference(error, p, out_p[i], $PASSIVES); /* left as it was */\n  }\n"
                    "  wrong += report(\"loops\", error, largest(out_p[0], STATES*$PASSIVES));\n"
                    "  return wrong;\n}\n\n");
}

/* CUDA: a number of states that threads share out in fours, and one that they do not */
static void emit_main(psdmp_emit_writer *e) {
  bool simd = e->code->options.target == PSDM_CODE_SIMD, cuda = e->code->options.target == PSDM_CODE_CUDA;
  psdm_output_text(e->out, "int main(void) {\n  int wrong = 0;\n");
  if (e->code->loop) psdm_output_text(e->out, "  wrong += test_loops();\n");
  for (int k = 0; k < e->code->programs; k++) psdmp_emit_say(e, "  wrong += test_%s();\n", e->code->program[k].name);
  for (int k = 0; k < e->code->programs && simd; k++)
    psdmp_emit_say(e, "  wrong += test_%s_batch(BATCH);\n", e->code->program[k].name);
  if (cuda)
    psdmp_emit_say(e, "  if (!@cuda_devices()) {\n    printf(\"SKIPPED: no GPU that CUDA can use was found; the "
                      "functions of single states were tested\\n\");\n    return wrong ? 1 : 77;\n  }\n");
  for (int k = 0; k < e->code->programs && cuda; k++)
    psdmp_emit_say(e, "  wrong += test_%s_batch(BATCH);\n  wrong += test_%s_batch(37);\n", e->code->program[k].name,
                   e->code->program[k].name);
  psdm_output_text(e->out, "  return wrong > 0;\n}\n");
}

static psdm_status emit_torque(psdmp_emit_writer *e, psdmp_codegen_trial *t, const psdmp_codegen_program *p,
                               const double *out) {
  int n = e->code->robot->n;
  bool inverts = psdmp_codegen_inverts(p->function), divides = psdmp_codegen_divides(p->function);
  double *tau = PSDMP_BASE_NEW(t->arena, n, double), most = inverts ? 0 : largest(out, STATES * (int)p->outputs),
         condition = 1;
  psdm_status status = tau ? PSDM_OK : PSDM_E_MEMORY;
  for (int s = 0; s < STATES && !status; s++) {
    double here = 1;
    status = psdmp_codegen_trial_evaluate(t, p, PSDM_F_INVERSE, s, tau);
    if (!status && !divides) most = fmax(most, largest(tau, n));
    if (!status && divides) status = psdmp_codegen_trial_condition(t, p, s, &here);
    condition = fmax(condition, here);
  }
  if (p->function == PSDM_F_CARTESIAN_NULL_SPACE) most = fmax(most, 1); /* of the identity */
  if (status) return status;
  if (divides)
    psdmp_emit_say(e, "#define SCALE_OF_%s (%.3g*%.3g) /* the largest of these, and the condition of what divides */\n",
                   p->name, most > 0 ? most : 1, condition);
  else
    psdmp_emit_say(e, "#define SCALE_OF_%s %.3g /* the largest %s */\n", p->name, most > 0 ? most : 1,
                   inverts ? "torque" : "of these and of the torques");
  return PSDM_OK;
}

static psdm_status emit_program(psdmp_emit_writer *e, psdmp_codegen_trial *t, const psdmp_codegen_program *p) {
  char name[64];
  int count = (int)p->outputs;
  double *out = PSDMP_BASE_NEW(t->arena, STATES * count, double);
  psdm_status status = out ? psdmp_codegen_trial_expect(t, p, out) : PSDM_E_MEMORY;
  if (status) return status;
  snprintf(name, sizeof name, "out_%s", p->name);
  emit_table(e, name, out, count, false);
  if (p->length[PSDMP_CODEGEN_IN_TAU] && !psdmp_codegen_inverts(p->function)) {
    snprintf(name, sizeof name, "tau_of_%s", p->name);
    emit_table(e, name, t->tau, e->code->robot->n, true);
  }
  if (psdmp_codegen_inverts(p->function)) status = emit_inverting_tables(e, t, p);
  if (!status && beside_torques(p)) status = emit_torque(e, t, p, out);
  return status;
}

/* 1e-13, or a power of ten that leaves a digit above what was measured when the programs were made: compilers round
 * otherwise */
static char *tolerance_text(const psdmp_emit_writer *e, char text[24]) {
  double worst = 0;
  int power = e->code->loop ? -12 : -13; /* where loops close is rounded, too */
  for (int k = 0; k < e->code->programs; k++) worst = fmax(worst, e->code->program[k].error);
  while (power < -9 && pow(10, power) < 10 * worst) power++;
  snprintf(text, 24, "1e%d", e->single ? -5 : power);
  return text;
}

psdm_status psdmp_emit_selftest(psdmp_emit_writer *e, psdmp_base_arena *arena, psdm_error *error) {
  const psdm_code *code = e->code;
  psdmp_codegen_trial t;
  char tolerance[24];
  psdm_status status = psdmp_codegen_trial_new(code, arena, &t, error);
  if (status) return status;
  psdmp_emit_banner(
      e, "Self-test: the generated functions beside numbers from libpsdm's recursions. Exit 0 when all agree.");
  psdmp_emit_say(e,
                 "#include <math.h>\n#include <stdio.h>\n\n#include \"%s.h\"\n\nenum { STATES = %d%s };\n#define "
                 "TOLERANCE %s /* of the largest number */\n\n",
                 e->prefix, STATES,
                 code->options.target == PSDM_CODE_SIMD   ? ", BATCH = 37"
                 : code->options.target == PSDM_CODE_CUDA ? ", BATCH = 64"
                                                          : "",
                 tolerance_text(e, tolerance));
  emit_inputs(e, &t);
  for (int k = 0; k < code->programs && !status; k++) status = emit_program(e, &t, &code->program[k]);
  if (status) {
    psdmp_base_fail(error, status, code->robot->file, 0, 0, "%s while computing the self-test",
                    psdm_status_text(status));
    goto done;
  }
  emit_tools(e);
  for (int k = 0; k < code->programs; k++)
    (psdmp_codegen_inverts(code->program[k].function) ? emit_inverting_test : emit_plain_test)(e, &code->program[k]);
  for (int k = 0; k < code->programs && code->options.target != PSDM_CODE_C; k++) emit_batch_test(e, &code->program[k]);
  emit_loop_test(e, &t);
  emit_main(e);
done:
  psdmp_codegen_trial_free(&t);
  return status;
}
