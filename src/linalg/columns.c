/* columns.c: which columns are independent of those before them, by Gram-Schmidt twice, and the others as combinations
 * of those. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* orthonormalises the kept columns in place; R is their triangle, one column of it per kept column */
void psdmp_linalg_columns_choose(int rows, int columns, double *A, const int *order, double tolerance, double *R,
                                 psdmp_linalg_columns *out) {
  double largest = 0;
  for (int c = 0; c < columns; c++) largest = fmax(largest, dot(rows, A + (long)c * rows, A + (long)c * rows));
  largest = sqrt(largest);
  out->rank = 0;
  out->dropped = 0;
  out->smallest = INFINITY;
  memset(out->beta, 0, sizeof *out->beta * (size_t)columns * (size_t)columns);
  for (int o = 0; o < columns; o++) {
    int c = order ? order[o] : o, rank = out->rank;
    double *x = A + (long)c * rows, *r = R + (long)rank * columns, size = sqrt(dot(rows, x, x));
    if (size <= 1e-13 * largest) size = 0; /* a column of rounding errors counts as zero */
    memset(r, 0, sizeof *r * (size_t)columns);
    for (int pass = 0; pass < 2 && size > 0; pass++)
      for (int k = 0; k < rank; k++) {
        const double *basis = A + (long)out->kept[k] * rows;
        double share = dot(rows, x, basis);
        r[k] += share;
        for (int i = 0; i < rows; i++) x[i] -= share * basis[i];
      }
    double left = size > 0 ? sqrt(dot(rows, x, x)) : 0;
    if (size > 0 && left > tolerance * size) {
      out->smallest = fmin(out->smallest, left / size);
      r[rank] = left;
      for (int i = 0; i < rows; i++) x[i] /= left;
      out->kept[out->rank++] = c;
      continue;
    }
    if (size > 0) out->dropped = fmax(out->dropped, left / size);
    /* back substitution on the kept columns' triangle */
    for (int k = rank - 1; k >= 0; k--) {
      double value = r[k];
      for (int e = k + 1; e < rank; e++) value -= R[(long)e * columns + k] * out->beta[(long)e * columns + c];
      out->beta[(long)k * columns + c] = value / R[(long)k * columns + k];
    }
  }
}
