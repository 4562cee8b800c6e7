/* Triangular factors of rows: against one QR of all rows, whatever the chunks. */
#include <lapacke.h>

#include "test_fit_problem.h"
#include "linalg/linalg.h"

enum { WIDE = 60 };

/* the triangle of all rows by LAPACK's plain QR, diagonal made positive; X (rows x w) row-major, rows >= w */
static void plain_triangle(long rows, int w, const double *X, double *R) {
  double *A = malloc(sizeof *A * (size_t)(rows * w)), *reflectors = malloc(sizeof *reflectors * (size_t)w);
  for (long i = 0; i < rows; i++)
    for (int k = 0; k < w; k++) A[i + k * rows] = X[i * w + k];
  assert_int_equal(LAPACKE_dgeqrf(LAPACK_COL_MAJOR, (int)rows, w, A, (int)rows, reflectors), 0);
  for (int i = 0; i < w; i++)
    for (int k = 0; k < w; k++) R[i * w + k] = k < i ? 0 : A[i + k * rows] * (A[i + i * rows] < 0 ? -1 : 1);
  free(reflectors);
  free(A);
}

static void make_positive(int w, double *R) {
  for (int i = 0; i < w; i++)
    if (R[i * w + i] < 0)
      for (int k = i; k < w; k++) R[i * w + k] = -R[i * w + k];
}

static double *random_rows(rng *g, long rows, int w) {
  double *X = malloc(sizeof *X * (size_t)(rows * w));
  for (long i = 0; i < rows * w; i++) X[i] = rng_uniform(g, -1, 1);
  return X;
}

static void add(int w, double *R, long rows, const double *X) {
  double *copy = malloc(sizeof *copy * (size_t)(rows * w + 1)),
         *scratch = scratch_of(psdmp_linalg_factor_scratch(w, rows));
  memcpy(copy, X, sizeof *copy * (size_t)(rows * w));
  psdmp_linalg_factor_add(w, R, rows, copy, scratch);
  fenced_free(scratch);
  free(copy);
}

TEST(test_chunks) {
  rng g = rng_start("factor chunks");
  double worst = 0;
  for (int trial = 0; trial < 60; trial++) {
    int w = rng_int(&g, 1, WIDE);
    long rows = w + rng_int(&g, 0, 1500), done = 0; /* past the blocks of 512 */
    double *X = random_rows(&g, rows, w), plain[WIDE * WIDE], R[WIDE * WIDE] = {0};
    plain_triangle(rows, w, X, plain);
    while (done < rows) {
      long chunk = rng_int(&g, 0, 700);
      chunk = chunk < rows - done ? chunk : rows - done;
      add(w, R, chunk, X + done * w);
      done += chunk;
    }
    for (int i = 0; i < w; i++)
      for (int k = 0; k < i; k++) assert_true(R[i * w + k] == 0);
    make_positive(w, R);
    /* a random square matrix may be nearly singular: its last rows then carry the rounding of all columns */
    if (rows >= w + 20) worst = fmax(worst, max_difference(R, plain, w * w) / max_absolute(plain, w * w));
    free(X);
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-12);
}

TEST(test_take) {
  rng g = rng_start("factor take");
  double worst = 0;
  for (int trial = 0; trial < 60; trial++) {
    int w = rng_int(&g, 1, WIDE), v = rng_int(&g, 1, w), take[WIDE];
    long rows = 3 * w + 20;
    double *X = random_rows(&g, rows, w), *chosen = malloc(sizeof *chosen * (size_t)(rows * v)), plain[WIDE * WIDE],
           R[WIDE * WIDE] = {0}, out[WIDE * WIDE];
    double *scratch = scratch_of(psdmp_linalg_factor_scratch(w, w));
    for (int k = 0; k < w; k++) take[k] = k;
    for (int k = w - 1; k > 0; k--) {
      int other = rng_int(&g, 0, k), kept = take[k];
      take[k] = take[other], take[other] = kept;
    }
    for (long i = 0; i < rows; i++)
      for (int k = 0; k < v; k++) chosen[i * v + k] = X[i * w + take[k]];
    plain_triangle(rows, v, chosen, plain);
    add(w, R, rows, X);
    psdmp_linalg_factor_take(w, R, v, take, out, scratch);
    make_positive(v, out);
    worst = fmax(worst, max_difference(out, plain, v * v) / max_absolute(plain, v * v));
    fenced_free(scratch);
    free(chosen);
    free(X);
  }
  print_message("largest difference %.2g\n", worst);
  assert_true(worst < 1e-13);
}

/* fewer rows than columns, and none at all: R^T R is still X^T X */
TEST(test_few_rows) {
  rng g = rng_start("factor few rows");
  enum { w = 9, rows = 4 };
  double *X = random_rows(&g, rows, w), R[w * w] = {0}, worst = 0;
  add(w, R, 0, X);
  assert_true(max_absolute(R, w * w) == 0);
  add(w, R, rows, X);
  for (int i = 0; i < w; i++)
    for (int k = 0; k < w; k++) {
      double difference = 0;
      for (int e = 0; e < rows; e++) difference += X[e * w + i] * X[e * w + k];
      for (int e = 0; e < w; e++) difference -= R[e * w + i] * R[e * w + k];
      worst = fmax(worst, fabs(difference));
    }
  assert_true(worst < 1e-14);
  free(X);
}

TEST_MAIN(test_chunks, test_take, test_few_rows)
