/* nlopt.c: wraps NLopt in two functions. */
#include <math.h>

#include "plugin/plugin.h"
#include "excite/inertia_priv.h"

#ifdef PSDM_HAVE_NLOPT

typedef struct running {
  const psdmp_excite_minimum *problem;
  const psdmp_plugin_nlopt_table *nlopt; /* available, since psdmp_excite_nlopt was called first */
  nlopt_opt opt;
} running;

static running start(const psdmp_excite_minimum *problem, nlopt_algorithm algorithm) {
  const psdmp_plugin_nlopt_table *nlopt = psdmp_plugin_nlopt_open();
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

/* NLopt's return values above zero are success; a search that NLopt cannot continue ends with the best so far */
static psdm_status status_of(nlopt_result result, bool searched) {
  if (result == NLOPT_OUT_OF_MEMORY) return PSDM_E_MEMORY;
  return result > 0 || searched ? PSDM_OK : PSDM_E_ARGUMENT;
}

/* result: of the settings before */
static psdm_status run(running *r, nlopt_result result, double *x) {
  const psdmp_excite_minimum *p = r->problem;
  const psdmp_plugin_nlopt_table *nlopt = r->nlopt;
  double best;
  if (result > 0) result = nlopt->set_min_objective(r->opt, value, r);
  if (result > 0) result = nlopt->set_lower_bounds(r->opt, p->lower);
  if (result > 0) result = nlopt->set_upper_bounds(r->opt, p->upper);
  if (result > 0) result = nlopt->set_maxeval(r->opt, (int)p->evaluations);
  psdm_status status = status_of(result, false);
  return status ? status : status_of(nlopt->optimize(r->opt, x, &best), true);
}

bool psdmp_excite_nlopt(void) { return psdmp_plugin_nlopt_open() != NULL; }

psdm_status psdmp_excite_minimise_global(const psdmp_excite_minimum *p, double *x) {
  running r = start(p, NLOPT_GN_CRS2_LM);
  if (!r.opt) return PSDM_E_MEMORY;
  r.nlopt->srand(p->seed);
  psdm_status status = run(&r, r.nlopt->set_population(r.opt, (unsigned)p->numbers + 1), x);
  r.nlopt->destroy(r.opt);
  return status;
}

psdm_status psdmp_excite_minimise_local(const psdmp_excite_minimum *p, double *x) {
  running r = start(p, NLOPT_LD_SLSQP);
  if (!r.opt) return PSDM_E_MEMORY;
  nlopt_result result = r.nlopt->set_ftol_abs(r.opt, 1e-6);
  if (result > 0) result = r.nlopt->add_inequality_mconstraint(r.opt, (unsigned)p->constraints, bounds, &r, NULL);
  psdm_status status = run(&r, result, x);
  r.nlopt->destroy(r.opt);
  return status;
}

#else

bool psdmp_excite_nlopt(void) { return false; }

psdm_status psdmp_excite_minimise_global(const psdmp_excite_minimum *p, double *x) {
  (void)p, (void)x;
  return PSDM_OK;
}

psdm_status psdmp_excite_minimise_local(const psdmp_excite_minimum *p, double *x) {
  (void)p, (void)x;
  return PSDM_OK;
}
#endif
