/* base_choose.c: base parameters among the columns of a matrix, link by link as in the recursion over bodies.
 *
 * The remainder of a link's own columns after projecting out those of lower links has the row space that
 * base_recursion.c calls T: so samples, dense systems and the recursion make the same choice. */
#include <math.h>
#include <string.h>

#include "derive/collect_priv.h"
#include "linalg/linalg.h"

enum { WIDE = PSDMP_ROBOT_STANDARD + 1 };

typedef struct chooser {
  const psdmp_derive_link_columns *of;
  double *E; /* (rows x columns) remainder of every column */
  double *Q; /* (rows x columns) orthonormal, one per kept column */
  double *U; /* (columns x columns) column k: the k-th kept column over Q */
  psdmp_derive_link_choice *out;
} chooser;

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* subtracts from x its part in Q, twice */
static void project(const chooser *c, double *x) {
  int rows = c->of->rows;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < c->out->rank; k++) {
      const double *q = c->Q + (long)k * rows;
      double part = dot(rows, x, q);
      for (int i = 0; i < rows; i++) x[i] -= part * q[i];
    }
}

/* a root of the Gram matrix of the columns given, by orthogonalisation with pivots; returns its rows */
static int shrink(const chooser *c, int width, const int *column, double *R) {
  int rows = c->of->rows, found = 0;
  bool done[WIDE] = {false};
  memset(R, 0, sizeof *R * (size_t)width * (size_t)width);
  /* on a copy in the free part of Q */
  double *copy = c->Q + (long)c->out->rank * rows;
  for (int k = 0; k < width; k++)
    memcpy(copy + (long)k * rows, c->E + (long)column[k] * rows, sizeof *copy * (size_t)rows);
  for (; found < width; found++) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < width; k++) {
      double size = done[k] ? 0 : dot(rows, copy + (long)k * rows, copy + (long)k * rows);
      if (size > most) most = size, best = k;
    }
    if (best < 0) break;
    done[best] = true;
    double *x = copy + (long)best * rows, size = sqrt(most);
    for (int i = 0; i < rows; i++) x[i] /= size;
    R[found * width + best] = size;
    for (int k = 0; k < width; k++) {
      if (done[k]) continue;
      double *y = copy + (long)k * rows, part = dot(rows, x, y);
      for (int i = 0; i < rows; i++) y[i] -= part * x[i];
      R[found * width + k] = part;
    }
  }
  return found;
}

/* one link: its rank, the kept columns, their directions */
static void choose_link(chooser *c, int width, const int *column) {
  double R[WIDE * WIDE], T[WIDE * WIDE], beta[WIDE * WIDE], scratch[WIDE * (2 * WIDE + 1)], kept, dropped;
  int order[WIDE], keep[WIDE], rows = c->of->rows;
  for (int k = 0; k < width; k++) {
    order[k] = k;
    project(c, c->E + (long)column[k] * rows);
  }
  int found = shrink(c, width, column, R),
      rank = psdmp_linalg_row_space(found, width, R, c->of->tolerance, T, &kept, &dropped);
  c->out->smallest = fmin(c->out->smallest, kept);
  c->out->dropped = fmax(c->out->dropped, dropped);
  psdmp_linalg_pick_columns(rank, width, T, width, order, PSDMP_DERIVE_MOST_SHARE, keep, beta, scratch);
  for (int k = 0; k < rank; k++) {
    double *x = c->Q + (long)c->out->rank * rows;
    memcpy(x, c->E + (long)column[keep[k]] * rows, sizeof *x * (size_t)rows);
    /* the remainder may be tiny: subtracting the rest of the others helps only once its length is 1 */
    for (int pass = 0; pass < 2; pass++) {
      project(c, x);
      double left = sqrt(dot(rows, x, x));
      for (int i = 0; i < rows; i++) x[i] /= left;
    }
    c->out->kept[c->out->rank++] = column[keep[k]];
  }
}

/* U beta = shares for every column that is not kept; a share at rounding level becomes zero here, so that the later
 * ones compensate for it */
static void set_beta(chooser *c) {
  int rows = c->of->rows, columns = c->of->columns, rank = c->out->rank;
  double size = 0;
  for (long i = 0; i < (long)rows * columns; i++) size = fmax(size, fabs(c->of->A[i]));
  double *u = c->E; /* E is no longer needed */
  for (int k = 0; k < rank; k++) {
    const double *x = c->of->A + (long)c->out->kept[k] * rows;
    for (int i = 0; i <= k; i++) c->U[(long)k * columns + i] = dot(rows, x, c->Q + (long)i * rows);
  }
  memset(c->out->beta, 0, sizeof *c->out->beta * (size_t)rank * (size_t)columns);
  for (int col = 0; col < columns; col++) {
    bool kept = false;
    for (int k = 0; k < rank; k++) kept |= c->out->kept[k] == col;
    for (int k = rank - 1; k >= 0 && !kept; k--) {
      double value = dot(rows, c->of->A + (long)col * rows, c->Q + (long)k * rows);
      for (int e = k + 1; e < rank; e++) value -= c->U[(long)e * columns + k] * u[e];
      u[k] = fabs(value) > 3e-14 * size ? value / c->U[(long)k * columns + k] : 0;
      c->out->beta[(long)k * columns + col] = u[k];
    }
  }
}

static int link_of(const psdm_robot *r, int parameter) {
  if (parameter < PSDMP_ROBOT_STANDARD * r->bodies) return parameter / PSDMP_ROBOT_STANDARD;
  return r->joint[r->drive[parameter - PSDMP_ROBOT_STANDARD * r->bodies].index].link;
}

bool psdmp_derive_choose_by_link(const psdm_robot *r, const psdmp_derive_link_columns *of, psdmp_base_arena *arena,
                                 psdmp_derive_link_choice *out) {
  int columns = of->columns, rows = of->rows;
  chooser c = {.of = of, .out = out};
  *out = (psdmp_derive_link_choice){.smallest = INFINITY,
                                    .kept = PSDMP_BASE_NEW(arena, columns, int),
                                    .beta = PSDMP_BASE_NEW(arena, (long)columns * columns, double)};
  c.E = PSDMP_BASE_NEW(arena, (long)rows * (columns + WIDE), double);
  c.Q = PSDMP_BASE_NEW(arena, (long)rows * (columns + WIDE), double);
  c.U = PSDMP_BASE_NEW(arena, (long)columns * columns, double);
  if (!out->kept || !out->beta || !c.E || !c.Q || !c.U) return false;
  memcpy(c.E, of->A, sizeof *c.E * (size_t)rows * (size_t)columns);
  for (int at = 0; at < columns;) {
    int width = 0, column[WIDE], link = link_of(r, of->parameter[at]);
    for (; at < columns && link_of(r, of->parameter[at]) == link; at++) column[width++] = at;
    choose_link(&c, width, column);
  }
  set_beta(&c);
  return true;
}
