/* test_derive_trouble.c: system calls fail at every place that derives a model from an external program's torques, and
 * that saves or reads models. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "trouble.h"

static const char one[] = "convention: dh\njoints: [{name: a, a: 0.5}]\n";

/* two joints: a slide under gravity that carries a turning one */
static const char torques[] = "LC_ALL=C awk -F, 'NR == 1 { print \"tau2,tau1\"; next } { printf \"%.17g,%.17g\\n\", "
                              "($26 + 4 * $18 + 4 * $17) * $6, ($7 + $17) * ($5 + 8) }'";

static psdm_status try_derive(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_model *model = (psdm_model *)&model;
  psdm_status status =
      psdm_model_derive(what, &(psdm_derive_options){.method = PSDM_METHOD_DENSE, .sampler_command = torques},
                        allocator, &model, NULL, error);
  if (status) assert_null(model);
  if (!status) assert_true(psdm_model_l(model) == 2 && psdm_model_p(model) > 1);
  psdm_model_free(model);
  return status;
}

static void torques_of_a_program(void **state) {
  (void)state;
  psdm_robot *robot = parse_robot("convention: dh\ngravity: [0, 0, -8]\njoints: [{type: prismatic}, {a: 2}]\n");
  assert_true(trouble_everywhere("sampler", try_derive, robot, NULL) > 5);
  psdm_robot_free(robot);
}

static const psdm_model *stored;

/* a saved model is read back unchanged */
static psdm_status try_file(const psdm_allocator *allocator, const void *what, psdm_error *error) {
  psdm_model *model = (psdm_model *)&model;
  psdm_robot *robot = parse_robot(one);
  psdm_status status = psdm_model_save(stored, robot, what, error);
  psdm_robot_free(robot);
  if (status || !strstr(what, ".json")) return status;
  status = psdm_model_load(what, allocator, &model, error);
  if (status) assert_null(model);
  if (!status)
    assert_true(psdm_model_p(model) == psdm_model_p(stored) && psdm_model_entries(model) == psdm_model_entries(stored));
  psdm_model_free(model);
  return status;
}

static void files_of_models(void **state) {
  (void)state;
  static const char *const endings[] = {".json", ".mat"};
  char path[64];
  psdm_robot *robot = parse_robot(one);
  psdm_model *model;
  long failures = 0;
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  stored = model;
  for (int k = 0; k < 2; k++) {
    snprintf(path, sizeof path, "/tmp/psdm-model-%ld%s", (long)getpid(), endings[k]);
    failures += trouble_everywhere(endings[k], try_file, path, NULL);
    remove(path);
  }
  assert_true(failures > 10);
  psdm_model_free(model);
  psdm_robot_free(robot);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(torques_of_a_program), cmocka_unit_test(files_of_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
