/* test_calibrate_doubt.c: the uncertainty with each block's leverage equals that of fits that omit the blocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "linalg/linalg.h"
#include "support.h"

enum { JOINTS = 2, BASE = 4, OWN = 2, BLOCKS = 7, ROWS = 60, WIDTH = BASE + OWN + 1, ALL = BASE + JOINTS * OWN };

typedef struct problem {
  double X[BLOCKS][JOINTS][ROWS][WIDTH];
  double R[BLOCKS + 1][JOINTS][WIDTH * WIDTH];
  double *factor[BLOCKS + 1][JOINTS];
  double count[JOINTS], K[BASE * BASE], scratch[8 * WIDTH * WIDTH + ROWS * WIDTH + 200];
  int extras[JOINTS];
} problem;

/* factor `to` of all blocks, block `down` by a weight below one */
static psdmp_fit_rows weighted(problem *p, int to, int down, double weight) {
  for (int j = 0; j < JOINTS; j++) {
    memset(p->R[to][j], 0, sizeof p->R[to][j]);
    for (int b = 0; b < BLOCKS; b++) {
      if (to < BLOCKS && b != to) continue;
      double X[ROWS * WIDTH];
      memcpy(X, p->X[b][j], sizeof X);
      for (int k = 0; k < ROWS * WIDTH && b == down; k++) X[k] *= weight;
      psdmp_linalg_factor_add(WIDTH, p->R[to][j], ROWS, X, p->scratch);
    }
    p->factor[to][j] = p->R[to][j];
    p->count[j] = ROWS * (to < BLOCKS ? 1 : BLOCKS);
    p->extras[j] = OWN;
  }
  return (psdmp_fit_rows){.n = JOINTS,
                          .base = BASE,
                          .standard = BASE,
                          .K = p->K,
                          .extras = p->extras,
                          .R = p->factor[to],
                          .count = p->count};
}

static void leaves_blocks_out(void **state) {
  (void)state;
  rng g = rng_start("leaves_blocks_out");
  problem *p = calloc(1, sizeof *p);
  assert_non_null(p);
  double worst = 0;
  for (int j = 0; j < BASE; j++) p->K[j * (BASE + 1)] = 1;
  for (int round = 0; round < 20; round++) {
    for (int b = 0; b < BLOCKS; b++)
      for (int j = 0; j < JOINTS; j++)
        for (int k = 0; k < ROWS; k++)
          for (int c = 0; c < WIDTH; c++)
            p->X[b][j][k][c] = rng_uniform(&g, -1, 1) * (c < WIDTH - 1 && (b + c) % 3 == 0 ? 5 : 1) +
                               (c == WIDTH - 1 ? p->X[b][j][k][0] : 0);
    const double sigma[JOINTS] = {rng_uniform(&g, 0.5, 2), rng_uniform(&g, 0.5, 2)};
    psdmp_fit_rows block[BLOCKS], whole;
    for (int b = 0; b < BLOCKS; b++) block[b] = weighted(p, b, -1, 1);
    whole = weighted(p, BLOCKS, -1, 1);
    double theta[BASE], phi[JOINTS * OWN], V[ALL * ALL], plain[ALL * ALL] = {0}, keep = 1 - 1 / (2.0 * BLOCKS);
    psdmp_fit fit = {.theta = theta, .phi = phi};
    const psdmp_fit_options o = {.sigma = sigma, .leave_out = true};
    size_t size = psdmp_fit_scratch(&whole) > psdmp_fit_sandwich_scratch(&whole) ? psdmp_fit_scratch(&whole)
                                                                                 : psdmp_fit_sandwich_scratch(&whole);
    double *scratch = malloc(size * sizeof *scratch);
    assert_int_equal(psdmp_fit_linear(&whole, &o, scratch, &fit), PSDM_OK);
    assert_int_equal(psdmp_fit_sandwich(&whole, BLOCKS, block, &o, &fit, false, scratch, V, NULL), PSDM_OK);
    /* the twin: fits in which a block weighs 1 - keep; their step divided by keep is the block's */
    for (int b = 0; b < BLOCKS; b++) {
      double other[BASE], own[JOINTS * OWN], step[ALL];
      psdmp_fit without = {.theta = other, .phi = own};
      psdmp_fit_rows rows = weighted(p, BLOCKS, b, sqrt(1 - keep));
      assert_int_equal(psdmp_fit_linear(&rows, &o, scratch, &without), PSDM_OK);
      for (int i = 0; i < ALL; i++) step[i] = (i < BASE ? other[i] - theta[i] : own[i - BASE] - phi[i - BASE]) / keep;
      for (int i = 0; i < ALL; i++)
        for (int k = 0; k < ALL; k++) plain[i * ALL + k] += (BLOCKS - 1.0) / BLOCKS * step[i] * step[k];
    }
    double size_V = max_absolute(plain, ALL * ALL), off = max_difference(V, plain, ALL * ALL);
    worst = fmax(worst, off / size_V);
    assert_true(off < 1e-10 * size_V); /* differences of fits lose some four digits */
    free(scratch);
  }
  print_message("largest difference %.2g\n", worst);
  free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(leaves_blocks_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
