/* solve.c: QR by Householder reflections, LU with row pivoting, triangles. Golub and Van Loan, "Matrix Computations",
 * chapters 3 to 5. Matrices are column-major. */
#include <math.h>

#include "cblas.h"

/* the reflection that maps (head, v) to head alone; v becomes its vector, whose head is 1. Returns tau. */
static double reflect(int n, double *head, double *v) {
  double rest = OWN(dnrm2)(n, v, 1), alpha = *head, lift = fmax(fabs(alpha), rest) < 1e-290 ? 0x1p600 : 1;
  if (!(rest > 0)) return 0;
  alpha *= lift; /* denormal numbers, or whose inverse is infinite */
  OWN(dscal)(n, lift, v, 1);
  double length = -copysign(hypot(alpha, lift * rest), alpha);
  OWN(dscal)(n, 1 / (alpha - length), v, 1);
  *head = length / lift;
  return (length - alpha) / length;
}

static void apply(int n, double tau, const double *v, double *head, double *x) {
  double share = tau * (*head + OWN(ddot)(n, v, 1, x, 1));
  *head -= share;
  OWN(daxpy)(n, -share, v, 1, x, 1);
}

static void swap(long n, double *a, long da, double *b, long db) {
  for (long i = 0; i < n && a != b; i++) {
    double t = a[i * da];
    a[i * da] = b[i * db];
    b[i * db] = t;
  }
}

int OWN(dgeqp3)(int order, int m, int n, double *A, int lda, int *pivot, double *tau, double *work, int words) {
  (void)order;
  work[0] = 1;
  for (int j = 0; j < n && pivot && words != -1; j++) pivot[j] = j + 1;
  for (int k = 0; k < m && k < n && words != -1; k++) {
    double *column = A + (long)k * lda, longest = -1;
    int best = k;
    for (int j = k; j < n && pivot; j++) {
      double length = OWN(dnrm2)(m - k, A + (long)j * lda + k, 1);
      if (length > longest) longest = length, best = j;
    }
    if (best != k) {
      int name = pivot[k];
      pivot[k] = pivot[best], pivot[best] = name;
      swap(m, column, 1, A + (long)best * lda, 1);
    }
    tau[k] = reflect(m - k - 1, column + k, column + k + 1);
    for (long j = k + 1; j < n; j++) apply(m - k - 1, tau[k], column + k + 1, A + j * lda + k, A + j * lda + k + 1);
  }
  return 0;
}

int OWN(dgeqrf)(int order, int m, int n, double *A, int lda, double *tau, double *work, int words) {
  return OWN(dgeqp3)(order, m, n, A, lda, 0, tau, work, words);
}

int OWN(dormqr)(int order, char side, char trans, int m, int n, int k, const double *A, int lda, const double *tau,
                double *C, int ldc, double *work, int words) {
  (void)order, (void)side, (void)trans, (void)work, (void)words;
  for (int i = 0; i < k; i++)
    for (long j = 0; j < n; j++)
      apply(m - i - 1, tau[i], A + (long)i * lda + i + 1, C + j * ldc + i, C + j * ldc + i + 1);
  return 0;
}

int OWN(dgels)(int order, char trans, int m, int n, int sides, double *A, int lda, double *B, int ldb, double *work,
               int words) {
  if (words == -1) return work[0] = n + 1, 0;
  double query;
  OWN(dgeqrf)(order, m, n, A, lda, work, &query, 0);
  OWN(dormqr)(order, 'L', trans, m, sides, n, A, lda, work, B, ldb, &query, 0);
  return OWN(dtrtrs)(order, 'U', 'N', 'N', n, sides, A, lda, B, ldb);
}

int OWN(dtpqrt)(int order, int m, int n, int l, int panel, double *A, int lda, double *B, int ldb, double *T, int ldt,
                double *work) {
  (void)order, (void)l, (void)panel, (void)T, (void)ldt, (void)work;
  for (long k = 0; k < n; k++) {
    double tau = reflect(m, A + k * lda + k, B + k * ldb);
    for (long j = k + 1; j < n; j++) apply(m, tau, B + k * ldb, A + j * lda + k, B + j * ldb);
  }
  return 0;
}

/* LU of a band: entry (i, j) is A[i di + j dj], zero below row j + kl and, before the pivots, right of column i + ku */
static int eliminate(int n, int kl, int ku, double *A, long di, long dj, int *pivot) {
  int info = 0, right = 0;
  for (int k = 0; k < n; k++) {
    int last = kl < n - 1 - k ? k + kl : n - 1, best = k;
    double *Ak = A + k * di;
    for (int i = k + 1; i <= last; i++)
      if (fabs(A[i * di + k * dj]) > fabs(A[best * di + k * dj])) best = i;
    pivot[k] = best + 1;
    right = fmax(right, fmin(n - 1, (double)best + ku));
    if (A[best * di + k * dj] == 0) info = info ? info : k + 1;
    else {
      swap(right - k + 1, Ak + k * dj, dj, A + best * di + k * dj, dj);
      for (int i = k + 1; i <= last; i++) A[i * di + k * dj] /= Ak[k * dj];
      for (int j = k + 1; j <= right; j++)
        for (int i = k + 1; i <= last; i++) A[i * di + j * dj] -= A[i * di + k * dj] * Ak[j * dj];
    }
  }
  return info;
}

/* B <- A^-1 B from its factors; A has `up` diagonals above the main one */
static void back(int n, int kl, int up, const double *A, long di, long dj, const int *pivot, double *b) {
  for (int k = 0; k < n; k++) {
    swap(1, b + k, 1, b + pivot[k] - 1, 1);
    for (int i = k + 1; i < n && i <= k + kl; i++) b[i] -= A[i * di + k * dj] * b[k];
  }
  for (int k = n - 1; k >= 0; k--) {
    b[k] /= A[k * (di + dj)];
    for (int i = k - up < 0 ? 0 : k - up; i < k; i++) b[i] -= A[i * di + k * dj] * b[k];
  }
}

int OWN(dgetrf)(int order, int m, int n, double *A, int lda, int *pivot) {
  (void)order, (void)m;
  return eliminate(n, n, n, A, 1, lda, pivot);
}

int OWN(dgetrs)(int order, char trans, int n, int sides, const double *A, int lda, const int *pivot, double *B,
                int ldb) {
  (void)order, (void)trans;
  for (long j = 0; j < sides; j++) back(n, n, n, A, 1, lda, pivot, B + j * ldb);
  return 0;
}

int OWN(dgesv)(int order, int n, int sides, double *A, int lda, int *pivot, double *B, int ldb) {
  int info = OWN(dgetrf)(order, n, n, A, lda, pivot);
  return info ? info : OWN(dgetrs)(order, 'N', n, sides, A, lda, pivot, B, ldb);
}

/* entry (i, j) of the band is A[kl + ku + i - j + j lda]; kl rows above it hold fill-in of the pivots */
int OWN(dgbsv)(int order, int n, int kl, int ku, int sides, double *A, int lda, int *pivot, double *B, int ldb) {
  (void)order;
  double *entry = A + kl + ku;
  for (long j = 0; j < n; j++)
    for (int i = 0; i < kl; i++) A[j * lda + i] = 0;
  int info = eliminate(n, kl, ku, entry, 1, lda - 1, pivot);
  for (long j = 0; j < sides && !info; j++) back(n, kl, kl + ku, entry, 1, lda - 1, pivot, B + j * ldb);
  return info;
}

/* the first zero of a diagonal, counted from 1; 0: none */
static int first_zero(int n, const double *A, int lda) {
  for (long k = 0; k < n; k++)
    if (A[k * lda + k] == 0) return (int)k + 1;
  return 0;
}

int OWN(dtrtri)(int order, char uplo, char diag, int n, double *A, int lda) {
  (void)order, (void)diag;
  long r = uplo == 'U' ? 1 : lda, c = uplo == 'U' ? lda : 1; /* the lower one is the upper one of the transpose */
  int info = first_zero(n, A, lda);
  for (long j = 0; j < n && !info; j++) {
    A[j * (r + c)] = 1 / A[j * (r + c)];
    for (long i = 0; i < j; i++) {
      double sum = 0;
      for (long k = i; k < j; k++) sum += A[i * r + k * c] * A[k * r + j * c];
      A[i * r + j * c] = -sum * A[j * (r + c)];
    }
  }
  return info;
}

int OWN(dtrtrs)(int order, char uplo, char trans, char diag, int n, int sides, const double *A, int lda, double *B,
                int ldb) {
  (void)uplo, (void)trans, (void)diag;
  int info = first_zero(n, A, lda);
  for (long j = 0; j < sides && !info; j++)
    OWN(dtrsv)(order, CblasUpper, CblasNoTrans, CblasNonUnit, n, A, lda, B + j * ldb, 1);
  return info;
}
