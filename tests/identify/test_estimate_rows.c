/* test_estimate_rows.c: the rows of each estimator, number by number; the uncertainty over blocks of time, and without
 * each of them, against plain formulas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "fenced.h"

enum { N = 2, L = 3, OWN0 = 2, OWN1 = 1, W = L + OWN0 + OWN1, HUBER = 1, TUKEY = 2, BINS = 4096 };

static psdmp_identify_choice choice[N] = {{.count = OWN0}, {.count = OWN1}};

typedef struct scene {
  psdmp_identify_run run;
  psdmp_identify_pass pass;
  psdmp_identify_pass_rows to;
  bool fitted[N];
  double Y[N * L], F[16 * N], tau[N], Ya[N * L], Fa[16 * N], x[W], scale[N];
  psdmp_identify_walk_row row;
} scene;

static void make(scene *s, psdmp_identify_pass_kind kind, rng *g) {
  memset(s, 0, sizeof *s);
  s->run = (psdmp_identify_run){.n = N, .l = L, .S = L, .choice = choice};
  s->pass = (psdmp_identify_pass){.kind = kind, .run = &s->run, .x = s->x, .scale = s->scale};
  psdmp_identify_pass_shape(&s->pass);
  s->to = (psdmp_identify_pass_rows){
      .pass = &s->pass, .run = &s->run, .numbers = calloc((size_t)s->pass.numbers + 1, sizeof(double))};
  assert_true(psdmp_linalg_blocks_new(NULL, s->pass.equations, s->pass.width, PSDMP_IDENTIFY_BLOCKS, &s->to.blocks));
  for (int i = 0; i < N * L; i++) s->Y[i] = rng_uniform(g, -1, 1), s->Ya[i] = rng_uniform(g, -1, 1);
  for (int i = 0; i < 16 * N; i++) s->F[i] = rng_uniform(g, -1, 1), s->Fa[i] = rng_uniform(g, -1, 1);
  for (int i = 0; i < W; i++) s->x[i] = rng_uniform(g, -1, 1);
  for (int i = 0; i < N; i++)
    s->tau[i] = rng_uniform(g, -1, 1), s->scale[i] = rng_uniform(g, 0.5, 2), s->fitted[i] = true;
  s->row = (psdmp_identify_walk_row){
      .block = 7, .fitted = s->fitted, .Y = s->Y, .F = s->F, .tau = s->tau, .Y_auxiliary = s->Ya, .F_auxiliary = s->Fa};
}

static void drop(scene *s) {
  psdmp_linalg_blocks_free(&s->to.blocks);
  free(s->to.numbers);
}

/* a drive's only waiting row, or none */
static const double *waiting(const scene *s, int drive, bool any) {
  assert_int_equal(s->to.blocks.waiting[drive], any);
  assert_true(!any || s->to.blocks.block[drive] == 7);
  return s->to.blocks.chunk[drive];
}

static void same(const double *is, const double *should, int count) {
  for (int k = 0; k < count; k++) assert_true(is[k] == should[k]);
}

/* ---- rows ---- */

static void auxiliary_rows(void **state) {
  (void)state;
  rng g = rng_start("auxiliary rows");
  for (int left = -1; left < N; left++) { /* a drive whose row is not used */
    scene s;
    make(&s, PSDMP_IDENTIFY_PASS_DIDIM, &g);
    assert_true(s.pass.equations == N && s.pass.width[0] == L + OWN0 + 1 && s.pass.width[1] == L + OWN1 + 1);
    if (left >= 0) s.fitted[left] = false;
    psdmp_identify_didim_row(&s.to, &s.row);
    for (int i = 0; i < N; i++) {
      const double *row = waiting(&s, i, i != left);
      if (i == left) continue;
      same(row, s.Ya + i * L, L), same(row + L, s.Fa + 16 * i, choice[i].count),
          same(row + L + choice[i].count, s.tau + i, 1);
    }
    drop(&s);
    make(&s, PSDMP_IDENTIFY_PASS_IV, &g);
    assert_true(s.pass.equations == N && s.pass.width[0] == 2 * (L + OWN0) + 1 &&
                s.pass.width[1] == 2 * (L + OWN1) + 1);
    if (left >= 0) s.fitted[left] = false;
    psdmp_identify_iv_row(&s.to, &s.row);
    for (int i = 0; i < N; i++) {
      int half = L + choice[i].count;
      const double *row = waiting(&s, i, i != left);
      if (i == left) continue;
      same(row, s.Ya + i * L, L), same(row + L, s.Fa + 16 * i, choice[i].count), same(row + half, s.Y + i * L, L),
          same(row + half + L, s.F + 16 * i, choice[i].count), same(row + 2 * half, s.tau + i, 1);
    }
    drop(&s);
  }
}

/* w = psi / u and psi' of Huber and Tukey (Huber, Ronchetti 2009) */
static double plain_weight(int stage, double u, double *slope) {
  double size = fabs(u), v = u / 4.685;
  *slope = 1;
  if (stage == HUBER && size > 1.345) return *slope = 0, 1.345 / size;
  if (stage != TUKEY) return 1;
  if (fabs(v) >= 1) return *slope = 0;
  return *slope = (1 - v * v) * (1 - 5 * v * v), (1 - v * v) * (1 - v * v);
}

static void robust_rows(void **state) {
  (void)state;
  /* of the residual in units of its scale */
  static const double sizes[] = {0, 1e-12, 0.3, 1.34, 1.35, 3.8, 3.9, 4.68, 4.69, 20, 1e12};
  rng g = rng_start("robust rows");
  for (int stage = 0; stage <= TUKEY; stage++)
    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
      scene s;
      double sums[4] = {0}, u[N];
      make(&s, PSDMP_IDENTIFY_PASS_ROBUST, &g);
      assert_true(s.pass.equations == N && s.pass.width[0] == L + OWN0 + 1 && s.pass.numbers == 4 + N * BINS &&
                  s.pass.numbers == psdmp_identify_robust_numbers(&s.run));
      s.pass.stage = stage;
      s.fitted[1] = k % 3 != 0;
      for (int i = 0, first = L; i < N; first += choice[i++].count) {
        double model = 0;
        for (int j = 0; j < L; j++) model += s.Y[i * L + j] * s.x[j];
        for (int c = 0; c < choice[i].count; c++) model += s.F[16 * i + c] * s.x[first + c];
        s.tau[i] = model + (k % 2 ? -1 : 1) * sizes[k / 2] * s.scale[i];
        u[i] = (model - s.tau[i]) / s.scale[i];
      }
      psdmp_identify_robust_row(&s.to, &s.row);
      for (int i = 0; i < N; i++) {
        double slope, w = plain_weight(stage, u[i], &slope), hits = 0;
        const double *seen = s.to.numbers + 4 + i * BINS;
        int bin = (int)fmin(fmax(2048 + 100 * log(fmax(fabs(u[i]), 1e-300)), 0), BINS - 1);
        for (int b = 0; b < BINS; b++) hits += seen[b];
        assert_true(hits == s.fitted[i]);
        if (!s.fitted[i]) {
          waiting(&s, i, false);
          continue;
        }
        assert_true(seen[bin] + (bin ? seen[bin - 1] : 0) + (bin + 1 < BINS ? seen[bin + 1] : 0) == 1);
        sums[0] += w, sums[1] += slope, sums[2]++, sums[3] += w < 0.1;
        const double *row = waiting(&s, i, stage && w > 0);
        if (!stage || !(w > 0)) continue;
        for (int j = 0; j < L; j++) assert_true(fabs(row[j] - sqrt(w) * s.Y[i * L + j]) < 1e-12);
        for (int c = 0; c < choice[i].count; c++) assert_true(fabs(row[L + c] - sqrt(w) * s.F[16 * i + c]) < 1e-12);
        assert_true(fabs(row[L + choice[i].count] - sqrt(w) * s.tau[i]) < 1e-12 * fmax(1, fabs(s.tau[i])));
      }
      for (int c = 0; c < 4; c++) assert_true(fabs(s.to.numbers[c] - sums[c]) < 1e-9); /* rounding of u near an edge */
      drop(&s);
    }
}

/* a drive with the largest number of columns, its arrays at the end of their memory: the bin of each residual, and
 * weights at the limits of their stages */
static void robust_edges(void **state) {
  (void)state;
  static const struct {
    double u;
    int bin;
  } far[] = {
      {0, 0},  {1e-300, 0}, {1e-9, 0}, {1e10, BINS - 1}, {1e300, BINS - 1}, {INFINITY, BINS - 1}, {-INFINITY, BINS - 1},
      {NAN, 0}};
  enum { MOST = 16, FAR = sizeof far / sizeof *far };
  psdmp_identify_choice own[1] = {{.count = MOST}};
  psdmp_identify_run run = {.n = 1, .l = 1, .S = 1, .choice = own};
  double x[1 + MOST] = {0}, scale = 0.5, tau, *Y = fenced_new(sizeof *Y), *F = fenced_new(MOST * sizeof *F),
               *numbers = fenced_new((4 + BINS) * sizeof *numbers);
  const bool fitted = true;
  psdmp_identify_pass pass = {.kind = PSDMP_IDENTIFY_PASS_ROBUST, .run = &run, .x = x, .scale = &scale};
  psdmp_identify_pass_rows to = {.pass = &pass, .run = &run, .numbers = numbers};
  const psdmp_identify_walk_row row = {.fitted = &fitted, .Y = Y, .F = F, .tau = &tau};
  *Y = 0.5;
  for (int c = 0; c < MOST; c++) F[c] = 1 + c;
  psdmp_identify_pass_shape(&pass);
  assert_true(psdmp_linalg_blocks_new(NULL, 1, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
  for (int b = 0; b < BINS + FAR; b++) {
    double u = b < BINS ? exp((b + 0.5 - BINS / 2) / 100) * (b % 2 ? -1 : 1) : far[b - BINS].u;
    memset(numbers, 0, (4 + BINS) * sizeof *numbers);
    tau = -u * scale;
    psdmp_identify_robust_row(&to, &row);
    for (int k = 0; k < BINS; k++) assert_true(numbers[4 + k] == (k == (b < BINS ? b : far[b - BINS].bin)));
    assert_true(numbers[0] == 1 && numbers[1] == 1 && numbers[2] == 1 && numbers[3] == 0 && to.blocks.waiting[0] == 0);
  }
  scale = 1;
  const struct {
    int stage;
    double u, weight, slope;
    bool out;
  } limits[] = {{HUBER, 1.345, 1, 1, false},
                {HUBER, nextafter(1.345, 2), 1, 0, false},
                {HUBER, -1.345, 1, 1, false},
                {HUBER, 13.45, 0.1, 0, false},
                {HUBER, 13.46, 1.345 / 13.46, 0, true},
                {TUKEY, 4.685, 0, 0, true},
                {TUKEY, -4.685, 0, 0, true},
                {TUKEY, 0, 1, 1, false}};
  assert_true(1.345 / 13.45 == 0.1);
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
    memset(numbers, 0, (4 + BINS) * sizeof *numbers);
    psdmp_linalg_blocks_clear(&to.blocks);
    pass.stage = limits[k].stage, tau = -limits[k].u;
    psdmp_identify_robust_row(&to, &row);
    assert_true(fabs(numbers[0] - limits[k].weight) < 1e-15 && numbers[1] == limits[k].slope && numbers[2] == 1 &&
                numbers[3] == limits[k].out);
    assert_int_equal(to.blocks.waiting[0], limits[k].weight > 0);
    if (!(limits[k].weight > 0)) continue;
    const double *equation = to.blocks.chunk[0];
    double root = sqrt(limits[k].weight);
    for (int c = 0; c < 2 + MOST; c++)
      assert_true(fabs(equation[c] - root * (c == 0 ? 0.5 : c <= MOST ? c : tau)) < 1e-14 * (1 + MOST));
  }
  /* the other kinds copy the same number */
  double *tau_alone = fenced_new(sizeof *tau_alone);
  *tau_alone = 3;
  for (int kind = PSDMP_IDENTIFY_PASS_DIDIM; kind <= PSDMP_IDENTIFY_PASS_IV; kind++) {
    const psdmp_identify_walk_row auxiliary = {
        .fitted = &fitted, .Y = Y, .F = F, .tau = tau_alone, .Y_auxiliary = Y, .F_auxiliary = F};
    psdmp_linalg_blocks_free(&to.blocks);
    pass.kind = (psdmp_identify_pass_kind)kind;
    psdmp_identify_pass_shape(&pass);
    assert_true(psdmp_linalg_blocks_new(NULL, 1, pass.width, PSDMP_IDENTIFY_BLOCKS, &to.blocks));
    (kind == PSDMP_IDENTIFY_PASS_IV ? psdmp_identify_iv_row : psdmp_identify_didim_row)(&to, &auxiliary);
    const double *equation = to.blocks.chunk[0];
    int half = 1 + MOST, times = kind == PSDMP_IDENTIFY_PASS_IV ? 2 : 1;
    for (int c = 0; c < times * half; c++) assert_true(equation[c] == (c % half ? c % half : 0.5));
    assert_true(equation[times * half] == 3);
  }
  psdmp_linalg_blocks_free(&to.blocks);
  fenced_free(Y), fenced_free(F), fenced_free(numbers), fenced_free(tau_alone);
}

/* ---- doubt over blocks ---- */

/* the last blocks have no rows, the one before them has one row of the second drive */
enum { SAMPLES = 800, BLOCKED = 16 };

/* [columns tau] of all rows side by side, weighted, and the block of each */
typedef struct stacked {
  double A[N * SAMPLES][W], b[N * SAMPLES];
  int block[N * SAMPLES], rows;
} stacked;

static void fill(rng *g, psdmp_linalg_blocks *b, const double *sigma, stacked *all) {
  all->rows = 0;
  for (int k = 0; k < SAMPLES; k++)
    for (int i = 0; i < N; i++) {
      int own = choice[i].count, first = i ? L + OWN0 : L,
          block = k + 1 < SAMPLES ? k * (BLOCKED - 1) / SAMPLES : BLOCKED - 1;
      if (!i && block == BLOCKED - 1) continue;
      double *row = psdmp_linalg_blocks_row(b, i, block), tau = rng_uniform(g, -1, 1) + (block % 3 ? 0.2 : -0.3);
      for (int j = 0; j < L + own; j++) row[j] = rng_uniform(g, -1, 1), tau += row[j] * (j + 1);
      row[L + own] = tau;
      memset(all->A[all->rows], 0, sizeof all->A[0]);
      for (int j = 0; j < L + own; j++) all->A[all->rows][j < L ? j : first + j - L] = row[j] / sigma[i];
      all->b[all->rows] = tau / sigma[i];
      all->block[all->rows++] = block;
    }
  psdmp_linalg_blocks_flush(b);
}

/* normal equations of some blocks, by elimination: x, and H^-1 where wanted; returns the sum of squared residuals */
static double plain_fit(const stacked *s, unsigned mask, double *x, double *inverse, int *rows) {
  long double H[W][2 * W + 1] = {{0}}, square = 0;
  *rows = 0;
  for (int r = 0; r < s->rows; r++) {
    if (!(mask >> s->block[r] & 1)) continue;
    ++*rows;
    for (int i = 0; i < W; i++) {
      for (int k = 0; k < W; k++) H[i][k] += (long double)s->A[r][i] * s->A[r][k];
      H[i][2 * W] += (long double)s->A[r][i] * s->b[r];
    }
  }
  for (int i = 0; i < W; i++) H[i][W + i] = 1;
  for (int c = 0; c < W; c++) {
    long double pivot = H[c][c];
    for (int k = 0; k <= 2 * W; k++) H[c][k] /= pivot;
    for (int i = 0; i < W; i++) {
      long double factor = H[i][c];
      for (int k = 0; k <= 2 * W && i != c; k++) H[i][k] -= factor * H[c][k];
    }
  }
  for (int i = 0; i < W; i++) {
    x[i] = (double)H[i][2 * W];
    for (int k = 0; k < W && inverse; k++) inverse[i * W + k] = (double)H[i][W + k];
  }
  for (int r = 0; r < s->rows; r++) {
    long double left = -s->b[r];
    for (int i = 0; i < W; i++) left += s->A[r][i] * x[i];
    if (mask >> s->block[r] & 1) square += left * left;
  }
  return (double)square;
}

static void close_to(const double *is, const double *should, int count, double tolerance, const char *what) {
  double size = max_absolute(should, count);
  if (!(max_difference(is, should, count) <= tolerance * size))
    fail_msg("%s: off by %.3g of %.3g", what, max_difference(is, should, count), size);
}

static void doubt(void **state) {
  (void)state;
  static stacked all;
  rng g = rng_start("doubt over blocks");
  for (int trial = 0; trial < 6; trial++) {
    const double sigma[N] = {0.5, 2};
    const int width[N] = {L + OWN0 + 1, L + OWN1 + 1};
    double K[L * L] = {0}, x[W], V[W * W], classical[W * W], folds[PSDMP_IDENTIFY_FOLDS * W], jackknife[W * W];
    psdmp_identify_run run = {.n = N, .l = L, .S = L, .K = K, .choice = choice};
    psdmp_linalg_blocks b;
    assert_true(psdmp_linalg_blocks_new(NULL, N, width, PSDMP_IDENTIFY_BLOCKS, &b));
    for (int round = 0; round < 2; round++) { /* after clearing they start again */
      psdmp_linalg_blocks_clear(&b);
      fill(&g, &b, sigma, &all);
    }
    psdmp_identify_estimated e = {.x = x, .covariance = V, .classical = classical, .folds = folds};
    assert_int_equal(psdmp_identify_estimate_width(&run), W);
    assert_int_equal(psdmp_identify_blocks_finish(&run, &b, sigma, &e), PSDM_OK);
    assert_int_equal(psdmp_identify_blocks_jackknife(&run, &b, sigma, x, jackknife), PSDM_OK);

    double should[W], C[W * W], other[W], mean[W] = {0}, grad[BLOCKED][W] = {{0}}, sandwich[W * W] = {0},
                                          knife[W * W] = {0}, plain[W * W];
    int rows, fewer;
    double square = plain_fit(&all, psdmp_identify_blocks_all(), should, C, &rows);
    assert_int_equal(psdmp_identify_blocks_all(), (1u << PSDMP_IDENTIFY_BLOCKS) - 1);
    for (int i = 0; i < W * W; i++) plain[i] = C[i] * square / (rows - W);
    close_to(x, should, W, 1e-12, "x");
    close_to(classical, plain, W * W, 1e-11, "classical");
    for (int r = 0; r < all.rows; r++) {
      double left = -all.b[r];
      for (int i = 0; i < W; i++) left += all.A[r][i] * should[i];
      for (int i = 0; i < W; i++) grad[all.block[r]][i] += all.A[r][i] * left, mean[i] += all.A[r][i] * left / BLOCKED;
    }
    for (int k = 0; k < BLOCKED; k++) {
      double step[W] = {0};
      for (int i = 0; i < W; i++)
        for (int j = 0; j < W; j++) step[i] += C[i * W + j] * (grad[k][j] - mean[j]);
      plain_fit(&all, psdmp_identify_blocks_all() & ~(1u << k), other, NULL, &fewer);
      for (int i = 0; i < W; i++)
        for (int j = 0; j < W; j++) {
          sandwich[i * W + j] += step[i] * step[j] * BLOCKED / (BLOCKED - 1.0);
          knife[i * W + j] += (other[i] - should[i]) * (other[j] - should[j]) * (BLOCKED - 1.0) / BLOCKED;
        }
    }
    close_to(V, sandwich, W * W, 1e-10, "sandwich");
    close_to(jackknife, knife, W * W, 1e-9, "jackknife"); /* differences of fits */
    unsigned seen = 0;
    for (int fold = 0; fold < PSDMP_IDENTIFY_FOLDS; fold++) {
      unsigned without = psdmp_identify_blocks_without(fold), gone = psdmp_identify_blocks_all() & ~without;
      assert_true((seen & gone) == 0 && __builtin_popcount(gone) == PSDMP_IDENTIFY_BLOCKS / PSDMP_IDENTIFY_FOLDS &&
                  without < 1u << PSDMP_IDENTIFY_BLOCKS);
      seen |= gone;
      plain_fit(&all, without, other, NULL, &fewer);
      close_to(folds + fold * W, other, W, 1e-12, "fold");
    }
    assert_int_equal(seen, psdmp_identify_blocks_all());
    psdmp_linalg_blocks_free(&b);
  }
}

static void change(void **state) {
  (void)state;
  const double before[3] = {1, 2, 3}, x[3] = {1.5, 1, 9}, classical[9] = {0.25, 9, 9, 9, 4, 9, 9, 9, 0},
               other[3] = {1.5, 5, 3};
  assert_true(psdmp_identify_estimate_change(3, before, x, classical) == 1); /* one without a variance does not count */
  assert_true(psdmp_identify_estimate_change(3, before, other, classical) == 1.5 &&
              psdmp_identify_estimate_change(3, x, x, classical) == 0);
}

/* no block and a single block: nothing can be left out */
static void few_blocks(void **state) {
  (void)state;
  const double sigma[N] = {0.5, 2};
  const int width[N] = {L + OWN0 + 1, L + OWN1 + 1};
  rng g = rng_start("few blocks");
  for (int blocks = 0; blocks < 2; blocks++) {
    double K[L * L] = {0}, x[W], covariance[W * W];
    psdmp_identify_run run = {.n = N, .l = L, .S = L, .K = K, .choice = choice};
    psdmp_linalg_blocks b;
    assert_true(psdmp_linalg_blocks_new(NULL, N, width, PSDMP_IDENTIFY_BLOCKS, &b));
    for (int k = 0; k < 100 * blocks; k++) {
      double *row = psdmp_linalg_blocks_row(&b, k % N, 5);
      for (int c = 0; c < width[k % N]; c++) row[c] = rng_uniform(&g, -1, 1);
    }
    psdmp_linalg_blocks_flush(&b);
    for (int k = 0; k < W; k++) x[k] = k + 1;
    for (int k = 0; k < W * W; k++) covariance[k] = 7;
    psdm_status status = psdmp_identify_blocks_jackknife(&run, &b, sigma, x, covariance);
    if (!blocks) assert_int_equal(status, PSDM_OK);
    for (int k = 0; k < W * W; k++) assert_true(covariance[k] == 0);
    psdmp_linalg_blocks_free(&b);
  }
}

/* more drives than two, each with a column of its own, and no noise: the true parameters are found, also without each
 * fold */
static void eight_drives(void **state) {
  (void)state;
  enum { EIGHT = 8, BASE = 2, ALL = BASE + EIGHT };
  rng g = rng_start("eight drives");
  psdmp_identify_choice own[EIGHT];
  int width[EIGHT];
  double K[BASE * BASE] = {0}, sigma[EIGHT], x[ALL], V[ALL * ALL], classical[ALL * ALL],
                  folds[PSDMP_IDENTIFY_FOLDS * ALL];
  psdmp_identify_run run = {.n = EIGHT, .l = BASE, .S = BASE, .K = K, .choice = own};
  psdmp_linalg_blocks b;
  for (int i = 0; i < EIGHT; i++) own[i] = (psdmp_identify_choice){.count = 1}, width[i] = BASE + 2, sigma[i] = 1 + i;
  assert_true(psdmp_linalg_blocks_new(NULL, EIGHT, width, PSDMP_IDENTIFY_BLOCKS, &b));
  for (int k = 0; k < 100 * EIGHT; k++) {
    int i = k % EIGHT;
    double *row = psdmp_linalg_blocks_row(&b, i, k * PSDMP_IDENTIFY_BLOCKS / (100 * EIGHT));
    for (int c = 0; c <= BASE; c++) row[c] = rng_uniform(&g, -1, 1);
    row[BASE + 1] = 3 * row[0] - 2 * row[1] + (1 + i) * row[2];
  }
  psdmp_linalg_blocks_flush(&b);
  psdmp_identify_estimated e = {.x = x, .covariance = V, .classical = classical, .folds = folds};
  assert_int_equal(psdmp_identify_blocks_finish(&run, &b, sigma, &e), PSDM_OK);
  for (int fold = -1; fold < PSDMP_IDENTIFY_FOLDS; fold++)
    for (int k = 0; k < ALL; k++)
      assert_true(fabs((fold < 0 ? x : folds + fold * ALL)[k] - (k == 0 ? 3 : k == 1 ? -2 : k - 1)) < 1e-12);
  for (int k = 0; k < ALL * ALL; k++) assert_true(fabs(V[k]) < 1e-24 && fabs(classical[k]) < 1e-24);
  assert_int_equal(psdmp_identify_blocks_jackknife(&run, &b, sigma, x, V), PSDM_OK);
  for (int k = 0; k < ALL * ALL; k++) assert_true(fabs(V[k]) < 1e-24);
  psdmp_linalg_blocks_free(&b);
}

/* rows wait until there are 256, or one of another block arrives */
static void waiting_rows(void **state) {
  (void)state;
  const int width = 2;
  psdmp_linalg_blocks b;
  assert_true(psdmp_linalg_blocks_new(NULL, 1, &width, PSDMP_IDENTIFY_BLOCKS, &b));
  for (int k = 0; k < 600; k++) {
    int block = k < 520 ? 4 : 9 + k % 2;
    double *row = psdmp_linalg_blocks_row(&b, 0, block);
    row[0] = 1, row[1] = k;
    assert_true(b.block[0] == block && b.waiting[0] == (k < 520 ? k % 256 + 1 : 1) &&
                b.count[4] == (k < 520 ? k / 256 * 256 : 520));
  }
  psdmp_linalg_blocks_flush(&b);
  assert_true(b.waiting[0] == 0 && b.count[9] == 40 && b.count[10] == 40);
  psdmp_linalg_blocks_free(&b);
}

/* equations of other widths, one of them wider than the number of waiting rows: all their rows together, and of some
 * blocks; emptied, they are empty */
static void wide_blocks(void **state) {
  (void)state;
  enum { WIDE = 270, EQUATIONS = 3 };
  static const int width[EQUATIONS] = {5, WIDE, 2}, rows[EQUATIONS] = {700, 300, 3};
  static double square[EQUATIONS][WIDE * WIDE], is[WIDE * WIDE];
  rng g = rng_start("wide blocks");
  psdmp_linalg_blocks b;
  double *R = fenced_new(WIDE * WIDE * sizeof *R);
  assert_true(psdmp_linalg_blocks_new(NULL, EQUATIONS, width, PSDMP_IDENTIFY_BLOCKS, &b));
  for (int i = 0; i < EQUATIONS; i++) {
    double count = 0, counts[PSDMP_IDENTIFY_BLOCKS] = {0};
    const unsigned mask = 1u << 19 | 1u << 3 | 1u << 4;
    memset(square[i], 0, sizeof square[i]);
    for (int k = 0; k < rows[i]; k++) {
      int block = k < rows[i] - 2 ? 3 + (k % 7 == 0) : k == rows[i] - 1 ? 19 : 0, w = width[i];
      double *row = psdmp_linalg_blocks_row(&b, i, block);
      for (int c = 0; c < w; c++) row[c] = rng_uniform(&g, -1, 1);
      counts[block]++, count += block != 0;
      for (int a = 0; a < w && block; a++)
        for (int c = 0; c < w; c++) square[i][a * w + c] += row[a] * row[c];
    }
    psdmp_linalg_blocks_flush(&b);
    for (int k = 0; k < PSDMP_IDENTIFY_BLOCKS; k++) assert_true(b.count[i * PSDMP_IDENTIFY_BLOCKS + k] == counts[k]);
    assert_true(psdmp_linalg_blocks_stack(&b, i, mask, R) == count);
    memset(is, 0, sizeof is);
    for (int row = 0; row < width[i]; row++)
      for (int a = row; a < width[i]; a++)
        for (int c = row; c < width[i]; c++) is[a * width[i] + c] += R[row * width[i] + a] * R[row * width[i] + c];
    close_to(is, square[i], width[i] * width[i], 1e-12, "rows of some blocks");
    assert_true(psdmp_linalg_blocks_stack(&b, i, 0, R) == 0);
    for (int k = 0; k < width[i] * width[i]; k++) assert_true(R[k] == 0);
  }
  psdmp_linalg_blocks_row(&b, 1, 7)[0] = 5; /* a waiting row is forgotten too */
  psdmp_linalg_blocks_clear(&b);
  psdmp_linalg_blocks_flush(&b);
  for (int k = 0; k < EQUATIONS * PSDMP_IDENTIFY_BLOCKS; k++) {
    int w = width[k / PSDMP_IDENTIFY_BLOCKS];
    assert_true(b.count[k] == 0 && b.waiting[k / PSDMP_IDENTIFY_BLOCKS] == 0);
    for (int c = 0; c < w * w; c++) assert_true(b.R[k][c] == 0);
  }
  psdmp_linalg_blocks_free(&b);
  assert_true(!b.R && !b.n && !b.arena.allocator);
  fenced_free(R);
}

/* nothing leaks when memory runs out */
static void memory(void **state) {
  (void)state;
  const int width[N] = {300, 40};
  for (long n = 1;; n++) {
    counting c;
    psdmp_linalg_blocks b;
    counting_fenced_init(&c, n);
    bool ok = psdmp_linalg_blocks_new(&c.allocator, N, width, PSDMP_IDENTIFY_BLOCKS, &b);
    if (ok) psdmp_linalg_blocks_free(&b);
    assert_int_equal(c.live, 0);
    assert_int_equal(ok, c.calls < n);
    if (ok) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(auxiliary_rows), cmocka_unit_test(robust_rows),
                                     cmocka_unit_test(robust_edges),   cmocka_unit_test(doubt),
                                     cmocka_unit_test(change),         cmocka_unit_test(few_blocks),
                                     cmocka_unit_test(eight_drives),   cmocka_unit_test(waiting_rows),
                                     cmocka_unit_test(wide_blocks),    cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
