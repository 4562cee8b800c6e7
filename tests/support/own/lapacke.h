/* lapacke.h: what the tests ask LAPACK for, in a build without it: factors, inverses and least squares from
 * src/linalg/own. */
#ifndef SUPPORT_OWN_LAPACKE_H
#define SUPPORT_OWN_LAPACKE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/own/lapacke.h"

/* U^T U = A by columns, from the upper triangle; uplo 'L' by rows reads and writes the same numbers */
static inline int LAPACKE_dpotrf(int order, char uplo, int n, double *A, int lda) {
  if ((uplo == 'U') != (order == LAPACK_COL_MAJOR)) abort();
  for (long j = 0; j < n; j++)
    for (long i = 0; i <= j; i++) {
      double sum = A[i + j * lda];
      for (long k = 0; k < i; k++) sum -= A[k + i * lda] * A[k + j * lda];
      if (i == j && !(sum > 0)) return (int)j + 1;
      A[i + j * lda] = i == j ? sqrt(sum) : sum / A[i + i * lda];
    }
  return 0;
}

static inline int LAPACKE_dpotrs(int order, char uplo, int n, int sides, const double *A, int lda, double *B, int ldb) {
  (void)order, (void)uplo;
  for (long j = 0; j < sides; j++) {
    OWN(dtrsv)(LAPACK_COL_MAJOR, 121, 112, 131, n, A, lda, B + j * ldb, 1);
    OWN(dtrsv)(LAPACK_COL_MAJOR, 121, 111, 131, n, A, lda, B + j * ldb, 1);
  }
  return 0;
}

static inline int LAPACKE_dpotri(int order, char uplo, int n, double *A, int lda) {
  int info = OWN(dtrtri)(order, uplo, 'N', n, A, lda);
  for (long i = 0; i < n && !info; i++)
    for (long j = i; j < n; j++) {
      double sum = 0;
      for (long k = j; k < n; k++) sum += A[i + k * lda] * A[j + k * lda];
      A[i + j * lda] = sum;
    }
  return info;
}

static inline int LAPACKE_dgeqrf(int order, int m, int n, double *A, int lda, double *tau) {
  double work;
  return OWN(dgeqrf)(order, m, n, A, lda, tau, &work, 0);
}

/* x in the first rows of B; by rows one side, turned */
static inline int LAPACKE_dgels(int order, char trans, int m, int n, int sides, double *A, int lda, double *B,
                                int ldb) {
  double *work = malloc(((size_t)m * (size_t)n + (size_t)n + 1) * sizeof *work), *by = work + n + 1;
  for (long i = 0; i < m && order == LAPACK_ROW_MAJOR; i++)
    for (long j = 0; j < n; j++) by[i + j * m] = A[i * lda + j];
  int info = order == LAPACK_ROW_MAJOR ? OWN(dgels)(LAPACK_COL_MAJOR, trans, m, n, sides, by, m, B, m, work, n + 1)
                                       : OWN(dgels)(order, trans, m, n, sides, A, lda, B, ldb, work, n + 1);
  free(work);
  return info;
}

/* the shortest of the least squares, by singular values */
static inline int LAPACKE_dgelsd(int order, int m, int n, int sides, double *A, int lda, double *B, int ldb, double *s,
                                 double share, int *rank) {
  double *VT = malloc(sizeof *VT * ((size_t)n * (size_t)n + (size_t)n)), *x = VT + (long)n * n;
  int info = OWN(dgesvd)(order, 'O', 'S', m, n, A, lda, s, NULL, 1, VT, n, NULL);
  for (*rank = 0; *rank < n && s[*rank] > share * s[0];) ++*rank;
  for (long c = 0; c < sides; c++) {
    memset(x, 0, sizeof *x * (size_t)n);
    for (long k = 0; k < *rank; k++)
      OWN(daxpy)(n, OWN(ddot)(m, A + k * lda, 1, B + c * ldb, 1) / s[k], VT + k, n, x, 1);
    memcpy(B + c * ldb, x, sizeof *x * (size_t)n);
  }
  free(VT);
  return info;
}

#endif
