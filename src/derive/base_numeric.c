/* base_numeric.c: base parameters from the columns of W, by QR and by SVD (M. Gautier, Numerical calculation of
 * the base inertial parameters of robots, Journal of Robotic Systems 8(4), 1991). Equation numbers are the paper's. */
#include "derive/base_numeric_priv.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* the result, and the memory behind it */
typedef struct holder {
  psdm_base_parameters params;
  psdmp_base_arena arena;
  int *kept, *dropped; /* the same arrays, writable */
  double *T, *R, *sigma, *V2N, *V1, *beta;
  double *unit;        /* (columns) of psdmp_derive_samples */
  unsigned char *fate; /* (standard) */
} holder;

typedef struct matrix {
  int r, c;
  const double *W; /* column-major */
  double *V;       /* (c x c) by column */
} matrix;

static double *copy_of(psdmp_base_arena *arena, const matrix *m) {
  double *copy = PSDMP_BASE_NEW(arena, (long)m->r * m->c, double);
  if (copy) memcpy(copy, m->W, sizeof *copy * (size_t)m->r * (size_t)m->c);
  return copy;
}

/* ---- the three diagonals and their ranks ---- */

/* tau = share max|x|, and how many are above */
static void decide(const double *x, int count, double share, double *tau, int *rank) {
  double largest = 0;
  for (int i = 0; i < count; i++) largest = fmax(largest, fabs(x[i]));
  *tau = share * largest;
  *rank = 0;
  for (int i = 0; i < count; i++) *rank += fabs(x[i]) > *tau;
}

/* largest first */
static int compare_sizes(const void *a, const void *b) {
  double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
  return (x < y) - (x > y);
}

/* how clearly the rank-th exceeds the next */
static double gap_at(const double *x, int count, int rank, double *sorted) {
  memcpy(sorted, x, sizeof *x * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_sizes);
  return rank < count && rank > 0 && sorted[rank] != 0 ? fabs(sorted[rank - 1] / sorted[rank]) : INFINITY;
}

/* QR without pivoting, column by column (Gram-Schmidt, twice): R_ii is the remainder of column i. A column with a
 * negligible remainder gives no direction, as its rounding would count as one: noise of exact geometry is not random. A
 * is overwritten. */
static void diagonal_of_R(int r, int c, double *A, double nothing, double *R) {
  int found = 0;
  for (int i = 0; i < c; i++) {
    double *x = A + (long)i * r, left = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int k = 0; k < found; k++) {
        const double *q = A + (long)k * r;
        double dot = 0;
        for (int t = 0; t < r; t++) dot += q[t] * x[t];
        for (int t = 0; t < r; t++) x[t] -= dot * q[t];
      }
    for (int t = 0; t < r; t++) left += x[t] * x[t];
    R[i] = sqrt(left);
    if (!(R[i] > nothing)) continue;
    double *to = A + (long)found++ * r; /* found <= i: the directions move to the front */
    for (int t = 0; t < r; t++) to[t] = x[t] / R[i];
  }
}

static bool factorise(holder *h, const psdm_base_parameters_options *o, matrix *m, psdmp_base_arena *scratch) {
  double share = o->tolerance > 0 ? o->tolerance : m->r * DBL_EPSILON;
  psdm_base_parameters *p = &h->params;
  double *A = copy_of(scratch, m), *B = copy_of(scratch, m), *C = copy_of(scratch, m),
         *sorted = PSDMP_BASE_NEW(scratch, m->c, double);
  m->V = PSDMP_BASE_NEW(scratch, (long)m->c * m->c, double);
  if (!A || !B || !C || !sorted || !m->V) return false;
  if (!psdmp_derive_lapack_qr_pivoted(scratch, m->r, m->c, A) ||
      !psdmp_derive_lapack_svd(scratch, m->r, m->c, C, h->sigma, m->V))
    return false;
  for (int i = 0; i < m->c; i++) h->T[i] = A[(long)i * m->r + i];
  decide(h->T, m->c, share, &p->tau[0], &p->ranks[0]);
  decide(h->sigma, m->c, share, &p->tau[2], &p->ranks[2]);
  /* T shows the gap; its middle is the safest threshold for R */
  int b = p->ranks[0];
  p->tau[1] = b && b < m->c ? sqrt(fabs(h->T[b - 1]) * fmax(fabs(h->T[b]), 1e-2 * p->tau[0])) : p->tau[0];
  diagonal_of_R(m->r, m->c, B, p->tau[1], h->R);
  for (int i = 0; i < m->c; i++) p->ranks[1] += h->R[i] > p->tau[1];
  const double *diagonal[3] = {h->T, h->R, h->sigma};
  for (int k = 0; k < 3; k++) p->gap[k] = gap_at(diagonal[k], m->c, p->ranks[k == 1 ? 0 : k], sorted);
  return true;
}

/* ---- which columns are kept ---- */

static void split(holder *h, const bool *keep, int c) {
  int kept = 0, dropped = 0;
  for (int i = 0; i < c; i++) {
    if (keep[i]) h->kept[kept++] = i;
    else h->dropped[dropped++] = i;
  }
}

/* QR: a column that depends on those before it has R_ii = 0. The pivoted T gives their number. */
static void choose_by_R(const holder *h, int c, int rank, bool *keep) {
  for (int k = 0; k < rank; k++) {
    int best = -1;
    for (int i = 0; i < c; i++)
      if (!keep[i] && (best < 0 || fabs(h->R[i]) > fabs(h->R[best]))) best = i;
    keep[best] = true;
  }
}

/* rows of V2, from the last, that are independent of those already taken; at most c - b of them are not kept */
static int pick_rows(const matrix *m, int rank, double tolerance, double *basis, bool *keep) {
  int c = m->c, width = c - rank, found = 0;
  for (int i = c - 1; i >= 0; i--) {
    double *x = basis + (long)found * width, left = 0;
    keep[i] = true;
    if (found == width) continue;
    for (int k = 0; k < width; k++) x[k] = m->V[(long)(rank + k) * c + i];
    for (int pass = 0; pass < 2; pass++)
      for (int b = 0; b < found; b++) {
        double dot = 0;
        for (int k = 0; k < width; k++) dot += x[k] * basis[(long)b * width + k];
        for (int k = 0; k < width; k++) x[k] -= dot * basis[(long)b * width + k];
      }
    for (int k = 0; k < width; k++) left += x[k] * x[k];
    left = sqrt(left);
    if (!(left > tolerance)) continue;
    for (int k = 0; k < width; k++) x[k] /= left;
    keep[i] = false;
    found++;
  }
  return found;
}

/* SVD: starting from the last row of V2, the first regular V22, eq. (26). Rows of unchanged parameters are zero to the
 * precision of V2, eps sigma_1 / sigma_b; 1e-7 lies well between those and the rows of short links. */
static bool choose_by_V(const matrix *m, int rank, bool *keep, psdmp_base_arena *scratch) {
  double *basis = PSDMP_BASE_NEW(scratch, (long)(m->c - rank + 1) * (m->c - rank + 1), double);
  if (!basis) return false;
  for (double tolerance = 1e-7; tolerance > 1e-30; tolerance /= 100)
    if (pick_rows(m, rank, tolerance, basis, keep) == m->c - rank) return true;
  return false;
}

/* the structure's choice, link by link: it prefers the same columns, unless shares grew without bounds. False: out of
 * memory. */
static bool choose_by_links(const psdm_robot *r, const psdmp_derive_samples *samples, int rank, bool *keep, bool *found,
                            psdmp_base_arena *scratch) {
  int rows = samples->rows, columns = samples->columns;
  double size = 0;
  psdmp_derive_link_choice choice;
  for (long i = 0; i < (long)rows * columns; i++) size = fmax(size, fabs(samples->W[i]));
  const psdmp_derive_link_columns of = {rows, columns, samples->column, samples->W, 1e-13 * size};
  if (!psdmp_derive_choose_by_link(r, &of, scratch, &choice)) return false;
  *found = choice.rank == rank;
  for (int k = 0; k < rank && *found; k++) keep[choice.kept[k]] = true;
  return true;
}

/* ---- W2 = W1 beta ---- */

/* QR of [W1 W2]: beta = R1^-1 R2, eq. (17) */
static bool beta_by_R(holder *h, const matrix *m, psdmp_base_arena *scratch) {
  int b = h->params.rank, c = m->c, r = m->r;
  double *A = PSDMP_BASE_NEW(scratch, (long)r * c, double);
  if (!A) return false;
  for (int i = 0; i < c; i++)
    memcpy(A + (long)i * r, m->W + (long)(i < b ? h->kept[i] : h->dropped[i - b]) * r, sizeof *A * (size_t)r);
  if (!psdmp_derive_lapack_qr(scratch, r, c, A) || !psdmp_derive_lapack_solve_upper(b, c - b, A, r, A + (long)b * r, r))
    return false;
  for (int i = 0; i < b; i++)
    for (int k = 0; k < c - b; k++) h->beta[(long)i * (c - b) + k] = A[(long)(b + k) * r + i];
  return true;
}

/* beta = -V21 V22^-1, eq. (27), as V22^T beta^T = -V21^T */
static bool beta_by_V(holder *h, const matrix *m, psdmp_base_arena *scratch) {
  int b = h->params.rank, c = m->c, e = c - b;
  double *A = PSDMP_BASE_NEW(scratch, (long)e * e, double), *B = PSDMP_BASE_NEW(scratch, (long)e * b, double);
  if (!A || !B) return false;
  for (int k = 0; k < e; k++) { /* column-major: A(k, i) = V22(i, k) */
    const double *v = m->V + (long)(b + k) * c;
    for (int i = 0; i < e; i++) A[(long)i * e + k] = v[h->dropped[i]];
    for (int i = 0; i < b; i++) B[(long)i * e + k] = -v[h->kept[i]];
  }
  if (!psdmp_derive_lapack_solve(scratch, e, b, A, B)) return false;
  memcpy(h->beta, B, sizeof *B * (size_t)e * (size_t)b);
  return true;
}

/* ---- figures about the answer ---- */

/* V2 N with a random N, and V1 by rows */
static void show_V(holder *h, const matrix *m) {
  int b = h->params.rank, c = m->c;
  uint64_t seed = 9;
  memset(h->V2N, 0, sizeof *h->V2N * (size_t)c);
  for (int k = b; k < c; k++) {
    double N = psdmp_base_random(&seed, -1, 1);
    for (int i = 0; i < c; i++) h->V2N[i] += N * m->V[(long)k * c + i];
  }
  memcpy(h->V1, m->V, sizeof *h->V1 * (size_t)b * (size_t)c);
}

/* sets entries to zero that are negligible in their column; then converts from units of the reach to the robot's */
static void clean_beta(holder *h) {
  int b = h->params.rank, e = h->params.columns - b;
  for (int k = 0; k < e; k++) {
    double largest = 1;
    for (int i = 0; i < b; i++) largest = fmax(largest, fabs(h->beta[(long)i * e + k]));
    for (int i = 0; i < b; i++) {
      double *share = &h->beta[(long)i * e + k];
      *share = fabs(*share) < 1e-11 * largest ? 0 : *share * h->unit[h->kept[i]] / h->unit[h->dropped[k]];
    }
  }
}

static void set_fates(holder *h) {
  const psdm_base_parameters *p = &h->params;
  int e = p->columns - p->rank;
  memset(h->fate, PSDM_FATE_NO_EFFECT, (size_t)p->standard);
  for (int k = 0; k < e; k++) h->fate[p->column[h->dropped[k]]] = PSDM_FATE_REGROUPED;
  for (int i = 0; i < p->rank; i++) {
    bool alone = true;
    for (int k = 0; k < e; k++) alone &= h->beta[(long)i * e + k] == 0;
    h->fate[p->column[h->kept[i]]] = alone ? PSDM_FATE_UNCHANGED : PSDM_FATE_GROUPED_INTO;
  }
}

/* allocates the answer: c columns are known, the rank is not */
static bool make_room(holder *h, int c) {
  psdm_base_parameters *p = &h->params;
  psdmp_base_arena *arena = &h->arena;
  p->T = h->T = PSDMP_BASE_NEW(arena, c, double);
  p->R = h->R = PSDMP_BASE_NEW(arena, c, double);
  p->sigma = h->sigma = PSDMP_BASE_NEW(arena, c, double);
  p->V2N = h->V2N = PSDMP_BASE_NEW(arena, c, double);
  p->V1 = h->V1 = PSDMP_BASE_NEW(arena, (long)c * c, double);
  p->kept = h->kept = PSDMP_BASE_NEW(arena, c, int);
  p->dropped = h->dropped = PSDMP_BASE_NEW(arena, c, int);
  p->beta = h->beta = PSDMP_BASE_NEW(arena, (long)c * c, double);
  h->unit = PSDMP_BASE_NEW(arena, c, double);
  h->fate = PSDMP_BASE_NEW(arena, p->standard, unsigned char);
  return h->unit && p->T && p->R && p->sigma && p->V2N && p->V1 && p->kept && p->dropped && p->beta && h->fate;
}

static bool solve(const psdm_robot *r, holder *h, const psdm_base_parameters_options *o,
                  const psdmp_derive_samples *samples, psdmp_base_arena *scratch) {
  psdm_base_parameters *p = &h->params;
  bool found = false;
  matrix m = {.r = samples->rows, .c = samples->columns, .W = samples->W};
  bool *keep = PSDMP_BASE_NEW(scratch, m.c, bool);
  if (!keep || !make_room(h, m.c)) return false;
  memcpy(h->unit, samples->unit, sizeof *h->unit * (size_t)m.c);
  if (m.c) {
    if (!factorise(h, o, &m, scratch)) return false;
    p->rank = p->ranks[o->solver == PSDM_SOLVER_SVD ? 2 : 0];
    if (!choose_by_links(r, samples, p->rank, keep, &found, scratch)) return false;
    if (!found && o->solver == PSDM_SOLVER_QR) choose_by_R(h, m.c, p->rank, keep);
    else if (!found && !choose_by_V(&m, p->rank, keep, scratch)) return false;
    split(h, keep, m.c);
    if (p->rank < m.c && !(o->solver == PSDM_SOLVER_SVD ? beta_by_V : beta_by_R)(h, &m, scratch)) return false;
    show_V(h, &m);
  }
  clean_beta(h);
  set_fates(h);
  return true;
}

static void theta_of(const void *answer, const double *pi, double *theta) {
  psdm_base_parameters_theta(answer, pi, theta);
}
static int parameter_of(const void *answer, int j) {
  const psdm_base_parameters *p = answer;
  return p->column[p->kept[j]];
}

/* compares the regressor's kept columns times theta with the full torque */
static psdm_status check(const psdm_robot *r, const psdm_base_parameters_options *o, holder *h,
                         psdmp_base_arena *scratch, psdm_error *error) {
  const psdm_derive_options assume = {.assume_count = o->assume_count, .assume = o->assume};
  psdmp_derive_restriction assumed;
  double residual;
  psdm_status status = psdmp_derive_restriction_set(r, &assume, scratch, &assumed, error);
  const psdmp_derive_checked of = {.answer = &h->params,
                                   .l = h->params.rank,
                                   .states = 8,
                                   .theta = theta_of,
                                   .parameter = parameter_of,
                                   .restriction = &assumed,
                                   .options = &assume,
                                   .what = "the sampled base parameters"};
  return status ? status : psdmp_derive_check_answer(r, &of, h->arena.allocator, &residual, error);
}

psdm_status psdm_base_parameters_solve(const psdm_robot *r, const psdm_base_parameters_options *options,
                                       const psdm_allocator *allocator, psdm_base_parameters **out, psdm_error *error) {
  static const psdm_base_parameters_options defaults = {0};
  const psdm_base_parameters_options *o = options ? options : &defaults;
  *out = NULL;
  if (psdmp_linalg_blas_room(error)) return PSDM_E_MEMORY;
  if (r->bodies > PSDM_BASE_PARAMETERS_JOINTS)
    return psdmp_base_fail(error, PSDM_E_LIMIT, r->file, 0, 0,
                           "%d moving joints; base parameters are sampled for at most %d", r->bodies,
                           PSDM_BASE_PARAMETERS_JOINTS);
  if ((int)o->sampling < 0 || o->sampling > PSDM_SAMPLE_H || (int)o->solver < 0 || o->solver > PSDM_SOLVER_SVD)
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0, "no such model or solver");
  if (o->samples < 0 || !(o->tolerance >= 0 && o->tolerance < 1) || !(o->scaling[0] >= 0 && o->scaling[1] >= 0) ||
      !isfinite(o->scaling[0] + o->scaling[1]))
    return psdmp_base_fail(error, PSDM_E_ARGUMENT, NULL, 0, 0,
                           "a number of samples, a tolerance below 1 and weights that are not negative were expected");
  holder *h = psdmp_base_alloc(allocator, sizeof *h);
  if (!h) return psdmp_base_no_memory(r->file, error);
  h->arena.allocator = allocator;
  psdmp_base_arena scratch = {.allocator = allocator};
  psdmp_derive_samples samples;
  psdm_base_parameters *p = &h->params;
  psdm_status status = psdmp_derive_samples_take(r, o, &scratch, &samples, error);
  if (!status) {
    int *column = PSDMP_BASE_NEW(&h->arena, samples.columns, int);
    if (column) memcpy(column, samples.column, sizeof *column * (size_t)samples.columns);
    *p = (psdm_base_parameters){.standard = psdm_robot_parameter_count(r),
                                .rows = samples.rows,
                                .columns = samples.columns,
                                .column = column,
                                .spread_random = samples.spread_random,
                                .spread = samples.spread};
    if (!column || !solve(r, h, o, &samples, &scratch))
      status = h->arena.failed || scratch.failed
                   ? psdmp_base_no_memory(r->file, error)
                   : psdmp_base_fail(error, PSDM_E_ACCURACY, r->file, 0, 0,
                                     "the samples cannot be factorised in double precision");
  }
  if (!status) status = check(r, o, h, &scratch, error);
  psdmp_base_arena_free(&scratch);
  if (status) psdm_base_parameters_free(p);
  else *out = p;
  return status;
}

void psdm_base_parameters_free(psdm_base_parameters *params) {
  if (!params) return;
  holder *h = (holder *)(void *)params; /* params is its first member */
  psdmp_base_arena_free_owner(&h->arena, h);
}

psdm_parameter_fate psdm_base_parameters_fate(const psdm_base_parameters *params, int k) {
  const holder *h = (const holder *)(const void *)params;
  return k >= 0 && k < params->standard ? (psdm_parameter_fate)h->fate[k] : PSDM_FATE_NO_EFFECT;
}

void psdm_base_parameters_theta(const psdm_base_parameters *p, const double *pi, double *theta) {
  int e = p->columns - p->rank;
  for (int i = 0; i < p->rank; i++) {
    theta[i] = pi[p->column[p->kept[i]]];
    for (int k = 0; k < e; k++)
      if (p->beta[(long)i * e + k] != 0) theta[i] += p->beta[(long)i * e + k] * pi[p->column[p->dropped[k]]];
  }
}

void psdm_base_parameters_minimal(const psdm_base_parameters *p, const double *pi, double *XM) {
  const double *unit = ((const holder *)(const void *)p)->unit; /* V1 is in units of the reach */
  memset(XM, 0, sizeof *XM * (size_t)p->standard);
  for (int b = 0; b < p->rank; b++) {
    const double *v = p->V1 + (long)b * p->columns;
    double share = 0;
    for (int i = 0; i < p->columns; i++) share += v[i] * pi[p->column[i]] / unit[i];
    for (int i = 0; i < p->columns; i++) XM[p->column[i]] += share * v[i] * unit[i];
  }
}
