/* The expanded method: every function of every shipped robot and of random ones against the recursions, and what it costs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/expanded.h"
#include "support.h"

enum { MOST = 12, STATES = 3 };

/* ---- a program and its inputs ---- */

typedef struct fixture {
  psdm_robot *robot;
  psdm_model *model;
  psdm_work *work;
  int n, l;
  double pi[400], theta[200];
  double *input; /* (blocks x PSDMP_BLOCK) */
} fixture;

static bool open_fixture(fixture *x, psdm_robot *robot) {
  *x = (fixture){.robot = robot};
  if (psdm_robot_ready(robot, NULL) || psdm_model_derive(robot, NULL, NULL, &x->model, NULL, NULL)) {
    psdm_robot_free(robot);
    return false;
  }
  x->n = psdm_model_n(x->model);
  x->l = psdm_model_l(x->model);
  x->input = calloc((size_t)PSDMP_IN_COUNT * PSDMP_BLOCK, sizeof *x->input);
  assert_int_equal(psdm_work_new(robot, NULL, &x->work), PSDM_OK);
  psdm_robot_parameters(robot, x->pi);
  psdm_model_theta(x->model, x->pi, x->theta);
  memcpy(x->input + PSDMP_IN_THETA * PSDMP_BLOCK, x->theta, (size_t)x->l * sizeof *x->theta);
  return true;
}

static void close_fixture(fixture *x) {
  free(x->input);
  psdm_work_free(x->work, NULL);
  psdm_model_free(x->model);
  psdm_robot_free(x->robot);
}

static double *block(fixture *x, int b) { return x->input + b * PSDMP_BLOCK; }

static void random_state(fixture *x, rng *g) {
  for (int i = 0; i < x->n; i++) {
    block(x, PSDMP_IN_Q)[i] = rng_uniform(g, -3, 3);
    block(x, PSDMP_IN_SINE)[i] = sin(block(x, PSDMP_IN_Q)[i]);
    block(x, PSDMP_IN_COSINE)[i] = cos(block(x, PSDMP_IN_Q)[i]);
    block(x, PSDMP_IN_QD)[i] = rng_uniform(g, -1, 1);
    block(x, PSDMP_IN_QDD)[i] = rng_uniform(g, -2, 2);
  }
  psdm_inverse(x->robot, x->work, block(x, PSDMP_IN_Q), block(x, PSDMP_IN_QD), block(x, PSDMP_IN_QDD), block(x, PSDMP_IN_TAU));
}

/* ---- the recursions' answer ---- */

static void expected(fixture *x, psdm_code_function f, const psdm_code_options *o, double *out, size_t outputs) {
  const double *q = block(x, PSDMP_IN_Q), *qd = block(x, PSDMP_IN_QD), *qdd = block(x, PSDMP_IN_QDD);
  int n = x->n, l = x->l;
  switch (f) {
    case PSDM_CODE_INVERSE: psdm_inverse(x->robot, x->work, q, qd, qdd, out); break;
    case PSDM_CODE_GRAVITY: psdm_gravity(x->robot, x->work, q, out); break;
    case PSDM_CODE_BIAS: psdm_bias(x->robot, x->work, q, qd, out); break;
    case PSDM_CODE_MASS: psdm_mass(x->robot, x->work, q, out); break;
    case PSDM_CODE_ENERGY: psdm_energy(x->robot, x->work, q, qd, &out[0], &out[1]); break;
    case PSDM_CODE_REGRESSOR: {
      int columns = (int)outputs / n;
      double *scratch = calloc(psdm_model_scratch(x->model), sizeof *scratch), *Y = calloc((size_t)(n * l), sizeof *Y);
      psdm_model_y(x->model, q, qd, qdd, scratch);
      psdm_model_regressor(x->model, PSDM_PART_ALL, scratch, Y);
      memset(out, 0, outputs * sizeof *out);
      for (int i = 0; i < n; i++) {
        double *row = out + i * columns;
        memcpy(row, Y + i * l, (size_t)l * sizeof *row);
        if (o->friction_columns) row[l + i] = (qd[i] > 0) - (qd[i] < 0), row[l + n + i] = qd[i];
        if (o->drive_columns) row[columns - n + i] = qdd[i];
      }
      free(Y);
      free(scratch);
      break;
    }
    default: break;
  }
}

/* relative error of one function over some states; forward by putting the accelerations back */
static double error_of(fixture *x, rng *g, const psdmp_program *p, const psdm_code_options *o) {
  double worst = 0, *out = calloc(p->outputs, sizeof *out), *want = calloc(p->outputs, sizeof *want);
  double *scratch = calloc(psdm_graph_size(p->graph) + 1, sizeof *scratch);
  for (int k = 0; k < STATES; k++) {
    random_state(x, g);
    psdm_graph_evaluate(p->graph, x->input, p->output, p->outputs, scratch, out);
    if (p->function == PSDM_CODE_FORWARD) {
      memcpy(want, block(x, PSDMP_IN_TAU), (size_t)x->n * sizeof *want);
      double qdd[MOST];
      memcpy(qdd, out, (size_t)x->n * sizeof *qdd);
      psdm_inverse(x->robot, x->work, block(x, PSDMP_IN_Q), block(x, PSDMP_IN_QD), qdd, out);
    } else {
      expected(x, p->function, o, want, p->outputs);
    }
    if (p->function == PSDM_CODE_ENERGY && o->theta_argument) { /* then the potential is counted from q = 0 */
      double zero[MOST] = {0}, T, U;
      psdm_energy(x->robot, x->work, zero, zero, &T, &U);
      out[1] += U;
    }
    double scale = max_absolute(want, (int)p->outputs);
    double error = max_difference(out, want, (int)p->outputs) / (scale > 0 ? scale : 1);
    if (!(error <= worst)) worst = error;
  }
  free(out);
  free(want);
  free(scratch);
  return worst;
}

static psdmp_program build(fixture *x, psdm_code_function f, const psdm_code_options *o, psdmp_arena *arena) {
  psdmp_program p;
  psdm_error error;
  if (psdmp_build_expanded(x->robot, x->model, x->theta, o, f, 0, arena, &p, &error)) fail_msg("%s", error.text);
  assert_non_null(p.graph);
  assert_string_equal(p.method, "expanded");
  assert_int_equal(psdm_graph_cost(p.graph, p.output, p.outputs, &p.cost), PSDM_OK);
  return p;
}

static const psdm_code_function functions[] = {PSDM_CODE_INVERSE, PSDM_CODE_GRAVITY,   PSDM_CODE_BIAS,  PSDM_CODE_MASS,
                                               PSDM_CODE_FORWARD, PSDM_CODE_REGRESSOR, PSDM_CODE_ENERGY};

static void check_all(fixture *x, rng *g, const psdm_code_options *o, const char *name, double tolerance, bool tell) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
    psdmp_arena arena = {0};
    psdmp_program p = build(x, functions[k], o, &arena);
    double error = error_of(x, g, &p, o);
    if (tell) printf("%-14s %-10s %5ld+%-5ld %ld div, error %.1e\n", name, p.name, p.cost.mult, p.cost.add, p.cost.div, error);
    if (!(error <= tolerance)) fail_msg("%s, %s: error %.3g", name, p.name, error);
    psdm_graph_free(p.graph);
    psdmp_arena_free(&arena);
  }
}

/* ---- tests ---- */

static void test_shipped(void **unused) {
  (void)unused;
  const psdm_code_options options[] = {{0}, {.theta_argument = true, .sincos = PSDM_SINCOS_CALLER, .friction_columns = true, .drive_columns = true}};
  rng g = rng_start("expanded");
  for (const char *const *name = shipped_robots; *name; name++)
    for (int k = 0; k < 2; k++) {
      fixture x;
      if (!open_fixture(&x, load_shipped(*name))) continue;
      if (k && x.n > 6) { /* parameters as arguments take longest: once is enough */
        close_fixture(&x);
        continue;
      }
      check_all(&x, &g, &options[k], *name, 1e-13, true);
      close_fixture(&x);
    }
}

static void test_random_robots(void **unused) {
  (void)unused;
  rng g = rng_start("expanded, random robots");
  static char text[64 * 1024];
  for (int k = 0; k < 60; k++) {
    random_options options = {1, k % 10 ? 3 : 4, k % 3 == 0, k % 2, true, true};
    const psdm_code_options o = {.theta_argument = k % 4 == 1, .sincos = k % 5 ? PSDM_SINCOS_LIBM : PSDM_SINCOS_CALLER, .drive_columns = k % 7 == 0};
    fixture x;
    if (!open_fixture(&x, parse_robot(random_robot_text(&g, &options, text, sizeof text)))) continue;
    check_all(&x, &g, &o, text, 1e-12, false);
    close_fixture(&x);
  }
}

/* at or below what a prototype found, which is below what the paper found */
static void test_counts(void **unused) {
  (void)unused;
  static const struct floor {
    const char *name;
    long found, mult, add; /* mult + add; the paper's Table 2 */
  } floors[] = {{"two_link", 18 + 12, 23, 12}, {"fanuc_sr6ia", 63 + 51, 126, 84}, {"kuka_kr6", 945 + 1063, 6043, 4142}, {"kuka_lbr7", 1188 + 1364, 18387, 13981}};
  for (size_t k = 0; k < sizeof floors / sizeof *floors; k++) {
    fixture x;
    psdmp_arena arena = {0};
    assert_true(open_fixture(&x, load_shipped(floors[k].name)));
    psdmp_program p = build(&x, PSDM_CODE_INVERSE, &(psdm_code_options){0}, &arena);
    printf("%s: inverse %ld+%ld\n", floors[k].name, p.cost.mult, p.cost.add);
    assert_true(p.cost.mult + p.cost.add <= floors[k].found);
    assert_true(p.cost.mult + p.cost.add <= floors[k].mult + floors[k].add);
    psdm_graph_free(p.graph);
    psdmp_arena_free(&arena);
    close_fixture(&x);
  }
}

static void test_refusals(void **unused) {
  (void)unused;
  fixture x;
  psdmp_arena arena = {0};
  psdmp_program p;
  psdm_error error;
  assert_true(open_fixture(&x, load_shipped("two_link")));
  const psdm_code_options plain = {0}, gravity = {.gravity_argument = true}, payload = {.payload_argument = true}, wrench = {.wrench_argument = true};
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, x.theta, &plain, PSDM_CODE_POSE, 0, &arena, &p, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "recursive method"));
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, x.theta, &gravity, PSDM_CODE_INVERSE, 0, &arena, &p, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "gravity's direction"));
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, x.theta, &payload, PSDM_CODE_INVERSE, 0, &arena, &p, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, x.theta, &wrench, PSDM_CODE_BIAS, 0, &arena, &p, &error), PSDM_E_ARGUMENT);
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, NULL, &plain, PSDM_CODE_INVERSE, 0, &arena, &p, &error), PSDM_E_MISSING);
  /* a limit that cannot be met is no failure */
  assert_int_equal(psdmp_build_expanded(x.robot, x.model, x.theta, &plain, PSDM_CODE_INVERSE, 5, &arena, &p, &error), PSDM_OK);
  assert_null(p.graph);
  psdmp_arena_free(&arena);
  close_fixture(&x);
}

/* every allocation fails once, and nothing is lost */
static void test_memory(void **unused) {
  (void)unused;
  fixture x;
  assert_true(open_fixture(&x, load_shipped("two_link")));
  const psdm_code_options o = {0};
  psdm_status status = PSDM_E_MEMORY;
  long k = 0;
  for (k = 1; status && k < 100000; k += 1 + k / 7) {
    counting c;
    psdmp_program p;
    counting_init(&c, k);
    psdmp_arena arena = {.allocator = &c.allocator};
    status = psdmp_build_expanded(x.robot, x.model, x.theta, &o, PSDM_CODE_FORWARD, 0, &arena, &p, NULL);
    assert_true(status == PSDM_OK || status == PSDM_E_MEMORY);
    if (!status) psdm_graph_free(p.graph);
    psdmp_arena_free(&arena);
    assert_int_equal(c.live, 0);
  }
  assert_int_equal(status, PSDM_OK);
  close_fixture(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_refusals), cmocka_unit_test(test_shipped),
                                     cmocka_unit_test(test_random_robots), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
