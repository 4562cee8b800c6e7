/* test_model_nodes.c: model files with each node in turn missing, of the wrong type or absurd: refused with a line and
 * a clean message, or a model that can be evaluated. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document/document.h"
#include "nodes.h"

typedef struct visitor {
  char path[64];
  nodes_tally tally;
} visitor;

static void visit(void *user, const char *text, nodes_change change, const char *where) {
  visitor *v = user;
  counting c;
  counting_init(&c, 0);
  psdm_model *model = (psdm_model *)&model;
  psdm_error error = {0};
  file_write(v->path, text);
  psdm_status status = psdm_model_load(v->path, &c.allocator, &model, &error);
  if (nodes_accepted(&v->tally, status, model, &error, text, where)) {
    int n = psdm_model_n(model), l = psdm_model_l(model);
    double *number = calloc((size_t)(3 * n + n + l) + psdm_model_scratch(model), sizeof *number);
    assert_non_null(number);
    bool informative = strstr(where, "].value") != NULL; /* for human readers: the loader uses the formulas */
    if (change == NODES_KIND && !informative) nodes_wrongly(&v->tally, "another kind", where);
    psdm_model_inverse(model, number, number, number, number, number + 4 * n + l, number + 3 * n + l);
    free(number);
    psdm_model_free(model);
  }
  assert_int_equal(c.live, 0);
}

TEST(every_node) {
  static const char *const names[] = {"one", "slide", "coupled", "echelon"};
  visitor v = {.tally = {0}};
  snprintf(v.path, sizeof v.path, "/tmp/psdm-nodes-%ld.json", (long)getpid());
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[600], *text;
    size_t length;
    psdmp_base_arena arena = {0};
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/model/%s.json", SOURCE_DIR, names[k]);
    assert_int_equal(psdmp_document_file_read(path, 1 << 20, &arena, &text, &length, NULL), PSDM_OK);
    nodes_each(text, visit, &v);
    psdmp_base_arena_free(&arena);
  }
  unlink(v.path);
  nodes_judge(&v.tally);
}

/* one text of a two-joint model replaced by another: exponents are of q, sin q, cos q, qd, qdd */
TEST(odd_functions) {
  static const struct {
    const char *from, *to, *words; /* NULL: accepted */
  } cases[] = {
      {"\"0010000000\"", "\"1010000000\"", "powers of q and of sines"},
      {"\"0010000000\"", "\"1000100000\"", "powers of q and of sines"},
      {"\"0010000000\"", "\"1000000000\"", "in one function and of sines in another"},
      {"\"0010000000\"", "\"0020000000\"", "a square of a sine"},
      {"\"0010000000\"", "\"0000900000\"", NULL},
      {"\"0010000000\"", "\"001000000\"", "5n digits"},
      {"\"0010000000\"", "\"00100000X0\"", "5n digits"},
      {"\"0010000000\"", "[]", "5n digits"},
      {"\"0000000010\"", "\"0000000020\"", "by class"},
      {"\"0000000010\"", "\"0000000011\"", "by class"},
      {"\"0000000010\"", "\"0000001010\"", "by class"},
      {"\"0000000010\"", "\"0000001000\"", "by class"},
      {"\"0001002000\"", "\"0001003000\"", "by class"},
      {"\"0001002000\"", "\"0001000010\"", "by class"},
      {"[0, 0, 2, -1]", "[1, 0, 2, -1], [0, 0, 2, -1]", "functions ascending"},
      {"[0, 0, 2, -1]", "[0, 2, 2, -1]", "[function, joint, parameter, value]"},
      {"[0, 0, 2, -1]", "[0, 0, 6, -1]", "[function, joint, parameter, value]"},
      {"[0, 0, 2, -1]", "[0, 0, 2, nan]", "[function, joint, parameter, value]"},
      {"[0, 0, 2, -1]", "[0, 0, 2]", "[function, joint, parameter, value]"},
      {"\"n\": 2", "\"n\": 0", "were expected"},
      {"\"n\": 2", "\"n\": 65", "were expected"},
      {"\"links\": 2", "\"links\": 3", "ten for each link"},
      {"\"m1\"", "\"a name that is far too long for any parameter of a robot that there is\"", "a parameter's name"},
      {"\"gravity\": [0, -9.8", "\"gravity\": [x, -9.8", "a number was expected"},
      {"\"gravity\": [0, -9.8", "\"gravity\": [0, 0, -9.8", "a list of 3 numbers"},
      {"\"kinematics\"", "\"dynamics\"", "kinematics and gravity"}};
  char path[64];
  psdm_robot *robot = load_shipped("two_link");
  psdm_model *model;
  char *text;
  size_t length;
  psdmp_base_arena arena = {0};
  snprintf(path, sizeof path, "/tmp/psdm-nodes-%ld.json", (long)getpid());
  assert_int_equal(psdm_model_derive(robot, NULL, NULL, &model, NULL, NULL), PSDM_OK);
  assert_int_equal(psdm_model_save(model, robot, path, NULL), PSDM_OK);
  psdm_model_free(model);
  assert_int_equal(psdmp_document_file_read(path, 1 << 20, &arena, &text, &length, NULL), PSDM_OK);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *at = strstr(text, cases[k].from);
    psdm_error error = {0};
    FILE *out = fopen(path, "w");
    if (!at || !out) fail_msg("no '%s'", cases[k].from);
    fprintf(out, "%.*s%s%s", (int)(at - text), text, cases[k].to, at + strlen(cases[k].from));
    assert_int_equal(fclose(out), 0);
    psdm_status status = psdm_model_load(path, NULL, &model, &error);
    if (!cases[k].words ? status != PSDM_OK
                        : status != PSDM_E_PARSE || model || error.line < 1 || !strstr(error.text, cases[k].words))
      fail_msg("%s for %s: status %d, line %d, '%s'", cases[k].to, cases[k].from, status, error.line, error.text);
    psdm_model_free(model);
  }
  unlink(path);
  psdmp_base_arena_free(&arena);
  psdm_robot_free(robot);
}

TEST_MAIN(every_node, odd_functions)
