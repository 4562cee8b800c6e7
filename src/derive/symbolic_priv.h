/* symbolic_priv.h: formulas in the link lengths. Private to the library. */
#ifndef PSDMP_DERIVE_SYMBOLIC_H
#define PSDMP_DERIVE_SYMBOLIC_H

#include "derive/collect_priv.h"
#include "psdm/symbolic.h"

/* c, c L_i (second -1) or c L_i L_k; first -1: a number; divided by L_under unless that is -1. */
typedef struct psdmp_derive_monomial {
  int first, second, under;
  double c;
} psdmp_derive_monomial;

static inline double psdmp_derive_monomial_value(const psdmp_derive_monomial *m, const double *lengths) {
  double value = m->c * (m->first < 0 ? 1 : lengths[m->first]) * (m->second < 0 ? 1 : lengths[m->second]);
  return m->under < 0 ? value : value / lengths[m->under];
}

/* Squares and single lengths first, then products; equal polynomials are equal entry by entry. */
typedef struct psdmp_derive_polynomial {
  int count;
  psdmp_derive_monomial *monomial;
} psdmp_derive_polynomial;

typedef struct psdmp_derive_symbolic_term {
  int parameter; /* standard parameter */
  psdmp_derive_polynomial coefficient;
} psdmp_derive_symbolic_term;

typedef struct psdmp_derive_formula {
  bool holds;
  int terms;
  psdmp_derive_symbolic_term *term; /* its own parameter first */
  const char *text[2];              /* by psdm_formula_style */
} psdmp_derive_formula;

struct psdm_symbolic {
  psdmp_base_arena arena;
  int l, lengths;
  psdmp_derive_formula *formula; /* (l) */
  const char **name;             /* (lengths) */
  double *value;                 /* (lengths) */
  double error;
  const psdm_model *model; /* during construction: names of the standard parameters */
};

/* Names of the lengths and texts of all formulas. False: out of memory. */
bool psdmp_derive_symbolic_write(psdm_symbolic *symbolic);

#endif
