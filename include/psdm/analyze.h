/* psdm/analyze.h: properties of a robot's dynamics at all positions at once, from the exact coefficients of its model.
 *
 * Structure: which entries of M, c and g depend on which joints, which vanish, what would have to vanish for them to be
 * constant or decoupled. Bounds: rigorous k0 .. k7 with (De Luca, Robotics 2)
 *
 *   k0 <= ||M(q)|| <= k1 + k2 |q| + k3 |q|^2,    ||S(q, qd)|| <= (k4 + k5 |q|) |qd|,    |g(q)| <= k6 + k7 |q|
 *
 * over the joints' limits, with the largest value found and where. u^T M(q) v is a trigonometric polynomial in each
 * revolute joint; its amplitudes bound its second derivatives by b_j, and these bound how far it exceeds its values at
 * the corners of a box with sides h_j: by sum h_j^2 b_j / 8. Boxes are divided as needed until bound and largest value
 * found agree within a thousandth, or the budget of positions is spent. Samples (billions on a GPU) show how the values
 * are distributed, and test the bounds. docs/analyze.md has the proofs. */
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

/* From the model's functions and base parameters. numeric: use the robot's numbers where it has them; else the
 * structure holds for any numbers. Allocates; free with psdm_structure_free. The model and the robot must outlive
 * it. */
PSDM_API psdm_status psdm_structure_new(const psdm_robot *robot, const psdm_model *model, bool numeric,
                                        const psdm_allocator *allocator, psdm_structure **structure, psdm_error *error);
PSDM_API void psdm_structure_free(psdm_structure *structure); /* accepts NULL */

/* Entry of M: 0 when it is identically zero, else 1; depends (n, nullable): 1 for each joint that it depends on. */
PSDM_API int psdm_structure_mass(const psdm_structure *structure, int i, int j, unsigned char *depends);
PSDM_API int psdm_structure_gravity(const psdm_structure *structure, int i, unsigned char *depends);
/* Coriolis or centrifugal term qd_j qd_k in joint i's torque. */
PSDM_API int psdm_structure_coriolis(const psdm_structure *structure, int i, int j, int k, unsigned char *depends);
PSDM_API bool psdm_structure_constant_mass(const psdm_structure *structure);
PSDM_API bool psdm_structure_diagonal_mass(const psdm_structure *structure);
PSDM_API bool psdm_structure_linear(const psdm_structure *structure); /* constant M and no gravity */

/* Conditions, as sentences with formulas of base parameters; NULL past the end. What must be zero for M to be constant
 * or diagonal, or for gravity to vanish (balance by masses), joint by joint; and springs that balance the rest: k = m g
 * l / ... per joint where one spring can. */
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
  long points; /* most positions to visit; 0: 2 million */
  /* (n) override the robot's limits, infinite for none; revolute joints without limits: a full turn */
  const double *lower, *upper;
  uint64_t seed; /* of the search and the samples; bounds hold for any */
  /* positions drawn uniformly between the limits, with unit velocities; 0: none, at most 4e9. Prismatic joints without
   * limits stay at 0, as in the search */
  long samples;
  /* samples on a GPU: the same ones, with the same values to rounding. PSDM_E_COMPILER without CUDA's compiler or a
   * usable GPU */
  bool cuda;
  /* that compiler, with arguments; NULL: $NVCC, else nvcc. A C++ compiler turns the same text into loops on the CPU */
  const char *nvcc;
  /* for samples; 0: from OMP_NUM_THREADS or the number of processors; 1 with the caller's allocator. Results do not
   * depend on it */
  int threads;
  /* every rank makes the same call, with the same options; ranks other than 0 take some of the samples and get NULL.
   * NULL: none. Results do not depend on their number */
  psdm_ranks *ranks;
  /* after a stop the bounds so far hold, but are wider; the samples taken so far count */
  psdm_progress progress;
  void *progress_user;
  unsigned long long reserved[8];
} psdm_bounds_options;

/* Distribution of the values at the samples. */
typedef struct psdm_samples {
  double least, largest;
  /* quantiles: 50 %, 95 % and 99.9 % of the samples are at most this large; up to a thousandth too large */
  double half, most, nearly_all;
  /* samples (and a point found from them) that exceed the bound by more than rounding: 0, or the bound is wrong */
  long beyond;
} psdm_samples;

typedef struct psdm_bound {
  double bound, found;     /* rigorous; the largest value found (smallest for k0, mass_least) */
  const double *q, *qd;    /* (n) where it was found; qd of unit length, NULL where unused */
  psdm_samples at_samples; /* of ||S(q, qd)|| at random unit qd */
} psdm_bound;

typedef struct psdm_bounds {
  int n;
  /* k0 .. k7; k2, k3, k5, k7 belong to prismatic joints without limits, and are 0 where there are none */
  double k[8];
  /* with such joints ||S|| may grow with the square of q, as in a spherical arm: add this times |q|^2 to k4 + k5 |q| */
  double coriolis_square;
  /* with prismatic joints without limits: mass, coriolis and gravity hold with these at 0, and mass_least has no bound
   * better than 0 (or none) */
  /* least eigenvalue of M: bound <= all <= found. The bound is 0 where the positions did not suffice for a better one;
   * if in addition some link's inertia is not physically possible, it is minus that of ||M|| */
  psdm_bound mass_least;
  psdm_bound mass_small;  /* least ||M||: k0 */
  psdm_bound mass;        /* ||M|| */
  psdm_bound coriolis;    /* ||S(q, qd)|| / |qd| */
  psdm_bound gravity;     /* |g| */
  long samples;           /* positions visited */
  double samples_seconds; /* for the samples alone */
  double seconds;
  bool stopped;
  struct psdmp_analyze_bounds *internal;
} psdm_bounds;

PSDM_API psdm_status psdm_bounds_new(const psdm_robot *robot, const psdm_bounds_options *options,
                                     const psdm_allocator *allocator, psdm_bounds **bounds, psdm_error *error);
PSDM_API void psdm_bounds_free(psdm_bounds *bounds); /* accepts NULL */

/* ---- along a path ---- */

/* Half axes, largest first, and their directions (rows), base frame: of the linear velocity of a link's origin for
 * joint velocities of unit length (Yoshikawa 1985), of its acceleration for torques of unit length at rest without
 * gravity, and of its apparent mass in kg along each axis, infinite where the link cannot move (Hogan 1985). Each may
 * be NULL. manipulability (3): products of the longest, the two longest and all three axes of the first; use the second
 * for planar arms. scratch: psdm_ellipsoids_scratch doubles. */
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
