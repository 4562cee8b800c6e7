/* cartesian.c: the equations of p = f(q) against those of q, on random robots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 12 };

typedef struct bench {
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n, m;
  double q[MOST], qd[MOST], J[MOST * MOST], rate[MOST * MOST], twelve[12 * MOST];
  double *scratch;
  double M[MOST * MOST], S[MOST * MOST], Sn[MOST * MOST], c[MOST], g[MOST], Jbar[MOST * MOST], N[MOST * MOST];
  psdm_cartesian out;
} bench;

/* a task of m random combinations of joints: sines, so that dJ/dt is known */
static void random_task(bench *b, rng *g, double W[MOST][MOST], double f[MOST][MOST]) {
  for (int i = 0; i < b->m; i++)
    for (int j = 0; j < b->n; j++) W[i][j] = rng_uniform(g, -1, 1) + (i == j), f[i][j] = rng_uniform(g, 0.5, 2);
}

/* p_i = sum_j W_ij (q_j + 0.3 sin(f_ij q_j) / f_ij) */
static void task_at(bench *b, double W[MOST][MOST], double f[MOST][MOST], const double *q, const double *qd, double *J,
                    double *rate) {
  for (int i = 0; i < b->m; i++)
    for (int j = 0; j < b->n; j++) {
      J[i * b->n + j] = W[i][j] * (1 + 0.3 * cos(f[i][j] * q[j]));
      rate[i * b->n + j] = -W[i][j] * 0.3 * f[i][j] * sin(f[i][j] * q[j]) * qd[j];
    }
}

static void start(bench *b, rng *g, const random_options *options) {
  static char text[65536];
  b->robot = parse_robot(random_robot_text(g, options, text, sizeof text));
  b->n = psdm_robot_n(b->robot);
  assert_int_equal(psdm_work_new(b->robot, NULL, &b->work), PSDM_OK);
  assert_int_equal(psdm_linear_new(b->robot, NULL, &b->linear), PSDM_OK);
  b->scratch = malloc(sizeof(double) * psdm_cartesian_scratch(b->robot, b->n));
  for (int i = 0; i < b->n; i++) b->q[i] = rng_uniform(g, -3, 3), b->qd[i] = rng_uniform(g, -2, 2);
  b->out =
      (psdm_cartesian){.M = b->M, .S = b->S, .S_null = b->Sn, .c = b->c, .g = b->g, .J_inverse = b->Jbar, .N = b->N};
}

static void end(bench *b) {
  free(b->scratch);
  psdm_linear_free(b->linear, NULL);
  psdm_work_free(b->work, NULL);
  psdm_robot_free(b->robot);
}

/* F = M_p pdd + c_p + g_p of the motion under joint torques J^T F + N tau_0 */
static double motion_error(bench *b, rng *g) {
  double F[MOST], tau0[MOST], tau[MOST] = {0}, qdd[MOST], pdd[MOST], size = 0, worst = 0;
  for (int i = 0; i < b->m; i++) F[i] = rng_uniform(g, -20, 20);
  for (int i = 0; i < b->n; i++) tau0[i] = rng_uniform(g, -20, 20);
  for (int i = 0; i < b->n; i++) {
    for (int k = 0; k < b->m; k++) tau[i] += b->J[k * b->n + i] * F[k];
    for (int k = 0; k < b->n; k++) tau[i] += b->N[i * b->n + k] * tau0[k];
  }
  assert_int_equal(psdm_forward_cholesky(b->robot, b->work, b->q, b->qd, tau, qdd), PSDM_OK);
  for (int i = 0; i < b->m; i++) {
    pdd[i] = 0;
    for (int k = 0; k < b->n; k++) pdd[i] += b->J[i * b->n + k] * qdd[k] + b->rate[i * b->n + k] * b->qd[k];
  }
  for (int i = 0; i < b->m; i++) {
    double sum = b->c[i] + b->g[i], part = fabs(b->c[i]) + fabs(b->g[i]) + fabs(F[i]);
    for (int k = 0; k < b->m; k++) sum += b->M[i * b->m + k] * pdd[k], part += fabs(b->M[i * b->m + k] * pdd[k]);
    worst = fmax(worst, fabs(sum - F[i]));
    size = fmax(size, part);
  }
  return worst / size;
}

/* c_p = S_p pd + S_n qd_0 */
static double split_error(const bench *b) {
  double pd[MOST], qd0[MOST], worst = 0, size = 0;
  for (int i = 0; i < b->m; i++) {
    pd[i] = 0;
    for (int k = 0; k < b->n; k++) pd[i] += b->J[i * b->n + k] * b->qd[k];
  }
  for (int i = 0; i < b->n; i++) {
    qd0[i] = b->qd[i];
    for (int k = 0; k < b->m; k++) qd0[i] -= b->Jbar[i * b->m + k] * pd[k];
  }
  for (int i = 0; i < b->m; i++) {
    double sum = 0, part = 0;
    for (int k = 0; k < b->m; k++) sum += b->S[i * b->m + k] * pd[k], part += fabs(b->S[i * b->m + k] * pd[k]);
    for (int k = 0; k < b->n; k++) sum += b->Sn[i * b->n + k] * qd0[k], part += fabs(b->Sn[i * b->n + k] * qd0[k]);
    worst = fmax(worst, fabs(sum - b->c[i]));
    size = fmax(size, part);
  }
  return worst / fmax(size, 1e-300);
}

static psdm_status evaluate(bench *b, double W[MOST][MOST], double f[MOST][MOST], double damping) {
  task_at(b, W, f, b->q, b->qd, b->J, b->rate);
  return psdm_cartesian_at(b->robot, b->work, b->linear, b->q, b->qd, b->m, b->J, b->rate, damping, b->scratch,
                           &b->out);
}

/* dM_p/dt by central differences of two steps (Richardson), at constant qd */
static double skew_error(bench *b, double W[MOST][MOST], double f[MOST][MOST], double damping) {
  double rate[4][MOST * MOST], S[MOST * MOST], M[MOST * MOST], q[MOST], worst = 0, size = 0;
  const double h = 1e-3, at[4] = {h, -h, 2 * h, -2 * h};
  memcpy(S, b->S, sizeof S);
  memcpy(M, b->M, sizeof M);
  memcpy(q, b->q, sizeof q);
  for (int s = 0; s < 4; s++) {
    for (int i = 0; i < b->n; i++) b->q[i] = q[i] + at[s] * b->qd[i];
    assert_int_equal(evaluate(b, W, f, damping), PSDM_OK);
    memcpy(rate[s], b->M, sizeof M);
  }
  memcpy(b->q, q, sizeof q);
  for (int i = 0; i < b->m; i++)
    for (int k = 0; k < b->m; k++) {
      int x = i * b->m + k, y = k * b->m + i;
      double dM = (8 * (rate[0][x] - rate[1][x]) - (rate[2][x] - rate[3][x])) / (12 * h), a = dM - 2 * S[x],
             c = dM - 2 * S[y];
      worst = fmax(worst, fabs(a + c));
      size = fmax(size, fmax(fabs(dM), fabs(M[x])));
    }
  return worst / size;
}

static void equations(void **state) {
  (void)state;
  rng g = rng_start("equations");
  const random_options options = {
      .n_min = 1, .n_max = 7, .trees = true, .prismatic = true, .drives = true, .coupled = true};
  double worst = 0, split = 0, skew = 0;
  for (int round = 0; round < 200; round++) {
    bench b;
    double W[MOST][MOST], f[MOST][MOST];
    start(&b, &g, &options);
    b.m = rng_int(&g, 1, b.n);
    random_task(&b, &g, W, f);
    psdm_status status = evaluate(&b, W, f, 0);
    assert_int_equal(status, PSDM_OK);
    double condition = b.out.largest / b.out.smallest;
    if (condition < 1e6) {
      worst = fmax(worst, motion_error(&b, &g) / condition);
      split = fmax(split, split_error(&b) / condition);
    }
    if (condition < 1e3) skew = fmax(skew, skew_error(&b, W, f, 0) / condition);
    /* damped: finite, and still skew */
    double damping = 0.3 * sqrt(b.out.largest);
    assert_int_equal(evaluate(&b, W, f, damping), PSDM_OK);
    if (condition < 1e3) skew = fmax(skew, skew_error(&b, W, f, damping) / condition);
    end(&b);
  }
  printf("equations %.2e, c = S_p pd + S_n qd_0 %.2e (per condition of J M^-1 J^T); dM_p/dt - 2 S_p skew to %.2e\n",
         worst, split, skew);
  assert_true(worst < 1e-11);
  assert_true(split < 1e-12);
  assert_true(skew < 1e-6); /* differences with h = 1e-3: h^4 times fifth derivatives of the sines */
}

/* the KR6's flange: all six rows, some of them, and singular */
static void flange(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  psdm_linear *linear;
  double q[6] = {0.3, -1, 1.2, 0.4, 0.9, -0.2}, qd[6] = {1, 0.5, -0.4, 0.7, 0.2, -1}, J[36], rate[36], twelve[72],
         M[36], N[36];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  double *scratch = malloc(sizeof(double) * psdm_cartesian_scratch(robot, 6));
  psdm_cartesian out = {.M = M, .N = N};
  assert_int_equal(psdm_task_link(robot, work, q, qd, 5, 63, twelve, J, rate), PSDM_OK);
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 6, J, rate, 0, scratch, &out), PSDM_OK);
  assert_true(max_absolute(N, 36) < 1e-9); /* no remainder */
  /* three of the rows are rows of the six */
  double three[18], three_rate[18];
  assert_int_equal(psdm_task_link(robot, work, q, qd, 5, 1 | 4 | 32, twelve, three, three_rate), PSDM_OK);
  for (int j = 0; j < 6; j++)
    assert_true(three[j] == J[j] && three[6 + j] == J[12 + j] && three_rate[12 + j] == rate[30 + j]);
  assert_int_equal(psdm_task_link(robot, work, q, qd, 5, 0, twelve, three, three_rate), PSDM_E_ARGUMENT);
  /* wrist in line: singular; damped it is finite */
  q[4] = 0;
  assert_int_equal(psdm_task_link(robot, work, q, qd, 5, 63, twelve, J, rate), PSDM_OK);
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 6, J, rate, 0, scratch, &out), PSDM_E_SINGULAR);
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 6, J, rate, 0.1, scratch, &out), PSDM_OK);
  assert_true(max_absolute(M, 36) <= 100 * (1 + 1e-9)); /* 1 / damping^2 at most */
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 7, J, rate, 0.1, scratch, &out), PSDM_E_ARGUMENT);
  for (int k = 0; k < 3; k++)
    assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 6, J, rate, (const double[]){-1, NAN, INFINITY}[k],
                                       scratch, &out),
                     PSDM_E_ARGUMENT);
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 0, J, rate, 0, scratch, &out), PSDM_E_ARGUMENT);
  /* J alone, and only the eigenvalues */
  double alone[36];
  assert_int_equal(psdm_task_link(robot, work, q, qd, 5, 63, twelve, alone, NULL), PSDM_OK);
  assert_memory_equal(alone, J, sizeof J);
  /* a missing joint */
  assert_int_equal(psdm_task_link(robot, work, q, qd, 6, 63, twelve, alone, rate), PSDM_E_ARGUMENT);
  psdm_cartesian sizes = {0};
  assert_int_equal(psdm_cartesian_at(robot, work, linear, q, qd, 6, J, rate, 0.1, scratch, &sizes), PSDM_OK);
  assert_true(sizes.smallest == out.smallest && sizes.largest == out.largest);
  free(scratch);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* unknown inertias, and masses that make M singular */
static void refused_robots(void **state) {
  (void)state;
  static const struct {
    const char *text;
    psdm_status expected;
  } cases[] = {
      {"convention: dh\njoints: [{a: 1}, {a: 1}]\n", PSDM_E_MISSING},
      {"convention: dh\njoints: [{a: 1}, {a: 1}]\nlinks: [{mass: 1, com: [0.1, 0, 0], inertia: {zz: 1}}, {mass: 0}]\n",
       PSDM_E_SINGULAR}};
  for (int k = 0; k < 2; k++) {
    psdm_robot *robot = parse_robot(cases[k].text);
    psdm_work *work;
    psdm_linear *linear;
    double q[2] = {0.3, 0.4}, J[4] = {1, 0, 0, 1}, rate[4] = {0};
    psdm_cartesian out = {0};
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    double *scratch = malloc(sizeof(double) * psdm_cartesian_scratch(robot, 2));
    assert_int_equal(psdm_cartesian_at(robot, work, linear, q, q, 2, J, rate, 0, scratch, &out), cases[k].expected);
    free(scratch);
    psdm_linear_free(linear, NULL);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(equations), cmocka_unit_test(flange),
                                     cmocka_unit_test(refused_robots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
