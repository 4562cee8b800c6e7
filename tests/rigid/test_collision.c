/* test_collision.c: gaps against a search over both axes, gradients against differences, on random robots; spheres,
 * parallel axes, the floor. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { MOST = 12, CAPSULES = 8, GAPS = CAPSULES * CAPSULES };

/* m: no point of these robots is farther away, so rounding is below 2e-16 reach times a few dozen operations */
static const double reach = 8;

/* ---- the twin: the distance of two axes as a convex function of two parameters, on grids that shrink around its
 * minimum ---- */

typedef struct segment {
  double from[3], to[3];
} segment;

static double squared(const segment *x, const segment *y, double s, double t) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    double d = x->from[i] + s * (x->to[i] - x->from[i]) - y->from[i] - t * (y->to[i] - y->from[i]);
    sum += d * d;
  }
  return sum;
}

/* One parameter after the other: the least over t of sampled points, then the least of that over s. A convex
 * function's least value lies between the neighbours of the best sample, so every round takes those for its ends. */
static double search(const segment *x, const segment *y, bool over_s, double s) {
  enum { POINTS = 10, ROUNDS = 20 };
  double low = 0, high = 1, best = INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    double at = low, least = INFINITY, width = (high - low) / POINTS;
    for (int k = 0; k <= POINTS; k++) {
      double u = low + width * k, d = over_s ? search(x, y, false, u) : squared(x, y, s, u);
      if (d < least) least = d, at = u;
    }
    best = fmin(best, least);
    low = fmax(0, at - width), high = fmin(1, at + width);
  }
  return best;
}

static double searched(const segment *x, const segment *y) { return sqrt(search(x, y, true, 0)); }

/* ---- random robots that carry random capsules ---- */

static char *with_capsules(rng *g, const random_options *options, char *buf, size_t size) {
  random_robot_text(g, options, buf, size);
  int joints = 0;
  for (const char *at = strstr(buf, "joints:"); (at = strstr(at, "{name: j")); at++) joints++;
  char *at = buf + strlen(buf), *end = buf + size;
  at += snprintf(at, (size_t)(end - at),
                 "collision:\n  floor: {normal: [%.17g, %.17g, %.17g], height: %.17g}\n  capsules:\n",
                 rng_uniform(g, -1, 1), rng_uniform(g, -1, 1), rng_uniform(g, 0.1, 1), rng_uniform(g, -2, -1));
  for (int k = 0; k < CAPSULES; k++) {
    int joint = rng_int(g, 0, joints);
    char name[16] = "base";
    if (joint) snprintf(name, sizeof name, "j%d", joint);
    at += snprintf(at, (size_t)(end - at), "    - {link: %s, from: [%.17g, %.17g, %.17g], radius: %.17g", name,
                   rng_uniform(g, -0.5, 0.5), rng_uniform(g, -0.5, 0.5), rng_uniform(g, -0.5, 0.5),
                   rng_uniform(g, 0.01, 0.1));
    /* a third are spheres, some axes are along a frame's own */
    if (rng_int(g, 0, 2))
      at += snprintf(at, (size_t)(end - at), ", to: [%.17g, %.17g, %.17g]", rng_uniform(g, -0.5, 0.5),
                     rng_int(g, 0, 2) ? rng_uniform(g, -0.5, 0.5) : 0, rng_uniform(g, -0.5, 0.5));
    at += snprintf(at, (size_t)(end - at), "}\n");
  }
  assert_true(at < end);
  return buf;
}

static void place(const psdm_robot *robot, psdm_work *work, const double *q, const psdm_capsule *c, segment *out) {
  double pose[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  if (c->joint >= 0) assert_int_equal(psdm_pose(robot, work, q, c->joint, pose), PSDM_OK);
  for (int i = 0; i < 3; i++) {
    out->from[i] = out->to[i] = pose[i];
    for (int j = 0; j < 3; j++)
      out->from[i] += pose[3 + 3 * i + j] * c->from[j], out->to[i] += pose[3 + 3 * i + j] * c->to[j];
  }
}

static double searched_gap(const psdm_robot *robot, psdm_work *work, const double *q, int index) {
  int a, b;
  segment x, y;
  assert_true(psdm_collision_pair(robot, index, &a, &b));
  const psdm_capsule *first = psdm_collision_capsule(robot, a), *second = psdm_collision_capsule(robot, b);
  place(robot, work, q, first, &x);
  if (b >= 0) {
    place(robot, work, q, second, &y);
    return searched(&x, &y) - first->radius - second->radius;
  }
  double normal[3], height, low = INFINITY;
  assert_true(psdm_collision_floor(robot, normal, &height));
  for (int k = 0; k <= 10; k++) {
    double above = -height;
    for (int i = 0; i < 3; i++) above += normal[i] * (x.from[i] + 0.1 * k * (x.to[i] - x.from[i]));
    low = fmin(low, above);
  }
  return low - first->radius;
}

/* a grid of steps h in a convex function's parameters misses its least square by (h length)^2: after 20 rounds by a
 * negligible amount */
static void gaps_are_distances(void **state) {
  (void)state;
  rng g = rng_start("gaps are distances");
  static char text[1 << 16];
  const random_options options = {.n_min = 2, .n_max = 7, .coupled = true, .trees = true, .prismatic = true};
  double worst = 0;
  long count = 0;
  for (int trial = 0; trial < 40; trial++) {
    psdm_robot *robot = parse_robot(with_capsules(&g, &options, text, sizeof text));
    psdm_work *work;
    double q[MOST], gap[GAPS];
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    for (int pose = 0; pose < 3; pose++) {
      for (int i = 0; i < psdm_robot_n(robot); i++) q[i] = rng_uniform(&g, -2, 2);
      assert_int_equal(psdm_collision_at(robot, work, q, gap, NULL), PSDM_OK);
      for (int k = 0; k < psdm_collision_gaps(robot); k++, count++)
        worst = fmax(worst, fabs(gap[k] - searched_gap(robot, work, q, k)));
    }
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  printf("%ld gaps, worst difference from a search %.2g m\n", count, worst);
  assert_true(count > 500);
  /* near a least distance d the search's square is flat: its root is off by rounding eps reach^2 / d, and axes
   * nearer than 1e-3 are rare */
  assert_true(worst < 2e-16 * reach * reach / 1e-3);
}

/* Central differences with step h = 1e-5 are off by a third derivative times h^2 / 6, which is at most 3 reach^3 /
 * distance^2: 1e-5 at a distance of
 * 5 cm. Where another kind of solution takes over within the step, the second derivative jumps, and they are off by
 * that times h / 2; that is rare. */
static void gradients_are_derivatives(void **state) {
  (void)state;
  rng g = rng_start("gradients are derivatives");
  static char text[1 << 16];
  const random_options options = {.n_min = 2, .n_max = 7, .coupled = true, .trees = true, .prismatic = true};
  double worst = 0, h = 1e-5;
  long count = 0, moving = 0, kinks = 0;
  for (int trial = 0; trial < 100; trial++) {
    psdm_robot *robot = parse_robot(with_capsules(&g, &options, text, sizeof text));
    psdm_work *work;
    int n = psdm_robot_n(robot), gaps = psdm_collision_gaps(robot);
    double q[MOST], gap[GAPS], gradient[GAPS * MOST], plus[GAPS], minus[GAPS], radii[GAPS];
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    for (int i = 0; i < n; i++) q[i] = rng_uniform(&g, -2, 2);
    assert_int_equal(psdm_collision_at(robot, work, q, gap, gradient), PSDM_OK);
    for (int k = 0; k < gaps; k++) {
      int a, b;
      psdm_collision_pair(robot, k, &a, &b);
      radii[k] = b < 0 ? INFINITY : psdm_collision_capsule(robot, a)->radius + psdm_collision_capsule(robot, b)->radius;
    }
    for (int i = 0; i < n; i++) {
      double at = q[i];
      q[i] = at + h;
      assert_int_equal(psdm_collision_at(robot, work, q, plus, NULL), PSDM_OK);
      q[i] = at - h;
      assert_int_equal(psdm_collision_at(robot, work, q, minus, NULL), PSDM_OK);
      q[i] = at;
      for (int k = 0; k < gaps; k++) {
        /* axes that nearly cross bend sharply there: curvature is speed^2 / distance */
        if (gap[k] + radii[k] < 0.05) continue;
        /* the floor's gap has a kink where the axis lies level; so has that of parallel axes: none of these are */
        double difference = (plus[k] - minus[k]) / (2 * h);
        worst = fmax(worst, fabs(gradient[k * n + i] - difference));
        kinks += fabs(gradient[k * n + i] - difference) > 1e-5;
        count++;
        moving += fabs(difference) > 1e-3;
      }
    }
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  printf("%ld derivatives, %ld of them not zero, worst difference %.2g m\n", count, moving, worst);
  assert_true(moving > 1000);
  assert_true(kinks * 1000 <= count);
  assert_true(worst < h * reach * reach / 0.05 / 2);
}

/* ---- by hand ---- */

/* two bars on a slide each: x of the second is q2, the first is fixed */
static psdm_robot *two_bars(const char *first, const char *second) {
  static char text[900];
  snprintf(text, sizeof text,
           "convention: dh\njoints:\n  - {name: up, type: prismatic}\n  - {name: side, type: prismatic, parent: base, "
           "origin: {xyz: [0, 0, 0], rpy: [0, pi/2, 0]}}\n"
           "collision:\n  capsules:\n    - {link: up, %s}\n    - {link: side, %s}\n",
           first, second);
  return parse_robot(text);
}

static void known_distances(void **state) {
  (void)state;
  /* link `side` has its z along the base's x, x along -z, y along y */
  static const struct {
    const char *first, *second;
    double q[2], gap, gradient[2];
  } cases[] = {
      /* two spheres on a line, then at a right angle: 3-4-5 */
      {"from: [0, 0, 0], radius: 0.1", "from: [0, 0, 0], radius: 0.2", {0, 2}, 1.7, {0, 1}},
      {"from: [0, 0, 0], radius: 0.1", "from: [0, 0, 0], radius: 0.2", {3, 4}, 4.7, {0.6, 0.8}},
      /* a sphere and the side of a bar, and beyond its end */
      {"from: [0, 0, 0], to: [0, 2, 0], radius: 0.1", "from: [0, 1, 0], radius: 0.1", {0, 3}, 2.8, {0, 1}},
      {"from: [0, 0, 0], to: [0, 2, 0], radius: 0.1", "from: [0, 5, 0], radius: 0.1", {0, 4}, 4.8, {0, 0.8}},
      /* parallel bars side by side, and one behind the other */
      {"from: [0, 0, 0], to: [0, 2, 0], radius: 0.1",
       "from: [0, 1, 0], to: [0, 3, 0], radius: 0.1",
       {0, 3},
       2.8,
       {0, 1}},
      {"from: [0, 0, 0], to: [0, 1, 0], radius: 0.1",
       "from: [0, 5, 0], to: [0, 7, 0], radius: 0.1",
       {0, 3},
       4.8,
       {0, 0.6}},
      /* crossed bars: the nearest points are inside both */
      {"from: [-1, 0, 0], to: [1, 0, 0], radius: 0.1",
       "from: [0, -1, 0.5], to: [0, 1, 0.5], radius: 0.2",
       {2, 0},
       1.7,
       {1, 0}},
      /* inside each other: by the distance of the axes */
      {"from: [0, 0, 0], radius: 1", "from: [0, 0, 0], radius: 1", {0, 0.5}, -1.5, {0, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_robot *robot = two_bars(cases[i].first, cases[i].second);
    psdm_work *work;
    double gap, gradient[2];
    assert_int_equal(psdm_collision_gaps(robot), 1);
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_collision_at(robot, work, cases[i].q, &gap, gradient), PSDM_OK);
    if (!(fabs(gap - cases[i].gap) < 1e-14) || !(max_difference(gradient, cases[i].gradient, 2) < 1e-14))
      fail_msg("case %zu: gap %.17g, gradient %.17g %.17g", i, gap, gradient[0], gradient[1]);
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

/* axes that cross have no direction; the gap is still minus the radii, and the gradient finite */
static void crossing_axes(void **state) {
  (void)state;
  static const char *const second[] = {"from: [0, -1, 0], to: [0, 1, 0], radius: 0.2", "from: [0, 0, 0], radius: 0.2"};
  for (int k = 0; k < 2; k++) {
    psdm_robot *robot = two_bars("from: [-1, 0, 0], to: [1, 0, 0], radius: 0.1", second[k]);
    psdm_work *work;
    const double q[2] = {0, 0};
    double gap, gradient[2];
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_collision_at(robot, work, q, &gap, gradient), PSDM_OK);
    assert_true(fabs(gap + 0.3) < 1e-15 && isfinite(gradient[0]) && isfinite(gradient[1]));
    assert_true(k == 1 || fabs(fabs(gradient[0]) - 1) < 1e-15); /* at right angles to both bars is up or down */
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
}

/* the direction in which crossing axes part is their common normal, of length 1 however long they are: u = (4, 2,
 * 2), v = (-1, -4, -2), u x v = (4, 6, -14); q1 moves the first bar along z, q2 the second along x */
static void crossing_normal_has_length_one(void **state) {
  (void)state;
  psdm_robot *robot =
      two_bars("from: [-2, -1, -1], to: [2, 1, 1], radius: 0.1", "from: [-1, 2, 0.5], to: [1, -2, -0.5], radius: 0.1");
  psdm_work *work;
  const double q[2] = {0, 0}, length = sqrt(4 * 4 + 6 * 6 + 14 * 14);
  double gap, gradient[2];
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_collision_at(robot, work, q, &gap, gradient), PSDM_OK);
  assert_true(fabs(gap + 0.2) < 1e-15);
  assert_true(fabs(fabs(gradient[0]) - 14 / length) < 1e-15 && fabs(fabs(gradient[1]) - 4 / length) < 1e-15);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* nearly parallel axes: exact to rounding however small the angle is, but where they nearly cross */
static void nearly_parallel(void **state) {
  (void)state;
  rng g = rng_start("nearly parallel");
  double worst = 0;
  for (int trial = 0; trial < 300; trial++) {
    char first[200], second[200];
    double tilt = pow(10, rng_uniform(&g, -16, -1)), apart = rng_uniform(&g, 0.05, 1);
    snprintf(first, sizeof first, "from: [%.17g, 0, 0], to: [%.17g, 0, 0], radius: 0.01", rng_uniform(&g, -1, 0),
             rng_uniform(&g, 0, 1));
    snprintf(second, sizeof second, "from: [%.17g, %.17g, %.17g], to: [%.17g, %.17g, %.17g], radius: 0.01", apart,
             -tilt, -0.5, apart + tilt, tilt, rng_uniform(&g, -0.4, 1));
    psdm_robot *robot = two_bars(first, second);
    psdm_work *work;
    double q[2] = {rng_uniform(&g, -0.1, 0.1), rng_uniform(&g, -0.2, 0.2)}, gap;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    assert_int_equal(psdm_collision_at(robot, work, q, &gap, NULL), PSDM_OK);
    worst = fmax(worst, fabs(gap - searched_gap(robot, work, q, 0)));
    psdm_work_free(work, NULL);
    psdm_robot_free(robot);
  }
  printf("nearly parallel axes: worst difference %.2g m\n", worst);
  /* rounding of squares of 2 m, over a distance of 5 cm, a few operations */
  assert_true(worst < 2e-16 * 2 * 2 / 0.05 * 10);
}

/* a closed loop's gradient goes through the loop */
static void closed_loops(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot("convention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: left, a: 0.3}\n  - {name: left_elbow, "
                  "a: 0.5}\n  - {name: right, a: 0.3, parent: base, origin: {xyz: [0.5, 0, 0], rpy: [0, 0, 0]}}\n"
                  "  - {name: right_elbow, a: 0.5}\nloops:\n  - {links: [left_elbow, right_elbow], points: [[0, 0, 0], "
                  "[0, 0, 0]], joints: [left_elbow, right_elbow], start: [-1, 1], at: {left: 90 deg, right: 90 deg}}\n"
                  "collision:\n  floor: {normal: [0, 1, 0], height: 0}\n  capsules:\n    - {link: left_elbow, from: "
                  "[-0.5, 0, 0], to: [0, 0, 0], radius: 0.03}\n"
                  "    - {link: right, from: [-0.3, 0, 0], to: [0, 0, 0], radius: 0.03}\n    - {link: base, from: "
                  "[0.2, -0.2, 0.5], radius: 0.05}\n");
  psdm_work *work;
  double q[2] = {1.8, 1.2}, gap[GAPS], plus[GAPS], minus[GAPS], gradient[GAPS * 2], h = 1e-5;
  int gaps = psdm_collision_gaps(robot);
  assert_int_equal(gaps, 4); /* left_elbow with right and base, both with the floor */
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_collision_at(robot, work, q, gap, gradient), PSDM_OK);
  for (int i = 0; i < 2; i++) {
    q[i] += h;
    assert_int_equal(psdm_collision_at(robot, work, q, plus, NULL), PSDM_OK);
    q[i] -= 2 * h;
    assert_int_equal(psdm_collision_at(robot, work, q, minus, NULL), PSDM_OK);
    q[i] += h;
    for (int k = 0; k < gaps; k++) assert_true(fabs(gradient[2 * k + i] - (plus[k] - minus[k]) / (2 * h)) < 1e-8);
  }
  assert_true(fabs(gradient[1]) > 1e-3); /* the right joint moves the left coupler */
  q[0] = 3;                              /* the elbows are farther from each other than the couplers reach */
  q[1] = 0.1;
  assert_int_equal(psdm_collision_at(robot, work, q, gap, NULL), PSDM_E_LOOP);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

/* no pairs: nothing is written */
static void no_pairs(void **state) {
  (void)state;
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_work *work;
  const double q[6] = {0};
  double gap = 7, gradient = 8;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_collision_at(robot, work, q, &gap, &gradient), PSDM_OK);
  assert_true(gap == 7 && gradient == 8);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_distances),
      cmocka_unit_test(crossing_axes),
      cmocka_unit_test(crossing_normal_has_length_one),
      cmocka_unit_test(gaps_are_distances),
      cmocka_unit_test(nearly_parallel),
      cmocka_unit_test(gradients_are_derivatives),
      cmocka_unit_test(closed_loops),
      cmocka_unit_test(no_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
