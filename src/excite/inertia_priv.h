/* inertia_priv.h: an optimised periodic motion, in pieces. Private to the library.
 *
 *   wave.c      numbers x of a search <-> harmonics of all joints, and their samples
 *   adjoint.c   derivatives of a weighted sum of the regressor's entries
 *   columns.c   columns of the stacked regressor, its condition number
 *   value.c     the objective and its gradient by samples
 *   bounds.c    limits: smooth for the search, strict for the answer
 *   search.c    random motions, starts, the best so far
 *   nlopt.c     NLopt */
#ifndef PSDMP_EXCITE_INERTIA_H
#define PSDMP_EXCITE_INERTIA_H

#include "excite/excite_priv.h"
#include "psdm/linearize.h"

/* Doubles from an arena; NULL: out of memory. */
static inline double *psdmp_excite_numbers(psdmp_base_arena *arena, long count) {
  return psdmp_base_arena_alloc(arena, ((size_t)count + 1) * sizeof(double));
}

/* ---- wave.c ---- */

enum { PSDMP_EXCITE_MOST_TERMS = 256 }; /* harmonics of a joint */

/* q_i(t) = c_i + sum over k in harmonic_i of a_ik/(w k) sin(w k t) - b_ik/(w k) cos(w k t), with sum_k a_ik = sum_k k
 * b_ik = 0: velocity and acceleration vanish at both ends. x has per joint: centre in halves of the range, then the
 * coordinates of a_i and b_i in orthonormal bases of these equations' null spaces, each coefficient in units of the
 * largest that its harmonic alone allows. */
typedef struct psdmp_excite_wave {
  int n, terms, own; /* own = 1 + 2 (terms - 1): numbers of a joint */
  int highest;       /* highest possible harmonic */
  double seconds;
  const psdmp_excite_limits *limits;
  int *harmonic;    /* (n x terms), ascending */
  double *unit;     /* (n x terms), of a and b */
  double *basis[2]; /* (n x terms x (terms - 1)) of a and b, in units */
} psdmp_excite_wave;

bool psdmp_excite_wave_new(int n, int terms, int highest, double seconds, const psdmp_excite_limits *limits,
                           psdmp_base_arena *arena, psdmp_excite_wave *wave);

/* Units and bases, after harmonic has been set. */
void psdmp_excite_wave_set(psdmp_excite_wave *wave);
void psdmp_excite_wave_copy(const psdmp_excite_wave *from, psdmp_excite_wave *to);

/* A motion from these numbers: Fourier if all harmonics 1 .. terms are present. Allocates. */
psdm_status psdmp_excite_wave_motion(const psdmp_excite_wave *wave, bool sines, const double *x, double *scratch,
                                     const psdm_allocator *allocator, psdm_motion **motion, psdm_error *error);
long psdmp_excite_wave_scratch(const psdmp_excite_wave *wave);

/* Samples of a period, and their derivatives by x. */
typedef struct psdmp_excite_grid {
  int points;
  /* a polynomial of degree highest is nowhere larger than this times its largest sample: 1 / cos(pi highest /
   * points) */
  double reach;
  double *turn;  /* (points x 2) sine and cosine */
  double *table; /* (n x points x 3 x own) */
  double *state; /* (points x 3 n) q, qd, qdd */
} psdmp_excite_grid;

bool psdmp_excite_grid_new(const psdmp_excite_wave *wave, int points, psdmp_base_arena *arena, psdmp_excite_grid *grid);
/* the table */
void psdmp_excite_grid_set(const psdmp_excite_wave *wave, psdmp_excite_grid *grid);
/* the states */
void psdmp_excite_grid_at(const psdmp_excite_wave *wave, psdmp_excite_grid *grid, const double *x);
/* by_x = derivatives by x from those by states */
void psdmp_excite_grid_pull(const psdmp_excite_wave *wave, const psdmp_excite_grid *grid, const double *by_state,
                            double *by_x);

/* ---- closed.c ---- */

/* For a robot with closed loops; robot NULL: without. */
typedef struct psdmp_excite_closed {
  psdm_robot *robot; /* whose parameters are weights */
  psdm_linear *linear;
  double *by; /* (3 n n) */
} psdmp_excite_closed;

bool psdmp_excite_closed_new(const psdm_robot *robot, psdmp_base_arena *arena, psdmp_excite_closed *closed);
void psdmp_excite_closed_free(psdmp_excite_closed *closed, const psdm_allocator *allocator); /* also when new failed */

/* As psdmp_excite_adjoint. */
psdm_status psdmp_excite_closed_gradient(psdmp_excite_closed *closed, const double *state, const double *weight,
                                         double *by_state);

/* ---- adjoint.c ---- */

/* Derivatives of sum_ij weight_ij Y_ij(q, qd, qdd), Y the standard regressor (n x parameter_count), by q, qd and qdd:
 * by_state (3 n). Backwards through the recursion, O(bodies x depth) for all of them. Does not allocate; not for closed
 * loops. */
long psdmp_excite_adjoint_scratch(const psdm_robot *robot);
void psdmp_excite_adjoint(const psdm_robot *robot, psdm_work *work, const double *state, const double *weight,
                          double *scratch, double *by_state);

/* ---- columns.c ---- */

typedef enum psdmp_excite_friction_column {
  PSDMP_EXCITE_VISCOUS,
  PSDMP_EXCITE_COULOMB,
  PSDMP_EXCITE_OFFSET,
  PSDMP_EXCITE_FRICTION_COLUMNS
} psdmp_excite_friction_column;

/* The regressor columns: base parameters, then friction. Rows are divided by a torque, columns by their root mean
 * square over states spread evenly over the limits. Constant once made. */
typedef struct psdmp_excite_told {
  const psdm_robot *robot;
  int n, standard, base, friction, columns;
  /* column j of the base regressor: the sum of factor times the standard regressor's column index, start[j] .. start[j
   * + 1]; one column each, unless assumptions combine them */
  int *start, *index;
  double *factor;
  int *joint; /* (friction) */
  psdmp_excite_friction_column *kind;
  double *row_scale;    /* (n) */
  double *column_scale; /* (columns) */
  double *width;        /* (n) rad/s over which Coulomb friction reverses */
  int *row_count;       /* (n) number of entries in a joint's row that can be nonzero */
  int **row_column;     /* (n) their columns */
  int row_total;
} psdmp_excite_told;

psdm_status psdmp_excite_told_new(const psdm_robot *robot, const psdm_excite_options *options,
                                  const psdmp_excite_limits *limits, const double *effort, psdmp_base_arena *arena,
                                  psdmp_excite_told *told, psdm_error *error);

/* Entry of base column c in a row of the standard regressor. */
static inline double psdmp_excite_told_base(const psdmp_excite_told *t, int c, const double *row) {
  double sum = 0;
  for (int k = t->start[c]; k < t->start[c + 1]; k++) sum += t->factor[k] * row[t->index[k]];
  return sum;
}

/* The rows of one state, possible entries only, one joint after the other: row (row_total), scaled. */
psdm_status psdmp_excite_told_row(const psdmp_excite_told *told, psdm_work *work, const double *state, double *Y,
                                  double *row);

/* Singular values of all rows of a motion, not of their squares: begin, add states, end. */
typedef struct psdmp_excite_gathering psdmp_excite_gathering;

/* NULL: out of memory */
psdmp_excite_gathering *psdmp_excite_gathering_new(const psdmp_excite_told *told, psdmp_base_arena *arena);
void psdmp_excite_gathering_begin(psdmp_excite_gathering *g);
psdm_status psdmp_excite_gathering_add(psdmp_excite_gathering *g, psdm_work *work, const double *state);

/* Condition numbers, and log det of the rows' squares / states; plain: of the base regressor alone, unscaled. */
psdm_status psdmp_excite_gathering_end(psdmp_excite_gathering *g, double *condition, double *logdet, double *plain);

/* ---- value.c ---- */

/* f = -log det(A) / columns or the logarithm of a smooth condition number, A = sum of scaled rows' squares / points
 * + ridge. */
typedef struct psdmp_excite_value {
  const psdmp_excite_told *told;
  psdm_excite_goal goal;
  int points;
  psdm_work *work;
  double *Y, *weight, *adjoint, *row; /* row (points x row_total) */
  double *gram, *A, *B, *power[5], *eigen, *eigen_work;
  psdmp_excite_closed closed;
} psdmp_excite_value;

extern const double psdmp_excite_ridge;

/* work is the caller's; psdmp_excite_closed_free frees what the arena does not. */
bool psdmp_excite_value_new(const psdmp_excite_told *told, psdm_excite_goal goal, int points, psdm_work *work,
                            psdmp_base_arena *arena, psdmp_excite_value *value);

/* f at states (points x 3 n); by_state (the same) or NULL. Infinite when undefined. condition (nullable): of the rows,
 * without ridge. */
double psdmp_excite_value_at(psdmp_excite_value *value, const double *state, double *by_state, double *condition);

/* ---- bounds.c ---- */

/* A dependent joint with limits of its own; margins subtracted. */
typedef struct psdmp_excite_follower {
  const double *G; /* (n) */
  double c;
  psdm_limits limits;
} psdmp_excite_follower;

typedef struct psdmp_excite_bounds {
  const psdm_robot *robot;
  const psdmp_excite_limits *limits;
  int n, followers, gaps, efforts; /* efforts: number of joints with torque limits */
  psdmp_excite_follower *follower;
  const psdm_friction **friction; /* (n) NULL: none in the file */
  int count;                      /* of the smooth ones */
} psdmp_excite_bounds;

bool psdmp_excite_bounds_new(const psdm_robot *robot, const psdmp_excite_limits *limits, psdmp_base_arena *arena,
                             psdmp_excite_bounds *bounds);

/* Dependent joints with limits of their own, margins subtracted; NULL: none, or out of memory (whole is false). */
psdmp_excite_follower *psdmp_excite_followers(const psdm_robot *robot, double margin, psdmp_base_arena *arena,
                                              int *count, bool *whole);

/* Data of one thread. */
typedef struct psdmp_excite_bounds_work {
  psdm_work *work;
  psdm_linear *linear;
  double *tau, *by, *gap, *gap_by, *share, *by_state;
} psdmp_excite_bounds_work;

/* points: the largest grid; slopes: the largest grid with derivatives. */
bool psdmp_excite_bounds_work_new(const psdmp_excite_bounds *bounds, int points, int slopes, psdm_work *work,
                                  psdm_linear *linear, psdmp_base_arena *arena, psdmp_excite_bounds_work *w);

/* Smooth maxima over the samples (Kreisselmeier and Steinhauser 1979), result (count) <= 0 if limits are kept; gradient
 * (count x numbers) or NULL. The grid's states are those of x. */
void psdmp_excite_bounds_smooth(const psdmp_excite_bounds *bounds, const psdmp_excite_wave *wave,
                                const psdmp_excite_grid *grid, psdmp_excite_bounds_work *w, double *result,
                                double *gradient);

/* Sets the amplitudes of each joint to the largest that its position, velocity and acceleration limits allow at all
 * times (grow), or only reduces them. */
void psdmp_excite_bounds_fit(const psdmp_excite_bounds *bounds, const psdmp_excite_wave *wave, psdmp_excite_grid *grid,
                             bool grow, double *x);

/* Largest share of torque, gap and dependent joints' limits in use, with a bound for what lies between the samples; 0
 * without such limits. */
double psdmp_excite_bounds_shared(const psdmp_excite_bounds *bounds, const psdmp_excite_grid *grid,
                                  psdmp_excite_bounds_work *w);

/* Both: x keeps all limits at all times. All amplitudes shrink alike where torques, gaps or dependent joints require
 * it; false: not even x at rest keeps them. */
bool psdmp_excite_bounds_keep(const psdmp_excite_bounds *bounds, const psdmp_excite_wave *wave, psdmp_excite_grid *grid,
                              psdmp_excite_bounds_work *w, bool grow, double *x);

/* ---- search.c ---- */

typedef struct psdmp_excite_found {
  psdm_motion *motion; /* the caller frees it */
  double random_best, random_median, random_plain_best, random_plain_median;
  long evaluations;
  int starts;
  double *start_condition; /* in the arena */
  bool stopped;
} psdmp_excite_found;

psdm_status psdmp_excite_search(const psdm_robot *robot, const psdm_excite_options *options,
                                const psdmp_excite_limits *limits, const psdmp_excite_told *told,
                                psdmp_base_arena *arena, psdmp_excite_found *found, psdm_error *error);

/* ---- nlopt.c ---- */

typedef struct psdmp_excite_minimum {
  int numbers, constraints;
  const double *lower, *upper;
  double (*value)(void *user, const double *x, double *gradient);
  void (*bounds)(void *user, const double *x, double *result, double *gradient);
  bool (*stop)(void *user);
  void *user;
  long evaluations;
  unsigned long seed;
} psdmp_excite_minimum;

bool psdmp_excite_nlopt(void); /* whether it is available */

/* Without gradients and constraints, by controlled random search (Price 1983; Kaelo, Ali 2006); with them, by
 * sequential quadratic programming (Kraft 1994). x holds the start, then the best. False: out of memory. */
psdm_status psdmp_excite_minimise_global(const psdmp_excite_minimum *problem, double *x);
psdm_status psdmp_excite_minimise_local(const psdmp_excite_minimum *problem, double *x);

#endif
