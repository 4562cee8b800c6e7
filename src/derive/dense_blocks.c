/* dense_blocks.c: a large system of sampled functions in two blocks. If a class may contain every product of the
 * joints' monomials, and the states are every combination of the joints' positions, then the matrix of the system is a
 * Kronecker product, Y = Y_slow x Y_fast: two systems of the size of its root. */
#include <math.h>
#include <string.h>

#include "derive/dense_priv.h"
#include "linalg/linalg.h"

/* joints by the weight of their digits, so that states and codes have the same order; false: not every product */
bool psdmp_derive_blocks_set(const psdmp_derive_space *space, long count, const uint64_t *code, uint64_t seed,
                             psdmp_derive_blocks *b) {
  int n = space->m->n;
  long size = 1;
  *b = (psdmp_derive_blocks){.n = n, .size = {1, 1}};
  for (int j = 0; j < n; j++) {
    int at = j;
    for (; at > 0 && space->m->weight[b->joint[at - 1]] > space->m->weight[j]; at--) b->joint[at] = b->joint[at - 1];
    b->joint[at] = j;
  }
  for (int k = 0; k < n; k++) {
    int most = 0;
    for (long f = 0; f < count; f++) {
      int digit = psdmp_derive_space_digit(space, code[f], b->joint[k]);
      if (digit > most) most = digit;
    }
    b->digits[k] = most + 1;
    size *= most + 1;
    b->turn[k] = psdmp_base_random(&seed, -1, 1);
  }
  for (int k = 0; k < n; k++) {
    int block = b->size[0] * b->size[0] < size ? 0 : 1;
    b->fast += block == 0;
    b->size[block] *= b->digits[k];
  }
  return size == count;
}

/* position number i of the joint in place k: evenly spaced angles from a random one on; for a sliding joint the zeros
 * of a Chebyshev polynomial, shrunk at random */
static double node(const psdmp_derive_space *space, const psdmp_derive_blocks *b, int k, int i, double reach) {
  const double pi = 3.14159265358979323846;
  if (space->m->prismatic[b->joint[k]]) return reach * (0.75 + 0.25 * b->turn[k]) * cos(pi * (i + 0.5) / b->digits[k]);
  return pi * (b->turn[k] + 2.0 * i / b->digits[k]);
}

void psdmp_derive_blocks_positions(const psdmp_derive_space *space, const psdmp_derive_blocks *b, double reach,
                                   double *q) {
  for (long t = 0, count = b->size[0] * b->size[1]; t < count; t++) {
    long rest = t;
    for (int k = 0; k < b->n; rest /= b->digits[k++])
      q[t * b->n + b->joint[k]] = node(space, b, k, (int)(rest % b->digits[k]), reach);
  }
}

/* the matrix of one block, (size x size), column-major */
static void fill(const psdmp_derive_space *space, const psdmp_derive_blocks *b, int from, int to, double reach,
                 long size, double *Y) {
  for (long f = 0; f < size; f++)
    for (long t = 0; t < size; t++) {
      long digits = f, place = t;
      double product = 1;
      for (int k = from; k < to; digits /= b->digits[k], place /= b->digits[k], k++) {
        bool slides = space->m->prismatic[b->joint[k]];
        double x = node(space, b, k, (int)(place % b->digits[k]), reach), s = slides ? x / reach : sin(x),
               c = slides ? s * s : cos(x);
        const double basis[PSDMP_DERIVE_BASIS] = {1, s, c, s * c, c * c};
        product *= basis[digits % b->digits[k]];
      }
      Y[f * size + t] = product;
    }
}

/* columns of B (rows x columns) as rows of A */
static void transpose(long rows, long columns, const double *B, double *A) {
  for (long c = 0; c < columns; c++)
    for (long r = 0; r < rows; r++) A[r * columns + c] = B[c * rows + r];
}

/* X (size x columns) with Y X = B for one block */
static bool solve(const psdmp_derive_space *space, const psdmp_derive_blocks *b, int block, double reach, long columns,
                  const double *B, double *X, psdmp_base_arena *arena) {
  long size = b->size[block];
  double *Y = PSDMP_BASE_NEW_RAW(arena, size * size, double), *LU = PSDMP_BASE_NEW_RAW(arena, size * size, double),
         *R = PSDMP_BASE_NEW_RAW(arena, size * columns, double);
  long double *sum = PSDMP_BASE_NEW_RAW(arena, size, long double);
  int *pivot = PSDMP_BASE_NEW_RAW(arena, size, int);
  if (!Y || !LU || !R || !sum || !pivot) return false;
  fill(space, b, block ? b->fast : 0, block ? b->n : b->fast, reach, size, Y);
  return psdmp_linalg_solve_refined((int)size, (int)columns, Y, B, X, LU, pivot, R, sum);
}

bool psdmp_derive_blocks_solve(const psdmp_derive_space *space, const psdmp_derive_blocks *b, double reach, int columns,
                               double *B, double *X, psdmp_base_arena *arena) {
  long fast = b->size[0], slow = b->size[1], count = fast * slow;
  if (!solve(space, b, 0, reach, slow * columns, B, X, arena)) return false;
  for (int c = 0; c < columns; c++) transpose(fast, slow, X + c * count, B + c * count);
  if (!solve(space, b, 1, reach, fast * columns, B, X, arena)) return false;
  for (int c = 0; c < columns; c++) transpose(slow, fast, X + c * count, B + c * count);
  memcpy(X, B, sizeof *X * (size_t)(count * columns));
  return true;
}
