/* test_estimate.c: the parts of the estimators, against plain twins. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identify/estimate_priv.h"
#include "linalg/linalg.h"
#include "psdm/base_parameters.h"
#include "fenced.h"

static double *numbers(size_t count) {
  size_t bytes = (count ? count : 1) * sizeof(double);
  return memset(fenced_new(bytes), 0, bytes);
}

/* ---- energy ---- */

/* h theta is the energy of psdm_energy up to a constant, on trees with every kind of joint */
TEST(test_energy) {
  rng g = rng_start("test_energy");
  char text[16384];
  double worst = 0;
  for (int round = 0; round < 80; round++) {
    const random_options kinds = random_kinds(round, 6);
    psdm_robot *robot = parse_robot(random_robot_text(&g, &kinds, text, sizeof text));
    psdmp_identify_run r = {.robot = robot, .n = psdm_robot_n(robot), .S = psdm_robot_parameter_count(robot)};
    assert_int_equal(psdm_base_parameters_derive(robot, NULL, NULL, &r.model, NULL, NULL), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &r.work), PSDM_OK);
    r.l = psdm_model_l(r.model);
    r.kept = calloc((size_t)r.l + 1, sizeof *r.kept);
    double *pi = numbers((size_t)r.S), *theta = numbers((size_t)r.l), *h = numbers((size_t)r.l),
           *scratch = fenced_new(psdmp_identify_energy_scratch(&r) * sizeof(double)), first = 0, size = 1;
    assert_int_equal(psdmp_identify_energy_scratch(&r), 2 * r.n * r.S + r.n + 12 * psdm_robot_joints(robot) + r.S);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(r.model, pi, theta);
    for (int j = 0; j < r.l; j++) psdm_model_base_term(r.model, j, 0, &r.kept[j]);
    for (int state = 0; state < 6; state++) {
      double q[32], qd[32], kinetic, potential, sum = 0;
      for (int i = 0; i < r.n; i++) q[i] = rng_uniform(&g, -2, 2), qd[i] = state < 5 ? rng_uniform(&g, -3, 3) : 0;
      assert_int_equal(psdmp_identify_energy_columns(&r, q, qd, scratch, h), PSDM_OK);
      assert_int_equal(psdm_energy(robot, r.work, q, qd, &kinetic, &potential), PSDM_OK);
      for (int j = 0; j < r.l; j++) sum += h[j] * theta[j], size = fmax(size, fabs(h[j] * theta[j]));
      for (int j = 0; j < r.l; j++) /* at rest inertia has no energy */
        if (state == 5 && (r.kept[j] >= 10 * psdm_robot_links(robot) || r.kept[j] % 10 > 3)) assert_true(h[j] == 0);
      assert_true(isfinite(sum)); /* fmax drops NAN */
      if (state == 0) first = sum - kinetic - potential;
      worst = fmax(worst, fabs(sum - kinetic - potential - first) / size);
    }
    psdm_work_free(r.work, NULL);
    psdm_model_free(r.model);
    free(r.kept), fenced_free(pi), fenced_free(theta), fenced_free(h), fenced_free(scratch);
    psdm_robot_free(robot);
  }
  printf("energies: largest difference %.1e of the largest term\n", worst);
  assert_true(worst < 1e-12); /* some thousand roundings of 1.1e-16 */
}

/* ---- least squares over blocks ---- */

/* two equations with shared and own unknowns, their rows spread over blocks, compared with one matrix of all rows */
TEST(test_blocks) {
  rng g = rng_start("test_blocks");
  double worst = 0, worst_covariance = 0;
  for (int round = 0; round < 20; round++) {
    int n = 2, l = rng_int(&g, 1, 5), own[2] = {rng_int(&g, 1, 3), rng_int(&g, 1, 3)}, W = l + own[0] + own[1],
        samples = 700, rows = n * samples, width[2];
    unsigned mask =
        round % 2 ? psdmp_identify_blocks_all() : psdmp_identify_blocks_without(round % PSDMP_IDENTIFY_FOLDS);
    const double sigma[2] = {0.5, 2};
    psdmp_identify_choice choice[2] = {{.count = own[0]}, {.count = own[1]}};
    double *K = numbers((size_t)l);
    psdmp_identify_run r = {.n = n, .l = l, .S = l, .K = K, .choice = choice};
    psdmp_linalg_blocks b;
    for (int i = 0; i < n; i++) width[i] = l + own[i] + 1;
    assert_true(psdmp_linalg_blocks_new(NULL, n, width, PSDMP_IDENTIFY_BLOCKS, &b));
    long words = psdmp_linalg_least_squares_work(rows, W, 1);
    double *A = numbers((size_t)(rows * W)), *B = numbers((size_t)rows), *work = numbers((size_t)words), x[16],
           covariance[256];
    int at = 0;
    for (int k = 0; k < samples; k++)
      for (int i = 0; i < n; i++) {
        int block = k * PSDMP_IDENTIFY_BLOCKS / samples, first = i ? l + own[0] : l;
        double *row = psdmp_linalg_blocks_row(&b, i, block), tau = rng_normal(&g);
        for (int j = 0; j < l + own[i]; j++) row[j] = rng_uniform(&g, -1, 1), tau += row[j];
        row[l + own[i]] = tau;
        if (!(mask >> block & 1)) continue;
        for (int j = 0; j < l + own[i]; j++) A[(long)(j < l ? j : first + j - l) * rows + at] = row[j] / sigma[i];
        B[at++] = tau / sigma[i];
      }
    psdmp_linalg_blocks_flush(&b);
    assert_int_equal(psdmp_identify_blocks_fit(&r, &b, mask, sigma, x, covariance), PSDM_OK);
    double *copy = numbers((size_t)(rows * W)), square = 0;
    memcpy(copy, A, sizeof *A * (size_t)(rows * W));
    assert_true(psdmp_linalg_least_squares(rows, W, 1, A, B, work, words));
    for (int j = 0; j < W; j++)
      assert_true(isfinite(x[j]) && isfinite(covariance[j * W + W - 1 - j])), worst = fmax(worst, fabs(x[j] - B[j]));
    /* covariance times W^T W is s^2 1: and the residual follows from B */
    for (int k = W; k < rows; k++) square += B[k] * B[k];
    square /= at - W;
    for (int i = 0; i < W; i++)
      for (int j = 0; j < W; j++) {
        double sum = 0;
        for (int k = 0; k < W; k++) {
          double entry = 0;
          for (int row = 0; row < rows; row++) entry += copy[(long)k * rows + row] * copy[(long)j * rows + row];
          sum += covariance[i * W + k] * entry;
        }
        worst_covariance = fmax(worst_covariance, fabs(sum / square - (i == j)));
      }
    psdmp_linalg_blocks_free(&b);
    fenced_free(K), fenced_free(A), fenced_free(B), fenced_free(work), fenced_free(copy);
  }
  printf("blocks: %.1e in x, %.1e in covariance\n", worst, worst_covariance);
  assert_true(worst < 1e-12 && worst_covariance < 1e-10);
}

/* ---- instruments ---- */

/* the j-th of so many blocks that have rows: all twenty, thirteen with gaps, the fourth and the last, or the first
 * alone */
static int place(int many, int j) { return many == 13 ? 1 + j + (j > 5) + 3 * (j > 9) : many == 2 ? 3 + 16 * j : j; }

/* (Z^T W)^-1 Z^T tau by the normal equations, their sandwich block by block; two drives, weights, own columns */
TEST(test_instruments) {
  rng g = rng_start("test_instruments");
  double worst = 0, worst_covariance = 0, worst_classical = 0;
  for (int round = 0; round < 20; round++) {
    enum { N = 2, MANY = 16 };
    int l = rng_int(&g, 1, 5), own[N] = {rng_int(&g, 1, 3), rng_int(&g, 1, 3)}, W = l + own[0] + own[1], samples = 600,
        pivot[MANY];
    double sigma[N] = {0.5, 2}, x[MANY], classical[MANY * MANY], covariance[MANY * MANY], rows;
    psdmp_identify_choice choice[N] = {{.count = own[0]}, {.count = own[1]}};
    psdmp_identify_run r = {.n = N, .l = l, .choice = choice, .sigma = sigma};
    psdmp_identify_instruments v;
    assert_true(psdmp_identify_instruments_new(&r, &v));
    int many = (int[]){20, 13, 2, 1}[round % 4], expected = 0, in_block[PSDMP_IDENTIFY_BLOCKS] = {0};
    double *Z = numbers((size_t)(N * samples * W)), *X = numbers((size_t)(N * samples * W)),
           *tau = numbers((size_t)(N * samples));
    for (int k = 0; k < samples; k++)
      for (int i = 0; i < N; i++) {
        int half = l + own[i], first = i ? l + own[0] : l;
        int block = place(many, k * many / samples);
        if (many > 2 && block == place(many, many - 2 - i)) continue; /* a block of the other drive alone */
        if (many == 20 && block == 7 && in_block[block]) continue;    /* a block of one row */
        in_block[block]++, expected++;
        double *row = psdmp_linalg_blocks_row(&v.blocks, i, block), *z = Z + (long)(N * k + i) * W,
               *w = X + (long)(N * k + i) * W;
        for (int j = 0; j < half; j++) {
          int at = j < l ? j : first + j - l;
          row[j] = rng_uniform(&g, -1, 1);
          row[half + j] = row[j] + 0.3 * rng_normal(&g);
          z[at] = row[j] / sigma[i], w[at] = row[half + j] / sigma[i];
        }
        row[2 * half] = rng_normal(&g);
        for (int j = 0; j < half; j++) row[2 * half] += row[j];
        tau[N * k + i] = row[2 * half] / sigma[i];
      }
    psdmp_linalg_blocks_flush(&v.blocks);
    /* all entries are zero */
    if (many > 2) assert_true(psdmp_identify_instruments_solve(&v, psdmp_identify_blocks_without(2), x, &rows));
    assert_true(psdmp_identify_instruments_solve(&v, psdmp_identify_blocks_all(), x, &rows));
    assert_true(rows == expected);
    psdmp_identify_instruments_doubt(&v, rows, x, classical, covariance);
    /* the normal equations, column-major */
    double A[MANY * MANY] = {0}, ZZ[MANY * MANY] = {0}, B[MANY * (MANY + 1)] = {0}, S[MANY * (MANY + 1)],
                    LU[MANY * MANY], residual[MANY * (MANY + 1)], square = 0;
    long double sum[MANY];
    double G[PSDMP_IDENTIFY_BLOCKS][MANY] = {{0}}, mean[MANY] = {0};
    for (int k = 0; k < N * samples; k++)
      for (int i = 0; i < W; i++) {
        for (int j = 0; j < W; j++)
          A[j * W + i] += Z[(long)k * W + i] * X[(long)k * W + j],
              ZZ[j * W + i] += Z[(long)k * W + i] * Z[(long)k * W + j];
        B[i] += Z[(long)k * W + i] * tau[k];
        B[(i + 1) * W + i] = 1;
      }
    assert_true(psdmp_linalg_solve_refined(W, W + 1, A, B, S, LU, pivot, residual, sum));
    for (int j = 0; j < W; j++) assert_true(isfinite(x[j])), worst = fmax(worst, fabs(x[j] - S[j]));
    for (int k = 0; k < N * samples; k++) {
      double e = -tau[k];
      for (int j = 0; j < W; j++) e += X[(long)k * W + j] * S[j];
      square += e * e / (expected - W);
      for (int j = 0; j < W; j++) G[place(many, k / N * many / samples)][j] += Z[(long)k * W + j] * e;
    }
    for (int j = 0; j < W; j++)
      for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS; b++) mean[j] += G[b][j] / many;
    for (int i = 0; i < W; i++)
      for (int j = 0; j < W; j++) {
        double white = 0, sandwich = 0;
        for (int a = 0; a < W; a++)
          for (int b = 0; b < W; b++) white += square * S[(a + 1) * W + i] * ZZ[b * W + a] * S[(b + 1) * W + j];
        for (int b = 0; b < PSDMP_IDENTIFY_BLOCKS && many > 1; b++) {
          double left = 0, right = 0;
          if (!in_block[b]) continue;
          for (int a = 0; a < W; a++)
            left += S[(a + 1) * W + i] * (G[b][a] - mean[a]), right += S[(a + 1) * W + j] * (G[b][a] - mean[a]);
          sandwich += many / (many - 1.0) * left * right;
        }
        assert_true(isfinite(classical[i * W + j]) && isfinite(covariance[i * W + j]));
        worst_classical = fmax(worst_classical, fabs(white - classical[i * W + j]) / square);
        worst_covariance = fmax(worst_covariance, fabs(sandwich - covariance[i * W + j]) / square);
      }
    /* white noise has as many degrees of freedom as there are rows beyond unknowns, and one at least */
    for (int few = -1; few < 4; few++) {
      double other[MANY * MANY];
      psdmp_identify_instruments_doubt(&v, W + few, x, other, NULL);
      for (int i = 0; i < W * W; i++)
        assert_true(fabs(other[i] * (few > 1 ? few : 1) - classical[i] * (expected - W)) <=
                    1e-12 * (expected - W) * square);
    }
    psdmp_identify_instruments_free(&v);
    fenced_free(Z), fenced_free(X), fenced_free(tau);
  }
  printf("instruments: %.1e in x, %.1e in the covariance, %.1e in the classical one\n", worst, worst_covariance,
         worst_classical);
  /* some thousand roundings, condition below a hundred */
  assert_true(worst < 1e-11 && worst_covariance < 1e-11 && worst_classical < 1e-11);
}

/* an instrument that does not move, a column without rows, a torque that is NAN: no answer */
TEST(test_no_instruments) {
  enum { L = 2, OWN = 1, W = L + 2 * OWN, HALF = L + OWN };
  rng g = rng_start("test_no_instruments");
  psdmp_identify_choice choice[2] = {{.count = OWN}, {.count = OWN}};
  double sigma[2] = {1, 2};
  psdmp_identify_run r = {.n = 2, .l = L, .choice = choice, .sigma = sigma};
  for (int what = 0; what < 9; what++) {
    psdmp_identify_instruments v;
    double x[W], rows;
    assert_true(psdmp_identify_instruments_new(&r, &v));
    for (int k = 0; k < 200; k++)
      for (int i = 0; i < 2; i++) {
        double *row = psdmp_linalg_blocks_row(&v.blocks, i, k / 10);
        for (int j = 0; j <= 2 * HALF; j++) row[j] = rng_uniform(&g, -1, 1);
        if (what == 1) row[0] = 0;                           /* Z of the first parameter */
        if (what == 2 && i) row[HALF - 1] = 0;               /* of the last column */
        if (what == 3) row[HALF] = 0;                        /* W of the first parameter */
        if (what == 4 && i) row[2 * HALF - 1] = 0;           /* of the last column */
        if (what == 5 && k == 150) row[2 * HALF] = INFINITY; /* torque */
        /* small instruments at right angles */
        for (int j = 0; j < HALF && what > 6; j++) row[j] = 1e-6 * (j == k % HALF);
        /* and columns, which correlate with them alone */
        for (int j = 0; j < HALF && what == 8; j++) row[HALF + j] = row[j] > 0 ? 1 + 1e-3 * (k + i) : 0;
        if (what == 6 && k == 150 && i) row[2 * HALF] = NAN;
      }
    psdmp_linalg_blocks_flush(&v.blocks);
    assert_int_equal(psdmp_identify_instruments_solve(&v, psdmp_identify_blocks_all(), x, &rows),
                     what == 0 || what > 6);
    assert_true(rows == 400);
    psdmp_identify_instruments_free(&v);
  }
}

/* ---- essential parameters ---- */

/* x, variances of least squares with some columns only, by a fresh QR */
static void refit(int rows, int W, const double *A, const double *b, const bool *in, double variance, double *x,
                  double *variances) {
  int take[16], m = 0;
  for (int j = 0; j < W; j++)
    if (in[j]) take[m++] = j;
  long words = psdmp_linalg_least_squares_work(rows, m, 1);
  double *copy = numbers((size_t)(rows * m)), *B = numbers((size_t)rows), *work = numbers((size_t)words),
         *R = numbers((size_t)(m * m)), *reflectors = numbers((size_t)m);
  for (int k = 0; k < m; k++) memcpy(copy + (long)k * rows, A + (long)take[k] * rows, sizeof *A * (size_t)rows);
  memcpy(B, b, sizeof *B * (size_t)rows);
  assert_true(psdmp_linalg_least_squares(rows, m, 1, copy, B, work, words));
  for (int k = 0; k < m; k++) memcpy(copy + (long)k * rows, A + (long)take[k] * rows, sizeof *A * (size_t)rows);
  assert_true(psdmp_linalg_triangle(rows, m, copy, R, reflectors, work, words));
  for (int k = 0; k < m; k++) {
    double y[16] = {0}, sum = 0;
    y[k] = 1;
    for (int i = 0; i < m; i++) { /* R^T y = e_k, R column-major */
      for (int j = 0; j < i; j++) y[i] -= R[(long)i * m + j] * y[j];
      y[i] /= R[(long)i * m + i];
      sum += y[i] * y[i];
    }
    x[take[k]] = B[k];
    variances[take[k]] = variance * sum;
  }
  fenced_free(copy), fenced_free(B), fenced_free(work), fenced_free(R), fenced_free(reflectors);
}

/* dropping by the covariance equals dropping by a new fit each time */
TEST(test_essential) {
  rng g = rng_start("test_essential");
  int dropped = 0, kept = 0, close = 0;
  for (int round = 0; round < 40; round++) {
    int base = rng_int(&g, 2, 8), W = base + rng_int(&g, 0, 3), rows = 200;
    double *A = numbers((size_t)(rows * W)), *b = numbers((size_t)rows), *scratch = numbers((size_t)(W * W + W)),
           classical[256], sd[16], x[16], variances[16];
    bool in[16], essential[16];
    for (int j = 0; j < W; j++) in[j] = true;
    for (int k = 0; k < rows; k++) {
      double common = rng_uniform(&g, -1, 1);
      b[k] = rng_normal(&g);
      for (int j = 0; j < W; j++) {
        A[(long)j * rows + k] = rng_uniform(&g, -1, 1) + 0.5 * common;
        if (j % 2 || j >= base) b[k] += A[(long)j * rows + k] * (j % 3 ? 1 : 0.1);
      }
    }
    const double variance = 1;
    refit(rows, W, A, b, in, variance, x, variances);
    /* classical: (A^T A)^-1 by solving with the normal matrix, well conditioned here */
    double N[256], unit[256] = {0}, LU[256], residual[256];
    long double sum[16];
    int pivot[16];
    for (int i = 0; i < W; i++)
      for (int j = 0; j < W; j++) {
        N[i * W + j] = 0;
        for (int k = 0; k < rows; k++) N[i * W + j] += A[(long)i * rows + k] * A[(long)j * rows + k];
        unit[i * W + j] = i == j;
      }
    assert_true(psdmp_linalg_solve_refined(W, W, N, unit, classical, LU, pivot, residual, sum));
    for (int j = 0; j < W; j++) {
      sd[j] = sqrt(classical[j * W + j]);
      assert_true(fabs(sd[j] * sd[j] - variances[j]) < 1e-12);
    }
    /* nothing behind them */
    double *own = numbers((size_t)(W * W)), *at = numbers((size_t)W), *doubts = numbers((size_t)W);
    memcpy(own, classical, sizeof *own * (size_t)(W * W)), memcpy(at, x, sizeof *at * (size_t)W),
        memcpy(doubts, sd, sizeof *doubts * (size_t)W);
    psdmp_identify_essential(base, W, at, own, doubts, scratch, essential);
    fenced_free(own), fenced_free(at), fenced_free(doubts);
    /* the remaining estimates and their covariance are those of a fit without the dropped columns */
    bool stays[16];
    for (int j = 0; j < W; j++) stays[j] = j >= base || essential[j];
    refit(rows, W, A, b, stays, variance, x, variances);
    for (int i = 0; i < W; i++) {
      if (!stays[i]) continue;
      assert_true(fabs(scratch[W * W + i] - x[i]) < 1e-12 && fabs(scratch[i * W + i] - variances[i]) < 1e-14);
      for (int k = 0; k < W; k++) {
        double product = 0;
        for (int j = 0; j < W; j++) product += stays[j] ? N[i * W + j] * scratch[j * W + k] : 0;
        assert_true(!stays[k] || fabs(product - (i == k)) < 1e-12);
      }
    }
    /* the plain twin; 95 % of chi squared from a table */
    static const double table[] = {0,         3.841459,  5.991465,  7.814728, 9.487729,
                                   11.070498, 12.591587, 14.067140, 15.507313};
    double total = 0;
    bool near = false; /* the approximation of chi squared may decide otherwise */
    for (int gone = 1; gone <= base; gone++) {
      int least = -1;
      refit(rows, W, A, b, in, variance, x, variances);
      for (int j = 0; j < base; j++)
        if (in[j] && (least < 0 || x[j] * x[j] / variances[j] < x[least] * x[least] / variances[least])) least = j;
      double t2 = x[least] * x[least] / variances[least];
      near |= fabs(total + t2 - table[gone]) < 0.01 * table[gone];
      if (t2 > table[1] || (total += t2) > table[gone]) break;
      in[least] = false;
    }
    close += near;
    for (int j = 0; j < base; j++) {
      if (!near) assert_int_equal(essential[j], in[j]);
      if (j % 2 && j % 3) assert_true(essential[j]); /* some eight standard deviations from zero */
      dropped += !essential[j], kept += essential[j];
    }
    fenced_free(A), fenced_free(b), fenced_free(scratch);
  }
  printf("essential: %d, not: %d\n", kept, dropped);
  assert_true(dropped > 40 && kept > 40 && close < 5);
}

/* the 95 % quantile of chi squared with k degrees of freedom (Wilson, Hilferty 1931), and with one from a table */
static double chi_squared(int k) {
  return k == 1 ? 3.841459 : k * pow(1 - 2 / (9.0 * k) + 1.6448536269514722 * sqrt(2 / (9.0 * k)), 3);
}

/* uncorrelated parameters: how many may be dropped together; exactly known and entirely unknown ones */
TEST(test_essential_limits) {
  enum { MANY = 8 };
  double x[MANY + 1], V[(MANY + 1) * (MANY + 1)], sd[MANY + 1], scratch[(MANY + 2) * (MANY + 1)];
  bool essential[MANY + 1];
  for (int many = 1; many <= MANY; many++)
    for (int more = 0; more < 2; more++) { /* together a little below the noise, and a little above it */
      int W = many + 1;
      double t2 = chi_squared(many) / many * (more ? 1 + 1e-9 : 1 - 1e-9);
      for (int i = 0; i < W * W; i++) V[i] = 0;
      for (int i = 0; i < W; i++)
        V[i * W + i] = 1 + i, sd[i] = 0.5 + 0.1 * i, x[i] = sd[i] * sqrt(t2) * (i % 2 ? -1 : 1);
      essential[many] = true;
      psdmp_identify_essential(many, W, x, V, sd, scratch, essential);
      int left = 0;
      for (int i = 0; i < many; i++) left += essential[i];
      assert_true(left == more && essential[many]); /* the last column is not a parameter */
    }
  /* of two with equal effect the first is dropped, and nothing else fits the bound */
  const double one[4] = {1, 0, 0, 1}, both[2] = {-sqrt(3.5), sqrt(3.5)}, unit[2] = {1, 1};
  psdmp_identify_essential(2, 2, both, one, unit, scratch, essential);
  assert_true(!essential[0] && essential[1]);
  const double exact[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1}, three[3] = {0.001, 0, 0.5}, doubts[3] = {1, 1, 1};
  psdmp_identify_essential(3, 3, three, exact, doubts, scratch, essential);
  assert_true(essential[0] && !essential[1] && !essential[2]);
  for (int k = 0; k < 5; k++) assert_true(scratch[k < 3 ? k : 3 * (k - 2)] == 0);
  assert_true(scratch[9] == 0.001);
  /* a parameter as correlated with another as with itself: 10 and 4 become 9.9 and 3 */
  const double two[4] = {4, 1, 1, 1}, ten[2] = {10, 0.1}, doubled[2] = {2, 1};
  psdmp_identify_essential(2, 2, ten, two, doubled, scratch, essential);
  assert_true(essential[0] && !essential[1] && scratch[0] == 3 && fabs(scratch[4] - 9.9) < 1e-14);
  /* exactly at the noise's bound is still dropped */
  double limit = 3.841459, sigma = 1, at = 0;
  for (int k = 0; k < 1000 && at * at / (sigma * sigma) != limit; k++) sigma = 1 + 1e-3 * k, at = sqrt(limit) * sigma;
  assert_true(at * at / (sigma * sigma) == limit);
  psdmp_identify_essential(1, 1, &at, one, &sigma, scratch, essential);
  assert_false(essential[0]);
  /* a parameter known to be zero uses up none of the bound */
  for (int i = 0; i < MANY * MANY; i++) V[i] = i % (MANY + 1) == 0 && i > 0;
  for (int i = 0; i < MANY; i++) sd[i] = 1, x[i] = i ? sqrt(chi_squared(MANY) / (MANY - 1) * (1 - 1e-9)) : 0;
  psdmp_identify_essential(MANY, MANY, x, V, sd, scratch, essential);
  for (int i = 0; i < MANY; i++) assert_false(essential[i]);
  essential[0] = false;
  psdmp_identify_essential(0, 1, three, one, doubts, scratch, essential);
  assert_false(essential[0]); /* no parameter, no finding */
}

TEST_MAIN(test_energy, test_blocks, test_instruments, test_no_instruments, test_essential, test_essential_limits)
