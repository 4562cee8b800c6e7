/* expanded_priv.h: the closed form as polynomials, and their nesting into few operations. Private to the room.
 *
 * A polynomial here is a sum of coefficient * product over modes of one option each. A mode is a group of variables
 * that is taken out at once: the sine and cosine of one joint (options 1 s c sc cc ...), the rates of one joint (1
 * qd qd^2 qdd), or all rates (one option for every class), or the base parameters (one option for each). */
#ifndef PSDMP_CODEGEN_EXPANDED_H
#define PSDMP_CODEGEN_EXPANDED_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "model/model.h"

/* ---- polynomials ---- */

typedef struct psdmp_codegen_sum_term {
  uint32_t output, monomial;
  double value;
} psdmp_codegen_sum_term;

typedef struct psdmp_codegen_sums {
  psdmp_base_arena *arena;
  int modes;
  int *options; /* (modes) values that a mode can take */
  bool *used;   /* (modes) some monomial has an option other than the first */
  uint32_t outputs;
  uint32_t monomials, monomial_room;
  unsigned short *option; /* (monomials x modes) */
  uint32_t *slot, slots;  /* hash of the monomials: number + 1, 0: free */
  size_t terms, term_room;
  psdmp_codegen_sum_term *term; /* once finished: by output and monomial, each at most once, none zero */
  bool failed;                  /* memory ended */
} psdmp_codegen_sums;

bool psdmp_codegen_sums_start(psdmp_codegen_sums *sums, psdmp_base_arena *arena, int modes, const int *options,
                              uint32_t outputs);
void psdmp_codegen_sums_add(psdmp_codegen_sums *sums, uint32_t output, const unsigned short *option, double value);
/* sorts, adds up, forgets zeros; false when memory has ended */
bool psdmp_codegen_sums_finish(psdmp_codegen_sums *sums);

/* ---- what the variables are ---- */

/* The modes of a model's polynomials: joint j is mode j, its rates mode n + j, all rates mode 2n, base parameters
 * mode 2n + 1. */
typedef struct psdmp_codegen_variables {
  const psdm_model *model;
  bool caller;         /* sines and cosines are inputs */
  const double *theta; /* base parameters that are numbers; NULL: inputs */
} psdmp_codegen_variables;

enum {
  PSDMP_CODEGEN_RATE_NONE,
  PSDMP_CODEGEN_RATE_QD,
  PSDMP_CODEGEN_RATE_QD2,
  PSDMP_CODEGEN_RATE_QDD,
  PSDMP_CODEGEN_RATES
};

psdm_ref psdmp_codegen_mode_value(const psdmp_codegen_variables *v, psdm_graph *graph, int mode, int option);

/* The polynomials of a function: the torques; forward: bias, then the mass matrix's upper triangle; energy: kinetic,
 * potential from q = 0. theta: multiplied into the coefficients; NULL: base parameters are a mode. */
bool psdmp_codegen_polynomials(const psdm_model *model, psdm_function function, const double *theta,
                               psdmp_base_arena *arena, psdmp_codegen_sums *sums);

/* ---- nesting ---- */

/* What may be tried. order: modes from the outermost to the innermost; either the single rates or all of them at
 * once. */
typedef struct psdmp_codegen_nesting {
  int length;
  int order[2 * 64 + 2];
  double threshold; /* least pivot, relative to its row */
  bool gauge;       /* scale intermediate sums so that most of their coefficients are one */
  bool late;        /* of equally good pivots, the last */
} psdmp_codegen_nesting;

/* Polynomials into the graph; out (outputs). False when memory has ended. */
bool psdmp_codegen_nest(const psdmp_codegen_sums *sums, const psdmp_codegen_variables *v,
                        const psdmp_codegen_nesting *nesting, const psdm_allocator *allocator, psdm_graph *graph,
                        psdm_ref *out);

/* Tries orders, counts, keeps the cheapest of those that round well, or else the one that rounds best.
 * Zero-initialise. */
typedef struct psdmp_codegen_found {
  psdmp_codegen_nesting nesting;
  long operations;
  double rounding; /* psdmp_codegen_rounding's bound */
} psdmp_codegen_found;

/* What rounding may take, in units of the roundoff and of each output's largest value: 1.5e-5 in float, 3e-14 in
 * double. That is a bound; errors are a tenth of it. The recursion has 10 to 100, the closed form of the shipped
 * robots up to 150. */
#define PSDMP_CODEGEN_ROUNDING_MOST 256.0

/* limit (0: none): *hopeless, and the search ends, once it is clear that more operations are needed. */
psdm_status psdmp_codegen_nest_search(const psdmp_codegen_sums *sums, const psdmp_codegen_variables *v, long limit,
                                      const psdm_allocator *allocator, psdmp_codegen_found *found, bool *hopeless);

#endif
