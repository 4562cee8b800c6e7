/* optimal_solver_priv.h: a nonlinear program as callbacks, and the plug-in that solves it. Private to the library and
 * its plug-ins.
 *
 *   minimise f(x)   such that   low <= x <= high,   row_low <= g(x) <= row_high
 *
 * IPOPT depends on a sequential MUMPS that exports MPI's names, so it is in a separate object, which is loaded when a
 * program is solved. */
#ifndef PSDMP_PLAN_OPTIMAL_SOLVER_H
#define PSDMP_PLAN_OPTIMAL_SOLVER_H

#include <stdbool.h>

#include "psdm/status.h"

/* Interface version of library and plug-in: changes whenever anything below does. */
#define PSDMP_PLAN_SOLVER_KEY "psdm solver 2"

/* Bytes of the solver for each unknown, row and matrix entry, and in addition. */
enum { PSDMP_PLAN_SOLVER_MARGIN = 16 << 20, PSDMP_PLAN_SOLVER_BYTES = 256 };

/* Matrices have a fixed pattern (row, column), counted from 0; of the Hessian the lower triangle alone. fresh: x
 * differs from the previous call. Callbacks return false where x cannot be evaluated. Infinite: no bound. */
typedef struct psdmp_plan_solver_problem {
  int unknowns, rows, slopes, curves;  /* slopes, curves: entries of Jacobian and Hessian */
  const double *low, *high;            /* (unknowns) */
  const double *row_low, *row_high;    /* (rows) */
  const int *slope_row, *slope_column; /* (slopes) */
  const int *curve_row, *curve_column; /* (curves) */
  bool (*objective)(void *user, const double *x, bool fresh, double *f);
  bool (*gradient)(void *user, const double *x, bool fresh, double *gradient);
  bool (*constraints)(void *user, const double *x, bool fresh, double *g);
  bool (*slope)(void *user, const double *x, bool fresh, double *values);
  /* of factor f + multiplier . g */
  bool (*curve)(void *user, const double *x, bool fresh, double factor, const double *multiplier, double *values);
  bool (*progress)(void *user, int iteration, double objective, double infeasibility, double barrier);
  void *user;
  double tolerance;
  int iterations;
} psdmp_plan_solver_problem;

typedef struct psdmp_plan_solver_answer {
  bool converged, stopped;
  int iterations;
  double objective;
  char words[160]; /* the verdict */
} psdmp_plan_solver_answer;

/* x (unknowns) is the start, then the result. PSDM_E_MEMORY; PSDM_E_ARGUMENT when the solver rejects the program or an
 * option: words say so. */
typedef psdm_status (*psdmp_plan_solve)(const psdmp_plan_solver_problem *problem, double *x,
                                        psdmp_plan_solver_answer *answer);

/* What the plug-in exports under the name psdm_solver. */
typedef struct psdmp_plan_solver {
  const char *key; /* PSDMP_PLAN_SOLVER_KEY */
  psdmp_plan_solve solve;
} psdmp_plan_solver;

#endif
