/* Linear models of robots: against differences of the dynamics, against integration, and under control. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 12 };
static const double quarter = 1.5707963267948966;

/* a robot and what its evaluation needs */
typedef struct bench {
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n;
  double *scratch, *search; /* for systems of this robot, and for its equilibria: exactly the requested size */
} bench;

static bench bench_of(psdm_robot *robot) {
  bench b = {.robot = robot, .n = psdm_robot_n(robot)};
  size_t system = psdm_system_scratch(2 * b.n, b.n), equilibrium = psdm_equilibrium_scratch(robot);
  assert_int_equal(psdm_work_new(robot, NULL, &b.work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &b.linear), PSDM_OK);
  b.scratch = malloc(system * sizeof *b.scratch);
  b.search = malloc(equilibrium * sizeof *b.search);
  assert_true(b.scratch && b.search);
  memset(b.scratch, 0xA5, system * sizeof *b.scratch);
  memset(b.search, 0xA5, equilibrium * sizeof *b.search);
  return b;
}

static void bench_free(bench *b) {
  psdm_work_free(b->work, NULL);
  psdm_linear_free(b->linear, NULL);
  psdm_robot_free(b->robot);
  free(b->scratch);
  free(b->search);
}

static const double zero[MOST];

/* ---- models ---- */

/* A and B along a motion against central differences of the forward dynamics, and against the second-order form */
static void test_against_differences(void **unused) {
  (void)unused;
  rng g = rng_start("state space");
  random_options options = {.n_min = 1, .n_max = 7, .coupled = true, .trees = true, .prismatic = true, .drives = true};
  static char text[1 << 16];
  double worst = 0, consistent = 0;
  for (int trial = 0; trial < 60; trial++) {
    bench b = bench_of(parse_robot(random_robot_text(&g, &options, text, sizeof text)));
    int n = b.n, N = 2 * n;
    double x[2 * MOST], tau[MOST], qdd[MOST], A[4 * MOST * MOST], B[2 * MOST * MOST], M[MOST * MOST], C2[MOST * MOST],
        D[MOST * MOST], G[MOST * MOST];
    for (int i = 0; i < N; i++) x[i] = rng_uniform(&g, -1, 1);
    for (int i = 0; i < n; i++) tau[i] = rng_uniform(&g, -5, 5);
    assert_int_equal(psdm_forward(b.robot, b.work, x, x + n, tau, qdd), PSDM_OK);
    assert_int_equal(psdm_state_space(b.robot, b.linear, x, x + n, qdd, A, B), PSDM_OK);
    assert_int_equal(psdm_second_order(b.robot, b.linear, x, x + n, qdd, M, C2, D, G), PSDM_OK);
    double size = fmax(max_absolute(A, N * N), max_absolute(B, N * n));
    for (int j = 0; j < N + n; j++) { /* fourth order, so that differences have ten digits */
      double *at = j < N ? &x[j] : &tau[j - N], keep = *at, h = 2e-3, plus[2][MOST], minus[2][MOST];
      for (int k = 0; k < 2; k++) {
        *at = keep + (k + 1) * h;
        assert_int_equal(psdm_forward(b.robot, b.work, x, x + n, tau, plus[k]), PSDM_OK);
        *at = keep - (k + 1) * h;
        assert_int_equal(psdm_forward(b.robot, b.work, x, x + n, tau, minus[k]), PSDM_OK);
      }
      *at = keep;
      for (int i = 0; i < n; i++) {
        double slope = (8 * (plus[0][i] - minus[0][i]) - (plus[1][i] - minus[1][i])) / (12 * h),
               exact = j < N ? A[(n + i) * N + j] : B[(n + i) * n + j - N];
        worst = fmax(worst, fabs(slope - exact) / size);
        assert_true((j < N ? A[i * N + j] : B[i * n + j - N]) == (j == n + i && j < N));
      }
    }
    /* M (lower half of A) = -(D, C2), M (lower half of B) = 1 */
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum[3] = {D[i * n + j], C2[i * n + j], -(i == j)};
        for (int k = 0; k < n; k++) {
          sum[0] += M[i * n + k] * A[(n + k) * N + j];
          sum[1] += M[i * n + k] * A[(n + k) * N + n + j];
          sum[2] += M[i * n + k] * B[(n + k) * n + j];
        }
        for (int k = 0; k < 3; k++) consistent = fmax(consistent, fabs(sum[k]) / (max_absolute(M, n * n) * size));
      }
    /* G is D at rest */
    assert_int_equal(psdm_second_order(b.robot, b.linear, x, zero, zero, NULL, NULL, D, NULL), PSDM_OK);
    assert_memory_equal(D, G, sizeof *D * (size_t)(n * n));
    bench_free(&b);
  }
  print_message("differences %.2g, second order %.2g\n", worst, consistent);
  assert_true(worst < 1e-6 && consistent < 1e-12);
}

/* Ad, Bd against Runge and Kutta in small steps with the input held */
static void test_discretised(void **unused) {
  (void)unused;
  bench b = bench_of(load_shipped("kuka_kr6"));
  enum { n = 6, N = 12, STEPS = 4000 };
  const double q[n] = {0.3, -1.1, 0.8, 0.4, -0.7, 0.2}, qd[n] = {0.5, -0.3, 0.8, -1, 0.6, 1.2},
               qdd[n] = {1, -2, 0.5, 3, -1, 2}, dt = 0.02;
  double A[N * N], B[N * n], Ad[N * N], Bd[N * n], worst = 0;
  assert_int_equal(psdm_state_space(b.robot, b.linear, q, qd, qdd, A, B), PSDM_OK);
  assert_int_equal(psdm_system_discretise(N, n, A, B, dt, b.scratch, Ad, Bd), PSDM_OK);
  for (int column = 0; column < N + n; column++) {
    double x[N] = {0}, h = dt / STEPS, scale = 0;
    if (column < N) x[column] = 1;
    for (int step = 0; step < STEPS; step++) {
      double k[4][N], at[N];
      for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < N; i++) at[i] = x[i] + (stage ? (stage < 3 ? 0.5 : 1) * h * k[stage - 1][i] : 0);
        for (int i = 0; i < N; i++) {
          k[stage][i] = column < N ? 0 : B[i * n + column - N];
          for (int j = 0; j < N; j++) k[stage][i] += A[i * N + j] * at[j];
        }
      }
      for (int i = 0; i < N; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    for (int i = 0; i < N; i++) scale = fmax(scale, fabs(x[i]));
    for (int i = 0; i < N; i++)
      worst = fmax(worst, fabs(x[i] - (column < N ? Ad[i * N + column] : Bd[i * n + column - N])) / scale);
  }
  print_message("sampled against integrated: %.2g\n", worst);
  assert_true(worst < 1e-12);
  assert_int_equal(psdm_system_discretise(N, n, A, B, 0, b.scratch, Ad, Bd), PSDM_E_ARGUMENT);
  A[3] = NAN;
  assert_int_equal(psdm_system_discretise(N, n, A, B, dt, b.scratch, Ad, Bd), PSDM_E_ARGUMENT);
  bench_free(&b);
}

/* ---- equilibria ---- */

/* u of a random q, and a q back that u holds */
static void test_round_trip(void **unused) {
  (void)unused;
  rng g = rng_start("equilibria");
  static const char *const names[] = {"two_link", "kuka_kr6", "puma560", "kuka_lbr7", "parallelogram"};
  int found = 0, tried = 0;
  double worst = 0;
  for (int k = 0; k < 5; k++) {
    bench b = bench_of(load_shipped(names[k]));
    for (int trial = 0; trial < 40; trial++) {
      double q[MOST], u[MOST], back[MOST], again[MOST];
      psdm_equilibrium_info info;
      for (int i = 0; i < b.n; i++) q[i] = rng_uniform(&g, -1.5, 1.5);
      assert_int_equal(psdm_gravity(b.robot, b.work, q, u), PSDM_OK);
      assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, NULL, b.search, back, &info), PSDM_OK);
      tried++;
      if (!info.found) continue;
      found++;
      assert_int_equal(psdm_gravity(b.robot, b.work, back, again), PSDM_OK);
      worst = fmax(worst, max_difference(u, again, b.n) / fmax(1, max_absolute(u, b.n)));
      assert_true(info.rank <= b.n && info.residual <= 1e-10);
    }
    /* from nearby it returns to the original, in directions that gravity determines */
    if (k == 0) {
      double q[2] = {0.4, -0.9}, start[2] = {0.5, -0.8}, u[2], back[2];
      psdm_equilibrium_options options = {.start = start};
      psdm_equilibrium_info info;
      assert_int_equal(psdm_gravity(b.robot, b.work, q, u), PSDM_OK);
      assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, &options, b.search, back, &info), PSDM_OK);
      assert_true(info.found && info.starts == 1 && info.rank == 2 && max_difference(q, back, 2) < 1e-12);
    }
    bench_free(&b);
  }
  print_message("%d of %d found, torques back to %.2g\n", found, tried, worst);
  assert_int_equal(found, tried);
  assert_true(worst < 1e-10);
}

/* more torque than gravity can balance: refused; a pushed joint with a vertical axis has no equilibrium either */
static void test_no_equilibrium(void **unused) {
  (void)unused;
  bench b = bench_of(load_shipped("two_link"));
  double u[2] = {1000, 0}, q[2];
  psdm_equilibrium_info info;
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, NULL, b.search, q, &info), PSDM_OK);
  assert_true(!info.found && info.residual > 0.9 && info.starts == 50 && isfinite(q[0]));
  u[1] = NAN;
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, NULL, b.search, q, &info), PSDM_E_ARGUMENT);
  bench_free(&b);
  b = bench_of(load_shipped("kuka_kr6"));
  double push[6] = {1, 0, 0, 0, 0, 0}, at[6];
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, push, NULL, b.search, at, &info), PSDM_OK);
  assert_false(info.found);
  push[0] = 0;
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, push, NULL, b.search, at, &info), PSDM_OK);
  assert_true(info.found && info.rank < 6); /* turned about the vertical, it rests too */
  bench_free(&b);
}

/* starts within limits of every kind: a slide with two, one that ends below the usual range, one without; the plane
 * carries the weight */
static void test_starts_within_limits(void **unused) {
  (void)unused;
  bench b = bench_of(parse_robot(
      "{name: slides, gravity: [0, 0, -9.81], convention: dh,"
      "joints: [{type: prismatic, limits: {lower: 2, upper: 3}}, {type: prismatic, alpha: pi/2, limits: {upper: -4}}, "
      "{type: prismatic}, {a: 0.3, limits: {lower: 5}}],"
      "links: [{mass: 1}, {mass: 1}, {mass: 1}, {mass: 2, com: [-0.1, 0, 0], inertia: {zz: 0.1, xx: 0.1, yy: 0.1}}]}"));
  double u[4] = {0, 0, 0, 50}, q[4];
  psdm_equilibrium_info info;
  const psdm_equilibrium_options few = {.starts = 3, .seed = 7};
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, &few, b.search, q, &info), PSDM_OK);
  /* 5 kg weigh on the first slide, which must carry nothing */
  assert_true(!info.found && info.starts == 3 && info.residual > 0.1);
  double start[4] = {NAN, 0, 0, 0};
  const psdm_equilibrium_options odd = {.start = start};
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, &odd, b.search, q, &info), PSDM_E_ARGUMENT);
  bench_free(&b);
  /* no torque is given, and none is needed: any position will do */
  b = bench_of(
      parse_robot("{gravity: [0, 0, 0], convention: dh, joints: [{a: 1}], links: [{mass: 1, inertia: {zz: 1}}]}"));
  const double nothing = 0;
  assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, &nothing, NULL, b.search, q, &info), PSDM_OK);
  assert_true(info.found && info.residual == 0 && info.rank == 0);
  bench_free(&b);
}

/* ---- parts and refusals ---- */

/* each matrix alone is the same as together */
static void test_parts(void **unused) {
  (void)unused;
  bench b = bench_of(load_shipped("kuka_kr6"));
  double q[6] = {0.1, -1, 1, 0.3, 0.5, 0}, qd[6] = {1, 0.5, -0.5, 1, 0, 2}, qdd[6] = {1, 2, 3, -1, -2, -3}, all[4][36],
         one[36], A[144], B[72], alone[144];
  assert_int_equal(psdm_second_order(b.robot, b.linear, q, qd, qdd, all[0], all[1], all[2], all[3]), PSDM_OK);
  for (int k = 0; k < 4; k++) {
    double *out[4] = {NULL};
    out[k] = one;
    assert_int_equal(psdm_second_order(b.robot, b.linear, q, qd, qdd, out[0], out[1], out[2], out[3]), PSDM_OK);
    assert_memory_equal(one, all[k], sizeof one);
  }
  assert_int_equal(psdm_second_order(b.robot, b.linear, q, qd, qdd, NULL, NULL, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_state_space(b.robot, b.linear, q, qd, qdd, A, B), PSDM_OK);
  assert_int_equal(psdm_state_space(b.robot, b.linear, q, qd, qdd, alone, NULL), PSDM_OK);
  assert_memory_equal(alone, A, sizeof A);
  assert_int_equal(psdm_state_space(b.robot, b.linear, q, qd, qdd, NULL, alone), PSDM_OK);
  assert_memory_equal(alone, B, sizeof B);
  /* friction: C2 alone, and A with B */
  double slope[6] = {1, 2, 3, 4, 5, 6}, C2[36];
  memcpy(C2, all[1], sizeof C2), memcpy(alone, A, sizeof A);
  psdm_damp(6, slope, C2, NULL, NULL);
  psdm_damp(6, slope, NULL, alone, B);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      assert_true(C2[6 * i + j] == all[1][6 * i + j] + (i == j ? slope[i] : 0));
      assert_true(alone[12 * (6 + i) + 6 + j] == A[12 * (6 + i) + 6 + j] - B[6 * (6 + i) + j] * slope[j]);
    }
  bench_free(&b);
}

/* every function reports unknown inertias and a singular mass matrix */
static void test_refused_robots(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    psdm_status model, second;
  } cases[] = {
      {"convention: dh\njoints: [{a: 1}, {a: 1}]\n", PSDM_E_MISSING, PSDM_E_MISSING},
      {"convention: dh\njoints: [{a: 1}, {a: 1}]\nlinks: [{mass: 1, com: [0.1, 0, 0], inertia: {zz: 1}}, {mass: 0}]\n",
       PSDM_E_SINGULAR, PSDM_OK}};
  for (int k = 0; k < 2; k++) {
    bench b = bench_of(parse_robot(cases[k].text));
    double u[2] = {1, 1}, q[2] = {0}, A[16], B[8], M[4];
    psdm_equilibrium_info info;
    assert_int_equal(psdm_state_space(b.robot, b.linear, zero, zero, zero, A, B), cases[k].model);
    assert_int_equal(psdm_second_order(b.robot, b.linear, zero, zero, zero, M, NULL, NULL, NULL), cases[k].second);
    if (k == 0)
      assert_int_equal(psdm_equilibrium_find(b.robot, b.work, b.linear, u, NULL, b.search, q, &info), PSDM_E_MISSING);
    bench_free(&b);
  }
}

static void test_refused_systems(void **unused) {
  (void)unused;
  double A[9] = {0, 1, 0, 0, 0, 1, -1, -2, -2}, B[3] = {0, 0, 1}, Q[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, R = 1, Ad[9],
         Bd[3], K[3], *scratch = malloc(psdm_system_scratch(3, 1) * sizeof *scratch);
  psdm_mode modes[3];
  psdm_system_facts facts;
  psdm_lqr_info info;
  assert_non_null(scratch);
  static const struct {
    int states, inputs;
    double dt;
  } wrong[] = {{0, 1, 0.1}, {3, 0, 0.1}, {3, 1, -1}, {3, 1, NAN}, {3, 1, INFINITY}};
  for (int k = 0; k < 5; k++) {
    assert_int_equal(psdm_system_discretise(wrong[k].states, wrong[k].inputs, A, B, wrong[k].dt, scratch, Ad, Bd),
                     PSDM_E_ARGUMENT);
    assert_int_equal(psdm_system_analyze(wrong[k].states, wrong[k].inputs, A, B, wrong[k].dt, scratch, modes, &facts),
                     PSDM_E_ARGUMENT);
    assert_int_equal(
        psdm_system_lqr(wrong[k].states, wrong[k].inputs, A, B, wrong[k].dt, Q, &R, scratch, K, NULL, modes, &info),
        PSDM_E_ARGUMENT);
  }
  assert_int_equal(psdm_system_discretise(3, 1, A, B, 0, scratch, Ad, Bd), PSDM_E_ARGUMENT); /* sampled at once */
  for (double *const *at = (double *const[]){&A[4], &B[1], NULL}; *at; at++) {
    double before = **at;
    **at = NAN;
    assert_int_equal(psdm_system_analyze(3, 1, A, B, 0, scratch, modes, &facts), PSDM_E_ARGUMENT);
    **at = before;
  }
  for (double *const *at = (double *const[]){&Q[4], &R, NULL}; *at; at++) {
    double before = **at;
    **at = INFINITY;
    assert_int_equal(psdm_system_lqr(3, 1, A, B, 0, Q, &R, scratch, K, NULL, NULL, &info), PSDM_E_ARGUMENT);
    **at = before;
  }
  /* three states, which no robot has; a sampled mode that vanishes after one step */
  assert_int_equal(psdm_system_analyze(3, 1, A, B, 0, scratch, modes, &facts), PSDM_OK);
  assert_true(facts.unstable == 0 && facts.growth < 0);
  double gone[4] = {0, 0, 0, 0.5}, push[2] = {1, 1};
  assert_int_equal(psdm_system_analyze(2, 1, gone, push, 0.1, scratch, modes, &facts), PSDM_OK);
  assert_true(fabs(modes[0].frequency - log(2) / 0.1) < 1e-12 && modes[1].re == 0 && isinf(modes[1].frequency) &&
              modes[1].damping == 1);
  /* [0, 1; K, 0] with a K that no robot has: a rotation's eigenvalues are not real */
  double turning[16] = {0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, 0, 0}, both[8] = {0, 0, 0, 0, 1, 0, 0, 1},
         *room = malloc(psdm_system_scratch(4, 2) * sizeof *room);
  psdm_mode four[4];
  assert_non_null(room);
  assert_int_equal(psdm_system_analyze(4, 2, turning, both, 0, room, four, &facts), PSDM_OK);
  assert_int_equal(facts.unstable, 2); /* the square roots of i and -i */
  assert_true(fabs(four[0].re - sqrt(0.5)) < 1e-14 && fabs(fabs(four[0].im) - sqrt(0.5)) < 1e-14);
  assert_null(psdm_lqr_text(PSDM_LQR_COUNT));
  assert_null(psdm_stability_text(PSDM_STABILITY_COUNT));
  free(room);
  free(scratch);
}

/* ---- stability, control ---- */

/* the arm of robots/two_link.yaml with its masses between the joints, so that its rest position hangs straight down */
static psdm_robot *pendulum(void) {
  return parse_robot(
      "{name: pendulum, gravity: [0, -9.81, 0], convention: dh, joints: [{a: 1.2}, {a: 1.1}],"
      "links: [{mass: 1, com: [-0.6, 0, 0], inertia: {zz: 0.12}}, {mass: 2, com: [-0.55, 0, 0], inertia: {zz: 0.2}}]}");
}

static void model_at(bench *b, const double *q, double *A, double *B) {
  assert_int_equal(psdm_state_space(b->robot, b->linear, q, zero, zero, A, B), PSDM_OK);
}

static void test_stability(void **unused) {
  (void)unused;
  bench b = bench_of(pendulum());
  const double up[2] = {quarter, 0}, down[2] = {-quarter, 0}, bent[2] = {-quarter, 2 * quarter};
  double A[16], B[8], Ad[16], Bd[8];
  psdm_mode modes[4], sampled[4];
  psdm_system_facts facts;
  model_at(&b, up, A, B);
  assert_int_equal(psdm_system_analyze(4, 2, A, B, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_int_equal(facts.stability, PSDM_STABILITY_UNSTABLE);
  assert_int_equal(facts.unstable, 2);
  assert_true(facts.controllable && facts.reachable == 4 && facts.reach_margin > 1e-3 && facts.growth == modes[0].re &&
              modes[0].re > modes[1].re);
  model_at(&b, bent, A, B);
  assert_int_equal(psdm_system_analyze(4, 2, A, B, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_int_equal(facts.unstable, 1);
  model_at(&b, down, A, B);
  assert_int_equal(psdm_system_analyze(4, 2, A, B, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_int_equal(facts.stability, PSDM_STABILITY_OSCILLATING);
  assert_true(facts.undamped == 4 && facts.growth == 0 && modes[0].im > 0 && modes[1].im == -modes[0].im &&
              modes[0].damping == 0);
  /* the sum of the squared frequencies is the trace of M^-1 G */
  assert_true(fabs(modes[0].im * modes[0].im + modes[2].im * modes[2].im + A[8] + A[13]) < 1e-12);
  /* sampled, the same frequencies */
  assert_int_equal(psdm_system_discretise(4, 2, A, B, 0.05, b.scratch, Ad, Bd), PSDM_OK);
  assert_int_equal(psdm_system_analyze(4, 2, Ad, Bd, 0.05, b.scratch, sampled, &facts), PSDM_OK);
  assert_int_equal(facts.stability, PSDM_STABILITY_OSCILLATING);
  assert_true(facts.controllable && fabs(sampled[0].frequency - modes[0].frequency) < 1e-10 &&
              fabs(sampled[3].frequency - modes[3].frequency) < 1e-10);
  /* with damping it decays; without gravity nothing restores it */
  for (int i = 0; i < 2; i++) A[(2 + i) * 4 + 2 + i] = -0.3;
  assert_int_equal(psdm_system_analyze(4, 2, A, B, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_true(facts.stability == PSDM_STABILITY_STABLE && facts.growth < -0.1 && modes[0].damping > 0);
  memset(A, 0, sizeof A);
  A[2] = A[7] = 1;
  assert_int_equal(psdm_system_analyze(4, 2, A, B, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_true(facts.stability == PSDM_STABILITY_DRIFTING && facts.drifting == 4 && facts.controllable);
  assert_string_equal(psdm_stability_text(PSDM_STABILITY_UNSTABLE), "unstable: a small deviation grows");
  assert_null(psdm_stability_text(PSDM_STABILITY_COUNT));
  bench_free(&b);
}

/* one motor of two: the upright arm is still within reach, without gravity its passive joint cannot be stabilised by
 * linear control */
static void test_one_motor(void **unused) {
  (void)unused;
  bench b = bench_of(pendulum());
  const double up[2] = {quarter, 0};
  double A[16], B[8], first[4], Q[16] = {0}, R = 1, K[4];
  psdm_mode modes[4];
  psdm_system_facts facts;
  psdm_lqr_info info;
  for (int i = 0; i < 4; i++) Q[5 * i] = 1;
  model_at(&b, up, A, B);
  for (int i = 0; i < 4; i++) first[i] = B[2 * i];
  assert_int_equal(psdm_system_analyze(4, 1, A, first, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_true(facts.controllable && facts.reach_margin > 1e-6);
  assert_int_equal(psdm_system_lqr(4, 1, A, first, 0, Q, &R, b.scratch, K, NULL, modes, &info), PSDM_OK);
  assert_true(info.outcome == PSDM_LQR_OK && modes[0].re < 0);
  memset(A, 0, sizeof A);
  A[2] = A[7] = 1;
  assert_int_equal(psdm_system_analyze(4, 1, A, first, 0, b.scratch, modes, &facts), PSDM_OK);
  assert_true(!facts.controllable && facts.reachable == 2 && facts.reach_margin < 1e-14);
  assert_int_equal(psdm_system_lqr(4, 1, A, first, 0, Q, &R, b.scratch, K, NULL, modes, &info), PSDM_OK);
  assert_int_equal(info.outcome, PSDM_LQR_UNREACHABLE);
  bench_free(&b);
}

/* integrates the full arm under u = u_e - K dx, held for dt; returns the remaining deviation */
static double settle(bench *b, const double *q_e, const double *K, double dt, double seconds) {
  double x[4] = {q_e[0] + 0.05, q_e[1] - 0.08, 0, 0}, u_e[2], u[2];
  int within = 20, steps = (int)(seconds / dt);
  assert_int_equal(psdm_gravity(b->robot, b->work, q_e, u_e), PSDM_OK);
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < 2; i++) {
      u[i] = u_e[i];
      for (int j = 0; j < 4; j++) u[i] -= K[4 * i + j] * (x[j] - (j < 2 ? q_e[j] : 0));
    }
    for (int part = 0; part < within; part++) {
      double h = dt / within, k[4][4], at[4];
      for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 4; i++) at[i] = x[i] + (stage ? (stage < 3 ? 0.5 : 1) * h * k[stage - 1][i] : 0);
        memcpy(k[stage], at + 2, 2 * sizeof *at);
        assert_int_equal(psdm_forward(b->robot, b->work, at, at + 2, u, k[stage] + 2), PSDM_OK);
      }
      for (int i = 0; i < 4; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
  }
  return fmax(fabs(x[0] - q_e[0]), fabs(x[1] - q_e[1]));
}

static void test_lqr_holds_it_up(void **unused) {
  (void)unused;
  bench b = bench_of(pendulum());
  const double up[2] = {quarter, 0}, none[8] = {0}, dt = 0.01;
  double A[16], B[8], Ad[16], Bd[8], Q[16] = {0}, R[4] = {0.01, 0, 0, 0.01}, K[8], Kd[8], X[16];
  psdm_mode modes[4];
  psdm_lqr_info info;
  for (int i = 0; i < 4; i++) Q[5 * i] = i < 2 ? 100 : 1;
  model_at(&b, up, A, B);
  assert_int_equal(psdm_system_lqr(4, 2, A, B, 0, Q, R, b.scratch, K, X, modes, &info), PSDM_OK);
  assert_true(info.outcome == PSDM_LQR_OK && info.residual < 1e-14 && modes[0].re < -1);
  assert_int_equal(psdm_system_discretise(4, 2, A, B, dt, b.scratch, Ad, Bd), PSDM_OK);
  assert_int_equal(psdm_system_lqr(4, 2, Ad, Bd, dt, Q, R, b.scratch, Kd, X, modes, &info), PSDM_OK);
  assert_true(info.outcome == PSDM_LQR_OK && info.residual < 1e-14 && hypot(modes[0].re, modes[0].im) < 1);
  double free_fall = settle(&b, up, none, dt, 2), held = settle(&b, up, K, dt / 10, 4),
         sampled = settle(&b, up, Kd, dt, 4);
  print_message("left after release %.2g, with gains %.2g, with sampled gains %.2g\n", free_fall, held, sampled);
  assert_true(free_fall > 1 && held < 1e-4 && sampled < 1e-4);
  R[1] = 0.5; /* not symmetric */
  assert_int_equal(psdm_system_lqr(4, 2, A, B, 0, Q, R, b.scratch, K, NULL, NULL, &info), PSDM_OK);
  assert_int_equal(info.outcome, PSDM_LQR_WEIGHT);
  assert_string_equal(psdm_lqr_text(PSDM_LQR_OK), "the closed loop is stable");
  assert_int_equal(psdm_system_lqr(4, 0, A, B, 0, Q, R, b.scratch, K, NULL, NULL, &info), PSDM_E_ARGUMENT);
  bench_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_differences),
                                     cmocka_unit_test(test_discretised),
                                     cmocka_unit_test(test_round_trip),
                                     cmocka_unit_test(test_no_equilibrium),
                                     cmocka_unit_test(test_stability),
                                     cmocka_unit_test(test_one_motor),
                                     cmocka_unit_test(test_lqr_holds_it_up),
                                     cmocka_unit_test(test_starts_within_limits),
                                     cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_refused_robots),
                                     cmocka_unit_test(test_refused_systems)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
