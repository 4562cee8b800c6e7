/* friction.c: what resists the joints, as nodes that finished programs get.
 *
 * The rigid part of a function is built and made small as if there were no friction. Then torques get friction added;
 * accelerations get tau less friction in the place of tau; derivatives get friction's own, by differentiating its
 * nodes. Drives see their joints through x = T q; their torques reach the joints by T^T.
 *
 * Friction that depends on the load asks for accelerations that it depends on itself. Drive by drive it is u = a + b
 * |f| + c f^2, f = y + d, where y is the rigid torque and d what the torque that loads differs from it by. With d
 * known, y + u = T^-T tau is solved in closed form; d, which is small, follows from the accelerations: a few rounds,
 * whose error is part of what is checked. */
#include <math.h>
#include <string.h>

#include "codegen/chain_priv.h"
#include "codegen/friction_priv.h"
#include "psdm/parameters.h"

enum { JOINTS = PSDMP_CODEGEN_CODE_JOINTS, ROUNDS = 8 };

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

bool psdmp_codegen_has_friction(psdm_function f) {
  return f == PSDM_F_INVERSE || f == PSDM_F_BIAS || f == PSDM_F_FORWARD || f == PSDM_F_REGRESSOR ||
         f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD || psdmp_codegen_is_friction(f);
}

bool psdmp_codegen_is_friction(psdm_function f) { return f == PSDM_F_FRICTION || f == PSDM_F_FRICTION_STEP; }

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

/* what has bristles bends them */
static bool has_bristles(const psdm_friction *f) { return psdm_lugre_steady(f, 1) > 0; }

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
  psdm_ref load[JOINTS];                    /* rigid torques of the joints that load them */
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

/* n outputs of another function of a robot, under the program's own payload, wrench and gravity */
static psdm_status trace_beside(tracer *t, const psdm_robot *robot, bool theta, psdm_function f, psdm_ref *out,
                                psdm_error *error) {
  const int *length = t->p->length;
  psdm_code_options o = t->code->options;
  psdmp_codegen_program rigid = {0};
  o.theta_argument = o.theta_argument && theta;
  o.gravity_argument = length[PSDMP_CODEGEN_IN_GRAVITY] > 0;
  o.payload_argument = length[PSDMP_CODEGEN_IN_PAYLOAD] > 0;
  o.wrench_argument = length[PSDMP_CODEGEN_IN_WRENCH] > 0;
  psdm_status status = psdmp_codegen_build_recursive(robot, t->code->model, theta ? t->code->theta : NULL, &o, f, false,
                                                     t->arena, &rigid, error);
  if (!status) status = psdm_graph_factor(rigid.graph, rigid.output, rigid.outputs);
  if (!status) status = import(rigid.graph, rigid.output, t->n, t->arena, t->g, out);
  psdm_graph_free(rigid.graph);
  return status;
}

/* at zero acceleration where the function has none */
static psdm_status trace_load(tracer *t, psdm_error *error) {
  psdm_status status = trace_beside(t, t->k->loaded, false,
                                    t->p->function == PSDM_F_BIAS ? PSDM_F_BIAS : PSDM_F_INVERSE, t->load, error);
  if (!status) apply(t->g, t->n, t->k->load, t->load, t->f);
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
  return !status && t->k->drag.loaded ? trace_load(t, error) : status;
}

/* ---- into the outputs ---- */

static void add_torques(tracer *t) {
  psdm_graph *g = t->g;
  for (int i = 0; i < t->n; i++) t->p->output[i] = ADD(t->p->output[i], t->F[i]);
}

/* by in the place of a block */
static psdm_status replace(tracer *t, psdmp_codegen_block block, const psdm_ref *by, psdm_ref *outputs, size_t count) {
  int inputs[JOINTS];
  for (int i = 0; i < t->n; i++) inputs[i] = (int)block * PSDMP_CODEGEN_BLOCK + i;
  return psdm_graph_substitute(t->g, inputs, by, (size_t)t->n, outputs, count);
}

/* tau less friction in the place of tau */
static psdm_status drive_less(tracer *t, psdm_ref *outputs, size_t count) {
  psdm_graph *g = t->g;
  psdm_ref by[JOINTS];
  for (int i = 0; i < t->n; i++) by[i] = SUB(argument(g, PSDMP_CODEGEN_IN_TAU, i), t->F[i]);
  return replace(t, PSDMP_CODEGEN_IN_TAU, by, outputs, count);
}

/* ---- accelerations under friction that depends on them ---- */

/* a, b, c of u = a + b |f| + c f^2 of each drive */
static void coefficients(tracer *t, psdm_ref c[3][JOINTS]) {
  const psdm_parameters *p = t->k->drag.p;
  psdm_graph *g = t->g;
  t->next = 0;
  for (int i = 0; i < t->n; i++) {
    for (int m = 0; m < 3; m++) c[m][i] = NUM(0);
    for (int k = 0; k < p->columns[i]; k++) {
      const psdm_column *own = &p->column[i][k];
      psdm_ref z = own->kind == PSDM_COLUMN_STOP ? remembered(t) : PSDM_REF_NONE;
      psdm_ref value = MUL(NUM(own->gain), plain_column(g, own, t->x[i], t->v[i], z));
      c[own->load][i] = ADD(c[own->load][i], value);
    }
  }
}

/* w of w + b |w| + c w^2 = r: with s the sign of r, 2 r / (1 + s b + sqrt((1 + s b)^2 + 4 c r)) */
static psdm_ref balance(psdm_graph *g, psdm_ref b, psdm_ref c, psdm_ref r) {
  psdm_ref first = ADD(NUM(1), MUL(psdm_graph_sign(g, r), b)), four = MUL(NUM(4), MUL(c, r));
  double value;
  if (psdm_graph_is_const(g, c, &value) && value == 0) return MUL(r, psdm_graph_recip(g, first));
  psdm_ref root = psdm_graph_sqrt(g, ADD(MUL(first, first), four));
  return MUL(ADD(r, r), psdm_graph_recip(g, ADD(first, root)));
}

/* whether the torque that loads the drives is the rigid torque itself */
static bool same_load(const tracer *t) {
  const psdm_code *code = t->code;
  const psdm_robot *r = code->robot;
  if (code->options.theta_argument || code->given || psdm_robot_ready(r, NULL)) return false;
  for (int k = 0; k < 10 * r->bodies; k++)
    if (r->pi[k] != t->k->pi[k]) return false;
  for (int d = 0; d < r->drives; d++)
    if (r->drive[d].inertia != t->k->pi[10 * r->bodies + d]) return false;
  return true;
}

/* forward: rigid accelerations by tau. What the rigid torque is, and the accelerations that go with it */
static psdm_status solve_loaded(tracer *t, const psdm_ref *forward, psdm_ref *torque, psdm_ref *qdd) {
  psdm_graph *g = t->g;
  int n = t->n, rounds = same_load(t) ? 1 : ROUNDS;
  psdm_ref c[3][JOINTS], given[JOINTS] = {0}, drive[JOINTS], d[JOINTS], y[JOINTS], load[JOINTS], f[JOINTS];
  psdm_status status = PSDM_OK;
  coefficients(t, c);
  arguments(g, PSDMP_CODEGEN_IN_TAU, n, given);
  apply(g, n, t->k->load, given, drive);
  for (int i = 0; i < n; i++) d[i] = NUM(0);
  for (int round = 0; round < rounds && !status; round++) {
    for (int i = 0; i < n; i++) y[i] = SUB(balance(g, c[1][i], c[2][i], ADD(SUB(drive[i], c[0][i]), d[i])), d[i]);
    apply(g, n, t->k->joint, y, torque);
    memcpy(qdd, forward, (size_t)n * sizeof *qdd);
    status = replace(t, PSDMP_CODEGEN_IN_TAU, torque, qdd, (size_t)n);
    if (status || round + 1 == rounds) break;
    memcpy(load, t->load, (size_t)n * sizeof *load);
    status = replace(t, PSDMP_CODEGEN_IN_QDD, qdd, load, (size_t)n);
    apply(g, n, t->k->load, load, f);
    for (int i = 0; i < n; i++) d[i] = SUB(f[i], y[i]);
  }
  return status;
}

static psdm_status forward(tracer *t) {
  psdm_ref torque[JOINTS], qdd[JOINTS];
  if (!t->k->loaded) return drive_less(t, t->p->output, t->p->outputs);
  psdm_status status = solve_loaded(t, t->p->output, torque, qdd);
  if (!status) memcpy(t->p->output, qdd, (size_t)t->n * sizeof *qdd);
  return status;
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

/* rows of dtau/dq and dtau/dqd side by side */
static void add_rows(tracer *t, const psdm_ref *by) {
  psdm_graph *g = t->g;
  int n = t->n, nn = n * n;
  for (int i = 0; i < 2 * nn && t->p->inner; i++) {
    psdm_ref *to = &t->p->inner[nn + i % nn / n * 2 * n + i % n + (i < nn ? 0 : n)];
    *to = ADD(*to, by[i]);
  }
}

/* X = A^-1 X in place, X with so many columns; A stays near the identity, so that no pivots are looked for */
static void eliminate(psdm_graph *g, int n, psdm_ref *A, psdm_ref *X, int columns) {
  for (int k = 0; k < n; k++) {
    psdm_ref inverse = psdm_graph_recip(g, A[k * n + k]);
    for (int j = k + 1; j < n; j++) A[k * n + j] = MUL(A[k * n + j], inverse);
    for (int j = 0; j < columns; j++) X[k * columns + j] = MUL(X[k * columns + j], inverse);
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      for (int j = k + 1; j < n; j++) A[i * n + j] = SUB(A[i * n + j], MUL(A[i * n + k], A[k * n + j]));
      for (int j = 0; j < columns; j++)
        X[i * columns + j] = SUB(X[i * columns + j], MUL(A[i * n + k], X[k * columns + j]));
    }
  }
}

/* dqdd = -(M + dF/dqdd)^-1 (dtau + dF), all at the accelerations that friction leaves; the inverse is (1 + M^-1
 * dF/dqdd)^-1 M^-1 */
static psdm_status linearize_loaded(tracer *t, psdm_ref *by, psdm_error *error) {
  psdmp_codegen_program *p = t->p;
  psdm_graph *g = t->g;
  int n = t->n, nn = n * n;
  psdm_ref rigid[JOINTS], torque[JOINTS], qdd[JOINTS], *A = by + 3 * nn;
  psdm_status status = trace_beside(t, t->code->robot, true, PSDM_F_FORWARD, rigid, error);
  if (!status) status = solve_loaded(t, rigid, torque, qdd);
  if (!status) status = replace(t, PSDMP_CODEGEN_IN_QDD, qdd, by, (size_t)(3 * nn));
  if (!status) status = replace(t, PSDMP_CODEGEN_IN_TAU, torque, p->output, p->outputs);
  if (!status && p->inner) status = replace(t, PSDMP_CODEGEN_IN_TAU, torque, p->inner, p->outputs);
  if (status) return status;
  p->early = p->late = NULL; /* the inverse is no longer symmetric, as two stages want it */
  for (int m = 0; m < 2; m++) less_product(g, n, p->output + 2 * nn, by + m * nn, p->output + m * nn);
  add_rows(t, by);
  psdm_ref *all = PSDMP_BASE_NEW(t->arena, 3 * nn, psdm_ref);
  if (!all) return PSDM_E_MEMORY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i * n + j] = NUM(i == j);
      for (int k = 0; k < n; k++)
        A[i * n + j] = ADD(A[i * n + j], MUL(p->output[2 * nn + i * n + k], by[2 * nn + k * n + j]));
      for (int m = 0; m < 3; m++) all[i * 3 * n + m * n + j] = p->output[m * nn + i * n + j];
    }
  eliminate(g, n, A, all, 3 * n);
  for (int i = 0; i < 3 * nn; i++) p->output[i % (3 * n) / n * nn + i / (3 * n) * n + i % n] = all[i];
  if (p->inner) memcpy(p->inner, p->output + 2 * nn, (size_t)nn * sizeof *p->inner);
  return PSDM_OK;
}

static psdm_status linearize_forward(tracer *t, psdm_error *error) {
  psdmp_codegen_program *p = t->p;
  int n = t->n, nn = n * n;
  psdm_graph *g = t->g;
  psdm_ref *by = PSDMP_BASE_NEW(t->arena, 4 * nn, psdm_ref), *Minv = by + 3 * nn;
  psdm_status status = by ? slopes(t, by) : PSDM_E_MEMORY;
  if (!status && t->k->loaded) return linearize_loaded(t, by, error);
  if (!status) status = drive_less(t, p->output, p->outputs);
  if (!status && p->inner) status = drive_less(t, p->inner, p->outputs);
  if (!status && p->early) status = drive_less(t, p->early, (size_t)psdmp_codegen_stage_values(n));
  if (status) return status;
  for (int m = 0; m < 2; m++) less_product(g, n, p->output + 2 * nn, by + m * nn, p->output + m * nn);
  add_rows(t, by);
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
  if (p->function == PSDM_F_REGRESSOR) return widen(t);
  trace_torques(t);
  switch (p->function) {
    case PSDM_F_FORWARD: return forward(t);
    case PSDM_F_LINEARIZE_INVERSE: return linearize_inverse(t);
    case PSDM_F_LINEARIZE_FORWARD: return linearize_forward(t, error);
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
  if (p->function != PSDM_F_FRICTION_STEP) p->length[PSDMP_CODEGEN_IN_Z] = t->k->drag.states;
  if (!status) status = psdm_graph_status(t->g);
  if (!status) status = psdm_graph_cost(t->g, p->output, p->outputs, &p->cost);
  return status == PSDM_E_MEMORY ? psdmp_base_no_memory(t->code->robot->file, error) : status; /* others are told */
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

psdm_status psdmp_codegen_friction_build(psdm_code *code, psdm_function f, psdmp_codegen_program *p,
                                         psdm_error *error) {
  const psdm_code_options *o = &code->options;
  psdm_status status =
      psdmp_codegen_program_shape(code->robot, psdm_model_l(code->model), o, f, &code->arena, p, error);
  if (status) return status;
  tracer t = tracer_of(code, p);
  p->method = "direct";
  if (f == PSDM_F_FRICTION_STEP) {
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
