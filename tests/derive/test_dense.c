/* The dense derivation beside the exact one: search sizes, Example 5 of Lloyd, Irani, Ahmadi (2021), the same functions
 * and coefficients on every robot, any sampler, both bases. Run as "test_dense --sampler ROBOT" the program is an
 * external sampler. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "derive/dense_priv.h"
#include "psdm/results.h"
#include "support.h"

static const char *const example5[] = {"ry1 = 0",  "rz1 = 0",  "Ixx1 = 0", "Iyy1 = 0", "Ixy1 = 0",
                                       "Ixz1 = 0", "Iyz1 = 0", "ry2 = 0",  "rz2 = 0",  "Ixx2 = 0",
                                       "Iyy2 = 0", "Ixy2 = 0", "Ixz2 = 0", "Iyz2 = 0"};
static const char *const table1[] = {"ry1=0", "Ixy1=0", "Iyz1=0", "ry2=0",  "Ixy2=0", "Iyz2=0", "rx3=0",
                                     "ry3=0", "Izz3=0", "Ixy3=0", "Ixz3=0", "Iyz3=0", "Ixy4=0", "Ixz4=0"};

static psdm_model *derive(const psdm_robot *robot, psdm_derive_options options, psdm_method method, psdm_basis basis,
                          psdm_derive_info *info) {
  psdm_model *model;
  psdm_error error;
  options.method = method;
  options.basis = basis;
  if (psdm_model_derive(robot, &options, NULL, &model, info, &error)) fail_msg("%s", error.text);
  return model;
}

/* ---- search ---- */

/* functions in all systems, given the acceleration functions that a derivation found */
static long search_total(const psdm_robot *robot, const psdm_model *m) {
  psdmp_derive_space space;
  psdmp_derive_space_set(robot, m, &space);
  unsigned char *candidate = calloc((size_t)space.codes, 1);
  long total = 0;
  for (long f = psdm_model_class_start(m, 1); f < psdm_model_class_start(m, 1 + m->n); f++)
    psdmp_derive_search_derivatives(&space, m->code[f], candidate);
  for (int k = 0; k < m->classes; k++) {
    int first, second;
    psdm_model_class_rates(m, k, &first, &second);
    total += psdmp_derive_search(&space, first, second, second >= 0 ? candidate : NULL, NULL);
  }
  free(candidate);
  return total;
}

TEST(test_search_totals) {
  static const struct {
    const char *name;
    long total, largest; /* largest system, as Table 2 has it: of the first joint's acceleration */
  } robots[] = {{"two_link", 26, 5}, {"fanuc_sr6ia", 312, 75}, {"kuka_kr6", 23880, 3125}};
  for (int i = 0; i < 3; i++) {
    psdm_robot *robot = load_shipped(robots[i].name);
    psdm_model *m = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_EXACT, PSDM_BASIS_STANDARD, NULL);
    psdmp_derive_space space;
    psdmp_derive_space_set(robot, m, &space);
    assert_int_equal(search_total(robot, m), robots[i].total);
    assert_int_equal(psdmp_derive_search(&space, 0, -1, NULL, NULL), robots[i].largest);
    psdm_model_free(m);
    psdm_robot_free(robot);
  }
}

/* what the result says, counted one by one, also on a tree */
TEST(test_largest_system) {
  static const char *const robots[] = {"two_link", "two_branch", "fanuc_sr6ia", "kuka_kr6"};
  for (int i = 0; i < 4; i++) {
    psdm_robot *robot = load_shipped(robots[i]);
    psdm_derive_info info;
    psdm_model *m = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_EXACT, PSDM_BASIS_STANDARD, &info);
    psdm_derive_result *r;
    psdmp_derive_space space;
    long largest = 0;
    psdmp_derive_space_set(robot, m, &space);
    for (int j = 0; j < m->n; j++) {
      long size = psdmp_derive_search(&space, j, -1, NULL, NULL);
      if (size > largest) largest = size;
    }
    assert_int_equal(psdm_derive_result_new(robot, m, NULL, &info, 0, NULL, &r, NULL), PSDM_OK);
    assert_true(r->plain->largest_system == (double)largest);
    psdm_result_free(&r->head);
    psdm_model_free(m);
    psdm_robot_free(robot);
  }
}

/* systems in blocks find the coefficients that made the samples, of revolute and sliding joints, also where a class has
 * degree one in some of them; and refuse functions that are not all products */
TEST(test_blocks) {
  static const char *const robots[] = {"fanuc_sr6ia", "kuka_kr6"};
  enum { COLUMNS = 2 };
  rng g = rng_start("blocks");
  for (int i = 0; i < 2; i++)
    for (int class = 0; class < 3; class ++) {
      psdm_robot *robot = load_shipped(robots[i]);
      psdm_model *m = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_EXACT, PSDM_BASIS_STANDARD, NULL);
      psdmp_derive_space space;
      psdmp_derive_blocks b;
      psdmp_base_arena arena = {0};
      psdmp_derive_space_set(robot, m, &space);
      long count = psdmp_derive_search(&space, class - 1, -1, NULL, NULL);
      uint64_t *code = calloc((size_t)count, sizeof *code);
      double *q = calloc((size_t)(count * m->n), sizeof *q), *B = calloc((size_t)(COLUMNS * count), sizeof *B),
             *X = calloc((size_t)(COLUMNS * count), sizeof *X), *want = calloc((size_t)(COLUMNS * count), sizeof *want);
      psdmp_derive_search(&space, class - 1, -1, NULL, code);
      assert_true(psdmp_derive_blocks_set(&space, count, code, 7, &b));
      assert_true(b.size[0] * b.size[1] == count && b.size[0] * b.size[0] <= 25 * count);
      psdmp_derive_blocks_positions(&space, &b, 1.5, q);
      for (long f = 0; f < count; f += 1 + f % 7)
        for (int c = 0; c < COLUMNS; c++) want[c * count + f] = rng_uniform(&g, -1, 1);
      for (long t = 0; t < count; t++)
        for (long f = 0; f < count; f++) {
          double y = 1;
          if (want[f] == 0) continue;
          for (int j = 0; j < m->n; j++) {
            double x = q[t * m->n + j], s = m->prismatic[j] ? x / 1.5 : sin(x), k = m->prismatic[j] ? s * s : cos(x);
            const double basis[] = {1, s, k, s * k, k * k};
            y *= basis[psdmp_derive_space_digit(&space, code[f], j)];
          }
          for (int c = 0; c < COLUMNS; c++) B[c * count + t] += want[c * count + f] * y;
        }
      assert_true(psdmp_derive_blocks_solve(&space, &b, 1.5, COLUMNS, B, X, &arena));
      assert_true(max_difference(X, want, (int)(COLUMNS * count)) < 1e-11);
      if (count > 2) assert_false(psdmp_derive_blocks_set(&space, count - 1, code, 7, &b));
      psdmp_base_arena_free(&arena);
      free(code), free(q), free(B), free(X), free(want);
      psdm_model_free(m);
      psdm_robot_free(robot);
    }
}

/* ---- Example 5 ---- */

static double entry_of(const psdm_model *m, long f, int joint, int parameter) {
  for (long e = m->P_start[f]; e < m->P_start[f + 1]; e++)
    if (m->P[e].joint == joint && m->P[e].parameter == parameter) return m->P[e].value;
  return 0;
}

/* Equation 54 row by row as printed. Its rows belong to these functions, in another order than equation 53's, and its
 * columns to the coefficients of g c1, qdd1 and qdd2 in torque 1, and of g s1 s2. Our columns are in the order of their
 * rows: g s1 s2 first. */
static void expect_equation_54(const psdm_model *m) {
  static const char *const function[] = {"g c1", "g s1 s2", "g c1 c2",  "qdd1",     "c2 qdd1",
                                         "qdd2", "c2 qdd2", "s2 qd1^2", "s2 qd2^2", "s2 qd1 qd2"};
  static const double P[2][10][4] = {{{1, 0, 0, 0},
                                      {0, 0, 0, 1},
                                      {0, 0, 0, -1},
                                      {0, 1, 0, 0},
                                      {0, 0, 0, -2.4},
                                      {0, 0, 1, 0},
                                      {0, 0, 0, -1.2},
                                      {0, 0, 0, 0},
                                      {0, 0, 0, 1.2},
                                      {0, 0, 0, 2.4}},
                                     {{0, 0, 0, 0},
                                      {0, 0, 0, 1},
                                      {0, 0, 0, -1},
                                      {0, 0, 1, 0},
                                      {0, 0, 0, -1.2},
                                      {0, 0, 1, 0},
                                      {0, 0, 0, 0},
                                      {0, 0, 0, -1.2},
                                      {0, 0, 0, 0},
                                      {0, 0, 0, 0}}};
  static const int column[4] = {1, 2, 3, 0};
  assert_int_equal(psdm_model_p(m), 10);
  assert_int_equal(psdm_model_l(m), 4);
  for (int k = 0; k < 10; k++) {
    long f = 0;
    char text[64];
    while (f < 10 && strcmp(psdm_model_function_text(m, f, text, sizeof text), function[k]) != 0) f++;
    if (f == 10) fail_msg("no function %s", function[k]);
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 4; j++) {
        double got = entry_of(m, f, i, column[j]);
        if (!(fabs(got - P[i][k][j]) <= 1e-12))
          fail_msg("P_%d, %s, column %d: %.15g, printed %g", i + 1, function[k], j + 1, got, P[i][k][j]);
      }
  }
}

TEST(test_example_5) {
  static const char *const E[] = {"0011000000", "0000100000", "0000110000", "0000000010", "0000010010",
                                  "0000000001", "0000010001", "0001002000", "0001000200", "0001001100"};
  const psdm_derive_options options = {.assume_count = 14, .assume = example5};
  psdm_robot *robot = load_shipped("two_link");
  for (int method = 0; method < 2; method++) {
    psdm_derive_info info;
    psdm_model *m = derive(robot, options, method ? PSDM_METHOD_DENSE : PSDM_METHOD_EXACT, PSDM_BASIS_ECHELON, &info);
    expect_equation_54(m);
    for (int f = 0; f < 10; f++) {
      unsigned char e[10];
      psdm_model_exponents(m, f, e);
      for (int i = 0; i < 10; i++) assert_int_equal(e[i], E[f][i] - '0');
    }
    assert_string_equal(psdm_model_base_name(m, 0), "theta1");
    assert_string_equal(psdm_model_base_name(m, 3), "theta4");
    /* theta3 is qdd1's coefficient: ZZ1 + 2 * 1.2 mx1 + ... at the first joint, of bodies 1 and 2 */
    int terms = psdm_model_base_terms(m, 2), parameter;
    assert_true(terms > 2 && psdm_model_base_term(m, 2, 0, &parameter) > 0);
    if (method) assert_int_equal(info.searched, 26);
    psdm_model_free(m);
  }
  psdm_robot_free(robot);
}

/* ---- twins ---- */

static double largest_entry(const psdm_model *m) {
  double size = 0;
  for (long e = 0; e < psdm_model_entries(m); e++) size = fmax(size, fabs(m->P[e].value));
  return size;
}

/* the same functions in the same order, the same base parameters, the same P */
static void expect_same(const psdm_model *a, const psdm_model *b, const char *text) {
  if (psdm_model_p(a) != psdm_model_p(b) || psdm_model_l(a) != psdm_model_l(b))
    fail_msg("p %ld and %ld, l %d and %d for\n%s", psdm_model_p(a), psdm_model_p(b), psdm_model_l(a), psdm_model_l(b),
             text);
  double tiny = 1e-2 * largest_entry(a);
  for (int k = 0; k <= a->classes; k++) assert_int_equal(a->class_start[k], b->class_start[k]);
  for (int j = 0; j < a->l; j++) assert_string_equal(psdm_model_base_name(a, j), psdm_model_base_name(b, j));
  for (long f = 0; f < a->p; f++) {
    if (a->code[f] != b->code[f]) fail_msg("function %ld differs for\n%s", f, text);
    for (int i = 0; i < a->n; i++)
      for (int j = 0; j < a->l; j++) {
        double x = entry_of(a, f, i, j), y = entry_of(b, f, i, j);
        if (!(fabs(x - y) <= 1e-8 * fmax(fabs(x), tiny)))
          fail_msg("P[%ld][%d][%d]: %.15g and %.15g for\n%s", f, i, j, x, y, text);
      }
  }
}

/* theta is the same combination of standard parameters, within the smallest share that decided a rank */
static void expect_same_theta(const psdm_model *a, const psdm_model *b, double smallest, rng *g, const char *text) {
  double pi[11 * PSDMP_DERIVE_DENSE_JOINTS], x[11 * PSDMP_DERIVE_DENSE_JOINTS], y[11 * PSDMP_DERIVE_DENSE_JOINTS];
  for (int k = 0; k < a->standard; k++) pi[k] = rng_uniform(g, -1, 1);
  psdm_model_theta(a, pi, x);
  psdm_model_theta(b, pi, y);
  double limit = fmax(1e-6, 1e-12 / smallest) * max_absolute(x, a->l);
  if (!(max_difference(x, y, a->l) <= limit))
    fail_msg("theta differs by %.3g, at most %.3g was expected, for\n%s", max_difference(x, y, a->l), limit, text);
}

static void expect_torques(const psdm_robot *robot, const psdm_model *m, const psdm_derive_options *options,
                           const char *method, const char *text) {
  double residual;
  assert_int_equal(psdm_model_check(robot, m, options, 20, NULL, &residual, NULL), PSDM_OK);
  if (!(residual <= 1e-11)) fail_msg("%s: torque error %.3g for\n%s", method, residual, text);
}

/* False when the dense method reports that zero and non-zero are not far apart: a millimetre between axes, a hundredth
 * of a radian; then the counts need not agree. */
static bool expect_twins(const psdm_robot *robot, psdm_derive_options options, rng *g, const char *text) {
  bool clear = true;
  for (int basis = 0; basis < 2 && clear; basis++) {
    psdm_derive_info info;
    psdm_model *exact = derive(robot, options, PSDM_METHOD_EXACT, (psdm_basis)basis, NULL);
    psdm_model *dense = derive(robot, options, PSDM_METHOD_DENSE, (psdm_basis)basis, &info);
    clear = info.kept > 1e3 * info.dropped && info.rank_kept > 1e3 * info.rank_dropped;
    if (clear) {
      expect_same(exact, dense, text);
      expect_torques(robot, dense, &options, "dense", text);
      expect_torques(robot, exact, &options, "exact", text);
      expect_same_theta(exact, dense, info.rank_kept, g, text);
    }
    psdm_model_free(exact);
    psdm_model_free(dense);
  }
  return clear;
}

TEST(test_shipped_robots) {
  rng g = rng_start("dense, shipped");
  psdm_robot *two = load_shipped("two_link"), *scara = load_shipped("fanuc_sr6ia"),
             *branch = load_shipped("two_branch");
  assert_true(expect_twins(two, (psdm_derive_options){0}, &g, "two_link"));
  assert_true(expect_twins(scara, (psdm_derive_options){0}, &g, "fanuc_sr6ia"));
  assert_true(expect_twins(two, (psdm_derive_options){.assume_count = 14, .assume = example5}, &g, "two_link, planar"));
  assert_true(
      expect_twins(scara, (psdm_derive_options){.assume_count = 14, .assume = table1}, &g, "fanuc_sr6ia, table 1"));
  if (!psdm_robot_coupled(branch) && psdm_robot_n(branch) <= 4)
    assert_true(expect_twins(branch, (psdm_derive_options){0}, &g, "two_branch"));
  psdm_robot_free(two);
  psdm_robot_free(scara);
  psdm_robot_free(branch);
}

static void expect_random_twins(rng *g, int count, const random_options *options) {
  static char text[64 * 1024];
  int unclear = 0;
  for (int k = 0; k < count; k++) {
    psdm_robot *robot = parse_robot(random_robot_text(g, options, text, sizeof text));
    unclear += !expect_twins(robot, (psdm_derive_options){0}, g, text);
    psdm_robot_free(robot);
  }
  printf("%d robots, %d of them unclear\n", count, unclear);
  assert_true(unclear <= 1 + count / 20);
}

/* joints of both kinds, any axes, any gravity, drives, no alignment in half of the angles */
TEST(test_random_robots) {
  rng g = rng_start("dense, random");
  expect_random_twins(&g, 60, &(random_options){1, 4, false, false, true, true});
  expect_random_twins(&g, 10, &(random_options){3, 4, false, false, false, true});
  expect_random_twins(&g, 3, &(random_options){5, 5, false, false, true, true});
}

TEST(test_random_trees) {
  rng g = rng_start("dense, trees");
  expect_random_twins(&g, 15, &(random_options){2, 4, false, true, true, true});
}

/* without gravity there are no gravity functions, and the rates have a size of their own */
TEST(test_no_gravity) {
  rng g = rng_start("dense, no gravity");
  char path[512];
  const double none[3] = {0};
  psdm_robot *robot;
  const psdm_robot_options read = {.gravity = none};
  snprintf(path, sizeof path, "%s/robots/fanuc_sr6ia.yaml", getenv("SOURCE") ? getenv("SOURCE") : ".");
  assert_int_equal(psdm_robot_load(path, &read, NULL, &robot, NULL), PSDM_OK);
  assert_true(expect_twins(robot, (psdm_derive_options){0}, &g, "fanuc without gravity"));
  psdm_robot_free(robot);
}

/* ---- samplers ---- */

typedef struct caller {
  const psdm_robot *robot;
  psdm_work *work;
  long calls, fail_at;
  double scale; /* NAN spoils the answer */
} caller;

static psdm_status sample(void *user, const double *q, const double *qd, const double *qdd, const double *pi,
                          double *tau) {
  caller *c = user;
  int n = psdm_robot_n(c->robot), S = psdm_robot_parameter_count(c->robot);
  double Y[PSDMP_DERIVE_DENSE_JOINTS * 11 * PSDMP_DERIVE_DENSE_JOINTS];
  if (++c->calls == c->fail_at) return PSDM_E_SINGULAR;
  psdm_status status = psdm_regressor_standard(c->robot, c->work, q, qd, qdd, Y);
  for (int i = 0; i < n && !status; i++) {
    tau[i] = 0;
    for (int k = 0; k < S; k++) tau[i] += Y[i * S + k] * pi[k] * c->scale;
  }
  return status;
}

static void expect_failure(const psdm_robot *robot, psdm_derive_options options, psdm_status expected,
                           const char *words) {
  psdm_model *model;
  psdm_error error;
  options.method = PSDM_METHOD_DENSE;
  psdm_status status = psdm_model_derive(robot, &options, NULL, &model, NULL, &error);
  if (status != expected || model || !strstr(error.text, words))
    fail_msg("status %d, '%s'; '%s' was expected", status, error.text, words);
}

TEST(test_callback) {
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  caller c = {.robot = robot, .scale = 1};
  assert_int_equal(psdm_work_new(robot, NULL, &c.work), PSDM_OK);
  psdm_derive_options called = {.sampler = sample, .sampler_user = &c};
  psdm_model *own = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_DENSE, PSDM_BASIS_STANDARD, NULL);
  psdm_model *model = derive(robot, called, PSDM_METHOD_DENSE, PSDM_BASIS_STANDARD, NULL);
  expect_same(own, model, "callback");
  assert_true(c.calls > 69);
  psdm_model_free(model);

  /* a model of something else: the same robot, twice as heavy */
  c.scale = 2;
  model = derive(robot, called, PSDM_METHOD_DENSE, PSDM_BASIS_STANDARD, NULL);
  assert_true(fabs(entry_of(model, 5, 0, 0) - 2 * entry_of(own, 5, 0, 0)) <= 1e-10);
  psdm_model_free(model);

  c.fail_at = c.calls + 100;
  expect_failure(robot, called, PSDM_E_SINGULAR, "the sampler failed");
  c.scale = NAN;
  expect_failure(robot, called, PSDM_E_ARGUMENT, "not a finite number");
  psdm_model_free(own);
  psdm_work_free(c.work, NULL);
  psdm_robot_free(robot);
}

static const char *self; /* this program */

TEST(test_command) {
  char command[2200];
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  snprintf(command, sizeof command, "'%s' --sampler '%s/robots/fanuc_sr6ia.yaml'", self,
           getenv("SOURCE") ? getenv("SOURCE") : ".");
  psdm_model *own = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_DENSE, PSDM_BASIS_STANDARD, NULL);
  psdm_model *model =
      derive(robot, (psdm_derive_options){.sampler_command = command}, PSDM_METHOD_DENSE, PSDM_BASIS_STANDARD, NULL);
  expect_same(own, model, "command");
  psdm_model_free(own);
  psdm_model_free(model);

  static const struct {
    const char *command, *words;
    psdm_status status;
  } bad[] = {{"exit 7", "ended with exit code 7", PSDM_E_IO},
             {"echo tau1,tau2,tau3,tau4; kill -9 $$", "fewer rows", PSDM_E_PARSE},
             {"exec 1>&-; sleep 0.2; exit 7", "ended with exit code 7", PSDM_E_IO}, /* it is waited for */
             {"no-such-program-anywhere 2>/dev/null", "ended with exit code 127", PSDM_E_IO},
             {"cat > /dev/null", "header", PSDM_E_PARSE},
             {"cat > /dev/null; echo tau1,tau2,tau3", "no column 'tau4'", PSDM_E_PARSE},
             {"echo tau1,tau2,tau3,tau4; echo 1,2,3,4", "fewer rows", PSDM_E_PARSE},
             {"echo tau1,tau2,tau3,tau4; yes 1,2,3,4 | head -n 2000", "more rows", PSDM_E_PARSE},
             {"echo tau1,tau2,tau3,tau4; echo 1,2,x,4", "x", PSDM_E_PARSE}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_failure(robot, (psdm_derive_options){.sampler_command = bad[i].command}, bad[i].status, bad[i].words);
  strcat(command, "; kill -9 $$"); /* a complete answer, but a failing exit code */
  expect_failure(robot, (psdm_derive_options){.sampler_command = command}, PSDM_E_IO, "was killed by signal 9");
  psdm_robot_free(robot);
}

/* reads the request from standard input and answers, like an external program */
static int be_sampler(const char *path) {
  psdm_robot *robot;
  psdm_csv *csv;
  if (psdm_robot_load(path, NULL, NULL, &robot, NULL) || psdm_csv_open("-", NULL, &csv, NULL)) return 2;
  int n = psdm_robot_n(robot);
  caller c = {.robot = robot, .scale = 1};
  double row[3 * PSDMP_DERIVE_DENSE_JOINTS + 11 * PSDMP_DERIVE_DENSE_JOINTS], tau[PSDMP_DERIVE_DENSE_JOINTS];
  bool more = true;
  if (psdm_work_new(robot, NULL, &c.work) || psdm_csv_columns(csv) != 3 * n + psdm_robot_parameter_count(robot) ||
      psdm_csv_find(csv, "mx2") != 3 * n + 11)
    return 2;
  for (int i = 0; i < n; i++) printf("%stau%d", i ? "," : "", i + 1);
  printf("\n");
  while (!psdm_csv_row(csv, row, &more, NULL) && more) {
    if (sample(&c, row, row + n, row + 2 * n, row + 3 * n, tau)) return 2;
    for (int i = 0; i < n; i++) printf("%s%.17g", i ? "," : "", tau[i]);
    printf("\n");
  }
  psdm_csv_close(csv);
  psdm_work_free(c.work, NULL);
  psdm_robot_free(robot);
  return more;
}

/* ---- limits, progress, memory ---- */

static bool stop_after(void *user, const char *doing, double share) {
  assert_true(doing && doing[0]);
  int *left = user;
  assert_true(share > 0 && share <= 1);
  return (*left)-- > 0;
}

TEST(test_refusals) {
  psdm_robot *coupled = load_shipped("parallelogram"), *scara = load_shipped("fanuc_sr6ia");
  int left = 3;
  expect_failure(coupled, (psdm_derive_options){0}, PSDM_E_ROBOT, "independent");
  expect_failure(scara, (psdm_derive_options){.progress = stop_after, .progress_user = &left}, PSDM_E_STOPPED,
                 "stopped");
  assert_int_equal(left, -1);
  const char *const wrong[] = {"Ixx9 = 0"};
  expect_failure(scara, (psdm_derive_options){.assume_count = 1, .assume = wrong}, PSDM_E_PARSE, "Ixx9");
  psdm_robot_free(coupled);
  psdm_robot_free(scara);
}

/* the same bytes every time */
TEST(test_deterministic) {
  psdm_robot *robot = load_shipped("fanuc_sr6ia");
  psdm_model *a = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_DENSE, PSDM_BASIS_ECHELON, NULL);
  psdm_model *b = derive(robot, (psdm_derive_options){0}, PSDM_METHOD_DENSE, PSDM_BASIS_ECHELON, NULL);
  assert_int_equal(psdm_model_entries(a), psdm_model_entries(b));
  for (long e = 0; e < psdm_model_entries(a); e++) assert_true(a->P[e].value == b->P[e].value);
  psdm_model_free(a);
  psdm_model_free(b);
  psdm_robot_free(robot);
}

/* every allocation fails once: an answer or an error, and nothing leaks */
TEST(test_allocation_failure) {
  psdm_robot *robot = load_shipped("two_link");
  const psdm_derive_options options = {
      .method = PSDM_METHOD_DENSE, .basis = PSDM_BASIS_ECHELON, .assume_count = 14, .assume = example5};
  for (long fail_at = 1;; fail_at++) {
    counting c;
    psdm_model *model;
    psdm_error error;
    counting_init(&c, fail_at);
    psdm_status status = psdm_model_derive(robot, &options, &c.allocator, &model, NULL, &error);
    if (status) assert_int_equal(status, PSDM_E_MEMORY);
    psdm_model_free(model);
    assert_int_equal(c.live, 0);
    if (!status) break;
    assert_true(fail_at < 10000);
  }
  psdm_robot_free(robot);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--sampler") == 0) return be_sampler(argv[2]);
  self = argv[0];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_search_totals),
      cmocka_unit_test(test_largest_system),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_example_5),
      cmocka_unit_test(test_shipped_robots),
      cmocka_unit_test(test_random_robots),
      cmocka_unit_test(test_random_trees),
      cmocka_unit_test(test_no_gravity),
      cmocka_unit_test(test_callback),
      cmocka_unit_test(test_command),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_deterministic),
      cmocka_unit_test(test_allocation_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
