/* estimate_iv.c: instrumental variables (IDIM-IV: Janot, Vandanjon, Gautier 2014): Z^T W x = Z^T tau, Z the regressor
 * along the simulated motion. Noise in W biases least squares towards zero; Z is correlated with the motion but not
 * with that noise. */
#include <math.h>
#include <string.h>

#include "identify/estimate_priv.h"

enum { ROUNDS = 10 };
static const double settled = 0.01; /* of a standard deviation */

void psdmp_identify_iv_row(psdmp_identify_pass_rows *to, const psdmp_identify_walk_row *row) {
  psdmp_identify_run *r = to->run;
  size_t l = (size_t)r->l;
  for (int i = 0; i < r->n; i++) {
    size_t count = (size_t)r->choice[i].count, half = l + count;
    if (!row->fitted[i]) continue;
    double *equation = psdmp_linalg_blocks_row(&to->blocks, i, row->block);
    memcpy(equation, row->Y_auxiliary + (size_t)i * l, l * sizeof *equation);
    memcpy(equation + l, row->F_auxiliary + 16L * i, count * sizeof *equation);
    memcpy(equation + half, row->Y + (size_t)i * l, l * sizeof *equation);
    memcpy(equation + half + l, row->F + 16L * i, count * sizeof *equation);
    equation[2 * half] = row->tau[i];
  }
}

static psdm_status unseen(psdmp_identify_run *r, psdm_error *error) {
  return psdmp_base_fail(
      error, PSDM_E_ARGUMENT, psdm_robot_name(r->robot), 0, 0,
      "the simulated motion does not move every parameter: instruments are missing; take another estimator");
}

static psdm_status iterate(psdmp_identify_instruments *v, psdmp_identify_simulation *s, psdmp_identify_estimated *e,
                           double *before, psdm_error *error) {
  psdmp_identify_run *r = v->run;
  size_t bytes = (size_t)v->W * sizeof *before;
  double rows = 0, change = INFINITY;
  for (e->steps = 0; e->steps < ROUNDS && change > settled && (e->steps == 0 || !r->stopped);) {
    psdm_status status = psdmp_identify_simulation_walk(s, PSDMP_IDENTIFY_PASS_IV, &v->blocks, e->x, error);
    if (status) return status;
    memcpy(before, e->x, bytes);
    if (!psdmp_identify_instruments_solve(v, psdmp_identify_blocks_all(), e->x, &rows)) return unseen(r, error);
    psdmp_identify_instruments_doubt(v, rows, e->x, e->classical, NULL);
    change = psdmp_identify_estimate_change(v->W, before, e->x, e->classical);
    e->steps++;
    psdmp_identify_progress(r, "simulating", -1);
  }
  psdmp_identify_simulation_say(s, change > settled ? change : 0);
  psdmp_identify_instruments_doubt(v, rows, e->x, e->classical, e->covariance);
  for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++)
    if (!psdmp_identify_instruments_solve(v, psdmp_identify_blocks_without(fold), e->folds + (long)fold * v->W, &rows))
      return unseen(r, error);
  return PSDM_OK;
}

psdm_status psdmp_identify_estimate_iv(psdmp_identify_run *r, psdmp_identify_estimated *e, psdm_error *error) {
  psdmp_identify_instruments v;
  psdmp_identify_simulation *s = NULL;
  if (!psdmp_identify_instruments_new(r, &v)) return psdmp_base_no_memory("", error);
  double *before = psdmp_base_arena_alloc(&v.arena, (size_t)v.W * sizeof *before);
  psdm_status status = before ? psdmp_identify_simulation_new(r, &s, error) : psdmp_base_no_memory("", error);
  if (!status) status = iterate(&v, s, e, before, error);
  psdmp_identify_simulation_free(s);
  psdmp_identify_instruments_free(&v);
  return status;
}
