/* dense_reduce.c: which columns of the stacked coefficients are independent, and the others in terms of them, by QR (section 2.2.2). */
#include <math.h>
#include <string.h>

#include "derive/dense.h"
#include "linalg/solve.h"

#define NEW(arena, count, type) ((type *)psdmp_arena_alloc(arena, (size_t)((count) > 0 ? (count) : 1) * sizeof(type)))

/* What is left of a column is rounding below this share of the terms that cancelled: sampled coefficients are good to 1e-13. */
static const double RANK_TOLERANCE = 1e-10;

typedef struct choice {
  int S, rank;
  int *order, *kept;    /* (S) columns in the order of the search, those that were kept */
  double *T;            /* (S x S) column-major: a triangle with the dependences of all rows, made orthonormal where kept */
  double *U;            /* (S x S) column k: the k-th kept column over the orthonormal ones before it */
  double *size;         /* (S) lengths of the kept columns */
  double *beta;         /* (S x S) beta[k][c]: share of the k-th kept column in column c */
  double dropped, smallest;
} choice;

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* takes out of column x what the kept ones span, twice for accuracy; u becomes its components */
static void project(const choice *c, double *x, double *u) {
  memset(u, 0, sizeof *u * (size_t)c->S);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < c->rank; k++) {
      const double *basis = c->T + (long)c->kept[k] * c->S;
      double share = dot(c->S, x, basis);
      u[k] += share;
      for (int i = 0; i < c->S; i++) x[i] -= share * basis[i];
    }
}

/* beta of a column from its components by back substitution; returns the size of the terms: sum of |beta_k| times column k's length */
static double combine(choice *c, const double *u, int column) {
  double terms = 0;
  for (int k = c->rank - 1; k >= 0; k--) {
    double value = u[k];
    for (int e = k + 1; e < c->rank; e++) value -= c->U[(long)e * c->S + k] * c->beta[(long)e * c->S + column];
    value /= c->U[(long)k * c->S + k];
    c->beta[(long)k * c->S + column] = value;
    terms += fabs(value) * c->size[k];
  }
  return terms;
}

static void keep(choice *c, int column, double *x, double left, double size) {
  double *u = c->U + (long)c->rank * c->S;
  for (int k = 0; k < c->rank; k++) c->beta[(long)k * c->S + column] = 0;
  for (int i = 0; i < c->S; i++) x[i] /= left;
  u[c->rank] = left;
  c->size[c->rank] = size;
  c->kept[c->rank++] = column;
}

/* columns one by one, in the order in which parameters are kept */
static void choose(choice *c) {
  double largest = 0;
  for (int k = 0; k < c->S; k++) largest = fmax(largest, sqrt(dot(c->S, c->T + (long)k * c->S, c->T + (long)k * c->S)));
  for (int o = 0; o < c->S; o++) {
    int column = c->order[o];
    double *x = c->T + (long)column * c->S, *u = c->U + (long)c->rank * c->S, size = sqrt(dot(c->S, x, x));
    if (size <= 1e-13 * largest) continue; /* a parameter without any effect */
    project(c, x, u);
    double terms = size + combine(c, u, column), left = sqrt(dot(c->S, x, x));
    if (left > RANK_TOLERANCE * terms) {
      c->smallest = fmin(c->smallest, left / terms);
      keep(c, column, x, left, size);
    } else {
      c->dropped = fmax(c->dropped, left / terms);
    }
  }
}

/* all rows shrunk to one triangle (equation 38) */
static bool set_triangle(const choice *c, const double *psi, long rows, psdmp_arena *arena) {
  long height = rows + c->S, words = psdmp_least_squares_work((int)height, c->S, 1); /* zero rows below, should there be too few */
  double *A = NEW(arena, height * c->S, double), *work = NEW(arena, words, double), *reflectors = NEW(arena, c->S, double);
  if (!A || !work || !reflectors) return false;
  for (long t = 0; t < rows; t++)
    for (int k = 0; k < c->S; k++) A[k * height + t] = psi[t * c->S + k];
  return psdmp_triangle((int)height, c->S, A, c->T, reflectors, work, words);
}

/* the kept parameters' formulas; shares that are rounding go */
static bool write_base(const choice *c, const double *unit, double *theta, psdm_model *m) {
  m->l = c->rank;
  m->base = NEW(&m->arena, m->l, psdmp_base);
  if (!m->base) return false;
  for (int j = 0; j < m->l; j++) {
    int own = m->base[j].parameter = c->kept[j];
    for (int k = 0; k < c->S; k++) {
      double share = c->beta[(long)j * c->S + k];
      theta[k] = fabs(share) * unit[k] / unit[own] < 1e-10 ? 0 : share;
    }
    theta[own] = 1;
    if (!psdmp_store_formula(m, &m->base[j], theta)) return false;
  }
  return true;
}

psdm_status psdmp_dense_reduce(const psdm_robot *r, const double *psi, long rows, const double *unit, psdm_model *m, psdm_derive_info *info,
                               psdm_error *error) {
  psdmp_arena arena = {.allocator = m->arena.allocator};
  int S = m->standard;
  choice c = {.S = S, .smallest = INFINITY};
  c.order = NEW(&arena, S, int);
  c.kept = NEW(&arena, S, int);
  c.T = NEW(&arena, S * S, double);
  c.U = NEW(&arena, S * S, double);
  c.size = NEW(&arena, S, double);
  c.beta = NEW(&arena, S * S, double);
  double *theta = NEW(&arena, S, double);
  bool ok = c.order && c.kept && c.T && c.U && c.size && c.beta && theta && set_triangle(&c, psi, rows, &arena);
  if (ok) {
    psdmp_keep_order(r, c.order);
    choose(&c);
    ok = write_base(&c, unit, theta, m);
  }
  info->rank_dropped = c.dropped;
  info->rank_kept = c.smallest;
  psdmp_arena_free(&arena);
  return ok ? PSDM_OK : psdmp_fail(error, PSDM_E_MEMORY, r->file, 0, 0, "out of memory while deriving");
}
