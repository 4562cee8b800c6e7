/* trial_loop.c: states at which closed loops close. */
#include <math.h>

#include "codegen/loop_priv.h"
#include "psdm/loop.h"

enum { HALVINGS = 40, ON_GRID = 12 };

/* of the passive joints' columns: parts independent of the others below this share of their length cost digits */
static const double INDEPENDENT = 0.05;

/* whether the columns of the passive joints at tree_q are far from dependent; A: (e x N), Q: (e x m) */
static bool is_regular(psdmp_codegen_trial *t, const double *tree_q, double *A, double *Q) {
  const psdm_robot *r = t->code->robot;
  const psdmp_robot_closure *c = r->closure;
  int e = 3 * c->loops, N = c->tree->n;
  if (psdm_loop_gaps(r, t->work, tree_q, NULL, NULL, A, NULL)) return false;
  for (int k = 0; k < c->passives; k++) {
    double *x = Q + (long)k * e, before = 0, left = 0;
    for (int i = 0; i < e; i++) x[i] = A[(long)i * N + c->passive[k]], before += x[i] * x[i];
    for (int j = 0; j < k; j++) {
      double dot = 0;
      for (int i = 0; i < e; i++) dot += Q[(long)j * e + i] * x[i];
      for (int i = 0; i < e; i++) x[i] -= dot * Q[(long)j * e + i];
    }
    for (int i = 0; i < e; i++) left += x[i] * x[i];
    if (!(left > INDEPENDENT * INDEPENDENT * before)) return false;
    for (int i = 0; i < e; i++) x[i] /= sqrt(left);
  }
  return true;
}

/* towards home by halves, as long as it is possible on the grid that float and short text hold exactly */
static void approach(const psdmp_codegen_trial *t, const double *home, int k, double *q) {
  for (int i = 0; i < t->code->robot->n; i++) {
    double unit = psdmp_codegen_joint_unit(t->code->robot, i);
    q[i] = home[i] + 0.5 * (q[i] - home[i]);
    if (k < ON_GRID) q[i] = floor(64 * q[i] / unit + 0.5) / 64 * unit;
  }
}

psdm_status psdmp_codegen_trial_close(psdmp_codegen_trial *t, psdm_error *error) {
  const psdm_robot *r = t->code->robot;
  const psdmp_robot_closure *c = r->closure;
  if (!c) return PSDM_OK;
  int e = 3 * c->loops, N = c->tree->n;
  double *x = PSDMP_BASE_NEW(t->arena, N, double), *A = PSDMP_BASE_NEW(t->arena, e * N, double),
         *Q = PSDMP_BASE_NEW(t->arena, e * c->passives, double), *home = PSDMP_BASE_NEW(t->arena, r->n, double);
  t->p = PSDMP_BASE_NEW(t->arena, PSDMP_CODEGEN_STATES * c->passives, double);
  if (!x || !A || !Q || !home || !t->p) return psdmp_base_no_memory(r->file, error);
  psdm_robot_home(r, home);
  for (int s = 0; s < PSDMP_CODEGEN_STATES; s++) {
    double *q = t->q + (long)s * r->n;
    for (int k = 0; psdm_loop_close(r, t->work, q, NULL, x, NULL) || !is_regular(t, x, A, Q); k++) {
      if (k == HALVINGS)
        return psdmp_base_fail(error, PSDM_E_LOOP, r->file, 0, 0,
                               "the loops are singular, or nearly so, at the position that the file starts with");
      approach(t, home, k, q);
    }
    for (int k = 0; k < c->passives; k++) t->p[(long)s * c->passives + k] = x[c->passive[k]];
  }
  return PSDM_OK;
}
