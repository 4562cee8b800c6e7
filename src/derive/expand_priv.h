/* expand_priv.h: parts of the walk over the tree, for the walk itself and for the estimate of its memory. Private to
 * the room. */
#ifndef PSDMP_DERIVE_EXPAND_H
#define PSDMP_DERIVE_EXPAND_H

#include "derive/derive_priv.h"

/* One matrix by rows: for input i, the outputs it reaches and their factors. */
typedef struct psdmp_derive_sparse {
  unsigned reach[10]; /* mask of outputs */
  unsigned char count[10], column[10][10];
  double value[10][10], dense[10][10];
} psdmp_derive_sparse;

typedef struct psdmp_derive_passage {
  int count;
  psdmp_derive_sparse M[PSDMP_DERIVE_BASIS];
} psdmp_derive_passage;

void psdmp_derive_passage_set(psdmp_derive_passage *passage, int count, double M[PSDMP_DERIVE_BASIS][100]);

/* Rows times sum basis_b M_b, where the joint's digit is basis_b. */
psdmp_derive_rows psdmp_derive_pass(psdmp_derive_expansion *e, const psdmp_derive_rows *in,
                                    const psdmp_derive_passage *passage, uint64_t digit);

/* Twists of the parent in the body's frame. */
psdmp_derive_rows psdmp_derive_pass_twist(psdmp_derive_expansion *e, const psdmp_derive_rows *in,
                                          const psdmp_derive_joint_maps *maps, bool prismatic, uint64_t digit);

/* D_ij at body j: joint i's twist there with joint j's own. */
psdmp_derive_rows psdmp_derive_start_mass(psdmp_derive_expansion *e, const psdmp_derive_rows *twist,
                                          const double own[6]);

/* Derivative in a joint of degree one: s -> c, c -> -s, q -> 1. */
psdmp_derive_rows psdmp_derive_linear(psdmp_derive_expansion *e, const psdmp_derive_rows *in, bool prismatic,
                                      uint64_t digit);

/* The lists that body k of the path passes to its children, one for each polynomial, in the order of their kinds. */
typedef struct psdmp_derive_level {
  int body, depth; /* depth: joints on the path to it, itself included */
  const int *path; /* (depth) bodies */
  psdmp_derive_rows potential;
  psdmp_derive_rows *twist;            /* (depth) joint i's twist here */
  psdmp_derive_rows *mass;             /* (depth^2) D_ij, i <= j */
  psdmp_derive_rows *gravity;          /* (depth) U,i */
  psdmp_derive_rows *self;             /* (depth^2) D_aa,c at [a][c] and D_ab,b at [b][a], a < b */
  psdmp_derive_rows *sum, *difference; /* (depth^3) S and N at [a][b][c] */
} psdmp_derive_level;

/* Estimated bytes of the complete derivation, from a few records of every list in levels 0 to done - 1 (level[b] is
 * body b's): each step outward multiplies a record by up to five, and a sample shows by how much. base: the potential
 * before any joint. 0 when out of memory. */
double psdmp_derive_expand_estimate(const psdm_robot *robot, const uint64_t *digit, const psdmp_derive_expansion *e,
                                    const psdmp_derive_rows *base, const psdmp_derive_level *level, int done);

#endif
