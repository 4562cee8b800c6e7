/* test_snap_axes.c: axes that are nearly parallel or perpendicular are made exactly so on request, and nothing else
 * changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/psdm.h"
#include "support.h"

static psdm_robot *parse(const char *text, double snap_axes) {
  const psdm_robot_options options = {.no_snap = true, .snap_axes = snap_axes};
  psdm_robot *robot;
  psdm_error error;
  if (psdm_robot_parse(text, strlen(text), "arm", &options, NULL, &robot, &error)) fail_msg("%s\n%s", error.text, text);
  return robot;
}

/* a KR6 whose angles alpha are off by this, as after a kinematic calibration */
static void kr6(char *text, size_t room, double off) {
  static const char links[] = "links:\n"
                              "  - {mass: 7.60, com: [-0.0376, 0.0435, -0.0076], inertia: {xx: 0.0430, yy: 0.0449, zz: "
                              "0.0490, xy: 0.0125, xz: 0.0022, yz: -0.0024}}\n"
                              "  - {mass: 2.80, com: [0.1554, -0.0062, 0.1148],  inertia: {xx: 0.0060, yy: 0.0393, zz: "
                              "0.0415, xy: -0.0004, xz: -0.0012, yz: 0.0001}}\n"
                              "  - {mass: 7.00, com: [0.0450, -0.0070, 0.0040],  inertia: {xx: 0.0278, yy: 0.0375, zz: "
                              "0.0309, xy: 0.0010, xz: 0.0005, yz: -0.0002}}\n"
                              "  - {mass: 2.90, com: [-0.0010, 0.1021, -0.0028], inertia: {xx: 0.0138, yy: 0.0058, zz: "
                              "0.0123, xy: -0.0010, xz: 0.0002, yz: 0.0002}}\n"
                              "  - {mass: 0.94, com: [0.0001, -0.0300, 0.0106],  inertia: {xx: 0.0009, yy: 0.0010, zz: "
                              "0.0006, xy: 0.0001, xz: 0.0010, yz: 0.0001}}\n"
                              "  - {mass: 3.00, com: [-0.0020, -0.0190, 0.0670], inertia: {xx: 0.0045, yy: 0.0050, zz: "
                              "0.0060, xy: 0.0001, xz: -0.0003, yz: 0.0004}}\n";
  static const double a[] = {0.025, -0.315, -0.035, 0, 0, 0}, d[] = {0.183, 0, 0, 0.365, 0, 0.08},
                      quarters[] = {-1, 0, 1, -1, 1, 0}, part[] = {1, -1, 0.5, -0.75, 1, 0};
  int at = snprintf(text, room, "gravity: [0, 0, -9.81]\nconvention: dh\njoints:\n");
  for (int j = 0; j < 6; j++)
    at += snprintf(text + at, room - (size_t)at, "  - {name: A%d, d: %g, a: %g, alpha: %.17g}\n", j + 1, d[j], a[j],
                   quarters[j] * acos(0) + part[j] * off);
  snprintf(text + at, room - (size_t)at, "%s", links);
}

enum { MOST = 8 };

static void torque(const psdm_robot *r, int state, double tau[MOST]) {
  double q[MOST], qd[MOST], qdd[MOST];
  psdm_work *work;
  for (int i = 0; i < psdm_robot_n(r); i++) {
    q[i] = sin(1.7 * state + 2.3 * i);
    qd[i] = cos(0.9 * state + 1.1 * i);
    qdd[i] = 2 * sin(2.9 * state - 0.7 * i);
  }
  assert_int_equal(psdm_work_new(r, NULL, &work), PSDM_OK);
  assert_int_equal(psdm_inverse(r, work, q, qd, qdd, tau), PSDM_OK);
  psdm_work_free(work, NULL);
}

/* the largest difference of torques between two robots, over the largest torque */
static double difference(const psdm_robot *a, const psdm_robot *b) {
  double most = 0, size = 0, x[MOST], y[MOST];
  for (int state = 0; state < 50; state++) {
    torque(a, state, x);
    torque(b, state, y);
    for (int i = 0; i < psdm_robot_n(a); i++) {
      most = fmax(most, fabs(x[i] - y[i]));
      size = fmax(size, fabs(x[i]));
    }
  }
  return most / size;
}

static void count(const psdm_robot *r, int *functions, int *parameters) {
  psdm_model *model;
  psdm_error error;
  if (psdm_model_derive(r, NULL, NULL, &model, NULL, &error)) fail_msg("%s", error.text);
  *functions = (int)psdm_model_p(model);
  *parameters = psdm_model_l(model);
  psdm_model_free(model);
}

static void a_calibrated_kr6_is_a_kr6_again(void **state) {
  (void)state;
  char text[4096];
  int functions, parameters;
  kr6(text, sizeof text, 0);
  psdm_robot *plain = parse(text, 0);
  kr6(text, sizeof text, 2e-4);
  psdm_robot *off = parse(text, 0), *snapped = parse(text, 1e-3);
  assert_int_equal(psdm_robot_notes(off), 0);
  assert_int_equal(psdm_robot_notes(snapped), 1);
  assert_string_equal(
      psdm_robot_note(snapped, 0),
      "5 axes were made parallel or perpendicular to the one before, by at most 0.0002 rad (joint 'A2')");
  count(snapped, &functions, &parameters);
  assert_int_equal(functions, 6086);
  assert_int_equal(parameters, 36);
  /* link frames stay on their links, so inertias stay turned by the table's angles: torques differ from both robots',
   * by no more than the angle */
  double changed = difference(off, snapped);
  print_message("torques change by %.2g of the largest; by %.2g from a table without misalignment\n", changed,
                difference(plain, snapped));
  assert_true(changed > 1e-6 && changed < 2e-3 && difference(plain, snapped) < 2e-3);
  psdm_robot_free(plain);
  psdm_robot_free(off);
  psdm_robot_free(snapped);
}

static void axes_beyond_the_angle_stay(void **state) {
  (void)state;
  char text[4096];
  kr6(text, sizeof text, 2e-2);
  psdm_robot *off = parse(text, 0), *snapped = parse(text, 1e-3);
  assert_true(difference(off, snapped) == 0);
  assert_string_equal(psdm_robot_note(snapped, 0), "no axis is within 0.001 rad of parallel or perpendicular to the "
                                                   "one before it, apart from those that already are");
  psdm_robot_free(off);
  psdm_robot_free(snapped);
}

/* ---- random robots ---- */

/* what a random arm is made of; modified DH: alpha turns the axis, and what the joint carries goes with it */
typedef struct arm {
  int n, parent[MOST]; /* -1: the base */
  bool slides[MOST], near[MOST];
  double alpha[MOST], off[MOST], a[MOST], d[MOST], theta[MOST], mass[MOST], com[MOST][3], size[MOST][3];
} arm;

/* quarters of a turn, each off by up to `angle`, and some angles that are nowhere near one */
static void draw(rng *g, double angle, arm *r) {
  r->n = rng_int(g, 2, MOST);
  for (int j = 0; j < r->n; j++) {
    r->parent[j] = j && rng_int(g, 0, 4) == 0 ? rng_int(g, 0, j - 1) : j - 1;
    r->slides[j] = rng_int(g, 0, 3) == 0;
    r->near[j] = r->parent[j] >= 0 && rng_int(g, 0, 4);
    r->alpha[j] = r->near[j] ? rng_int(g, -1, 2) * acos(0) : rng_uniform(g, 0.3, 1.2);
    r->off[j] = r->near[j] ? (rng_int(g, 0, 1) ? 1 : -1) * pow(10, rng_uniform(g, -6, 0)) * 0.999 * angle : 0;
    r->a[j] = rng_int(g, 0, 2) ? rng_uniform(g, -0.6, 0.6) : 0;
    r->d[j] = rng_int(g, 0, 2) ? rng_uniform(g, -0.6, 0.6) : 0;
    r->theta[j] = rng_uniform(g, -3, 3);
    r->mass[j] = rng_uniform(g, 0.5, 8);
    for (int i = 0; i < 3; i++) r->com[j][i] = rng_uniform(g, -0.3, 0.3), r->size[j][i] = rng_uniform(g, 0.01, 0.2);
  }
}

/* with `share` of the axes' errors, rounded like the table */
static psdm_robot *make(const arm *r, double share, double snap_axes) {
  static char text[8192];
  text_writer w = {text, sizeof text};
  text_put(&w, "gravity: [1, 2, -9]\nconvention: modified-dh\njoints:\n");
  for (int j = 0; j < r->n; j++) {
    text_put(&w, "  - {name: j%d, type: %s, alpha: %.17g, a: %.17g, d: %.17g, theta: %.17g", j + 1,
             r->slides[j] ? "prismatic" : "revolute", r->alpha[j] + share * r->off[j], r->a[j], r->d[j], r->theta[j]);
    if (r->parent[j] != j - 1) text_put(&w, ", parent: j%d", r->parent[j] + 1);
    text_put(&w, "}\n");
  }
  text_put(&w, "links:\n");
  for (int j = 0; j < r->n; j++) {
    const double m = r->mass[j], x = r->size[j][0] * r->size[j][0], y = r->size[j][1] * r->size[j][1],
                 z = r->size[j][2] * r->size[j][2];
    text_put(&w, "  - {mass: %.17g, com: [%.17g, %.17g, %.17g], inertia: {xx: %.17g, yy: %.17g, zz: %.17g}}\n", m,
             r->com[j][0], r->com[j][1], r->com[j][2], m * (y + z), m * (x + z), m * (x + y));
  }
  return parse(text, snap_axes);
}

/* within the angle the exact robot is restored: its torques, functions and parameters; beyond it nothing changes */
static void random_arms_are_restored(void **state) {
  (void)state;
  rng g = rng_start("snap_axes");
  double worst = 0;
  for (int k = 0; k < 300; k++) {
    double angle = pow(10, rng_uniform(&g, -4, -1.3));
    arm r;
    draw(&g, angle, &r);
    psdm_robot *exact = make(&r, 0, 0), *snapped = make(&r, 1, angle), *still = make(&r, 0, angle);
    worst = fmax(worst, fmax(difference(exact, snapped), difference(exact, still)));
    if (!(worst < 1e-12)) fail_msg("robot %d, %d joints, angle %.3g: torques differ by %.3g", k, r.n, angle, worst);
    if (r.n <= 5) {
      int p[2], l[2];
      count(exact, &p[0], &l[0]);
      count(snapped, &p[1], &l[1]);
      assert_int_equal(p[0], p[1]);
      assert_int_equal(l[0], l[1]);
    }
    psdm_robot_free(snapped);
    psdm_robot_free(still);
    /* one axis at a time beyond the angle: it stays unchanged to the last bit, while all others become exact */
    for (int j = 0; j < r.n; j++) r.off[j] = 0;
    int j = rng_int(&g, 1, r.n - 1);
    r.off[j] = r.near[j] ? (rng_int(&g, 0, 1) ? 1 : -1) * rng_uniform(&g, 1.001, 3) * angle : 0;
    psdm_robot *off = make(&r, 1, 0), *left = make(&r, 1, angle);
    assert_true(difference(off, left) < 1e-14);
    if (r.near[j] && r.n > 1) assert_true(difference(off, exact) > 0 || r.mass[j] == 0);
    psdm_robot_free(off);
    psdm_robot_free(left);
    psdm_robot_free(exact);
  }
  print_message("torques of snapped arms are the exact ones' to %.2g\n", worst);
}

/* with an origin off the common normal, intersecting axes still intersect: modified DH has its d along the new axis */
static void intersecting_axes_still_intersect(void **state) {
  (void)state;
  static const char *const form =
      "convention: modified-dh\njoints:\n  - {}\n  - {name: bolted, type: fixed, origin: {rpy: [0.3, 0.2, 0.1]}}\n"
      "  - {name: lift, type: fixed, origin: {xyz: [0.1, 0.2, 0.3]}}\n  - {name: back, type: fixed, parent: joint1}\n  "
      "- {name: turn, alpha: %.17g, d: 0.4}\n"
      "links:\n  - {mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1, zz: 1}}\n  - {mass: 0}\n  - {mass: 0}\n  - "
      "{mass: 0}\n"
      "  - {mass: 2, com: [0.1, 0.2, 0.3], inertia: {xx: 1, yy: 1.5, zz: 2}}\n";
  char text[2048];
  for (int k = 0; k < 3; k++) { /* antiparallel, perpendicular, parallel */
    double exact = (2 - k) * acos(0);
    snprintf(text, sizeof text, form, exact + 3e-4);
    psdm_robot *snapped = parse(text, 1e-3);
    snprintf(text, sizeof text, form, exact);
    psdm_robot *plain = parse(text, 0);
    psdm_body a, b;
    assert_true(psdm_robot_body(snapped, 1, &a) && psdm_robot_body(plain, 1, &b));
    for (int i = 0; i < 9; i++) assert_true(fabs(a.R[i] - b.R[i]) < 1e-15);
    for (int i = 0; i < 3; i++) assert_true(fabs(a.p[i] - b.p[i]) < 1e-15);
    for (int i = 0; i < 10; i++) assert_true(fabs(a.pi[i] - b.pi[i]) < 1e-14);
    psdm_robot_free(snapped);
    psdm_robot_free(plain);
  }
}

static void angles_out_of_range_are_refused(void **state) {
  (void)state;
  static const double bad[] = {-1e-3, 0.11, INFINITY, NAN};
  char text[4096];
  kr6(text, sizeof text, 0);
  for (int k = 0; k < 4; k++) {
    const psdm_robot_options options = {.snap_axes = bad[k]};
    psdm_robot *robot;
    psdm_error error;
    assert_int_equal(psdm_robot_parse(text, strlen(text), "arm", &options, NULL, &robot, &error), PSDM_E_ARGUMENT);
    assert_non_null(strstr(error.text, "axes can be snapped within 0 to 0.1 rad"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_calibrated_kr6_is_a_kr6_again), cmocka_unit_test(axes_beyond_the_angle_stay),
      cmocka_unit_test(random_arms_are_restored), cmocka_unit_test(intersecting_axes_still_intersect),
      cmocka_unit_test(angles_out_of_range_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
