/* test_sections_nodes.c: each node of each stored result in turn is missing, of another kind, empty or absurd: the page stays whole. */
#include <stdlib.h>

#include "whole.h"

enum { FILES = STORED_RESULTS, MOST_NODES = 60 };

static psdmp_result *read_result(psdmp_arena *arena, const char *name) {
  char path[600], *text;
  size_t length;
  psdmp_result *result;
  psdm_error error = {0};
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/report/%s", SOURCE_DIR, name);
  if (psdmp_file_read(path, 1 << 20, arena, &text, &length, &error) || psdmp_result_parse(arena, name, text, length, &result, &error)) fail_msg("%s: %s", name, error.text);
  return result;
}

static void compose(psdmp_result **item, int count) {
  psdmp_page page = {0};
  for (int k = 0; k < count; k++) item[k]->used = false;
  psdmp_page_compose(&page, &(psdmp_results){item, count});
  assert_int_equal(page.status, PSDM_OK);
  expect_whole(&page);
  for (const psdmp_figure *f = page.figure; f; f = f->next) assert_true(f->range[0] < f->range[1] && f->range[2] < f->range[3]);
  psdmp_page_free(&page);
}

/* what a node may become */
static const psdmp_node other[] = {
    {.kind = PSDMP_SCALAR, .text = "", .length = 0, .quoted = true}, {.kind = PSDMP_SCALAR, .text = "null", .length = 4}, {.kind = PSDMP_SCALAR, .text = "-1", .length = 2},
    {.kind = PSDMP_SCALAR, .text = "1e300", .length = 5}, {.kind = PSDMP_SCALAR, .text = "<img>", .length = 5, .quoted = true}, {.kind = PSDMP_LIST}, {.kind = PSDMP_MAP},
};
enum { OTHERS = sizeof other / sizeof *other };

static int collect(psdmp_node *node, psdmp_node **list, int count, int most) {
  for (psdmp_node *child = node->child; child; child = child->next) {
    if (count < most) list[count] = child;
    count = collect(child, list, count + 1, most);
  }
  return count;
}

/* members of long lists are like their neighbours: some nodes of each file, spread over it, and all of its first level */
static void spoil(psdmp_result **item, int at) {
  static psdmp_node *list[4000];
  int count = collect(item[at]->root, list, 0, 4000), stride = count > MOST_NODES ? count / MOST_NODES : 1;
  if (count > 4000) count = 4000;
  for (int k = 0; k < count; k++) {
    psdmp_node *node = list[k], kept = *node;
    bool first = false;
    for (const psdmp_node *child = item[at]->root->child; child; child = child->next) first |= child == node;
    if (!first && k % stride) continue;
    for (int o = first ? 0 : k % OTHERS; o < OTHERS; o += first ? 1 : OTHERS) {
      *node = other[o];
      node->key = kept.key, node->next = kept.next;
      compose(item + at, 1);
      if (first && !o) compose(item, FILES);
    }
    *node = kept;
    node->key = "forgotten"; /* as if it were not there */
    compose(item + at, 1);
    if (first) compose(item, FILES);
    node->key = kept.key;
  }
}

static void every_node(void **state) {
  (void)state;
  psdmp_arena arena = {0};
  psdmp_result *item[FILES];
  for (int k = 0; k < FILES; k++) item[k] = read_result(&arena, stored_results[k]);
  compose(item, FILES);
  for (int k = 0; k < FILES; k++)
    if (item[k]->root) spoil(item, k);
  psdmp_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_node)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
