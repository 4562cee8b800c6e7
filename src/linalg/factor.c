/* factor.c: takes rows, keeps a triangle. Householder reflections by LAPACK's triangular-pentagonal QR, which skips the
 * zeros of R. */
#include <lapacke.h>
#include <string.h>

#include "linalg/linalg.h"

enum {
  BLOCK = 512, /* rows transposed at a time: with some 100 columns they stay in the L2 cache */
  PANEL = 12   /* reflections applied at once; 8 to 16 took the same time, 32 was slower */
};

static long block_of(long rows) { return rows < BLOCK ? rows : BLOCK; }

size_t psdmp_linalg_factor_scratch(int w, long rows) {
  size_t width = (size_t)w;
  return 2 * width * width + (size_t)(rows > 0 ? block_of(rows) : 0) * width + 2 * PANEL * width;
}

/* transposes to (rows x w) column-major; eight rows at a time share the cache lines that they write */
static void turn(int w, long rows, const double *X, double *to) {
  for (long first = 0; first < rows; first += 8) {
    long last = first + 8 < rows ? first + 8 : rows;
    for (int j = 0; j < w; j++)
      for (long i = first; i < last; i++) to[i + j * rows] = X[i * w + j];
  }
}

void psdmp_linalg_factor_add(int w, double *R, long rows, double *X, double *scratch) {
  int panel = w < PANEL ? w : PANEL;
  long most = block_of(rows);
  double *triangle = scratch, *block = triangle + (long)w * w, *reflectors = block + most * w,
         *work = reflectors + (long)panel * w;
  turn(w, w, R, triangle);
  for (long first = 0; first < rows; first += most) {
    long count = rows - first < most ? rows - first : most;
    turn(w, count, X + first * w, block);
    LAPACKE_dtpqrt_work(LAPACK_COL_MAJOR, (lapack_int)count, w, 0, panel, triangle, w, block, (lapack_int)count,
                        reflectors, panel, work);
  }
  for (int i = 0; i < w; i++)
    for (int j = 0; j < w; j++) R[(long)i * w + j] = j < i ? 0 : triangle[i + (long)j * w];
}

void psdmp_linalg_factor_take(int w, const double *R, int v, const int *take, double *out, double *scratch) {
  double *X = scratch;
  for (int i = 0; i < w; i++)
    for (int k = 0; k < v; k++) X[(long)i * v + k] = take[k] < i ? 0 : R[(long)i * w + take[k]];
  memset(out, 0, sizeof *out * (size_t)v * (size_t)v);
  psdmp_linalg_factor_add(v, out, w, X, scratch + (long)w * w);
}
