/* optimal_solver_io.c: IPOPT's plug-in. */
#include "plugin/plugin.h"
#include "plan/optimal_priv.h"

static const psdmp_plugin_name ipopt = {
    .file = "psdm_ipopt.so",
    .symbol = "psdm_solver",
    .key = PSDMP_PLAN_SOLVER_KEY,
    .alone = true,
    .absent = "optimal motions need IPOPT, but its plug-in psdm_ipopt.so is missing: install coinor-libipopt-dev and "
              "build again, or name its folder in PSDM_PLUGINS"};

psdm_status psdm_optimal_solver(char *where, size_t size) { return psdmp_plugin_where(&ipopt, where, size); }

psdm_status psdmp_plan_solver_load(psdmp_plan_solve *solve, psdm_error *error) {
  const psdmp_plugin *plugin;
  psdm_status status = psdmp_plugin_load(&ipopt, &plugin, error);
  *solve = status ? NULL : ((const psdmp_plan_solver *)(const void *)plugin)->solve;
  return status;
}
