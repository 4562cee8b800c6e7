/* riccati.c: Riccati equations by ordered Schur vectors (Laub 1979; discrete: Van Dooren 1981), refined by Kleinman's
 * Newton steps. */
#include "linalg/riccati.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "linalg/modes.h"

/* An equation and the scratch of its solution. */
typedef struct problem {
  bool discrete;
  int n, m;
  const double *A, *B, *Q, *R;
  double *X, *K;
  double *S;              /* (n x n) B R^-1 B^T */
  double *H, *J, *Z;      /* (2n+m x 2n) column-major: Hamiltonian, or the pencil H - lambda J; Schur vectors */
  double *re, *im, *beta; /* (2n) */
  double *E, *F, *C, *D;  /* (n x n) */
  double *L, *V, *W;      /* (m x m), (m x n), (m x n) */
  int *pivot, *logical;   /* (n), (2n) */
  double *work;
  long words;
} problem;

/* dgges asks for 16 n + 16, the blocked routines for some 34 per row, dormqr for a block of 65 rows in addition */
static long work_words(int n) { return 80 * (long)n + 65 * 65; }

size_t psdmp_linalg_riccati_scratch(int n, int m) {
  size_t N = (size_t)n, M = (size_t)m, modes = psdmp_linalg_modes_scratch(n, m), work = (size_t)work_words(n);
  return 5 * N * N + 6 * N * (2 * N + M) + 6 * N + M * M + 2 * M * N + 3 * N + 4 + (modes > work ? modes : work);
}

static void lay_out(problem *p, double *at) {
  long n = p->n, m = p->m;
  p->S = at, at += n * n;
  p->H = at, at += 2 * n * (2 * n + m);
  p->J = at, at += 2 * n * (2 * n + m);
  p->Z = at, at += 2 * n * (2 * n + m);
  p->re = at, at += 2 * n;
  p->im = at, at += 2 * n;
  p->beta = at, at += 2 * n;
  p->E = at, at += n * n;
  p->F = at, at += n * n;
  p->C = at, at += n * n;
  p->D = at, at += n * n;
  p->L = at, at += m * m;
  p->V = at, at += m * n;
  p->W = at, at += m * n;
  p->pivot = (int *)at, at += n;
  p->logical = (int *)at, at += 2 * n;
  p->work = at;
  p->words = work_words(p->n);
}

/* C (rows x columns) = A B or A^T B, summed in extended precision: residuals are differences of nearly equal numbers */
static void product(bool transposed, int rows, int inner, int columns, const double *A, const double *B, double *C) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      long double sum = 0;
      for (int k = 0; k < inner; k++)
        sum += (long double)(transposed ? A[(long)k * rows + i] : A[(long)i * inner + k]) * B[(long)k * columns + j];
      C[(long)i * columns + j] = (double)sum;
    }
}

/* solves for the columns of Y (m x columns) with the factor L */
static void solve_columns(const problem *p, int columns, double *Y, double *x) {
  for (int j = 0; j < columns; j++) {
    for (int i = 0; i < p->m; i++) x[i] = Y[(long)i * columns + j];
    psdmp_linalg_cholesky_solve(p->m, p->L, x);
    for (int i = 0; i < p->m; i++) Y[(long)i * columns + j] = x[i];
  }
}

/* V = B^T, W = R^-1 B^T, S = B W */
static bool weigh_inputs(problem *p) {
  int n = p->n, m = p->m;
  memcpy(p->L, p->R, sizeof *p->L * (size_t)m * (size_t)m);
  if (!psdmp_linalg_cholesky(m, p->L)) return false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) p->W[(long)j * n + i] = p->B[(long)i * m + j];
  solve_columns(p, n, p->W, p->work);
  product(false, n, m, n, p->B, p->W, p->S);
  return true;
}

/* every mode that is not stable must be reachable by the inputs; usually all are */
static psdmp_linalg_riccati check_reach(problem *p, psdmp_linalg_riccati_info *info) {
  double size = psdmp_linalg_largest((long)p->n * p->n, p->A);
  if (psdmp_linalg_reachable(p->n, p->m, p->A, p->B, p->work) == p->n) return PSDMP_LINALG_RICCATI_OK;
  if (!psdmp_linalg_eigenvalues(p->n, p->A, p->re, p->im, p->work)) return PSDMP_LINALG_RICCATI_FAILED;
  for (int k = 0; k < p->n; k++) {
    bool dies = p->discrete ? hypot(p->re[k], p->im[k]) < 1 - 1e-9 : p->re[k] < -1e-9 * size;
    if (dies) continue;
    double margin = psdmp_linalg_reach_margin(p->n, p->m, p->A, p->B, p->re[k], p->im[k], p->work);
    if (margin < 0) return PSDMP_LINALG_RICCATI_FAILED;
    /* a double mode is known only to the square root of rounding, but its margin depends on the square of that error */
    if (margin > 1e-12) continue;
    info->re = p->re[k];
    info->im = p->im[k];
    return PSDMP_LINALG_RICCATI_UNREACHABLE;
  }
  return PSDMP_LINALG_RICCATI_OK;
}

/* ---- the stable subspace ---- */

static lapack_logical left_half(const double *re, const double *im) {
  (void)im;
  return *re < 0;
}

static lapack_logical inside_circle(const double *re, const double *im, const double *beta) {
  return hypot(*re, *im) < fabs(*beta);
}

/* X is in units of scale, so that Q and S have the same size in the matrix: H = [A, -S; -Q, -A^T] */
static psdmp_linalg_riccati continuous_subspace(problem *p, double scale) {
  int n = p->n, N = 2 * n, chosen = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double a = p->A[(long)i * n + j];
      p->H[i + (long)j * N] = a;
      p->H[(n + j) + (long)(n + i) * N] = -a;
      p->H[i + (long)(n + j) * N] = -scale * p->S[(long)i * n + j];
      p->H[(n + i) + (long)j * N] = -p->Q[(long)i * n + j] / scale;
    }
  int code = LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'S', left_half, N, p->H, N, &chosen, p->re, p->im, p->Z, N,
                                p->work, (lapack_int)p->words, p->logical);
  if (code && code != N + 2) return PSDMP_LINALG_RICCATI_FAILED;
  return code || chosen != n ? PSDMP_LINALG_RICCATI_BOUNDARY : PSDMP_LINALG_RICCATI_OK;
}

/* x+ = A x + B u, p = Q x + A^T p+, 0 = R u + B^T p+ as a pencil in (x, p, u): neither A nor R is inverted (Van Dooren
 * 1981). Column-major, p in units of scale; H multiplies (x, p), J (x+, p+), N u. */
static void fill_pencil(problem *p, double scale, double *N) {
  int n = p->n, m = p->m, rows = 2 * n + m;
  memset(p->H, 0, sizeof *p->H * (size_t)rows * 2 * (size_t)n);
  memset(p->J, 0, sizeof *p->J * (size_t)rows * 2 * (size_t)n);
  memset(N, 0, sizeof *N * (size_t)rows * (size_t)m);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      p->H[i + (long)j * rows] = p->A[(long)i * n + j];
      p->J[(n + j) + (long)(n + i) * rows] = p->A[(long)i * n + j];
      p->H[(n + i) + (long)j * rows] = -p->Q[(long)i * n + j] / scale;
    }
    for (int j = 0; j < m; j++) {
      N[i + (long)j * rows] = p->B[(long)i * m + j];
      p->J[(2 * n + j) + (long)(n + i) * rows] = -p->B[(long)i * m + j];
    }
    p->H[(n + i) + (long)(n + i) * rows] = 1;
    p->J[i + (long)i * rows] = 1;
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) N[(2 * n + i) + (long)j * rows] = p->R[(long)i * m + j] / scale;
}

/* the rows that reflections free of u, moved to the front of their columns */
static void take_below(int rows, int above, double *P) {
  int size = rows - above;
  for (int j = 0; j < size; j++) memmove(P + (long)j * size, P + (long)j * rows + above, sizeof *P * (size_t)size);
}

static psdmp_linalg_riccati discrete_subspace(problem *p, double scale) {
  int n = p->n, m = p->m, N = 2 * n, rows = N + m, chosen = 0;
  double unused, *U = p->Z, *reflectors = p->re;
  lapack_int words = (lapack_int)p->words;
  fill_pencil(p, scale, U);
  if (LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, m, U, rows, reflectors, p->work, words))
    return PSDMP_LINALG_RICCATI_FAILED;
  LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', rows, N, m, U, rows, reflectors, p->H, rows, p->work, words);
  LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', rows, N, m, U, rows, reflectors, p->J, rows, p->work, words);
  take_below(rows, m, p->H);
  take_below(rows, m, p->J);
  int code = LAPACKE_dgges_work(LAPACK_COL_MAJOR, 'N', 'V', 'S', inside_circle, N, p->H, N, p->J, N, &chosen, p->re,
                                p->im, p->beta, &unused, 1, p->Z, N, p->work, words, p->logical);
  if (code && code != N + 2) return PSDMP_LINALG_RICCATI_FAILED;
  return code || chosen != n ? PSDMP_LINALG_RICCATI_BOUNDARY : PSDMP_LINALG_RICCATI_OK;
}

/* [U1; U2] spans the stable subspace: X U1 = U2, that is U1^T X = U2^T, and X is symmetric */
static psdmp_linalg_riccati from_subspace(problem *p, double scale) {
  int n = p->n, N = 2 * n;
  double size = 0, condition;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      p->E[j + (long)i * n] = p->Z[i + (long)j * N];
      p->X[j + (long)i * n] = p->Z[(n + i) + (long)j * N];
    }
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(p->E[i + (long)j * n]);
    size = fmax(size, sum);
  }
  if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, p->E, n, p->pivot)) return PSDMP_LINALG_RICCATI_FAILED;
  if (LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', n, p->E, n, size, &condition, p->work, p->logical) ||
      !(condition > 1e-15))
    return PSDMP_LINALG_RICCATI_FAILED;
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, n, p->E, n, p->pivot, p->X, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      p->X[(long)i * n + j] = p->X[(long)j * n + i] = 0.5 * scale * (p->X[(long)i * n + j] + p->X[(long)j * n + i]);
  return PSDMP_LINALG_RICCATI_OK;
}

/* ---- gains, residual, refinement ---- */

/* K from X; false when R + B^T X B is not positive definite */
static bool gains(problem *p) {
  int n = p->n, m = p->m;
  product(true, m, n, n, p->B, p->X, p->V);
  memcpy(p->L, p->R, sizeof *p->L * (size_t)m * (size_t)m);
  if (!p->discrete) {
    memcpy(p->K, p->V, sizeof *p->K * (size_t)m * (size_t)n);
  } else {
    product(false, m, n, n, p->V, p->A, p->K);
    product(false, m, n, m, p->V, p->B, p->work);
    for (long i = 0; i < (long)m * m; i++) p->L[i] += p->work[i];
  }
  memcpy(p->W, p->K, sizeof *p->W * (size_t)m * (size_t)n); /* K = L^-1 W: K^T W is the last term of either equation */
  if (!psdmp_linalg_cholesky(m, p->L)) return false;
  solve_columns(p, n, p->K, p->work);
  return true;
}

/* C = the equation's residual at X, E = A - B K; returns the residual relative to the largest term */
static double remainder_of(problem *p) {
  int n = p->n, m = p->m;
  long count = (long)n * n;
  if (!gains(p)) return INFINITY;
  double *XA = p->E, *KW = p->F, terms = psdmp_linalg_largest(count, p->Q);
  product(false, n, n, n, p->X, p->A, XA);
  product(true, n, m, n, p->K, p->W, KW);
  terms = fmax(terms, psdmp_linalg_largest(count, KW));
  if (p->discrete) {
    product(true, n, n, n, p->A, XA, p->C);
    terms = fmax(terms, fmax(psdmp_linalg_largest(count, p->C), psdmp_linalg_largest(count, p->X)));
    for (long i = 0; i < count; i++) p->C[i] += p->Q[i] - p->X[i] - KW[i];
  } else {
    terms = fmax(terms, psdmp_linalg_largest(count, XA));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        p->C[(long)i * n + j] = XA[(long)i * n + j] + XA[(long)j * n + i] + p->Q[(long)i * n + j] - KW[(long)i * n + j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      p->C[(long)i * n + j] = p->C[(long)j * n + i] = 0.5 * (p->C[(long)i * n + j] + p->C[(long)j * n + i]);
  product(false, n, m, n, p->B, p->K, p->E);
  for (long i = 0; i < count; i++) p->E[i] = p->A[i] - p->E[i];
  return terms > 0 ? psdmp_linalg_largest(count, p->C) / terms : 0;
}

/* C = solution D of E^T D + D E = -C: Schur form of E, then back substitution (Bartels, Stewart 1972) */
static bool solve_lyapunov(problem *p) {
  int n = p->n, none;
  double scale, *T = p->H, *U = p->Z, *Y = p->J;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) T[i + (long)j * n] = p->E[(long)i * n + j];
  if (LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, T, n, &none, p->re, p->im, U, n, p->work,
                         (lapack_int)p->words, p->logical))
    return false;
  /* C is symmetric, and U column-major is U^T row-major: Y = -U^T C U */
  product(false, n, n, n, U, p->C, Y);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) p->F[(long)i * n + j] = U[(long)i * n + j], p->D[(long)j * n + i] = U[(long)i * n + j];
  product(false, n, n, n, Y, p->D, p->C);
  for (long i = 0; i < (long)n * n; i++) Y[i] = -p->C[i];
  if (LAPACKE_dtrsyl_work(LAPACK_COL_MAJOR, 'T', 'N', 1, n, n, T, n, T, n, Y, n, &scale) || !(scale > 0)) return false;
  product(false, n, n, n, p->D, Y, p->C);
  product(false, n, n, n, p->C, p->F, Y);
  for (long i = 0; i < (long)n * n; i++) p->C[i] = Y[i] / scale;
  return true;
}

/* C = solution D of D = E^T D E + C: the sum of E^T^k C E^k, doubling the number of terms in each step (Smith 1968) */
static bool solve_stein(problem *p) {
  int n = p->n;
  long count = (long)n * n;
  for (int step = 0; step < 60; step++) {
    product(false, n, n, n, p->C, p->E, p->F);
    product(true, n, n, n, p->E, p->F, p->D);
    for (long i = 0; i < count; i++) p->C[i] += p->D[i];
    double change = psdmp_linalg_largest(count, p->D), size = psdmp_linalg_largest(count, p->C);
    if (!isfinite(size)) return false;
    if (change <= 1e-17 * size) return true;
    product(false, n, n, n, p->E, p->E, p->F);
    memcpy(p->E, p->F, sizeof *p->E * (size_t)count);
  }
  return false;
}

/* Newton steps as long as they improve; X, K and the residual are the best. best: (n x n) */
static void refine(problem *p, psdmp_linalg_riccati_info *info, double *best) {
  long count = (long)p->n * p->n;
  info->residual = remainder_of(p);
  for (int step = 0; step < 4 && info->residual > 0 && isfinite(info->residual); step++) {
    memcpy(best, p->X, sizeof *best * (size_t)count);
    bool solved = p->discrete ? solve_stein(p) : solve_lyapunov(p);
    if (!solved) break;
    for (long i = 0; i < count; i++) p->X[i] += p->C[i];
    for (int i = 0; i < p->n; i++)
      for (int j = 0; j < i; j++) p->X[(long)i * p->n + j] = p->X[(long)j * p->n + i];
    double residual = remainder_of(p);
    if (!(residual < 0.5 * info->residual)) {
      memcpy(p->X, best, sizeof *best * (size_t)count);
      break;
    }
    info->residual = residual;
    info->steps++;
  }
  info->residual = remainder_of(p);
}

/* A - B K, held in E */
static bool closed_loop_stable(problem *p) {
  if (!psdmp_linalg_eigenvalues(p->n, p->E, p->re, p->im, p->work)) return false;
  for (int k = 0; k < p->n; k++)
    if (!(p->discrete ? hypot(p->re[k], p->im[k]) < 1 : p->re[k] < 0)) return false;
  return true;
}

psdmp_linalg_riccati psdmp_linalg_riccati_solve(bool discrete, int n, int m, const double *A, const double *B,
                                                const double *Q, const double *R, double *X, double *K,
                                                psdmp_linalg_riccati_info *info, double *scratch) {
  problem p = {.discrete = discrete, .n = n, .m = m, .A = A, .B = B, .Q = Q, .R = R, .X = X, .K = K};
  *info = (psdmp_linalg_riccati_info){.residual = INFINITY};
  lay_out(&p, scratch);
  if (!weigh_inputs(&p)) return PSDMP_LINALG_RICCATI_WEIGHT;
  psdmp_linalg_riccati result = check_reach(&p, info);
  if (result) return result;
  double seen = psdmp_linalg_largest((long)n * n, Q), pushed = psdmp_linalg_largest((long)n * n, p.S);
  double scale = seen > 0 && pushed > 0 ? sqrt(seen / pushed) : 1;
  if (discrete) scale = fmax(scale, seen); /* X is at least Q */
  result = discrete ? discrete_subspace(&p, scale) : continuous_subspace(&p, scale);
  if (!result) result = from_subspace(&p, scale);
  if (result) return result;
  refine(&p, info, p.S);
  if (!isfinite(info->residual)) return PSDMP_LINALG_RICCATI_FAILED;
  return closed_loop_stable(&p) ? PSDMP_LINALG_RICCATI_OK : PSDMP_LINALG_RICCATI_BOUNDARY;
}
