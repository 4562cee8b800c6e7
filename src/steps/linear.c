/* linear.c: the linear steps: rows become triangular factors of each drive and block; theta by weighted least squares,
 * its own uncertainty by the jackknife over blocks, and its exact derivatives by earlier numbers: their columns go
 * through the same least squares as the torque. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "steps/steps_priv.h"
#include "linalg/linalg.h"

enum { ROUNDS = 4 }; /* of weights */
/* directions of the scaled columns below this share of the largest are unobservable: encoder noise hides exact rank
   loss */
static const double lost = 1e-6;
static const double leaked = 1e-3; /* a parameter with more than this in lost directions is indistinguishable */

/* of a drive's torque: lower bound of its error when rows are weighed against a prior */
static const double unmodelled = 1e-4;

/* ---- rows ---- */

bool psdmp_steps_linear_new(const psdmp_steps *s, psdmp_base_arena *arena, psdmp_steps_linear *g) {
  int *width = PSDMP_BASE_NEW(arena, s->n, int);
  *g = (psdmp_steps_linear){.n = s->n, .l = s->l, .width = s->l + 2 + PSDMP_STEPS_FRICTION};
  for (int i = 0; i < s->n && width; i++) width[i] = g->width;
  return width && psdmp_linalg_blocks_in(arena, s->n, width, PSDMP_STEPS_STEP_BLOCKS, &g->rows);
}

void psdmp_steps_linear_row(psdmp_steps_linear *g, int drive, int block, const double *row) {
  memcpy(psdmp_linalg_blocks_row(&g->rows, drive, block), row, (size_t)g->width * sizeof *row);
}

/* ---- one problem ---- */

typedef struct problem {
  psdmp_steps *s;
  psdmp_steps_linear *linear;
  const psdmp_steps_parts *split;
  const double *prior;
  const bool *known;
  double **whole;        /* (n) factors of all blocks, NULL if a drive's rows are skipped */
  double *count;         /* (n) */
  double *fixed;         /* (l) A known */
  double *length;        /* (r) of the weighted columns */
  double *U, *sing, *VT; /* (m x r), (r), (r x r) of the weighted, scaled design */
  long m;
  int rank;
  double *side;  /* (m x (1 + N)) weighted: b, db/dx */
  double *y;     /* (r) */
  double *sigma; /* (n) weights are one over these */
} problem;

/* all blocks of a drive in one factor */
static bool gather(problem *p, psdmp_base_arena *arena) {
  psdmp_steps_linear *g = p->linear;
  for (int d = 0; d < g->n; d++) {
    if (!isfinite(p->s->x[d])) continue;
    if (!(p->whole[d] = PSDMP_BASE_NEW(arena, (long)g->width * g->width, double))) return false;
    p->count[d] = psdmp_linalg_blocks_stack(&g->rows, d, (1u << PSDMP_STEPS_STEP_BLOCKS) - 1, p->whole[d]);
    if (!(p->count[d] > 0)) p->whole[d] = NULL;
  }
  return true;
}

/* design (w x r) = R Y B, side (w x sides) = R [b, db/dx]; both times weight. sides 1: b alone */
static void columns_of(const problem *p, int d, const double *R, double weight, double *design, double *side,
                       int sides) {
  const psdmp_steps *s = p->s;
  int l = s->l, w = p->linear->width, r = p->split->r;
  if (r) cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, w, r, l, weight, R, w, p->split->B, r, 0, design, r);
  for (int k = 0; k < w; k++) {
    const double *row = R + (long)k * w;
    double *to = side + (long)k * sides, sum = s->x[d] * row[l] - row[l + 1];
    for (int j = 0; j < l; j++) sum -= row[j] * p->fixed[j];
    to[0] = weight * sum;
    if (sides == 1) continue;
    memset(to + 1, 0, (size_t)(sides - 1) * sizeof *to);
    to[1 + d] = weight * row[l];
    for (int c = 0; c < PSDMP_STEPS_FRICTION; c++) to[1 + psdmp_steps_at_friction(s, d, c)] = -weight * row[l + 2 + c];
    for (int j = 0; j < l; j++)
      for (int i = 0; i < l && p->known[j]; i++)
        to[1 + psdmp_steps_at_theta(s, j)] -= weight * row[i] * p->split->A[(long)i * l + j];
  }
}

/* the stacked, weighted design and its right-hand sides; U holds the design until it is decomposed */
static void stack(problem *p, int sides) {
  int w = p->linear->width, r = p->split->r, d = 0;
  long row = 0;
  for (d = 0; d < p->s->n; d++)
    if (p->whole[d]) {
      columns_of(p, d, p->whole[d], 1 / p->sigma[d], p->U + row * r, p->side + row * sides, sides);
      row += w;
    }
  for (int k = 0; k < r && p->prior; k++, row++) {
    memset(p->U + row * r, 0, (size_t)r * sizeof *p->U);
    memset(p->side + row * sides, 0, (size_t)sides * sizeof *p->side);
    p->U[row * r + k] = isinf(p->prior[k]) ? 0 : 1 / p->prior[k];
  }
}

static void scale_columns(problem *p) {
  int r = p->split->r;
  for (int k = 0; k < r; k++) {
    p->length[k] = cblas_dnrm2((int)p->m, p->U + k, r);
    if (!(p->length[k] > 0)) p->length[k] = 1;
    cblas_dscal((int)p->m, 1 / p->length[k], p->U + k, r);
  }
}

/* U diag(sing) VT = design */
static psdm_status decompose(problem *p, double *super, psdm_error *error) {
  int r = p->split->r;
  scale_columns(p);
  int code = LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'O', 'S', (int)p->m, r, p->U, r, p->sing, NULL, 1, p->VT, r, super);
  if (code) return psdmp_steps_no_singular(code, error);
  p->rank = 0;
  while (p->rank < r && p->sing[p->rank] > lost * p->sing[0] && p->sing[p->rank] > DBL_MIN) p->rank++;
  return PSDM_OK;
}

/* out (rank x columns) = S^-1 U^T side */
static void project(const problem *p, int sides, int first, int columns, double *out) {
  if (!p->rank) return;
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, p->rank, columns, (int)p->m, 1, p->U, p->split->r,
              p->side + first, sides, 0, out, columns);
  for (int k = 0; k < p->rank; k++) cblas_dscal(columns, 1 / p->sing[k], out + (long)k * columns, 1);
}

/* y from coordinates z of the observable directions */
static void y_of(const problem *p, const double *z) {
  int r = p->split->r;
  for (int k = 0; k < r; k++) {
    p->y[k] = 0;
    for (int c = 0; c < p->rank; c++) p->y[k] += p->VT[(long)c * r + k] * z[c] / p->length[k];
  }
}

/* each drive's residual, and the next weights, which are bounded below */
static void reweigh(problem *p, double *design, double *side, double *residual) {
  int r = p->split->r, w = p->linear->width, drives = 0;
  for (int d = 0; d < p->s->n; d++) drives += p->whole[d] != NULL;
  for (int d = 0; d < p->s->n; d++) {
    if (!p->whole[d]) continue;
    double error = 0, size = 0;
    columns_of(p, d, p->whole[d], 1, design, side, 1);
    for (int k = 0; k < w; k++) {
      double e = side[k] - (r ? cblas_ddot(r, design + (long)k * r, 1, p->y, 1) : 0);
      error += e * e;
      size += side[k] * side[k];
    }
    double free_rows = fmax(p->count[d] - (double)p->rank / drives, 1);
    residual[d] = sqrt(error / free_rows);
    p->sigma[d] = fmax(residual[d], fmax((p->prior ? unmodelled : 1e-9) * sqrt(size / p->count[d]), DBL_MIN));
  }
}

/* ---- uncertainty ---- */

/* Q (l x columns) = B length^-1 V, V the directions from `first` on */
static void directions(const problem *p, int first, int columns, double *Q) {
  int l = p->s->l, r = p->split->r;
  for (int j = 0; j < l; j++)
    for (int c = 0; c < columns; c++) {
      double sum = 0;
      for (int k = 0; k < r; k++) sum += p->split->B[(long)j * r + k] / p->length[k] * p->VT[(long)(first + c) * r + k];
      Q[(long)j * columns + c] = sum;
    }
}

/* gradient g (rank) and Hessian H (rank^2) of one block; whether it has rows */
static bool block_of(const problem *p, int b, double *design, double *side, double *P, double *g, double *H) {
  int r = p->split->r, w = p->linear->width, rank = p->rank;
  bool any = false;
  memset(g, 0, (size_t)rank * sizeof *g);
  memset(H, 0, (size_t)rank * (size_t)rank * sizeof *H);
  for (int d = 0; d < p->s->n; d++) {
    int at = d * PSDMP_STEPS_STEP_BLOCKS + b;
    if (!p->whole[d] || !(p->linear->rows.count[at] > 0)) continue;
    any = true;
    columns_of(p, d, p->linear->rows.R[at], 1 / p->sigma[d], design, side, 1);
    for (int k = 0; k < w; k++) side[k] -= cblas_ddot(r, design + (long)k * r, 1, p->y, 1);
    for (int k = 0; k < w; k++)
      for (int c = 0; c < r; c++) design[(long)k * r + c] /= p->length[c];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, w, rank, r, 1, design, r, p->VT, r, 0, P, rank);
    cblas_dgemv(CblasRowMajor, CblasTrans, w, rank, 1, P, rank, side, 1, 1, g, 1);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rank, rank, w, 1, P, rank, P, rank, 1, H, rank);
  }
  return any;
}

/* V (rank^2): the jackknife over blocks (Miller 1974), each step as if the block had been left out, H_b taken 1 -
 * 1/2B times as in fit.h; and the prior's part */
static psdm_status scatter(const problem *p, double *V, psdmp_base_arena *arena, psdm_error *error) {
  int r = p->split->r, w = p->linear->width, rank = p->rank, blocks = 0;
  double *design = PSDMP_BASE_NEW(arena, (long)w * r, double), *side = PSDMP_BASE_NEW(arena, w, double),
         *P = PSDMP_BASE_NEW(arena, (long)w * rank, double);
  double *g = PSDMP_BASE_NEW(arena, (long)PSDMP_STEPS_STEP_BLOCKS * rank, double),
         *H = PSDMP_BASE_NEW(arena, (long)PSDMP_STEPS_STEP_BLOCKS * rank * rank, double);
  double *mean = PSDMP_BASE_NEW(arena, rank, double);
  lapack_int *pivot = PSDMP_BASE_NEW(arena, rank, lapack_int);
  if (!design || !side || !P || !g || !H || !mean || !pivot) return psdmp_base_no_memory("", error);
  for (int b = 0; b < PSDMP_STEPS_STEP_BLOCKS; b++)
    blocks += block_of(p, b, design, side, P, g + (long)blocks * rank, H + (long)blocks * rank * rank);
  if (blocks < 2) return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "not enough rows are left to fit");
  for (int b = 0; b < blocks; b++) cblas_daxpy(rank, 1.0 / blocks, g + (long)b * rank, 1, mean, 1);
  for (int b = 0; b < blocks; b++) {
    double *Hb = H + (long)b * rank * rank, *gb = g + (long)b * rank, keep = 1 - 1 / (2.0 * blocks);
    cblas_daxpy(rank, -1, mean, 1, gb, 1);
    for (long k = 0; k < (long)rank * rank; k++) Hb[k] *= -keep;
    for (int k = 0; k < rank; k++) Hb[(long)k * (rank + 1)] += p->sing[k] * p->sing[k];
    if (LAPACKE_dgesv(LAPACK_COL_MAJOR, rank, 1, Hb, rank, pivot, gb, rank))
      return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "one block of rows alone shows a parameter");
    cblas_dger(CblasRowMajor, rank, rank, (blocks - 1.0) / blocks, gb, 1, gb, 1, V, rank);
  }
  for (int k = 0; k < r && p->prior; k++) {
    if (isinf(p->prior[k])) continue;
    for (int c = 0; c < rank; c++)
      mean[c] = p->VT[(long)c * r + k] / (p->length[k] * p->prior[k] * p->sing[c] * p->sing[c]);
    cblas_dger(CblasRowMajor, rank, rank, 1, mean, 1, mean, 1, V, rank);
  }
  return PSDM_OK;
}

/* parameters with a share in unobservable directions */
static void find_shown(const problem *p, const double *lostward, int losts, const double *seen, bool *shown) {
  for (int j = 0; j < p->s->l; j++) {
    double out = 0, in = 0;
    for (int c = 0; c < losts; c++) out = hypot(out, lostward[(long)j * losts + c]);
    for (int c = 0; c < p->rank; c++) in = hypot(in, seen[(long)j * p->rank + c]);
    shown[j] = !(out > leaked * hypot(in, out));
  }
}

/* theta, its noise and its gain from coordinates z and their columns by x */
static psdm_status answer_of(const problem *p, const double *z, psdmp_base_arena *arena, psdmp_steps_linear_answer *a,
                             psdm_error *error) {
  int l = p->s->l, N = p->s->N, r = p->split->r, rank = p->rank, losts = r - rank;
  double *Q = PSDMP_BASE_NEW(arena, (long)l * (rank + 1), double),
         *L = PSDMP_BASE_NEW(arena, (long)l * (losts + 1), double);
  double *V = PSDMP_BASE_NEW(arena, (long)rank * rank, double),
         *QV = PSDMP_BASE_NEW(arena, (long)l * (rank + 1), double),
         *Z = PSDMP_BASE_NEW(arena, (long)(rank + 1) * N, double);
  if (!Q || !L || !V || !QV || !Z) return psdmp_base_no_memory("", error);
  directions(p, 0, rank, Q);
  directions(p, rank, losts, L);
  find_shown(p, L, losts, Q, a->shown);
  memset(a->noise, 0, (size_t)l * (size_t)l * sizeof *a->noise);
  memset(a->gain, 0, (size_t)l * (size_t)N * sizeof *a->gain);
  for (int j = 0; j < l; j++) {
    a->theta[j] = p->fixed[j] + (rank ? cblas_ddot(rank, Q + (long)j * rank, 1, z, 1) : 0);
    for (int i = 0; i < l; i++)
      if (p->known[i]) a->gain[(long)j * N + psdmp_steps_at_theta(p->s, i)] = p->split->A[(long)j * l + i];
  }
  if (!rank) return PSDM_OK;
  psdm_status status = scatter(p, V, arena, error);
  if (status) return status;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, rank, rank, 1, Q, rank, V, rank, 0, QV, rank);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, l, l, rank, 1, QV, rank, Q, rank, 0, a->noise, l);
  project(p, 1 + N, 1, N, Z);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, l, N, rank, 1, Q, rank, Z, N, 1, a->gain, N);
  return PSDM_OK;
}

/* ---- all of it ---- */

static bool prepare(problem *p, psdmp_base_arena *arena) {
  int l = p->s->l, n = p->s->n, r = p->split->r, N = p->s->N;
  p->whole = PSDMP_BASE_NEW(arena, n, double *), p->count = PSDMP_BASE_NEW(arena, n, double),
  p->fixed = PSDMP_BASE_NEW(arena, l, double);
  if (!p->whole || !p->count || !p->fixed || !gather(p, arena)) return false;
  for (int d = 0; d < n; d++) p->m += p->whole[d] ? p->linear->width : 0;
  p->m += p->prior ? r : 0;
  p->length = PSDMP_BASE_NEW(arena, r, double), p->sing = PSDMP_BASE_NEW(arena, r, double),
  p->VT = PSDMP_BASE_NEW(arena, (long)r * r, double), p->y = PSDMP_BASE_NEW(arena, r, double);
  p->U = PSDMP_BASE_NEW(arena, p->m * (r + 1), double), p->side = PSDMP_BASE_NEW(arena, p->m * (1 + N), double);
  for (int j = 0; j < l; j++)
    for (int i = 0; i < l; i++)
      if (p->known[i]) p->fixed[j] += p->split->A[(long)j * l + i] * p->s->x[psdmp_steps_at_theta(p->s, i)];
  return p->length && p->sing && p->VT && p->y && p->U && p->side;
}

static bool make_answer(const psdmp_steps *s, psdmp_base_arena *arena, psdmp_steps_linear_answer *a) {
  a->theta = PSDMP_BASE_NEW(arena, s->l, double), a->shown = PSDMP_BASE_NEW(arena, s->l, bool);
  a->noise = PSDMP_BASE_NEW(arena, (long)s->l * s->l, double),
  a->gain = PSDMP_BASE_NEW(arena, (long)s->l * s->N, double);
  return a->theta && a->shown && a->noise && a->gain;
}

psdm_status psdmp_steps_linear_solve(psdmp_steps *s, psdmp_steps_linear *linear, const psdmp_steps_parts *split,
                                     const bool *known, const double *prior, psdmp_base_arena *arena,
                                     psdmp_steps_linear_answer *a, psdm_error *error) {
  problem p = {.s = s,
               .linear = linear,
               .split = split,
               .prior = prior,
               .known = known,
               .sigma = PSDMP_BASE_NEW(arena, s->n, double)};
  int r = split->r, w = linear->width;
  if (!p.sigma || !prepare(&p, arena) || !make_answer(s, arena, a)) return psdmp_base_no_memory("", error);
  double *z = PSDMP_BASE_NEW(arena, r, double), *design = PSDMP_BASE_NEW(arena, (long)w * r, double),
         *side = PSDMP_BASE_NEW(arena, w, double), *super = PSDMP_BASE_NEW(arena, r, double);
  if (!z || !design || !side || !super) return psdmp_base_no_memory("", error);
  if (p.m <= (prior ? r : 0)) return psdmp_base_fail(error, PSDM_E_ARGUMENT, "", 0, 0, "no row is left to fit");
  for (int d = 0; d < s->n; d++) p.sigma[d] = 1, a->sigma[d] = NAN;
  for (int round = 0; round <= ROUNDS; round++) {
    int sides = round == ROUNDS ? 1 + s->N : 1;
    stack(&p, sides);
    psdm_status status = r ? decompose(&p, super, error) : PSDM_OK;
    if (status) return status;
    project(&p, sides, 0, 1, z);
    y_of(&p, z);
    if (round < ROUNDS) reweigh(&p, design, side, a->sigma);
  }
  a->rank = p.rank;
  a->free = r;
  a->condition = p.rank ? p.sing[0] / p.sing[p.rank - 1] : NAN;
  return answer_of(&p, z, arena, a, error);
}

psdm_status psdmp_steps_linear_keep(psdmp_steps *s, const psdmp_steps_linear_answer *a, const bool *kept,
                                    psdmp_base_arena *arena, psdm_error *error) {
  int l = s->l, N = s->N, count = 0;
  int *from = PSDMP_BASE_NEW(arena, l, int), *own = PSDMP_BASE_NEW(arena, l, int);
  double *value = PSDMP_BASE_NEW(arena, l, double), *noise = PSDMP_BASE_NEW(arena, (long)l * l, double),
         *gain = PSDMP_BASE_NEW(arena, (long)l * N, double);
  if (!from || !own || !value || !noise || !gain) return psdmp_base_no_memory("", error);
  for (int j = 0; j < l; j++)
    if (kept[j]) from[count] = j, own[count] = psdmp_steps_at_theta(s, j), value[count++] = a->theta[j];
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < count; k++) noise[(long)i * count + k] = a->noise[(long)from[i] * l + from[k]];
    memcpy(gain + (long)i * N, a->gain + (long)from[i] * N, (size_t)N * sizeof *gain);
    s->theta_from[from[i]] = PSDM_FROM_LOG;
  }
  return psdmp_steps_update(s, count, own, value, noise, gain, error);
}
