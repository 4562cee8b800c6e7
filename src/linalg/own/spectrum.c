/* spectrum.c: singular values and vectors, eigenvalues and vectors. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cblas.h"
#include "lapacke.h"

enum { SWEEPS = 60 }; /* each squares the remaining angles; eight are usual */

/* (x, y) <- (c x - s y, s x + c y) */
static void rotate(long n, double *x, double *y, long step, double c, double s) {
  for (long i = 0; i < n * step; i += step) {
    double t = c * x[i] - s * y[i];
    y[i] = s * x[i] + c * y[i];
    x[i] = t;
  }
}

/* the angle that makes columns of squared lengths a and b, with the product g, orthogonal */
static void angle(double a, double b, double g, double *c, double *s) {
  double zeta = (b - a) / (2 * g), t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
  *c = 1 / sqrt(1 + t * t);
  *s = *c * t;
}

/* the power of two that scales the largest entry to near one; false: not finite */
static bool exponent(int m, int n, const double *A, long r, long c, int *e) {
  double largest = 0;
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) {
      if (!isfinite(A[i * r + j * c])) return false;
      largest = fmax(largest, fabs(A[i * r + j * c]));
    }
  *e = largest > 0 ? ilogb(largest) : 0;
  return true;
}

static void scale(int m, int n, double *A, long r, long c, int e) {
  for (long i = 0; i < m && e; i++)
    for (long j = 0; j < n; j++) A[i * r + j * c] = scalbn(A[i * r + j * c], e);
}

/* columns p and q, the longer one first, and those of V */
static void exchange(int m, int n, double *A, long r, long c, double *V, long vr, long vc, long p, long q) {
  rotate(m, A + p * c, A + q * c, r, 0, -1);
  if (V) rotate(n, V + p * vc, V + q * vc, vr, 0, -1);
}

/* A V with orthogonal columns, longest first; V (n x n, nullable) accumulates the rotations. False: no convergence */
static bool orthogonalize(int m, int n, double *A, long r, long c, double *V, long vr, long vc) {
  double total = 0, small = 4 * DBL_EPSILON * sqrt(m);
  bool turned = true;
  for (long i = 0; i < m; i++)
    for (long j = 0; j < n; j++) total += A[i * r + j * c] * A[i * r + j * c];
  for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (long p = 0; p < n; p++)
      for (long q = p + 1; q < n; q++) {
        double *x = A + p * c, *y = A + q * c, a = OWN(ddot)(m, x, (int)r, x, (int)r),
               b = OWN(ddot)(m, y, (int)r, y, (int)r), g = OWN(ddot)(m, x, (int)r, y, (int)r), cosine, sine;
        if (b > a) exchange(m, n, A, r, c, V, vr, vc, p, q);
        /* the remainder of a column that depends on the others is rounding */
        if (fabs(g) <= small * sqrt(a * b) || fmin(a, b) <= DBL_EPSILON * DBL_EPSILON * total / 4) continue;
        angle(fmax(a, b), fmin(a, b), b > a ? -g : g, &cosine, &sine);
        rotate(m, x, y, r, cosine, sine);
        if (V) rotate(n, V + p * vc, V + q * vc, vr, cosine, sine);
        turned = true;
      }
  }
  return !turned;
}

/* column k of A as a unit vector orthogonal to those before it, from any axis with a large enough remainder */
static void complete(int m, double *A, long r, long c, int k) {
  double left = 0;
  for (long axis = 0; axis < m && left * left * 2 * m < m - k; axis++) {
    for (long i = 0; i < m; i++) A[i * r + k * c] = i == axis;
    for (int pass = 0; pass < 2; pass++)
      for (long j = 0; j < k; j++)
        OWN(daxpy)(m, -OWN(ddot)(m, A + j * c, (int)r, A + k * c, (int)r), A + j * c, (int)r, A + k * c, (int)r);
    left = OWN(dnrm2)(m, A + k * c, (int)r);
  }
  OWN(dscal)(m, 1 / left, A + k * c, (int)r);
}

int OWN(dgesvd)(int order, char jobu, char jobvt, int m, int n, double *A, int lda, double *s, double *U, int ldu,
                double *VT, int ldvt, double *super) {
  bool rows = order == LAPACK_ROW_MAJOR;
  long r = rows ? lda : 1, c = rows ? 1 : lda, vr = rows ? 1 : ldvt, vc = rows ? ldvt : 1;
  int e, least = m < n ? m : n;
  (void)super;
  if (!exponent(m, n, A, r, c, &e)) return 1;
  scale(m, n, A, r, c, -e);
  if (jobvt == 'N') VT = NULL;
  for (long i = 0; i < n && VT; i++)
    for (long j = 0; j < n; j++) VT[i * vr + j * vc] = i == j;
  if (!orthogonalize(m, n, A, r, c, VT, vr, vc)) return 1;
  for (int k = 0; k < least; k++) { /* rounding may have left them in another order */
    int best = k;
    for (int j = k; j < n; j++)
      if (OWN(dnrm2)(m, A + j * c, (int)r) > OWN(dnrm2)(m, A + best * c, (int)r)) best = j;
    if (best != k) exchange(m, n, A, r, c, VT, vr, vc, k, best);
    s[k] = OWN(dnrm2)(m, A + k * c, (int)r);
    if (jobu != 'N' && s[k] > DBL_EPSILON * s[0]) OWN(dscal)(m, 1 / s[k], A + k * c, (int)r);
    else if (jobu != 'N') complete(m, A, r, c, k);
  }
  for (int k = 0; k < least; k++) {
    s[k] = scalbn(s[k], e);
    for (long i = 0; i < m && jobu == 'S'; i++) U[rows ? i * ldu + k : i + (long)k * ldu] = A[i * r + k * c];
  }
  return 0;
}

int OWN(zgesvd)(int m, int n, double *A, int lda, double *s) {
  bool turned = true;
  double total = 0;
  int e;
  if (!exponent(2 * m, n, A, 1, 2L * lda, &e)) return 1;
  scale(2 * m, n, A, 1, 2L * lda, -e);
  for (long j = 0; j < n; j++) total += OWN(ddot)(2 * m, A + 2 * j * lda, 1, A + 2 * j * lda, 1);
  for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        double *x = A + 2L * p * lda, *y = A + 2L * q * lda, a = OWN(ddot)(2 * m, x, 1, x, 1),
               b = OWN(ddot)(2 * m, y, 1, y, 1), re = 0, im = 0, c, d;
        for (long i = 0; i < 2L * m; i += 2) {
          re += x[i] * y[i] + x[i + 1] * y[i + 1];
          im += x[i] * y[i + 1] - x[i + 1] * y[i];
        }
        double g = hypot(re, im);
        if (g <= 4 * DBL_EPSILON * sqrt(2 * m) * sqrt(a * b) || fmin(a, b) <= DBL_EPSILON * DBL_EPSILON * total / 4)
          continue;
        for (long i = 0; i < 2L * m; i += 2) { /* y's phase, so that the product is real */
          double t = (y[i] * re + y[i + 1] * im) / g;
          y[i + 1] = (y[i + 1] * re - y[i] * im) / g;
          y[i] = t;
        }
        angle(a, b, g, &c, &d);
        rotate(2 * m, x, y, 1, c, d);
        turned = true;
      }
  }
  for (int k = 0; k < n; k++) {
    double length = scalbn(OWN(dnrm2)(2 * m, A + 2L * k * lda, 1), e);
    int at = k;
    for (; at > 0 && s[at - 1] < length; at--) s[at] = s[at - 1];
    s[at] = length;
  }
  return turned;
}

int OWN(dsyev)(int order, char job, char uplo, int n, double *A, int lda, double *w, double *work) {
  bool vectors = job == 'V', flip = (uplo == 'L') == (order == LAPACK_ROW_MAJOR), turned = true;
  double total = 0;
  int e;
  for (long i = 0; i < n; i++) /* both triangles */
    for (long j = 0; j < i; j++)
      if (flip) A[j * lda + i] = A[i * lda + j];
      else A[i * lda + j] = A[j * lda + i];
  if (!exponent(n, n, A, lda, 1, &e)) return 1;
  scale(n, n, A, lda, 1, -e);
  for (long i = 0; i < n; i++) total += OWN(ddot)(n, A + i * lda, 1, A + i * lda, 1);
  for (long i = 0; i < (long)n * n && vectors; i++) work[i] = i % (n + 1) == 0;
  for (int sweep = 0; sweep < SWEEPS && turned; sweep++) {
    turned = false;
    for (long p = 0; p < n; p++)
      for (long q = p + 1; q < n; q++) {
        double g = A[p * lda + q], c, s;
        if (fabs(g) <= DBL_EPSILON / 8 * sqrt(fabs(A[p * (lda + 1)]) * fabs(A[q * (lda + 1)])) ||
            g * g <= DBL_EPSILON * DBL_EPSILON * total / 4096)
          continue;
        angle(A[p * (lda + 1)], A[q * (lda + 1)], g, &c, &s);
        rotate(n, A + p * lda, A + q * lda, 1, c, s);
        rotate(n, A + p, A + q, lda, c, s);
        A[p * lda + q] = A[q * lda + p] = 0;
        if (vectors) rotate(n, work + p * n, work + q * n, 1, c, s); /* a vector a row */
        turned = true;
      }
  }
  for (long k = 0; k < n; k++) { /* ascending */
    double value = scalbn(A[k * (lda + 1)], e);
    long at = k;
    for (; at > 0 && w[at - 1] > value; at--) w[at] = w[at - 1];
    w[at] = value;
    for (long j = k; j > at && vectors; j--) rotate(n, work + (j - 1) * n, work + j * n, 1, 0, -1);
  }
  for (long k = 0; k < n && vectors; k++)
    for (long i = 0; i < n; i++) A[order == LAPACK_ROW_MAJOR ? i * lda + k : k * lda + i] = work[k * n + i];
  return turned;
}

int OWN(dsyev_heap)(int order, char job, char uplo, int n, double *A, int lda, double *w) {
  double *work = malloc(sizeof *work * ((size_t)n * (size_t)n + 1));
  int info = work ? OWN(dsyev)(order, job, uplo, n, A, lda, w, work) : LAPACK_WORK_MEMORY_ERROR;
  free(work);
  return info;
}

/* ---- eigenvalues of any matrix ---- */

/* similar to A, zero below the first subdiagonal, by elimination with pivots */
static void hessenberg(int n, double *A, long lda) {
  for (long m = 1; m < n - 1; m++) {
    long best = m;
    for (long i = m; i < n; i++)
      if (fabs(A[i * lda + m - 1]) > fabs(A[best * lda + m - 1])) best = i;
    if (A[best * lda + m - 1] == 0) continue;
    for (long j = 0; j < n && best != m; j++) {
      double t = A[best * lda + j];
      A[best * lda + j] = A[m * lda + j], A[m * lda + j] = t;
    }
    for (long i = 0; i < n && best != m; i++) {
      double t = A[i * lda + best];
      A[i * lda + best] = A[i * lda + m], A[i * lda + m] = t;
    }
    for (long i = m + 1; i < n; i++) {
      double f = A[i * lda + m - 1] / A[m * lda + m - 1];
      A[i * lda + m - 1] = 0;
      for (long j = m; j < n && f != 0; j++) A[i * lda + j] -= f * A[m * lda + j];
      for (long j = 0; j < n && f != 0; j++) A[j * lda + m] += f * A[j * lda + i];
    }
  }
}

/* the two eigenvalues of a block, the complex pair with im > 0 first */
static void pair(double a, double b, double c, double d, double *re, double *im) {
  double half = (a - d) / 2, inside = half * half + b * c, root = sqrt(fabs(inside));
  re[0] = re[1] = (a + d) / 2;
  im[0] = im[1] = 0;
  if (inside < 0) {
    im[0] = root, im[1] = -root;
    return;
  }
  double far = half + copysign(root, half);
  re[0] = d + far;
  re[1] = far != 0 ? d - b * c / far : d;
}

/* one double step (Francis) on rows l..k of H with the shifts' sum and product */
static void step(double *H, long lda, int l, int k, double sum, double product) {
#define AT(i, j) H[(i)*lda + (j)]
  double x = AT(l, l) * AT(l, l) + AT(l, l + 1) * AT(l + 1, l) - sum * AT(l, l) + product,
         y = AT(l + 1, l) * (AT(l, l) + AT(l + 1, l + 1) - sum), z = k > l + 1 ? AT(l + 1, l) * AT(l + 2, l + 1) : 0;
  for (int m = l; m < k; m++) {
    int wide = m + 2 <= k ? 3 : 2, first = m > l ? m - 1 : l, last = m + 3 < k ? m + 3 : k;
    double size = sqrt(x * x + y * y + (wide > 2 ? z * z : 0));
    if (size > 0) {
      double v[3] = {x + copysign(size, x), y, z}, length = v[0] * v[0] + v[1] * v[1] + (wide > 2 ? z * z : 0);
      for (int j = first; j <= k; j++) {
        double share = 0;
        for (int i = 0; i < wide; i++) share += v[i] * AT(m + i, j);
        for (int i = 0; i < wide; i++) AT(m + i, j) -= 2 / length * share * v[i];
      }
      for (int i = l; i <= last; i++) {
        double share = 0;
        for (int j = 0; j < wide; j++) share += v[j] * AT(i, m + j);
        for (int j = 0; j < wide; j++) AT(i, m + j) -= 2 / length * share * v[j];
      }
    }
    if (m == k - 1) break;
    x = AT(m + 1, m), y = AT(m + 2, m), z = m + 3 <= k ? AT(m + 3, m) : 0;
  }
  for (int i = l + 2; i <= k; i++)
    for (int j = l; j < i - 1; j++) AT(i, j) = 0;
}

int OWN(dgeev)(int n, double *H, int lda, double *re, double *im) {
  int e, k = n - 1, tries = 0;
  if (!exponent(n, n, H, lda, 1, &e)) return 1;
  scale(n, n, H, lda, 1, -e);
  hessenberg(n, H, lda);
  while (k >= 0) {
    int l = k;
    for (; l > 0; l--) {
      double near = fabs(AT(l, l)) + fabs(AT(l - 1, l - 1));
      if (fabs(AT(l, l - 1)) <= DBL_EPSILON * (near > 0 ? near : 1)) break;
    }
    if (l == k) {
      re[k] = AT(k, k), im[k] = 0, k--, tries = 0;
    } else if (l == k - 1) {
      pair(AT(l, l), AT(l, k), AT(k, l), AT(k, k), re + l, im + l);
      k -= 2, tries = 0;
    } else {
      double a = AT(k - 1, k - 1), d = AT(k, k), bc = AT(k - 1, k) * AT(k, k - 1);
      if (++tries > 30 * SWEEPS) return k + 1;
      if (tries % 10 == 0) { /* an exceptional shift breaks a cycle */
        a = d = 0.75 * (fabs(AT(k, k - 1)) + fabs(AT(k - 1, k - 2)));
        bc = -0.4375 / 0.5625 * a * a;
      }
      step(H, lda, l, k, a + d, a * d - bc);
    }
  }
  for (k = 0; k < n; k++) re[k] = scalbn(re[k], e), im[k] = scalbn(im[k], e);
  return 0;
#undef AT
}
