/* rank.c: which directions a set of rows has, and columns that represent all of them with bounded shares (the idea of
 * Gu and Eisenstat 1996). */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

/* a column with less than this remainder of a unit row is not taken, however preferred */
static const double CLEAR = 1e-3;

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* x without its parts along count orthonormal rows (twice); their sizes are added to share unless it is NULL */
static void project(int n, int count, const double *basis, double *x, double *share) {
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < count; k++) {
      double part = dot(n, x, basis + (long)k * n);
      for (int i = 0; i < n; i++) x[i] -= part * basis[(long)k * n + i];
      if (share) share[k] += part;
    }
}

int psdmp_linalg_row_space(int rows, int columns, double *A, double tolerance, double *T, double *kept,
                           double *dropped) {
  int rank = 0;
  *dropped = 0;
  *kept = INFINITY;
  while (rank < columns && rank < rows) {
    int best = 0;
    double largest = -1;
    for (int i = 0; i < rows; i++) {
      double size = dot(columns, A + (long)i * columns, A + (long)i * columns);
      if (size > largest) largest = size, best = i;
    }
    double *row = T + (long)rank * columns, left = sqrt(largest);
    if (!(left > tolerance)) {
      *dropped = left;
      break;
    }
    *kept = fmin(*kept, left);
    for (int i = 0; i < columns; i++) row[i] = A[(long)best * columns + i] / left;
    project(columns, rank, T, row, NULL); /* rows this small are no longer orthogonal */
    left = sqrt(dot(columns, row, row));
    for (int i = 0; i < columns; i++) row[i] /= left;
    rank++;
    for (int i = 0; i < rows; i++) {
      double *x = A + (long)i * columns, part = dot(columns, x, row);
      if (i == best) part = 0, memset(x, 0, sizeof *x * (size_t)columns);
      for (int k = 0; part != 0 && k < columns; k++) x[k] -= part * row[k];
    }
  }
  return rank;
}

/* ---- columns ---- */

typedef struct picker {
  int rank, columns, count;
  const double *T;
  const int *order;
  int *kept, found;
  /* (rank x rank) orthonormal images of the kept columns by row, their triangle by column, and one column */
  double *Q, *U, *x;
  double *beta;
} picker;

static bool is_kept(const picker *p, int column) {
  for (int k = 0; k < p->found; k++)
    if (p->kept[k] == column) return true;
  return false;
}

/* column in p->x, its remainder there, its shares in share */
static double remainder_of(picker *p, int column, double *share) {
  for (int i = 0; i < p->rank; i++) p->x[i] = p->T[(long)i * p->columns + column];
  memset(share, 0, sizeof *share * (size_t)p->rank);
  project(p->rank, p->found, p->Q, p->x, share);
  return sqrt(dot(p->rank, p->x, p->x));
}

/* the remainder in p->x becomes the next direction; its shares go to column `found` of U */
static void take(picker *p, int column, double left) {
  p->U[(long)p->found * p->rank + p->found] = left;
  for (int i = 0; i < p->rank; i++) p->Q[(long)p->found * p->rank + i] = p->x[i] / left;
  p->kept[p->found++] = column;
}

static void consider(picker *p, int column, double least) {
  double left = remainder_of(p, column, p->U + (long)p->found * p->rank);
  if (left > least) take(p, column, left);
}

/* the column with the largest remainder */
static bool take_best(picker *p) {
  int best = -1;
  double most = 0;
  for (int o = 0; o < p->count; o++) {
    double left = is_kept(p, p->order[o]) ? 0 : remainder_of(p, p->order[o], p->U + (long)p->found * p->rank);
    if (left > most) most = left, best = p->order[o];
  }
  if (best >= 0) consider(p, best, 0);
  return best >= 0;
}

/* the kept columns in the order of preference, and their triangle again */
static void sort(picker *p) {
  int left = p->found;
  p->found = 0;
  for (int o = 0, at = 0; o < p->count && at < left; o++)
    for (int k = at; k < left; k++) {
      if (p->kept[k] != p->order[o]) continue;
      int swap = p->kept[at];
      p->kept[at] = p->kept[k];
      p->kept[k] = swap;
      at++;
    }
  for (int k = 0; k < left; k++) consider(p, p->kept[k], 0);
}

/* beta of every column that is not kept: U beta = its shares. Returns the largest one and its place. */
static double shares(picker *p, int *row, int *column) {
  double largest = 0;
  memset(p->beta, 0, sizeof *p->beta * (size_t)p->rank * (size_t)p->columns);
  for (int o = 0; o < p->count; o++) {
    int c = p->order[o];
    if (is_kept(p, c)) continue;
    for (int i = 0; i < p->rank; i++) p->x[i] = p->T[(long)i * p->columns + c];
    for (int k = p->found - 1; k >= 0; k--) {
      double value = dot(p->rank, p->Q + (long)k * p->rank, p->x);
      for (int e = k + 1; e < p->found; e++) value -= p->U[(long)e * p->rank + k] * p->beta[(long)e * p->columns + c];
      p->beta[(long)k * p->columns + c] = value /= p->U[(long)k * p->rank + k];
      if (fabs(value) > largest) largest = fabs(value), *row = k, *column = c;
    }
  }
  return largest;
}

double psdmp_linalg_pick_columns(int rank, int columns, const double *T, int count, const int *order, double most,
                                 int *kept, double *beta, double *scratch) {
  picker p = {.rank = rank, .columns = columns, .count = count, .T = T, .order = order, .kept = kept, .beta = beta};
  p.Q = scratch;
  p.U = p.Q + (long)rank * rank;
  p.x = p.U + (long)rank * rank;
  for (int o = 0; o < count && p.found < rank; o++) consider(&p, order[o], CLEAR);
  while (p.found < rank && take_best(&p)) {
  }
  /* every exchange multiplies the determinant of the kept columns by the share, so that exchanges end */
  int row = 0, column = 0;
  for (int turn = 0; turn < 8 * columns; turn++) {
    sort(&p);
    double largest = shares(&p, &row, &column);
    if (!(largest > most)) return largest;
    kept[row] = column;
  }
  return INFINITY;
}
