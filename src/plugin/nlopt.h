/* nlopt.h: NLopt, optional (LGPL) and opened on first use. Private to the library. */
#ifndef PSDMP_PLUGIN_NLOPT_H
#define PSDMP_PLUGIN_NLOPT_H

#include "base/base.h"

#ifdef PSDM_HAVE_NLOPT
#include <nlopt.h>

/* the functions used, with NLopt's own types: nlopt_NAME becomes table->NAME */
#define PSDMP_PLUGIN_NLOPT_LIST(X) \
  X(version)                       \
  X(create)                        \
  X(destroy)                       \
  X(optimize)                      \
  X(set_min_objective)             \
  X(set_lower_bounds)              \
  X(set_upper_bounds)              \
  X(set_initial_step)              \
  X(set_xtol_abs1)                 \
  X(set_ftol_rel)                  \
  X(set_ftol_abs)                  \
  X(set_maxeval)                   \
  X(set_population)                \
  X(add_inequality_mconstraint)    \
  X(force_stop)                    \
  X(srand)

typedef struct psdmp_plugin_nlopt_table {
#define PSDMP_PLUGIN_NLOPT_FIELD(name) __typeof__(&nlopt_##name) name;
  PSDMP_PLUGIN_NLOPT_LIST(PSDMP_PLUGIN_NLOPT_FIELD)
#undef PSDMP_PLUGIN_NLOPT_FIELD
} psdmp_plugin_nlopt_table;

/* NULL without NLopt. Valid as long as the process; thread-safe. */
const psdmp_plugin_nlopt_table *psdmp_plugin_nlopt_open(void);
#endif

/* "2.7.1"; NULL without NLopt, or if the library was built without it. */
const char *psdmp_plugin_nlopt_version(void);

/* Fails with what is missing and how to install it; what: "motions for inertia". */
psdm_status psdmp_plugin_nlopt_missing(psdm_error *error, const char *what);

#endif
