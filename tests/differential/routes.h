/* routes.h: ways from a robot file to its dynamics, each judged by the oracle. */
#ifndef ROUTES_H
#define ROUTES_H

#include <float.h>
#include <math.h>

#include "arm.h"

/* A sound algorithm does some ten roundings per joint, in and out, each as large as the scale, and they add up like a
 * square root: an error above ROUNDING (joints + 4) eps scale is a failure. */
enum { ROUNDING = 4 };

/* Some routes state that they lose more: a factor on the tolerance.
 * FORWARD  three recursions and a division.
 * CODE     frames whose numbers are this much larger are chosen where they save operations (GROWTH of
 *          codegen/recursive.c).
 * EXACT    values below 1e-13 in units of the reach count as rounding (derive/base_recursion.c, expand.c). DENSE    the
 * same with 1e-10, of samples (derive/dense.c). SAMPLED  the same with 1e-9 (derive/base_numeric.c). */
#define LOSS_PLAIN 1.0
#define LOSS_FORWARD 4.0
#define LOSS_CODE 10.0
#define LOSS_EXACT (1e-13 / (ROUNDING * DBL_EPSILON))
#define LOSS_DENSE (1e-10 / (ROUNDING * DBL_EPSILON))
#define LOSS_SAMPLED (1e-9 / (ROUNDING * DBL_EPSILON))

enum { STATES = 2 };

typedef struct state {
  /* q, qd, qdd are floats, too; tau: the oracle's, rounded */
  double q[MOST], qd[MOST], qdd[MOST], tau[MOST];
  ld lq[MOST], lqd[MOST], lqdd[MOST], ltau[MOST];
  double size[MOST]; /* scale of tau */

  bool has_mass;
  ld M[MOST * MOST], Minv[MOST * MOST], condition; /* of M, its diagonal scaled to one */
  /* |M| |M^-1|: the factor of solving on an error of the right-hand side */
  double M_size[MOST * MOST], amplified[MOST * MOST];

  bool has_linear;
  ld by_q[MOST * MOST], by_qd[MOST * MOST];
  double by_q_size[MOST * MOST], by_qd_size[MOST * MOST];
} state;

typedef struct subject {
  const arm *arm; /* NULL: the robot came from a file */
  const char *text;
  /* scales with a common point of reference for every route: links of very different sizes are connected */
  bool common;
  oracle o;
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n;
  double angles;      /* scale_angles of the states */
  double torque;      /* the largest of many states */
  rng g;              /* for a route's choices */
  const char *folder; /* for temporary files */
  state at[STATES];
} subject;

/* The outcome of a route. */
typedef struct verdict {
  bool skipped;       /* not for this robot */
  psdm_status status; /* a refusal */
  bool excused;       /* and there is a reason for it */
  char text[200];     /* of the refusal */
  double ratio;       /* largest error / tolerance; infinite for NAN */
  double relative;    /* largest error / largest value, torques only */
  char worst[48];     /* which function */
  double loss, eps;   /* tolerance: loss * ROUNDING * (joints + 4) * angles * eps * scale, */
  bool at_run_time;   /* theta is an argument: where M is singular, NAN says so */
  double promise;     /* and this much of the largest value, or of the largest torque of many states; */
  double of_base;     /* this much if base parameters are multiplied */
} verdict;

typedef struct route {
  const char *name;
  int joints; /* at most so many moving joints, 0: any */
  int every;  /* one robot in this many takes this route */
  double loss;
  bool common; /* its algorithm has one point of reference for all bodies */
  void (*run)(subject *s, verdict *v);
} route;

extern const route routes[]; /* NULL-terminated */

/* Reads the robot and draws states. False: refused, error says why. */
bool subject_open(subject *s, const arm *a, const char *text, rng g, psdm_error *error);
bool subject_open_robot(subject *s, psdm_robot *robot, rng g); /* takes the robot */
void subject_close(subject *s);
double reach_at(const subject *s, int k); /* 1 where there is no length */
const state *with_mass(subject *s, int k);
const state *with_linear(subject *s, int k);

void subject_scales(subject *s, bool common); /* before a route */

/* ---- judging ---- */

/* Compares count numbers, scale for each. */
void agree(const subject *s, verdict *v, const char *what, int count, const double *got, const ld *want,
           const double *scale);

/* The results of a function, in the order of generated code, at state k. Jacobian and pose: of the last joint's
 * link. */
void judge(subject *s, verdict *v, int k, psdm_code_function f, const double *const *out);

/* Records a refusal; excused when the status is one that the route may answer with for this robot. */
void refuse(verdict *v, psdm_status status, const char *text, bool excused);

/* Refusals that are right for any robot: messages about results that do not exist, or are not returned because they
 * would be wrong. */
bool stated(const char *text);

/* Whether forward dynamics may be refused at state k: M is singular to working precision. */
bool singular(subject *s, int k);

/* The same for a mass matrix that is only as accurate as the verdict requires. */
bool singular_within(subject *s, const verdict *v, int k);

typedef enum failing { HOLDS, WRONG, NOT_FINITE, REFUSED } failing;

static inline failing failure_of(const verdict *v) {
  if (v->skipped) return HOLDS;
  if (v->status) return v->excused ? HOLDS : REFUSED;
  return v->ratio <= 1 ? HOLDS : isinf(v->ratio) ? NOT_FINITE : WRONG;
}

/* routes_*.c */
void route_inverse(subject *s, verdict *v);
void route_regressor(subject *s, verdict *v);
void route_mass(subject *s, verdict *v);
void route_forward(subject *s, verdict *v);
void route_cholesky(subject *s, verdict *v);
void route_energy(subject *s, verdict *v);
void route_momentum(subject *s, verdict *v);
void route_places(subject *s, verdict *v);
void route_linearize_inverse(subject *s, verdict *v);
void route_linearize_forward(subject *s, verdict *v);
void route_linearize_dense(subject *s, verdict *v);
void route_clone(subject *s, verdict *v);
void route_batch(subject *s, verdict *v);
void route_yaml(subject *s, verdict *v);
void route_urdf(subject *s, verdict *v);
void route_derive(subject *s, verdict *v);
void route_echelon(subject *s, verdict *v);
void route_dense(subject *s, verdict *v);
void route_saved(subject *s, verdict *v);
void route_params(subject *s, verdict *v);
void route_numeric(subject *s, verdict *v);
void route_code(subject *s, verdict *v);
void route_code_theta(subject *s, verdict *v);
void route_code_searched(subject *s, verdict *v);
void route_code_float(subject *s, verdict *v);
void route_expanded(subject *s, verdict *v);
void route_auto(subject *s, verdict *v);
void route_compiled(subject *s, verdict *v);
void route_simulate(subject *s, verdict *v);
void route_simulate_code(subject *s, verdict *v);

#endif
