/* solve.c: the passive joints' motion from the loops' equations, as nodes.
 *
 * The columns of A_p are made orthogonal one after the other, without roots: no pivots are needed at any position, more
 * equations than passive joints are no matter, and columns that share no equation stay as they are. */
#include <string.h>

#include "loops/loops.h"

#define ADD(a, b) psdm_graph_add(l->g, a, b)
#define SUB(a, b) psdm_graph_sub(l->g, a, b)
#define MUL(a, b) psdm_graph_mul(l->g, a, b)

typedef psdmp_loops loops;

static bool is_zero(const loops *l, psdm_ref a) {
  double value;
  return psdm_graph_is_const(l->g, a, &value) && value == 0;
}

static psdm_ref dot(loops *l, const psdm_ref *a, const psdm_ref *b) {
  psdm_ref sum = l->zero;
  for (int i = 0; i < l->e; i++) sum = ADD(sum, MUL(a[i], b[i]));
  return sum;
}

static void subtract(loops *l, psdm_ref *from, psdm_ref factor, const psdm_ref *x) {
  for (int i = 0; i < l->e; i++) from[i] = SUB(from[i], MUL(factor, x[i]));
}

/* ---- A_p = Q R ---- */

/* how many equations a passive joint is in */
static int equations_of(const loops *l, int passive) {
  int count = 0;
  for (int i = 0; i < l->e; i++) count += !is_zero(l, l->A[(long)i * l->N + l->closure->passive[passive]]);
  return count;
}

static void sort_passives(loops *l) {
  for (int k = 0; k < l->m; k++) {
    int at = k;
    for (; at > 0 && equations_of(l, l->order[at - 1]) > equations_of(l, k); at--) l->order[at] = l->order[at - 1];
    l->order[at] = k;
  }
}

static void factorise(loops *l) {
  sort_passives(l);
  for (int k = 0; k < l->m; k++)
    for (int i = 0; i < l->e; i++) l->Q[(long)k * l->e + i] = l->A[(long)i * l->N + l->closure->passive[l->order[k]]];
  for (int k = 0; k < l->m; k++) {
    psdm_ref *x = l->Q + (long)k * l->e;
    l->size[k] = psdm_graph_recip(l->g, dot(l, x, x));
    for (int j = k + 1; j < l->m; j++) {
      psdm_ref *y = l->Q + (long)j * l->e, part = MUL(dot(l, x, y), l->size[k]);
      l->R[(long)k * l->m + j] = part;
      subtract(l, y, part, x);
    }
  }
}

bool psdmp_loops_start(loops *l, const psdm_robot *robot, psdm_graph *g, const psdm_ref *x, psdmp_base_arena *arena) {
  const psdmp_robot_closure *c = robot->closure;
  *l = (loops){.tree = c->tree,
               .closure = c,
               .g = g,
               .arena = arena,
               .n = robot->n,
               .N = c->tree->n,
               .m = c->passives,
               .e = 3 * c->loops,
               .zero = psdm_graph_const(g, 0)};
  if (robot->bodies > PSDMP_LOOPS_MOST || c->loops > PSDMP_LOOPS_MOST) return false;
  l->x = PSDMP_BASE_NEW(arena, l->N, psdm_ref);
  l->gap = PSDMP_BASE_NEW(arena, l->e, psdm_ref);
  l->A = PSDMP_BASE_NEW(arena, l->e * l->N, psdm_ref);
  l->Q = PSDMP_BASE_NEW(arena, l->e * l->m, psdm_ref);
  l->R = PSDMP_BASE_NEW(arena, l->m * l->m, psdm_ref);
  l->size = PSDMP_BASE_NEW(arena, l->m, psdm_ref);
  l->order = PSDMP_BASE_NEW(arena, l->m, int);
  if (!l->x || !l->gap || !l->A || !l->Q || !l->R || !l->size || !l->order) return false;
  memcpy(l->x, x, (size_t)l->N * sizeof *x);
  psdmp_loops_gaps(l);
  factorise(l);
  return true;
}

/* ---- solutions ---- */

/* part by part of b along the columns of Q, then backwards through R */
void psdmp_loops_solve(loops *l, psdm_ref *b, psdm_ref *x) {
  psdm_ref part[PSDMP_LOOPS_MOST];
  for (int k = 0; k < l->m; k++) {
    const psdm_ref *column = l->Q + (long)k * l->e;
    part[k] = MUL(dot(l, column, b), l->size[k]);
    subtract(l, b, part[k], column);
  }
  for (int k = l->m - 1; k >= 0; k--) {
    for (int j = k + 1; j < l->m; j++) part[k] = SUB(part[k], MUL(l->R[(long)k * l->m + j], part[j]));
    x[l->order[k]] = part[k];
  }
}

/* R^T y = t, f = Q y over the columns' sizes */
void psdmp_loops_solve_turned(loops *l, const psdm_ref *t, psdm_ref *f) {
  psdm_ref y[PSDMP_LOOPS_MOST];
  for (int i = 0; i < l->e; i++) f[i] = l->zero;
  for (int k = 0; k < l->m; k++) {
    y[k] = t[l->order[k]];
    for (int j = 0; j < k; j++) y[k] = SUB(y[k], MUL(l->R[(long)j * l->m + k], y[j]));
    psdm_ref share = MUL(y[k], l->size[k]);
    for (int i = 0; i < l->e; i++) f[i] = ADD(f[i], MUL(share, l->Q[(long)k * l->e + i]));
  }
}

void psdmp_loops_find_G(loops *l) {
  psdm_ref *b = PSDMP_BASE_NEW(l->arena, l->e, psdm_ref), x[PSDMP_LOOPS_MOST];
  l->G = PSDMP_BASE_NEW(l->arena, l->m * l->n, psdm_ref);
  if (!b || !l->G) return; /* the arena remembers */
  for (int j = 0; j < l->n; j++) {
    for (int i = 0; i < l->e; i++) b[i] = psdm_ref_neg(l->A[(long)i * l->N + l->closure->independent[j]]);
    psdmp_loops_solve(l, b, x);
    for (int k = 0; k < l->m; k++) l->G[(long)k * l->n + j] = x[k];
  }
}

/* ---- motion and torques ---- */

/* out (N): y on the independent joints; A_p (the others) = -A_q y - extra. extra: (e), may be NULL */
static void follow(loops *l, const psdm_ref *y, const psdm_ref *extra, psdm_ref *out) {
  psdm_ref b[3 * PSDMP_LOOPS_MOST], x[PSDMP_LOOPS_MOST];
  bool by_G = l->G != NULL;
  for (int i = 0; i < l->e; i++) {
    b[i] = extra ? psdm_ref_neg(extra[i]) : l->zero;
    for (int j = 0; j < l->n && !by_G; j++)
      b[i] = SUB(b[i], MUL(l->A[(long)i * l->N + l->closure->independent[j]], y[j]));
  }
  psdmp_loops_solve(l, b, x);
  for (int j = 0; j < l->n; j++) out[l->closure->independent[j]] = y[j];
  for (int k = 0; k < l->m; k++) {
    for (int j = 0; j < l->n && by_G; j++) x[k] = ADD(x[k], MUL(l->G[(long)k * l->n + j], y[j]));
    out[l->closure->passive[k]] = x[k];
  }
}

void psdmp_loops_rates(loops *l, const psdm_ref *qd, psdm_ref *v) { follow(l, qd, NULL, v); }

void psdmp_loops_accelerations(loops *l, const psdm_ref *qdd, const psdm_ref *v, psdm_ref *a) {
  psdm_ref drift[3 * PSDMP_LOOPS_MOST], still[PSDMP_LOOPS_MOST];
  for (int j = 0; j < l->n; j++) still[j] = l->zero;
  psdmp_loops_drift(l, v, drift);
  follow(l, qdd ? qdd : still, drift, a);
}

void psdmp_loops_restrict(loops *l, const psdm_ref *tree, psdm_ref *tau) {
  const psdmp_robot_closure *c = l->closure;
  psdm_ref part[PSDMP_LOOPS_MOST], force[3 * PSDMP_LOOPS_MOST];
  for (int k = 0; k < l->m; k++) part[k] = tree[c->passive[k]];
  if (!l->G) psdmp_loops_solve_turned(l, part, force);
  for (int j = 0; j < l->n; j++) {
    tau[j] = tree[c->independent[j]];
    for (int k = 0; k < l->m && l->G; k++) tau[j] = ADD(tau[j], MUL(l->G[(long)k * l->n + j], part[k]));
    for (int i = 0; i < l->e && !l->G; i++)
      tau[j] = SUB(tau[j], MUL(l->A[(long)i * l->N + c->independent[j]], force[i]));
  }
}
