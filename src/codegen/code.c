/* code.c: from a robot to the operation graphs of its functions, by the cheaper of two methods. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/friction_priv.h"
#include "codegen/loop_priv.h"
#include "codegen/trial.h"
#include "model/model.h"
#include "psdm/base_parameters.h"
#include "psdm/cartesian.h"
#include "psdm/eval.h"
#include "psdm/reduce.h"
#include "psdm/rigid.h"
#include "robot/robot.h"

/* beyond so many bodies the closed form has more terms than any recursion has operations */
enum { EXPANDED_BODIES = 8 };

/* from so many joints on straight-line products of matrices no longer fit an instruction cache */
enum { LOOP_JOINTS = 6 };

/* of M with ones on its diagonal: accelerations have four right digits or fewer */
#define PSDMP_CODEGEN_ILL_CONDITIONED 1e12

/* the arguments that each function may take beside its inputs */
static const struct shape {
  bool theta, gravity, payload, wrench;
} shapes[PSDM_FUNCTION_COUNT] = {
    [PSDM_F_INVERSE] = {true, true, true, true},
    [PSDM_F_GRAVITY] = {true, true, true, false},
    [PSDM_F_BIAS] = {true, true, true, true},
    [PSDM_F_MASS] = {true, false, true, false},
    [PSDM_F_FORWARD] = {true, true, true, true},
    [PSDM_F_REGRESSOR] = {false, true, false, false},
    [PSDM_F_ENERGY] = {true, true, true, false},
    [PSDM_F_LINEARIZE_INVERSE] = {true, true, true, false},
    [PSDM_F_LINEARIZE_FORWARD] = {true, true, true, false},
    [PSDM_F_INVERSE_MASS] = {true, false, true, false},
    [PSDM_F_CORIOLIS] = {true, false, true, false},
    [PSDM_F_MASS_RATE] = {true, false, true, false},
    [PSDM_F_MOMENTUM] = {true, false, true, false},
    [PSDM_F_MOMENTUM_RATE] = {true, true, true, false},
    [PSDM_F_INNOVATIONS] = {true, false, true, false},
    [PSDM_F_INVERSE_ALONG] = {true, true, true, false},
    [PSDM_F_FORWARD_ALONG] = {true, true, true, false},
    [PSDM_F_INVERSE_SECOND] = {true, true, true, false},
    [PSDM_F_LINEARIZE_SECOND] = {true, true, true, false},
    [PSDM_F_SENSITIVITY] = {true, true, true, false},
    [PSDM_F_CARTESIAN_MASS] = {true, false, true, false},
    [PSDM_F_CARTESIAN_CORIOLIS] = {true, false, true, false},
    [PSDM_F_CARTESIAN_GRAVITY] = {true, true, true, false},
    [PSDM_F_CARTESIAN_FACTOR] = {true, false, true, false},
    [PSDM_F_CARTESIAN_INVERSE] = {true, false, true, false},
    [PSDM_F_CARTESIAN_NULL_SPACE] = {true, false, true, false},
};

/* ---- the shape of one function ---- */

/* whether "q qd qdd" has a word */
static bool takes(psdm_function f, const char *input) {
  size_t length = strlen(input);
  for (const char *at = psdm_function_inputs(f); *at; at += strcspn(at, " "), at += *at == ' ')
    if (strcspn(at, " ") == length && strncmp(at, input, length) == 0) return true;
  return false;
}

int psdmp_codegen_width(const psdm_code_options *o, int l, psdm_function f) {
  if (psdm_function_is_task(f)) return o->directions ? psdm_directions_count(o->directions) : PSDM_DIRECTIONS;
  return f == PSDM_F_REGRESSOR || f == PSDM_F_SENSITIVITY ? l : 0;
}

psdm_status psdmp_codegen_program_shape(const psdm_robot *r, int l, const psdm_code_options *o, psdm_function f,
                                        psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error) {
  const struct shape *s = &shapes[f];
  int n = r->n, more = (o->friction_columns ? 2 * n : 0) + (o->drive_columns ? n : 0), rows, columns;
  static const struct {
    psdmp_codegen_block block;
    const char *name;
  } inputs[] = {{PSDMP_CODEGEN_IN_QD, "qd"},     {PSDMP_CODEGEN_IN_QDD, "qdd"}, {PSDMP_CODEGEN_IN_TAU, "tau"},
                {PSDMP_CODEGEN_IN_DQ, "dq"},     {PSDMP_CODEGEN_IN_DQD, "dqd"}, {PSDMP_CODEGEN_IN_DQDD, "dqdd"},
                {PSDMP_CODEGEN_IN_DTAU, "dtau"}, {PSDMP_CODEGEN_IN_EQ, "eq"},   {PSDMP_CODEGEN_IN_EQD, "eqd"},
                {PSDMP_CODEGEN_IN_EQDD, "eqdd"}};
  bool caller = o->sincos == PSDM_SINCOS_CALLER;
  *program = (psdmp_codegen_program){.function = f, .name = psdm_function_name(f)};
  program->length[PSDMP_CODEGEN_IN_THETA] = o->theta_argument && s->theta ? l : 0;
  program->length[PSDMP_CODEGEN_IN_GRAVITY] = o->gravity_argument && s->gravity ? 3 : 0;
  program->length[PSDMP_CODEGEN_IN_PAYLOAD] = o->payload_argument && s->payload ? 10 : 0;
  program->length[PSDMP_CODEGEN_IN_WRENCH] = o->wrench_argument && s->wrench ? 6 : 0;
  program->length[PSDMP_CODEGEN_IN_SINE] = program->length[PSDMP_CODEGEN_IN_COSINE] = caller ? n : 0;
  program->length[PSDMP_CODEGEN_IN_Q] = n;
  for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
    program->length[inputs[k].block] = takes(f, inputs[k].name) ? n : 0;
  program->length[PSDMP_CODEGEN_IN_P] = r->closure ? r->closure->passives : 0;
  int each =
      psdm_function_shape(f, n, psdmp_codegen_width(o, f == PSDM_F_REGRESSOR ? l + more : l, f), &rows, &columns);
  for (const char *at = psdm_function_results(f); *at; at += *at == ' ') {
    size_t length = strcspn(at, " ");
    const char *name = psdmp_base_arena_text(arena, at, length);
    if (!name) return psdmp_base_no_memory(r->file, error);
    program->result[program->results] = (psdmp_codegen_result){name, program->results * each, each};
    program->results++;
    at += length;
  }
  program->outputs = (size_t)(program->results * each);
  program->output = psdmp_base_arena_alloc(arena, program->outputs * sizeof *program->output);
  if (f == PSDM_F_LINEARIZE_FORWARD && n >= LOOP_JOINTS) {
    program->inner = psdmp_base_arena_alloc(arena, program->outputs * sizeof *program->inner);
    if (!program->inner) return psdmp_base_no_memory(r->file, error);
  }
  if (!program->output || psdm_graph_new(arena->allocator, &program->graph))
    return psdmp_base_no_memory(r->file, error);
  return PSDM_OK;
}

/* ---- the cheaper method ---- */

static long operations(const psdm_cost *c) { return c->mult + c->add + c->div + c->sqrt; }

/* fewer operations, then, for latency, less depth */
static psdm_status finish(const psdm_robot *r, const psdm_code_options *o, psdmp_codegen_program *p,
                          psdm_error *error) {
  if (!p->graph) return PSDM_OK;
  psdm_status status = psdm_graph_status(p->graph);
  if (!status) status = psdm_graph_factor(p->graph, p->output, p->outputs);
  if (!status && !o->throughput) status = psdm_graph_balance(p->graph, p->output, p->outputs);
  if (!status && p->inner) status = psdm_graph_factor(p->graph, p->inner, p->outputs);
  if (!status && p->inner && !o->throughput) status = psdm_graph_balance(p->graph, p->inner, p->outputs);
  if (!status && p->early) status = psdm_graph_factor(p->graph, p->early, (size_t)psdmp_codegen_stage_values(r->n));
  if (!status && p->early) status = psdm_graph_factor(p->graph, p->late, (size_t)(2 * r->n * r->n));
  if (!status) status = psdm_graph_cost(p->graph, p->output, p->outputs, &p->cost);
  return status ? psdmp_base_fail(error, status, r->file, 0, 0, "%s while simplifying '%s'", psdm_status_text(status),
                                  p->name)
                : PSDM_OK;
}

static bool has_expanded(psdm_function f) { return f < PSDM_F_JACOBIAN; }

static bool outside_model(const psdm_code_options *o) {
  return o->gravity_argument || o->payload_argument || o->wrench_argument;
}

static void drop(psdmp_codegen_program *p) {
  psdm_graph_free(p->graph);
  *p = (psdmp_codegen_program){0};
}

/* a sentence for psdm_code_note */
static psdm_status add_note(psdm_code *code, const char *format, ...) {
  char text[800];
  va_list arguments;
  va_start(arguments, format);
  psdmp_base_vprint(text, sizeof text, format, arguments);
  va_end(arguments);
  const char **all = psdmp_base_arena_alloc(&code->arena, (size_t)(code->notes + 1) * sizeof *all);
  char *copy = psdmp_base_arena_text(&code->arena, text, strlen(text));
  if (!all || !copy) return PSDM_E_MEMORY;
  if (code->notes) memcpy(all, code->note, (size_t)code->notes * sizeof *all);
  all[code->notes++] = copy;
  code->note = all;
  return PSDM_OK;
}

/* a program is within this of the recursions, or another method is taken, or a note says so */
static const double GOOD = 1e-12;

static psdm_status check(psdm_code *code, psdmp_codegen_trial *t, psdmp_codegen_program *p, psdm_error *error) {
  if (!p->graph) return PSDM_OK;
  psdm_status status = psdmp_codegen_program_check(t, p);
  const char *file = code->robot->file;
  if (status == PSDM_E_SINGULAR)
    return psdmp_base_fail(error, status, file, 0, 0, "'%s' does not exist: %s", p->name,
                           psdm_function_is_task(p->function) ? "the link cannot move in every direction of the task"
                                                              : "the mass matrix is singular");
  return status
             ? psdmp_base_fail(error, status, file, 0, 0, "%s while checking '%s'", psdm_status_text(status), p->name)
             : PSDM_OK;
}

/* beyond the tolerance there is no code */
static psdm_status refuse(const psdm_code *code, const psdmp_codegen_program *p, psdm_error *error) {
  const char *file = code->robot->file, *way = "";
  if (!isfinite(p->error))
    return psdmp_base_fail(error, PSDM_E_ROBOT, file, 0, 0,
                           "'%s' by the %s method gives no finite numbers; it is not generated", p->name, p->method);
  if (p->friction && code->friction.loaded && psdmp_codegen_inverts(p->function))
    return psdmp_base_fail(error, PSDM_E_ROBOT, file, 0, 0,
                           "'%s' is off by %.2g of the largest number: friction depends on a load that is too far from "
                           "this robot's rigid torque for accelerations to be found; it is not generated",
                           p->name, p->error);
  if (strcmp(p->method, "expanded") == 0) way = "; the recursive method does without base parameters";
  if (p->length[PSDMP_CODEGEN_IN_THETA])
    way = "; base parameters of this robot are ill-conditioned, baked parameters do without them";
  return psdmp_base_fail(
      error, PSDM_E_ROBOT, file, 0, 0,
      "'%s' by the %s method differs from the recursion by %.2g of the largest number; it is not generated%s", p->name,
      p->method, p->error, way);
}

/* beyond this, moving inertias by the base parameters' formulas, or the closed form, has cost digits that need not
 * be lost */
static const double PRECISE = 1e-13;

static void swap(psdmp_codegen_program *a, psdmp_codegen_program *b) {
  psdmp_codegen_program keep = *a;
  *a = *b;
  *b = keep;
}

static psdm_status trace(psdm_code *code, psdm_function f, bool plain, psdmp_base_arena *arena,
                         psdmp_codegen_program *p, psdm_error *error) {
  if (code->loop) return psdmp_codegen_build_closed(code, f, plain, arena, p, error);
  return psdmp_codegen_build_recursive(code->robot, code->model, code->theta, &code->options, f, plain, arena, p,
                                       error);
}

/* traced, not yet factored; twice where the first is not precise, and the better one stays */
psdm_status psdmp_codegen_build_precise(psdm_code *code, psdm_function f, psdmp_codegen_trial *t,
                                        psdmp_base_arena *arena, psdmp_codegen_program *best, psdm_error *error) {
  psdmp_codegen_program other = {0};
  psdm_status status = trace(code, f, false, arena, best, error);
  if (!status) status = check(code, t, best, error);
  if (status || !best->graph || best->error <= PRECISE) return status;
  status = trace(code, f, true, arena, &other, error);
  if (!status) status = check(code, t, &other, error);
  if (!status && other.graph && !(other.error >= best->error / 4)) swap(&other, best);
  drop(&other);
  return status;
}

/* which of two programs: fewer operations, unless that costs digits */
static bool is_better(const psdmp_codegen_program *other, const psdmp_codegen_program *best) {
  if (!best->graph) return true;
  return operations(&other->cost) < operations(&best->cost) && other->error <= fmax(PRECISE, best->error);
}

/* the rigid part of a function by each method that is asked for; the one with fewer operations stays */
static psdm_status build_rigid(psdm_code *code, psdm_function f, psdmp_codegen_trial *t, psdmp_codegen_program *best,
                               psdm_error *error) {
  const psdm_code_options *o = &code->options;
  psdmp_codegen_program other = {0};
  bool expanded = has_expanded(f) && o->method != PSDM_CODE_RECURSIVE && psdm_model_p(code->model) > 0;
  bool recursive = o->method != PSDM_CODE_EXPANDED || !has_expanded(f);
  if (expanded && o->method == PSDM_CODE_AUTO && code->model->combined && (o->theta_argument || f == PSDM_F_REGRESSOR))
    recursive = false; /* columns that are no standard parameters' */
  psdm_status status = PSDM_OK;
  if (recursive) status = psdmp_codegen_build_precise(code, f, t, &code->arena, best, error);
  if (!status) status = finish(code->robot, o, best, error);
  if (!status) status = check(code, t, best, error);
  if (!status && expanded) {
    status = psdmp_codegen_build_expanded(code->robot, code->model, code->theta, o, f,
                                          best->graph ? operations(&best->cost) : 0, &code->arena, &other, error);
    if (!status) status = finish(code->robot, o, &other, error);
    if (!status) status = check(code, t, &other, error);
  }
  if (!status && other.graph && is_better(&other, best)) {
    swap(&other, best);
  } else if (!status && other.graph && operations(&other.cost) < operations(&best->cost)) {
    if (add_note(
            code,
            "'%s': the closed form of this robot is off by %.2g of the largest number; the recursive method is used",
            best->name, other.error))
      status = psdmp_base_no_memory(code->robot->file, error);
  }
  drop(&other);
  return status;
}

/* one function: its rigid part, what resists, and whether that is right */
static psdm_status build(psdm_code *code, psdm_function f, psdmp_codegen_trial *t, psdmp_codegen_program *best,
                         psdm_error *error) {
  bool alone = psdmp_codegen_is_friction(f), resisted = code->friction.there && psdmp_codegen_has_friction(f);
  psdm_status status =
      alone ? psdmp_codegen_friction_build(code, f, best, error) : build_rigid(code, f, t, best, error);
  if (!status && resisted && !alone) status = psdmp_codegen_friction_add(code, best, error);
  if (!status && resisted) status = check(code, t, best, error);
  if (!status && !(best->error <= psdmp_codegen_tolerance(code))) status = refuse(code, best, error);
  if (!status && best->error > GOOD &&
      add_note(code, "'%s' differs from the recursion by up to %.2g of the largest number", best->name, best->error))
    status = psdmp_base_no_memory(code->robot->file, error);
  if (status) drop(best);
  return status;
}

/* ---- the bundle ---- */

/* letters, digits and _, not starting with a digit */
static bool is_identifier(const char *text) {
  if (!isalpha((unsigned char)*text) && *text != '_') return false;
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  return strlen(text) <= 60;
}

/* the robot's name with everything else turned into _ */
static const char *identifier(psdmp_base_arena *arena, const char *name) {
  char text[56] = "";
  size_t at = 0;
  if (!isalpha((unsigned char)*name)) at = (size_t)snprintf(text, sizeof text, "robot_");
  for (; *name && at + 1 < sizeof text; name++)
    text[at++] = isalnum((unsigned char)*name) && (unsigned char)*name < 128 ? *name : '_';
  return psdmp_base_arena_text(arena, text, at);
}

/* functions of friction alone are there where friction is */
static psdm_status set_friction(psdm_code *code, psdm_error *error) {
  psdm_code_options *o = &code->options;
  const unsigned alone = 1u << PSDM_F_FRICTION, step = 1u << PSDM_F_FRICTION_STEP;
  psdm_status status = psdmp_codegen_friction_set(code, error);
  if (status) return status;
  const psdmp_parameters_drag *d = &code->friction.drag;
  unsigned missing = (code->friction.there ? 0 : alone | step) | (d->states ? 0 : step);
  if ((o->functions & missing & ~o->optional) || !(o->functions & ~missing))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           code->friction.there ? "function friction_step: this friction has nothing to remember"
                                                : "functions friction and friction_step need a friction model");
  o->functions &= ~missing;
  if (d->states) o->functions |= step;
  if (!code->friction.there) return PSDM_OK;
  if (d->states > PSDMP_CODEGEN_BLOCK)
    return psdmp_base_fail(error, PSDM_E_LIMIT, NULL, 0, 0, "friction remembers %d numbers; at most %d are supported",
                           d->states, (int)PSDMP_CODEGEN_BLOCK);
  if (o->friction_columns)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "friction columns of Coulomb and viscous friction, or those of a friction model: not both");
  if (o->wraps && (d->states || d->p))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "wrappers pass on friction of the models up to power only: no memory, no load");
  return PSDM_OK;
}

/* functions that this robot, link and directions do not have */
static psdm_status check_functions(psdm_code *code, psdm_error *error) {
  psdm_code_options *o = &code->options;
  const psdm_eval_options task = {.link = o->link, .point = o->point, .directions = o->directions};
  char text[800] = "";
  psdm_error why;
  if (o->directions & ~(unsigned)PSDM_ALL_DIRECTIONS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "unknown direction of a task");
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++) {
    if (!(o->functions >> f & 1) || !psdm_eval_check(code->robot, (psdm_function)f, &task, &why)) continue;
    if (!(o->optional >> f & 1) || o->functions == 1u << f) {
      if (error) *error = why;
      return why.status;
    }
    code->omitted |= 1u << f;
    o->functions &= ~(1u << f);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
             text[0] ? ", " : "omitted: ", psdm_function_name((psdm_function)f));
  }
  if (!text[0]) return PSDM_OK;
  return add_note(code, "%s; %s", text, why.text) ? psdmp_base_no_memory(code->robot->file, error) : PSDM_OK;
}

static psdm_status set_options(psdm_code *code, const psdm_code_options *options, psdm_error *error) {
  psdm_code_options *o = &code->options;
  const psdm_robot *r = code->robot;
  if (options) *o = *options;
  if (!o->functions) o->functions = o->optional = (2u << PSDM_F_POSE) - 1;
  /* other states hide a GPU's latency, and registers are what it runs out of */
  if (o->target == PSDM_CODE_CUDA) o->throughput = true;
  if (o->functions >> PSDM_FUNCTION_COUNT)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "unknown function");
  if ((unsigned)o->friction >= PSDM_FRICTION_KINDS)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "unknown friction model");
  unsigned asked = o->functions;
  if (psdmp_codegen_wrap_options(o, error)) return PSDM_E_ARGUMENT;
  /* what wrappers add follows from what is there; an FMU is nothing without accelerations */
  if (o->optional >> PSDM_F_FORWARD & 1) o->optional |= o->functions & ~asked;
  if (o->wraps >> PSDM_CODE_WRAP_FMU & 1) o->optional &= ~(1u << PSDM_F_FORWARD);
  if (o->prefix && !is_identifier(o->prefix))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "the prefix must be a C identifier of at most 60 letters, digits and _");
  o->prefix =
      o->prefix ? psdmp_base_arena_text(&code->arena, o->prefix, strlen(o->prefix)) : identifier(&code->arena, r->name);
  if (o->command) o->command = psdmp_base_arena_text(&code->arena, o->command, strlen(o->command));
  if (code->arena.failed) return psdmp_base_no_memory(r->file, error);
  int joint;
  if (psdmp_robot_named_or_fail(r, o->link, &joint, error)) return PSDM_E_ARGUMENT;
  if (o->link) o->link = r->link[joint].name; /* the caller's need not last */
  if (o->link && (o->functions >> PSDM_F_JACOBIAN & 1) && !psdm_robot_moves(r, joint)) {
    char name[80];
    psdmp_base_quote(o->link, strlen(o->link), name, sizeof name);
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0,
                           "link '%s' is fixed to the base: it has a pose but no Jacobian", name);
  }
  psdm_status status = check_functions(code, error);
  if (!status) status = psdmp_codegen_loop_options(r, o, error);
  if (status) return status;
  if (outside_model(o) && o->method == PSDM_CODE_EXPANDED)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0,
                           "gravity, payload and wrench as arguments need the recursive method");
  return PSDM_OK;
}

/* base parameters that the file states by name; false unless all are there */
static bool stated_theta(const psdm_code *code, double *theta) {
  int l = psdm_model_l(code->model), found = 0;
  for (int j = 0; j < l; j++)
    for (int k = 0; k < psdm_robot_thetas(code->robot); k++) {
      double value;
      if (strcmp(psdm_robot_theta(code->robot, k, &value), psdm_model_base_name(code->model, j)) != 0) continue;
      theta[j] = value;
      found++;
      break;
    }
  return l > 0 && found == l;
}

static bool needs_inertia(unsigned functions) {
  const unsigned without =
      1u << PSDM_F_REGRESSOR | 1u << PSDM_F_JACOBIAN | 1u << PSDM_F_POSE | 1u << PSDM_F_CARTESIAN_JACOBIAN;
  return (functions & ~without) != 0;
}

psdm_robot psdmp_codegen_any_gravity(const psdm_robot *r) {
  static const double askew[3] = {3.1, 4.2, 8.3};
  psdm_robot any = *r;
  memcpy(any.gravity, askew, sizeof askew);
  return any;
}

/* the functions of the closed form where they can win, its base parameters anyway */
static psdm_status set_model(psdm_code *code, const psdm_allocator *allocator, psdm_error *error) {
  const psdm_robot *r = code->robot;
  const psdm_code_options *o = &code->options;
  bool functions = o->method == PSDM_CODE_EXPANDED ||
                   (!r->closure && o->method == PSDM_CODE_AUTO && r->bodies <= EXPANDED_BODIES && !outside_model(o));
  psdm_status status = PSDM_E_ARGUMENT;
  psdm_robot any = psdmp_codegen_any_gravity(r); /* whose base parameters serve every direction of gravity */
  if (o->gravity_argument) r = &any;
  if (functions) status = psdm_model_derive(r, NULL, allocator, &code->model, NULL, error);
  if (status && status != PSDM_E_MEMORY && o->method != PSDM_CODE_EXPANDED)
    status = psdm_base_parameters_derive(r, NULL, allocator, &code->model, NULL, error);
  return status;
}

/* values of the base parameters, where they are known */
static psdm_status set_theta(psdm_code *code, psdm_error *error) {
  const psdm_robot *r = code->robot;
  const psdm_code_options *o = &code->options;
  bool columns = o->functions & (1u << PSDM_F_REGRESSOR | 1u << PSDM_F_SENSITIVITY);
  if (o->gravity_argument && (r->coupled || r->closure) && (o->theta_argument || columns))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0,
                           "%s have other base parameters for other gravity: with gravity as an argument neither theta "
                           "as an argument nor a regressor",
                           r->closure ? "closed loops" : "coupled joints");
  size_t standard = (size_t)psdm_model_standard_count(code->model), l = (size_t)psdm_model_l(code->model);
  double *theta = psdmp_base_arena_alloc(&code->arena, (l + standard + 1) * sizeof *theta), *pi = theta + l;
  if (!theta) return psdmp_base_no_memory(r->file, error);
  psdm_robot_parameters(r, pi);
  if (psdm_robot_ready(r, NULL) == PSDM_OK) {
    psdm_model_theta(code->model, pi, theta);
    code->theta = theta;
  } else if (stated_theta(code, theta)) {
    code->theta = theta;
  } else if (!o->theta_argument && needs_inertia(o->functions)) {
    return psdm_robot_ready(r, error);
  }
  return PSDM_OK;
}

/* Accelerations exist only where the mass matrix can be inverted. Parameters that are arguments, or a load that is
 * one, may yet make it so. */
static psdm_status check_mass(psdm_code *code, const psdm_allocator *allocator, psdm_error *error) {
  psdm_code_options *o = &code->options;
  unsigned inverted = 0;
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
    if (psdmp_codegen_inverts((psdm_function)f) || psdmp_codegen_divides((psdm_function)f)) inverted |= 1u << f;
  unsigned wanted = o->functions & inverted;
  double condition = 0;
  psdm_error why;
  char text[800] = "";
  if (!wanted || code->given || o->theta_argument || o->payload_argument) return PSDM_OK;
  psdm_status status = psdm_mass_condition(code->robot, allocator, &condition, &why);
  /* base parameters alone are known */
  if (status && status != PSDM_E_SINGULAR && status != PSDM_E_MEMORY) return PSDM_OK;
  if (status && (status == PSDM_E_MEMORY || (wanted & ~o->optional) || !(o->functions & ~wanted))) {
    if (error) *error = why;
    return status;
  }
  if (status) {
    code->omitted |= wanted;
    o->functions &= ~wanted;
    snprintf(text, sizeof text, "omitted: ");
    for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
      if (wanted >> f & 1)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[10] ? ", " : "",
                 psdm_function_name((psdm_function)f));
    snprintf(text + strlen(text), sizeof text - strlen(text), "; %s", why.text);
  } else if (condition > PSDMP_CODEGEN_ILL_CONDITIONED) {
    psdmp_base_print(text, sizeof text,
                     "the mass matrix is nearly singular (condition %.1e): accelerations have few right digits",
                     condition);
  }
  return text[0] && add_note(code, "%s", text) ? psdmp_base_no_memory(code->robot->file, error) : PSDM_OK;
}

/* share of the functions that come before f */
static bool progress(const psdm_code_options *o, int f) {
  int before = 0, all = 0;
  for (int k = 0; k < PSDM_FUNCTION_COUNT; k++) {
    all += o->functions >> k & 1;
    before += k < f && (o->functions >> k & 1);
  }
  return !o->progress || o->progress(o->progress_user, "generating", (double)before / all);
}

/* what graphs and text of the functions take, about: bytes times a power of the joints (measured with 30 and 60
 * joints in general position, without a search) */
static psdm_status ask_memory(const psdm_code *code, psdm_error *error) {
  static const struct {
    double bytes, power;
  } table[PSDM_FUNCTION_COUNT] = {[PSDM_F_INVERSE] = {15e4, 1},
                                  [PSDM_F_GRAVITY] = {15e4, 1},
                                  [PSDM_F_BIAS] = {15e4, 1},
                                  [PSDM_F_MASS] = {8e3, 2},
                                  [PSDM_F_FORWARD] = {900, 3},
                                  [PSDM_F_REGRESSOR] = {18e3, 2},
                                  [PSDM_F_ENERGY] = {15e4, 1},
                                  [PSDM_F_JACOBIAN] = {15e4, 1},
                                  [PSDM_F_POSE] = {15e4, 1},
                                  [PSDM_F_LINEARIZE_INVERSE] = {35e3, 2},
                                  [PSDM_F_LINEARIZE_FORWARD] = {7e3, 3},
                                  [PSDM_F_INVERSE_MASS] = {7e3, 3},
                                  [PSDM_F_CORIOLIS] = {35e3, 2},
                                  [PSDM_F_MASS_RATE] = {35e3, 2},
                                  [PSDM_F_MOMENTUM] = {30e4, 1},
                                  [PSDM_F_MOMENTUM_RATE] = {45e4, 1},
                                  [PSDM_F_INNOVATIONS] = {7e3, 3},
                                  [PSDM_F_INVERSE_ALONG] = {45e4, 1},
                                  [PSDM_F_FORWARD_ALONG] = {7e3, 3},
                                  [PSDM_F_INVERSE_SECOND] = {12e5, 1},
                                  [PSDM_F_LINEARIZE_SECOND] = {12e4, 2},
                                  [PSDM_F_SENSITIVITY] = {2e4, 3},
                                  [PSDM_F_CARTESIAN_JACOBIAN] = {15e4, 1},
                                  [PSDM_F_CARTESIAN_MASS] = {7e3, 3},
                                  [PSDM_F_CARTESIAN_CORIOLIS] = {7e3, 3},
                                  [PSDM_F_CARTESIAN_GRAVITY] = {7e3, 3},
                                  [PSDM_F_CARTESIAN_FACTOR] = {2e4, 3},
                                  [PSDM_F_CARTESIAN_INVERSE] = {7e3, 3},
                                  [PSDM_F_CARTESIAN_NULL_SPACE] = {7e3, 3}};
  const psdm_robot *r = code->robot;
  double need = 0;
  char what[64];
  for (int f = 0; f < PSDM_FUNCTION_COUNT; f++)
    if (code->options.functions >> f & 1) need += table[f].bytes * pow(r->bodies, table[f].power);
  psdmp_base_print(what, sizeof what, "code for these %d joints", r->bodies);
  return psdmp_base_memory_ask(r->file, what, need, r->memory, "; fewer functions need less", error);
}

/* given: a model to take as it is; NULL: the robot's own */
static psdm_status build_bundle(const psdm_robot *r, const psdm_model *given, const psdm_code_options *options,
                                const psdm_allocator *allocator, psdm_code **out, psdm_error *error) {
  *out = NULL;
  if (!r->n)
    return psdmp_base_fail(error, PSDM_E_ROBOT, r->file, 0, 0, "no joint moves: there are no dynamics to generate");
  psdm_code *code = psdmp_base_alloc(allocator, sizeof *code);
  if (!code) return psdmp_base_no_memory(r->file, error);
  code->arena.allocator = allocator;
  code->robot = r;
  code->given = given != NULL;
  psdm_status status = set_options(code, options, error);
  if (!status) status = set_friction(code, error);
  if (!status) status = ask_memory(code, error);
  if (!status && given)
    status = psdmp_model_keep(given, NULL, NULL, NULL, allocator, &code->model) ? psdmp_base_no_memory(r->file, error)
                                                                                : PSDM_OK;
  else if (!status) status = set_model(code, allocator, error);
  if (!status) status = set_theta(code, error);
  if (!status) status = psdmp_codegen_loop_new(code, error);
  if (!status) status = check_mass(code, allocator, error);
  psdmp_base_arena scratch = {.allocator = allocator};
  psdmp_codegen_trial t = {.arena = &scratch};
  if (!status) status = psdmp_codegen_trial_new(code, &scratch, &t, error);
  if (!status) status = psdmp_codegen_loop_check(code, &t, error);
  for (int f = 0; f < PSDM_FUNCTION_COUNT && !status; f++) {
    if (!(code->options.functions >> f & 1)) continue;
    if (!progress(&code->options, f)) {
      status = psdmp_base_fail(error, PSDM_E_STOPPED, r->file, 0, 0, "stopped while generating code");
      break;
    }
    psdm_error why = {0};
    status = build(code, (psdm_function)f, &t, &code->program[code->programs], &why);
    code->programs += !status;
    /* what rounding alone keeps from being singular */
    if (status == PSDM_E_SINGULAR && code->options.optional >> f & 1) {
      code->omitted |= 1u << f;
      status = add_note(code, "omitted: %s; %s", psdm_function_name((psdm_function)f), why.text)
                   ? psdmp_base_no_memory(r->file, &why)
                   : PSDM_OK;
    }
    if (status && error) *error = why;
  }
  psdmp_codegen_trial_free(&t);
  psdmp_base_arena_free(&scratch);
  if (status) {
    psdm_code_free(code);
    return status;
  }
  *out = code;
  return PSDM_OK;
}

psdm_status psdm_code_build(const psdm_robot *r, const psdm_code_options *options, const psdm_allocator *allocator,
                            psdm_code **out, psdm_error *error) {
  return build_bundle(r, NULL, options, allocator, out, error);
}

psdm_status psdm_code_build_model(const psdm_robot *r, const psdm_model *model, const psdm_code_options *options,
                                  const psdm_allocator *allocator, psdm_code **out, psdm_error *error) {
  psdm_code_options expanded = options ? *options : (psdm_code_options){0};
  *out = NULL;
  if (!model->p) return psdmp_base_fail(error, PSDM_E_ARGUMENT, r->file, 0, 0, "the model has no functions");
  psdm_status status = psdm_model_match(model, r, error);
  if (status) return status;
  expanded.method = PSDM_CODE_EXPANDED;
  if (!expanded.functions) expanded.functions = 1u << PSDM_F_INVERSE;
  return build_bundle(r, model, &expanded, allocator, out, error);
}

void psdm_code_free(psdm_code *code) {
  if (!code) return;
  for (int k = 0; k < code->programs; k++) psdm_graph_free(code->program[k].graph);
  psdmp_codegen_loop_free(code);
  psdm_model_free(code->model);
  psdmp_base_arena_free_owner(&code->arena, code);
}

int psdm_code_count(const psdm_code *code) { return code->programs; }

psdm_function psdm_code_at(const psdm_code *code, int index, psdm_cost *cost, const char **method) {
  const psdmp_codegen_program *p = &code->program[index];
  if (cost) *cost = p->cost;
  if (method) *method = p->method;
  return p->function;
}

double psdm_code_error(const psdm_code *code, int index) { return code->program[index].error; }

const char *psdm_code_note(const psdm_code *code, int index) {
  return index >= 0 && index < code->notes ? code->note[index] : NULL;
}

unsigned psdm_code_omitted(const psdm_code *code) { return code->omitted; }

const char *psdm_code_prefix(const psdm_code *code) { return code->options.prefix; }
