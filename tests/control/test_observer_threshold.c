/* Thresholds of the observer: standard deviations against drawn noise, false alarms against the accepted number, the
 * flag and its hold. The tolerance of a standard deviation estimated from N samples of a first-order filter's output is
 * 5 / sqrt(2 N (1 - a^2) / (1 + a^2)) of it: five of its own (Bartlett 1946). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 2, SAMPLES = 300000, LONGEST = 12 };
static const double rate = 1000;

typedef struct bench {
  psdm_robot *robot;
  psdm_work *work;
  psdm_observer *observer;
  void *memory;
  double q[N], gravity[N];
} bench;

static bench bench_of(const psdm_observer_options *options) {
  bench b = {.robot = load_shipped("two_link"), .q = {0.4, -0.9}};
  size_t bytes = psdm_observer_bytes(b.robot);
  b.memory = malloc(bytes);
  assert_non_null(b.memory);
  assert_int_equal(psdm_observer_init(b.robot, options, b.memory, bytes, &b.observer), PSDM_OK);
  assert_int_equal(psdm_work_new(b.robot, NULL, &b.work), PSDM_OK);
  assert_int_equal(psdm_gravity(b.robot, b.work, b.q, b.gravity), PSDM_OK);
  return b;
}

static void bench_free(bench *b) {
  psdm_work_free(b->work, NULL);
  free(b->memory);
  psdm_robot_free(b->robot);
}

static double gauss(rng *g) {
  return sqrt(-2 * log(1 - rng_uniform(g, 0, 1))) * cos(6.283185307179586 * rng_uniform(g, 0, 1));
}

/* ---- standard deviations ---- */

typedef struct noise {
  const char *name;
  double bandwidth, torque, velocity, position; /* of each sample */
  /* torque noise is the mean of this many white numbers, times sqrt(mean): a triangle of autocorrelation */
  int mean;
} noise;

/* r of a robot at rest with noisy measurements: its standard deviation over the observer's */
static void measure(rng *g, const noise *x, double ratio[N]) {
  const double sigma[N] = {fmax(x->torque, 1e-12), fmax(x->torque, 1e-12) / 3}, correlation[N] = {x->mean, x->mean};
  double velocity[N], white[N][LONGEST] = {{0}}, sum[N] = {0}, sd[N];
  for (int j = 0; j < N; j++) velocity[j] = (x->position > 0 ? x->position * rate * sqrt(2) : x->velocity) * (1 + j);
  psdm_observer_options options = {.rate = rate,
                                   .bandwidth = x->bandwidth,
                                   .sigma = sigma,
                                   .correlation = correlation,
                                   .velocity_noise = velocity,
                                   .differences = x->position > 0};
  bench b = bench_of(&options);
  for (long k = -500; k < SAMPLES; k++) {
    double q[N], qd[N], tau[N], r[N];
    for (int j = 0; j < N; j++) {
      double total = 0;
      white[j][(k + 1000) % x->mean] = gauss(g);
      for (int i = 0; i < x->mean; i++) total += white[j][i];
      tau[j] = b.gravity[j] + x->torque / (j ? 3 : 1) * total / sqrt(x->mean);
      q[j] = b.q[j] + x->position * (1 + j) * gauss(g), qd[j] = x->velocity * (1 + j) * gauss(g);
    }
    assert_int_equal(psdm_observer_step(b.observer, q, qd, tau, r), PSDM_OK);
    for (int j = 0; k >= 0 && j < N; j++) sum[j] += r[j] * r[j];
  }
  psdm_observer_sd(b.observer, sd);
  for (int j = 0; j < N; j++) ratio[j] = sqrt(sum[j] / SAMPLES) / sd[j];
  bench_free(&b);
}

/* positions off by 1e-9 rad change gravity by some 1e-7 Nm, but through velocities by 1e-2 Nm */
static void test_standard_deviations(void **unused) {
  (void)unused;
  static const noise cases[] = {
      {"white torque", 100, 0.5, 0, 0, 1},
      {"white torque, slow", 10, 0.5, 0, 0, 1},
      {"mean of 4", 100, 0.5, 0, 0, 4},
      {"mean of 12, fast", 400, 0.5, 0, 0, 12},
      {"velocities", 100, 0, 1e-5, 0, 1},
      {"velocities, fast", 500, 0, 1e-5, 0, 1},
      {"positions", 100, 0, 0, 1e-9, 1},
      {"positions, fast", 500, 0, 0, 1e-9, 1},
      {"all but positions", 200, 2e-3, 1e-5, 0, 1},
  };
  rng g = rng_start("observer, noise");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double ratio[N], a = exp(-cases[c].bandwidth / rate),
                     slow = cases[c].torque > 0 ? (1 - a * a) / (1 + a * a) / cases[c].mean : 1;
    measure(&g, &cases[c], ratio);
    print_message("%-20s drawn over stated %.4f %.4f\n", cases[c].name, ratio[0], ratio[1]);
    /* differences alternate: as few as a third are independent */
    for (int j = 0; j < N; j++) assert_true(fabs(ratio[j] - 1) < 5 / sqrt(2 * SAMPLES * fmin(slow, 1. / 3)));
  }
}

/* uncertainty is added unchanged, and counts as zero if not given */
static void test_uncertainty_in_thresholds(void **unused) {
  (void)unused;
  const double sigma[N] = {0.3, 0.4}, doubt[N] = {0.5, 0}, a = exp(-0.1);
  psdm_observer_options options = {.rate = rate, .sigma = sigma, .doubt = doubt};
  bench b = bench_of(&options);
  double sd[N], threshold[N], white = sqrt((1 - a) / (1 + a));
  psdm_observer_sd(b.observer, sd);
  psdm_observer_thresholds(b.observer, threshold);
  assert_true(fabs(sd[0] - hypot(0.3 * white, 0.5)) < 1e-15 && fabs(sd[1] - 0.4 * white) < 1e-15);
  /* 0.05 false alarms an hour of 3600 000 samples of two joints */
  double z = threshold[0] / sd[0];
  assert_true(fabs(threshold[1] / sd[1] - z) < 1e-12 && fabs(erfc(z / sqrt(2)) * 3.6e6 * N / 0.05 - 1) < 1e-9);
  bench_free(&b);
}

/* ---- false alarms: enough are accepted to count them ---- */

static void test_false_alarms(void **unused) {
  (void)unused;
  const double sigma[N] = {0.3, 0.1}, velocity[N] = {1e-5, 1e-5}, share = 0.02;
  rng g = rng_start("observer, alarms");
  psdm_observer_options options = {
      .rate = rate, .bandwidth = 900, .sigma = sigma, .velocity_noise = velocity, .false_alarms = share * 3600 * rate};
  bench b = bench_of(&options);
  long alone = 0, either = 0;
  for (long k = 0; k < SAMPLES; k++) {
    double qd[N], tau[N], r[N], threshold[N];
    bool above = false;
    for (int j = 0; j < N; j++) tau[j] = b.gravity[j] + sigma[j] * gauss(&g), qd[j] = velocity[j] * gauss(&g);
    assert_int_equal(psdm_observer_step(b.observer, b.q, qd, tau, r), PSDM_OK);
    psdm_observer_thresholds(b.observer, threshold);
    for (int j = 0; j < N; j++) above |= fabs(r[j]) > threshold[j];
    alone += above, either += psdm_observer_statistic(b.observer) > 1;
    assert_true(!above || psdm_observer_statistic(b.observer) > 1);
  }
  double found = (double)alone / SAMPLES, all = (double)either / SAMPLES;
  print_message("accepted %.4f; joint by joint %.4f of half of it, in all %.4f\n", share, found, all);
  /* independent torques reach Bonferroni's bound nearly, minus share^2 / 4 that both share; velocity noise is shared,
   * and the tests overlap */
  double scatter = 5 * sqrt(share / SAMPLES * 1.5);
  assert_true(found < share / 2 + scatter && found > 0.8 * share / 2 - scatter && all < share + scatter &&
              all > share / 2 - scatter);
  bench_free(&b);
}

/* the quantile of the sum of squares: a disturbance of one joint alone is seen joint by joint, of all joints alike
 * by their sum */
static void test_sum_of_squares(void **unused) {
  (void)unused;
  static const char *const joints = "{name: j%d, a: 0.1}",
                           *const link = "{mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}";
  for (int n = 1; n <= 9; n++) {
    char text[4096] = "{name: chain, gravity: [0, 0, 0], convention: dh, joints: [", *end = text + strlen(text);
    for (int j = 0; j < n; j++) end += snprintf(end, 64, joints, j), end += snprintf(end, 4, j < n - 1 ? ", " : "");
    end += snprintf(end, 16, "], links: [");
    for (int j = 0; j < n; j++) end += snprintf(end, 128, "%s%s", link, j < n - 1 ? ", " : "]}");
    psdm_robot *robot = parse_robot(text);
    size_t bytes = psdm_observer_bytes(robot);
    void *memory = malloc(bytes);
    psdm_observer *o;
    double sigma[9], zero[9] = {0}, tau[9], r[9], sd[9], one = 0, together = 0;
    for (int j = 0; j < n; j++) sigma[j] = 1 + j;
    /* no filter memory: r is -tau of the sample before */
    psdm_observer_options options = {.rate = rate, .bandwidth = 1e5, .sigma = sigma};
    assert_int_equal(psdm_observer_init(robot, &options, memory, bytes, &o), PSDM_OK);
    for (int k = 0; k < 2; k++) {
      for (int j = 0; j < n; j++) tau[j] = k == 0 && j > 0 ? 0 : 6 * sigma[j];
      for (int i = 0; i < 2; i++) assert_int_equal(psdm_observer_step(o, zero, zero, tau, r), PSDM_OK);
      *(k ? &together : &one) = psdm_observer_statistic(o);
    }
    psdm_observer_sd(o, sd);
    assert_true(fabs(sd[n - 1] - n) < 1e-12 && fabs(r[n - 1] + 6 * n) < 1e-9);
    /* the tail probabilities of 6 / one and 6 sqrt(n) / together: erfc, and Abramowitz and Stegun 26.4.4 (odd) and
     * 26.4.5 (even) */
    double z = 6 / one, x = 36 * n / together / together, tail = n % 2 ? erfc(sqrt(x / 2)) : 0,
           term = (n % 2 ? sqrt(2 * x / 3.14159265358979323846) : 1) * exp(-x / 2);
    for (int k = 2 + n % 2; k <= n; k += 2) tail += term, term *= x / k;
    print_message("%d joints: %.3f sd each, %.3f together\n", n, z, sqrt(x));
    assert_true(fabs(erfc(z / sqrt(2)) * n * 3.6e6 / 0.05 - 1) < 1e-8);
    assert_true(n == 1 || fabs(tail * 3.6e6 / 0.05 - 1) < 1e-8);
    free(memory);
    psdm_robot_free(robot);
  }
}

/* ---- the flag ---- */

static void push(bench *b, double torque, int joint) {
  double still[N] = {0}, tau[N] = {b->gravity[0], b->gravity[1]}, r[N];
  tau[joint] -= torque;
  assert_int_equal(psdm_observer_step(b->observer, b->q, still, tau, r), PSDM_OK);
}

static void test_flag(void **unused) {
  (void)unused;
  const double sigma[N] = {0.1, 0.1}, own[N] = {INFINITY, 1.5}, hold = 0.02;
  psdm_observer_options options = {.rate = rate, .sigma = sigma, .hold = hold};
  bench b = bench_of(&options);
  double threshold[N];
  int joint = 7, after = 0;
  psdm_observer_thresholds(b.observer, threshold);
  for (int k = 0; k < 50; k++) push(&b, 0, 0), assert_false(psdm_observer_collision(b.observer, &joint));
  assert_int_equal(joint, -1);
  /* up as soon as r is beyond its threshold: r = 2 (1 - e^(-0.1 k)) and the torque of a sample acts on the next */
  int k = 0;
  do push(&b, 2, 1), k++;
  while (!psdm_observer_collision(b.observer, &joint));
  assert_int_equal(joint, 1);
  double before = 2 * -expm1(-0.1 * (k - 2)), then = 2 * -expm1(-0.1 * (k - 1));
  assert_true(before <= threshold[1] && then > threshold[1] && psdm_observer_statistic(b.observer) > 1);
  /* and for 20 samples after the last one above */
  push(&b, 0, 0);
  while (psdm_observer_statistic(b.observer) > 1) push(&b, 0, 0);
  while (psdm_observer_collision(b.observer, NULL)) push(&b, 0, 0), after++;
  assert_int_equal(after, 20);
  /* the caller's thresholds, alone */
  psdm_observer_set_thresholds(b.observer, own);
  psdm_observer_thresholds(b.observer, threshold);
  assert_true(isinf(threshold[0]) && threshold[1] == 1.5);
  for (int i = 0; i < 100; i++) push(&b, 1000, 0), assert_false(psdm_observer_collision(b.observer, NULL));
  psdm_observer_restart(b.observer);
  for (int i = 0; i < 100; i++) push(&b, 1.49, 1), assert_false(psdm_observer_collision(b.observer, NULL));
  for (int i = 0; i < 100; i++) push(&b, 1.51, 1);
  assert_true(psdm_observer_collision(b.observer, &joint) && joint == 1);
  psdm_observer_restart(b.observer);
  assert_false(psdm_observer_collision(b.observer, &joint));
  assert_true(joint == -1 && psdm_observer_statistic(b.observer) == 0);
  psdm_observer_set_thresholds(b.observer, NULL);
  for (int i = 0; i < 100; i++) push(&b, 1000, 0);
  assert_true(psdm_observer_collision(b.observer, &joint) && joint == 0);
  bench_free(&b);
  /* without sigma there is r, and no flag */
  options.sigma = NULL;
  b = bench_of(&options);
  for (int i = 0; i < 100; i++) push(&b, 1e6, 0);
  psdm_observer_thresholds(b.observer, threshold);
  assert_true(isinf(threshold[0]) && isinf(threshold[1]) && !psdm_observer_collision(b.observer, NULL) &&
              psdm_observer_statistic(b.observer) == 0);
  bench_free(&b);
}

/* ---- uncertainty of a state ---- */

static void test_uncertainty_of_a_state(void **unused) {
  (void)unused;
  enum { ROWS = 3, BASE = 7, STRIDE = 9 };
  rng g = rng_start("observer, doubt");
  double Y[ROWS * BASE], L[STRIDE * STRIDE], C[STRIDE * STRIDE], sd[ROWS];
  for (int i = 0; i < ROWS * BASE; i++) Y[i] = rng_uniform(&g, -3, 3);
  for (int i = 0; i < STRIDE * STRIDE; i++) L[i] = rng_uniform(&g, -1, 1);
  for (int i = 0; i < STRIDE; i++)
    for (int j = 0; j < STRIDE; j++) {
      C[i * STRIDE + j] = 0;
      for (int k = 0; k < STRIDE; k++) C[i * STRIDE + j] += L[i * STRIDE + k] * L[j * STRIDE + k];
    }
  psdm_observer_doubt(ROWS, BASE, Y, C, STRIDE, sd);
  /* |L^T y| of the leading rows of L */
  for (int i = 0; i < ROWS; i++) {
    double square = 0;
    for (int k = 0; k < STRIDE; k++) {
      double sum = 0;
      for (int l = 0; l < BASE; l++) sum += L[l * STRIDE + k] * Y[i * BASE + l];
      square += sum * sum;
    }
    assert_true(fabs(sd[i] - sqrt(square)) < 1e-12 * sqrt(square));
  }
  memset(C, 0, sizeof C);
  C[0] = -1e-20; /* the rounding of zero */
  psdm_observer_doubt(ROWS, BASE, Y, C, STRIDE, sd);
  for (int i = 0; i < ROWS; i++) assert_true(sd[i] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_standard_deviations),
      cmocka_unit_test(test_uncertainty_in_thresholds),
      cmocka_unit_test(test_false_alarms),
      cmocka_unit_test(test_sum_of_squares),
      cmocka_unit_test(test_flag),
      cmocka_unit_test(test_uncertainty_of_a_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
