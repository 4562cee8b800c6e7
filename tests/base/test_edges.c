/* test_edges.c: edge cases of the base room: arrays too large for any memory, messages without an error, text that is
 * cut, JSON too deep, limited address space, no plug-in. */
#define _GNU_SOURCE /* setenv, fork, mkdtemp */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "psdm/component.h"
#include "psdm/optimal.h"
#include "leave.h"
#include "support.h"

static void arrays(void **state) {
  (void)state;
  counting c;
  counting_init(&c, 0);
  psdmp_base_arena arena = {.allocator = &c.allocator};
  assert_non_null(psdmp_base_arena_array(&arena, 0, sizeof(double)));
  assert_non_null(psdmp_base_arena_array(&arena, -5, sizeof(double))); /* one element at least */
  assert_non_null(psdmp_base_arena_array_raw(&arena, 3000, sizeof(double)));
  long calls = c.calls;
  assert_false(arena.failed);
  assert_null(psdmp_base_arena_array(&arena, PTRDIFF_MAX, sizeof(double))); /* does not call the allocator */
  assert_true(arena.failed);
  assert_null(psdmp_base_arena_array_raw(&arena, PTRDIFF_MAX / 4, 16));
  assert_int_equal(c.calls, calls);
  psdmp_base_arena_free(&arena);
  assert_int_equal(c.live, 0);
}

static void messages(void **state) {
  (void)state;
  char buf[200] = "kept", tiny[1] = {'x'};
  assert_string_equal(psdm_status_text((psdm_status)9999), "unknown status");
  assert_string_equal(psdm_error_format(NULL, buf, sizeof buf), psdm_status_text(PSDM_OK));
  assert_null(psdm_error_format(NULL, NULL, 10));
  assert_ptr_equal(psdm_error_format(NULL, tiny, 0), tiny);
  assert_int_equal(tiny[0], 'x');
  psdm_error error = {.status = PSDM_E_MEMORY}; /* no text: the status's own message */
  assert_string_equal(psdm_error_format(&error, buf, sizeof buf), psdm_status_text(PSDM_E_MEMORY));
  /* of a long name the end is shown */
  char name[2000];
  memset(name, 'a', sizeof name);
  strcpy(name + sizeof name - 10, "/end.yaml");
  psdmp_base_fail(&error, PSDM_E_IO, name, 0, 0, "gone");
  assert_non_null(strstr(error.file, "/end.yaml"));
  assert_true(strlen(error.file) < sizeof error.file);
  /* nothing to quote, nothing to quote into */
  assert_string_equal(psdmp_base_quote("", 0, buf, sizeof buf), "");
  assert_ptr_equal(psdmp_base_quote("abc", 3, tiny, 0), tiny);
  char four[4];
  assert_true(strlen(psdmp_base_quote("a long word", 11, four, sizeof four)) < sizeof four);
  assert_int_equal(psdmp_base_utf8_length("", 0), 0);
  static const char *const broken[] = {"\xC0\x80",         "\xE0\x80\x80",     "\xED\xA0\x80", "\xF0\x80\x80\x80",
                                       "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80",         "\xE2\x82"};
  for (size_t k = 0; k < sizeof broken / sizeof *broken; k++)
    assert_int_equal(psdmp_base_utf8_length(broken[k], strlen(broken[k])), 0);
  assert_int_equal(psdmp_base_utf8_length("\xF4\x8F\xBF\xBF", 4), 4);
}

static void components(void **state) {
  (void)state;
  const char *name, *version;
  assert_null(psdm_component(-1, NULL));
  assert_null(psdm_component(9999, &version));
  int known = 0;
  for (int k = 0; k < 20; k++) {
    name = psdm_component(k, &version);
    if (name) assert_true(name[0] && version[0]), known++;
    if (name) assert_string_equal(psdm_component(k, NULL), name);
  }
  assert_true(known > 0);
}

/* an incomplete file is not committed, and the earlier file stays */
static void expect_refused(void (*spoil)(psdm_output *out)) {
  char folder[] = "/tmp/psdm-edges-XXXXXX", path[64];
  psdm_output *out;
  psdm_error error;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/out.json", folder);
  assert_int_equal(psdm_output_open(path, NULL, &out, &error), PSDM_OK);
  spoil(out);
  assert_true(psdm_output_failed(out));
  assert_int_equal(psdm_output_commit(&out, &error), PSDM_E_IO);
  assert_int_equal(access(path, F_OK), -1);
  rmdir(folder);
}

static void print_too_much(psdm_output *out) {
  psdm_output_print(out, "%2000s", "x");
  psdm_output_print(out, "%2000s", "y"); /* the first failure counts */
}

static void open_too_deep(psdm_output *out) {
  for (int k = 0; k < 1000; k++) psdm_json_array(out, NULL);
  for (int k = 0; k < 1000; k++) psdm_json_close(out);
}

static void incomplete_outputs_are_not_committed(void **state) {
  (void)state;
  expect_refused(print_too_much);
  expect_refused(open_too_deep);
}

/* the limit of the address space is below the machine's memory */
static void little_address_space(void **state) {
  (void)state;
  size_t all = psdmp_base_machine_memory(), space = (size_t)700 << 20;
  assert_true(all > 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    struct rlimit limit = {space, space};
    leave(setrlimit(RLIMIT_AS, &limit) ? 2 : psdmp_base_machine_memory() != (space < all ? space : all));
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void plug_ins(void **state) {
  (void)state;
  char where[400], folder[] = "/tmp/psdm-edges-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  setenv("PSDM_PLUGINS", folder, 1); /* there is none */
  assert_int_equal(psdm_optimal_solver(where, sizeof where), PSDM_E_MISSING);
  assert_non_null(strstr(where, folder));
  snprintf(path, sizeof path, "%s/psdm_ipopt.so", folder);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs("not a library", out);
  fclose(out);
  assert_int_equal(psdm_optimal_solver(where, sizeof where), PSDM_E_MISSING);
  assert_non_null(strstr(where, "psdm_ipopt.so"));
  unlink(path), rmdir(folder);
  setenv("PSDM_PLUGINS", "", 1); /* like an unset variable */
  psdm_optimal_solver(where, sizeof where);
  assert_true(where[0] != 0);
  unsetenv("PSDM_PLUGINS");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays),
                                     cmocka_unit_test(messages),
                                     cmocka_unit_test(components),
                                     cmocka_unit_test(incomplete_outputs_are_not_committed),
                                     cmocka_unit_test(little_address_space),
                                     cmocka_unit_test(plug_ins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
