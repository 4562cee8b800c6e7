/* psdm/analyze.h: what can be said of a robot's dynamics for all positions at once, from the exact coefficients of its
 * model.
 *
 * Structure: which entries of M, c and g depend on which joints, which vanish, what would have to vanish for them to be
 * constant or decoupled. Bounds: rigorous k0 .. k7 with (De Luca, Robotics 2)
 *
 *   k0 <= ||M(q)|| <= k1 + k2 |q| + k3 |q|^2,    ||S(q, qd)|| <= (k4 + k5 |q|) |qd|,    |g(q)| <= k6 + k7 |q|
 *
 * over the joints' limits, beside the largest value that was found and where. u^T M(q) v is a trigonometric
 * polynomial in each turning joint; the heights of its waves bound its second derivatives b_j, and those bound how
 * far it lies above the corners of a box with sides h_j: by sum h_j^2 b_j / 8. Boxes are divided where that is
 * needed, until bound and found are within a thousandth or the positions are used up. Samples, up to thousands of
 * millions on a GPU, say how the values are distributed, and put the bounds to the test. docs/analyze.md has the
 * proofs. */
#ifndef PSDM_ANALYZE_H
#define PSDM_ANALYZE_H

#include <stdint.h>

#include "psdm/model.h"
#include "psdm/ranks.h"
#include "psdm/rigid.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- structure ---- */

typedef struct psdm_structure psdm_structure;

/* Of the model's functions and base parameters; with the robot's numbers where it has them (numeric), or for any
 * numbers. Allocates; free with psdm_structure_free. The model and the robot must outlive it. */
PSDM_API psdm_status psdm_structure_new(const psdm_robot *robot, const psdm_model *model, bool numeric,
                                        const psdm_allocator *allocator, psdm_structure **structure, psdm_error *error);
PSDM_API void psdm_structure_free(psdm_structure *structure); /* accepts NULL */

/* An entry of M: 0 when it is identically zero, else 1; depends (n, nullable): 1 for each joint that it depends on. */
PSDM_API int psdm_structure_mass(const psdm_structure *structure, int i, int j, unsigned char *depends);
PSDM_API int psdm_structure_gravity(const psdm_structure *structure, int i, unsigned char *depends);
/* Coriolis and centrifugal term of qd_j qd_k in joint i's torque. */
PSDM_API int psdm_structure_coriolis(const psdm_structure *structure, int i, int j, int k, unsigned char *depends);
PSDM_API bool psdm_structure_constant_mass(const psdm_structure *structure);
PSDM_API bool psdm_structure_diagonal_mass(const psdm_structure *structure);
PSDM_API bool psdm_structure_linear(const psdm_structure *structure); /* constant M and no gravity */

/* Conditions, as sentences with formulas of base parameters, NULL behind the last: what must be zero for M to be
 * constant, diagonal, and for gravity to vanish (balance by masses), joint by joint; and springs that balance what
 * is left: k = m g l / ... per joint where one spring can. */
typedef enum psdm_wish {
  PSDM_WISH_CONSTANT_MASS,
  PSDM_WISH_DIAGONAL_MASS,
  PSDM_WISH_NO_GRAVITY,
  PSDM_WISH_SPRINGS,
  PSDM_WISHES
} psdm_wish;
PSDM_API const char *psdm_structure_condition(const psdm_structure *structure, psdm_wish wish, int index);

/* ---- bounds ---- */

/* Zero-initialise for the defaults. */
typedef struct psdm_bounds_options {
  long points; /* positions to look at, at most; 0: 2 million */
  /* (n) in place of the robot's limits, infinite for none; turning joints without limits: a whole turn */
  const double *lower, *upper;
  uint64_t seed; /* of what is found and of the samples; bounds hold for any */
  /* positions drawn uniformly between the limits, and unit velocities; 0: none, at most 4 thousand millions. Sliding
   * joints without limits stay at 0, as they do in what is found */
  long samples;
  /* the samples on a GPU: the same ones, values but for rounding. PSDM_E_COMPILER without CUDA's compiler or a GPU
   * that it can use */
  bool cuda;
  /* that compiler, with words behind it; NULL: $NVCC, else nvcc. A C++ compiler makes loops on the processor of the
   * same text */
  const char *nvcc;
  /* of the samples; 0: as OMP_NUM_THREADS or the processors say; 1 where the caller has an allocator. Nothing
   * depends on it */
  int threads;
  /* every rank makes the same call, with the same options; those other than 0 have some of the samples and get NULL.
   * NULL: none. Nothing depends on their number */
  psdm_ranks *ranks;
  /* after a stop the bounds so far hold, but are wider; of the samples those so far count */
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_bounds_options;

/* How the values at the samples lie. */
typedef struct psdm_samples {
  double least, largest;
  /* half, 95 % and 99.9 % of the samples are at most so large; up to a thousandth too large */
  double half, most, nearly_all;
  /* samples (and a point found from them) that break the bound by more than rounding: 0, or the bound is wrong */
  long beyond;
} psdm_samples;

typedef struct psdm_bound {
  double bound, found;     /* rigorous; the largest (smallest for k0, mass_least) that was met */
  const double *q, *qd;    /* (n) where; qd of unit length, NULL where it has no part */
  psdm_samples at_samples; /* of ||S(q, qd)|| at random unit qd */
} psdm_bound;

typedef struct psdm_bounds {
  int n;
  /* k0 .. k7; k2, k3, k5, k7 are for sliding joints without limits, and 0 where there are none */
  double k[8];
  /* with such joints ||S|| may grow with their square, as in a spherical arm: add this times |q|^2 to k4 + k5 |q| */
  double coriolis_square;
  /* with sliding joints without limits: mass, coriolis and gravity where these are at 0, mass_least without a better
   * bound than 0 (or none) */
  /* least eigenvalue of M: bound <= all <= found; 0 where the positions did not suffice for a better bound, or minus
   * ||M||'s where moreover some link's inertia is not that of a body */
  psdm_bound mass_least;
  psdm_bound mass_small;  /* least ||M||: k0 */
  psdm_bound mass;        /* ||M|| */
  psdm_bound coriolis;    /* ||S(q, qd)|| / |qd| */
  psdm_bound gravity;     /* |g| */
  long samples;           /* that were looked at */
  double samples_seconds; /* for them alone */
  double seconds;
  bool stopped;
  struct psdmp_analyze_bounds *internal;
} psdm_bounds;

PSDM_API psdm_status psdm_bounds_new(const psdm_robot *robot, const psdm_bounds_options *options,
                                     const psdm_allocator *allocator, psdm_bounds **bounds, psdm_error *error);
PSDM_API void psdm_bounds_free(psdm_bounds *bounds); /* accepts NULL */

/* ---- along a path ---- */

/* Half axes, falling, and their directions (rows), base frame: of the linear velocity of a link's origin for joint
 * velocities of unit length (Yoshikawa 1985), of its acceleration for torques of unit length at rest without
 * gravity, and of its apparent mass: a force along an axis meets so many kilograms, infinite where the link cannot
 * give way (Hogan 1985). Each may be NULL. manipulability (3): products of the longest, the two longest and all
 * three axes of the first; an arm in a plane has its measure in the second. scratch: (psdm_ellipsoids_scratch)
 * numbers. */
typedef struct psdm_ellipsoid {
  double axis[3], direction[9];
} psdm_ellipsoid;
PSDM_API psdm_status psdm_ellipsoids_at(const psdm_robot *robot, psdm_work *work, const double *q, int joint,
                                        double *scratch, psdm_ellipsoid *velocity, psdm_ellipsoid *acceleration,
                                        psdm_ellipsoid *inertia, double *manipulability);
PSDM_API size_t psdm_ellipsoids_scratch(const psdm_robot *robot);

#ifdef __cplusplus
}
#endif
#endif
