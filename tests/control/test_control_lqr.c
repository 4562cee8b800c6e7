/* LQR: at a point against the algebraic equation, along a motion against a plain recursion, and both in closed loop. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "psdm/control.h"

enum { MOST = 6, WIDE = 2 * MOST };
static const double quarter = 1.5707963267948966;

/* a double pendulum; standing upright at q = (90 deg, 0) */
static psdm_robot *pendulum(const char *gravity) {
  char text[600];
  snprintf(
      text, sizeof text,
      "{name: pendulum, gravity: %s, convention: dh, joints: [{a: 1.2}, {a: 1.1}],"
      "links: [{mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.12}}, {mass: 2, com: [-0.55, 0, 0], inertia: {zz: 0.2}}]}",
      gravity);
  return parse_robot(text);
}

static psdm_motion *rest_to_rest(int n, const double *from, const double *to, double duration) {
  psdm_motion *motion;
  assert_int_equal(psdm_motion_polynomial(n, 5, from, to, 0, duration, NULL, &motion, NULL), PSDM_OK);
  return motion;
}

static psdm_controller *lqr(const psdm_robot *robot, const psdm_motion *reference,
                            const psdm_control_options *options) {
  psdm_controller *c;
  psdm_error error;
  if (psdm_control_new(PSDM_CONTROL_LQR, robot, reference, options, NULL, &c, &error)) fail_msg("%s", error.text);
  return c;
}

/* K (n x 2n) at a time from torques alone, rows of zeros where there is no motor, and u_d (n) */
static void gains_at(psdm_controller *c, double t, double *K, double *u) {
  int n = psdm_control_n(c);
  double x[3 * MOST], tau[MOST];
  psdm_control_reference(c, t, x);
  psdm_control_input in = {.t = t, .q = x, .qd = x + n};
  assert_int_equal(psdm_control_torque(c, &in, NULL, u, NULL), PSDM_OK);
  for (int j = 0; j < 2 * n; j++) {
    double keep = x[j];
    x[j] += 1; /* the law is linear in the deviation, so any size will do */
    assert_int_equal(psdm_control_torque(c, &in, NULL, tau, NULL), PSDM_OK);
    for (int i = 0; i < n; i++) K[i * 2 * n + j] = (u[i] - tau[i]) / (x[j] - keep);
    x[j] = keep;
  }
}

/* ---- plain algebra for the twin ---- */

static void multiply(int rows, int inner, int columns, const double *A, bool transpose, const double *B, double *C) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      double sum = 0;
      for (int k = 0; k < inner; k++) sum += (transpose ? A[k * rows + i] : A[i * inner + k]) * B[k * columns + j];
      C[i * columns + j] = sum;
    }
}

/* X = S^-1 B by Gauss and Jordan, S (m x m) positive definite, B (m x columns) */
static void solve(int m, int columns, double *S, double *B) {
  for (int k = 0; k < m; k++) {
    double pivot = S[k * m + k];
    for (int j = 0; j < m; j++) S[k * m + j] /= pivot;
    for (int j = 0; j < columns; j++) B[k * columns + j] /= pivot;
    for (int i = 0; i < m; i++) {
      double factor = S[i * m + k];
      if (i == k) continue;
      for (int j = 0; j < m; j++) S[i * m + j] -= factor * S[k * m + j];
      for (int j = 0; j < columns; j++) B[i * columns + j] -= factor * B[k * columns + j];
    }
  }
}

/* A, B (2n x m) sampled at the reference at t, with the existing motors */
static int sampled(const psdm_robot *robot, const psdm_motion *motion, const bool *inputs, double t, double h,
                   double *Ad, double *Bd) {
  int n = psdm_robot_n(robot), N = 2 * n, m = 0;
  double x[3 * MOST], A[WIDE * WIDE], all[WIDE * MOST], B[WIDE * MOST];
  psdm_linear *linear;
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  psdm_motion_at(motion, t, 3, x);
  assert_int_equal(psdm_state_space(robot, linear, x, x + n, x + 2 * n, A, all), PSDM_OK);
  for (int j = 0; j < n; j++) m += inputs[j];
  for (int i = 0; i < N; i++)
    for (int j = 0, k = 0; j < n; j++)
      if (inputs[j]) B[i * m + k++] = all[i * n + j];
  double *scratch = malloc(psdm_system_scratch(N, m) * sizeof *scratch);
  assert_int_equal(psdm_system_discretise(N, m, A, B, h, scratch, Ad, Bd), PSDM_OK);
  free(scratch);
  psdm_linear_free(linear, NULL);
  return m;
}

/* one step backwards in the textbook's form: K = S^-1 B^T X A, X = Q + A^T X A - A^T X B K */
static void plain_step(int N, int m, const double *A, const double *B, const double *Q, const double *R, double *X,
                       double *K) {
  double XA[WIDE * WIDE], XB[WIDE * MOST], S[MOST * MOST], next[WIDE * WIDE], cross[WIDE * MOST];
  multiply(N, N, N, X, false, A, XA);
  multiply(N, N, m, X, false, B, XB);
  multiply(m, N, m, B, true, XB, S);
  multiply(m, N, N, B, true, XA, K);
  for (int i = 0; i < m; i++) S[i * m + i] += R[i];
  solve(m, N, S, K);
  multiply(N, N, N, A, true, XA, next);
  multiply(N, N, m, A, true, XB, cross);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      X[i * N + j] = next[i * N + j] + (i == j ? Q[i] : 0);
      for (int k = 0; k < m; k++) X[i * N + j] -= cross[i * m + k] * K[k * N + j];
    }
}

/* ---- gains ---- */

/* standing: the algebraic equation's gains and the weight, with defaults and with weights; a motion at rest counts as
 * standing */
static void test_standing(void **unused) {
  (void)unused;
  enum { n = 6, N = 12 };
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  psdm_linear *linear;
  const double q[n] = {0.1, -1.2, 0.9, 0.3, 0.5, -0.2}, zero[n] = {0};
  psdm_motion *motion = rest_to_rest(n, q, q, 2);
  static double A[N * N], B[N * n], Q[N * N], R[n * n], K[n * N], found[n * N];
  double u[n], weight[n], diagonal[N], cost[n];
  psdm_lqr_info info;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  double *scratch = malloc(psdm_system_scratch(N, n) * sizeof *scratch);
  assert_int_equal(psdm_gravity(robot, work, q, weight), PSDM_OK);
  assert_int_equal(psdm_state_space(robot, linear, q, zero, zero, A, B), PSDM_OK);
  for (int trial = 0; trial < 2; trial++) {
    psdm_control_options options = {.Q = trial ? diagonal : NULL, .R = trial ? cost : NULL};
    for (int i = 0; i < N; i++) diagonal[i] = 3 + i, Q[i * (N + 1)] = trial ? 3 + i : i < n ? 100 : 1;
    for (int i = 0; i < n; i++) cost[i] = 0.1 + i, R[i * (n + 1)] = trial ? 0.1 + i : 0.01;
    assert_int_equal(psdm_system_lqr(N, n, A, B, 0, Q, R, scratch, K, NULL, NULL, &info), PSDM_OK);
    psdm_controller *c = lqr(robot, motion, &options);
    for (int k = 0; k < 3; k++) { /* the same gains before, during and after */
      gains_at(c, 2.0 * k - 1, found, u);
      assert_true(max_difference(K, found, n * N) < 1e-12 * max_absolute(K, n * N));
      assert_true(max_difference(u, weight, n) < 1e-12 * max_absolute(weight, n));
    }
    psdm_control_free(c);
  }
  free(scratch);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* moving: every gain on the grid against the plain recursion, half way between two the mean, outside the gains of the
 * ends */
static void test_recursion(void **unused) {
  (void)unused;
  rng g = rng_start("recursion");
  random_options random = {.n_min = 1, .n_max = 4, .coupled = true, .trees = true, .prismatic = true, .drives = true};
  static char text[1 << 16];
  static double K[41][MOST * WIDE];
  double worst = 0, between = 0;
  int partly = 0;
  for (int trial = 0; trial < 24; trial++) {
    psdm_robot *robot = parse_robot(random_robot_text(&g, &random, text, sizeof text));
    int n = psdm_robot_n(robot), N = 2 * n, m, steps = 40;
    double from[MOST], to[MOST], Q[WIDE], R[MOST], Rm[MOST], X[WIDE * WIDE], Ad[WIDE * WIDE], Bd[WIDE * MOST];
    double fullQ[WIDE * WIDE] = {0}, fullR[MOST * MOST] = {0}, h = 0.4 / steps;
    bool inputs[MOST];
    for (int i = 0; i < n; i++)
      from[i] = rng_uniform(&g, -1, 1), to[i] = rng_uniform(&g, -1, 1), R[i] = rng_uniform(&g, 0.1, 1);
    for (int i = 0; i < n; i++) inputs[i] = n < 2 || trial % 2 || i != n - 1;
    for (int i = 0; i < N; i++) Q[i] = rng_uniform(&g, 1, 10);
    psdm_motion *motion = rest_to_rest(n, from, to, 0.4);
    psdm_control_options options = {.Q = Q, .R = R, .inputs = inputs, .horizon_step = h};
    psdm_controller *c;
    psdm_error error;
    psdm_status status = psdm_control_new(PSDM_CONTROL_LQR, robot, motion, &options, NULL, &c, &error);
    if (status == PSDM_E_ARGUMENT && !inputs[n - 1]) { /* a joint without motor may be out of reach */
      assert_true(strstr(error.text, psdm_lqr_text(PSDM_LQR_UNREACHABLE)) != NULL ||
                  strstr(error.text, psdm_lqr_text(PSDM_LQR_BOUNDARY)) != NULL);
      psdm_motion_free(motion);
      psdm_robot_free(robot);
      continue;
    }
    assert_int_equal(status, PSDM_OK);
    partly += !inputs[n - 1];
    /* at the end: infinite horizon with the model there */
    m = sampled(robot, motion, inputs, 0.4, h, Ad, Bd);
    psdm_lqr_info info;
    for (int i = 0; i < N; i++) Q[i] *= h, fullQ[i * (N + 1)] = Q[i];
    for (int i = 0, k = 0; i < n; i++)
      if (inputs[i]) Rm[k] = h * R[i], fullR[k * (m + 1)] = Rm[k], k++;
    double *scratch = malloc(psdm_system_scratch(N, m) * sizeof *scratch);
    assert_int_equal(psdm_system_lqr(N, m, Ad, Bd, h, fullQ, fullR, scratch, K[steps], X, NULL, &info), PSDM_OK);
    free(scratch);
    /* the effect of rounding of X on K = S^-1 B^T X A, S >= R: X is large in directions that the motors hardly reach,
     * and cancels there */
    double smallest = INFINITY, reach = 0;
    for (int k = 0; k < m; k++) smallest = fmin(smallest, Rm[k]);
    for (int k = steps - 1; k >= 0; k--) {
      sampled(robot, motion, inputs, (k + 0.5) * h, h, Ad, Bd);
      reach = fmax(reach, N * max_absolute(X, N * N) * max_absolute(Bd, N * m) / smallest);
      plain_step(N, m, Ad, Bd, Q, Rm, X, K[k]);
    }
    for (int k = 0; k <= 2 * steps; k++) {
      double found[MOST * WIDE], u[MOST], scale = max_absolute(K[k / 2], m * N) + reach;
      gains_at(c, k * h / 2, found, u);
      for (int i = 0, row = 0; i < n; i++)
        for (int j = 0; j < N; j++) {
          double expected = !inputs[i] ? 0 : 0.5 * (K[k / 2][row * N + j] + K[(k + 1) / 2][row * N + j]);
          double *to_worst = k % 2 ? &between : &worst;
          *to_worst = fmax(*to_worst, fabs(found[i * N + j] - expected) / scale);
          if (!inputs[i]) assert_true(found[i * N + j] == 0 && u[i] == 0); /* no motor, no torque */
          if (j == N - 1) row += inputs[i];
        }
    }
    double outside[2][MOST * WIDE], ends[2][MOST * WIDE], u[MOST];
    gains_at(c, -1, outside[0], u), gains_at(c, 0, ends[0], u), gains_at(c, 9, outside[1], u),
        gains_at(c, 0.4, ends[1], u);
    for (int k = 0; k < 2; k++)
      assert_true(max_difference(outside[k], ends[k], n * N) <= 1e-9 * max_absolute(ends[k], n * N));
    psdm_control_free(c);
    psdm_motion_free(motion);
    psdm_robot_free(robot);
  }
  print_message("gains against the plain recursion: %.2g on the grid, %.2g half way; %d robots lacked a motor\n", worst,
                between, partly);
  /* two products of 8 terms in each of 40 steps */
  assert_true(worst < 2 * 40 * 8 * 2.3e-16 && between < 2 * 40 * 8 * 2.3e-16 && partly > 0);
}

/* a carriage on rails is the same everywhere: gains along its path do not change */
static void test_time_invariant(void **unused) {
  (void)unused;
  psdm_robot *robot = parse_robot(
      "{convention: dh, joints: [{type: prismatic, alpha: pi/2}, {type: prismatic}], links: [{mass: 3}, {mass: 2}]}");
  const double from[2] = {0, 0}, to[2] = {1, -2};
  psdm_motion *motion = rest_to_rest(2, from, to, 3);
  psdm_controller *c = lqr(robot, motion, NULL);
  double first[8], now[8], u[2], worst = 0;
  gains_at(c, 3, first, u);
  for (int k = 0; k < 50; k++) {
    gains_at(c, 0.0613 * k, now, u);
    worst = fmax(worst, max_difference(first, now, 8) / max_absolute(first, 8));
  }
  print_message("constant dynamics: gains constant to %.2g\n", worst);
  assert_true(worst < 1e-9);
  psdm_control_free(c);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* ---- closed loop ---- */

/* The cost of a run: the integral of dx^T Q dx + du^T R du with Q = 100, 1 and R = 0.01, integrated with the state.
 * gains: NULL or constant ones (n x 2n) in place of the controller's. */
typedef struct plant {
  const psdm_robot *robot;
  psdm_work *work;
  psdm_controller *c;
  const double *gains;
  double largest; /* torque of the first joint */
} plant;

static void derivative(plant *p, double t, const double *x, double *rate) {
  int n = psdm_robot_n(p->robot);
  double tau[MOST], reference[3 * MOST], u[MOST];
  psdm_control_input in = {.t = t, .q = x, .qd = x + n};
  psdm_control_reference(p->c, t, reference);
  assert_int_equal(psdm_control_torque(p->c, &in, NULL, tau, NULL), PSDM_OK);
  assert_int_equal(psdm_inverse(p->robot, p->work, reference, reference + n, reference + 2 * n, u), PSDM_OK);
  rate[2 * n] = 0;
  for (int i = 0; i < n; i++) {
    double dq = x[i] - reference[i], dqd = x[n + i] - reference[n + i];
    if (p->gains) {
      tau[i] = u[i];
      for (int j = 0; j < 2 * n; j++) tau[i] -= p->gains[i * 2 * n + j] * (x[j] - reference[j]);
    }
    rate[2 * n] += 100 * dq * dq + dqd * dqd + 0.01 * (tau[i] - u[i]) * (tau[i] - u[i]);
  }
  p->largest = fmax(p->largest, fabs(tau[0]));
  memcpy(rate, x + n, sizeof *x * (size_t)n);
  assert_int_equal(psdm_forward(p->robot, p->work, x, x + n, tau, rate + n), PSDM_OK);
}

/* x (2n + 1): state and cost */
static void run(plant *p, double h, int steps, double *x) {
  int size = 2 * psdm_robot_n(p->robot) + 1;
  double k[4][WIDE + 1], at[WIDE + 1];
  for (int step = 0; step < steps; step++) {
    for (int stage = 0; stage < 4; stage++) {
      double part = !stage ? 0 : stage < 3 ? 0.5 * h : h;
      for (int i = 0; i < size; i++) at[i] = x[i] + (stage ? part * k[stage - 1][i] : 0);
      derivative(p, step * h + part, at, k[stage]);
    }
    for (int i = 0; i < size; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
  }
}

/* upright with both motors from far away, with the second motor alone (the acrobot) from nearby, as it falls from afar;
 * small deviations cost x^T X x */
static void test_upright(void **unused) {
  (void)unused;
  psdm_robot *robot = pendulum("[0, -9.81, 0]");
  psdm_work *work;
  psdm_linear *linear;
  const double up[2] = {quarter, 0}, zero[2] = {0};
  psdm_motion *stand = rest_to_rest(2, up, up, 1);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &linear), PSDM_OK);
  double *scratch = malloc(psdm_system_scratch(4, 2) * sizeof *scratch);
  for (int motors = 2; motors >= 1; motors--) {
    const bool inputs[2] = {motors == 2, true};
    psdm_control_options options = {.inputs = inputs};
    plant p = {robot, work, lqr(robot, stand, &options), NULL, 0};
    double far = motors == 2 ? 0.5 : 0.01, x[5] = {quarter + far, -far}, near[5] = {quarter + 1e-4, 1e-4, -1e-4, 2e-4};
    run(&p, 0.002, motors == 2 ? 2500 : 5000, x);
    print_message("upright with %d motors from %.2g: %.2g left\n", motors, far,
                  fmax(fmax(fabs(x[0] - quarter), fabs(x[1])), fmax(fabs(x[2]), fabs(x[3]))));
    assert_true(fabs(x[0] - quarter) < 1e-5 && fabs(x[1]) < 1e-5 && fabs(x[2]) < 1e-5 && fabs(x[3]) < 1e-5);
    assert_true(motors == 2 ? p.largest > 0 : p.largest == 0);
    /* the cost that the Riccati equation promises; the dynamics' cubic terms are 1e-4 of it at most */
    double A[16], all[8], B[8], Q[16] = {0}, R[4] = {0}, K[8], X[16], promised = 0;
    psdm_lqr_info info;
    assert_int_equal(psdm_state_space(robot, linear, up, zero, zero, A, all), PSDM_OK);
    for (int i = 0; i < 4; i++) Q[5 * i] = i < 2 ? 100 : 1;
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < motors; k++) B[i * motors + k] = all[i * 2 + (motors == 2 ? k : 1)];
    for (int k = 0; k < motors; k++) R[k * (motors + 1)] = 0.01;
    assert_int_equal(psdm_system_lqr(4, motors, A, B, 0, Q, R, scratch, K, X, NULL, &info), PSDM_OK);
    double d[4] = {near[0] - quarter, near[1], near[2], near[3]};
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) promised += d[i] * X[4 * i + j] * d[j];
    run(&p, 0.002, 10000, near);
    print_message("cost %.8g, promised %.8g\n", near[4], promised);
    assert_true(fabs(near[4] - promised) < 1e-4 * promised);
    psdm_control_free(p.c);
  }
  free(scratch);
  psdm_linear_free(linear, NULL);
  psdm_work_free(work, NULL);
  psdm_motion_free(stand);
  psdm_robot_free(robot);
}

/* swung up in 1.2 s with a small error at the beginning: gains along the way cost less than those of either end */
static void test_swing_up(void **unused) {
  (void)unused;
  psdm_robot *robot = pendulum("[0, -9.81, 0]");
  psdm_work *work;
  const double from[2] = {-quarter, 0.8}, to[2] = {quarter, 0};
  psdm_motion *motion = rest_to_rest(2, from, to, 1.2), *below = rest_to_rest(2, from, from, 1),
              *above = rest_to_rest(2, to, to, 1);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  plant along = {robot, work, lqr(robot, motion, NULL), NULL, 0};
  psdm_controller *ends[2] = {lqr(robot, below, NULL), lqr(robot, above, NULL)};
  double K[8], u[2], cost[3];
  for (int k = 0; k < 3; k++) {
    plant p = along;
    double x[5] = {from[0] + 0.02, from[1] - 0.01, 0.1, 0};
    if (k) gains_at(ends[k - 1], 0, K, u);
    p.gains = k ? K : NULL;
    run(&p, 0.001, 4000, x);
    cost[k] = x[4];
    if (!k) assert_true(fabs(x[0] - to[0]) < 1e-6 && fabs(x[1] - to[1]) < 1e-6);
  }
  print_message("swing up: cost %.8g along, %.8g and %.8g with the ends' gains\n", cost[0], cost[1], cost[2]);
  assert_true(cost[0] < 0.999 * cost[1] && cost[0] < 0.999 * cost[2]);
  for (int k = 0; k < 2; k++) psdm_control_free(ends[k]);
  psdm_control_free(along.c);
  psdm_motion_free(motion);
  psdm_motion_free(below);
  psdm_motion_free(above);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* the five-bar linkage upright, which falls without a controller: its linear model goes through the closed loop */
static void test_five_bar(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("five_bar");
  psdm_work *work;
  const double up[2] = {1.7, 1.4};
  psdm_motion *stand = rest_to_rest(2, up, up, 1);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_control_options options = {0};
  plant p = {robot, work, lqr(robot, stand, &options), NULL, 0};
  double x[5] = {up[0] + 0.2, up[1] - 0.1}, still[8] = {0};
  run(&p, 0.002, 1500, x);
  assert_true(fabs(x[0] - up[0]) < 1e-5 && fabs(x[1] - up[1]) < 1e-5 && fabs(x[2]) < 1e-5 && fabs(x[3]) < 1e-5);
  p.gains = still; /* the same torques without feedback */
  x[0] = up[0] + 0.2, x[1] = up[1] - 0.1, x[2] = x[3] = x[4] = 0;
  run(&p, 0.002, 100, x);
  assert_true(fabs(x[0] - up[0]) > 0.2);
  psdm_control_free(p.c);
  psdm_motion_free(stand);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  psdm_robot *robot = pendulum("[0, 0, 0]");
  psdm_controller *c;
  psdm_error error;
  const bool second[2] = {false, true}, none[2] = {false, false};
  const double weights[4] = {1, 1, -1, 1};
  psdm_control_options options = {.inputs = second};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_LQR, robot, NULL, &options, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_null(c);
  assert_true(strstr(error.text, psdm_lqr_text(PSDM_LQR_UNREACHABLE)) != NULL);
  options.inputs = none;
  assert_int_equal(psdm_control_new(PSDM_CONTROL_LQR, robot, NULL, &options, NULL, &c, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "lqr: no joint has a motor");
  options = (psdm_control_options){.Q = weights};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_LQR, robot, NULL, &options, NULL, &c, &error), PSDM_E_ARGUMENT);
  /* too many gains */
  const double from[2] = {0, 0}, to[2] = {1, 1};
  psdm_motion *motion = rest_to_rest(2, from, to, 10);
  options = (psdm_control_options){.horizon_step = 1e-9};
  assert_int_equal(psdm_control_new(PSDM_CONTROL_LQR, robot, motion, &options, NULL, &c, &error), PSDM_E_LIMIT);
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* a joint's effort limit sets the cost of its torque: 1/effort^2 */
static void test_effort(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("{convention: dh, joints: [{type: prismatic, limits: {effort: 50}}], links: [{mass: 2}]}");
  psdm_controller *c = lqr(robot, NULL, NULL);
  double K[2], u[1];
  gains_at(c, 0, K, u);
  /* m x'' = u: k1 = sqrt(Q1/R), k2 = sqrt(Q2/R + 2 m k1) */
  double k1 = 10 * 50, k2 = sqrt(50.0 * 50 + 2 * 2 * k1);
  assert_true(fabs(K[0] - k1) < 1e-9 * k1 && fabs(K[1] - k2) < 1e-9 * k2);
  psdm_control_free(c);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_standing),       cmocka_unit_test(test_recursion),
                                     cmocka_unit_test(test_time_invariant), cmocka_unit_test(test_upright),
                                     cmocka_unit_test(test_swing_up),       cmocka_unit_test(test_five_bar),
                                     cmocka_unit_test(test_refusals),       cmocka_unit_test(test_effort)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
