/* rounding_priv.h: a first-order bound of what rounding does to a graph's outputs. Private to the library. */
#ifndef PSDMP_CODEGEN_ROUNDING_H
#define PSDMP_CODEGEN_ROUNDING_H

#include "codegen/codegen.h"

/* in [-range, range), the same on every machine */
double psdmp_codegen_uniform(uint64_t *seed, double range);

/* At one state (input, psdmp_codegen_program's blocks): out (count), and in bound (count) how far off each may be,
 * in units of the roundoff u (2^-24, 2^-53). Beyond the first order, in u^2, nothing is counted. False when memory
 * has ended. */
bool psdmp_codegen_rounding_at(const psdm_graph *graph, const double *input, const psdm_ref *outputs, size_t count,
                               const psdm_allocator *allocator, double *out, double *bound);

/* Over a few fixed states: the largest bound of an output over that output's largest value, in units of u: 10 to 100
 * for a recursion of six joints. truth (states x count): what the outputs should be there; what they are off by, in
 * units of 2^-53, is added. n joints, l base parameters where they are inputs. */
enum { PSDMP_CODEGEN_ROUNDING_STATES = 6 };
void psdmp_codegen_rounding_state(int state, int n, int l, double *input);
bool psdmp_codegen_rounding(const psdm_graph *graph, int n, int l, const psdm_ref *outputs, size_t count,
                            const double *truth, const psdm_allocator *allocator, double *most);

#endif
