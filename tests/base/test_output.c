/* test_output.c: a file is complete or absent, and its JSON is valid. */
#define _XOPEN_SOURCE 700 /* mkdtemp, symlink */
#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "psdm/output.h"
#include "support.h"

/* the content of a small file, static storage */
static const char *content(const char *path) {
  static char text[8192];
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("%s is not there", path);
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  return text;
}

static psdm_output *open_output(const char *path) {
  psdm_output *output;
  psdm_error error;
  if (psdm_output_open(path, NULL, &output, &error)) fail_msg("%s: %s", path, error.text);
  return output;
}

static void commit(psdm_output *output) {
  psdm_error error;
  if (psdm_output_commit(&output, &error)) fail_msg("%s", error.text);
  assert_null(output);
}

/* ---- complete or absent ---- */

TEST(commit_renames) {
  psdm_output *output = open_output("new.txt");
  psdm_output_text(output, "one ");
  psdm_output_number(output, 0.1);
  psdm_output_text(output, "\n");
  assert_int_equal(access("new.txt", F_OK), -1); /* not before commit */
  const char *temporary = psdm_output_temporary(output);
  assert_non_null(temporary);
  assert_int_equal(access(temporary, F_OK), 0);
  assert_false(psdm_output_failed(output));
  commit(output);
  assert_string_equal(content("new.txt"), "one 0.10000000000000001\n");
  assert_int_equal(files_in("."), 1);

  output = open_output("new.txt");
  psdm_output_text(output, "two");
  assert_string_equal(content("new.txt"), "one 0.10000000000000001\n"); /* the old text until commit */
  commit(output);
  assert_string_equal(content("new.txt"), "two");
  output = open_output("new.txt"); /* nothing written is an empty file */
  commit(output);
  assert_string_equal(content("new.txt"), "");
  assert_int_equal(files_in("."), 1);
  remove("new.txt");
}

TEST(abort_leaves_nothing) {
  file_write("old.txt", "kept");
  static const char *const paths[] = {"old.txt", "fresh.txt"};
  for (int i = 0; i < 2; i++) {
    psdm_output *output = open_output(paths[i]);
    for (int k = 0; k < 20000; k++) psdm_output_text(output, "more than one buffer\n");
    psdm_output_abort(&output);
    assert_null(output);
    psdm_output_abort(&output); /* a NULL object */
  }
  assert_string_equal(content("old.txt"), "kept");
  assert_int_equal(files_in("."), 1);
  remove("old.txt");
}

/* what a signal handler does: open files are removed, finished ones stay, and more outputs than the table holds still
 * work */
TEST(discard_removes_what_is_open) {
  enum { MANY = 140 };
  psdm_output *open[MANY];
  file_write("old.txt", "kept");
  psdm_output_discard(); /* nothing is open */
  for (int i = 0; i < MANY; i++) open[i] = open_output(i % 2 ? "old.txt" : "fresh.txt");
  psdm_output_abort(&open[0]);
  open[0] = open_output("fresh.txt"); /* in the freed slot */
  assert_int_equal(files_in("."), MANY + 1);
  psdm_output_discard();
  assert_string_equal(content("old.txt"), "kept");
  assert_int_equal(files_in("."), 1 + MANY - 128);
  for (int i = 0; i < MANY; i++) psdm_output_abort(&open[i]);
  assert_int_equal(files_in("."), 1);
  psdm_output *after = open_output("fresh.txt");
  commit(after);
  psdm_output_discard();
  assert_int_equal(files_in("."), 2);
  remove("old.txt"), remove("fresh.txt");
}

TEST(two_writers_do_not_interfere) {
  psdm_output *a = open_output("shared.txt"), *b = open_output("shared.txt");
  assert_string_not_equal(psdm_output_temporary(a), psdm_output_temporary(b));
  psdm_output_text(a, "a");
  psdm_output_text(b, "bb");
  commit(a);
  assert_string_equal(content("shared.txt"), "a");
  commit(b);
  assert_string_equal(content("shared.txt"), "bb");
  assert_int_equal(files_in("."), 1);
  remove("shared.txt");
}

TEST(large_texts_are_complete) {
  enum { LINES = 40000 };
  psdm_output *output = open_output("large.txt");
  for (int i = 0; i < LINES; i++) {
    char line[32];
    snprintf(line, sizeof line, "line %d\n", i);
    psdm_output_text(output, line);
  }
  commit(output);
  FILE *file = fopen("large.txt", "rb");
  assert_non_null(file);
  for (int i = 0; i < LINES; i++) {
    int number = -1;
    assert_int_equal(fscanf(file, "line %d\n", &number), 1);
    assert_int_equal(number, i);
  }
  assert_int_equal(fgetc(file), EOF);
  fclose(file);
  remove("large.txt");
}

TEST(rights_are_kept) {
  struct stat info;
  mode_t mask = umask(027);
  commit(open_output("rights.txt"));
  assert_int_equal(stat("rights.txt", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640); /* a new file: as the mask says */
  chmod("rights.txt", 0604);
  commit(open_output("rights.txt"));
  assert_int_equal(stat("rights.txt", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0604); /* an old one: as it was */
  umask(mask);
  remove("rights.txt");
}

TEST(links_are_followed) {
  struct stat info;
  assert_int_equal(mkdir("real", 0777), 0);
  file_write("real/target.txt", "old");
  assert_int_equal(symlink("real/target.txt", "link.txt"), 0);
  psdm_output *output = open_output("link.txt");
  psdm_output_text(output, "new");
  commit(output);
  assert_int_equal(lstat("link.txt", &info), 0);
  assert_true(S_ISLNK(info.st_mode)); /* the link is still one */
  assert_string_equal(content("real/target.txt"), "new");
  assert_int_equal(files_in("real"), 1);
  remove("link.txt");
  remove("real/target.txt");
  remove("real");
}

/* ---- failures ---- */

static void expect_open_failure(const char *path, const char *why) {
  psdm_output *output = (psdm_output *)&output;
  psdm_error error;
  char sentence[900], expected[300];
  assert_int_equal(psdm_output_open(path, NULL, &output, &error), PSDM_E_IO);
  assert_null(output);
  snprintf(expected, sizeof expected, "%s%s%s", path, path[0] ? ": " : "", why);
  assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
}

TEST(unwritable_paths_are_refused) {
  char why[200];
  snprintf(why, sizeof why, "cannot be written: %s", strerror(ENOENT));
  expect_open_failure("no/such/file.txt", why);
  expect_open_failure("", "an empty file name cannot be written");
  expect_open_failure(".", "is a directory; a file name was expected");
  file_write("plain.txt", "kept");
  snprintf(why, sizeof why, "cannot be written: %s", strerror(ENOTDIR));
  expect_open_failure("plain.txt/below.txt", why);
  assert_string_equal(content("plain.txt"), "kept");
  assert_int_equal(files_in("."), 1);
  remove("plain.txt");
}

TEST(a_folder_without_write_permission) {
  char why[200];
  if (geteuid() == 0) {
    print_message("the superuser may write everywhere: nothing to test\n");
    skip();
  }
  assert_int_equal(mkdir("locked", 0777), 0);
  file_write("locked/old.txt", "kept");
  assert_int_equal(chmod("locked", 0555), 0);
  snprintf(why, sizeof why, "cannot be written: %s", strerror(EACCES));
  expect_open_failure("locked/old.txt", why);
  expect_open_failure("locked/new.txt", why);
  assert_string_equal(content("locked/old.txt"), "kept");
  assert_int_equal(files_in("locked"), 1);
  chmod("locked", 0777);
  remove("locked/old.txt");
  remove("locked");
}

/* /dev/full rejects every write; it is written in place, as a device cannot be renamed onto */
TEST(a_full_device) {
  if (access("/dev/full", W_OK)) skip();
  psdm_error error;
  char sentence[900], expected[200];
  snprintf(expected, sizeof expected, "/dev/full: cannot be written: %s", strerror(ENOSPC));
  for (int large = 0; large <= 1; large++) {
    psdm_output *output = open_output("/dev/full");
    assert_null(psdm_output_temporary(output));
    for (int i = 0; i < (large ? 100000 : 1); i++) psdm_output_text(output, "x");
    assert_int_equal(psdm_output_failed(output), large); /* a small text is noticed at commit only */
    assert_int_equal(psdm_output_commit(&output, &error), PSDM_E_IO);
    assert_null(output);
    assert_string_equal(psdm_error_format(&error, sentence, sizeof sentence), expected);
  }
  psdm_output *output = open_output("/dev/null");
  psdm_output_text(output, "x");
  commit(output);
}

/* a disk that fills while writing, simulated by the process's file size limit */
TEST(a_failed_write_keeps_the_old_file) {
  file_write("old.txt", "kept");
  struct rlimit before, small;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 100000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  psdm_output *output = open_output("old.txt");
  for (int i = 0; i < 200000; i++) psdm_output_text(output, "y");
  bool failed = psdm_output_failed(output);
  psdm_error error;
  psdm_status status = psdm_output_commit(&output, &error);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  assert_true(failed);
  assert_int_equal(status, PSDM_E_IO);
  assert_null(output);
  char expected[200];
  snprintf(expected, sizeof expected, "cannot be written: %s", strerror(EFBIG));
  assert_string_equal(error.text, expected);
  assert_string_equal(content("old.txt"), "kept");
  assert_int_equal(files_in("."), 1);
  remove("old.txt");
}

/* the target becomes a folder between open and commit */
TEST(a_failed_rename_leaves_no_temporary) {
  psdm_output *output = open_output("target");
  psdm_output_text(output, "text");
  assert_int_equal(mkdir("target", 0777), 0);
  psdm_error error;
  assert_int_equal(psdm_output_commit(&output, &error), PSDM_E_IO);
  assert_null(output);
  assert_int_equal(files_in("."), 1);
  assert_int_equal(files_in("target"), 0);
  remove("target");
}

/* ---- JSON: a checker that accepts RFC 8259 and nothing else ---- */

static const char *skip_space(const char *c) { return c + strspn(c, " \t\r\n"); }

/* each returns the rest of the text, NULL for an error */
static const char *check_value(const char *c, int depth);

static const char *check_string(const char *c) {
  if (*c++ != '"') return NULL;
  while (*c != '"') {
    if ((unsigned char)*c < 0x20) return NULL;
    if (*c != '\\') {
      size_t length = psdmp_base_utf8_length(c, strlen(c));
      if (!length) return NULL;
      c += length;
    } else if (c[1] == 'u') {
      if (strspn(c + 2, "0123456789abcdefABCDEF") < 4) return NULL;
      c += 6;
    } else {
      if (!c[1] || !strchr("\"\\/bfnrt", c[1])) return NULL;
      c += 2;
    }
  }
  return c + 1;
}

static const char *check_number(const char *c) {
  c += *c == '-';
  size_t whole = strspn(c, "0123456789");
  if (!whole || (whole > 1 && *c == '0')) return NULL;
  c += whole;
  if (*c == '.') {
    size_t digits = strspn(++c, "0123456789");
    if (!digits) return NULL;
    c += digits;
  }
  if (*c == 'e' || *c == 'E') {
    c += 1 + (c[1] == '+' || c[1] == '-');
    size_t digits = strspn(c, "0123456789");
    if (!digits) return NULL;
    c += digits;
  }
  return c;
}

static const char *check_members(const char *c, char closer, int depth) {
  c = skip_space(c + 1);
  if (*c == closer) return c + 1;
  for (;;) {
    if (closer == '}') {
      c = check_string(c);
      if (!c) return NULL;
      c = skip_space(c);
      if (*c++ != ':') return NULL;
      c = skip_space(c);
    }
    c = check_value(c, depth + 1);
    if (!c) return NULL;
    c = skip_space(c);
    if (*c == closer) return c + 1;
    if (*c++ != ',') return NULL;
    c = skip_space(c);
  }
}

static const char *check_value(const char *c, int depth) {
  static const char *const words[] = {"null", "true", "false"};
  if (depth > 100) return NULL;
  if (*c == '{') return check_members(c, '}', depth);
  if (*c == '[') return check_members(c, ']', depth);
  if (*c == '"') return check_string(c);
  for (int i = 0; i < 3; i++)
    if (strncmp(c, words[i], strlen(words[i])) == 0) return c + strlen(words[i]);
  return check_number(c);
}

static bool is_json(const char *text) {
  const char *end = check_value(skip_space(text), 0);
  return end && !*skip_space(end);
}

TEST(the_checker_can_refuse) {
  static const char *const good[] = {"null", "[]", "{}", "[1, -0.5e+3, \"a\\u00e9\\n\"]",
                                     "{\"a\": {\"b\": [true, false]}}\n"};
  static const char *const bad[] = {"",   "nan",      "[1,]",     "[,1]", "{\"a\" 1}", "{a: 1}", "{\"a\": 1,}",
                                    "[1", "\"\x01\"", "\"\\x\"",  "01",   "1.",        ".5",     "+1",
                                    "1e", "[1 2]",    "\"\xFF\"", "{} {}"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(is_json(good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (is_json(bad[i])) fail_msg("the checker accepts %s", bad[i]);
}

TEST(json_nests) {
  const double values[] = {1, -2.5, NAN};
  psdm_output *o = open_output("a.json");
  psdm_json_object(o, NULL);
  psdm_json_string(o, "name", "arm");
  psdm_json_integer(o, "n", -9223372036854775807LL - 1);
  psdm_json_bool(o, "coupled", true);
  psdm_json_bool(o, "fixed", false);
  psdm_json_string(o, "nothing", NULL);
  psdm_json_numbers(o, "values", values, 3);
  psdm_json_numbers(o, "none", values, 0);
  psdm_json_object(o, "empty");
  psdm_json_close(o);
  psdm_json_array(o, "links");
  for (int i = 0; i < 2; i++) {
    psdm_json_object(o, NULL);
    psdm_json_number(o, "mass", i);
    psdm_json_array(o, "com");
    psdm_json_array(o, NULL);
    psdm_json_close(o);
    psdm_json_close(o);
    psdm_json_close(o);
  }
  psdm_json_close(o);
  psdm_json_close(o);
  psdm_json_close(o); /* one too many is ignored */
  commit(o);
  const char *text = content("a.json");
  if (!is_json(text)) fail_msg("not JSON: %s", text);
  assert_string_equal(text,
                      "{\n  \"name\": \"arm\",\n  \"n\": -9223372036854775808,\n  \"coupled\": true,\n  \"fixed\": "
                      "false,\n  \"nothing\": null,\n"
                      "  \"values\": [\n    1,\n    -2.5,\n    null\n  ],\n  \"none\": [],\n  \"empty\": {},\n"
                      "  \"links\": [\n    {\"mass\": 0, \"com\": [[]]},\n    {\"mass\": 1, \"com\": [[]]}\n  ]\n}\n");
  remove("a.json");
}

TEST(json_escapes) {
  const struct {
    const char *value, *json;
  } cases[] = {
      {"", "\"\""},
      {"\"; system(\"id\"); //", "\"\\\"; system(\\\"id\\\"); //\""},
      {"back\\slash", "\"back\\\\slash\""},
      {"<script>", "\"<script>\""},
      {"\x01\t\n\r\x1F\x7F", "\"\\u0001\\u0009\\u000a\\u000d\\u001f\\u007f\""},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA4\x96", "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA4\x96\""},
      {"caf\xE9", "\"caf\\ufffd\""},                 /* Latin-1 */
      {"\xC0\xAF", "\"\\ufffd\\ufffd\""},            /* overlong */
      {"\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
      {"\xE2\x82", "\"\\ufffd\\ufffd\""},            /* cut short */
      {"\xF4\x90\x80\x80x", "\"\\ufffd\\ufffd\\ufffd\\ufffdx\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char expected[200];
    psdm_output *o = open_output("b.json");
    psdm_json_array(o, NULL);
    psdm_json_string(o, NULL, cases[i].value);
    psdm_json_object(o, NULL);
    psdm_json_bool(o, cases[i].value, true);
    psdm_json_close(o);
    psdm_json_close(o);
    commit(o);
    snprintf(expected, sizeof expected, "[\n  %s,\n  {\n    %s: true\n  }\n]\n", cases[i].json, cases[i].json);
    assert_string_equal(content("b.json"), expected);
    if (!is_json(content("b.json"))) fail_msg("case %zu is not JSON", i);
  }
  remove("b.json");
}

TEST(json_numbers) {
  static const double values[] = {0, -0.0, 0.1, 1e-5, 1e300, DBL_MAX, DBL_TRUE_MIN, -1.0 / 3, NAN, INFINITY, -INFINITY};
  psdm_output *o = open_output("c.json");
  psdm_json_array(o, NULL);
  for (int i = 0; i < 11; i++) psdm_json_number(o, NULL, values[i]);
  psdm_json_close(o);
  commit(o);
  const char *at = content("c.json");
  assert_true(is_json(at));
  for (int i = 0; i < 11; i++) {
    at += strspn(at, "[ ,\n");
    if (i >= 8) { /* not finite */
      assert_int_equal(strncmp(at, "null", 4), 0);
      at += 4;
      continue;
    }
    char *end;
    double back = strtod(at, &end);
    assert_true(memcmp(&back, &values[i], sizeof back) == 0);
    at = end;
  }
  remove("c.json");
}

TEST(json_at_its_deepest) {
  psdm_output *o = open_output("d.json");
  for (int i = 0; i < 31; i++)
    if (i % 2) psdm_json_object(o, NULL), psdm_json_bool(o, "x", true), psdm_json_array(o, "deeper"), i++;
    else psdm_json_array(o, NULL);
  for (int i = 0; i < 31; i++) psdm_json_close(o);
  commit(o);
  assert_true(is_json(content("d.json")));
  remove("d.json");
}

/* ---- folders ---- */

static psdm_status check_folder(const char *path, char text[1024]) {
  psdm_error error = {0};
  psdm_status status = psdmp_base_folder_check(path, &error);
  snprintf(text, 1024, "%s: %s", error.file, error.text);
  return status;
}

TEST(folders_are_made_and_checked_before) {
  char text[1024], here[300];
  psdm_error error;
  struct stat info;
  static const char *const good[] = {".", "new", "new/", "new/deep/er", "./new"};
  for (int k = 0; k < 5; k++) assert_int_equal(check_folder(good[k], text), PSDM_OK);
  snprintf(here, sizeof here, "%s/a/b", own_folder);
  assert_int_equal(check_folder(here, text), PSDM_OK);
  assert_int_equal(stat("new", &info), -1); /* a check makes nothing */
  assert_int_equal(psdmp_base_folder("new/deep/er/", &error), PSDM_OK);
  assert_int_equal(psdmp_base_folder("new/deep", &error), PSDM_OK); /* it is there */
  assert_true(stat("new/deep/er", &info) == 0 && S_ISDIR(info.st_mode));
  file_write("file", "x");
  static const char *const bad[] = {"file", "file/x", ""};
  for (int k = 0; k < 3; k++) {
    assert_int_not_equal(check_folder(bad[k], text), PSDM_OK);
    assert_int_not_equal(psdmp_base_folder(bad[k], &error), PSDM_OK);
  }
  assert_int_equal(check_folder("file", text), PSDM_E_IO);
  assert_string_equal(text, "file: is not a directory");
  if (geteuid() != 0) { /* root may write anywhere */
    assert_int_equal(chmod("new", 0555), 0);
    assert_int_equal(check_folder("new/other", text), PSDM_E_IO);
    assert_non_null(strstr(text, "cannot be written"));
    assert_int_equal(chmod("new", 0755), 0);
  }
  remove("file"), rmdir("new/deep/er"), rmdir("new/deep"), rmdir("new");
}

TEST_MAIN_IN(folder_enter, folder_remove, commit_renames, abort_leaves_nothing, discard_removes_what_is_open,
             two_writers_do_not_interfere, large_texts_are_complete, rights_are_kept, links_are_followed,
             unwritable_paths_are_refused, a_folder_without_write_permission, a_full_device,
             a_failed_write_keeps_the_old_file, a_failed_rename_leaves_no_temporary, the_checker_can_refuse, json_nests,
             json_escapes, json_numbers, json_at_its_deepest, folders_are_made_and_checked_before)
