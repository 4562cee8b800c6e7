/* The momentum observer: exact where promised, of second order along smooth motions of random robots, and within its
 * thresholds near reversals of dry friction. The plain twin is dr/dt = K (tau_ext - r), integrated in small steps from
 * the true external torque. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MOST = 8, TERMS = 2 };

/* an observer in exactly the memory it requests, which is not zeroed */
typedef struct bench {
  psdm_robot *robot;
  psdm_work *work;
  psdm_observer *observer;
  void *memory;
  int n;
} bench;

static bench bench_of(psdm_robot *robot, const psdm_observer_options *options) {
  bench b = {.robot = robot, .n = psdm_robot_n(robot)};
  size_t bytes = psdm_observer_bytes(robot);
  assert_int_equal(psdm_work_new(robot, NULL, &b.work), PSDM_OK);
  b.memory = malloc(bytes);
  assert_non_null(b.memory);
  memset(b.memory, 0xA5, bytes);
  assert_int_equal(psdm_observer_init(robot, options, b.memory, bytes, &b.observer), PSDM_OK);
  return b;
}

static void bench_free(bench *b) {
  free(b->memory);
  psdm_work_free(b->work, NULL);
  psdm_robot_free(b->robot);
}

static const char *const slider =
    "{name: slider, gravity: [0, 0, -9.81], convention: dh, joints: [{name: s, type: prismatic, drive_inertia: 1.5}],"
    " links: [{mass: 2, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}]}";

/* ---- exact ---- */

/* a mass under constant torques moves by a parabola, and r_k = (1 - a^k) tau_ext; differences are half a sample late,
 * and their first r is at the third sample */
static void test_exact_for_constant_torques(void **unused) {
  (void)unused;
  const double K = 130, rate = 500, external = -7, mass = 3.5, weight = 2 * 9.81;
  for (int mode = 0; mode < 4; mode++) {
    psdm_observer_options options = {.rate = rate, .bandwidth = K, .sampled = mode & 1, .differences = mode & 2};
    bench b = bench_of(parse_robot(slider), &options);
    double tau = 40, acceleration = (tau - weight + external) / mass, worst = 0, r;
    for (int k = 0; k < 100; k++) {
      double t = k / rate, q = 0.3 + t * (0.2 + t / 2 * acceleration), qd = 0.2 + t * acceleration;
      assert_int_equal(psdm_observer_step(b.observer, &q, options.differences ? NULL : &qd, &tau, &r), PSDM_OK);
      int steps = options.differences ? (k > 0 ? k - 1 : 0) : k;
      worst = fmax(worst, fabs(r - external * -expm1(-K * steps / rate)));
    }
    /* differences: second differences of q times mass rate^2 round by some eps |q| mass rate^2; else eps p rate */
    double tolerance = options.differences ? 8 * 2.3e-16 * 2 * mass * rate * rate : 1e-11;
    print_message("mode %d: %.2g\n", mode, worst);
    assert_true(worst < tolerance);
    bench_free(&b);
  }
}

/* every joint has its own gain */
static void test_gain_of_each_joint(void **unused) {
  (void)unused;
  const double gain[2] = {20, 300}, rate = 1000, q[2] = {0.4, -0.3}, still[2] = {0, 0};
  psdm_observer_options options = {.rate = rate, .gain = gain, .bandwidth = 5};
  bench b = bench_of(load_shipped("two_link"), &options);
  double tau[2], r[2];
  assert_int_equal(psdm_gravity(b.robot, b.work, q, tau), PSDM_OK);
  tau[0] -= 3, tau[1] += 2; /* held in place by a hand */
  for (int k = 0; k <= 10; k++) assert_int_equal(psdm_observer_step(b.observer, q, still, tau, r), PSDM_OK);
  assert_true(fabs(r[0] - 3 * -expm1(-0.2)) < 1e-13 && fabs(r[1] + 2 * -expm1(-3)) < 1e-13);
  psdm_observer_restart(b.observer);
  assert_int_equal(psdm_observer_step(b.observer, q, still, tau, r), PSDM_OK);
  assert_true(r[0] == 0 && r[1] == 0);
  bench_free(&b);
}

/* ---- second order along smooth motions ---- */

typedef struct scene {
  bench b;
  psdm_motion *motion;
  psdm_friction_kind kind;
  double force[3], frequency, K;
} scene;

/* a force that swells and ebbs at the last link */
static void external_at(scene *s, double t, double *external) {
  double x[2 * MOST], size = 1 - cos(s->frequency * t);
  psdm_wrench w = {.joint = psdm_robot_joints(s->b.robot) - 1};
  for (int i = 0; i < 3; i++) w.force[i] = s->force[i] * size, w.moment[i] = s->force[2 - i] * size / 3;
  psdm_motion_at(s->motion, t, 2, x);
  assert_int_equal(psdm_wrench_torque(s->b.robot, s->b.work, x, 1, &w, external), PSDM_OK);
}

static void torque_at(scene *s, double t, double *tau) {
  double x[3 * MOST], external[MOST];
  int n = s->b.n;
  external_at(s, t, external);
  psdm_motion_at(s->motion, t, 3, x);
  assert_int_equal(psdm_inverse(s->b.robot, s->b.work, x, x + n, x + 2 * n, tau), PSDM_OK);
  for (int j = 0; j < psdm_robot_joints(s->b.robot); j++) {
    const psdm_joint *joint = psdm_robot_joint(s->b.robot, j);
    if (joint->q >= 0 && joint->friction.given)
      tau[joint->q] += psdm_friction_steady(&joint->friction, s->kind, x[n + joint->q]);
  }
  for (int i = 0; i < n; i++) tau[i] -= external[i];
}

/* mean of the torque until the next sample: three points of Gauss and Legendre */
static void torque_held(scene *s, double t, double h, double *tau) {
  const double at[3] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
               weight[3] = {5. / 18, 8. / 18, 5. / 18};
  double part[MOST];
  memset(tau, 0, sizeof *tau * (size_t)s->b.n);
  for (int k = 0; k < 3; k++) {
    torque_at(s, t + at[k] * h, part);
    for (int i = 0; i < s->b.n; i++) tau[i] += weight[k] * part[i];
  }
}

/* the twin: r from time a to b by Runge and Kutta in small steps */
static void twin_between(scene *s, double a, double b, double *r) {
  enum { PARTS = 4 };
  const double h = (b - a) / PARTS, K = s->K;
  double e[3][MOST];
  for (int part = 0; part < PARTS; part++) {
    for (int k = 0; k < 3; k++) external_at(s, a + (part + 0.5 * k) * h, e[k]);
    for (int i = 0; i < s->b.n; i++) {
      double k1 = K * (e[0][i] - r[i]), k2 = K * (e[1][i] - r[i] - h / 2 * k1), k3 = K * (e[1][i] - r[i] - h / 2 * k2),
             k4 = K * (e[2][i] - r[i] - h * k3);
      r[i] += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
  }
}

/* the largest error of r over half a second, relative to the largest of tau and tau_ext */
static double observe_motion(scene *s, double rate, int mode) {
  psdm_observer_options options = {
      .rate = rate, .bandwidth = s->K, .friction = s->kind, .sampled = mode & 1, .differences = mode & 2};
  double x[2 * MOST], tau[MOST], r[MOST], twin[MOST] = {0}, worst = 0, size = 0,
                                          late = options.differences ? 0.5 / rate : 0;
  int begin = options.differences ? 1 : 0;
  assert_int_equal(
      psdm_observer_init(s->b.robot, &options, s->b.memory, psdm_observer_bytes(s->b.robot), &s->b.observer), PSDM_OK);
  for (int k = 0; k <= rate / 2; k++) {
    double t = k / rate;
    psdm_motion_at(s->motion, t, 2, x);
    if (options.sampled) torque_at(s, t, tau);
    else torque_held(s, t, 1 / rate, tau);
    assert_int_equal(psdm_observer_step(s->b.observer, x, x + s->b.n, tau, r), PSDM_OK);
    if (k > begin) twin_between(s, t - late - 1 / rate, t - late, twin);
    for (int i = 0; i < s->b.n; i++) worst = fmax(worst, fabs(r[i] - twin[i])), size = fmax(size, fabs(tau[i]));
  }
  return worst / size;
}

static scene random_scene(rng *g, const char *text, psdm_friction_kind kind) {
  psdm_observer_options options = {.rate = 1};
  scene s = {.b = bench_of(parse_robot(text), &options),
             .kind = kind,
             .frequency = rng_uniform(g, 5, 15),
             .K = rng_uniform(g, 20, 100)};
  double centre[MOST], amplitude[MOST * TERMS], frequency[MOST * TERMS], phase[MOST * TERMS];
  for (int i = 0; i < s.b.n; i++) centre[i] = rng_uniform(g, -1, 1);
  for (int i = 0; i < s.b.n * TERMS; i++)
    amplitude[i] = rng_uniform(g, 0.1, 0.4), frequency[i] = rng_uniform(g, 1, 5), phase[i] = rng_uniform(g, -3, 3);
  for (int i = 0; i < 3; i++) s.force[i] = rng_uniform(g, -20, 20);
  assert_int_equal(psdm_motion_sines(s.b.n, TERMS, centre, amplitude, frequency, phase, 10, NULL, &s.motion, NULL),
                   PSDM_OK);
  return s;
}

/* Coupled, tree-like, sliding robots: with half the interval a quarter of the error, in every mode. The errors are
 * those of a trapezium, h^2 / 12 times second derivatives with frequencies of some 15 rad/s through a velocity
 * difference: (15 h)^2 / 12 is 2e-5 at 1 kHz. */
static void test_second_order(void **unused) {
  (void)unused;
  rng g = rng_start("observer, order");
  random_options options = {1, MOST, true, true, true, true};
  static char text[1 << 16];
  double worst[4] = {0}, least = 9, most = 0;
  for (int trial = 0; trial < 12; trial++) {
    scene s = random_scene(&g, random_robot_text(&g, &options, text, sizeof text), PSDM_FRICTION_NONE);
    for (int mode = 0; mode < 4; mode++) {
      double coarse = observe_motion(&s, 1000, mode), fine = observe_motion(&s, 2000, mode);
      worst[mode] = fmax(worst[mode], coarse);
      /* below 1e-9 differences of positions at 2 kHz round: 4e6 eps */
      if (fine > 1e-8) least = fmin(least, coarse / fine), most = fmax(most, coarse / fine);
    }
    psdm_motion_free(s.motion);
    bench_free(&s.b);
  }
  print_message("errors at 1 kHz %.2g %.2g %.2g %.2g, ratio %.3g to %.3g\n", worst[0], worst[1], worst[2], worst[3],
                least, most);
  for (int mode = 0; mode < 4; mode++) assert_true(worst[mode] < 2e-4);
  assert_true(least > 3.5 && most < 4.5);
}

/* ---- friction ---- */

static const char *const rough =
    "{name: rough, gravity: [0, 0, -9.81], convention: dh, joints: ["
    "{name: a, a: 0.4, alpha: pi/2, friction: {coulomb: 3, static: 4, stribeck: 0.1, viscous: 2, exponent: 0.8, "
    "offset: 0.3, sigma0: 2e4, sigma1: 30}},"
    "{name: b, a: 0.3}], links: [{mass: 4, com: [-0.2, 0, 0], inertia: {xx: 0.01, yy: 0.1, zz: 0.1}}, {mass: 2, com: "
    "[-0.1, 0, 0], inertia: {xx: 0.01, yy: 0.05, zz: 0.05}}]}";

/* Steady friction of every kind, with reversals: r is right while no joint is near rest, and within the threshold's
 * allowance everywhere. */
static void test_friction(void **unused) {
  (void)unused;
  rng g = rng_start("observer, friction");
  const double sigma[2] = {1e-9, 1e-9}, rate = 1000;
  double away = 0, near = 0;
  int reversals = 0;
  for (int kind = PSDM_FRICTION_NONE; kind <= PSDM_FRICTION_POWER; kind++) {
    scene s = random_scene(&g, rough, (psdm_friction_kind)kind);
    psdm_observer_options options = {
        .rate = rate, .bandwidth = s.K, .friction = s.kind, .sampled = true, .sigma = sigma};
    assert_int_equal(psdm_observer_init(s.b.robot, &options, s.b.memory, psdm_observer_bytes(s.b.robot), &s.b.observer),
                     PSDM_OK);
    double x[4], before = 0, tau[2], r[2], twin[2] = {0, 0}, threshold[2];
    for (int k = 0; k < 4000; k++) {
      psdm_motion_at(s.motion, k / rate, 2, x);
      torque_at(&s, k / rate, tau);
      assert_int_equal(psdm_observer_step(s.b.observer, x, x + 2, tau, r), PSDM_OK);
      if (k) twin_between(&s, (k - 1) / rate, k / rate, twin);
      psdm_observer_thresholds(s.b.observer, threshold);
      double error = fabs(r[0] - twin[0]), allowed = threshold[0];
      if (allowed < 1e-6) away = fmax(away, error); /* only the given noise */
      if (allowed > 1e-3) near = fmax(near, error / allowed);
      assert_true(threshold[1] < 1e-7); /* it has no friction, and its threshold is unaffected */
      reversals += before * x[2] < 0, before = x[2];
    }
    psdm_motion_free(s.motion);
    bench_free(&s.b);
  }
  print_message("%d reversals: error %.2g Nm away from them, %.2g of the allowance near them\n", reversals, away, near);
  /* away: the trapezium's h^2 / 12 times Stribeck's curvature 2 (Fs - Fc) / vs^2 and the square of at most 20
   * rad/s^2 */
  assert_true(reversals > 10 && away < 7e-3 && near < 1);
}

/* LuGre: the torque that bends and drags bristles, from psdm_lugre_follow on a grid twenty times as fine */
static void test_lugre(void **unused) {
  (void)unused;
  enum { FINE = 20, STEPS = 3000 };
  const double rate = 1000, inertia = 1.7, K = 80, sigma = 1e-9;
  psdm_observer_options options = {.rate = rate, .bandwidth = K, .friction = PSDM_FRICTION_LUGRE, .sigma = &sigma};
  bench b = bench_of(
      parse_robot("{name: one, gravity: [0, 0, 0], convention: dh, joints: [{name: a, a: 0.4, drive_inertia: 1.7,"
                  " friction: {coulomb: 3, static: 4, stribeck: 0.1, viscous: 2, exponent: 0.8, offset: 0.3, sigma0: "
                  "2e4, sigma1: 30}}],"
                  " links: [{mass: 0, com: [0, 0, 0], inertia: {xx: 0, yy: 0, zz: 0}}]}"),
      &options);
  const psdm_friction *f = &psdm_robot_joint(b.robot, 0)->friction;
  double z = psdm_lugre_steady(f, 0.5), r, r0 = 0, worst = 0, near = 0, threshold;
  for (int k = 0; k < STEPS; k++) {
    /* v = 0.5 cos(4 t) with plateaus at rest; the mean torque of the interval is held */
    double t[FINE + 1], v[FINE + 1], tau[FINE + 1], bent[FINE + 1], mean = 0;
    for (int i = 0; i <= FINE; i++) {
      t[i] = (k + (double)i / FINE) / rate;
      double w = 0.7 * cos(4 * t[i]);
      v[i] = fabs(w) < 0.2 ? 0 : w - copysign(0.2, w);
    }
    psdm_lugre_follow(f, z, FINE + 1, t, v, bent, tau);
    z = bent[FINE];
    for (int i = 0; i < FINE; i++) mean += (tau[i] + tau[i + 1]) / 2 / FINE;
    mean += inertia * (v[FINE] - v[0]) * rate;
    double q = 0;
    assert_int_equal(psdm_observer_step(b.observer, &q, v, &mean, &r), PSDM_OK);
    psdm_observer_thresholds(b.observer, &threshold);
    if (k && threshold < 1e-6) worst = fmax(worst, fabs(r - r0));
    if (k && threshold > 1e-3) near = fmax(near, fabs(r - r0) / threshold);
  }
  print_message("LuGre: %.2g Nm while it slides, %.2g of the allowance near rest\n", worst, near);
  assert_true(worst < 1e-3 && near < 1);
  bench_free(&b);
}

/* a joint that sticks: motor torque below stiction is not a collision, and the threshold falls back once it slides */
static void test_sticking(void **unused) {
  (void)unused;
  const double rate = 1000, sigma[2] = {0.05, 0.05}, still[2] = {0, 0};
  psdm_observer_options options = {.rate = rate, .friction = PSDM_FRICTION_STRIBECK, .sigma = sigma};
  bench b = bench_of(parse_robot(rough), &options);
  double q[2] = {0.5, 0.2}, qd[2] = {0.3, 0}, gravity[2], tau[2], r[2], threshold[2], calm[2];
  psdm_observer_thresholds(b.observer, calm);
  assert_int_equal(psdm_gravity(b.robot, b.work, q, gravity), PSDM_OK);
  for (int k = 0; k < 300; k++) {
    /* 4 Nm would move it; the offset is the model's */
    tau[0] = gravity[0] + 3.9 * sin(0.05 * k) + 0.3, tau[1] = gravity[1];
    assert_int_equal(psdm_observer_step(b.observer, q, still, tau, r), PSDM_OK);
    assert_false(psdm_observer_collision(b.observer, NULL));
  }
  psdm_observer_thresholds(b.observer, threshold);
  assert_true(fabs(threshold[0] - calm[0] - 4) < 1e-9 && threshold[1] == calm[1]);
  /* now it slides at a constant speed, on a frozen clock of positions: only the filter's memory of the standstill is
   * left */
  for (int k = 0; k < 200; k++) assert_int_equal(psdm_observer_step(b.observer, q, qd, tau, r), PSDM_OK);
  psdm_observer_thresholds(b.observer, threshold);
  assert_true(threshold[0] - calm[0] < 8 * exp(-100 * 0.198) && threshold[0] > calm[0]);
  bench_free(&b);
}

/* ---- refusals ---- */

static psdm_status try_options(const psdm_robot *robot, const psdm_observer_options *options) {
  size_t bytes = psdm_observer_bytes(robot);
  void *memory = malloc(bytes);
  psdm_observer *o;
  psdm_status status = psdm_observer_init(robot, options, memory, bytes, &o);
  assert_true((status == PSDM_OK) == (o != NULL));
  free(memory);
  return status;
}

static void test_refusals(void **unused) {
  (void)unused;
  const double good[2] = {1, 1}, zero[2] = {1, 0}, negative[2] = {1, -1}, nothing[2] = {1, NAN},
               infinite[2] = {INFINITY, 1};
  const psdm_observer_options fine = {
      .rate = 1000, .gain = good, .sigma = good, .correlation = good, .velocity_noise = good, .doubt = good};
  psdm_robot *robot = load_shipped("two_link");
  assert_int_equal(try_options(robot, &fine), PSDM_OK);
  const psdm_observer_options wrong[] = {
      {.rate = 0},
      {.rate = NAN},
      {.rate = INFINITY},
      {.rate = 1, .bandwidth = -1},
      {.rate = 1, .bandwidth = NAN},
      {.rate = 1, .rest = -1},
      {.rate = 1, .hold = -1},
      {.rate = 1, .hold = INFINITY},
      {.rate = 1, .false_alarms = -1},
      {.rate = 1, .friction = PSDM_FRICTION_KINDS},
      {.rate = 1, .gain = zero},
      {.rate = 1, .gain = infinite},
      {.rate = 1, .sigma = zero},
      {.rate = 1, .sigma = nothing},
      {.rate = 1, .correlation = zero},
      {.rate = 1, .correlation = nothing},
      {.rate = 1, .velocity_noise = negative},
      {.rate = 1, .velocity_noise = infinite},
      {.rate = 1, .doubt = negative},
      {.rate = 1, .doubt = nothing},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    assert_int_equal(try_options(robot, &wrong[k]), PSDM_E_ARGUMENT);
  /* memory: too little, none, not aligned */
  size_t bytes = psdm_observer_bytes(robot);
  char *memory = malloc(bytes + 1);
  psdm_observer *o = (psdm_observer *)memory;
  assert_int_equal(psdm_observer_init(robot, &fine, memory, bytes - 1, &o), PSDM_E_ARGUMENT);
  assert_null(o);
  assert_int_equal(psdm_observer_init(robot, &fine, NULL, bytes, &o), PSDM_E_ARGUMENT);
  assert_int_equal(psdm_observer_init(robot, &fine, memory + 1, bytes, &o), PSDM_E_ARGUMENT);
  free(memory);
  psdm_robot_free(robot);
  /* robots */
  const psdm_observer_options plain = {.rate = 1000}, bristles = {.rate = 1000, .friction = PSDM_FRICTION_LUGRE};
  robot = parse_robot("{name: r, convention: dh, joints: [{name: a, a: 1}, {name: b, a: 1}]}");
  assert_int_equal(try_options(robot, &plain), PSDM_E_MISSING);
  psdm_robot_free(robot);
  robot = parse_robot("{name: r, convention: dh, joints: [{name: a, a: 1, friction: {coulomb: 2, viscous: 1}}], links: "
                      "[{mass: 1, com: [0, 0, 0], inertia: {xx: 1, yy: 1, zz: 1}}]}");
  assert_int_equal(try_options(robot, &plain), PSDM_OK);
  assert_int_equal(try_options(robot, &bristles), PSDM_E_MISSING);
  psdm_robot_free(robot);
}

/* a sample that is not a number, or too large, is ignored */
static void test_bad_samples(void **unused) {
  (void)unused;
  for (int mode = 0; mode < 2; mode++) {
    const double sigma[2] = {0.1, 0.1};
    psdm_observer_options options = {
        .rate = 100, .differences = mode, .friction = PSDM_FRICTION_LUGRE, .sigma = sigma, .velocity_noise = sigma};
    bench b = bench_of(parse_robot(rough), &options), clean = bench_of(parse_robot(rough), &options);
    double r[2] = {0}, s[2];
    for (int k = 0; k < 40; k++) {
      double q[2] = {0.1 * sin(k), 0.2 * cos(k)}, qd[2] = {cos(k), -sin(k)}, tau[2] = {k % 3, -k % 5};
      double *spoilt[3] = {q, qd, tau}, wrong[3] = {NAN, -INFINITY, 1e308};
      assert_int_equal(psdm_observer_step(clean.observer, q, qd, tau, s), PSDM_OK);
      for (int which = 0; which < 3; which++) {
        double keep = spoilt[which][k % 2], before[2] = {r[0], r[1]};
        if (which == 1 && mode) continue; /* qd is not read */
        /* at a speed of 1e308 the change of momentum overflows */
        spoilt[which][k % 2] = wrong[which == 1 && k % 2 ? 2 : k % 2];
        assert_int_equal(psdm_observer_step(b.observer, q, qd, tau, r), PSDM_E_ARGUMENT);
        assert_memory_equal(r, before, sizeof r);
        spoilt[which][k % 2] = keep;
      }
      assert_int_equal(psdm_observer_step(b.observer, q, qd, tau, r), PSDM_OK);
      assert_memory_equal(r, s, sizeof r);
      assert_true(psdm_observer_statistic(b.observer) == psdm_observer_statistic(clean.observer));
    }
    assert_true(r[0] != 0);
    bench_free(&b);
    bench_free(&clean);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact_for_constant_torques),
      cmocka_unit_test(test_gain_of_each_joint),
      cmocka_unit_test(test_second_order),
      cmocka_unit_test(test_friction),
      cmocka_unit_test(test_lugre),
      cmocka_unit_test(test_sticking),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_bad_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
