/* optimal_priv.h: shared by the parts of optimal motions. Private to the library.
 *
 * A motion is a sequence of polynomial pieces over s = t / T in [0, 1]. Each has q and its first two derivatives at
 * both ends (degree 5), with elastic joints the first three (degree 7). Nodes share q and qd, with elastic joints all;
 * so the highest derivative in the torques, the second or the fourth, is a cubic in each piece and may jump at
 * nodes. */
#ifndef PSDMP_PLAN_OPTIMAL_PRIV_H
#define PSDMP_PLAN_OPTIMAL_PRIV_H

#include "base/base.h"
#include "plan/optimal_solver_priv.h"
#include "psdm/friction.h"
#include "psdm/linearize.h"
#include "psdm/motion.h"
#include "psdm/rigid.h"

enum {
  PSDMP_PLAN_MOST_ORDERS = 5, /* q and its derivatives in the torques: 3, elastic 5 */
  PSDMP_PLAN_MOST_HELD = 4,   /* of them at each end of a piece: 3, elastic 4 */
  PSDMP_PLAN_POINTS = 5,      /* of a piece where torques are evaluated, both ends included */
  /* levels: where limits would be violated between the points, the intervals are halved up to LEVELS - 1 times */
  PSDMP_PLAN_LEVELS = 4
};

/* of central differences along q: the cube root of 2^-52, which balances the third derivative and rounding */
static const double psdmp_plan_q_step = 6e-6;

/* ---- closed loops (optimal_loop.c) ---- */

/* N: independent joints of the tree. */
typedef struct psdmp_plan_loop {
  const psdm_robot *robot, *tree;
  psdm_work *work, *tree_work; /* of the robot, and of the tree */
  psdm_linear *linear;         /* of the tree */
  int n, N, passives, equations;
  bool near;                      /* loops are closed starting from home */
  double *home;                   /* (N) */
  double *q, *qd, *qdd, *g, *tau; /* (N) of the tree; g: its accelerations where qdd = 0 */
  double *G, *F;                  /* (n x N), (n x n x N) first and second derivatives of the tree's coordinates */
  double *A, *S;                  /* (equations x N) derivative of the gaps; (passives x passives) factors */
  double *B, *C, *M;              /* (N x N) derivatives of the tree's torques */
  double *small, *right, *drift, *side, *vector; /* scratch */
} psdmp_plan_loop;

psdm_status psdmp_plan_loop_init(psdmp_plan_loop *l, const psdm_robot *robot, psdm_work *work, psdmp_base_arena *arena);

/* Torques (n) and their derivatives (n x 3n) at z = (q, qd, qdd), without friction. */
psdm_status psdmp_plan_loop_slope(psdmp_plan_loop *l, const double *z, double *tau, double *J);

/* near: the following states are near the last one, so that closing the loops is fast. */
void psdmp_plan_loop_stay(psdmp_plan_loop *l, bool near);

/* ---- torques of a motion, and their derivatives (optimal_torque.c) ---- */

/* z (orders x n): q, qd, qdd, and two more with elastic joints. One thread at a time. */
typedef struct psdmp_plan_torques {
  int n, orders;
  const psdm_robot *robot; /* for the inverse dynamics: elastic, without the rotors of independent joints */
  psdm_robot *links;       /* elastic: that robot, owned */
  bool loops;              /* closed loops, */
  psdmp_plan_loop loop;    /* and their derivatives */
  psdm_work *work;
  psdm_linear *linear;
  double *rotors; /* elastic: (n x n) mass matrix of those rotors */
  double *soft;   /* elastic: (n) 1 / stiffness, 0 where rigid */
  psdm_friction_kind kind;
  const psdm_friction **friction; /* (n) NULL for joints without */
  double *width;                  /* (n) speed within which dry friction reverses */
  double *load[3];                /* (n) tau_q and its time derivatives */
  double *part[12];               /* (n x n) scratch */
  double *side[2], *step;         /* (n x orders n) and (orders n) scratch */
} psdmp_plan_torques;

/* width: (n), copied. Memory from the arena, except links: psdmp_plan_torques_free. */
psdm_status psdmp_plan_torques_init(psdmp_plan_torques *t, const psdm_robot *robot, psdm_friction_kind friction,
                                    bool elastic, const double *width, psdmp_base_arena *arena, psdm_error *error);
void psdmp_plan_torques_free(psdmp_plan_torques *t);

psdm_status psdmp_plan_torques_at(psdmp_plan_torques *t, const double *z, double *tau);

/* tau and its derivative by z, J (n x orders n). */
psdm_status psdmp_plan_torques_slope(psdmp_plan_torques *t, const double *z, double *tau, double *J);

/* The second derivative by z of lambda . tau, (orders n x orders n), both triangles. */
psdm_status psdmp_plan_torques_curve(psdmp_plan_torques *t, const double *z, const double *lambda, double *H);

/* Smoothed friction at v and its first two derivatives: dry friction times tanh(v / width), and Fv v (v^2 +
 * width^2)^((d - 1) / 2). */
void psdmp_plan_smooth_friction(const psdm_friction *friction, psdm_friction_kind kind, double width, double v,
                                double f[3]);

/* ---- pieces (optimal_pieces.c) ---- */

/* The k-th derivative at sigma in [0, 1] of a piece, as factors of the derivatives at its ends: c[held a + r] for
 * derivative r (in sigma) at end a. */
void psdmp_plan_piece_factors(int held, double sigma, int k, double *c);

/* Bezier coefficient i of the k-th derivative, as such factors: the derivative stays between the least and the largest
 * of them. i <= 2 held - 1 - k. */
void psdmp_plan_piece_hull(int held, int k, int i, double *c);

extern const double psdmp_plan_point[PSDMP_PLAN_POINTS], psdmp_plan_point_weight[PSDMP_PLAN_POINTS];

/* With their intervals halved `level` times: number of points of a piece, their positions and weights; those in between
 * have weight zero. */
int psdmp_plan_points(int level);
double psdmp_plan_level_point(int level, int k);
double psdmp_plan_level_weight(int level, int k);

/* ---- the nonlinear program (optimal_program.c) ---- */

/* T^-power times (still + the sum of factor x[place]): a limit of q, qd or qdd. */
typedef struct psdmp_plan_optimal_line {
  int power, count, first; /* first: of places and factors */
  double still;            /* contribution of fixed ends to the sum */
} psdmp_plan_optimal_line;

typedef struct psdmp_plan_program {
  psdmp_plan_torques *torques;
  int pieces;
  const double *share;     /* (pieces) length of each piece in s; their sum is 1 */
  const int *level;        /* (pieces) halvings of the intervals between its points */
  const double *from, *to; /* (n) */
  const double *lower, *upper, *velocity, *acceleration, *effort; /* (n) */
  const double *weight;                                           /* (n) of tau^2 in the objective */
  double time, energy;                                            /* weights */
  double duration;                                                /* fixed, or 0 */
  double shortest, longest;                                       /* of a free duration */

  /* computed by psdmp_plan_program_init */
  /* shared: of the held derivatives those that nodes share; the others belong to each piece */
  int n, orders, held, shared;
  int local; /* unknowns of a piece without T: 2 held n */
  int unknowns, rows, slopes, curves;
  int points;      /* of all pieces */
  int *first;      /* (pieces + 1) index of a piece's first point */
  int *torque_row; /* (n) row of each joint within a point's, -1 without a limit */
  int torque_rows; /* number of torque rows of a point */
  int lines;
  psdmp_plan_optimal_line *line; /* rows after the torques' */
  int *place;
  double *factor;
  double *low, *high, *row_low, *row_high;
  int *slope_row, *slope_column, *curve_row, *curve_column;
  int *entry;                       /* (pieces x triangle of local + 1) entries of the Hessian, -1 where one is fixed */
  int *time_entry;                  /* (unknowns) entry of each with T */
  double *basis[PSDMP_PLAN_LEVELS]; /* (points of a piece x orders x 2 held) */
  double *tau;                      /* (points x n), at the last x */
  double *J;                        /* (points x n x orders n) */
  double *z, *H, *D, *sum, *lambda; /* scratch of one point or piece */
  bool have_tau, have_slope;
} psdmp_plan_program;

/* approximate memory of program and solver; before psdmp_plan_program_init */
double psdmp_plan_program_bytes(const psdmp_plan_program *p);
/* PSDM_E_MEMORY, or PSDM_E_LIMIT if it is too large */
psdm_status psdmp_plan_program_init(psdmp_plan_program *p, psdmp_base_arena *arena);
/* fills all but progress and settings */
void psdmp_plan_program_problem(psdmp_plan_program *p, psdmp_plan_solver_problem *problem);

double psdmp_plan_program_seconds(const psdmp_plan_program *p, const double *x);

/* Index in x of (T / pieces)^order times a derivative at an end (0, 1) of a piece; -1 if fixed. */
int psdmp_plan_program_place(const psdmp_plan_program *p, int piece, int end, int order, int joint);

/* The same derivative at sigma of a piece. */
double psdmp_plan_program_at(const psdmp_plan_program *p, const double *x, int piece, double sigma, int order,
                             int joint);

/* ---- the solver (optimal_solver_io.c) ---- */

/* PSDM_E_MISSING without it. It stays loaded. */
psdm_status psdmp_plan_solver_load(psdmp_plan_solve *solve, psdm_error *error);

#endif
