/* Generalised momentum and the gradient of the kinetic energy: against the twin's complex steps, against the mass
 * matrix and the energy, and along motions of psdm_forward, on random robots: revolute and prismatic, trees, coupled
 * joints, drives, transmissions, gravity in any direction. 1e-12 relative: some thousand operations in double
 * precision lose three to four of sixteen digits. */
#include <math.h>
#include <stdlib.h>

#include "support.h"
#include "twin.h"

enum { MOST = 12, TWINS = 300, ROBOTS = 300 };

static void expect_below(double error, double tolerance, const char *what, const char *text) {
  if (!(error <= tolerance)) fail_msg("%s: %.3g is above %.3g for\n%s", what, error, tolerance, text);
}

/* the sum of the absolute terms over joints, to which rounding is relative */
static double size_of(int n, const double *M, const double *qd) {
  double most = 0, speed = 0;
  for (int i = 0; i < n * n; i++) most = fmax(most, fabs(M[i]));
  for (int i = 0; i < n; i++) speed += fabs(qd[i]);
  return most * speed;
}

/* ---- the twin: T = qd (tau(q, 0, qd) - tau(q, 0, 0)) / 2, and its gradient by complex steps ---- */

static void check_twin(const twin *t, rng *g, const char *text, psdm_robot *robot, double worst[2]) {
  int n = t->n;
  const double rest[MOST] = {0};
  double q[MOST], qd[MOST], p[MOST], gradient[MOST], mass[MOST * MOST];
  long double B[MOST * MOST], B0[MOST * MOST], A[MOST * MOST], M[MOST * MOST];
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  for (int i = 0; i < n; i++) q[i] = rng_uniform(g, -3, 3), qd[i] = rng_uniform(g, -2, 2);
  assert_int_equal(psdm_momentum(robot, work, q, qd, p, gradient), PSDM_OK);
  twin_linearize(t, q, rest, qd, B, A, M);
  twin_linearize(t, q, rest, rest, B0, A, M);
  for (int i = 0; i < n * n; i++) mass[i] = (double)M[i];
  double size = size_of(n, mass, qd), speed = 0;
  for (int i = 0; i < n; i++) speed += fabs(qd[i]);
  for (int i = 0; i < n; i++) {
    long double momentum = 0, slope = 0;
    for (int j = 0; j < n; j++) momentum += M[i * n + j] * qd[j], slope += qd[j] * (B[j * n + i] - B0[j * n + i]) / 2;
    worst[0] = fmax(worst[0], (double)fabsl(momentum - p[i]) / size);
    worst[1] = fmax(worst[1], (double)fabsl(slope - gradient[i]) / (size * speed));
  }
  expect_below(worst[0], 1e-12, "momentum against the twin", text);
  expect_below(worst[1], 1e-12, "gradient against the twin", text);
  psdm_work_free(work, NULL);
}

static void test_against_the_twin(void **unused) {
  (void)unused;
  rng g = rng_start("momentum, twin");
  static char text[1 << 16];
  double worst[2] = {0, 0};
  int mixed = 0;
  for (int k = 0; k < TWINS; k++) {
    twin t = twin_random(&g, MOST, true, true);
    psdm_robot *robot = twin_robot(&t, text, sizeof text);
    mixed += t.mix != 0;
    check_twin(&t, &g, text, robot, worst);
    psdm_robot_free(robot);
  }
  print_message("twin: momentum %.2g, gradient %.2g; %d with a transmission\n", worst[0], worst[1], mixed);
  assert_true(mixed > 10);
}

/* ---- the library's own mass matrix, energy and forward dynamics ---- */

/* derivative at 0 of a function of one number, (n) values, by central differences of order 16 (as in
 * test_rigid_random.c): truncation stays below rounding */
typedef void (*along)(void *user, double t, double *values);

static void derivative(along f, void *user, double h, int n, double *rate) {
  enum { M = 8 };
  double c = 1, plus[MOST], minus[MOST];
  for (int i = 0; i < n; i++) rate[i] = 0;
  for (int k = 1; k <= M; k++) {
    c *= -(double)(M - k + 1) / (M + k);
    f(user, k * h, plus);
    f(user, -k * h, minus);
    for (int i = 0; i < n; i++) rate[i] -= c / k * (plus[i] - minus[i]) / h;
  }
}

typedef struct place {
  psdm_robot *robot;
  psdm_work *work;
  int n, joint;
  double q[MOST], qd[MOST], qdd[MOST];
} place;

static void kinetic(void *user, double t, double *values) {
  place *s = user;
  double q[MOST], potential;
  for (int i = 0; i < s->n; i++) q[i] = s->q[i] + (i == s->joint ? t : 0);
  assert_int_equal(psdm_energy(s->robot, s->work, q, s->qd, values, &potential), PSDM_OK);
}

static void momentum(void *user, double t, double *values) {
  place *s = user;
  double q[MOST], qd[MOST];
  for (int i = 0; i < s->n; i++) q[i] = s->q[i] + t * (s->qd[i] + t / 2 * s->qdd[i]), qd[i] = s->qd[i] + t * s->qdd[i];
  assert_int_equal(psdm_momentum(s->robot, s->work, q, qd, values, NULL), PSDM_OK);
}

/* p = M qd; qd p = 2 T; dT/dq by differences of T */
static void check_energy(place *s, const double *p, const double *gradient, double *worst, const char *text) {
  int n = s->n;
  double M[MOST * MOST], T, U, slope, twice = 0;
  assert_int_equal(psdm_mass(s->robot, s->work, s->q, M), PSDM_OK);
  assert_int_equal(psdm_energy(s->robot, s->work, s->q, s->qd, &T, &U), PSDM_OK);
  double size = size_of(n, M, s->qd), speed = 0;
  for (int i = 0; i < n; i++) speed += fabs(s->qd[i]), twice += p[i] * s->qd[i];
  expect_below(fabs(twice - 2 * T) / (size * speed), 1e-12, "twice the energy", text);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += M[i * n + j] * s->qd[j];
    worst[0] = fmax(worst[0], fabs(sum - p[i]) / size);
    s->joint = i;
    derivative(kinetic, s, 0.03, 1, &slope);
    worst[1] = fmax(worst[1], fabs(slope - gradient[i]) / (size * speed));
  }
  expect_below(worst[0], 1e-12, "M qd", text);
  expect_below(worst[1], 1e-12, "gradient of T", text);
}

/* dp/dt = tau + dT/dq - g along the accelerations of tau */
static void check_motion(rng *g, place *s, const double *gradient, double *worst, const char *text) {
  int n = s->n;
  double tau[MOST], gravity[MOST], rate[MOST], bias[MOST], wanted[MOST];
  for (int i = 0; i < n; i++) wanted[i] = rng_uniform(g, -2, 2);
  assert_int_equal(psdm_inverse(s->robot, s->work, s->q, s->qd, wanted, tau), PSDM_OK);
  assert_int_equal(psdm_forward(s->robot, s->work, s->q, s->qd, tau, s->qdd), PSDM_OK);
  assert_int_equal(psdm_bias(s->robot, s->work, s->q, s->qd, bias), PSDM_OK);
  assert_int_equal(psdm_gravity(s->robot, s->work, s->q, gravity), PSDM_OK);
  derivative(momentum, s, 0.02, n, rate);
  double size = max_absolute(tau, n) + max_absolute(bias, n) + max_absolute(gravity, n) + max_absolute(gradient, n) +
                max_absolute(rate, n);
  for (int i = 0; i < n; i++) *worst = fmax(*worst, fabs(rate[i] - tau[i] - gradient[i] + gravity[i]) / size);
  expect_below(*worst, 1e-12, "dp/dt", text);
}

static void test_against_mass_energy_and_forward(void **unused) {
  (void)unused;
  rng g = rng_start("momentum, energy");
  random_options options = {1, MOST, true, true, true, true};
  static char text[1 << 16];
  double worst[3] = {0, 0, 0};
  for (int k = 0; k < ROBOTS; k++) {
    double p[MOST], gradient[MOST], alone[MOST];
    place s = {.robot = parse_robot(random_robot_text(&g, &options, text, sizeof text))};
    s.n = psdm_robot_n(s.robot);
    assert_int_equal(psdm_work_new(s.robot, NULL, &s.work), PSDM_OK);
    for (int i = 0; i < s.n; i++) s.q[i] = rng_uniform(&g, -3, 3), s.qd[i] = rng_uniform(&g, -0.5, 0.5);
    assert_int_equal(psdm_momentum(s.robot, s.work, s.q, s.qd, p, gradient), PSDM_OK);
    /* either alone is the same */
    assert_int_equal(psdm_momentum(s.robot, s.work, s.q, s.qd, alone, NULL), PSDM_OK);
    assert_memory_equal(alone, p, sizeof *p * (size_t)s.n);
    assert_int_equal(psdm_momentum(s.robot, s.work, s.q, s.qd, NULL, alone), PSDM_OK);
    assert_memory_equal(alone, gradient, sizeof *p * (size_t)s.n);
    check_energy(&s, p, gradient, worst, text);
    check_motion(&g, &s, gradient, worst + 2, text);
    psdm_work_free(s.work, NULL);
    psdm_robot_free(s.robot);
  }
  print_message("M qd %.2g, gradient of T %.2g, dp/dt %.2g\n", worst[0], worst[1], worst[2]);
}

/* ---- refusals ---- */

static void test_refusals(void **unused) {
  (void)unused;
  double q[8] = {0}, p[8];
  psdm_work *work;
  psdm_robot *robot = parse_robot("{name: r, convention: dh, joints: [{name: a, a: 1}, {name: b, a: 1}]}");
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_momentum(robot, work, q, q, p, NULL), PSDM_E_MISSING);
  psdm_work_free(work, NULL);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_twin),
                                     cmocka_unit_test(test_against_mass_energy_and_forward),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
