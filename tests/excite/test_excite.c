/* Motions for inertia: every limit at all times, never worse than random, the same for any number of threads, and a
 * stop loses nothing. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static psdm_status measure(const psdm_robot *robot, const psdm_excite_options *o, const psdm_motion *motion,
                           long points, const psdm_allocator *allocator, double *lower, double *upper, double *velocity,
                           double *acceleration, double *effort, double *gap, double *worst, psdm_error *error) {
  psdm_excite_extremes e = {
      .lower = lower, .upper = upper, .velocity = velocity, .acceleration = acceleration, .effort = effort};
  psdm_status status = psdm_excite_check(robot, o, motion, points, allocator, &e, error);
  *gap = e.gap, *worst = e.worst;
  return status;
}

static psdm_excitation *plan(const psdm_robot *robot, const psdm_excite_options *options) {
  psdm_excitation *e;
  psdm_error error;
  char sentence[900];
  if (psdm_excite(robot, options, NULL, &e, &error))
    fail_msg("%s", psdm_error_format(&error, sentence, sizeof sentence));
  return e;
}

static psdm_excite_options small(uint64_t seed) {
  return (psdm_excite_options){.step = PSDM_STEP_INERTIA,
                               .seed = seed,
                               .starts = 2,
                               .evaluations = 60,
                               .harmonics = 3,
                               .seconds = 5,
                               .threads = 2};
}

TEST(test_names) {
  psdm_step step;
  for (int k = 0; k < PSDM_STEPS; k++) {
    assert_true(psdm_step_find(psdm_step_name((psdm_step)k), &step) && (int)step == k);
    assert_true(strlen(psdm_step_help((psdm_step)k)) > 20);
  }
  assert_false(psdm_step_find("inertias", &step));
  assert_null(psdm_step_name(PSDM_STEPS));
  assert_null(psdm_step_help((psdm_step)-1));
}

/* ---- limits ---- */

/* half as much again as holding still needs, so that there is a margin */
static void effort_limits(const psdm_robot *robot, rng *g, double *effort) {
  int n = psdm_robot_n(robot);
  double q[16], tau[16];
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int i = 0; i < n; i++) effort[i] = 1;
  for (int k = 0; k < 50; k++) {
    for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -2, 2);
    assert_int_equal(psdm_gravity(robot, work, q, tau), PSDM_OK);
    for (int i = 0; i < n; i++) effort[i] = fmax(effort[i], 1.5 * fabs(tau[i]));
  }
  psdm_work_free(work, NULL);
}

/* on 50 times as many points as the planner used: all limits minus the margin */
static double check_limits(const psdm_robot *robot, const psdm_excite_options *o, const psdm_excitation *e,
                           int highest) {
  double x[5][16], gap, worst;
  assert_int_equal(
      measure(robot, o, e->motion, 50L * 64 * highest + 1, NULL, x[0], x[1], x[2], x[3], x[4], &gap, &worst, NULL),
      PSDM_OK);
  double margin = o->margin == 0 ? 0.02 : fmax(0, o->margin);
  if (!(worst <= (1 - margin) * (1 + 1e-9))) fail_msg("%.17g of a limit is used, %.17g was allowed", worst, 1 - margin);
  for (int i = 0; i < e->n; i++) {
    /* the answer's own figures are of a coarser grid */
    assert_true(e->extremes.upper[i] <= x[1][i] + 1e-6 && e->extremes.lower[i] >= x[0][i] - 1e-6 &&
                e->extremes.velocity[i] <= x[2][i] + 1e-6);
    assert_true(x[2][i] > 0);
  }
  return worst;
}

/* at rest at both ends, and periodic */
static void check_ends(const psdm_excitation *e) {
  double x[2][48];
  psdm_motion_at(e->motion, 0, 3, x[0]);
  psdm_motion_at(e->motion, e->seconds, 3, x[1]);
  for (int i = 0; i < e->n; i++) {
    double v = e->extremes.velocity[i], a = e->extremes.acceleration[i];
    assert_true(fabs(x[0][i] - x[1][i]) < 1e-12 * (1 + fabs(x[0][i])));
    for (int k = 0; k < 2; k++) assert_true(fabs(x[k][e->n + i]) < 1e-12 * v && fabs(x[k][2 * e->n + i]) < 1e-12 * a);
  }
}

TEST(test_limits_at_all_times) {
  rng g = rng_start("limits");
  double largest = 0;
  for (int round = 0; round < 12; round++) {
    static char text[20000];
    const random_options kinds = {
        .n_min = 1, .n_max = 3, .coupled = round % 2, .trees = true, .prismatic = true, .drives = true};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &kinds, text, sizeof text));
    int n = psdm_robot_n(robot);
    double effort[16], lower[16], upper[16], velocity[16], acceleration[16];
    psdm_excite_options o = small((uint64_t)round);
    o.shape = round % 4 < 2 ? PSDM_EXCITE_FOURIER : PSDM_EXCITE_SINES;
    o.goal = round % 3 ? PSDM_EXCITE_LOGDET : PSDM_EXCITE_CONDITION;
    if (round % 5 == 4) o.margin = -1;
    effort_limits(robot, &g, effort);
    if (round % 8 < 4) o.effort = effort;
    for (int i = 0; i < n; i++) {
      lower[i] = rng_uniform(&g, -3, 0), upper[i] = lower[i] + rng_uniform(&g, 0.3, 4);
      velocity[i] = rng_uniform(&g, 0.2, 5), acceleration[i] = rng_uniform(&g, 0.5, 20);
    }
    if (round >= 6) o.lower = lower, o.upper = upper, o.velocity = velocity, o.acceleration = acceleration;
    psdm_excitation *e = plan(robot, &o);
    largest = fmax(largest, check_limits(robot, &o, e, o.shape == PSDM_EXCITE_SINES ? 5 : 3));
    check_ends(e);
    assert_true(e->parameters > 0 && e->condition >= 1 && isfinite(e->logdet) && e->random_best <= e->random_median);
    psdm_excitation_free(e);
    psdm_robot_free(robot);
  }
  print_message("largest share of a limit in use on the fine grids: %.6f\n", largest);
}

/* an arm whose second joint follows the first, with limits of its own; friction counts as torque */
static const char *const follower_text =
    "gravity: [0, 0, -9.81]\nconvention: dh\njoints:\n"
    "  - {name: a, type: revolute, theta: 0, d: 0.1, a: 0, alpha: pi/2, limits: {lower: -3, upper: 2, velocity: 3, "
    "acceleration: 10, effort: 60}, friction: {coulomb: 5, static: 9, stribeck: 0.1, viscous: 3, exponent: 0.6}}\n"
    "  - {name: b, type: revolute, theta: 0, d: 0, a: 0.4, alpha: 0, couple: {a: -0.5, offset: 0.2}, limits: {lower: "
    "-0.3, upper: 0.6, velocity: 0.9, acceleration: 4}}\n"
    "  - {name: c, type: revolute, theta: 0, d: 0, a: 0.3, alpha: 0, limits: {effort: 25}}\n"
    "links:\n  - {mass: 3, com: [0, 0, 0.1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - {mass: 2, com: [-0.2, 0, 0], "
    "inertia: {xx: 0.01, yy: 0.1, zz: 0.1}}\n"
    "  - {mass: 1, com: [-0.1, 0.02, 0], inertia: {xx: 0.01, yy: 0.02, zz: 0.02}}\n";

TEST(test_followers_and_friction) {
  psdm_robot *robot = parse_robot(follower_text);
  psdm_excite_options o = small(3);
  o.evaluations = 300;
  psdm_excitation *e = plan(robot, &o);
  check_limits(robot, &o, e, 3);
  /* the coupled joint itself, by hand: b = 0.2 - a / 2 */
  for (int k = 0; k <= 20000; k++) {
    double x[6], t = e->seconds * k / 20000;
    psdm_motion_at(e->motion, t, 3, x);
    assert_true(0.2 - x[0] / 2 > -0.3 && 0.2 - x[0] / 2 < 0.6 && fabs(x[2]) / 2 < 0.9 && fabs(x[4]) / 2 < 4);
  }
  assert_true(e->extremes.effort[0] < 60 && e->extremes.effort[0] > 9 && e->extremes.effort[1] < 25);
  psdm_excitation_free(e);
  psdm_robot_free(robot);
}

/* a floor, and two links that would pass through the base */
static const char *const obstacle_text =
    "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: 0.5}\n  - {name: b, type: "
    "revolute, a: 0.5}\n  - {name: c, type: revolute, a: 0.3}\n"
    "links:\n  - {mass: 1, com: [-0.2, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n  - {mass: 1, com: [-0.2, 0.1, "
    "0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "  - {mass: 1, com: [-0.1, 0.05, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}\n"
    "collision:\n  floor: {normal: [0, 1, 0], height: -0.4}\n  capsules:\n    - {link: base, from: [0, -0.3, 0], to: "
    "[0, 0, 0], radius: 0.08}\n"
    "    - {link: b, from: [-0.5, 0, 0], to: [0, 0, 0], radius: 0.05}\n    - {link: c, from: [-0.3, 0, 0], to: [0, 0, "
    "0], radius: 0.05}\n";

TEST(test_obstacles) {
  psdm_robot *robot = parse_robot(obstacle_text);
  psdm_excite_options o = small(4);
  o.evaluations = 300;
  psdm_excitation *e = plan(robot, &o);
  print_message("least gap %.4f m, condition %.3g, random %.3g\n", e->extremes.gap, e->condition, e->random_best);
  /* gaps use only the clearance as margin; 50 times finer than the planner */
  double x[5][3], gap, worst;
  assert_int_equal(
      measure(robot, &o, e->motion, 50L * 64 * 3 + 1, NULL, x[0], x[1], x[2], x[3], x[4], &gap, &worst, NULL), PSDM_OK);
  assert_true(gap >= 0.01 && gap < 0.3 && worst <= 1);
  o.clearance = 0.2;
  psdm_excitation *wide = plan(robot, &o);
  assert_true(wide->extremes.gap >= 0.2);
  psdm_excitation_free(wide);
  psdm_excitation_free(e);
  psdm_robot_free(robot);
}

/* the reported figures of a motion, against its formula: q = sin(w t), and a joint that follows at twice its angle */
TEST(test_measures) {
  const double w = 2, centre[1] = {0}, one[1] = {1}, frequency[1] = {w}, phase[1] = {0};
  psdm_motion *motion;
  const long points = 4001;
  assert_int_equal(
      psdm_motion_sines(1, 1, centre, one, frequency, phase, 2 * 3.14159265358979323846 / w, NULL, &motion, NULL),
      PSDM_OK);
  static const struct {
    const char *limits; /* of the follower, whose position is 2 q */
    double share;       /* of the nearest limit; the joint's own are 100 away */
  } cases[] = {{"{lower: -4, upper: 4}", 0.5},
               {"{lower: -1, upper: 3}", 1.5},
               {"{lower: -3}", 0.1},
               {"{upper: 3}", 0.1},
               {"{lower: -1}", INFINITY},
               {"{upper: 1}", INFINITY},
               {"{velocity: 8}", 0.5},
               {"{acceleration: 16}", 0.5},
               {"{lower: -4, upper: 4, velocity: 5}", 0.8}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[400];
    double lower, upper, velocity, acceleration, effort, gap, worst;
    snprintf(text, sizeof text,
             "convention: dh\njoints:\n  - {name: a, a: 1, limits: {lower: -10, upper: 10, velocity: 20, acceleration: "
             "40}}\n"
             "  - {name: b, a: 1, couple: {a: 2}, limits: %s}\n",
             cases[k].limits);
    psdm_robot *robot = parse_robot(text);
    assert_int_equal(measure(robot, NULL, motion, points, NULL, &lower, &upper, &velocity, &acceleration, &effort, &gap,
                             &worst, NULL),
                     PSDM_OK);
    /* the points next to an extreme are at most half a step from it */
    double missed = 1e-6;
    assert_true(fabs(lower + 1) < missed && fabs(upper - 1) < missed && fabs(velocity - w) < missed * w &&
                fabs(acceleration - w * w) < missed * w * w);
    if (!(isinf(cases[k].share) ? isinf(worst) : fabs(worst - cases[k].share) < 1e-5))
      fail_msg("%s: %.9g, not %g", cases[k].limits, worst, cases[k].share);
    psdm_robot_free(robot);
  }
  psdm_robot *two = load_shipped("two_link"), *loop = load_shipped("five_bar");
  double x[8][2], condition, plain;
  psdm_error error;
  assert_int_equal(measure(two, NULL, motion, points, NULL, x[0], x[1], x[2], x[3], x[4], x[5], x[6], &error),
                   PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "4001 points of a motion of 1 joints; 2 or more of 2 were expected"));
  assert_int_equal(psdm_excite_condition(two, NULL, motion, NULL, &condition, &plain, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "a motion of 1 joints for a robot that has 2"));
  psdm_motion *still;
  assert_int_equal(
      psdm_motion_polynomial(2, 5, (const double[]){0, 0}, (const double[]){1, 1}, 0, 1, NULL, &still, NULL), PSDM_OK);
  assert_int_equal(measure(two, NULL, still, 1, NULL, x[0], x[1], x[2], x[3], x[4], x[5], x[6], &error),
                   PSDM_E_ARGUMENT);
  psdm_excite_options o = {.margin = 2};
  assert_int_equal(psdm_excite_condition(two, &o, still, NULL, &condition, &plain, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_excite_condition(two, NULL, still, NULL, &condition, &plain, &error), PSDM_OK);
  assert_true(plain > 1);
  /* a loop that closes along the motion */
  assert_int_equal(psdm_excite_condition(loop, NULL, still, NULL, &condition, &plain, &error), PSDM_OK);
  assert_true(plain > 1);
  psdm_motion_free(still);
  psdm_motion_free(motion);
  psdm_robot_free(two), psdm_robot_free(loop);
}

/* closed gaps: no clearance is kept */
TEST(test_closed_gaps) {
  psdm_robot *robot = parse_robot(obstacle_text);
  psdm_motion *motion;
  double x[5][3], gap, worst;
  const double from[3] = {-3, -3, -3}, to[3] = {3, 3, 3};
  assert_int_equal(psdm_motion_polynomial(3, 5, from, to, 0, 10, NULL, &motion, NULL), PSDM_OK);
  assert_int_equal(measure(robot, NULL, motion, 2001, NULL, x[0], x[1], x[2], x[3], x[4], &gap, &worst, NULL), PSDM_OK);
  assert_true(gap <= 0 && isinf(worst)); /* it runs into the obstacle */
  psdm_motion_free(motion);
  psdm_robot_free(robot);
}

/* limits on one side only: as much room as by default, if the default would leave none */
TEST(test_one_sided_limits) {
  static const struct {
    const char *limits;
    double lower, upper;
  } cases[] = {{"{lower: 3}", 3, 7}, {"{upper: -3}", -7, -3}, {"{lower: 1}", 1, 2}, {"{upper: -1}", -2, -1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[300];
    psdm_motion *motion;
    double lower, upper, velocity, acceleration, effort, gap, worst, middle = (cases[k].lower + cases[k].upper) / 2,
                                                                     half = (cases[k].upper - cases[k].lower) / 2;
    snprintf(text, sizeof text, "convention: dh\njoints:\n  - {name: a, a: 1, limits: %s}\n", cases[k].limits);
    psdm_robot *robot = parse_robot(text);
    const double from = middle - half / 2, to = middle + half / 2;
    assert_int_equal(psdm_motion_polynomial(1, 5, &from, &to, 0, 100, NULL, &motion, NULL), PSDM_OK);
    assert_int_equal(
        measure(robot, NULL, motion, 101, NULL, &lower, &upper, &velocity, &acceleration, &effort, &gap, &worst, NULL),
        PSDM_OK);
    if (fabs(worst - 0.5) > 1e-12) fail_msg("%s: %.9g", cases[k].limits, worst);
    psdm_motion_free(motion);
    psdm_robot_free(robot);
  }
}

/* ---- quality ---- */

TEST(test_better_than_chance) {
  psdm_robot *robot = load_shipped("two_link");
  for (int shape = 0; shape < 2; shape++)
    for (int goal = 0; goal < 2; goal++) {
      psdm_excite_options o = small(7);
      o.shape = (psdm_excite_shape)shape;
      o.goal = goal ? PSDM_EXCITE_CONDITION : PSDM_EXCITE_LOGDET;
      o.evaluations = 1; /* hardly more time than the random motions */
      psdm_excitation *chance = plan(robot, &o);
      o.evaluations = 400;
      psdm_excitation *e = plan(robot, &o);
      print_message("%s, %s: condition %.3f (%.3f plain), log det %.3f; random: best %.3f, median %.3f, log det %.3f\n",
                    shape ? "sines" : "fourier", goal ? "condition" : "log det", e->condition, e->condition_plain,
                    e->logdet, e->random_best, e->random_median, chance->logdet);
      assert_true(goal ? e->condition < 0.8 * e->random_best : e->logdet > chance->logdet + 0.5);
      assert_true(e->starts == 2 && isfinite(e->start_condition[0]) && isfinite(e->start_condition[1]) && !e->stopped);
      assert_true(e->evaluations > 100 && e->evaluations <= 100 + 2 * 420);
      psdm_excitation_free(chance);
      psdm_excitation_free(e);
    }
  psdm_robot_free(robot);
}

/* eigenvalues of a symmetric matrix by Jacobi's rotations: largest over smallest */
static double ratio(int n, double *A) {
  for (int sweep = 0; sweep < 30; sweep++)
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        double off = A[p * n + q], theta = (A[q * n + q] - A[p * n + p]) / 2;
        if (off == 0) continue;
        double t = off / (theta + copysign(hypot(theta, off), theta)), c = 1 / hypot(t, 1), s = t * c;
        for (int k = 0; k < n; k++) {
          double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - s * y, A[k * n + q] = s * x + c * y;
        }
        for (int k = 0; k < n; k++) {
          double x = A[p * n + k], y = A[q * n + k];
          A[p * n + k] = c * x - s * y, A[q * n + k] = s * x + c * y;
        }
      }
  double most = 0, least = INFINITY;
  for (int k = 0; k < n; k++) most = fmax(most, A[k * n + k]), least = fmin(least, A[k * n + k]);
  return most / least;
}

/* eq. 23's number from the regressor's squares, summed here */
TEST(test_condition) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_excite_options o = small(1);
  psdm_excitation *e = plan(robot, &o);
  psdm_model *model;
  psdm_work *work;
  double condition, plain, A[400] = {0}, x[6], Y[64];
  assert_int_equal(psdm_excite_condition(robot, &o, e->motion, NULL, &condition, &plain, NULL), PSDM_OK);
  assert_true(condition == e->condition && plain == e->condition_plain);
  assert_int_equal(psdm_parameters_model(robot, NULL, &model, NULL), PSDM_OK);
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  int l = psdm_model_l(model), S = psdm_robot_parameter_count(robot), column[20];
  for (int j = 0; j < l; j++) psdm_model_base_term(model, j, 0, &column[j]);
  for (int k = 0; k < 400; k++) {
    psdm_motion_at(e->motion, e->seconds * k / 400, 3, x);
    assert_int_equal(psdm_regressor_standard(robot, work, x, x + 2, x + 4, Y), PSDM_OK);
    for (int i = 0; i < 2; i++)
      for (int a = 0; a < l; a++)
        for (int b = 0; b < l; b++) A[a * l + b] += Y[i * S + column[a]] * Y[i * S + column[b]];
  }
  /* squares lose eps times the condition number's square */
  double own = sqrt(ratio(l, A));
  print_message("plain condition number %.12g, from squares %.12g\n", plain, own);
  assert_true(fabs(own / plain - 1) < 1e-14 * plain * plain + 1e-12);
  psdm_work_free(work, NULL);
  psdm_model_free(model);
  psdm_excitation_free(e);
  psdm_robot_free(robot);
}

TEST(test_threads) {
  psdm_robot *robot = load_shipped("two_link");
  for (int shape = 0; shape < 2; shape++) {
    psdm_excite_options o = small(11);
    o.shape = (psdm_excite_shape)shape;
    o.goal = shape ? PSDM_EXCITE_CONDITION : PSDM_EXCITE_LOGDET;
    o.starts = 4;
    o.threads = 1;
    psdm_excitation *one = plan(robot, &o);
    o.threads = 3;
    psdm_excitation *three = plan(robot, &o);
    for (int k = 0; k < 50; k++) {
      double x[2][6];
      psdm_motion_at(one->motion, 0.1 * k, 3, x[0]);
      psdm_motion_at(three->motion, 0.1 * k, 3, x[1]);
      assert_memory_equal(x[0], x[1], sizeof x[0]);
    }
    assert_true(one->condition == three->condition && one->logdet == three->logdet &&
                one->random_median == three->random_median);
    assert_int_equal(one->evaluations, three->evaluations);
    assert_memory_equal(one->start_condition, three->start_condition, 4 * sizeof(double));
    /* another seed gives another motion */
    o.seed++;
    psdm_excitation *other = plan(robot, &o);
    assert_true(other->condition != one->condition && other->random_median != one->random_median);
    psdm_excitation_free(one);
    psdm_excitation_free(three);
    psdm_excitation_free(other);
  }
  psdm_robot_free(robot);
}

/* ---- stops ---- */

typedef struct watching {
  int calls, stop_at, inside;
  double last[2], condition, share;
  bool together, backwards;
} watching;

static void watch_motion(void *user, const psdm_motion *best, double condition) {
  watching *w = user;
  if (w->inside++) w->together = true;
  psdm_motion_at(best, 1.25, 1, w->last);
  w->condition = condition;
  w->inside--;
}

static bool watch(void *user, const char *doing, double share) {
  watching *w = user;
  if (w->inside++) w->together = true;
  w->calls++;
  w->backwards |= share < w->share || share > 1 || !doing[0];
  w->backwards |= isfinite(w->condition) != (strstr(doing, ", condition number ") != NULL);
  w->share = share;
  w->inside--;
  return w->calls < w->stop_at;
}

TEST(test_stop) {
  psdm_robot *robot = load_shipped("two_link");
  double free_run = 0;
  for (int stop_at = 100000; stop_at >= 1; stop_at = stop_at == 100000 ? 6 : stop_at - 1) {
    watching w = {.stop_at = stop_at, .condition = NAN};
    psdm_excite_options o = small(5);
    psdm_excitation *e;
    o.starts = 3, o.threads = 3;
    o.goal = PSDM_EXCITE_CONDITION;
    o.progress = watch, o.better = watch_motion, o.progress_user = o.better_user = &w;
    e = plan(robot, &o);
    assert_false(w.together || w.backwards);
    assert_true(w.calls >= (stop_at < 6 ? stop_at : 6) && e->stopped == (stop_at < 100000));
    check_limits(robot, &o, e, 3);
    if (stop_at == 100000) {
      /* the last motion reported is the one returned */
      double x[2];
      free_run = e->condition;
      psdm_motion_at(e->motion, 1.25, 1, x);
      assert_memory_equal(x, w.last, sizeof x);
      assert_true(fabs(w.condition / e->condition - 1) < 0.05); /* fewer samples */
    }
    if (e->stopped) assert_true(e->condition <= 1.05 * e->random_median && free_run <= 1.05 * e->condition);
    psdm_excitation_free(e);
  }
  /* and by the clock */
  psdm_excite_options o = small(5);
  o.evaluations = 100000000;
  o.wall = 0.3;
  psdm_excitation *e = plan(robot, &o);
  assert_true(e->stopped && e->wall < 3 && isnan(e->start_condition[0]));
  check_limits(robot, &o, e, 3);
  psdm_excitation_free(e);
  /* running out of time is not a stop by the caller */
  psdm_error error;
  o.wall = 1e-9;
  assert_int_equal(psdm_excite(robot, &o, NULL, &e, &error), PSDM_E_ARGUMENT);
  assert_string_equal(error.text, "no motion was found within 1e-09 s of wall time");
  psdm_robot_free(robot);
}

/* ---- special cases ---- */

static void expect(const psdm_robot *robot, const psdm_excite_options *o, psdm_status status, const char *text) {
  psdm_excitation *e = (psdm_excitation *)&e;
  psdm_error error = {0};
  assert_int_equal(psdm_excite(robot, o, NULL, &e, &error), status);
  assert_null(e);
  if (!strstr(error.text, text)) fail_msg("'%s' was expected in '%s'", text, error.text);
}

TEST(test_refusals) {
  psdm_robot *robot = load_shipped("two_link"), *loop = load_shipped("palletizer");
  const double low[2] = {-1, 0.5}, high[2] = {1, 0.5}, none[2] = {1, 0}, weak[2] = {1e-3, 1e-3};
  psdm_excite_options o = small(1);
  expect(loop, &o, PSDM_E_LOOP, "closed loops do not close everywhere within the limits");
  o.lower = low, o.upper = high;
  expect(robot, &o, PSDM_E_ARGUMENT, "no room between 0.5 and 0.5");
  o = small(1), o.velocity = none;
  expect(robot, &o, PSDM_E_ARGUMENT, "velocities up to 0");
  o = small(1), o.acceleration = none;
  expect(robot, &o, PSDM_E_ARGUMENT, "accelerations up to 0");
  o = small(1), o.effort = none;
  expect(robot, &o, PSDM_E_ARGUMENT, "torques up to 0");
  o = small(1), o.effort = weak;
  expect(robot, &o, PSDM_E_ARGUMENT, "no motion fits the limits");
  o = small(1), o.harmonics = 1;
  expect(robot, &o, PSDM_E_ARGUMENT, "needs 2");
  o = small(1), o.harmonics = 300;
  expect(robot, &o, PSDM_E_ARGUMENT, "300 harmonics; at most 256");
  o = small(1), o.evaluations = LONG_MAX;
  expect(robot, &o, PSDM_E_ARGUMENT, "evaluations; at most");
  o = small(1), o.band = 0.2;
  expect(robot, &o, PSDM_E_ARGUMENT, "needs 2");
  o = small(1), o.shape = PSDM_EXCITE_SINES, o.harmonics = 9;
  expect(robot, &o, PSDM_E_ARGUMENT, "9 sines do not fit in a band of 1 Hz: a period of 5 s has 5 harmonics");
  o = small(1), o.margin = 1;
  expect(robot, &o, PSDM_E_ARGUMENT, "margin");
  o = small(1), o.seconds = NAN;
  expect(robot, &o, PSDM_E_ARGUMENT, "seconds");
  o = small(1), o.starts = -1;
  expect(robot, &o, PSDM_E_ARGUMENT, "negative");
  o = small(1), o.step = PSDM_STEPS;
  expect(robot, &o, PSDM_E_ARGUMENT, "step 4");
  psdm_robot_free(loop);
  psdm_robot_free(robot);
}

/* unknown inertias: torques are not limited, and not reported */
TEST(test_unknown_inertias) {
  psdm_robot *robot = load_shipped("denso_vs6556g");
  const double effort[6] = {1, 1, 1, 1, 1, 1};
  psdm_excite_options o = {.step = PSDM_STEP_INERTIA, .starts = 1, .evaluations = 20, .effort = effort};
  psdm_excitation *e = plan(robot, &o);
  check_limits(robot, &o, e, 5);
  assert_true(isnan(e->extremes.effort[0]) && isinf(e->extremes.gap) && e->seconds == 10);
  assert_true(e->condition < 2 * e->random_median);
  psdm_excitation_free(e);
  psdm_robot_free(robot);
}

/* coupled joints: two numbers move four links */
TEST(test_parallelogram) {
  psdm_robot *robot = load_shipped("parallelogram");
  psdm_excite_options o = small(2);
  psdm_excitation *e = plan(robot, &o);
  check_limits(robot, &o, e, 3);
  print_message("parallelogram: %d columns, condition %.3g, random %.3g\n", e->parameters, e->condition,
                e->random_best);
  assert_true(e->n == 2 && e->parameters > 6 && e->condition < e->random_median);
  o.no_friction = true;
  psdm_excitation *bare = plan(robot, &o);
  assert_int_equal(bare->parameters, e->parameters - 6);
  psdm_excitation_free(bare);
  psdm_excitation_free(e);
  psdm_robot_free(robot);
}

static void nod(void *user, const psdm_motion *best, double condition) { (void)user, (void)best, (void)condition; }

TEST(test_memory) {
  psdm_robot *robot = parse_robot("gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, type: revolute, a: "
                                  "0.5}\nlinks:\n  - {mass: 1, com: [0.1, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}\n");
  psdm_excite_options o = {
      .step = PSDM_STEP_INERTIA, .starts = 1, .evaluations = 6, .harmonics = 2, .threads = 1, .better = nod};
  psdm_error error;
  counting c;
  long fail_at = 1;
  for (;; fail_at++) {
    psdm_excitation *e;
    counting_init(&c, fail_at);
    psdm_status status = psdm_excite(robot, &o, &c.allocator, &e, &error);
    if (!status) psdm_excitation_free(e);
    assert_int_equal(c.live, 0);
    if (!status) break;
    assert_int_equal(status, PSDM_E_MEMORY);
    assert_null(e);
  }
  print_message("%ld allocations, each of which failed once\n", fail_at - 1);
  assert_true(fail_at > 20);
  psdm_robot_free(robot);
}

TEST_MAIN(test_names, test_limits_at_all_times, test_followers_and_friction, test_obstacles, test_measures,
          test_closed_gaps, test_one_sided_limits, test_better_than_chance, test_condition, test_threads, test_stop,
          test_refusals, test_unknown_inertias, test_parallelogram, test_memory)
