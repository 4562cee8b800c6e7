/* terms.c: the Coriolis matrix, momentum, the factors of the mass matrix, and what small motions and parameters change
 * torques and accelerations by. Small motions go through the finished expressions: forward differentiation. */
#include <string.h>

#include "codegen/trace_priv.h"

void psdmp_codegen_arguments(psdmp_codegen_trace *t, psdmp_codegen_block block, psdm_ref *x) {
  for (int i = 0; i < t->chain->n; i++) x[i] = psdmp_codegen_argument(t, block, i);
}

void psdmp_codegen_motion_torques(psdmp_codegen_trace *t, psdmp_codegen_block rate, psdmp_codegen_block acc,
                                  bool gravity, psdm_ref *tree, psdm_ref *tau) {
  psdmp_codegen_trace_start(t, rate, acc);
  psdmp_codegen_move_out(t, gravity);
  psdmp_codegen_torques(t, gravity, tree);
  psdmp_codegen_gather(t, tree, acc, tau);
}

/* q also acts through sines and cosines that the caller gives */
void psdmp_codegen_along(psdmp_codegen_trace *t, const psdm_ref *dq, const psdm_ref *dqd, const psdm_ref *dqdd,
                         const psdm_ref *f, size_t count, psdm_ref *along) {
  static const psdmp_codegen_block blocks[5] = {PSDMP_CODEGEN_IN_Q, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD,
                                                PSDMP_CODEGEN_IN_SINE, PSDMP_CODEGEN_IN_COSINE};
  const psdm_ref *given[3] = {dq, dqd, dqdd};
  int n = t->chain->n, inputs[5 * PSDMP_CODEGEN_CODE_JOINTS];
  bool caller = t->program->length[PSDMP_CODEGEN_IN_SINE] > 0;
  psdm_ref by[5 * PSDMP_CODEGEN_CODE_JOINTS];
  for (int i = 0; i < 5 * n; i++) inputs[i] = (int)blocks[i / n] * PSDMP_CODEGEN_BLOCK + i % n;
  for (int i = 0; i < 3 * n; i++) by[i] = given[i / n] ? given[i / n][i % n] : t->zero;
  for (int i = 0; i < n; i++) {
    psdm_ref change = dq && caller ? dq[i] : t->zero;
    by[3 * n + i] = MUL(change, psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_COSINE, i));
    by[4 * n + i] = NEG(MUL(change, psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_SINE, i)));
  }
  psdm_graph_along(t->g, inputs, by, (size_t)(5 * n), f, count, along); /* the graph's status says why not */
}

/* ---- momentum ---- */

/* p, and the gradient of T = 1/2 qd . p */
static void momentum(psdmp_codegen_trace *t, psdm_ref *tree, psdm_ref *p, psdm_ref *dT_dq) {
  int n = t->chain->n, inputs[3 * PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref T, gradient[3 * PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_motion_torques(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_QD, false, tree, p);
  T = t->zero;
  for (int i = 0; i < n; i++) {
    T = ADD(T, MUL(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_QD, i), p[i]));
    inputs[i] = PSDMP_CODEGEN_IN_Q * PSDMP_CODEGEN_BLOCK + i;
    inputs[n + i] = PSDMP_CODEGEN_IN_SINE * PSDMP_CODEGEN_BLOCK + i;
    inputs[2 * n + i] = PSDMP_CODEGEN_IN_COSINE * PSDMP_CODEGEN_BLOCK + i;
  }
  if (psdm_graph_gradient(t->g, psdm_graph_scale(t->g, 0.5, T), inputs, (size_t)(3 * n), gradient)) return;
  for (int i = 0; i < n; i++)
    dT_dq[i] = ADD(gradient[i], SUB(MUL(gradient[n + i], psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_COSINE, i)),
                                    MUL(gradient[2 * n + i], psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_SINE, i))));
}

/* tau + C^T qd - g; room: (bodies + 2 n) */
static void momentum_rate(psdmp_codegen_trace *t, psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n;
  psdm_ref *tree = room, *p = tree + t->chain->bodies, *gradient = p + n;
  momentum(t, tree, p, gradient);
  psdmp_codegen_motion_torques(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT, true, tree, p);
  for (int i = 0; i < n; i++) out[i] = SUB(ADD(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_TAU, i), gradient[i]), p[i]);
}

/* ---- factors of the mass matrix ---- */

/* Whether every joint has a drive of its own and moves by itself: then its place in the tree orders the factors, else
 * its place in q. */
static bool is_plain(const psdm_robot *r) { return !r->coupled && !r->drive_mass; }

/* the place of each joint in the order of the factors */
static void set_order(const psdm_robot *r, int *place) {
  int k = 0;
  for (int i = 0; i < r->n; i++) place[i] = i;
  for (int b = 0; b < r->bodies && is_plain(r); b++)
    for (int e = r->g_row[b]; e < r->g_row[b + 1]; e++) place[k++] = r->g_col[e];
}

void psdmp_codegen_factors_of(psdmp_codegen_trace *t, const int *place, const psdm_ref *M, psdm_ref *ordered,
                              psdm_ref *out) {
  int n = t->chain->n;
  psdm_ref d[PSDMP_CODEGEN_CODE_JOINTS], inverse[PSDMP_CODEGEN_CODE_JOINTS], *L = out, *Linv = L + n * n,
                                                                             *D = Linv + n * n;
  for (int i = 0; i < n * n; i++) ordered[i] = M[place[i / n] * n + place[i % n]];
  for (int i = 0; i < 3 * n * n; i++) out[i] = t->zero;
  psdmp_codegen_factorise(t, n, 0, ordered, inverse);
  for (int i = 0; i < n; i++) d[i] = ordered[i * n + i];
  for (int j = 0; j < n; j++) {
    psdm_ref column[PSDMP_CODEGEN_CODE_JOINTS];
    for (int i = 0; i < n; i++) column[i] = i == j ? NUM(1) : t->zero;
    for (int i = j - 1; i >= 0; i--)
      for (int k = i + 1; k <= j; k++) column[i] = SUB(column[i], MUL(ordered[i * n + k], column[k]));
    for (int i = 0; i <= j; i++) {
      int at = place[i] * n + place[j];
      L[at] = i == j ? NUM(1) : ordered[i * n + j];
      Linv[at] = column[i];
    }
    D[place[j] * n + place[j]] = d[j];
  }
}

static void innovations(psdmp_codegen_trace *t, psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n, place[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
  psdmp_codegen_mass_matrix(t, room);
  set_order(t->chain->robot, place);
  psdmp_codegen_factors_of(t, place, room, room + n * n, out);
}

/* ---- accelerations as expressions ---- */

/* qdd = M^-1 (tau - bias); M keeps the mass matrix. room: (n n) */
static void accelerations(psdmp_codegen_trace *t, psdm_ref *tree, psdm_ref *room, psdm_ref *M, psdm_ref *qdd) {
  int n = t->chain->n;
  t->qdd = NULL;
  psdmp_codegen_motion_torques(t, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_COUNT, true, tree, qdd);
  for (int i = 0; i < n; i++) qdd[i] = SUB(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_TAU, i), qdd[i]);
  psdmp_codegen_mass_matrix(t, M);
  memcpy(room, M, sizeof *M * (size_t)(n * n));
  psdmp_codegen_solve_mass(t, room, qdd);
}

/* M^-1 (dtau - what dq and dqd change the torques by at the accelerations qdd, which placeholders stand for) */
static void forward_along(psdmp_codegen_trace *t, psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n, inputs[PSDMP_CODEGEN_CODE_JOINTS];
  psdm_ref *tree = room, *M = tree + t->chain->bodies, *copy = M + n * n, *qdd = copy + n * n, *dq = qdd + n,
           *dqd = dq + n, held[PSDMP_CODEGEN_CODE_JOINTS];
  accelerations(t, tree, copy, M, qdd);
  for (int i = 0; i < n; i++) {
    inputs[i] = PSDMP_CODEGEN_IN_QDD * PSDMP_CODEGEN_BLOCK + i;
    held[i] = psdm_graph_input(t->g, inputs[i]);
  }
  t->qdd = held;
  psdmp_codegen_motion_torques(t, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD, true, tree, out);
  t->qdd = NULL;
  psdmp_codegen_arguments(t, PSDMP_CODEGEN_IN_DQ, dq);
  psdmp_codegen_arguments(t, PSDMP_CODEGEN_IN_DQD, dqd);
  psdmp_codegen_along(t, dq, dqd, NULL, out, (size_t)n, out);
  if (psdm_graph_substitute(t->g, inputs, qdd, (size_t)n, out, (size_t)n)) return;
  for (int i = 0; i < n; i++) out[i] = SUB(psdmp_codegen_argument(t, PSDMP_CODEGEN_IN_DTAU, i), out[i]);
  psdmp_codegen_solve_mass(t, M, out);
}

/* -M^-1 Y, column by column */
static void sensitivity(psdmp_codegen_trace *t, const psdm_model *base, psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n, l = base->l;
  psdm_ref *tree = room, *M = tree + t->chain->bodies, *copy = M + n * n, *qdd = copy + n * n,
           inverse[PSDMP_CODEGEN_CODE_JOINTS], column[PSDMP_CODEGEN_CODE_JOINTS];
  accelerations(t, tree, copy, M, qdd);
  t->qdd = qdd;
  double unit = psdmp_codegen_rescale(t, 1);
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD);
  psdmp_codegen_move_out(t, true);
  psdmp_codegen_regressor(t, base, out);
  psdmp_codegen_rescale(t, unit);
  t->qdd = NULL;
  psdmp_codegen_factorise(t, n, 0, M, inverse);
  for (int c = 0; c < l; c++) {
    for (int i = 0; i < n; i++) column[i] = NEG(out[i * l + c]);
    psdmp_codegen_solve_factors(t, n, M, inverse, column);
    for (int i = 0; i < n; i++) out[i * l + c] = column[i];
  }
}

/* ---- small motions ---- */

/* what the arguments from `first` on, dq dqd dqdd or eq eqd eqdd, change f by */
static void along_arguments(psdmp_codegen_trace *t, psdmp_codegen_block first, psdmp_codegen_block second,
                            psdmp_codegen_block third, size_t count, psdm_ref *f) {
  psdm_ref dq[PSDMP_CODEGEN_CODE_JOINTS], dqd[PSDMP_CODEGEN_CODE_JOINTS], dqdd[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_arguments(t, first, dq);
  psdmp_codegen_arguments(t, second, dqd);
  psdmp_codegen_arguments(t, third, dqdd);
  psdmp_codegen_along(t, dq, dqd, dqdd, f, count, f);
}

static void along_first(psdmp_codegen_trace *t, size_t count, psdm_ref *f) {
  along_arguments(t, PSDMP_CODEGEN_IN_DQ, PSDMP_CODEGEN_IN_DQD, PSDMP_CODEGEN_IN_DQDD, count, f);
}

size_t psdmp_codegen_terms_room(const psdm_robot *r) {
  size_t n = (size_t)r->n;
  return psdmp_codegen_linear_room(r) + 3 * n * n + 40 * n + 200;
}

void psdmp_codegen_terms(psdmp_codegen_trace *t, psdm_function f, bool composite, const psdm_model *base,
                         psdm_ref *room, psdm_ref *out) {
  int n = t->chain->n;
  t->qdd = NULL;
  switch (f) {
    case PSDM_F_CORIOLIS: psdmp_codegen_coriolis(t, composite, room, out); break;
    case PSDM_F_MASS_RATE: {
      psdm_ref *C = room + psdmp_codegen_linear_room(t->chain->robot);
      psdmp_codegen_coriolis(t, composite, room, C);
      for (int i = 0; i < n * n; i++) out[i] = ADD(C[i], C[i % n * n + i / n]);
      break;
    }
    case PSDM_F_MOMENTUM: momentum(t, room, out, out + n); break;
    case PSDM_F_MOMENTUM_RATE: momentum_rate(t, room, out); break;
    case PSDM_F_INNOVATIONS: innovations(t, room, out); break;
    case PSDM_F_INVERSE_ALONG:
    case PSDM_F_INVERSE_SECOND:
      psdmp_codegen_motion_torques(t, PSDMP_CODEGEN_IN_QD, PSDMP_CODEGEN_IN_QDD, true, room, out);
      along_first(t, (size_t)n, out);
      if (f == PSDM_F_INVERSE_SECOND)
        along_arguments(t, PSDMP_CODEGEN_IN_EQ, PSDMP_CODEGEN_IN_EQD, PSDMP_CODEGEN_IN_EQDD, (size_t)n, out);
      break;
    case PSDM_F_LINEARIZE_SECOND:
      psdmp_codegen_linearize_inverse(t, composite, room, out);
      along_first(t, (size_t)(3 * n * n), out);
      break;
    case PSDM_F_FORWARD_ALONG: forward_along(t, room, out); break;
    case PSDM_F_SENSITIVITY: sensitivity(t, base, room, out); break;
    default: break;
  }
}
