/* expm.c: the matrix exponential by scaling and squaring (Higham 2005). */
#include "linalg/expm.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* Scaling and squaring with the diagonal Pade approximant of order 13: Higham, "The scaling and squaring method for
 * the matrix exponential revisited" (SIAM J. Matrix Anal. Appl. 26, 2005), algorithm 2.3. Beyond this norm A is
 * halved. */
static const double theta13 = 5.371920351148152;

static const double b[14] = {64764752532480000.,
                             32382376266240000.,
                             7771770303897600.,
                             1187353796428800.,
                             129060195264000.,
                             10559470521600.,
                             670442572800.,
                             33522128640.,
                             1323241920.,
                             40840800.,
                             960960.,
                             16380.,
                             182.,
                             1.};

size_t psdmp_linalg_expm_scratch(int n) { return 7 * (size_t)n * (size_t)n + (size_t)n; }

static void multiply(int n, const double *A, const double *B, double *C) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, A, n, B, n, 0, C, n);
}

static double norm1(int n, const double *A) {
  double largest = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(A[(long)j * n + i]);
    if (isnan(sum)) return sum;
    largest = fmax(largest, sum);
  }
  return largest;
}

/* P = c6 A6 + c4 A4 + c2 A2 + c0 */
static void even(int n, const double *A6, const double *A4, const double *A2, double c6, double c4, double c2,
                 double c0, double *P) {
  for (long i = 0; i < (long)n * n; i++) P[i] = c6 * A6[i] + c4 * A4[i] + c2 * A2[i];
  for (int i = 0; i < n; i++) P[(long)i * n + i] += c0;
}

bool psdmp_linalg_expm(int n, const double *A, double *E, double *scratch) {
  long count = (long)n * n;
  double *X = scratch, *A2 = X + count, *A4 = A2 + count, *A6 = A4 + count, *U = A6 + count, *V = U + count,
         *T = V + count, size = norm1(n, A);
  int *pivot = (int *)(T + count), halvings = 0;
  if (!isfinite(size)) return false;
  if (size > theta13) halvings = (int)ceil(log2(size / theta13));
  for (long i = 0; i < count; i++) X[i] = ldexp(A[i], -halvings);
  multiply(n, X, X, A2);
  multiply(n, A2, A2, A4);
  multiply(n, A2, A4, A6);
  /* U = A (A6 (b13 A6 + b11 A4 + b9 A2) + b7 A6 + b5 A4 + b3 A2 + b1), the odd half */
  even(n, A6, A4, A2, b[13], b[11], b[9], 0, E);
  multiply(n, A6, E, T);
  even(n, A6, A4, A2, b[7], b[5], b[3], b[1], E);
  for (long i = 0; i < count; i++) T[i] += E[i];
  multiply(n, X, T, U);
  /* V = A6 (b12 A6 + b10 A4 + b8 A2) + b6 A6 + b4 A4 + b2 A2 + b0, the even half */
  even(n, A6, A4, A2, b[12], b[10], b[8], 0, E);
  multiply(n, A6, E, V);
  even(n, A6, A4, A2, b[6], b[4], b[2], b[0], E);
  for (long i = 0; i < count; i++) V[i] += E[i];
  /* (V - U) exp = V + U */
  for (long i = 0; i < count; i++) E[i] = V[i] + U[i], T[i] = V[i] - U[i];
  if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, T, n, pivot)) return false;
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, n, T, n, pivot, E, n);
  for (; halvings > 0; halvings--) {
    multiply(n, E, E, T);
    memcpy(E, T, sizeof *E * (size_t)count);
  }
  return isfinite(norm1(n, E));
}
