/* recursive.c: the recursive method: builds a function's graph for many choices of frames, origins, zeros and
 * formulas, and keeps the one with the fewest operations. No rule wins everywhere, and counting takes microseconds. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "codegen/trace_priv.h"

/* shaken descents, how many may go by without a better result, and nodes that all may build: a second of search at
 * most */
enum { ROUNDS = 3, PATIENCE = 50, BUDGET = 30000000 }; /* rounds: times the patience */

/* the cost of a choice that must not be taken */
#define REFUSED (LONG_MAX / 2)

/* how much larger than the plain choice's numbers may become: one digit is all that operations may cost */
static const double GROWTH = 10;

/* the same for the null vectors on their way to their zeros, which costs its square */
static const double PIVOTED = 1e3;

static uint32_t random_below(uint64_t *seed, uint32_t n) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (uint32_t)((*seed >> 11) % n);
}

typedef struct search {
  const psdm_robot *robot; /* the chain's */
  const psdm_model *base;
  const psdm_code_options *options;
  psdm_function function;
  psdmp_codegen_program *program;
  psdmp_codegen_chain chain;
  psdmp_codegen_freedom freedom;
  psdmp_codegen_inertia inertia;
  psdmp_codegen_trace trace;
  psdm_ref *tree, *more; /* (bodies), (n x n + n) */
  /* linearizations by composite bodies: revolute joints, bodies without mass; else by differentiating */
  bool composite;
  psdm_ref *room;                    /* linearizations: psdmp_codegen_linear_room */
  int *other;                        /* (entries) */
  psdmp_codegen_choice best, frames; /* frames: what chain and inertia are set to, once they are */
  bool set;
  double growth, pivoted; /* of the plain choice's inertias */
  long cost;
  long budget; /* nodes that the search may still build */
} search;

/* ---- one function for one choice ---- */

/* torques of accelerations and rates on the independent joints */
static void torques(search *s, psdmp_codegen_block rate, psdmp_codegen_block acc, bool gravity, psdm_ref *tau) {
  psdmp_codegen_motion_torques(&s->trace, rate, acc, gravity, s->tree, tau);
}

/* tau - bias */
static void drive(search *s, psdm_ref *out) {
  torques(s, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_COUNT, true, out);
  for (int i = 0; i < s->robot->n; i++)
    out[i] = psdm_graph_sub(s->trace.g, psdmp_codegen_argument(&s->trace, PSDMP_CODEGEN_IN_TAU, i), out[i]);
}

/* T = 1/2 qd . (M qd): momenta are the torques of accelerations qd without velocity or gravity */
static void energies(search *s, psdm_ref *out) {
  psdmp_codegen_trace *t = &s->trace;
  torques(s, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_QD, false, s->more);
  out[0] = t->zero;
  for (int i = 0; i < s->robot->n; i++)
    out[0] = psdm_graph_add(t->g, out[0],
                            psdm_graph_mul(t->g, psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QD, i), s->more[i]));
  out[0] = psdm_graph_scale(t->g, 0.5, out[0]);
  out[1] = psdmp_codegen_potential(t);
}

static void build_function(search *s) {
  psdmp_codegen_trace *t = &s->trace;
  psdm_ref *out = s->program->output;
  int joint = psdmp_robot_named(s->robot, s->options->link);
  switch (s->function) {
    case PSDM_F_INVERSE: torques(s, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD, true, out); break;
    case PSDM_F_GRAVITY: torques(s, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT, true, out); break;
    case PSDM_F_BIAS: torques(s, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_COUNT, true, out); break;
    case PSDM_F_ENERGY: energies(s, out); break;
    case PSDM_F_MASS:
      psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
      psdmp_codegen_mass_matrix(t, out);
      break;
    case PSDM_F_INVERSE_MASS:
      psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
      psdmp_codegen_mass_matrix(t, s->more);
      psdmp_codegen_inverse_mass(t, s->more, out);
      break;
    case PSDM_F_FORWARD:
      drive(s, out);
      psdmp_codegen_mass_matrix(t, s->more);
      psdmp_codegen_solve_mass(t, s->more, out);
      break;
    case PSDM_F_REGRESSOR:
      psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD);
      psdmp_codegen_move_out(t, true);
      psdmp_codegen_regressor(t, s->base, out);
      break;
    case PSDM_F_JACOBIAN:
      psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
      psdmp_codegen_jacobian_symbols(t, joint, out);
      break;
    case PSDM_F_POSE:
      psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
      psdmp_codegen_pose_symbols(t, joint, out);
      break;
    case PSDM_F_LINEARIZE_INVERSE: psdmp_codegen_linearize_inverse(t, s->composite, s->room, out); break;
    case PSDM_F_LINEARIZE_FORWARD:
      psdmp_codegen_linearize_forward(t, s->composite, s->room, out, s->program->inner);
      break;
    default:
      if (psdm_function_is_task(s->function)) psdmp_codegen_task(t, s->function, joint, s->composite, s->room, out);
      else psdmp_codegen_terms(t, s->function, s->composite, s->base, s->room, out);
      break;
  }
}

/* operations first, then angles, then depth */
static psdm_status price(search *s, long *cost) {
  psdm_cost c;
  psdm_status status = psdm_graph_cost(s->program->graph, s->program->output, s->program->outputs, &c);
  *cost = 4096 * (c.mult + c.add + c.div + c.sqrt) + 256 * c.sincos + c.depth;
  return status;
}

/* whether frames and inertias are those of the last choice: most genes do not move them */
static bool same_frames(const search *s, const psdmp_codegen_choice *choice) {
  const psdmp_codegen_choice *old = &s->frames;
  if (old->unit != choice->unit || old->zeros != choice->zeros) return false;
  for (int b = 0; b < s->chain.bodies; b++)
    if (old->gene[b][PSDMP_CODEGEN_GENE_ORIGIN] != choice->gene[b][PSDMP_CODEGEN_GENE_ORIGIN] ||
        old->gene[b][PSDMP_CODEGEN_GENE_TURN] != choice->gene[b][PSDMP_CODEGEN_GENE_TURN] ||
        old->gene[b][PSDMP_CODEGEN_GENE_TENSOR] != choice->gene[b][PSDMP_CODEGEN_GENE_TENSOR] ||
        old->gene[b][PSDMP_CODEGEN_GENE_PLACE] != choice->gene[b][PSDMP_CODEGEN_GENE_PLACE])
      return false;
  return memcmp(old->zero, choice->zero, (size_t)choice->zeros * sizeof *choice->zero) == 0;
}

/* whether some body kept its mass */
static bool has_mass(const search *s) {
  const psdmp_codegen_inertia *in = &s->inertia;
  for (int b = 0; b < s->chain.bodies; b++)
    for (int c = 0; c < in->columns; c++)
      if (in->value[10L * b * in->columns + c] != 0) return true;
  return false;
}

/* builds a choice in the search's graph */
static psdm_status try_choice(search *s, const psdmp_codegen_choice *choice, long *cost) {
  psdm_graph_clear(s->program->graph);
  if (!s->set || !same_frames(s, choice)) {
    psdmp_codegen_chain_set(&s->chain, choice, s->options->gravity_argument);
    psdmp_codegen_inertia_set(&s->chain, &s->freedom, choice, &s->inertia);
    s->frames = *choice;
    s->set = true;
  }
  s->trace.choice = choice;
  build_function(s);
  s->budget -= psdm_graph_size(s->program->graph) + 50;
  psdm_status status = price(s, cost);
  if (s->inertia.growth > GROWTH * fmax(s->growth, 1) || s->inertia.pivoted > fmax(s->pivoted, PIVOTED) ||
      (s->composite && has_mass(s)))
    *cost = REFUSED;
  return status;
}

/* ---- the search ---- */

/* the composite bodies of the mass matrix, a payload and a leaf's turn are made for S */
static bool takes_tensor(const search *s, int b) {
  bool torques = s->function == PSDM_F_INVERSE || s->function == PSDM_F_BIAS || s->function == PSDM_F_ENERGY;
  return torques && s->inertia.argument && !s->options->payload_argument && !s->chain.body[b].prismatic;
}

/* wrenches alone: composite bodies and potentials are about origins */
static bool takes_place(const search *s, int b) {
  bool torques = s->function == PSDM_F_INVERSE || s->function == PSDM_F_BIAS || s->function == PSDM_F_GRAVITY;
  const psdm_robot *r = s->robot;
  bool carries = s->options->payload_argument || s->options->wrench_argument;
  return torques && psdmp_codegen_only_child(&s->chain, b) >= 0 && !(carries && r->link[r->last].body == b);
}

/* whether a regressor is part of it */
static bool has_columns(psdm_function f) { return f == PSDM_F_REGRESSOR || f == PSDM_F_SENSITIVITY; }

static int gene_values(const search *s, int b, psdmp_codegen_gene gene) {
  const psdmp_codegen_chain_body *body = &s->chain.body[b];
  if (body->held && gene != PSDMP_CODEGEN_GENE_SPIN) return 1;
  switch (gene) {
    case PSDMP_CODEGEN_GENE_ORIGIN: return body->prismatic || body->leaf || body->parent < 0 ? 1 : 2;
    case PSDMP_CODEGEN_GENE_WRENCH:
    case PSDMP_CODEGEN_GENE_CARRY: return body->parallel ? 3 : 2;
    case PSDMP_CODEGEN_GENE_SPIN: return 8;
    case PSDMP_CODEGEN_GENE_CHAIN: return body->parallel ? 2 : 1;
    case PSDMP_CODEGEN_GENE_TRACE: return !has_columns(s->function) ? 2 : 1;
    case PSDMP_CODEGEN_GENE_PLACE: return takes_place(s, b) ? 2 : 1;
    case PSDMP_CODEGEN_GENE_TENSOR: return takes_tensor(s, b) ? 2 : 1;
    case PSDMP_CODEGEN_GENE_COLUMN:
    case PSDMP_CODEGEN_GENE_MOMENT: return has_columns(s->function) ? 2 : 1;
    case PSDMP_CODEGEN_GENE_DIAGONAL: return has_columns(s->function) ? 3 : 1;
    case PSDMP_CODEGEN_GENE_TURN: return body->leaf && !s->inertia.argument && !has_columns(s->function) ? 5 : 1;
    default: return 1;
  }
}

static psdm_status keep_if_less(search *s, const psdmp_codegen_choice *choice, bool *better) {
  long cost;
  psdm_status status = try_choice(s, choice, &cost);
  *better = !status && cost < s->cost;
  if (*better) {
    s->cost = cost;
    s->best = *choice;
  }
  return status;
}

/* every value of every gene, one at a time */
static psdm_status search_genes(search *s, bool *any) {
  psdm_status status = PSDM_OK;
  for (int b = 0; b < s->chain.bodies; b++)
    for (int g = 0; g < PSDMP_CODEGEN_GENES; g++)
      for (int v = 0, count = gene_values(s, b, (psdmp_codegen_gene)g); v < count && !status; v++) {
        psdmp_codegen_choice choice = s->best;
        bool better;
        if (v == choice.gene[b][g] || s->budget < 0) continue;
        choice.gene[b][g] = (unsigned char)v;
        status = keep_if_less(s, &choice, &better);
        *any |= better;
      }
  return status;
}

/* these have no inertias to choose */
static bool has_inertia(psdm_function f) {
  return f != PSDM_F_REGRESSOR && f != PSDM_F_JACOBIAN && f != PSDM_F_POSE && f != PSDM_F_CARTESIAN_JACOBIAN;
}

/* results of these are in metres, or of other units than torques: the chain keeps its usual unit of length */
static bool keeps_unit(psdm_function f) { return !has_inertia(f) || has_columns(f) || psdm_function_is_task(f); }

static psdm_status search_unit(search *s, bool *any) {
  psdm_status status = PSDM_OK;
  bool better;
  if (keeps_unit(s->function)) return status;
  for (int unit = 0; unit <= s->chain.lengths && !status && s->budget >= 0; unit++) {
    psdmp_codegen_choice choice = s->best;
    choice.unit = unit;
    status = keep_if_less(s, &choice, &better);
    *any |= better;
  }
  return status;
}

/* another entry zero in the place of one that is: where the null vector of that one sees it */
static psdm_status search_zeros(search *s, bool *any) {
  psdmp_codegen_choice choice = s->best;
  long cost;
  if (!has_inertia(s->function)) return PSDM_OK;
  psdm_status status = try_choice(s, &choice, &cost);
  const psdmp_codegen_inertia *in = &s->inertia;
  choice.zeros = in->nulls;
  memcpy(choice.zero, in->zero, (size_t)in->nulls * sizeof *choice.zero);
  for (int v = 0; v < choice.zeros && !status; v++) {
    int others = 0;
    for (int e = 0; e < in->size; e++)
      if (e != choice.zero[v] && fabs(in->null[(long)v * in->size + e]) > 1e-3) s->other[others++] = e;
    for (int k = 0; k < others && !status && s->budget > 0; k++) {
      psdmp_codegen_choice swapped = choice;
      bool better;
      swapped.zero[v] = s->other[k];
      status = keep_if_less(s, &swapped, &better);
      if (!better) continue;
      *any = true;
      return status; /* the null vectors are others now */
    }
    if (!status && others) status = try_choice(s, &choice, &cost);
  }
  return status;
}

/* down to where no single change helps */
static psdm_status descend(search *s) {
  psdm_status status = try_choice(s, &s->best, &s->cost);
  bool any = true;
  while (any && !status && s->budget > 0) {
    any = false;
    status = search_genes(s, &any);
    if (!status) status = search_unit(s, &any);
    if (!status && !any) status = search_zeros(s, &any);
  }
  return status;
}

/* what is left of it after factoring, in the same units */
static psdm_status factored(search *s, const psdmp_codegen_choice *choice, long *cost) {
  psdmp_codegen_program *p = s->program;
  psdm_status status = try_choice(s, choice, cost);
  if (*cost == REFUSED) return status;
  if (!status) status = psdm_graph_factor(p->graph, p->output, p->outputs);
  if (!status) status = price(s, cost);
  return status;
}

/* what usually pays: constant inertias turned into the frame before the joint, at the second body and at the tips */
static void usual(search *s, psdmp_codegen_choice *choice) {
  for (int b = 0; b < s->chain.bodies; b++) {
    const psdmp_codegen_chain_body *body = &s->chain.body[b];
    unsigned char *gene = choice->gene[b];
    bool second = body->parent >= 0 && s->chain.body[body->parent].parent < 0;
    if (second || body->leaf) gene[PSDMP_CODEGEN_GENE_WRENCH] = 1;
    if (second) gene[PSDMP_CODEGEN_GENE_CARRY] = gene[PSDMP_CODEGEN_GENE_TRACE] = 1;
    if (body->leaf) gene[PSDMP_CODEGEN_GENE_SPIN] = 4;
    for (int g = 0; g < PSDMP_CODEGEN_GENES; g++)
      if (gene[g] >= gene_values(s, b, (psdmp_codegen_gene)g)) gene[g] = 0;
  }
}

/* a few genes at random */
static void shake(search *s, psdmp_codegen_choice *choice, uint64_t *seed) {
  int changes = 2 + (int)random_below(seed, 5);
  for (int k = 0; k < changes; k++) {
    int b = (int)random_below(seed, (uint32_t)s->chain.bodies), g = (int)random_below(seed, PSDMP_CODEGEN_GENES);
    choice->gene[b][g] = (unsigned char)random_below(seed, (uint32_t)gene_values(s, b, (psdmp_codegen_gene)g));
  }
  uint32_t zeros = random_below(seed, 4);
  if (zeros == 0) choice->zeros = 0;
  if (zeros == 1 && s->inertia.nulls > 0 && has_inertia(s->function)) {
    /* other entries zero: what they push out comes back elsewhere */
    choice->zeros = s->inertia.nulls;
    memcpy(choice->zero, s->inertia.zero, (size_t)choice->zeros * sizeof *choice->zero);
    for (int k = 0; k < 2; k++)
      choice->zero[random_below(seed, (uint32_t)choice->zeros)] = (int)random_below(seed, (uint32_t)s->inertia.size);
  }
}

/* the plain choice: the chain is known from here on, and how large its numbers are. Composite bodies need inertias
 * without mass: where some cannot be had, the torques are differentiated */
static psdm_status start(search *s) {
  s->growth = s->pivoted = HUGE_VAL;
  psdm_status status = try_choice(s, &s->best, &s->cost);
  s->growth = s->inertia.growth;
  s->pivoted = s->inertia.pivoted;
  if (status || !s->composite || !has_mass(s)) return status;
  s->composite = false;
  return try_choice(s, &s->best, &s->cost);
}

static bool progress(const search *s) {
  return !s->options->progress || s->options->progress(s->options->progress_user, "generating", -1);
}

/* descents from the plain choice, the usual one, and shaken copies of the best so far; the result after factoring
 * decides */
static psdm_status run_search(search *s, int patience) {
  int rounds = patience > 0 ? 2 + ROUNDS * patience : 2;
  psdmp_codegen_choice top = s->best;
  long least = LONG_MAX, cost;
  uint64_t seed = 88172645463325252u;
  psdm_status status = start(s);
  for (int k = 0, since = 0; k < rounds && since <= patience + 1 && !status && (s->budget > 0 || k == 0);
       k++, since++) {
    if (k == 0) s->best = (psdmp_codegen_choice){0};
    if (k == 1) usual(s, &s->best);
    if (k > 1) {
      s->best = top;
      shake(s, &s->best, &seed);
    }
    if (!progress(s)) return PSDM_E_STOPPED;
    status = descend(s);
    if (!status) status = factored(s, &s->best, &cost);
    if (!status && cost < least) since = 0;
    if (!status && cost <= least) { /* equal ones take turns: another place to start from */
      least = cost;
      top = s->best;
    }
  }
  s->best = top;
  return status;
}

/* whether composite bodies' derivatives are in it */
static bool is_linearization(psdm_function f) {
  return f == PSDM_F_LINEARIZE_INVERSE || f == PSDM_F_LINEARIZE_FORWARD || f == PSDM_F_CORIOLIS ||
         f == PSDM_F_MASS_RATE || f == PSDM_F_LINEARIZE_SECOND || f == PSDM_F_CARTESIAN_FACTOR;
}

/* functions from here on are made of others, for which the search has found what pays */
static bool is_short(psdm_function f) { return f == PSDM_F_POSE || f == PSDM_F_JACOBIAN || f >= PSDM_F_FORWARD_ALONG; }

static bool has_room(psdm_function f) { return is_linearization(f) || f >= PSDM_F_CORIOLIS; }

static bool all_revolute(const psdm_robot *r) {
  for (int b = 0; b < r->bodies; b++)
    if (r->body[b].prismatic) return false;
  return true;
}

/* everything that a choice needs to be tried */
static psdm_status prepare(const psdm_robot *r, const psdm_model *base, const double *theta,
                           const psdm_code_options *options, psdm_function function, bool plain,
                           psdmp_base_arena *arena, psdmp_codegen_program *program, search **out, psdm_error *error) {
  search *s = *out = PSDMP_BASE_NEW(arena, 1, search);
  psdm_status status = psdmp_codegen_program_shape(r, psdm_model_l(base), options, function, arena, program, error);
  if (status) return status;
  program->method = "recursive";
  if (has_columns(function) && base->combined)
    return psdmp_base_fail(
        error, PSDM_E_ARGUMENT, r->file, 0, 0,
        "under these assumptions base parameters are not standard ones: their regressor needs the expanded method");
  if (!s) return psdmp_base_no_memory(r->file, error);
  s->base = base;
  s->options = options;
  s->function = function;
  s->program = program;
  s->budget = BUDGET;
  s->composite = is_linearization(function) && !options->payload_argument && all_revolute(r);
  status = psdmp_codegen_chain_new(r, !has_inertia(function), arena, &s->chain, error);
  s->robot = s->chain.robot;
  if (!status)
    status = psdmp_codegen_freedom_set(r, base, theta, program->length[PSDMP_CODEGEN_IN_THETA] > 0,
                                       options->gravity_argument, plain, arena, &s->freedom, error);
  if (status) return status;
  r = s->robot;
  s->tree = PSDMP_BASE_NEW(arena, r->bodies, psdm_ref);
  s->more = PSDMP_BASE_NEW(arena, r->n * r->n + r->n, psdm_ref);
  s->room = has_room(function) ? PSDMP_BASE_NEW(arena, psdmp_codegen_terms_room(r), psdm_ref) : s->more;
  s->other = PSDMP_BASE_NEW(arena, 11 * r->bodies + r->drives, int);
  s->trace.still = PSDMP_BASE_NEW(arena, r->n + 1, double);
  if (!s->tree || !s->more || !s->other || !s->room || !s->trace.still ||
      !psdmp_codegen_inertia_new(&s->chain, &s->freedom, arena, &s->inertia))
    return psdmp_base_no_memory(r->file, error);
  s->trace.g = program->graph;
  s->trace.chain = s->trace.scaled = &s->chain;
  s->trace.inertia = &s->inertia;
  s->trace.options = options;
  s->trace.program = program;
  return PSDM_OK;
}

/* what a GPU runs in the place of the whole function */
static psdm_status build_stages(search *s, psdmp_base_arena *arena) {
  psdmp_codegen_program *p = s->program;
  int n = s->robot->n;
  if (s->function != PSDM_F_LINEARIZE_FORWARD || s->options->target != PSDM_CODE_CUDA ||
      psdmp_codegen_stage_values(n) > PSDMP_CODEGEN_BLOCK)
    return PSDM_OK;
  p->early = PSDMP_BASE_NEW(arena, psdmp_codegen_stage_values(n), psdm_ref);
  p->late = PSDMP_BASE_NEW(arena, 2 * n * n, psdm_ref);
  if (!p->early || !p->late) return PSDM_E_MEMORY;
  psdmp_codegen_linearize_stages(&s->trace, s->composite, s->room, p->early, p->late);
  return psdm_graph_status(p->graph);
}

psdm_status psdmp_codegen_build_recursive(const psdm_robot *r, const psdm_model *base, const double *theta,
                                          const psdm_code_options *options, psdm_function function, bool plain,
                                          psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error) {
  search *s;
  psdm_status status = prepare(r, base, theta, options, function, plain, arena, program, &s, error);
  if (status) return status;
  bool short_search = is_short(function) || options->effort < 0;
  status = run_search(s, short_search ? 0 : options->effort ? options->effort : PATIENCE);
  if (status == PSDM_E_STOPPED)
    return psdmp_base_fail(error, PSDM_E_STOPPED, r->file, 0, 0, "stopped while generating code");
  if (!status) status = try_choice(s, &s->best, &s->cost);
  if (!status) status = build_stages(s, arena);
  return status ? psdmp_base_fail(error, status, r->file, 0, 0, "%s while generating '%s'", psdm_status_text(status),
                                  program->name)
                : PSDM_OK;
}
