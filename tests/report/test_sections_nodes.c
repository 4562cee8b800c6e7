/* test_sections_nodes.c: each node of each stored result in turn is missing, of the wrong type, empty or absurd: the
 * page stays valid. */
#include <stdlib.h>

#include "whole.h"

enum { STORED = STORED_RESULTS, FILES = STORED + 5, MOST_NODES = 60 };

static psdmp_report_result *read_result(psdmp_base_arena *arena, const char *name) {
  char path[600], *text;
  size_t length;
  psdmp_report_result *result;
  psdm_error error = {0};
  snprintf(path, sizeof path, "%s/tests/fuzz/corpus/report/%s", SOURCE_DIR, name);
  if (psdmp_document_file_read(path, 1 << 20, arena, &text, &length, &error) ||
      psdmp_report_result_parse(arena, name, text, length, &result, &error))
    fail_msg("%s: %s", name, error.text);
  return result;
}

static void compose(psdmp_report_result **item, int count) {
  psdmp_report_page page = {0};
  for (int k = 0; k < count; k++) item[k]->used = false;
  psdmp_report_page_compose(&page, &(psdmp_report_results){item, count});
  assert_int_equal(page.status, PSDM_OK);
  expect_whole(&page);
  for (const psdmp_report_figure *f = page.figure; f; f = f->next)
    assert_true(f->range[0] < f->range[1] && f->range[2] < f->range[3]);
  psdmp_report_page_free(&page);
}

/* replacements of a node */
static const psdmp_document_node other[] = {
    {.kind = PSDMP_DOCUMENT_SCALAR, .text = "", .length = 0, .quoted = true},
    {.kind = PSDMP_DOCUMENT_SCALAR, .text = "null", .length = 4},
    {.kind = PSDMP_DOCUMENT_SCALAR, .text = "-1", .length = 2},
    {.kind = PSDMP_DOCUMENT_SCALAR, .text = "1e300", .length = 5},
    {.kind = PSDMP_DOCUMENT_SCALAR, .text = "<img>", .length = 5, .quoted = true},
    {.kind = PSDMP_DOCUMENT_LIST},
    {.kind = PSDMP_DOCUMENT_MAP},
};
enum { OTHERS = sizeof other / sizeof *other };

static int collect(psdmp_document_node *node, psdmp_document_node **list, int count, int most) {
  for (psdmp_document_node *child = node->child; child; child = child->next) {
    if (count < most) list[count] = child;
    count = collect(child, list, count + 1, most);
  }
  return count;
}

/* members of long lists are alike: some nodes of each file, spread over it, and all of its first level */
static void spoil(psdmp_report_result **item, int at) {
  static psdmp_document_node *list[4000];
  int count = collect(item[at]->root, list, 0, 4000), stride = count > MOST_NODES ? count / MOST_NODES : 1;
  if (count > 4000) count = 4000;
  for (int k = 0; k < count; k++) {
    psdmp_document_node *node = list[k], kept = *node;
    bool first = false;
    for (const psdmp_document_node *child = item[at]->root->child; child; child = child->next) first |= child == node;
    if (!first && k % stride) continue;
    for (int o = first ? 0 : k % OTHERS; o < OTHERS; o += first ? 1 : OTHERS) {
      *node = other[o];
      node->key = kept.key, node->next = kept.next;
      compose(item + at, 1);
      if (first && !o) compose(item, FILES);
    }
    *node = kept;
    node->key = "forgotten"; /* as if it were missing */
    compose(item + at, 1);
    if (first) compose(item, FILES);
    node->key = kept.key;
  }
}

/* results missing from the stored files: a robot with joints of every kind, a model with a calibration of its own
 * parameters and one of others, charts of a benchmark */
#define AT(by, x, z)                                                                                              \
  "\"at\": {\"carried_by\": " by ", \"point\": [" x ", 0, " z "], \"axis\": [0, 0, 1], \"link\": [" x ", 0.3, " z \
  "], \"mass\": 1, \"com\": [0, 0.1, 0]}"
static const char everything[] =
    "{\"command\": \"inspect\", \"name\": \"tree\", \"n\": 3, \"gravity\": [0, 0, -9.81], \"at\": [0.1, 0.2, 0.3], "
    "\"joints\": ["
    "{\"name\": \"a joint with a name that is much too long for any label\", \"type\": \"revolute\", \"parent\": "
    "\"base\", \"q\": 1, \"limits\": {\"lower\": -1, \"upper\": 2, \"velocity\": 3, \"effort\": 40},"
    " \"gear\": 50, \"friction\": {\"coulomb\": 1, \"viscous\": null}, " AT(
        "0", "0",
        "0") "},"
             "{\"name\": \"slide\", \"type\": \"prismatic\", \"parent\": \"a\", \"q\": 2, \"limits\": {\"lower\": 0.1, "
             "\"upper\": null, \"velocity\": 1, \"effort\": 300}, \"friction\": {\"coulomb\": null, \"viscous\": "
             "2}, " AT(
                 "1", "0.5",
                 "0.2") "},"
                        "{\"name\": \"back\", \"type\": \"prismatic\", \"parent\": \"slide\", \"q\": 3, \"limits\": "
                        "{\"lower\": null, \"upper\": 0.4}, " AT(
                            "2", "0.5",
                            "0.2") "},"
                                   "{\"name\": \"bolt\", \"type\": \"fixed\", \"parent\": \"slide\", " AT(
                                       "2", "0.9",
                                       "0.2") "},"
                                              "{\"name\": \"follows\", \"type\": \"revolute\", \"parent\": \"back\", "
                                              "\"couple\": {\"slide\": 2}, \"limits\": {\"lower\": null, \"upper\": "
                                              "null}, " AT(
                                                  "3", "1.5",
                                                  "0.9") "},"
                                                         "{\"name\": \"closes\", \"type\": \"revolute\", \"parent\": "
                                                         "\"back\", \"passive\": true, " AT(
                                                             "3", "1.5",
                                                             "0.9") "}],"
                                                                    " \"notes\": [\"an angle was snapped\"], "
                                                                    "\"warnings\": [\"a link is implausible\", [1]]}";
#define FORMULA "\"formula\": {\"ZZ1\": 1, \"m2\": -1.5}"
static const char base[] =
    "{\"command\": \"params\", \"name\": \"tree\", \"l\": 3, \"base_parameters\": [{\"name\": \"ZZ1\", " FORMULA
    ", \"value\": 2}, {\"name\": \"mx1\", \"symbolic\": \"mx1 + d2*m2\", \"value\": 0.001},"
    " {\"name\": \"my1\", \"formula\": {\"my1\": 1}, \"value\": 0}]}";
static const char found[] =
    "{\"command\": \"calibrate\", \"name\": \"tree\", \"n\": 3, \"parameters\": [{\"name\": \"ZZ1\", " FORMULA
    ", \"value\": 2.1, \"sd\": 0.1}, {\"name\": \"mx1\", \"value\": 1, \"sd\": 5},"
    " {\"name\": \"my1\", \"formula\": {\"my1\": 1}, \"value\": 1e-9, \"sd\": 3}]}";
static const char derived[] =
    "{\"command\": \"derive\", \"name\": \"tree\", \"n\": 3, \"p\": 18, \"l\": 3, \"classes\": {\"gravity\": 6, "
    "\"acceleration\": [3, 0, 3], \"centrifugal\": [2, 2], \"coriolis\": 2}, \"seconds\": 3.5, \"residual\": 1e-15}";
static const char bench[] =
    "{\"command\": \"bench/peers\", \"processor\": \"x\", \"curves\": [{\"title\": \"time\", \"x\": \"joints\", \"y\": "
    "\"ns\", \"series\": [{\"name\": \"psdm\", \"points\": [[2, 10], [4, 20], [6, 35]]},"
    " {\"name\": \"other\", \"published\": true, \"points\": [[2, 100], [6, 350]]}]}], \"bars\": [{\"title\": "
    "\"ratio\", \"unit\": \"ns\", \"of\": [\"inverse\", \"forward\"], \"series\": [{\"name\": \"psdm\", \"values\": "
    "[1, 2]},"
    " {\"name\": \"book\", \"published\": true, \"values\": [50]}]}, {\"title\": \"one\", \"x\": \"tool\", \"of\": "
    "[\"inverse\"], \"series\": [{\"name\": \"psdm\", \"values\": [1]}]}]}";
static const struct {
  const char *path, *text;
} rich[] = {{"tree.json", everything},
            {"base.json", base},
            {"found.json", found},
            {"derived.json", derived},
            {"peers.json", bench}};
enum { RICH = sizeof rich / sizeof *rich };

static psdmp_report_result *rich_result(psdmp_base_arena *arena, int k) {
  psdmp_report_result *result;
  psdm_error error = {0};
  char *copy = psdmp_base_arena_text(arena, rich[k].text, strlen(rich[k].text));
  if (!copy || psdmp_report_result_parse(arena, rich[k].path, copy, strlen(copy), &result, &error))
    fail_msg("%s: %s", rich[k].path, error.text);
  return result;
}

static void expect_words(psdmp_report_result **item, int count, const char *const *words) {
  psdmp_report_page page = {0};
  psdmp_report_page_compose(&page, &(psdmp_report_results){item, count});
  assert_int_equal(page.status, PSDM_OK);
  for (; *words; words++)
    if (!strstr(page.text, *words)) fail_msg("the page lacks '%s'", *words);
  expect_whole(&page);
  psdmp_report_page_free(&page);
}

/* the page's text about them */
static void rich_results(void **state) {
  (void)state;
  psdmp_base_arena arena = {0};
  psdmp_report_result *item[RICH];
  for (int k = 0; k < RICH; k++) item[k] = rich_result(&arena, k);
  expect_words(
      item, RICH,
      (const char *const[]){"follows", "(coupled)", "(by a closed loop)", "from 100 mm", "to 400 mm", "300 N",
                            "an angle was snapped", "a link is implausible", "mx1 + d2", "degrees of freedom", NULL});
  /* a calibration of a robot with the same name and other parameters does not belong to this model */
  psdmp_report_result *namesake = rich_result(&arena, 2);
  psdmp_document_node *first = namesake->root;
  for (first = first->child; strcmp(first->key, "parameters") != 0;) first = first->next;
  first->child->next = NULL, first->count = 1;
  item[2] = namesake;
  expect_words(item, RICH, (const char *const[]){"has other base parameters", NULL});
  psdmp_base_arena_free(&arena);
}

static void every_node(void **state) {
  (void)state;
  psdmp_base_arena arena = {0};
  psdmp_report_result *item[FILES];
  for (int k = 0; k < STORED; k++) item[k] = read_result(&arena, stored_results[k]);
  for (int k = 0; k < RICH; k++) item[STORED + k] = rich_result(&arena, k);
  compose(item, FILES);
  for (int k = 0; k < FILES; k++)
    if (item[k]->root) spoil(item, k);
  psdmp_base_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rich_results), cmocka_unit_test(every_node)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
