/* small.c: small matrices by plain loops: Cholesky factor, inverse, eigenvalues of a symmetric 3 x 3 (cyclic
 * Jacobi). */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

bool psdmp_linalg_cholesky(int n, double *A) {
  for (int j = 0; j < n; j++) {
    double *Aj = A + (long)j * n, d = Aj[j];
    for (int k = 0; k < j; k++) d -= Aj[k] * Aj[k];
    if (!(d > 0)) return false; /* also when d is NAN */
    Aj[j] = sqrt(d);
    for (int i = j + 1; i < n; i++) {
      double *Ai = A + (long)i * n, sum = Ai[j];
      for (int k = 0; k < j; k++) sum -= Ai[k] * Aj[k];
      Ai[j] = sum / Aj[j];
    }
  }
  return true;
}

void psdmp_linalg_cholesky_solve(int n, const double *L, double *x) {
  for (int i = 0; i < n; i++) {
    const double *Li = L + (long)i * n;
    for (int k = 0; k < i; k++) x[i] -= Li[k] * x[k];
    x[i] /= Li[i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= L[(long)k * n + i] * x[k];
    x[i] /= L[(long)i * n + i];
  }
}

void psdmp_linalg_cholesky_inverse(int n, const double *L, double *column, double *inverse) {
  for (int j = 0; j < n; j++) {
    memset(column, 0, sizeof *column * (size_t)n);
    column[j] = 1;
    psdmp_linalg_cholesky_solve(n, L, column);
    for (int i = 0; i <= j; i++) inverse[(long)i * n + j] = inverse[(long)j * n + i] = column[i];
  }
}

static void swap_rows(int n, double *a, double *b) {
  for (int j = 0; j < n; j++) {
    double t = a[j];
    a[j] = b[j];
    b[j] = t;
  }
}

/* a -= factor b */
static void subtract_row(int n, double *a, const double *b, double factor) {
  for (int j = 0; j < n; j++) a[j] -= factor * b[j];
}

bool psdmp_linalg_invert(int n, double *A, double *inverse, double share) {
  double largest = 0;
  for (long i = 0; i < (long)n * n; i++) largest = fmax(largest, fabs(A[i]));
  memset(inverse, 0, sizeof *inverse * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++) inverse[(long)i * n + i] = 1;
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[(long)i * n + k]) > fabs(A[(long)pivot * n + k])) pivot = i;
    double *Ak = A + (long)k * n, *Bk = inverse + (long)k * n;
    swap_rows(n, Ak, A + (long)pivot * n);
    swap_rows(n, Bk, inverse + (long)pivot * n);
    if (!(fabs(Ak[k]) > share * largest)) return false;
    double scale = 1 / Ak[k];
    for (int j = 0; j < n; j++) Ak[j] *= scale, Bk[j] *= scale;
    for (int i = 0; i < n; i++) {
      double factor = A[(long)i * n + k];
      if (i == k || factor == 0) continue;
      subtract_row(n, A + (long)i * n, Ak, factor);
      subtract_row(n, inverse + (long)i * n, Bk, factor);
    }
  }
  return true;
}

void psdmp_linalg_eigenvalues3(const double a[6], double out[3]) {
  double A[3][3] = {{a[0], a[1], a[2]}, {a[1], a[3], a[4]}, {a[2], a[4], a[5]}};
  static const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  /* quadratic convergence: five sweeps reach machine precision, the rest is safety */
  for (int sweep = 0; sweep < 12; sweep++)
    for (int k = 0; k < 3; k++) {
      int p = pairs[k][0], q = pairs[k][1], r = 3 - p - q;
      if (A[p][q] == 0) continue;
      double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
      double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
      double c = 1 / sqrt(t * t + 1), s = t * c, apq = A[p][q], arp = A[r][p], arq = A[r][q];
      A[p][p] -= t * apq;
      A[q][q] += t * apq;
      A[p][q] = A[q][p] = 0;
      A[r][p] = A[p][r] = c * arp - s * arq;
      A[r][q] = A[q][r] = s * arp + c * arq;
    }
  for (int i = 0; i < 3; i++) out[i] = A[i][i];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (out[j] > out[j + 1]) {
        double t = out[j];
        out[j] = out[j + 1];
        out[j + 1] = t;
      }
}
