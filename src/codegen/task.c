/* task.c: the dynamics of a task, by A = J M^-1 J^T: its factors are those of Mp = A^-1.
 *
 *   cp = Mp (J M^-1 c - dJ/dt qd),   gp = Mp J M^-1 g,   Jbar = M^-1 J^T Mp,   N = 1 - J^T Jbar^T,
 *   Sp = (Jbar^T C - Mp dJ/dt) Jbar
 *
 * A singular A is no number, not a large one: its factors say when rounding is all that is left of them. */
#include <string.h>

#include "codegen/trace_priv.h"
#include "psdm/cartesian.h"

/* where the point is from the link's origin, base frame; false: there */
static bool lever(psdmp_codegen_trace *t, int joint, psdmp_codegen_sym *r) {
  const double *p = t->options->point;
  psdm_ref X[12], at[3];
  if (p[0] == 0 && p[1] == 0 && p[2] == 0) return false;
  psdmp_codegen_pose_symbols(t, joint, X);
  for (int i = 0; i < 3; i++) {
    at[i] = t->zero;
    for (int k = 0; k < 3; k++) at[i] = ADD(at[i], MUL(NUM(p[k]), X[3 + 3 * i + k]));
  }
  *r = (psdmp_codegen_sym){at[0], at[1], at[2]};
  return true;
}

/* ---- J ---- */

/* the chosen rows, of the point; room: (6 n) */
static void jacobian(psdmp_codegen_trace *t, int joint, psdm_ref *room, psdm_ref *J) {
  int n = t->chain->n, m = 0;
  unsigned rows = t->options->directions ? t->options->directions : PSDM_ALL_DIRECTIONS;
  psdmp_codegen_sym r;
  psdmp_codegen_jacobian_symbols(t, joint, room);
  for (int j = 0; j < n && lever(t, joint, &r); j++) {
    psdmp_codegen_sym v =
        psdmp_codegen_sym_cross(t, (psdmp_codegen_sym){room[3 * n + j], room[4 * n + j], room[5 * n + j]}, r);
    room[j] = ADD(room[j], v.x);
    room[n + j] = ADD(room[n + j], v.y);
    room[2 * n + j] = ADD(room[2 * n + j], v.z);
  }
  for (int k = 0; k < PSDM_DIRECTIONS; k++)
    if (rows >> k & 1u) memcpy(J + n * m++, room + n * k, sizeof *J * (size_t)n);
}

/* out (a x c) = X Y with X (a x b), or X^T with X (b x a) */
static void product(psdmp_codegen_trace *t, int a, int b, int c, const psdm_ref *X, bool transposed, const psdm_ref *Y,
                    psdm_ref *out) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < c; j++) {
      psdm_ref sum = t->zero;
      for (int k = 0; k < b; k++) sum = ADD(sum, MUL(transposed ? X[k * a + i] : X[i * b + k], Y[k * c + j]));
      out[i * c + j] = sum;
    }
}

/* ---- from J and the joints' terms ---- */

/* One function; matrices row-major. */
typedef struct task {
  int n, m;
  const psdmp_codegen_task_parts *p;
  psdm_ref *B;      /* (n x m) M^-1 J^T */
  psdm_ref *A, *Mp; /* (m x m), A its factors */
  psdm_ref inverse[PSDM_DIRECTIONS];
} task;

/* B = M^-1 J^T, A = J B, and A's factors */
static void factorise(psdmp_codegen_trace *t, task *k) {
  int n = k->n, m = k->m;
  psdm_ref inverse[PSDMP_CODEGEN_CODE_JOINTS], x[PSDMP_CODEGEN_CODE_JOINTS];
  psdmp_codegen_factorise(t, n, 0, k->p->M, inverse);
  for (int j = 0; j < m; j++) {
    memcpy(x, k->p->J + n * j, sizeof *x * (size_t)n);
    psdmp_codegen_solve_factors(t, n, k->p->M, inverse, x);
    for (int i = 0; i < n; i++) k->B[i * m + j] = x[i];
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j <= i; j++) {
      psdm_ref sum = t->zero;
      for (int l = 0; l < n; l++) sum = ADD(sum, MUL(k->p->J[i * n + l], k->B[l * m + j]));
      k->A[i * m + j] = k->A[j * m + i] = sum;
    }
  psdmp_codegen_factorise(t, m, t->options->real_float ? 1e-5 : 1e-13, k->A, k->inverse);
}

/* Mp (B^T forces - drift) */
static void force(psdmp_codegen_trace *t, task *k, psdm_ref *out) {
  product(t, k->m, k->n, 1, k->B, true, k->p->forces, out);
  for (int i = 0; i < k->m && k->p->drift; i++) out[i] = SUB(out[i], k->p->drift[i]);
  psdmp_codegen_solve_factors(t, k->m, k->A, k->inverse, out);
}

/* Jbar = B Mp */
static void inverse(psdmp_codegen_trace *t, task *k, psdm_ref *Jbar) {
  psdmp_codegen_inverse_factors(t, k->m, k->A, k->inverse, k->Mp);
  product(t, k->n, k->m, k->m, k->B, false, k->Mp, Jbar);
}

static void null_space(psdmp_codegen_trace *t, task *k, psdm_ref *Jbar, psdm_ref *out) {
  int n = k->n, m = k->m;
  inverse(t, k, Jbar);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      psdm_ref sum = i == j ? NUM(1) : t->zero;
      for (int l = 0; l < m; l++) sum = SUB(sum, MUL(k->p->J[l * n + i], Jbar[j * m + l]));
      out[i * n + j] = sum;
    }
}

/* room: (n m) for Jbar, then (m n) for its product */
static void factor(psdmp_codegen_trace *t, task *k, psdm_ref *room, psdm_ref *out) {
  int n = k->n, m = k->m;
  psdm_ref *Jbar = room, *part = Jbar + n * m;
  inverse(t, k, Jbar);
  product(t, m, n, n, Jbar, true, k->p->C, part);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < m; l++)
        part[i * n + j] = SUB(part[i * n + j], MUL(k->Mp[i * m + l], k->p->J_rate[l * n + j]));
  product(t, m, n, m, part, false, Jbar, out);
}

size_t psdmp_codegen_task_room(int n) {
  return (size_t)(3 * PSDM_DIRECTIONS * n + 2 * PSDM_DIRECTIONS * PSDM_DIRECTIONS);
}

void psdmp_codegen_task_of(psdmp_codegen_trace *t, psdm_function f, const psdmp_codegen_task_parts *p, psdm_ref *room,
                           psdm_ref *out) {
  task k = {.n = t->chain->n, .m = psdmp_codegen_width(t->options, 0, f), .p = p};
  k.B = room;
  k.A = k.B + k.m * k.n;
  k.Mp = k.A + k.m * k.m;
  psdm_ref *more = k.Mp + k.m * k.m;
  factorise(t, &k);
  switch (f) {
    case PSDM_F_CARTESIAN_MASS: psdmp_codegen_inverse_factors(t, k.m, k.A, k.inverse, out); break;
    case PSDM_F_CARTESIAN_CORIOLIS:
    case PSDM_F_CARTESIAN_GRAVITY: force(t, &k, out); break;
    case PSDM_F_CARTESIAN_INVERSE: inverse(t, &k, out); break;
    case PSDM_F_CARTESIAN_NULL_SPACE: null_space(t, &k, more, out); break;
    case PSDM_F_CARTESIAN_FACTOR: factor(t, &k, more, out); break;
    default: break;
  }
}

/* ---- of a chain ---- */

void psdmp_codegen_task(psdmp_codegen_trace *t, psdm_function f, int joint, bool composite, psdm_ref *room,
                        psdm_ref *out) {
  int n = t->chain->n, m = psdmp_codegen_width(t->options, 0, f);
  psdm_ref qd[PSDMP_CODEGEN_CODE_JOINTS], forces[PSDMP_CODEGEN_CODE_JOINTS], drift[PSDM_DIRECTIONS], *tree = room;
  psdmp_codegen_task_parts p = {.J = tree + t->chain->bodies, .forces = forces};
  p.J_rate = p.J + m * n;
  p.M = p.J_rate + m * n;
  p.C = p.M + n * n;
  psdm_ref *more = p.C + n * n;
  bool coriolis = f == PSDM_F_CARTESIAN_CORIOLIS;
  t->qdd = NULL;
  double unit = psdmp_codegen_rescale(t, 1);
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
  jacobian(t, joint, more, f == PSDM_F_CARTESIAN_JACOBIAN ? out : p.J);
  psdmp_codegen_rescale(t, unit);
  if (f == PSDM_F_CARTESIAN_JACOBIAN) return;
  psdmp_codegen_arguments(t, PSDMP_CODEGEN_IN_QD, qd);
  if (coriolis) {
    product(t, m, n, 1, p.J, false, qd, drift);
    psdmp_codegen_along(t, qd, NULL, NULL, drift, (size_t)m, drift);
    p.drift = drift;
  }
  if (f == PSDM_F_CARTESIAN_FACTOR) {
    psdmp_codegen_along(t, qd, NULL, NULL, p.J, (size_t)(m * n), p.J_rate);
    psdmp_codegen_coriolis(t, composite, more, p.C);
  }
  if (coriolis || f == PSDM_F_CARTESIAN_GRAVITY)
    psdmp_codegen_motion_torques(t, coriolis ? PSDMP_CODEGEN_IN_QD : PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT,
                                 !coriolis, tree, forces);
  psdmp_codegen_trace_start(t, PSDMP_CODEGEN_IN_COUNT, PSDMP_CODEGEN_IN_COUNT);
  psdmp_codegen_mass_matrix(t, p.M);
  psdmp_codegen_task_of(t, f, &p, more, out);
}
