/* The exact derivation: published counts, torques against the recursion, rank against sampled regressors, the model
 * as an object. */
#include <math.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "derive/collect_priv.h"
#include "support.h"
#include "psdm/symbolic.h"

static psdm_model *derive(const psdm_robot *robot, const psdm_derive_options *options, psdm_derive_info *info) {
  psdm_model *model;
  psdm_error error;
  if (psdm_model_derive(robot, options, NULL, &model, info, &error)) fail_msg("%s", error.text);
  return model;
}

static long class_size(const psdm_model *m, int k) {
  return psdm_model_class_start(m, k + 1) - psdm_model_class_start(m, k);
}

/* ---- published counts ---- */

static void expect_counts(const char *name, const psdm_derive_options *options, long p, int l) {
  psdm_robot *robot = load_shipped(name);
  psdm_derive_info info;
  psdm_model *model = derive(robot, options, &info);
  double residual;
  if (psdm_model_p(model) != p || psdm_model_l(model) != l)
    fail_msg("%s: %ld functions and %d parameters, expected %ld and %d", name, psdm_model_p(model), psdm_model_l(model),
             p, l);
  assert_true(info.kept > 1e3 * info.dropped && info.rank_kept > 1e3 * info.rank_dropped);
  assert_int_equal(psdm_model_check(robot, model, options, 1000, NULL, &residual, NULL), PSDM_OK);
  if (!(residual <= 1e-13)) fail_msg("%s: residual %.3g", name, residual);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

static void test_published_counts(void **unused) {
  (void)unused;
  static const char *const example5[] = {"ry1 = 0",  "rz1 = 0",  "Ixx1 = 0", "Iyy1 = 0", "Ixy1 = 0",
                                         "Ixz1 = 0", "Iyz1 = 0", "ry2 = 0",  "rz2 = 0",  "Ixx2 = 0",
                                         "Iyy2 = 0", "Ixy2 = 0", "Ixz2 = 0", "Iyz2 = 0"};
  static const char *const table1[] = {"ry1=0", "Ixy1=0", "Iyz1=0", "ry2=0",  "Ixy2=0", "Iyz2=0", "rx3=0",
                                       "ry3=0", "Izz3=0", "Ixy3=0", "Ixz3=0", "Iyz3=0", "Ixy4=0", "Ixz4=0"};
  const psdm_derive_options planar = {.assume_count = 14, .assume = example5},
                            scara = {.assume_count = 14, .assume = table1};
  expect_counts("two_link", NULL, 18, 6);
  expect_counts("two_link", &planar, 10, 4);
  expect_counts("fanuc_sr6ia", NULL, 69, 8);
  expect_counts("fanuc_sr6ia", &scara, 64, 7);
  expect_counts("kuka_kr6", NULL, 6086, 36);
  expect_counts("kuka_lbr7", NULL, 21295, 43);
  expect_counts("denso_vs6556g", NULL, 1318, 32);
  expect_counts("parallelogram", NULL, 22, 8);
}

static void test_kr6_classes(void **unused) {
  (void)unused;
  static const long acceleration[] = {523, 213, 181, 133, 82, 57}, centrifugal[] = {843, 231, 199, 113, 71, 50};
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_model *m = derive(robot, NULL, NULL);
  assert_int_equal(class_size(m, 0), 74);
  for (int j = 0; j < 6; j++) {
    assert_int_equal(class_size(m, 1 + j), acceleration[j]);
    assert_int_equal(class_size(m, 7 + j), centrifugal[j]);
  }
  assert_int_equal(psdm_model_p(m) - psdm_model_class_start(m, 13), 3316);
  assert_int_equal(psdm_model_entries(m), 10729);
  psdm_model_free(m);
  psdm_robot_free(robot);
}

/* the chain of the first i links grows, and every one of them is exact */
static void test_first_links(void **unused) {
  (void)unused;
  static const char *const names[] = {"kuka_kr6", "kuka_lbr7"};
  for (int r = 0; r < 2; r++) {
    long before = 0;
    for (int i = 1; i <= 6 + r; i++) {
      char path[512], tip[16];
      psdm_robot *robot;
      double residual;
      snprintf(path, sizeof path, "%s/robots/%s.yaml", getenv("SOURCE") ? getenv("SOURCE") : ".", names[r]);
      snprintf(tip, sizeof tip, "link%d", i);
      psdm_robot_options options = {.tip = tip};
      assert_int_equal(psdm_robot_load(path, &options, NULL, &robot, NULL), PSDM_OK);
      psdm_model *m = derive(robot, NULL, NULL);
      assert_int_equal(psdm_model_check(robot, m, NULL, 200, NULL, &residual, NULL), PSDM_OK);
      assert_true(residual <= 1e-13);
      assert_true(psdm_model_p(m) > before);
      before = psdm_model_p(m);
      printf("%s, first %d links: p %ld, l %d\n", names[r], i, psdm_model_p(m), psdm_model_l(m));
      psdm_model_free(m);
      psdm_robot_free(robot);
    }
    assert_int_equal(before, r ? 21295 : 6086);
  }
}

/* ---- Example 4's functions in Example 5's model ---- */

static void test_two_link_functions(void **unused) {
  (void)unused;
  static const char *const assume[] = {"ry1 = 0",  "rz1 = 0",  "Ixx1 = 0", "Iyy1 = 0", "Ixy1 = 0",
                                       "Ixz1 = 0", "Iyz1 = 0", "ry2 = 0",  "rz2 = 0",  "Ixx2 = 0",
                                       "Iyy2 = 0", "Ixy2 = 0", "Ixz2 = 0", "Iyz2 = 0"};
  static const char *const expected[] = {"g s1 s2", "g c1",    "g c1 c2",  "qdd1",     "c2 qdd1",
                                         "qdd2",    "c2 qdd2", "s2 qd1^2", "s2 qd2^2", "s2 qd1 qd2"};
  const psdm_derive_options options = {.assume_count = 14, .assume = assume};
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *m = derive(robot, &options, NULL);
  assert_int_equal(psdm_model_p(m), 10);
  for (int f = 0; f < 10; f++) {
    char text[64];
    assert_string_equal(psdm_model_function_text(m, f, text, sizeof text), expected[f]);
  }
  psdm_model_free(m);
  psdm_robot_free(robot);
}

/* ---- random robots ---- */

/* l equals the rank of sampled regressors, found without any of the derivation's structure */
static int sampled_rank(const psdm_robot *robot, const psdm_model *model) {
  static const psdmp_derive_restriction all = {0, NULL, NULL};
  psdm_model copy = {.arena = {.allocator = NULL}, .standard = psdm_model_standard_count(model)};
  psdm_derive_info info;
  assert_int_equal(psdmp_derive_base_sampled(robot, &all, 0, &copy, &info, NULL), PSDM_OK);
  int l = copy.l;
  psdmp_base_arena_free(&copy.arena);
  return l;
}

static void test_random_robots(void **unused) {
  (void)unused;
  rng g = rng_start("derive");
  static char text[64 * 1024];
  int derived = 0;
  for (int k = 0; k < 300; k++) {
    random_options options = {1, k % 10 ? 5 : 6, k % 3 == 0, k % 2, true, true};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_model *model;
    psdm_error error;
    psdm_status status = psdm_model_derive(robot, NULL, NULL, &model, NULL, &error);
    /* a coupling with a broken factor, or from turning to sliding, has no closed form: it is refused by name */
    if (status) {
      assert_true(psdm_robot_coupled(robot) && status == PSDM_E_ROBOT && strstr(error.text, "closed form"));
      psdm_robot_free(robot);
      continue;
    }
    double residual;
    assert_int_equal(psdm_model_check(robot, model, NULL, 20, NULL, &residual, NULL), PSDM_OK);
    if (!(residual <= 1e-12)) fail_msg("residual %.3g for\n%s", residual, text);
    int rank = sampled_rank(robot, model);
    if (rank != psdm_model_l(model)) fail_msg("l = %d, sampled rank %d for\n%s", psdm_model_l(model), rank, text);
    psdm_model_free(model);
    psdm_robot_free(robot);
    derived++;
  }
  printf("%d of 300 derived\n", derived);
  assert_true(derived > 200);
}

/* a 4 mm offset: rows of rounding error must not count as directions (l was 23 once) */
static void test_small_offset(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("{convention: dh, gravity: [-7.9795833236621068, 7.9424380404916981, 0.29585382066406218],"
                  "base: {xyz: [-0.28705993849209088, -0.04922055754800797, 0.32914281865929496], rpy: [-pi/2, "
                  "-1.0128003814357334, pi/2]}, joints: ["
                  "{name: j1, theta: -2.4105575742545255, a: 0.37371482738504846, drive_inertia: 1.494941930415713},"
                  "{name: j2, theta: -0.70679887605808656, d: 0.40399291550460681, alpha: 2.6286934484323519, "
                  "drive_inertia: 0.82306292482224885},"
                  "{name: j3, theta: pi/2, a: 0.0040856421658796993}, {name: j4, d: -0.48999787177977766, a: "
                  "-0.36776624929934798, alpha: 0.60812605162387845}]}");
  psdm_model *m = derive(robot, NULL, NULL);
  assert_int_equal(psdm_model_l(m), 21);
  assert_int_equal(sampled_rank(robot, m), 21);
  psdm_model_free(m);
  psdm_robot_free(robot);
}

static void test_deterministic(void **unused) {
  (void)unused;
  psdm_robot *robot = load_shipped("kuka_kr6");
  psdm_model *a = derive(robot, NULL, NULL), *b = derive(robot, NULL, NULL);
  assert_int_equal(psdm_model_p(a), psdm_model_p(b));
  assert_memory_equal(a->code, b->code, (size_t)a->p * sizeof *a->code);
  for (long e = 0; e < psdm_model_entries(a); e++) {
    assert_true(a->P[e].value == b->P[e].value && a->P[e].joint == b->P[e].joint &&
                a->P[e].parameter == b->P[e].parameter);
  }
  psdm_model_free(a);
  psdm_model_free(b);
  psdm_robot_free(robot);
}

/* ---- the model as an object ---- */

enum { MOST = 12 };

static void test_object(void **unused) {
  (void)unused;
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    if (psdm_robot_ready(robot, NULL)) {
      psdm_robot_free(robot);
      continue;
    }
    psdm_model *m = derive(robot, NULL, NULL);
    psdm_work *work;
    rng g = rng_start(*name);
    int n = psdm_model_n(m), l = psdm_model_l(m);
    double q[MOST], qd[MOST], qdd[MOST], a[MOST], b[MOST], back[MOST], M[MOST * MOST], N[MOST * MOST], pi[200],
        theta[100], zero[MOST] = {0};
    double *scratch = calloc(psdm_model_scratch(m), sizeof *scratch), *Y = calloc((size_t)(n * l), sizeof *Y), T, U, T2,
           U2, U0, V0;
    assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(m, pi, theta);
    for (int k = 0; k < 5; k++) {
      for (int i = 0; i < n; i++)
        q[i] = rng_uniform(&g, -3, 3), qd[i] = rng_uniform(&g, -1, 1), qdd[i] = rng_uniform(&g, -2, 2);
      psdm_model_inverse(m, theta, q, qd, qdd, scratch, a);
      psdm_inverse(robot, work, q, qd, qdd, b);
      double scale = max_absolute(b, n);
      assert_true(max_difference(a, b, n) <= 1e-12 * scale);
      psdm_model_mass(m, theta, q, scratch, M);
      psdm_mass(robot, work, q, N);
      assert_true(max_difference(M, N, n * n) <= 1e-12 * max_absolute(N, n * n));
      psdm_model_bias(m, theta, q, qd, scratch, a);
      psdm_bias(robot, work, q, qd, b);
      assert_true(max_difference(a, b, n) <= 1e-12 * scale);
      psdm_model_bias(m, theta, q, NULL, scratch, a);
      psdm_gravity(robot, work, q, b);
      assert_true(max_difference(a, b, n) <= 1e-12 * scale);
      psdm_inverse(robot, work, q, qd, qdd, b);
      assert_int_equal(psdm_model_forward(m, theta, q, qd, b, scratch, a), PSDM_OK);
      psdm_inverse(robot, work, q, qd, a, back);
      assert_true(max_difference(back, b, n) <= 1e-11 * scale);
      psdm_model_energy(m, theta, q, qd, scratch, &T, &U);
      psdm_energy(robot, work, q, qd, &T2, &U2);
      psdm_model_energy(m, theta, zero, zero, scratch, &U0, &V0);
      psdm_energy(robot, work, zero, zero, &U0, &V0);
      assert_true(fabs(T - T2) <= 1e-12 * (1 + T2) && fabs(U - (U2 - V0)) <= 1e-12 * (100 + fabs(U2) + fabs(V0)));
      /* the parts of the regressor add up, and give the parts of the torque */
      psdm_model_y(m, q, qd, qdd, scratch);
      psdm_model_regressor(m, PSDM_PART_GRAVITY, scratch, Y);
      psdm_gravity(robot, work, q, b);
      for (int i = 0; i < n; i++) {
        a[i] = 0;
        for (int j = 0; j < l; j++) a[i] += Y[i * l + j] * theta[j];
      }
      assert_true(max_difference(a, b, n) <= 1e-12 * scale);
      psdm_model_torque(m, PSDM_PART_INERTIA, scratch, theta, back);
      psdm_inverse(robot, work, q, qd, qdd, b);
      for (int i = 0; i < n; i++) a[i] += back[i];
      assert_true(max_difference(a, b, n) <= 1e-12 * scale);
    }
    free(scratch);
    free(Y);
    psdm_work_free(work, NULL);
    psdm_model_free(m);
    psdm_robot_free(robot);
  }
}

/* base parameters of a consistent robot, and a prior that is another one: full parameters with the same base
 * parameters */
static void test_full_parameters(void **unused) {
  (void)unused;
  rng g = rng_start("full");
  static char text[64 * 1024];
  for (int k = 0; k < 20; k++) {
    random_options options = {2, 6, false, k % 2, true, true};
    psdm_robot *robot = parse_robot(random_robot_text(&g, &options, text, sizeof text));
    psdm_model *m = derive(robot, NULL, NULL);
    int S = psdm_model_standard_count(m), l = psdm_model_l(m);
    double pi[200], prior[200], full[200], theta[100], again[100];
    psdm_error error;
    psdm_robot_parameters(robot, pi);
    psdm_model_theta(m, pi, theta);
    for (int i = 0; i < S; i++)
      prior[i] = i < 10 * psdm_robot_links(robot)
                     ? (const double[]){2, 0.1, -0.05, 0.02, 0.2, 0, 0, 0.2, 0, 0.2}[i % 10]
                     : 0.5;
    if (psdm_model_full(m, theta, prior, NULL, full, &error)) fail_msg("%s for\n%s", error.text, text);
    psdm_model_theta(m, full, again);
    assert_true(max_difference(theta, again, l) <= 1e-9 * max_absolute(theta, l));
    for (int b = 0; b < psdm_robot_links(robot); b++) assert_true(full[10 * b] > 0);
    /* from the truth itself nothing moves */
    assert_int_equal(psdm_model_full(m, theta, pi, NULL, full, &error), PSDM_OK);
    assert_true(max_difference(full, pi, S) <= 1e-9 * max_absolute(pi, S));
    /* a negative drive or inertia is impossible */
    for (int j = 0; j < l; j++) theta[j] = -fabs(theta[j]) - 1;
    assert_int_equal(psdm_model_full(m, theta, prior, NULL, full, &error), PSDM_E_SINGULAR);
    prior[0] = -1;
    assert_int_equal(psdm_model_full(m, theta, prior, NULL, full, &error), PSDM_E_ARGUMENT);
    psdm_model_free(m);
    psdm_robot_free(robot);
  }
}

/* joints that follow others have powers of ten and more: one character each */
static void test_high_powers(void **unused) {
  (void)unused;
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: j1, a: 0.6, alpha: 1}\n  - {name: j2, a: 0.5, alpha: 2.8, "
                  "couple: {j1: -2}}\n  - {name: j3, a: 0.3, alpha: 3, couple: {j2: 2}}\n"
                  "links:\n  - {mass: 6, com: [0.1, -0.2, 0], inertia: {zz: 0.3}}\n  - {mass: 1, com: [0, -0.3, 0.3], "
                  "inertia: {zz: 0.1}}\n  - {mass: 5, com: [0.1, -0.2, -0.2], inertia: {zz: 0.1}}\n");
  psdm_model *m = derive(robot, NULL, NULL), *again;
  psdm_error error;
  char path[64];
  unsigned char e[5], f[5];
  int highest = 0;
  snprintf(path, sizeof path, "/tmp/psdm-powers-%ld.json", (long)getpid());
  assert_int_equal(psdm_model_save(m, robot, path, &error), PSDM_OK);
  if (psdm_model_load(path, NULL, &again, &error))
    fail_msg("%s:%d:%d %s", error.file, error.line, error.column, error.text);
  unlink(path);
  assert_int_equal(again->p, m->p);
  for (long k = 0; k < m->p; k++) {
    psdm_model_exponents(m, k, e);
    psdm_model_exponents(again, k, f);
    assert_memory_equal(e, f, 5);
    for (int i = 0; i < 5; i++) highest = e[i] > highest ? e[i] : highest;
  }
  assert_in_range(highest, 10, 35);
  psdm_model_free(again);
  psdm_model_free(m);
  psdm_robot_free(robot);
}

/* out and in again: the same functions, P and formulas; broken files are refused */
static void test_save_and_load(void **unused) {
  (void)unused;
  char path[64];
  snprintf(path, sizeof path, "/tmp/psdm-model-%ld.json", (long)getpid());
  for (const char *const *name = shipped_robots; *name; name++) {
    psdm_robot *robot = load_shipped(*name);
    psdm_model *m = derive(robot, NULL, NULL), *again;
    psdm_error error;
    assert_int_equal(psdm_model_save(m, robot, path, &error), PSDM_OK);
    if (psdm_model_load(path, NULL, &again, &error))
      fail_msg("%s:%d:%d %s", error.file, error.line, error.column, error.text);
    assert_int_equal(psdm_model_match(again, robot, &error), PSDM_OK);
    assert_int_equal(again->p, m->p);
    assert_int_equal(again->l, m->l);
    assert_memory_equal(again->class_start, m->class_start, (size_t)(m->classes + 1) * sizeof *m->class_start);
    assert_memory_equal(again->P_start, m->P_start, (size_t)(m->p + 1) * sizeof *m->P_start);
    double q[MOST], pi[200], theta[100], theta2[100], a[MOST], b[MOST],
        *scratch = calloc(psdm_model_scratch(m), sizeof *scratch);
    for (int i = 0; i < psdm_model_standard_count(m); i++) pi[i] = sin(i);
    for (int i = 0; i < m->n; i++) q[i] = cos(i);
    psdm_model_theta(m, pi, theta);
    psdm_model_theta(again, pi, theta2);
    assert_memory_equal(theta, theta2, (size_t)m->l * sizeof *theta);
    psdm_model_inverse(m, theta, q, q, q, scratch, a);
    psdm_model_inverse(again, theta, q, q, q, scratch, b);
    assert_true(max_difference(a, b, m->n) <= 1e-14 * max_absolute(a, m->n));
    free(scratch);
    psdm_model_free(again);
    psdm_model_free(m);
    psdm_robot_free(robot);
  }
  static const char *const broken[] = {
      "{}", "[1, 2]", "{\"name\": \"x\", \"n\": 1}",
      "{name: x, n: 1, p: 1, l: 1, links: 1, gravity: 1, standard_parameters: [a], E: [\"0000\"], P: [], "
      "base_parameters: []}",
      "{name: x, n: 1, p: 1, l: 1, links: 1, gravity: 1, standard_parameters: [a], E: [\"00011\"], P: [], "
      "base_parameters: []}",
      "{name: x, n: 1, p: 1, l: 1, links: 1, gravity: 1, standard_parameters: [a], E: [\"00001\"], P: [[0, 1, 0, 1]], "
      "base_parameters: []}",
      "{name: x, n: 1, p: 1, l: 1, links: 1, gravity: 1, standard_parameters: [a], E: [\"00001\"], P: [[0, 0, 0, 1]], "
      "base_parameters: [{name: b, formula: {b: 1}}]}",
      /* inconsistent sizes */
      "{name: x, n: 1, p: 1, l: 1, links: 64, gravity: 1, standard_parameters: [a], E: [\"00001\"], P: [[0, 0, 0, 1]], "
      "base_parameters: [{name: a, formula: {a: 1}}]}",
      "{name: x, n: 1, p: 1, l: 2, links: 0, gravity: 1, standard_parameters: [a], E: [\"00001\"], P: [[0, 0, 1, 1]], "
      "base_parameters: [{name: a, formula: {a: 1}}, {name: a, formula: {a: 1}}]}",
      "{name: x, n: 1, p: 1, l: 1, links: 0, gravity: 1, robot: {kinematics: xyz, gravity: [0, 0, 1]}, "
      "standard_parameters: [a], E: [\"00001\"], P: [], base_parameters: [{name: a, formula: {a: 1}}]}",
      "{name: x, n: 1, p: 1, l: 1, links: 0, gravity: 1, robot: {kinematics: \"0123456789abcdef\", gravity: [0, 1]}, "
      "standard_parameters: [a], E: [\"00001\"], P: [], base_parameters: [{name: a, formula: {a: 1}}]}"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    psdm_model *m;
    FILE *f = fopen(path, "w");
    fputs(broken[i], f);
    fclose(f);
    assert_int_equal(psdm_model_load(path, NULL, &m, NULL), PSDM_E_PARSE);
    assert_null(m);
  }
  unlink(path);
}

static psdm_robot *arm_with(double length, double mass, double gravity) {
  char text[400];
  snprintf(text, sizeof text,
           "name: arm\ngravity: [0, 0, %.17g]\nconvention: dh\njoints:\n  - {name: a, a: %.17g, alpha: 0.5}\n  - "
           "{name: b, a: 1}\nlinks:\n  - {mass: %.17g, com: [0, 0, 0]}\n  - {mass: 1, com: [0, 0, 0]}\n",
           gravity, length, mass);
  return parse_robot(text);
}

/* a model matches its own robot, whatever the inertias, and no other; an old file has no fingerprint */
static void test_match(void **unused) {
  (void)unused;
  static const struct {
    double length, mass, gravity;
    psdm_status expected;
  } cases[] = {{1, 1, -9.81, PSDM_OK},          {1, 7, -9.81, PSDM_OK},     {1 + 1e-12, 1, -9.81, PSDM_OK},
               {1.001, 1, -9.81, PSDM_E_ROBOT}, {1, 1, 9.81, PSDM_E_ROBOT}, {1, 1, -1.62, PSDM_E_ROBOT}};
  psdm_robot *robot = arm_with(1, 1, -9.81), *larger = load_shipped("kuka_kr6");
  psdm_model *m = derive(robot, NULL, NULL);
  psdm_error error;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    psdm_robot *other = arm_with(cases[k].length, cases[k].mass, cases[k].gravity);
    assert_int_equal(psdm_model_match(m, other, &error), cases[k].expected);
    psdm_robot_free(other);
  }
  assert_true(psdm_model_signed(m));
  assert_int_equal(psdm_model_match(m, larger, &error), PSDM_E_ROBOT);
  m->robot = (psdmp_model_robot){0};
  assert_false(psdm_model_signed(m));
  assert_int_equal(psdm_model_match(m, robot, &error), PSDM_OK);
  assert_int_equal(psdm_model_match(m, larger, &error), PSDM_E_ROBOT); /* its names differ */
  psdm_model_free(m);
  psdm_robot_free(robot);
  psdm_robot_free(larger);
}

/* every function that takes a model and a robot refuses another robot and prints both fingerprints */
static void test_all_takers_match(void **unused) {
  (void)unused;
  psdm_robot *robot = arm_with(1, 1, -9.81), *other = arm_with(1.001, 1, -9.81);
  psdm_model *m = derive(robot, NULL, NULL);
  for (int taker = 0; taker < 5; taker++)
    for (int right = 0; right < 2; right++) {
      const psdm_robot *r = right ? robot : other;
      psdm_error error = {0};
      psdm_reducer *reducer = NULL;
      psdm_code *code = NULL;
      psdm_structure *structure = NULL;
      psdm_symbolic *symbolic = NULL;
      double L[100];
      const psdm_reduce_options options = {
          .profile = psdm_profile_slow(), .samples = 1000, .contributions = 1000, .threads = 1};
      const psdm_code_options expanded = {.effort = -1};
      psdm_status status = taker == 0   ? psdm_reducer_new(r, m, &options, NULL, &reducer, &error)
                           : taker == 1 ? psdm_code_build_model(r, m, &expanded, NULL, &code, &error)
                           : taker == 2 ? psdm_structure_new(r, m, true, NULL, &structure, &error)
                           : taker == 3 ? psdm_symbolic_derive(r, m, NULL, NULL, &symbolic, &error)
                                        : psdm_payload_map(r, m, psdm_robot_default_link(r, NULL), L, &error);
      if (status != (right ? PSDM_OK : PSDM_E_ROBOT))
        fail_msg("taker %d, %s robot: %s", taker, right ? "its own" : "another", error.text);
      if (!right) assert_non_null(strstr(error.text, "the model was made for robot"));
      psdm_reducer_free(reducer);
      psdm_code_free(code);
      psdm_structure_free(structure);
      psdm_symbolic_free(symbolic);
    }
  psdm_model_free(m);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

/* MATLAB's file: E and P as the toolbox shapes them, full */
static void test_mat(void **unused) {
  (void)unused;
  char path[64];
  snprintf(path, sizeof path, "/tmp/psdm-model-%ld.mat", (long)getpid());
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  psdm_model *m = derive(robot, NULL, NULL);
  psdm_error error;
  if (psdm_model_save(m, robot, path, &error)) fail_msg("%s", error.text);
  mat_t *file = Mat_Open(path, MAT_ACC_RDONLY);
  matvar_t *E = Mat_VarRead(file, "E"), *P = Mat_VarRead(file, "P"), *theta = Mat_VarRead(file, "theta");
  assert_true(E && P && theta);
  assert_true(E->dims[0] == 20 && E->dims[1] == 69 && P->rank == 3 && P->dims[0] == 69 && P->dims[1] == 8 &&
              P->dims[2] == 4 && theta->dims[0] == 8);
  /* tau_i = y P_i theta, from the file alone */
  double q[4] = {0.3, -0.7, 0.2, 1.1}, qd[4] = {1, -0.5, 0.4, 2}, qdd[4] = {0.2, 1, -3, 0.6}, expected[4];
  double base[20], *value = E->data, *p = P->data, *t = theta->data;
  psdm_work *work;
  assert_int_equal(psdm_work_new(robot, NULL, &work), PSDM_OK);
  psdm_inverse(robot, work, q, qd, qdd, expected);
  for (int j = 0; j < 4; j++)
    base[j] = q[j], base[4 + j] = sin(q[j]), base[8 + j] = cos(q[j]), base[12 + j] = qd[j], base[16 + j] = qdd[j];
  for (int i = 0; i < 4; i++) {
    double tau = 0;
    for (int f = 0; f < 69; f++) {
      double y = 1, rates = 0, shares = 0;
      for (int k = 0; k < 20; k++) y *= pow(base[k], value[20 * f + k]), rates += k >= 12 ? value[20 * f + k] : 0;
      if (rates == 0) y *= 9.81; /* gravity functions carry the factor in y */
      for (int j = 0; j < 8; j++) shares += p[f + 69 * (j + 8 * i)] * t[j];
      tau += y * shares;
    }
    assert_true(fabs(tau - expected[i]) < 1e-12);
  }
  Mat_VarFree(E);
  Mat_VarFree(P);
  Mat_VarFree(theta);
  Mat_Close(file);
  unlink(path);
  psdm_work_free(work, NULL);
  psdm_model_free(m);
  psdm_robot_free(robot);
}

static void test_allocation_failure(void **unused) {
  (void)unused;
  static const char *const names[] = {"fanuc_sr6ia", "parallelogram", "denso_vs6556g"};
  for (int r = 0; r < 3; r++) {
    psdm_robot *robot = load_shipped(names[r]);
    for (long n = 1;; n++) {
      counting c;
      psdm_model *model;
      counting_init(&c, n);
      psdm_status status = psdm_model_derive(robot, NULL, &c.allocator, &model, NULL, NULL);
      psdm_model_free(model);
      assert_int_equal(c.live, 0);
      if (status == PSDM_OK) break;
      assert_int_equal(status, PSDM_E_MEMORY);
      assert_true(n < 10000);
    }
    psdm_robot_free(robot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_published_counts),
      cmocka_unit_test(test_kr6_classes),
      cmocka_unit_test(test_first_links),
      cmocka_unit_test(test_two_link_functions),
      cmocka_unit_test(test_random_robots),
      cmocka_unit_test(test_small_offset),
      cmocka_unit_test(test_deterministic),
      cmocka_unit_test(test_object),
      cmocka_unit_test(test_full_parameters),
      cmocka_unit_test(test_allocation_failure),
      cmocka_unit_test(test_high_powers),
      cmocka_unit_test(test_save_and_load),
      cmocka_unit_test(test_match),
      cmocka_unit_test(test_all_takers_match),
      cmocka_unit_test(test_mat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
