/* bounds_priv.h: shared by the files of psdm_bounds. Private to the library. */
#ifndef PSDMP_ANALYZE_BOUNDS_H
#define PSDMP_ANALYZE_BOUNDS_H

#include "base/base.h"
#include "psdm/analyze.h"
#include "psdm/linearize.h"

/* Range of a joint. */
typedef struct psdmp_analyze_range {
  double lower, upper; /* 0, 0 if unlimited */
  bool slides, unlimited;
} psdmp_analyze_range;

/* ---- M, S or g as a Fourier series: bounds from its amplitudes ---- */

typedef enum psdmp_analyze_series_part {
  PSDMP_ANALYZE_MASS,
  PSDMP_ANALYZE_CORIOLIS,
  PSDMP_ANALYZE_GRAVITY
} psdmp_analyze_series_part;

/* Suprema over the ranges; arrays (n). */
typedef struct psdmp_analyze_heights {
  double all;       /* sup ||F|| */
  double *bend;     /* sup ||d^2 F / dq_j^2|| */
  double *swing;    /* sup ||the part of F that depends on q_j|| */
  double growth[3]; /* [t]: ||the part of degree t in the unlimited prismatic joints|| <= growth[t] |q|^t */
} psdmp_analyze_heights;

/* For a part of the model; entry (i, j) of M divided by scale[i] scale[j] unless scale is NULL. Norms are those of
 * psdmp_analyze_norms, with its choice of joints, without the net's factor. PSDM_E_LIMIT when there are too many
 * waves. */
struct psdmp_analyze_norms;
psdm_status psdmp_analyze_heights_make(psdmp_base_arena *arena, const psdm_model *model, const double *theta,
                                       double gravity, const psdmp_analyze_range *range, psdmp_analyze_series_part part,
                                       const double *scale, struct psdmp_analyze_norms *norms,
                                       psdmp_analyze_heights *spread);

/* A lower bound of M_ii, 0 if it depends on unlimited joints. */
psdm_status psdmp_analyze_heights_diagonal(const psdm_allocator *allocator, const psdm_model *model,
                                           const double *theta, const psdmp_analyze_range *range, int i, double *least);

/* ---- norms at one position ---- */

typedef struct psdmp_analyze_norms {
  const psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n;
  double *M, *copy;       /* (n x n) */
  double *eigen, *lapack; /* (n), (words) */
  int words;
  double *S;                           /* (n x n x n) S[k][i][j] = c_ijk */
  double *gram;                        /* (6 x n x n) S_k^T S_l of the chosen joints */
  double *zero, *unit, *vector[3], *g; /* (n) */
  const double *scale;                 /* (n) nullable */
  int chosen[3], choices; /* joints whose velocities are searched by a net; the others are bounded together */
  int points;             /* of the net */
  double *net;            /* (points x 3) */
  double net_factor;      /* 1 / cos of the net's covering angle */
  psdm_status status;     /* the first failure */
} psdmp_analyze_norms;

bool psdmp_analyze_norms_make(psdmp_base_arena *arena, const psdm_robot *robot, psdmp_analyze_norms *norms);

/* Ascending eigenvalues of M at q, or of a matrix, which is overwritten. */
void psdmp_analyze_norms_mass(psdmp_analyze_norms *norms, const double *q);
const double *psdmp_analyze_norms_eigen(psdmp_analyze_norms *norms, double *matrix);
double psdmp_analyze_norms_gravity(psdmp_analyze_norms *norms, const double *q);

/* S at q into norms->S; then the largest ||S(q, qd)|| over |qd| = 1 found (its qd, nullable), and an upper bound: a
 * coarse one if that is at most `enough`. */
void psdmp_analyze_norms_coriolis(psdmp_analyze_norms *norms, const double *q);
double psdmp_analyze_norms_coriolis_found(psdmp_analyze_norms *norms, double *qd);
double psdmp_analyze_norms_coriolis_bound(psdmp_analyze_norms *norms, double enough);

/* ||S(q, qd)|| itself. */
double psdmp_analyze_norms_coriolis_at(psdmp_analyze_norms *norms, const double *q, const double *qd);

/* The net on the unit sphere of the chosen joints' velocities. */
bool psdmp_analyze_norms_net(psdmp_base_arena *arena, psdmp_analyze_norms *norms, const double *largest);

/* ---- branch and bound ---- */

enum { PSDMP_ANALYZE_SEARCH_JOINTS = 10 };

/* The largest f over a box of positions, where f is the supremum of functions whose second derivatives by joint j
 * are at most bend[j]. */
typedef struct psdmp_analyze_box_search {
  int n, d; /* joints; joints searched */
  int joint[PSDMP_ANALYZE_SEARCH_JOINTS];
  double lower[PSDMP_ANALYZE_SEARCH_JOINTS], upper[PSDMP_ANALYZE_SEARCH_JOINTS], bend[PSDMP_ANALYZE_SEARCH_JOINTS];
  double slack; /* possible contribution of the joints held fixed */
  double *q;    /* (n) position; the other joints are held here */
  int width;    /* numbers per position */
  void (*at)(void *user, const double *q, double *values);
  /* of f between the corners, whose interpolation has this error */
  double (*bound)(void *user, int corners, const double *values, double error);
  void *user;
  long points;      /* most positions */
  double tolerance; /* relative */
  psdm_progress progress;
  void *progress_user;
  /* out */
  double best, top; /* f's bound without an error at the best corner; no f is above */
  double *best_q;   /* (n) */
  long used;
  bool stopped;
} psdmp_analyze_box_search;

/* False: out of memory. */
bool psdmp_analyze_box_search_run(psdmp_analyze_box_search *search, const psdm_allocator *allocator);

/* Climbs from q, joint by joint with steps that halve, within the ranges. */
double psdmp_analyze_climb(int n, const psdmp_analyze_range *range, double (*f)(void *user, const double *q),
                           void *user, double *q);

#endif
