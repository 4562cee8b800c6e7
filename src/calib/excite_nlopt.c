/* excite_nlopt.c: NLopt, behind two functions. */
#include <math.h>

#include "calib/excite_inertia.h"

#ifdef PSDM_HAVE_NLOPT
#include <nlopt.h>

typedef struct running {
  const psdmp_minimum *problem;
  nlopt_opt opt;
} running;

static double value(unsigned numbers, const double *x, double *gradient, void *user) {
  running *r = user;
  (void)numbers;
  if (r->problem->stop(r->problem->user)) nlopt_force_stop(r->opt);
  double f = r->problem->value(r->problem->user, x, gradient);
  return isnan(f) ? HUGE_VAL : f;
}

static void bounds(unsigned count, double *result, unsigned numbers, const double *x, double *gradient, void *user) {
  running *r = user;
  (void)count, (void)numbers;
  r->problem->bounds(r->problem->user, x, result, gradient);
}

/* out of memory is told apart; everything else ends with the best so far */
static bool run(running *r, double *x) {
  const psdmp_minimum *p = r->problem;
  double best;
  bool ready = nlopt_set_min_objective(r->opt, value, r) > 0 && nlopt_set_lower_bounds(r->opt, p->lower) > 0 && nlopt_set_upper_bounds(r->opt, p->upper) > 0 &&
               nlopt_set_maxeval(r->opt, (int)p->evaluations) > 0;
  return ready && nlopt_optimize(r->opt, x, &best) != NLOPT_OUT_OF_MEMORY;
}

bool psdmp_nlopt(void) { return true; }

bool psdmp_minimise_global(const psdmp_minimum *p, double *x) {
  running r = {p, nlopt_create(NLOPT_GN_CRS2_LM, (unsigned)p->numbers)};
  if (!r.opt) return false;
  nlopt_srand(p->seed);
  bool whole = nlopt_set_population(r.opt, (unsigned)p->numbers + 1) > 0 && run(&r, x);
  nlopt_destroy(r.opt);
  return whole;
}

bool psdmp_minimise_local(const psdmp_minimum *p, double *x) {
  running r = {p, nlopt_create(NLOPT_LD_SLSQP, (unsigned)p->numbers)};
  if (!r.opt) return false;
  bool whole = nlopt_set_ftol_abs(r.opt, 1e-6) > 0 && nlopt_add_inequality_mconstraint(r.opt, (unsigned)p->constraints, bounds, &r, NULL) > 0 && run(&r, x);
  nlopt_destroy(r.opt);
  return whole;
}

#else

bool psdmp_nlopt(void) { return false; }

bool psdmp_minimise_global(const psdmp_minimum *p, double *x) {
  (void)p, (void)x;
  return true;
}

bool psdmp_minimise_local(const psdmp_minimum *p, double *x) {
  (void)p, (void)x;
  return true;
}
#endif
