/* Sensitivities to parameters: kinematic ones against complex steps of the twin's DH rows, inertial ones against the
 * robot with other parameters, and the sensitivity model against differences of simulated trajectories. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "twin.h"

enum { ROBOTS = 100, MOST = TWIN_MOST, SQUARE = MOST * MOST, COLUMNS = 4 * MOST, PARAMETERS = 11 * MOST };

static void fill(rng *g, int n, double size, double *x) {
  for (int i = 0; i < n; i++) x[i] = rng_uniform(g, -size, size);
}

static double largest(const long double *x, int count) {
  double most = 1e-300;
  for (int i = 0; i < count; i++) most = fmax(most, fabs((double)x[i]));
  return most;
}

static double error_of(const double *x, const long double *y, int count, double scale) {
  double most = 0;
  for (int i = 0; i < count; i++) {
    double e = fabs((double)(x[i] - y[i]));
    if (!(e <= most)) most = e;
  }
  return most / scale;
}

/* theta, d, a, alpha of every row, in the header's order */
static void list_rows(const twin *t, psdm_small_motion *motion) {
  psdm_place x_place = t->modified ? PSDM_AT_PARENT : PSDM_AT_LINK;
  for (int j = 0; j < t->joints; j++) {
    *motion++ = (psdm_small_motion){.joint = j, .place = PSDM_AT_JOINT, .turn = {0, 0, 1}};
    *motion++ = (psdm_small_motion){.joint = j, .place = PSDM_AT_JOINT, .shift = {0, 0, 1}};
    *motion++ = (psdm_small_motion){.joint = j, .place = x_place, .shift = {1, 0, 0}};
    *motion++ = (psdm_small_motion){.joint = j, .place = x_place, .turn = {1, 0, 0}};
  }
}

/* dtau by complex steps of the rows' numbers */
static void step_rows(const twin *t, const double *q, const double *qd, const double *qdd, long double *out) {
  const long double step = 1e-40L;
  int columns = 4 * t->joints;
  cld x[3][MOST], tau[MOST];
  for (int i = 0; i < t->n; i++) x[0][i] = q[i], x[1][i] = qd[i], x[2][i] = qdd[i];
  for (int c = 0; c < columns; c++) {
    twin s = *t;
    twin_row *row = &s.row[c / 4];
    *(c % 4 == 0 ? &row->theta : c % 4 == 1 ? &row->d : c % 4 == 2 ? &row->a : &row->alpha) += I * step;
    twin_inverse(&s, x[0], x[1], x[2], tau);
    for (int i = 0; i < t->n; i++) out[i * columns + c] = cimagl(tau[i]) / step;
  }
}

static void test_kinematic(void **unused) {
  (void)unused;
  rng g = rng_start("sensitivities to a, d, alpha, theta");
  static char text[16 * 1024];
  double worst[2] = {0};
  for (int k = 0; k < ROBOTS; k++) {
    twin t = twin_random(&g, MOST, k % 2, k % 2);
    /* a and alpha are about the parent's axes where a row has no origin */
    for (int j = 0; j < t.joints && t.modified; j++)
      if (t.row[j].parent != j - 1) t.modified = false;
    psdm_robot *robot = twin_robot(&t, text, sizeof text);
    psdm_linear *linear;
    static long double expected[MOST * COLUMNS], B[SQUARE], A[SQUARE], M[SQUARE], X[MOST * COLUMNS];
    static double out[MOST * COLUMNS];
    double q[MOST], qd[MOST], qdd[MOST];
    psdm_small_motion motion[COLUMNS];
    list_rows(&t, motion);
    const psdm_sensitivity p = {false, 4 * t.joints, motion};
    assert_int_equal(psdm_sensitivity_columns(robot, &p), 4 * t.joints);
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    fill(&g, t.n, 3, q), fill(&g, t.n, 1, qd), fill(&g, t.n, 3, qdd);
    step_rows(&t, q, qd, qdd, expected);
    twin_linearize(&t, q, qd, qdd, B, A, M);
    assert_int_equal(psdm_sensitivity_inverse(robot, linear, &p, q, qd, qdd, out), PSDM_OK);
    double scale = fmax(largest(expected, t.n * p.motions), largest(M, t.n * t.n)),
           error = error_of(out, expected, t.n * p.motions, scale);
    if (!(error <= 1e-11)) fail_msg("dtau/dp: %.3g for\n%s", error, text);
    worst[0] = fmax(worst[0], error);

    for (int i = 0; i < t.n * p.motions; i++) expected[i] = -expected[i];
    double condition = (double)twin_solve(t.n, p.motions, M, expected, X);
    assert_int_equal(psdm_sensitivity_forward(robot, linear, &p, q, qd, qdd, out), PSDM_OK);
    error = error_of(out, X, t.n * p.motions, fmax(largest(X, t.n * p.motions), 1));
    if (!(error <= 1e-11 + 1e-15 * condition)) fail_msg("dqdd/dp: %.3g for\n%s", error, text);
    worst[1] = fmax(worst[1], error);
    psdm_linear_free(linear, NULL);
    psdm_robot_free(robot);
  }
  printf("worst: dtau/dp %.1e, dqdd/dp %.1e\n", worst[0], worst[1]);
}

/* tau is linear in pi, so a difference of any length is exact; M dqdd/dp = -dtau/dp; motions come after the standard
 * columns */
static void test_inertial(void **unused) {
  (void)unused;
  rng g = rng_start("sensitivities to inertial parameters");
  static char text[16 * 1024];
  for (int k = 0; k < ROBOTS; k++) {
    twin t = twin_random(&g, MOST, k % 2, k % 2);
    psdm_robot *robot = twin_robot(&t, text, sizeof text);
    psdm_linear *linear;
    psdm_work *work;
    int n = t.n, count = psdm_robot_parameter_count(robot);
    static double dtau[MOST * (PARAMETERS + 1)], dqdd[MOST * (PARAMETERS + 1)], alone[MOST];
    double q[MOST], qd[MOST], qdd[MOST], pi[PARAMETERS], M[SQUARE], before[MOST], after[MOST];
    const psdm_small_motion motion = {
        .joint = rng_int(&g, 0, t.joints - 1), .place = PSDM_AT_LINK, .turn = {1, 2, 3}, .shift = {3, 1, 2}};
    const psdm_sensitivity both = {true, 1, &motion}, one = {false, 1, &motion};
    assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    fill(&g, n, 3, q), fill(&g, n, 1, qd), fill(&g, n, 3, qdd);
    assert_int_equal(psdm_sensitivity_inverse(robot, linear, &both, q, qd, qdd, dtau), PSDM_OK);
    assert_int_equal(psdm_sensitivity_inverse(robot, linear, &one, q, qd, qdd, alone), PSDM_OK);
    assert_int_equal(psdm_sensitivity_forward(robot, linear, &both, q, qd, qdd, dqdd), PSDM_OK);
    assert_int_equal(psdm_mass(robot, work, q, M), PSDM_OK);
    assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, before), PSDM_OK);
    psdm_robot_parameters(robot, pi);
    double scale = max_absolute(before, n) + max_absolute(dtau, n * (count + 1));
    for (int i = 0; i < n; i++) assert_true(alone[i] == dtau[i * (count + 1) + count]);
    for (int c = 0; c < count + 1; c++)
      for (int i = 0; i < n; i++) {
        double sum = dtau[i * (count + 1) + c], size = fabs(sum);
        for (int j = 0; j < n; j++)
          sum += M[i * n + j] * dqdd[j * (count + 1) + c], size += fabs(M[i * n + j] * dqdd[j * (count + 1) + c]);
        if (!(fabs(sum) <= 1e-11 * (size + scale))) fail_msg("M dqdd/dp + dtau/dp = %.3g for\n%s", sum, text);
      }
    for (int c = 0; c < count; c++) {
      pi[c] += 1;
      psdm_robot_set_parameters(robot, pi);
      assert_int_equal(psdm_inverse(robot, work, q, qd, qdd, after), PSDM_OK);
      pi[c] -= 1;
      for (int i = 0; i < n; i++)
        if (!(fabs(after[i] - before[i] - dtau[i * (count + 1) + c]) <= 1e-12 * scale))
          fail_msg("dtau/dpi, column %d for\n%s", c, text);
    }
    psdm_work_free(work, NULL);
    psdm_linear_free(linear, NULL);
    psdm_robot_free(robot);
  }
}

/* ---- along a trajectory ---- */

/* two joints; each half sample is integrated in this many steps, so that the trajectory itself is exact enough */
enum { N = 2, FINE = 8 };

typedef struct arm {
  psdm_robot *robot;
  psdm_work *work;
} arm;

static void torque(double t, double *tau) {
  tau[0] = 12 + 3 * sin(3 * t);
  tau[1] = 4 - 2 * cos(2 * t);
}

static void rates(const arm *a, double t, const double *y, double *rate) {
  double tau[N];
  torque(t, tau);
  memcpy(rate, y + N, N * sizeof *y);
  assert_int_equal(psdm_forward(a->robot, a->work, y, y + N, tau, rate + N), PSDM_OK);
}

static void advance(const arm *a, double t, double h, double *y) {
  double k[4][2 * N], z[2 * N];
  for (int s = 0; s < 4; s++) {
    double reach = s == 0 ? 0 : s == 3 ? h : 0.5 * h;
    for (int i = 0; i < 2 * N; i++) z[i] = y[i] + (s ? reach * k[s - 1][i] : 0);
    rates(a, t + reach, z, k[s]);
  }
  for (int i = 0; i < 2 * N; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* states at every half step of dt, (2 steps + 1) */
static void simulate(const arm *a, int steps, double dt, double (*y)[2 * N]) {
  const double start[2 * N] = {0.3, -0.7, 0.5, -0.2};
  memcpy(y[0], start, sizeof start);
  for (int k = 0; k < 2 * steps; k++) {
    memcpy(y[k + 1], y[k], sizeof *y);
    for (int i = 0; i < FINE; i++) advance(a, (k + (double)i / FINE) * dt / 2, dt / 2 / FINE, y[k + 1]);
  }
}

static const char *const two_links = "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{a: %.17g}, {a: 0.5}]\n"
                                     "links: [{mass: 3, com: [-0.2, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.2}}, "
                                     "{mass: 2, com: [-0.1, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}]\n";

static arm open_arm(double a) {
  char text[512];
  snprintf(text, sizeof text, two_links, a);
  arm out = {parse_robot(text), NULL};
  assert_int_equal(psdm_work_new(out.robot, NULL, &out.work), PSDM_OK);
  return out;
}

static void close_arm(arm *a) {
  psdm_work_free(a->work, NULL);
  psdm_robot_free(a->robot);
}

/* dy/da and dy/dm2 at the end by central differences of order four */
static void differences(int steps, double dt, double *by_length, double *by_mass) {
  static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[4] = {-2, -1, 1, 2};
  const double h = 1e-3;
  static double y[2049][2 * N];
  memset(by_length, 0, 2 * N * sizeof *by_length);
  memset(by_mass, 0, 2 * N * sizeof *by_mass);
  for (int k = 0; k < 4; k++) {
    arm a = open_arm(0.6 + at[k] * h);
    simulate(&a, steps, dt, y);
    for (int i = 0; i < 2 * N; i++) by_length[i] += weight[k] * y[2 * steps][i] / h;
    close_arm(&a);
    double pi[22];
    a = open_arm(0.6);
    psdm_robot_parameters(a.robot, pi);
    pi[10] += at[k] * h;
    psdm_robot_set_parameters(a.robot, pi);
    simulate(&a, steps, dt, y);
    for (int i = 0; i < 2 * N; i++) by_mass[i] += weight[k] * y[2 * steps][i] / h;
    close_arm(&a);
  }
}

/* the model's error at the end of one second */
static double model_error(int steps, const double *by_length, const double *by_mass) {
  static double y[2049][2 * N];
  double dt = 1.0 / steps, error = 0;
  arm a = open_arm(0.6);
  psdm_linear *linear;
  const psdm_small_motion motion = {.joint = 0, .place = PSDM_AT_LINK, .shift = {1, 0, 0}};
  const psdm_sensitivity p = {true, 1, &motion};
  int columns = psdm_sensitivity_columns(a.robot, &p);
  double *S = calloc((size_t)(2 * N * columns), sizeof *S),
         *scratch = calloc(psdm_sensitivity_scratch(a.robot, &p), sizeof *scratch);
  assert_int_equal(columns, 21);
  assert_int_equal(psdm_linear_new(a.robot, NULL, &linear), PSDM_OK);
  simulate(&a, steps, dt, y);
  for (int k = 0; k < steps; k++) {
    double tau[3][N];
    psdm_sample sample[3];
    for (int i = 0; i < 3; i++) {
      torque((k + 0.5 * i) * dt, tau[i]);
      sample[i] = (psdm_sample){y[2 * k + i], y[2 * k + i] + N, tau[i]};
    }
    assert_int_equal(psdm_sensitivity_step(a.robot, linear, &p, sample, dt, scratch, S), PSDM_OK);
  }
  for (int i = 0; i < 2 * N; i++) {
    error = fmax(error, fabs(S[i * columns + 20] - by_length[i]) / max_absolute(by_length, 2 * N));
    error = fmax(error, fabs(S[i * columns + 10] - by_mass[i]) / max_absolute(by_mass, 2 * N));
  }
  free(S);
  free(scratch);
  psdm_linear_free(linear, NULL);
  close_arm(&a);
  return error;
}

static void test_trajectory(void **unused) {
  (void)unused;
  double by_length[2 * N], by_mass[2 * N];
  differences(256, 1.0 / 256, by_length, by_mass);
  double coarse = model_error(32, by_length, by_mass), fine = model_error(64, by_length, by_mass),
         finest = model_error(256, by_length, by_mass);
  printf("errors at 32, 64, 256 steps: %.1e %.1e %.1e\n", coarse, fine, finest);
  assert_true(finest < 1e-7);                            /* four times the steps, 256 times the accuracy */
  assert_true(coarse / fine > 12 && coarse / fine < 20); /* order four */
}

static void test_refusals(void **unused) {
  (void)unused;
  arm a = open_arm(0.6);
  psdm_linear *linear;
  double x[N] = {0}, out[N];
  psdm_small_motion motion = {.joint = 2};
  const psdm_sensitivity p = {false, 1, &motion};
  assert_int_equal(psdm_linear_new(a.robot, NULL, &linear), PSDM_OK);
  assert_int_equal(psdm_sensitivity_inverse(a.robot, linear, &p, x, x, x, out), PSDM_E_ARGUMENT);
  motion.joint = -1;
  assert_int_equal(psdm_sensitivity_forward(a.robot, linear, &p, x, x, x, out), PSDM_E_ARGUMENT);
  psdm_linear_free(linear, NULL);
  close_arm(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinematic), cmocka_unit_test(test_inertial),
                                     cmocka_unit_test(test_trajectory), cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
