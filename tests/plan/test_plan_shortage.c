/* test_plan_shortage.c: memory runs out at every place that makes bounds, structures, paths and optimal motions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "psdm/analyze.h"
#include "psdm/optimal.h"
#include "psdm/path.h"
#include "psdm/eval.h"
#include "shortage.h"

static const char slide[] = "gravity: [0, -9.81, 0]\nconvention: dh\njoints:\n  - {name: a, alpha: pi/2, friction: "
                            "{coulomb: 1, viscous: 1}}\n  - {name: b, type: prismatic}\nlinks:\n"
                            "  - {mass: 2, com: [0.1, 0, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n  - {mass: 1, "
                            "inertia: {xx: 0.1, yy: 0.1, zz: 0.15}}\n";

static psdm_status try_bounds(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_bounds *bounds = (psdm_bounds *)&bounds;
  psdm_status status = psdm_bounds_new(what, &(psdm_bounds_options){.points = 60, .samples = 1100, .threads = 1},
                                       allocator, &bounds, error);
  if (status) assert_null(bounds);
  psdm_bounds_free(bounds);
  return status;
}

typedef struct pair {
  const psdm_robot *robot;
  const psdm_model *model;
} pair;

static psdm_status try_structure(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  psdm_status status = PSDM_OK;
  for (int numeric = 0; numeric < 2 && !status; numeric++) {
    psdm_structure *structure = (psdm_structure *)&structure;
    status = psdm_structure_new(p->robot, p->model, numeric, allocator, &structure, error);
    if (status) assert_null(structure);
    psdm_structure_free(structure);
  }
  return status;
}

static psdm_status try_batch(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const pair *p = what;
  const double in[12] = {0.1, 0.2, 0.3};
  double out[64], condition;
  psdm_batch *batch = (psdm_batch *)&batch;
  long failed;
  psdm_status status = psdm_batch_new(p->robot, PSDM_F_INVERSE, NULL, 1, allocator, &batch, error);
  if (status) return status;
  status = psdm_batch_eval(batch, 2, in, out, &failed);
  psdm_batch_free(batch);
  return status ? status : psdm_mass_condition(p->robot, allocator, &condition, error);
}

static void bounds_and_structures(void **state) {
  (void)state;
  psdm_robot *robots[] = {parse_robot(slide), load_shipped("two_link")};
  for (int k = 0; k < 2; k++) {
    psdm_model *model;
    assert_int_equal(psdm_model_derive(robots[k], NULL, NULL, &model, NULL, NULL), PSDM_OK);
    shortage_tolerated("bounds", try_bounds, robots[k]); /* a single process needs no messages to others */
    shortage_everywhere("structure", try_structure, &(pair){robots[k], model});
    shortage_everywhere("batch", try_batch, &(pair){robots[k], model});
    psdm_model_free(model);
    psdm_robot_free(robots[k]);
  }
}

static psdm_status try_path(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const double most[2] = {3, 3}, effort[2] = {200, 200}, from[2] = {0, 0}, to[2] = {0.5, 0.5};
  psdm_motion *motion = NULL;
  psdm_path_plan *plan = (psdm_path_plan *)&plan;
  psdm_status status = psdm_motion_polynomial(2, 5, from, to, 0, 1, allocator, &motion, error);
  if (status) return status;
  status = psdm_path_plan_new(
      what, motion,
      &(psdm_path_options){
          .velocity = most, .acceleration = most, .effort = effort, .points = 50, .friction = PSDM_FRICTION_COULOMB},
      allocator, &plan, error);
  if (status) assert_null(plan);
  psdm_path_plan_free(plan);
  psdm_motion_free(motion);
  return status;
}

static psdm_status try_optimal(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  const double velocity[2] = {3, 3}, effort[2] = {200, 200}, from[2] = {0, 0}, to[2] = {0.5, 0.5};
  psdm_optimal *optimal = (psdm_optimal *)&optimal;
  psdm_status status = psdm_optimal_new(what,
                                        &(psdm_optimal_options){.from = from,
                                                                .to = to,
                                                                .velocity = velocity,
                                                                .effort = effort,
                                                                .nodes = 3,
                                                                .iterations = 3,
                                                                .friction = PSDM_FRICTION_COULOMB},
                                        allocator, &optimal, error);
  if (status) assert_null(optimal);
  psdm_optimal_free(optimal);
  return status;
}

static void plans(void **state) {
  (void)state;
  char where[400];
  psdm_robot *robot = parse_robot(slide);
  shortage_everywhere("path", try_path, robot);
  if (psdm_optimal_solver(where, sizeof where)) print_message("SKIPPED: %s\n", where);
  else shortage_everywhere("optimal", try_optimal, robot);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_and_structures), cmocka_unit_test(plans)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
