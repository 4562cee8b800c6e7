/* estimate_didim.c: direct and inverse dynamic identification (Gautier, Janot, Vandanjon 2013). The torque of the
 * simulated robot, not its motion, is compared with the measured one. The simulated motion hardly depends on the
 * parameters, because its controller holds it; so each Gauss-Newton step is least squares with the regressor along
 * that motion, which has no noise of its own. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

enum { ROUNDS = 10 };
static const double settled = 0.01; /* of a standard deviation */

void psdmp_identify_didim_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  psdmp_identify_run *r = to->run;
  int l = r->l;
  for (int i = 0; i < r->n; i++) {
    int count = r->choice[i].count;
    if (!row->fitted[i]) continue;
    double *equation = psdmp_linalg_blocks_row(&to->blocks, i, row->block);
    memcpy(equation, row->Y_auxiliary + (long)i * l, (size_t)l * sizeof *equation);
    memcpy(equation + l, row->F_auxiliary + 16L * i, (size_t)count * sizeof *equation);
    equation[l + count] = row->tau[i];
  }
}

static psdm_status iterate(psdmp_identify_run *r, psdmp_linalg_blocks *blocks, psdmp_identify_simulation *s,
                           psdmp_identify_estimated *e, double *before, psdm_error *error) {
  int W = psdmp_identify_estimate_width(r);
  double change = INFINITY;
  psdm_status status = PSDM_OK;
  for (e->steps = 0; e->steps < ROUNDS && change > settled && (e->steps == 0 || !r->stopped);) {
    status = psdmp_identify_simulation_walk(s, PSDMP_IDENTIFY_PASS_DIDIM, blocks, e->x, error);
    if (status) return status;
    memcpy(before, e->x, (size_t)W * sizeof *before);
    if ((status = psdmp_identify_blocks_fit(r, blocks, psdmp_identify_blocks_all(), r->sigma, e->x, e->classical)))
      return psdmp_base_fail_status(error, status);
    change = psdmp_identify_estimate_change(W, before, e->x, e->classical);
    e->steps++;
    psdmp_identify_progress(r, "simulating", -1);
  }
  psdmp_identify_simulation_say(s, change > settled ? change : 0);
  return status;
}

psdm_status psdmp_identify_estimate_didim(psdmp_identify_run *r, psdmp_identify_estimated *e, psdm_error *error) {
  int W = psdmp_identify_estimate_width(r);
  psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_DIDIM, .run = r};
  psdmp_linalg_blocks blocks;
  psdmp_identify_simulation *s = NULL;
  psdmp_identify_pass_shape(&pass);
  bool ok = psdmp_linalg_blocks_new(r->allocator, pass.equations, pass.width, PSDMP_IDENTIFY_BLOCKS, &blocks);
  double *before = ok ? psdmp_base_alloc_raw(r->allocator, (size_t)W * sizeof *before) : NULL;
  psdm_status status = before ? psdmp_identify_simulation_new(r, &s, error) : psdmp_base_no_memory("", error);
  if (!status) status = iterate(r, &blocks, s, e, before, error);
  if (!status && (status = psdmp_identify_blocks_finish(r, &blocks, r->sigma, e)))
    psdmp_base_fail_status(error, status);
  psdmp_identify_simulation_free(s);
  psdmp_linalg_blocks_free(&blocks);
  psdmp_base_free(r->allocator, before);
  return status;
}
