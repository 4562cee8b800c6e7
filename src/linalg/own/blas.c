/* blas.c: products, triangular systems and vectors. */
#include <math.h>

#include "cblas.h"

void OWN(dgemm)(int order, int ta, int tb, int m, int n, int k, double alpha, const double *A, int lda, const double *B,
                int ldb, double beta, double *C, int ldc) {
  if (order == CblasColMajor) { /* C^T = B^T A^T, by rows */
    OWN(dgemm)(CblasRowMajor, tb, ta, n, m, k, alpha, B, ldb, A, lda, beta, C, ldc);
    return;
  }
  long ai = ta == CblasTrans ? 1 : lda, ap = ta == CblasTrans ? lda : 1, bp = tb == CblasTrans ? 1 : ldb,
       bj = tb == CblasTrans ? ldb : 1;
  for (long i = 0; i < m; i++) {
    double *row = C + i * ldc;
    for (int j = 0; j < n; j++) row[j] = beta == 0 ? 0 : beta * row[j];
    for (long p = 0; p < k; p++) {
      double a = alpha * A[i * ai + p * ap];
      for (long j = 0; j < n; j++) row[j] += a * B[p * bp + j * bj];
    }
  }
}

void OWN(dgemv)(int order, int trans, int m, int n, double alpha, const double *A, int lda, const double *x, int incx,
                double beta, double *y, int incy) {
  OWN(dgemm)
  (order, trans, CblasNoTrans, trans == CblasTrans ? n : m, 1, trans == CblasTrans ? m : n, alpha, A, lda, x, incx,
   beta, y, incy);
}

void OWN(dger)(int order, int m, int n, double alpha, const double *x, int incx, const double *y, int incy, double *A,
               int lda) {
  OWN(dgemm)(order, CblasNoTrans, CblasTrans, m, n, 1, alpha, x, incx, y, incy, 1, A, lda);
}

void OWN(dsyrk)(int order, int uplo, int trans, int n, int k, double alpha, const double *A, int lda, double beta,
                double *C, int ldc) {
  (void)uplo;
  for (int i = 0; i < n; i++)
    OWN(dgemm)(order, trans, CblasNoTrans, 1, i + 1, k, alpha, A + i, lda, A, lda, beta, C + (long)i * ldc, ldc);
}

void OWN(dtrsv)(int order, int uplo, int trans, int diag, int n, const double *A, int lda, double *x, int incx) {
  (void)diag, (void)incx;
  int turned = (order == CblasColMajor) != (trans == CblasTrans), upper = (uplo == CblasUpper) == (trans != CblasTrans);
  long r = turned ? 1 : lda, c = turned ? lda : 1;
  for (long k = 0; k < n; k++) {
    long i = upper ? n - 1 - k : k;
    for (long j = upper ? i + 1 : 0; j < (upper ? n : i); j++) x[i] -= A[i * r + j * c] * x[j];
    x[i] /= A[i * (r + c)];
  }
}

void OWN(dtrsm)(int order, int side, int uplo, int trans, int diag, int m, int n, double alpha, const double *A,
                int lda, double *B, int ldb) {
  (void)side, (void)alpha;
  for (int i = 0; i < m; i++)
    OWN(dtrsv)(order, uplo, trans == CblasTrans ? CblasNoTrans : CblasTrans, diag, n, A, lda, B + (long)i * ldb, 1);
}

double OWN(ddot)(int n, const double *x, int incx, const double *y, int incy) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += x[i * incx] * y[i * incy];
  return sum;
}

double OWN(dnrm2)(int n, const double *x, int incx) {
  double largest = 0, sum = 0;
  for (long i = 0; i < n; i++) {
    if (isnan(x[i * incx])) return x[i * incx];
    largest = fmax(largest, fabs(x[i * incx]));
  }
  if (!(largest > 0 && largest < INFINITY)) return largest;
  int e = ilogb(largest);
  for (long i = 0; i < n; i++) sum += scalbn(x[i * incx], -e) * scalbn(x[i * incx], -e);
  return scalbn(sqrt(sum), e);
}

void OWN(daxpy)(int n, double alpha, const double *x, int incx, double *y, int incy) {
  for (long i = 0; i < n; i++) y[i * incy] += alpha * x[i * incx];
}

void OWN(dscal)(int n, double alpha, double *x, int incx) {
  for (long i = 0; i < n; i++) x[i * incx] *= alpha;
}

void OWN(dcopy)(int n, const double *x, int incx, double *y, int incy) {
  for (long i = 0; i < n; i++) y[i * incy] = x[i * incx];
}
