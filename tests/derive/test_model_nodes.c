/* test_model_nodes.c: model files with each node in turn missing, of another kind or absurd: refused with a line and a clean sentence, or a model that can be evaluated. */
#define _POSIX_C_SOURCE 200809L /* getpid */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/doc.h"
#include "nodes.h"

typedef struct tally {
  char path[64];
  int refused, accepted, wrong;
} tally;

static void visit(void *user, const char *text, nodes_change change, const char *where) {
  tally *t = user;
  counting c;
  counting_init(&c, 0);
  psdm_model *model = (psdm_model *)&model;
  psdm_error error = {0};
  FILE *out = fopen(t->path, "w");
  assert_non_null(out);
  fputs(text, out);
  assert_int_equal(fclose(out), 0);
  psdm_status status = psdm_model_load(t->path, &c.allocator, &model, &error);
  if (status) {
    t->refused++;
    assert_null(model);
    t->wrong += !nodes_refused_well(status, &error, text, where);
  } else {
    int n = psdm_model_n(model), l = psdm_model_l(model);
    double *number = calloc((size_t)(3 * n + n + l) + psdm_model_scratch(model), sizeof *number);
    assert_non_null(number);
    t->accepted++;
    bool told = strstr(where, "].value") != NULL; /* for those who read the file: the loader takes the formulas */
    if (change == NODES_KIND && !told) print_error("%s of another kind is accepted\n", where), t->wrong++;
    psdm_model_inverse(model, number, number, number, number, number + 4 * n + l, number + 3 * n + l);
    free(number);
    psdm_model_free(model);
  }
  assert_int_equal(c.live, 0);
}

static void every_node(void **state) {
  (void)state;
  static const char *const names[] = {"one", "slide", "coupled", "echelon"};
  tally t = {.refused = 0};
  snprintf(t.path, sizeof t.path, "/tmp/psdm-nodes-%ld.json", (long)getpid());
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[600], *text;
    size_t length;
    psdmp_arena arena = {0};
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/model/%s.json", SOURCE_DIR, names[k]);
    assert_int_equal(psdmp_file_read(path, 1 << 20, &arena, &text, &length, NULL), PSDM_OK);
    nodes_each(text, visit, &t);
    psdmp_arena_free(&arena);
  }
  unlink(t.path);
  print_message("%d refused, %d accepted\n", t.refused, t.accepted);
  assert_int_equal(t.wrong, 0);
  assert_true(t.refused > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_node)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
