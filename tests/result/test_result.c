/* test_result.c: documents with every kind of field: written, read back, refused if they are wrong. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "psdm/result.h"
#include "support.h"

#define TEST_PART(X, S)                     \
  X(S, text, name, , , "", "a name")        \
  X(S, number, value, , , "N m", "a value") \
  X(S, integer, count, , "?", "", "a count")
PSDM_RESULT_RECORD(test_part, TEST_PART)
PSDM_RESULT_TYPE(test_part, TEST_PART, NULL, "A part")

#define TEST_WHOLE(X, S)                                          \
  X(S, number, number, , , "s", "a number")                       \
  X(S, number, seldom, , "?", "s", "a number that may lack")      \
  X(S, integer, integer, , , "", "an integer")                    \
  X(S, boolean, boolean, , , "", "a truth")                       \
  X(S, boolean, flag, , "?", "", "a truth that may lack")         \
  X(S, text, for_, , , "", "a text under a keyword")              \
  X(S, choice, choice, , "?one|two|three", "", "a word")          \
  X(S, record, record, test_part, , "", "a record")               \
  X(S, pointer, pointer, test_part, "?", "", "a record or none")  \
  X(S, vector, vector, 3, , "m", "a vector")                      \
  X(S, numbers, numbers, , "[n]", "", "numbers")                  \
  X(S, numbers, matrix, , "?[n][m]", "", "a matrix")              \
  X(S, integers, integers, , "[n][m]", "", "integers")            \
  X(S, texts, texts, , "[n]", "", "texts")                        \
  X(S, records, records, test_part, "[n]", "", "records")         \
  X(S, records, grid, test_part, "[n][m]", "", "records in rows") \
  X(S, named, named, , , "", "numbers by name")                   \
  X(S, keyed, keyed, test_part, , "", "records by name")          \
  X(S, settings, settings, , , "", "settings")
PSDM_RESULT_DOCUMENT(test_whole, TEST_WHOLE)
PSDM_RESULT_TYPE(test_whole, TEST_WHOLE, "whole", "All kinds of fields")

static const psdm_result_type *const types[] = {&test_whole_type, NULL};

/* ---- random content ---- */

static double number(rng *g) { return rng_int(g, 0, 9) ? rng_uniform(g, -1, 1) * pow(10, rng_int(g, -300, 300)) : NAN; }

static const char *word(psdm_result *r, rng *g) {
  static const char *const pieces[] = {"a", "\"", "\\", "\n", "\t", "\xC3\xA9", ": ", "#", "null", "1.5", "\x7F", "{"};
  char text[64] = "";
  for (int k = rng_int(g, 0, 6); k--;) strcat(text, pieces[rng_int(g, 0, 11)]);
  return psdm_result_text(r, text);
}

static void fill_part(psdm_result *r, rng *g, test_part *part) {
  *part = (test_part){word(r, g), number(g), rng_int(g, 0, 3)};
}

static test_part *parts(psdm_result *r, rng *g, int count, const char *key) {
  test_part *part = psdm_result_items(r, &test_part_type, count);
  char text[16];
  for (int i = 0; i < count; i++) {
    fill_part(r, g, &part[i]);
    snprintf(text, sizeof text, "%s%d", key, i);
    if (key[0]) part[i].name = psdm_result_text(r, text);
  }
  return part;
}

static double *numbers(psdm_result *r, rng *g, int count) {
  double *value = psdm_result_memory(r, count, sizeof *value);
  for (int i = 0; i < count; i++) value[i] = number(g);
  return value;
}

static void fill_lists(test_whole *w, rng *g) {
  psdm_result *r = &w->head;
  int n = rng_int(g, 0, 5), m = rng_int(g, 1, 4);
  PSDM_RESULT_SET(w->numbers, numbers(r, g, n), n);
  if (n && rng_int(g, 0, 1)) PSDM_RESULT_SET(w->matrix, numbers(r, g, n * m), n), w->matrix.columns = m;
  long *integer = psdm_result_memory(r, n * m, sizeof *integer);
  for (int i = 0; i < n * m; i++) integer[i] = rng_int(g, -1000000, 1000000);
  PSDM_RESULT_SET(w->integers, integer, n), w->integers.columns = m;
  psdm_word *text = psdm_result_memory(r, n, sizeof *text);
  for (int i = 0; i < n; i++) text[i] = word(r, g);
  PSDM_RESULT_SET(w->texts, text, n);
  PSDM_RESULT_SET(w->records, parts(r, g, m, ""), m);
  PSDM_RESULT_SET(w->grid, parts(r, g, n * m, ""), n), w->grid.columns = m;
  PSDM_RESULT_SET(w->keyed, parts(r, g, n, "key"), n);
  psdm_named_number *named = psdm_result_memory(r, m, sizeof *named);
  for (int i = 0; i < m; i++) named[i] = (psdm_named_number){w->records.item[i].name, number(g)};
  for (int i = 0; i < m; i++) named[i].name = (const char *[]){"mx1", "XX1", "a b", "\""}[i];
  PSDM_RESULT_SET(w->named, named, m);
}

static void fill_settings(test_whole *w, rng *g) {
  psdm_result *r = &w->head;
  psdm_named_value *value = psdm_result_memory(r, 5, sizeof *value);
  value[0] = (psdm_named_value){.name = "on", .kind = PSDM_FIELD_boolean, .on = true};
  value[1] = (psdm_named_value){.name = "number", .kind = PSDM_FIELD_number, .number = rng_uniform(g, -9, 9)};
  value[2] = (psdm_named_value){.name = "text", .kind = PSDM_FIELD_text, .text = word(r, g)};
  value[3] = (psdm_named_value){.name = "numbers", .kind = PSDM_FIELD_numbers};
  value[4] = (psdm_named_value){.name = "texts", .kind = PSDM_FIELD_texts};
  PSDM_RESULT_SET(value[3].numbers, numbers(r, g, 3), 3);
  psdm_word *text = psdm_result_memory(r, 2, sizeof *text);
  text[0] = word(r, g), text[1] = word(r, g);
  PSDM_RESULT_SET(value[4].texts, text, 2);
  PSDM_RESULT_SET(w->settings, value, 5);
}

static test_whole *random_whole(rng *g) {
  static const char *const words[] = {NULL, "one", "two", "three"};
  psdm_result *r;
  assert_int_equal(psdm_result_new(&test_whole_type, NULL, &r, NULL), PSDM_OK);
  test_whole *w = (test_whole *)r;
  assert_true(isnan(w->number) && isnan(w->record.value) && isnan(w->vector[2]) && !w->integer && !w->texts.item);
  w->number = number(g), w->seldom = number(g);
  w->integer = rng_int(g, -100, 100);
  w->boolean = rng_int(g, 0, 1), w->flag = rng_int(g, 0, 1);
  w->for_ = rng_int(g, 0, 3) ? word(r, g) : NULL;
  w->choice = words[rng_int(g, 0, 3)];
  fill_part(r, g, &w->record);
  if (rng_int(g, 0, 1)) w->pointer = parts(r, g, 1, "");
  for (int i = 0; i < 3; i++) w->vector[i] = number(g);
  fill_lists(w, g);
  fill_settings(w, g);
  assert_int_equal(psdm_result_complete(r, NULL), PSDM_OK);
  return w;
}

/* ---- files ---- */

static char path[] = "/tmp/psdm-test-result-XXXXXX";

static char *contents(const psdm_result *result, void (*write)(const psdm_result_type *, psdm_output *)) {
  psdm_output *out;
  char *text = calloc(1, 1 << 20);
  assert_int_equal(psdm_output_open(path, NULL, &out, NULL), PSDM_OK);
  if (write) write(&test_whole_type, out);
  else psdm_result_write_json(result, out);
  assert_int_equal(psdm_output_commit(&out, NULL), PSDM_OK);
  FILE *file = fopen(path, "r");
  assert_true(text && file && fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

static psdm_status read_text(const char *text, psdm_result **result, char *sentence, size_t size) {
  psdm_error error = {.status = PSDM_OK};
  FILE *file = fopen(path, "w");
  assert_true(file && fputs(text, file) >= 0 && fclose(file) == 0);
  psdm_status status = psdm_result_read_json(path, types, NULL, result, &error);
  sentence[0] = '\0';
  if (status) psdm_error_format(&error, sentence, size), assert_null(*result);
  return status;
}

/* ---- tests ---- */

static void test_documents_are_read_back(void **state) {
  (void)state;
  rng g = rng_start("result");
  for (int round = 0; round < 200; round++) {
    psdm_error error = {.status = PSDM_OK};
    psdm_result *again;
    test_whole *w = random_whole(&g);
    char *text = contents(&w->head, NULL);
    if (psdm_result_read_json(path, types, NULL, &again, &error))
      fail_msg("%s:%d %s", error.file, error.line, error.text);
    test_whole *v = (test_whole *)again;
    char *twice = contents(again, NULL);
    assert_string_equal(text, twice);
    assert_true(v->number == w->number || (isnan(v->number) && isnan(w->number)));
    assert_int_equal(v->grid.rows, w->grid.rows);
    assert_int_equal(v->flag, w->flag);
    assert_true(!v->choice == !w->choice && (!v->choice || strcmp(v->choice, w->choice) == 0));
    assert_true(!v->for_ == !w->for_ && (!v->for_ || strcmp(v->for_, w->for_) == 0));
    free(text), free(twice);
    psdm_result_free(again);
    psdm_result_free(&w->head);
  }
}

static void test_bad_documents_are_refused_with_their_line(void **state) {
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"{\"command\": \"whole\",\n\"number\": \"1\"}", ":2:11: \"number\" is '1'; a number or null was expected"},
      {"{\"command\": \"whole\",\n\n\"integer\": 1.5}", ":3:12: \"integer\" is '1.5'; an integer was expected"},
      {"{\"command\": \"whole\",\n\"boolean\": 1}", "\"boolean\" is '1'; true or false was expected"},
      {"{\"command\": \"whole\",\n\"for\": 7}", "\"for\" is '7'; a text was expected"},
      {"{\"command\": \"whole\",\n\"choice\": \"four\"}", "\"choice\" is 'four'; one of one|two|three was expected"},
      {"{\"command\": \"whole\",\n\"record\": [1]}", "\"record\" is a list; an object was expected"},
      {"{\"command\": \"whole\",\n\"vector\": [1, 2]}", "\"vector\" is a list; a list of 3 numbers was expected"},
      {"{\"command\": \"whole\",\n\"numbers\": {\"a\": 1}}", "\"numbers\" is an object; a list was expected"},
      {"{\"command\": \"whole\",\n\"integers\": [[1, 2],\n[3]]}",
       ":3:1: \"item\" is a list; a list as long as the first"},
      {"{\"command\": \"whole\",\n\"named\": {\"a\": true}}", "\"a\" is 'true'; a number or null was expected"},
      {"{\"command\": \"whole\",\n\"keyed\": {\"a\": {\"value\": []}}}",
       "\"value\" is a list; a number or null was expected"},
      {"{\"command\": \"part\"}", ":1:1: not a result"},
      {"[1, 2]", ":1:1: not a result"},
      {"{\"command\": ", ":1:"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    psdm_result *result;
    char sentence[1000];
    assert_int_equal(read_text(cases[i].text, &result, sentence, sizeof sentence), PSDM_E_PARSE);
    if (!strstr(sentence, cases[i].expected)) fail_msg("%s\nhas not\n%s", sentence, cases[i].expected);
  }
}

static void test_unknown_keys_are_ignored_and_missing_ones_absent(void **state) {
  psdm_result *result;
  char sentence[1000];
  (void)state;
  assert_int_equal(read_text("{\"command\": \"whole\", \"later\": {\"x\": [1]}, \"integer\": 3, \"seldom\": null}",
                             &result, sentence, sizeof sentence),
                   PSDM_OK);
  const test_whole *w = (const test_whole *)result;
  assert_int_equal(w->integer, 3);
  assert_true(isnan(w->number) && isnan(w->seldom) && !w->for_ && !w->pointer && !w->numbers.rows);
  psdm_result_free(result);
}

static void test_nothing_leaks_when_memory_runs_out(void **state) {
  (void)state;
  rng g = rng_start("result memory");
  test_whole *w = random_whole(&g);
  free(contents(&w->head, NULL));
  psdm_result_free(&w->head);
  for (long at = 1;; at++) {
    counting c;
    psdm_result *result;
    counting_init(&c, at);
    psdm_status status = psdm_result_read_json(path, types, &c.allocator, &result, NULL);
    psdm_result_free(result);
    assert_int_equal(c.live, 0);
    if (!status) break;
    assert_int_equal(status, PSDM_E_MEMORY);
  }
}

static void test_schema_and_manual_have_every_field(void **state) {
  char *schema = contents(NULL, psdm_result_schema), *manual = contents(NULL, psdm_result_markdown);
  (void)state;
  for (int i = 0; i < test_whole_type.count; i++) {
    char key[64], quoted[80];
    psdm_result_key(&test_whole_type.field[i], key);
    snprintf(quoted, sizeof quoted, "\"%s\": {", key);
    assert_non_null(strstr(schema, quoted));
    snprintf(quoted, sizeof quoted, "| `%s` |", key);
    assert_non_null(strstr(manual, quoted));
    assert_non_null(strstr(manual, test_whole_type.field[i].meaning));
  }
  assert_non_null(strstr(manual, "| `matrix` | numbers [n][m], optional |  | a matrix |"));
  assert_non_null(strstr(manual, "| `choice` | `one`, `two`, `three`, optional |"));
  free(schema), free(manual);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_documents_are_read_back),
      cmocka_unit_test(test_bad_documents_are_refused_with_their_line),
      cmocka_unit_test(test_unknown_keys_are_ignored_and_missing_ones_absent),
      cmocka_unit_test(test_nothing_leaks_when_memory_runs_out),
      cmocka_unit_test(test_schema_and_manual_have_every_field),
  };
  int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  int code = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(path);
  return code;
}
