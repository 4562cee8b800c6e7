/* nest.h: the closed form as polynomials, and their nesting into few operations. Private to the
 * library.
 *
 * A polynomial here is a sum of coefficient * product over modes of one option each. A mode is a group of variables
 * that is taken out at once: the sine and cosine of one joint (options 1 s c sc cc ...), the rates of one joint (1
 * qd qd^2 qdd), or all rates (one option for every class), or the base parameters (one option for each). */
#ifndef PSDMP_NEST_H
#define PSDMP_NEST_H

#include "expr/expr.h"
#include "model/model.h"
#include "psdm/function.h"

/* The first input number of each argument in a graph, and how many numbers there are. */
typedef struct psdmp_nest_inputs {
  int theta, sine, cosine, q, qd, qdd, count;
} psdmp_nest_inputs;

/* ---- polynomials ---- */

typedef struct psdmp_nest_term {
  uint32_t output, monomial;
  double value;
} psdmp_nest_term;

typedef struct psdmp_nest_sums {
  psdmp_base_arena *arena;
  int modes;
  int *options; /* (modes) values that a mode can take */
  bool *used;   /* (modes) some monomial has an option other than the first */
  uint32_t outputs;
  uint32_t monomials, monomial_room;
  unsigned short *option; /* (monomials x modes) */
  uint32_t *slot, slots;  /* hash of the monomials: number + 1, 0: free */
  size_t terms, term_room;
  psdmp_nest_term *term; /* once finished: by output and monomial, each at most once, none zero */
  bool failed;           /* memory ended */
} psdmp_nest_sums;

bool psdmp_nest_sums_start(psdmp_nest_sums *sums, psdmp_base_arena *arena, int modes, const int *options,
                           uint32_t outputs);
void psdmp_nest_sums_add(psdmp_nest_sums *sums, uint32_t output, const unsigned short *option, double value);
/* sorts, adds up, forgets zeros; false when memory has ended */
bool psdmp_nest_sums_finish(psdmp_nest_sums *sums);

/* ---- what the variables are ---- */

/* The modes of a model's polynomials: joint j is mode j, its rates mode n + j, all rates mode 2n, base parameters
 * mode 2n + 1. */
typedef struct psdmp_nest_variables {
  const psdm_model *model;
  bool caller;         /* sines and cosines are inputs */
  const double *theta; /* base parameters that are numbers; NULL: inputs */
  const psdmp_nest_inputs *inputs;
} psdmp_nest_variables;

enum { PSDMP_NEST_RATE_NONE, PSDMP_NEST_RATE_QD, PSDMP_NEST_RATE_QD2, PSDMP_NEST_RATE_QDD, PSDMP_NEST_RATES };

psdm_ref psdmp_nest_mode_value(const psdmp_nest_variables *v, psdm_graph *graph, int mode, int option);

/* The polynomials of a function: the torques; forward: bias, then the mass matrix's upper triangle; energy: kinetic,
 * potential from q = 0. theta: multiplied into the coefficients; NULL: base parameters are a mode. */
bool psdmp_nest_polynomials(const psdm_model *model, psdm_function function, const double *theta,
                            psdmp_base_arena *arena, psdmp_nest_sums *sums);

/* ---- nesting ---- */

/* What may be tried. order: modes from the outermost to the innermost; either the single rates or all of them at
 * once. */
typedef struct psdmp_nest_nesting {
  int length;
  int order[2 * 64 + 2];
  double threshold; /* least pivot, relative to its row */
  bool gauge;       /* scale intermediate sums so that most of their coefficients are one */
  bool late;        /* of equally good pivots, the last */
} psdmp_nest_nesting;

/* Polynomials into the graph; out (outputs). False when memory has ended. */
bool psdmp_nest_build(const psdmp_nest_sums *sums, const psdmp_nest_variables *v, const psdmp_nest_nesting *nesting,
                      const psdm_allocator *allocator, psdm_graph *graph, psdm_ref *out);

/* Tries orders, counts, keeps the cheapest of those that round well, or else the one that rounds best.
 * Zero-initialise. */
typedef struct psdmp_nest_found {
  psdmp_nest_nesting nesting;
  long operations;
  double rounding; /* psdmp_nest_rounding's bound */
} psdmp_nest_found;

/* What rounding may take, in units of the roundoff and of each output's largest value: 1.5e-5 in float, 3e-14 in
 * double. That is a bound; errors are a tenth of it. The recursion has 10 to 100, the closed form of the shipped
 * robots up to 150. */
#define PSDMP_NEST_ROUNDING_MOST 256.0

/* limit (0: none): *hopeless, and the search ends, once it is clear that more operations are needed. */
psdm_status psdmp_nest_search(const psdmp_nest_sums *sums, const psdmp_nest_variables *v, long limit,
                              const psdm_allocator *allocator, psdmp_nest_found *found, bool *hopeless);

/* ---- rounding.c: a first-order bound of what rounding does to a graph's outputs ---- */

/* in [-range, range), the same on every machine */
double psdmp_nest_uniform(uint64_t *seed, double range);

/* At one state (input): out (count), and in bound (count) how far off each may be,
 * in units of the roundoff u (2^-24, 2^-53). Beyond the first order, in u^2, nothing is counted. False when memory
 * has ended. */
bool psdmp_nest_rounding_at(const psdm_graph *graph, const double *input, const psdm_ref *outputs, size_t count,
                            const psdm_allocator *allocator, double *out, double *bound);

/* Over a few fixed states: the largest bound of an output over that output's largest value, in units of u: 10 to 100
 * for a recursion of six joints. truth (states x count): what the outputs should be there; what they are off by, in
 * units of 2^-53, is added. n joints, l base parameters where they are inputs. */
enum { PSDMP_NEST_ROUNDING_STATES = 6 };
void psdmp_nest_rounding_state(int state, int n, int l, const psdmp_nest_inputs *in, double *input);
bool psdmp_nest_rounding(const psdm_graph *graph, int n, int l, const psdmp_nest_inputs *in, const psdm_ref *outputs,
                         size_t count, const double *truth, const psdm_allocator *allocator, double *most);

#endif
