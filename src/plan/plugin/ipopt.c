/* ipopt.c: the plug-in psdm_ipopt.so: IPOPT (Waechter and Biegler 2006) behind psdmp_plan_solver. */
#include <IpStdCInterface.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/optimal_solver_priv.h"

/* One solution; the callbacks' user. */
typedef struct job {
  const psdmp_plan_solver_problem *problem;
  bool stopped;
  int iterations;
} job;

/* MUMPS has global state: one program at a time */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static Bool objective(int n, double *x, Bool fresh, double *f, void *user) {
  const psdmp_plan_solver_problem *p = ((job *)user)->problem;
  (void)n;
  return p->objective(p->user, x, fresh, f);
}

static Bool gradient(int n, double *x, Bool fresh, double *values, void *user) {
  const psdmp_plan_solver_problem *p = ((job *)user)->problem;
  (void)n;
  return p->gradient(p->user, x, fresh, values);
}

static Bool constraints(int n, double *x, Bool fresh, int m, double *g, void *user) {
  const psdmp_plan_solver_problem *p = ((job *)user)->problem;
  (void)n;
  (void)m;
  return p->constraints(p->user, x, fresh, g);
}

static Bool slope(int n, double *x, Bool fresh, int m, int entries, int *row, int *column, double *values, void *user) {
  const psdmp_plan_solver_problem *p = ((job *)user)->problem;
  (void)n;
  (void)m;
  if (values) return p->slope(p->user, x, fresh, values);
  memcpy(row, p->slope_row, sizeof *row * (size_t)entries);
  memcpy(column, p->slope_column, sizeof *column * (size_t)entries);
  return 1;
}

static Bool curve(int n, double *x, Bool fresh, double factor, int m, double *multiplier, Bool fresh_multiplier,
                  int entries, int *row, int *column, double *values, void *user) {
  const psdmp_plan_solver_problem *p = ((job *)user)->problem;
  (void)n;
  (void)m;
  (void)fresh_multiplier;
  if (values) return p->curve(p->user, x, fresh, factor, multiplier, values);
  memcpy(row, p->curve_row, sizeof *row * (size_t)entries);
  memcpy(column, p->curve_column, sizeof *column * (size_t)entries);
  return 1;
}

static Bool progress(int mode, int iteration, double f, double infeasible, double dual, double barrier, double step,
                     double regularization, double alpha_dual, double alpha, int trials, void *user) {
  job *j = user;
  (void)mode, (void)dual, (void)step, (void)regularization, (void)alpha_dual, (void)alpha, (void)trials;
  j->iterations = iteration;
  j->stopped = !j->problem->progress(j->problem->user, iteration, f, infeasible, barrier);
  return !j->stopped;
}

/* IPOPT prints nothing and reads no options file */
static bool set_options(IpoptProblem ipopt, const psdmp_plan_solver_problem *p) {
  return AddIpoptStrOption(ipopt, "sb", "yes") && AddIpoptIntOption(ipopt, "print_level", 0) &&
         AddIpoptStrOption(ipopt, "option_file_name", "") && AddIpoptNumOption(ipopt, "tol", p->tolerance) &&
         AddIpoptIntOption(ipopt, "max_iter", p->iterations) && AddIpoptStrOption(ipopt, "linear_solver", "mumps") &&
         AddIpoptStrOption(ipopt, "mu_strategy", "adaptive");
}

static const char *words(enum ApplicationReturnStatus status) {
  static const struct {
    enum ApplicationReturnStatus status;
    const char *text;
  } table[] = {{Solve_Succeeded, "solved"},
               {Solved_To_Acceptable_Level, "solved, less accurately than requested"},
               {Infeasible_Problem_Detected,
                "no motion within the limits was found: there seems to be none near the initial guess"},
               {Search_Direction_Becomes_Too_Small, "the steps became too small"},
               {Diverging_Iterates, "the iterates diverge"},
               {User_Requested_Stop, "stopped"},
               {Feasible_Point_Found, "within the limits"},
               {Maximum_Iterations_Exceeded, "the iteration limit was reached"},
               {Restoration_Failed, "no way back into the limits was found"},
               {Error_In_Step_Computation, "no step could be computed"},
               {Not_Enough_Degrees_Of_Freedom, "there are more equations than unknowns"},
               {Invalid_Problem_Definition, "the program contradicts itself"},
               {Invalid_Option, "an option was refused"},
               {Invalid_Number_Detected, "a number is not finite"},
               {Insufficient_Memory, "out of memory"}};
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (table[k].status == status) return table[k].text;
  return "it ended without a result";
}

static void take_answer(const job *j, enum ApplicationReturnStatus status, double f, psdmp_plan_solver_answer *answer) {
  answer->converged = status == Solve_Succeeded || status == Solved_To_Acceptable_Level;
  answer->stopped = j->stopped;
  answer->iterations = j->iterations;
  answer->objective = f;
  snprintf(answer->words, sizeof answer->words, "IPOPT: %s", words(status));
}

/* IPOPT is C++, and MUMPS Fortran: they end the program when out of memory. So test the memory first: their matrices
 * and a margin. */
static bool has_room(const psdmp_plan_solver_problem *p) {
  void *volatile room =
      malloc(PSDMP_PLAN_SOLVER_MARGIN +
             PSDMP_PLAN_SOLVER_BYTES * ((size_t)p->unknowns + (size_t)p->rows + (size_t)p->slopes + (size_t)p->curves));
  free(room);
  return room != NULL;
}

static psdm_status solve(const psdmp_plan_solver_problem *p, double *x, psdmp_plan_solver_answer *answer) {
  job j = {.problem = p};
  if (!has_room(p)) return PSDM_E_MEMORY;
  double f = NAN;
  pthread_mutex_lock(&one_at_a_time);
  IpoptProblem ipopt = CreateIpoptProblem(p->unknowns, (double *)p->low, (double *)p->high, p->rows,
                                          (double *)p->row_low, (double *)p->row_high, p->slopes, p->curves, 0,
                                          objective, constraints, gradient, slope, curve);
  bool set = ipopt && set_options(ipopt, p) && SetIntermediateCallback(ipopt, progress);
  enum ApplicationReturnStatus status = set     ? IpoptSolve(ipopt, x, NULL, &f, NULL, NULL, NULL, &j)
                                        : ipopt ? Invalid_Option
                                                : Invalid_Problem_Definition;
  take_answer(&j, status, f, answer);
  /* when out of memory its destructors throw endlessly: leak it instead */
  if (ipopt && status != Insufficient_Memory) FreeIpoptProblem(ipopt);
  pthread_mutex_unlock(&one_at_a_time);
  return set ? status == Insufficient_Memory ? PSDM_E_MEMORY : PSDM_OK : PSDM_E_ARGUMENT;
}

__attribute__((visibility("default"))) extern const psdmp_plan_solver psdm_solver;
const psdmp_plan_solver psdm_solver = {PSDMP_PLAN_SOLVER_KEY, solve};
