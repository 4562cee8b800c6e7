/* test_bounds.c: bounds against random states, their tightness, closed forms, sliding joints without limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/analyze.h"
#include "support.h"

static long states_per_robot(void) {
  const char *text = getenv("PSDM_STATES"); /* the deep test uses a million */
  return text ? strtol(text, NULL, 10) : 2000;
}

static psdm_bounds *bounds_of(const psdm_robot *robot, const psdm_bounds_options *options) {
  psdm_bounds *b;
  psdm_error error;
  if (psdm_bounds_new(robot, options, NULL, &b, &error)) fail_msg("%s", error.text);
  return b;
}

/* the joints' ranges as the bounds use them; unlimited sliding joints within ten metres */
static void ranges(const psdm_robot *robot, double *lower, double *upper, bool *unlimited) {
  for (int k = 0; k < psdm_robot_joints(robot); k++) {
    const psdm_joint *joint = psdm_robot_joint(robot, k);
    if (joint->q < 0) continue;
    bool limited = isfinite(joint->limits.lower) && isfinite(joint->limits.upper),
         slides = joint->type == PSDM_PRISMATIC;
    lower[joint->q] = limited ? joint->limits.lower : slides ? -10 : -4;
    upper[joint->q] = limited ? joint->limits.upper : slides ? 10 : 4;
    unlimited[joint->q] = slides && !limited;
  }
}

/* ---- an independent evaluation of a state: eigenvalues by Jacobi's rotations ---- */

static void jacobi(int n, double *A, double *eigen) {
  for (int sweep = 0; sweep < 50; sweep++) {
    double off = 0;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        double apq = A[p * n + q];
        off += apq * apq;
        if (apq == 0) continue;
        double z = (A[q * n + q] - A[p * n + p]) / (2 * apq), t = (z >= 0 ? 1 : -1) / (fabs(z) + sqrt(z * z + 1)),
               c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; k++) {
          double x = A[k * n + p], y = A[k * n + q];
          A[k * n + p] = c * x - s * y;
          A[k * n + q] = s * x + c * y;
        }
        for (int k = 0; k < n; k++) {
          double x = A[p * n + k], y = A[q * n + k];
          A[p * n + k] = c * x - s * y;
          A[q * n + k] = s * x + c * y;
        }
      }
    if (off < 1e-300) break;
  }
  eigen[0] = INFINITY, eigen[1] = -INFINITY;
  for (int i = 0; i < n; i++) {
    eigen[0] = fmin(eigen[0], A[i * n + i]);
    eigen[1] = fmax(eigen[1], A[i * n + i]);
  }
}

typedef struct looker {
  const psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  int n;
} looker;

typedef struct seen {
  double least, mass, coriolis, gravity; /* coriolis at a unit qd */
} seen;

static seen look(looker *l, const double *q, const double *qd) {
  double M[64], S[64], A[64] = {0}, g[8], eigen[2], zero[8] = {0}, square = 0;
  int n = l->n;
  seen out;
  assert_int_equal(psdm_linearize_inverse(l->robot, l->linear, q, qd, zero, NULL, S, M), PSDM_OK);
  assert_int_equal(psdm_gravity(l->robot, l->work, q, g), PSDM_OK);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) A[i * n + j] += S[k * n + i] * S[k * n + j] / 4;
  jacobi(n, M, eigen);
  out.least = eigen[0], out.mass = fmax(eigen[1], -eigen[0]);
  jacobi(n, A, eigen);
  out.coriolis = sqrt(fmax(eigen[1], 0));
  for (int i = 0; i < n; i++) square += g[i] * g[i];
  out.gravity = sqrt(square);
  return out;
}

static looker looker_new(const psdm_robot *robot) {
  looker l = {.robot = robot, .n = psdm_robot_n(robot)};
  assert_int_equal(psdm_work_new(robot, NULL, &l.work), PSDM_OK);
  assert_int_equal(psdm_linear_new(robot, NULL, &l.linear), PSDM_OK);
  return l;
}

static void looker_free(looker *l) {
  psdm_work_free(l->work, NULL);
  psdm_linear_free(l->linear, NULL);
}

static void random_direction(rng *g, int n, double *qd) {
  double size = 0;
  for (int i = 0; i < n; i++) {
    qd[i] = rng_uniform(g, -1, 1);
    size += qd[i] * qd[i];
  }
  for (int i = 0; i < n; i++) qd[i] /= sqrt(size);
}

/* no state is above the bounds; with an allowance for the recursions' rounding */
static void never_violated(rng *g, const psdm_robot *robot, const psdm_bounds *b, long states) {
  looker l = looker_new(robot);
  double lower[8], upper[8], q[8], qd[8];
  bool unlimited[8], any = false;
  const double *k = b->k, round = 1e-12 * (b->mass.bound + b->gravity.bound);
  ranges(robot, lower, upper, unlimited);
  for (int i = 0; i < l.n; i++) any = any || unlimited[i];
  for (long s = 0; s < states; s++) {
    double size = 0;
    for (int i = 0; i < l.n; i++) {
      q[i] = rng_uniform(g, lower[i], upper[i]);
      /* sliding joints are worst at their ends */
      if (s % 4 == 0 && rng_int(g, 0, 2) == 0) q[i] = rng_int(g, 0, 1) ? lower[i] : upper[i];
      size += any ? q[i] * q[i] : 0;
    }
    size = sqrt(size);
    random_direction(g, l.n, qd);
    seen x = look(&l, q, qd);
    assert_true(x.mass <= k[1] + k[2] * size + k[3] * size * size + round);
    assert_true(x.coriolis <= k[4] + k[5] * size + b->coriolis_square * size * size + round);
    assert_true(x.gravity <= k[6] + k[7] * size + round);
    assert_true(x.mass >= k[0] - round);
    assert_true(x.least >= b->mass_least.bound - round);
  }
  looker_free(&l);
}

/* the reported values are attained */
static void reported_values_are_attained(const psdm_robot *robot, const psdm_bounds *b) {
  looker l = looker_new(robot);
  double zero[8] = {0}, tolerance = 1e-9 * (b->mass.found + b->gravity.found);
  assert_true(fabs(look(&l, b->mass.q, zero).mass - b->mass.found) <= tolerance);
  assert_true(fabs(look(&l, b->mass_small.q, zero).mass - b->mass_small.found) <= tolerance);
  assert_true(fabs(look(&l, b->mass_least.q, zero).least - b->mass_least.found) <= tolerance);
  assert_true(fabs(look(&l, b->gravity.q, zero).gravity - b->gravity.found) <= tolerance);
  assert_true(look(&l, b->coriolis.q, b->coriolis.qd).coriolis >= b->coriolis.found * (1 - 1e-6) - tolerance);
  looker_free(&l);
}

typedef struct worst {
  double mass, coriolis, gravity, small, least;
} worst;

static double ratio(double upper, double lower) { return upper <= 1e-10 ? 1 : upper / lower; }

static worst ratios(const psdm_bounds *b) {
  return (worst){ratio(b->mass.bound, b->mass.found), ratio(b->coriolis.bound, b->coriolis.found),
                 ratio(b->gravity.bound, b->gravity.found), ratio(b->mass_small.found, b->mass_small.bound),
                 ratio(b->mass_least.found, b->mass_least.bound)};
}

static void keep_worst(worst *w, worst x) {
  w->mass = fmax(w->mass, x.mass), w->coriolis = fmax(w->coriolis, x.coriolis),
  w->gravity = fmax(w->gravity, x.gravity);
  w->small = fmax(w->small, x.small), w->least = fmax(w->least, x.least);
}

static void print_worst(const char *name, worst w) {
  printf("%s: bound/found ||M|| %.4f, ||S|| %.4f, |g| %.4f; found/bound least ||M|| %.4f, least eigenvalue %.4f\n",
         name, w.mass, w.coriolis, w.gravity, w.small, w.least);
}

/* up to three joints: bounds within 1.2 of what is found */
TEST(random_arms) {
  rng g = rng_start("random_arms");
  worst all = {1, 1, 1, 1, 1};
  char text[16384];
  for (int round = 0; round < 12; round++) {
    const random_options options = {.n_min = 1, .n_max = 3, .trees = round % 2 == 0, .drives = round % 3 == 0};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_bounds *b = bounds_of(robot, NULL);
    reported_values_are_attained(robot, b);
    never_violated(&g, robot, b, states_per_robot());
    keep_worst(&all, ratios(b));
    psdm_bounds_free(b);
    psdm_robot_free(robot);
  }
  print_worst("random arms of up to three joints", all);
  assert_true(all.mass <= 1.2 && all.coriolis <= 1.2 && all.gravity <= 1.2 && all.small <= 1.2);
}

static const char limited[] =
    "convention: dh\ngravity: [0, 0, -9.81]\n"
    "joints: [{d: 0.5, alpha: pi/2, limits: {lower: -1, upper: 2}}, {a: 0.4, alpha: -pi/2, limits: {lower: -0.3, "
    "upper: 1.2}}, {type: prismatic, theta: 0.2, limits: {lower: 0.2, upper: 0.9}}]\n"
    "links:\n"
    "  - {mass: 5, com: [0, -0.2, 0], inertia: {xx: 0.1, yy: 0.05, zz: 0.1}}\n"
    "  - {mass: 4, com: [-0.2, 0, 0.1], inertia: {xx: 0.01, yy: 0.08, zz: 0.08}}\n"
    "  - {mass: 2, com: [-0.1, 0, 0.05], inertia: {xx: 0.005, yy: 0.03, zz: 0.03}}\n";

TEST(with_limits) {
  rng g = rng_start("with_limits");
  psdm_robot *robot = parse_robot(limited);
  psdm_bounds *b = bounds_of(robot, NULL);
  worst w = ratios(b);
  print_worst("three joints with limits, one slides", w);
  assert_true(w.mass <= 1.2 && w.coriolis <= 1.2 && w.gravity <= 1.2 && w.small <= 1.2 && w.least <= 1.2);
  assert_true(b->k[2] == 0 && b->k[3] == 0 && b->k[5] == 0 && b->k[7] == 0 && b->coriolis_square == 0);
  for (int k = 0; k < 3; k++) {
    const psdm_bound *x = k == 0 ? &b->mass : k == 1 ? &b->gravity : &b->coriolis;
    assert_true(x->q[0] >= -1 && x->q[0] <= 2 && x->q[1] >= -0.3 && x->q[1] <= 1.2 && x->q[2] >= 0.2 && x->q[2] <= 0.9);
  }
  reported_values_are_attained(robot, b);
  never_violated(&g, robot, b, states_per_robot());
  /* limits of the caller's own */
  psdm_bounds *narrow = bounds_of(
      robot, &(psdm_bounds_options){.lower = (const double[]){0, 0, 0.3}, .upper = (const double[]){0, 0.1, 0.4}});
  assert_true(narrow->mass.bound < b->mass.bound && narrow->mass_small.bound > b->mass_small.bound);
  assert_true(narrow->mass.q[2] == 0.4 && narrow->mass.q[0] == 0);
  psdm_bounds_free(narrow);
  psdm_bounds_free(b);
  psdm_robot_free(robot);
}

/* sliding joints without limits: k2, k3, k5, k7 and the square of S for a spherical arm */
TEST(without_limits) {
  rng g = rng_start("without_limits");
  static const char *const robots[] = {
      /* spherical: ||S|| grows with q3^2 */
      "convention: dh\ngravity: [0, 0, -9.81]\njoints: [{d: 0.3, alpha: pi/2}, {alpha: -pi/2}, {type: "
      "prismatic}]\nlinks:\n"
      "  - {mass: 5, com: [0, -0.2, 0], inertia: {xx: 0.1, yy: 0.05, zz: 0.1}}\n"
      "  - {mass: 4, com: [0.02, 0, 0.1], inertia: {xx: 0.01, yy: 0.08, zz: 0.08}}\n"
      "  - {mass: 2, com: [0.01, 0, -0.3], inertia: {xx: 0.005, yy: 0.03, zz: 0.03}}\n",
      "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{alpha: pi/2}, {type: prismatic}]\nlinks: [{mass: 1, com: [0, "
      "0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, "
      "{mass: 2, com: [0, 0, 0], inertia: {xx: 0.2, yy: 0.2, zz: 0.2}}]\n"};
  for (int r = 0; r < 2; r++) {
    psdm_robot *robot = parse_robot(robots[r]);
    psdm_bounds *b = bounds_of(robot, NULL);
    printf("k0..k7 = %.4g %.4g %.4g %.4g %.4g %.4g %.4g %.4g, S also %.4g |q|^2\n", b->k[0], b->k[1], b->k[2], b->k[3],
           b->k[4], b->k[5], b->k[6], b->k[7], b->coriolis_square);
    assert_true(b->k[3] > 0 && b->k[7] > 0 && b->k[0] > 0);
    assert_true((b->coriolis_square > 0) == (r == 0));
    never_violated(&g, robot, b, states_per_robot());
    /* RP: M = diag(I + m q2^2, m), S has m q2 and m qd2: closed forms */
    if (r == 1) {
      assert_true(fabs(b->k[3] - 2) < 1e-6 && b->k[2] == 0 && fabs(b->k[0] - 2) < 1e-6 &&
                  fabs(b->k[7] - 2 * 9.81) < 1e-6);
    }
    psdm_bounds_free(b);
    psdm_robot_free(robot);
  }
  char text[16384];
  for (int round = 0; round < 8; round++) {
    const random_options options = {.n_min = 2, .n_max = 4, .trees = true, .prismatic = true};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_bounds *b = bounds_of(robot, &(psdm_bounds_options){.points = 20000});
    never_violated(&g, robot, b, states_per_robot());
    psdm_bounds_free(b);
    psdm_robot_free(robot);
  }
}

/* sliding joints without limits that M does not depend on take nothing from its lower bounds: a SCARA, and two slides
 * at an angle a, M = [m1 + m2, m2 cos a; m2 cos a, m2] */
TEST(without_limits_but_constant) {
  rng g = rng_start("without_limits_but_constant");
  psdm_robot *scara = load_shipped("fanuc_sr6ia"),
             *skew = parse_robot("convention: dh\njoints: [{type: prismatic, alpha: 1}, {type: prismatic}]\nlinks: "
                                 "[{mass: 2, com: [0.1, 0, 0]}, {mass: 1, com: [0.1, 0, 0]}]\n");
  psdm_bounds *b = bounds_of(scara, NULL);
  assert_true(b->k[2] == 0 && b->k[3] == 0 && b->mass_least.bound > 0.99 * b->mass_least.found);
  assert_true(b->mass_small.bound > 0.99 * b->mass_small.found);
  never_violated(&g, scara, b, states_per_robot());
  psdm_bounds_free(b);
  b = bounds_of(skew, NULL);
  double half = 2, apart = sqrt(1 + cos(1) * cos(1)); /* trace 4; half the difference of the eigenvalues */
  assert_float_equal(b->mass_least.bound, half - apart, 1e-8);
  assert_float_equal(b->mass.bound, half + apart, 1e-8);
  assert_float_equal(b->k[0], half + apart, 1e-8);
  psdm_bounds_free(b);
  psdm_robot_free(scara), psdm_robot_free(skew);
}

/* 2R: ||M|| by hand at its largest, folded out; bounds hold for any number of positions */
TEST(closed_form) {
  psdm_robot *robot =
      parse_robot("convention: dh\ngravity: [0, -9.81, 0]\njoints: [{a: 0.5}, {a: 0.4}]\nlinks: [{mass: 10, com: "
                  "[-0.25, 0, 0], inertia: {zz: 0.2}}, {mass: 5, com: [-0.2, 0, 0], inertia: {zz: 0.07}}]\n");
  double b = 5 * 0.5 * 0.2, m22 = 0.07 + 5 * 0.04, m11 = 0.2 + 10 * 0.0625 + 5 * 0.25 + m22 + 2 * b, m12 = m22 + b;
  double largest = (m11 + m22) / 2 + hypot((m11 - m22) / 2, m12),
         gravity = hypot(9.81 * (10 * 0.25 + 5 * 0.5 + 5 * 0.2), 9.81 * 5 * 0.2);
  double before = INFINITY;
  for (long points = 100; points <= 1000000; points *= 100) {
    psdm_bounds *x = bounds_of(robot, &(psdm_bounds_options){.points = points});
    assert_true(fabs(x->mass.found - largest) < 1e-9 * largest && x->mass.bound >= largest &&
                fabs(x->gravity.found - gravity) < 1e-9 * gravity);
    assert_true(x->mass.bound <= before);
    assert_true(fabs(remainder(x->mass.q[1], 6.283185307179586)) < 1e-3);
    before = x->mass.bound;
    psdm_bounds_free(x);
  }
  assert_true(before <= 1.0011 * largest);
  psdm_robot_free(robot);
}

static bool never(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  (void)user;
  assert_true(share >= 0 && share <= 1);
  return false;
}

/* six joints with few positions, and stopped at once: wide, and never violated */
TEST(shipped) {
  rng g = rng_start("shipped");
  static const char *const names[] = {"kuka_kr6", "fanuc_sr6ia", "parallelogram", "two_branch"};
  for (int k = 0; k < 4; k++) {
    psdm_robot *robot = load_shipped(names[k]);
    psdm_bounds *b = bounds_of(robot, &(psdm_bounds_options){.points = getenv("PSDM_STATES") ? 0 : 100000});
    print_worst(names[k], ratios(b));
    reported_values_are_attained(robot, b);
    never_violated(&g, robot, b, states_per_robot());
    psdm_bounds_free(b);
    b = bounds_of(robot, &(psdm_bounds_options){.progress = never});
    assert_true(b->stopped);
    never_violated(&g, robot, b, 200);
    psdm_bounds_free(b);
    psdm_robot_free(robot);
  }
}

/* impossible inertias: M may be negative, and bounds still hold */
TEST(impossible_inertias) {
  rng g = rng_start("impossible_inertias");
  static const char *const robots[] = {
      "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{a: 0.5}, {a: 0.4}]\nlinks: [{mass: 1, com: [-0.25, 0, 0], "
      "inertia: {zz: 0.2}}, {mass: 1, com: [-0.2, 0, 0], inertia: {zz: -5}}]\n",
      "convention: dh\ngravity: [0, -9.81, 0]\njoints: [{alpha: pi/2}, {type: prismatic, limits: {lower: -1, upper: "
      "2}}]\n"
      "links: [{mass: 1, com: [0, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, {standard: {m: -2, mx: 0, my: 0, mz: "
      "0, XX: 1, XY: 0, XZ: 0, YY: 1, YZ: 0, ZZ: 1}}]\n"};
  for (int r = 0; r < 2; r++) {
    psdm_robot *robot = parse_robot(robots[r]);
    psdm_bounds *b = bounds_of(robot, NULL);
    assert_true(b->mass_least.found < 0 && b->mass_least.bound <= b->mass_least.found);
    never_violated(&g, robot, b, states_per_robot());
    psdm_bounds_free(b);
    psdm_robot_free(robot);
  }
}

TEST(refusals) {
  psdm_bounds *b;
  psdm_error error;
  psdm_robot *robot = parse_robot("convention: dh\njoints: [{a: 0.5}, {a: 0.4}]\n");
  assert_int_equal(psdm_bounds_new(robot, NULL, NULL, &b, &error), PSDM_E_MISSING);
  assert_null(b);
  psdm_robot_free(robot);
  robot = parse_robot(limited);
  assert_int_equal(
      psdm_bounds_new(robot,
                      &(psdm_bounds_options){.lower = (const double[]){0, 2, 0}, .upper = (const double[]){1, 1, 1}},
                      NULL, &b, &error),
      PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "no position lies between its limits"));
  psdm_robot_free(robot);
  robot = load_shipped("five_bar");
  assert_true(psdm_bounds_new(robot, NULL, NULL, &b, &error) != PSDM_OK);
  psdm_robot_free(robot);
  psdm_bounds_free(NULL);
}

TEST(memory) {
  psdm_robot *robot = parse_robot(limited);
  psdm_bounds *b;
  long fail = 0;
  for (psdm_status status = PSDM_E_MEMORY; status;) {
    counting c;
    counting_init(&c, ++fail);
    status = psdm_bounds_new(robot, &(psdm_bounds_options){.points = 100}, &c.allocator, &b, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    assert_true((status == PSDM_OK) == (b != NULL));
    psdm_bounds_free(b);
    assert_int_equal(c.live, 0);
  }
  printf("%ld allocations\n", fail - 1);
  assert_true(fail > 10);
  psdm_robot_free(robot);
}

TEST_MAIN(random_arms, with_limits, without_limits, without_limits_but_constant, closed_form, shipped,
          impossible_inertias, refusals, memory)
