/* psdm/symbolic.h: formulas of base parameters in the link lengths.
 *
 * The coefficients of a model's base parameters as polynomials of degree <= 2 in the lengths, or as their quotients
 * where parallelogram loops regroup, with the lengths' names instead of their numbers. Constant once made, and shared
 * by threads. */
#ifndef PSDM_SYMBOLIC_H
#define PSDM_SYMBOLIC_H

#include "psdm/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct psdm_symbolic psdm_symbolic;

/* Zero-initialise for the defaults. */
typedef struct psdm_symbolic_options {
  int assume_count; /* the assumptions that the model was derived with */
  const char *const *assume;
  int rename_count; /* "a3=D3": other names for lengths; letters, digits and _ */
  const char *const *rename;
  unsigned long long reserved[8];
} psdm_symbolic_options;

/* Formulas of a model that was derived from this robot. Lengths are named by their kind and the joint's place in the
 * file: a3 and d3 of a DH row, x3 y3 z3 of an origin; lengths that are zero stay zero. Allocates; free with
 * psdm_symbolic_free. options may be NULL. */
PSDM_API psdm_status psdm_symbolic_derive(const psdm_robot *robot, const psdm_model *model,
                                          const psdm_symbolic_options *options, const psdm_allocator *allocator,
                                          psdm_symbolic **symbolic, psdm_error *error);
PSDM_API void psdm_symbolic_free(psdm_symbolic *symbolic); /* accepts NULL */

/* Lengths that formulas use, with their values in the file. */
PSDM_API int psdm_symbolic_lengths(const psdm_symbolic *symbolic);
PSDM_API const char *psdm_symbolic_length(const psdm_symbolic *symbolic, int index, double *value);

/* Whether base parameter j's formula holds at all lengths. If not, its coefficients are numbers for the file's
 * lengths. */
PSDM_API bool psdm_symbolic_holds(const psdm_symbolic *symbolic, int j);

/* Largest relative difference between the formulas that hold and derivations at other lengths. */
PSDM_API double psdm_symbolic_error(const psdm_symbolic *symbolic);

/* Terms of formula j, its own parameter first, and one term's coefficient at some lengths (lengths). */
PSDM_API int psdm_symbolic_terms(const psdm_symbolic *symbolic, int j);
PSDM_API double psdm_symbolic_term(const psdm_symbolic *symbolic, int j, int term, const double *lengths,
                                   int *standard_parameter);

typedef enum psdm_formula_style { PSDM_FORMULA_TEXT, PSDM_FORMULA_LATEX } psdm_formula_style;

/* "ZZ1 + YY2 + 2*d3*mz3 + (a3^2 + d3^2)*m3", or the same for math mode. Lives as long as the object. */
PSDM_API const char *psdm_symbolic_text(const psdm_symbolic *symbolic, int j, psdm_formula_style style);

#ifdef __cplusplus
}
#endif
#endif
