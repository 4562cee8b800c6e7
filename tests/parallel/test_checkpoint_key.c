/* test_checkpoint_key.c: only runs with the same logs, robot and settings reuse parts: whatever changes the rows or
 * which of them train changes the key. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "identify/identify.h"
#include "support.h"

static const char two_links[] = "name: two\nconvention: dh\ngravity: [0, -9.81, 0]\njoints:\n  - {name: a, type: "
                                "revolute, a: 0.4}\n  - {name: b, type: revolute, a: %s}\n";

enum { KEY = 32, RUNS = 24 };

typedef struct keys {
  char folder[64];
  const char *what[RUNS];
  unsigned char key[RUNS][KEY];
  int count;
} keys;

static void add(keys *k, const char *what, const psdm_robot *robot, psdm_calibrate_options o) {
  psdmp_feed_checkpoint *c;
  psdm_error error;
  o.checkpoint = k->folder;
  assert_true(k->count < RUNS);
  if (psdmp_feed_checkpoint_new(robot, &o, NULL, &c, &error)) fail_msg("%s: %s", what, error.text);
  memcpy(k->key[k->count], psdmp_feed_checkpoint_key(c), KEY);
  k->what[k->count++] = what;
  psdmp_feed_checkpoint_free(c);
}

#define WITH(field, ...)                           \
  do {                                             \
    psdm_calibrate_options o_ = o;                 \
    o_.field = __VA_ARGS__;                        \
    add(&k, #field " = " #__VA_ARGS__, robot, o_); \
  } while (0)

static void write_log(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void every_setting_counts(void **unused) {
  (void)unused;
  keys k = {.folder = "/tmp/psdm-key-XXXXXX"};
  assert_non_null(mkdtemp(k.folder));
  char text[512], path[2][96];
  const char *const name[2] = {path[0], path[1]}, *const turned[2] = {path[1], path[0]};
  for (int f = 0; f < 2; f++) {
    snprintf(path[f], sizeof path[f], "%s/%d.csv", k.folder, f);
    write_log(path[f], f ? "t,q1,q2,tau1,tau2\n0,0,0,0,0\n" : "t,q1,q2,tau1,tau2\n0,1,0,0,0\n");
  }
  snprintf(text, sizeof text, two_links, "0.3");
  psdm_robot *robot = parse_robot(text), *other;
  snprintf(text, sizeof text, two_links, "0.31");
  other = parse_robot(text);
  const double ones[2] = {-1, -1};
  const psdm_calibrate_options o = {.files = 2, .path = name};
  add(&k, "nothing", robot, o);
  add(&k, "another robot", other, o);
  WITH(files, 1);
  WITH(path, turned);
  WITH(log.sign, ones);
  WITH(log.offset, ones);
  WITH(log.columns, "");
  WITH(log.columns, "t=1");
  WITH(log.rate, 100);
  WITH(log.jump, 100);
  WITH(log.degrees, true);
  WITH(log.ignore_extra, true);
  WITH(log.currents, true);
  WITH(holdout, 0.25);
  WITH(holdout_block, 0.25);
  WITH(holdout_every, 4);
  WITH(cache, 4);
  WITH(decimate, 4);
  write_log(path[1], "t,q1,q2,tau1,tau2\n0,0,0,0,1\n");
  add(&k, "another log", robot, o);
  for (int a = 0; a < k.count; a++)
    for (int b = 0; b < a; b++)
      if (memcmp(k.key[a], k.key[b], KEY) == 0) fail_msg("'%s' and '%s' have the same key", k.what[a], k.what[b]);
  add(&k, "nothing, again", robot, o);
  assert_memory_equal(k.key[k.count - 1], k.key[k.count - 2], KEY);
  unlink(path[0]), unlink(path[1]), rmdir(k.folder);
  psdm_robot_free(robot);
  psdm_robot_free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_setting_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
