/* What a derivation says that it needs, before it has it, beside what it takes; and that a refusal comes early, having taken little. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* an allocator that knows the most that was taken at a time */
typedef struct meter {
  size_t now, most;
} meter;

static void *take(void *user, size_t bytes) {
  meter *m = user;
  size_t *block = malloc(bytes + 2 * sizeof(size_t));
  if (!block) return NULL;
  block[0] = bytes;
  m->now += bytes;
  if (m->now > m->most) m->most = m->now;
  return block + 2;
}

static void give(void *user, void *memory) {
  meter *m = user;
  if (!memory) return;
  size_t *block = (size_t *)memory - 2;
  m->now -= block[0];
  free(block);
}

/* chains: nothing aligned; right angles; all in a plane; slides between */
static psdm_robot *chain(int kind, int n) {
  static char text[8000];
  int at = snprintf(text, sizeof text, "convention: modified-dh\njoints:\n");
  for (int j = 0; j < n; j++)
    at += snprintf(text + at, sizeof text - (size_t)at, "  - {type: %s, alpha: %s, a: %.3f, d: %.3f}\n", kind == 3 && j % 2 ? "prismatic" : "revolute",
                   kind == 0 ? (j % 2 ? "0.7" : "-0.4") : kind == 1 ? (j % 2 ? "pi/2" : "-pi/2") : kind == 2 ? "0" : "0.6", 0.1 + 0.01 * j, kind == 2 ? 0 : 0.2 - 0.01 * j);
  return parse_robot(text);
}

/* "about 9.3 MB" */
static double number_in(const char *text) {
  const char *at = strstr(text, "about ");
  assert_non_null(at);
  char *unit;
  double value = strtod(at + 6, &unit);
  return value * (strncmp(unit, " kB", 3) == 0 ? 1e3 : strncmp(unit, " MB", 3) == 0 ? 1e6 : strncmp(unit, " GB", 3) == 0 ? 1e9 : strncmp(unit, " TB", 3) == 0 ? 1e12 : 1e15);
}

static void the_estimate_is_near(void **state) {
  (void)state;
  static const struct {
    int kind, n;
  } robots[] = {{0, 6}, {0, 7}, {1, 8}, {1, 9}, {2, 9}, {2, 10}, {3, 9}, {3, 10}};
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    psdm_robot *r = chain(robots[k].kind, robots[k].n);
    meter m = {0};
    const psdm_allocator allocator = {take, give, &m};
    const psdm_derive_options little = {.memory = 1000000};
    psdm_model *model;
    psdm_error error;
    assert_int_equal(psdm_model_derive(r, &little, &allocator, &model, NULL, &error), PSDM_E_LIMIT);
    double told = number_in(error.text), refused = (double)m.most;
    assert_int_equal(m.now, 0);
    m.most = 0;
    assert_int_equal(psdm_model_derive(r, NULL, &allocator, &model, NULL, &error), PSDM_OK);
    printf("kind %d, %d joints: told %.3g MB, took %.3g MB; %.3g MB when refused\n", robots[k].kind, robots[k].n, 1e-6 * told, 1e-6 * (double)m.most, 1e-6 * refused);
    assert_true(told > 0.6 * (double)m.most && told < 1.6 * (double)m.most);
    psdm_model_free(model);
    psdm_robot_free(r);
  }
}

/* up to 24 joints are promised; what no machine has is refused at once */
static void refused_early(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    psdm_robot *r = chain(kind, 24);
    meter m = {0};
    const psdm_allocator allocator = {take, give, &m};
    const psdm_derive_options options = {.memory = (size_t)4000000000u};
    psdm_model *model;
    psdm_error error;
    assert_int_equal(psdm_model_derive(r, &options, &allocator, &model, NULL, &error), PSDM_E_LIMIT);
    printf("kind %d: %.3g MB when refused; %s\n", kind, 1e-6 * (double)m.most, error.text);
    assert_true(m.most < 100000000 && number_in(error.text) > 4e9);
    psdm_robot_free(r);
  }
}

/* a robot's own limit holds for all that is done with it; joints that follow others are no way around */
static void limit_of_the_robot(void **state) {
  (void)state;
  char text[2000] = "convention: dh\njoints:\n  - {name: j0, a: 0.2, alpha: pi/2}\n";
  for (int j = 1; j < 8; j++) snprintf(text + strlen(text), 200, "  - {name: j%d, a: 0.2, d: 0.1, alpha: %s, couple: {j0: %s}}\n", j, j % 2 ? "0.7" : "0.4", j % 2 ? "1" : "-1");
  psdm_robot *r;
  psdm_model *m;
  psdm_error error;
  const psdm_robot_options options = {.memory = 2000000};
  assert_int_equal(psdm_robot_parse(text, strlen(text), "coupled", &options, NULL, &r, &error), PSDM_OK);
  assert_int_equal(psdm_robot_memory(r), 2000000);
  assert_int_equal(psdm_robot_fits(r, "this", 2e6, &error), PSDM_OK);
  assert_int_equal(psdm_robot_fits(r, "this", 2000001, &error), PSDM_E_LIMIT);
  assert_non_null(strstr(error.text, "this needs about 2 MB, more than the 2 MB"));
  assert_int_equal(psdm_model_derive(r, NULL, NULL, &m, NULL, &error), PSDM_E_LIMIT);
  printf("%s\n", error.text);
  assert_non_null(strstr(error.text, "2 MB that it may take"));
  psdm_robot_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_estimate_is_near), cmocka_unit_test(refused_early), cmocka_unit_test(limit_of_the_robot)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
