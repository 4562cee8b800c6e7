/* test_codegen_shortage.c: memory runs out wherever code is built, written, compiled, and wherever a model is
 * reduced. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/compile.h"
#include "psdm/reduce.h"
#include "shortage.h"

static const char pendulum[] =
    "name: one\ngravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, a: 0.4, alpha: 0.3}\nlinks:\n  - {mass: "
    "2, com: [0.1, 0.2, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n";
enum { ALL = ((2u << PSDM_F_INVERSE_MASS) - 1) };

typedef struct job {
  const psdm_robot *robot;
  const psdm_model *model;
  psdm_code_options options;
  const char *folder;
} job;

static psdm_status try_build(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const job *j = what;
  psdm_code *code = (psdm_code *)&code;
  psdm_status status = j->model ? psdm_code_build_model(j->robot, j->model, &j->options, allocator, &code, error)
                                : psdm_code_build(j->robot, &j->options, allocator, &code, error);
  if (status) assert_null(code);
  if (!status && j->folder) status = psdm_code_write(code, j->folder, error);
  psdm_code_free(code);
  return status;
}

TEST(code_that_is_built_and_written) {
  psdm_robot *one = parse_robot(pendulum), *two = load_shipped("two_link");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(one, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  enum {
    GRAVITY = 1u << PSDM_F_GRAVITY,
    INVERSE = 1u << PSDM_F_INVERSE,
    FORWARD = 1u << PSDM_F_FORWARD,
    REGRESSOR = 1u << PSDM_F_REGRESSOR,
    MASS = 1u << PSDM_F_MASS
  };
  const job jobs[] = {
      {one, NULL, {.functions = ALL, .effort = -1, .command = "psdm codegen", .method = PSDM_CODE_RECURSIVE}, NULL},
      {one, NULL, {.functions = GRAVITY, .effort = -1, .method = PSDM_CODE_EXPANDED}, NULL},
      {one,
       NULL,
       {.functions = INVERSE | REGRESSOR,
        .method = PSDM_CODE_RECURSIVE,
        .effort = -1,
        .theta_argument = true,
        .friction_columns = true,
        .drive_columns = true},
       own_folder},
      {one,
       NULL,
       {.functions = INVERSE | FORWARD,
        .method = PSDM_CODE_RECURSIVE,
        .effort = -1,
        .gravity_argument = true,
        .payload_argument = true,
        .wrench_argument = true,
        .target = PSDM_CODE_SIMD},
       own_folder},
      {one,
       NULL,
       {.functions = INVERSE | MASS,
        .method = PSDM_CODE_RECURSIVE,
        .effort = -1,
        .target = PSDM_CODE_CUDA,
        .real_float = true},
       own_folder},
      {one,
       NULL,
       {.functions = INVERSE, .method = PSDM_CODE_RECURSIVE, .effort = -1, .wraps = (1u << PSDM_CODE_WRAPS) - 1},
       own_folder},
      {one, model, {.functions = GRAVITY}, own_folder},
      {two, NULL, {.functions = INVERSE, .effort = -1, .method = PSDM_CODE_RECURSIVE}, NULL},
  };
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) shortage_everywhere("code", try_build, &jobs[i]);
  folder_empty();
  psdm_model_free(model);
  psdm_robot_free(one), psdm_robot_free(two);
}

/* one drive with a load, a position and memory, for a robot of one joint */
static const psdm_column column[] = {{.kind = PSDM_COLUMN_STOP, .width = 0.1, .gain = 1},
                                     {.kind = PSDM_COLUMN_SIGN, .load = 1, .gain = 0.02},
                                     {.kind = PSDM_COLUMN_SINE, .width = 2, .gain = 0.1}};

TEST(code_with_friction) {
  psdm_robot *one = parse_robot(pendulum);
  psdm_model *model;
  ((psdm_joint *)psdm_robot_joint(one, 0))->friction = (psdm_friction){.coulomb = 1,
                                                                       .stat = 1.5,
                                                                       .stribeck = 0.2,
                                                                       .viscous = 0.3,
                                                                       .exponent = 0.7,
                                                                       .sigma0 = 1000,
                                                                       .sigma1 = 2,
                                                                       .given = true};
  assert_int_equal(psdm_parameters_model(one, NULL, &model, NULL), PSDM_OK);
  psdm_estimate theta[10];
  double load[10];
  int base = psdm_model_l(model);
  assert_true(base <= 10);
  for (int j = 0; j < base; j++)
    theta[j] = (psdm_estimate){.name = psdm_model_base_name(model, j), .value = 1}, load[j] = 1.01;
  const psdm_column *const drive = column;
  const int columns = 3;
  const psdm_parameters p = {.n = 1,
                             .links = 1,
                             .base = base,
                             .standard = psdm_robot_parameter_count(one),
                             .kinematics = psdm_robot_fingerprint(one),
                             .theta = theta,
                             .theta_load = load,
                             .columns = &columns,
                             .column = &drive};
  const job jobs[] = {{one,
                       NULL,
                       {.functions = ((2u << PSDM_F_INVERSE_MASS) - 1) | 1u << PSDM_F_FRICTION,
                        .effort = -1,
                        .method = PSDM_CODE_RECURSIVE,
                        .target = PSDM_CODE_SIMD,
                        .friction = PSDM_FRICTION_LUGRE},
                       own_folder},
                      {one,
                       NULL,
                       {.functions = 1u << PSDM_F_INVERSE | 1u << PSDM_F_REGRESSOR | 1u << PSDM_F_FORWARD |
                                     1u << PSDM_F_LINEARIZE_FORWARD,
                        .effort = -1,
                        .method = PSDM_CODE_RECURSIVE,
                        .parameters = &p},
                       own_folder}};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) shortage_everywhere("code", try_build, &jobs[i]);
  folder_empty();
  psdm_model_free(model);
  psdm_robot_free(one);
}

static psdm_status try_compile(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_compiled *compiled = (psdm_compiled *)&compiled;
  psdm_status status = psdm_compile(what, &(psdm_compile_options){.graph = true}, allocator, &compiled, error);
  if (status) assert_null(compiled);
  psdm_compiled_free(compiled);
  return status;
}

static psdm_status try_native(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_compiled *compiled = (psdm_compiled *)&compiled;
  psdm_status status = psdm_compile(what, &(psdm_compile_options){.compiler = "cc -O0"}, allocator, &compiled, error);
  if (status) assert_null(compiled);
  psdm_compiled_free(compiled);
  return status;
}

TEST(code_that_is_compiled) {
  psdm_robot *robot = parse_robot(pendulum);
  psdm_code *code;
  assert_int_equal(
      psdm_code_build(robot, &(psdm_code_options){.functions = 1u << PSDM_F_INVERSE, .effort = -1}, NULL, &code, NULL),
      PSDM_OK);
  shortage_everywhere("graph", try_compile, code);
  shortage_tolerated("native", try_native, code); /* the graph takes its place */
  psdm_code_free(code);
  psdm_robot_free(robot);
}

static psdm_status try_reduce(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const job *j = what;
  const psdm_reduce_options options = {
      .profile = psdm_profile_fast(), .samples = 100, .contributions = 50, .medians = true, .threads = 1};
  psdm_reducer *reducer = (psdm_reducer *)&reducer;
  psdm_model *reduced = NULL;
  psdm_reduce_info info;
  double at[2];
  psdm_status status = psdm_reducer_new(j->robot, j->model, &options, allocator, &reducer, error);
  if (status) assert_null(reducer);
  if (!status) status = psdm_reducer_errors(reducer, 1, (const double[]){0.5, 0.9}, at, error);
  if (!status) status = psdm_reducer_reduce(reducer, 0.05, 0.9, &reduced, &info, error);
  psdm_model_free(reduced);
  psdm_reducer_free(reducer);
  return status;
}

TEST(models_that_are_reduced) {
  psdm_robot *robot = parse_robot(pendulum);
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  shortage_everywhere("reduce", try_reduce, &(job){.robot = robot, .model = model});
  psdm_model_free(model);
  psdm_robot_free(robot);
}

TEST_MAIN_IN(folder_make, folder_remove, code_that_is_built_and_written, code_with_friction, code_that_is_compiled,
             models_that_are_reduced)
