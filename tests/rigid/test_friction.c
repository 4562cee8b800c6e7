/* Friction of one joint: its steady state, and bristles against plain integration and against their known behaviour.
 * The numbers of a real arm are those of the Denso's file (Table 2 of Lloyd, Irani, Ahmadi 2022). */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "psdm/friction.h"

enum { ARM = 6 };

static void load_arm(psdm_friction arm[ARM]) {
  psdm_robot *robot = load_shipped("denso_vs6556g");
  for (int j = 0; j < ARM; j++) {
    arm[j] = psdm_robot_joint(robot, j)->friction;
    assert_true(arm[j].given && !psdm_friction_lacks(&arm[j], PSDM_FRICTION_LUGRE));
  }
  assert_true(arm[5].stat < arm[5].coulomb); /* as published */
  psdm_robot_free(robot);
}

static double log_uniform(rng *g, double low, double high) { return exp(rng_uniform(g, log(low), log(high))); }

/* any friction that bristles can have, from soft to stiff, Fs from far below to far above Fc */
static psdm_friction random_friction(rng *g) {
  psdm_friction f = {.given = true,
                     .coulomb = log_uniform(g, 0.1, 20),
                     .stribeck = log_uniform(g, 1e-3, 1),
                     .viscous = rng_uniform(g, 0, 30),
                     .exponent = rng_uniform(g, 0.3, 2),
                     .sigma0 = log_uniform(g, 1e2, 1e7),
                     .sigma1 = rng_uniform(g, 0, 30),
                     .offset = rng_uniform(g, -1, 1)};
  f.stat = f.coulomb * log_uniform(g, 0.01, 10);
  if (rng_int(g, 0, 9) == 0) f.stribeck = 0, f.stat = f.coulomb;
  return f;
}

/* the formulas of the header, plainly */
static long double plain_dry(const psdm_friction *f, long double v) {
  long double ratio = f->stribeck > 0 ? v / f->stribeck : 0;
  return f->coulomb + (f->stribeck > 0 ? (f->stat - f->coulomb) * expl(-ratio * ratio) : 0);
}
static long double plain_rate(const psdm_friction *f, long double v, long double z) {
  return v - fabsl(v) * z * f->sigma0 / plain_dry(f, v);
}
static double most(const psdm_friction *f) { return fmax(f->stat, f->coulomb) / f->sigma0; }

/* ---- names and missing parameters ---- */

static void test_names(void **unused) {
  (void)unused;
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++) {
    psdm_friction_kind found = PSDM_FRICTION_KINDS;
    assert_true(psdm_friction_find(psdm_friction_name((psdm_friction_kind)k), &found) && (int)found == k);
    assert_non_null(psdm_friction_help(found));
  }
  psdm_friction_kind kind;
  assert_false(psdm_friction_find("Coulomb", &kind));
  assert_null(psdm_friction_name(PSDM_FRICTION_KINDS));
  assert_null(psdm_friction_help((psdm_friction_kind)-1));
}

static void test_lacks(void **unused) {
  (void)unused;
  const psdm_friction whole = {.given = true,
                               .coulomb = 1,
                               .stat = 2,
                               .stribeck = 0.1,
                               .viscous = 1,
                               .exponent = 0.5,
                               .sigma0 = 1e4,
                               .sigma1 = 10},
                      none = {0};
  static const struct {
    size_t field;
    double value;
    psdm_friction_kind first; /* the first model that misses it */
    const char *text;
  } bad[] = {
      {offsetof(psdm_friction, viscous), NAN, PSDM_FRICTION_VISCOUS, "viscous or offset is not a number"},
      {offsetof(psdm_friction, offset), INFINITY, PSDM_FRICTION_VISCOUS, "viscous or offset is not a number"},
      {offsetof(psdm_friction, coulomb), -1, PSDM_FRICTION_COULOMB, "coulomb is negative"},
      {offsetof(psdm_friction, stat), -1, PSDM_FRICTION_STRIBECK, "static is negative"},
      {offsetof(psdm_friction, exponent), 0, PSDM_FRICTION_POWER, "exponent is missing or not positive"},
      {offsetof(psdm_friction, sigma0), 0, PSDM_FRICTION_LUGRE, "sigma0 is missing or not positive"},
      {offsetof(psdm_friction, sigma1), -1, PSDM_FRICTION_LUGRE, "sigma1 is negative"},
      {offsetof(psdm_friction, coulomb), 0, PSDM_FRICTION_LUGRE,
       "coulomb is missing or not positive, and bristles need it"},
      {offsetof(psdm_friction, stat), 0, PSDM_FRICTION_LUGRE, "static is not positive, and bristles need it"},
  };
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++) {
    psdm_friction_kind kind = (psdm_friction_kind)k;
    assert_null(psdm_friction_lacks(&whole, kind));
    assert_null(psdm_friction_lacks(&none, kind)); /* a joint without friction */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
      psdm_friction f = whole;
      memcpy((char *)&f + bad[i].field, &bad[i].value, sizeof(double));
      if (kind < bad[i].first) assert_null(psdm_friction_lacks(&f, kind));
      else assert_string_equal(psdm_friction_lacks(&f, kind), bad[i].text);
    }
  }
  assert_non_null(psdm_friction_lacks(&whole, PSDM_FRICTION_KINDS));
}

/* a joint without friction, or without valid bristles, has its steady state */
static void test_no_bristles(void **unused) {
  (void)unused;
  const psdm_friction none = {0},
                      plain = {.given = true, .coulomb = 1, .stat = 1, .viscous = 2, .exponent = 1, .offset = 0.25};
  const double t[2] = {0, 1}, v[2] = {1, -2};
  double rate, tau, z[2], follow[2];
  psdm_lugre(&none, 1, 3, &rate, &tau);
  assert_true(rate == 0 && tau == 0 && psdm_lugre_step(&none, 1, 3, 1) == 0 && psdm_lugre_steady(&none, 1) == 0);
  psdm_lugre_follow(&plain, 0, 2, t, v, z, follow);
  assert_true(z[0] == 0 && z[1] == 0 && follow[0] == 3.25 && follow[1] == -4.75);
  for (int k = 0; k < PSDM_FRICTION_KINDS; k++)
    assert_true(psdm_friction_steady(&none, (psdm_friction_kind)k, 2) == 0 &&
                psdm_friction_most(&none, (psdm_friction_kind)k) == 0);
}

/* ---- steady state ---- */

/* every model against its formula, and the parts against the whole */
static void test_steady(void **unused) {
  (void)unused;
  rng g = rng_start("steady friction");
  double worst = 0;
  for (int trial = 0; trial < 2000; trial++) {
    psdm_friction f = random_friction(&g);
    double v = rng_int(&g, 0, 20) ? log_uniform(&g, 1e-6, 10) : 0, w = rng_int(&g, 0, 1) ? v : -v,
           sign = (w > 0) - (w < 0);
    long double line = f.viscous * w + f.offset, power = f.viscous * powl(v, f.exponent) * sign + f.offset;
    long double expected[PSDM_FRICTION_KINDS] = {0,
                                                 line,
                                                 line + f.coulomb * sign,
                                                 line + plain_dry(&f, v) * sign,
                                                 power + plain_dry(&f, v) * sign,
                                                 power + plain_dry(&f, v) * sign};
    for (int k = 0; k < PSDM_FRICTION_KINDS; k++) {
      psdm_friction_kind kind = (psdm_friction_kind)k;
      double tau = psdm_friction_steady(&f, kind, w),
             size = f.coulomb + f.stat + fabs((double)power) + fabs((double)line);
      worst = fmax(worst, fabs((double)(tau - expected[k])) / size);
      worst = fmax(worst, fabs(psdm_friction_dry(&f, kind, v) * sign + psdm_friction_smooth(&f, kind, w) - tau) / size);
      assert_true(psdm_friction_dry(&f, kind, v) <= psdm_friction_most(&f, kind) * (1 + 4 * DBL_EPSILON));
    }
    assert_true(psdm_friction_most(&f, PSDM_FRICTION_VISCOUS) == 0 &&
                psdm_friction_most(&f, PSDM_FRICTION_COULOMB) == f.coulomb);
    assert_true(fabs(psdm_friction_most(&f, PSDM_FRICTION_STRIBECK) - fmax(f.stat, f.coulomb)) <=
                4 * DBL_EPSILON * fmax(f.stat, f.coulomb));
  }
  print_message("steady state: off by %.2g\n", worst);
  assert_true(worst < 8 * DBL_EPSILON);
}

static void test_smooth_slope(void **unused) {
  (void)unused;
  rng g = rng_start("slope of smooth friction");
  double worst = 0;
  for (int trial = 0; trial < 500; trial++) {
    psdm_friction f = random_friction(&g);
    double v = rng_uniform(&g, -2, 2), h = 1e-4 * fabs(v);
    for (int k = 0; k < PSDM_FRICTION_KINDS; k++) {
      psdm_friction_kind kind = (psdm_friction_kind)k;
      double difference = (psdm_friction_smooth(&f, kind, v + h) - psdm_friction_smooth(&f, kind, v - h)) / (2 * h);
      /* offset: rounding of the difference */
      double scale = f.viscous * pow(fabs(v), f.exponent - 1) + f.viscous + fabs(f.offset / v);
      worst = fmax(worst, fabs(psdm_friction_smooth_slope(&f, kind, v) - difference) / scale);
    }
  }
  print_message("slope: off by %.2g\n", worst);
  assert_true(worst < 2e-8); /* third derivative times h^2 / 6, h = 1e-4 v */
  psdm_friction f = {.given = true, .viscous = 2, .exponent = 0.5};
  assert_true(psdm_friction_smooth_slope(&f, PSDM_FRICTION_POWER, 0) == INFINITY &&
              psdm_friction_smooth_slope(&f, PSDM_FRICTION_STRIBECK, 0) == 2);
  f.exponent = 2;
  assert_true(psdm_friction_smooth_slope(&f, PSDM_FRICTION_POWER, 0) == 0);
  f.viscous = 0, f.exponent = 0.5;
  assert_true(psdm_friction_smooth_slope(&f, PSDM_FRICTION_POWER, 0) == 0);
}

/* a robot's joints have the same steady state, and bristles that stand still give it */
static void test_arm_steady(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("denso_vs6556g");
  psdm_friction arm[ARM];
  double worst = 0, still = 0;
  load_arm(arm);
  for (double speed = 1e-6; speed < 10; speed *= 1.3)
    for (int side = -1; side <= 1; side += 2) {
      double qd[ARM], tau[ARM], rate, torque;
      for (int j = 0; j < ARM; j++) qd[j] = side * speed;
      psdm_friction_torque(robot, qd, tau);
      for (int j = 0; j < ARM; j++) {
        psdm_lugre(&arm[j], qd[j], psdm_lugre_steady(&arm[j], qd[j]), &rate, &torque);
        assert_true(tau[j] == psdm_friction_steady(&arm[j], PSDM_FRICTION_LUGRE, qd[j]));
        worst = fmax(worst, fabs(torque - tau[j]) / fabs(tau[j]));
        still = fmax(still, fabs(rate) / speed);
      }
    }
  print_message("bristles at rest: torque off by %.2g, rate %.2g of the velocity\n", worst, still);
  assert_true(still <= 4 * DBL_EPSILON);
  assert_true(worst < 1e-12); /* sigma1 times that rate, 10 rad/s, beside 1.5 Nm */
  psdm_robot_free(robot);
}

/* ---- the exact step ---- */

/* against Runge and Kutta's formula in 1e5 steps, up to bends of 30 lengths; rates up to 1e8 per second */
static void test_step_twin(void **unused) {
  (void)unused;
  rng g = rng_start("exact step");
  double worst = 0;
  for (int trial = 0; trial < 20; trial++) {
    psdm_friction f = random_friction(&g);
    double v = log_uniform(&g, 1e-7, 10) * (trial % 2 ? 1 : -1), z0 = rng_uniform(&g, -1, 1) * most(&f),
           dry = (double)plain_dry(&f, v);
    double dt = log_uniform(&g, 1e-3, 30) * dry / (f.sigma0 * fabs(v));
    long double z = z0, h = (long double)dt / 100000, back = f.sigma0 * fabsl(v) / plain_dry(&f, v);
    for (int step = 0; step < 100000; step++) {
      long double k1 = v - back * z, k2 = v - back * (z + h / 2 * k1), k3 = v - back * (z + h / 2 * k2),
                  k4 = v - back * (z + h * k3);
      z += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    worst = fmax(worst, fabs(psdm_lugre_step(&f, v, z0, dt) - (double)z) / most(&f));
  }
  print_message("exact step: off by %.2g of the largest deflection\n", worst);
  assert_true(worst < 1e-14); /* of the twin (30 / 1e5)^4 / 120 per length */
}

/* two steps are one; a long one ends at rest; none leaves the bound; nothing happens at v = 0 */
static void test_step_properties(void **unused) {
  (void)unused;
  rng g = rng_start("properties of the exact step");
  double worst = 0;
  for (int trial = 0; trial < 20000; trial++) {
    psdm_friction f = random_friction(&g);
    double v = log_uniform(&g, 1e-300, 1e10) * (trial % 2 ? 1 : -1), z = rng_uniform(&g, -1, 1) * most(&f),
           bound = most(&f) * (1 + 4 * DBL_EPSILON);
    double first = log_uniform(&g, 1e-9, 1e3), second = log_uniform(&g, 1e-9, 1e3), end = psdm_lugre_steady(&f, v);
    double once = psdm_lugre_step(&f, v, z, first + second),
           twice = psdm_lugre_step(&f, v, psdm_lugre_step(&f, v, z, first), second);
    worst = fmax(worst, fabs(once - twice) / most(&f));
    /* on the way from z to the end */
    assert_true(fabs(once) <= bound && fabs(end) <= bound && (once - z) * (end - once) >= 0);
    assert_true(psdm_lugre_step(&f, v, z, INFINITY) == end && psdm_lugre_step(&f, v, end, first) == end);
    assert_true(psdm_lugre_step(&f, 0, z, first) == z && psdm_lugre_step(&f, 0, z, INFINITY) == z &&
                psdm_lugre_step(&f, v, z, 0) == z);
    assert_true(psdm_lugre_steady(&f, 0) == 0);
  }
  print_message("two steps for one: %.2g of the largest deflection\n", worst);
  assert_true(worst < 8 * DBL_EPSILON);
}

/* ---- along a velocity that changes ---- */

/* between speeds of one direction: Runge and Kutta's formula in many steps */
static long double plain_slide(const psdm_friction *f, long double from, long double to, long double time,
                               long double z, int steps) {
  long double h = time / steps, a = (to - from) / steps;
  for (int k = 0; k < steps; k++) {
    long double begin = from + a * k, middle = begin + a / 2, end = begin + a;
    long double k1 = plain_rate(f, begin, z), k2 = plain_rate(f, middle, z + h / 2 * k1),
                k3 = plain_rate(f, middle, z + h / 2 * k2), k4 = plain_rate(f, end, z + h * k3);
    z += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return z;
}

static double after(const psdm_friction *f, double v0, double v1, double dt, double z) {
  double t[2] = {0, dt}, v[2] = {v0, v1}, out[2], tau[2];
  psdm_lugre_follow(f, z, 2, t, v, out, tau);
  return out[1];
}

/* one interval with and without a reversal in it, deep in the Stribeck range and far beyond it */
static void test_follow_twin(void **unused) {
  (void)unused;
  rng g = rng_start("bristles that follow");
  enum { STEPS = 16000 };
  double worst = 0;
  for (int trial = 0; trial < 150; trial++) {
    psdm_friction f = random_friction(&g);
    double scale = f.stribeck > 0 ? f.stribeck : 0.1, v0 = scale * log_uniform(&g, 1e-3, 30),
           v1 = scale * log_uniform(&g, 1e-3, 30);
    if (trial % 10 == 0) v0 = 0;
    if (trial % 10 == 1) v1 = 0;
    if (trial % 10 == 2) v1 = v0 * (1 + 1e-6);
    if (trial % 10 > 5) v1 = -v1;
    /* in one second */
    double way = fabs(v0 - v1) > fabs(v0 + v1) ? (v0 * v0 + v1 * v1) / (2 * fabs(v0 - v1)) : fabs(v0 + v1) / 2;
    double dt = log_uniform(&g, 1e-3, 50) * fmin(f.stat, f.coulomb) / f.sigma0 / way,
           z0 = rng_uniform(&g, -1, 1) * most(&f);
    long double z = z0, until = v1 < 0 ? dt * (v0 / ((long double)v0 - v1)) : dt;
    z = plain_slide(&f, v0, v1 < 0 ? 0 : v1, until, z, STEPS);
    if (v1 < 0) z = plain_slide(&f, 0, v1, dt - until, z, STEPS);
    worst = fmax(worst, fabs(after(&f, v0, v1, dt, z0) - (double)z) / most(&f));
    assert_true(after(&f, -v0, -v1, dt, -z0) == -after(&f, v0, v1, dt, z0));
  }
  print_message("along a velocity: off by %.2g of the largest deflection\n", worst);
  assert_true(worst < 1e-12); /* as friction.c has it; the twin's (50 / 16000)^4 / 120 is below */
}

/* cut anywhere an interval gives the same, however stiff; the bound holds; constant velocities are exact steps */
static void test_follow_properties(void **unused) {
  (void)unused;
  rng g = rng_start("properties of bristles that follow");
  double worst = 0, constant = 0;
  for (int trial = 0; trial < 3000; trial++) {
    psdm_friction f = random_friction(&g);
    double v0 = log_uniform(&g, 1e-6, 1e3) * (trial % 2 ? 1 : -1),
           v1 = log_uniform(&g, 1e-6, 1e3) * (trial % 3 ? 1 : -1);
    double dt = log_uniform(&g, 1e-9, 1e2), cut = rng_uniform(&g, 0, 1), z = rng_uniform(&g, -1, 1) * most(&f),
           middle = v0 + cut * (v1 - v0);
    double once = after(&f, v0, v1, dt, z),
           twice = after(&f, middle, v1, dt * (1 - cut), after(&f, v0, middle, dt * cut, z));
    /* rounding of the time moves the reversal, and with it the end of the path, in proportion */
    double moved = 8 * DBL_EPSILON * (fabs(v0) + fabs(v1)) * dt * f.sigma0 / fmin(f.stat, f.coulomb);
    if (moved < 1e-12) worst = fmax(worst, fabs(once - twice) / most(&f));
    assert_true(fabs(once) <= most(&f) * (1 + 4 * DBL_EPSILON) && fabs(twice) <= most(&f) * (1 + 4 * DBL_EPSILON));
    constant = fmax(constant, fabs(after(&f, v0, v0, dt, z) - psdm_lugre_step(&f, v0, z, dt)) / most(&f));
  }
  print_message("cut in two: %.2g, constant velocity: %.2g of the largest deflection\n", worst, constant);
  assert_true(worst < 4e-12 && constant < 16 * DBL_EPSILON);
}

/* a measured velocity: a whole log at once is its intervals one by one; bad samples are not hidden, and the ends are
 * handled */
static void test_follow_log(void **unused) {
  (void)unused;
  enum { COUNT = 3000 };
  static double t[COUNT], v[COUNT], z[COUNT], tau[COUNT], again[COUNT];
  psdm_friction arm[ARM];
  load_arm(arm);
  for (int j = 0; j < ARM; j++) {
    double now = 0.3 * most(&arm[j]), rate, torque;
    for (int k = 0; k < COUNT; k++) t[k] = k * 1e-3, v[k] = 0.3 * sin(7 * t[k]) + 0.2 * sin(31 * t[k]);
    psdm_lugre_follow(&arm[j], now, COUNT, t, v, z, tau);
    psdm_lugre_follow(&arm[j], now, COUNT, t, v, NULL, again);
    assert_memory_equal(tau, again, sizeof tau);
    for (int k = 0; k < COUNT; k++) {
      if (k > 0) now = after(&arm[j], v[k - 1], v[k], t[k] - t[k - 1], now);
      psdm_lugre(&arm[j], v[k], z[k], &rate, &torque);
      /* t[k] - t[k-1] is the same: no difference but rounding */
      assert_true(fabs(now - z[k]) <= 1e-12 * most(&arm[j]) && torque == tau[k]);
    }
  }
  double untouched = 7;
  psdm_lugre_follow(&arm[0], 0, 0, NULL, NULL, NULL, &untouched);
  assert_true(untouched == 7);
  t[2] = t[1]; /* no time, no displacement */
  v[10] = NAN;
  psdm_lugre_follow(&arm[0], 1e-5, 20, t, v, z, tau);
  assert_true(z[0] == 1e-5 && z[2] == z[1] && isfinite(tau[9]) && isnan(tau[10]) && isnan(tau[11]) && isnan(z[19]));
  /* an unrealistic Stribeck velocity and speeds */
  psdm_friction thin = arm[0];
  thin.stribeck = 1e-200;
  assert_true(fabs(after(&thin, 1, -1, 1, 0) + thin.coulomb / thin.sigma0) < 1e-12 * most(&thin));
  assert_true(fabs(after(&arm[0], 0, 1e150, 1, 0) - arm[0].coulomb / arm[0].sigma0) < 1e-12 * most(&arm[0]));
  assert_true(isnan(after(&arm[0], 0, INFINITY, 1, 0)));
}

/* ---- known behaviour of bristles, with the numbers of the arm ---- */

/* Pre-sliding: slow sines of the size of the bristles' length s = Fs / sigma0 close a loop around 4 Fs (a - s
 * tanh(a/s)) of lost work (the limit v << vs is Dahl's model), and turn back with the slope sigma0 (1 + tanh(a/s)),
 * which is sigma0 where they cross the middle. */
static void test_hysteresis(void **unused) {
  (void)unused;
  enum { PERIOD = 4000, COUNT = 12 * PERIOD + 1 };
  static double t[COUNT], v[COUNT], z[COUNT], tau[COUNT];
  psdm_friction arm[ARM];
  load_arm(arm);
  double gap = 0, work = 0, slope = 0, bound = 0;
  for (int j = 0; j < ARM; j++) {
    psdm_friction *f = &arm[j];
    f->viscous = 0; /* bristles alone */
    for (int size = 0; size < 3; size++) {
      double s = f->stat / f->sigma0, a = (double[]){0.3, 1, 3}[size] * s, omega = 1e-6 * f->stribeck / a, area = 0;
      for (int k = 0; k < COUNT; k++)
        t[k] = 2 * 3.14159265358979323846 / PERIOD * k / omega, v[k] = a * omega * cos(omega * t[k]);
      psdm_lugre_follow(f, 0, COUNT, t, v, z, tau);
      int last = COUNT - 1 - PERIOD;
      for (int k = last; k < COUNT - 1; k++)
        area += (tau[k] + tau[k + 1]) / 2 * (v[k] + v[k + 1]) / 2 * (t[k + 1] - t[k]);
      gap = fmax(gap, fabs(tau[COUNT - 1] - tau[last]) / f->stat);
      work = fmax(work, fabs(area / (4 * f->stat * (a - s * tanh(a / s))) - 1));
      bound = fmax(bound, max_absolute(z, COUNT) / s);
      /* secants of the bristles' torque over distance: from the right turn on, and where it crosses the middle */
      int turn = last + PERIOD / 4, middle = turn;
      while (z[middle] > 0) middle++;
      double back = f->sigma0 * (z[turn + 40] - z[turn]) / (a * (cos(40 * 2 * 3.14159265358979323846 / PERIOD) - 1));
      double across =
          f->sigma0 * (z[middle] - z[middle - 1]) / ((v[middle] + v[middle - 1]) / 2 * (t[middle] - t[middle - 1]));
      slope = fmax(slope, fmax(fabs(back / (f->sigma0 * (1 + tanh(a / s))) - 1), fabs(across / f->sigma0 - 1)));
      assert_true(area > 0);
    }
  }
  print_message("hysteresis: gap %.2g, work %.2g, slope %.2g, deflection up to %.9g\n", gap, work, slope, bound);
  assert_true(gap < 1e-5);  /* the effect of the beginning after 11 rounds of 1.2 lengths: e^-13 */
  assert_true(work < 2e-5); /* trapezoids: (2 pi 3 / 4000)^2 over the thinnest loop's share of the square, about 1/30 */
  assert_true(slope < 6e-3); /* secants over 2e-3 of the amplitude, three lengths at most */
  assert_true(bound <= 1 + 1e-9);
}

/* A body of this inertia under torque - stiffness * (displacement since): the remainder at the velocity v after dt,
 * with z after it. */
typedef struct body {
  const psdm_friction *friction;
  double inertia, dt, v, z;
} body;

static double left_over(const body *b, double torque, double stiffness, double v, double *z) {
  *z = psdm_lugre_step(b->friction, v, b->z, b->dt);
  double friction = b->friction->sigma0 * *z + b->friction->sigma1 * (*z - b->z) / b->dt +
                    psdm_friction_smooth(b->friction, PSDM_FRICTION_LUGRE, v);
  return b->inertia * (v - b->v) / b->dt + friction + stiffness * v * b->dt - torque;
}

/* one implicit step: the velocity between two bounds, by false position with halved ends */
static void body_step(body *b, double torque, double stiffness) {
  double z, low = b->v - 1e-3, high = b->v + 1e-3, at = b->v;
  double below = left_over(b, torque, stiffness, low, &z), above = left_over(b, torque, stiffness, high, &z);
  for (; below > 0; below = left_over(b, torque, stiffness, low, &z)) low -= 0.1;
  for (; above < 0; above = left_over(b, torque, stiffness, high, &z)) high += 0.1;
  for (int k = 0, side = 0; k < 100; k++) {
    at = (low * above - high * below) / (above - below);
    double rest = left_over(b, torque, stiffness, at, &z);
    if (fabs(rest) < 1e-10) break;
    if (rest > 0) {
      high = at, above = rest;
      if (side > 0) below /= 2;
      side = 1;
    } else {
      low = at, below = rest;
      if (side < 0) above /= 2;
      side = -1;
    }
  }
  b->v = at, b->z = z;
}

/* the bristles' largest torque while the torque on a body of 1 kg m^2 grows at a rate, until it slides */
static double breakaway(const psdm_friction *f, double rate) {
  body b = {.friction = f, .inertia = 1, .dt = fmin(1e-4, 1e-4 * f->stat / rate)};
  double peak = 0;
  for (int k = 1; b.v < 3 * f->stribeck && k < 1000000; k++) {
    body_step(&b, rate * k * b.dt, 0);
    peak = fmax(peak, f->sigma0 * b.z);
  }
  assert_true(b.v >= 3 * f->stribeck);
  return peak;
}

/* Break-away falls with the rate at which the torque grows, from Fs at slow rates (Canudas de Wit et al. 1995,
 * section IV B); joint 6, where Fs < Fc, has no break-away of its own and reaches Fc. */
static void test_breakaway(void **unused) {
  (void)unused;
  static const double rates[] = {0.1, 1, 10, 100}; /* times Fs per second */
  psdm_friction arm[ARM];
  load_arm(arm);
  for (int j = 0; j < ARM; j++) {
    const psdm_friction *f = &arm[j];
    double peak[4];
    for (int k = 0; k < 4; k++) peak[k] = breakaway(f, rates[k] * f->stat);
    print_message("joint %d: break-away at %.4f, %.4f, %.4f, %.4f of Fs\n", j + 1, peak[0] / f->stat, peak[1] / f->stat,
                  peak[2] / f->stat, peak[3] / f->stat);
    for (int k = 1; k < 4; k++) assert_true(peak[k] < peak[k - 1] + 1e-6 * f->stat);
    assert_true(peak[0] <= psdm_friction_most(f, PSDM_FRICTION_LUGRE));
    assert_true(peak[0] > 0.998 * psdm_friction_most(f, PSDM_FRICTION_LUGRE) && peak[3] < 0.98 * peak[0]);
  }
}

/* a body of 0.1 kg m^2 pulled through a spring of 10 Fs per radian, at the Stribeck velocity: how often it slips,
 * and its speeds towards the end */
typedef struct pull {
  int slips;
  double slowest, fastest; /* of the pulling velocity, in the last third */
} pull;

static pull pull_body(const psdm_friction *f) {
  const double stiffness = 10 * f->stat, speed = f->stribeck, end = 6 * f->stat / (stiffness * speed);
  body b = {.friction = f, .inertia = 0.1, .dt = 2e-4};
  pull p = {.slowest = INFINITY};
  double way = 0;
  bool stuck = true;
  for (double t = 0; t < end; t += b.dt) {
    body_step(&b, stiffness * (speed * (t + b.dt) - way), stiffness);
    way += b.v * b.dt;
    if (stuck && b.v > 1.5 * speed) p.slips++, stuck = false;
    if (!stuck && b.v < 0.1 * speed) stuck = true;
    if (t > end * 2 / 3) p.slowest = fmin(p.slowest, b.v / speed), p.fastest = fmax(p.fastest, b.v / speed);
  }
  return p;
}

/* Stick-slip where steady friction falls with speed at the pulling velocity, and only there: without viscous
 * friction the joints with Fs > Fc; with it, as its power law is steep near rest, joints 1 and 3 (from the slope of
 * the steady state); never joint 6. */
static void test_stick_slip(void **unused) {
  (void)unused;
  psdm_friction arm[ARM];
  load_arm(arm);
  int slipping[2] = {0, 0};
  for (int with = 0; with < 2; with++)
    for (int j = 0; j < ARM; j++) {
      psdm_friction f = arm[j];
      if (!with) f.viscous = 0;
      double v = f.stribeck, h = 1e-3 * v;
      double slope = (psdm_friction_steady(&f, PSDM_FRICTION_LUGRE, v + h) -
                      psdm_friction_steady(&f, PSDM_FRICTION_LUGRE, v - h)) /
                     (2 * h);
      pull p = pull_body(&f);
      print_message("joint %d %s viscous friction: slope %.3g, %d slips, then %.3f to %.3f of the pull\n", j + 1,
                    with ? "with" : "without", slope, p.slips, p.slowest, p.fastest);
      if (slope < 0) {
        slipping[with] |= 1 << j;
        assert_true(p.slips >= 3 && p.slowest < 0.1 && p.fastest > 1.5);
      } else assert_true(p.slips == 0 && p.slowest > 0.9 && p.fastest < 1.1);
    }
  assert_int_equal(slipping[0], 1 | 2 | 4 | 8 | 16);
  assert_int_equal(slipping[1], 1 | 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),        cmocka_unit_test(test_lacks),
      cmocka_unit_test(test_no_bristles),  cmocka_unit_test(test_steady),
      cmocka_unit_test(test_smooth_slope), cmocka_unit_test(test_arm_steady),
      cmocka_unit_test(test_step_twin),    cmocka_unit_test(test_step_properties),
      cmocka_unit_test(test_follow_twin),  cmocka_unit_test(test_follow_properties),
      cmocka_unit_test(test_follow_log),   cmocka_unit_test(test_hysteresis),
      cmocka_unit_test(test_breakaway),    cmocka_unit_test(test_stick_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
