/* pick.h: a choice of frames, origins, zeros and formulas at random in the place of the search. recursive.c becomes
 * part of the program that includes this, and what code.c calls is defined below. */
#define psdmp_codegen_build_recursive searched_recursive
#include "codegen/recursive.c"
#undef psdmp_codegen_build_recursive

#include "support.h"

typedef enum how { PLAIN, USUAL, RANDOM } how;
static const char *const how_names[] = {"plain", "usual", "random"};

/* what is done to a program afterwards, for the check to find */
typedef enum spoil { SPOIL_NOT, SPOIL_SCALE, SPOIL_NAN, SPOIL_HUGE } spoil;

static struct {
  how how;
  spoil spoil;
  rng *g;
} picking;

static psdmp_codegen_choice draw(search *s, rng *g) {
  psdmp_codegen_choice choice = {0};
  for (int b = 0; b < s->chain.bodies; b++)
    for (int k = 0; k < PSDMP_CODEGEN_GENES; k++)
      choice.gene[b][k] = (unsigned char)rng_int(g, 0, gene_values(s, b, (psdmp_codegen_gene)k) - 1);
  if (!has_inertia(s->function)) return choice;
  choice.unit = keeps_unit(s->function) ? 0 : rng_int(g, 0, s->chain.lengths);
  choice.zeros = rng_int(g, 0, 1) ? rng_int(g, 0, s->inertia.nulls) : 0;
  for (int k = 0; k < choice.zeros; k++) choice.zero[k] = rng_int(g, 0, s->inertia.size - 1);
  return choice;
}

/* until the search would take it, too: it refuses numbers that cost digits */
static psdm_status pick(search *s) {
  psdm_status status = start(s);
  if (picking.how == USUAL) usual(s, &s->best);
  for (int k = 0; k < 50 && !status; k++) {
    psdmp_codegen_choice choice = picking.how == RANDOM ? draw(s, picking.g) : s->best;
    status = try_choice(s, &choice, &s->cost);
    if (s->cost < REFUSED) {
      s->best = choice;
      break;
    }
  }
  return status ? status : try_choice(s, &s->best, &s->cost);
}

static void spoil_program(psdmp_codegen_program *p) {
  static const double factor[] = {1, 1 + 1e-6, NAN, HUGE_VAL};
  if (picking.spoil)
    p->output[0] = psdm_graph_mul(p->graph, psdm_graph_const(p->graph, factor[picking.spoil]), p->output[0]);
}

psdm_status psdmp_codegen_build_recursive(const psdm_robot *r, const psdm_model *base, const double *theta,
                                          const psdm_code_options *options, psdm_function function, bool plain,
                                          psdmp_base_arena *arena, psdmp_codegen_program *program, psdm_error *error) {
  search *s;
  psdm_status status = prepare(r, base, theta, options, function, plain, arena, program, &s, error);
  if (!status) status = pick(s);
  if (!status) spoil_program(program);
  return status;
}
