/* test_derive_shortage.c: memory runs out at every place that derives, reduces, writes, reads or completes a model. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "psdm/base_parameters.h"
#include "psdm/symbolic.h"
#include "shortage.h"

typedef struct wish {
  const psdm_robot *robot;
  psdm_derive_options options;
} wish;

static psdm_status try_derive(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const wish *w = what;
  psdm_model *model = (psdm_model *)&model;
  psdm_derive_info info;
  psdm_status status = psdm_model_derive(w->robot, &w->options, allocator, &model, &info, error);
  if (status) assert_null(model);
  psdm_model_free(model);
  return status;
}

static psdm_status try_base(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const wish *w = what;
  psdm_model *model = (psdm_model *)&model;
  psdm_status status = psdm_base_parameters_derive(w->robot, &w->options, allocator, &model, NULL, error);
  if (status) assert_null(model);
  psdm_model_free(model);
  return status;
}

/* mixed joints, a slide, a coupling, an assumption that binds two parameters */
static const char mixed[] = "convention: dh\njoints:\n  - {name: A1, d: 0.2, alpha: 1.1, drive_inertia: unknown}\n  - "
                            "{name: A2, a: 0.3, type: prismatic}\n  - {name: A3, a: 0.1, couple: {A1: 2}}\n"
                            "assume: [Ixz1 = 0, Iyy1 = Izz1]\n";

static void derived_models(void **state) {
  (void)state;
  static const char *const assume[] = {"Ixy1 = 0", "Ixx1 = Iyy1"};
  psdm_robot *two = load_shipped("two_link"), *odd = parse_robot(mixed), *bar = load_shipped("parallelogram");
  const wish wishes[] = {
      {two, {0}},
      {odd, {0}},
      {bar, {0}},
      {two, {.basis = PSDM_BASIS_ECHELON}},
      {two, {.method = PSDM_METHOD_DENSE}},
      {two, {.rank_tolerance = 1e-6}},
      {two, {.assume_count = 2, .assume = assume}},
      {two, {.method = PSDM_METHOD_DENSE, .basis = PSDM_BASIS_ECHELON, .assume_count = 2, .assume = assume}},
  };
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
    shortage_everywhere("derive", try_derive, &wishes[i]);
    if (!wishes[i].options.basis && !wishes[i].options.method)
      shortage_everywhere("base parameters", try_base, &wishes[i]);
  }
  psdm_robot_free(two), psdm_robot_free(odd), psdm_robot_free(bar);
}

static psdm_status try_numeric(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_status status = PSDM_OK;
  for (psdm_sampling sampling = PSDM_SAMPLE_D; sampling <= PSDM_SAMPLE_H && !status; sampling++)
    for (psdm_solver solver = PSDM_SOLVER_QR; solver <= PSDM_SOLVER_SVD && !status; solver++) {
      psdm_base_parameters *params = (psdm_base_parameters *)&params;
      status = psdm_base_parameters_solve(what, &(psdm_base_parameters_options){.sampling = sampling, .solver = solver},
                                          allocator, &params, error);
      if (status) assert_null(params);
      psdm_base_parameters_free(params);
    }
  return status;
}

typedef struct pair {
  const psdm_robot *robot;
  const psdm_model *model;
  const char *path;
} pair;

static psdm_status try_symbolic(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  static const char *const rename[] = {"a1=L1"};
  psdm_symbolic *symbolic = (psdm_symbolic *)&symbolic;
  psdm_status status = psdm_symbolic_derive(
      p->robot, p->model, &(psdm_symbolic_options){.rename_count = 1, .rename = rename}, allocator, &symbolic, error);
  if (status) assert_null(symbolic);
  psdm_symbolic_free(symbolic);
  return status;
}

static psdm_status try_check(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  double residual;
  return psdm_model_check(p->robot, p->model, NULL, 3, allocator, &residual, error);
}

static psdm_status try_save(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  (void)allocator; /* the model's own */
  const pair *p = what;
  return psdm_model_save(p->model, p->robot, p->path, error);
}

static psdm_status try_load(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  psdm_model *model = (psdm_model *)&model;
  psdm_status status = psdm_model_load(p->path, allocator, &model, error);
  if (status) assert_null(model);
  psdm_model_free(model);
  return status;
}

static psdm_status try_full(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  double pi[100], theta[100];
  psdm_robot_parameters(p->robot, pi);
  psdm_model_theta(p->model, pi, theta);
  return psdm_model_full(p->model, theta, pi, allocator, pi, error);
}

static void used_models(void **state) {
  (void)state;
  char path[2][64];
  for (int k = 0; k < 2; k++)
    snprintf(path[k], sizeof path[k], "/tmp/psdm-shortage-%ld.%s", (long)getpid(), k ? "mat" : "json");
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  for (int k = 0; k < 2; k++) {
    const pair p = {robot, model, path[k]};
    shortage_everywhere("save", try_save, &p);
    if (!k) shortage_everywhere("load", try_load, &p);
    unlink(path[k]);
  }
  const pair p = {robot, model, NULL};
  shortage_everywhere("check", try_check, &p);
  shortage_everywhere("symbolic", try_symbolic, &p);
  shortage_everywhere("numeric", try_numeric, robot);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

static void completed_parameters(void **state) {
  (void)state;
  psdm_robot *robot =
      parse_robot("convention: dh\njoints:\n  - {name: A1, alpha: pi/2}\n  - {name: A2, a: 0.3}\nlinks:\n"
                  "  - {mass: 2, com: [0, 0.1, 0], inertia: {xx: 0.2, yy: 0.3, zz: 0.25}}\n  - {mass: 1, inertia: {xx: "
                  "0.02, yy: 0.03, zz: 0.025}}\n");
  psdm_model *model;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  shortage_everywhere("full", try_full, &(pair){robot, model, NULL});
  psdm_model_free(model);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derived_models), cmocka_unit_test(used_models),
                                     cmocka_unit_test(completed_parameters)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
