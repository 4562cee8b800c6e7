/* selftest.c: a program beside the generated code that runs every function at a few states and compares with what the library's recursions,
 * which share nothing with the generator, gave for them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codegen/emit.h"
#include "derive/collect.h"
#include "linalg/linalg.h"
#include "model/model_priv.h"
#include "psdm/eval.h"
#include "psdm/linearize.h"
#include "robot/robot_priv.h"

enum { STATES = 8, PER_LINE = 6 };

#define NEW(arena, count, type) ((type *)psdmp_arena_alloc(arena, (size_t)((count) > 0 ? (count) : 1) * sizeof(type)))

/* What goes in, and the robot that says what must come out. */
typedef struct trial {
  psdmp_arena *arena;
  const psdm_code *code;
  psdm_robot robot;                 /* a copy whose gravity and inertias are ours */
  psdm_work *work;
  psdm_linear *linear;
  double *pi, *theta;               /* standard and base parameters */
  double gravity[3], payload[10], wrench[6];
  double *q, *qd, *qdd;             /* (STATES x n) */
  double *state, *scratch;          /* (3 n) in psdm_eval's order, then (3 n n) */
  bool conditioned;                 /* CONDITION has been written */
} trial;

/* ---- numbers ---- */

/* uniform in [-1, 1) and then on a grid of 1/64, which float and short text hold exactly */
static double coarse(uint64_t *seed, double range) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return floor(64 * range * ((double)(*seed >> 11) * 0x1p-52 - 1)) / 64;
}

static void set_states(trial *t) {
  uint64_t seed = 2021;
  int count = STATES * t->code->robot->n;
  for (int i = 0; i < count; i++) t->q[i] = coarse(&seed, 3);
  for (int i = 0; i < count; i++) t->qd[i] = coarse(&seed, 2);
  for (int i = 0; i < count; i++) t->qdd[i] = coarse(&seed, 4);
  for (int i = 0; i < 3; i++) t->gravity[i] = coarse(&seed, 10);
  for (int i = 0; i < 6; i++) t->wrench[i] = coarse(&seed, 20);
  /* a body of 2.5 kg */
  static const double payload[10] = {2.5, 0.125, -0.0625, 0.25, 0.125, 0.015625, -0.03125, 0.15625, 0.0078125, 0.09375};
  memcpy(t->payload, payload, sizeof payload);
}

/* bodies that could be: mass, a centre near the frame, inertias of similar size; assumptions of the file are kept by its own sampler */
static psdm_status random_parameters(trial *t, psdm_error *error) {
  const psdm_robot *r = t->code->robot;
  uint64_t seed = 7;
  if (r->assumptions) return psdmp_sample_assumed(r, NULL, seed, t->arena, t->pi, error);
  for (int k = 0; k < r->bodies; k++) {
    double com[3], inertia[6];
    for (int i = 0; i < 3; i++) com[i] = coarse(&seed, 0.2);
    for (int i = 0; i < 6; i++) inertia[i] = i == 0 || i == 3 || i == 5 ? 0.5 + coarse(&seed, 0.2) : coarse(&seed, 0.1);
    psdmp_standard_from_body(3 + coarse(&seed, 2), com, inertia, t->pi + 10 * k);
  }
  for (int d = 0; d < r->drives; d++) t->pi[10 * r->bodies + d] = 0.5 + coarse(&seed, 0.25);
  return PSDM_OK;
}

/* the robot's own; or, where only base parameters are known, those with everything regrouped at zero, which move alike; or random ones */
static psdm_status set_parameters(trial *t, psdm_error *error) {
  const psdm_code *code = t->code;
  const psdm_model *m = code->model;
  psdm_status status = PSDM_OK;
  if (psdm_robot_ready(code->robot, NULL) == PSDM_OK) {
    psdm_robot_parameters(code->robot, t->pi);
  } else if (code->theta) {
    for (int j = 0; j < m->l; j++) t->pi[m->base[j].parameter] = code->theta[j];
  } else {
    status = random_parameters(t, error);
  }
  psdm_model_theta(m, t->pi, t->theta);
  return status;
}

/* ---- the robot ---- */

static void *duplicate(psdmp_arena *arena, const void *from, size_t bytes) {
  void *copy = from ? psdmp_arena_alloc(arena, bytes + 1) : NULL;
  if (copy) memcpy(copy, from, bytes);
  return copy;
}

/* a copy that shares no number that gravity or inertias change */
static bool copy_robot(trial *t) {
  const psdm_robot *r = t->code->robot;
  psdm_robot *c = &t->robot;
  size_t n = (size_t)r->n, bodies = (size_t)r->bodies;
  if (!psdmp_robot_copy(r, t->arena, c)) return false;
  c->pi = duplicate(t->arena, r->pi, 10 * bodies * sizeof *r->pi);
  c->drive = duplicate(t->arena, r->drive, (size_t)r->drives * sizeof *r->drive);
  c->body_drive = duplicate(t->arena, r->body_drive, bodies * sizeof *r->body_drive);
  c->drive_mass = duplicate(t->arena, r->drive_mass, n * n * sizeof *r->drive_mass);
  return c->pi && (c->drive || !r->drive) && (c->body_drive || !r->body_drive) && (c->drive_mass || !r->drive_mass);
}

/* gravity and payload as one function has them */
static void dress(trial *t, const psdmp_program *p) {
  const psdm_robot *r = t->code->robot;
  int body = r->link[r->last].body;
  psdm_robot_set_parameters(&t->robot, t->pi);
  memcpy(t->robot.gravity, p->length[PSDMP_IN_GRAVITY] ? t->gravity : r->gravity, sizeof t->robot.gravity);
  if (!p->length[PSDMP_IN_PAYLOAD] || body < 0) return;
  double moved[10];
  psdmp_standard_move(&r->link[r->last].frame, t->payload, moved);
  for (int i = 0; i < 10; i++) t->robot.body[body].pi[i] += moved[i];
  psdmp_robot_reduce(&t->robot);
}

static psdm_status evaluate(trial *t, const psdmp_program *p, psdm_function f, int s, double *out) {
  int n = t->code->robot->n;
  psdm_wrench wrench = {.joint = t->code->robot->last};
  memcpy(wrench.force, t->wrench, sizeof wrench.force);
  memcpy(wrench.moment, t->wrench + 3, sizeof wrench.moment);
  psdm_eval_options options = {.link = t->code->options.link, .wrench_count = p->length[PSDMP_IN_WRENCH] > 0, .wrenches = &wrench, .model = t->code->model, .expanded = t->code->given, .theta = t->theta, .scratch = t->scratch};
  memcpy(t->state, t->q + s * n, sizeof *t->q * (size_t)n);
  memcpy(t->state + n, t->qd + s * n, sizeof *t->q * (size_t)n);
  memcpy(t->state + 2 * n, t->qdd + s * n, sizeof *t->q * (size_t)n);
  return psdm_eval(&t->robot, t->work, f, &options, t->state, out);
}

static double sign(double x) { return (x > 0) - (x < 0); }

/* base columns spread to the full width, with friction and drives behind them */
static void widen_regressor(const trial *t, int s, double *Y, int columns) {
  const psdm_code_options *o = &t->code->options;
  int n = t->code->robot->n, l = psdm_model_l(t->code->model);
  for (int i = n - 1; i >= 0; i--) {
    memmove(Y + i * columns, Y + i * l, sizeof *Y * (size_t)l);
    memset(Y + i * columns + l, 0, sizeof *Y * (size_t)(columns - l));
    double *at = Y + i * columns + l + i;
    if (o->friction_columns) {
      at[0] = sign(t->qd[s * n + i]);
      at[n] = t->qd[s * n + i];
      at += 2 * n;
    }
    if (o->drive_columns) at[0] = t->qdd[s * n + i];
  }
}

/* functions that invert M: their errors are judged by the torques that they amount to */
static bool inverts(psdm_code_function f) { return f == PSDM_CODE_FORWARD || f == PSDM_CODE_LINEARIZE_FORWARD || f == PSDM_CODE_INVERSE_MASS; }

static psdm_status linearized(trial *t, psdm_code_function f, int s, double *out) {
  int n = t->code->robot->n;
  const double *q = t->q + s * n, *qd = t->qd + s * n, *qdd = t->qdd + s * n;
  if (f == PSDM_CODE_LINEARIZE_INVERSE) return psdm_linearize_inverse(&t->robot, t->linear, q, qd, qdd, out, out + n * n, out + 2 * n * n);
  double *dq = t->state + 3 * n, *dqd = dq + n * n, *M = dqd + n * n, *Minv = f == PSDM_CODE_INVERSE_MASS ? out : out + 2 * n * n;
  psdm_status status = psdm_linearize_inverse(&t->robot, t->linear, q, qd, qdd, dq, dqd, M);
  /* with pivots: random parameters need not be those of bodies, nor M positive definite */
  if (!status && !psdmp_invert(n, M, Minv)) status = PSDM_E_SINGULAR;
  for (int i = 0; i < n * n && !status && Minv != out; i++) {
    out[i] = out[n * n + i] = 0;
    for (int k = 0; k < n; k++) {
      out[i] -= Minv[i / n * n + k] * dq[k * n + i % n];
      out[n * n + i] -= Minv[i / n * n + k] * dqd[k * n + i % n];
    }
  }
  return status;
}

/* what a function gives at every state, (STATES x outputs); forward's is the qdd that its torques were made from */
static psdm_status expect(trial *t, const psdmp_program *p, double *out) {
  int n = t->code->robot->n, count = (int)p->outputs;
  psdm_function f;
  psdm_status status = PSDM_OK;
  dress(t, p);
  if (p->function == PSDM_CODE_FORWARD) {
    memcpy(out, t->qdd, sizeof *out * (size_t)(STATES * n));
    return PSDM_OK;
  }
  for (int s = 0; s < STATES && !status && p->function > PSDM_CODE_POSE; s++) status = linearized(t, p->function, s, out + s * count);
  if (p->function > PSDM_CODE_POSE) return status;
  psdm_function_find(p->name, &f);
  for (int s = 0; s < STATES && !status; s++) {
    status = evaluate(t, p, f, s, out + s * count);
    if (p->function == PSDM_CODE_REGRESSOR && n) widen_regressor(t, s, out + s * count, count / n);
  }
  return status;
}

/* ---- text ---- */

static void emit_numbers(psdmp_writer *e, const double *x, int count, bool real) {
  char text[40];
  for (int i = 0; i < count; i++) {
    if (i) psdm_output_text(e->out, i % PER_LINE ? ", " : ",\n   ");
    if (!real) psdmp_format_short(x[i], text);
    psdm_output_text(e->out, real ? psdmp_literal(e, x[i], text) : text);
  }
}

/* a table with a row for each state; real: an argument, in the code's own precision */
static void emit_table(psdmp_writer *e, const char *name, const double *x, int columns, bool real) {
  psdmp_say(e, "static const %s %s[STATES][%d] = {\n", real ? "`" : "double", name, columns);
  for (int s = 0; s < STATES; s++) {
    psdm_output_text(e->out, "  {");
    emit_numbers(e, x + s * columns, columns, real);
    psdm_output_text(e->out, s + 1 < STATES ? "},\n" : "}};\n");
  }
}

static void emit_list(psdmp_writer *e, const char *name, const double *x, int count) {
  psdmp_say(e, "static const ` in_%s[%d] = {", name, count);
  emit_numbers(e, x, count, true);
  psdm_output_text(e->out, "};\n");
}

static bool any_length(const psdm_code *code, psdmp_block block) {
  for (int k = 0; k < code->programs; k++)
    if (code->program[k].length[block]) return true;
  return false;
}

static void emit_inputs(psdmp_writer *e, const trial *t) {
  const psdm_code *code = e->code;
  int n = code->robot->n;
  double *turned = t->scratch;
  if (any_length(code, PSDMP_IN_THETA)) emit_list(e, "theta", t->theta, psdm_model_l(code->model));
  if (any_length(code, PSDMP_IN_GRAVITY)) emit_list(e, "gravity", t->gravity, 3);
  if (any_length(code, PSDMP_IN_PAYLOAD)) emit_list(e, "payload", t->payload, 10);
  if (any_length(code, PSDMP_IN_WRENCH)) emit_list(e, "wrench", t->wrench, 6);
  if (any_length(code, PSDMP_IN_Q)) emit_table(e, "in_q", t->q, n, true);
  if (any_length(code, PSDMP_IN_QD)) emit_table(e, "in_qd", t->qd, n, true);
  if (any_length(code, PSDMP_IN_QDD)) emit_table(e, "in_qdd", t->qdd, n, true);
  for (int k = 0; k < 2 && any_length(code, PSDMP_IN_SINE); k++) {
    for (int i = 0; i < STATES * n; i++) turned[i] = k ? cos(t->q[i]) : sin(t->q[i]);
    emit_table(e, k ? "in_c" : "in_s", turned, n, true);
  }
}

/* whether some test compares numbers with numbers */
static bool compares(const psdm_code *code) {
  for (int k = 0; k < code->programs; k++)
    if (!inverts(code->program[k].function)) return true;
  return code->options.target != PSDM_CODE_C;
}

static void emit_comparison(psdmp_writer *e) {
  psdmp_say(e, "\n/* largest |got - expected|, and a nan that stays */\n"
               "static double difference(double so_far, const ` *got, const double *expected, int count) {\n"
               "  for (int i = 0; i < count; i++) {\n    const double d = fabs((double)got[i] - expected[i]);\n"
               "    if (so_far == so_far && !(d <= so_far)) so_far = d;\n  }\n  return so_far;\n}\n\n");
  psdmp_say(e, "static double largest(const double *x, int count) {\n  double most = 0;\n  for (int i = 0; i < count; i++)\n"
               "    if (fabs(x[i]) > most) most = fabs(x[i]);\n  return most > 0 ? most : 1;\n}\n\n");
}

static void emit_tools(psdmp_writer *e) {
  if (compares(e->code)) emit_comparison(e);
  psdmp_say(e, "static int report(const char *name, double error, double scale) {\n  const int bad = !(error <= TOLERANCE*scale);\n"
               "  printf(\"%%-24s error %%.1e of %%.3g%%s\\n\", name, error, scale, bad ? \"  WRONG\" : \"\");\n  return bad;\n}\n\n");
}

/* results stand one behind the other in one array */
static void emit_call(psdmp_writer *e, const psdmp_program *p, const char *suffix, const char *before, const char *after, const char *result) {
  psdmp_say(e, "@%s%s(%s", p->name, suffix, suffix[0] ? "(size_t)count, " : "");
  for (int b = 0; b < PSDMP_IN_COUNT; b++) {
    if (!p->length[b]) continue;
    bool shared = psdmp_block_shared((psdmp_block)b);
    if (b == PSDMP_IN_TAU && before[0] == 'i')
      psdm_output_print(e->out, "tau_of_%s%s, ", p->name, after); /* not every function has the wrench in it */
    else
      psdm_output_print(e->out, "%s%s%s, ", shared ? "in_" : before, psdmp_block_names[b], shared ? "" : after);
  }
  psdm_output_text(e->out, result);
  for (int r = 1; r < p->results; r++) psdm_output_print(e->out, ", %s + %d%s", result, p->result[r].first, suffix[0] ? "*count" : "");
  psdm_output_text(e->out, ");\n");
}

/* got against expected, state by state */
static void emit_plain_test(psdmp_writer *e, const psdmp_program *p) {
  int count = (int)p->outputs;
  bool energy = p->function == PSDM_CODE_ENERGY; /* potential energy counts from anywhere: from state 0 */
  psdmp_say(e, "static int test_%s(void) {\n  double error = 0;\n", p->name);
  if (energy) psdmp_say(e, "  double from = 0;\n");
  psdmp_say(e, "  for (int i = 0; i < STATES; i++) {\n    ` got[%d];\n    ", count);
  emit_call(e, p, "", "in_", "[i]", "got");
  if (energy) psdmp_say(e, "    if (i == 0) from = out_energy[0][1] - (double)got[1];\n    got[1] = (`)((double)got[1] + from);\n");
  psdmp_say(e, "    error = difference(error, got, out_%s[i], %d);\n  }\n", p->name, count);
  psdmp_say(e, "  return report(\"%s\", error, largest(out_%s[0], STATES*%d));\n}\n\n", p->name, p->name, count);
}

/* results of M^-1 are judged by the torques that their errors amount to, column by column; an inverse may also lose what M's condition takes */
static void emit_inverting_test(psdmp_writer *e, const psdmp_program *p) {
  int n = e->code->robot->n, count = (int)p->outputs, columns = p->function == PSDM_CODE_FORWARD ? 1 : n;
  psdmp_say(e, "/* judged by the torques that errors amount to */\nstatic int test_%s(void) {\n  double worst = 0;\n", p->name);
  psdmp_say(e, "  for (int m = 0; m < %d; m++) {\n    double error = 0, scale = 0;\n", p->results);
  psdmp_say(e, "    for (int i = 0; i < STATES; i++) {\n      ` got[%d];\n      ", count);
  emit_call(e, p, "", "in_", "[i]", "got");
  psdmp_say(e, "      for (int j = 0; j < %d; j++)\n        for (int c = 0; c < %d; c++) {\n          double d = 0, all = 0;\n", n, columns);
  psdmp_say(e, "          for (int k = 0; k < %d; k++) {\n            const int at = %d*m + %d*k + c;\n", n, n * columns, columns);
  psdmp_say(e, "            d += mass_of_%s[i][%d*j + k]*((double)got[at] - out_%s[i][at]);\n", p->name, n, p->name);
  psdmp_say(e, "            all += mass_of_%s[i][%d*j + k]*out_%s[i][at];\n          }\n", p->name, n, p->name);
  psdmp_say(e, "          if (error == error && !(fabs(d) <= error)) error = fabs(d);\n          if (fabs(all) > scale) scale = fabs(all);\n        }\n    }\n");
  if (columns == 1) psdmp_say(e, "    for (int i = 0; i < STATES; i++)\n      for (int j = 0; j < %d; j++)\n        if (fabs((double)tau_of_%s[i][j]) > scale) scale = fabs((double)tau_of_%s[i][j]);\n", n, p->name, p->name);
  psdmp_say(e, "    if (scale > 0) error /= scale;\n    if (worst == worst && !(error <= worst)) worst = error;\n  }\n");
  psdmp_say(e, "  return report(\"%s\", worst, %s);\n}\n\n", p->name, columns == 1 ? "1" : "CONDITION");
}

static double largest(const double *x, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  return most;
}

/* |M| |M^-1| in the largest entries, times n */
static double condition(const double *M, const double *Minv, int n) { return n * largest(M, n * n) * largest(Minv, n * n); }

/* A GPU rounds otherwise than the processor: two roundings of qdd = M^-1 (tau - bias) differ by M's condition, and by M^-1 tau, which the bias may
 * all but cancel; of the same size as the largest result. */
static double spread(const trial *t, const psdmp_program *p, const double *tau, const double *M, const double *Minv) {
  int n = t->code->robot->n;
  double most = largest(t->qdd, STATES * n);
  return condition(M, Minv, n) + (p->function == PSDM_CODE_FORWARD && most > 0 ? n * largest(Minv, n * n) * largest(tau, n) / most : 0);
}

/* torques of the states, their mass matrices, and M's condition */
static psdm_status emit_inverting_tables(psdmp_writer *e, trial *t, const psdmp_program *p) {
  int n = e->code->robot->n;
  char name[64];
  bool cuda = e->code->options.target == PSDM_CODE_CUDA;
  double *tau = NEW(t->arena, STATES * n, double), *M = NEW(t->arena, STATES * n * n, double), *Minv = NEW(t->arena, n * n, double), worst = 1, widest = 1;
  psdm_status status = tau && M && Minv ? PSDM_OK : PSDM_E_MEMORY;
  for (int s = 0; s < STATES && !status; s++) {
    status = evaluate(t, p, PSDM_F_INVERSE, s, tau + s * n);
    if (!status) status = evaluate(t, p, PSDM_F_MASS, s, M + s * n * n);
    if (!status && (cuda || p->function != PSDM_CODE_FORWARD)) status = linearized(t, PSDM_CODE_INVERSE_MASS, s, Minv);
    worst = fmax(worst, condition(M + s * n * n, Minv, n));
    widest = fmax(widest, spread(t, p, tau + s * n, M + s * n * n, Minv));
  }
  if (status) return status;
  snprintf(name, sizeof name, "tau_of_%s", p->name);
  if (p->length[PSDMP_IN_TAU]) emit_table(e, name, tau, n, true);
  snprintf(name, sizeof name, "mass_of_%s", p->name);
  emit_table(e, name, M, n * n, false);
  if (p->function != PSDM_CODE_FORWARD && !t->conditioned) psdmp_say(e, "#define CONDITION %.3g /* of the mass matrices */\n", worst);
  t->conditioned |= p->function != PSDM_CODE_FORWARD;
  if (cuda) psdmp_say(e, "#define SPREAD_OF_%s %.3g /* what two roundings may differ by, as a multiple of one */\n", p->name, widest);
  return PSDM_OK;
}

/* the batch against the scalar function, at more states than lanes: the states over and over */
static void emit_batch_test(psdmp_writer *e, const psdmp_program *p) {
  int count = (int)p->outputs;
  bool cuda = e->code->options.target == PSDM_CODE_CUDA;
  psdmp_say(e, "static int test_%s_batch(int count) {\n  static ` many[%d*BATCH];\n", p->name, count);
  for (int b = 0; b < PSDMP_IN_COUNT; b++)
    if (p->length[b] && !psdmp_block_shared((psdmp_block)b)) psdmp_say(e, "  static ` many_%s[%d*BATCH];\n", psdmp_block_names[b], p->length[b]);
  psdmp_say(e, "  double error = 0;\n");
  for (int b = 0; b < PSDMP_IN_COUNT; b++) {
    if (!p->length[b] || psdmp_block_shared((psdmp_block)b)) continue;
    psdmp_say(e, "  for (int i = 0; i < count; i++)\n    for (int k = 0; k < %d; k++) many_%s[k*count + i] = %s%s[i %% STATES][k];\n", p->length[b], psdmp_block_names[b],
              b == PSDMP_IN_TAU ? "tau_of_" : "in_", b == PSDMP_IN_TAU ? p->name : psdmp_block_names[b]);
  }
  psdmp_say(e, cuda ? "  const int code = " : "  ");
  emit_call(e, p, cuda ? "_batch_host" : "_batch", "many_", "", "many");
  if (cuda) psdmp_say(e, "  if (code) {\n    printf(\"%s_batch: %%s  WRONG\\n\", @cuda_text(code));\n    return 1;\n  }\n", p->name);
  psdmp_say(e, "  for (int i = 0; i < count; i++) {\n    ` got[%d];\n    const int j = i %% STATES;\n    ", count);
  emit_call(e, p, "", "in_", "[j]", "got");
  psdmp_say(e, "    for (int k = 0; k < %d; k++) {\n      const double one = (double)got[k];\n      error = difference(error, many + k*count + i, &one, 1);\n    }\n  }\n", count);
  psdmp_say(e, "  return report(\"%s_batch\", error, largest(out_%s[0], STATES*%d)", p->name, p->name, count);
  if (cuda && inverts(p->function)) psdmp_say(e, "*SPREAD_OF_%s", p->name);
  psdmp_say(e, ");\n}\n\n");
}

/* CUDA: a number of states that threads share out in fours, and one that they do not */
static void emit_main(psdmp_writer *e) {
  bool simd = e->code->options.target == PSDM_CODE_SIMD, cuda = e->code->options.target == PSDM_CODE_CUDA;
  psdm_output_text(e->out, "int main(void) {\n  int wrong = 0;\n");
  for (int k = 0; k < e->code->programs; k++) psdmp_say(e, "  wrong += test_%s();\n", e->code->program[k].name);
  for (int k = 0; k < e->code->programs && simd; k++) psdmp_say(e, "  wrong += test_%s_batch(BATCH);\n", e->code->program[k].name);
  if (cuda)
    psdmp_say(e, "  if (!@cuda_devices()) {\n    printf(\"SKIPPED: no GPU that CUDA can use is here; the functions of single states were tested\\n\");\n    return wrong ? 1 : 77;\n  }\n");
  for (int k = 0; k < e->code->programs && cuda; k++) psdmp_say(e, "  wrong += test_%s_batch(BATCH);\n  wrong += test_%s_batch(37);\n", e->code->program[k].name, e->code->program[k].name);
  psdm_output_text(e->out, "  return wrong > 0;\n}\n");
}

static psdm_status emit_program(psdmp_writer *e, trial *t, const psdmp_program *p) {
  char name[64];
  int count = (int)p->outputs;
  double *out = NEW(t->arena, STATES * count, double);
  psdm_status status = out ? expect(t, p, out) : PSDM_E_MEMORY;
  if (status) return status;
  snprintf(name, sizeof name, "out_%s", p->name);
  emit_table(e, name, out, count, false);
  if (inverts(p->function)) status = emit_inverting_tables(e, t, p);
  return status;
}

static bool new_trial(trial *t) {
  int n = t->code->robot->n, standard = psdm_model_standard_count(t->code->model);
  size_t scratch = psdm_eval_scratch(t->code->robot, t->code->model);
  t->pi = NEW(t->arena, standard, double);
  t->theta = NEW(t->arena, psdm_model_l(t->code->model), double);
  t->q = NEW(t->arena, STATES * n, double);
  t->qd = NEW(t->arena, STATES * n, double);
  t->qdd = NEW(t->arena, STATES * n, double);
  t->state = NEW(t->arena, 3 * n + 3 * n * n, double);
  t->scratch = psdmp_arena_alloc(t->arena, sizeof *t->scratch * (scratch + (size_t)(STATES * n) + 1));
  return t->pi && t->theta && t->q && t->qd && t->qdd && t->state && t->scratch && copy_robot(t);
}

psdm_status psdmp_emit_selftest(psdmp_writer *e, psdmp_arena *arena, psdm_error *error) {
  const psdm_code *code = e->code;
  trial t = {.arena = arena, .code = code};
  psdm_status status = PSDM_E_MEMORY;
  if (!new_trial(&t) || psdm_work_new(code->robot, arena->allocator, &t.work) || psdm_linear_new(code->robot, arena->allocator, &t.linear)) {
    psdmp_fail(error, PSDM_E_MEMORY, NULL, 0, 0, "out of memory while writing the self-test");
    goto done;
  }
  set_states(&t);
  status = set_parameters(&t, error);
  if (status) goto done;
  psdmp_emit_banner(e, "Self-test: the generated functions beside numbers from libpsdm's recursions. Exit 0 when all agree.");
  psdmp_say(e, "#include <math.h>\n#include <stdio.h>\n\n#include \"%s.h\"\n\nenum { STATES = %d%s };\n#define TOLERANCE %s /* of the largest number */\n\n", e->prefix, STATES,
            code->options.target == PSDM_CODE_SIMD ? ", BATCH = 37" : code->options.target == PSDM_CODE_CUDA ? ", BATCH = 64" : "", e->single ? "1e-5" : "1e-13");
  emit_inputs(e, &t);
  for (int k = 0; k < code->programs && !status; k++) status = emit_program(e, &t, &code->program[k]);
  if (status) {
    psdmp_fail(error, status, code->robot->file, 0, 0, "%s while computing the self-test", psdm_status_text(status));
    goto done;
  }
  emit_tools(e);
  for (int k = 0; k < code->programs; k++) (inverts(code->program[k].function) ? emit_inverting_test : emit_plain_test)(e, &code->program[k]);
  for (int k = 0; k < code->programs && code->options.target != PSDM_CODE_C; k++) emit_batch_test(e, &code->program[k]);
  emit_main(e);
done:
  psdm_linear_free(t.linear, arena->allocator);
  psdm_work_free(t.work, arena->allocator);
  return status;
}
