/* derive_priv.h: the exact derivation, one joint at a time. Private to the library.
 *
 * A coefficient of the model is a functional: a row of ten numbers over the standard parameters of one body, in the
 * user's link frame. Moving the parameters of body k into its parent's frame is linear, and its matrix is
 *
 *   Lambda_k(q) = sum over b of basis_b(q) Lambda_kb,   basis = 1, s, c, sc, cc (revolute) or 1, q, qq (prismatic).
 *
 * So a row of the parent times Lambda_k gives at most five rows of body k, each with its own new monomial, without
 * duplicates. A monomial is a code in base 5, one digit per tree joint. */
#ifndef PSDMP_DERIVE_PRIV_H
#define PSDMP_DERIVE_PRIV_H

#include "base/base.h"
#include "psdm/model.h"
#include "robot/robot.h"

enum { PSDMP_DERIVE_BASIS = 5, PSDMP_DERIVE_JOINTS = 24 }; /* 5^24 monomials still fit 64 bits */

/* ---- lists of (code, sparse row) ---- */

/* A record is code, then mask (16 bits) and count, then count doubles, in 8-byte words. */
typedef struct psdmp_derive_segment {
  struct psdmp_derive_segment *next;
  uint64_t *begin, *end;
} psdmp_derive_segment;

typedef struct psdmp_derive_rows {
  psdmp_derive_segment *first;
  long count, entries; /* records, and non-zeros in them */
  uint64_t low, high;  /* smallest and largest code, when count > 0 */
} psdmp_derive_rows;

/* Memory for records: chunks that are released together. */
typedef struct psdmp_derive_pool {
  const psdm_allocator *allocator;
  struct psdmp_derive_pool_chunk *chunks;
  uint64_t *at, *end; /* free part of the newest chunk */
  size_t bytes;       /* allocated so far */
  size_t limit;       /* and the limit */
  bool failed;        /* out of memory or beyond the limit: everything after is empty */
  bool beyond;
} psdmp_derive_pool;

void psdmp_derive_pool_free(psdmp_derive_pool *pool);
void psdmp_derive_pool_rewind(psdmp_derive_pool *pool); /* the newest chunk is free again; lists in it are lost */

/* Memory that a derivation may use. */
size_t psdmp_derive_limit(const psdm_robot *robot, const psdm_derive_options *options);

/* PSDM_OK, or PSDM_E_LIMIT if need exceeds limit. */
psdm_status psdmp_derive_ask(const psdm_robot *robot, double need, size_t limit, psdm_error *error);

static inline unsigned psdmp_derive_record_mask(const uint64_t *record) { return (unsigned)(record[1] & 0xFFFF); }
static inline int psdmp_derive_record_count(const uint64_t *record) { return (int)(record[1] >> 16); }
static inline const double *psdmp_derive_record_values(const uint64_t *record) {
  return (const double *)(const void *)(record + 2);
}
static inline uint64_t *psdmp_derive_record_next(uint64_t *record) {
  return record + 2 + psdmp_derive_record_count(record);
}

#define PSDMP_DERIVE_EACH(rows, segment, record)                                        \
  for (psdmp_derive_segment *segment = (rows)->first; segment; segment = segment->next) \
    for (uint64_t *record = segment->begin; record < segment->end; record = psdmp_derive_record_next(record))

/* ---- where rows go ---- */

/* Rows of one polynomial: coefficient of acceleration class `kind` in the torque of a tree joint, for one body. */
typedef struct psdmp_derive_term {
  psdmp_derive_rows rows;
  int first, second; /* class: -1,-1 gravity; a,-1 qdd_a; a,b qd_a qd_b (a <= b), tree bodies */
  int torque, body;  /* tree bodies */
  double scale;
} psdmp_derive_term;

typedef struct psdmp_derive_expansion {
  psdmp_derive_pool pool;
  psdmp_base_arena arena;
  psdmp_derive_term *term;
  int terms;
  long room;
  /* the unit of lengths and displacements in all coefficients: a power of two, so that nothing is rounded */
  double reach;
  double largest_dropped; /* of the values dropped that were not exactly zero */
} psdmp_derive_expansion;

/* All terms of the tree's dynamics. digits[b] is 5^position of body b's digit in the codes. */
psdm_status psdmp_derive_expand(const psdm_robot *robot, const uint64_t *digit, const psdm_derive_options *options,
                                const psdm_allocator *allocator, psdmp_derive_expansion *e, psdm_error *error);
void psdmp_derive_expansion_free(psdmp_derive_expansion *e);

/* Builds one list; entries at rounding level are left out. */
typedef struct psdmp_derive_builder {
  psdmp_derive_expansion *e;
  psdmp_derive_segment *last; /* open segment; its end moves with the pool */
  psdmp_derive_rows rows;
} psdmp_derive_builder;

void psdmp_derive_append(psdmp_derive_builder *b, uint64_t code, const double row[10]);

/* Adds a term; empty ones are skipped. */
void psdmp_derive_emit(psdmp_derive_expansion *e, const psdmp_derive_term *term);

/* ---- one joint's matrices ---- */

/* In units of the reach: Lambda_b and its derivative's, 10 x 10 row-major; Ad_b, 6 x 6, takes twists (w, v) from the
 * parent's link frame to the body's. */
typedef struct psdmp_derive_joint_maps {
  int count; /* 5 or 3 */
  double L[PSDMP_DERIVE_BASIS][100], dL[PSDMP_DERIVE_BASIS][100], Ad[3][36];
  double twist[6]; /* of the joint's own unit rate, in the body's link frame */
} psdmp_derive_joint_maps;

/* In units of the reach a coefficient is a sum of products of numbers up to one. Rounding of a dozen joints' products
 * stays below 1e-14, and the smallest genuine value seen was 7e-9 (seven joints, nothing aligned): below this it is
 * rounding. */
#define PSDMP_DERIVE_ROUNDING 1e-13

/* The power of two nearest to a length. */
double psdmp_derive_unit_length(double length);

/* Unit length of the longest path of joints, 1 if there is none. */
double psdmp_derive_reach(const psdm_robot *robot, psdmp_base_arena *arena);

void psdmp_derive_joint_maps_set(const psdm_robot *robot, int body, double reach, psdmp_derive_joint_maps *maps);

/* The row of the kinetic inner product of two twists (w, v) over the ten parameters. */
void psdmp_derive_inertia_row(const double a[6], const double b[6], double row[10]);

#endif
