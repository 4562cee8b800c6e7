/* friction.c: what resists the joints, as nodes that finished programs get.
 *
 * The rigid part of a function is built and made small as if there were no friction. Then torques get friction added;
 * accelerations get tau less friction in the place of tau; derivatives get friction's own, by differentiating its nodes.
 * Drives see their joints through x = T q; their torques reach the joints by T^T. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/friction_priv.h"
#include "psdm/parameters.h"

enum { JOINTS = PSDMP_CODEGEN_CODE_JOINTS };

typedef psdmp_codegen_friction friction;

#define ADD(a, b) psdm_graph_add(g, a, b)
#define SUB(a, b) psdm_graph_sub(g, a, b)
#define MUL(a, b) psdm_graph_mul(g, a, b)
#define NUM(x) psdm_graph_const(g, x)

static psdm_ref argument(psdm_graph *g, psdmp_codegen_block block, int index) {
  return psdm_graph_input(g, (int)block * PSDMP_CODEGEN_BLOCK + index);
}

static void arguments(psdm_graph *g, psdmp_codegen_block block, int count, psdm_ref *to) {
  for (int i = 0; i < count; i++) to[i] = argument(g, block, i);
}

/* out = A x, A (n x n) numbers */
static void apply(psdm_graph *g, int n, const double *A, const psdm_ref *x, psdm_ref *out) {
  for (int i = 0; i < n; i++) {
    out[i] = NUM(0);
    for (int j = 0; j < n; j++) out[i] = ADD(out[i], MUL(NUM(A[i * n + j]), x[j]));
  }
}

/* ---- what is asked for ---- */

bool psdmp_codegen_has_friction(psdm_code_function f) {
  return f == PSDM_CODE_INVERSE || f == PSDM_CODE_BIAS || f == PSDM_CODE_FORWARD || f == PSDM_CODE_REGRESSOR ||
         f == PSDM_CODE_LINEARIZE_INVERSE || f == PSDM_CODE_LINEARIZE_FORWARD || psdmp_codegen_is_friction(f);
}

bool psdmp_codegen_is_friction(psdm_code_function f) { return f == PSDM_CODE_FRICTION || f == PSDM_CODE_FRICTION_STEP; }

/* the maps between joints and drives, from unit vectors */
static bool set_maps(friction *k, psdmp_base_arena *arena) {
  int n = k->drag.n;
  double *unit = PSDMP_BASE_NEW(arena, 2 * n, double), *image = unit + n;
  k->drive = PSDMP_BASE_NEW(arena, n * n, double);
  k->load = PSDMP_BASE_NEW(arena, n * n, double);
  k->joint = PSDMP_BASE_NEW(arena, n * n, double);
  if (!unit || !k->drive || !k->load || !k->joint) return false;
  for (int j = 0; j < n; j++) {
    unit[j] = 1;
    psdmp_parameters_drag_drives(&k->drag, unit, false, image);
    for (int i = 0; i < n; i++) k->drive[i * n + j] = image[i];
    psdmp_parameters_drag_drives(&k->drag, unit, true, image);
    for (int i = 0; i < n; i++) k->load[i * n + j] = image[i];
    psdmp_parameters_drag_joints(&k->drag, unit, image);
    for (int i = 0; i < n; i++) k->joint[i * n + j] = image[i];
    unit[j] = 0;
  }
  return true;
}

/* the robot whose rigid torques load the drives: each base parameter is the value of the standard one that it is named
 * after */
static psdm_status set_loaded(psdm_code *code, psdm_error *error) {
  const psdm_robot *r = code->robot;
  const psdm_parameters *p = code->friction.drag.p;
  psdm_robot *loaded = PSDMP_BASE_NEW(&code->arena, 1, psdm_robot);
  double *pi = PSDMP_BASE_NEW(&code->arena, p->standard, double);
  if (!loaded || !pi || !psdmp_codegen_robot_copy(r, &code->arena, loaded)) return psdmp_base_no_memory(r->file, error);
  for (int j = 0; j < p->base && p->theta_load; j++) {
    int at = psdmp_robot_standard_find(r, p->theta[j].name);
    if (at >= 0) pi[at] = p->theta_load[j];
  }
  psdm_robot_set_parameters(loaded, pi);
  code->friction.loaded = loaded;
  code->friction.pi = pi;
  return PSDM_OK;
}

psdm_status psdmp_codegen_friction_set(psdm_code *code, psdm_error *error) {
  const psdm_code_options *o = &code->options;
  friction *k = &code->friction;
  psdm_status status = PSDM_OK;
  if (o->friction == PSDM_FRICTION_NONE && !o->parameters) return PSDM_OK;
  if (o->parameters) status = psdmp_parameters_match(o->parameters, code->robot, error);
  if (!status && o->parameters) status = psdmp_parameters_shown(o->parameters, error);
  if (!status)
    status = psdmp_parameters_drag_set(&k->drag, code->robot, o->friction, o->parameters, &code->arena, error);
  if (!status && !set_maps(k, &code->arena)) status = psdmp_base_no_memory(code->robot->file, error);
  if (!status && k->drag.loaded) status = set_loaded(code, error);
  k->there = !status;
  return status;
}

/* ---- torque of one joint or drive ---- */

/* e^-(v/vs)^2 */
static psdm_ref falling(psdm_graph *g, psdm_ref v, double width) {
  psdm_ref ratio = MUL(NUM(1 / width), v);
  return psdm_graph_exp(g, psdm_ref_neg(MUL(ratio, ratio)));
}

static bool has_stribeck(const psdm_friction *f, psdm_friction_kind kind) {
  return kind >= PSDM_FRICTION_STRIBECK && f->stribeck > 0;
}

/* |v|^d sign(v) */
static psdm_ref signed_power(psdm_graph *g, psdm_ref v, double exponent) {
  return exponent == 1 ? v : MUL(psdm_graph_pow(g, v, exponent), psdm_graph_sign(g, v));
}

static psdm_ref smooth_shape(psdm_graph *g, const psdm_friction *f, psdm_friction_kind kind, psdm_ref v) {
  return signed_power(g, v, kind >= PSDM_FRICTION_POWER ? f->exponent : 1);
}

/* Fc + (Fs - Fc) e^-(v/vs)^2 */
static psdm_ref dry(psdm_graph *g, const psdm_friction *f, psdm_friction_kind kind, psdm_ref v) {
  psdm_ref rest = has_stribeck(f, kind) ? MUL(NUM(f->stat - f->coulomb), falling(g, v, f->stribeck)) : NUM(0);
  return ADD(NUM(f->coulomb), rest);
}

static bool has_bristles(const psdm_friction *f) {
  return f->sigma0 > 0 && f->coulomb > 0 && (!(f->stribeck > 0) || f->stat > 0);
}

/* v - |v| z / g(v) */
static psdm_ref bristle_rate(psdm_graph *g, const psdm_friction *f, psdm_ref v, psdm_ref z) {
  psdm_ref most = dry(g, f, PSDM_FRICTION_LUGRE, v), bent = MUL(MUL(NUM(f->sigma0), z), psdm_graph_recip(g, most));
  return SUB(v, MUL(psdm_graph_abs(g, v), bent));
}

static psdm_ref formula(psdm_graph *g, const psdm_friction *f, psdm_friction_kind kind, psdm_ref v, psdm_ref z) {
  if (!f->given || kind == PSDM_FRICTION_NONE) return NUM(0);
  psdm_ref smooth = ADD(MUL(NUM(f->viscous), smooth_shape(g, f, kind, v)), NUM(f->offset));
  if (kind == PSDM_FRICTION_LUGRE && has_bristles(f))
    return ADD(smooth, ADD(MUL(NUM(f->sigma0), z), MUL(NUM(f->sigma1), bristle_rate(g, f, v, z))));
  return kind < PSDM_FRICTION_COULOMB ? smooth : ADD(smooth, MUL(dry(g, f, kind, v), psdm_graph_sign(g, v)));
}

/* psdm_friction_column_values */
static void formula_columns(psdm_graph *g, const psdm_friction *f, psdm_friction_kind kind, psdm_ref v, psdm_ref z,
                            psdm_ref *value) {
  static const psdm_friction plain = {.exponent = 1, .given = true};
  if (!f->given) f = &plain;
  psdm_ref sign = psdm_graph_sign(g, v), rest = has_stribeck(f, kind) ? MUL(sign, falling(g, v, f->stribeck)) : NUM(0);
  bool lugre = kind == PSDM_FRICTION_LUGRE, bristles = lugre && has_bristles(f);
  value[0] = smooth_shape(g, f, kind, v);
  value[1] = NUM(1);
  value[2] = !lugre ? SUB(sign, rest) : bristles ? z : NUM(0);
  value[3] = !lugre ? rest : bristles ? bristle_rate(g, f, v, z) : NUM(0);
}

static psdm_ref plain_column(psdm_graph *g, const psdm_column *c, psdm_ref x, psdm_ref v, psdm_ref z) {
  double w = c->width;
  switch (c->kind) {
    case PSDM_COLUMN_VISCOUS: return v;
    case PSDM_COLUMN_OFFSET: return NUM(1);
    case PSDM_COLUMN_SIGN: return psdm_graph_sign(g, v);
    case PSDM_COLUMN_TANH: return psdm_graph_tanh(g, MUL(NUM(1 / w), v));
    case PSDM_COLUMN_STOP: return z;
    case PSDM_COLUMN_STRIBECK: return MUL(psdm_graph_tanh(g, MUL(NUM(3 / w), v)), falling(g, v, w));
    case PSDM_COLUMN_POWER: return signed_power(g, v, w);
    case PSDM_COLUMN_ABSOLUTE: return psdm_graph_abs(g, v);
    case PSDM_COLUMN_LINEAR: return x;
    case PSDM_COLUMN_SINE: return psdm_graph_sin(g, MUL(NUM(w), x));
    case PSDM_COLUMN_COSINE: return psdm_graph_cos(g, MUL(NUM(w), x));
    default: return NUM(0);
  }
}

/* ---- of all of them ---- */

/* one program that gets friction */
typedef struct tracer {
  const psdm_code *code;
  const friction *k;
  psdmp_codegen_program *p;
  psdm_graph *g;
  psdmp_base_arena *arena;
  int n;
  psdm_ref x[JOINTS], v[JOINTS], f[JOINTS]; /* of the drives: positions, speeds, what loads them */
  psdm_ref *z;                              /* (states) */
  int next;                                 /* of z */
  psdm_ref F[JOINTS];                       /* joint torques */
} tracer;

static psdm_ref remembered(tracer *t) { return t->z[t->next++]; }

static psdm_ref drive_formula(tracer *t, int i) {
  const psdmp_parameters_drag *d = &t->k->drag;
  return formula(t->g, &d->friction[i], d->kind, t->v[i], d->states ? remembered(t) : PSDM_REF_NONE);
}

static psdm_ref drive_column(tracer *t, const psdm_column *c, int i) {
  psdm_graph *g = t->g;
  psdm_ref z = c->kind == PSDM_COLUMN_STOP ? remembered(t) : PSDM_REF_NONE, f = t->f[i];
  psdm_ref value = plain_column(g, c, t->x[i], t->v[i], z);
  return c->load == 0 ? value : MUL(value, c->load == 1 ? psdm_graph_abs(g, f) : MUL(f, f));
}

/* drives' torques, seen from the joints */
static void trace_torques(tracer *t) {
  const psdmp_parameters_drag *d = &t->k->drag;
  psdm_graph *g = t->g;
  psdm_ref own[JOINTS];
  t->next = 0;
  for (int i = 0; i < t->n; i++) {
    own[i] = d->formula ? drive_formula(t, i) : NUM(0);
    for (int c = 0; !d->formula && c < d->p->columns[i]; c++)
      own[i] = ADD(own[i], MUL(NUM(d->p->column[i][c].gain), drive_column(t, &d->p->column[i][c], i)));
  }
  apply(g, t->n, t->k->joint, own, t->F);
}

/* ---- what loads the drives ---- */

/* outputs of one graph as nodes of another */
static psdm_status import(psdm_graph *from, const psdm_ref *outputs, int count, psdmp_base_arena *arena, psdm_graph *g,
                          psdm_ref *to) {
  uint32_t nodes = psdm_graph_size(from);
  psdm_ref *now = psdmp_base_arena_alloc(arena, ((size_t)nodes + 1) * sizeof *now);
  if (!now) return PSDM_E_MEMORY;
  for (uint32_t k = 0; k < nodes; k++) {
    psdm_node m = psdm_graph_node(from, k);
    psdm_ref a = m.a == PSDM_REF_NONE ? m.a : now[m.a >> 1] ^ (m.a & 1u),
             b = m.b == PSDM_REF_NONE ? m.b : now[m.b >> 1] ^ (m.b & 1u);
    now[k] = m.op == PSDM_OP_CONST   ? NUM(m.value)
             : m.op == PSDM_OP_INPUT ? psdm_graph_input(g, m.input)
                                     : psdmp_expr_build(g, m.op, a, b);
    if (now[k] == PSDM_REF_NONE) return PSDM_E_MEMORY;
  }
  for (int i = 0; i < count; i++) to[i] = now[outputs[i] >> 1] ^ (outputs[i] & 1u);
  return PSDM_OK;
}

/* rigid torques of the robot that loads them, under the program's own payload, wrench and gravity; at zero acceleration
 * where it has none */
static psdm_status trace_load(tracer *t, bool accelerated, psdm_error *error) {
  const int *length = t->p->length;
  psdm_code_options o = t->code->options;
  psdmp_codegen_program rigid = {0};
  psdm_ref joint[JOINTS];
  o.theta_argument = false;
  o.gravity_argument = length[PSDMP_CODEGEN_IN_GRAVITY] > 0;
  o.payload_argument = length[PSDMP_CODEGEN_IN_PAYLOAD] > 0;
  o.wrench_argument = length[PSDMP_CODEGEN_IN_WRENCH] > 0;
  psdm_status status =
      psdmp_codegen_build_recursive(t->k->loaded, t->code->model, NULL, &o,
                                    accelerated ? PSDM_CODE_INVERSE : PSDM_CODE_BIAS, false, t->arena, &rigid, error);
  if (!status) status = psdm_graph_factor(rigid.graph, rigid.output, rigid.outputs);
  if (!status) status = import(rigid.graph, rigid.output, t->n, t->arena, t->g, joint);
  if (!status) apply(t->g, t->n, t->k->load, joint, t->f);
  psdm_graph_free(rigid.graph);
  return status;
}

static psdm_status look_at_motion(tracer *t) {
  const psdmp_parameters_drag *d = &t->k->drag;
  psdm_graph *g = t->g;
  psdm_ref joint[JOINTS] = {0};
  t->z = PSDMP_BASE_NEW(t->arena, d->states, psdm_ref);
  if (!t->z) return PSDM_E_MEMORY;
  arguments(g, PSDMP_CODEGEN_IN_Q, t->n, joint);
  apply(g, t->n, t->k->drive, joint, t->x);
  arguments(g, PSDMP_CODEGEN_IN_QD, t->n, joint);
  apply(g, t->n, t->k->drive, joint, t->v);
  arguments(g, PSDMP_CODEGEN_IN_Z, d->states, t->z);
  return PSDM_OK;
}

static psdm_status look(tracer *t, psdm_error *error) {
  psdm_status status = look_at_motion(t);
  return !status && t->k->drag.loaded ? trace_load(t, t->p->length[PSDMP_CODEGEN_IN_QDD] > 0, error) : status;
}

/* ---- into the outputs ---- */

static void add_torques(tracer *t) {
  psdm_graph *g = t->g;
  for (int i = 0; i < t->n; i++) t->p->output[i] = ADD(t->p->output[i], t->F[i]);
}

/* tau less friction in the place of tau */
static psdm_status drive_less(tracer *t, psdm_ref *outputs, size_t count) {
  psdm_graph *g = t->g;
  int inputs[JOINTS];
  psdm_ref by[JOINTS];
  for (int i = 0; i < t->n; i++) {
    inputs[i] = PSDMP_CODEGEN_IN_TAU * PSDMP_CODEGEN_BLOCK + i;
    by[i] = SUB(psdm_graph_input(g, inputs[i]), t->F[i]);
  }
  return psdm_graph_substitute(g, inputs, by, (size_t)t->n, outputs, count);
}

/* a row of the regressor gets the columns of friction in front of those of the drives' inertias */
static psdm_status widen(tracer *t) {
  const psdmp_parameters_drag *d = &t->k->drag;
  psdmp_codegen_program *p = t->p;
  psdm_graph *g = t->g;
  int n = t->n, old = (int)p->outputs / n, base = psdm_model_l(t->code->model), wide = old + d->columns, at = 0;
  psdm_ref *out = PSDMP_BASE_NEW(t->arena, n * wide, psdm_ref);
  if (!out) return PSDM_E_MEMORY;
  for (int i = 0; i < n; i++) {
    memcpy(out + i * wide, p->output + i * old, (size_t)base * sizeof *out);
    memcpy(out + i * wide + base + d->columns, p->output + i * old + base, (size_t)(old - base) * sizeof *out);
  }
  t->next = 0;
  for (int i = 0; i < n; i++) {
    psdm_ref value[PSDM_FRICTION_MOST_COLUMNS];
    int each = d->formula ? psdm_friction_columns(d->kind) : d->p->columns[i];
    if (d->formula)
      formula_columns(g, &d->friction[i], d->kind, t->v[i], d->states ? remembered(t) : PSDM_REF_NONE, value);
    for (int k = 0; k < each; k++) {
      int column = base + (d->formula ? k * n + i : at++);
      psdm_ref own = d->formula ? value[k] : drive_column(t, &d->p->column[i][k], i);
      for (int j = 0; j < n; j++) out[j * wide + column] = MUL(NUM(t->k->joint[j * n + i]), own);
    }
  }
  p->output = out;
  p->outputs = (size_t)(n * wide);
  p->result[0].count = n * wide;
  return PSDM_OK;
}

/* ---- derivatives ---- */

/* dF/dq, dF/dqd and dF/dqdd (n x n each); q also acts through sines and cosines that the caller gives */
static psdm_status slopes(tracer *t, psdm_ref *by) {
  static const psdmp_codegen_block blocks[] = {PSDMP_CODEGEN_IN_Q, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD,
                                               PSDMP_CODEGEN_IN_SINE, PSDMP_CODEGEN_IN_COSINE};
  psdm_graph *g = t->g;
  int n = t->n, nn = n * n, inputs[5 * JOINTS];
  psdm_ref gradient[5 * JOINTS];
  for (int i = 0; i < 5 * n; i++) inputs[i] = (int)blocks[i / n] * PSDMP_CODEGEN_BLOCK + i % n;
  for (int i = 0; i < n; i++) {
    psdm_status status = psdm_graph_gradient(g, t->F[i], inputs, (size_t)(5 * n), gradient);
    if (status) return status;
    for (int j = 0; j < n; j++) {
      psdm_ref s = argument(g, PSDMP_CODEGEN_IN_SINE, j), c = argument(g, PSDMP_CODEGEN_IN_COSINE, j);
      by[i * n + j] = ADD(gradient[j], SUB(MUL(gradient[3 * n + j], c), MUL(gradient[4 * n + j], s)));
      by[nn + i * n + j] = gradient[n + j];
      by[2 * nn + i * n + j] = gradient[2 * n + j];
    }
  }
  return PSDM_OK;
}

/* out -= A B */
static void less_product(psdm_graph *g, int n, const psdm_ref *A, const psdm_ref *B, psdm_ref *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) out[i * n + j] = SUB(out[i * n + j], MUL(A[i * n + k], B[k * n + j]));
}

/* M^-1 as the second of two stages is given it */
static void given_inverse(psdm_graph *g, int n, psdm_ref *Minv) {
  for (int i = 0, at = n; i < n; i++)
    for (int j = i; j < n; j++) Minv[i * n + j] = Minv[j * n + i] = argument(g, PSDMP_CODEGEN_IN_QDD, at++);
}

static psdm_status linearize_inverse(tracer *t) {
  int nn = t->n * t->n;
  psdm_graph *g = t->g;
  psdm_ref *by = PSDMP_BASE_NEW(t->arena, 3 * nn, psdm_ref);
  psdm_status status = by ? slopes(t, by) : PSDM_E_MEMORY;
  for (int i = 0; i < 3 * nn && !status; i++) t->p->output[i] = ADD(t->p->output[i], by[i]);
  return status;
}

static psdm_status linearize_forward(tracer *t) {
  psdmp_codegen_program *p = t->p;
  int n = t->n, nn = n * n;
  psdm_graph *g = t->g;
  psdm_ref *by = PSDMP_BASE_NEW(t->arena, 4 * nn, psdm_ref), *Minv = by + 3 * nn;
  psdm_status status = by ? slopes(t, by) : PSDM_E_MEMORY;
  if (!status) status = drive_less(t, p->output, p->outputs);
  if (!status && p->inner) status = drive_less(t, p->inner, p->outputs);
  if (!status && p->early) status = drive_less(t, p->early, (size_t)psdmp_codegen_stage_values(n));
  if (status) return status;
  for (int m = 0; m < 2; m++) less_product(g, n, p->output + 2 * nn, by + m * nn, p->output + m * nn);
  for (int i = 0; i < 2 * nn && p->inner; i++) { /* rows side by side */
    psdm_ref *to = &p->inner[nn + i % nn / n * 2 * n + i % n + (i < nn ? 0 : n)];
    *to = ADD(*to, by[i]);
  }
  if (!p->early) return PSDM_OK;
  given_inverse(g, n, Minv);
  for (int m = 0; m < 2; m++) less_product(g, n, Minv, by + m * nn, p->late + m * nn);
  return PSDM_OK;
}

/* ---- programs ---- */

static psdm_status add(tracer *t, psdm_error *error) {
  psdmp_codegen_program *p = t->p;
  psdm_status status = look(t, error);
  if (status) return status;
  if (p->function == PSDM_CODE_REGRESSOR) return widen(t);
  trace_torques(t);
  switch (p->function) {
    case PSDM_CODE_FORWARD: return drive_less(t, p->output, p->outputs);
    case PSDM_CODE_LINEARIZE_INVERSE: return linearize_inverse(t);
    case PSDM_CODE_LINEARIZE_FORWARD: return linearize_forward(t);
    default: add_torques(t); return PSDM_OK;
  }
}

/* z at a row from z at the row before */
static psdm_status trace_step(tracer *t) {
  const psdmp_parameters_drag *d = &t->k->drag;
  psdm_graph *g = t->g;
  psdm_ref joint[JOINTS] = {0}, x0[JOINTS], v0[JOINTS], dt = argument(g, PSDMP_CODEGEN_IN_DT, 0), *out = t->p->output;
  arguments(g, PSDMP_CODEGEN_IN_Q0, t->n, joint);
  apply(g, t->n, t->k->drive, joint, x0);
  arguments(g, PSDMP_CODEGEN_IN_QD0, t->n, joint);
  apply(g, t->n, t->k->drive, joint, v0);
  for (int i = 0; i < t->n; i++) {
    for (int c = 0; !d->formula && c < d->p->columns[i]; c++) {
      const psdm_column *k = &d->p->column[i][c];
      psdm_ref way = MUL(NUM(1 / k->width), SUB(t->x[i], x0[i]));
      if (k->kind == PSDM_COLUMN_STOP) *out++ = psdm_graph_clip(g, ADD(remembered(t), way));
    }
    const psdm_friction *f = &d->friction[i];
    if (d->formula)
      *out++ = has_bristles(f) ? psdm_graph_bristles(g, f, v0[i], t->v[i], dt, remembered(t)) : (remembered(t), NUM(0));
  }
  return PSDM_OK;
}

static psdm_status finish(tracer *t, psdm_status status, psdm_error *error) {
  psdmp_codegen_program *p = t->p;
  p->friction = true;
  if (p->function != PSDM_CODE_FRICTION_STEP) p->length[PSDMP_CODEGEN_IN_Z] = t->k->drag.states;
  if (!status) status = psdm_graph_status(t->g);
  if (!status) status = psdm_graph_cost(t->g, p->output, p->outputs, &p->cost);
  return status ? psdmp_base_fail(error, status, t->code->robot->file, 0, 0, "%s while adding friction to '%s'",
                                  psdm_status_text(status), p->name)
                : PSDM_OK;
}

static tracer tracer_of(psdm_code *code, psdmp_codegen_program *p) {
  return (tracer){.code = code,
                  .k = &code->friction,
                  .p = p,
                  .g = p->graph,
                  .arena = &code->arena,
                  .n = code->robot->n,
                  .f = {PSDM_REF_NONE}};
}

psdm_status psdmp_codegen_friction_add(psdm_code *code, psdmp_codegen_program *p, psdm_error *error) {
  tracer t = tracer_of(code, p);
  return finish(&t, add(&t, error), error);
}

psdm_status psdmp_codegen_friction_build(psdm_code *code, psdm_code_function f, psdmp_codegen_program *p,
                                         psdm_error *error) {
  const psdm_code_options *o = &code->options;
  psdm_status status =
      psdmp_codegen_program_shape(code->robot, psdm_model_l(code->model), o, f, &code->arena, p, error);
  if (status) return status;
  tracer t = tracer_of(code, p);
  p->method = "direct";
  if (f == PSDM_CODE_FRICTION_STEP) {
    p->outputs = (size_t)code->friction.drag.states;
    p->result[0].count = code->friction.drag.states;
    p->output = PSDMP_BASE_NEW(&code->arena, code->friction.drag.states, psdm_ref);
    p->length[PSDMP_CODEGEN_IN_Z] = code->friction.drag.states;
    if (!p->output) return psdmp_base_no_memory(code->robot->file, error);
    p->length[PSDMP_CODEGEN_IN_DT] = 1;
    p->length[PSDMP_CODEGEN_IN_Q0] = p->length[PSDMP_CODEGEN_IN_QD0] = t.n;
    status = look_at_motion(&t);
    return finish(&t, status ? status : trace_step(&t), error);
  }
  if (code->friction.drag.loaded) {
    p->length[PSDMP_CODEGEN_IN_QDD] = t.n;
    p->length[PSDMP_CODEGEN_IN_GRAVITY] = o->gravity_argument ? 3 : 0;
    p->length[PSDMP_CODEGEN_IN_PAYLOAD] = o->payload_argument ? 10 : 0;
    p->length[PSDMP_CODEGEN_IN_WRENCH] = o->wrench_argument ? 6 : 0;
  }
  for (int i = 0; i < t.n; i++) p->output[i] = psdm_graph_const(p->graph, 0);
  return finish(&t, add(&t, error), error);
}
