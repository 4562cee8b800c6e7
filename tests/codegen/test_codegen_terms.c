/* Generated Coriolis matrices, momenta, small motions, sensitivities and functions of a task beside psdm_eval: random
 * robots with chains, trees, sliding and coupled joints and drives; frames, origins, zeros and formulas at random
 * (pick.h). */
#include "pick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "psdm/base_parameters.h"
#include "support.h"

enum { MOST = 9, SQUARE = MOST * MOST, STATES = 3 };

#ifdef SLOW_BUILD
enum { ROBOTS = 4 };
#else
enum { ROBOTS = 12 };
#endif

/* A robot, its code, and what both are asked for. */
typedef struct pair {
  psdm_robot *robot;
  psdm_work *work;
  psdm_linear *linear;
  psdm_model *model;
  psdm_code *code;
  psdm_compiled *compiled;
  psdm_code_options code_options;
  psdm_eval_options eval_options;
  double *theta, *scratch, *room;
  int n;
} pair;

static const unsigned all_terms = ((1u << PSDM_F_FRICTION) - 1) & ~((1u << PSDM_F_CORIOLIS) - 1);

static void set_up(pair *x, rng *g, const random_options *options) {
  static char text[65536];
  *x = (pair){.robot = parse_robot(random_robot_text(g, options, text, sizeof text))};
  x->n = psdm_robot_n(x->robot);
  assert_int_equal(psdm_work_new(x->robot, NULL, &x->work), PSDM_OK);
  assert_int_equal(psdm_linear_new(x->robot, NULL, &x->linear), PSDM_OK);
  assert_int_equal(psdm_base_parameters_derive(x->robot, NULL, NULL, &x->model, NULL, NULL), PSDM_OK);
  double *pi = calloc((size_t)psdm_robot_parameter_count(x->robot), sizeof *pi);
  x->theta = calloc((size_t)psdm_model_l(x->model) + 1, sizeof *x->theta);
  psdm_robot_parameters(x->robot, pi);
  psdm_model_theta(x->model, pi, x->theta);
  free(pi);
  x->scratch = calloc(psdm_eval_scratch(x->robot, x->model), sizeof *x->scratch);
}

/* a task of a moving link that leaves the robot some freedom, so that it is rarely singular */
static void choose(pair *x, rng *g) {
  int joint, m = 0, most = x->n < 3 ? 1 : 2;
  do joint = rng_int(g, 0, psdm_robot_joints(x->robot) - 1);
  while (!psdm_robot_moves(x->robot, joint));
  psdm_code_options *o = &x->code_options;
  while (m < 1 || m > most || m > x->n) m = psdm_directions_count(o->directions = (unsigned)rng_int(g, 1, 63));
  for (int i = 0; i < 3 && rng_int(g, 0, 2); i++) o->point[i] = rng_uniform(g, -0.3, 0.3);
  o->link = psdm_robot_link_name(x->robot, joint);
  o->functions = o->optional = all_terms;
  o->effort = -1;
  o->theta_argument = rng_int(g, 0, 1);
  o->gravity_argument = rng_int(g, 0, 1) && !o->theta_argument;
  if (o->gravity_argument && x->robot->coupled) o->functions &= ~(1u << PSDM_F_SENSITIVITY);
  o->sincos = rng_int(g, 0, 2) ? PSDM_SINCOS_POLYNOMIAL : PSDM_SINCOS_CALLER;
  x->eval_options = (psdm_eval_options){.link = o->link,
                                        .point = o->point,
                                        .directions = o->directions,
                                        .model = x->model,
                                        .scratch = x->scratch,
                                        .linear = x->linear};
}

static bool build(pair *x) {
  psdm_error error;
  psdm_status status = psdm_code_build(x->robot, &x->code_options, NULL, &x->code, &error);
  if (status) fail_msg("%s", error.text);
  const psdm_compile_options graph = {.graph = true};
  assert_int_equal(psdm_compile(x->code, &graph, NULL, &x->compiled, &error), PSDM_OK);
  x->room = calloc(psdm_compiled_scratch(x->compiled) + 1, sizeof *x->room);
  return psdm_code_count(x->code) > 0;
}

static void take_down(pair *x) {
  psdm_compiled_free(x->compiled);
  psdm_code_free(x->code);
  psdm_model_free(x->model);
  psdm_linear_free(x->linear, NULL);
  psdm_work_free(x->work, NULL);
  psdm_robot_free(x->robot);
  free(x->theta), free(x->scratch), free(x->room);
}

/* ---- one function at one state ---- */

/* the numbers of a group such as "dqd", -1: another argument */
static int group_of(psdm_function f, const char *name) {
  int k = 0;
  for (const char *at = psdm_function_inputs(f); *at; at += *at == ' ', k++) {
    size_t length = strcspn(at, " ");
    if (strlen(name) == length && strncmp(at, name, length) == 0) return k;
    at += length;
  }
  return -1;
}

static void call(const pair *x, psdm_function f, const double *in, double *out) {
  const void *arguments[16];
  void *results[3];
  double sine[MOST], cosine[MOST];
  for (int i = 0; i < x->n; i++) sine[i] = sin(in[i]), cosine[i] = cos(in[i]);
  for (int k = 0; k < psdm_compiled_arguments(x->compiled, f); k++) {
    const char *name = psdm_compiled_argument(x->compiled, f, k, NULL);
    int group = group_of(f, name);
    arguments[k] = strcmp(name, "theta") == 0     ? x->theta
                   : strcmp(name, "gravity") == 0 ? psdm_robot_gravity(x->robot)
                   : strcmp(name, "s") == 0       ? sine
                   : strcmp(name, "c") == 0       ? cosine
                                                  : in + group * x->n;
  }
  for (int k = 0, length; k < psdm_compiled_results(x->compiled, f); k++) {
    psdm_compiled_result(x->compiled, f, k, &length);
    results[k] = out;
    out += length;
  }
  assert_int_equal(psdm_compiled_call(x->compiled, f, arguments, results, x->room), PSDM_OK);
}

static double size_of(const double *M, int count) { return max_absolute(M, count); }

/* how much of a number M^-1, and the inverse of the task's J M^-1 J^T, may take */
static double loss_of(pair *x, psdm_function f, const double *in) {
  double M[SQUARE], Minv[SQUARE], Mp[36], Jbar[6 * MOST], J[6 * MOST], loss = 1;
  int n = x->n, m = psdm_directions_count(x->code_options.directions);
  if (f < PSDM_F_INNOVATIONS || f == PSDM_F_CARTESIAN_JACOBIAN) return 1;
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_MASS, NULL, in, M), PSDM_OK);
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_INVERSE_MASS, NULL, in, Minv), PSDM_OK);
  loss = n * size_of(M, n * n) * size_of(Minv, n * n);
  if (!psdm_function_is_task(f)) return loss;
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_CARTESIAN_MASS, &x->eval_options, in, Mp), PSDM_OK);
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_CARTESIAN_INVERSE, &x->eval_options, in, Jbar), PSDM_OK);
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_CARTESIAN_JACOBIAN, &x->eval_options, in, J), PSDM_OK);
  return loss * fmax(1, n * size_of(J, m * n) * size_of(J, m * n) * size_of(Minv, n * n) * size_of(Mp, m * m));
}

/* what forces of velocities about one are made of, where these cancel */
static double inertia_of(pair *x, const double *in) {
  double Mp[36];
  int m = psdm_directions_count(x->code_options.directions);
  assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_CARTESIAN_MASS, &x->eval_options, in, Mp), PSDM_OK);
  return size_of(Mp, m * m);
}

/* numbers that are compared are of the size of torques and of what is divided; those of one unit, roughly, together */
static void compare(pair *x, psdm_function f, rng *g) {
  int outputs = psdm_eval_outputs(x->robot, f, &x->eval_options);
  double in[9 * MOST], *right = malloc(sizeof *right * (size_t)outputs * 2), *got = right + outputs, tau[MOST],
                       least = psdm_function_is_task(f) ? 0 : 1;
  for (int s = 0; s < STATES; s++) {
    for (int i = 0; i < 9 * x->n; i++) in[i] = rng_uniform(g, -2, 2);
    psdm_status status = psdm_eval(x->robot, x->work, f, &x->eval_options, in, right);
    if (status == PSDM_E_SINGULAR) continue;
    assert_int_equal(status, PSDM_OK);
    double loss = loss_of(x, f, in);
    if (!(loss < 1e7)) continue;
    assert_int_equal(psdm_eval(x->robot, x->work, PSDM_F_INVERSE, NULL, in, tau), PSDM_OK);
    call(x, f, in, got);
    double size = fmax(max_absolute(right, outputs), least * max_absolute(tau, x->n)),
           error = max_difference(right, got, outputs);
    if (f == PSDM_F_CARTESIAN_NULL_SPACE) size = fmax(size, 1);
    if (f == PSDM_F_CARTESIAN_CORIOLIS || f == PSDM_F_CARTESIAN_FACTOR) size = fmax(size, inertia_of(x, in));
    if (!(error <= 1e-12 * fmax(1, loss / 10) * fmax(size, 1e-3)))
      fail_msg("%s: %g of %g, loss %g", psdm_function_name(f), error, size, loss);
  }
  free(right);
}

TEST(code_is_equal_to_the_recursions) {
  rng g = rng_start("code_is_equal_to_the_recursions");
  for (int k = 0; k < ROBOTS; k++) {
    pair x;
    set_up(&x, &g, &(random_options){1, 6, k % 2, k % 3 == 0, k % 4 > 1, k % 5 == 0});
    choose(&x, &g);
    picking.how = (how)(k % 3);
    picking.g = &g;
    build(&x);
    for (int i = 0; i < psdm_code_count(x.code); i++) compare(&x, psdm_code_at(x.code, i, NULL, NULL), &g);
    take_down(&x);
  }
}

/* a straight arm cannot move along itself: no number, where a large one would be wrong */
TEST(singular_tasks_are_no_numbers) {
  pair x = {.robot = load_shipped("two_link")};
  double in[4] = {0.3, 0, 1, 2}, out[4];
  x.n = 2;
  x.code_options = (psdm_code_options){.functions = all_terms & ~((1u << PSDM_F_CARTESIAN_MASS) - 1),
                                       .directions = 3,
                                       .effort = -1,
                                       .method = PSDM_CODE_RECURSIVE};
  build(&x);
  assert_int_equal(psdm_code_count(x.code), 6);
  for (int bent = 0; bent < 2; bent++) {
    in[1] = bent;
    for (int k = 0; k < psdm_code_count(x.code); k++) {
      call(&x, psdm_code_at(x.code, k, NULL, NULL), in, out);
      assert_true(bent ? isfinite(out[0]) : isnan(out[0]));
    }
  }
  take_down(&x);
}

TEST(tasks_without_enough_joints_are_refused_or_omitted) {
  psdm_robot *robot = load_shipped("two_link");
  psdm_code_options options = {.functions = 1u << PSDM_F_CARTESIAN_MASS, .effort = -1};
  psdm_code *code;
  psdm_error error;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_ARGUMENT);
  assert_non_null(strstr(error.text, "6 directions"));
  options.functions = options.optional = 1u << PSDM_F_CARTESIAN_MASS | 1u << PSDM_F_CORIOLIS;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_OK);
  assert_int_equal(psdm_code_count(code), 1);
  assert_int_equal(psdm_code_omitted(code), 1u << PSDM_F_CARTESIAN_MASS);
  assert_non_null(strstr(psdm_code_note(code, 0), "omitted: cartesian_mass; "));
  psdm_code_free(code);
  /* a direction that this arm never moves in */
  options = (psdm_code_options){.functions = 1u << PSDM_F_CARTESIAN_MASS, .directions = 4, .effort = -1};
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_SINGULAR);
  assert_non_null(strstr(error.text, "cannot move in every direction"));
  options.directions = 64;
  assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_ARGUMENT);
  psdm_robot_free(robot);
}

/* built code is compared with psdm_eval where the loops close; what is measured is asserted here */
TEST(closed_loops_have_them) {
  static const char *const names[] = {"five_bar", "palletizer", "delta"};
  const unsigned second = 1u << PSDM_F_INVERSE_SECOND | 1u << PSDM_F_LINEARIZE_SECOND;
  for (int k = 0; k < 3; k++) {
    psdm_robot *robot = load_shipped(names[k]);
    psdm_code_options options = {
        .functions = all_terms, .optional = all_terms, .directions = 1, .effort = -1, .point = {0.4, 0.1}};
    psdm_code *code;
    psdm_error error;
    picking.how = PLAIN;
    if (psdm_code_build(robot, &options, NULL, &code, &error)) fail_msg("%s", error.text);
    assert_int_equal(psdm_code_omitted(code), second);
    assert_int_equal(psdm_code_count(code), 15);
    for (int i = 0; i < psdm_code_count(code); i++) assert_true(psdm_code_error(code, i) < 1e-12);
    psdm_code_free(code);
    options.functions = second;
    options.optional = 0;
    assert_int_equal(psdm_code_build(robot, &options, NULL, &code, &error), PSDM_E_ROBOT);
    assert_non_null(strstr(error.text, "first derivatives"));
    psdm_robot_free(robot);
  }
}

TEST_MAIN(code_is_equal_to_the_recursions, closed_loops_have_them, singular_tasks_are_no_numbers,
          tasks_without_enough_joints_are_refused_or_omitted)
