/* test_doc.c: YAML that is malformed, hostile, long or deep is refused with its position, and quickly. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "document/document.h"
#include "support.h"

/* ---- time: two seconds on an ordinary machine, more where a small text takes longer too (valgrind) ---- */

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double allowance(void) {
  enum { VALUES = 20000 };
  static double allowed;
  if (allowed) return allowed;
  char *text = malloc(4 * VALUES + 1);
  assert_non_null(text);
  for (int i = 0; i < VALUES; i++) memcpy(text + 4 * i, "- 1\n", 4);
  psdmp_base_arena arena = {0};
  psdmp_document_node *root;
  double start = seconds();
  assert_int_equal(psdmp_document_parse(text, 4 * VALUES, "doc.yaml", &arena, &root, NULL), PSDM_OK);
  double factor = (seconds() - start) / 0.05; /* 0.01 s is ordinary */
  psdmp_base_arena_free(&arena);
  free(text);
  return allowed = 2 * (factor > 1 ? factor : 1);
}

/* the outcome of a text; the message is "" when it was read */
typedef struct outcome {
  psdm_status status;
  int line, column;
  char sentence[900];
} outcome;

static outcome parse(const char *text, size_t length) {
  outcome o = {.sentence = ""};
  counting c;
  counting_init(&c, 0);
  psdmp_base_arena arena = {.allocator = &c.allocator};
  psdmp_document_node *root;
  psdm_error error;
  double start = seconds();
  o.status = psdmp_document_parse(text, length, "doc.yaml", &arena, &root, &error);
  double took = seconds() - start;
  if (took > allowance()) fail_msg("%.1f s for %zu bytes", took, length);
  assert_int_equal(o.status == PSDM_OK, root != NULL);
  if (o.status) {
    o.line = error.line;
    o.column = error.column;
    assert_int_equal(error.status, o.status);
    psdm_error_format(&error, o.sentence, sizeof o.sentence);
  }
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
  return o;
}

/* ---- accepted text ---- */

static const psdmp_document_node *child(const psdmp_document_node *node, int index) {
  const psdmp_document_node *at = node->child;
  while (at && index--) at = at->next;
  assert_non_null(at);
  return at;
}

static void the_tree_remembers_places(void **state) {
  (void)state;
  const char *text = "# a comment\nname: \"two words\"\nlist: [1, {x: y}, ]\n\xC3\xA9t\xC3\xA9: "
                     "\xE2\x82\xAC\nempty:\nfolded: >-\n  a\n  b\n";
  psdmp_base_arena arena = {0};
  psdmp_document_node *root;
  psdm_error error;
  if (psdmp_document_parse(text, strlen(text), "doc.yaml", &arena, &root, &error)) fail_msg("%s", error.text);
  assert_int_equal(root->kind, PSDMP_DOCUMENT_MAP);
  assert_int_equal(root->count, 5);
  const psdmp_document_node *name = child(root, 0), *list = child(root, 1), *accent = child(root, 2),
                            *empty = child(root, 3), *folded = child(root, 4);
  assert_string_equal(name->key, "name");
  assert_string_equal(name->text, "two words");
  assert_int_equal(name->length, 9);
  assert_int_equal(name->key_line, 2);
  assert_int_equal(name->key_column, 1);
  assert_int_equal(name->line, 2);
  assert_int_equal(name->column, 7);
  assert_int_equal(list->kind, PSDMP_DOCUMENT_LIST);
  assert_int_equal(list->count, 2);
  assert_int_equal(child(list, 0)->column, 8);
  const psdmp_document_node *map = child(list, 1);
  assert_int_equal(map->kind, PSDMP_DOCUMENT_MAP);
  assert_null(map->key);
  assert_string_equal(child(map, 0)->key, "x");
  assert_string_equal(child(map, 0)->text, "y");
  assert_string_equal(accent->key, "\xC3\xA9t\xC3\xA9");
  assert_int_equal(accent->column, 6); /* characters, not bytes */
  assert_int_equal(empty->length, 0);
  assert_string_equal(folded->text, "a b");
  psdmp_base_arena_free(&arena);
}

static void plain_texts_are_read(void **state) {
  (void)state;
  static const char *const good[] = {"a",
                                     "[]",
                                     "{}",
                                     "- 1\n- 2\n",
                                     "%YAML 1.1\n---\na: 1\n...\n",
                                     ("\xEF\xBB\xBF"
                                      "a: 1\n"),
                                     "a: 1\r\nb: 2\r\n",
                                     "'it''s': \"\\u20AC \\x41\"\n",
                                     "a: |\n  x\n  y\n",
                                     "? a\n: 1\n",
                                     "{a, b: 1}",
                                     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    outcome o = parse(good[i], strlen(good[i]));
    if (o.status) fail_msg("'%s': %s", good[i], o.sentence);
  }
}

/* ---- refusals ---- */

static void refusals_say_where(void **state) {
  (void)state;
#define TEXT(literal) literal, sizeof literal - 1
  const struct {
    const char *text;
    size_t length;
    psdm_status status;
    const char *sentence;
  } cases[] = {
      /* empty text */
      {TEXT(""), PSDM_E_PARSE, "doc.yaml:1:1: the file is empty"},
      {TEXT("\n\n# only a comment\n"), PSDM_E_PARSE, "doc.yaml:1:1: the file is empty"},
      {TEXT("\xEF\xBB\xBF"), PSDM_E_PARSE, "doc.yaml:1:1: the file is empty"},
      /* malformed */
      {TEXT("a: [1, 2\n"), PSDM_E_PARSE, "doc.yaml:2:1: malformed YAML: did not find expected ',' or ']'"},
      {TEXT("a: {b: 1\nc\n"), PSDM_E_PARSE, "doc.yaml:3:1: malformed YAML: did not find expected ',' or '}'"},
      {TEXT("a: 1\n b: 2\n"), PSDM_E_PARSE,
       "doc.yaml:2:3: malformed YAML: mapping values are not allowed in this context"},
      {TEXT("a: 1\n\tb: 2\n"), PSDM_E_PARSE,
       "doc.yaml:2:1: malformed YAML: found a tab character that violates indentation"},
      {TEXT("a: \"open\n"), PSDM_E_PARSE, "doc.yaml:2:1: malformed YAML: found unexpected end of stream"},
      {TEXT("a: @b\n"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: found character that cannot start any token"},
      {TEXT("a: \"\\q\"\n"), PSDM_E_PARSE, "doc.yaml:1:5: malformed YAML: found unknown escape character"},
      {TEXT("a: 1\n]\n"), PSDM_E_PARSE, "doc.yaml:2:1: malformed YAML: did not find expected key"},
      {TEXT("- a\nb: 1\n"), PSDM_E_PARSE, "doc.yaml:2:1: malformed YAML: did not find expected '-' indicator"},
      {TEXT("%YAML 7.0\n---\na: 1\n"), PSDM_E_PARSE, "doc.yaml:1:1: malformed YAML: found incompatible YAML document"},
      /* anchors, aliases, tags */
      {TEXT("a: &x 1\n"), PSDM_E_PARSE, "doc.yaml:1:4: anchors (&name) are not supported; write the value out"},
      {TEXT("a:\n  &x {b: 1}\n"), PSDM_E_PARSE, "doc.yaml:2:3: anchors (&name) are not supported; write the value out"},
      {TEXT("- &x [1]\n"), PSDM_E_PARSE, "doc.yaml:1:3: anchors (&name) are not supported; write the value out"},
      {TEXT("&k key: 1\n"), PSDM_E_PARSE, "doc.yaml:1:1: anchors (&name) are not supported; write the value out"},
      {TEXT("a: *x\n"), PSDM_E_PARSE, "doc.yaml:1:4: aliases (*name) are not supported; write the value out"},
      {TEXT("*x : 1\n"), PSDM_E_PARSE, "doc.yaml:1:1: aliases (*name) are not supported; write the value out"},
      {TEXT("a: !!python/object/apply:os.system [id]\n"), PSDM_E_PARSE,
       "doc.yaml:1:4: tags (!name) are not supported; write the plain value"},
      {TEXT("a: !!str 1\n"), PSDM_E_PARSE, "doc.yaml:1:4: tags (!name) are not supported; write the plain value"},
      {TEXT("--- !robot\na: 1\n"), PSDM_E_PARSE, "doc.yaml:1:5: tags (!name) are not supported; write the plain value"},
      /* keys that are not text */
      {TEXT("? [a, b]\n: 1\n"), PSDM_E_PARSE, "doc.yaml:1:3: a key must be plain text"},
      {TEXT("{{a: 1}: 2}"), PSDM_E_PARSE, "doc.yaml:1:2: a key must be plain text"},
      /* more than one document */
      {TEXT("a: 1\n---\na: 1\n"), PSDM_E_PARSE, "doc.yaml:2:1: a second document; one robot per file was expected"},
      {TEXT("---\na: 1\n...\n---\n"), PSDM_E_PARSE, "doc.yaml:4:1: a second document; one robot per file was expected"},
      /* NUL: as a byte, and as an escape */
      {TEXT("a: 1\nb: \0002\n"), PSDM_E_PARSE, "doc.yaml:2:4: a NUL byte; this is not a text file"},
      {TEXT("\0"), PSDM_E_PARSE, "doc.yaml:1:1: a NUL byte; this is not a text file"},
      {TEXT("a\xC3\xA9\0"), PSDM_E_PARSE, "doc.yaml:1:3: a NUL byte; this is not a text file"},
      {TEXT("a: 1\nb: \"x\\0y\"\n"), PSDM_E_PARSE, "doc.yaml:2:4: a NUL character inside a value"},
      {TEXT("\"k\\0\": 1\n"), PSDM_E_PARSE, "doc.yaml:1:1: a NUL character inside a value"},
      /* bytes that are not UTF-8, and control characters */
      {TEXT("a: 1\nb: caf\xE9 au lait\n"), PSDM_E_PARSE, "doc.yaml:2:8: malformed YAML: invalid trailing UTF-8 octet"},
      {TEXT("a: 1\n\n\nb: \xFF\n"), PSDM_E_PARSE, "doc.yaml:4:4: malformed YAML: invalid leading UTF-8 octet"},
      {TEXT("a: \xC0\xAF\n"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: invalid length of a UTF-8 sequence"},
      {TEXT("a: \xED\xA0\x80\n"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: invalid Unicode character"},
      {TEXT("a: \xF4\x90\x80\x80\n"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: invalid Unicode character"},
      {TEXT("a: \xE2\x82"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: incomplete UTF-8 octet sequence"},
      {TEXT("\xC3\xA9: \x1B[31m\n"), PSDM_E_PARSE, "doc.yaml:1:4: malformed YAML: control characters are not allowed"},
      /* 33 levels */
      {TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"), PSDM_E_LIMIT,
       "doc.yaml:1:33: nested deeper than 32 levels"},
  };
#undef TEXT
  int wrong = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    outcome o = parse(cases[i].text, cases[i].length);
    if (o.status == cases[i].status && strcmp(o.sentence, cases[i].sentence) == 0) continue;
    print_error("case %zu: %s\n expected: %s\n", i, o.sentence, cases[i].sentence);
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

/* ---- expensive texts ---- */

/* count copies of piece, then tail; free it */
static char *repeated(const char *piece, size_t count, const char *tail, size_t *length) {
  size_t n = strlen(piece), end = strlen(tail);
  char *text = malloc(n * count + end + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; i++) memcpy(text + i * n, piece, n);
  memcpy(text + n * count, tail, end + 1);
  *length = n * count + end;
  return text;
}

static void expect(const char *piece, size_t count, const char *tail, psdm_status status, const char *sentence) {
  size_t length;
  char *text = repeated(piece, count, tail, &length);
  outcome o = parse(text, length);
  free(text);
  if (sentence) assert_string_equal(o.sentence, sentence);
  assert_int_equal(o.status, status);
  if (status && o.line) assert_true(o.column > 0);
}

static void deep_nesting(void **state) {
  (void)state;
  expect("[", 100000, "", PSDM_E_LIMIT, "doc.yaml:1:33: nested deeper than 32 levels");
  expect("{a: ", 100000, "", PSDM_E_LIMIT, "doc.yaml:1:129: nested deeper than 32 levels");
  expect("- ", 100000, "1", PSDM_E_LIMIT, "doc.yaml:1:65: nested deeper than 32 levels");
  expect("? ", 100000, "1", PSDM_E_PARSE, "doc.yaml:1:3: a key must be plain text");
  expect("[", 100000, "]", PSDM_E_LIMIT, "doc.yaml:1:33: nested deeper than 32 levels");
  expect("]", 100000, "", PSDM_E_PARSE, NULL);
}

static void billion_laughs(void **state) {
  (void)state;
  char text[2000], *at = text;
  at += sprintf(at, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
  for (int i = 1; i < 10; i++) {
    at += sprintf(at, "a%d: &a%d [", i, i);
    for (int k = 0; k < 9; k++) at += sprintf(at, "*a%d%s", i - 1, k < 8 ? ", " : "]\n");
  }
  outcome o = parse(text, strlen(text));
  assert_string_equal(o.sentence, "doc.yaml:1:5: anchors (&name) are not supported; write the value out");
  /* the same without a definition */
  o = parse("a: [*b, *b, *b]\n", 16);
  assert_string_equal(o.sentence, "doc.yaml:1:5: aliases (*name) are not supported; write the value out");
}

static void many_values(void **state) {
  (void)state;
  /* stream, document and list use three of the events, their ends three more */
  expect("- 1\n", PSDMP_DOCUMENT_DOC_NODES - 6, "", PSDM_OK, "");
  expect("- 1\n", PSDMP_DOCUMENT_DOC_NODES - 2, "", PSDM_E_LIMIT, "doc.yaml:524286:3: more than 524288 values");
  expect("- {}\n", PSDMP_DOCUMENT_DOC_NODES, "", PSDM_E_LIMIT, NULL);
  expect("k: v\n", PSDMP_DOCUMENT_DOC_NODES, "", PSDM_E_LIMIT, NULL);
  expect("---\n", 100000, "a", PSDM_E_PARSE, "doc.yaml:2:1: a second document; one robot per file was expected");
}

static void long_texts(void **state) {
  (void)state;
  expect("x", PSDMP_DOCUMENT_DOC_BYTES, "", PSDM_OK, "");
  expect("x", PSDMP_DOCUMENT_DOC_BYTES + 1, "", PSDM_E_LIMIT, "doc.yaml: 16777217 bytes; at most 16777216 are read");
  expect("\n", PSDMP_DOCUMENT_DOC_BYTES, "", PSDM_E_PARSE, "doc.yaml:1:1: the file is empty");
  expect("#", 8 << 20, "\n", PSDM_E_PARSE, "doc.yaml:1:1: the file is empty");
  expect(" ", 8 << 20, "a", PSDM_OK, "");
  expect("\xE2\x82\xAC", 2 << 20, "", PSDM_OK, "");
  expect("\"", 4 << 20, "", PSDM_E_PARSE, NULL);
  expect("a: ", 1 << 20, "", PSDM_E_PARSE,
         "doc.yaml:1:5: malformed YAML: mapping values are not allowed in this context");
  expect("%TAG ! tag:x\n", 100000, "", PSDM_E_PARSE, NULL);
  expect("a\n\n", 1 << 20, "", PSDM_OK, "");
}

/* ---- files ---- */

static void files_are_read_whole(void **state) {
  (void)state;
  psdmp_base_arena arena = {0};
  char *text, path[] = "test_doc_scratch.txt", sentence[900], expected[300];
  size_t length;
  psdm_error error;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (int i = 0; i < 10000; i++) fputs("0123456\n", file); /* past the first buffer */
  assert_int_equal(fclose(file), 0);
  assert_int_equal(psdmp_document_file_read(path, 80000, &arena, &text, &length, &error), PSDM_OK);
  assert_int_equal(length, 80000);
  assert_int_equal(strlen(text), 80000);
  for (size_t i = 0; i < length; i++) assert_true(text[i] == "0123456\n"[i % 8]);
  assert_int_equal(psdmp_document_file_read(path, 79999, &arena, &text, &length, &error), PSDM_E_LIMIT);
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence),
                      "test_doc_scratch.txt: larger than 79999 bytes, the most that is read");
  remove(path);
  assert_int_equal(psdmp_document_file_read(path, 80000, &arena, &text, &length, &error), PSDM_E_IO);
  snprintf(expected, sizeof expected, "test_doc_scratch.txt: cannot be opened: %s", strerror(ENOENT));
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
  assert_int_equal(psdmp_document_file_read(".", 80000, &arena, &text, &length, &error), PSDM_E_IO);
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence),
                      ".: is a directory; a robot file was expected");
  /* an endless file */
  assert_int_equal(psdmp_document_file_read("/dev/zero", 1 << 20, &arena, &text, &length, &error), PSDM_E_LIMIT);
  assert_int_equal(psdmp_document_file_read("/dev/null", 1 << 20, &arena, &text, &length, &error), PSDM_OK);
  assert_int_equal(length, 0);
  psdmp_base_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_tree_remembers_places),
      cmocka_unit_test(plain_texts_are_read),
      cmocka_unit_test(refusals_say_where),
      cmocka_unit_test(deep_nesting),
      cmocka_unit_test(billion_laughs),
      cmocka_unit_test(many_values),
      cmocka_unit_test(long_texts),
      cmocka_unit_test(files_are_read_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
