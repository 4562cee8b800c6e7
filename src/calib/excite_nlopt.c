/* excite_nlopt.c: NLopt, behind two functions. */
#include <math.h>

#include "base/nlopt.h"
#include "calib/excite_inertia.h"

#ifdef PSDM_HAVE_NLOPT

typedef struct running {
  const psdmp_minimum *problem;
  const psdmp_nlopt_table *nlopt; /* psdmp_nlopt has been asked before, so it is there */
  nlopt_opt opt;
} running;

static running start(const psdmp_minimum *problem, nlopt_algorithm algorithm) {
  const psdmp_nlopt_table *nlopt = psdmp_nlopt_open();
  return (running){problem, nlopt, nlopt ? nlopt->create(algorithm, (unsigned)problem->numbers) : NULL};
}

static double value(unsigned numbers, const double *x, double *gradient, void *user) {
  running *r = user;
  (void)numbers;
  if (r->problem->stop(r->problem->user)) r->nlopt->force_stop(r->opt);
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
  const psdmp_nlopt_table *nlopt = r->nlopt;
  double best;
  bool ready = nlopt->set_min_objective(r->opt, value, r) > 0 && nlopt->set_lower_bounds(r->opt, p->lower) > 0 && nlopt->set_upper_bounds(r->opt, p->upper) > 0 &&
               nlopt->set_maxeval(r->opt, (int)p->evaluations) > 0;
  return ready && nlopt->optimize(r->opt, x, &best) != NLOPT_OUT_OF_MEMORY;
}

bool psdmp_nlopt(void) { return psdmp_nlopt_open() != NULL; }

bool psdmp_minimise_global(const psdmp_minimum *p, double *x) {
  running r = start(p, NLOPT_GN_CRS2_LM);
  if (!r.opt) return false;
  r.nlopt->srand(p->seed);
  bool whole = r.nlopt->set_population(r.opt, (unsigned)p->numbers + 1) > 0 && run(&r, x);
  r.nlopt->destroy(r.opt);
  return whole;
}

bool psdmp_minimise_local(const psdmp_minimum *p, double *x) {
  running r = start(p, NLOPT_LD_SLSQP);
  if (!r.opt) return false;
  bool whole = r.nlopt->set_ftol_abs(r.opt, 1e-6) > 0 && r.nlopt->add_inequality_mconstraint(r.opt, (unsigned)p->constraints, bounds, &r, NULL) > 0 && run(&r, x);
  r.nlopt->destroy(r.opt);
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
