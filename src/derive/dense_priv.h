/* dense_priv.h: the derivation of Lloyd, Irani, Ahmadi (2021), an independent check of the exact one. Private to the
 * library.
 *
 *   search    all monomials that a class of functions may contain, except those that the pre-filters exclude (3.1.2)
 *   sample    torques of that class alone at as many random states as there are monomials (3.1.1, 3.3)
 *   solve     the square system; monomials with a zero row are dropped (2.2.1, 3.4). More than 3125 in blocks
 *   reduce    the others' coefficients over random parameters by least squares, then their rank by QR (2.2.2)
 *
 * It shares with the exact derivation the model it fills, the robot's assumptions and the order in which parameters are
 * kept. Numbers in brackets are sections. */
#ifndef PSDMP_DERIVE_DENSE_H
#define PSDMP_DERIVE_DENSE_H

#include "derive/collect_priv.h"
#include "psdm/rigid.h"

enum { PSDMP_DERIVE_DENSE_JOINTS = 7, PSDMP_DERIVE_DENSE_CLASSES = 36 };

/* Larger systems are solved in blocks. */
enum { PSDMP_DERIVE_DENSE_SYSTEM = 3125 };

/* ---- search ---- */

/* The robot's data for the search. Monomials are the model's codes: per joint 1, s, c, sc, cc or 1, q, qq. */
typedef struct psdmp_derive_space {
  const psdm_model *m;
  long codes;                                                       /* 5^n */
  bool root[PSDMP_DERIVE_DENSE_JOINTS];                             /* the joint is on the base */
  bool below[PSDMP_DERIVE_DENSE_JOINTS][PSDMP_DERIVE_DENSE_JOINTS]; /* [j][a]: joint j is carried by joint a */
} psdmp_derive_space;

void psdmp_derive_space_set(const psdm_robot *robot, const psdm_model *model, psdmp_derive_space *space);

/* Digit of joint j in a code, and its degree. */
static inline int psdmp_derive_space_digit(const psdmp_derive_space *s, uint64_t code, int j) {
  return (int)(code / s->m->weight[j] % PSDMP_DERIVE_BASIS);
}
static inline int psdmp_derive_space_degree(const psdmp_derive_space *s, int j, int digit) {
  return s->m->prismatic[j] ? digit : (digit + 1) / 2;
}

/* Monomials to search for a class, ascending; candidate (codes), if given, restricts them. Returns how many; code may
 * be NULL. */
long psdmp_derive_search(const psdmp_derive_space *space, int first, int second, const unsigned char *candidate,
                         uint64_t *code);

/* Marks a monomial and those of its derivatives as candidates. */
void psdmp_derive_search_derivatives(const psdmp_derive_space *space, uint64_t code, unsigned char *candidate);

/* ---- sample ---- */

typedef struct psdmp_derive_source {
  const psdm_robot *robot;
  const psdm_derive_options *options; /* may be NULL */
  const psdm_allocator *allocator;
  double reach; /* length of the arm: prismatic joints move this far */
  double rate;  /* rad/s, such that inertial torques are as large as gravity's */
} psdmp_derive_source;

void psdmp_derive_source_set(const psdm_robot *robot, const psdm_derive_options *options,
                             const psdm_allocator *allocator, psdmp_derive_source *source);

/* States and parameter sets whose torques are wanted: tau[state][joint][set]. */
typedef struct psdmp_derive_batch {
  long states;
  int sets;
  double *q, *qd, *qdd; /* (states x n) */
  const double *pi;     /* (sets x standard) */
  double *tau;          /* (states x n x sets) */
} psdmp_derive_batch;

/* Random positions, (states x n): a full turn, or the reach either way. */
void psdmp_derive_source_positions(const psdmp_derive_source *source, uint64_t seed, long states, double *q);

/* Contribution of one class of functions at these positions, divided by the class's gravity or rates:
 * T[position][joint][set]. *size is raised to the largest torque sampled, per rate squared, forces times reach. */
psdm_status psdmp_derive_source_class(const psdmp_derive_source *source, const double *q, long positions,
                                      const double *pi, int sets, int first, int second, double *T, double *size,
                                      psdm_error *error);

/* Torques from an external program. */
psdm_status psdmp_derive_command_torques(const psdm_robot *robot, const char *command, const psdmp_derive_batch *batch,
                                         const psdm_allocator *allocator, psdm_error *error);

/* ---- large systems in blocks: dense_blocks.c ---- */

/* Joints in the order of their digits' weights, how many digits each has, and where their positions begin; the first
 * `fast` joints are one block, the others the second. */
typedef struct psdmp_derive_blocks {
  int n, fast, joint[PSDMP_DERIVE_DENSE_JOINTS], digits[PSDMP_DERIVE_DENSE_JOINTS];
  double turn[PSDMP_DERIVE_DENSE_JOINTS];
  long size[2];
} psdmp_derive_blocks;

/* Blocks of a system whose monomials are all products of the joints'; false: they are not. */
bool psdmp_derive_blocks_set(const psdmp_derive_space *space, long count, const uint64_t *code, uint64_t seed,
                             psdmp_derive_blocks *blocks);

/* The states of the system, (count x n). */
void psdmp_derive_blocks_positions(const psdmp_derive_space *space, const psdmp_derive_blocks *blocks, double reach,
                                   double *q);

/* Coefficients X (count x columns) of sampled torques B, which is overwritten. False: out of memory, or singular. */
bool psdmp_derive_blocks_solve(const psdmp_derive_space *space, const psdmp_derive_blocks *blocks, double reach,
                               int columns, double *B, double *X, psdmp_base_arena *arena);

/* ---- reduce ---- */

/* Base parameters of coefficient rows in units of the reach, psi (rows x standard): fills base and l. */
psdm_status psdmp_derive_dense_reduce(const psdm_robot *robot, double reach, const double *psi, long rows,
                                      psdm_model *model, psdm_derive_info *info, psdm_error *error);

/* ---- all together ---- */

/* Fills the model's functions, Psi, base parameters and l. */
psdm_status psdmp_derive_dense(const psdm_robot *robot, const psdm_derive_options *options, psdm_model *model,
                               psdm_derive_info *info, psdm_error *error);

#endif
