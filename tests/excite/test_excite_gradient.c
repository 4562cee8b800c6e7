/* The planner's derivatives against plain twins: rows of the regressor one by one through the linearised dynamics,
 * and differences. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "excite/inertia_priv.h"
#include "support.h"

static const random_options kinds = {
    .n_min = 1, .n_max = 5, .coupled = true, .trees = true, .prismatic = true, .drives = true};

static double *numbers(psdmp_base_arena *arena, long count) {
  double *x = psdmp_excite_numbers(arena, count);
  assert_non_null(x);
  return x;
}

static void fill(rng *g, long count, double *x) {
  for (long k = 0; k < count; k++) x[k] = rng_uniform(g, -2, 2);
}

/* ---- the weighted regressor ---- */

/* row i's weights are standard parameters whose torque at joint i is that row's sum */
TEST(test_adjoint) {
  rng g = rng_start("adjoint");
  double worst = 0;
  for (int round = 0; round < 200; round++) {
    static char text[20000];
    psdmp_base_arena arena = {0};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &kinds, text, sizeof text)), *clone;
    psdm_work *work;
    psdm_linear *linear;
    int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
    assert_int_equal(psdm_robot_clone(robot, NULL, &clone), PSDM_OK);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_linear_new(clone, NULL, &linear), PSDM_OK);
    double *state = numbers(&arena, 3L * n), *weight = numbers(&arena, (long)n * S), *by = numbers(&arena, 3L * n),
           *twin = numbers(&arena, 3L * n);
    double *scratch = numbers(&arena, psdmp_excite_adjoint_scratch(robot)), *D = numbers(&arena, 3L * n * n), scale = 0;
    fill(&g, 3L * n, state);
    fill(&g, (long)n * S, weight);
    psdmp_excite_adjoint(robot, work, state, weight, scratch, by);
    for (int i = 0; i < n; i++) {
      psdm_robot_set_parameters(clone, weight + (long)i * S);
      assert_int_equal(
          psdm_linearize_inverse(clone, linear, state, state + n, state + 2 * n, D, D + n * n, D + 2 * n * n), PSDM_OK);
      for (int d = 0; d < 3; d++)
        for (int j = 0; j < n; j++)
          twin[d * n + j] += D[(d * n + i) * n + j], scale = fmax(scale, fabs(D[(d * n + i) * n + j]));
    }
    double off = max_difference(by, twin, 3 * n) / fmax(scale, 1);
    worst = fmax(worst, off);
    if (!(off < 1e-13 * n)) fail_msg("%g\n%s", off, text); /* some hundred roundings */
    psdm_linear_free(linear, NULL);
    psdm_work_free(work, NULL);
    psdm_robot_free(clone);
    psdm_robot_free(robot);
    psdmp_base_arena_free(&arena);
  }
  print_message("largest relative difference %.2g\n", worst);
}

static double weighted(const psdm_robot *robot, psdm_work *work, const double *state, const double *weight, double *Y) {
  int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
  double sum = 0;
  assert_int_equal(psdm_regressor_standard(robot, work, state, state + n, state + 2 * n, Y), PSDM_OK);
  for (int k = 0; k < n * S; k++) sum += weight[k] * Y[k];
  return sum;
}

/* closed loops, by central differences: their error is 1e-5^2 of the third derivative, and 1e-16 / 1e-5 of the sum */
TEST(test_closed_gradient) {
  rng g = rng_start("closed_gradient");
  static const char *const names[] = {"five_bar", "palletizer", "delta"};
  for (int k = 0; k < 3; k++) {
    psdmp_base_arena arena = {0};
    psdm_robot *robot = load_shipped(names[k]);
    psdm_work *work;
    psdmp_excite_closed closed;
    int n = psdm_robot_n(robot), S = psdm_robot_parameter_count(robot);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_true(psdmp_excite_closed_new(robot, &arena, &closed));
    double *state = numbers(&arena, 3L * n), *weight = numbers(&arena, (long)n * S), *by = numbers(&arena, 3L * n),
           *Y = numbers(&arena, (long)n * S);
    for (int round = 0; round < 5; round++) {
      fill(&g, 3L * n, state);
      fill(&g, (long)n * S, weight);
      double home[8], scale = 0;
      psdm_robot_home(robot, home);
      for (int i = 0; i < n; i++) state[i] = home[i] + 0.1 * state[i];
      assert_int_equal(psdmp_excite_closed_gradient(&closed, state, weight, by), PSDM_OK);
      for (int i = 0; i < 3 * n; i++) scale = fmax(scale, fabs(by[i]));
      for (int i = 0; i < 3 * n; i++) {
        double at = state[i], up, down;
        state[i] = at + 1e-5, up = weighted(robot, work, state, weight, Y);
        state[i] = at - 1e-5, down = weighted(robot, work, state, weight, Y);
        state[i] = at;
        if (!(fabs((up - down) / 2e-5 - by[i]) < 1e-6 * scale))
          fail_msg("%s, derivative %d: %.12g, by differences %.12g", names[k], i, by[i], (up - down) / 2e-5);
      }
    }
    psdmp_excite_closed_free(&closed, NULL);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
    psdmp_base_arena_free(&arena);
  }
}

/* ---- the objective and the limits, by the numbers of a search ---- */

typedef struct bench {
  psdmp_base_arena arena;
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  psdmp_excite_limits limits;
  psdmp_excite_told told;
  psdmp_excite_wave wave;
  psdmp_excite_grid grid;
  psdmp_excite_value value;
  psdmp_excite_bounds bounds;
  psdmp_excite_bounds_work bounds_work;
  long count;
  double *by_state, *result;
} bench;

/* it contains pointers to itself: it must not be moved */
static void bench_make(bench *b, rng *g, psdm_robot *robot, psdm_excite_goal goal, int terms, int highest,
                       int assumptions) {
  static const char *const assume[] = {"rx1 = 0", "ry1 = 0", "Ixx1 = Iyy1"}; /* YY1 follows XX1 */
  *b = (bench){.robot = robot};
  psdm_error error;
  int n = psdm_robot_n(robot);
  const psdm_excite_options o = {.goal = goal, .assume_count = assumptions, .assume = assume};
  double *all = numbers(&b->arena, 5L * n);
  b->limits = (psdmp_excite_limits){.lower = all,
                                    .upper = all + n,
                                    .velocity = all + 2 * n,
                                    .acceleration = all + 3 * n,
                                    .effort = all + 4 * n,
                                    .torques = true};
  for (int i = 0; i < n; i++) {
    b->limits.lower[i] = rng_uniform(g, -2, -0.5), b->limits.upper[i] = rng_uniform(g, 0.5, 2);
    b->limits.velocity[i] = rng_uniform(g, 1, 3), b->limits.acceleration[i] = rng_uniform(g, 4, 9),
    b->limits.effort[i] = rng_uniform(g, 20, 200);
  }
  assert_int_equal(psdm_work_new(robot, NULL, &b->work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &b->linear), PSDM_OK);
  if (psdmp_excite_told_new(robot, &o, &b->limits, b->limits.effort, &b->arena, &b->told, &error))
    fail_msg("%s", error.text);
  assert_true(psdmp_excite_wave_new(n, terms, highest, 5, &b->limits, &b->arena, &b->wave));
  for (int i = 0; i < n; i++)
    for (int k = 0, last = 0; k < terms; k++)
      b->wave.harmonic[i * terms + k] = last = rng_int(g, last + 1, highest - terms + 1 + k);
  psdmp_excite_wave_set(&b->wave);
  assert_true(psdmp_excite_grid_new(&b->wave, 12 * highest, &b->arena, &b->grid));
  psdmp_excite_grid_set(&b->wave, &b->grid);
  assert_true(psdmp_excite_value_new(&b->told, goal, b->grid.points, b->work, &b->arena, &b->value));
  assert_true(psdmp_excite_bounds_new(robot, &b->limits, &b->arena, &b->bounds));
  assert_true(psdmp_excite_bounds_work_new(&b->bounds, b->grid.points, b->grid.points, b->work, b->linear, &b->arena,
                                           &b->bounds_work));
  b->count = (long)n * b->wave.own;
  b->by_state = numbers(&b->arena, 3L * n * b->grid.points);
  b->result = numbers(&b->arena, b->bounds.count);
}

static void bench_free(bench *b) {
  psdm_linear_free(b->linear, NULL);
  psdm_work_free(b->work, NULL);
  psdm_robot_free(b->robot);
  psdmp_base_arena_free(&b->arena);
}

static double value_at(bench *b, const double *x, double *gradient) {
  psdmp_excite_grid_at(&b->wave, &b->grid, x);
  double f = psdmp_excite_value_at(&b->value, b->grid.state, gradient ? b->by_state : NULL, NULL);
  if (gradient) psdmp_excite_grid_pull(&b->wave, &b->grid, b->by_state, gradient);
  return f;
}

/* all limits, weighted at random, as one function */
static double bounds_at(bench *b, const double *x, const double *weight, double *gradient, double *rows) {
  double sum = 0;
  psdmp_excite_grid_at(&b->wave, &b->grid, x);
  psdmp_excite_bounds_smooth(&b->bounds, &b->wave, &b->grid, &b->bounds_work, b->result, gradient ? rows : NULL);
  if (gradient) memset(gradient, 0, (size_t)b->count * sizeof *gradient);
  for (int k = 0; k < b->bounds.count; k++) {
    sum += weight[k] * b->result[k];
    for (long j = 0; gradient && j < b->count; j++) gradient[j] += weight[k] * rows[k * b->count + j];
  }
  return sum;
}

/* df along direction by central differences of three widths, extrapolated twice (Richardson): the error is of sixth
 * order in h, plus rounding */
static double along(bench *b, const double *weight, const double *x, const double *direction, double h) {
  double *at = numbers(&b->arena, b->count), d[3];
  for (int level = 0; level < 3; level++, h /= 2) {
    double side[2];
    for (int s = 0; s < 2; s++) {
      for (long k = 0; k < b->count; k++) at[k] = x[k] + (s ? h : -h) * direction[k];
      side[s] = weight ? bounds_at(b, at, weight, NULL, NULL) : value_at(b, at, NULL);
    }
    d[level] = (side[1] - side[0]) / (2 * h);
  }
  double first = (4 * d[1] - d[0]) / 3, second = (4 * d[2] - d[1]) / 3;
  return (16 * second - first) / 15;
}

static const double width = 1e-3;

/* the largest difference along four directions, relative to the gradient */
static double compare(bench *b, rng *g, const double *weight) {
  double *x = numbers(&b->arena, b->count), *gradient = numbers(&b->arena, b->count),
         *direction = numbers(&b->arena, b->count);
  double *rows = numbers(&b->arena, b->count * b->bounds.count), worst = 0, size = 0;
  for (long k = 0; k < b->count; k++) x[k] = rng_uniform(g, -0.6, 0.6);
  if (weight) bounds_at(b, x, weight, gradient, rows);
  else value_at(b, x, gradient);
  for (long k = 0; k < b->count; k++) size = hypot(size, gradient[k]);
  for (int trial = 0; trial < 4; trial++) {
    double exact = 0, length = 0;
    for (long k = 0; k < b->count; k++) direction[k] = rng_uniform(g, -1, 1), length = hypot(length, direction[k]);
    for (long k = 0; k < b->count; k++) direction[k] /= length, exact += gradient[k] * direction[k];
    worst = fmax(worst, fabs(along(b, weight, x, direction, width) - exact) / fmax(size, 1e-3));
  }
  return worst;
}

TEST(test_gradients) {
  rng g = rng_start("gradients");
  double worst[3] = {0}, clear = 0;
  int told = 0, combined = 0;
  for (int round = 0; round < 40; round++) {
    static char text[20000];
    const random_options robots = {
        .n_min = 1, .n_max = 3, .coupled = round % 2, .trees = true, .prismatic = true, .drives = true};
    bench b;
    bench_make(&b, &g, parse_robot(random_robot_text(&g, &robots, text, sizeof text)),
               round % 4 < 2 ? PSDM_EXCITE_CONDITION : PSDM_EXCITE_LOGDET, 2 + round % 3, 4 + round % 2,
               round % 3 ? 0 : 3);
    double *weight = numbers(&b.arena, b.bounds.count), value = compare(&b, &g, NULL), condition;
    psdmp_excite_value_at(&b.value, b.grid.state, NULL, &condition);
    for (int k = 0; k < b.bounds.count; k++) weight[k] = rng_uniform(&g, -1, 1);
    double bound = compare(&b, &g, weight);
    /* f is known to the rounding of A's least eigenvalue, eps condition^2 times the columns; friction turns over
     * within 1/20 of the velocities, which leaves (20 width)^6 and some */
    double allowed = 1e-9 + b.told.columns * 2.2e-16 * condition * condition / width;
    worst[2] = fmax(worst[2], bound);
    if (!(allowed < 1e-5)) {
      bench_free(&b);
      continue; /* such a motion has no information, and its differences prove nothing */
    }
    told++;
    combined += b.told.start[b.told.base] > b.told.base;
    worst[round % 4 < 2] = fmax(worst[round % 4 < 2], value / allowed);
    if (condition < 300) clear = fmax(clear, value);
    bench_free(&b);
  }
  print_message("largest differences of %d motions: log det %.2g, condition %.2g of the rounding, %.2g of the "
                "gradient for condition numbers below 300; limits %.2g\n",
                told, worst[0], worst[1], clear, worst[2]);
  assert_true(combined > 0);
  assert_true(told >= 20 && worst[0] < 1 && worst[1] < 1 && clear < 1e-6 && worst[2] < 1e-9);
}

/* capsules, a floor, a joint that follows with limits of its own, friction */
static const char *const crowded =
    "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: 0.5, friction: {viscous: 3, "
    "exponent: 1}}\n"
    "  - {name: b, type: revolute, a: 0.5, couple: {a: -0.5, offset: 0.2}, limits: {lower: -0.5, upper: 0.7, velocity: "
    "1, acceleration: 3}}\n  - {name: c, type: revolute, a: 0.3}\n"
    "links:\n  - {mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - {mass: 1, com: [-0.2, 0.1, "
    "0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  - {mass: 1, com: [-0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "collision:\n  floor: {normal: [0, 1, 0], height: -0.4}\n  capsules:\n    - {link: base, from: [0, -0.3, 0], to: "
    "[0, 0, 0], radius: 0.08}\n"
    "    - {link: c, from: [-0.3, 0, 0], to: [0, 0, 0], radius: 0.05}\n";

TEST(test_crowded) {
  rng g = rng_start("crowded");
  double worst = 0;
  for (int round = 0; round < 10; round++) {
    bench b;
    bench_make(&b, &g, parse_robot(crowded), PSDM_EXCITE_LOGDET, 3, 4, 0);
    assert_true(b.bounds.gaps == 2 && b.bounds.followers == 1 && b.bounds.efforts == 2 &&
                b.bounds.count == 4 * 2 + 2 + 1 + 1);
    double *weight = numbers(&b.arena, b.bounds.count);
    for (int k = 0; k < b.bounds.count; k++) weight[k] = rng_uniform(&g, -1, 1);
    worst = fmax(worst, compare(&b, &g, weight));
    bench_free(&b);
  }
  /* the smooth maximum's weights change by factors of e over 1/80 of a limit: (80 width)^6 = 3e-7 */
  print_message("largest relative difference %.2g\n", worst);
  assert_true(worst < 3e-7);
}

TEST_MAIN(test_adjoint, test_closed_gradient, test_gradients, test_crowded)
